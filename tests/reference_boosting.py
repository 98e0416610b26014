"""Boosted stumps in exact arithmetic: what gradient boosting of squared errors must give."""

from fractions import Fraction


def boosted_stumps(x, y, n_rounds, learning_rate):
    """Return the prediction of each row, as fractions: no rounding anywhere.

    Each round splits the one feature `x` (of distinct values) where the squared errors fall most
    and adds the shrunk means of the residuals on either side.
    """
    order = sorted(range(len(x)), key=lambda i: x[i])
    targets = [Fraction(y[i]) for i in order]
    n, rate = len(targets), Fraction(learning_rate)
    scores = [sum(targets) / n] * n
    for _ in range(n_rounds):
        residuals = [target - score for target, score in zip(targets, scores, strict=True)]
        total, left, best, cut = sum(residuals), Fraction(0), None, None
        for size in range(1, n):
            left += residuals[size - 1]
            gain = left**2 / size + (total - left) ** 2 / (n - size)
            if best is None or gain > best:
                best, cut = gain, size
        below, above = sum(residuals[:cut]) / cut, sum(residuals[cut:]) / (n - cut)
        scores = [
            score + rate * (below if place < cut else above) for place, score in enumerate(scores)
        ]
    return dict(zip(order, scores, strict=True))
