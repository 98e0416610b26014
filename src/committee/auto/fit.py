"""The fit of a committee in one line, step by step: from a table to fitted attributes."""

from __future__ import annotations

import logging
import sys
import time
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from committee.auto.budget import QUALITIES, automatic_budget
from committee.auto.class_sets import SetRule
from committee.auto.columns import FeatureReader
from committee.auto.decision_rules import DecisionRules
from committee.auto.encoder import MatrixEncoder
from committee.auto.estimate import GAIN_OF_ERRORS, Resamples
from committee.auto.findings.explain_time import seconds_to_explain
from committee.auto.findings.findings import find
from committee.auto.findings.importances import ColumnImportances, measure
from committee.auto.findings.unseen import Unseen
from committee.auto.fold_members import FoldData, FoldMember
from committee.auto.folds import RowOrder, Splits
from committee.auto.given import ConstantCandidate, chosen_candidates, native_table
from committee.auto.intervals import IntervalRule, rule_cost
from committee.auto.latency import LatencyLimit, committee_cost
from committee.auto.leaks import Leak, LeakSearch, noted
from committee.auto.ledger import Ledger, micro
from committee.auto.metric import CommitteeMetric
from committee.auto.portfolio import FEATURES, TABLE, Size, portfolio
from committee.auto.prediction import predict_values
from committee.auto.profile import profiles
from committee.auto.search import Interrupts, Search, leaderboard_of
from committee.auto.selection import Selection
from committee.auto.small_tree import SmallTree, small_tree
from committee.base.arrays import Floats
from committee.base.params import check_choice, check_real
from committee.base.sampling import SeedUse, parameter_seed
from committee.base.warn import warn
from committee.base.work import resolve_threads, running_fit
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.evaluation.content_order import row_keys
from committee.evaluation.scored_target import ScoredTarget
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable
from committee.tables.source import Source
from committee.tables.table import read_table

_log = logging.getLogger(__name__)

_LEAST_ROWS = 5
_LEAK_SHARE = 0.05  # of the budget, for columns that give the target away
_KEPT_BYTES = 2**28  # of a search that is kept to go on; a larger one is repeated
_SAFETY, _REST = 1.2, 0.05  # of times measured; seconds of what is not measured
_UNKNOWN = 2.0  # what members learn from all rows takes at most so much longer than it is counted


@dataclass(eq=False)
class OpenSearch:
    """A search with all that it needs to go on.

    Attributes
    ----------
    search : Search
        The search.
    fold_data : FoldData
        What candidates are fitted to.
    fixed : dict
        Fitted attributes that do not depend on the search.
    size : Size
        Of the problem.
    is_sound : bool
        Whether it can go on; not while it runs, and not where it was cut off.
    """

    search: Search
    fold_data: FoldData
    fixed: dict[str, Any]
    size: Size
    is_sound: bool = True

    @property
    def n_bytes(self) -> int:
        """Return about how much memory it holds."""
        size, n_folds = self.size, len(self.fold_data.splits)
        n_begun = sum(run.used > 0 for run in self.search.runs)
        of_run = size.n_rows * (size.n_features + 32 * size.n_trees) * n_folds
        return n_begun * of_run + 8 * size.n_rows * (size.n_features + size.n_columns)


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
    decisions : DecisionRules or None
        How classes are decided for; None for numbers.
    max_latency : float or None
        Parameter of the estimator.
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
    decisions: DecisionRules | None = None
    max_latency: float | None = None

    def run(self) -> dict[str, Any]:
        """Fit; return the fitted attributes."""
        opened = self.open()
        ledger = self.ledger(opened)
        return self.go_on(opened, ledger) | {"_budgets": (ledger.units,)}

    def open(self) -> OpenSearch:
        """Read the rows, and return a search that has not begun."""
        _check_size(self.target)
        source = self.table.opened()
        reader = FeatureReader.of(source)
        features = reader.read(source)
        encoder = MatrixEncoder.of(features)
        n_columns = encoder.n_columns
        n_classes = len(self.target.classes[0]) if self.target.classes else 0
        size = Size(self.target.n_rows, features.n_features, n_columns, n_classes)
        n_threads = resolve_threads(self.n_jobs)
        candidates = chosen_candidates(self.members, list(portfolio(size)), size, n_threads)
        fold_data = self._fold_data(features, encoder)
        self._warn_of_lone_rows()
        self._check_metric(fold_data)
        leaks = self._leaks(reader, features, fold_data, size)
        fixed = {
            "_reader": reader,
            "_encoder": encoder,
            "_seed": self.seed,
            "_fingerprint": rows_fingerprint(features, self.target, self.order),
            "_profiles": profiles(reader.plan.uses, features),
            "columns_": noted(reader.plan.uses, leaks),
            "leaks_": leaks,
            "n_features_in_": self.table.n_features,
        }
        if self.table.names is not None:
            fixed["feature_names_in_"] = np.array(self.table.names, dtype=object)
        if self.target.classes:
            fixed["classes_"] = self.target.classes[0]
        usual = micro(automatic_budget(size.n_rows, size.n_features, "good"))
        search = Search(fold_data, candidates, self.metric, usual, self.name, self.verbose)
        return OpenSearch(search, fold_data, fixed, size)

    def _warn_of_lone_rows(self) -> None:
        """Name classes of one row, which folds cannot hold out."""
        if self.target.codes is None or self.order.times is not None:
            return
        counts = np.bincount(self.target.codes[:, 0])
        lone = self.target.classes[0][counts == 1].tolist()
        if len(lone) == 1:
            warn(
                f"the class {lone[0]!r} has one row, which all models are fitted to: scores do not "
                "count it"
            )
        elif lone:
            warn(
                f"{len(lone)} classes have one row each, such as {lone[0]!r}: all models are "
                "fitted to these rows, and scores do not count them"
            )

    def _check_metric(self, fold_data: FoldData) -> None:
        """Raise unless the metric scores the rows of the folds, before models are fitted."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scores that are not defined
            score = self.metric.score(_constant(self.target), fold_data.scored)
        if np.isnan(score):
            raise ValueError(
                f"scoring: {self.metric.oob_score!r} is not defined for the rows that can be held "
                "out; a class may have too few rows"
            )

    def go_on(self, opened: OpenSearch, ledger: Ledger) -> dict[str, Any]:
        """Search for members, and return the fitted attributes."""
        search, fold_data, interrupts = opened.search, opened.fold_data, Interrupts()

        def rehearse(fold_members: Sequence[FoldMember]) -> float:
            return self._rehearse(fold_members, opened)

        opened.is_sound = False
        found = search.run(ledger, rehearse, interrupts)

        def finish() -> tuple[dict[str, Any], list[FoldMember]]:
            attributes, members = self._selected(found.fold_members, fold_data)
            attributes = opened.fixed | attributes
            return attributes | self._explained(attributes, members, fold_data), members

        attributes, members = interrupts.finish(finish, len(found.fold_members))
        if search.is_done:
            attributes["members_"] = self._on_all_rows(members, search, ledger, interrupts)
        attributes["latency_"] = self._latency(attributes)
        attributes |= {"interrupted_": interrupts.has_come, "budget_": ledger.units}
        attributes["_ending"] = found.reason
        if self.verbose and (self.time_limit is not None or interrupts.has_come):
            seconds = f"{ledger.seconds:.1f} s"
            again = f"budget={ledger.units:.10g} makes the same committee again"
            sys.stderr.write(f"{self.name}: {seconds} in all; {again}\n")
        # Fits that were cut off in the middle cannot go on.
        opened.is_sound = not interrupts.has_come
        attributes["_opened"] = opened if opened.n_bytes <= _KEPT_BYTES else None
        running_fit().end(
            "%d members, chosen from %d of %d models (%s), score %.4g, budget=%s",
            len(attributes["members_"]),
            len(found.fold_members),
            len(search.runs),
            found.reason,
            attributes["score_"].score,
            attributes["budget_"],
        )
        return attributes

    def _on_all_rows(
        self,
        members: Sequence[FoldMember],
        search: Search,
        ledger: Ledger,
        interrupts: Interrupts,
    ) -> list[Any]:
        """Return the members, which learn from all rows what they can as far as the budget goes.

        All else is done: scores and findings are of the models before.
        """
        kept = [fold_member.member for fold_member in members]
        rate = _UNKNOWN * search.seconds / max(search.used, 1)
        ledger.reserve = _REST
        for place, fold_member in enumerate(members):
            cost = fold_member.cost_anew
            if interrupts.has_come or not cost or not ledger.fits(cost, rate * cost):
                continue
            begin = time.monotonic()
            try:
                kept[place] = fold_member.on_all_rows()
            except KeyboardInterrupt:
                interrupts.note(len(members))
                break
            ledger.used += cost
            rate = _SAFETY * (time.monotonic() - begin) / cost
        return kept

    def ledger(self, opened: OpenSearch) -> Ledger:
        """Return what the search may do."""
        check_choice("quality", self.quality, QUALITIES)
        if isinstance(self.budget, str):
            check_choice("budget", self.budget, ("auto",))
            size = opened.size
            units = automatic_budget(size.n_rows, size.n_features, self.quality)
        else:
            units = check_real("budget", self.budget, 0.0, include_low=False)
        most: int | None = micro(units)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, 0.0, include_low=False)
            most = None if isinstance(self.budget, str) else most
        return Ledger(most, self.time_limit, begin=self.begin)

    def _latency(self, fitted: dict[str, Any]) -> float:
        """Return what predictions cost; warn if that is more than allowed."""
        cost = committee_cost(fitted)
        if self.max_latency is not None and cost > self.max_latency:
            warn(
                f"no model that was fitted is as fast as max_latency={self.max_latency:g} asks "
                f"for; the fastest of them needs {cost:.2g} s for 10,000 rows"
            )
        return cost

    def _leaks(
        self, reader: FeatureReader, features: Source, fold_data: FoldData, size: Size
    ) -> tuple[Leak, ...]:
        """Name the columns that give the target away."""
        usual = automatic_budget(size.n_rows, size.n_features, "good")
        limits = (self.budget, self.time_limit)
        known = [float(each) for each in limits if isinstance(each, int | float)]
        units = _LEAK_SHARE * min(known or [usual])
        tests = [test for _, test in fold_data.splits]
        seed = parameter_seed(self.seed, SeedUse.LEAKS)
        search = LeakSearch.of(features, self.target, tests, features.n_features, units, seed)
        with np.errstate(over="ignore", invalid="ignore"):  # huge targets are refused later
            leaks = search.run(reader.plan.uses, units)
        for leak in leaks:
            warn(f"{leak}; leave it out if it is not known before the target is")
        return leaks

    def _fold_data(self, features: Source, encoder: MatrixEncoder) -> FoldData:
        """Return the rows in all forms that members learn from, dealt into folds."""
        target = self.target
        labels = target.classes[0] if target.classes else None

        def make(reads: str) -> TrainingData:
            if reads == TABLE:
                table = native_table(self.table)
            else:
                table = AnyTable(features if reads == FEATURES else encoder.apply(features))
            y = target.table[:, 0]
            return TrainingData(table, y, labels, target.weights, self.n_jobs, self.seed)

        seed = parameter_seed(self.seed, SeedUse.COMMITTEE_FOLDS)
        folds = Splits.of(features, target, self.order, seed)
        return FoldData(make, folds, 0 if labels is None else len(labels))

    def _resamples(self, fold_members: Sequence[FoldMember], fold_data: FoldData) -> Resamples:
        """Return what selects a committee from fold_members, and estimates its score."""
        predicted = np.stack(
            [fold_member.predictions[fold_data.scored] for fold_member in fold_members]
        )
        target = self.target.part(fold_data.scored)
        predictions = MemberPredictions(predicted, target, self.metric.oob_score)
        seed = parameter_seed(self.seed, SeedUse.SCORE_ESTIMATE)
        blocks = (
            None if fold_data.folds.blocks is None else fold_data.folds.blocks[fold_data.scored]
        )
        n_threads = resolve_threads(self.n_jobs)
        places = [
            k
            for k, fold_member in enumerate(fold_members)
            if isinstance(fold_member.candidate, ConstantCandidate)
        ]
        if self.max_latency is not None:
            n_features = fold_data.form(FEATURES).table.n_features
            limit = LatencyLimit.of(fold_members, n_features, self.max_latency)
            limit.costs[places] = np.inf  # what costs nothing would always be the fastest
            return Resamples(
                predictions,
                seed,
                n_threads,
                blocks,
                None,
                self.decisions,
                limit.select,
                is_steady=False,
                is_mean=fold_data.is_mean,
            )
        constant = places[0] if places else None
        own, is_mean = self.decisions, fold_data.is_mean
        return Resamples(predictions, seed, n_threads, blocks, constant, own, is_mean=is_mean)

    def _selected(
        self, fold_members: Sequence[FoldMember], fold_data: FoldData
    ) -> tuple[dict[str, Any], list[FoldMember]]:
        """Return the fitted attributes that depend on the selection of members, and these."""
        resamples = self._resamples(fold_members, fold_data)
        target, combined = resamples.predictions.target, resamples.combined
        more = self._promises(combined, fold_data, resamples.gains)
        if self.decisions is not None:
            more["decision_"] = self.decisions.decide(combined, target)
        board = leaderboard_of(fold_members, resamples.selection.weights, self.metric, fold_data)
        for entry in board.entries:
            _log.debug("%s: score %.4g, %.2f s", entry.name, entry.score, entry.seconds)
        members = [fold_members[place] for place in resamples.selection.chosen]
        attributes = self._members(fold_members, resamples.selection) | {
            "score_": resamples.estimate(),
            "leaderboard_": board,
        }
        return attributes | more, members

    def _promises(self, combined: Floats, fold_data: FoldData, gains: bool) -> dict[str, Any]:
        """Return the rule of intervals or of sets of classes."""
        target = self.target.part(fold_data.scored)
        if target.classes:
            return {"_set_rule": SetRule.of(combined, target)}
        features = fold_data.form(FEATURES).table.opened().take(fold_data.scored, None)
        seed = parameter_seed(self.seed, SeedUse.DIFFICULTY)
        share = 1.0 - GAIN_OF_ERRORS if gains else 1.0
        rule = IntervalRule.of(features, combined[:, 0], target, seed, self.n_jobs, share)
        return {"_interval_rule": rule}

    def _members(self, fold_members: Sequence[FoldMember], selection: Selection) -> dict[str, Any]:
        """Return the fitted attributes that predict."""
        members = [fold_members[place] for place in selection.chosen]
        return {
            "members_": [fold_member.member for fold_member in members],
            "member_names_": [fold_member.candidate.name for fold_member in members],
            "weights_": selection.weights[selection.chosen],
            "_outputs": [fold_member.output for fold_member in members],
            "_reads": [fold_member.candidate.reads for fold_member in members],
            "_temperature": selection.temperature,
        }

    def _rehearse(self, fold_members: Sequence[FoldMember], opened: OpenSearch) -> float:
        """Measure a part of what comes after the search; return the seconds that all will take."""
        fold_data, fixed = opened.fold_data, opened.fixed
        begin = time.monotonic()
        resamples = self._resamples(fold_members, fold_data)
        equal = Selection.calibrated(
            resamples.predictions, np.full(len(fold_members), 1 / len(fold_members))
        )
        equal.combine(resamples.predictions.predicted)
        leaderboard_of(fold_members, equal.weights, self.metric, fold_data)
        once = time.monotonic() - begin
        begin = time.monotonic()
        resamples.draw(0)
        draws = (time.monotonic() - begin) * resamples.n_draws / resamples.n_threads
        fitted = fixed | self._members(fold_members, equal)
        n_features = fold_data.form(FEATURES).table.n_features
        promises = 0.0 if self.target.classes else rule_cost(len(fold_data.scored), n_features)
        promises /= resamples.n_threads
        unseen = self._unseen(fitted, fold_members, fold_data)
        explaining = seconds_to_explain(self.table.opened(), self._uses(fitted), unseen)
        return float(_SAFETY * (once + draws + explaining + promises) + _REST)

    def _explained(
        self, fitted: dict[str, Any], members: Sequence[FoldMember], fold_data: FoldData
    ) -> dict[str, Any]:
        """Return the fitted attributes that explain the committee."""
        unseen, uses = self._unseen(fitted, members, fold_data), self._uses(fitted)
        used = [place for place, use in enumerate(uses) if use != "dropped"]
        source, seed = self.table.opened(), parameter_seed(self.seed, SeedUse.IMPORTANCES)
        importances = measure(source, used, unseen, seed)
        findings = find(source, uses, unseen, importances, seed)
        found = {"importances_": importances, "findings_": findings}
        tree = self._small_tree(fitted, importances, unseen, fold_data)
        return found if tree is None else found | {"small_tree_": tree}

    def _small_tree(
        self,
        fitted: dict[str, Any],
        importances: ColumnImportances,
        unseen: Unseen,
        fold_data: FoldData,
    ) -> SmallTree | None:
        uses = fitted["columns_"]
        places = {use.name: place for place, use in enumerate(uses) if use.use != "text"}
        ranking = [places[name] for name in importances.ranking() if name in places]
        features = fold_data.form(FEATURES).table.opened()
        seed = parameter_seed(self.seed, SeedUse.DISTILLATION)
        parts = [use.parts for use in uses]
        return small_tree(features, parts, ranking, unseen, fitted.get("decision_"), seed)

    @staticmethod
    def _uses(fitted: dict[str, Any]) -> list[str]:
        return [use.use for use in fitted["columns_"]]

    def _unseen(
        self, fitted: dict[str, Any], members: Sequence[FoldMember], fold_data: FoldData
    ) -> Unseen:
        """Return the committee on rows that its models have not seen."""
        scored, parts = fold_data.scored, fold_data.scored_parts

        def predict(rows: Source, part: int) -> Floats:
            models = [fold_member.models[parts[part][0]] for fold_member in members]
            return predict_values(fitted, models, rows)

        predicted = [fold_member.predictions[scored] for fold_member in members]
        combined = Selection(fitted["weights_"], fitted["_temperature"]).combine(
            np.stack(predicted)
        )
        target = self.target.part(scored)
        metric = replace(self.metric, target=target)
        tests = [np.searchsorted(scored, rows) for _, rows in parts]
        decision, rules = fitted.get("decision_"), self.decisions
        decided, shown = None, None
        if decision is not None and rules is not None:
            decided, shown = decision.codes(combined), partial(rules.shown, decision)
        return Unseen(
            target,
            metric,
            scored,
            tests,
            combined,
            predicted,
            predict,
            fold_data.folds.kind,
            decided,
            shown,
            fitted["weights_"],
        )


def rows_fingerprint(features: Any, target: ScoredTarget, order: RowOrder) -> int:
    """Return a number for the rows that a committee is fitted to, in their order."""
    keys = row_keys(*read_table(features))
    number = zlib.crc32(np.ascontiguousarray(target.table).data, zlib.crc32(keys.data))
    for values in (target.weights, order.groups, order.times):
        if values is not None:
            number = zlib.crc32(np.ascontiguousarray(values).data, number)
    return number


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
