"""A fitted state is replaced as a whole: predictions come from one fit, whatever threads do."""

import sys
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.metaestimators import available_if

import committee
from committee.base.params import Estimator, reads_one_fit

FAST = {"n_estimators": 3, "random_state": 0, "n_jobs": 1}


def named(*members):
    return [(f"m{i}", member) for i, member in enumerate(members)]


def classifiers():
    tree = committee.DecisionTreeClassifier(max_depth=2)
    members = named(tree, committee.DecisionTreeClassifier())
    yield committee.DecisionTreeClassifier()
    yield committee.C45Classifier()
    yield committee.RandomForestClassifier(**FAST)
    yield committee.ExtraTreesClassifier(**FAST)
    yield committee.BaggingClassifier(committee.C45Classifier(), **FAST)
    yield committee.BaggingClassifier(**FAST)
    yield committee.AdaBoostClassifier(n_estimators=3, random_state=0)
    yield committee.GradientBoostingClassifier(**FAST)
    yield committee.VotingClassifier(members, voting="soft", n_jobs=1)
    yield committee.StackingClassifier(members, cv=2, final_estimator="convex", n_jobs=1)
    yield committee.EnsembleSelectionClassifier(members, random_state=0, n_jobs=1)
    yield committee.DynamicSelectionClassifier(members, random_state=0, n_jobs=1)


def regressors():
    members = named(committee.DecisionTreeRegressor(max_depth=2), committee.DecisionTreeRegressor())
    yield committee.DecisionTreeRegressor()
    yield committee.RandomForestRegressor(**FAST)
    yield committee.AdaBoostRegressor(n_estimators=3, random_state=0)
    yield committee.GradientBoostingRegressor(**FAST)
    yield committee.BaggingRegressor(committee.AdaBoostRegressor(n_estimators=2), **FAST)
    yield committee.VotingRegressor(members, n_jobs=1)
    yield committee.StackingRegressor(members, cv=2, final_estimator="convex", n_jobs=1)
    yield committee.EnsembleSelectionRegressor(members, random_state=0, n_jobs=1)
    yield committee.DynamicSelectionRegressor(members, random_state=0, n_jobs=1)


def repeated(call, *arguments):
    """Call again where scikit-learn warns: its fits change warning filters for all threads."""
    while True:
        try:
            return call(*arguments)
        except UserWarning as warning:
            if "sklearn.utils.parallel" not in str(warning):
                raise


def tables(is_classifier):
    """Return two tables of different width, and targets that have no value in common."""
    rng = np.random.default_rng(0)
    for n_features, shift in ((3, 0), (5, 10)):
        X = rng.normal(size=(60, n_features))
        score = X[:, 0] + 0.5 * X[:, 1]
        y = shift + (np.digitize(score, [-0.5, 0.5]) if is_classifier else np.tanh(score))
        yield X, y


@pytest.mark.parametrize("model", [*classifiers(), *regressors()], ids=repr)
def test_predictions_while_another_thread_fits_are_those_of_one_fit(model):
    is_classifier = hasattr(model, "predict_proba")
    parts = list(tables(is_classifier))
    expected = [model.fit(X, y).predict(X) for X, y in parts]
    model.fit(*parts[0])
    stop = threading.Event()
    wrong: list[str] = []

    def predict():
        while not stop.is_set():
            for (X, _), answer in zip(parts, expected, strict=True):
                try:
                    given = repeated(model.predict, X)
                except ValueError as error:  # the other fit has another number of columns
                    if "features" not in str(error):
                        wrong.append(repr(error))
                    continue
                except Exception as error:
                    wrong.append(repr(error))
                    continue
                if given.shape != answer.shape or not np.array_equal(given, answer):
                    wrong.append(f"{given[:3]} instead of {answer[:3]}")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=predict) for _ in range(3)]
    try:
        for thread in threads:
            thread.start()
        for _ in range(6):
            for X, y in parts:
                repeated(model.fit, X, y)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not wrong, wrong[:3]


class Slow(Estimator):
    """Fits again while it predicts, as another thread might."""

    def fit(self, value):
        self._replace_fitted({"a_": value, "b_": value} | ({"odd_": 1} if value % 2 else {}))
        return self

    def predict(self, other):
        first = self.a_
        other.fit(first + 1)
        return first, self.b_

    @available_if(lambda self: True)
    @reads_one_fit
    def staged_predict(self, other):
        yield self.a_
        other.fit(7)
        yield self.a_


class Derived(Slow):
    def predict(self, other):
        return super().predict(other)


@pytest.mark.parametrize("kind", [Slow, Derived])
def test_a_method_reads_the_attributes_of_the_fit_that_it_started_with(kind):
    model = kind().fit(1)
    assert model.predict(model) == (1, 1)
    assert (model.a_, model.b_) == (2, 2)
    assert list(model.staged_predict(model)) == [2, 2]
    assert model.a_ == 7


def test_attributes_of_an_earlier_fit_are_removed_and_others_stay():
    model = Slow().fit(1)
    model.note, model._note = "kept", "kept"
    assert model.odd_ == 1
    model.fit(2)
    assert not hasattr(model, "odd_")
    assert (model.note, model._note) == ("kept", "kept")


def test_attributes_of_the_fit_of_a_derived_class_stay():
    class Centred(Slow):
        def fit(self, value):
            self.mean_ = value
            return super().fit(value)

    model = Centred().fit(1).fit(2)
    assert (model.mean_, model.a_) == (2, 2)
    assert not hasattr(model, "odd_")


def test_a_loaded_model_forgets_the_names_of_its_columns_when_it_is_fitted_to_an_array(tmp_path):
    table = pd.DataFrame({"a": [0.0, 1.0]})
    committee.save(committee.DecisionTreeClassifier().fit(table, [0, 1]), tmp_path / "model")
    model = committee.load(tmp_path / "model")
    assert hasattr(model, "feature_names_in_")
    assert not hasattr(model.fit(table.to_numpy(), [0, 1]), "feature_names_in_")


def test_what_a_method_of_a_derived_class_sets_stays_with_the_estimator():
    class Counting(committee.DecisionTreeClassifier):
        def predict(self, X, check_input=True):
            self.n_calls = getattr(self, "n_calls", 0) + 1
            return super().predict(X)

    model = Counting().fit([[0], [1]], [0, 1])
    model.predict([[0]])
    model.predict([[1]])
    assert model.n_calls == 2
