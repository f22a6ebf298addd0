"""Kernels of columns by name: ``kernel.on("temp")``."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gpnotes import GP, RBF, Linear, White, load, prior, save
from gpnotes.infer.features import draw_frequencies
from gpnotes.infer.sparse import greedy_points
from gpnotes.model.kernels import ActiveDims, OnSphere

FRAME = pd.DataFrame({"wind": [0.5, 2.0, 3.5, 1.0], "temp": [1.0, 2.5, 0.0, 4.0]})
X = FRAME.to_numpy()
KERNEL = RBF().on("temp") * 2.0 + Linear().on("wind") + White(0.1).on(0)
NUMBERED = RBF().on(1) * 2.0 + Linear().on(0) + White(0.1).on(0)
TURNED = FRAME[["temp", "wind"]].assign(wind=X[:, 0], more=1.0)


def test_a_frame_says_where_the_names_are():
    np.testing.assert_array_equal(KERNEL(FRAME), NUMBERED(X))
    np.testing.assert_array_equal(KERNEL(pl.from_pandas(FRAME)), NUMBERED(X))
    np.testing.assert_array_equal(KERNEL(x=FRAME, z=TURNED[:2]), NUMBERED(X, X[:2]))
    named = RBF().on("temp") + Linear().on("wind")
    np.testing.assert_array_equal(named(TURNED), (RBF().on(0) + Linear().on(1))(TURNED.to_numpy()))


def test_what_takes_a_kernel_or_a_process_with_inputs_finds_the_names():
    gp, numbered = GP(KERNEL, 0.1), GP(NUMBERED, 0.1)
    np.testing.assert_array_equal(prior(gp, FRAME).covariance, prior(numbered, X).covariance)
    np.testing.assert_array_equal(greedy_points(KERNEL, FRAME, 2), greedy_points(NUMBERED, X, 2))
    drawn = [draw_frequencies(one, at, 4, rng=1) for one, at in
             ((RBF().on("temp"), FRAME), (RBF().on(1), X))]  # fmt: skip
    np.testing.assert_array_equal(*(one.unit for one in drawn))


def test_a_list_of_names_or_numbers_is_as_good_as_the_names():
    assert RBF().on(["temp", "wind"]) == RBF().on("temp", "wind") != RBF().on("wind", "temp")
    assert RBF().on([0, 2]) == RBF().on(0, 2)
    assert repr(RBF().on(["temp", "wind"])).endswith(".on('temp', 'wind')")
    assert ActiveDims(RBF(), "temp") == RBF().on("temp")


def test_a_kernel_within_sees_the_columns_of_the_one_around_it():
    nested = (RBF().on("temp") + Linear().on(0)).on("wind", "temp")
    turned = FRAME[["temp", "wind"]]
    np.testing.assert_array_equal(nested(turned), (RBF().on(1) + Linear().on(0))(X))
    with pytest.raises(ValueError, match=r"X must have a column 'temp'.*got \['wind'\]"):
        RBF().on("temp").on("wind")(FRAME)


@pytest.mark.parametrize("known", [False, True])
def test_names_come_back_from_files_and_pickles(known, tmp_path):
    kernel = RBF().on("temp").at_columns(("wind", "temp")) if known else KERNEL
    save(kernel, tmp_path / "kernel")
    for again in (load(tmp_path / "kernel"), pickle.loads(pickle.dumps(kernel))):
        assert again == kernel
        assert again.seeks_columns is not known
        np.testing.assert_array_equal(again(FRAME), kernel(FRAME))


def test_names_without_a_frame_are_an_error_that_says_what_to_do():
    match = r"x.* must be a frame with the columns \['temp'\], which RBF.*'temp'\) names;.*on\(0\)"
    for kernel in (KERNEL, RBF().on("temp"), (RBF() + RBF().on("temp")).on(0, 1)):
        assert kernel.seeks_columns
        with pytest.raises(ValueError, match=match):
            kernel(X)
        with pytest.raises(ValueError, match=match):
            kernel.diag(X)
    with pytest.raises(ValueError, match=r"X must be a frame with the columns \['temp'\]"):
        _ = RBF().on("temp").places
    with pytest.raises(ValueError, match=r"X must be a frame with the columns \['temp'\]"):
        draw_frequencies(RBF().on("temp"), X, 4, rng=1)


def test_places_on_a_sphere_have_no_names():
    with pytest.raises(ValueError, match=r"the points of .* must be a frame .*'temp'"):
        OnSphere(RBF().on("temp")).on("wind", "temp")(FRAME)


@pytest.mark.parametrize(
    ("made", "match"),
    [
        (lambda: RBF().on("temp", "temp"), "dims must be distinct columns"),
        (lambda: RBF().on("temp", -1), "dims must be distinct columns, numbered from 0"),
        (lambda: RBF().on([]), "dims must be distinct columns"),
        (lambda: RBF().on("temp", 1)(FRAME), "dims must be distinct columns, numbered from 0"),
        (
            lambda: ActiveDims(RBF(), ("a", "b"), (0,)),
            r"numbers must have an entry for each of 2 dims",
        ),
    ],
)
def test_columns_that_are_no_choice_are_refused(made, match):
    with pytest.raises(ValueError, match=match):
        made()
