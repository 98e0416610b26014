"""Pictures of AdaBoost with matplotlib: what each round sees and says, curves, margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.adaboost.classifier import AdaBoostClassifier
from committee.adaboost.learners import codes_of
from committee.adaboost.regressor import AdaBoostRegressor
from committee.base.params import check_int
from committee.tables.native_table import AnyTable
from committee.tables.source import open_source
from committee.tables.target import check_same_length, read_known_classes
from committee.trees.tree_layout import INK, class_color, faded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_adaboost", "plot_margins", "plot_rounds"]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

_BLUE, _ORANGE, _GREEN, _GREY, _GRID = "#3b7dd8", "#d9822b", "#3a9b6f", "#9aa5b4", "#e6eaf0"
_PALE_TO_DARK = ("#b9d0ef", "#7fa9e3", "#3b7dd8", "#24508f", "#122a4d")

# Few rows of two classes are minus and plus, as on the blackboard; others have shapes.
_FEW_ROWS = 60
_MINUS = [(-1.0, -0.34), (1.0, -0.34), (1.0, 0.34), (-1.0, 0.34)]
_SHAPES = ("o", "s", "^", "D", "v", "p", "h", "<", ">", "d")

# Areas of markers in square points: that of a row of mean weight goes by the number of rows.
_SMALLEST_MEAN, _LARGEST_MEAN, _LARGEST = 10.0, 240.0, 1200.0
_DOT = 2.0

# Cells of a map of decisions to a side, where thresholds do not say where they end.
_MOST_CELLS = 300

_FIRST_ROUNDS = 4


def plot_rounds(
    model: AdaBoostClassifier,
    X: Any,
    y: Any,
    *,
    rounds: Sequence[int] | None = None,
    features: Sequence[Any] | None = None,
    n_columns: int | None = None,
) -> list[Axes]:
    """Draw what the learners of some rounds see and say, and what the committee makes of it.

    One panel for each round: the areas of the points are the weights of the rows in that round, on
    one scale for all panels, the rows that the learner gets wrong are circled, and its stump is a
    line with a side for each answer. The last panel is the committee of all rounds.

    Parameters
    ----------
    model : AdaBoostClassifier
        Fitted with ``keep_weights=True``.
    X : table of shape (n_rows, n_features)
        The training table, its rows in the order of `fit`. Rows without a value in one of the two
        features have no place in the picture.
    y : array-like of shape (n_rows,)
        Their classes.
    rounds : sequence of int or None, default=None
        Numbers of the rounds to draw, from one. None is all of up to five rounds, else the first
        four and the last.
    features : pair of names or positions, or None, default=None
        The two numeric features to draw by, across and up; None is the first two that are numeric.
        Stumps that ask another feature have no line, and in tables of more than two features
        neither have other learners and the committee: their answers depend on more than is seen.
    n_columns : int or None, default=None
        Panels side by side; None is up to four.

    Returns
    -------
    axes : list of matplotlib Axes
        One for each round, and last the committee; ``axes[0].figure`` is the figure.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, plot_rounds
    >>> from committee.datasets import load_ten_points
    >>> X, y = load_ten_points()
    >>> model = AdaBoostClassifier(n_estimators=3, criterion="error", keep_weights=True)
    >>> axes = plot_rounds(model.fit(X, y), X, y)
    >>> print(axes[1].get_title())
    round 2
    error 0.214, weight 1.30, beta 0.65
    """
    if not isinstance(model, AdaBoostClassifier):
        raise TypeError(f"model must be a fitted AdaBoostClassifier; got {_kind(model)}")
    distributions = _kept_distributions(model)
    numbers = _check_rounds(rounds, len(model), _first_and_last)
    rows = _read_rows(model, X, y, features)
    if distributions.shape[1] != len(rows.codes):
        raise ValueError(
            f"X must be the training table, which had {distributions.shape[1]} rows; got "
            f"{len(rows.codes)}"
        )
    predicted = {number: rows.answers(model[number - 1]) for number in numbers}
    for number in numbers:
        _check_error(model, number, distributions[number - 1], predicted[number] != rows.codes)
    area = _area_of_weight(distributions[[0, *(number - 1 for number in numbers)]])
    axes = _panels(len(numbers) + 1, n_columns)
    for ax, number in zip(axes, numbers, strict=False):
        _draw_answers(ax, model[number - 1], rows)
        is_wrong = predicted[number] != rows.codes
        _draw_points(ax, rows, area * distributions[number - 1], is_wrong)
        _set_title(ax, f"round {number}", _numbers_of_round(model, number))
    _draw_committee(axes[-1], model, rows, area * distributions[0])
    _label_panels(axes, rows)
    return axes


def plot_adaboost(model: AdaBoostClassifier | AdaBoostRegressor, *, ax: Axes | None = None) -> Axes:
    """Draw the errors of learners and committee, and the bound, against the number of rounds.

    Parameters
    ----------
    model : AdaBoostClassifier or AdaBoostRegressor
        A fitted model.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        Lines for the weighted error of each learner (a regressor's mean loss), for the training
        error of the committee so far, for the bound that it stays below, and for the error of
        validation rows, each as far as it is known; a dotted line is chance. Another score than
        accuracy has an axis of its own on the right. A dot is the best round.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, plot_adaboost
    >>> from committee.datasets import load_ten_points
    >>> X, y = load_ten_points()
    >>> model = AdaBoostClassifier(n_estimators=3, criterion="error").fit(X, y)
    >>> ax = plot_adaboost(model)
    >>> [line.get_label() for line in ax.lines][:3]
    ['learner of the round', 'committee, bound', 'committee, training rows']
    """
    if not isinstance(model, AdaBoostClassifier | AdaBoostRegressor):
        raise TypeError(
            f"model must be a fitted AdaBoostClassifier or AdaBoostRegressor; got {_kind(model)}"
        )
    model._check_fitted()
    trace, is_regressor = model.trace_, isinstance(model, AdaBoostRegressor)
    ax = _axes(ax, "plot_adaboost", (6.4, 3.8))
    _line(ax, trace.error, "learner of the round", color=_GREY, linewidth=1.2)
    _line(ax, trace.bound, "committee, bound", color=_ORANGE, linewidth=1.6, linestyle="--")
    _line(ax, trace.train_error, "committee, training rows", color=_BLUE, linewidth=2)
    scores: Floats | None = getattr(model, "validation_scores_", None)
    lines = list(ax.lines)
    if scores is not None:
        lines += _draw_scores(ax, scores, len(model), is_accuracy=_is_accuracy(model))
    if is_regressor or model._rule.variant == "discrete":
        chance = 0.5 if is_regressor else model._rule.chance
        lines.append(ax.axhline(chance, color=INK, linewidth=1, linestyle=":", label="chance"))
    ax.set_xlabel("rounds", color=INK)
    ax.set_ylabel("mean loss" if is_regressor else "error", color=INK)
    ax.set_ylim(bottom=0)
    _tidy(ax)
    ax.legend(handles=lines, frameon=False, labelcolor=INK)
    return ax


def plot_margins(
    model: AdaBoostClassifier,
    X: Any,
    y: Any,
    *,
    rounds: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how margins are distributed after some rounds.

    The margin of a row is the share of the votes for its class minus the largest share of another:
    negative where the committee is wrong, one where all are right. A curve says for each margin how
    many rows have at most that one, so that curves further right are better.

    Parameters
    ----------
    model : AdaBoostClassifier
        A fitted model.
    X : table of shape (n_rows, n_features)
        Rows with the columns of `fit`.
    y : array-like of shape (n_rows,)
        Their classes.
    rounds : sequence of int or None, default=None
        After which rounds, from one. None is the fifth, the last, and one between.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A curve for each number of rounds.

    References
    ----------
    Schapire, Freund, Bartlett and Lee (1998), Boosting the margin: a new explanation for the
    effectiveness of voting methods. Annals of Statistics 26, 1651-1686.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, plot_margins
    >>> from committee.datasets import load_ten_points
    >>> X, y = load_ten_points()
    >>> model = AdaBoostClassifier(n_estimators=3, criterion="error").fit(X, y)
    >>> ax = plot_margins(model, X, y, rounds=[1, 3])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1 round', '3 rounds']
    """
    if not isinstance(model, AdaBoostClassifier):
        raise TypeError(f"model must be a fitted AdaBoostClassifier; got {_kind(model)}")
    model._check_fitted()
    if model.n_classes_ < 2:
        raise ValueError("model must know two classes or more: one alone has no margin")
    numbers = _check_rounds(rounds, len(model), _fifth_and_last)
    margins = _staged_margins(model, X, y, numbers)
    ax = _axes(ax, "plot_margins", (6.4, 3.8))
    low = min(-1.0, *(float(found.min()) for found in margins))
    high = max(1.0, *(float(found.max()) for found in margins))
    for place, (number, found) in enumerate(zip(numbers, margins, strict=True)):
        ordered = np.concatenate([[low], np.sort(found), [high]])
        shares = np.concatenate([[0.0], np.arange(1, len(found) + 1) / len(found), [1.0]])
        label = "1 round" if number == 1 else f"{number} rounds"
        color = _shade(place, len(numbers))
        ax.step(ordered, shares, where="post", color=color, linewidth=2, label=label)
    ax.axvline(0, color=INK, linewidth=1, linestyle=":")
    ax.set_xlim(low, high)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("margin", color=INK)
    ax.set_ylabel("share of rows with at most this margin", color=INK)
    _tidy(ax)
    ax.legend(frameon=False, labelcolor=INK, loc="upper left")
    return ax


# ---- rounds ----


@dataclass(frozen=True, eq=False)
class _Rows:
    """The training rows as they are drawn.

    Attributes
    ----------
    native : table
        As members read it.
    classes : ndarray
        Labels of all classes.
    codes : ndarray of int
        The class of each row.
    features : tuple of two ints
        Positions, in the order of `fit`, of what is drawn across and up.
    places : ndarray of float64, shape (n_rows, 2)
        Their values.
    names : tuple of two str
        Their names.
    is_plane : bool
        Whether the table has these two features only, so that every point has an answer.
    """

    native: Any
    classes: NDArray[Any]
    codes: Codes
    features: tuple[int, int]
    places: Floats
    names: tuple[str, str]
    is_plane: bool

    @property
    def has_place(self) -> NDArray[np.bool_]:
        """Whether a row has both values."""
        return np.isfinite(self.places[:, 0]) & np.isfinite(self.places[:, 1])

    @property
    def are_few(self) -> bool:
        """Whether there is room for large marks."""
        return len(self.codes) <= _FEW_ROWS

    def marker(self, code: int) -> Any:
        """Return how the rows of a class are drawn."""
        if self.are_few and len(self.classes) == 2:
            return (_MINUS, "P")[code]
        return _SHAPES[code % len(_SHAPES)]

    def limits(self, axis: int) -> tuple[float, float]:
        """Return the ends of the picture along an axis."""
        values = self.places[self.has_place, axis]
        low, high = float(values.min()), float(values.max())
        space = 0.09 * (high - low) or 0.5
        return low - space, high + space

    def answers(self, asked: Any) -> Codes:
        """Return the classes that a member or the committee says of the rows."""
        return codes_of(asked.predict(self.native), self.classes)

    def answers_at(self, asked: Any, across: Floats, up: Floats) -> Codes:
        """Return the classes said of other points of the plane."""
        columns = [across, up] if self.features[0] < self.features[1] else [up, across]
        return codes_of(asked.predict(_table_like(self.native, columns)), self.classes)


def _read_rows(model: AdaBoostClassifier, X: Any, y: Any, features: Any) -> _Rows:
    opened = model._open(X)  # refuses other columns than those of fit
    native = opened.native if isinstance(opened, AnyTable) else _in_order(model, X)
    source = open_source(native)
    chosen = _check_features(features, source, _numeric_features(model, source))
    codes = read_known_classes(y, model.classes_)[:, 0].astype(np.intp)
    check_same_length(source.n_rows, len(codes))
    places = np.column_stack([_reals(source.column(place)) for place in chosen])
    rows = _Rows(
        native,
        model.classes_,
        codes,
        chosen,
        places,
        (_name(source, chosen[0]), _name(source, chosen[1])),
        source.n_features == 2,
    )
    if not rows.has_place.any():
        raise ValueError(f"features {rows.names} must have values in some row of X")
    return rows


def _in_order(model: AdaBoostClassifier, X: Any) -> Any:
    """Return a table with its columns in the order of `fit`."""
    names = getattr(model, "feature_names_in_", None)
    table = AnyTable(X)
    if names is None or table.names is None or table.names == tuple(names):
        return table.native
    return table.take(None, np.array([table.names.index(name) for name in names]))


def _check_features(features: Any, source: Any, numeric: list[int]) -> tuple[int, int]:
    """Return the positions of the two features to draw by."""
    if features is None:
        if len(numeric) < 2:
            raise ValueError(f"X must have two numeric features to be drawn; it has {len(numeric)}")
        return numeric[0], numeric[1]
    if isinstance(features, str) or len(features) != 2:
        raise ValueError(f"features must be two names or positions; got {features!r}")
    first, second = (_position(entry, source) for entry in features)
    if first == second:
        raise ValueError(f"features must be two different features; got {features!r}")
    for place in (first, second):
        if place not in numeric:
            raise ValueError(
                f"features must be numeric to be drawn; {_name(source, place)!r} is not"
            )
    return first, second


def _position(entry: Any, source: Any) -> int:
    if isinstance(entry, str):
        if source.names is None or entry not in source.names:
            raise ValueError(f"features must be columns of X; there is no {entry!r}")
        return int(source.names.index(entry))
    return check_int("features", entry, 0, source.n_features - 1)


def _numeric_features(model: AdaBoostClassifier, source: Any) -> list[int]:
    """Return the positions of numbers that members take as numbers."""
    schema = getattr(model, "schema_", None)
    columns = (source.column(k) for k in range(source.n_features))
    seen = columns if schema is None else schema.features
    return [k for k, each in enumerate(seen) if each.label in ("number", "integer")]


def _name(source: Any, place: int) -> str:
    return f"feature_{place}" if source.names is None else str(source.names[place])


def _reals(column: Any) -> Floats:
    values = np.array(column.values, np.float64)
    if column.mask is not None:
        values[np.asarray(column.mask, bool)] = np.nan
    return values


def _table_like(native: Any, columns: list[Floats]) -> Any:
    """Return a table of new numbers that members read as they read the old one."""
    if isinstance(native, np.ndarray) or not hasattr(native, "columns"):
        return np.column_stack(columns)
    if hasattr(native, "column_names"):  # pyarrow
        return type(native).from_pydict(dict(zip(native.column_names, columns, strict=True)))
    return type(native)(dict(zip(native.columns, columns, strict=True)))


def _kept_distributions(model: AdaBoostClassifier) -> Floats:
    model._check_fitted()
    found = model.trace_.distributions
    if found is None:
        raise ValueError(
            "keep_weights must be True in the model, or the weights of the rounds are not known; "
            "it was fitted with keep_weights=False"
        )
    return found


def _check_error(
    model: AdaBoostClassifier, number: int, weights: Floats, is_wrong: NDArray[np.bool_]
) -> None:
    """Refuse rows that a round has not seen: its error would be another."""
    if abs(float(weights[is_wrong].sum()) - model.estimator_errors_[number - 1]) > 1e-6:
        raise ValueError(
            "X and y must be the training rows in the order of fit; the error of round "
            f"{number} on them differs from that of the fit"
        )


def _check_rounds(rounds: Any, n_rounds: int, default: Any) -> list[int]:
    if rounds is None:
        numbers: list[int] = default(n_rounds)
        return numbers
    listed = [rounds] if np.ndim(rounds) == 0 else list(rounds)
    if not listed:
        raise ValueError("rounds must name a round or more; got none")
    return [check_int("rounds", number, 1, n_rounds) for number in listed]


def _first_and_last(n_rounds: int) -> list[int]:
    return sorted({*range(1, min(n_rounds, _FIRST_ROUNDS) + 1), n_rounds})


def _fifth_and_last(n_rounds: int) -> list[int]:
    first = min(5, n_rounds)
    return sorted({first, round((first * n_rounds) ** 0.5), n_rounds})


def _area_of_weight(distributions: Floats) -> float:
    """Return the area of a marker for a weight of one."""
    n_rows = max(int((distributions[0] > 0).sum()), 1)
    mean = float(np.clip(max(2400 / n_rows, 400 / n_rows**0.5), _SMALLEST_MEAN, _LARGEST_MEAN))
    return min(mean * n_rows, _LARGEST / float(distributions.max()))


def _panels(n_panels: int, n_columns: int | None) -> list[Any]:
    if n_columns is None:
        n_columns = n_panels if n_panels <= 4 else 3 if n_panels in (5, 6, 9) else 4
    n_columns = min(check_int("n_columns", n_columns, 1), n_panels)
    n_lines = -(-n_panels // n_columns)
    plt = _pyplot("plot_rounds")
    size = (2.75 * n_columns + 0.3, 2.95 * n_lines + 0.5)
    _, grid = plt.subplots(n_lines, n_columns, figsize=size, layout="constrained", squeeze=False)
    axes = list(grid.ravel())
    for idle in axes[n_panels:]:
        idle.remove()
    return axes[:n_panels]


def _draw_answers(ax: Any, member: Any, rows: _Rows) -> None:
    """Shade what a member says: sides of a stump, or a map where the picture is all it sees."""
    tree: Any = getattr(member, "tree_", None)
    n_nodes = 0 if tree is None else tree.node_count
    if n_nodes == 3 and int(tree.feature[0]) in rows.features:
        _draw_stump(ax, member, rows)
    elif rows.is_plane:
        _draw_map(ax, member, rows, [member])
    elif n_nodes == 3:
        _note(ax, f"asks {_name(open_source(rows.native), int(tree.feature[0]))}")
    elif n_nodes != 1:
        _note(ax, "asks more than is seen")


def _draw_stump(ax: Any, stump: Any, rows: _Rows) -> None:
    tree = stump.tree_
    threshold = float(tree.threshold[0])
    is_across = int(tree.feature[0]) == rows.features[0]
    low, high = rows.limits(0 if is_across else 1)
    edge = min(max(threshold, low), high)
    span, line = (ax.axvspan, ax.axvline) if is_across else (ax.axhspan, ax.axhline)
    for side, (begin, end) in enumerate(((low, edge), (edge, high))):
        child = (tree.children_left, tree.children_right)[side][0]
        answer = stump.classes_[int(np.argmax(tree.value[child, 0]))]
        code = int(codes_of([answer], rows.classes)[0])
        span(begin, end, color=_paper(code), linewidth=0, zorder=0)
    if np.isfinite(threshold):
        line(threshold, color=INK, linewidth=2, zorder=1)


def _draw_map(ax: Any, asked: Any, rows: _Rows, members: Sequence[Any]) -> None:
    """Shade the plane by what a member or the committee says."""
    edges = [_edges(members, rows.features[axis], rows.limits(axis)) for axis in (0, 1)]
    across, up = ((each[1:] + each[:-1]) / 2 for each in edges)
    grid = np.meshgrid(across, up)
    codes = rows.answers_at(asked, grid[0].ravel(), grid[1].ravel()).reshape(grid[0].shape)
    colors = np.array([_rgb(_paper(code)) for code in range(len(rows.classes))])
    ax.pcolormesh(*edges, colors[codes], zorder=0, rasterized=True)
    _draw_borders(ax, edges, codes)


def _draw_borders(ax: Any, edges: list[Floats], codes: Codes) -> None:
    """Draw a line where the answer changes from one cell to the next."""
    across, up = edges
    style = {"color": INK, "linewidth": 1.6, "zorder": 1, "capstyle": "projecting"}
    lines, columns = np.nonzero(codes[:, 1:] != codes[:, :-1])
    ax.vlines(across[columns + 1], up[lines], up[lines + 1], **style)
    lines, columns = np.nonzero(codes[1:] != codes[:-1])
    ax.hlines(up[lines + 1], across[columns], across[columns + 1], **style)


def _edges(members: Sequence[Any], feature: int, limits: tuple[float, float]) -> Floats:
    """Return where cells of a map end: at the thresholds of trees, else evenly."""
    low, high = limits
    even = np.linspace(low, high, _MOST_CELLS + 1)
    trees = [getattr(member, "tree_", None) for member in members]
    if any(tree is None for tree in trees):
        return even
    thresholds = [tree.threshold[tree.feature == feature] for tree in trees if tree is not None]
    inside = np.unique(np.concatenate(thresholds))
    inside = inside[(inside > low) & (inside < high)]
    return even if len(inside) > _MOST_CELLS else np.concatenate([[low], inside, [high]])


def _draw_points(ax: Any, rows: _Rows, areas: Floats, is_wrong: NDArray[np.bool_]) -> None:
    is_drawn = rows.has_place & (areas > 0)
    heavy_first = np.argsort(-areas, kind="stable")
    for code, label in enumerate(rows.classes):
        mine = heavy_first[(is_drawn & (rows.codes == code))[heavy_first]]
        color = class_color(code)
        spots = rows.places[mine]
        # A dot stays where a weight has become too small to be seen.
        ax.scatter(spots[:, 0], spots[:, 1], s=_DOT, color=color, linewidths=0, zorder=2)
        ax.scatter(
            spots[:, 0],
            spots[:, 1],
            s=areas[mine],
            marker=rows.marker(code),
            color=color,
            edgecolors="white",
            linewidths=0.6 if rows.are_few else 0.3,
            zorder=3,
            label=str(label),
        )
    wrong = np.flatnonzero(is_drawn & is_wrong)
    ax.scatter(
        rows.places[wrong, 0],
        rows.places[wrong, 1],
        s=(1.2 * np.sqrt(areas[wrong]) + (4 if rows.are_few else 2)) ** 2,
        facecolors="none",
        edgecolors=INK,
        linewidths=1.3 if rows.are_few else 0.8,
        zorder=4,
        label="wrong",
    )


def _draw_committee(ax: Any, model: AdaBoostClassifier, rows: _Rows, areas: Floats) -> None:
    if rows.is_plane:
        _draw_map(ax, model, rows, list(model))
    is_wrong = rows.answers(model) != rows.codes
    _draw_points(ax, rows, areas, is_wrong)
    error = model.trace_.train_error[-1]
    n_members = len(model)
    name = "the only learner" if n_members == 1 else f"committee of {n_members}"
    _set_title(ax, name, f"training error {error:.3f}")


def _numbers_of_round(model: AdaBoostClassifier, number: int) -> str:
    text = f"error {model.estimator_errors_[number - 1]:.3f}"
    if model._rule.variant != "discrete":  # all learners have the same weight
        return text
    weight = model.estimator_weights_[number - 1]
    return f"{text}, weight {weight:.2f}, beta {weight / 2:.2f}"


def _set_title(ax: Any, name: str, numbers: str) -> None:
    ax.set_title(f"{name}\n{numbers}", color=INK, fontsize="medium")


def _label_panels(axes: list[Any], rows: _Rows) -> None:
    """Name the axes at the rim, and the classes below all panels."""
    figure = axes[0].figure
    n_columns = axes[0].get_subplotspec().get_gridspec().ncols
    for number, ax in enumerate(axes):
        ax.set_xlim(*rows.limits(0))
        ax.set_ylim(*rows.limits(1))
        ax.tick_params(labelsize="small", color=_GREY, labelcolor=INK)
        ax.spines[:].set_color(_GREY)
        if number % n_columns == 0:
            ax.set_ylabel(rows.names[1], color=INK)
        else:
            ax.tick_params(labelleft=False)
        if number + n_columns >= len(axes):
            ax.set_xlabel(rows.names[0], color=INK)
        else:
            ax.tick_params(labelbottom=False)
    figure.legend(
        handles=_legend_handles(rows),
        loc="outside lower center",
        ncols=min(len(rows.classes) + 1, 8),
        frameon=False,
        labelcolor=INK,
    )


def _legend_handles(rows: _Rows) -> list[Any]:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=rows.marker(code),
            markersize=9,
            color=class_color(code),
            markeredgecolor="white",
            label=str(label),
        )
        for code, label in enumerate(rows.classes)
    ]
    ring = Line2D([], [], linestyle="none", marker="o", markersize=11, markerfacecolor="none")
    ring.set(markeredgecolor=INK, markeredgewidth=1.3, label="wrong")
    return [*handles, ring]


def _paper(code: int) -> str:
    return faded(class_color(code), 0.2)


def _rgb(color: str) -> list[float]:
    return [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]


def _note(ax: Any, text: str) -> None:
    ax.annotate(
        text,
        (0.5, 0.03),
        xycoords="axes fraction",
        ha="center",
        va="bottom",
        fontsize="small",
        fontstyle="italic",
        color=INK,
    )


# ---- curves ----


def _line(ax: Any, values: Floats, label: str, **style: Any) -> None:
    if not np.isnan(values).all():
        ax.plot(np.arange(1, len(values) + 1), values, label=label, **style)


def _is_accuracy(model: AdaBoostClassifier | AdaBoostRegressor) -> bool:
    return isinstance(model, AdaBoostClassifier) and model.scoring in (None, "accuracy")


def _draw_scores(ax: Any, scores: Floats, n_kept: int, *, is_accuracy: bool) -> list[Any]:
    """Draw validation scores, as errors where they are shares of right rows."""
    axis, values, label = ax, 1 - scores, "committee, validation rows"
    if not is_accuracy:
        axis, values, label = ax.twinx(), scores, "validation score"
        axis.set_ylabel("validation score", color=INK)
        axis.spines[["top"]].set_visible(False)
    rounds = np.arange(1, len(values) + 1)
    (line,) = axis.plot(rounds, values, color=_GREEN, linewidth=2, label=label)
    axis.plot([n_kept], [values[n_kept - 1]], "o", color=_GREEN, markersize=6, zorder=3)
    share = n_kept / len(values)  # of the width: what is said stays inside the picture
    axis.annotate(
        f"round {n_kept}, {values[n_kept - 1]:.3g}",
        (n_kept, values[n_kept - 1]),
        xytext=(0, 8),
        textcoords="offset points",
        ha="left" if share < 0.25 else "right" if share > 0.75 else "center",
        color=INK,
    )
    return [line]


# ---- margins ----


def _staged_margins(model: AdaBoostClassifier, X: Any, y: Any, numbers: list[int]) -> list[Floats]:
    """Return the margins after each of the numbered rounds."""
    codes = read_known_classes(y, model.classes_)[:, 0]
    sizes = np.cumsum(np.abs(model.estimator_weights_))
    found: dict[int, Floats] = {}
    for number, staged in enumerate(model._staged(X), start=1):
        if number > max(numbers):
            break
        if number not in numbers:
            continue
        check_same_length(len(staged), len(codes))
        votes = staged.copy()
        own = votes[np.arange(len(votes)), codes]
        votes[np.arange(len(votes)), codes] = -np.inf
        found[number] = (own - votes.max(axis=1)) / sizes[number - 1]
    return [found[number] for number in numbers]


def _shade(place: int, n_curves: int) -> str:
    """Colour of a curve: the more rounds, the darker."""
    last = len(_PALE_TO_DARK) - 1
    step = last if n_curves == 1 else round(place * last / (n_curves - 1))
    return _PALE_TO_DARK[max(step, 1) if n_curves < 4 else step]


# ---- axes ----


def _pyplot(name: str) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{name} needs matplotlib: pip install 'committee[plot]'") from error
    return plt


def _axes(ax: Any, name: str, size: tuple[float, float]) -> Any:
    """Return the given axes, or those of a new figure."""
    return ax if ax is not None else _pyplot(name).subplots(figsize=size, layout="constrained")[1]


def _tidy(ax: Any) -> None:
    """Take away what is no data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=_GRID)
    ax.set_axisbelow(True)


def _kind(model: Any) -> str:
    return type(model).__name__
