"""Running moments of snapshots of the weights, and the normal distribution made of them by SWAG."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ground import check as _check
from ..ground import memory
from ..ground.conversion import takes
from ..ground.random import RNG, stream_of
from ..ground.showing import summary
from ..ground.xp import Matrix, MatrixLike, Vector, VectorLike, array_namespace, zeros
from .model import BayesianNetwork, _log_joint_and_gradient, check_data
from .posterior_mode import validate_steps

__all__ = ["SWAG", "RunningMoments", "fit_swag"]


@dataclass(frozen=True, eq=False)
class RunningMoments:
    """Running mean and covariance of vectors, without keeping them.

    Parameters
    ----------
    count : int
        How many were seen.
    mean : Vector, shape (p,)
        Their mean, [eq-bn-running].
    scatter : Matrix, shape (p, p)
        The sum of ``(theta − mean)(theta − mean)ᵀ``.

    Notes
    -----
    The mean of ``theta thetaᵀ`` less that of the means squared, [eq-bn-moments], is the same
    number, but loses digits to cancellation where the mean is large: here the deviations are
    summed, [eq-bn-welford] (Welford, 1962).

    Examples
    --------
    >>> import numpy as np
    >>> moments = RunningMoments.init(np.asarray([1.0, 0.0])).update(np.asarray([3.0, 0.0]))
    >>> moments.mean, moments.covariance()[0, 0]
    (array([2., 0.]), np.float64(2.0))
    """

    count: int
    mean: Vector
    scatter: Matrix

    __repr__ = summary

    @classmethod
    def init(cls, theta: Vector) -> RunningMoments:
        """Return the moments of one vector (p,), from which all others are made by `update`."""
        theta = 1.0 * _check.squarable(_check.vector(theta, "theta"), "theta")  # a copy
        return cls(1, theta, zeros((theta.shape[0], theta.shape[0]), theta))

    def update(self, theta: Vector) -> RunningMoments:
        """Return the moments with one more vector (p,)."""
        mean, deviation = _updated_mean(self.count, self.mean, theta)
        scatter = self.scatter + self.count / (self.count + 1) * (
            deviation[:, None] * deviation[None, :]
        )
        return RunningMoments(self.count + 1, mean, scatter)

    def covariance(self) -> Matrix:
        """Return the covariance (p, p), with one less than the count below."""
        return self.scatter / (_two_or_more(self.count) - 1)


def _updated_mean(count: int, mean: Vector, theta: Vector) -> tuple[Vector, Vector]:
    """The mean with one more, and how far that one was from the old mean."""
    theta = _check.vector(theta, "theta", size=mean.shape[0])
    _check.alike(_check.squarable(theta, "theta"), "theta", mean, "mean")
    deviation = theta - mean
    return mean + deviation / (count + 1), deviation


def _two_or_more(count: int) -> int:
    if count < 2:
        raise ValueError(f"count must be at least two for a covariance; got {count}")
    return count


@dataclass(frozen=True, eq=False)
class SWAG:
    """SWAG: the mean of all snapshots, their variances, and the last few deviations.

    Parameters
    ----------
    count : int
        How many were seen.
    mean : Vector, shape (p,)
        Their mean.
    squared_deviations : Vector, shape (p,)
        The sums of their squared deviations.
    deviations : tuple of Vector
        The last deviations from the mean, each as it was when the snapshot came.
    rank : int
        The most deviations that are kept, from 2.

    Notes
    -----
    Source: Maddox et al. (2019), with the deviations summed in the place of the squares.
    """

    count: int
    mean: Vector
    squared_deviations: Vector
    deviations: tuple[Vector, ...]
    rank: int

    __repr__ = summary

    @classmethod
    def init(cls, theta: Vector, rank: int) -> SWAG:
        """Return the state after one snapshot (p,); `update` adds the others."""
        theta = 1.0 * _check.squarable(_check.vector(theta, "theta"), "theta")  # a copy
        zeros = array_namespace(theta).zeros_like(theta)
        return cls(1, theta, zeros, (zeros,), _check.whole(rank, "rank", 2))

    def update(self, theta: Vector) -> SWAG:
        """Return the same with one more snapshot (p,)."""
        mean, deviation = _updated_mean(self.count, self.mean, theta)
        squared = self.squared_deviations + self.count / (self.count + 1) * deviation**2
        deviations = (*self.deviations, theta - mean)[-self.rank :]
        return replace(
            self, count=self.count + 1, mean=mean, squared_deviations=squared, deviations=deviations
        )

    def covariance(self) -> Matrix:
        """Return the covariance (p, p) of the draws, [eq-bn-swag]."""
        xp = array_namespace(self.mean)
        D = xp.stack(self.deviations)
        diagonal = xp.eye(self.mean.shape[0], dtype=D.dtype, device=D.device) * self._variances()
        return 0.5 * diagonal + xp.matrix_transpose(D) @ D / (2.0 * (D.shape[0] - 1))

    def _variances(self) -> Vector:
        return self.squared_deviations / _two_or_more(self.count)

    def draw(self, num_samples: int, *, rng: RNG) -> Matrix:
        """Draw the weights (num_samples, p) of networks.

        Parameters
        ----------
        num_samples : int
            How many.

        Returns
        -------
        Matrix, shape (num_samples, p)
            The weights.
        """
        stream = stream_of(rng)
        num_samples = memory.count(
            num_samples, "num_samples", each=3 * self.mean.shape[0], like=self.mean
        )
        D, xp = array_namespace(self.mean).stack(self.deviations), array_namespace(self.mean)
        own = stream.normal((num_samples, D.shape[1]), like=D) * xp.sqrt(0.5 * self._variances())
        shared = stream.normal((num_samples, D.shape[0]), like=D) @ D
        return self.mean + own + shared / (2.0 * (D.shape[0] - 1)) ** 0.5


@takes("X", "y")
def fit_swag(
    model: BayesianNetwork,
    X: MatrixLike,
    y: VectorLike,
    start: Vector,
    *,
    num_steps: int = 1000,
    learning_rate: float = 0.01,
    batch: int = 10,
    every: int = 10,
    rank: int = 20,
    rng: RNG,
) -> SWAG:
    """Take stochastic gradient steps of one length, and snapshots of the weights on the way.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    start : Vector, shape (p,)
        Where it starts: the most probable weights.
    num_steps : int, default 1000
        The number of steps.
    learning_rate : float, default 0.01
        The length of a step over that of the gradient of the log joint density per reading.
    batch : int, default 10
        The readings of a step, from 1 to n, drawn without replacement.
    every : int, default 10
        The steps from one snapshot to the next; the first one comes after as many.
    rank : int, default 20
        The most deviations that are kept, from 2.
    rng : Stream, Generator or int
        The stream that picks the readings of a step.
    """
    num_steps, learning_rate = validate_steps(num_steps, learning_rate)
    stream = stream_of(rng)
    _check.instance(model, "model", BayesianNetwork)
    theta = _check.vector(start, "start", size=model.network.num_weights)
    every = _check.whole(every, "every", 1, max(num_steps // 2, 1))
    rank = _check.whole(rank, "rank", 2)
    data = check_data(model, X, y, _check.alike(theta, "start", _check.matrix(X, "X"), "X"), None)
    n, swag = X.shape[0], None
    batch, xp = _check.whole(batch, "batch", 1, n), array_namespace(X)
    for step in range(1, num_steps + 1):
        rows = stream.choice(n, batch, like=X)
        batch_data = data._replace(X=xp.take(X, rows, axis=0), y=xp.take(y, rows, axis=0))
        value, gradient = _log_joint_and_gradient(model, theta, batch_data, prior=batch / n)
        theta = theta + learning_rate / batch * gradient
        if not (_check.has_squares(theta) and bool(xp.isfinite(value))):
            raise _check.NoValueError(
                f"learning_rate must be smaller: the steps overflow; got {learning_rate}"
            )
        if step % every == 0:
            swag = SWAG.init(theta, rank) if swag is None else swag.update(theta)
    assert swag is not None
    return swag
