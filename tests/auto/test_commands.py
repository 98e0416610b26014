"""The command line: train, predict, evaluate, inspect."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import committee


def run(*arguments, cwd, stdin=None):
    command = [sys.executable, "-m", "committee.cli.main", *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, input=stdin, env=os.environ
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"id": range(200, 360), "size": rng.normal(size=160), "zip": rng.choice([10, 20, 30], 160)}
    )
    table["churned"] = np.where(table["size"] + 0.3 * rng.normal(size=160) > 0, "yes", "no")
    table.iloc[:120].to_csv(folder / "old.csv", index=False)
    table.iloc[120:].to_csv(folder / "new.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    arguments = ("train", "old.csv", "--target", "churned", "--budget", "0.3")
    outputs = ("--out", "m.committee", "--report", "r.html", "--json")
    return run(*arguments, *outputs, cwd=folder)


def test_train_saves_a_model_and_a_report_and_prints_its_score(folder, trained):
    assert trained.returncode == 0, trained.stderr
    found = json.loads(trained.stdout)
    assert found["task"] == "classification"
    assert sum(found["members"].values()) == pytest.approx(1.0)
    assert found["interval"][0] < found["score"] < found["interval"][1]
    assert "churned" in trained.stderr
    assert (folder / "r.html").stat().st_size < 500_000


def test_predict_keeps_the_order_of_rows_and_carries_columns_over(folder, trained):
    result = run("predict", "m.committee", "new.csv", "--keep", "id", cwd=folder)
    assert result.returncode == 0, result.stderr
    rows = list(csv.DictReader(result.stdout.splitlines()))
    new = pd.read_csv(folder / "new.csv", float_precision="round_trip")
    assert [int(row["id"]) for row in rows] == new["id"].tolist()
    model = committee.load(folder / "m.committee")
    expected = model.predict_proba(new.drop(columns="churned"))
    shares = [[float(row[f"probability of {c}"]) for c in ("no", "yes")] for row in rows]
    assert np.array_equal(shares, expected)
    assert [row["prediction"] for row in rows] == model.classes_[expected.argmax(axis=1)].tolist()


def test_one_row_is_read_as_the_model_knows_its_columns(folder, trained):
    lines = (folder / "new.csv").read_text().splitlines()
    whole = run("predict", "m.committee", "new.csv", cwd=folder).stdout.splitlines()
    one = run("predict", "m.committee", "-", cwd=folder, stdin="\n".join([lines[0], lines[5]]))
    assert one.returncode == 0, one.stderr
    assert one.stdout.splitlines()[0] == whole[0]
    label, *shares = one.stdout.splitlines()[1].split(",")
    expected_label, *expected = whole[5].split(",")
    assert label == expected_label
    # A linear member may round differently: linear algebra takes other kernels for one row.
    assert np.array(shares, float) == pytest.approx(np.array(expected, float), rel=1e-12)


def test_evaluate_scores_new_rows(folder, trained):
    arguments = ("evaluate", "m.committee", "new.csv", "--target", "churned")
    result = run(*arguments, "--scoring", "accuracy", "--json", cwd=folder)
    assert result.returncode == 0, result.stderr
    new = pd.read_csv(folder / "new.csv")
    predicted = committee.load(folder / "m.committee").predict(new.drop(columns="churned"))
    assert json.loads(result.stdout)["score"] == np.mean(predicted == new["churned"])


def test_inspect_lists_the_models(folder, trained):
    result = run("inspect", "m.committee", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "neg_log_loss" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "none.csv", "-t", "y"), "none.csv"),
        (("train", "old.csv", "-t", "y"), "'y'"),
        (("train", "old.csv", "-t", "churned", "--quality", "top"), "quality"),
        (("predict", "old.csv", "new.csv"), "old.csv"),
        (("predict", "m.committee", "old.csv", "--keep", "who"), "who"),
        (("evaluate", "m.committee", "new.csv", "-t", "size"), "size"),
    ],
)
def test_errors_are_one_line_and_exit_code_one(folder, trained, arguments, message):
    result = run(*arguments, cwd=folder)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
