"""K_y factored, and inverted, where it stands.

K is a NumPy array (n, n) in Fortran order; only the lower triangle is read and written.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import ground
from ..ground.memory import blocks
from ..ground.params import Parameters
from ..ground.xp import LOG_2PI, HostMatrix, HostVector, Numbers, Vector, as_host, blas, lapack

__all__ = [
    "Evidence", "Solved", "cholesky", "divide", "inverse", "invert", "solved",
]  # fmt: skip

_SIDE = 96  # rows of a triangle up to which LAPACK inverts it as it is
_LARGE = 1000  # rows beyond which it is as fast, and halves would cost memory
_PANEL = 48  # columns that are solved for together, after a product with those before


class Evidence(NamedTuple):
    """``log p(y)``, its derivatives by kernel and noise, α, and the diagonal of K_y⁻¹."""

    value: float
    kernel_bar: Parameters
    noise_var_bar: float
    alpha: HostVector
    precision: HostVector


class Solved(NamedTuple):
    """``log p(y)``, its derivative by σ_n², α, the lower triangle of K_y⁻¹."""

    value: float
    noise_var_bar: float
    alpha: HostVector
    inverse: HostMatrix


def solved(
    K: HostMatrix, noise_var: Numbers, residual: Vector, share: Numbers = 1.0, threads: int = 1
) -> Solved | None:
    """Solve ``K_y = K + σ_n² I`` for the residual, or return None where it needs jitter; O(n³).

    K is given up: its place is that of the factor, and then of the inverse. Where the noise of each
    reading is its own, `share` is its derivative by σ_n². Several `threads` work on tiles.
    """
    lower = cholesky(K, noise_var, threads)
    if lower is None:
        return None
    log_det = 2.0 * float(np.sum(np.log(lower.diagonal())))
    alpha, _ = lapack("potrs", K.dtype)(lower, residual, lower=1)
    precision = inverse(lower, threads)
    # ∂ log p/∂K_y = ½ (α αᵀ − K_y⁻¹), of which σ_n² has the trace
    value = -0.5 * (float(np.sum(residual * alpha)) + log_det + K.shape[0] * LOG_2PI)
    shares = share if isinstance(share, float) else as_host(share)
    trace = float(np.sum(shares * precision.diagonal()))
    noise_var_bar = 0.5 * (float(np.sum(alpha * (shares * alpha))) - trace)
    return Solved(value, noise_var_bar, alpha, precision)


def inverse(lower: HostMatrix, threads: int) -> HostMatrix:
    """The lower triangle of ``L⁻ᵀ L⁻¹`` in the place of L."""
    if threads > 1:
        ground.tiled_cholesky.invert(lower, threads)
        return lower
    invert(lower)
    precision: HostMatrix = lapack("lauum", lower.dtype)(lower, lower=1, overwrite_c=1)[0]
    return precision


def cholesky(K: HostMatrix, noise_var: Numbers, threads: int = 1) -> HostMatrix | None:
    """The factor of ``K + σ_n² I`` in the place of the lower triangle of K."""
    on_diagonal = np.einsum("ii->i", K)  # a view that can be written to
    on_diagonal += noise_var
    if threads > 1:
        return K if ground.tiled_cholesky.factor(K, threads) else None
    lower, failed = lapack("potrf", K.dtype)(K, lower=1, clean=0, overwrite_a=1)
    return None if failed else lower


def invert(lower: HostMatrix) -> None:
    """``L⁻¹`` in the place of the lower triangle, by halves: ``−(L₂₂⁻¹ L₂₁) L₁₁⁻¹``.

    That is ``trtri``, whose solves take twice as long for 500 rows. A product with L₁₁⁻¹ would be
    faster still, but ``L⁻¹ L`` would then be off by the condition of L₁₁ times as much.
    """
    n = lower.shape[0]
    if n <= _SIDE or n > _LARGE:
        found, _ = lapack("trtri", lower.dtype)(lower, lower=1, overwrite_c=1)
        if not np.may_share_memory(found, lower):
            lower[...] = found
        return
    first, then = slice(0, n // 2), slice(n // 2, n)
    invert(lower[then, then])
    trmm = blas("trmm", lower.dtype)
    below = trmm(-1.0, lower[then, then], lower[then, first], lower=1)
    divide(below, lower[first, first])  # by L₁₁ itself, which therefore is inverted last
    lower[then, first] = below
    invert(lower[first, first])


def divide(K: HostMatrix, lower: HostMatrix, *, transposed: bool = False) -> None:
    """``K L⁻¹``, or ``K L⁻ᵀ``, in the place of K (n, M), in Fortran order: mostly by products."""
    gemm, trsm = blas("gemm", K.dtype), blas("trsm", K.dtype)
    # X L = K: the last columns of X depend on K alone, those before on all behind them, since
    # K_j = X_j L_jj + Σ_{i>j} X_i L_ij. With Lᵀ it is the other way round.
    panels = blocks(K.shape[1], 1, _PANEL)
    for some in panels if transposed else reversed(panels):
        done = slice(0, some.start) if transposed else slice(some.stop, None)
        part = lower[some, done] if transposed else lower[done, some]
        panel = K[:, some]
        if part.size:
            gemm(-1.0, K[:, done], part, 1.0, panel, trans_b=transposed, overwrite_c=1)
        corner = lower[some, some]
        trsm(1.0, corner, panel, side=1, lower=1, trans_a=transposed, overwrite_b=1)
