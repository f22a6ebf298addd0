"""The worth of several points together: the expected improvement of the best of them, by draws.

Functions are drawn from the posterior once, and stay. Of a batch X the improvement over b is, in
the mean over the draws, ``max(0, max_j f(x_j) − b)``. A batch is chosen one point after the other,
each where it adds most to those before, given the same draws: as gains diminish with the number of
points, that reaches at least 1 − 1/e of the worth of the best batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...draw.paths import Paths, sample_paths
from ...draw.paths.functions import validate_pairs
from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import Matrix, Vector, array_namespace, as_array, to_numpy
from ...infer.exact import ExactPosterior
from .acquisition import LogExpectedImprovement

__all__ = ["BatchExpectedImprovement"]

_SMOOTH = 1e-3  # of the deviation of the values, over which an improvement sets in


@dataclass(frozen=True)
class BatchExpectedImprovement:
    """Joint expected improvement: a batch is worth the gain of the best of its points.

    It stands in the place of an acquisition. A point that is asked for alone is that of
    `LogExpectedImprovement`.

    Parameters
    ----------
    num_samples : int, default 512
        The number of functions that are drawn.
    num_features : int, default 1024
        The number of features of a function, as in `sample_paths`.

    Notes
    -----
    A further point is worth its own expected improvement, in closed form, times the share of it, by
    the draws, that those before have not brought. Points under way count among those before. Not
    with gradients.

    Source: Ginsbourger, Le Riche & Carraro (2010) for the improvement, Wilson, Hutter & Deisenroth
    (2018) for fixed draws and one point after the other, Ament et al. (2023) for its logarithm.

    Examples
    --------
    >>> from gpnotes import stream
    >>> from gpnotes.decide.bayesopt import BatchExpectedImprovement, Optimiser
    >>> optimiser = Optimiser([(-1.0, 2.0)], acquisition=BatchExpectedImprovement(), rng=stream(1))
    >>> for _ in range(3):
    ...     for x in optimiser.ask_batch(4):
    ...         optimiser.tell(x, (x[0] - 0.5) ** 2)
    >>> bool(abs(optimiser.best.x[0] - 0.5) < 0.1)
    True
    """

    num_samples: int = 512
    num_features: int = 1024

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_samples", _check.whole(self.num_samples, "num_samples", 1))
        object.__setattr__(self, "num_features", validate_pairs(self.num_features))

    def __call__(self, best: float) -> LogExpectedImprovement:
        """Return the acquisition of a point alone, the largest value being `best`."""
        return LogExpectedImprovement(best)

    def drawn(self, posterior: ExactPosterior, stream: Stream) -> Paths:
        """Draw the functions."""
        return sample_paths(posterior, self.num_samples, num_features=self.num_features, rng=stream)


class BatchGain(NamedTuple):
    """The share of a point's own improvement that the points before lack, as a surface.

    With b_s the best value of function s at the points before, or b, it is the logarithm of

        mean_s τ softplus((f_s(x) − b_s) / τ)  /  mean_s τ softplus((f_s(x) − b) / τ).

    As τ goes to zero that is of the improvements themselves, whose slopes are zero wherever no
    function improves. Times the expected improvement of x alone, which has a closed form, it is
    the gain of x; the quotient cancels most of the error of the draws, which both share.
    """

    paths: Paths
    levels: Vector
    best: float

    def values(self, Xs: Matrix) -> Vector:
        values = self.paths._call(Xs)
        over = self._over(values, self.levels[:, None])
        return over.log_mean - self._over(values, self.best).log_mean

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        values, pull = self.paths._values_and_pullback(Xs)
        over, alone = self._over(values, self.levels[:, None]), self._over(values, self.best)
        bar = over.slopes() - alone.slopes()
        return over.log_mean - alone.log_mean, pull(bar)

    def _over(self, values: Matrix, level: Matrix | float) -> _Over:
        xp = array_namespace(values)
        z = (values - level) / _SMOOTH
        # far below zero softplus(z) is exp(z) to the last digit
        logs = xp.where(z > -30.0, xp.log(_softplus(xp.clip(z, -30.0, None))), z)
        top = xp.max(logs, axis=0)
        return _Over(z, logs, top + xp.log(xp.mean(xp.exp(logs - top[None, :]), axis=0)))


class _Over(NamedTuple):
    """``log softplus(z)`` of each function at each place, (count, m), and of their mean, (m,)."""

    z: Matrix
    logs: Matrix
    log_mean: Vector

    def slopes(self) -> Matrix:
        """The derivatives of the mean's logarithm by the values of the functions."""
        xp = array_namespace(self.z)
        # ∂ log softplus(z) = σ(z) / softplus(z); shared out over the functions
        by_z = xp.exp(-_softplus(-self.z) - self.logs)
        share = xp.exp(self.logs - self.log_mean[None, :]) / self.z.shape[0]
        return share * by_z / _SMOOTH


def batch_gain(paths: Paths, x: Matrix, best: float) -> BatchGain:
    """Return the new part of a point's improvement, with points x (q, d) in the batch already."""
    values = np.asarray(to_numpy(paths._call(x)), dtype=np.float64)
    levels = np.maximum(np.max(values, axis=1), best)
    return BatchGain(paths, as_array(levels, paths.inputs), best)


def _softplus(z: Matrix) -> Matrix:
    xp = array_namespace(z)
    return xp.log1p(xp.exp(-xp.abs(z))) + xp.clip(z, 0.0, None)
