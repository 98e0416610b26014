"""What both committees in one line share: the search for members, and predictions."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from committee.auto.columns import ColumnUse, FeatureReader
from committee.auto.encoder import MatrixEncoder
from committee.auto.estimate import ScoreEstimate
from committee.auto.findings.findings import Findings
from committee.auto.findings.importances import ColumnImportances
from committee.auto.fit import CommitteeFit
from committee.auto.folds import RowOrder
from committee.auto.known_files import known_rows
from committee.auto.leaderboard import Leaderboard
from committee.auto.metric import CommitteeMetric
from committee.auto.portfolio import FEATURES, MATRIX, TABLE
from committee.auto.prediction import predict_values
from committee.auto.reporting import Reporting
from committee.base.arrays import Floats
from committee.base.params import check_seed
from committee.base.work import FitLog, running_fit
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
from committee.members.output import Output
from committee.tables.native_table import AnyTable
from committee.tables.target import check_same_length, read_weights, warn_of_column


class AutoModel(Reporting):
    """Base class of the committees in one line."""

    _fitted_attribute = "members_"

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
        "_reader": instance(FeatureReader),
        "_encoder": instance(MatrixEncoder),
        "_outputs": list_of(instance(Output), "members"),
        "_reads": list_of(one_of(FEATURES, MATRIX, TABLE), "members"),
        "_temperature": real(0.01),
    }

    quality: str
    budget: float | str
    time_limit: float | None
    scoring: Any
    members: Any
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
    n_features_in_: int
    _reader: FeatureReader
    _encoder: MatrixEncoder
    _outputs: list[Output]
    _reads: list[str]
    _temperature: float

    _default_scoring: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the target."""

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

    def _plan(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, time_order: Any
    ) -> CommitteeFit:
        """Read the rows and the parameters of a fit."""
        begin, seed = time.monotonic(), check_seed(self.random_state)
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
        scoring = self._default_scoring if self.scoring is None else self.scoring
        resolve_metric(scoring, "scoring")
        return CommitteeFit(
            type(self).__name__,
            table,
            target,
            order,
            CommitteeMetric(target, scoring, "scoring"),
            self.quality,
            self.budget,
            self.time_limit,
            self.members,
            self.n_jobs,
            self.verbose,
            seed,
            begin,
        )

    # ---- predictions ----

    def _predict_values(self, X: Any) -> Floats:
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        table = self._without_target(AnyTable(known_rows(self, X))).matched(
            None if names is None else tuple(names),
            self.n_features_in_,
            type(self).__name__,
        )
        return predict_values(vars(self), self.members_, table)

    def _without_target(self, table: AnyTable) -> AnyTable:
        """Leave out the column that `train` was to predict, where a table still has it."""
        target = getattr(self, "target_name_", None)
        if table.names is None or target not in table.names:
            return table
        places = [place for place, name in enumerate(table.names) if name != target]
        return AnyTable(table.take(None, np.array(places)))
