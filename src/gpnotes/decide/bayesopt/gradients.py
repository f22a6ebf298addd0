"""Predictions and acquisitions with their derivatives by the place: what climbs them.

With ``k = K_f*`` (n, n*), one column for each place x*, the mean is ``m(x*) + kᵀ α`` and the
variance ``k(x*, x*) − kᵀ K_y⁻¹ k``. Derivatives `mean_bar` and `variance_bar` (n*,) go back to k by

    K_bar = α mean_barᵀ − 2 K_y⁻¹ k diag(variance_bar),

and the kernel's own pullback takes them to the places; those by the variance also go through
``k(x*, x*)``, those by the mean through the mean function. No
matrix of derivatives is formed, and all places are done at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ...fast import point_predictions
from ...fast.stationary_evidence import InPlaceKernel
from ...ground import check as _check
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector, array_namespace, as_host, solve_triangular
from ...infer.exact import ExactPosterior
from ...model.contracts import Acquisition, require
from ...model.gaussian_process import differentiable_mean

__all__ = ["acquisition_and_gradient", "predict_and_pullback"]

Pullback: TypeAlias = Callable[[Vector, Vector], Matrix]


def predict_and_pullback(posterior: ExactPosterior, Xs: Matrix) -> tuple[Vector, Vector, Pullback]:
    """Predict f at places, and return the way back to derivatives by these places.

    Parameters
    ----------
    posterior : ExactPosterior
        A posterior of `condition`, whose mean function must have a pullback.
    Xs : Matrix, shape (n*, d)
        The places.

    Returns
    -------
    mean : Vector, shape (n*,)
        Means of f.
    variance : Vector, shape (n*,)
        Variances of f; one that rounding took below zero is zero.
    pullback : Callable
        A function of the derivatives by means and by variances, (n*,) each, that gives those by
        `Xs`, (n*, d).

    Raises
    ------
    TypeError
        If `posterior` is something else, its mean function has no pullback, or `Xs` is no array of
        the kind of the data.

    Notes
    -----
    It costs O(n² n*) for the values, and as much for the way back.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.0), np.zeros((1, 1)), np.ones(1))
    >>> mean, variance, pull = predict_and_pullback(posterior, np.ones((1, 1)))
    >>> mean.round(4), pull(np.ones(1), np.zeros(1)).round(4)
    (array([0.6065]), array([[-0.6065]]))
    """
    _check.instance(posterior, "posterior", ExactPosterior)
    differentiable_mean(posterior.gp)
    _check.matrix(Xs, "Xs", columns=posterior.X.shape[1])
    _check.alike(Xs, "Xs", posterior.X, "X")
    mean, variance, pull = _predict_and_pullback(posterior, Xs)

    def validated_pull(mean_bar: Vector, variance_bar: Vector) -> Matrix:
        _check.cotangent(mean_bar, "mean_bar", mean)
        _check.cotangent(variance_bar, "variance_bar", variance)
        return pull(mean_bar, variance_bar)

    return mean, variance, validated_pull


@threads_for(lambda posterior, Xs: posterior.X.shape[0] ** 2 * Xs.shape[0])
def _predict_and_pullback(posterior: ExactPosterior, Xs: Matrix) -> tuple[Vector, Vector, Pullback]:
    xp = array_namespace(Xs)
    gp, lower = posterior.gp, posterior.cholesky.lower
    if point_predictions.supports(gp.kernel, Xs):
        return _in_place(posterior, gp.kernel, Xs)
    cross = gp.kernel._gram(posterior.X, Xs)
    half = solve_triangular(lower, cross)
    mean = gp.mean(Xs) + xp.matrix_transpose(cross) @ posterior.alpha
    left = gp.kernel._diag(Xs) - xp.sum(half * half, axis=0)

    def pull(mean_bar: Vector, variance_bar: Vector) -> Matrix:
        weights = solve_triangular(lower, half, transpose=True)
        K_bar = posterior.alpha[:, None] * mean_bar[None, :]
        K_bar = K_bar - 2.0 * weights * variance_bar[None, :]
        _, _, by_cross = gp.kernel._pullback(posterior.X, Xs, K_bar)
        _, by_diag = gp.kernel._diag_pullback(Xs, variance_bar)
        _, by_mean = differentiable_mean(gp).pullback(Xs, mean_bar)
        return by_cross + by_diag + by_mean

    return mean, xp.clip(left, 0.0, None), pull


def _in_place(
    posterior: ExactPosterior, kernel: InPlaceKernel, Xs: Matrix
) -> tuple[Vector, Vector, Pullback]:
    """The same for NumPy arrays and a kernel of distances, whose variance is the same all over."""
    mean = differentiable_mean(posterior.gp)
    known = posterior.X, Xs, posterior.cholesky.lower, posterior.alpha
    added, left, pull_kernel = point_predictions.predict_and_pullback(kernel, *known)

    def pull(mean_bar: Vector, variance_bar: Vector) -> Matrix:
        _, by_mean = mean.pullback(Xs, mean_bar)
        return pull_kernel(as_host(mean_bar), as_host(variance_bar)) + by_mean

    return mean(Xs) + added, np.maximum(left, 0.0), pull


def acquisition_and_gradient(
    posterior: ExactPosterior, acquisition: Acquisition, Xs: Matrix
) -> tuple[Vector, Matrix]:
    """Evaluate an acquisition at places, and its derivatives by these places.

    Parameters
    ----------
    posterior, Xs
        As in `predict_and_pullback`.
    acquisition : Acquisition
        A function of mean and variance with derivatives by both, such as `ExpectedImprovement`.

    Returns
    -------
    value : Vector, shape (n*,)
        What an evaluation at each place is worth.
    gradient : Matrix, shape (n*, d)
        Its derivatives by `Xs`.

    Raises
    ------
    TypeError
        If `acquisition` is no `contracts.Acquisition`, `posterior` is something else, its mean
        function has no pullback, or `Xs` is no array of the kind of the data.

    Notes
    -----
    ``∂a/∂x = ∂a/∂μ ∂μ/∂x + ∂a/∂v ∂v/∂x``, by `predict_and_pullback`; O(n² n*).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> from gpnotes.decide.bayesopt import UpperConfidenceBound
    >>> posterior = condition(GP(RBF(), 0.0), np.zeros((1, 1)), np.ones(1))
    >>> value, gradient = acquisition_and_gradient(
    ...     posterior, UpperConfidenceBound(4.0), np.ones((1, 1)))
    >>> value.round(4), gradient.round(4)
    (array([2.1967]), array([[0.3189]]))
    """
    require(acquisition, "acquisition", Acquisition)
    mean, variance, pull = predict_and_pullback(posterior, Xs)
    return acquisition(mean, variance), pull(*acquisition.derivatives(mean, variance))
