"""The models that the loop has of an objective unless it is given another: fitted processes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol, TypeAlias

import numpy as np

from ...ground import check as _check
from ...ground.conversion import takes
from ...ground.interrupts import raised_interrupts
from ...ground.random import RNG
from ...ground.xp import Matrix, MatrixLike, Vector, VectorLike, as_array, to_numpy
from ...infer.exact import ExactPosterior
from ...infer.fit_checks import may_be_noise
from ...infer.fitting import fit
from ...model.contracts import Prior
from ...model.gaussian_process import GP
from ...model.kernels import RBF, Matern52, WithGradients
from ...model.means import ConstantMean, ConstantOfValues
from ...model.priors import LogNormalPrior
from .search_space import has_categories
from .training_data import compress_tail, rank_tail

__all__ = [
    "Model",
    "dim_scaled_model",
    "fitted_model",
    "fitted_with_gradients",
    "models_of",
    "rank_tailed_model",
    "tail_compressed_model",
]

Limits: TypeAlias = Mapping[str, tuple[float, float]]


class Model(Protocol):
    """A model of a search: inputs in the unit cube, values of deviation one, and an `rng`."""

    def __call__(self, X: Matrix, y: Vector, /, *, rng: RNG) -> ExactPosterior:
        """Condition on the readings."""


_BOUNDS = {  # of inputs in the unit cube and values of standard deviation one
    "kernel.variance": (0.05, 100.0),
    "kernel.lengthscale": (0.02, 20.0),
    "noise_var": (1e-6, 1.0),
}


_MANY = 10  # inputs from which on smooth functions and plain values have won the races


def tail_compressed_model(X: Matrix, y: Vector, *, rng: RNG) -> ExactPosterior:
    """The model by which an `Optimiser` that is given none chooses places without categories.

    A `dim_scaled_model` of values (n,), the larger the better, by `compress_tail` unless X has
    ten columns or more; a category of three choices or more has as many.
    """
    if _check.matrix(X, "X").shape[1] < _MANY:
        y = as_array(compress_tail(to_numpy(y)), y)
    return dim_scaled_model(X, y, rng=rng)


def rank_tailed_model(X: Matrix, y: Vector, *, rng: RNG) -> ExactPosterior:
    """The model by which an `Optimiser` that is given none chooses places with categories.

    As `tail_compressed_model`, by `rank_tail`: where a category of a machine fails on half of its
    settings, values leap by any factor.
    """
    if _check.matrix(X, "X").shape[1] < _MANY:
        y = as_array(rank_tail(to_numpy(y)), y)
    return dim_scaled_model(X, y, rng=rng)


@takes("X", "y")
def fitted_model(X: MatrixLike, y: VectorLike, *, rng: RNG) -> ExactPosterior:
    """Fit a model whose lengths are whatever the readings say, without a prior.

    Parameters
    ----------
    X : Matrix, shape (n, d)
        Inputs in the unit cube.
    y : Vector, shape (n,)
        Values of standard deviation one.
    rng : Stream, Generator or int
        Source of the second start.

    Returns
    -------
    ExactPosterior
        That of a Matérn-5/2 process with one length for each input and a constant mean, fitted by
        evidence from two starts within bounds; noise is at least 1e-6 of the variance of y.

    Raises
    ------
    ValueError
        If shapes do not fit, an entry is not finite, or no start has an evidence.

    Examples
    --------
    >>> from gpnotes import stream
    >>> X = np.linspace(0.0, 1.0, 6)[:, None]
    >>> fitted_model(X, np.sin(6.0 * X[:, 0]), rng=stream(1)).y.shape
    (6,)
    """
    d = _check.matrix(X, "X").shape[1]
    lengths = as_array(np.full(d, 0.5), X)
    return _fitted(GP(Matern52(1.0, lengths), 1e-3, ConstantMean(0.0)), X, y, rng, _BOUNDS)


@takes("X", "y")
def fitted_with_gradients(X: MatrixLike, y: VectorLike, *, rng: RNG) -> ExactPosterior:
    """Fit the model that an `Optimiser` with gradients uses unless it is given another.

    It is `fitted_model` for values and gradients. The noise, of one variance, is of all rows.

    Parameters
    ----------
    X : Matrix, shape (n, d + 1)
        Rows that end in a label, those of `kernels.WithGradients`, with inputs in the unit cube.
    y : Vector, shape (n,)
        Values, and derivatives by inputs of the unit cube.
    rng : Stream, Generator or int
        Source of the second start.

    Returns
    -------
    ExactPosterior
        That of the fitted process.

    Raises
    ------
    ValueError
        If shapes or labels do not fit, an entry is not finite, or no start has an evidence.

    Notes
    -----
    A fit takes O(n³) for the n rows, d + 1 for each evaluation with its gradient.

    Examples
    --------
    >>> from gpnotes import stream
    >>> from gpnotes.model.kernels import gradients_at, values_at
    >>> x = np.linspace(0.0, 1.0, 4)[:, None]
    >>> X = np.concatenate([values_at(x), gradients_at(x)])
    >>> y = np.concatenate([np.sin(6.0 * x[:, 0]), 6.0 * np.cos(6.0 * x[:, 0])])
    >>> fitted_with_gradients(X, y, rng=stream(1)).mean(values_at(x + 0.1)).shape
    (4,)
    """
    d = _check.matrix(X, "X").shape[1] - 1
    lengths = as_array(np.full(d, 0.5), X)
    gp = GP(WithGradients(Matern52(1.0, lengths)), 1e-3, ConstantOfValues(0.0))
    bounds = {name.replace("kernel.", "kernel.kernel."): ends for name, ends in _BOUNDS.items()}
    return _fitted(gp, X, y, rng, bounds)


@takes("X", "y")
def dim_scaled_model(X: MatrixLike, y: VectorLike, *, rng: RNG) -> ExactPosterior:
    """Fit a model of lengths that a prior knows: the more inputs, the longer.

    An `Optimiser` predicts by it unless it is given another, and chooses places by it too, though
    among less than ten inputs of values whose bad ones count less.

    Parameters
    ----------
    X, y, rng
        As in `fitted_model`.

    Returns
    -------
    ExactPosterior
        That of a process with one length for each input, whose prior is log-normal, of location
        ``√2 + log(d) / 2`` and scale ``√3``, and a constant mean; at the top of the evidence times
        the prior. Its kernel is Matérn-5/2, from ten inputs on squared exponential.

    Raises
    ------
    ValueError
        If shapes do not fit, an entry is not finite, or no start has an evidence.

    Notes
    -----
    Two points of a unit cube are farther apart the more sides it has, as √d. Lengths that grow as
    much keep a far reading as telling as it is in few inputs.

    Source: Hvarfner, Hellsten & Nardi (2024).

    Examples
    --------
    >>> from gpnotes import stream
    >>> X = stream(1).uniform((6, 20))
    >>> dim_scaled_model(X, X[:, 0] - 0.5, rng=stream(1)).gp.kernel.lengthscale.shape
    (20,)
    """
    d = _check.matrix(X, "X").shape[1]
    location, scale = math.sqrt(2.0) + 0.5 * math.log(max(d, 1)), math.sqrt(3.0)
    mode = np.full(d, math.exp(location - scale**2))
    kernel = RBF if d >= _MANY else Matern52
    gp = GP(kernel(1.0, as_array(mode, X)), 1e-3, ConstantMean(0.0))
    priors = {"kernel.lengthscale": LogNormalPrior(location, scale)}
    bounds = {**_BOUNDS, "kernel.lengthscale": (0.02, 200.0)}
    return _fitted(gp, X, y, rng, bounds, priors)


def _fitted(
    gp: GP,
    X: Matrix,
    y: Vector,
    rng: RNG,
    bounds: Limits,
    priors: Mapping[str, Prior] | None = None,
) -> ExactPosterior:
    with raised_interrupts(), may_be_noise():
        found = fit(gp, X, y, restarts=1, rng=rng, bounds=bounds, priors=priors, max_steps=100)
    return found.posterior


def models_of(model: Model | None, box: object, gradients: bool) -> tuple[Model, Model]:
    """The model that predicts in a search, and the one that chooses places.

    To find good values, bad ones need not be distinguished: unless a model is given, they are not.
    """
    default = fitted_with_gradients if gradients else dim_scaled_model
    predicting = _check.function(default if model is None else model, "model", "X, y and rng")
    if model is not None or gradients:
        return predicting, predicting
    return predicting, rank_tailed_model if has_categories(box) else tail_compressed_model
