"""Scikit-learn's metadata routing: ensembles ask their members, as scikit-learn's do."""

import warnings

import numpy as np
import pytest
import sklearn
import sklearn.ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import committee


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def rows():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 2))
    return X, (X.sum(axis=1) > 0).astype(int), generator.uniform(0.1, 3, 60)


class Recorder(ClassifierMixin, BaseEstimator):
    """Says yes to the second class, and writes down which arguments its methods got."""

    def __init__(self, log=None):
        self.log = log

    def __sklearn_clone__(self):
        twin = type(self)(self.log)
        twin._metadata_request = self._get_metadata_request()
        return twin

    def _note(self, method, **params):
        self.log.append((method, {k for k, v in params.items() if v is not None}))

    def fit(self, X, y, sample_weight=None, metadata=None):
        self._note("fit", sample_weight=sample_weight, metadata=metadata)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X, sample_weight=None, metadata=None):
        self._note("predict", sample_weight=sample_weight, metadata=metadata)
        return np.full(len(X), self.classes_[-1])


def voting(library, *members, **options):
    return library.VotingClassifier(list(enumerate_names(members)), **options)


def stacking(library, *members, **options):
    return library.StackingClassifier(list(enumerate_names(members)), **options)


def enumerate_names(members):
    return [(f"m{number}", member) for number, member in enumerate(members)]


def bagging(library, member, **options):
    return library.BaggingClassifier(member, 3, random_state=0, **options)


ours_and_theirs = {"argvalues": [committee, sklearn.ensemble], "ids": ["ours", "theirs"]}
LIBRARIES = pytest.mark.parametrize("library", **ours_and_theirs)
MAKERS = pytest.mark.parametrize("make", [voting, stacking, bagging])


def search(model, X, y, **params):
    model.set_score_request(sample_weight=False)
    found = GridSearchCV(model, {"n_jobs": [None]}, cv=KFold(2), error_score="raise")
    return found.fit(X, y, **params)


@LIBRARIES
@MAKERS
def test_a_search_passes_weights_by_the_requests_of_members_alone(make, library, rows):
    X, y, weights = rows
    model = make(library, LogisticRegression().set_fit_request(sample_weight=True))
    found = search(model, X, y, sample_weight=weights)
    whole = clone(model).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(found.predict(X), whole.predict(X))
    if make is not bagging:  # whose samples are drawn by the weights
        with pytest.raises(UnsetMetadataPassedError, match=r"LogisticRegression.fit"):
            search(make(library, LogisticRegression()), X, y, sample_weight=weights)


@LIBRARIES
@MAKERS
def test_groups_of_a_search_are_for_its_splitter(make, library, rows):
    X, y, _ = rows
    groups = np.arange(60) // 6
    model = make(library, GaussianNB())
    scores = cross_val_score(model, X, y, cv=GroupKFold(3), params={"groups": groups})
    assert (scores > 0.5).all()


@pytest.mark.parametrize(
    "model",
    [
        committee.GradientBoostingClassifier(n_estimators=3),
        committee.RandomForestClassifier(3, random_state=0),
        committee.ExtraTreesRegressor(3, random_state=0),
        committee.GradientBoostingRegressor(n_estimators=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_groups_reach_models_that_ask_for_them(model, rows):
    X, y, _ = rows
    groups = {"groups": np.arange(60) // 6}
    cross_val_score(model, X, y, cv=GroupKFold(3), params=groups)
    asking = clone(model).set_fit_request(groups=True)
    found = [each.get_metadata_routing().consumes("fit", ["groups"]) for each in (model, asking)]
    assert found == [set(), {"groups"}]


@LIBRARIES
@pytest.mark.parametrize("make", [voting, stacking])
def test_weights_of_all_ones_are_passed_on(make, library, rows):
    X, y, _ = rows
    log = []
    member = Recorder(log).set_fit_request(sample_weight=True)
    final = {"final_estimator": Recorder(log)} if make is stacking else {}
    make(library, member, **final).fit(X, y, sample_weight=np.ones(60))
    assert {frozenset(given) for method, given in log if method == "fit"} == {
        frozenset({"sample_weight"})
    }


@LIBRARIES
@pytest.mark.parametrize("name", ["sample_weight", "metadata"])
def test_stacks_ask_the_meta_learner_at_predict_only(name, library, rows):
    X, y, weights = rows
    log, final_log = [], []
    member = Recorder(log).set_fit_request(**{name: True})
    final = Recorder(final_log).set_predict_request(**{name: True})
    stack = stacking(library, member, final_estimator=final).fit(X, y, **{name: weights})
    stack.predict(X, **{name: weights})
    assert final_log == [("fit", {name}), ("predict", {name})]
    assert {frozenset(given) for method, given in log if method == "fit"} == {frozenset({name})}


def test_a_meta_learner_can_decline_weights(rows):
    X, y, weights = rows
    log = []
    final = Recorder(log).set_fit_request(sample_weight=False)
    member = GaussianNB().set_fit_request(sample_weight=True)
    stacking(committee, member, final_estimator=final).fit(X, y, sample_weight=weights)
    assert log == [("fit", set())]
    piped = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False),
        LogisticRegression().set_fit_request(sample_weight=True),
    )
    with_weights = stacking(committee, member, final_estimator=piped)
    without = stacking(committee, member, final_estimator=clone(piped).set_params())
    with_weights.fit(X, y, sample_weight=weights)
    without.fit(X, y)
    assert (with_weights.final_estimator_[-1].coef_ != without.final_estimator_[-1].coef_).all()


@LIBRARIES
@pytest.mark.parametrize("make", [voting, stacking])
def test_all_arguments_that_nobody_asked_for_are_named_at_once(make, library, rows):
    X, y, weights = rows
    with pytest.raises(
        UnsetMetadataPassedError,
        match=r"\[sample_weight, metadata\] are passed .* Recorder.fit",
    ):
        make(library, Recorder([])).fit(X, y, sample_weight=weights, metadata="a")


@LIBRARIES
def test_members_that_decline_weights_learn_without_them(library, rows):
    X, y, weights = rows
    declined = (
        GaussianNB().set_fit_request(sample_weight=False)
        if library is sklearn.ensemble
        else committee.DecisionTreeClassifier(max_depth=2).set_fit_request(sample_weight=False)
    )
    asked = LogisticRegression().set_fit_request(sample_weight=True)
    model = voting(library, declined, asked).fit(X, y, sample_weight=weights)
    alone = clone(declined).fit(X, y)
    np.testing.assert_array_equal(model.estimators_[0].predict_proba(X), alone.predict_proba(X))
    weighted = clone(asked).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.estimators_[1].predict_proba(X), weighted.predict_proba(X))


@LIBRARIES
def test_without_routing_every_member_has_to_take_weights(library, rows):
    X, y, weights = rows
    with sklearn.config_context(enable_metadata_routing=False), warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=2)
        voting(library, search, voting="soft").fit(X, y, sample_weight=weights)
        for member in (KNeighborsClassifier(), make_pipeline(StandardScaler(), GaussianNB())):
            with pytest.raises((TypeError, ValueError), match=r"sample.weight"):
                voting(library, member).fit(X, y, sample_weight=np.ones(60))
        with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
            voting(library, GaussianNB()).fit(X, y, metadata="a")
