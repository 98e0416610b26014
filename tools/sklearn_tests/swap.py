"""A plugin of pytest: `sklearn.ensemble` and `sklearn.tree` have our classes while tests run."""

import json
import os
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest
import sklearn.ensemble
import sklearn.tree

import committee

OUTCOMES: dict[str, str] = {}


def pytest_configure(config: pytest.Config) -> None:
    # First everything of theirs takes what it needs: only tests are to see our classes.
    for module in pkgutil.walk_packages(sklearn.__path__, "sklearn."):
        if ".tests" not in module.name and "conftest" not in module.name:
            try:
                import_module(module.name)
            except ImportError:
                continue
    for package in (sklearn.ensemble, sklearn.tree):
        for name in package.__all__:
            if isinstance(getattr(package, name), type) and hasattr(committee, name):
                setattr(package, name, getattr(committee, name))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        known = OUTCOMES.get(report.nodeid)
        OUTCOMES[report.nodeid] = (
            "failed" if "failed" in (known, report.outcome) else report.outcome
        )


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        OUTCOMES[report.nodeid] = "failed"


def pytest_sessionfinish() -> None:
    Path(os.environ["SWAP_REPORT"]).write_text(json.dumps(OUTCOMES))
