"""A tree from a raw table: strings, dates and missing values, no preparation."""

import datetime as dt
import tempfile
from pathlib import Path

import polars as pl

import committee

flats = pl.DataFrame(
    {
        "district": ["north", "harbour", None, "harbour", "north", "old town", "old town"],
        "area": [34.0, 61.0, 48.0, None, 80.0, 75.0, 39.0],
        "built": [
            dt.date(1931, 5, 1),
            dt.date(2015, 3, 1),
            dt.date(1968, 1, 1),
            dt.date(2018, 9, 1),
            None,
            dt.date(1899, 1, 1),
            dt.date(1904, 7, 1),
        ],
    }
)
rent = [420, 1180, 610, 1240, 790, 1020, 560]

model = committee.DecisionTreeRegressor(max_leaf_nodes=4).fit(flats, rent)
print(committee.export_text(model, decimals=0))

# A district that training never saw, and no year: still an answer.
new = pl.DataFrame({"area": [55.0], "built": [None], "district": ["riverside"]})
print("rent of the new flat:", model.predict(new)[0])

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "rent.committee"
    committee.save(model, path)
    print("the same from a file:", committee.load(path).predict(new)[0])
