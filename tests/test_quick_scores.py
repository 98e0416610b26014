"""Scores by formulas are those of scikit-learn's scorers."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer

from committee.evaluation.quick_scores import (
    _CLASS_SCORES,
    _REAL_LOSSES,
    quick_class_score,
    quick_real_score,
)
from committee.evaluation.scored_target import OobMetric, ScoredTarget


def by_scikit_learn(target, name, values):
    """Not by formulas: a scorer is no name."""
    return OobMetric(target, get_scorer(name)).score(values, np.arange(target.n_rows))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", sorted(_CLASS_SCORES))
def test_scores_of_classes(name, n_classes, weighted, rng):
    if name == "roc_auc" and n_classes > 2:
        pytest.skip("for two classes")
    shares = rng.dirichlet(np.ones(n_classes), 80).round(2)  # with ties
    shares[:, -1] = 1 - shares[:, :-1].sum(axis=1)
    shares = shares.clip(0)
    codes = rng.integers(0, n_classes, 80).astype(np.int32)
    weights = rng.integers(0, 4, 80).astype(float) if weighted else None
    target = ScoredTarget(codes[:, None], [np.array(["a", "b", "c"][:n_classes])], None, weights)
    found = quick_class_score(name, shares, codes, weights)
    assert found == pytest.approx(by_scikit_learn(target, name, shares), rel=1e-12)
    assert OobMetric(target, name).score(shares, np.arange(80)) == found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("name", sorted(_REAL_LOSSES))
def test_scores_of_numbers(name, n_outputs, weighted, rng):
    truth, predicted = rng.normal(size=(2, 50, n_outputs))
    weights = rng.integers(0, 4, 50).astype(float) if weighted else None
    target = ScoredTarget(None, [], truth, weights)
    found = quick_real_score(name, predicted, truth, weights)
    assert found == pytest.approx(by_scikit_learn(target, name, predicted), rel=1e-12)
    assert OobMetric(target, name).score(predicted, np.arange(50)) == found


def test_what_scikit_learn_would_refuse_is_left_to_it(rng):
    shares, codes = rng.dirichlet(np.ones(2), 10), np.zeros(10, np.int32)
    assert quick_class_score("roc_auc", shares, codes, None) is None  # one class
    assert quick_class_score("neg_log_loss", shares, codes, None) is None
    codes[:5] = 1
    assert quick_class_score("neg_log_loss", 2 * shares, codes, None) is None
    shares[0, 0] = np.nan
    assert quick_class_score("accuracy", shares, codes, None) is None
    assert quick_class_score("f1", np.full((10, 2), 0.5), codes, None) is None
    numbers = np.array([[1.0], [np.inf]])
    assert quick_real_score("neg_mean_squared_error", numbers, numbers, None) is None
    assert quick_real_score("r2", np.ones((2, 1)), np.ones((2, 1)), None) is None
