"""How the prediction of a committee changes with one column, all else as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from committee.auto.columns import ColumnUse
from committee.auto.profile import ColumnProfile, with_values
from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, array, tuple_of
from committee.tables.column import FeatureInfo
from committee.tables.source import Source

_MOST_COLUMNS, _MOST_VALUES = 5, 9
N_ROWS = 100  # that predictions are averaged over
MOST_CELLS = N_ROWS * _MOST_COLUMNS * _MOST_VALUES  # rows that are predicted

Predicting = Callable[[Source], Floats]


@register("auto.PartialDependence")
@dataclass(frozen=True, eq=False)
class PartialDependence:
    """Mean prediction of some rows in which one column has the same value in all of them.

    Attributes
    ----------
    name : str
        Of the column.
    values : ndarray of float64, shape (n_values,)
        The values: numbers, microseconds since 1970 of dates, or codes of levels.
    labels : tuple of str
        The values as text.
    mean : ndarray of float64, shape (n_values, n_outputs)
        Mean prediction: of a number, or of the probability of each class.
    standard_error : ndarray of float64, shape (n_values, n_outputs)
        Of this mean, from the spread over the rows.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "name": TEXT,
        "values": array("f8", "values", finite=True),
        "labels": tuple_of(TEXT, "values"),
        "mean": array("f8", "values", "outputs", finite=True),
        "standard_error": array("f8", "values", "outputs", low=0.0, finite=True),
    }

    name: str
    values: Floats
    labels: tuple[str, ...]
    mean: Floats
    standard_error: Floats

    def __repr__(self) -> str:
        """Return the values with the prediction for each, of the last class."""
        shown = self.mean[:, -1]
        pairs = ", ".join(f"{x}: {y:.4g}" for x, y in zip(self.labels, shown, strict=True))
        return f"{self.name}: {pairs}"


def dependence(
    uses: Sequence[ColumnUse],
    profiles: Sequence[ColumnProfile],
    infos: Sequence[FeatureInfo],
    blocks: Sequence[tuple[Source, Predicting]],
    ranking: Sequence[str],
) -> tuple[PartialDependence, ...]:
    """Return the dependence on the most important columns.

    Parameters
    ----------
    uses : sequence of ColumnUse
        How the columns are used.
    profiles : sequence of ColumnProfile
        Of those that are.
    infos : sequence of FeatureInfo
        Of the features.
    blocks : sequence of (Source, callable)
        Rows that predictions are averaged over, and what predicts each part of them.
    ranking : sequence of str
        Names of columns, the most important first.
    """
    known = {profile.name: profile for profile in profiles}
    chosen = [known[name] for name in ranking if name in known]
    chosen = [p for p in chosen if p.is_number or len(p.shares)][:_MOST_COLUMNS]
    found = []
    for profile in chosen:
        values = profile.typical(_MOST_VALUES)
        means, errors = [], []
        for value in values.tolist():
            parts = []
            for features, predict in blocks:
                same = np.full(features.n_rows, value)
                parts.append(predict(with_values(features, uses, profile, same)))
            predicted = np.concatenate(parts)
            means.append(predicted.mean(axis=0))
            errors.append(predicted.std(axis=0) / max(len(predicted) - 1, 1) ** 0.5)
        labels = _labels(infos[profile.first], values)
        found.append(
            PartialDependence(profile.name, values, labels, np.array(means), np.array(errors))
        )
    return tuple(found)


def _labels(info: FeatureInfo, values: Floats) -> tuple[str, ...]:
    levels: Any = info.levels if info.levels is not None else info.order
    if levels is not None:
        return tuple(str(levels[int(value)]) for value in values)
    if info.label == "datetime":
        dates = values.astype(np.int64).view("datetime64[us]")
        return tuple(str(date.astype("datetime64[D]")) for date in dates)
    return tuple(f"{value:.4g}" for value in values)
