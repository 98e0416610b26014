"""Objects to JSON and arrays and back."""

import datetime
import decimal
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from codec_tools import identical, through
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.tree import ExtraTreeClassifier

from committee import RandomForestRegressor
from committee.files import codec as _codec
from committee.files.codec import decode, encode, register
from committee.files.parts import ANYTHING, maybe
from committee.tables.column import FeatureInfo, Kind
from committee.tables.table import TableSchema


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


def _schema(*levels):
    features = (FeatureInfo("a", Kind.CATEGORY, levels, "category"),)
    return TableSchema(features, ("a",))


def test_equal_schemas_are_written_once():
    first, copy, other = _schema("x", "y"), _schema("x", "y"), _schema("x", "z")
    value, arrays = encode([first, copy, other, first, other])
    assert value[1] == value[3] == {"same": 0}
    assert value[4] == {"same": 1}
    assert json.dumps(value).count("FeatureInfo") == 2
    found = decode(value, arrays)
    assert found == [first, copy, other, first, other]
    assert found[0] is found[1] is found[3]


def test_schemas_that_only_look_equal_are_two():
    found = through([_schema(1), _schema(1.0), _schema(True), _schema("1")])
    levels = [schema.features[0].levels[0] for schema in found]
    assert [type(level) for level in levels] == [int, float, bool, str]


def test_a_small_file_cannot_make_a_huge_model(monkeypatch):
    monkeypatch.setattr(_codec, "_MOST_REPEATED", 500)
    schema = encode(_schema("x"))[0]
    assert len(decode([schema, *[{"same": 0}] * 10], [])) == 11
    with pytest.raises(ValueError, match="repeats records too often"):
        decode([schema, *[{"same": 0}] * 100], [])


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
    ({"same": 0}, []),
    ([encode(_schema("x"))[0], {"same": 1}], []),
    ([encode(_schema("x"))[0], {"same": -1}], []),
    ([encode(_schema("x"))[0], {"same": True}], []),
    ([encode(_schema("x"))[0], {"same": [0]}], []),
]


@pytest.mark.parametrize(("value", "arrays"), HOSTILE, ids=lambda part: f"{part!r:.60}")
def test_a_hostile_value_is_a_value_error(value, arrays):
    with pytest.raises(ValueError, match=r"^(it|its) "):
        decode(value, arrays)
