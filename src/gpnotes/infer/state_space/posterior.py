"""The posterior of a process on a line, at any place of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

from ...ground import check as _check
from ...ground import memory
from ...ground.caller_warnings import warn_caller
from ...ground.chunks import Rows
from ...ground.conversion import takes
from ...ground.linalg import RoundingWarning
from ...ground.random import Stream
from ...ground.threads import in_one_pool
from ...ground.xp import (
    Array,
    Matrix,
    MatrixLike,
    Numbers,
    Stack,
    Vector,
    VectorLike,
    array_namespace,
    cast_like,
    device,
    epsilon,
    eye,
    symmetric_part,
    to_write,
)
from ...model import means
from ...model.gaussian_process import GP, residual_of
from ...model.kernels import Kernel
from ..known_noise import Noise, joined, noise_of, validate_noise
from ..posterior import PartPosterior, Posterior, named_as, require_inputs, with_noise
from .as_terms import Expansion, expansion_of, seen_of
from .belief import Belief
from .compiled_walk import compiled_filter
from .kalman import Filtered, kalman_filter
from .matern_walk import is_walked, walked
from .motion import FARTHEST, Motion, narrow, signal
from .parallel_scan import LOST, lanes_of
from .prior_draws import prior_draw

__all__ = [
    "StateSpaceForecast", "StateSpacePosterior", "along", "filtered", "posterior_of",
    "sorted_readings", "warn_of_rounding",
]  # fmt: skip

_DISTANCE = "the squared distance from the prior"
_ENTRIES = 2**18  # numbers of one kind that are worked on at a time


@dataclass(frozen=True, eq=False, repr=False)
class StateSpacePosterior(Posterior):
    """The process on a line given readings; made by `gpnotes.condition`.

    The inputs of a prediction (n*, 1) may be in any order. One costs a search for its neighbours
    among the readings, and nothing else: O(n* log n). A covariance takes a filter for each input,
    O(n* n), so `covariance` and `joint` are for a few of them. The values for variances are
    computed when they are first asked for. The arrays given are kept, not copied.

    More than n* functions are drawn by `joint`: their cost hardly grows with their number. Fewer go
    by Matheron's rule, [eq-bo-pathwise], O(n + n*) each: a function of the prior at readings and
    inputs, which the motion draws place by place, and the filter's mean for the readings less
    its values and noise. So equal inputs have equal values. Both are exact; all is in float64 where
    the device has it.

    Parameters
    ----------
    gp : GP
        The process that was conditioned.
    X : Matrix, shape (n, 1)
        The inputs.
    y : Vector, shape (n,)
        The readings.
    order : Vector or None
        The order in which the inputs ascend; None if they came in it.
    times : Vector, shape (n,)
        The inputs in that order.
    run : Filtered
        The result of the Kalman filter.
    noise_var, weights : Vector, shape (n,), or None
        The known noise of each reading, as in `gpnotes.condition`.
    tolerance : float, default 1e-6
    compiled : bool, default False
        As in `StateSpaceGP`.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, Matern12, condition
    >>> from gpnotes.infer import state_space
    >>> X, y = np.asarray([[0.0]]), np.asarray([3.0])
    >>> posterior = condition(state_space.StateSpaceGP(GP(Matern12(), 0.5)), X, y)
    >>> [a.round(4) for a in posterior.predict(np.asarray([[0.0], [99.0]]), noise=True)]
    [array([2., 0.]), array([0.8333, 1.5   ])]

    Many draws at many places:

    >>> X = np.linspace(0.0, 9.0, 1000)[:, None]
    >>> posterior = condition(state_space.StateSpaceGP(GP(Matern12(), 0.01)), X, np.sin(X[:, 0]))
    >>> posterior.sample(np.linspace(0.0, 9.0, 50_000)[:, None], 2, rng=1).shape
    (2, 50000)
    """

    gp: GP
    X: Matrix
    y: Vector
    order: Vector | None
    times: Vector
    run: Filtered
    noise_var: Vector | None = None
    weights: Vector | None = None
    tolerance: float = 1e-6
    compiled: bool = False

    @property
    def reading_noise(self) -> Noise:
        """The noise of its readings, [eq-fv-known-noise]; one number where all are alike."""
        return noise_of(self.gp, Rows(self.X, self.y, self.noise_var, self.weights))

    @property
    def _unit_noise(self) -> Numbers:
        """Its variance in units of the signal, in the order of the places."""
        noise = along(self.reading_noise, self.order).variance
        return (noise + self._white) / self._variance

    @property
    def log_evidence(self) -> float:
        """``log p(y)``."""
        # a reading in units of the signal has √v times the density of the reading itself
        count = self.run.lanes.count
        return self.run.log_evidence - 0.5 * count * math.log(self._variance)

    @property
    def _variance(self) -> float:
        return self._unit_and_white[0]

    @property
    def _white(self) -> float:
        return self._unit_and_white[1]

    @cached_property
    def _unit_and_white(self) -> tuple[float, float]:
        """The two numbers of the expansion, which has functions, too, and so is not kept."""
        found = expansion_of(self.gp, self.tolerance)
        return found.unit, found.white

    @property
    def _seen(self) -> tuple[int, ...]:
        """The entries of a state whose sum is f."""
        return self.run.lanes.motion.seen

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit the data."""
        require_inputs(Xs, name, self.X, "X")
        self.gp.kernel._validate_inputs(Xs, name)
        self.run.lanes.motion.require_reach(Xs[:, 0], name)

    @takes("x", "y", "noise_var", "weights")
    def extend(
        self,
        x: MatrixLike,
        y: VectorLike,
        *,
        noise_var: VectorLike | None = None,
        weights: VectorLike | None = None,
    ) -> StateSpaceForecast:
        """Add further readings y (m,) at x (m, 1), in O(m) where none is earlier than the last.

        Parameters
        ----------
        x, y, noise_var, weights
            As in `StateSpaceForecast.extend`.

        Returns
        -------
        StateSpaceForecast
            The posterior given all readings, which keeps the filter's belief after the last.
        """
        begun = named_as(self, self._forecast(self.columns))
        return begun.extend(x, y, noise_var=noise_var, weights=weights)

    def _forecast(self, columns: tuple[str, ...]) -> StateSpaceForecast:
        """The same posterior, ready for more readings."""
        xp = array_namespace(self.times)
        last = self.times[-1:]
        m, P = self._filtered(xp.asarray([self.times.shape[0] - 1], device=device(last)))
        belief = Belief(last, m, P, self.run.log_evidence)
        rows = Rows(self.X, self.y, self.noise_var, self.weights)
        model = self.tolerance, self.compiled
        return StateSpaceForecast(self.gp, (rows,), belief, *model, columns=columns)

    @property
    def _noise(self) -> float:
        return self.gp.noise_var

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        """``m + P λ`` and ``P − P Λ P`` of the filter's belief and the later readings."""
        return self._at_places(Xs, wanted=True)

    def _mean(self, Xs: Matrix) -> Vector:
        return self._at_places(Xs, wanted=False)[0]

    def _scales(self, Xs: Matrix) -> Vector:
        return self.gp.kernel._diag(Xs)

    def _process(self) -> GP:
        return self.gp

    def _moments_of_part(self, part: PartPosterior, Xs: Matrix) -> tuple[Vector, Vector]:
        """Return them by other entries of the same states."""
        seen, white = self._seen_of(part.kernel)
        pull, variance = self._unit(to_write(Xs[:, 0]), True, seen)
        xp = array_namespace(pull)
        pull = cast_like(math.sqrt(self._variance) * pull, Xs)
        variance = cast_like(self._variance * xp.clip(variance, 0.0, None) + white, Xs)
        return part.mean_in(means.with_hooks(self.gp.mean)._call(Xs), pull), variance

    def _covariance_of_part(self, part: PartPosterior, Xs: Matrix) -> Matrix:
        return self._covariance_by(Xs, part.kernel, self._seen_of(part.kernel)[0])

    def _seen_of(self, kernel: Kernel) -> tuple[tuple[int, ...], float]:
        return seen_of(kernel, self.gp, self.tolerance, self.run.lanes.motion)

    def fitted(self) -> Vector:
        """The mean of f at the readings, (n,), in their order: no search is needed."""
        alpha = self.run.lanes.ordered(self.run.smoothed_means.alpha)
        xp = array_namespace(alpha)
        if self.order is not None:
            alpha = xp.take(alpha, xp.argsort(self.order))
        noise = (self.reading_noise.variance + self._white) / math.sqrt(self._variance)
        # in this order NumPy needs no third array of that length
        return -noise * cast_like(alpha, self.y) + self.y

    @in_one_pool
    def _covariance(self, Xs: Matrix) -> Matrix:
        """``E(f(x) | y, z) (Var(f(z) | y) + τ)``: a mean given one more reading, of one at z.

        All others are zero, and τ is its noise. So no prior variance cancels.
        """
        x = to_write(Xs[:, 0])
        xp, noise = array_namespace(x), self._unit_noise
        tau = noise if isinstance(noise, float) else float(xp.min(noise))
        variance = self._unit(x, True, self._seen)[1] if x.shape[0] else x
        columns = [
            self._with_one(x[j : j + 1], tau)._unit(x, False, self._seen)[0] * (variance[j] + tau)
            for j in range(x.shape[0])
        ]
        known = xp.stack(columns, axis=1) if columns else x[:, None] * x
        white = self._white * eye(x.shape[0], x)
        return cast_like(self._variance * symmetric_part(known) + white, Xs)

    def _covariance_by(self, Xs: Matrix, kernel: Kernel, seen: tuple[int, ...]) -> Matrix:
        """``k(x, z) − k(x, X) K_y⁻¹ k(X, z)``, whose second part is a mean, of readings k(X, z)."""
        x = to_write(Xs)
        xp = array_namespace(x)
        prior = kernel._gram(x, None) / self._variance
        if not x.shape[0]:
            return cast_like(prior, Xs)
        cross = kernel._gram(self.times[:, None], x) / self._variance
        told = (self._given(cross[:, j]) for j in range(x.shape[0]))
        known = xp.stack([run._unit(x[:, 0], False, seen)[0] for run in told], axis=1)
        left = symmetric_part(prior - known)
        size, rest = (float(xp.max(xp.abs(a))) for a in (prior, left))
        # rounding is eps times the prior: here it is more than eps^¼ of what is left
        if epsilon(prior) ** 0.75 * size > rest:
            said = "the covariance of a part has lost its digits to its prior variance"
            warn_caller(f"{said}; ask for its variance", RoundingWarning)
        return cast_like(self._variance * left, Xs)

    @in_one_pool
    def _sample(self, Xs: Matrix, num_samples: int, stream: Stream, noise: bool) -> Matrix:
        """By the `joint`, or by Matheron's rule, [eq-bo-pathwise]: whichever has fewer filters."""
        what = "the values and the states of the places"
        states = 3 * self.run.lanes.motion.size * (self.times.shape[0] + Xs.shape[0])
        memory.require(1, num_samples * Xs.shape[0] + states, copies=1, like=Xs, what=what)
        if num_samples > Xs.shape[0]:
            return super()._sample(Xs, num_samples, stream, noise)
        values = self._drawn(to_write(Xs[:, 0]), stream, num_samples)
        if noise:
            values = with_noise(values, self.gp.noise_var, stream)
        mean = self._mean_of_f(Xs, None)[None, :]
        return mean + cast_like(values, Xs)

    def _drawn(self, x: Vector, stream: Stream, n: int) -> Matrix:
        """Draw functions less the mean at places x (m,), (n, m)."""
        xp, lanes = array_namespace(x), self.run.lanes
        motion, count = lanes.motion, lanes.count
        places = xp.concat([self.times, x])
        order = xp.argsort(places)
        ascending, back = xp.take(places, order), xp.argsort(order)
        # a draw of the prior looks at neither readings nor noise: zeros and a one stand for them
        whole = lanes_of(motion, ascending, xp.zeros_like(ascending), 1.0)
        noise = self._unit_noise**0.5
        rows = []
        for _ in range(n):
            z = stream.normal((whole.gaps.shape[0], motion.size, whole.gaps.shape[1]), like=x)
            f = xp.take(prior_draw(whole, z, motion.seen)[0, ...], back)
            misses = -f[:count] - noise * stream.normal(count, like=x)
            rows.append(f[count:] + self._given(misses)._unit(x, False, motion.seen)[0])
        drawn = xp.stack(rows) if rows else xp.zeros_like(x)[None, :][:0, :]
        white = self._white
        drawn = math.sqrt(self._variance) * drawn
        return with_noise(drawn, white, stream) if white else drawn

    def _given(self, readings: Vector) -> StateSpacePosterior:
        """Return the posterior of other readings (n,), in units of the signal and in its order."""
        motion = self.run.lanes.motion
        run = _run(motion, self.times, readings, self._unit_noise, self.compiled)
        return replace(self, run=run)

    def _with_one(self, z: Vector, noise: float) -> StateSpacePosterior:
        """Return the posterior of readings of zero, and one of one at z (1,) under this noise."""
        xp, motion = array_namespace(z), self.run.lanes.motion
        places = xp.concat([self.times, z])
        order = xp.argsort(places)
        none = xp.zeros_like(self.times)
        level = xp.concat([none + self._unit_noise, xp.zeros_like(z) + noise])
        readings = xp.concat([none, xp.ones_like(z)])
        times, readings, level = (xp.take(a, order) for a in (places, readings, level))
        run = _run(motion, times, readings, level, self.compiled)
        return replace(self, times=times, run=run)

    def _at_places(self, Xs: Matrix, wanted: bool) -> tuple[Vector, Vector]:
        mean, variance = self._unit(to_write(Xs[:, 0]), wanted, self._seen)
        xp = array_namespace(mean)
        mean = means.with_hooks(self.gp.mean)._call(Xs) + cast_like(
            math.sqrt(self._variance) * mean, Xs
        )
        variance = self._variance * xp.clip(variance, 0.0, None) + self._white
        return mean, cast_like(variance, Xs)

    def _unit(self, x: Vector, wanted: bool, seen: tuple[int, ...]) -> tuple[Vector, Vector]:
        """Mean, and variance if it is wanted, at places (m,), in units of the signal."""
        xp, size = array_namespace(x), self.run.lanes.motion.size
        blocks = memory.blocks(x.shape[0], size * size, _ENTRIES, like=x)
        parts = [self._at(x[rows], wanted, seen) for rows in blocks]
        mean, variance = (xp.concat(column) for column in zip(*parts, strict=True))
        return mean, variance

    def _at(self, x: Vector, wanted: bool, seen: tuple[int, ...]) -> tuple[Vector, Vector]:
        """The same of a block of places."""
        xp, motion, run = array_namespace(x), self.run.lanes.motion, self.run
        n = self.times.shape[0]
        # readings at a place itself count as before it: the filter has read them
        after = xp.searchsorted(self.times, x, side="right")
        left, right = xp.clip(after - 1, 0, None), xp.clip(after, None, n - 1)
        m, P = self._filtered(left)
        _ahead(motion, x - xp.take(self.times, left), x, m, P)
        shared = _signal(P, seen)
        mean, variance = _signal(m, seen), _signal(shared, seen)
        until = xp.clip(xp.take(self.times, right) - x, 0.0, FARTHEST)
        early = after == 0
        # before the first reading the filter has no belief: there the first reading's own is taken
        if bool(xp.any(early)):
            m, P, C = run.first.before(xp.minimum(x, self.times[:1]))
            mean = xp.where(early, _signal(m, seen), mean)
            variance = xp.where(early, _signal(_signal(P, seen), seen), variance)
            shared = xp.where(early, _signal(C, seen), shared)
            until = xp.where(early, xp.zeros_like(x), until)
        step = motion.at(until, x, float(xp.max(until)) if x.shape[0] else 0.0)
        pull = _at_readings(run.smoothed_means.adjoint, right, run)
        step.down(pull)
        pull = xp.where(after < n, pull, xp.zeros_like(pull))
        mean = mean + xp.sum(shared * pull, axis=0)
        if not wanted:
            return mean, mean
        late = _at_readings(run.smoothed_covariances.adjoint, right, run)
        step.carry_back(late)
        shrunk = xp.sum(shared * xp.sum(late * shared[None, :, :], axis=1), axis=0)
        shrunk = xp.where(after < n, shrunk, xp.zeros_like(shrunk))
        return mean, variance - shrunk

    def _filtered(self, places: Vector) -> tuple[Matrix, Stack]:
        """The filter's beliefs after some of the readings, (D, m) and (D, D, m)."""
        run = self.run
        m, P = _at_readings(run.mean, places, run), _at_readings(run.cov, places, run)
        shared = signal(P, run.lanes.motion.seen)
        precision = _at_readings(run.precision, places, run)
        noise = array_namespace(P).stack(run.lanes.later_noise)
        m += shared * (precision * _at_readings(run.innovation, places, run))
        seen = run.lanes.motion.seen
        narrow(P, shared, precision, _at_readings(noise, places, run), seen)
        return m, P

    def __repr__(self) -> str:
        """One line, without the arrays."""
        low, high = float(self.times[0]), float(self.times[-1])
        readings = f"{self.times.shape[0]} readings, {low:g} to {high:g}"
        return f"<StateSpacePosterior: {self.gp!r}, {readings}>"


@dataclass(frozen=True, eq=False, repr=False)
class StateSpaceForecast(Posterior):
    """The process on a line given readings, with more to come; `StateSpacePosterior.extend`.

    A reading that is no earlier than the last costs one step of the filter, O(D²) whatever came
    before, and so does a prediction after the last. Predictions of earlier places need the way
    back through all readings: it is taken once, when first asked for, and `smoothed` keeps it.

    Parameters
    ----------
    gp : GP
        The process that was conditioned.
    pieces : tuple of Rows
        The readings, the largest piece first: pieces of a size are joined, so that a reading is
        copied as often as the number of readings can be halved.
    belief : Belief
        The belief after the last reading.
    tolerance : float, default 1e-6
    compiled : bool, default False
        As in `StateSpaceGP`.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, Matern32, StateSpaceGP, condition
    >>> X = np.linspace(0.0, 9.0, 100)[:, None]
    >>> posterior = condition(StateSpaceGP(GP(Matern32(), 0.01)), X, np.sin(X[:, 0]))
    >>> for x in (9.1, 9.2, 9.3):
    ...     posterior = posterior.extend([[x]], [np.sin(x)])
    >>> posterior.mean([[9.4]]).round(2), posterior.X.shape
    (array([0.07]), (103, 1))
    """

    gp: GP
    pieces: tuple[Rows, ...]
    belief: Belief
    tolerance: float = field(default=1e-6)
    compiled: bool = field(default=False)

    @cached_property
    def _rows(self) -> Rows:
        return reduce(joined, self.pieces)

    @property
    def X(self) -> Matrix:
        """The inputs of all readings, (n, 1)."""
        return self._rows.X

    @property
    def y(self) -> Vector:
        """All readings, (n,)."""
        return self._rows.y

    @property
    def log_evidence(self) -> float:
        """``log p(y)`` of all readings."""
        n = sum(piece.y.shape[0] for piece in self.pieces)
        return self.belief.log_evidence - 0.5 * n * math.log(self._unit)

    @property
    def _unit(self) -> float:
        return expansion_of(self.gp, self.tolerance).unit

    @cached_property
    def smoothed(self) -> StateSpacePosterior:
        """The posterior of the whole line; O(n) when it is first asked for."""
        return posterior_of(self.gp, self._rows, self.tolerance, self.compiled)

    @takes("x", "y", "noise_var", "weights")
    def extend(
        self,
        x: MatrixLike,
        y: VectorLike,
        *,
        noise_var: VectorLike | None = None,
        weights: VectorLike | None = None,
    ) -> StateSpaceForecast:
        """Add further readings y (m,) at x (m, 1), in O(m) where none is earlier than the last.

        Parameters
        ----------
        x : Matrix, shape (m, 1)
            The further inputs. One that is earlier than the last reading costs a run of the filter
            over all.
        y : Vector, shape (m,)
            The further readings.
        noise_var, weights : Vector, shape (m,), or None
            Their known noise, as in `gpnotes.condition`.

        Returns
        -------
        StateSpaceForecast
            The posterior given all readings.
        """
        self.validate_inputs(x, "x")
        _check.alike(_check.vector(y, "y", size=x.shape[0]), "y", x, "x")
        self._require_known("extend", noise_var=noise_var, weights=weights)
        validate_noise(x, x.shape[0], noise_var, weights)
        return named_as(self, self._extended(Rows(x, y, noise_var, weights)))

    def _extended(self, rows: Rows) -> StateSpaceForecast:
        if not rows.y.shape[0]:
            return self
        x, found = to_write(rows.X[:, 0]), expansion_of(self.gp, self.tolerance)
        xp = array_namespace(x)
        pieces = _merged(self.pieces, rows)
        if float(xp.min(x)) < float(self.belief.place[0]):
            rows = reduce(joined, pieces)
            whole = posterior_of(self.gp, rows, self.tolerance, self.compiled)
            return whole._forecast(self.columns)
        misses = to_write(residual_of(self.gp, rows.X, rows.y)) / math.sqrt(found.unit)
        noise = along(noise_of(self.gp, rows), None).variance
        level = (xp.zeros_like(x) + noise + found.white) / found.unit
        order, belief, motion = xp.argsort(x), self.belief, found.motion
        x, misses, level = (xp.take(a, order) for a in (x, misses, level))
        for i in range(x.shape[0]):
            one = slice(i, i + 1)
            belief = belief.told(motion, x[one], misses[one], level[one])
        _check.no_overflow(belief.log_evidence, "y", _DISTANCE)
        model = self.tolerance, self.compiled
        return StateSpaceForecast(self.gp, pieces, belief, *model, columns=self.columns)

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit the data."""
        require_inputs(Xs, name, self.pieces[0].X, "X")
        self.gp.kernel._validate_inputs(Xs, name)
        expansion_of(self.gp, self.tolerance).motion.require_reach(Xs[:, 0], name)

    @property
    def _noise(self) -> float:
        return self.gp.noise_var

    def _process(self) -> GP:
        return self.gp

    def _is_later(self, Xs: Matrix) -> bool:
        xp = array_namespace(Xs)
        return not Xs.shape[0] or float(xp.min(Xs)) >= float(self.belief.place[0])

    def _ahead(self, Xs: Matrix, kernel: Kernel) -> tuple[Vector, Vector]:
        """Mean, beyond that of the process, and variance of f or of a part of it."""
        found = expansion_of(self.gp, self.tolerance)
        m, P = self.belief.ahead(found.motion, to_write(Xs[:, 0]))
        xp = array_namespace(m)
        seen, white = seen_of(kernel, self.gp, self.tolerance, found.motion)
        mean, variance = xp.zeros_like(m[0, ...]), xp.zeros_like(m[0, ...])
        if seen:
            mean, variance = signal(m, seen), signal(signal(P, seen), seen)
        variance = found.unit * xp.clip(variance, 0.0, None) + white
        return cast_like(math.sqrt(found.unit) * mean, Xs), cast_like(variance, Xs)

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        if not self._is_later(Xs):
            return self.smoothed._moments(Xs)
        mean, variance = self._ahead(Xs, self.gp.kernel)
        return means.with_hooks(self.gp.mean)._call(Xs) + mean, variance

    def _moments_of_part(self, part: PartPosterior, Xs: Matrix) -> tuple[Vector, Vector]:
        if not self._is_later(Xs):
            return self.smoothed._moments_of_part(part, Xs)
        pull, variance = self._ahead(Xs, part.kernel)
        return part.mean_in(means.with_hooks(self.gp.mean)._call(Xs), pull), variance

    def _covariance(self, Xs: Matrix) -> Matrix:
        return self.smoothed._covariance(Xs)

    def _covariance_of_part(self, part: PartPosterior, Xs: Matrix) -> Matrix:
        return self.smoothed._covariance_of_part(part, Xs)

    def __repr__(self) -> str:
        """One line, without the arrays."""
        n = sum(piece.y.shape[0] for piece in self.pieces)
        last = float(self.belief.place[0])
        return f"<StateSpaceForecast: {self.gp!r}, {n} readings, the last at {last:g}>"


def _merged(pieces: tuple[Rows, ...], rows: Rows) -> tuple[Rows, ...]:
    """Return the pieces with one more; those no larger than all after them are joined."""
    # as in a binary counter: of n readings one by one, each is copied O(log n) times
    while pieces and pieces[-1].y.shape[0] <= rows.y.shape[0]:
        rows = joined(pieces[-1], rows)
        pieces = pieces[:-1]
    return *pieces, rows


def posterior_of(gp: GP, rows: Rows, tolerance: float, compiled: bool) -> StateSpacePosterior:
    """Condition a process on rows of data that are validated."""
    found = expansion_of(gp, tolerance)
    found.motion.require_reach(rows.X[:, 0], "X")
    times, residual, order = sorted_readings(gp, rows.X, rows.y)
    run = filtered(found, times, residual, along(noise_of(gp, rows), order), compiled)
    found_posterior = StateSpacePosterior(
        gp, rows.X, rows.y, order, times, run, rows.noise_var, rows.weights, tolerance, compiled
    )
    warn_of_rounding(run, found_posterior.log_evidence)
    return found_posterior


def warn_of_rounding(run: Filtered, log_evidence: float) -> None:
    """Warn of a filter that rounding leaves less than a quarter of the digits of its evidence.

    Or, where a term grows, less than half of those of the variances of predictions.
    """
    eps, count = epsilon(run.precision), run.lanes.count
    enough = eps**0.25 * max(abs(log_evidence), count)
    if run.most_rounding > enough and run.rounding > enough:
        off = f"the log evidence {log_evidence:.6g} may be off by {run.rounding:.1e}"
        said = f"{off}, and so predictions"
    elif count > 1 and run.lanes.motion.grows and run.lost > eps**0.5:
        said = f"the variances of predictions may be off by {run.lost:.1e} of the noise"
    elif count > 1 and run.lost_afar > eps**0.5:
        said = f"predictions may be off by {run.lost_afar:.1e} of their deviations and variances"
    else:
        return
    trend = "where it has a trend, or give a GP mean=BasisMean(Powers()) instead"
    remedy = f"give a larger noise_var, or measure X from its first reading {trend}"
    warn_caller(f"{said}: {LOST}; {remedy}", RoundingWarning)


def sorted_readings(gp: GP, X: Matrix, y: Vector) -> tuple[Vector, Vector, Vector | None]:
    """Places and residuals in ascending order, and that order; None if they came in it."""
    times, residual = to_write(X[:, 0]), to_write(residual_of(gp, X, y))
    xp = array_namespace(times)
    if bool(xp.all(times[1:] >= times[:-1])):
        return times, residual, None
    order = xp.argsort(times)
    return xp.take(times, order), xp.take(residual, order), order


@in_one_pool
def filtered(
    found: Expansion, times: Vector, residual: Vector, noise: Noise, compiled: bool
) -> Filtered:
    """Filter residuals at ascending places, in units of the signal."""
    unit = residual / math.sqrt(found.unit)
    level = (noise.variance + found.white) / found.unit
    run = _run(found.motion, times, unit, level, compiled)
    _check.no_overflow(float(array_namespace(unit).vecdot(unit, unit)), "y", _DISTANCE)
    if not math.isfinite(run.log_evidence):
        raise _check.NoValueError(f"gp.noise_var must be larger: {LOST}")
    return run


def _run(
    motion: Motion, times: Vector, readings: Vector, noise: Numbers, compiled: bool
) -> Filtered:
    """The filter of readings at ascending times, by whichever way is the faster."""
    if compiled:
        return compiled_filter(motion, times, readings, noise)
    if is_walked(motion, times):
        return walked(motion, times, readings, noise)
    return kalman_filter(lanes_of(motion, times, readings, noise))


def along(noise: Noise, order: Vector | None) -> Noise:
    """The noise of readings in ascending order of their places, in float64 if each has its own."""

    def sorted_(a: Numbers) -> Numbers:
        if isinstance(a, float):
            return a
        a = to_write(a)
        return a if order is None else array_namespace(a).take(a, order)

    return Noise(*(sorted_(a) for a in noise))


def _ahead(motion: Motion, gaps: Vector, x: Vector, m: Matrix, P: Stack) -> None:
    """Put the beliefs a gap (m,) later, at places x, in the place of m and P."""
    xp = array_namespace(x)
    gaps = xp.clip(gaps, 0.0, FARTHEST)
    step = motion.at(gaps, x, float(xp.max(gaps)) if x.shape[0] else 0.0)
    step.up(m)
    step.carry(P)
    step.add_noise(P)


def _signal(M: Array, seen: tuple[int, ...]) -> Array:
    """The sum of some rows of M (D, …); of white noise alone there are none."""
    return signal(M, seen) if seen else array_namespace(M).zeros_like(M[0, ...])


def _at_readings(a: Array, places: Vector, run: Filtered) -> Array:
    """The entries (…, m) of an array (L, …, B) that belong to some of the readings."""
    xp = array_namespace(a)
    length, lanes, inner = a.shape[0], a.shape[-1], a.shape[1:-1]
    width = math.prod(inner)
    flat = xp.reshape(a, (-1,))
    base = (places % length) * (width * lanes) + places // length
    rows = [xp.take(flat, base + i * lanes) for i in range(width)]
    return xp.reshape(xp.stack(rows), (*inner, places.shape[0]))
