"""Fitting a stack without some of the rows, to see whether it thinks of itself what they say.

These rows, the *outer* ones, are seen by nobody: neither by members, nor by the meta-learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import PredefinedSplit

from committee.base.params import is_real
from committee.base.sampling import SeedUse, number_groups, parameter_seed
from committee.combining.level_one_plan import LevelOnePlan, Rows, is_forward
from committee.combining.stacking.fitted_stack import FittedStack, fit_final, placed
from committee.combining.stacking.leakage import LeakReport, compare, twin_share
from committee.evaluation.early_stopping import held_out_rows
from committee.members.named_members import Named
from committee.members.team import Floats, Task, Team
from committee.tables.native_table import AnyTable


class LeakCheck:
    """A stack that is fitted to the inner rows, and asked about the outer ones.

    Parameters
    ----------
    model : StackingModel
        The stack, whose parameters have been looked at.
    team : Team
        All rows.
    lists : list of list of (name, estimator)
        The members of each layer.
    final : estimator
        The meta-learner, not fitted.
    plan : LevelOnePlan
        The plan of all rows.
    groups : array-like or None
        Rows that stay together.
    seed : int
        Decides which rows are the outer ones.
    share : float
        How many of the rows these are.
    """

    def __init__(
        self,
        model: Any,
        team: Team,
        lists: list[Named],
        final: Any,
        plan: LevelOnePlan,
        groups: Any,
        seed: int,
        share: float,
    ) -> None:
        self._model, self._team, self._lists, self._final = model, team, lists, final
        self._seed = seed
        self._n_classes = 0 if team.labels is None else len(team.labels)
        self._outer = self._outer_rows(plan, groups, share)
        weights = team.weights
        present = np.arange(len(team.y)) if weights is None else np.flatnonzero(weights)
        self._inner = np.setdiff1d(present, self._outer)
        self._part = team.part(self._inner, AnyTable(team.table.take(self._inner, None)))
        self._groups = None if groups is None else np.asarray(groups)[self._inner]
        self._plan = self._inner_plan(plan)

    def _outer_rows(self, plan: LevelOnePlan, groups: Any, share: float) -> Rows:
        """Draw the outer rows, or take the last ones where splits go forward in time."""
        team = self._team
        # Shares of rows are drawn, and of a few rows these may happen to be the last.
        if not is_real(self._model.cv) and is_forward(plan):
            outer = self._last_rows(plan, groups, share)
            if len(outer):
                return outer
        return held_out_rows(
            len(team.y),
            share,
            np.random.default_rng(parameter_seed(self._seed, SeedUse.OUTER)),
            weights=team.weights,
            classes=None if team.labels is None else team.y.astype(np.int32),
            groups=groups,
        )

    def _last_rows(self, plan: LevelOnePlan, groups: Any, share: float) -> Rows:
        """Return the last rows, without those whose group began before."""
        n_rows, weights = len(self._team.y), self._team.weights
        rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights)
        n_last = max(1, round(share * len(rows)))
        n_free = len(rows)
        if self._has_given_splits:  # some of the tested rows have to stay
            first = min(int(test.min()) for _, test in plan.layers[0])
            n_free = int((rows >= first).sum())
        if n_last >= n_free:
            n_last = min(max(1, round(share * n_free)), n_free - 1)
        before, last = np.split(rows, [len(rows) - n_last])
        if groups is None:
            return last
        numbers = number_groups(groups, n_rows)[1]
        return last[~np.isin(numbers[last], numbers[before])]

    @property
    def _has_given_splits(self) -> bool:
        """Whether `cv` tells of these very rows; others have no splits of it."""
        cv = self._model.cv
        return isinstance(cv, PredefinedSplit) or not (
            cv is None or isinstance(cv, str | int | float) or hasattr(cv, "split")
        )

    def _inner_plan(self, plan: LevelOnePlan) -> LevelOnePlan:
        """Return the given splits without the outer rows, or new ones."""
        if not self._has_given_splits:
            made: LevelOnePlan = self._model._plan(
                self._part, self._groups, self._seed, len(self._lists)
            )
            return made
        place = np.full(len(self._team.y), -1)
        place[self._inner] = np.arange(len(self._inner))
        return LevelOnePlan(plan.source, [placed(splits, place) for splits in plan.layers])

    @cached_property
    def _outer_table(self) -> AnyTable:
        return AnyTable(self._team.table.take(self._outer, None))

    def report(self) -> LeakReport:
        """Compare what level-one data promise with what the outer rows say."""
        model, team = self._model, self._team
        stack = FittedStack(model, self._part, self._lists, self._plan, clone(self._final))
        found = self._answers(model, stack)
        truth = team.y[self._outer]
        weights = None if team.weights is None else team.weights[self._outer]
        seen = None
        if self._plan.source == "prefit":
            # Fitted members may have seen all rows. Copies of them that have not seen the outer
            # rows tell how good they can be there, copies that have how good cheating would be.
            promised, known, promised_weights = found, truth, weights
            found = self._copies_found()
            seen = [model._losses(each, truth) for each in self._copies_seen()]
        else:
            promised, known = [*stack.predictions, stack.out_of_fold_final()], stack.y
            promised_weights = stack.weights
        alike = [model._comparable(each) for each in found[:-1]]
        return compare(
            [name for name, _ in self._lists[-1]],
            [model._losses(each, known) for each in promised],
            [model._losses(each, truth) for each in found],
            model._losses(_mean(alike), truth),
            (promised_weights, weights),
            twin_share(team.table, self._plan.layers[0], self._inner),
            seen,
        )

    def _answers(self, model: Any, stack: FittedStack) -> list[Floats]:
        """Return what the last members and the meta-learner say of the outer rows."""
        features, predictions = model._through(self._outer_table, stack.layers)
        return [*predictions, model._final_values(stack.final, features, self._n_classes)]

    def _copies_found(self) -> list[Floats]:
        """Fit copies of fitted members to the inner rows; return what they say of the outer."""
        model = clone(self._model).set_params(cv=None)
        plan = model._plan(self._part, self._groups, self._seed, len(self._lists))
        bare = [[(name, _thawed(each)) for name, each in pairs] for pairs in self._lists]
        return self._answers(model, FittedStack(model, self._part, bare, plan, clone(self._final)))

    def _copies_seen(self) -> list[Floats]:
        """Fit copies of fitted members to all rows; return what they say of the outer ones."""
        model, team = clone(self._model).set_params(cv=None), self._team
        shown, features = team, None
        predictions: list[Floats] = []
        for pairs in self._lists:
            if features is not None:
                shown = team.part(np.arange(len(team.y)), AnyTable(features))
            outputs = model._outputs_of(team, pairs)
            tasks = [Task(name, k, _thawed(each)) for k, (name, each) in enumerate(pairs)]
            members = [member for member, _ in shown.run(tasks, model._progress(len(tasks)))]
            predictions = [shown.ask(m, v, None) for m, v in zip(members, outputs, strict=True)]
            features = model._features(predictions, outputs, team.table)
        table, inner = AnyTable(features), self._inner
        meta = fit_final(self._final, team, table.take(inner, None), inner)
        answers = model._final_values(meta, table.take(self._outer, None), self._n_classes)
        return [*(each[self._outer] for each in predictions), answers]


def _thawed(estimator: Any) -> Any:
    """Return a copy that can be fitted anew."""
    return clone(estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator)


def _mean(predictions: Sequence[Floats]) -> Floats:
    total: Floats = sum(predictions[1:], start=predictions[0])
    return np.asarray(total / len(predictions))
