"""What is read from text, categories and data frames."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from table_tools import DAY, MOMENT, NAME, read_one

from committee.tables.frame import column_blocks
from committee.tables.source import open_source
from committee.tables.table import FeatureInfo, Kind, read_table

# --- Text and categories --------------------------------------------------------------------------


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", None, "a", "b"]),
        pd.Series(["b", None, "a", "b"], dtype="string"),
        pd.Series(["b", None, "a", "b"], dtype=object),
        pd.Series(["b", None, "a", "b"], dtype=pd.ArrowDtype(pa.string())),
        pl.Series(["b", None, "a", "b"]),
        pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
        pa.chunked_array([["b", None], ["a", "b"]]),
        pa.chunked_array([pa.array(["b", None, "a", "b"], pa.large_string())]),
    ],
    ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', 'arrow')}",
)
def test_text_has_its_sorted_distinct_values_as_levels(column):
    info, cells = read_one(frame_of(column))
    assert (info.name, info.kind, info.levels) == ("a", Kind.CATEGORY, ("a", "b"))
    assert cells == ["b", None, "a", "b"]


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["low", None, "high"], categories=["low", "mid", "high"])),
        pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "mid", "high"])),
        pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(
                    pa.array([0, None, 2], pa.int8()), ["low", "mid", "high"]
                )
            ]
        ),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_categories_keep_their_order_and_drop_what_does_not_occur(column):
    info, cells = read_one(frame_of(column))
    assert info.levels == ("low", "high")
    assert cells == ["low", None, "high"]


def test_dictionaries_of_several_chunks_are_joined(recording):
    chunks = [pa.array(["b"]).dictionary_encode(), pa.array(["a", None, "b"]).dictionary_encode()]
    info, cells = read_one(frame_of(pa.chunked_array(chunks)))
    assert cells == ["b", "a", None, "b"]
    assert set(info.levels) == {"a", "b"}


@pytest.mark.parametrize("index_type", [pa.uint8(), pa.uint32(), pa.int16()])
def test_dictionaries_may_have_unsigned_indices(index_type, recording):
    words = pa.array(["b", None, "a"]).dictionary_encode()
    column = words.cast(pa.dictionary(index_type, pa.string()))
    info, cells = read_one(frame_of(column))
    assert cells == ["b", None, "a"]
    assert set(info.levels) == {"a", "b"}


@pytest.mark.usefixtures("recording")
def test_categories_may_be_numbers_or_anything_with_a_text():
    numbers = pd.DataFrame({"a": pd.Categorical([3, 1, None])})
    assert read_one(numbers) == (
        FeatureInfo("a", Kind.CATEGORY, (1, 3), "category"),
        [3, 1, None],
    )
    intervals = pd.DataFrame({"a": pd.cut([0.5, 1.5], [0, 1, 2]).as_unordered()})
    assert read_one(intervals)[0].levels == ("(0, 1]", "(1, 2]")


@pytest.mark.usefixtures("recording")
def test_more_levels_than_a_code_can_hold_are_refused_by_name():
    names = [f"id{i}" for i in range(65_536)]
    with pytest.raises(ValueError, match=r"column 'user' .* 65536 levels; at most 65535"):
        read_table(pl.DataFrame({"user": names}))
    _, schema = read_table(pl.DataFrame({"user": names[:-1]}))
    assert len(schema.features[0].levels) == 65_535
    # New levels at prediction are merely unseen, however many.
    unseen = schema.read(pl.DataFrame({"user": [f"new{i}" for i in range(70_000)]}), NAME)
    assert unseen.cells() == [None] * 70_000


# --- Data frames ----------------------------------------------------------------------------------


def frame_of(column):
    if isinstance(column, pd.Series):
        return pd.DataFrame({"a": column})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"a": column})
    return pa.table({"a": column})


ARROW = pd.ArrowDtype


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    ("column", "label", "expected"),
    [
        (pd.Series([1, None], dtype="Int64"), "number", [1, None]),
        (pd.Series([2**60, None], dtype="Int64"), "integer", [2**60, None]),
        (pd.Series([1, None], dtype="UInt8"), "number", [1, None]),
        (pd.Series([1.5, None], dtype="Float64"), "number", [1.5, None]),
        (pd.Series([1.5, None], dtype="Float32"), "number", [1.5, None]),
        (pd.Series([True, None], dtype="boolean"), "boolean", [1, None]),
        (pd.Series([True, False]), "boolean", [1, 0]),
        (pd.Series([1, 2], dtype="int16"), "number", [1, 2]),
        (pd.Series([0.0, 1.0], dtype="Sparse[float]"), "number", [0, 1]),
        (pd.Series([MOMENT, None], dtype="datetime64[ns]"), "datetime", [DAY, None]),
        (pd.Series([MOMENT, None], dtype="datetime64[s]"), "datetime", [DAY, None]),
        (pd.Series([MOMENT, None], dtype="datetime64[us, Etc/GMT+1]"), "datetime", None),
        (pd.Series([dt.timedelta(1), None]), "timedelta", [DAY, None]),
        (pd.Series([2**60, None], dtype=ARROW(pa.int64())), "integer", [2**60, None]),
        (pd.Series([MOMENT.date(), None], dtype=ARROW(pa.date32())), "datetime", [DAY, None]),
        (pd.Series([Decimal("1.5"), None], dtype=ARROW(pa.decimal128(9, 2))), "number", None),
        (pl.Series([1, None], dtype=pl.UInt8), "number", [1, None]),
        (pl.Series([2**60, None]), "integer", [2**60, None]),
        (pl.Series([1, None], dtype=pl.Int128), "number", [1, None]),
        (pl.Series([1.5, None, float("nan")]), "number", [1.5, None, None]),
        (pl.Series([True, None]), "boolean", [1, None]),
        (pl.Series([Decimal("1.5"), None]), "number", [1.5, None]),
        (pl.Series([MOMENT.date(), None]), "datetime", [DAY, None]),
        (pl.Series([MOMENT, None], dtype=pl.Datetime("ms")), "datetime", [DAY, None]),
        (pl.Series([MOMENT, None], dtype=pl.Datetime("ns", "UTC")), "datetime", [DAY, None]),
        (pl.Series([dt.timedelta(1), None]), "timedelta", [DAY, None]),
        (pl.Series([dt.time(1), None]), "timedelta", [DAY // 24, None]),
        (pl.Series([None, None]), "category", [None, None]),
        (pa.chunked_array([[1, None]]), "number", [1, None]),
        (pa.chunked_array([[1.5], [None]]), "number", [1.5, None]),
        (pa.chunked_array([[True, None]]), "boolean", [1, None]),
        (pa.chunked_array([[MOMENT, None]]), "datetime", [DAY, None]),
        (pa.chunked_array([[Decimal("1.5"), None]]), "number", [1.5, None]),
        (pa.chunked_array([pa.nulls(2)]), "category", [None, None]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")) or None,
)
def test_every_column_type_of_a_frame_is_read(column, label, expected):
    info, cells = read_one(frame_of(column))
    assert info.label == label
    if expected is None:  # a zone of UTC-1, and a decimal
        expected = [DAY + DAY // 24, None] if label == "datetime" else [1.5, None]
    assert cells == expected


@pytest.mark.usefixtures("recording")
def test_numeric_columns_of_frames_are_not_copied():
    values = np.arange(20_000.0)
    for frame in (pd.DataFrame({"a": values}, copy=False), pl.DataFrame({"a": pl.Series(values)})):
        table, _ = read_table(frame)
        native = frame["a"].to_numpy()
        assert np.shares_memory(table.columns[0][1], native)


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps"])
def test_dates_of_any_unit_count_microseconds(unit):
    X = np.array([["1971-01-01"], ["NaT"]], f"datetime64[{unit}]")
    expected = int(X[0, 0].astype("datetime64[us]").astype(int))
    info, cells = read_one(X)
    assert (info.kind, info.label) == (Kind.INTEGER, "datetime")
    assert cells == [expected, None]


def test_dates_beyond_the_range_of_microseconds_are_refused():
    with pytest.raises(ValueError, match="column 0 holds times too far from 1970"):
        read_table(np.array([[10**7]], "int64").view("datetime64[Y]"))


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([[1], [2]]),
        pl.Series([{"x": 1}, {"x": 2}]),
        pl.Series([b"a", b"b"]),
        pa.chunked_array([[[1], [2]]]),
    ],
    ids=["list", "struct", "binary", "arrow-list"],
)
def test_nested_columns_are_refused_by_name(column):
    with pytest.raises(TypeError, match=r"column 'a' has the type (List|Struct|Binary)"):
        read_table(frame_of(column))


def test_lazy_frames_ask_to_be_collected():
    with pytest.raises(TypeError, match=r"collect\(\)"):
        read_table(pl.LazyFrame({"a": [1]}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_two_columns_of_one_name_are_refused(frame):
    with pytest.raises(ValueError, match=r"distinct; X has several columns named \['a'\]"):
        read_table(frame)


@pytest.mark.usefixtures("recording")
def test_integer_labels_are_no_names_and_mixed_labels_are_an_error():
    _, schema = read_table(pd.DataFrame([[1, 2]]))
    assert schema.names is None
    assert [info.name for info in schema.features] == ["x0", "x1"]
    with pytest.raises(TypeError, match="Feature names are only supported if all input features"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", 1]))


# --- wide frames ----------------------------------------------------------------------------------


def every_kind(n_rows=30):
    """Columns of all types, twice over, with and without missing values."""
    rng = np.random.default_rng(0)
    text = rng.choice(["b", "a", "ä", "10"], n_rows)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n_rows), "D")
    full = {
        "float": rng.normal(size=n_rows),
        "single": rng.normal(size=n_rows).astype("float32"),
        "int": rng.integers(-5, 5, n_rows),
        "large": rng.integers(2**60, 2**61, n_rows),
        "byte": rng.integers(0, 9, n_rows).astype("uint8"),
        "flag": rng.random(n_rows) < 0.5,
        "text": text,
        "object": np.array([1, "x", None] * (n_rows // 3), dtype=object),
        "spelled": [str(k % 7) for k in range(n_rows)],
        "level": pd.Categorical(text),
        "order": pd.Categorical(text, ["b", "a", "10", "ä"], ordered=True),
        "day": day,
        "time": day - day[0],
        "none": [None] * n_rows,
    }
    frame = pd.DataFrame(full)
    holes = frame.convert_dtypes().mask(rng.random(frame.shape) < 0.2)
    parts = [frame, holes.add_suffix(" holes"), frame.mask(holes.isna()).add_suffix(" nan")]
    return pd.concat(parts, axis=1)


def polars_of(frame):
    plain = frame.drop(columns=[name for name in frame if name.startswith(("object", "order"))])
    return pl.from_pandas(plain)


@pytest.mark.parametrize("convert", [pd.DataFrame.copy, polars_of], ids=["pandas", "polars"])
def test_a_wide_frame_is_read_like_its_columns_alone(convert):
    frame = convert(every_kind())
    wide = open_source(frame)
    assert column_blocks(frame) is not None
    names = list(frame.columns)
    assert len(names) > 32
    for position, name in enumerate(names):
        alone = open_source(frame[[name]]).column(0)
        found = wide.column(position)
        assert (found.label, found.levels, found.order) == (alone.label, alone.levels, alone.order)
        assert (found.from_text, found.values.dtype) == (alone.from_text, alone.values.dtype), name
        np.testing.assert_array_equal(found.missing(), alone.missing())
        here = ~found.missing()
        np.testing.assert_array_equal(found.values[here], alone.values[here])


def test_columns_of_a_wide_frame_are_copied_many_at_a_time(monkeypatch):
    frame = pd.DataFrame(np.arange(3.0 * 600).reshape(3, 600)).add_prefix("c")
    frame["c5"] = frame["c5"].astype("float32")
    copied = []
    blocks = column_blocks(frame)
    copy = blocks._copy
    monkeypatch.setattr(blocks, "_copy", lambda block: copied.append(len(block)) or copy(block))
    for position in range(600):
        np.testing.assert_array_equal(blocks.column(position), frame.iloc[:, position])
    assert sorted(copied) == [1, 87, 256, 256]
    assert column_blocks(pd.concat([frame] * 400)) is None  # many rows: no copies
    assert column_blocks(frame.iloc[:, :20]) is None
