"""Profiles of stationary kernels in place: ``p(q)`` over q, and ``dp/dq`` into a second array.

Both are NumPy arrays of one shape, blocks of a matrix that fit the cache. The formulas are those of
`kernels.stationary`, whose classes call these functions.
"""

from __future__ import annotations

import numpy as np

from ..ground.xp import HostArray, HostMatrix

__all__ = ["matern12", "matern32", "matern52", "rbf"]

_FAR = 1e4  # lengthscales: the exponential of minus as much is zero


def rbf(q: HostMatrix, slope: HostMatrix) -> None:
    """``p = exp(−q/2)``."""
    q *= -0.5
    np.exp(q, out=q)
    np.multiply(q, -0.5, out=slope)


def matern12(q: HostMatrix, slope: HostMatrix) -> None:
    """``p = exp(−√q)``, with the slope zero at q = 0, where it has none."""
    np.sqrt(q, out=q)
    slope[...] = 0.0
    np.divide(-0.5, q, out=slope, where=q > 0.0)
    np.negative(q, out=q)
    np.exp(q, out=q)
    slope *= q


def matern32(q: HostMatrix, slope: HostMatrix) -> None:
    """``p = (1 + s) exp(−s)`` with ``s = √(3q)``."""
    s = _distance_and_decay(q, slope, 3.0)
    s += 1.0
    s *= slope
    slope *= -1.5


def matern52(q: HostMatrix, slope: HostMatrix) -> None:
    """``p = (1 + s + s²/3) exp(−s)`` with ``s = √(5q)``."""
    s = _distance_and_decay(q, slope, 5.0)
    # with e = exp(−s): p = (1 + s) e + s² e / 3, and the slope is −5/6 (1 + s) e
    quadratic = s * s
    quadratic *= slope
    quadratic *= 1.0 / 3.0
    s += 1.0
    slope *= s
    np.add(slope, quadratic, out=q)
    slope *= -5.0 / 6.0


def _distance_and_decay(q: HostMatrix, slope: HostMatrix, factor: float) -> HostArray:
    """``s = √(factor q)`` in the place of q, and ``exp(−s)`` in that of the slope."""
    q *= factor
    np.sqrt(q, out=q)
    np.minimum(q, _FAR, out=q)
    np.negative(q, out=slope)
    np.exp(slope, out=slope)
    return q
