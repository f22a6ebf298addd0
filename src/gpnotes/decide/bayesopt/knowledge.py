"""The knowledge gradient: what a reading at each of some places is expected to teach.

A reading moves the means of all places along straight lines, by one standard normal number z. The
largest of them is a convex function of z, straight but for kinks, and its mean is a sum over these.
"""

from __future__ import annotations

import math

from ...ground import check as _check
from ...ground.xp import Matrix, Vector, array_namespace, diagonal
from .acquisition import ExpectedImprovement

__all__ = ["knowledge_gradient"]

_FARTHEST = 40.0  # a kink that no reading reaches: beyond it h is zero in floating point
_above_zero = ExpectedImprovement(0.0)


def knowledge_gradient(mean: Vector, covariance: Matrix, noise_var: float) -> Vector:
    """By how much a reading at each place is expected to raise the highest posterior mean.

    Parameters
    ----------
    mean : Vector, shape (n,)
        Posterior means of f at the places, at least one.
    covariance : Matrix, shape (n, n)
        Posterior covariance of f there.
    noise_var : float
        The variance of the noise of the reading, not negative.

    Returns
    -------
    Vector, shape (n,)
        The rise, for a reading at each place.

    Notes
    -----
    [eq-bo-knowledge], by [eq-bo-kinks] and without quadrature:
    ``Σᵢ (bᵢ₊₁ − bᵢ) h(−|zᵢ|)``, where ``h(z) = φ(z) + z Φ(z)``, over the lines
    ``mean + b z`` that are the highest somewhere, in the order of their slopes b, and the kinks zᵢ
    between them. O(n²) for each kink: from the line of the lowest slope to the next that crosses
    it, for all places at once.

    Source: Frazier, Powell & Dayanik (2009), who find the lines by algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> knowledge_gradient(np.asarray([0.0, 0.0]), np.eye(2), 0.0).round(4)
    array([0.3989, 0.3989])
    """
    n = _check.vector(mean, "mean").shape[0]
    if n == 0:
        raise ValueError(f"mean must have at least one entry; got {tuple(mean.shape)}")
    covariance = _check.normal(mean, covariance, names=("mean", "covariance"))
    noise_var = _check.positive(_check.number(noise_var, "noise_var"), "noise_var", zero=True)
    return _rise(mean, _slopes(covariance, noise_var))


def _slopes(covariance: Matrix, noise_var: float) -> Matrix:
    """How far each mean moves, a row each, by a reading one sd too high, a column each."""
    xp = array_namespace(covariance)
    total = xp.clip(diagonal(covariance), 0.0, None) + noise_var
    told = total > 0.0
    return xp.where(told, covariance / xp.sqrt(xp.where(told, total, 1.0)), 0.0)


def _rise(level: Vector, slopes: Matrix) -> Vector:
    """``E max(level + slopes z) − max level`` of each column: along the highest lines, from −∞."""
    xp = array_namespace(slopes)
    lowest = xp.min(slopes, axis=0)
    top = xp.max(xp.where(slopes == lowest, level[:, None], -math.inf), axis=0)
    slope, found = lowest, xp.zeros_like(lowest)
    while bool(xp.any(slopes > slope)):
        steeper = slopes > slope
        gap = xp.where(steeper, slopes - slope, 1.0)
        crossing = xp.where(steeper, (top - level[:, None]) / gap, math.inf)
        following = xp.argmin(crossing, axis=0)
        kink = xp.clip(xp.abs(xp.min(crossing, axis=0)), None, _FARTHEST)
        to = xp.take_along_axis(slopes, following[None, :], axis=0)[0, :]
        goes_on = xp.any(steeper, axis=0)
        rise = (to - slope) * _above_zero(-kink, xp.ones_like(kink))
        found = found + xp.where(goes_on, rise, 0.0)
        top = xp.where(goes_on, xp.take(level, following), top)
        slope = xp.where(goes_on, to, slope)
    return found
