"""What is remembered of a fit for its report: numbers about many rows, no row of the table."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import committee
from committee.auto.findings.column_summary import ColumnSummary
from committee.auto.findings.coverage import measured_coverage
from committee.auto.findings.effects import Effect, effects
from committee.auto.findings.errors import ErrorFindings
from committee.auto.findings.groups import Groups, in_order
from committee.auto.findings.importances import ColumnImportances
from committee.auto.findings.scores import ScoreFindings
from committee.auto.findings.slices import SliceFindings, slice_losses, weak_slices
from committee.auto.findings.unseen import Unseen
from committee.base.arrays import Floats
from committee.evaluation.member_advice import Advice, member_advice
from committee.evaluation.member_errors import MemberErrors, MemberTally
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, TEXT, Part, array, instance, one_of, tuple_of, whole
from committee.losses.arithmetic import weighted_quantile
from committee.tables.source import Source

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_COLUMNS = 200  # columns that are summed up
_MOST_SLICED = 40  # columns that are cut into slices, the most important ones
MOST_EFFECTS = 8
_MOST_MEMBERS = 20  # whose errors are compared


@register("auto.Findings")
@dataclass(frozen=True, eq=False)
class Findings:
    """How the committee predicts rows that its members have not seen.

    Attributes
    ----------
    n_rows, n_columns : int
        Size of the table.
    n_unseen : int
        Number of rows that were predicted by models that have not seen them.
    validation : {"folds", "groups", "times", "part"}
        How these rows were held out.
    shares : ndarray of float64, shape (n_classes,)
        Share of each class; empty for numbers.
    quantiles : ndarray of float64, shape (5,)
        5 %, 25 %, 50 %, 75 % and 95 % quantiles of a numeric target; empty for classes.
    constant_score : float
        Score of predicting the mean, or the shares of the classes, for every row.
    scores : ScoreFindings
        The committee in several metrics, and fold by fold.
    errors : ErrorFindings
        Where predictions are right and wrong.
    slices : SliceFindings
        Parts of the table where predictions are worse.
    effects : tuple of Effect
        How predictions change with the most important columns.
    coverage : ndarray of float64, shape (3, 4)
        For three promises, how often intervals or sets of classes hold the truth, the standard
        error, and their mean size.
    columns : tuple of ColumnSummary
        What the columns hold.
    members : MemberErrors
        Squared errors of the members, at most of the first 20, and of their mean.
    versions : tuple of str
        Names and versions of what the committee was fitted with.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_rows": whole(1),
        "n_columns": whole(1),
        "n_unseen": whole(1),
        "validation": one_of("folds", "groups", "times", "part"),
        "shares": array("f8", "classes", low=0.0, finite=True),
        "quantiles": array("f8", None, finite=True),
        "constant_score": NUMBER,
        "scores": instance(ScoreFindings),
        "errors": instance(ErrorFindings),
        "slices": instance(SliceFindings),
        "effects": tuple_of(instance(Effect)),
        "coverage": array("f8", None, 4, low=0.0, finite=True),
        "columns": tuple_of(instance(ColumnSummary)),
        "members": instance(MemberErrors),
        "versions": tuple_of(TEXT),
    }

    n_rows: int
    n_columns: int
    n_unseen: int
    validation: str
    shares: Floats
    quantiles: Floats
    constant_score: float
    scores: ScoreFindings
    errors: ErrorFindings
    slices: SliceFindings
    effects: tuple[Effect, ...]
    coverage: Floats
    columns: tuple[ColumnSummary, ...]
    members: MemberErrors
    versions: tuple[str, ...]

    def member_advice(self, names: Sequence[str]) -> tuple[Advice, ...]:
        """Return what stands out among the members, which have these names."""
        measure = "Brier score" if len(self.shares) else "squared error"
        return member_advice(self.members, names[: len(self.members)], measure)

    def _validate_loaded(self) -> None:
        if (len(self.shares) > 0) == (len(self.quantiles) > 0):
            raise ValueError("a target has shares of classes, or quantiles")
        n_classes = len(self.shares)
        if self.errors.confusion.shape[0] != n_classes:
            raise ValueError("the table of confusions has another number of classes")
        for effect in self.effects:
            if (effect.classes >= n_classes).any() or (len(effect.classes) > 0) != (n_classes > 0):
                raise ValueError("an effect is about a class that does not exist")
            if effect.predicted.shape[1] != max(len(effect.classes), 1):
                raise ValueError("an effect needs a column for each of its classes")
        errors, names = self.errors, self.scores.names
        if not len(errors.bins) or (n_classes == 0) != (len(errors.residuals) == len(errors.bins)):
            raise ValueError("bins and residuals of predictions do not fit the target")
        if (n_classes == 0) != (len(errors.sizes) == 5):
            raise ValueError("sizes of errors do not fit the target")
        if n_classes == 2 and not (
            len(errors.ranking) and {"roc_auc", "average_precision"} <= {*names}
        ):
            raise ValueError("two classes need a ranking and its scores")


def find(
    source: Source,
    uses: Sequence[str],
    unseen: Unseen,
    importances: ColumnImportances,
    seed: int,
) -> Findings:
    """Sum up a table and the predictions of its rows.

    Parameters
    ----------
    source : Source
        The table.
    uses : sequence of str
        What each column is used as: "number", "category", "date", "text" or "dropped".
    unseen : Unseen
        The committee on rows that its models have not seen.
    importances : ColumnImportances
        How much the committee relies on each column.
    seed : int
        Of the draws of rows.
    """
    target, nothing = unseen.target, np.empty(0)
    is_number = target.codes is None
    quantiles = [weighted_quantile(unseen.truth[:, 0], unseen.weights, q) for q in _QUANTILES]
    groups = _important_groups(source, uses, unseen, importances)
    some = unseen.some_rows
    named = [(name, cut) for _, name, cut in groups]
    return Findings(
        n_rows=source.n_rows,
        n_columns=source.n_features,
        n_unseen=target.n_rows,
        validation=unseen.kind,
        shares=nothing if is_number else unseen.constant,
        quantiles=np.array(quantiles) if is_number else nothing,
        constant_score=unseen.metric.score(
            unseen.as_scored(unseen.constants), np.arange(target.n_rows)
        ),
        scores=ScoreFindings.of(unseen),
        errors=ErrorFindings.of(unseen),
        slices=weak_slices(named, slice_losses(unseen)[some], unseen.weights[some]),
        effects=effects(source, _shown(groups, importances), unseen, seed),
        coverage=measured_coverage(unseen),
        columns=_columns(source, uses, unseen),
        members=_member_errors(unseen),
        versions=_versions(),
    )


def _important_groups(
    source: Source, uses: Sequence[str], unseen: Unseen, importances: ColumnImportances
) -> list[tuple[int, str, Groups]]:
    """Return the most important columns, cut into groups; text is not cut."""
    names = source.names or tuple(f"x{k}" for k in range(source.n_features))
    places = {name: place for place, name in enumerate(names)}
    some = unseen.some_rows
    found: list[tuple[int, str, Groups]] = []
    for name in importances.ranking():
        place = places[name]
        if uses[place] != "text" and len(found) < _MOST_SLICED:
            column = source.column(place).take(unseen.rows[some])
            column = in_order(column) if uses[place] == "date" else column
            found.append((place, name, Groups.of(column, unseen.weights[some])))
    return found


def _shown(
    groups: Sequence[tuple[int, str, Groups]], importances: ColumnImportances
) -> list[tuple[int, str, Groups]]:
    """Return the columns whose effects are shown: those that matter."""
    mean = dict(zip(importances.names, importances.mean.tolist(), strict=True))
    return [each for each in groups if mean[each[1]] > 0][:MOST_EFFECTS]


def _columns(source: Source, uses: Sequence[str], unseen: Unseen) -> tuple[ColumnSummary, ...]:
    names = source.names or tuple(f"x{k}" for k in range(source.n_features))
    rows, weights = unseen.rows[unseen.some_rows], unseen.weights[unseen.some_rows]
    return tuple(
        ColumnSummary.of(name, uses[place], source.column(place).take(rows), weights)
        for place, name in enumerate(names[:MOST_COLUMNS])
    )


def _member_errors(unseen: Unseen) -> MemberErrors:
    """Return the errors of the members, and how they go together."""
    some = unseen.some_rows
    weights = unseen.member_weights[:_MOST_MEMBERS]
    tally = MemberTally(weights / weights.sum(), unseen.combined.shape[1])
    predictions = np.stack([each[some] for each in unseen.members[:_MOST_MEMBERS]])
    tally.add(predictions, unseen.truth[some], unseen.weights[some], unseen.combined[some])
    return tally.result()


def _versions() -> tuple[str, ...]:
    import sklearn

    return (
        f"committee {committee.__version__}",
        f"Python {platform.python_version()}",
        f"NumPy {np.__version__}",
        f"scikit-learn {sklearn.__version__}",
    )
