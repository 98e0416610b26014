"""Pictures of ensembles with matplotlib: curves, importances, intervals, votes, proximities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from committee.base.params import check_choice, check_int
from committee.combining.voting.voting_model import VotingModel
from committee.evaluation.importance import Importances
from committee.plots.team import draw_class_votes, draw_number_votes
from committee.trees.tree_layout import INK, class_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from committee.forests.tuning import TuningResult
    from committee.inspection.pruning import PruningPath

__all__ = [
    "plot_contributions",
    "plot_importances",
    "plot_intervals",
    "plot_oob_curve",
    "plot_proximity",
    "plot_pruning",
    "plot_tuning",
    "plot_votes",
]

_BLUE, _ORANGE, _GREY, _GRID = "#3b7dd8", "#d9822b", "#9aa5b4", "#e6eaf0"

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
    ax = _axes(ax, "plot_oob_curve", (6.4, 3.6))
    if color is None and label is None:
        color = _BLUE
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
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("members", color=INK)
    ax.set_ylabel("out-of-bag score", color=INK)
    _tidy(ax, "y")
    if label is not None:
        ax.legend(frameon=False, labelcolor=INK, loc="lower right")
    return ax


def plot_importances(
    result: Importances,
    *,
    top: int = 20,
    by: str = "mean",
    color: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw importances of features, the largest on top.

    Parameters
    ----------
    result : Importances
        What `permutation_importance` or `debiased_importance` of a forest returned.
    top : int, default=20
        Draw so many features.
    by : {"mean", "score"}, default="mean"
        Bars of means with thin lines of one standard deviation over the trees to either side, or
        bars of scores, mean over standard deviation.
    color : str or None, default=None
        Colour of the bars.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The axes.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_importances
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> ax = plot_importances(model.permutation_importance(X, y), top=3)
    >>> [tick.get_text() for tick in ax.get_yticklabels()][-1]
    'bill_length_mm'
    """
    check_choice("by", by, ("mean", "score"))
    top = check_int("top", top, 1)
    if not isinstance(result, Importances):
        raise TypeError(
            "result must be what permutation_importance or debiased_importance of a forest "
            f"returned; got {type(result).__name__}"
        )
    values = result.importances_mean if by == "mean" else result.score
    order = np.argsort(-values, kind="stable")[:top][::-1]
    ax = _axes(ax, "plot_importances", (6.4, 0.9 + 0.3 * len(order)))
    places = np.arange(len(order))
    ax.barh(places, values[order], height=0.62, color=color or _BLUE)
    if by == "mean":
        spread = result.importances_std[order]
        ax.hlines(places, values[order] - spread, values[order] + spread, color=INK, linewidth=1)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(places, [result.feature_names[index] for index in order], color=INK)
    kind = result.kind if by == "mean" else f"{result.kind}: mean / standard deviation"
    ax.set_xlabel(kind, color=INK)
    ax.set_ylim(-0.6, len(order) - 0.4)
    _tidy(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def plot_intervals(
    x: Any,
    bounds: Any,
    y: Any = None,
    *,
    style: str = "band",
    color: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw intervals or quantiles against a feature, or against the predictions.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
        Where to draw each row.
    bounds : array-like of shape (n_rows, n_bounds)
        Two bounds, from `predict_interval`, or ascending quantiles, from `predict_quantiles`:
        bands from the outermost pair inward, and a line for the middle one if their number is odd.
    y : array-like of shape (n_rows,) or None, default=None
        True values, drawn as points; those outside the outermost bounds in another colour.
    style : {"band", "bars"}, default="band"
        Bands for a feature with an order; a bar for each row where neighbours are unrelated.
    color : str or None, default=None
        Colour of the intervals.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The axes; the title says how many values are inside.

    Examples
    --------
    >>> from committee import plot_intervals
    >>> ax = plot_intervals([1, 2, 3], [[0, 2], [1, 3], [2, 4]], [1, 2, 9])
    >>> ax.get_title()
    '2 of 3 values inside (66.7 %)'
    """
    check_choice("style", style, ("band", "bars"))
    where, limits = np.asarray(x).ravel(), np.asarray(bounds, np.float64)
    if limits.ndim != 2 or len(limits) != len(where) or limits.shape[1] < 2:
        raise ValueError(
            "bounds must have a row for each entry of x and two columns or more; got shape "
            f"{limits.shape} for {len(where)} entries"
        )
    ax = _axes(ax, "plot_intervals", (6.4, 3.8))
    order = np.argsort(where, kind="stable")
    fill = color or _BLUE
    n_bounds = limits.shape[1]
    for pair in range(n_bounds // 2):
        low, high = limits[order, pair], limits[order, n_bounds - 1 - pair]
        if style == "band":
            ax.fill_between(where[order], low, high, color=fill, alpha=0.22, linewidth=0)
        else:
            ax.vlines(where[order], low, high, color=fill, alpha=0.35, linewidth=1.6)
    if n_bounds % 2:
        middle = limits[order, n_bounds // 2]
        ax.plot(where[order], middle, *(["_"] if style == "bars" else []), color=fill, linewidth=2)
    if y is not None:
        truth = np.asarray(y, np.float64).ravel()
        inside = (limits[:, 0] <= truth) & (truth <= limits[:, -1])
        for mask, ink, size in ((inside, INK, 3.0), (~inside, _ORANGE, 4.5)):
            ax.plot(where[mask], truth[mask], ".", color=ink, markersize=size, alpha=0.8)
        title = f"{inside.sum()} of {len(inside)} values inside ({100 * inside.mean():.1f} %)"
        ax.set_title(title, color=INK, fontsize="medium")
    _tidy(ax, "y")
    return ax


def plot_votes(model: Any, X: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw what each member of a committee says.

    Parameters
    ----------
    model : fitted forest, or voting estimator
        A forest of classes: how many trees vote for each class, and the averaged probabilities. A
        forest of numbers: a histogram of the trees' predictions with their mean. Voting
        classifiers: a map of the votes with a column for each member, as wide as its weight (but
        never too narrow to see), and pale where the member is not sure; more than thirty rows are
        put in the order of the answers. Voting regressors: a dot for each prediction, a line of
        the answers.
    X : table
        With the columns of `fit`. One row for a forest, any number for voting.
    y : array-like or None, default=None
        Voting only: the truth, drawn beside the answers.
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
    ax = _axes(ax, "plot_votes", (6.4, 3.2))
    values = predicted[:, 0]
    ax.hist(values, bins="auto", color=_BLUE, alpha=0.55, edgecolor="white", linewidth=0.5)
    ax.axvline(values.mean(), color=_ORANGE, linewidth=2)
    text = f" mean {values.mean():.4g}, standard deviation {values.std():.3g}"
    ax.set_title(text.strip(), color=INK, fontsize="medium")
    ax.set_xlabel("prediction of a tree", color=INK)
    ax.set_ylabel("trees", color=INK)
    _tidy(ax, "y")
    return ax


def _plot_team_votes(model: Any, X: Any, y: Any, ax: Any) -> Any:
    votes = model.votes(X)
    if not isinstance(model, ClassifierMixin):
        return draw_number_votes(votes, y, ax)
    sure = model._ask(X).max(axis=2).T if model._asks_shares else None
    return draw_class_votes(votes, model.classes_, sure, y, ax)


def _plot_class_votes(predicted: NDArray[np.float64], labels: Sequence[str], ax: Any) -> Any:
    ax = _axes(ax, "plot_votes", (6.4, 1.1 + 0.34 * len(labels)))
    places = np.arange(len(labels))[::-1]
    votes = np.bincount(predicted.argmax(axis=1), minlength=len(labels)) / len(predicted)
    colors = [class_color(index) for index in range(len(labels))]
    ax.barh(places, votes, height=0.62, color=colors)
    (mean,) = ax.plot(predicted.mean(axis=0), places, "D", color=INK, markersize=5, clip_on=False)
    ax.set_yticks(places, labels, color=INK)
    ax.set_xlabel(f"share of {len(predicted)} trees", color=INK)
    ax.set_xlim(0, 1.02)
    ax.legend([mean], ["mean probability"], frameon=False, labelcolor=INK, loc="best")
    _tidy(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def plot_contributions(
    model: Any, row: Any, *, label: Any = None, top: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw how the features of a row take a model from its mean to its prediction.

    Parameters
    ----------
    model : fitted tree or forest
        A model with `predict_contributions` and one output.
    row : table of one row
        With the columns of `fit`.
    label : class label or None, default=None
        Classifier only: the class whose probability is explained; None is the predicted one.
    top : int, default=10
        Features with a bar of their own, the largest contributions; one more bar has the others.
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
    >>> ax = plot_contributions(model, X[:1], top=3)
    >>> [tick.get_text() for tick in ax.get_yticklabels()][0]
    '4 others'
    """
    top = check_int("top", top, 1)
    parts, what = _parts_of_row(model, row, label)
    names = [info.name for info in model.schema_.features]
    order = np.argsort(-np.abs(parts[:-1]), kind="stable")
    labels, widths = [names[index] for index in order[:top]], parts[order[:top]]
    if len(order) > top:
        n_others = len(order) - top
        labels.append(f"{n_others} others" if n_others > 1 else names[order[top]])
        widths = np.append(widths, parts[order[top:]].sum())
    labels, widths = labels[::-1], widths[::-1]
    ends = parts[-1] + np.cumsum(widths)
    ax = _axes(ax, "plot_contributions", (6.4, 1.3 + 0.34 * len(labels)))
    places = np.arange(len(labels))
    colors = [_BLUE if width >= 0 else _ORANGE for width in widths]
    ax.barh(places, widths, left=ends - widths, height=0.62, color=colors)
    ax.vlines(ends[:-1], places[:-1], places[1:], color=_GREY, linewidth=0.8)
    ax.axvline(parts[-1], color=_GREY, linewidth=0.8, linestyle=":")
    for place, width, end in zip(places, widths, ends, strict=True):
        right = max(end, end - width)
        ax.annotate(
            f"{width:+.3g}",
            (right, place),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=INK,
        )
    ax.use_sticky_edges = False  # or there is no margin beside bars
    ax.margins(x=0.12)
    ax.set_yticks(places, labels, color=INK)
    ax.set_xlabel(what, color=INK)
    title = f"mean {parts[-1]:.3g}, this row {parts.sum():.3g}"
    ax.set_title(title, color=INK, fontsize="medium")
    _tidy(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _parts_of_row(model: Any, row: Any, label: Any) -> tuple[NDArray[np.float64], str]:
    """Return the contributions to one number about a row, and what this number is."""
    if not hasattr(model, "predict_contributions"):
        raise TypeError(
            "model must be a fitted tree or forest with predict_contributions; got "
            f"{type(model).__name__}"
        )
    found = model.predict_contributions(row)
    n_outputs = getattr(model, "n_outputs_", 1)
    if n_outputs > 1:
        raise ValueError(f"model must have one output to be drawn; it has {n_outputs}")
    if len(found) != 1:
        raise ValueError(f"row must be a table of one row; got {len(found)} rows")
    classes = model._class_labels()
    if classes is None:
        if label is not None:
            raise ValueError("label must be None: the model predicts a number")
        return found[0], "prediction"
    labels = list(classes[0])
    if label is not None and label not in labels:
        raise ValueError(f"label must be one of {classes[0].tolist()}; got {label!r}")
    if hasattr(model, "decision_function"):
        return _score_of_class(found, labels, label)
    index = labels.index(label) if label is not None else int(found[0].sum(axis=0).argmax())
    return found[0, :, index], f"probability of {labels[index]}"


def _score_of_class(
    found: NDArray[np.float64], labels: list[Any], label: Any
) -> tuple[NDArray[np.float64], str]:
    """Return the contributions to the score of a class, in a model that adds up scores."""
    if found.ndim == 2:  # one score for two classes
        found = np.stack([-found, found], axis=2)
    index = labels.index(label) if label is not None else int(found[0].sum(axis=0).argmax())
    return found[0, :, index], f"score of {labels[index]}"


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
    ax = _axes(ax, "plot_tuning", (6.4, 3.6))
    names = list(dict.fromkeys(each.estimator for each in result.candidates))
    most = max(each.n_trees for each in result.candidates)
    for name, color in zip(names, [_BLUE, _ORANGE, _GREY, INK] * len(names), strict=False):
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
    ax.set_xlabel("max_features", color=INK)
    ax.set_ylabel("out-of-bag loss of the full forest", color=INK)
    if len(names) > 1:
        ax.legend(frameon=False, labelcolor=INK)
    _tidy(ax, "y")
    return ax


def plot_pruning(path: PruningPath, *, ax: Axes | None = None) -> Axes:
    """Draw what so many members of an ensemble are worth.

    Parameters
    ----------
    path : PruningPath
        What `prune_ensemble` returned beside the pruned ensemble.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A line of the score that was found on rows without a say in the order, a broken one of what
        the rows that chose it promised, and a dot at the pruned ensemble.

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
    ax = _axes(ax, "plot_pruning", (6.4, 3.6))
    numbers = np.arange(1, len(path) + 1)
    ax.axhline(path.full_score, color=_GREY, linewidth=1, linestyle=":")
    ax.plot(numbers, path.promised, "--", color=_GREY, linewidth=1.5, label="promised")
    ax.plot(numbers, path.found, color=_BLUE, linewidth=2, label="found on rows without a say")
    kept = path.n_kept, path.found[path.n_kept - 1]
    ax.plot(*kept, "o", color=_ORANGE, markersize=7)
    ax.annotate(
        f"{path.n_kept} of {len(path)}, cost {path.cost:.2g}",
        kept,
        (-9, 6),
        textcoords="offset points",
        ha="right",
        color=INK,
    )
    if len(path) > 20:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    # The first few members are so poor that nothing could be seen of the others.
    shown = np.concatenate([path.found, path.promised])
    low = min(np.quantile(shown, 0.1), kept[1])
    room = 0.08 * (shown.max() - low) or 1e-3
    ax.set_ylim(low - room, shown.max() + room)
    ax.set_xlabel("members", color=INK)
    ax.set_ylabel(path.metric, color=INK)
    ax.legend(frameon=False, labelcolor=INK, loc="lower right")
    _tidy(ax, "y")
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
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows > _MOST_ROWS:
        raise ValueError(f"X must have at most {_MOST_ROWS} rows; got {n_rows}")
    shares = np.nan_to_num(model.proximity(X, out_of_bag=out_of_bag))
    # Squared distances 1 - share, with rows and columns centred: the matrix of inner products.
    inner = shares - shares.mean(axis=0) - shares.mean(axis=1)[:, None] + shares.mean()
    values, vectors = np.linalg.eigh(inner)
    points = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    ax = _axes(ax, "plot_proximity", (5.6, 4.6))
    if y is None:
        ax.scatter(points[:, 0], points[:, 1], s=14, color=_BLUE, alpha=0.8, linewidths=0)
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
        ax.legend(frameon=False, labelcolor=INK, markerscale=2)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("first coordinate", color=INK)
    ax.set_ylabel("second coordinate", color=INK)
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_color(_GRID)
    return ax


def _axes(ax: Any, name: str, size: tuple[float, float]) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{name} needs matplotlib: pip install 'committee[plot]'") from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def _tidy(ax: Any, grid: str) -> None:
    """Take away what is no data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color=_GRID)
    ax.set_axisbelow(True)
