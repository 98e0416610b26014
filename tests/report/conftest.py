"""Committees for two and three classes and for numbers, fitted once; names are hostile."""

import numpy as np
import pandas as pd
import pytest

import committee
from committee.datasets import load_penguins

# What must never be read as HTML.
SCRIPT = "<script>alert(1)</script>"
ATTRIBUTE = '"onload="alert(2)'
IMAGE = "</style></title><img src=x onerror=alert(3)>"
ENTITY = "&lt;b&gt; & 'quoted'"


def two_classes():
    """Return a table of hostile names and levels, and one of two hostile labels for each row."""
    rng = np.random.default_rng(0)
    n_rows = 300
    table = pd.DataFrame(
        {
            SCRIPT: rng.normal(size=n_rows),
            ATTRIBUTE: rng.choice([IMAGE, SCRIPT, "plain"], n_rows),
            ENTITY: rng.normal(size=n_rows),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n_rows), "D"),
            IMAGE: "constant",
            "key": [f"secret{i:04d}" for i in rng.permutation(n_rows)],
        }
    )
    table.loc[::9, ENTITY] = np.nan
    score = table[SCRIPT] + (table[ATTRIBUTE] == "plain") + 0.5 * rng.normal(size=n_rows)
    return table, np.where(score > 0.5, ATTRIBUTE, SCRIPT)


@pytest.fixture(scope="session")
def binary():
    table, y = two_classes()
    whole = table.assign(**{"<target>": y})
    return committee.train(whole, "<target>", budget=0.3, random_state=0, verbose=0), whole


@pytest.fixture(scope="session")
def penguins():
    table, species = load_penguins(backend="pandas")
    model = committee.CommitteeClassifier(budget=0.5, random_state=0)
    return model.fit(table, species), table, species


@pytest.fixture(scope="session")
def numbers():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 5))
    y = 1e5 + 3e4 * X[:, 0] + 1e4 * rng.normal(size=400) * (1 + 3 * (X[:, 1] > 0.5))
    return committee.CommitteeRegressor(budget=0.3, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="session")
def pages(binary, penguins, numbers):
    """The reports as text, by kind."""
    from committee.report.page import page

    models = {"binary": binary[0], "penguins": penguins[0], "numbers": numbers[0]}
    return {name: page(model) for name, model in models.items()}
