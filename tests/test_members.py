"""One way to fit members on rows, and one way to their predictions."""

import json
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import StackingClassifier as ScikitStack
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from team_tools import WantsAllCodes

import committee
from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from committee.combining.fold_mean import FoldMean
from committee.members.output import Output


@pytest.fixture
def three():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    return X, np.repeat([0, 1, 2], 30)


def test_the_score_of_a_class_that_a_member_lacks_depends_on_no_other_row(three):
    X, y = three
    member = LogisticRegression().fit(X[y != 1], y[y != 1])
    output = Output("decision_function", 3)
    together = output.predict(member, X)
    alone = np.vstack([output.predict(member, X[[row]]) for row in range(len(X))])
    np.testing.assert_allclose(together, alone, rtol=1e-12)
    assert (together[:, 1] <= together[:, [0, 2]].min(axis=1)).all()


def test_a_score_for_the_only_class_that_a_member_saw_is_refused():
    class Constant:
        classes_ = np.array([1])

        def decision_function(self, X):
            return np.ones(len(X))

    with pytest.raises(ValueError, match="saw 1 of 2 classes"):
        Output("decision_function", 2).predict(Constant(), np.zeros((3, 1)))


def test_bagging_renumbers_classes_for_members_that_want_codes_without_gaps(three):
    X, y = three
    rows = np.r_[:30, 30, 60:90]  # some samples lack the class in the middle
    model = BaggingClassifier(WantsAllCodes(), 20, random_state=0).fit(X[rows], y[rows])
    lacking = [len(each.classes_) < 3 for each in model.estimators_]
    assert any(lacking)
    expected = np.mean(
        [Output("predict_proba", 3).predict(each, X) for each in model.estimators_], axis=0
    )
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)


def test_boosting_renumbers_labels_for_members_that_want_codes(three):
    X, y = three
    labels = np.array(["b", "a", "c"])[y]
    model = AdaBoostClassifier(WantsAllCodes(), n_estimators=3).fit(X, labels)
    plain = AdaBoostClassifier(LogisticRegression(), n_estimators=3).fit(X, labels)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-9)


class WantsTwoClasses(LogisticRegression):
    """Refuses a single class with an error of its own kind, as CatBoost's do."""

    class Refusal(Exception):
        pass

    def fit(self, X, y, sample_weight=None):
        if len(np.unique(y)) == 1:
            raise self.Refusal("only one unique value")
        return super().fit(X, y, sample_weight)


def test_samples_of_one_class_suit_members_with_errors_of_their_own(three):
    X, y = three
    rows = np.r_[:30, 30]
    model = BaggingClassifier(WantsTwoClasses(), 8, random_state=0).fit(X[rows], y[rows])
    assert any((y[rows][drawn] == 0).all() for drawn in model.estimators_samples_)
    assert (model.predict_proba(X)[:, 0] > 0.5).all()
    one = BaggingClassifier(WantsTwoClasses(), 2)
    with pytest.raises(ValueError, match=r"y has 1 class, 0, .* only one unique value"):
        one.fit(X[:30], y[:30])


@pytest.mark.parametrize(
    ("action", "n_jobs"), [("always", 1), ("always", 2), ("ignore", 1), ("error", 1)]
)
def test_members_of_other_libraries_warn_once(action, n_jobs, three):
    X, y = three
    line = LogisticRegression(max_iter=1)
    for model in (
        BaggingClassifier(line, 6, random_state=0, n_jobs=n_jobs),
        StackingClassifier([("line", line)], LogisticRegression(), n_jobs=n_jobs),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            if action == "error":
                with pytest.raises(ConvergenceWarning):
                    model.fit(X, y)
            else:
                model.fit(X, y)
        assert [each.category for each in caught] == [ConvergenceWarning] * (action == "always")
        assert all(each.filename == __file__ for each in caught)


def test_models_of_folds_keep_their_name_in_files(three, tmp_path):
    X, y = three
    stack = StackingClassifier([("tree", committee.DecisionTreeClassifier())], refit=False)
    path = tmp_path / "stack.committee"
    committee.save(stack.fit(X, y), path)
    with zipfile.ZipFile(path) as archive:
        text = " ".join(archive.read(n).decode() for n in archive.namelist() if "json" in n)
    assert '"voice"' in json.dumps(json.loads(text)) if text.startswith("{") else '"voice"' in text
    again = committee.load(path)
    assert type(again.estimators_[0]) is FoldMean
    assert again.estimators_[0].output.method == "predict_proba"
    np.testing.assert_array_equal(again.predict_proba(X), stack.predict_proba(X))


def test_models_of_folds_have_the_methods_of_what_they_average(three):
    X, y = three
    models = [committee.DecisionTreeClassifier().fit(X, y)]
    shares, votes = (FoldMean(Output(m, 3), models) for m in ("predict_proba", "predict"))
    assert hasattr(shares, "predict_proba")
    assert not hasattr(votes, "predict_proba")
    np.testing.assert_array_equal(votes.predict(X), models[0].predict(X))


@pytest.mark.parametrize("cls", [StackingClassifier, ScikitStack])
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_stacks_as_members_give_probabilities_of_having_a_label(cls, in_pipeline):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, :2] > 0).astype(int)
    inner = cls(
        [("forest", RandomForestClassifier(9, random_state=0))],
        RandomForestClassifier(9, random_state=0),
    )
    member = make_pipeline(StandardScaler(), inner) if in_pipeline else inner
    final = RandomForestClassifier(9, random_state=0)
    stack = StackingClassifier([("stack", member)], final, keep_level_one=True).fit(X, y)
    right = ((stack.level_one_ > 0.5) == y[stack.level_one_rows_]).mean()
    assert right > 0.9
