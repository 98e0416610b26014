"""Files as they are in the world: encodings, packing, several files, JSON, Parquet, errors."""

import bz2
import gzip
import io
import json
import lzma
import sys
import zipfile

import pytest

from committee.io.errors import TableFileError
from committee.io.json_lines import as_csv
from committee.io.reading import open_files, read_table_file
from committee.io.writing import write_columns

TEXT = 'name,size\n"Müller, Jo",1.5\nAnn,2\n'


def zipped(data, names=("t.csv",)):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, data)
    return stream.getvalue()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_delimiters_encodings_and_line_ends_are_found_out(read, delimiter, encoding, line_end):
    text = f'name{delimiter}größe{line_end}"Müller{delimiter} Jo"{delimiter}1.5{line_end}'
    opened = read(text, encoding=encoding)
    assert opened.source.names == ("name", "größe")
    assert opened.source.column(0).levels == (f"Müller{delimiter} Jo",)
    assert opened.source.column(1).values.tolist() == [1.5]
    assert any("cp1252" in note for note in opened.notes) == (encoding == "cp1252")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zipped])
def test_packed_files_are_unpacked_whatever_their_names(read, pack):
    opened = read(pack(TEXT.encode()), "table.data")
    assert opened.source.column(1).values.tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(TEXT.encode())[:-9], "gzip"),
        (bz2.compress(TEXT.encode())[:-9], "bzip2"),
        (lzma.compress(TEXT.encode())[:-9], "xz"),
        (zipped(TEXT)[:40], "zip"),
        (zipped(TEXT, ("a.csv", "b.csv")), "2 files"),
    ],
    ids=["gzip", "bz2", "xz", "zip", "two files"],  # packed bytes hold the time
)
def test_damaged_packed_files_are_errors(read, data, message):
    with pytest.raises(TableFileError, match=message):
        read(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" \n \n", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n3\n", "line 3: 1 cell; the rows before have 2"),
        ("a,b\n1,2,3,4\n", "line 2: 4 cells; the first line has 2 names"),
        ('a,b\n1,"2\n3,4\n', "line 2: a quote is opened and never closed"),
        ("1,2\n3,4\n", "--no-header"),
    ],
)
def test_files_that_are_no_tables_are_named_with_the_line(read, text, message):
    with pytest.raises(TableFileError, match=message) as raised:
        read(text)
    assert "table.csv" in str(raised.value)


def test_a_wrong_encoding_is_named():
    with pytest.raises(TableFileError, match=r"line 2: the bytes are no UTF-8"):
        open_with("utf-8")
    with pytest.raises(TableFileError, match="encoding must be one that Python knows"):
        open_with("klingon")


def open_with(encoding):
    from committee.io.csv_table import CsvOptions, open_csv

    return open_csv("table.csv", TEXT.encode("cp1252"), CsvOptions(encoding=encoding))


@pytest.mark.parametrize(
    ("text", "names", "first"),
    [
        ("sep=|\na|b\n1|2\n", ("a", "b"), [1.0]),
        ("a,b,\n1,2,\n", ("a", "b", "column 3"), [1.0]),
        ("a,b\n1,2,\n", ("a", "b"), [1.0]),
        ('"a","b"\n"x",1,2\n', ("row name", "a", "b"), None),
        (",a\n0,1\n", ("column 1", "a"), [0.0]),
        ("a,a,a.2\n1,2,3\n", ("a", "a.3", "a.2"), [1.0]),
        ("only\nx, y\nz, w, v\n", ("only",), None),
        ("\n\na,b\n\n1,2\n\n", ("a", "b"), [1.0]),
        ("Stock, May 2024\r\n\r\na;b;c\r\n1;2;3\r\n4;5;6\r\n", ("a", "b", "c"), [1.0, 4.0]),
        ("# made by x\n# on a day\na,b,c\n1,2,3\n4,5,6\n", ("a", "b", "c"), [1.0, 4.0]),
        # Of two columns it is not known; a first line of one name is no title of one column.
        ("a\n1,\n2,\n", ("a",), None),
        ("a\nx,y,z\nb\nc\nd\n", ("a",), None),
    ],
)
def test_habits_of_other_programs(read, text, names, first):
    opened = read(text)
    assert opened.source.names == names
    if first is not None:
        assert opened.source.column(0).values.tolist() == first


def test_lines_above_the_names_are_said_and_counted(read):
    opened = read("Stock\n\na,b,c\n1,2,3\n4,5,6\n")
    assert any("1 line above the names of columns left out" in note for note in opened.notes)
    with pytest.raises(TableFileError, match="line 6: 2 cells"):
        read("Stock\n\na,b,c\n1,2,3\n4,5,6\n7,8\n")
    named = read("Stock\na:b:c\n1:2:3\n4:5:6\n", delimiter=":")
    assert named.source.names == ("a", "b", "c")


def test_a_file_without_names(read):
    opened = read("1,x\n2,y\n", has_header=False)
    assert opened.source.names == ("column 1", "column 2")
    assert opened.source.n_rows == 2


def test_a_delimiter_in_words(read):
    assert read("a b\n1 2\n", delimiter="space").source.names == ("a", "b")
    with pytest.raises(TableFileError, match="delimiter must be one character"):
        read("a b\n1 2\n", delimiter="ab")


def test_several_files_are_one_table_whatever_the_order_of_their_columns(write):
    paths = [
        write("a,b\n1,x\n", "1.csv"),
        write("b;a\ny;2,5\nx;3\n", "2.csv"),
        write('{"a": "4", "b": null}\n', "3.jsonl"),
    ]
    source = open_files(paths).source
    assert source.column(1).levels == ("x", "y")
    assert source.column(1).values.tolist() == [0, 1, 0, -1]
    # "2,5" is a number with a comma, so that 1, 3 and 4 are whole.
    assert source.column(0).values.tolist() == [1.0, 2.5, 3.0, 4.0]
    with pytest.raises(TableFileError, match=r"4\.csv and .*1\.csv differ in the column 'b'"):
        open_files([paths[0], write("a,c\n1,2\n", "4.csv")])


def test_json_keeps_digits_and_knows_what_is_missing(read):
    rows = [{"a": 1.50, "b": "x,\n y"}, {"a": None, "c": True}]
    for text in ("\n\n".join(map(json.dumps, rows)), json.dumps(rows)):
        opened = read(text, "t.json")
        assert opened.source.names == ("a", "b", "c")
        assert opened.source.column(0).missing().tolist() == [False, True]
        assert opened.source.column(1).levels == ("x,\n y",)
        assert opened.source.column(2).label == "boolean"
    assert as_csv('{"a": 12345678901234567890.10}', "t")[0] == b"a\n12345678901234567890.10\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": 2\n', "line 2 is no JSON"),
        ('{"a": 1}\n[1]\n', "line 2: expected an object"),
        ('{"a": {"b": 1}}\n', "column 'a' holds an object or an array"),
        ('{"a": ' + "[" * 100_000, "arrays within arrays|no JSON"),
    ],
)
def test_json_that_is_no_table_is_an_error(read, text, message):
    with pytest.raises(TableFileError, match=message):
        read(text, "t.jsonl")


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_parquet_and_feather_have_types_of_their_own(tmp_path, ending):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"t.{ending}"
    write_columns({"a": ["01", None], "b": [1.5, 2.0]}, str(path))
    opened = open_files([path, path])
    assert opened.file_format is None
    assert opened.source.column(0).levels == ("01",)
    assert opened.source.column(1).values.tolist() == [1.5, 2.0, 1.5, 2.0]
    csv_path = tmp_path / "t.csv"
    csv_path.write_text("a,b\n1,2\n")
    with pytest.raises(TableFileError, match="different kinds"):
        open_files([path, csv_path])
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(TableFileError, match="cannot be read"):
        open_files([path])


def test_parquet_without_pyarrow_names_the_extra(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TableFileError, match=r"committee\[parquet\]"):
        open_files([write(b"PAR1....", "t.parquet")])


def test_a_pyarrow_that_does_not_load_says_why(write, monkeypatch, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "pyarrow.py").write_text('raise ImportError("pyarrow requires NumPy 2.0")')
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(TableFileError, match="cannot be imported: pyarrow requires NumPy"):
        open_files([write(b"PAR1....", "t.parquet")])


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.jsonl.gz", "t.parquet"])
def test_what_is_written_is_read_again(tmp_path, name):
    columns = {"a": ['x "y"', "z,\nw"], "b": [0.1, 1e-300]}
    path = tmp_path / name
    write_columns(columns, str(path))
    table = read_table_file([path])
    assert table.texts("a") == columns["a"]
    assert [float(cell) for cell in table.texts("b")] == columns["b"]
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_an_unknown_column_has_suggestions(write):
    table = read_table_file([write("Churned,age\n1,2\n")])
    with pytest.raises(TableFileError, match=r"no column 'churn'; did you mean 'Churned'\?"):
        table.column("churn")
