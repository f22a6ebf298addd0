"""A network with a normal prior on its weights, and readings whose noise may be an output, too."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np

from ..fast.networks import Workspace
from ..ground import check as _check
from ..ground import memory
from ..ground.conversion import takes
from ..ground.random import RNG, stream_of
from ..ground.showing import summary
from ..ground.xp import (
    LOG_2PI,
    Array,
    Matrix,
    MatrixLike,
    Numbers,
    Vector,
    VectorLike,
    array_namespace,
    is_numpy_namespace,
    keep_copies,
    log_normal_cdf,
    log_sum_exp,
)
from .layers import Network

__all__ = ["BayesianNetwork", "Mixture", "log_joint", "log_joint_and_gradient", "predict"]

_HALVINGS = 60


@dataclass(frozen=True)
class BayesianNetwork:
    """``y ~ N(f₁(x), exp f₂(x))`` for a network f with weights ``theta ~ N(0, v)``.

    Parameters
    ----------
    network : Network
        The network: of two outputs, the mean and the log variance of a reading, or of one, its
        mean, where the variance of the noise is given.
    prior_variance : float or Vector, shape (p,), default 1.0
        v, positive: the prior variance of all weights and offsets, or of each.
    noise_variance : float, optional
        The variance of the noise, positive, for a network of one output.

    Notes
    -----
    Weights know the inputs by position, so that a frame of several named columns is refused
    wherever X is asked for.

    Examples
    --------
    >>> from gpnotes import stream
    >>> model = BayesianNetwork(Network((1, 5, 2)))
    >>> model.draw(3, rng=stream(0)).shape
    (3, 22)
    """

    network: Network
    prior_variance: Numbers = 1.0
    noise_variance: float | None = None

    def __post_init__(self) -> None:
        _check.instance(self.network, "network", Network)
        v = self.prior_variance
        if isinstance(v, int | float | np.number):
            v = _check.positive(_check.number(v, "prior_variance"), "prior_variance")
            object.__setattr__(self, "prior_variance", v)
        else:
            _check.vector(v, "prior_variance", size=self.network.num_weights)
            _check.positive(v, "prior_variance")
            keep_copies(self, "prior_variance")
        num_outputs = 2 if self.noise_variance is None else 1
        if self.noise_variance is not None:
            given = _check.number(self.noise_variance, "noise_variance")
            _check.positive(given, "noise_variance")
        if self.network.sizes[-1] != num_outputs:
            noise = "learnt" if num_outputs == 2 else "given"
            raise ValueError(
                f"network must have {num_outputs} outputs where the noise is {noise}; got "
                f"{self.network.sizes[-1]}"
            )

    def at_columns(self, columns: tuple[str, ...], name: str = "X") -> Self:
        """Refuse a frame of several columns, by whose names weights cannot be matched.

        Parameters
        ----------
        columns : tuple of str
            The names of its columns.
        name : str, default "X"
            The name of the inputs in an error.
        """
        if len(columns) > 1:
            why = "weights know their inputs by position alone"
            remedy = f"give {name}[{list(columns)}].to_numpy(), in the order of all other calls"
            raise TypeError(f"{name} must be an array: {why}; got a frame: {remedy}")
        return self

    def draw(self, num_samples: int, *, like: Array | None = None, rng: RNG) -> Matrix:
        """Draw the weights (num_samples, p) of networks from the prior.

        Parameters
        ----------
        num_samples : int
            How many.
        like : Array or None, default None
            The weights are in the kind of it; without it, NumPy float64.

        Returns
        -------
        Matrix, shape (num_samples, p)
            The weights.
        """
        stream = stream_of(rng)
        if like is not None:
            _check.floating(like, "like")
        num_samples = memory.count(
            num_samples, "num_samples", each=2 * self.network.num_weights, like=like
        )
        noise = stream.normal((num_samples, self.network.num_weights), like=like)
        return noise * self.variances(noise) ** 0.5

    def variances(self, like: Array) -> Vector:
        """The prior variances of all p weights, as an array of the kind of `like`."""
        v = self.prior_variance
        if isinstance(v, int | float):
            xp = array_namespace(like)
            return xp.full(
                (self.network.num_weights,), float(v), dtype=like.dtype, device=like.device
            )
        return _check.alike(v, "prior_variance", like, "theta")

    def outputs(self, F: Array) -> tuple[Array, Array]:
        """Mean and log variance of a reading, from the outputs of the network."""
        if self.noise_variance is None:
            return F[..., 0], F[..., 1]
        mean, log_variance = F[..., 0], float(np.log(self.noise_variance))
        return mean, array_namespace(F).full_like(mean, log_variance)


class Data(NamedTuple):
    """Inputs and observations that have been checked, and how often each counts.

    With the variances of the prior and their terms of its density, and, for NumPy, the place in
    which passes are made; the data are for one thread.
    """

    X: Matrix
    y: Vector
    counts: Array | None
    variances: Vector
    log_volume: float
    work: Workspace | None

    def weighted(self, a: Array) -> Array:
        return a if self.counts is None else a * self.counts


def check_data(
    model: BayesianNetwork, X: Matrix, y: Vector, like: Array, counts: Array | None
) -> Data:
    """Return the data, if they go with the model and with weights `like`."""
    _check.instance(model, "model", BayesianNetwork)
    model.network.check_weights_and_inputs(like, X)
    if X.shape[0] == 0:
        raise ValueError(f"X must have at least one row; got shape {tuple(X.shape)}")
    _check.alike(_check.vector(y, "y", rows=X), "y", X, "X")
    _check.squarable(y, "y")
    if counts is not None:
        _check.alike(_check.floating(counts, "counts"), "counts", X, "X")
        shapes = {(X.shape[0],), (*like.shape[:-1], X.shape[0])}
        if tuple(counts.shape) not in shapes:
            raise ValueError(f"counts must have shape ({X.shape[0]},); got {tuple(counts.shape)}")
        _check.positive(counts, "counts", zero=True)
    xp, v = array_namespace(X), model.variances(like)
    log_volume = float(xp.sum(xp.log(v))) + LOG_2PI * v.shape[0]
    work = Workspace() if is_numpy_namespace(xp) else None
    return Data(X, y, counts, v, log_volume, work)


def log_joint(
    model: BayesianNetwork, theta: Array, X: Matrix, y: Vector, *, counts: Array | None = None
) -> Array:
    """Return ``log p(y | X, theta) + log p(theta)``, of one network or of each of m.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    theta : Vector, shape (p,), or Matrix, shape (m, p)
        The weights.
    counts : Array, shape (n,) or (m, n), optional
        How often each reading counts, not negative; without it, once.

    Returns
    -------
    Array, shape () or (m,)
        The log joint density, normalised.

    Notes
    -----
    Where the noise is so small, or a mean so far off, that the logarithm overflows, it is minus
    infinity, and its derivatives are zero: to a sampler such a place is a wall.

    Examples
    --------
    >>> import numpy as np
    >>> model = BayesianNetwork(Network((1, 1)), noise_variance=1.0)
    >>> log_joint(model, np.zeros(2), np.asarray([[1.0]]), np.asarray([2.0])).round(4)
    np.float64(-4.7568)
    """
    return _joint(model, theta, check_data(model, X, y, theta, counts))[0]


def log_joint_and_gradient(
    model: BayesianNetwork, theta: Array, X: Matrix, y: Vector, *, counts: Array | None = None
) -> tuple[Array, Array]:
    """Return `log_joint` and its derivatives by theta, in the shape of theta.

    The arguments and errors are those of `log_joint`.

    Examples
    --------
    >>> import numpy as np
    >>> model = BayesianNetwork(Network((1, 1)), noise_variance=1.0)
    >>> log_joint_and_gradient(model, np.zeros(2), np.asarray([[3.0]]), np.asarray([2.0]))[1]
    array([6., 2.])
    """
    return _log_joint_and_gradient(model, theta, check_data(model, X, y, theta, counts))


def _log_joint_and_gradient(
    model: BayesianNetwork, theta: Array, data: Data, prior: float = 1.0
) -> tuple[Array, Array]:
    """Value and gradient of data that have been checked; `prior` is a share of the prior's part."""
    value, pullback = _joint(model, theta, data, prior)
    return value, pullback()


def _joint(
    model: BayesianNetwork, theta: Array, data: Data, prior: float = 1.0
) -> tuple[Array, Callable[[], Array]]:
    xp, v = array_namespace(theta), data.variances
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows has no value, said once
        F, network_pullback = model.network._values_and_pullback(theta, data.X, data.work)
        mean, log_variance = model.outputs(F)
        residuals, precision = data.y - mean, xp.exp(-log_variance)
        # of N(y; f₁, exp f₂): ∂f₁ = (y − f₁)/σ² and ∂f₂ = ½ ((y − f₁)²/σ² − 1)
        mean_bar = residuals * precision
        squares = residuals * mean_bar
        density = -0.5 * (squares + log_variance + LOG_2PI)
        scaled = theta / v
        prior_term = xp.sum(theta * scaled, axis=-1) + data.log_volume
        value = xp.sum(data.weighted(density), axis=-1) - 0.5 * prior * prior_term
    finite = xp.isfinite(value)
    all_ok = bool(xp.all(finite) if finite.ndim else finite)

    def pullback() -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            output_bars = [data.weighted(mean_bar), data.weighted(0.5 * (squares - 1.0))]
            rows = [row[..., None, :] for row in output_bars[: model.network.sizes[-1]]]
            bar = xp.concat(rows, axis=-2)
            by_theta = network_pullback(xp.matrix_transpose(bar)) - prior * scaled
        return by_theta if all_ok else xp.where(finite[..., None], by_theta, xp.zeros_like(theta))

    if not all_ok:
        value = xp.where(finite, value, xp.full_like(value, -math.inf))
    return value, pullback


@dataclass(frozen=True, eq=False)
class Mixture:
    """The predictions of m networks: at each input a mixture of normal distributions of a reading.

    Parameters
    ----------
    means, variances : Matrix, shape (m, n)
        Mean and variance of a reading, a row for each network.
    """

    means: Matrix
    variances: Matrix

    __repr__ = summary

    def __post_init__(self) -> None:
        _check.matrix(self.means, "means")
        m, n = self.means.shape
        if m == 0:
            shape = tuple(self.means.shape)
            raise ValueError(f"means must have at least one row; got shape {shape}")
        _check.matrix(self.variances, "variances", rows=m, columns=n)
        _check.alike(self.variances, "variances", self.means, "means")
        _check.positive(self.variances, "variances")

    @property
    def mean(self) -> Vector:
        """The mean of a reading (n,)."""
        return array_namespace(self.means).mean(self.means, axis=0)

    @property
    def aleatoric(self) -> Vector:
        """The mean of the variances of noise (n,), the first part of [eq-bn-two-parts]."""
        return array_namespace(self.means).mean(self.variances, axis=0)

    @property
    def epistemic(self) -> Vector:
        """The variance of the means (n,), with one less than m below; of one network it is zero."""
        xp, m = array_namespace(self.means), self.means.shape[0]
        return xp.sum((self.means - self.mean) ** 2, axis=0) / max(m - 1, 1)

    @property
    def variance(self) -> Vector:
        """The sum of both parts (n,)."""
        return self.aleatoric + self.epistemic

    @takes("y")
    def log_density(self, y: VectorLike) -> Vector:
        """Return the log density (n,) of readings y (n,), [eq-bn-predictive]."""
        logs = self._logs(self._observed(y))
        return log_sum_exp(logs, 1.0 / logs.shape[0], axis=0)

    def _logs(self, y: Vector) -> Matrix:
        xp, v = array_namespace(y), self.variances
        return -0.5 * ((y - self.means) ** 2 / v + xp.log(v) + LOG_2PI)

    @takes("y")
    def cdf(self, y: VectorLike) -> Vector:
        """Return the probability (n,) of a smaller reading than y (n,).

        Returns
        -------
        Vector, shape (n,)
            Their probabilities, uniform in [0, 1] for readings from the mixture.
        """
        xp = array_namespace(self.means)
        z = (self._observed(y) - self.means) / xp.sqrt(self.variances)
        return xp.mean(xp.exp(log_normal_cdf(z)), axis=0)

    def quantile(self, share: float) -> Vector:
        """Return the readings (n,) below which the share of the mixture lies.

        Parameters
        ----------
        share : float
            The share, above 0 and below 1.

        Returns
        -------
        Vector, shape (n,)
            The quantiles, to a relative rounding of the distance between those of the networks.

        Notes
        -----
        A quantile of a mixture lies between those of its parts, and is found by halving.
        """
        share = _check.positive(_check.number(share, "share"), "share")
        if share >= 1.0:
            raise ValueError(f"share must be below 1; got {share}")
        xp = array_namespace(self.means)
        quantiles = self.means + NormalDist().inv_cdf(share) * xp.sqrt(self.variances)
        low, high = xp.min(quantiles, axis=0), xp.max(quantiles, axis=0)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            below = self.cdf(middle) < share
            low, high = xp.where(below, middle, low), xp.where(below, high, middle)
        return 0.5 * (low + high)

    def _observed(self, y: Vector) -> Vector:
        _check.alike(_check.vector(y, "y", size=self.means.shape[1]), "y", self.means, "means")
        return _check.squarable(y, "y")


@takes("X")
def predict(model: BayesianNetwork, thetas: Array, X: MatrixLike) -> Mixture:
    """Predict a reading at X (n, d) with networks of weights (m, p).

    Parameters
    ----------
    model : BayesianNetwork
        The network and its noise.
    thetas : Matrix, shape (m, p), or Vector, shape (p,)
        The weights of m networks, or of one.

    Returns
    -------
    Mixture
        The mixture of m normal distributions at each input.

    Examples
    --------
    >>> import numpy as np
    >>> model = BayesianNetwork(Network((1, 1)), noise_variance=0.5)
    >>> found = predict(model, np.asarray([[1.0, 0.0], [3.0, 0.0]]), np.asarray([[2.0]]))
    >>> found.mean, found.aleatoric, found.epistemic
    (array([4.]), array([0.5]), array([8.]))
    """
    _check.instance(model, "model", BayesianNetwork)
    thetas = model.network.check_weights(thetas, "thetas")
    X = _check.matrix(X, "X", columns=model.network.sizes[0])
    _check.alike(thetas, "thetas", X, "X")
    if thetas.shape[0] == 0:
        raise ValueError(f"thetas must have at least one row; got shape {tuple(thetas.shape)}")
    xp = array_namespace(X)
    thetas = thetas if thetas.ndim == 2 else thetas[None, :]
    mean, log_variance = model.outputs(model.network._call(thetas, X))
    with np.errstate(over="ignore"):
        variance = xp.exp(log_variance)
    return Mixture(mean, _check.no_overflow(variance, "thetas", "the variance of the noise"))
