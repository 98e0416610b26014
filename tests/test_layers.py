"""An import upward is a bug: each module knows only the layers below its own."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src"

# From the bottom up. Modules of one layer do not know each other.
CORE_LAYERS = [
    {"column", "monitor", "random", "quantize", "radix_sort", "scratch_pool"},
    {"bucketed_values", "deviance", "score_kernels", "thread_pool", "target", "tree"},
    {"binned_dataset", "statistic", "pruning", "routing"},
    {"criterion", "split"},
    {"block", "grow_options", "rows"},
    {"splitter", "node_statistics"},
    {"histogram_splitter", "median_splitter"},
    {"grower"},
]
PYTHON_LAYERS = [
    {"_archive", "_column", "_core", "_params", "_threads"},
    {"_codec_values", "_frame", "_tree_arrays"},
    {"_source", "_target"},
    {"_table", "_weights"},
    {"_codec_classes", "_tree_view"},
    {"_codec", "_conditions"},
    {"_model_file", "_tree_layout", "export"},
    {"_svg"},
    {"_tree_model"},
    {"trees"},
    {"datasets", "plots"},
    {"_demo"},
    {"cli"},
]


def heights(layers):
    return {name: height for height, layer in enumerate(layers) for name in layer}


def core_files():
    return sorted(path for path in (ROOT / "core").iterdir() if path.suffix in (".hpp", ".cpp"))


def python_files():
    return sorted(path for path in (ROOT / "committee").glob("*.py") if path.stem != "__init__")


def imported_modules(tree):
    """Modules of the package that a module imports, wherever in it the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "committee":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("committee."):
            yield node.module.split(".")[1]


@pytest.mark.parametrize("path", core_files(), ids=lambda path: path.name)
def test_core_includes_go_down(path):
    height = heights(CORE_LAYERS)
    assert path.stem in height, "give the new file a layer"
    for name in re.findall(r'#include "(?:\.\./)?([a-z_]+)\.hpp"', path.read_text()):
        assert name == path.stem or height[name] < height[path.stem], f"{path.stem} knows {name}"


def test_only_the_bindings_know_python():
    for path in core_files():
        assert not re.search(r"#include <(nanobind|Python)", path.read_text()), path.name


@pytest.mark.parametrize("path", python_files(), ids=lambda path: path.name)
def test_python_imports_go_down(path):
    height = heights(PYTHON_LAYERS)
    assert path.stem in height, "give the new module a layer"
    for name in imported_modules(ast.parse(path.read_text())):
        if name in height:  # else a public name from the package, such as committee.save
            assert height[name] < height[path.stem], f"{path.stem} imports {name}"
