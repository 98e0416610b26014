"""Intervals for numbers with a promised coverage.

Errors on unseen rows, each divided by how hard its row is, have limits that a new error exceeds
with a known probability (split-conformal prediction with out-of-fold predictions in the place of a
calibration set). How hard a row is, is what a small forest expects its absolute error to be: it is
fitted to the out-of-fold errors and predicts them out of bag. Wrong expectations make
intervals wider than they need to be, and take nothing from the coverage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from committee.auto.budget import forest_cost
from committee.base.arrays import Floats
from committee.evaluation.error_sketch import ErrorSketch
from committee.evaluation.scored_target import ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import NOTHING, Part, instance, real
from committee.forests.random_forest import RandomForestRegressor
from committee.tables.column import Column
from committee.tables.source import Columns, Source

_N_TREES = 120
_LEAST_ROWS = 40  # below, all rows are equally hard
_MOST_DRAWN = 20_000  # rows of each tree
_FLOOR = 0.1  # of the mean absolute error: no row is easier


@register("auto.Difficulty")
@dataclass(frozen=True, eq=False)
class Difficulty:
    """How large an error to expect in a row.

    Attributes
    ----------
    forest : RandomForestRegressor
        Expects absolute errors; it sees the features and, last, the prediction.
    floor : float
        Is added, so that no row is taken for certain.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "forest": instance(RandomForestRegressor),
        "floor": real(5e-324),
    }

    forest: Any
    floor: float

    def of(self, features: Source, predicted: Floats) -> Floats:
        """Return the error to expect in each row."""
        return np.asarray(self.forest.predict(with_column(features, predicted)) + self.floor)

    def _validate_loaded(self) -> None:
        outputs = getattr(self.forest, "n_outputs_", 1)
        if not hasattr(self.forest, "schema_") or outputs != 1:
            raise ValueError("the forest that expects errors is not fitted to one output")


@register("auto.IntervalRule")
@dataclass(frozen=True, eq=False)
class IntervalRule:
    """How far the truth may lie from a prediction.

    Attributes
    ----------
    errors : ErrorSketch
        Truth minus prediction on unseen rows, divided by the difficulty of the row.
    difficulty : Difficulty or None
        None where all rows are taken to be equally hard.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "errors": instance(ErrorSketch),
        "difficulty": instance(Difficulty) | NOTHING,
    }

    errors: ErrorSketch
    difficulty: Difficulty | None

    @classmethod
    def of(
        cls,
        features: Source,
        predicted: Floats,
        target: ScoredTarget,
        seed: int,
        n_jobs: int | None,
        share: float = 1.0,
    ) -> IntervalRule:
        """Learn from predictions on unseen rows.

        Parameters
        ----------
        features : Source
            What models see of the training rows.
        predicted : ndarray of float64, shape (n_rows,)
            By models that have not seen the row.
        target : ScoredTarget
            The truth, and the weights.
        seed : int
            Of the forest.
        n_jobs : int or None
            Its threads.
        share : float, default=1.0
            How large errors on new rows are, compared with these.
        """
        errors = share * (target.table[:, 0] - predicted)
        sizes = np.abs(errors)
        mean = float(np.average(sizes, weights=target.weights))
        if len(errors) < _LEAST_ROWS or mean < np.finfo(float).tiny:
            return cls(ErrorSketch.of(errors, target.weights), None)
        n_rows = len(errors)
        forest = RandomForestRegressor(
            _N_TREES,
            max_features=0.5,
            min_samples_leaf=max(5, n_rows // 50),
            max_samples=_MOST_DRAWN if n_rows > _MOST_DRAWN else None,
            oob_score=True,
            random_state=seed,
            n_jobs=n_jobs,
        )
        forest.fit(with_column(features, predicted), sizes, target.weights)
        expected = np.asarray(forest.oob_prediction_, np.float64).reshape(-1)
        expected = np.where(np.isnan(expected), mean, expected)  # a row that all trees drew
        for name in [name for name in vars(forest) if name[:4] == "oob_" and name[-1] == "_"]:
            delattr(forest, name)  # they are about training rows
        difficulty = Difficulty(forest, _FLOOR * mean)
        scaled = errors / (expected + difficulty.floor)
        return cls(ErrorSketch.of(scaled, target.weights), difficulty)

    def bounds(self, features: Source, predicted: Floats, coverage: float) -> Floats:
        """Return the lower and the upper bound of each row, shape (n_rows, 2)."""
        low, high = self.errors.limits(coverage)
        width = np.ones(len(predicted))
        if self.difficulty is not None:
            width = self.difficulty.of(features, predicted)
        return np.column_stack([predicted + low * width, predicted + high * width])

    def check_loaded(self, n_features: int) -> None:
        """Raise ValueError unless a loaded rule reads so many features."""
        if self.errors.n_groups != 1:
            raise ValueError("errors of numbers have one group")
        known = self.difficulty
        if known is not None and known.forest.n_features_in_ != n_features + 1:
            raise ValueError("the forest that expects errors has other features")


def rule_cost(n_rows: int, n_features: int) -> float:
    """Return the units, about seconds of a core, that learning a rule costs."""
    return forest_cost(min(n_rows, _MOST_DRAWN), 0.5 * (n_features + 1), _N_TREES)


def with_column(features: Source, predicted: Floats) -> Columns:
    """Return features with a column of predictions after them."""
    names = features.names
    last = None if names is None else (*names, _free_name(names))

    def read(position: int, where: str) -> Column:
        if position == features.n_features:
            return Column("number", np.ascontiguousarray(predicted, np.float64))
        return features.column(position)

    return Columns(features.n_rows, features.n_features + 1, last, read)


def _free_name(names: tuple[str, ...]) -> str:
    name = "prediction"
    while name in names:
        name += "'"
    return name
