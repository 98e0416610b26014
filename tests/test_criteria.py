"""Every criterion, by each of its names, in trees, forests and stumps; any other is refused.

The names are those that the estimators accept: a criterion added there is tested here, against the
oracle, in every part of the engine that has to know it.
"""

import numpy as np
import pytest
from reference import NaiveTree
from reference_adaboost import best_stump, left_over
from tree_tools import (
    assert_every_split_is_best,
    assert_nodes_hold_what_their_rows_say,
    make_case,
    make_target,
    make_weight,
)

from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    _core,
)

FOR_CLASSES = DecisionTreeClassifier._criteria
FOR_NUMBERS = DecisionTreeRegressor._criteria
SECOND_NAMES = {"log_loss": "entropy", "friedman_mse": "squared_error"}
# As files hold them: none may change.
NUMBERS = {
    "gini": 0,
    "entropy": 1,
    "error": 2,
    "squared_error": 3,
    "absolute_error": 4,
    "poisson": 5,
}

# A criterion and a number of classes: two classes have statistics of their own.
TARGETS = [(name, n_classes) for name in FOR_CLASSES for n_classes in (2, 3)]
TARGETS += [(name, 0) for name in FOR_NUMBERS]


def first_name(criterion):
    return SECOND_NAMES.get(criterion, criterion)


def make_both(criterion, n_classes, rng, weights="none"):
    """A small table, a target for the criterion, weights, and the oracle for them."""
    case = make_case("numeric", rng)
    y = make_target(first_name(criterion), rng, n_classes=n_classes)
    weight = make_weight(weights, rng)
    return case, y, weight, NaiveTree(first_name(criterion)).set_data(case.X, y, weight)


def dataset_of(X):
    return _core.BinnedDataset(_core.Table.from_matrix(X))


def test_forests_and_trees_have_the_same_criteria():
    assert RandomForestClassifier._criteria == FOR_CLASSES
    assert RandomForestRegressor._criteria == FOR_NUMBERS
    assert {first_name(name) for name in (*FOR_CLASSES, *FOR_NUMBERS)} == set(NUMBERS)


@pytest.mark.parametrize("weights", ["none", "fractional"])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS)
def test_trees_have_the_splits_of_the_oracle(criterion, n_classes, weights, rng):
    case, y, weight, naive = make_both(criterion, n_classes, rng, weights)
    model = (DecisionTreeClassifier if n_classes else DecisionTreeRegressor)(criterion=criterion)
    model.fit(case.table, y, sample_weight=weight)
    assert_nodes_hold_what_their_rows_say(model, case, naive)
    assert_every_split_is_best(model, case, naive)


@pytest.mark.parametrize("weights", ["none", "fractional"])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS)
def test_forests_have_the_splits_of_the_oracle(criterion, n_classes, weights, rng):
    case, y, weight, naive = make_both(criterion, n_classes, rng, weights)
    forest = RandomForestClassifier if n_classes else RandomForestRegressor
    model = forest(2, criterion=criterion, bootstrap=False, max_features=None, random_state=0)
    model.fit(case.table, y, sample_weight=weight)
    for tree in model.estimators_:
        assert_nodes_hold_what_their_rows_say(tree, case, naive)
        assert_every_split_is_best(tree, case, naive)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("criterion", FOR_CLASSES)
def test_stumps_have_the_split_of_the_oracle(criterion, n_classes, rng):
    case = make_case("numeric", rng)
    y = make_target("gini", rng, n_classes=n_classes).astype(np.int32)
    weight = rng.uniform(0.1, 3.0, len(y))
    weight /= weight.sum()
    rows = _core.BoostedRows(y, n_classes, weight)
    groups = _core.StumpBooster(dataset_of(case.X), rows, criterion=criterion).find()[1]
    name = first_name(criterion)
    found = left_over(name, y, weight, groups == 1, n_classes)
    assert found == pytest.approx(best_stump(case.X, y, weight, name).left_over, abs=1e-12)


# --- what is refused ----------------------------------------------------------------------------


def arrays_of(criterion, rng):
    """A small forest as files hold it."""
    y = make_target(criterion, rng)
    target = (
        {"classes": y[:, None].astype(np.int32), "n_classes": [2]}
        if criterion in FOR_CLASSES
        else {"reals": y[:, None]}
    )
    dataset = dataset_of(make_case("numeric", rng).X)
    return _core.grow_forest(dataset, 2, **target, settings={"criterion": criterion}).arrays()


@pytest.mark.parametrize(("criterion", "number"), NUMBERS.items())
def test_a_criterion_keeps_its_number_in_files(criterion, number, rng):
    arrays = arrays_of(criterion, rng)
    assert arrays["header"][1] == number
    assert _core.Forest(arrays).arrays()["header"][1] == number


@pytest.mark.parametrize("number", [-1, len(NUMBERS), 255, 256, 2**40])
def test_files_with_an_unknown_criterion_are_refused(number, rng):
    arrays = arrays_of("gini", rng)
    arrays["header"] = arrays["header"].copy()
    arrays["header"][1] = number
    with pytest.raises(ValueError, match="header is out of range"):
        _core.Forest(arrays)


def engines(rng):
    """The functions of the engine that take a criterion: for classes, and for numbers."""
    dataset = dataset_of(make_case("numeric", rng).X)
    y = make_target("gini", rng).astype(np.int32)
    rows = _core.BoostedRows(y, 2)

    def growing(first, **target):
        tree = _core.grow_tree(dataset, **target, settings={"criterion": first})
        return [
            lambda name: _core.grow_tree(dataset, **target, settings={"criterion": name}),
            lambda name: _core.grow_forest(dataset, 1, **target, settings={"criterion": name}),
            lambda name: _core.Forest.from_trees([tree], name, target.get("n_classes", [])),
        ]

    for_classes = growing("gini", classes=y[:, None], n_classes=[2])
    for_classes.append(lambda name: _core.StumpBooster(dataset, rows, criterion=name))
    return for_classes, growing("squared_error", reals=rng.gamma(1.0, size=(len(y), 1)))


@pytest.mark.parametrize("name", ["", "Gini", "gini ", "twoing", "friedman_mse"])
def test_the_engine_refuses_an_unknown_criterion(name, rng):
    for_classes, for_numbers = engines(rng)
    for function in (*for_classes, *for_numbers):
        with pytest.raises(ValueError, match=f"unknown criterion {name}"):
            function(name)


def test_the_engine_refuses_a_criterion_that_does_not_fit_the_target(rng):
    for_classes, for_numbers = engines(rng)
    numeric = [name for name in FOR_NUMBERS if name in NUMBERS]
    for functions, fitting, others in (
        (for_classes, FOR_CLASSES, numeric),
        (for_numbers, numeric, FOR_CLASSES),
    ):
        for function in functions:
            for name in fitting:
                function(name)
            for name in others:
                with pytest.raises(ValueError, match="the criterion"):
                    function(name)
