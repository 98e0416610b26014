"""Class weights: by how much the class of a row multiplies its weight.

"balanced" balances the weighted counts of the classes, so that a row of weight two counts as that
row twice here too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import is_real
from committee.tables.target import ClassTarget


def class_weights(
    class_weight: Any, target: ClassTarget, sample_weight: Floats | None
) -> Floats | None:
    """Return the factor by which class weights multiply the weight of each row.

    Parameters
    ----------
    class_weight : None, "balanced", dict or list of these
        A dict maps labels to weights >= 0; labels that it does not name have weight one. With
        several outputs: "balanced", or a list with an entry for each output; factors multiply.
    target : ClassTarget
        The classes of the rows.
    sample_weight : ndarray or None
        The weights of the rows, which "balanced" counts with.

    Returns
    -------
    factors : ndarray of float64, shape (n_rows,), or None
        None if there are no class weights.

    Examples
    --------
    >>> from committee.tables.target import read_classes
    >>> class_weights("balanced", read_classes([0, 0, 0, 1]), None).round(2).tolist()
    [0.67, 0.67, 0.67, 2.0]
    """
    if class_weight is None:
        return None
    factors = np.ones(len(target.codes))
    for output, choice in enumerate(_by_output(class_weight, target.n_outputs)):
        codes = target.codes[:, output]
        if choice is None:
            continue
        if isinstance(choice, str):
            per_class = _balanced(codes, len(target.classes[output]), sample_weight)
        else:
            per_class = _from_mapping(choice, target.classes[output])
        factors *= per_class[codes]
    is_used = factors > 0 if sample_weight is None else (factors > 0) & (sample_weight > 0)
    if not is_used.any():
        raise ValueError("class_weight leaves every row with weight zero")
    return factors


def _by_output(class_weight: Any, n_outputs: int) -> Sequence[Any]:
    """Return what the user wants for each output."""
    accepted = 'None, "balanced", a dict from classes to weights or a list of these (one an output)'
    is_list = isinstance(class_weight, Sequence) and not isinstance(class_weight, str)
    if isinstance(class_weight, Mapping) and n_outputs > 1:
        raise ValueError(
            "For multi-output, class_weight should be a list of dicts, or the string 'balanced'; "
            f"got one dict for {n_outputs} outputs"
        )
    choices = list(class_weight) if is_list else [class_weight] * n_outputs
    for choice in choices:
        if isinstance(choice, str) and choice != "balanced":
            raise ValueError(f"class_weight must be {accepted}; got {choice!r}")
        if not (isinstance(choice, str | Mapping) or (choice is None and is_list)):
            raise TypeError(f"class_weight must be {accepted}; got {choice!r}")
    if len(choices) != n_outputs:
        raise ValueError(
            "For multi-output, number of elements in class_weight should match number of "
            f"outputs; got {len(choices)} for {n_outputs}"
        )
    return choices


def _balanced(codes: NDArray[np.int32], n_classes: int, sample_weight: Floats | None) -> Floats:
    """Weights that give every class that is present the same total."""
    totals = np.bincount(codes, weights=sample_weight, minlength=n_classes).astype(np.float64)
    is_present = totals > 0
    balanced = np.zeros(n_classes)
    balanced[is_present] = totals.sum() / (is_present.sum() * totals[is_present])
    return balanced


def _from_mapping(weight_of: Mapping[Any, Any], labels: NDArray[Any]) -> Floats:
    known = labels.tolist()
    for label, weight in weight_of.items():
        if not is_real(weight):
            raise TypeError(f"class_weight of {label!r} must be a number >= 0; got {weight!r}")
        if not 0 <= weight < np.inf:
            raise ValueError(f"class_weight of {label!r} must be a number >= 0; got {weight!r}")
    unknown = [label for label in weight_of if label not in known]
    without = [label for label in known if label not in weight_of]
    # A class may be absent (from a fold, say) and a class may be left at one; both together look
    # like labels of the wrong type or with a typing error.
    if unknown and without:
        raise ValueError(
            f"The classes, {without}, are not in class_weight, which names {unknown} instead; "
            f"the classes of y are {known}"
        )
    return np.array([float(weight_of.get(label, 1.0)) for label in known])
