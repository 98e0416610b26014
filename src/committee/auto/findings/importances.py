"""How much the committee relies on each column, measured on rows that its models have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from committee.auto.findings.unseen import Unseen, variants
from committee.base.arrays import Floats, Rows
from committee.combining.selection.candidate_scores import MemberPredictions
from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, array, tuple_of
from committee.tables.source import Source

_ROWS = 1000  # rows that importances are measured on, all folds together
_PREDICTIONS, _LEAST_ROWS = 40_000, 25  # for more columns there are fewer rows, down to so many
MOST_COLUMNS = 100
_FEW_FOLDS = 4  # folds that are looked at in a wide table

# Cells that models predict from: at once, and in all. Beyond, fewer columns are looked at.
_BLOCK, _CELLS = 2**22, 2**26


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


def measure(source: Source, places: Sequence[int], unseen: Unseen, seed: int) -> ColumnImportances:
    """Shuffle one column after the other in the rows of each fold.

    Parameters
    ----------
    source : Source
        The table.
    places : sequence of int
        The columns in question; of very many, the first ones are looked at.
    unseen : Unseen
        The committee on rows that its models have not seen.
    seed : int
        Of the draws.
    """
    generator = np.random.default_rng(seed)
    n_folds, n_columns, n_rows = sample_sizes(source, len(places), len(unseen.tests))
    tests, places = unseen.tests[:n_folds], places[:n_columns]
    losses = np.full((len(places), len(tests)), np.nan)
    for fold, test in enumerate(tests):
        rows = np.sort(generator.permutation(test)[:n_rows])
        order = generator.permutation(len(rows))
        try:
            losses[:, fold] = _losses(source, places, unseen, fold, rows, order)
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


def sample_sizes(source: Source, n_columns: int, n_folds: int) -> tuple[int, int, int]:
    """Return how many folds and columns are looked at, and how many rows of each fold."""
    n_columns = min(n_columns, MOST_COLUMNS)
    n_rows = max(_PREDICTIONS // (n_folds * (n_columns + 1)), _LEAST_ROWS)
    n_rows = max(2, min(_ROWS // n_folds, n_rows))
    room = _CELLS // (n_rows * source.n_features)
    if room < n_folds * (n_columns + 1):
        n_folds = min(n_folds, _FEW_FOLDS)
    return n_folds, min(n_columns, max(5, room // n_folds)), n_rows


def _losses(
    source: Source, places: Sequence[int], unseen: Unseen, fold: int, rows: Rows, order: Rows
) -> Floats:
    """Return the loss of score in some rows by each column whose cells have another order."""
    own = unseen.rows[rows]
    changes = [(-1, own), *((place, own[order]) for place in places)]
    size = max(1, _BLOCK // (len(rows) * source.n_features))
    scores = []
    for begin in range(0, len(changes), size):
        part = changes[begin : begin + size]
        values = unseen.as_scored(unseen.predict(variants(source, own, part), fold))
        stacked = values.reshape(len(part), len(rows), -1)
        target = unseen.target.part(rows)
        predictions = MemberPredictions(stacked, target, unseen.metric.oob_score)
        scores.append(predictions.scorer().alone())
    found = np.concatenate(scores)
    return np.asarray(found[0] - found[1:])
