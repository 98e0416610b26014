"""Run a function in a fresh interpreter: no warm caches, no memory of earlier measurements.

The function is named "module:function", takes keyword arguments that JSON can carry and returns
what JSON can carry. Its standard error is ours, so that its progress is seen.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

# Thread counts are given to each library by its own parameter. OMP_WAIT_POLICY=PASSIVE would make
# peers that use OpenMP much slower on small tables.
_DROPPED = ("OMP_WAIT_POLICY", "OMP_NUM_THREADS", "GOMP_SPINCOUNT")


def environment() -> dict[str, str]:
    """Return the environment of measured processes."""
    return {name: value for name, value in os.environ.items() if name not in _DROPPED}


def run_fresh(function: str, **arguments: Any) -> Any:
    """Call `function` ("module:function") in a fresh interpreter and return its result."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        task = {"function": function, "arguments": arguments, "answer": str(answer)}
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve())],
            input=json.dumps(task),
            text=True,
            env=environment(),
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(
                f"{function} failed in its own process with exit code {done.returncode}; "
                "its message is above"
            )
        return json.loads(answer.read_text())


def resolve(name: str) -> Any:
    """Return what "module:attribute" names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _main() -> None:
    task = json.load(sys.stdin)
    result = resolve(task["function"])(**task["arguments"])
    Path(task["answer"]).write_text(json.dumps(result))


if __name__ == "__main__":
    _main()
