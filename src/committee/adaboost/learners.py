"""What is fitted in a round of AdaBoost: stumps and trees of the engine, or any classifier.

A weak learner is fitted to the rows with their present weights (`_core.BoostedRows`), which gives a
`WeakModel`: the member, the group that it puts each row into, and its prediction for each group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from committee import _core
from committee.base.arrays import Floats
from committee.base.sampling import member_seed, seeded_clone
from committee.members.training import fit_estimator
from committee.tables.native_table import AnyTable, reads_tables, shown_target

Groups = NDArray[np.uint32]

# How often a sample with a single target is drawn again before it is taken as it is.
_REDRAWS = 20


@dataclass(slots=True, eq=False)  # not frozen: there is one a round, and that takes its time
class WeakModel:
    """A weak learner fitted in a round, and its predictions for the training rows.

    Attributes
    ----------
    member : _core.Tree or estimator
        What was fitted.
    groups : ndarray of uint32, shape (n_rows,)
        The group of each row: a leaf, the predicted class, or its own number.
    shares : ndarray of float64, shape (n_groups, n_classes)
        Share of all weight of each class in each group.
    predicted : ndarray of int, shape (n_groups,)
        The class that the member predicts for each group.
    predicted_shares : ndarray of float64, shape (n_groups, n_classes), or None
        Shares of the classes in each group as the member predicts them, where they differ from
        `shares`; else None.
    """

    member: Any
    groups: Groups
    shares: Floats
    predicted: NDArray[np.intp]
    predicted_shares: Floats | None = None


class WeakLearner(Protocol):
    """Fits the member of a round."""

    @property
    def n_redraws(self) -> int:
        """How often another number is worth trying where the member is of no use."""

    def fit(self, rows: _core.BoostedRows, number: int) -> WeakModel:
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

    def fit(self, rows: _core.BoostedRows, number: int) -> WeakModel:
        """Find the stump."""
        if self._booster is None:
            self._booster = _core.StumpBooster(
                self.dataset,
                rows,
                criterion=self.criterion,
                level_penalty=self.level_penalty,
                n_threads=self.n_threads,
            )
        return WeakModel(*self._booster.find())


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

    def fit(self, rows: _core.BoostedRows, number: int) -> WeakModel:
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
        drawn_shares = None if self.sample is None else class_shares(tree)
        return WeakModel(tree, groups, shares, predicted, drawn_shares)


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
        Rows that are fitted to, repetitions included.
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
            table, y = self.table.take(rows, None), self.y[rows]
            return fit_estimator(member, table, y, params, is_classifier=is_classifier(member))
        # To estimators that read tables by themselves a row of weight zero is absent.
        is_whole = reads_tables(member) or bool((distribution > 0).all())
        rows = np.arange(len(distribution)) if is_whole else np.flatnonzero(distribution)
        table = self.table.shown_to(member) if is_whole else self.table.take(rows, None)
        y = self._shown_y if is_whole else self.y[rows]
        # With a mean of one, as if there were no weights: to some learners their size matters.
        params["sample_weight"] = distribution[rows] * self.n_counted
        return fit_estimator(member, table, y, params, is_classifier=is_classifier(member))

    @cached_property
    def _shown_y(self) -> Any:
        return shown_target(self.template, self.y)

    def _drawn(self, sample: Sample, distribution: Floats, number: int) -> NDArray[np.intp]:
        """Draw rows, and draw again where all have the same target: no learner can use them."""
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
    uses_probabilities : bool
        Whether votes are made of probabilities.
    """

    fitter: AnyFitter
    labels: NDArray[Any]
    uses_probabilities: bool

    @property
    def n_redraws(self) -> int:
        """Other rows make another member; but that may be slow, and boosting ends instead."""
        return 0

    def fit(self, rows: _core.BoostedRows, number: int) -> WeakModel:
        """Fit the classifier."""
        member = self.fitter.fit(rows.distribution(), number)
        native = self.fitter.table.shown_to(member)
        n_classes = len(self.labels)
        predicted = codes_of(member.predict(native), self.labels)
        groups = predicted.astype(np.uint32)
        if not self.uses_probabilities:
            return WeakModel(member, groups, rows.shares(groups, n_classes), np.arange(n_classes))
        own = np.arange(len(predicted), dtype=np.uint32)
        shares = rows.shares(own, len(own))
        return WeakModel(member, own, shares, predicted, aligned(member, native, self.labels))


def codes_of(predicted: Any, labels: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each label among the sorted labels of all classes.

    Examples
    --------
    >>> codes_of(["b", "a"], np.array(["a", "b"])).tolist()
    [1, 0]
    """
    found = np.asarray(predicted).reshape(-1)
    codes = np.minimum(np.searchsorted(labels, found), len(labels) - 1)
    if not (labels[codes] == found).all():
        wrong = found[labels[codes] != found][0]
        raise ValueError(f"estimator predicts {wrong!r}, which is none of the classes of y")
    return codes


def aligned(member: Any, X: Any, labels: NDArray[Any]) -> Floats:
    """Return the probabilities of a member, in the order of all classes: it may know fewer."""
    found = np.asarray(member.predict_proba(X), np.float64)
    if found.shape[1] == len(labels):
        return found
    result = np.zeros((len(found), len(labels)))
    result[:, codes_of(member.classes_, labels)] = found
    return result
