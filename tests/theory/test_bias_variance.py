"""Bias and variance beside naive loops, mlxtend's formulas, and functions whose parts are known."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from committee import (
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from committee.datasets import load_penguins
from committee.theory import bias_variance, bias_variance_curve

PARTS = ("error", "bias", "variance", "net_variance", "unbiased_variance", "biased_variance")


def bootstrap(n_rows, n_rounds, seed=0):
    """Samples as scikit-learn's kind of program draws them, in the order of the draws."""
    random = np.random.RandomState(seed)
    return [random.choice(np.arange(n_rows), size=n_rows, replace=True) for _ in range(n_rounds)]


@pytest.fixture
def classes(rng):
    X = rng.normal(size=(160, 4))
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=160), [0.3, 1.4])


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(150, 4))
    return X, 3 * X[:, 0] + X[:, 1] ** 2 + rng.normal(size=150)


# --- the same answers as a loop -----------------------------------------------------------------


def looped(model, X, y, X_test, samples):
    return np.array([model.fit(X[rows], y[rows]).predict(X_test) for rows in samples])


@pytest.mark.parametrize(
    "model",
    [
        TheirTree(random_state=0),
        KNeighborsClassifier(3),
        DecisionTreeClassifier(),
        RandomForestClassifier(10, random_state=3),
    ],
    ids=lambda model: type(model).__module__.split(".")[0] + type(model).__name__,
)
def test_classes_have_the_parts_of_a_loop(model, classes):
    X, y = classes
    X, y, X_test, y_test = X[:100], y[:100], X[100:], y[100:]
    samples = bootstrap(100, 12)
    found = bias_variance(model, X, y, test=(X_test, y_test), samples=samples)
    predicted = looped(model, X, y, X_test, samples)
    # The formulas of mlxtend's bias_variance_decomp, and those of Domingos.
    main = np.array([np.bincount(column).argmax() for column in predicted.T])
    assert found.error == pytest.approx((predicted != y_test).mean(), rel=1e-12)
    assert found.bias == pytest.approx((main != y_test).mean(), rel=1e-12)
    assert found.variance == pytest.approx((predicted != main).mean(), rel=1e-12)
    is_right = main == y_test
    unbiased = (predicted != main)[:, is_right].sum() / predicted.size
    biased = (predicted == y_test)[:, ~is_right].sum() / predicted.size
    assert found.unbiased_variance == pytest.approx(unbiased, rel=1e-12)
    assert found.biased_variance == pytest.approx(biased, rel=1e-12)
    assert found.error == pytest.approx(found.bias + unbiased - biased, rel=1e-12)
    np.testing.assert_array_equal(found.main, main)
    np.testing.assert_allclose(found.row_variance, (predicted != main).mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        TheirRegressor(random_state=0),
        DecisionTreeRegressor(),
        RandomForestRegressor(10, random_state=3),
        BaggingRegressor(
            DecisionTreeRegressor(), 5, bootstrap=False, max_samples=0.5, random_state=1
        ),
    ],
    ids=lambda model: type(model).__module__.split(".")[0] + type(model).__name__,
)
def test_numbers_have_the_parts_of_a_loop(model, numbers):
    X, y = numbers
    X, y, X_test, y_test = X[:100], y[:100], X[100:], y[100:]
    samples = bootstrap(100, 12)
    found = bias_variance(model, X, y, test=(X_test, y_test), samples=samples)
    predicted = looped(model, X, y, X_test, samples)
    main = predicted.mean(axis=0)
    assert found.error == pytest.approx(np.mean((predicted - y_test) ** 2), rel=1e-10)
    assert found.bias == pytest.approx(np.mean((main - y_test) ** 2), rel=1e-10)
    assert found.variance == pytest.approx(np.mean((predicted - main) ** 2), rel=1e-10)
    assert found.net_variance == found.unbiased_variance == found.variance
    np.testing.assert_allclose(found.main, main, rtol=1e-12)


def test_boosting_has_the_parts_of_a_loop_where_all_samples_hold_all_values(numbers):
    # Else its cuts are at the edges of the bins of all rows, as they are in folds.
    X, y = numbers
    X = np.clip(np.round(X), -1, 1)
    samples = bootstrap(100, 12)
    for model in (
        GradientBoostingRegressor(n_estimators=5),
        GradientBoostingRegressor(n_estimators=5, subsample=0.5),
    ):
        model.set_params(random_state=0)
        found = bias_variance(model, X[:100], y[:100], test=(X[100:], y[100:]), samples=samples)
        predicted = looped(model, X[:100], y[:100], X[100:], samples)
        assert found.error == pytest.approx(np.mean((predicted - y[100:]) ** 2), rel=1e-10)
        assert found.variance == pytest.approx(predicted.var(axis=0).mean(), rel=1e-10)


def test_probabilities_have_squared_errors_too(classes):
    X, y = classes
    samples = bootstrap(100, 8)
    model = LogisticRegression()
    found = bias_variance(
        model, X[:100], y[:100], test=(X[100:], y[100:]), samples=samples, loss="squared_error"
    )
    each = [model.fit(X[rows], y[rows]).predict_proba(X[100:]) for rows in samples]
    predicted, truth = np.array(each), np.eye(3)[y[100:]]
    brier = ((predicted - truth) ** 2).sum(axis=2).mean()
    assert found.error == pytest.approx(brier, rel=1e-10)
    spread = ((predicted - predicted.mean(axis=0)) ** 2).sum(axis=2).mean()
    assert found.variance == pytest.approx(spread, rel=1e-10)
    np.testing.assert_allclose(found.main.sum(axis=1), 1)


def test_ddof_moves_what_few_fits_vary_by_from_the_bias_to_the_variance(numbers):
    X, y = numbers
    options = {"n_rounds": 5, "random_state": 0}
    plain = bias_variance(DecisionTreeRegressor(), X, y, **options)
    found = bias_variance(DecisionTreeRegressor(), X, y, ddof=1, **options)
    assert found.variance == pytest.approx(plain.variance * 5 / 4, rel=1e-12)
    assert found.bias == pytest.approx(plain.bias - found.variance / 5, rel=1e-12)
    assert found.error == pytest.approx(plain.error, rel=1e-12)


# --- parts that are known -----------------------------------------------------------------------


class MeanPlus(RegressorMixin, BaseEstimator):
    """The mean of the target plus a number: its bias and variance are known."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.mean_ = np.mean(y) + self.shift
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_fresh_samples_of_a_mean_have_the_variance_of_a_mean(rng):
    def draw(rng):
        return np.zeros((25, 1)), 2.0 * rng.normal(size=25)

    y_test = 2.0 * rng.normal(size=4000)
    options = {"test": (np.zeros((4000, 1)), y_test), "truth": np.zeros(4000), "ddof": 1}
    found = bias_variance(MeanPlus(0.5), draw, n_rounds=2000, random_state=1, **options)
    assert found.variance == pytest.approx(4 / 25, rel=0.15)
    assert found.bias == pytest.approx(0.25, abs=0.03)
    assert found.noise == pytest.approx(np.mean(y_test**2), rel=1e-12)
    assert found.error == pytest.approx(found.noise + found.bias + found.variance, rel=1e-12)
    # Without the truth, noise is a part of the bias.
    del options["truth"]
    blind = bias_variance(MeanPlus(0.5), draw, n_rounds=50, random_state=1, **options)
    assert blind.noise == 0
    assert blind.bias > 3.5


def test_trees_and_forests_differ_as_they_should_on_fresh_samples(rng):
    def signal(X):
        return np.sin(3 * X[:, 0])

    def draw(rng):
        X = rng.uniform(-1, 1, (120, 1))
        return X, signal(X) + 0.3 * rng.normal(size=120)

    X = np.linspace(-0.95, 0.95, 100)[:, None]
    found = bias_variance_curve(
        {
            "stump": DecisionTreeRegressor(max_depth=1),
            "tree": DecisionTreeRegressor(),
            "forest": RandomForestRegressor(30),
        },
        draw,
        test=(X, signal(X)),
        n_rounds=40,
        ddof=1,
        random_state=0,
    )
    assert found["stump"].bias > 10 * found["tree"].bias
    # A full tree repeats the noise of the nearest row; the bootstrap averages two rows and more.
    assert found["tree"].variance == pytest.approx(0.09, rel=0.25)
    assert found["forest"].variance < 0.75 * found["tree"].variance


# --- promises -----------------------------------------------------------------------------------


def results_of(found):
    return {name: [getattr(each, part) for part in PARTS] for name, each in found.items()}


@pytest.mark.parametrize("samples", ["bootstrap", "subsample"])
def test_results_do_not_depend_on_the_number_of_workers(samples, classes):
    X, y = classes
    models = {
        "ours": RandomForestClassifier(5),
        "theirs": TheirTree(),
        "boosting": GradientBoostingClassifier(n_estimators=3, subsample=0.5),
    }
    options = {"n_rounds": 4, "random_state": 5, "samples": samples}
    one = bias_variance_curve(models, X, y, n_jobs=1, **options)
    with parallel_config(backend="threading"):  # processes take long to start
        two = bias_variance_curve(models, X, y, n_jobs=2, **options)
    assert results_of(one) == results_of(two)
    other = bias_variance_curve(models, X, y, **options | {"random_state": 6})
    assert results_of(other) != results_of(one)
    for name, model in models.items():
        alone = bias_variance(model, X, y, **options)
        assert [getattr(alone, part) for part in PARTS] == results_of(one)[name]


def test_rows_of_weight_zero_are_absent(numbers):
    X, y = numbers
    weights = np.arange(150) % 3
    present = weights > 0
    model, options = DecisionTreeRegressor(), {"n_rounds": 6, "random_state": 2}
    found = bias_variance(model, X, y, sample_weight=weights, **options)
    without = bias_variance(
        model, X[present], y[present], sample_weight=weights[present], **options
    )
    assert [getattr(found, part) for part in PARTS] == [getattr(without, part) for part in PARTS]
    assert found.n_test == without.n_test == 25


def test_samples_have_the_size_that_was_asked_for(numbers):
    X, y = numbers

    class Counting(MeanPlus):
        sizes = []  # noqa: RUF012

        def fit(self, X, y):
            Counting.sizes.append((len(y), len(np.unique(y))))
            return super().fit(X, y)

    for samples, size, drawn, is_distinct in (
        ("bootstrap", None, 112, False),
        ("subsample", None, 56, True),
        ("subsample", 30, 30, True),
        ("bootstrap", 0.5, 56, False),
    ):
        Counting.sizes.clear()
        found = bias_variance(
            Counting(), X, y, samples=samples, sample_size=size, n_rounds=3, random_state=0
        )
        assert {n for n, _ in Counting.sizes} == {drawn}
        assert all((n == distinct) == is_distinct for n, distinct in Counting.sizes)
        assert (found.n_rounds, found.n_test) == (3, 38)


def test_estimators_without_a_seed_vary_by_their_own_draws_and_seeded_ones_do_not(numbers):
    X, y = numbers
    same = [np.arange(100)] * 6
    options = {"test": (X[100:], y[100:]), "samples": same, "random_state": 0}
    found = bias_variance_curve(
        {"free": RandomForestRegressor(3), "fixed": RandomForestRegressor(3, random_state=0)},
        X[:100],
        y[:100],
        **options,
    )
    assert found["fixed"].variance == 0
    assert found["free"].variance > 0


def test_frames_with_text_and_gaps_need_no_preparation():
    X, y = load_penguins("species", backend="pandas")
    found = bias_variance(DecisionTreeClassifier(), X, y, n_rounds=10, random_state=0)
    assert found.error < 0.1
    assert set(found.main) == set(y)
    # Columns of the test table are matched by their names.
    swapped = X[X.columns[::-1]]
    samples = [np.arange(0, 300), np.arange(40, 340)]
    straight = bias_variance(DecisionTreeClassifier(), X, y, test=(X, y), samples=samples)
    turned = bias_variance(DecisionTreeClassifier(), X, y, test=(swapped, y), samples=samples)
    assert straight.error == turned.error


def test_a_class_that_some_samples_lack_is_no_obstacle(rng):
    X = rng.normal(size=(40, 2))
    y = np.array(["common"] * 38 + ["rare"] * 2)
    for model in (DecisionTreeClassifier(), TheirTree(), RandomForestClassifier(3)):
        found = bias_variance(model, X, y, n_rounds=12, random_state=0, test_size=0.5)
        assert found.error == pytest.approx(found.bias + found.net_variance, abs=1e-15)

    def draw(rng):  # one fresh sample has two classes, another has three
        n_classes = int(rng.integers(2, 4))
        return rng.normal(size=(30, 2)), np.arange(30) % n_classes

    test = (X, np.arange(40) % 2)
    assert bias_variance(DecisionTreeClassifier(), draw, test=test, n_rounds=4).error > 0


def test_several_outputs_are_added_up(numbers):
    X, y = numbers
    both = np.column_stack([y, 2 * y])
    options = {"n_rounds": 5, "random_state": 1}
    one = bias_variance(DecisionTreeRegressor(max_depth=2), X, y, **options)
    two = bias_variance(DecisionTreeRegressor(max_depth=2), X, both, **options)
    assert two.main.shape == (38, 2)
    assert two.error == pytest.approx(5 * one.error, rel=1e-9)


def test_results_are_tables_and_words(classes):
    X, y = classes
    trees = {depth: DecisionTreeClassifier(max_depth=depth) for depth in (1, 5)}
    found = bias_variance_curve(trees, X, y, n_rounds=5, random_state=0)
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.tolist() == [1, 5]
    np.testing.assert_allclose(frame["error"], frame["bias"] + frame["net_variance"])
    assert repr(found).split("\n")[0].split() == ["zero_one", "bias", "variance"]
    assert "where the main prediction is right, less" in repr(found[1])
    assert "BiasVariance of 5 fits on 40 rows" in repr(found[1])


def test_progress_is_printed_and_the_fits_log_as_one(numbers, capsys, caplog):
    X, y = numbers
    with caplog.at_level("INFO", logger="committee"):
        bias_variance(DecisionTreeRegressor(), X, y, n_rounds=4, verbose=1)
    assert "bias_variance: 4 of 4 fits" in capsys.readouterr().err
    (record,) = caplog.records
    assert record.getMessage().startswith("bias_variance: 4 fits, ")


def test_an_interrupt_ends_the_fits(ctrl_c):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 20)), rng.normal(size=3000)
    ctrl_c(0.3)
    with pytest.raises(KeyboardInterrupt):
        bias_variance(RandomForestRegressor(200), X, y, n_rounds=2000)


X2, Y2 = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": DecisionTreeClassifier}, "must be an estimator with fit and predict"),
        ({"estimator": "tree"}, "must be an estimator with fit and predict"),
        ({"n_rounds": 1}, "n_rounds must be an int >= 2"),
        ({"loss": "mse"}, 'loss must be "zero_one", "squared_error" or None'),
        ({"ddof": 2}, r"ddof must be an int in \[0, 1\]"),
        ({"ddof": 1}, 'ddof must be 0 for the loss "zero_one"'),
        ({"truth": Y2}, "truth must be None for the zero-one loss"),
        ({"loss": "squared_error", "truth": [0.5]}, "truth must hold finite numbers in the shape"),
        ({"test": X2}, r"test must be a pair, \(X_test, y_test\), or None"),
        ({"test": (X2[:, :1], Y2)}, "X has 1 features, but bias_variance is expecting 2"),
        ({"test": (X2, Y2[:2])}, "inconsistent numbers of samples"),
        ({"test_size": 1.0}, "test_size must be a number in"),
        ({"samples": "jackknife"}, 'samples must be "bootstrap" or "subsample"'),
        ({"samples": [[0, 1]]}, "samples by row numbers need test"),
        ({"samples": [[0, 9]], "test": (X2, Y2)}, r"row numbers in \[0, 3\]; entry 0 holds 9"),
        ({"samples": [[0.5]], "test": (X2, Y2)}, "lists of row numbers; entry 0 is"),
        (
            {"samples": [[0]], "test": (X2, Y2), "sample_size": 2},
            "sample_size must be None where samples are given",
        ),
        ({"samples": "subsample", "sample_size": 5}, "lower sample_size"),
        ({"sample_size": 0}, "sample_size must be"),
        ({"y": None}, "the target y is None"),
        ({"y": Y2[:3]}, "inconsistent numbers of samples"),
        ({"sample_weight": [-1, 1, 1, 1]}, "Negative values"),
        ({"random_state": -1}, "random_state must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"X": lambda rng: (X2, Y2)}, "y must be None if X is a callable"),
        ({"X": lambda rng: (X2, Y2), "y": None}, "test must be given"),
        (
            {"X": lambda rng: (X2, Y2), "y": None, "samples": "subsample"},
            "samples must not be given if X is a callable",
        ),
        (
            {"X": lambda rng: X2, "y": None, "test": (X2, Y2)},
            "X must return a table and a target",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(options, message):
    arguments = {"estimator": DecisionTreeClassifier(), "X": X2, "y": Y2} | options
    with pytest.raises((TypeError, ValueError), match=message):
        bias_variance(**arguments)


def test_classifiers_and_regressors_do_not_mix():
    both = {"a": DecisionTreeClassifier(), "b": DecisionTreeRegressor()}
    with pytest.raises(ValueError, match="all classifiers or all regressors; got both"):
        bias_variance_curve(both, X2, Y2)
    with pytest.raises(TypeError, match="estimators must be a dict"):
        bias_variance_curve({}, X2, Y2)
    with pytest.raises(ValueError, match='loss must be "squared_error" or None for regressors'):
        bias_variance(DecisionTreeRegressor(), X2, Y2, loss="zero_one")
