"""Bagging and threads, seeds, warm starts, failed fits, tables, files, what is refused."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import sklearn.ensemble
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import committee
from committee import DecisionTreeClassifier, DecisionTreeRegressor
from committee.bagging.classifier import BaggingClassifier
from committee.bagging.regressor import BaggingRegressor
from committee.base.work import in_order
from committee.datasets import load_penguins

BOTH = [BaggingClassifier, BaggingRegressor]


# --- promises -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [DecisionTreeClassifier(max_features=1), make_pipeline(StandardScaler(), SGDClassifier())],
)
def test_the_model_is_the_same_for_any_number_of_workers(estimator, iris):
    X, y = iris
    models = [
        BaggingClassifier(estimator, 25, max_features=3, oob_score=True, random_state=5, n_jobs=n)
        for n in (1, 2)
    ]
    one, two = [model.fit(X, y) for model in models]
    assert np.array_equal(one.oob_decision_function_, two.oob_decision_function_, equal_nan=True)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert np.array_equal(one.oob_curve_.score, two.oob_curve_.score, equal_nan=True)


def test_members_have_seeds_of_their_own_also_inside_pipelines(iris):
    X, y = iris
    tree = DecisionTreeClassifier(max_features=1)
    model = BaggingClassifier(make_pipeline(StandardScaler(), tree), 4, random_state=0).fit(X, y)
    seeds = [member[-1].random_state for member in model]
    assert len(set(seeds)) == 4
    assert all(0 <= seed < 2**31 for seed in seeds)
    again = BaggingClassifier(make_pipeline(StandardScaler(), tree), 4, random_state=0).fit(X, y)
    assert seeds == [member[-1].random_state for member in again]
    assert tree.random_state is None


def test_own_members_use_one_thread_each(iris):
    model = BaggingClassifier(n_estimators=2).fit(*iris)
    assert [member.n_jobs for member in model] == [1, 1]
    assert model.estimator_.n_jobs is None


@pytest.mark.parametrize("weighting", [None, "oob"])
def test_warm_start_equals_a_fit_from_scratch(weighting, diabetes):
    X, y = diabetes
    options = {"oob_score": True, "max_features": 0.5, "random_state": 3, "weighting": weighting}
    whole = BaggingRegressor(n_estimators=25, **options).fit(X, y)
    grown = BaggingRegressor(n_estimators=20, warm_start=True, **options).fit(X, y)
    old = grown.estimators_.forest
    grown.set_params(n_estimators=25).fit(X, y)
    assert len(grown.estimators_) == 25
    np.testing.assert_array_equal(old.node_counts(), grown.estimators_.forest.node_counts()[:20])
    for name in ("oob_prediction_", "oob_member_errors_"):
        np.testing.assert_array_equal(getattr(grown, name), getattr(whole, name))
    np.testing.assert_array_equal(grown.oob_curve_.score, whole.oob_curve_.score)
    np.testing.assert_array_equal(grown.predict(X), whole.predict(X))
    for mine, theirs in zip(grown.estimators_samples_, whole.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_warm_start_says_what_it_cannot_do(iris):
    X, y = iris
    model = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="adds no members"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal to"):
        model.set_params(n_estimators=2).fit(X, y)
    model.set_params(n_estimators=5)
    for other in ((X[:100], y[:100]), (X[:, :2], y), (X, y > 0)):
        with pytest.raises(ValueError, match="have changed"):
            model.fit(*other)
    with pytest.raises(ValueError, match="have changed"):
        clone(model).fit(X, y).set_params(n_estimators=9, max_samples=10).fit(X, y)
    with pytest.raises(ValueError, match="warm_start must be False with partition=True"):
        model.set_params(partition=True).fit(X, y)


TRIED = []


class Breaks(DecisionTreeClassifier):
    """Fits twice, then fails."""

    error = None

    def fit(self, X, y, sample_weight=None):
        if self.error is not None and len(TRIED) > 1:
            raise self.error
        TRIED.append(self)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("broken")])
@pytest.mark.parametrize("warm_start", [False, True])
def test_a_fit_that_fails_leaves_the_model_as_it_was(error, warm_start, iris, monkeypatch):
    X, y = iris
    model = BaggingClassifier(Breaks(), 3, max_samples=150, random_state=0, n_jobs=1)
    model.set_params(oob_score=True)
    with pytest.warns(UserWarning, match="drawn by every member"):
        model.fit(X[:120], y[:120])
    before = {name: id(value) for name, value in vars(model).items()}
    monkeypatch.setattr(Breaks, "error", error)
    TRIED.clear()
    model.set_params(n_estimators=6, warm_start=warm_start)
    with pytest.raises(type(error)):
        model.fit(X[:120], y[:120])
    after = {name: id(value) for name, value in vars(model).items()}
    for changed in ("n_estimators", "warm_start"):
        assert after.pop(changed)
        before.pop(changed)
    assert after == before


def test_verbose_tells_the_progress(iris, capsys):
    BaggingClassifier(GaussianNB(), n_estimators=20, verbose=1).fit(*iris)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("BaggingClassifier: 20 of 20 members")
    BaggingClassifier(n_estimators=20, verbose=1).fit(*iris)
    assert "BaggingClassifier: 20 of 20" in capsys.readouterr().err


def test_threads_of_our_members_keep_order_errors_and_configuration():
    def work(number):
        if number == 5:
            raise ValueError("the fifth")
        return number, sklearn.get_config()["enable_metadata_routing"]

    def calls(n):
        return in_order(work, [(i,) for i in range(n)], 2, use_threads=True, own=True)

    with sklearn.config_context(enable_metadata_routing=True):
        assert list(calls(5)) == [(i, True) for i in range(5)]
    assert list(calls(2)) == [(0, False), (1, False)]
    with pytest.raises(ValueError, match="the fifth"):
        list(calls(8))


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_with_text_and_missing_values_reach_members_that_take_them(kind):
    X, y = load_penguins()
    if kind != "pandas":
        X = pl.from_pandas(X)
    if kind == "pyarrow":
        X = X.to_arrow()
    model = BaggingClassifier(n_estimators=15, max_features=4, oob_score=True, random_state=0)
    model.fit(X, y)
    assert model.oob_score_ > 0.9
    assert model.feature_names_in_.tolist()[0] == "island"
    for member, columns in zip(model, model.estimators_features_, strict=True):
        assert member.feature_names_in_.tolist() == model.feature_names_in_[columns].tolist()
    names = list(model.feature_names_in_)[::-1]
    mixed = X.select(names) if kind != "pandas" else X[names]
    assert np.array_equal(model.predict(mixed), model.predict(X))


@pytest.mark.parametrize("library", [pd, pl])
def test_pipelines_select_columns_by_name(library):
    X, y = load_penguins()
    frame = library.DataFrame({name: X[name].fillna(X[name].mode()[0]).tolist() for name in X})
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["island", "sex"]),
        (StandardScaler(), ["bill_length_mm", "body_mass_g"]),
    )
    pipeline = make_pipeline(encode, LogisticRegression())
    model = BaggingClassifier(pipeline, 5, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.95


def test_features_drawn_twice_have_distinct_names():
    X, y = load_penguins()
    model = BaggingClassifier(n_estimators=5, bootstrap_features=True, random_state=0).fit(X, y)
    columns = model.estimators_features_[0]
    assert len(set(columns)) < len(columns)
    assert len(set(model[0].feature_names_in_)) == len(columns)
    assert model.score(X, y) > 0.9
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)))
    BaggingRegressor(n_estimators=5, bootstrap_features=True).fit(numbers, numbers[0])


def test_sparse_tables_stay_sparse(iris):
    from scipy.sparse import coo_array, issparse

    class Sees(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            assert issparse(X)
            return super().fit(X.toarray(), y, sample_weight)

        def predict_proba(self, X):
            return super().predict_proba(X.toarray())

    X, y = iris
    model = BaggingClassifier(Sees(), 3, max_features=2, random_state=0).fit(coo_array(X), y)
    dense = BaggingClassifier(GaussianNB(), 3, max_features=2, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(coo_array(X)), dense.predict_proba(X))


def test_several_outputs_of_a_regression(diabetes):
    X, y = diabetes
    both = np.column_stack([y, -2 * y])
    model = BaggingRegressor(n_estimators=20, oob_score=True, random_state=0).fit(X, both)
    assert model.predict(X).shape == model.oob_prediction_.shape == both.shape
    np.testing.assert_allclose(model.predict(X)[:, 1], -2 * model.predict(X)[:, 0])
    known = ~np.isnan(model.oob_prediction_).any(axis=1)
    assert model.oob_score_ == pytest.approx(r2_score(both[known], model.oob_prediction_[known]))


def test_class_weights_are_given_by_label():
    X = [[0.0], [0.0], [0.0], [1.0]]
    y = ["no", "no", "yes", "yes"]
    tree = DecisionTreeClassifier(class_weight={"yes": 100.0})
    model = BaggingClassifier(tree, 5, bootstrap=False).fit(X, y)
    assert model.predict([[0.0]]) == ["yes"]
    assert tree.class_weight == {"yes": 100.0}


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_models_survive_pickle(cls, iris):
    X, y = iris
    model = cls(n_estimators=4, max_features=0.5, random_state=0).fit(X, y, np.arange(150.0))
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(X), model.predict(X))
    for mine, theirs in zip(copy.estimators_samples_, model.estimators_samples_, strict=True):
        assert np.array_equal(mine, theirs)


def test_models_of_our_members_survive_files_and_others_say_why_not(iris, tmp_path):
    X, y = iris
    path = tmp_path / "bag.committee"
    model = BaggingClassifier(
        n_estimators=30, oob_score=True, weighting="oob", max_features=0.5, random_state=0
    )
    committee.save(model.fit(X, y), path)
    copy = committee.load(path)
    assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(copy.oob_curve_.score, model.oob_curve_.score, equal_nan=True)
    for mine, theirs in zip(copy.estimators_samples_, model.estimators_samples_, strict=True):
        assert np.array_equal(mine, theirs)
    foreign = BaggingClassifier(SVC(), n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match=r"SVC: it keeps rows .*skops"):
        committee.save(foreign, path)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an int >= 1; got 0"),
        ({"n_estimators": 2.0}, r"n_estimators must be an int >= 1; got 2\.0"),
        ({"max_samples": 0}, "max_samples must be None, an int >= 1 or a float > 0; got 0"),
        ({"max_features": 5}, "max_features must be <= n_features, here 4; got 5"),
        ({"max_features": 0.0}, "max_features must be None, "),
        ({"bootstrap": "yes"}, "bootstrap must be True or False; got 'yes'"),
        ({"voting": "loud"}, 'voting must be "soft" or "hard"; got'),
        ({"weighting": "train"}, 'weighting must be "oob" or None; got'),
        ({"stratify": True}, 'stratify must be "classes", "balanced" or None; got True'),
        ({"oob_score": "acuracy"}, "oob_score must be True, False, a metric"),
        ({"bootstrap": False, "oob_score": True}, "oob_score needs rows that some member has not"),
        ({"bootstrap": False, "weighting": "oob"}, 'weighting="oob" needs rows that some member'),
        ({"bootstrap": False, "max_samples": 151}, "at most 150 can be drawn"),
        ({"partition": True, "max_samples": 3}, "max_samples must be None with partition=True"),
        ({"partition": True, "n_estimators": 151}, "cannot deal 150 rows"),
        ({"partition": True, "stratify": "balanced"}, 'stratify must be None or "classes" with'),
        ({"n_jobs": 0}, "n_jobs must be None or an int other than 0"),
        ({"random_state": -1}, "random_state must be"),
        ({"verbose": -1}, "verbose must be an int >= 0"),
        ({"estimator": DecisionTreeRegressor()}, "estimator must be a classifier; got Dec"),
        ({"estimator": DecisionTreeClassifier}, "estimator must be an instance of a classifier"),
        ({"estimator": "tree"}, "estimator must be an instance of a classifier with fit"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_in_plain_words(options, message, iris):
    with pytest.raises((ValueError, TypeError), match=message):
        BaggingClassifier(**options).fit(*iris)


def test_input_that_makes_no_sense_is_refused_in_plain_words(iris):
    X, y = iris
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        BaggingClassifier().fit(X, y, -np.ones(150))
    with pytest.raises(ValueError, match="groups must have one entry a row"):
        BaggingClassifier().fit(X, y, groups=[1, 2])
    with pytest.raises(ValueError, match="y should be a 1d array, got an array of shape"):
        BaggingClassifier().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BaggingRegressor().fit(X, y[:-1])
    with pytest.raises(TypeError, match="unexpected keyword argument 'stratify'"):
        BaggingRegressor(stratify="classes")
    with pytest.raises(ValueError, match='combine must be "mean" or "median"'):
        BaggingRegressor(combine="mode").fit(X, y)
    with pytest.raises(NotFittedError, match="This BaggingRegressor instance is not fitted yet"):
        BaggingRegressor().predict(X)
    with pytest.warns(UserWarning, match="drawn without replacement: a row of weight two"):
        BaggingRegressor(bootstrap=False, max_samples=50).fit(X, y, np.ones(150) + y)
    model = BaggingClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but BaggingClassifier is expecting 4"):
        model.predict(X[:, :2])
