"""The command `play`."""

from typing import Annotated

import typer

from committee.cli.endings import clear_endings


def add_play_command(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(play)


def play(
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of this machine; 0 is any free one."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open nothing.")
    ] = False,
) -> None:
    """See ensembles learn, step by step, on points that you place in a browser."""
    with clear_endings():
        from committee.cli.playing import play as serve

        serve(port, opens_browser=not no_browser)
