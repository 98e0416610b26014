"""The command line, and the bundled table that its demo trains on."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import committee
from committee.cli.main import main, make_app
from committee.datasets import load_penguins, penguins_file


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
    assert "\n  committee train churn.csv --target churned --report churn.html\n" in result.output
    assert "--folder" in run("demo", "--help").output


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


def test_version_is_a_plain_switch_in_the_help(run):
    line = next(line for line in run("--help").output.splitlines() if "--version" in line)
    assert "bool" not in line


def test_demo_walks_from_a_file_to_a_report_and_predictions(run, tmp_path):
    result = run("demo", "--folder", tmp_path, "--budget", 0.5)
    assert result.exit_code == 0, result.output
    for words in ("$ committee train", "log loss", "weight", "$ committee predict", "third bird"):
        assert words in result.output, words
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "new-birds.csv",
        "penguins.committee",
        "penguins.csv",
        "penguins.html",
    ]
    X, y = load_penguins()
    model = committee.load(tmp_path / "penguins.committee")
    assert np.mean(model.predict(X) == y) > 0.95
    assert penguins_file().read_bytes() == (tmp_path / "penguins.csv").read_bytes()


def test_demo_needs_no_library_of_frames_and_says_nothing_when_quiet(tmp_path):
    script = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('pandas', 'polars', 'pyarrow', 'matplotlib'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from committee.cli.main import main\n"
        f"sys.argv = ['committee', 'demo', '-q', '--budget', '0.5', '-d', {str(tmp_path)!r}]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "penguins.html").exists()


def test_the_same_seed_gives_the_same_committee(run, tmp_path):
    def found(seed):
        options = ("--folder", tmp_path, "--budget", 0.5, "--seed", seed, "--json")
        result = json.loads(run("demo", *options).stdout)
        return result["score"], result["new_birds"]

    assert found(3) == found(3)
    assert found(3) != found(4)


def test_demo_spares_files_of_others(run, tmp_path):
    notes = tmp_path / "penguins.csv"
    notes.write_text("my own penguins")
    result = run("demo", "--folder", tmp_path)
    assert result.exit_code == 1
    assert "choose another folder" in result.stderr
    assert notes.read_text() == "my own penguins"
    assert run("demo", "--folder", tmp_path / "nowhere").exit_code == 2


@pytest.mark.parametrize("arguments", [["--budget", "0"], ["--seed", "-1"], ["--budget", "much"]])
def test_wrong_numbers_are_usage_errors(run, arguments):
    assert run("demo", *arguments).exit_code == 2


def test_missing_extras_are_named(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.split(".")[0] == "typer"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in [name for name in sys.modules if name.startswith("committee.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.setattr(sys, "argv", ["committee", "demo"])
    with pytest.raises(SystemExit) as stop:
        main()
    words = str(stop.value.code) + capsys.readouterr().err
    assert "typer is not installed" in words
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
