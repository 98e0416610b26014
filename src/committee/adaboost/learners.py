"""What is fitted in a round of AdaBoost: stumps and trees of the engine, or any classifier.

A learner looks at the rows with their present weights (`_core.BoostedRows`) and returns a `Lesson`:
the member, the group that it puts each row into, and what it says of each group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.sampling import member_seed, seeded_clone
from committee.tables.native_table import AnyTable, reads_tables, shown_target

Floats = NDArray[np.float64]
Groups = NDArray[np.uint32]

# How often a sample with a single target is drawn again before it is taken as it is.
_REDRAWS = 20


@dataclass(slots=True, eq=False)  # not frozen: there is one a round, and that takes its time
class Lesson:
    """What a learner has made of the rows.

    Attributes
    ----------
    member : _core.Tree or estimator
        What was fitted.
    groups : ndarray of uint32, shape (n_rows,)
        The group of each row: a leaf, the class it is said to be, or its own number.
    shares : ndarray of float64, shape (n_groups, n_classes)
        Share of all weight of each class in each group.
    predicted : ndarray of int, shape (n_groups,)
        The class that the member predicts for each group.
    said : ndarray of float64, shape (n_groups, n_classes), or None
        How much of each class the member sees in each group; None: the shares.
    """

    member: Any
    groups: Groups
    shares: Floats
    predicted: NDArray[np.intp]
    said: Floats | None = None


class Learner(Protocol):
    """Fits the member of a round."""

    @property
    def n_redraws(self) -> int:
        """How often another number is worth trying where the member is of no use."""

    def learn(self, rows: _core.BoostedRows, number: int) -> Lesson:
        """Fit member `number` to the rows with their present weights."""


@dataclass(eq=False)
class StumpLearner:
    """The best stump, found by the engine from sums that are kept from round to round.

    Parameters
    ----------
    dataset : _core.BinnedDataset
        The table.
    criterion : str
        What the stump should reduce.
    level_penalty : float
        Price of the levels of categories.
    n_threads : int
        Threads to use.
    """

    dataset: _core.BinnedDataset
    criterion: str
    level_penalty: float
    n_threads: int
    _booster: _core.StumpBooster | None = None

    @property
    def n_redraws(self) -> int:
        """Nothing is drawn."""
        return 0

    def learn(self, rows: _core.BoostedRows, number: int) -> Lesson:
        """Find the stump."""
        if self._booster is None:
            self._booster = _core.StumpBooster(
                self.dataset,
                rows,
                criterion=self.criterion,
                level_penalty=self.level_penalty,
                n_threads=self.n_threads,
            )
        return Lesson(*self._booster.find())


@dataclass(frozen=True, eq=False)
class TreeLearner:
    """A tree of any depth, grown by the engine.

    Parameters
    ----------
    table : _core.Table
        The table.
    dataset : _core.BinnedDataset
        Its bins.
    codes : ndarray of int32, shape (n_rows, 1)
        Classes.
    n_classes : int
        Number of classes.
    settings : dict
        Of the engine.
    counts : ndarray of uint32 or None
        How often each row counts.
    sample : Sample or None
        Draws the rows; None weighs them.
    seed : int
        Seed of the ensemble.
    ccp_alpha : float
        Strength of pruning.
    n_threads : int
        Threads to use.
    """

    table: _core.Table
    dataset: _core.BinnedDataset
    codes: NDArray[np.int32]
    n_classes: int
    settings: Mapping[str, Any]
    counts: NDArray[np.uint32] | None
    sample: Sample | None
    seed: int
    ccp_alpha: float
    n_threads: int

    @property
    def n_redraws(self) -> int:
        """Other rows make another tree."""
        return 0 if self.sample is None else _REDRAWS

    def learn(self, rows: _core.BoostedRows, number: int) -> Lesson:
        """Grow the tree."""
        weights, counts = rows.distribution(), self.counts
        if self.sample is not None:
            weights = self.sample.draw(weights, number)
            counts = None
        tree = _core.grow_tree(
            self.dataset,
            classes=self.codes,
            n_classes=[self.n_classes],
            weights=weights,
            counts=counts,
            settings={**self.settings, "seed": member_seed(self.seed, number)},
        )
        tree = tree.prune(self.ccp_alpha) if self.ccp_alpha > 0 else tree
        groups = tree.apply(self.table, self.n_threads)
        shares = rows.shares(groups, tree.n_nodes)
        # A leaf predicts by its values, which are of drawn rows where these are drawn, and which
        # may tie where shares differ in the last digit.
        predicted = tree.arrays()["values"].argmax(axis=1)
        said = None if self.sample is None else class_shares(tree)
        return Lesson(tree, groups, shares, predicted, said)


def class_shares(tree: _core.Tree) -> Floats:
    """Return the shares of all weight by node and class that a tree of classes was grown from."""
    arrays = tree.arrays()
    shares: Floats = arrays["values"] * (arrays["weight"] / arrays["weight"][0])[:, np.newaxis]
    return shares


@dataclass(frozen=True, eq=False)
class Sample:
    """Draws rows with replacement, by their weights.

    Parameters
    ----------
    n_draws : int
        How many.
    seed : int
        Seed of the ensemble; the draws of a round depend on it and on the round alone.
    """

    n_draws: int
    seed: int

    def draw(self, distribution: Floats, number: int) -> Floats:
        """Return how often each row is drawn in a round."""
        generator = np.random.default_rng([self.seed, number])
        # Rounding may leave the sum a little above one, which the draw would refuse.
        shares = distribution / distribution.sum()
        return generator.multinomial(self.n_draws, shares).astype(np.float64)


@dataclass(frozen=True, eq=False)
class AnyFitter:
    """Fits copies of any estimator to weighted rows, or to rows that are drawn.

    Parameters
    ----------
    template : estimator
        What is copied.
    table : AnyTable
        The table.
    y : ndarray
        Its target.
    n_counted : int
        Rows that are learnt from, repetitions included.
    sample : Sample or None
        Draws the rows; None weighs them.
    fit_params : dict
        More arguments of `fit`.
    seed : int
        Seed of the ensemble.
    """

    template: Any
    table: AnyTable
    y: NDArray[Any]
    n_counted: int
    sample: Sample | None
    fit_params: Mapping[str, Any]
    seed: int

    def fit(self, distribution: Floats, number: int) -> Any:
        """Return the fitted member of a round."""
        member = seeded_clone(self.template, member_seed(self.seed, number))
        params = dict(self.fit_params)
        if self.sample is not None:
            rows = self._drawn(self.sample, distribution, number)
            member.fit(self.table.take(rows, None), self.y[rows], **params)
            return member
        # To estimators that read tables by themselves a row of weight zero is absent.
        is_whole = reads_tables(member) or bool((distribution > 0).all())
        rows = np.arange(len(distribution)) if is_whole else np.flatnonzero(distribution)
        table = self.table.shown_to(member) if is_whole else self.table.take(rows, None)
        y = self._shown_y if is_whole else self.y[rows]
        # With a mean of one, as if there were no weights: to some learners their size matters.
        params["sample_weight"] = distribution[rows] * self.n_counted
        member.fit(table, y, **params)
        return member

    @cached_property
    def _shown_y(self) -> Any:
        return shown_target(self.template, self.y)

    def _drawn(self, sample: Sample, distribution: Floats, number: int) -> NDArray[np.intp]:
        """Draw rows, and draw again where all have the same target: nothing is learnt from it."""
        for attempt in range(_REDRAWS):
            counts = sample.draw(distribution, number + attempt * 2**32).astype(np.intp)
            if len(np.unique(self.y[counts > 0])) > 1:
                break
        return np.repeat(np.arange(len(counts)), counts)


@dataclass(frozen=True, eq=False)
class AnyLearner:
    """Any classifier.

    Parameters
    ----------
    fitter : AnyFitter
        Fits members.
    labels : ndarray
        Labels of all classes.
    asks_probabilities : bool
        Whether votes are made of probabilities.
    """

    fitter: AnyFitter
    labels: NDArray[Any]
    asks_probabilities: bool

    @property
    def n_redraws(self) -> int:
        """Other rows make another member; but that may be slow, and boosting ends instead."""
        return 0

    def learn(self, rows: _core.BoostedRows, number: int) -> Lesson:
        """Fit the classifier."""
        member = self.fitter.fit(rows.distribution(), number)
        native = self.fitter.table.shown_to(member)
        n_classes = len(self.labels)
        said = codes_of(member.predict(native), self.labels)
        groups = said.astype(np.uint32)
        if not self.asks_probabilities:
            return Lesson(member, groups, rows.shares(groups, n_classes), np.arange(n_classes))
        own = np.arange(len(said), dtype=np.uint32)
        shares = rows.shares(own, len(own))
        return Lesson(member, own, shares, said, aligned(member, native, self.labels))


def codes_of(answers: Any, labels: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each label among the sorted labels of all classes.

    Examples
    --------
    >>> codes_of(["b", "a"], np.array(["a", "b"])).tolist()
    [1, 0]
    """
    said = np.asarray(answers).reshape(-1)
    codes = np.minimum(np.searchsorted(labels, said), len(labels) - 1)
    if not (labels[codes] == said).all():
        wrong = said[labels[codes] != said][0]
        raise ValueError(f"estimator predicts {wrong!r}, which is none of the classes of y")
    return codes


def aligned(member: Any, X: Any, labels: NDArray[Any]) -> Floats:
    """Return the probabilities of a member in the order of all classes; it may have seen fewer."""
    said = np.asarray(member.predict_proba(X), np.float64)
    if said.shape[1] == len(labels):
        return said
    result = np.zeros((len(said), len(labels)))
    result[:, codes_of(member.classes_, labels)] = said
    return result
