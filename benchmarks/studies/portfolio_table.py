"""What candidates predict on a table: out of fold, and on held-out rows.

A table is cut to at most 10,000 training rows, a quarter of the rows is held out, and a candidate
is fitted in shared folds as a search does it. What came of it is kept in a folder, so that a study
can be run in pieces and only what is missing is measured.
"""

from __future__ import annotations

import json
import time
import warnings
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import TEST_SHARE, TableInfo, cut_table, read_table
from benchmarks.studies.portfolio_pool import Maker

from committee.auto.columns import FeatureReader
from committee.auto.encoder import MatrixEncoder
from committee.auto.fold_members import FoldData
from committee.auto.folds import Splits
from committee.auto.ledger import MICRO
from committee.auto.portfolio import FEATURES, MATRIX, Size
from committee.auto.runs import begin_run
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable

MOST_ROWS = 10_000  # of the training part
MOST_UNITS = 25.0  # of one candidate
_SMALL = 3_000  # up to so many rows eight folds, above five


@dataclass(frozen=True, eq=False)
class Problem:
    """A table that was read, cut and put into folds."""

    name: str
    seed: int
    size: Size
    fold_data: FoldData
    views: dict[str, Any]  # of the held-out rows
    y: Any
    y_test: Any


def pose(info: TableInfo, seed: int, most_rows: int = MOST_ROWS) -> Problem:
    """Return one cut of a table, ready for candidates."""
    from sklearn.model_selection import KFold, StratifiedKFold

    X_train, X_test, y_train, y_test = cut(info, seed, most_rows)
    if info.is_classification:
        labels, y = np.unique(y_train, return_inverse=True)
        known = np.isin(y_test, labels)
        X_test, codes = X_test[known], np.searchsorted(labels, y_test[known])
    else:
        labels, y, codes = None, np.asarray(y_train, np.float64), np.asarray(y_test, np.float64)
    table, test = AnyTable(X_train), AnyTable(X_test)
    reader = FeatureReader.of(table.opened())
    features, test_features = reader.read(table.opened()), reader.read(test.opened())
    encoder = MatrixEncoder.of(features)
    matrix = encoder.apply(features)
    n_classes = 0 if labels is None else len(labels)
    size = Size(len(y), features.n_features, matrix.shape[1], n_classes)
    n_folds = 8 if len(y) <= _SMALL else 5
    kind: Any = StratifiedKFold if n_classes else KFold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        splits = list(kind(n_folds, shuffle=True, random_state=seed).split(matrix, y))
    fold_data = {
        reads: TrainingData(AnyTable(each), y, labels, None, 1, seed)
        for reads, each in ((FEATURES, features), (MATRIX, matrix))
    }
    views = {FEATURES: test_features, MATRIX: encoder.apply(test_features)}
    folds = FoldData(fold_data.__getitem__, Splits(splits), n_classes)
    return Problem(info.name, seed, size, folds, views, y, codes)


def cut(info: TableInfo, seed: int, most_rows: int) -> list[Any]:
    """Return training and held-out rows of a table, of large ones a part of the rows."""
    X, y = read_table(info)
    most = round(most_rows / (1 - TEST_SHARE))
    if len(y) > most:
        rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:most])
        X, y = X.iloc[rows], y[rows]
    if info.is_classification:  # classes of a row or two cannot be in both parts
        _, codes, counts = np.unique(y.astype(str), return_inverse=True, return_counts=True)
        keep = counts[codes] >= 4
        X, y = X[keep], y[keep]
    return cut_table(X, y, info, seed)


def fit(problem: Problem, name: str, maker: Maker) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return what was counted, and the predictions; None where it is not for such tables."""
    made = maker(problem.size)
    if made is None:
        return None
    candidate = replace(made, name=name)
    number = zlib.crc32(name.encode()) % 1000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        run = begin_run(problem.fold_data, candidate, number)
        while not run.is_done and run.used + run.cost <= MOST_UNITS * MICRO:
            run.step()
        if not run.is_usable:
            return None
        fold_member = run.fold_member()
        seconds = time.process_time() - begin
        begin = time.process_time()
        predicted = fold_member.output.predict(fold_member.member, problem.views[candidate.reads])
        latency = time.process_time() - begin
    units = run.used / MICRO
    size = problem.size
    first = fold_member.member.estimators[0]
    counted = {
        "table": problem.name,
        "seed": problem.seed,
        "candidate": name,
        "n_rows": size.n_rows,
        "n_features": size.n_features,
        "n_columns": size.n_columns,
        "n_classes": size.n_classes,
        "n_folds": len(problem.fold_data.splits),
        "n_rounds": getattr(first, "n_estimators_", 0),
        "tried": round(units / (candidate.cost * problem.fold_data.work)),
        "units": round(units, 4),
        "seconds": round(seconds, 4),
        "predict_seconds": round(latency, 4),
    }
    return counted, {
        "out_of_fold": fold_member.predictions.astype(np.float32),
        "test": np.asarray(predicted, np.float32),
    }


class Cache:
    """Predictions and counts of candidates, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: str, name: str) -> Path:
        """Return where a candidate of a cut of a table is kept."""
        words = "".join(c if c.isalnum() or c == "." else "_" for c in name)
        return self.folder / key / f"{words}.npz"

    def has(self, key: str, name: str) -> bool:
        """Tell whether it was measured, or found to be not for such tables."""
        return self.path(key, name).exists()

    def keep(
        self, key: str, name: str, found: tuple[dict[str, Any], dict[str, Any]] | None
    ) -> None:
        """Keep what was measured."""
        path = self.path(key, name)
        path.parent.mkdir(exist_ok=True)
        counted, arrays = found or ({}, {})
        part = path.with_suffix(".part.npz")
        np.savez(part, counted=np.array(json.dumps(counted)), **arrays)
        part.rename(path)

    def keep_truth(self, key: str, problem: Problem) -> None:
        """Keep the targets of a cut of a table."""
        path = self.path(key, "truth")
        path.parent.mkdir(exist_ok=True)
        n_classes = np.array(problem.size.n_classes)
        np.savez(path, y=problem.y, y_test=problem.y_test, n_classes=n_classes)

    def read(self, key: str, name: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return what was measured; None where there is nothing."""
        path = self.path(key, name)
        if not path.exists():
            return None
        with np.load(path) as stored:
            arrays = {each: stored[each] for each in stored.files if each != "counted"}
            counted = json.loads(str(stored["counted"])) if "counted" in stored.files else {}
        return counted, arrays
