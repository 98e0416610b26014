"""The documentation is true: its code runs and prints what it says, its links lead somewhere, it
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

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "committee"
CORE = ROOT / "src" / "core"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("benchmarks/*.md")])
BLOCK = re.compile(r"^```([\w-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
    plt.switch_backend("Agg")
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
    """The anchors of a page's headings, as GitHub and MkDocs make them."""
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


def test_every_page_is_in_the_table_of_contents():
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if page not in contents] == []


@pytest.mark.parametrize("name", committee.__all__)
def test_the_api_page_names_every_public_name(name):
    assert re.search(rf"\b{name}\b", (ROOT / "docs/api.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in committee.__all__
        if inspect.isfunction(getattr(committee, name))
        or hasattr(getattr(committee, name), "get_params")
    ],
)
def test_the_api_page_names_every_parameter_and_the_docstring_has_an_example(name):
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    public = getattr(committee, name)
    parameters = inspect.signature(public).parameters
    assert [each for each in parameters if not re.search(rf"\b{each}\b", page)] == []
    assert ">>>" in public.__doc__


def tracked_text_files():
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = listing.stdout.split("\n") if listing.returncode == 0 else []
    suffixes = {".md", ".py", ".pyi", ".toml", ".yml", ".yaml", ".txt", ".cpp", ".hpp", ".json"}
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


# --- architecture -------------------------------------------------------------------------------

ARCHITECTURE = ROOT / "docs" / "architecture.md"


def heights(language):
    """The layer of each module, the lowest is 0."""
    (listing,) = blocks(ARCHITECTURE, language)
    lines = [line.split() for line in listing.strip().splitlines()]
    return {module: height for height, line in enumerate(reversed(lines)) for module in line}


def imported_modules(path):
    """Modules of the package that a module needs at run time, inside functions too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    only_types = [node for node in ast.walk(tree) if is_for_types_only(node)]
    skipped = {id(inner) for node in only_types for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or id(node) in skipped:
            continue
        package, _, module = (node.module or "").partition(".")
        if package == "committee":
            yield from [module] if module else [alias.name for alias in node.names]


def is_for_types_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def test_python_modules_import_downward_only():
    height = heights("layers-python")
    modules = {path.stem: path for path in SOURCES.glob("*.py") if path.stem != "__init__"}
    assert set(modules) | {"_core"} == set(height)
    upward = [
        f"{module} imports {needed}"
        for module, path in modules.items()
        for needed in imported_modules(path)
        if needed in height and height[needed] >= height[module]
    ]
    assert upward == []


def test_few_modules_talk_to_the_engine():
    users = {path.stem for path in SOURCES.glob("*.py") if "_core" in imported_modules(path)}
    reading, arrays, draws = {"_table", "_calibration_folds"}, {"_tree_arrays"}, {"_sampling"}
    growing = {"_tree_settings", "_tree_model", "_forest_growth"}
    forests = {"_fitted_forest"}
    boosting = {"_additive_model", "_boosting_fit", "_fast_losses", "_target_statistics"}
    adaboost = {"_boosted_table", "_adaboost_learners", "_adaboost_fit", "_adaboost_regression"}
    members = {"_tree_members", "_boosted_votes"}
    quinlan = {"quinlan", "_quinlan_model", "_quinlan_view", "_nominal_table", "_rule_list"}
    ensembles = forests | boosting | adaboost | members
    assert users == reading | arrays | draws | growing | quinlan | ensembles


def included(path):
    return re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(encoding="utf-8"), re.MULTILINE)


def test_core_files_include_downward_only_and_do_not_know_python():
    height = heights("layers-core")
    files = [*CORE.glob("*.hpp"), *CORE.glob("*.cpp")]
    assert {path.stem for path in files} | {"bindings"} == set(height)
    upward = [
        f"{path.name} includes {needed}"
        for path in files
        for needed in included(path)
        if Path(needed).stem != path.stem
        and (
            height.get(Path(needed).stem, -1) >= height[path.stem]
            or needed.startswith(("bindings", "nanobind", "Python"))
        )
    ]
    assert upward == []


def test_the_architecture_page_says_what_each_file_is_for():
    page = ARCHITECTURE.read_text(encoding="utf-8")
    stems = {path.stem for folder in (SOURCES, CORE) for path in folder.glob("*.?*")}
    stems -= {"__init__", "py"} | {stem for stem in stems if stem.startswith(("_core", "."))}
    described = set(re.findall(r"^\| `([\w]+)(?:\.\w+)?` \|", page, re.MULTILINE))
    assert stems - described == set()
