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

    def call(function, **arguments):
        return json.loads(json.dumps(resolve(function)(**json.loads(json.dumps(arguments)))))

    for part in ("fit", "memory", "tables"):
        monkeypatch.setattr(module(f"parts.{part}"), "run_fresh", call)
    return module("run").main


def smoke(run_here, tmp_path, *more):
    page = tmp_path / "page.md"
    run_here(["smoke", "--quick", "--results", str(tmp_path), "--page", str(page), *more])
    text = (tmp_path / "smoke-quick.json").read_text()
    return text, json.loads(text)["parts"], page.read_text()


def test_a_suite_writes_all_it_measured_and_a_page(run_here, tmp_path):
    text, parts, page = smoke(run_here, tmp_path)
    assert list(parts) == ["fit", "memory"]
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
    assert page.count("\n| committee hist, 2 threads |") == 4  # fit, predict, one row, memory
    assert "### Goals" in page


def test_parts_can_be_measured_and_rendered_one_at_a_time(run_here, tmp_path):
    _, both, _ = smoke(run_here, tmp_path)
    _, again, page = smoke(run_here, tmp_path, "--only", "memory")
    assert again["fit"] == both["fit"]
    assert smoke(run_here, tmp_path, "--render")[1:] == (again, page)


def test_an_unknown_part_is_an_error_that_names_the_parts(run_here, tmp_path):
    with pytest.raises(SystemExit, match=r"--only must be one of fit, memory; got speed"):
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
