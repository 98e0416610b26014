"""Rows of the user's table are in a report only if asked for; rows given are scored."""

import numpy as np
import pytest
from report.report_tools import Page
from sklearn.metrics import log_loss, root_mean_squared_error


def written(model, tmp_path, *arguments, **options):
    path = tmp_path / "report.html"
    model.report(path, *arguments, **options)
    return Page(path.read_text(encoding="utf-8"))


def test_no_cell_of_the_table_is_in_the_report(binary, pages):
    assert "secret" not in pages["binary"]


def test_rows_that_are_given_are_scored(penguins, tmp_path):
    model, table, species = penguins
    some = table.iloc[::3]
    found = written(model, tmp_path, some, species[::3])
    expected = log_loss(species[::3], model.predict_proba(some), labels=model.classes_)
    text = found.section("rows")["text"]
    assert f"{expected:.4g}" in text
    assert f"{len(some)} rows" in text
    assert "worst" not in text


def test_rows_of_one_class_are_reported_too(penguins, tmp_path):
    model, table, species = penguins
    some = species == "Gentoo"
    text = written(model, tmp_path, table[some], species[some]).section("rows")["text"]
    assert "one class" in text
    assert "nan" not in text


def test_numbers_that_are_given_are_scored(numbers, tmp_path):
    model, X, y = numbers
    text = written(model, tmp_path, X[:50], y[:50] + 1e6).section("rows")["text"]
    expected = root_mean_squared_error(y[:50] + 1e6, model.predict(X[:50]))
    assert f"{float(f'{expected:.4g}'):,.0f}" in text
    assert "worse" in text


def test_the_worst_rows_are_listed_where_they_are_asked_for(binary, tmp_path):
    model, whole = binary
    found = written(model, tmp_path, whole, rows=True)
    assert found.all("script", "img") == []
    table = [e for e in found.all("table") if "worst rows" in e["text"]]
    assert len(table) == 1
    shares = model.predict_proba(whole)
    codes = np.searchsorted(model.classes_, whole["<target>"].to_numpy(str))
    worst = int(np.argmin(shares[np.arange(len(codes)), codes]))
    first = [e for e in found.all("th") if "rows" in e["within"] and e["attrs"]["scope"] == "row"]
    assert str(worst) in [e["text"] for e in first]


def test_what_is_missing_is_named(penguins, binary, tmp_path):
    model, table, species = penguins
    with pytest.raises(ValueError, match="report needs X"):
        model.report(tmp_path / "r.html", rows=True)
    with pytest.raises(ValueError, match="report needs y"):
        model.report(tmp_path / "r.html", table)
    with pytest.raises(ValueError, match="Emperor"):
        model.report(tmp_path / "r.html", table[:3], ["Emperor", "Adelie", "Adelie"])
    whole = binary[1].copy()
    whole.loc[3, "<target>"] = None
    with pytest.raises(ValueError, match="<target>"):
        binary[0].report(tmp_path / "r.html", whole)
    assert not (tmp_path / "r.html").exists()
    assert len(species) == len(table)
