"""GPs to predict with, inputs to predict at, and the nodes of quadrature over them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, condition, gauss_hermite


class Problem(NamedTuple):
    """Two GPs on the same inputs, the second with a sum of kernels, and a normal input."""

    posteriors: list[Any]
    m: Any
    S: Any


@pytest.fixture
def covariance(rng):
    """A function that draws a covariance (D, D) of a size and a rank."""

    def make(D, scale, rank=None):
        root = rng.normal(size=(D, D if rank is None else rank))
        return scale * root @ root.T / D

    return make


@pytest.fixture
def make_posteriors(rng):
    """A function that conditions two GPs on nine points of the plane."""

    def make(asarray=np.asarray):
        X, lengths = rng.normal(size=(9, 2)), rng.uniform(0.7, 2.0, (3, 2))
        first, second, third = (asarray(length) for length in lengths)
        gps = [
            GP(RBF(1.3, first), 0.1, ConstantMean(0.3)),
            GP(RBF(0.7, second) + 0.5 * RBF(0.8, third), 0.05),
        ]
        return [condition(gp, asarray(X), asarray(rng.normal(size=9))) for gp in gps]

    return make


@pytest.fixture
def problem(rng, make_posteriors, covariance) -> Problem:
    return Problem(make_posteriors(), rng.normal(size=2), covariance(2, 0.3))


@pytest.fixture
def nodes():
    """A function that gives points and weights of a tensor rule for N(m, S), S of any rank."""

    def make(m, S, count=60):
        values, vectors = np.linalg.eigh(S)
        z, w = gauss_hermite(count)
        grids = np.stack(np.meshgrid(*[z] * len(m), indexing="ij"), axis=-1)
        weights = np.prod(np.meshgrid(*[w] * len(m), indexing="ij"), axis=0)
        flat = grids.reshape(-1, len(m)) * np.sqrt(np.clip(values, 0.0, None))
        return m + flat @ vectors.T, weights.ravel()

    return make
