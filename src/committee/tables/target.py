"""The target: classes as codes, or real numbers.

Both come as one array with a column for each output, so that several outputs need no second path.
Messages hold the phrases that scikit-learn's checks look for.

Weights of rows are read here too. A row of weight two counts as that row twice, and a row of weight
zero as absent.
"""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.warn import warn
from committee.tables.column import Column, complex_error, numpy_column
from committee.tables.frame import as_narwhals, frame_column, read_stream


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """Class labels as codes.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows, n_outputs)
        ``classes[k][codes[i, k]]`` is the label of row i in output k.
    classes : list of ndarray
        The sorted distinct labels of each output.
    n_outputs : int
        Number of outputs.

    Examples
    --------
    >>> target = read_classes(["no", "yes", "no"])
    >>> target.codes.ravel().tolist(), target.classes[0].tolist()
    ([0, 1, 0], ['no', 'yes'])
    """

    codes: NDArray[np.int32]
    classes: list[NDArray[Any]]
    n_outputs: int


def read_classes(y: Any) -> ClassTarget:
    """Read the target of a classifier.

    Parameters
    ----------
    y : array-like, Series or data frame, shape (n_rows,) or (n_rows, n_outputs)
        Text, integers, booleans or categories; floats only if they are whole numbers.

    Returns
    -------
    target : ClassTarget
        Codes and classes of each output.

    Examples
    --------
    >>> read_classes([3, 1, 3]).codes.ravel().tolist()
    [1, 0, 1]
    """
    if isinstance(y, ClassTarget):  # read before, for many readers
        return y
    columns, _ = _open_target(y)
    codes = np.empty((len(columns[0]), len(columns)), np.int32)
    classes = []
    for output, cells in enumerate(columns):
        labels, codes[:, output] = _encode(cells)
        classes.append(labels)
    return ClassTarget(codes, classes, len(columns))


def read_reals(y: Any) -> tuple[Floats, bool]:
    """Read the target of a regressor.

    Parameters
    ----------
    y : array-like, Series or data frame, shape (n_rows,) or (n_rows, n_outputs)
        Finite numbers.

    Returns
    -------
    values : ndarray of float64, shape (n_rows, n_outputs)
        C-contiguous.
    is_1d : bool
        Whether predictions should have one dimension: y had one, or a single column.

    Examples
    --------
    >>> values, is_1d = read_reals([1, 2.5])
    >>> values.ravel().tolist(), is_1d
    ([1.0, 2.5], True)
    """
    columns, is_1d = _open_target(y)
    values = np.empty((len(columns[0]), len(columns)), np.float64)
    for output, cells in enumerate(columns):
        values[:, output] = _as_reals(cells)
    return values, is_1d


def read_known_classes(y: Any, classes: NDArray[Any]) -> NDArray[np.int32]:
    """Read more of a target whose classes are known.

    Parameters
    ----------
    y : array-like or Series, shape (n_rows,)
        Labels among those known.
    classes : ndarray
        The sorted labels of all classes.

    Returns
    -------
    codes : ndarray of int32, shape (n_rows, 1)
        Places in `classes`.

    Examples
    --------
    >>> read_known_classes(["b", "b"], np.array(["a", "b"])).ravel().tolist()
    [1, 1]
    """
    labels = read_classes(y)
    known = {label: code for code, label in enumerate(classes.tolist())}
    found = labels.classes[0].tolist()
    unknown = [label for label in found if label not in known]
    if labels.n_outputs > 1:
        raise ValueError(f"y should be a 1d array, got {labels.n_outputs} columns instead")
    if unknown:
        raise ValueError(
            f"y has the labels {unknown}, which the y of fit has not; the classes are {list(known)}"
        )
    codes: NDArray[np.int32] = np.array([known[label] for label in found], np.int32)[labels.codes]
    return codes


def warn_of_column(y: Any) -> None:
    """Warn of a y with one column where one dimension is meant, as scikit-learn does."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # reading a target needs no more of it

        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )


def check_same_length(n_rows: int, n_targets: int) -> None:
    """Raise if X and y disagree on the number of rows.

    Examples
    --------
    >>> check_same_length(3, 3)
    """
    if n_rows != n_targets:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"[{n_rows}, {n_targets}] (rows of X, rows of y)"
        )


@dataclass(frozen=True, eq=False)
class _Cells:
    """One output: its column, and the array it came from if that was an array."""

    column: Column
    array: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.column.values)


def _open_target(y: Any) -> tuple[Sequence[_Cells], bool]:
    """Return the outputs of y, and whether it is one-dimensional (or a single column)."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    if hasattr(y, "tocsr"):
        raise TypeError("y must be dense; got a sparse matrix, call its toarray() first")
    frame = y if isinstance(y, np.ndarray) else as_narwhals(read_stream(y), "y")
    columns = _from_frame(frame) if frame is not y else _from_array(_as_array(y))
    if not columns:
        raise ValueError("y has 0 columns; at least one output is needed")
    if len(columns[0]) == 0:
        raise ValueError("y has 0 sample(s) while a minimum of 1 is required.")
    return columns, len(columns) == 1


def _from_frame(frame: Any) -> list[_Cells]:
    import narwhals as nw

    if isinstance(frame, nw.Series):
        return [_Cells(_target_column(frame, "y"), None)]
    columns = frame.iter_columns()
    return [_Cells(_target_column(s, f"column {s.name!r} of y"), None) for s in columns]


def _target_column(series: Any, where: str) -> Column:
    column = frame_column(series, where)
    return column if column.order is None else column.as_category()  # classes have no order


def _as_array(y: Any) -> NDArray[Any]:
    if isinstance(y, np.ndarray):
        return y
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError("y must be a 1d array or have rows of the same length") from error
    if array.dtype.kind not in "US" or not isinstance(y, list | tuple):
        return array
    # NumPy turns numbers beside text into text: labels of one output are what scikit-learn makes
    # of them. What is missing becomes text too, so look at the objects.
    cells = np.array(y, dtype=object)
    if array.ndim != 1:
        return cells  # outputs may differ in type
    has_none = any(cell is None or type(cell).__name__ == "NAType" for cell in cells.flat)
    return cells if has_none or np.any(cells != cells) else array  # NaN differs from itself


def _from_array(y: NDArray[Any]) -> list[_Cells]:
    if y.dtype.names is not None:
        raise TypeError("y is a structured array; pass a plain array or a data frame")
    if y.dtype.kind == "c":
        raise complex_error("y")
    if y.ndim not in (1, 2):
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    table = y.reshape(-1, 1) if y.ndim == 1 else y
    mask = np.ma.getmaskarray(table) if np.ma.is_masked(table) else None
    table = np.asarray(table)
    cells = []
    for output in range(table.shape[1]):
        hidden = None if mask is None else mask[:, output]
        where = "y" if table.shape[1] == 1 else f"column {output} of y"
        column = numpy_column(table[:, output], hidden, where)
        cells.append(_Cells(column, table[:, output]))
    return cells


def _refuse_missing(column: Column) -> None:
    values = column.values
    is_missing = column.mask is not None
    if column.levels is not None:
        is_missing = bool((values < 0).any())
    elif values.dtype.kind == "f":
        is_missing = is_missing or bool(np.isnan(values).any())
    if is_missing:
        raise ValueError("Input y contains NaN. Rows without a target cannot be fitted on")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            "The target must be finite"
        )


def _as_reals(cells: _Cells) -> Floats:
    column = cells.column
    if column.levels:
        raise ValueError(
            f"y holds text or categories (such as {column.levels[0]!r}); a regressor needs numbers"
        )
    _refuse_missing(column)
    if column.label in ("datetime", "timedelta"):
        raise ValueError(f"y holds {column.label} values; a regressor needs numbers")
    return np.asarray(column.values, np.float64)


def _encode(cells: _Cells) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct labels in sorted order, and the code of each row."""
    column = cells.column
    _refuse_missing(column)
    if column.label in ("datetime", "timedelta"):
        raise ValueError(f"Unknown label type: {column.label}. Make y text or numbers")
    if column.levels is not None:
        return _encode_levels(column, cells.array)
    values = column.values
    if values.dtype.kind == "f" and np.any(values != np.floor(values)):
        raise ValueError(
            "Unknown label type: continuous. A classifier needs discrete classes, but y holds "
            "numbers with fractions; use a regressor"
        )
    labels, codes = _encode_numbers(values)
    if column.label == "boolean":
        labels = labels.astype(bool)
    elif cells.array is not None and cells.array.dtype.kind in "fiu":
        labels = labels.astype(cells.array.dtype)
    return labels, codes


def _encode_levels(
    column: Column, array: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    levels = column.levels or ()
    is_text = {isinstance(level, str) for level in levels}
    if len(is_text) > 1:
        raise ValueError("Unknown label type: y mixes text and numbers; make its labels text")
    # Categories come in their own order; classes are sorted.
    order = sorted(range(len(levels)), key=lambda code: levels[code])
    rank = np.empty(len(levels), np.int32)
    rank[order] = np.arange(len(levels), dtype=np.int32)
    ordered = [levels[code] for code in order]
    if is_text == {False}:
        labels = np.array(ordered)
    elif array is not None and array.dtype.kind == "U":
        labels = np.array(ordered, dtype=array.dtype)
    else:
        labels = np.array(ordered, dtype=object)
    return labels, rank[column.values]


def _encode_numbers(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    low, high = values.min(), values.max()
    if values.dtype.kind == "f" or int(high) - int(low) > 4 * len(values) + 256:
        labels, inverse = np.unique(values, return_inverse=True)
        return labels, inverse.astype(np.int32)
    # A narrow range of integers needs no sorting: count, then look the codes up.
    offsets = values.astype(np.int64) - int(low)
    occurs = np.bincount(offsets) > 0
    code_of = (np.cumsum(occurs) - 1).astype(np.int32)
    labels = np.flatnonzero(occurs) + int(low)
    return labels, code_of[offsets]


def read_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Read the weights of the rows.

    Parameters
    ----------
    sample_weight : None, number, array-like or Series
        Finite weights >= 0, not all zero; one number stands for all rows.
    n_rows : int
        Number of rows of the table.

    Returns
    -------
    weights : ndarray of float64, shape (n_rows,), or None
        None if every row has weight one. Never the caller's own array.

    Examples
    --------
    >>> read_weights([0, 2, 1], 3).tolist()
    [0.0, 2.0, 1.0]
    """
    if sample_weight is None:
        return None
    weights = _as_vector(sample_weight, n_rows)
    if np.isnan(weights).any():
        raise ValueError("Input sample_weight contains NaN. A row to leave out has weight 0")
    if np.isinf(weights).any():
        raise ValueError(
            "Input sample_weight contains infinity or a value too large for dtype('float64')."
        )
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: it must be >= 0; "
            f"got {weights[row]} for row {row}"
        )
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    with np.errstate(over="ignore"):
        if np.isinf(weights.sum()):
            raise ValueError("the sum of sample_weight is too large for float64; scale it down")
    return None if (weights == 1.0).all() else weights


def are_repetitions(weights: Floats) -> bool:
    """Whether weights are counts of rows: whole, and few enough to be counted.

    Examples
    --------
    >>> are_repetitions(np.array([0.0, 2.0])), are_repetitions(np.array([1e300, 1e300]))
    (True, False)
    """
    return bool((weights == np.floor(weights)).all()) and float(weights.sum()) < 2**31


@dataclass(frozen=True)
class RowWeights:
    """Weights of the rows, and how many rows each stands for.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    weights : ndarray of float64 or None
        Weight of each row, None for all one.
    counts : ndarray of uint32 or None
        Repetitions of each row; None lets the weights say it: whole weights are repetitions,
        with any other weights a row counts once.
    """

    n_rows: int
    weights: Floats | None
    counts: NDArray[np.uint32] | None

    @classmethod
    def combine(
        cls,
        n_rows: int,
        sample_weight: Floats | None,
        factors: Floats | None,
    ) -> "RowWeights":
        """Multiply sample weights by class weights; only the former say how often a row counts."""
        if factors is None:
            return cls(n_rows, sample_weight, None)
        own = np.ones(n_rows) if sample_weight is None else sample_weight
        with np.errstate(over="ignore", under="ignore"):
            weights = own * factors
            is_finite = np.isfinite(weights.sum())
        if not is_finite or ((weights == 0) & (own > 0) & (factors > 0)).any():
            raise ValueError(
                "class_weight times sample_weight leaves the range of float64; scale one of them"
            )
        return cls(n_rows, weights, _repetitions(own))

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    @property
    def n_counted(self) -> int:
        """Number of rows with a positive weight, repetitions included."""
        if self.weights is None:
            return self.n_rows
        return int(self.repetitions[self.weights > 0].sum(dtype=np.int64))

    @property
    def repetitions(self) -> NDArray[np.uint32]:
        """How often each row counts."""
        if self.counts is not None:
            return self.counts
        if self.weights is None:
            return np.ones(self.n_rows, np.uint32)
        return _repetitions(self.weights)


def _repetitions(weights: Floats) -> NDArray[np.uint32]:
    counts: NDArray[np.uint32]
    counts = (weights if are_repetitions(weights) else weights > 0).astype(np.uint32)
    return counts


def _as_vector(sample_weight: Any, n_rows: int) -> Floats:
    if isinstance(sample_weight, numbers.Number):
        if not isinstance(sample_weight, numbers.Real):
            raise ValueError(f"sample_weight must be real numbers; got {sample_weight!r}")
        return np.full(n_rows, float(sample_weight))
    frame = sample_weight
    if not isinstance(sample_weight, np.ndarray):
        frame = as_narwhals(sample_weight, "sample_weight")
    array = np.asarray(sample_weight if frame is sample_weight else frame.to_numpy())
    if isinstance(sample_weight, np.ma.MaskedArray) and np.ma.is_masked(sample_weight):
        raise ValueError("Input sample_weight contains NaN: it has masked cells")
    if array.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {array.ndim}D array. "
            f"Expected either a scalar value or a 1D array of length {n_rows}."
        )
    if len(array) != n_rows:
        raise ValueError(f"sample_weight.shape == {array.shape}, expected {(n_rows,)}!")
    return _as_floats(array)


def _as_floats(array: NDArray[Any]) -> Floats:
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    if array.dtype.kind == "O" and not any(isinstance(cell, str) for cell in array):
        try:
            return np.array([_float_or_nan(cell) for cell in array], np.float64)
        except (TypeError, ValueError):
            pass
    raise ValueError(f"sample_weight must be real numbers; got an array of type {array.dtype}")


def _float_or_nan(cell: Any) -> float:
    # The NA of pandas refuses float().
    return float("nan") if cell is None or type(cell).__name__ == "NAType" else float(cell)
