"""Averages of any likelihood's log density over a normal f: of ours, and of those you bring."""

from __future__ import annotations

from typing import Any, cast

from ...ground.params import leaves
from ...ground.xp import Array, array_namespace
from ..contracts import (
    LabelLikelihood,
    Likelihood,
    ParametricLikelihood,
    PredictiveLikelihood,
    require,
)
from .base import LikelihoodBase
from .binary import Bernoulli
from .hermite_averages import Expected, ValueAndSlope, by_quadrature, points
from .predictive import log_average

__all__ = [
    "expected", "expected_bar", "has_parameters", "is_latent", "log_predictive", "predicted",
    "probability",
]  # fmt: skip


def expected(
    likelihood: Likelihood, y: Array, mean: Array, variance: Array, nodes: int
) -> Expected:
    """Average the log density of any likelihood over a normal f, with the slopes; O(n nodes).

    Our likelihoods answer by themselves, in closed form where they have one; others are averaged
    by Gauss-Hermite.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood, ours or not.
    y : Array, shape (n,)
        The observations.
    mean, variance : Array, shape (n,)
        The moments of f.
    nodes : int
        How many nodes a rule has.

    Returns
    -------
    Expected
        ``E log p(y | f)`` for ``f ~ N(mean, variance)`` and its derivatives, by entry.

    Notes
    -----
    Nothing is checked: a fit calls this at each step, with a y that was validated once.
    """
    if isinstance(likelihood, LikelihoodBase):
        return likelihood.expected_of(y, mean, variance, nodes)

    def curvature(y: Array, f: Array) -> Array:
        return likelihood.derivatives(y, f)[1]

    return by_quadrature(_of(likelihood), curvature, y, mean, variance, nodes)


def _of(likelihood: Likelihood) -> ValueAndSlope:
    """The log density and its slope of a likelihood that is not ours, whose y have f's shape."""

    def value_and_slope(y: Array, f: Array) -> tuple[Array, Array]:
        y = array_namespace(f).broadcast_to(y, f.shape)
        return likelihood.log_density(y, f), likelihood.derivatives(y, f)[0]

    return value_and_slope


def expected_bar(
    likelihood: Likelihood, y: Array, mean: Array, variance: Array, bar: Array, nodes: int
) -> Any:
    """Differentiate the averaged log density by the parameters of a likelihood; O(n nodes).

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood, ours or not.
    y : Array, shape (n,)
        The observations.
    mean, variance : Array, shape (n,)
        The moments of f.
    bar : Array, shape (n,)
        The derivatives by the averages.
    nodes : int
        How many nodes a rule has.

    Returns
    -------
    Likelihood
        One of the same class that holds ``Σ bar ∂ E log p(y | f)/∂θ`` in the place of each
        parameter θ, by Gauss-Hermite where the average itself is; one without parameters comes
        back as it is.

    Raises
    ------
    TypeError
        If the likelihood has parameters and no `pullback`.
    """
    if not has_parameters(likelihood):
        return likelihood
    if isinstance(likelihood, LikelihoodBase):
        return likelihood.expected_bar_of(y, mean, variance, bar, nodes)
    f, weights, _ = points(mean, variance, nodes)
    y = array_namespace(f).broadcast_to(y[..., None], f.shape)
    f_bar = bar[..., None] * weights
    parametric = require(likelihood, "likelihood", ParametricLikelihood)
    return cast(ParametricLikelihood, parametric).pullback(y, f, f_bar)[0]


def has_parameters(likelihood: Likelihood) -> bool:
    """Return True if a likelihood declares fields that can be fitted, as `params` has them.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood.

    Returns
    -------
    bool
        True if there is such a field.
    """
    return bool(leaves(likelihood))


def is_latent(likelihood: object) -> bool:
    """Return True if f has not the unit of y: no parameter of the likelihood has it, or its square.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood.

    Returns
    -------
    bool
        True as for labels and counts, False as for normal noise.
    """
    return not any(leaf.unit in ("y", "y²") for leaf in leaves(likelihood))


def predicted(likelihood: PredictiveLikelihood, mean: Array, variance: Array) -> Any:
    """Find the mean and the variance of y for ``f ~ N(mean, variance)``, which were worked out.

    Parameters
    ----------
    likelihood : PredictiveLikelihood
        The likelihood; ours checks nothing, another is asked by its public method.
    mean, variance : Array, shape (n,)
        The moments of f.

    Returns
    -------
    mean, variance : Array, shape (n,)
        Those of y.
    """
    if isinstance(likelihood, LikelihoodBase):
        return likelihood.predict_of(mean, variance)
    return likelihood.predict(mean, variance)


def probability(likelihood: LabelLikelihood, mean: Array, variance: Array) -> Array:
    """Evaluate ``P(y = 1)`` for ``f ~ N(mean, variance)``, which were worked out.

    Parameters
    ----------
    likelihood : LabelLikelihood
        The likelihood; ours checks nothing, another is asked by its public method.
    mean, variance : Array, shape (n,)
        The moments of f.

    Returns
    -------
    Array, shape (n,)
        The probabilities.
    """
    if type(likelihood) is Bernoulli:
        return likelihood.probability_of(mean, variance)
    return likelihood.probability(mean, variance)


def log_predictive(likelihood: Likelihood, y: Array, mean: Array, variance: Array) -> Array:
    """Evaluate ``log E p(y | f)`` for ``f ~ N(mean, variance)``, by entry, for any likelihood.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood, ours or not.
    y : Array, shape (n,)
        The observations, validated before.
    mean, variance : Array, shape (n,)
        The moments of f, validated before.

    Returns
    -------
    Array, shape (n,)
        The log densities of y.
    """
    if isinstance(likelihood, LikelihoodBase):
        return likelihood.log_predictive_of(y, mean, variance)
    return log_average(_of(likelihood), y, mean, variance)
