"""ID3 and C4.5 keep scikit-learn's conventions, and work inside ensembles and files."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_quinlan_oracle import as_frame, random_table

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    ID3Classifier,
    ModelFileError,
    bootstrap_score,
    export_text,
    load,
    save,
)
from committee.files.codec import decode, encode
from committee.tables import source as _source
from committee.tables import table as _table
from committee.trees.quinlan.nominal_table import NominalCodes

BOTH = [ID3Classifier(), C45Classifier(), C45Classifier(category_split="grouped")]


@parametrize_with_checks(
    [
        ID3Classifier(),
        ID3Classifier(max_depth=4, min_gain=0.01),
        C45Classifier(),
        C45Classifier(criterion="gain", pruning=None, min_samples_leaf=1, split_finding="hist"),
        C45Classifier(category_split="grouped", subtree_raising=False, confidence=0.1),
    ]
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", BOTH, ids=repr)
def test_tags_say_what_the_trees_can_do(model):
    tags = get_tags(model)
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert not tags.target_tags.multi_output
    assert tags.classifier_tags.multi_class


@pytest.fixture
def table(rng):
    columns, _ = random_table(rng, 300)
    X = as_frame(columns)
    y = np.where(X["x1"] == "v0", "a", np.where(X["x3"] + X["x4"] > 5, "b", "c"))
    y = np.where(rng.random(300) < 0.1, rng.choice(["a", "b", "c"], 300), y)
    return X.mask(rng.random(X.shape) < 0.1), y


# --- ensembles ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", BOTH, ids=repr)
def test_bagged_trees_are_the_trees_of_their_samples(tree, table):
    X, y = table
    model = BaggingClassifier(tree, 25, oob_score=True, random_state=0).fit(X, y)
    shares = np.mean([member.predict_proba(X) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), shares, atol=1e-12)
    assert model.oob_score_ > 0.6
    first = clone(tree).fit(X, y, np.bincount(model.estimators_samples_[0], minlength=len(y)))
    np.testing.assert_allclose(
        first.predict_proba(X), model.estimators_[0].predict_proba(X), atol=1e-12
    )


@pytest.mark.parametrize("tree", [ID3Classifier(max_depth=2), C45Classifier(max_depth=2)], ids=repr)
def test_boosting_makes_small_trees_better(tree, table):
    X, y = table
    boosted = AdaBoostClassifier(tree, n_estimators=20, random_state=0).fit(X, y)
    assert boosted.score(X, y) > clone(tree).fit(X, y).score(X, y) + 0.05
    assert len(boosted.estimators_) > 5


def test_trees_vote_and_are_stacked(table):
    X, y = table
    members = [("id3", ID3Classifier(max_depth=3)), ("c45", C45Classifier())]
    voting = VotingClassifier(members, voting="soft").fit(X, y)
    mean = np.mean([m.predict_proba(X) for m in voting.estimators_], axis=0)
    np.testing.assert_allclose(voting.predict_proba(X), mean)
    stack = StackingClassifier(members, LogisticRegression(), cv=3).fit(X, y)
    assert stack.score(X, y) > 0.5


def test_scikit_learns_searches_and_our_bootstrap_take_the_trees(table):
    X, y = table
    search = GridSearchCV(C45Classifier(), {"confidence": [0.01, 0.25, 0.5]}, cv=3).fit(X, y)
    assert search.best_params_["confidence"] in (0.01, 0.25, 0.5)
    assert cross_val_score(ID3Classifier(), X, y, cv=3).mean() > 0.35
    assert bootstrap_score(C45Classifier(), X, y, n_resamples=30, random_state=0).score > 0.35


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", BOTH, ids=repr)
def test_a_saved_tree_answers_the_same(model, table, tmp_path):
    X, y = table
    model.fit(X, y)
    save(model, tmp_path / "tree.committee")
    for loaded in (load(tmp_path / "tree.committee"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        assert loaded.get_params() == model.get_params()
        assert str(loaded.explain_growth(X, y)) == str(model.explain_growth(X, y))
        assert str(loaded.extract_rules(X, y)) == str(model.extract_rules(X, y))
        view = pickle.loads(pickle.dumps(loaded.tree_))
        np.testing.assert_array_equal(view.predict(X), model.predict_proba(X))


def test_a_bagged_committee_of_trees_is_saved(table, tmp_path):
    X, y = table
    model = BaggingClassifier(C45Classifier(), 4, random_state=0).fit(X, y)
    save(model, tmp_path / "bag.committee")
    loaded = load(tmp_path / "bag.committee")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def tampered(model, path, **attributes):
    """Save a model after changing what it holds."""
    for name, value in attributes.items():
        setattr(model, name, value)
    save(model, path)
    return path


def test_a_file_whose_parts_do_not_fit_is_refused(table, tmp_path):
    X, y = table
    other = ID3Classifier().fit(X.iloc[:, :2], y)

    def id3():
        return ID3Classifier().fit(X, y)

    cases = {
        "_tree": other._tree,
        "schema_": other.schema_,
        "_codes": other._codes,
        "classes_": np.array(["one"]),
    }
    for name, value in cases.items():
        path = tampered(id3(), tmp_path / f"{name}.committee", **{name: value})
        with pytest.raises(ModelFileError):
            load(path)
    # A tree of levels whose file states that it was grown on the table as it is.
    fewer = ID3Classifier().fit(X.fillna({"x0": "zz"}), y)
    path = tampered(id3(), tmp_path / "levels.committee", _codes=None, _tree=fewer._tree)
    with pytest.raises(ModelFileError):
        load(path)


def test_cuts_in_a_file_are_checked():
    model = ID3Classifier().fit(pd.DataFrame({"x": np.arange(60.0)}), np.arange(60) // 20)
    (cuts,) = model._codes.cuts
    assert len(cuts) == 2
    decode(*encode(model._codes))
    for bad in (cuts[::-1], cuts.astype(np.float32), np.r_[cuts, np.nan], cuts[:, None], None):
        with pytest.raises(ValueError, match="cuts"):
            decode(*encode(NominalCodes(model._codes.schema, (bad,))))
    with pytest.raises(ValueError, match="cuts do not fit"):
        decode(*encode(NominalCodes(model._codes.schema, ())))


def test_members_read_a_shared_table_once(table, monkeypatch):
    X, y = table
    reads = []
    read = _source.pandas_column
    monkeypatch.setattr(_source, "pandas_column", lambda *a: reads.append(a) or read(*a))
    n_columns = X.shape[1]
    bag = BaggingClassifier(C45Classifier(), 8, random_state=0).fit(X, y)
    assert len(reads) == n_columns
    bag.predict_proba(X)
    assert len(reads) == 2 * n_columns


def test_members_share_one_table_of_the_engine(table, monkeypatch):
    X, y = table
    made = []
    make = _table._core.Table
    monkeypatch.setattr(_table._core, "Table", lambda n_rows: made.append(n_rows) or make(n_rows))
    bag = BaggingClassifier(C45Classifier(), 8, n_jobs=2, random_state=0).fit(X, y)
    assert len(made) == 1
    bag.predict_proba(X)
    assert len(made) == 2


class ForeignID3(ID3Classifier):
    """The same tree, of which an ensemble does not know that it reads opened tables."""


class ForeignC45(C45Classifier):
    """The same tree, of which an ensemble does not know that it reads opened tables."""


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("own", "foreign"), [(ID3Classifier, ForeignID3), (C45Classifier, ForeignC45)]
)
def test_members_are_those_of_tables_of_drawn_rows(own, foreign, n_jobs, table):
    X, y = table
    # Levels and values of one row each are in some samples only: to other members they are unseen.
    X = X.assign(rare=np.where(np.arange(len(X)) < 30, "common", None), value=np.nan)
    X.loc[X.index[:12], "rare"] = [f"level {i}" for i in range(12)]
    X.loc[X.index[40:90], "value"] = np.arange(50.0) ** 2
    bags = [
        BaggingClassifier(own(), 12, random_state=0, n_jobs=n_jobs).fit(X, y),
        BaggingClassifier(foreign(), 12, random_state=0, n_jobs=1).fit(X, y),
    ]
    for ours, twin in zip(*(bag.estimators_ for bag in bags), strict=True):
        assert ours.tree_.node_count == twin.tree_.node_count
        assert [f.has_missing for f in ours.schema_.features] == [
            f.has_missing for f in twin.schema_.features
        ]
        assert export_text(ours) == export_text(twin)
        np.testing.assert_array_equal(ours.predict_proba(X), twin.predict_proba(X))
    shared, alone = (bag.predict_proba(X) for bag in bags)
    np.testing.assert_array_equal(shared, alone)


@pytest.mark.parametrize("tree", BOTH, ids=repr)
def test_members_are_those_that_are_fitted_alone(tree, table):
    X, y = table
    bag = BaggingClassifier(tree, 6, random_state=0).fit(X, y)
    codes = np.searchsorted(bag.classes_, y)
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        alone = clone(tree).fit(X, codes, np.bincount(rows, minlength=len(y)))
        assert alone.schema_ == member.schema_
        ours, theirs = member._tree.arrays(), alone._tree.arrays()
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name])


def test_members_that_read_in_other_ways_get_tables_of_their_own(table):
    X, _ = table
    source = _source.read_once(_source.open_source(X))
    plain = _table.read_table(source)
    assert _table.read_table(source)[0] is plain[0]
    numbers = [i for i, f in enumerate(plain[1].features) if f.label != "category"]
    other, schema = _table.read_table(source, numbers[:1])
    assert other is not plain[0]
    read = plain[1].read(source, "tree")
    features = tuple(replace(feature, has_missing=True) for feature in plain[1].features)
    assert replace(plain[1], features=features).read(source, "tree") is read
    assert schema.read(source, "tree") is not read


def test_a_shared_table_changes_no_member(table):
    X, y = table
    own = AdaBoostClassifier(C45Classifier(max_depth=2), n_estimators=8, random_state=0).fit(X, y)

    other = AdaBoostClassifier(ForeignC45(max_depth=2), n_estimators=8, random_state=0).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), other.predict_proba(X), atol=1e-12)
    assert own.estimator_weights_ == pytest.approx(other.estimator_weights_)
