"""Draws the pictures of the guide to the theory: python -m docs.images.theory, from the root.

What was measured on real tables is read from benchmarks/results.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from benchmarks.studies.bias_variance import GRIDS, RESULTS, ratios
from sklearn.datasets import load_diabetes

from committee import (
    AdaBoostClassifier,
    DecisionTreeRegressor,
    RandomForestRegressor,
    plot_average_variance,
    plot_bias_variance,
    plot_committee_error,
    plot_majority,
    plot_majority_error,
)
from committee.plots.style import BLUE, GREEN, GREY, INK, ORANGE, legend, name_axes, tidy, tidy_bars
from committee.theory import bias_variance_curve, boosting_bound, majority_table, rounds_needed

FOLDER = Path(__file__).parent


def save(name: str, figure: plt.Figure) -> None:
    """Write a figure as a PNG without metadata, so that equal pictures are equal files."""
    figure.savefig(FOLDER / name, dpi=90, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)


def majorities() -> None:
    """Draw the bars of 21 members, with and without correlation, and errors against errors."""
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
    plot_majority(21, 0.3, ax=axes[0])
    plot_majority(21, 0.3, correlation=0.2, ax=axes[1])
    axes[1].set_ylim(axes[0].get_ylim())
    plot_majority_error([1, 5, 11, 21, 101], ax=axes[2])
    save("theory-majority.png", figure)


def means() -> None:
    """Draw the error of the mean of trees, and the variance of means."""
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(100, random_state=0).fit(X[::2], y[::2])
    trees = np.array([tree.predict(X[1::2]) for tree in forest.estimators_])
    figure, axes = plt.subplots(1, 2, figsize=(12, 3.9), layout="constrained")
    plot_committee_error(trees, y[1::2], ax=axes[0])
    plot_average_variance([0.0, 0.1, 0.3, 0.6], ax=axes[1])
    save("theory-mean.png", figure)


def weak_to_strong() -> None:
    """Draw what boosting does with stumps whose edge is known, and what is guaranteed."""
    k, n_rows = 9, 500
    edge, n_rounds = 1 / (2 * k), rounds_needed(1 / (2 * k), n_rows)
    X, y = majority_table(n_rows, k, n_others=10, random_state=0)
    new = majority_table(5000, k, n_others=10, random_state=1)
    model = AdaBoostClassifier(n_estimators=n_rounds, criterion="error").fit(X, y)
    trace, rounds = model.trace_, np.arange(1, n_rounds + 1)
    on_new = 1 - np.array(list(model.staged_score(*new)))
    bound = boosting_bound(trace.error)
    guaranteed = boosting_bound(np.full(n_rounds, 0.5 - edge))
    figure, ax = plt.subplots(figsize=(9.6, 3.8), layout="constrained")
    for values, name, color, style in (
        (guaranteed.product, "guaranteed by an edge of 1/18", GREY, "-"),
        (bound.exponential, "bound by the edges that were found", ORANGE, ":"),
        (bound.product, "bound by the errors that were found", ORANGE, "--"),
        (on_new, "error on new rows", GREEN, "-"),
        (trace.train_error, "training error", BLUE, "-"),
    ):
        shown = np.maximum(values, 0.3 / n_rows)  # zero has no place on a logarithmic axis
        ax.plot(rounds, shown, style, color=color, linewidth=2, label=name)
    ax.axhline(1 / n_rows, color=INK, linewidth=1, linestyle=":")
    ax.annotate("one row", (1, 1 / n_rows), xytext=(0, 4), textcoords="offset points", color=INK)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(0.5 / n_rows, 1.4)
    name_axes(ax, x="rounds", y="error")
    tidy(ax)
    legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save("theory-weak.png", figure)


def depth() -> None:
    """Draw noise, bias and variance of trees against their depth."""

    def draw(rng: np.random.Generator, n_rows: int = 100) -> tuple[np.ndarray, np.ndarray]:
        X = rng.uniform(-2, 2, (n_rows, 1))
        return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n_rows)

    X, y = draw(np.random.default_rng(0), 2000)
    trees = {depth: DecisionTreeRegressor(max_depth=depth) for depth in (1, 2, 3, 4, 6, 10)}
    curve = bias_variance_curve(
        trees, draw, test=(X, y), truth=np.sin(2 * X[:, 0]), n_rounds=100, ddof=1, random_state=0
    )
    save("theory-depth.png", plot_bias_variance(curve, name="max_depth").figure)


def claims() -> None:
    """Draw what was measured on real tables."""
    entries = json.loads(RESULTS.read_text())
    places_of = [["ways", "ways", "size"], ["depth", "rounds", "rate"]]
    figure, axes = plt.subplot_mosaic(places_of, figsize=(12, 7), layout="constrained")
    for grid, title in GRIDS.items():
        ax = axes[grid]
        found = ratios(entries, grid)
        names, bias = list(found), np.array([each["bias"] for each in found.values()])
        variance = np.array([each["variance"] for each in found.values()])
        if grid == "ways":
            places = np.arange(len(names))[::-1]
            ax.barh(places, bias, height=0.6, color=BLUE, label="bias")
            ax.barh(places, variance, left=bias, height=0.6, color=ORANGE, label="variance")
            tidy_bars(ax, places, names)
            name_axes(ax, x="share of the error of a tree", title=title)
            legend(ax, loc="lower right", bbox_to_anchor=(1.0, 1.05), ncols=2)
            continue
        places = np.array([float(name) for name in names])
        ax.plot(places, bias + variance, "o-", color=INK, linewidth=2, markersize=4, label="error")
        ax.plot(places, bias, "s--", color=BLUE, linewidth=2, markersize=4, label="bias")
        ax.plot(places, variance, "^-.", color=ORANGE, linewidth=2, markersize=4, label="variance")
        ax.set_xscale("log")
        ax.set_xticks(places, names)
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
        name_axes(ax, x=title, y="share of the first error")
        tidy(ax)
    legend(axes["size"])
    save("theory-claims.png", figure)


if __name__ == "__main__":
    majorities()
    means()
    weak_to_strong()
    depth()
    if RESULTS.exists():
        claims()
