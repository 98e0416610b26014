"""Losses, targets and scores for tests of losses."""

import numpy as np

from committee.losses import (
    AbsoluteError,
    BinaryLogLoss,
    Exponential,
    Gamma,
    Huber,
    MultinomialLogLoss,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
)

SMOOTH = [
    SquaredError(),
    Poisson(),
    Gamma(),
    Tweedie(1.1),
    Tweedie(1.9),
    BinaryLogLoss(),
    MultinomialLogLoss(2),
    MultinomialLogLoss(4),
    Exponential(),
]
STEPPED = [
    AbsoluteError(),
    Huber(delta=0.7),
    Quantile(0.2),
    Quantile((0.9, 0.1, 0.5)),
]
LOSSES = SMOOTH + STEPPED


name_of = repr


def draw_target(loss, rng, n_rows):
    """A target that suits the loss."""
    if loss.n_classes is not None:
        return np.concatenate([np.arange(loss.n_classes), rng.integers(0, loss.n_classes, n_rows)])[
            :n_rows
        ]
    if isinstance(loss, Gamma):
        return rng.gamma(2.0, size=n_rows)
    if isinstance(loss, Poisson | Tweedie):
        return rng.poisson(1.5, n_rows) * rng.uniform(0.5, 1.5, n_rows)
    return rng.normal(size=n_rows)


def shape_of(loss, n_rows):
    return (n_rows,) if loss.n_scores == 1 else (n_rows, loss.n_scores)


def same_scores(loss, scores, n_rows):
    return np.broadcast_to(scores, (n_rows, loss.n_scores)).reshape(shape_of(loss, n_rows)).copy()


def moved(scores, column, by):
    """Scores with one column moved."""
    scores = scores.copy()
    if scores.ndim == 1:
        scores += by
    else:
        scores[:, column] += by
    return scores
