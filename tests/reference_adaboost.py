"""A naive AdaBoost in NumPy: every stump is tried, and every sum is a `math.fsum`.

Tables are float arrays: NaN is missing, a category is its level number. Classes are 0, 1, ...
Boosting looks at a learner as a function from the distribution over rows to a mask of rows that go
left (stumps), to the class of every row, or to the number said of every row.
"""

import math
from dataclasses import dataclass

import numpy as np
from reference import numeric_partitions, subset_partitions

# An edge over chance below this is rounding.
NO_EDGE = 1e-10


# --- stumps -----------------------------------------------------------------------------------


def class_sums(y, weight, mask, n_classes):
    return [math.fsum(weight[mask & (y == label)]) for label in range(n_classes)]


def impure_weight(criterion, sums):
    """Weight times impurity of rows with these weights of classes."""
    total = math.fsum(sums)
    if total == 0:
        return 0.0
    if criterion == "error":
        return total - max(sums)
    if criterion == "entropy":
        return -math.fsum(each * math.log2(each / total) for each in sums if each > 0)
    return math.fsum(each * (1 - each / total) for each in sums)


def left_over(criterion, y, weight, left, n_classes):
    """What a split leaves of the impurity of all rows."""
    sides = [left, ~left]
    return math.fsum(
        impure_weight(criterion, class_sums(y, weight, side, n_classes)) for side in sides
    )


def partitions(values, is_category):
    """Every left side that a stump of one feature may have."""
    found = subset_partitions(values) if is_category else numeric_partitions(values)
    for left, _ in found:
        yield left


@dataclass(frozen=True)
class Stump:
    """The best split: its feature, the rows that go left, and what it leaves of the impurity."""

    feature: int
    left: np.ndarray
    left_over: float


def best_stump(X, y, weight, criterion="gini", categorical=(), n_classes=None, present=None):
    """The best of all stumps over the rows that are present, the first of equals.

    None where nothing can be split: one class only, or features that do not vary.
    """
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes
    present = weight > 0 if present is None else present
    X, y, weight = X[present], y[present], weight[present]
    if len(np.unique(y)) < 2:
        return None
    best = None
    for feature, values in enumerate(X.T):
        for left in partitions(values, feature in categorical):
            rest = left_over(criterion, y, weight, left, n_classes)
            if best is None or rest < best.left_over:
                everywhere = np.zeros(len(present), bool)
                everywhere[present] = left
                best = Stump(feature, everywhere, rest)
    return best


def threshold_of(stump, X):
    """Halfway between the last value on the left and the first on the right."""
    values = X[:, stump.feature]
    return (values[stump.left].max() + values[~stump.left].min()) / 2


def said_by(left, y, weight, n_classes):
    """The class with the most weight on the side of each row."""
    answers = np.empty(len(left), int)
    for side in (left, ~left):
        answers[side] = np.argmax(class_sums(y, weight, side, n_classes))
    return answers


def stump_learner(X, y, criterion="gini", categorical=(), n_classes=None):
    """A learner for `discrete`: what the best stump says of every row."""
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes

    def learn(distribution):
        stump = best_stump(X, y, distribution, criterion, categorical, n_classes)
        return said_by(stump.left, y, distribution, n_classes)

    return learn


# --- boosting of classes ----------------------------------------------------------------------


@dataclass
class Round:
    distribution: np.ndarray
    error: float
    weight: float
    normalizer: float
    votes: np.ndarray  # of all rounds so far, n_rows x n_classes
    train_error: float


def normalised(weight):
    weight = weight / weight.max()
    return weight / math.fsum(weight)


def log_odds(error, n_classes=2, multiclass="SAMME"):
    more = math.log(n_classes - 1) if multiclass == "SAMME" else 0.0
    return math.log(1 - error) - math.log(error) + more


def _wrong_share(votes, y, start):
    return math.fsum(start[votes.argmax(axis=1) != y])


def discrete(
    learn, y, n_classes, n_rounds, weight=None, learning_rate=1.0, multiclass="SAMME"
) -> list[Round]:
    """Discrete AdaBoost with weights of the log-odds; only wrong rows change their weight.

    Two classes: a learner that is mostly wrong has a negative weight. It stops before a learner
    that is no better than chance, unless it is the first, and after a perfect one, whose weight is
    one more than the sizes of all weights before it.
    """
    start = normalised(np.ones(len(y)) if weight is None else np.asarray(weight, float))
    distribution, votes = start, np.zeros((len(y), n_classes))
    chance = 0.5 if multiclass == "M1" or n_classes == 2 else 1 - 1 / n_classes
    rounds = []
    for number in range(n_rounds):
        predicted = learn(distribution)
        wrong = predicted != y
        error = math.fsum(distribution[wrong])
        edge = abs(chance - error) if n_classes == 2 else chance - error
        is_perfect = error == 0 or (n_classes == 2 and not math.fsum(distribution[~wrong]))
        is_useless = edge <= NO_EDGE
        if is_useless and number > 0:
            break
        if is_useless:
            alpha, normalizer = 1.0, 1.0
        elif is_perfect:
            alpha = 1.0 + math.fsum(abs(each.weight) for each in rounds)
            alpha, normalizer = (alpha if error == 0 else -alpha), 0.0
        else:
            alpha = learning_rate * log_odds(error, n_classes, multiclass)
            normalizer = (1 - error) * math.exp(-alpha / 2) + error * math.exp(alpha / 2)
        votes = votes.copy()
        votes[np.arange(len(y)), predicted] += alpha
        rounds.append(
            Round(distribution, error, alpha, normalizer, votes, _wrong_share(votes, y, start))
        )
        if is_perfect or is_useless:
            break
        distribution = normalised(distribution * np.exp(alpha * wrong))
    return rounds


def real_scores(sums, smoothing):
    """Centred logarithms of probabilities, which SAMME.R adds to the votes."""
    p = (np.asarray(sums) + smoothing) / (math.fsum(sums) + len(sums) * smoothing)
    return np.log(p) - math.fsum(np.log(p)) / len(p)


def gentle_scores(sums):
    """Probabilities between -1 / (K - 1) and 1; for two classes the weighted mean of -1 and 1."""
    p = np.asarray(sums) / math.fsum(sums)
    return (len(p) * p - 1) / (len(p) - 1)


def confidence_rated(
    choose, y, n_classes, n_rounds, variant, weight=None, learning_rate=1.0, smoothing=0.0
) -> list[Round]:
    """Real (SAMME.R) and gentle AdaBoost with stumps; `choose` gives the rows that go left."""
    start = normalised(np.ones(len(y)) if weight is None else np.asarray(weight, float))
    distribution, votes = start, np.zeros((len(y), n_classes))
    rounds = []
    for number in range(n_rounds):
        left = choose(distribution)
        added, wrong = np.zeros_like(votes), np.zeros(len(y), bool)
        for side in (left, ~left):
            sums = class_sums(y, distribution, side, n_classes)
            scores = real_scores(sums, smoothing) if variant == "real" else gentle_scores(sums)
            added[side] = learning_rate * scores
            wrong[side] = y[side] != np.argmax(sums)
        error = math.fsum(distribution[wrong])
        after = distribution * np.exp(-added[np.arange(len(y)), y])
        normalizer = math.fsum(after)
        if error > 0 and normalizer >= 1 - NO_EDGE and number > 0:
            break
        votes = votes + added
        train_error = _wrong_share(votes, y, start)
        rounds.append(Round(distribution, error, 1.0, normalizer, votes, train_error))
        if error == 0:
            break
        distribution = normalised(after)
    return rounds


# --- boosting of numbers ----------------------------------------------------------------------

LOSSES = {
    "linear": lambda share: share,
    "square": lambda share: share**2,
    "exponential": lambda share: 1 - math.exp(-share),
}


def regression_stump_learner(X, y):
    """A learner for `r2`: the weighted means on the two sides of the best cut."""

    def mean(side, weight):
        return math.fsum(weight[side] * y[side]) / math.fsum(weight[side])

    def learn(weight):
        best, answer = math.inf, None
        for values in X.T:
            for left, right in numeric_partitions(values):
                predicted = np.where(left, mean(left, weight), mean(right, weight))
                rest = math.fsum(weight * (y - predicted) ** 2)
                if rest < best:
                    best, answer = rest, predicted
        return answer

    return learn


def lower_median(answers, weights):
    """The least answer with half of the weight at or below it."""
    pairs = sorted(zip(answers, weights, strict=True))
    total, so_far = math.fsum(weights), []
    for answer, weight in pairs:
        so_far.append(weight)
        if math.fsum(so_far) >= total / 2:
            return answer
    raise AssertionError("the weights add up to their sum")


def r2(learn, y, n_rounds, weight=None, learning_rate=1.0, loss="linear"):
    """AdaBoost.R2 of Drucker with weighted learners: (distributions, errors, weights, said)."""
    distribution = normalised(np.ones(len(y)) if weight is None else np.asarray(weight, float))
    distributions, errors, weights, answers = [], [], [], []
    for number in range(n_rounds):
        predicted = learn(distribution)
        distances = np.abs(y - predicted)
        largest = distances[distribution > 0].max()
        shares = np.minimum(distances / largest, 1.0) if largest > 0 else np.zeros(len(y))
        losses = np.array([LOSSES[loss](share) for share in shares])
        error = math.fsum(distribution * losses)
        if error >= 0.5 - NO_EDGE and number > 0:
            break
        if error == 0:
            alpha = 1.0 + math.fsum(weights)
        elif error >= 0.5 - NO_EDGE:
            alpha = 1.0
        else:
            alpha = learning_rate * math.log((1 - error) / error)
        distributions.append(distribution)
        errors.append(error)
        weights.append(alpha)
        answers.append(predicted)
        if error == 0 or error >= 0.5 - NO_EDGE:
            break
        beta = error / (1 - error)
        distribution = normalised(distribution * beta ** (learning_rate * (1 - losses)))
    return distributions, errors, weights, np.array(answers)
