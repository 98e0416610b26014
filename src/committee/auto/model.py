"""What both committees in one line share: the search for members, and predictions."""

from __future__ import annotations

import logging
import math
import sys
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from committee.auto.bags import Bag, FoldTeams
from committee.auto.budget import QUALITIES, Budget, automatic_budget
from committee.auto.calibration import fit_temperature, with_temperature
from committee.auto.columns import ColumnUse, FeatureReader
from committee.auto.encoder import MatrixEncoder
from committee.auto.estimate import ScoreEstimate, estimate_score
from committee.auto.findings.findings import Findings, find
from committee.auto.findings.importances import ColumnImportances, measure
from committee.auto.findings.unseen import Unseen
from committee.auto.leaderboard import Entry, Leaderboard
from committee.auto.portfolio import FEATURES, MATRIX, TABLE, Candidate, Size, portfolio
from committee.auto.reporting import Reporting
from committee.base.arrays import Floats, Rows
from committee.base.params import check_choice, check_real, check_seed
from committee.base.products import weighted_sum
from committee.base.sampling import SeedUse, parameter_seed
from committee.base.warn import warn
from committee.base.work import FitLog, running_fit
from committee.boosting.fit import BoostingModel
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.combining.selection.greedy_selection import SelectionRules, mean_weights
from committee.evaluation.content_order import ContentOrder, row_keys, with_columns
from committee.evaluation.scored_target import OobMetric, ScoredTarget, resolve_metric
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
from committee.members.output import Output
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable
from committee.tables.source import Source
from committee.tables.table import read_table
from committee.tables.target import check_same_length, read_weights, warn_of_column

_log = logging.getLogger(__name__)

_STEPS = 25  # of the greedy selection
_LEAST_ROWS = 5
_LEAST_ROUNDS = 50  # of boosting: fewer are not worth to begin


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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Search for the best committee.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw columns: numbers, categories, dates, text, with missing values.
        y : array-like of shape (n_rows,)
            Class labels, or finite numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.
        groups : array-like of shape (n_rows,) or None, default=None
            Rows with the same value are in the same fold.

        Returns
        -------
        self : estimator
            The fitted committee.
        """
        with FitLog(type(self).__name__):
            self._fit(X, y, sample_weight, groups)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        seed = check_seed(self.random_state)
        table = AnyTable(X)
        running_fit().begin(table.n_rows, table.n_features)
        weights = read_weights(sample_weight, table.n_rows)
        warn_of_column(y)
        target = self._read_target(y, weights)
        check_same_length(table.n_rows, target.n_rows)
        if not target.counted.all():  # rows of weight zero are absent
            rows = np.flatnonzero(target.counted)
            table, target = AnyTable(table.opened().take(rows, None)), target.part(rows)
            groups = None if groups is None else np.asarray(groups)[rows]
        _check_size(target)
        metric = OobMetric(target, self._metric_name(), "scoring")
        reader = FeatureReader.of(table.opened())
        features = reader.read(table.opened())
        encoder = MatrixEncoder.of(features)
        matrix = encoder.apply(features)
        budget = self._budget(target.n_rows, features.n_features)
        teams = self._teams(table, features, matrix, target, groups, seed)
        size = Size(target.n_rows, features.n_features, matrix.shape[1], teams.n_classes)
        candidates = list(portfolio(size))
        bags, is_interrupted = self._search(teams, candidates, budget, metric)
        attributes = self._chosen(bags, target, metric, teams, seed)
        committee = [bag for bag in bags if bag.candidate.name in attributes["member_names_"]]

        def predict(rows: Source, fold: int) -> Floats:
            models = [bag.member.estimators[fold] for bag in committee]
            return self._values(attributes, models, rows)

        attributes |= {
            "_reader": reader,
            "_encoder": encoder,
        }
        members = [bag.predictions for bag in committee]
        combined = _combined(np.stack(members), attributes["weights_"], attributes["_temperature"])
        tests = [test for _, test in teams.splits]
        unseen = Unseen(target, metric, tests, combined, members, predict)
        attributes |= _described(table.opened(), reader.plan.uses, unseen, seed)
        attributes |= {
            "interrupted_": is_interrupted,
            "budget_": round(budget.used, 3),
            "columns_": reader.plan.uses,
            "n_features_in_": table.n_features,
        }
        if table.names is not None:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        if target.classes:
            attributes["classes_"] = target.classes[0]
        self._replace_fitted(attributes)
        reason = "all were tried"
        if is_interrupted:
            reason = "the search was interrupted"
        elif len(bags) < len(candidates):
            reason = "the time is up" if budget.is_late() else "the budget is used up"
        running_fit().end(
            "%d members, chosen from %d of %d models (%s), score %.4g",
            len(committee),
            len(bags),
            len(candidates),
            reason,
            self.score_.score,
        )

    def _budget(self, n_rows: int, n_features: int) -> Budget:
        check_choice("quality", self.quality, QUALITIES)
        if isinstance(self.budget, str):
            check_choice("budget", self.budget, ("auto",))
            units = automatic_budget(n_rows, n_features, self.quality)
        else:
            units = check_real("budget", self.budget, 0.0, include_low=False)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, 0.0, include_low=False)
            units = math.inf if isinstance(self.budget, str) else units
        return Budget(units, self.time_limit)

    def _scoring(self) -> Any:
        return self._metric_name()

    def _metric_name(self) -> Any:
        if self.scoring is None:
            return self._default_scoring
        resolve_metric(self.scoring, "scoring")
        return self.scoring

    def _teams(
        self,
        table: AnyTable,
        features: Source,
        matrix: Floats,
        target: ScoredTarget,
        groups: Any,
        seed: int,
    ) -> FoldTeams:
        labels = target.classes[0] if target.classes else None
        y = target.table[:, 0]
        tables = {FEATURES: AnyTable(features), MATRIX: AnyTable(matrix), TABLE: table}
        teams = {
            reads: TrainingData(each, y, labels, target.weights, self.n_jobs, seed)
            for reads, each in tables.items()
        }
        n_folds = 8 if len(y) >= 60 else min(5, len(y) // 2)
        tests = _folds(
            features, target, groups, n_folds, parameter_seed(seed, SeedUse.COMMITTEE_FOLDS)
        )
        everything = np.arange(len(y))
        splits = [(np.setdiff1d(everything, test), test) for test in tests]
        return FoldTeams(teams, splits, 0 if labels is None else len(labels))

    def _search(
        self,
        teams: FoldTeams,
        candidates: Sequence[Candidate],
        budget: Budget,
        metric: OobMetric,
    ) -> tuple[list[Bag], bool]:
        """Fit candidates as long as the budget lasts; return them and whether it was interrupted.

        Once there is a member, the first Ctrl-C ends the search and keeps what there is.
        """
        bags: list[Bag] = []
        for number, candidate in enumerate(candidates):
            least = candidate.cost * len(teams.splits) * teams.share_of_rows
            if isinstance(candidate.estimator, BoostingModel):
                least *= _LEAST_ROUNDS
            if bags and (budget.left < least or budget.is_late()):
                _log.debug("%s: left out, %.1f units are left", candidate.name, budget.left)
                continue  # a later one may be cheaper
            try:
                bags.append(teams.fit(candidate, number, budget, 0.5 if bags else 0.6))
            except KeyboardInterrupt:
                if not bags:
                    raise
                warn(
                    f"the search was interrupted; the committee is chosen from the {len(bags)} "
                    "model(s) fitted so far",
                )
                return bags, True
            self._show(bags[-1], budget, metric)
        return bags, False

    def _show(self, bag: Bag, budget: Budget, metric: OobMetric) -> None:
        if _log.isEnabledFor(logging.DEBUG):
            score = metric.score(bag.predictions, np.arange(len(bag.predictions)))
            _log.debug("%s: score %.4g, %.2f s", bag.candidate.name, score, bag.seconds)
        if self.verbose:
            line = f"{type(self).__name__}: {bag.candidate.name}, {bag.seconds:.1f} s"
            sys.stderr.write(f"{line}; {budget.used:.1f} of {budget.units:.1f} units used\n")

    # ---- from members to a committee ----

    def _chosen(
        self,
        bags: Sequence[Bag],
        target: ScoredTarget,
        metric: OobMetric,
        teams: FoldTeams,
        seed: int,
    ) -> dict[str, Any]:
        """Return the fitted attributes that depend on the selection of members."""
        predicted = np.stack([bag.predictions for bag in bags])
        predictions = MemberPredictions(predicted, target, self._metric_name())
        everything = np.arange(target.n_rows)
        weights, temperature = _select(predictions, everything)
        combined = _combined(predicted, weights, temperature)

        def select(rows: Rows) -> Floats:
            return _combined(predicted, *_select(predictions, rows))

        score = estimate_score(
            predictions, combined, select, metric, parameter_seed(seed, SeedUse.SCORE_ESTIMATE)
        )
        chosen = np.flatnonzero(weights).tolist()
        members = [bags[place] for place in chosen]
        return {
            "members_": [bag.member for bag in members],
            "member_names_": [bag.candidate.name for bag in members],
            "weights_": weights[chosen],
            "score_": score,
            "leaderboard_": _leaderboard(bags, weights, metric, teams),
            "_outputs": [bag.output for bag in members],
            "_reads": [bag.candidate.reads for bag in members],
            "_temperature": temperature,
        }

    # ---- predictions ----

    def _predict_values(self, X: Any) -> Floats:
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        table = self._without_target(AnyTable(X)).matched(
            None if names is None else tuple(names),
            self.n_features_in_,
            type(self).__name__,
        )
        return self._values(dict(vars(self)), self.members_, table.opened())

    def _without_target(self, table: AnyTable) -> AnyTable:
        """Leave out the column that `train` was to predict, where a table still has it."""
        target = getattr(self, "target_name_", None)
        if table.names is None or target not in table.names:
            return table
        places = [place for place, name in enumerate(table.names) if name != target]
        return AnyTable(table.take(None, np.array(places)))

    @staticmethod
    def _values(fitted: dict[str, Any], members: Sequence[Any], source: Source) -> Floats:
        """Return what some members, or models of one fold, predict together."""
        features = fitted["_reader"].read(source)
        views: dict[str, Any] = {FEATURES: features, TABLE: source}
        if MATRIX in fitted["_reads"]:
            views[MATRIX] = fitted["_encoder"].apply(features)
        parts = zip(members, fitted["_outputs"], fitted["_reads"], strict=True)
        predicted = [output.predict(member, views[reads]) for member, output, reads in parts]
        return _combined(np.stack(predicted), fitted["weights_"], fitted["_temperature"])


def _folds(
    features: Source, target: ScoredTarget, groups: Any, n_folds: int, seed: int
) -> list[Rows]:
    """Deal the rows into folds by what they hold: copies of a row are in the same fold."""
    keys = row_keys(*read_table(features), seed)
    counts = np.ones(target.n_rows, np.int64)
    if target.codes is None:
        order = ContentOrder(keys, counts, with_columns(keys, target.table), groups=groups)
    else:
        order = ContentOrder(keys, counts, classes=target.codes[:, 0], groups=groups)
    return [np.flatnonzero(part) for part in order.folds(n_folds)]


def _check_size(target: ScoredTarget) -> None:
    if target.n_outputs > 1:
        raise ValueError(
            f"y should be a 1d array, got {target.n_outputs} columns instead: fit a committee for "
            "each, for example by sklearn.multioutput"
        )
    if target.n_rows < _LEAST_ROWS:
        raise ValueError(
            f"X has n_samples={target.n_rows} with a positive weight; a committee needs at least "
            f"{_LEAST_ROWS} rows"
        )
    if target.classes and len(target.classes[0]) < 2:
        label = target.classes[0].tolist()[0]
        raise ValueError(f"y has 1 class, {label!r}; a classifier needs at least 2")


def _select(predictions: MemberPredictions, rows: Rows) -> tuple[Floats, float]:
    """Return the weights of the members and the temperature that suit some rows best."""
    part = predictions.part(rows)
    rules = SelectionRules(_STEPS, 0, 1, 1.0, 0)
    weights = mean_weights(rules.paths(part.scorer()), part.n_members)
    if part.target.codes is None:
        return weights, 1.0
    shares = part.mean(weights)
    return weights, fit_temperature(shares, part.target.codes[:, 0], part.target.weights)


def _combined(predicted: Floats, weights: Floats, temperature: float) -> Floats:
    return with_temperature(weighted_sum(weights / weights.sum(), predicted), temperature)


def _described(
    source: Source, uses: Sequence[ColumnUse], unseen: Unseen, seed: int
) -> dict[str, Any]:
    """Return the fitted attributes that explain the committee."""
    used = [place for place, use in enumerate(uses) if use.use != "dropped"]
    own = parameter_seed(seed, SeedUse.IMPORTANCES)
    importances = measure(source, used, unseen, own)
    findings = find(source, [use.use for use in uses], unseen, importances, own)
    return {"importances_": importances, "findings_": findings}


def _leaderboard(
    bags: Sequence[Bag], weights: Floats, metric: OobMetric, teams: FoldTeams
) -> Leaderboard:
    everything = np.arange(metric.target.n_rows)
    entries = []
    for bag, weight in zip(bags, weights.tolist(), strict=True):
        score = metric.score(bag.predictions, everything)
        try:
            parts = [metric.score(bag.predictions, test) for _, test in teams.splits]
            error = float(np.std(parts, ddof=1) / len(parts) ** 0.5)
        except ValueError:  # a fold without one of the classes
            error = float("nan")
        entries.append(Entry(bag.candidate.name, score, error, weight, bag.seconds))
    entries.sort(key=lambda entry: -entry.score)
    name = metric.oob_score
    shown = name if isinstance(name, str) else getattr(name, "__name__", repr(name))
    return Leaderboard(shown, tuple(entries))
