"""What the lectures say about AdaBoost, computed."""

import math

import numpy as np
import pytest
from reference_adaboost import discrete, stump_learner
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClassifierMixin

from committee import AdaBoostClassifier
from committee.datasets import load_ten_points
from committee.theory import bias_variance_curve


class Scripted(ClassifierMixin, BaseEstimator):
    """Says what the script has for its round; the first column of X is the number of the row."""

    script: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.answers_ = type(self).script.pop(0)
        return self

    def predict(self, X):
        return self.answers_[np.asarray(X)[:, 0].astype(int)]


def follow(script, y, **params):
    """Boost learners that say what is in the script."""
    Scripted.script = list(script)
    X = np.arange(float(len(y)))[:, None]
    params = {"n_estimators": len(script), "calibration": None, "keep_weights": True} | params
    return AdaBoostClassifier(Scripted(), **params).fit(X, y), X


@pytest.fixture
def two_classes(rng):
    X = rng.normal(size=(40, 2))
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(size=40) > 0, 1, -1)


# --- the ten points (001) -------------------------------------------------------------------------


@pytest.fixture
def ten_points():
    X, y = load_ten_points()
    model = AdaBoostClassifier(n_estimators=3, criterion="error", keep_weights=True)
    return X, y, model.fit(X, y)


def test_the_ten_points_have_the_errors_of_the_lecture(ten_points):
    _, _, model = ten_points
    assert model.estimator_errors_.round(2).tolist() == [0.3, 0.21, 0.14]
    np.testing.assert_allclose(model.estimator_errors_, [3 / 10, 3 / 14, 3 / 22], rtol=1e-14)


def test_the_ten_points_have_the_betas_of_the_lecture(ten_points):
    _, _, model = ten_points
    assert model.trace_.beta.round(2).tolist() == [0.42, 0.65, 0.92]
    # The unrounded errors are what they come from: 0.21 and 0.14 would give 0.66 and 0.91.
    expected = [0.5 * math.log((1 - e) / e) for e in (3 / 10, 3 / 14, 3 / 22)]
    np.testing.assert_allclose(model.trace_.beta, expected, rtol=1e-13)
    assert [round(0.5 * math.log((1 - e) / e), 2) for e in (0.21, 0.14)] == [0.66, 0.91]


def test_all_ten_points_are_right_after_three_rounds_and_not_before(ten_points):
    X, y, model = ten_points
    assert list(model.staged_score(X, y))[-1] == 1.0
    np.testing.assert_array_equal(model.predict(X), y)
    assert (np.array(list(model.staged_score(X, y))[:2]) < 1).all()
    assert all((member.predict(X) != y).sum() == 3 for member in model)


def test_weights_after_the_first_round_are_fourteenths_and_sixths(ten_points):
    X, y, model = ten_points
    first, second, third = model.trace_.distributions
    np.testing.assert_array_equal(first, np.full(10, 0.1))
    wrong = model[0].predict(X) != y
    np.testing.assert_allclose(second, np.where(wrong, 1 / 6, 1 / 14), rtol=1e-14)
    # The second error is not 0.3, as its three points weigh less than a tenth each.
    missed = model[1].predict(X) != y
    np.testing.assert_allclose(second[missed], [1 / 14] * 3, rtol=1e-14)
    assert not (missed & wrong).any()
    # The third misses points that were right twice: 1/22 each.
    np.testing.assert_allclose(third[model[2].predict(X) != y], [1 / 22] * 3, rtol=1e-14)


def test_the_ten_points_are_separated_by_no_single_stump(ten_points):
    X, y, _ = ten_points
    codes = (y > 0).astype(int)
    best = discrete(stump_learner(X, codes, "error"), codes, 2, 1)[0]
    assert best.error == pytest.approx(0.3)


# --- alpha, D and Z (000, 001, 003) ---------------------------------------------------------------


def test_an_error_below_a_half_gives_a_positive_alpha_that_grows_as_it_falls():
    y = np.arange(100) % 2
    alphas = []
    for n_wrong in range(1, 50):
        predicted = y.copy()
        predicted[:n_wrong] = 1 - predicted[:n_wrong]
        model, _ = follow([predicted], y)
        alphas.append(model.trace_.beta[0])
        assert alphas[-1] == pytest.approx(0.5 * math.log((100 - n_wrong) / n_wrong))
    assert (np.array(alphas) > 0).all()
    assert (np.diff(alphas) < 0).all()


@pytest.mark.parametrize("criterion", ["gini", "error"])
def test_d_adds_up_to_one_and_z_is_two_roots_of_the_errors(criterion, two_classes):
    X, y = two_classes
    model = AdaBoostClassifier(n_estimators=15, criterion=criterion, keep_weights=True).fit(X, y)
    trace = model.trace_
    for distribution in trace.distributions:
        assert math.fsum(distribution) == pytest.approx(1.0, abs=1e-14)
    error = trace.error
    np.testing.assert_allclose(trace.normalizer, 2 * np.sqrt(error * (1 - error)), rtol=1e-12)
    # D_{t+1} = D_t exp(-alpha y h) / Z_t, as it is written.
    for t in range(14):
        votes = model[t].predict(X)
        after = trace.distributions[t] * np.exp(-trace.beta[t] * y * votes)
        assert math.fsum(after) == pytest.approx(trace.normalizer[t], rel=1e-12)
        np.testing.assert_allclose(
            after / trace.normalizer[t], trace.distributions[t + 1], rtol=1e-12
        )


def test_the_final_classifier_is_the_sign_of_the_weighted_votes(two_classes):
    X, y = two_classes
    model = AdaBoostClassifier(n_estimators=15).fit(X, y)
    scores = sum(
        beta * member.predict(X) for beta, member in zip(model.trace_.beta, model, strict=True)
    )
    np.testing.assert_array_equal(model.predict(X), np.sign(scores))
    size = np.abs(model.trace_.beta).sum()
    np.testing.assert_allclose(model.decision_function(X) / 2, scores / size, atol=1e-13)


# --- why it works: exponential loss (001, 002) ----------------------------------------------------


def test_beta_is_the_minimiser_of_the_decomposed_loss(two_classes):
    X, y = two_classes
    trace = AdaBoostClassifier(n_estimators=10).fit(X, y).trace_
    for error, beta, normalizer in zip(trace.error, trace.beta, trace.normalizer, strict=True):
        best = minimize_scalar(
            lambda b, e=error: (math.exp(b) - math.exp(-b)) * e + math.exp(-b),
            bounds=(0, 10),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert beta == pytest.approx(best.x, abs=1e-6)  # the minimum is flat
        assert normalizer == pytest.approx(best.fun, rel=1e-12)


def all_stumps(X):
    """What every stump of +1 and -1 says about the rows, both ways round."""
    votes = []
    for column in X.T:
        values = np.unique(column)
        for threshold in (values[:-1] + values[1:]) / 2:
            say = np.where(column <= threshold, 1.0, -1.0)
            votes += [say, -say]
    return np.array(votes)


def test_adaboost_is_forward_stagewise_additive_modelling_of_the_exponential_loss(two_classes):
    # In each round every stump is tried, each with its own best coefficient, found numerically.
    X, y = two_classes
    model = AdaBoostClassifier(n_estimators=8, criterion="error").fit(X, y)
    candidates, scores = all_stumps(X), np.zeros(40)
    for number in range(8):
        results = [
            minimize_scalar(
                lambda b, votes=votes, f=scores: np.exp(-y * (f + b * votes)).sum(),
                bounds=(0, 10),
                method="bounded",
                options={"xatol": 1e-10},
            )
            for votes in candidates
        ]
        losses = np.array([result.fun for result in results])
        predicted = model[number].predict(X)
        ours = int(np.flatnonzero((candidates == predicted).all(axis=1))[0])
        # Ours is the best of all, or one of several that are equally good.
        assert losses[ours] == pytest.approx(losses.min(), rel=1e-9)
        assert model.trace_.beta[number] == pytest.approx(results[ours].x, abs=1e-5)
        scores = scores + model.trace_.beta[number] * predicted
        assert np.exp(-y * scores).mean() == pytest.approx(model.trace_.bound[number], rel=1e-9)


def test_the_exponential_loss_lies_above_the_training_error(two_classes):
    X, y = two_classes
    model = AdaBoostClassifier(n_estimators=25).fit(X, y)
    sums = model.margins(X, y) * np.abs(model.trace_.beta).sum()
    # The bound is the mean loss exp(-y f) of the committee, which is at least 1 where it is wrong.
    assert np.exp(-sums).mean() == pytest.approx(model.trace_.bound[-1], rel=1e-10)
    assert (model.trace_.train_error <= model.trace_.bound).all()


def test_the_product_of_z_is_at_most_the_exponential_of_the_squared_edges(two_classes):
    X, y = two_classes
    trace = AdaBoostClassifier(n_estimators=25).fit(X, y).trace_
    edges = 0.5 - trace.error
    products = np.cumprod(2 * np.sqrt(trace.error * (1 - trace.error)))
    np.testing.assert_allclose(trace.bound, products, rtol=1e-11)
    assert (trace.bound <= np.exp(-2 * np.cumsum(edges**2)) + 1e-15).all()
    assert (trace.train_error <= trace.bound).all()


# --- conventions (000, 002, 004) ------------------------------------------------------------------


@pytest.mark.parametrize("learning_rate", [1.0, 0.5, 0.1, 2.0])
def test_both_conventions_give_the_same_distributions_for_any_learning_rate(
    learning_rate, two_classes
):
    X, y = two_classes
    model = AdaBoostClassifier(n_estimators=8, learning_rate=learning_rate, keep_weights=True)
    trace = model.fit(X, y).trace_
    for t in range(len(model) - 1):
        distribution, wrong = trace.distributions[t], model[t].predict(X) != y
        log_odds = math.log((1 - trace.error[t]) / trace.error[t])
        alpha = learning_rate * log_odds  # 004: only the wrong ones are multiplied
        beta = learning_rate * log_odds / 2  # 001: the right ones are divided, too
        by_alpha = distribution * np.where(wrong, math.exp(alpha), 1.0)
        by_beta = distribution * np.exp(np.where(wrong, beta, -beta))
        for after in (by_alpha, by_beta):
            np.testing.assert_allclose(
                after / math.fsum(after), trace.distributions[t + 1], rtol=1e-11
            )
        assert trace.weight[t] == pytest.approx(alpha, rel=1e-12)
        assert trace.beta[t] == pytest.approx(beta, rel=1e-12)


def test_reversing_a_learner_is_giving_it_a_negative_weight():
    y = np.arange(12) % 2
    script = []
    for wrong in ([0, 1, 2], [3, 4], [5, 6, 7, 8]):
        predicted = y.copy()
        predicted[wrong] = 1 - predicted[wrong]
        script.append(predicted)
    usual, X = follow(script, y)
    # 002 reverses the learner if its error is more than a half; 004 lets its weight be negative.
    negative, _ = follow([1 - predicted for predicted in script], y)
    np.testing.assert_allclose(negative.estimator_errors_, 1 - usual.estimator_errors_)
    np.testing.assert_allclose(negative.estimator_weights_, -usual.estimator_weights_)
    np.testing.assert_allclose(negative.trace_.distributions, usual.trace_.distributions)
    np.testing.assert_allclose(negative.decision_function(X), usual.decision_function(X))


def test_a_perfect_learner_has_a_finite_weight_and_ends_boosting():
    X, y = [[1.0], [2.0], [3.0]], [-1, 1, 1]
    model = AdaBoostClassifier(criterion="error").fit(X, y)
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.estimator_weights_.tolist() == [1.0]
    assert len(model) == 1
    assert model.predict(X).tolist() == y


def test_an_error_of_exactly_one_half_ends_boosting():
    y = np.arange(10) % 2
    predicted = y.copy()
    predicted[:3] = 1 - predicted[:3]
    model, _ = follow(
        [predicted, predicted, predicted], y
    )  # after the first round it is wrong by a half
    assert len(model) == 1


def test_m1_needs_an_error_below_one_half_for_several_classes_and_samme_does_not():
    y = np.arange(60) % 4
    weights = {}
    for n_wrong in (12, 29, 31, 44):
        predicted = y.copy()
        predicted[:n_wrong] = (predicted[:n_wrong] + 1) % 4
        model, _ = follow([predicted], y)
        weights[n_wrong] = model.estimator_weights_[0]
        error = n_wrong / 60
        # SAMME adds log(K - 1), so that anything better than a guess has a positive weight.
        assert weights[n_wrong] == pytest.approx(math.log((1 - error) / error) + math.log(3))
        assert weights[n_wrong] > 0
        if error < 0.5:
            model, _ = follow([predicted], y, multiclass="M1")
            assert model.estimator_weights_[0] == pytest.approx(math.log((1 - error) / error))
        else:
            with pytest.warns(UserWarning, match="needs less than 1/2"):
                follow([predicted], y, multiclass="M1")


def test_m1_multiplies_right_and_wrong_rows_and_takes_the_class_of_most_weight(rng):
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0] + rng.normal(size=60) / 4, [-0.5, 0.8])
    model = AdaBoostClassifier(
        n_estimators=12, multiclass="M1", criterion="error", keep_weights=True
    ).fit(X, y)
    trace = model.trace_
    assert len(model) > 1
    votes = np.zeros((60, 3))
    for t in range(len(model)):
        predicted = model[t].predict(X)
        votes[np.arange(60), predicted] += trace.beta[t]
        after = trace.distributions[t] * np.exp(np.where(predicted == y, -1, 1) * trace.beta[t])
        assert math.fsum(after) == pytest.approx(trace.normalizer[t], rel=1e-12)
        if t + 1 < len(model):
            np.testing.assert_allclose(
                after / math.fsum(after), trace.distributions[t + 1], rtol=1e-11
            )
    np.testing.assert_array_equal(model.predict(X), votes.argmax(axis=1))
    assert (trace.error < 0.5).all()
    assert (trace.train_error <= trace.bound + 1e-12).all()


def test_boosting_lowers_bias_where_one_stump_cannot():
    # A band in the middle: one threshold is hardly better than the constant, their sum is right.
    # Bias is what the votes of many fits to fresh samples get wrong, on rows without noise.
    def draw(rng):
        X = rng.uniform(-1, 1, size=(150, 1))
        return X, (np.abs(X[:, 0]) < 0.4).astype(int)

    rows = np.linspace(-0.99, 0.99, 200)[:, None]
    truth = (np.abs(rows[:, 0]) < 0.4).astype(int)
    found = bias_variance_curve(
        {n: AdaBoostClassifier(n_estimators=n) for n in (1, 40)},
        draw,
        test=(rows, truth),
        n_rounds=30,
        random_state=0,
    )
    assert found[1].bias > 0.25
    assert found[40].bias < 0.02
    assert found[40].error < found[1].error - 0.2


def test_weights_of_rows_are_products_over_the_learners_that_missed_them(two_classes):
    # 002 writes 1/n times the product of (1 - e) / e over the "bad" learners, and e for its pi.
    # That holds up to normalisation; with the half in alpha, good learners divide by the root.
    X, y = two_classes
    model = AdaBoostClassifier(n_estimators=8, criterion="error", keep_weights=True).fit(X, y)
    trace, n = model.trace_, len(y)
    odds = (1 - trace.error) / trace.error
    is_bad = np.array([member.predict(X) != y for member in model])
    for t in range(8):
        by_slide = np.prod(np.where(is_bad[:t].T, odds[:t], 1.0), axis=1) / n
        by_roots = np.prod(np.where(is_bad[:t].T, odds[:t] ** 0.5, odds[:t] ** -0.5), axis=1) / n
        for weights in (by_slide, by_roots):
            np.testing.assert_allclose(weights / weights.sum(), trace.distributions[t], rtol=1e-10)
        # The second form is normalised by the product of all Z, the first is not.
        assert by_roots.sum() == pytest.approx(np.prod(trace.normalizer[:t]), rel=1e-10)
    assert by_slide.sum() > 1.5
