r"""One fit of AdaBoost.R2: from a table to fitted attributes.

Drucker's rounds (1997): a learner is fitted to rows drawn by their weights (or weighted); the
errors of all rows, divided by the largest, are their losses; with the weighted mean loss e, a
learner has the weight log((1 - e) / e), and weights are multiplied by
:math:`(e / (1 - e))^{1 - loss}`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from committee import _core
from committee.adaboost.fit_data import FitData
from committee.adaboost.median import RunningMedian
from committee.adaboost.trace import RoundLog
from committee.adaboost.validation import ValidationRows
from committee.adaboost.vote_rule import NO_EDGE, decisive_weight
from committee.base.arrays import Floats
from committee.base.sampling import member_seed
from committee.base.work import Progress, running_fit
from committee.evaluation.scored_target import ScoredTarget
from committee.tables.target import read_reals, warn_of_column
from committee.trees.engine_settings import EngineTarget, check_reals

LOSSES = ("linear", "square", "exponential")


@dataclass(eq=False)
class _Members:
    """The members so far, and why there are no more, in words."""

    members: list[Any] = field(default_factory=list)
    log: RoundLog = field(default_factory=RoundLog)
    ending: str = "as given"

    @property
    def sum_of_weights(self) -> float:
        return float(np.sum(self.log.weight))


class R2Fit(FitData):
    """One fit of AdaBoost.R2, see `FitData`."""

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: Any,
        fit_params: Mapping[str, Any],
    ) -> None:
        super().__init__(model, X, y, sample_weight, eval_set, fit_params)
        assert self.target.reals is not None
        self.y = np.ascontiguousarray(self.target.reals[:, 0])
        own = np.ones(self.n_rows) if self.weights is None else self.weights
        self.distribution: Floats = own / own.max()
        self.distribution /= self.distribution.sum()
        self.sample = self._sample(self.weights)
        if self.schema is not None:
            self._prepare_trees()

    def run(self) -> dict[str, Any]:
        """Run the rounds; return the fitted attributes."""
        model = self.model
        progress = Progress(self.name, "rounds", model.n_estimators, int(model.verbose))
        held_out = None if self.validation is None else ValidationMedians(self)
        done = _Members()
        for number in range(model.n_estimators):
            stops = self._round(number, done, held_out)
            progress.show(number + 1)
            if stops:
                break
        n_kept = len(done.members) if held_out is None else held_out.best
        running_fit().end("%d of %d rounds: %s", n_kept, len(done.members), done.ending)
        log = done.log.head(n_kept)
        attributes = self._table_attributes() | {
            "estimators_": self._gathered(done.members[:n_kept], [], None),
            "estimator_weights_": np.array(log.weight),
            "estimator_errors_": np.array(log.error),
            "_log": log,
        }
        if held_out is not None:
            attributes["validation_scores_"] = np.array(done.log.validation_score)
        return attributes

    # ---- rounds ----

    def _round(self, number: int, done: _Members, held_out: ValidationMedians | None) -> bool:
        """Add a member and update the weights of rows; return whether it was the last."""
        member = self._fit_member(number)
        losses = self._losses(self._predict(member, self.table))
        # Losses are at most one, and so is their mean.
        error = min(float((self.distribution * losses).sum()), 1.0)
        is_useless = error >= 0.5 - NO_EDGE
        if is_useless:
            done.ending = f"the learner of round {number + 1} was no better than chance"
        if is_useless and number > 0:
            return True
        weight = self._weight(error, done.sum_of_weights)
        done.members.append(member)
        score, stops = np.nan, False
        if held_out is not None:
            score, stops = held_out.validate(self._predict(member, held_out.table), weight)
        kept = self.distribution if self.model.keep_weights else None
        done.log.add(kept, error=error, weight=weight, validation_score=score)
        if stops or is_useless or error == 0:
            if error == 0:
                done.ending = "the last learner makes no error"
            elif stops:
                done.ending = "no better score of held-out rows since"
            return True
        exponents = (1 - losses) * (self.model.learning_rate * math.log(error / (1 - error)))
        after = self.distribution * np.exp(exponents - exponents.max())
        self.distribution = after / after.sum()
        return False

    def _weight(self, error: float, sum_before: float) -> float:
        if error == 0:  # the median is the prediction of a perfect member
            return decisive_weight(sum_before)
        if error >= 0.5 - NO_EDGE:
            return 1.0
        return float(self.model.learning_rate * (math.log1p(-error) - math.log(error)))

    def _losses(self, predicted: Floats) -> Floats:
        """Return the loss of each row, in [0, 1]."""
        errors = np.abs(self.y - predicted)
        largest = float(errors[self.distribution > 0].max())
        if largest == 0:
            return np.zeros(len(errors))
        losses = np.minimum(errors / largest, 1.0)
        if self.model.loss == "square":
            losses **= 2
        elif self.model.loss == "exponential":
            losses = 1 - np.exp(-losses)
        return losses

    # ---- learners ----

    def _prepare_trees(self) -> None:
        reals = self.y[:, np.newaxis]
        check_reals(self.template.criterion, reals, self.weights)
        self.engine_target = EngineTarget(None, [], reals)
        self.settings = self._tree_settings(self.engine_target, self.counted)
        self.counts = None if self.weights is None else self.counted.repetitions

    def _fit_member(self, number: int) -> Any:
        weights = self.distribution
        if self.schema is None:
            return self._fitter(self.y, self.counted, self.sample).fit(weights, number)
        if self.sample is not None:
            weights = self.sample.draw(weights, number)
        tree = _core.grow_tree(
            self.dataset,
            reals=self.engine_target.reals,
            weights=weights,
            counts=None if self.sample is not None else self.counts,
            settings={**self.settings, "seed": member_seed(self.seed, number)},
        )
        alpha = float(self.template.ccp_alpha)
        return tree.prune(alpha) if alpha > 0 else tree

    def _predict(self, member: Any, table: Any) -> Floats:
        if self.schema is None:
            return np.asarray(member.predict(table.native), np.float64).reshape(-1)
        predicted: Floats = member.predict(table, self.n_threads)[:, 0]
        return predicted

    # ---- rows ----

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        warn_of_column(y)
        return _target_of(y, weights)

    def _read_more(self, y: Any, weights: Floats | None) -> ScoredTarget:
        return _target_of(y, weights)


class ValidationMedians(ValidationRows):
    """Validation rows of numbers, and the predictions of members for them."""

    def __init__(self, fit: R2Fit) -> None:
        assert fit.validation is not None
        super().__init__(fit.model, *fit.validation)
        self._medians = RunningMedian(self.target.n_rows)

    def validate(self, predicted: Floats, weight: float) -> tuple[float, bool]:
        """Add the predictions of one more member; return the score, and whether to stop."""
        self._medians.add(predicted, weight)
        return self.take(self._medians.medians()[:, np.newaxis], self._medians.n_members)


def _target_of(y: Any, weights: Floats | None) -> ScoredTarget:
    values, _ = read_reals(y)
    if values.shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, got {values.shape[1]} columns instead: "
            "sklearn.multioutput.MultiOutputRegressor boosts each of them"
        )
    return ScoredTarget(None, [], values, weights)
