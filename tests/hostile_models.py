"""Model files that are changed inside: small fitted models, and changes that know the structure.

A change keeps checksums and JSON sound and breaks what is stored: a value of another type, a number
out of range, a part left out, an array cut, reshaped or swapped. Then `load` refuses the file, or
the model predicts; any exception but a ValueError that names the problem is a fault.

`python tests/hostile_models.py SECONDS [SEED] [MODEL ...]` looks for faults for a longer time.
"""

import copy
import faulthandler
import json
import linecache
import random
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn_zoo import zoo

import committee
from committee.files import codec, model_file
from committee.files.archive import BadContent

N_ROWS = 40


def make_table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=N_ROWS), "b": rng.choice(list("xyz"), N_ROWS)})
    X["c"] = pd.Series(rng.integers(0, 5, N_ROWS)) + 2**60
    X["d"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, N_ROWS), unit="D")
    X.loc[::7, "a"] = np.nan
    return X


X_MIXED = make_table()
X_PLAIN = np.nan_to_num(np.random.default_rng(1).normal(size=(N_ROWS, 3)))
SIGNAL = X_MIXED["a"].fillna(0.5) + (X_MIXED["b"] == "x") + X_PLAIN[:, 0]
CLASSES = np.array(["hi", "lo", "mid"])[np.digitize(SIGNAL, [0.0, 1.0])]
BINARY = (SIGNAL > 0.5).to_numpy().astype(int)
NUMBER = SIGNAL.to_numpy()
PAIRS = np.column_stack([NUMBER, -NUMBER])
LABELS = np.column_stack([BINARY, X_PLAIN[:, 0] > 0])


def tree_members():
    return [
        ("tree", committee.DecisionTreeClassifier(max_depth=2)),
        ("c45", committee.C45Classifier(max_depth=2)),
    ]


def number_members():
    return [
        ("tree", committee.DecisionTreeRegressor(max_depth=2)),
        ("forest", committee.RandomForestRegressor(2, max_depth=2, random_state=0)),
    ]


def plain_members():
    return [("tree", committee.DecisionTreeClassifier(max_depth=2)), ("line", LogisticRegression())]


def columns(encoder):
    """A preprocessor of mixed columns."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    selected = make_column_selector(dtype_include=[object, "string"])
    return ColumnTransformer([("n", numbers, ["a"]), ("c", encoder, selected)])


def piped_members():
    small = {"max_depth": 2, "random_state": 0}
    rare = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=14)
    unknown = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return [
        ("line", make_pipeline(columns(rare), LogisticRegression())),
        ("tree", make_pipeline(columns(unknown), committee.DecisionTreeClassifier(**small))),
    ]


def plans():
    """The models by name: an estimator that is not fitted, a table and a target."""
    c = committee
    small = {"n_estimators": 2, "random_state": 0}
    return {
        "committee": (
            c.CommitteeClassifier(budget=0.02, random_state=0, costs={("hi", "lo"): 3}),
            X_MIXED,
            CLASSES,
        ),
        "committee_numbers": (
            c.CommitteeRegressor(budget=0.02, random_state=0),
            X_MIXED,
            NUMBER,
        ),
        "tree": (c.DecisionTreeClassifier(max_depth=3), X_MIXED, CLASSES),
        "tree_outputs": (
            c.DecisionTreeRegressor(max_depth=2, category_split="fanout"),
            X_MIXED,
            PAIRS,
        ),
        "id3": (c.ID3Classifier(max_depth=2), X_MIXED, CLASSES),
        "c45": (c.C45Classifier(max_depth=2), X_MIXED, BINARY),
        "forest": (
            c.RandomForestClassifier(
                2, max_depth=3, oob_score=True, uncertainty=True, random_state=0
            ),
            X_MIXED,
            CLASSES,
        ),
        "forest_numbers": (
            c.RandomForestRegressor(2, max_depth=3, uncertainty=True, random_state=0),
            X_MIXED,
            NUMBER,
        ),
        "extra": (
            c.ExtraTreesClassifier(**small, max_depth=2),
            X_MIXED,
            np.column_stack([CLASSES, BINARY.astype(str)]),
        ),
        "extra_numbers": (
            c.ExtraTreesRegressor(**small, max_depth=2, criterion="absolute_error"),
            X_MIXED,
            PAIRS,
        ),
        "bagging": (
            c.BaggingClassifier(
                c.DecisionTreeClassifier(max_depth=2), **small, max_features=2, oob_score=True
            ),
            X_MIXED,
            CLASSES,
        ),
        "bagging_lines": (
            c.BaggingClassifier(LogisticRegression(), **small, max_features=2),
            X_PLAIN,
            CLASSES,
        ),
        "bagging_numbers": (
            c.BaggingRegressor(c.DecisionTreeRegressor(max_depth=2), **small),
            X_MIXED,
            NUMBER,
        ),
        "adaboost": (
            c.AdaBoostClassifier(n_estimators=3, random_state=0, keep_weights=True),
            X_MIXED,
            CLASSES,
        ),
        "adaboost_real": (
            c.AdaBoostClassifier(c.C45Classifier(max_depth=1), n_estimators=2, variant="real"),
            X_MIXED,
            BINARY,
        ),
        "adaboost_numbers": (
            c.AdaBoostRegressor(
                c.DecisionTreeRegressor(max_depth=2), n_estimators=3, random_state=0
            ),
            X_MIXED,
            NUMBER,
        ),
        "adaboost_lines": (c.AdaBoostRegressor(Ridge(), n_estimators=2), X_PLAIN, NUMBER),
        "boosting": (
            c.GradientBoostingClassifier(**small, min_samples_leaf=2, category_encoding="target"),
            X_MIXED,
            CLASSES,
        ),
        "boosting_binary": (
            c.GradientBoostingClassifier(**small, min_samples_leaf=2, init=LogisticRegression()),
            X_PLAIN,
            BINARY,
        ),
        "boosting_numbers": (
            c.GradientBoostingRegressor(
                **small, min_samples_leaf=2, loss="quantile", quantiles=[0.1, 0.9], subsample=0.7
            ),
            X_MIXED,
            NUMBER,
        ),
        "boosting_auto": (
            c.GradientBoostingRegressor(
                n_estimators="auto",
                learning_rate=1.0,
                n_iter_no_change=3,
                max_depth=1,
                loss="huber",
            ),
            X_MIXED[["a", "b"]],
            NUMBER,
        ),
        "boosting_lines": (
            c.GradientBoostingRegressor(n_estimators=2, estimator=Ridge()),
            X_PLAIN,
            NUMBER,
        ),
        "voting": (
            c.VotingClassifier(tree_members(), voting="soft", weights="learned", cv=2),
            X_MIXED,
            CLASSES,
        ),
        "voting_hard": (
            c.VotingClassifier(
                [*plain_members(), ("gone", "drop")], weights=[1, 2, 1], abstain_label="none"
            ),
            X_PLAIN,
            CLASSES,
        ),
        "voting_numbers": (
            c.VotingRegressor(number_members(), combine="median"),
            X_MIXED,
            NUMBER,
        ),
        "stacking": (
            c.StackingClassifier(tree_members(), cv=2, leak_check=True, random_state=0),
            X_MIXED,
            CLASSES,
        ),
        "stacking_layers": (
            c.StackingClassifier(
                plain_members(),
                "convex",
                layers=[[("late", c.DecisionTreeClassifier(max_depth=2))]],
                cv=2,
                refit=False,
                keep_level_one=True,
            ),
            X_PLAIN,
            BINARY,
        ),
        "stacking_numbers": (
            c.StackingRegressor(number_members(), cv=2, passthrough=False),
            X_MIXED,
            NUMBER,
        ),
        "stacking_through": (
            c.StackingRegressor(
                number_members(), c.DecisionTreeRegressor(max_depth=2), cv=2, passthrough=True
            ),
            X_MIXED,
            NUMBER,
        ),
        "stacking_labels": (
            c.StackingClassifier(
                [("a", c.DecisionTreeClassifier(max_depth=2)), ("b", c.RandomForestClassifier(2))],
                c.DecisionTreeClassifier(max_depth=2),
                cv=2,
            ),
            X_PLAIN,
            LABELS,
        ),
        "stacking_pipelines": (
            c.StackingClassifier(piped_members(), cv=KFold(2, shuffle=True, random_state=0)),
            X_MIXED[["a", "b"]],
            CLASSES,
        ),
        "bagging_pipelines": (
            c.BaggingRegressor(make_pipeline(StandardScaler(), Ridge()), **small, max_features=2),
            X_PLAIN,
            NUMBER,
        ),
        "selection": (
            c.EnsembleSelectionClassifier(tree_members(), n_rounds=3, cv=2, random_state=0),
            X_MIXED,
            CLASSES,
        ),
        "selection_numbers": (
            c.EnsembleSelectionRegressor(number_members(), n_rounds=3, cv=2, random_state=0),
            X_MIXED,
            NUMBER,
        ),
        "dynamic": (
            c.DynamicSelectionClassifier(tree_members(), cv=2, n_neighbors=5, random_state=0),
            X_MIXED,
            CLASSES,
        ),
        "dynamic_numbers": (
            c.DynamicSelectionRegressor(number_members(), cv=2, n_neighbors=5, random_state=0),
            X_MIXED[["a", "b"]],
            NUMBER,
        ),
    }


def fitted(name):
    """A model by its name, encoded, with its table and the methods that work."""
    model, X, y = (plans() | zoo())[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root, arrays = codec.encode(model.fit(X, y))
        return root, arrays, X, [each for each in METHODS if works(model, each, X)]


# ---- changes ----

SIMPLE = [
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 2**31, 2**32, 2**40, 2**53 - 1, -(2**31)),
    *(0.0, -0.5, 1.0, 2.5, 1e300, -1e300, 5e-324, "", "a", "x0", "predict", "drop", "é\0"),
    *([], [0], [None], {"tuple": []}, {"tuple": [1, "a"]}, {"dict": []}, {"dict": [["a", 1]]}),
    *({"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"int": "-" + "f" * 30}),
    *({"kind": 0}, {"kind": 1}, {"kind": 2}, {"bytes": ""}, {"date": [2024, 1, 1]}),
    *({"scalar": ["<f8", "000000000000f87f"]}, {"scalar": ["<i8", "0100000000000000"]}),
    *({"scalar": ["U", "a"]}, {"dtype": "<f8"}, {"objects": {"shape": [1], "values": ["a"]}}),
    *({"objects": {"shape": [0, 2], "values": []}}, {"decimal": "NaN"}, {"timedelta": [1, 0, 0]}),
]
DTYPES = ["f8", "f4", "i8", "i4", "u1", "u2", "u4", "u8", "?", "c16", "U3", "S2", "M8[us]"]


def places(value, path=()):
    """All places in a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def change_value(root, draw):
    """Change a JSON value at one place; return what was done."""
    path = draw.choice([path for path in places(root) if path])
    parent, key = at(root, path[:-1]), path[-1]
    old = parent[key]
    actions = ["replace", "replace", "delete", "other", "swap"]
    if type(old) in (int, float):
        actions += ["number"] * 4
    if isinstance(old, list) and old:
        actions += ["shuffle", "repeat", "cut", "cut"]
    action = draw.choice(actions)
    if action == "delete":
        del parent[key]
    elif action == "replace":
        parent[key] = copy.deepcopy(draw.choice(SIMPLE))
    elif action == "other":  # a copy of another part of the same file
        parent[key] = copy.deepcopy(at(root, draw.choice(list(places(root)))))
    elif action == "swap":
        siblings = list(parent) if isinstance(parent, dict) else range(len(parent))
        other = draw.choice(list(siblings))
        parent[key], parent[other] = parent[other], parent[key]
    elif action == "number":
        parent[key] = draw.choice([old + 1, old - 1, -old, old * 1000, old / 2, old + 2**31])
    elif action == "shuffle":
        draw.shuffle(old)
    elif action == "repeat":
        old.insert(draw.randrange(len(old)), copy.deepcopy(draw.choice(old)))
    else:
        del old[draw.randrange(len(old)) :]
    return f"{action} {path}"


def change_array(arrays, draw):
    """Change one array; return what was done."""
    place = draw.randrange(len(arrays))
    array = arrays[place].copy()
    action = draw.choice(
        ["cell", "cell", "cell", "cut", "grow", "type", "shape", "shuffle", "swap", "fill"]
    )
    flat = array.reshape(-1)
    if action in ("cell", "fill") and array.size:
        cells = slice(None) if action == "fill" else draw.randrange(array.size)
        odd = [0, 1, -1, 2, 3, 5, 127, 2**16, 2**24 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]
        if array.dtype.kind in "fc":
            odd = [*map(float, odd), np.nan, np.inf, -np.inf, 1e300, -1e300, 0.5, 5e-324]
        number = draw.choice(odd)
        if array.dtype.kind in "iu":
            flat[cells] = np.array([number % 2**64], np.uint64).astype(array.dtype)[0]
        elif array.dtype.kind in "fc":
            flat[cells] = number
        elif array.dtype.kind in "US":
            flat[cells] = draw.choice(["", "a", "hi", "zz"])
        else:
            flat[cells] = not flat[0] if array.dtype.kind == "b" else flat[-1]
        arrays[place] = flat.reshape(array.shape)
    elif action == "cut":
        arrays[place] = array[: draw.randrange(len(array) + 1)] if array.ndim else array
    elif action == "grow":
        more = [array, array[-1:]] if array.ndim and len(array) else [np.zeros(1), np.zeros(2)]
        arrays[place] = np.concatenate(more)
    elif action == "type":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                arrays[place] = array.astype(draw.choice(DTYPES))
            except (TypeError, ValueError):
                arrays[place] = np.zeros(array.shape, draw.choice(DTYPES))
    elif action == "shape":
        shapes = [(-1,), (1, -1), (-1, 1), (*array.shape, 1), array.shape[::-1]]
        arrays[place] = array.reshape(draw.choice(shapes))
    elif action == "shuffle":
        order = list(range(array.size))
        draw.shuffle(order)
        arrays[place] = flat[order].reshape(array.shape)
    else:
        other = draw.randrange(len(arrays))
        arrays[place], arrays[other] = arrays[other], array
    arrays[place] = np.ascontiguousarray(arrays[place])
    return f"{action} array {place}"


def changed(root, arrays, draw):
    """Return a changed copy of an encoded model and a description of the changes."""
    root, arrays = copy.deepcopy(root), list(arrays)
    done = []
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        if arrays and draw.random() < 0.4:
            done.append(change_array(arrays, draw))
        elif root:
            done.append(change_value(root, draw))
    return root, arrays, "; ".join(done)


# ---- what must be true then ----

# Methods that take rows only. Others fit again, need a target or draw pictures.
METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "apply",
    "decision_path",
    "predict_contributions",
    "predict_interval",
    "predict_quantiles",
    "predict_set",
    "predict_std",
    "staged_predict",
    "staged_predict_proba",
    "staged_decision_function",
    "votes",
    "explain_vote",
    "explain",
    "novelty",
    "distill",
    "get_feature_names_out",
    "feature_importances_",
)


def is_plain(error):
    """Whether an exception was raised on purpose, by a line of the library that raises it.

    A TypeError is about a parameter, which may have any value until it is used.
    """
    if not isinstance(error, ValueError | TypeError | AttributeError):
        return False
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno)
    libraries = tuple(str(Path(each.__file__).parent) for each in (committee, sklearn))
    return frame.filename.startswith(libraries) and "raise " in line


def call(model, name, X):
    """Call a method that takes rows only."""
    method = getattr(model, name)
    if not callable(method):
        return method
    result = method() if name == "get_feature_names_out" else method(X)
    return list(result) if name.startswith("staged") else result


def works(model, name, X):
    try:
        call(model, name, X)
    except (AttributeError, ValueError):
        return False
    return True


def check(root, arrays, X, methods):
    """Load an encoded model and use it; return False if it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = json.dumps(root, allow_nan=False).encode()
            model = codec.decode(model_file._read_json(text), arrays)
        except BadContent:
            return False
        for name in methods:
            try:
                if hasattr(model, name):  # a changed parameter may take a method away
                    result = call(model, name, X)
                    assert name != "predict" or len(result) == len(X)
            except Exception as error:
                if not is_plain(error):
                    raise
        return True


def main(seconds, seed, names):
    faulthandler.enable()
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("takes too long")))
    models = {name: fitted(name) for name in names or plans() | zoo()}
    begin, counts, faults = time.time(), [0, 0], {}
    draw = random.Random(seed)
    while time.time() - begin < seconds:
        name = draw.choice(list(models))
        root, arrays, X, methods = models[name]
        number = draw.getrandbits(60)
        root, arrays, what = changed(root, arrays, random.Random(number))
        sys.stderr.write(f"{name} {number}\r")  # the last one, should the process end
        signal.alarm(20)
        try:
            counts[check(root, arrays, X, methods)] += 1
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)[-3:]
            where = " < ".join(f"{Path(f.filename).stem}:{f.lineno}" for f in reversed(frames))
            key = f"{type(error).__name__} {where} | {str(error)[:90]}"
            faults.setdefault(key, []).append((name, number, what))
        finally:
            signal.alarm(0)
    sys.stdout.write(
        f"{counts[0]} refused, {counts[1]} in use, {sum(map(len, faults.values()))} faults\n"
    )
    for key, found in sorted(faults.items(), key=lambda pair: -len(pair[1])):
        sys.stdout.write(f"{len(found):5} {key}\n        {found[0]}\n")


if __name__ == "__main__":
    main(float(sys.argv[1]), int([*sys.argv, 0][2]), sys.argv[3:])
