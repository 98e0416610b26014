"""Tables as they are in the world: a clear message, or a sensible committee."""

import numpy as np
import pytest

from committee import CommitteeClassifier, CommitteeRegressor

RNG = np.random.default_rng(0)
# Columns that are the target, and classes of one row, are warned of elsewhere.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*leave it out if it is not known:UserWarning"),
    pytest.mark.filterwarnings("ignore:the class 1(.0)? has one row:UserWarning"),
]

X = RNG.normal(size=(100, 4))
Y = (X[:, 0] > 0).astype(int)


def classifier(**parameters):
    return CommitteeClassifier(**{"budget": 0.3, "random_state": 0} | parameters)


def regressor(**parameters):
    return CommitteeRegressor(**{"budget": 0.3, "random_state": 0} | parameters)


@pytest.mark.parametrize(
    ("model", "table", "y", "message"),
    [
        (classifier(), np.empty((0, 3)), [], "0 sample"),
        (classifier(), np.empty((10, 0)), [0, 1] * 5, "0 feature"),
        (classifier(), np.ones((100, 1)), Y, "'x0' is constant"),
        (classifier(), np.full((100, 1), np.nan), Y, "'x0' is empty"),
        (classifier(), X, np.ones(100), "y has 1 class"),
        (regressor(), X, np.where(Y, np.nan, 1.0), "y contains NaN"),
        (regressor(), X[:4], X[:4, 0], "at least 5 rows"),
        (regressor(), X, X[:, 0] * 1e300, "y holds values up to"),
        (classifier(scoring="roc_auc"), X, np.r_[1, np.zeros(99)], "scoring: 'roc_auc' is not"),
    ],
)
def test_what_cannot_be_learned_is_refused_in_words(model, table, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(table, y)


@pytest.mark.parametrize(
    ("table", "y"),
    [
        (X[:, :1], Y),  # one column
        (X, np.r_[1, np.zeros(99)]),  # a class of one row
        (X, np.r_[1, 1, np.zeros(98)]),
        (X[:5], [0, 1, 0, 1, 0]),
        (np.repeat(X[:5], 20, axis=0), np.repeat([0, 1, 0, 1, 0], 20)),  # copies
        (np.where(X > 2, np.inf, X), Y),
        (np.c_[X, Y], Y),  # a column that is the target
        (np.repeat(X[:60], 3, axis=0), np.repeat(np.arange(60), 3)),  # many classes
        (RNG.normal(size=(60, 3000)), Y[:60]),  # many columns
    ],
)
def test_odd_tables_give_probabilities(table, y):
    model = classifier().fit(table, y)
    shares = model.predict_proba(table)
    assert shares.shape == (len(y), len(np.unique(y)))
    assert np.isfinite(shares).all()
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.isfinite(model.score_.score)
    assert np.isfinite(model.findings_.constant_score)


def test_classes_of_one_row_are_named():
    y = np.repeat(np.array(["a", "b", "c"], object), [1, 50, 49])
    with pytest.warns(UserWarning, match="the class 'a' has one row, .* scores do not count it"):
        model = classifier(budget=0.02).fit(X, y)
    assert model.score_.n_rows == 99
    with pytest.warns(UserWarning, match="2 classes have one row each, such as 'a'"):
        classifier(budget=0.02).fit(X, np.append(y[:-1], "z"))


def test_a_column_that_is_the_target_is_used():
    new = RNG.normal(size=(50, 5))
    model = regressor().fit(np.c_[X, X[:, 0] * 3], X[:, 0] * 3)
    # Columns 0 and 4 say the same.
    new[:, 4] = 3 * new[:, 0]
    inside = np.abs(new[:, 4]) < 4
    assert np.corrcoef(model.predict(new)[inside], new[inside, 4])[0, 1] > 0.95


def test_a_constant_number_is_predicted():
    assert np.allclose(regressor().fit(X, np.full(100, 7.0)).predict(X[:5]), 7.0)


def test_levels_that_fit_did_not_see_are_predicted():
    table = np.array([["a", "b", "c", "a"] * 25, list("xyzv") * 25], dtype=object).T
    model = classifier().fit(table, [0, 1, 1, 0] * 25)
    shares = model.predict_proba(np.array([["new", "x"], [None, "other"]], dtype=object))
    assert np.isfinite(shares).all()


@pytest.mark.parametrize("n_rows", [40, 150, 1000])
@pytest.mark.parametrize("is_class", [True, False])
def test_noise_is_predicted_no_worse_than_by_the_constant(n_rows, is_class):
    """On fresh rows; the mean over draws is compared, a single one may be unlucky."""
    losses = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        table, new = rng.normal(size=(n_rows, 6)), rng.normal(size=(2000, 6))
        if is_class:
            y, z = rng.integers(0, 2, n_rows), rng.integers(0, 2, 2000)
            shares = classifier().fit(table, y).predict_proba(new)[np.arange(2000), z]
            losses.append(-np.log(shares).mean() / np.log(2))
        else:
            y, z = rng.normal(size=n_rows), rng.normal(size=2000)
            predicted = regressor().fit(table, y).predict(new)
            losses.append(((predicted - z) ** 2).mean() / (z**2).mean())
    # The constant itself loses about 1/n_rows; 2000 new rows add noise.
    assert np.mean(losses) < 1 + 3 / n_rows + 0.03
