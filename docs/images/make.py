"""Draws the pictures of the documentation; run it from anywhere: python docs/images/make.py."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_friedman1,
    make_hastie_10_2,
    make_moons,
)
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsRegressor

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ID3Classifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
    diagnose,
    diversity,
    plot_adaboost,
    plot_calibration,
    plot_contribution_summary,
    plot_contributions,
    plot_decision,
    plot_diagnosis,
    plot_diversity,
    plot_importances,
    plot_intervals,
    plot_margins,
    plot_oob_curve,
    plot_proximity,
    plot_pruning,
    plot_residuals,
    plot_rounds,
    plot_stack,
    plot_training,
    plot_tree,
    plot_tuning,
    plot_votes,
    prune_ensemble,
    tune_max_features,
)
from committee.datasets import load_penguins, load_ten_points

FOLDER = Path(__file__).parent
INK, BLUE, ORANGE = "#26303d", "#3b7dd8", "#d9822b"
GREEN, GREY, GRID = "#3a9b6f", "#9aa5b4", "#e6eaf0"


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
    summary = plot_contribution_summary(model, X, label="Gentoo")
    save("contribution-summary.png", summary.figure)
    save("proximity.png", plot_proximity(model, X, y, out_of_bag=True).figure)


def pruning() -> None:
    """Draw what so many trees of a forest are worth."""
    X, y = load_digits(return_X_y=True)
    train, rest, y_train, y_rest = train_test_split(X, y, test_size=0.6, random_state=0)
    forest = RandomForestClassifier(300, random_state=0).fit(train, y_train)
    _, path = prune_ensemble(forest, rest, y_rest, tolerance=0.01)
    save("pruning-members.png", plot_pruning(path).figure)


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


def adaboost_rounds() -> None:
    """Draw the rounds of AdaBoost: the ten points of the lecture, moons, and three classes."""
    X, y = load_ten_points()
    model = AdaBoostClassifier(n_estimators=3, criterion="error", keep_weights=True)
    save("adaboost-rounds.png", plot_rounds(model.fit(X, y), X, y)[0].figure)
    X, y = make_moons(200, noise=0.25, random_state=0)
    model = AdaBoostClassifier(n_estimators=50, keep_weights=True).fit(X, y)
    save("adaboost-moons.png", plot_rounds(model, X, y)[0].figure)
    X, y = load_penguins()
    X = X[["bill_length_mm", "flipper_length_mm"]]
    model = AdaBoostClassifier(n_estimators=30, keep_weights=True).fit(X, y)
    axes = plot_rounds(model, X, y, rounds=[1, 2, 3])
    save("adaboost-classes.png", axes[0].figure)


def adaboost_formulas() -> None:
    """Draw the losses that bound the error, and the weight of a learner by its error."""
    margin = np.linspace(-2, 2, 401)
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    axes.step([-2, 0, 2], [1, 0, 0], where="post", color=INK, linewidth=2, label="0-1 loss")
    axes.plot(margin, np.exp(-margin), color=ORANGE, linewidth=2, label="exponential, $e^{-yf}$")
    logs = np.log2(1 + np.exp(-2 * margin))
    axes.plot(margin, logs, color=BLUE, linewidth=2, label=r"log loss, $\log_2(1 + e^{-2yf})$")
    axes.set_xlabel("y f(x)", color=INK)
    axes.set_ylabel("loss", color=INK)
    axes.set_ylim(-0.06, 5)
    axes.set_xlim(-2, 2)
    tidy(axes)
    save("adaboost-losses.png", figure)
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for n_classes, color in ((2, BLUE), (3, GREEN), (10, ORANGE)):
        # With several classes, learners beyond chance are not used.
        error = np.linspace(0.005, 0.995 if n_classes == 2 else 1 - 1 / n_classes, 400)
        weights = np.log((1 - error) / error) + np.log(n_classes - 1)
        name = "two classes" if n_classes == 2 else f"SAMME, {n_classes} classes"
        axes.plot(error, weights, color=color, linewidth=2, label=name)
        axes.plot([1 - 1 / n_classes], [0], "o", color=color, markersize=6)
    axes.axhline(0, color=INK, linewidth=1)
    axes.set_xlabel("weighted error of a learner", color=INK)
    axes.set_ylabel("weight of its vote", color=INK)
    tidy(axes)
    save("adaboost-weights.png", figure)


def adaboost_curves() -> None:
    """Draw errors, bound and margins of a long run."""
    X, y = make_hastie_10_2(4000, random_state=0)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    model = AdaBoostClassifier(n_estimators=400).fit(train, y_train, eval_set=(test, y_test))
    save("adaboost-curves.png", plot_adaboost(model).figure)
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=500).fit(X, y)
    save("adaboost-margins.png", plot_margins(model, X, y).figure)


def adaboost_probabilities() -> None:
    """Draw how often probabilities of AdaBoost come true."""
    X, y = make_hastie_10_2(8000, random_state=0)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.75, random_state=0)
    models = {
        "scikit-learn": TheirAdaBoost(n_estimators=200, random_state=0),
        "committee": AdaBoostClassifier(n_estimators=200),
    }
    fitted = {name: model.fit(train, y_train) for name, model in models.items()}
    figure = plot_calibration(fitted, test, y_test).figure
    save("adaboost-probabilities.png", figure)


def diversity_of_trees() -> None:
    """Draw the trees of the forest of the guide."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, random_state=0)
    forest = RandomForestClassifier(50, max_depth=3, random_state=0).fit(X, y)
    heat, _ = plot_diversity(diversity(forest, X_new, y_new))
    save("diversity.png", heat.figure)


def diagnosis_of_bagged_trees() -> None:
    """Draw the diagnosis of the guide."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
    model = BaggingClassifier(DecisionTreeClassifier(), 20, random_state=0).fit(X, y)
    axes = plot_diagnosis(diagnose(model, X_new, y_new))
    save("diagnosis.png", axes["members"].figure)


def ensembles_on_the_plane() -> None:
    """Draw two trees and their forest, rounds of boosting, and probabilities."""
    X, y = make_moons(150, noise=0.3, random_state=0)
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    save("decision.png", plot_decision(forest, X, y, members=[0, 1])[0].figure)
    x = np.linspace(0, 6, 150).reshape(-1, 1)
    wave = np.sin(x[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=150)
    model = GradientBoostingRegressor(n_estimators=20, learning_rate=0.5, max_depth=2).fit(x, wave)
    save("residuals.png", plot_residuals(model, x, wave)[0][0].figure)
    new, truth = make_moons(2000, noise=0.3, random_state=1)
    boosting = GradientBoostingClassifier(n_estimators=300, learning_rate=0.3).fit(X, y)
    axes = plot_calibration({"forest": forest, "boosting": boosting}, new, truth)
    save("calibration.png", axes.figure)


def team_votes() -> None:
    """Draw who votes what about penguins."""
    X, y = load_penguins()
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    members = [
        ("tree", DecisionTreeClassifier(max_depth=2)),
        ("id3", ID3Classifier()),
        ("boosting", GradientBoostingClassifier(n_estimators=5, max_splits=2)),
    ]
    team = VotingClassifier(members, voting="soft").fit(train, y_train)
    save("team-votes.png", plot_votes(team, test, y_test).figure)


def stacks() -> None:
    """Draw a stack that leaks and one that does not."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    train, _, y_train, _ = train_test_split(X, y, test_size=0.4, random_state=0)
    members = [
        ("line", LinearRegression()),
        ("forest", RandomForestRegressor(50, min_samples_leaf=5, random_state=0)),
        ("neighbours", KNeighborsRegressor(20)),
    ]
    honest = StackingRegressor(members, "convex", leak_check=True, random_state=0)
    save("stack-honest.png", plot_stack(honest.fit(train, y_train)).figure)
    seen = [(name, member.fit(train, y_train)) for name, member in members]
    leaky = StackingRegressor(seen, cv="prefit", leak_check=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it leaks, and says so
        leaky.fit(train, y_train)
    save("stack-leaks.png", plot_stack(leaky).figure)


def lectures() -> None:
    """Draw the pictures of the lectures: each is what the code above it draws."""
    block = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    picture = re.compile(r"\(\.\./images/(lecture-[\w-]+\.png)\)")
    for page in sorted((FOLDER.parent / "lectures").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        names: dict[str, object] = {"__name__": "__main__"}
        for each in block.finditer(text):
            exec(compile(each[1], page.name, "exec"), names)
            end = text.find("```python", each.end())
            for name in picture.findall(text[each.end() : end]):
                save(name, plt.gcf())
            plt.close("all")


def tidy(axes: plt.Axes) -> None:
    """Take away what is no data, and name the lines."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, labelcolor=INK)


if __name__ == "__main__":
    penguin_tree()
    pruning_path()
    regression_criteria()
    curves_of_forests()
    importances()
    quantiles()
    penguin_forest()
    pruning()
    training()
    round_choice()
    adaboost_rounds()
    adaboost_formulas()
    adaboost_curves()
    adaboost_probabilities()
    diversity_of_trees()
    diagnosis_of_bagged_trees()
    ensembles_on_the_plane()
    team_votes()
    stacks()
    lectures()
