"""The posterior of a process on a line, at any place of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ...ground import memory
from ...ground.chunks import Rows
from ...ground.random import Stream
from ...ground.threads import in_one_pool
from ...ground.xp import (
    Array,
    Matrix,
    Numbers,
    Stack,
    Vector,
    array_namespace,
    in_double,
    symmetric_part,
)
from ...model import means
from ...model.gaussian_process import GP
from ...model.kernels import Kernel, Sum
from ..known_noise import Noise, noise_of
from ..posterior import PartPosterior, Posterior, require_inputs, with_noise
from .as_terms import Expansion, expansion, expansion_of
from .kalman import Filtered, kalman_filter
from .motion import Motion
from .parallel_scan import lanes_of, signal
from .prior_draws import prior_draw

__all__ = ["StateSpacePosterior", "along"]

_ENTRIES = 2**18  # numbers of one kind that are worked on at a time


@dataclass(frozen=True, eq=False, repr=False)
class StateSpacePosterior(Posterior):
    """The process on a line given readings; made by `gpnotes.condition`.

    The inputs of a prediction (n*, 1) may be in any order. One costs a search for its neighbours
    among the readings, and nothing else: O(n* log n). A covariance takes a filter for each input,
    O(n* n), so `covariance` and `joint` are for a few of them. What variances need is worked out
    when they are first asked for. The arrays given are kept, not copied.

    More than n* functions are drawn by `joint`: their cost hardly grows with their number. Fewer go
    by Matheron's rule, [eq-bo-pathwise], O(n + n*) each: a function of the prior at readings and
    inputs, which the motion draws place by place, and what the filter makes of the readings less
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
        What the Kalman filter found.
    noise_var, weights : Vector, shape (n,), or None
        What is known of the noise of each reading, as in `gpnotes.condition`.
    tolerance : float, default 1e-6
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

    @property
    def reading_noise(self) -> Noise:
        """The noise of its readings, [eq-fv-known-noise]; one number where all are alike."""
        return noise_of(self.gp, Rows(self.X, self.y, self.noise_var, self.weights))

    @property
    def _unit_noise(self) -> Numbers:
        """Its variance in units of the signal, in the order of the places."""
        noise = along(self.reading_noise, self.order).variance
        return (noise + self._expansion.white) / self._variance

    @property
    def log_evidence(self) -> float:
        """``log p(y)``."""
        count = self.run.lanes.count
        return self.run.log_evidence - 0.5 * count * math.log(self._variance)

    @property
    def _variance(self) -> float:
        return self._expansion.unit

    @property
    def _expansion(self) -> Expansion:
        return expansion_of(self.gp, self.tolerance)

    @property
    def _seen(self) -> tuple[int, ...]:
        """The entries of a state whose sum is f."""
        return self.run.lanes.motion.seen

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit the data."""
        require_inputs(Xs, name, self.X, "X")

    @property
    def _noise(self) -> float:
        return self.gp.noise_var

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        """``m + P λ`` and ``P − P Λ P`` of the filter's belief and what later readings tell."""
        return self._at_places(Xs, wanted=True)

    def _mean(self, Xs: Matrix) -> Vector:
        return self._at_places(Xs, wanted=False)[0]

    def _scales(self, Xs: Matrix) -> Vector:
        return self.gp.kernel._diag(Xs)

    def _process(self) -> GP:
        return self.gp

    def _moments_of_part(self, part: PartPosterior, Xs: Matrix) -> tuple[Vector, Vector]:
        """By the same states, of which other entries are seen."""
        xp = array_namespace(Xs)
        seen, white = self._seen_of(part.kernel)
        pull, variance = self._unit(in_double(Xs[:, 0]), True, seen)
        pull = xp.astype(math.sqrt(self._variance) * pull, Xs.dtype)
        variance = xp.astype(self._variance * xp.clip(variance, 0.0, None) + white, Xs.dtype)
        return part.mean_in(means.with_hooks(self.gp.mean)._call(Xs), pull), variance

    def _covariance_of_part(self, part: PartPosterior, Xs: Matrix) -> Matrix:
        return self._covariance_by(Xs, part.kernel, self._seen_of(part.kernel)[0])

    def _seen_of(self, kernel: Kernel) -> tuple[tuple[int, ...], float]:
        """The entries of a state whose sum is a part of f, and the variance of its white noise."""
        starts, seen, white = iter(self._seen), [], 0.0
        picked = [*kernel.parts] if isinstance(kernel, Sum) else [kernel]
        whole = self.gp.kernel
        for one in whole.parts if isinstance(whole, Sum) else (whole,):
            found = expansion(one, self.tolerance)
            entries = [next(starts) for _ in found.terms]
            here = next((i for i, other in enumerate(picked) if other is one), None)
            if here is not None:
                del picked[here]
                seen += entries
                white += found.white
        return tuple(seen), white

    def fitted(self) -> Vector:
        """The mean of f at the readings, (n,), in their order: no search is needed."""
        xp = array_namespace(self.X)
        alpha = self.run.lanes.ordered(self.run.smoothed_means.alpha) / math.sqrt(self._variance)
        if self.order is not None:
            alpha = xp.take(alpha, xp.argsort(self.order))
        noise = self.reading_noise.variance + self._expansion.white
        return self.y - noise * xp.astype(alpha, self.y.dtype)

    @in_one_pool
    def _covariance(self, Xs: Matrix) -> Matrix:
        return self._covariance_by(Xs, self.gp.kernel, self._seen)

    def _covariance_by(self, Xs: Matrix, kernel: Kernel, seen: tuple[int, ...]) -> Matrix:
        """``k(x, z) − k(x, X) K_y⁻¹ k(X, z)``, whose second part is a mean, of readings k(X, z)."""
        xp, x = array_namespace(Xs), in_double(Xs)
        prior = kernel._gram(x, None) / self._variance
        cross = kernel._gram(self.times[:, None], x) / self._variance if x.shape[0] else x
        told = [self._given(cross[:, j]) for j in range(x.shape[0])]
        known = (
            xp.stack([run._unit(x[:, 0], False, seen)[0] for run in told], axis=1)
            if told
            else prior
        )
        return xp.astype(self._variance * symmetric_part(prior - known), Xs.dtype)

    @in_one_pool
    def _sample(self, Xs: Matrix, num_samples: int, stream: Stream, noise: bool) -> Matrix:
        """By the `joint`, or by Matheron's rule, [eq-bo-pathwise]: whichever has fewer filters."""
        what = "the values and the states of the places"
        states = 3 * self.run.lanes.motion.size * (self.times.shape[0] + Xs.shape[0])
        memory.require(1, num_samples * Xs.shape[0] + states, copies=1, like=Xs, what=what)
        if num_samples > Xs.shape[0]:
            return super()._sample(Xs, num_samples, stream, noise)
        values = self._drawn(in_double(Xs[:, 0]), stream, num_samples)
        if noise:
            values = with_noise(values, self.gp.noise_var, stream)
        mean = self._mean_of_f(Xs, None)[None, :]
        return mean + array_namespace(Xs).astype(values, Xs.dtype)

    def _drawn(self, x: Vector, stream: Stream, n: int) -> Matrix:
        """What functions are beyond the mean at places x (m,), (n, m)."""
        xp, lanes = array_namespace(x), self.run.lanes
        motion, count = lanes.motion, lanes.count
        places = xp.concat([self.times, x])
        order = xp.argsort(places)
        ascending, back = xp.take(places, order), xp.argsort(order)
        whole = lanes_of(motion, ascending, xp.zeros_like(ascending), 1.0)
        noise = self._unit_noise**0.5
        rows = []
        for _ in range(n):
            z = stream.normal((whole.gaps.shape[0], motion.size, whole.gaps.shape[1]), like=x)
            f = xp.take(prior_draw(whole, z, motion.seen)[0, ...], back)
            misses = -f[:count] - noise * stream.normal(count, like=x)
            rows.append(f[count:] + self._given(misses)._unit(x, False, motion.seen)[0])
        drawn = xp.stack(rows) if rows else xp.zeros_like(x)[None, :][:0, :]
        white = self._expansion.white
        drawn = math.sqrt(self._variance) * drawn
        return with_noise(drawn, white, stream) if white else drawn

    def _given(self, readings: Vector) -> StateSpacePosterior:
        """What other readings (n,) would have made, in units of the signal and in its order."""
        lanes = self.run.lanes
        other = lanes_of(lanes.motion, self.times, readings, self._unit_noise)
        return replace(self, run=kalman_filter(other))

    def _at_places(self, Xs: Matrix, wanted: bool) -> tuple[Vector, Vector]:
        xp = array_namespace(Xs)
        mean, variance = self._unit(in_double(Xs[:, 0]), wanted, self._seen)
        mean = xp.astype(math.sqrt(self._variance) * mean, Xs.dtype)
        mean = means.with_hooks(self.gp.mean)._call(Xs) + mean
        return mean, xp.astype(
            self._variance * xp.clip(variance, 0.0, None) + self._expansion.white, Xs.dtype
        )

    def _unit(self, x: Vector, wanted: bool, seen: tuple[int, ...]) -> tuple[Vector, Vector]:
        """Mean, and variance if it is wanted, at places (m,), in units of the signal."""
        xp, size = array_namespace(x), self.run.lanes.motion.size
        blocks = memory.blocks(x.shape[0], size * size, _ENTRIES)
        parts = [self._at(x[rows], wanted, seen) for rows in blocks]
        mean, variance = (xp.concat(column) for column in zip(*parts, strict=True))
        return mean, variance

    def _at(self, x: Vector, wanted: bool, seen: tuple[int, ...]) -> tuple[Vector, Vector]:
        """The same of a block of places."""
        xp, motion, run = array_namespace(x), self.run.lanes.motion, self.run
        n = self.times.shape[0]
        after = xp.searchsorted(self.times, x, side="right")
        left, right = xp.clip(after - 1, 0, None), xp.clip(after, None, n - 1)
        m, P = self._filtered(left)
        _ahead(motion, x - xp.take(self.times, left), x, m, P)
        m = xp.where(after > 0, m, xp.zeros_like(m))
        P = xp.where(after > 0, P, motion.prior(x))
        until = xp.clip(xp.take(self.times, right) - x, 0.0, None)
        step = motion.at(until, x, float(xp.max(until)) if x.shape[0] else 0.0)
        pull = _at_readings(run.smoothed_means.adjoint, right, run)
        step.down(pull)
        pull = xp.where(after < n, pull, xp.zeros_like(pull))
        shared = _signal(P, seen)
        mean = _signal(m, seen) + xp.sum(shared * pull, axis=0)
        if not wanted:
            return mean, mean
        late = _at_readings(run.smoothed_covariances.adjoint, right, run)
        step.carry_back(late)
        shrunk = xp.sum(shared * xp.sum(late * shared[None, :, :], axis=1), axis=0)
        shrunk = xp.where(after < n, shrunk, xp.zeros_like(shrunk))
        return mean, _signal(shared, seen) - shrunk

    def _filtered(self, places: Vector) -> tuple[Matrix, Stack]:
        """The filter's beliefs after some of the readings, (D, m) and (D, D, m)."""
        run = self.run
        m, P = _at_readings(run.mean, places, run), _at_readings(run.cov, places, run)
        shared = signal(P, run.lanes.motion.seen)
        gain = shared * _at_readings(run.precision, places, run)
        m += gain * _at_readings(run.innovation, places, run)
        P -= gain[:, None, :] * shared[None, :, :]
        return m, P

    def __repr__(self) -> str:
        """One line, without the arrays."""
        low, high = float(self.times[0]), float(self.times[-1])
        readings = f"{self.times.shape[0]} readings, {low:g} to {high:g}"
        return f"<StateSpacePosterior: {self.gp!r}, {readings}>"


def along(noise: Noise, order: Vector | None) -> Noise:
    """The noise of readings in ascending order of their places, in float64 if each has its own."""

    def sorted_(a: Numbers) -> Numbers:
        if isinstance(a, float):
            return a
        a = in_double(a)
        return a if order is None else array_namespace(a).take(a, order)

    return Noise(*(sorted_(a) for a in noise))


def _ahead(motion: Motion, gaps: Vector, x: Vector, m: Matrix, P: Stack) -> None:
    """Put the beliefs a gap (m,) later, at places x, in the place of m and P."""
    xp = array_namespace(x)
    gaps = xp.clip(gaps, 0.0, 1e30)
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
