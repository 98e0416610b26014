"""The way from `fit` to the engine stays short: few files, and the architecture page names them."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# How many files of the package each fit enters today; it may only get shorter. The goals, which
# boosting has not reached, are in tools/fit_walk.py.
MOST_FILES = {"forest": 11, "boosting": 22, "stack": 20}


@pytest.fixture(scope="module")
def fit_walk():
    spec = importlib.util.spec_from_file_location("fit_walk", ROOT / "tools" / "fit_walk.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(sys.gettrace() is not None, reason="another tool watches the calls")
@pytest.mark.parametrize("name", MOST_FILES)
def test_a_fit_enters_few_files_and_the_architecture_page_names_each(fit_walk, name):
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = fit_walk.walk(fit_walk.estimators()[name])
    assert 1 < len(files) <= MOST_FILES[name]
    assert [file for file in files if file.rpartition("/")[2] not in page] == []
