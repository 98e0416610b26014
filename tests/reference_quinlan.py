"""ID3 and C4.5 in plain Python, slow and simple, to compare the engine with.

A table is a list of columns, each a list of cells; None is missing. Columns of text are nominal,
others numeric. A case is (row number, weight). A grown tree is a `Leaf` or an `Inner`.
"""

import itertools
import math
from dataclasses import dataclass, field

from scipy.stats import norm

EPSILON = 1e-3
TIE = 1e-10


def entropy(weights):
    """Entropy in bits of a list of weights."""
    total = sum(weights)
    return -sum(w / total * math.log2(w / total) for w in weights if w > 0)


def pessimistic_errors(n, e, confidence=0.25):
    """Errors to expect of a leaf that makes e errors in n cases."""
    z2 = norm.isf(confidence) ** 2
    none = n * (1 - confidence ** (1 / n))

    def approximate(errors):
        if errors + 0.5 >= n:
            return 0.67 * (n - errors)
        f = errors + 0.5
        limit = (f + z2 / 2 + math.sqrt(z2 * (f * (1 - f / n) + z2 / 4))) / (n + z2)
        return n * limit - errors

    if e < 1e-6:
        return none
    if e < 0.9999:
        return e + none + e * (approximate(1) - none)
    return e + approximate(e)


@dataclass
class Settings:
    criterion: str = "gain_ratio"
    min_samples_leaf: float = 2
    corrects: bool = True
    grouped: bool = False
    prunes: bool = True
    raises: bool = True
    confidence: float = 0.25


@dataclass
class Leaf:
    counts: dict


@dataclass
class Inner:
    counts: dict
    feature: int
    threshold: float | None  # None: nominal
    branch_of: dict  # level -> number of the branch
    children: list = field(default_factory=list)


@dataclass
class Candidate:
    feature: int
    gain: float
    split_information: float
    threshold: float | None
    branch_of: dict


class Oracle:
    def __init__(self, columns, y, weights=None, settings=None):
        self.columns = columns
        self.y = y
        self.settings = settings or Settings()
        weights = [1.0] * len(y) if weights is None else [float(w) for w in weights]
        present = [w for w in weights if w > 0]
        scale = 1.0
        if any(w != int(w) for w in weights):
            scale = len(present) / sum(present)
        self.root = [(i, w * scale) for i, w in enumerate(weights) if w > 0]
        self.total = sum(w for _, w in self.root)
        self.many = [self._is_many_valued(f) for f in range(len(columns))]
        if all(self.many):
            self.many = [False] * len(columns)
        self.unpruned_errors = {}

    def _is_nominal(self, feature):
        return any(isinstance(cell, str) for cell in self.columns[feature])

    def _is_many_valued(self, feature):
        levels = {self.columns[feature][row] for row, _ in self.root} - {None}
        return self._is_nominal(feature) and len(levels) >= 0.3 * self.total

    # --- one node ---

    def counts(self, cases):
        counts = {}
        for row, weight in cases:
            counts[self.y[row]] = counts.get(self.y[row], 0.0) + weight
        return counts

    def branches(self, cases, test):
        """Cases of each branch: those of unknown value go to all, in shares."""
        known = {}
        for row, weight in cases:
            branch = test(row)
            if branch is not None:
                known.setdefault(branch, []).append((row, weight))
        weights = {b: sum(w for _, w in part) for b, part in known.items()}
        total = sum(weights.values())
        result = {b: [] for b in sorted(known)}
        for row, weight in cases:
            branch = test(row)
            for b in result:
                share = weights[b] / total if branch is None else float(b == branch)
                if share > 0:
                    result[b].append((row, weight * share))
        return result

    def measure(self, cases, feature, branch_of_cell):
        """Gain and split information of a split on a feature."""
        column = self.columns[feature]
        known = [(row, w) for row, w in cases if column[row] is not None]
        parts = {}
        for row, w in known:
            parts.setdefault(branch_of_cell(column[row]), []).append((row, w))
        total = sum(w for _, w in cases)
        known_total = sum(w for _, w in known)
        sizes = [sum(w for _, w in part) for part in parts.values()]
        after = sum(
            size / known_total * entropy(self.counts(part).values())
            for size, part in zip(sizes, parts.values(), strict=True)
        )
        gain = known_total / total * (entropy(self.counts(known).values()) - after)
        return gain, entropy([*sizes, total - known_total]), sizes

    def numeric_candidate(self, cases, feature):
        s, column = self.settings, self.columns[feature]
        known = [(row, w) for row, w in cases if column[row] is not None]
        values = sorted({column[row] for row, _ in known})
        known_total = sum(w for _, w in known)
        total = sum(w for _, w in cases)
        smallest = s.min_samples_leaf
        if s.corrects:
            n_classes = len(set(self.y))
            smallest = max(smallest, min(25, 0.1 * known_total / n_classes))
        best, tries = None, 0
        for low, high in itertools.pairwise(values):
            gain, information, sizes = self.measure(cases, feature, lambda v, low=low: v > low)
            if min(sizes) < smallest - TIE:
                continue
            tries += 1
            if best is None or gain > best.gain + TIE:
                best = Candidate(feature, gain, information, (low + high) / 2, {})
        if best is None:
            return None
        if s.corrects:
            best.gain -= math.log2(tries) / total
            if best.gain <= TIE:
                return None
        return best

    def nominal_candidate(self, cases, feature):
        column = self.columns[feature]
        levels = sorted({column[row] for row, _ in cases} - {None})
        if len(levels) < 2:
            return None
        groups = [[level] for level in levels]

        def measure(groups):
            branch = {level: i for i, group in enumerate(groups) for level in group}
            return *self.measure(cases, feature, branch.__getitem__), branch

        def ratio(measured):
            return measured[0] / measured[1] if measured[1] > EPSILON else 0.0

        current = measure(groups)
        while self.settings.grouped and len(groups) > 2:
            best = None
            for a in range(len(groups)):
                for b in range(a + 1, len(groups)):
                    merged = [list(group) for group in groups]
                    merged[a] += merged.pop(b)
                    measured = measure(merged)
                    bar = ratio(current) + TIE if best is None else ratio(best[0])
                    if ratio(measured) > bar:
                        best = measured, merged
            if best is None:
                break
            current, groups = best
        gain, information, sizes, branch_of = current
        if sum(size >= self.settings.min_samples_leaf - TIE for size in sizes) < 2:
            return None
        return Candidate(feature, gain, information, None, branch_of)

    def candidates(self, cases):
        found = []
        for feature in range(len(self.columns)):
            nominal = self._is_nominal(feature)
            find = self.nominal_candidate if nominal else self.numeric_candidate
            found.append(find(cases, feature))
        return [candidate for candidate in found if candidate is not None]

    def choose(self, candidates):
        if self.settings.criterion == "gain":
            worth = [(c.gain, c) for c in candidates]
        else:
            gains = [c.gain for c in candidates if not self.many[c.feature]]
            average = sum(gains) / len(gains) if gains else 0.0
            worth = [
                (c.gain / c.split_information, c)
                for c in candidates
                if c.gain >= average - EPSILON and c.split_information > EPSILON
            ]
        best = None
        for value, candidate in worth:
            if best is None or value > best[0] + TIE:
                best = value, candidate
        return None if best is None else best[1]

    # --- trees ---

    def grow(self):
        tree = self._grow(self.root)
        if not self.settings.prunes:
            return tree
        tree = self._collapse(tree)
        return self._prune(tree, self.root)

    def _grow(self, cases):
        counts = self.counts(cases)
        total = sum(counts.values())
        if len(counts) < 2 or total < 2 * self.settings.min_samples_leaf - TIE:
            return Leaf(counts)
        chosen = self.choose(self.candidates(cases))
        if chosen is None:
            return Leaf(counts)
        node = Inner(counts, chosen.feature, chosen.threshold, chosen.branch_of)
        node.children = [self._grow(part) for part in self._divide(node, cases).values()]
        return node

    def _divide(self, node, cases):
        column = self.columns[node.feature]

        def test(row):
            cell = column[row]
            if cell is None:
                return None
            return (
                int(cell > node.threshold) if node.threshold is not None else node.branch_of[cell]
            )

        return self.branches(cases, test)

    def training_errors(self, tree):
        if isinstance(tree, Leaf):
            return sum(tree.counts.values()) - max(tree.counts.values())
        return sum(map(self.training_errors, tree.children))

    def _collapse(self, tree):
        if isinstance(tree, Leaf):
            return tree
        tree.children = [self._collapse(child) for child in tree.children]
        if self.training_errors(tree) >= self.training_errors(Leaf(tree.counts)) - EPSILON:
            return Leaf(tree.counts)
        return tree

    def expected(self, tree):
        if isinstance(tree, Leaf):
            n = sum(tree.counts.values())
            return pessimistic_errors(n, n - max(tree.counts.values()), self.settings.confidence)
        return sum(map(self.expected, tree.children))

    def refilled(self, tree, cases):
        """The same tree with the counts of other cases; new levels get leaves of their own."""
        counts = self.counts(cases)
        if isinstance(tree, Leaf):
            return Leaf(counts)
        branch_of = dict(tree.branch_of)
        if tree.threshold is None:
            cells = {self.columns[tree.feature][row] for row, _ in cases} - {None}
            for level in sorted(cells - set(branch_of)):
                branch_of[level] = max(branch_of.values()) + 1
        node = Inner(counts, tree.feature, tree.threshold, branch_of)
        parts = list(self._divide(node, cases).values())
        children = tree.children + [Leaf({})] * (len(parts) - len(tree.children))
        node.children = [self.refilled(c, part) for c, part in zip(children, parts, strict=True)]
        return node

    def _prune(self, tree, cases):
        if isinstance(tree, Leaf):
            return tree
        parts = list(self._divide(tree, cases).values())
        tree.children = [
            self._prune(child, part) for child, part in zip(tree.children, parts, strict=True)
        ]
        leaf = self.expected(Leaf(tree.counts))
        subtree = self.expected(tree)
        weights = [sum(child.counts.values()) for child in tree.children]
        heaviest = max(range(len(weights)), key=lambda i: (round(weights[i], 9), -i))
        branch = tree.children[heaviest]
        may_raise = self.settings.raises and isinstance(branch, Inner)
        raised = self.refilled(branch, cases) if may_raise else Leaf(tree.counts)
        above = self.expected(raised)
        if leaf <= subtree + 0.1 and leaf <= above + 0.1:
            return Leaf(tree.counts)
        if may_raise and above <= subtree + 0.1:
            return self._prune(raised, cases)
        return tree

    # --- answers ---

    def shares(self, tree, cells):
        """Share of each class for a row of cells."""
        if isinstance(tree, Leaf):
            total = sum(tree.counts.values())
            return {label: w / total for label, w in tree.counts.items()}
        cell = cells[tree.feature]
        if cell is None:
            weights = [sum(child.counts.values()) for child in tree.children]
            result = {}
            for weight, child in zip(weights, tree.children, strict=True):
                for label, share in self.shares(child, cells).items():
                    result[label] = result.get(label, 0.0) + weight / sum(weights) * share
            return result
        if tree.threshold is not None:
            return self.shares(tree.children[int(cell > tree.threshold)], cells)
        if cell not in tree.branch_of:
            return self.shares(Leaf(tree.counts), cells)
        return self.shares(tree.children[tree.branch_of[cell]], cells)


def as_nested(tree):
    """A tree of the oracle as nested tuples, without thresholds."""
    if isinstance(tree, Leaf):
        return "leaf"
    return (tree.feature, *map(as_nested, tree.children))


def view_as_nested(view, node=0):
    """The same for a fitted tree."""
    children = view.children(node)
    if not children:
        return "leaf"
    return (int(view.feature[node]), *(view_as_nested(view, child) for child in children))
