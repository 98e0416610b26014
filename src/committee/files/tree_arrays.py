"""Trees and forests of the engine as plain arrays, in which they are saved, pickled and copied.

The arrays and the meaning of their numbers are described in `src/core/tree/tree.hpp` and in
`src/core/forest/forest_arrays.hpp`.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from committee._core import Forest, Tree

Array = npt.NDArray[Any]

# Name, dtype and number of dimensions of each array of a tree.
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
_REAL, _CATEGORY = 0, 2

# The arrays of a forest, all of one dimension; the engine knows their types.
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


def tree_kinds(tree: Tree) -> list[int]:
    """Return the kind of each feature as far as the splits tell: real, integer or category.

    A feature that no node asks about is told as real; the tree works with any kind there.
    """
    arrays = tree.arrays()
    flags = arrays["feature_and_flags"][arrays["first_child"] != 0]
    kinds = np.full(tree.n_features, _REAL)
    # A split by subset (2) and a fan-out (3) both need a category.
    kinds[flags & 0xFFFFFF] = np.minimum((flags >> 24) & 3, _CATEGORY)
    return [int(kind) for kind in kinds]


def tree_from_arrays(kinds: Sequence[int], arrays: Mapping[str, Any]) -> Tree:
    """Build a tree again; raise ValueError unless it can be walked safely."""
    from committee._core import Tree

    if set(arrays) != set(TREE_ARRAYS):
        raise ValueError(f"a tree has the arrays {sorted(TREE_ARRAYS)}; got {sorted(arrays)}")
    for name, (dtype, n_dimensions) in TREE_ARRAYS.items():
        array = arrays[name]
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != n_dimensions:
            raise ValueError(f"the array {name} of a tree must be {dtype}, {n_dimensions}-D")
    try:
        return Tree.from_arrays(len(kinds), list(kinds), dict(arrays))
    except (TypeError, OverflowError, RuntimeError) as error:
        raise ValueError(f"the arrays do not form a tree: {error}") from error


def reduce_tree(tree: Tree) -> tuple[Callable[..., Tree], tuple[list[int], dict[str, Array]]]:
    """Tell pickle and copy how to build the tree again."""
    return tree_from_arrays, (tree_kinds(tree), dict(tree.arrays()))


def forest_from_arrays(arrays: Mapping[str, Any]) -> Forest:
    """Build a forest again; raise ValueError unless it can be walked safely."""
    from committee._core import Forest

    if set(arrays) != set(FOREST_ARRAYS):
        raise ValueError(f"a forest has the arrays {sorted(FOREST_ARRAYS)}; got {sorted(arrays)}")
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.ndim != 1:
            raise ValueError(f"the array {name} of a forest must have one dimension")
    try:
        return Forest.from_arrays(dict(arrays))
    except (TypeError, OverflowError, RuntimeError) as error:
        raise ValueError(f"the arrays do not form a forest: {error}") from error


def reduce_forest(forest: Forest) -> tuple[Callable[..., Forest], tuple[dict[str, Array]]]:
    """Tell pickle and copy how to build the forest again."""
    return forest_from_arrays, (dict(forest.arrays()),)


def register_pickling() -> None:
    """Make trees and forests of the engine work with pickle, copy and joblib."""
    from committee._core import Forest, Tree

    copyreg.pickle(Tree, reduce_tree)
    copyreg.pickle(Forest, reduce_forest)
