"""The in-place work behind `exact`, for NumPy arrays and stationary kernels that allow it.

The formulas are those of `exact` and of `kernels.stationary`, which stay the reference: a test
holds both to each other. Here they run in two buffers of n × n, made once: what is elementwise goes
through them in blocks that fit the cache, what is not is left to BLAS and LAPACK, in place and in
Fortran order. All of that goes through SciPy's library; NumPy's own would fight it for the cores.

Only lower triangles are ever filled. A block is seen through the transpose, ``matrix.T[block]``:
a few columns of the matrix, from the diagonal down, contiguous along the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Protocol, TypeGuard

import numpy as np

from ..ground import xp as _xp
from ..ground.distances import by_differences, centroid, rounding
from ..ground.memory import blocks
from ..ground.params import Parameters, cotangent
from ..ground.xp import HostArray, HostMatrix, HostVector, Matrix, Numbers, Vector, array_namespace
from .factors import Evidence, cholesky, diagonal, solved

__all__ = ["evidence_and_gradient", "factor", "project", "project_jointly", "serves"]

_BLOCK = 2**15  # entries: 256 KiB in float64, so that the two blocks at work fit a core's cache


class AnyKernel(Protocol):
    """A kernel, which says whether this module can work for it."""

    in_place: ClassVar[bool]


class InPlaceKernel(AnyKernel, Parameters, Protocol):
    """What this module asks of a kernel: two hyperparameters, and a profile that works in place."""

    variance: float
    lengthscale: Numbers

    def _admit(self, x: Matrix, name: str) -> None: ...

    def _profile_in_place(self, q: HostMatrix, slope: HostMatrix) -> None: ...


def serves(kernel: AnyKernel, X: Matrix) -> TypeGuard[InPlaceKernel]:
    """Whether the functions of this module can work for this kernel and these inputs.

    The kernel says so itself; BLAS refuses empty matrices.
    """
    return kernel.in_place and X.shape[0] > 0 and _xp.is_numpy_namespace(array_namespace(X))


def evidence_and_gradient(
    kernel: InPlaceKernel, noise_var: float, X: Matrix, residual: Vector
) -> Evidence | None:
    """The evidence and its derivatives, or None where K_y needs jitter; O(n³), two n × n buffers.

    By the kernel's signal variance: ``½ (αᵀKα − tr K_y⁻¹K) / σ_f²`` with ``Kα = residual − σ_n² α``
    and ``K_y⁻¹K = I − σ_n² K_y⁻¹``, so that K itself need not be kept. These differences cost this
    one derivative a relative error of ``eps σ_n² / σ_f²`` where the noise exceeds the signal.
    """
    n = X.shape[0]
    u = scaled(kernel, X)
    slope = np.empty((n, n), X.dtype, order="F")
    found = solved(_gram(kernel, u, slope), noise_var, residual)
    if found is None:
        return None
    own = found.fit - noise_var * found.squares - n + noise_var * found.trace
    lengths_bar = _lengthscale_bar(kernel, u, _weighted(slope, found.alpha, found.inverse))
    bar = cotangent(kernel, variance=own / (2.0 * kernel.variance), lengthscale=lengths_bar)
    return Evidence(found.value, bar, found.noise_var_bar, found.alpha)


def factor(kernel: InPlaceKernel, noise_var: float, X: Matrix) -> HostMatrix | None:
    """The Cholesky factor of ``K_y``, (n, n) in Fortran order, or None where it needs jitter."""
    K = _gram(kernel, scaled(kernel, X), None)
    return cholesky(K, noise_var, clean=1)


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
    K = _gram(kernel, scaled(kernel, Xs), None)
    return mean, _xp.blas("syrk", X)(-1.0, half, 1.0, K, trans=1, lower=1, overwrite_c=1)


def _projections(
    kernel: InPlaceKernel, X: Matrix, Xs: Matrix, lower: Matrix, alpha: Vector
) -> tuple[HostVector, HostMatrix]:
    """``K_*f α`` and ``L⁻¹ K_f*``."""
    K = cross(kernel, *scaled_pair(kernel, X, Xs))
    mean = _xp.blas("gemv", X)(1.0, K, alpha, trans=1)
    return mean, _xp.blas("trsm", X)(1.0, lower, K, lower=1, overwrite_b=1)


def scaled(kernel: InPlaceKernel, X: Matrix) -> HostMatrix:
    """The inputs in units of the lengthscale, about their centre."""
    kernel._admit(X, "X")
    u = _xp.as_host(X)
    return (u - u.mean(axis=0)) / host_lengths(kernel)


def scaled_pair(kernel: InPlaceKernel, X: Matrix, Xs: Matrix) -> tuple[HostMatrix, HostMatrix]:
    """Both, (n, d) and (m, d), in units of the lengthscale, about the centre of X."""
    centre, lengths = centroid(X), host_lengths(kernel)
    return _xp.as_host(X - centre) / lengths, _xp.as_host(Xs - centre) / lengths


def host_lengths(kernel: InPlaceKernel) -> float | HostVector:
    """The lengthscale, known to be a float or an array of NumPy."""
    lengths = kernel.lengthscale
    return lengths if isinstance(lengths, float) else _xp.as_host(lengths)


def _gram(kernel: InPlaceKernel, u: HostMatrix, slope: HostMatrix | None) -> HostMatrix:
    """The lower triangle of K; that of ``dk/dq`` goes into `slope`, if there is such a buffer."""
    K = _squares_within(u)
    diagonal(K)[:] = 0.0
    errors = None if _exact(u) else _rounding(u)
    for block in _blocks(u.shape[0], u.shape[0], triangle=True):
        q = K.T[block]
        slopes = np.empty_like(q) if slope is None else slope.T[block]
        near = None if errors is None else q < errors[block[0], None] + errors[None, block[1]]
        _profile(kernel, q, slopes, near)
    return K


def cross(
    kernel: InPlaceKernel, u: HostMatrix, v: HostMatrix, slope: HostMatrix | None = None
) -> HostMatrix:
    """``k`` of inputs in units of the lengthscale, (n, m); ``dk/dq`` into `slope`, if given."""
    K = _squares_between(u, v)
    errors = None if _exact(u, v) else (_rounding(v), _rounding(u))
    for block in _blocks(v.shape[0], u.shape[0], triangle=False):
        q = K.T[block]
        slopes = np.empty_like(q) if slope is None else slope.T[block]
        near = None if errors is None else q < errors[0][block[0], None] + errors[1][None, block[1]]
        _profile(kernel, q, slopes, near)
    return K


def _blocks(columns: int, rows: int, *, triangle: bool) -> Iterator[tuple[slice, slice]]:
    if not triangle:
        yield from ((some, slice(0, rows)) for some in blocks(columns, rows, _BLOCK))
        return
    start = 0
    while start < columns:
        stop = min(columns, start + max(1, _BLOCK // (rows - start)))
        yield slice(start, stop), slice(start, rows)
        start = stop


# Squared distances, by the rules of `linalg.squared_distances`: one product of augmented inputs,
# |u|² − 2u·v + |v|²; by differences where `linalg.by_differences` says so; in float64, a block at a
# time, for inputs in float32.


def _exact(u: HostMatrix, v: HostMatrix | None = None) -> bool:
    """Whether near points are told apart already, and those that coincide are at distance zero."""
    return u.dtype == np.float32 or by_differences(u, v)


def _squares_within(u: HostMatrix) -> HostMatrix:
    if by_differences(u):
        return _by_differences(u, u, triangle=True)
    if u.dtype == np.float32:
        return _in_double(u, u, triangle=True)
    size = np.sum(u * u, axis=1)
    # zeros, since blocks touch some of the entries above the diagonal that syr2k leaves alone
    K = np.zeros((u.shape[0], u.shape[0]), u.dtype, order="F")
    pair = _augmented(-u, size), _augmented(u, np.ones_like(size))
    return _xp.blas("syr2k", u)(1.0, *pair, 0.0, K, lower=1, overwrite_c=1)


def _squares_between(u: HostMatrix, v: HostMatrix) -> HostMatrix:
    if by_differences(u, v):
        return _by_differences(u, v, triangle=False)
    if u.dtype == np.float32:
        return _in_double(u, v, triangle=False)
    K = np.empty((u.shape[0], v.shape[0]), u.dtype, order="F")
    left = _augmented(-2.0 * u, np.sum(u * u, axis=1), np.ones(u.shape[0]))
    right = _augmented(v, np.ones(v.shape[0]), np.sum(v * v, axis=1))
    return _xp.blas("gemm", u)(1.0, left, right, c=K, trans_b=1, overwrite_c=1)


def _augmented(u: HostMatrix, *columns: HostArray) -> HostMatrix:
    return np.asfortranarray(np.column_stack([u, *columns]))


def _rounding(u: HostMatrix) -> HostVector:
    """What each point adds to the rounding of its distances: less than the sum of two is zero."""
    return rounding(u) * np.sum(u * u, axis=1)


def _by_differences(u: HostMatrix, v: HostMatrix, *, triangle: bool) -> HostMatrix:
    K = np.zeros((u.shape[0], v.shape[0]), u.dtype, order="F")
    for block in _blocks(v.shape[0], u.shape[0], triangle=triangle):
        q = K.T[block]
        gap = np.empty_like(q)
        for k in range(u.shape[1]):
            np.subtract(v[block[0], k, None], u[None, block[1], k], out=gap)
            gap *= gap
            q += gap
    return K


def _in_double(u: HostMatrix, v: HostMatrix, *, triangle: bool) -> HostMatrix:
    K = np.zeros((u.shape[0], v.shape[0]), u.dtype, order="F")
    u, v = _doubled(u, v)
    right = _augmented(u, np.ones_like(u[:, 0]), np.sum(u * u, axis=1)).T
    left = np.column_stack([-2.0 * v, np.sum(v * v, axis=1), np.ones_like(v[:, 0])])
    errors = _rounding(v), _rounding(u)
    for block in _blocks(v.shape[0], u.shape[0], triangle=triangle):
        q = left[block[0]] @ right[:, block[1]]
        q[q < errors[0][block[0], None] + errors[1][None, block[1]]] = 0.0
        K.T[block] = q
    return K


def _doubled(*arrays: HostArray) -> tuple[HostArray, ...]:
    return tuple(a.astype(np.float64) for a in arrays)


def _profile(
    kernel: InPlaceKernel, q: HostMatrix, slope: HostMatrix, near: HostMatrix | None
) -> None:
    """Turn squared distances into k, in place, and fill ``dk/dq``; those `near` zero are zero.

    They take no part in the gradient: points that coincide stay so to first order.
    """
    if near is not None:
        np.copyto(q, 0.0, where=near)
    kernel._profile_in_place(q, slope)
    q *= kernel.variance
    slope *= kernel.variance
    if near is not None:
        np.copyto(slope, 0.0, where=near)


def _weighted(slope: HostMatrix, alpha: HostVector, inverse: HostMatrix) -> HostMatrix:
    """``(α αᵀ − K_y⁻¹) ∘ dk/dq`` in the place of the slope; in blocks, zero above the diagonal.

    The diagonal is zero too: no point is at a distance from itself.
    """
    n = alpha.shape[0]
    for block in _blocks(n, n, triangle=True):
        bar = alpha[block[0], None] * alpha[None, block[1]]
        bar -= inverse.T[block]
        weights = slope.T[block]
        weights *= bar
        square = weights[:, : weights.shape[0]]
        square[...] = np.triu(square, 1)
    return slope


def _lengthscale_bar(kernel: InPlaceKernel, u: HostMatrix, W: HostMatrix) -> Numbers:
    """``−(1/ℓ_d) Σᵢⱼ Wᵢⱼ (u_id − u_jd)²``, in the shape of the lengthscale."""
    if by_differences(u):
        terms = _weighted_squares_by_differences(u, W)
    elif u.dtype == np.float32:
        terms = _weighted_squares_in_double(u, W)
    else:
        terms = _weighted_squares(u, W)
    if isinstance(kernel.lengthscale, float):
        return float(np.sum(-2.0 * terms / kernel.lengthscale))
    return -2.0 * terms / kernel.lengthscale


def _weighted_squares(u: HostMatrix, W: HostMatrix) -> HostVector:
    """``½ Σᵢⱼ Wᵢⱼ (u_id − u_jd)²``, (d,), as ``Σᵢ u_id² (W1)ᵢ − u_dᵀ W u_d``."""
    moved = _xp.blas("symm", u)(1.0, W, _augmented(u, np.ones_like(u[:, 0])), lower=1)
    return np.sum(u * (u * moved[:, -1:] - moved[:, :-1]), axis=0)


def _weighted_squares_in_double(u: HostMatrix, W: HostMatrix) -> HostVector:
    """The same for float32, in float64, a block at a time."""
    (u,) = _doubled(u)
    terms = np.zeros(u.shape[1])
    for block in _blocks(u.shape[0], u.shape[0], triangle=True):
        (weights,) = _doubled(W.T[block])
        a = u[block[0]]
        b = u[block[1]]
        terms += weights.sum(axis=1) @ (a * a) + weights.sum(axis=0) @ (b * b)
        terms -= 2.0 * np.sum(a * (weights @ b), axis=0)
    return terms.astype(W.dtype)


def _weighted_squares_by_differences(u: HostMatrix, W: HostMatrix) -> HostVector:
    """The same, ``Σ_{i>j} Wᵢⱼ (u_id − u_jd)²``, from the differences themselves."""
    terms = np.zeros_like(u[0])
    for block in _blocks(u.shape[0], u.shape[0], triangle=True):
        gap = np.empty_like(W.T[block])
        weighted = np.empty_like(gap)
        for k in range(u.shape[1]):
            np.subtract(u[block[0], k, None], u[None, block[1], k], out=gap)
            np.multiply(gap, W.T[block], out=weighted)  # first: a square may overflow where W is 0
            weighted *= gap
            terms[k] += np.sum(weighted)
    return terms
