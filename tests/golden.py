"""Makes the model files in tests/data, which every later version must be able to load.

Run `python tests/golden.py VERSION [NAME ...]` once for a new format or estimator; a file that has
been released is never overwritten.
"""

import datetime as dt
import json
import sys
from pathlib import Path

import committee
from committee import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ID3Classifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    join,
)

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
        "tree_classifier": DecisionTreeClassifier(max_depth=5, class_weight="balanced").fit(
            X, label
        ),
        "tree_regressor": DecisionTreeRegressor(min_samples_leaf=3, category_split="fanout").fit(
            X, [[value, -value * value] for value in number]
        ),
        "forest_classifier": RandomForestClassifier(
            40, oob_score=True, uncertainty=True, random_state=0
        ).fit(X, label),
        "extra_regressor": ExtraTreesRegressor(
            5, bootstrap=True, criterion="absolute_error", random_state=0
        ).fit(X, number),
        "joined_forest": join(
            RandomForestRegressor(3, draw_features="tree", max_features=3, random_state=0).fit(
                X, number
            ),
            RandomForestRegressor(2, random_state=1).fit(X, number),
        ),
        "boosting_intervals": GradientBoostingRegressor(
            n_estimators=4, min_samples_leaf=3, random_state=0
        ).fit(X, number, eval_set={"one": (X, number), "two": (X, number)}),
        "bagged_trees": BaggingRegressor(n_estimators=4, max_features=3, random_state=0).fit(
            X, number
        ),
        "boosting_classifier": GradientBoostingClassifier(
            n_estimators=6, min_samples_leaf=3, subsample=0.8, random_state=0
        ).fit(X, label),
        "boosting_regressor": GradientBoostingRegressor(
            loss="quantile",
            quantiles=[0.1, 0.9],
            n_estimators=20,
            min_samples_leaf=3,
            n_iter_no_change=5,
            random_state=0,
        ).fit(X, number),
        "boosting_statistics": GradientBoostingClassifier(
            n_estimators=4, min_samples_leaf=3, category_encoding="target", random_state=0
        ).fit(X, label),
        "id3": ID3Classifier(max_depth=4).fit(X, label),
        "c45": C45Classifier(category_split="grouped").fit(X, label),
        "adaboost_classifier": AdaBoostClassifier(
            n_estimators=12,
            n_iter_no_change=4,
            scoring="neg_log_loss",
            keep_weights=True,
            random_state=0,
        ).fit(X, label),
        "adaboost_regressor": AdaBoostRegressor(
            n_estimators=6, loss="square", learning_rate=0.5, random_state=0
        ).fit(X, number),
        "voting_classifier": VotingClassifier(
            [("tree", DecisionTreeClassifier(max_depth=3)), ("c45", C45Classifier())],
            voting="soft",
            weights="learned",
            tie_break="prior",
            abstain_label="none",
        ).fit(X, label),
        "voting_regressor": VotingRegressor(
            [(f"tree{depth}", DecisionTreeRegressor(max_depth=depth)) for depth in (1, 3, 5)],
            combine="median",
        ).fit(X, number),
        "stacking_classifier": StackingClassifier(
            [("tree", DecisionTreeClassifier(max_depth=3)), ("c45", C45Classifier())],
            "convex",
            layers=[[("later", DecisionTreeClassifier(max_depth=2))]],
            cv=3,
            leak_check=True,
            random_state=0,
        ).fit(X, label),
        "stacking_regressor": StackingRegressor(
            [("tree", DecisionTreeRegressor(max_depth=3)), ("gone", "drop")],
            DecisionTreeRegressor(max_depth=4),
            cv=0.5,
            keep_level_one=True,
            random_state=0,
        ).fit(X, number),
    }


def answers(model):
    """What a loaded model must say again."""
    names = ("predict", "apply", "predict_set", "decision_function")
    methods = [name for name in names if hasattr(model, name)]
    found = {name: getattr(model, name)(table()).tolist() for name in methods}
    if hasattr(model, "_errors"):
        found["predict_interval"] = model.predict_interval(table(), 0.8).tolist()
    if isinstance(model, RandomForestRegressor):
        found["estimators_samples_"] = [rows.tolist() for rows in model.estimators_samples_]
    return found


def main(version, names):
    fitted = models()
    for name in names or fitted:
        path = DATA / f"{name}_{version}.committee"
        if path.exists():
            raise FileExistsError(f"{path.name} has been released")
        committee.save(fitted[name], path)
        path.with_suffix(".json").write_text(json.dumps(answers(fitted[name])) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
