"""Sums over the covariances of all pairs of points of all pairs of terms, without holding them.

With ``Cov_ij = q_i q'_j (exp Δ_ij − 1)`` of `term_pairs` and weights W, a prediction and its
derivatives need the sums of ``P = W ∘ Cov`` and of ``R = W ∘ (Cov + q q'ᵀ)`` over rows and columns,
and ``R V``. One product makes the exponents of a block, ``expm1`` works on it, and products sum it.
Blocks fit a core's cache on the host; small pairs share one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from ...fast.exponentials import exponentials_less_one
from ...ground.memory import blocks
from ...ground.xp import (
    Array,
    Matrix,
    Namespace,
    Stack,
    Vector,
    array_namespace,
    is_numpy_namespace,
)
from .term_pairs import limit

__all__ = ["Chunk", "PairSums", "Weights", "chunks", "sum_pairs"]

_BLOCK = 2**16  # entries: half a MiB in float64, beside what else is in a core's second cache
_TOGETHER = 2**15  # entries of all pairs up to which a call costs more than work that is not needed
_COPIED = 2**19  # entries of W that may be copied for pairs of a kind
_BLOCK_ELSEWHERE = 2**24  # where a call costs more than what it keeps in a cache
# The size of ½ ℓ from which ``exp Δ − 1`` has as many digits as ``expm1 Δ``, in two thirds of the
# time: ½ ℓ is in every exponent, and its rounding alone moves exp Δ as much as the difference does.
_WIDE = 0.5
_FAR = 25.0  # −log q up to which no exponent overflows in any precision


class Weights(NamedTuple):
    """The symmetric W of each pair: that of its output, (E, n, n), or None for ones.

    `owners` says for each pair which output, or None; `same` whether a term meets itself.
    """

    matrices: Stack
    owners: Sequence[int | None]
    same: Sequence[bool]


class Chunk(NamedTuple):
    """Pairs that are summed together, p of them; W (p, n, n), or None for ones; blocks of rows.

    `same` says that in all of them a term meets itself.
    """

    pairs: slice
    W: Stack | None
    same: bool
    rows: list[slice]


def chunks(weights: Weights) -> list[Chunk]:
    """All pairs in chunks: few and small ones together, others with those of their kind.

    Pairs with so many points that copies of W would need room are summed one by one.
    """
    n = weights.matrices.shape[-1]
    kinds = [
        (owner is None, same) for owner, same in zip(weights.owners, weights.same, strict=True)
    ]
    if len(kinds) * n**2 <= _TOGETHER:
        kinds = [(False, False)] * len(kinds)
    plan = []
    start = 0
    for _, run in groupby(kinds):
        stop = start + len(list(run))
        most = max(1, _COPIED // n**2)
        plan += [_chunk(weights, slice(k, min(k + most, stop))) for k in range(start, stop, most)]
        start = stop
    return plan


def _chunk(weights: Weights, some: slice) -> Chunk:
    xp = array_namespace(weights.matrices)
    n = weights.matrices.shape[-1]
    block = _BLOCK if is_numpy_namespace(xp) else _BLOCK_ELSEWHERE
    rows = blocks(n, n * (some.stop - some.start), block, like=weights.matrices)
    W = _stacked(xp, weights.matrices, weights.owners[some])
    return Chunk(some, W, all(weights.same[some]), rows)


def _stacked(xp: Namespace, matrices: Stack, owners: Sequence[int | None]) -> Stack | None:
    outputs = [owner for owner in owners if owner is not None]
    if not outputs:
        return None
    if len(owners) == 1:
        return matrices[outputs[0] : outputs[0] + 1, :, :]
    ones = xp.ones_like(matrices[0, :, :])
    return xp.stack([ones if owner is None else matrices[owner, :, :] for owner in owners])


class PairSums(NamedTuple):
    """Of each pair the sum of P, (P,), and p (2P, n): over its columns, then over its rows.

    `of_means` (P,) are the sums of Cov with the weights ``α αᵀ``, for pairs that have others. With
    slopes also those of R, (2P, n), and ``(R V)ᵀ``, (P, D, n).
    """

    value: Vector
    p: Matrix
    of_means: Vector
    r: Matrix | None = None
    across: Stack | None = None


class _ChunkSums(NamedTuple):
    """Products of a chunk's ``W ∘ expm1 Δ`` from both sides, (p, F, n) and (p, n); αα' sums (p,).

    `across_r` and `sums_r` are those with ``W ∘ exp Δ``, if they are wanted.
    """

    across: Stack
    sums: Matrix
    of_means: Vector
    across_r: Stack | None = None
    sums_r: Matrix | None = None


def sum_pairs(
    xp: Namespace,
    plan: Sequence[Chunk],
    factors: tuple[Stack, Stack],
    outer: Stack,
    b: Matrix,
    *,
    reach: Matrix,
    half_gap: Vector,
    slopes: bool,
) -> PairSums:
    """Sum all pairs; without `slopes` only the sums that values need.

    `factors` (P, D + 2, n) are those of the exponents; `outer` (2P, n) is the factor of P and R
    outside of W at both ends: q, or ``α q`` for pairs without a W; `b` (2P, n) is ``α q``; `reach`
    is that of the terms, `half_gap` that of the pairs.
    """
    P = factors[0].shape[0]
    # rows V, and one: what is multiplied by W ∘ expm1 Δ from the left
    columns = factors[1][:, 0 if slopes else -2 : -1, :] * outer[P:, None, :]
    block = _block_function(xp, plan, reach, half_gap)
    every = []
    for chunk in plan:
        chunk_sums = _sum_blocks(xp, chunk, factors, columns, (outer, b), block)
        if slopes:
            chunk_sums = _add_slopes(xp, chunk, chunk_sums, columns, outer)
        every.append(chunk_sums)
    across, sums, of_means, across_r, sums_r = (
        _join(xp, some) for some in zip(*every, strict=True)
    )
    p = xp.concat([across[:, -1, :], sums]) * outer
    value = xp.vecdot(across[:, -1, :], outer[:P, :])
    if not slopes:
        return PairSums(value, p, of_means)
    r = xp.concat([across_r[:, -1, :], sums_r]) * outer
    return PairSums(value, p, of_means, r, across_r[:, :-1, :] * outer[:P, None, :])


def _join(xp: Namespace, parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 or parts[0] is None else xp.concat(parts)


def _block_function(
    xp: Namespace, plan: Sequence[Chunk], reach: Matrix, half_gap: Vector
) -> Callable[[Array, Array], Array]:
    """A function of two stacks of matrices: ``exp(a @ b) − 1``, cut off where it could overflow."""
    far = float(xp.max(reach))
    top = limit(reach) if far > _FAR and 2.0 * far > limit(reach) else None
    wide = float(xp.max(half_gap)) < -_WIDE
    if is_numpy_namespace(xp):
        n = reach.shape[-1]
        size = max(
            (chunk.pairs.stop - chunk.pairs.start) * chunk.rows[0].stop * n for chunk in plan
        )
        return exponentials_less_one(size, top, wide, reach)

    def block(a: Stack, b: Stack) -> Stack:
        """The block of these rows and columns."""
        exponents = a @ b if top is None else xp.minimum(a @ b, top)
        return xp.exp(exponents) - 1.0 if wide else xp.expm1(exponents)

    return block


def _sum_blocks(
    xp: Namespace,
    chunk: Chunk,
    factors: tuple[Stack, Stack],
    columns: Stack,
    ends: tuple[Matrix, Matrix],
    block_of: Callable[[Array, Array], Array],
) -> _ChunkSums:
    P = factors[0].shape[0]
    pairs = chunk.pairs
    left, right, columns = (a[pairs, :, :] for a in (*factors, columns))
    outer_rows, b = (a[pairs, :, None] for a in ends)
    b_ = ends[1][P + pairs.start : P + pairs.stop, None, :]
    across, of_means, sums = None, xp.zeros_like(b[:, 0, 0]), []
    for rows in chunk.rows:
        block = block_of(xp.matrix_transpose(right[:, :, rows]), left)
        if chunk.W is not None:
            of_means = of_means + (b_[:, :, rows] @ (block @ b))[:, 0, 0]
            block *= chunk.W[:, rows, :]
        products = columns[:, :, rows] @ block
        across = products if across is None else across + products
        if not chunk.same:
            sums.append((block @ outer_rows)[:, :, 0])
    assert across is not None, "there are rows"
    return _ChunkSums(across, across[:, -1, :] if chunk.same else xp.concat(sums, axis=1), of_means)


def _add_slopes(
    xp: Namespace, chunk: Chunk, chunk_sums: _ChunkSums, columns: Stack, outer: Stack
) -> _ChunkSums:
    """Add the products of W alone, the terms of R that P lacks."""
    columns = columns[chunk.pairs, :, :]
    lead = outer[chunk.pairs, :]
    if chunk.W is None:
        plain, plain_ = xp.sum(columns, axis=2)[:, :, None], xp.sum(lead, axis=1)[:, None]
    else:
        plain = columns @ chunk.W
        plain_ = plain[:, -1, :] if chunk.same else (chunk.W @ lead[:, :, None])[:, :, 0]
    return chunk_sums._replace(across_r=chunk_sums.across + plain, sums_r=chunk_sums.sums + plain_)
