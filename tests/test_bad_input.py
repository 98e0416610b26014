"""Wrong input gets an error that names the thing, or the right answer; never a wrong model."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from committee import DecisionTreeClassifier, DecisionTreeRegressor

BOTH = [DecisionTreeClassifier, DecisionTreeRegressor]
X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 1, 0])
BAD = (TypeError, ValueError)

NAN = float("nan")
WRONG_PARAMETERS = {
    "criterion": ["mse", 3, None, ["gini"]],
    "splitter": ["worst", 1, None],
    "max_depth": [0, -1, 2.5, NAN, "3", [3]],
    "min_samples_split": [1, 0, -2, 0.0, 1.5, -0.1, NAN, "2", None],
    "min_samples_leaf": [0, -1, 0.0, 1.0, 1.5, -0.1, NAN, "1", None],
    "min_weight_fraction_leaf": [-0.1, 0.6, NAN, "0", None, float("inf")],
    "max_features": [0, -1, 0.0, 1.5, -0.5, NAN, "auto", [1]],
    "random_state": [-1, "seed", 1.5, NAN],
    "max_leaf_nodes": [1, 0, -3, 2.5, NAN, "5"],
    "min_impurity_decrease": [-0.1, NAN, "0", None],
    "ccp_alpha": [-0.1, NAN, "0", None],
    "monotonic_cst": [[2, 0], [1], [1, 0, 0], "up", 1, [0.5, 0]],
    "split_finding": ["fast", 1, None],
    "max_bins": [1, 0, 256, -5, 2.5, NAN, "255", None],
    "categorical_features": [[10], [-3], ["nope"], [True], "all", 1, [0.5]],
    "numeric_text": ["text", None, 1, ["auto"]],
    "category_split": ["binary", 2, None],
    "level_penalty": [-1.0, float("nan"), "two", None],
    "n_jobs": [0, 1.5, NAN, "2", [1]],
}
CASES = [(name, value) for name, values in WRONG_PARAMETERS.items() for value in values]


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(("name", "value"), CASES, ids=str)
def test_a_wrong_parameter_is_named_with_what_was_given(estimator, name, value):
    model = estimator(**{name: value})
    with pytest.raises(BAD, match=name) as caught:
        model.fit(X, Y)
    message = str(caught.value)
    if name not in ("monotonic_cst", "categorical_features"):
        assert f"{name} must be" in message
        assert "got" in message
    assert not hasattr(model, "tree_")


@pytest.mark.parametrize("value", ["uniform", 3, {0: -1.0, 1: 1.0}, {0: NAN, 1: 1}, {0: "a", 1: 1}])
def test_a_wrong_class_weight_is_named(value):
    with pytest.raises(BAD, match="class_weight"):
        DecisionTreeClassifier(class_weight=value).fit(X, Y)


def test_every_parameter_has_wrong_values_here():
    parameters = set(DecisionTreeClassifier().get_params())
    parameters |= set(DecisionTreeRegressor().get_params())
    assert parameters == {*WRONG_PARAMETERS, "class_weight"}


@pytest.mark.parametrize("estimator", BOTH)
def test_numpy_numbers_are_numbers(estimator):
    model = estimator(
        max_depth=np.int64(3),
        min_samples_split=np.int32(2),
        min_samples_leaf=np.float64(0.1),
        min_weight_fraction_leaf=np.float32(0.125),
        max_leaf_nodes=np.int8(4),
        max_bins=np.int16(20),
        n_jobs=np.int64(1),
        random_state=np.int64(4),
        ccp_alpha=np.float32(0),
    )
    assert model.fit(X, Y).get_n_leaves() >= 1


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_a_regressor_refuses_the_criteria_of_classes(criterion):
    with pytest.raises(ValueError, match="criterion must be"):
        DecisionTreeRegressor(criterion=criterion).fit(X, Y)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_a_classifier_refuses_the_criteria_of_numbers(criterion):
    with pytest.raises(ValueError, match="criterion must be"):
        DecisionTreeClassifier(criterion=criterion).fit(X, Y)


# --- tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(
    ("table", "y", "message"),
    [
        (np.zeros((0, 3)), np.zeros(0), "0 sample"),
        (pd.DataFrame({"a": []}), np.zeros(0), "0 sample"),
        ([], [], "0 sample|1D array|2D|empty"),
        (np.zeros((6, 0)), Y, r"0 feature\(s\)"),
        (pd.DataFrame(index=range(6)), Y, r"0 feature\(s\)|0 sample"),
        (scipy.sparse.csr_array((6, 0)), Y, r"0 feature\(s\)"),
        (np.arange(6.0), Y, "Reshape your data"),
        (np.zeros((6, 2, 2)), Y, "dim 3|3-D|3 dimensions"),
        (3.0, Y, "scalar|0-D|number"),
        (X + 1j, Y, "Complex data not supported"),
        (pd.DataFrame(X + 1j), Y, "Complex data not supported"),
        ([[1, 2], [3]], [0, 1], "row|inhomogeneous|ragged"),
        ([[{}, 1], [{}, 2]], [0, 1], "must be a string or a number"),
        ([[1, "a"], [2, object()]], [0, 1], "must be a string or a number"),
        (np.array([[2**64], [1]], dtype=object), [0, 1], "2\\*\\*63|too large"),
        (np.array([[2**64 - 1], [1]], dtype=np.uint64), [0, 1], "2\\*\\*63|too large"),
        ("table", Y, "scalar|str"),
        (None, Y, "None"),
    ],
    ids=range(18),
)
def test_what_is_no_table_is_refused_in_plain_words(estimator, table, y, message):
    with pytest.raises(BAD, match=message):
        estimator().fit(table, y)


@pytest.mark.parametrize("estimator", BOTH)
def test_duplicate_column_names_are_refused_by_name(estimator):
    table = pd.DataFrame(X, columns=["age", "age"])
    with pytest.raises(ValueError, match="age"):
        estimator().fit(table, Y)


@pytest.mark.parametrize("estimator", BOTH)
def test_one_row_is_a_leaf(estimator):
    model = estimator().fit([[1.0, 2.0]], [1])
    assert model.tree_.node_count == 1
    assert model.predict([[5.0, 5.0]]).tolist() == [1]


def test_one_class_is_certain():
    model = DecisionTreeClassifier().fit(X, ["yes"] * 6)
    assert model.predict(X[:1]).tolist() == ["yes"]
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("search", ["exact", "hist"])
@pytest.mark.parametrize("estimator", BOTH)
def test_infinite_features_are_the_ends_of_the_order(estimator, search):
    x = np.array([[-np.inf], [-np.inf], [0.0], [1.0], [np.inf], [np.inf]])
    y = np.array([1, 1, 0, 0, 1, 1])
    model = estimator(split_finding=search).fit(x, y)
    assert model.predict(x).tolist() == y.tolist()
    assert model.predict([[-1e308], [1e308], [0.4]]).tolist()[2] == 0


@pytest.mark.parametrize("estimator", BOTH)
def test_masked_cells_are_missing(estimator, rng):
    values = rng.normal(size=(50, 2))
    y = rng.integers(0, 2, 50)
    mask = rng.random((50, 2)) < 0.3
    masked = np.ma.array(values, mask=mask)
    holes = np.where(mask, np.nan, values)
    a, b = estimator().fit(masked, y), estimator().fit(holes, y)
    assert np.array_equal(a.apply(holes), b.apply(holes))
    assert np.array_equal(a.apply(masked), b.apply(holes))


@pytest.mark.parametrize("estimator", BOTH)
def test_an_all_missing_column_is_of_no_use_and_no_harm(estimator):
    table = np.column_stack([np.full(6, np.nan), X[:, 0]])
    model = estimator().fit(table, Y)
    assert model.predict(table).tolist() == Y.tolist()
    assert estimator().fit(table[:, :1], Y).get_n_leaves() == 1


# --- targets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_regression_target_must_be_finite(bad):
    y = Y.astype(float)
    y[2] = bad
    with pytest.raises(ValueError, match=r"\by\b.*(NaN|infinity|finite|missing)"):
        DecisionTreeRegressor().fit(X, y)


@pytest.mark.parametrize("bad", [np.nan, None, pd.NA], ids=str)
def test_a_class_target_must_not_be_missing(bad):
    y = np.array([0, 1, bad, 1, 1, 0], dtype=object)
    with pytest.raises(ValueError, match=r"\by\b.*(NaN|missing)"):
        DecisionTreeClassifier().fit(X, y)


def test_a_float_class_target_must_not_be_missing():
    with pytest.raises(ValueError, match=r"\by\b.*(NaN|missing)"):
        DecisionTreeClassifier().fit(X, [0.0, 1.0, np.nan, 1.0, 1.0, 0.0])


def test_numbers_with_fractions_are_no_classes():
    with pytest.raises(ValueError, match="Unknown label type"):
        DecisionTreeClassifier().fit(X, np.linspace(0, 1, 6))


def test_text_is_no_regression_target():
    with pytest.raises(BAD, match=r"\by\b|string|text"):
        DecisionTreeRegressor().fit(X, list("abcdef"))


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:5], "6.*5|5.*6"),
        (np.zeros((6, 1, 1)), "y"),
        (None, "requires y to be passed, but the target y is None"),
        (3, r"\by\b"),
        (np.zeros((6, 0)), r"\by\b"),
        (Y + 1j, "[Cc]omplex"),
    ],
    ids=["short", "3-D", "none", "scalar", "no outputs", "complex"],
)
def test_a_target_of_the_wrong_shape_is_refused(estimator, y, message):
    with pytest.raises(BAD, match=message):
        estimator().fit(X, y)


def test_poisson_needs_counts():
    with pytest.raises(ValueError, match=r"\by\b.*negative|poisson"):
        DecisionTreeRegressor(criterion="poisson").fit(X, Y - 1.0)
    with pytest.raises(ValueError, match=r"\by\b|poisson"):
        DecisionTreeRegressor(criterion="poisson").fit(X, np.zeros(6))


# --- weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(
    "weight",
    [
        [1, 1, -1, 1, 1, 1],
        np.zeros(6),
        [1, 1, NAN, 1, 1, 1],
        [1, 1, np.inf, 1, 1, 1],
        np.ones(5),
        np.ones((6, 2)),
        ["a"] * 6,
        np.ones(6) * 1j,
    ],
    ids=["negative", "all zero", "nan", "infinite", "short", "2-D", "text", "complex"],
)
def test_wrong_weights_are_refused_by_name(estimator, weight):
    with pytest.raises(BAD, match=r"[Ss]ample.weights?|[Cc]omplex"):
        estimator().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(
    "weight", [[True] * 6, list(range(1, 7)), pd.Series(np.ones(6)), None, 2.0]
)
def test_weights_may_come_in_any_usual_form(estimator, weight):
    model = estimator().fit(X, Y, sample_weight=weight)
    assert model.predict(X).tolist() == Y.tolist()


def test_a_class_of_weight_zero_is_never_predicted():
    model = DecisionTreeClassifier().fit(X, Y, sample_weight=1.0 - Y)
    assert set(model.predict(X)) == {0}
    assert model.predict_proba(X).sum() == pytest.approx(6)


# --- prediction -------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("method", ["predict", "apply", "decision_path"])
def test_prediction_before_fit_says_so(estimator, method):
    with pytest.raises(NotFittedError, match=estimator.__name__):
        getattr(estimator(), method)(X)


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (X[:, :1], "X has 1 features, but .* is expecting 2 features as input"),
        (np.zeros((6, 3)), "X has 3 features, but .* is expecting 2 features as input"),
        (X[0], "Reshape your data"),
        (np.zeros((2, 2, 2)), "dim 3|3-D|3 dimensions"),
        (X + 1j, "Complex data not supported"),
        ([["a", "b"]], "text.*numbers|numbers.*text"),
    ],
    ids=["few", "many", "1-D", "3-D", "complex", "text"],
)
def test_a_table_that_does_not_fit_the_model_is_refused(estimator, table, message):
    model = estimator().fit(X, Y)
    with pytest.raises(BAD, match=message):
        model.predict(table)


@pytest.mark.parametrize("estimator", BOTH)
def test_missing_and_extra_columns_are_named(estimator):
    frame = pd.DataFrame(X, columns=["age", "size"])
    model = estimator().fit(frame, Y)
    with pytest.raises(ValueError, match=re.compile("now missing.*size", re.S)):
        model.predict(frame[["age"]])
    with pytest.raises(ValueError, match=re.compile("unseen.*colour", re.S)):
        model.predict(frame.assign(colour=1.0))
    with pytest.raises(ValueError, match=r"age.*text"):
        model.predict(frame.assign(age="old"))


def test_a_model_with_names_warns_about_an_array():
    frame = pd.DataFrame(X, columns=["age", "size"])
    model = DecisionTreeRegressor().fit(frame, Y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


# --- numbers ----------------------------------------------------------------------------------


def test_huge_integers_stay_distinct_in_exact_search():
    x = np.array([[2**60], [2**60 + 1], [2**60 + 2], [-(2**62)]])
    model = DecisionTreeClassifier(split_finding="exact").fit(x, [0, 1, 0, 1])
    assert model.predict(x).tolist() == [0, 1, 0, 1]


def test_huge_targets_are_predicted():
    # Squares of 1e300 leave float64, so squared error is refused there (test_extremes).
    for criterion, size in (("squared_error", 1e150), ("absolute_error", 1e300)):
        y = size * np.array([1, -1, 1, -1, 1, -1])
        model = DecisionTreeRegressor(criterion=criterion).fit(X, y)
        assert model.predict(X).tolist() == y.tolist()


def test_unsigned_and_small_types_are_read_as_they_are():
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.float16, bool):
        table = (np.arange(6)[:, None] % 2).astype(dtype)
        model = DecisionTreeRegressor().fit(table, np.arange(6) % 2)
        assert model.predict(table).tolist() == [0, 1, 0, 1, 0, 1]
