"""How a tree after Quinlan was chosen: for each node what each feature would have brought."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from committee.tables.frame import make_frame
from committee.trees.conditions import (
    Condition,
    feature_names_of,
    level_text,
    number_text,
    start_condition,
    threshold_text,
    trimmed,
)
from committee.trees.tree_view import TreeView

if TYPE_CHECKING:
    from committee.tables.column import FeatureInfo

# In the order of Outcome in src/core/quinlan/quinlan_grower.hpp.
OUTCOMES = ("split", "pure", "small", "no candidate", "collapsed", "pruned", "raised")
_WORDS = {
    "split": "split",
    "pure": "leaf: one class",
    "small": "leaf: too few rows, or deep enough",
    "no candidate": "leaf: no feature can split it",
    "collapsed": "leaf: the subtree made no fewer errors in training",
    "pruned": "leaf: pruned, the subtree is expected to make no fewer errors",
    "raised": "split: took the place of a node above its heaviest branch",
}


@dataclass(frozen=True, slots=True)
class SplitCandidate:
    """What a split on one feature would bring a node.

    Attributes
    ----------
    feature : int
        Column number.
    name : str
        Its name.
    test : str
        The split: a threshold, or the number of branches.
    known : float
        Share of the node's weight whose value is known.
    entropy : float
        Entropy of the classes of these, in bits.
    gain : float
        Information gain in bits, the correction of thresholds taken off.
    correction : float
        What a threshold pays for having been the best of many.
    split_information : float
        Entropy of the branches in bits.
    ratio : float
        Gain divided by split information.
    is_possible : bool
        Whether the feature could split the node.
    is_chosen : bool
        Whether it was chosen.
    """

    feature: int
    name: str
    test: str
    known: float
    entropy: float
    gain: float
    correction: float
    split_information: float
    ratio: float
    is_possible: bool
    is_chosen: bool


@dataclass(frozen=True, slots=True, eq=False)
class NodeGrowth:
    """One node: what led to it, what it could become, and what it became.

    Attributes
    ----------
    node : int
        Node number in `tree_`.
    depth : int
        Splits above it.
    path : tuple of Condition
        What leads to it.
    class_weights : dict
        Weight of each class, by its label.
    entropy : float
        Entropy of the classes in bits.
    outcome : str
        "split", "pure", "small", "no candidate", "collapsed", "pruned" or "raised".
    leaf_estimate, subtree_estimate : float or None
        Errors to expect of the node as a leaf, and of the subtree that was grown below it; None
        without pruning, the latter also where none was grown.
    candidates : tuple of SplitCandidate
        One for each feature; empty where no split was looked for.
    """

    node: int
    depth: int
    path: tuple[Condition, ...]
    class_weights: dict[Any, float]
    entropy: float
    outcome: str
    leaf_estimate: float | None
    subtree_estimate: float | None
    candidates: tuple[SplitCandidate, ...]

    def __str__(self) -> str:
        where = " AND ".join(map(str, self.path)) or "all rows"
        classes = ", ".join(
            f"{level_text(label)}: {trimmed(number_text(weight, 2))}"
            for label, weight in self.class_weights.items()
            if weight > 0
        )
        lines = [
            f"node {self.node}: {where}",
            f"  {classes}; entropy {self.entropy:.3f} bits; {_WORDS[self.outcome]}",
        ]
        if self.leaf_estimate is not None and self.subtree_estimate is not None:
            lines.append(
                f"  errors to expect: {self.leaf_estimate:.2f} as a leaf, "
                f"{self.subtree_estimate:.2f} as a subtree"
            )
        return "\n".join(lines + self._table())

    def _table(self) -> list[str]:
        possible = [each for each in self.candidates if each.is_possible]
        if not possible:
            return []
        width = max(7, *(len(each.name) for each in possible))
        tests = max(4, *(len(each.test) for each in possible))
        head = f"    {'feature':<{width}}  {'test':<{tests}}   gain  split info  ratio"
        return [head] + [
            f"  {'>' if each.is_chosen else ' '} {each.name:<{width}}  {each.test:<{tests}}  "
            f"{each.gain:5.3f}  {each.split_information:10.3f}  {each.ratio:5.3f}"
            for each in possible
        ]


class Growth(Sequence[NodeGrowth]):
    """How a tree was chosen, node by node.

    Parameters
    ----------
    nodes : sequence of NodeGrowth
        The nodes in the order of `tree_`.
    """

    def __init__(self, nodes: Sequence[NodeGrowth]) -> None:
        self._nodes = tuple(nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, index: int) -> NodeGrowth: ...
    @overload
    def __getitem__(self, index: slice) -> Growth: ...
    def __getitem__(self, index: int | slice) -> NodeGrowth | Growth:
        if isinstance(index, slice):
            return Growth(self._nodes[index])
        return self._nodes[index]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return all candidates of all nodes as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Kind of frame; the first of these that is installed when None.

        Returns
        -------
        frame : DataFrame or Table
            One row for each feature that was looked at in a node.
        """
        rows = [(node, each) for node in self._nodes for each in node.candidates]
        columns: dict[str, list[Any]] = {"node": [node.node for node, _ in rows]}
        columns["outcome"] = [node.outcome for node, _ in rows]
        for field in SplitCandidate.__slots__:
            columns[field] = [getattr(each, field) for _, each in rows]
        return make_frame(columns, backend)

    def __str__(self) -> str:
        return "\n".join(map(str, self._nodes))

    def __repr__(self) -> str:
        return f"<Growth of {len(self)} nodes>\n{self}"


def make_growth(view: TreeView, record: dict[str, NDArray[Any]], *, is_pruned: bool) -> Growth:
    """Put what the engine wrote down in words and names.

    Parameters
    ----------
    view : TreeView
        The tree.
    record : dict of ndarray
        The arrays of `_core.grow_quinlan`.
    is_pruned : bool
        Whether subtrees were compared by the errors to expect of them.

    Returns
    -------
    growth : Growth
        The nodes of the tree.
    """
    names = feature_names_of(view, None)
    assert view.classes is not None
    labels = view.classes[0].tolist()
    paths: list[dict[int, Condition]] = [{} for _ in range(view.node_count)]
    nodes = []
    for node in range(view.node_count):
        for child in view.children(node):
            branch = view.branch(node, child)
            before = paths[node].get(branch.feature)
            condition = (before or start_condition(view, branch.feature, names)).narrowed(branch)
            paths[child] = paths[node] | {branch.feature: condition}
        outcome = OUTCOMES[int(record["outcome"][node])]
        candidates = _candidates(view, record, node, names)
        was_compared = is_pruned and any(each.is_chosen for each in candidates)
        weights = view.value[node, 0] * view.weighted_n_node_samples[node]
        nodes.append(
            NodeGrowth(
                node=node,
                depth=int(view.depths[node]),
                path=tuple(paths[node].values()),
                class_weights=dict(zip(labels, weights.tolist(), strict=True)),
                entropy=float(view.impurity[node]),
                outcome=outcome,
                leaf_estimate=float(record["leaf_estimate"][node]) if is_pruned else None,
                subtree_estimate=float(record["subtree_estimate"][node]) if was_compared else None,
                candidates=candidates,
            )
        )
    return Growth(nodes)


def _candidates(
    view: TreeView, record: dict[str, NDArray[Any]], node: int, names: list[str]
) -> tuple[SplitCandidate, ...]:
    first, end = (int(record["first_candidate"][node + i]) for i in (0, 1))
    found = []
    for position in range(first, end):
        feature = int(record["feature"][position])
        gain = float(record["gain"][position])
        information = float(record["split_information"][position])
        n_branches = int(record["n_branches"][position])
        threshold = float(record["threshold"][position])
        info = view.schema.features[feature]
        # A tree on levels has no thresholds: the view of ID3 knows intervals from numbers.
        is_threshold = info.levels is None and getattr(view, "codes", None) is None
        found.append(
            SplitCandidate(
                feature=feature,
                name=names[feature],
                test=_test_text(n_branches, threshold if is_threshold else math.nan, info),
                known=float(record["known"][position]),
                entropy=float(record["entropy"][position]),
                gain=gain,
                correction=float(record["correction"][position]),
                split_information=information,
                ratio=gain / information if information > 0 else 0.0,
                is_possible=bool(record["is_possible"][position]),
                is_chosen=int(record["chosen"][node]) == position - first,
            )
        )
    return tuple(found)


def _test_text(n_branches: int, threshold: float, info: FeatureInfo) -> str:
    if n_branches == 0:
        return "one value"
    if np.isnan(threshold):
        return f"{n_branches} branches"
    return f"<= {trimmed(threshold_text(threshold, info.label, 2, info.order))}"
