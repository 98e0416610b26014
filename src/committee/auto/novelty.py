"""What is new in a table, beside the one that a committee was fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.auto.profile import ColumnProfile
from committee.tables.source import Source

KINDS = ("unseen_levels", "below_range", "above_range", "missing")


@dataclass(frozen=True, eq=False)
class Novelty:
    """Cells of a table that are unlike those of the training table.

    Attributes
    ----------
    names : tuple of str
        Names of the columns that the committee uses.
    counts : ndarray of int64, shape (n_columns, 4)
        Cells of each column with a level that `fit` did not see, with a number or date below or
        above all of the training table, and missing cells where `fit` saw none.
    rows : ndarray of bool, shape (n_rows,)
        Rows with such a cell.

    Examples
    --------
    >>> from committee import CommitteeRegressor
    >>> X = np.random.default_rng(0).uniform(size=(50, 2))
    >>> model = CommitteeRegressor(budget=0.1, random_state=0).fit(X, X.sum(axis=1))
    >>> model.novelty([[0.3, 0.4], [99.0, np.nan]])
    1 of 2 rows have new values
    x0: 1 above the range
    x1: 1 missing
    """

    names: tuple[str, ...]
    counts: NDArray[np.int64]
    rows: NDArray[np.bool_]

    def __repr__(self) -> str:
        """Return the columns with new values, the most of them first."""
        n_rows = len(self.rows)
        if not self.rows.any():
            return f"none of {n_rows} rows has new values"
        words = ("with unseen levels", "below the range", "above the range", "missing")
        lines = [f"{self.rows.sum()} of {n_rows} rows have new values"]
        for place in np.argsort(-self.counts.sum(axis=1), kind="stable").tolist():
            counts = self.counts[place].tolist()
            found = [f"{count} {word}" for count, word in zip(counts, words, strict=True) if count]
            if found:
                lines.append(f"{self.names[place]}: {', '.join(found)}")
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each column."""
        import pandas as pd

        return pd.DataFrame(self.counts, index=list(self.names), columns=list(KINDS))


def find_novelty(profiles: Sequence[ColumnProfile], features: Source) -> Novelty:
    """Count what is new in features that were read as those of the training table."""
    counts = np.zeros((len(profiles), len(KINDS)), np.int64)
    rows = np.zeros(features.n_rows, bool)
    for place, profile in enumerate(profiles):
        column = features.column(profile.first)
        missing = column.missing()
        found = [np.zeros(features.n_rows, bool)] * 3
        if column.levels is not None:
            found[0] = column.values < -1
            missing = column.values == -1
        elif profile.is_number:
            found[1] = ~missing & (column.values < profile.quantiles[0])
            found[2] = ~missing & (column.values > profile.quantiles[-1])
        found.append(missing if profile.missing == 0 else np.zeros(features.n_rows, bool))
        counts[place] = [each.sum() for each in found]
        rows |= np.any(found, axis=0)
    return Novelty(tuple(profile.name for profile in profiles), counts, rows)
