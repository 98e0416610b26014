"""Who is handed the training table again notices when it is another one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from committee import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    tune_max_features,
)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(200, 4))
    return X, X[:, 0] + 0.1 * rng.normal(size=200)


@pytest.mark.parametrize("model", [RandomForestRegressor, BaggingRegressor])
@pytest.mark.parametrize("change", ["target", "rows", "order"])
def test_a_warm_start_with_another_table_is_refused(model, change, data, rng):
    X, y = data
    grown = model(n_estimators=5, warm_start=True, random_state=0).fit(X, y)
    before = grown.predict(X)
    order = rng.permutation(len(X))
    other = {"target": (X, -y), "rows": (X + 1.0, y), "order": (X[order], y[order])}[change]
    with pytest.raises(ValueError, match="warm_start=True adds"):
        grown.set_params(n_estimators=8).fit(*other)
    np.testing.assert_array_equal(grown.predict(X), before)
    assert len(grown.fit(X, y).estimators_) == 8


def test_a_warm_start_of_other_members_looks_at_the_target(data):
    X, y = data
    bag = BaggingClassifier(LogisticRegression(), 3, warm_start=True, random_state=0)
    bag.fit(pd.DataFrame(X), y > 0)
    with pytest.raises(ValueError, match="warm_start=True adds"):
        bag.set_params(n_estimators=5).fit(pd.DataFrame(X), y < 0)


@pytest.mark.parametrize("change", ["target", "rows", "order"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda model, X, y: model.permutation_importance(X, y),
        lambda model, X, y: model.debiased_importance(X, y),
        lambda model, X, y: model.variance_decomposition(X, y, of="errors"),
    ],
    ids=["permutation", "debiased", "errors"],
)
def test_out_of_bag_answers_refuse_another_table(ask, change, data, rng):
    X, y = data
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    order = rng.permutation(len(X))
    other = {"target": (X, y[order]), "rows": (X - 1.0, y), "order": (X[order], y[order])}[change]
    with pytest.raises(ValueError, match="these are others"):
        ask(model, *other)
    ask(model, X, y)


def test_tuning_refuses_forests_of_different_kinds_and_takes_groups(data):
    X, y = data
    forests = [RandomForestRegressor(50), RandomForestClassifier(50)]
    with pytest.raises(ValueError, match="mixes classifiers and regressors"):
        tune_max_features(forests, X, y)
    groups = np.arange(len(y)) // 4
    result = tune_max_features(forests[0], X, y, [1, 4], groups=groups, n_trees=20)
    assert result.max_features in (1, 4)
    rows = result.forest.estimators_samples_[0]
    drawn = np.bincount(rows, minlength=len(y)).reshape(-1, 4)
    assert (drawn == drawn[:, :1]).all()


def test_a_metric_that_does_not_fit_says_so(data):
    X, y = data
    three = np.digitize(y, [-0.5, 0.5])
    model = RandomForestClassifier(30, oob_score="roc_auc", random_state=0)
    with pytest.raises(ValueError, match="roc_auc_ovr"):
        model.fit(X, three)


def test_a_dense_matrix_of_too_many_pairs_is_refused(data):
    X, y = data
    model = RandomForestRegressor(1, max_depth=1).fit(X, y)
    with pytest.raises(ValueError, match="top_k=10"):
        model.proximity(np.zeros((50_000, 4)))
