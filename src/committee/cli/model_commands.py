"""The commands that use a trained model: `predict`, `evaluate`, `explain`, `inspect`."""

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
    Keep,
    Missing,
    ModelFile,
    NoHeader,
    Output,
    Quiet,
    check_file,
    check_output,
    csv_options,
)


def add_model_commands(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (predict, evaluate, explain, inspect):
        app.command()(command)


def predict(
    model: ModelFile,
    tables: Files,
    out: Output = "-",
    keep: Keep = None,
    interval: Annotated[
        float | None, typer.Option(help="Add an interval with this coverage, such as 0.9.")
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    date_order: DateOrder = None,
    no_header: NoHeader = False,
    missing: Missing = None,
    json: Annotated[bool, typer.Option("--json", help="Write JSON lines.")] = False,
    quiet: Quiet = False,
) -> None:
    """Predict the rows of new files, in their order."""
    check_file(out)
    with clear_endings():
        from committee.cli.using import write_predictions

        options = csv_options(delimiter, decimal, encoding, date_order, no_header, missing)
        write_predictions(
            model, tables, options, out, keep or [], interval, as_json=json, is_quiet=quiet
        )


def evaluate(
    model: ModelFile,
    tables: Files,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Column with the truth, if renamed.")
    ] = None,
    scoring: Annotated[str | None, typer.Option(help="Another scorer of scikit-learn.")] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    date_order: DateOrder = None,
    no_header: NoHeader = False,
    missing: Missing = None,
    json: AsJson = False,
) -> None:
    """Score a model on files with a known target."""
    with clear_endings():
        from committee.cli.using import evaluate_files, evaluation_words
        from committee.cli.words import show

        options = csv_options(delimiter, decimal, encoding, date_order, no_header, missing)
        found = evaluate_files(model, tables, options, target, scoring)
        show(found, evaluation_words(found), as_json=json)


def explain(
    model: ModelFile,
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILES...]", help="Rows to explain; without files, the committee as a whole."
        ),
    ] = None,
    out: Output = "-",
    keep: Keep = None,
    label: Annotated[
        str | None, typer.Option("--class", help="Explain this class, not the predicted one.")
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    date_order: DateOrder = None,
    no_header: NoHeader = False,
    missing: Missing = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show how much each column matters, or adds to predictions."""
    check_file(out)
    with clear_endings():
        from committee.cli.explaining import explain_model, explanation_words, write_contributions
        from committee.cli.words import show

        if tables:
            options = csv_options(delimiter, decimal, encoding, date_order, no_header, missing)
            write_contributions(
                model, tables, options, out, keep or [], label, as_json=json, is_quiet=quiet
            )
        else:
            found = explain_model(model)
            show(found, explanation_words(found), as_json=json)


def inspect(
    model: ModelFile,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", "-r", help="Write the report again.", callback=check_output("--report")
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Show what a model file holds."""
    with clear_endings():
        from committee.cli.using import load_model
        from committee.cli.words import show, summary, summary_words

        found = load_model(model)
        if report is not None:
            found.report(report)
        show(summary(found), summary_words(found), as_json=json)
