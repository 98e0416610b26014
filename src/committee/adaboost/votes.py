"""The fitted members of AdaBoost for classes, and how their votes add up.

Votes are n_rows x n_classes: sums over the members, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.adaboost.learners import aligned, class_shares, codes_of
from committee.adaboost.vote_rule import VoteRule
from committee.base.arrays import Floats
from committee.tables.native_table import AnyTable
from committee.trees.tree_members import TreeMembers
from committee.trees.trees import DecisionTreeClassifier

# For less rows, other trees are not worth making.
_MANY_ROWS = 256


class TreeVotes:
    """Votes of trees of the engine.

    Parameters
    ----------
    forest : _core.Forest
        Trees of classes.
    weights : ndarray of float64
        Weight of each vote.
    rule : VoteRule
        What a vote is.
    """

    def __init__(self, forest: _core.Forest, weights: Floats, rule: VoteRule) -> None:
        self._is_hard = rule.variant == "discrete"
        self._source = forest, np.array(weights, np.float64)
        self._weights = self._source[1] if self._is_hard else None
        self._forest = forest if self._is_hard else _score_forest(forest, rule)
        self._sides: list[_core.Forest] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_sides": None}

    def are_of(self, forest: _core.Forest, weights: Floats) -> bool:
        """Return whether these are the votes of a forest with such weights."""
        return forest is self._source[0] and np.array_equal(weights, self._source[1])

    def total(self, table: _core.Table, n_threads: int) -> Floats:
        """Return the votes of all members."""
        if self._weights is not None and self._forest.n_values == 2 and table.n_rows >= _MANY_ROWS:
            return self._two_sides(self._weights, table, n_threads)
        return self._forest.predict(
            table, hard=self._is_hard, tree_weights=self._weights, n_threads=n_threads
        )

    def _two_sides(self, weights: Floats, table: _core.Table, n_threads: int) -> Floats:
        """Return the same sums, one class after the other.

        Trees of one value add up several times as fast; zeros in the place of votes for the other
        class do not change a sum.
        """
        if self._sides is None:
            self._sides = [_forest_of_class(self._forest, weights, code) for code in (0, 1)]
        votes = np.empty((table.n_rows, 2))
        for code, forest in enumerate(self._sides):
            votes[:, code] = forest.predict(table, n_threads=n_threads)[:, 0]
        return votes

    def staged(self, table: _core.Table, n_threads: int) -> Iterator[Floats]:
        """Yield the votes of the first member, the first two, and so on."""
        votes: Floats | None = None
        for number in range(self._forest.n_trees):
            weights = None if self._weights is None else self._weights[number : number + 1]
            # One by one, as `total` adds them: the last has the same bits.
            more = self._forest.part(number, number + 1).predict(
                table, hard=self._is_hard, tree_weights=weights, n_threads=n_threads
            )
            votes = more if votes is None else votes + more
            yield votes.copy()

    def contributions(self, table: _core.Table, n_threads: int) -> Floats:
        """Return what features add to the votes, n_rows x (n_features + 1) x n_classes."""
        return self._forest.contributions(
            table, hard=self._is_hard, tree_weights=self._weights, n_threads=n_threads
        )


def _score_forest(forest: _core.Forest, rule: VoteRule) -> _core.Forest:
    """Return the trees with scores in the place of the shares of classes."""
    trees = []
    for number in range(forest.n_trees):
        tree = forest.tree(number)
        trees.append(_with_values(tree, rule.learning_rate * rule.scores(class_shares(tree))))
    return _core.Forest.from_trees(trees, "squared_error", [])


def _forest_of_class(forest: _core.Forest, weights: Floats, code: int) -> _core.Forest:
    """Return the trees with their votes for one class in the place of the shares of classes."""
    trees = []
    for number in range(forest.n_trees):
        tree = forest.tree(number)
        votes = np.where(tree.arrays()["values"].argmax(axis=1) == code, weights[number], 0.0)
        trees.append(_with_values(tree, votes[:, np.newaxis]))
    return _core.Forest.from_trees(trees, "squared_error", [])


def _with_values(tree: _core.Tree, values: Floats) -> _core.Tree:
    arrays = {**tree.arrays(), "values": np.ascontiguousarray(values)}
    return _core.Tree(tree.n_features, tree.kinds, arrays)


class AnyVotes:
    """Votes of any classifiers.

    Parameters
    ----------
    members : sequence of estimators
        In the order of the rounds.
    weights : ndarray of float64
        Weight of each vote.
    labels : ndarray
        Labels of all classes.
    rule : VoteRule
        What a vote is.
    """

    def __init__(
        self, members: Sequence[Any], weights: Floats, labels: NDArray[Any], rule: VoteRule
    ) -> None:
        self._members, self._weights, self._labels, self._rule = members, weights, labels, rule

    def total(self, table: AnyTable, n_threads: int) -> Floats:
        """Return the votes of all members."""
        votes = np.zeros((table.n_rows, len(self._labels)))
        for number in range(len(self._members)):
            self._add(votes, number, table)
        return votes

    def staged(self, table: AnyTable, n_threads: int) -> Iterator[Floats]:
        """Yield the votes of the first member, the first two, and so on."""
        votes = np.zeros((table.n_rows, len(self._labels)))
        for number in range(len(self._members)):
            self._add(votes, number, table)
            yield votes.copy()

    def _add(self, votes: Floats, number: int, table: AnyTable) -> None:
        if table.n_rows == 0:  # which many estimators refuse
            return
        member = self._members[number]
        votes += votes_of(
            member, table.shown_to(member), self._weights[number], self._labels, self._rule
        )


def make_votes(
    members: TreeMembers | Sequence[Any], weights: Floats, labels: NDArray[Any], rule: VoteRule
) -> TreeVotes | AnyVotes:
    """Return how the votes of members add up."""
    if isinstance(members, TreeMembers):
        return TreeVotes(members.forest, weights, rule)
    return AnyVotes(members, weights, labels, rule)


def _shares_of(member: Any, X: Any, labels: NDArray[Any]) -> Floats:
    """Return what votes are made from: shares of weight of a tree, or probabilities."""
    is_of_engine = type(member) is DecisionTreeClassifier and member.class_weight is None
    if is_of_engine and np.array_equal(member.classes_, labels):
        shares: Floats = class_shares(member._tree)[member.apply(X)]
        return shares
    return aligned(member, X, labels)


def votes_of(member: Any, X: Any, weight: float, labels: NDArray[Any], rule: VoteRule) -> Floats:
    """Return the votes of one classifier of any kind."""
    if rule.variant != "discrete":
        return rule.learning_rate * rule.scores(_shares_of(member, X, labels))
    codes = codes_of(member.predict(X), labels)
    votes = np.zeros((len(codes), len(labels)))
    votes[np.arange(len(codes)), codes] = weight
    return votes
