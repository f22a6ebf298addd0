"""Gauss-Hermite quadrature: expectations under a Gaussian, exact for polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from . import _check
from ._xp import Array, array_namespace, as_array

__all__ = ["expect", "gauss_hermite"]

_MOST = 350  # beyond, NumPy's weights overflow; most of them are below 1e-300 by then


@cache
def gauss_hermite(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights (n,) with ``Σ w g(t) ≈ E g(t)`` for ``t ~ N(0, 1)``.

    NumPy float64, on the host; exact for polynomials up to degree 2n − 1. Raises `ValueError` for
    an n that is no whole number from 1 to 350.
    Source: Abramowitz & Stegun (1964), 25.4.46, for the weight exp(−t²), rescaled here.

    >>> nodes, weights = gauss_hermite(3)
    >>> round(float(weights @ nodes**4), 12)
    3.0
    """
    if not isinstance(n, int) or not 1 <= n <= _MOST:
        raise ValueError(f"n must be a whole number from 1 to {_MOST}; got {n}")
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    weights = weights / math.sqrt(2.0 * math.pi)
    nodes.flags.writeable = weights.flags.writeable = False  # the cache hands out these very arrays
    return nodes, weights


def expect(f: Callable[[Array], Array], mean: Array, variance: Array, n: int = 20) -> Array:
    """``E f(t)`` for ``t ~ N(mean, variance)``, entry by entry, by n-point Gauss-Hermite.

    `mean` and `variance` have one shape; `f` works entry by entry and sees the nodes on a new
    last axis. The result has the shape of `mean`. Raises `ValueError` for a negative variance.

    >>> np.round(expect(np.exp, np.zeros(1), np.ones(1)), 6)
    array([1.648721])
    """
    xp = array_namespace(mean, variance)
    if mean.shape != _check.positive(variance, "variance", zero=True).shape:
        raise ValueError(
            f"variance must have the shape of mean, {mean.shape}; got {variance.shape}"
        )
    nodes, weights = (as_array(a, mean) for a in gauss_hermite(n))
    points = mean[..., None] + xp.sqrt(variance)[..., None] * nodes
    return xp.sum(f(points) * weights, axis=-1)
