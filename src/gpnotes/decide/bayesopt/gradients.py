"""Predictions and acquisitions with their derivatives by the place, for ascents."""

from __future__ import annotations

from ...ground import check as _check
from ...ground.xp import Matrix, Vector
from ...infer.exact import ExactPosterior
from ...infer.input_gradients import Pullback, pulled_back
from ...model.contracts import Acquisition, require
from ...model.gaussian_process import differentiable_mean

__all__ = ["acquisition_and_gradient", "predict_and_pullback"]


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
    mean, variance, pull = pulled_back(posterior, Xs)

    def validated_pull(mean_bar: Vector, variance_bar: Vector) -> Matrix:
        _check.cotangent(mean_bar, "mean_bar", mean)
        _check.cotangent(variance_bar, "variance_bar", variance)
        return pull(mean_bar, variance_bar)

    return mean, variance, validated_pull


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
        The worth of an evaluation at each place.
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
