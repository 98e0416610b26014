"""The log of a fit in rounds: losses of training, validation and out-of-bag rows, and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import Part, array, dict_of, whole

# The columns that every log has.
LOGGED = (
    "train_loss",
    "validation_loss",
    "validation_score",
    "oob_loss",
    "oob_improvement",
    "seconds",
)


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
    more : dict of str to ndarray of float64
        With several eval sets the loss of each, and its score: ``"late_loss"``, ``"late_score"``
        for the rows called "late". `validation_loss` is that of the last one, which decides.
    n_folds : int
        Number of folds of which the losses are means, in callbacks during the search for the
        number of rounds; 0 in a log of the rounds of a model.

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
    more: dict[str, Floats] = field(default_factory=dict)
    n_folds: int = 0

    @classmethod
    def empty(cls) -> TrainingLog:
        """Return a log without rounds."""
        return of_columns(dict.fromkeys(LOGGED, np.empty(0)))

    def __len__(self) -> int:
        return len(self.train_loss)

    def head(self, n_rounds: int) -> TrainingLog:
        """Return the log of the first rounds."""
        return of_columns(
            {name: each[:n_rounds] for name, each in self.columns().items()}, self.n_folds
        )

    def columns(self) -> dict[str, Floats]:
        """Return the columns by name, as a data frame takes them."""
        return {name: getattr(self, name) for name in LOGGED} | self.more

    def to_frame(self) -> Any:
        """Return a pandas data frame, its index the number of the round from one.

        Columns without any number are left out.
        """
        import pandas as pd

        columns = {name: each for name, each in self.columns().items() if _has_numbers(each)}
        index = pd.RangeIndex(1, len(self) + 1, name="round")
        return pd.DataFrame(columns, index=index)

    def __repr__(self) -> str:
        columns = {name: each for name, each in self.columns().items() if _has_numbers(each)}
        lines = [" round " + " ".join(f"{name:>16}" for name in columns)]
        for number in _shown(len(self)):
            pairs = columns.items()
            cells = " ".join(f"{each[number]:>{max(16, len(name))}.6g}" for name, each in pairs)
            lines.append(f"{number + 1:>6} {cells}")
        return "\n".join(lines)

    _stored_parts: ClassVar[dict[str, Part]] = {
        "train_loss": array("f8", "rounds"),
        "validation_loss": array("f8", "rounds"),
        "validation_score": array("f8", "rounds"),
        "oob_loss": array("f8", "rounds"),
        "oob_improvement": array("f8", "rounds"),
        "seconds": array("f8", "rounds"),
        "more": dict_of(array("f8", "rounds")),
        "n_folds": whole(0),
    }
    _later_fields: ClassVar[tuple[str, ...]] = ("more", "n_folds")


def of_columns(columns: Mapping[str, Floats], n_folds: int = 0) -> TrainingLog:
    """Return the log of columns by name, see `TrainingLog.columns`.

    Examples
    --------
    >>> columns = TrainingLog(*np.full((6, 2), 0.5), {"late_loss": np.ones(2)}).columns()
    >>> of_columns(columns).more
    {'late_loss': array([1., 1.])}
    """
    more = {name: each for name, each in columns.items() if name not in LOGGED}
    rest: Any = {"more": more, "n_folds": n_folds}
    return TrainingLog(**{name: columns[name] for name in LOGGED}, **rest)


class LogWriter:
    """Writes a `TrainingLog`, one round after another, in constant time each.

    Parameters
    ----------
    log : TrainingLog
        Of the rounds before.
    more : sequence of str, default=()
        Names of more columns.

    Examples
    --------
    >>> writer = LogWriter(TrainingLog.empty())
    >>> writer.add({"train_loss": 0.5, "seconds": 0.1})
    >>> writer.log.train_loss.tolist(), writer.log.oob_loss.tolist()
    ([0.5], [nan])
    """

    def __init__(self, log: TrainingLog, more: Sequence[str] = ()) -> None:
        self._n_rounds = len(log)
        columns = log.columns()
        self._names = list(dict.fromkeys([*columns, *more]))
        self._rows = np.full((2 * len(log) + 64, len(self._names)), np.nan)
        self._rows[: len(log), : len(columns)] = np.column_stack(list(columns.values()))

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
        values = np.array(self._rows[: self._n_rounds].T, order="C")
        return of_columns(dict(zip(self._names, values, strict=True)))


def _has_numbers(column: Floats) -> bool:
    return bool((~np.isnan(column)).any())


def _shown(n_rounds: int) -> list[int]:
    """Return the rounds of a short print: the first, the last, and some between."""
    if n_rounds <= 12:
        return list(range(n_rounds))
    return sorted({*np.linspace(0, n_rounds - 1, 10).astype(int).tolist()})
