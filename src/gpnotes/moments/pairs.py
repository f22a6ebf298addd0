"""Two parts at a time: their covariances at all pairs of points, without cancellation.

``Cov[k(x_i, x), k'(x'_j, x)] = q_i q'_j (exp Δ_ij − 1)``, and the exponent is a quadratic form

    Δ_ij = uᵢᵀ T v_j + ½ uᵢᵀ A uᵢ + ½ v_jᵀ B v_j − ½ ℓ

with ``T = S (I + DS)⁻¹`` for ``D = Λ⁻¹ + Λ'⁻¹`` and T₁ the same for ``Λ⁻¹``; ``A = T − T₁``, which
is ``−T₁ Λ'⁻¹ T``; B likewise; ``ℓ = log|I + SD| − log|I + SΛ⁻¹| − log|I + SΛ'⁻¹|``. Every term is
small where S is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .._xp import Array, array_namespace, symmetric_part
from .parts import Seen, pulled_q
from .spread import Spread, log_gap, require_digits, rows, spread

__all__ = [
    "Meeting",
    "Sums",
    "covariances",
    "exponents",
    "inner",
    "limit",
    "meetings",
    "pulled_input",
    "sums",
]


class Meeting(NamedTuple):
    """The algebra of a pair of parts: T, H, A, B of shape (D, D) and ``½ ℓ``; in batches (P, ...).

    `first` and `second` say which parts meet.
    """

    first: list[int]
    second: list[int]
    D: Array
    T: Array
    H: Array
    A: Array
    B: Array
    half_gap: Array


def meetings(S: Array, precision: Array, solved: Spread, pairs: list[tuple[int, int]]) -> Meeting:
    """The algebra of S (D, D) for the given pairs of parts with precisions (C, D)."""
    first, second = [i for i, _ in pairs], [j for _, j in pairs]
    a, b = rows(precision, first), rows(precision, second)
    joint = spread(S, a + b)
    half_gap = 0.5 * log_gap(joint.w, solved.w, first, second)
    Ta, Tb = rows(solved.T, first), rows(solved.T, second)
    A = symmetric_part(-Ta @ (b[:, :, None] * joint.T))
    B = symmetric_part(-Tb @ (a[:, :, None] * joint.T))
    return Meeting(first, second, a + b, joint.T, joint.H, A, B, half_gap)


def limit(like: Array) -> float:
    """An exponent Δ that is safe: where Δ is larger, ``exp Δ q q'`` is below ``exp(−limit)``.

    For ``q q' exp Δ`` is an expectation of ``k k'`` and less than q and q' each (in units of their
    variances).
    """
    return 0.7 * math.log(float(array_namespace(like).finfo(like.dtype).max))


def exponents(one: Seen, other: Seen, met: Meeting, k: int) -> tuple[Array, Array]:
    """The factors (n, D + 2) and (D + 2, n') of Δ, so that it is one product."""
    xp = array_namespace(one.u)
    T, A, B = met.T[k, :, :], met.A[k, :, :], met.B[k, :, :]
    a = 0.5 * xp.sum((one.u @ A) * one.u, axis=1)
    b = 0.5 * xp.sum((other.u @ B) * other.u, axis=1)
    require_digits(a, one.q)
    require_digits(b, other.q)
    left = xp.concat([one.u @ T, (a - met.half_gap[k])[:, None], xp.ones_like(a)[:, None]], axis=1)
    right = xp.concat([other.u, xp.ones_like(b)[:, None], b[:, None]], axis=1)
    return left, xp.matrix_transpose(right)


def covariances(one: Seen, other: Seen, met: Meeting, k: int) -> Array:
    """``Cov[k(x_i, x), k'(x'_j, x)]``, (n, n'), for the pair in place k."""
    xp = array_namespace(one.u)
    left, right = exponents(one, other, met, k)
    found = xp.expm1(xp.clip(left @ right, None, limit(left)))
    return one.q[:, None] * found * other.q[None, :]


class Sums(NamedTuple):
    """What ``P = W ∘ Cov`` and ``R = P + W ∘ q q'ᵀ`` are summed to, for weights W (n, n').

    `p` (n,) and `p_` (n',) are the sums of P over its columns and rows, `r` and `r_` those of R;
    `across` is ``R V``, (n, D), and `across_` is ``Rᵀ U``, (n', D).
    """

    p: Array
    p_: Array
    r: Array
    r_: Array
    across: Array
    across_: Array


def sums(one: Seen, other: Seen, met: Meeting, k: int, W: Array) -> Sums:
    """The sums that derivatives of ``Σ W ∘ Cov`` need."""
    xp = array_namespace(W)
    P = W * covariances(one, other, met, k)
    R = P + one.q[:, None] * W * other.q[None, :]
    turned = xp.matrix_transpose(R)
    return Sums(
        xp.sum(P, axis=1), xp.sum(P, axis=0), xp.sum(R, axis=1), xp.sum(R, axis=0),
        R @ other.u, turned @ one.u,
    )  # fmt: skip


def pulled_input(one: Seen, other: Seen, met: Meeting, k: int, found: Sums) -> tuple[Array, Array]:
    """The derivatives of ``Σ W ∘ Cov`` by m, (D,), and by S, (D, D).

    By S they are ``H M Hᵀ`` with ``M = Uᵀ R V + ½ Uᵀ diag(r) U + ½ Vᵀ diag(r') V``, less what the
    second and third terms of Δ have beside T, and those of ℓ and of q and q'.
    """
    xp = array_namespace(one.u)
    T, H, A, B, D = (a[k, ...] for a in (met.T, met.H, met.A, met.B, met.D))
    Ur, Vr = xp.matrix_transpose(one.u) @ found.r, xp.matrix_transpose(other.u) @ found.r_
    m_bar = -one.precision * (T @ Vr + A @ Ur) - other.precision * (T @ Ur + B @ Vr)
    bent = D[:, None] * T * D[None, :] - _between(one) - _between(other)
    S_bar = H @ inner(one, other, found) @ xp.matrix_transpose(H) + 0.5 * xp.sum(found.r) * bent
    first, second = (
        pulled_q(one, found.p, found.p - found.r),
        pulled_q(other, found.p_, found.p_ - found.r_),
    )
    return m_bar + first[0] + second[0], symmetric_part(S_bar + first[1] + second[1])


def inner(one: Seen, other: Seen, found: Sums) -> Array:
    """The matrix M of `pulled_input`: the derivative by T, which A and B hold too."""
    xp = array_namespace(one.u)
    inner = xp.matrix_transpose(one.u) @ (found.across + 0.5 * found.r[:, None] * one.u)
    across = xp.matrix_transpose(other.u) @ (found.r_[:, None] * other.u)
    return symmetric_part(inner + 0.5 * across)


def _between(one: Seen) -> Array:
    """``Λ⁻¹ T Λ⁻¹``: what S takes from the precision, ``Λ⁻¹ − (S + Λ)⁻¹``."""
    return one.precision[:, None] * one.T * one.precision[None, :]
