"""Sums and products of processes on a line, as one motion of one state.

The state of a sum is the states of its terms, one below the other, and that of a product the
Kronecker product of those of its factors: an entry of a term is a row of all
factors' states, and a factor moves its own rows alone. So a step costs D numbers times the rows
carried, not D².

Two straight lines that are added are known far from zero by their sum alone: the filter
would see 10¹⁸ less 10¹⁸. So a term that grows carries those whose states move as a part of its own
does: its rows are those of their sum. None of the carried is then seen but through it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce

from ...ground import check as _check
from ...ground.xp import Array, Matrix, Stack, Vector, array_namespace
from .elementary_processes import (
    Apart,
    Bend,
    Leaf,
    Level,
    Line,
    MaternLeaf,
    Prepared,
    kron,
    matrix_of,
    outer,
)
from .matern_sde import FAR

__all__ = ["FARTHEST", "Motion", "ProductTerm", "Step", "narrow", "signal"]

FARTHEST = 1e30
"""A gap that squares and cubes of do not overflow, in float32 squares alone."""


@dataclass(frozen=True)
class ProductTerm:
    """A product of simple processes, times a variance.

    Parameters
    ----------
    factors : tuple of Leaf
        The processes.
    variance : float
        The factor of their product.
    """

    factors: tuple[Leaf, ...]
    variance: float

    @property
    def size(self) -> int:
        """The number of entries of a state."""
        return math.prod(factor.size for factor in self.factors)

    @property
    def grows(self) -> bool:
        """It varies without bound along the line."""
        return any(factor.grows for factor in self.factors)

    @property
    def lasts(self) -> bool:
        """It moves, and still knows its state after the longest gap: a slow one, or a wave."""
        moving = [factor for factor in self.factors if not isinstance(factor, Level)]
        forgets = (isinstance(f, MaternLeaf) and f.rate >= FAR / FARTHEST for f in moving)
        return bool(moving) and not any(forgets)

    @property
    def bent_from(self) -> float | None:
        """The place from which it grows along a bent way; None where it does not."""
        for factor in self.factors:
            if isinstance(factor, Bend):
                return factor.origin
        lines = sum(isinstance(factor, Line) for factor in self.factors)
        return 0.0 if lines > 1 else None

    def carries(self, other: ProductTerm) -> bool:
        """Its first rows can move as a state of the other does.

        Both have the same last factors; before them it has lines alone, whose slopes may be zero.
        """
        own, wanted = self._kinds, other._kinds
        rest = len(own) - len(wanted)
        return rest >= 0 and own[rest:] == wanted and all(kind is Line for kind in own[:rest])

    @property
    def _kinds(self) -> list[object]:
        """The kinds of motion of its factors but for those that stay: all lines alike."""
        factors = (factor for factor in self.factors if not isinstance(factor, Level))
        return [Line if isinstance(factor, Line) else factor for factor in factors]

    def rows(self, which: int, M: Array) -> Iterator[Array]:
        """The rows of M (D, …) that make states of one factor, as views."""
        sizes = [factor.size for factor in self.factors]
        own, right = sizes[which], math.prod(sizes[which + 1 :])
        for i in range(math.prod(sizes[:which])):
            for k in range(right):
                # in a Kronecker product the entries of one factor lie `right` apart
                start = i * own * right + k
                yield M[start : (i + 1) * own * right : right, ...]

    def prior(self, x: Vector) -> Stack:
        """The covariance of a state at places x, (D, D, B) or (D, D, 1)."""
        return self.variance * reduce(kron, (factor.prior(x) for factor in self.factors))

    def apart(self, numbers: list[Prepared], x: Vector, place: Vector) -> Apart:
        """A state at places x and at a later one, as of a `Leaf`."""
        own, shared, both, r, end = self.factors[0].apart(numbers[0], x, place)
        for factor, of in zip(self.factors[1:], numbers[1:], strict=True):
            one = factor.apart(of, x, place)
            # (G + r rᵀ) ⊗ (G′ + r′ r′ᵀ) less r rᵀ ⊗ r′ r′ᵀ, without the difference
            own = kron(own, one.own + outer(one.r, one.r)) + kron(outer(r, r), one.own)
            shared = kron(shared, one.both) + kron(outer(r, end), one.shared)
            both = kron(both, one.both)
            r, end = _vectors(r, one.r), _vectors(end, one.end)
        root = math.sqrt(self.variance)
        return Apart(
            self.variance * own, self.variance * shared, self.variance * both, root * r, root * end
        )

    def noise(self, numbers: list[Prepared], x: Vector) -> Stack | None:
        """Return the noise on the way to places x: ``Q₁ ⊗ P₂ + (P₁ − Q₁) ⊗ Q₂``."""
        Q = self.factors[0].noise(numbers[0])
        if len(self.factors) == 1:
            return None if Q is None else self.variance * Q
        P = self.factors[0].prior(x)
        for factor, of in zip(self.factors[1:], numbers[1:], strict=True):
            other, more = factor.prior(x), factor.noise(of)
            rest = P if Q is None else P - Q
            both = None if Q is None else kron(Q, other)
            if more is not None:
                both = kron(rest, more) if both is None else both + kron(rest, more)
            P, Q = kron(P, other), both
        return None if Q is None else self.variance * Q

    def generator(self, which: int) -> list[tuple[int, int, float]]:
        """The entries of ``I ⊗ G ⊗ I`` of one factor."""
        sizes = [factor.size for factor in self.factors]
        own, right = sizes[which], math.prod(sizes[which + 1 :])
        return [
            ((i * own + entry.row) * right + k, (i * own + entry.column) * right + k, entry.value)
            for i in range(math.prod(sizes[:which]))
            for k in range(right)
            for entry in self.factors[which].generator
        ]

    def drive(self, which: int, x: Vector) -> Stack | None:
        """``P ⊗ L ⊗ P``: the intensity of one factor's noise among the priors of the others."""
        leaf = self.factors[which]
        if not leaf.drive:
            return None
        others = [factor.prior(x) for factor in self.factors]
        others[which] = matrix_of(leaf.drive, leaf.size, x)
        return self.variance * reduce(kron, others)


def _vectors(a: Matrix, b: Matrix) -> Matrix:
    """The Kronecker product of each pair of vectors."""
    return array_namespace(a).reshape(outer(a, b), (-1, a.shape[-1]))


@dataclass(frozen=True)
class Motion:
    """The motion of the state of a sum of terms; the signal is the sum of first entries, `seen`.

    Parameters
    ----------
    terms : tuple of ProductTerm
        The terms, at least one.
    """

    terms: tuple[ProductTerm, ...]

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """The rows of each term's state."""
        ends = [sum(term.size for term in self.terms[: i + 1]) for i in range(len(self.terms))]
        return tuple(slice(end - t.size, end) for end, t in zip(ends, self.terms, strict=True))

    @property
    def size(self) -> int:
        """D, how many numbers a state has."""
        return self.blocks[-1].stop

    @cached_property
    def carriers(self) -> tuple[int | None, ...]:
        """For each term the one whose first rows have its state added; None for most."""
        found: list[int | None] = [None] * len(self.terms)
        able: list[int] = []
        # the largest first: a term is carried by one with at least as many rows
        for i in sorted(range(len(self.terms)), key=self._reluctance):
            term = self.terms[i]
            found[i] = next((k for k in able if self.terms[k].carries(term)), None)
            if found[i] is None and term.grows:
                able.append(i)
        return tuple(found)

    def _reluctance(self, i: int) -> tuple[int, bool]:
        return -self.terms[i].size, not self.terms[i].grows

    @cached_property
    def told(self) -> tuple[slice, ...]:
        """The rows by which later readings see each term: its own, or some of its carrier's."""
        starts = (
            own.start if k is None else self.blocks[k].start
            for own, k in zip(self.blocks, self.carriers, strict=True)
        )
        return tuple(slice(i, i + t.size) for i, t in zip(starts, self.terms, strict=True))

    def carried(self, which: int) -> list[int]:
        """The terms that a term carries."""
        return [i for i, k in enumerate(self.carriers) if k == which]

    def entries(self, which: int, row: int) -> tuple[int, ...]:
        """The entries of a state that sum to one of a term's own, ``~i`` one to be taken away."""
        less = [self.blocks[i].start + row for i in self.carried(which)
                if row < self.terms[i].size]  # fmt: skip
        return self.blocks[which].start + row, *(~i for i in less)

    def sum_of(self, which: list[int]) -> tuple[int, ...]:
        """The entries of a state whose sum is that of some terms, as of `entries`."""
        found: list[int] = []
        for i in which:
            if self.carriers[i] not in which:
                left = [~self.blocks[k].start for k in self.carried(i) if k not in which]
                found += [self.blocks[i].start, *left]
        return tuple(found)

    @cached_property
    def seen(self) -> tuple[int, ...]:
        """The entries of a state whose sum is the signal."""
        return self.sum_of([*range(len(self.terms))])

    def fold(self, M: Array) -> None:
        """Add the rows of the states of carried terms to those of their carriers, in M (D, …)."""
        for own, rows, k in zip(self.blocks, self.told, self.carriers, strict=True):
            if k is not None:
                M[rows, ...] += M[own, ...]

    @cached_property
    def grows(self) -> bool:
        """A term varies without bound along the line."""
        return any(term.grows for term in self.terms)

    @cached_property
    def lasts(self) -> bool:
        """A term has not forgotten its state after the longest gap."""
        return any(term.lasts for term in self.terms)

    @cached_property
    def bent_from(self) -> list[float]:
        """The places from which terms grow along bent ways."""
        return [place for term in self.terms if (place := term.bent_from) is not None]

    def require_reach(self, x: Vector, name: str) -> None:
        """Raise, naming the first, for places x (m,) at which a term that grows may overflow.

        Or one that is as slow as that, or a wave, for which a gap of that length is not all gaps.
        """
        xp = array_namespace(x)
        if not (self.grows or self.lasts) or bool(xp.all(xp.abs(x) <= FARTHEST)):
            return
        # the array API has no argmax of truths
        far = int(xp.argmax(xp.astype(xp.abs(x) > FARTHEST, xp.int8)))
        wanted, why = f"lie within {FARTHEST:g} of zero on a line", "whose lengthscale is as long"
        if not any(isinstance(f, MaternLeaf) for t in self.terms if t.lasts for f in t.factors):
            why = "on which a wave, of Cosine or Periodic, never ends"
        if self.grows:
            why = "that Linear or a Wiener process is on, as its squares overflow"
        place = f"got {float(x[far]):g} in row {far}; measure it in another unit"
        raise _check.NoValueError(f"{name} must {wanted} {why}; {place}")

    def at(self, gaps: Vector, x: Vector, longest: float) -> Step:
        """A step over gaps (B,), none longer than `longest`, to places x (B,)."""
        return Step(self, x, [[f.numbers(gaps, longest) for f in t.factors] for t in self.terms])


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a motion, with numbers computed for it once.

    Parameters
    ----------
    motion : Motion
        The motion.
    x : Vector, shape (B,)
        Where it leads.
    numbers : list
        For each factor of each term.
    """

    motion: Motion
    x: Vector
    numbers: list[list[Prepared]]

    def up(self, M: Array) -> None:
        """Put ``F M`` in the place of M (D, …, B)."""
        for block, term, numbers in zip(
            self.motion.blocks, self.motion.terms, self.numbers, strict=True
        ):
            for which, leaf in enumerate(term.factors):
                for rows in term.rows(which, M[block, ...]):
                    leaf.up(numbers[which], rows)

    def down(self, M: Array) -> None:
        """Put ``Fᵀ M`` in the place of M."""
        for block, term, numbers in zip(
            self.motion.blocks, self.motion.terms, self.numbers, strict=True
        ):
            for which, leaf in enumerate(term.factors):
                for rows in term.rows(which, M[block, ...]):
                    leaf.down(numbers[which], rows)

    @cached_property
    def noise(self) -> list[Stack | None]:
        """The noise in the state of each term; None where there never is any."""
        terms = zip(self.motion.terms, self.numbers, strict=True)
        return [term.noise(numbers, self.x) for term, numbers in terms]

    def add_noise(self, P: Stack) -> None:
        """Put ``P + Q`` in the place of P (D, D, B)."""
        for own, rows, Q in zip(self.motion.blocks, self.motion.told, self.noise, strict=True):
            if Q is None:
                continue
            P[own, own, ...] += Q
            if rows != own:
                # the rows of the carrier are those of the sum, and the noise is in that as well
                P[rows, rows, ...] += Q
                P[rows, own, ...] += Q
                P[own, rows, ...] += Q

    def carry(self, P: Stack) -> None:
        """Put ``F P Fᵀ`` in the place of P."""
        self.up(P)
        self.up(array_namespace(P).permute_dims(P, (1, 0, 2)))  # a view

    def carry_back(self, P: Stack) -> None:
        """Put ``Fᵀ P F`` in the place of P."""
        self.down(P)
        self.down(array_namespace(P).permute_dims(P, (1, 0, 2)))


def signal(M: Array, seen: tuple[int, ...]) -> Array:
    """``H M`` for M (D, …): the sum of the rows that are seen, ``~i`` a row to be taken away."""
    total = M[seen[0], ...] if seen[0] >= 0 else -M[~seen[0], ...]
    for i in seen[1:]:
        total = total + M[i, ...] if i >= 0 else total - M[~i, ...]
    return total


def narrow(
    P: Stack, shared: Matrix, precision: Vector, noise: Array, seen: tuple[int, ...]
) -> None:  # fmt: skip
    """Overwrite a covariance P (D, D, B) by that after a reading, ``P − P Hᵀ H P / S``.

    Where the signal is one entry, its row is ``H P σ²/S``, in which nothing cancels.

    Parameters
    ----------
    shared : Matrix, shape (D, B)
        ``P Hᵀ``, which may be a row of P.
    precision, noise : Vector, shape (B,)
        ``1 / S``, and σ², the variance of the noise; infinite noise tells nothing.
    seen : tuple of int
        The entries whose sum is the signal.
    """
    xp, told = array_namespace(P), precision > 0.0
    # noise of a reading never made is infinite, and times a precision of zero no number
    none = xp.ones_like(precision)
    # before P changes: where one entry is seen, `shared` is a view of a row of it
    kept = shared * xp.where(told, xp.where(told, noise, none) * precision, none)
    P -= (shared * precision)[:, None, :] * shared[None, :, :]
    if len(seen) == 1:
        P[seen[0], ...] = kept
        P[:, seen[0], ...] = kept
