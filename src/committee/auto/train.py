"""`committee.train`: from a table or a file to a fitted committee."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.auto.committee import CommitteeClassifier, CommitteeRegressor
from committee.auto.ledger import counted_from
from committee.base.warn import warn
from committee.io.column_format import FileFormat
from committee.io.csv_table import CsvOptions
from committee.io.errors import counted, no_column
from committee.io.reading import OpenedTable, open_files
from committee.tables.column import Column
from committee.tables.native_table import AnyTable
from committee.tables.source import Source, as_matrix, open_source

TASKS = ("auto", "classification", "regression")

# Parameters that only classifiers have.
_OF_CLASSES = ("positive", "costs", "threshold")

# Whole numbers of up to so many values, each of so many rows, are classes.
_MOST_CLASSES, _LEAST_ROWS_OF_CLASS = 20, 5


@dataclass(frozen=True, eq=False)
class Problem:
    """A table split into what predicts and what is predicted.

    Attributes
    ----------
    X : Source
        The other columns.
    y : ndarray
        The target.
    is_classification : bool
        Whether it is a class.
    reason : str
        Why, in words.
    target : str
        The name of the target.
    n_left_out : int
        Rows without a target.
    file_format : FileFormat or None
        How the files of the table are written, if it is from files.
    """

    X: Source
    y: NDArray[Any]
    is_classification: bool
    reason: str
    target: Any
    n_left_out: int
    file_format: FileFormat | None = None

    @property
    def task(self) -> str:
        """Return "classification" or "regression"."""
        return "classification" if self.is_classification else "regression"

    @property
    def words(self) -> str:
        """What is to be predicted, and why so."""
        return f"{self.task} of {self.target!r}: {self.reason}"

    def fit(
        self, weights: Any = None, groups: Any = None, time_order: Any = None, **parameters: Any
    ) -> Any:
        """Return a fitted committee."""
        kind: Any = CommitteeClassifier if self.is_classification else CommitteeRegressor
        model = kind(**parameters)
        model.fit(self.X, self.y, weights, groups=groups, time_order=time_order)
        model.target_name_ = self.target
        if self.file_format is not None:
            model.file_format_ = self.file_format
        return model


def train(data: Any, target: Any, *, task: str = "auto", **parameters: Any) -> Any:
    """Fit the best committee to a table.

    Parameters
    ----------
    data : table, path or list of paths
        A pandas, polars or pyarrow table, or files: CSV with any delimiter, encoding and decimal
        mark, JSON lines, Parquet or Feather; text may be packed by gzip, bzip2, xz or zip.
    target : str, int, Series or array
        Name of the column to predict (its number, where columns have no names), or its values: a
        Series is known by its name, and a column of this name is left out of the table. Rows in
        which the target is missing are left out, with a warning.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" looks at the target: text, two values, or up to 20 whole numbers that repeat are
        classes; and so is what has a `positive` class, `costs` or a `threshold`. A line on
        stderr has what was found and why, unless ``verbose=0`` is given.
    **parameters : object
        Parameters of `CommitteeClassifier` or `CommitteeRegressor`, such as ``positive="yes"``.

    Returns
    -------
    model : CommitteeClassifier or CommitteeRegressor
        Fitted.

    Examples
    --------
    >>> import committee
    >>> from committee.datasets import load_penguins
    >>> table, species = load_penguins(backend="pandas")
    >>> table["species"] = species
    >>> model = committee.train(table, "species", budget=1.0, random_state=0, verbose=0)
    >>> type(model).__name__, model.member_names_[0] in str(model.leaderboard_)
    ('CommitteeClassifier', True)
    """
    with counted_from(time.monotonic()):
        return _trained(data, target, task, parameters)


def _trained(data: Any, target: Any, task: str, parameters: dict[str, Any]) -> Any:
    decided = [name for name in _OF_CLASSES if parameters.get(name) is not None]
    opened = open_table(data)
    if isinstance(target, Integral) and hasattr(data, "columns"):  # a frame with numbers as names
        labels = list(data.columns)
        target = labels.index(target) if target in labels else target
    problem = pose(opened, target, task, (), decided)
    if decided and not problem.is_classification:
        raise ValueError(f"{decided[0]} is for classification; task={task!r} was asked for")
    target = problem.target
    if problem.n_left_out:
        warn(
            f"{counted(problem.n_left_out, 'row')} left out, in which the target {target!r} is "
            "missing",
        )
    verbose = parameters.setdefault("verbose", 1)
    if verbose:
        for line in (*opened.notes, problem.words):
            sys.stderr.write(f"committee: {line}\n")
    return problem.fit(**parameters)


def open_table(data: Any, options: CsvOptions | None = None) -> OpenedTable:
    """Return a table, or the table of a file or of several, with the names of its columns."""
    if isinstance(data, str | Path):
        return open_files([data], options)
    if isinstance(data, Sequence) and data and all(isinstance(each, str | Path) for each in data):
        return open_files(data, options)
    return OpenedTable(AnyTable(data).opened(), None, [])


def pose(
    opened: OpenedTable,
    target: Any,
    task: str = "auto",
    others: Collection[str] = (),
    decided: Sequence[str] = (),
) -> Problem:
    """Split a table into the target and the rest, and find out what kind of target it is.

    Parameters
    ----------
    opened : OpenedTable
        The table.
    target : str, int, Series or array
        Name or number of the column to predict, or its values.
    task : {"auto", "classification", "regression"}, default="auto"
        What kind it is.
    others : collection of str, default=()
        Columns that are left out.
    decided : sequence of str, default=()
        Parameters that were given and that only classifiers have.
    """
    source = opened.source
    if task not in TASKS:
        raise ValueError(f"task must be one of {TASKS}; got {task!r}")
    target, column, own = _target_column(source, target)
    names = source.names or ()
    for name in others:
        if name not in names:
            raise ValueError(no_column(name, names, "the table"))
    present = np.flatnonzero(~column.missing())
    if len(present) == 0:
        raise ValueError(f"the target column {target!r} is empty")
    left_out = {target, *others}
    used = [
        k
        for k in range(source.n_features)
        if k != own and (k >= len(names) or names[k] not in left_out)
    ]
    if not used:
        raise ValueError(f"the table has no column besides the target {target!r}")
    rows = None if len(present) == source.n_rows else present
    taken = column if rows is None else column.take(rows)
    if taken.values.dtype.kind == "f" and np.isinf(taken.values).any():
        raise ValueError(f"the target {target!r} holds infinite values; expected finite ones")
    if task != "auto":
        is_classes, reason = task == "classification", "as given"
    elif decided:
        is_classes, reason = True, f"{decided[0]} is given"
    else:
        is_classes, reason = kind_of_target(taken)
    X = as_matrix(source.take(rows, np.array(used, np.int64)))
    y = target_values(taken, is_classes, target)
    n_left_out = source.n_rows - len(present)
    return Problem(X, y, is_classes, reason, target, n_left_out, opened.file_format)


def _target_column(source: Source, target: Any) -> tuple[str, Column, int | None]:
    """Return the name and the cells of the target, and its place where it is in the table."""
    names = source.names
    if names is None and isinstance(target, Integral) and not isinstance(target, bool):
        place = int(target)
        if not 0 <= place < source.n_features:
            raise ValueError(
                f"target must be a column of the table, which are numbered from 0 to "
                f"{source.n_features - 1}; got {place}"
            )
        return f"column {place}", source.column(place), place
    if isinstance(target, str):
        if names is None:
            raise ValueError(
                f"target must name a column of the table; got {target!r}, and columns have no names"
            )
        if target not in names:
            raise ValueError(no_column(target, names, "the table"))
        place = names.index(target)
        return target, source.column(place), place
    if not hasattr(target, "__len__") or isinstance(target, dict | bytes):
        raise TypeError(
            "target must be the name of a column, or a value for each row of the table; got "
            f"{target!r}"
        )
    if len(target) != source.n_rows:
        raise ValueError(
            f"target must have a value for each of the {source.n_rows} rows of the table; got "
            f"{len(target)} values"
        )
    name = getattr(target, "name", None)
    values = target.to_frame() if hasattr(target, "to_frame") else _one_column(target)
    own = open_source(values)
    if own.n_features != 1:
        raise ValueError(f"target must be one column; got {own.n_features}")
    return name if isinstance(name, str) and name else "target", own.column(0), None


def _one_column(values: Any) -> Any:
    cells = np.asarray(values)
    if cells.dtype.kind in "US":  # text that is missing has no form there
        cells = cells.astype(object)
    return cells.reshape(len(cells), -1)


def kind_of_target(column: Column) -> tuple[bool, str]:
    """Return whether a target is a class, and why.

    Examples
    --------
    >>> kind_of_target(Column("number", np.array([0.5, 1.25])))
    (False, 'its values have fractions')
    """
    if column.levels is not None:
        return True, f"it holds text, {len(column.levels)} values"
    if column.label == "boolean":
        return True, "it holds true and false"
    values = np.asarray(column.values, np.float64)
    if (values != np.floor(values)).any():
        return False, "its values have fractions"
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) == 2:
        return True, "it has two values"
    if len(distinct) <= _MOST_CLASSES and np.median(counts) >= _LEAST_ROWS_OF_CLASS:
        return True, f"it has {len(distinct)} different whole numbers"
    return False, f"it has {len(distinct)} different numbers"


def target_values(column: Column, is_classes: bool, target: str) -> NDArray[Any]:
    """Return a target without missing values as labels or numbers."""
    if column.levels is not None:
        if not is_classes:
            raise ValueError(
                f"the target {target!r} holds text (such as {column.levels[0]!r}); regression "
                "needs numbers"
            )
        labels: NDArray[Any] = np.array(column.levels, dtype=object)[column.values]
        return labels
    if column.label == "boolean":
        return np.asarray(column.values, bool)
    values: NDArray[Any] = np.asarray(column.values, np.float64)
    is_whole = is_classes and (values == np.floor(values)).all()
    return values.astype(np.int64) if is_whole else values
