"""Losses of one's own that return something else: the error names the method, and what it wants."""

import numpy as np
import pytest

from committee import GradientBoostingRegressor
from committee.losses import Loss

X = np.random.default_rng(0).normal(size=(60, 2))
Y = X[:, 0] + X[:, 1] ** 2


class Square(Loss):
    def row_losses(self, y, scores):
        return (y - scores) ** 2

    def gradients(self, y, scores):
        return 2 * (scores - y), np.full(len(y), 2.0)


def nones(count):
    return [None] * count


WRONG = {
    "row_losses": [
        (lambda self, y, s: np.mean((y - s) ** 2), r"shape \(60,\); got np.float64"),
        (lambda self, y, s: np.zeros((len(y), 2)), r"got float64 of shape \(60, 2\)"),
        (lambda self, y, s: None, "got None"),
    ],
    "gradients": [
        (lambda self, y, s: s - y, r"a pair, \(gradient, hessian\); got ndarray"),
        (lambda self, y, s: (s, s, s), "got tuple of 3"),
        (lambda self, y, s: (s - y, 1.0), r"the hessian, real numbers of shape \(60,\); got 1.0"),
        (
            lambda self, y, s: ((s - y)[:, None], s),
            r"the gradient.* got float64 of shape \(60, 1\)",
        ),
        (lambda self, y, s: (np.full(len(y), "a"), s), "the gradient, .* got <U1"),
        (lambda self, y, s: ([[1], [1, 2]], s), "the gradient, real"),
    ],
    "initial_scores": [
        (lambda self, y, w: 0.5, r"shape \(1,\); got 0.5"),
        (lambda self, y, w: np.zeros(3), r"got float64 of shape \(3,\)"),
        (lambda self, y, w: np.array([np.nan]), r"must be finite; got \[nan\]"),
    ],
    "prepare": [(lambda self, y, s, w: None, "must return a loss; got None")],
    "leaf_values": [
        (lambda self, y, s, w, leaf, n, column=0: np.zeros(3), r"got float64 of shape \(3,\)"),
        (lambda self, y, s, w, leaf, n, column=0: np.full(n, np.inf), "finite; got inf for leaf 0"),
    ],
    "predictions": [(lambda self, s: s[:3], "an entry for each of 60 rows; got 3")],
}


@pytest.mark.parametrize(
    ("method", "wrong", "message"),
    [(method, *case) for method, cases in WRONG.items() for case in cases],
)
def test_wrong_results_are_named(method, wrong, message):
    own = type("Own", (Square,), {method: wrong, "refits_leaves": method == "leaf_values"})
    model = GradientBoostingRegressor(loss=own(), n_estimators=3, init=None)
    with pytest.raises(ValueError, match=rf"{method} of the loss .*Own.*{message}"):
        model.fit(X, Y).predict(X)


def test_lists_and_whole_numbers_are_as_good():
    class Lists(Square):
        def row_losses(self, y, scores):
            return super().row_losses(y, scores).tolist()

        def gradients(self, y, scores):
            gradient, hessian = super().gradients(y, scores)
            return gradient.tolist(), hessian.astype(int)

    models = [
        GradientBoostingRegressor(loss=loss, n_estimators=3).fit(X, Y)
        for loss in (Square(), Lists())
    ]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))
