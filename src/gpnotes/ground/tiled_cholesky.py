"""The factor of a large matrix, its inverse and solves by it, a tile at a time.

LAPACK's threads share every product, and wait for each other after it: while another program keeps
a processor, the factor of 2000 points takes them up to four times as long as one thread alone.
Here each thread takes whole tiles, without waiting for others. Every tile is made by the same
operations in the same order whoever makes it, so that results do not depend on the threads.

Matrices are NumPy arrays (n, n) in Fortran order, of float32 or float64. ``cuts`` below are the
slices of rows, and of columns, of their tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import pairwise

import numpy as np

from . import blas_in_place
from .array_types import HostMatrix
from .task_queue import Task, for_each, work_off
from .threads import shared_out, threads_at_hand

__all__ = ["factor", "invert", "lower_triangle", "sharing", "solve"]

_SMALLEST = 1500  # rows from which on tiles are about as fast as LAPACK on an idle machine
_MOST = 4  # threads that find enough tiles to do
_SIDE = 256  # rows of a tile: a product of two is a millisecond's work
_LARGEST = 512  # rows of one of a larger matrix, whose products run faster
_MANY = 8  # tiles in a column until then
_DEPTH = 2  # tiles whose products are taken off another at once
_STRIP = 64  # columns of a triangle that are solved for at once: the rest is products


class _NotPositive(Exception):
    """A pivot was not positive."""


def sharing(like: HostMatrix) -> AbstractContextManager[int]:
    """Give the number of threads to share the work on a matrix of the rows and dtype of another.

    One, where it is small, or there is but one, or there are too many: then
    LAPACK does the work, with all threads of its own. Several find BLAS with one thread for each
    meanwhile.
    """
    large = like.shape[0] >= _SMALLEST and like.dtype.char in "fd"
    if not large or not 1 < threads_at_hand() <= _MOST or not blas_in_place.are_at_hand():
        return nullcontext(1)
    return shared_out()


def factor(K: HostMatrix, threads: int) -> bool:
    """L in the place of the lower triangle of K, and whether that could be had; O(n³).

    ``L_ij = (K_ij − Σ_k L_ik L_jkᵀ) L_jj⁻ᵀ``, and ``L_jj`` is the factor of the rest of
    ``K_jj``.
    """
    try:
        work_off(_factoring(K), threads)
    except _NotPositive:
        return False
    return True


def invert(lower: HostMatrix, threads: int) -> None:
    """The lower triangle of ``(L Lᵀ)⁻¹`` in the place of L; the upper one is lost; O(n³).

    ``V = L⁻ᵀ`` is made in the upper triangle, but for its tiles on the diagonal, which stand apart.
    """
    cuts = _slices(lower.shape[0], _side(lower))
    corners = [np.eye(cut.stop - cut.start, dtype=lower.dtype, order="F") for cut in cuts]
    own = list(zip(cuts, corners, strict=True))
    for_each(reversed(own), lambda one: _invert_columns(lower, *one), threads)  # the longest first
    tiles = [(columns, *row) for i, row in enumerate(own) for columns in cuts[: i + 1]]
    for_each(tiles, lambda tile: _square_tile(lower, *tile), threads)


def lower_triangle(K: HostMatrix) -> HostMatrix:
    """A copy of the lower triangle in Fortran order, with zeros above."""
    n = K.shape[0]
    lower = np.zeros((n, n), K.dtype, order="F")
    for rows in _slices(n, _STRIP):
        lower[rows, : rows.start] = K[rows, : rows.start]
        lower[rows, rows] = np.tril(K[rows, rows])
    return lower


def _slices(n: int, side: int = _SIDE) -> list[slice]:
    """Slices of one length, or of one less, up to `side`, that cover n."""
    count = -(-n // side)
    edges = [n * k // count for k in range(count + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]


def solve(lower: HostMatrix, B: HostMatrix, threads: int, *, transposed: bool = False) -> None:
    """``L⁻¹ B`` or ``L⁻ᵀ B`` in the place of B (n, m), in Fortran order; O(n² m)."""
    pairs = -(-B.shape[1] // (2 * _SIDE))
    even = _slices(B.shape[1], -(-B.shape[1] // (2 * pairs)))  # for two threads as many each
    for_each(
        even, lambda some: blas_in_place.solve(lower, B[:, some], transposed=transposed), threads
    )


def _side(K: HostMatrix) -> int:
    return min(max(_SIDE, K.shape[0] // _MANY), _LARGEST)


def _factoring(K: HostMatrix) -> Iterator[Task]:
    """Column by column: products are taken off each tile, then it is factored or divided.

    An idle thread takes terms of finished columns off a tile before its column's turn.
    """
    cuts = _slices(K.shape[0], _side(K))
    for j, columns in enumerate(cuts):
        for i, rows in enumerate(cuts[j:], j):
            before: tuple[object, ...] = ()
            for first in range(0, j, _DEPTH):
                last = min(first + _DEPTH, j) - 1
                done = slice(cuts[first].start, cuts[last].stop)
                needed = (*before, (i, last), (j, last))
                yield Task((i, j, first), partial(_take_off, K, rows, columns, done), needed)
                before = ((i, j, first),)
            if i == j:
                yield Task((j, j), partial(_factor, K[rows, columns]), before)
            else:
                work = partial(_divide, K[rows, columns], K[columns, columns])
                yield Task((i, j), work, (*before, (j, j)))


def _take_off(K: HostMatrix, rows: slice, columns: slice, done: slice) -> None:
    """``K_ij − Σ_k L_ik L_jkᵀ`` in the place of K_ij, over the columns k that are done."""
    left = K[rows, done]
    right = left if rows == columns else K[columns, done]
    blas_in_place.add_product(K[rows, columns], -1.0, left, right)


def _factor(K: HostMatrix) -> None:
    if not blas_in_place.factor(K):
        raise _NotPositive


def _divide(B: HostMatrix, lower: HostMatrix) -> None:
    """``B L⁻ᵀ`` in the place of B, by halves: mostly products, which are twice as fast."""
    n = lower.shape[0]
    if n <= _STRIP:
        blas_in_place.divide(B, lower)
        return
    first, then = slice(n // 2), slice(n // 2, n)
    _divide(B[:, first], lower[first, first])
    blas_in_place.add_product(B[:, then], -1.0, B[:, first], lower[then, first])
    _divide(B[:, then], lower[then, then])


def _invert_columns(lower: HostMatrix, columns: slice, V: HostMatrix) -> None:
    """Of ``Lᵀ V = I`` some columns: ``V_jj = L_jj⁻ᵀ`` apart, the rows above it in place.

    Column by column V has the small ``V Lᵀ − I`` on which ``V Vᵀ K − I`` depends; made row by row
    it would be off by the condition of L as many times.
    """
    _solve_turned(lower[columns, columns], V)
    above = slice(columns.start)
    if columns.start:
        lower[above, columns] = lower[columns, above].T
        blas_in_place.multiply_by(lower[above, columns], -1.0, V)
        _solve_turned(lower[above, above], lower[above, columns])


def _solve_turned(lower: HostMatrix, B: HostMatrix) -> None:
    """``L⁻ᵀ B`` in the place of B, by halves likewise."""
    n = lower.shape[0]
    if n <= _STRIP:
        blas_in_place.solve(lower, B, transposed=True)
        return
    first, then = slice(n // 2), slice(n // 2, n)
    _solve_turned(lower[then, then], B[then])
    blas_in_place.add_turned_product(B[first], -1.0, lower[then, first], B[then])
    _solve_turned(lower[first, first], B[first])


def _square_tile(lower: HostMatrix, columns: slice, rows: slice, V: HostMatrix) -> None:
    """Of ``V Vᵀ`` the tile ``Σ_{k≥i} V_ik V_jkᵀ``, i ≥ j, where V_ii stands apart."""
    tile, on_diagonal = lower[rows, columns], rows == columns
    if on_diagonal:
        blas_in_place.add_product(tile, 1.0, V, V, keep=False)
    else:
        tile[...] = lower[columns, rows].T
        blas_in_place.multiply(V, tile)
    rest = slice(rows.stop, lower.shape[0])
    left = lower[rows, rest]
    if left.size:
        blas_in_place.add_product(tile, 1.0, left, left if on_diagonal else lower[columns, rest])
