"""Bayes by backprop: independent normal distributions of the weights, fitted through draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..ground import check as _check
from ..ground import memory
from ..ground.adam import Adam
from ..ground.conversion import takes
from ..ground.random import RNG, stream_of
from ..ground.showing import summary
from ..ground.xp import Matrix, MatrixLike, Vector, VectorLike, array_namespace, keep_copies
from .model import BayesianNetwork, Data, _log_joint_and_gradient, check_data
from .posterior_mode import validate_steps

__all__ = ["FittedMeanField", "MeanField", "elbo_and_gradient", "fit_mean_field"]


@dataclass(frozen=True, eq=False)
class MeanField:
    """Weights that are independent and normal: ``theta_j ~ N(mean_j, exp(2 log_sd_j))``.

    Parameters
    ----------
    mean : Vector, shape (p,)
        The means.
    log_sd : Vector, shape (p,)
        The logarithms of the standard deviations.
    """

    mean: Vector
    log_sd: Vector

    __repr__ = summary

    def __post_init__(self) -> None:
        size = _check.vector(self.mean, "mean").shape[0]
        _check.alike(_check.vector(self.log_sd, "log_sd", size=size), "log_sd", self.mean, "mean")
        keep_copies(self, "mean", "log_sd")

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
            num_samples, "num_samples", each=2 * self.mean.shape[0], like=self.mean
        )
        return self.reparameterise(stream.normal((num_samples, self.mean.shape[0]), like=self.mean))

    def reparameterise(self, noise: Matrix) -> Matrix:
        """The weights that standard normal numbers become, the map of [eq-bn-reparam]."""
        return self.mean + array_namespace(self.mean).exp(self.log_sd) * noise


def elbo_and_gradient(
    model: BayesianNetwork, q: MeanField, noise: Matrix, X: Matrix, y: Vector
) -> tuple[float, MeanField]:
    """Estimate the bound [eq-bn-elbo] of the evidence, and its derivatives, from given noise.

    The log likelihood is averaged over the draws; the divergence from the prior is exact.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    q : MeanField
        The distribution of the weights.
    noise : Matrix, shape (m, p)
        Standard normal numbers, from which the draws are made.

    Returns
    -------
    value : float
        The estimate of the bound.
    gradient : MeanField
        Its derivatives by the mean and by the logarithms of the standard deviations.

    Notes
    -----
    Source: Blundell et al. (2015), with the divergence in closed form.
    """
    _check.instance(model, "model", BayesianNetwork)
    _check.instance(q, "q", MeanField)
    _check.vector(q.mean, "q.mean", size=model.network.num_weights)
    _check.alike(_check.matrix(noise, "noise", columns=q.mean.shape[0]), "noise", q.mean, "q.mean")
    if noise.shape[0] == 0:
        raise ValueError(f"noise must have at least one row; got shape {tuple(noise.shape)}")
    _check.alike(noise, "noise", _check.matrix(X, "X"), "X")
    data = check_data(model, X, y, noise, None)
    value, gradient = _elbo(model, q, noise, data)
    _check.no_overflow(gradient.log_sd, "q", "the log density")
    return _check.no_overflow(value, "q", "the log density"), gradient


def _elbo(
    model: BayesianNetwork, q: MeanField, noise: Matrix, data: Data
) -> tuple[float, MeanField]:
    xp = array_namespace(noise)
    with np.errstate(over="ignore", invalid="ignore"):
        sd, v = xp.exp(q.log_sd), model.variances(q.mean)
        logs, gradients = _log_joint_and_gradient(model, q.reparameterise(noise), data, prior=0.0)
        ratio = sd**2 / v
        kl = 0.5 * float(xp.sum(q.mean**2 / v + ratio - 1.0 - xp.log(ratio)))
        by_mean = xp.mean(gradients, axis=0) - q.mean / v
        by_log_sd = xp.mean(gradients * noise, axis=0) * sd + 1.0 - ratio
    return float(xp.mean(logs)) - kl, _unchecked(by_mean, by_log_sd)


def _unchecked(mean: Vector, log_sd: Vector) -> MeanField:
    """Return a mean field without checking its entries, as inside a fit."""
    field = object.__new__(MeanField)
    object.__setattr__(field, "mean", mean)
    object.__setattr__(field, "log_sd", log_sd)
    return field


class FittedMeanField(NamedTuple):
    """The result of `fit_mean_field`.

    Parameters
    ----------
    q : MeanField
        The distribution of the weights.
    trace : Vector, shape (steps,)
        The estimate of the bound before each step.
    """

    q: MeanField
    trace: Vector

    def __repr__(self) -> str:
        return summary(self)


@takes("X", "y")
def fit_mean_field(
    model: BayesianNetwork,
    X: MatrixLike,
    y: VectorLike,
    start: MeanField,
    *,
    num_steps: int = 1000,
    learning_rate: float = 0.02,
    num_samples: int = 4,
    rng: RNG,
) -> FittedMeanField:
    """Raise the bound by steps of Adam, each by fresh draws of the weights.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    start : MeanField
        Where it starts: well so at the most probable weights, with small deviations.
    num_steps : int, default 1000
        The number of steps.
    learning_rate : float, default 0.02
        The length of the first steps in each entry; it falls to zero along a line.
    num_samples : int, default 4
        How many networks are drawn for a step.
    rng : Stream, Generator or int
        The stream of the draws.
    """
    num_steps, learning_rate = validate_steps(num_steps, learning_rate)
    _check.whole(num_samples, "num_samples", 1)
    stream = stream_of(rng)
    _check.instance(model, "model", BayesianNetwork)
    _check.instance(start, "start", MeanField)
    q = start
    p = _check.vector(q.mean, "start.mean", size=model.network.num_weights).shape[0]
    _check.alike(q.mean, "start", _check.matrix(X, "X"), "X")
    data = check_data(model, X, y, q.mean, None)
    num_samples = memory.count(num_samples, "num_samples", each=3 * p, like=q.mean)
    adams, trace = (Adam(learning_rate, q.mean), Adam(learning_rate, q.mean)), []
    for step in range(num_steps):
        value, slope = _elbo(model, q, stream.normal((num_samples, p), like=q.mean), data)
        trace.append(value)
        share = 1.0 - step / num_steps
        q = _unchecked(
            q.mean + adams[0].step(slope.mean, share), q.log_sd + adams[1].step(slope.log_sd, share)
        )
    xp = array_namespace(q.mean)
    if not bool(xp.all(xp.isfinite(q.mean + q.log_sd))):
        raise _check.NoValueError(
            f"learning_rate must be smaller: the ascent overflows; got {learning_rate}"
        )
    return FittedMeanField(q, xp.asarray(trace, dtype=q.mean.dtype, device=q.mean.device))
