"""Expected improvement over a best height that is not known, since readings have noise.

f is drawn where it was read; given a draw the improvement has its closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground.linalg import cholesky
from ...ground.random import Stream
from ...ground.xp import (
    HostMatrix,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    epsilon,
    log_sum_exp,
    solve_triangular,
    to_numpy,
)
from ...infer.exact import ExactPosterior
from ...infer.verbs import condition
from ...model.gaussian_process import GP, differentiable_mean, require_known_mean
from ...model.means import with_hooks
from .acquisition import LogExpectedImprovement
from .repeats import are_apart

__all__ = ["NoisyExpectedImprovement"]

_KNOWN = 1e-8  # of the variance of the process: how exactly a draw knows f where it was read


@dataclass(frozen=True)
class NoisyExpectedImprovement:
    """Noisy expected improvement: over the best that f may be where it was read.

    It stands in the place of an acquisition. Under noise `LogExpectedImprovement`, over the highest
    posterior mean, explores too little.

    Parameters
    ----------
    num_samples : int, default 32
        The number S of draws of f at the n places that were read.

    Notes
    -----
    The logarithm of [eq-bo-noisy], with the mean over draws in place of the expectation; they stay
    as they are while one climbs. It takes O(n³ + n² S) once a step and O(n² + n S) for each place.
    Places under way count among those that were read, so that a batch is worth the gain of the best
    of its points. A draw knows f where it was read up to a deviation of 1e-4 of the process's, in
    float32 of some more. Without noise it is `LogExpectedImprovement`. Not with gradients.

    Source: Letham, Karrer, Ottoni & Bakshy (2019), section 3; Ament et al. (2023).

    Examples
    --------
    >>> from gpnotes import stream
    >>> from gpnotes.decide.bayesopt import Optimiser
    >>> noise = stream(1)
    >>> optimiser = Optimiser([(-1.0, 2.0)], acquisition=NoisyExpectedImprovement(), rng=1)
    >>> for _ in range(12):
    ...     x = optimiser.ask()
    ...     optimiser.tell(x, (x[0] - 0.5) ** 2 + 0.1 * float(noise.normal()))
    >>> bool(abs(optimiser.recommend().x[0] - 0.5) < 0.3)
    True
    """

    num_samples: int = 32

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_samples", _check.whole(self.num_samples, "num_samples", 1))

    def __call__(self, best: float) -> LogExpectedImprovement:
        """Return the acquisition where the largest value is known to be `best`."""
        return LogExpectedImprovement(best)


class NoisyGain(NamedTuple):
    """The logarithm of the mean over draws of their expected improvements, as a surface.

    Given the draw s of f at places X the mean at x is ``m(x) + k(x, X) v_s`` with `weights`
    ``v_s = K⁻¹ (f_s − m(X))``, (S, n), and the variance is the same for all draws.
    `known` is the process given one draw; `levels` (S,) are the heights to improve on.
    """

    known: ExactPosterior
    weights: Matrix
    levels: Vector

    def values(self, Xs: Matrix) -> Vector:
        return _log_mean(self._given(Xs).improvements()[0])

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        xp = array_namespace(Xs)
        given = self._given(Xs)
        logs, by_gap, by_variance = given.improvements()
        value = _log_mean(logs)
        share = xp.exp(logs - xp.where(value > -math.inf, value, 0.0)) / logs.shape[0]
        mean_bar, variance_bar = share * by_gap, xp.sum(share * by_variance, axis=0)
        gp, X = self.known.gp, self.known.X
        solved = solve_triangular(self.known.cholesky.lower, given.half, transpose=True)
        K_bar = xp.matrix_transpose(self.weights) @ mean_bar - 2.0 * solved * variance_bar[None, :]
        _, _, by_cross = gp.kernel._pullback(X, Xs, K_bar)
        _, by_diag = gp.kernel._diag_pullback(Xs, variance_bar)
        _, by_mean = differentiable_mean(gp).pullback(Xs, xp.sum(mean_bar, axis=0))
        return value, by_cross + by_diag + by_mean

    def _given(self, Xs: Matrix) -> _Given:
        """Predict f by each draw."""
        xp = array_namespace(Xs)
        gp = self.known.gp
        cross = gp.kernel._gram(self.known.X, Xs)
        half = solve_triangular(self.known.cholesky.lower, cross)
        left = xp.clip(gp.kernel._diag(Xs) - xp.sum(half * half, axis=0), 0.0, None)
        means = with_hooks(gp.mean)._call(Xs)[None, :] + self.weights @ cross
        return _Given(means - self.levels[:, None], left, half)


class _Given(NamedTuple):
    """How far the means are above the levels, (S, m), the variance, (m,), and ``L⁻¹ k``, (n, m)."""

    gaps: Matrix
    variance: Vector
    half: Matrix

    def improvements(self) -> tuple[Matrix, Matrix, Matrix]:
        """The logarithms of the expected improvements, and their derivatives; (S, m) each."""
        xp, shape = array_namespace(self.gaps), self.gaps.shape
        variances = xp.broadcast_to(self.variance[None, :], shape)
        flat = xp.reshape(self.gaps, (-1,)), xp.reshape(variances, (-1,))
        logs, (by_gap, by_variance) = LogExpectedImprovement(0.0).with_derivatives(*flat)
        return xp.reshape(logs, shape), xp.reshape(by_gap, shape), xp.reshape(by_variance, shape)


def _log_mean(logs: Matrix) -> Vector:
    return log_sum_exp(logs, 1.0 / logs.shape[0], axis=0)


def noisy_gain(
    posterior: ExactPosterior,
    places: HostMatrix,
    good: HostMatrix,
    num_samples: int,
    stream: Stream,
) -> NoisyGain:
    """Return what a place gains on the best of `good` ones (m, d), which are among `places`.

    f is drawn at these (n, d), and wherever else the posterior has a reading.
    """
    gp, X = require_known_mean(posterior.gp), posterior.X
    differentiable_mean(gp)
    xp = array_namespace(X)
    rows = [to_numpy(X), to_numpy(as_array(places, X))]
    at = as_array(np.unique(np.concatenate(rows), axis=0), X)
    n = at.shape[0]
    noise = max(_KNOWN, 4.0 * n * epsilon(X)) * float(xp.max(gp.kernel.diag(at)))
    mean, root = posterior.mean(at), cholesky(posterior.covariance(at), jitter=noise).lower
    drawn = mean[:, None] + root @ stream.normal((n, num_samples), like=X)
    worst = np.where(are_apart(to_numpy(at), to_numpy(as_array(good, X))), -math.inf, 0.0)
    levels = xp.max(drawn + as_array(worst, X)[:, None], axis=0)
    known = condition(GP(gp.kernel, noise, gp.mean), at, drawn[:, 0])
    weights = known.cholesky.solve(drawn - gp.mean(at)[:, None])
    return NoisyGain(known, xp.matrix_transpose(weights), levels)
