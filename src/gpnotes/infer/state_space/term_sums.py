"""The derivatives of the evidence by a term of a sum, added up on the way back along a line."""

from __future__ import annotations

from ...ground.xp import Array, Matrix, Stack, Vector, array_namespace
from .as_terms import TermBar
from .motion import ProductTerm, signal

__all__ = ["TermSums"]


class TermSums:
    """The terms of the steps in the derivatives by the variance and the rates of a term.

    With ``W = ½ (λλᵀ − Λ)``, the derivative by the covariance of a step, its noise Q, with the
    variance as a factor, gives ``tr(W Q)``. A rate makes all gaps longer: ``dm/ds = G m`` and
    ``dP/ds = G P + P Gᵀ + L``.

    Parameters
    ----------
    term : ProductTerm
        The term.
    told : slice
        The rows of its state in the information of later readings.
    entries : list of tuple of int
        For each number of its state the entries of the whole that sum to it, as of
        `Motion.entries`.
    """

    def __init__(self, term: ProductTerm, told: slice, entries: list[tuple[int, ...]]) -> None:
        self._term, self._block, self._entries = term, told, entries
        self._by_noise = 0.0
        self._rates = [0.0] * len(term.factors)

    @property
    def bar(self) -> TermBar:
        """The derivatives: by the variance, and by the rate of each factor."""
        return TermBar(self._by_noise / self._term.variance, tuple(self._rates))

    def add(
        self, x: Vector, gaps: Vector, Q: Stack | None, m: Matrix, P: Stack, late: Matrix,
        taken: Stack,
    ) -> None:  # fmt: skip
        """Add a step over gaps (B,) to places x that lets Q enter, and leads to m and P."""
        xp, block = array_namespace(x), self._block
        W = _derivative(late[block, ...], taken[block, block, ...])
        if Q is not None:
            self._by_noise += float(xp.sum(W * Q))
        for which, leaf in enumerate(self._term.factors):
            generator, L = self._term.generator(which), self._term.drive(which, x)
            if not generator:
                continue
            slope = xp.zeros_like(x) if L is None else xp.sum(xp.sum(W * L, axis=0), axis=0)
            for i, j, value in generator:
                slope = slope + value * self._moment(i, j, m, P, late, taken)
            self._rates[which] += float(xp.sum(leaf.moved(gaps) * slope))

    def add_first(self, unseen: Stack, late: Matrix, taken: Stack, share: float) -> None:
        """Add the covariance of the state at the first reading, ``G + r rᵀ`` as in `first_reading`.

        By G as by a noise, which only the readings behind λ and Λ see; by the value of
        the term, of variance a, ``½ (E(f² | y) / a − 1)``, with `share` the fraction.
        """
        block = self._block
        W = _derivative(late[block, ...], taken[block, block, ...])
        self._by_noise += float(array_namespace(W).sum(W * unseen)) + 0.5 * (share - 1.0)

    def _moment(
        self, i: int, j: int, m: Matrix, P: Stack, late: Matrix, taken: Stack
    ) -> Array:  # fmt: skip
        """``λᵢ (m + P λ)ⱼ − (Λ P)ᵢⱼ``."""
        xp, i, seen = array_namespace(m), self._block.start + i, self._entries[j]
        shared = signal(P, seen)
        state = signal(m, seen) + xp.sum(shared * late, axis=0)
        return late[i, ...] * state - xp.sum(taken[i, ...] * shared, axis=0)


def _derivative(late: Matrix, taken: Stack) -> Stack:
    return 0.5 * (late[:, None, :] * late[None, :, :] - taken)
