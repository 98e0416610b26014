"""`bootstrap_score`: the bootstrap estimates of Efron and Tibshirani for any estimator."""

import re
from itertools import pairwise, product
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, mean_squared_error, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as PeerTree

from committee import DecisionTreeClassifier, DecisionTreeRegressor
from committee.evaluation.bootstrap import bootstrap_score
from committee.evaluation.bootstrap_resamples import _fresh
from committee.evaluation.point632 import combine_632


class Diary(BaseEstimator):
    """Notes the rows of each fit and each prediction; the first feature numbers the rows."""

    pages: ClassVar[list]  # of (rows of the bag, weights of the bag, rows predicted)

    def fit(self, X, y, sample_weight=None):
        self.page_ = SimpleNamespace(bag=_numbers(X), weights=sample_weight, asked=[])
        type(self).pages.append(self.page_)
        self.learn(X, y)
        return self

    def note(self, X):
        self.page_.asked.append(_numbers(X))


def _numbers(X):
    return np.asarray(X)[:, 0].astype(int)


class ClassDiary(ClassifierMixin, Diary):
    pages: ClassVar = []

    def learn(self, X, y):
        self.model_ = KNeighborsClassifier(1).fit(X, y)
        self.classes_ = self.model_.classes_

    def predict(self, X):
        self.note(X)
        return self.model_.predict(X)


class RealDiary(RegressorMixin, Diary):
    pages: ClassVar = []

    def learn(self, X, y):
        self.model_ = KNeighborsRegressor(2).fit(X, y)

    def predict(self, X):
        self.note(X)
        return self.model_.predict(X)


@pytest.fixture(autouse=True)
def _empty_diaries():
    ClassDiary.pages = []
    RealDiary.pages = []


def numbered(rng, n_rows):
    """A table whose first feature is the number of the row, and two features of noise."""
    return np.column_stack([np.arange(n_rows), rng.normal(size=(n_rows, 2)) * n_rows])


def quick(model, X, y, scoring=None, **options):
    return bootstrap_score(
        model, X, y, **{"scoring": scoring, "n_resamples": 20, "random_state": 0, **options}
    )


def two_classes(rng, n_rows=60):
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)


def efron_tibshirani(pages, X, y, model, loss):
    """Errors by the formulas of the paper, in loops over rows, resamples and pairs.

    The model is fitted once more to each bag that the diary holds.
    """
    n = len(y)
    losses = [[] for _ in range(n)]
    for page in pages[1:]:
        fitted = clone(model).fit(X[page.bag], y[page.bag])
        for i in set(range(n)) - set(page.bag.tolist()):
            losses[i].append(loss(y[i], fitted.predict(X[[i]])[0]))
    err1 = np.mean([np.mean(of_row) for of_row in losses if of_row])
    predictions = clone(model).fit(X, y).predict(X)
    err = np.mean([loss(y[i], predictions[i]) for i in range(n)])
    gamma = np.mean([loss(a, b) for a, b in product(y, predictions)])
    err1_prime = min(err1, gamma)
    rate = (err1_prime - err) / (gamma - err) if err1_prime > err else 0.0
    err632 = 0.368 * err + 0.632 * err1
    plus = err632 + (err1_prime - err) * 0.368 * 0.632 * rate / (1 - 0.368 * rate)
    return SimpleNamespace(err1=err1, err=err, gamma=gamma, rate=rate, err632=err632, plus=plus)


def assert_agrees(result, paper, offset):
    """Scores are errors turned round: score = offset - error."""
    for score, error in [
        (result.oob_score, paper.err1),
        (result.apparent_score, paper.err),
        (result.no_information_score, paper.gamma),
        (result.score_632, paper.err632),
        (result.score_632_plus, paper.plus),
    ]:
        assert score == pytest.approx(offset - error)
    assert result.overfitting_rate == pytest.approx(paper.rate)


# The formulas ----------------------------------------------------------------


def test_a_classifier_is_judged_by_the_formulas_of_the_paper(rng):
    X, y = numbered(rng, 20), rng.integers(0, 3, 20)
    result = bootstrap_score(ClassDiary(), X, y, n_resamples=30, random_state=1)
    model = KNeighborsClassifier(1)
    paper = efron_tibshirani(ClassDiary.pages, X, y, model, lambda a, b: float(a != b))
    assert_agrees(result, paper, 1)
    assert (result.averaging, result.scoring, result.n_rows) == ("rows", "accuracy", 20)


@pytest.mark.parametrize(
    ("scoring", "loss"),
    [
        ("neg_mean_squared_error", lambda a, b: (a - b) ** 2),
        ("neg_mean_absolute_error", lambda a, b: abs(a - b)),
    ],
)
def test_a_regressor_is_judged_by_the_formulas_of_the_paper(rng, scoring, loss):
    X = numbered(rng, 20)
    y = X[:, 0] + rng.normal(size=20)
    result = bootstrap_score(
        RealDiary(), X, y, scoring=scoring, n_resamples=30, random_state=1, method=".632"
    )
    paper = efron_tibshirani(RealDiary.pages, X, y, KNeighborsRegressor(2), loss)
    assert_agrees(result, paper, 0)
    assert result.score == result.score_632


def test_r2_is_one_minus_the_squared_error_over_the_variance(rng):
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + rng.normal(size=30)
    error = bootstrap_score(
        LinearRegression(), X, y, scoring="neg_mean_squared_error", random_state=3, n_resamples=20
    )
    r2 = bootstrap_score(LinearRegression(), X, y, random_state=3, n_resamples=20)
    assert r2.scoring == "r2"
    for name in ("score", "oob_score", "apparent_score", "score_632", "no_information_score"):
        assert getattr(r2, name) == pytest.approx(1 + getattr(error, name) / y.var())
    assert r2.weight == pytest.approx(error.weight)


@pytest.mark.parametrize(
    ("apparent", "oob", "none", "plus", "weight"),
    [
        (0.9, 0.9, 0.5, 0.9, 0.632),  # no overfitting
        (1.0, 0.5, 0.5, 0.5, 1.0),  # nothing learnt
        (1.0, 0.75, 0.5, 1 - 0.25 * 0.632 / 0.816, 0.632 / 0.816),  # halfway
        (1.0, 0.4, 0.5, 0.632 * 0.4 + 0.368 * 0.5, 1.0),  # worse than no information
        (0.6, 0.7, 0.5, 0.368 * 0.6 + 0.632 * 0.7, 0.632),  # better out of bag than in it
        (0.5, 0.4, 0.6, 0.368 * 0.5 + 0.632 * 0.4, 0.632),  # worse than chance on its own rows
    ],
)
def test_the_weight_of_the_632_plus_estimate_follows_the_overfitting(
    apparent, oob, none, plus, weight
):
    estimates = combine_632(apparent, oob, none)
    assert estimates.plus == pytest.approx(plus)
    assert estimates.weight == pytest.approx(weight)
    assert 0 <= estimates.overfitting <= 1


def test_the_no_information_accuracy_comes_from_the_class_frequencies():
    # 7 of 10 rows are "a"; the tree of one split answers "a" for 6 rows or 8.
    X = np.arange(10.0).reshape(-1, 1)
    y = np.array(list("aaaaaababb"))
    result = bootstrap_score(PeerTree(max_depth=1), X, y, stratify=True, random_state=0)
    answers = PeerTree(max_depth=1).fit(X, y).predict(X)
    share_a = (answers == "a").mean()
    assert share_a in (0.6, 0.8)
    assert result.no_information_score == pytest.approx(0.7 * share_a + 0.3 * (1 - share_a))


def test_a_nearest_neighbour_on_random_labels_is_exposed_by_632_plus(rng):
    X, y = rng.normal(size=(300, 5)), np.arange(300) % 2
    result = quick(KNeighborsClassifier(1), X, y)
    assert result.apparent_score == 1.0
    assert result.no_information_score == 0.5
    assert result.score == pytest.approx(0.5, abs=0.1)
    assert result.score_632 > 0.62
    assert result.weight > 0.9


def test_the_method_says_which_estimate_is_the_score(rng):
    X, y = two_classes(rng)
    plus, point632, oob = (
        quick(PeerTree(), X, y, method=method) for method in (".632+", ".632", "oob")
    )
    assert (plus.score, point632.score, oob.score) == (
        plus.score_632_plus,
        plus.score_632,
        plus.oob_score,
    )
    assert oob.score < plus.score < point632.score < plus.apparent_score
    assert 0.632 < plus.weight < 1
    assert (point632.weight, oob.weight) == (0.632, 1.0)


def test_a_constant_predictor_has_one_score_everywhere():
    X, y = np.zeros((20, 1)), np.array([0] * 15 + [1] * 5)
    model = DummyClassifier(strategy="constant", constant=0)
    result = bootstrap_score(model, X, y, random_state=0)
    assert result.apparent_score == result.no_information_score == 0.75
    assert result.score == pytest.approx(0.75)
    assert result.overfitting_rate == 0.0
    mean = bootstrap_score(DummyRegressor(strategy="constant", constant=0.5), X, y, random_state=0)
    assert mean.score == mean.oob_score == pytest.approx(1 - 0.25 / y.var())


# Metrics ---------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "neg_brier_score", "f1_macro"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_apparent_score_of_a_classifier_is_that_of_scikit_learn(scoring, n_classes, rng):
    if scoring == "neg_brier_score" and n_classes > 2:
        pytest.importorskip("sklearn", minversion="1.7")
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    X = X + rng.normal(size=X.shape)
    weights = rng.integers(1, 4, len(y)).astype(float)
    result = quick(GaussianNB(), X, y, scoring, sample_weight=weights)
    model = GaussianNB().fit(X, y, sample_weight=weights)
    expected = get_scorer(scoring)(model, X, y, sample_weight=weights)
    assert result.apparent_score == pytest.approx(expected)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"])
def test_several_outputs_are_averaged_as_in_scikit_learn(scoring, rng):
    X = rng.normal(size=(40, 2))
    y = X @ [[1, 2, 0], [0, 1, 3]] + rng.normal(size=(40, 3))
    weights = rng.integers(1, 4, 40).astype(float)
    result = quick(LinearRegression(), X, y, scoring, sample_weight=weights)
    model = LinearRegression().fit(X, y, sample_weight=weights)
    expected = get_scorer(scoring)(model, X, y, sample_weight=weights)
    assert result.apparent_score == pytest.approx(expected)


@pytest.mark.parametrize(
    ("model", "scoring"),
    [
        (GaussianNB(), "accuracy"),
        (GaussianNB(), "neg_log_loss"),
        (GaussianNB(), "neg_brier_score"),
        (LinearRegression(), "r2"),
        (LinearRegression(), "neg_mean_absolute_error"),
    ],
)
def test_the_no_information_score_is_the_mean_over_all_pairs(model, scoring, rng):
    X, y = two_classes(rng, 25)
    weights = rng.integers(1, 4, 25).astype(float)
    result = quick(model, X, y, scoring, sample_weight=weights)
    fitted = clone(model).fit(X, y, sample_weight=weights)
    # One long table in which every prediction meets every target.
    every_row, every_target = np.divmod(np.arange(25 * 25), 25)
    expected = get_scorer(scoring)(
        fitted,
        X[every_row],
        y[every_target],
        sample_weight=weights[every_row] * weights[every_target],
    )
    assert result.no_information_score == pytest.approx(expected)


def test_other_metrics_are_averaged_over_resamples_and_shuffles(rng):
    X, y = numbered(rng, 60), np.arange(60) % 2
    X[:, 1] += 60 * y
    result = bootstrap_score(ClassDiary(), X, y, scoring="balanced_accuracy", random_state=0)
    scores = []
    for page in ClassDiary.pages[1:]:
        fitted = KNeighborsClassifier(1).fit(X[page.bag], y[page.bag])
        out = np.setdiff1d(np.arange(60), page.bag)
        hits = fitted.predict(X[out]) == y[out]
        scores.append((hits[y[out] == 0].mean() + hits[y[out] == 1].mean()) / 2)
    assert result.averaging == "resamples"
    np.testing.assert_allclose(result.resample_scores, scores)
    assert result.oob_score == pytest.approx(np.mean(scores))
    assert result.standard_error == pytest.approx(np.std(scores, ddof=1))
    assert result.no_information_score == pytest.approx(0.5, abs=0.05)
    # The model of all rows predicts them once, not once for each shuffle.
    assert len(ClassDiary.pages[0].asked) == 1


def test_a_scorer_and_a_name_give_the_same(rng):
    X, y = two_classes(rng)
    by_name = quick(GaussianNB(), X, y, "roc_auc")
    by_scorer = quick(GaussianNB(), X, y, get_scorer("roc_auc"))

    def area(model, X, y):
        assert isinstance(model, GaussianNB)
        assert model.var_smoothing == 1e-9
        return roc_auc_score(y, model.predict_proba(X)[:, 1])

    by_hand = quick(GaussianNB(), X, y, area)
    assert by_name.score == by_scorer.score == by_hand.score
    assert by_hand.scoring == "area"


def test_a_metric_that_fails_on_some_resamples_says_so():
    X, y = np.arange(20.0).reshape(-1, 1), np.array([1] + [0] * 19)
    with pytest.warns(UserWarning, match=r"'roc_auc' could not be computed on \d+ of 20 resamples"):
        result = quick(GaussianNB(), X, y, "roc_auc")
    failed = np.isnan(result.resample_scores)
    assert 0 < failed.sum() < 20
    assert result.oob_score == pytest.approx(result.resample_scores[~failed].mean())


def test_a_metric_that_fails_on_every_resample_is_an_error():
    def fussy(model, X, y):
        if len(y) < 30:
            raise ValueError("too few rows")
        return 1.0

    X, y = np.arange(30.0).reshape(-1, 1), np.arange(30) % 2
    with pytest.raises(ValueError, match=r"'fussy' could not be computed out of bag: too few rows"):
        quick(GaussianNB(), X, y, fussy)


# Rows ------------------------------------------------------------------------


def test_a_bag_has_as_many_rows_as_the_table_and_the_rest_is_judged(rng):
    X, y = numbered(rng, 50), np.arange(50) % 2
    bootstrap_score(ClassDiary(), X, y, random_state=0)
    whole, *pages = ClassDiary.pages
    np.testing.assert_array_equal(whole.bag, np.arange(50))
    for page in pages:
        assert len(page.bag) == 50
        np.testing.assert_array_equal(*page.asked, np.setdiff1d(np.arange(50), page.bag))
    share_out = np.mean([len(page.asked[0]) for page in pages]) / 50
    assert share_out == pytest.approx((1 - 1 / 50) ** 50, abs=0.03)
    assert any((a.bag != b.bag).any() for a, b in pairwise(pages))


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series, pl.Series])
def test_groups_are_never_split(rng, kind):
    X, y = numbered(rng, 40), np.arange(40) % 2
    names = np.array([f"group {number}" for number in rng.integers(0, 8, 40)])
    bootstrap_score(ClassDiary(), X, y, groups=kind(names.tolist()), random_state=0)
    for page in ClassDiary.pages[1:]:
        assert not set(names[page.bag]) & set(names[page.asked[0]])
        assert set(page.bag) | set(page.asked[0]) == set(range(40))
        # A group that is drawn twice is in the bag twice, whole.
        for name in set(names[page.bag]):
            times = np.bincount(page.bag, minlength=40)[names == name]
            assert len(set(times.tolist())) == 1


def test_each_class_keeps_its_share_in_a_stratified_draw(rng):
    X, y = numbered(rng, 40), np.repeat(["a", "b", "c"], [25, 10, 5])
    bootstrap_score(ClassDiary(), X, y, stratify=True, random_state=0)
    for page in ClassDiary.pages[1:]:
        assert np.unique(y[page.bag], return_counts=True)[1].tolist() == [25, 10, 5]


def test_strata_may_be_given_and_hold_whole_groups(rng):
    X, y = numbered(rng, 24), rng.normal(size=24)
    groups = np.repeat(np.arange(8), 3)
    strata = np.where(groups < 2, "small", "large")
    bootstrap_score(RealDiary(), X, y, groups=groups, stratify=strata, random_state=0)
    for page in RealDiary.pages[1:]:
        assert (strata[page.bag] == "small").sum() == 6
        assert not set(groups[page.bag]) & set(groups[page.asked[0]])


def test_rows_that_were_never_out_of_bag_are_reported_and_left_out():
    X, y = numbered(np.random.default_rng(0), 20), np.arange(20) % 2
    with pytest.warns(
        UserWarning, match=r"(\d+) of 20 rows were never out of bag.*now 2"
    ) as caught:
        result = bootstrap_score(ClassDiary(), X, y, n_resamples=2, random_state=0)
    seen = set(np.concatenate([page.asked[0] for page in ClassDiary.pages[1:]]))
    assert result.n_never_oob == 20 - len(seen) > 0
    assert caught[0].filename == __file__
    assert f"{result.n_never_oob} rows never out of bag" in repr(result)


def test_a_stratum_of_one_row_is_never_out_of_bag():
    X, y = np.arange(20.0).reshape(-1, 1), np.array([1] + [0] * 19)
    with pytest.warns(UserWarning, match="1 of 20 rows were never out of bag"):
        result = quick(GaussianNB(), X, y, stratify=True)
    assert result.n_never_oob == 1
    with pytest.raises(ValueError, match="no row was out of bag in 20 resamples"):
        quick(GaussianNB(), X, y, stratify=np.arange(20))


def test_rows_of_weight_zero_are_absent(rng):
    X, y = two_classes(rng)
    kept = rng.random(60) > 0.3
    weights = rng.integers(1, 5, 60) * kept
    labels = np.where(kept, y.astype(float), np.nan)  # not even their class is looked at
    groups = np.arange(60) // 3
    with_zeros = quick(
        DecisionTreeClassifier(), X, labels, sample_weight=weights, groups=groups, stratify=True
    )
    without = quick(
        DecisionTreeClassifier(),
        X[kept],
        y[kept],
        sample_weight=weights[kept],
        groups=groups[kept],
        stratify=True,
    )
    assert repr(with_zeros) == repr(without)
    np.testing.assert_array_equal(with_zeros.resample_scores, without.resample_scores)
    assert with_zeros.n_rows == kept.sum()


def test_weights_reach_fit_and_the_mean_over_rows(rng):
    X, y = numbered(rng, 30), np.arange(30) % 2
    weights = rng.integers(1, 5, 30).astype(float)
    result = bootstrap_score(ClassDiary(), X, y, sample_weight=weights, random_state=0)
    hits, times = np.zeros(30), np.zeros(30)
    for page in ClassDiary.pages[1:]:
        np.testing.assert_array_equal(page.weights, weights[page.bag])
        out = page.asked[0]
        hits[out] += KNeighborsClassifier(1).fit(X[page.bag], y[page.bag]).predict(X[out]) == y[out]
        times[out] += 1
    assert result.oob_score == pytest.approx(np.average(hits / times, weights=weights))


def test_an_estimator_that_takes_no_weights_is_fitted_without_and_says_so(rng):
    X, y = two_classes(rng)
    with pytest.warns(UserWarning, match=r"KNeighborsClassifier.fit takes no sample_weight"):
        quick(KNeighborsClassifier(), X, y, sample_weight=1 + np.arange(60))


# Classes that a bag does not hold --------------------------------------------


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "neg_brier_score", "f1_macro"])
@pytest.mark.parametrize("model", [GaussianNB(), PeerTree(), DecisionTreeClassifier()])
def test_a_class_may_be_missing_from_a_bag(model, scoring):
    X = np.arange(24.0).reshape(-1, 1)
    y = np.array(["b"] * 11 + ["a", "c"] + ["d"] * 11)
    result = quick(model, X, y, scoring)
    assert np.isfinite(result.score)
    assert np.isfinite(result.resample_scores).all()


def test_a_bag_of_one_class_answers_that_class():
    X, y = np.arange(8.0).reshape(-1, 1), np.array([0] * 7 + [1])
    model = LogisticRegression(solver="liblinear")  # refuses to be fitted to one class
    result = quick(model, X, y, n_resamples=40)
    assert np.isfinite(result.resample_scores).all()
    with pytest.warns(UserWarning, match="could not be computed"):  # no row of class 1 out of bag
        area = quick(model, X, y, "roc_auc", n_resamples=40)
    # Out of bag the one row of class 1 meets models of one class only, which rank at random.
    assert area.oob_score == 0.5


def test_probabilities_of_unseen_classes_are_zero_in_their_own_column():
    X, y = np.zeros((12, 1)), np.array([0] * 5 + [1] + [2] * 6)
    seen = []

    def look(model, X, y):
        shares = model.predict_proba(X)
        assert model.classes_.tolist() == [0, 1, 2]
        seen.append(shares[0])
        return 0.0

    quick(PeerTree(), X, y, look)
    shares = np.array(seen)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares[:, 1] == 0).any()
    assert (shares[:, 1] > 0).any()


# Promises --------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc"])
def test_the_result_does_not_depend_on_n_jobs(rng, scoring):
    X, y = two_classes(rng)
    model = DecisionTreeClassifier(max_features=1, max_depth=2, n_jobs=2)
    one, two = (quick(model, X, y, scoring, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert repr(one) == repr(two)
    assert one.score == two.score
    np.testing.assert_array_equal(one.resample_scores, two.resample_scores)


def test_models_beside_others_keep_to_one_thread_and_have_seeds(rng):
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(n_jobs=2))
    alone, beside = (_fresh(model, rng, n_workers)[-1] for n_workers in (1, 2))
    assert (alone.n_jobs, beside.n_jobs) == (2, 1)
    assert alone.random_state != beside.random_state
    kept = DecisionTreeClassifier(random_state=7)
    assert _fresh(kept, rng, 2).random_state == 7
    assert kept.n_jobs is None


def test_the_workers_may_come_from_a_context_of_joblib(rng):
    X, y = two_classes(rng)
    alone = quick(PeerTree(), X, y)
    with parallel_config(backend="threading", n_jobs=2):
        assert repr(quick(PeerTree(), X, y)) == repr(alone)


def test_more_resamples_begin_with_the_same_ones(rng):
    X, y = two_classes(rng)
    few, many = (quick(GaussianNB(), X, y, n_resamples=n) for n in (10, 15))
    np.testing.assert_array_equal(few.resample_scores, many.resample_scores[:10])
    other = quick(GaussianNB(), X, y, n_resamples=15, random_state=1)
    assert (other.resample_scores != many.resample_scores).any()


def test_the_estimator_is_left_as_it_was(rng):
    X, y = two_classes(rng)
    model = PeerTree()
    quick(model, X, y)
    assert not hasattr(model, "tree_")
    assert model.random_state is None


def test_frames_are_passed_on_as_frames(rng):
    X, y = two_classes(rng, 40)
    colour = np.where(y == 1, "red", rng.choice(["red", "blue"], 40))
    columns = {"size": X[:, 0], "colour": colour.tolist()}
    labels = np.where(y == 1, "stop", "go")
    model = DecisionTreeClassifier(max_depth=3)
    by_pandas = quick(model, pd.DataFrame(columns), pd.Series(labels))
    by_polars = quick(model, pl.DataFrame(columns), pl.Series(labels))
    assert repr(by_pandas) == repr(by_polars)

    def names(model, X, y):
        assert list(model.feature_names_in_) == list(X.columns) == ["size", "colour"]
        return 1.0

    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        assert quick(model, frame, labels, names).score == 1.0


def test_lists_and_sparse_matrices_are_tables_too(rng):
    X, y = two_classes(rng)
    expected = quick(PeerTree(random_state=0), X, y)
    for table in (X.tolist(), coo_array(X)):
        assert repr(quick(PeerTree(random_state=0), table, y.tolist())) == repr(expected)


def test_pipelines_and_our_regressors_are_evaluated(rng):
    X, y = two_classes(rng)
    assert 0.5 < quick(make_pipeline(StandardScaler(), GaussianNB()), X, y).score < 1
    target = X[:, 0] + 0.1 * rng.normal(size=60)
    assert 0.5 < quick(DecisionTreeRegressor(), X, target).score < 1


def test_the_estimates_are_close_to_the_accuracy_on_new_rows(rng):
    X, y = two_classes(rng, 3000)
    model = DecisionTreeClassifier(min_samples_leaf=5)
    result = bootstrap_score(model, X[:300], y[:300], random_state=0)
    truth = model.fit(X[:300], y[:300]).score(X[300:], y[300:])
    assert result.oob_score == pytest.approx(truth, abs=0.1)
    low, high = result.interval(0.99)
    assert low < truth < high
    assert low < result.interval(0.5)[0] < result.score


# Bad input -------------------------------------------------------------------


def unweighted(model, X, y):
    return 1.0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "0.632"}, ValueError, 'method must be ".632+", ".632" or "oob"; got \'0.632\''),
        ({"n_resamples": 1}, ValueError, "n_resamples must be an int >= 2; got 1"),
        ({"n_resamples": 9.5}, TypeError, "n_resamples must be an int >= 2; got 9.5"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None or an int other than 0; got 0"),
        ({"random_state": "x"}, TypeError, "random_state must be None, an int in"),
        ({"scoring": ["accuracy"]}, TypeError, "scoring must be a name, a callable or None; got"),
        ({"scoring": "good"}, ValueError, "a callable or None; got 'good'"),
        ({"scoring": mean_squared_error}, ValueError, "scoring"),
        ({"scoring": lambda model, X, y: "A"}, TypeError, "scoring must give one number"),
        ({"scoring": lambda model, X, y: np.nan}, ValueError, "gave NaN on all rows"),
        ({"groups": [1, 2]}, ValueError, "groups must have one value for each of the 6 rows"),
        ({"groups": [1, 1, 2, 2, None, 3]}, ValueError, "groups has missing values"),
        ({"groups": ["a"] * 6}, ValueError, "the bootstrap needs at least two groups; X has one"),
        ({"stratify": [[1]] * 6}, ValueError, "stratify must have one value for each of the 6"),
        ({"sample_weight": [1, 1]}, ValueError, "sample_weight"),
        ({"sample_weight": [1, 0, 0, 0, 0, 0]}, ValueError, "needs at least two rows of positive"),
    ],
)
def test_a_bad_parameter_is_named(options, error, message):
    X, y = np.arange(6.0).reshape(-1, 1), np.arange(6) % 2
    with pytest.raises(error, match=re.escape(message)):
        bootstrap_score(GaussianNB(), X, y, **options)


@pytest.mark.parametrize(
    ("model", "y", "options", "error", "message"),
    [
        (GaussianNB, [0, 1] * 3, {}, TypeError, "estimator must be an instance of a classifier"),
        ("tree", [0, 1] * 3, {}, TypeError, "estimator must be an instance of a classifier"),
        (Diary(), [0, 1] * 3, {}, TypeError, "estimator must be an instance of a classifier"),
        (GaussianNB(), None, {}, ValueError, "y must hold the target of each row; got None"),
        (GaussianNB(), [0, 1], {}, ValueError, "inconsistent numbers of samples: [6, 2]"),
        (GaussianNB(), [[0, 1]] * 6, {}, ValueError, "y must have one column for a classifier"),
        (GaussianNB(), [0.5, 1, 0, 1, 0, 1], {}, ValueError, "Unknown label type: continuous"),
        (LinearRegression(), [2.0] * 6, {}, ValueError, 'y is constant, so "r2" is not defined'),
        (LinearRegression(), range(6), {"stratify": True}, ValueError, "needs a classifier"),
        (
            LinearSVC(),
            [0, 1] * 3,
            {"scoring": "neg_log_loss"},
            TypeError,
            "scoring 'neg_log_loss' needs probabilities, but LinearSVC has no predict_proba",
        ),
        (
            LinearRegression(),
            range(6),
            {"scoring": unweighted, "sample_weight": range(6)},
            ValueError,
            "sample_weight is given, but scoring 'unweighted' takes no sample_weight",
        ),
    ],
)
def test_an_estimator_and_a_target_that_do_not_fit_are_refused(model, y, options, error, message):
    X = np.arange(6.0).reshape(-1, 1)
    y = list(y) if isinstance(y, range) else y
    with pytest.raises(error, match=re.escape(message)):
        bootstrap_score(model, X, y, **options)


def test_an_estimator_of_no_kind_needs_a_metric():
    class Guess(BaseEstimator):
        def fit(self, X, y):
            self.guess_ = np.median(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.guess_)

    X, y = np.zeros((10, 1)), np.arange(10.0)
    with pytest.raises(ValueError, match="scoring must be given: Guess is neither"):
        bootstrap_score(Guess(), X, y)
    assert quick(Guess(), X, y, "neg_mean_absolute_error").score < -2


def test_a_lazy_frame_is_refused():
    with pytest.raises(TypeError, match=r"X is a lazy frame of polars, .*call its collect\(\)"):
        bootstrap_score(GaussianNB(), pl.LazyFrame({"a": [1, 2]}), [0, 1])


def test_the_confidence_of_an_interval_is_checked(rng):
    result = quick(GaussianNB(), *two_classes(rng))
    with pytest.raises(ValueError, match=r"confidence must be a number in \(0, 1\); got 95"):
        result.interval(95)
