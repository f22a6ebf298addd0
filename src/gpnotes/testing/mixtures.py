"""Checks of posteriors of several classes, of networks, and of mixtures of normals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..ground import check as _check
from ..ground.random import RNG, stream
from ..ground.xp import (
    Array,
    HostArray,
    Matrix,
    Stack,
    Vector,
    array_namespace,
    diagonal,
    epsilon,
    to_numpy,
)
from ..model.contracts import missing
from .agreement import close, hold, is_array, is_double, rounding, semidefinite
from .differences import gradcheck

__all__ = ["check_classes", "check_mixture", "check_network"]

_DRAWS = 200
_FAR = 6.0  # standard errors
_NODES = 100


class Classes(Protocol):
    """The functions of several classes given data, such as `laplace.SoftmaxPosterior`."""

    def predict(self, Xs: Matrix, /) -> tuple[Matrix, Matrix]:
        """Find the means and the variances (n*, c) of all functions."""

    def class_covariance(self, Xs: Matrix, /) -> Stack:
        """Find the covariances (n*, c, c) between the functions."""

    def probability(self, Xs: Matrix, num_samples: int, /, *, rng: RNG) -> Matrix:
        """Find the probabilities (n*, c), averaged over n draws."""


class Weighted(Protocol):
    """A network with weights in one vector, such as `networks.Network`."""

    def values_and_pullback(
        self, theta: Array, X: Matrix, /
    ) -> tuple[Array, Callable[[Array], Array]]:
        """Return the outputs, and the way back from derivatives by them."""

    def row_gradients(self, theta: Vector, X: Matrix, F_bar: Matrix, /) -> Matrix:
        """Return the derivatives by theta that each row contributes."""


class Mixed(Protocol):
    """A mixture of normals at each input, such as `deep.DeepPosterior`."""

    def components(self, Xs: Matrix, /) -> tuple[Matrix, Matrix]:
        """Find the means and the variances (s, n*) of f, a row for each part of the mixture."""

    def predict(self, Xs: Matrix, /, *, noise: bool = False) -> tuple[Vector, Vector]:
        """Find the mean and the variance of f, or of a new y."""

    def log_density(self, Xs: Matrix, y: Vector, /) -> Vector:
        """Find the log density of new y, each by itself."""

    def sample(self, Xs: Matrix, num_samples: int, /, *, rng: RNG) -> Matrix:
        """Draw n functions."""


def check_classes(posterior: Classes, Xs: Matrix) -> None:
    """Check that the views of a posterior of several classes agree with each other.

    The covariances are symmetric and positive semidefinite, each input has the moments that it has
    alone, and the probabilities are between 0 and 1, sum to one, are the same for the same random
    numbers, and are those of the softmax under the moments, within six standard errors.

    Parameters
    ----------
    posterior : Classes
        The posterior, with `predict`, `class_covariance` and `probability`.
    Xs : Matrix, shape (n*, d)
        The points to look at.

    Examples
    --------
    >>> from gpnotes import GP, RBF, condition
    >>> from gpnotes.infer import laplace
    >>> X, y = np.asarray([[0.0], [1.0], [3.0]]), np.asarray([0.0, 1.0, 2.0])
    >>> check_classes(condition(laplace.SoftmaxGP(GP(RBF(), 0.0), 3), X, y), X + 0.5)
    """
    _require(posterior, "posterior", Classes)
    m = _check.matrix(Xs, "Xs").shape[0]
    mean, variance = posterior.predict(Xs)
    covariance = posterior.class_covariance(Xs)
    classes = int(getattr(mean, "shape", (0, 0))[-1])
    is_array("mean", mean, (m, classes), Xs)
    is_array("variance", variance, (m, classes), Xs)
    is_array("covariance", covariance, (m, classes, classes), Xs)
    top = rounding(covariance) + math.sqrt(epsilon(Xs)) * 1e-2
    for i in range(m):
        semidefinite(f"the covariance at input {i}", covariance[i, :, :], top)
        row = Xs[i : i + 1, :]
        of_row = diagonal(covariance[i, :, :])
        close(f"the variance at input {i} and its covariance", variance[i, :], of_row, top)
        alone = posterior.predict(row)[0], posterior.class_covariance(row)
        close(f"the mean at input {i} and that of it alone", alone[0][0, :], mean[i, :], top)
        what = f"the covariance at input {i} and that of it alone"
        close(what, alone[1][0, :, :], covariance[i, :, :], top)
    told = posterior.probability(Xs, _DRAWS, rng=stream(0))
    is_array("probability", told, (m, classes), Xs)
    again = posterior.probability(Xs, _DRAWS, rng=stream(0))
    close("probabilities by the same random numbers", told, again, 0.0)
    _check_shares(_host(told), _host(mean), _host(covariance), 1e3 * epsilon(Xs))


def _check_shares(told: HostArray, mean: HostArray, covariance: HostArray, top: float) -> None:
    hold(bool(np.all((told >= 0.0) & (told <= 1.0 + top))), "a probability lies outside [0, 1]")
    close("the sums of probabilities and one", told.sum(-1), np.ones(len(told)), top)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))[:, None, :]
    noise = _host(stream(1).normal((50 * _DRAWS, mean.shape[1])))
    for i in range(len(mean)):
        f = mean[i] + noise @ root[i].T
        share = np.exp(f - f.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        error = share.std(axis=0) * math.sqrt(1.0 / _DRAWS + 1.0 / len(f))
        off = float(np.max(np.abs(told[i] - share.mean(axis=0)) - _FAR * error))
        said = f"the probabilities at input {i} are not those of the softmax under the moments"
        hold(off <= top, f"{said}, by {off:.3g} too much")


def check_network(network: Weighted, theta: Vector, X: Matrix) -> None:
    """Check that a network keeps its contract, at weights of one network.

    It has outputs for each row that depend on that row alone; two networks at once are as each by
    itself; in float64 the pullback agrees with differences; the gradients of the rows sum to it.

    Parameters
    ----------
    network : Weighted
        The network, with `values_and_pullback` and `row_gradients`.
    theta : Vector, shape (p,)
        The weights.

    Examples
    --------
    >>> from gpnotes.networks import Network
    >>> check_network(Network((1, 3, 2)), np.linspace(-1.0, 1.0, 14), np.asarray([[0.3], [1.0]]))
    """
    _require(network, "network", Weighted)
    n, p = _check.matrix(X, "X").shape[0], _check.vector(theta, "theta").shape[0]
    _check.alike(theta, "theta", X, "X")
    values, pullback = network.values_and_pullback(theta, X)
    is_array("the outputs", values, (n, int(getattr(values, "shape", (0,))[-1])), X)
    for i in range(n):
        alone = network.values_and_pullback(theta, X[i : i + 1, :])[0]
        close(
            f"the outputs of row {i} and of it alone", alone[0, :], values[i, :], rounding(values)
        )
    xp = array_namespace(X)
    other = 0.5 * theta - 0.1
    both, pull_both = network.values_and_pullback(xp.stack([theta, other]), X)
    bar = 0.3 + values
    for k, one in enumerate((theta, other)):
        found, pull = network.values_and_pullback(one, X)
        close(f"network {k} of two and it alone", both[k, ...], found, rounding(found))
        back, own = pull_both(xp.stack([bar, bar]))[k, :], pull(bar)
        close(f"the pullback of network {k} of two and of it alone", back, own, rounding(own))
    theta_bar = pullback(bar)
    is_array("theta_bar", theta_bar, (p,), X)
    rows = network.row_gradients(theta, X, bar)
    is_array("row_gradients", rows, (n, p), X)
    total = xp.sum(rows, axis=0)
    close("the sum of row_gradients and the pullback", total, theta_bar, n * rounding(rows))
    if is_double(X):
        gradcheck(
            lambda theta: network.values_and_pullback(theta, X)[0],
            lambda theta, bar: (network.values_and_pullback(theta, X)[1](bar),),
            theta, names=("theta",),
        )  # fmt: skip


def check_mixture(posterior: Mixed, Xs: Matrix, *, continuous: bool = True) -> None:
    """Check that the views of a posterior that is a mixture of normals agree with each other.

    The same inputs get the same parts; mean and variance of f are those of the parts by the laws
    of total mean and variance; functions that are drawn have them, too, within six standard errors
    of both; noise lowers no variance; and the density of a new y integrates to one and has the
    mean of the prediction.

    Parameters
    ----------
    posterior : Mixed
        The posterior, with `components`, `predict`, `log_density` and `sample`.
    Xs : Matrix, shape (n*, d)
        The points to look at.
    continuous : bool, default True
        The observations have a density over all numbers; without, `log_density` is not looked at,
        nor noise.

    Examples
    --------
    >>> from gpnotes import GP, RBF, Gaussian
    >>> from gpnotes.infer import deep, svgp
    >>> Z = np.asarray([[0.0], [1.0]])
    >>> top = svgp.initial_posterior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), Z))
    >>> check_mixture(deep.DeepPosterior(deep.with_inner_layers(top, [RBF(0.1)])), Z)
    """
    _require(posterior, "posterior", Mixed)
    _check.flag(continuous, "continuous")
    m = _check.matrix(Xs, "Xs").shape[0]
    parts = posterior.components(Xs)
    count = int(getattr(parts[0], "shape", (0,))[0])
    for name, part, again in zip(
        ("means", "variances"), parts, posterior.components(Xs), strict=True
    ):
        is_array(f"the {name} of the parts", part, (count, m), Xs)
        close(f"the {name} of the parts of the same inputs", part, again, 0.0)
    means, variances = (_host(part) for part in parts)
    hold(float(np.min(variances, initial=0.0)) >= 0.0, "a variance of a part is negative")
    mean, variance = posterior.predict(Xs)
    top = rounding(*parts) + math.sqrt(epsilon(Xs)) * 1e-2
    for name, a, wanted in (
        ("mean", mean, means.mean(0)), ("variance", variance, variances.mean(0) + means.var(0))
    ):  # fmt: skip
        is_array(name, a, (m,), Xs)
        close(f"the {name} and that of the parts", _host(a), wanted, top)
    _check_functions(posterior, Xs, means, variances, top)
    if continuous:
        _check_density(posterior, Xs, _host(variance), top)


def _check_functions(
    posterior: Mixed, Xs: Matrix, means: HostArray, variances: HostArray, top: float
) -> None:
    """Mean and variance of functions; parts and functions both have errors of their own."""
    drawn = posterior.sample(Xs, _DRAWS, rng=stream(0))
    is_array("sample", drawn, (_DRAWS, means.shape[1]), Xs)
    host, one_part = _host(drawn), len(means) == 1
    spread = host.var(axis=0)
    off = np.abs(host.mean(axis=0) - means.mean(axis=0))
    errors = np.sqrt(spread / _DRAWS + means.var(axis=0) / len(means))
    hold(bool(np.all(off <= _FAR * errors + top)), "functions have another mean than the parts")
    fourth = np.var((host - host.mean(axis=0)) ** 2, axis=0) / _DRAWS
    squares = (means - means.mean(axis=0)) ** 2 + variances
    of_parts = 0.0 if one_part else np.var(squares, axis=0) / len(means)
    gap = np.abs(spread - squares.mean(axis=0))
    within = _FAR * np.sqrt(fourth + of_parts) + top
    hold(bool(np.all(gap <= within)), "functions have another variance than the parts")


def _check_density(posterior: Mixed, Xs: Matrix, variance: HostArray, top: float) -> None:
    """The density of a new y, by the trapezoidal rule over all that it covers."""
    mean, noisy = (_host(a) for a in posterior.predict(Xs, noise=True))
    hold(bool(np.all(noisy >= variance - top)), "noise lowers a variance")
    sd, xp = np.sqrt(noisy), array_namespace(Xs)
    steps = np.linspace(-8.0, 8.0, _NODES)
    places = [mean + step * sd for step in steps]
    told = [
        posterior.log_density(Xs, xp.asarray(y, dtype=Xs.dtype, device=Xs.device)) for y in places
    ]
    is_array("log_density", told[0], mean.shape, Xs)
    weights = np.exp([_host(one) for one in told]) * sd * (steps[1] - steps[0])
    atol = 1e-3 + 1e3 * top
    close("the integral of the density and one", weights.sum(0), np.ones(len(mean)), atol)
    middle = (weights * steps[:, None]).sum(0)
    close("the mean of the density and that of predict", middle, np.zeros_like(middle), atol)


def _host(a: Array) -> HostArray:
    return np.asarray(to_numpy(a), dtype=np.float64)


def _require(given: object, name: str, contract: type) -> None:
    """Refuse an object that lacks a part of a contract, or is a class."""
    wanted = f"{name} must have {', '.join(missing(object(), contract))}"
    if isinstance(given, type):
        raise TypeError(f"{wanted}; got the class {given.__name__}, not an object of it")
    if lacking := missing(given, contract):
        raise TypeError(f"{wanted}; {type(given).__name__} lacks {', '.join(lacking)}")
