"""What differs between nets for classes and nets for numbers in a fit: how targets are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from committee.base.arrays import Floats
from committee.evaluation.scored_target import ScoredTarget
from committee.nets.training_rows import TrainingRows
from committee.tables.target import read_classes, read_known_classes, read_reals, warn_of_column


class NetTask(ABC):
    """A kind of target."""

    @abstractmethod
    def read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the target of one output."""

    @abstractmethod
    def read_eval_target(self, y: Any, weights: Floats | None, known: ScoredTarget) -> ScoredTarget:
        """Read the target of rows to measure on."""

    @abstractmethod
    def attributes(self, rows: TrainingRows) -> dict[str, Any]:
        """Return the fitted attributes that describe the target."""


class ClassTask(NetTask):
    """Classes."""

    def read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read labels."""
        warn_of_column(y)
        labels = read_classes(y)
        return _of_one_output(ScoredTarget(labels.codes, labels.classes, None, weights))

    def read_eval_target(self, y: Any, weights: Floats | None, known: ScoredTarget) -> ScoredTarget:
        """Read labels, which must be those of the training rows."""
        codes = read_known_classes(y, known.classes[0])
        return ScoredTarget(codes, known.classes, None, weights)

    def attributes(self, rows: TrainingRows) -> dict[str, Any]:
        """Return the classes."""
        labels = rows.target.classes[0]
        return {"classes_": labels, "n_classes_": len(labels)}


class NumberTask(NetTask):
    """Numbers."""

    def read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read finite numbers."""
        warn_of_column(y)
        values, _ = read_reals(y)
        return _of_one_output(ScoredTarget(None, [], values, weights))

    def read_eval_target(self, y: Any, weights: Floats | None, known: ScoredTarget) -> ScoredTarget:
        """Read finite numbers."""
        values, _ = read_reals(y)
        if values.shape[1] > 1:
            raise ValueError(f"eval_set has {values.shape[1]} outputs, but y has one")
        return ScoredTarget(None, [], values, weights)

    def attributes(self, rows: TrainingRows) -> dict[str, Any]:
        """Return the units of the target."""
        assert rows.scale is not None
        return {"_scale": rows.scale}


def _of_one_output(target: ScoredTarget) -> ScoredTarget:
    if target.n_outputs > 1:
        raise ValueError(
            f"y should be a 1d array, got {target.n_outputs} columns instead: "
            "sklearn.multioutput fits a net to each"
        )
    return target
