"""Model files whose bytes were changed, with sound checksums, are refused or can be used."""

import random

import pytest
from hostile_files import changed, check, file_of, packed, unpacked
from hostile_models import plans

import committee

FILES = {}


def test_a_file_is_packed_as_it_was():
    data, _ = file_of("tree")
    assert packed(unpacked(data)) == data


def test_every_class_has_a_file_to_be_changed():
    classes = [getattr(committee, name) for name in committee.__all__]
    names = {each.__name__ for each in classes if hasattr(each, "get_params")}
    assert {type(model).__name__ for model, _, _ in plans().values()} == names


@pytest.mark.parametrize("name", ["tree", "c45", "forest", "boosting", "adaboost", "stacking"])
def test_a_changed_file_is_refused_or_predicts(name, tmp_path):
    data, X = FILES.setdefault(name, file_of(name))
    assert check(data, X, tmp_path / "model")
    for seed in range(25):
        made, what = changed(data, random.Random(f"{name} {seed}"))
        try:
            check(made, X, tmp_path / "model")
        except Exception as error:
            error.add_note(f"{name}, seed {seed}: {what}")
            raise
