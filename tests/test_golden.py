"""Model files of released formats keep loading and keep answering the same."""

import json

import numpy as np
import pytest
from golden import DATA, answers, models

import committee

FILES = sorted(DATA.glob("*.committee"))


def test_there_are_golden_files():
    assert len(FILES) >= 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_loads_and_predicts_as_it_did(path):
    model = committee.load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    assert answers(model) == expected


def trees_of(model):
    return list(np.ravel(model.estimators_)) if hasattr(model, "estimators_") else [model]


@pytest.mark.parametrize("name", sorted(models()))
def test_a_new_file_round_trips(name, tmp_path):
    model = models()[name]
    committee.save(model, tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee")
    assert repr(loaded.get_params()) == repr(model.get_params())  # members are other objects
    assert answers(loaded) == answers(model)
    for each, other in zip(trees_of(loaded), trees_of(model), strict=True):
        assert each.schema_ == other.schema_
        assert each.tree_.impurity.tolist() == other.tree_.impurity.tolist()
