"""All pairs of parts for NumPy arrays: in batches, in place, in blocks that fit a cache.

The formulas are those of `parts` and `pairs`, which stay the reference: a test holds both to each
other. Points stand in columns here, (D, n): what is done to an input is done to long rows. Of a
pair's exponents no more is held than a block: one product makes it, ``expm1`` or ``exp`` works in
place, and products sum it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._xp import Array, array_namespace, is_numpy_namespace
from ..memory import blocks
from .pairs import limit
from .parts import Part
from .spread import Spread, log_gap, require_digits, spread

__all__ = ["Glance", "Quick", "Totals", "glance", "pulled_pairs", "quick", "totals"]

_FAR = 50.0  # the sum of two reaches up to which no exponent overflows in any precision
# The size of ½ ℓ from which ``exp Δ − 1`` has as many digits as ``expm1 Δ``, in two thirds of the
# time: ½ ℓ is in every exponent, and its rounding alone moves exp Δ as much as the difference does.
_WIDE = 0.5
_BLOCK = 2**16  # entries: half a MiB in float64, beside what else is in a core's second cache


@dataclass(frozen=True, eq=False)
class Quick:
    """C parts with n points each, and P pairs of them: what does not depend on m and S.

    What there is for both ends of each pair has a leading 2: the first ends, then the second ones.
    """

    X: Array  # (C, D, n), or (1, D, n) where all parts have the same points
    precision: Array  # (C + P, D): of the parts, then the sums of each pair
    variance: Array  # (C, 1)
    alpha: Array  # (C, n)
    pairs: list[tuple[int, int]]
    ends: Array  # (2, P): which part
    own: Array  # (2, P, D): its precision
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
    ends = np.asarray(pairs).T
    own, gather = alone[ends], np.eye(len(parts), dtype=X.dtype)[:, ends.ravel()]
    precision = np.concatenate([alone, own[0] + own[1]])
    gather = np.ascontiguousarray(gather)
    return Quick(X, precision, variance, np.stack(alpha), pairs, ends, own, gather)


class Glance(NamedTuple):
    """What N(m, S) makes of all parts (leading C), all pairs (P) and all their ends (2, P)."""

    T: Array  # (C, D, D)
    N: Array  # (C, D, D): (S + Λ)⁻¹
    g: Array  # (C, D, n)
    q: Array  # (C, n)
    b: Array  # α q
    reach: Array  # (C,): the largest −log(q/σ_f²)
    joint: Spread  # (P, D, D)
    A: Array  # (2, P, D, D): A, then B
    u: Array  # (2, P, D, n)
    wide: Array  # (P, 1): one where ``exp Δ − 1`` is as good as ``expm1 Δ``, or zero
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
    # have.own[::-1] is the precision of the part at the other end
    A = -alone.T[have.ends] @ (have.own[::-1, :, :, None] * joint.T)
    A = 0.5 * (A + A.swapaxes(2, 3))
    half_gap, ends = 0.5 * log_gap(joint.w, alone.w, *have.ends), u[have.ends]
    bent = A @ ends
    bent *= ends
    squares = 0.5 * np.sum(bent, axis=2)
    require_digits(squares, q[have.ends])
    left, right = _exponents(joint.T, squares, ends, half_gap)
    N, b, reach = alone.H * precision[:, None, :], have.alpha * q, np.max(far, axis=1)
    wide = np.asarray(np.abs(half_gap) > _WIDE, dtype=q.dtype)[:, None]
    return Glance(alone.T, N, g, q, b, reach, joint, A, ends, wide, left, right)


def _exponents(T: Array, squares: Array, u: Array, half_gap: Array) -> tuple[Array, Array]:
    _, P, D, n = u.shape
    left, right = np.empty((2, P, D + 2, n), dtype=u.dtype)
    np.matmul(T, u[0], out=left[:, :D])
    right[:, :D] = u[1]
    left[:, D], right[:, D] = squares[0] - half_gap[:, None], 1.0
    left[:, D + 1], right[:, D + 1] = 1.0, squares[1]
    return left, right


class Totals(NamedTuple):
    """The sums over each pair's matrices ``P = W ∘ Cov`` and ``R = P + W ∘ q q'ᵀ``.

    `value` (P,) is the sum of all of P, `of_means` (P,) that for weights ``α αᵀ`` alone; `p` and
    `r` (2, P, n) are sums over columns, then those over rows. Of the derivatives of `value`, those
    by m, (P, D), and by S, (P, D, D), that come through Δ.
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
    shared = np.asarray([W is not None for W in weights])
    outer = np.where(shared[:, None], seen.q[have.ends], seen.b[have.ends])
    columns = seen.right[:, 0 if slopes else -2 : -1] * outer[1][:, None, :]
    across, sums, plain, plain_, means = _products(have, seen, weights, outer[0], columns)
    found, flat = np.stack([across[:, -1], sums]), np.stack([plain[:, -1], plain_])
    p = (found - seen.wide * flat) * outer
    value = np.sum(p[0], axis=1)
    of_means = np.where(shared, means, value)
    if not slopes:
        return Totals(value, of_means, p, *3 * [None])
    narrow = 1.0 - seen.wide
    r = (found + narrow * flat) * outer
    across += narrow[:, :, None] * plain
    across *= outer[0][:, None, :]
    return Totals(value, of_means, p, r, *_directly(have, seen, across[:, :-1], r))


def _products(
    have: Quick, seen: Glance, weights: list[Array | None], lead: Array, columns: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """The products with ``W ∘ (exp Δ − 1)`` from both sides, and those with W, of every pair.

    From the left with `columns` (P, F, n), from the right with `lead` (P, n). Last, ``αᵀ Cov α``.
    Wide pairs have ``W ∘ exp Δ`` instead, and only the last of their products with W.
    """
    across, sums, means = np.empty_like(columns), np.empty_like(lead), np.zeros_like(lead[:, 0])
    plain, plain_ = np.empty_like(columns), np.empty_like(lead)
    plain[...], plain_[...] = np.sum(columns, axis=2)[:, :, None], np.sum(lead, axis=1)[:, None]
    n, wide = lead.shape[1], seen.wide[:, 0] > 0.0
    buffer = np.empty((min(n, max(1, _BLOCK // n)), n), lead.dtype)
    for k, ((i, j), W) in enumerate(zip(have.pairs, weights, strict=True)):
        if W is not None:
            wanted = slice(-1 if wide[k] else 0, None)
            np.matmul(columns[k, wanted], W, out=plain[k, wanted])
            plain_[k] = plain[k, -1] if i == j else lead[k] @ W
        power, top = np.exp if wide[k] else np.expm1, _top(seen, i, j)
        for some, block in _blocks(power, seen.left[k], seen.right[k], buffer, top):
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
    b, (first, second) = np.sum(seen.b, axis=1), have.ends
    return across, sums, plain, plain_, means - wide * b[first] * b[second]


def _top(seen: Glance, i: int, j: int) -> float | None:
    """Where to cut the exponents off, if they can grow so far."""
    far = seen.reach[i] + seen.reach[j]
    return limit(seen.u) if far > _FAR and far > limit(seen.u) else None


def _blocks(
    power: np.ufunc, left: Array, right: Array, buffer: Array, top: float | None
) -> Iterator[tuple[slice, Array]]:
    """``power(Δ)``, transposed, a few rows at a time, in the buffer."""
    for some in blocks(buffer.shape[1], 1, buffer.shape[0]):
        block = np.matmul(right[:, some].T, left, out=buffer[: some.stop - some.start])
        if top is not None:
            np.minimum(block, top, out=block)
        yield some, power(block, out=block)


def _directly(have: Quick, seen: Glance, across: Array, r: Array) -> tuple[Array, Array]:
    """The derivatives of each pair's value by m and by S through Δ, as in `pairs.pulled_input`.

    `across` (P, D, n) holds ``(R V)ᵀ``.
    """
    joint, precision = seen.joint, have.precision
    moved = seen.u @ r[:, :, :, None]
    shifts = have.own * (joint.T @ moved[::-1] + seen.A @ moved)[:, :, :, 0]
    weighted = seen.u * (0.5 * r[:, :, None, :])
    weighted[0] += across
    squares = seen.u @ weighted.swapaxes(2, 3)
    inner = squares[0] + squares[1]
    between = precision[:, :, None] * np.concatenate([seen.T, joint.T]) * precision[:, None, :]
    alone = between[have.ends]
    bent = between[have.size :] - alone[0] - alone[1]
    bent *= 0.5 * np.sum(r[0], axis=1)[:, None, None]
    return -shifts[0] - shifts[1], joint.H @ inner @ joint.H.transpose(0, 2, 1) + bent


def pulled_pairs(have: Quick, found: Totals, scale: Array) -> tuple[Array, Array, Array, Array]:
    """Derivatives of ``Σ scale · value``, (P,) each.

    By m, (D,), and by S, (D, D), as far as they come through Δ; then by log q, (C, n), with which g
    goes by m, and the same with which g goes twice by S.
    """
    gather = have.gather * np.concatenate([scale, scale])
    (P, D), n = found.m_bar.shape, found.p.shape[-1]
    slopes = gather @ found.p.reshape(2 * P, n)
    S_bar = (scale @ found.S_bar.reshape(-1, D * D)).reshape(D, D)
    return scale @ found.m_bar, S_bar, slopes, slopes - gather @ found.r.reshape(2 * P, n)
