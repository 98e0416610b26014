"""The formulas of `committee.theory` drawn with matplotlib: majorities, and means of members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.params import check_int
from committee.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    axes_or_new,
    legend,
    log_members,
    name_axes,
    shades,
    tidy,
)
from committee.theory.averaging import average_variance, committee_error
from committee.theory.majority import majority_error, wrong_members

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_average_variance",
    "plot_committee_error",
    "plot_majority",
    "plot_majority_error",
]

_MOST_BARS = 60  # more are drawn where they are not nearly zero
_LEAST_BAR = 1e-4
_N_POINTS = 201


def plot_majority(
    n: int,
    p: float | Sequence[float] | Floats,
    *,
    tie: str = "half",
    correlation: float = 0.0,
    dependence: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how many members of a committee are wrong on a row, as bars, and when the majority is.

    Parameters
    ----------
    n : int
        Number of members.
    p : float, or sequence of float of length n
        Probability that a member is wrong, one for all or one each.
    tie : {"half", "wrong", "right"}, default="half"
        What a tie is, see `committee.theory.majority_error`.
    correlation : float, default=0.0
        Correlation of the errors of two members.
    dependence : {"beta_binomial", "gaussian_copula"} or None, default=None
        How members are correlated, see `committee.theory.majority_error`.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A bar for each number of wrong members: blue where the majority is right, orange where it
        is wrong, grey for a tie. The title has the error of the majority.

    Examples
    --------
    >>> from committee import plot_majority
    >>> ax = plot_majority(21, 0.3)
    >>> ax.get_title()
    '21 members of error 0.3: majority 0.0264'
    """
    error = majority_error(n, p, tie=tie, correlation=correlation, dependence=dependence)
    counts = wrong_members(n, p, correlation=correlation, dependence=dependence)
    ax = axes_or_new(ax, "plot_majority", (6.4, 3.6))
    numbers = np.arange(n + 1)
    shown = numbers if n <= _MOST_BARS else np.flatnonzero(counts > _LEAST_BAR * counts.max())
    kinds = (
        (shown[2 * shown < n], BLUE, "majority right"),
        (shown[2 * shown == n], GREY, "tie"),
        (shown[2 * shown > n], ORANGE, "majority wrong"),
    )
    for some, color, label in kinds:
        if len(some):
            ax.bar(some, counts[some], width=0.8, color=color, label=label)
    each = f"{p:g}" if np.ndim(p) == 0 else f"{np.mean(np.asarray(p)):.3g} on average"
    together = f", correlated by {correlation:g}" if correlation else ""
    title = f"{n} members of error {each}{together}: majority {error:.3g}"
    name_axes(ax, x="wrong members", y="probability", title=title)
    tidy(ax)
    legend(ax)
    return ax


def plot_majority_error(
    n_members: Sequence[int] = (1, 5, 11, 21, 101),
    *,
    tie: str = "half",
    correlation: float = 0.0,
    dependence: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error of a majority against the error of its members, a curve a size.

    Parameters
    ----------
    n_members : sequence of int, default=(1, 5, 11, 21, 101)
        Numbers of members.
    tie : {"half", "wrong", "right"}, default="half"
        What a tie is, see `committee.theory.majority_error`.
    correlation : float, default=0.0
        Correlation of the errors of two members.
    dependence : {"beta_binomial", "gaussian_copula"} or None, default=None
        How members are correlated, see `committee.theory.majority_error`.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A curve for each number, the darker the more members. One member is the diagonal; below one
        half committees help, above it they harm.

    Examples
    --------
    >>> from committee import plot_majority_error
    >>> ax = plot_majority_error([1, 11, 101])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1 member', '11 members', '101 members']
    """
    sizes = [check_int("n_members", n, 1) for n in n_members]
    if not sizes:
        raise ValueError("n_members must hold a number or more; got none")
    rates = np.linspace(0, 1, _N_POINTS)
    curves = [
        [
            majority_error(n, p, tie=tie, correlation=correlation, dependence=dependence)
            for p in rates
        ]
        for n in sizes
    ]
    ax = axes_or_new(ax, "plot_majority_error", (5.4, 4.6))
    for n, curve, color in zip(sizes, curves, shades(len(sizes)), strict=True):
        label = "1 member" if n == 1 else f"{n} members"
        color, dashes = (GREY, "--") if n == 1 else (color, "-")
        ax.plot(rates, curve, color=color, linestyle=dashes, linewidth=2, label=label)
    ax.axvline(0.5, color=INK, linewidth=1, linestyle=":")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    together = f"errors correlated by {correlation:g}" if correlation else "independent members"
    name_axes(ax, x="error of a member", y="error of the majority", title=together)
    tidy(ax, "both")
    legend(ax, loc="upper left")
    return ax


def plot_average_variance(
    rho: float | Sequence[float] = (0.0, 0.1, 0.3, 0.6),
    *,
    sigma2: float = 1.0,
    n_members: int = 100,
    ax: Axes | None = None,
) -> Axes:
    """Draw the variance of a mean of members against their number.

    Parameters
    ----------
    rho : float or sequence of float, default=(0.0, 0.1, 0.3, 0.6)
        Correlations of two members, a curve for each.
    sigma2 : float, default=1.0
        Variance of a member.
    n_members : int, default=100
        Up to how many members.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A curve for each correlation, and a dotted line where it leads: rho sigma2.

    Examples
    --------
    >>> from committee import plot_average_variance
    >>> ax = plot_average_variance(0.3)
    >>> ax.lines[0].get_label(), round(float(ax.lines[0].get_ydata()[9]), 3)
    ('correlation 0.3', 0.37)
    """
    correlations: list[float] = np.atleast_1d(np.asarray(rho, np.float64)).tolist()
    most = check_int("n_members", n_members, 2)
    numbers = np.arange(1, most + 1)
    curves = [[average_variance(each, sigma2, int(n)) for n in numbers] for each in correlations]
    ax = axes_or_new(ax, "plot_average_variance", (6.4, 3.6))
    for each, curve, color in zip(correlations, curves, shades(len(curves)), strict=True):
        ax.plot(numbers, curve, color=color, linewidth=2, label=f"correlation {each:g}")
        if each > 0:
            ax.axhline(each * sigma2, color=color, linewidth=1, linestyle=":")
    log_members(ax)
    ax.set_ylim(bottom=0)
    name_axes(ax, x="members", y="variance of their mean")
    tidy(ax)
    legend(ax)
    return ax


def plot_committee_error(predictions: Any, y: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the squared error of a mean of members against their number: E_c against m.

    Parameters
    ----------
    predictions : array-like of shape (n_members, n_rows) or (n_members, n_rows, n_values)
        What each member predicts, see `committee.theory.committee_error`.
    y : array-like of shape (n_rows,) or (n_rows, n_values)
        The truth.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        The error of the first m members as it was measured, the forecast by their correlation (it
        is the mean over all choices of m members), E_av / m as if errors were uncorrelated, and a
        dotted line for the error that more members lead to.

    Examples
    --------
    >>> import numpy as np
    >>> from committee import plot_committee_error
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=500)
    >>> ax = plot_committee_error(y + rng.normal(size=500) / 2 + rng.normal(size=(20, 500)), y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['first m members', 'by their correlation', 'if uncorrelated, E_av / m']
    """
    found = committee_error(predictions, y)
    values, truth = np.asarray(predictions, np.float64), np.asarray(y, np.float64)
    if len(values) < 2:
        raise ValueError("predictions must be those of two members or more; got one")
    numbers = np.arange(1, len(values) + 1)
    sums = np.zeros(truth.shape)
    measured = []
    for number, error in zip(numbers, values - truth, strict=True):
        sums = sums + error
        squares = ((sums / number) ** 2).reshape(len(truth), -1)
        measured.append(float(squares.sum(axis=1).mean()))
    ax = axes_or_new(ax, "plot_committee_error", (6.4, 3.8))
    ax.plot(numbers, measured, color=BLUE, linewidth=2, label="first m members")
    forecast = [found.at(int(n)) for n in numbers]
    ax.plot(
        numbers, forecast, color=ORANGE, linewidth=1.6, linestyle="--", label="by their correlation"
    )
    ax.plot(
        numbers,
        found.average / numbers,
        color=GREEN,
        linewidth=1.6,
        linestyle="-.",
        label="if uncorrelated, E_av / m",
    )
    ax.axhline(found.limit, color=INK, linewidth=1, linestyle=":")
    log_members(ax)
    ax.set_ylim(bottom=0)
    title = f"correlation of errors {found.correlation:.2g}"
    name_axes(ax, x="members, m", y="squared error of their mean, E_c", title=title)
    tidy(ax)
    legend(ax)
    return ax
