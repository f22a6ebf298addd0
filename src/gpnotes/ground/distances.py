"""Squared distances of many points to many, and what weights of them say of the points.

The rule stands here, once, for all who need it: inputs are about a common centre; distances are
summed from differences where an expansion, ``|u|² − 2u·v + |v|²``, would drown them, and are
expanded in float64 elsewhere, whatever the inputs are in. What rounding cannot tell from zero is
zero. The way back takes the way that the distances took.
"""

from __future__ import annotations

import math
from functools import cached_property

from . import check as _check
from . import memory
from . import xp as _xp
from .xp import Array, Matrix, Vector, array_namespace

__all__ = ["by_differences", "centroid", "squared_distances", "squared_distances_pullback"]

_ENTRIES = 2**18  # entries at a time that are in a better precision than the result
_DIFFERENCES = 2**15  # entries of differences at a time: 256 KiB, so that a few fit a core's cache

ALL = slice(None)


def centroid(x: Matrix) -> Vector:
    """The mean row (d,) of x (n, d); zero where there are no rows, so that none are allowed."""
    return array_namespace(x).sum(x, axis=0) / max(1, x.shape[0])


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


def squared_distances_pullback(
    u: Matrix, v: Matrix | None, q_bar: Matrix
) -> tuple[Matrix, Matrix | None]:
    """Carry ``q_bar`` (n, m) back through `squared_distances` to ``u_bar`` and ``v_bar``.

    ``u_bar = 2 Σⱼ q_barᵢⱼ (uᵢ − vⱼ)``, and so with u and v the other way round; see `Pairs.pull`.
    Without `v`, ``u_bar`` holds both sides' share. Raises `ValueError` or `TypeError` for arguments
    that do not fit.
    """
    u, v = _centred(u, v)
    n = u.shape[0]
    m = n if v is None else v.shape[0]
    _check.alike(_check.matrix(q_bar, "q_bar", rows=n, columns=m), "q_bar", u, "u")
    xp = array_namespace(u)
    turned = xp.matrix_transpose(q_bar)
    if v is None:
        return xp.astype(Pairs(u, u).pull(q_bar + turned)[0], u.dtype), None
    u_bar, v_bar = Pairs(u, v).pull(q_bar)[0], Pairs(v, u).pull(turned)[0]
    return xp.astype(u_bar, u.dtype), xp.astype(v_bar, u.dtype)


class Pairs:
    """All pairs of a row of u (n, d) and a row of v (m, d), both about one centre.

    They stand in the precision in which their distances are made.
    """

    def __init__(self, u: Matrix, v: Matrix) -> None:
        self.by_differences = by_differences(u, v)
        self.u, self.v = (u, v) if self.by_differences else (_xp.in_double(u), _xp.in_double(v))

    def pull(self, W: Matrix, rows: slice = ALL, columns: slice = ALL) -> tuple[Matrix, Vector]:
        """``2 Σⱼ Wᵢⱼ (uᵢ − vⱼ)``, (n, d), and ``Σᵢⱼ Wᵢⱼ (uᵢ − vⱼ)²``, (d,), for weights W (n, m).

        Of `rows` of u and `columns` of v alone, if W is for these. What comes back is in the
        precision of the pairs: in float64 where W is in float32 and its large weights of near
        points would cancel; such a W is widened a few rows at a time.
        """
        xp = array_namespace(W)
        some = self._some_of_differences if self.by_differences else self._some_of_products
        u, (n, m) = self.u[rows, :], W.shape
        entries = _DIFFERENCES if self.by_differences else _ENTRIES
        if not self.by_differences and W.dtype == u.dtype:
            return some(u, columns, W)
        blocks = memory.blocks(n, m, entries)
        if len(blocks) == 1:
            return some(u, columns, W)
        parts = [some(u[i, :], columns, W[i, :]) for i in blocks]
        sums, squares = zip(*parts, strict=True)
        return xp.concat(sums), sum(squares[1:], start=squares[0])

    def _some_of_differences(self, u: Matrix, columns: slice, W: Matrix) -> tuple[Matrix, Vector]:
        xp = array_namespace(W)
        sums, squares = [], []
        for k in range(u.shape[1]):
            gap = u[:, None, k] - self.v[None, columns, k]
            weighted = W * gap  # first: a square may overflow where W is zero
            sums.append(2.0 * xp.sum(weighted, axis=1))
            weighted *= gap
            squares.append(xp.sum(weighted))
        return xp.stack(sums, axis=1), xp.stack(squares)

    def _some_of_products(self, u: Matrix, columns: slice, W: Matrix) -> tuple[Matrix, Vector]:
        xp = array_namespace(W)
        d = u.shape[1]
        moved = _product(_xp.in_double(W), self._moments[columns, :])
        sums = u * moved[:, -1:]
        squares = u * (sums - 2.0 * moved[:, :d]) + moved[:, d : 2 * d]
        return 2.0 * (sums - moved[:, :d]), xp.sum(squares, axis=0)

    @cached_property
    def _moments(self) -> Matrix:
        """``[v, v², 1]``, (m, 2d + 1): what weights meet in one product."""
        xp = array_namespace(self.v)
        return xp.concat([self.v, self.v * self.v, xp.ones_like(self.v[:, :1])], axis=1)


def _product(a: Matrix, b: Matrix) -> Matrix:
    """``a b``; of NumPy's arrays in SciPy's pool of threads, which solves and factors take too."""
    if not (_xp.is_numpy_namespace(array_namespace(a)) and a.size and b.size):
        return a @ b
    # in Fortran order, so that nothing is copied
    left, by_rows = (a.T, 1) if _xp.as_host(a).flags.c_contiguous else (a, 0)
    right, turned = (b.T, 1) if _xp.as_host(b).flags.c_contiguous else (b, 0)
    return _xp.blas("gemm", a)(1.0, left, right, trans_a=by_rows, trans_b=turned)
