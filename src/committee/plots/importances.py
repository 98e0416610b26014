"""Bars of importances with matplotlib, of models and of measured results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.utils.validation import check_is_fitted

from committee.base.arrays import Floats
from committee.base.params import check_choice, check_int
from committee.evaluation.importance import Importances
from committee.inspection.row_explanation import RowExplanation
from committee.plots.style import BLUE, INK, axes_or_new, name_axes, tidy_bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_importances"]

_N_REPEATS = 5  # shuffles of each column
_LOSS = "loss of {} where the column is shuffled"


def plot_importances(
    result: Any,
    X: Any = None,
    y: Any = None,
    *,
    top: int = 20,
    by: str = "mean",
    feature_names: Sequence[str] | None = None,
    color: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw importances of features, the largest on top.

    Parameters
    ----------
    result : fitted model, Importances, RowExplanation or result of scikit-learn
        A model shows the importances that it has: shares of what splits gain in trees and their
        ensembles, the loss of score on unseen rows in committees in one line. With `X` and `y`, and
        for models that have none, such as stacks, it is the loss of its `score` where a column of
        these rows is shuffled. Else what `permutation_importance` or `debiased_importance` of a
        forest, ``sklearn.inspection.permutation_importance``, or `explain_rows` returned:
        of contributions, mean sizes are drawn.
    X : table or None, default=None
        Rows that a model has not seen.
    y : array-like or None, default=None
        Their target.
    top : int, default=20
        Draw so many features.
    by : {"mean", "score"}, default="mean"
        Bars of means with thin lines of one standard deviation to either side, or bars of
        scores, mean over standard deviation. In a committee in one line it is the standard error.
    feature_names : sequence of str or None, default=None
        Names of the features, for results that have none.
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
    >>> plot_importances(model).get_xlabel()
    'share of what splits gain'
    """
    check_choice("by", by, ("mean", "score"))
    top = check_int("top", top, 1)
    bars = _bars_of(result, X, y)
    if by == "score":
        bars = bars.as_scores()
    names = _names_for(bars, feature_names)
    order = np.argsort(-bars.values, kind="stable")[:top][::-1]
    ax = axes_or_new(ax, "plot_importances", (6.4, 0.9 + 0.3 * len(order)))
    places, values = np.arange(len(order)), bars.values[order]
    ax.barh(places, values, height=0.62, color=color or BLUE)
    if bars.spread is not None:
        spread = bars.spread[order]
        ax.hlines(places, values - spread, values + spread, color=INK, linewidth=1)
    ax.axvline(0, color=INK, linewidth=0.8)
    name_axes(ax, x=bars.what)
    ax.set_ylim(-0.6, len(order) - 0.4)
    tidy_bars(ax, places, [names[index] for index in order])
    return ax


@dataclass(frozen=True, eq=False)
class _Bars:
    """Importances, their spread if it is known, names if there are any, and what they are."""

    values: Floats
    spread: Floats | None
    names: Sequence[str] | None
    what: str

    def as_scores(self) -> _Bars:
        if self.spread is None:
            raise ValueError(
                'by="score" divides by a standard deviation, which these importances lack; give '
                "those of a permutation"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            quotients = self.values / self.spread
            one_sided = np.where(self.values == 0, 0.0, np.sign(self.values) * np.inf)
        scores = np.where(self.spread > 0, quotients, one_sided)
        return _Bars(scores, None, self.names, f"{self.what}: mean / standard deviation")


def _bars_of(result: Any, X: Any, y: Any) -> _Bars:
    if X is not None or y is not None:
        return _shuffled(result, X, y)
    if isinstance(result, Importances):
        names = result.feature_names
        return _Bars(result.importances_mean, result.importances_std, names, result.kind)
    if isinstance(result, RowExplanation):
        sizes = np.abs(result.contributions)
        values = sizes.reshape(*sizes.shape[:2], -1).sum(axis=2).mean(axis=0)
        return _Bars(values, None, result.names, f"mean size of contributions to the {_of(result)}")
    if hasattr(result, "importances_mean"):  # of scikit-learn
        return _Bars(result.importances_mean, result.importances_std, None, _LOSS.format("score"))
    if hasattr(result, "fit"):
        return _of_model(result)
    raise TypeError(
        "result must be a fitted model, or what permutation_importance, debiased_importance or "
        f"explain_rows returned; got {type(result).__name__}"
    )


def _of(explained: RowExplanation) -> str:
    return explained.quantity if explained.contributions.ndim == 2 else "probabilities"


def _of_model(model: Any) -> _Bars:
    check_is_fitted(model)
    found = getattr(model, "importances_", None)
    if found is not None:  # a committee in one line
        what = _LOSS.format(model.leaderboard_.metric)
        return _Bars(found.mean, found.standard_error, found.names, what)
    shares = getattr(model, "feature_importances_", None)
    if shares is None:
        raise TypeError(
            f"{type(model).__name__} has no importances of its own; give X and y, rows on which "
            "columns are shuffled"
        )
    return _Bars(np.asarray(shares), None, _names_of(model), "share of what splits gain")


def _names_of(model: Any) -> Sequence[str] | None:
    return getattr(model, "feature_names_in_", None)


def _shuffled(model: Any, X: Any, y: Any) -> _Bars:
    """Measure the loss of score where the columns of rows are shuffled."""
    if X is None or y is None or not hasattr(model, "score"):
        raise TypeError("result must be a fitted model with X and y, both or neither of them")
    check_is_fitted(model)
    if not hasattr(X, "iloc") and hasattr(X, "to_pandas"):  # scikit-learn shuffles pandas frames
        X = X.to_pandas()
    found = permutation_importance(model, X, y, n_repeats=_N_REPEATS, random_state=0)
    names = list(X.columns) if hasattr(X, "columns") else _names_of(model)
    score = "accuracy" if hasattr(model, "classes_") else "R²"
    return _Bars(found.importances_mean, found.importances_std, names, _LOSS.format(score))


def _names_for(bars: _Bars, given: Sequence[str] | None) -> list[str]:
    n_features = len(bars.values)
    if given is not None and len(given) != n_features:
        raise ValueError(
            f"feature_names must have a name for each of {n_features} features; got {len(given)}"
        )
    names = bars.names if given is None else given
    return [f"x{place}" for place in range(n_features)] if names is None else list(map(str, names))
