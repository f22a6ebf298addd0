"""A Gaussian process before any data, and which data go with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ..ground import check as _check
from ..ground import memory
from ..ground import xp as _xp
from ..ground.params import holds_derivatives, nonnegative, settle
from ..ground.xp import Matrix, Vector, array_namespace
from .contracts import Mean, MeanFunction, require
from .gaussian import Normal, normal_of
from .kernels import Kernel
from .means import BasisMean, ConstantMean, Powers, ZeroMean, values_of

__all__ = [
    "GP",
    "differentiable_mean",
    "fitted_mean",
    "plus_noise",
    "prior",
    "require_known_mean",
    "residual_of",
    "validate_data",
]


@dataclass(frozen=True)
class GP:
    """A prior over functions, ``f ~ GP(mean, kernel)``, :eq:`eq-fv-gp`, and the noise of y.

    `noise_var` is σ_n², the variance of the independent noise in ``y = f + ε``, :eq:`eq-fv-cov-y`;
    it may be zero. `mean` is any function from (n, d) to (n,); one that is to be fitted is a
    `contracts.Mean`, one with unknown weights a `means.BasisMean`. Raises `TypeError` for another
    kind of kernel or mean, `ValueError` for a noise that is negative or not finite.

    >>> from gpnotes import RBF
    >>> GP(RBF(), 0.1)
    GP(kernel=RBF(variance=1, lengthscale=1), noise_var=0.1, mean=ZeroMean())
    """

    kernel: Kernel
    noise_var: float = nonnegative(unit="y²")
    mean: MeanFunction = ZeroMean()  # noqa: RUF009  (frozen, so one instance can serve all)

    def __post_init__(self) -> None:
        settle(self)
        _check.instance(self.kernel, "kernel", Kernel)
        parts: tuple[Any, ...] = (self.kernel, self.mean)
        for part in parts:
            if holds_derivatives(part):
                raise TypeError(f"{part!r} holds derivatives and is no part of a process")
        if isinstance(self.mean, type | Kernel) or not callable(self.mean):
            wanted = "a mean function, such as ConstantMean(1.0)"
            raise TypeError(f"mean must be {wanted}; got {_check.kind_of(self.mean)}")
        if self.kernel.labels_rows and _ignores_labels(self.mean):
            wanted = "ConstantOfValues for a kernel of derivatives, whose mean is zero"
            raise TypeError(f"mean must be {wanted}; got {_check.kind_of(self.mean)}")


def _ignores_labels(mean: MeanFunction) -> bool:
    """Whether it gives rows that see derivatives what it gives rows that see values."""
    basis = mean.basis if isinstance(mean, BasisMean) else mean
    return isinstance(basis, ConstantMean | Powers)


def differentiable_mean(gp: GP) -> Mean:
    """The mean of `gp` if it has a pullback: what a gradient of the evidence needs."""
    return cast(Mean, require(require_known_mean(gp).mean, "gp.mean", Mean))


def fitted_mean(gp: GP) -> Mean:
    """The mean of `gp` if a fit can do with it: it has a pullback, or its weights are learnt."""
    return cast(Mean, require(gp.mean, "gp.mean", Mean))


def require_known_mean(gp: GP) -> GP:
    """`gp`, unless its mean has unknown weights: methods that do not learn them must not ignore
    them either."""
    if isinstance(gp.mean, BasisMean):
        wanted = "known: exact regression alone learns the weights of a BasisMean"
        raise TypeError(f"gp.mean must be {wanted}; got {gp.mean!r}")
    return gp


def prior(gp: GP, Xs: Matrix, noise: bool = False) -> Normal:
    """The distribution of f at Xs (n, d) before any data, or with `noise` that of y there.

    :eq:`eq-fv-moments`; with `noise` :eq:`eq-fv-cov-y`; with a basis :eq:`eq-mf-prior`. Raises
    `ValueError` or `TypeError` for inputs that do not fit the kernel, `ValueError` for a vague
    mean, of which there is no distribution, `MemoryError` for a matrix that has no room.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> prior(GP(RBF(), 0.5), np.asarray([[0.0], [1.0]]), noise=True).variance
    array([1.5, 1.5])
    """
    _check.instance(gp, "gp", GP).kernel._validate(_check.matrix(Xs, "Xs"), "Xs")
    _check.flag(noise, "noise")
    memory.require_square(Xs.shape[0], like=Xs, copies=4, what="the prior covariance")
    covariance = plus_noise(gp.kernel._gram(Xs, None), gp.noise_var if noise else 0.0)
    scales = gp.kernel._diag(Xs)
    if isinstance(gp.mean, BasisMean):
        if gp.mean.weights is None:
            raise ValueError("gp.mean must have a prior on its weights; vague, it has no moments")
        root = gp.mean.columns(Xs) @ gp.mean.weights.root
        xp = array_namespace(root)
        covariance = covariance + root @ xp.matrix_transpose(root)
        scales = scales + xp.sum(root * root, axis=1)
    return normal_of(values_of(gp.mean, Xs), covariance, scales)


def plus_noise(K: Matrix, noise_var: float) -> Matrix:
    """The covariance of y from that of f."""
    return K + noise_var * _xp.eye(K.shape[0], K) if noise_var else K


def validate_data(gp: GP, X: Matrix, y: Vector, name: str = "X", *, learns: bool = False) -> None:
    """Raise, naming the argument, for a process and data that do not go together.

    A mean with unknown weights is validated where a method `learns` them.
    """
    _check.instance(gp, "gp", GP)
    if not learns:
        require_known_mean(gp)
    if _check.matrix(X, name).shape[0] == 0:
        raise ValueError(f"{name} must have at least one row; got {X.shape}")
    gp.kernel._validate(X, name)
    _check.alike(_check.vector(y, "y", size=X.shape[0]), "y", X, name)


def residual_of(gp: GP, X: Matrix, y: Vector) -> Vector:
    """``y − m(X)``."""
    return y - values_of(gp.mean, X)
