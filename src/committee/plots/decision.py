"""What an ensemble and its members predict at each point of one or two columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_int
from committee.inspection.ensemble_members import (
    EnsembleMembers,
    is_sum_of_steps,
    members_of,
    n_rounds_of,
)
from committee.plots.panels import draw_points, label_panels, mean_area, panels, set_title
from committee.plots.plane import (
    Codes,
    PlaneRows,
    in_order,
    numeric_features,
    read_rows,
    reals_of,
    table_like,
)
from committee.plots.regions import Cells, draw_classes
from committee.plots.style import BLUE, GREY, INK, ORANGE, legend, name_axes, new_axes, tidy
from committee.tables.native_table import AnyTable
from committee.tables.source import open_source
from committee.tables.target import check_same_length, read_reals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_decision"]

_MOST_DRAWN = 5  # members, where nobody says which
_MOST_LINES = 50
_TREES_WITH_EDGES = 50
_CELLS = 200  # along each axis: some members take long to predict many points
_POINTS = 800  # of a line
_PALEST, _STRONGEST = 0.06, 0.32  # colours of classes that are in doubt, and sure
_COLORS = "cividis"  # the same order for every eye, and on paper


def plot_decision(
    model: Any,
    X: Any,
    y: Any,
    *,
    members: Sequence[Any] | None = None,
    n_columns: int | None = None,
) -> list[Axes]:
    """Draw what an ensemble and its members predict at each point of the plane.

    Parameters
    ----------
    model : fitted ensemble
        Any of this library or of scikit-learn, fitted to two numeric columns; for numbers also to
        one. Gradient boosting, whose steps predict nothing by themselves, is drawn after some
        rounds.
    X : table of shape (n_rows, 2) or (n_rows, 1)
        Rows with the columns of `fit`. Those without a value have no place in the picture.
    y : array-like of shape (n_rows,)
        Their classes or numbers.
    members : sequence of names or numbers, or None, default=None
        The members to draw, by name, or by place from zero; of gradient boosting after which
        rounds, from one. None is all of up to five, else the first five, or five rounds from the
        first to the last; with one column the first fifty.
    n_columns : int or None, default=None
        Panels side by side; None is up to four.

    Returns
    -------
    axes : list of matplotlib Axes
        A panel for each member, and last the ensemble. Classes have colours, paler where others
        are nearly as likely, and rows that are predicted wrong are circled; numbers have one scale
        of colours for all panels. With one column there is one panel, of lines.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from committee import RandomForestClassifier, plot_decision
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> axes = plot_decision(RandomForestClassifier(20, random_state=0).fit(X, y), X, y)
    >>> len(axes), axes[-1].get_title().split(chr(10))[0]
    (6, 'ensemble of 20')
    """
    if not hasattr(model, "predict"):
        raise TypeError(f"model must be a fitted ensemble; got {type(model).__name__}")
    n_features = AnyTable(X).n_features
    is_line = n_features == 1 and not hasattr(model, "classes_")
    parts = _Parts.of(model, members, _MOST_LINES if is_line else _MOST_DRAWN)
    if is_line:
        if n_columns is not None:
            raise ValueError("n_columns must be None: with one column of X there is one panel")
        return [_draw_lines(model, X, y, parts)]
    if n_features != 2:
        raise ValueError(f"X must have two numeric columns to be drawn; it has {n_features}")
    rows = read_rows(model, X, y, None)
    axes = panels("plot_decision", len(parts.titles) + 1, n_columns)
    draw = _draw_numbers if rows.numbers is not None else _draw_classes
    draw(axes, model, rows, parts)
    return axes


@dataclass(frozen=True, eq=False)
class _Parts:
    """The members, or the rounds, that are drawn before the whole.

    Attributes
    ----------
    model : fitted ensemble
        The whole.
    members : EnsembleMembers or None
        All members; None for sums of steps.
    places : sequence of int
        Places of the members to draw, or numbers of rounds.
    titles : tuple of str
        Of these.
    whole : str
        Title of the ensemble.
    """

    model: Any
    members: EnsembleMembers | None
    places: Sequence[int]
    titles: tuple[str, ...]
    whole: str

    @classmethod
    def of(cls, model: Any, chosen: Sequence[Any] | None, most: int) -> _Parts:
        """Return the parts that a user asks for."""
        if is_sum_of_steps(model):
            n_rounds = n_rounds_of(model)
            places = _spread(n_rounds) if chosen is None else _checked(chosen, 1, n_rounds)
            titles = tuple(f"after round {number}" for number in places)
            return cls(model, None, places, titles, f"all {n_rounds} rounds")
        found = members_of(model)
        n_members = len(found)
        if chosen is None:
            places = list(range(min(n_members, most)))
        else:
            names = {name: place for place, name in enumerate(found.names)}
            given = [names.get(each, each) if isinstance(each, str) else each for each in chosen]
            unknown = [each for each in given if isinstance(each, str)]
            if unknown:
                raise ValueError(f"members must be among {list(names)}; got {unknown[0]!r}")
            places = _checked(given, 0, n_members - 1)
        is_numbered = found.names == tuple(str(place) for place in range(n_members))
        titles = tuple(f"member {k}" if is_numbered else found.names[k] for k in places)
        return cls(model, found, places, titles, f"ensemble of {n_members}")

    @property
    def is_number(self) -> bool:
        """Whether numbers are predicted."""
        return not hasattr(self.model, "classes_")

    def trees(self) -> Sequence[Any]:
        """Return the members, if they may be trees whose thresholds are the edges of the map."""
        few = self.members is not None and len(self.members) <= _TREES_WITH_EDGES
        return list(self.members.members) if few and self.members is not None else [None]

    def values(self, table: Any) -> Iterator[tuple[Floats, Codes | None]]:
        """Yield what each part and at last the ensemble predict: numbers, or shares and codes."""
        if self.members is None:
            yield from self._staged(table)
        else:
            for place in self.places:
                yield self.members.predict(place, AnyTable(table))
        yield self._whole(table)

    def _whole(self, table: Any) -> tuple[Floats, Codes | None]:
        predicted = np.asarray(self.model.predict(table))
        if self.is_number:
            return predicted.astype(np.float64).reshape(len(predicted), -1), None
        codes = np.searchsorted(self.model.classes_, predicted).astype(np.intp)
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(table), np.float64), codes
        return np.eye(len(self.model.classes_))[codes], codes

    def _staged(self, table: Any) -> Iterator[tuple[Floats, Codes | None]]:
        method = "staged_predict" if self.is_number else "staged_predict_proba"
        wanted, last = set(self.places), max(self.places, default=0)
        kept = {}
        for number, values in enumerate(getattr(self.model, method)(table), start=1):
            if number in wanted:
                kept[number] = np.array(values, np.float64).reshape(len(values), -1)
            if number >= last:
                break
        for number in self.places:
            found = kept[number]
            yield found, None if self.is_number else found.argmax(axis=1)


def _checked(chosen: Any, low: int, high: int) -> list[int]:
    given = [chosen] if np.ndim(chosen) == 0 else list(chosen)
    return [check_int("members", each, low, high) for each in given]


def _spread(n_rounds: int) -> list[int]:
    """Return up to five rounds before the last, ever further from each other."""
    numbers = np.geomspace(1, n_rounds, _MOST_DRAWN + 1).round().astype(int)
    return sorted({int(each) for each in numbers[:-1]} - {n_rounds})


# --- classes ------------------------------------------------------------------------------------


def _draw_classes(axes: list[Any], model: Any, rows: PlaneRows, parts: _Parts) -> None:
    cells = Cells.of(rows, parts.trees(), _CELLS)
    titles = [*parts.titles, parts.whole]
    areas = np.full(len(rows.codes), min(mean_area(len(rows.codes)), 60.0))
    drawn = zip(axes, titles, parts.values(cells.table), parts.values(rows.native), strict=True)
    for ax, title, (shares, codes), (_, predicted) in drawn:
        assert codes is not None
        draw_classes(ax, cells, codes, _strength(shares))
        is_wrong = np.asarray(predicted != rows.codes)
        draw_points(ax, rows, areas, is_wrong)
        set_title(ax, title, f"error {is_wrong.mean():.3g}")
    label_panels(axes, rows)


def _strength(shares: Floats) -> Floats:
    """Return how strong the colour of the likeliest class is; votes count as probabilities."""
    totals = shares.sum(axis=1)
    sure = shares.max(axis=1) / np.where(totals > 0, totals, 1.0)
    least = 1.0 / shares.shape[1]
    return np.asarray(
        _PALEST + (_STRONGEST - _PALEST) * np.clip((sure - least) / (1 - least), 0, 1)
    )


# --- numbers ------------------------------------------------------------------------------------


def _draw_numbers(axes: list[Any], model: Any, rows: PlaneRows, parts: _Parts) -> None:
    from matplotlib.colors import Normalize

    assert rows.numbers is not None
    cells = Cells.of(rows, parts.trees(), _CELLS)
    low, high = float(rows.numbers.min()), float(rows.numbers.max())
    style = {"cmap": _COLORS, "norm": Normalize(low, high)}
    area = min(mean_area(len(rows.numbers)), 40.0)
    titles = [*parts.titles, parts.whole]
    drawn = zip(axes, titles, parts.values(cells.table), parts.values(rows.native), strict=True)
    for ax, title, (values, _), (predicted, _) in drawn:
        heights = cells.shaped(values[:, 0])
        mesh = ax.pcolormesh(*cells.edges, heights, zorder=0, rasterized=True, **style)
        spots, numbers = rows.places[rows.has_place].T, rows.numbers[rows.has_place]
        ax.scatter(*spots, c=numbers, s=area, edgecolors="white", linewidths=0.5, **style)
        error = float(np.sqrt(np.mean((predicted[:, 0] - rows.numbers) ** 2)))
        set_title(ax, title, f"RMSE {error:.3g}")
    label_panels(axes, rows)
    bar = axes[0].figure.colorbar(mesh, ax=axes, shrink=0.8, pad=0.01)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize="small", color=GREY, labelcolor=INK)


def _draw_lines(model: Any, X: Any, y: Any, parts: _Parts) -> Any:
    """Draw the predictions of regressors of one column as lines."""
    native = in_order(model, X)
    source = open_source(native)
    if numeric_features(model, source) != [0]:
        raise ValueError("X must have a numeric column to be drawn")
    x, truth = reals_of(source.column(0)), read_reals(y)[0][:, 0]
    check_same_length(len(x), len(truth))
    known = np.isfinite(x)
    grid = np.linspace(x[known].min(), x[known].max(), _POINTS)
    table = table_like(native, [grid])
    ax = new_axes("plot_decision", (6.4, 3.8))
    ax.plot(x[known], truth[known], ".", color=ORANGE, markersize=5, zorder=2.5)
    lines = list(parts.values(table))
    shades = np.linspace(0.25, 0.8, max(len(lines) - 1, 1)) if parts.members is None else None
    for place, ((values, _), title) in enumerate(zip(lines, parts.titles, strict=False)):
        label = title if parts.members is None else "members" if place == 0 else None
        alpha = 0.45 if shades is None else float(shades[place])
        ax.plot(grid, values[:, 0], color=BLUE, linewidth=0.9, alpha=alpha, label=label)
    ax.plot(grid, lines[-1][0][:, 0], color=INK, linewidth=2.2, label=parts.whole)
    name_axes(ax, x=str(source.names[0]) if source.names else "feature_0", y="prediction")
    tidy(ax)
    legend(ax, fontsize="small")
    return ax
