"""The fit of a committee in one line, step by step: from a table to fitted attributes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee.auto.bags import Bag, FoldTeams
from committee.auto.budget import QUALITIES, automatic_budget
from committee.auto.columns import FeatureReader
from committee.auto.encoder import MatrixEncoder
from committee.auto.estimate import N_RESAMPLES, Resamples
from committee.auto.findings.findings import find
from committee.auto.findings.importances import measure
from committee.auto.findings.rehearsal import seconds_to_explain
from committee.auto.findings.unseen import Unseen
from committee.auto.folds import RowOrder, Splits
from committee.auto.given import chosen_candidates, native_table
from committee.auto.ledger import Ledger, micro
from committee.auto.metric import CommitteeMetric
from committee.auto.portfolio import FEATURES, MATRIX, TABLE, Size, portfolio
from committee.auto.prediction import predict_values
from committee.auto.search import Interrupts, Search, leaderboard_of
from committee.auto.selection import Selection
from committee.base.arrays import Floats
from committee.base.params import check_choice, check_real
from committee.base.sampling import SeedUse, parameter_seed
from committee.base.work import resolve_threads, running_fit
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.evaluation.scored_target import ScoredTarget
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable
from committee.tables.source import Source

_LEAST_ROWS = 5
_PLANS = 7  # plans of the search up to the automatic budget, each twice the one before
_SAFETY, _REST = 1.2, 0.05  # of times measured; seconds of what is not measured


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
    order : RowOrder
        Groups or times of the rows.
    metric : CommitteeMetric
        What members are chosen by.
    quality, budget, time_limit, members, n_jobs, verbose
        Parameters of the estimator.
    seed : int
        Of all draws.
    begin : float
        When the fit began.
    """

    name: str
    table: AnyTable
    target: ScoredTarget
    order: RowOrder
    metric: CommitteeMetric
    quality: str
    budget: float | str
    time_limit: float | None
    members: Any
    n_jobs: int | None
    verbose: int
    seed: int
    begin: float

    def run(self) -> dict[str, Any]:
        """Fit; return the fitted attributes."""
        _check_size(self.target)
        source = self.table.opened()
        reader = FeatureReader.of(source)
        features = reader.read(source)
        encoder = MatrixEncoder.of(features)
        matrix = encoder.apply(features)
        ledger, first_plan = self._ledger(features.n_features)
        n_classes = len(self.target.classes[0]) if self.target.classes else 0
        size = Size(self.target.n_rows, features.n_features, matrix.shape[1], n_classes)
        n_threads = resolve_threads(self.n_jobs)
        candidates = chosen_candidates(self.members, list(portfolio(size)), size, n_threads)
        teams = self._teams(features, matrix, {candidate.reads for candidate in candidates})
        fixed = {
            "_reader": reader,
            "_encoder": encoder,
            "columns_": reader.plan.uses,
            "n_features_in_": self.table.n_features,
        }

        def rehearse(bags: Sequence[Bag]) -> float:
            return self._rehearse(bags, teams, fixed)

        interrupts = Interrupts()
        search = Search(
            teams,
            candidates,
            ledger,
            self.metric,
            first_plan,
            rehearse,
            interrupts,
            self.name,
            self.verbose,
        )
        found = search.run()

        def finish() -> dict[str, Any]:
            attributes, members = self._selected(found.bags, teams)
            attributes = fixed | attributes
            return attributes | self._explained(attributes, members, teams)

        attributes = interrupts.finish(finish, len(found.bags))
        attributes |= {"interrupted_": interrupts.has_come, "budget_": ledger.units}
        if self.table.names is not None:
            attributes["feature_names_in_"] = np.array(self.table.names, dtype=object)
        if self.target.classes:
            attributes["classes_"] = self.target.classes[0]
        running_fit().end(
            "%d members, chosen from %d of %d models (%s), score %.4g, budget=%s",
            len(attributes["members_"]),
            len(found.bags),
            len(candidates),
            found.reason,
            attributes["score_"].score,
            attributes["budget_"],
        )
        return attributes

    def _ledger(self, n_features: int) -> tuple[Ledger, int]:
        """Return what the search may do, and the work of its first plan."""
        check_choice("quality", self.quality, QUALITIES)
        n_rows = self.target.n_rows
        if isinstance(self.budget, str):
            check_choice("budget", self.budget, ("auto",))
            units = automatic_budget(n_rows, n_features, self.quality)
        else:
            units = check_real("budget", self.budget, 0.0, include_low=False)
        most: int | None = micro(units)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, 0.0, include_low=False)
            most = None if isinstance(self.budget, str) else most
        # Plans end where automatic budgets do, because they double.
        first_plan = micro(automatic_budget(n_rows, n_features, "good") / 2**_PLANS)
        return Ledger(most, self.time_limit, begin=self.begin), first_plan

    def _teams(self, features: Source, matrix: Floats, reads: set[str]) -> FoldTeams:
        """Return the rows in the forms that members learn from, dealt into folds."""
        target = self.target
        labels = target.classes[0] if target.classes else None
        tables = {FEATURES: AnyTable(features), MATRIX: AnyTable(matrix)}
        if TABLE in reads:
            tables[TABLE] = native_table(self.table)
        teams = {
            form: TrainingData(
                each, target.table[:, 0], labels, target.weights, self.n_jobs, self.seed
            )
            for form, each in tables.items()
        }
        seed = parameter_seed(self.seed, SeedUse.COMMITTEE_FOLDS)
        folds = Splits.of(features, target, self.order, seed)
        return FoldTeams(teams, folds, 0 if labels is None else len(labels))

    def _resamples(self, bags: Sequence[Bag], teams: FoldTeams) -> Resamples:
        """Return what selects a committee from bags, and estimates its score."""
        predicted = np.stack([bag.predictions[teams.scored] for bag in bags])
        target = self.target.part(teams.scored)
        predictions = MemberPredictions(predicted, target, self.metric.oob_score)
        selection = Selection.of(predictions, np.arange(target.n_rows))
        seed = parameter_seed(self.seed, SeedUse.SCORE_ESTIMATE)
        blocks = None if teams.folds.blocks is None else teams.folds.blocks[teams.scored]
        return Resamples(predictions, selection, seed, resolve_threads(self.n_jobs), blocks)

    def _selected(self, bags: Sequence[Bag], teams: FoldTeams) -> tuple[dict[str, Any], list[Bag]]:
        """Return the fitted attributes that depend on the selection of members, and these."""
        resamples = self._resamples(bags, teams)
        board = leaderboard_of(bags, resamples.selection.weights, self.metric, teams)
        attributes = self._members(bags, resamples.selection) | {
            "score_": resamples.run(),
            "leaderboard_": board,
        }
        return attributes, [bags[place] for place in resamples.selection.chosen]

    def _members(self, bags: Sequence[Bag], selection: Selection) -> dict[str, Any]:
        """Return the fitted attributes that predict."""
        members = [bags[place] for place in selection.chosen]
        return {
            "members_": [bag.member for bag in members],
            "member_names_": [bag.candidate.name for bag in members],
            "weights_": selection.weights[selection.chosen],
            "_outputs": [bag.output for bag in members],
            "_reads": [bag.candidate.reads for bag in members],
            "_temperature": selection.temperature,
        }

    def _rehearse(self, bags: Sequence[Bag], teams: FoldTeams, fixed: dict[str, Any]) -> float:
        """Measure a part of what comes after the search; return the seconds that all will take."""
        begin = time.monotonic()
        resamples = self._resamples(bags, teams)
        leaderboard_of(bags, resamples.selection.weights, self.metric, teams)
        once = time.monotonic() - begin
        begin = time.monotonic()
        resamples.draw(0)
        draws = (time.monotonic() - begin) * N_RESAMPLES / resamples.n_threads
        equal = Selection(np.full(len(bags), 1 / len(bags)), resamples.selection.temperature)
        fitted = fixed | self._members(bags, equal)
        unseen = self._unseen(fitted, bags, teams)
        explaining = seconds_to_explain(self.table.opened(), self._uses(fitted), unseen)
        return float(_SAFETY * (once + draws + explaining) + _REST)

    def _explained(
        self, fitted: dict[str, Any], members: Sequence[Bag], teams: FoldTeams
    ) -> dict[str, Any]:
        """Return the fitted attributes that explain the committee."""
        unseen, uses = self._unseen(fitted, members, teams), self._uses(fitted)
        used = [place for place, use in enumerate(uses) if use != "dropped"]
        source, seed = self.table.opened(), parameter_seed(self.seed, SeedUse.IMPORTANCES)
        importances = measure(source, used, unseen, seed)
        findings = find(source, uses, unseen, importances, seed)
        return {"importances_": importances, "findings_": findings}

    @staticmethod
    def _uses(fitted: dict[str, Any]) -> list[str]:
        return [use.use for use in fitted["columns_"]]

    def _unseen(self, fitted: dict[str, Any], members: Sequence[Bag], teams: FoldTeams) -> Unseen:
        """Return the committee on rows that its models have not seen."""
        scored, parts = teams.scored, teams.scored_parts

        def predict(rows: Source, part: int) -> Floats:
            models = [bag.models[parts[part][0]] for bag in members]
            return predict_values(fitted, models, rows)

        predicted = [bag.predictions[scored] for bag in members]
        combined = Selection(fitted["weights_"], fitted["_temperature"]).combine(
            np.stack(predicted)
        )
        target = self.target.part(scored)
        metric = replace(self.metric, target=target)
        tests = [np.searchsorted(scored, rows) for _, rows in parts]
        return Unseen(target, metric, scored, tests, combined, predicted, predict, teams.folds.kind)


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
