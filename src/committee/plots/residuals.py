"""Gradient boosting round by round: what is left to explain, and the step that is fitted to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_int
from committee.inspection.ensemble_members import class_labels, is_sum_of_steps, n_rounds_of
from committee.plots.plane import in_order, name_of, numeric_features, reals_of, table_like
from committee.plots.rounds import check_rounds
from committee.plots.style import BLUE, GREY, INK, ORANGE, name_axes, pyplot, tidy
from committee.tables.source import open_source
from committee.tables.target import check_same_length, read_known_classes, read_reals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_residuals"]

_FIRST_ROUNDS = 3
_POINTS = 800  # of a line


def plot_residuals(
    model: Any,
    X: Any,
    y: Any,
    *,
    rounds: Sequence[int] | None = None,
    feature: Any = None,
) -> list[tuple[Axes, Axes]]:
    """Draw gradient boosting round by round: the sum so far, its residuals, and the next step.

    Parameters
    ----------
    model : fitted gradient boosting model
        Of numbers, of this library or of scikit-learn, or a classifier of two classes of this
        library, whose scores are log-odds.
    X : table of shape (n_rows, n_features)
        Rows with the columns of `fit`, best the training rows.
    y : array-like of shape (n_rows,)
        Their numbers or classes.
    rounds : sequence of int or None, default=None
        Which rounds, from one. None is the first three and the last.
    feature : str, int or None, default=None
        The numeric column across; None is the first.

    Returns
    -------
    axes : list of pairs of matplotlib Axes
        For each round, one above the other: the sum after the round with the rows, and what the
        round is fitted to, with the step that it adds. That is the residual, or for other losses
        the negative gradient of the loss. With one column sums and steps are lines, else a dot for
        each row. Steps are shrunk by the learning rate.

    Examples
    --------
    >>> import numpy as np
    >>> from committee import GradientBoostingRegressor, plot_residuals
    >>> X = np.linspace(0, 6, 100).reshape(-1, 1)
    >>> model = GradientBoostingRegressor(n_estimators=10, learning_rate=0.5)
    >>> axes = plot_residuals(model.fit(X, np.sin(X[:, 0])), X, np.sin(X[:, 0]), rounds=[1, 2])
    >>> axes[1][1].get_title()
    'fitted in round 2'
    """
    if not is_sum_of_steps(model):
        raise TypeError(f"model must be fitted gradient boosting; got {type(model).__name__}")
    numbers = check_rounds(rounds, n_rounds_of(model), _first_and_last)
    native = in_order(model, X)
    source = open_source(native)
    place = _position(feature, source, numeric_features(model, source))
    x = reals_of(source.column(place))
    history = _History.of(model, native, _read_target(model, y), numbers)
    check_same_length(len(x), len(history.target))
    lines = None
    if source.n_features == 1:
        known = x[np.isfinite(x)]
        grid = np.linspace(known.min(), known.max(), _POINTS)
        lines = grid, _sums(model, table_like(native, [grid]), numbers)
    axes = pyplot("plot_residuals").subplots(
        2,
        len(numbers),
        figsize=(2.9 * len(numbers) + 0.4, 5.0),
        sharex=True,
        sharey="row",
        layout="constrained",
        squeeze=False,
    )[1]
    for column, number in enumerate(numbers):
        pair = axes[0, column], axes[1, column]
        _draw_round(pair, x, history, number, lines)
        name_axes(pair[1], x=name_of(source, place))
    name_axes(axes[0, 0], y=history.sum_name)
    name_axes(axes[1, 0], y=history.left_name)
    return [(axes[0, column], axes[1, column]) for column in range(len(numbers))]


@dataclass(frozen=True, eq=False)
class _History:
    """The sums of rows before and after rounds.

    Attributes
    ----------
    target : ndarray of float64
        Numbers, or 0 and 1.
    sums : dict of int to ndarray of float64
        Sums after rounds; round 0 is the start.
    left : dict of int to ndarray of float64
        What each drawn round is fitted to.
    sum_name, left_name : str
        What these are.
    """

    target: Floats
    sums: dict[int, Floats]
    left: dict[int, Floats]
    sum_name: str
    left_name: str

    @classmethod
    def of(cls, model: Any, X: Any, target: Floats, numbers: Sequence[int]) -> _History:
        """Go through the rounds."""
        sums = _sums(model, X, numbers)
        is_number = not hasattr(model, "classes_")
        if is_number and getattr(model, "loss", "squared_error") == "squared_error":
            left = {number: target - sums[number - 1] for number in numbers}
            return cls(target, sums, left, "prediction", "residual")
        objective = model._objective.of_rows(
            np.asfortranarray(target[:, np.newaxis].astype(np.float64 if is_number else np.int32)),
            None,
        )
        left = {}
        for number in numbers:
            scores = np.asfortranarray(sums[number - 1][:, np.newaxis])
            left[number] = -np.asarray(objective.prepared(scores).gradients(scores)[0][0])
        names = ("score", "negative gradient") if is_number else ("log-odds", "truth - probability")
        return cls(target, sums, left, *names)


def _read_target(model: Any, y: Any) -> Floats:
    labels = class_labels(model)
    is_own = hasattr(model, "_staged_scores")
    if getattr(model, "n_outputs_", 1) != 1 or (labels and len(labels[0]) != 2):
        raise ValueError("model must have one score for a row: numbers, or two classes")
    if not is_own and (labels or getattr(model, "loss", None) != "squared_error"):
        raise ValueError(
            "model must be of this library, or a regressor with loss='squared_error'; got "
            f"{model!r}"
        )
    if labels:
        return read_known_classes(y, labels[0])[:, 0].astype(np.float64)
    return read_reals(y)[0][:, 0]


def _sums(model: Any, X: Any, numbers: Sequence[int]) -> dict[int, Floats]:
    """Return the sums of steps before and after some rounds."""
    n_rows = np.shape(X)[0]
    wanted = {each for number in numbers for each in (number - 1, number)}
    if hasattr(model, "_staged_scores"):
        start, staged = model._first_scores(X, n_rows), model._staged_scores(X)
    else:
        start, staged = _start_of(model, X), model.staged_predict(X)
    found = {0: np.array(start, np.float64).reshape(n_rows, -1)[:, 0]}
    for number, values in enumerate(staged, start=1):
        if number in wanted:
            found[number] = np.array(values, np.float64).reshape(n_rows, -1)[:, 0]
        if number >= max(wanted):
            break
    return found


def _start_of(model: Any, X: Any) -> Floats:
    """Return the predictions that gradient boosting of scikit-learn starts from."""
    n_rows = np.shape(X)[0]
    if hasattr(model, "_baseline_prediction"):
        return np.full(n_rows, np.asarray(model._baseline_prediction).item())
    return np.asarray(model._raw_predict_init(np.asarray(X, np.float32))).reshape(-1)


def _position(feature: Any, source: Any, numeric: Sequence[int]) -> int:
    if feature is None:
        if not numeric:
            raise ValueError("X must have a numeric column to be drawn")
        return numeric[0]
    if isinstance(feature, str):
        if source.names is None or feature not in source.names:
            raise ValueError(f"feature must be a column of X; there is no {feature!r}")
        place = int(source.names.index(feature))
    else:
        place = check_int("feature", feature, 0, source.n_features - 1)
    if place not in numeric:
        raise ValueError(f"feature must be numeric to be drawn; {name_of(source, place)!r} is not")
    return place


def _first_and_last(n_rounds: int) -> list[int]:
    return sorted({*range(1, min(n_rounds, _FIRST_ROUNDS) + 1), n_rounds})


def _draw_round(
    pair: tuple[Any, Any],
    x: Floats,
    history: _History,
    number: int,
    lines: tuple[Floats, dict[int, Floats]] | None,
) -> None:
    top, bottom = pair
    before, after = history.sums[number - 1], history.sums[number]
    target = history.target
    if history.sum_name == "log-odds":  # rows have no log-odds of their own
        low, high = float(after.min()), float(after.max())
        target = np.where(target > 0.5, high, low)
    top.plot(x, target, ".", color=GREY, markersize=4, zorder=1)
    bottom.plot(x, history.left[number], ".", color=GREY, markersize=4, zorder=1)
    if lines is None:
        top.plot(x, after, ".", color=INK, markersize=3.5)
        bottom.plot(x, after - before, ".", color=BLUE, markersize=3.5)
    else:
        grid, sums = lines
        top.plot(grid, sums[number - 1], color=ORANGE, linewidth=1.2, linestyle="--")
        top.plot(grid, sums[number], color=INK, linewidth=2)
        bottom.plot(grid, sums[number] - sums[number - 1], color=BLUE, linewidth=2)
    bottom.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    name_axes(top, title=f"sum after round {number}")
    name_axes(bottom, title=f"fitted in round {number}")
    tidy(top)
    tidy(bottom)
