"""How commands end: exit codes, errors in one line, interrupts, closed pipes."""

import signal
import time

import numpy as np
import pytest

import committee


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "none.csv", "-t", "y"), "none.csv: No such file"),
        (("train", ".", "-t", "y"), "Is a directory"),
        (("train", "old.csv", "-t", "Churn"), "did you mean 'churned'?"),
        (("train", "old.csv", "-t", "churned", "--ignore", "zap"), "did you mean 'zip'?"),
        (("train", "old.csv", "-t", "churned", "--quality", "top"), "quality"),
        (("train", "old.csv", "-t", "churned", "--time-limit", "-1"), "time_limit"),
        (("train", "old.csv", "-t", "churned", "--decimal", "x"), "decimal must be one of"),
        (("train", "old.csv", "-t", "churned", "--positive", "maybe"), "'no', 'yes'"),
        (("train", "old.csv", "-t", "size", "--positive", "yes"), "needs classes"),
        (("train", "old.csv", "-t", "churned", "--weight", "zip"), "expected a number"),
        (("train", "empty.csv", "-t", "y"), "empty.csv is empty"),
        (("train", "header.csv", "-t", "b"), "no rows"),
        (("train", "ragged.csv", "-t", "b"), "ragged.csv, line 3: 3 cells"),
        (("train", "data.bin", "-t", "b"), "data.bin"),
        (("predict", "old.csv", "new.csv"), "not a committee model file"),
        (("predict", "tree.committee", "new.csv"), "DecisionTreeClassifier"),
        (("predict", "m.committee", "old.csv", "--keep", "who"), "no column 'who'"),
        (("predict", "m.committee", "other.csv"), "lacks 3 columns"),
        (("predict", "m.committee", "words.csv"), "words.csv, line 3, column 'size': 'much'"),
        (("predict", "m.committee", "new.csv", "--decimal", "."), "--decimal , would read it"),
        (("evaluate", "m.committee", "new.csv", "-t", "zip"), "the classes of the model are"),
        (("evaluate", "m.committee", "new.csv", "-t", "churn"), "did you mean 'churned'?"),
    ],
)
def test_errors_are_one_line_and_exit_code_one(command, mended, arguments, message):
    result = command(*arguments, cwd=mended)
    assert result.returncode == 1
    assert message in result.stderr
    assert result.stderr.splitlines()[-1].startswith("committee: ")
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.fixture(scope="module")
def mended(folder, trained):
    """Return the folder, with files that something is wrong with."""
    assert trained.returncode == 0, trained.stderr
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b\n")
    (folder / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n1,2\n")
    (folder / "other.csv").write_text("a,b\n1,2\n")
    (folder / "data.bin").write_bytes(np.random.default_rng(0).bytes(2000))
    (folder / "words.csv").write_text(
        "id;size;zip;since\nx;1,5;01067;01.01.2024\nx;much;01067;01.01.2024\n"
    )
    tree = committee.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    committee.save(tree, folder / "tree.committee")
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "old.csv"),
        ("train", "old.csv", "-t", "churned", "--seed", "-1"),
        ("train", "old.csv", "-t", "churned", "-o", "no/where.committee"),
        ("train", "old.csv", "-t", "churned", "-o", "old.csv"),
        ("train", "old.csv", "-t", "churned", "-r", "."),
        ("predict", "m.committee"),
        ("predict", "m.committee", "new.csv", "-o", "no/where.csv"),
        ("fly",),
    ],
)
def test_wrong_options_are_exit_code_two_before_any_work(command, folder, arguments):
    before = (folder / "old.csv").read_bytes()
    result = command(*arguments, cwd=folder)
    assert result.returncode == 2
    assert "Usage" in result.stderr
    assert (folder / "old.csv").read_bytes() == before


def wait_for(process, words):
    """Read standard error until some words come."""
    seen = ""
    while words not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    return seen


@pytest.fixture
def training(start, tmp_path):
    """Return a function that starts a training that lasts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8))
    y = X[:, 0] + rng.normal(size=4000)
    lines = [",".join(f"{v:.4f}" for v in [*row, t]) for row, t in zip(X, y, strict=True)]
    path = tmp_path / "long.csv"
    path.write_text("a,b,c,d,e,f,g,h,y\n" + "\n".join(lines) + "\n")
    return lambda *options: start(
        "train", path, "-t", "y", "--budget", "10000", *options, cwd=tmp_path
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_best_committee_so_far(training, tmp_path, number):
    process = training()
    wait_for(process, "the best so far")
    time.sleep(0.2)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert "interrupted" in output
    assert "Traceback" not in errors
    model = committee.load(tmp_path / "model.committee")
    assert model.interrupted_
    assert len(model.member_names_) > 0


def test_an_interrupt_before_there_is_a_committee_writes_nothing(training, tmp_path):
    process = training("--quality", "best")
    wait_for(process, "regression of 'y'")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    if process.returncode == 3:
        pytest.skip("the first model was there before the signal")
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1] == "committee: interrupted; nothing was written"
    assert not (tmp_path / "model.committee").exists()


def test_a_reader_that_has_seen_enough_ends_a_command_silently(start, folder, trained):
    (folder / "many.csv").write_text("id;size;zip;since\n" + "x;0,5;01067;01.06.2024\n" * 20_000)
    process = start("predict", "m.committee", "many.csv", cwd=folder)
    assert process.stdout.readline().startswith("prediction")
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=60) == 141
    assert errors == ""
