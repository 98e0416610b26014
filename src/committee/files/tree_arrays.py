"""Trees and forests of the engine as plain arrays, in which they are saved.

The arrays and the meaning of their numbers are described in `src/core/tree/tree.hpp` and in
`src/core/forest/forest_arrays.hpp`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from committee._core import Forest, Tree

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class LaterArray:
    """An array that trees or forests got after version 1 of the file format.

    Older files lack it, and a tree that does not need it may leave it out.

    Parameters
    ----------
    dtype : str or None
        Its type; None if the engine checks it.
    n_dimensions : int
        Its number of dimensions.
    default : ndarray or None
        What the engine gets where a file lacks the array. None: nothing, then the engine has to do
        without it.
    """

    dtype: str | None
    n_dimensions: int
    default: Array | None = None


# Name, dtype and number of dimensions of each array of a tree. Every file has these, so that
# nothing can be added here: new arrays go to LATER_TREE_ARRAYS.
TREE_ARRAYS: dict[str, tuple[str, int]] = {
    "threshold": ("uint64", 1),
    "feature_and_flags": ("uint32", 1),
    "first_child": ("uint32", 1),
    "category_data": ("uint32", 1),
    "values": ("float64", 2),
    "impurity": ("float64", 1),
    "weight": ("float64", 1),
    "n_rows": ("int64", 1),
}

# The arrays of a forest, all of one dimension; the engine knows their types. Every file has these:
# new arrays go to LATER_FOREST_ARRAYS.
FOREST_ARRAYS = (
    "header",
    "kinds",
    "n_classes",
    "node_counts",
    "splits",
    "thresholds",
    "category_data",
    "class_counts",
    "value_counts",
    "value_rows",
    "values",
    "weights",
    "n_rows",
    "impurity",
    "inner_impurity",
)

LATER_TREE_ARRAYS: dict[str, LaterArray] = {}
LATER_FOREST_ARRAYS: dict[str, LaterArray] = {}


def is_tree(obj: Any) -> bool:
    """Whether the object is a tree of the engine."""
    from committee._core import Tree

    return type(obj) is Tree


def is_forest(obj: Any) -> bool:
    """Whether the object is a forest of the engine."""
    from committee._core import Forest

    return type(obj) is Forest


def stored_tree_arrays(tree: Tree) -> dict[str, Array]:
    """Return the arrays of a tree in the order in which they are stored."""
    return _stored(tree.arrays(), TREE_ARRAYS, LATER_TREE_ARRAYS)


def stored_forest_arrays(forest: Forest) -> dict[str, Array]:
    """Return the arrays of a forest in the order in which they are stored."""
    return _stored(forest.arrays(), FOREST_ARRAYS, LATER_FOREST_ARRAYS)


def _stored(
    arrays: Mapping[str, Array], required: Collection[str], later: Collection[str]
) -> dict[str, Array]:
    names = [*required, *(name for name in later if name in arrays)]
    return {name: arrays[name] for name in names}


def tree_from_arrays(kinds: Sequence[int], arrays: Mapping[str, Any]) -> Tree:
    """Build a tree again; raise ValueError unless it can be walked safely."""
    from committee._core import Tree

    complete = _completed("tree", arrays, TREE_ARRAYS, LATER_TREE_ARRAYS)
    for name, (dtype, n_dimensions) in TREE_ARRAYS.items():
        array = arrays[name]
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != n_dimensions:
            raise ValueError(f"the array {name} of a tree must be {dtype}, {n_dimensions}-D")
    try:
        return Tree(len(kinds), list(kinds), complete)
    except (TypeError, OverflowError, RuntimeError) as error:
        raise ValueError(f"the arrays do not form a tree: {error}") from error


def forest_from_arrays(arrays: Mapping[str, Any]) -> Forest:
    """Build a forest again; raise ValueError unless it can be walked safely."""
    from committee._core import Forest

    complete = _completed("forest", arrays, FOREST_ARRAYS, LATER_FOREST_ARRAYS)
    for name in FOREST_ARRAYS:
        if not isinstance(arrays[name], np.ndarray) or arrays[name].ndim != 1:
            raise ValueError(f"the array {name} of a forest must have one dimension")
    try:
        return Forest(complete)
    except (TypeError, OverflowError, RuntimeError) as error:
        raise ValueError(f"the arrays do not form a forest: {error}") from error


def _completed(
    what: str,
    arrays: Mapping[str, Any],
    required: Collection[str],
    later: Mapping[str, LaterArray],
) -> dict[str, Any]:
    """Return the arrays with the defaults of those that a file lacks; refuse unknown ones."""
    if not set(required) <= set(arrays) <= {*required, *later}:
        raise ValueError(f"a {what} has the arrays {sorted(required)}; got {sorted(arrays)}")
    complete = dict(arrays)
    for name, expected in later.items():
        if name not in arrays:
            if expected.default is not None:
                complete[name] = expected.default
            continue
        array = arrays[name]
        is_array = isinstance(array, np.ndarray) and array.ndim == expected.n_dimensions
        if not is_array or expected.dtype not in (None, array.dtype.name):
            kind = "" if expected.dtype is None else f"{expected.dtype}, "
            raise ValueError(
                f"the array {name} of a {what} must be {kind}{expected.n_dimensions}-D"
            )
    return complete
