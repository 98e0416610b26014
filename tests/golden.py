"""Makes the model files in tests/data, which every later version must be able to load.

Run `python tests/golden.py NAME` once for a new format or estimator; never overwrite a file that
has been released.
"""

import datetime as dt
import json
import sys
from pathlib import Path

import committee
from committee import DecisionTreeClassifier, DecisionTreeRegressor

DATA = Path(__file__).parent / "data"


def rows():
    """A table with a number, a category, a date, a huge integer and a flag, with gaps."""
    return [
        [
            None if i % 11 == 0 else (i * 37 % 100) / 7,
            None if i % 13 == 0 else "abcd"[i * i % 4],
            dt.datetime(2024, 1, 1) + dt.timedelta(days=i * 53 % 365),
            2**60 + i * 29 % 64,
            i % 3 == 0,
        ]
        for i in range(120)
    ]


def table():
    import pyarrow as pa

    columns = list(zip(*rows(), strict=True))
    return pa.table(dict(zip(["x", "c", "d", "n", "b"], columns, strict=True)))


def models():
    X = table()
    label = [["yes", "no", "maybe"][(i * 37 % 100 // 30 + (i % 3 == 0)) % 3] for i in range(120)]
    number = [(i * 37 % 100) / 7 + "abcd".index("abcd"[i * i % 4]) for i in range(120)]
    return {
        "classifier": DecisionTreeClassifier(max_depth=5, class_weight="balanced").fit(X, label),
        "regressor": DecisionTreeRegressor(min_samples_leaf=3, category_split="fanout").fit(
            X, [[value, -value * value] for value in number]
        ),
    }


def main(version):
    for name, model in models().items():
        committee.save(model, DATA / f"tree_{name}_{version}.committee")
        answers = {
            "predict": model.predict(table()).tolist(),
            "apply": model.apply(table()).tolist(),
        }
        (DATA / f"tree_{name}_{version}.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
