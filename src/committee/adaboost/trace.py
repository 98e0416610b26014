"""`AdaBoostTrace`: what happened in each round of AdaBoost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, Part, array, list_of
from committee.theory.bounds import boosting_bound
from committee.trees.conditions import stump_text


@register("RoundLog")
@dataclass(eq=False)
class RoundLog:
    """Numbers of each round, one after the other; NaN where they do not apply.

    Examples
    --------
    >>> log = RoundLog()
    >>> log.add(error=0.3, weight=0.85)
    >>> log.error, log.bound
    ([0.3], [nan])
    """

    error: list[float] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    normalizer: list[float] = field(default_factory=list)
    bound: list[float] = field(default_factory=list)
    train_error: list[float] = field(default_factory=list)
    validation_score: list[float] = field(default_factory=list)
    distributions: list[Floats] = field(default_factory=list)

    def add(self, distribution: Floats | None = None, **row: float) -> None:
        """Add a round."""
        for name in _NUMBERS:
            getattr(self, name).append(float(row.get(name, np.nan)))
        if distribution is not None:
            self.distributions.append(distribution)

    def head(self, n_rounds: int) -> RoundLog:
        """Return the log of the first rounds."""
        return RoundLog(**{each.name: getattr(self, each.name)[:n_rounds] for each in fields(self)})

    def __len__(self) -> int:
        return len(self.error)

    _stored_parts: ClassVar[dict[str, Part]] = {
        "error": list_of(NUMBER, "rounds", least=1),
        "weight": list_of(NUMBER, "rounds"),
        "normalizer": list_of(NUMBER, "rounds"),
        "bound": list_of(NUMBER, "rounds"),
        "train_error": list_of(NUMBER, "rounds"),
        "validation_score": list_of(NUMBER, "rounds"),
        "distributions": list_of(array("f8", "rows"), 0) | list_of(array("f8", "rows"), "rounds"),
    }


_NUMBERS = tuple(each.name for each in fields(RoundLog) if each.name != "distributions")


class AdaBoostTrace(Sequence[dict[str, Any]]):
    """What happened in each round, as a table.

    An entry is a dict with the columns below; ``to_frame()`` makes a data frame of them all.
    Columns that do not apply are left out of both: the bounds for SAMME with several classes,
    weights where members vote with probabilities.

    Parameters
    ----------
    log : RoundLog
        The numbers.
    members : sequence of estimators or None
        Trees, whose rules are shown.
    kind : {"votes", "equal", "losses"}
        What weights of members are: logarithms of odds, all the same, or those of AdaBoost.R2.
    learning_rate : float or None
        Of the fit, where edges of the learners bound the training error; else None.

    Attributes
    ----------
    error : ndarray of float64
        Weighted error of the learner, in the distribution it was fitted to.
    weight : ndarray of float64
        Weight of its vote: the logarithm of the odds of being right (and log(K - 1) for SAMME).
    beta : ndarray of float64
        Half of that: alpha or beta of those who multiply right rows by exp(-beta) and wrong ones by
        exp(beta). For a regressor, loss / (1 - loss) of Drucker's AdaBoost.R2.
    normalizer : ndarray of float64
        Z, what the new weights have to be divided by.
    bound : ndarray of float64
        Product of Z so far: the training error of the committee is not larger.
    edge_bound : ndarray of float64
        Exponential of minus twice the sum of squared edges 1/2 - error so far, times
        eta (2 - eta) with a learning rate eta up to 2: simpler than `bound`, and never below it.
        See `committee.theory.boosting_bound`. Discrete votes only.
    train_error : ndarray of float64
        Training error of the committee of the learners so far.
    validation_score : ndarray of float64
        Score of the committee on validation rows.
    distributions : ndarray of float64, shape (n_rounds, n_rows), or None
        The weights of the rows that each learner was fitted to; they add up to one. Kept with
        ``keep_weights=True``.
    rules : list of str
        Split and prediction of each stump, in words; of a larger tree the number of its leaves.

    Examples
    --------
    >>> from committee import AdaBoostClassifier
    >>> from committee.datasets import load_ten_points
    >>> X, y = load_ten_points()
    >>> model = AdaBoostClassifier(n_estimators=3, criterion="error").fit(X, y)
    >>> model.trace_.error.round(2).tolist(), model.trace_.beta.round(2).tolist()
    ([0.3, 0.21, 0.14], [0.42, 0.65, 0.92])
    """

    def __init__(
        self,
        log: RoundLog,
        members: Sequence[Any] | None = None,
        kind: str = "votes",
        learning_rate: float | None = None,
    ) -> None:
        self._log, self._members, self._kind, self._rate = log, members, kind, learning_rate
        for name in _NUMBERS:
            setattr(self, name, np.array(getattr(log, name)))

    error: Floats
    weight: Floats
    normalizer: Floats
    bound: Floats
    train_error: Floats
    validation_score: Floats

    @property
    def beta(self) -> Floats:
        """Half the weight of a classifier; loss / (1 - loss) of a regressor."""
        return self.error / (1 - self.error) if self._kind == "losses" else self.weight / 2

    @cached_property
    def edge_bound(self) -> Floats:
        """Exponential of minus twice the sum of squared edges; NaN where it is no bound."""
        if self._rate is None or self._rate > 2:
            return np.full(len(self), np.nan)
        return boosting_bound(self.error, learning_rate=self._rate).exponential

    @property
    def distributions(self) -> Floats | None:
        """The weights of the rows in each round; None if they were not kept."""
        return np.array(self._log.distributions) if self._log.distributions else None

    @cached_property
    def rules(self) -> list[str]:
        """Split and prediction of each stump, in words."""
        return [] if self._members is None else [stump_text(each) for each in self._members]

    def columns(self) -> dict[str, Any]:
        """Return the columns that have numbers, and the rules."""
        columns = self._numbers()
        if self._members is not None:
            columns["rule"] = self.rules
        return columns

    def _numbers(self) -> dict[str, Any]:
        names = ["error", "weight", "beta", "normalizer", "bound", "edge_bound", "train_error"]
        columns: dict[str, Any] = {}
        for name in [*names, "validation_score"]:
            column = getattr(self, name)
            is_idle = self._kind == "equal" and name in ("weight", "beta")
            if not is_idle and not np.isnan(column).all():
                columns[name] = column
        return columns

    def to_frame(self) -> Any:
        """Return a pandas data frame, its index the number of the round from one."""
        import pandas as pd

        index = pd.RangeIndex(1, len(self) + 1, name="round")
        return pd.DataFrame(self.columns(), index=index)

    def __len__(self) -> int:
        return len(self._log)

    def __getitem__(self, index: Any) -> Any:
        numbers = range(len(self))[index]
        columns = self.columns()
        if isinstance(numbers, int):
            return {name: column[numbers] for name, column in columns.items()}
        return [{name: column[k] for name, column in columns.items()} for k in numbers]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        columns = self.columns()
        for k in range(len(self)):
            yield {name: column[k] for name, column in columns.items()}

    def __repr__(self) -> str:
        columns = self._numbers()
        lines = [" round " + " ".join(f"{name:>12}" for name in columns)]
        for k in _shown(len(self)):
            cells = " ".join(f"{column[k]:>12.6g}" for column in columns.values())
            rule = "" if self._members is None else f"  {stump_text(self._members[k])}"
            lines.append(f"{k + 1:>6} {cells}{rule}")
        return "\n".join(lines)


def _shown(n_rounds: int) -> list[int]:
    """Return the rounds of a short print: the first, the last, and some between."""
    if n_rounds <= 12:
        return list(range(n_rounds))
    return sorted({*np.linspace(0, n_rounds - 1, 10).astype(int).tolist()})
