"""How much the features of a forest matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.trees.tree_view import TreeView

_SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class Importances:
    """Importances of features (or of groups of features), tree by tree.

    Parameters
    ----------
    importances : ndarray of float64, shape (n_features, n_trees)
        The importance in each tree; NaN for a tree that has no out-of-bag rows.
    feature_names : tuple of str
        Names of the features or groups.
    kind : str
        What an importance is, in words.

    Attributes
    ----------
    importances_mean : ndarray of float64, shape (n_features,)
        Mean over the trees.
    importances_std : ndarray of float64, shape (n_features,)
        Standard deviation over the trees.
    score : ndarray of float64, shape (n_features,)
        Mean divided by standard deviation; zero for a feature that no tree uses.
    standard_error : ndarray of float64, shape (n_features,)
        Standard deviation divided by the square root of the number of trees.

    Notes
    -----
    `score` is how large the importance is beside its spread, and does not depend on the number
    of trees. The packages randomForest and ranger divide by `standard_error` instead, which makes a
    z-score: it grows with the square root of the number of trees, so that any feature with a mean
    above zero becomes "significant" in a forest that is large enough. Trees of one forest have the
    same training table, so that neither is a test about new tables.

    Examples
    --------
    >>> found = Importances(np.array([[2.0, 4.0], [0.0, 0.0]]), ("a", "b"), "increase of error")
    >>> found.importances_mean.tolist(), found.importances_std.tolist(), found.score.tolist()
    ([3.0, 0.0], [1.0, 0.0], [3.0, 0.0])
    >>> found.ranking()
    ['a', 'b']
    """

    importances: Floats
    feature_names: tuple[str, ...]
    kind: str

    @property
    def _known(self) -> Floats:
        """The trees that have an importance."""
        return self.importances[:, ~np.isnan(self.importances).any(axis=0)]

    @property
    def importances_mean(self) -> Floats:
        """Mean over the trees."""
        return np.asarray(self._known.mean(axis=1))

    @property
    def importances_std(self) -> Floats:
        """Standard deviation over the trees."""
        return np.asarray(self._known.std(axis=1))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over the trees."""
        return np.asarray(self.importances_std / np.sqrt(self._known.shape[1]))

    @property
    def score(self) -> Floats:
        """Mean divided by standard deviation."""
        mean, std = self.importances_mean, self.importances_std
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(std > 0, mean / std, np.where(mean == 0, 0.0, np.sign(mean) * np.inf))

    def ranking(self) -> list[str]:
        """Return the names, the most important first."""
        return [self.feature_names[index] for index in self._order]

    @property
    def _order(self) -> list[int]:
        return [int(index) for index in np.argsort(-self.importances_mean, kind="stable")]

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each feature, the most important first."""
        import pandas as pd

        columns = {
            "importance": self.importances_mean,
            "std": self.importances_std,
            "score": self.score,
        }
        index = pd.Index(self.feature_names, name="feature")
        return pd.DataFrame(columns, index=index).iloc[self._order]

    def __repr__(self) -> str:
        mean, std, score = self.importances_mean, self.importances_std, self.score
        shown = self._order[:_SHOWN]
        width = max([len(self.feature_names[index]) for index in shown] + [7])
        lines = [
            f"Importances: {self.kind}, {self.importances.shape[1]} trees",
            f"  {'feature':{width}}        mean         std    score",
        ]
        lines += [
            f"  {self.feature_names[i]:{width}}  {mean[i]:10.4g}  {std[i]:10.4g}  {score[i]:7.2f}"
            for i in shown
        ]
        if len(self.feature_names) > _SHOWN:
            lines.append(f"  ... and {len(self.feature_names) - _SHOWN} more")
        return "\n".join(lines)


def debiased_decreases(
    view: TreeView, leaves: NDArray[np.integer], targets: Floats, weights: Floats, n_outputs: int
) -> Floats:
    """Return the decrease of impurity at each feature's splits, re-estimated on other rows.

    Parameters
    ----------
    view : TreeView
        The tree.
    leaves : ndarray of int, shape (n_rows,)
        Node numbers of the leaves that rows reach which the tree has not been grown on.
    targets : ndarray of float64, shape (n_rows, n_values)
        Their targets: numbers, or ones among zeros for each class.
    weights : ndarray of float64, shape (n_rows,)
        Their weights.
    n_outputs : int
        Decreases are means over so many outputs.

    Returns
    -------
    decreases : ndarray of float64, shape (n_features,)
        For each split, weighted by the share of the rows that reach it, the covariance between
        what the children predict and what their rows are; NaN without rows.

    Notes
    -----
    On the rows that the tree was grown on, a child predicts the mean of its rows, and the
    covariance is the variance of these means: the decrease of Gini impurity or of variance. There
    it is positive even for a feature of pure noise, since the split was chosen on these rows. On
    other rows, a split that does not help has a covariance of zero on average.
    """
    total = weights.sum()
    if total <= 0:
        return np.full(view.n_features, np.nan)
    node_weights, sums = _sums_of_nodes(view, leaves, targets, weights)
    values = _flat_values(view)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.nan_to_num(sums / node_weights[:, None])
    parents = parents_of(view)
    children = np.flatnonzero(parents >= 0)
    above = parents[children]
    # sum over rows of (value - mean value) * (y - mean y) = sum over children of w * value *
    # (mean y of the child - mean y of the node); the value of the node is taken off for accuracy.
    moves = values[children] - values[above]
    parts = node_weights[children] * (moves * (means[children] - means[above])).sum(axis=1)
    decreases = np.bincount(view.feature[above], parts, minlength=view.n_features)
    return np.asarray(decreases / (total * n_outputs), np.float64)


def parents_of(view: TreeView) -> NDArray[np.int64]:
    """Return the parent of each node, -1 for the root."""
    parents = np.full(view.node_count, -1, np.int64)
    inner = np.flatnonzero(view.children_left >= 0)
    n_children = view.n_children[inner]
    within = np.arange(n_children.sum()) - np.repeat(np.cumsum(n_children) - n_children, n_children)
    children = np.repeat(view.children_left[inner], n_children) + within
    parents[children] = np.repeat(inner, n_children)
    return parents


def _sums_of_nodes(
    view: TreeView, leaves: NDArray[np.integer], targets: Floats, weights: Floats
) -> tuple[Floats, Floats]:
    """Return the weight and the weighted sum of the targets of the rows in each node."""
    n_nodes = view.node_count
    columns = [weights, *(targets * weights[:, None]).T]
    parts = [np.bincount(leaves, column, minlength=n_nodes) for column in columns]
    sums = np.column_stack(parts).astype(np.float64)
    parents, depths = parents_of(view), view.depths
    order = np.argsort(depths, kind="stable")
    bounds = np.searchsorted(depths[order], np.arange(view.max_depth + 2))
    for depth in range(view.max_depth, 0, -1):
        nodes = order[bounds[depth] : bounds[depth + 1]]
        np.add.at(sums, parents[nodes], sums[nodes])
    return sums[:, 0], sums[:, 1:]


def _flat_values(view: TreeView) -> Floats:
    """Return the values of nodes with a column for each class of each output."""
    parts = [view.value[:, output, :n] for output, n in enumerate(view.n_classes)]
    return np.concatenate(parts, axis=1)


def one_hot(codes: NDArray[np.integer], n_classes: list[int]) -> Floats:
    """Return ones among zeros, a column for each class of each output.

    Examples
    --------
    >>> one_hot(np.array([[1], [0]]), [2]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    parts = [np.eye(n)[codes[:, output]] for output, n in enumerate(n_classes)]
    return np.concatenate(parts, axis=1)


def group_numbers(
    groups: Any, n_features: int, names: tuple[str, ...]
) -> tuple[NDArray[np.uint32], tuple[str, ...]]:
    """Read groups of features that are permuted together.

    Parameters
    ----------
    groups : None, list of lists, or dict from names to lists
        Features by name or number. None: each feature is a group. Features in no group are not
        permuted.
    n_features : int
        How many there are.
    names : tuple of str
        Their names.

    Returns
    -------
    numbers : ndarray of uint32, shape (n_features,)
        The group of each feature; the number of groups where it has none.
    group_names : tuple of str
        Names of the groups.

    Examples
    --------
    >>> numbers, group_names = group_numbers({"size": ["a", "c"]}, 3, ("a", "b", "c"))
    >>> numbers.tolist(), group_names
    ([0, 1, 0], ('size',))
    """
    if groups is None:
        return np.arange(n_features, dtype=np.uint32), names
    if isinstance(groups, str) or not hasattr(groups, "__iter__"):
        raise TypeError(
            "groups must be None, a list of lists of features, or a dict from names to lists; "
            f"got {groups!r}"
        )
    known = groups.items() if isinstance(groups, dict) else ((None, each) for each in groups)
    find = _feature_finder(n_features, names)
    numbers = np.full(n_features, -1, np.int64)
    group_names = []
    for number, (name, features) in enumerate(known):
        members = [features] if isinstance(features, str) else list(features)
        columns = [find(feature) for feature in members]
        if not columns:
            raise ValueError(f"groups must not hold empty groups; group {number} is empty")
        for column in columns:
            if numbers[column] >= 0:
                raise ValueError(f"groups holds feature {names[column]!r} twice")
            numbers[column] = number
        label = "+".join(names[column] for column in columns) if name is None else str(name)
        group_names.append(label)
    if not group_names:
        raise ValueError("groups must hold at least one group")
    numbers[numbers < 0] = len(group_names)
    return numbers.astype(np.uint32), tuple(group_names)


def _feature_finder(n_features: int, names: tuple[str, ...]) -> Callable[[Any], int]:
    places = {name: index for index, name in enumerate(names)}

    def find(feature: Any) -> int:
        if isinstance(feature, str) and feature in places:
            return places[feature]
        is_number = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
        if is_number and -n_features <= feature < n_features:
            return int(feature) % n_features
        raise ValueError(
            f"groups must name features of the table, or give numbers below {n_features}; "
            f"it holds {feature!r}"
        )

    return find
