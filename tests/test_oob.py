"""Out-of-bag machinery: tallies, metrics, curves, errors of members, .632 and .632+."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from committee.evaluation.oob import (
    MeanTally,
    MedianTally,
    OobCurve,
    OobRecorder,
    curve_points,
    vote_weight,
    weighted_median,
)
from committee.evaluation.point632 import (
    combine_632,
    no_information_accuracy,
    no_information_score,
    no_information_squared_error,
)
from committee.evaluation.scored_target import OobMetric, ScoredTarget, resolve_metric
from committee.files.codec import decode, encode


def shares(rng, *shape):
    raw = rng.uniform(0.05, 1, size=shape)
    return raw / raw.sum(axis=-1, keepdims=True)


def draw(rng):
    """How often 12 members draw 40 rows; each row is out of bag for somebody."""
    counts = rng.poisson(1.0, (12, 40))
    counts[1, (counts > 0).all(axis=0)] = 0
    return counts


@pytest.fixture
def classes(rng):
    """A target of three classes with text labels, and predictions of 12 members for all rows."""
    codes = rng.integers(0, 3, (40, 1)).astype(np.int32)
    target = ScoredTarget(codes, [np.array(["a", "b", "c"])], weights=rng.uniform(0, 2, 40))
    return target, shares(rng, 12, 40, 3), draw(rng)


@pytest.fixture
def reals(rng):
    target = ScoredTarget(reals=rng.normal(size=(40, 1)))
    predicted = target.reals + rng.normal(size=(12, 40, 1))
    return target, predicted, draw(rng)


# --- tallies ------------------------------------------------------------------------------------


def test_only_members_that_have_not_drawn_a_row_vote_on_it(classes):
    target, predicted, counts = classes
    recorder = OobRecorder(target, True, 12)
    for values, drawn in zip(predicted, counts, strict=True):
        # What a member predicts for rows it has drawn must not matter.
        recorder.add(np.where((drawn == 0)[:, None], values, 1e9), drawn)
    found = recorder.finish().values
    for row in range(40):
        voters = counts[:, row] == 0
        np.testing.assert_allclose(found[row], predicted[voters, row].mean(axis=0))


def test_a_row_that_all_members_have_drawn_is_nan_counted_and_warned_about(reals):
    target, predicted, counts = reals
    counts[:, [3, 8]] = 2
    recorder = OobRecorder(target, True, 12)
    for values, drawn in zip(predicted, counts, strict=True):
        recorder.add(values, drawn)
    with pytest.warns(UserWarning, match=r"2 of 40 rows were drawn by every member .* NaN"):
        estimates = recorder.finish()
    assert estimates.n_never == 2
    assert np.isnan(estimates.values[[3, 8]]).all()
    known = np.setdiff1d(np.arange(40), [3, 8])
    assert not np.isnan(estimates.values[known]).any()
    assert estimates.score == pytest.approx(r2_score(target.y[known], estimates.values[known, 0]))


def test_medians_are_numpys_for_equal_weights(rng):
    for n_members in (1, 2, 5, 8):
        values = rng.normal(size=(n_members, 6, 2))
        found = weighted_median(values, np.full((n_members, 6), 0.1))
        np.testing.assert_allclose(found, np.median(values, axis=0))


def test_a_weight_of_three_is_three_members(rng):
    values = rng.normal(size=(4, 5, 1))
    weights = rng.integers(0, 4, (4, 5)).astype(float)
    weights[0] += 1
    expected = [
        np.median(np.repeat(values[:, row, 0], weights[:, row].astype(int))) for row in range(5)
    ]
    np.testing.assert_allclose(weighted_median(values, weights)[:, 0], expected)


def test_rows_without_votes_have_no_median():
    tally = MedianTally(2, 1)
    assert np.isnan(tally.values()).all()
    tally.add(np.array([[4.0], [5.0]]), np.array([1]))
    np.testing.assert_equal(tally.values(), [[np.nan], [5.0]])
    assert tally.votes.tolist() == [0, 1]


def test_segments_of_the_engine_give_what_single_members_give(classes):
    target, predicted, counts = classes
    one_by_one = OobRecorder(target, True, 12)
    for values, drawn in zip(predicted, counts, strict=True):
        one_by_one.add(values, drawn)
    expected = one_by_one.finish()
    points = [0, *curve_points(12)]
    for is_total in (False, True):
        recorder = OobRecorder(target, True, 12)
        for start, end in itertools.pairwise(points):
            tally = MeanTally(40, 3)
            for member in range(0 if is_total else start, end):
                tally.add(predicted[member], np.flatnonzero(counts[member] == 0))
            errors = np.array(one_by_one.errors[start:end])
            recorder.add_segment(tally.sums, tally.votes, errors, is_total=is_total)
        found = recorder.finish(predicted.mean(axis=0))
        np.testing.assert_allclose(found.values, expected.values)
        np.testing.assert_allclose(found.curve.score, expected.curve.score)
        np.testing.assert_array_equal(found.member_errors, expected.member_errors)
        assert found.score_632_plus == pytest.approx(expected.score_632_plus)


def test_segments_have_no_medians_and_no_weights(reals):
    for options in ({"use_median": True}, {"is_weighted": True}):
        recorder = OobRecorder(reals[0], True, 3, **options)
        with pytest.raises(TypeError, match="means only"):
            recorder.add_segment(np.zeros((40, 1)), np.zeros(40), np.zeros(1))


# --- metrics ------------------------------------------------------------------------------------


def test_metrics_see_labels_probabilities_and_weights(classes):
    target, predicted, _ = classes
    values, rows = predicted[0], np.arange(5, 40)
    y, weights = target.y[rows], target.weights[rows]
    labels = np.array(["a", "b", "c"])[values[rows].argmax(axis=1)]

    def score(metric):
        return OobMetric(target, metric).score(values, rows)

    assert score(True) == pytest.approx(accuracy_score(y, labels, sample_weight=weights))
    assert score("neg_log_loss") == pytest.approx(
        -log_loss(y, values[rows], sample_weight=weights, labels=["a", "b", "c"])
    )
    assert score("roc_auc_ovr") == pytest.approx(
        roc_auc_score(y, values[rows], multi_class="ovr", sample_weight=weights)
    )
    macro = make_scorer(f1_score, average="macro", pos_label=None)
    assert score(macro) == pytest.approx(
        f1_score(y, labels, average="macro", sample_weight=weights)
    )
    assert score(lambda a, b: float((a == b).sum())) == (y == labels).sum()
    assert score(accuracy_score) == pytest.approx(score(True))


def test_two_classes_have_a_ranking(rng):
    codes = rng.integers(0, 2, (30, 1)).astype(np.int32)
    target = ScoredTarget(codes, [np.array([False, True])])
    values = shares(rng, 30, 2)
    found = OobMetric(target, "roc_auc").score(values, np.arange(30))
    assert found == pytest.approx(roc_auc_score(codes[:, 0], values[:, 1]))


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_regression_metrics_agree_with_scikit_learn(n_outputs, rng):
    truth, values = rng.normal(size=(25, n_outputs)), rng.normal(size=(25, n_outputs))
    weights = rng.uniform(0.1, 1, 25)
    target = ScoredTarget(reals=truth, weights=weights)
    everyone = np.arange(25)
    assert OobMetric(target, True).score(values, everyone) == pytest.approx(
        r2_score(truth, values, sample_weight=weights)
    )
    assert OobMetric(target, "neg_mean_squared_error").score(values, everyone) == pytest.approx(
        -mean_squared_error(truth, values, sample_weight=weights)
    )
    assert OobMetric(target, mean_absolute_error).score(values, everyone) == pytest.approx(
        mean_absolute_error(truth, values, sample_weight=weights)
    )


def test_r2_of_a_constant_target_follows_scikit_learn():
    target = ScoredTarget(reals=np.ones((3, 1)))
    everyone = np.arange(3)
    for predicted in (np.ones((3, 1)), np.zeros((3, 1))):
        expected = r2_score(np.ones(3), predicted[:, 0])
        assert OobMetric(target, True).score(predicted, everyone) == expected


def test_several_outputs_must_all_be_right(rng):
    codes = np.array([[0, 1], [1, 0], [1, 2], [0, 0]], np.int32)
    target = ScoredTarget(codes, [np.array([0, 1]), np.array(["x", "y", "z"])])
    values = np.zeros((4, 5))
    values[np.arange(4), [0, 1, 1, 1]] = 1  # the last row is wrong in the first output
    values[np.arange(4), 2 + codes[:, 1]] = 1
    assert OobMetric(target, True).score(values, np.arange(4)) == 0.75
    assert target.error(values, np.arange(4)) == 1 / 8  # the mean over the outputs
    assert target.answers(values)[3].tolist() == ["1", "x"]


def test_what_is_no_metric_is_refused():
    with pytest.raises(ValueError, match=r"got 'acuracy', which .* does not list"):
        resolve_metric("acuracy")
    with pytest.raises(TypeError, match=r"oob_score must be True, False, a metric.*; got 3"):
        resolve_metric(3)
    assert repr(resolve_metric("r2")) == repr(get_scorer("r2"))


# --- errors of members, weights -----------------------------------------------------------------


def test_the_error_of_a_member_is_that_on_its_own_out_of_bag_rows(classes, reals):
    target, predicted, counts = classes
    recorder = OobRecorder(target, False, 12)
    for values, drawn in zip(predicted, counts, strict=True):
        recorder.add(values, drawn)
    for error, values, drawn in zip(recorder.errors, predicted, counts, strict=True):
        out = drawn == 0
        wrong = values[out].argmax(axis=1) != target.codes[out, 0]
        assert error == pytest.approx(np.average(wrong, weights=target.weights[out]))

    target, predicted, counts = reals
    counts[4] = 1  # this member has no out-of-bag rows
    counts[5] = 0
    recorder = OobRecorder(target, True, 12)
    for values, drawn in zip(predicted, counts, strict=True):
        recorder.add(values, drawn)
    estimates = recorder.finish()
    assert np.isnan(estimates.member_errors).nonzero()[0].tolist() == [4]
    out = counts[0] == 0
    assert estimates.member_errors[0] == pytest.approx(
        ((predicted[0] - target.reals)[out] ** 2).mean()
    )
    mean = estimates.attributes("oob_prediction_")["oob_member_error_"]
    assert mean == pytest.approx(np.nanmean(estimates.member_errors))


def test_weights_are_log_odds_or_inverse_errors():
    two = ScoredTarget(np.array([[0], [1]], np.int32), [np.array([0, 1])])
    assert vote_weight(two, 0.2, 10_000) == pytest.approx(np.log(4), rel=1e-3)
    assert vote_weight(two, 0.5, 100) < 1e-5
    assert vote_weight(two, 0.9, 100) < 1e-5
    assert vote_weight(two, np.nan, 0) < 1e-5
    assert vote_weight(two, 0.0, 10) == pytest.approx(np.log(10.5 / 0.5))  # large, not infinite
    five = ScoredTarget(np.array([[0]], np.int32), [np.arange(5)])
    assert vote_weight(five, 0.8, 10_000) == pytest.approx(0, abs=1e-3)  # chance
    assert vote_weight(five, 0.5, 10_000) == pytest.approx(np.log(4), rel=1e-3)
    real = ScoredTarget(reals=np.array([[1.0], [3.0]]))
    assert vote_weight(real, 0.25, 10) == 4
    assert vote_weight(real, 0.0, 10) == pytest.approx(1e6)
    assert vote_weight(real, np.nan, 0) == pytest.approx(1e-6)


# --- the curve ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_members", [1, 2, 10, 11, 137, 1000])
def test_the_curve_has_few_points_and_the_last_one(n_members):
    points = curve_points(n_members)
    assert points[0] == 1
    assert points[-1] == n_members
    assert (np.diff(points) >= 1).all()
    assert points[:10] == list(range(1, min(n_members, 10) + 1))
    assert len(points) < 50


def test_each_point_of_the_curve_is_the_score_of_the_first_members(reals):
    target, predicted, counts = reals
    curve = run(target, predicted, counts).curve
    assert len(curve) == len(curve_points(12))
    for n_members, score in zip(curve.n_members, curve.score, strict=True):
        if n_members == 12:
            assert score == run(target, predicted, counts).score
        elif n_members >= 3:
            assert score == pytest.approx(
                run(target, predicted[:n_members], counts[:n_members]).score
            )


def run(target, predicted, counts, metric=True):
    recorder = OobRecorder(target, metric, len(predicted))
    for values, drawn in zip(predicted, counts, strict=True):
        recorder.add(values, drawn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of rows without a prediction
        return recorder.finish()


def test_a_point_where_the_metric_is_undefined_is_nan(rng):
    codes = np.array([[0], [0], [1], [1]], np.int32)
    target = ScoredTarget(codes, [np.array([0, 1])])
    predicted = shares(rng, 2, 4, 2)
    counts = np.array([[0, 0, 1, 1], [1, 1, 0, 0]])  # the first member votes on one class only
    curve = run(target, predicted, counts, "roc_auc").curve
    assert np.isnan(curve.score[0])
    assert not np.isnan(curve.score[1])


def test_curves_go_to_model_files():
    curve = OobCurve(np.arange(1, 4), np.array([0.1, np.nan, 0.3]))
    copy = decode(*encode(curve))
    np.testing.assert_equal(copy.score, curve.score)
    with pytest.raises(ValueError, match="OobCurve"):
        decode(*encode(OobCurve(np.arange(3), np.zeros(2))))


# --- .632 and .632+ -----------------------------------------------------------------------------


def test_the_estimates_follow_efron_and_tibshirani():
    # A nearest neighbour on two balanced classes without any signal: errors 0, 0.5 and 0.5.
    lost = combine_632(1.0, 0.5, 0.5)
    assert 1 - lost.point632 == pytest.approx(0.316)  # far too optimistic
    assert 1 - lost.plus == pytest.approx(0.5)
    assert lost.overfitting == 1
    assert lost.weight == pytest.approx(1)
    # Without overfitting both are the .632 estimate.
    honest = combine_632(0.8, 0.8, 0.5)
    assert honest.plus == honest.point632 == pytest.approx(0.8)
    assert honest.weight == pytest.approx(0.632)
    # Errors 0.1, 0.2 and 0.5: R = 0.25, weight 0.632 / (1 - 0.368 * 0.25) = 0.6960.
    between = combine_632(0.9, 0.8, 0.5)
    assert between.overfitting == pytest.approx(0.25)
    assert between.plus == pytest.approx(0.9 - 0.1 * 0.632 / 0.908)
    # Worse than no information, and better than in training.
    assert combine_632(0.9, 0.3, 0.5).overfitting == 1
    assert combine_632(0.7, 0.9, 0.5).overfitting == 0
    assert combine_632(0.4, 0.3, 0.5).overfitting == 0
    assert np.isnan(combine_632(np.nan, 0.3, 0.5).plus)


def test_no_information_is_the_mean_over_all_pairs(rng):
    truth, predicted = rng.integers(0, 3, 20), rng.integers(0, 3, 20)
    weights = rng.uniform(size=20)
    both = np.outer(weights, weights)
    expected = np.average(truth[:, None] == predicted, weights=both)
    assert no_information_accuracy(truth, predicted, 3, weights) == pytest.approx(expected)
    y, p = rng.normal(size=(20, 1)), rng.normal(size=(20, 1))
    expected = np.average((y - p.T) ** 2, weights=both)
    assert no_information_squared_error(y, p, weights) == pytest.approx(expected)
    permuted = no_information_score(lambda order: np.mean(truth[order] == predicted), 20, 2000)
    assert permuted == pytest.approx(no_information_accuracy(truth, predicted, 3), abs=0.01)


def test_the_estimates_of_an_ensemble_come_from_its_scores(classes, reals):
    for target, predicted, counts in (classes, reals):
        everyone = np.arange(40)
        for metric in (True, "neg_log_loss" if target.classes else "neg_mean_squared_error"):
            estimates = run(target, predicted, counts, metric)
            measure = OobMetric(target, metric)
            apparent = measure.score(predicted.mean(axis=0), everyone)
            chance = measure.no_information(predicted.mean(axis=0), everyone)
            expected = combine_632(apparent, estimates.score, chance)
            assert estimates.score_632 == pytest.approx(expected.point632)
            assert estimates.score_632_plus == pytest.approx(expected.plus)
