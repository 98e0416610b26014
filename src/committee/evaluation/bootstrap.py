"""How good is a model? Answers by the bootstrap, for any estimator.

A *resample* draws as many rows as there are, with replacement. The estimator is fitted to the rows
in the *bag* and judged on those *out of bag* (about 36.8 %). All scores follow scikit-learn's sign:
greater is better, so a loss counts negatively. Efron and Tibshirani write errors; their formulas
hold for scores as well, with every comparison turned round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, has_fit_parameter

from committee.base.params import check_choice, check_int, check_real, check_seed, is_false
from committee.base.warn import warn
from committee.base.work import resolve_threads
from committee.evaluation.bootstrap_metrics import (
    Answers,
    AnyMetric,
    ClassMetric,
    RealMetric,
    choose_metric,
)
from committee.evaluation.point632 import combine_632
from committee.tables.frame import as_narwhals
from committee.tables.target import check_same_length, read_classes, read_reals, read_weights

__all__ = ["BootstrapScore", "bootstrap_score"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_METHODS = (".632+", ".632", "oob")


@dataclass(frozen=True, eq=False, repr=False)
class BootstrapScore:
    """What `bootstrap_score` found. Greater scores are better.

    Attributes
    ----------
    score : float
        The estimate that was asked for.
    method : {".632+", ".632", "oob"}
        Which one that is.
    scoring : str
        Name of the metric.
    averaging : {"rows", "resamples"}
        How `oob_score` is averaged.
    oob_score : float
        Score out of bag. Pessimistic: a bag holds only 63.2 % of the rows.
    apparent_score : float
        Score of the model of all rows on the rows it was fitted to. Optimistic.
    score_632 : float
        ``0.368 * apparent_score + 0.632 * oob_score``.
    score_632_plus : float
        The same with more weight on `oob_score` the more the model overfits.
    weight : float
        Weight of `oob_score` in `score`: 1, 0.632, or ``0.632 / (1 - 0.368 * overfitting_rate)``.
    no_information_score : float
        Score of the model of all rows if X told nothing about y: its predictions against the
        targets of other rows.
    overfitting_rate : float
        How far `oob_score` has fallen from `apparent_score` towards `no_information_score`: 0 is
        no overfitting, 1 is nothing learnt.
    resample_scores : ndarray of float64, shape (n_resamples,)
        Out-of-bag score of each resample; NaN where there was none.
    standard_error : float
        Standard deviation of `resample_scores`.
    n_rows : int
        Rows of positive weight.
    n_never_oob : int
        How many of them were in every bag. They do not count in `oob_score`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from committee import DecisionTreeClassifier
    >>> result = bootstrap_score(
    ...     DecisionTreeClassifier(), *load_iris(return_X_y=True), random_state=0
    ... )
    >>> result.apparent_score > result.score > result.oob_score
    True
    >>> low, high = result.interval(0.95)
    >>> low < result.score < high
    True
    """

    score: float
    method: str
    scoring: str
    averaging: str
    oob_score: float
    apparent_score: float
    score_632: float
    score_632_plus: float
    weight: float
    no_information_score: float
    overfitting_rate: float
    resample_scores: Floats
    standard_error: float
    n_rows: int
    n_never_oob: int

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return `score` minus and plus so many standard errors: a rough confidence interval."""
        confidence = check_real(
            "confidence", confidence, 0.0, 1.0, include_low=False, include_high=False
        )
        width = NormalDist().inv_cdf((1 + confidence) / 2) * self.standard_error
        return self.score - width, self.score + width

    def __repr__(self) -> str:
        never = f", {self.n_never_oob} rows never out of bag" if self.n_never_oob else ""
        return (
            f"BootstrapScore: {self.scoring} {self.score:.4g} by {self.method}, "
            f"standard error {self.standard_error:.2g}\n"
            f"  apparent {self.apparent_score:.4g}, out of bag {self.oob_score:.4g}, "
            f"no information {self.no_information_score:.4g}, "
            f"overfitting rate {self.overfitting_rate:.2g}\n"
            f"  {len(self.resample_scores)} resamples of {self.n_rows} rows, "
            f"averaged over {self.averaging}{never}"
        )


def bootstrap_score(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: str | Callable[..., float] | None = None,
    method: str = ".632+",
    n_resamples: int = 50,
    groups: Any = None,
    stratify: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BootstrapScore:
    """Estimate by the bootstrap how well an estimator will do on new rows.

    Parameters
    ----------
    estimator : classifier or regressor
        Any estimator of scikit-learn's kind, pipelines and searches included. It is cloned, never
        fitted itself. Where it has a `random_state` of None, that follows this function's.
    X : data frame, array, sparse matrix or list
        The table; each fit gets rows of it, of the same kind and with the same column names.
    y : array-like or Series, shape (n_rows,), for regressors also (n_rows, n_outputs)
        The target.
    scoring : str, callable or None, default=None
        A name of scikit-learn or a callable ``(estimator, X, y)``; greater is better. None means
        "accuracy" for classifiers, "r2" for regressors.
    method : {".632+", ".632", "oob"}, default=".632+"
        Which estimate becomes `score`. The result holds all three.
    n_resamples : int, default=50
        Number of bootstrap samples, and of fits but one.
    groups : array-like or Series of shape (n_rows,), default=None
        Rows with the same value are in the bag or out of it together.
    stratify : bool, array-like or Series of shape (n_rows,), default=None
        True draws within each class, so that every bag holds as many of each; an array draws
        within rows of equal value. A group belongs to the stratum of most of its rows.
    sample_weight : array-like of shape (n_rows,), default=None
        A row of weight zero is absent. Weights go to the metric, and to `fit` if it takes them;
        draws do not depend on them.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all draws. The result is the same for any `n_jobs`.
    n_jobs : int or None, default=None
        Worker processes, each with one thread; -1 for all cores. None fits one model at a time
        (each may use all cores) unless `joblib.parallel_config` says otherwise.

    Returns
    -------
    result : BootstrapScore
        The estimates and what they were made of.

    Notes
    -----
    For "accuracy", "neg_log_loss", "neg_brier_score", "r2", "neg_mean_squared_error" and
    "neg_mean_absolute_error", given by name, `oob_score` is Efron's leave-one-out bootstrap: each
    row is averaged over the resamples that left it out, then rows are averaged ("r2" is one minus
    that squared error over the variance of y). The no-information score is the exact mean over all
    pairs of a target and a prediction. For any other metric `oob_score` is the mean over resamples,
    and the no-information score the mean over 50 shuffles of y. The .632+ estimate is equation 32
    of Efron and Tibshirani (1997).

    A class that is missing from a bag has probability zero in it, for which "neg_log_loss" takes 36
    off; `stratify=True` keeps all classes in. If all rows of a bag are of one class, that class is
    the prediction, since many classifiers refuse to be fitted to one class.

    References
    ----------
    B. Efron and R. Tibshirani (1997), Improvements on cross-validation: the .632+ bootstrap method,
    Journal of the American Statistical Association 92, 548-560.

    Examples
    --------
    A nearest neighbour knows every row it has seen, so its apparent accuracy of 1 means nothing.
    On labels drawn by lot the .632 estimate is far too optimistic, while .632+ is not.

    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    >>> result = bootstrap_score(KNeighborsClassifier(1), X, y, random_state=0)
    >>> result.apparent_score, round(result.score_632, 1), round(result.score, 1)
    (1.0, 0.7, 0.5)
    """
    method = check_choice("method", method, _METHODS)
    n_resamples = check_int("n_resamples", n_resamples, 2)
    workers = effective_n_jobs(None if n_jobs is None else resolve_threads(n_jobs))
    study = _open_study(estimator, X, y, scoring, groups, stratify, sample_weight)
    start, *seeds = np.random.SeedSequence(check_seed(random_state)).spawn(n_resamples + 1)

    apparent, no_information = study.whole(start)
    tally = _Tally(len(study.target))
    for resample in study.resamples(seeds, workers):
        tally.add(resample)
    tally.check(study.scoring)

    scores = np.array(tally.scores)
    defined = scores[~np.isnan(scores)]
    oob = tally.row_mean(study.weights) if study.is_rowwise else float(defined.mean())
    estimates = combine_632(apparent, oob, no_information)
    at = _METHODS.index(method)
    return BootstrapScore(
        score=(estimates.plus, estimates.point632, oob)[at],
        method=method,
        scoring=study.scoring,
        averaging="rows" if study.is_rowwise else "resamples",
        oob_score=oob,
        apparent_score=apparent,
        score_632=estimates.point632,
        score_632_plus=estimates.plus,
        weight=(estimates.weight, 0.632, 1.0)[at],
        no_information_score=no_information,
        overfitting_rate=estimates.overfitting,
        resample_scores=scores,
        standard_error=float(defined.std(ddof=1)) if len(defined) > 1 else np.nan,
        n_rows=len(study.target),
        n_never_oob=int((tally.times == 0).sum()),
    )


@dataclass(frozen=True)
class _Resample:
    """What one resample says of its out-of-bag rows."""

    rows: Rows
    row_scores: Floats | None
    score: float
    failure: str


class _Tally:
    """Adds resamples up, in their order: sums must not depend on who was first."""

    def __init__(self, n_rows: int) -> None:
        self.sums = np.zeros(n_rows)
        self.times = np.zeros(n_rows, np.int64)
        self.scores: list[float] = []
        self.failures: list[str] = []

    def add(self, resample: _Resample) -> None:
        self.times[resample.rows] += 1
        self.scores.append(resample.score)
        if resample.row_scores is not None:
            self.sums[resample.rows] += resample.row_scores
        if resample.failure:
            self.failures.append(resample.failure)

    def row_mean(self, weights: Floats | None) -> float:
        seen = self.times > 0
        means = self.sums[seen] / self.times[seen]
        return float(np.average(means, weights=None if weights is None else weights[seen]))

    def check(self, scoring: str) -> None:
        """Say what is missing."""
        n_rows, n_resamples, n_failed = len(self.times), len(self.scores), len(self.failures)
        never = int((self.times == 0).sum())
        if never == n_rows:
            raise ValueError(
                f"no row was out of bag in {n_resamples} resamples; raise n_resamples, or use "
                "larger strata or more groups"
            )
        if np.isnan(self.scores).all():
            raise ValueError(
                f"scoring {scoring!r} could not be computed out of bag: {self.failures[0]}"
            )
        if n_failed:
            warn(
                f"scoring {scoring!r} could not be computed on {n_failed} of {n_resamples} "
                f"resamples, which are left out: {self.failures[0]}"
            )
        if never:
            warn(
                f"{never} of {n_rows} rows were never out of bag and do not count in the "
                f"out-of-bag score; raise n_resamples (now {n_resamples}), or use larger strata"
            )


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
class _Study:
    """The table and how to judge on it: all that a worker needs.

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

    def resamples(self, seeds: list[np.random.SeedSequence], n_workers: int) -> Iterator[_Resample]:
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

    def resample(self, seed: np.random.SeedSequence, n_workers: int) -> _Resample:
        rng = np.random.default_rng(seed)
        bag, out = self.units.draw(rng)
        if len(out) == 0:
            return _Resample(out, None, np.nan, "")
        model = self.fit(bag, rng, n_workers)
        X = _safe_indexing(self.X, out)
        weights = None if self.weights is None else self.weights[out]
        if isinstance(self.metric, AnyMetric):
            answers = Answers(model, self.classes)
            score, failure = self.metric.try_score(answers, X, self.y[out], weights)
            return _Resample(out, None, score, failure)
        row_scores = self.metric.rows(self.metric.predict(model, X), self.target[out])
        return _Resample(out, row_scores, float(np.average(row_scores, weights=weights)), "")

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


def _run_batch(
    study: _Study, seeds: list[np.random.SeedSequence], n_workers: int
) -> list[_Resample]:
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


def _open_study(
    estimator: Any, X: Any, y: Any, scoring: Any, groups: Any, stratify: Any, sample_weight: Any
) -> _Study:
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
    return _Study(
        estimator, X, fitted_y, target, classes, weights, fits_weights, plan, metric, name
    )


def _indexable(X: Any) -> Any:
    """Return X as a table whose rows can be taken."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame; call its collect() and pass the result")
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
    series = as_narwhals(values)
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
