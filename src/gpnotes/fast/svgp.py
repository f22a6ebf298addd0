"""The in-place work behind `svgp`, for NumPy arrays and the kernels that `evidence` serves.

The formulas are those of `svgp.posterior`, `svgp.row_sums` and `svgp.evidence_lower_bound`, which
stay the reference: a test holds both to each other. As in `sparse`, matrices of n rows of data are
(n, M) in Fortran order, and all products go through SciPy's library.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ground.memory import blocks
from ..ground.xp import (
    HostMatrix,
    HostVector,
    Matrix,
    Numbers,
    Vector,
    as_host,
    blas,
    symmetric_part,
)
from .sparse import pull_of_distances, pull_to_both, whiten
from .stationary_evidence import HostPairs, InPlaceKernel, supports

__all__ = [
    "Carried", "InPlaceKernel", "Projection", "carried", "carried_to_both", "project", "sums",
    "supports",
]  # fmt: skip

_BLOCK = 2**15  # entries, as in `evidence`


class Projection(NamedTuple):
    """``Φ = K_fu L⁻ᵀ`` and ``dp/dq``, (n, M) each; ``Φ w`` and the variance of f, (n,) each.

    And the pairs of a point and a row.
    """

    Phi: HostMatrix
    slope: HostMatrix
    pull: HostVector
    variance: HostVector
    pairs: HostPairs


def project(
    kernel: InPlaceKernel, Z: Matrix, lower: Matrix, root: Matrix, weights: Vector, X: Matrix
) -> Projection:
    """f at X (n, d); its variance is ``gap + Σ (Φ L_P⁻ᵀ)²``, with `root` L_P⁻¹."""
    Phi, slope, gap, pairs = whiten(kernel, Z, lower, X)
    half = blas("trmm", Phi.dtype)(1.0, root, Phi, side=1, lower=1, trans_a=1)
    pull = blas("gemv", Phi.dtype)(1.0, Phi, weights)
    variance = gap + np.einsum("ji,ji->i", half.T, half.T)
    return Projection(Phi, slope, pull, variance, pairs)


def sums(Phi: HostMatrix, by_mean: Vector, precision: Vector) -> tuple[HostVector, HostMatrix]:
    """``Φᵀ e₁`` and, for λ from 0, ``Φᵀ diag(λ) Φ``, by half the products."""
    half = np.empty_like(Phi)
    np.multiply(Phi.T, np.sqrt(as_host(precision))[None, :], out=half.T)
    lower = blas("syrk", Phi.dtype)(1.0, half, trans=1, lower=1)
    gradient = blas("gemv", Phi.dtype)(1.0, Phi, by_mean, trans=1)
    return gradient, lower + np.tril(lower, -1).T


def carried(
    kernel: InPlaceKernel, at: Projection, back: Matrix, outer: Vector, by_mean: Vector,
    by_variance: Vector,
) -> tuple[Numbers, HostMatrix]:  # fmt: skip
    """Derivatives by lengthscale and Z, of ``K_fu_bar = e₁ outerᵀ − 2 diag(e₂) Φ backᵀ``."""
    W = _product(-2.0 * kernel.variance, at.Phi, back)
    e1, e2 = kernel.variance * as_host(by_mean), as_host(by_variance)
    for some in blocks(W.shape[1], W.shape[0], _BLOCK):
        part = W.T[some]
        part *= e2[None, :]
        part += as_host(outer)[some, None] * e1[None, :]
        part *= at.slope.T[some]
    return pull_of_distances(kernel, at.pairs, W)


class Carried(NamedTuple):
    """Derivatives by lengthscale, Z and X; ``Φᵀ e₁`` and ``−2 Φᵀ diag(e₂) Φ``."""

    lengthscale: Numbers
    Z: HostMatrix
    X: HostMatrix
    gradient: HostVector
    sites: HostMatrix


def carried_to_both(
    kernel: InPlaceKernel, at: Projection, back: Matrix, outer: Vector, by_mean: Vector,
    by_variance: Vector,
) -> Carried:  # fmt: skip
    """Return the results of `carried` and `sums`, for e₂ of any sign, and the derivatives by X.

    With ``S = [e₁, diag(−2 e₂) Φ]`` one product is ``K_fu_bar = S [outer, back]ᵀ``, and another,
    ``Φᵀ S``, is both sums: the scaling is done once.
    """
    Phi, m = at.Phi, at.Phi.shape[1]
    S, both = np.empty((Phi.shape[0], m + 1), Phi.dtype, "F"), np.empty((m, m + 1), Phi.dtype, "F")
    S[:, 0], both[:, 0], both[:, 1:] = as_host(by_mean), as_host(outer), as_host(back)
    np.multiply(Phi.T, -2.0 * as_host(by_variance), out=S.T[1:])
    gradient, sites = _sums(Phi, S)
    W = _product(kernel.variance, S, both)
    W *= at.slope
    return Carried(*pull_to_both(kernel, at.pairs, W), gradient, sites)


def _sums(Phi: HostMatrix, S: HostMatrix) -> tuple[HostVector, HostMatrix]:
    """``Φᵀ S``, whose first column stands alone; the rest is symmetric, and a quarter is copied."""
    gemm, m, half = blas("gemm", Phi.dtype), Phi.shape[1], Phi.shape[1] // 2
    left = gemm(1.0, Phi, S[:, : half + 1], trans_a=1)
    sites = np.empty((m, m), Phi.dtype)
    sites[:, :half], sites[:half, half:] = left[:, 1:], left[half:, 1:].T
    corner = gemm(1.0, Phi[:, half:], S[:, half + 1 :], trans_a=1)
    sites[half:, half:] = symmetric_part(corner)
    return left[:, 0].copy(), sites


def _product(times: float, a: HostMatrix, b: Matrix) -> HostMatrix:
    """Return ``times a bᵀ``, in memory that is not set to zero first."""
    out = np.empty((a.shape[0], b.shape[0]), a.dtype, "F")
    return blas("gemm", a.dtype)(times, a, b, c=out, trans_b=1, overwrite_c=1)
