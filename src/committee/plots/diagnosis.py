"""A diagnosis with matplotlib: members, size, margins, probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.params import check_choice
from committee.inspection.diagnosis import Diagnosis
from committee.inspection.growth import Growth
from committee.plots.calibration import draw_calibration, frame_calibration
from committee.plots.margins import draw_margins, frame_margins
from committee.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    legend,
    log_members,
    name_axes,
    pyplot,
    tidy,
    tidy_bars,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_diagnosis"]

_FEW = 12  # members that all have their names
_SPOTTED = ("leak", "strong", "hurts", "clones")  # advice about single members


def plot_diagnosis(diagnosis: Diagnosis, *, panels: Sequence[str] | None = None) -> dict[str, Axes]:
    """Draw why an ensemble is as good as it is.

    Parameters
    ----------
    diagnosis : Diagnosis
        What `diagnose` returned.
    panels : sequence of {"members", "growth", "combining", "margins", "calibration"} or None, \
default=None
        What to draw; None is all that there is of these, but up to four.

    Returns
    -------
    axes : dict of str to matplotlib Axes
        "members": a dot for each member, as large as its weight: its error up, and across how its
        errors go with those of the others. Good committees lie at the lower left. Members that the
        advice is about are orange, and the line is the ensemble. "growth": the error against the
        number of members or rounds; dots were measured, the line is what theory expects of members
        with such errors, the dotted one if these were uncorrelated. "combining": what theory
        predicts of combining, and what was measured. "margins": how margins of rows are
        distributed; left of zero they are wrong. "calibration": how often probabilities come true.

    Examples
    --------
    >>> from committee import RandomForestClassifier, diagnose, plot_diagnosis
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> list(plot_diagnosis(diagnose(model, X[1::2], y[1::2])))
    ['members', 'growth', 'margins', 'calibration']
    """
    if not isinstance(diagnosis, Diagnosis):
        raise TypeError(
            f"diagnosis must be what committee.diagnose returned; got {type(diagnosis).__name__}"
        )
    known = _known_panels(diagnosis)
    if panels is None:
        is_full = diagnosis.margins is not None and diagnosis.growth is not None
        skipped = ("combining",) if is_full else ()
        chosen = [name for name in known if name not in skipped]
    else:
        for name in panels:
            check_choice("panels", name, tuple(known))
        chosen = list(panels)
    if not chosen:
        raise ValueError("panels must name a panel or more; got none")
    n_columns = 2 if len(chosen) == 4 else len(chosen)
    n_lines = -(-len(chosen) // n_columns)
    _, grid = pyplot("plot_diagnosis").subplots(
        n_lines,
        n_columns,
        figsize=(4.9 * n_columns, 3.7 * n_lines),
        layout="constrained",
        squeeze=False,
    )
    axes = dict(zip(chosen, grid.ravel().tolist(), strict=True))
    for name, ax in axes.items():
        known[name](diagnosis, ax)
    return axes


def _known_panels(diagnosis: Diagnosis) -> dict[str, Callable[[Diagnosis, Any], None]]:
    """Return the panels that there are numbers for."""
    found: dict[str, Callable[[Diagnosis, Any], None]] = {}
    if len(diagnosis.names) > 1:
        found["members"] = _draw_members
    if diagnosis.growth is not None:
        found["growth"] = _draw_growth
    if len(diagnosis.names) > 1:
        found["combining"] = _draw_combining
    if diagnosis.margins is not None:
        found["margins"] = _draw_margins
    if diagnosis.calibration is not None:
        found["calibration"] = _draw_calibration
    return found


def _draw_members(diagnosis: Diagnosis, ax: Any) -> None:
    pairs = diagnosis.diversity
    assert pairs is not None
    is_class = pairs.accuracy is not None
    errors = pairs.error if pairs.accuracy is None else 1.0 - pairs.accuracy
    own = pairs.committee_error
    if pairs.committee_accuracy is not None:
        own = 1.0 - pairs.committee_accuracy
    matrix = np.where(np.eye(len(errors), dtype=bool), np.nan, pairs.correlation)
    known = ~np.isnan(matrix)
    sums = np.where(known, matrix, 0.0).sum(axis=1)
    together = np.divide(
        sums, known.sum(axis=1), out=np.zeros(len(errors)), where=known.any(axis=1)
    )
    spotted = {name for each in diagnosis.advice if each.kind in _SPOTTED for name in each.members}
    colors = [ORANGE if name in spotted else BLUE for name in pairs.names]
    sizes = 20 + 160 * np.clip(pairs.weights / max(pairs.weights.max(), 1e-300), 0, 1)
    if len(errors) > _FEW:
        sizes = sizes / 3
    ax.scatter(together, errors, s=sizes, c=colors, alpha=0.75, linewidths=0, zorder=3)
    for place, name in enumerate(pairs.names):
        if len(errors) <= _FEW or name in spotted:
            ax.annotate(
                name,
                (together[place], errors[place]),
                xytext=(7, 3),
                textcoords="offset points",
                fontsize="small",
                color=INK,
            )
    ax.axhline(own, color=ORANGE, linewidth=2, zorder=1)
    ax.annotate(
        f"the ensemble {own:.3g}",
        (0.0, own),
        xycoords=("axes fraction", "data"),
        xytext=(4, -3),
        textcoords="offset points",
        va="top",
        color=INK,
        fontsize="small",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
        zorder=4,
    )
    ax.margins(0.16, 0.16)
    what = "being right" if is_class else "errors"
    name_axes(ax, x=f"correlation of {what} with other members")
    name_axes(ax, y="error rate" if is_class else "squared error", title="members")
    tidy(ax)


def _draw_growth(diagnosis: Diagnosis, ax: Any) -> None:
    growth = diagnosis.growth
    assert growth is not None
    if growth.of == "rounds":
        _draw_rounds(growth, ax)
        return
    errors, n_members = diagnosis.errors, diagnosis.n_members
    assert errors is not None
    numbers = np.unique(np.geomspace(1, 2 * n_members, 200).round()).astype(int)
    expected = np.array([errors.at(int(number)) for number in numbers])
    alone = expected[0]
    ax.plot(numbers, alone / numbers, ":", color=GREY, linewidth=1.8, label="if uncorrelated")
    ax.plot(numbers, expected, color=BLUE, linewidth=2, label="as correlated as these")
    ax.plot(growth.numbers, growth.measured, "o", color=ORANGE, markersize=4.5, label="measured")
    ax.axhline(errors.limit, color=INK, linewidth=1, linestyle="--", label="limit")
    ax.axvline(n_members, color=GREY, linewidth=1)
    top = max(alone, float(growth.measured.max()))
    ax.set_ylim(min(0.0, 1.1 * errors.limit), 1.08 * top)
    log_members(ax)
    name_axes(ax, x="members", y=growth.measure, title="size")
    tidy(ax)
    legend(ax, fontsize="small")


def _draw_rounds(growth: Growth, ax: Any) -> None:
    ax.plot(growth.numbers, growth.measured, color=BLUE, linewidth=2)
    best = int(np.searchsorted(growth.numbers, growth.best))
    ax.plot(growth.best, growth.measured[best], "o", color=ORANGE, markersize=7)
    ax.annotate(
        f"round {growth.best}, {growth.measured[best]:.3g}",
        (growth.best, growth.measured[best]),
        xytext=(0, 9),
        textcoords="offset points",
        ha="right" if best > len(growth.numbers) / 2 else "left",
        color=INK,
    )
    log_members(ax)
    name_axes(ax, x="rounds", y=growth.measure, title="size")
    tidy(ax)


def _draw_combining(diagnosis: Diagnosis, ax: Any) -> None:
    is_class = diagnosis.margins is not None
    values = [each.error_rate if is_class else each.squared_error for each in diagnosis.combining]
    pairs = [
        (each.what, value)
        for each, value in zip(diagnosis.combining, values, strict=True)
        if not np.isnan(value)
    ]
    places = np.arange(len(pairs))[::-1]
    colors = [
        ORANGE if what.startswith("measured") else GREY if "member" in what else GREEN
        for what, _ in pairs
    ]
    ax.barh(places, [value for _, value in pairs], height=0.62, color=colors)
    for place, (_, value) in zip(places, pairs, strict=True):
        ax.annotate(
            f"{value:.3g}",
            (value, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=INK,
        )
    ax.margins(x=0.16)
    name = "error rate" if is_class else diagnosis.measure
    name_axes(ax, x=name, title="predicted and measured")
    tidy_bars(ax, places, [what.removeprefix("measured: ") for what, _ in pairs])


def _draw_margins(diagnosis: Diagnosis, ax: Any) -> None:
    assert diagnosis.margins is not None
    draw_margins(ax, diagnosis.margins, None, BLUE)
    frame_margins(ax, diagnosis.margins)
    share = float((diagnosis.margins <= 0).mean())
    name_axes(ax, title=f"margins: {share:.3g} of the rows are not above zero")


def _draw_calibration(diagnosis: Diagnosis, ax: Any) -> None:
    found = diagnosis.calibration
    assert found is not None
    draw_calibration(ax, found.bins, None)
    frame_calibration(ax, found.of)
    name_axes(ax, title=f"sure by {found.confidence:.3g}, right on {found.accuracy:.3g}")
