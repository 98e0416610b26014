"""What a committee could do besides, and whether it pays: on the tables that defaults are tuned on.

    COMMITTEE_DATA=tables python -m benchmarks.studies.beyond measure folder --minutes 8
    python -m benchmarks.studies.beyond learn folder

The portfolio is fitted in shared folds, as a search does it, and a second time in folds dealt by
another seed. Besides: a second layer, which learns from features and the out-of-fold predictions of
the first; leaves of boosting estimated anew on all rows, when the structure of the trees is known;
and extra-trees whose leaves are drawn to their parents.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.datasets import TableInfo
from benchmarks.studies.portfolio import n_cuts, tune_tables
from benchmarks.studies.portfolio_order import Cut, by_table, loss_ratio, read_all, standard_error
from benchmarks.studies.portfolio_table import MOST_UNITS, Cache, Problem, pose
from numpy.typing import NDArray
from sklearn.base import clone

from committee.auto.fold_members import FoldMember
from committee.auto.folds import Splits
from committee.auto.ledger import MICRO
from committee.auto.portfolio import FEATURES, Candidate, portfolio
from committee.auto.runs import begin_run
from committee.boosting.fit import BoostingModel
from committee.losses.objective import Objective
from committee.members.training import TrainingData
from committee.tables.native_table import AnyTable
from committee.tables.source import Columns

RESULTS = Path(__file__).resolve().parents[1] / "results" / "beyond.json"
MOST_ROWS = 4_000  # of the training part
AGAIN, ANEW, SMOOTH, SECOND = " (again)", " (leaves anew)", " (smooth)", "second layer"
_LEAST = 1e-6  # of a probability, before its logarithm is a feature
_SMOOTHING = 0.3

Floats = NDArray[np.float64]


def dealt_again(problem: Problem) -> Problem:
    """Return the same rows in folds of another seed."""
    from sklearn.model_selection import KFold, StratifiedKFold

    folds = problem.fold_data
    kind: Any = StratifiedKFold if problem.size.n_classes else KFold
    dealt = kind(len(folds.splits), shuffle=True, random_state=1000 + problem.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        splits = list(dealt.split(np.zeros((len(problem.y), 1)), problem.y))
    return replace(problem, fold_data=replace(folds, folds=Splits(splits)))


def fitted(problem: Problem, candidate: Candidate, number: int) -> tuple[FoldMember, float]:
    """Return a candidate fitted to all folds, and its CPU seconds."""
    begin = time.process_time()
    run = begin_run(problem.fold_data, candidate, number)
    while not run.is_done and run.used + run.cost <= MOST_UNITS * MICRO:
        run.step()
    return run.fold_member(), time.process_time() - begin


def kept(cache: Cache, key: str, name: str, inside: Any, outside: Any, seconds: float) -> None:
    """Keep predictions out of fold and of held-out rows."""
    arrays = {"out_of_fold": inside.astype(np.float32), "test": np.asarray(outside, np.float32)}
    cache.keep(key, name, ({"candidate": name, "seconds": round(seconds, 4)}, arrays))


# --- leaves anew ----------------------------------------------------------------------------------


def replayed(problem: Problem, member: FoldMember) -> Floats:
    """Return predictions of held-out rows by models whose leaves are estimated on all rows."""
    form = problem.fold_data.form(FEATURES)
    y = form.y
    models = [
        with_leaves_anew(model, form.table.native, y, problem.views[FEATURES])
        for model in member.models
    ]
    return np.mean(models, axis=0)


def with_leaves_anew(model: Any, rows: Any, y: Any, new_rows: Any) -> Floats:
    """Return what a model predicts for new rows, its leaves being estimated on the rows given.

    Round by round: a leaf is the Newton step of the rows that are in it, with the scores of the
    rounds before. On the rows that a model was fitted to, without draws, its own leaves come out.
    """
    chosen, kind = model.chosen_params_, type(model).__name__
    codes = np.searchsorted(model.classes_, y) if hasattr(model, "classes_") else np.asarray(y)
    table, new_table = (model._sum.read(each, kind) for each in (rows, new_rows))
    objective = Objective((model._loss,), codes[:, None], None)
    scores = np.asfortranarray(np.tile(model._start.constants, (len(y), 1)))
    new = np.asfortranarray(np.tile(model._start.constants, (new_table.n_rows, 1)))
    params = model.get_params() | chosen
    places = [forest.apply(table, leaf_numbers=True) for forest in model._sum.forests]
    new_places = [forest.apply(new_table, leaf_numbers=True) for forest in model._sum.forests]
    penalties = params["l1_regularization"], params["l2_regularization"]
    n_columns = scores.shape[1]
    for number in range(model._sum.n_rounds):
        pairs = [
            (g.copy(), np.ones(len(g)) if h is None else h.copy())
            for g, h in objective.gradients(scores)
        ]
        for column, (gradient, hessian) in enumerate(pairs):
            own, other = places[column][:, number], new_places[column][:, number]
            n_leaves = int(max(own.max(initial=0), other.max(initial=0))) + 1
            slope = np.bincount(own, gradient, minlength=n_leaves)
            curve = np.bincount(own, hessian, minlength=n_leaves)
            values = _steps(slope, curve, *penalties) * params["learning_rate"]
            scores[:, column] += values[own]
            new[:, column] += values[other]
    if not hasattr(model, "classes_"):
        return new
    found: Floats = model._loss.probabilities(new if n_columns > 1 else new[:, 0])
    return found


def _steps(slope: Floats, curve: Floats, l1: float, l2: float) -> Floats:
    shrunk = np.sign(slope) * np.maximum(np.abs(slope) - l1, 0.0)
    return -shrunk / np.maximum(curve + l2, 1e-12)


# --- the second layer -----------------------------------------------------------------------------


def second_layer(problem: Problem, first: dict[str, tuple[Any, Any]]) -> tuple[Any, Any, float]:
    """Return predictions of boosting on the features and the predictions of the first layer."""
    n_classes = problem.size.n_classes
    inside = np.column_stack([_as_features(each, n_classes) for each, _ in first.values()])
    outside = np.column_stack([_as_features(each, n_classes) for _, each in first.values()])
    form = problem.fold_data.form(FEATURES)
    wide = _with_columns(form.table.opened(), inside)
    views = {FEATURES: _with_columns(problem.views[FEATURES], outside)}
    data = TrainingData(AnyTable(wide), form.y, form.labels, None, 1, problem.seed)
    folds = replace(problem.fold_data, make={FEATURES: data}.__getitem__)
    size = replace(problem.size, n_features=wide.n_features)
    layer = replace(problem, fold_data=folds, views=views, size=size)
    candidate = next(portfolio(size))
    member, seconds = fitted(layer, candidate, 99)
    predicted = member.output.predict(member.member, views[FEATURES])
    return member.predictions, predicted, seconds


def _as_features(predicted: Any, n_classes: int) -> Floats:
    if not n_classes:
        return np.asarray(predicted, np.float64)
    logs = np.log(np.maximum(np.asarray(predicted, np.float64), _LEAST))
    return logs[:, 1:] - logs[:, :1]


def _with_columns(source: Any, more: Floats) -> Columns:
    from committee.tables.column import Column

    n_own = source.n_features
    names = (
        None if source.names is None else (*source.names, *(f"+{k}" for k in range(more.shape[1])))
    )

    def read(position: int, where: str) -> Column:
        if position < n_own:
            return source.column(position)
        return Column("number", np.ascontiguousarray(more[:, position - n_own]))

    return Columns(source.n_rows, n_own + more.shape[1], names, read)


# --- measuring ------------------------------------------------------------------------------------


def measure(cache: Cache, minutes: float, tables: list[str]) -> None:
    """Fit what is missing, until the time is up."""
    began = time.monotonic()
    for info in tune_tables():
        if tables and info.name not in tables:
            continue
        for seed in range(n_cuts(info)):
            if time.monotonic() - began > 60 * minutes:
                print("the time is up", flush=True)
                return
            key = f"{info.name}-{seed}"
            if not cache.has(key, SECOND):
                spent = measure_one(cache, key, info, seed)
                print(key, {name: round(each, 1) for name, each in spent.items()}, flush=True)


def measure_one(cache: Cache, key: str, info: TableInfo, seed: int) -> dict[str, float]:
    """Fit all to one cut of a table."""
    problem = pose(info, seed, MOST_ROWS)
    cache.keep_truth(key, problem)
    spent: dict[str, float] = {}
    first: dict[str, tuple[Any, Any]] = {}

    def keep(name: str, inside: Any, outside: Any, seconds: float) -> None:
        kept(cache, key, name, inside, outside, seconds)
        spent[name] = seconds

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = dealt_again(problem)
        for number, candidate in enumerate(portfolio(problem.size)):
            name, view = candidate.name, problem.views[candidate.reads]
            member, seconds = fitted(problem, candidate, number)
            outside = member.output.predict(member.member, view)
            keep(name, member.predictions, outside, seconds)
            first[name] = member.predictions, outside
            if isinstance(candidate.estimator, BoostingModel):
                begin = time.process_time()
                anew = replayed(problem, member)
                keep(name + ANEW, member.predictions, anew, time.process_time() - begin)
            if name == "extra-trees" and problem.size.n_classes:
                model = clone(candidate.estimator).set_params(leaf_smoothing=_SMOOTHING)
                smooth, seconds = fitted(problem, replace(candidate, estimator=model), number)
                outside = smooth.output.predict(smooth.member, view)
                keep(name + SMOOTH, smooth.predictions, outside, seconds)
            other, seconds = fitted(again, candidate, number)
            keep(name + AGAIN, other.predictions, other.output.predict(other.member, view), seconds)
        keep(SECOND, *second_layer(problem, first))
    return spent


# --- what it is worth -----------------------------------------------------------------------------

Change = Callable[[Cut, list[str]], Cut | None]


def learn(cache: Cache) -> dict[str, Any]:
    """Return by how much the loss of the committee changes with each of these."""
    cuts = read_all(cache)
    found = {
        "tables": sorted({cut.table for cut in cuts}),
        "most_rows": MOST_ROWS,
        "second layer": entry(cuts, lambda cut, names: cut, [SECOND]),
        "leaves anew": entry(cuts, _with_test(ANEW)),
        "two sets of folds": entry(cuts, _both_folds),
        "extra-trees, smooth leaves": entry(cuts, _smooth),
    }
    weights = [cut.committee([*_base(cut), SECOND])[1].get(SECOND, 0.0) for cut in cuts]
    found["second layer"]["a member on"] = sum(
        weight > 0 for weight in by_table(cuts, weights).values()
    )
    times = [
        cut.seconds(name + ANEW) / cut.seconds(name)
        for cut in cuts
        for name in _base(cut)
        if name + ANEW in cut.counted
    ]
    found["leaves anew"]["seconds"] = round(float(np.median(times)), 2)
    return found


def entry(cuts: Sequence[Cut], change: Change, more: Sequence[str] = ()) -> dict[str, Any]:
    """Return by how much the loss is larger with a change; negative is better."""
    some, values = [], []
    for cut in cuts:
        names = _base(cut)
        changed = change(cut, names)
        if changed is not None:
            loss = changed.committee([*names, *more])[0]
            values.append(loss_ratio(cut, loss, cut.committee(names)[0]))
            some.append(cut)
    by = by_table(some, values)
    each = list(by.values())
    return {
        "loss": round(float(np.mean(each)), 4),
        "standard_error": round(standard_error(each), 4),
        "median": round(float(np.median(each)), 4),
        "lower": sum(value < 0 for value in each),
        "tables": len(each),
        "by table": {table: round(value, 4) for table, value in by.items()},
    }


def _base(cut: Cut) -> list[str]:
    """Return the candidates of the portfolio."""
    return [name for name in cut.counted if "(" not in name and name != SECOND]


def _with_test(ending: str) -> Change:
    def change(cut: Cut, names: list[str]) -> Cut:
        test = {name: cut.test.get(name + ending, cut.test[name]) for name in names}
        return replace(cut, test=test, known={})

    return change


def _both_folds(cut: Cut, names: list[str]) -> Cut:
    inside = {name: (cut.out_of_fold[name] + cut.out_of_fold[name + AGAIN]) / 2 for name in names}
    outside = {name: (cut.test[name] + cut.test[name + AGAIN]) / 2 for name in names}
    return replace(cut, out_of_fold=inside, test=outside, known={})


def _smooth(cut: Cut, names: list[str]) -> Cut | None:
    name = "extra-trees"
    if name + SMOOTH not in cut.counted:
        return None
    inside = cut.out_of_fold | {name: cut.out_of_fold[name + SMOOTH]}
    return replace(
        cut, out_of_fold=inside, test=cut.test | {name: cut.test[name + SMOOTH]}, known={}
    )


def main() -> None:
    """Measure or learn."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("action", choices=("measure", "learn"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--tables", nargs="*", default=[])
    options = parser.parse_args()
    cache = Cache(options.folder)
    if options.action == "measure":
        measure(cache, options.minutes, options.tables)
        return
    RESULTS.write_text(json.dumps(learn(cache), indent=1) + "\n")


if __name__ == "__main__":
    main()
