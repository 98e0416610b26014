"""Scores of predictions, all in float64 so that no library gains by the type of its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

HIGHER_IS_BETTER = {
    "accuracy": True,
    "auc": True,
    "log_loss": False,
    "brier": False,
    "rmse": False,
    "mae": False,
}


def table_score(metric: str, truth: NDArray[Any], answers: Any) -> float:
    """Return a score of probabilities or numbers by the names of the manifest of real tables."""
    from sklearn.metrics import log_loss, roc_auc_score

    if metric == "rmse":
        return regression_scores(truth, answers)["rmse"]
    shares = _as_shares(answers)
    if metric == "roc_auc":
        return float(roc_auc_score(truth, shares[:, 1]))
    return float(log_loss(truth, shares, labels=np.arange(shares.shape[1])))


def _as_shares(answers: Any) -> NDArray[np.float64]:
    """Return class probabilities in float64 with a sum of one in each row."""
    shares = np.array(answers, dtype=np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def classification_scores(truth: NDArray[np.int64], shares: Any) -> dict[str, float]:
    """Return the scores of class probabilities; the classes of `truth` are 0, 1, 2, ...

    Rows are scaled to a sum of one and logarithms are cut at the precision of float64 for everyone.
    The area under the curve of several classes is the mean over the classes, each against the
    rest.
    """
    from sklearn.metrics import log_loss, roc_auc_score

    shares = _as_shares(shares)
    n_classes = shares.shape[1]
    errors = (shares - np.eye(n_classes)[truth]) ** 2
    if n_classes == 2:
        auc = roc_auc_score(truth, shares[:, 1])
        brier = errors[:, 1].mean()
    else:
        auc = roc_auc_score(truth, shares, multi_class="ovr", labels=np.arange(n_classes))
        brier = errors.sum(axis=1).mean()
    return {
        "log_loss": float(log_loss(truth, shares, labels=np.arange(n_classes))),
        "brier": float(brier),
        "auc": float(auc),
        "accuracy": float((shares.argmax(axis=1) == truth).mean()),
    }


def regression_scores(truth: NDArray[np.float64], predicted: Any) -> dict[str, float]:
    """Return the scores of predicted numbers."""
    errors = np.asarray(predicted, dtype=np.float64) - truth
    return {
        "rmse": float(np.sqrt(np.mean(errors**2))),
        "mae": float(np.mean(np.abs(errors))),
    }
