"""Standings of libraries over many tables: ranks, normalised scores, wins.

The scores of a table are a mapping from library to score; None is a failure. "Better" follows the
metric. All functions are pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

HIGHER_IS_BETTER = {"roc_auc": True, "log_loss": False, "rmse": False}
LOWEST = -1.0  # of normalised scores: one wild table must not decide a mean
MARGIN = 0.01  # how much worse than the constant counts

Scores = Mapping[str, float | None]


def oriented(scores: Scores, metric: str) -> dict[str, float]:
    """Return scores of which more is better; a failure is minus infinity."""
    sign = 1.0 if HIGHER_IS_BETTER[metric] else -1.0
    return {
        library: float("-inf") if score is None else sign * score
        for library, score in scores.items()
    }


def ranks(scores: Scores, metric: str) -> dict[str, float]:
    """Return ranks: 1 is best, equal scores share their mean rank, failures share the last."""
    values = oriented(scores, metric)
    return {
        library: 1
        + sum(other > value for other in values.values())
        + (sum(other == value for other in values.values()) - 1) / 2
        for library, value in values.items()
    }


def normalised(scores: Scores, constant: float, metric: str) -> dict[str, float]:
    """Return the share of the best library's gain over the constant predictor.

    The best library has 1, the constant 0; worse than the constant is negative, but not below -1,
    which is also the score of a failure. Where no library beats the constant there is no gain to
    share: each has 0, or -1 for a failure.
    """
    values = oriented(scores, metric)
    zero = oriented({"constant": constant}, metric)["constant"]
    gain = max(values.values()) - zero
    if gain <= 0:
        return {name: LOWEST if score is None else 0.0 for name, score in scores.items()}
    return {library: max(LOWEST, (value - zero) / gain) for library, value in values.items()}


def wins(scores: Scores, metric: str) -> dict[str, float]:
    """Return the share of the other libraries that each beats; a tie is half a win."""
    values = oriented(scores, metric)
    return {
        library: (
            sum(
                (value > other) + (value == other) / 2
                for name, other in values.items()
                if name != library
            )
            / max(1, len(values) - 1)
        )
        for library, value in values.items()
    }


def is_worse_than_constant(score: float | None, constant: float, metric: str) -> bool:
    """Tell whether a score is worse than the constant predictor's by more than 1 %.

    A failure has no score and is counted apart.
    """
    if score is None:
        return False
    if HIGHER_IS_BETTER[metric]:
        return score < constant * (1 - MARGIN)
    return score > constant * (1 + MARGIN)


@dataclass(frozen=True, slots=True)
class TableScores:
    """Mean scores of one table over its seeds."""

    name: str
    metric: str
    constant: float
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Standing:
    """One library over several tables."""

    mean_rank: float
    normalised: float
    win_rate: float
    firsts: int
    failures: int
    worse_than_constant: int


def standings(tables: Iterable[TableScores]) -> dict[str, Standing]:
    """Return the standing of each library; all tables must have the same libraries."""
    tables = list(tables)
    if not tables:
        return {}
    places = [ranks(table.scores, table.metric) for table in tables]
    shares = [normalised(table.scores, table.constant, table.metric) for table in tables]
    beaten = [wins(table.scores, table.metric) for table in tables]
    n = len(tables)
    return {
        library: Standing(
            mean_rank=sum(each[library] for each in places) / n,
            normalised=sum(each[library] for each in shares) / n,
            win_rate=sum(each[library] for each in beaten) / n,
            firsts=sum(each[library] == min(each.values()) for each in places),
            failures=sum(table.scores[library] is None for table in tables),
            worse_than_constant=sum(
                is_worse_than_constant(table.scores[library], table.constant, table.metric)
                for table in tables
            ),
        )
        for library in tables[0].scores
    }
