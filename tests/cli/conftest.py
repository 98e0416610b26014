"""The command line, and a folder with a trained model.

Commands run in this process, through the entry point's application, because a process of its own
takes seconds to start; `start` is for what only a process can show.
"""

import contextlib
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from committee.cli.main import make_app

APP = make_app()


def run(*arguments, cwd, stdin=None):
    with contextlib.chdir(cwd):
        done = CliRunner().invoke(APP, [str(each) for each in arguments], input=stdin)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)


@pytest.fixture(scope="session")
def command():
    """Return a function that runs a command in a folder."""
    return run


@pytest.fixture
def start():
    """Return a function that starts a command as a process, which is ended whatever happens."""
    with contextlib.ExitStack() as stack:

        def begin(*arguments, cwd):
            process = subprocess.Popen(
                [sys.executable, "-m", "committee.cli.main", *map(str, arguments)],
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ,
                # A shell that starts tests in the background has them ignore Ctrl-C.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin


@pytest.fixture(scope="session")
def tables():
    """Return 120 old rows and 40 new ones: an id, a number, a postal code, a date, two classes."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(400, size=160), "D")
    table = pd.DataFrame(
        {
            "id": [f"c{k:03d}" for k in range(160)],
            "size": rng.normal(size=160).round(3),
            "zip": rng.choice(["01067", "10115", "80331"], 160),
            "since": days.strftime("%d.%m.%Y"),
        }
    )
    table["churned"] = np.where(table["size"] + 0.3 * rng.normal(size=160) > 0, "yes", "no")
    return table.iloc[:120], table.iloc[120:]


@pytest.fixture(scope="session")
def folder(tables, tmp_path_factory):
    """Return a folder with both as files."""
    folder = tmp_path_factory.mktemp("commands")
    old, new = tables
    # A file as from a German spreadsheet.
    old.to_csv(folder / "old.csv", index=False, sep=";", decimal=",", encoding="cp1252")
    new.to_csv(folder / "new.csv", index=False, sep=";", decimal=",")
    return folder


@pytest.fixture(scope="session")
def trained(folder):
    """Return the result of the command that made m.committee and r.html."""
    files = ("--out", "m.committee", "--report", "r.html", "--json")
    return run("train", "old.csv", "-t", "churned", "--budget", "0.3", *files, cwd=folder)
