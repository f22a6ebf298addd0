"""Tables become arrays of floats, however an argument is given."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

from gpnotes import GP, RBF, GPRegressor, condition
from gpnotes.ground.conversion import columns_of, takes


@takes("X", "y", "weights")
def _given(X, y="none", *, weights="none"):
    return X, y, weights


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (([[1, 2], [3, 4]], [5, 6]), {}),
        (([[1, 2], [3, 4]],), {"y": [5, 6]}),
        ((), {"y": [5, 6], "X": [[1, 2], [3, 4]]}),
    ],
    ids=["places", "one name", "names"],
)
def test_lists_become_arrays_by_place_and_by_name(args, named):
    X, y, weights = _given(*args, **named)
    for array, wanted in ((X, [[1.0, 2.0], [3.0, 4.0]]), (y, [5.0, 6.0])):
        assert isinstance(array, np.ndarray)
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, wanted)
    assert weights == "none"  # what is not given keeps its default


def test_a_table_becomes_like_the_array_that_is_there_already():
    X, y, weights = _given(np.ones((2, 1), np.float32), [5, 6], weights=[1, 2])
    assert X.dtype == y.dtype == weights.dtype == np.float32
    np.testing.assert_array_equal(weights, [1.0, 2.0])


FRAME = pd.DataFrame({"a": [0.0, 1.0, 3.0], "b": [2.0, 5.0, 4.0]}, index=[7, 8, 9])
SERIES = pd.Series([1.0, 2.0, 3.0], index=[7, 8, 9])


@takes("x", "z")
def _kernel_like(x, z=None):
    return x, z


@takes("Y", "reference")
def _volume_like(Y, reference):
    return Y, reference


@pytest.mark.parametrize(("name", "place"), [("y", 1), ("weights", 2)])
def test_rows_that_are_labelled_otherwise_are_refused_with_the_line_that_mends_them(name, place):
    tables = {"X": FRAME, name: SERIES}
    np.testing.assert_array_equal(_given(**tables)[place], SERIES)
    with pytest.raises(ValueError, match=rf"{name} must have .* row 0 is 9 .* and 7 .*loc\[X"):
        _given(**{**tables, name: SERIES[::-1]})
    mended = SERIES[::-1].loc[FRAME.index]
    np.testing.assert_array_equal(_given(**{**tables, name: mended})[place], SERIES)


def test_rows_that_share_no_labels_are_refused_without_a_line_that_would_lose_them():
    with pytest.raises(ValueError, match=r"give `y.to_numpy\(\)`"):
        _given(FRAME, SERIES.reset_index(drop=True))
    with pytest.raises(ValueError, match=r"give `y.to_numpy\(\)`"):  # .loc would repeat its rows
        _given(FRAME.set_axis([1, 1, 2]), SERIES.set_axis([1, 2, 1]))


def test_rows_without_labels_and_of_another_number_are_no_matter_of_labels():
    for y in (SERIES.to_numpy()[::-1], SERIES.tolist(), SERIES[:2], None):
        assert len(_given(FRAME, y)[1]) == len(y) if y is not None else True
    np.testing.assert_array_equal(_given(FRAME, pl.Series([1.0, 2.0, 3.0]))[1], SERIES)
    x, z = _kernel_like(FRAME, FRAME[::-1])  # whose rows are others
    np.testing.assert_array_equal(x, z[::-1])


def test_two_tables_of_inputs_are_matched_by_the_names_of_their_columns():
    for turned in (FRAME[["b", "a"]], pl.from_pandas(FRAME)[["b", "a"]]):
        x, z = _kernel_like(FRAME, turned)
        np.testing.assert_array_equal(x, z)
        x, z = _kernel_like(turned, FRAME)
        np.testing.assert_array_equal(x, z)
    with pytest.raises(ValueError, match="z must have a column 'b'"):
        _kernel_like(FRAME, FRAME[["a"]])


def test_a_row_of_names_is_matched_by_them():
    Y, reference = _volume_like(FRAME, pd.Series({"b": 9.0, "a": 8.0}))
    np.testing.assert_array_equal(reference, [8.0, 9.0])
    np.testing.assert_array_equal(Y, FRAME)


def test_labels_of_xarray_are_those_of_rows_and_columns():
    X = xr.DataArray(FRAME, dims=("row", "column"))
    y = xr.DataArray(SERIES, dims="row")
    np.testing.assert_array_equal(_given(X, y)[0], FRAME)
    np.testing.assert_array_equal(_given(X, y, weights="a")[2], FRAME["a"])
    np.testing.assert_array_equal(_kernel_like(X, X[:, ::-1])[1], FRAME)
    np.testing.assert_array_equal(_kernel_like(X, FRAME[["b", "a"]])[1], FRAME)
    for turned in (y[::-1], SERIES[::-1]):
        with pytest.raises(ValueError, match=r"y must have the row labels of X; row 0 is 9 .* 7"):
            _given(X, turned)
    plain = xr.DataArray(FRAME.to_numpy()), y[::-1].to_numpy()  # has no labels
    for got, given in zip(_given(*plain)[:2], plain, strict=True):
        np.testing.assert_array_equal(got, given)
    with pytest.raises(TypeError, match=r"X must be an array or a frame: .*Dataset"):
        _given(X.to_dataset("column"))


@takes("X", "weights", "offset")
def _owned(owner, X, weights=None, *, offset=None):
    return X, weights, offset


@takes("X", "weights", "offset")
def _told(owner, X, weights=None, *, offset=None, noise=False):
    return X, weights, offset


def test_columns_that_an_owner_knows_are_taken_where_none_are_given():
    """Those of the noise only where there is no noise to ask for, or it is asked for."""
    known = (("weights", "w"), ("offset", "o"))
    owner = SimpleNamespace(known_columns=known, columns=("a",))
    frame = pd.DataFrame({"a": [1.0, 2.0], "w": [3.0, 4.0], "o": [5.0, 6.0]})
    w, o, given = [3.0, 4.0], [5.0, 6.0], np.asarray([7.0, 8.0])
    for call, more, weights, offset in (
        (_owned, {}, w, o),
        (_told, {"noise": True}, w, o),
        (_told, {}, None, o),
        (_owned, {"weights": given, "offset": given}, given, given),
    ):
        found = call(owner, frame, **more)
        np.testing.assert_array_equal(found[0], [[1.0], [2.0]])
        for got, wanted in zip(found[1:], (weights, offset), strict=True):
            assert (got is None) == (wanted is None)
            np.testing.assert_array_equal(got, wanted)
    assert _owned(owner, frame[["a", "o"]])[1] is None
    assert _owned(SimpleNamespace(columns=("a",)), frame)[1:] == (None, None)


def test_columns_with_numbers_are_refused_out_of_their_order():
    """Nothing matches them: a prediction would take one for the other."""
    numbered, y = FRAME.set_axis([0, 1], axis=1), np.asarray([1.0, 2.0, 3.0])
    posterior, estimator = condition(GP(RBF(), 0.1), numbered, y), GPRegressor().fit(numbered, y)
    mixed = FRAME.set_axis(["a", 1], axis=1)
    for call in (
        lambda: posterior.mean(numbered[[1, 0]]),
        lambda: estimator.predict(numbered[[1, 0]]),
        lambda: condition(GP(RBF(), 0.1), mixed, y),
    ):
        with pytest.raises(ValueError, match=r"must have columns with names.*columns\.map\(str\)"):
            call()
    named = mixed.set_axis(mixed.columns.map(str), axis=1)
    known = condition(GP(RBF(), 0.1), named, y)
    assert known.mean(named[["1", "a"]]).tolist() == known.mean(named).tolist()
    assert posterior.mean(numbered).tolist() == posterior.mean(FRAME.to_numpy()).tolist()


def test_only_columns_with_names_have_names():
    assert columns_of(FRAME) == ("a", "b")
    assert columns_of(FRAME.rename(columns={"b": 1})) == ()
    assert columns_of(FRAME.to_numpy()) == ()


def test_a_number_is_no_column_and_a_truth_is_left_to_be_refused():
    with pytest.raises(TypeError, match=r"weights must be a vector .* of a column; got 3"):
        _given(FRAME, "b", weights=3)
    with pytest.raises(TypeError, match=r"weights must be a vector .* of a column; got 2\.5"):
        _given(FRAME, "b", weights=2.5)
    assert _given(FRAME, "b", weights=True)[2] is True


class Knowing:
    """The owner of data whose noise and offset were columns."""

    columns = ("a",)
    known_columns = (("noise_var", "sd"), ("offset", "trend"))


@takes("X", "noise_var", "offset")
def of_values(owner, X, noise_var=None, offset=None):
    return X, noise_var, offset


@takes("X", "noise_var", "offset")
def of_predictions(owner, X, noise_var=None, offset=None, *, noise=False):
    return X, noise_var, offset


@pytest.mark.parametrize(("call", "asks"), [
    (of_values, True), (of_predictions, False),
    (lambda *given: of_predictions(*given, noise=True), True),
    (lambda *given: of_predictions(*given, noise=False), False),
])  # fmt: skip
def test_what_is_known_of_readings_is_found_where_it_is_asked_for(call, asks):
    """Values have an offset, readings a noise too; a column that is given takes precedence."""
    frame = pd.DataFrame({"trend": [3.0, 4.0], "a": [0.0, 1.0], "sd": [0.1, 0.2]})
    X, noise_var, offset = call(Knowing(), frame)
    np.testing.assert_array_equal(X, [[0.0], [1.0]])
    np.testing.assert_array_equal(offset, [3.0, 4.0])
    if asks:
        np.testing.assert_array_equal(noise_var, [0.1, 0.2])
    else:
        assert noise_var is None
    given = call(Knowing(), frame, [5.0, 6.0])[1]
    np.testing.assert_array_equal(given, [5.0, 6.0])
    assert call(Knowing(), frame[["a"]])[1:] == (None, None)
