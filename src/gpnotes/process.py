"""A Gaussian process before any data, and which data go with it."""

from __future__ import annotations

from dataclasses import dataclass

from . import _check
from ._xp import Matrix, Vector
from .contracts import Mean, require
from .kernels import Kernel
from .means import ZeroMean
from .params import holds_derivatives, nonnegative, settle

__all__ = ["GP", "admit_data", "residual_of"]


@dataclass(frozen=True)
class GP:
    """A prior over functions, ``f ~ GP(mean, kernel)``, :eq:`eq-fv-gp`, and the noise of y.

    `noise_var` is σ_n², the variance of the independent noise in ``y = f + ε``, :eq:`eq-fv-cov-y`;
    it may be zero. `mean` is a `contracts.Mean`. Raises `TypeError` for what is no kernel or no
    mean function, `ValueError` for a noise that is negative or not finite.

    >>> from gpnotes import RBF
    >>> GP(RBF(), 0.1)
    GP(kernel=RBF(variance=1, lengthscale=1), noise_var=0.1, mean=ZeroMean())
    """

    kernel: Kernel
    noise_var: float = nonnegative(unit="y²")
    mean: Mean = ZeroMean()  # noqa: RUF009  (frozen, so one instance can serve all)

    def __post_init__(self) -> None:
        settle(self)
        _check.instance(self.kernel, "kernel", Kernel)
        for part in (self.kernel, self.mean):
            if holds_derivatives(part):
                raise TypeError(f"{part!r} holds derivatives and is no part of a process")
        if isinstance(self.mean, Kernel):
            raise TypeError(f"mean must be a mean function; got the kernel {self.mean!r}")
        require(self.mean, "mean", Mean)


def admit_data(gp: GP, X: Matrix, y: Vector) -> None:
    """Raise, naming the argument, for a process and data that do not go together."""
    _check.instance(gp, "gp", GP)
    if _check.matrix(X, "X").shape[0] == 0:
        raise ValueError(f"X must have at least one row; got {X.shape}")
    gp.kernel._admit(X, "X")
    _check.alike(_check.vector(y, "y", size=X.shape[0]), "y", X, "X")


def residual_of(gp: GP, X: Matrix, y: Vector) -> Vector:
    """``y − m(X)``; a mean of another shape would broadcast."""
    return y - _check.vector(gp.mean(X), "gp.mean(X)", size=X.shape[0])
