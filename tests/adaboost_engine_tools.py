"""Weights, datasets and stumps for tests of the engine of AdaBoost."""

import numpy as np

from committee import _core
from committee.tables.table import read_table

CRITERIA = ["gini", "entropy", "error"]
WEIGHTS = ["none", "whole", "parts", "wide", "huge", "tiny", "heavy tail"]


def make_classes(rng, n_rows, n_classes):
    """Codes in which every class is present twice, in the rows that no weight leaves out."""
    y = rng.integers(0, n_classes, n_rows).astype(np.int32)
    y[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    return y


def make_weights(kind, rng, n_rows):
    if kind == "none":
        return None
    if kind == "whole":
        weights = rng.integers(1, 4, n_rows).astype(float)
        weights[10::5] = 0.0
        return weights
    weights = rng.uniform(0.1, 3.0, n_rows)
    weights[10::7] = 0.0
    if kind == "parts":
        return weights
    if kind in ("huge", "tiny"):
        return weights * (1e300 if kind == "huge" else 1e-300)
    if kind == "wide":
        return 10 ** rng.uniform(-12, 12, n_rows)
    return 1.0 / rng.random(n_rows) ** 6


def ones(weights, n_rows):
    return np.ones(n_rows) if weights is None else weights


def dataset_of(table, weights=None, exact=True, max_bins=255):
    read, schema = read_table(table)
    n_levels = [len(feature.levels or ()) for feature in schema.features]
    return read, _core.BinnedDataset(read, weights, n_levels, max_bins=max_bins, exact=exact)


def split_of(tree):
    arrays = tree.arrays()
    flags = int(arrays["feature_and_flags"][0])
    return flags & 0xFFFFFF, (flags >> 24) & 3, bool(flags >> 26 & 1)


def threshold_of(tree):
    bits = tree.arrays()["threshold"][0]
    return float(bits.view(np.float64)) if split_of(tree)[1] == 0 else int(bits.view(np.int64))


def boost(rows, groups, shares):
    """One round of discrete AdaBoost; returns the error."""
    is_wrong = np.ones(shares.shape)
    is_wrong[np.arange(len(shares)), shares.argmax(axis=1)] = 0.0
    error = float((shares * is_wrong).sum())
    if error == 0:
        return 0.0
    factors = np.where(is_wrong > 0, (1 - error) / error * (shares.shape[1] - 1), 1.0)
    rows.reweigh(np.array(groups), factors, float((shares * factors).sum()))
    return error


def assert_same_trees(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert set(one) == set(other)
        for name, array in one.items():
            np.testing.assert_array_equal(array, other[name], err_msg=name)
