"""What the first reading of all tells, by formulas in which nothing cancels.

Far from its origin a straight line varies by 10¹⁸ times what a reading leaves of it, and a filter's
``P − P Hᵀ H P / S`` has no digit of that left. A term has the value f_b at the reading, of variance
a_b; with ``r_b = Cov(state, f_b) / √a_b`` and G_b, what stays of the state where f_b is known, its
covariance ``G_b + r_b r_bᵀ`` becomes ``G_b + r_b r_bᵀ (S − a_b) / S``, and there ``S − a_b`` is the
sum of all other variances and the noise. So a filter begins after the first reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from ...ground.xp import Matrix, Stack, Vector, array_namespace
from .leaves import Apart, outer
from .motion import FARTHEST, Motion

__all__ = ["FirstReading"]


@dataclass(frozen=True, eq=False)
class FirstReading:
    """A process given one reading, at places up to it.

    Parameters
    ----------
    motion : Motion
        How a state moves.
    place, reading, noise : Vector, shape (1,)
        Where it is, the reading less its prior mean, and the variance of its noise, in units of
        the signal; infinite noise tells nothing.
    """

    motion: Motion
    place: Vector
    reading: Vector
    noise: Vector

    @cached_property
    def variances(self) -> list[Vector]:
        """a_b, the variance of each term there."""
        return [term.prior(self.place)[0, 0, :] for term in self.motion.terms]

    @cached_property
    def precision(self) -> Vector:
        """``1 / S``."""
        return 1.0 / sum(self.variances, self.noise)

    @cached_property
    def gain(self) -> Matrix:
        """``P Hᵀ / S`` of the state there before it is read, (D, 1)."""
        return self._scaled([one.r for one in self._there]) * self.precision**0.5

    @cached_property
    def belief(self) -> tuple[Matrix, Stack]:
        """Mean (D, 1) and covariance (D, D, 1) of the state there."""
        mean, cov, _ = self._given(self._there)
        return mean, cov

    @cached_property
    def unseen(self) -> list[Stack]:
        """What stays of the state of each term there where its value is known, (E, E, 1)."""
        return [one.own for one in self._there]

    def before(self, x: Vector) -> tuple[Matrix, Stack, Stack]:
        """Of states at places x (m,), none later than the reading, what the reading tells.

        Mean (D, m), covariance (D, D, m), and covariance with the state at the reading, (D, D, m).
        """
        return self._given(self._terms(x))

    def told(self, late: Matrix) -> Vector:
        """Its entry of ``K_y⁻¹ r``, given λ (D, 1) of the later readings."""
        xp = array_namespace(late)
        return self.reading * self.precision - xp.sum(self.gain * late, axis=0)

    def known(self, taken: Stack) -> Vector:
        """Its entry of the diagonal of ``K_y⁻¹``, given Λ (D, D, 1) of the later readings."""
        xp = array_namespace(taken)
        pushed = xp.sum(taken * self.gain[None, :, :], axis=1)
        return self.precision + xp.sum(self.gain * pushed, axis=0)

    def shares(self, late: Matrix, taken: Stack) -> list[float]:
        """``E(f_b² | y) / a_b`` of each term there, and 1 where a_b is zero."""
        xp = array_namespace(late)
        m, P = self.belief
        found = []
        for i, a in zip(self.motion.seen, self.variances, strict=True):
            row = P[:, i, :]
            mean = m[i, ...] + xp.sum(row * late, axis=0)
            lost = xp.sum(row * xp.sum(taken * row[None, :, :], axis=1), axis=0)
            size = float(xp.sum(a))
            found.append(float(xp.sum(mean * mean + P[i, i, :] - lost)) / size if size else 1.0)
        return found

    @cached_property
    def _there(self) -> list[Apart]:
        """All terms at the reading itself, of whose values nothing stays open."""
        found = []
        for one in self._terms(self.place):
            own = array_namespace(self.place).asarray(one.own, copy=True)
            own[0, ...] = 0.0  # but rounding
            own[:, 0, ...] = 0.0
            found.append(one._replace(own=own, shared=own))
        return found

    def _terms(self, x: Vector) -> list[Apart]:
        xp = array_namespace(x)
        gaps = xp.clip(self.place - x, 0.0, FARTHEST)
        step = self.motion.at(gaps, x, float(xp.max(gaps)) if x.shape[0] else 0.0)
        pairs = zip(self.motion.terms, step.numbers, strict=True)
        return [term.apart(numbers, x, self.place) for term, numbers in pairs]

    def _given(self, terms: list[Apart]) -> tuple[Matrix, Stack, Stack]:
        """`before`, of states at the places of the terms."""
        w, end = self._scaled([one.r for one in terms]), self._scaled([one.end for one in terms])
        own, shared = -outer(w, w), -outer(w, end)
        for block, one, left in zip(self.motion.blocks, terms, self._left, strict=True):
            own[block, block, ...] = one.own + left * outer(one.r, one.r)
            shared[block, block, ...] = one.shared + left * outer(one.r, one.end)
        return w * (self.reading * self.precision**0.5), own, shared

    def _scaled(self, vectors: list[Matrix]) -> Matrix:
        """``Cov(state, y) / √S``, of states by their terms."""
        pairs = zip(vectors, self.variances, strict=True)
        return array_namespace(self.place).concat(
            [r * (a * self.precision) ** 0.5 for r, a in pairs]
        )

    @property
    def _left(self) -> list[Vector]:
        """``(S − a_b) / S`` of each term: the variances of all others, summed from both sides."""
        xp = array_namespace(self.place)
        before = accumulate(self.variances[:-1], initial=self.noise)
        after = [*accumulate(self.variances[:0:-1], initial=xp.zeros_like(self.noise))]
        told = self.precision > 0.0
        return [
            xp.where(told, (low + high) * self.precision, xp.ones_like(low))
            for low, high in zip(before, reversed(after), strict=True)
        ]
