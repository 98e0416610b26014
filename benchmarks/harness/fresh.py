"""Run a function in a fresh interpreter: no warm caches, no memory of earlier measurements.

The function is named "module:function", takes keyword arguments that JSON can carry and returns
what JSON can carry. Its standard error is ours, so that its progress is seen. A `Worker` is such
a process that stays: it holds an object and calls its methods when asked.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]  # where `benchmarks` can be imported
_MODULE = "benchmarks.harness.fresh"

# Thread counts are given to each library by its own parameter. OMP_WAIT_POLICY=PASSIVE would make
# peers that use OpenMP much slower on small tables.
_DROPPED = ("OMP_WAIT_POLICY", "OMP_NUM_THREADS", "GOMP_SPINCOUNT")


def environment() -> dict[str, str]:
    """Return the environment of measured processes."""
    return {name: value for name, value in os.environ.items() if name not in _DROPPED}


def run_fresh(function: str, *, python: str = sys.executable, **arguments: Any) -> Any:
    """Call `function` ("module:function") in a fresh interpreter and return its result."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        task = {"function": function, "arguments": arguments, "answer": str(answer)}
        done = subprocess.run(
            [python, "-m", _MODULE],
            cwd=_ROOT,
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


class Worker:
    """A process with an object ("module:class") whose methods are called one at a time.

    It may run another interpreter than this one, for libraries that need an environment of their
    own. While it waits for the next call it uses no processor.
    """

    def __init__(self, maker: str, *, python: str = sys.executable, **arguments: Any) -> None:
        self._maker = maker
        self._process = subprocess.Popen(
            [python, "-m", _MODULE, "--serve"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        self._ask({"maker": maker, "arguments": arguments})

    def call(self, method: str, **arguments: Any) -> Any:
        """Return the result of a method."""
        return self._ask({"method": method, "arguments": arguments})

    def call_within(self, seconds: float, method: str, **arguments: Any) -> Any:
        """Return the result of a method, or end the process and raise a TimeoutError."""
        return self._ask({"method": method, "arguments": arguments}, seconds)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()  # the end of its input is the end of its work

    def _ask(self, question: dict[str, Any], seconds: float | None = None) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        # One question, one line: nothing of an earlier answer is left in the buffer.
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            self._process.kill()
            raise TimeoutError(f"no answer of {self._maker} within {seconds:g} s")
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(
                f"{question.get('method', 'the start')} of {self._maker} failed in its own process "
                f"with exit code {self._process.wait()}; its message is above"
            )
        return json.loads(answer)


def resolve(name: str) -> Any:
    """Return what "module:attribute" names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _serve() -> None:
    # Answers get the standard output for themselves; what libraries print there is a message.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        held = None
        for line in sys.stdin:
            task = json.loads(line)
            if held is None:
                held, result = resolve(task["maker"])(**task["arguments"]), None
            else:
                result = getattr(held, task["method"])(**task["arguments"])
            print(json.dumps(result), file=answers, flush=True)


def _main() -> None:
    task = json.load(sys.stdin)
    result = resolve(task["function"])(**task["arguments"])
    Path(task["answer"]).write_text(json.dumps(result))


if __name__ == "__main__":
    _serve() if "--serve" in sys.argv else _main()
