"""A known constraint of any form: the points of the unit cube where a caller's predicate is True.

Points are drawn, and those that do not meet it left out. A climb that ends outside is cut back to
the best point before it that meets it, and small steps from there creep along the side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream, stream
from ...ground.xp import HostMatrix, HostVector, sobol
from .maximiser import Lattice
from .polytopes import Polytope

__all__ = ["KnownConstraint"]

_FEW = 4096  # so many settings are looked at one by one
_BLOCK = 1024  # points that are tried at once,
_FIRST = 128  # so many times before it is said that there are none,
_BLOCKS = 16  # and so many times for each list of points
_CUTS = 16  # points on the way of a climb that ended outside
_CREEPS, _STEPS = 12, 64


class KnownConstraint:
    """The points of the unit cube that stand for places where a predicate is True.

    Parameters
    ----------
    constraint : callable
        A function of a place that returns a bool.
    places : callable
        The places, to be given away, that rows of the cube stand for.
    columns : int
        How many columns the cube has.
    lattice : Lattice or None
        The settings that there are, where not every point is one.
    within : Polytope or None
        The part of the cube within linear constraints.

    Raises
    ------
    TypeError
        If the predicate returns no bool.
    ValueError
        If no point that was tried meets it.
    """

    def __init__(
        self,
        constraint: Callable[[Any], bool],
        places: Callable[[HostMatrix], Sequence[object]],
        columns: int,
        lattice: Lattice | None,
        within: Polytope | None,
    ) -> None:
        self._constraint = _check.function(constraint, "constraint", "x")
        self._places = places
        self._columns = columns
        self._within = within
        self._known = self._first(lattice)

    def meets(self, place: object) -> bool:
        """Return True if a place, passed to the caller's function, meets the constraint."""
        return _check.flag(self._constraint(place), "constraint(x)")

    def holds(self, units: HostMatrix) -> HostVector:
        """Tell which points (m, d) a search may come to, (m,)."""
        met = np.ones(len(units), bool) if self._within is None else self._within.holds(units)
        rows = np.flatnonzero(met)
        answers = [self.meets(place) for place in self._places(units[rows])] if len(rows) else []
        met[rows] = np.asarray(answers, dtype=bool)
        return met

    def slopes(self, units: HostMatrix, free: HostVector) -> tuple[HostMatrix, HostMatrix] | None:
        """The sides of the linear constraints, for climbs; None where there are none."""
        return None if self._within is None else self._within.slopes(units, free)

    def spread(
        self, count: int, stream: Stream, snapped: Callable[[HostMatrix], HostMatrix] | None = None
    ) -> HostMatrix:
        """So many points (count, d) that meet it; a longer list begins like a shorter one.

        Those that are tried are of Sobol sequences. Where too few of these meet it, steps of all
        sizes from points that do give the others.
        """
        settle = snapped or (lambda units: units)
        parts = [np.empty((0, self._columns))]
        for number in range(_BLOCKS):
            if sum(map(len, parts)) >= count:
                break
            block = settle(self._block(stream.spawn(f"block {number}")))
            parts.append(block[self.holds(block)])
        while sum(map(len, parts)) < count:
            base = np.concatenate([settle(self._known), *parts])
            steps = settle(_near(base, stream.spawn(f"near {len(parts)}")))
            inside = steps[self.holds(steps)]
            parts.append(np.unique(inside, axis=0) if len(inside) else settle(self._known))
        return np.concatenate(parts)[:count]

    def reached(
        self,
        starts: HostMatrix,
        ends: HostMatrix,
        free: HostVector,
        values: Callable[[HostMatrix], HostVector],
    ) -> HostMatrix:
        """Where climbs (m, d) end that go no farther than the constraint lets them."""
        outside = np.flatnonzero(~self.holds(ends))
        settled = np.array(ends)
        shares = np.linspace(0.0, 1.0, _CUTS, endpoint=False)[:, None]
        for i in outside:
            way = starts[i] + shares * (ends[i] - starts[i])
            settled[i] = self._best(way, starts[i], values)
        if len(outside):
            best = outside[int(np.argmax(values(settled[outside])))]
            settled[best] = self._creep(settled[best], free, values)
        return settled

    def _best(
        self, units: HostMatrix, otherwise: HostVector, values: Callable[[HostMatrix], HostVector]
    ) -> HostVector:
        inside = units[self.holds(units)]
        best: HostVector = inside[int(np.argmax(values(inside)))] if len(inside) else otherwise
        return best

    def _creep(
        self, unit: HostVector, free: HostVector, values: Callable[[HostMatrix], HostVector]
    ) -> HostVector:
        """Go to the best of many small steps, again and again, and to smaller ones from there."""
        draws = stream(0).generator
        size = 0.1
        for _ in range(_CREEPS):
            moves = size * draws.standard_normal((_STEPS, len(unit))) * free
            steps = np.concatenate([unit[None, :], np.clip(unit + moves, 0.0, 1.0)])
            best = self._best(steps, unit, values)
            size *= 0.4 if np.array_equal(best, unit) else 0.8
            unit = best
        return unit

    def _block(self, source: Stream) -> HostMatrix:
        if self._within is not None:
            return self._within.spread(_BLOCK, source)
        return sobol(_BLOCK, self._columns, source.generator)

    def _first(self, lattice: Lattice | None) -> HostMatrix:
        """Points that meet it, all of them where settings are few."""
        if lattice is not None and lattice.count is not None and lattice.count <= _FEW:
            settings = lattice.settings()
            found, tried = settings[self.holds(settings)], len(settings)
        else:
            found, tried = np.empty((0, self._columns)), 0
            for number in range(_FIRST):
                block = self._block(stream(0).spawn(f"first {number}"))
                block = block if lattice is None else lattice.snapped(block)
                found, tried = block[self.holds(block)], tried + len(block)
                if len(found):
                    break
        if not len(found):
            raise ValueError(f"constraint must be True somewhere; got False at all {tried} tried")
        return found


def _near(base: HostMatrix, source: Stream) -> HostMatrix:
    """Points at all distances from others, from a tenth of the cube to a ten-thousandth."""
    draws = source.generator
    points = base[draws.integers(0, len(base), _BLOCK)]
    size = 10.0 ** draws.uniform(-4.0, -1.0, (_BLOCK, 1))
    near: HostMatrix = np.clip(points + size * draws.standard_normal(points.shape), 0.0, 1.0)
    return near
