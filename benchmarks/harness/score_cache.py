"""What libraries scored on real tables, kept in a file so that peers are not measured again.

A run is one fit: a table, a seed, a library and its version, with its score and times or with what
kept it from having any. A newer version of a library takes the place of the older one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROTOCOL = 2  # a change of splits, scores or preparation makes all older runs worthless


@dataclass(frozen=True, slots=True)
class RunKey:
    """Which fit of which library."""

    table: str
    seed: int
    library: str
    version: str
    threads: int = 1


@dataclass
class ScoreCache:
    """The runs of a file."""

    path: Path
    _runs: dict[tuple[str, int, str], dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> ScoreCache:
        """Return the runs of a file; those of another protocol are dropped."""
        cache = cls(path)
        stored = json.loads(path.read_text()) if path.exists() else {}
        if stored.get("protocol") == PROTOCOL:
            for run in stored["runs"]:
                cache._runs[run["table"], run["seed"], run["library"]] = run
        return cache

    def find(self, key: RunKey, seconds: float) -> dict[str, Any] | None:
        """Return a run of this very version with as many threads.

        One that a shorter time limit ended is no answer.
        """
        run = self._runs.get((key.table, key.seed, key.library))
        if run is None or (run["version"], run["threads"]) != (key.version, key.threads):
            return None
        return None if run.get("limit", seconds) < seconds else run

    def put(self, key: RunKey, run: dict[str, Any]) -> None:
        """Keep a run and write the file."""
        record = {
            "table": key.table,
            "seed": key.seed,
            "library": key.library,
            "version": key.version,
            "threads": key.threads,
            **run,
        }
        self._runs[key.table, key.seed, key.library] = record
        lines = ",\n".join(json.dumps(self._runs[place]) for place in sorted(self._runs))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = f'{{"protocol": {PROTOCOL}, "runs": [\n{lines}\n]}}\n'
        whole = self.path.with_suffix(".part")  # an interrupted run must not lose all others
        whole.write_text(text)
        whole.replace(self.path)


def fingerprint(folder: Path, core: Path) -> str:
    """Return a short name of all code of a package; its compiled core may lie elsewhere."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".py":
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(path.read_bytes())
    digest.update(core.read_bytes())
    return digest.hexdigest()[:12]
