"""Contributions to predictions with matplotlib: to one, as bars, and to many, as dots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_int
from committee.inspection.explain_rows import explain_rows, open_rows
from committee.inspection.row_explanation import RowExplanation, as_numbers
from committee.plots.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    axes_or_new,
    legend,
    name_axes,
    plain_number,
    tidy_bars,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_contribution_summary", "plot_contributions"]

_LABEL = 36  # characters of a name and its value
_N_BINS = 60  # in which dots lie above each other
_LOW, _MIDDLE, _HIGH, _NO_ORDER = BLUE, "#d3d8de", ORANGE, "#6b7686"


def plot_contributions(
    model: Any,
    row: Any = 0,
    *,
    label: Any = None,
    top: int = 10,
    background: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the features of a row take a model from its mean to its prediction.

    Parameters
    ----------
    model : fitted estimator or RowExplanation
        Any with one output, or what `explain_rows` returned.
    row : table of one row, dict, Series, or int, default=0
        With the columns of `fit`; the number of a row of a RowExplanation.
    label : class label or None, default=None
        Classifier only: the class that is explained; None is the likeliest one. Boosting and
        AdaBoost have one score for two classes, that of the second, which None explains.
    top : int, default=10
        Features with a bar of their own, the largest contributions; one more bar has the others.
    background : table or None, default=None
        See `explain_rows`: needed for stacks and others that know no contributions of their own.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The axes. Bars are read upward: each begins where the one below has ended.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_contributions
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> ax = plot_contributions(model, X.iloc[0], top=3)
    >>> [tick.get_text() for tick in ax.get_yticklabels()][::3]
    ['4 others', 'bill_length_mm = 39.1']
    """
    top = check_int("top", top, 1)
    explained, number = _one_row(model, row, background)
    place = None if label is None else explained.place_of(label)
    parts = explained.of_row(number, place)
    names = [_named(name, cell) for name, cell in zip(explained.names, parts.cells, strict=True)]
    order = np.argsort(-np.abs(parts.values), kind="stable")
    labels, widths = [names[index] for index in order[:top]], parts.values[order[:top]]
    if len(order) > top:
        n_others = len(order) - top
        labels.append(f"{n_others} others" if n_others > 1 else names[order[top]])
        widths = np.append(widths, parts.values[order[top:]].sum())
    ax = axes_or_new(ax, "plot_contributions", (6.4, 1.3 + 0.34 * len(labels)))
    _draw_bars(ax, parts.base, widths[::-1])
    total, base = plain_number(parts.total), plain_number(parts.base)
    name_axes(ax, x=parts.what, title=f"{parts.what}: {total}, in general {base}")
    tidy_bars(ax, np.arange(len(labels)), labels[::-1])
    return ax


def _draw_bars(ax: Any, base: float, widths: Floats) -> None:
    """Draw bars upward from the base, each from where the one below has ended."""
    ends, places = base + np.cumsum(widths), np.arange(len(widths))
    colors = [BLUE if width >= 0 else ORANGE for width in widths]
    ax.barh(places, widths, left=ends - widths, height=0.62, color=colors)
    ax.vlines(ends[:-1], places[:-1], places[1:], color=GREY, linewidth=0.8)
    ax.axvline(base, color=GREY, linewidth=0.8, linestyle=":")
    for place, width, end in zip(places, widths, ends, strict=True):
        ax.annotate(
            plain_number(width, sign=True),
            (max(end, end - width), place),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=INK,
        )
    ax.use_sticky_edges = False  # or there is no margin beside bars
    ax.margins(x=0.14)


def _one_row(model: Any, row: Any, background: Any) -> tuple[RowExplanation, int]:
    if isinstance(model, RowExplanation):
        n_rows = len(model.contributions)
        number = check_int("row", row, 0)
        if number >= n_rows:
            raise ValueError(f"row must be below {n_rows}, the number of rows; got {number}")
        return model, number
    _check_model(model)
    n_rows = open_rows(model, row).n_rows
    if n_rows != 1:
        raise ValueError(f"row must be a table of one row; got {n_rows} rows")
    return explain_rows(model, row, background=background), 0


def _check_model(model: Any) -> None:
    if not hasattr(model, "predict"):
        raise TypeError(
            "model must be a fitted estimator or what explain_rows returned; got "
            f"{type(model).__name__}"
        )


def _named(name: str, cell: str) -> str:
    text = f"{name} = {cell}"
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"


def plot_contribution_summary(
    model: Any,
    X: Any = None,
    *,
    label: Any = None,
    top: int = 12,
    background: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the contributions of features to many predictions, a dot for each row.

    Features with the largest contributions are on top. A dot lies where the contribution is; its
    colour is the value of the feature, from low (blue) to high (orange). Text has no order and is
    grey, as are missing values.

    Parameters
    ----------
    model : fitted estimator or RowExplanation
        Any with one output, or what `explain_rows` returned.
    X : table or None, default=None
        Rows to explain, some hundreds of them; None with a RowExplanation.
    label : class label or None, default=None
        Classifier only: the class that is explained. None is the second of two classes, of several
        the one that is predicted most often.
    top : int, default=12
        Draw so many features.
    background : table or None, default=None
        See `explain_rows`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The axes. The mean size of the contributions of a feature stands beside its name.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_contribution_summary
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> ax = plot_contribution_summary(model, X, label="Gentoo")
    >>> len(ax.get_yticklabels())
    7
    """
    top = check_int("top", top, 1)
    explained = _many_rows(model, X, background)
    place = _usual_class(explained) if label is None else explained.place_of(label)
    values, _, what = explained.of_class(place)
    sizes = np.abs(values).mean(axis=0)
    order = np.argsort(-sizes, kind="stable")[:top][::-1]
    ax = axes_or_new(ax, "plot_contribution_summary", (6.8, 1.3 + 0.42 * len(order)))
    ax.axvline(0, color=GREY, linewidth=0.8)
    span = float(np.ptp(values[:, order])) or 1.0
    for line, column in enumerate(order.tolist()):
        _draw_dots(ax, line, values[:, column], explained.cells[:, column], span)
    _draw_key(ax)
    name_axes(ax, x=f"contribution to the {what}")
    ax.set_ylim(-0.6, len(order) - 0.4)
    labels = [f"{explained.names[k]}  {plain_number(sizes[k])}" for k in order.tolist()]
    tidy_bars(ax, np.arange(len(order)), labels)
    return ax


def _many_rows(model: Any, X: Any, background: Any) -> RowExplanation:
    if isinstance(model, RowExplanation):
        if X is not None:
            raise TypeError("X must be None: the rows of a RowExplanation are drawn")
        return model
    _check_model(model)
    if X is None:
        raise TypeError("X must be a table of rows to explain; got None")
    return explain_rows(model, X, background=background)


def _usual_class(explained: RowExplanation) -> int:
    if explained.classes is None or len(explained.classes) == 2:
        return 1
    counts = np.bincount(explained.predictions.argmax(axis=1))
    return int(counts.argmax())


def _draw_dots(ax: Any, line: int, values: Floats, cells: Any, span: float) -> None:
    """Draw the contributions of one feature, those of about one size above each other."""
    shades = _shades(cells)
    colors = np.where(np.isnan(shades), _NO_ORDER, _colors(np.nan_to_num(shades)))
    heights = line + _heights(values, span)
    ax.scatter(values, heights, s=9, c=colors, linewidths=0, alpha=0.9, zorder=3)


def _heights(values: Floats, span: float) -> Floats:
    """Return how far from its line each dot lies."""
    bins = np.floor((values - values.min()) / span * _N_BINS).astype(np.intp)
    order = np.argsort(bins, kind="stable")
    counts = np.bincount(bins)
    number = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    offsets = np.where(number % 2 == 1, (number + 1) // 2, -(number // 2))
    heights = np.empty(len(values))
    heights[order] = offsets * min(0.06, 0.8 / counts.max())
    return heights


def _shades(cells: Any) -> Floats:
    """Return ranks of cells from 0 to 1; NaN for text, and for missing ones."""
    known = [cell for cell in cells if cell is not None]
    if any(isinstance(cell, str) for cell in known):
        return np.full(len(cells), np.nan)
    numbers = as_numbers(cells)
    values = np.unique(numbers[~np.isnan(numbers)])
    ranks = np.searchsorted(values, numbers) / max(len(values) - 1, 1)
    return np.where(np.isnan(numbers), np.nan, ranks)


def _colors(shades: Floats) -> Any:
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    blend = LinearSegmentedColormap.from_list("", [_LOW, _MIDDLE, _HIGH])
    return np.array([to_hex(color) for color in blend(shades)])


def _draw_key(ax: Any) -> None:
    from matplotlib.lines import Line2D

    keys = {"low": _LOW, "middle": _MIDDLE, "high value": _HIGH, "text, missing": _NO_ORDER}
    dots = [
        Line2D([], [], linestyle="", marker="o", markersize=4, color=color, label=name)
        for name, color in keys.items()
    ]
    place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": len(dots)}
    legend(ax, handles=dots, fontsize="small", handletextpad=0.1, columnspacing=1.0, **place)
