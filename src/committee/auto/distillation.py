"""One small model that imitates a committee.

The student learns from the predictions of the committee, not from the target: the noise is gone
from these, and probabilities say more than classes. What that costs is measured on rows that the
student has not seen, fold by fold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.class_sets import SetRule
from committee.auto.decision import Decision
from committee.auto.decision_rules import as_scored, metric_label
from committee.auto.estimate import ScoreEstimate
from committee.auto.findings.findings import find
from committee.auto.findings.importances import measure
from committee.auto.findings.unseen import Unseen
from committee.auto.folds import RowOrder, Splits
from committee.auto.intervals import IntervalRule
from committee.auto.latency import prediction_cost
from committee.auto.leaderboard import Entry, Leaderboard
from committee.auto.metric import CommitteeMetric
from committee.auto.portfolio import FEATURES
from committee.base.arrays import Floats, Rows
from committee.combining.fold_mean import FoldMean
from committee.evaluation.scored_target import ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, TEXT, Part, one_of, whole
from committee.members.output import Output
from committee.tables.native_table import AnyTable
from committee.tables.source import Source, read_once

KINDS = ("tree", "boosting")
_LEAVES = {"tree": 32, "boosting": 16}
_N_ROUNDS = 150
_LEAST_SHARE = 0.01  # probabilities below are left out
_N_RESAMPLES = 40
_MOST_CLASSES = 10  # of a row, the likeliest


@register("auto.Distillation")
@dataclass(frozen=True)
class Distillation:
    """What a student of a committee is worth.

    Attributes
    ----------
    kind : {"tree", "boosting"}
        What the student is.
    n_rows : int
        Rows that it learnt from.
    compared : {"truth", "committee"}
        What predictions for unseen rows were compared with: a target that was given, or else the
        predictions of the committee.
    metric : str
        Of the scores; the greater the better.
    score : float
        Of the student, on rows that it has not seen.
    committee_score : float
        The score to expect of the committee; NaN where it is what the student is compared with.
    agreement : float
        On these rows: the share of them for which student and committee decide for the same
        class, or R2 of the student with the predictions of the committee as the truth.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "kind": one_of(*KINDS),
        "n_rows": whole(1),
        "compared": one_of("truth", "committee"),
        "metric": TEXT,
        "score": NUMBER,
        "committee_score": NUMBER,
        "agreement": NUMBER,
    }

    kind: str
    n_rows: int
    compared: str
    metric: str
    score: float
    committee_score: float
    agreement: float

    @property
    def loss(self) -> float:
        """How much worse the student scores than the committee; NaN without a target."""
        return self.committee_score - self.score

    def __str__(self) -> str:
        """Return the figures in a sentence."""
        figures = f"{self.kind}: agrees with the committee by {self.agreement:.3f} on unseen rows"
        if self.compared == "committee":
            return figures
        return (
            f"{figures}, {self.metric} {self.score:.4g} where the committee has "
            f"{self.committee_score:.4g}"
        )


@dataclass(frozen=True, eq=False)
class Student:
    """Fits models to the predictions of a committee.

    Parameters
    ----------
    kind : {"tree", "boosting"}
        What is fitted.
    max_leaf_nodes : int or None
        Leaves of a tree; None is 32, and 16 of each tree of boosting.
    n_classes : int
        Number of classes; 0 for numbers.
    seed : int
        Of the models.
    n_jobs : int or None
        Their threads.
    least_gain : float, default=0.0
        Share of the impurity of all rows that a split of a tree has to take away.
    """

    kind: str
    max_leaf_nodes: int | None
    n_classes: int
    seed: int
    n_jobs: int | None
    least_gain: float = 0.0

    @property
    def output(self) -> Output:
        """How predictions are read."""
        return Output("predict_proba" if self.n_classes else "predict", self.n_classes)

    def fit(
        self, features: Source, values: Floats, rows: Rows, weights: Floats | None = None
    ) -> Any:
        """Return a model that is fitted to what the committee predicts for some rows."""
        model, own = self._model(), None if weights is None else weights[rows]
        if self.least_gain:
            model.set_params(ccp_alpha=self.least_gain * self._impurity(values[rows], own))
        if not self.n_classes:
            return model.fit(features.take(rows, None), values[rows, 0], own)
        places, codes, shares = soft_rows(values[rows])
        shares = shares if own is None else shares * own[places]
        return model.fit(features.take(rows[places], None), codes, shares)

    def _impurity(self, values: Floats, weights: Floats | None) -> float:
        """Return the variance of predictions, or the Gini impurity of their classes."""
        means = np.average(values, axis=0, weights=weights)
        if self.n_classes:
            return 1.0 - float((means**2).sum())
        return float(np.average((values[:, 0] - means[0]) ** 2, weights=weights))

    def _model(self) -> Any:
        from committee.boosting.classifier import GradientBoostingClassifier
        from committee.boosting.regressor import GradientBoostingRegressor
        from committee.trees.trees import DecisionTreeClassifier, DecisionTreeRegressor

        leaves = self.max_leaf_nodes or _LEAVES[self.kind]
        if self.kind == "tree":
            tree: Any = DecisionTreeClassifier if self.n_classes else DecisionTreeRegressor
            options = {"min_samples_leaf": 5} if not self.n_classes else {}
            return tree(
                max_leaf_nodes=leaves, random_state=self.seed, n_jobs=self.n_jobs, **options
            )
        kind: Any = GradientBoostingClassifier if self.n_classes else GradientBoostingRegressor
        return kind(
            n_estimators=_N_ROUNDS,
            max_leaf_nodes=leaves,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )


def soft_rows(shares: Floats) -> tuple[Rows, NDArray[np.int64], Floats]:
    """Return each row once for each class that is likely, weighted by its probability.

    A fit to these has the cross-entropy with the probabilities as its loss.

    Examples
    --------
    >>> rows, codes, weights = soft_rows(np.array([[0.25, 0.75], [1.0, 0.0]]))
    >>> rows.tolist(), codes.tolist(), weights.tolist()
    ([0, 0, 1], [0, 1, 0], [0.25, 0.75, 1.0])
    """
    largest = shares.max(axis=1, keepdims=True)
    kept = (shares >= _LEAST_SHARE) | (shares == largest)  # of many classes all may be improbable
    if shares.shape[1] > _MOST_CLASSES:
        least = np.partition(shares, -_MOST_CLASSES, axis=1)[:, -_MOST_CLASSES]
        kept &= shares >= least[:, np.newaxis]
    rows, codes = np.nonzero(kept)
    own = np.where(kept, shares, 0.0)
    weights = (own / own.sum(axis=1, keepdims=True))[rows, codes]
    return rows, codes.astype(np.int64), weights


def imitate(
    student: Student, features: Source, values: Floats, folds: Sequence[tuple[Rows, Rows]]
) -> tuple[Any, list[Any], Floats]:
    """Fit a student to all rows, and one to the rows outside of each fold.

    Returns
    -------
    model : estimator
        Fitted to all rows.
    models : list of estimators
        Those of the folds.
    predicted : ndarray of float64, shape (n_rows, n_values)
        For each row by the model of its fold; NaN for rows in no fold.
    """
    features = read_once(features)
    predicted = np.full_like(values, np.nan)
    models = []
    for train, test in folds:
        model = student.fit(features, values, train)
        predicted[test] = student.output.predict(model, features.take(test, None))
        models.append(model)
    return student.fit(features, values, np.arange(len(values))), models, predicted


def agreement(
    predicted: Floats, values: Floats, decision: Decision | None, weights: Floats | None = None
) -> float:
    """Return how well a student agrees with the committee.

    Parameters
    ----------
    predicted, values : ndarray of float64
        What student and committee predict.
    decision : Decision or None
        How both decide for a class; None for numbers.
    weights : ndarray of float64 or None, default=None
        Weights of the rows.
    """
    if decision is not None:
        is_same = decision.codes(predicted) == decision.codes(values)
        return float(np.average(is_same, weights=weights))
    own = np.ones(len(values)) if weights is None else weights
    mean = np.average(values[:, 0], weights=own)
    spread = float((own * (values[:, 0] - mean) ** 2).sum())
    error = float((own * (predicted[:, 0] - values[:, 0]) ** 2).sum())
    return 1.0 - error / spread if spread > 0 else float(error == 0)


def distilled(
    fitted: Mapping[str, Any],
    table: AnyTable,
    values: Floats,
    target: ScoredTarget | None,
    student: Student,
    metric: Any,
) -> dict[str, Any]:
    """Return the fitted attributes of a committee of one student.

    Parameters
    ----------
    fitted : mapping
        Those of the committee.
    table : AnyTable
        The rows.
    values : ndarray of float64
        What the committee predicts for them.
    target : ScoredTarget or None
        The truth; None compares with the committee.
    student : Student
        What is fitted.
    metric : str or scorer
        Of the scores.
    """
    decision: Decision | None = fitted.get("decision_")
    is_truth, known = target is not None, target
    if known is None:
        known = _as_target(values, decision, fitted.get("classes_"))
    features = fitted["_reader"].read(table.opened())
    folds = Splits.of(features, known, RowOrder(), student.seed).folds
    model, models, predicted = imitate(student, features, values, folds)
    scored = np.sort(np.concatenate([test for _, test in folds]))
    held_out = known.part(scored)
    own = CommitteeMetric(held_out, metric, "scoring")
    shown = as_scored(decision, predicted[scored], metric)
    every = np.arange(len(scored))
    score, error = own.score(shown, every), _error(own, shown, student.seed)
    agreed = agreement(predicted[scored], values[scored], decision)
    attributes = {
        "members_": [FoldMean(student.output, [model])],
        "member_names_": [student.kind],
        "weights_": np.ones(1),
        "_outputs": [student.output],
        "_reads": [FEATURES],
        "_temperature": 1.0,
        "_opened": None,
        "score_": ScoreEstimate(score, score, error, len(scored)),
        "leaderboard_": Leaderboard(
            metric_label(metric), (Entry(student.kind, score, error, 1.0, 0.0),)
        ),
        "latency_": prediction_cost(model, FEATURES, features.n_features),
    }

    def predict(rows: Source, fold: int) -> Floats:
        return student.output.predict(models[fold], fitted["_reader"].read(rows))

    tests = [np.searchsorted(scored, test) for _, test in folds]
    decided = None if decision is None else decision.codes(predicted[scored])
    unseen = Unseen(
        held_out,
        own,
        scored,
        tests,
        predicted[scored],
        [predicted[scored]],
        predict,
        decided=decided,
        shown=lambda each: as_scored(decision, each, metric),
    )
    source, uses = table.opened(), [use.use for use in fitted["columns_"]]
    used = [place for place, use in enumerate(uses) if use != "dropped"]
    importances = measure(source, used, unseen, student.seed)
    attributes["importances_"] = importances
    attributes["findings_"] = find(source, uses, unseen, importances, student.seed)
    if is_truth and held_out.codes is not None:
        attributes["_set_rule"] = SetRule.of(predicted[scored], held_out)
    elif is_truth:
        taken = features.take(scored, None)
        attributes["_interval_rule"] = IntervalRule.of(
            taken, predicted[scored, 0], held_out, student.seed, student.n_jobs
        )
    attributes["distillation_"] = Distillation(
        student.kind,
        len(values),
        "truth" if is_truth else "committee",
        metric_label(metric),
        score,
        fitted["score_"].score if is_truth else math.nan,
        agreed,
    )
    return attributes


def _as_target(values: Floats, decision: Decision | None, classes: Any) -> ScoredTarget:
    """Return what the committee predicts as if it were the truth."""
    if decision is None:
        return ScoredTarget(reals=values)
    codes = decision.codes(values).astype(np.int32)
    return ScoredTarget(codes[:, np.newaxis], [classes])


def _error(metric: CommitteeMetric, values: Floats, seed: int) -> float:
    """Return the standard error of a score, by resampling."""
    generator = np.random.default_rng(seed)
    scores = []
    for _ in range(_N_RESAMPLES):
        rows = generator.integers(len(values), size=len(values))
        try:
            scores.append(metric.score(values, rows))
        except ValueError:  # a draw without one of the classes
            continue
    return float(np.std(scores, ddof=1)) if len(scores) > 1 else math.nan
