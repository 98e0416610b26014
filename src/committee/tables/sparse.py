"""Sparse matrices of SciPy: what is stored goes to the engine, and zeros are never written out.

Their structure is checked before compiled code follows it.

SciPy does not look at index arrays again that a program has changed, and its conversions then read
and write outside of their arrays. Here every index is compared with the shape first. Cells that
are stored twice count as their sum, and indices may come in any order, as in SciPy.
"""

import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Rows
from committee.tables.column import Column, complex_error, is_beyond_doubles, numpy_column

# At most so many cells are written out as a dense matrix.
MAX_SPARSE_CELLS = 2**31
# A matrix with more of its cells stored is read as a dense one, which is faster then.
_DENSE_SHARE = 0.25
_MOST_ROWS = 2**31 - 1  # row numbers of stored values have 32 bits


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy."""
    # Who holds a sparse matrix has loaded scipy.sparse.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def checked_csr(X: Any) -> Any:
    """Return a sparse matrix of numbers in CSR format, after a check of its structure.

    Parameters
    ----------
    X : sparse matrix or array of SciPy with two dimensions
        In any of its formats.

    Returns
    -------
    csr : CSR matrix or array
        The same cells; X itself where it has this format.
    """
    if X.dtype.kind == "c":
        raise complex_error("X")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"a sparse X must hold numbers or booleans; got the type {X.dtype}")
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X)
    elif X.format == "coo":
        _check_coordinates(X)
    elif X.format == "lil":
        _check_lists(X)
    compressed = X.tocsr()
    if X.format in ("dia", "dok", "lil"):
        _check_compressed(compressed)
    return compressed


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A table of which most cells are zero: the values that are stored, column by column.

    Parameters
    ----------
    cells : CSC matrix
        Doubles, each stored once, rows ascending.
    label : str
        What the columns are called: "number" or "boolean".
    kept : Kept or None
        As in other sources.
    """

    cells: Any
    label: str = "number"
    kept: Any = None

    is_frame: ClassVar = False
    names: ClassVar = None

    @property
    def n_rows(self) -> int:
        return int(self.cells.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.cells.shape[1])

    def where(self, position: int) -> str:
        return f"column {position}"

    def column(self, position: int) -> Column:
        begin, end = self.cells.indptr[position : position + 2]
        values = np.zeros(self.n_rows)
        values[self.cells.indices[begin:end]] = self.cells.data[begin:end]
        if self.label == "boolean":
            return Column("boolean", values.astype(np.uint8))
        return numpy_column(values, None, self.where(position))

    def take(self, rows: Rows | None, columns: Rows | None) -> "SparseMatrix":
        cells = self.cells if columns is None else self.cells[:, columns]
        if rows is not None:
            cells = cells[rows]
        cells.sort_indices()
        return SparseMatrix(cells, self.label)

    def table(self) -> _core.Table:
        """Return the columns as the engine reads them."""
        return _core.Table.from_sparse(
            self.n_rows,
            self.cells.indptr.astype(np.int64, copy=False),
            self.cells.indices.astype(np.int32, copy=False),
            self.cells.data,
        )


def open_sparse(X: Any) -> SparseMatrix | NDArray[Any]:
    """Return the stored cells of a sparse matrix, or all cells where that is what suits it.

    Parameters
    ----------
    X : sparse matrix or array of SciPy
        With at least one row and one column.

    Returns
    -------
    table : SparseMatrix or ndarray
        An array where many cells are stored, or integers that doubles cannot hold.
    """
    compressed = _canonical(X)
    n_rows, n_features = X.shape
    is_full = compressed.nnz > _DENSE_SHARE * n_rows * n_features
    is_long = compressed.dtype.kind in "iu" and is_beyond_doubles(compressed.data)
    if (is_full and n_rows * n_features <= MAX_SPARSE_CELLS) or is_long:
        return dense_cells(X)
    if n_rows > _MOST_ROWS:
        raise ValueError(
            f"sparse X has {n_rows} rows; at most 2**31 - 1 are read: pass fewer rows at a time"
        )
    columns = compressed.astype(np.float64).tocsc()
    return SparseMatrix(columns, "boolean" if X.dtype.kind == "b" else "number")


def dense_cells(X: Any) -> NDArray[Any]:
    """Return the cells of a sparse matrix as an array, in the narrowest type that is exact."""
    n_rows, n_features = X.shape
    if n_rows * n_features > MAX_SPARSE_CELLS:
        raise ValueError(
            f"sparse X has {n_rows} x {n_features} cells; it is read as a dense matrix, which is "
            f"limited to 2**31 = {MAX_SPARSE_CELLS} cells. Keep fewer features (for example by "
            "feature selection or TruncatedSVD), or pass fewer rows at a time"
        )
    compressed = _canonical(X)
    dtype = _smallest_exact_type(compressed.data)
    dense: NDArray[Any] = compressed.astype(dtype, copy=False).toarray()
    return dense


def check_cells(n_rows: int, n_features: int, who: str) -> None:
    """Raise ValueError where the codes of a sparse matrix would be too many for one byte a cell."""
    if n_rows * n_features > MAX_SPARSE_CELLS:
        raise ValueError(
            f"sparse X has {n_rows} x {n_features} cells; {who} keeps a byte or more for each, "
            f"which is limited to 2**31 = {MAX_SPARSE_CELLS} cells. Gradient boosting with "
            'split_finding="hist" has no such limit; else keep fewer features, or pass fewer rows'
        )


def _canonical(X: Any) -> Any:
    """Return a CSR matrix whose cells are stored once, columns ascending."""
    compressed = checked_csr(X)
    # A new object looks for itself whether cells are stored twice; X may remember what was once so.
    arrays = (compressed.data, compressed.indices, compressed.indptr)
    compressed = type(compressed)(arrays, shape=X.shape)
    if not compressed.has_canonical_format:
        compressed = compressed.copy()
        compressed.sum_duplicates()
    return compressed


def _broken(what: str) -> ValueError:
    return ValueError(f"X is a sparse matrix whose structure is broken: {what}")


def _check_compressed(X: Any) -> None:
    """Check CSR, CSC and BSR: `indptr` cuts `indices` and `data` into rows (columns in CSC)."""
    n_lines, n_places = X.shape[::-1] if X.format == "csc" else X.shape
    line, place = ("column", "row") if X.format == "csc" else ("row", "column")
    data, indices, indptr = X.data, X.indices, X.indptr
    if X.format == "bsr":
        block = data.shape[1:]
        if data.ndim != 3 or 0 in block or n_lines % block[0] or n_places % block[1]:
            raise _broken(f"data has the shape {data.shape}, whose blocks do not fill {X.shape}")
        n_lines, n_places = n_lines // block[0], n_places // block[1]
        line, place = "row of blocks", "column of blocks"
    elif data.ndim != 1:
        raise _broken(f"data must have one dimension; it has {data.ndim}")
    _check_integers("indices", indices)
    _check_integers("indptr", indptr)
    if len(data) != len(indices):
        raise _broken(f"data has {len(data)} entries and indices has {len(indices)}")
    if len(indptr) != n_lines + 1:
        raise _broken(
            f"indptr must have {n_lines + 1} entries, one for each {line} and one more; "
            f"it has {len(indptr)}"
        )
    if indptr[0] != 0 or indptr[-1] != len(indices):
        raise _broken(
            f"indptr must begin with 0 and end with {len(indices)}, the number of indices; "
            f"it goes from {indptr[0]} to {indptr[-1]}"
        )
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        at = int(falls.argmax())
        raise _broken(f"indptr must not fall; at {line} {at} it goes to {indptr[at + 1]}")
    _check_bounds("indices", indices, n_places, place)


def _check_coordinates(X: Any) -> None:
    """Check COO: a row and a column for each entry of `data`."""
    for name, places, n_places in zip(("row", "col"), (X.row, X.col), X.shape, strict=True):
        _check_integers(name, places)
        if X.data.shape != places.shape:
            raise _broken(f"data has {len(X.data)} entries and {name} has {len(places)}")
        _check_bounds(name, places, n_places, "row" if name == "row" else "column")


def _check_lists(X: Any) -> None:
    """Check LIL: for each row a list of columns and a list of values."""
    if not len(X.rows) == len(X.data) == X.shape[0]:
        raise _broken(f"rows and data must have {X.shape[0]} lists, one for each row")
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            raise _broken(f"row {row} has {len(columns)} columns and {len(values)} values")


def _check_integers(name: str, values: Any) -> None:
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise _broken(
            f"{name} must be integers in one dimension; got {values.dtype} in {values.ndim}"
        )


def _check_bounds(name: str, places: NDArray[Any], n_places: int, what: str) -> None:
    if len(places) == 0:
        return
    low, high = int(places.min()), int(places.max())
    if low < 0 or high >= n_places:
        raise _broken(
            f"{name} must be in [0, {n_places - 1}], the numbers of its {what}s; "
            f"it holds {low if low < 0 else high}"
        )


def _smallest_exact_type(stored: NDArray[Any]) -> np.dtype[Any]:
    """Find the narrowest type for the engine in which every stored value stays what it is."""
    if stored.dtype.kind == "b" or stored.size == 0:
        return np.dtype(np.uint8)
    low, high = stored.min(), stored.max()
    if stored.dtype.kind in "iu":
        if low >= 0 and high <= 255:
            return np.dtype(np.uint8)
        if low >= -(2**31) and high < 2**31:
            return np.dtype(np.int32)
        return stored.dtype if high >= 2**63 else np.dtype(np.int64)
    # Counts are often stored as floats; NaN fails every comparison and stays a float.
    if low >= 0 and high <= 255 and np.array_equal(stored, stored.astype(np.uint8)):
        return np.dtype(np.uint8)
    with np.errstate(over="ignore"):
        narrow = stored.astype(np.float32)
    is_exact = np.array_equal(narrow, stored, equal_nan=True)
    return np.dtype(np.float32 if is_exact else np.float64)
