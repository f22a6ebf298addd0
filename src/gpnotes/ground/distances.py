"""Squared distances of many points to many, and sums of the points under weights of the pairs.

The rule stands here, once, for all who need it: inputs are about a common centre; distances are
summed from differences where an expansion, ``|u|² − 2u·v + |v|²``, would drown them, and are
expanded in float64 elsewhere, whatever the inputs are in. Distances within rounding of zero are
zero. The pullback takes the way that the distances took.
"""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import Any

from . import check as _check
from . import memory
from .late_reads import expect
from .xp import (
    Array,
    Matrix,
    Numbers,
    Vector,
    _epsilon,
    array_namespace,
    as_host,
    blas,
    device,
    epsilon,
    fused,
    has_double,
    in_double,
    is_numpy_namespace,
    set_at,
    zero_where,
)

__all__ = ["by_differences", "centroid", "squared_distances", "squared_distances_pullback"]

_ENTRIES = 2**18  # entries at a time that are in a better precision than the result
_DIFFERENCES = 2**16  # entries of differences at a time: 512 KiB, so that a few fit a core's cache

ALL = slice(None)


def centroid(x: Matrix, lengths: Numbers = 1.0) -> Vector:
    """Return a row about which to put the rows of a matrix: their mean, unless that drowns them.

    One row at 1e20 would take all rows near zero for one, as its share in the mean is rounded.
    Where the mean is so far out, in units of `lengths`, it is the smallest size in each column,
    which no row is nearer to zero than: a difference from it is rounded as the row itself is.
    """
    return _centroid(_check.matrix(x, "x"), lengths)


def _centroid(x: Matrix, lengths: Numbers = 1.0) -> Vector:
    xp = array_namespace(x)
    mean = xp.sum(x, axis=0) / max(1, x.shape[0])
    if min(x.shape) and float(xp.max(xp.abs(mean / lengths))) > _epsilon(xp, x.dtype) ** -0.5:
        return xp.sign(mean) * xp.min(xp.abs(x), axis=0)
    return mean


def rounding(u: Matrix) -> float:
    """Return ``(d + 4) eps``, the rounding of an expanded distance by ``|u|² + |v|²``."""
    return (u.shape[1] + 4) * epsilon(u)


def by_differences(u: Matrix, v: Matrix | None = None) -> bool:
    """Tell if distances of the centred u and v are summed from differences, one column at a time.

    It is False where the expansion ``a² − 2ab + b²`` does as well, and faster. In up to three
    dimensions differences are as fast as the expansion. Beyond, they are for points so far apart
    that the expansion's rounding, ``(d + 4) eps (|u|² + |v|²)``, would pass ``sqrt(eps)``: an input
    with a tiny lengthscale would drown all the others. And they are for devices without float64: in
    float32 the expansion takes two points that are two percent of a lengthscale apart for one.
    """
    if _few_or_single(u):
        return True
    most = _widest(u) + _widest(u if v is None else v)
    return rounding(u) * most > math.sqrt(epsilon(u))


def _widest(u: Matrix) -> float:
    xp = array_namespace(u)
    return float(xp.max(xp.vecdot(u, u))) if u.shape[0] else 0.0


def squared_distances(u: Matrix, v: Matrix | None = None) -> Matrix:
    """Return the squared distances ``|uᵢ − vⱼ|²`` of the rows of u and v; without `v`, within u.

    Parameters
    ----------
    u : Matrix, shape (n, d)
        Inputs.
    v : Matrix, shape (m, d), or None
        Others; None for those of u.

    Returns
    -------
    Matrix, shape (n, m)
        The squared distances.

    Notes
    -----
    By differences where `by_differences` says so; else ``a² − 2ab + b²`` of centred inputs, in
    float64 whatever they are. Distances within rounding of zero are zero, so that coincident
    points are at distance 0 exactly.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.asarray([[0.0], [3.0]]))
    array([[0., 9.],
           [9., 0.]])
    """
    _validate_pair(u, v)
    return _squared_distances(u, v)


def _squared_distances(u: Matrix, v: Matrix | None = None) -> Matrix:
    """`squared_distances` of inputs that are validated."""
    u, v = _centred(u, v)
    if by_differences(u, v):
        return _by_differences(u, u if v is None else v)
    return _in_double(u, v)


def sizes_if_near(u: Matrix, v: Matrix | None) -> tuple[Vector, Vector] | None:
    """Return ``|u|²`` and ``|v|²`` of rows so near their mean that many columns are expanded.

    None where they are not. One number is read: where it is small the mean drowns no row, and no
    square overflows.
    """
    xp = array_namespace(u)
    own = _squares(u)
    others = own if v is None else _squares(v)
    limit = math.sqrt(epsilon(u)) / rounding(u)
    parts = [own] if v is None else [own, others]
    if all(expect(partial(xp.max, part), 0.5 * limit) for part in parts):
        return own, others
    most = 2.0 * float(xp.max(own)) if v is None else float(xp.max(own) + xp.max(others))
    near = rounding(u) * most <= math.sqrt(epsilon(u))
    return (own, others) if near else None


@fused
def _squares(u: Matrix) -> Vector:
    return array_namespace(u).sum(u * u, axis=1)


def as_they_are(u: Matrix, v: Matrix | None, sizes: tuple[Vector, Vector]) -> Matrix:
    """`squared_distances` of rows of `sizes_if_near`, without a look at them."""
    if _few_or_single(u):
        return _by_differences(u, u if v is None else v)
    if in_double(u) is not u:
        return _in_double(u, v)
    return _of_sizes(u, u if v is None else v, *sizes)


def as_they_are_pullback(
    u: Matrix, v: Matrix | None, q_bar: Matrix
) -> tuple[Matrix, Matrix | None]:
    """`squared_distances_pullback` of rows of `sizes_if_near`."""
    return _through_pairs(Pairs(u, u if v is None else v, _few_or_single(u)), v is None, q_bar)


def _few_or_single(u: Matrix) -> bool:
    """Return True if differences do better than an expansion whatever the numbers are."""
    return u.shape[1] <= 3 or not has_double(u)


def _in_double(u: Matrix, v: Matrix | None) -> Matrix:
    wide = in_double(u)
    if wide is u:
        return _expanded(u, u if v is None else v)
    return _within(wide, u) if v is None else _between(wide, in_double(v), u)


def _validate_pair(u: Matrix, v: Matrix | None) -> None:
    _check.matrix(u, "u")
    if v is not None:
        _check.alike(_check.matrix(v, "v", columns=u.shape[1]), "v", u, "u")


def _centred(u: Matrix, v: Matrix | None) -> tuple[Matrix, Matrix | None]:
    centre = _centroid(u)
    return u - centre, None if v is None else v - centre


def _by_differences(u: Matrix, v: Matrix) -> Matrix:
    xp = array_namespace(u)
    q = xp.zeros((u.shape[0], v.shape[0]), dtype=u.dtype, device=device(u))
    for k in range(u.shape[1]):
        q += (u[:, None, k] - v[None, :, k]) ** 2
    return q


def _expanded(u: Matrix, v: Matrix) -> Matrix:
    xp = array_namespace(u)
    own = xp.sum(u * u, axis=1)
    return _of_sizes(u, v, own, own if v is u else xp.sum(v * v, axis=1))


def _of_sizes(u: Matrix, v: Matrix, own: Vector, others: Vector) -> Matrix:
    xp = array_namespace(u)
    size = own[:, None] + others[None, :]
    if is_numpy_namespace(xp):
        q = u @ xp.matrix_transpose(v)
        q *= -2.0  # in place from here: fresh memory is dearer than the arithmetic
    else:
        q = (-2.0 * u) @ xp.matrix_transpose(v)
    q += size
    size *= rounding(u)
    return zero_where(q <= size, q)


def _between(u: Matrix, v: Matrix, like: Array) -> Matrix:
    """Distances in the precision of `like`, from u and v in a better one, some rows at a time."""
    xp = array_namespace(u)
    blocks = memory.blocks(u.shape[0], v.shape[0], _ENTRIES, like=u)
    if len(blocks) == 1:
        return xp.astype(_expanded(u, v), like.dtype)
    q = xp.empty((u.shape[0], v.shape[0]), dtype=like.dtype, device=device(like))
    for rows in blocks:
        q = set_at(q, (rows, slice(None)), xp.astype(_expanded(u[rows, :], v), like.dtype))
    return q


def _within(u: Matrix, like: Array) -> Matrix:
    """The same within u: the lower triangle and its image, so that it is symmetric exactly."""
    xp = array_namespace(u)
    n = u.shape[0]
    blocks = memory.blocks(n, n, _ENTRIES, like=u)
    if len(blocks) == 1:
        q = xp.astype(_expanded(u, u), like.dtype)
    else:
        q = xp.zeros((n, n), dtype=like.dtype, device=device(like))
        for rows in blocks:
            block = xp.astype(_expanded(u[rows, :], u[: rows.stop, :]), like.dtype)
            q = set_at(q, (rows, slice(rows.stop)), block)
    lower = xp.tril(q, k=-1)
    return lower + xp.matrix_transpose(lower)


def squared_distances_pullback(
    u: Matrix, v: Matrix | None, q_bar: Matrix
) -> tuple[Matrix, Matrix | None]:
    """Carry derivatives ``q_bar`` (n, m) back through `squared_distances` to its inputs.

    Parameters
    ----------
    u : Matrix, shape (n, d)
        The inputs.
    v : Matrix, shape (m, d), or None
        The others; None for those of u.
    q_bar : Matrix, shape (n, m)
        The derivatives by the squared distances.

    Returns
    -------
    u_bar : Matrix, shape (n, d)
        ``2 Σⱼ q_barᵢⱼ (uᵢ − vⱼ)``; without `v` it holds both sides' share.
    v_bar : Matrix, shape (m, d), or None
        The same with u and v the other way round; None without `v`.

    Notes
    -----
    See `Pairs.pull`.
    """
    _validate_pair(u, v)
    columns = (u if v is None else v).shape[0]
    _check.matrix(q_bar, "q_bar", rows=u.shape[0], columns=columns)
    return _squared_distances_pullback(u, v, _check.alike(q_bar, "q_bar", u, "u"))


def _squared_distances_pullback(
    u: Matrix, v: Matrix | None, q_bar: Matrix
) -> tuple[Matrix, Matrix | None]:
    """Compute `squared_distances_pullback` without checks."""
    u, v = _centred(u, v)
    return _through_pairs(Pairs(u, u if v is None else v), v is None, q_bar)


def _through_pairs(pairs: Pairs, same: bool, q_bar: Matrix) -> tuple[Matrix, Matrix | None]:
    """Both sides' share, or where both are the `same` rows the sum of these."""
    if pairs.by_differences:
        u_bar, v_bar = pairs.both_sides(q_bar)
        return (u_bar + v_bar, None) if same else (u_bar, v_bar)
    xp = array_namespace(q_bar)
    turned = xp.matrix_transpose(q_bar)
    if same:
        return xp.astype(pairs.side(q_bar + turned), q_bar.dtype, copy=False), None
    bars = pairs.side(q_bar), pairs.turned().side(turned)
    return xp.astype(bars[0], q_bar.dtype, copy=False), xp.astype(bars[1], q_bar.dtype, copy=False)


class Pairs:
    """All pairs of a row of u (n, d) and a row of v (m, d), about one centre, under weights (n, m).

    Points stand in the precision in which their distances are made, and so do derivatives:
    in float64 where distances are expanded, since large weights of near points cancel. Weights in
    float32 are widened then, a few rows at a time.
    """

    def __init__(self, u: Matrix, v: Matrix, differences: bool | None = None) -> None:
        known = differences is not None
        self.dtype: Any = u.dtype
        self.by_differences = differences if known else by_differences(u, v)
        self.u, self.v = (u, v) if self.by_differences else (in_double(u), in_double(v))

    def turned(self) -> Pairs:
        """The same pairs, a row of v first."""
        turned = object.__new__(Pairs)
        turned.by_differences, turned.u, turned.v = self.by_differences, self.v, self.u
        return turned

    def pull(self, W: Matrix, rows: slice = ALL, columns: slice = ALL) -> tuple[Matrix, Vector]:
        """Return ``2 Σⱼ Wᵢⱼ (uᵢ − vⱼ)``, (n, d), and ``Σᵢⱼ Wᵢⱼ (uᵢ − vⱼ)²``, (d,).

        Of `rows` of u and `columns` of v alone, if W is for these.
        """
        some = self._some_of_differences if self.by_differences else self._some_of_products
        u, blocks = self.u[rows, :], self._blocks(W)
        if len(blocks) == 1:
            return some(u, columns, W)
        parts = [some(u[i, :], columns, W[i, :]) for i in blocks]
        sums, squares = zip(*parts, strict=True)
        return array_namespace(W).concat(sums), sum(squares[1:], start=squares[0])

    def side(self, W: Matrix) -> Matrix:
        """Return the first of the two results of `pull`."""
        if self.by_differences:
            return self.pull(W)[0]
        d = self.u.shape[1]
        parts = []
        for rows in self._blocks(W):
            moved = _product(in_double(W[rows, :]), self._with_ones)
            parts.append(2.0 * (self.u[rows, :] * moved[:, d:] - moved[:, :d]))
        return parts[0] if len(parts) == 1 else array_namespace(W).concat(parts)

    def both_sides(self, W: Matrix) -> tuple[Matrix, Matrix]:
        """Return that and ``−2 Σᵢ Wᵢⱼ (uᵢ − vⱼ)``, (m, d), from the same differences."""
        xp = array_namespace(W)
        sums = []
        for k in range(self.u.shape[1]):
            weighted = W * (self.u[:, None, k] - self.v[None, :, k])
            sums.append((2.0 * xp.sum(weighted, axis=1), -2.0 * xp.sum(weighted, axis=0)))
        by_u, by_v = zip(*sums, strict=True)
        return xp.stack(by_u, axis=1), xp.stack(by_v, axis=1)

    def _blocks(self, W: Matrix) -> list[slice]:
        n, m = W.shape
        if self.by_differences:
            return memory.blocks(n, m, _DIFFERENCES, like=W)
        return [ALL] if W.dtype == self.u.dtype else memory.blocks(n, m, _ENTRIES, like=W)

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
        d = u.shape[1]
        moved = _product(in_double(W), self._moments[columns, :])
        sums = u * moved[:, d : d + 1]
        squares = u * (sums - 2.0 * moved[:, :d]) + moved[:, d + 1 :]
        return 2.0 * (sums - moved[:, :d]), array_namespace(W).sum(squares, axis=0)

    @property
    def _with_ones(self) -> Matrix:
        """The columns ``[v, 1]``."""
        if is_numpy_namespace(array_namespace(self.v)):
            return self._moments[:, : self.v.shape[1] + 1]
        return array_namespace(self.v).concat([self.v, self._ones], axis=1)

    @property
    def _ones(self) -> Matrix:
        return array_namespace(self.v).ones_like(self.v[:, :1])

    @cached_property
    def _moments(self) -> Matrix:
        """The columns ``[v, 1, v²]``, (m, 2d + 1), which weights meet in one product."""
        xp = array_namespace(self.v)
        return xp.concat([self.v, self._ones, self.v * self.v], axis=1)


def _product(a: Matrix, b: Matrix) -> Matrix:
    """``a b``; of NumPy's arrays in SciPy's pool of threads, which solves and factors take too."""
    if not (is_numpy_namespace(array_namespace(a)) and a.size and b.size):
        return a @ b
    # in Fortran order, so that nothing is copied
    left, by_rows = (a.T, 1) if as_host(a).flags.c_contiguous else (a, 0)
    right, turned = (b.T, 1) if as_host(b).flags.c_contiguous else (b, 0)
    return blas("gemm", a.dtype)(1.0, left, right, trans_a=by_rows, trans_b=turned)
