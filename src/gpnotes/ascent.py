"""An ascent on the host that ends, whatever it meets: what all fits share.

A line search tries points far from where it stands, and there a logarithm may stand for a zero, a
matrix may be singular, a sum may overflow. Such a point is no reason to give up: it is a wall.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from . import _xp
from ._xp import HostMatrix, HostVector, Minimum

__all__ = ["Ascent", "ascend"]

_LARGEST = 1e150  # of a value or a slope: the optimiser sums squares
# what arithmetic raises; a wrong type or a lack of memory is no matter of the point
_UNEVALUABLE = (ValueError, ArithmeticError, RuntimeError)

Function = Callable[[HostVector], tuple[float, HostVector]]


class Ascent(NamedTuple):
    """Where an ascent ended, the value there, and what was said on the way.

    `value` is minus infinity where the function could not be evaluated at the start.
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
) -> Ascent:
    """Maximise by L-BFGS-B from `start` (n,) within `limits` (n, 2), in at most `steps` steps.

    `function` gives value and gradient. Where it raises a `ValueError`, an `ArithmeticError` or a
    `RuntimeError`, or gives what is not finite, there is a wall: higher than all that was seen, but
    finite, since line searches interpolate. An ascent that ends outside of `ends` (n, 2), or before
    a wall, is brought back and goes on within them; one that does not never notices them.

    >>> box = np.asarray([[0.5, 2.0], [-2.0, 2.0]])
    >>> ascend(lambda v: (-float(v @ v), -2.0 * v), np.ones(2), box, 9).vector
    array([0.5, 0. ])
    """
    start = np.clip(start, limits[:, 0], limits[:, 1])
    walled = _Walled(function)
    loss, _ = walled(start)
    if walled.problem:
        return Ascent(start, -math.inf, 1, False, f"no value at the start: {walled.problem}")
    if not start.size:
        return Ascent(start, -loss, 1, True, "nothing is free")
    minimum = _xp.minimise(walled, start, limits, steps)
    if ends is not None:
        box = np.where(np.isfinite(limits), limits, ends)
        minimum = _within(walled, minimum, box, steps)
    message = str(minimum.message)
    if walled.problem:
        points = "1 point" if walled.walls == 1 else f"{walled.walls} points"
        message += f"; {points} had no value, the last: {walled.problem}"
    success = bool(minimum.success)
    return Ascent(minimum.x, -float(minimum.fun), walled.evaluations, success, message)


def _within(walled: _Walled, minimum: Minimum, box: HostMatrix, steps: int) -> Minimum:
    """`minimum`, if it lies in the box and no wall stopped it; else that from the box's edge."""
    nearest = np.clip(minimum.x, box[:, 0], box[:, 1])
    outside = not np.array_equal(nearest, minimum.x)
    stopped = walled.problem and not minimum.success
    if not (stopped or outside):
        return minimum
    restarted = _xp.minimise(walled, nearest, box, steps)
    return restarted if outside or restarted.fun <= minimum.fun else minimum


class _Walled:
    """The negative of a function with walls, and a count of its evaluations."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._last: tuple[HostVector, tuple[float, HostVector]] | None = None
        self._highest = 0.0
        self.evaluations = 0
        self.walls = 0
        self.problem = ""

    def __call__(self, vector: HostVector) -> tuple[float, HostVector]:
        """Loss and gradient; the last ones are kept, since the start is asked for twice."""
        if self._last is None or not np.array_equal(self._last[0], vector):
            self._last = vector.copy(), self._loss(vector)
        return self._last[1]

    def _loss(self, vector: HostVector) -> tuple[float, HostVector]:
        self.evaluations += 1
        try:
            with np.errstate(all="ignore"):  # of this thread alone
                value, gradient = self._function(vector)
        except _UNEVALUABLE as problem:
            return self._wall(vector, str(problem))
        if not np.max(np.abs(np.append(gradient, value))) < _LARGEST:  # NaN is not either
            return self._wall(vector, "value or gradient overflow")
        self._highest = max(self._highest, -value)
        return -value, -gradient

    def _wall(self, vector: HostVector, problem: str) -> tuple[float, HostVector]:
        self.walls += 1
        self.problem = problem
        return 2.0 * self._highest + 1.0, np.zeros_like(vector)
