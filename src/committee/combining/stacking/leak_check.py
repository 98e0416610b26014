"""Fitting a stack without some of the rows, to compare its level-one losses with those on them.

Neither members nor the meta-learner are fitted to these rows, the *outer* ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold

from committee.base.arrays import Floats, Rows
from committee.base.params import is_real
from committee.base.sampling import SeedUse, number_groups, parameter_seed
from committee.combining.level_one import LevelOnePlan, PlanRows, layer_members, plan_level_one
from committee.combining.splits import placed
from committee.combining.stacking.leakage import LeakReport, compare, twin_share
from committee.combining.stacking.stacking_model import (
    FittedStack,
    StackRules,
    fit_final,
)
from committee.evaluation.early_stopping import held_out_rows
from committee.members.training import Task, TrainingData
from committee.tables.native_table import AnyTable


class LeakCheck:
    """A stack that is fitted to the inner rows and predicts the outer ones.

    Parameters
    ----------
    rules : StackRules
        How the stack is fitted.
    data : TrainingData
        All rows.
    plan : LevelOnePlan
        The plan of all rows.
    groups : array-like or None
        Rows that stay together.
    seed : int
        Decides which rows are the outer ones.
    share : float
        Share of the rows that these are.
    """

    def __init__(
        self,
        rules: StackRules,
        data: TrainingData,
        plan: LevelOnePlan,
        groups: Any,
        seed: int,
        share: float,
    ) -> None:
        self._rules, self._data, self._seed = rules, data, seed
        self._n_classes = 0 if data.labels is None else len(data.labels)
        self._outer = self._outer_rows(plan, groups, share)
        weights = data.weights
        present = np.arange(len(data.y)) if weights is None else np.flatnonzero(weights)
        self._inner = np.setdiff1d(present, self._outer)
        self._part = data.part(self._inner, data.table.part(self._inner))
        self._groups = None if groups is None else np.asarray(groups)[self._inner]
        self._plan = self._inner_plan(plan)

    def _outer_rows(self, plan: LevelOnePlan, groups: Any, share: float) -> Rows:
        """Draw the outer rows, or take the last ones where splits go forward in time."""
        data = self._data
        # Shares of rows are drawn, and of a few rows these may happen to be the last.
        if not is_real(self._rules.cv) and plan.is_forward:
            outer = self._last_rows(plan, groups, share)
            if len(outer):
                return outer
        return held_out_rows(
            len(data.y),
            share,
            np.random.default_rng(parameter_seed(self._seed, SeedUse.OUTER)),
            weights=data.weights,
            classes=None if data.labels is None else data.y.astype(np.int32),
            groups=groups,
        )

    def _last_rows(self, plan: LevelOnePlan, groups: Any, share: float) -> Rows:
        """Return the last rows, without those whose group began before."""
        n_rows, weights = len(self._data.y), self._data.weights
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
        """Whether `cv` names rows of this table; it cannot split others."""
        cv = self._rules.cv
        return isinstance(cv, PredefinedSplit) or not (
            cv is None or isinstance(cv, str | int | float) or hasattr(cv, "split")
        )

    def _inner_plan(self, plan: LevelOnePlan) -> LevelOnePlan:
        """Return the given splits without the outer rows, or new ones."""
        if not self._has_given_splits:
            return self._new_plan(self._rules)
        place = np.full(len(self._data.y), -1)
        place[self._inner] = np.arange(len(self._inner))
        return LevelOnePlan(plan.source, [placed(splits, place) for splits in plan.layers])

    def _new_plan(self, rules: StackRules) -> LevelOnePlan:
        rows = PlanRows.of(self._part, self._groups, self._seed)
        return plan_level_one(rules.cv, rows, len(rules.lists))

    @cached_property
    def _outer_table(self) -> AnyTable:
        return self._data.table.part(self._outer)

    def report(self) -> LeakReport:
        """Compare losses in the level-one data with losses on the outer rows."""
        rules, data = self._rules, self._data
        stack = FittedStack(rules, self._part, self._plan)
        found = self._predicted(rules, stack)
        truth = data.y[self._outer]
        weights = None if data.weights is None else data.weights[self._outer]
        seen = None
        if self._plan.source == "prefit":
            # Fitted members may have seen all rows. Copies of them that have not seen the outer
            # rows show how good they can be there, copies that have how good cheating would be.
            promised, known, promised_weights = found, truth, weights
            found = self._copies_found()
            seen = [rules.losses(each, truth) for each in self._copies_seen()]
        else:
            promised, known = [*stack.predictions, self._out_of_fold_final(stack)], stack.y
            promised_weights = stack.weights
        alike = [rules.comparable(each) for each in found[:-1]]
        return compare(
            [name for name, _ in rules.lists[-1]],
            [rules.losses(each, known) for each in promised],
            [rules.losses(each, truth) for each in found],
            rules.losses(_mean(alike), truth),
            (promised_weights, weights),
            twin_share(data.table, self._plan.layers[0], self._inner),
            seen,
        )

    def _predicted(self, rules: StackRules, stack: FittedStack) -> list[Floats]:
        """Return the predictions of the last members and of the meta-learner on the outer rows."""
        predictions, features = stack.outputs_of(rules, self._outer_table)
        return [*predictions, rules.final_values(stack.final, features, self._n_classes)]

    def _out_of_fold_final(self, stack: FittedStack) -> NDArray[Any]:
        """Return predictions of meta-learners that were not fitted to a row's level-one data."""
        table, y = AnyTable(stack.level_one), stack.y
        if len(y) < 2:
            raise ValueError(
                "leak_check needs two rows with level-one data or more; got 1 after rows were kept "
                "apart. Give a cv that tests more rows"
            )
        parts = []
        folds = _folds(y, is_classifier=self._n_classes > 0)
        for train, test in folds:
            features = table.take(train, None)
            final = fit_final(self._rules, self._part, features, stack.rows[train])
            outside = table.take(test, None)
            parts.append(self._rules.final_values(final, outside, self._n_classes))
        found = np.zeros((len(y), parts[0].shape[1]))
        for (_, test), values in zip(folds, parts, strict=True):
            found[test] = values
        return found

    @cached_property
    def _copy_rules(self) -> StackRules:
        """Rules of a stack whose members are fitted anew, in place of fitted ones."""
        lists = [[(name, _thawed(each)) for name, each in pairs] for pairs in self._rules.lists]
        outputs = replace(self._rules.outputs, is_prefit=False)
        return replace(self._rules, lists=lists, cv=None, outputs=outputs)

    def _copies_found(self) -> list[Floats]:
        """Fit copies of fitted members to the inner rows; return predictions of the outer ones."""
        rules = self._copy_rules
        return self._predicted(rules, FittedStack(rules, self._part, self._new_plan(rules)))

    def _copies_seen(self) -> list[Floats]:
        """Fit copies of fitted members to all rows; return predictions of the outer ones."""
        rules, data = self._copy_rules, self._data
        shown, features = data, None
        predictions: list[Floats] = []
        for pairs in rules.lists:
            if features is not None:
                shown = data.part(np.arange(len(data.y)), AnyTable(features))
            members = layer_members(pairs, rules.outputs, data)
            outputs = [member.output for member in members]
            tasks = [
                Task(shown.template(member.name, k, member.estimator))
                for k, member in enumerate(members)
            ]
            fitted = [estimator for estimator, _ in shown.run(tasks, rules.progress(len(tasks)))]
            predictions = [shown.predict(m, o) for m, o in zip(fitted, outputs, strict=True)]
            features = rules.features(predictions, outputs, data.table)
        table, inner = AnyTable(features), self._inner
        meta = fit_final(rules, data, table.take(inner, None), inner)
        last = rules.final_values(meta, table.take(self._outer, None), self._n_classes)
        return [*(each[self._outer] for each in predictions), last]


def _folds(y: NDArray[Any], *, is_classifier: bool) -> list[tuple[Rows, Rows]]:
    n_folds = min(5, len(y))
    if is_classifier:  # as long as a class can be in every fold, each is
        n_folds = min(n_folds, max(2, int(np.bincount(y).max())))
    splitter = StratifiedKFold if is_classifier and np.bincount(y).max() > 1 else KFold
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter(n_folds).split(np.zeros((len(y), 1)), y))


def _thawed(estimator: Any) -> Any:
    """Return a copy that can be fitted anew."""
    return clone(estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator)


def _mean(predictions: Sequence[Floats]) -> Floats:
    total: Floats = sum(predictions[1:], start=predictions[0])
    return np.asarray(total / len(predictions))
