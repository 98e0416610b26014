"""The committed stub of the engine names what the compiled module has."""

import ast
from pathlib import Path

import committee
from committee import _core


def stub_names():
    source = (Path(committee.__file__).parent / "_core.pyi").read_text()
    names = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = None
    return names


def test_the_stub_and_the_module_have_the_same_names():
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert public == set(stub_names())


def test_the_stub_and_the_module_have_the_same_methods():
    for name, methods in stub_names().items():
        if methods is not None:
            public = {m for m in vars(getattr(_core, name)) if not m.startswith("_")}
            assert public == methods - {"__init__"}, name
