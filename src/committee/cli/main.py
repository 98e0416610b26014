"""The `committee` command.

Only typer is loaded up front, so that `committee --help` answers at once; everything heavy is
imported by the command that needs it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

__all__ = ["main"]

_MISSING = "the command line needs typer, rich and pyarrow: pip install 'committee[cli]'"


def main() -> None:
    """Run the `committee` command; the entry point of the console script."""
    try:
        app = make_app()
    except ImportError as error:
        library = (error.name or "typer").split(".")[0]
        sys.exit(f"committee: {library} is not installed; {_MISSING}")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a terminal without some character must not stop us
            reconfigure(errors="replace")
    app(prog_name="committee")


def make_app() -> "typer.Typer":
    """Build the typer application."""
    import typer

    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_show_locals=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            from committee import __version__

            typer.echo(f"committee {__version__}")
            raise typer.Exit

    @app.callback()
    def root(
        version: Annotated[
            bool,
            typer.Option(
                "--version", help="Show the version and exit.", callback=show_version, is_eager=True
            ),
        ] = False,
    ) -> None:
        """Every ensemble-learning method on one fast engine."""

    @app.command()
    def demo(
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Where to save the model file.")
        ] = Path("penguins.committee"),
        seed: Annotated[
            int, typer.Option(min=0, max=2**32 - 1, help="Seed of the cross-validation.")
        ] = 0,
        folds: Annotated[
            int, typer.Option(min=2, max=50, help="Folds of the cross-validation.")
        ] = 5,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    ) -> None:
        """Train on a bundled table with text and missing values, and save a model."""
        problem = _unusable(output)
        if problem is not None:
            raise typer.BadParameter(problem, param_hint="--output")
        try:
            from committee.cli.demo import run_demo

            run_demo(output, seed=seed, folds=folds, quiet=quiet)
        except ImportError as error:
            library = (error.name or "").split(".")[0]
            if library not in ("rich", "pyarrow"):
                raise
            typer.echo(f"committee: {library} is not installed; {_MISSING}", err=True)
            raise typer.Exit(1) from None
        except OSError as error:
            typer.echo(f"committee: cannot write {output}: {error.strerror or error}", err=True)
            raise typer.Exit(1) from None

    _add_table_commands(app)
    return app


def _add_table_commands(app: "typer.Typer") -> None:
    """Add the commands that train and use a committee on tables of the user's."""
    import typer

    files = Annotated[list[str], typer.Argument(help="CSV files; - is standard input.")]
    model_file = Annotated[Path, typer.Argument(help="A model of `committee train`.")]
    target_name = Annotated[str, typer.Option("--target", "-t", help="Column to predict.")]
    as_json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

    @app.command()
    def train(
        tables: files,
        target: target_name,
        out: Annotated[Path, typer.Option("--out", "-o", help="Where to save the model.")] = Path(
            "model.committee"
        ),
        report: Annotated[
            Path | None, typer.Option("--report", "-r", help="Where to write a report (HTML).")
        ] = None,
        time_limit: Annotated[
            float | None, typer.Option(help="Seconds after which no new work begins.")
        ] = None,
        budget: Annotated[
            float | None, typer.Option(help="Units of work; the same model on any machine.")
        ] = None,
        quality: Annotated[str, typer.Option(help="fast, good or best.")] = "good",
        task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
        scoring: Annotated[str | None, typer.Option(help="A scorer of scikit-learn.")] = None,
        seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of all draws.")] = 0,
        jobs: Annotated[int | None, typer.Option(help="Threads; all cores if left out.")] = None,
        json: as_json = False,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    ) -> None:
        """Train the best committee for a table, save it and write a report."""
        problem = _unusable(out)
        if problem is not None:
            raise typer.BadParameter(problem, param_hint="--out")
        parameters = {
            "task": task,
            "quality": quality,
            "budget": "auto" if budget is None else budget,
            "time_limit": time_limit,
            "scoring": scoring,
            "random_state": seed,
            "n_jobs": jobs,
            "verbose": int(not quiet),
        }
        with _clear_errors():
            from committee.cli import commands

            found = commands.train(tables, target, out, report, parameters)
            if not quiet:
                typer.echo(commands.as_json(found) if json else commands.describe(found))

    @app.command()
    def predict(
        model: model_file,
        tables: files,
        out: Annotated[str, typer.Option("--out", "-o", help="CSV file; - is stdout.")] = "-",
        keep: Annotated[
            list[str] | None, typer.Option("--keep", "-k", help="Columns to carry over.")
        ] = None,
    ) -> None:
        """Predict the rows of new files, in their order."""
        with _clear_errors():
            from committee.cli import commands

            commands.predict(model, tables, out, keep or [])

    @app.command()
    def evaluate(
        model: model_file,
        tables: files,
        target: target_name,
        scoring: Annotated[str | None, typer.Option(help="Another scorer.")] = None,
        json: as_json = False,
    ) -> None:
        """Score a model on files with a known target."""
        with _clear_errors():
            from committee.cli import commands

            found = commands.evaluate(model, tables, target, scoring)
            low, high = found["expected"]
            line = (
                f"{found['metric']}: {found['score']:.4g} on {found['rows']} rows "
                f"(expected {low:.4g} to {high:.4g})"
            )
            typer.echo(commands.as_json(found) if json else line)

    @app.command()
    def inspect(model: model_file) -> None:
        """Show what a model file holds."""
        with _clear_errors():
            from committee.cli import commands

            typer.echo(commands.inspect(model))


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Print errors that a user can mend in one line, and end with exit code 1."""
    import typer

    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        where = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error
        typer.echo(f"committee: {where}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("committee: interrupted", err=True)
        raise typer.Exit(130) from None


def _unusable(output: Path) -> str | None:
    """Say why a model cannot be saved at a path, before any work is done; None when it can."""
    from zipfile import is_zipfile

    if output.is_dir():
        return f"{output} is a folder; give the name of a file."
    if not output.absolute().parent.is_dir():
        return f"the folder {output.absolute().parent} does not exist."
    if output.exists() and not is_zipfile(output):
        return f"{output} exists and is not a model file; choose another name."
    return None


if __name__ == "__main__":
    main()
