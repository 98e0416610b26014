"""A naive booster in NumPy: the interface of `_core.Booster`, in exact float64 and plain loops.

It reads a float matrix (NaN is missing, a category is its level number) instead of a binned
dataset, tries every split of every node, and draws no features.
"""

import numpy as np

from committee import _core

MOST = np.inf


class ReferenceBooster:
    def __init__(self, X, settings, weights=None, categorical=()):
        self.X = np.asarray(X, float)
        self.weights = np.ones(len(self.X)) if weights is None else np.asarray(weights, float)
        self.categorical = set(categorical)
        self.l1, self.l2 = settings.get("l1", 0.0), settings.get("l2", 0.0)
        self.smoothing = settings.get("category_smoothing", 10.0)
        self.min_rows = settings.get("min_rows_leaf", 1)
        self.min_hessian = settings.get("min_child_weight", 0.0)
        self.min_gain = settings.get("min_gain", 0.0)
        self.max_leaves = settings.get("max_leaf_nodes", 31) or MOST
        self.max_depth = settings.get("max_depth", MOST)
        self.growth = settings.get("growth", "best")
        self.monotonic = settings.get("monotonic", [0] * self.X.shape[1])
        self.interactions = settings.get("interactions")
        is_whole = np.all(self.weights == np.floor(self.weights))
        self.counts = self.weights if is_whole else (self.weights > 0).astype(float)

    # ---- steps and gains ----

    def soft(self, gradient):
        return np.sign(gradient) * max(abs(gradient) - self.l1, 0.0)

    def sums(self, mask):
        """G and H of the rows of a mask that are in the sample."""
        rows = mask & self.present
        return (self.weights * self.g)[rows].sum(), (self.weights * self.h)[rows].sum()

    def step(self, mask, bounds=(-MOST, MOST)):
        G, H = self.sums(mask)
        step = -self.soft(G) / (H + self.l2) if H + self.l2 > 0 else 0.0
        return float(np.clip(step, *bounds))

    def score(self, mask, bounds=(-MOST, MOST)):
        """By how much the best step of these rows lowers the loss, to second order."""
        G, H = self.sums(mask)
        step = self.step(mask, bounds)
        return -self.soft(G) * step - (H + self.l2) * step**2 / 2

    def gain(self, node, left, bounds=(-MOST, MOST)):
        return (
            self.score(left, bounds) + self.score(node & ~left, bounds) - self.score(node, bounds)
        )

    def is_allowed(self, node, left, feature, bounds):
        sides = [left & self.present, node & ~left & self.present]
        if any(self.counts[side].sum() < self.min_rows for side in sides):
            return False
        if any(not side.any() or self.sums(side)[1] < self.min_hessian for side in sides):
            return False
        rise = self.step(sides[1], bounds) - self.step(sides[0], bounds)
        return rise * self.monotonic[feature] >= 0

    # ---- splits ----

    def partitions(self, node, feature):
        """Every left side that a split of this feature may have, in the order they are tried."""
        values = self.X[:, feature]
        missing = np.isnan(values) & node
        here = node & self.present
        if feature in self.categorical:
            yield from self.subsets(node, here, values)
            return
        distinct = np.unique(values[here & ~np.isnan(values)])
        has_missing = bool((missing & here).any())
        for value in distinct if has_missing else distinct[:-1]:
            yield node & (values <= value)
        if has_missing:
            for value in distinct[:-1]:
                yield (node & (values <= value)) | missing

    def subsets(self, node, here, values):
        levels = [values == level for level in np.unique(values[here & ~np.isnan(values)])]
        if (here & np.isnan(values)).any():
            levels.append(np.isnan(values))

        def order(level):
            G, H = self.sums(here & level)
            return G / (H + self.smoothing) if H + self.smoothing > 0 else 0.0

        levels.sort(key=order)
        left = np.zeros(len(values), bool)
        for level in levels[:-1]:
            left = left | (node & level)
            yield left

    def features(self, path):
        every = range(self.X.shape[1])
        if self.interactions is None or not path:
            return every
        groups = [set(group) for group in self.interactions if set(path) <= set(group)]
        return [feature for feature in every if any(feature in group for group in groups)]

    def best_split(self, node, bounds=(-MOST, MOST), path=()):
        """The largest gain, its feature and its left side; the first of equals."""
        best = (0.0, None, None)
        for feature in self.features(path):
            for left in self.partitions(node, feature):
                if not self.is_allowed(node, left, feature, bounds):
                    continue
                gain = self.gain(node, left, bounds)
                # A gain has to be more than rounding.
                if gain > best[0] and gain > 1e-11 * abs(self.score(left) + self.score(node)):
                    best = (gain, feature, left)
        return best if best[0] >= self.min_gain else (0.0, None, None)

    # ---- growing ----

    def start(self, gradients, hessians=None, sample=None):
        self.g = np.asarray(gradients, float)
        self.h = np.ones(len(self.g)) if hessians is None else np.asarray(hessians, float)
        self.present = self.weights > 0
        if sample is not None:
            self.present = self.present & (np.asarray(sample) > 0)

    def grow(self, gradients, hessians=None, *, learning_rate=1.0, seed=0, sample=None):
        self.start(gradients, hessians, sample)
        self.nodes = []
        self.open_nodes, n_leaves = [], 1
        self.open(np.ones(len(self.X), bool), 0, (-MOST, MOST), ())
        while self.open_nodes and n_leaves < self.max_leaves:
            node = self.nodes[self.next_node()]
            n_leaves += 1
            node["first_child"] = len(self.nodes)
            _, feature, left = node["split"]
            bounds = self.bounds_of_children(node, feature, left)
            for side, limits in zip((left, node["rows"] & ~left), bounds, strict=True):
                self.open(side, node["depth"] + 1, limits, (*node["path"], feature))
        return self.tree(learning_rate)

    def open(self, rows, depth, bounds, path):
        node = {"rows": rows, "depth": depth, "bounds": bounds, "path": path, "first_child": 0}
        node["split"] = (0.0, None, None)
        if depth < self.max_depth:
            node["split"] = self.best_split(rows, bounds, path)
        if node["split"][1] is not None:
            self.open_nodes.append(len(self.nodes))
        self.nodes.append(node)

    def next_node(self):
        """Take the open node that is split next; the one opened first among equals."""
        keys = {
            "best": lambda index: (-self.nodes[index]["split"][0], index),
            "level": lambda index: (self.nodes[index]["depth"], index),
            "depth": lambda index: -index,
        }
        index = min(self.open_nodes, key=keys[self.growth])
        self.open_nodes.remove(index)
        return index

    def bounds_of_children(self, node, feature, left):
        low, high = node["bounds"]
        direction = self.monotonic[feature]
        if direction == 0:
            return [(low, high)] * 2
        bounds = node["bounds"]
        middle = (self.step(left, bounds) + self.step(node["rows"] & ~left, bounds)) / 2
        below, above = (low, middle), (middle, high)
        return [below, above] if direction > 0 else [above, below]

    # ---- the tree ----

    def tree(self, learning_rate):
        steps = np.array([self.step(node["rows"], node["bounds"]) for node in self.nodes])
        weight = np.array([self.weights[node["rows"] & self.present].sum() for node in self.nodes])
        scores = np.array([self.score(node["rows"], node["bounds"]) for node in self.nodes])
        counts = [int(self.counts[node["rows"] & self.present].sum()) for node in self.nodes]
        self._leaves = np.zeros(len(self.X), np.uint32)
        for index, node in enumerate(self.nodes):
            if node["first_child"] == 0:
                self._leaves[node["rows"]] = index
        arrays = self.split_arrays() | {
            "values": (learning_rate * steps)[:, None],
            "impurity": np.divide(-scores, weight, where=weight > 0, out=np.zeros_like(scores)),
            "weight": weight,
            "n_rows": np.array(counts, np.int64),
        }
        kinds = [2 if k in self.categorical else 0 for k in range(self.X.shape[1])]
        return _core.Tree(self.X.shape[1], kinds, arrays)

    def split_arrays(self):
        thresholds, flags, data = [], [], []
        for node in self.nodes:
            _, feature, left = node["split"]
            if node["first_child"] == 0:
                thresholds.append(np.uint64(0))
                flags.append(0)
                continue
            threshold, default_left, levels = self.condition(node, feature, left)
            if levels is None:
                thresholds.append(np.float64(threshold).view(np.uint64))
            else:
                thresholds.append(np.uint64(len(data)))
                data += [len(levels) | 1 << 31, *levels]
            kind = 0 if levels is None else 2
            flags.append(feature | kind << 24 | int(default_left) << 26)
        return {
            "threshold": np.array(thresholds, np.uint64),
            "feature_and_flags": np.array(flags, np.uint32),
            "first_child": np.array([node["first_child"] for node in self.nodes], np.uint32),
            "category_data": np.array(data, np.uint32),
        }

    def condition(self, node, feature, left):
        """A threshold, where missing values go, and levels that leave the default child."""
        values, here = self.X[:, feature], node["rows"] & self.present
        missing = here & np.isnan(values)
        if missing.any():
            default_left = bool((left & missing).any())
        else:
            default_left = self.sums(left)[1] > self.sums(node["rows"] & ~left)[1]
        if feature in self.categorical:
            leaving = (here & ~left) if default_left else (here & left)
            levels = np.unique(values[leaving & ~np.isnan(values)])
            return None, default_left, [int(level) for level in levels]
        low = values[left & here & ~np.isnan(values)].max()
        above = values[here & ~left & ~np.isnan(values)]
        return (np.inf if len(above) == 0 else (low + above.min()) / 2), default_left, None

    # ---- rows ----

    def leaves(self):
        return self._leaves

    def add_to(self, tree, scores):
        scores += tree.arrays()["values"][self._leaves, 0]

    @staticmethod
    def with_leaf_values(tree, values):
        return _core.Booster.with_leaf_values(tree, values)
