"""Plants small bugs one at a time, and shows which of them the tests notice.

    python tools/mutate.py map                  # once: which tests run which lines, some 40 minutes
    python tools/mutate.py run --number 100     # mutants drawn over all folders, Python and C++
    python tools/mutate.py run --only src/committee/forests    # or of some files, or of path:line
    python tools/mutate.py show build/mutation/run-0.jsonl     # a table, and what survived

A mutant has one operator, constant, check, weight or copy that is not as it should be. The tests
that run its line are run, those that run little else first, then the other tests of their files,
and the first failure ends the trial; it counts if it comes again, and does not come without the
mutant. A mutant that only pages of documentation notice is counted apart.

Needs `pip install '.[mutation]'`, objdump, and what builds the engine. Everything lies in
`build/mutation`. A mutant that nobody could tell from the original goes into
`tools/mutation/equivalent.toml` with a reason, and is not drawn again.
"""

import argparse
import json
import os
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from mutation import coverage_map, mutants
from mutation.site import Site
from mutation.trial import Trials, Verdict


def run(number: int, seed: int, language: str, only: str, budget: float) -> Path:
    """Try mutants, writing a line for each as it is done; goes on where it was stopped."""
    results = coverage_map.WORK / f"run-{seed}.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    results.touch()
    done = [json.loads(line) for line in results.read_text().splitlines()]
    tried = {each["name"] for each in done}
    coverage_map.take_snapshot(coverage_map.SNAPSHOT)
    trials = Trials(coverage_map.CoverageMap(), mutants.original(), budget)
    for each in ("python", "core") if language == "both" else (language,):
        wanted = number // 2 if language == "both" else number
        sites = mutants.draw(mutants.all_sites(each, only), wanted * 5 // 4, seed)
        compiled = mutants.mutate_core(sites) if each == "core" else {}
        sites = [site for site in sites if each == "python" or site in compiled][:wanted]
        for site in sites:
            if site.name in tried:
                continue
            mutated = compiled[site] if each == "core" else mutants.mutate_python(site)
            verdict = trials.run(site, mutated)
            tell(site, verdict)
            line = {"name": site.name} | asdict(site) | asdict(verdict)
            with results.open("a") as stream:
                stream.write(json.dumps(line) + "\n")
    return results


def tell(site: Site, verdict: Verdict) -> None:
    print(f"{verdict.fate:10} {verdict.seconds:5.0f} s  {site.path}:{site.line}  {site.name}")
    print(f"           {site.kind}: {site.old!r} -> {site.new!r}", flush=True)


def show(results: list[Path]) -> None:
    """Print a table by folder, and the mutants that no test of behaviour noticed."""
    lines = [json.loads(line) for path in results for line in path.read_text().splitlines()]
    counts: dict[str, Counter[str]] = {}
    for each in lines:
        folder = each["path"].rpartition("/")[0].removeprefix("src/")
        for row in (folder, "all"):
            counts.setdefault(row, Counter())[each["fate"]] += 1
    print("| folder | mutants | noticed | by pages only | not |")
    print("|---|---|---|---|---|")
    for folder in sorted(counts, key=lambda name: (name == "all", name)):
        count = counts[folder]
        missed = count.total() - count["noticed"] - count["pages"]
        print(
            f"| `{folder}` | {count.total()} | {count['noticed']} | {count['pages']} | {missed} |"
        )
    for each in lines:
        if each["fate"] != "noticed":
            print(f"\n{each['fate']} {each['name']} {each['path']}:{each['line']} {each['kind']}")
            print(f"    {each['text']}\n    {each['old']!r} -> {each['new']!r}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    maps = commands.add_parser("map", help="note which tests run which lines")
    maps.add_argument("tests", nargs="*", help="files of tests (default: all)")
    runs = commands.add_parser("run", help="draw mutants and try them")
    runs.add_argument("--number", type=int, default=100)
    runs.add_argument("--seed", type=int, default=0)
    runs.add_argument("--language", choices=["both", "python", "core"], default="both")
    runs.add_argument("--only", default="", help="begin of a path below the root, or path:line")
    runs.add_argument("--budget", type=float, default=300.0, help="seconds of tests for a mutant")
    shows = commands.add_parser("show", help="print a table of results")
    shows.add_argument("results", nargs="+", type=Path)
    chosen = parser.parse_args()
    os.nice(5)
    if chosen.command == "map":
        coverage_map.make(chosen.tests)
    elif chosen.command == "run":
        path = run(chosen.number, chosen.seed, chosen.language, chosen.only, chosen.budget)
        show([path])
    else:
        show(chosen.results)


if __name__ == "__main__":
    main()
