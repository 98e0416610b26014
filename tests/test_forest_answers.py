"""What forests tell besides predictions: intervals, sets, importances, proximities, variances."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse

from committee.evaluation.conformal import conformal_quantile, jackknife_plus, label_scores
from committee.evaluation.importance import Importances, debiased_decreases, group_numbers, one_hot
from committee.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from committee.forests.leaf_weights import LeafMembers, leaf_matrix, quantiles_of_rows
from committee.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from committee.forests.variance import ErrorTally, between_and_within
from committee.theory import average_variance
from committee.trees.tree_view import TreeView


def noisy_sine(rng, n_rows):
    """The noise grows with the first feature."""
    X = rng.uniform(0, 10, size=(n_rows, 3))
    return X, np.sin(X[:, 0]) + (0.1 + 0.1 * X[:, 0]) * rng.normal(size=n_rows)


def four_classes(rng, n_rows):
    X = rng.uniform(0, 10, size=(n_rows, 3))
    likely = 1 / (1 + np.exp(5 - 3 * np.sin(X[:, 0]) - X[:, 1]))
    codes = (rng.uniform(size=n_rows) < likely).astype(int) + 2 * (X[:, 2] > 8)
    return X, np.array(["ant", "bee", "cat", "dog"])[codes]


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(1)
    X, y = noisy_sine(rng, 600)
    model = RandomForestRegressor(60, min_samples_leaf=5, uncertainty=True, random_state=0)
    return model.fit(X, y), X, y, *noisy_sine(rng, 2000)


@pytest.fixture(scope="module")
def classification():
    rng = np.random.default_rng(1)
    X, y = four_classes(rng, 600)
    model = RandomForestClassifier(60, uncertainty=True, random_state=0).fit(X, y)
    return model, X, y, *four_classes(rng, 2000)


def allowed_error(coverage, n_known, n_new):
    """Three standard errors of a coverage: of the limit, found on some rows, and of the check."""
    return 3 * np.sqrt(coverage * (1 - coverage) * (1 / n_known + 1 / n_new))


# --- intervals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["jackknife+", "oob", "quantile"])
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_hold_as_many_new_targets_as_they_promise(regression, method, coverage):
    model, X, _, X_new, y_new = regression
    bounds = model.predict_interval(X_new, coverage, method=method)
    assert bounds.shape == (len(X_new), 2)
    assert (bounds[:, 0] <= bounds[:, 1]).all()
    held = ((bounds[:, 0] <= y_new) & (y_new <= bounds[:, 1])).mean()
    assert held == pytest.approx(coverage, abs=allowed_error(coverage, len(X), len(X_new)))


def test_intervals_from_quantiles_are_wide_where_the_noise_is(regression):
    model, _, _, X_new, y_new = regression
    quiet, loud = X_new[:, 0] < 2, X_new[:, 0] > 8
    widths, held = {}, {}
    for method in ("oob", "quantile"):
        bounds = model.predict_interval(X_new, 0.9, method=method)
        widths[method] = np.diff(bounds, axis=1)[:, 0]
        held[method] = (bounds[:, 0] <= y_new) & (y_new <= bounds[:, 1])
    assert widths["quantile"][loud].mean() > 2 * widths["quantile"][quiet].mean()
    assert np.ptp(widths["oob"]) < 1e-12
    assert held["quantile"][loud].mean() > held["oob"][loud].mean() + 0.05


def test_jackknife_plus_is_the_rule_of_its_paper(rng):
    n_rows, n_trees, coverage = 49, 12, 0.9
    each = rng.normal(size=(5, n_trees))
    is_out = rng.uniform(size=(n_rows, n_trees)) < 0.4
    is_out[:, 0] |= ~is_out.any(axis=1)
    errors = rng.exponential(size=n_rows)
    low, high = jackknife_plus(each, is_out, errors, coverage)
    for row in range(5):
        centres = [each[row, out].mean() for out in is_out]
        tops = sorted(c + r for c, r in zip(centres, errors, strict=True))
        bottoms = sorted(c - r for c, r in zip(centres, errors, strict=True))
        assert high[row] == pytest.approx(tops[45 - 1])  # ceil(0.9 * 50)
        assert low[row] == pytest.approx(bottoms[5 - 1])  # floor(0.1 * 50)


def test_jackknife_plus_does_not_depend_on_the_size_of_its_blocks(rng, monkeypatch):
    each, is_out = rng.normal(size=(40, 8)), np.ones((30, 8), bool)
    errors = rng.exponential(size=30)
    whole = jackknife_plus(each, is_out, errors, 0.8)
    monkeypatch.setattr("committee.evaluation.conformal._CELLS", 100)
    np.testing.assert_allclose(jackknife_plus(each, is_out, errors, 0.8), whole)


def test_too_few_rows_for_a_coverage_give_infinite_bounds():
    assert conformal_quantile(np.arange(8.0), 0.9) == np.inf
    assert conformal_quantile(np.arange(9.0), 0.9) == 8.0
    X = np.arange(8.0).reshape(-1, 1)
    model = RandomForestRegressor(40, uncertainty=True, random_state=0).fit(X, X[:, 0])
    assert np.isinf(model.predict_interval(X, 0.99)).all()


def test_fewer_calibration_rows_change_intervals_little(regression):
    model, _, _, X_new, y_new = regression
    bounds = model.predict_interval(X_new, max_rows=150)
    held = ((bounds[:, 0] <= y_new) & (y_new <= bounds[:, 1])).mean()
    assert held == pytest.approx(0.9, abs=allowed_error(0.9, 150, 2000))
    np.testing.assert_array_equal(bounds, model.predict_interval(X_new, max_rows=150))


def test_several_outputs_have_intervals_of_their_own(regression):
    _, X, y, X_new, _ = regression
    both = np.column_stack([y, 10 * y])
    model = RandomForestRegressor(30, uncertainty=True, min_samples_leaf=5, random_state=0)
    model.fit(X, both)
    for method in ("jackknife+", "oob", "quantile"):
        bounds = model.predict_interval(X_new, method=method)
        assert bounds.shape == (len(X_new), 2, 2)
        np.testing.assert_allclose(bounds[:, 1], 10 * bounds[:, 0], rtol=1e-9, atol=1e-9)
    assert model.predict_quantiles(X_new).shape == (len(X_new), 2, 3)
    assert model.predict_std(X_new).shape == (len(X_new), 2)


# --- importances with weights --------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_halves():
    """Four classes: feature a decides on the first half of the rows only, b on the others."""
    rng = np.random.default_rng(5)
    X = np.column_stack([np.arange(400) >= 200, rng.normal(size=(400, 2))]).astype(float)
    second = X[:, 0] == 1
    y = 2 * second + np.where(second, X[:, 2] > 0, X[:, 1] > 0)
    model = RandomForestClassifier(12, max_features=None, random_state=0).fit(X, y)
    return model, X, y, second


@pytest.mark.parametrize("loss", ["error", "brier", "debiased"])
def test_rows_without_weight_make_no_feature_important(two_halves, loss):
    model, X, y, second = two_halves

    def found(weights):
        if loss == "debiased":
            return model.debiased_importance(X, y, sample_weight=weights).importances_mean
        return model.permutation_importance(X, y, loss=loss, sample_weight=weights).importances_mean

    whole = found(None)
    assert (whole > 0.05).all()
    first_only, second_only = found((~second).astype(float)), found(second.astype(float))
    # Trees hardly ask for it on these rows, and for the other one twice as often.
    assert abs(first_only[2]) < 0.05 * whole[2]
    assert abs(second_only[1]) < 0.05 * whole[1]
    assert first_only[1] > 1.5 * whole[1]
    assert second_only[2] > 1.5 * whole[2]
    np.testing.assert_allclose(found(np.full(400, 3.0)), whole, rtol=1e-12)


def test_debiased_importances_are_weighted_covariances(rng):
    """By definition: what the children of each split predict, and what their other rows are."""
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.3 * rng.normal(size=80)
    weights = rng.uniform(0, 2, 80)
    weights[::7] = 0.0
    model = RandomForestRegressor(4, max_depth=3, random_state=0).fit(X, y)
    found = model.debiased_importance(X, y, sample_weight=weights).importances
    for number, tree in enumerate(model.estimators_):
        view, value = tree.tree_, tree.tree_.value[:, 0, 0]
        unseen = model._sampler().counts(number) == 0
        paths = model.estimators_[number].decision_path(X).toarray().astype(bool) & unseen[:, None]
        expected = np.zeros(3)
        for node in np.flatnonzero(view.children_left >= 0):
            here = paths[:, node]
            if not weights[here].any():
                continue
            mean = np.average(y[here], weights=weights[here])
            for child in (view.children_left[node], view.children_right[node]):
                rows = paths[:, child]
                part = (weights[rows] * (y[rows] - mean)).sum() * (value[child] - value[node])
                expected[view.feature[node]] += part / weights[unseen].sum()
        np.testing.assert_allclose(found[:, number], expected, rtol=1e-9, atol=1e-12)


# --- quantiles and spread -----------------------------------------------------------------------


def forest_weights(model, X, X_new):
    """Weights of the training rows by definition: a loop over rows and trees."""
    new_leaves, leaves = model.apply(X_new), model.apply(X)
    weights = np.zeros((len(X_new), len(X)))
    for tree in range(leaves.shape[1]):
        counts = model._sampler().counts(tree)
        for row, leaf in enumerate(new_leaves[:, tree]):
            inside = counts * (leaves[:, tree] == leaf)
            weights[row] += inside / inside.sum()
    return weights / leaves.shape[1]


def test_quantiles_weight_training_rows_as_the_prediction_does(regression):
    model, X, y, X_new, _ = regression
    X_new = X_new[:20]
    weights = forest_weights(model, X, X_new)
    np.testing.assert_allclose(weights @ y, model.predict(X_new))
    order = np.argsort(y)
    below = np.cumsum(weights[:, order], axis=1)
    wanted = (0.1, 0.33, 0.5, 0.97)
    found = model.predict_quantiles(X_new, wanted)
    for column, quantile in enumerate(wanted):
        first = (below >= quantile - 1e-9).argmax(axis=1)
        np.testing.assert_array_equal(found[:, column], y[order][first])
    np.testing.assert_array_equal(model.predict_quantiles(X_new, 0.5), found[:, 2])
    assert (np.diff(found, axis=1) >= 0).all()


def test_sparse_weights_give_the_quantiles_of_the_engine(regression):
    model, X, y, X_new, _ = regression
    leaves = model._forest.apply(model._read(X), leaf_numbers=True)
    first = model._first_leaves()
    members = LeafMembers.find(leaves, first, model._sampler().counts)
    reached = leaf_matrix(model._forest.apply(model._read(X_new), leaf_numbers=True), first)
    quantiles = np.array([0.05, 0.5, 0.95])
    found = quantiles_of_rows(reached, members.shares(len(X), None), y, quantiles)
    np.testing.assert_array_equal(found, model.predict_quantiles(X_new, quantiles))


def test_the_variance_of_the_target_is_that_of_the_weighted_rows(regression):
    model, X, y, X_new, _ = regression
    X_new = X_new[:20]
    weights = forest_weights(model, X, X_new)
    variance = weights @ y**2 - (weights @ y) ** 2
    np.testing.assert_allclose(model.predict_std(X_new) ** 2, variance)
    trees = np.column_stack([tree.predict(X_new) for tree in model.estimators_])
    np.testing.assert_allclose(model.predict_std(X_new, of="trees"), trees.std(axis=1))


def test_the_spread_needs_no_memory_where_leaves_know_their_variance(regression):
    model, X, y, X_new, _ = regression
    plain = RandomForestRegressor(60, min_samples_leaf=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(plain.predict_std(X_new), model.predict_std(X_new))
    median = RandomForestRegressor(5, criterion="absolute_error", random_state=0).fit(X, y)
    assert median.predict_std(X_new, of="trees").shape == (len(X_new),)
    with pytest.raises(ValueError, match=r"criterion='absolute_error'.* uncertainty=True"):
        median.predict_std(X_new)


def test_weights_without_bootstrap_count_in_quantiles(rng):
    X, y = np.zeros((4, 1)), np.array([1.0, 2.0, 3.0, 4.0])
    model = ExtraTreesRegressor(3, uncertainty=True).fit(X, y, sample_weight=[1, 1, 1, 7])
    assert model.predict_quantiles([[0.0]], [0.1, 0.3, 0.31]).tolist() == [[1.0, 3.0, 4.0]]


# --- sets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lac", "aps"])
@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_hold_as_many_true_classes_as_they_promise(classification, method, coverage):
    model, X, _, X_new, y_new = classification
    sets = model.predict_set(X_new, coverage, method=method, allow_empty=True)
    held = sets[np.arange(len(sets)), np.searchsorted(model.classes_, y_new)].mean()
    assert held > coverage - allowed_error(coverage, len(X), len(X_new))
    # Out-of-bag probabilities come from a third of the trees: sets are a little too large.
    assert held < coverage + allowed_error(coverage, len(X), len(X_new)) + 0.03
    filled = model.predict_set(X_new, coverage, method=method)
    assert filled.any(axis=1).all()
    assert (filled >= sets).all()


def test_sets_by_class_cover_each_class(classification):
    model, _, y, X_new, y_new = classification
    for method in ("lac", "aps"):
        sets = model.predict_set(X_new, 0.9, method=method, by_class=True)
        for code, label in enumerate(model.classes_):
            rows = y_new == label
            slack = allowed_error(0.9, (y == label).sum(), rows.sum())
            assert sets[rows, code].mean() > 0.9 - slack


def test_scores_of_classes_are_those_of_the_papers():
    shares = np.array([[0.1, 0.6, 0.3]])
    np.testing.assert_allclose(label_scores(shares, "lac", np.zeros(1)), [[0.9, 0.4, 0.7]])
    np.testing.assert_allclose(label_scores(shares, "aps", np.ones(1)), [[1.0, 0.6, 0.9]])
    np.testing.assert_allclose(label_scores(shares, "aps", np.zeros(1)), [[0.9, 0.0, 0.6]])


# --- importances --------------------------------------------------------------------------------


def test_permutation_importance_finds_the_signal_and_only_the_signal(rng):
    X = rng.normal(size=(400, 5))
    y = 3 * X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=400)
    model = RandomForestRegressor(60, max_features=None, random_state=0).fit(X, y)
    found = model.permutation_importance(X, y)
    assert found.importances.shape == (5, 60)
    mean, spread = found.importances_mean, found.importances_std
    assert found.ranking()[:2] == ["x0", "x1"]
    assert (np.abs(mean[2:]) < 0.02 * mean[0]).all()
    np.testing.assert_allclose(found.score, mean / spread)
    np.testing.assert_allclose(found.standard_error, spread / np.sqrt(60))
    # The loss of permuting doubles the variance that the feature explains.
    assert mean[0] == pytest.approx(2 * 9, rel=0.35)


def test_groups_show_what_copies_hide(rng):
    signal = rng.normal(size=(400, 1))
    X = np.column_stack([signal, signal, rng.normal(size=(400, 2))])
    y = (signal[:, 0] > 0).astype(int)
    model = RandomForestClassifier(60, random_state=0).fit(X, y)
    alone = model.permutation_importance(X, y).importances_mean
    groups = {"copies": [0, 1], "noise": [2, 3]}
    together = model.permutation_importance(X, y, groups=groups)
    assert together.feature_names == ("copies", "noise")
    assert together.importances_mean[0] > 1.3 * max(alone[:2])
    assert together.importances_mean[0] == pytest.approx(0.5, abs=0.1)
    assert model.permutation_importance(X, y, groups=[[0, 1]]).feature_names == ("x0+x1",)


def test_a_feature_that_no_tree_uses_has_no_importance_at_all(rng):
    X = np.column_stack([rng.normal(size=200), np.zeros(200)])
    y = (X[:, 0] > 0).astype(int)
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    assert (model.permutation_importance(X, y).importances[1] == 0).all()
    assert (model.debiased_importance(X, y).importances[1] == 0).all()


def test_repeats_threads_and_seeds_of_permutations(rng):
    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + 0.5 * rng.normal(size=150) > 0).astype(int)
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    first = model.permutation_importance(X, y, n_jobs=1).importances
    np.testing.assert_array_equal(first, model.permutation_importance(X, y, n_jobs=2).importances)
    other = model.permutation_importance(X, y, random_state=1).importances
    assert (first != other).any()
    repeated = model.permutation_importance(X, y, n_repeats=20).importances_std
    assert repeated[0] < model.permutation_importance(X, y).importances_std[0]
    brier = model.permutation_importance(X, y, loss="brier")
    assert "Brier" in brier.kind


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_on_its_own_rows_the_debiased_importance_is_the_decrease_of_impurity(rng, forest):
    X = rng.normal(size=(300, 4))
    y = np.round(2 * X[:, 0] + X[:, 1] + rng.normal(size=300))
    model = forest(5, min_samples_leaf=3, random_state=0).fit(X, y)
    labels = model._class_labels()
    n_classes = None if labels is None else [len(labels[0])]
    targets = model._values_of(y, 300) if n_classes else y[:, None]
    expected = model._forest.impurity_decreases()
    for tree in range(5):
        view = TreeView(model._forest.tree(tree), model.schema_, labels)
        counts = model._sampler().counts(tree).astype(float)
        leaves = model.apply(X)[:, tree]
        found = debiased_decreases(view, leaves, targets, counts, 1)
        np.testing.assert_allclose(found, expected[tree], rtol=1e-9, atol=1e-12)


def test_noise_with_many_values_is_not_important_after_all():
    means, plain = [], []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        signal = rng.integers(0, 2, size=(150, 2))
        noise = np.column_stack([rng.integers(0, 3, 150), rng.integers(0, 20, 150)])
        X = np.column_stack([signal, noise, rng.normal(size=150)])
        y = (rng.uniform(size=150) < 0.2 + 0.5 * signal[:, 0] + 0.2 * signal[:, 1]).astype(int)
        model = RandomForestClassifier(40, random_state=seed).fit(X, y)
        means.append(model.debiased_importance(X, y).importances_mean)
        plain.append(model.feature_importances_)
    mean, error = np.mean(means, axis=0), np.std(means, axis=0) / np.sqrt(50)
    assert np.argmax(np.mean(plain, axis=0)) == 4  # noise wins by impurity
    assert mean[0] > mean[1] > 3 * np.abs(mean[2:]).max()
    assert (np.abs(mean[2:]) < 3.5 * error[2:]).all()


def test_levels_of_a_fan_out_are_judged_too(rng):
    colour = rng.choice(["red", "green", "blue"], 300)
    frame = pd.DataFrame({"colour": colour, "noise": rng.normal(size=300)})
    y = np.array([{"red": 0, "green": 1, "blue": 2}[each] for each in colour])
    model = RandomForestClassifier(20, category_split="fanout", random_state=0).fit(frame, y)
    found = model.debiased_importance(frame, y)
    assert found.ranking() == ["colour", "noise"]
    assert found.importances_mean.sum() == pytest.approx(2 / 3, abs=0.1)  # all impurity is gone


def test_importances_read_well():
    found = Importances(np.array([[1.0, 3.0, np.nan], [0.5, 0.5, np.nan]]), ("a", "b"), "gain")
    assert found.importances_mean.tolist() == [2.0, 0.5]
    assert found.importances_std.tolist() == [1.0, 0.0]
    assert found.score.tolist() == [2.0, np.inf]
    assert list(found.to_frame().index) == ["a", "b"]
    assert "a" in repr(found)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ("a", TypeError, "groups must be None, a list of lists"),
        ([["a", "b"], ["a"]], ValueError, "groups holds feature 'a' twice"),
        ([["c"]], ValueError, "it holds 'c'"),
        ([[2]], ValueError, "it holds 2"),
        ([[]], ValueError, "group 0 is empty"),
        ([], ValueError, "at least one group"),
    ],
)
def test_wrong_groups_are_named(groups, error, message):
    with pytest.raises(error, match=message):
        group_numbers(groups, 2, ("a", "b"))


# --- proximities --------------------------------------------------------------------------------


def test_proximity_is_the_share_of_common_leaves(classification):
    model, X, _, X_new, _ = classification
    left, right = model.apply(X[:30]), model.apply(X_new[:40])
    expected = (left[:, None] == right[None]).mean(axis=2)
    np.testing.assert_allclose(model.proximity(X[:30], X_new[:40]), expected)
    own = model.proximity(X[:30])
    np.testing.assert_allclose(own, own.T)
    assert (np.diag(own) == 1).all()


def test_out_of_bag_proximity_counts_trees_that_drew_neither_row(classification):
    model, X, _, _, _ = classification
    leaves = model.apply(X)
    is_out = np.column_stack([model._sampler().counts(tree) == 0 for tree in range(60)])
    found = model.proximity(X, out_of_bag=True)
    for a, b in [(0, 1), (5, 77), (300, 20)]:
        both = is_out[a] & is_out[b]
        assert found[a, b] == pytest.approx((leaves[a] == leaves[b])[both].mean())


def test_the_nearest_rows_are_kept(classification, monkeypatch):
    model, X, _, X_new, _ = classification
    full = model.proximity(X_new[:50], X)
    for cells in (2**22, 2000):
        monkeypatch.setattr("committee.forests.proximity._CELLS", cells)
        nearest = model.proximity(X_new[:50], X, top_k=5)
        assert issparse(nearest)
        assert (np.diff(nearest.indptr) <= 5).all()
        np.testing.assert_allclose(
            np.sort(nearest.toarray(), axis=1)[:, -5:], np.sort(full, axis=1)[:, -5:]
        )


def test_an_embedding_has_one_leaf_a_tree(classification):
    model, _, _, X_new, _ = classification
    leaves = model.embed(X_new)
    assert leaves.shape == (len(X_new), model._forest.leaf_counts().sum())
    assert (leaves.sum(axis=1) == 60).all()


# --- variances ----------------------------------------------------------------------------------


def test_the_formula_of_the_lecture_gives_its_numbers():
    assert average_variance(0.3, 1.0, 10) == pytest.approx(0.37)
    assert average_variance(0.3, 1.0, 100) == pytest.approx(0.307)


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
def test_correlated_trees_show_their_correlation(rng, rho):
    n_sets, n_rows, n_trees = 400, 50, 10
    shared = rng.normal(size=(n_sets, n_rows, 1, 1))
    own = rng.normal(size=(n_sets, n_rows, n_trees, 1))
    trees = np.sqrt(rho) * shared + np.sqrt(1 - rho) * own
    between, within = between_and_within(trees)
    assert between + within == pytest.approx(1.0, abs=0.05)
    assert between / (between + within) == pytest.approx(rho, abs=0.03)
    for n_used in (2, 5, 10):
        observed = trees[:, :, :n_used].mean(axis=2).var(axis=0, ddof=1).mean()
        assert observed == pytest.approx(average_variance(rho, 1.0, n_used), abs=0.05)


def test_one_table_tells_the_variance_over_many_tables():
    rng = np.random.default_rng(0)
    fresh = noisy_sine(rng, 300)[0]
    small = [
        RandomForestRegressor(10, random_state=seed).fit(*noisy_sine(rng, 240))
        for seed in range(60)
    ]
    observed = np.stack([model.predict(fresh) for model in small]).var(axis=0, ddof=1).mean()
    each = np.stack([model._forest.predict_each(model._read(fresh)) for model in small])
    between, within = between_and_within(each)
    X, y = noisy_sine(rng, 600)  # of which a part has 240 rows
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    found = model.variance_decomposition(X, y, n_splits=15)
    assert found.at(10) == pytest.approx(observed, rel=0.15)
    assert found.rho == pytest.approx(between / (between + within), abs=0.05)
    assert found.measured == pytest.approx(found.at(found.n_measured))
    assert found.limit < found.forest_variance < found.tree_variance


def test_clones_are_fully_correlated(rng):
    X = rng.normal(size=(200, 1))  # of several columns, trees would break ties in their own ways
    y = X[:, 0] + rng.normal(size=200)
    clones = RandomForestRegressor(5, bootstrap=False, max_features=None, random_state=0).fit(X, y)
    found = clones.variance_decomposition(X, y)
    assert found.rho == pytest.approx(1.0)
    assert found.forest_variance == pytest.approx(found.tree_variance)


def test_drawing_features_lowers_the_correlation(rng):
    X = rng.normal(size=(500, 6))
    y = X.sum(axis=1) + 0.5 * rng.normal(size=500)
    rho = [
        RandomForestRegressor(20, max_features=m, random_state=0)
        .fit(X, y)
        .variance_decomposition(X, y)
        .rho
        for m in (1, 6)
    ]
    assert rho[0] < rho[1]


def test_errors_are_decomposed_without_growing_trees(classification):
    model, X, y, _, _ = classification
    found = model.variance_decomposition(X, y, of="errors")
    truth = one_hot(np.searchsorted(model.classes_, y)[:, None], [4])
    alone = []
    for tree, member in enumerate(model.estimators_):
        rows = model._sampler().counts(tree) == 0
        alone.append(((member.predict_proba(X[rows]) - truth[rows]) ** 2).sum(axis=1).mean())
    assert found.tree_variance == pytest.approx(np.mean(alone), rel=0.02)
    together = ((model._train.oob_values - truth) ** 2).sum(axis=1).mean()
    assert found.measured == pytest.approx(together)
    assert found.at(found.n_measured) == pytest.approx(together, rel=0.03)
    assert "squared error" in repr(found)


def test_few_trees_foretell_the_error_of_many(rng):
    errors = rng.normal(size=(300, 1)) + rng.normal(size=(300, 200))
    tally = ErrorTally(300, 1)
    for tree in range(20):
        tally.add(errors[:, [tree]], np.ones(300, bool))
    expected = (errors.mean(axis=1) ** 2).mean()
    assert tally.row_errors(200).mean() == pytest.approx(expected, rel=0.1)
    assert (errors[:, :20].mean(axis=1) ** 2).mean() > 1.02 * tally.row_errors(200).mean()


def test_a_class_missing_from_a_part_has_probability_zero(rng):
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    y[0] = "rare"
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert np.isfinite(model.variance_decomposition(X, y, n_trees=3).rho)


# --- errors -------------------------------------------------------------------------------------


def test_what_needs_memory_says_so(rng):
    X, y = noisy_sine(rng, 30)
    plain = RandomForestRegressor(5, random_state=0).fit(X, y)
    for ask in (plain.predict_quantiles, plain.predict_interval):
        with pytest.raises(ValueError, match="fit with uncertainty=True"):
            ask(X)
    classes = RandomForestClassifier(5, random_state=0).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"predict_set needs .*fit with uncertainty=True"):
        classes.predict_set(X)


def test_what_needs_out_of_bag_rows_says_so(rng):
    X, y = four_classes(rng, 60)
    model = ExtraTreesClassifier(5, uncertainty=True, random_state=0).fit(X, y)
    for ask in (
        lambda: model.permutation_importance(X, y),
        lambda: model.debiased_importance(X, y),
        lambda: model.proximity(X, out_of_bag=True),
        lambda: model.variance_decomposition(X, y, of="errors"),
        lambda: model.predict_set(X),
    ):
        with pytest.raises(ValueError, match=r"needs out-of-bag rows.* fit with bootstrap=True"):
            ask()


def test_regressors_have_no_sets_and_classifiers_no_intervals():
    assert not hasattr(RandomForestRegressor(), "predict_set")
    assert not hasattr(RandomForestClassifier(), "predict_interval")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m, X, y: m.predict_interval(X, 1.0), r"coverage must be a number in \(0, 1\)"),
        (lambda m, X, y: m.predict_interval(X, method="best"), "method must be"),
        (
            lambda m, X, y: m.predict_quantiles(X, [0.5, 1.5]),
            r"quantiles must be numbers in \[0, 1",
        ),
        (lambda m, X, y: m.predict_std(X, of="mean"), 'of must be "target" or "trees"'),
        (lambda m, X, y: m.permutation_importance(X[:9], y[:9]), "whose 600 rows .* got 9 rows"),
        (lambda m, X, y: m.permutation_importance(X, y, loss="error"), "loss must be"),
        (lambda m, X, y: m.permutation_importance(X, y[:9]), "inconsistent"),
        (lambda m, X, y: m.debiased_importance(X, np.column_stack([y, y])), "1 outputs"),
        (lambda m, X, y: m.proximity(X, X, out_of_bag=True), "Y must be None"),
        (lambda m, X, y: m.proximity(X, top_k=0), "top_k must be an int >= 1"),
        (lambda m, X, y: m.variance_decomposition(X, y, n_trees=1), "n_trees must be an int >= 2"),
    ],
)
def test_wrong_questions_are_answered_in_plain_words(regression, ask, message):
    model, X, y, _, _ = regression
    with pytest.raises(ValueError, match=message):
        ask(model, X, y)


def test_labels_of_another_fit_are_refused(classification):
    model, X, y, _, _ = classification
    with pytest.raises(ValueError, match="y must hold classes of the fit; it holds 'eel'"):
        model.permutation_importance(X, np.where(y == "dog", "eel", y))
