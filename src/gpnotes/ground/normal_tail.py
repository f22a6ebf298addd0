"""The normal distribution function where no library has it, and the fractions of its tail."""

from __future__ import annotations

import math

import numpy as np

from .array_types import Array, Namespace
from .namespace import fused

__all__ = ["LOG_2PI", "mills_fractions", "standard_log_cdf"]

LOG_2PI = math.log(2.0 * math.pi)
_TAIL = 2.0  # below minus this, the normal distribution function is a continued fraction
_LEVELS = 100  # of it: rounding in float64 from there on
_FEW = 8  # numbers for which floats of Python, the same to the last bit, are many times as fast


def standard_log_cdf(xp: Namespace, x: Array) -> Array:
    """Return ``log Φ(x)`` by standard operations: in the tail a fraction, else a series."""
    far = xp.clip(xp.abs(x), _TAIL, None)
    tail = -0.5 * (far * far + LOG_2PI) - xp.log(far + mills_fractions(far)[0])
    near = xp.clip(xp.abs(x), None, _TAIL)
    below = xp.where(xp.abs(x) > _TAIL, tail, xp.log(0.5 - _middle(xp, near)))
    return xp.where(x > 0.0, xp.log1p(-xp.exp(below)), below)


def _middle(xp: Namespace, x: Array) -> Array:
    """``Φ(x) − ½ = φ(x) Σₖ x^(2k+1) / (2k+1)!!``, for x up to `_TAIL`.

    Source: Marsaglia (2004), Evaluating the normal distribution.
    """
    term = total = x
    for k in range(1, 35):
        term = term * x * x / (2 * k + 1)
        total = total + term
    return total * xp.exp(-0.5 * (x * x + LOG_2PI))


def mills_fractions(x: Array) -> tuple[Array, Array, Array]:
    """Return ``q₁, q₂, q₃`` of the normal tail, ``qₖ = k / (x + qₖ₊₁)``, for x from 2.

    Notes
    -----
    ``φ(x) / (1 − Φ(x)) = x + q₁``. The remainder of such ratios when their leading terms cancel can
    be written with these, without a cancellation. Source: Abramowitz & Stegun (1964), section
    26.2.
    """
    if type(x) is np.ndarray and x.dtype == np.float64 and 0 < x.size <= _FEW:
        each = [_fractions(value) for value in x.ravel().tolist()]
        first, second, third = np.array(each).T
        return first.reshape(x.shape), second.reshape(x.shape), third.reshape(x.shape)
    return _fused_fractions(x)


def _fractions(x: Array) -> tuple[Array, Array, Array]:
    q = [_LEVELS / x]
    for k in range(_LEVELS - 1, 0, -1):
        q = [float(k) / (x + q[0]), *q[:2]]
    return q[0], q[1], q[2]


_fused_fractions = fused(_fractions)
