"""Kalman's filter for one Matérn process and a few thousand readings, in Python's floats.

A step of a state of one to three numbers is some forty operations on floats, and a call of an array
library costs as much as twenty. So where lanes would be short, the readings are walked along one by
one, and each is a lane of its own: `Filtered` has the beliefs before and the information after each
at once, and all that follows is one step of arrays as long as the line. Numba compiles the same
loops for lines of any length.

P has the entries ``p_ij`` with i ≤ j, and Λ likewise. The gap s carries them by the matrix U with
the rows ``1, s, s²/2``, ``0, 1, s`` and ``0, 0, 1``, and by the decay ``e^{−s}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeAlias, cast

import numpy as np

from ...ground import check as _check
from ...ground.class_tags import saved_as
from ...ground.numba_functions import compiled_functions
from ...ground.xp import (
    HostArray,
    HostMatrix,
    HostVector,
    Matrix,
    Numbers,
    Stack,
    Vector,
    as_host,
)
from .elementary_processes import MaternLeaf
from .kalman import Filtered
from .motion import Motion
from .parallel_scan import LOST, lanes_of

__all__ = ["Walked", "is_walked", "matern_size", "walked"]

_MOST = {1: 4000, 2: 4000, 3: 3000}  # readings up to which it is the faster way, by entries
_PAIRS = {2: ([0, 0, 1], [0, 1, 1]), 3: ([0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2])}

Rows: TypeAlias = list[tuple[float, ...]]
Steps: TypeAlias = Iterable[tuple[float, ...]]
Before: TypeAlias = tuple[tuple[float, ...], ...]


def is_walked(motion: Motion, times: Vector) -> bool:
    """Return True if this is the way for readings at these places."""
    size = matern_size(motion)
    return size > 0 and isinstance(times, np.ndarray) and times.shape[0] <= _MOST[size]


def matern_size(motion: Motion) -> int:
    """The number of entries of the one process that a state is of; zero where it is another."""
    leaves = [leaf for term in motion.terms for leaf in term.factors]
    return leaves[0].size if len(leaves) == 1 and type(leaves[0]) is MaternLeaf else 0


@saved_as("Kalman filter of one Matérn process")
@dataclass(frozen=True, eq=False)
class Walked(Filtered):
    """The same of one Matérn process, whose every reading is a lane.

    Parameters
    ----------
    lanes, mean, cov, precision, innovation
        As of `Filtered`.
    compiled : bool
        Whether Numba compiles the loops.
    """

    compiled: bool = False

    @cached_property
    def pull(self) -> Matrix:
        """λ (D, N) after each reading."""
        own = self.precision[0, ...] * self.innovation[0, ...]
        # a state of one entry is walked as one of two, the second zero: it needs no loop of its own
        size = max(self.mean.shape[1], 2)
        go = _means_of_two if size == 2 else _means_of_three
        return self._backwards(go, own, size)[: self.mean.shape[1]]

    @cached_property
    def shrinkage(self) -> Stack:
        """Λ (D, D, N) after each reading."""
        size = max(self.mean.shape[1], 2)
        go = _covariances_of_two if size == 2 else _covariances_of_three
        entries = self._backwards(go, self.precision[0, ...], len(_PAIRS[size][0]))
        return _symmetric(entries, size)[: self.mean.shape[1], : self.mean.shape[1]]

    def _backwards(self, loop: Callable[..., None], own: Vector, width: int) -> HostMatrix:
        """The columns of a loop from the last step to the second, with a number of each."""
        numbers = self.lanes.step(0).numbers[0][0][:2]
        gain = as_host(self.cov[0, 0, ...] * self.precision)
        below = [np.zeros_like(gain[0])] * (2 - len(gain))
        steps = [as_host(column)[:0:-1] for column in (*numbers, *gain, *below, own)]
        found = _columns(self.compiled, loop, (), steps, np.empty((width, self.lanes.count)))
        return found[:, ::-1].copy()


def walked(
    motion: Motion, times: Vector, readings: Vector, noise: Numbers, compiled: bool = False
) -> Walked:
    """Filter readings at ascending times one by one, O(N); the arguments are those of `lanes_of`.

    Raises
    ------
    ValueError
        If rounding leaves a reading no variance.
    """
    lanes = lanes_of(motion, times, readings, noise, length=1)
    step, size = lanes.step(0), max(motion.size, 2)
    m, P = (as_host(part) for part in lanes.first.belief)
    numbers, pairs = step.numbers[0][0][:2], _PAIRS[size]
    Q, P = _squared(as_host(cast(Stack, step.noise[0])), size), _squared(P, size)
    begun = (*np.append(m, 0.0)[:size].tolist(), *P[pairs][:, 0].tolist())
    given = (*numbers, *Q[pairs], lanes.readings[0, ...], lanes.noise[0])
    steps = [as_host(column)[1:] for column in given]
    found, loop = np.empty((len(begun) + 2, lanes.count)), _FILTERS[size]
    found[:, 0] = *begun, 0.0, float(lanes.readings[0, 0]) - begun[0]
    try:
        _columns(compiled, loop, (begun,), steps, found[:, 1:])
    except ZeroDivisionError as problem:
        raise _check.NoValueError(f"gp.noise_var must be larger: {LOST}") from problem
    d = motion.size
    cov = _symmetric(found[size:-2], size)[None, :d, :d]
    return Walked(lanes, found[None, :d], cov, found[None, -2], found[None, -1], compiled)


def _columns(
    compiled: bool, loop: Callable[..., None], before: Before, steps: list[HostVector],
    out: HostMatrix,
) -> HostMatrix:  # fmt: skip
    """Fill in the rows of a loop over steps as columns of `out`, and return it."""
    if compiled:
        names = _compiled()
        names["_fill"](names[loop.__name__], before, tuple(steps), out)
    elif out.shape[1]:
        rows: Rows = [()] * out.shape[1]
        loop(*before, zip(*(column.tolist() for column in steps), strict=True), rows)
        out[...] = np.array(rows).T
    return out


def _fill(
    loop: Callable[..., None], before: Before, steps: tuple[HostVector, ...], out: HostMatrix
) -> None:
    """The same for Numba."""
    loop(*before, zip(*steps), out.T)  # noqa: B905 - which Numba does not know


@cache
def _compiled() -> dict[str, Any]:
    """The loops compiled by Numba, once in each process."""
    parts: list[Callable[..., None]] = [*_FILTERS.values(), _means_of_two, _means_of_three]
    return compiled_functions(globals(), *parts, _covariances_of_two, _covariances_of_three, _fill)


def _squared(a: HostArray, size: int) -> HostArray:
    """A stack (D, D, N) with zeros below, in `size` rows."""
    below = size - a.shape[0]
    return np.pad(a, ((0, below), (0, below), (0, 0))) if below else a


def _symmetric(entries: HostMatrix, size: int) -> HostArray:
    """The matrices (D, D, N) of the entries on and above their diagonals."""
    full = np.empty((size, size, entries.shape[1]))
    i, j = _PAIRS[size]
    full[i, j], full[j, i] = entries, entries
    return full


def _filter_of_two(begun: tuple[float, ...], steps: Steps, rows: Rows) -> None:
    """Mean and covariance before each reading, ``1 / S`` and the innovation."""
    m0, m1, a, b, c = begun
    for t, (s, decay, q00, q01, q11, reading, noise) in enumerate(steps):
        m0, m1, square = decay * (m0 + s * m1), decay * m1, decay * decay
        # (U P Uᵀ)₀₀ is a + 2 s b + s² c
        lower = b + s * c
        a = square * (a + s * (b + lower)) + q00
        b, c = square * lower + q01, square * c + q11
        told, gap = 1.0 / (a + noise), reading - m0
        rows[t] = m0, m1, a, b, c, told, gap
        k0, k1 = a * told, b * told
        m0, m1 = m0 + k0 * gap, m1 + k1 * gap
        # the row of the signal by σ²/S, in which nothing cancels
        left = noise * told
        a, b, c = a * left, b * left, c - k1 * b


def _filter_of_three(begun: tuple[float, ...], steps: Steps, rows: Rows) -> None:
    """The same of three numbers."""
    m0, m1, m2, a, b, c, d, f, g = begun
    for t, (s, decay, q00, q01, q02, q11, q12, q22, reading, noise) in enumerate(steps):
        half, square = 0.5 * s * s, decay * decay
        m0, m1 = decay * (m0 + s * m1 + half * m2), decay * (m1 + s * m2)
        m2 *= decay
        # U P, whose rows are then carried in their turn
        right, corner = b + s * d + half * f, c + s * f + half * g
        low, lowest = d + s * f, f + s * g
        a = square * (a + s * (b + right) + half * (c + corner)) + q00
        b, c = square * (right + s * corner) + q01, square * corner + q02
        d, f = square * (low + s * lowest) + q11, square * lowest + q12
        g = square * g + q22
        told, gap = 1.0 / (a + noise), reading - m0
        rows[t] = m0, m1, m2, a, b, c, d, f, g, told, gap
        k0, k1, k2 = a * told, b * told, c * told
        m0, m1, m2 = m0 + k0 * gap, m1 + k1 * gap, m2 + k2 * gap
        left = noise * told
        d, f, g = d - k1 * b, f - k1 * c, g - k2 * c
        a, b, c = a * left, b * left, c * left


def _means_of_two(steps: Steps, rows: Rows) -> None:
    """λ after each reading, the last first."""
    l0 = l1 = 0.0
    rows[0] = l0, l1
    for t, (s, decay, k0, k1, own) in enumerate(steps, 1):
        l0 += own - k0 * l0 - k1 * l1
        l0, l1 = decay * l0, decay * (l1 + s * l0)
        rows[t] = l0, l1


def _means_of_three(steps: Steps, rows: Rows) -> None:
    """The same of three numbers."""
    l0 = l1 = l2 = 0.0
    rows[0] = l0, l1, l2
    for t, (s, decay, k0, k1, k2, own) in enumerate(steps, 1):
        l0 += own - k0 * l0 - k1 * l1 - k2 * l2
        # the last entry first: it takes of the others as they were
        l2 = decay * (l2 + s * l1 + 0.5 * s * s * l0)
        l0, l1 = decay * l0, decay * (l1 + s * l0)
        rows[t] = l0, l1, l2


def _covariances_of_two(steps: Steps, rows: Rows) -> None:
    """Λ after each reading, the last first."""
    a = b = c = 0.0
    rows[0] = a, b, c
    for t, (s, decay, k0, k1, told) in enumerate(steps, 1):
        p0, p1 = a * k0 + b * k1, b * k0 + c * k1
        # (I − g H)ᵀ Λ (I − g H) + HᵀH/S with H = (1, 0): all of it is in the first row
        a, b = a + told + k0 * p0 + k1 * p1 - 2.0 * p0, b - p1
        square, right = decay * decay, b + s * a
        a, b, c = square * a, square * right, square * (c + s * (b + right))
        rows[t] = a, b, c


def _covariances_of_three(steps: Steps, rows: Rows) -> None:
    """The same of three numbers."""
    a = b = c = d = f = g = 0.0
    rows[0] = a, b, c, d, f, g
    for t, (s, decay, k0, k1, k2, told) in enumerate(steps, 1):
        p0, p1 = a * k0 + b * k1 + c * k2, b * k0 + d * k1 + f * k2
        p2 = c * k0 + f * k1 + g * k2
        a += told + k0 * p0 + k1 * p1 + k2 * p2 - 2.0 * p0
        b, c = b - p1, c - p2
        # Λ U, whose columns are then carried in their turn
        half, square = 0.5 * s * s, decay * decay
        right, corner, low = b + s * a, c + s * b + half * a, f + s * d + half * b
        g = square * (g + s * (f + low) + half * (c + corner))
        d, f = square * (d + s * (b + right)), square * (low + s * corner)
        a, b, c = square * a, square * right, square * corner
        rows[t] = a, b, c, d, f, g


_FILTERS = {2: _filter_of_two, 3: _filter_of_three}
