"""Checks of the arguments of this package, with errors that name them."""

from __future__ import annotations

from typing import Any

from ...ground import check as _check
from ...ground.xp import Matrix, Numbers, Vector, array_namespace, device
from ...infer.exact import GP, ExactPosterior
from ...model.gaussian_process import require_known_mean

__all__ = ["candidates", "covariance_at", "noise_of", "process", "reference_of"]


def process(gp: GP | ExactPosterior) -> GP:
    """The process behind `gp`, which is one or a posterior of one."""
    if not isinstance(gp, GP | ExactPosterior):
        raise TypeError(f"gp must be a GP or an ExactPosterior; got {type(gp).__name__}")
    return require_known_mean(gp if isinstance(gp, GP) else gp.gp)


def candidates(gp: GP | ExactPosterior, X: Matrix, name: str = "X") -> Matrix:
    """`X` if it is a matrix of inputs of `gp`."""
    own = process(gp)
    if isinstance(gp, ExactPosterior):
        gp.validate_inputs(X, name)
    else:
        own.kernel.validate_inputs(X, name)
    return X


def covariance_at(gp: GP | ExactPosterior, X: Matrix) -> Matrix:
    """The covariance of f at inputs that are validated, for which the caller has room."""
    return gp._covariance(X) if isinstance(gp, ExactPosterior) else gp.kernel._gram(X, None)


def reference_of(
    gp: GP | ExactPosterior, X: Matrix, reference: Matrix | None, criterion: str
) -> Matrix:
    """`reference` (m, d) if its rows go with those of X and the criterion asks for one; else X."""
    if reference is None:
        return X
    if criterion != "integrated variance":
        raise ValueError(f"reference must be None for {criterion!r}, which needs none")
    _check.matrix(reference, "reference", columns=X.shape[1])
    if reference.shape[0] == 0:
        raise ValueError(f"reference must have at least one row; got {tuple(reference.shape)}")
    _check.alike(reference, "reference", X, "X")
    process(gp).kernel._validate_inputs(reference, "reference")
    return reference


def noise_of(
    gp: GP | ExactPosterior, X: Matrix, noise_var: Numbers | None, *, positive: bool
) -> Vector:
    """The variance of a measurement of each candidate, (n,), in the kind of X."""
    variance: Any = process(gp).noise_var if noise_var is None else noise_var
    if not (isinstance(variance, int | float) or hasattr(variance, "ndim")):
        raise TypeError(f"noise_var must be a float or an array; got {type(variance).__name__}")
    if getattr(variance, "ndim", 0) == 1:
        _check.alike(_check.vector(variance, "noise_var", size=X.shape[0]), "noise_var", X, "X")
    elif getattr(variance, "ndim", 0) > 1:
        raise ValueError(
            f"noise_var must be a float or have shape ({X.shape[0]},); got {tuple(variance.shape)}"
        )
    _check.positive(variance, "noise_var", zero=True)
    xp = array_namespace(X)
    noise = xp.zeros((X.shape[0],), dtype=X.dtype, device=device(X)) + variance
    if positive and not bool(xp.all(noise > 0.0)):
        raise ValueError(
            "noise_var must be positive for information: a measurement without noise has "
            "infinitely much. The criteria 'variance' and 'integrated variance' allow zero"
        )
    return noise
