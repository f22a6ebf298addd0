"""The update by the first reading of all, by formulas in which nothing cancels.

Far from its origin a straight line has 10¹⁸ times the variance that a reading leaves, and a
filter's ``P − P Hᵀ H P / S`` has no digit of that left. A term has the value f_b at the reading, of
variance a_b; with ``r_b = Cov(state, f_b) / √a_b`` and G_b, the state's covariance where f_b is
known, its covariance ``G_b + r_b r_bᵀ`` becomes ``G_b + r_b r_bᵀ (S − a_b) / S``, and there ``S −
a_b`` is the sum of all other variances and the noise. So a filter begins after the first reading.

Of a sum of terms, as a term and those that it carries, the states ``q_b f_b`` beyond the G_b leave
``Σ_{b<c} a_b a_c (q_b − q_c)(q_b − q_c)ᵀ / S + Σ_b a_b q_b q_bᵀ R / S``, with ``q_b = r_b / √a_b``
and R the variances of all terms elsewhere and of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from operator import add
from typing import NamedTuple

from ...ground.xp import Matrix, Stack, Vector, array_namespace, zeros
from .elementary_processes import Apart, outer
from .motion import FARTHEST, Motion, signal

__all__ = ["FirstReading"]


class _Slopes(NamedTuple):
    """The state of a term by its value at the reading, q, and q less that value itself there."""

    whole: Matrix
    moved: Matrix


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
        """The covariance of the state of each term there given its value, (E, E, 1)."""
        return [one.own for one in self._there]

    def before(self, x: Vector) -> tuple[Matrix, Stack, Stack]:
        """Return the reading's information about states at places x (m,), none later than it.

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
        for which, a in enumerate(self.variances):
            seen = self.motion.entries(which, 0)
            row = signal(P, seen)
            mean = signal(m, seen) + xp.sum(row * late, axis=0)
            lost = xp.sum(row * xp.sum(taken * row[None, :, :], axis=1), axis=0)
            size, square = float(xp.sum(a)), mean * mean + signal(row, seen) - lost
            found.append(float(xp.sum(square)) / size if size else 1.0)
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
        # between terms, which are independent before, −w wᵀ is all; within one it would cancel with
        # the prior, and its block is written over below
        own, shared = -outer(w, w), -outer(w, end)
        for which, (block, one) in enumerate(zip(self.motion.blocks, terms, strict=True)):
            left = self._left([which])
            own[block, block, ...] = one.own + left * outer(one.r, one.r)
            shared[block, block, ...] = one.shared + left * outer(one.r, one.end)
            if group := self.motion.carried(which):
                self._add_carried(own, shared, terms, [which, *group])
        return w * (self.reading * self.precision**0.5), own, shared

    def _add_carried(
        self, own: Stack, shared: Stack, terms: list[Apart], group: list[int]
    ) -> None:  # fmt: skip
        """Fill in the rows and columns of a term and those that it carries, the first of a group.

        With carried terms, the state of the first is their sum.
        """
        xp, host = array_namespace(own), self.motion.blocks[group[0]]
        rest, size = self._left(group), terms[group[0]].r.shape[0]
        a = [self.variances[i] for i in group]
        q = [self._slopes(i, terms[i], terms[i].r, size) for i in group]
        e = [self._slopes(i, terms[i], terms[i].end, size) for i in group]
        own[host, host, ...] = self._of_sum(a, q, q)
        shared[host, host, ...] = self._of_sum(a, q, e)
        for j, which in enumerate(group):
            one, block = terms[which], self.motion.blocks[which]
            rows = slice(host.start, host.start + one.r.shape[0])
            own[rows, rows, ...] += one.own
            shared[rows, rows, ...] += one.shared
            w, end = q[j].whole, e[j].whole
            own[host, host, ...] += a[j] * rest * outer(w, w)
            shared[host, host, ...] += a[j] * rest * outer(w, end)
            if not j:
                continue
            few = one.r.shape[0]
            told, late = (a[j] * rest * v[j].whole + self._apart(a, v, j) for v in (q, e))
            across = outer(told, w[:few, ...])
            across[:few, ...] += one.own
            own[host, block, ...] = across
            own[block, host, ...] = xp.permute_dims(across, (1, 0, 2))
            shared[host, block, ...] = outer(told, end[:few, ...])
            shared[block, host, ...] = outer(w[:few, ...], late)
            shared[rows, block, ...] += one.shared
            shared[block, rows, ...] += one.shared

    def _slopes(self, which: int, one: Apart, r: Matrix, size: int) -> _Slopes:
        """``q = r / √a`` of a term, r or the end, and zeros below, in `size` rows."""
        xp, a = array_namespace(r), self.variances[which]
        varies = a > 0.0
        root = xp.where(varies, a, xp.ones_like(a)) ** 0.5
        r = xp.where(varies, r, xp.zeros_like(r)) / root
        moved = r[:1, ...] - xp.where(varies, one.end[:1, ...], xp.zeros_like(a)) / root
        below = zeros((size - r.shape[0], r.shape[1]), r)
        return _Slopes(xp.concat([r, below]), xp.concat([moved, r[1:, ...], below]))

    def _of_sum(self, a: list[Vector], q: list[_Slopes], e: list[_Slopes]) -> Stack:
        """``Σ_{b<c} a_b a_c (q_b − q_c)(e_b − e_c)ᵀ / S``."""
        found = array_namespace(a[0]).zeros_like(outer(q[0].moved, e[0].moved))
        for b, c in combinations(range(len(a)), 2):
            by_q, by_e = q[b].moved - q[c].moved, e[b].moved - e[c].moved
            found += (a[b] * self.precision) * a[c] * outer(by_q, by_e)
        return found

    def _apart(self, a: list[Vector], q: list[_Slopes], j: int) -> Matrix:
        """``a_j Σ_b a_b (q_j − q_b) / S`` of a group."""
        parts = [one * self.precision * (q[j].moved - other.moved)
                 for one, other in zip(a, q, strict=True)]  # fmt: skip
        return a[j] * reduce(add, parts)

    def _scaled(self, vectors: list[Matrix]) -> Matrix:
        """``Cov(state, y) / √S``, of states by their terms."""
        pairs = zip(vectors, self.variances, strict=True)
        scaled = array_namespace(self.place).concat(
            [r * (a * self.precision) ** 0.5 for r, a in pairs]
        )
        self.motion.fold(scaled)
        return scaled

    def _left(self, group: list[int]) -> Vector:
        """``(S − Σ a_b) / S`` of some terms: the share of all others and of the noise."""
        xp = array_namespace(self.place)
        others = (a for i, a in enumerate(self.variances) if i not in group)
        # the others are added up: S less its own variance would cancel
        left = sum(others, self.noise) * self.precision
        # a variance that is infinite makes the precision zero, and their product no number
        return xp.where(self.precision > 0.0, left, xp.ones_like(left))
