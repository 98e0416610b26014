"""Which rows are held out or drawn, decided by what rows hold and not by where they stand.

Rows are put in the order of their keys, numbers that depend on their cells and a seed. Values
count and not codes, which depend on other rows: 1 and 1.0, float32 and float64, -0.0 and 0.0 are
equal, and so are all missing values of a column. A row of weight two stands there twice, and one of
the two may be held out or drawn without the other: a part is a number for each row, how many of its
repetitions belong to it.

Where rows with equal cells have equal targets they are copies of one row, and are held out
together: a sample with repetitions, such as bagging draws and passes on as weights, would otherwise
be validated on rows that it has learned. Where their targets often differ they are observations of
their own, as in a table of a few categories, and are dealt one by one. So are cells that more than
a tenth of all rows share: there would be nothing to learn them from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats, Rows
from committee.base.sampling import RowSampler, number_groups, plan_rows
from committee.tables.column import FeatureInfo
from committee.tables.table import TableSchema, read_table

Counts = NDArray[np.int64]

_MOST_SHARED = 0.1  # of all rows: more rows with equal cells are dealt one by one
_MOST_DIFFERING = 0.1  # of the cells that several rows share: their targets may differ
_MOST_DRAWN = 2**26  # repetitions that are drawn one by one; with more, rows are


def row_keys(
    table: _core.Table, schema: TableSchema, seed: int = 0, n_threads: int = 1
) -> NDArray[np.uint64]:
    """Return a number for each row that depends on its cells and the seed alone.

    Parameters
    ----------
    table : _core.Table
        The table.
    schema : TableSchema
        Has the levels of its categories.
    seed : int, default=0
        Another seed gives other numbers.
    n_threads : int, default=1
        Threads to use.

    Returns
    -------
    keys : ndarray of uint64
        Different rows have different keys, but for one pair in 2**64.

    Examples
    --------
    >>> table, schema = read_table([["a", 5.0], ["b", 5.0], ["a", 5.0]])
    >>> keys = row_keys(table, schema)
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    level_keys = [_level_keys(feature) for feature in schema.features]
    keys = np.full(table.n_rows, seed, np.uint64)
    return table.row_keys(keys, level_keys, n_threads)


def table_keys(X: Any, seed: int = 0) -> NDArray[np.uint64]:
    """Return the keys of the rows of a table that has not been read; see `row_keys`."""
    # Text is as good as numbers here.
    return row_keys(*read_table(X, numeric_text="category"), seed)


def with_columns(keys: NDArray[np.uint64], columns: NDArray[Any]) -> NDArray[np.uint64]:
    """Return keys that depend on further columns of numbers, shape (n_rows, n_columns), too."""
    return _core.Table.from_matrix(columns).row_keys(keys, [()] * columns.shape[1])


def _level_keys(feature: FeatureInfo) -> Sequence[int]:
    """Return a number for each level of a category, from what it is called."""
    names = (repr(level).encode() for level in feature.levels or ())
    digests = (hashlib.blake2b(name, digest_size=8).digest() for name in names)
    return [int.from_bytes(digest, "little") for digest in digests]


@dataclass(frozen=True, eq=False)
class ContentOrder:
    """The rows of a table, each as often as it counts, in an order that their content decides.

    Parameters
    ----------
    keys : ndarray of uint64
        Keys of the rows, with a seed.
    counts : ndarray of int64
        How often each row counts; 0 for rows that are absent.
    target_keys : ndarray of uint64 or None, default=None
        Keys that depend on the target too; None is `keys`.
    classes : ndarray of int32 or None, default=None
        Class codes: each part has its share of each class, and the only row of a class is never
        held out.
    groups : array-like or None, default=None
        Rows with the same value are kept together, whatever else they hold.
    weights : ndarray of float64 or None, default=None
        Put rows in order that are equal in all else.

    Examples
    --------
    >>> keys, counts = np.arange(7, dtype=np.uint64), np.array([1, 1, 1, 1, 0, 1, 1])
    >>> order = ContentOrder(keys, counts)
    >>> [fold.tolist() for fold in order.folds(3)]
    [[1, 0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0, 1]]
    >>> order.part(0.3).tolist(), order.last_part(0.3).tolist()
    ([0, 1, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1])
    """

    keys: NDArray[np.uint64]
    counts: Counts
    target_keys: NDArray[np.uint64] | None = None
    classes: NDArray[np.int32] | None = None
    groups: Any = None
    weights: Floats | None = None

    def folds(self, n_folds: int) -> list[Counts]:
        """Deal the rows into parts that are held out in turns, none of them empty.

        Parameters
        ----------
        n_folds : int
            Number of parts; there are fewer if there are not enough rows or groups.

        Returns
        -------
        folds : list of ndarray of int64, shape (n_rows,)
            How many repetitions of each row are held out.
        """
        if self.groups is not None:
            folds = self._groups.folds(n_folds)
            parts = [np.where(folds == fold, self.counts, 0) for fold in range(n_folds)]
        else:
            parts = [self._spread(each) for each in self._places.folds(n_folds)]
        return [part for part in parts if part.any()]

    def part(self, fraction: float) -> Counts:
        """Return one part with about this share of the rows; some rows are always left."""
        self._check_some()
        if self.groups is not None:
            return np.where(self._groups.part(fraction), self.counts, 0)
        return self._spread(self._places.part(fraction))

    def last_part(self, fraction: float) -> Counts:
        """Return the last rows instead: the table is in the order of time."""
        self._check_some()
        n_all = int(self.counts.sum())
        n_wanted = min(max(round(fraction * n_all), 1), n_all - 1)
        n_later = n_all - np.cumsum(self.counts)
        return np.clip(n_wanted - n_later, 0, self.counts)

    def _check_some(self) -> None:
        n_all = int(self.counts.sum())
        if n_all < 2:
            raise ValueError(
                f"early stopping needs rows to validate on; got {n_all} sample(s) in all. Set "
                "early_stopping=False or give eval_set"
            )

    def sampler(self, share: float, seed: int) -> ContentSampler:
        """Return draws of this share of the rows, or of the groups, without replacement.

        All repetitions are alike, and so are all groups, whatever their size.
        """
        counts = self.counts if self.counts.sum() <= _MOST_DRAWN else np.minimum(self.counts, 1)
        if self.groups is not None:
            rows, starts, n_units = self._groups.ranks, None, len(self._groups.sizes)
        else:
            rows = self.by_content
            own = counts[rows]
            starts, n_units = np.cumsum(own) - own, int(own.sum())
        n_drawn = max(1, int(share * n_units))
        units = plan_rows(n_units, seed, bootstrap=False, max_samples=n_drawn)
        return ContentSampler(units, counts, rows, starts)

    # ---- rows without groups ----

    @cached_property
    def by_content(self) -> Rows:
        """The rows that are there in the order of their keys: equal ones by class and target."""
        present = np.flatnonzero(self.counts)
        order = present[np.argsort(self.keys[present])]
        is_tied = ~_begins(self.keys[order])
        is_tied[:-1] |= is_tied[1:]
        tied = order[is_tied]
        if len(tied) > 0:
            columns: list[NDArray[Any]] = [tied]
            columns += [] if self.weights is None else [self.weights[tied]]
            columns += [] if self.target_keys is None else [self.target_keys[tied]]
            columns += [] if self.classes is None else [self.classes[tied]]
            order[is_tied] = tied[np.lexsort([*columns, self.keys[tied]])]
        return order

    @cached_property
    def _places(self) -> _Places:
        return _Places.of(self)

    def _spread(self, of_present: Counts) -> Counts:
        """Return numbers of all rows from those of `_Places.rows`."""
        part = np.zeros(len(self.counts), np.int64)
        part[self._places.rows] = of_present
        return part

    @cached_property
    def _groups(self) -> _Groups:
        return _Groups.of(self)


@dataclass(frozen=True, eq=False)
class _Places:
    """Places in the order: rows that are held out together have one, others one a repetition.

    Row i of `rows` has the places begins[i] ... ends[i] - 1 of its stratum, each of which stands
    for sizes[i] of its repetitions. Stratum k has n_places[k] of them.
    """

    rows: Rows
    strata: Rows
    begins: Counts
    ends: Counts
    sizes: Counts
    n_places: Counts

    @classmethod
    def of(cls, order: ContentOrder) -> _Places:
        rows = order.by_content
        own, is_first = order.counts[rows], _begins(order.keys[rows])
        classes = None if order.classes is None else order.classes[rows]
        cells = np.cumsum(is_first) - 1
        n_sharing = np.bincount(cells, own)
        is_shared = (n_sharing > _MOST_SHARED * own.sum())[cells]
        targets = classes if order.target_keys is None else order.target_keys[rows]
        if targets is not None:
            differs = np.unique(cells[_begins(targets) & ~is_first])
            is_shared |= len(differs) > _MOST_DIFFERING * np.count_nonzero(n_sharing > 1)
        n_places = np.where(is_shared, own, is_first)
        if classes is None:
            ends = np.cumsum(n_places)
            strata, n_all = np.zeros(len(rows), np.int64), ends[-1:]
        else:
            strata = np.where(is_shared, classes, _main_classes(cells, classes, own))
            few = strata.astype(np.uint16) if strata.max() < 2**16 else strata  # sorted sooner
            by_stratum = np.argsort(few, kind="stable")
            rows, own, strata = rows[by_stratum], own[by_stratum], strata[by_stratum]
            is_shared, n_places = is_shared[by_stratum], n_places[by_stratum]
            ends = np.cumsum(n_places)
            firsts = _begins(strata)
            n_all = np.diff(ends[np.append(np.flatnonzero(firsts)[1:] - 1, -1)], prepend=0)
            strata = np.cumsum(firsts) - 1
            ends -= (np.cumsum(n_all) - n_all)[strata]
        begins = ends - np.where(is_shared, own, 1)
        return cls(rows, strata, begins, ends, np.where(is_shared, 1, own), n_all)

    def folds(self, n_folds: int) -> list[Counts]:
        """Deal places like cards, all strata one after another."""
        is_dealt = self.n_places > 1
        # Where every class has one row, any row is better than none.
        is_dealt = is_dealt if is_dealt.any() else ~is_dealt
        n_dealt = np.where(is_dealt, self.n_places, 0)
        offsets = (np.cumsum(n_dealt) - n_dealt)[self.strata]
        begins, ends = self.begins + offsets, self.ends + offsets
        sizes = np.where(is_dealt[self.strata], self.sizes, 0)
        return [
            sizes * (_n_before(ends, fold, n_folds) - _n_before(begins, fold, n_folds))
            for fold in range(n_folds)
        ]

    def part(self, fraction: float) -> Counts:
        """Take places at equal distances, the same share of each stratum."""
        n_places = self.n_places
        shares = np.minimum(fraction, (n_places - 1) / n_places)
        if not np.floor(n_places * shares + 0.5).any():
            shares[n_places.argmax()] = 0.75 / n_places.max()  # one place
        of_rows = shares[self.strata]
        ends, begins = np.floor(self.ends * of_rows + 0.5), np.floor(self.begins * of_rows + 0.5)
        return np.asarray(self.sizes * (ends - begins).astype(np.int64))


def _n_before(places: Counts, fold: int, n_folds: int) -> Counts:
    """Return how many of the places 0 ... place - 1 are fold, fold + n_folds, ..."""
    return np.asarray((places - fold - 1) // n_folds + 1)


def _begins(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of sorted values differ from the one before."""
    begins = np.ones(len(values), bool)
    begins[1:] = values[1:] != values[:-1]
    return begins


def _main_classes(cells: Rows, classes: NDArray[np.int32], counts: Counts) -> NDArray[np.int32]:
    """Return the class that most rows of equal cells have, the lowest one of several.

    Parameters
    ----------
    cells : ndarray of int
        A number for each row, the same for equal cells; ascending.
    classes : ndarray of int32
        Class codes, ascending among equal cells.
    counts : ndarray of int64
        How often each row counts.

    Examples
    --------
    >>> cells, classes = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 0, 1], np.int32)
    >>> _main_classes(cells, classes, np.ones(5, np.int64)).tolist()
    [1, 1, 1, 0, 0]
    """
    firsts = np.flatnonzero(_begins(cells) | _begins(classes))  # of pairs of cells and class
    if len(firsts) == cells[-1] + 1:
        return classes  # each has one
    sizes = np.add.reduceat(counts, firsts)
    pairs = firsts[np.lexsort((-sizes, cells[firsts]))]  # stable: the lowest class first
    chosen: NDArray[np.int32] = classes[pairs[_begins(cells[pairs])]]
    return chosen[cells]


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of rows in an order that their content decides.

    `ranks` has the place of each row's group, -1 for rows that are absent, and `sizes` how many
    rows each group has.
    """

    ranks: Rows
    sizes: Counts

    @classmethod
    def of(cls, order: ContentOrder) -> _Groups:
        counts = order.counts
        rows = np.flatnonzero(counts)
        given = number_groups(order.groups, len(counts))[1][rows]
        labels, numbers = np.unique(given, return_inverse=True)
        keys = order.keys if order.target_keys is None else order.target_keys
        # Sums do not depend on the order of the rows, and count repetitions as rows.
        sums = np.zeros(len(labels), np.uint64)
        np.add.at(sums, numbers, keys[rows] * counts[rows].astype(np.uint64))
        sizes = np.bincount(numbers, counts[rows]).astype(np.int64)
        ranking = np.argsort(sums, kind="stable")
        places = np.empty(len(labels), np.intp)
        places[ranking] = np.arange(len(labels))
        ranks = np.full(len(counts), -1)
        ranks[rows] = places[numbers]
        return cls(ranks, sizes[ranking])

    def folds(self, n_folds: int) -> Rows:
        """Return the fold of each row: the largest group first, each where there is most room."""
        self._check_several()
        folds, filled = np.zeros(len(self.sizes) + 1, np.intp), np.zeros(n_folds, np.int64)
        for group in np.argsort(-self.sizes, kind="stable"):
            folds[group] = filled.argmin()
            filled[folds[group]] += self.sizes[group]
        return folds[self.ranks]

    def part(self, fraction: float) -> NDArray[np.bool_]:
        """Take whole groups, in their order, until they have the wanted share of the rows."""
        self._check_several()
        before = np.cumsum(self.sizes) - self.sizes
        n_wanted = int((before < fraction * self.sizes.sum()).sum())
        return (self.ranks >= 0) & (self.ranks < max(1, min(n_wanted, len(self.sizes) - 1)))

    def _check_several(self) -> None:
        if len(self.sizes) < 2:
            raise ValueError(
                "groups must have two groups or more, one of them to validate on; got one"
            )


@dataclass(frozen=True, eq=False)
class ContentSampler:
    """Draws of repetitions of rows, or of groups. `ContentOrder.sampler` makes it.

    Parameters
    ----------
    units : RowSampler
        Draws what is drawn: repetitions in the order of the content, or groups.
    counts : ndarray of int64
        How often each row counts.
    rows : ndarray of int
        The rows in the order of their content; with groups the group of each row, -1 for none.
    starts : ndarray of int64 or None
        The first repetition of each of these rows; None where groups are drawn.
    """

    units: RowSampler
    counts: Counts
    rows: Rows
    starts: Counts | None

    def drawn(self, number: int) -> Counts:
        """Return how many repetitions of each row draw `number` has."""
        drawn = self.units.counts(number)
        if self.starts is None:
            return np.where(self.rows >= 0, drawn[self.rows], 0) * self.counts
        result = np.zeros(len(self.counts), np.int64)
        is_simple = len(drawn) == len(self.rows)
        result[self.rows] = drawn if is_simple else np.add.reduceat(drawn, self.starts)
        return result
