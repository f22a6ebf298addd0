"""Sums over the covariances of all pairs of points of all pairs of terms, without holding them.

With ``Cov_ij = q_i q'_j (exp Δ_ij − 1)`` of `term_pairs` and weights W, a prediction and its
derivatives need the sums of ``P = W ∘ Cov`` and of ``R = W ∘ (Cov + q q'ᵀ)`` over rows and columns,
and ``R V``. One product makes the exponents of a block, ``expm1`` works on it, and products sum it.
Blocks fit a core's cache on the host; small pairs share one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .._xp import (
    Array,
    Matrix,
    Namespace,
    Stack,
    Vector,
    array_namespace,
    device,
    is_numpy_namespace,
)
from .term_pairs import limit

__all__ = ["Chunk", "PairSums", "Weights", "chunks", "pair_sums"]

_BLOCK = 2**16  # entries: half a MiB in float64, beside what else is in a core's second cache
_BLOCK_ELSEWHERE = 2**24  # where a call costs more than what it keeps in a cache
_FAR = 25.0  # −log q up to which no exponent overflows in any precision


class Weights(NamedTuple):
    """The symmetric W of each pair: that of its output, (E, n, n), or None for ``b b'ᵀ``.

    `owners` says for each pair which output, or None; `same` whether a term meets itself.
    """

    matrices: Stack
    owners: Sequence[int | None]
    same: Sequence[bool]


class Chunk(NamedTuple):
    """Pairs that are summed together, p of them; W (p, n, n), or None; and rows at a time."""

    pairs: slice
    W: Stack | None
    same: bool
    rows: int


def chunks(weights: Weights) -> list[Chunk]:
    """All pairs in chunks: those of a kind that stand next to each other and fit a block."""
    xp, n = array_namespace(weights.matrices), weights.matrices.shape[-1]
    block = _BLOCK if is_numpy_namespace(xp) else _BLOCK_ELSEWHERE
    kinds = [
        (owner is None, same) for owner, same in zip(weights.owners, weights.same, strict=True)
    ]
    found, start = [], 0
    while start < len(kinds):
        stop = start + 1
        while (
            kinds[start : stop + 1] == (stop + 1 - start) * [kinds[start]]
            and (stop + 1 - start) * n**2 <= block
        ):
            stop += 1
        W = _stacked(xp, weights.matrices, weights.owners[start:stop])
        found.append(Chunk(slice(start, stop), W, kinds[start][1], min(n, max(1, block // n))))
        start = stop
    return found


def _stacked(xp: Namespace, matrices: Stack, owners: Sequence[int | None]) -> Stack | None:
    """W of pairs of one kind; of a single pair no copy."""
    if owners[0] is None:
        return None
    if len(owners) == 1:
        return matrices[owners[0] : owners[0] + 1, :, :]
    return xp.stack([matrices[owner, :, :] for owner in owners])


class PairSums(NamedTuple):
    """Of each pair the sum of P, (P,), and p (2P, n): over its columns, then over its rows.

    `of_means` (P,) are the sums of Cov with the weights ``α αᵀ``, for pairs that have others. With
    slopes also those of R, (2P, n), and ``(R V)ᵀ``, (P, D, n).
    """

    value: Array
    p: Array
    of_means: Vector
    r: Array | None = None
    across: Stack | None = None


class _ChunkSums(NamedTuple):
    """Products of a chunk's ``W ∘ expm1 Δ`` from both sides, (p, F, n) and (p, n); αα' sums (p,).

    `across_r` and `sums_r` are those with ``W ∘ exp Δ``, if they are wanted.
    """

    across: Stack
    sums: Matrix
    of_means: Vector
    across_r: Array | None = None
    sums_r: Array | None = None


def pair_sums(
    xp: Namespace,
    plan: Sequence[Chunk],
    factors: tuple[Array, Array],
    outer: Stack,
    b: Array,
    *,
    reach: Array,
    slopes: bool,
) -> PairSums:
    """Sum all pairs; without `slopes` only what values need.

    `factors` (P, D + 2, n) are those of the exponents; `outer` (2P, n) is what P and R have outside
    of W at both ends: q, or ``α q`` for pairs without a W; `b` (2P, n) is ``α q``; `reach` is that
    of the terms.
    """
    P = factors[0].shape[0]
    # rows V, and one: what is multiplied by W ∘ expm1 Δ from the left
    columns = factors[1][:, 0 if slopes else -2 : -1, :] * outer[P:, None, :]
    power = _power(xp, reach)
    every = []
    for chunk in plan:
        found = _block_by_block(xp, chunk, factors, columns, (outer, b), power)
        every.append(_with_slopes(xp, chunk, found, columns, outer) if slopes else found)
    across, sums, of_means, across_r, sums_r = (
        _joined(xp, some) for some in zip(*every, strict=True)
    )
    p = xp.concat([across[:, -1, :], sums]) * outer
    value = xp.sum(p[:P, :], axis=1)
    if not slopes:
        return PairSums(value, p, of_means)
    r = xp.concat([across_r[:, -1, :], sums_r]) * outer
    return PairSums(value, p, of_means, r, across_r[:, :-1, :] * outer[:P, None, :])


def _joined(xp: Namespace, parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 or parts[0] is None else xp.concat(parts)


def _power(xp: Namespace, reach: Array) -> Callable[[Array], Array]:
    """``expm1``, cut off where exponents alone could overflow."""
    if float(xp.max(reach)) <= _FAR:
        return xp.expm1
    top = xp.asarray(limit(reach), dtype=reach.dtype, device=device(reach))
    return lambda exponent: xp.expm1(xp.minimum(exponent, top))


def _block_by_block(
    xp: Namespace,
    chunk: Chunk,
    factors: tuple[Array, Array],
    columns: Stack,
    ends: tuple[Array, Array],
    power: Callable[[Array], Array],
) -> _ChunkSums:
    P, n, some = factors[0].shape[0], factors[0].shape[-1], chunk.pairs
    left, right, columns = (a[some, :, :] for a in (*factors, columns))
    lead, b = (a[some, :, None] for a in ends)
    b_ = ends[1][P + some.start : P + some.stop, None, :]
    shape = columns.shape[0], columns.shape[1], left.shape[2]
    across = xp.zeros(shape, dtype=left.dtype, device=device(left))
    of_means = xp.zeros_like(b[:, 0, 0])
    sums = []
    for start in range(0, n, chunk.rows):
        rows = slice(start, min(start + chunk.rows, n))
        block = power(xp.matrix_transpose(right[:, :, rows]) @ left)
        if chunk.W is not None:
            of_means = of_means + (b_[:, :, rows] @ (block @ b))[:, 0, 0]
            block *= chunk.W[:, rows, :]
        across = across + columns[:, :, rows] @ block
        if not chunk.same:
            sums.append((block @ lead)[:, :, 0])
    return _ChunkSums(across, across[:, -1, :] if chunk.same else xp.concat(sums, axis=1), of_means)


def _with_slopes(
    xp: Namespace, chunk: Chunk, found: _ChunkSums, columns: Stack, outer: Stack
) -> _ChunkSums:
    """The same with the products of W alone added: what R has beside P."""
    columns, lead = columns[chunk.pairs, :, :], outer[chunk.pairs, :]
    if chunk.W is None:
        plain, plain_ = xp.sum(columns, axis=2)[:, :, None], xp.sum(lead, axis=1)[:, None]
    else:
        plain = columns @ chunk.W
        plain_ = plain[:, -1, :] if chunk.same else (chunk.W @ lead[:, :, None])[:, :, 0]
    return found._replace(across_r=found.across + plain, sums_r=found.sums + plain_)
