"""The in-place work behind `exact`, for NumPy arrays and stationary kernels that allow it.

The formulas are those of `exact` and of `kernels.stationary`, which stay the reference: a test
holds both to each other. Elementwise work goes through matrices that were made once, in blocks
that fit the cache; the rest is left to BLAS and LAPACK, in place and in Fortran order. All of
that goes through SciPy's library; NumPy's own would fight it for the cores.

Of a matrix of points with themselves only the lower triangle is filled, a tile at a time. A block
is seen through the transpose, ``matrix.T[block]``: a few columns, contiguous along the rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeGuard

import numpy as np

from .. import ground
from ..ground.distances import ALL, Pairs, _centroid, rounding
from ..ground.memory import blocks
from ..ground.params import Parameters
from ..ground.xp import (
    HostMatrix,
    HostVector,
    Matrix,
    Numbers,
    Vector,
    as_host,
    blas,
)
from .factors import cholesky
from .tiles import Tile, tiles_of

__all__ = [
    "HostPairs", "across", "cross", "factor", "gram", "project", "project_jointly", "supports",
    "values_and_slopes",
]  # fmt: skip

_BLOCK = 2**15  # entries: 256 KiB in float64, so that the two blocks at work fit a core's cache
_SIDE = 128  # rows of a tile of the triangle; the larger they are, the more is made in vain


class AnyKernel(Protocol):
    """A kernel, which says whether this module can work for it."""

    in_place: ClassVar[bool]


class InPlaceKernel(AnyKernel, Parameters, Protocol):
    """A kernel that this module takes: two hyperparameters, and a profile that works in place."""

    variance: float
    lengthscale: float | HostVector

    def profile_in_place(self, q: HostMatrix, slope: HostMatrix) -> None: ...


def supports(kernel: AnyKernel, X: Matrix) -> TypeGuard[InPlaceKernel]:
    """Return True for a kernel and inputs that the functions of this module take.

    The kernel says so itself; BLAS refuses empty matrices.
    """
    return kernel.in_place and X.shape[0] > 0 and isinstance(X, np.ndarray)


def factor(kernel: InPlaceKernel, noise_var: Numbers, X: Matrix) -> HostMatrix | None:
    """The Cholesky factor of ``K_y``, (n, n) in Fortran order, or None where it needs jitter."""
    u = scaled(kernel, X)
    with ground.tiled_cholesky.sharing(u) as threads:
        K = gram(kernel, u, threads)
        return cholesky(K, noise_var, threads)


def project(
    kernel: InPlaceKernel, X: Matrix, Xs: Matrix, lower: Matrix, alpha: Vector
) -> tuple[HostVector, HostVector]:
    """``K_*f α`` and the diagonal of ``K_*f K_y⁻¹ K_f*``, (n*,) each."""
    mean, half = _projections(kernel, X, Xs, lower, alpha)
    return mean, np.einsum("ji,ji->j", half.T, half.T)


def project_jointly(
    kernel: InPlaceKernel, X: Matrix, Xs: Matrix, lower: Matrix, alpha: Vector
) -> tuple[HostVector, HostMatrix]:
    """``K_*f α``, (n*,), and the lower triangle of ``K_** − K_*f K_y⁻¹ K_f*``, (n*, n*)."""
    mean, half = _projections(kernel, X, Xs, lower, alpha)
    K = gram(kernel, scaled(kernel, Xs))
    return mean, blas("syrk", X.dtype)(-1.0, half, 1.0, K, trans=1, lower=1, overwrite_c=1)


def _projections(
    kernel: InPlaceKernel, X: Matrix, Xs: Matrix, lower: Matrix, alpha: Vector
) -> tuple[HostVector, HostMatrix]:
    """``K_*f α`` and ``L⁻¹ K_f*``."""
    with ground.tiled_cholesky.sharing(as_host(X)) as threads:
        K = cross(kernel, *scaled_pair(kernel, X, Xs))
        mean = blas("gemv", X.dtype)(1.0, K, alpha, trans=1)
        if K.shape[1] == 1:  # of 500 points a quarter of the time
            return mean, blas("trsv", X.dtype)(lower, K[:, 0], lower=1, overwrite_x=1)[:, None]
        if threads == 1:
            return mean, blas("trsm", X.dtype)(1.0, lower, K, lower=1, overwrite_b=1)
        ground.tiled_cholesky.solve(as_host(lower), K, threads)
        return mean, K


def scaled(kernel: InPlaceKernel, X: Matrix) -> HostMatrix:
    """The inputs in units of the lengthscale, about their centre."""
    u: Any = X - _centroid(X, kernel.lengthscale)
    return u / kernel.lengthscale


def scaled_pair(kernel: InPlaceKernel, X: Matrix, Xs: Matrix) -> tuple[HostMatrix, HostMatrix]:
    """Both, (n, d) and (m, d), in units of the lengthscale, about the centre of X."""
    lengths = kernel.lengthscale
    centre: Any = _centroid(X, lengths)
    return (X - centre) / lengths, (Xs - centre) / lengths


def gram(kernel: InPlaceKernel, u: HostMatrix, threads: int = 1) -> HostMatrix:
    """The lower triangle of k of inputs in units of the lengthscale with themselves, (n, n).

    Above it are zeros.
    """
    K = np.zeros((u.shape[0], u.shape[0]), u.dtype, order="F")
    pairs = HostPairs(u, u)

    def fill(tile: Tile) -> None:
        k, _ = values_and_slopes(kernel, pairs, *tile)
        K.T[tile] = np.triu(k) if tile.on_diagonal else k

    ground.task_queue.for_each(tiles_of(u.shape[0], _SIDE), fill, threads)
    return K


def cross(
    kernel: InPlaceKernel, u: HostMatrix, v: HostMatrix, slope: HostMatrix | None = None
) -> HostMatrix:
    """``k`` of inputs in units of the lengthscale, (n, m); ``dk/dq`` into `slope`, if given."""
    return across(kernel, HostPairs(v, u), slope)


def across(
    kernel: InPlaceKernel, pairs: HostPairs, slope: HostMatrix | None = None, *, unit: bool = False
) -> HostMatrix:
    """Return `cross` of pairs, transposed; `unit` leaves σ_f² out."""
    m, n = pairs.u.shape[0], pairs.v.shape[0]
    K = np.empty((n, m), pairs.dtype, order="F")
    for some in blocks(m, n, _BLOCK):
        slopes = None if slope is None else slope.T[some]
        values_and_slopes(kernel, pairs, some, ALL, K.T[some], slopes, unit=unit)
    return K


def values_and_slopes(
    kernel: InPlaceKernel,
    pairs: HostPairs,
    rows: slice,
    columns: slice,
    k: HostMatrix | None = None,
    slope: HostMatrix | None = None,
    *,
    unit: bool = False,
) -> tuple[HostMatrix, HostMatrix]:
    """k and ``dk/dq`` of some rows of the pairs with some columns; `unit` leaves σ_f² out.

    They go into `k` and `slope`, arrays in C order, where these are given.
    Distances that are rounding are zero, and so are the slopes there: points that coincide stay so
    to first order, and take no part in the gradient.
    """
    shape = pairs.u[rows].shape[0], pairs.v[columns].shape[0]
    k = np.empty(shape, pairs.dtype) if k is None else k
    slope = np.empty(shape, pairs.dtype) if slope is None else slope
    near = pairs.squares(rows, columns, k)
    kernel.profile_in_place(k, slope)
    if not unit:
        k *= kernel.variance
        slope *= kernel.variance
    slope.flat[near] = 0.0
    return k, slope


class HostPairs(Pairs):
    """Pairs of NumPy's, whose distances are made in place, of some rows with some columns."""

    u: HostMatrix
    v: HostMatrix

    def squares(self, rows: slice, columns: slice, out: HostMatrix) -> HostVector:
        """Fill `out`, in C order, and tell where in the flat matrix rounding hides a distance.

        That is zero there. By differences nothing is hidden.
        """
        if self.by_differences:
            return self._fill_by_differences(rows, columns, out)
        (left, by_row), (right, by_column) = self._left, self._right
        q = out if out.dtype == left.dtype else np.empty(out.shape)
        # in Fortran order, without a copy: outᵀ = right leftᵀ
        gemm = blas("gemm", q.dtype)
        gemm(1.0, right[columns].T, left[rows].T, c=q.T, trans_a=1, overwrite_c=1)
        near = self._near(q, by_row[rows], by_column[columns])
        q.flat[near] = 0.0
        if q is not out:
            out[...] = q
        return near

    def pull_both(self, W: HostMatrix) -> tuple[HostMatrix, HostMatrix, HostVector]:
        """Return the results of `pull`, with ``2 Σᵢ Wᵢⱼ (vⱼ − uᵢ)``, (m, d), between them.

        Expanded, sums and squares are one: ``Σ W (u − v)² = ½ (Σ u u_bar + Σ v v_bar)``.
        """
        if self.by_differences or W.dtype != self.u.dtype:
            u_bar, squares = self.pull(W)
            return as_host(u_bar), as_host(self.turned().side(W.T)), as_host(squares)
        u, v, d = self.u, self.v, self.u.shape[1]
        gemm = blas("gemm", W.dtype)
        by_u = gemm(1.0, W.T, self._right[0].T, trans_a=1, trans_b=1)
        by_v = gemm(1.0, W.T, self._left[0].T, trans_b=1)
        u_bar = 2.0 * (u * by_u[:, d, None] - by_u[:, :d])
        v_bar = 2.0 * v * by_v[:, d + 1, None] + by_v[:, :d]
        squares = np.einsum("ij,ij->j", u, u_bar) + np.einsum("ij,ij->j", v, v_bar)
        return u_bar, v_bar, 0.5 * squares

    def _fill_by_differences(self, rows: slice, columns: slice, out: HostMatrix) -> HostVector:
        u, v = self.u[rows, :], self.v[columns, :]
        gap = out  # of the first column
        for k in range(u.shape[1]):
            np.subtract(u[:, k, None], v[None, :, k], out=gap)
            gap *= gap
            if k:
                out += gap
            else:
                gap = np.empty_like(out)
        return _NONE

    def _near(self, q: HostMatrix, by_row: HostVector, by_column: HostVector) -> HostVector:
        """Where q is less than its rounding; few are near enough to be looked at twice."""
        found = np.flatnonzero(q < self._largest)
        if not found.size:
            return _NONE
        rows, columns = np.divmod(found, q.shape[1])
        return found[q.flat[found] < by_row[rows] + by_column[columns]]

    @cached_property
    def _largest(self) -> float:
        """The largest rounding of all pairs."""
        return float(self._left[1].max() + self._right[1].max())

    @cached_property
    def _left(self) -> tuple[HostMatrix, HostVector]:
        """``[−2u, |u|², 1]``, (n, d + 2), and each row's share in the rounding of its distances.

        Less than the sum of two is zero.
        """
        u = self.u
        size = np.vecdot(u, u)
        return np.column_stack([-2.0 * u, size, np.ones_like(size)]), rounding(u) * size

    @cached_property
    def _right(self) -> tuple[HostMatrix, HostVector]:
        """``[v, 1, |v|²]`` likewise."""
        v = self.v
        size = np.vecdot(v, v)
        return np.column_stack([v, np.ones_like(size), size]), rounding(v) * size


_NONE = np.empty(0, np.intp)
