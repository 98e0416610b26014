"""Draws the pictures of the documentation; run it from anywhere: python docs/images/make.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from committee import DecisionTreeClassifier, DecisionTreeRegressor, plot_tree
from committee.datasets import load_penguins

FOLDER = Path(__file__).parent
INK, BLUE, ORANGE = "#26303d", "#3b7dd8", "#d9822b"


def save(name: str, figure: plt.Figure) -> None:
    """Write a figure as a PNG without metadata, so that equal pictures are equal files."""
    figure.savefig(FOLDER / name, dpi=90, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)


def penguin_tree() -> None:
    """Draw the pruned tree of the first page."""
    X, y = load_penguins()
    model = DecisionTreeClassifier(ccp_alpha=0.015).fit(X, y)
    plot_tree(model, impurity=False)
    save("penguins-tree.png", plt.gcf())


def pruning_path() -> None:
    """Draw leaves and cross-validated accuracy along the pruning path."""
    X, y = load_penguins()
    path = DecisionTreeClassifier().cost_complexity_pruning_path(X, y)
    alphas = path.ccp_alphas[:-1]
    models = [DecisionTreeClassifier(ccp_alpha=alpha) for alpha in alphas]
    scores = [cross_val_score(model, X, y, cv=10).mean() for model in models]
    leaves = [model.fit(X, y).get_n_leaves() for model in models]
    shown = np.maximum(alphas, alphas[1] / 2)  # zero has no place on a logarithmic axis
    figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(6.4, 4.2))
    for axes, values, colour, label in (
        (top, scores, BLUE, "accuracy, 10 folds"),
        (bottom, leaves, ORANGE, "leaves"),
    ):
        axes.step(shown, values, where="post", color=colour, linewidth=2)
        axes.plot(shown, values, "o", color=colour, markersize=4)
        axes.set_ylabel(label, color=INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e6eaf0")
    bottom.set_xscale("log")
    bottom.set_xlabel("ccp_alpha", color=INK)
    top.set_title("Pruning the penguins: half the leaves, same accuracy", color=INK)
    save("pruning-path.png", figure)


def regression_criteria() -> None:
    """Draw what mean and median leaves do with outliers."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 10, 120))
    y = np.sin(x) + 0.15 * rng.normal(size=120)
    y[::15] += 5
    grid = np.linspace(0, 10, 500).reshape(-1, 1)
    figure, axes = plt.subplots(figsize=(6.4, 3.0))
    axes.plot(x, y, ".", color="#9aa5b4", markersize=5)
    for criterion, colour in (("squared_error", ORANGE), ("absolute_error", BLUE)):
        model = DecisionTreeRegressor(criterion=criterion, max_depth=4, min_samples_leaf=8)
        axes.plot(
            grid,
            model.fit(x.reshape(-1, 1), y).predict(grid),
            color=colour,
            linewidth=2,
            label=criterion,
        )
    axes.legend(frameon=False, labelcolor=INK)
    axes.spines[["top", "right"]].set_visible(False)
    save("mean-and-median.png", figure)


if __name__ == "__main__":
    penguin_tree()
    pruning_path()
    regression_criteria()
