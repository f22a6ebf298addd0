"""Laplace's approximation of all weights, with the network's tangent in the network's place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ground import check as _check
from ..ground import memory
from ..ground.conversion import takes
from ..ground.linalg import Cholesky, _cholesky, warn_of_jitter
from ..ground.random import RNG, stream_of
from ..ground.showing import summary
from ..ground.xp import LOG_2PI, Array, Matrix, MatrixLike, Vector, VectorLike, array_namespace
from .layers import Network
from .model import BayesianNetwork, Mixture, _log_joint_and_gradient, check_data

__all__ = ["LinearisedLaplace", "fit_linearised_laplace"]


@dataclass(frozen=True, eq=False)
class LinearisedLaplace:
    """A normal distribution around the weights that were found, and predictions of its tangent.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    theta : Vector, shape (p,)
        The weights that were found.
    factor : Cholesky
        The factor of the precision (p, p) of all weights, [eq-bn-ggn].
    log_evidence : float
        Laplace's approximation of the log evidence, by which priors are compared.
    """

    model: BayesianNetwork
    theta: Vector
    factor: Cholesky
    log_evidence: float

    __repr__ = summary

    @takes("X")
    def outputs(self, X: MatrixLike) -> tuple[Matrix, Array]:
        """Return mean and covariance of the tangent's outputs at each input.

        Returns
        -------
        mean : Matrix, shape (n, k)
            The outputs of the network that was found.
        covariance : Array, shape (n, k, k)
            That of the outputs at one input, [eq-bn-tangent].
        """
        F, J = self._tangent(X)
        xp, (n, k, p) = array_namespace(F), J.shape
        half = self.factor._half_solve(xp.matrix_transpose(xp.reshape(J, (n * k, p))))
        half = xp.reshape(xp.matrix_transpose(half), (n, k, p))
        return F, half @ xp.matrix_transpose(half)

    def _tangent(self, X: Matrix) -> tuple[Matrix, Array]:
        """The outputs, and their derivatives by all weights."""
        network = self.model.network
        theta, X = network.check_weights_and_inputs(self.theta, X)
        return network._call(theta, X), _jacobian(network, theta, X)

    def draw(self, num_samples: int, *, rng: RNG) -> Matrix:
        """Draw the weights (num_samples, p) of networks, which are no tangents.

        Parameters
        ----------
        num_samples : int
            How many.

        Returns
        -------
        Matrix, shape (num_samples, p)
            The weights.
        """
        return self.theta + self._deviations(num_samples, rng)

    def _deviations(self, num_samples: int, rng: RNG) -> Matrix:
        stream, xp = stream_of(rng), array_namespace(self.theta)
        num_samples = memory.count(
            num_samples, "num_samples", each=2 * self.factor.size, like=self.theta
        )
        noise = stream.normal((self.factor.size, num_samples), like=self.theta)
        return xp.matrix_transpose(self.factor._half_solve_t(noise))

    @takes("X")
    def predict(self, X: MatrixLike, num_samples: int = 100, *, rng: RNG) -> Mixture:
        """Return the predictions of a reading at X (n, d) by draws of the tangent, as a mixture.

        Parameters
        ----------
        num_samples : int, default 100
            How many are drawn.

        Returns
        -------
        Mixture
            A normal distribution for each draw, at each input.
        """
        F, J = self._tangent(X)
        xp, (n, k, p) = array_namespace(F), J.shape
        deviations = self._deviations(num_samples, rng)
        moved = deviations @ xp.matrix_transpose(xp.reshape(J, (n * k, p)))
        outputs = F + xp.reshape(moved, (deviations.shape[0], n, k))
        mean, log_variance = self.model.outputs(outputs)
        with np.errstate(over="ignore"):
            variance = xp.exp(log_variance)
        return Mixture(mean, _check.no_overflow(variance, "X", "the variance of the noise"))


def _jacobian(network: Network, theta: Vector, X: Matrix) -> Array:
    """Derivatives (n, k, p) of all outputs by all weights: a pullback for each output."""
    xp, k = array_namespace(X), network.sizes[-1]
    memory.require(X.shape[0], k * theta.shape[0], copies=3, like=X, what="the tangent of all rows")
    one = xp.eye(k, dtype=X.dtype, device=X.device)
    bars = [xp.broadcast_to(one[output, :], (X.shape[0], k)) for output in range(k)]
    return xp.stack([network.row_gradients(theta, X, bar) for bar in bars], axis=1)


@takes("X", "y")
def fit_linearised_laplace(
    model: BayesianNetwork, theta: Vector, X: MatrixLike, y: VectorLike
) -> LinearisedLaplace:
    """Approximate the posterior of all weights by a normal one, for the tangent of the network.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    theta : Vector, shape (p,)
        The most probable weights, as `map_estimate` finds them.

    Returns
    -------
    LinearisedLaplace
        The normal distribution, and its approximation of the evidence.

    Notes
    -----
    The curvature is the generalised Gauss-Newton one, ``Jᵀ Λ J`` with the expected curvature Λ of
    a reading by the outputs: of the mean one over its variance, of the log variance one half. It
    is the true one of a network without hidden layers and with a given noise, whose posterior is
    normal: then all of this is exact. Costs O(n p² + p³).
    Source: MacKay (1992); Immer, Korzepa & Bauer (2021) for the tangent in predictions.

    Examples
    --------
    >>> from gpnotes.networks import BayesianNetwork, Network
    >>> model = BayesianNetwork(Network((1, 1)), noise_variance=1.0)
    >>> X, y = np.asarray([[1.0], [2.0]]), np.asarray([1.0, 2.0])
    >>> found = fit_linearised_laplace(model, np.asarray([0.8, 0.1]), X, y)
    >>> found.outputs(np.asarray([[3.0]]))[1].round(4)
    array([[[1.6667]]])
    """
    _check.instance(model, "model", BayesianNetwork)
    theta = _check.vector(theta, "theta", size=model.network.num_weights)
    data = check_data(model, X, y, theta, None)
    xp, network = array_namespace(theta), model.network
    value, _ = _log_joint_and_gradient(model, theta, data)
    _check.no_overflow(value, "theta", "the log density")
    _, log_variance = model.outputs(network._call(theta, X))
    curvatures = [xp.exp(-log_variance), xp.full_like(log_variance, 0.5)][: network.sizes[-1]]
    J = _jacobian(network, theta, X)
    roots = xp.reshape(J * xp.sqrt(xp.stack(curvatures, axis=1))[:, :, None], (-1, J.shape[2]))
    prior = xp.eye(J.shape[2], dtype=theta.dtype, device=theta.device) / data.variances
    factor = _cholesky(xp.matrix_transpose(roots) @ roots + prior, name="precision")
    warn_of_jitter(factor.jitter, "the precision of all weights")
    log_evidence = float(value) + 0.5 * (LOG_2PI * factor.size - float(factor.log_det))
    return LinearisedLaplace(model, theta, factor, log_evidence)
