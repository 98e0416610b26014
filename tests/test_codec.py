"""Objects to JSON and arrays and back."""

import contextlib
import copy
import datetime
import decimal
import json
import pickle
import subprocess
import sys
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.tree import ExtraTreeClassifier

import committee
from committee import RandomForestRegressor, _core
from committee._core import Table, Tree
from committee.files import codec as _codec
from committee.files import codec_classes as _codec_classes
from committee.files import tree_arrays as _tree_arrays
from committee.files.codec import decode, encode, register
from committee.files.parts import ANYTHING, declared_parts, maybe
from committee.files.tree_arrays import LaterArray, register_pickling, tree_kinds
from committee.losses import Loss
from committee.tables.table import FeatureInfo, Kind, TableSchema


@register("Shelf")
class Shelf(BaseEstimator):
    """An estimator with nothing to it but its parts."""

    _stored_parts: ClassVar = {"_state": maybe(ANYTHING)}
    _derived_attributes = ("label_",)

    def __init__(self, size=3, estimator=None):
        self.size = size
        self.estimator = estimator

    @property
    def width_(self):
        return 5

    def _validate_loaded(self):
        if getattr(self, "level_", 0) < 0:
            raise KeyError("level_")
        self.label_ = f"shelf {self.size}"


@register("Interval")
@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def through(obj):
    value, arrays = encode(obj)
    return decode(json.loads(json.dumps(value, allow_nan=False)), arrays)


def identical(a, b):
    """Same types, same structure, same bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray) and a.dtype == object:
        return a.shape == b.shape and identical(a.ravel().tolist(), b.ravel().tolist())
    if isinstance(a, np.ndarray | np.generic):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict):
        return identical(list(a.items()), list(b.items()))
    if isinstance(a, float | decimal.Decimal):
        return repr(a) == repr(b)
    if isinstance(a, BaseEstimator):
        return identical(vars(a), vars(b))
    return a == b


VALUES = [
    None,
    True,
    False,
    0,
    -7,
    2**53 - 1,
    2**53,
    -(2**64),
    10**6000,
    0.0,
    -0.0,
    0.1,
    5e-324,
    1.7976931348623157e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    "Käse \N{PENGUIN} \0 \u2028",
    "\ud83d\ude00",  # two lone surrogates, which JSON would join to one character
    b"",
    b"\x00\xff",
    [],
    (),
    {},
    [1, (2.0, [None])],
    {"a": 1, 2: "b", (1, None): [3], 2.5: {}, None: None, b"x": True},
    datetime.date(1999, 12, 31),
    datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
    datetime.datetime(2024, 2, 29, 1, fold=1),
    datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
    datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=-3.5))),
    datetime.timedelta(days=-2, microseconds=5),
    decimal.Decimal("1.10"),
    decimal.Decimal("-NaN"),
    decimal.Decimal("1E+1000"),
    Interval(0.5, float("inf")),
    np.float64(0.1),
    np.float32("nan"),
    np.float16(1.5),
    np.int64(-(2**63)),
    np.uint8(200),
    np.bool_(True),
    np.complex128(1 - 2j),
    np.datetime64("2020-01-01T00:00:00.000001"),
    np.datetime64("NaT"),
    np.timedelta64(5, "D"),
    np.str_(""),
    np.str_("end\0"),
    np.str_("\ud800"),
    np.bytes_(b"\x00a\x00"),
    np.dtype("float64"),
    np.dtype(">i4"),
    np.dtype(object),
    np.dtype(str),
    np.dtype("datetime64[ns]"),
    np.array([1.5, np.nan, -0.0]),
    np.array(3),
    np.zeros((2, 0, 3), np.int8),
    np.array([[True, False]]),
    np.array(["a", "", "Käse"]),
    np.array([], dtype=str),
    np.array([b"a", b""]),
    np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]"),
    np.array([1, -1], dtype="timedelta64[25s]"),
    np.array([1 + 2j], dtype=np.complex64),
    np.array(["a", 1, None, 2.5, float("nan"), np.int64(3)], dtype=object),
    np.array([["a"], [None]], dtype=object),
    np.array([], dtype=object),
    np.array(None, dtype=object),
]


@pytest.mark.parametrize("obj", VALUES, ids=lambda obj: type(obj).__name__)
def test_a_value_comes_back_with_its_type_and_bits(obj):
    assert identical(through(obj), obj)


_keys = st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.dates()
_leaves = _keys | st.floats() | st.datetimes() | st.timedeltas() | st.decimals(allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        _leaves,
        lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(_keys, inner),
        max_leaves=12,
    )
)
def test_any_plain_structure_comes_back(obj):
    assert identical(through(obj), obj)


def test_arrays_are_stored_little_endian_in_c_order():
    original = np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3))[:, ::-1]
    _, (stored,) = encode(original)
    assert stored.dtype.str == "<i4"
    assert stored.flags.c_contiguous
    np.testing.assert_array_equal(stored, original)


def test_a_memory_map_is_stored_as_a_plain_array(tmp_path):
    mapped = np.memmap(tmp_path / "numbers", np.int64, "w+", shape=(3,))
    mapped[:] = [1, 2, 3]
    assert identical(through(mapped), np.array([1, 2, 3]))


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.PCG64DXSM])
def test_a_generator_continues_where_it_was(bits):
    generator = np.random.Generator(bits(7))
    generator.integers(0, 9, 3, np.uint32)  # leaves half of a number behind
    loaded = through(generator)
    assert type(loaded) is np.random.Generator
    assert loaded.bit_generator.state == generator.bit_generator.state
    more = [each.integers(0, 99, 9, np.uint32).tolist() for each in (loaded, generator)]
    assert more[0] == more[1]


def test_a_model_with_a_generator_as_random_state_comes_back():
    X = np.arange(8.0)[:, None]
    for state in (np.random.default_rng(5), np.random.RandomState(5)):
        model = RandomForestRegressor(2, random_state=state).fit(X, X[:, 0])
        loaded = through(model)
        assert type(loaded.get_params()["random_state"]) is type(state)
        assert loaded.predict(X).tolist() == model.predict(X).tolist()
        again = [each.fit(X, X[:, 0]).predict(X).tolist() for each in (loaded, model)]
        assert again[0] == again[1]


def test_a_random_state_continues_where_it_was():
    generator = np.random.RandomState(7)
    generator.normal(size=3)  # an odd number leaves half of a pair in the state
    copy = through(generator)
    np.testing.assert_array_equal(copy.normal(size=5), generator.normal(size=5))
    np.testing.assert_array_equal(copy.randint(100, size=700), generator.randint(100, size=700))


def test_an_estimator_keeps_parameters_and_fitted_attributes():
    model = Shelf(size=np.int64(4), estimator=Shelf(estimator=[Shelf(), None]))
    model.level_ = 2
    model.items_ = [np.arange(3), "a"]
    model._state = np.random.RandomState(0).get_state()[1]
    model.label_ = "not stored, but built again"
    loaded = through(model)
    assert loaded.get_params(deep=False).keys() == {"size", "estimator"}
    assert identical(loaded.size, np.int64(4))
    assert loaded.estimator.estimator[0].get_params() == Shelf().get_params()
    assert identical(loaded.items_, model.items_)
    assert identical(loaded._state, model._state)
    assert loaded.level_ == 2
    assert loaded.label_ == "shelf 4"


def test_a_parameter_that_the_file_lacks_takes_its_default():
    loaded = decode({"estimator": {"class": "Shelf", "params": {}, "attributes": {}}}, [])
    assert loaded.size == 3


def _with(model, name, obj):
    setattr(model, name, obj)
    return model


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (
            Shelf(estimator=ExtraTreeClassifier()),
            r"^Shelf\.estimator: .* ExtraTreeClassifier of \'sklearn\'\. A model",
        ),
        (Shelf(estimator=Shelf(size=len)), r"^Shelf\.estimator\.size: .* builtin_function"),
        ({"a": [1, lambda: 0]}, r"^dict\['a'\]\[1\]: cannot be stored safely: function"),
        ({10**6000: print}, r"^dict\[int\]: cannot"),
        ({print: 1}, r"^a key of dict: cannot be stored safely"),
        (_with(Shelf(), "_hidden", 1), r"^Shelf\._hidden: .*_stored_parts"),
        (_with(Shelf(), "plain", 1), r"^Shelf\.plain: .*_stored_parts"),
        (np.array([Shelf, 1], dtype=object), r"^ndarray\[0\]: cannot be stored safely"),
        (np.zeros(2, dtype="i4,f8"), r"^ndarray: cannot be stored safely: an array of dtype"),
        (np.zeros(2, dtype=np.longdouble), r"^ndarray: cannot be stored safely: an array of dtype"),
        (np.ma.masked_array([1, 2], [True, False]), r"MaskedArray"),
        (np.random.Generator(np.random.MT19937(0)), r"a Generator on MT19937"),
        (np.random.RandomState(np.random.PCG64(0)), r"RandomState on PCG64"),
        (np.dtype("i4,f8"), r"the dtype"),
        (np.longdouble(1), r"longdouble"),
        ({1, 2}, r"set"),
        (type("Text", (str,), {})("a"), r"Text"),
        (type("Shelf", (Shelf,), {})(), r"cannot be stored safely: Shelf"),
        (1j, r"complex"),
    ],
)
def test_what_cannot_be_stored_is_named_with_its_place(obj, message):
    with pytest.raises(TypeError, match=message):
        encode(obj)


def test_a_datetime_in_a_named_time_zone_is_refused():
    zoneinfo = pytest.importorskip("zoneinfo")
    try:
        zone = zoneinfo.ZoneInfo("Europe/Berlin")
    except zoneinfo.ZoneInfoNotFoundError:
        pytest.skip("no time zone data")
    with pytest.raises(TypeError, match="time zone Europe/Berlin"):
        encode(datetime.datetime(2024, 1, 1, tzinfo=zone))


def test_a_list_that_contains_itself_is_refused():
    loop = [1]
    loop.append({"again": loop})
    with pytest.raises(TypeError, match=r"^list\[1\]\['again'\]: .* contains itself"):
        encode(loop)


def test_depth_is_limited_on_both_sides():
    def nested(depth):
        obj = 1
        for _ in range(depth):
            obj = [obj]
        return obj

    assert through(nested(_codec.MAX_DEPTH)) == nested(_codec.MAX_DEPTH)
    with pytest.raises(TypeError, match="levels deep"):
        encode(nested(_codec.MAX_DEPTH + 1))
    with pytest.raises(ValueError, match="levels deep"):
        decode(nested(_codec.MAX_DEPTH + 5), [])


def test_a_tag_is_registered_for_one_class_only():
    class Shelf:
        _stored_fields = ()

    with pytest.raises(ValueError, match=r"tag Shelf is taken by .*\.Shelf"):
        register("Shelf")(Shelf)
    with pytest.raises(TypeError, match="needs get_params"):
        register("int")(int)


@register("Crate")
class Box(BaseEstimator):
    """An estimator that was renamed with its parts."""

    _stored_parts: ClassVar = {"_content": maybe(ANYTHING)}
    _stored_names: ClassVar = {"_content": "_stuff", "old_": "new_", "new_": "old_"}


@register("Crates")
class Boxes(Box):
    _stored_names: ClassVar = {"total_": "sum_"}


@register("Range")
@dataclass(frozen=True)
class Span:
    begin: float
    end: float = 1.0
    step: float = 0.5

    _stored_names: ClassVar = {"begin": "low", "end": "high"}
    _later_fields: ClassVar = ("end",)


@register("colour")
class Color(IntEnum):
    RED = 1


def test_files_keep_their_names_when_a_class_and_its_parts_are_renamed():
    box = Box()
    box._content, box.old_, box.new_ = 1, 2, 3
    value, _ = encode(box)
    attributes = {"_stuff": 1, "new_": 2, "old_": 3}
    assert value == {"estimator": {"class": "Crate", "params": {}, "attributes": attributes}}
    assert list(value["estimator"]["attributes"]) == list(attributes)
    loaded = decode(value, [])
    assert type(loaded) is Box
    assert vars(loaded) == vars(box)
    for name in ["Box", "Span"]:
        with pytest.raises(ValueError, match="does not know"):
            decode({"estimator": {"class": name, "params": {}, "attributes": {}}}, [])
    with pytest.raises(ValueError, match="it sets '_content' of Crate"):
        decode({"estimator": {"class": "Crate", "params": {}, "attributes": {"_content": 1}}}, [])


@register("Label")
class Sticker(BaseEstimator):
    _stored_names: ClassVar = {"words": "text"}

    def __init__(self, words="", size=1):
        self.words = words
        self.size = size


def test_parameters_keep_their_names_in_files():
    value, _ = encode(Sticker("fragile", 2))
    assert value["estimator"] == {
        "class": "Label",
        "params": {"size": 2, "text": "fragile"},
        "attributes": {},
    }
    assert decode(value, []).get_params() == {"words": "fragile", "size": 2}
    value["estimator"]["params"] = {"words": "fragile"}
    with pytest.raises(ValueError, match="parameters that Label does not have: words"):
        decode(value, [])


def test_names_in_files_are_inherited():
    boxes = Boxes()
    boxes._content, boxes.total_ = 1, 5
    value, _ = encode(boxes)
    assert value["estimator"]["attributes"] == {"_stuff": 1, "sum_": 5}
    assert vars(decode(value, [])) == vars(boxes)
    boxes.sum_ = 6
    with pytest.raises(TypeError, match="same stored name"):
        encode(boxes)


def test_fields_of_a_record_keep_their_names_in_files():
    value, _ = encode(Span(0.25, 0.75))
    fields = {"low": 0.25, "high": 0.75, "step": 0.5}
    assert value == {"record": {"class": "Range", "fields": fields}}
    assert decode(value, []) == Span(0.25, 0.75)
    value["record"]["fields"] = fields
    del fields["high"]
    assert decode(value, []) == Span(0.25, 1.0)
    fields["begin"] = fields.pop("low")
    with pytest.raises(ValueError, match="other fields than low, high, step"):
        decode(value, [])


def test_an_enum_is_stored_by_its_tag():
    assert encode(Color.RED)[0] == {"colour": 1}
    assert through(Color.RED) is Color.RED
    for payload in [2, True, "1"]:
        with pytest.raises(ValueError, match=r"^it "):
            decode({"colour": payload}, [])

    class Color2(IntEnum):
        BLUE = 1

    with pytest.raises(ValueError, match="tag colour is taken"):
        register("colour")(Color2)
    with pytest.raises(TypeError, match="cannot be stored"):
        encode(Color2.BLUE)


TAGS = """
AbsoluteError BinaryLogLoss BoostingStart ConvexClassifier ConvexRegressor Exponential FeatureInfo
FoldMean Gamma Huber LeakReport LearnerSum MultinomialLogLoss Neighborhood NominalCodes OobCurve
Poisson PruningPath Quantile RoundChoice RoundLog RowEncoder RowSampler Selection SquaredError
TableSchema TargetStatistics TrainingLog TrainingRecord TreeMembers TreeSum Tweedie Voice VoteRule
"""


def test_the_tags_of_files_do_not_change():
    for name in committee.__all__:
        getattr(committee, name)
    own = {tag for tag, cls in _codec_classes._classes.items() if cls.__module__ != __name__}
    assert set(TAGS.split()) <= own
    for tag in TAGS.split():
        assert _codec_classes.tag_of(_codec_classes.storable_class(tag)) == tag
    assert _codec_classes.enum_class("kind") is Kind


def test_every_record_declares_what_its_fields_are():
    for name in committee.__all__:
        getattr(committee, name)
    own = [cls for cls in _codec_classes._classes.values() if cls.__module__ != __name__]
    records = [cls for cls in own if _codec_classes.field_names(cls) is not None]
    # Losses are checked by their constructors.
    undeclared = {
        cls.__name__: missing
        for cls in records
        if cls.__module__.startswith("committee.") and not issubclass(cls, Loss)
        if (missing := set(_codec_classes.field_names(cls)) - set(declared_parts(cls)))
    }
    assert len(records) > 20
    assert undeclared == {}


def test_the_codec_does_not_import_what_it_stores():
    imports = """
import sys
import committee.files.codec
print(*sorted(name for name in sys.modules if name.startswith("committee.")))
"""
    done = subprocess.run(
        [sys.executable, "-c", imports], capture_output=True, text=True, check=True
    )
    folders = {".".join(name.split(".")[:2]) for name in done.stdout.split()}
    assert folders - {"committee._core"} == {"committee.files"}


# ---- tables and trees ----


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
    return Tree.from_arrays(4, [1, 0, 2, 2], tree_arrays())


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
    register_pickling()
    tree = make_tree()
    if copied == "pickle":
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert same_tree(pickle.loads(pickle.dumps(tree, protocol)), tree)
    else:
        assert same_tree(copied(tree), tree)
        assert predictions(copied(tree)) == predictions(tree) == [3.0, 0.0, 2.0, 3.0]


def test_a_tree_tells_the_kinds_its_splits_need():
    assert tree_kinds(make_tree()) == [1, 0, 2, 0]


def _tree_value(kinds="1022", names=None):
    arrays = {name: {"array": index} for index, name in enumerate(names or tree_arrays())}
    return {"tree": {"kinds": kinds, "arrays": arrays}}


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (0, 3), (3, 1), (1, 3), (), (4,)], ids=repr)
def test_arrays_come_back_in_their_order_in_memory(shape):
    values = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    for array in (values, np.asfortranarray(values)):
        value, arrays = encode(array)
        assert all(each.flags.c_contiguous for each in arrays)
        back = decode(value, arrays)
        assert identical(back, array)
        assert back.flags.c_contiguous == array.flags.c_contiguous
        assert back.flags.f_contiguous == array.flags.f_contiguous
        assert identical(encode(back)[1], arrays)


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

    def from_arrays(self, *arguments):
        self.arrays = arguments[-1]
        return self.cls.from_arrays(*arguments)


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


# ---- hostile values ----


def _shelf(params=None, attributes=None):
    return {"estimator": {"class": "Shelf", "params": params or {}, "attributes": attributes or {}}}


GENERATOR = {"state": "5", "inc": "7", "has_uint32": 0, "uinteger": 0}
KEY = np.zeros(624, np.uint32)
HOSTILE = [
    ({"unknown": 1}, []),
    ({}, []),
    ({"tuple": [], "dict": []}, []),
    ({"tuple": 5}, []),
    ({"dict": [[1, 2, 3]]}, []),
    ({"dict": [[1, 2], [1, 3]]}, []),
    ({"dict": [[[1], 2]]}, []),
    ({"int": "0x10"}, []),
    ({"int": "1_0"}, []),
    ({"int": 5}, []),
    ({"float": "1.5"}, []),
    ({"bytes": "???"}, []),
    ({"surrogates": "/w=="}, []),
    ({"date": [2020, 13, 1]}, []),
    ({"date": [2020, 1]}, []),
    ({"date": [True, 1, 1]}, []),
    ({"datetime": [1, 1, 1, 0, 0, 0, 0, 0, 10**15]}, []),
    ({"datetime": [1, 1, 1, 0, 0, 0, 0, 5, None]}, []),
    ({"datetime": []}, []),
    ({"timedelta": [10**15, 0, 0]}, []),
    ({"decimal": "five"}, []),
    ({"decimal": "1E+99999999999999999999"}, []),
    ({"scalar": ["|O", "0000000000000000"]}, []),
    ({"scalar": ["<f8", "00"]}, []),
    ({"scalar": ["<f8", "zz"]}, []),
    ({"scalar": ["|b1", "02"]}, []),
    ({"scalar": ["<U1", "ffffffff"]}, []),
    ({"scalar": ["U", {"dict": []}]}, []),
    ({"scalar": 3}, []),
    ({"dtype": "i4,f8"}, []),
    ({"dtype": "<M8[xx]"}, []),
    ({"dtype": "evil.module"}, []),
    ({"array": 0}, []),
    ({"array": -1}, [KEY]),
    ({"array": True}, [KEY, KEY]),
    ({"transposed": 0}, []),
    ({"transposed": {"array": 0}}, [KEY]),
    ([{"array": 0}, {"transposed": 0}], [KEY]),
    ([{"array": 0}, {"array": 0}], [KEY]),
    (1, [KEY]),
    ({"objects": {"shape": [2], "values": [1]}}, []),
    ({"objects": {"shape": [-1], "values": [1]}}, []),
    ({"objects": {"shape": [0, 2**52, 2**52], "values": []}}, []),
    ({"objects": {"shape": [1] * 100, "values": [1]}}, []),
    ({"objects": {"values": []}}, []),
    (
        {"random_state": {"key": {"array": 0}, "position": 9999, "has_gauss": 0, "gauss": 0.0}},
        [KEY],
    ),
    ({"generator": {"name": "MT19937", **GENERATOR}}, []),
    ({"generator": {"name": "os", **GENERATOR}}, []),
    ({"generator": {"name": "PCG64", **GENERATOR, "state": "-1"}}, []),
    ({"generator": {"name": "PCG64", **GENERATOR, "inc": "f" * 33}}, []),
    ({"generator": {"name": "PCG64", **GENERATOR, "has_uint32": 2}}, []),
    ({"generator": {"name": "PCG64", **GENERATOR, "uinteger": -1}}, []),
    ({"slice": [1, 2]}, []),
    ({"slice": [1, 2, 0.5]}, []),
    ({"type": "type"}, []),
    ({"type": "numpy.ndarray"}, []),
    ({"function": "eval"}, []),
    ({"function": "SelectKBest"}, []),
    ({"random_state": {"key": [], "position": 0, "has_gauss": 0, "gauss": 0.0}}, []),
    (_shelf(params={"colour": 1}), []),
    (_shelf(attributes={"__class__": 1}), []),
    (_shelf(attributes={"__dict__": {"dict": []}}), []),
    (_shelf(attributes={"_private": 1}), []),
    (_shelf(attributes={"fit": 1}), []),
    (_shelf(attributes={"size": 1}), []),
    (_shelf(attributes={"width_": 1}), []),
    (_shelf(attributes={"label_": 1}), []),
    (_shelf(attributes={"not an identifier_": 1}), []),
    (_shelf(attributes={"level_": -1}), []),
    (_shelf(attributes={"level_": "text"}), []),
    ({"estimator": {"class": "ExtraTreeClassifier", "params": {}, "attributes": {}}}, []),
    ({"estimator": {"class": "os.system", "params": {}, "attributes": {}}}, []),
    ({"estimator": {"class": "Interval", "params": {}, "attributes": {}}}, []),
    ({"estimator": {"class": "Shelf", "params": []}}, []),
    ({"estimator": {"class": ["Shelf"], "params": {}, "attributes": {}}}, []),
    ({"record": {"class": "Interval", "fields": {"low": 1}}}, []),
    ({"record": {"class": "Shelf", "fields": {}}}, []),
    ({"record": {"class": "save", "fields": {}}}, []),
]


@pytest.mark.parametrize(("value", "arrays"), HOSTILE, ids=lambda part: f"{part!r:.60}")
def test_a_hostile_value_is_a_value_error(value, arrays):
    with pytest.raises(ValueError, match=r"^(it|its) "):
        decode(value, arrays)
