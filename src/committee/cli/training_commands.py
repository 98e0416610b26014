"""The commands that train: `train` and `demo`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from committee.cli.endings import clear_endings
from committee.cli.options import (
    AsJson,
    DateOrder,
    Decimal,
    Delimiter,
    Encoding,
    Files,
    Missing,
    NoHeader,
    Quiet,
    check_output,
    csv_options,
)

_Report = Annotated[
    Path | None,
    typer.Option(
        "--report", "-r", help="Where to write a report (HTML).", callback=check_output("--report")
    ),
]
_Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of all draws.")]


def add_training_commands(app: typer.Typer) -> None:
    """Add `train` and `demo`."""
    app.command()(train)
    app.command()(demo)


def train(
    tables: Files,
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Where to save the model.", callback=check_output("--out")
        ),
    ] = Path("model.committee"),
    report: _Report = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds that the command may take.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="Units of work; the same model on any machine.")
    ] = None,
    quality: Annotated[str, typer.Option(help="fast, good or best.")] = "good",
    task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
    scoring: Annotated[str | None, typer.Option(help="A scorer of scikit-learn.")] = None,
    positive: Annotated[str | None, typer.Option(help="The class of interest, of two.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat.")] = None,
    group: Annotated[
        str | None, typer.Option(help="Column whose equal values belong together in folds.")
    ] = None,
    time_order: Annotated[
        str | None, typer.Option(help="Column with the time: later rows are never learnt from.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Column with weights of rows.")] = None,
    seed: _Seed = 0,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores if left out.")] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    date_order: DateOrder = None,
    no_header: NoHeader = False,
    missing: Missing = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a committee on a table and save it."""
    begin = time.monotonic()
    with clear_endings():
        from committee.auto.ledger import counted_from
        from committee.cli.training import Order, run_training

        parameters = {
            "quality": quality,
            "budget": "auto" if budget is None else budget,
            "time_limit": time_limit,
            "scoring": scoring,
            "random_state": seed,
            "n_jobs": jobs,
        }
        options = csv_options(delimiter, decimal, encoding, date_order, no_header, missing)
        order = Order(
            tables,
            target,
            out,
            report,
            task,
            positive,
            tuple(ignore or ()),
            group,
            time_order,
            weight,
            options,
            parameters,
        )
        with counted_from(begin):
            code = run_training(order, as_json=json, is_quiet=quiet)
    raise typer.Exit(code)


def demo(
    folder: Annotated[
        Path,
        typer.Option("--folder", "-d", file_okay=False, exists=True, help="Where files go."),
    ] = Path("."),
    budget: Annotated[float, typer.Option(min=0.1, help="Units of work.")] = 6.0,
    seed: _Seed = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Try all of it on 344 penguins."""
    with clear_endings():
        from committee.cli.demo import run_demo

        code = run_demo(folder, budget, seed, as_json=json, is_quiet=quiet)
    raise typer.Exit(code)
