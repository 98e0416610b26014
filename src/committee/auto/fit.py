"""The fit of a committee in one line, step by step: from a table to fitted attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.auto.bags import Bag, FoldTeams
from committee.auto.budget import QUALITIES, Budget, automatic_budget
from committee.auto.class_sets import SetRule
from committee.auto.columns import FeatureReader
from committee.auto.decision_rules import DecisionRules
from committee.auto.encoder import MatrixEncoder
from committee.auto.estimate import estimate_score
from committee.auto.findings import find
from committee.auto.folds import shared_splits
from committee.auto.importances import ColumnImportances, measure
from committee.auto.intervals import IntervalRule
from committee.auto.portfolio import FEATURES, MATRIX, TABLE, Size, portfolio
from committee.auto.prediction import predict_values
from committee.auto.search import Search, leaderboard_of
from committee.auto.selection import Selection
from committee.base.arrays import Floats, Rows
from committee.base.params import check_choice, check_real
from committee.base.sampling import SeedUse, parameter_seed
from committee.base.work import running_fit
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable
from committee.tables.source import Source

_LEAST_ROWS = 5


@dataclass(frozen=True, eq=False)
class CommitteeFit:
    """One fit; `run` has its steps.

    Parameters
    ----------
    name : str
        The class of the estimator, for messages.
    table : AnyTable
        The rows, without those of weight zero.
    target : ScoredTarget
        What is predicted, of the same rows.
    groups : ndarray or None
        Rows with the same value are in the same fold.
    metric : OobMetric
        What members are chosen by.
    quality, budget, time_limit, n_jobs, verbose
        Parameters of the estimator.
    seed : int
        Of all draws.
    decisions : DecisionRules or None
        How classes are decided for; None for numbers.
    """

    name: str
    table: AnyTable
    target: ScoredTarget
    groups: Any
    metric: OobMetric
    quality: str
    budget: float | str
    time_limit: float | None
    n_jobs: int | None
    verbose: int
    seed: int
    decisions: DecisionRules | None = None

    def run(self) -> dict[str, Any]:
        """Fit; return the fitted attributes."""
        _check_size(self.target)
        source = self.table.opened()
        reader = FeatureReader.of(source)
        features = reader.read(source)
        encoder = MatrixEncoder.of(features)
        matrix = encoder.apply(features)
        budget = self._budget(features.n_features)
        teams = self._teams(features, matrix)
        size = Size(self.target.n_rows, features.n_features, matrix.shape[1], teams.n_classes)
        candidates = list(portfolio(size))
        found = Search(teams, candidates, budget, self.metric, self.name, self.verbose).run()
        attributes = self._selected(found.bags, teams) | {
            "_reader": reader,
            "_encoder": encoder,
            "interrupted_": found.is_interrupted,
            "budget_": round(budget.used, 3),
            "columns_": reader.plan.uses,
            "n_features_in_": self.table.n_features,
        }
        attributes["importances_"] = self._importances(attributes, teams)
        if self.table.names is not None:
            attributes["feature_names_in_"] = np.array(self.table.names, dtype=object)
        if self.target.classes:
            attributes["classes_"] = self.target.classes[0]
        running_fit().end(
            "%d members, chosen from %d of %d models (%s), score %.4g",
            len(attributes["members_"]),
            len(found.bags),
            len(candidates),
            found.reason,
            attributes["score_"].score,
        )
        return attributes

    def _budget(self, n_features: int) -> Budget:
        check_choice("quality", self.quality, QUALITIES)
        if isinstance(self.budget, str):
            check_choice("budget", self.budget, ("auto",))
            units = automatic_budget(self.target.n_rows, n_features, self.quality)
        else:
            units = check_real("budget", self.budget, 0.0, include_low=False)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, 0.0, include_low=False)
            units = math.inf if isinstance(self.budget, str) else units
        return Budget(units, self.time_limit)

    def _teams(self, features: Source, matrix: Floats) -> FoldTeams:
        """Return the rows in all forms that members learn from, dealt into folds."""
        target = self.target
        labels = target.classes[0] if target.classes else None
        tables = {FEATURES: AnyTable(features), MATRIX: AnyTable(matrix), TABLE: self.table}
        teams = {
            reads: TrainingData(
                each, target.table[:, 0], labels, target.weights, self.n_jobs, self.seed
            )
            for reads, each in tables.items()
        }
        seed = parameter_seed(self.seed, SeedUse.COMMITTEE_FOLDS)
        splits = shared_splits(features, target, self.groups, seed)
        return FoldTeams(teams, splits, 0 if labels is None else len(labels))

    def _selected(self, bags: Sequence[Bag], teams: FoldTeams) -> dict[str, Any]:
        """Return the fitted attributes that depend on the selection of members."""
        target, metric = self.target, self.metric
        predicted = np.stack([bag.predictions for bag in bags])
        predictions = MemberPredictions(predicted, target, metric.oob_score)
        everything = np.arange(target.n_rows)
        selection = Selection.of(predictions, everything)
        combined = selection.combine(predicted)

        def select(rows: Rows) -> Floats:
            return self._answered(Selection.of(predictions, rows).combine(predicted), rows)

        seed = parameter_seed(self.seed, SeedUse.SCORE_ESTIMATE)
        members = [bags[place] for place in selection.chosen]
        more: dict[str, Any] = {}
        decided = None
        if self.decisions is not None:
            more["decision_"] = self.decisions.decide(combined, everything)
            decided = more["decision_"].codes(combined)
        constant = metric.score(self._answered(_constant(target), everything), everything)
        answered = self._answered(combined, everything)
        return (
            {
                "members_": [bag.member for bag in members],
                "member_names_": [bag.candidate.name for bag in members],
                "weights_": selection.weights[selection.chosen],
                "score_": estimate_score(predictions, answered, select, metric, seed),
                "leaderboard_": leaderboard_of(bags, selection.weights, metric, teams.splits),
                "findings_": find(target, combined, self.table.n_features, constant, decided),
                "_outputs": [bag.output for bag in members],
                "_reads": [bag.candidate.reads for bag in members],
                "_temperature": selection.temperature,
            }
            | self._promises(combined, teams)
            | more
        )

    def _answered(self, values: Floats, rows: Rows) -> Floats:
        """Return predictions as the metric sees them; some rows decide for classes."""
        return values if self.decisions is None else self.decisions.answered(values, rows)

    def _promises(self, combined: Floats, teams: FoldTeams) -> dict[str, Any]:
        """Return the rule of intervals or of sets of classes."""
        if self.target.classes:
            return {"_set_rule": SetRule.of(combined, self.target)}
        features = teams.teams[FEATURES].table.opened()
        seed = parameter_seed(self.seed, SeedUse.DIFFICULTY)
        rule = IntervalRule.of(features, combined[:, 0], self.target, seed, self.n_jobs)
        return {"_interval_rule": rule}

    def _importances(self, fitted: dict[str, Any], teams: FoldTeams) -> ColumnImportances:
        """Measure how much the committee relies on each column that is used."""

        def predict(rows: Source, fold: int) -> Floats:
            models = [member.estimators[fold] for member in fitted["members_"]]
            values = predict_values(fitted, models, rows)
            rules = self.decisions
            return values if rules is None else rules.shown(fitted["decision_"], values)

        used = [place for place, use in enumerate(fitted["columns_"]) if use.use != "dropped"]
        tests = [test for _, test in teams.splits]
        seed = parameter_seed(self.seed, SeedUse.IMPORTANCES)
        return measure(self.table.opened(), used, predict, tests, self.metric, seed)


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


def _constant(target: ScoredTarget) -> Floats:
    """Return the prediction that does not look at the columns, for each row."""
    if target.codes is None:
        mean = np.average(target.table[:, 0], weights=target.weights)
        return np.full((target.n_rows, 1), mean)
    counts = np.bincount(target.codes[:, 0], target.weights, minlength=len(target.classes[0]))
    return np.tile(counts / counts.sum(), (target.n_rows, 1))
