"""All pairs of parts for NumPy arrays: in batches, in place, in blocks that fit a cache.

The formulas are those of `parts` and `pairs`, which stay the reference: a test holds both to each
other. Points stand in columns here, (D, n): what is done to an input is done to long rows. Of a
pair's exponents no more is held than a block: one product makes it, ``expm1`` works in place, and
products sum it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._xp import Array, array_namespace, is_numpy_namespace
from .pairs import limit
from .parts import Part
from .spread import Spread, log_gap, require_digits, spread

__all__ = ["Glance", "Quick", "Totals", "glance", "pulled_pairs", "quick", "totals"]

_FAR = 50.0  # the sum of two reaches up to which no exponent overflows in any precision
_BLOCK = 2**16  # entries: half a MiB in float64, beside what else is in a core's second cache


@dataclass(frozen=True, eq=False)
class Quick:
    """C parts with n points each, and P pairs of them: what does not depend on m and S.

    What there is for both ends of each pair has 2P entries: the first ends, then the second ones.
    """

    X: Array  # (C, D, n), or (1, D, n) where all parts have the same points
    precision: Array  # (C + P, D): of the parts, then the sums of each pair
    variance: Array  # (C, 1)
    alpha: Array  # (C, n)
    pairs: list[tuple[int, int]]
    ends: Array  # (2P,): which part
    own: Array  # (2P, D): its precision
    partner: Array  # (2P, D): that of the part at the other end
    gather: Array  # (C, 2P): adds up over ends what belongs to a part

    @property
    def size(self) -> int:
        """The number C of parts."""
        return self.alpha.shape[0]


def quick(
    points: list[Array], parts: list[Part], alpha: list[Array], pairs: list[tuple[int, int]]
) -> Quick | None:
    """Collect it, or None where arrays are not NumPy's or parts differ in their points' number."""
    numpy = is_numpy_namespace(array_namespace(points[0]))
    if not numpy or len({one.shape for one in points}) > 1:
        return None
    same = all(one is points[0] or np.array_equal(one, points[0]) for one in points)
    X = np.stack([np.ascontiguousarray(one.T) for one in (points[:1] if same else points)])
    alone = np.stack([part.precision for part in parts])
    variance = np.asarray([[part.variance] for part in parts], dtype=X.dtype)
    ends = np.asarray(pairs).T.ravel()
    own, gather = alone[ends], np.eye(len(parts), dtype=X.dtype)[:, ends]
    partner = np.roll(own, len(pairs), axis=0)
    precision = np.concatenate([alone, (own + partner)[: len(pairs)]])
    gather = np.ascontiguousarray(gather)
    return Quick(X, precision, variance, np.stack(alpha), pairs, ends, own, partner, gather)


class Glance(NamedTuple):
    """What N(m, S) makes of all parts (leading C), all pairs (P) and all ends of pairs (2P)."""

    T: Array  # (C, D, D)
    N: Array  # (C, D, D): (S + Λ)⁻¹
    g: Array  # (C, D, n)
    q: Array  # (C, n)
    b: Array  # α q
    reach: Array  # (C,): the largest −log(q/σ_f²)
    joint: Spread  # (P, D, D)
    A: Array  # (2P, D, D): A, then B
    u: Array  # (2P, D, n)
    left: Array  # (P, D + 2, n), whose product with `right` is Δ
    right: Array


def glance(have: Quick, m: Array, S: Array) -> Glance:
    """Everything but the n × n sums."""
    C, precision = have.size, have.precision[: have.size]
    solved = spread(S, have.precision)
    alone, joint = (Spread(*(a[part] for a in solved)) for part in (slice(C), slice(C, None)))
    nu = have.X - m[:, None]
    u = nu * precision[:, :, None]
    g = alone.H @ u
    far = 0.5 * (np.sum(nu * g, axis=1) + np.sum(np.log1p(alone.w), axis=1)[:, None])
    q = have.variance * np.exp(-far)
    A = -alone.T[have.ends] @ (have.partner[:, :, None] * np.concatenate([joint.T, joint.T]))
    A = 0.5 * (A + A.transpose(0, 2, 1))
    first, second = have.ends.reshape(2, -1)
    half_gap, ends = 0.5 * log_gap(joint.w, alone.w, first, second), u[have.ends]
    squares = 0.5 * np.sum((A @ ends) * ends, axis=1)
    require_digits(squares, q[have.ends])
    left, right = _exponents(joint.T, squares, ends, half_gap)
    N, b = alone.H * precision[:, None, :], have.alpha * q
    return Glance(alone.T, N, g, q, b, np.max(far, axis=1), joint, A, ends, left, right)


def _exponents(T: Array, squares: Array, u: Array, half_gap: Array) -> tuple[Array, Array]:
    (P, D, _), n = T.shape, u.shape[2]
    left, right = np.empty((2, P, D + 2, n), dtype=u.dtype)
    left[:, :D], right[:, :D] = T @ u[:P], u[P:]
    left[:, D], right[:, D] = squares[:P] - half_gap[:, None], 1.0
    left[:, D + 1], right[:, D + 1] = 1.0, squares[P:]
    return left, right


class Totals(NamedTuple):
    """The sums over each pair's matrices ``P = W ∘ Cov`` and ``R = P + W ∘ q q'ᵀ``.

    `value` (P,) is the sum of all of P, `of_means` (P,) that for weights ``α αᵀ`` alone; `p` and
    `r` (2P, n) are sums over columns, then those over rows. Of the derivatives of `value`, those by
    m, (P, D), and by S, (P, D, D), that come through Δ.
    """

    value: Array
    of_means: Array
    p: Array
    r: Array
    m_bar: Array
    S_bar: Array


def totals(have: Quick, seen: Glance, weights: list[Array | None], slopes: bool) -> Totals:
    """Sum all pairs; without `slopes` only what the values need.

    `weights` has for each pair a symmetric W (n, n), or None for ``α αᵀ``.
    """
    shared = [W is not None for W in weights]
    every = zip(have.ends, shared + shared, strict=True)
    outer = np.stack([seen.q[i] if given else seen.b[i] for i, given in every])
    lead, trail = outer[: len(shared)], outer[len(shared) :]
    columns = seen.right[:, 0 if slopes else -2 : -1] * trail[:, None, :]
    across, sums, plain, plain_, means = _products(have, seen, weights, lead, columns)
    p = np.concatenate([across[:, -1], sums]) * outer
    value = np.sum(p[: len(shared)], axis=1)
    of_means = np.where(shared, means, value)
    if not slopes:
        return Totals(value, of_means, p, *3 * [None])
    across += plain
    r = np.concatenate([across[:, -1], sums + plain_]) * outer
    across *= lead[:, None, :]
    return Totals(value, of_means, p, r, *_directly(have, seen, across[:, :-1], r))


def _products(
    have: Quick, seen: Glance, weights: list[Array | None], lead: Array, columns: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """The products with ``W ∘ (exp Δ − 1)`` from both sides, and those with W, of every pair.

    From the left with `columns` (P, F, n), from the right with `lead` (P, n). Last, ``αᵀ Cov α``.
    """
    across, sums, means = np.empty_like(columns), np.empty_like(lead), np.zeros_like(lead[:, 0])
    plain, plain_ = np.empty_like(columns), np.empty_like(lead)
    plain[...], plain_[...] = np.sum(columns, axis=2)[:, :, None], np.sum(lead, axis=1)[:, None]
    n = lead.shape[1]
    buffer = np.empty((min(n, max(1, _BLOCK // n)), n), lead.dtype)
    for k, ((i, j), W) in enumerate(zip(have.pairs, weights, strict=True)):
        if W is not None:
            np.matmul(columns[k], W, out=plain[k])
            plain_[k] = plain[k, -1] if i == j else lead[k] @ W
        for some, block in _blocks(seen.left[k], seen.right[k], buffer, _top(seen, i, j)):
            if W is not None:
                means[k] += (block @ seen.b[i]) @ seen.b[j, some]
                block *= W[some]
            if some.start == 0:
                np.matmul(columns[k, :, some], block, out=across[k])
            else:
                across[k] += columns[k, :, some] @ block
            if i != j:
                np.matmul(block, lead[k], out=sums[k, some])
        if i == j:
            sums[k] = across[k, -1]
    return across, sums, plain, plain_, means


def _top(seen: Glance, i: int, j: int) -> float | None:
    """Where to cut the exponents off, if they can grow so far."""
    far = seen.reach[i] + seen.reach[j]
    return limit(seen.u) if far > _FAR and far > limit(seen.u) else None


def _blocks(
    left: Array, right: Array, buffer: Array, top: float | None
) -> Iterator[tuple[slice, Array]]:
    """``exp Δ − 1``, transposed, a few rows at a time, in the buffer."""
    size, n = buffer.shape
    for start in range(0, n, size):
        some = slice(start, min(n, start + size))
        block = np.matmul(right[:, some].T, left, out=buffer[: some.stop - start])
        if top is not None:
            np.minimum(block, top, out=block)
        yield some, np.expm1(block, out=block)


def _directly(have: Quick, seen: Glance, across: Array, r: Array) -> tuple[Array, Array]:
    """The derivatives of each pair's value by m and by S through Δ, as in `pairs.pulled_input`.

    `across` (P, D, n) holds ``(R V)ᵀ``.
    """
    P, joint, precision = across.shape[0], seen.joint, have.precision
    moved = (seen.u @ r[:, :, None])[:, :, 0]
    across_T = (np.concatenate([joint.T, joint.T]) @ np.roll(moved, P, axis=0)[:, :, None])[:, :, 0]
    shifts = have.own * (across_T + (seen.A @ moved[:, :, None])[:, :, 0])
    weighted = seen.u * (0.5 * r[:, None, :])
    weighted[:P] += across
    squares = seen.u @ weighted.transpose(0, 2, 1)
    inner = squares[:P] + squares[P:]
    between = precision[:, :, None] * np.concatenate([seen.T, joint.T]) * precision[:, None, :]
    alone = between[have.ends]
    bent = between[have.size :] - alone[:P] - alone[P:]
    bent *= 0.5 * np.sum(r[:P], axis=1)[:, None, None]
    return -shifts[:P] - shifts[P:], joint.H @ inner @ joint.H.transpose(0, 2, 1) + bent


def pulled_pairs(have: Quick, found: Totals, scale: Array) -> tuple[Array, Array, Array, Array]:
    """Derivatives of ``Σ scale · value``, (P,) each.

    By m, (D,), and by S, (D, D), as far as they come through Δ; then by log q, (C, n), with which g
    goes by m, and the same with which g goes twice by S.
    """
    gather = have.gather * np.concatenate([scale, scale])
    slopes, (_, D) = gather @ found.p, found.m_bar.shape
    S_bar = (scale @ found.S_bar.reshape(-1, D * D)).reshape(D, D)
    return scale @ found.m_bar, S_bar, slopes, slopes - gather @ found.r
