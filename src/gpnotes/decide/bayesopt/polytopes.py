"""Linear constraints that are known: the part of the unit cube that they leave, and points in it.

A search never leaves it: neither its first points nor those that it looks at and climbs to. The
first are those of a Sobol sequence that lie inside; where these are few, as in a simplex of ten
inputs, many walkers go from its middle, each step along a random line through the inside ("hit and
run").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.sparse_matrices import least_cost_in_box
from ...ground.xp import HostMatrix, HostVector, sobol
from .settings import Record

__all__ = ["LinearConstraint", "Polytope", "Row", "polytope_of"]

_GIVEN = 1e-9  # in units of the cube: a user's place is not refused for its rounding,
_OWN = 1e-12  # nor one of ours,
_HAIR = 1e-10  # and climbs end a hair before a side, so that rounding does not cross it
_ROOM = 1e-6  # the least distance from the middle to the sides
_POOL = 4096  # points of the sequence that are tried
_WALKERS = 256


@dataclass(frozen=True)
class LinearConstraint:
    """A linear constraint on the inputs of a search, ``lower ≤ Σ aᵢ xᵢ ≤ upper``.

    Parameters
    ----------
    coefficients : mapping from str to float, or sequence of d floats
        The factors aᵢ: by names for a `Space`, where those that are left out are zero; one for each
        input of a box.
    upper : float or None, default None
        The largest value of the sum; None for no limit.
    lower : float or None, default None
        The least.

    Examples
    --------
    >>> from gpnotes.decide.bayesopt import LinearConstraint, Real, Space, minimise
    >>> space = Space({"width": Real(0.0, 9.0), "depth": Real(0.0, 9.0)})
    >>> fits = LinearConstraint({"width": 1.0, "depth": 2.0}, upper=10.0)
    >>> area = lambda p: -p["width"] * p["depth"]
    >>> found = minimise(area, space, 12, linear_constraints=[fits], rng=1)
    >>> point = found.best.x  # truly 5 and 2.5
    >>> point["width"] + 2.0 * point["depth"] <= 10.0, bool(found.best.y < -12.0)
    (True, True)
    """

    coefficients: Mapping[str, float] | Sequence[float]
    upper: float | None = None
    lower: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", _factors(self.coefficients))
        for name in ("upper", "lower"):
            limit = getattr(self, name)
            if limit is not None:
                object.__setattr__(self, name, _check.number(limit, name))
        if self.upper is None and self.lower is None:
            raise ValueError("upper or lower must be given; got None for both")
        if self.upper is not None and self.lower is not None and self.lower > self.upper:
            raise ValueError(f"lower must be at most {self.upper:g}; got {self.lower:g}")

    def described(self) -> Record:
        """The constraint in words and numbers of JSON, for the first line of a history."""
        given = self.coefficients
        plain = dict(given) if isinstance(given, Mapping) else list(given)
        return {"coefficients": plain, "upper": self.upper, "lower": self.lower}


def _factors(given: object) -> dict[str, float] | tuple[float, ...]:
    factors: dict[str, float] | tuple[float, ...]
    if isinstance(given, Mapping):
        factors = {str(k): _check.number(a, f"coefficients[{k!r}]") for k, a in given.items()}
        values = tuple(factors.values())
    elif isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        wanted = "a mapping from names to numbers, or a sequence of numbers"
        raise TypeError(f"coefficients must be {wanted}; got {_check.kind_of(given)}")
    else:
        factors = values = tuple(_check.number(a, "coefficients") for a in given)
    if not any(values):
        raise ValueError(f"coefficients must not all be zero; got {given!r}")
    return factors


class Row(NamedTuple):
    """A sum over inputs as one over the unit cube, ``factors · u + offset``."""

    factors: HostVector
    offset: float


def polytope_of(
    constraints: Sequence[LinearConstraint],
    row_of: Callable[[LinearConstraint], Row],
    cells: HostVector,
) -> Polytope | None:
    """Return the part of a cube within linear constraints; None where there are none.

    Parameters
    ----------
    constraints : sequence of LinearConstraint
        The constraints.
    row_of : callable
        The sum of one of them over the cube.
    cells : HostVector, shape (d,)
        How many cells a column of a whole number has; zero for a real.

    Returns
    -------
    Polytope or None
        The part of the cube.

    Raises
    ------
    ValueError
        If nothing is left, or so little that a search has no room.
    """
    given: object = constraints
    if not isinstance(given, Sequence) or not all(
        isinstance(constraint, LinearConstraint) for constraint in given
    ):
        raise TypeError(
            "linear_constraints must be a sequence of LinearConstraint; "
            f"got {_check.kind_of(given)}"
        )
    if not constraints:
        return None
    sides = []
    for constraint in constraints:
        factors, offset = row_of(constraint)
        sides += [(factors, constraint.upper - offset)] if constraint.upper is not None else []
        sides += [(-factors, offset - constraint.lower)] if constraint.lower is not None else []
    rows = np.stack([side for side, _ in sides])
    return Polytope(rows, np.asarray([limit for _, limit in sides]), cells, list(constraints))


class Polytope:
    """The points u of the unit cube with ``A u ≤ b``, where some columns are in cells.

    Parameters
    ----------
    rows : HostMatrix, shape (k, d)
        The sides A.
    limits : HostVector, shape (k,)
        Their limits b.
    cells : HostVector, shape (d,)
        How many cells a column of a whole number has; zero for a real.
    said : object
        The name of the constraints in errors.

    Raises
    ------
    ValueError
        If nothing is left, or so little that a search has no room.
    """

    def __init__(
        self, rows: HostMatrix, limits: HostVector, cells: HostVector, said: object
    ) -> None:
        sizes = np.linalg.norm(rows, axis=1)
        scale = np.where(sizes > 0.0, sizes, 1.0)  # no factor is left where all inputs are fixed
        self._rows = rows / scale[:, None]
        self._limits = limits / scale
        self._cells = cells
        involved = np.any(rows != 0.0, axis=0)
        self._smooth = np.flatnonzero(involved & (cells == 0))
        self._whole = np.flatnonzero(involved & (cells > 0))
        self._open = np.any(rows[:, self._smooth] != 0.0, axis=1)
        self._middle = self._centre(said)

    def _centre(self, said: object) -> HostVector:
        """The point that is farthest from the sides on which a real moves."""
        d = len(self._cells)
        whole = np.isin(np.arange(d), self._whole)
        size = np.where(whole, 1.0 / np.maximum(self._cells, 1), 1.0)
        shift = np.where(whole, 0.5 * size, 0.0)
        reach = np.linalg.norm(self._rows[:, self._smooth], axis=1)
        # of v and r: A (shift + size v) + reach r ≤ b, and r ≤ v ≤ 1 − r where v is a real
        reals = np.eye(d)[self._smooth]
        sides = np.concatenate([self._rows * size, -reals, reals])
        radii = np.concatenate([reach, np.ones(2 * len(reals))])
        limits = [self._limits - self._rows @ shift, np.zeros(len(reals)), np.ones(len(reals))]
        program = np.column_stack([sides, radii]), np.concatenate(limits)
        ends = np.zeros((d + 1, 2))
        ends[:, 1] = [*np.where(whole, self._cells - 1, 1), 1.0]
        cost = np.append(np.zeros(d), -1.0)
        deepest = least_cost_in_box(cost, program, ends, np.append(whole, False))
        if deepest is None or (len(self._smooth) and deepest[-1] < _ROOM):
            raise ValueError(f"linear_constraints must leave room to search in; got {said}")
        return np.clip(
            shift + size * np.where(whole, np.rint(deepest[:-1]), deepest[:-1]), 0.0, 1.0
        )

    def admits(self, units: HostMatrix) -> HostVector:
        """Tell which points (m, d) of a user's meet the constraints, up to rounding; (m,)."""
        met: HostVector = np.all(units @ self._rows.T <= self._limits + _GIVEN, axis=1)
        return met

    def holds(self, units: HostMatrix) -> HostVector:
        """Tell which points (m, d) a search may come to, (m,)."""
        met: HostVector = np.all(units @ self._rows.T <= self._limits + _OWN, axis=1)
        return met

    def slopes(self, units: HostMatrix, free: HostVector) -> tuple[HostMatrix, HostMatrix]:
        """A (k, d) and b (m, k) of ``A u ≤ b`` for climbs from points (m, d) along free columns."""
        sides = np.where(free, self._rows, 0.0)[self._open]
        held = units @ np.where(free, 0.0, self._rows)[self._open].T
        return sides, self._limits[self._open] - _HAIR - held

    def reached(
        self,
        starts: HostMatrix,
        ends: HostMatrix,
        free: HostVector,
        values: Callable[[HostMatrix], HostVector],
    ) -> HostMatrix:
        """Where climbs (m, d) end: these stayed within."""
        return ends

    def spread(
        self, count: int, stream: Stream, snapped: Callable[[HostMatrix], HostMatrix] | None = None
    ) -> HostMatrix:
        """So many points (count, d) within; a longer list begins like a shorter one.

        Parameters
        ----------
        count : int
            How many.
        stream : Stream
            Source of the points.
        snapped : callable or None
            A function that moves points to the settings that they stand for.

        Returns
        -------
        HostMatrix, shape (count, d)
            The points.
        """
        settle = snapped or (lambda units: units)
        pool = settle(sobol(_POOL, len(self._cells), stream.generator))
        inside_parts = [pool[self.holds(pool)]]
        while sum(map(len, inside_parts)) < count:
            walkers = settle(self._random_walk(stream.spawn(f"walk {len(inside_parts)}")))
            inside = walkers[self.holds(walkers)]
            inside_parts.append(inside if len(inside) else settle(self._middle[None, :]))
        return np.concatenate(inside_parts)[:count]

    def _random_walk(self, stream: Stream) -> HostMatrix:
        """Where walkers from the middle are after some steps; other columns are drawn evenly."""
        d = len(self._cells)
        draws = stream.generator
        units: HostMatrix = draws.random((_WALKERS, d))
        involved = np.concatenate([self._smooth, self._whole])
        units[:, involved] = self._middle[involved]
        for _ in range(20 + 10 * len(involved)):
            if len(self._smooth):
                move = np.zeros((_WALKERS, d))
                move[:, self._smooth] = draws.standard_normal((_WALKERS, len(self._smooth)))
                low, high = self._reach(units, move)
                units = units + (low + (high - low) * draws.random(_WALKERS))[:, None] * move
            if len(self._whole):
                units = self._move_cells(units, draws)
        return np.clip(units, 0.0, 1.0)

    def _move_cells(self, units: HostMatrix, draws: np.random.Generator) -> HostMatrix:
        """A move by whole cells: of one column, or of one against another."""
        everyone = np.arange(len(units))
        size = 1.0 / self._cells[self._whole]
        move = np.zeros(units.shape)
        for sign in (1.0, -1.0):
            column = draws.integers(0, len(self._whole), len(units))
            partner = draws.random(len(units)) < 0.5 if sign < 0.0 else True
            fresh = move[everyone, self._whole[column]] == 0.0
            step = np.where(fresh & partner, sign * size[column], 0.0)
            move[everyone, self._whole[column]] += step
        low, high = self._reach(units, move)
        first, last = np.ceil(low - 1e-6), np.floor(high + 1e-6)
        steps = first + np.floor((last - first + 1.0) * draws.random(len(units)))
        return units + steps[:, None] * move

    def _reach(self, units: HostMatrix, move: HostMatrix) -> tuple[HostVector, HostVector]:
        """From where to where, in units of `move` (m, d), one stays within; zero is in between."""
        half = 0.5 / np.maximum(self._cells, 1) * (self._cells > 0)
        sides = np.concatenate([self._rows @ move.T, move.T, -move.T])
        limits = (self._limits + _OWN * ~self._open)[:, None] - self._rows @ units.T
        left = np.concatenate([limits, (1.0 - half)[:, None] - units.T, units.T - half[:, None]])
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.maximum(left, 0.0) / sides
        high = np.min(np.where(sides > 0.0, ends, math.inf), axis=0)
        low = np.max(np.where(sides < 0.0, ends, -math.inf), axis=0)
        return low, high
