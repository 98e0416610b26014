"""Draws the pictures of the documentation; run it from anywhere: python docs/images/make.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1
from sklearn.model_selection import cross_val_score, train_test_split

from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    plot_contributions,
    plot_importances,
    plot_intervals,
    plot_oob_curve,
    plot_proximity,
    plot_training,
    plot_tree,
    plot_tuning,
    plot_votes,
    tune_max_features,
)
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


def curves_of_forests() -> None:
    """Draw out-of-bag scores, and the search for the number of features."""
    digits = load_digits(return_X_y=True)
    forest = RandomForestClassifier(300, oob_score=True, random_state=0)
    extra = ExtraTreesClassifier(300, oob_score=True, bootstrap=True, random_state=0)
    axes = plot_oob_curve(forest.fit(*digits), label="random forest", color=BLUE)
    plot_oob_curve(extra.fit(*digits), label="extra-trees", color=ORANGE, ax=axes)
    save("oob-curve.png", axes.figure)
    train, _, y_train, _ = train_test_split(*digits, test_size=0.5, random_state=0)
    forests = [
        RandomForestClassifier(random_state=0),
        ExtraTreesClassifier(bootstrap=True, random_state=0),
    ]
    save("tuning.png", plot_tuning(tune_max_features(forests, train, y_train)).figure)


def importances() -> None:
    """Draw permutation importances."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(200, random_state=0).fit(X, y)
    save("importances.png", plot_importances(forest.permutation_importance(X, y), top=8).figure)


def quantiles() -> None:
    """Draw a fan of quantiles where the noise grows."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 10, size=(2000, 1)), axis=0)
    y = np.sin(x[:, 0]) + (0.05 + 0.08 * x[:, 0]) * rng.normal(size=2000)
    model = RandomForestRegressor(200, min_samples_leaf=20, uncertainty=True, random_state=0)
    model.fit(x[::2], y[::2])
    new, truth = x[1::6], y[1::6]
    axes = plot_intervals(new, model.predict_quantiles(new, [0.05, 0.25, 0.5, 0.75, 0.95]), truth)
    save("quantiles.png", axes.figure)


def penguin_forest() -> None:
    """Draw the votes about the most doubtful penguin and why, and all penguins by proximity."""
    X, y = load_penguins()
    model = RandomForestClassifier(200, random_state=0).fit(X, y)
    doubtful = int(model.predict_proba(X).max(axis=1).argmin())
    save("votes.png", plot_votes(model, X[doubtful : doubtful + 1]).figure)
    save("contributions.png", plot_contributions(model, X[doubtful : doubtful + 1], top=5).figure)
    save("proximity.png", plot_proximity(model, X, y, out_of_bag=True).figure)


def training() -> None:
    """Draw the losses of boosting from round to round."""
    X, y = make_friedman1(2000, noise=1.0, random_state=0)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    model = GradientBoostingRegressor(n_estimators=1000, max_splits=7, n_iter_no_change=10)
    ax = plot_training(model.fit(train, y_train, eval_set=(test, y_test)))
    save("training.png", ax.figure)


def round_choice() -> None:
    """Draw the curve that chose the number of rounds."""
    X, y = make_friedman1(2000, noise=1.0, random_state=0)
    train, _, y_train, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    ax = plot_training(GradientBoostingRegressor(random_state=0).fit(train, y_train))
    save("round-choice.png", ax.figure)


if __name__ == "__main__":
    penguin_tree()
    pruning_path()
    regression_criteria()
    curves_of_forests()
    importances()
    quantiles()
    penguin_forest()
    training()
    round_choice()
