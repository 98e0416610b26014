"""What `committee demo` does: train, compare honestly, explain, save, load, predict.

The table is read as pyarrow, which the `cli` extra brings; pandas is not needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from committee.datasets import load_penguins

N_REPEATS = 2
_LEAF: dict[str, Any] = {"min_samples_leaf": 5}  # the same trees on both sides


@dataclass(frozen=True, slots=True)
class Task:
    """One prediction problem on the penguins."""

    title: str
    X: Any  # pyarrow table for our trees
    cells: NDArray[Any]  # the same as an object array for scikit-learn
    y: NDArray[Any]
    score: Callable[[NDArray[Any], NDArray[Any]], float]
    score_name: str
    is_classification: bool

    @property
    def greater_is_better(self) -> bool:
        """Whether a high score is a good one."""
        return self.is_classification


@dataclass(frozen=True, slots=True)
class Contestant:
    """One learner of the leaderboard."""

    name: str
    preparation: str
    make: Callable[[], Any]
    reads_table: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """Scores of a contestant over all folds."""

    contestant: Contestant
    scores: NDArray[np.float64]
    fit_seconds: float

    @property
    def mean(self) -> float:
        """Mean score."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean over the folds."""
        return float(self.scores.std(ddof=1) / np.sqrt(len(self.scores)))


def run_demo(output: Path, *, seed: int, folds: int, quiet: bool) -> None:
    """Run the demo and save its model.

    Parameters
    ----------
    output : Path
        Where to save the model file.
    seed : int
        Seed of the cross-validation.
    folds : int
        Number of folds; the whole cross-validation is repeated with other folds.
    quiet : bool
        Print nothing.
    """
    import committee

    console = Console(quiet=quiet, highlight=False)
    species, mass = species_task(), mass_task()
    _introduce(console, species)
    tasks = [(species, classifiers(seed)), (mass, regressors(seed))]
    n_fits = sum(len(contestants) for _, contestants in tasks) * folds * N_REPEATS
    with _progress(quiet, n_fits) as advance:
        boards = [
            (task, cross_validate(task, contestants, folds, seed, advance))
            for task, contestants in tasks
        ]
    for task, results in boards:
        console.print(leaderboard(task, results))
    console.print(
        f"Mean ± standard error over {folds} folds x {N_REPEATS} repeats, "
        "on birds not trained on.\n"
        "Single trees have at least 5 birds a leaf; everything else is default.\n"
        "Folds share birds: a difference of two standard errors may still be noise."
    )

    model = committee.DecisionTreeClassifier(ccp_alpha=0.01, **_LEAF).fit(species.X, species.y)
    console.print("\n[bold]A pruned species tree in words[/bold] (ccp_alpha=0.01)")
    console.print(committee.export_text(model, decimals=1), markup=False, end="")
    committee.save(model, output)
    _use_saved_model(console, output, species)
    _what_next(console, output)


def species_task() -> Task:
    """Which species a bird belongs to."""
    X, y = load_penguins("species", backend="pyarrow")
    return Task(
        "Species of a penguin (classification)",
        X,
        _cells(X),
        y,
        lambda truth, predicted: 100 * float(np.mean(truth == predicted)),
        "accuracy, %",
        is_classification=True,
    )


def mass_task() -> Task:
    """How heavy a bird is."""
    X, y = load_penguins("body_mass_g", backend="pyarrow")
    return Task(
        "Body mass of a penguin (regression)",
        X,
        _cells(X),
        y,
        lambda truth, predicted: float(np.sqrt(np.mean((truth - predicted) ** 2))),
        "error (RMSE), g",
        is_classification=False,
    )


def classifiers(seed: int) -> list[Contestant]:
    """Return the contestants for the species."""
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import RandomForestClassifier as TheirForest
    from sklearn.tree import DecisionTreeClassifier as TheirTree

    from committee import (
        AdaBoostClassifier,
        DecisionTreeClassifier,
        GradientBoostingClassifier,
        RandomForestClassifier,
    )

    return [
        _ours("tree", lambda: DecisionTreeClassifier(**_LEAF)),
        _ours("forest", lambda: RandomForestClassifier(random_state=seed)),
        _ours("AdaBoost", AdaBoostClassifier),
        _ours("boosting", lambda: GradientBoostingClassifier(random_state=seed)),
        *_theirs(
            lambda: TheirTree(random_state=seed, **_LEAF),
            lambda: TheirForest(random_state=seed),
        ),
        Contestant("always the commonest species", "none", DummyClassifier),
    ]


def regressors(seed: int) -> list[Contestant]:
    """Return the contestants for the body mass."""
    from sklearn.dummy import DummyRegressor
    from sklearn.ensemble import RandomForestRegressor as TheirForest
    from sklearn.tree import DecisionTreeRegressor as TheirTree

    from committee import (
        AdaBoostRegressor,
        DecisionTreeRegressor,
        GradientBoostingRegressor,
        RandomForestRegressor,
    )

    return [
        _ours("tree", lambda: DecisionTreeRegressor(**_LEAF)),
        _ours("forest", lambda: RandomForestRegressor(random_state=seed)),
        _ours("AdaBoost", lambda: AdaBoostRegressor(random_state=seed)),
        _ours("boosting", lambda: GradientBoostingRegressor(random_state=seed)),
        *_theirs(
            lambda: TheirTree(random_state=seed, **_LEAF),
            lambda: TheirForest(random_state=seed),
        ),
        Contestant("always the mean", "none", DummyRegressor),
    ]


def cross_validate(
    task: Task,
    contestants: list[Contestant],
    folds: int,
    seed: int,
    advance: Callable[[], None],
) -> list[Result]:
    """Score every contestant on the same folds, best first."""
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    make_folds = RepeatedStratifiedKFold if task.is_classification else RepeatedKFold
    plan = make_folds(n_splits=folds, n_repeats=N_REPEATS, random_state=seed)
    splits = list(plan.split(task.y, task.y))
    results = []
    for contestant in contestants:
        scores, seconds = [], []
        for train, test in splits:
            X_train, X_test = (
                task.X.take(rows) if contestant.reads_table else task.cells[rows]
                for rows in (train, test)
            )
            start = time.perf_counter()
            model = contestant.make().fit(X_train, task.y[train])
            seconds.append(time.perf_counter() - start)
            scores.append(task.score(task.y[test], model.predict(X_test)))
            advance()
        results.append(Result(contestant, np.array(scores), float(np.median(seconds))))
    return sorted(results, key=lambda result: result.mean, reverse=task.greater_is_better)


def leaderboard(task: Task, results: list[Result]) -> Table:
    """Lay the results out as a table."""
    table = Table(title=task.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.add_column("model", no_wrap=True)
    table.add_column(task.score_name, justify="right", no_wrap=True)
    table.add_column("fit", justify="right", no_wrap=True)
    table.add_column("preparation needed", no_wrap=True)
    for result in results:
        contestant = result.contestant
        table.add_row(
            contestant.name,
            f"{result.mean:.1f} ± {result.standard_error:.1f}",
            f"{1000 * result.fit_seconds:.1f} ms",
            contestant.preparation,
            style="bold green" if contestant.reads_table else None,
        )
    return table


def _ours(name: str, make: Callable[[], Any]) -> Contestant:
    return Contestant(f"committee {name}", "none: raw table", make, reads_table=True)


def _theirs(tree: Callable[[], Any], forest: Callable[[], Any]) -> list[Contestant]:
    return [
        Contestant("scikit-learn tree", "impute, one-hot", lambda: _one_hot(tree())),
        Contestant("scikit-learn tree", "number the words", lambda: _ordinal(tree())),
        Contestant("scikit-learn forest", "number the words", lambda: _ordinal(forest())),
    ]


def _one_hot(tree: Any) -> Any:
    """Return the usual pipeline before scikit-learn's tree: impute, then one column a level."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    words = make_pipeline(
        SimpleImputer(missing_values=None, strategy="constant", fill_value="unknown"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    prepare = make_column_transformer(
        (words, _is_text), (SimpleImputer(strategy="median"), _is_number)
    )
    return make_pipeline(prepare, tree)


def _ordinal(tree: Any) -> Any:
    """Return the short pipeline: levels as numbers, missing values left to the tree."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    prepare = make_column_transformer((encoder, _is_text), remainder="passthrough")
    return make_pipeline(prepare, tree)


def _is_text(cells: NDArray[Any]) -> list[int]:
    return [i for i in range(cells.shape[1]) if any(isinstance(cell, str) for cell in cells[:, i])]


def _is_number(cells: NDArray[Any]) -> list[int]:
    text = set(_is_text(cells))
    return [i for i in range(cells.shape[1]) if i not in text]


def _cells(X: Any) -> NDArray[Any]:
    """Return a pyarrow table as objects: missing is NaN in numbers and None in text."""
    columns = []
    for column in X.columns:
        values = column.to_pylist()
        is_text = any(isinstance(value, str) for value in values)
        columns.append([np.nan if v is None and not is_text else v for v in values])
    return np.array(columns, dtype=object).T


def _introduce(console: Console, task: Task) -> None:
    n_missing = sum(column.null_count for column in task.X.columns)
    console.print(
        f"[bold]Palmer penguins[/bold]: {task.X.num_rows} birds, {task.X.num_columns} columns, "
        f"two of them text, {n_missing} cells missing.\n"
    )


@contextmanager
def _progress(quiet: bool, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on a terminal; nothing elsewhere."""
    console = Console(stderr=True)
    columns = (
        TextColumn("cross-validation"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        bar = progress.add_task("", total=total)
        yield lambda: progress.advance(bar)


def _use_saved_model(console: Console, output: Path, task: Task) -> None:
    """Load the model again and predict a bird with a missing value and an unseen island."""
    import pyarrow as pa

    import committee

    model = committee.load(output)
    size = output.stat().st_size
    console.print(f"\nSaved to [bold]{output}[/bold] ({size:,} bytes) and loaded again.")
    bird = {
        "island": "Deception",
        "bill_length_mm": 48.0,
        "bill_depth_mm": None,
        "flipper_length_mm": 221.0,
        "body_mass_g": None,
        "sex": None,
        "year": 2009,
    }
    row = pa.Table.from_pylist([bird], schema=task.X.schema)
    probability = model.predict_proba(row)[0]
    best = int(probability.argmax())
    console.print(
        "A bird on an island never seen, not weighed, bill depth and sex unknown:\n"
        f"  {model.classes_[best]} with probability {probability[best]:.2f}"
    )


def _what_next(console: Console, output: Path) -> None:
    console.print("\n[bold]What to try next[/bold] (in Python)")
    console.print(
        "  import committee\n"
        f"  model = committee.load({str(output)!r})\n"
        '  print(committee.export_rules(model, target_name="species"))\n'
        "  committee.plot_tree(model)      # pip install 'committee[plot]'\n"
        "  committee.GradientBoostingClassifier().fit(your_table, your_target)",
        markup=False,
    )
