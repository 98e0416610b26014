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
from numpy.typing import NDArray
from sklearn.base import clone

from committee import _core
from committee._adaboost_learners import Sample
from committee._adaboost_trace import RoundLog
from committee._boosted_median import weighted_lower_median
from committee._boosted_table import BoostedTable
from committee._oob_target import OobMetric, OobTarget
from committee._progress import Progress
from committee._sampling import member_seed, parameter_seed
from committee._target import read_reals, warn_of_column
from committee._tree_settings import EngineTarget, RowWeights, check_reals
from committee._validation import Stopper

Floats = NDArray[np.float64]

LOSSES = ("linear", "square", "exponential")

# A mean loss so close to one half is rounding: such a learner gets no vote.
_NO_EDGE = 1e-10


@dataclass(eq=False)
class _Committee:
    """The members so far."""

    members: list[Any] = field(default_factory=list)
    log: RoundLog = field(default_factory=RoundLog)

    @property
    def sum_of_weights(self) -> float:
        return float(np.sum(self.log.weight))


class R2Fit(BoostedTable):
    """Everything that a fit looks at, see `BoostedTable`."""

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
        self.sample = Sample(self.n_counted, self.seed) if self.resamples else None
        if self.schema is not None:
            self._prepare_trees()

    def attributes(self) -> dict[str, Any]:
        """Run the rounds; return what is to be set."""
        model = self.model
        progress = Progress(self.name, "rounds", model.n_estimators, int(model.verbose))
        watch = None if self.validation is None else self._watch()
        done = _Committee()
        for number in range(model.n_estimators):
            stops = self._round(number, done, watch)
            progress.show(number + 1)
            if stops:
                break
        n_kept = len(done.members) if watch is None else watch.best
        log = done.log.head(n_kept)
        attributes = self._table_attributes() | {
            "estimators_": self._gathered(done.members[:n_kept], [], None),
            "estimator_weights_": np.array(log.weight),
            "estimator_errors_": np.array(log.error),
            "_log": log,
        }
        if watch is not None:
            attributes["validation_scores_"] = np.array(done.log.validation_score)
        return attributes

    # ---- rounds ----

    def _round(self, number: int, done: _Committee, watch: Watch | None) -> bool:
        """Add a member and weigh rows anew; return whether it was the last."""
        member = self._learn(number)
        losses = self._losses(self._say(member, self.table))
        # Losses are at most one, and so is their mean.
        error = min(float(self.distribution @ losses), 1.0)
        is_useless = error >= 0.5 - _NO_EDGE
        if is_useless and number > 0:
            return True
        weight = self._weight(error, done.sum_of_weights)
        done.members.append(member)
        score, stops = np.nan, False
        if watch is not None:
            score, stops = watch.look(self._say(member, watch.table), weight)
        kept = self.distribution if self.model.keep_weights else None
        done.log.add(kept, error=error, weight=weight, validation_score=score)
        if stops or is_useless or error == 0:
            return True
        exponents = (1 - losses) * (self.model.learning_rate * math.log(error / (1 - error)))
        after = self.distribution * np.exp(exponents - exponents.max())
        self.distribution = after / after.sum()
        return False

    def _weight(self, error: float, sum_before: float) -> float:
        if error == 0:  # one more than all before: the median is what a perfect member says
            return 1.0 + sum_before
        if error >= 0.5 - _NO_EDGE:
            return 1.0
        return float(self.model.learning_rate * (math.log1p(-error) - math.log(error)))

    def _losses(self, said: Floats) -> Floats:
        """Return the loss of each row, in [0, 1]."""
        errors = np.abs(self.y - said)
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
        counted = RowWeights(self.n_rows, self.weights, None)
        self.engine_target = EngineTarget(None, [], reals)
        self.settings = self._tree_settings(self.engine_target, counted)
        self.counts = None if self.weights is None else counted.repetitions

    def _learn(self, number: int) -> Any:
        seed = member_seed(self.seed, number)
        weights = self.distribution
        if self.sample is not None:
            weights = self.sample.draw(weights, number)
        if self.schema is None:
            return self._fit(seed, weights)
        tree = _core.grow_tree(
            self.dataset,
            reals=self.engine_target.reals,
            weights=weights,
            counts=None if self.sample is not None else self.counts,
            settings={**self.settings, "seed": seed},
        )
        alpha = float(self.template.ccp_alpha)
        return tree.prune(alpha) if alpha > 0 else tree

    def _fit(self, seed: int, weights: Floats) -> Any:
        """Fit a regressor of any kind."""
        member = clone(self.template)
        names = sorted(member.get_params())
        wanted = [name for name in names if name.split("__")[-1] == "random_state"]
        member.set_params(**{name: parameter_seed(seed, k) for k, name in enumerate(wanted)})
        rows = np.flatnonzero(weights)
        if self.sample is not None:
            rows = np.repeat(rows, weights[rows].astype(np.intp))
            return member.fit(self.table.take(rows, None), self.y[rows], **self.fit_params)
        own = weights[rows] * self.n_counted
        table = self.table.take(rows, None)
        return member.fit(table, self.y[rows], sample_weight=own, **self.fit_params)

    def _say(self, member: Any, table: Any) -> Floats:
        if self.schema is None:
            return np.asarray(member.predict(table.native), np.float64).reshape(-1)
        said: Floats = member.predict(table, self.n_threads)[:, 0]
        return said

    # ---- rows ----

    def _read_target(self, y: Any, weights: Floats | None) -> OobTarget:
        warn_of_column(y, stacklevel=6)
        return _target_of(y, weights)

    def _read_more(self, y: Any, weights: Floats | None) -> OobTarget:
        return _target_of(y, weights)

    def _watch(self) -> Watch:
        assert self.validation is not None
        table, target = self.validation
        scoring = True if self.model.scoring is None else self.model.scoring
        stopper = Stopper(self.model.n_iter_no_change, float(self.model.tol))
        return Watch(table, target, scoring, stopper)


class Watch:
    """Validation rows: what members say of them, the score after each round, and when to stop.

    Parameters
    ----------
    table : _core.Table or AnyTable
        The rows.
    target : OobTarget
        Their targets.
    scoring : True, str or callable
        The score; True is R2.
    stopper : Stopper
        Remembers the best round.
    """

    def __init__(self, table: Any, target: OobTarget, scoring: Any, stopper: Stopper) -> None:
        self.table = table
        self._metric = OobMetric(target, scoring, "scoring")
        self._rows = np.flatnonzero(target.counted)
        self._stopper = stopper
        self._said: list[Floats] = []
        self._weights: list[float] = []

    @property
    def best(self) -> int:
        """Number of rounds with the best score, the first of equals."""
        return self._stopper.best

    def look(self, said: Floats, weight: float) -> tuple[float, bool]:
        """Take what one more member says; return the score, and whether to stop."""
        self._said.append(said)
        self._weights.append(weight)
        values = weighted_lower_median(np.column_stack(self._said), np.array(self._weights))
        score = self._metric.score(values[:, np.newaxis], self._rows)
        if np.isnan(score):
            raise ValueError(
                f"scoring gave NaN for the validation rows in round {len(self._said)}; give an "
                "eval_set of several rows, or leave n_iter_no_change=None"
            )
        return score, self._stopper.add(-score)


def _target_of(y: Any, weights: Floats | None) -> OobTarget:
    values, _ = read_reals(y)
    if values.shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, got {values.shape[1]} columns instead: "
            "sklearn.multioutput.MultiOutputRegressor boosts each of them"
        )
    return OobTarget(None, [], values, weights)
