"""Naive oracles in NumPy: slow, short, and obviously right.

A *mask* marks rows. A *partition* of a node is a tuple of masks, one a child. The oracle looks at
every partition a tree may choose at a node, so that tests can ask whether the engine found the
best one. Tables here are float arrays: NaN is missing, a category is its level number.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.special import xlogy

CLASSIFICATION = ("gini", "entropy", "error")
REGRESSION = ("squared_error", "absolute_error", "poisson")


# --- impurities -------------------------------------------------------------------------------


def _class_shares(y, weights, totals):
    classes = np.arange(int(y.max()) + 1)
    return weights @ (y[:, None] == classes) / totals[:, None]


def _gini(y, weights, totals):
    return 1 - (_class_shares(y, weights, totals) ** 2).sum(axis=1)


def _entropy(y, weights, totals):
    shares = _class_shares(y, weights, totals)
    return -xlogy(shares, shares).sum(axis=1) / math.log(2)


def _error(y, weights, totals):
    return 1 - _class_shares(y, weights, totals).max(axis=1)


def _squared_error(y, weights, totals):
    means = weights @ y / totals
    return (weights * (y - means[:, None]) ** 2).sum(axis=1) / totals


def _absolute_error(y, weights, totals):
    # The best constant is one of the values, so trying each of them is enough.
    return (weights @ np.abs(y[:, None] - y)).min(axis=1) / totals


def _poisson(y, weights, totals):
    means = weights @ y / totals
    ratios = np.divide(y, means[:, None], where=means[:, None] > 0, out=np.ones(weights.shape))
    return (weights * xlogy(y, ratios)).sum(axis=1) / totals


_IMPURITY = {
    "gini": _gini,
    "entropy": _entropy,
    "log_loss": _entropy,
    "error": _error,
    "squared_error": _squared_error,
    "absolute_error": _absolute_error,
    "poisson": _poisson,
}


def impurities(criterion, y, weight, masks):
    """Weight and impurity (mean over the outputs) of the rows of each mask."""
    weights = masks * weight
    totals = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        each = [_IMPURITY[criterion](column, weights, totals) for column in y.T]
    return totals, np.where(totals > 0, np.mean(each, axis=0), 0.0)


def node_value(criterion, y, weight, n_classes=None):
    """What a leaf with these rows predicts: outputs x classes, or outputs x 1."""
    y, weight = y[weight > 0], weight[weight > 0]
    if criterion in CLASSIFICATION or criterion == "log_loss":
        shares = np.zeros((y.shape[1], max(n_classes)))
        for output, column in enumerate(y.T):
            for label in range(n_classes[output]):
                shares[output, label] = weight[column == label].sum() / weight.sum()
        return shares
    if criterion == "absolute_error":
        return np.array([[weighted_median(column, weight)] for column in y.T])
    return (weight @ y / weight.sum())[:, None]


def weighted_median(y, weight):
    """The middle value; halfway between two neighbours when the weight splits evenly."""
    order = np.argsort(y, kind="stable")
    sums = [Fraction(0)]
    for w in weight[order]:
        sums.append(sums[-1] + Fraction(float(w)))
    half = sums[-1] / 2
    low = next(i for i, total in enumerate(sums[1:]) if total >= half)
    high = next(i for i, total in enumerate(sums[1:]) if total > half)
    return (y[order][low] + y[order][high]) / 2


def row_counts(weight):
    """How many rows each row counts for: whole weights are repetitions."""
    if np.all(weight == np.floor(weight)):
        return weight.astype(np.int64)
    return (weight > 0).astype(np.int64)


# --- partitions -------------------------------------------------------------------------------


def numeric_partitions(values) -> Iterator[tuple]:
    """Every cut between neighbouring values, with missing rows on either side."""
    missing = np.isnan(values)
    distinct = np.unique(values[~missing])
    for cut in distinct[:-1]:
        left = values <= cut
        yield left, ~left
        if missing.any():
            yield left | missing, ~(left | missing)
    if missing.any() and distinct.size:
        yield ~missing, missing


def _level_masks(values) -> list:
    missing = np.isnan(values)
    masks = [values == level for level in np.unique(values[~missing])]
    return [*masks, missing] if missing.any() else masks


def subset_partitions(values) -> Iterator[tuple]:
    """Every way to deal the levels (missing is one of them) to two children."""
    first, *others = _level_masks(values) or [None]
    for size in range(len(others)):
        for chosen in combinations(others, size):
            left = np.logical_or.reduce([first, *chosen])
            yield left, ~left


def ordered_partitions(values, target, weight) -> Iterator[tuple]:
    """Cuts in the order of the levels' mean targets: what a sorted search tries at least."""
    masks = _level_masks(values)
    masks.sort(key=lambda mask: weight[mask] @ target[mask] / weight[mask].sum())
    for size in range(1, len(masks)):
        left = np.logical_or.reduce(masks[:size])
        yield left, ~left


def fanout_partitions(values) -> Iterator[tuple]:
    """One child a level; missing rows have a child of their own."""
    masks = _level_masks(values)
    if len(masks) > 1:
        yield tuple(masks)


# --- trees ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """The limits of growth, with scikit-learn's names and meanings."""

    max_depth: float = math.inf
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: float = math.inf


@dataclass
class NaiveNode:
    mask: np.ndarray
    depth: int
    feature: int | None = None
    decrease: float = 0.0
    children: list = field(default_factory=list)


class NaiveTree:
    """A tree that tries every partition of every node.

    `category_split` is "subset", "ordered" (see `ordered_partitions`) or "fanout".
    """

    def __init__(self, criterion, limits=None, categorical=(), category_split="subset"):
        self.criterion = criterion
        self.limits = limits or Limits()
        self.categorical = frozenset(categorical)
        self.category_split = category_split

    def set_data(self, X, y, weight=None):
        self.X = np.asarray(X, dtype=np.float64)
        self.y = np.asarray(y, dtype=np.float64).reshape(len(self.X), -1)
        self.weight = np.ones(len(self.X)) if weight is None else np.asarray(weight, dtype=float)
        self.counts = row_counts(self.weight)
        self.n_classes = [int(column.max()) + 1 for column in self.y.T]
        return self

    def fit(self, X, y, weight=None):
        """Grow best-first, the node with the largest decrease before the others."""
        self.set_data(X, y, weight)
        self.root = NaiveNode(self.weight > 0, 0)
        open_nodes = [(self.best_split(self.root.mask), self.root)]
        n_leaves = 1
        while open_nodes and n_leaves < self.limits.max_leaf_nodes:
            chosen = max(range(len(open_nodes)), key=lambda i: open_nodes[i][0][0])
            (decrease, feature, partition), node = open_nodes.pop(chosen)
            if partition is None:
                continue
            node.feature, node.decrease = feature, decrease
            node.children = [NaiveNode(mask, node.depth + 1) for mask in partition]
            open_nodes += [(self.best_split(c.mask, c.depth), c) for c in node.children]
            n_leaves += len(partition) - 1
        return self

    def nodes(self, node=None) -> Iterator[NaiveNode]:
        node = node or self.root
        yield node
        for child in node.children:
            yield from self.nodes(child)

    def leaves(self):
        return [node for node in self.nodes() if not node.children]

    def stats(self, mask):
        """Rows, weight, impurity and value of a node with these rows."""
        weight, impurity = impurities(self.criterion, self.y, self.weight, mask[None])
        return (
            int(self.counts[mask].sum()),
            float(weight[0]),
            float(impurity[0]),
            node_value(self.criterion, self.y[mask], self.weight[mask], self.n_classes),
        )

    def is_pure(self, mask):
        y = self.y[mask & (self.weight > 0)]
        return bool(np.all(y == y[0]))

    def decrease(self, mask, partition):
        """Weighted impurity decrease of a split, as a share of the whole training weight."""
        weights, values = impurities(self.criterion, self.y, self.weight, np.array(partition))
        total, impurity = impurities(self.criterion, self.y, self.weight, mask[None])
        return float(total[0] * impurity[0] - weights @ values) / self.weight.sum()

    def may_split(self, mask, depth):
        n_rows = self.counts[mask].sum()
        return (
            depth < self.limits.max_depth
            and n_rows >= self.limits.min_samples_split
            and n_rows >= 2 * self.limits.min_samples_leaf
            and not self.is_pure(mask)
        )

    def best_split(self, mask, depth=0):
        """(decrease, feature, partition) of the best allowed split; no partition if none is."""
        rows = np.flatnonzero(mask & (self.weight > 0))
        candidates = list(self._candidates(rows)) if self.may_split(mask, depth) else []
        if not candidates:
            return -math.inf, None, None
        decreases = self._decreases(rows, [partition for _, partition in candidates])
        best = int(np.argmax(decreases))
        if decreases[best] + 1e-15 < self.limits.min_impurity_decrease:
            return -math.inf, None, None
        feature, partition = candidates[best]
        return float(decreases[best]), feature, [self._spread(rows, child) for child in partition]

    def _candidates(self, rows) -> Iterator[tuple]:
        for feature, values in enumerate(self.X[rows].T):
            if feature not in self.categorical:
                found = numeric_partitions(values)
            elif self.category_split == "fanout":
                found = fanout_partitions(values)
            elif self.category_split == "ordered":
                found = ordered_partitions(values, self.y[rows, 0], self.weight[rows])
            else:
                found = subset_partitions(values)
            for partition in found:
                yield feature, partition

    def _decreases(self, rows, partitions):
        """`decrease` of each partition of these rows; minus infinity where a limit forbids it."""
        y, weight = self.y[rows], self.weight[rows]
        children = np.array([child for partition in partitions for child in partition])
        starts = np.cumsum([0] + [len(partition) for partition in partitions[:-1]])
        weights, values = impurities(self.criterion, y, weight, children)
        total, impurity = impurities(self.criterion, y, weight, np.ones((1, len(rows)), bool))
        left_over = np.add.reduceat(weights * values, starts)
        min_weight = self.limits.min_weight_fraction_leaf * self.weight.sum() * (1 - 1e-12)
        allowed = (children @ self.counts[rows] >= self.limits.min_samples_leaf) & (
            weights >= min_weight
        )
        if self.criterion == "poisson":  # a leaf without any count has no finite deviance
            allowed &= (children @ y > 0).all(axis=1)
        allowed = np.logical_and.reduceat(allowed, starts)
        return np.where(allowed, (total * impurity - left_over) / self.weight.sum(), -math.inf)

    def _spread(self, rows, child):
        mask = np.zeros(len(self.X), dtype=bool)
        mask[rows[child]] = True
        return mask


# --- exact arithmetic -------------------------------------------------------------------------


def exact_mean(y, weight):
    """Weighted mean without rounding until the last step."""
    pairs = [(Fraction(float(v)), Fraction(float(w))) for v, w in zip(y, weight, strict=True)]
    return float(sum(v * w for v, w in pairs) / sum(w for _, w in pairs))


def exact_squared_error(y, weight):
    """Weighted variance without rounding until the last step."""
    pairs = [(Fraction(float(v)), Fraction(float(w))) for v, w in zip(y, weight, strict=True)]
    total = sum(w for _, w in pairs)
    mean = sum(v * w for v, w in pairs) / total
    return float(sum(w * (v - mean) ** 2 for v, w in pairs) / total)


def exact_absolute_error(y, weight):
    """Weighted mean distance from the weighted median."""
    median = Fraction(float(weighted_median(y, weight)))
    terms = [
        Fraction(float(w)) * abs(Fraction(float(v)) - median)
        for v, w in zip(y, weight, strict=True)
    ]
    return float(sum(terms) / sum(Fraction(float(w)) for w in weight))


def exact_poisson(y, weight):
    """Half the mean Poisson deviance, in 60 digits until the last step."""
    with localcontext(prec=60):
        pairs = [(Decimal(float(v)), Decimal(float(w))) for v, w in zip(y, weight, strict=True)]
        total = sum(w for _, w in pairs)
        mean = sum(v * w for v, w in pairs) / total
        return float(sum(w * v * (v / mean).ln() for v, w in pairs if v > 0) / total)


def exact_class_shares(y, weight, n_classes):
    total = math.fsum(weight)
    return np.array([math.fsum(weight[y == label]) / total for label in range(n_classes)])
