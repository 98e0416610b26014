"""Pictures of teams with matplotlib: who votes what, and how a stack is built and weighed."""

from __future__ import annotations

from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.tables.target import check_same_length
from committee.trees.tree_layout import INK, class_color, faded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from committee.combining.stacking.leakage import LeakReport
    from committee.combining.voting.votes import Votes

__all__ = ["plot_stack"]

Floats = NDArray[np.float64]

_BLUE, _ORANGE, _GREY, _GRID = "#3b7dd8", "#d9822b", "#9aa5b4", "#e6eaf0"
_ABSTAINS = "#ffffff"

_FEW_ROWS = 30  # are named by their numbers, and keep their order
_GAP = 0.03  # between the members and the committee, as a share of the width
_COMMITTEE = 0.19  # width of the last columns, in shares of all weights
_NARROW = 0.13  # a member of less weight is drawn so wide, or nobody could read its name
_MANY = 9  # columns, whose names then stand upright
_LETTER = 0.085  # inches that a letter of a name takes, about
_LINE = 13  # letters of a name in a line of its box
_ROOM = 0.35  # more room before the meta-learner, for weights


# --- votes --------------------------------------------------------------------------------------


def draw_class_votes(
    votes: Votes, labels: NDArray[Any], confidence: Floats | None, truth: Any, ax: Any
) -> Any:
    """Draw votes for classes as a map: a column for each member, as wide as its weight.

    Parameters
    ----------
    votes : Votes
        Who voted what.
    labels : ndarray
        All classes.
    confidence : ndarray of float64, shape (n_rows, n_members), or None
        How sure each member is of its vote, between one over the number of classes and one.
    truth : array-like or None
        Labels, for one more column.
    ax : matplotlib Axes or None
        Where to draw.
    """
    from matplotlib.colors import to_rgb

    n_rows = len(votes.answer)
    ax = _axes(ax, "plot_votes", (6.4, min(5.2, 1.6 + 0.24 * n_rows)))
    colors = {label: class_color(code) for code, label in enumerate(labels.tolist())}
    last = {"committee": votes.answer}
    if truth is not None:
        check_same_length(n_rows, len(truth))
        last["truth"] = np.asarray(truth)
    order = np.arange(n_rows) if n_rows <= _FEW_ROWS else _by_answer(votes, labels)
    shares = (
        np.ones(votes.predicted.shape) if confidence is None else _strength(confidence, len(labels))
    )
    edge, middles, names = 0.0, [], []
    columns = [
        (f"{name}\n{votes.weights[k]:.2g}", votes.weights[k], votes.predicted[:, k], shares[:, k])
        for k, name in enumerate(votes.names)
    ]
    columns += [
        (f"{name}\n", _COMMITTEE, predicted, np.ones(n_rows)) for name, predicted in last.items()
    ]
    for place, (name, weight, predicted, share) in enumerate(columns):
        width = max(float(weight), _NARROW)
        if place == len(votes.names):
            edge += _GAP
        cells = [
            to_rgb(faded(colors[label], strength) if label in colors else _ABSTAINS)
            for label, strength in zip(
                predicted[order].tolist(), share[order].tolist(), strict=True
            )
        ]
        ax.imshow(
            np.array(cells)[:, np.newaxis, :],
            extent=(edge, edge + width, n_rows - 0.5, -0.5),
            aspect="auto",
            interpolation="nearest",
        )
        ax.plot([edge + width] * 2, [-0.5, n_rows - 0.5], color="white", linewidth=1.5)
        middles.append(edge + width / 2)
        names.append(name)
        edge += width
    if n_rows <= _FEW_ROWS:
        ax.hlines(np.arange(1, n_rows) - 0.5, 0, edge, color="white", linewidth=1)
    ax.set_xlim(0, edge)
    ax.set_ylim(n_rows - 0.5, -0.5)
    widths = [max(float(weight), _NARROW) / edge for _, weight, _, _ in columns]
    is_upright = len(names) > _MANY or not _have_room(ax, names, widths)
    ax.set_xticks(middles, names, color=INK, rotation=90 if is_upright else 0)
    ax.tick_params(length=0)
    _name_rows(ax, order, n_rows)
    handles = [ax.plot([], [], "s", color=color)[0] for color in colors.values()]
    ax.legend(
        handles,
        [str(label) for label in colors],
        frameon=False,
        labelcolor=INK,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=min(len(colors), 6),
    )
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def _have_room(ax: Any, names: list[str], widths: list[float]) -> bool:
    """Whether names can stand side by side below columns of these shares of the axes."""
    whole = ax.figure.get_figwidth() * ax.get_position().width
    longest = [max(map(len, name.split("\n"))) for name in names]
    return all(_LETTER * n <= whole * width for n, width in zip(longest, widths, strict=True))


def _strength(confidence: Floats, n_classes: int) -> Floats:
    """Return how strong a colour is: pale where a member is about to change its mind."""
    least = 1.0 / n_classes
    return np.asarray(0.3 + 0.7 * np.clip((confidence - least) / (1 - least), 0.0, 1.0))


def _by_answer(votes: Votes, labels: NDArray[Any]) -> NDArray[np.intp]:
    """Return rows in the order of the answers, and of agreement in each."""
    codes = {label: code for code, label in enumerate(labels.tolist())}
    answers = np.array([codes.get(each, len(codes)) for each in votes.answer.tolist()])
    return np.lexsort((votes.agreement, answers))


def _name_rows(ax: Any, order: NDArray[np.intp], n_rows: int) -> None:
    if n_rows <= _FEW_ROWS:
        ax.set_yticks(np.arange(n_rows), [f"row {row}" for row in order], color=INK)
        return
    ax.set_yticks([])
    ax.set_ylabel(f"{n_rows} rows, by answer and agreement", color=INK)


def draw_number_votes(votes: Votes, truth: Any, ax: Any) -> Any:
    """Draw predictions as dots, as large as weights, around the line of the answers."""
    n_rows = len(votes.answer)
    ax = _axes(ax, "plot_votes", (6.4, 3.8))
    order = np.argsort(votes.answer, kind="stable")
    places = np.arange(n_rows)
    for k, name in enumerate(votes.names):
        weight = float(votes.weights[k])
        ax.scatter(
            places,
            votes.predicted[order, k],
            s=8 + 60 * weight,
            color=class_color(k),
            alpha=0.6,
            linewidths=0,
            label=f"{name}, {weight:.2g}",
        )
    style = "-" if n_rows > 1 else "_"
    ax.plot(places, votes.answer[order], style, color=INK, linewidth=1.8, label="committee")
    if truth is not None:
        check_same_length(n_rows, len(truth))
        values = np.asarray(truth, np.float64)[order]
        ax.plot(places, values, "x", color=INK, markersize=4, alpha=0.6, label="truth")
    ax.set_xticks([])
    ax.set_xlabel(f"{n_rows} row{'s' * (n_rows > 1)}, by answer", color=INK)
    ax.set_ylabel("prediction", color=INK)
    ax.legend(frameon=False, labelcolor=INK)
    _tidy(ax, "y")
    return ax


# --- stacks -------------------------------------------------------------------------------------


def plot_stack(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a stack: its layers, and how far the meta-learner trusts each member.

    Parameters
    ----------
    model : fitted StackingClassifier or StackingRegressor
        What to draw.
    ax : matplotlib Axes, default=None
        Where to draw the layers. None makes a figure, with a second panel beside them if the model
        has a `leak_report_`: the losses that the level-one data promise (circles), and those on
        rows that nobody has seen (dots, with two standard errors of the difference).

    Returns
    -------
    ax : matplotlib Axes
        The axes of the layers. Lines to a meta-learner with weights or coefficients are as wide as
        these, orange where they are negative. Of several classes it is the mean coefficient of a
        member's probability of a class in the score of that class.

    Examples
    --------
    >>> from committee import ExtraTreesClassifier, RandomForestClassifier
    >>> from committee import StackingClassifier, plot_stack
    >>> from committee.datasets import load_penguins
    >>> members = [
    ...     ("forest", RandomForestClassifier(random_state=0)),
    ...     ("extra", ExtraTreesClassifier(random_state=0)),
    ... ]
    >>> stack = StackingClassifier(members, "convex").fit(*load_penguins())
    >>> "7 columns" in [text.get_text() for text in plot_stack(stack).texts]
    True
    """
    if not hasattr(model, "layers_") or not hasattr(model, "_member_lists"):
        raise TypeError(
            f"model must be a fitted stack, such as StackingClassifier; got {type(model).__name__}"
        )
    names = [
        [name for name, each in pairs if not isinstance(each, str)]
        for pairs in model._member_lists()
    ]
    report = getattr(model, "leak_report_", None)
    tall = max(len(layer) for layer in names)
    if ax is None:
        # Layers beside each other, and a panel of its own for the report.
        wide = 2.7 + 1.75 * len(names)
        size = (max(wide, 4.6), max(2.4, 0.7 + 0.62 * tall))
        if report is None:
            ax = _axes(None, "plot_stack", size)
        else:
            whole = (size[0] + 3.6, max(size[1], 1.4 + 0.34 * len(report.names)))
            pair = _axes(None, "plot_stack", whole, n_columns=2, widths=[size[0], 3.3])
            ax = pair[0]
            _draw_report(report, pair[1])
    _draw_layers(model, names, ax)
    drawn: Axes = ax
    return drawn


def meta_weights(final: Any, n_members: int, n_classes: int) -> Floats | None:
    """Return how much a meta-learner makes of each member; None if it does not say.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> line = LinearRegression().fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [1.0, 2.0, 3.0])
    >>> meta_weights(line, 2, 0).round(6).tolist()
    [2.0, 1.0]
    """
    found = getattr(final, "weights_", getattr(final, "coef_", None))
    if found is None:
        return None
    values = np.atleast_2d(np.asarray(found, np.float64))
    if len(values) == 1:
        return values[0, :n_members] if values.shape[1] >= n_members else None
    if len(values) != n_classes or values.shape[1] < n_members * n_classes:
        return None  # members that vote, or give scores of another kind
    own = values[:, : n_members * n_classes].reshape(n_classes, n_members, n_classes)
    return np.asarray(np.einsum("kmk->m", own) / n_classes)


def _draw_layers(model: Any, names: list[list[str]], ax: Any) -> None:
    n_classes = len(getattr(model, "classes_", ()))
    weights = meta_weights(model.final_estimator_, len(names[-1]), n_classes)
    steps = [["table"], *names, ["meta"]]
    last = len(steps) - 1
    across = [*map(float, range(last)), last + _ROOM]
    spots = [
        [(across[step], (len(layer) - 1) / 2 - place) for place in range(len(layer))]
        for step, layer in enumerate(steps)
    ]
    tall = max(len(layer) for layer in steps)
    for here, there in pairwise(spots[:-1]):
        for start in here:
            for end in there:
                _draw_line(ax, start, end, _GREY, 0.8)
    for place, start in enumerate(spots[-2]):
        _draw_weight(ax, start, spots[-1][0], weights, place)
    if model.passthrough:
        _draw_bypass(ax, spots, -tall / 2 - 0.2)
    _draw_box(ax, spots[0][0], f"{model.n_features_in_} columns", "white")
    for layer, own in zip(names, spots[1:-1], strict=True):
        for name, spot in zip(layer, own, strict=True):
            _draw_box(ax, spot, _in_lines(name), faded(_BLUE, 0.16))
    final = type(model.final_estimator_).__name__
    _draw_box(ax, spots[-1][0], _wrapped(final), faded(_ORANGE, 0.2))
    ax.set_xlim(-0.55, across[-1] + 0.6)
    ax.set_ylim(-tall / 2 - 0.2 - 0.3 * model.passthrough, tall / 2 + 0.45)
    for x, title in zip(across, ["table", *_layer_titles(names), "meta-learner"], strict=True):
        ax.text(x, tall / 2 + 0.1, title, ha="center", va="bottom", color=_GREY, fontsize="small")
    ax.axis("off")


def _draw_bypass(ax: Any, spots: list[list[tuple[float, float]]], lowest: float) -> None:
    """Draw the way of the columns of the table past the first members."""
    for (x, y), *_ in (each[-1:] for each in spots[2:]):
        path = [spots[0][0], (0.0, lowest), (x, lowest), (x, y)]
        ax.plot(*zip(*path, strict=True), ":", color=_GREY, linewidth=1.4, zorder=1)


def _layer_titles(names: list[list[str]]) -> list[str]:
    if len(names) == 1:
        return ["members"]
    return [f"layer {number}" for number in range(1, len(names) + 1)]


def _draw_weight(ax: Any, start: Any, end: Any, weights: Floats | None, place: int) -> None:
    """Draw the line of a member to the meta-learner, with its weight."""
    if weights is None:
        _draw_line(ax, start, end, _GREY, 1.2)
        return
    largest = float(np.abs(weights).max()) or 1.0
    weight = float(weights[place])
    width = 0.8 + 6.0 * abs(weight) / largest
    color = _ORANGE if weight < 0 else _BLUE if weight else _GREY
    _draw_line(ax, start, end, color, width, "-" if weight else ":")
    spot = np.array(start) + 0.52 * (np.array(end) - np.array(start))
    ax.text(
        *spot,
        f"{weight:.2f}",
        ha="center",
        va="center",
        fontsize="small",
        color=INK,
        bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"},
        zorder=4,
    )


def _draw_line(ax: Any, start: Any, end: Any, color: str, width: float, style: str = "-") -> None:
    ax.plot(
        [start[0], end[0]],
        [start[1], end[1]],
        style,
        color=color,
        linewidth=width,
        solid_capstyle="round",
        alpha=0.85,
        zorder=1,
    )


def _draw_box(ax: Any, spot: tuple[float, float], text: str, color: str) -> None:
    box = {"boxstyle": "round,pad=0.5", "facecolor": color, "edgecolor": INK, "linewidth": 0.8}
    ax.text(*spot, text, ha="center", va="center", color=INK, bbox=box, zorder=3)


def _in_lines(name: str) -> str:
    r"""Return the name of a member in two lines at most, which fit between two layers.

    Examples
    --------
    >>> _in_lines("forest"), _in_lines("forest_of_many_deep_trees")
    ('forest', 'forest_of_\nmany_deep_\u2026')
    """
    lines = [line.replace("_ ", "_") for line in wrap(name.replace("_", "_ "), _LINE)] or [name]
    return "\n".join(lines[:2]) + "\u2026" * (len(lines) > 2)


def _wrapped(name: str) -> str:
    """Return a long class name in two lines."""
    for ending in ("Classifier", "Regressor", "Regression", "CV"):
        if name.endswith(ending) and len(name) > 10:
            return f"{name.removesuffix(ending)}\n{ending}"
    return name


def _draw_report(report: LeakReport, ax: Any) -> None:
    """Draw what was promised and what was found, the stack at the bottom."""
    places = np.arange(len(report.names))[::-1]
    suspects = set(report.suspects)
    for place, name, promised, found, error in zip(
        places, report.names, report.promised, report.found, report.error, strict=True
    ):
        color = _ORANGE if name in suspects else _BLUE
        ax.plot([found - 2 * error, found + 2 * error], [place] * 2, color=_GREY, linewidth=1)
        ax.plot([promised, found], [place] * 2, color=color, linewidth=2.2)
        ax.plot(found, place, "o", color=color, markersize=7, zorder=3)
        ax.plot(
            promised,
            place,
            "o",
            markerfacecolor="white",
            markeredgecolor=color,
            markeredgewidth=1.8,
            markersize=7,
            zorder=3,
        )
    ax.set_yticks(places, report.names, color=INK)
    ax.set_ylim(-0.6, len(places) - 0.4)
    low, high = ax.get_xlim()
    if low > 0:
        ax.set_xlim(0 if low < 0.4 * high else low, high)
    ax.set_xlabel("loss: \u25cb promised   \u25cf found", color=INK)
    title = "leaked" if report.leaked else "no sign of leakage"
    ax.set_title(title, color=_ORANGE if report.leaked else INK, fontsize="medium")
    _tidy(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _axes(
    ax: Any, name: str, size: tuple[float, float], n_columns: int = 1, widths: Any = None
) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{name} needs matplotlib: pip install 'committee[plot]'") from error
    return plt.subplots(1, n_columns, figsize=size, layout="constrained", width_ratios=widths)[1]


def _tidy(ax: Any, grid: str) -> None:
    """Take away what is no data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color=_GRID)
    ax.set_axisbelow(True)
