"""Deep models with generic numbers in all places."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, Gaussian, Matern52
from gpnotes.infer import deep


def unit(rng, kernel, mean, columns, size, asarray):
    arrays = (
        rng.normal(size=(size, columns)),
        0.5 * rng.normal(size=size),
        0.3 + rng.random(size),
        0.5 * rng.normal(size=size * (size - 1) // 2),
    )
    return deep.Unit(GP(kernel, 0.0, mean), *map(asarray, arrays))


def two_layers(seed=0, asarray=np.asarray, likelihood=None, draws=3, sizes=(4, 3, 5)):
    """Two inputs, two inner units, of which each has its own everything, and the last one."""
    rng = np.random.default_rng(seed)
    inner = (
        unit(
            rng, RBF(0.7, asarray(np.asarray([0.8, 1.5]))), deep.Coordinate(1), 2, sizes[0], asarray
        ),
        unit(rng, Matern52(0.4, 1.2), deep.Coordinate(0), 2, sizes[1], asarray),
    )
    last = unit(rng, RBF(1.3, 0.9), GP(RBF(), 0.0).mean, 2, sizes[2], asarray)
    return deep.DeepGP((inner, (last,)), likelihood or Gaussian(0.3), num_samples=draws, seed=seed)


def narrow(seed=0, sizes=(2, 3), asarray=np.asarray, likelihood=None):
    """One input, one unit a layer."""
    rng = np.random.default_rng(seed)
    layers = tuple(
        (unit(rng, RBF(0.6 + 0.3 * k, 0.9), deep.Coordinate(), 1, size, asarray),)
        for k, size in enumerate(sizes)
    )
    return deep.DeepGP(layers, likelihood or Gaussian(0.3))


@pytest.fixture
def rows(rng):
    return rng.normal(size=(7, 2)), rng.normal(size=7)
