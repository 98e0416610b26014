"""Any regressor as a weak learner: its members in a round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.sampling import member_seed, seeded_clone
from committee.boosting.defaults import BoostingChoices
from committee.boosting.task import BoostingParameters
from committee.boosting.training_data import RoundRows, TrainingRows, TrainingTable
from committee.boosting.tree_learner import largest_step
from committee.losses.objective import Objective
from committee.members.meta_estimator import takes_weights
from committee.tables.native_table import AnyTable


@dataclass(frozen=True, eq=False)
class AnyLearner:
    """Fits a regressor to the negative gradients: the residuals, for squared error.

    Parameters
    ----------
    estimator : regressor
        The template.
    table : AnyTable
        The training table.
    learning_rate : float
        Factor of the predictions of members.
    seed : int
        Seed of the ensemble.
    weighs : bool
        Whether members take the weights.
    rows : ndarray of int or None
        Rows to learn from, without those held out; None: all.
    """

    estimator: Any
    table: AnyTable
    learning_rate: float
    seed: int
    weighs: bool
    rows: NDArray[np.intp] | None = None

    @classmethod
    def of(
        cls,
        params: BoostingParameters,
        choices: BoostingChoices,
        table: TrainingTable,
        rows: TrainingRows,
        seed: int,
    ) -> AnyLearner:
        """Return a learner with copies of the given estimator, which must take weights if any."""
        weighs = takes_weights(params.estimator)
        if rows.has_weights and not weighs:
            raise ValueError(
                "estimator must take sample_weight to boost with weights; "
                f"{params.estimator!r} does not"
            )
        rate = choices.learning_rate
        return cls(params.estimator, table.table, rate, seed, weighs, rows.learned)

    def fit(
        self,
        objective: Objective,
        scores: Floats,
        number: int,
        sample: RoundRows | None,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[list[Any], float]:
        """Fit the members of round `number`, and add their steps to the scores.

        Return the members and a bound of what the round has added to any score.
        """
        pairs = objective.gradients(scores)
        rows = self.rows if sample is None else np.flatnonzero(sample.mask)
        table = self.table.take(rows, None)
        chosen = slice(None) if rows is None else rows
        options = {}
        weights = objective.weights
        if sample is not None and sample.weights is not None:
            weights = sample.weights
        if self.weighs and weights is not None:
            options["sample_weight"] = weights[chosen]
        members, longest = [], 0.0
        for column, (gradient, _) in enumerate(pairs):
            index = number * len(pairs) + column
            member = seeded_clone(self.estimator, member_seed(self.seed, index))
            member.fit(table, -gradient[chosen], **options)
            predicted = self.steps(member, self.table.native)
            scores[:, column] += predicted
            members.append(member)
            longest = max(longest, largest_step(predicted))
        return members, longest

    def steps(self, member: Any, table: Any) -> Floats:
        """Return what a member adds to the scores of the rows of a table."""
        values = np.asarray(member.predict(table), np.float64)
        return self.learning_rate * values.reshape(len(values))
