"""ID3 and C4.5 against a naive implementation: gains, whole trees, shares, pruning."""

import itertools

import numpy as np
import pandas as pd
import pytest
from reference_quinlan import Oracle, Settings, as_nested, view_as_nested

from committee import C45Classifier, DecisionTreeClassifier, ID3Classifier


def random_table(rng, n_rows, *, n_nominal=3, n_numeric=2, missing=0.0, n_classes=3, noise=0.2):
    """Columns with ties, a class that depends on some of them, and gaps."""
    columns = [
        [f"v{code}" for code in rng.integers(0, 2 + i, n_rows)] for i in range(n_nominal)
    ] + [list(rng.integers(0, 12, n_rows) / 2.0) for _ in range(n_numeric)]
    score = np.zeros(n_rows)
    for i, column in enumerate(columns):
        score += (i + 1) * np.array([len(str(c)) + float(str(c)[-1] in "135") for c in column])
    y = (score % n_classes).astype(int)
    y = np.where(rng.random(n_rows) < noise, rng.integers(0, n_classes, n_rows), y)
    for column in columns:
        for row in np.flatnonzero(rng.random(n_rows) < missing):
            column[row] = None
    return columns, [f"c{label}" for label in y]


def as_frame(columns):
    return pd.DataFrame({f"x{i}": column for i, column in enumerate(columns)})


def compare(model, oracle, columns):
    """Same structure, same class shares for all rows."""
    tree = oracle.grow()
    assert view_as_nested(model.tree_) == as_nested(tree)
    X = as_frame(columns)
    shares = model.predict_proba(X)
    for row in range(len(X)):
        expected = oracle.shares(tree, [column[row] for column in columns])
        found = dict(zip(model.classes_, shares[row], strict=True))
        for label, share in found.items():
            assert share == pytest.approx(expected.get(label, 0.0), abs=1e-9)


SETTINGS = [
    Settings(),
    Settings(raises=False),
    Settings(prunes=False),
    Settings(criterion="gain", prunes=False, min_samples_leaf=1, corrects=False),
    Settings(grouped=True),
    Settings(confidence=0.05, min_samples_leaf=3),
]


def model_of(settings):
    return C45Classifier(
        criterion=settings.criterion,
        min_samples_leaf=settings.min_samples_leaf,
        threshold_correction=settings.corrects,
        category_split="grouped" if settings.grouped else "fanout",
        pruning="pessimistic" if settings.prunes else None,
        subtree_raising=settings.raises,
        confidence=settings.confidence,
    )


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_whole_trees_are_those_of_the_naive_c45(settings, missing, rng):
    for n_rows in (12, 40, 90):
        columns, y = random_table(rng, n_rows, missing=missing)
        model = model_of(settings).fit(as_frame(columns), y)
        compare(model, Oracle(columns, y, settings=settings), columns)


@pytest.mark.parametrize("settings", SETTINGS[:3], ids=str)
def test_whole_trees_with_weights_are_those_of_the_naive_c45(settings, rng):
    for whole in (True, False):
        columns, y = random_table(rng, 60, missing=0.1)
        weights = rng.integers(0, 4, 60) if whole else rng.uniform(0, 3, 60).round(2)
        model = model_of(settings).fit(as_frame(columns), y, weights)
        oracle = Oracle(columns, y, weights, settings)
        tree = oracle.grow()
        assert view_as_nested(model.tree_) == as_nested(tree)


@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
def test_groups_of_many_levels_are_those_of_the_naive_c45(weights, rng):
    settings = Settings(grouped=True, prunes=False)
    for n_levels in (8, 20):
        codes = rng.integers(0, n_levels, 60)
        columns = [[f"v{code:02}" for code in codes]]
        y = [f"c{label}" for label in np.where(rng.random(60) < 0.3, codes % 3, codes % 2)]
        w = {"none": None, "whole": rng.integers(1, 4, 60), "fractional": rng.uniform(0.5, 2, 60)}
        model = model_of(settings).fit(as_frame(columns), y, w[weights])
        oracle = Oracle(columns, y, w[weights], settings)
        assert model.tree_.node_count > 2
        compare(model, oracle, columns)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_raising_happens_in_these_tests_and_changes_trees(missing, rng):
    n_raised = 0
    for _ in range(20):
        columns, y = random_table(rng, 90, missing=missing, noise=0.3)
        X = as_frame(columns)
        model = C45Classifier().fit(X, y)
        compare(model, Oracle(columns, y), columns)
        n_raised += sum(node.outcome == "raised" for node in model.explain_growth(X, y))
    assert n_raised > 0


def test_candidates_are_those_of_the_naive_c45(rng):
    columns, y = random_table(rng, 50, missing=0.2)
    X = as_frame(columns)
    growth = C45Classifier(pruning=None).explain_growth(X, y)
    oracle = Oracle(columns, y, settings=Settings(prunes=False))
    expected = {c.feature: c for c in oracle.candidates(oracle.root)}
    found = {c.feature: c for c in growth[0].candidates if c.is_possible}
    assert found.keys() == expected.keys()
    assert expected
    for feature, candidate in expected.items():
        assert found[feature].gain == pytest.approx(candidate.gain, abs=1e-12)
        assert found[feature].split_information == pytest.approx(candidate.split_information)
    chosen = [c.feature for c in growth[0].candidates if c.is_chosen]
    assert chosen == [oracle.choose(list(expected.values())).feature]


def test_id3_is_c45_with_plain_gain_on_levels(rng):
    columns, y = random_table(rng, 80, n_numeric=0, n_nominal=4)
    X = as_frame(columns)
    settings = Settings(criterion="gain", prunes=False, min_samples_leaf=1, corrects=False)
    compare(ID3Classifier().fit(X, y), Oracle(columns, y, settings=settings), columns)


def test_id3_takes_missing_values_for_a_level(rng):
    columns, y = random_table(rng, 80, n_numeric=0, n_nominal=4, missing=0.2)
    filled = [["zz" if cell is None else cell for cell in column] for column in columns]
    gaps, levels = (
        ID3Classifier().fit(as_frame(columns), y),
        ID3Classifier().fit(as_frame(filled), y),
    )
    assert view_as_nested(gaps.tree_) == view_as_nested(levels.tree_)
    np.testing.assert_array_equal(
        gaps.predict_proba(as_frame(columns)), levels.predict_proba(as_frame(filled))
    )


# --- CART ---------------------------------------------------------------------------------------


def test_c45_with_plain_gain_on_two_levels_is_cart_with_entropy(rng):
    for n_classes in (2, 3):
        X = rng.integers(0, 2, (200, 6))
        y = (X[:, 0] ^ X[:, 1]) + (n_classes - 2) * X[:, 2] + (rng.random(200) < 0.1)
        y = y % n_classes
        frame = pd.DataFrame(X).astype(str)
        c45 = C45Classifier(criterion="gain", pruning=None, min_samples_leaf=1).fit(frame, y)
        cart = DecisionTreeClassifier(criterion="entropy", category_split="fanout").fit(frame, y)
        every = pd.DataFrame(list(itertools.product("01", repeat=6)))
        np.testing.assert_allclose(c45.predict_proba(every), cart.predict_proba(every), atol=1e-12)
        assert view_as_nested(c45.tree_) == view_as_nested(cart.tree_)
        np.testing.assert_allclose(c45.tree_.impurity, cart.tree_.impurity, atol=1e-12)


def test_c45_with_plain_gain_on_numbers_is_cart_with_entropy(rng):
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    plain = {"criterion": "gain", "pruning": None, "threshold_correction": False}
    for split_finding in ("exact", "hist"):
        c45 = C45Classifier(min_samples_leaf=1, split_finding=split_finding, **plain).fit(X, y)
        cart = DecisionTreeClassifier(criterion="entropy", split_finding=split_finding).fit(X, y)
        new = rng.normal(size=(500, 4))
        np.testing.assert_array_equal(c45.predict_proba(new), cart.predict_proba(new))
        np.testing.assert_array_equal(c45.tree_.threshold, cart.tree_.threshold)
