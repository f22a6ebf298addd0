"""Checks of mean functions, priors, likelihoods and posteriors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from ..ground import check as _check
from ..ground.quadrature import expect
from ..ground.random import stream
from ..ground.xp import Array, Matrix, Vector, array_namespace, diagonal, epsilon, to_numpy
from ..infer.posterior import Posterior
from ..model import contracts
from .agreement import close, hold, is_array, is_double, rounding, semidefinite
from .differences import gradcheck

__all__ = ["check_likelihood", "check_mean", "check_posterior", "check_prior"]

_DRAWS = 400
_ORDINALS = ("first", "second", "third")


def check_mean(mean: contracts.Mean, X: Matrix) -> None:
    """Check that a mean function keeps its contract.

    It has one value a row, of the kind of X, which depends on that row alone; in float64 its
    pullback agrees with differences.

    Parameters
    ----------
    mean : Mean
        The mean function.

    Examples
    --------
    >>> from gpnotes import ConstantMean
    >>> check_mean(ConstantMean(2.0), np.asarray([[0.0], [1.0]]))
    """
    contracts.require(mean, "mean", contracts.Mean)
    n = _check.matrix(X, "X").shape[0]
    values = mean(X)
    is_array("m(x)", values, (n,), X)
    for i in range(n):
        alone = mean(X[i : i + 1, :])
        close(f"m(x) and m of row {i} alone", alone[0], values[i], rounding(values))
    given: Any = mean.pullback(X, values)
    pair = isinstance(given, tuple) and len(given) == 2
    hold(pair, f"pullback must return (mean_bar, x_bar); got {_check.kind_of(given)}")
    mean_bar, x_bar = given
    is_array("x_bar", x_bar, X.shape, X)
    hold(type(mean_bar) is type(mean), "mean_bar has another class than the mean")
    if is_double(X):
        names = ("mean", "x")
        gradcheck(lambda m, x: m(x), lambda m, x, bar: m.pullback(x, bar), mean, X, names=names)


def check_prior(prior: contracts.Prior, value: float) -> None:
    """Check that a prior keeps its contract, at a value of the parameter.

    Its log density is a float, the sum over entries where the value is an array; its gradient is a
    float, by differences that of the density.

    Parameters
    ----------
    prior : Prior
        The prior.

    Examples
    --------
    >>> from gpnotes import LogNormalPrior
    >>> check_prior(LogNormalPrior(0.0, 1.0), 2.5)
    """
    contracts.require(prior, "prior", contracts.Prior)
    value = _check.number(value, "value")
    told = prior.log_density(value)
    hold(isinstance(told, float) and math.isfinite(told), "the log density is no finite float")
    hold(isinstance(prior.gradient(value), float), "the gradient is no float")
    pair = np.asarray([value, value])
    close("the log density of two entries", np.asarray(prior.log_density(pair)), 2.0 * told, 1e-12)
    close(
        "the gradient of each entry",
        prior.gradient(pair),
        np.full_like(pair, prior.gradient(value)),
        1e-12,
    )
    gradcheck(
        prior.log_density, lambda v, bar: (bar * prior.gradient(v),), value, names=("value",),
        what="the gradient",
    )  # fmt: skip


def check_likelihood(
    likelihood: contracts.Likelihood, y: Vector, f: Vector, *, log_concave: bool = True
) -> None:
    """Check that a likelihood keeps its contract, for observations at known values of f.

    Value and derivatives have the shape and kind of f, and each entry depends on its own y and f
    alone; in float64 the derivatives are those of the density, by differences; the second is not
    positive. If there is a ``probability`` it is between 0 and 1, that of ``y = 1`` where f is
    known, and its average where f is not. If there is a ``pullback`` of a dataclass, it agrees
    with differences, as does a ``derivatives_bar``; if there is a ``predict``, mean and variance
    of y where f is not known follow from those where it is.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood.
    f : Vector, shape (n,)
        The values of f.
    log_concave : bool, default True
        Ask for a second derivative that is not positive, as Laplace's method does.

    Examples
    --------
    >>> from gpnotes import Bernoulli
    >>> check_likelihood(Bernoulli(), np.asarray([1.0, -1.0]), np.asarray([0.3, 2.0]))
    """
    contracts.require(likelihood, "likelihood", contracts.Likelihood)
    shape = _check.vector(f, "f").shape
    _check.alike(_check.vector(y, "y", size=shape[0]), "y", f, "f")
    _check.flag(log_concave, "log_concave")
    is_array("log_density(y, f)", likelihood.log_density(y, f), shape, f)
    given = likelihood.derivatives(y, f)
    hold(len(given) == 3, f"derivatives(y, f) must be three arrays; got {len(given)}")
    for which, derivative in zip(_ORDINALS, given, strict=True):
        is_array(f"the {which} derivative", derivative, shape, f)
    _check_entries(likelihood, y, f)
    if is_double(f):
        _check_derivatives(likelihood, y, f)
    top = float(np.max(to_numpy(given[1]), initial=-math.inf))
    hold(not log_concave or top <= 0.0, f"the second derivative is positive: {top:.3g}")
    if not contracts.missing(likelihood, contracts.LabelLikelihood):
        _check_probability(cast(contracts.LabelLikelihood, likelihood), f)
    if not contracts.missing(likelihood, contracts.PredictiveLikelihood):
        _check_prediction(cast(contracts.PredictiveLikelihood, likelihood), f)


def _check_entries(likelihood: contracts.Likelihood, y: Vector, f: Vector) -> None:
    """Each entry depends on its own y and f alone."""
    together = (likelihood.log_density(y, f), *likelihood.derivatives(y, f))
    names = ("log density", *(f"{which} derivative" for which in _ORDINALS))
    for i in range(f.shape[0]):
        yi, fi = y[i : i + 1], f[i : i + 1]
        alone = (likelihood.log_density(yi, fi), *likelihood.derivatives(yi, fi))
        for name, entry, terms in zip(names, alone, together, strict=True):
            close(f"the {name} and that of entry {i} alone", entry[0], terms[i], rounding(terms))


def _check_derivatives(likelihood: contracts.Likelihood, y: Vector, f: Vector) -> None:
    """Compare each derivative with differences of its function."""

    def terms(f: Array) -> tuple[Array, ...]:
        return likelihood.log_density(y, f), *likelihood.derivatives(y, f)

    for k, which in enumerate(_ORDINALS):
        gradcheck(
            lambda f, k=k: terms(f)[k], lambda f, bar, k=k: (terms(f)[k + 1] * bar,), f,
            names=("f",), what=f"the {which} derivative",
        )  # fmt: skip
    if is_dataclass(likelihood) and not contracts.missing(
        likelihood, contracts.ParametricLikelihood
    ):
        gradcheck(
            lambda part, f: part.log_density(y, f), lambda part, f, bar: part.pullback(y, f, bar),
            likelihood, f, names=("likelihood", "f"),
        )  # fmt: skip
    if is_dataclass(likelihood) and not contracts.missing(likelihood, contracts.CurvedLikelihood):
        _check_derivatives_bar(cast(contracts.CurvedLikelihood, likelihood), y, f)


def _check_derivatives_bar(likelihood: contracts.CurvedLikelihood, y: Vector, f: Vector) -> None:
    """Compare derivatives by parameters of the density and two slopes with differences."""
    zero = array_namespace(f).zeros_like(f)

    def pullback(k: int, part: contracts.CurvedLikelihood, bar: Array) -> tuple[object]:
        bars = [bar if i == k else zero for i in range(3)]
        return (part.derivatives_bar(y, f, *bars),)

    for k, what in enumerate(("bar", "first_bar", "second_bar")):
        gradcheck(
            lambda part, k=k: (part.log_density(y, f), *part.derivatives(y, f))[k],
            partial(pullback, k), likelihood,
            names=("likelihood",), what=f"derivatives_bar by {what}",
        )  # fmt: skip


def _check_probability(likelihood: contracts.LabelLikelihood, f: Vector) -> None:
    xp = array_namespace(f)
    ones = xp.ones_like(f)

    def known(f: Array) -> Array:
        """P(y = 1 | f)."""
        return xp.exp(likelihood.log_density(xp.ones_like(f), f))

    for variance in (0.0, 0.25):
        got = likelihood.probability(f, variance * ones)
        is_array("probability(mean, variance)", got, f.shape, f)
        host = to_numpy(got)
        hold(bool(np.all((host >= 0.0) & (host <= 1.0))), "a probability lies outside [0, 1]")
        wanted = expect(known, f, variance * ones, 60) if variance else known(f)
        what = f"probability(mean, {variance}) and the average of p(y = 1 | f)"
        close(what, got, wanted, 1e-6 + rounding(got))


def _check_prediction(likelihood: contracts.PredictiveLikelihood, f: Vector) -> None:
    """The laws of total mean and variance; there is nothing to check where one is infinite."""
    xp = array_namespace(f)
    ones = xp.ones_like(f)
    mean, variance = likelihood.predict(f, 0.25 * ones)
    is_array("the predicted mean", mean, f.shape, f)
    finite = bool(np.all(np.isfinite(to_numpy(variance))))
    is_array("the predicted variance", variance if finite else xp.zeros_like(mean), f.shape, f)
    hold(bool(np.all(to_numpy(variance) >= 0.0)), "a predicted variance is negative")

    def known(which: int) -> Callable[[Vector], Vector]:
        return lambda f: likelihood.predict(f, xp.zeros_like(f))[which]

    average = expect(known(0), f, 0.25 * ones, 60)
    top = 1e-6 + rounding(mean)
    close("the predicted mean and its average over f", mean, average, top)
    if not finite:
        return
    squares = expect(lambda f: known(0)(f) ** 2 + known(1)(f), f, 0.25 * ones, 60)
    what = "the predicted variance and that by the law of total variance"
    close(what, variance, squares - average * average, 1e-6 + rounding(squares))


def check_posterior(posterior: Posterior, Xs: Matrix, *, normal_noise: bool = True) -> None:
    """Check that the views of a posterior agree with each other.

    `predict` is `mean` and `variance`; `variance` is the diagonal of `covariance` and not
    negative; `covariance` is symmetric and positive semidefinite within rounding; draws have that
    mean and that variance. Noise lets both variances grow by the same, and chunks change nothing.

    Parameters
    ----------
    posterior : Posterior
        The posterior.
    Xs : Matrix, shape (n*, d)
        The points to look at.
    normal_noise : bool, default True
        The noise of y is normal, so that a covariance can have it; labels and counts have another.

    Examples
    --------
    >>> from gpnotes import GP, RBF, condition
    >>> X = np.asarray([[0.0], [0.5]])
    >>> check_posterior(condition(GP(RBF(), 0.1), X, X[:, 0]), np.asarray([[1.0], [2.0]]))
    """
    _check.instance(posterior, "posterior", Posterior)
    m = _check.matrix(Xs, "Xs").shape[0]
    if not m:
        raise ValueError(f"Xs must have at least one row; got {tuple(Xs.shape)}")
    mean, variance = posterior.predict(Xs)
    covariance = posterior.covariance(Xs)
    for name, a, shape in (
        ("mean", mean, (m,)), ("variance", variance, (m,)), ("covariance", covariance, (m, m))
    ):  # fmt: skip
        is_array(name, a, shape, Xs)
    top = rounding(covariance) + math.sqrt(epsilon(Xs)) * 1e-2
    close("predict and mean", mean, posterior.mean(Xs), top)
    close("predict and variance", variance, posterior.variance(Xs), top)
    close("variance and the diagonal of covariance", variance, diagonal(covariance), top)
    hold(float(np.min(to_numpy(variance), initial=0.0)) >= 0.0, "a variance is negative")
    semidefinite("covariance", covariance, top)
    if _check.flag(normal_noise, "normal_noise"):
        _check_noise(posterior, Xs, top)
    _check_chunks(posterior, Xs, top)
    _check_draws(posterior, Xs, top)


def _check_noise(posterior: Posterior, Xs: Matrix, top: float) -> None:
    variance, noisy = (posterior.predict(Xs, noise=noise)[1] for noise in (False, True))
    with_noise = diagonal(posterior.covariance(Xs, noise=True))
    close("noisy variance and the diagonal of the noisy covariance", noisy, with_noise, top)
    hold(bool(array_namespace(Xs).all(noisy >= variance)), "noise lowers a variance")


def _check_chunks(posterior: Posterior, Xs: Matrix, top: float) -> None:
    chunked = posterior.predict(Xs, chunk=max(1, Xs.shape[0] // 3))
    for name, part, whole in zip(("mean", "variance"), chunked, posterior.predict(Xs), strict=True):
        close(f"the {name} in chunks", part, whole, top)


def _check_draws(posterior: Posterior, Xs: Matrix, top: float) -> None:
    """Mean and variance of many draws; six of their own standard deviations are allowed."""
    mean, variance = (to_numpy(a) for a in posterior.predict(Xs))
    draws = posterior.sample(Xs, _DRAWS, rng=stream(0))
    is_array("sample", draws, (_DRAWS, Xs.shape[0]), Xs)
    host = np.asarray(to_numpy(draws), dtype=np.float64)
    off = np.abs(host.mean(axis=0) - mean) - 6.0 * np.sqrt(variance / _DRAWS)
    hold(bool(np.all(off <= top)), f"draws have another mean, by {float(np.max(off)):.3g} too much")
    ratio = np.abs(host.var(axis=0) - variance) - 6.0 * math.sqrt(2.0 / _DRAWS) * variance
    hold(bool(np.all(ratio <= top)), "draws have another variance")
