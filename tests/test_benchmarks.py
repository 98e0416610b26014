"""The runner of the benchmarks, on tiny sizes: what it writes, not how fast anything is."""

import importlib
import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """Import a module of the folder by name; other tests do not see it."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(FOLDER))
    measure = importlib.import_module("measure")
    # Nothing here depends on times, so nothing waits for quiet ones.
    monkeypatch.setattr(measure, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(measure.gc, "collect", lambda: 0)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(FOLDER)):
            del sys.modules[name]


@pytest.fixture
def run_here(module, monkeypatch):
    """The command line, with what needs a fresh process done in this one: it is faster."""
    resolve = module("fresh").resolve

    def call(function, *, python=None, **arguments):
        return json.loads(json.dumps(resolve(function)(**json.loads(json.dumps(arguments)))))

    class Worker:
        """A worker without a process."""

        def __init__(self, maker, *, python, **arguments):
            self.held = resolve(maker)(**json.loads(json.dumps(arguments)))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def call(self, method, **arguments):
            return json.loads(json.dumps(getattr(self.held, method)(**arguments)))

    for part in ("fit", "memory", "tables", "race", "repeated"):
        monkeypatch.setattr(module(f"parts.{part}"), "run_fresh", call)
    monkeypatch.setattr(module("parts.race"), "Worker", Worker)
    return module("run").main


def smoke(run_here, tmp_path, *more):
    page = tmp_path / "page.md"
    run_here(["smoke", "--quick", "--results", str(tmp_path), "--page", str(page), *more])
    text = (tmp_path / "smoke-quick.json").read_text()
    return text, json.loads(text)["parts"], page.read_text()


def test_a_suite_writes_all_it_measured_and_a_page(run_here, tmp_path):
    text, parts, page = smoke(run_here, tmp_path)
    assert list(parts) == ["fit", "memory", "race", "small", "operations"]
    for record in parts.values():
        assert {"cpu", "cores", "commit", "python", "versions"} <= set(record["environment"])
        assert record["load_before"] is not None
    fits = parts["fit"]["result"]["rounds"][0]["fits"]
    assert list(fits) == ["committee hist, 2 threads", "scikit-learn, 1 thread"]
    for fit in fits.values():
        assert fit["wall"] > 0
        assert fit["cpu"] >= 0
        assert 0 <= fit["score"] <= 1
    assert parts["fit"]["environment"]["versions"].keys() >= {"committee", "scikit-learn"}
    assert str(FOLDER.parent) not in text + page
    # fit, predict, one row, memory; fit, scores, predict, one row, file; small
    assert page.count("\n| committee hist, 2 threads |") == 10
    assert "### Goals" in page


def test_parts_can_be_measured_and_rendered_one_at_a_time(run_here, tmp_path):
    _, both, _ = smoke(run_here, tmp_path)
    _, again, page = smoke(run_here, tmp_path, "--only", "memory")
    assert again["fit"] == both["fit"]
    assert smoke(run_here, tmp_path, "--render")[1:] == (again, page)


def test_an_unknown_part_is_an_error_that_names_the_parts(run_here, tmp_path):
    with pytest.raises(SystemExit, match=r"--only must be one of fit, memory, .*; got speed"):
        smoke(run_here, tmp_path, "--only", "speed")


def test_real_tables_of_a_folder_are_compared(run_here, tmp_path, monkeypatch, rng):
    n = 200
    size = rng.normal(size=n)
    colour = rng.choice(["red", "green", "blue"], n)
    frame = pd.DataFrame({"size": size, "colour": pd.Categorical(colour), "rich": colour == "red"})
    frame["price"] = size + (colour == "red")
    frame.loc[::7, "size"] = np.nan
    frame["rich"] = frame["rich"].astype("int8")
    entries = [
        {"name": "a", "task": "binary", "target": "rich", "metric": "roc_auc"},
        {"name": "b", "task": "regression", "target": "price", "metric": "rmse"},
        {"name": "c", "task": "multiclass", "target": "colour", "metric": "log_loss"},
    ]
    frame.to_parquet(tmp_path / "t.parquet")
    manifest = [{**entry, "n_rows": n, "file": "t.parquet", "notes": ""} for entry in entries]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setenv("COMMITTEE_DATA", str(tmp_path))
    page = tmp_path / "page.md"
    chosen = ["--only", "tables", "--results", str(tmp_path), "--page", str(page)]
    run_here(["trees", "--quick", *chosen, "--resamples", "2"])
    tables = json.loads((tmp_path / "trees-quick.json").read_text())["parts"]["tables"]["result"]
    assert [table["name"] for table in tables["tables"]] == ["a", "b", "c"]
    for run in tables["tables"][0]["duels"]["full depth"]["ours"]:
        assert run["score"] > 0.9  # the colour tells it
    assert page.read_text().count("| b (200 x 3) | rmse |") == 2
    assert str(tmp_path) not in page.read_text()


def test_a_fresh_process_does_the_work(module, tmp_path):
    sizes = {"name": "higgs", "n_train": 30, "n_test": 20, "resample": 3}
    assert module("fresh").run_fresh("datasets:store_split", folder=str(tmp_path), **sizes) is None
    split = module("datasets").load_split(**sizes)
    np.testing.assert_array_equal(np.load(tmp_path / "X_train.npy"), split.X_train)
    np.testing.assert_array_equal(np.load(tmp_path / "y_test.npy"), split.y_test)


def test_a_failure_in_a_fresh_process_is_told(module):
    with pytest.raises(RuntimeError, match="fresh:nothing failed in its own process"):
        module("fresh").run_fresh("fresh:nothing")


def test_a_worker_keeps_its_object_and_what_is_printed_is_no_answer(module):
    with module("fresh").Worker("code:InteractiveInterpreter") as worker:
        assert worker.call("runsource", source="print('noise'); kept = 1") is False
        assert worker.call("runsource", source="if kept:") is True  # an incomplete statement


def test_a_failure_of_a_worker_is_told(module):
    with (
        module("fresh").Worker("collections:Counter", a=2) as worker,
        pytest.raises(RuntimeError, match="nothing of collections:Counter failed in its own"),
    ):
        worker.call("nothing")


def test_a_contestant_may_name_another_interpreter_by_a_variable(module, monkeypatch):
    peers = module("peers")
    away = peers.Contestant("x", "elsewhere.ensemble:Forest", python_variable="COMMITTEE_X")
    monkeypatch.delenv("COMMITTEE_X", raising=False)
    assert "COMMITTEE_X" in away.missing()
    monkeypatch.setenv("COMMITTEE_X", "python-of-x")
    assert away.missing() is None
    assert away.python == "python-of-x"
    assert peers.libraries_here([away]) == ()


def test_contestants_that_are_not_there_are_left_out_and_their_goals_are_open(run_here, module):
    race, peers = module("parts.race"), module("peers")
    mine = peers.ours("forest", "NoSuchForest")
    params = {"estimator": peers.nested("sklearn.tree:DecisionTreeClassifier", max_depth=2)}
    theirs = peers.Contestant("bag", "sklearn.ensemble:BaggingClassifier", params)
    size = race.RaceSize(n_train=100, n_test=50, resamples=1, predict_rounds=1, single_row_calls=0)
    promises = race.scores_as_well(mine.key, theirs.key, "auc")
    part = race.RacePart(
        "x", "X", "higgs", (mine, theirs), theirs.key, {"quick": size}, promises=promises
    )
    result = part.run("quick", None)
    assert list(result["rounds"][0]["fits"]) == ["bag, 1 thread"]
    assert result["rounds"][0]["stored"]["bag, 1 thread"]["nodes"] > 10
    assert [goal.measured for goal in part.goals(result)] == ["not measured"]
    assert part.run("full", None) is None  # no such size


def test_every_promise_about_forests_names_contestants_of_its_part(module):
    for part in module("suites.forests").PARTS:
        if isinstance(part, module("parts.race").RacePart):
            result = _made_up_race(part)
        elif hasattr(part, "contestants") or hasattr(part, "contestant"):
            contestants = getattr(part, "contestants", ())
            keys = [each.key for each in contestants] or part.operations
            reading = {"wall": 1.0, "added": 1}
            result = {"readings": {key: [reading] for key in keys}, "bounds": {}}
        else:
            continue
        goals = part.goals(result)
        assert goals, part.name
        assert all(goal.measured != "not measured" for goal in goals), part.name


def _made_up_race(part):
    names = ("rmse",) if part.metric == "rmse" else ("log_loss", "brier", "auc", "accuracy")
    fit = {"wall": 1.0, "scores": dict.fromkeys(names, 0.5)}
    keys = [each.key for each in part.contestants]
    assert part.peer in keys
    assert len(set(keys)) == len(keys)
    found = {
        "fits": fit,
        "predictions": [{"wall": 1.0}],
        "single_row": {"core": 1.0},
        "stored": {"bytes": 1, "nodes": 1},
    }
    return {
        "settings": {"n_train": 1, "n_test": 1, "n_features": 1},
        "problem": part.problem,
        "metric": part.metric,
        "noun": part.noun,
        "peer": part.peer,
        "rounds": [{name: dict.fromkeys(keys, value) for name, value in found.items()}] * 2,
    }


@pytest.mark.parametrize(
    ("ours", "theirs", "metric", "is_met"),
    [
        ([0.4019, 0.4019], [0.4, 0.4], "log_loss", True),  # 0.5 %
        ([0.41, 0.41], [0.4, 0.4], "log_loss", False),
        ([0.44, 0.398], [0.4, 0.4], "log_loss", True),  # within its standard error
        ([0.3, 0.3], [0.4, 0.4], "log_loss", True),  # better
        ([0.3, 0.3], [0.4, 0.4], "auc", False),
    ],
)
def test_equal_scores_are_within_one_error_or_half_a_percent(module, ours, theirs, metric, is_met):
    race = module("parts.race")
    rounds = [
        {"fits": {"a": {"scores": {metric: x}}, "b": {"scores": {metric: y}}}}
        for x, y in zip(ours, theirs, strict=True)
    ]
    settings = {"n_train": 1, "n_test": 1, "n_features": 1}
    result = {"settings": settings, "problem": "", "metric": metric, "noun": "", "peer": "b"}
    (check,) = race.scores_as_well("a", "b", metric)
    assert check(race.RaceResult({**result, "rounds": rounds})).is_met is is_met


def test_scores_do_not_depend_on_the_type_of_the_probabilities(module):
    scores = module("scores")
    truth = np.array([0, 1, 1, 0])
    shares = np.array([[1, 0], [0.5, 0.5], [1, 0], [0.75, 0.25]])
    found = scores.classification_scores(truth, shares)
    assert found == scores.classification_scores(truth, shares.astype(np.float32))
    cut = -math.log(np.finfo(np.float64).eps)
    assert found["log_loss"] == pytest.approx((math.log(2) + cut + math.log(4 / 3)) / 4)
    assert found["brier"] == pytest.approx((0.25 + 1 + 0.0625) / 4)
    assert found["auc"] == pytest.approx((2 + 0.5) / 4)
    assert found["accuracy"] == 0.5
    many = scores.classification_scores(np.array([0, 1, 2]), np.eye(3))
    assert many["brier"] == 0
    assert many["auc"] == 1


def test_the_adapter_of_ydf_answers_in_the_order_of_the_classes(module, rng):
    pytest.importorskip("ydf")
    y = rng.permutation(np.repeat([2, 10, 33], [30, 60, 90]))  # YDF orders classes by frequency
    X = np.column_stack([y, rng.normal(size=len(y))]).astype(np.float32)
    model = module("ydf_forests").YdfForestClassifier(num_trees=5).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.n_nodes >= 5 * 5


def test_ydf_looks_at_one_feature_more_than_it_is_told(module, rng):
    pytest.importorskip("ydf")
    y = rng.integers(0, 2, 300)
    X = np.column_stack([y, *rng.normal(size=(3, len(y)))]).astype(np.float32)
    forest = module("ydf_forests").YdfForestClassifier(num_trees=50, num_candidate_attributes=3)
    # With all 4 features in sight the first one always wins: every tree is one split.
    assert forest.fit(X, y).n_nodes == 50 * 3


def test_contestants_take_turns(module):
    order = []
    calls = {name: lambda name=name: order.append(name) for name in "ab"}
    readings = module("measure").interleave(calls, 3, "turns")
    assert order == list("ababab")
    assert [len(readings[name]) for name in "ab"] == [3, 3]


def test_the_peak_of_memory_counts_what_was_freed_again(module):
    measure = module("measure")
    size = 64 * 2**20
    reading, _ = measure.measure_memory(lambda: np.ones(size, dtype=np.uint8)[-1])
    assert reading.added > 0.9 * size or reading.method == "growth of ru_maxrss"
    assert reading.added < 2 * size


def test_paired_differences_have_the_standard_error_of_their_mean(module):
    paired_difference = module("measure").paired_difference
    mean, error = paired_difference([0.9, 0.8, 0.7], [0.8, 0.8, 0.5])
    assert mean == pytest.approx(0.1)
    assert error == pytest.approx(0.1 / math.sqrt(3))
    assert math.isnan(paired_difference([0.5], [0.4])[1])


def test_only_the_lines_between_the_markers_change(module, tmp_path):
    report = module("report")
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n<!-- x: begin -->\nold\n<!-- x: end -->\n\nlast words\n")
    report.write_section(page, "x", ["new"])
    assert page.read_text() == (
        "# Title\n\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\n\nlast words\n"
    )
    report.write_section(page, "y", ["more"])
    assert "last words\n\n## Y\n\n<!-- y: begin -->\n\nmore\n" in page.read_text()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0000123, "0.0000123"), (1.5, "1.50"), (12.34, "12.3"), (15233, "15,233")],
)
def test_numbers_have_three_digits_and_no_exponent(module, value, text):
    assert module("report").number(value) == text


def test_resamples_share_the_law_but_no_row(module):
    higgs = module("datasets").higgs
    X, y = higgs(500, seed=1)
    again, _ = higgs(500, seed=1)
    other, _ = higgs(500, seed=2)
    assert X.dtype == np.float32
    assert X.shape == (500, 28)
    assert 0.4 < y.mean() < 0.6
    np.testing.assert_array_equal(X, again)
    assert not (X[:, 0, None] == other[None, :, 0]).any()
