"""Runs scikit-learn's own tests with our classes in place of theirs, from the installed package.

    python tools/sklearn_tests              # every difference has to be expected, and no more
    python tools/sklearn_tests --write      # and those that are gone are taken off the list
    python tools/sklearn_tests test_voting  # of some files only

`differences.toml` says how many cases of each of their tests fail, under the reason why. A test
that fails more often than that is news and ends the command with 1, and so does one that fails less
often: the list may only become shorter, by `--write`. A test that is not on it has to pass.

Nothing of theirs is copied: their files are run where they are installed, and see our classes under
the public names of scikit-learn (`swap.py`). The list belongs to one version of scikit-learn.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

import sklearn

HERE = Path(__file__).resolve().parent
LIST = HERE / "differences.toml"
MODULES = [
    "ensemble.tests.test_bagging",
    "ensemble.tests.test_common",
    "ensemble.tests.test_forest",
    "ensemble.tests.test_gradient_boosting",
    "ensemble.tests.test_stacking",
    "ensemble.tests.test_voting",
    "ensemble.tests.test_weight_boosting",
    "inspection.tests.test_partial_dependence",
    "inspection.tests.test_permutation_importance",
    "tests.test_calibration",
    "tests.test_metaestimators",
    "tests.test_metaestimators_metadata_routing",
    "tests.test_multiclass",
    "tests.test_multioutput",
    "tests.test_pipeline",
    "tree.tests.test_export",
    "tree.tests.test_monotonic_tree",
    "tree.tests.test_tree",
]


def run(modules: list[str]) -> dict[str, str]:
    """Run modules of tests; returns what became of each case."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "swap"]
        command += ["-c", os.devnull, f"--rootdir={Path(sklearn.__path__[0]).parent}"]
        command += ["-p", "no:cacheprovider", "-W", "ignore", "--continue-on-collection-errors"]
        command += ["--pyargs", *(f"sklearn.{name}" for name in modules)]
        paths = [str(HERE), os.environ.get("PYTHONPATH", "")]
        more = {"PYTHONPATH": os.pathsep.join(paths), "SWAP_REPORT": str(report)}
        subprocess.run(command, cwd=folder, env=os.environ | more, check=False)
        return json.loads(report.read_text())


def failures(outcomes: dict[str, str]) -> Counter[str]:
    """Count the failed cases of each test, by the name of its file and its own."""
    failed = (name for name, outcome in outcomes.items() if outcome == "failed")
    return Counter(re.sub(r"\[.*", "", name.rpartition("/")[2]) for name in failed)


def expected(modules: list[str]) -> dict[str, int]:
    """Read the list, as far as it is about these modules."""
    files = {name.rpartition(".")[2] for name in modules}
    reasons = tomllib.loads(LIST.read_text())
    pairs = [pair for tests in reasons.values() for pair in tests.items() if pair[0] != "why"]
    return {test: number for test, number in pairs if test.partition(".py")[0] in files}


def rewrite(found: Counter[str], modules: list[str]) -> None:
    """Take what has gone off the list; nothing is added."""
    known = expected(modules)
    lines = []
    for line in LIST.read_text().splitlines():
        entry = re.match(r'"(.+)" = (\d+)', line)
        if entry and entry[1] in known:
            number = min(int(entry[2]), found[entry[1]])
            line = f'"{entry[1]}" = {number}' if number else None
        if line is not None:
            lines.append(line)
    LIST.write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="names of files of tests, such as test_voting")
    parser.add_argument("--write", action="store_true", help="take what has gone off the list")
    chosen = parser.parse_args()
    modules = [m for m in MODULES if not chosen.files or m.rpartition(".")[2] in chosen.files]
    outcomes = run(modules)
    found, known = failures(outcomes), expected(modules)
    counts = Counter(outcomes.values())
    print(", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items())))
    more = [test for test in found if found[test] > known.get(test, 0)]
    fewer = [test for test in known if found[test] < known[test]]
    for test in sorted(more + fewer):
        print(f"{test}: {found[test]} cases fail, {known.get(test, 0)} are expected to")
    if chosen.write:
        rewrite(found, modules)
        fewer = []
    return 1 if more or fewer else 0


if __name__ == "__main__":
    sys.exit(main())
