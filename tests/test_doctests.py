"""The examples in the docstrings of the installed package give what they show.

They run from here and not by `pytest --doctest-modules src`, because the sources have no compiled
core beside them: what a user installs is what is tested.
"""

import doctest
import importlib
import pkgutil
import sys

import pytest

import committee

MODULES = [module.name for module in pkgutil.walk_packages(committee.__path__, "committee.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_docstring_examples_of_the_module_are_true(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE, report=True)
    if "matplotlib.pyplot" in sys.modules:  # more than twenty open figures are a warning
        sys.modules["matplotlib.pyplot"].close("all")
    assert result.failed == 0, "see the captured output"


def test_docstring_examples_are_found():
    finder = doctest.DocTestFinder(exclude_empty=True)
    tests = [test for name in MODULES for test in finder.find(importlib.import_module(name))]
    assert sum(len(test.examples) for test in tests) > 50
