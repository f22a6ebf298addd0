"""The tables of the book, which travel with the package."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from gpnotes import dataset

TABLES = Path(__file__).parents[1] / "src" / "gpnotes" / "data"


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.csv*")), ids=lambda path: path.name)
def test_the_tables_of_the_book_travel_with_the_package(path):
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    rows = text.splitlines()[1:]
    table = dataset(path.name.partition(".")[0])
    assert table.dtype == np.float64
    assert table.shape[0] == len(rows)
    written = [float(entry or "nan") for entry in rows[-1].split(",")]
    assert np.array_equal(table[-1], written, equal_nan=True)


def test_a_table_that_we_do_not_have():
    with pytest.raises(ValueError, match=r"name must be one of .*engel.*; got 'iris'"):
        dataset("iris")


def test_every_table_stands_once_and_a_note_beside_it_says_where_it_comes_from(root):
    parts = ("benchmarks", "book", "src", "tests", "tools")
    paths = [path for part in parts for path in (root / part).rglob("*.csv*")]
    folder = root / "src" / "gpnotes" / "data"
    assert {path.parent for path in paths} == {folder}
    notes = [path.read_text("utf-8").splitlines()[0] for path in folder.glob("*.md")]
    assert all(any(path.name.removesuffix(".gz") in note for note in notes) for path in paths)


@pytest.mark.parametrize("name", [None, 3, "../data/engel", ["engel"]])
def test_a_table_has_a_name(name):
    with pytest.raises(ValueError, match="name must be one of"):
        dataset(name)
