"""The documentation is true: its code runs and prints what is shown, its links lead somewhere, it
names every public name and every source file, and the imports keep to its layers."""

import ast
import contextlib
import inspect
import io
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

import committee
import committee.datasets
import committee.losses
import committee.theory

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "committee"
CORE = ROOT / "src" / "core"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("benchmarks/*.md")])
BLOCK = re.compile(r"^```([\w{}-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def blocks(path, language):
    text = path.read_text(encoding="utf-8")
    return [body for found, body in BLOCK.findall(text) if found == language]


# --- code ---------------------------------------------------------------------------------------


def shown_output(text, end):
    """What a ```text block right after the code says is printed; None if there is none."""
    follower = re.match(r"\s*```text\n(.*?)^```$", text[end:], re.MULTILINE | re.DOTALL)
    return None if follower is None else follower.group(1)


@pytest.fixture
def page_names():
    """What a page may use without making it: `committee` and some fitted `model`."""
    model = committee.DecisionTreeClassifier().fit([[1.0], [2.0]], ["no", "yes"])
    return {"__name__": "__main__", "committee": committee, "model": model}


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path, "python")], ids=name_of)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(
    path, page_names, tmp_path, monkeypatch
):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    with np.printoptions(), contextlib.ExitStack() as stack:
        stack.callback(plt.close, "all")
        for found in BLOCK.finditer(text):
            if found.group(1) != "python":
                continue
            line = text[: found.start()].count("\n") + 1
            printed = io.StringIO()
            code = compile("\n" * line + found.group(2), name_of(path), "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, page_names)
            shown = shown_output(text, found.end())
            if shown is not None:
                assert printed.getvalue().split() == shown.split(), f"{name_of(path)}:{line}"


# --- links, names, paths ------------------------------------------------------------------------


def anchors(path):
    """The anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in words}


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_relative_links_lead_somewhere(path):
    text = BLOCK.sub("", path.read_text(encoding="utf-8"))
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = unquote(target).partition("#")
        page = path if not file else path.parent / file
        if not page.exists() or (anchor and anchor not in anchors(page)):
            broken.append(target)
    assert broken == []


def test_every_page_is_in_a_table_of_contents():
    listed = {ROOT / "docs" / "index.md"}
    for page in (ROOT / "docs").rglob("*.md"):
        for body in blocks(page, "{toctree}"):
            entries = [line.split("<")[-1].rstrip(">") for line in body.split("\n")]
            listed |= {(page.parent / f"{entry}.md").resolve() for entry in entries if entry}
    assert [page for page in (ROOT / "docs").rglob("*.md") if page.resolve() not in listed] == []


def test_a_star_import_brings_no_names_that_other_libraries_have_too():
    names: dict = {}
    exec("from committee import *", names)
    assert set(committee._HOMES) - set(names) == {"load", "save"}
    assert committee.load
    assert committee.save


API_NAMES = [
    (module, name)
    for module in (committee, committee.datasets, committee.losses, committee.theory)
    for name in getattr(module, "_HOMES", module.__all__)
]


@pytest.mark.parametrize(("module", "name"), API_NAMES)
def test_the_api_page_lists_every_public_name(module, name):
    listed, current = set(), ""
    for body in blocks(ROOT / "docs" / "api.md", "{eval-rst}"):
        for line in body.split("\n"):
            current = (
                line.removeprefix(".. currentmodule:: ") if "currentmodule" in line else current
            )
            listed.add(f"{current}.{line.strip()}")
    assert f"{module.__name__}.{name}" in listed


@pytest.mark.parametrize(("module", "name"), API_NAMES)
def test_a_docstring_has_every_parameter_and_an_example(module, name):
    public = getattr(module, name)
    is_estimator = hasattr(public, "get_params")
    if not is_estimator and not inspect.isfunction(public):
        return
    entries = re.findall(r"^    (?:    )?([\w, *]+?)(?: : .*)?$", public.__doc__, re.MULTILINE)
    documented = {each.strip(" *") for entry in entries for each in entry.split(",")}
    assert set(inspect.signature(public).parameters) <= documented
    assert ">>>" in public.__doc__


def tracked_text_files():
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = listing.stdout.split("\n") if listing.returncode == 0 else []
    suffixes = {".md", ".py", ".pyi", ".toml", ".yml", ".yaml", ".txt", ".cpp", ".hpp", ".json"}
    suffixes |= {".js", ".css"}
    files = [ROOT / name for name in names if Path(name).suffix in suffixes] or PAGES
    return [path for path in files if path.is_file()]


def test_no_file_names_a_folder_of_somebodys_machine():
    # Put together here, or this file would find itself.
    folders = "|".join(["home", "Users", "work", "root", "tmp", "opt"])
    machine = re.compile(rf"(?<![\w.~)/])/(?:{folders})/\w")
    found = [
        f"{name_of(path)}: {line.strip()[:80]}"
        for path in tracked_text_files()
        for line in path.read_text(encoding="utf-8").splitlines()
        if machine.search(line)
    ]
    assert found == []


# A name of a source file or page in a comment or docstring, with or without folders.
FILE_NAME = re.compile(
    r"(?<![\w*{<.])((?:[\w.-]+/)*_?[a-z][\w-]*\.(?:py|pyi|hpp|cpp|md|toml))\b(?!\()"
)


def test_files_that_the_sources_name_exist():
    there = ["/" + name_of(path) for path in [*SOURCES.rglob("*"), *CORE.rglob("*"), *PAGES]]
    there += ["/" + name_of(path) for path in [*ROOT.glob("*/*.*"), *ROOT.glob("*/*/*.*")]]
    dead = [
        f"{name_of(path)}: {name}"
        for path in [*SOURCES.rglob("*.py"), *CORE.rglob("*.?pp")]
        for name in FILE_NAME.findall(path.read_text(encoding="utf-8"))
        if not any(file.endswith("/" + name) for file in there)
    ]
    assert dead == []


def test_the_places_of_a_change_exist():
    """The page for contributors: its paths exist, and its names occur in the sources."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    chapter = page[page.index("## Where does my change go?") : page.index("## Style")]
    files = [*SOURCES.rglob("*.py"), *SOURCES.rglob("*.js"), *SOURCES.glob("*.pyi")]
    files += [*CORE.rglob("*.?pp"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("tools/*.*")]
    others = [*ROOT.glob("docs/**/*.*"), *ROOT.glob("benchmarks/*"), *PAGES]
    there = {
        f"/{name_of(each)}"
        for path in [*files, *others]
        for each in (path, *path.parents[:3])
        if each.is_relative_to(ROOT)
    }
    words = set()
    for path in files:
        words.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    dead = []
    for name in sorted(set(re.findall(r"`([\w./]+)`", chapter))):
        if "/" in name or re.search(r"\.(py|pyi|hpp|cpp|md|toml)$", name):
            if not any(each.endswith("/" + name.rstrip("/")) for each in there):
                dead.append(name)
        elif not set(name.split(".")) <= words:
            dead.append(name)
    assert dead == []


# --- architecture -------------------------------------------------------------------------------

ARCHITECTURE = ROOT / "docs" / "architecture.md"


def allowed(language):
    """Which folders each folder may use: a line of the page is `folder: folder folder ...`."""
    (listing,) = blocks(ARCHITECTURE, language)
    lines = [line.partition(":") for line in listing.strip().splitlines()]
    return {folder.strip(): used.split() for folder, _, used in lines}


def is_for_types_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imported_modules(path):
    """Modules of the package that a module needs at run time, inside functions too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    only_types = [node for node in ast.walk(tree) if is_for_types_only(node)]
    skipped = {id(inner) for node in only_types for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or id(node) in skipped:
            continue
        package, _, module = (node.module or "").partition(".")
        if package != "committee":
            continue
        for alias in node.names:
            full = f"{module}.{alias.name}".strip(".")
            is_module = (SOURCES / full.replace(".", "/")).with_suffix(".py").exists()
            yield full if is_module or not module or full == "_core" else module


def python_folder(module):
    """The folder of a module such as `trees.export`; a file at the top is its own."""
    path = SOURCES / module.replace(".", "/")
    return path.relative_to(SOURCES).as_posix() if path.is_dir() else folder_of(path, SOURCES)


def folder_of(path, root):
    folder = path.parent.relative_to(root).as_posix()
    return path.stem if folder == "." else folder


def python_modules():
    return [path for path in SOURCES.rglob("*.py") if path.parent != SOURCES or path.stem[0] != "_"]


def test_folders_are_listed_from_the_top_down_and_use_what_stands_below_them():
    for language in ("layers-python", "layers-core"):
        folders = list(allowed(language))
        for height, (folder, used) in enumerate(allowed(language).items()):
            assert set(used) <= set(folders[height + 1 :]), folder


def test_python_modules_import_what_their_folder_may_use():
    may_use = allowed("layers-python")
    folders = {folder_of(path, SOURCES) for path in python_modules()}
    assert folders | {"_core"} == set(may_use)
    forbidden = [
        f"{name_of(path)} imports {needed}"
        for path in python_modules()
        for needed in imported_modules(path)
        if needed not in {*committee._HOMES, "__version__"}
        and python_folder(needed) != folder_of(path, SOURCES)
        and python_folder(needed) not in may_use[folder_of(path, SOURCES)]
    ]
    assert forbidden == []


def test_modules_of_a_folder_do_not_import_each_other_in_circles():
    needs = {
        ".".join(path.relative_to(SOURCES).with_suffix("").parts): set(imported_modules(path))
        for path in python_modules()
    }
    while needs:
        ready = {module for module, needed in needs.items() if not needed & set(needs)}
        assert ready, f"a circle among {sorted(needs)}"
        needs = {module: needed for module, needed in needs.items() if module not in ready}


def included(path):
    return re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(encoding="utf-8"), re.MULTILINE)


def test_core_files_include_what_their_folder_may_use_and_do_not_know_python():
    may_use = allowed("layers-core")
    files = [path for path in CORE.rglob("*.?pp") if path.parent.name != "bindings"]
    assert {folder_of(path, CORE) for path in files} | {"bindings"} == set(may_use)
    forbidden = [
        f"{name_of(path)} includes {needed}"
        for path in files
        for needed in included(path)
        if needed.startswith(("nanobind", "Python", ".."))
        or (
            "/" in needed
            and needed.endswith(".hpp")
            and needed.partition("/")[0] not in [path.parent.name, *may_use[path.parent.name]]
        )
    ]
    assert forbidden == []


def test_the_architecture_page_has_a_line_for_each_folder():
    page = ARCHITECTURE.read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `([\w/]+)/?` \|", page, re.MULTILINE))
    folders = {folder_of(path, SOURCES) for path in python_modules()}
    folders |= {path.parent.name for path in CORE.rglob("*.cpp")}
    assert {folder.rstrip("/") for folder in folders} - {
        each.rstrip("/") for each in described
    } <= {"datasets"}


def test_every_folder_says_what_it_holds():
    folders = {path.parent for path in python_modules()} - {SOURCES}
    assert [
        f for f in folders if not ast.get_docstring(ast.parse((f / "__init__.py").read_text()))
    ] == []
