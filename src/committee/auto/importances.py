"""How much the committee relies on each column, measured on rows that its models have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.evaluation.scored_target import OobMetric
from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, array, tuple_of
from committee.tables.column import Column
from committee.tables.source import Columns, Source

_ROWS = 1000  # that importances are measured on, all folds together
_MOST_COLUMNS = 100

# Given rows of the table and the number of a fold, returns what the models of the fold predict.
Predicting = Callable[[Source, int], Floats]


@register("auto.ColumnImportances")
@dataclass(frozen=True, eq=False)
class ColumnImportances:
    """Loss of score when the values of a column are shuffled.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    mean : ndarray of float64
        Mean loss over the folds.
    standard_error : ndarray of float64
        Standard error of this mean.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "names": tuple_of(TEXT, "columns"),
        "mean": array("f8", "columns", finite=True),
        "standard_error": array("f8", "columns", low=0.0, finite=True),
    }

    names: tuple[str, ...]
    mean: Floats
    standard_error: Floats

    def ranking(self) -> list[str]:
        """Return the names, the most important first."""
        return [self.names[place] for place in np.argsort(-self.mean, kind="stable").tolist()]


def measure(
    source: Source,
    places: Sequence[int],
    predict: Predicting,
    tests: Sequence[Rows],
    metric: OobMetric,
    seed: int,
) -> ColumnImportances:
    """Shuffle one column after the other in the rows of each fold.

    Parameters
    ----------
    source : Source
        The table.
    places : sequence of int
        The columns in question.
    predict : callable
        Given rows and the number of a fold, returns predictions of models that have not seen them.
    tests : sequence of ndarray of int
        Rows of the folds.
    metric : OobMetric
        Scores predictions of all rows.
    seed : int
        Of the draws.
    """
    generator = np.random.default_rng(seed)
    places = places[:_MOST_COLUMNS]
    losses = np.full((len(places), len(tests)), np.nan)
    n_rows = max(2, _ROWS // len(tests))
    for fold, test in enumerate(tests):
        rows = np.sort(generator.permutation(test)[:n_rows])
        order = generator.permutation(len(rows))
        part = source.take(rows, None)
        own, everything = replace(metric, target=metric.target.part(rows)), np.arange(len(rows))
        try:
            base = own.score(predict(part, fold), everything)
            for number, place in enumerate(places):
                mixed = predict(_shuffled(part, place, order), fold)
                losses[number, fold] = base - own.score(mixed, everything)
        except ValueError:  # a fold without one of the classes has no score
            continue
    known = np.isfinite(losses).all(axis=0)
    names = tuple(f"x{k}" if source.names is None else source.names[k] for k in places)
    n_known = int(known.sum())
    if n_known < 2:
        nothing = np.zeros(len(places))
        return ColumnImportances(names, nothing, nothing)
    kept = losses[:, known]
    errors = kept.std(axis=1, ddof=1) / n_known**0.5
    return ColumnImportances(names, kept.mean(axis=1), errors)


def _shuffled(source: Source, place: int, order: NDArray[np.int64]) -> Columns:
    """Return the table with the values of one column in another order."""

    def read(position: int, where: str) -> Column:
        column = source.column(position)
        return column.take(order) if position == place else column

    return Columns(source.n_rows, source.n_features, source.names, read)
