"""A Gaussian process before any data, and which data go with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from ..ground import check as _check
from ..ground import memory
from ..ground.conversion import takes
from ..ground.params import holds_derivatives, left_open, nonnegative, settle
from ..ground.xp import (
    Matrix,
    MatrixLike,
    Numbers,
    Vector,
    array_namespace,
    device,
    eye,
    fused,
    is_cupy_array,
)
from . import means
from .contracts import Mean, MeanFunction, require
from .kernels import Kernel
from .means import BasisMean, ConstantMean, Powers, ZeroMean
from .normal import Normal, normal_of

__all__ = [
    "GP",
    "differentiable_mean",
    "fitted_mean",
    "plus_noise",
    "plus_noise_in_rows",
    "prior",
    "require_known_mean",
    "require_no_noise",
    "require_noise",
    "require_zero_mean",
    "residual_of",
    "validate_data",
]


@dataclass(frozen=True)
class GP:
    """A prior over functions, ``f ~ GP(mean, kernel)``, [eq-fv-gp], and the noise of y.

    `gpnotes.prior` gives its prior at some inputs, `gpnotes.condition` its posterior,
    and `gpnotes.fit` finds its parameters, too.

    Parameters
    ----------
    kernel : Kernel
        The covariance function of f.
    noise_var : float, optional
        σ_n², the variance of the independent noise in ``y = f + ε``, [eq-fv-cov-y]; it may be
        zero. Without it, it is open: `gpnotes.fit` finds it, and other functions raise an error.
        Where a likelihood says how y scatters around f there is none.
    mean : MeanFunction, default ZeroMean()
        Any function from (n, d) to (n,); one that is to be fitted is a `contracts.Mean`, one with
        unknown weights a `means.BasisMean`.
    input_columns : tuple of str, default ()
        The names of the columns of X, where `gpnotes.condition` or `gpnotes.fit` was given a frame:
        the process in their result has them, and another frame with these columns is taken in
        their order, in which its lengthscales stand.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> GP(RBF(), 0.1)
    GP(kernel=RBF(variance=1, lengthscale=1), noise_var=0.1, mean=ZeroMean())
    """

    kernel: Kernel
    noise_var: float = nonnegative(0.0, unit="y²")
    mean: MeanFunction = ZeroMean()  # noqa: RUF009  (frozen, so one instance can serve all)
    input_columns: tuple[str, ...] = field(default=(), kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        given: object = self.noise_var
        if getattr(given, "ndim", 0) or isinstance(given, list | tuple):
            known = "variances of single readings go with them, condition(gp, X, y, noise_var=...)"
            raise ValueError(f"GP.noise_var must be a float; got {_check.kind_of(given)}: {known}")
        settle(self)
        _check.instance(self.kernel, "kernel", Kernel)
        parts: tuple[Any, ...] = (self.kernel, self.mean)
        for part in parts:
            if holds_derivatives(part):
                raise TypeError(f"{part!r} holds derivatives and cannot be part of a process")
        if isinstance(self.mean, type | Kernel) or not callable(self.mean):
            wanted = "a mean function, such as ConstantMean(1.0)"
            raise TypeError(f"mean must be {wanted}; got {_check.kind_of(self.mean)}")
        if self.kernel.labels_rows and _ignores_labels(self.mean):
            wanted = "ConstantOfValues for a kernel of derivatives, whose mean is zero"
            raise TypeError(f"mean must be {wanted}; got {_check.kind_of(self.mean)}")


def _ignores_labels(mean: MeanFunction) -> bool:
    """True if the mean is the same in rows that see derivatives and rows that see values."""
    basis = mean.basis if isinstance(mean, BasisMean) else mean
    return isinstance(basis, ConstantMean | Powers)


def differentiable_mean(gp: GP) -> Mean:
    """Return the mean of `gp` if it is known and has a pullback: the evidence's gradient needs one.

    Raises
    ------
    TypeError
        If the mean has unknown weights, or no pullback.
    """
    return cast(Mean, require(require_known_mean(gp).mean, "gp.mean", Mean))


def fitted_mean(gp: GP) -> Mean:
    """Return the mean of `gp` if a fit can use it: it has a pullback, or its weights are learnt.

    Raises
    ------
    TypeError
        If the mean has no pullback.
    """
    return cast(Mean, require(gp.mean, "gp.mean", Mean))


def require_known_mean(gp: GP) -> GP:
    """Return `gp` unless its mean has unknown weights.

    Methods that do not learn the weights must not ignore them either.
    """
    if isinstance(gp.mean, BasisMean):
        wanted = "known: exact regression alone learns the weights of a BasisMean"
        raise TypeError(f"gp.mean must be {wanted}; got {gp.mean!r}")
    return gp


@takes("Xs")
def prior(gp: GP, Xs: MatrixLike, noise: bool = False) -> Normal:
    """Find the distribution of f at some inputs before any data, or with `noise` that of y there.

    [eq-fv-moments]; with `noise` [eq-fv-cov-y]; with a basis [eq-mf-prior].

    Parameters
    ----------
    Xs : Matrix, shape (n, d)
        The inputs.
    noise : bool, default False
        True for the distribution of y, False for that of f.

    Raises
    ------
    ValueError
        If the inputs do not fit the kernel in shape, an entry is not finite, or the weights of the
        mean are vague, so that there is no distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> prior(GP(RBF(), 0.5), np.asarray([[0.0], [1.0]]), noise=True).variance
    array([1.5, 1.5])
    """
    _check.instance(gp, "gp", GP).kernel.validate_inputs(Xs, "Xs")
    if _check.flag(noise, "noise"):
        require_noise(gp)
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
    return normal_of(means.with_hooks(gp.mean)._call(Xs), covariance, scales)


def plus_noise(K: Matrix, noise_var: Numbers) -> Matrix:
    """Add the variance of the noise to the diagonal: the covariance of y from that of f, (n, n).

    It is one number, or one for each reading. Without noise it is K itself.
    """
    if isinstance(noise_var, float) and not noise_var:
        return K
    if is_cupy_array(K):
        return plus_noise_in_rows(K, noise_var, slice(None))
    return K + noise_var * eye(K.shape[0], K)


def plus_noise_in_rows(K: Matrix, noise_var: Numbers, rows: slice) -> Matrix:
    """Add the variance of the noise to some rows (b, n) of a covariance; no identity is made."""
    xp = array_namespace(K)
    places = xp.arange(K.shape[1], device=device(K))
    return _with_noise(K, noise_var, places[rows, None], places[None, :])


@fused
def _with_noise(K: Matrix, noise_var: Numbers, row: Matrix, column: Matrix) -> Matrix:
    return array_namespace(K).where(row == column, K + noise_var, K)


def require_noise(gp: GP) -> None:
    """Refuse a process without a variance of the noise, which a fit alone can find."""
    if "noise_var" in left_open(gp):
        wanted = "given, as in GP(kernel, 0.1): without it, it is open, and `fit` finds it"
        raise ValueError(f"gp.noise_var must be {wanted}; got none")


def require_no_noise(gp: GP, why: str = "the likelihood says how y scatters around f") -> None:
    """Refuse a process with noise, where another part of the model has the noise."""
    if gp.noise_var:
        raise ValueError(f"gp.noise_var must be 0: {why}; got {gp.noise_var}")


def require_zero_mean(gp: GP) -> None:
    """Refuse a process of classes with a mean."""
    if not isinstance(gp.mean, ZeroMean):
        why = "what all classes have in common changes no probability"
        raise ValueError(f"gp.mean must be ZeroMean(): {why}; got {gp.mean!r}")


def validate_data(
    gp: GP,
    X: Matrix,
    y: Vector,
    name: str = "X",
    *,
    learns: bool = False,
    columns: int | None = None,
) -> None:
    """Raise, naming the argument, for a process and data that do not go together.

    Parameters
    ----------
    X : Matrix, shape (n, d)
        The inputs, at least one.
    name : str, default "X"
        The name of X in an error.
    learns : bool, default False
        True for a method that learns the unknown weights of a mean, so that a `BasisMean` will do.
    columns : int, optional
        How many columns X must have, where something else says so.
    """
    _check.instance(gp, "gp", GP)
    if not learns:
        require_known_mean(gp)
    if _check.matrix(X, name, columns=columns).shape[0] == 0:
        raise ValueError(f"{name} must have at least one row; got {tuple(X.shape)}")
    gp.kernel._validate_inputs(X, name)
    _check.alike(_check.vector(y, "y", rows=X, of=name), "y", X, name)


def residual_of(gp: GP, X: Matrix, y: Vector) -> Vector:
    """Subtract the mean from the observations, ``y − m(X)``; X is validated before."""
    if isinstance(gp.mean, ZeroMean):
        return array_namespace(y).asarray(y, copy=True)
    return y - means.with_hooks(gp.mean)._call(X)
