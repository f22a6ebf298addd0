"""Two terms at a time: their covariances at all pairs of points, without cancellation.

``Cov[k(x_i, x), k'(x'_j, x)] = q_i q'_j (exp Δ_ij − 1)``, and with ``u = Λ⁻¹ν``, ``v = Λ'⁻¹ν'`` the
exponent is a quadratic form

    Δ_ij = uᵢᵀ T v_j + ½ uᵢᵀ A uᵢ + ½ v_jᵀ B v_j − ½ ℓ

with ``T = S (I + DS)⁻¹`` for ``D = Λ⁻¹ + Λ'⁻¹`` and T₁ the same for ``Λ⁻¹``; ``A = T − T₁``, which
is ``−T₁ Λ'⁻¹ T``; B likewise; ``ℓ = log|I + SD| − log|I + SΛ⁻¹| − log|I + SΛ'⁻¹|``. Every term is
small where S is. Everything here is done for P pairs at once; points stand in columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...ground.xp import (
    Array,
    Matrix,
    Namespace,
    Stack,
    Vector,
    array_namespace,
    device,
    symmetric_part,
)
from .input_covariance import DampedCovariance, Scales, log_gap, scales

__all__ = [
    "End",
    "PairAlgebra",
    "TermPairs",
    "end_at_input",
    "exponents",
    "limit",
    "pair_algebra",
    "paired_terms",
    "pullback_to_input",
]


class TermPairs(NamedTuple):
    """P pairs of C terms: their values that do not depend on m and S.

    `first` and `second` (P,) say which terms; `own` and `other` (2P, D, 1) are the precision of the
    term at each end and of that at the opposite one: first ends, then second ends. `scales` are
    those of the C terms and of the P sums of precisions, `outer` their products (C + P, D, D),
    `inverse` one over those of the sums.
    """

    first: Vector
    second: Vector
    ends: Vector
    own: Array
    other: Array
    scales: Scales
    outer: Array
    inverse: Array


def paired_terms(precision: Matrix, pairs: Sequence[tuple[int, int]]) -> TermPairs:
    """Pairs of terms with precisions (C, D)."""
    xp = array_namespace(precision)
    dev = device(precision)
    first, second = (xp.asarray([pair[end] for pair in pairs], device=dev) for end in (0, 1))
    a, b = xp.take(precision, first, axis=0), xp.take(precision, second, axis=0)
    own, other = (xp.concat(ends)[:, :, None] for ends in ([a, b], [b, a]))
    every = scales(xp.concat([precision, a + b]))
    outer = every.precision[:, :, None] * every.precision[:, None, :]
    inverse = 1.0 / outer[precision.shape[0] :, :, :]
    return TermPairs(first, second, xp.concat([first, second]), own, other, every, outer, inverse)


class PairAlgebra(NamedTuple):
    """Of each pair T, ``N = (S + D⁻¹)⁻¹``, (P, D, D), A and B, (2P, D, D), and ``½ ℓ``, (P,).

    `bent` (P, D, D) is ``D T D`` less ``Λ⁻¹ T₁ Λ⁻¹`` at both ends.
    """

    T: Stack
    N: Stack
    A: Stack
    half_gap: Vector
    bent: Array


def pair_algebra(xp: Namespace, pairs: TermPairs, damped: DampedCovariance) -> PairAlgebra:
    """The algebra of all pairs from that of the pairs' scales."""
    C = damped.T.shape[0] - pairs.first.shape[0]
    T = damped.T[C:, :, :]
    A = -xp.take(damped.T, pairs.ends, axis=0) @ (pairs.other * xp.concat([T, T]))
    half_gap = 0.5 * log_gap(xp, damped, C, pairs.first, pairs.second)
    curvature = pairs.outer * damped.T
    of_ends = [xp.take(curvature, end, axis=0) for end in (pairs.first, pairs.second)]
    curvature_gap = curvature[C:, :, :] - of_ends[0] - of_ends[1]
    A = symmetric_part(A)
    return PairAlgebra(T, damped.N[C:, :, :], A, half_gap, curvature_gap)


class End(NamedTuple):
    """One end of each pair: precision (P, D, 1), A or B (P, D, D), u (P, D, n) and ``½ uᵀAu``."""

    own: Array
    A: Stack
    u: Stack
    squares: Matrix


def end_at_input(scales: Scales, own: Array, A: Stack, nu: Stack) -> End:
    """Ends whose points lie `nu`, (P, D, n) or (1, D, n), from the mean."""
    u = own * nu
    return End(own, A, u, 0.5 * (scales.ones @ ((A @ u) * u)))


def limit(like: Array) -> float:
    """An exponent Δ that is safe: where Δ is larger, ``exp Δ q q'`` is below ``exp(−limit)``.

    For ``q q' exp Δ`` is an expectation of ``k k'`` and less than q and q' each (in units of their
    variances).
    """
    return 0.7 * math.log(float(array_namespace(like).finfo(like.dtype).max))


def exponents(xp: Namespace, algebra: PairAlgebra, first: End, second: End) -> tuple[Stack, Stack]:
    """The factors (P, D + 2, n) and (P, D + 2, n') of Δ, so that it is one product."""
    ones, ones_ = (xp.ones_like(end.squares[:, None, :]) for end in (first, second))
    squares_less_gap = first.squares - algebra.half_gap[:, None]
    left = xp.concat([algebra.T @ first.u, squares_less_gap[:, None, :], ones], axis=1)
    return left, xp.concat([second.u, ones_, second.squares[:, None, :]], axis=1)


def pullback_to_input(
    xp: Namespace,
    pairs: TermPairs,
    algebra: PairAlgebra,
    first: End,
    second: End,
    sums: tuple[Matrix, Matrix, Stack],
) -> tuple[Matrix, Stack]:
    """The derivatives of each pair's ``Σ W ∘ Cov`` by m, (P, D), and by S, (P, D, D), through Δ.

    `sums` are those of ``R = W ∘ (Cov + q q'ᵀ)`` over its columns and over its rows, (P, n) and
    (P, n'), and ``(R V)ᵀ``, (P, D, n). The direct dependence of q and q' on S is left to
    `pullback_q`. The second derivative is not symmetric yet.
    """
    r, r_, across = sums
    u = first.u
    v = second.u
    T = algebra.T
    N = algebra.N
    Ur, Vr = u @ r[:, :, None], v @ r_[:, :, None]
    m_bar = first.own * (T @ Vr + first.A @ Ur) + second.own * (T @ Ur + second.A @ Vr)
    # by T: M = Uᵀ R V + ½ Uᵀ diag(r) U + ½ Vᵀ diag(r') V; by S: H M Hᵀ with H = N D⁻¹
    M = u @ xp.matrix_transpose(across + u * (0.5 * r[:, None, :]))
    M = M + (v * (0.5 * r_[:, None, :])) @ xp.matrix_transpose(v)
    half = 0.5 * xp.sum(r, axis=1)[:, None, None]
    return -m_bar[:, :, 0], N @ (pairs.inverse * M) @ N + half * algebra.bent
