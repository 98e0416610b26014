"""The committee in one line: what it promises on small tables."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import committee
from committee import CommitteeClassifier, CommitteeRegressor
from committee.auto.runs import Run

SMALL = {"budget": 0.3, "random_state": 0}

# Folds are drawn: a row of weight two is one row of one fold, two copies may be in two.
DRAWN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are dealt into folds at random"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        CommitteeClassifier(budget=0.02, random_state=0, n_jobs=1),
        CommitteeRegressor(budget=0.02, random_state=0, n_jobs=1),
    ],
    expected_failed_checks=lambda estimator: DRAWN,
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def frame(n_rows=240):
    """Return a table with all kinds of columns, and a target that depends on three of them."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n_rows), "D"),
            "number": np.arange(n_rows),
            "same": "x",
            "key": [f"k{i:05d}" for i in rng.permutation(n_rows)],
            "empty": np.nan,
        }
    )
    table.loc[::7, "size"] = np.nan
    weekend = table["when"].dt.day_of_week >= 5
    score = table["size"].fillna(0) + (table["colour"] == "red") + 2 * weekend
    return table, (score > 0.8).map({True: "yes", False: "no"}), score


@pytest.fixture(scope="module")
def fitted():
    table, y, _ = frame()
    return CommitteeClassifier(budget=1.0, random_state=0).fit(table, y), table, y


def test_raw_columns_are_used_or_left_out_with_a_reason(fitted):
    model, _, _ = fitted
    uses = {use.name: use for use in model.columns_}
    assert {name: use.use for name, use in uses.items()} == {
        "size": "number",
        "colour": "category",
        "when": "date",
        "number": "dropped",
        "same": "dropped",
        "key": "dropped",
        "empty": "dropped",
    }
    assert all(use.note for use in uses.values() if use.use == "dropped")
    assert "when [weekday]" in uses["when"].parts
    assert model.importances_.ranking()[0] in ("size", "when")
    assert set(model.importances_.names) == {"size", "colour", "when"}


def test_weights_add_up_and_the_score_beats_the_constant(fitted):
    model, _, y = fitted
    assert model.weights_.sum() == pytest.approx(1.0)
    assert len(model.weights_) == len(model.members_) == len(model.member_names_)
    shares = y.value_counts(normalize=True)[model.classes_].to_numpy()
    constant = -log_loss(y, np.tile(shares, (len(y), 1)), labels=model.classes_)
    assert model.findings_.constant_score == pytest.approx(constant)
    assert constant < model.score_.score <= model.score_.naive
    low, high = model.score_.interval(0.9)
    wide = model.score_.interval(0.9, n_new=50)
    assert wide[0] < low < model.score_.score < high < wide[1]


def test_scores_on_the_leaderboard_are_of_rows_that_models_have_not_seen(monkeypatch):
    """A target of pure noise cannot be predicted: no honest score is better than the constant."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    model = CommitteeClassifier(budget=1.0, random_state=0).fit(X, y)
    best = model.leaderboard_.entries[0]
    assert best.score < model.findings_.constant_score + 3 * best.standard_error
    # On rows that nobody has seen, the committee is hardly worse than the constant.
    Z, z = rng.normal(size=(4000, 5)), rng.integers(0, 2, 4000)
    assert log_loss(z, model.predict_proba(Z)) < np.log(2) + 0.05


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_the_same_call_gives_the_same_committee_for_any_number_of_threads(kind):
    if kind == "classes":
        X, y = make_classification(150, n_classes=3, n_informative=4, random_state=0)
        models = [CommitteeClassifier(**SMALL, n_jobs=k).fit(X, y) for k in (1, 2, 1)]
        answers = [model.predict_proba(X) for model in models]
    else:
        X, y = make_regression(150, 6, noise=10.0, random_state=0)
        models = [CommitteeRegressor(**SMALL, n_jobs=k).fit(X, y) for k in (1, 2, 1)]
        answers = [model.predict(X) for model in models]
    for model, answer in zip(models[1:], answers[1:], strict=True):
        assert np.array_equal(answer, answers[0])
        assert model.score_ == models[0].score_
        assert model.budget_ == models[0].budget_


def test_a_larger_budget_tries_more_and_the_work_stays_within_it():
    X, y = make_classification(300, random_state=0)
    models = [CommitteeClassifier(budget=b, random_state=0).fit(X, y) for b in (0.02, 0.3)]
    assert len(models[0].leaderboard_) < len(models[1].leaderboard_)
    assert models[1].budget_ <= 0.3 * 1.05


def test_a_time_limit_ends_the_search_after_the_first_model():
    X, y = make_regression(300, 10, noise=5.0, random_state=0)
    limited = CommitteeRegressor(time_limit=1e-6, random_state=0).fit(X, y)
    names = [entry.name for entry in limited.leaderboard_]
    assert len(names) == 2
    assert "constant" in names  # which is always there, to be compared with


def test_an_interrupt_before_the_first_model_changes_nothing(monkeypatch):
    X, y = make_classification(120, random_state=0)
    model = CommitteeClassifier(**SMALL).fit(X, y)
    before = dict(vars(model))

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:50], y[:50])
    assert vars(model) == before


def test_saved_committees_predict_the_same_and_hold_no_rows(fitted, tmp_path):
    model, table, _ = fitted
    path = tmp_path / "model.committee"
    committee.save(model, path)
    loaded = committee.load(path)
    assert np.array_equal(loaded.predict_proba(table), model.predict_proba(table))
    assert str(loaded.leaderboard_) == str(model.leaderboard_)
    data = path.read_bytes()
    assert b"k00007" not in data  # of the column of keys, which was left out
    loaded.report(tmp_path / "report.html")


def test_columns_are_matched_by_name_and_unseen_levels_are_predicted(fitted):
    model, table, _ = fitted
    expected = model.predict_proba(table)
    assert np.array_equal(model.predict_proba(table[table.columns[::-1]]), expected)
    odd = table.head(3).assign(colour="violet", same="y", key="new")
    assert np.isfinite(model.predict_proba(odd)).all()
    with pytest.raises(ValueError, match="size"):
        model.predict(table.drop(columns="size"))


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("budget", 0.0, ValueError),
        ("budget", "much", ValueError),
        ("quality", "superb", ValueError),
        ("time_limit", -1, ValueError),
        ("scoring", "no_such_score", ValueError),
    ],
)
def test_wrong_parameters_are_named(name, value, error):
    X, y = make_classification(60, random_state=0)
    with pytest.raises(error, match=name):
        CommitteeClassifier(**{name: value}).fit(X, y)


def test_targets_that_cannot_be_learnt_are_refused_in_words():
    X = np.arange(20.0).reshape(-1, 2)
    with pytest.raises(ValueError, match="1 class"):
        CommitteeClassifier().fit(X, ["a"] * 10)
    with pytest.raises(ValueError, match="no column of X"):
        CommitteeRegressor().fit(np.ones((10, 2)), np.arange(10.0))
    with pytest.raises(ValueError, match="1d array"):
        CommitteeRegressor().fit(X, np.ones((10, 2)))


def test_rows_of_weight_zero_are_absent():
    X, y = make_regression(80, 4, random_state=0)
    weights = np.r_[np.ones(60), np.zeros(20)]
    model = CommitteeRegressor(**SMALL).fit(X, y, sample_weight=weights)
    alone = CommitteeRegressor(**SMALL).fit(X[:60], y[:60])
    assert np.array_equal(model.predict(X), alone.predict(X))
    assert model.findings_.n_rows == 60


def test_weights_count_in_the_folds_as_repetitions_do_on_average():
    """Predictions of weighted rows scatter around those of repeated rows over random folds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=60)
    weights = rng.integers(1, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    new = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    weighted, repeated = [], []
    for seed in range(8):
        model = CommitteeRegressor(budget=0.02, random_state=seed)
        weighted.append(model.fit(X, y, sample_weight=weights).predict(new))
        repeated.append(model.fit(X[rows], y[rows]).predict(new))
    error = np.std(np.subtract(weighted, repeated), axis=0, ddof=1) / 8**0.5
    assert (np.abs(np.mean(weighted, axis=0) - np.mean(repeated, axis=0)) < 5 * error + 0.1).all()


def test_a_constant_is_no_member_where_only_the_order_of_rows_counts(rng):
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + X[:, 1] + rng.normal(size=300) > 0
    model = CommitteeClassifier(budget=0.5, scoring="roc_auc", random_state=0).fit(X, y)
    weights = {entry.name: entry.weight for entry in model.leaderboard_.entries}
    assert weights["constant"] == 0.0
    assert model.score_.score > 0.75
