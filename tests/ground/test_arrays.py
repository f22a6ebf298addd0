"""Where a chapter's data become arrays."""

import numpy as np
import pytest

from gpnotes import asarray
from gpnotes.ground.arrays import backend


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


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (None, "NoneType"), ("1.5", "str"), (1j, "complex"), ({1.0: 2.0}, "dict"),
        (object(), "object"), (np.complex64(1j), "complex64"),
        ([1.0, None], "an array of object"), (["1", "2"], "an array of <U1"),
        (np.asarray(["1", "2"]), "an array of <U1"), (np.asarray("1"), "ndarray"),
    ],
)  # fmt: skip
def test_what_is_no_number_does_not_become_one(data, got):
    with pytest.raises(TypeError, match=f"^data must be real numbers; got {got}$"):
        asarray(data)


def test_ragged_data_are_told_so():
    with pytest.raises(ValueError, match="data must not be ragged"):
        asarray([[1.0, 2.0], [3.0]])


def test_labels_and_empty_lists_are_data():
    assert asarray([True, False]).tolist() == [1.0, 0.0]
    assert asarray([]).shape == (0,)
    assert asarray(2.5).shape == ()


def test_cupy_where_it_is_asked_for(monkeypatch, space):
    backend = "cupy" if space.name.startswith("cupy") else "numpy"
    monkeypatch.setenv("GPNOTES_BACKEND", backend)
    assert type(asarray([1, 2])).__module__.startswith(backend)
