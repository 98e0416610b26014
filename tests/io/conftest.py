"""Files for tests of reading."""

import pytest

from committee.io.csv_table import CsvOptions
from committee.io.reading import open_files


@pytest.fixture
def write(tmp_path):
    """Return a function that writes text or bytes to a file, and returns its path."""

    def write_file(content, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write_file


@pytest.fixture
def read(write):
    """Return a function that reads a text as a file to train on."""

    def read_text(content, name="table.csv", encoding="utf-8", **options):
        return open_files([write(content, name, encoding)], CsvOptions(**options))

    return read_text
