"""How often probabilities come true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.arrays import Floats
from committee.evaluation.calibration import Calibration
from committee.inspection.ensemble_members import class_labels
from committee.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    axes_or_new,
    legend,
    name_axes,
    tidy,
)
from committee.tables.target import check_same_length, read_known_classes, read_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_calibration"]

_LINES = (BLUE, ORANGE, GREEN, PURPLE, GREY)
_MARKERS = ("o", "s", "^", "D", "v")


def plot_calibration(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how often what has a probability comes true.

    Parameters
    ----------
    model : fitted classifier, or dict of up to five
        With `predict_proba`; a dict has names for a legend.
    X : table of shape (n_rows, n_features)
        Rows that it was not fitted to.
    y : array-like of shape (n_rows,)
        Their classes.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows; a row of weight zero is absent.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A line for each model, through up to ten bins of about equal weight: the mean probability
        across, and up the share of rows for which it came true, with a standard error. With two
        classes it is the probability of the second, with more that of the class that is predicted.
        On the dotted line probabilities hold; where a line is flatter, they are too bold.

    Examples
    --------
    >>> from committee import RandomForestClassifier, plot_calibration
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(random_state=0).fit(X[::2], y[::2])
    >>> plot_calibration(model, X[1::2], y[1::2]).get_xlabel()
    'probability of 1'
    """
    models: Mapping[str | None, Any] = model if isinstance(model, Mapping) else {None: model}
    if not 1 <= len(models) <= len(_LINES):
        raise ValueError(f"model must be one to {len(_LINES)} classifiers; got {len(models)}")
    found = {name: _measured(each, X, y, sample_weight) for name, each in models.items()}
    ax = axes_or_new(ax, "plot_calibration", (4.6, 4.2))
    pairs = zip(found.items(), _LINES, _MARKERS, strict=False)
    for (name, each), color, marker in pairs:
        draw_calibration(ax, each.bins, name, color, marker)
    frame_calibration(ax, next(iter(found.values())).of)
    if None not in found:
        legend(ax)
    return ax


def draw_calibration(
    ax: Any, bins: Floats, name: str | None, color: str = BLUE, marker: str = "o"
) -> None:
    """Draw bins of `Calibration`: a line with standard errors."""
    probability, share, low, high, _ = bins.T
    errors = np.array([share - low, high - share])
    ax.errorbar(
        probability,
        share,
        errors,
        color=color,
        marker=marker,
        markersize=5,
        linewidth=2,
        elinewidth=1,
        label=name,
    )


def frame_calibration(ax: Any, of: str) -> None:
    """Name the axes of probabilities, and draw the line on which they hold."""
    ax.plot([0, 1], [0, 1], color=INK, linewidth=1, linestyle=":", zorder=0)
    name_axes(ax, x=f"probability of {of}", y="share of rows for which it came true")
    tidy(ax)


def _measured(model: Any, X: Any, y: Any, sample_weight: Any) -> Calibration:
    labels = class_labels(model) if hasattr(model, "predict_proba") else []
    if len(labels) != 1 or len(labels[0]) < 2:
        raise TypeError(
            "model must be a fitted classifier of two classes or more with predict_proba, and one "
            f"output; got {type(model).__name__}"
        )
    codes = read_known_classes(y, labels[0])[:, 0]
    shares = np.asarray(model.predict_proba(X), np.float64)
    check_same_length(len(shares), len(codes))
    weights = read_weights(sample_weight, len(codes))
    weights = np.ones(len(codes)) if weights is None else weights
    known = weights > 0
    return Calibration.measure(shares[known], codes[known], weights[known], str(labels[0][1]))
