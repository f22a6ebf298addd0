"""Passes of a network in place beside those of `networks.layers`."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes.fast import networks as in_place
from gpnotes.networks import Network


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("sizes", [(3, 2), (1, 4, 1), (2, 50, 30, 2)], ids=repr)
@pytest.mark.parametrize("lead", [(), (4,)], ids=["one", "four"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_both_ways_pass_the_same(rng, activation, sizes, lead, dtype):
    """In one workspace with more rows, fewer, and as many again, as batches come."""
    network, work = Network(sizes, activation), in_place.Workspace()
    close = {"rtol": 1e-11, "atol": 1e-11} if dtype is np.float64 else {"rtol": 1e-3, "atol": 2e-3}
    for n in (700, 5, 700):
        theta = rng.normal(size=(*lead, network.num_weights)).astype(dtype) / 5
        X, F_bar = (rng.normal(size=shape).astype(dtype) for shape in
                    ((n, sizes[0]), (*lead, n, sizes[-1])))  # fmt: skip
        wanted, back = network._values_and_pullback(theta, X)
        found, back_in_place = network._values_and_pullback(theta, X, work)
        np.testing.assert_allclose(found, wanted, **close)
        theta_bar = back_in_place(F_bar)
        assert found.dtype == theta_bar.dtype == dtype
        np.testing.assert_allclose(theta_bar, back(F_bar), **close)


def test_a_gradient_outlives_the_next_pass(rng):
    network, work = Network((2, 3, 1)), in_place.Workspace()
    X, theta = rng.normal(size=(6, 2)), rng.normal(size=network.num_weights)
    _, back = network._values_and_pullback(theta, X, work)
    first = back(np.ones((6, 1)))
    kept = first.copy()
    _, back = network._values_and_pullback(-theta, X, work)
    back(np.ones((6, 1)))
    np.testing.assert_array_equal(first, kept)
