"""Pruning: a smaller ensemble from a large one, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from committee.base.arrays import Floats
from committee.base.params import check_int, check_real
from committee.base.warn import warn
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.combining.selection.greedy_selection import Path, cross_fitted, select_greedily
from committee.evaluation.scored_target import ScoredTarget, resolve_metric
from committee.files.codec_classes import register
from committee.files.parts import FLAG, TEXT, Part, array, whole
from committee.inspection.ensemble_members import (
    check_average,
    class_labels,
    member_predictions,
    picked,
)
from committee.tables.target import check_same_length, read_classes, read_reals, read_weights

# A score that falls short by less, relatively, is as good: the difference is rounding.
_EQUAL = 1e-9

_SEED = 0  # of the parts that rows are dealt into: the same question has the same answer


@register("PruningPath")
@dataclass(frozen=True, eq=False, repr=False)
class PruningPath:
    """The members of an ensemble in the order of their use, and what so many of them are worth.

    Scores on the rows that chose an order are too good. So there are two scores for each number of
    members: *promised* by the rows that chose, and *found* on other rows: the order is chosen
    without each of five parts of the rows, and scored on that part.

    Attributes
    ----------
    members : ndarray of int64, shape (n_members,)
        Numbers of the members: each next one helps the committee most.
    metric : str
        What a score is; the greater the better. "neg_brier" is minus the mean squared distance of
        probabilities from the truth.
    promised, found : ndarray of float64, shape (n_members,)
        Score of the first so many members. The last is that of the whole ensemble.
    accuracy : ndarray of float64, shape (n_members,)
        Share of right answers for classes, R2 for numbers; of rows that did not choose.
    n_kept : int
        Members of the pruned ensemble.
    is_classifier : bool
        Whether members predict classes.

    Examples
    --------
    >>> scores = np.array([0.7, 0.8, 0.8])
    >>> path = PruningPath(np.array([2, 0, 1]), "accuracy", scores, scores, scores, 2, True)
    >>> path.cost, path.accuracy_cost
    (0.0, 0.0)
    """

    members: NDArray[np.int64]
    metric: str
    promised: Floats
    found: Floats
    accuracy: Floats
    n_kept: int
    is_classifier: bool

    @property
    def full_score(self) -> float:
        """The score of the whole ensemble."""
        return float(self.found[-1])

    @property
    def cost(self) -> float:
        """How much of the score the pruned ensemble loses; negative where it gains."""
        return float(self.found[-1] - self.found[self.n_kept - 1])

    @property
    def accuracy_cost(self) -> float:
        """How much accuracy (or R2) the pruned ensemble loses; negative where it gains."""
        return float(self.accuracy[-1] - self.accuracy[self.n_kept - 1])

    def to_frame(self) -> Any:
        """Return a pandas data frame, a row for each number of members."""
        import pandas as pd

        index = pd.RangeIndex(1, len(self.members) + 1, name="n_members")
        columns = {
            "member": self.members,
            "promised": self.promised,
            "found": self.found,
            "cost": self.found[-1] - self.found,
            "accuracy" if self.is_classifier else "r2": self.accuracy,
        }
        return pd.DataFrame(columns, index=index)

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        name, kept = "accuracy" if self.is_classifier else "r2", self.n_kept - 1
        return (
            f"PruningPath({self.n_kept} of {len(self)} members; {self.metric} "
            f"{self.found[kept]:.4g}, {self.full_score:.4g} with all; {name} "
            f"{self.accuracy[kept]:.4g}, {self.accuracy[-1]:.4g} with all)"
        )

    _stored_parts: ClassVar[dict[str, Part]] = {
        "members": array("i8", "members", low=0),
        "metric": TEXT,
        "promised": array("f8", "members"),
        "found": array("f8", "members"),
        "accuracy": array("f8", "members"),
        "n_kept": whole(1),
        "is_classifier": FLAG,
    }

    def _validate_loaded(self) -> None:
        if not 1 <= self.n_kept <= len(self.members):
            raise ValueError("the number of members is out of range")


def prune_ensemble(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    n_members: int | None = None,
    tolerance: float | None = None,
    scoring: Any = None,
    sample_weight: Any = None,
) -> tuple[Any, PruningPath]:
    """Make a smaller ensemble of the members that matter, and return what it costs.

    Members are put in order greedily: each next one is the one that helps the committee most.

    Parameters
    ----------
    ensemble : fitted ensemble
        A forest, bagging or voting of this library or of scikit-learn: anything with `estimators_`
        that predicts the mean of the predictions of its members, or counts their votes.
    X : table of shape (n_rows, n_features)
        Rows that the ensemble has not seen. On its training rows every full-grown tree is right,
        and there is nothing to choose by.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        The true classes or numbers.
    n_members : int or None, default=None
        Keep so many members.
    tolerance : float or None, default=None
        Keep as few members as lose no more than this of the score, on rows that did not choose the
        order. None, without `n_members`, is 0: nothing may be lost.
    scoring : str, callable or None, default=None
        What the order maximizes: the name of a scorer, a ``metric(y_true, y_pred)`` that grows as
        predictions get better, or a scorer. None is minus the squared error of the predictions or
        the probabilities ("neg_brier"): log loss is infinite as long as a few trees are sure, and
        accuracy jumps. "accuracy", "r2" and squared errors are fast, others take their time.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows; a row of weight zero is absent.

    Returns
    -------
    pruned : ensemble
        Of the same class and fitted, with fewer members. What was known of training rows, such as
        out-of-bag scores, is gone.
    path : PruningPath
        The order, and the score for each number of members. `cost` is what the pruned ensemble
        loses, `to_frame()` a table, and `plot_pruning` draws it.

    Notes
    -----
    The predictions of all members on all rows are held in memory at once.

    Examples
    --------
    >>> from committee import RandomForestClassifier, prune_ensemble
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> forest = RandomForestClassifier(random_state=0).fit(X[::2], y[::2])
    >>> small, path = prune_ensemble(forest, X[1::2], y[1::2], tolerance=0.01)
    >>> len(small.estimators_) < 30, path.cost <= 0.01
    (True, True)
    """
    _check_ensemble(ensemble)
    _check_limits(len(ensemble.estimators_), n_members, tolerance)
    metric = _check_scoring(scoring, bool(class_labels(ensemble)))
    predicted, weights = member_predictions(ensemble, X)
    check_average(ensemble, X, predicted, weights)
    predictions = _predictions(ensemble, predicted, y, metric, sample_weight)
    voting = np.flatnonzero(weights)  # a member of weight zero has no part
    path = _order(replace(predictions, predicted=predictions.predicted[voting]), weights[voting])
    n_kept = _fewest(path.found, tolerance or 0.0) if n_members is None else n_members
    path = replace(path, members=voting[path.members], n_kept=min(n_kept, len(voting)))
    return picked(ensemble, np.sort(path.members[: path.n_kept])), path


def _check_ensemble(ensemble: Any) -> None:
    if hasattr(ensemble, "estimators_") and not isinstance(ensemble, type):
        return
    wanted = "ensemble must be a fitted ensemble, such as a forest, bagging or voting"
    kind = type(ensemble).__name__
    if isinstance(ensemble, type) or not hasattr(ensemble, "fit"):
        raise TypeError(f"{wanted}; got {ensemble!r}")
    try:
        check_is_fitted(ensemble)
    except NotFittedError:
        raise NotFittedError(f"{wanted}; got a {kind} that is not fitted") from None
    raise TypeError(f"{wanted}; got a {kind}, which has no members (estimators_) to choose from")


def _check_limits(n_all: int, n_members: Any, tolerance: Any) -> None:
    check_int("n_members", n_members, 1, n_all, none=True)
    check_real("tolerance", tolerance, 0.0, none=True)
    if n_members is not None and tolerance is not None:
        raise ValueError(
            f"tolerance must be None with n_members, the number of members that are kept; got "
            f"n_members={n_members} and tolerance={tolerance}"
        )


def _check_scoring(scoring: Any, is_classifier: bool) -> Any:
    if scoring is None:
        return "neg_brier" if is_classifier else "neg_mean_squared_error"
    if isinstance(resolve_metric(scoring, "scoring"), bool):
        raise TypeError(f"scoring must be None, a metric or the name of a scorer; got {scoring!r}")
    return scoring


def _predictions(
    ensemble: Any, predicted: Floats, y: Any, metric: Any, sample_weight: Any
) -> MemberPredictions:
    """Return the predictions on the rows that are there, with the truth."""
    labels = class_labels(ensemble)
    codes = _codes(y, labels) if labels else None
    target = ScoredTarget(codes, labels, None if labels else read_reals(y)[0])
    check_same_length(predicted.shape[1], target.n_rows)
    if target.n_values != predicted.shape[2]:
        raise ValueError(
            f"y must have {predicted.shape[2]} columns, one an output of the ensemble; got "
            f"{target.n_outputs}"
        )
    weights = read_weights(sample_weight, target.n_rows)
    target = replace(target, weights=weights)
    predictions = MemberPredictions(predicted, target, metric)
    return predictions if weights is None else predictions.part(np.flatnonzero(weights))


def _codes(y: Any, labels: list[NDArray[Any]]) -> NDArray[np.int32]:
    """Return classes as codes of the ensemble."""
    truth = read_classes(y)
    if truth.n_outputs != len(labels):
        raise ValueError(f"y must have {len(labels)} output(s); got {truth.n_outputs}")
    columns = []
    for output, known in enumerate(labels):
        place = {label: code for code, label in enumerate(known.tolist())}
        given = truth.classes[output].tolist()
        unknown = [label for label in given if label not in place]
        if unknown:
            raise ValueError(
                f"y holds {unknown[0]!r}, which is not among the classes of the ensemble: "
                f"{known.tolist()[:10]}"
            )
        code_of = np.array([place[label] for label in given], np.int32)
        columns.append(code_of[truth.codes[:, output]])
    return np.column_stack(columns)


def _order(predictions: MemberPredictions, weights: Floats) -> PruningPath:
    """Put all members in order, and score each number of them."""
    is_classifier = bool(predictions.target.classes)
    plain = "accuracy" if is_classifier else "r2"

    def ordered(rows: MemberPredictions) -> Path:
        return select_greedily(
            rows.scorer(), rows.n_members, step_weights=weights, with_replacement=False
        )

    def scored(rows: MemberPredictions, path: Path) -> Floats:
        scorers = rows.scorer(), replace(rows, scoring=plain).scorer()
        return np.array([scorer.along(path.members, weights) for scorer in scorers])

    path = ordered(predictions)
    trial = cross_fitted(predictions, lambda rest, fold: scored(fold, ordered(rest)), _SEED)
    if trial is None:  # too few rows to choose by some and score on others
        trial = scored(predictions, path)
        warn(
            f"{predictions.n_rows} rows are too few to choose an order by some and to score it on "
            "others; what is found is only promised"
        )
    found, accuracy = trial
    metric = predictions.scoring
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
    n_all = len(path.members)
    return PruningPath(path.members, name, path.scores, found, accuracy, n_all, is_classifier)


def _fewest(found: Floats, tolerance: float) -> int:
    """Return the smallest number of members that is good enough."""
    least = found[-1] - tolerance - _EQUAL * abs(found[-1])
    return int((found >= least).argmax()) + 1
