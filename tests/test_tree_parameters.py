"""Trees refuse the parameters that scikit-learn's trees refuse, but for those that docs name."""

import numpy as np
import pytest
import sklearn.tree

import committee

VALUES = [
    *(0, 1, 2, -1, 100, 0.0, 0.5, 1.0, 1.5, 2.0, -0.5, float("nan"), float("inf"), None),
    *("auto", "sqrt", "log2", "balanced", "best", "random", "gini", "mse", "squared_error"),
    *([1], [0, 1, 0], [1, 1, 1], [2, 0, 0], {0: 1.0, 1: 2.0}, {5: 1}, np.int64(3)),
]
NAMES = ("DecisionTreeClassifier", "DecisionTreeRegressor")
# Where scikit-learn does not look: the list has an entry for each of several outputs.
UNCHECKED = [("class_weight", [0, 1, 0])]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_the_same_parameters_are_accepted(name, rng):
    X = rng.normal(size=(20, 3))
    y = X[:, 0] > 0 if name == "DecisionTreeClassifier" else X[:, 0]
    peer = getattr(sklearn.tree, name)
    differences = []
    for parameter in peer().get_params():
        for value in VALUES:
            accepted = []
            for cls in (peer, getattr(committee, name)):
                try:
                    cls(**{parameter: value}).fit(X, y)
                except Exception:  # scikit-learn stumbles in several ways
                    accepted.append(False)
                else:
                    accepted.append(True)
            if accepted[0] != accepted[1] and (parameter, value) not in UNCHECKED:
                differences.append((parameter, value, accepted))
    assert differences == []
