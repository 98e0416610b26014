"""How good is a model? Estimates by the bootstrap, for any estimator.

Resamples are drawn and scored in `bootstrap_resamples.py`; here their scores become estimates. All
scores follow scikit-learn's sign: greater is better, so a loss counts negatively. Efron and
Tibshirani write errors; their formulas hold for scores as well, with every comparison turned round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from committee.base.arrays import Floats
from committee.base.params import check_choice, check_int, check_real, check_seed
from committee.base.warn import warn
from committee.base.work import resolve_threads
from committee.evaluation.bootstrap_resamples import Resample, open_study
from committee.evaluation.point632 import combine_632

__all__ = ["BootstrapScore", "bootstrap_score"]

_METHODS = (".632+", ".632", "oob")


@dataclass(frozen=True, eq=False, repr=False)
class BootstrapScore:
    """What `bootstrap_score` found. Greater scores are better.

    Attributes
    ----------
    score : float
        The estimate by `method`.
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
        Score of the model of all rows if X had nothing to do with y: its predictions against the
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
        (each may use all cores) unless `joblib.parallel_config` sets more.

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
    study = open_study(estimator, X, y, scoring, groups, stratify, sample_weight)
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


class _Tally:
    """Adds resamples up, in their order: sums must not depend on who was first."""

    def __init__(self, n_rows: int) -> None:
        self.sums = np.zeros(n_rows)
        self.times = np.zeros(n_rows, np.int64)
        self.scores: list[float] = []
        self.failures: list[str] = []

    def add(self, resample: Resample) -> None:
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
        """Raise an error or warn where scores or rows are missing."""
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
