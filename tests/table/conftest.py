"""The engine's table replaced by one that records."""

from types import SimpleNamespace

import pandas as pd
import pytest
from table_tools import RecordingTable

from committee.tables import table as _table
from committee.tables.table import read_table


@pytest.fixture
def recording(monkeypatch):
    monkeypatch.setattr(_table, "_core", SimpleNamespace(Table=RecordingTable))


@pytest.fixture
def schema(recording):
    frame = pd.DataFrame(
        {
            "age": [1, 2],
            "island": ["Dream", "Biscoe"],
            "seen": pd.to_datetime(["1970-01-02", "1970-01-03"]),
        }
    )
    return read_table(frame)[1]
