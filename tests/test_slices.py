"""Parts of fitted ensembles, and ensembles of several: slices, sums of lists of trees, `join`."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.linear_model import LogisticRegression, Ridge

import committee
from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    join,
)

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(120, 4))
CLASSES = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])
NUMBERS = X[:, 0] + X[:, 1] * X[:, 2]


def target(model):
    return CLASSES if sklearn.base.is_classifier(model) else NUMBERS


def fitted(model):
    return model.fit(X, target(model))


# --- slices ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(8, random_state=0, voting="hard"),
        ExtraTreesRegressor(8, random_state=0),
        BaggingClassifier(n_estimators=8, random_state=0, max_features=0.5),
        BaggingRegressor(Ridge(), 8, random_state=0, max_features=0.5),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_slice_has_the_members_of_a_smaller_fit_and_can_go_on(model):
    whole = fitted(model)
    part = whole[:3]
    small = fitted(sklearn.base.clone(model).set_params(n_estimators=3))
    np.testing.assert_array_equal(part.predict(X), small.predict(X))
    assert (len(part), part.n_estimators) == (3, 3)
    later = whole[5::-2]
    members = [whole[number] for number in (5, 3, 1)]
    columns = [whole.estimators_features_[number] for number in (5, 3, 1)]
    for number, (member, own) in enumerate(zip(members, columns, strict=True)):
        places = own if member.n_features_in_ == len(own) else slice(None)
        np.testing.assert_array_equal(later.estimators_features_[number], own)
        np.testing.assert_array_equal(
            later[number].predict(X[:, places]), member.predict(X[:, places])
        )
    np.testing.assert_array_equal(later.estimators_samples_[0], whole.estimators_samples_[5])
    part.set_params(n_estimators=8, warm_start=True).fit(X, target(model))
    np.testing.assert_array_equal(part.predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="must hold a member; there are 8"):
        whole[8:]


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=8, random_state=0, subsample=0.7),
        GradientBoostingRegressor(n_estimators=8, estimator=Ridge()),
        AdaBoostClassifier(n_estimators=8, variant="real"),
        AdaBoostClassifier(LogisticRegression(C=0.01), n_estimators=8, random_state=0),
        AdaBoostRegressor(n_estimators=8, random_state=0),
    ],
    ids=repr,
)
def test_a_slice_of_boosting_is_the_model_after_so_many_rounds(model, tmp_path):
    whole = fitted(model)
    part = whole[:3]
    assert (len(part), part.n_estimators) == (3, 3)
    np.testing.assert_array_equal(part.predict(X), list(whole.staged_predict(X))[2])
    committee.save(part, tmp_path / "part")
    np.testing.assert_array_equal(committee.load(tmp_path / "part").predict(X), part.predict(X))
    with pytest.raises(ValueError, match=r"must be its first members, such as model\[:2\]"):
        whole[3:5]
    assert len(list(whole)) == len(whole) == 8


def test_a_slice_of_boosting_goes_on():
    whole = fitted(GradientBoostingClassifier(n_estimators=9, random_state=0, subsample=0.5))
    part = whole[:4].set_params(n_estimators=9, warm_start=True).fit(X, CLASSES)
    np.testing.assert_array_equal(part.predict_proba(X), whole.predict_proba(X))
    assert len(whole[:4].training_log_) == whole[:4].n_estimators_ == 4
    assert (len(whole), len(part)) == (9, 9)


def test_rounds_of_boosting_are_counted_and_read_as_in_scikit_learn():
    params = {"n_estimators": 3, "max_depth": 2, "random_state": 0}
    theirs = sklearn.ensemble.GradientBoostingClassifier(**params).fit(X, CLASSES)
    ours = GradientBoostingClassifier(**params).fit(X, CLASSES)
    assert len(ours) == len(theirs) == 3
    assert ours[0].shape == theirs[0].shape == (3,)
    assert ours[-1].shape == theirs[-1].shape
    assert len(list(ours)) == len(list(theirs))
    with pytest.raises(IndexError):
        ours[3]
    np.testing.assert_array_equal(ours[1][2].predict(X), ours.estimators_[1, 2].predict(X))


@pytest.mark.parametrize(
    "model", [GradientBoostingClassifier(n_estimators=2), RandomForestClassifier(2)]
)
def test_what_is_not_fitted_has_no_length(model):
    for read in (len, iter, lambda each: each[0], lambda each: each[:1]):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            list(read(model)) if read is iter else read(model)


# --- members of boosting --------------------------------------------------------------------------


def test_members_of_boosting_have_the_parameters_they_were_grown_with():
    model = GradientBoostingRegressor(
        n_estimators=4, max_depth=1, min_samples_leaf=0.1, max_features="sqrt", warm_start=True
    )
    model.fit(X, NUMBERS).set_params(n_estimators=6, max_depth=2)
    with pytest.warns(UserWarning, match="max_depth was 1 and is 2"):
        model.fit(X, NUMBERS)
    depths = [tree.max_depth for tree in model.estimators_[:, 0]]
    assert depths == [1, 1, 1, 1, 2, 2]
    assert [tree.get_depth() for tree in model.estimators_[:, 0]] == depths
    tree = model[0][0]
    assert (tree.min_samples_leaf, tree.max_features) == (12, "sqrt")
    assert [tree.max_depth for tree in model[:5].estimators_[:, 0]] == depths[:5]
    model.set_params(max_depth=7)
    assert model[5][0].max_depth == 2


def test_out_of_bag_improvements_begin_where_rows_are_left_out():
    params = {"n_estimators": 5, "max_depth": 1, "warm_start": True, "random_state": 0}
    for library in (committee, sklearn.ensemble):
        model = library.GradientBoostingClassifier(**params).fit(X, CLASSES)
        model.set_params(n_estimators=8, subsample=0.5)
        if library is committee:
            with pytest.warns(UserWarning, match="subsample was 1.0 and is 0.5"):
                model.fit(X, CLASSES)
        else:
            model.fit(X, CLASSES)
        assert (model.oob_improvement_[:5] == 0).all()
        assert (model.oob_improvement_[5:] != 0).all()
        assert model.oob_score_ == model.oob_scores_[-1]


# --- lists of trees -------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [committee, sklearn.ensemble], ids=["ours", "theirs"])
def test_forests_are_trimmed_and_joined_as_people_do(library):
    a, b = (
        library.RandomForestRegressor(n, random_state=n, oob_score=n > 15).fit(X, NUMBERS)
        for n in (20, 6)
    )
    expected = np.mean([tree.predict(X) for tree in a.estimators_[:4]], axis=0)
    a.estimators_ = a.estimators_[:4]
    a.n_estimators = 4
    np.testing.assert_allclose(a.predict(X), expected, rtol=1e-12)
    a.estimators_ += b.estimators_
    a.n_estimators = len(a.estimators_)
    assert a.n_estimators == 10
    np.testing.assert_allclose(a.predict(X), (expected * 4 + b.predict(X) * 6) / 10, rtol=1e-12)
    assert a.get_params()["random_state"] == 20
    assert hasattr(a, "oob_score_") == (library is sklearn.ensemble)


def test_the_error_says_how_trees_are_trimmed():
    forest, boosted = (
        fitted(RandomForestClassifier(3)),
        fitted(GradientBoostingClassifier(n_estimators=3)),
    )
    with pytest.raises(AttributeError, match=r"forest\[:50\] is .* committee.join\(a, b\)"):
        forest.estimators_ = list(forest.estimators_)
    with pytest.raises(AttributeError, match=r"model\[:50\] is the model after"):
        boosted.estimators_ = boosted.estimators_[:2]
    assert len(forest.estimators_[:2] + list(forest)) == 5
    assert list(forest.estimators_[3:]) == []


# --- join -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RandomForestClassifier(5, random_state=0), RandomForestClassifier(3, random_state=1)),
        (
            RandomForestRegressor(5, random_state=0, draw_features="tree", max_features=2),
            RandomForestRegressor(3, random_state=1, bootstrap=False),
        ),
        (
            BaggingClassifier(n_estimators=5, max_features=0.5, random_state=0),
            BaggingClassifier(n_estimators=3, random_state=1),
        ),
        (
            BaggingRegressor(Ridge(), 5, max_features=0.5, random_state=0),
            BaggingRegressor(n_estimators=3, random_state=1),
        ),
        (
            BaggingClassifier(LogisticRegression(), 5, weighting="oob", random_state=0),
            BaggingClassifier(LogisticRegression(), 3, random_state=1),
        ),
    ],
    ids=repr,
)
def test_a_joined_ensemble_predicts_the_mean_of_its_parts(one, other, tmp_path):
    a, b = fitted(one), other.fit(X[:90], target(other)[:90])
    both = join(a, b)
    method = "predict_proba" if sklearn.base.is_classifier(one) else "predict"
    expected = (5 * getattr(a, method)(X) + 3 * getattr(b, method)(X)) / 8
    np.testing.assert_allclose(getattr(both, method)(X), expected, rtol=1e-12)
    assert (len(both), both.n_estimators) == (8, 8)
    for number in range(8):
        part, place = (a, number) if number < 5 else (b, number - 5)
        for name in ("estimators_samples_", "estimators_features_"):
            np.testing.assert_array_equal(
                getattr(both, name)[number], getattr(part, name)[place], err_msg=name
            )
    committee.save(both, tmp_path / "both")
    for copied in (committee.load(tmp_path / "both"), pickle.loads(pickle.dumps(both))):
        np.testing.assert_array_equal(getattr(copied, method)(X), getattr(both, method)(X))
        np.testing.assert_array_equal(copied.estimators_samples_[6], both.estimators_samples_[6])
    three = join(both[3:6], a)
    expected = sum(getattr(part, method)(X) * w for part, w in ((a[3:], 2), (b[:1], 1), (a, 5))) / 8
    if not hasattr(a, "estimator_weights_"):
        np.testing.assert_allclose(getattr(three, method)(X), expected, rtol=1e-12)
    np.testing.assert_array_equal(three.estimators_samples_[2], b.estimators_samples_[0])


def test_trees_of_joined_forests_keep_their_seeds():
    a, b = (RandomForestRegressor(3, random_state=n).fit(X, NUMBERS) for n in (0, 1))
    for forest, tree in ((join(a, b), 4), (join(a, b)[2:], 2), (b[1:], 0)):
        assert forest[tree].random_state == b[1].random_state
    with pytest.raises(ValueError, match="was pruned, cut or joined"):
        join(a, b).debiased_importance(X, NUMBERS)


def test_ensembles_that_differ_are_not_joined():
    forest = fitted(RandomForestClassifier(2, random_state=0))
    with pytest.raises(TypeError, match=r"join is for forests and bagging.*cv=.prefit"):
        join(fitted(GradientBoostingClassifier(n_estimators=2)))
    with pytest.raises(TypeError, match="of one class; got RandomForestClassifier and Bagging"):
        join(forest, fitted(BaggingClassifier(n_estimators=2)))
    with pytest.raises(TypeError, match="got none"):
        join()
    with pytest.raises(sklearn.exceptions.NotFittedError):
        join(forest, RandomForestClassifier())
    for other, message in (
        (RandomForestClassifier(2).fit(X[:, :3], CLASSES), "n_features_in_ is 4 in one and 3"),
        (RandomForestClassifier(2).fit(pd.DataFrame(X, columns=[*"abcd"]), CLASSES), "None in one"),
        (RandomForestClassifier(2).fit(X, CLASSES + 1), r"classes_ is \[0, 1, 2\] in one"),
    ):
        with pytest.raises(ValueError, match=message):
            join(forest, other)
    parts = [pd.DataFrame({"a": levels * 20}) for levels in (["x", "y"], ["x", "z"])]
    with pytest.raises(ValueError, match=r"read column 'a' in the same way.* other levels"):
        join(*(RandomForestClassifier(2).fit(part, [0, 1] * 20) for part in parts))
    missing = [pd.DataFrame({"a": [1.0, last] * 20}) for last in (2.0, None)]
    both = join(*(RandomForestClassifier(2).fit(part, [0, 1] * 20) for part in missing))
    assert both.schema_.features[0].has_missing
