"""What CommitteeClassifier and CommitteeRegressor share: a search for members, and predictions."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

import committee.nets.classifier
import committee.nets.regressor  # noqa: F401  (model files name the classes of members)
from committee.auto.answers import CommitteeAnswers
from committee.auto.columns import ColumnUse, FeatureReader
from committee.auto.decision_rules import DecisionRules
from committee.auto.encoder import MatrixEncoder
from committee.auto.estimate import ScoreEstimate
from committee.auto.findings.findings import Findings
from committee.auto.findings.importances import ColumnImportances
from committee.auto.fit import CommitteeFit, rows_fingerprint
from committee.auto.folds import RowOrder
from committee.auto.improve import improved
from committee.auto.known_files import known_rows
from committee.auto.latency import committee_cost
from committee.auto.leaderboard import Leaderboard
from committee.auto.ledger import began
from committee.auto.metric import CommitteeMetric
from committee.auto.portfolio import FEATURES, MATRIX, TABLE
from committee.auto.prediction import member_values, predict_values
from committee.auto.refit import refitted
from committee.auto.reporting import Reporting
from committee.base.arrays import Floats
from committee.base.params import Estimator, check_real, check_seed
from committee.base.work import FitLog, running_fit
from committee.evaluation.metric_names import scorer_name
from committee.evaluation.scored_target import ScoredTarget, resolve_metric
from committee.files.parts import (
    FITTED,
    FLAG,
    TEXT,
    Part,
    array,
    instance,
    list_of,
    maybe,
    one_of,
    real,
    tuple_of,
    whole,
)
from committee.io.column_format import FileFormat
from committee.members.loaded_members import check_outputs
from committee.members.output import Output
from committee.tables.native_table import AnyTable, named_row
from committee.tables.target import check_same_length, read_weights, warn_of_column


class AutoModel(CommitteeAnswers, Reporting):
    """Base class of CommitteeClassifier and CommitteeRegressor."""

    # Groups are those of the splitter of a search, unless they are asked for.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": False}

    _fitted_attribute = "members_"
    # A search that can go on holds rows, which leave the process neither in files nor otherwise.
    _unstored_attributes = (*Estimator._unstored_attributes, "_opened")

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_features_in_": whole(1, size="columns"),
        "members_": list_of(FITTED, "members", least=1),
        "member_names_": list_of(TEXT, "members"),
        "weights_": array("f8", "members", low=0.0, finite=True),
        "score_": instance(ScoreEstimate),
        "leaderboard_": instance(Leaderboard),
        "findings_": instance(Findings),
        "importances_": instance(ColumnImportances),
        "columns_": tuple_of(instance(ColumnUse), "columns"),
        "interrupted_": FLAG,
        "target_name_": maybe(TEXT),
        "file_format_": maybe(instance(FileFormat)),
        "budget_": real(0.0),
        "latency_": real(0.0),
        "_reader": instance(FeatureReader),
        "_encoder": instance(MatrixEncoder),
        "_outputs": list_of(instance(Output), "members"),
        "_reads": list_of(one_of(FEATURES, MATRIX, TABLE), "members"),
        "_temperature": real(0.01),
        "_seed": whole(0, 2**64 - 1),
        "_fingerprint": whole(0, 2**32 - 1),
        "_budgets": tuple_of(real(0.0), least=1),
        "_ending": maybe(TEXT),
    }

    quality: str
    budget: float | str
    time_limit: float | None
    scoring: Any
    members: Any
    max_latency: float | None
    n_jobs: int | None
    random_state: Any
    verbose: int

    # Fitted attributes.
    members_: list[Any]
    member_names_: list[str]
    weights_: Floats
    score_: ScoreEstimate
    leaderboard_: Leaderboard
    findings_: Findings
    columns_: tuple[ColumnUse, ...]
    importances_: ColumnImportances
    interrupted_: bool
    budget_: float
    latency_: float
    n_features_in_: int
    _reader: FeatureReader
    _encoder: MatrixEncoder
    _outputs: list[Output]
    _reads: list[str]
    _temperature: float
    _seed: int
    _fingerprint: int
    _budgets: tuple[float, ...]
    _ending: str
    _opened: Any

    _default_scoring: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the target."""

    @abstractmethod
    def _read_target_again(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the target of other rows, in the classes of `fit`."""

    # ---- fitting ----

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time_order: Any = None,
    ) -> Self:
        """Search for the best committee.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw columns: numbers, categories, dates, text, with missing values.
        y : array-like of shape (n_rows,)
            Class labels, or finite numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.
        groups : array-like of shape (n_rows,), str or None, default=None
            Rows with the same value are in the same fold, and count together in the error of the
            score; or the name of a column.
        time_order : array-like of shape (n_rows,), str or None, default=None
            When rows were observed: numbers, dates or text that sorts; or the name of a column.
            Models are scored on rows that are later than all they have seen, and the last ones
            of them, which have seen most, are the members. `score_` is what to expect of later
            rows.

        Returns
        -------
        self : estimator
            The fitted committee.
        """
        with FitLog(type(self).__name__):
            # All together at the end: a fit that fails leaves the estimator as it was.
            self._replace_fitted(self._plan(X, y, sample_weight, groups, time_order).run())
        return self

    def improve(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time_order: Any = None,
        budget: float | None = None,
        time_limit: float | None = None,
    ) -> Self:
        """Go on with the search where `fit` stopped.

        Steps of the search are done that had no room in `fit`. Small searches are kept in memory
        after `fit`; others, and those of a committee that was loaded, are repeated first. The same
        calls with the same budgets make the same committee.

        Parameters
        ----------
        X, y, sample_weight, groups, time_order
            As in `fit`; other rows are refused.
        budget : float or None, default=None
            More units of work; None is as much again, or no limit where there is a time limit.
        time_limit : float or None, default=None
            Seconds from the call to the result.

        Returns
        -------
        self : estimator
            The improved committee. Where the call fails it is as it was.
        """
        self._check_fitted()
        with FitLog(type(self).__name__):
            plan = self._plan(X, y, sample_weight, groups, time_order, self._seed)
            self._replace_fitted(improved(plan, vars(self), budget, time_limit))
        return self

    def refit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit each member to all rows, as one model in place of those of the folds.

        The committee gets smaller and predicts faster, and learns from rows that came later.
        Members, their weights and their numbers of rounds stay, and so do `score_`, `leaderboard_`
        and all that was measured in `fit`: these are of the committee before.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`: the same, more or others.
        y : array-like of shape (n_rows,)
            The target, of the classes of `fit`.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.

        Returns
        -------
        self : estimator
            The committee.
        """
        self._check_fitted()
        with FitLog(type(self).__name__) as log:
            table = self._matched(X)
            log.begin(table.n_rows, table.n_features)
            weights = read_weights(sample_weight, table.n_rows)
            target = self._read_target_again(y, weights)
            check_same_length(table.n_rows, target.n_rows)
            if not target.counted.all():  # rows of weight zero are absent
                rows = np.flatnonzero(target.counted)
                table, target = AnyTable(table.take(rows, None)), target.part(rows)
            fitted = {name: getattr(self, name) for name in self.__dict__["_names_of_fit"]}
            members = refitted(fitted, table, target, self.n_jobs)
            fitted |= {"members_": members, "_opened": None}
            self._replace_fitted(fitted | {"latency_": committee_cost(fitted)})
            log.end("%d members fitted to all rows", len(members))
        return self

    def _plan(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        time_order: Any,
        seed: int | None = None,
    ) -> CommitteeFit:
        """Read the rows and the parameters of a fit."""
        begin = began()
        seed = check_seed(self.random_state) if seed is None else seed
        table = AnyTable(X)
        running_fit().begin(table.n_rows, table.n_features)
        weights = read_weights(sample_weight, table.n_rows)
        warn_of_column(y)
        target = self._read_target(y, weights)
        check_same_length(table.n_rows, target.n_rows)
        order = RowOrder.read(table.opened(), groups, time_order)
        if not target.counted.all():  # rows of weight zero are absent
            rows = np.flatnonzero(target.counted)
            table, target = AnyTable(table.take(rows, None)), target.part(rows)
            order = order.part(rows)
        scoring = self._default_scoring if self.scoring is None else scorer_name(self.scoring)
        resolve_metric(scoring, "scoring")
        metric = CommitteeMetric(target, self._scoring_for(scoring, target), "scoring")
        return CommitteeFit(
            name=type(self).__name__,
            table=table,
            target=target,
            order=order,
            metric=metric,
            quality=self.quality,
            budget=self.budget,
            time_limit=self.time_limit,
            members=self.members,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            seed=seed,
            begin=begin,
            decisions=self._decision_rules(target),
            max_latency=check_real(
                "max_latency", self.max_latency, 0.0, include_low=False, none=True
            ),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_opened": None}

    def _decision_rules(self, target: ScoredTarget) -> DecisionRules | None:
        """Return how classes are decided for; None for numbers."""
        return None

    def _validate_loaded(self) -> None:
        n_features = self._reader.schema.n_features
        for member, output, reads in zip(self.members_, self._outputs, self._reads, strict=True):
            if reads == FEATURES:
                check_outputs([member], [output], n_features)
            elif reads == MATRIX:
                check_outputs([member], [output], self._encoder.n_columns)
            expected = len(getattr(self, "classes_", ()))
            if output.n_classes != expected:
                raise ValueError("members predict another number of classes")
        if len(self._encoder.parts) != n_features:
            raise ValueError("the matrix is made of other features")
        if not self.weights_.sum() > 0:
            raise ValueError("no member has a weight")
        self._check_answers()

    # ---- predictions ----

    def _predict_values(self, X: Any) -> Floats:
        self._check_fitted()
        return self._values_of(self._matched(X))

    def _each_prediction(self, X: Any) -> Floats:
        """Return the prediction of each member, shape (n_members, n_rows, n_values)."""
        return member_values(vars(self), self.members_, self._matched(X))

    @property
    def _member_weights(self) -> Floats:
        return np.asarray(self.weights_ / self.weights_.sum())

    def _was_fitted_to(self, X: Any, y: Any) -> bool:
        """Whether this is the training table, in its order; never where rows had weights."""
        try:
            table, target = self._matched(X), self._read_target(y, None)
        except ValueError:
            return False
        order = RowOrder.read(table.opened(), None, None)
        features = self._reader.read(table.opened())
        return rows_fingerprint(features, target, order) == self._fingerprint

    def _matched(self, X: Any) -> AnyTable:
        """Return a table with the columns of `fit`."""
        known = getattr(self, "feature_names_in_", None)
        names = None if known is None else tuple(known)
        table = self._without_target(AnyTable(known_rows(self, named_row(X, names))))
        return table.matched(names, self.n_features_in_, type(self).__name__)

    def _values_of(self, table: AnyTable) -> Floats:
        """Return the numbers or the probabilities that the committee predicts."""
        return predict_values(vars(self), self.members_, table)

    def _without_target(self, table: AnyTable) -> AnyTable:
        """Leave out the column that `train` was to predict, where a table still has it."""
        target = getattr(self, "target_name_", None)
        if table.names is None or target not in table.names:
            return table
        places = [place for place, name in enumerate(table.names) if name != target]
        return AnyTable(table.take(None, np.array(places)))
