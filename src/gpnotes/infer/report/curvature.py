"""The curvature of an objective around the end of an ascent, and the entries that it determines.

The end of the ascent alone says nothing about its uncertainty; the objective around it
does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...ground.ascent import Function, finite_or_none
from ...ground.showing import summary
from ...ground.xp import HostMatrix, HostVector, symmetric_part

__all__ = ["FLAT_THRESHOLD", "ObjectiveSurvey", "survey"]

FLAT_THRESHOLD = 0.1  # nats: two objectives that differ by less are as good
_PART = 0.01  # the squared share from which on a parameter takes part in a direction,
_ALONE = 0.99  # and from which on it is the direction
_SHARP = 0.1  # of an error if the others are known: a difference is taken over no more
_FAR = 16.0  # how far a flat entry is followed: for logarithms, seven powers of ten
_NEAR = 0.05  # how closely its end is looked for: it is printed to one digit


class ObjectiveSurvey(NamedTuple):
    """The objective around the end of an ascent, entry by entry of the vector that it moved.

    Parameters
    ----------
    errors : HostVector, shape (p,)
        Standard errors, NaN where there is none.
    states : tuple of str
        ``"determined"`` has an error; a ``"flat"`` entry may lie anywhere from `low` to `high`,
        the others as they are, and ``"shared"`` ones may be moved together, at less than
        `FLAT_THRESHOLD`; at a ``"bound"`` the objective rises on the other side; in ``"open"`` ones
        there is no maximum, or none that rounding lets us see.
    low, high : HostVector, shape (p,)
        The ends of the range that is as good.
    gain : float
        The rise from the end to the top of a parabola through it.
    """

    errors: HostVector
    states: tuple[str, ...]
    low: HostVector
    high: HostVector
    gain: float

    def __repr__(self) -> str:
        return summary(self)


def survey(
    objective: Function, end: HostVector, sides: HostVector, units: HostVector, step: float
) -> ObjectiveSurvey:
    """Look at an objective around the end of an ascent: its curvature, and where it is flat.

    Parameters
    ----------
    objective : callable
        It gives value and gradient at a vector (p,).
    end : HostVector, shape (p,)
        Where the ascent ended.
    sides : HostVector, shape (p,)
        −1 or 1 where an entry has ended on its lower or upper bound, else 0.
    units : HostVector, shape (p,)
        The distances that are worth a look.
    step : float
        The step of differences of the gradient, in these units.

    Notes
    -----
    Near a maximum, J falls off as a parabola, ``J(v) ≈ J(end) − ½ (v − end)ᵀ H (v − end)``: given
    the readings, v is about normal with covariance H⁻¹, and the standard error of an entry is the
    root of its place on the diagonal of H⁻¹. H comes from central differences of the gradient over
    `step` in units of `units`, or less where J is sharper: 2p evaluations, or a few more. On
    average over readings H is the information, [eq-hp-information]; one over the root of *its*
    diagonal would be the error if the other entries were known, which is never larger.

    In these units, a direction is flat where J differs by less than `FLAT_THRESHOLD` between the
    end and places at a distance of 1 to either side; among logarithms that is a factor of e. It is
    J that is asked, not H, and if J says otherwise its curvature is taken over this distance. Flat
    directions are left out of H⁻¹: an entry that takes part in one has no error. Where an entry has
    ended on a bound and the slope beyond is `FLAT_THRESHOLD` or more, it is held there, and the
    errors of the others are those given it. In exact arithmetic H is symmetric. By how much it is
    not is taken for the rounding in it; curvature that is no larger has no error.

    Examples
    --------
    >>> def objective(v):
    ...     return -2.0 * v[0] ** 2, np.asarray([-4.0 * v[0], 0.0])
    >>> seen = survey(objective, np.zeros(2), np.zeros(2), np.ones(2), 1e-3)
    >>> seen.errors.round(3), seen.states
    (array([0.5, nan]), ('determined', 'flat'))
    """
    around = _Around(objective, end, units)
    held = sides * around.slope >= FLAT_THRESHOLD
    free, H, rounding = around.curvature(np.flatnonzero(~held), step)
    axes = _axes(around, free, H, rounding)
    states = np.full(end.size, "open", dtype=object)
    states[held] = "bound"
    states[free] = axes.states()
    errors = np.full(end.size, math.nan)
    errors[free] = np.sqrt(axes.variances())
    errors[states != "determined"] = math.nan
    low, high = (around.reaches(states == "flat", side) for side in (-1.0, 1.0))
    return ObjectiveSurvey(units * errors, tuple(states), low, high, axes.gain(around.slope[free]))


class _Around:
    """An objective around a place, in units in which a distance of 1 is worth a look."""

    def __init__(self, objective: Function, end: HostVector, units: HostVector) -> None:
        self._objective = objective
        self._end = end
        self._units = units
        self.value, self.slope = self.at(np.zeros(end.size))

    def at(self, away: HostVector) -> tuple[float, HostVector]:
        """Value and slope; minus infinity and NaN where there is none."""
        found = finite_or_none(self._objective, self._end + self._units * away)
        value, slope = found or (-math.inf, np.full(away.size, math.nan))
        return float(value), self._units * slope

    def drop(self, away: HostVector) -> float:
        """The difference by which the objective is lower there."""
        return self.value - self.at(away)[0]

    def looked_along(self, direction: HostVector) -> tuple[bool, float]:
        """Look along a direction: is it flat at a distance of 1, and how curved is the parabola?

        The parabola is that through the end and both places there; a side without an objective
        says nothing.
        """
        drops = [self.drop(side * direction) for side in (-1.0, 1.0)]
        there = [drop for drop in drops if math.isfinite(drop)]
        if not there:
            return False, -math.inf
        return max(map(abs, there)) < FLAT_THRESHOLD, 2.0 * sum(there) / len(there)

    def curvature(self, free: HostVector, step: float) -> tuple[HostVector, HostMatrix, float]:
        """Minus the second derivatives by those of the entries `free` around which there is an
        objective, and the rounding in them."""
        rows = [self._row(int(i), step)[free] for i in free]
        # the slopes are of the objective, and H is minus its second derivatives
        H = -np.asarray(rows).reshape(free.size, free.size)
        there = np.all(np.isfinite(H), axis=1)
        H = H[there][:, there]
        return (
            free[there],
            np.asarray(symmetric_part(H)),
            float(np.max(np.abs(H - H.T), initial=0.0)),
        )

    def _row(self, i: int, step: float) -> HostVector:
        """The derivative of the slope by one entry, over a step that suits how sharp it is."""
        for _ in range(4):
            row = self._difference(i, step)
            sharp = math.sqrt(abs(row[i])) * step
            if not sharp > _SHARP:
                break
            step *= max(0.5 * _SHARP / sharp, 0.01)
        return row

    def _difference(self, i: int, step: float) -> HostVector:
        away = np.zeros(self._end.size)
        away[i] = step
        return (self.at(away)[1] - self.at(-away)[1]) / (2.0 * step)

    def reaches(self, chosen: HostVector, side: float) -> HostVector:
        """The vector, whose `chosen` entries are moved one by one to where the flat part ends."""
        moved = self._end.copy()
        for i in np.flatnonzero(chosen):
            moved[i] += side * self._units[i] * self._reach(int(i), side)
        return moved

    def _reach(self, i: int, side: float) -> float:
        """The distance that an entry can go to a side, infinity where no end is near."""
        axis = side * np.eye(self._end.size)[i]
        near, far = 0.0, 1.0
        while abs(self.drop(far * axis)) < FLAT_THRESHOLD:
            near, far = far, 2.0 * far
            if near >= _FAR:
                return math.inf
        while far - near > _NEAR:
            middle = 0.5 * (near + far)
            near, far = (
                (middle, far) if abs(self.drop(middle * axis)) < FLAT_THRESHOLD else (near, middle)
            )
        return near


class _Axes(NamedTuple):
    """The principal axes of H, columns of `vectors`: which are flat, which have a maximum."""

    values: HostVector
    vectors: HostMatrix
    flat: HostVector
    curved: HostVector

    def states(self) -> list[str]:
        """The state of each entry."""
        shares = self.vectors**2
        flat = np.sum(shares[:, self.flat], axis=1)
        lost = np.sum(shares[:, ~(self.flat | self.curved)], axis=1)
        return [_state(*pair) for pair in zip(flat.tolist(), lost.tolist(), strict=True)]

    def variances(self) -> HostVector:
        """The diagonal of H⁻¹, by the axes that have a maximum."""
        return self.vectors[:, self.curved] ** 2 @ (1.0 / self.values[self.curved])

    def gain(self, slope: HostVector) -> float:
        """``½ gᵀ H⁻¹ g``: how much higher the parabola's maximum is."""
        along = self.vectors[:, self.curved].T @ slope
        return 0.5 * float(np.sum(along**2 / self.values[self.curved]))


def _axes(around: _Around, free: HostVector, H: HostMatrix, rounding: float) -> _Axes:
    values, vectors = np.linalg.eigh(H)
    directions = np.zeros((free.size, around.slope.size))
    directions[:, free] = vectors.T
    flat = np.zeros(free.size, dtype=bool)
    # at a distance of 1 the parabola falls by half the value: where that is less than
    # `FLAT_THRESHOLD`, the objective itself is asked
    for j in np.flatnonzero(values < 2.0 * FLAT_THRESHOLD):
        flat[j], values[j] = around.looked_along(directions[j])
    return _Axes(values, vectors, flat, ~flat & (values > rounding))


def _state(flat: float, lost: float) -> str:
    """The state of an entry by its shares in flat directions and those without a maximum."""
    if lost >= _PART:
        return "open"
    if flat < _PART:
        return "determined"
    return "flat" if flat >= _ALONE else "shared"
