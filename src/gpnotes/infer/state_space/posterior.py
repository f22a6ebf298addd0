"""The posterior of a Matérn process on a line, at any place of it."""

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
from ..known_noise import Noise, noise_of
from ..posterior import Posterior, require_inputs, with_noise
from .kalman import Filtered, kalman_filter
from .matern_sde import FAR, Motion, kernel_of
from .parallel_scan import carry, lanes_of
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

    @property
    def reading_noise(self) -> Noise:
        """The noise of its readings, [eq-fv-known-noise]; one number where all are alike."""
        return noise_of(self.gp, Rows(self.X, self.y, self.noise_var, self.weights))

    @property
    def _unit_noise(self) -> Numbers:
        """Its variance in units of the signal, in the order of the places."""
        return along(self.reading_noise, self.order).variance / self._variance

    @property
    def log_evidence(self) -> float:
        """``log p(y)``."""
        count = self.run.lanes.count
        return self.run.log_evidence - 0.5 * count * math.log(self._variance)

    @property
    def _variance(self) -> float:
        return kernel_of(self.gp).variance

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

    def fitted(self) -> Vector:
        """The mean of f at the readings, (n,), in their order: no search is needed."""
        xp = array_namespace(self.X)
        alpha = self.run.lanes.ordered(self.run.smoothed_means.alpha) / math.sqrt(self._variance)
        if self.order is not None:
            alpha = xp.take(alpha, xp.argsort(self.order))
        return self.y - self.reading_noise.variance * xp.astype(alpha, self.y.dtype)

    @in_one_pool
    def _covariance(self, Xs: Matrix) -> Matrix:
        """``k(x, z) − k(x, X) K_y⁻¹ k(X, z)``, whose second part is a mean, of readings k(X, z)."""
        xp, kernel, x = array_namespace(Xs), kernel_of(self.gp), in_double(Xs)
        prior = kernel._gram(x, None) / kernel.variance
        told = [
            self._given(kernel._gram(self.times[:, None], x[j : j + 1, :])[:, 0] / kernel.variance)
            for j in range(x.shape[0])
        ]
        known = xp.stack([run._unit(x[:, 0], False)[0] for run in told], axis=1) if told else prior
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
        along = motion.rate * xp.take(places, order)
        whole, back = lanes_of(motion, along, xp.zeros_like(along), 1.0), xp.argsort(order)
        noise = self._unit_noise**0.5
        rows = []
        for _ in range(n):
            z = stream.normal((whole.gaps.shape[0], motion.size, whole.gaps.shape[1]), like=x)
            f = xp.take(prior_draw(whole, z), back)
            misses = -f[:count] - noise * stream.normal(count, like=x)
            rows.append(f[count:] + self._given(misses)._unit(x, False)[0])
        drawn = xp.stack(rows) if rows else xp.zeros_like(x)[None, :][:0, :]
        return math.sqrt(self._variance) * drawn

    def _given(self, readings: Vector) -> StateSpacePosterior:
        """What other readings (n,) would have made, in units of the signal and in its order."""
        lanes = self.run.lanes
        other = lanes_of(lanes.motion, lanes.motion.rate * self.times, readings, self._unit_noise)
        return replace(self, run=kalman_filter(other))

    def _at_places(self, Xs: Matrix, wanted: bool) -> tuple[Vector, Vector]:
        xp = array_namespace(Xs)
        mean, variance = self._unit(in_double(Xs[:, 0]), wanted)
        mean = xp.astype(math.sqrt(self._variance) * mean, Xs.dtype)
        mean = means.with_hooks(self.gp.mean)._call(Xs) + mean
        return mean, xp.astype(self._variance * xp.clip(variance, 0.0, None), Xs.dtype)

    def _unit(self, x: Vector, wanted: bool) -> tuple[Vector, Vector]:
        """Mean, and variance if it is wanted, at places (m,), in units of the signal."""
        xp, size = array_namespace(x), self.run.lanes.motion.size
        blocks = memory.blocks(x.shape[0], size * size, _ENTRIES)
        parts = [self._at(x[rows], wanted) for rows in blocks]
        mean, variance = (xp.concat(column) for column in zip(*parts, strict=True))
        return mean, variance

    def _at(self, x: Vector, wanted: bool) -> tuple[Vector, Vector]:
        """The same of a block of places."""
        xp, motion, run = array_namespace(x), self.run.lanes.motion, self.run
        n = self.times.shape[0]
        after = xp.searchsorted(self.times, x, side="right")
        left, right = xp.clip(after - 1, 0, None), xp.clip(after, None, n - 1)
        m, P = self._filtered(left)
        since = motion.rate * (x - xp.take(self.times, left))
        since = xp.where(after > 0, since, xp.full_like(x, FAR))
        _ahead(motion, xp.clip(since, None, FAR), m, P)
        until = motion.rate * (xp.take(self.times, right) - x)
        until = xp.clip(xp.where(after < n, until, xp.full_like(x, FAR)), None, FAR)
        pull, decay = _at_readings(run.smoothed_means.adjoint, right, run), xp.exp(-until)
        motion.down(until, pull)
        mean = m[0, ...] + decay * xp.sum(P[0, ...] * pull, axis=0)
        if not wanted:
            return mean, mean
        late = _at_readings(run.smoothed_covariances.adjoint, right, run)
        carry(motion.down, until, late)
        shrunk = xp.sum(P[0, ...] * xp.sum(late * P[0, ...][None, :, :], axis=1), axis=0)
        return mean, P[0, 0, ...] - decay * decay * shrunk

    def _filtered(self, places: Vector) -> tuple[Matrix, Stack]:
        """The filter's beliefs after some of the readings, (D, m) and (D, D, m)."""
        run = self.run
        m, P = _at_readings(run.mean, places, run), _at_readings(run.cov, places, run)
        gain = P[0, ...] * _at_readings(run.precision, places, run)
        m += gain * _at_readings(run.innovation, places, run)
        P -= gain[:, None, :] * P[0, ...][None, :, :]
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


def _ahead(motion: Motion, s: Vector, m: Matrix, P: Stack) -> None:
    """Put the beliefs a gap s (m,) later in the place of m and P."""
    xp = array_namespace(s)
    decay = xp.exp(-s)
    motion.up(s, m)
    m *= decay
    carry(motion.up, s, P)
    P *= decay * decay
    P += motion.noise(s, decay * decay, float(xp.max(s)) if s.shape[0] else 0.0)


def _at_readings(a: Array, places: Vector, run: Filtered) -> Array:
    """The entries (…, m) of an array (L, …, B) that belong to some of the readings."""
    xp = array_namespace(a)
    length, lanes, inner = a.shape[0], a.shape[-1], a.shape[1:-1]
    width = math.prod(inner)
    flat = xp.reshape(a, (-1,))
    base = (places % length) * (width * lanes) + places // length
    rows = [xp.take(flat, base + i * lanes) for i in range(width)]
    return xp.reshape(xp.stack(rows), (*inner, places.shape[0]))
