"""What docstrings of related estimators share is the same, and one command makes it so."""

import ast
import importlib.util
import inspect
import re
import shutil
from pathlib import Path

import pytest

import committee

ROOT = Path(__file__).parent.parent
ESTIMATORS = [name for name in committee.__all__ if name.endswith(("Classifier", "Regressor"))]


@pytest.fixture(scope="module")
def shared_docs():
    path = ROOT / "tools" / "shared_docs.py"
    spec = importlib.util.spec_from_file_location("shared_docs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sources(tmp_path):
    """A copy of the package to edit."""
    return Path(
        shutil.copytree(
            ROOT / "src" / "committee",
            tmp_path / "committee",
            ignore=shutil.ignore_patterns("*.so"),
        )
    )


def edit(path, old, new, position=0):
    """Replace one of the places where a text stands."""
    parts = path.read_text("utf-8").split(old)
    assert len(parts) > position + 1
    before, after = old.join(parts[: position + 1]), old.join(parts[position + 1 :])
    path.write_text(before + new + after, "utf-8")


def contents(folder):
    return {path: path.read_text("utf-8") for path in folder.rglob("*.py")}


def code_of(text):
    """The syntax tree of a module without its docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0].value.value = ""
    return ast.dump(tree)


def test_shared_entries_are_the_same_in_all_classes(shared_docs, capsys):
    assert shared_docs.main([]) == 0, (
        capsys.readouterr().out + "\npython tools/shared_docs.py --write"
    )


@pytest.mark.parametrize(
    ("file", "old", "message"),
    [
        ("forests/random_forest.py", "Number of trees; the most", "RandomForestRegressor: n_estim"),
        ("auto/committee.py", "Sets folds and draws", "CommitteeRegressor: random_state"),
        ("bagging/regressor.py", "Draw rows with", "BaggingRegressor: bootstrap is not as in"),
        ("boosting/regressor.py", "Strength of minimal", "GradientBoostingRegressor: ccp_alpha"),
        ("trees/trees.py", "looks at all.", "DecisionTreeRegressor: max_features is not as in"),
        ("trees/trees.py", "Rows with the columns", "DecisionTreeRegressor.predict: X is not"),
    ],
)
def test_an_entry_that_is_edited_in_one_class_only_is_found_and_mended(
    shared_docs, sources, capsys, file, old, message
):
    before = contents(sources)
    text = before[sources / file]
    edit(sources / file, old, "Edited. " + old, position=text.count(old) - 1)
    assert shared_docs.main([], sources) == 1
    assert message in capsys.readouterr().out
    assert shared_docs.main(["--write"], sources) == 0
    assert contents(sources) == before


def test_an_edit_of_the_first_class_reaches_all_that_share_the_entry(shared_docs, sources):
    before = contents(sources)
    edit(sources / "trees" / "trees.py", "What numbers written as text are.", "New\n        text.")
    assert shared_docs.main(["--write"], sources) == 0
    entries = {name: each.entries for name, each in shared_docs.read(sources).items()}
    holders = [name for name in entries if "numeric_text" in entries[name]]
    assert {"AdaBoostRegressor", "C45Classifier", "RandomForestRegressor"} < set(holders)
    texts = {tuple(entries[name]["numeric_text"].lines) for name in holders}
    assert len(texts) == 1
    assert "        New" in texts.pop()
    changed = [path for path, text in contents(sources).items() if text != before[path]]
    assert len(changed) > 5
    assert [
        path for path in changed if code_of(path.read_text("utf-8")) != code_of(before[path])
    ] == []


def test_a_new_parameter_gets_its_entry_with_the_default_of_each_class(shared_docs, sources):
    path = sources / "auto" / "committee.py"
    for position, default in enumerate(["one", "two"]):
        signature = f'mode: str = "{default}",\n        n_jobs: int | None = None,'
        edit(path, "n_jobs: int | None = None,", signature, position)
    entry = '    mode : str, default="one"\n        How a classifier does it.\n    n_jobs :'
    edit(path, "    n_jobs :", entry)
    assert shared_docs.main([], sources) == 1
    assert shared_docs.main(["--write"], sources) == 0
    text = path.read_text("utf-8")
    assert text.count(entry) == 1
    assert text.count(entry.replace("one", "two").replace("classifier", "regressor")) == 1


def test_tables_that_list_too_much_or_too_little_are_found(shared_docs, monkeypatch, capsys):
    tables = {
        "own": shared_docs.TABLES["own"] | {"GradientBoostingRegressor": "loss verbose"},
        "takes": shared_docs.TABLES["takes"] | {"BaggingRegressor": {"ID3Classifier": "classes_"}},
    }
    monkeypatch.setattr(shared_docs, "TABLES", tables)
    assert shared_docs.main([]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "own: verbose of GradientBoostingRegressor does not differ from that of the classifier",
        "takes: BaggingRegressor and ID3Classifier do not both have classes_",
        "takes: verbose is the same in GradientBoostingClassifier and GradientBoostingRegressor",
        "takes: n_outputs_ is the same in BaggingRegressor and DecisionTreeClassifier",
    ]


def documented_defaults(name):
    """What the docstring of a class says the defaults of its parameters are."""
    text = inspect.getdoc(getattr(committee, name))
    return {
        parameter: default
        for names, default in re.findall(r"^(\w[\w, ]*) : .*default=(.*)$", text, re.MULTILINE)
        for parameter in names.split(", ")
    }


@pytest.mark.parametrize("name", ESTIMATORS)
def test_docstrings_have_the_defaults_of_the_signature(name):
    documented = documented_defaults(name)
    parameters = inspect.signature(getattr(committee, name)).parameters
    found = {each: ast.literal_eval(default) for each, default in documented.items()}
    assert found
    assert found == {each: parameters[each].default for each in found}
    if not name.startswith("ExtraTrees"):  # whose docstring refers to that of the random forest
        named = {each for each, value in parameters.items() if value.default is not value.empty}
        assert named <= set(found)
