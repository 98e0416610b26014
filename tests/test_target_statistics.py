"""Ordered target statistics: what rows and levels get, that nothing leaks, and what users see."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

from committee import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    _core,
    export_text,
    load,
    save,
)
from committee.boosting.categories import TargetStatistics
from committee.files import codec as _codec

FEW_ROUNDS = {"n_estimators": 8, "min_samples_leaf": 5, "random_state": 3}


def naive_means(levels, n_levels, order, targets, weights, smoothing):
    """Means of each row from the rows before it, and of levels, unseen ones and missing ones."""
    of_rows = np.zeros(len(levels))
    rows = [row for row in order if weights[row] > 0]

    def mean(level, seen):
        mine = [row for row in seen if levels[row] == level]
        total = sum(weights[row] for row in mine)
        return sum(weights[row] * targets[row] for row in mine) / (total + smoothing)

    of_levels = [mean(level, rows) for level in [*range(n_levels), -2, -1]]
    for place, row in enumerate(rows):
        of_rows[row] = mean(levels[row], rows[:place])
    for row in np.flatnonzero(weights == 0):
        of_rows[row] = of_levels[levels[row]]
    return of_rows, np.array(of_levels)


def city_table(rng, n_rows=400, n_levels=40):
    """A long category that matters, a short one and a number."""
    city = rng.integers(0, n_levels, n_rows)
    size = rng.normal(size=n_rows)
    X = pd.DataFrame(
        {
            "size": size,
            "city": [f"c{k:02}" for k in city],
            "kind": rng.choice(["a", "b", "c"], n_rows),
        }
    )
    X.loc[::17, "city"] = None
    return X, rng.normal(size=n_levels)[city] + 0.5 * size + 0.3 * rng.normal(size=n_rows)


def three_classes(y):
    return np.array(["low", "mid", "top"])[np.digitize(y, [-0.5, 0.5])]


# ---- the engine ----


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.5, 1.0, 10.0])
def test_rows_see_the_rows_before_them(rng, weighted, smoothing):
    n_rows, n_levels = 80, 7
    levels = rng.integers(-1, n_levels - 1, n_rows).astype(np.int32)  # the last one never occurs
    order = rng.permutation(n_rows).astype(np.uint32)
    targets = rng.normal(size=n_rows)
    weights = rng.integers(0, 4, n_rows) * 0.5 if weighted else None
    found = _core.ordered_means(levels, n_levels, order, targets, weights, smoothing=smoothing)
    each = np.ones(n_rows) if weights is None else weights
    expected = naive_means(levels, n_levels, order, targets, each, smoothing)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    assert found[1][n_levels - 1] == found[1][n_levels] == 0.0


def test_levels_of_the_same_targets_are_equal_to_the_last_bit(rng):
    each = np.array([0.7, -0.3, -0.3, 0.7, -0.3, 0.1])
    targets = np.concatenate([rng.permutation(each) for _ in range(50)])
    levels = np.repeat(np.arange(50, dtype=np.int32), 6)
    order = np.arange(300, dtype=np.uint32)
    _, values = _core.ordered_means(levels, 50, order, targets, smoothing=1.0)
    assert len(set(values[:50])) == 1


def test_levels_and_rows_out_of_range_are_refused():
    row, one = np.zeros(1, np.uint32), np.ones(1)
    for levels in ([2], [-2]):
        with pytest.raises(ValueError, match="level is out of range"):
            _core.ordered_means(np.array(levels, np.int32), 2, row, one, smoothing=1.0)
    for rows in (row + 1, np.zeros(2, np.uint32)):
        with pytest.raises(ValueError, match="row is out of range or there twice"):
            _core.ordered_means(np.zeros(1, np.int32), 2, rows, one, smoothing=1.0)
    with pytest.raises(ValueError, match="targets must be finite"):
        _core.ordered_means(np.zeros(1, np.int32), 2, row, one * np.inf, smoothing=1.0)
    with pytest.raises(ValueError, match="targets must have one entry a row"):
        _core.ordered_means(np.zeros(2, np.int32), 2, row, one, smoothing=1.0)


def test_columns_of_another_table_are_kept_alive():
    def joined():
        origin = _core.Table(3)
        origin.add_column(2, np.array([1, 0, -1], np.int32))
        table = _core.Table(3)
        table.add_from(origin, 0)
        return table

    assert joined().levels(0).tolist() == [1, 0, -1]
    with pytest.raises(ValueError, match="no column 1"):
        joined().add_from(joined(), 1)
    with pytest.raises(ValueError, match="3 entries; the table has 2"):
        _core.Table(2).add_from(joined(), 0)
    with pytest.raises(ValueError, match="no category"):
        _core.Table.from_matrix(np.zeros((2, 1))).levels(0)


# ---- what levels become ----


def test_levels_become_smoothed_means_of_the_target(rng):
    X, y = city_table(rng)
    weights = rng.integers(0, 3, len(X)).astype(float)
    model = GradientBoostingRegressor(**FEW_ROUNDS).fit(X, y, weights)
    statistics = model._sum.statistics
    assert (statistics.features, statistics.names) == ((1,), ("target statistic",))
    slopes = y - np.average(y, weights=weights)
    levels = [*model.schema_.features[1].levels, None]
    for level, value in zip(levels, np.delete(statistics.values[0][:, 0], -2), strict=True):
        mine = X["city"].isna() if level is None else X["city"] == level
        expected = (weights * slopes)[mine].sum() / (weights[mine].sum() + 1)
        assert value == pytest.approx(expected, abs=1e-12)
    assert statistics.values[0][-2, 0] == 0.0


def test_classes_become_shares(rng):
    X, y = city_table(rng)
    label = three_classes(y)
    model = GradientBoostingClassifier(**FEW_ROUNDS).fit(X, label)
    statistics = model._sum.statistics
    assert statistics.names == tuple(f"target statistic of {name}" for name in model.classes_)
    code = model.schema_.features[1].levels.index("c07")
    mine = X["city"] == "c07"
    for k, name in enumerate(model.classes_):
        slopes = (label == name) - np.mean(label == name)
        assert statistics.values[0][code, k] == pytest.approx(slopes[mine].sum() / (mine.sum() + 1))
    two = GradientBoostingClassifier(**FEW_ROUNDS).fit(X, y > 0)
    slopes = (y > 0) - np.mean(y > 0)
    value = two._sum.statistics.values[0][code, 0]
    assert value == pytest.approx(slopes[mine].sum() / (mine.sum() + 1))


def test_many_classes_have_the_statistics_of_the_heaviest(rng):
    X, _ = city_table(rng, 900)
    label = np.concatenate([np.repeat(np.arange(14), 60), np.repeat(3, 60)])
    model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, label)
    names = model._sum.statistics.names
    assert len(names) == 10
    assert "target statistic of 3" in names
    assert model.predict_contributions(X).shape == (900, 4, 14)


def test_outliers_do_not_move_the_statistics_of_a_robust_loss(rng):
    X, y = city_table(rng)
    spoilt = np.where(y == y.max(), 1e9, y)
    fits = [
        GradientBoostingRegressor(loss="absolute_error", **FEW_ROUNDS).fit(X, each)
        for each in (y, spoilt)
    ]
    np.testing.assert_array_equal(*(model._sum.statistics.values[0] for model in fits))


@pytest.mark.parametrize(
    ("factor", "shift"), [(1e9, 0.0), (1e-9, 0.0), (1.0, 1e9), (2.0**500, 0.0)]
)
def test_units_of_the_target_do_not_matter(rng, factor, shift):
    X, y = city_table(rng)
    y = np.round(y * 1024) / 1024
    plain = GradientBoostingRegressor(**FEW_ROUNDS).fit(X, y)
    scaled = GradientBoostingRegressor(**FEW_ROUNDS).fit(X, y * factor + shift)
    assert scaled._sum.statistics is not None
    back = (scaled.predict(X) - shift) / factor
    np.testing.assert_allclose(back, plain.predict(X), rtol=1e-5, atol=1e-5)


# ---- which categories ----


def encoded(model):
    statistics = model._sum.statistics
    return () if statistics is None else statistics.features


def test_auto_encodes_categories_of_more_than_16_levels(rng):
    X = pd.DataFrame({n: [str(k) for k in rng.permutation(340) % n] for n in (2, 16, 17, 40)})
    X.columns = X.columns.astype(str)
    y, settings = rng.normal(size=340), {"n_estimators": 1, "random_state": 0}
    fits = {
        choice: GradientBoostingRegressor(category_encoding=choice, **settings).fit(X, y)
        for choice in ("auto", "subsets", "target")
    }
    assert {choice: encoded(model) for choice, model in fits.items()} == {
        "auto": (2, 3),
        "subsets": (),
        "target": (0, 1, 2, 3),
    }
    # A level that only rows of weight zero have does not count.
    weights = (X["17"] != "3").astype(float)
    assert encoded(GradientBoostingRegressor(**settings).fit(X, y, weights)) == (3,)


def test_tables_without_long_categories_are_not_touched(rng):
    X, y = city_table(rng)
    X["city"] = X["city"].str[:2]  # c0 to c3
    a, b = (
        GradientBoostingRegressor(n_estimators=5, category_encoding=choice, random_state=seed)
        for seed, choice in enumerate(("auto", "subsets"))
    )
    np.testing.assert_array_equal(a.fit(X, y).predict(X), b.fit(X, y).predict(X))


@pytest.mark.parametrize(("value", "error"), [("onehot", ValueError), (None, TypeError)])
def test_other_encodings_are_refused(value, error, rng):
    model = GradientBoostingRegressor(category_encoding=value)
    with pytest.raises(error, match="category_encoding must be"):
        model.fit(rng.normal(size=(9, 1)), np.arange(9.0))


# ---- no leak ----


@pytest.fixture(scope="module")
def idle_levels():
    """Levels of four rows each that say nothing about the class, and a number that does."""
    rng = np.random.default_rng(5)
    n_rows = 6000
    X = pd.DataFrame({"x": rng.normal(size=n_rows)})
    X["level"] = [f"l{k}" for k in rng.integers(0, n_rows // 4, n_rows)]
    y = (X["x"] + rng.logistic(size=n_rows) > 0).astype(int).to_numpy()
    return X, y, slice(0, 4000), slice(4000, None)


def test_the_statistic_of_idle_levels_does_not_know_the_target(idle_levels):
    X, y, train, _ = idle_levels
    levels = pd.factorize(X["level"][train])[0].astype(np.int32)
    order = np.random.default_rng(0).permutation(len(levels)).astype(np.uint32)
    n_levels = levels.max() + 1
    targets = y[train] - y[train].mean()
    rows, full = _core.ordered_means(levels, n_levels, order, targets, smoothing=1.0)
    assert abs(roc_auc_score(y[train], rows) - 0.5) < 0.03
    assert roc_auc_score(y[train], full[levels]) > 0.7  # the naive encoding knows it


def test_a_column_of_idle_levels_does_no_harm(idle_levels):
    X, y, train, test = idle_levels

    def loss(table, **settings):
        model = GradientBoostingClassifier(n_estimators=60, random_state=0, **settings)
        model.fit(table[train], y[train])
        return log_loss(y[test], model.predict_proba(table[test])[:, 1])

    without, with_levels = loss(X[["x"]]), loss(X)
    assert with_levels < without + 0.02
    naive = X.assign(level=X["level"].map(pd.Series(y[train]).groupby(X["level"][train]).mean()))
    assert loss(naive) > without + 0.05
    assert loss(X, category_encoding="subsets") > with_levels


# ---- weights, draws, threads ----


@pytest.mark.parametrize("stops", [False, True])
def test_rows_of_weight_zero_change_nothing(rng, stops):
    X, y = city_table(rng)
    more = pd.concat([X, pd.DataFrame({"size": [9.0, 9.0], "city": ["c01", "new"], "kind": "a"})])
    settings = FEW_ROUNDS | {"early_stopping": stops}
    plain = GradientBoostingRegressor(**settings).fit(X, y, np.ones(len(X)))
    longer = GradientBoostingRegressor(**settings)
    longer.fit(more, [*y, 1e6, -1e6], [*np.ones(len(X)), 0, 0])
    np.testing.assert_array_equal(plain.predict(X), longer.predict(X))


def test_the_model_is_the_same_for_any_number_of_threads(rng):
    X, y = city_table(rng, 3000, 200)
    for target in (y > 0, three_classes(y)):
        fits = [
            GradientBoostingClassifier(n_jobs=n, **FEW_ROUNDS).fit(X, target) for n in (1, 2, 3)
        ]
        first = fits[0].decision_function(X)
        for model in fits[1:]:
            np.testing.assert_array_equal(model.decision_function(X), first)


def test_the_seed_decides_the_order(rng):
    X, y = city_table(rng)
    settings = FEW_ROUNDS | {"random_state": 1}
    a, b = (GradientBoostingRegressor(**settings).fit(X, y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    other = GradientBoostingRegressor(**FEW_ROUNDS | {"random_state": 2}).fit(X, y).predict(X)
    assert (other != a).any()


@pytest.mark.parametrize("split_finding", ["hist", "exact"])
@pytest.mark.parametrize(
    "settings",
    [
        {"max_features": 2, "features_per_tree": 2},
        {"max_features": 0.5, "features_per_level": 0.5},
        {"interaction_cst": "no_interactions"},
        {"interaction_cst": [["size", "city"]]},
        {"subsample": 0.5, "ccp_alpha": 1e-4},
    ],
    ids=repr,
)
def test_draws_and_constraints_are_of_the_users_columns(rng, settings, split_finding):
    X, y = city_table(rng)
    model = GradientBoostingClassifier(split_finding=split_finding, **FEW_ROUNDS, **settings)
    model.fit(X, three_classes(y))
    assert model.max_features_ <= 3
    assert model.feature_importances_.shape == (3,)
    if settings.get("interaction_cst") == "no_interactions":
        for tree in model.estimators_.ravel():
            asked = set(tree.tree_.feature[tree.tree_.feature >= 0].tolist())
            # The numbers of a category may meet, because they are one column.
            assert len({1 if feature in (1, 3, 4) else feature for feature in asked}) <= 1


def test_monotone_constraints_hold_for_other_columns(rng):
    X, y = city_table(rng)
    model = GradientBoostingRegressor(monotonic_cst={"size": 1}, **FEW_ROUNDS)
    model.fit(X, np.column_stack([y, -y]))
    row = pd.concat([X.head(1)] * 50).assign(size=np.linspace(-3, 3, 50))
    assert (np.diff(model.predict(row), axis=0) >= 0).all()
    with pytest.raises(ValueError, match="'city', a category"):
        GradientBoostingRegressor(monotonic_cst={"city": 1}).fit(X, y)


# ---- new rows ----


def test_unseen_levels_get_the_mean_and_missing_ones_their_own_number(rng):
    X, y = city_table(rng)
    y = np.where(X["city"].isna(), 5.0, y)
    model = GradientBoostingRegressor(**FEW_ROUNDS | {"n_estimators": 60}).fit(X, y)
    rows = X.head(3).assign(city=["never seen", None, "c03"])
    unseen, missing, _ = model.predict(rows)
    assert missing > unseen + 2
    table = model._sum.schema.read(rows, "model")
    assert table.levels(1).tolist()[:2] == [-2, -1]
    (numbers,) = model._sum.statistics.numbers(table)
    assert numbers[0, 0] == 0.0
    # Without missing values in training, they are as unseen levels are.
    known = X["city"].notna()
    model = GradientBoostingRegressor(**FEW_ROUNDS).fit(X[known], y[known])
    assert not model.schema_.features[1].has_missing
    unseen, missing = model.predict(rows.assign(size=0.0, kind="a"))[:2]
    assert unseen == missing


def test_trees_take_unseen_levels_for_missing(rng):
    X, y = city_table(rng)
    model = GradientBoostingRegressor(category_encoding="subsets", **FEW_ROUNDS).fit(X, y)
    rows = X.head(2).assign(city=["never seen", None], size=0.0, kind="b")
    assert np.ptp(model.predict(rows)) == 0.0


# ---- what users see ----


@pytest.mark.parametrize("kind", ["gain", "cover", "split"])
def test_importances_are_of_the_users_columns(rng, kind):
    X, y = city_table(rng)
    model = GradientBoostingClassifier(**FEW_ROUNDS).fit(X, three_classes(y))
    shares = model.importances(kind)
    assert shares.shape == (3,)
    assert shares.argmax() == 1
    assert shares.sum() == pytest.approx(1)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["size", "city", "kind"]
    assert [info.label for info in model.schema_.features] == ["number", "category", "category"]
    assert [info.has_missing for info in model.schema_.features] == [False, True, False]


@pytest.mark.parametrize("classes", [False, True])
def test_contributions_add_up(rng, classes):
    X, y = city_table(rng)
    if classes:
        model = GradientBoostingClassifier(**FEW_ROUNDS).fit(X, three_classes(y))
        parts, scores = model.predict_contributions(X), model.decision_function(X)
    else:
        model = GradientBoostingRegressor(**FEW_ROUNDS).fit(X, y)
        parts, scores = model.predict_contributions(X), model.predict(X)
    assert parts.shape[1] == 4
    np.testing.assert_allclose(parts.sum(axis=1), scores, atol=1e-10)


def test_trees_name_what_they_see(rng):
    X, y = city_table(rng)
    model = GradientBoostingRegressor(**FEW_ROUNDS).fit(X, y)
    tree = model.estimators_[0, 0]
    assert "city (target statistic) <=" in export_text(tree)
    assert tree.feature_names_in_.tolist() == ["size", "city (target statistic)", "kind"]
    assert tree.tree_.feature[0] == 1
    several = GradientBoostingClassifier(**FEW_ROUNDS).fit(X, three_classes(y)).estimators_[0, 0]
    assert several.feature_names_in_[-1] == "city (target statistic of top)"
    nameless = GradientBoostingRegressor(**FEW_ROUNDS).fit(X.to_numpy(), y)
    assert nameless.estimators_[0, 0].schema_.features[1].name == "x1 (target statistic)"


def test_leaves_and_stages_agree_with_predictions(rng):
    X, y = city_table(rng)
    model = GradientBoostingRegressor(**FEW_ROUNDS).fit(X, y)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    leaves = model.apply(X)
    sums = sum(tree.tree_.value[leaves[:, k], 0, 0] for k, (tree,) in enumerate(model.estimators_))
    np.testing.assert_allclose(sums + np.mean(y), model.predict(X), atol=1e-9)


def test_validation_rows_are_seen_as_new_rows(rng):
    X, y = city_table(rng, 800)
    new = slice(600, None)
    model = GradientBoostingRegressor(**FEW_ROUNDS).fit(X[:600], y[:600], eval_set=(X[new], y[new]))
    errors = (model.predict(X[new]) - y[new]) ** 2
    assert model.training_log_.validation_loss[-1] == pytest.approx(errors.mean() / 2)
    held = GradientBoostingRegressor(**FEW_ROUNDS | {"n_estimators": 300}, n_iter_no_change=5)
    held.fit(X, y)
    assert held.n_estimators_ < 300
    assert held.score(X, y) > 0.5


def test_targets_of_held_out_rows_are_in_no_statistic(rng):
    X, y = city_table(rng, 800)
    other = np.append(y[:720], 100 * rng.normal(size=80))
    settings = FEW_ROUNDS | {"early_stopping": True, "validation_part": "last"}
    fits = [GradientBoostingRegressor(**settings).fit(X, target) for target in (y, other)]
    a, b = (model._sum.statistics.values[0] for model in fits)
    np.testing.assert_array_equal(a, b)
    n_rounds = min(model.n_estimators_ for model in fits)
    stages = [list(model.staged_predict(X))[n_rounds - 1] for model in fits]
    np.testing.assert_array_equal(*stages)


# Where the one different row is not drawn, no tree can be split, which is worth a warning.
@pytest.mark.filterwarnings("ignore:.*predicts the same for every row:UserWarning")
@pytest.mark.parametrize(
    ("loss", "huge", "tiny"), [("squared_error", 1e150, 1e-200), ("poisson", 1e300, 1e-12)]
)
def test_held_out_rows_of_another_order_of_magnitude_are_no_obstacle(rng, loss, huge, tiny):
    X, y = city_table(rng)
    y = tiny * np.exp(y)
    y[0] = huge
    model = GradientBoostingRegressor(loss=loss, learning_rate=0.5, random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_a_warm_start_goes_on_with_the_same_bits(rng):
    X, y = city_table(rng)
    settings = FEW_ROUNDS | {"random_state": None, "warm_start": True}
    model = GradientBoostingRegressor(**settings | {"n_estimators": 4}).fit(X, y)
    whole = clone(model).set_params(random_state=0, n_estimators=8).fit(X, y)
    parts = clone(model).set_params(random_state=0, n_estimators=4).fit(X, y)
    parts.set_params(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    before = model.predict(X)
    with pytest.raises(ValueError, match="warm_start=True adds rounds"):
        model.set_params(n_estimators=8, category_encoding="subsets").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)


# ---- files ----


@pytest.mark.parametrize("classes", [False, True])
def test_a_model_comes_back_as_it_was(rng, tmp_path, classes):
    X, y = city_table(rng)
    if classes:
        model = GradientBoostingClassifier(**FEW_ROUNDS).fit(X, three_classes(y))
    else:
        model = GradientBoostingRegressor(**FEW_ROUNDS).fit(X, y)
    save(model, tmp_path / "model")
    new = X.assign(city=X["city"].replace("c03", "other"))
    copies = [load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for other in copies:
        np.testing.assert_array_equal(other.predict(new), model.predict(new))
        np.testing.assert_array_equal(other.feature_importances_, model.feature_importances_)
        assert other.schema_ == model.schema_


VALUES = np.zeros((42, 1))


@pytest.mark.parametrize(
    "broken",
    [
        TargetStatistics((0,), [VALUES], ("a",)),  # a number
        TargetStatistics((7,), [VALUES], ("a",)),
        TargetStatistics((-2,), [VALUES], ("a",)),
        TargetStatistics((1,), [VALUES[:-1]], ("a",)),
        TargetStatistics((1,), [VALUES + np.nan], ("a",)),
        TargetStatistics((1,), [VALUES.astype(np.float32)], ("a",)),
        TargetStatistics((1,), [VALUES[:, 0]], ("a",)),
        TargetStatistics((1,), [VALUES], ("a", "b")),
        TargetStatistics((1,), [np.zeros((42, 2))], ("a", "b")),
        TargetStatistics((1, 1), [VALUES, VALUES], ("a",)),
        TargetStatistics((1,), [], ("a",)),
        TargetStatistics((1,), [VALUES], ()),
        TargetStatistics((1.0,), [VALUES], ("a",)),
        TargetStatistics(1, [VALUES], ("a",)),
        "statistics",
    ],
    ids=repr,
)
def test_statistics_that_do_not_fit_are_refused(rng, broken):
    X, y = city_table(rng)
    model = GradientBoostingRegressor(**FEW_ROUNDS).fit(X, y)
    assert len(model._sum.statistics.values[0]) == len(VALUES)
    object.__setattr__(model._sum, "statistics", broken)
    header, arrays = _codec.encode(model)
    with pytest.raises(ValueError, match="not valid"):
        _codec.decode(header, arrays)


def test_a_fit_that_fails_leaves_the_model_as_it_was(rng):
    X, y = city_table(rng)
    model = GradientBoostingRegressor(**FEW_ROUNDS).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="eval_set"):
        model.fit(X.head(100), y[:100], eval_set=(X, np.column_stack([y, y])))
    np.testing.assert_array_equal(model.predict(X), before)
