"""Search spaces of inputs with names: reals, logarithms, whole numbers, categories.

A space stands for a unit cube in which the model lives: a real has a column, in logarithms where
its scale is such, a whole number one with a cell for each value, a category of more than two
choices one for each. Between the settings of whole numbers and categories there is nothing: every
point of the cube stands for one, and the model sees its middle alone. An input
that hangs on others has all of its columns in their middle wherever it is not there: between two
such places it adds no distance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias, cast

import numpy as np

from ...ground import check as _check
from ...ground.boxes import FLOATS
from ...ground.xp import HostMatrix, HostVector, to_numpy
from .settings import (
    Point,
    Record,
    Setting,
    When,
    as_called,
    conditions_of,
    is_setting,
    key_of,
    plain,
    setting,
    validated_when,
)

__all__ = [
    "Categorical", "Dimension", "Fixed", "Integer", "Point", "Real", "Setting", "Space",
    "has_categories",
]  # fmt: skip

_MOST = 2**40  # a whole number beyond it would not come back from a column of a float
_COUNTED = 2**16  # so many settings with conditions are counted one by one
_ABSENT = 0.5  # all columns of an input that is not there: as far from either choice of two


@dataclass(frozen=True)
class Real:
    """A real number in an interval.

    Parameters
    ----------
    lower : float
        The lower end.
    upper : float
        The upper end.
    log : bool, default False
        Search in logarithms: from 1e-5 to 1e-4 is as far as from 0.1 to 1.
    when : mapping from str to a setting or several, optional
        The input is there only where each input that is named, a whole number, a category or a
        fixed one, has the setting, or one of those, that are given: ``{"kernel": "poly"}``,
        ``{"layers": range(2, 5)}``.

    Examples
    --------
    >>> rate = Real(1e-4, 1.0, log=True)
    >>> [float(value.round(6)) for value in rate.values(np.asarray([[0.0], [0.5], [1.0]]))]
    [0.0001, 0.01, 1.0]
    """

    lower: float
    upper: float
    log: bool = False
    when: When | None = field(default=None, kw_only=True, hash=False)

    columns = 1
    count = None

    __repr__ = as_called

    def __post_init__(self) -> None:
        for end in ("lower", "upper"):
            object.__setattr__(self, end, _check.number(getattr(self, end), end))
        _check.flag(self.log, "log")
        object.__setattr__(self, "when", validated_when(self.when))
        least = FLOATS * max(math.ulp(self.lower), math.ulp(self.upper))
        if not least <= self.upper - self.lower < math.inf:
            wanted = f"below upper, both finite and {FLOATS} floats apart"
            raise ValueError(f"lower must be {wanted}; got {self}: `Fixed` holds one value")
        if self.log and self.lower <= 0.0:
            raise ValueError(f"lower must be positive with log=True; got {self.lower}")

    @property
    def ends(self) -> tuple[float, float]:
        """The ends between which a column is linear, in logarithms where the scale is such."""
        return (
            (math.log(self.lower), math.log(self.upper)) if self.log else (self.lower, self.upper)
        )

    def units(self, values: Sequence[Setting]) -> HostMatrix:
        """Columns (n, 1) of the unit cube for values."""
        low, high = self.ends
        x = np.asarray(values, dtype=np.float64)
        return np.clip(((np.log(x) if self.log else x) - low) / (high - low), 0.0, 1.0)[:, None]

    def values(self, units: HostMatrix) -> HostVector:
        """Values for columns (n, 1); the ends of the cube are the ends to the last bit."""
        low, high = self.ends
        u = units[:, 0]
        x = low + (high - low) * u
        x = np.clip(np.exp(x) if self.log else x, self.lower, self.upper)
        return np.where(u <= 0.0, self.lower, np.where(u >= 1.0, self.upper, x))

    def validated(self, value: Setting, name: str) -> float:
        """Return a value as a float, if it lies between the ends."""
        x = _check.number(cast("float", value), name)
        if not self.lower <= x <= self.upper:
            raise ValueError(f"{name} must be from {self.lower:g} to {self.upper:g}; got {x:g}")
        return x


@dataclass(frozen=True)
class Integer:
    """A whole number between two, which may be either of them.

    Parameters
    ----------
    lower : int
        The least.
    upper : int
        The largest.
    log : bool, default False
        Search in logarithms: from 1 to 2 is as far as from 64 to 128.
    when : mapping from str to a setting or several, optional
        As in `Real`.

    Examples
    --------
    >>> [int(n) for n in Integer(1, 3).values(np.asarray([[0.0], [0.4], [1.0]]))]
    [1, 2, 3]
    """

    lower: int
    upper: int
    log: bool = False
    when: When | None = field(default=None, kw_only=True, hash=False)

    columns = 1

    __repr__ = as_called

    def __post_init__(self) -> None:
        least = 1 if _check.flag(self.log, "log") else None
        lower = _check.whole(self.lower, "lower", -_MOST if least is None else least, _MOST - 1)
        object.__setattr__(self, "lower", lower)
        if type(self.upper) is int and self.upper == lower:
            wanted = f"upper must be a whole number above lower; got {lower} twice"
            raise ValueError(f"{wanted}: `Fixed` holds one value")
        object.__setattr__(self, "upper", _check.whole(self.upper, "upper", lower + 1, _MOST))
        object.__setattr__(self, "when", validated_when(self.when))

    @property
    def count(self) -> int:
        """The number of values."""
        return self.upper - self.lower + 1

    @property
    def ends(self) -> tuple[float, float]:
        """The outer ends of the first cell and of the last."""
        low, high = self.lower - 0.5, self.upper + 0.5
        return (math.log(low), math.log(high)) if self.log else (low, high)

    def units(self, values: Sequence[Setting]) -> HostMatrix:
        """Columns (n, 1) of the unit cube for values, within their cells."""
        low, high = self.ends
        x = np.asarray(values, dtype=np.float64)
        return (((np.log(x) if self.log else x) - low) / (high - low))[:, None]

    def values(self, units: HostMatrix) -> HostVector:
        """Values for columns (n, 1)."""
        low, high = self.ends
        x = low + (high - low) * units[:, 0]
        return np.clip(np.rint(np.exp(x) if self.log else x), self.lower, self.upper).astype(int)

    def validated(self, value: Setting, name: str) -> int:
        """Return a value as an int, if it is whole and between the ends."""
        return _check.whole(cast("int", plain(value)), name, self.lower, self.upper)

    def beside(self, value: Setting) -> list[Setting]:
        """The values a step away: one to either side, and farther where there are many."""
        here = cast("int", value)
        steps = [2**k for k in range(self.count.bit_length())]
        near = [here + sign * step for step in steps for sign in (-1, 1)]
        return [n for n in near if self.lower <= n <= self.upper]


@dataclass(frozen=True)
class Categorical:
    """One of some choices, which have no order.

    Parameters
    ----------
    choices : sequence of str, int, float, bool or None
        The choices, two at least.
    when : mapping from str to a setting or several, optional
        As in `Real`.

    Examples
    --------
    >>> Categorical(["relu", "tanh"]).values(np.asarray([[0.2], [0.9]]))
    ['relu', 'tanh']
    """

    choices: Sequence[Setting]
    when: When | None = field(default=None, kw_only=True, hash=False)

    __repr__ = as_called

    def __post_init__(self) -> None:
        given: object = self.choices
        if isinstance(given, str | bytes) or not isinstance(given, Sequence):
            raise TypeError(f"choices must be a sequence; got {_check.kind_of(given)}")
        choices = tuple(setting(choice, "choices") for choice in self.choices)
        if len({key_of(choice) for choice in choices}) < max(len(choices), 2):
            wanted = "at least two, each once (`Fixed` holds one)"
            raise ValueError(f"choices must hold {wanted}; got {list(choices)}")
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "when", validated_when(self.when))

    @property
    def count(self) -> int:
        """The number of choices."""
        return len(self.choices)

    @property
    def columns(self) -> int:
        """One column for two choices, else one for each."""
        return 1 if self.count == 2 else self.count

    @property
    def _numbers(self) -> dict[object, int]:
        return {key_of(choice): number for number, choice in enumerate(self.choices)}

    def units(self, values: Sequence[Setting]) -> HostMatrix:
        """Columns of the unit cube for values: one where the choice is, else zero."""
        known = self._numbers
        numbers = [known[key_of(value)] for value in values]
        return np.asarray([[0.0], [1.0]] if self.count == 2 else np.eye(self.count))[numbers]

    def values(self, units: HostMatrix) -> list[Setting]:
        """Values for columns: where they are largest."""
        two = self.count == 2
        numbers = units[:, 0] >= 0.5 if two else np.argmax(units, axis=1)
        return [self.choices[int(number)] for number in numbers]

    def validated(self, value: Setting, name: str) -> Setting:
        """Return a value, if it is one of the choices."""
        given = plain(value)
        number = self._numbers.get(key_of(given)) if is_setting(given) else None
        if number is None:
            raise ValueError(f"{name} must be one of {list(self.choices)}; got {value!r}")
        return self.choices[number]

    def beside(self, value: Setting) -> list[Setting]:
        """The other choices."""
        return [choice for choice in self.choices if key_of(choice) != key_of(value)]


@dataclass(frozen=True)
class Fixed:
    """A value that stays: the objective is given it, and the search does not see it.

    Parameters
    ----------
    value : str, int, float, bool or None
        The value.
    when : mapping from str to a setting or several, optional
        As in `Real`.
    """

    value: Setting
    when: When | None = field(default=None, kw_only=True, hash=False)

    columns = 0
    count = 1

    __repr__ = as_called

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", setting(self.value, "value"))
        object.__setattr__(self, "when", validated_when(self.when))

    def units(self, values: Sequence[Setting]) -> HostMatrix:
        """No column."""
        return np.empty((len(values), 0))

    def values(self, units: HostMatrix) -> list[Setting]:
        """The value, for each row."""
        return [self.value] * len(units)

    def validated(self, value: Setting, name: str) -> Setting:
        """Return the value, if it is this one."""
        given = plain(value)
        if not is_setting(given) or key_of(given) != key_of(self.value):
            raise ValueError(f"{name} must be {self.value!r}; got {value!r}")
        return self.value

    def beside(self, value: Setting) -> list[Setting]:
        """No other."""
        return []


Dimension: TypeAlias = Real | Integer | Categorical | Fixed


class Space:
    """Named inputs, each with its kind and its scale, and the unit cube that stands for them.

    Parameters
    ----------
    dimensions : mapping from str to Real, Integer, Categorical or Fixed
        The range of each input. One with `when` has a place in a point only where the others that
        it hangs on, which may hang on others themselves, are set so.

    Examples
    --------
    >>> space = Space({"rate": Real(1e-4, 1.0, log=True), "depth": Integer(1, 8)})
    >>> units = space.to_units([{"rate": 0.01, "depth": 3}])
    >>> units.round(4), [point["depth"] for point in space.from_units(units)]
    (array([[0.5   , 0.3125]]), [3])
    >>> kernels = {"kernel": Categorical(["rbf", "poly"])}
    >>> space = Space({**kernels, "degree": Integer(2, 5, when={"kernel": "poly"})})
    >>> space.from_units(np.asarray([[0.0, 0.9], [1.0, 0.9]]))
    [{'kernel': 'rbf'}, {'kernel': 'poly', 'degree': 5}]
    """

    def __init__(self, dimensions: Mapping[str, Dimension]) -> None:
        if not isinstance(dimensions, Mapping):
            wanted = "a mapping from names to Real, Integer, Categorical or Fixed"
            raise TypeError(f"dimensions must be {wanted}; got {_check.kind_of(dimensions)}")
        for name, dim in dimensions.items():
            if not isinstance(name, str):
                raise TypeError(f"dimensions must have strings for names; got {name!r}")
            if not isinstance(dim, Real | Integer | Categorical | Fixed):
                wanted = "a Real, Integer, Categorical or Fixed"
                raise TypeError(f"dimensions[{name!r}] must be {wanted}; got {_check.kind_of(dim)}")
        self.dimensions: dict[str, Dimension] = dict(dimensions)
        self._conditions = conditions_of(self.dimensions)
        ends = np.cumsum([0, *(dim.columns for dim in self.dimensions.values())])
        self._slices = [slice(*pair) for pair in pairwise(ends)]
        self.columns = int(ends[-1])
        kinds = [[isinstance(dim, Real)] * dim.columns for dim in self.dimensions.values()]
        self.free = np.asarray([kind for part in kinds for kind in part])
        if not self.columns:
            raise ValueError(f"dimensions must leave something to search for; got {dimensions!r}")

    def __repr__(self) -> str:
        """The call that makes it."""
        return f"Space({self.dimensions!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in their order."""
        return tuple(self.dimensions)

    @cached_property  # each climb asks, and where inputs hang on others it lists them all
    def count(self) -> int | None:
        """The number of settings; None where a real makes them uncountable.

        Where those on which others hang have more than 65 536 settings together, it is a number
        that the count does not exceed.
        """
        counts = [dim.count for dim in self.dimensions.values()]
        whole = [count for count in counts if count is not None]
        if len(whole) < len(counts):
            return None
        if math.prod(self.dimensions[name].count or 1 for name in self._parents) > _COUNTED:
            return math.prod(whole)
        rows = self._settings_of_parents()
        there = self._there(rows)
        many = np.ones(len(rows), dtype=object)  # whole numbers of Python, which do not overflow
        for name, dim in self.dimensions.items():
            if name not in self._parents:
                many[there.get(name, slice(None))] *= dim.count
        return int(many.sum())

    @cached_property
    def _parents(self) -> set[str]:
        """The inputs on which others hang."""
        when = {} if self._conditions is None else self._conditions.when
        return {parent for parents in when.values() for parent in parents}

    def _settings_of_parents(self) -> HostMatrix:
        """Rows of the cube, one for each setting of the inputs on which others hang."""
        grids = [
            self._all(dim, None if name in self._parents else 1)
            for name, dim in self.dimensions.items()
        ]
        sizes = [len(grid) for grid in grids]
        numbers = np.indices(sizes).reshape(len(sizes), -1)
        rows = np.concatenate([g[i] for g, i in zip(grids, numbers, strict=True)], axis=1)
        return rows if self._conditions is None else np.unique(self.snapped(rows), axis=0)

    @property
    def is_smooth(self) -> bool:
        """True if every point of the cube is a setting of its own, all being reals or fixed."""
        whole = all(isinstance(dim, Real | Fixed) for dim in self.dimensions.values())
        return whole and self._conditions is None

    def to_units(self, points: Sequence[Mapping[str, Setting]]) -> HostMatrix:
        """Points as rows of the unit cube.

        Parameters
        ----------
        points : sequence of mappings from str
            Settings with all names but those of inputs that are not there; those that are fixed
            may be left out.

        Returns
        -------
        HostMatrix, shape (n, columns)
            The rows.
        """
        return self._to_units([self.validated(point, "points") for point in points])

    def _to_units(self, points: Sequence[Point]) -> HostMatrix:
        parts = [_columns(dim, name, points) for name, dim in self.dimensions.items()]
        return np.concatenate(parts, axis=1)

    def from_units(self, units: HostMatrix) -> list[Point]:
        """The settings that rows of the unit cube stand for.

        Parameters
        ----------
        units : HostMatrix, shape (n, columns)
            The rows.

        Returns
        -------
        list of dict
            The settings: Python's own floats, ints and choices. Whole numbers and categories that
            went through `to_units` come back as they were, reals up to rounding.
        """
        given = to_numpy(_check.matrix(units, "units", columns=self.columns))
        rows = given.astype(np.float64)
        if np.any(rows < 0.0) or np.any(rows > 1.0):
            raise ValueError(f"units must be from 0 to 1; got {rows.min():g} to {rows.max():g}")
        return self._from_units(rows)

    def _from_units(self, units: HostMatrix) -> list[Point]:
        columns = {
            name: [plain(value) for value in dim.values(units[:, part])]
            for (name, dim), part in zip(self.dimensions.items(), self._slices, strict=True)
        }
        masks = {} if self._conditions is None else self._conditions.masks(columns)
        rows = zip(*columns.values(), strict=True)
        points = [dict(zip(columns, row, strict=True)) for row in rows]
        for name, there in masks.items():
            for i in np.flatnonzero(~there):
                del points[i][name]
        return points

    def validated(self, point: Mapping[str, Setting], name: str) -> Point:
        """Return a point with every name, each value as its dimension has it, or raise."""
        if not isinstance(point, Mapping):
            wanted = f"a mapping from the names {list(self.names)}"
            raise TypeError(f"{name} must be {wanted}; got {_check.kind_of(point)}")
        fixed = {n: dim.value for n, dim in self.dimensions.items() if isinstance(dim, Fixed)}
        absent = [] if self._conditions is None else self._conditions.absent({**fixed, **point})
        names = [n for n in self.dimensions if n not in absent]
        given = {**{n: value for n, value in fixed.items() if n not in absent}, **point}
        if given.keys() != set(names):
            raise ValueError(f"{name} must have {self._said(names, absent)}; got {list(point)}")
        return {n: self.dimensions[n].validated(given[n], f"{name}[{n!r}]") for n in names}

    def _said(self, names: list[str], absent: list[str]) -> str:
        """In words, which names a point must have, and which of the others only where."""
        said = f"the names {list(names)}"
        if self._conditions is None or not absent:
            return said
        parts = [f"{name!r} only where {self._conditions.said(name)}" for name in absent]
        return f"{said}, and {', '.join(parts)}"

    def _there(self, rows: HostMatrix) -> dict[str, HostVector]:
        """Of each input that hangs on others, at which rows (n, columns) it is there."""
        if self._conditions is None:
            return {}
        named = zip(self.dimensions.items(), self._slices, strict=True)
        columns = {
            name: list(dim.values(rows[:, part]))
            for (name, dim), part in named
            if name in self._parents
        }
        return self._conditions.masks(columns)

    def snapped(self, units: HostMatrix) -> HostMatrix:
        """Rows of the cube, moved to the middle of the cell that they lie in."""
        rows = np.array(units, dtype=np.float64)
        there = self._there(rows)
        for (name, dim), part in zip(self.dimensions.items(), self._slices, strict=True):
            if isinstance(dim, Integer | Categorical):
                rows[:, part] = dim.units(list(dim.values(rows[:, part])))
            if name in there:
                rows[~there[name], part] = _ABSENT
        return rows

    def movable(self, units: HostMatrix) -> HostMatrix:
        """Tell which columns of rows (n, columns) are reals that are there, (n, columns)."""
        found = np.tile(self.free, (len(units), 1))
        there = self._there(units)
        for name, part in zip(self.dimensions, self._slices, strict=True):
            if name in there:
                found[~there[name], part] = False
        return found

    def neighbours(self, unit: HostVector) -> HostMatrix:
        """Rows (k, columns) in which one whole number or category is another than in `unit`."""
        point = self._from_units(unit[None, :])[0]
        rows = []
        for (name, dim), part in zip(self.dimensions.items(), self._slices, strict=True):
            others = [] if isinstance(dim, Real) or name not in point else dim.beside(point[name])
            moved = np.tile(unit, (len(others), 1))
            if others:
                moved[:, part] = dim.units(others)
            rows.append(moved)
        beside = np.concatenate(rows)
        return beside if self._conditions is None else self.snapped(beside)

    @property
    def cells(self) -> HostVector:
        """The number of cells of each column of a whole number; zero for all others."""
        kinds = self.dimensions.values()
        parts = [[dim.count if isinstance(dim, Integer) else 0] * dim.columns for dim in kinds]
        return np.asarray([cells for part in parts for cells in part])

    def row_of(self, coefficients: Mapping[str, float]) -> tuple[HostVector, float]:
        """Return a sum of numbers, ``Σ aᵢ xᵢ``, over the cube: its factors and its constant."""
        row, offset = np.zeros(self.columns), 0.0
        unknown = [name for name in coefficients if name not in self.dimensions]
        if unknown:
            raise ValueError(
                f"linear_constraints must have names of {list(self.names)}; got {unknown}"
            )
        for (name, dim), part in zip(self.dimensions.items(), self._slices, strict=True):
            factor = coefficients.get(name, 0.0)
            if factor and dim.when is not None:
                wanted = "inputs that are always there"
                raise ValueError(f"linear_constraints must be of {wanted}; {name!r} is {dim!r}")
            if factor and isinstance(dim, Fixed):
                offset += factor * _check.number(
                    cast("float", dim.value), f"linear_constraints[{name!r}]"
                )
            elif factor and isinstance(dim, Real | Integer) and not dim.log:
                low, high = dim.ends
                row[part] = factor * (high - low)
                offset += factor * low
            elif factor:
                wanted = "numbers that are not in logarithms"
                raise ValueError(f"linear_constraints must be of {wanted}; {name!r} is {dim!r}")
        return row, offset

    def settings(self) -> HostMatrix:
        """All settings as rows of the cube, of a space without reals."""
        rows = self._settings_of_parents()
        for (name, dim), part in zip(self.dimensions.items(), self._slices, strict=True):
            if name in self._parents:
                continue
            grid = self._all(dim)
            there = self._there(rows).get(name, np.full(len(rows), True))
            times = np.where(there, len(grid), 1)
            which = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
            rows, there = np.repeat(rows, times, axis=0), np.repeat(there, times)
            rows[there, part] = grid[which[there]]
        return rows if self._conditions is None else np.unique(rows, axis=0)

    def _all(self, dim: Dimension, many: int | None = None) -> HostMatrix:
        if isinstance(dim, Integer):
            return dim.units(range(dim.lower, dim.upper + 1)[:many])
        return dim.units(dim.choices if isinstance(dim, Categorical) else [None])[:many]

    def described(self) -> Record:
        """The space in words and numbers of JSON, for the first line of a history."""
        return {
            name: [
                type(dim).__name__,
                *(_listed(getattr(dim, one.name)) for one in fields(dim) if one.name != "when"),
                *([{n: list(chosen) for n, chosen in when.items()}] if when else []),
            ]
            for name, dim in self.dimensions.items()
            for when in [cast("dict[str, tuple[Setting, ...]]", dim.when)]
        }


def has_categories(box: object) -> bool:
    """Return True for a `Space` with a category."""
    return isinstance(box, Space) and any(
        isinstance(dim, Categorical) for dim in box.dimensions.values()
    )


def _columns(dim: Dimension, name: str, points: Sequence[Point]) -> HostMatrix:
    """The columns of an input, all in their middle where a point has it not."""
    there = [name in point for point in points]
    if all(there):
        return dim.units([point[name] for point in points])
    columns = np.full((len(points), dim.columns), _ABSENT)
    columns[there] = dim.units([point[name] for point in points if name in point])
    return columns


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
