"""The command line, and the bundled table that its demo trains on."""

import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import committee
from committee.cli.main import main, make_app
from committee.datasets import load_penguins


@pytest.fixture
def run():
    runner = CliRunner()
    app = make_app()
    return lambda *arguments: runner.invoke(app, [str(argument) for argument in arguments])


def test_version_and_help_answer(run):
    assert run("--version").output.strip() == f"committee {committee.__version__}"
    result = run("--help")
    assert result.exit_code == 0
    assert "demo" in result.output
    assert "--folds" in run("demo", "--help").output


def test_help_loads_nothing_heavy():
    script = (
        "import sys\n"
        "from committee.cli.main import make_app\n"
        "from typer.testing import CliRunner\n"
        "assert CliRunner().invoke(make_app(), ['--help']).exit_code == 0\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'pyarrow', 'matplotlib', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_demo_prints_a_leaderboard_and_saves_a_model(run, tmp_path):
    output = tmp_path / "penguins.committee"
    result = run("demo", "--output", output, "--folds", 2)
    assert result.exit_code == 0, result.output
    for words in ("committee tree", "scikit-learn tree", "accuracy", "RMSE", "±", "|---"):
        assert words in result.output, words
    X, y = load_penguins()
    model = committee.load(output)
    assert np.mean(model.predict(X) == y) > 0.95


def test_demo_works_without_pandas_and_says_nothing_when_quiet(tmp_path):
    script = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('pandas', 'polars', 'matplotlib'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from committee.cli.main import main\n"
        f"output = {str(tmp_path / 'm')!r}\n"
        "sys.argv = ['committee', 'demo', '--quiet', '--folds', '2', '-o', output]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "m").exists()


def test_the_same_seed_gives_the_same_scores(run, tmp_path):
    def scores(seed):
        output = run("demo", "-o", tmp_path / "m", "--folds", 2, "--seed", seed).output
        found = re.findall(r"\d+\.\d ± \d+\.\d", output)
        assert len(found) == 16  # two tables of eight models
        return found

    assert scores(3) == scores(3)
    assert scores(3) != scores(4)


def test_an_unusable_output_is_an_error_before_any_work(run, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("not a model")
    for output, words in (
        (tmp_path, "folder"),
        (tmp_path / "no" / "where.committee", "does not exist"),
        (notes, "not a model file"),
    ):
        result = run("demo", "--output", output)
        assert result.exit_code == 2
        assert "Traceback" not in result.output
        assert words in " ".join(result.output.replace("│", " ").split())
    assert notes.read_text() == "not a model"


@pytest.mark.parametrize("arguments", [["--folds", "1"], ["--seed", "-1"], ["--folds", "many"]])
def test_wrong_numbers_are_usage_errors(run, arguments):
    assert run("demo", *arguments).exit_code == 2


@pytest.mark.parametrize("missing", ["typer", "rich", "pyarrow"])
def test_missing_extras_are_named(monkeypatch, capsys, missing, tmp_path):
    for name in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "committee.cli.demo", raising=False)
    monkeypatch.setattr(sys, "argv", ["committee", "demo", "-o", str(tmp_path / "m")])
    with pytest.raises(SystemExit) as stop:
        main()
    words = str(stop.value.code) + capsys.readouterr().err
    assert f"{missing} is not installed" in words
    assert "pip install 'committee[cli]'" in words


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_penguins_keep_their_missing_values(backend):
    X, y = load_penguins(backend=backend)
    assert y.shape == (344,)
    assert {str(label): int(np.sum(y == label)) for label in np.unique(y)} == {
        "Adelie": 152,
        "Chinstrap": 68,
        "Gentoo": 124,
    }
    names = X.column_names if backend == "pyarrow" else list(X.columns)
    assert names == [
        "island",
        "bill_length_mm",
        "bill_depth_mm",
        "flipper_length_mm",
        "body_mass_g",
        "sex",
        "year",
    ]
    n_missing = {
        "pandas": lambda: int(X["sex"].isna().sum()),
        "polars": lambda: X["sex"].null_count(),
        "pyarrow": lambda: X["sex"].null_count,
    }[backend]()
    assert n_missing == 11


def test_another_target_leaves_out_rows_without_it():
    X, y = load_penguins("body_mass_g", backend="pandas")
    assert len(X) == len(y) == 342
    assert y.dtype == float
    assert "species" in X.columns
    with pytest.raises(ValueError, match="target must be one of"):
        load_penguins("weight")
    with pytest.raises(ValueError, match="backend must be one of"):
        load_penguins(backend="excel")
