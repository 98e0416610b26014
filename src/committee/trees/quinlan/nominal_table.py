"""A table in which everything is a level, for trees that know nothing else.

Categories keep their levels, numbers become intervals, and missing values become one more level
where training saw some. A *cut* is the upper end of an interval and belongs to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import NOTHING, Part, array, instance, tuple_of
from committee.tables.table import MAX_LEVELS, Kind, TableSchema

_UNSEEN = -2  # the level of what training did not see


@register("NominalCodes")
@dataclass(frozen=True, eq=False)
class NominalCodes:
    """How the cells of each feature become levels.

    Parameters
    ----------
    schema : TableSchema
        The features as they were given.
    cuts : tuple of ndarray or None
        Ascending cuts of each numeric feature, int64 where its values are; None for categories.

    Examples
    --------
    >>> from committee.tables.table import read_table
    >>> table, schema = read_table([["a", 1.0], ["b", 7.0], ["a", None]])
    >>> dataset = _core.BinnedDataset(table, None, [2, 0])
    >>> codes = NominalCodes(schema.completed(dataset), (None, np.array([4.0])))
    >>> codes.recode(table).levels(1).tolist()
    [0, 1, 2]
    """

    schema: TableSchema
    cuts: tuple[NDArray[Any] | None, ...]

    def n_known(self, feature: int) -> int:
        """Return the number of levels or intervals, which missing values are not among."""
        cuts = self.cuts[feature]
        if cuts is None:
            return len(self.schema.features[feature].levels or ())
        return len(cuts) + 1

    def n_levels(self, feature: int) -> int:
        """Return the number of levels, that of missing values included."""
        return self.n_known(feature) + self.schema.features[feature].has_missing

    def recode(self, table: _core.Table) -> _core.Table:
        """Return the table with levels in place of all cells."""
        recoded = _core.Table(table.n_rows)
        none = np.empty(0)
        for feature, info in enumerate(self.schema.features):
            cuts = self.cuts[feature]
            missing = self.n_known(feature) if info.has_missing else _UNSEEN
            codes = _core.nominal_codes(table, feature, none if cuts is None else cuts, missing)
            recoded.add_column(int(Kind.CATEGORY), codes)
        return recoded

    def check_levels(self) -> None:
        """Raise if a feature has more levels than a category may have."""
        for feature, info in enumerate(self.schema.features):
            if self.n_levels(feature) > MAX_LEVELS:
                raise ValueError(
                    f"column {info.name!r} has {self.n_levels(feature)} levels, missing values "
                    f"included; at most {MAX_LEVELS} are supported"
                )

    _stored_parts: ClassVar[dict[str, Part]] = {
        "schema": instance(TableSchema),
        "cuts": tuple_of(NOTHING | array("f8", None) | array("i8", None)),
    }

    def _validate_loaded(self) -> None:
        if len(self.cuts) != self.schema.n_features:
            raise ValueError("the cuts do not fit the schema")
        for cuts, info in zip(self.cuts, self.schema.features, strict=True):
            if (cuts is None) != (info.kind == Kind.CATEGORY):
                raise ValueError("a category has cuts, or a number has none")
            if cuts is not None and not _are_cuts(cuts, info.kind):
                raise ValueError("cuts are not ascending numbers")


def _are_cuts(cuts: Any, kind: Kind) -> bool:
    return (
        cuts.dtype == (np.int64 if kind == Kind.INTEGER else np.float64)
        and not np.isnan(cuts).any()
        and bool((cuts[1:] > cuts[:-1]).all())
    )


def discretize(
    table: _core.Table,
    schema: TableSchema,
    classes: NDArray[np.int32],
    n_classes: int,
    weights: Floats | None,
    n_threads: int,
) -> NominalCodes:
    """Cut numeric features into intervals that tell the classes apart.

    Cuts are chosen by minimal description length (Fayyad and Irani 1993); a feature that no cut
    pays for is one interval. Booleans are two levels.

    Parameters
    ----------
    table : _core.Table
        The table.
    schema : TableSchema
        Its features.
    classes : ndarray of int32, shape (n_rows, 1)
        Class codes.
    n_classes : int
        Number of classes.
    weights : ndarray of float64 or None
        Weights of the rows.
    n_threads : int
        Threads.

    Returns
    -------
    codes : NominalCodes
        How cells become levels; its schema knows which features have missing values.
    """
    dataset = _core.BinnedDataset(
        table,
        weights,
        [len(feature.levels or ()) for feature in schema.features],
        exact=True,
        n_threads=n_threads,
    )
    cuts: list[NDArray[Any] | None] = []
    for feature, info in enumerate(schema.features):
        if info.kind == Kind.CATEGORY:
            cuts.append(None)
        elif info.label == "boolean":
            cuts.append(np.array([0.5]))
        else:
            found = _core.interval_cuts(
                dataset, feature, classes=classes, n_classes=[n_classes], weights=weights
            )
            cuts.append(np.unique(found))
    codes = NominalCodes(schema.completed(dataset), tuple(cuts))
    codes.check_levels()
    return codes
