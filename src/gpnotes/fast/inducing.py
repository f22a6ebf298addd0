"""The in-place work behind `sparse`, for NumPy arrays and the kernels that `evidence` serves.

The formulas are those of `sparse.passes`, which stay the reference: a test holds both to each
other. Matrices of n rows of data are (n, M) in Fortran order: products with the small matrices then
run along the data, at up to twice the speed that they have in the other order, and a triangular
solve is mostly products, a few columns at a time. What is elementwise goes through in blocks that
fit the cache. All products go through SciPy's library; NumPy's own would fight it for the cores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ground import xp as _xp
from ..ground.distances import Pairs
from ..ground.memory import blocks
from ..ground.xp import HostMatrix, HostVector, Matrix, Numbers, Vector
from .evidence import InPlaceKernel, cross, host_lengths, supports
from .factors import divide

__all__ = [
    "Block", "Workspace", "products", "pull_of_distances", "pull_to_both", "supports",
    "whiten",
]  # fmt: skip

_BLOCK = 2**15  # entries, as in `evidence`


class Block(NamedTuple):
    """What some rows of data need in both passes: ``Φ = K_fu L_u⁻ᵀ`` and ``dk/dq``, (n, M) each.

    `gap` (n,) is what Φ leaves of the variance, ``max(σ_f² − |φᵢ|², 0)``.
    """

    Phi: HostMatrix
    slope: HostMatrix
    gap: HostVector


def whiten(kernel: InPlaceKernel, Z: Matrix, lower: Matrix, X: Matrix) -> Block:
    """The block of the rows X (n, d), for M points Z (M, d) and the factor L_u; O(n M²)."""
    u, v = _scaled(kernel, Z, X)
    slope = np.empty((v.shape[0], u.shape[0]), u.dtype, order="F")
    Phi = cross(kernel, v, u, slope)
    divide(Phi, _xp.as_host(lower), transposed=True)
    gap = kernel.variance - np.einsum("ji,ji->i", Phi.T, Phi.T)
    return Block(Phi, slope, np.maximum(gap, 0.0))


def _scaled(kernel: InPlaceKernel, Z: Matrix, X: Matrix) -> tuple[HostMatrix, HostMatrix]:
    """Both inputs in units of the lengthscale, about the centre of Z."""
    points = _xp.as_host(Z)
    centre = points.mean(axis=0)
    lengths = host_lengths(kernel)
    return (points - centre) / lengths, (_xp.as_host(X) - centre) / lengths


def products(Phi: Matrix, r: Vector) -> tuple[HostMatrix, HostVector]:
    """``ΦᵀΦ`` (M, M) and ``Φᵀr`` (M,)."""
    lower = _xp.blas("syrk", Phi)(1.0, Phi, trans=1, lower=1)
    return lower + np.tril(lower, -1).T, _xp.blas("gemv", Phi)(1.0, Phi, r, trans=1)


class Workspace:
    """What the blocks of the second pass share, with a buffer that each writes over.

    `back` (M, M) and `by_alpha` (M,) are such that ``K_fu_bar = Φ backᵀ + α by_alphaᵀ``, where
    ``α = (r − Φ weights) / noise``.
    """

    def __init__(self, back: Matrix, by_alpha: Vector, weights: Vector, noise: float) -> None:
        self._back = np.asfortranarray(_xp.as_host(back))
        self._by_alpha = _xp.as_host(by_alpha)
        self._weights = weights
        self._noise = noise
        self._buffer = np.empty((0, 0))

    def carried(self, block: Block, r: Vector) -> tuple[HostMatrix, HostVector]:
        """``W = K_fu_bar ∘ dk/dq`` (n, M), which lasts until the next call, and α (n,)."""
        Phi = block.Phi
        explained = _xp.blas("gemv", Phi)(1.0, Phi, self._weights)
        alpha = (_xp.as_host(r) - explained) / self._noise
        if self._buffer.shape != Phi.shape:
            self._buffer = np.empty(Phi.shape, order="F")
        W = self._buffer
        _xp.blas("gemm", W)(1.0, Phi, self._back, c=W, trans_b=1, overwrite_c=1)
        for some in blocks(W.shape[1], W.shape[0], _BLOCK):
            part = W.T[some]
            part += self._by_alpha[some, None] * alpha[None, :]
            part *= block.slope.T[some]
        return W, alpha


def pull_of_distances(
    kernel: InPlaceKernel, Z: Matrix, X: Matrix, W: HostMatrix
) -> tuple[Numbers, HostMatrix]:
    """Derivatives by the lengthscale and by Z (M, d), from ``W = K_fu_bar ∘ dk/dq``, (n, M).

    With u and v in units of the lengthscale: ``u_bar = 2 (Wᵀ1 ∘ u − Wᵀv)``, and by each lengthscale
    ``−2 Σᵢⱼ Wᵢⱼ (uⱼ − vᵢ)² / ℓ``.
    """
    lengths_bar, Z_bar, _ = _pulled(kernel, Z, X, W, inputs=False)
    return lengths_bar, Z_bar


def pull_to_both(
    kernel: InPlaceKernel, Z: Matrix, X: Matrix, W: HostMatrix
) -> tuple[Numbers, HostMatrix, HostMatrix]:
    """The same, and the derivatives by X (n, d): ``v_bar = 2 (W1 ∘ v − Wu)``."""
    lengths_bar, Z_bar, X_bar = _pulled(kernel, Z, X, W, inputs=True)
    assert X_bar is not None
    return lengths_bar, Z_bar, X_bar


def _pulled(
    kernel: InPlaceKernel, Z: Matrix, X: Matrix, W: HostMatrix, inputs: bool
) -> tuple[Numbers, HostMatrix, HostMatrix | None]:
    u, v = _scaled(kernel, Z, X)
    by_u, by_lengths = Pairs(u, v).pull(W.T)
    u_bar, squares = (_xp.as_host(a).astype(W.dtype, copy=False) for a in (by_u, by_lengths))
    lengths = host_lengths(kernel)
    by_each = -2.0 * squares / lengths
    one = isinstance(kernel.lengthscale, float)
    lengths_bar: Numbers = float(np.sum(by_each)) if one else by_each
    if not inputs:
        return lengths_bar, u_bar / lengths, None
    v_bar = _xp.as_host(Pairs(v, u).side(W)).astype(W.dtype, copy=False)
    return lengths_bar, u_bar / lengths, v_bar / lengths
