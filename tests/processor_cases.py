"""Fits of the engine whose bits must not depend on the processor: `python processor_cases.py`.

Prints a digest of each; `tests/test_processor.py` compares those of two kinds of processors. The C
library has logarithms with and without fused multiply-add: "c_library" shows whether they differ.
"""

import hashlib
import json
import math
import sys

import numpy as np

from committee import _core


def table(rng, n_rows=600):
    return _core.Table.from_matrix(np.round(rng.normal(size=(n_rows, 4)), 2))


def c_library(rng):
    return [math.log(x) for x in rng.random(20_000)], [math.log2(x) for x in rng.random(20_000)]


def entropies(rng):
    data = _core.BinnedDataset(table(rng, 40_000))
    classes = rng.integers(0, 3, (40_000, 1)).astype(np.int32)
    weights = rng.uniform(0.1, 2, 40_000)
    settings = {"criterion": "entropy", "max_depth": 5}
    whole = _core.grow_tree(data, classes=classes, n_classes=[3], settings=settings)
    weighted = _core.grow_tree(
        data, classes=classes, n_classes=[3], weights=weights, settings=settings
    )
    return [list(tree.arrays().values()) for tree in (whole, weighted)]


def deviances_of_poisson(rng):
    data = _core.BinnedDataset(table(rng))
    reals = rng.gamma(1.0, size=(600, 1))
    tree = _core.grow_tree(data, reals=reals, settings={"criterion": "poisson"})
    return [*tree.arrays().values(), *tree.pruning_path()]


def trees_of_quinlan(rng):
    data = _core.BinnedDataset(table(rng), exact=True)
    target = {"classes": rng.integers(0, 3, (600, 1)).astype(np.int32), "n_classes": [3]}
    tree, growth = _core.grow_quinlan(data, **target, weights=rng.uniform(0.1, 2, 600))
    cuts = [_core.interval_cuts(data, feature, **target) for feature in range(4)]
    return [*tree.arrays().values(), *growth.values(), *cuts]


def draws_by_weight(rng):
    units = np.arange(5000, dtype=np.uint32)
    plan = _core.SamplingPlan(
        5000, [(units, 2500)], unit_weights=rng.random(5000), with_replacement=False
    )
    return [plan.draw(seed, 0) for seed in range(20)]


def losses_of_several_classes(rng):
    n_rows = 5000
    classes = rng.integers(0, 4, n_rows).astype(np.int32)
    scores = np.asfortranarray(rng.normal(size=(n_rows, 4)) * rng.choice([1, 30], (n_rows, 1)))
    losses, gradients, hessians = np.empty(n_rows), np.empty_like(scores), np.empty_like(scores)
    _core.multinomial_losses(classes, scores, losses)
    total = _core.multinomial_gradients(classes, scores, gradients, hessians)
    return losses, gradients, hessians, total


def losses_of_two_classes(rng):
    target, scores = rng.integers(0, 2, 5000).astype(np.uint8), rng.normal(size=5000) * 9
    losses, gradients, hessians = np.empty((3, 5000))
    _core.log_losses(target, scores, losses)
    total = _core.log_loss_gradients(target, scores, gradients, hessians)
    return losses, gradients, hessians, total, _core.log_loss_shares(scores)


def contributions(rng):
    rows = table(rng)
    data = _core.BinnedDataset(rows)
    settings = {"criterion": "squared_error", "max_depth": 7}
    tree = _core.grow_tree(data, reals=rng.normal(size=(600, 1)), settings=settings)
    return tree.contributions(rows)


CASES = [
    c_library,
    entropies,
    deviances_of_poisson,
    trees_of_quinlan,
    draws_by_weight,
    losses_of_several_classes,
    losses_of_two_classes,
    contributions,
]


def digest(value, to):
    if isinstance(value, (list, tuple)):
        for item in value:
            digest(item, to)
    else:
        to.update(np.ascontiguousarray(value).tobytes())


def main():
    digests = {}
    for case in CASES:
        to = hashlib.sha256()
        digest(case(np.random.default_rng(0)), to)
        digests[case.__name__] = to.hexdigest()
    sys.stdout.write(json.dumps(digests))


if __name__ == "__main__":
    main()
