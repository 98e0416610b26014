"""Curves and maps of ensembles with matplotlib: out-of-bag scores, searches, proximities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.plots.style import (
    BLUE,
    GREY,
    GRID,
    INK,
    ORANGE,
    axes_or_new,
    legend,
    log_members,
    name_axes,
    tidy,
)
from committee.tables.native_table import AnyTable
from committee.trees.tree_layout import class_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from committee.forests.tuning import TuningResult
    from committee.inspection.pruning import PruningPath

__all__ = ["plot_oob_curve", "plot_proximity", "plot_pruning", "plot_tuning"]

# Beyond so many rows the eigenvectors of all pairs take too long for a picture.
_MOST_ROWS = 3000


def plot_oob_curve(
    curve: Any, *, label: str | None = None, color: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the out-of-bag score against the number of members.

    Parameters
    ----------
    curve : OobCurve, or an ensemble that was fitted with `oob_score`
        What to draw. Where the curve is flat, more members are of no use.
    label : str or None, default=None
        Name in a legend, where the last score follows, to compare several curves on the same axes.
    color : str or None, default=None
        Colour of the line; the next one of the axes when there is a label.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The axes.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_oob_curve
    >>> from committee.datasets import load_penguins
    >>> model = RandomForestClassifier(200, oob_score=True, random_state=0).fit(*load_penguins())
    >>> ax = plot_oob_curve(model)
    >>> ax.get_xlabel()
    'members'
    """
    curve = getattr(curve, "oob_curve_", curve)
    if not (hasattr(curve, "n_members") and hasattr(curve, "score")):
        raise TypeError(
            "curve must be an OobCurve or an ensemble fitted with oob_score=True; got "
            f"{type(curve).__name__}"
        )
    ax = axes_or_new(ax, "plot_oob_curve", (6.4, 3.6))
    if color is None and label is None:
        color = BLUE
    last = float(curve.score[-1])
    name = None if label is None else f"{label}, {last:.3g}"
    (line,) = ax.plot(curve.n_members, curve.score, linewidth=2, color=color, label=name)
    ax.plot(curve.n_members[-1:], curve.score[-1:], "o", color=line.get_color(), markersize=5)
    if label is None:
        ax.annotate(
            f"{last:.3g}",
            (curve.n_members[-1], last),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=INK,
        )
    log_members(ax)
    name_axes(ax, x="members", y="out-of-bag score")
    tidy(ax)
    if label is not None:
        legend(ax, loc="lower right")
    return ax


def plot_tuning(result: TuningResult, *, ax: Axes | None = None) -> Axes:
    """Draw the losses of a search for the number of features.

    Parameters
    ----------
    result : TuningResult
        What `tune_max_features` returned.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A line for each kind of forest, with bars of one standard error of the difference to the
        best; open circles are candidates that were dropped early, the large one is the best.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_tuning, tune_max_features
    >>> from committee.datasets import load_penguins
    >>> result = tune_max_features(RandomForestClassifier(random_state=0), *load_penguins())
    >>> plot_tuning(result).get_xlabel()
    'max_features'
    """
    ax = axes_or_new(ax, "plot_tuning", (6.4, 3.6))
    names = list(dict.fromkeys(each.estimator for each in result.candidates))
    most = max(each.n_trees for each in result.candidates)
    for name, color in zip(names, [BLUE, ORANGE, GREY, INK] * len(names), strict=False):
        mine = [each for each in result.candidates if each.estimator == name]
        x, losses = result.curve(name)
        errors = [each.standard_error for each in mine]
        ax.errorbar(x, losses, errors, color=color, linewidth=2, elinewidth=1, label=name)
        filled = [color if each.n_trees == most else "white" for each in mine]
        ax.scatter(x, losses, s=30, c=filled, edgecolors=color, linewidths=1.5, zorder=3)
    best = result.candidates[result.best]
    ax.scatter([best.max_features], [best.loss], s=130, c="none", edgecolors=INK, zorder=4)
    ax.set_xscale("log", base=2)
    numbers = sorted({each.max_features for each in result.candidates})
    ax.set_xticks(numbers, [str(number) for number in numbers])
    ax.minorticks_off()
    name_axes(ax, x="max_features", y="out-of-bag loss of the full forest")
    if len(names) > 1:
        legend(ax)
    tidy(ax)
    return ax


def plot_pruning(path: PruningPath, *, ax: Axes | None = None) -> Axes:
    """Draw the score of an ensemble against its number of members, in the order of pruning.

    Parameters
    ----------
    path : PruningPath
        What `prune_ensemble` returned beside the pruned ensemble.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A line of the score on held-out rows, a broken one of the score on the rows that chose the
        order of the members, and a dot at the pruned ensemble.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_pruning, prune_ensemble
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> forest = RandomForestClassifier(random_state=0).fit(X[::2], y[::2])
    >>> small, path = prune_ensemble(forest, X[1::2], y[1::2])
    >>> plot_pruning(path).get_xlabel()
    'members'
    """
    if not (hasattr(path, "promised") and hasattr(path, "n_kept")):
        raise TypeError(f"path must be what prune_ensemble returned; got {type(path).__name__}")
    ax = axes_or_new(ax, "plot_pruning", (6.4, 3.6))
    numbers = np.arange(1, len(path) + 1)
    ax.axhline(path.full_score, color=GREY, linewidth=1, linestyle=":")
    ax.plot(
        numbers, path.promised, "--", color=GREY, linewidth=1.5, label="rows that chose the order"
    )
    ax.plot(numbers, path.found, color=BLUE, linewidth=2, label="held-out rows")
    kept = path.n_kept, path.found[path.n_kept - 1]
    is_log = len(path) > 20
    is_left = kept[0] ** 3 < len(path) if is_log else 3 * kept[0] < len(path)
    ax.plot(*kept, "o", color=ORANGE, markersize=7)
    ax.annotate(
        f"{path.n_kept} of {len(path)}, cost {path.cost:.2g}",
        kept,
        (9, -3) if is_left else (-9, 6),
        textcoords="offset points",
        ha="left" if is_left else "right",
        color=INK,
    )
    if is_log:
        log_members(ax)
    # Scores of the first few members may be so low that the others' would be one flat line.
    shown = np.concatenate([path.found, path.promised])
    low = min(np.quantile(shown, 0.1), kept[1])
    room = 0.08 * (shown.max() - low) or 1e-3
    ax.set_ylim(low - room, shown.max() + room)
    name_axes(ax, x="members", y=path.metric)
    legend(ax, loc="lower right")
    tidy(ax)
    return ax


def plot_proximity(
    model: Any, X: Any, y: Any = None, *, out_of_bag: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw rows as points, near each other when they share many leaves.

    Parameters
    ----------
    model : fitted forest
        Its `proximity` gives the distances, one minus the share of common leaves.
    X : table of shape (n_rows, n_features)
        At most 3,000 rows with the columns of `fit`.
    y : array-like of shape (n_rows,) or None, default=None
        Colours of the points: classes, or numbers.
    out_of_bag : bool, default=False
        As in `proximity`: X is the training table, and trees count for the rows they have not
        drawn. Otherwise classes of training rows look better separated than they are.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The first two coordinates of classical multidimensional scaling.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_proximity
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> ax = plot_proximity(model, X, y, out_of_bag=True)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Adelie', 'Chinstrap', 'Gentoo']
    """
    n_rows = AnyTable(X, may_be_empty=True).n_rows
    if n_rows > _MOST_ROWS:
        raise ValueError(f"X must have at most {_MOST_ROWS} rows; got {n_rows}")
    shares = np.nan_to_num(model.proximity(X, out_of_bag=out_of_bag))
    # Squared distances 1 - share, with rows and columns centred: the matrix of inner products.
    inner = shares - shares.mean(axis=0) - shares.mean(axis=1)[:, None] + shares.mean()
    values, vectors = np.linalg.eigh(inner)
    points = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    ax = axes_or_new(ax, "plot_proximity", (5.6, 4.6))
    if y is None:
        ax.scatter(points[:, 0], points[:, 1], s=14, color=BLUE, alpha=0.8, linewidths=0)
    elif np.asarray(y).dtype.kind == "f":
        dots = ax.scatter(points[:, 0], points[:, 1], s=14, c=np.asarray(y), linewidths=0)
        ax.figure.colorbar(dots, ax=ax)
    else:
        labels = np.asarray(y).astype(str)
        for index, label in enumerate(np.unique(labels)):
            mine = points[labels == label]
            color = class_color(index)
            ax.scatter(
                mine[:, 0], mine[:, 1], s=14, color=color, alpha=0.8, linewidths=0, label=label
            )
        legend(ax, markerscale=2)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_aspect("equal", adjustable="datalim")
    name_axes(ax, x="first coordinate", y="second coordinate")
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_color(GRID)
    return ax
