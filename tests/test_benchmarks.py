"""The runner of the benchmarks, on tiny sizes: what it writes, not how fast anything is."""

import dataclasses
import hashlib
import importlib
import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from peer_versions import needs_sklearn

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """Import a module of the folder by name; other tests do not see it."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    measure = importlib.import_module("benchmarks.harness.measure")
    # Nothing here depends on times, so nothing waits for quiet ones.
    monkeypatch.setattr(measure, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(measure.gc, "collect", lambda: 0)
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(FOLDER)):
            del sys.modules[name]


@pytest.fixture
def run_here(module, monkeypatch):
    """The command line, with what needs a fresh process done in this one: it is faster."""
    resolve = module("harness.fresh").resolve

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

        def call_within(self, seconds, method, **arguments):
            return self.call(method, **arguments)

    for part in ("fit", "memory", "tables", "race", "repeated"):
        monkeypatch.setattr(module(f"parts.{part}"), "run_fresh", call)
    for part in ("race", "accuracy"):
        monkeypatch.setattr(module(f"parts.{part}"), "Worker", Worker)
    for name in ("COMMITTEE_STAND_IN", "COMMITTEE_MAX_THREADS"):  # what a run sets is put back
        monkeypatch.setenv(name, "")
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
    assert "## Goals" in page


def test_parts_can_be_measured_and_rendered_one_at_a_time(run_here, tmp_path):
    _, both, _ = smoke(run_here, tmp_path)
    _, again, page = smoke(run_here, tmp_path, "--only", "memory")
    assert again["fit"] == both["fit"]
    assert smoke(run_here, tmp_path, "--render")[1:] == (again, page)


def test_an_unknown_part_is_an_error_that_names_the_parts(run_here, tmp_path):
    with pytest.raises(SystemExit, match=r"--only must be one of fit, memory, .*; got speed"):
        smoke(run_here, tmp_path, "--only", "speed")


def write_tables(tmp_path, monkeypatch, rng, n=200):
    """Write one table with a target of each kind and make it the folder of real tables."""
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


def test_real_tables_of_a_folder_are_compared(run_here, tmp_path, monkeypatch, rng):
    write_tables(tmp_path, monkeypatch, rng)
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
    assert (
        module("harness.fresh").run_fresh(
            "benchmarks.harness.datasets:store_split", folder=str(tmp_path), **sizes
        )
        is None
    )
    split = module("harness.datasets").load_split(**sizes)
    np.testing.assert_array_equal(np.load(tmp_path / "X_train.npy"), split.X_train)
    np.testing.assert_array_equal(np.load(tmp_path / "y_test.npy"), split.y_test)


def test_a_failure_in_a_fresh_process_is_told(module):
    with pytest.raises(RuntimeError, match="fresh:nothing failed in its own process"):
        module("harness.fresh").run_fresh("benchmarks.harness.fresh:nothing")


def test_a_worker_keeps_its_object_and_what_is_printed_is_no_answer(module):
    with module("harness.fresh").Worker("code:InteractiveInterpreter") as worker:
        assert worker.call("runsource", source="print('noise'); kept = 1") is False
        assert worker.call("runsource", source="if kept:") is True  # an incomplete statement


def test_a_failure_of_a_worker_is_told(module):
    with (
        module("harness.fresh").Worker("collections:Counter", a=2) as worker,
        pytest.raises(RuntimeError, match="nothing of collections:Counter failed in its own"),
    ):
        worker.call("nothing")


def test_a_contestant_may_name_another_interpreter_by_a_variable(module, monkeypatch):
    peers = module("contestants.contestant")
    away = peers.Contestant("x", "elsewhere.ensemble:Forest", python_variable="COMMITTEE_X")
    monkeypatch.delenv("COMMITTEE_X", raising=False)
    assert "COMMITTEE_X" in away.missing()
    monkeypatch.setenv("COMMITTEE_X", "python-of-x")
    assert away.missing() is None
    assert away.python == "python-of-x"
    assert peers.libraries_here([away]) == ()


def test_contestants_that_are_not_there_are_left_out_and_their_goals_are_open(run_here, module):
    race, peers = module("parts.race"), module("contestants.contestant")
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


def test_every_promise_about_adaboost_names_contestants_of_its_part(module):
    for part in module("suites.adaboost").PARTS:
        keys = [each.key for each in getattr(part, "contestants", ())]
        if isinstance(part, module("parts.race").RacePart):
            result = _made_up_race(part)
        elif isinstance(part, module("parts.rounds").RoundsPart):
            seconds = dict.fromkeys(keys, 1.0)
            result = {"found": [{"n_rows": 10, "n_features": 2, "seconds": seconds}]}
        elif keys:
            result = {"readings": {key: [{"wall": 1.0}] for key in keys}}
        else:
            continue
        goals = part.goals(result)
        assert goals, part.name
        assert all(goal.measured != "not measured" for goal in goals), part.name


def test_a_round_is_what_more_rounds_add(module):
    part = next(each for each in module("suites.adaboost").PARTS if each.name == "rounds")
    key = part.contestants[0].key
    found = [
        {"n_rows": n_rows, "n_features": 10, "seconds": {key: seconds}}
        for n_rows, seconds in ((100, 1e-6), (200, 4e-6))
    ]
    settings = {"rounds": [5, 25], "repeats": 1}
    page = "\n".join(part.render({"settings": settings, "found": found}))
    assert "| 100 x 10 | 1 (1.00) |" in page
    assert part.goals({"found": found})[0].measured == "2.00x"


def _made_up_race(part):
    names = ("rmse",) if part.metric == "rmse" else ("log_loss", "brier", "auc", "accuracy")
    fit = {"wall": 1.0, "scores": dict.fromkeys(names, 0.5)}
    keys = [each.key for each in part.contestants]
    assert part.peer in keys
    assert len(set(keys)) == len(keys)
    found = {
        "fits": fit,
        "predictions": [{"wall": 1.0}],
        "single_row": {"core": 1.0, "predict": 1.0},
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
    scores = module("harness.scores")
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
    model = module("contestants.ydf_forests").YdfForestClassifier(num_trees=5).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.n_nodes >= 5 * 5


def test_ydf_looks_at_one_feature_more_than_it_is_told(module, rng):
    pytest.importorskip("ydf")
    y = rng.integers(0, 2, 300)
    X = np.column_stack([y, *rng.normal(size=(3, len(y)))]).astype(np.float32)
    forest = module("contestants.ydf_forests").YdfForestClassifier(
        num_trees=50, num_candidate_attributes=3
    )
    # With all 4 features in sight the first one always wins: every tree is one split.
    assert forest.fit(X, y).n_nodes == 50 * 3


def test_contestants_take_turns(module):
    order = []
    calls = {name: lambda name=name: order.append(name) for name in "ab"}
    readings = module("harness.measure").interleave(calls, 3, "turns")
    assert order == list("ababab")
    assert [len(readings[name]) for name in "ab"] == [3, 3]


def test_the_peak_of_memory_counts_what_was_freed_again(module):
    measure = module("harness.measure")
    size = 64 * 2**20
    reading, _ = measure.measure_memory(lambda: np.ones(size, dtype=np.uint8)[-1])
    assert reading.added > 0.9 * size or reading.method == "growth of ru_maxrss"
    assert reading.added < 2 * size


def test_paired_differences_have_the_standard_error_of_their_mean(module):
    paired_difference = module("harness.measure").paired_difference
    mean, error = paired_difference([0.9, 0.8, 0.7], [0.8, 0.8, 0.5])
    assert mean == pytest.approx(0.1)
    assert error == pytest.approx(0.1 / math.sqrt(3))
    assert math.isnan(paired_difference([0.5], [0.4])[1])


def test_only_the_lines_between_the_markers_change(module, tmp_path):
    report = module("report.markdown")
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
    assert module("report.markdown").number(value) == text


def test_resamples_share_the_law_but_no_row(module):
    higgs = module("harness.datasets").higgs
    X, y = higgs(500, seed=1)
    again, _ = higgs(500, seed=1)
    other, _ = higgs(500, seed=2)
    assert X.dtype == np.float32
    assert X.shape == (500, 28)
    assert 0.4 < y.mean() < 0.6
    np.testing.assert_array_equal(X, again)
    assert not (X[:, 0, None] == other[None, :, 0]).any()


# ---- boosting ----


def test_equal_scores_share_a_rank_and_a_failure_is_last(module):
    ranks = module("harness.standings").ranks
    assert ranks({"a": 0.9, "b": 0.8, "c": 0.8, "d": None}, "roc_auc") == {
        "a": 1,
        "b": 2.5,
        "c": 2.5,
        "d": 4,
    }
    assert ranks({"a": 0.9, "b": 0.8}, "log_loss") == {"a": 2, "b": 1}


def test_a_normalised_score_is_a_share_of_the_best_gain_over_the_constant(module):
    normalised = module("harness.standings").normalised
    scores = {"a": 1.0, "b": 1.5, "c": 2.0, "d": 2.5, "e": 99.0, "f": None}
    found = normalised(scores, 2.0, "rmse")
    assert found == {"a": 1, "b": 0.5, "c": 0, "d": -0.5, "e": -1, "f": -1}
    assert normalised({"a": 0.75, "b": 1.0}, 0.5, "roc_auc") == {"a": 0.5, "b": 1}
    assert normalised({"a": 0.5, "b": 0.4, "c": None}, 0.5, "roc_auc") == {"a": 0, "b": 0, "c": -1}


def test_wins_are_counted_over_all_pairs(module):
    wins = module("harness.standings").wins
    assert wins({"a": 3.0, "b": 2.0, "c": 2.0}, "rmse") == {"a": 0, "b": 0.75, "c": 0.75}
    assert wins({"a": 3.0}, "rmse") == {"a": 0}


@pytest.mark.parametrize(
    ("score", "constant", "metric", "is_worse"),
    [
        (1.0101, 1.0, "log_loss", True),
        (1.0099, 1.0, "rmse", False),
        (0.494, 0.5, "roc_auc", True),
        (0.496, 0.5, "roc_auc", False),
        (None, 0.5, "roc_auc", False),
    ],
)
def test_one_percent_worse_than_the_constant_counts(module, score, constant, metric, is_worse):
    found = module("harness.standings").is_worse_than_constant(score, constant, metric)
    assert found is is_worse


def test_standings_are_means_over_tables(module):
    standings = module("harness.standings")
    tables = [
        standings.TableScores("x", "rmse", 2.0, {"a": 1.0, "b": 1.5}),
        standings.TableScores("y", "roc_auc", 0.5, {"a": None, "b": 0.4}),
    ]
    found = standings.standings(tables)
    assert found["a"] == standings.Standing(1.5, 0.0, 0.5, 1, 1, 0)
    assert found["b"] == standings.Standing(1.5, 0.25, 0.5, 1, 0, 1)
    assert standings.standings([]) == {}


def test_the_halves_are_disjoint_and_do_not_move(module):
    halves = module("harness.halves")
    assert not halves.TUNE & halves.TEST
    assert (len(halves.TUNE), len(halves.TEST)) == (29, 27)
    names = ",".join(sorted(halves.TUNE)) + ";" + ",".join(sorted(halves.TEST))
    assert hashlib.sha256(names.encode()).hexdigest()[:12] == "d0e3aad0b5f3"
    assert halves.half_of("titanic") == "tune"
    assert halves.half_of("a table that came later") == "test"


def test_the_rule_deals_tables_of_each_task_by_size_whatever_their_order(module, rng):
    halves, info = module("harness.halves"), module("harness.datasets").TableInfo
    tables = [
        info(f"{task}{n}", task, "y", "rmse", n, "f") for task in ("binary", "x") for n in range(8)
    ]
    found = halves.alternate(tables)
    assert [found[f"binary{n}"] for n in range(5)] == ["tune", "test", "test", "tune", "tune"]
    assert list(found.values()).count("tune") == 8
    assert halves.alternate([tables[i] for i in rng.permutation(16)]) == found


def test_the_halves_follow_from_the_rule(module):
    tables = module("harness.datasets").list_tables(10**9)
    if not tables:
        pytest.skip("COMMITTEE_DATA does not name a folder of tables")
    halves = module("harness.halves")
    rule = halves.alternate(tables)
    assert {name for name in rule if rule[name] == "tune"} == halves.TUNE


@pytest.mark.parametrize(
    ("target", "seconds"),
    [(0.5, None), (0.6, 4.0), (0.7, 3.0), (0.8, 2.0), (0.9, 1.5), (1.0, 1.0), (2.0, 1.0)],
)
def test_seconds_to_a_loss_are_read_between_fits(module, target, seconds):
    fits = [(1.0, 1.0), (2.0, 0.8), (4.0, 0.6)]
    found = module("parts.equal_loss").seconds_to_reach(target, fits)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_a_score_is_kept_for_its_version_threads_and_time_limit(module, tmp_path):
    cache = module("harness.score_cache")
    path = tmp_path / "scores.json"
    key = cache.RunKey("t", 0, "lib", "1", 2)
    cache.ScoreCache.read(path).put(key, {"score": 0.5})
    slow = cache.RunKey("t", 1, "lib", "1", 2)
    cache.ScoreCache.read(path).put(slow, {"timeout": "ended", "limit": 10})
    kept = cache.ScoreCache.read(path)
    assert kept.find(key, 60)["score"] == 0.5
    assert kept.find(cache.RunKey("t", 0, "lib", "2", 2), 60) is None
    assert kept.find(cache.RunKey("t", 0, "lib", "1", 1), 60) is None
    assert kept.find(slow, 10)["timeout"] == "ended"
    assert kept.find(slow, 60) is None
    path.write_text(path.read_text().replace(f'"protocol": {cache.PROTOCOL}', '"protocol": 0'))
    assert cache.ScoreCache.read(path).find(key, 60) is None


def test_a_fingerprint_follows_any_code_but_not_the_place(module, tmp_path):
    fingerprint = module("harness.score_cache").fingerprint
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "a.py").write_text("1")
        (tmp_path / place / "core.so").write_text("2")
        (tmp_path / place / "notes.txt").write_text(place)
    found = [
        fingerprint(tmp_path / place, tmp_path / place / "core.so") for place in ("here", "there")
    ]
    assert found[0] == found[1]
    (tmp_path / "here" / "core.so").write_text("3")
    assert fingerprint(tmp_path / "here", tmp_path / "here" / "core.so") != found[0]


def test_a_worker_that_takes_too_long_is_ended(module):
    with (
        module("harness.fresh").Worker("code:InteractiveInterpreter") as worker,
        pytest.raises(TimeoutError, match=r"within 0\.2 s"),
    ):
        worker.call_within(0.2, "runsource", source="import time; time.sleep(60)")


def accuracy(run_here, tmp_path, *more):
    options = ["--quick", "--stand-in", "--max-threads", "1", "--only", "accuracy", *more]
    page = tmp_path / "page.md"
    run_here(["boosting", *options, "--results", str(tmp_path), "--page", str(page)])
    return json.loads((tmp_path / "accuracy-scores-quick.json").read_text())["runs"], page


def test_defaults_are_scored_once_and_ranked(run_here, module, tmp_path, monkeypatch, rng):
    write_tables(tmp_path, monkeypatch, rng)
    monkeypatch.setattr(
        module("contestants.contestant"), "find_spec", lambda name: name == "sklearn" or None
    )
    few, _ = accuracy(run_here, tmp_path, "--table", "b", "--seeds", "2")
    assert not (tmp_path / "boosting-quick.json").exists()  # a part of the tables is no result
    runs, page = accuracy(run_here, tmp_path)
    labels = ("stand-in", "HistGradientBoosting", "constant")
    assert {(run["table"], run["library"]) for run in runs} == {
        (t, x) for t in "abc" for x in labels
    }
    assert len(few) == 2 * len(labels)
    assert [run for run in runs if run["table"] == "b"] == few  # not measured again
    assert all("score" in run for run in runs)
    parts = json.loads((tmp_path / "boosting-quick.json").read_text())["parts"]
    assert [table["name"] for table in parts["accuracy"]["result"]["tables"]] == list("abc")
    text = page.read_text()
    assert "| half: test (3) |" in text
    assert "stand-in better than HistGradientBoosting" in text
    assert "| not measured | open |" in text  # peers that are not there
    assert str(tmp_path) not in text


def test_failures_and_time_limits_are_told_apart(module):
    accuracy_result = module("parts.accuracy_result")
    good = [{"seed": 0, "score": 0.5, "cpu": 1.0}]
    tables = [
        {"name": "x", "runs": {"a": good, "b": [{"failure": "ValueError"}], "constant": good}},
        {"name": "y", "runs": {"a": good, "b": [{"timeout": "ended"}], "constant": good}},
    ]
    shared = {"half": "test", "metric": "rmse", "n_rows": 9, "task": "regression"}
    settings = {"seeds": 1, "large_seeds": 1, "large": 10, "seconds": 60, "train_rows": 9}
    result = accuracy_result.AccuracyResult(
        {
            "settings": settings,
            "entrants": [{"label": label} for label in ("a", "b", "constant")],
            "tables": [{**table, **shared} for table in tables],
        }
    )
    assert [table["name"] for table in result.compared("all")] == ["x"]
    assert result.standings("test")["b"].failures == 1
    assert "ended after 60 s: y (b)." in "\n".join(accuracy_result.overview(result))
    cells = "\n".join(accuracy_result.score_table(result))
    assert "| failed |" in cells
    assert "| time limit |" in cells


@needs_sklearn("1.9", "its TargetEncoder takes no folds")
def test_a_column_of_too_many_levels_is_encoded_for_scikit_learn(module, rng):
    level = rng.integers(0, 400, 3000)
    X = pd.DataFrame({"many": pd.Categorical(level), "few": pd.Categorical(level % 3)})
    model = (
        module("contestants.default_boosters")
        .HistGradientBoosting("numbers")
        .fit(X, 1.0 * (level % 3))
    )
    assert np.abs(model.predict(X) - level % 3).max() < 0.5


def test_every_promise_about_boosting_names_contestants_of_its_part(module, monkeypatch):
    for name in ("COMMITTEE_STAND_IN", "COMMITTEE_MAX_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for part in module("suites.boosting").PARTS:
        if isinstance(part, module("parts.race").RacePart):
            result = _made_up_race(part)
        elif hasattr(part, "contestants"):
            reading = {"wall": 1.0, "added": 1}
            keys = [each.key for each in part.contestants]
            result = {"readings": {key: [reading] for key in keys}, "bounds": {}}
        else:
            continue
        goals = part.goals(result)
        assert goals or part.name == "peers"
        assert all(goal.measured != "not measured" for goal in goals), part.name


@pytest.mark.parametrize(
    ("library", "adapter"),
    [
        ("lightgbm", "LightGBM"),
        ("xgboost", "XGBoost"),
        ("xgboost", "XGBoostExact"),
        ("catboost", "CatBoost"),
        ("catboost", "CatBoostSymmetric"),
        ("sklearn", "HistGradientBoosting"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_adapters_of_boosters_answer_alike(module, rng, library, adapter):
    pytest.importorskip(library)
    make = getattr(module("contestants.boosters"), adapter)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    for n_classes in (2, 3):
        y = np.digitize(X[:, 0], np.linspace(-0.5, 0.5, n_classes - 1))
        shares = make(n_rounds=20).fit(X, y).predict_proba(X)
        assert shares.shape == (300, n_classes)
        assert (shares.argmax(axis=1) == y).mean() > 0.9
    numbers = make("numbers", n_rounds=50).fit(X, X[:, 0].astype(np.float64)).predict(X)
    assert np.corrcoef(numbers, X[:, 0])[0, 1] > 0.9


# --- ID3 and C4.5 -------------------------------------------------------------------------------


def test_every_promise_about_quinlans_trees_can_be_kept_or_broken(module):
    for part in module("suites.quinlan").PARTS:
        if isinstance(part, module("parts.levels").LevelsPart):
            fit = {"wall": 1.0, "accuracy": 0.5, "nodes": 3}
            readings = {each.key: [fit] for each in part.contestants}
            result = {"settings": {"n_rows": 1, "n_features": 1, "rounds": 1}, "readings": readings}
        elif isinstance(part, module("parts.ensembles").EnsemblesPart):
            fit = {"wall": 1.0, "cpu": 1.0, "growth": 0.5, "predict": 1.0, "walk": 0.1}
            readings = {each.key: [fit] for each in part.contestants}
            result = {"rounds": 1, "readings": dict.fromkeys(part.tables, readings)}
        else:
            errors = {each.label: 20.0 for each in part.contestants}
            result = {"repeats": 1, "errors": dict.fromkeys(part.published, errors)}
        goals = part.goals(result)
        assert goals, part.name
        assert all(goal.measured != "not measured" for goal in goals), part.name
        assert part.render(result)


def test_a_fit_of_levels_tells_seconds_accuracy_and_size(module):
    levels = module("parts.levels")
    peers = module("contestants.contestant")
    size = {"n_rows": 400, "n_features": 6, "rounds": 1}
    (found,) = levels.fit_levels(dataclasses.asdict(peers.ours("ID3", "ID3Classifier")), size)
    assert found["wall"] > 0
    assert found["accuracy"] > 0.9
    assert found["nodes"] > 50


def test_ensembles_tell_how_long_trees_grow(module, tmp_path, monkeypatch, rng):
    write_tables(tmp_path, monkeypatch, rng)
    ensembles, peers = module("parts.ensembles"), module("contestants.contestant")
    tree = peers.nested("committee:C45Classifier")
    bag = peers.ours("bag", "BaggingClassifier", estimator=tree, n_estimators=3, random_state=0)
    table = next(t for t in module("harness.datasets").list_tables(10**6) if t.is_classification)
    found = ensembles.fit_ensembles(dataclasses.asdict(table), [dataclasses.asdict(bag)], 1)
    (reading,) = found[bag.key]
    assert 0 < reading["growth"] < reading["cpu"]
    assert reading["walk"] > 0
    assert reading["predict"] > 0


def test_error_rates_are_those_of_cross_validation(module, tmp_path, monkeypatch, rng):
    write_tables(tmp_path, monkeypatch, rng)
    published = module("parts.published")
    contestants = (module("contestants.contestant").ours("C4.5", "C45Classifier"),)
    names = [table.name for table in module("harness.datasets").list_tables(10**6)]
    sizes = {"quick": published.PublishedSize(repeats=1, max_rows=10**6)}
    table = next(t for t in module("harness.datasets").list_tables(10**6) if t.is_classification)
    found = published.errors_on_table(
        dataclasses.asdict(table), [dataclasses.asdict(each) for each in contestants], 1
    )
    assert found["committee C4.5"] == pytest.approx(0.0, abs=1.0)  # the class is one of the columns
    part = published.PublishedPart(
        "p", "P", contestants, dict.fromkeys(names, 1.0), "nobody", sizes, 0.5
    )
    assert part.goals({"repeats": 1, "errors": {table.name: found}})[0].is_met


# --- pages of the documentation -----------------------------------------------------------------

SUITES = ("trees", "forests", "boosting", "adaboost", "quinlan", "stacking", "committee")
DOCS = FOLDER.parent / "docs"


@pytest.fixture
def pages(module, monkeypatch):
    for name in ("COMMITTEE_STAND_IN", "COMMITTEE_MAX_THREADS"):
        monkeypatch.delenv(name, raising=False)
    if not (FOLDER / "results").exists():
        pytest.skip("a source distribution has no results")
    return module("report.pages")


@pytest.mark.parametrize("suite", SUITES)
def test_the_page_of_a_suite_is_what_its_results_say(pages, suite):
    page = (DOCS / "benchmarks" / f"{suite}.md").read_text(encoding="utf-8")
    assert page == pages.suite_page(suite)


def test_every_suite_has_a_page(pages, module):
    assert set(pages.TITLES) == set(SUITES) == set(module("run").SUITES) - {"smoke"}


def test_the_ratios_of_the_summary_are_those_of_the_results(pages):
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for name, lines in pages.summary_sections().items():
        body = "\n".join(lines)
        assert f"<!-- {name}: begin -->\n\n{body}\n\n<!-- {name}: end -->" in text
    assert text.count("\n") < 300


MEASURED = [suite for suite in SUITES if (FOLDER / "results" / f"{suite}.json").exists()]


@pytest.mark.parametrize("suite", MEASURED)
def test_a_chart_shows_the_figures_of_the_results(pages, module, suite):
    image = pytest.importorskip("PIL.Image")
    with image.open(DOCS / "images" / f"benchmark-{suite}.png") as chart:
        drawn = json.loads(chart.text["Description"])
    assert drawn == module("report.charts").chart_values(suite)
    assert f"(images/benchmark-{suite}.png)" in (DOCS / "benchmarks.md").read_text(encoding="utf-8")


def test_the_readme_has_the_command_of_every_table(pages):
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    body = "\n".join(pages.commands())
    assert f"<!-- commands: begin -->\n\n{body}\n\n<!-- commands: end -->" in text
