"""The command line: train, predict, evaluate, explain, inspect."""

import csv
import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest

import committee


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def expected(folder, trained, tables):
    """What the model predicts for the new rows, given as a frame."""
    model = committee.load(folder / "m.committee")
    new = tables[1].assign(since=pd.to_datetime(tables[1]["since"], format="%d.%m.%Y"))
    return model, model.predict_proba(new)


def test_train_saves_a_model_and_a_report_and_prints_its_score(folder, trained):
    assert trained.returncode == 0, trained.stderr
    found = json.loads(trained.stdout)
    assert found["task"] == "classification"
    assert found["classes"] == ["no", "yes"]
    assert sum(found["members"].values()) == pytest.approx(1.0)
    assert found["interval"][0] < found["score"] < found["interval"][1]
    assert (found["model"], found["report"], found["interrupted"]) == (
        "m.committee",
        "r.html",
        False,
    )
    assert (folder / "r.html").stat().st_size < 500_000
    uses = {column["name"]: column for column in found["columns"]}
    assert (uses["id"]["use"], uses["since"]["use"], uses["zip"]["kind"]) == (
        "dropped",
        "date",
        "category",
    )


def test_train_says_what_it_reads_and_how_far_it_is(trained):
    lines = trained.stderr.splitlines()
    assert all(line.startswith("committee: ") for line in lines)
    assert "old.csv: 120 rows, 5 columns, semicolon between cells, decimal comma" in lines[0]
    assert any("'zip'" in line and "zero" in line for line in lines)
    assert any("classification of 'churned'" in line for line in lines)
    steps = [line for line in lines if "the best so far" in line]
    assert steps
    assert "log loss" in steps[0]


def test_train_prints_a_summary_for_people_and_is_quiet_when_asked(command, folder, tmp_path):
    arguments = ("train", folder / "old.csv", "-t", "churned", "--budget", "0.1")
    result = command(*arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for words in ("To expect on new rows", "90 % interval", "weight", "Saved model.committee"):
        assert words in result.stdout, words
    assert "The same committee again" not in result.stdout
    result = command(*arguments, "--quiet", cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    result = command(*arguments[:-2], "--time-limit", "0.5", cwd=tmp_path)
    budget = committee.load(tmp_path / "model.committee").budget_
    assert f"The same committee again: --budget {budget:.10g}" in result.stdout


def test_predict_keeps_the_order_of_rows_and_carries_columns_over(
    command, folder, expected, tables
):
    result = command("predict", "m.committee", "new.csv", "--keep", "id", cwd=folder)
    assert result.returncode == 0, result.stderr
    rows = rows_of(result.stdout)
    assert [row["id"] for row in rows] == tables[1]["id"].tolist()
    model, shares = expected
    found = [[float(row[f"probability of {c}"]) for c in ("no", "yes")] for row in rows]
    assert np.array_equal(found, shares)
    assert [row["prediction"] for row in rows] == model.classes_[shares.argmax(axis=1)].tolist()


def test_one_row_is_read_as_the_model_knows_its_columns(command, folder, trained):
    lines = (folder / "new.csv").read_text().splitlines()
    whole = command("predict", "m.committee", "new.csv", cwd=folder).stdout.splitlines()
    one = command("predict", "m.committee", "-", cwd=folder, stdin="\n".join([lines[0], lines[5]]))
    assert one.returncode == 0, one.stderr
    assert one.stdout.splitlines()[0] == whole[0]
    label, *shares = one.stdout.splitlines()[1].split(",")
    expected_label, *expected = whole[5].split(",")
    assert label == expected_label
    # A linear member may round differently: linear algebra takes other kernels for one row.
    assert np.array(shares, float) == pytest.approx(np.array(expected, float), rel=1e-12)


@pytest.mark.parametrize("kind", ["comma", "json", "parquet", "no names", "fewer columns"])
def test_new_files_may_be_written_in_another_way(command, folder, trained, tables, kind, tmp_path):
    whole = command("predict", "m.committee", "new.csv", cwd=folder).stdout
    new, options = tables[1], []
    path = tmp_path / "table"
    if kind == "comma":
        new[new.columns[::-1]].drop(columns="churned").to_csv(path, index=False)
        options = ["--decimal", "."]
    elif kind == "json":
        new.to_json(path, orient="records", lines=True)
        options = ["--decimal", ","]  # JSON has a decimal point, whatever is said
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        dates = pd.to_datetime(new["since"], format="%d.%m.%Y")
        new.assign(since=dates).to_parquet(path)
    elif kind == "no names":
        new.to_csv(path, index=False, header=False, sep=";", decimal=",")
        options = ["--no-header"]
    else:  # nothing depends on the id
        new.drop(columns=["id", "churned"]).to_csv(path, index=False, sep=";", decimal=",")
    result = command("predict", "m.committee", path, *options, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout == whole


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.jsonl", "p.parquet"])
def test_predictions_are_written_by_the_name_of_the_file(command, folder, expected, name, tmp_path):
    path = tmp_path / name
    result = command("predict", "m.committee", "new.csv", "-o", path, "-k", "id", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    assert "40 rows written" in result.stderr
    if name.endswith("parquet"):
        found = pd.read_parquet(path)
    elif name.endswith("jsonl"):
        found = pd.read_json(path, lines=True)
    else:
        found = pd.read_csv(path, dtype={"id": str})
    assert list(found) == ["id", "prediction", "probability of no", "probability of yes"]
    assert np.allclose(found["probability of yes"], expected[1][:, 1], rtol=1e-9)


def test_predictions_as_json_lines(command, folder, expected):
    result = command("predict", "m.committee", "new.csv", "--json", cwd=folder)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["probability of yes"] for row in rows] == expected[1][:, 1].tolist()


def test_evaluate_scores_new_rows(command, folder, expected, tables):
    arguments = ("evaluate", "m.committee", "new.csv", "--scoring", "accuracy", "--json")
    result = command(*arguments, cwd=folder)
    assert result.returncode == 0, result.stderr
    model, shares = expected
    right = np.mean(model.classes_[shares.argmax(axis=1)] == tables[1]["churned"])
    assert json.loads(result.stdout) == {
        "metric": "accuracy",
        "score": right,
        "rows": 40,
        "rows_without_target": 0,
    }


def test_evaluate_leaves_out_rows_without_a_target(command, folder, expected, tables, tmp_path):
    new = tables[1].assign(left=tables[1]["churned"].where(np.arange(40) % 4 > 0)).copy()
    new.drop(columns="churned").to_csv(tmp_path / "n.csv", index=False, sep=";", decimal=",")
    result = command(
        "evaluate", folder / "m.committee", "n.csv", "-t", "left", "--json", cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["rows"], found["rows_without_target"]) == (30, 10)
    kept = np.arange(40) % 4 > 0
    truth = (tables[1]["churned"] == "yes").to_numpy().astype(int)[kept]
    loss = -np.mean(np.log(expected[1][kept, truth]))
    assert found["score"] == pytest.approx(-loss)
    assert found["expected"][0] < found["expected"][1]


def test_explain_and_inspect_show_columns_and_models(command, folder, trained, tmp_path):
    result = command("explain", "m.committee", "--json", cwd=folder)
    columns = json.loads(result.stdout)["columns"]
    assert columns[0]["name"] == "size"
    assert columns[0]["importance"] > 0
    assert columns[-1]["importance"] is None
    assert "size" in command("explain", "m.committee", cwd=folder).stdout
    result = command("inspect", "m.committee", "--report", tmp_path / "again.html", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "log loss" in result.stdout
    assert (tmp_path / "again.html").read_text().startswith("<!doctype html>")
    found = json.loads(command("inspect", "m.committee", "--json", cwd=folder).stdout)
    assert found["score"] == json.loads(trained.stdout)["score"]


def test_contributions_of_columns_add_up_to_the_prediction(command, folder, expected):
    result = command("explain", "m.committee", "new.csv", "--class", "yes", "-k", "id", cwd=folder)
    assert result.returncode == 0, result.stderr
    rows = rows_of(result.stdout)
    sums = [
        float(row["in general"]) + sum(float(v) for k, v in row.items() if k.startswith("by "))
        for row in rows
    ]
    assert np.allclose(sums, expected[1][:, 1], atol=1e-6)
    assert np.allclose(sums, [float(row["probability"]) for row in rows], atol=1e-6)


def test_columns_that_help_are_no_features(command, folder, tmp_path):
    arguments = ("train", folder / "old.csv", "-t", "size", "--budget", "0.1", "--json")
    options = (
        "--ignore",
        "id",
        "--ignore",
        "zip",
        "--ignore",
        "churned",
        "--group",
        "id",
        "--quiet",
    )
    result = command(*arguments, *options, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["task"] == "regression"
    assert [column["name"] for column in found["columns"]] == ["since"]


def test_tables_from_standard_input_and_several_files(command, folder, tmp_path):
    whole = (folder / "old.csv").read_text("cp1252").splitlines(keepends=True)
    (tmp_path / "1.csv").write_text("".join(whole[:50]))
    (tmp_path / "2.csv.gz").write_bytes(gzip.compress("".join([whole[0], *whole[50:]]).encode()))
    arguments = ("-t", "churned", "--budget", "0.1", "--json", "--quiet")
    piped = command("train", "-", *arguments, cwd=tmp_path, stdin="".join(whole).encode("cp1252"))
    files = command("train", "1.csv", "2.csv.gz", *arguments, cwd=tmp_path)
    assert piped.returncode == files.returncode == 0, piped.stderr + files.stderr
    scores = [json.loads(result.stdout)["score"] for result in (piped, files)]
    assert scores[0] == scores[1]


def test_predict_says_what_is_new_in_the_rows(command, folder, trained, tables, tmp_path):
    new = tables[1].assign(zip="99999")
    new.to_csv(tmp_path / "n.csv", index=False, sep=";", decimal=",")
    result = command("predict", folder / "m.committee", "n.csv", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "40 of 40 rows have new values" in result.stderr
    assert "zip: 40 with unseen levels" in result.stderr
    assert len(result.stdout.splitlines()) == 41
    arguments = ("--out", "p.csv", "--quiet")
    result = command("predict", folder / "m.committee", "n.csv", *arguments, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("is_turned", "words"),
    [
        (False, "better than expected: are these rows of the training table"),
        (True, "worse than expected: these rows differ"),
    ],
)
def test_evaluate_says_what_a_score_beyond_the_expected_ones_means(
    command, folder, trained, tables, tmp_path, is_turned, words
):
    old = tables[0].copy()
    old["churned"] = np.where((old["size"] > 0) ^ is_turned, "yes", "no")
    old = old[old["size"].abs() > 0.6]  # what is easy
    old.to_csv(tmp_path / "old.csv", index=False, sep=";", decimal=",")
    result = command("evaluate", folder / "m.committee", "old.csv", cwd=tmp_path)
    assert words in result.stdout


def test_intervals_and_the_positive_class(command, folder, tmp_path):
    arguments = ("train", folder / "old.csv", "--ignore", "id", "--budget", "0.1", "--quiet")
    result = command(*arguments, "-t", "size", "-o", "size.committee", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    new = folder / "new.csv"
    result = command("predict", "size.committee", new, "--interval", "0.8", cwd=tmp_path)
    rows = rows_of(result.stdout)
    assert all(float(row["low"]) < float(row["prediction"]) < float(row["high"]) for row in rows)
    result = command(
        *arguments, "-t", "churned", "--positive", "NO", "--scoring", "f1", cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert committee.load(tmp_path / "model.committee").positive == "no"
