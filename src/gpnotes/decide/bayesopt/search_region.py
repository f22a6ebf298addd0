"""Where one searches: a box of vectors, or a space of named settings, over one unit cube.

The optimiser keeps places as the objective takes them, and the model lives in the cube. The
conversion is here, so that nothing else asks which of both it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol, TypeVar

import numpy as np

from ...ground import check as _check
from ...ground.boxes import Pairs, intervals
from ...ground.conversion import floats
from ...ground.random import Stream
from ...ground.xp import HostMatrix, HostVector, Matrix, Vector, sobol, to_numpy
from .known_constraints import KnownConstraint
from .maximiser import Lattice, Room
from .polytopes import LinearConstraint, Polytope, Row, polytope_of
from .search_space import Categorical, Fixed, Point, Space
from .settings import Record

__all__ = ["Axis", "Place", "Region", "key_of_place", "named_settings", "region_of", "said"]

Place = TypeVar("Place")


@dataclass(frozen=True, eq=False)
class Axis:
    """One input as a figure has it: its columns of the cube, and settings in their order.

    `units` (k, width) are the settings x (k,) in its columns; choices of a category are
    counted, and have `ticks`. `of` is where a place has its setting, NaN where it has none.
    """

    name: str
    part: slice
    units: HostMatrix
    x: HostVector
    of: Callable[[Any], float]
    ticks: tuple[str, ...] = ()
    log: bool = False


class Region(Protocol[Place]):
    """A region in which an `Optimiser` searches."""

    columns: int
    where: str
    head: Record
    widths: HostVector
    lattice: Lattice | None
    room: Room | None

    def validated(self, x: Any, name: str) -> Place:
        """Return a place of a user's, as it is kept, or raise."""

    def all_validated(self, places: Any, name: str) -> list[Place]:
        """Return several of them."""

    def units(self, places: Sequence[Place]) -> HostMatrix:
        """Rows of the unit cube."""

    def places(self, units: HostMatrix) -> list[Place]:
        """The places that rows of the cube stand for."""

    def together(self, places: Sequence[Place]) -> HostMatrix | list[Point]:
        """Several places in one, as a user gets them, none shared with the optimiser."""

    def axes(self, points: int) -> list[Axis]:
        """The inputs that vary, reals at so many settings."""

    def key(self, place: Place) -> Hashable:
        """Return the identity of a place."""

    def record(self, place: Place) -> list[float] | Point:
        """A place in JSON."""

    def read(self, record: Record) -> Place:
        """Return a place from JSON; a `ValueError` or `TypeError` for any other record."""


def region_of(
    box: Pairs | Space,
    linear: Sequence[LinearConstraint] = (),
    constraint: Callable[[Any], bool] | None = None,
) -> Region[Any]:
    """Return the region for a box or a `Space`."""
    if isinstance(box, Space):
        return _Named(box, linear, constraint)
    return _Box(box, linear, constraint)


def spread_over(region: Region[Place], count: int, stream: Stream) -> HostMatrix:
    """Points of the cube to begin with, (count, columns); more of them begin like fewer."""
    if region.room is None:
        return sobol(count, region.columns, stream.generator)
    lattice = region.lattice
    return region.room.spread(count, stream, None if lattice is None else lattice.snapped)


def _head(linear: Sequence[LinearConstraint]) -> Record:
    return {"linear_constraints": [one.described() for one in linear]} if linear else {}


class _Box:
    """A box of vectors (d,)."""

    lattice: Lattice | None = None

    def __init__(
        self,
        box: Pairs,
        linear: Sequence[LinearConstraint],
        constraint: Callable[[Any], bool] | None,
    ) -> None:
        ends = intervals(box, "box")
        self._lower = ends[:, 0]
        self._upper = ends[:, 1]
        self.widths = self._upper - self._lower
        self.columns = len(ends)
        self._limits = _Limits(
            self, polytope_of(linear, self._row_of, np.zeros(len(ends), dtype=int)), constraint
        )
        self.room = self._limits.room
        self.head: Record = {"box": ends.tolist(), **_head(linear)}
        self.where = f"at {self.columns} numbers"

    def _row_of(self, constraint: LinearConstraint) -> Row:
        coefficients = constraint.coefficients
        if isinstance(coefficients, Mapping) or len(coefficients) != self.columns:
            wanted = f"a sequence of {self.columns} coefficients, one for each input of the box"
            raise ValueError(f"linear_constraints must have {wanted}; got {coefficients!r}")
        factors = np.asarray(coefficients, dtype=np.float64)
        return Row(factors * self.widths, float(factors @ self._lower))

    def validated(self, x: Vector, name: str) -> HostVector:
        return self._within(to_numpy(_check.vector(floats(x, name), name, size=self.columns)), name)

    def all_validated(self, places: Matrix, name: str) -> list[HostVector]:
        rows = to_numpy(_check.matrix(floats(places, name), name, columns=self.columns))
        return [self._within(row, name) for row in rows]

    def _within(self, point: HostVector, name: str) -> HostVector:
        place = point.astype(np.float64)
        if np.any(place < self._lower) or np.any(place > self._upper):
            raise ValueError(f"{name} must lie in the box; got {place.tolist()}")
        self._limits.require(self.units([place]), name, place)
        return place

    def units(self, places: Sequence[HostVector]) -> HostMatrix:
        return (np.reshape(places, (-1, self.columns)) - self._lower) / self.widths

    def places(self, units: HostMatrix) -> list[HostVector]:
        place = self._lower + self.widths * units
        return list(np.clip(place, self._lower, self._upper))

    def together(self, places: Sequence[HostVector]) -> HostMatrix:
        return np.stack(places)

    def axes(self, points: int) -> list[Axis]:
        units = np.linspace(0.0, 1.0, points)[:, None]
        x = self.places(np.tile(units, self.columns))
        return [
            Axis(f"x[{i}]", slice(i, i + 1), units, np.stack(x)[:, i], itemgetter(i))
            for i in range(self.columns)
        ]

    def key(self, place: HostVector) -> Hashable:
        return key_of_place(place)

    def record(self, place: HostVector) -> list[float]:
        return place.tolist()

    def read(self, record: Record) -> HostVector:
        place = np.asarray(record, dtype=np.float64)
        if place.shape != (self.columns,) or not np.all(np.isfinite(place)):
            raise ValueError
        return place


class _Named:
    """A space of named settings."""

    def __init__(
        self,
        space: Space,
        linear: Sequence[LinearConstraint],
        constraint: Callable[[Any], bool] | None,
    ) -> None:
        self._space = space
        self.columns = space.columns
        self.widths = np.ones(space.columns)
        self.lattice: Lattice | None = None if space.is_smooth else space
        self._limits = _Limits(self, polytope_of(linear, self._row_of, space.cells), constraint)
        self.room = self._limits.room
        self.head: Record = {"box": space.described(), **_head(linear)}
        self.where = f"at a point with the names {list(space.names)}"

    def _row_of(self, constraint: LinearConstraint) -> Row:
        if not isinstance(constraint.coefficients, Mapping):
            wanted = f"coefficients by the names {list(self._space.names)}"
            raise ValueError(
                f"linear_constraints must have {wanted}; got {constraint.coefficients!r}"
            )
        return Row(*self._space.row_of(constraint.coefficients))

    def validated(self, x: Mapping[str, Any], name: str) -> Point:
        place = self._space.validated(x, name)
        self._limits.require(self.units([place]), name, place)
        return place

    def all_validated(self, places: Sequence[Mapping[str, object]], name: str) -> list[Point]:
        given: object = places
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise TypeError(f"{name} must be a sequence of points; got {_check.kind_of(given)}")
        return [self.validated(place, name) for place in places]

    def units(self, places: Sequence[Point]) -> HostMatrix:
        return self._space._to_units(places)

    def places(self, units: HostMatrix) -> list[Point]:
        return self._space._from_units(units)

    def together(self, places: Sequence[Point]) -> list[Point]:
        return [dict(place) for place in places]

    def axes(self, points: int) -> list[Axis]:
        axes: list[Axis] = []
        for name, one in self._space.dimensions.items():
            start = axes[-1].part.stop if axes else 0
            part = slice(start, start + one.columns)
            if isinstance(one, Categorical):
                told = [str(choice) for choice in one.choices]
                units, x = one.units(one.choices), np.arange(float(len(told)))
                axes.append(Axis(name, part, units, x, _number_in(name, one), tuple(told)))
            elif one.columns:
                x = np.unique(np.asarray(one.values(np.linspace(0.0, 1.0, points)[:, None])))
                log = not isinstance(one, Fixed) and one.log
                axes.append(Axis(name, part, one.units(list(x)), x.astype(np.float64),
                                 _setting_in(name), log=log))  # fmt: skip
        return axes

    def key(self, place: Point) -> Hashable:
        return key_of_place(place)

    def record(self, place: Point) -> Point:
        return place

    def read(self, record: Record) -> Point:
        return self._space.validated(record, "x")


class _Limits:
    """The constraints that are known, and the room that they leave."""

    room: Room | None

    def __init__(
        self, region: Any, sides: Polytope | None, constraint: Callable[[Any], bool] | None
    ) -> None:
        self._sides = sides
        self._known: KnownConstraint | None = None
        if constraint is not None:
            self._known = KnownConstraint(
                constraint, region.places, region.columns, region.lattice, sides
            )
        self.room = sides if self._known is None else self._known

    def require(self, units: HostMatrix, name: str, place: Any) -> None:
        """Raise where a place of a user's does not meet them."""
        if self._sides is not None and not self._sides.admits(units)[0]:
            raise ValueError(f"{name} must meet the linear constraints; got {said(place)}")
        if self._known is not None and not self._known.meets(place.copy()):
            raise ValueError(f"{name} must meet the constraint; got {said(place)}")


def _setting_in(name: str) -> Callable[[Point], float]:
    """The number that a point has, NaN where it has not the input."""
    return lambda at: float(at.get(name, np.nan))


def _number_in(name: str, one: Categorical) -> Callable[[Point], float]:
    """Return a function for the index of a point's choice, NaN without the input."""
    units = one.units(one.choices)

    def number(at: Point) -> float:
        if name not in at:
            return np.nan
        return float(np.argmax(np.all(units == one.units([at[name]]), axis=1)))

    return number


def key_of_place(place: Any) -> Hashable:
    """What tells one place from another."""
    if isinstance(place, dict):
        return tuple((name, type(value), value) for name, value in place.items())  # True is not 1
    return tuple(place)


def named_settings(place: Any) -> dict[str, str]:
    """Return the settings of a place, in words by names; those of a vector are x[0], x[1], …"""
    given = place if isinstance(place, dict) else {f"x[{i}]": v for i, v in enumerate(place)}
    return {name: f"{v:.6g}" if isinstance(v, float) else str(v) for name, v in given.items()}


def said(place: object) -> str:
    """A place in a line for people, a long one cut."""
    parts = [f"{name} = {value}" for name, value in named_settings(place).items()]
    return ", ".join([*parts[:8], "…"] if len(parts) > 8 else parts)


def fresh_places(
    region: Region[Place], count: int, step: int, taken: Sequence[Place], stream: Stream
) -> list[Place]:
    """Return so many places of a region's Sobol sequence from the number `step`, none taken.

    A longer sequence begins like a shorter one. They are fewer where settings are few, and the
    sequence has no other.
    """
    many = step + (count + len(taken)) * (1 if region.lattice is None else 16)
    units = spread_over(region, many, stream)[step:]
    gone = {region.key(place) for place in taken}
    places: list[Place] = []
    for place in region.places(units):
        if len(places) < count and region.key(place) not in gone:
            gone.add(region.key(place))
            places.append(place)
    return places
