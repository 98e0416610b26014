"""Forests with other values of one parameter, beside scikit-learn's, on real tables.

    COMMITTEE_DATA=folder python -m benchmarks.studies.forest_parameters regression --seeds 3
    python -m benchmarks.studies.forest_parameters regression --render   # the table again

A question is a set of forests that differ from a base in one thing at a time. All of them learn
from the same rows: a part of the table and a seed are a resample, and losses are compared within
it. `ordinal` forests see categories as numbers, the places of levels in alphabetical order, which
is what scikit-learn's forests need; `raw` ones see the table as it is. What was measured is kept,
and only what is missing is measured. The test half is for reports: nothing is chosen by it.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import TableInfo, cut_table, list_tables, read_table
from benchmarks.harness.halves import HALVES, half_of

RESULTS = Path(__file__).resolve().parents[1] / "results" / "forest_parameters.json"
MOST_ROWS = 10_000  # of the training part, and of the test part

Entry = dict[str, Any]


@dataclass(frozen=True)
class Contestant:
    """A class by name, its parameters, and how it sees categories."""

    kind: str  # "RandomForest" or "ExtraTrees"
    params: dict[str, Any] = field(default_factory=dict)
    is_ordinal: bool = False
    is_sklearn: bool = False

    def make(self, is_classification: bool, seed: int) -> Any:
        """Return the estimator for a kind of target."""
        import sklearn.ensemble

        import committee

        library = sklearn.ensemble if self.is_sklearn else committee
        name = self.kind + ("Classifier" if is_classification else "Regressor")
        return getattr(library, name)(n_jobs=1, random_state=seed, **self.params)


def raw(kind: str, **params: Any) -> Contestant:
    """Return a forest of ours that sees categories."""
    return Contestant(kind, params)


def ordinal(kind: str, **params: Any) -> Contestant:
    """Return a forest of ours that sees categories as numbers."""
    return Contestant(kind, params, is_ordinal=True)


def peer(kind: str, **params: Any) -> Contestant:
    """Return a forest of scikit-learn, which sees categories as numbers."""
    return Contestant(kind, params, is_ordinal=True, is_sklearn=True)


@dataclass(frozen=True)
class Question:
    """Forests to compare, the first of them with all others, on which tables."""

    contestants: dict[str, Contestant]
    classes: bool = True
    numbers: bool = True
    only_categories: bool = False

    def covers(self, info: TableInfo, X: Any) -> bool:
        """Tell whether a table belongs to the question."""
        if not (self.classes if info.is_classification else self.numbers):
            return False
        return not self.only_categories or bool(_categories(X))


_RF, _ET = "RandomForest", "ExtraTrees"
_THIRD: dict[str, Any] = {"max_features": 1 / 3}

QUESTIONS = {
    "regression": Question(
        {
            "scikit-learn": peer(_RF),
            "ordinal": ordinal(_RF),
            "ordinal, exact": ordinal(_RF, split_finding="exact"),
            "raw": raw(_RF),
            "raw, exact": raw(_RF, split_finding="exact"),
            "raw, level_penalty=0": raw(_RF, level_penalty=0.0),
            "raw, level_penalty=10": raw(_RF, level_penalty=10.0),
            "scikit-learn, a third": peer(_RF, **_THIRD),
            "ordinal, a third": ordinal(_RF, **_THIRD),
            "raw, a third": raw(_RF, **_THIRD),
            "raw, half": raw(_RF, max_features=0.5),
        },
        classes=False,
    ),
    "max_features": Question(
        {
            "all": raw(_RF),
            "scikit-learn, all": peer(_RF),
            "half": raw(_RF, max_features=0.5),
            "a third": raw(_RF, **_THIRD),
        },
        classes=False,
    ),
    "level_penalty": Question(
        {
            "2": raw(_RF),
            "ordinal": ordinal(_RF),
            "scikit-learn": peer(_RF),
            "0": raw(_RF, level_penalty=0.0),
            "0.3": raw(_RF, level_penalty=0.3),
            "0.6": raw(_RF, level_penalty=0.6),
            "1": raw(_RF, level_penalty=1.0),
            "1.4": raw(_RF, level_penalty=1.4),
        },
        only_categories=True,
    ),
    "leaves": Question(
        {
            "1": raw(_RF),
            "scikit-learn": peer(_RF),
            "2": raw(_RF, min_samples_leaf=2),
            "3": raw(_RF, min_samples_leaf=3),
            "5": raw(_RF, min_samples_leaf=5),
            "10": raw(_RF, min_samples_leaf=10),
        },
        numbers=False,
    ),
    "leaves of extra-trees": Question(
        {
            "1": raw(_ET),
            "scikit-learn": peer(_ET),
            "2": raw(_ET, min_samples_leaf=2),
            "3": raw(_ET, min_samples_leaf=3),
            "5": raw(_ET, min_samples_leaf=5),
            "10": raw(_ET, min_samples_leaf=10),
        },
        numbers=False,
    ),
    "leaf_smoothing": Question(
        {
            "0": raw(_RF),
            "0.3": raw(_RF, leaf_smoothing=0.3),
            "2 rows": raw(_RF, min_samples_leaf=2),
        },
        numbers=False,
    ),
    "leaf_smoothing of extra-trees": Question(
        {
            "0": raw(_ET),
            "0.3": raw(_ET, leaf_smoothing=0.3),
            "2 rows": raw(_ET, min_samples_leaf=2),
        },
        numbers=False,
    ),
    "extra-trees": Question(
        {
            "scikit-learn": peer(_ET),
            "ordinal": ordinal(_ET),
            "ordinal, count_constant": ordinal(_ET, count_constant=True),
            "raw": raw(_ET),
            "raw, count_constant": raw(_ET, count_constant=True),
        },
        only_categories=True,
    ),
}


def _categories(X: Any) -> list[str]:
    return [name for name in X if not _is_number(X[name])]


def _is_number(column: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return bool(is_numeric_dtype(column) or is_bool_dtype(column))


def as_numbers(X_train: Any, X_test: Any) -> tuple[Any, Any]:
    """Return both parts with categories as places of training levels; unseen ones are missing."""
    from sklearn.preprocessing import OrdinalEncoder

    names = _categories(X_train)
    parts = [part.copy() for part in (X_train, X_test)]
    if names:
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        encoder.fit(X_train[names].astype(object))
        for part in parts:
            codes = encoder.transform(part[names].astype(object))
            for place, name in enumerate(names):
                part[name] = codes[:, place]
    first, second = (part.to_numpy(dtype=np.float64) for part in parts)
    return first, second


def losses(model: Any, X: Any, y: Any, is_classification: bool) -> dict[str, float]:
    """Return the loss on test rows; of classes also the Brier score and the error rate."""
    from sklearn.metrics import log_loss

    if not is_classification:
        return {"loss": float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))}
    shares = model.predict_proba(X)
    truth = (np.asarray(y)[:, None] == model.classes_[None, :]).astype(float)
    return {
        "loss": float(log_loss(y, shares, labels=model.classes_)),
        "brier": float(((shares - truth) ** 2).sum(axis=1).mean()),
        "error": float(1 - np.mean(model.classes_[shares.argmax(axis=1)] == np.asarray(y))),
    }


def measure(
    question: Question, info: TableInfo, X: Any, y: Any, seed: int, names: list[str]
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name and the losses of each forest on one resample."""
    X_train, X_test, y_train, y_test = (
        part[:MOST_ROWS] for part in cut_table(X, y, info, seed)
    )  # the parts are shuffled
    numbers = as_numbers(X_train, X_test)
    for name in names:
        contestant = question.contestants[name]
        train, test = numbers if contestant.is_ordinal else (X_train, X_test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            began = time.perf_counter()
            model = contestant.make(info.is_classification, seed).fit(train, y_train)
            seconds = time.perf_counter() - began
            found = losses(model, test, y_test, info.is_classification)
        yield (
            name,
            {key: float(f"{v:.6g}") for key, v in found.items()} | {"seconds": round(seconds, 2)},
        )


def run(name: str, half: str, n_seeds: int, tables: list[str]) -> None:
    """Measure what is missing of a question, and keep it."""
    question = QUESTIONS[name]
    entries = read_results()
    known = {(e["question"], e["table"], e["seed"], e["forest"]) for e in entries}
    infos = sorted(list_tables(10**7), key=lambda info: info.n_rows)
    for info in infos:
        if half_of(info.name) != half or (tables and info.name not in tables):
            continue
        X, y = read_table(info)
        if not question.covers(info, X):
            continue
        for seed in range(n_seeds):
            missing = [
                each for each in question.contestants if (name, info.name, seed, each) not in known
            ]
            began = time.perf_counter()
            for forest, found in measure(question, info, X, y, seed, missing):
                where = {"question": name, "table": info.name, "half": half, "seed": seed}
                entries.append(where | {"forest": forest} | found)
                write_results(entries)
            if missing:
                print(f"{info.name} {seed}: {time.perf_counter() - began:.1f} s", flush=True)


def read_results() -> list[Entry]:
    """Return what was measured before."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else []


def write_results(entries: list[Entry]) -> None:
    """Keep what was measured; an interrupted run loses nothing."""
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    whole = RESULTS.with_suffix(".part")
    whole.write_text(f"[\n{lines}\n]\n")
    whole.replace(RESULTS)


def render(entries: list[Entry], name: str, half: str, loss: str = "loss") -> str:
    """Return a table: losses of the first forest, and those of the others relative to them."""
    names = list(QUESTIONS[name].contestants)
    chosen = [e for e in entries if e["question"] == name and e["half"] == half and loss in e]
    found: dict[tuple[str, str], dict[int, float]] = {}
    for e in chosen:
        found.setdefault((e["table"], e["forest"]), {})[e["seed"]] = e[loss]
    tables = list(dict.fromkeys(e["table"] for e in chosen))
    lines = ["| table | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    rows = []
    for table in tables:
        base = found.get((table, names[0]), {})
        ratios = []
        for each in names:
            own = found.get((table, each), {})
            seeds = sorted(set(base) & set(own))
            ratios.append(np.mean([own[s] / base[s] for s in seeds]) if seeds else np.nan)
        rows.append(ratios)
        cells = [f"{np.mean(list(base.values())):.4g}"] + [f"{each:.3f}" for each in ratios[1:]]
        lines.append(f"| {table} | " + " | ".join(cells) + " |")
    means = np.exp(np.nanmean(np.log(np.array(rows)), axis=0))
    lines.append("| geometric mean | 1 | " + " | ".join(f"{each:.3f}" for each in means[1:]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("--half", choices=HALVES, default="tune")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--render", action="store_true", help="from what was measured")
    parser.add_argument("--loss", choices=("loss", "brier"), default="loss")
    options = parser.parse_args()
    if not options.render:
        run(options.question, options.half, options.seeds, options.tables)
    print(render(read_results(), options.question, options.half, options.loss))


if __name__ == "__main__":
    main()
