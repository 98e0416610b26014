"""The committee in one small tree: what it roughly does, and how well a simple model would do.

The tree learns from what the committee predicts for rows that its models have not seen, and is
judged on rows that it has not seen itself. It holds conditions and means, no row of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.decision import Decision
from committee.auto.distillation import Student, agreement
from committee.auto.findings.unseen import Unseen
from committee.base.arrays import Floats, Rows
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, TEXT, Part, array, tuple_of
from committee.tables.source import Source, read_once
from committee.trees.branch import Branch
from committee.trees.conditions import (
    Condition,
    branch_text,
    clean_name,
    feature_names_of,
    level_text,
    start_condition,
    threshold_text,
    trimmed,
)
from committee.trees.tree_view import TreeView

_LEAVES, _LEAST_GAIN = 8, 0.005  # at most; of a split, of the impurity of all rows
_MOST_COLUMNS = 20  # that it learns from, the most important ones
_MOST_ROWS = 5_000
_LEAST_ROWS = 60
_N_PARTS = 3  # parts of the rows, each predicted by a tree of the others
_DECIMALS = 2
_MOST_LEVELS = 4  # that are named in a condition


@register("auto.SmallTree")
@dataclass(frozen=True, eq=False)
class SmallTree:
    """A tree of a few leaves that imitates a committee.

    Attributes
    ----------
    words : tuple of str
        For each node the condition that leads to it from the one before; "all rows" for the first.
        A node comes before its children, and all below the first child before the second.
    depths : ndarray of int32, shape (n_nodes,)
        0 for the first node.
    shares : ndarray of float64, shape (n_nodes,)
        Share of the rows.
    values : ndarray of float64, shape (n_nodes, n_values)
        The mean of what the committee predicts: probabilities of the classes, or one number.
    agreement : float
        On rows that the tree has not seen: the share of them for which it decides for the same
        class as the committee, or R2 with the predictions of the committee as the truth.
    score : float
        Of the tree, on the true target of these rows, in the metric of the leaderboard.
    committee_score : float
        Of the committee on the same rows.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "words": tuple_of(TEXT, "nodes", least=1),
        "depths": array("i4", "nodes", low=0),
        "shares": array("f8", "nodes", low=0.0, finite=True),
        "values": array("f8", "nodes", None, finite=True),
        "agreement": NUMBER,
        "score": NUMBER,
        "committee_score": NUMBER,
    }

    words: tuple[str, ...]
    depths: Any
    shares: Floats
    values: Floats
    agreement: float
    score: float
    committee_score: float

    @property
    def is_leaf(self) -> list[bool]:
        """Whether each node has no children."""
        depths = [*self.depths.tolist(), 0]
        return [after <= own for own, after in pairwise(depths)]

    def __repr__(self) -> str:
        """Return the tree as text, with the mean prediction of each leaf."""
        lines = []
        for words, depth, value, is_leaf in zip(
            self.words, self.depths.tolist(), self.values.tolist(), self.is_leaf, strict=True
        ):
            shown = ", ".join(f"{each:.3g}" for each in value)
            lines.append(f"{'  ' * depth}{words}{': ' + shown if is_leaf else ''}")
        return "\n".join(lines)

    def _validate_loaded(self) -> None:
        steps = np.diff(self.depths)
        if self.depths[0] != 0 or (steps > 1).any() or (self.depths[1:] < 1).any():
            raise ValueError("the nodes of the small tree are out of order")
        if self.values.shape[1] < 1 or not (self.shares <= 1 + 1e-9).all():
            raise ValueError("the small tree has no values, or shares of more than all rows")


def small_tree(
    features: Source,
    parts: Sequence[tuple[str, ...]],
    ranking: Sequence[int],
    unseen: Unseen,
    decision: Decision | None,
    seed: int,
) -> SmallTree | None:
    """Return a tree that imitates a committee; None where there are too few rows.

    Parameters
    ----------
    features : Source
        What models see of the training rows.
    parts : sequence of tuple of str
        For each column, the features made of it.
    ranking : sequence of int
        Places of columns that it may use, the most important ones first.
    unseen : Unseen
        The committee on rows that its models have not seen.
    decision : Decision or None
        How it decides for a class.
    seed : int
        Of the trees.
    """
    n_rows = unseen.target.n_rows
    rows = np.arange(0, n_rows, -(-n_rows // _MOST_ROWS))
    values = unseen.combined[rows]
    if len(rows) < _LEAST_ROWS or (values == values[0]).all():
        return None
    firsts = np.cumsum([0, *map(len, parts)])
    places = [k for column in ranking for k in range(firsts[column], firsts[column + 1])]
    if not places:
        return None
    used = np.sort(np.array(places[:_MOST_COLUMNS], np.int64))
    weights = unseen.weights[rows]
    table = read_once(features.take(unseen.rows[rows], used))
    n_classes = 0 if decision is None else values.shape[1]
    student = Student("tree", _LEAVES, n_classes, seed, 1, _LEAST_GAIN)
    predicted = np.empty_like(values)
    for part in range(_N_PARTS):
        test = np.arange(part, len(rows), _N_PARTS)
        train = np.setdiff1d(np.arange(len(rows)), test)
        model = student.fit(table, values, train, weights)
        predicted[test] = student.output.predict(model, table.take(test, None))
    tree = student.fit(table, values, np.arange(len(rows)), weights)
    own, others = (unseen.as_scored(each) for each in (predicted, values))
    return SmallTree(
        *_nodes(tree, table, values, weights),
        agreement(predicted, values, decision, weights),
        _score(unseen, own, rows),
        _score(unseen, others, rows),
    )


_Nodes = tuple[tuple[str, ...], NDArray[np.int32], Floats, Floats]


def _score(unseen: Unseen, values: Floats, rows: Rows) -> float:
    """Return the score of predictions of some rows."""
    spread = np.zeros((unseen.target.n_rows, values.shape[1]))
    spread[rows] = values
    try:
        return unseen.metric.score(spread, rows)
    except ValueError:  # without one of the classes
        return float("nan")


def _nodes(tree: Any, table: Source, values: Floats, weights: Floats) -> _Nodes:
    """Return the words, depths, shares and mean predictions of the nodes of a tree."""
    view: TreeView = tree.tree_
    names = feature_names_of(view, None)
    reached = np.asarray(tree.decision_path(table).toarray(), bool)
    words, depths, shares, means = [], [], [], []

    def add(node: int, depth: int, text: str, path: dict[int, Condition]) -> None:
        own = weights * reached[:, node]
        words.append(text)
        depths.append(depth)
        shares.append(own.sum() / weights.sum())
        means.append((own[:, np.newaxis] * values).sum(axis=0) / max(own.sum(), 1e-300))
        for child in view.children(node):
            branch = view.branch(node, child)
            before = path.get(branch.feature) or start_condition(
                view, branch.feature, names, _DECIMALS
            )
            condition = before.narrowed(branch)
            after = path | {branch.feature: condition}
            add(child, depth + 1, _words(branch, condition), after)

    add(0, 0, "all rows", {})
    return tuple(words), np.array(depths, np.int32), np.array(shares), np.array(means)


def _words(branch: Branch, condition: Condition) -> str:
    """Return the condition of a branch in few words."""
    name = clean_name(condition.name)
    missing = " or missing" if condition.names_missing and condition.takes_missing else ""
    if condition.levels:
        levels = [level_text(level) for level in condition.levels]
        if len(levels) > _MOST_LEVELS:
            levels[_MOST_LEVELS - 1 :] = [f"{len(levels) - _MOST_LEVELS + 1} more"]
        rest = " or ".join([", ".join(levels[:-1]), levels[-1]] if len(levels) > 1 else levels)
        return f"{name} is {rest}{missing}"
    if branch.threshold is None or branch.asks_presence or branch.kind == "boolean":
        return branch_text(branch, condition, _DECIMALS)
    bound = threshold_text(branch.threshold, branch.kind, _DECIMALS, condition.order)
    sign = "≤" if branch.operator == "<=" else ">"
    return f"{name} {sign} {trimmed(bound)}{missing}"
