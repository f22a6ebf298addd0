"""The derivatives that a part's own points and precision get, where they are parameters too.

They are wanted for the centres and lengthscales of a network, and for the points of a kernel's
expectations. Those by m are theirs with the opposite sign, summed.
"""

from __future__ import annotations

from typing import NamedTuple

from .._xp import Array, array_namespace, diagonal
from .pairs import Meeting, Sums, inner
from .parts import Seen

__all__ = ["PointBars", "pulled_points", "pulled_q_points"]


class PointBars(NamedTuple):
    """Derivatives by the points, (n, D), and by the precision, (D,), of one part."""

    points: Array
    precision: Array


def pulled_q_points(one: Seen, t: Array) -> PointBars:
    """What ``Σ t log q``, t (n,), has: ``−g`` by the points, ``−½ (g²/λ² + diag T)`` by λ."""
    xp = array_namespace(t)
    squares = xp.sum(t[:, None] * (one.g / one.precision) ** 2, axis=0)
    precision = -0.5 * (squares + xp.sum(t) * diagonal(one.T))
    return PointBars(-t[:, None] * one.g, precision)


def pulled_points(
    one: Seen, other: Seen, met: Meeting, k: int, found: Sums
) -> tuple[PointBars, PointBars]:
    """What ``Σ W ∘ Cov`` has for both parts of the pair in place k, from its sums."""
    xp = array_namespace(one.u)
    T, A, B = met.T[k, :, :], met.A[k, :, :], met.B[k, :, :]
    u_bar = found.across @ T + found.r[:, None] * (one.u @ A)
    v_bar = found.across_ @ T + found.r_[:, None] * (other.u @ B)
    # T answers to both precisions: dT = −T dD T, and ½ ℓ with −½ Σ R
    joint = -diagonal(T @ inner(one, other, found) @ T) - 0.5 * xp.sum(found.r) * diagonal(T)
    return (
        _side(one, found.p, found.r, u_bar, joint),
        _side(other, found.p_, found.r_, v_bar, joint),
    )


def _side(one: Seen, p: Array, r: Array, u_bar: Array, joint: Array) -> PointBars:
    xp = array_namespace(p)
    through_q = pulled_q_points(one, p)
    # A holds −T of the part alone, and ½ ℓ its logarithm
    alone = 0.5 * xp.sum(r[:, None] * (one.u @ one.T) ** 2, axis=0)
    alone = alone + 0.5 * xp.sum(r) * diagonal(one.T)
    precision = through_q.precision + xp.sum(u_bar * one.nu, axis=0) + joint + alone
    return PointBars(through_q.points + u_bar * one.precision, precision)
