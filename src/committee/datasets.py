"""Tables that come with the package."""

from __future__ import annotations

import csv
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.tables.frame import make_frame

__all__ = ["load_latitudes", "load_penguins", "load_ten_points", "penguins_file"]

_TEXT = ("species", "island", "sex")
_TARGETS = ("species", "island", "body_mass_g", "flipper_length_mm", "sex")


def load_penguins(
    target: str = "species", *, backend: str | None = None
) -> tuple[Any, NDArray[Any]]:
    """Load the Palmer penguins: 344 birds of three species, with strings and missing values.

    Collected by Kristen Gorman at Palmer Station, Antarctica, 2007 to 2009 (Horst, Hill and
    Gorman 2020, CC0). Two birds were not measured, eleven have no recorded sex.

    Parameters
    ----------
    target : {"species", "island", "body_mass_g", "flipper_length_mm", "sex"}, default="species"
        Column to predict. Rows in which it is missing are left out.
    backend : {"pandas", "polars", "pyarrow"}, default=None
        Kind of frame for X; the first of these that is installed when None.

    Returns
    -------
    X : DataFrame or Table
        The other columns, missing values kept.
    y : ndarray
        The target: strings or floats.

    Examples
    --------
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins(backend="pyarrow")
    >>> X.num_rows, X.column_names[:2]
    (344, ['island', 'bill_length_mm'])
    >>> str(y[0])
    'Adelie'
    """
    if target not in _TARGETS:
        accepted = ", ".join(f'"{name}"' for name in _TARGETS)
        raise ValueError(f"target must be one of {accepted}; got {target!r}")
    columns = _read_columns()
    keep = [row for row, value in enumerate(columns[target]) if value is not None]
    columns = {name: [values[row] for row in keep] for name, values in columns.items()}
    y = np.array(columns.pop(target))
    return make_frame(columns, backend), y


def penguins_file() -> Path:
    """Return the path of the Palmer penguins as a CSV file, as it comes with the package.

    Returns
    -------
    path : Path
        Where it is.

    Examples
    --------
    >>> from committee.datasets import penguins_file
    >>> penguins_file().read_text().splitlines()[1]
    'Adelie,Torgersen,39.1,18.7,181,3750,male,2007'
    """
    return Path(str(resources.files("committee") / "data" / "penguins.csv"))


def load_ten_points() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return ten points in the plane that no stump separates, and three stumps together do.

    They stand as in the figures by which AdaBoost is taught since Freund and Schapire: of stumps
    that minimise the weighted error, the first gets three of ten wrong, the second 3/14 of the
    weight, the third 3/22.

    Returns
    -------
    X : ndarray of float64, shape (10, 2)
        The points.
    y : ndarray of int64, shape (10,)
        1 or -1.

    Examples
    --------
    >>> from committee.datasets import load_ten_points
    >>> X, y = load_ten_points()
    >>> X.shape, int(y.sum())
    ((10, 2), 0)
    """
    above = [[1, 2], [2, 4], [5, 10], [8, 7], [7, 8]]
    below = [[3, 5], [4, 1], [6, 6], [9, 9], [10, 3]]
    return np.array(above + below, np.float64), np.repeat([1, -1], 5)


def load_latitudes(*, backend: str | None = None) -> tuple[Any, NDArray[np.float64]]:
    """Return the four rows by which the lecture of Sharif University explains gradient boosting.

    Grayscale, length and number of barbs, and the latitude to predict. The mean is 56.25, and the
    residuals from it are 3.75, 13.75, 8.75 and -26.25: a slide with -26.75 has a slip.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow"}, default=None
        Kind of frame for X; the first of these that is installed when None.

    Returns
    -------
    X : DataFrame or Table
        The columns grayscale, length and barbs, in the order of the slide.
    y : ndarray of float64, shape (4,)
        The latitudes.

    Notes
    -----
    The slide goes on with a leaf that holds the first and the third row, 6.25 on average. A tree of
    two splits has to choose: after row 4 is apart, it is exactly as good to take row 2 out of
    {1, 2, 3} (by length or barbs) as row 1 (by grayscale). The column that comes first wins, and
    that is grayscale: the third row gets 11.25. With the columns in the order length, barbs,
    grayscale it gets the 6.25 of the slide.

    Examples
    --------
    >>> from committee import GradientBoostingRegressor
    >>> from committee.datasets import load_latitudes
    >>> X, y = load_latitudes()
    >>> model = GradientBoostingRegressor(
    ...     n_estimators=1, learning_rate=1.0, max_splits=2, min_samples_leaf=1,
    ...     l2_regularization=0.0,
    ... )
    >>> (model.fit(X, y).predict(X) - y.mean()).round(6).tolist()
    [3.75, 11.25, 11.25, -26.25]
    >>> (model.fit(X[["length", "barbs", "grayscale"]], y).predict(X) - y.mean()).round(6).tolist()
    [6.25, 13.75, 6.25, -26.25]
    """
    columns: dict[str, list[Any]] = {
        "grayscale": [200, 185, 145, 195],
        "length": [500, 450, 620, 150],
        "barbs": [10, 8, 12, 2],
    }
    return make_frame(columns, backend), np.array([60.0, 70.0, 65.0, 30.0])


def _read_columns() -> dict[str, list[Any]]:
    """Columns of a bundled table: text as str, all else as float (year as int), NA as None."""
    text = penguins_file().read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())

    def convert(name: str, cell: str) -> Any:
        if cell == "NA":
            return None
        if name in _TEXT:
            return cell
        return int(cell) if name == "year" else float(cell)

    return {
        name: [convert(name, row[number]) for row in rows] for number, name in enumerate(header)
    }
