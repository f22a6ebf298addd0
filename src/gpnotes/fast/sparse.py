"""The in-place work behind `sparse`, for NumPy arrays and the kernels of `stationary_evidence`.

The formulas are those of `sparse.row_sums`, which stay the reference: a test holds both to each
other. Matrices of n rows of data are (n, M) in Fortran order: products with the small matrices then
run along the data, at up to twice the speed that they have in the other order, and a triangular
solve is mostly products, a few columns at a time. Elementwise work goes through in blocks that
fit the cache. All products go through SciPy's library; NumPy's own would fight it for the cores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ground.memory import blocks
from ..ground.xp import HostMatrix, HostVector, Matrix, Numbers, Vector, as_host, blas
from .factors import divide
from .stationary_evidence import (
    HostPairs,
    InPlaceKernel,
    across,
    scaled_pair,
    supports,
)

__all__ = [
    "Block", "Workspace", "products", "pull_of_distances", "pull_to_both", "supports", "whiten",
]  # fmt: skip

_BLOCK = 2**15  # entries, as in `evidence`


class Block(NamedTuple):
    """Values of some rows for both passes: ``Φ = K_fu L_u⁻ᵀ`` and ``dp/dq``, (n, M) each.

    Here ``k = σ_f² p``: whoever takes the slopes multiplies a smaller matrix by σ_f². `gap` (n,) is
    the variance left by Φ, ``max(σ_f² − |φᵢ|², 0)``; `pairs` are those of a point and a row.
    """

    Phi: HostMatrix
    slope: HostMatrix
    gap: HostVector
    pairs: HostPairs


def whiten(kernel: InPlaceKernel, Z: Matrix, lower: Matrix, X: Matrix) -> Block:
    """The block of the rows X (n, d), for M points Z (M, d) and the factor L_u; O(n M²)."""
    pairs = HostPairs(*scaled_pair(kernel, Z, X))
    slope = np.empty((X.shape[0], Z.shape[0]), pairs.dtype, order="F")
    Phi = across(kernel, pairs, slope, unit=True)
    # σ_f² p L⁻ᵀ = p (L/σ_f²)⁻ᵀ: M² numbers are divided instead of n M multiplied
    divide(Phi, as_host(lower) / kernel.variance, transposed=True)
    gap = kernel.variance - np.einsum("ji,ji->i", Phi.T, Phi.T)
    return Block(Phi, slope, np.maximum(gap, 0.0), pairs)


def products(Phi: Matrix, r: Vector) -> tuple[HostMatrix, HostVector]:
    """``ΦᵀΦ`` (M, M) and ``Φᵀr`` (M,)."""
    lower = blas("syrk", Phi.dtype)(1.0, Phi, trans=1, lower=1)
    return lower + np.tril(lower, -1).T, blas("gemv", Phi.dtype)(1.0, Phi, r, trans=1)


class Workspace:
    """Values that the blocks of the second pass share, with a buffer that each overwrites.

    `back` (M, M) and `by_alpha` (M,) are such that ``K_fu_bar = Φ backᵀ + α by_alphaᵀ``, where
    ``α = (r − Φ weights) / noise``.
    """

    def __init__(
        self, kernel: InPlaceKernel, back: Matrix, by_alpha: Vector, weights: Vector, noise: float
    ) -> None:
        self._back = np.asfortranarray(kernel.variance * as_host(back))
        self._by_alpha = kernel.variance * as_host(by_alpha)
        self._weights = weights
        self._noise = noise
        self._buffer = np.empty((0, 0))

    def carried(self, block: Block, r: Vector) -> tuple[HostMatrix, HostVector]:
        """``W = K_fu_bar ∘ dk/dq`` (n, M), which lasts until the next call, and α (n,)."""
        Phi = block.Phi
        explained = blas("gemv", Phi.dtype)(1.0, Phi, self._weights)
        alpha = (as_host(r) - explained) / self._noise
        if self._buffer.shape != Phi.shape:
            self._buffer = np.empty(Phi.shape, order="F")
        W = self._buffer
        blas("gemm", W.dtype)(1.0, Phi, self._back, c=W, trans_b=1, overwrite_c=1)
        # elementwise work a few columns at a time: what a block reads is still in the cache
        for some in blocks(W.shape[1], W.shape[0], _BLOCK):
            part = W.T[some]
            part += self._by_alpha[some, None] * alpha[None, :]
            part *= block.slope.T[some]
        return W, alpha


def pull_of_distances(
    kernel: InPlaceKernel, pairs: HostPairs, W: HostMatrix
) -> tuple[Numbers, HostMatrix]:
    """Derivatives by the lengthscale and by Z (M, d), from ``W = K_fu_bar ∘ dk/dq``, (n, M).

    With u and v in units of the lengthscale: ``u_bar = 2 (Wᵀ1 ∘ u − Wᵀv)``, and by each lengthscale
    ``−2 Σᵢⱼ Wᵢⱼ (uⱼ − vᵢ)² / ℓ``.
    """
    u_bar, squares = (as_host(a).astype(W.dtype, copy=False) for a in pairs.pull(W.T))
    return _by_lengths(kernel, squares), u_bar / kernel.lengthscale


def pull_to_both(
    kernel: InPlaceKernel, pairs: HostPairs, W: HostMatrix
) -> tuple[Numbers, HostMatrix, HostMatrix]:
    """The same, and the derivatives by X (n, d): ``v_bar = 2 (W1 ∘ v − Wu)``."""
    u_bar, v_bar, squares = (a.astype(W.dtype, copy=False) for a in pairs.pull_both(W.T))
    lengths = kernel.lengthscale
    return _by_lengths(kernel, squares), u_bar / lengths, v_bar / lengths


def _by_lengths(kernel: InPlaceKernel, squares: HostVector) -> Numbers:
    by_each = -2.0 * squares / kernel.lengthscale
    return float(np.sum(by_each)) if isinstance(kernel.lengthscale, float) else by_each
