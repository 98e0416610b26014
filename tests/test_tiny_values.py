"""Printed trees show no number as zero that is none."""

import re

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor as PeerTree
from sklearn.tree import export_text as peer_text

from committee import DecisionTreeClassifier, DecisionTreeRegressor, export_text

X = np.arange(4.0)[:, None]


@pytest.mark.parametrize("scale", [1e-3, 1e-6, 1e-30, 1e-300])
@pytest.mark.parametrize("decimals", [0, 2, 4])
def test_tiny_values_of_leaves_keep_their_digits(scale, decimals):
    y = np.array([-1.25, 0.0, 2.5, 3.75]) * scale
    text = export_text(DecisionTreeRegressor().fit(X, y), decimals=decimals)
    found = [float(value) for value in re.findall(r"value: \[(.*)\]", text)]
    assert [value == 0 for value in found] == [value == 0 for value in y]
    assert found == pytest.approx(y, rel=0.3 if decimals == 0 else 0.1, abs=0.0)


def test_tiny_weights_keep_their_digits_too():
    weights = np.array([1e-5, 1e-5, 3.0, 4.0])
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1], sample_weight=weights)
    text = export_text(model, show_weights=True)
    assert "weights: [2e-05, 0.00]" in text
    assert "weights: [0.00, 7.00]" in text


def test_all_other_numbers_are_printed_as_scikit_learn_does(rng):
    y = np.array([0.0, -0.005, 0.006, 1234567.891, 1e16, -2.0])
    X = np.arange(6.0)[:, None]
    ours = export_text(DecisionTreeRegressor().fit(X, y))
    assert ours == peer_text(PeerTree().fit(X, y))
