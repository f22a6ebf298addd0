"""Queries for labels: three measures of a label's uncertainty, and the fault of two of them."""

from __future__ import annotations

import math

from ...ground import check as _check
from ...ground.xp import Array, Matrix, Vector, array_namespace, epsilon
from ...model.likelihoods import Bernoulli

__all__ = ["approximate_bald", "bald", "entropy", "margin"]


def entropy(probability: Array) -> Vector:
    """Return the entropy of each label, in nats.

    The label of the largest entropy is the most open, be it for want of data or by chance: noise
    that no data remove counts like ignorance that one label would remove.

    Parameters
    ----------
    probability : Array, shape (n,) or (n, C)
        P(y = 1), or that of all C classes.

    Returns
    -------
    Vector, shape (n,)
        The entropies, between 0 and log C.

    Notes
    -----
    ``H(y) = −Σ p log p``, [eq-al-entropy].

    Examples
    --------
    >>> import numpy as np
    >>> entropy(np.asarray([0.5, 0.9])).round(4)
    array([0.6931, 0.3251])
    """
    return _entropy(_classes(probability))


def _entropy(p: Matrix) -> Vector:
    xp = array_namespace(p)
    # −p log p, with its value 0 at 0
    known = xp.where(p > 0.0, p, xp.ones_like(p))
    return xp.sum(-p * xp.log(known), axis=1)


def margin(probability: Array) -> Vector:
    """Return how much likelier the first class is than the second: the smallest is the most open.

    Parameters
    ----------
    probability : Array, shape (n,) or (n, C)
        P(y = 1), or that of all C classes.

    Returns
    -------
    Vector, shape (n,)
        The margins, between 0 and 1.

    Notes
    -----
    For probabilities of y = 1 it is ``|2p − 1|``, the γ of [eq-al-margin]; for those of all
    classes, the difference of the two largest.

    Examples
    --------
    >>> import numpy as np
    >>> margin(np.asarray([0.5, 0.9])).round(4)
    array([0. , 0.8])
    """
    p = _classes(probability)
    ordered = array_namespace(p).sort(p, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def _classes(probability: Array) -> Matrix:
    """Probabilities (n, C) of all classes."""
    binary = getattr(probability, "ndim", 0) == 1
    check = _check.vector if binary else _check.matrix
    p = check(probability, "probability")
    xp = array_namespace(p)
    if bool(xp.any((p < 0.0) | (p > 1.0))):
        raise ValueError("probability must lie between 0 and 1; some entries do not")
    if binary:
        return xp.stack([p, 1.0 - p], axis=1)
    excess = float(xp.max(xp.abs(xp.sum(p, axis=1) - 1.0))) if p.shape[0] else 0.0
    if p.shape[1] < 2 or excess > 1e2 * epsilon(p) * p.shape[1]:
        wanted = "two or more columns, and rows that sum to one"
        got = f"{tuple(p.shape)}, off by {excess:.3g}"
        raise ValueError(f"probability must have {wanted}; got {got}")
    return p


def bald(mean: Vector, variance: Vector, likelihood: Bernoulli | None = None) -> Vector:
    """Return the information that each label would have about f, in nats.

    It is the entropy of y, less the part that would remain with f known. The label of the largest
    is the one to ask for.

    Parameters
    ----------
    mean : Vector, shape (n,)
        Means of f.
    variance : Vector, shape (n,)
        Variances of f.
    likelihood : Bernoulli, optional
        The likelihood of y given f; probit unless it is given.

    Returns
    -------
    Vector, shape (n,)
        The information, between 0 and log 2.

    Notes
    -----
    ``I(y; f) = H(E p(y|f)) − E H(p(y|f))`` for ``f ~ N(mean, variance)``, [eq-al-bald]. The
    averages are sums over equidistant nodes, accurate to some 1e-12 for every variance, where
    Gauss-Hermite needs ever more nodes for a wide f.

    Source: Houlsby, Huszár, Ghahramani & Lengyel (2011).

    Examples
    --------
    >>> import numpy as np
    >>> bald(np.zeros(2), np.asarray([0.1, 10.0])).round(4)
    array([0.0298, 0.4766])
    """
    _validate_moments(mean, variance)
    label = Bernoulli() if likelihood is None else likelihood
    if not isinstance(label, Bernoulli):
        raise TypeError(f"likelihood must be a Bernoulli; got {likelihood!r}")
    return label._information(mean, variance)


def approximate_bald(mean: Vector, variance: Vector) -> Vector:
    """Return `bald` for the probit, approximately and in closed form.

    The entropy of a label is taken for a Gaussian bump in f.

    Parameters
    ----------
    mean, variance
        As in `bald`.

    Returns
    -------
    Vector, shape (n,)
        The information, within 0.002 nats of `bald`; it may be negative.

    Notes
    -----
    ``H(Φ(f)) ≈ log 2 · exp(−f² / (π log 2))``, so that with ``C² = π log 2 / 2`` its expectation
    is ``log 2 · C / √(C² + v) · exp(−m² / 2(C² + v))``.

    Source: Houlsby, Huszár, Ghahramani & Lengyel (2011), with entropies in bits.

    Examples
    --------
    >>> import numpy as np
    >>> approximate_bald(np.zeros(2), np.asarray([0.1, 10.0])).round(4)
    array([0.0298, 0.4759])
    """
    _validate_moments(mean, variance)
    xp = array_namespace(mean)
    square = 0.5 * math.pi * math.log(2.0)
    wide = square + variance
    bump = math.log(2.0) * xp.sqrt(square / wide) * xp.exp(-0.5 * mean * mean / wide)
    p = Bernoulli()._probability(mean, variance)
    return _entropy(xp.stack([p, 1.0 - p], axis=1)) - bump


def _validate_moments(mean: Vector, variance: Vector) -> None:
    if _check.floating(mean, "mean").ndim != 1:
        raise ValueError(f"mean must have shape (n,); got {tuple(mean.shape)}")
    if _check.floating(variance, "variance").shape != mean.shape:
        shape = tuple(mean.shape)
        raise ValueError(f"variance must have shape {shape}; got {tuple(variance.shape)}")
    _check.mean_and_variance(mean, variance)
    _check.squarable(mean, "mean")
