"""Draws places for small bugs, and makes packages that have them."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from random import Random

from mutation.core_sites import SWITCH, core_sites, with_mutants
from mutation.coverage_map import HERE, ROOT, SNAPSHOT, WORK, build_engine, copy_package
from mutation.python_sites import python_sites
from mutation.site import Site
from mutation.trial import Mutated

EQUIVALENT = HERE / "equivalent.toml"


def all_sites(language: str, only: str = "") -> list[Site]:
    """Return the places of a language; `only` is the begin of a path, or path:line."""
    patterns = {"python": ("committee/**/*.py",), "core": ("core/**/*.cpp", "core/**/*.hpp")}
    find = python_sites if language == "python" else core_sites
    prefix, _, line = only.partition(":")
    sites: list[Site] = []
    for pattern in patterns[language]:
        for path in sorted((SNAPSHOT / "src").glob(pattern)):
            name = path.relative_to(SNAPSHOT).as_posix()
            if name.startswith(prefix):
                sites += [
                    site for site in find(SNAPSHOT, name) if not line or site.line == int(line)
                ]
    return sites


def draw(sites: list[Site], number: int, seed: int) -> list[Site]:
    """Draw places at random, as many from each folder as it has; no known equivalent ones."""
    known = tomllib.loads(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}
    random = Random(seed)
    by_folder: dict[str, list[Site]] = defaultdict(list)
    for site in sites:
        if site.name not in known:
            by_folder[site.folder].append(site)
    for folder in by_folder.values():
        random.shuffle(folder)
    drawn: list[Site] = []
    while len(drawn) < number and by_folder:
        for name in random.sample(sorted(by_folder), len(by_folder)):
            drawn.append(by_folder[name].pop())
            if not by_folder[name]:
                del by_folder[name]
    return drawn[:number]


def usual_engine() -> Path:
    """The engine that is installed, which mutants of Python use."""
    find = "import committee._core as core; print(core.__file__)"
    return Path(subprocess.check_output([sys.executable, "-c", find], text=True).strip())


def original() -> Path:
    return copy_package(WORK / "original", usual_engine(), SNAPSHOT).parent


def mutate_python(site: Site) -> Mutated:
    package = WORK / "mutated"
    copy_package(package, usual_engine(), SNAPSHOT)
    data = (SNAPSHOT / site.path).read_bytes()
    place = package / site.path.removeprefix("src/")
    place.write_bytes(data[: site.begin] + site.new.encode() + data[site.end :])
    return Mutated(package, {"PYTHONDONTWRITEBYTECODE": "1"})


def mutate_core(sites: list[Site]) -> dict[Site, Mutated]:
    """Compile one engine with all mutants; leaves out those that are no C++."""
    source, build = WORK / "core-source", WORK / "core-mutants"
    flags = f"-DCOMMITTEE_FLAGS=-O2 -w -include {source}/switch.hpp"
    source.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "CMakeLists.txt", source)
    write(source / "switch.hpp", SWITCH.encode())
    numbered = dict(enumerate(sites, 1))
    while True:
        for path in sorted((SNAPSHOT / "src/core").rglob("*.?pp")):
            name = path.relative_to(SNAPSHOT).as_posix()
            own = {number: site for number, site in numbered.items() if site.path == name}
            write(source / name, with_mutants(path.read_bytes(), own))
        log = WORK / "core-mutants.log"
        try:
            with log.open("w") as stream:
                engine = build_engine(source, build, [flags], stream)
            break
        except subprocess.CalledProcessError:
            numbered = without_errors(numbered, log.read_text())
    package = copy_package(WORK / "mutated-core", engine, SNAPSHOT).parent
    return {
        site: Mutated(package, {"COMMITTEE_MUTANT": str(number)})
        for number, site in numbered.items()
    }


def without_errors(numbered: dict[int, Site], log: str) -> dict[int, Site]:
    """Leave out the mutants on lines that the compiler names."""
    named = set(re.findall(r"(src/core/\S+?):(\d+)", log))
    wrong = {k for k, site in numbered.items() if (site.path, str(site.line)) in named}
    if not wrong:
        raise RuntimeError(f"the engine with mutants does not compile:\n{log[-3000:]}")
    return {number: site for number, site in numbered.items() if number not in wrong}


def write(path: Path, data: bytes) -> None:
    """Write a file unless it has this content already, so that little is compiled again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
