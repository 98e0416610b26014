"""Model files that were changed inside, with sound checksums, are refused or can be used."""

import copy
import random

import numpy as np
import pytest
from hostile_models import at, changed, check, fitted, plans
from sklearn_zoo import zoo

from committee.files.archive import BadContent
from committee.files.codec import decode

FITTED = {}


def model(name):
    if name not in FITTED:
        FITTED[name] = fitted(name)
    return FITTED[name]


@pytest.mark.parametrize("name", list(plans()))
def test_a_changed_model_is_refused_or_predicts(name):
    root, arrays, X, methods = model(name)
    assert check(root, arrays, X, methods)
    assert "predict" in methods
    for seed in range(12):
        draw = random.Random(f"{name} {seed}")
        other, other_arrays, what = changed(root, arrays, draw)
        try:
            check(other, other_arrays, X, methods)
        except Exception as error:
            error.add_note(f"{name}, seed {seed}: {what}")
            raise


@pytest.mark.parametrize("name", list(zoo()))
def test_a_changed_estimator_of_scikit_learn_is_refused_or_predicts(name):
    root, arrays, X, methods = model(name)
    assert check(root, arrays, X, methods)
    for seed in range(4):
        other, other_arrays, what = changed(root, arrays, random.Random(f"{name} {seed}"))
        try:
            check(other, other_arrays, X, methods)
        except Exception as error:
            error.add_note(f"{name}, seed {seed}: {what}")
            raise


FOLD = ("estimator", "params", "estimators", 0)
FIELDS = ("estimator", "attributes", "schema_", "record", "fields", "features", "tuple")


def swapped(places, i, j):
    places[i], places[j] = places[j], places[i]


# What is changed: the model, the path to the object, and the change of it.
CHANGES = {
    "the kind of a feature": ("tree", (*FIELDS, 0), lambda f: f["record"]["fields"].update(kind=1)),
    "the label of a feature": (
        "forest",
        (*FIELDS, 0),
        lambda f: f["record"]["fields"].update(label="category"),
    ),
    "a level that is a list": (
        "forest",
        (*FIELDS, 1, "record", "fields", "levels", "tuple"),
        lambda levels: levels.__setitem__(0, [1]),
    ),
    "features in another order": ("forest_numbers", FIELDS, lambda f: swapped(f, 0, 1)),
    "names that are a number": (
        "adaboost_numbers",
        ("estimator", "attributes"),
        lambda a: a.update(feature_names_in_=3),
    ),
    "names of features that are lists": (
        "selection",
        ("estimator", "attributes", "feature_names_in_", "objects", "values"),
        lambda names: names.__setitem__(0, ["a"]),
    ),
    "another number of features": (
        "boosting",
        ("estimator", "attributes"),
        lambda a: a.update(n_features_in_=5),
    ),
    "no number of features": (
        "boosting",
        ("estimator", "attributes"),
        lambda a: a.pop("n_features_in_"),
    ),
    "a number of classes that is text": (
        "extra",
        ("estimator", "attributes", "n_classes_"),
        lambda n: n.__setitem__(0, "3"),
    ),
    "another number of outputs": (
        "boosting_numbers",
        ("estimator", "attributes"),
        lambda a: a.update(n_outputs_=2**40),
    ),
    "a first model that is text": (
        "boosting_lines",
        ("estimator", "attributes", "_start", "record", "fields"),
        lambda f: f.update(model="zero"),
    ),
    "a member of another kind": (
        "voting",
        ("estimator", "attributes"),
        lambda a: a["estimators_"].__setitem__(0, a["estimators_"][1]["estimator"]["attributes"]),
    ),
    "a member that is not fitted": (
        "dynamic",
        ("estimator", "attributes", "estimators_", 0, "estimator"),
        lambda member: member.update(attributes={}),
    ),
    "another number of classes of a member": (
        "dynamic",
        ("estimator", "attributes", "_voices", 1, "record", "fields"),
        lambda output: output.update(n_classes=4),
    ),
    "draws of more features than there are": (
        "bagging_lines",
        ("estimator", "attributes", "_feature_sampler", "record", "fields"),
        lambda sampler: sampler.update(n_draws=7),
    ),
    "a parameter that takes part in predictions": (
        "dynamic_numbers",
        ("estimator", "params"),
        lambda params: params.update(n_neighbors=-2),
    ),
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_what_does_not_fit_the_rest_of_a_model_is_refused(change):
    name, path, act = CHANGES[change]
    root, arrays, _, _ = model(name)
    root = copy.deepcopy(root)
    act(at(root, path))
    with pytest.raises(BadContent, match=r"^it "):
        decode(root, arrays)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("voting_hard", ("estimators_", 0, "estimator", "attributes", "classes_")),
        (
            "stacking_layers",
            ("layers_", 1, 0, *FOLD, "estimator", "attributes", "classes_"),
        ),
        ("boosting_binary", ("_start", "record", "fields", "places")),
        ("forest", ("_train", "record", "fields", "classes")),
        ("selection", ("selection_", "record", "fields", "member")),
    ],
)
def test_codes_out_of_range_are_refused(name, array):
    root, arrays, _, _ = model(name)
    place = at(root, ("estimator", "attributes", *array))["array"]
    for number in (-1, 9, np.iinfo(arrays[place].dtype).max):
        others = [each.copy() for each in arrays]
        others[place].reshape(-1)[0] = number
        with pytest.raises(BadContent, match=r"^it "):
            decode(root, others)
