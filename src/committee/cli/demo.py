"""What `committee demo` does: the path of a user, from a CSV file to a report and predictions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import committee
from committee.auto.known_files import KnownTable
from committee.cli.training import Order, train
from committee.cli.using import predictions
from committee.cli.words import show, summary, summary_words
from committee.datasets import penguins_file
from committee.io.csv_table import CsvOptions
from committee.io.errors import TableFileError
from committee.io.writing import replace_file

TARGET = "species"

# Birds of unknown species: not weighed, bill depth and sex unknown, an island never seen.
_NEW = """\
bird,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year
first,Biscoe,46.1,14.5,212,4800,female,2010
second,Dream,50.2,19.1,199,NA,male,2010
third,Deception,38.0,NA,NA,NA,NA,2010
"""


def run_demo(folder: Path, budget: float, seed: int, *, as_json: bool, is_quiet: bool) -> int:
    """Train on the penguins, write a report and predict three new birds.

    Parameters
    ----------
    folder : Path
        Where files are written.
    budget : float
        Units of work.
    seed : int
        Of all draws.
    as_json, is_quiet : bool
        Print JSON, or nothing.

    Returns
    -------
    code : int
        Of the process.
    """
    table, birds = folder / "penguins.csv", folder / "new-birds.csv"
    model_file, report = folder / "penguins.committee", folder / "penguins.html"
    _put(table, penguins_file().read_bytes())
    _put(birds, _NEW.encode())
    is_silent = is_quiet or as_json

    def step(command: str) -> None:
        if not is_silent:
            sys.stdout.write(f"\n$ committee {command}\n")
            sys.stdout.flush()

    step(
        f"train {table} --target {TARGET} --out {model_file} --report {report} --budget {budget:g}"
    )
    parameters: dict[str, Any] = {
        "quality": "good",
        "budget": budget,
        "time_limit": None,
        "scoring": None,
        "random_state": seed,
        "n_jobs": None,
    }
    nothing = (None, (), None, None, None)
    order = Order(
        [str(table)], TARGET, model_file, report, "auto", *nothing, CsvOptions(), parameters
    )
    model = train(order, is_quiet=is_silent)
    if not is_silent:
        show({}, summary_words(model), as_json=False)
    step(f"predict {model_file} {birds} --keep bird")
    known = KnownTable.open(committee.load(model_file), [str(birds)])
    found = predictions(known.model, known.X)
    if as_json:
        new = [str(label) for label in found["prediction"]]
        files = {"model": str(model_file), "report": str(report), "new_birds": new}
        show(summary(model) | files, "", as_json=True)
    elif not is_quiet:
        show({}, _predicted(known.table.texts("bird"), found), as_json=False)
        show({}, _what_next(table, report), as_json=False)
    return 0


def _put(path: Path, content: bytes) -> None:
    """Write a file of the demo, unless another file has its name."""
    if path.exists() and path.read_bytes() != content:
        raise TableFileError(f"{path} exists and is another file; choose another folder")
    replace_file(path, content)


def _predicted(names: list[str], found: dict[str, Any]) -> str:
    shares = [cells for name, cells in found.items() if name != "prediction"]
    lines = []
    for row, name in enumerate(names):
        best = max(share[row] for share in shares)
        lines.append(f"the {name} bird: {found['prediction'][row]}, with probability {best:.2f}")
    return "\n".join(lines)


def _what_next(table: Path, report: Path) -> str:
    return (
        f"\nOpen {report} in a browser: the score to expect, every model, every column.\n"
        f"Next, numbers instead of classes: committee train {table} --target body_mass_g\n"
        f'In Python: committee.train("{table}", target="{TARGET}")'
    )
