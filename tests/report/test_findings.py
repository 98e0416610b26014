"""Findings about unseen rows, against scikit-learn, brute force and known answers."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

from committee.auto.findings.coverage import measured_coverage
from committee.auto.findings.effects import effects
from committee.auto.findings.errors import ErrorFindings, area, precision_area
from committee.auto.findings.findings import find
from committee.auto.findings.groups import MISSING, OTHERS, Groups
from committee.auto.findings.importances import measure
from committee.auto.findings.scores import ScoreFindings
from committee.auto.findings.slices import weak_slices
from committee.auto.findings.unseen import Unseen
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.tables.column import Column
from committee.tables.source import open_source


def unseen_classes(codes, shares, weights=None, n_folds=4):
    classes = [np.array([f"c{k}" for k in range(shares.shape[1])])]
    target = ScoredTarget(np.asarray(codes, np.int32)[:, None], classes, weights=weights)
    return unseen_of(target, "neg_log_loss", shares, n_folds)


def unseen_numbers(truth, predicted, weights=None, predict=None):
    target = ScoredTarget(reals=np.asarray(truth, float)[:, None], weights=weights)
    return unseen_of(target, "neg_root_mean_squared_error", predicted[:, None], 4, predict)


def unseen_of(target, scoring, combined, n_folds, predict=None):
    rows = np.arange(target.n_rows)
    tests = [rows[k::n_folds] for k in range(n_folds)]
    metric = OobMetric(target, scoring, "scoring")
    return Unseen(target, metric, rows, tests, combined, [combined], predict)


@pytest.fixture
def ranked(rng):
    """Scores with ties, who is to be found, and weights."""
    scores = rng.integers(0, 12, 200) / 12
    return scores, rng.random(200) < scores, rng.integers(1, 4, 200).astype(float)


def test_areas_are_those_of_scikit_learn(ranked):
    scores, is_so, weights = ranked
    expected = metrics.roc_auc_score(is_so, scores, sample_weight=weights)
    assert area(scores, is_so, weights) == pytest.approx(expected)
    expected = metrics.average_precision_score(is_so, scores, sample_weight=weights)
    assert precision_area(scores, is_so, weights) == pytest.approx(expected)
    assert np.isnan(area(scores, np.ones(200, bool), weights))


def test_scores_of_two_classes_are_those_of_scikit_learn(ranked):
    scores, is_so, weights = ranked
    shares = np.column_stack([1 - scores, scores])
    found = ScoreFindings.of(unseen_classes(is_so, shares, weights))
    values = dict(zip(found.names, found.values[:, 0], strict=True))
    best = shares.argmax(axis=1)
    weighted = {"sample_weight": weights}
    assert values["neg_brier_score"] == pytest.approx(
        -metrics.brier_score_loss(is_so, scores, **weighted)
    )
    assert values["accuracy"] == pytest.approx(metrics.accuracy_score(is_so, best, **weighted))
    assert values["balanced_accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(is_so, best, **weighted)
    )
    assert values["f1"] == pytest.approx(metrics.f1_score(is_so, best, **weighted))
    matthews = metrics.matthews_corrcoef(is_so, best, **weighted)
    assert values["matthews_corrcoef"] == pytest.approx(matthews)


def test_scores_of_more_classes_and_of_numbers_are_those_of_scikit_learn(rng):
    shares = rng.dirichlet(np.ones(4), 150)
    codes = np.array([rng.choice(4, p=row) for row in shares])
    found = ScoreFindings.of(unseen_classes(codes, shares))
    values = dict(zip(found.names, found.values[:, 0], strict=True))
    best = shares.argmax(axis=1)
    assert values["neg_log_loss"] == pytest.approx(-metrics.log_loss(codes, shares))
    assert values["f1_macro"] == pytest.approx(metrics.f1_score(codes, best, average="macro"))
    assert values["matthews_corrcoef"] == pytest.approx(metrics.matthews_corrcoef(codes, best))
    truth, predicted = rng.normal(size=100), rng.normal(size=100)
    found = ScoreFindings.of(unseen_numbers(truth, predicted))
    values = dict(zip(found.names, found.values[:, 0], strict=True))
    assert values["r2"] == pytest.approx(metrics.r2_score(truth, predicted))
    expected = -metrics.median_absolute_error(truth, predicted)
    assert values["neg_median_absolute_error"] == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_a_row_of_weight_two_is_the_row_twice(kind, rng):
    n_rows = 120
    weights = rng.integers(1, 4, n_rows)
    rows = np.repeat(np.arange(n_rows), weights)
    if kind == "numbers":
        truth, predicted = rng.normal(size=n_rows), rng.normal(size=n_rows)
        once = unseen_numbers(truth, predicted, weights.astype(float))
        twice = unseen_numbers(truth[rows], predicted[rows])
    else:
        shares = rng.dirichlet(np.ones(2 if kind == "two" else 3), n_rows)
        codes = np.array([rng.choice(shares.shape[1], p=row) for row in shares])
        once = unseen_classes(codes, shares, weights.astype(float))
        twice = unseen_classes(codes[rows], shares[rows])
    one, two = ErrorFindings.of(once), ErrorFindings.of(twice)
    for name in ("confusion", "areas", "ranking", "sizes"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), err_msg=name)
    scores = ScoreFindings.of(once), ScoreFindings.of(twice)
    np.testing.assert_allclose(*(each.values[:, [0, 2]] for each in scores))


def test_classes_that_are_decided_for_count_where_classes_are_looked_at(rng):
    shares = rng.dirichlet(np.ones(2), 100)
    codes = rng.integers(0, 2, 100)
    decided = (shares[:, 1] > 0.2).astype(int)
    unseen = replace(unseen_classes(codes, shares), decided=decided)
    expected = metrics.confusion_matrix(codes, decided)
    assert ErrorFindings.of(unseen).confusion.tolist() == expected.tolist()
    found = ScoreFindings.of(unseen)
    values = dict(zip(found.names, found.values[:, 0], strict=True))
    assert values["f1"] == pytest.approx(metrics.f1_score(codes, decided))
    assert values["accuracy"] == pytest.approx(metrics.accuracy_score(codes, decided))
    assert values["roc_auc"] == pytest.approx(metrics.roc_auc_score(codes, shares[:, 1]))


def test_the_ranking_holds_the_share_of_both_classes_above_a_threshold(ranked):
    scores, is_so, weights = ranked
    shares = np.column_stack([1 - scores, scores])
    for threshold, hits, false in ErrorFindings.of(unseen_classes(is_so, shares, weights)).ranking:
        above = weights * (scores >= threshold)
        assert hits == pytest.approx(above[is_so].sum() / weights[is_so].sum())
        assert false == pytest.approx(above[~is_so].sum() / weights[~is_so].sum())


def test_intervals_cover_what_they_promise(rng):
    found = measured_coverage(unseen_numbers(rng.normal(size=4000), np.zeros(4000)))
    assert found[:, 0].tolist() == [0.8, 0.9, 0.95]
    assert (np.abs(found[:, 1] - found[:, 0]) < 4 * found[:, 2]).all()
    # The known quantiles of a normal distribution.
    assert found[:, 3] / 2 == pytest.approx([1.2816, 1.6449, 1.96], rel=0.08)


def test_sets_of_certain_predictions_have_one_class(rng):
    codes = rng.integers(0, 3, 300)
    shares = np.full((300, 3), 0.01)
    shares[np.arange(300), codes] = 0.98
    found = measured_coverage(unseen_classes(codes, shares))
    assert (found[:, 1] == 1).all()
    assert (found[:, 3] == 1).all()


# --- groups and slices --------------------------------------------------------------------------


def test_ranges_have_about_equal_shares_and_missing_values_a_group(rng):
    values = rng.normal(size=1000)
    values[:50] = np.nan
    groups = Groups.of(Column("number", values), np.ones(1000), most=5)
    assert groups.labels[-1] == MISSING
    sizes = np.bincount(groups.codes)
    assert sizes.tolist() == [190] * 5 + [50]
    for code, example in enumerate(groups.examples):
        assert groups.codes[example] == code
    # Ranges do not overlap, and ascend.
    tops = [values[groups.codes == k].max() for k in range(5)]
    assert (np.diff(tops) > 0).all()
    assert all(values[groups.codes == k + 1].min() > tops[k] for k in range(4))


def test_rare_levels_are_one_group():
    codes = np.repeat(np.arange(6), [50, 40, 30, 3, 2, 1]).astype(np.int32)
    column = Column("category", codes, levels=tuple("abcdef"))
    groups = Groups.of(column, np.ones(len(codes)), most=4)
    assert groups.labels == ("a", "b", "c", OTHERS)
    assert np.bincount(groups.codes).tolist() == [50, 40, 30, 6]


def columns_of(X):
    ones = np.ones(len(X))
    return [(f"x{k}", Groups.of(Column("number", X[:, k]), ones)) for k in range(X.shape[1])]


def test_a_planted_slice_is_found_and_chance_is_not(rng):
    X = rng.normal(size=(2000, 20))
    losses = rng.exponential(size=2000)
    assert weak_slices(columns_of(X), losses, np.ones(2000)).weak == ()
    worse = losses * np.where(X[:, 3] > np.quantile(X[:, 3], 0.9), 2.0, 1.0)
    found = weak_slices(columns_of(X), worse, np.ones(2000))
    assert found.n_tested == 200
    assert [each.column for each in found.weak] == ["x3"]
    (slice_,) = found.weak
    assert slice_.n_rows == 200
    assert slice_.group.startswith("above")
    last = X[:, 3] > np.quantile(X[:, 3], 0.9)
    assert slice_.loss == pytest.approx(worse[last].mean())
    assert slice_.loss_elsewhere == pytest.approx(worse[~last].mean())


def test_noise_seldom_makes_a_slice_weak():
    """All slices together are wrong in at most one of twenty tables."""
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        losses = np.abs(rng.normal(size=500))
        found += bool(weak_slices(columns_of(rng.normal(size=(500, 5))), losses, np.ones(500)).weak)
    assert found <= 6  # of 40; with one of twenty, more has a probability of 0.003


# --- columns ------------------------------------------------------------------------------------


def twice_the_first(source, fold):
    """Stands for a model: twice the first column and the second, never the third."""
    first, second = (np.asarray(source.column(k).values, float) for k in range(2))
    return (2 * first + second)[:, None]


def test_effects_of_a_sum_are_its_parts(rng):
    X = rng.normal(size=(400, 3))
    truth = 2 * X[:, 0] + X[:, 1]
    unseen = unseen_numbers(truth, truth, predict=twice_the_first)
    named = [(k, name, groups) for k, (name, groups) in enumerate(columns_of(X))]
    found = effects(open_source(X), named, unseen, 0)
    for effect, slope in zip(found, (2, 1, 0), strict=True):
        steps = np.diff(effect.predicted[:, 0]) / np.diff(effect.positions)
        # The value of an example is the middle of its group, up to one row.
        np.testing.assert_allclose(steps, slope, atol=0.2 if slope else 1e-9)
    groups = named[0][2]
    means = [truth[groups.codes == k].mean() for k in range(10)]
    np.testing.assert_allclose(found[0].observed[:, 0], means)


def test_columns_that_are_not_looked_at_have_no_importance(rng):
    X = rng.normal(size=(400, 3))
    truth = 2 * X[:, 0] + X[:, 1]
    unseen = unseen_numbers(truth, truth, predict=twice_the_first)
    found = measure(open_source(X), [0, 1, 2], unseen, 0)
    assert found.ranking() == ["x0", "x1", "x2"]
    assert found.mean[2] == 0
    # The squared error of two independent draws: twice the variance, four times as much for 2 x0.
    assert found.mean[0] == pytest.approx(8**0.5, rel=0.15)
    assert found.mean[1] == pytest.approx(2**0.5, rel=0.15)


def test_wide_tables_are_looked_at_in_part(rng):
    X = rng.normal(size=(60, 3000))
    truth = 2 * X[:, 0] + X[:, 1]
    unseen = unseen_numbers(truth, truth, predict=twice_the_first)
    source = open_source(X)
    importances = measure(source, list(range(3000)), unseen, 0)
    assert 5 <= len(importances.names) <= 100
    found = find(source, ["number"] * 3000, unseen, importances, 0)
    assert found.n_columns == 3000
    assert len(found.columns) <= 200
    assert len(found.effects) <= 8


def test_rows_that_were_not_held_out_are_left_alone(rng):
    """Where a part of the table is held out, nothing is asked about the other rows."""
    X = rng.normal(size=(300, 3))
    truth = 2 * X[:, 0] + X[:, 1]
    held = np.arange(200, 300)
    asked = []

    def predict(source, fold):
        asked.append(np.asarray(source.column(1).values))
        return twice_the_first(source, fold)

    target = ScoredTarget(reals=truth[held, None])
    metric = OobMetric(target, "r2", "scoring")
    halves = [np.arange(0, 50), np.arange(50, 100)]
    values = truth[held, None]
    unseen = Unseen(target, metric, held, halves, values, [values], predict)
    found = measure(open_source(X), [0, 2], unseen, 0)
    find(open_source(X), ["number"] * 3, unseen, found, 0)
    assert found.ranking()[0] == "x0"
    assert set(np.concatenate(asked)) <= set(X[held, 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quantiles": np.zeros(5)}, "quantiles"),
        ({"effects": ()}, None),
        ({"scores": "other"}, "ranking"),
        ({"errors": "other"}, "classes"),
    ],
)
def test_findings_that_do_not_fit_each_other_are_refused(change, message, binary, numbers):
    findings, other = binary[0].findings_, numbers[0].findings_
    change = {name: getattr(other, name) if isinstance(v, str) else v for name, v in change.items()}
    changed = replace(findings, **change)
    if message is None:
        changed._validate_loaded()
        return
    with pytest.raises(ValueError, match=message):
        changed._validate_loaded()
