"""How predictions change with a column: partial dependence, beside what happened in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.findings.groups import Groups
from committee.auto.findings.unseen import Unseen, variants
from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, array, tuple_of
from committee.tables.source import Source

_ROWS_OF_FOLD = 25  # rows of a fold in which the values of a column are replaced
_CELLS = 2**25  # cells that models predict from, in all
_LEAST_ROWS = 5  # a mean of the target of fewer rows would nearly be a row of the table
_MOST_CLASSES = 6  # classes that have curves


@register("auto.Effect")
@dataclass(frozen=True, eq=False)
class Effect:
    """Predictions by the groups of a column.

    Attributes
    ----------
    name : str
        Of the column.
    labels : tuple of str
        What is in each group.
    positions : ndarray of float64
        The number in the middle of each range; NaN for levels, and for missing values.
    shares : ndarray of float64
        Share of the rows in each group.
    classes : ndarray of int64
        Codes of the classes that the columns of the following arrays are of; empty for numbers,
        which have one column.
    predicted : ndarray of float64, shape (n_groups, n_columns)
        Mean prediction where the column of any row has a value from the middle of the group.
    spread : ndarray of float64, shape (n_groups, n_columns)
        Its standard error, from the models of the folds.
    observed : ndarray of float64, shape (n_groups, n_columns)
        Mean of the target in the rows of the group; NaN for fewer than 5 rows.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "name": TEXT,
        "labels": tuple_of(TEXT, "groups"),
        "positions": array("f8", "groups"),
        "shares": array("f8", "groups", low=0.0, finite=True),
        "classes": array("i8", None, low=0),
        "predicted": array("f8", "groups", "columns", finite=True),
        "spread": array("f8", "groups", "columns", low=0.0, finite=True),
        "observed": array("f8", "groups", "columns"),
    }

    name: str
    labels: tuple[str, ...]
    positions: Floats
    shares: Floats
    classes: NDArray[np.int64]
    predicted: Floats
    spread: Floats
    observed: Floats


def effects(
    source: Source, columns: Sequence[tuple[int, str, Groups]], unseen: Unseen, seed: int
) -> tuple[Effect, ...]:
    """Measure the effects of some columns.

    Parameters
    ----------
    source : Source
        The table.
    columns : sequence of (place, name, Groups)
        The columns; groups are of `unseen.some_rows`.
    unseen : Unseen
        The committee on rows that its models have not seen.
    seed : int
        Of the draws of rows.
    """
    if not columns:
        return ()
    some = unseen.some_rows
    classes = _shown_classes(unseen)
    shown = classes if len(classes) else np.zeros(1, np.int64)
    curves = _curves(source, columns, unseen, seed)[:, :, shown]
    mean = curves.mean(axis=0)
    spread = curves.std(axis=0, ddof=1) / len(curves) ** 0.5 if len(curves) > 1 else 0 * mean
    ends = np.cumsum([len(groups.labels) for _, _, groups in columns])[:-1]
    found = []
    pairs = zip(columns, np.split(mean, ends), np.split(spread, ends), strict=True)
    for (_, name, groups), predicted, error in pairs:
        n_groups, weights = len(groups.labels), unseen.weights[some]
        whole = np.bincount(groups.codes, weights, minlength=n_groups)
        truth = unseen.truth[some]
        sums = [np.bincount(groups.codes, weights * truth[:, k], minlength=n_groups) for k in shown]
        observed = np.column_stack(sums) / whole[:, np.newaxis]
        observed[np.bincount(groups.codes, minlength=n_groups) < _LEAST_ROWS] = np.nan
        shares = whole / whole.sum()
        arrays = (groups.positions, shares, classes, predicted, error, observed)
        found.append(Effect(name, groups.labels, *arrays))
    return tuple(found)


def _shown_classes(unseen: Unseen) -> NDArray[np.int64]:
    """Return the second class of two, or the most frequent ones of more."""
    if unseen.target.codes is None:
        return np.empty(0, np.int64)
    if len(unseen.constant) == 2:
        return np.array([1])
    return np.sort(np.argsort(-unseen.constant, kind="stable")[:_MOST_CLASSES]).astype(np.int64)


def sample_sizes(source: Source, n_groups: int, n_folds: int) -> tuple[int, int]:
    """Return how many folds are looked at, and how many rows of each."""
    room = _CELLS // (source.n_features * n_groups)
    n_folds = n_folds if room >= 4 * n_folds else min(n_folds, 2)
    return n_folds, min(_ROWS_OF_FOLD, max(2, room // n_folds))


def _curves(
    source: Source, columns: Sequence[tuple[int, str, Groups]], unseen: Unseen, seed: int
) -> Floats:
    """Return mean predictions, shape (n_folds, groups of all columns, n_values)."""
    generator = np.random.default_rng(seed)
    n_groups = sum(len(groups.labels) for _, _, groups in columns)
    n_folds, n_rows = sample_sizes(source, n_groups, len(unseen.tests))
    tests = unseen.tests[:n_folds]
    curves = []
    for fold, test in enumerate(tests):
        rows = np.sort(generator.permutation(test)[:n_rows])
        changes = [
            (place, np.repeat(unseen.rows[unseen.some_rows[example]], len(rows)))
            for place, _, groups in columns
            for example in groups.examples.tolist()
        ]
        values = unseen.predict(variants(source, unseen.rows[rows], changes), fold)
        parts = values.reshape(len(changes), len(rows), -1)
        shares = unseen.weights[rows] / unseen.weights[rows].sum()
        curves.append((parts * shares[:, np.newaxis]).sum(axis=1))
    return np.array(curves)
