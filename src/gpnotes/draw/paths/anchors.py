"""Where a posterior holds its functions, and what holds them there.

A function of the prior becomes one of the posterior by a sum of kernels at some places: the data of
an exact posterior, the inducing points of the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ...ground import xp as _xp
from ...ground.linalg import Cholesky
from ...ground.xp import Matrix, Vector, array_namespace
from ...infer.exact import ExactPosterior
from ...infer.interdomain import InducingPoints
from ...infer.sparse import SparsePosterior
from ...infer.sufficient_statistics import like_data
from ...infer.svgp import VariationalPosterior
from ...model.contracts import InducingVariables
from ...model.gaussian_process import GP, require_known_mean

__all__ = ["Anchor", "AnyPosterior", "anchor_of"]

AnyPosterior: TypeAlias = ExactPosterior | SparsePosterior | VariationalPosterior


@dataclass(frozen=True, eq=False)
class Anchor:
    """The places that hold the functions of a posterior.

    Parameters
    ----------
    gp : GP
        The process.
    places : Matrix, shape (n, d)
        The places.
    normals : int
        How many standard normal numbers a function needs for `weigh`.
    weigh : callable
        ``weigh(prior, normals)`` gives the weights of the kernels at the places, (n, count), from
        the values there of functions of the prior with mean zero, (n, count), and from normal
        numbers, (normals, count).
    """

    gp: GP
    places: Matrix
    normals: int
    weigh: Callable[[Matrix, Matrix], Matrix]


def anchor_of(posterior: AnyPosterior) -> Anchor:
    """Return what holds the functions of a posterior.

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


def _of_data(posterior: ExactPosterior) -> Anchor:
    gp = require_known_mean(posterior.gp)
    deviation = math.sqrt(gp.noise_var + posterior.cholesky.jitter)

    def weigh(prior: Matrix, normals: Matrix) -> Matrix:
        gap = posterior.residual[:, None] - prior - deviation * normals
        return posterior.cholesky.solve(gap)

    return Anchor(gp, posterior.X, posterior.X.shape[0], weigh)


def _of_sparse(posterior: SparsePosterior) -> Anchor:
    if posterior.degenerate:
        wanted = "of a method that leaves f free between the inducing points"
        raise ValueError(f"posterior must be {wanted}; that of the subset of regressors is not")
    _require_points(posterior.inducing.given)
    factor, root = posterior.inducing.factor, posterior.cholesky
    mean = posterior.weight_mean
    held = _held(factor, mean, lambda normals: root._half_solve_t(normals))
    return Anchor(posterior.gp, posterior.Z, _normals(factor), held)


def _of_variational(posterior: VariationalPosterior) -> Anchor:
    _require_points(posterior.model.variables)
    xp = array_namespace(posterior.weights)
    held = _held(
        posterior.inducing,
        posterior.weights,
        lambda normals: xp.matrix_transpose(posterior.root) @ normals,
    )
    places = posterior.model.variables.inputs
    return Anchor(posterior.model.gp, places, _normals(posterior.inducing), held)


def _require_points(variables: InducingVariables) -> None:
    if type(variables) is not InducingPoints:
        wanted = "one of inducing points, whose variables are values of f"
        raise TypeError(f"posterior must be {wanted}; got {type(variables).__name__}")


def _normals(factor: Cholesky) -> int:
    """One for each of the values u, and one more where u has noise, the jitter of its prior."""
    return factor.lower.shape[0] * (2 if factor.jitter else 1)


def _held(
    factor: Cholesky, mean: Vector, turned: Callable[[Matrix], Matrix]
) -> Callable[[Matrix, Matrix], Matrix]:
    """The weights where ``u = m + L c``, and c is normal about `mean` with a root `turned`."""

    def weigh(prior: Matrix, normals: Matrix) -> Matrix:
        m = mean.shape[0]
        wide = _xp.in_double(normals) if mean.dtype != prior.dtype else normals
        drawn = factor.lower @ (mean[:, None] + turned(wide[:m, :]))
        gap = drawn - like_data(prior, mean)
        if factor.jitter:
            gap = gap - math.sqrt(factor.jitter) * wide[m:, :]
        return like_data(factor.solve(gap), prior)

    return weigh
