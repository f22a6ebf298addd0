"""All pairs of parts for NumPy arrays: in batches, in place, in blocks that fit a cache.

The formulas are those of `parts` and `pairs`, which stay the reference: a test holds both to each
other. Points stand in columns here, (D, n): what is done to an input is done to long rows. Of a
pair's exponents no more is held than a block: one product makes it, ``exp`` works in place, and
products sum it.

Where an input is wide, ``exp Δ`` is summed, and the sums of ``exp Δ − 1`` are those less others:
that loses two digits at most. Where all are narrow it is ``expm1``, which loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._xp import Array, array_namespace, is_numpy_namespace
from .pairs import limit
from .parts import Part
from .spread import Spread, log_gap, spread

__all__ = ["Glance", "Quick", "Totals", "glance", "pulled_pairs", "quick", "totals"]

_BLOCK = 2**16  # entries: half a MiB in float64, beside what else is in a core's second cache
_WIDE = 1.0  # the eigenvalue of D^½ S D^½ from which exp and a subtraction will do


@dataclass(frozen=True, eq=False)
class Quick:
    """C parts with n points each, and P pairs of them: what does not depend on m and S."""

    X: Array  # (C, D, n), or (1, D, n) where all parts have the same points
    precision: Array  # (C + P, D): of the parts, then the sums of each pair
    variance: Array  # (C, 1)
    alpha: Array  # (C, n)
    first: list[int]
    second: list[int]
    gather: tuple[Array, Array]  # (C, P) each: adds up over pairs what belongs to a part

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
    first, second = [i for i, _ in pairs], [j for _, j in pairs]
    variance = np.asarray([[part.variance] for part in parts], dtype=X.dtype)
    chosen = np.eye(len(parts), dtype=X.dtype)
    gather = np.ascontiguousarray(chosen[:, first]), np.ascontiguousarray(chosen[:, second])
    precision = np.concatenate([alone, alone[first] + alone[second]])
    return Quick(X, precision, variance, np.stack(alpha), first, second, gather)


class Glance(NamedTuple):
    """What N(m, S) makes of all parts (leading C) and all pairs (leading P)."""

    alone: Spread
    joint: Spread
    N: Array  # (C, D, D): (S + Λ)⁻¹
    A: Array  # (P, D, D)
    B: Array
    u: Array  # (C, D, n)
    g: Array
    q: Array  # (C, n)
    b: Array  # α q
    left: Array  # (P, D + 2, n), whose product with `right` is Δ
    right: Array
    reach: Array  # (C,): the largest −log(q/σ_f²)


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
    A, B = _bends(have, alone, joint)
    half_gap = 0.5 * log_gap(joint.w, alone.w, have.first, have.second)
    left, right = _exponents(have, joint.T, A, B, u, half_gap)
    N, b = alone.H * precision[:, None, :], have.alpha * q
    return Glance(alone, joint, N, A, B, u, g, q, b, left, right, np.max(far, axis=1))


def _bends(have: Quick, alone: Spread, joint: Spread) -> tuple[Array, Array]:
    a, b = have.precision[have.first], have.precision[have.second]
    A = alone.T[have.first] @ (b[:, :, None] * joint.T)
    B = alone.T[have.second] @ (a[:, :, None] * joint.T)
    return -0.5 * (A + A.transpose(0, 2, 1)), -0.5 * (B + B.transpose(0, 2, 1))


def _exponents(
    have: Quick, T: Array, A: Array, B: Array, u: Array, half_gap: Array
) -> tuple[Array, Array]:
    (P, D, _), n = T.shape, u.shape[2]
    left, right = np.empty((2, P, D + 2, n), dtype=u.dtype)
    one, other = u[have.first], right[:, :D]
    other[...] = u[have.second]
    left[:, :D] = T @ one
    left[:, D] = 0.5 * np.sum((A @ one) * one, axis=1) - half_gap[:, None]
    left[:, D + 1], right[:, D] = 1.0, 1.0
    right[:, D + 1] = 0.5 * np.sum((B @ other) * other, axis=1)
    return left, right


class Totals(NamedTuple):
    """The sums over each pair's matrices ``P = W ∘ Cov`` and ``R = P + W ∘ q q'ᵀ``.

    Leading index: the pair. `p`, `p_`, `r_` (P, n) are sums over columns and over rows, as in
    `pairs.Sums`; `across` (P, D + 1, n) holds ``(R V)ᵀ`` and in its last row r. `value` (P,) is the
    sum of all of P, `of_means` (P,) that for weights ``α αᵀ`` alone.
    """

    value: Array
    of_means: Array
    p: Array
    p_: Array
    r_: Array
    across: Array


def totals(have: Quick, seen: Glance, weights: list[Array | None], slopes: bool) -> Totals:
    """Sum all pairs; without `slopes` only what the values need.

    `weights` has for each pair W (n, n'), or None for ``α αᵀ``.
    """
    (P, wide, n), u = seen.left.shape, seen.u
    rows = wide - 1 if slopes else 1
    found = Totals(*np.zeros((2, P), u.dtype), *np.empty((3, P, n), u.dtype),
                   np.empty((P, rows, n), u.dtype))  # fmt: skip
    whole = np.max(seen.joint.w, axis=1) > _WIDE
    for k, (i, j) in enumerate(zip(have.first, have.second, strict=True)):
        far = float(seen.reach[i] + seen.reach[j])
        top = limit(u) if far > limit(u) else None
        one, other = (seen.b if weights[k] is None else seen.q)[[i, j]]
        columns = other[None, :]
        if slopes:
            columns = columns * seen.right[k, :-1]
        part = _Pair(seen.left[k], seen.right[k], one, columns, seen.b[i], seen.b[j], weights[k])
        _fill(found, k, part, bool(whole[k]), top)
    return found


class _Pair(NamedTuple):
    """One pair's exponents, and what its matrix is multiplied with: `columns` has q' last."""

    left: Array
    right: Array
    lead: Array
    columns: Array
    b: Array
    b_: Array
    W: Array | None


def _fill(found: Totals, k: int, pair: _Pair, whole: bool, top: float | None) -> None:
    """Everything about pair k, block by block of its rows."""
    across, sums = found.across[k], np.zeros_like(pair.lead)
    means = 0.0
    for rows in _blocks(pair):
        block = pair.left[:, rows].T @ pair.right
        if top is not None:
            np.minimum(block, top, out=block)
        (np.exp if whole else np.expm1)(block, out=block)
        if pair.W is not None:
            means += pair.b[rows] @ (block @ pair.b_)
            block *= pair.W[rows]
        np.matmul(pair.columns, block.T, out=across[:, rows])
        sums += pair.lead[rows] @ block
    _settle(found, k, pair, sums, means, whole)


def _blocks(pair: _Pair) -> list[slice]:
    n, step = pair.left.shape[1], max(1, _BLOCK // pair.right.shape[1])
    return [slice(start, start + step) for start in range(0, n, step)]


def _settle(found: Totals, k: int, pair: _Pair, sums: Array, means: float, whole: bool) -> None:
    """From sums with exp Δ those with exp Δ − 1, or the other way round; then the outer factor."""
    across, trail = found.across[k], pair.columns[-1]
    if pair.W is None:
        plain = np.sum(pair.columns, axis=1)[:, None]
        plain_ = np.sum(pair.lead)
    else:
        plain = pair.columns[-1:] @ pair.W if whole else pair.columns @ pair.W
        plain_ = pair.lead @ pair.W
        means -= np.sum(pair.b) * np.sum(pair.b_) if whole else 0.0
    if whole:
        np.multiply(across[-1] - plain[-1], pair.lead, out=found.p[k])
        np.multiply(sums - plain_, trail, out=found.p_[k])
        np.multiply(sums, trail, out=found.r_[k])
    else:
        np.multiply(across[-1], pair.lead, out=found.p[k])
        np.multiply(sums, trail, out=found.p_[k])
        across += plain
        np.multiply(sums + plain_, trail, out=found.r_[k])
    across *= pair.lead
    found.value[k] = np.sum(found.p[k])
    found.of_means[k] = found.value[k] if pair.W is None else means


def pulled_pairs(
    have: Quick, seen: Glance, found: Totals, scale: Array
) -> tuple[Array, Array, Array, Array]:
    """Derivatives of ``Σ scale · value``, (P,) each, but for those that come through q.

    By m, (D,), and by S, (D, D); then by log q, (C, n), with which g goes by m, and the same with
    which it goes twice by S. See `pairs.pulled_input`.
    """
    D, precision, c = seen.u.shape[1], have.precision, scale[:, None]
    across = found.across * c[:, :, None]
    r, r_ = across[:, D], found.r_ * c
    u, v = seen.u[have.first], seen.right[:, :D]
    across[:, :D] += (0.5 * r[:, None, :]) * u
    inner = u @ across[:, :D].transpose(0, 2, 1)
    inner += (v * (0.5 * r_[:, None, :])) @ v.transpose(0, 2, 1)
    S_bar = np.sum(seen.joint.H @ inner @ seen.joint.H.transpose(0, 2, 1), axis=0)
    between = precision[:, :, None] * np.concatenate([seen.alone.T, seen.joint.T])
    between *= precision[:, None, :]
    total = np.sum(r, axis=1)
    each = np.concatenate([-(have.gather[0] @ total + have.gather[1] @ total), total])
    S_bar += 0.5 * np.tensordot(each, between, axes=1)
    Ur, Vr = u @ r[:, :, None], v @ r_[:, :, None]
    T = seen.joint.T
    shifts = np.concatenate([T @ Vr + seen.A @ Ur, T @ Ur + seen.B @ Vr])[:, :, 0]
    m_bar = -np.sum(precision[have.first + have.second] * shifts, axis=0)
    first, second = have.gather
    slopes = first @ (found.p * c) + second @ (found.p_ * c)
    return m_bar, S_bar, slopes, slopes - first @ r - second @ r_
