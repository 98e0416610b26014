"""Sets of classes that hold the true class with a promised probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.evaluation.error_sketch import ErrorSketch
from committee.evaluation.scored_target import ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import Part, instance

_SLACK = 1e-12  # a score that equals the limit but for rounding is within it


@register("auto.SetRule")
@dataclass(frozen=True, eq=False)
class SetRule:
    """How improbable the true class can be.

    Attributes
    ----------
    errors : ErrorSketch
        One minus the probability of the true class, on unseen rows of all classes together.
    errors_by_class : ErrorSketch
        The same with a group for each true class.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "errors": instance(ErrorSketch),
        "errors_by_class": instance(ErrorSketch),
    }

    errors: ErrorSketch
    errors_by_class: ErrorSketch

    @classmethod
    def of(cls, shares: Floats, target: ScoredTarget) -> SetRule:
        """Learn from probabilities of unseen rows."""
        assert target.codes is not None
        codes = target.codes[:, 0]
        errors = 1.0 - shares[np.arange(len(codes)), codes]
        by_class = ErrorSketch.of(errors, target.weights, codes, shares.shape[1])
        return cls(ErrorSketch.of(errors, target.weights), by_class)

    def sets(
        self, shares: Floats, coverage: float, *, by_class: bool, allow_empty: bool
    ) -> NDArray[np.bool_]:
        """Return which classes are in the set of each row, shape (n_rows, n_classes)."""
        n_classes = shares.shape[1]
        if by_class:
            groups = self.errors_by_class
            limits = np.array([groups.upper(coverage, group) for group in range(n_classes)])
        else:
            limits = np.full(n_classes, self.errors.upper(coverage))
        sets = 1.0 - shares <= limits + _SLACK
        if not allow_empty:
            empty = ~sets.any(axis=1)
            sets[empty, shares[empty].argmax(axis=1)] = True
        return np.asarray(sets)

    def check_loaded(self, n_classes: int) -> None:
        """Raise ValueError unless a loaded rule knows so many classes."""
        if self.errors.n_groups != 1 or self.errors_by_class.n_groups != n_classes:
            raise ValueError("errors have a group for each class")
