"""Gauss-Hermite quadrature: expectations under a Gaussian, exact for polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from . import check as _check
from .xp import Array, HostVector, as_array

__all__ = ["MOST_NODES", "expect", "gauss_hermite"]

MOST_NODES = 350  # beyond, NumPy's weights overflow; most of them are below 1e-300 by then


def gauss_hermite(n: int) -> tuple[HostVector, HostVector]:
    """Return nodes and weights (n,) with ``Σ w g(t) ≈ E g(t)`` for ``t ~ N(0, 1)``.

    Parameters
    ----------
    n : int
        The number of nodes, from 1 to 350.

    Returns
    -------
    nodes : HostVector, shape (n,)
        The nodes t, NumPy float64 on the host, not to be written to.
    weights : HostVector, shape (n,)
        The weights w, likewise.

    Notes
    -----
    Exact for polynomials up to degree 2n − 1.
    Source: Abramowitz & Stegun (1964), 25.4.46, for the weight exp(−t²), rescaled here.

    Examples
    --------
    >>> nodes, weights = gauss_hermite(3)
    >>> round(float(weights @ nodes**4), 12)
    3.0
    """
    return _rule(_check.whole(n, "n", 1, MOST_NODES))


@cache
def _rule(n: int) -> tuple[HostVector, HostVector]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    weights = weights / math.sqrt(2.0 * math.pi)
    nodes.flags.writeable = weights.flags.writeable = False  # the cache hands out these very arrays
    return nodes, weights


def expect(f: Callable[[Array], Array], mean: Array, variance: Array, n: int = 20) -> Array:
    """Return ``E f(t)`` for ``t ~ N(mean, variance)``, entry by entry, by Gauss-Hermite quadrature.

    Parameters
    ----------
    f : callable
        A function that works entry by entry and sees the nodes on a new last axis.
    variance : Array
        The variances, of the shape of `mean`.
    n : int, default 20
        The number of nodes.

    Examples
    --------
    >>> np.round(expect(np.exp, np.zeros(1), np.ones(1)), 6)
    array([1.648721])
    """
    xp = _check.mean_and_variance(mean, variance)
    _check.function(f, "f", of="arrays")
    nodes, weights = (as_array(a, mean) for a in gauss_hermite(n))
    points = mean[..., None] + xp.sqrt(variance)[..., None] * nodes
    values = f(points)
    if getattr(values, "shape", ()) != points.shape:
        got = getattr(values, "shape", type(values).__name__)
        raise ValueError(f"f must keep the shape of the nodes, {tuple(points.shape)}; got {got}")
    return xp.sum(values * weights, axis=-1)
