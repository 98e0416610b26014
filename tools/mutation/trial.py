"""Runs the tests that cover a mutant, until one fails."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from mutation.coverage_map import ROOT, WORK, CoverageMap
from mutation.site import Site

# Pages of documentation print numbers, and notice much without saying what is wrong.
PAGES = (
    "tests/test_docs.py",
    "tests/test_doctests.py",
    "tests/test_examples.py",
    "tests/test_shared_docs.py",
    "tests/test_walks.py",
    "tests/test_benchmarks.py",
    "tests/test_benchmark_searches.py",
)
BATCHES = (10.0, 40.0, 120.0)  # seconds of tests before pytest starts again with more


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    fate: str  # noticed, survived, pages (only they noticed it), unfinished, uncovered
    test: str
    n_tests: int
    seconds: float


@dataclass(frozen=True)
class Mutated:
    """A package with a bug: where it lies, and what switches the bug on."""

    folder: Path
    switch: dict[str, str]


class Trials:
    """Tries mutants; a failure counts if it comes again, and not without the mutant."""

    def __init__(self, covered: CoverageMap, original: Path, budget: float) -> None:
        self.covered = covered
        self.original = Mutated(original, {})
        self.budget = budget
        self.sound: dict[str, bool] = {}

    def run(self, site: Site, mutated: Mutated) -> Verdict:
        begin = time.monotonic()
        names = self.covered.covering(site.path, site.line)
        names += self.covered.neighbours(names)
        names = [name for name in names if self.sound.get(name, True)]
        pages = [name for name in names if name.startswith(PAGES)]
        names = [name for name in names if not name.startswith(PAGES)]
        n_run, spent, fate = 0, 0.0, "survived" if names else "uncovered"
        for batch in self.batches(names):
            if spent > self.budget:
                fate = "unfinished"
                break
            n_run += len(batch)
            spent += sum(map(self.seconds, batch))
            if test := self.failing(batch, mutated):
                return Verdict("noticed", test, n_run, time.monotonic() - begin)
        for batch in self.batches(pages[:20]):
            if test := self.failing(batch, mutated):
                return Verdict("pages", test, n_run, time.monotonic() - begin)
        return Verdict(fate, "", n_run, time.monotonic() - begin)

    def seconds(self, name: str) -> float:
        return self.covered.seconds[name] + 0.005

    def batches(self, names: list[str]) -> list[list[str]]:
        """Cut tests into batches of growing length."""
        batches: list[list[str]] = []
        room = 0.0
        for name in names:
            if room <= 0:
                room = BATCHES[min(len(batches), len(BATCHES) - 1)]
                batches.append([])
            batches[-1].append(name)
            room -= self.seconds(name)
        return batches

    def failing(self, names: list[str], mutated: Mutated) -> str:
        """Return a test that fails because of the mutant, or nothing."""
        while names:
            test = self.first_failure(names, mutated)
            if not test:
                return ""
            again = [test] if test in names else names
            if self.is_sound(again) and self.first_failure(again, mutated):
                return test
            if test not in names:
                return ""
            names = names[names.index(test) + 1 :]
        return ""

    def is_sound(self, names: list[str]) -> bool:
        """Whether tests pass without the mutant."""
        key = names[0] if len(names) == 1 else ""
        if not key or key not in self.sound:
            passes = not self.first_failure(names, self.original)
            if not key:
                return passes
            self.sound[key] = passes
        return self.sound[key]

    def first_failure(self, names: list[str], mutated: Mutated) -> str:
        """Run tests until one fails; returns its name, or how pytest ended."""
        if not names:
            return ""
        chosen = WORK / "chosen"
        chosen.write_text("\n".join(names))
        paths = [str(mutated.folder), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | mutated.switch | {"PYTHONPATH": os.pathsep.join(paths)}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["--tb=no", "-o", "console_output_style=classic", f"@{chosen}"]
        seconds = 60 + 8 * sum(map(self.seconds, names))
        code, output = run_for(seconds, command, environment)
        if code == 0:
            return ""
        found = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", output, re.MULTILINE)
        if found and found[1] in names:
            return found[1]
        gone = set(re.findall(rf"not found: {re.escape(str(ROOT))}/(.*)$", output, re.MULTILINE))
        if gone:  # tests of the map that no longer exist
            return self.first_failure([name for name in names if name not in gone], mutated)
        return f"pytest ended with {code}"  # a crash, no end, an error at import


def run_for(seconds: float, command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run a command, and end it and what it started after a time (code -1)."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return -1, output
    return process.returncode, output
