"""`TrainingLog`: what was seen in each round of boosting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.files.codec_classes import register

Floats = NDArray[np.float64]


@register("TrainingLog")
@dataclass(frozen=True, eq=False, repr=False)
class TrainingLog:
    """A table with a row for each round.

    Attributes
    ----------
    train_loss : ndarray of float64
        Mean loss of the rows that the round learnt from.
    validation_loss : ndarray of float64
        Mean loss of the validation rows; NaN without such rows.
    validation_score : ndarray of float64
        Their score where `scoring` is given; NaN otherwise.
    oob_loss : ndarray of float64
        Mean loss of the rows that the round has not drawn; NaN with ``subsample=1.0``.
    oob_improvement : ndarray of float64
        By how much the round lowered the loss of these rows.
    seconds : ndarray of float64
        Time since the fit began.

    Examples
    --------
    >>> log = TrainingLog(*np.full((6, 2), 0.5))
    >>> len(log), log.train_loss.tolist()
    (2, [0.5, 0.5])
    """

    train_loss: Floats
    validation_loss: Floats
    validation_score: Floats
    oob_loss: Floats
    oob_improvement: Floats
    seconds: Floats

    @classmethod
    def empty(cls) -> TrainingLog:
        """Return a log without rounds."""
        return cls(*(np.empty(0) for _ in fields(cls)))

    def __len__(self) -> int:
        return len(self.train_loss)

    def head(self, n_rounds: int) -> TrainingLog:
        """Return the log of the first rounds."""
        return TrainingLog(*(each[:n_rounds] for each in self.columns().values()))

    def columns(self) -> dict[str, Floats]:
        """Return the columns by name, as a data frame takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_frame(self) -> Any:
        """Return a pandas data frame, its index the number of the round from one.

        Columns without any number are left out.
        """
        import pandas as pd

        columns = {name: each for name, each in self.columns().items() if _has_numbers(each)}
        index = pd.RangeIndex(1, len(self) + 1, name="round")
        return pd.DataFrame(columns, index=index)

    def __repr__(self) -> str:
        names = [name for name, each in self.columns().items() if _has_numbers(each)]
        lines = [" round " + " ".join(f"{name:>16}" for name in names)]
        for number in _shown(len(self)):
            cells = " ".join(f"{getattr(self, name)[number]:>16.6g}" for name in names)
            lines.append(f"{number + 1:>6} {cells}")
        return "\n".join(lines)

    def _validate_loaded(self) -> None:
        for each in self.columns().values():
            if not isinstance(each, np.ndarray) or each.dtype != np.float64 or each.ndim != 1:
                raise ValueError("a column is not a list of numbers")
            if len(each) != len(self):
                raise ValueError("its columns differ in length")


class LogWriter:
    """Writes a `TrainingLog`, one round after another, in constant time each.

    Parameters
    ----------
    log : TrainingLog
        Of the rounds before.

    Examples
    --------
    >>> writer = LogWriter(TrainingLog.empty())
    >>> writer.add({"train_loss": 0.5, "seconds": 0.1})
    >>> writer.log.train_loss.tolist(), writer.log.oob_loss.tolist()
    ([0.5], [nan])
    """

    def __init__(self, log: TrainingLog) -> None:
        self._n_rounds = len(log)
        self._names = list(log.columns())
        self._rows = np.full((2 * len(log) + 64, len(self._names)), np.nan)
        self._rows[: len(log)] = np.column_stack(list(log.columns().values()))

    def add(self, row: Mapping[str, float]) -> None:
        """Add a round; what the row does not name is NaN."""
        if self._n_rounds == len(self._rows):
            more = np.full_like(self._rows, np.nan)
            self._rows = np.concatenate([self._rows, more])
        self._rows[self._n_rounds] = [row.get(name, np.nan) for name in self._names]
        self._n_rounds += 1

    @property
    def log(self) -> TrainingLog:
        """The log so far; later rounds do not change it."""
        return TrainingLog(*np.array(self._rows[: self._n_rounds].T, order="C"))


def _has_numbers(column: Floats) -> bool:
    return bool((~np.isnan(column)).any())


def _shown(n_rounds: int) -> list[int]:
    """Return the rounds of a short print: the first, the last, and some between."""
    if n_rounds <= 12:
        return list(range(n_rounds))
    return sorted({*np.linspace(0, n_rounds - 1, 10).astype(int).tolist()})
