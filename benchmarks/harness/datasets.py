"""Data of the benchmarks: synthetic problems of any size, and real tables of a folder.

A resample of a synthetic problem is a training and a test part that no other resample shares
(fresh draws, or another cut of one pool), the same for every contestant.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER_VARIABLE = "COMMITTEE_DATA"
TEST_SHARE = 0.25  # of a real table
_BLOCK = 2**16
_LAW_SEED = 2028  # which features matter is one fixed law; resamples draw other rows


@dataclass(frozen=True, slots=True)
class Split:
    """A training part and a test part."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


def load_split(name: str, n_train: int, n_test: int, resample: int) -> Split:
    """Return a resample of a problem by name."""
    return _PROBLEMS[name](n_train, n_test, resample)


def is_there(name: str) -> bool:
    """Tell whether the data of a problem can be had here."""
    return name != "covertype" or any(table.name == name for table in list_tables(10**9))


def store_split(name: str, n_train: int, n_test: int, resample: int, folder: str) -> None:
    """Write a resample as .npy files: a process that loads them allocates nothing else."""
    split = load_split(name, n_train, n_test, resample)
    for part in Split.__dataclass_fields__:
        np.save(Path(folder) / f"{part}.npy", getattr(split, part))


def higgs(
    n_rows: int, n_features: int = 28, seed: int = 0, regression: bool = False
) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Draw a noisy nonlinear problem in the manner of particle collisions.

    Three quarters of the features are low-level: skewed momenta, symmetric directions, bounded
    angles and tags of three values. The others are products of three of them, as invariant masses
    are. The class (or the target) depends on the masses, on pairs of directions and on a tag, with
    so much noise that no model is right in more than about 76 % of the rows.
    """
    if n_features < 8:
        raise ValueError(f"n_features must be an int >= 8; got {n_features}")
    X = np.empty((n_rows, n_features), dtype=np.float32)
    scores = np.empty(n_rows, dtype=np.float32)
    noise = np.empty(n_rows, dtype=np.float32)
    for block, start in enumerate(range(0, n_rows, _BLOCK)):
        rows = slice(start, min(start + _BLOCK, n_rows))
        rng = np.random.default_rng([seed, block])
        X[rows], scores[rows] = _collisions(rng, rows.stop - rows.start, n_features)
        noise[rows] = rng.logistic(size=rows.stop - rows.start)
    if regression:
        return X, (scores + noise).astype(np.float64)
    return X, (scores + noise > 0).astype(np.int64)


def _collisions(
    rng: np.random.Generator, n_rows: int, n_features: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    law = np.random.default_rng(_LAW_SEED)
    n_low = 3 * n_features // 4
    z = rng.standard_normal((n_rows, n_low), dtype=np.float32)
    X = np.empty((n_rows, n_features), dtype=np.float32)
    for j in range(n_low):
        X[:, j] = _LOW_LEVEL[j % 4](z[:, j])
    score = np.zeros(n_rows, dtype=np.float32)
    for j in range(n_low, n_features):
        a, b, c = law.choice(n_low, 3, replace=False)
        mass = np.sqrt((z[:, a] * z[:, b]) ** 2 + z[:, c] ** 2)
        X[:, j] = mass * np.exp(0.1 * rng.standard_normal(n_rows, dtype=np.float32))
        score += law.choice([-1.0, 1.0]) * 1.6 * (mass > law.uniform(0.7, 1.3)) * np.sign(z[:, a])
        score += law.normal() * 0.9 * (mass - 1.1)
    score += 0.6 * z[:, 1] * z[:, 5] + 0.8 * (z[:, 3] > 0.5)
    return X, 0.5 * (score - 0.25)


_LOW_LEVEL: tuple[Callable[[NDArray[np.float32]], NDArray[np.float32]], ...] = (
    lambda z: np.exp(0.5 * z),
    lambda z: z,
    lambda z: np.float32(np.pi) * np.tanh(z),
    lambda z: 1.1 * ((z > 0.5).astype(np.float32) + (z > 1.2)),
)


def _higgs_split(
    n_train: int, n_test: int, resample: int, n_features: int = 28, regression: bool = False
) -> Split:
    X, y = higgs(n_train + n_test, n_features, seed=resample, regression=regression)
    # A contiguous part of a C-ordered array is as fast to read as an array of its own.
    return Split(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


def _classification_split(n_train: int, n_test: int, resample: int, n_features: int) -> Split:
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_samples=n_train + n_test,
        n_features=n_features,
        n_informative=n_features // 2,
        n_redundant=n_features // 5,
        n_clusters_per_class=4,
        flip_y=0.05,
        random_state=_LAW_SEED,
    )
    return _cut(X.astype(np.float32), y, n_train, n_test, resample)


def _breast_cancer_split(n_train: int, n_test: int, resample: int) -> Split:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return _cut(X.astype(np.float32), y, n_train, n_test, resample)


def _covertype_split(n_train: int, n_test: int, resample: int) -> Split:
    X, labels = read_table(_find_table("covertype"))
    y = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return _cut(X.to_numpy(dtype=np.float32), y, n_train, n_test, resample)


def _cut(X: NDArray[Any], y: NDArray[Any], n_train: int, n_test: int, resample: int) -> Split:
    order = np.random.default_rng(resample).permutation(len(y))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    return Split(X[train], y[train], X[test], y[test])


_PROBLEMS: dict[str, Callable[[int, int, int], Split]] = {
    "higgs": _higgs_split,
    "higgs regression": partial(_higgs_split, regression=True),
    "higgs regression S": partial(_higgs_split, n_features=20, regression=True),
    "higgs regression M": partial(_higgs_split, n_features=100, regression=True),
    "classification S": partial(_classification_split, n_features=20),
    "classification M": partial(_classification_split, n_features=100),
    "breast cancer": _breast_cancer_split,
    "covertype": _covertype_split,  # from the folder of real tables
}


@dataclass(frozen=True, slots=True)
class TableInfo:
    """One entry of the manifest of a folder of tables."""

    name: str
    task: str  # "binary", "multiclass" or "regression"
    target: str
    metric: str  # "roc_auc", "log_loss" or "rmse"
    n_rows: int
    file: str

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.task != "regression"


def list_tables(max_rows: int) -> list[TableInfo]:
    """Return the tables of the folder COMMITTEE_DATA with at most `max_rows` rows.

    The list is empty if the variable is not set.
    """
    if FOLDER_VARIABLE not in os.environ:
        return []
    entries = json.loads((_folder() / "manifest.json").read_text())
    fields = TableInfo.__dataclass_fields__
    tables = [TableInfo(**{key: entry[key] for key in fields}) for entry in entries]
    return [table for table in tables if table.n_rows <= max_rows]


def _find_table(name: str) -> TableInfo:
    return next(table for table in list_tables(10**9) if table.name == name)


def read_table(info: TableInfo) -> tuple[Any, NDArray[Any]]:
    """Return the features as a pandas DataFrame, and the target as an array."""
    import pandas as pd

    frame = pd.read_parquet(_folder() / info.file)
    return frame.drop(columns=info.target), frame[info.target].to_numpy()


def cut_table(X: Any, y: Any, info: TableInfo, seed: int) -> list[Any]:
    """Return X_train, X_test, y_train and y_test; classes keep their shares in both parts."""
    from sklearn.model_selection import train_test_split

    classes = y if info.is_classification else None
    parts: list[Any] = train_test_split(
        X, y, test_size=TEST_SHARE, random_state=seed, stratify=classes
    )
    return parts


def _folder() -> Path:
    return Path(os.environ[FOLDER_VARIABLE])
