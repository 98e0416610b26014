"""Trees, forests and schemas of tables to JSON and arrays and back."""

import contextlib
import copy
import pickle

import numpy as np
import pytest
from codec_tools import identical, through

from committee import RandomForestRegressor, _core
from committee._core import Table, Tree
from committee.files import tree_arrays as _tree_arrays
from committee.files.codec import decode, encode
from committee.files.tree_arrays import LaterArray
from committee.tables.table import FeatureInfo, Kind, TableSchema


def test_the_schema_of_a_table_comes_back():
    schema = TableSchema(
        (
            FeatureInfo("height", Kind.REAL, None, "number"),
            FeatureInfo("island", Kind.CATEGORY, ("Biscoe", 3, 0.5), "category"),
            FeatureInfo("seen", Kind.INTEGER, None, "datetime"),
        ),
        ("height", "island", "seen"),
    )
    loaded = through(schema)
    assert loaded == schema
    assert type(loaded.features[1].kind) is Kind


def _feature(**changes):
    fields = {"name": "a", "kind": {"kind": 0}, "levels": None, "label": "number"}
    fields = fields | {"has_missing": False} | changes
    return {"record": {"class": "FeatureInfo", "fields": fields}}


@pytest.mark.parametrize(
    "value",
    [
        _feature(name=3),
        _feature(kind=0),
        _feature(kind={"kind": 7}),
        _feature(levels=["a"]),
        _feature(label=None),
        {"record": {"class": "TableSchema", "fields": {"features": [], "names": None}}},
        {"record": {"class": "TableSchema", "fields": {"features": {"tuple": [1]}, "names": None}}},
    ],
)
def test_a_schema_with_wrong_types_is_refused(value):
    assert decode(_feature(), []) == FeatureInfo("a", Kind.REAL, None, "number")
    with pytest.raises(ValueError, match=r"^(it|its) "):
        decode(value, [])


SUBSET, INTEGER, MISSING_LEFT = 2 << 24, 1 << 24, 1 << 26


def tree_arrays():
    """Feature 2 (category): level 1 goes right, the rest left; there feature 0 <= 7 (integer)."""
    return {
        "threshold": np.array([0, 7, 0, 0, 0], np.uint64),
        "feature_and_flags": np.array([2 | SUBSET | MISSING_LEFT, INTEGER, 0, 0, 0], np.uint32),
        "first_child": np.array([1, 3, 0, 0, 0], np.uint32),
        "category_data": np.array([1, 0b10], np.uint32),
        "values": np.array([[0.5], [1.0], [2.0], [3.0], [-0.0]]),
        "impurity": np.array([1.0, 0.5, 0.0, 0.0, 0.0]),
        "weight": np.array([5.0, 3.0, 2.0, 2.0, 1.0]),
        "n_rows": np.array([5, 3, 2, 2, 1]),
    }


def make_tree():
    return Tree(4, [1, 0, 2, 2], tree_arrays())


def same_tree(one, other):
    arrays, others = one.arrays(), other.arrays()
    same = all(arrays[name].tobytes() == others[name].tobytes() for name in tree_arrays())
    return same and (one.n_features, one.n_values) == (other.n_features, other.n_values)


def predictions(tree):
    table = Table(4)
    table.add_column(1, np.array([7, 8, 9, 0]), None)
    table.add_column(2, np.zeros(4, np.int32), None)  # in training a number, but never asked about
    table.add_column(2, np.array([0, 0, 1, -1], np.int32), None)
    table.add_column(0, np.zeros(4), None)
    return tree.predict(table, 1).ravel().tolist()


@pytest.mark.parametrize("copied", [through, copy.copy, copy.deepcopy, "pickle"])
def test_a_tree_comes_back_by_every_way_and_predicts_the_same(copied):
    tree = make_tree()
    if copied == "pickle":
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert same_tree(pickle.loads(pickle.dumps(tree, protocol)), tree)
    else:
        assert same_tree(copied(tree), tree)
        assert predictions(copied(tree)) == predictions(tree) == [3.0, 0.0, 2.0, 3.0]


def test_a_tree_tells_the_kinds_its_splits_need():
    assert make_tree().kinds == [1, 0, 2, 0]


def _tree_value(kinds="1022", names=None):
    arrays = {name: {"array": index} for index, name in enumerate(names or tree_arrays())}
    return {"tree": {"kinds": kinds, "arrays": arrays}}


def test_a_tree_is_written_as_documented():
    value, arrays = encode(make_tree())
    assert value == _tree_value("1020")
    for stored, expected in zip(arrays, tree_arrays().values(), strict=True):
        assert identical(stored, expected)


@pytest.mark.parametrize(
    ("name", "position", "number"),
    [
        ("first_child", 0, 5),  # out of range
        ("first_child", 1, 1),  # a node as its own child
        ("first_child", 2, 1),  # a cycle
        ("first_child", 0, 2**31),
        ("feature_and_flags", 0, 9 | SUBSET),  # no such feature
        ("feature_and_flags", 0, 0 | SUBSET),  # a feature of another kind
        ("threshold", 0, 2),  # beyond the category data
        ("threshold", 0, 2**63),
        ("category_data", 0, 2**30),  # more words than there are
    ],
)
def test_an_unsound_tree_is_refused(name, position, number):
    arrays = tree_arrays()
    arrays[name][position] = number
    with pytest.raises(ValueError, match=r"^it holds a tree that is not valid"):
        decode(_tree_value(), list(arrays.values()))


@pytest.mark.parametrize(
    "change",
    [
        {"values": np.zeros(5)},
        {"values": np.zeros((5, 1), np.float32)},
        {"values": np.zeros((2, 1))},
        {"impurity": np.zeros(4)},
        {"threshold": np.zeros(5)},
        {"n_rows": np.zeros(0, np.int64)},
        {name: array[:0] for name, array in tree_arrays().items()},
    ],
)
def test_arrays_of_a_tree_must_have_their_shapes_and_types(change):
    with pytest.raises(ValueError, match=r"^it holds a tree that is not valid"):
        decode(_tree_value(), list((tree_arrays() | change).values()))


def test_a_tree_must_have_all_its_arrays_and_kinds():
    arrays = list(tree_arrays().values())
    with pytest.raises(ValueError, match="not valid"):
        decode(_tree_value(names=list(tree_arrays())[1:]), arrays)
    with pytest.raises(ValueError, match="not valid"):
        decode(_tree_value(kinds="10"), arrays)
    with pytest.raises(ValueError, match="digits from 0 to 2"):
        decode(_tree_value(kinds="1023"), arrays)


def _forest():
    X = np.arange(8.0)[:, None]
    return RandomForestRegressor(2, random_state=0).fit(X, X[:, 0])._forest


class Recorder:
    """The engine's class, and the arrays that it was made from."""

    def __init__(self, cls):
        self.cls = cls

    def __call__(self, *arguments):
        self.arrays = arguments[-1]
        return self.cls(*arguments)


@pytest.mark.parametrize("what", ["tree", "forest"])
def test_an_array_that_was_added_later_may_be_absent(monkeypatch, what):
    obj = make_tree() if what == "tree" else _forest()
    engine = Recorder(type(obj))
    old, old_arrays = encode(obj)
    later = {
        "note": LaterArray("int32", 1, np.array([7], np.int32)),
        "hint": LaterArray(None, 2),
    }
    monkeypatch.setattr(_tree_arrays, f"LATER_{what.upper()}_ARRAYS", later)
    monkeypatch.setattr(_core, what.capitalize(), engine)
    decode(old, old_arrays)
    assert engine.arrays["note"].tolist() == [7]
    assert "hint" not in engine.arrays

    def with_arrays(**more):
        new = copy.deepcopy(old)
        names = new["tree"]["arrays"] if what == "tree" else new["forest"]
        for place, name in enumerate(more, len(old_arrays)):
            names[name] = {"array": place}
        return new, [*old_arrays, *more.values()]

    decode(*with_arrays(note=np.array([1, 2], np.int32), hint=np.zeros((1, 2))))
    assert engine.arrays["note"].tolist() == [1, 2]
    assert engine.arrays["hint"].shape == (1, 2)
    for wrong in [{"note": np.zeros(1)}, {"hint": np.zeros(2)}, {"note": np.zeros((1, 1), "i4")}]:
        with pytest.raises(ValueError, match=f"of a {what} must be"):
            decode(*with_arrays(**wrong))
    with pytest.raises(ValueError, match=f"a {what} has the arrays"):
        decode(*with_arrays(unknown=np.zeros(1)))


@pytest.mark.parametrize("what", ["tree", "forest"])
def test_an_array_that_was_added_later_is_stored_where_the_engine_has_it(monkeypatch, what):
    obj = make_tree() if what == "tree" else _forest()
    stored = getattr(_tree_arrays, f"stored_{what}_arrays")
    names = list(stored(obj))
    later = {"note": LaterArray("int32", 1), "hint": LaterArray("int32", 1)}
    monkeypatch.setattr(_tree_arrays, f"LATER_{what.upper()}_ARRAYS", later)
    assert list(stored(obj)) == names

    class More:
        def arrays(self):
            return {"hint": np.zeros(1, np.int32)} | obj.arrays()

    assert list(stored(More())) == [*names, "hint"]


def test_unknown_arrays_are_refused():
    with pytest.raises(ValueError, match="a tree has the arrays"):
        decode(_tree_value(names=[*tree_arrays(), "more"]), [*tree_arrays().values(), np.zeros(1)])


@pytest.mark.parametrize("seed", range(10))
def test_a_scrambled_tree_is_refused_or_still_predicts(seed):
    draw = np.random.RandomState(seed)
    numbers = [0, 1, 2, 3, 4, 5, 2**24 - 1, 2**24, 2**25, 2**26, 2**31 + 1, 2**32 - 1]
    for _ in range(60):
        arrays = tree_arrays()
        for _ in range(draw.randint(1, 3)):
            name = draw.choice(["threshold", "feature_and_flags", "first_child", "category_data"])
            arrays[name][draw.randint(len(arrays[name]))] = draw.choice(numbers)
        try:
            tree = decode(_tree_value(), list(arrays.values()))
        except ValueError as error:
            assert str(error).startswith("it holds a tree that is not valid")  # noqa: PT017
        else:
            with contextlib.suppress(ValueError):  # the splits may ask for other kinds now
                assert len(predictions(tree)) == 4
