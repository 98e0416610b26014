"""Run a suite of benchmarks: `python -m benchmarks.run trees --quick`.

Each part is saved as soon as it is measured, so that parts can be measured one at a time on a
quiet machine. Full results are committed; quick ones only show that everything runs.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.contestants.contestant import MAX_THREADS
from benchmarks.contestants.stand_in import STAND_IN
from benchmarks.harness.environment import describe_environment, load_average
from benchmarks.harness.halves import HALVES
from benchmarks.harness.measure import say
from benchmarks.harness.selection import Selecting, Selection
from benchmarks.report.markdown import (
    Part,
    page_section,
    read_results,
    write_results,
    write_section,
)
from benchmarks.report.pages import RESULTS, suite_parts, write_pages

SUITES = ("smoke", "trees", "quinlan", "forests", "adaboost", "boosting", "stacking", "committee")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    options = _parse(arguments)
    _set_suite_options(options)
    parts = suite_parts(options.suite)
    if options.list:
        _list(options.suite, parts)
        return
    size = "full" if options.full else "quick"
    results_file = options.results / f"{options.suite}{'' if options.full else '-quick'}.json"
    records = read_results(results_file)
    if not options.render:
        for part in _chosen(parts, options.only):
            record = _measure(_selected(part, options), size, options.resamples or options.seeds)
            if record is not None:
                records[part.name] = record
                write_results(results_file, options.suite, records)
    # Quick figures are no evidence: they reach a page only if one is named.
    if options.page is not None:
        write_section(options.page, options.suite, page_section(parts, records, options.suite))
    elif options.full and options.results == RESULTS:
        write_pages()


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Measure speed, memory and accuracy against peers."
    )
    parser.add_argument("suite", choices=SUITES)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    what.add_argument("--full", action="store_true", help="the sizes of the documentation")
    what.add_argument("--list", action="store_true", help="name the parts of the suite and stop")
    parser.add_argument("--only", metavar="NAME", action="append", help="one part; may be repeated")
    parser.add_argument("--resamples", type=_positive, help="paired resamples, for parts with them")
    tables = parser.add_argument_group("parts with a selection of real tables")
    tables.add_argument("--table", metavar="NAME", action="append", help="may be repeated")
    tables.add_argument("--library", metavar="NAME", action="append", help="may be repeated")
    tables.add_argument("--half", choices=HALVES, help="of the tables")
    tables.add_argument("--seeds", type=_positive, help="the same as --resamples")
    tables.add_argument("--time-limit", type=float, metavar="SECONDS", help="of one fit")
    parser.add_argument(
        "--max-threads", type=_positive, help="boosting: leave out those with more; with --quick"
    )
    parser.add_argument(
        "--stand-in",
        action="store_true",
        help="scikit-learn in the place of estimators that are not there yet; with --quick",
    )
    parser.add_argument("--render", action="store_true", help="write the pages, measure nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the JSON files")
    parser.add_argument("--page", type=Path, help="Markdown page to write the tables to")
    options = parser.parse_args(arguments)
    if options.full and (options.stand_in or options.max_threads):
        parser.error("--stand-in and --max-threads give no results: they need --quick")
    return options


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be an int >= 1; got {text}")
    return value


def _set_suite_options(options: argparse.Namespace) -> None:
    """Set the variables that suites look at when they are imported."""
    values = {STAND_IN: options.stand_in, MAX_THREADS: options.max_threads}
    for name, value in values.items():
        os.environ.pop(name, None)
        if value:
            os.environ[name] = str(int(value))


def _list(suite: str, parts: Sequence[Part]) -> None:
    for part in parts:
        print(f"{suite} --only {part.name:<15} {part.title}")


def _chosen(parts: Sequence[Part], names: Sequence[str] | None) -> list[Part]:
    known = {part.name: part for part in parts}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise SystemExit(f"--only must be one of {', '.join(known)}; got {unknown[0]}")
    return [known[name] for name in names] if names else list(parts)


def _selected(part: Part, options: argparse.Namespace) -> Part:
    """Tell a part what was chosen among real tables, if it lets choose."""
    selection = Selection(
        options.results,
        tuple(options.table or ()),
        tuple(options.library or ()),
        options.half or "",
        options.time_limit,
    )
    if isinstance(part, Selecting):
        return part.select(selection)
    if not selection.is_whole:
        raise SystemExit(f"{part.name} has no tables to choose from: use --only accuracy")
    return part


def _measure(part: Part, size: str, resamples: int | None) -> dict[str, Any] | None:
    missing = [name for name in part.libraries if find_spec(name) is None]
    if missing:
        say(f"{part.name}: left out, {missing[0]} is not installed (extra `bench`)")
        return None
    say(f"{part.name}: {part.title}")
    start = time.perf_counter()
    load_before = load_average()
    result = part.run(size, resamples)
    if result is None:
        return None
    seconds = time.perf_counter() - start
    say(f"{part.name}: done in {seconds:.1f} s")
    environment = describe_environment(part.libraries)
    # Contestants with an interpreter of their own tell their versions themselves.
    environment["versions"].update(result.get("versions", {}))
    return {
        "size": size,
        "seconds": round(seconds, 1),
        "load_before": load_before,
        "load_after": load_average(),
        "environment": environment,
        "result": result,
    }


if __name__ == "__main__":
    main()
