"""Model files of released formats keep loading and keep answering the same."""

import json

import pytest
from golden import DATA, models, table

import committee

FILES = sorted(DATA.glob("*.committee"))


def test_there_are_golden_files():
    assert len(FILES) >= 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_loads_and_predicts_as_it_did(path):
    model = committee.load(path)
    answers = json.loads(path.with_suffix(".json").read_text())
    assert model.predict(table()).tolist() == answers["predict"]
    assert model.apply(table()).tolist() == answers["apply"]


@pytest.mark.parametrize("name", sorted(models()))
def test_a_new_file_round_trips(name, tmp_path):
    model = models()[name]
    committee.save(model, tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee")
    assert loaded.get_params() == model.get_params()
    assert loaded.schema_ == model.schema_
    assert loaded.predict(table()).tolist() == model.predict(table()).tolist()
    assert loaded.tree_.impurity.tolist() == model.tree_.impurity.tolist()
