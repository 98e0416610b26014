"""Diversity of members with matplotlib: similarity of pairs, and their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_choice
from committee.inspection.diversity import Diversity
from committee.plots.style import BLUE, GREY, INK, ORANGE, name_axes, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES = {
    "q": "Q statistic",
    "kappa": "kappa",
    "disagreement": "disagreement",
    "double_fault": "double fault",
    "correlation": "correlation",
}
_LEAST_RANGE = 0.02  # or colours would show roundings
_MOST_LABELS = 12
_MOST_NUMBERS = 8
_NEAR_ZERO = 0.25  # further away a line at zero would only take room
_MANY_POINTS = 3000  # beyond so many pairs, dots are faint


def plot_diversity(
    diversity: Diversity,
    *,
    measure: str | None = None,
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw a measure of all pairs as a heat map, and the kappa-error diagram.

    Parameters
    ----------
    diversity : Diversity
        What `diversity` returned.
    measure : {"q", "kappa", "disagreement", "double_fault", "correlation"} or None, default=None
        What the heat map shows; None is kappa for classes, else the correlation of errors.
    axes : pair of matplotlib Axes or None, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    heat : matplotlib Axes
        The heat map. Pairs for which the measure is not defined are left white.
    diagram : matplotlib Axes
        A dot for each pair of members: their mean error against their kappa (Margineantu and
        Dietterich 1997), or for numbers against the correlation of their errors. Good committees
        lie at the lower left: small errors, little in common. A line shows the error of the
        committee itself.

    Examples
    --------
    >>> from committee import RandomForestClassifier, diversity, plot_diversity
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X[::3], y[::3])
    >>> heat, diagram = plot_diversity(diversity(forest, X[1::3], y[1::3]))
    >>> heat.get_title(), diagram.get_xlabel()
    ('kappa, mean 0.77', 'kappa of a pair')
    """
    if not isinstance(diversity, Diversity):
        raise TypeError(
            f"diversity must be what committee.diversity returned; got {type(diversity).__name__}"
        )
    if len(diversity.names) < 2:
        raise ValueError("diversity must have two members or more to be drawn; got one")
    default = "correlation" if diversity.kappa is None else "kappa"
    measure = default if measure is None else measure
    check_choice("measure", measure, diversity.measures)
    heat, diagram = new_axes("plot_diversity", (10.4, 4.4), n_columns=2) if axes is None else axes
    _draw_heat(diversity, measure, heat)
    _draw_diagram(diversity, default, diagram)
    return heat, diagram


def _draw_heat(diversity: Diversity, measure: str, ax: Any) -> None:
    n_members = len(diversity.names)
    values = np.where(np.eye(n_members, dtype=bool), np.nan, diversity.matrix(measure))
    low, high = _color_range(values)
    cmap = "RdBu_r" if low < 0 else "Blues"
    image = ax.imshow(values, cmap=cmap, vmin=low, vmax=high)
    ax.figure.colorbar(image, ax=ax, shrink=0.8).outline.set_visible(False)
    if n_members <= _MOST_NUMBERS:
        _write_numbers(values, low, high, ax)
    places = np.arange(n_members)
    if n_members > _MOST_LABELS:
        places = places[:: -(-n_members // 10)]
    names = [diversity.names[place] for place in places]
    is_long = max(len(name) for name in names) > 3
    turn = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if is_long else {}
    ax.set_xticks(places, names, color=INK, **turn)
    ax.set_yticks(places, names, color=INK)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    mean = diversity.means[measure]
    name_axes(ax, title=f"{_TITLES[measure]}, mean {mean:.2g}")


def _color_range(values: Floats) -> tuple[float, float]:
    """Return the ends of the colours: about zero where values have both signs."""
    known = values[~np.isnan(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    if low < 0:
        bound = max(-low, high)
        return -bound, bound
    return min(low, high - _LEAST_RANGE), high


def _write_numbers(values: Floats, low: float, high: float, ax: Any) -> None:
    for (row, column), value in np.ndenumerate(values):
        if row != column:
            place = (value - low) / (high - low)
            is_dark = place > 0.6 if low >= 0 else abs(place - 0.5) > 0.35
            text = "-" if np.isnan(value) else f"{value:.2f}"
            color = "white" if is_dark else INK
            ax.text(column, row, text, ha="center", va="center", color=color, fontsize="small")


def _draw_diagram(diversity: Diversity, measure: str, ax: Any) -> None:
    first, second = np.triu_indices(len(diversity.names), 1)
    is_class = diversity.accuracy is not None
    errors = diversity.error if diversity.accuracy is None else 1.0 - diversity.accuracy
    committee = diversity.committee_error
    if diversity.committee_accuracy is not None:
        committee = 1.0 - diversity.committee_accuracy
    x = diversity.matrix(measure)[first, second]
    y = (errors[first] + errors[second]) / 2
    alpha, size = (0.35, 9) if len(x) > _MANY_POINTS else (0.7, 20)
    ax.scatter(x, y, s=size, color=BLUE, alpha=alpha, linewidths=0)
    known = ~np.isnan(x)
    if known.any():
        ax.plot(x[known].mean(), y[known].mean(), "D", color=INK, markersize=6)
    ax.axhline(committee, color=ORANGE, linewidth=2)
    if known.any() and x[known].min() < _NEAR_ZERO:
        ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    ax.annotate(
        f"committee {committee:.3g}",
        (1.0, committee),
        xycoords=("axes fraction", "data"),
        xytext=(-4, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        color=ORANGE,
        fontsize="small",
    )
    ax.margins(y=0.12)
    name_axes(ax, x="kappa of a pair" if is_class else "correlation of errors of a pair")
    kind = "error" if is_class else "squared error"
    name_axes(ax, y=f"mean {kind} of a pair")
    name_axes(ax, title="a dot for each pair, a diamond for their mean")
    tidy(ax)
