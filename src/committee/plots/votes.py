"""Votes with matplotlib: what each member of an ensemble predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from committee.base.arrays import Floats
from committee.combining.voting.voting_model import VotingModel
from committee.plots.style import (
    BLUE,
    INK,
    ORANGE,
    axes_or_new,
    legend,
    name_axes,
    tidy,
    tidy_bars,
)
from committee.tables.target import check_same_length
from committee.trees.tree_layout import class_color, faded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from committee.combining.voting.votes import Votes

__all__ = ["plot_votes"]

_ABSTAINS = "#ffffff"

_FEW_ROWS = 30  # are named by their numbers, and keep their order
_GAP = 0.03  # between the members and the committee, as a share of the width
_COMMITTEE = 0.19  # width of the last columns, in shares of all weights
_NARROW = 0.13  # a member of less weight is drawn so wide, or its name could not be read
_MANY = 9  # columns, whose names then stand upright
_LETTER = 0.085  # inches that a letter of a name takes, about


def plot_votes(model: Any, X: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the predictions of all members of a committee.

    Parameters
    ----------
    model : fitted forest, or voting estimator
        A forest of classes: how many trees vote for each class, and the averaged probabilities. A
        forest of numbers: a histogram of the trees' predictions with their mean. Voting
        classifiers: a map of the votes with a column for each member, as wide as its weight (but
        never too narrow to see), and pale where the member is not sure; more than thirty rows are
        put in the order of the committee's predictions. Voting regressors: a dot for each member's
        prediction, a line for the committee's.
    X : table
        With the columns of `fit`. One row for a forest, any number for voting.
    y : array-like or None, default=None
        Voting only: the truth, drawn beside the predictions.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The axes.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_votes
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> ax = plot_votes(model, X[:1])
    >>> ax.get_xlabel()
    'share of 100 trees'
    """
    if isinstance(model, VotingModel):
        votes: Axes = _plot_team_votes(model, X, y, ax)
        return votes
    if not hasattr(model, "_forest"):
        raise TypeError(
            "model must be a fitted forest or voting estimator, such as RandomForestClassifier; "
            f"got {type(model).__name__}"
        )
    if y is not None:
        raise ValueError("y must be None for a forest: it is drawn for voting estimators only")
    n_outputs = getattr(model, "n_outputs_", 1)
    if n_outputs > 1:
        raise ValueError(f"model must have one output to be drawn; it has {n_outputs}")
    table = model._read(X)
    if table.n_rows != 1:
        raise ValueError(f"X must be a table of one row; got {table.n_rows} rows")
    predicted = model._forest.predict_each(table)[0]
    labels = model._class_labels()
    if labels is not None:
        drawn: Axes = _plot_class_votes(predicted, [str(label) for label in labels[0]], ax)
        return drawn
    ax = axes_or_new(ax, "plot_votes", (6.4, 3.2))
    values = predicted[:, 0]
    ax.hist(values, bins="auto", color=BLUE, alpha=0.55, edgecolor="white", linewidth=0.5)
    ax.axvline(values.mean(), color=ORANGE, linewidth=2)
    title = f"mean {values.mean():.4g}, standard deviation {values.std():.3g}"
    name_axes(ax, x="prediction of a tree", y="trees", title=title)
    tidy(ax)
    return ax


def _plot_team_votes(model: Any, X: Any, y: Any, ax: Any) -> Any:
    votes = model.votes(X)
    if not isinstance(model, ClassifierMixin):
        return draw_number_votes(votes, y, ax)
    sure = model._predictions(X).max(axis=2).T if model._uses_probabilities else None
    return draw_class_votes(votes, model.classes_, sure, y, ax)


def _plot_class_votes(predicted: Floats, labels: Sequence[str], ax: Any) -> Any:
    ax = axes_or_new(ax, "plot_votes", (6.4, 1.1 + 0.34 * len(labels)))
    places = np.arange(len(labels))[::-1]
    votes = np.bincount(predicted.argmax(axis=1), minlength=len(labels)) / len(predicted)
    colors = [class_color(index) for index in range(len(labels))]
    ax.barh(places, votes, height=0.62, color=colors)
    (mean,) = ax.plot(predicted.mean(axis=0), places, "D", color=INK, markersize=5, clip_on=False)
    name_axes(ax, x=f"share of {len(predicted)} trees")
    ax.set_xlim(0, 1.02)
    ax.legend([mean], ["mean probability"], frameon=False, labelcolor=INK, loc="best")
    tidy_bars(ax, places, labels)
    return ax


def draw_class_votes(
    votes: Votes, labels: NDArray[Any], confidence: Floats | None, truth: Any, ax: Any
) -> Any:
    """Draw votes for classes as a map: a column for each member, as wide as its weight.

    Parameters
    ----------
    votes : Votes
        Vote of each member for each row.
    labels : ndarray
        All classes.
    confidence : ndarray of float64, shape (n_rows, n_members), or None
        How sure each member is of its vote, between one over the number of classes and one.
    truth : array-like or None
        Labels, for one more column.
    ax : matplotlib Axes or None
        Where to draw.
    """
    n_rows = len(votes.prediction)
    ax = axes_or_new(ax, "plot_votes", (6.4, min(5.2, 1.6 + 0.24 * n_rows)))
    colors = {label: class_color(code) for code, label in enumerate(labels.tolist())}
    order = np.arange(n_rows) if n_rows <= _FEW_ROWS else _by_prediction(votes, labels)
    columns = _columns(votes, len(labels), confidence, truth)
    edge, middles = 0.0, []
    for place, column in enumerate(columns):
        if place == len(votes.names):
            edge += _GAP
        _draw_column(ax, column, edge, order, colors)
        middles.append(edge + column.width / 2)
        edge += column.width
    if n_rows <= _FEW_ROWS:
        ax.hlines(np.arange(1, n_rows) - 0.5, 0, edge, color="white", linewidth=1)
    ax.set_xlim(0, edge)
    ax.set_ylim(n_rows - 0.5, -0.5)
    names = [column.name for column in columns]
    widths = [column.width / edge for column in columns]
    ax.tick_params(length=0)
    _name_rows(ax, order, n_rows)
    handles = [ax.plot([], [], "s", color=color)[0] for color in colors.values()]
    legend(
        ax,
        handles=handles,
        labels=[str(label) for label in colors],
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=min(len(colors), 6),
    )
    is_upright = len(names) > _MANY or not _have_room(ax, names, widths)
    ax.set_xticks(middles, names, color=INK, rotation=90 if is_upright else 0)
    ax.spines[:].set_visible(False)
    return ax


@dataclass(frozen=True, eq=False)
class _Column:
    """Classes of all rows, by a member, the committee or the truth, and their strengths."""

    name: str
    width: float
    predicted: NDArray[Any]
    strength: Floats


def _columns(votes: Votes, n_classes: int, confidence: Floats | None, truth: Any) -> list[_Column]:
    """Return a column for each member, one for the committee, and one for the truth if known."""
    full = np.ones(votes.predicted.shape)
    strength = full if confidence is None else _strength(confidence, n_classes)
    columns = [
        _Column(f"{name}\n{weight:.2g}", max(float(weight), _NARROW), predicted, strong)
        for name, weight, predicted, strong in zip(
            votes.names, votes.weights, votes.predicted.T, strength.T, strict=True
        )
    ]
    columns.append(_Column("committee\n", _COMMITTEE, votes.prediction, full[:, 0]))
    if truth is not None:
        check_same_length(len(full), len(truth))
        columns.append(_Column("truth\n", _COMMITTEE, np.asarray(truth), full[:, 0]))
    return columns


def _draw_column(
    ax: Any, column: _Column, edge: float, order: NDArray[np.intp], colors: dict[Any, str]
) -> None:
    from matplotlib.colors import to_rgb

    pairs = zip(column.predicted[order].tolist(), column.strength[order].tolist(), strict=True)
    cells = [
        to_rgb(faded(colors[label], strength) if label in colors else _ABSTAINS)
        for label, strength in pairs
    ]
    bottom, end = len(order) - 0.5, edge + column.width
    ax.imshow(
        np.array(cells)[:, np.newaxis, :],
        extent=(edge, end, bottom, -0.5),
        aspect="auto",
        interpolation="nearest",
    )
    ax.plot([end, end], [-0.5, bottom], color="white", linewidth=1.5)


def _have_room(ax: Any, names: list[str], widths: list[float]) -> bool:
    """Whether names can stand side by side below columns of these shares of the axes."""
    ax.set_xticks([])
    ax.figure.draw_without_rendering()  # or the layout has not placed the axes
    whole = ax.figure.get_figwidth() * ax.get_position().width
    longest = [max(map(len, name.split("\n"))) for name in names]
    return all(_LETTER * n <= whole * width for n, width in zip(longest, widths, strict=True))


def _strength(confidence: Floats, n_classes: int) -> Floats:
    """Return how strong a colour is: pale where the vote has little confidence."""
    least = 1.0 / n_classes
    return np.asarray(0.3 + 0.7 * np.clip((confidence - least) / (1 - least), 0.0, 1.0))


def _by_prediction(votes: Votes, labels: NDArray[Any]) -> NDArray[np.intp]:
    """Return rows in the order of the predicted class, and of agreement in each."""
    codes = {label: code for code, label in enumerate(labels.tolist())}
    predicted = np.array([codes.get(each, len(codes)) for each in votes.prediction.tolist()])
    return np.lexsort((votes.agreement, predicted))


def _name_rows(ax: Any, order: NDArray[np.intp], n_rows: int) -> None:
    if n_rows <= _FEW_ROWS:
        ax.set_yticks(np.arange(n_rows), [f"row {row}" for row in order], color=INK)
        return
    ax.set_yticks([])
    name_axes(ax, y=f"{n_rows} rows, by prediction and agreement")


def draw_number_votes(votes: Votes, truth: Any, ax: Any) -> Any:
    """Draw predictions as dots, as large as weights, around the line of the committee's."""
    n_rows = len(votes.prediction)
    ax = axes_or_new(ax, "plot_votes", (6.4, 3.8))
    order = np.argsort(votes.prediction, kind="stable")
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
    ax.plot(places, votes.prediction[order], style, color=INK, linewidth=1.8, label="committee")
    if truth is not None:
        check_same_length(n_rows, len(truth))
        values = np.asarray(truth, np.float64)[order]
        ax.plot(places, values, "x", color=INK, markersize=4, alpha=0.6, label="truth")
    ax.set_xticks([])
    name_axes(ax, x=f"{n_rows} row{'s' * (n_rows > 1)}, by prediction", y="prediction")
    legend(ax)
    tidy(ax)
    return ax
