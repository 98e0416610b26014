"""Tables and calls that go wrong in practice: who works, who refuses in words, who errs in silence.

    python -m benchmarks.studies.hard_cases            # with the peers that are installed
    python -m benchmarks.studies.hard_cases --only ours

A case is a call and what is right: to work (then a check decides), to refuse, or either. An error
refuses if it is a ValueError or TypeError (or the library's own) with words about the input; other
errors, crashes and time limits are neither. Each case runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RESULTS = Path(__file__).resolve().parents[1] / "results" / "hard_cases.json"
SECONDS = 60
WORK, REFUSE = "works", "refuses"
EITHER = f"{WORK} or {REFUSE}"
# Words of errors that speak of an array's inside, and not of what was given.
OBSCURE = ("NoneType", "object has no attribute", "index out of", "list index", "cannot unpack")


@dataclass(frozen=True)
class Case:
    """A call, and what is right; the call returns whether its outcome is."""

    words: str
    right: str
    call: Callable[[Callable[..., Any]], bool]


def rows(n_rows: int = 200, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    return X, (X["a"] + 0.1 * rng.normal(size=n_rows) > 0).to_numpy().astype(int)


def learns(model: Any, X: Any, y: Any, weights: Any = None) -> bool:
    """Whether a model fits rows that are easy to tell apart."""
    model.fit(X, y) if weights is None else model.fit(X, y, sample_weight=weights)
    return bool((np.asarray(model.predict(X)).ravel() == np.asarray(y)).mean() > 0.9)


def with_column(name: str, values: Any) -> pd.DataFrame:
    X, _ = rows(len(values))
    return X.assign(**{name: values})


LEVELS = np.array(["red", "green", "blue"])


def text_column(make: Callable[..., Any], kind: str) -> bool:
    """Return whether a target is learnt that depends on a text column only."""
    codes = np.random.default_rng(1).integers(0, 3, 300)
    X = pd.DataFrame({"x": np.zeros(300), "colour": LEVELS[codes]})
    X["colour"] = X["colour"].astype(kind)
    return learns(make(), X, (codes == 1).astype(int))


def dates(make: Callable[..., Any]) -> bool:
    days = np.random.default_rng(1).integers(0, 3000, 300)
    X = pd.DataFrame({"day": pd.Timestamp("2015-01-01") + pd.to_timedelta(days, unit="D")})
    return learns(make(), X, (days > 1500).astype(int))


def gaps(make: Callable[..., Any], dtype: str) -> bool:
    numbers = pd.array(np.random.default_rng(1).integers(0, 9, 300), dtype=dtype)
    numbers[::3] = pd.NA
    y = np.where(pd.isna(numbers), 1, (numbers.to_numpy(float, na_value=0) > 4).astype(int))
    return learns(make(), pd.DataFrame({"n": numbers, "x": 0.0}), y)


def infinities(make: Callable[..., Any]) -> bool:
    X, y = rows()
    X.loc[y == 1, "a"] = np.inf
    return learns(make(), X, y)


def large_numbers(make: Callable[..., Any]) -> bool:
    """Numbers that differ in the tenth digit, where single precision ends after seven."""
    codes = np.random.default_rng(0).integers(0, 2, 200)
    return learns(make(), pd.DataFrame({"n": 1e9 + codes.astype(float)}), codes)


def whole_numbers(make: Callable[..., Any]) -> bool:
    codes = np.random.default_rng(0).integers(0, 2, 200)
    return learns(make(), pd.DataFrame({"id": 2**60 + codes}), codes)


def other_order(make: Callable[..., Any]) -> bool:
    X, y = rows()
    model = make().fit(X, y)
    return bool((model.predict(X[["c", "b", "a"]]) == model.predict(X)).all())


def missing_column(make: Callable[..., Any]) -> bool:
    X, y = rows()
    make().fit(X, y).predict(X[["a", "b"]])
    return False


def renamed_column(make: Callable[..., Any]) -> bool:
    X, y = rows()
    make().fit(X, y).predict(X.rename(columns={"a": "z"}))
    return False


def new_level(make: Callable[..., Any]) -> bool:
    codes = np.random.default_rng(1).integers(0, 3, 300)
    X = pd.DataFrame({"x": np.arange(300.0), "colour": pd.Categorical(LEVELS[codes])})
    model = make().fit(X, (codes == 1).astype(int))
    new = pd.DataFrame({"x": [1.0], "colour": pd.Categorical(["pink"])})
    return len(model.predict(new)) == 1


def levels_in_other_order(make: Callable[..., Any]) -> bool:
    """Predict the same text in categories that are numbered differently."""
    codes = np.random.default_rng(1).integers(0, 3, 300)
    X = pd.DataFrame({"x": np.zeros(300), "colour": pd.Categorical(LEVELS[codes], LEVELS)})
    y = (codes == 1).astype(int)
    model = make().fit(X, y)
    X["colour"] = pd.Categorical(LEVELS[codes], LEVELS[::-1])
    return bool((np.asarray(model.predict(X)) == y).mean() > 0.9)


def gaps_at_predict(make: Callable[..., Any]) -> bool:
    X, y = rows()
    model = make().fit(X, y)
    X.loc[:5, "a"] = np.nan
    return bool(np.isin(model.predict(X), [0, 1]).all())


def refuses_fit(X: Any, y: Any, weights: Any = None) -> Callable[[Callable[..., Any]], bool]:
    def call(make: Callable[..., Any]) -> bool:
        model = make()
        model.fit(X, y) if weights is None else model.fit(X, y, sample_weight=weights)
        return False

    return call


def one_class(make: Callable[..., Any]) -> bool:
    X, y = rows()
    return bool((np.asarray(make().fit(X, np.ones_like(y)).predict(X)) == 1).all())


def labels(make: Callable[..., Any], names: list[Any]) -> bool:
    X, y = rows()
    return learns(make(), X, np.array(names, object if isinstance(names[0], str) else None)[y])


def weight_zero(make: Callable[..., Any]) -> bool:
    """Rows of weight zero with labels the other way round."""
    X, y = rows()
    both = pd.concat([X, X], ignore_index=True)
    weights = np.r_[np.ones(200), np.zeros(200)]
    model = make().fit(both, np.r_[y, 1 - y], sample_weight=weights)
    return bool((np.asarray(model.predict(X)) == y).mean() > 0.9)


def class_without_weight(make: Callable[..., Any]) -> bool:
    X, y = rows()
    labels = np.where(np.arange(200) < 20, 2, y)
    model = make().fit(X, labels, sample_weight=(labels < 2).astype(float))
    return bool((np.asarray(model.predict(X)).ravel() < 2).all())


def duplicate_names(make: Callable[..., Any]) -> bool:
    X, y = rows()
    X.columns = ["a", "a", "c"]
    return learns(make(), X, y)


def odd_names(make: Callable[..., Any]) -> bool:
    X, y = rows()
    X.columns = ["a [m]", "b<2", 'c "x", {y}: é']
    return learns(make(), X, y)


def sparse_rows(make: Callable[..., Any]) -> bool:
    from scipy.sparse import csr_array

    X, y = rows()
    return learns(make(), csr_array(X.to_numpy()), y)


def empty_column(make: Callable[..., Any]) -> bool:
    X, y = rows()
    return learns(make(), X.assign(gone=np.nan), y)


def text_of_numbers(make: Callable[..., Any]) -> bool:
    X, y = rows()
    X["a"] = X["a"].map("{:.4f}".format)
    return learns(make(), X, y)


def polars_frame(make: Callable[..., Any]) -> bool:
    import polars as pl

    X, y = rows()
    return learns(make(), pl.from_pandas(X), y)


def truths(make: Callable[..., Any]) -> bool:
    X, y = rows()
    return learns(make(), X.assign(t=y == 1, a=0.0), y)


def threads(make: Callable[..., Any]) -> bool:
    X, y = rows(2000)
    one, two = (make(n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 2))
    return bool((one == two).all())


def failed_fit(make: Callable[..., Any]) -> bool:
    """Return whether a fit that fails leaves the fitted model as it was."""
    X, y = rows()
    model = make().fit(X, y)
    before = model.predict_proba(X)
    try:
        model.fit(X, y[:-1])
    except Exception:
        return bool((model.predict_proba(X) == before).all())
    return False


def permuted_rows(make: Callable[..., Any]) -> bool:
    X, y = rows(60)
    order = np.random.default_rng(0).permutation(60)
    model = make().fit(X, y)
    return bool((model.predict_proba(X.iloc[order]) == model.predict_proba(X)[order]).all())


def one_row_at_a_time(make: Callable[..., Any]) -> bool:
    X, y = rows(60)
    model = make().fit(X, y)
    alone = np.concatenate([model.predict_proba(X[k : k + 1]) for k in range(60)])
    return bool((alone == model.predict_proba(X)).all())


def cases() -> Iterator[Case]:
    X, y = rows()
    half = y + np.linspace(0, 0.5, 200)
    hidden = np.where(np.arange(200) == 7, np.nan, y)
    yield Case("a column of text", WORK, lambda make: text_column(make, "object"))
    yield Case("a column of categories", WORK, lambda make: text_column(make, "category"))
    yield Case("a column of dates", WORK, dates)
    yield Case("nullable integers with gaps", WORK, lambda make: gaps(make, "Int64"))
    yield Case("nullable floats with gaps", WORK, lambda make: gaps(make, "Float64"))
    yield Case("truth values", WORK, truths)
    yield Case("a column without a value", WORK, empty_column)
    yield Case("numbers in text", WORK, text_of_numbers)
    yield Case("infinite numbers", EITHER, infinities)
    yield Case("numbers that differ in the tenth digit", WORK, large_numbers)
    yield Case("integers beyond 2^53", WORK, whole_numbers)
    yield Case("a sparse matrix", WORK, sparse_rows)
    yield Case("a frame of polars", WORK, polars_frame)
    yield Case("names with brackets, quotes, commas", WORK, odd_names)
    yield Case("two columns of one name", EITHER, duplicate_names)
    yield Case("columns in another order at predict", EITHER, other_order)
    yield Case("a column that is not there at predict", REFUSE, missing_column)
    yield Case("a column of another name at predict", REFUSE, renamed_column)
    yield Case("a new level at predict", WORK, new_level)
    yield Case("levels numbered otherwise at predict", WORK, levels_in_other_order)
    yield Case("gaps at predict, none in training", WORK, gaps_at_predict)
    yield Case("labels of text", WORK, lambda make: labels(make, ["no", "yes"]))
    yield Case("labels -1 and 7", WORK, lambda make: labels(make, [-1, 7]))
    yield Case("one class only", EITHER, one_class)
    yield Case("a target with fractions", REFUSE, refuses_fit(X, half))
    yield Case("a missing label", REFUSE, refuses_fit(X, hidden))
    yield Case("fewer labels than rows", REFUSE, refuses_fit(X, y[:-1]))
    yield Case("no rows", REFUSE, refuses_fit(X[:0], y[:0]))
    yield Case("no columns", REFUSE, refuses_fit(X[[]], y))
    yield Case("a negative weight", REFUSE, refuses_fit(X, y, np.where(y, 1.0, -1.0)))
    yield Case("a missing weight", REFUSE, refuses_fit(X, y, np.where(y, 1.0, np.nan)))
    yield Case("weights of zero only", REFUSE, refuses_fit(X, y, np.zeros(200)))
    yield Case("fewer weights than rows", REFUSE, refuses_fit(X, y, np.ones(199)))
    yield Case("rows of weight zero are absent", WORK, weight_zero)
    yield Case("a class of weight zero", WORK, class_without_weight)
    yield Case("the same model for one and two threads", WORK, threads)
    yield Case("a failed fit leaves the old model", WORK, failed_fit)
    yield Case("predictions do not depend on the order of rows", WORK, permuted_rows)
    yield Case("nor on how many are predicted at once", WORK, one_row_at_a_time)


# ---- libraries ----


def make_boosting(**options: Any) -> Any:
    from committee import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=50, random_state=0, **options)


def make_forest(**options: Any) -> Any:
    from committee import RandomForestClassifier

    return RandomForestClassifier(50, random_state=0, **options)


def make_sklearn_forest(**options: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(50, random_state=0, **options)


class HistGradientBoosting:
    """scikit-learn's, whose threads are those of OpenMP."""

    def __new__(cls, n_jobs: int | None = None) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        if n_jobs is not None:
            threadpool_limits(n_jobs)
        return HistGradientBoostingClassifier(
            max_iter=50, random_state=0, categorical_features="from_dtype", min_samples_leaf=5
        )


def make_lightgbm(**options: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=50, random_state=0, verbose=-1, **options)


def make_xgboost(**options: Any) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=50, random_state=0, enable_categorical=True, **options)


def make_catboost(n_jobs: int | None = None) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        n_estimators=50, random_seed=0, verbose=0, allow_writing_files=False, thread_count=n_jobs
    )


LIBRARIES: dict[str, Callable[..., Any]] = {
    "committee, boosting": make_boosting,
    "committee, forest": make_forest,
    "scikit-learn, forest": make_sklearn_forest,
    "scikit-learn, HistGradientBoosting": HistGradientBoosting,
    "LightGBM": make_lightgbm,
    "XGBoost": make_xgboost,
    "CatBoost": make_catboost,
}


def outcome(number: int, library: str) -> str:
    """Return what comes of a case: works, refuses, is wrong, or fails obscurely."""
    case = list(cases())[number]
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            if case.call(LIBRARIES[library]):
                return WORK
        return "wrong, with a warning" if warned else "wrong in silence"
    except Exception as error:
        libraries = ("lightgbm", "xgboost", "_catboost", "catboost", "sklearn", "committee")
        is_theirs = type(error).__module__.split(".")[0] in libraries
        known = isinstance(error, ValueError | TypeError) or is_theirs
        clear = known and not any(words in str(error) for words in OBSCURE)
        return REFUSE if clear else f"fails: {type(error).__name__}"


def report_outcome(number: int, library: str, queue: Any) -> None:
    queue.put(outcome(number, library))


def in_process(number: int, library: str) -> str:
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=report_outcome, args=(number, library, queue))
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        return "does not end"
    return queue.get() if process.exitcode == 0 else f"crashes ({process.exitcode})"


def is_right(case: Case, found: str) -> bool:
    return found in case.right.split(" or ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["ours"], help="without peers")
    chosen = parser.parse_args()
    names = [name for name in LIBRARIES if not chosen.only or name.startswith("committee")]
    found: dict[str, dict[str, str]] = {}
    for name in names:
        LIBRARIES[name]()  # imported once: processes of cases are forked
    for number, case in enumerate(cases()):
        found[case.words] = {name: in_process(number, name) for name in names}
        marks = [
            f"{text}{'' if is_right(case, text) else ' (!)'}" for text in found[case.words].values()
        ]
        print(f"| {case.words} | {case.right} | {' | '.join(marks)} |", flush=True)
    right = {
        name: sum(is_right(case, found[case.words][name]) for case in cases()) for name in names
    }
    print(right)
    if not chosen.only:
        RESULTS.write_text(json.dumps({"right": right, "found": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
