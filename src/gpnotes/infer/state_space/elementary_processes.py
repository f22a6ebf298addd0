"""The simplest processes on a line that a few numbers carry: of these sums and products are made.

A state x moves over a gap s by ``F(s)``, and noise of covariance Q enters. The process itself, of
variance one where it has one, is the first entry. Arrays are (…, B), a gap a column, and a state's
rows are changed in place. A rate is how fast a process runs: ``s = rate · gap``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from ...ground.xp import Array, Matrix, Namespace, Stack, Vector, array_namespace, as_array
from .matern_sde import FAR, MaternMotion

__all__ = [
    "Apart", "Bend", "Entry", "Leaf", "Level", "Line", "MaternLeaf", "Prepared", "Walk", "Wave",
    "kron", "matrix_of", "outer",
]  # fmt: skip


Prepared: TypeAlias = tuple[Any, ...]
"""What a step over gaps is worked out from: each process knows what of."""


class Entry(NamedTuple):
    """An entry of a small matrix that is not zero."""

    row: int
    column: int
    value: float


class Apart(NamedTuple):
    """The states at places x and at a later one, given the value v at the later one.

    Parameters
    ----------
    own : Stack, shape (D, D, B)
        The covariance of a state at x where v is known.
    shared : Stack, shape (D, D, B)
        Its covariance with the state at the later place where v is known.
    both : Stack, shape (D, D, B)
        The same where nothing is known.
    r : Matrix, shape (D, B)
        ``Cov(state, v) / √Var(v)``, and zero where v does not vary.
    end : Matrix, shape (D, 1)
        The same at the later place.
    """

    own: Stack
    shared: Stack
    both: Stack
    r: Matrix
    end: Matrix


@dataclass(frozen=True)
class Leaf(ABC):
    """A process that is no sum or product of others.

    Parameters
    ----------
    rate : float
        The time of its own that a unit of the inputs is.
    """

    rate: float

    @property
    @abstractmethod
    def size(self) -> int:
        """D, how many numbers a state has."""

    @property
    def generator(self) -> tuple[Entry, ...]:
        """G, with ``dF/ds = G F``."""
        return ()

    @property
    def drive(self) -> tuple[Entry, ...]:
        """``−(G P + P Gᵀ)`` with the prior covariance P: the intensity of the noise."""
        return ()

    @property
    def grows(self) -> bool:
        """It varies without bound along the line, as by squares and cubes of a place."""
        return False

    @abstractmethod
    def numbers(self, gaps: Vector, longest: float) -> Prepared:
        """Return the numbers behind a step over gaps (B,), none longer than `longest`."""

    @abstractmethod
    def up(self, numbers: Prepared, M: Array) -> None:
        """Put ``F M`` in the place of M (D, …, B)."""

    @abstractmethod
    def down(self, numbers: Prepared, M: Array) -> None:
        """Put ``Fᵀ M`` in the place of M."""

    def noise(self, numbers: Prepared) -> Stack | None:
        """Q (D, D, B); None where no noise ever enters."""
        return None

    @abstractmethod
    def prior(self, x: Vector) -> Stack:
        """The covariance of a state at places x before any reading, (D, D, B) or (D, D, 1)."""

    def apart(self, numbers: Prepared, x: Vector, place: Vector) -> Apart:
        """Return the states at places x (B,) and at a later `place` (1,), given the value there.

        `numbers` are of the step from x to there.
        """
        xp = array_namespace(x)
        own, there = self.prior(x) + xp.zeros_like(x), self.prior(place)
        # a copy, which `up` changes; the covariance at x itself is needed below
        moved = xp.asarray(own, copy=True)
        self.up(numbers, moved)
        # F P has the later state in its rows: turned, it is of the state at x with the later one
        both = xp.permute_dims(moved, (1, 0, 2))
        r, end = both[:, 0, :], there[:, 0, :]  # the variance there is one
        return Apart(own - outer(r, r), both - outer(r, end), both, r, end)

    def moved(self, gaps: Vector) -> Vector:
        """The gaps that a change of the rate changes something of."""
        return gaps


_MATERN = {size: MaternMotion(size) for size in (1, 2, 3)}


@dataclass(frozen=True)
class MaternLeaf(Leaf):
    """A Matérn process of D entries, ν = D − ½, with the rate ``√(2ν) / ℓ``."""

    entries: int

    @property
    def size(self) -> int:
        """D."""
        return self.entries

    @property
    def _motion(self) -> MaternMotion:
        return _MATERN[self.entries]

    @property
    def generator(self) -> tuple[Entry, ...]:
        """G."""
        d = self.entries
        return tuple(Entry(i, j, -1.0 if i == j else 1.0) for i in range(d)
                     for j in range(i, min(i + 2, d)))  # fmt: skip

    @property
    def drive(self) -> tuple[Entry, ...]:
        """The intensity of its noise."""
        return (Entry(self.entries - 1, self.entries - 1, self._motion.drive),)

    def numbers(self, gaps: Vector, longest: float) -> Prepared:
        """Return the numbers behind a step."""
        xp, longest = array_namespace(gaps), self.rate * longest
        if longest > FAR:  # nothing is left of it, not inf · 0
            gaps, longest = xp.clip(gaps, None, FAR / self.rate), FAR
        s = self.rate * gaps
        return s, xp.exp(-s), longest

    def up(self, numbers: Prepared, M: Array) -> None:
        """Put ``F M`` in the place of M."""
        s, decay, _ = numbers
        self._motion.up(s, M)
        M *= decay

    def down(self, numbers: Prepared, M: Array) -> None:
        """Put ``Fᵀ M`` in the place of M."""
        s, decay, _ = numbers
        self._motion.down(s, M)
        M *= decay

    def noise(self, numbers: Prepared) -> Stack:
        """Q of a step."""
        s, decay, longest = numbers
        return self._motion.noise(s, decay * decay, longest)

    def prior(self, x: Vector) -> Stack:
        """The covariance of a state before any reading."""
        return as_array(self._motion.prior, x)[:, :, None]

    def moved(self, gaps: Vector) -> Vector:
        """The gaps after which something is left of a state."""
        xp = array_namespace(gaps)
        return xp.where(gaps < FAR / self.rate, gaps, xp.zeros_like(gaps))


@dataclass(frozen=True)
class Wave(Leaf):
    """A wave of a random amplitude and phase: its state turns, and no noise enters."""

    @property
    def size(self) -> int:
        """D."""
        return 2

    @property
    def generator(self) -> tuple[Entry, ...]:
        """G."""
        return Entry(0, 1, 1.0), Entry(1, 0, -1.0)

    def numbers(self, gaps: Vector, longest: float) -> Prepared:
        """Return the numbers behind a step."""
        xp, angle = array_namespace(gaps), self.rate * gaps
        return xp.cos(angle), xp.sin(angle)

    def up(self, numbers: Prepared, M: Array) -> None:
        """Put ``F M`` in the place of M."""
        cos, sin = numbers
        first = cos * M[0, ...] + sin * M[1, ...]
        M[1, ...] = cos * M[1, ...] - sin * M[0, ...]
        M[0, ...] = first

    def down(self, numbers: Prepared, M: Array) -> None:
        """Put ``Fᵀ M`` in the place of M."""
        cos, sin = numbers
        # the transpose of a rotation turns the other way
        self.up((cos, -sin), M)

    def prior(self, x: Vector) -> Stack:
        """The covariance of a state before any reading."""
        return as_array([[1.0, 0.0], [0.0, 1.0]], x)[:, :, None]


@dataclass(frozen=True)
class Level(Leaf):
    """A number that stays."""

    @property
    def size(self) -> int:
        """D."""
        return 1

    def numbers(self, gaps: Vector, longest: float) -> Prepared:
        """Return the numbers behind a step."""
        return ()

    def up(self, numbers: Prepared, M: Array) -> None:
        """Put ``F M`` in the place of M."""
        return

    def down(self, numbers: Prepared, M: Array) -> None:
        """Put ``Fᵀ M`` in the place of M."""
        return

    def prior(self, x: Vector) -> Stack:
        """The covariance of a state before any reading."""
        return as_array([[1.0]], x)[:, :, None]


@dataclass(frozen=True)
class Line(Leaf):
    """A straight line through zero: its value and its slope."""

    @property
    def size(self) -> int:
        """D."""
        return 2

    @property
    def grows(self) -> bool:
        """It does."""
        return True

    def numbers(self, gaps: Vector, longest: float) -> Prepared:
        """Return the numbers behind a step."""
        return (gaps,)

    def up(self, numbers: Prepared, M: Array) -> None:
        """Put ``F M`` in the place of M."""
        M[0, ...] += numbers[0] * M[1, ...]

    def down(self, numbers: Prepared, M: Array) -> None:
        """Put ``Fᵀ M`` in the place of M."""
        M[1, ...] += numbers[0] * M[0, ...]

    def prior(self, x: Vector) -> Stack:
        """The covariance of a state before any reading."""
        xp, one = array_namespace(x), array_namespace(x).ones_like(x)
        return _square([[x * x, x], [x, one]], xp)

    def apart(self, numbers: Prepared, x: Vector, place: Vector) -> Apart:
        """The slope by the value: nothing else is open, but at zero, which tells nothing of it."""
        r, end = self._ray(x), self._ray(place)
        own, both = outer(r, r), outer(r, end)
        side = array_namespace(x).sign(place)
        open_ = 1.0 - side * side
        return Apart(open_ * own, open_ * both, both, side * r, side * end)

    @staticmethod
    def _ray(x: Vector) -> Matrix:
        xp = array_namespace(x)
        return xp.stack([x, xp.ones_like(x)])


@dataclass(frozen=True)
class Bend(Line):
    """Brownian motion and its integral, both zero at the origin: a value and its slope.

    Parameters
    ----------
    origin : float
        Where they start.
    """

    origin: float = 0.0

    def noise(self, numbers: Prepared) -> Stack:
        """Q of a step."""
        # what enters over a gap is the same motion, begun anew with nothing at the start of it
        return self._grown(numbers[0])

    def prior(self, x: Vector) -> Stack:
        """The covariance of a state before any reading."""
        return self._grown(array_namespace(x).clip(x - self.origin, 0.0, None))

    def apart(self, numbers: Prepared, x: Vector, place: Vector) -> Apart:
        """Polynomials of the times from the origin to x, s, and on to the place, h."""
        xp = array_namespace(x)
        s, whole = (xp.clip(a - self.origin, 0.0, None) for a in (x, place))
        h = numbers[0]
        across = s * s * h * (0.5 * h * h - 0.25 * s * s)
        own = _square([[s**3 * h * h * (0.25 * s + h / 3.0), across],
                       [across, s * (0.25 * s**3 + h**3)]], xp)  # fmt: skip
        bent, none = 0.5 * s * (0.5 * s - h), xp.zeros_like(s)
        shared = _square([[none, -0.25 * h * s * s], [none, bent]], xp)
        half = 0.5 * s * s
        both = _square([[s * s * s / 3.0 + h * half, half], [half + h * s, s]], xp)
        there = xp.stack([whole * whole * whole / 3.0, 0.5 * whole * whole])
        root = (whole * whole * whole / 3.0) ** 0.5
        r, end = _per(both[:, 0, :], root), _per(there, root)
        return Apart(_per(own, whole**3), _per(shared, whole), both, r, end)

    @staticmethod
    def _grown(s: Vector) -> Stack:
        half = 0.5 * s * s
        return _square([[s * s * s / 3.0, half], [half, s]], array_namespace(s))


@dataclass(frozen=True)
class Walk(Level):
    """Brownian motion, zero at the origin.

    Parameters
    ----------
    origin : float
        Where it starts.
    """

    origin: float = 0.0

    @property
    def grows(self) -> bool:
        """It does."""
        return True

    def numbers(self, gaps: Vector, longest: float) -> Prepared:
        """Return the numbers behind a step."""
        return (gaps,)

    def noise(self, numbers: Prepared) -> Stack:
        """Q of a step."""
        return numbers[0][None, None, :]

    def prior(self, x: Vector) -> Stack:
        """The covariance of a state before any reading."""
        return array_namespace(x).clip(x - self.origin, 0.0, None)[None, None, :]

    def apart(self, numbers: Prepared, x: Vector, place: Vector) -> Apart:
        """A bridge: with the times s to x, h on to the place and w in all, ``s h / w`` is open."""
        xp = array_namespace(x)
        s, whole = (xp.clip(a - self.origin, 0.0, None) for a in (x, place))
        own, both = _per(s * numbers[0], whole)[None, None, :], s[None, None, :]
        r, end = _per(s, whole**0.5)[None, :], (whole**0.5)[None, :]
        return Apart(own, xp.zeros_like(own), both, r, end)


def outer(a: Matrix, b: Matrix) -> Stack:
    """``a bᵀ`` of each pair of vectors, (D, B) and (E, B)."""
    return a[:, None, :] * b[None, :, :]


def _per(a: Array, b: Array) -> Array:
    """``a / b``, and nothing where b is."""
    xp = array_namespace(a)
    # both are replaced: `where` has its two sides worked out, also where they do not count
    return xp.where(b > 0.0, a, xp.zeros_like(a)) / xp.where(b > 0.0, b, xp.ones_like(b))


def _square(rows: list[list[Vector]], xp: Namespace) -> Stack:
    return xp.stack([xp.stack(row) for row in rows])


def kron(a: Stack, b: Stack) -> Stack:
    """The Kronecker product of each pair of matrices, (D, D, B) and (E, E, B)."""
    xp = array_namespace(a)
    both = a[:, None, :, None, :] * b[None, :, None, :, :]
    size = a.shape[0] * b.shape[0]
    return xp.reshape(both, (size, size, both.shape[-1]))


def matrix_of(entries: tuple[Entry, ...], size: int, like: Matrix) -> Stack:
    """A small matrix by its entries, (D, D, 1)."""
    rows = [[0.0] * size for _ in range(size)]
    for entry in entries:
        rows[entry.row][entry.column] += entry.value
    return as_array(rows, like)[:, :, None]
