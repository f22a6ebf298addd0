"""Where an acquisition is largest: many points are looked at, and from the best of them one climbs.

It has many local maxima and wide plains. So a Sobol sequence fills the box first, and
L-BFGS goes up from the points where it is largest. That lives on the host, in units of the box;
the predictions stay where the posterior is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.ascent import ascend_all
from ...ground.boxes import Pairs, intervals
from ...ground.random import RNG, Stream, stream_of
from ...ground.showing import summary
from ...ground.threads import in_one_pool
from ...ground.xp import HostMatrix, HostVector, Matrix, Vector, as_array, sobol, to_numpy
from ...infer.exact import ExactPosterior
from ...infer.input_gradients import pulled_back
from ...model.contracts import Acquisition, require
from ...model.gaussian_process import differentiable_mean
from ...model.kernels import values_at
from .acquisition import LogExpectedImprovement

__all__ = ["Lattice", "LocalMaximum", "Maximum", "maximise_acquisition"]

_ALL = 4096  # so many settings are looked at one by one
_NEAR = 0.1  # how far from a good place one looks, in units of the cube
_MOVES = 20  # from a setting to one beside it


@dataclass(frozen=True, eq=False)
class LocalMaximum:
    """One climb from a start to a place that is worth no less.

    A climb that ended lower than it started, or had no value at its start, ends at the start.

    Parameters
    ----------
    start : Vector, shape (d,)
        Where it began.
    start_value : float
        The value there.
    x : Vector, shape (d,)
        Where it ended.
    value : float
        The value there.
    evaluations : int
        How many evaluations of value and gradient it took.
    converged : bool
        True if the optimiser converged.
    message : str
        The optimiser's message.
    """

    start: Vector
    start_value: float
    x: Vector
    value: float
    evaluations: int
    converged: bool
    message: str

    __repr__ = summary


@dataclass(frozen=True, eq=False)
class Maximum:
    """The best point found by `maximise_acquisition` or `thompson_sample`.

    Parameters
    ----------
    x : Vector, shape (d,)
        The point.
    value : float
        The acquisition there.
    local_maxima : tuple of LocalMaximum
        All climbs, best first.
    """

    x: Vector
    value: float
    local_maxima: tuple[LocalMaximum, ...]

    __repr__ = summary


@in_one_pool
def maximise_acquisition(
    posterior: ExactPosterior,
    acquisition: Acquisition,
    box: Pairs,
    *,
    raw_samples: int = 512,
    num_restarts: int = 10,
    max_steps: int = 100,
    rng: RNG,
) -> Maximum:
    """Find the place in a box where an acquisition is largest.

    Parameters
    ----------
    posterior : ExactPosterior
        The model of f, whose mean function must have a pullback. Of one with gradients,
        `kernels.WithGradients`, the values of f are taken: the box has d pairs, and no label.
    acquisition : Acquisition
        A function of mean and variance with derivatives by both, such as `ExpectedImprovement`.
    box : d pairs of floats
        The ends (lower, upper) of each input.
    raw_samples : int, default 512
        The number of points of the sequence that are evaluated first, at once.
    num_restarts : int, default 10
        The number of these, the best, from which a climb starts; all if they are fewer.
    max_steps : int, default 100
        The most steps of a climb.
    rng : Stream, Generator or int
        Scrambles the Sobol sequence.

    Returns
    -------
    Maximum
        A place that is never worth less than the best raw point. It may be a local maximum: the
        table of climbs shows how many agree.

    Raises
    ------
    TypeError
        If `posterior`, `acquisition` or `rng` is something else, a number is not whole, or the
        mean function has no pullback.

    Notes
    -----
    The raw points cost O(n² raw). Then L-BFGS climbs, O(n²) a step; the climbs go on in step, so
    that the model predicts at all of them at once. Where an acquisition is zero in floating point,
    as the expected improvement is far below the best, there is nothing to climb.

    Source: for the many starts, Balandat et al. (2020).

    Examples
    --------
    >>> from gpnotes import GP, RBF, condition, stream
    >>> from gpnotes.decide.bayesopt import UpperConfidenceBound
    >>> posterior = condition(GP(RBF(), 0.01), np.zeros((1, 1)), np.ones(1))
    >>> bound = UpperConfidenceBound(0.0)
    >>> found = maximise_acquisition(posterior, bound, [(-2.0, 3.0)], rng=stream(1))
    >>> bool(abs(found.x[0]) < 1e-3), len(found.local_maxima)
    (True, 10)
    """
    surface = acquisition_surface(posterior, acquisition)
    ends = intervals(box, "box", posterior.X.shape[1] - posterior.gp.kernel.labels_rows)
    stream = stream_of(rng)
    effort = validate_effort(raw_samples, num_restarts, max_steps)
    return maximise_in_box(surface, posterior.X, ends, stream, effort)


def acquisition_surface(posterior: ExactPosterior, acquisition: Acquisition) -> Surface:
    """Return the acquisition as a function of the place without a label."""
    _check.instance(posterior, "posterior", ExactPosterior)
    require(acquisition, "acquisition", Acquisition)
    differentiable_mean(posterior.gp)
    surface = _AcquisitionSurface(posterior, acquisition)
    return _OfValues(surface) if posterior.gp.kernel.labels_rows else surface


class Effort(NamedTuple):
    """The numbers of raw points, climbs, and steps at most."""

    raw_samples: int = 512
    num_restarts: int = 10
    max_steps: int = 100


class Room(Protocol):
    """The part of the unit cube in which one may search."""

    def holds(self, units: HostMatrix, /) -> HostVector:
        """Return which points lie in it."""

    def spread(
        self, count: int, stream: Stream, snapped: Callable[[HostMatrix], HostMatrix] | None, /
    ) -> HostMatrix:
        """So many points in it."""

    def slopes(
        self, units: HostMatrix, free: HostVector, /
    ) -> tuple[HostMatrix, HostMatrix] | None:
        """A and, for a climb from each point along the free columns, b of ``A u ≤ b``, or None."""

    def reached(
        self,
        starts: HostMatrix,
        ends: HostMatrix,
        free: HostVector,
        values: Callable[[HostMatrix], HostVector],
        /,
    ) -> HostMatrix:
        """Where climbs end that may have gone too far."""


class Lattice(Protocol):
    """The settings of a space, in a unit cube where there is nothing between some of them."""

    free: HostVector

    @property
    def count(self) -> int | None:
        """The number of settings, or None."""

    def settings(self) -> HostMatrix:
        """All of them, where they can be counted."""

    def snapped(self, units: HostMatrix, /) -> HostMatrix:
        """The settings that points stand for."""

    def movable(self, units: HostMatrix, /) -> HostMatrix:
        """Return which columns of points one may climb along."""

    def neighbours(self, unit: HostVector, /) -> HostMatrix:
        """Return the settings next to one."""


def validate_effort(raw_samples: int, num_restarts: int, max_steps: int) -> Effort:
    """The three as they come in at a door."""
    return Effort(
        memory.count(raw_samples, "raw_samples", each=4),
        _check.whole(num_restarts, "num_restarts", 1),
        _check.whole(max_steps, "max_steps", 1),
    )


class Surface(Protocol):
    """A function of inputs Xs (n*, d) that is to be climbed."""

    def values(self, Xs: Matrix, /) -> Vector:
        """Its values, (n*,)."""

    def values_and_gradient(self, Xs: Matrix, /) -> tuple[Vector, Matrix]:
        """Its values, (n*,), and its derivatives by the inputs, (n*, d)."""


class _AcquisitionSurface(NamedTuple):
    """The worth of an evaluation, as a function of the place."""

    posterior: ExactPosterior
    acquisition: Acquisition

    def values(self, Xs: Matrix) -> Vector:
        return self.acquisition(*self.posterior.predict(Xs))

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        mean, variance, pull = pulled_back(self.posterior, Xs)
        if isinstance(self.acquisition, LogExpectedImprovement):
            value, slopes = self.acquisition._with_derivatives(mean, variance)
            return value, pull(*slopes)
        slopes = self.acquisition.derivatives(mean, variance)
        return self.acquisition(mean, variance), pull(*slopes)


class SurfaceSum(NamedTuple):
    """The sum of surfaces: of a worth and of logarithms of probabilities that weigh it."""

    parts: tuple[Surface, ...]

    def values(self, Xs: Matrix) -> Vector:
        first, *others = [part.values(Xs) for part in self.parts]
        return sum(others, first)

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        pairs = [part.values_and_gradient(Xs) for part in self.parts]
        (value, gradient), *others = pairs
        return sum((v for v, _ in others), value), sum((g for _, g in others), gradient)


class _OfValues(NamedTuple):
    """A surface of labelled rows, at rows that see values of f."""

    rows: Surface

    def values(self, Xs: Matrix) -> Vector:
        return self.rows.values(values_at(Xs))

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        values, gradient = self.rows.values_and_gradient(values_at(Xs))
        return values, gradient[:, :-1]


def maximise_in_box(
    surface: Surface, like: Matrix, box: HostMatrix, stream: Stream, effort: Effort
) -> Maximum:
    """Where a surface of inputs like `like` (n, d) is largest within `box` (d, 2)."""
    place = _Place(surface, like, box)
    units = sobol(effort.raw_samples, box.shape[0], stream.generator)
    climbs = _climbs(place, units, effort.num_restarts, effort.max_steps)
    return Maximum(climbs[0].x, climbs[0].value, climbs)


def maximise_in_room(
    surface: Surface,
    like: Matrix,
    d: int,
    stream: Stream,
    room: Room | None = None,
    near: HostMatrix | None = None,
) -> Maximum:
    """Where a surface over the unit cube is largest, in a room of it if there is one.

    Points `near` (k, d) known good ones are looked at in addition to those that are spread.
    """
    box = np.tile([0.0, 1.0], (d, 1))
    effort = Effort()
    if room is None:
        units = sobol(effort.raw_samples, d, stream.generator)
    else:
        units = room.spread(effort.raw_samples, stream, None)
    units = _beside(units, near, room)
    within = None if room is None else (room, np.full(d, True))
    climbs = _climbs(
        _Place(surface, like, box), units, effort.num_restarts, effort.max_steps, within
    )
    return Maximum(climbs[0].x, climbs[0].value, climbs)


def maximise_on_lattice(
    surface: Surface,
    like: Matrix,
    lattice: Lattice,
    seen: HostMatrix,
    stream: Stream,
    room: Room | None = None,
    near: HostMatrix | None = None,
) -> Maximum:
    """Where a surface over the unit cube is largest among the settings of a lattice.

    One climbs along the free columns alone, and then goes to the best neighbouring setting, as long
    as that is better. Settings that are countable and `seen` already are left out, until all are.
    """
    effort = Effort()
    box = np.tile([0.0, 1.0], (seen.shape[1], 1))
    place = _Place(_Snapped(surface, lattice), like, box)
    few = lattice.count is not None and lattice.count <= _ALL
    if few:
        raw = _held(room, lattice.settings())
    elif room is None:
        raw = sobol(effort.raw_samples, len(box), stream.generator)
    else:
        raw = room.spread(effort.raw_samples, stream, lattice.snapped)
    if near is not None and not few:
        raw = _beside(raw, lattice.snapped(near), room)
    within = None if room is None else (room, lattice.free)
    fresh = _unseen(lattice, seen, len(raw) if few else lattice.count)
    units = fresh(np.unique(lattice.snapped(raw), axis=0))
    climbs = _climbs(place, units, effort.num_restarts, effort.max_steps, within)
    for _ in range(0 if few else _MOVES):
        beside = fresh(_held(room, lattice.neighbours(to_numpy(climbs[0].x))))
        if not len(beside):
            break
        moved = _climbs(place, beside, 3, effort.max_steps, within)
        if not moved[0].value > climbs[0].value:
            break
        climbs = (*moved, *climbs)
    return Maximum(climbs[0].x, climbs[0].value, climbs)


def perturbed(best: HostMatrix, count: int, stream: Stream) -> HostMatrix:
    """So many points near good ones (k, d): each has some of its inputs moved, by a tenth or so."""
    draws = stream.generator
    d = best.shape[1]
    points = best[draws.integers(0, len(best), count)]
    moved = draws.random((count, d)) < 0.5
    moved[np.arange(count), draws.integers(0, d, count)] = True
    near: HostMatrix = np.clip(points + _NEAR * moved * draws.standard_normal((count, d)), 0.0, 1.0)
    return near


def _beside(units: HostMatrix, near: HostMatrix | None, room: Room | None) -> HostMatrix:
    return units if near is None else np.concatenate([units, _held(room, near)])


def _held(room: Room | None, units: HostMatrix) -> HostMatrix:
    return units if room is None else units[room.holds(units)]


def _unseen(
    lattice: Lattice, seen: HostMatrix, count: int | None
) -> Callable[[HostMatrix], HostMatrix]:
    """Return a filter that drops rows seen before, where the settings can be counted."""
    gone = {row.tobytes() for row in lattice.snapped(seen)}
    if count is None or len(gone) >= count:
        return lambda rows: rows

    def unseen(rows: HostMatrix) -> HostMatrix:
        left = rows[[row.tobytes() not in gone for row in rows]]
        return left if len(left) else rows

    return unseen


class _Snapped(NamedTuple):
    """A surface at settings alone, which rises along the columns that can be moved."""

    surface: Surface
    lattice: Lattice

    def _at(self, Xs: Matrix) -> Matrix:
        return as_array(self.lattice.snapped(to_numpy(Xs)), Xs)

    def values(self, Xs: Matrix) -> Vector:
        return self.surface.values(self._at(Xs))

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        values, gradient = self.surface.values_and_gradient(self._at(Xs))
        movable = self.lattice.movable(to_numpy(Xs)).astype(np.float64)
        return values, gradient * as_array(movable, gradient)


class _Place:
    """The surface over the unit cube, which stands for the box."""

    def __init__(self, surface: Surface, like: Matrix, box: HostMatrix) -> None:
        self._surface = surface
        self._like = like
        self._lower = box[:, 0]
        self._width = box[:, 1] - box[:, 0]
        self.dimensions = box.shape[0]

    def inputs(self, units: HostMatrix) -> Matrix:
        """Points of the cube, (m, d), as inputs of the posterior's kind."""
        ends = self._lower, self._lower + self._width
        return as_array(np.clip(self._lower + self._width * units, *ends), self._like)

    def values(self, units: HostMatrix) -> HostVector:
        """Return the worth of each of the points (m, d), (m,); NaN counts as minus infinity."""
        values = to_numpy(self._surface.values(self.inputs(units)))
        return np.where(np.isnan(values), -math.inf, values).astype(np.float64)

    def scaled(self, unit: float) -> Callable[[HostMatrix], tuple[HostVector, HostMatrix]]:
        """Values and gradients at points (m, d) of the cube, in that unit of worth."""

        def worth(points: HostMatrix) -> tuple[HostVector, HostMatrix]:
            found, slopes = self._surface.values_and_gradient(self.inputs(points))
            values = to_numpy(found).astype(np.float64)
            return values / unit, to_numpy(slopes).astype(np.float64) * self._width / unit

        return worth


_Within: TypeAlias = tuple[Room, HostVector]  # where climbs stay, along which columns


def _climbs(
    place: _Place, units: HostMatrix, starts: int, max_steps: int, within: _Within | None = None
) -> tuple[LocalMaximum, ...]:
    values = place.values(units)
    order = np.argsort(-values, kind="stable")
    best = order[:starts]
    worth = place.scaled(_unit(values[order], starts))
    limits = np.tile([0.0, 1.0], (place.dimensions, 1))
    rows = None if within is None else within[0].slopes(units[best], within[1])
    ascents = ascend_all(worth, units[best], limits, max_steps, rows)
    ends = np.stack([ascent.vector for ascent in ascents])
    if within is not None:
        ends = within[0].reached(units[best], ends, within[1], place.values)
    after = place.values(ends)
    if within is not None:  # what rounding took outside has not risen
        after = np.where(within[0].holds(ends), after, -math.inf)
    before = values[best]
    rose = after >= before
    x = place.inputs(np.where(rose[:, None], ends, units[best]))
    begun, reached = place.inputs(units[best]), np.where(rose, after, before)
    climbs = [
        LocalMaximum(begun[i, :], float(before[i]), x[i, :], float(reached[i]), *ascent[2:])
        for i, ascent in enumerate(ascents)
    ]
    return tuple(sorted(climbs, key=lambda climb: -climb.value))


def _unit(ordered: HostVector, starts: int) -> float:
    """A unit in which the differences between the best points are neither tiny nor huge.

    L-BFGS stops at slopes below 1e-5, and an expected improvement may be 1e-9 all over. It is how
    far the values, largest first, fall over the starts or a tenth of them; one where they do not.
    """
    row = min(max(starts, ordered.size // 10), ordered.size - 1)
    with np.errstate(invalid="ignore", over="ignore"):
        unit = float(ordered[0] - ordered[row])
    return unit if 0.0 < unit < math.inf else 1.0
