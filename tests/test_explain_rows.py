"""What each column adds to predictions of any model, and its pictures."""

from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CommitteeClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DynamicSelectionClassifier,
    EnsembleSelectionClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    explain_rows,
    plot_contribution_summary,
    plot_contributions,
    plot_importances,
)

FOREST = RandomForestClassifier(5, max_depth=3, random_state=0)
PAIR = [("forest", FOREST), ("boosting", GradientBoostingClassifier(n_estimators=5))]


def frame(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "color": rng.choice(["red", "blue", "green"], n_rows),
            "count": rng.integers(0, 5, n_rows),
        }
    )
    table.loc[::7, "size"] = np.nan
    y = table["size"].fillna(0) + (table["color"] == "red") + 0.5 * table["count"]
    return table, y.to_numpy()


def labels(y, n_classes):
    codes = np.digitize(y, np.quantile(y, [0.5] if n_classes == 2 else [0.3, 0.7]))
    return np.array(["low", "mid", "high"])[codes]


CLASSIFIERS = [
    DecisionTreeClassifier(max_depth=3),
    FOREST,
    GradientBoostingClassifier(n_estimators=5),
    AdaBoostClassifier(n_estimators=4),
    C45Classifier(),
    VotingClassifier(PAIR, voting="soft"),
    VotingClassifier(PAIR),
    StackingClassifier(PAIR, random_state=0),
    EnsembleSelectionClassifier(PAIR, random_state=0),
    DynamicSelectionClassifier(PAIR, random_state=0),
    BaggingClassifier(DecisionTreeClassifier(max_depth=3), 3, max_features=2, random_state=0),
    BaggingClassifier(GradientBoostingClassifier(n_estimators=3), 3, random_state=0),
    CommitteeClassifier(budget=0.05, random_state=0),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: str(model)[:40])
def test_base_and_contributions_add_up_to_the_prediction(model, n_classes):
    X, y = frame()
    model.fit(X, labels(y, n_classes))
    found = explain_rows(model, X[:6], background=X, n_samples=2)
    assert found.names == ("size", "color", "count")
    assert found.classes == tuple(model.classes_)
    total = found.base + found.contributions.sum(axis=1)
    np.testing.assert_allclose(total, found.predictions, atol=1e-12)
    if found.quantity == "probability":
        np.testing.assert_allclose(total, model.predict_proba(X[:6]), atol=1e-8)
    else:  # of boosting and AdaBoost
        np.testing.assert_array_equal(
            found.contributions, model.predict_contributions(X[:6])[:, :-1]
        )
        # A tie of votes has no likeliest class.
        best = found.predictions > 0 if n_classes == 2 else found.predictions.argmax(axis=1)
        assert np.mean(model.classes_[np.asarray(best, int)] == model.predict(X[:6])) > 0.8


def shapley_values(predict, row, others):
    """By all orders of the columns, mean over all other rows."""
    n_features = len(row)
    orders = list(permutations(range(n_features)))
    sums = np.zeros(n_features)
    for order in orders:
        table = others.copy()
        before = predict(table).mean()
        for column in order:
            table[:, column] = row[column]
            after = predict(table).mean()
            sums[column] += (after - before) / len(orders)
            before = after
    return sums


class Interaction(LinearRegression):
    """Two columns that multiply each other: forward and backward orders leave no error."""

    def predict(self, X):
        X = np.asarray(X)
        return X[:, 0] * X[:, 1] - 2 * X[:, 2] + X[:, 3] * X[:, 0]


def test_sampling_finds_the_values_of_all_orders_where_columns_interact_in_pairs(rng):
    X = rng.normal(size=(12, 4))
    model = Interaction().fit(X, X[:, 0])
    found = explain_rows(model, X[:3], background=X, n_samples=12)
    for number in range(3):
        expected = shapley_values(model.predict, X[number], X)
        np.testing.assert_allclose(found.contributions[number], expected, atol=1e-12)
    assert found.base == pytest.approx(model.predict(X).mean())
    assert found.methods == {"Interaction": "sampled"}


def test_few_orders_are_close_and_depend_on_their_seed_only(rng):
    X = rng.normal(size=(200, 4))
    members = [("tree", DecisionTreeRegressor(max_depth=4)), ("line", LinearRegression())]
    model = StackingRegressor(members, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    few = explain_rows(model, X[:5], background=X)
    many = explain_rows(model, X[:5], background=X, n_samples=200)
    assert few.base == pytest.approx(model.predict(X).mean(), abs=0.1)
    assert np.abs(few.contributions - many.contributions).mean() < 0.1
    again = explain_rows(model, X[:5], background=X)
    np.testing.assert_array_equal(few.contributions, again.contributions)
    other = explain_rows(model, X[:5], background=X, random_state=1)
    assert not np.array_equal(few.contributions, other.contributions)


def test_means_of_members_are_means_of_their_contributions():
    X, y = frame()
    members = [("deep", DecisionTreeRegressor()), ("flat", DecisionTreeRegressor(max_depth=2))]
    model = VotingRegressor(members, weights=[3, 1]).fit(X, y)
    found = explain_rows(model, X[:4])
    deep, flat = (each.predict_contributions(X[:4]) for each in model.estimators_)
    np.testing.assert_allclose(found.contributions, (0.75 * deep + 0.25 * flat)[:, :-1])
    assert found.methods == {"deep": "exact", "flat": "exact"}
    bag = BaggingRegressor(DecisionTreeRegressor(), 4, max_features=1, random_state=0).fit(X, y)
    drawn = [int(columns[0]) for columns in bag.estimators_features_]
    parts = explain_rows(bag, X[:4]).contributions
    expected = np.zeros((4, 3))
    for member, column in zip(bag.estimators_, drawn, strict=True):
        expected[:, column] += member.predict_contributions(X[:4].iloc[:, [column]])[:, 0] / 4
    np.testing.assert_allclose(parts, expected, atol=1e-12)


def test_members_without_contributions_are_sampled_beside_others(rng):
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = VotingClassifier([*PAIR, ("line", LogisticRegression())], voting="soft").fit(X, y)
    found = explain_rows(model, X[:5], background=X, n_samples=3)
    assert found.methods == {"forest": "exact", "boosting": "exact", "line": "sampled"}
    total = found.base + found.contributions.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_proba(X[:5]), atol=1e-9)


def test_one_score_of_two_classes_is_that_of_the_second():
    X, y = frame()
    model = GradientBoostingClassifier(n_estimators=5).fit(X, labels(y, 2))
    own = model.predict_contributions(X[:1])[0]
    found = explain_rows(model, X[:1])
    for label, sign in ((None, 1), ("mid", 1), ("low", -1)):
        place = None if label is None else found.place_of(label)
        parts = found.of_row(0, place)
        np.testing.assert_array_equal(parts.values, sign * own[:-1])
        assert parts.what == f"score of {label or 'mid'}"
        ax = plot_contributions(model, X[:1], label=label)
        widths = sorted(bar.get_width() for bar in ax.patches)
        assert widths == pytest.approx(sorted(sign * own[:-1]))


def test_rows_come_in_any_form():
    X, y = frame()
    X["color"] = X["color"].astype("category")
    model = StackingClassifier(PAIR, random_state=0).fit(X, labels(y, 2))
    row = X.iloc[[1]]
    options = {"background": X, "n_samples": 2}
    expected = explain_rows(model, row, **options).contributions
    row = row.assign(color=row["color"].cat.remove_unused_categories())
    same = explain_rows(model, row, **options)
    np.testing.assert_array_equal(same.contributions, expected)
    assert same.cells.tolist() == [[X["size"][1], X["color"][1], X["count"][1]]]
    for each in (X.iloc[1], X.iloc[1].to_dict(), row[["count", "size", "color"]]):
        np.testing.assert_allclose(explain_rows(model, each, **options).contributions, expected)
    other = pl.from_pandas(X.assign(color=X["color"].astype(str)))
    for table in (other, other.to_arrow()):
        model.fit(table, labels(y, 2))
        found = explain_rows(model, table[1:2], background=table, n_samples=2)
        np.testing.assert_allclose(found.contributions, expected)


def test_cells_are_those_of_the_table():
    X = pd.DataFrame(
        {
            "when": pd.to_datetime(["2024-05-01", None]),
            "is": [True, False],
            "size": pd.Categorical(["S", None], ["S", "L"], ordered=True),
            "x": [0.125, np.nan],
        }
    )
    found = explain_rows(DecisionTreeRegressor().fit(X, [1.0, 2.0]), X)
    assert [str(cell) for cell in found.cells[0]] == ["2024-05-01 00:00:00", "True", "S", "0.125"]
    assert found.cells[1].tolist() == [None, False, None, None]
    assert found.of_row(1).cells == ["missing", "False", "missing", "missing"]
    assert found.of_row(0).cells == ["2024-05-01", "True", "S", "0.125"]
    assert found.to_frame().shape == (8, 1)
    assert "prediction 1 = 1.5 in general" in repr(found)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, X: explain_rows(m, X[:1]), ValueError, "background must be given"),
        (lambda m, X: explain_rows(m, X[:0]), ValueError, "at least one row"),
        (lambda m, X: explain_rows(m, X, n_samples=0), ValueError, "n_samples must be"),
        (
            lambda m, X: explain_rows(m, X, background=pl.from_pandas(X)),
            TypeError,
            "the same kind as X",
        ),
        (lambda m, X: explain_rows(m, X[["size"]]), ValueError, "color"),
        (lambda m, X: plot_contributions(m, X), ValueError, "one row; got 60 rows"),
        (lambda m, X: plot_contributions(explain_rows(m, X), 60), ValueError, "row must be below"),
        (lambda m, X: plot_contribution_summary(m), TypeError, "X must be a table"),
        (lambda m, X: plot_contribution_summary(explain_rows(m, X), X), TypeError, "X must be Non"),
        (lambda m, X: plot_contribution_summary(m, X, label="?"), ValueError, "label must be one"),
        (lambda m, X: plot_importances(m), TypeError, "has no importances of its own; give X and"),
        (lambda m, X: plot_importances(m, X), TypeError, "both or neither"),
        (lambda m, X: plot_importances([1.0]), TypeError, "result must be a fitted model"),
        (lambda m, X: plot_importances(FOREST, by="score"), ValueError, "standard deviation"),
        (lambda m, X: plot_importances(FOREST, feature_names=["a"]), ValueError, "3 features"),
    ],
)
def test_what_cannot_be_explained_is_refused(call, error, message):
    X, y = frame()
    model = StackingClassifier(PAIR, random_state=0).fit(X, labels(y, 2))
    FOREST.fit(X, labels(y, 2))
    with pytest.raises(error, match=message):
        call(model, X)


# --- pictures -------------------------------------------------------------------------------------


def names_of(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def test_a_row_is_drawn_with_its_values_and_its_class():
    X, y = frame()
    X = X.rename(columns={"count": "a name that is much longer than there is room for"})
    model = RandomForestClassifier(5, random_state=0).fit(X, labels(y, 3))
    ax = plot_contributions(model, X.iloc[0], label="high")
    own = model.predict_contributions(X[:1])[0, :, list(model.classes_).index("high")]
    assert f"color = {X['color'][0]}" in names_of(ax)
    assert "size = missing" in names_of(ax)
    assert max(map(len, names_of(ax))) == 36
    assert ax.get_xlabel() == "probability of high"
    assert ax.get_title() == f"probability of high: {own.sum():.3g}, in general {own[-1]:.3g}"


def test_large_numbers_are_plain():
    X, y = frame()
    model = DecisionTreeRegressor(max_depth=2).fit(X, 1e6 * y)
    ax = plot_contributions(model, X[:1])
    texts = [text.get_text() for text in ax.texts]
    assert not any("e+" in text for text in [*texts, ax.get_title()])
    own = model.predict_contributions(X[:1])[0, :-1]
    assert set(texts) == {f"{each:+,.0f}" if each else "+0" for each in own}


def test_dots_of_a_summary_lie_at_the_contributions():
    X, y = frame(40)
    model = GradientBoostingRegressor(n_estimators=10, min_samples_leaf=2).fit(X, y)
    ax = plot_contribution_summary(model, X, top=2)
    found = model.predict_contributions(X)[:, :-1]
    sizes = np.abs(found).mean(axis=0)
    order = np.argsort(-sizes)[:2][::-1]
    assert names_of(ax) == [f"{X.columns[k]}  {sizes[k]:.3g}" for k in order]
    for dots, column in zip(ax.collections, order, strict=True):
        np.testing.assert_array_equal(dots.get_offsets()[:, 0], found[:, column])
        colors = dots.get_facecolors()[:, :3]
        values = X.iloc[:, column]
        if values.dtype.kind == "f":  # more red and less blue, the higher
            known = values.dropna().sort_values().index
            assert (np.diff(colors[known, 0]) >= 0).all()
            assert colors[known[-1], 2] < 0.5 < colors[known[0], 2]
        heights = dots.get_offsets()[:, 1]
        assert np.abs(heights - np.round(heights)).max() <= 0.45
    assert ax.get_xlabel() == "contribution to the prediction"


def test_a_summary_is_of_the_second_class_or_of_the_most_frequent():
    X, y = frame()
    two = RandomForestClassifier(3, random_state=0).fit(X, labels(y, 2))
    assert plot_contribution_summary(two, X).get_xlabel().endswith("probability of mid")
    three = RandomForestClassifier(3, random_state=0).fit(X, labels(y, 3))
    usual = pd.Series(three.predict(X)).mode()[0]
    assert plot_contribution_summary(three, X).get_xlabel().endswith(f"probability of {usual}")


def test_importances_of_models_and_of_rows_are_drawn():
    X, y = frame()
    tree = DecisionTreeClassifier().fit(X, labels(y, 2))
    ax = plot_importances(tree)
    order = np.argsort(tree.feature_importances_)
    assert names_of(ax) == list(X.columns[order])
    assert [bar.get_width() for bar in ax.patches] == list(tree.feature_importances_[order])
    committee = CommitteeClassifier(budget=0.05, random_state=0).fit(X, labels(y, 2))
    ax = plot_importances(committee)
    assert names_of(ax)[::-1] == committee.importances_.ranking()
    assert ax.get_xlabel() == "loss of neg_log_loss where the column is shuffled"
    rows = explain_rows(RandomForestRegressor(5, random_state=0).fit(X, y), X)
    widths = [bar.get_width() for bar in plot_importances(rows).patches]
    assert widths == pytest.approx(sorted(np.abs(rows.contributions).mean(axis=0)))


@pytest.mark.parametrize("convert", [pd.DataFrame.copy, pl.from_pandas], ids=["pandas", "polars"])
def test_stacks_are_drawn_by_shuffling_rows(convert):
    X, y = frame()
    y = labels(y, 2)
    model = StackingClassifier(PAIR, random_state=0).fit(convert(X), y)
    ax = plot_importances(model, convert(X), y)
    peer = permutation_importance(model, X, y, random_state=0)
    order = np.argsort(peer.importances_mean)
    assert [bar.get_width() for bar in ax.patches] == list(peer.importances_mean[order])
    drawn = plot_importances(peer, feature_names=X.columns)
    assert names_of(drawn) == names_of(ax) == list(X.columns[order])
    assert names_of(plot_importances(peer, by="score"))[0].startswith("x")
