"""A table that records what it is given in the place of the engine's."""

import datetime as dt

import numpy as np

from committee.tables.table import Kind, read_table

NAME = "DecisionTreeClassifier"
DAY = 86_400_000_000  # microseconds


class RecordingTable:
    """Stands in for the engine's table and keeps what it is given."""

    def __init__(self, n_rows):
        self.n_rows = n_rows
        self.matrix = None
        self.columns = []

    @classmethod
    def from_matrix(cls, matrix):
        table = cls(len(matrix))
        table.matrix = matrix
        table.columns = [(0, matrix[:, j], None) for j in range(matrix.shape[1])]
        return table

    @property
    def n_features(self):
        return len(self.columns)

    def add_column(self, kind, values, mask):
        assert len(values) == self.n_rows
        assert values.ndim == 1
        assert values.dtype in ("f8", "f4", "i8", "i4", "u1")
        assert mask is None or (mask.dtype == np.uint8 and mask.shape == values.shape)
        if kind == Kind.CATEGORY:
            assert values.dtype == np.int32
            assert mask is None
        self.columns.append((kind, values, mask))

    def cells(self, position=0):
        """The values as Python objects, None where missing."""
        kind, values, mask = self.columns[position]
        hidden = np.zeros(len(values), bool) if mask is None else mask.astype(bool)
        if values.dtype.kind == "f":
            hidden = hidden | np.isnan(values)
        if kind == Kind.CATEGORY:
            hidden = values < 0
        return [None if h else v for v, h in zip(values.tolist(), hidden, strict=True)]


def read_one(values, **options):
    """Read a table of one column: its info and its cells (levels instead of codes)."""
    table, schema = read_table(values, **options)
    info = schema.features[0]
    cells = table.cells()
    if info.levels is not None:
        cells = [None if code is None else info.levels[code] for code in cells]
    return info, cells


MOMENT = dt.datetime(1970, 1, 2)
