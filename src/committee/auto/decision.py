"""How probabilities become a class: the largest one, a threshold, weights of classes, or costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, TEXT, Part, array, one_of, tuple_of, whole

KINDS = ("largest", "threshold", "weights", "costs")


@register("auto.Decision")
@dataclass(frozen=True, eq=False)
class Decision:
    """How probabilities become a class.

    Attributes
    ----------
    kind : {"largest", "threshold", "weights", "costs"}
        The largest probability, the positive class from a threshold on, the largest weighted
        probability, or the least expected cost.
    names : tuple of str
        The labels as text.
    positive : int
        Of two classes, the place of the positive one; -1 for more classes.
    threshold : float
        From which probability on the positive class is predicted; NaN for more than two classes.
    weights : ndarray of float64, shape (n_classes,) or (0,)
        Factors of the probabilities, of "weights".
    costs : ndarray of float64, shape (n_classes, n_classes) or (0, 0)
        Cost of each true (row) and predicted (column) class, of "costs".
    reason : str
        Where the decision comes from.
    cost, constant_cost : float
        Mean cost of a row on rows that models have not seen, and where always the same class is
        predicted, the cheapest; NaN without costs.

    Examples
    --------
    >>> decision = Decision("threshold", ("no", "yes"), 1, 0.3, reason="as given")
    >>> decision.codes(np.array([[0.7, 0.3], [0.8, 0.2]])).tolist()
    [1, 0]
    >>> decision
    'yes' where its probability is at least 0.3 (as given)
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "kind": one_of(*KINDS),
        "names": tuple_of(TEXT, least=2),
        "positive": whole(-1, 1),
        "threshold": NUMBER,
        "weights": array("f8", None, low=0.0, finite=True),
        "costs": array("f8", None, None, finite=True),
        "reason": TEXT,
        "cost": NUMBER,
        "constant_cost": NUMBER,
    }

    kind: str
    names: tuple[str, ...]
    positive: int
    threshold: float = math.nan
    weights: Floats = field(default_factory=lambda: np.empty(0))
    costs: Floats = field(default_factory=lambda: np.empty((0, 0)))
    reason: str = ""
    cost: float = math.nan
    constant_cost: float = math.nan

    def codes(self, shares: Floats) -> NDArray[np.int64]:
        """Return the class of each row of probabilities."""
        if self.kind == "threshold":
            is_positive = shares[:, self.positive] >= self.threshold
            return np.where(is_positive, self.positive, 1 - self.positive)
        if self.kind == "weights":
            return np.asarray((shares * self.weights).argmax(axis=1))
        if self.kind == "costs":
            return np.asarray(expected_costs(shares, self.costs).argmin(axis=1))
        return np.asarray(shares.argmax(axis=1))

    def __repr__(self) -> str:
        """Return the decision in words."""
        if self.kind == "threshold":
            name = self.names[self.positive]
            rule = f"{name!r} where its probability is at least {self.threshold:.3g}"
        elif self.kind == "weights":
            pairs = zip(self.names, self.weights.tolist(), strict=True)
            shown = ", ".join(f"{weight:.3g} for {name!r}" for name, weight in list(pairs)[:8])
            rule = f"the largest probability times a factor: {shown}"
        elif self.kind == "costs":
            rule = f"the least expected cost; on unseen rows {self.cost:.4g} a row, "
            rule += f"{self.constant_cost:.4g} with always the same class"
        else:
            rule = "the most probable class"
        return f"{rule} ({self.reason})" if self.reason else rule

    def _validate_loaded(self) -> None:
        n_classes = len(self.names)
        if (self.kind == "threshold") != (self.threshold == self.threshold):
            raise ValueError("a threshold belongs to the kind of that name")
        if self.kind == "threshold" and (n_classes != 2 or self.positive < 0):
            raise ValueError("a threshold is for two classes")
        if self.weights.shape != ((n_classes,) if self.kind == "weights" else (0,)):
            raise ValueError("weights of classes need one for each class")
        size = n_classes if self.kind == "costs" else 0
        if self.costs.shape != (size, size):
            raise ValueError("costs need a row and a column for each class")


def expected_costs(shares: Floats, costs: Floats) -> Floats:
    """Return the expected cost of each prediction, shape (n_rows, n_classes).

    Examples
    --------
    >>> expected_costs(np.array([[0.5, 0.5]]), np.array([[0.0, 1.0], [4.0, 0.0]])).tolist()
    [[2.0, 0.5]]
    """
    columns = [(shares * costs[:, place]).sum(axis=1) for place in range(len(costs))]
    return np.column_stack(columns)


def cost_matrix(costs: Any, classes: NDArray[Any]) -> Floats:
    """Return costs as a matrix, true classes in rows and predicted ones in columns.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes), or dict
        A dict from pairs (true label, predicted label) to costs; pairs that it lacks cost 1, and
        right predictions 0.
    classes : ndarray
        The labels.

    Examples
    --------
    >>> cost_matrix({("yes", "no"): 5}, np.array(["no", "yes"])).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    n_classes, labels = len(classes), classes.tolist()
    accepted = (
        f"costs must be a matrix of {n_classes} x {n_classes} finite numbers (true classes in "
        "rows, predicted ones in columns) or a dict {(true, predicted): cost}"
    )
    if isinstance(costs, dict):
        matrix = 1.0 - np.eye(n_classes)
        for pair, cost in costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2 or not set(pair) <= set(labels):
                raise ValueError(f"{accepted} with labels of {labels[:10]!r}; got the key {pair!r}")
            try:
                matrix[labels.index(pair[0]), labels.index(pair[1])] = float(cost)
            except (TypeError, ValueError):
                raise TypeError(f"{accepted}; got {cost!r} for {pair!r}") from None
    else:
        try:
            matrix = np.array(costs, np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"{accepted}; got {costs!r}") from None
    if matrix.shape != (n_classes, n_classes) or not np.isfinite(matrix).all():
        raise ValueError(f"{accepted}; got {costs!r}")
    if (matrix == matrix[:, :1]).all():
        raise ValueError("costs must differ between predictions; each class costs the same here")
    return matrix


def positive_code(positive: Any, classes: NDArray[Any]) -> int:
    """Return the place of the positive class; of two, the second unless another is named.

    Examples
    --------
    >>> positive_code(None, np.array(["no", "yes"])), positive_code("no", np.array(["no", "yes"]))
    (1, 0)
    """
    labels = classes.tolist()
    if positive is None:
        return 1 if len(labels) == 2 else -1
    if positive not in labels:
        raise ValueError(f"positive must be one of the classes {labels[:10]!r}; got {positive!r}")
    if len(labels) != 2:
        raise ValueError(
            f"positive is for two classes; y has {len(labels)}. Use costs to weigh more classes"
        )
    return int(labels.index(positive))
