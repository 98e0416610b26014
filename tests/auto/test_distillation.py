"""Small models that imitate a committee."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, r2_score

import committee
from committee import CommitteeClassifier, CommitteeRegressor
from committee.auto.distillation import Student, soft_rows
from committee.tables.source import open_source


def frame(n_rows, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.choice(["p", "q", "r"], n_rows),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), "D"),
            "c": rng.normal(size=n_rows),
        }
    )
    score = 2 * (table["a"] > 0) + (table["b"] == "p") + 0.5 * table["c"]
    return table, (score + 0.5 * rng.normal(size=n_rows)).to_numpy()


def labels(y):
    return np.array(["low", "mid", "high"])[np.digitize(y, [1, 2])]


@pytest.fixture(scope="module")
def models():
    table, y = frame(300, 0)
    budget = {"budget": 0.2, "random_state": 0}
    return {
        "numbers": CommitteeRegressor(**budget).fit(table, y),
        "classes": CommitteeClassifier(**budget).fit(table, labels(y)),
    }


def test_rows_for_each_class_have_the_cross_entropy_as_their_log_loss():
    rng = np.random.default_rng(0)
    teacher, student = rng.dirichlet(np.ones(3), 50), rng.dirichlet(np.ones(3), 50)
    rows, codes, weights = soft_rows(teacher)
    own = log_loss(codes, student[rows], sample_weight=weights, labels=[0, 1, 2])
    kept = np.where(teacher >= 0.01, teacher, 0)
    kept /= kept.sum(axis=1, keepdims=True)
    assert own == pytest.approx(-(kept * np.log(student)).sum(axis=1).mean())


def test_a_tree_that_is_large_enough_says_what_the_committee_says():
    """Of 20 different rows each has a leaf, which has the probabilities that it was taught."""
    X = np.arange(20.0)[:, np.newaxis]
    shares = np.random.default_rng(0).dirichlet(np.full(3, 5.0), 20)
    student = Student("tree", 64, 3, 0, 1)
    model = student.fit(open_source(X), shares, np.arange(20))
    assert np.allclose(model.predict_proba(X), shares)


@pytest.mark.parametrize("kind", ["tree", "boosting"])
@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_what_is_said_of_a_student_holds_on_new_rows(models, task, kind):
    table, y = frame(400, 5)  # of rows of `fit` the committee knows the targets
    model = models[task]
    truth = y if task == "numbers" else labels(y)
    student = model.distill(table, truth, kind=kind)
    found = student.distillation_
    new, z = frame(3000, 1)
    if task == "numbers":
        agreed = r2_score(model.predict(new), student.predict(new))
        score = -(np.mean((student.predict(new) - z) ** 2) ** 0.5)
    else:
        agreed = (model.predict(new) == student.predict(new)).mean()
        score = -log_loss(labels(z), student.predict_proba(new), labels=model.classes_)
    assert found.agreement == pytest.approx(agreed, abs=0.08)
    assert abs(found.score - score) < 4 * student.score_.standard_error + 0.05
    assert found.compared == "truth"
    assert found.committee_score == model.score_.score
    assert found.loss == pytest.approx(model.score_.score - found.score)
    assert kind in str(found)


def test_boosting_agrees_more_than_a_small_tree(models):
    table, _ = frame(600, 2)
    found = [
        models["numbers"].distill(table, kind=kind, max_leaf_nodes=leaves).distillation_.agreement
        for kind, leaves in (("tree", 3), ("boosting", None))
    ]
    assert found[0] < found[1]


@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_students_are_committees_that_can_be_saved(models, task, tmp_path):
    table, y = frame(300, 0)
    model = models[task]
    before = dict(vars(model))
    student = model.distill(table, y if task == "numbers" else labels(y), max_leaf_nodes=5)
    assert vars(model) == before
    assert type(student) is type(model)
    assert student.member_names_ == ["tree"]
    assert student.latency_ < model.latency_ or len(model.members_) == 1
    tree = student.members_[0].estimators[0]
    assert "a <= " in committee.export_text(tree)
    committee.save(student, tmp_path / "student.committee")
    loaded = committee.load(tmp_path / "student.committee")
    assert np.array_equal(loaded.predict(table), student.predict(table))
    assert loaded.distillation_ == student.distillation_
    loaded.report(tmp_path / "student.html")
    assert loaded.explain(table.head(2)).methods == {"tree": "exact"}
    ask = loaded.predict_interval if task == "numbers" else loaded.predict_set
    assert np.isfinite(ask(table)).all()
    again = committee.load(tmp_path / "student.committee").distill(table)
    assert again.distillation_.agreement > 0.9  # a student of a student


def test_without_a_target_students_are_compared_with_the_committee(models):
    table, _ = frame(300, 3)
    for task, model in models.items():
        student = model.distill(table)
        found = student.distillation_
        assert found.compared == "committee"
        assert np.isnan(found.loss)
        ask = student.predict_interval if task == "numbers" else student.predict_set
        with pytest.raises(ValueError, match="distill"):
            ask(table)
        assert student.findings_.n_rows == 300


def test_students_keep_costs(models):
    table, y = frame(300, 0)
    yes = np.where(y > 2, "yes", "no")
    model = CommitteeClassifier(budget=0.05, random_state=0, costs=[[0, 1], [9, 0]])
    student = model.fit(table, yes).distill(table, yes)
    plain = student.classes_[student.predict_proba(table).argmax(axis=1)]
    assert (student.predict(table) == "yes").sum() > (plain == "yes").sum()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "forest"}, "kind"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"y": ["other"] * 300}, "'other'"),
        ({"y": ["low"] * 7}, "7"),
    ],
)
def test_wrong_arguments_are_named(models, options, message):
    with pytest.raises(ValueError, match=message):
        models["classes"].distill(frame(300, 0)[0], **options)
    with pytest.raises(ValueError, match="20 rows"):
        models["classes"].distill(frame(5, 0)[0])
