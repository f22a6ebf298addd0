"""Kernels averaged over an uncertain input, with the pullback of that average.

For ``k(x, z) = σ_f² exp(−½ |(x − z)/ℓ|²)`` and ``x ~ N(m, S)`` the average over x has a closed
form; for a sum of kernels it is the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .. import _xp
from .._xp import Array, array_namespace
from ..kernels import RBF, Kernel, Sum
from ..linalg import Cholesky, cholesky

__all__ = ["State", "kernel_mean_and_pullback"]


class State(NamedTuple):
    """An uncertain input ``x ~ N(mean, covariance)``, (D,) and (D, D)."""

    mean: Array
    covariance: Array


Pull = Callable[[Array], tuple[Array, Array, Array]]


def kernel_mean_and_pullback(kernel: Kernel, Z: Array, state: State) -> tuple[Array, Pull]:
    """``E_x k(x, zᵢ)`` for each row of Z (n, D), shape (n,), and its pullback; O(n D² + D³).

    With ``B = I + Λ^(−½) S Λ^(−½)`` and ``u = Λ^(−½)(z − m)`` it is
    ``σ_f² |B|^(−½) exp(−½ uᵀB⁻¹u)``, :eq:`eq-pi-kernel-mean`; S may be singular or zero. The
    pullback carries a cotangent (n,) to those of Z, of the mean and of the covariance of x, the
    last one symmetric. Raises `TypeError` for kernels other than RBF and sums of RBF.

    >>> import numpy as np
    >>> state = State(np.zeros(1), np.eye(1))
    >>> value, pull = kernel_mean_and_pullback(RBF(), np.asarray([[0.0], [1.0]]), state)
    >>> value.round(4)
    array([0.7071, 0.5507])
    """
    found = [_one(part, Z, state) for part in _summands(kernel)]
    pulls = [pull for _, pull in found]

    def pullback(bar: Array) -> tuple[Array, Array, Array]:
        Z_bar, m_bar, S_bar = zip(*(pull(bar) for pull in pulls), strict=True)
        return _total(Z_bar), _total(m_bar), _total(S_bar)

    return _total([value for value, _ in found]), pullback


def _total(terms: list[Array] | tuple[Array, ...]) -> Array:
    return sum(terms[1:], start=terms[0])


def _summands(kernel: Kernel) -> tuple[RBF, ...]:
    parts = kernel.parts if isinstance(kernel, Sum) else (kernel,)
    if not all(isinstance(part, RBF) for part in parts):
        raise TypeError(f"kernel must be RBF or a sum of RBF kernels; got {kernel!r}")
    return parts


def _one(kernel: RBF, Z: Array, state: State) -> tuple[Array, Pull]:
    xp, (m, S), ell = array_namespace(Z), state, _lengths(kernel, Z)
    scaled = S / (ell[:, None] * ell[None, :])
    B = cholesky(_xp.eye(m.shape[0], m) + scaled, name="I + Λ^(−½) S Λ^(−½)", jitter=0.0)
    half = B.half_solve(xp.matrix_transpose((Z - m) / ell))
    exponent = -0.5 * (xp.sum(half * half, axis=0) + B.log_det)
    value = kernel.signal_var * xp.exp(exponent)
    return value, lambda bar: _pulled(B, half, ell, bar * value)


def _pulled(B: Cholesky, half: Array, ell: Array, log_bar: Array) -> tuple[Array, Array, Array]:
    """From the cotangent of the logarithm: with ``v = B⁻¹u``, ``u_bar = −v`` and
    ``B_bar = ½ (v vᵀ − B⁻¹)``, summed over the rows of Z."""
    xp = array_namespace(half)
    v = B.half_solve_t(half)
    u_bar = -v * log_bar
    B_bar = -0.5 * (u_bar @ xp.matrix_transpose(v) + float(xp.sum(log_bar)) * B.inverse())
    Z_bar = xp.matrix_transpose(u_bar) / ell
    return Z_bar, -xp.sum(Z_bar, axis=0), B_bar / (ell[:, None] * ell[None, :])


def _lengths(kernel: RBF, Z: Array) -> Array:
    """The lengthscales as a vector (D,)."""
    ones = array_namespace(Z).ones((Z.shape[1],), dtype=Z.dtype, device=_xp.device(Z))
    return ones * kernel.lengthscale
