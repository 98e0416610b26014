"""Explanations of a committee and of its predictions, and what is new in a table."""

import numpy as np
import pandas as pd
import pytest

import committee
from committee import CommitteeClassifier, CommitteeRegressor
from committee.auto.contributions import CommitteeParts
from committee.evaluation.calibration import with_temperature
from committee.inspection.parts import Parts, bent_parts, softmax, softmax_parts

N_ROWS = 240


def frame(n_rows=N_ROWS, seed=0):
    """A number, a category and a date that matter, a number that does not, and a constant."""
    rng = np.random.default_rng(seed)
    days = pd.to_timedelta(rng.integers(0, 400, n_rows), "D")
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "same": "x",
            "b": rng.choice(["p", "q", "r"], n_rows),
            "when": pd.Timestamp("2024-01-01") + days,
            "noise": rng.normal(size=n_rows),
        }
    )
    table.loc[::6, "a"] = np.nan
    weekend = table["when"].dt.day_of_week >= 5
    y = table["a"].fillna(1) + 2.0 * (table["b"] == "p") + 3.0 * weekend
    return table, y.to_numpy()


@pytest.fixture(scope="module")
def models():
    table, y = frame()
    budget = {"budget": 0.4, "random_state": 0}
    return {
        "numbers": CommitteeRegressor(**budget).fit(table, y),
        "two": CommitteeClassifier(**budget).fit(table, np.where(y > 2, "yes", "no")),
        "three": CommitteeClassifier(**budget).fit(table, np.digitize(y, [1, 3])),
    }


@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
def test_contributions_and_base_add_up_to_the_prediction(models, kind):
    model, table = models[kind], frame(15, seed=1)[0]
    found = model.explain(table, n_samples=3)
    predicted = model.predict(table) if kind == "numbers" else model.predict_proba(table)
    assert np.allclose(found.base + found.contributions.sum(axis=1), predicted, atol=1e-9)
    assert found.names == ("a", "same", "b", "when", "noise")
    assert (found.contributions[:, 1] == 0).all()
    if kind != "numbers":
        assert found.classes == tuple(model.classes_)
        # What one class gains others lose, but for the numeric integral.
        assert np.abs(found.contributions.sum(axis=2)).max() < 1e-4
    assert set(found.methods) == set(model.member_names_)
    assert set(found.methods.values()) <= {"exact", "sampled"}


def test_columns_that_matter_contribute_most(models):
    table, _ = frame(60, seed=2)
    sizes = np.abs(models["numbers"].explain(table).contributions).mean(axis=0)
    assert min(sizes[[0, 2, 3]]) > 4 * sizes[4]
    weekend = table["when"].dt.day_of_week >= 5
    when = models["numbers"].explain(table).contributions[:, 3]
    assert when[weekend].mean() - when[~weekend].mean() == pytest.approx(3.0, abs=0.6)


def test_one_changed_cell_changes_only_what_can_change(models):
    """Of a sum, each part is the change from common values to that of the row."""
    table = frame(1, seed=3)[0]
    model = models["numbers"]
    low, high = table.assign(a=-1.0), table.assign(a=1.0)
    parts = [model.explain(each).contributions[0] for each in (low, high)]
    assert parts[1][0] - parts[0][0] == pytest.approx(2.0, abs=0.6)
    assert np.abs((parts[1] - parts[0])[1:]).max() < 0.5


class Line:
    """A linear member, of which Shapley values are known."""

    def predict(self, matrix):
        return matrix @ np.array([1.0, -2.0, 0.5])


def test_sampling_finds_the_shapley_values_of_a_line():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = CommitteeRegressor(budget=0.02, random_state=0).fit(X, X[:, 0] + X[:, 1])
    table = model._matched(X[:5])
    features = model._reader.read(table.opened())
    explained = CommitteeParts(vars(model), features, table, 200, 0)

    def predict(table):
        cells = np.column_stack([table.column(k).values for k in range(3)])
        return Line().predict(cells)[:, np.newaxis]

    parts = explained._sampled(predict)
    # Draws are spread evenly over the quantiles, so that their means are nearly those of columns.
    expected = (X[:5] - X.mean(axis=0)) * [1.0, -2.0, 0.5]
    assert np.allclose(parts.of_columns[:, :, 0], expected, atol=0.05)
    assert np.allclose(parts.total[:, 0], Line().predict(X[:5]))


def test_parts_of_a_sigmoid_are_in_proportion_to_those_of_the_score():
    """Along a straight line the mean slope of one score is the difference quotient."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 4, 1)) * 2
    base = np.array([-0.7])
    zero = np.zeros_like(scores)
    both = Parts(np.array([0.0, -0.7]), np.concatenate([zero, scores], axis=2))
    found = softmax_parts(both)
    end = base + scores.sum(axis=1)
    sigmoid = lambda score: 1 / (1 + np.exp(-score))  # noqa: E731
    slope = (sigmoid(end) - sigmoid(base)) / (end - base)
    assert np.allclose(found.of_columns[:, :, 1], scores[:, :, 0] * slope, atol=1e-6)
    assert np.allclose(found.of_columns[:, :, 0], -found.of_columns[:, :, 1], atol=1e-6)
    assert np.allclose(found.total, softmax(both.total))


def test_a_temperature_bends_parts_and_keeps_their_sum():
    rng = np.random.default_rng(0)
    ends, base = rng.dirichlet(np.ones(3), 5), np.array([0.5, 0.3, 0.2])
    shares = rng.dirichlet(np.ones(2), (5, 3)).transpose(0, 2, 1)
    parts = Parts(base, shares * (ends - base)[:, np.newaxis])
    found = bent_parts(
        parts, lambda each: with_temperature(each, 0.6), lambda each: 1 / (0.6 * each)
    )
    assert np.allclose(found.total, with_temperature(ends, 0.6))
    assert np.allclose(found.base, with_temperature(base[np.newaxis], 0.6)[0])


def test_effects_follow_the_truth(models):
    found = {each.name: each for each in models["numbers"].explain().effects}
    assert set(found) >= {"a", "b", "when"}
    b = dict(zip(found["b"].labels, found["b"].predicted[:, 0], strict=True))
    assert b["p"] - (b["q"] + b["r"]) / 2 == pytest.approx(2.0, abs=0.4)


def test_explanations_print_and_have_frames(models):
    whole = models["two"].explain()
    assert "loss of neg_log_loss" in repr(whole)
    assert list(whole.to_frame().index) == models["two"].importances_.ranking()
    rows = models["three"].explain(frame(7, seed=4)[0], n_samples=2)
    assert "row 0: probability of" in repr(rows)
    assert "... 7 rows" in repr(rows)
    assert rows.to_frame().shape == (7 * 5 * 3, 1)
    numbers = models["numbers"].explain(frame(2, seed=4)[0], n_samples=2).to_frame()
    assert numbers.loc[(1, "same"), "contribution"] == 0


@pytest.mark.parametrize("value", [0, 1.5, "many"])
def test_wrong_numbers_of_samples_are_named(models, value):
    with pytest.raises((TypeError, ValueError), match="n_samples"):
        models["numbers"].explain(frame(2)[0], n_samples=value)


def test_what_is_new_is_counted_by_column_and_row(models):
    table, _ = frame()
    model = models["numbers"]
    assert repr(model.novelty(table)) == f"none of {N_ROWS} rows has new values"
    new = frame(50, seed=5)[0]
    new.loc[3, "a"] = 99.0
    new.loc[4:5, "a"] = -99.0
    new.loc[5, "b"] = "z"
    new.loc[6, "noise"] = np.nan
    new.loc[7, "when"] = pd.Timestamp("2031-01-01")
    new.loc[8, "when"] = pd.NaT
    new["same"] = "y"  # was left out, so nothing depends on it
    found = model.novelty(new)
    for name, column in table.drop(columns="same").items():
        counts = found.to_frame().loc[name]
        if name == "b":
            assert counts["unseen_levels"] == (~new["b"].isin(column)).sum() == 1
        else:
            assert counts["below_range"] == (new[name] < column.min()).sum()
            assert counts["above_range"] == (new[name] > column.max()).sum()
        # The column had missing cells in the training table, which makes them nothing new.
        assert counts["missing"] == (0 if name == "a" else new[name].isna().sum())
    assert found.rows[[3, 4, 5, 6, 7, 8]].all()
    assert "b: 1 with unseen levels" in repr(found)


def test_a_loaded_model_explains_the_same(models, tmp_path):
    table = frame(4, seed=6)[0]
    for model in models.values():
        committee.save(model, tmp_path / "model.committee")
        loaded = committee.load(tmp_path / "model.committee")
        assert repr(loaded.explain()) == repr(model.explain())
        rows = [each.explain(table, n_samples=2).contributions for each in (loaded, model)]
        assert np.array_equal(*rows)
        assert repr(loaded.novelty(table)) == repr(model.novelty(table))
