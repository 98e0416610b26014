"""The `committee` command.

Only typer is loaded up front, so that `committee --help` answers at once; everything heavy is
imported by the command that needs it.
"""

import sys
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

    return app


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
