"""The `committee` command.

Only typer is loaded up front, so that `committee --help` answers at once; everything heavy is
imported by the command that needs it.
"""

import sys
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

__all__ = ["main"]

_MISSING = "the command line needs typer and rich: pip install 'committee[cli]'"

# The character \b keeps lines as they are.
_HELP = """From a table to the best committee of models, with a score to trust and a report.

\b
committee train churn.csv --target churned --report churn.html
committee predict model.committee new.csv --out predictions.csv
"""


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

    from committee.cli.model_commands import add_model_commands
    from committee.cli.play_command import add_play_command
    from committee.cli.training_commands import add_training_commands

    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_show_locals=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            from committee import __version__

            typer.echo(f"committee {__version__}")
            raise typer.Exit

    @app.callback(help=_HELP)
    def root(
        version: Annotated[
            bool,
            typer.Option(
                "--version", help="Show the version and exit.", callback=show_version, is_eager=True
            ),
        ] = False,
    ) -> None:
        """Take the options that stand before a command."""

    add_training_commands(app)
    add_model_commands(app)
    add_play_command(app)
    return app


if __name__ == "__main__":
    main()
