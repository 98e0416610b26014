"""How margins of rows are distributed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.adaboost.classifier import AdaBoostClassifier
from committee.base.arrays import Floats
from committee.inspection.ensemble_members import (
    EnsembleMembers,
    class_labels,
    is_sum_of_steps,
    members_of,
    n_rounds_of,
)
from committee.plots.rounds import check_rounds
from committee.plots.style import INK, axes_or_new, legend, name_axes, shades, tidy
from committee.tables.native_table import AnyTable
from committee.tables.target import check_same_length, read_known_classes
from committee.theory.margins import margins_of_codes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_margins"]


def plot_margins(
    model: Any,
    X: Any,
    y: Any,
    *,
    rounds: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how margins are distributed, after some rounds or of some members.

    The margin of a row is the share of the votes for its class minus the largest share of another:
    negative where the ensemble is wrong, one where all are right. A curve is the share of rows
    with at most each margin, so curves further right are better.

    Parameters
    ----------
    model : fitted ensemble of classes
        Any of this library or of scikit-learn. Shares are of votes in AdaBoost and where votes are
        counted, else probabilities.
    X : table of shape (n_rows, n_features)
        Rows with the columns of `fit`.
    y : array-like of shape (n_rows,)
        Their classes.
    rounds : sequence of int or None, default=None
        After which rounds of boosting, or with how many members of forests and bagging, from one.
        None is the fifth, the last, and one between. Other ensembles have one curve.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when None.

    Returns
    -------
    ax : matplotlib Axes
        A curve for each number of rounds or members.

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
    labels = class_labels(model) if hasattr(model, "predict") else []
    if len(labels) != 1:
        raise TypeError(
            "model must be a fitted ensemble of classes with one output; got "
            f"{type(model).__name__}"
        )
    if len(labels[0]) < 2:
        raise ValueError("model must know two classes or more: one alone has no margin")
    codes = read_known_classes(y, labels[0])[:, 0].astype(np.intp)
    check_same_length(AnyTable(X).n_rows, len(codes))
    curves = _curves(model, X, codes, rounds)
    ax = axes_or_new(ax, "plot_margins", (6.4, 3.8))
    ends = np.concatenate([each for _, each in curves])
    for (label, found), color in zip(curves, shades(len(curves)), strict=True):
        draw_margins(ax, found, label, color)
    frame_margins(ax, ends)
    if curves[0][0] is not None:
        legend(ax, loc="upper left")
    return ax


def draw_margins(ax: Any, margins: Floats, label: str | None, color: str) -> None:
    """Draw the share of rows with at most each margin."""
    low, high = min(-1.0, float(margins.min())), max(1.0, float(margins.max()))
    ordered = np.concatenate([[low], np.sort(margins), [high]])
    shares = np.concatenate([[0.0], np.arange(1, len(margins) + 1) / len(margins), [1.0]])
    ax.step(ordered, shares, where="post", color=color, linewidth=2, label=label)


def frame_margins(ax: Any, margins: Floats) -> None:
    """Name the axes of margins, and mark zero, left of which rows are wrong."""
    ax.axvline(0, color=INK, linewidth=1, linestyle=":")
    ax.set_xlim(min(-1.0, float(margins.min())), max(1.0, float(margins.max())))
    ax.set_ylim(0, 1.02)
    name_axes(ax, x="margin", y="share of rows with at most this margin")
    tidy(ax)


def _curves(
    model: Any, X: Any, codes: NDArray[np.intp], rounds: Any
) -> list[tuple[str | None, Floats]]:
    """Return labels and margins of the curves."""
    staged, unit, n_steps = _staged(model, X)
    if staged is None:
        if rounds is not None:
            raise ValueError(
                f"rounds must be None: the members of {type(model).__name__} come in no order"
            )
        return [(None, margins_of_codes(_shares(model, X), codes))]
    numbers = check_rounds(rounds, n_steps, _fifth_and_last)
    found: dict[int, Floats] = {}
    for number, shares in enumerate(staged, start=1):
        if number in numbers:
            found[number] = margins_of_codes(shares, codes)
        if number >= max(numbers):
            break
    return [
        (f"1 {unit}" if number == 1 else f"{number} {unit}s", found[number]) for number in numbers
    ]


def _staged(model: Any, X: Any) -> tuple[Iterator[Floats] | None, str, int]:
    """Return shares of votes or probabilities step by step, what steps are, and their number."""
    if isinstance(model, AdaBoostClassifier):
        sizes = np.cumsum(np.abs(model.estimator_weights_))
        pairs = zip(model._staged(X), sizes, strict=True)
        return (votes / size for votes, size in pairs), "round", len(sizes)
    if is_sum_of_steps(model):
        return model.staged_predict_proba(X), "round", n_rounds_of(model)
    if not hasattr(model, "estimators_") or "n_estimators" not in model.get_params(deep=False):
        return None, "", 0
    members = members_of(model)
    unit = "round" if type(model).__name__.startswith("AdaBoost") else "member"
    return _means_of_first(members, AnyTable(X)), unit, len(members)


def _means_of_first(members: EnsembleMembers, table: AnyTable) -> Iterator[Floats]:
    """Yield the weighted mean of the first member, of the first two, and so on."""
    total: Any = 0.0
    for number, weight in enumerate(members.weights):
        total = total + weight * members.predict(number, table)[0]
        yield total / members.weights[: number + 1].sum()


def _shares(model: Any, X: Any) -> Floats:
    """Return probabilities, or shares of votes where there are none."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), np.float64)
    members, table = members_of(model), AnyTable(X)
    *_, last = _means_of_first(members, table)
    return last


def _fifth_and_last(n_rounds: int) -> list[int]:
    first = min(5, n_rounds)
    return sorted({first, round((first * n_rounds) ** 0.5), n_rounds})
