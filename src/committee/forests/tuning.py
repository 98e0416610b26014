"""Choosing how many features a forest draws, from out-of-bag rows.

Cross-validation fits every candidate with all its trees on every fold. Here each candidate grows a
few trees on the same draws of rows, and is scored by what a full forest *would* reach: with e the
error of a tree on an out-of-bag row and e' that of another tree, the squared error of B trees is
the mean of ``e * e' + (e * e - e * e') / B``, and a few trees tell both means. Candidates that are
worse beyond doubt are dropped, the others grow on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from committee.base.arrays import Floats
from committee.base.params import (
    check_bool,
    check_choice,
    check_int,
    check_max_features,
    check_real,
    check_seed,
    is_false,
)
from committee.base.products import dot
from committee.forests.variance import ErrorTally
from committee.tables.native_table import AnyTable
from committee.tables.target import read_weights

__all__ = ["TuningCandidate", "TuningResult", "tune_max_features"]


# How a loss depends on the trees that happened to be grown is seen by leaving out blocks of them.
_N_BLOCKS = 5


@dataclass(frozen=True)
class TuningCandidate:
    """A way to grow a forest, and how good it is.

    Parameters
    ----------
    estimator : str
        Name of the class of the forest.
    max_features : int
        Features drawn.
    loss : float
        The out-of-bag loss.
    difference : float
        How much worse that is than the best candidate.
    standard_error : float
        Standard error of `difference`, over rows and trees.
    n_trees : int
        Trees grown to find out.

    Examples
    --------
    >>> TuningCandidate("RandomForestClassifier", 4, 0.2, 0.01, 0.02, 25).is_as_good
    True
    """

    estimator: str
    max_features: int
    loss: float
    difference: float
    standard_error: float
    n_trees: int

    @property
    def is_as_good(self) -> bool:
        """Whether the best candidate is better by one standard error at most."""
        return self.difference <= self.standard_error


@dataclass(frozen=True, repr=False, eq=False)
class TuningResult:
    """What `tune_max_features` found.

    Parameters
    ----------
    max_features : int
        The best number of features to draw.
    candidates : tuple of TuningCandidate
        All that were tried, in their order.
    best : int
        Which of them is the best.
    forest : estimator or None
        The best forest with all its trees, fitted; None with ``refit=False``.
    n_trees_grown : int
        Trees grown by the search, those of `forest` beyond the search not counted.
    n_estimators : int
        Trees of a full forest.

    Examples
    --------
    >>> tried = (
    ...     TuningCandidate("RandomForestClassifier", 1, 0.30, 0.1, 0.01, 25),
    ...     TuningCandidate("RandomForestClassifier", 4, 0.20, 0.0, 0.00, 100),
    ... )
    >>> result = TuningResult(4, tried, 1, None, 125, 100)
    >>> result.curve()
    (array([1, 4]), array([0.3, 0.2]))
    >>> result.cost
    1.25
    """

    max_features: int
    candidates: tuple[TuningCandidate, ...]
    best: int
    forest: Any
    n_trees_grown: int
    n_estimators: int

    @property
    def cost(self) -> float:
        """Trees grown by the search, in full forests."""
        return self.n_trees_grown / self.n_estimators

    def curve(self, estimator: str | None = None) -> tuple[NDArray[np.int64], Floats]:
        """Return numbers of features and losses; of the best estimator if there are several."""
        name = self.candidates[self.best].estimator if estimator is None else estimator
        mine = [each for each in self.candidates if each.estimator == name]
        numbers = np.array([each.max_features for each in mine], np.int64)
        return numbers, np.array([each.loss for each in mine])

    def __repr__(self) -> str:
        lines = [
            f"TuningResult: max_features={self.max_features} of "
            f"{self.candidates[self.best].estimator}; {self.n_trees_grown} trees grown, "
            f"{self.cost:.1f} forests of {self.n_estimators}"
        ]
        for number, each in enumerate(self.candidates):
            mark = "best" if number == self.best else "as good" if each.is_as_good else ""
            lines.append(
                f"  {each.estimator}  {each.max_features:5d} features  loss {each.loss:.5g}  "
                f"({each.difference:+.2g} +- {each.standard_error:.1g}, {each.n_trees} trees)  "
                f"{mark}".rstrip()
            )
        return "\n".join(lines)


def default_grid(n_features: int) -> list[int]:
    """Return numbers of features to try: the square root, half and twice of it, ..., and all.

    Examples
    --------
    >>> default_grid(28)
    [1, 3, 5, 11, 21, 28]
    """
    root = math.sqrt(n_features)
    steps = math.ceil(math.log2(max(root, 1.0)))
    numbers = {round(root * 2.0**step) for step in range(-steps, steps + 1)}
    return sorted({min(max(1, number), n_features) for number in numbers} | {n_features})


def tune_max_features(
    forest: Any,
    X: Any,
    y: Any,
    grid: Sequence[Any] | None = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    loss: str = "squared",
    n_trees: int = 25,
    max_trees: int | None = None,
    strictness: float = 2.0,
    tolerance: float = 0.01,
    refit: bool = True,
) -> TuningResult:
    """Choose the number of features to draw by the out-of-bag error of a few trees.

    Parameters
    ----------
    forest : forest estimator, or a sequence of them
        What to tune: `RandomForestClassifier`, `RandomForestRegressor`, or extra-trees with
        ``bootstrap=True``. Each candidate is a copy with another `max_features`, the same draws of
        rows and the same seed. Give several, ``[RandomForestClassifier(),
        ExtraTreesClassifier(bootstrap=True)]``, to choose between kinds of forests as well.
    X, y : table and target
        As for `fit`.
    grid : sequence or None, default=None
        Values of `max_features`. None tries the square root of the number of features, half and
        twice of it and so on, and all of them.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        As for `fit`; errors are weighted too.
    groups : array-like of shape (n_rows,) or None, default=None
        As for `fit`: rows with the same value are out of bag together.
    loss : {"squared", "error"}, default="squared"
        "squared": the squared error, for classifiers of the probabilities (the Brier score), which
        is estimated for a forest of `n_estimators` trees. "error": the error rate of the trees
        grown so far, for classifiers with one output.
    n_trees : int, default=25
        Trees of each candidate before the first is dropped. Then the rest grow half as many more,
        again and again.
    max_trees : int or None, default=None
        Most trees of a candidate in the search; None is `n_estimators`, at most 100.
    strictness : float, default=2.0
        A candidate is dropped when it is so many standard errors worse than the best.
    tolerance : float, default=0.01
        The search ends when those left are worse than the best by this share of its loss at most,
        or by what only more rows could tell from chance: which of them to take matters little.
    refit : bool, default=True
        Grow the best candidate to all its trees and return it, fitted. Its first trees are those
        of the search.

    Returns
    -------
    result : TuningResult
        `max_features`, `candidates` with their losses, and the fitted `forest`.

    Notes
    -----
    The squared error is that of `n_estimators` trees, not of the few that were grown: few trees
    would favour candidates whose single trees are strong, and many features. Standard errors are
    those of the difference to the best candidate: row by row, which is much smaller than that of
    each loss, since rows are hard or easy for all; and over blocks of trees, since few trees may
    be lucky ones.

    A good error rate and good probabilities may ask for different numbers of features: with many
    features trees agree more, and probabilities are closer to zero and one.

    Examples
    --------
    >>> from committee import RandomForestClassifier, tune_max_features
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> result = tune_max_features(RandomForestClassifier(random_state=0), X, y)
    >>> 1 <= result.max_features <= 7
    True
    >>> result.forest.n_trees_
    100
    """
    check_choice("loss", loss, ("squared", "error"))
    n_trees = check_int("n_trees", n_trees, 2 * _N_BLOCKS)
    max_trees = check_int("max_trees", max_trees, n_trees, none=True)
    strictness = check_real("strictness", strictness, 0.0)
    tolerance = check_real("tolerance", tolerance, 0.0)
    check_bool("refit", refit)
    table = AnyTable(X)
    weights = read_weights(sample_weight, table.n_rows)
    weights = np.ones(table.n_rows) if weights is None else weights
    data = (X, y, sample_weight, groups)
    runners = _runners(forest, grid, table.n_features)
    full = runners[0].n_estimators
    most = min(full, 100) if max_trees is None else min(max_trees, full)
    racing = list(range(len(runners)))
    size = min(n_trees, most)
    while True:
        for index in racing:
            runners[index].grow(size, data)
        # Those that were dropped keep their last losses.
        losses = [runner.losses(loss, weights) for runner in runners]
        best, differences, errors, by_trees = _compare(losses, weights, racing)
        racing = [i for i in racing if differences[i] <= strictness * errors[i]]
        slack = tolerance * losses[best].mean
        # More trees make only that part of an error smaller which is due to trees.
        if size >= most or all(
            differences[i] <= slack or by_trees[i] < errors[i] / 2 for i in racing
        ):
            break
        size = min(most, size + max(1, size // 2))
    tried = tuple(
        TuningCandidate(
            type(runner.model).__name__,
            runner.max_features,
            losses[index].mean,
            float(differences[index]),
            float(errors[index]),
            runner.n_grown,
        )
        for index, runner in enumerate(runners)
    )
    n_grown = sum(runner.n_grown for runner in runners)
    fitted = runners[best].finish(data) if refit else None
    return TuningResult(runners[best].max_features, tried, best, fitted, n_grown, full)


class _Runner:
    """A candidate that grows in steps."""

    def __init__(self, forest: Any, max_features: int, seed: int) -> None:
        self._wanted = forest.get_params(deep=False)
        self.max_features = max_features
        self.n_estimators = check_int("n_estimators", forest.n_estimators, 1)
        self.model = clone(forest).set_params(
            max_features=max_features,
            random_state=seed,
            warm_start=True,
            oob_score=False,
            early_stopping=False,
            uncertainty=False,
        )
        self.n_grown = 0
        self._blocks: list[ErrorTally] = []
        self._target: Floats = np.zeros((0, 0))

    def grow(self, n_trees: int, data: tuple[Any, Any, Any, Any]) -> None:
        """Grow more trees, and add their errors on the rows that they have not drawn."""
        X, y, sample_weight, groups = data
        self.model.set_params(n_estimators=n_trees).fit(
            X, y, sample_weight=sample_weight, groups=groups
        )
        table = self.model._read(X)
        self._target = self.model._values_of(y, table.n_rows)
        sampler = self.model._training_sampler("tune_max_features", table.n_rows)
        blocks = self._blocks or [ErrorTally(*self._target.shape) for _ in range(_N_BLOCKS)]
        n_threads = self.model._threads()
        for tree in range(self.n_grown, n_trees):
            predicted = self.model._forest.part(tree, tree + 1).predict(table, n_threads=n_threads)
            blocks[tree % _N_BLOCKS].add(predicted - self._target, sampler.counts(tree) == 0)
        self._blocks, self.n_grown = blocks, n_trees

    def losses(self, loss: str, weights: Floats) -> _Losses:
        """Return the losses of all trees, and of those without each block of trees."""
        rows = self._row_losses(loss, ErrorTally.merged(self._blocks))
        without = []
        for left_out in range(_N_BLOCKS):
            others = [each for block, each in enumerate(self._blocks) if block != left_out]
            without.append(_mean(self._row_losses(loss, ErrorTally.merged(others)), weights))
        return _Losses(rows, _mean(rows, weights), np.array(without))

    def _row_losses(self, loss: str, tally: ErrorTally) -> Floats:
        """Return the loss of the forest on each row; NaN where it is not known."""
        if loss == "squared":
            return tally.row_errors(self.n_estimators)
        if self.model._class_labels() is None or self.model.n_outputs_ > 1:
            raise ValueError('loss="error" is for classifiers with one output; use "squared"')
        predicted = tally.mean_errors() + self._target
        is_wrong = predicted.argmax(axis=1) != self._target.argmax(axis=1)
        return np.where(np.isnan(predicted[:, 0]), np.nan, is_wrong)

    def finish(self, data: tuple[Any, Any, Any, Any]) -> Any:
        """Return the forest with all trees and the settings that were given."""
        X, y, sample_weight, groups = data
        names = ("oob_score", "early_stopping", "uncertainty")
        wanted = {name: self._wanted[name] for name in names}
        is_done = self.n_grown == self.n_estimators and all(map(is_false, wanted.values()))
        self.model.set_params(n_estimators=self.n_estimators, **wanted)
        if not is_done:
            # A fit that adds no trees would warn, so the last ones are grown again.
            is_full = self.n_grown == self.n_estimators
            self.model.set_params(warm_start=not is_full)
            self.model.fit(X, y, sample_weight=sample_weight, groups=groups)
        return self.model.set_params(warm_start=self._wanted["warm_start"])


def _runners(forest: Any, grid: Sequence[Any] | None, n_features: int) -> list[_Runner]:
    forests = list(forest) if isinstance(forest, list | tuple) else [forest]
    if not forests:
        raise ValueError("forest must be a forest estimator or a sequence of them; got none")
    for each in forests:
        if not hasattr(each, "_training_sampler"):
            raise TypeError(
                "forest must be a forest of this library, such as RandomForestClassifier; got "
                f"{type(each).__name__}"
            )
        if not each.bootstrap and each.max_samples is None:
            raise ValueError(
                f"tune_max_features needs out-of-bag rows, but {type(each).__name__} learns from "
                "all rows; set bootstrap=True"
            )
    if len({is_classifier(each) for each in forests}) > 1:
        raise ValueError(
            "forest mixes classifiers and regressors, whose losses cannot be compared; give "
            "forests of one kind"
        )
    if len({each.n_estimators for each in forests}) > 1:
        raise ValueError("the forests must have the same n_estimators to be compared")
    numbers = default_grid(n_features)
    if grid is not None:
        numbers = sorted({check_max_features(value, n_features, "grid") for value in grid})
        if not numbers:
            raise ValueError("grid must hold at least one value")
    seed = check_seed(forests[0].random_state)
    return [_Runner(each, number, seed) for each in forests for number in numbers]


@dataclass(frozen=True, eq=False)
class _Losses:
    """Losses of a candidate: of each row, their mean, and the means without each block of trees."""

    rows: Floats
    mean: float
    without: Floats


def _compare(
    losses: list[_Losses], weights: Floats, racing: list[int]
) -> tuple[int, Floats, Floats, Floats]:
    """Return the best of those in the race, and how much worse each is.

    With standard errors, and what trees contribute to these.
    """
    best = min(racing, key=lambda index: losses[index].mean)
    differences, errors, by_trees = np.zeros((3, len(losses)))
    for index, each in enumerate(losses):
        apart = each.rows - losses[best].rows
        known = ~np.isnan(apart) & (weights > 0)
        if index == best or not known.any():
            continue
        share = weights[known] / weights[known].sum()
        differences[index] = dot(share, apart[known])
        by_rows = dot(share**2, (apart[known] - differences[index]) ** 2)
        # The jackknife over blocks of trees.
        blocks = (each.without - losses[best].without).var() * (_N_BLOCKS - 1)
        by_trees[index] = math.sqrt(float(blocks))
        errors[index] = math.sqrt(by_rows + float(blocks))
    return best, differences, errors, by_trees


def _mean(losses: Floats, weights: Floats) -> float:
    known = ~np.isnan(losses) & (weights > 0)
    return float(np.average(losses[known], weights=weights[known])) if known.any() else math.nan
