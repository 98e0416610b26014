"""The resamples of a bootstrap: what is drawn, and how estimators are fitted to it and scored.

A *resample* draws as many rows as there are, with replacement. The estimator is fitted to the rows
in the *bag* and scored on those *out of bag* (about 36.8 %).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, has_fit_parameter

from committee.base.arrays import Floats, Rows
from committee.base.params import is_false
from committee.base.warn import warn
from committee.evaluation.bootstrap_metrics import (
    Answers,
    AnyMetric,
    ClassMetric,
    RealMetric,
    choose_metric,
)
from committee.tables.frame import as_narwhals, read_stream
from committee.tables.target import check_same_length, read_classes, read_reals, read_weights


@dataclass(frozen=True)
class Resample:
    """The out-of-bag rows of one resample and their scores, or why there are none."""

    rows: Rows
    row_scores: Floats | None
    score: float
    failure: str


@dataclass(frozen=True, eq=False)
class _Units:
    """What is drawn: rows, or groups of rows, within strata."""

    of_row: Rows
    strata: list[Rows]

    def draw(self, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Return the rows in the bag, in order and with repetitions, and those out of it."""
        drawn = np.concatenate([rng.choice(units, len(units)) for units in self.strata])
        times = np.bincount(drawn, minlength=int(self.of_row.max()) + 1)[self.of_row]
        return np.repeat(np.arange(len(times)), times), np.flatnonzero(times == 0)


@dataclass(frozen=True, eq=False)
class Study:
    """The table, the estimator and the metric: all that a worker needs.

    `target` is what the metric compares with: codes of classes, or reals with a column for each
    output; `y` is what estimators are fitted to.
    """

    estimator: Any
    X: Any
    y: NDArray[Any]
    target: NDArray[Any]
    classes: NDArray[Any] | None
    weights: Floats | None
    fits_weights: bool
    units: _Units
    metric: ClassMetric | RealMetric | AnyMetric
    scoring: str

    @property
    def is_rowwise(self) -> bool:
        return not isinstance(self.metric, AnyMetric)

    def whole(self, seed: np.random.SeedSequence) -> tuple[float, float]:
        """Return the apparent and the no-information score."""
        rng = np.random.default_rng(seed)
        model = self.fit(None, rng, n_workers=1)
        if isinstance(self.metric, AnyMetric):
            answers = Answers(model, self.classes)
            apparent = self.metric.score(answers, self.X, self.y, self.weights)
            if np.isnan(apparent):
                raise ValueError(f"scoring {self.scoring!r} gave NaN on all rows of X and y")
            return apparent, self.metric.no_information(answers, self.X, self.y, self.weights, rng)
        predictions = self.metric.predict(model, self.X)
        rows = self.metric.rows(predictions, self.target)
        none = self.metric.no_information(predictions, self.target, self.weights)
        return float(np.average(rows, weights=self.weights)), none

    def resamples(self, seeds: list[np.random.SeedSequence], n_workers: int) -> Iterator[Resample]:
        """Yield the resamples in the order of their seeds."""
        if n_workers == 1:
            yield from (self.resample(seed, 1) for seed in seeds)
            return
        # A few resamples a task: a data frame is sent to a worker anew with each task.
        size = -(-len(seeds) // (4 * n_workers))
        tasks = [seeds[first : first + size] for first in range(0, len(seeds), size)]
        run = Parallel(n_jobs=n_workers, return_as="generator")
        for batch in run(delayed(_run_batch)(self, task, n_workers) for task in tasks):
            yield from batch

    def resample(self, seed: np.random.SeedSequence, n_workers: int) -> Resample:
        rng = np.random.default_rng(seed)
        bag, out = self.units.draw(rng)
        if len(out) == 0:
            return Resample(out, None, np.nan, "")
        model = self.fit(bag, rng, n_workers)
        X = _safe_indexing(self.X, out)
        weights = None if self.weights is None else self.weights[out]
        if isinstance(self.metric, AnyMetric):
            answers = Answers(model, self.classes)
            score, failure = self.metric.try_score(answers, X, self.y[out], weights)
            return Resample(out, None, score, failure)
        row_scores = self.metric.rows(self.metric.predict(model, X), self.target[out])
        return Resample(out, row_scores, float(np.average(row_scores, weights=weights)), "")

    def fit(self, bag: Rows | None, rng: np.random.Generator, n_workers: int) -> Any:
        """Fit a clone to the rows of a bag, or to all rows."""
        model = _fresh(self.estimator, rng, n_workers)
        X, y, weights = self.X, self.y, self.weights
        if bag is not None:
            X, y = _safe_indexing(X, bag), y[bag]
            weights = None if weights is None else weights[bag]
            if self.classes is not None and len(self.classes) > 1 and (y == y[0]).all():
                return DummyClassifier(strategy="most_frequent").fit(X, y)
        params = {"sample_weight": weights} if weights is not None and self.fits_weights else {}
        model.fit(X, y, **params)
        return model


def _run_batch(study: Study, seeds: list[np.random.SeedSequence], n_workers: int) -> list[Resample]:
    return [study.resample(seed, n_workers) for seed in seeds]


def _fresh(estimator: Any, rng: np.random.Generator, n_workers: int) -> Any:
    """Clone an estimator, seed what has no seed, and keep it to one thread beside others."""
    model = clone(estimator)
    changes = {}
    for name, value in sorted(model.get_params(deep=True).items()):
        parameter = name.rpartition("__")[2]
        if parameter == "random_state" and value is None:
            changes[name] = int(rng.integers(2**31))
        elif parameter == "n_jobs" and value is not None and n_workers > 1:
            changes[name] = 1  # None is one already, in a worker process
    return model.set_params(**changes)


def open_study(
    estimator: Any, X: Any, y: Any, scoring: Any, groups: Any, stratify: Any, sample_weight: Any
) -> Study:
    """Read and check what the user gives."""
    methods = ("fit", "predict", "get_params")
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in methods):
        raise TypeError(
            "estimator must be an instance of a classifier or regressor with fit, predict and "
            f"get_params; got {estimator!r}"
        )
    X = _indexable(X)
    n_rows = _num_samples(X)
    if y is None:
        raise ValueError("y must hold the target of each row; got None")
    check_same_length(n_rows, _num_samples(y))
    weights = read_weights(sample_weight, n_rows)
    kept = None if weights is None or weights.all() else np.flatnonzero(weights)
    if weights is not None and kept is not None:
        X, y, weights = _safe_indexing(X, kept), _safe_indexing(y, kept), weights[kept]
        weights = None if (weights == 1).all() else weights
    fitted_y, target, classes = _read_target(estimator, y)
    strata = _read_strata(stratify, target, classes, n_rows, kept)
    units = None if groups is None else _read_codes("groups", groups, n_rows, kept)
    metric, name = choose_metric(estimator, scoring, classes, target, weights)
    fits_weights = has_fit_parameter(estimator, "sample_weight")
    if weights is not None and not fits_weights:
        warn(
            f"{type(estimator).__name__}.fit takes no sample_weight: models are fitted without "
            "the weights, which count in the metric only"
        )
    plan = _plan_units(units, strata, len(target))
    return Study(estimator, X, fitted_y, target, classes, weights, fits_weights, plan, metric, name)


def _indexable(X: Any) -> Any:
    """Return X as a table whose rows can be taken."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    X = read_stream(X)
    as_narwhals(X)  # refuses lazy frames
    return X


def _read_target(estimator: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Return the target to fit to, the target to compare with, and the classes or None."""
    if is_classifier(estimator):
        labels = read_classes(y)
        if labels.n_outputs > 1:
            raise ValueError(f"y must have one column for a classifier; got {labels.n_outputs}")
        codes, classes = labels.codes[:, 0], labels.classes[0]
        return classes[codes], codes, classes
    reals, is_1d = read_reals(y)
    return reals[:, 0] if is_1d else reals, reals, None


def _read_strata(
    stratify: Any,
    target: NDArray[Any],
    classes: NDArray[Any] | None,
    n_rows: int,
    kept: Rows | None,
) -> Rows | None:
    if stratify is None or is_false(stratify):
        return None
    if not isinstance(stratify, bool | np.bool_):
        return _read_codes("stratify", stratify, n_rows, kept)
    if classes is None:
        raise ValueError(
            "stratify=True needs a classifier; for a regressor pass an array with the stratum of "
            "each row"
        )
    return target.astype(np.intp)


def _read_codes(name: str, values: Any, n_rows: int, kept: Rows | None) -> Rows:
    """Return a number for each value that is kept, the same for equal values."""
    series = as_narwhals(values, name)
    array = np.asarray(values if series is values else series.to_numpy())
    if array.shape != (n_rows,):
        raise ValueError(
            f"{name} must have one value for each of the {n_rows} rows; got shape {array.shape}"
        )
    labels = array.tolist() if kept is None else array[kept].tolist()
    # What is missing in any library is not equal to itself, or is None.
    if any(label is None or type(label).__name__ == "NAType" or label != label for label in labels):
        raise ValueError(f"{name} has missing values; give such rows a value of their own")
    code_of: dict[Any, int] = {}
    return np.array([code_of.setdefault(label, len(code_of)) for label in labels], np.intp)


def _plan_units(units: Rows | None, strata: Rows | None, n_rows: int) -> _Units:
    of_row = np.arange(n_rows) if units is None else np.unique(units, return_inverse=True)[1]
    n_units = int(of_row.max()) + 1
    if n_units < 2:
        what = "rows of positive weight" if units is None else "groups"
        raise ValueError(f"the bootstrap needs at least two {what}; X has one")
    if strata is None:
        return _Units(of_row, [np.arange(n_units)])
    stratum = np.unique(strata, return_inverse=True)[1]
    if units is not None:
        votes = np.zeros((n_units, int(stratum.max()) + 1), np.int64)
        np.add.at(votes, (of_row, stratum), 1)
        stratum = votes.argmax(axis=1)
    order = np.argsort(stratum, kind="stable")
    return _Units(of_row, np.split(order, np.flatnonzero(np.diff(stratum[order])) + 1))
