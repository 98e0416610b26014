"""The one place where the library reads tables.

`read_table` turns what a user passed to `fit` into the engine's `Table` and a `TableSchema`: names,
kinds and levels of the features. The schema reads every later table the same way, so that a row
means the same at prediction: columns are matched by name, levels get the codes of training, and a
column that changed its nature is an error that names it. Missing values are NaN, None, NA, NaT and
masked cells; infinite values are ordinary values at the ends of the order.
"""

from __future__ import annotations

import hashlib
import logging
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.base.warn import warn
from committee.files.codec_classes import register
from committee.files.parts import NOTHING, TEXT, Part, instance, tuple_of
from committee.tables.column import DIRECT_TYPES, MAX_LEVELS, FeatureInfo, Kind
from committee.tables.conform import conformed_column, match_names
from committee.tables.numeric_text import TextReader
from committee.tables.source import Matrix, SharedSource, Source, open_batch, open_source
from committee.tables.sparse import SparseMatrix, check_cells

__all__ = [
    "MAX_LEVELS",
    "FeatureInfo",
    "Kind",
    "TableSchema",
    "read_table",
]

_log = logging.getLogger(__name__)

_DTYPE_OF_KIND = {Kind.REAL: np.float64, Kind.INTEGER: np.int64, Kind.CATEGORY: np.int32}


BinBy = Callable[[_core.Table, Floats | None], _core.BinnedDataset]


@register("TableSchema")
@dataclass(frozen=True)
class TableSchema:
    """The features a model was fitted on, and how to read them from another table.

    Parameters
    ----------
    features : tuple of FeatureInfo
        One for each column, in the order of the table of `fit`.
    names : tuple of str or None
        The column names, None if the table had none (arrays, integer labels).

    Examples
    --------
    >>> import numpy as np
    >>> _, schema = read_table(np.array([["a", 1.5], ["b", None]], dtype=object))
    >>> [feature.label for feature in schema.features]
    ['category', 'number']
    >>> schema.read([["b", 0.5]], "DecisionTreeClassifier").n_rows
    1
    """

    features: tuple[FeatureInfo, ...]
    names: tuple[str, ...] | None

    _is_shared = True  # members of a committee have the same one
    _stored_parts: ClassVar[dict[str, Part]] = {
        "features": tuple_of(instance(FeatureInfo), "features", least=1),
        "names": NOTHING | tuple_of(TEXT, "features"),
    }

    def _validate_loaded(self) -> None:
        names = self.names
        if names is None:
            return
        if names != tuple(feature.name for feature in self.features):
            raise ValueError("the names are not those of the features")
        if len(set(names)) != len(names):
            raise ValueError("a name occurs twice")

    def check_model(self, model: Any) -> None:
        """Raise ValueError unless a loaded model has the number and the names of the features."""
        names = getattr(model, "feature_names_in_", None)
        if model.n_features_in_ != self.n_features:
            raise ValueError("n_features_in_ does not fit the schema")
        if self.names != (None if names is None else tuple(names)):
            raise ValueError("feature_names_in_ does not fit the schema")

    def check_trees(self, *trees: _core.Tree | _core.Forest) -> None:
        """Raise ValueError unless loaded trees can read tables of this schema."""
        for tree in trees:
            tree.predict(self.empty_table())  # the engine compares the kinds of the features

    def empty_table(self) -> _core.Table:
        """Return a table without rows."""
        table = _core.Table(0)
        for feature in self.features:
            table.add_column(int(feature.kind), np.empty(0, _DTYPE_OF_KIND[feature.kind]))
        return table

    @property
    def n_features(self) -> int:
        return len(self.features)

    @cached_property
    def _takes_numbers(self) -> bool:
        """Whether an array of floats is a table of these features as it is."""
        return all(each.kind == Kind.REAL and each.order is None for each in self.features)

    def completed(self, dataset: _core.BinnedDataset) -> TableSchema:
        """Return the schema with what binning found: missing values, and features without others.

        Rows of weight zero are not looked at.
        """
        changes = []
        for position, feature in enumerate(self.features):
            has_missing = dataset.has_missing(position)
            is_empty = has_missing and feature.levels is None and dataset.n_codes(position) == 1
            if (feature.has_missing, feature.is_empty) != (has_missing, is_empty):
                changes.append((position, has_missing, is_empty))
        if not changes:
            return self
        key = tuple(changes)
        if key not in self._completed:
            self._completed[key] = self._changed(changes)
        return self._completed[key]

    @cached_property
    def _completed(self) -> dict[tuple[tuple[int, bool, bool], ...], TableSchema]:
        """Members of an ensemble share one schema where they have seen the same."""
        return {}

    def _changed(self, changes: Sequence[tuple[int, bool, bool]]) -> TableSchema:
        features = list(self.features)
        for position, has_missing, is_empty in changes:
            known = features[position]
            features[position] = replace(known, has_missing=has_missing, is_empty=is_empty)
        return TableSchema(tuple(features), self.names)

    def read(self, X: Any, estimator_name: str) -> _core.Table:
        """Read a table to predict from.

        Parameters
        ----------
        X : table, dict or Series
            Anything `read_table` accepts, with the columns of `fit` in any order if both tables
            have names, else in the same order. It may have no rows. One row may also be a dict from
            names to cells, or a pandas Series with names as its index.
        estimator_name : str
            For messages.

        Returns
        -------
        table : _core.Table
            Features in the order of `fit`; levels unseen in `fit` have the number -2, which trees
            take for missing (-1).
        """
        # A plain float array, often of a single row, must cost next to nothing.
        if (
            type(X) is np.ndarray
            and X.dtype in DIRECT_TYPES
            and X.ndim == 2
            and X.shape[1] == len(self.features)
            and X.shape[0] > 0
            and self.names is None
            and self._takes_numbers
            and X.flags.aligned
        ):
            return _core.Table.from_matrix(X)
        source = open_batch(X, self.names, len(self.features))
        positions = self._positions(source, estimator_name)
        if source.kept is None:
            return self._read(source, positions)
        places = positions if isinstance(positions, range) else tuple(positions)
        table: _core.Table = source.kept.once(
            (self._how, places), lambda: self._read(source, positions)
        )
        return table

    @cached_property
    def _how(self) -> bytes:
        """Members of an ensemble may have seen other missing values, but read in the same way."""
        how = [
            (each.label, each.levels, each.order, each.from_text, each.is_empty)
            for each in self.features
        ]
        return hashlib.blake2b(repr(how).encode()).digest()

    def _read(self, source: Source, positions: Sequence[int]) -> _core.Table:
        if isinstance(source, Matrix) and self._takes_numbers:
            in_order = isinstance(positions, range)
            return _core.Table.from_matrix(
                source.values if in_order else source.values[:, positions]
            )
        if isinstance(source, SparseMatrix) and self._takes_numbers:
            return source.table()
        table = _core.Table(source.n_rows)
        for feature, position in zip(self.features, positions, strict=True):
            column = conformed_column(source, position, feature)
            table.add_column(int(feature.kind), column.values, column.mask)
        return table

    def _positions(self, source: Source, estimator_name: str) -> Sequence[int]:
        """Where each feature stands in the given table."""
        if self.names is not None and source.names is not None:
            return match_names(self.names, source.names)
        if source.n_features != len(self.features):
            raise ValueError(
                f"X has {source.n_features} features, but {estimator_name} is expecting "
                f"{len(self.features)} features as input"
            )
        if self.names is not None:
            warn(
                f"X does not have valid feature names, but {estimator_name} was fitted with "
                "feature names; its columns are taken in the order of fit"
            )
        elif source.names is not None:
            warn(
                f"X has feature names, but {estimator_name} was fitted without feature names; "
                "its columns are taken in the order of fit"
            )
        return range(source.n_features)


class SharedTable(_core.Table):
    """The table of several fits, which share what is made of it.

    Parameters
    ----------
    table : _core.Table
        The table; its columns are not copied.
    shared : SharedSource
        Keeps what was made.
    whole : SharedTable or None, default=None
        The table that this one shows some rows of.
    """

    def __init__(
        self, table: _core.Table, shared: SharedSource, whole: SharedTable | None = None
    ) -> None:
        super().__init__(table.n_rows)
        self._shared = weakref.ref(shared)  # which keeps this table
        self._whole = whole
        for feature in range(table.n_features):
            self.add_from(table, feature)

    def binned(self, key: Any, bin_by: BinBy) -> _core.BinnedDataset:
        """Return the table binned by the weights of all rows, which is done once for a key."""
        shared = self._shared()
        assert shared is not None

        def make() -> _core.BinnedDataset:
            if self._whole is None:
                return bin_by(self, shared.weights)
            assert shared.rows is not None
            return self._whole.binned(key, bin_by).take(self, shared.rows)

        dataset: _core.BinnedDataset = shared.made.once((id(self), key), make)
        return dataset


def read_table(
    X: Any, categorical_features: Any = None, numeric_text: str = "auto", *, ranks: bool = True
) -> tuple[_core.Table, TableSchema]:
    """Read a table to fit on.

    Parameters
    ----------
    X : table
        A NumPy array (plain or masked), a pandas, polars or pyarrow table or another eager frame
        that narwhals reads, a SciPy sparse matrix or array, a list of rows, or an object with
        ``__array__``. Text, categories and enums become categories; booleans and numbers are
        numbers; dates and durations are counted in microseconds.
    categorical_features : None, "from_dtype" or list, default=None
        Numeric columns to treat as categories as well: names, positions, or one boolean a column.
    numeric_text : {"auto", "number", "category"}, default="auto"
        What numbers written as text are. "auto" reads them as numbers where a column of an array
        or a list holds nothing else, with a warning; text of data frames stays a category, with a
        warning where nearly all of it are numbers. "number" makes numbers of both, and of marks
        such as "?" and "n/a" missing values; "category" leaves text alone.
    ranks : bool, default=True
        Whether levels that have an order are read as numbers, their ranks.

    Returns
    -------
    table : _core.Table
        The features as the engine reads them, without a copy where their type allows it.
    schema : TableSchema
        Names, kinds and levels, to read later tables with.

    Examples
    --------
    >>> table, schema = read_table([["red", 1], ["blue", 2]])
    >>> table.n_rows, table.n_features
    (2, 2)
    >>> schema.features[0].levels
    ('blue', 'red')
    """
    if isinstance(X, SharedSource) and X.whole is not None:
        return _read_part(X, categorical_features, numeric_text, ranks)
    source = open_source(X)
    is_category = _category_mask(categorical_features, source)
    _check_numeric_text(numeric_text)
    if source.kept is None:
        return _read_columns(source, is_category, numeric_text, ranks)
    key = is_category.tobytes(), numeric_text, ranks
    read: tuple[_core.Table, TableSchema] = source.kept.once(
        key, lambda: _read_columns(source, is_category, numeric_text, ranks)
    )
    if not isinstance(X, SharedSource):
        return read
    table: SharedTable = X.made.once(key, lambda: SharedTable(read[0], X))
    return table, read[1]


def _read_part(
    X: SharedSource, categorical_features: Any, numeric_text: str, ranks: bool
) -> tuple[_core.Table, TableSchema]:
    """Read some rows of a table as the whole of it is read."""
    whole, schema = read_table(X.whole, categorical_features, numeric_text, ranks=ranks)
    assert isinstance(whole, SharedTable)

    def make() -> SharedTable:
        return SharedTable(schema._read(X.source, range(schema.n_features)), X, whole)

    table: SharedTable = X.made.once(id(whole), make)
    return table, schema


def _read_columns(
    source: Source, is_category: NDArray[np.bool_], numeric_text: str, ranks: bool
) -> tuple[_core.Table, TableSchema]:
    if isinstance(source, Matrix) and not is_category.any() and source.is_all_real():
        features = tuple(
            FeatureInfo(_name(source, position), Kind.REAL, None, source.label)
            for position in range(source.n_features)
        )
        return _core.Table.from_matrix(source.values), TableSchema(features, source.names)
    if isinstance(source, SparseMatrix) and not is_category.any():
        features = tuple(
            FeatureInfo(_name(source, position), Kind.REAL, None, source.label)
            for position in range(source.n_features)
        )
        return source.table(), TableSchema(features, None)
    table = _core.Table(source.n_rows)
    infos = []
    text: TextReader | None = None
    for position in range(source.n_features):
        column = source.column(position)
        if is_category[position] or (column.order is not None and not ranks):
            column = column.as_category()
        elif column.from_text:
            text = text or TextReader(numeric_text, source.is_frame)
            column = text.read(column, source.where(position))
        if column.levels is not None and len(column.levels) > MAX_LEVELS:
            raise _too_many_levels(len(column.levels), source.where(position))
        infos.append(FeatureInfo.of(_name(source, position), column))
        table.add_column(int(column.kind), column.values, column.mask)
    if text is not None:
        text.warn()
    return table, TableSchema(tuple(infos), source.names)


def _check_numeric_text(choice: Any) -> None:
    if not (isinstance(choice, str) and choice in ("auto", "number", "category")):
        kind = ValueError if isinstance(choice, str) else TypeError
        raise kind(f'numeric_text must be "auto", "number" or "category"; got {choice!r}')


def _name(source: Source, position: int) -> str:
    return f"x{position}" if source.names is None else source.names[position]


def _too_many_levels(n_levels: int, where: str) -> ValueError:
    return ValueError(
        f"{where} is a category with {n_levels} levels; at most {MAX_LEVELS} are supported. "
        "Leave the column out if it names single rows, else merge its rare levels"
    )


def _category_mask(categorical_features: Any, source: Source) -> NDArray[np.bool_]:
    """Which columns the user wants to be categories, whatever they hold."""
    mask = np.zeros(source.n_features, bool)
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "from_dtype"
    ):
        return mask
    if isinstance(categorical_features, str) or not isinstance(categorical_features, Iterable):
        raise _category_error(categorical_features)
    wanted = list(categorical_features)
    if wanted and all(isinstance(entry, bool | np.bool_) for entry in wanted):
        if len(wanted) != source.n_features:
            raise ValueError(
                f"categorical_features as booleans must have one for each of the "
                f"{source.n_features} columns; got {len(wanted)}"
            )
        return np.array(wanted, bool)
    for entry in wanted:
        mask[_position(entry, source, categorical_features)] = True
    return mask


def _position(entry: Any, source: Source, categorical_features: Any) -> int:
    if isinstance(entry, str):
        if source.names is None:
            raise ValueError(
                f"categorical_features names the column {entry!r}, but X has no column names; "
                "give positions instead"
            )
        if entry not in source.names:
            raise ValueError(f"categorical_features names {entry!r}, which is no column of X")
        return list(source.names).index(entry)
    if isinstance(entry, bool | np.bool_) or not isinstance(entry, int | np.integer):
        raise _category_error(categorical_features)
    if not 0 <= entry < source.n_features:
        raise ValueError(
            f"categorical_features holds the position {entry}; "
            f"X has the positions 0 to {source.n_features - 1}"
        )
    return int(entry)


def _category_error(categorical_features: Any) -> Exception:
    kind = ValueError if isinstance(categorical_features, str) else TypeError
    return kind(
        'categorical_features must be None, "from_dtype", a list of column names, a list of '
        f"positions or one boolean for each column; got {categorical_features!r}"
    )


def bin_table(
    model: Any,
    table: _core.Table,
    schema: TableSchema,
    weights: Floats | None,
    *,
    exact: bool,
    n_threads: int,
    spread: bool = True,
) -> tuple[_core.BinnedDataset, TableSchema]:
    """Bin a table; return it with the schema completed by what training saw.

    A table of several fits is binned once, by the weights that all of them share. Codes of sparse
    columns are spread out, one for each row, unless `spread` is false.
    """
    from committee.base.params import check_int  # loads scikit-learn, which reading does not need

    max_bins = check_int("max_bins", model.max_bins, 2, 255)
    if table.has_sparse and (spread or exact):
        check_cells(table.n_rows, table.n_features, type(model).__name__)
    n_levels = [len(feature.levels or ()) for feature in schema.features]

    def bin_by(own: _core.Table, by: Floats | None) -> _core.BinnedDataset:
        if _log.isEnabledFor(logging.DEBUG):
            labels = Counter(feature.label for feature in schema.features)
            kinds = ", ".join(f"{count} {label}" for label, count in labels.items())
            what = "ranks of values" if exact else f"at most {max_bins} bins a column"
            _log.debug("%d rows in %s; columns: %s", own.n_rows, what, kinds)
        return _core.BinnedDataset(
            own, by, n_levels, max_bins=max_bins, exact=exact, n_threads=n_threads, spread=spread
        )

    if isinstance(table, SharedTable):
        dataset = table.binned((max_bins, exact, spread), bin_by)
    else:
        dataset = bin_by(table, weights)
    return dataset, schema.completed(dataset)


def fingerprint(forest: Any, table: Any, target: NDArray[Any]) -> int:
    """Return a number for a training table: of its targets, and of its leaves in the first tree.

    Rows in another order, other rows or another target give another number, unless by chance.

    Parameters
    ----------
    forest : _core.Forest
        The trees.
    table : _core.Table
        The rows.
    target : ndarray of shape (n_rows, n_outputs)
        Class codes or numbers.

    Returns
    -------
    number : int
        In [0, 2**32).
    """
    leaves: Any = forest.part(0, 1).apply(table)
    return zlib.crc32(np.ascontiguousarray(target).data, zlib.crc32(leaves.data))
