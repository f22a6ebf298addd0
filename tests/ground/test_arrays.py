"""Where a chapter's data become arrays."""

from pathlib import Path

import numpy as np
import pytest

from gpnotes import asarray, dataset
from gpnotes.ground.arrays import backend

TABLES = Path(__file__).parents[2] / "src" / "gpnotes" / "data"


def test_numpy_float64_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("GPNOTES_BACKEND", raising=False)
    assert backend() == "numpy"
    for data in ([1, 2], (1.0, 2.0), np.asarray([1, 2], dtype=np.float32)):
        a = asarray(data)
        assert type(a) is np.ndarray
        assert a.dtype == np.float64
        assert a.tolist() == [1.0, 2.0]


def test_a_backend_that_we_do_not_know(monkeypatch):
    monkeypatch.setenv("GPNOTES_BACKEND", "torch")
    with pytest.raises(ValueError, match="GPNOTES_BACKEND must be numpy or cupy; got 'torch'"):
        asarray([1.0])


@pytest.mark.parametrize("name", [path.stem for path in sorted(TABLES.glob("*.csv"))])
def test_the_tables_of_the_book_travel_with_the_package(name):
    rows = (TABLES / f"{name}.csv").read_text().splitlines()[1:]
    table = dataset(name)
    assert table.dtype == np.float64
    assert table.shape[0] == len(rows)
    written = [float(entry) for entry in rows[-1].split(",")]
    assert np.array_equal(table[-1], written, equal_nan=True)


def test_a_table_that_we_do_not_have():
    with pytest.raises(ValueError, match=r"name must be one of .*engel.*; got 'iris'"):
        dataset("iris")


@pytest.mark.parametrize("data", [None, [1.0, None], "1.5", ["1", "2"], 1j, {1.0: 2.0}, object()])
def test_what_is_no_number_does_not_become_one(data):
    with pytest.raises(TypeError, match="data must be real numbers; got"):
        asarray(data)


def test_every_table_stands_once_and_a_note_beside_it_says_where_it_comes_from(root):
    parts = ("benchmarks", "book", "src", "tests", "tools")
    paths = [path for part in parts for path in (root / part).rglob("*.csv")]
    folder = root / "src" / "gpnotes" / "data"
    assert {path.parent for path in paths} == {folder}
    notes = [path.read_text("utf-8").splitlines()[0] for path in folder.glob("*.md")]
    assert all(any(path.name in note for note in notes) for path in paths)


def test_ragged_data_are_told_so():
    with pytest.raises(ValueError, match="data must not be ragged"):
        asarray([[1.0, 2.0], [3.0]])


def test_labels_and_empty_lists_are_data():
    assert asarray([True, False]).tolist() == [1.0, 0.0]
    assert asarray([]).shape == (0,)
    assert asarray(2.5).shape == ()


@pytest.mark.parametrize("name", [None, 3, "../data/engel", ["engel"]])
def test_a_table_has_a_name(name):
    with pytest.raises(ValueError, match="name must be one of"):
        dataset(name)


def test_cupy_where_it_is_asked_for(monkeypatch, space):
    backend = "cupy" if space.name.startswith("cupy") else "numpy"
    monkeypatch.setenv("GPNOTES_BACKEND", backend)
    assert type(asarray([1, 2])).__module__.startswith(backend)
