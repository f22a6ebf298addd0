"""Laplace's approximation of the last layer: a linear model on the features that were learnt."""

from __future__ import annotations

from dataclasses import dataclass

from ..ground import check as _check
from ..ground import memory
from ..ground.conversion import takes
from ..ground.linalg import Cholesky, _cholesky, warn_of_jitter
from ..ground.random import RNG, stream_of
from ..ground.showing import summary
from ..ground.xp import Matrix, MatrixLike, Vector, VectorLike, array_namespace
from .model import BayesianNetwork, check_data

__all__ = ["LastLayer", "fit_last_layer"]


@dataclass(frozen=True, eq=False)
class LastLayer:
    """Normal weights of the last layer around those that were found; all others are held.

    Parameters
    ----------
    theta : Vector, shape (p,)
        The weights that were found.
    factors : tuple of Cholesky
        For each output, the factor of the precision (H + 1, H + 1) of its weights and offset.
    """

    theta: Vector
    factors: tuple[Cholesky, ...]

    __repr__ = summary

    def draw(self, num_samples: int, *, rng: RNG) -> Matrix:
        """Draw the weights (num_samples, p) of networks, equal in all but the last layer.

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
        xp, p = array_namespace(self.theta), self.theta.shape[0]
        num_samples = memory.count(num_samples, "num_samples", each=2 * p, like=self.theta)
        deviations = []
        for factor in self.factors:
            noise = stream.normal((factor.size, num_samples), like=self.theta)
            deviations.append(xp.matrix_transpose(factor._half_solve_t(noise)))
        last = xp.reshape(xp.stack(deviations, axis=-1), (num_samples, -1))
        unmoved = xp.zeros((num_samples, p - last.shape[1]), dtype=last.dtype, device=last.device)
        return self.theta + xp.concat([unmoved, last], axis=1)


@takes("X", "y")
def fit_last_layer(
    model: BayesianNetwork, theta: Vector, X: MatrixLike, y: VectorLike
) -> LastLayer:
    """Approximate the posterior of the last layer's weights, all others held, by a normal one.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    theta : Vector, shape (p,)
        The most probable weights, as `map_estimate` finds them.

    Returns
    -------
    LastLayer
        The normal distribution: [eq-bn-last].

    Notes
    -----
    The curvature is the expected one, over readings from the model: of the mean it is the true
    one, of the log variance one half a reading, and between the two zero. With one output, whose
    noise is given, the last layer's posterior is normal, and this is it, if its weights are the
    most probable ones. Costs O(n H² + H³).
    Source: MacKay (1992); Kristiadi, Hein & Hennig (2020) for the last layer alone.
    """
    _check.instance(model, "model", BayesianNetwork)
    theta = _check.vector(theta, "theta", size=model.network.num_weights)
    check_data(model, X, y, theta, None)
    xp, network = array_namespace(theta), model.network
    features = network.features(theta, X)
    _, log_variance = model.outputs(network._call(theta, X))
    weights = [xp.exp(-log_variance), xp.full_like(log_variance, 0.5)][: network.sizes[-1]]
    width, outputs = features.shape[1], network.sizes[-1]
    prior = xp.reshape(model.variances(theta)[-width * outputs :], (width, outputs))
    factors = []
    for output, weight in enumerate(weights):
        precision = xp.matrix_transpose(features * weight[:, None]) @ features
        diagonal = xp.eye(width, dtype=theta.dtype, device=theta.device) / prior[:, output]
        factors.append(_cholesky(precision + diagonal, name="the precision of theta"))
        warn_of_jitter(factors[-1].jitter, "the precision of the last layer")
    return LastLayer(theta, tuple(factors))
