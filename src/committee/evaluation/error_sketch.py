"""How large the errors on unseen rows were, in sorted order: what conformal rules are made of.

A sketch says how many rows had an error of at most some size, and knows nothing else about the
rows. Beyond some hundred rows it keeps a part of the sizes, more of them at both ends, and rounds
away from the middle: limits are never too narrow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import Part, array
from committee.tables.target import are_repetitions

_N_MIDDLE, _N_ENDS = 500, 250  # sizes that are kept of each group, spread evenly and at each end

_SLACK = 1 - 1e-12  # keeps 0.9 * (9 + 1) at nine, whatever the last bit of the product


@register("auto.ErrorSketch")
@dataclass(frozen=True, eq=False)
class ErrorSketch:
    """Sorted errors of rows with how many rows lie below them, in one group or several.

    Attributes
    ----------
    sizes : ndarray of float64, shape (n_kept,)
        Errors, ascending in each group.
    below, upto : ndarray of float64, shape (n_kept,)
        The weight of the rows of the group with a smaller error, and with one not larger.
    ends : ndarray of int64, shape (n_groups,)
        Where each group ends in the other arrays.

    Examples
    --------
    >>> sketch = ErrorSketch.of(np.arange(1.0, 10.0))
    >>> sketch.upper(0.8), sketch.lower(0.8), sketch.upper(0.95)
    (8.0, 2.0, inf)
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "sizes": array("f8", "kept", finite=True),
        "below": array("f8", "kept", low=0.0, finite=True),
        "upto": array("f8", "kept", low=0.0, finite=True),
        "ends": array("i8", "groups", low=0),
    }

    sizes: Floats
    below: Floats
    upto: Floats
    ends: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        errors: Floats,
        weights: Floats | None = None,
        groups: NDArray[np.integer] | None = None,
        n_groups: int = 1,
    ) -> ErrorSketch:
        """Sum up errors of rows.

        Parameters
        ----------
        errors : ndarray of float64
            Of each row.
        weights : ndarray of float64 or None
            Of the rows, all positive. Whole weights are repetitions; others get a mean of one.
        groups : ndarray of int or None
            The group of each row.
        n_groups : int, default=1
            Number of groups; one may be without rows.
        """
        counts = np.ones(len(errors)) if weights is None else weights
        if not are_repetitions(counts):
            counts = counts / counts.mean()
        parts = []
        for group in range(n_groups):
            rows = slice(None) if groups is None else groups == group
            parts.append(_sketch(errors[rows], counts[rows]))
        ends = np.cumsum([len(sizes) for sizes, _, _ in parts])
        sizes, below, upto = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls(sizes, below, upto, ends.astype(np.int64))

    def upper(self, coverage: float, group: int = 0) -> float:
        """Return what the error of a new row does not exceed, with a probability.

        Parameters
        ----------
        coverage : float
            The probability, in (0, 1).
        group : int, default=0
            The group of the row.

        Returns
        -------
        limit : float
            Infinite if the group has too few rows for so much coverage.
        """
        part = self._part(group)
        upto = self.upto[part]
        place = int(np.searchsorted(upto, self._rank(coverage, group)))
        return float(self.sizes[part][place]) if place < len(upto) else math.inf

    def lower(self, coverage: float, group: int = 0) -> float:
        """Return what the error of a new row does not fall below, with a probability."""
        part = self._part(group)
        from_here = self.total(group) - self.below[part]
        place = int((from_here >= self._rank(coverage, group)).sum()) - 1
        return float(self.sizes[part][place]) if place >= 0 else -math.inf

    def limits(self, coverage: float) -> tuple[float, float]:
        """Return between what the error of a new row lies with a probability.

        Half of what is missing to one is left out on each side. Where there are too few rows for
        that, the absolute error is limited, which needs half as many.

        Examples
        --------
        >>> errors = np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
        >>> ErrorSketch.of(errors).limits(0.8), ErrorSketch.of(errors).limits(0.9)
        ((-3.0, 5.0), (-5.0, 5.0))
        """
        side = (1 + coverage) / 2
        low, high = self.lower(side), self.upper(side)
        if np.isfinite([low, high]).all():
            return low, high
        limit = ErrorSketch.of(np.abs(self.sizes), self.upto - self.below).upper(coverage)
        return -limit, limit

    def total(self, group: int = 0) -> float:
        """Return the number of rows of a group, by their weights."""
        upto = self.upto[self._part(group)]
        return float(upto[-1]) if len(upto) else 0.0

    @property
    def n_groups(self) -> int:
        return len(self.ends)

    def _part(self, group: int) -> slice:
        return slice(int(self.ends[group - 1]) if group else 0, int(self.ends[group]))

    def _rank(self, coverage: float, group: int) -> float:
        """Return the rank of the limit; the new row is one more of the rows."""
        return coverage * (self.total(group) + 1) * _SLACK

    def _validate_loaded(self) -> None:
        if not len(self.ends) or (np.diff(self.ends) < 0).any():
            raise ValueError("the groups of errors are not in order")
        if self.ends[-1] != len(self.sizes):
            raise ValueError("the groups of errors do not end with the errors")
        for group in range(self.n_groups):
            part = self._part(group)
            if any((np.diff(each[part]) < 0).any() for each in (self.sizes, self.below, self.upto)):
                raise ValueError("errors are not sorted")
        if (self.below > self.upto).any():
            raise ValueError("errors have a negative weight")


def _sketch(errors: Floats, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Return distinct errors with the weights below them and up to them; of many, some."""
    if len(errors) == 0:
        return np.empty(0), np.empty(0), np.empty(0)
    sizes, places = np.unique(errors, return_inverse=True)
    weights = np.bincount(places, counts, minlength=len(sizes))
    upto: Floats = np.cumsum(weights, dtype=np.float64)
    below: Floats = upto - weights
    n = len(sizes)
    if n > _N_MIDDLE + 2 * _N_ENDS:
        even = np.round(np.linspace(0, n - 1, _N_MIDDLE)).astype(np.int64)
        kept = np.unique(np.r_[np.arange(_N_ENDS), even, np.arange(n - _N_ENDS, n)])
        sizes, below, upto = sizes[kept], below[kept], upto[kept]
    return sizes, below, upto
