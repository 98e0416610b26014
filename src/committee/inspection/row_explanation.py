"""`RowExplanation`: what each column adds to the prediction of each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.tables.column import Column
from committee.tables.source import Source
from committee.trees.conditions import number_text

_MOST_COLUMNS, _MOST_ROWS = 10, 5  # that are printed


@dataclass(frozen=True, eq=False)
class RowExplanation:
    """What each column adds to the prediction of each row.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    contributions : ndarray of float64
        Of shape (n_rows, n_columns) for numbers and for a model with one score for two classes,
        else (n_rows, n_columns, n_classes); zero for columns that are not used. With `base` they
        add up to `predictions`.
    base : float or ndarray of float64, shape (n_classes,)
        The prediction where nothing is known of a row.
    predictions : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
        What the model predicts.
    classes : tuple or None
        The labels; None for numbers. One score for two classes is that of the second.
    quantity : str
        What is explained: "prediction", "probability" or "score", which is what trees add up:
        log-odds in boosting, votes in AdaBoost, the logarithm of a number with some losses.
    methods : dict
        How each member was explained: "exact" for Shapley values of trees, "sampled" for means
        over random orders of the columns, and "equal shares" for a member that reads the
        table in a form of its own, whose prediction is dealt out equally.
    cells : ndarray of object, shape (n_rows, n_columns)
        The values of the columns; None where one is missing.

    Examples
    --------
    >>> from committee import DecisionTreeRegressor, explain_rows
    >>> model = DecisionTreeRegressor().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [10, 10, 14, 20])
    >>> found = explain_rows(model, [[1, 1]])
    >>> found
    row 0: prediction 20 = 13.5 in general
      +4.25  x0 = 1
      +2.25  x1 = 1
    """

    names: tuple[str, ...]
    contributions: Floats
    base: Any
    predictions: Floats
    classes: tuple[Any, ...] | None
    quantity: str
    methods: Mapping[str, str]
    cells: NDArray[Any]

    def __repr__(self) -> str:
        """Return the largest contributions of the first rows, to the class that is likeliest."""
        lines = []
        for row in range(min(len(self.contributions), _MOST_ROWS)):
            own = self.of_row(row)
            lines.append(f"row {row}: {own.what} {own.total:.4g} = {own.base:.4g} in general")
            order = np.argsort(-np.abs(own.values), kind="stable")[:_MOST_COLUMNS].tolist()
            shown = [place for place in order if own.values[place] != 0]
            wide = max([len(self.names[place]) for place in shown], default=0)
            lines += [
                f"  {own.values[place]:+.4g}  {self.names[place]:{wide}} = {own.cells[place]}"
                for place in shown
            ]
        if len(self.contributions) > _MOST_ROWS:
            lines.append(f"... {len(self.contributions)} rows")
        return "\n".join(lines)

    def place_of(self, label: Any) -> int:
        """Return the place of a class among `classes`, ValueError if there is none."""
        if self.classes is None:
            raise ValueError(f"label must be None: the model predicts a number; got {label!r}")
        labels = list(self.classes)
        if label not in labels:
            raise ValueError(f"label must be one of {labels}; got {label!r}")
        return labels.index(label)

    def of_class(self, place: int) -> tuple[Floats, float, str]:
        """Return contributions to one class for all rows, the base, and what they add up to.

        Parameters
        ----------
        place : int
            Of the class; any for numbers.
        """
        if self.classes is None:
            return self.contributions, float(self.base), self.quantity
        what = f"{self.quantity} of {self.classes[place]}"
        if self.contributions.ndim == 2:
            sign = 1.0 if place == 1 else -1.0
            return sign * self.contributions, sign * float(self.base), what
        return self.contributions[:, :, place], float(self.base[place]), what

    def of_row(self, row: int, place: int | None = None) -> RowParts:
        """Return one row as a sum, for a class: by default the likeliest one.

        One score for two classes is by default that of the second, as `contributions` are.
        """
        if place is None:
            is_one = self.contributions.ndim == 2
            place = 1 if is_one else int(self.predictions[row].argmax())
        values, base, what = self.of_class(place)
        return RowParts(values[row], base, what, [cell_text(cell) for cell in self.cells[row]])

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each row and column (and class)."""
        import pandas as pd

        n_rows = len(self.contributions)
        if self.contributions.ndim == 2:
            index = pd.MultiIndex.from_product([range(n_rows), self.names], names=["row", "column"])
        else:
            index = pd.MultiIndex.from_product(
                [range(n_rows), self.names, self.classes or ()], names=["row", "column", "class"]
            )
        return pd.DataFrame({"contribution": self.contributions.reshape(-1)}, index=index)

    def to_shap(self) -> Any:
        """Return the same as an `Explanation` of the library shap, for its pictures.

        Text and categories are given to shap as numbers, in the order of their names, beside the
        cells that it shows.

        Examples
        --------
        >>> from committee import DecisionTreeRegressor, explain_rows
        >>> model = DecisionTreeRegressor().fit([[0.0], [1.0]], [1.0, 2.0])
        >>> explain_rows(model, [[1.0]]).to_shap().values  # doctest: +SKIP
        array([[0.5]])
        """
        try:
            from shap import Explanation
        except ImportError as error:
            raise ImportError("to_shap needs the library shap: pip install shap") from error
        n_rows = len(self.contributions)
        single = self.contributions.ndim == 2
        base = np.tile(self.base, n_rows if single else (n_rows, 1))
        return Explanation(
            values=self.contributions.copy(),
            base_values=base,
            data=np.column_stack([as_numbers(column) for column in self.cells.T]),
            display_data=self.cells.copy(),
            feature_names=list(self.names),
            output_names=None if single else [str(label) for label in self.classes or ()],
        )


@dataclass(frozen=True, eq=False)
class RowParts:
    """One row as a sum.

    Attributes
    ----------
    values : ndarray of float64, shape (n_columns,)
        What each column adds.
    base : float
        What is predicted where nothing is known.
    what : str
        What the sum is.
    cells : list of str
        The values of the columns.
    """

    values: Floats
    base: float
    what: str
    cells: list[str]

    @property
    def total(self) -> float:
        return self.base + float(self.values.sum())


def cells_of(source: Source) -> NDArray[Any]:
    """Return the cells of a table as Python objects, None for missing ones.

    Examples
    --------
    >>> from committee.tables.source import open_source
    >>> cells_of(open_source([["a", 1.5], ["b", None]])).tolist()
    [['a', 1.5], ['b', None]]
    """
    cells = np.empty((source.n_rows, source.n_features), object)
    for place in range(source.n_features):
        cells[:, place] = _column_cells(source.column(place))
    return cells


def _column_cells(column: Column) -> list[Any]:
    levels = column.levels if column.order is None else column.order
    values: Any = column.values
    if column.label == "boolean":
        values = values.astype(bool)
    elif column.label in ("datetime", "timedelta"):
        values = values.view(f"{column.label}64[us]")
    found = values.tolist()
    if levels is not None:
        found = [levels[int(code)] if code >= 0 else None for code in found]
    missing = column.missing().tolist()
    return [None if gone else cell for cell, gone in zip(found, missing, strict=True)]


def cell_text(cell: Any) -> str:
    """Return a cell as a person would write it.

    Examples
    --------
    >>> [cell_text(cell) for cell in (None, 3.0, 1234567.25, 1e-7, "red", True)]
    ['missing', '3', '1234567.25', '1e-07', 'red', 'True']
    """
    if cell is None:
        return "missing"
    if not isinstance(cell, float):
        return str(cell).removesuffix(" 00:00:00")  # of a date
    if cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return f"{cell:.4g}" if abs(cell) < 1000 else number_text(cell, 2)


def as_numbers(cells: NDArray[Any]) -> Floats:
    """Return the cells of a column as numbers: other cells by the order of their names.

    Examples
    --------
    >>> as_numbers(np.array(["b", "a", None], object))
    array([ 1.,  0., nan])
    """
    known = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, int | float) for cell in known):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    ranks = {name: float(rank) for rank, name in enumerate(sorted(set(map(str, known))))}
    return np.array([np.nan if cell is None else ranks[str(cell)] for cell in cells])
