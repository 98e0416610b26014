"""Rows that are no table: documents, images, dicts. Ensembles pass them on to their members."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.ensemble
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import committee

DOCUMENTS = ["red apple", "a green apple", "blue sky", "grey and blue sky", "ripe apple"] * 6
LABELS = np.array(["fruit", "fruit", "air", "air", "fruit"] * 6)


def reads_text(model):
    return make_pipeline(TfidfVectorizer(), model)


def text_members():
    return [("line", reads_text(LogisticRegression())), ("bayes", reads_text(MultinomialNB()))]


def text_ensembles():
    return [
        committee.VotingClassifier(text_members(), voting="soft"),
        committee.StackingClassifier(text_members(), cv=3),
        committee.EnsembleSelectionClassifier(text_members(), cv=3, random_state=0),
        committee.BaggingClassifier(reads_text(MultinomialNB()), 4, random_state=0),
        committee.AdaBoostClassifier(reads_text(MultinomialNB()), n_estimators=3, random_state=0),
    ]


@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        np.array,
        lambda rows: np.array(rows, dtype=object),
        lambda rows: pd.Series(rows, index=range(100, 130)),
        pl.Series,
    ],
    ids=["list", "tuple", "text", "objects", "pandas", "polars"],
)
@pytest.mark.parametrize("model", text_ensembles(), ids=lambda each: type(each).__name__)
def test_documents_reach_members(model, kind):
    model = sklearn.base.clone(model).fit(kind(DOCUMENTS), LABELS)
    assert model.score(kind(DOCUMENTS), LABELS) == 1
    assert model.predict(["green apple", "grey sky"]).tolist() == ["fruit", "air"]
    assert model.predict_proba(DOCUMENTS[:0]).shape == (0, 2)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("cls", ["VotingClassifier", "StackingClassifier"])
def test_documents_are_read_as_scikit_learn_reads_them(cls):
    ours, theirs = (
        getattr(library, cls)(text_members()) for library in (committee, sklearn.ensemble)
    )
    ours.fit(DOCUMENTS, LABELS), theirs.fit(DOCUMENTS, LABELS)
    np.testing.assert_array_equal(ours.transform(DOCUMENTS), theirs.transform(DOCUMENTS))


def test_a_vote_about_documents_is_stored(tmp_path):
    vote = committee.VotingClassifier([("none", DummyClassifier(strategy="prior"))], voting="soft")
    vote.fit(DOCUMENTS, LABELS)
    committee.save(vote, tmp_path / "vote")
    loaded = committee.load(tmp_path / "vote")
    np.testing.assert_array_equal(
        loaded.predict_proba(DOCUMENTS[:3]), vote.predict_proba(DOCUMENTS[:3])
    )


def test_dicts_and_series_of_any_length_reach_members():
    dicts = [{"height": k % 3, "colour": "red" if k % 2 else "blue"} for k in range(20)]
    vote = committee.VotingRegressor([("m", make_pipeline(DictVectorizer(), Ridge(alpha=1e-9)))])
    vote.fit(dicts, [10.0 * (k % 2) for k in range(20)])
    np.testing.assert_allclose(vote.predict(dicts[:2]), [0, 10], atol=1e-6)
    ragged = [[1.0] * (1 + k % 4) for k in range(20)]
    lengths = FunctionTransformer(lambda rows: np.array([[len(row)] for row in rows]))
    bag = committee.BaggingRegressor(make_pipeline(lengths, Ridge(alpha=1e-9)), random_state=0)
    bag.fit(ragged, [1 + k % 4 for k in range(20)])
    np.testing.assert_allclose(bag.predict([[1.0, 1.0], [1.0, 1.0, 1.0]]), [2, 3], atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        committee.AdaBoostClassifier(DummyClassifier(strategy="most_frequent"), n_estimators=2),
        committee.VotingClassifier([("m", DummyClassifier(strategy="most_frequent"))]),
        committee.BaggingRegressor(DummyRegressor(), 2, oob_score=False),
        committee.StackingRegressor([("m", DummyRegressor())], cv=2),
        committee.AdaBoostRegressor(DummyRegressor(), n_estimators=2),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.filterwarnings("ignore:the first learner:UserWarning")
def test_arrays_of_more_dimensions_reach_members(model):
    images = np.random.default_rng(0).normal(size=(51, 3, 3))
    model.fit(images, np.arange(51) % 2)
    assert model.predict(images[:5]).shape == (5,)


def test_who_reads_cells_refuses_other_rows():
    for model in (
        committee.VotingClassifier([("tree", committee.DecisionTreeClassifier())]),
        committee.BaggingClassifier(),
        committee.AdaBoostClassifier(),
        committee.StackingClassifier(text_members(), passthrough=True),
        committee.VotingClassifier([("line", LogisticRegression())]),
    ):
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
            model.fit(np.arange(30.0), LABELS)
    with pytest.raises(ValueError, match=r"max_features must be 1.0 .* no table"):
        committee.BaggingClassifier(reads_text(MultinomialNB()), max_features=0.5).fit(
            DOCUMENTS, LABELS
        )
    table = committee.VotingClassifier([("line", LogisticRegression())])
    table.fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match="1D array"):
        table.predict(["a document"])


# --- members and labels of other kinds ---------------------------------------------------------


def test_regressors_are_members_of_stacks_of_classifiers(tmp_path):
    X, y = sklearn.datasets.load_iris(return_X_y=True)
    members = [("ridge", Ridge()), ("line", LogisticRegression(max_iter=1000))]
    ours = committee.StackingClassifier(members, cv=3).fit(X, y)
    theirs = sklearn.ensemble.StackingClassifier(members, cv=3).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.stack_method_ == theirs.stack_method_ == ["predict", "predict_proba"]
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    names = np.array(["a", "b", "c"])[y]
    trees = [
        ("numbers", committee.RandomForestRegressor(30, random_state=0)),
        ("classes", committee.RandomForestClassifier(30, random_state=0)),
    ]
    own = committee.StackingClassifier(trees, cv="oob").fit(X, names)
    assert own.score(X, names) > 0.95
    committee.save(own, tmp_path / "stack")
    loaded = committee.load(tmp_path / "stack")
    np.testing.assert_array_equal(loaded.predict_proba(X), own.predict_proba(X))
    for refused, match in (
        ({"final_estimator": "convex"}, "convex"),
        ({"leak_check": True}, "leak_check"),
    ):
        with pytest.raises(ValueError, match=match + r".* \['ridge'\] are regressors"):
            committee.StackingClassifier(members, **refused).fit(X, y)
    with pytest.raises(ValueError, match="should be a classifier"):
        committee.VotingClassifier(members).fit(X, y)


@pytest.mark.parametrize("y", [["foo", 1, 1], [True, "x", "x"], ["a", 1.5, 2]], ids=repr)
def test_mixed_lists_of_labels_are_text_as_in_scikit_learn(y):
    X = [[0.0], [1.0], [2.0]]
    theirs = sklearn.tree.DecisionTreeClassifier().fit(X, y)
    for cls in (committee.DecisionTreeClassifier, committee.AdaBoostClassifier):
        ours = cls().fit(X, y)
        assert ours.classes_.tolist() == theirs.classes_.tolist()
        assert ours.predict(X).tolist() == theirs.predict(X).tolist()


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=repr)
def test_a_missing_label_in_a_list_is_no_class(missing):
    with pytest.raises(ValueError, match="y contains NaN"):
        committee.DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["a", missing, "b"])
