"""Bias and variance with matplotlib: against a parameter, or side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.params import is_real
from committee.plots.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    axes_or_new,
    legend,
    name_axes,
    tidy,
    tidy_bars,
)
from committee.theory.bias_variance import BiasVariance, BiasVarianceCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE = 10.0  # parameters whose values differ by such a factor have a logarithmic axis


def plot_bias_variance(
    result: BiasVarianceCurve | BiasVariance,
    *,
    name: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw bias and variance of several estimators.

    Parameters
    ----------
    result : BiasVarianceCurve or BiasVariance
        What `committee.theory.bias_variance_curve` or `bias_variance` has returned.
    name : str or None, default=None
        Name of the parameter in which the estimators differ, for the axis.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        Lines for the error, the bias and the variance where the estimators are named by numbers;
        else a bar for each, of noise, bias and variance. With the zero-one loss the variance is
        what it adds to the error, and may be negative.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, plot_bias_variance
    >>> from committee.datasets import load_penguins
    >>> from committee.theory import bias_variance_curve
    >>> trees = {depth: DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, 4)}
    >>> found = bias_variance_curve(trees, *load_penguins("sex"), n_rounds=20, random_state=0)
    >>> ax = plot_bias_variance(found, name="max_depth")
    >>> ax.get_xlabel(), [line.get_label() for line in ax.lines]
    ('max_depth', ['error', 'bias', 'variance'])
    """
    if isinstance(result, BiasVariance):
        result = BiasVarianceCurve({"": result})
    if not isinstance(result, BiasVarianceCurve):
        raise TypeError(
            "result must be what bias_variance_curve or bias_variance has returned; got "
            f"{type(result).__name__}"
        )
    if len(result) > 1 and all(is_real(each) for each in result):
        ax = axes_or_new(ax, "plot_bias_variance", (6.4, 3.8))
        return _draw_lines(result, name, ax)
    size = (6.4, 0.9 + 0.45 * len(result))
    return _draw_bars(result, name, axes_or_new(ax, "plot_bias_variance", size))


def _draw_lines(result: BiasVarianceCurve, name: str | None, ax: Any) -> Axes:
    places = np.array(sorted(result), np.float64)
    parts = [result[each] for each in sorted(result)]
    noise = np.array([each.noise for each in parts])
    lines = (
        ("error", [each.error for each in parts], INK, "o-"),
        ("bias", [each.bias for each in parts], BLUE, "s--"),
        ("variance", [each.net_variance for each in parts], ORANGE, "^-."),
    )
    for label, values, color, style in lines:
        ax.plot(places, values, style, color=color, linewidth=2, markersize=4, label=label)
    if noise.any():
        ax.plot(places, noise, ":", color=GREY, linewidth=2, label="noise")
    if places[0] > 0 and places[-1] >= _WIDE * places[0]:
        ax.set_xscale("log")
    ax.set_xticks(places, [f"{place:g}" for place in places])
    ax.minorticks_off()
    lowest = min(min(values) for _, values, _, _ in lines)
    if lowest >= 0:
        ax.set_ylim(bottom=0)
    name_axes(ax, x=name, y=_loss_name(parts[0]))
    tidy(ax)
    legend(ax)
    return ax  # type: ignore[no-any-return]


def _draw_bars(result: BiasVarianceCurve, name: str | None, ax: Any) -> Axes:
    names = list(result)
    places = np.arange(len(names))[::-1]
    parts = [result[each] for each in names]
    left = np.zeros(len(parts))
    for label, color, values in (
        ("noise", GREY, [each.noise for each in parts]),
        ("bias", BLUE, [each.bias for each in parts]),
        ("variance", ORANGE, [each.net_variance for each in parts]),
    ):
        widths = np.array(values)
        if label == "noise" and not widths.any():
            continue
        ax.barh(places, widths, left=left, height=0.6, color=color, label=label)
        left = left + widths
    for place, each in zip(places, parts, strict=True):
        ax.annotate(
            f"{each.error:.3g}",
            (max(each.error, each.noise + each.bias), place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=INK,
            fontsize="small",
        )
    tidy_bars(ax, places, [str(each) for each in names])
    name_axes(ax, x=_loss_name(parts[0]), y=name)
    ax.margins(x=0.1)
    legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return ax  # type: ignore[no-any-return]


def _loss_name(result: BiasVariance) -> str:
    return "zero-one loss" if result.loss == "zero_one" else "squared error"
