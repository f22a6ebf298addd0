"""Linear algebra that Gaussian processes need: one factorisation, passed on.

The jitter policy stands here, once: a matrix is factored as it is; if that fails, a little is
added to its diagonal, ten times more each try, up to a cap; what was added is recorded on the
result, and one warning says so.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Literal

from numpy.linalg import LinAlgError

from . import check as _check
from . import memory
from . import xp as _xp
from .xp import Array, Matrix, Vector, array_namespace

__all__ = [
    "Cholesky", "FactorisationError", "JitterWarning", "by_differences", "centroid", "cholesky",
    "squared_distances", "squared_distances_pullback",
]  # fmt: skip

_ENTRIES = 2**18  # entries of distances at a time that are in a better precision than the result


class FactorisationError(LinAlgError):
    """A matrix that should be positive definite is not; the message says what to do."""


class JitterWarning(UserWarning):
    """Something was added to a diagonal so that a factorisation could succeed."""


@dataclass(frozen=True, eq=False)
class Cholesky:
    """A symmetric positive definite matrix ``K = L Lᵀ``, held by its lower factor.

    `lower` has shape (n, n); `jitter` is what was added to the diagonal of K, mostly 0.

    >>> import numpy as np
    >>> K = cholesky(np.asarray([[4.0, 2.0], [2.0, 5.0]]))
    >>> K.lower
    array([[2., 0.],
           [1., 2.]])
    >>> round(K.log_det, 4)
    2.7726
    """

    lower: Matrix
    jitter: float = 0.0

    @property
    def size(self) -> int:
        """The number of rows n."""
        return self.lower.shape[0]

    @property
    def log_det(self) -> float:
        """``log |K|``, twice the sum of the logarithms of the factor's diagonal."""
        xp = array_namespace(self.lower)
        return 2.0 * float(xp.sum(xp.log(_xp.diagonal(self.lower))))

    def solve(self, b: Array) -> Array:
        """``K⁻¹ b`` for b of shape (n,) or (n, m), finite and of the factor's kind; O(n² m)."""
        half = _xp.solve_triangular(self.lower, self._admit(b))
        return _xp.solve_triangular(self.lower, half, transpose=True)

    def half_solve(self, b: Array) -> Array:
        """``L⁻¹ b`` for b of shape (n,) or (n, m); O(n² m)."""
        return _xp.solve_triangular(self.lower, self._admit(b))

    def half_solve_t(self, b: Array) -> Array:
        """``L⁻ᵀ b`` for b of shape (n,) or (n, m); O(n² m)."""
        return _xp.solve_triangular(self.lower, self._admit(b), transpose=True)

    def _admit(self, b: Array) -> Array:
        """`b` if it is a right-hand side, (n,) or (n, m), of the kind of the factor."""
        if getattr(b, "ndim", 0) == 1:
            _check.vector(b, "b", size=self.size)
        else:
            _check.matrix(b, "b", rows=self.size)
        return _check.alike(b, "b", self.lower, "the factor")

    def inverse(self) -> Matrix:
        """``K⁻¹``, (n, n): for gradients that need every entry; otherwise `solve`."""
        return _xp.cholesky_inverse(self.lower)

    def extend(self, cross: Matrix, block: Matrix, *, name: str = "K") -> Cholesky:
        """The factor of ``[[K, cross], [crossᵀ, block]]``; O(n² m) where starting over is O(n³).

        `cross` has shape (n, m), `block` (m, m); for m = 1 this is :eq:`eq-fv-extend`. The jitter
        of the old factor is added to the block too, so that the whole matrix is treated alike; what
        the block needs beyond that is added to it alone, and `jitter` of the result is their sum.
        Raises `ValueError` or `TypeError` for a cross and a block that do not fit, and what
        `cholesky` raises.
        """
        m = _check.matrix(cross, "cross", rows=self.size).shape[1]
        _check.matrix(block, "block", rows=m, columns=m)
        for part, what in ((cross, "cross"), (block, "block")):
            _check.alike(part, what, self.lower, "the factor")
        _check.symmetric(block, "block")
        xp = array_namespace(self.lower)
        # L21ᵀ = L11⁻¹ K12 and L22 L22ᵀ = K22 − L21 L21ᵀ
        side = xp.matrix_transpose(_xp.solve_triangular(self.lower, cross))
        block = block + self.jitter * _xp.eye(block.shape[0], block)
        corner = _factorise(block - side @ xp.matrix_transpose(side), name, _scale(block))
        warn_of_jitter(corner.jitter, name)
        top = xp.concat([self.lower, xp.zeros_like(cross)], axis=1)
        lower = xp.concat([top, xp.concat([side, corner.lower], axis=1)], axis=0)
        return Cholesky(lower, self.jitter + corner.jitter)


def cholesky(K: Matrix, *, name: str = "K", jitter: Literal["auto"] | float = "auto") -> Cholesky:
    """Factor a symmetric positive definite matrix, with jitter only where it must be.

    ``K = L Lᵀ`` with L lower triangular; only the lower triangle of K is read. With
    ``jitter="auto"`` K is tried as it is, then with ``n · eps · mean(diag K)`` added to its
    diagonal, ten times more each try, until a cap near ``sqrt(eps) · mean(diag K)``. With a number,
    exactly that much is added. `name` is what the error and the warning call the matrix.

    Raises `FactorisationError` if no try succeeds; warns with `JitterWarning` if a try but the
    first did. Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 10:
    Cholesky succeeds once the smallest eigenvalue exceeds a modest multiple of n eps times the
    diagonal.

    >>> import numpy as np
    >>> cholesky(np.eye(3)).jitter
    0.0
    """
    _check.square(K, name)
    if isinstance(jitter, str) and jitter == "auto":
        factor = _factorise(K, name, _scale(K))
        warn_of_jitter(factor.jitter, name)
        return factor
    added = _check.positive(_check.number(jitter, "jitter"), "jitter", zero=True)
    lower = _xp.cholesky_factor(K + added * _xp.eye(K.shape[0], K) if added else K)
    if lower is None:
        raise _failure(K, name, added)
    return Cholesky(lower, added)


def factorise(K: Matrix, *, name: str) -> Cholesky:
    """`cholesky` by its jitter policy, without the warning: the caller sees ``jitter`` and says so.

    Filters of warnings belong to the whole process: a fit cannot switch one off for a while.
    """
    return _factorise(_check.square(K, name), name, _scale(K))


def warn_of_jitter(jitter: float, name: str) -> None:
    """Warn, if it is not zero, that so much was added to the diagonal of `name`."""
    if jitter:
        what = f"is not positive definite in its precision: added {jitter:.1e} to its diagonal"
        warnings.warn(f"{name} {what}", JitterWarning, stacklevel=3)


def _scale(K: Matrix) -> float:
    return abs(float(array_namespace(K).sum(_xp.diagonal(K)))) / max(1, K.shape[0])


def _factorise(K: Matrix, name: str, scale: float) -> Cholesky:
    for tried in (0.0, *_jitters(K.shape[0], _xp.epsilon(K), scale)):
        lower = _xp.cholesky_factor(K + tried * _xp.eye(K.shape[0], K) if tried else K)
        if lower is not None:
            return Cholesky(lower, tried)
    raise _failure(K, name, tried)


def _jitters(n: int, eps: float, scale: float) -> list[float]:
    """What is tried in turn; at least two values, in float32 with many points too."""
    first = max(1, n) * eps
    cap = max(math.sqrt(eps), 10.0 * n * eps)
    tries = 1 + math.floor(math.log10(cap / first) + 1e-9)
    return [scale * first * 10.0**k for k in range(tries)]


def _failure(K: Matrix, name: str, jitter: float) -> FactorisationError:
    row, pivot = _failing_pivot(K)
    return FactorisationError(
        f"{name} of shape {K.shape} is not positive definite, even with {jitter:.1e} added to its "
        f"diagonal: without it pivot {row} is {pivot:.3e}. Add noise (a White kernel or a larger "
        "noise_var), remove repeated inputs, shorten the lengthscales, or compute in float64."
    )


def _failing_pivot(K: Matrix) -> tuple[int, float]:
    """The 1-based row at which elimination breaks down, and the pivot that it meets there."""
    host = _xp.to_numpy(K)
    good, bad = 0, K.shape[0]
    factor = Cholesky(host[:0, :0])
    while bad - good > 1:
        middle = (good + bad) // 2
        lower = _xp.cholesky_factor(host[:middle, :middle])
        if lower is None:
            bad = middle
        else:
            good = middle
            factor = Cholesky(lower)
    if good == 0:
        return 1, float(host[0, 0])
    half = factor.half_solve(host[good, :good])
    return good + 1, float(host[good, good] - half @ half)


def centroid(x: Matrix) -> Vector:
    """The mean row (d,) of x (n, d); zero where there are no rows, so that none are allowed."""
    return array_namespace(x).sum(x, axis=0) / max(1, x.shape[0])


def squared_distances(u: Matrix, v: Matrix | None = None) -> Matrix:
    """``|uᵢ − vⱼ|²`` for u (n, d) and v (m, d), shape (n, m); without `v`, within u.

    By differences where `by_differences` says so; else ``a² − 2ab + b²`` of centred inputs, in
    float64 whatever they are. What rounding cannot tell from zero is zero, so that coincident
    points are at distance 0 exactly. Raises `ValueError` or `TypeError` for arguments that do not
    fit.

    >>> import numpy as np
    >>> squared_distances(np.asarray([[0.0], [3.0]]))
    array([[0., 9.],
           [9., 0.]])
    """
    u, v = _centred(u, v)
    if by_differences(u, v):
        return _by_differences(u, u if v is None else v)
    wide = _xp.in_double(u)
    if wide is u:
        return _expanded(u, u if v is None else v)
    return _within(wide, u) if v is None else _between(wide, _xp.in_double(v), u)


def _expanded(u: Matrix, v: Matrix) -> Matrix:
    xp = array_namespace(u)
    size = xp.sum(u * u, axis=1)[:, None] + xp.sum(v * v, axis=1)[None, :]
    q = u @ xp.matrix_transpose(v)
    q *= -2.0  # in place from here: fresh memory is dearer than the arithmetic
    q += size
    size *= rounding(u)
    q[q <= size] = 0.0
    return q


def _between(u: Matrix, v: Matrix, like: Array) -> Matrix:
    """Distances in the precision of `like`, from u and v in a better one, some rows at a time."""
    xp = array_namespace(u)
    q = xp.empty((u.shape[0], v.shape[0]), dtype=like.dtype, device=_xp.device(like))
    for rows in memory.blocks(u.shape[0], v.shape[0], _ENTRIES):
        q[rows, :] = xp.astype(_expanded(u[rows, :], v), like.dtype)
    return q


def _within(u: Matrix, like: Array) -> Matrix:
    """The same within u: the lower triangle and its image, so that it is symmetric exactly."""
    xp = array_namespace(u)
    n = u.shape[0]
    q = xp.zeros((n, n), dtype=like.dtype, device=_xp.device(like))
    for rows in memory.blocks(n, n, _ENTRIES):
        q[rows, : rows.stop] = xp.astype(_expanded(u[rows, :], u[: rows.stop, :]), like.dtype)
    lower = xp.tril(q, k=-1)
    return lower + xp.matrix_transpose(lower)


def rounding(u: Matrix) -> float:
    """``(d + 4) eps``: times ``|u|² + |v|²``, what rounding does to an expanded distance."""
    return (u.shape[1] + 4) * _xp.epsilon(u)


def by_differences(u: Matrix, v: Matrix | None = None) -> bool:
    """Whether distances of the centred u and v are summed from differences, one column at a time.

    In up to three dimensions that is as fast as the expansion ``a² − 2ab + b²``. Beyond, it is
    for points so far apart that the expansion's rounding, ``(d + 4) eps (|u|² + |v|²)``, would
    pass ``sqrt(eps)``: an input with a tiny lengthscale would drown all the others. And it is for
    devices without float64: in float32 the expansion takes two points that are two percent of a
    lengthscale apart for one.
    """
    if u.shape[1] <= 3 or not _xp.has_double(u):
        return True
    most = _widest(u) + _widest(u if v is None else v)
    return rounding(u) * most > math.sqrt(_xp.epsilon(u))


def _widest(u: Matrix) -> float:
    xp = array_namespace(u)
    return float(xp.max(xp.sum(u * u, axis=1))) if u.shape[0] else 0.0


def _centred(u: Matrix, v: Matrix | None) -> tuple[Matrix, Matrix | None]:
    centre = centroid(_check.matrix(u, "u"))
    if v is not None:
        _check.alike(_check.matrix(v, "v", columns=u.shape[1]), "v", u, "u")
    return u - centre, None if v is None else v - centre


def _by_differences(u: Matrix, v: Matrix) -> Matrix:
    xp = array_namespace(u)
    q = xp.zeros((u.shape[0], v.shape[0]), dtype=u.dtype, device=_xp.device(u))
    for k in range(u.shape[1]):
        q += (u[:, None, k] - v[None, :, k]) ** 2
    return q


def squared_distances_pullback(
    u: Matrix, v: Matrix | None, q_bar: Matrix
) -> tuple[Matrix, Matrix | None]:
    """Carry ``q_bar`` (n, m) back through `squared_distances` to ``u_bar`` and ``v_bar``.

    ``u_bar = 2 (diag(q_bar 1) u − q_bar v)``, or ``2 Σⱼ q_barᵢⱼ (uᵢ − vⱼ)`` by differences, where
    the distances are. Without `v`, ``u_bar`` holds both sides' share. Raises `ValueError` or
    `TypeError` for arguments that do not fit.
    """
    u, v = _centred(u, v)
    n = u.shape[0]
    m = n if v is None else v.shape[0]
    _check.alike(_check.matrix(q_bar, "q_bar", rows=n, columns=m), "q_bar", u, "u")
    sides = _sides_by_differences if by_differences(u, v) else _sides
    u_bar, v_bar = sides(u, u if v is None else v, q_bar)
    return (u_bar + v_bar, None) if v is None else (u_bar, v_bar)


def _sides_by_differences(u: Matrix, v: Matrix, q_bar: Matrix) -> tuple[Matrix, Matrix]:
    xp = array_namespace(u)
    sums = []
    for k in range(u.shape[1]):
        pulled = q_bar * (u[:, None, k] - v[None, :, k])
        sums.append((2.0 * xp.sum(pulled, axis=1), -2.0 * xp.sum(pulled, axis=0)))
    u_bars, v_bars = zip(*sums, strict=True)
    return xp.stack(u_bars, axis=1), xp.stack(v_bars, axis=1)


def _sides(u: Matrix, v: Matrix, q_bar: Matrix) -> tuple[Matrix, Matrix]:
    """Both sides' share; in float64 too, where weights of near points are large and cancel."""
    wide_u, wide_v = _xp.in_double(u), _xp.in_double(v)
    if wide_u is u:
        return _one_side(u, v, q_bar), _one_side(v, u, array_namespace(u).matrix_transpose(q_bar))
    xp = array_namespace(u)
    u_bars = [wide_u[:0, :]]
    v_bar = 0.0 * wide_v
    for rows in memory.blocks(u.shape[0], v.shape[0], _ENTRIES):
        weights = _xp.in_double(q_bar[rows, :])
        u_bars.append(_one_side(wide_u[rows, :], wide_v, weights))
        v_bar = v_bar + _one_side(wide_v, wide_u[rows, :], xp.matrix_transpose(weights))
    return xp.astype(xp.concat(u_bars), u.dtype), xp.astype(v_bar, v.dtype)


def _one_side(u: Matrix, v: Matrix, q_bar: Matrix) -> Matrix:
    xp = array_namespace(u)
    return 2.0 * (xp.sum(q_bar, axis=1)[:, None] * u - q_bar @ v)
