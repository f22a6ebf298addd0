"""Matheron's rule: the update that turns a draw of the prior into one of the posterior.

A function of the prior becomes one of the posterior by a sum of kernels at some places: the data of
an exact posterior, the inducing points of the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...ground.linalg import Cholesky
from ...ground.xp import Matrix, Numbers, Vector, array_namespace
from ...infer.exact import ExactPosterior
from ...infer.interdomain import InducingPoints
from ...infer.sparse import SparsePosterior
from ...infer.svgp import VariationalPosterior
from ...model.contracts import InducingVariables
from ...model.gaussian_process import GP, require_known_mean

__all__ = ["AnyPosterior", "MatheronUpdate", "matheron_update"]

AnyPosterior: TypeAlias = ExactPosterior | SparsePosterior | VariationalPosterior


@dataclass(frozen=True, eq=False)
class MatheronUpdate:
    """The sum of kernels that takes a function of the prior to the posterior.

    Parameters
    ----------
    gp : GP
        The process.
    inputs : Matrix, shape (n, d)
        Where the kernels stand: the data's inputs, or the inducing points.
    num_normals : int
        How many standard normal numbers a function needs for `weights`.
    weights : callable
        ``weights(prior, normals)`` gives the weights of the kernels, (n, count), from the values at
        `inputs` of functions of the prior with mean zero, (n, count), and from normal
        numbers, (normals, count).
    """

    gp: GP
    inputs: Matrix
    num_normals: int
    weights: Callable[[Matrix, Matrix], Matrix]


def matheron_update(posterior: AnyPosterior) -> MatheronUpdate:
    """Return the update of the functions of a posterior.

    Parameters
    ----------
    posterior : ExactPosterior, SparsePosterior or VariationalPosterior
        The posterior.
    """
    if isinstance(posterior, ExactPosterior):
        return _of_data(posterior)
    if isinstance(posterior, SparsePosterior):
        return _of_sparse(posterior)
    if isinstance(posterior, VariationalPosterior):
        return _of_variational(posterior)
    wanted = "an ExactPosterior, a SparsePosterior or a VariationalPosterior"
    raise TypeError(f"posterior must be {wanted}; got {type(posterior).__name__}")


def _of_data(posterior: ExactPosterior) -> MatheronUpdate:
    gp = require_known_mean(posterior.gp)
    variance = posterior.reading_noise.variance + posterior.cholesky.jitter
    noise_sd: Numbers
    if isinstance(variance, float):
        noise_sd = math.sqrt(variance)
    else:  # a column for readings with a noise of their own
        noise_sd = array_namespace(variance).sqrt(variance)[:, None]

    def weights(prior: Matrix, normals: Matrix) -> Matrix:
        residual = posterior.residual[:, None] - prior - noise_sd * normals
        return posterior.cholesky.solve(residual)

    return MatheronUpdate(gp, posterior.X, posterior.X.shape[0], weights)


def _of_sparse(posterior: SparsePosterior) -> MatheronUpdate:
    if posterior.degenerate:
        wanted = "of a method that leaves f free between the inducing points"
        raise ValueError(f"posterior must be {wanted}; that of the subset of regressors is not")
    _require_points(posterior.inducing.given)
    factor, root = posterior.inducing.factor, posterior.cholesky
    mean = posterior.weight_mean
    weights = _inducing_weights(factor, mean, lambda normals: root._half_solve_t(normals))
    gp = replace(posterior.gp, kernel=posterior.inducing.kernel)
    return MatheronUpdate(gp, posterior.Z, _num_normals(factor), weights)


def _of_variational(posterior: VariationalPosterior) -> MatheronUpdate:
    _require_points(posterior.model.variables)
    xp = array_namespace(posterior.weights)
    weights = _inducing_weights(
        posterior.inducing,
        posterior.weights,
        lambda normals: xp.matrix_transpose(posterior.root) @ normals,
    )
    inputs = posterior.model.variables.inputs
    return MatheronUpdate(posterior.model.gp, inputs, _num_normals(posterior.inducing), weights)


def _require_points(variables: InducingVariables) -> None:
    if type(variables) is not InducingPoints:
        wanted = "one of inducing points, whose variables are values of f"
        raise TypeError(f"posterior must be {wanted}; got {type(variables).__name__}")


def _num_normals(factor: Cholesky) -> int:
    """One for each of the values u, and one more where u has noise, the jitter of its prior."""
    return factor.lower.shape[0] * (2 if factor.jitter else 1)


def _inducing_weights(
    factor: Cholesky, mean: Vector, root: Callable[[Matrix], Matrix]
) -> Callable[[Matrix, Matrix], Matrix]:
    """The weights where ``u = m + L c``, and c is normal about `mean` with this `root`."""

    def weights(prior: Matrix, normals: Matrix) -> Matrix:
        m = mean.shape[0]
        u = factor.lower @ (mean[:, None] + root(normals[:m, :]))
        residual = u - prior
        if factor.jitter:
            residual = residual - math.sqrt(factor.jitter) * normals[m:, :]
        return factor.solve(residual)

    return weights
