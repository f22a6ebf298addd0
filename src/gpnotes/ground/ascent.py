"""The optimiser of all fits: an ascent on the host that ends, whatever it meets.

A line search tries points far from where it stands, and there a logarithm may stand for a zero, a
matrix may be singular, a sum may overflow. Such a point is no reason to give up: it is a wall. An
error of another kind is a slip in somebody's code, and is raised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from .in_step import ask, run_in_step
from .xp import HostMatrix, HostVector, Minimum, minimise

__all__ = ["UNEVALUABLE", "Ascent", "ascend", "ascend_all", "finite_or_none"]

_TOGETHER = 32  # ascents that are under way at the same time
_STEEP = 1e-2
_LARGEST = 1e150  # of a value or a slope: the optimiser sums squares
# what arithmetic raises, `_check.NoValueError` among it; other errors are no matter of the point
UNEVALUABLE = (ArithmeticError, np.linalg.LinAlgError)

Function = Callable[[HostVector], tuple[float, HostVector]]
Functions = Callable[[HostMatrix], tuple[HostVector, HostMatrix]]
Rows: TypeAlias = tuple[HostMatrix, HostVector]


class Ascent(NamedTuple):
    """The end of an ascent: its place, the value there, and the optimiser's message.

    Parameters
    ----------
    vector : HostVector, shape (n,)
        Where it ended.
    value : float
        The value there; minus infinity where the function could not be evaluated at the start.
    evaluations : int
        How many evaluations it took.
    converged : bool
        The optimiser's word for it that this is a top.
    message : str
        The optimiser's message, and the number of points without a value.
    """

    vector: HostVector
    value: float
    evaluations: int
    converged: bool
    message: str


def ascend(
    function: Function,
    start: HostVector,
    limits: HostMatrix,
    steps: int,
    ends: HostMatrix | None = None,
    units: HostVector | None = None,
    rows: Rows | None = None,
) -> Ascent:
    """Maximise a function by L-BFGS-B from a start, within limits; with `rows` by SLSQP.

    The function gives value and gradient at a vector (n,); limits (n, 2) may be infinite. An
    ascent that ends outside of `ends` (n, 2), or before a wall, is brought back and goes on within
    them; one that does not never notices them. It moves in `units` (n,), and so takes the same way
    in other units of the arguments: one that is no logarithm needs them. `rows` are A and b of
    ``A v ≤ b``, within which it stays, up to rounding; not with `ends` or `units`.

    Where `function` raises an `ArithmeticError` or a ``LinAlgError``, or is not finite,
    there is a wall: higher than all that was seen, but finite, since line searches interpolate.
    Other errors are raised. Where being brought back leads below the start, and the start lies
    within the ends, it begins once more from there, and stays within: the end is never lower than
    such a start.

    Examples
    --------
    >>> box = np.asarray([[0.5, 2.0], [-2.0, 2.0]])
    >>> ascend(lambda v: (-float(v @ v), -2.0 * v), np.ones(2), box, 9).vector
    array([0.5, 0. ])
    """
    moves = _Moves(_clipped(start, limits), limits, units)
    start, limits = moves.to(moves.start), moves.box(limits)
    ends = None if ends is None else moves.box(ends)
    walled = _Walled(function, moves)
    loss, _ = walled(start)  # kept for the optimiser, which asks for its start again
    if walled.problem:
        return Ascent(moves.start, -math.inf, 1, False, f"no value at the start: {walled.problem}")
    if not start.size:
        return Ascent(start, -loss, 1, True, "nothing is free")
    minimum = minimise(walled, start, limits, steps, rows)
    if rows is None and minimum.success and _is_steep(minimum, limits):
        # its memory of slopes far off made the last steps short: from here it begins without
        again = minimise(walled, minimum.x, limits, steps)
        minimum = again if again.fun < minimum.fun else minimum
    if ends is not None:
        box = np.where(np.isfinite(limits), limits, ends)  # what has no limit is held by its end
        minimum = _within(walled, minimum, box, steps)
        if minimum.fun > loss and np.array_equal(start, _clipped(start, box)):
            minimum = minimise(walled, start, box, steps)
    message = str(minimum.message)
    if walled.problem:
        points = "1 point" if walled.walls == 1 else f"{walled.walls} points"
        message += f"; {points} had no value, the last: {walled.problem}"
    vector = moves.at(minimum.x)
    if not np.isfinite(vector).all():  # its own step overflowed
        return Ascent(moves.start, -loss, walled.evaluations, False, message)
    success = bool(minimum.success)
    return Ascent(vector, -float(minimum.fun), walled.evaluations, success, message)


def ascend_all(
    function: Functions,
    starts: HostMatrix,
    limits: HostMatrix,
    steps: int,
    rows: tuple[HostMatrix, HostMatrix] | None = None,
) -> list[Ascent]:
    """Run `ascend` from many starts (m, n), with the function called at many points at once.

    It gives values (k,) and gradients (k, n) at points (k, n), one of each ascent that is still
    under way, of 32 at most. Of `rows` each start has its own b.

    A call at ten points costs hardly more than one at a single point. Where the function
    raises at a wall, it is called at each point alone. SciPy's optimisers call back, for one point
    at a time, so that ascents run `in_step`; SciPy's single steps are private and change.

    Examples
    --------
    >>> box = np.asarray([[0.5, 2.0]])
    >>> found = ascend_all(lambda v: (-(v[:, 0] ** 2), -2.0 * v), np.ones((2, 1)), box, 9)
    >>> [ascent.vector.tolist() for ascent in found]
    [[0.5], [0.5]]
    """

    def climb(i: int) -> Ascent:
        sides = None if rows is None else (rows[0], rows[1][i])
        # value and gradient, once all that are under way have asked for theirs
        return ascend(cast("Function", ask), starts[i], limits, steps, rows=sides)

    climbs = [partial(climb, i) for i in range(len(starts))]
    groups = (climbs[i : i + _TOGETHER] for i in range(0, len(starts), _TOGETHER))
    answers = partial(_answers, function)
    return [ascent for group in groups for ascent in run_in_step(group, answers, "points")]


_Answer: TypeAlias = tuple[float, HostVector] | Exception


def _answers(function: Functions, points: list[HostVector]) -> list[_Answer]:
    """Return value and gradient at each point, or the error that the function raised there."""
    if not points:
        return []
    try:
        # what an ascent ignores, its caller does not
        with np.errstate(all="ignore"):
            values, gradients = function(np.stack(points))
    except UNEVALUABLE as problem:
        if len(points) == 1:
            return [problem]
        return [answer for point in points for answer in _answers(function, [point])]
    return [(float(value), slope) for value, slope in zip(values, gradients, strict=True)]


def _within(walled: _Walled, minimum: Minimum, box: HostMatrix, steps: int) -> Minimum:
    """`minimum`, if it lies in the box and no wall stopped it; else that from the box's edge."""
    nearest = _clipped(minimum.x, box)
    outside = not np.array_equal(nearest, minimum.x)
    stopped = walled.problem and not minimum.success
    if not (stopped or outside):
        return minimum
    restarted = minimise(walled, nearest, box, steps)
    # from outside, whatever it is worth: that end is not wanted; before a wall, if it is better
    return restarted if outside or restarted.fun <= minimum.fun else minimum


def _is_steep(minimum: Minimum, limits: HostMatrix) -> bool:
    """Return whether a step uphill within the limits promises a hundredth of the value."""
    with np.errstate(invalid="ignore"):  # its own step may have overflowed
        way = _clipped(minimum.x - minimum.jac, limits) - minimum.x
    return bool(np.max(np.abs(way)) > _STEEP * max(1.0, abs(minimum.fun)))


def _clipped(vector: HostVector, box: HostMatrix) -> HostVector:
    """The nearest place in a box."""
    return np.clip(vector, box[:, 0], box[:, 1])


class _Moves:
    """Moves away from `start` in units; a unit of 1 changes no bit of a move."""

    def __init__(self, start: HostVector, limits: HostMatrix, units: HostVector | None) -> None:
        self.start = start
        self.units = np.ones(start.size) if units is None else units
        self._low, self._high = limits.T
        self._origin = np.where(self.units == 1.0, 0.0, start)

    def at(self, moves: HostVector) -> HostVector:
        """Where moves lead, within the limits."""
        return np.clip(self._origin + self.units * moves, self._low, self._high)

    def to(self, vector: HostVector) -> HostVector:
        """The moves that lead to a vector."""
        return (vector - self._origin) / self.units

    def box(self, box: HostMatrix) -> HostMatrix:
        """A box of moves."""
        return (box - self._origin[:, None]) / self.units[:, None]


def finite_or_none(function: Function, vector: HostVector) -> tuple[float, HostVector] | None:
    """Return value and gradient at a vector (n,), or None where an ascent would meet a wall.

    That is where either is not finite, or not below 1e150.
    """
    anywhere = np.tile([-math.inf, math.inf], (vector.size, 1))
    walled = _Walled(function, _Moves(vector, anywhere, None))
    loss, slopes = walled(vector)
    return None if walled.walls else (-loss, -slopes)


class _Walled:
    """The negative of a function of moves with walls, and a count of its evaluations."""

    def __init__(self, function: Function, moves: _Moves) -> None:
        self._function, self._moves = function, moves
        self._last: tuple[HostVector, tuple[float, HostVector]] | None = None
        self._highest = 0.0
        self.evaluations = 0
        self.walls = 0
        self.problem = ""

    def __call__(self, moves: HostVector) -> tuple[float, HostVector]:
        """Loss and gradient; the last ones are kept, since the start is asked for twice."""
        if self._last is not None and np.array_equal(self._last[0], moves):
            return self._last[1]
        self.evaluations += 1
        try:
            with np.errstate(all="ignore"):  # here alone
                value, slopes = self._function(self._moves.at(moves))
                gradient = self._moves.units * slopes
        except UNEVALUABLE as problem:
            loss = self._wall(moves, str(problem))
        else:
            if np.max(np.abs(np.append(gradient, value))) < _LARGEST:  # NaN is not
                self._highest = max(self._highest, -value)
                loss = -value, -gradient
            else:
                loss = self._wall(moves, "value or gradient overflow")
        self._last = moves.copy(), loss
        return loss

    def _wall(self, moves: HostVector, problem: str) -> tuple[float, HostVector]:
        self.walls += 1
        self.problem = problem
        # above all losses seen, so that the line search turns back, and finite, since it puts a
        # polynomial through values and slopes; nothing is known of the slope
        return 2.0 * self._highest + 1.0, np.zeros_like(moves)
