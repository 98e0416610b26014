"""What ID3 and C4.5 promise: weights, threads, shares, intervals, messages, pictures, rules."""

import itertools
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from reference_quinlan import pessimistic_errors as naive_errors
from scipy.stats import beta
from sklearn.base import clone
from test_quinlan_oracle import as_frame, random_table

from committee import (
    C45Classifier,
    ID3Classifier,
    _core,
    export_rules,
    export_text,
    plot_tree,
)
from committee.trees.quinlan.pessimistic import pessimistic_errors

MODELS = [
    ID3Classifier(),
    C45Classifier(),
    C45Classifier(category_split="grouped", subtree_raising=False),
    C45Classifier(criterion="gain", pruning=None, min_samples_leaf=1, split_finding="hist"),
]


def arrays(model):
    return {name: array.tolist() for name, array in model._tree.arrays().items()}


def mixed(rng, n_rows=120, missing=0.1, noise=0.2):
    columns, y = random_table(rng, n_rows, missing=missing, noise=noise)
    return as_frame(columns), np.array(y)


# --- weights and threads ------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_row_of_weight_two_is_that_row_twice_and_weight_zero_is_absent(model, rng):
    X, y = mixed(rng)
    weights = rng.integers(0, 4, len(y))
    weighted = model.fit(X, y, weights)
    new, _ = mixed(rng, 80)
    predicted = weighted.predict_proba(new)
    shape = weighted.tree_.feature.tolist(), weighted.tree_.n_node_samples.tolist()
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = model.fit(X.iloc[rows], y[rows])
    assert shape == (repeated.tree_.feature.tolist(), repeated.tree_.n_node_samples.tolist())
    np.testing.assert_allclose(predicted, repeated.predict_proba(new), atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_weights_times_a_power_of_two_change_nothing_but_the_weights(model, rng):
    X, y = mixed(rng)
    weights = rng.uniform(0.1, 3, len(y))
    light, heavy = (arrays(model.fit(X, y, weights * factor)) for factor in (1.0, 2.0**-7))
    np.testing.assert_allclose(np.array(light.pop("weight")) / 2**7, heavy.pop("weight"))
    assert light == heavy


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_tree_has_the_same_bits_for_any_number_of_threads(model, rng):
    X, y = mixed(rng, 3000)  # 15,000 cells: tiled to have nodes that are searched side by side
    X, y = pd.concat([X] * 8, ignore_index=True), np.tile(y, 8)
    y = np.where(rng.random(len(y)) < 0.05, "c0", y)
    one, three = (arrays(model.set_params(n_jobs=n).fit(X, y)) for n in (1, 3))
    model.set_params(n_jobs=None)
    assert one == three
    assert len(one["n_rows"]) > 100


def test_a_table_of_codes_and_a_sorted_node_count_the_same(rng):
    """Small nodes of long columns are sorted, others are counted in a table."""
    n_rows = 400
    few = rng.integers(0, 6, n_rows)
    y = rng.integers(0, 3, n_rows)
    far = few * 1000  # the same levels among many others, of rows of weight zero
    names = [f"c{code:05d}" for code in range(6000)]
    X = pd.DataFrame({"x": [names[code] for code in far] + names})
    weights = np.r_[np.ones(n_rows), np.zeros(len(names))]
    long = C45Classifier(min_samples_leaf=1).explain_growth(X, np.r_[y, [0] * 6000], weights)
    short = C45Classifier(min_samples_leaf=1).explain_growth(X[:n_rows], y)
    for a, b in zip(long[0].candidates, short[0].candidates, strict=True):
        assert (a.gain, a.split_information, a.entropy) == (b.gain, b.split_information, b.entropy)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_weight_that_is_nothing_beside_the_others_is_absent(model, rng):
    """Brought to a mean of one it would be zero, and its level without a branch: a crash."""
    X, y = mixed(rng, 100)
    X.loc[60:, "x0"] = "rare"
    weights = np.r_[np.full(60, 1.5e300), np.full(40, 1e-300)]
    light = model.fit(X, y, weights)
    predicted, rules = light.predict_proba(X), str(light.extract_rules(X, y, weights))
    weights[60:] = 0.0
    model.fit(X, y, weights)
    np.testing.assert_array_equal(predicted, model.predict_proba(X))
    assert rules == str(model.extract_rules(X, y, weights))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_weights_too_small_to_be_counted_are_refused(model, rng):
    X, y = mixed(rng, 20)
    with pytest.raises(ValueError, match="sum of sample_weight is too small"):
        model.fit(X, y, np.full(20, 5e-324))
    small = model.fit(X, y, np.full(20, 1e-280)).predict_proba(X)
    np.testing.assert_allclose(small, model.fit(X, y).predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("weights", [[5e-324, 1.5], [1e-300, 1.5], [1e-12, 1e12]])
def test_weights_at_the_ends_of_float64_give_shares(model, weights, rng):
    model = clone(model).set_params(n_jobs=1)
    for _ in range(10):
        X = pd.DataFrame(
            {
                "a": rng.choice(["p", "q", None], 60),
                "b": [f"l{code}" for code in rng.integers(0, 30, 60)],
                "c": rng.choice(["r", "s", None], 60),
            }
        )
        model.fit(X, rng.integers(0, 2, 60), rng.choice(weights, 60))
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# --- shares -------------------------------------------------------------------------------------


def test_weights_of_children_sum_to_that_of_their_parent(rng):
    X, y = mixed(rng, 200, missing=0.3)
    view = C45Classifier(pruning=None).fit(X, y, rng.uniform(0.5, 2, 200)).tree_
    for node in range(view.node_count):
        if view.children(node):
            below = view.weighted_n_node_samples[list(view.children(node))].sum()
            assert below == pytest.approx(view.weighted_n_node_samples[node])


def test_the_shares_of_training_rows_give_the_weights_of_the_leaves(rng):
    X, y = mixed(rng, 200, missing=0.3)
    model = C45Classifier(pruning=None).fit(X, y)
    shares = model.decision_path(X)
    np.testing.assert_allclose(shares.sum(axis=0).A1, model.tree_.weighted_n_node_samples)
    leaves = [node for node in range(model.tree_.node_count) if not model.tree_.children(node)]
    np.testing.assert_allclose(shares[:, leaves].sum(axis=1).A1, 1.0)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    # The end with the largest share of a row is what `apply` returns.
    largest = np.array(leaves)[shares[:, leaves].toarray().argmax(axis=1)]
    np.testing.assert_array_equal(model.apply(X), largest)
    np.testing.assert_array_equal(model.tree_.apply(X), largest)


def test_a_row_without_any_value_gets_the_classes_of_all_rows(rng):
    X, y = mixed(rng, 150, missing=0.0)
    model = C45Classifier(pruning=None).fit(X, y)
    nothing = pd.DataFrame({name: [None] for name in X}).astype(X.dtypes.to_dict())
    shares = [np.mean(y == label) for label in model.classes_]
    np.testing.assert_allclose(model.predict_proba(nothing)[0], shares, atol=1e-12)


def test_a_level_without_a_branch_is_answered_by_its_node():
    X = [["a", "u"], ["a", "v"], ["a", "w"], ["b", "u"], ["b", "u"], ["b", "w"], ["b", "w"]] * 2
    y = [0, 0, 0, 1, 1, 2, 2] * 2
    model = C45Classifier().fit(X, y)
    # In the branch of "b" nobody has "v", and "x" is not known at all.
    for level in ("v", "x"):
        assert model.predict_proba([["b", level]])[0].tolist() == [0.0, 0.5, 0.5]
        assert model.apply([["b", level]]).tolist() == [2]


# --- numbers ------------------------------------------------------------------------------------


def naive_cuts(values, classes):
    """Fayyad and Irani's cuts by their formula, recursively."""

    def bits(labels):
        _, counts = np.unique(labels, return_counts=True)
        shares = counts / counts.sum()
        return -(shares * np.log2(shares)).sum(), len(counts)

    distinct = np.unique(values)
    if len(distinct) < 2:
        return []
    whole, k = bits(classes)
    best = None
    for low, high in itertools.pairwise(distinct):
        left = values <= low
        (a, ka), (b, kb) = bits(classes[left]), bits(classes[~left])
        after = left.mean() * a + (1 - left.mean()) * b
        if best is None or after < best[0] - 1e-10:
            best = after, (low + high) / 2, (a, ka, b, kb)
    after, cut, (a, ka, b, kb) = best
    n = len(values)
    price = (np.log2(n - 1) + np.log2(3.0**k - 2) - (k * whole - ka * a - kb * b)) / n
    if whole - after <= price:
        return []
    left = values <= cut
    below, above = (
        naive_cuts(values[left], classes[left]),
        naive_cuts(values[~left], classes[~left]),
    )
    return [*below, cut, *above]


def test_intervals_are_those_of_fayyad_and_irani(rng):
    n_cuts = 0
    for _ in range(10):
        x = rng.integers(0, 30, 300) / 4
        y = (np.digitize(x, [2, 4.5]) + (rng.random(300) < 0.1)) % 3
        table = _core.Table.from_matrix(x[:, None].copy())
        dataset = _core.BinnedDataset(table, None, [0], exact=True)
        codes = y.astype(np.int32)[:, None]
        cuts = _core.interval_cuts(dataset, 0, classes=codes, n_classes=[3])
        expected = naive_cuts(x, y)
        assert cuts.tolist() == pytest.approx(expected)
        n_cuts += len(expected)
    assert n_cuts > 10


def test_numbers_become_intervals_that_can_be_read(rng):
    x = rng.uniform(0, 10, 200)
    model = ID3Classifier().fit(pd.DataFrame({"size": x}), np.digitize(x, [3, 7]))
    text = export_text(model, decimals=1)
    assert "size <= 3" in text
    assert "size in (" in text
    assert "size > " in text
    rules = export_rules(model)
    for value in (1.0, 5.0, 9.0):
        rule = rules.match({"size": value})
        assert rule.prediction == model.predict(pd.DataFrame({"size": [value]}))[0]


def test_missing_numbers_are_a_level_of_id3(rng):
    x = np.r_[rng.uniform(0, 10, 200), np.full(50, np.nan)]
    y = np.r_[x[:200] > 5, np.ones(50, bool)]
    model = ID3Classifier().fit(x[:, None], y)
    assert model.predict([[np.nan], [1.0], [9.0]]).tolist() == [True, False, True]
    assert "x0 is missing" in export_text(model, feature_names=["x0"])
    assert export_rules(model).match([None]).n_rows == 50
    # Where training saw none, they are as unknown as a new level: the root answers.
    seen = ID3Classifier().fit(x[:200, None], y[:200])
    assert seen.predict_proba([[np.nan]])[0].tolist() == seen.tree_.value[0, 0].tolist()


def test_booleans_are_two_levels_and_are_never_refused():
    X = pd.DataFrame({"flag": [True, False, True, False]})
    model = ID3Classifier(numeric="refuse").fit(X, ["a", "b", "a", "b"])
    assert model.predict(X).tolist() == ["a", "b", "a", "b"]
    assert "flag is True" in export_text(model)


def test_numbers_are_refused_by_name():
    X = pd.DataFrame({"sky": ["a", "b"], "degrees": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"column 'degrees' holds numbers.*categorical_features"):
        ID3Classifier(numeric="refuse").fit(X, [0, 1])
    model = ID3Classifier(numeric="refuse", categorical_features=["degrees"]).fit(X, [0, 1])
    assert model.get_n_leaves() == 2


def test_dates_and_wide_integers_are_split_and_cut(rng):
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 200), unit="D")
    wide = 2**60 + rng.integers(0, 50, 200)
    X = pd.DataFrame({"day": days, "wide": wide})
    y = (X["day"] > "2024-06-01").astype(int) + 2 * (wide > 2**60 + 24)
    for model in (C45Classifier(), ID3Classifier()):
        assert model.fit(X, y).score(X, y) > 0.97
    assert "2024-0" in export_text(C45Classifier().fit(X, y))


# --- pruning ------------------------------------------------------------------------------------


def test_pessimistic_errors_are_those_of_the_naive_formula(rng):
    n = rng.uniform(0.2, 60, 300)
    errors = np.minimum(n * rng.random(300) * rng.integers(0, 2, 300), n)
    for confidence in (0.05, 0.25, 0.5):
        expected = [naive_errors(a, b, confidence) for a, b in zip(n, errors, strict=True)]
        np.testing.assert_allclose(pessimistic_errors(n, errors, confidence), expected)


def test_pessimistic_errors_are_close_to_the_exact_limit_of_the_binomial():
    for n in (10, 30, 100, 1000):
        for e in (0, 1, 3, 7):
            exact = n * beta.ppf(0.75, e + 1, n - e)
            found = pessimistic_errors(np.array([float(n)]), np.array([float(e)]), 0.25)[0]
            assert found == pytest.approx(exact, rel=0.05)


def test_smaller_confidence_prunes_more(rng):
    X, y = mixed(rng, 500)
    sizes = [C45Classifier(confidence=c).fit(X, y).get_n_leaves() for c in (0.5, 0.25, 0.05, 0.001)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_any_confidence_above_zero_is_accepted(rng):
    X, y = mixed(rng, 100)
    for confidence in (1e-17, 5e-324):
        model = C45Classifier(confidence=confidence).fit(X, y)
        assert model.get_n_leaves() == 1
        assert len(model.extract_rules(X, y, confidence=confidence)) == 0


def test_a_tree_that_is_one_long_chain_is_grown_pruned_and_read():
    n_rows = 2000
    X, y = np.arange(n_rows, dtype=float)[:, None], np.arange(n_rows) // 2 % 2
    settings = {"threshold_correction": False, "min_samples_leaf": 1}
    for model in (C45Classifier(**settings), C45Classifier(pruning=None, **settings)):
        assert model.fit(X, y).score(X, y) == 1.0
        assert model.get_depth() > 500


def test_estimates_of_a_leaf_are_told_by_explain_growth(rng):
    X, y = mixed(rng, 100)
    for node in C45Classifier().explain_growth(X, y):
        weights = list(node.class_weights.values())
        n = sum(weights)
        assert node.leaf_estimate == pytest.approx(naive_errors(n, n - max(weights)))


# --- explain_growth -----------------------------------------------------------------------------


def test_explain_growth_tells_of_every_node_and_every_feature(rng):
    X, y = mixed(rng, 150)
    model = C45Classifier().fit(X, y)
    growth = model.explain_growth(X, y)
    assert len(growth) == model.tree_.node_count
    for node in growth:
        is_split = node.outcome in ("split", "raised")
        assert bool(model.tree_.children(node.node)) == is_split
        if is_split:
            chosen = [c.feature for c in node.candidates if c.is_chosen]
            assert chosen == [model.tree_.feature[node.node]]
            assert len(node.candidates) == X.shape[1]
    frame = growth.to_frame("pandas")
    assert {"node", "name", "gain", "split_information", "ratio"} <= set(frame.columns)
    assert str(growth[0]) in str(growth)
    assert "split info" in str(growth)


def test_explain_growth_refuses_another_table(rng):
    X, y = mixed(rng, 100)
    model = C45Classifier().fit(X, y)
    with pytest.raises(ValueError, match="give the X, y and sample_weight of fit"):
        model.explain_growth(X[:50], y[:50])


def test_class_weights_of_a_node_are_found_by_the_labels_themselves():
    for labels in ([3, 7, 3, 7], [True, False, True, False]):
        node = C45Classifier().explain_growth([["a"], ["b"], ["a"], ["b"]], labels)[0]
        assert node.class_weights == {labels[0]: 2.0, labels[1]: 2.0}
        assert f"{labels[0]}: 2" in str(node)


# --- rules --------------------------------------------------------------------------------------


def test_rules_say_what_they_say_they_say(rng):
    X, y = mixed(rng, 400, noise=0.0)
    rules = C45Classifier(pruning=None).fit(X, y).extract_rules(X, y)
    assert len(rules) > 1
    predicted = rules.predict(X)
    for number, row in enumerate(X.to_dict("records")):
        rule = rules.match(row)
        assert predicted[number] == (rules.default if rule is None else rule.prediction)
    deciding = rules.decide(X)
    assert (deciding == -1).any()
    for number, rule in enumerate(rules):
        covered = np.array([rule.matches(row) for row in X.to_dict("records")])
        assert rule.n_rows == covered.sum()
        assert rule.purity == pytest.approx(np.mean(y[covered] == rule.prediction))
        wrong = (y[covered] != rule.prediction).sum()
        expected = naive_errors(covered.sum(), wrong) / covered.sum()
        assert rule.accuracy == pytest.approx(1 - expected)
        assert covered[deciding == number].all()


def test_no_test_of_a_rule_can_be_dropped_without_more_errors_to_expect(rng):
    X, y = mixed(rng, 300, missing=0.0, noise=0.0)
    rules = C45Classifier(pruning=None).fit(X, y).extract_rules(X, y)
    rows = X.to_dict("records")
    n_checked = 0
    for rule in rules:
        for left_out in rule.conditions:
            if left_out.lower is not None and left_out.upper is not None:
                continue  # two tests in one condition
            kept = [c for c in rule.conditions if c is not left_out]
            covered = np.array([all(c.matches(row[c.name]) for c in kept) for row in rows])
            wrong = (y[covered] != rule.prediction).sum()
            assert naive_errors(covered.sum(), wrong) / covered.sum() > 1 - rule.accuracy
            n_checked += 1
    assert n_checked > 3


def test_rules_are_fewer_than_leaves_and_nearly_as_good(rng):
    X, y = mixed(rng, 600, missing=0.0)
    new, true = mixed(rng, 600, missing=0.0)
    model = C45Classifier(pruning=None).fit(X, y)
    rules = model.extract_rules(X, y)
    assert len(rules) < model.get_n_leaves() / 2
    assert np.mean(rules.predict(new) == true) > model.score(new, true) - 0.05


def test_rules_count_a_row_of_weight_two_twice(rng):
    X, y = mixed(rng, 200)
    weights = rng.integers(0, 3, 200)
    rows = np.repeat(np.arange(200), weights)
    model = C45Classifier(pruning=None).fit(X, y, weights)
    weighted = model.extract_rules(X, y, weights)
    repeated = model.extract_rules(X.iloc[rows], y[rows])
    assert str(weighted) == str(repeated)


def test_a_tree_of_one_leaf_is_its_default_class():
    rules = C45Classifier().fit([["a"], ["b"]], ["no", "no"]).extract_rules([["a"]], ["no"])
    assert len(rules) == 0
    assert str(rules) == "class = no"
    assert rules.predict([["a"], ["z"]]).tolist() == ["no", "no"]


def test_a_list_of_rules_shows_its_default_and_the_accuracy_to_expect(rng):
    X, y = mixed(rng, 200)
    rules = C45Classifier(pruning=None).fit(X, y).extract_rules(X, y)
    assert f"<td>otherwise</td><td>class = {rules.default}</td>" in rules._repr_html_()
    frame = rules.to_frame("pandas")
    assert frame["accuracy"].tolist() == [rule.accuracy for rule in rules]
    assert "leaf" not in frame  # a rule is no leaf any more


def test_a_row_without_a_single_leaf_meets_no_exported_rule():
    model = C45Classifier().fit([["a"], ["b"]] * 3, [0, 1] * 3)
    rules = export_rules(model)
    assert rules.match(["a"]).prediction == 0
    assert rules.match([None]) is None
    assert rules.match(["new"]) is None


# --- words and pictures -------------------------------------------------------------------------


def test_a_grouped_split_shows_its_groups():
    X = [["a"], ["b"], ["c"], ["d"]] * 5
    y = ["x", "x", "y", "y"] * 5
    model = C45Classifier(category_split="grouped").fit(X, y)
    assert export_text(model).split("\n")[0] == "|--- feature_0 in {a, b}"
    assert model.get_n_leaves() == 2


def test_trees_are_drawn_with_their_entropy(rng):
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = mixed(rng)
    for model in (ID3Classifier(), C45Classifier()):
        model.fit(X, y)
        plot_tree(model, impurity=True)
        text = " ".join(t.get_text() for t in plt.gca().texts)
        assert "entropy" in text
        assert model._repr_svg_().startswith("<svg")
        plt.close("all")


def test_importances_are_the_entropy_that_splits_removed(rng):
    X, y = mixed(rng, missing=0.0)
    for model in (ID3Classifier(), C45Classifier(pruning=None)):
        view = model.fit(X, y).tree_
        removed = np.zeros(X.shape[1])
        for node in range(view.node_count):
            children = list(view.children(node))
            if children:
                weighted = view.weighted_n_node_samples * view.impurity
                removed[view.feature[node]] += weighted[node] - weighted[children].sum()
        np.testing.assert_allclose(model.feature_importances_, removed / removed.sum())


# --- long computations --------------------------------------------------------------------------


def long_grouping(rng):
    X = pd.DataFrame({"a": rng.integers(0, 3000, 60_000).astype(str)})
    y, weights = rng.integers(0, 3, 60_000), rng.uniform(0.5, 2.0, 60_000)
    return lambda: C45Classifier(category_split="grouped").fit(X, y, weights)


def long_raising(rng):
    X = np.repeat(np.arange(3000.0)[:, None], 2, axis=1)
    X[rng.random(X.shape) < 0.05] = np.nan
    model = C45Classifier(
        criterion="gain", min_samples_leaf=1, threshold_correction=False, confidence=0.5
    )
    return lambda: model.fit(X, np.arange(3000) % 2)


def long_cuts(rng):
    X, y = rng.normal(size=(100_000, 40)), rng.integers(0, 30, 100_000)
    return lambda: ID3Classifier().fit(X, y)


def long_prediction(rng):
    X, y = rng.normal(size=(20_000, 3)), rng.integers(0, 2, 20_000)
    model = C45Classifier(
        min_samples_leaf=1, threshold_correction=False, pruning=None, split_finding="hist"
    ).fit(X, y)
    nothing = np.full((100_000, 3), np.nan)
    return lambda: model.predict(nothing)


@pytest.mark.parametrize("task", [long_grouping, long_raising, long_cuts, long_prediction])
def test_ctrl_c_ends_whatever_takes_long(task, rng):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    run = task(rng)
    sent = []
    timer = threading.Timer(
        0.5, lambda: (sent.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT))
    )
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            run()
        waited = time.monotonic() - sent[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, usual)
    assert waited < 1.0  # 0.05 s on an idle machine


def test_very_many_levels_take_no_quadratic_time():
    levels = [f"c{code:06}" for code in range(65_000)]
    weights = np.r_[np.ones(64_999), 2.0]  # the last branch is the heaviest
    start = time.monotonic()
    model = ID3Classifier().fit(pd.DataFrame({"a": levels}), np.arange(65_000) % 2, weights)
    assert model.tree_.node_count == 65_001
    assert time.monotonic() - start < 6.0  # 0.5 s on an idle machine


# --- messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ID3Classifier(numeric="bins"), "numeric must be"),
        (ID3Classifier(min_gain=-1.0), "min_gain must be"),
        (ID3Classifier(min_samples_split=1), "min_samples_split must be"),
        (ID3Classifier(max_depth=0), "max_depth must be"),
        (C45Classifier(criterion="gini"), "criterion must be"),
        (C45Classifier(min_samples_leaf=0), "min_samples_leaf must be"),
        (C45Classifier(category_split="subset"), "category_split must be"),
        (C45Classifier(confidence=0.6), r"confidence must be .*0\.5.*got 0\.6"),
        (C45Classifier(confidence=0.0), "confidence must be"),
        (C45Classifier(pruning="error"), "pruning must be"),
        (C45Classifier(split_finding="fast"), "split_finding must be"),
        (C45Classifier(max_bins=1), "max_bins must be"),
    ],
)
def test_a_bad_parameter_is_named(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([["a", 1.0], ["b", 2.0]], [0, 1])


def test_several_outputs_are_refused():
    with pytest.raises(ValueError, match="y should be a 1d array, got 2 columns"):
        C45Classifier().fit([["a"], ["b"]], [[0, 1], [1, 0]])


def test_the_engine_refuses_what_it_does_not_know():
    table = _core.Table.from_matrix(np.zeros((2, 1)))
    dataset = _core.BinnedDataset(table, None, [0], exact=True)
    codes = np.zeros((2, 1), np.int32)
    with pytest.raises(ValueError, match="unknown setting depth"):
        _core.grow_quinlan(dataset, classes=codes, n_classes=[1], settings={"depth": 3})
    with pytest.raises(ValueError, match="min_weight_leaf must be above 0"):
        _core.grow_quinlan(dataset, classes=codes, n_classes=[1], settings={"min_weight_leaf": 0.0})
    with pytest.raises(ValueError, match="one column"):
        _core.grow_quinlan(dataset, classes=np.zeros((2, 2), np.int32), n_classes=[1, 1])
    with pytest.raises(IndexError):
        _core.interval_cuts(dataset, 1, classes=codes, n_classes=[1])
    tree, _ = _core.grow_quinlan(dataset, classes=codes, n_classes=[1])
    with pytest.raises(IndexError):
        _core.node_branches(tree, table, 0)
    with pytest.raises(ValueError, match="cuts must be float64"):
        _core.nominal_codes(table, 0, np.zeros(1, np.int64), -2)
