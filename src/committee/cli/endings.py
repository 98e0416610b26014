"""How commands end: exit codes, and errors in one line.

0 is success, 1 an error that the user can mend, 2 a wrong option, 3 a training that was
interrupted and has written the best committee so far, 130 an interrupt with nothing written.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

INTERRUPTED_WITH_MODEL = 3
INTERRUPTED = 130
_BROKEN_PIPE = 141  # as shells count it: 128 and the number of the signal


@contextmanager
def clear_endings() -> Iterator[None]:
    """Print warnings and errors in one line each, and end with the right exit code."""
    import typer

    with _terminating_as_interrupt(), warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
        except KeyboardInterrupt:
            _say("interrupted; nothing was written")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the program that reads our output has seen enough
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(_BROKEN_PIPE) from None
        except OSError as error:
            name = f"{error.filename}: " if error.filename is not None else ""
            _say(f"{name}{error.strerror or error}")
            raise typer.Exit(1) from None
        except (ValueError, TypeError, MemoryError) as error:
            _say(str(error) or "there is not enough memory")
            raise typer.Exit(1) from None
        except ImportError as error:
            _say(str(error))
            raise typer.Exit(1) from None


def refuse_unusable(option: str, path: Path, *, is_model: bool = False) -> None:
    """Raise a usage error if a file cannot be written, before any work is done."""
    import typer

    problem = _problem(path, is_model)
    if problem is not None:
        raise typer.BadParameter(problem, param_hint=option)


def _problem(path: Path, is_model: bool) -> str | None:
    from zipfile import is_zipfile

    if path.is_dir():
        return f"{path} is a folder; give the name of a file."
    if not path.absolute().parent.is_dir():
        return f"the folder {path.absolute().parent} does not exist."
    if is_model and path.exists() and not is_zipfile(path):
        return f"{path} exists and is not a model file; choose another name."
    return None


def _say(message: str) -> None:
    sys.stderr.write(f"committee: {message}\n")


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"warning: {message}")


@contextmanager
def _terminating_as_interrupt() -> Iterator[None]:
    """Take SIGTERM, by which schedulers end a job, for Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
