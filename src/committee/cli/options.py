"""Options and arguments that several commands have."""

from pathlib import Path
from typing import Annotated, Any

import typer

from committee.cli.endings import refuse_unusable

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...",
        help="CSV, JSON lines, Parquet or Feather, also packed; - is standard input.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model of `committee train`.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]

Output = Annotated[
    str,
    typer.Option("--out", "-o", help=".csv, .jsonl, .parquet or .feather; - is standard output."),
]
Keep = Annotated[
    list[str] | None, typer.Option("--keep", "-k", help="A column to carry over; repeat.")
]

Delimiter = Annotated[
    str | None,
    typer.Option(help="Between cells: a character, or comma, semicolon, tab or bar."),
]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark: . or ,")]
Encoding = Annotated[str | None, typer.Option(help="Such as utf-8 or cp1250.")]
DateOrder = Annotated[str | None, typer.Option(help="What is first in dates: ymd, dmy or mdy.")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line holds no names.")]
Missing = Annotated[
    list[str] | None, typer.Option(help="A cell that means missing, besides NA, ?, ...; repeat.")
]


def csv_options(
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    date_order: str | None,
    no_header: bool,
    missing: list[str] | None,
) -> Any:
    """Return what the user says about files."""
    from committee.io.csv_table import CsvOptions

    return CsvOptions(delimiter, decimal, encoding, date_order, not no_header, tuple(missing or ()))


def check_output(option: str) -> Any:
    """Return a callback that refuses files that cannot be written, before any work."""

    def check(path: Path | None) -> Path | None:
        if path is not None:
            refuse_unusable(option, path, is_model=option == "--out")
        return path

    return check


def check_file(path: str) -> None:
    """Refuse a file of predictions that cannot be written."""
    if path != "-":
        refuse_unusable("--out", Path(path))
