"""On a device a kernel of scaled distances is few launches, and NumPy's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import cupy_stand_in
import numpy as np
import pytest
from cupy_stand_in.counts import counting

from gpnotes import RBF
from gpnotes.ground.distances import rounding
from gpnotes.model.kernels import Matern12, Matern32, Matern52, RationalQuadratic
from gpnotes.model.kernels.scaled_inputs import ScaledInputs, distances

KINDS = [RBF, Matern12, Matern32, Matern52, RationalQuadratic]


@pytest.fixture
def cp() -> Iterator[ModuleType]:
    with cupy_stand_in.installed() as module:
        yield module


def inputs(d: int, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(d)
    x, z = rng.normal(size=(7, d)), rng.normal(size=(5, d))
    x[3], z[2] = x[1], x[1]  # some coincide
    return tuple(a.astype(dtype) for a in (x, z, rng.normal(size=(7, 5))))


def lengths(d: int, dtype: str, separate: bool) -> Any:
    return np.linspace(0.7, 2.0, d).astype(dtype) if separate else 1.4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("d", "separate"), [(1, False), (2, True), (5, True), (5, False)])
def test_a_device_gives_the_numbers_of_numpy(
    cp: ModuleType, kind: Any, dtype: str, d: int, separate: bool
) -> None:
    x, z, K_bar = inputs(d, dtype)
    length = lengths(d, dtype, separate)
    here = kind(1.3, length)
    there = kind(1.3, cp.asarray(length) if separate else length)
    rtol = 1e-12 if dtype == "float64" else 2e-5
    for others, bar in ((z, K_bar), (None, K_bar @ K_bar.T), (None, np.outer(x[:, 0], x[::-1, 0]))):
        beside = None if others is None else cp.asarray(others)
        gram = there._gram(cp.asarray(x), beside)
        np.testing.assert_allclose(gram.get(), here._gram(x, others), rtol=rtol)
        assert gram.dtype == dtype
        same = gram[3, 1 if others is None else 2]  # of inputs that coincide
        assert float(same) == gram.dtype.type(here.variance)
        wanted = here._pullback(x, others, bar)
        found = there._pullback(cp.asarray(x), beside, cp.asarray(bar))
        assert isinstance(found[0].variance, float)
        np.testing.assert_allclose(found[0].variance, wanted[0].variance, rtol=rtol, atol=rtol)
        own = found[0].lengthscale.get() if separate else found[0].lengthscale
        np.testing.assert_allclose(own, wanted[0].lengthscale, rtol=rtol, atol=10.0 * rtol)
        for mine, theirs in zip(found[1:], wanted[1:], strict=True):
            if theirs is not None:
                assert mine.dtype == dtype
                np.testing.assert_allclose(mine.get(), theirs, rtol=rtol, atol=10.0 * rtol)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 5])
def test_a_profile_is_one_launch_with_its_distances(cp: ModuleType, kind: Any, d: int) -> None:
    x = cp.asarray(inputs(d, "float64")[0])
    kernel = kind(1.3, cp.asarray(lengths(d, "float64", separate=True)))
    kernel._gram(x, None)
    with counting() as counts:
        kernel._gram(x, None)
    # the mean, units, sizes, the largest of these, a product; and the kernel
    assert (counts.launches, counts.crossings) == (6, 1)


def test_inputs_that_are_not_finite_leave_no_finite_kernel(cp: ModuleType) -> None:
    x = inputs(5, "float64")[0]
    x[2, 1] = np.nan
    K = RBF()._gram(cp.asarray(x), None)
    assert np.isnan(K.get()[2]).any()


def test_distances_that_come_near_to_overflowing_are_cut_off() -> None:
    """At a hundredth of the largest float, before a square of it is infinite."""
    top = float(np.finfo(float).max)
    u = np.asarray([[-0.4], [0.4]]) * np.sqrt(top)
    np.testing.assert_allclose(distances(u, None), [[0.0, 0.01 * top], [0.01 * top, 0.0]])


def test_without_rows_there_are_no_distances(cp: ModuleType) -> None:
    x = inputs(3, "float64")[0]
    assert distances(x[:0], None).shape == (0, 0)
    assert distances(x, x[:0]).shape == (7, 0)
    there = cp.asarray(x)
    for kind in (RBF, RationalQuadratic):
        assert kind()._gram(there[:0, :], there).shape == (0, 7)
        assert kind()._gram(there, there[:0, :]).shape == (7, 0)


@pytest.mark.parametrize("steps", [-1, 0, 1, 2])
def test_a_distance_that_may_be_rounding_is_none(cp: ModuleType, steps: int) -> None:
    """Of rows of size one it is ``2 − 2 u·v``, zero up to a share of 2, and itself beyond."""
    u = cp.asarray(np.eye(2))
    share = rounding(u)
    ones = cp.asarray(np.ones(2))
    beyond = 2.0 * (share + steps * np.finfo(float).eps / 2.0)
    products = cp.asarray(np.full((2, 2), 1.0 - beyond / 2.0))
    found = ScaledInputs(u, None, (ones, ones)).through(products, _itself).get()
    np.testing.assert_array_equal(found, beyond if steps > 0 else 0.0)


def _itself(q: Any) -> Any:
    return q + 0.0


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_distances_are_cut_off_where_an_input_is_beyond_a_thousandth_of_the_root(
    share: float,
) -> None:
    top = float(np.finfo(float).max)
    edge = 1e-3 * np.sqrt(top)
    u, v = np.asarray([[share * edge, 0.0]]), np.asarray([[-30.0 * share * edge, 0.0]])
    whole = (31.0 * share * edge) ** 2
    assert distances(u, None).tolist() == [[0.0]]
    np.testing.assert_allclose(distances(u, v / 30.0), (2.0 * share * edge) ** 2, rtol=1e-12)
    np.testing.assert_allclose(distances(v, u), min(whole, 1e-2 * top), rtol=1e-12)
