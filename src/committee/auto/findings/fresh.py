"""A fitted committee on rows that the user gives with their truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.auto.findings.groups import shown_value
from committee.auto.findings.scores import ScoreFindings
from committee.auto.findings.slices import row_losses
from committee.auto.findings.unseen import Unseen
from committee.tables.column import Column
from committee.tables.source import Source

_MOST_ROWS, _MOST_COLUMNS = 20, 8  # of the worst rows


@dataclass(frozen=True, eq=False)
class Fresh:
    """What the committee does on some rows.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    score : float
        By the metric that chose the committee; the greater the better. NaN where it needs rows of
        several classes, and there is one.
    scores : ScoreFindings
        In other metrics.
    names : tuple of str
        What the cells of the worst rows are.
    worst : tuple of tuple of str
        The rows with the largest losses; empty unless rows were asked for.
    """

    n_rows: int
    score: float
    scores: ScoreFindings
    names: tuple[str, ...] = ()
    worst: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, unseen: Unseen) -> Fresh:
        """Score the committee, without a look at single rows."""
        everything = np.arange(unseen.target.n_rows)
        try:
            score = unseen.metric.score(unseen.as_scored(unseen.combined), everything)
        except ValueError:  # rows of one class, which many metrics refuse
            score = float("nan")
        return cls(unseen.target.n_rows, score, ScoreFindings.of(unseen))

    @classmethod
    def with_rows(cls, unseen: Unseen, source: Source, ranking: Sequence[str]) -> Fresh:
        """Score the committee and list the rows with the largest losses.

        Parameters
        ----------
        unseen : Unseen
            The rows, their truth, and the predictions.
        source : Source
            Their table.
        ranking : sequence of str
            Names of the columns, the most important first.
        """
        base = cls.of(unseen)
        order = np.argsort(-row_losses(unseen), kind="stable")[:_MOST_ROWS]
        known = source.names or tuple(f"x{k}" for k in range(source.n_features))
        names = [name for name in ranking if name in known][:_MOST_COLUMNS]
        columns = [source.column(known.index(name)).take(order) for name in names]
        rows = []
        for place, row in enumerate(order.tolist()):
            cells = [_cell(column, place) for column in columns]
            rows.append((str(row), *_truth(unseen, row), *cells))
        head = ("row", "truth", "prediction", *names)
        return cls(base.n_rows, base.score, base.scores, head, tuple(rows))


def _truth(unseen: Unseen, row: int) -> tuple[str, str]:
    if unseen.target.codes is None:
        return f"{unseen.truth[row, 0]:.6g}", f"{unseen.combined[row, 0]:.6g}"
    labels: Any = unseen.target.classes[0]
    best = int(unseen.classes(unseen.combined)[row])
    share = f"{100 * unseen.combined[row, best]:.0f} %"
    return str(labels[unseen.target.codes[row, 0]]), f"{labels[best]} ({share})"


def _cell(column: Column, row: int) -> str:
    if column.missing()[row]:
        return ""
    value = column.values[row]
    return str(column.levels[value]) if column.levels is not None else shown_value(column, value)
