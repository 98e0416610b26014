"""How a committee decides for a class: thresholds, costs and the positive class."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import make_classification

import committee
from committee import CommitteeClassifier
from committee.auto.decision import Decision, cost_matrix
from committee.auto.decision_rules import _FAST, DecisionRules, scoring_of
from committee.cli.using import evaluate_files
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.io.csv_table import CsvOptions

SMALL = {"budget": 0.05, "random_state": 0}
LABELS = np.array(["no", "yes"])


def calibrated(n_rows, seed=0, labels=LABELS):
    """Probabilities, and classes drawn by them."""
    rng = np.random.default_rng(seed)
    share = rng.beta(0.6, 3.0, n_rows)
    codes = (rng.random(n_rows) < share).astype(np.int32)
    target = ScoredTarget(codes[:, np.newaxis], [labels])
    return np.column_stack([1 - share, share]), target


def decided(scoring, n_rows=20_000, **options):
    shares, target = calibrated(n_rows)
    options = {"threshold": "auto", "costs": None, "positive": None} | options
    metric = OobMetric(target, scoring_of(scoring, options["positive"], LABELS), "scoring")
    rules = DecisionRules(LABELS, metric.oob_score, **options)
    return rules.decide(shares, target), shares, target, metric


def test_the_best_threshold_of_f1_is_half_of_the_best_f1():
    """A theorem (Lipton et al. 2014) for calibrated probabilities."""
    decision, shares, _, metric = decided("f1", 200_000)
    best = metric.score(np.eye(2)[decision.codes(shares)], np.arange(len(shares)))
    assert decision.threshold == pytest.approx(best / 2, abs=0.02)
    assert best > metric.score(shares, np.arange(len(shares)))


def test_the_best_threshold_of_balanced_accuracy_is_the_share_of_positives():
    decision, _, target, _ = decided("balanced_accuracy")
    assert decision.threshold == pytest.approx(target.codes.mean(), abs=0.03)


@pytest.mark.parametrize("positive", [None, "no"])
def test_metrics_without_a_formula_are_tuned_as_well(positive):
    """Beta of two values positives: the best threshold is lower than that of F1."""
    scorer = metrics.make_scorer(metrics.fbeta_score, beta=2, pos_label=positive or "yes")
    decision, shares, _, metric = decided(scorer, 4000, positive=positive)
    tried = [
        metric.score(
            np.eye(2)[Decision("threshold", ("no", "yes"), decision.positive, t).codes(shares)],
            np.arange(len(shares)),
        )
        for t in (0.5, decision.threshold)
    ]
    assert tried[1] > tried[0]
    assert decision.threshold < 0.4


def test_a_metric_that_takes_no_weights_is_tuned_as_well():
    def hits(y_true, y_pred):
        both = ((y_true == "yes") & (y_pred == "yes")).sum()
        return 2 * both / max((y_true == "yes").sum() + (y_pred == "yes").sum(), 1)

    own, _, _, _ = decided(hits, 4000)
    known, _, _, _ = decided("f1", 4000)
    assert own.threshold == pytest.approx(known.threshold, abs=0.08)


@pytest.mark.parametrize("name", list(_FAST))
@pytest.mark.parametrize("positive", [0, 1])
def test_formulas_give_the_scores_of_scikit_learn(name, positive):
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 9, (20, 2, 2)).astype(float)
    tables[0] = [[5, 0], [3, 0]]  # nothing is positive
    tables[1] = [[0, 4], [0, 6]]
    found = _FAST[name](tables, positive)
    for table, score in zip(tables, found, strict=True):
        true, predicted = np.repeat(np.argwhere(table >= 0), table.ravel().astype(int), axis=0).T
        scorer = {
            "f1": lambda a, b: metrics.f1_score(a, b, pos_label=positive, zero_division=0),
            "f1_macro": lambda a, b: metrics.f1_score(
                a, b, average="macro", labels=[0, 1], zero_division=0
            ),
            "balanced_accuracy": metrics.balanced_accuracy_score,
            "matthews_corrcoef": metrics.matthews_corrcoef,
        }[name]
        assert score == pytest.approx(scorer(true, predicted))


def test_decisions_by_costs_have_the_least_expected_cost():
    rng = np.random.default_rng(0)
    shares, costs = rng.dirichlet(np.ones(4), 50), rng.normal(size=(4, 4))
    decision = Decision("costs", tuple("abcd"), -1, costs=costs)
    for row, code in zip(shares, decision.codes(shares), strict=True):
        expected = [sum(row[k] * costs[k, j] for k in range(4)) for j in range(4)]
        assert code == np.argmin(expected)


def test_costs_of_two_classes_are_a_threshold():
    """Five for a missed positive, one for a false alarm: positive from a probability of 1/6 on."""
    decision, shares, target, _ = decided("neg_log_loss", costs={("yes", "no"): 5})
    assert np.array_equal(decision.codes(shares), (shares[:, 1] > 1 / 6).astype(int))
    codes = decision.codes(shares)
    missed, alarms = (target.codes[:, 0] > codes).mean(), (target.codes[:, 0] < codes).mean()
    assert decision.cost == pytest.approx(5 * missed + alarms)
    assert decision.constant_cost == pytest.approx(
        min(5 * target.codes.mean(), 1 - target.codes.mean())
    )


def test_a_row_of_weight_two_decides_like_the_row_twice():
    shares, target = calibrated(300)
    weights = np.random.default_rng(1).integers(1, 4, 300)
    rows = np.repeat(np.arange(300), weights)
    weighted = ScoredTarget(target.codes, target.classes, weights=weights.astype(float))
    repeated = target.part(rows)
    costs = {("yes", "no"): 5}
    found = []
    for each, part in ((weighted, shares), (repeated, shares[rows])):
        rules = DecisionRules(LABELS, "neg_log_loss", None, costs, None)
        found.append(rules.decide(part, each).cost)
    assert found[0] == pytest.approx(found[1])


def test_weights_of_three_classes_help_rare_ones():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([4.0, 1.0, 0.3], 5000)
    codes = np.array([rng.choice(3, p=row) for row in shares], np.int32)
    target = ScoredTarget(codes[:, np.newaxis], [np.array([1, 2, 3])])
    rules = DecisionRules(target.classes[0], "balanced_accuracy", "auto", None, None)
    decision = rules.decide(shares, target)
    assert decision.kind == "weights"
    # Calibrated probabilities divided by the shares of classes are best for the mean recall.
    priors = np.bincount(codes) / 5000
    best = (shares / priors).argmax(axis=1)
    assert (decision.codes(shares) == best).mean() > 0.98
    assert rules.answered(shares, target).sum() == 5000


@pytest.fixture(scope="module")
def rare():
    X, y = make_classification(
        400, 6, weights=[0.85], flip_y=0.1, class_sep=0.6, n_informative=3, random_state=0
    )
    return pd.DataFrame(X, columns=list("abcdef")), np.where(y == 1, "yes", "no")


def test_a_committee_for_f1_finds_a_threshold_and_corrects_its_score_for_it(rare, tmp_path):
    X, y = rare
    model = CommitteeClassifier(**SMALL, scoring="f1", positive="yes").fit(X, y)
    decision = model.decision_
    assert decision.kind == "threshold"
    assert decision.threshold < 0.5
    assert "'yes'" in repr(decision)
    assert model.leaderboard_.metric == "f1"
    assert np.isfinite(model.score_.score)
    assert model.score_.score <= model.score_.naive
    expected = np.where(model.predict_proba(X)[:, 1] >= decision.threshold, "yes", "no")
    assert np.array_equal(model.predict(X), expected)
    shown = model.findings_.errors.confusion
    assert shown.sum() == 400
    committee.save(model, tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert repr(loaded.decision_) == repr(decision)


@pytest.mark.parametrize(("positive", "threshold"), [("yes", 0.15), ("no", 0.9)])
def test_other_rows_are_scored_by_the_classes_that_are_decided_for(
    rare, positive, threshold, tmp_path
):
    """In reports and by `committee evaluate`, as in `predict`."""
    X, y = rare
    model = CommitteeClassifier(**SMALL, scoring="f1", positive=positive, threshold=threshold)
    model.fit(X[::2], y[::2])
    predicted, truth = model.predict(X[1::2]), y[1::2]
    assert (predicted != model.classes_[model.predict_proba(X[1::2]).argmax(axis=1)]).any()
    expected = metrics.f1_score(truth, predicted, pos_label=positive)
    fresh = model._fresh(X[1::2], truth, with_rows=True)
    assert fresh.score == pytest.approx(expected)
    accuracy = fresh.scores.values[fresh.scores.names.index("accuracy"), 0]
    assert accuracy == pytest.approx((predicted == truth).mean())
    for row, _, words, *_ in fresh.worst:
        assert words.startswith(f"{predicted[int(row)]} (")
    committee.save(model, tmp_path / "model.committee")
    X[1::2].assign(truth=truth).to_csv(tmp_path / "rows.csv", index=False)
    files = tmp_path / "model.committee", [str(tmp_path / "rows.csv")], CsvOptions()
    assert evaluate_files(*files, "truth", None)["score"] == pytest.approx(expected)


def test_folds_are_scored_by_the_classes_that_are_decided_for(rare):
    """The score of all rows lies among those of the folds, where both are of decisions."""
    X, y = rare
    model = CommitteeClassifier(**SMALL, scoring="balanced_accuracy").fit(X, y)
    assert model.decision_.kind == "threshold"
    folds = model.findings_.scores.folds[:, 0]
    assert folds.mean() == pytest.approx(model.score_.naive, abs=0.01)


def test_the_positive_class_can_be_the_first_one(rare):
    X, y = rare
    y = np.where(y == "yes", "bad", "good")
    by_name = CommitteeClassifier(**SMALL, threshold=0.2, positive="bad").fit(X, y)
    expected = np.where(by_name.predict_proba(X)[:, 0] >= 0.2, "bad", "good")
    assert np.array_equal(by_name.predict(X), expected)


def test_costs_change_decisions_and_not_probabilities(rare):
    X, y = rare
    plain = CommitteeClassifier(**SMALL).fit(X, y)
    costly = CommitteeClassifier(**SMALL, costs=[[0, 1], [8, 0]]).fit(X, y)
    assert plain.decision_.kind == "largest"
    assert np.array_equal(plain.predict_proba(X), costly.predict_proba(X))
    assert (costly.predict(X) == "yes").sum() > (plain.predict(X) == "yes").sum()
    assert costly.decision_.cost < costly.decision_.constant_cost
    assert "a row" in repr(costly.decision_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"threshold": 1.0}, "threshold"),
        ({"threshold": "best"}, "threshold"),
        ({"threshold": 0.3, "costs": [[0, 1], [5, 0]]}, "threshold and costs"),
        ({"costs": [[0, 1]]}, "costs must be a matrix of 2 x 2"),
        ({"costs": [[0, np.nan], [5, 0]]}, "costs"),
        ({"costs": "high"}, "costs"),
        ({"costs": {("yes", "maybe"): 1}}, "maybe"),
        ({"costs": [[1, 1], [5, 5]]}, "costs must differ"),
        ({"positive": "maybe"}, "positive"),
    ],
)
def test_wrong_parameters_are_named(rare, parameters, message):
    X, y = rare
    with pytest.raises((TypeError, ValueError), match=message):
        CommitteeClassifier(**SMALL, **parameters).fit(X, y)


@pytest.mark.parametrize("parameters", [{"threshold": 0.3}, {"positive": 1}])
def test_thresholds_and_a_positive_class_are_for_two_classes(parameters):
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=next(iter(parameters))):
        CommitteeClassifier(**SMALL, **parameters).fit(X, [0, 1, 2] * 10)


def test_costs_by_pairs_of_labels():
    found = cost_matrix({(1, 2): 3, (2, 2): -1}, np.array([1, 2]))
    assert found.tolist() == [[0, 3], [1, -1]]
