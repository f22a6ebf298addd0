"""The Gaussian over the inducing values, and its predictions of f and y anywhere."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial, singledispatch
from typing import ClassVar, NamedTuple, TypeVar, cast

from ...fast import svgp as in_place
from ...ground import check as _check
from ...ground import memory
from ...ground.late_reads import number
from ...ground.linalg import Cholesky, NameWith, _cholesky, warn_of_jitter
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import (
    Array,
    Matrix,
    Vector,
    array_namespace,
    diagonal,
    eye,
    fused,
    is_cupy_array,
    solve_triangular,
)
from ...model import means
from ...model.contracts import Likelihood
from ...model.gaussian_process import GP
from ...model.kernels import Kernel
from ...model.kernels.origins import nearer_origin
from ..interdomain import InducingPoints
from ..interdomain.point_functionals import with_hooks
from ..posterior import PartPosterior, Posterior, require_inputs
from .model import SVGP

__all__ = [
    "Marginals", "Variational", "VariationalPosterior", "inducing_factor", "initial_posterior",
    "marginals", "projected", "read_by",
]  # fmt: skip


V = TypeVar("V", bound="Variational")


class Variational(Posterior):
    """The result of `prior`, `condition` and `fit`: a Gaussian q of one function, or of several."""

    model: SVGP
    inducing: Cholesky
    steps: int
    converged: bool
    _copies = 4

    @property
    @abstractmethod
    def kl(self) -> float:
        """The divergence of q from the prior in nats."""

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit those of u."""
        require_inputs(Xs, name, self.model.variables.inputs, "inducing", self.model.gp.kernel)

    @property
    def _noise(self) -> Likelihood:
        return cast(Likelihood, self.model.likelihood)


@dataclass(frozen=True, eq=False)
class VariationalPosterior(Variational):
    """The Gaussian ``q(v) = N(P⁻¹ t, P⁻¹)`` of ``f(Z) = m(Z) + L v``, and predictions of f and y.

    Made by `prior`, `condition` and `fit`. With ``A = L⁻¹ K_u*``, f at Xs has the mean
    ``m + Aᵀ w`` and the covariance ``K_** − Aᵀ (I − P⁻¹) A``: O(n* M²), and O(n*² M) more.

    Parameters
    ----------
    model : SVGP
        The process, likelihood and inducing inputs.
    inducing : Cholesky
        The factor of ``K_uu = L Lᵀ``; under the prior ``v ~ N(0, I)``.
    precision : Matrix, shape (M, M)
        P.
    cholesky : Cholesky
        The factor of P.
    weights : Vector, shape (M,)
        The mean ``w = P⁻¹ t``.
    steps : int
        The number of natural-gradient steps since the prior.
    converged : bool
        True where `condition` found no way to raise the bound further.

    Notes
    -----
    Source: Hensman, Matthews & Ghahramani (2015); q by its natural parameters as in Adam, Chang,
    Khan & Solin (2021), here of the whitened v.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Gaussian, condition
    >>> from gpnotes.infer import svgp
    >>> X, y = np.asarray([[0.0]]), np.asarray([3.0])
    >>> posterior = condition(SVGP(GP(RBF(), 0.0), Gaussian(0.5), X), X, y)
    >>> mean, variance = posterior.predict(np.asarray([[0.0], [9.0]]), noise=True)
    >>> mean.round(4), variance.round(4)
    (array([2., 0.]), array([0.8333, 1.5   ]))
    """

    model: SVGP
    inducing: Cholesky
    precision: Matrix
    cholesky: Cholesky
    weights: Vector
    steps: int = 0
    converged: bool = False

    __repr__ = summary
    _shifts: ClassVar[bool] = True

    @property
    def kl(self) -> float:
        """``KL(q(v) ‖ N(0, I)) = ½ (tr P⁻¹ + wᵀw − M + log |P|)`` in nats; O(M³)."""
        xp = array_namespace(self.weights)
        if is_cupy_array(self.weights):
            rows = _squares_of_rows(self.root)
            return number(_divergence(rows, self.weights, diagonal(self.root)))
        sums = xp.sum(self.root**2), xp.sum(self.weights**2), xp.sum(xp.log(diagonal(self.root)))
        of_root, of_weights, logs = map(float, sums)  # all are launched before one is read
        # of the root L_P⁻¹ the logarithms sum to −½ log |P|
        squares, log_det = of_root + of_weights, -2.0 * logs
        return 0.5 * (squares - self.weights.shape[0] + log_det)

    @cached_property
    def root(self) -> Matrix:
        """``L_P⁻¹``, (M, M), whose transpose times itself is P⁻¹; found once, O(M³)."""
        lower = self.cholesky.lower
        return solve_triangular(lower, eye(lower.shape[0], lower))

    @property
    def _width(self) -> int:
        return self.weights.shape[0]

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        _, mean, variance, _ = marginals(self, Xs)
        return mean, variance

    def _covariance(self, Xs: Matrix) -> Matrix:
        return self._covariance_by(Xs, marginals(self, Xs).A, self.model.gp.kernel)

    def _covariance_by(self, Xs: Matrix, A: Matrix, kernel: Kernel) -> Matrix:
        B = self.root @ A
        xp = array_namespace(Xs)
        spare = kernel._gram(Xs, None) - xp.matrix_transpose(A) @ A
        return spare + xp.matrix_transpose(B) @ B

    def _process(self) -> GP:
        return self.model.gp

    @threads_for(lambda self, part, Xs: self.weights.shape[0] ** 2 * Xs.shape[0])
    def _moments_of_part(self, part: PartPosterior, Xs: Matrix) -> tuple[Vector, Vector]:
        A, spare = projected(self, Xs, part.kernel)
        B = self.root @ A
        xp = array_namespace(Xs)
        mean = means.with_hooks(self.model.gp.mean)._call(Xs)
        pull = xp.matrix_transpose(A) @ self.weights
        return part.mean_in(mean, pull), spare + xp.sum(B * B, axis=0)

    def _covariance_of_part(self, part: PartPosterior, Xs: Matrix) -> Matrix:
        return self._covariance_by(Xs, projected(self, Xs, part.kernel)[0], part.kernel)

    def _scales(self, Xs: Matrix) -> Vector:
        return self.model.gp.kernel._diag(Xs)


@fused
def _squares_of_rows(root: Matrix) -> Vector:
    return array_namespace(root).sum(root * root, axis=1)


@fused
def _divergence(rows: Vector, weights: Vector, pivots: Vector) -> Array:
    xp = array_namespace(rows)
    return xp.sum(0.5 * (rows + weights * weights - 1.0) - xp.log(pivots))


class Marginals(NamedTuple):
    """``A = L⁻¹ K_u*`` (M, n*), moments of f at n* inputs, and what the fast path keeps of them."""

    A: Matrix
    mean: Vector
    variance: Vector
    kept: in_place.Projection | None = None


@threads_for(lambda posterior, X: posterior.weights.shape[0] ** 2 * X.shape[0])
def marginals(posterior: VariationalPosterior, X: Matrix) -> Marginals:
    """The distribution of f at each of some inputs; nothing is checked. O(n M²).

    The variance is a sum of two parts: that given Z, zero where rounding took it below, and
    that of Z under q. So it is positive however sure q is.
    """
    kernel = posterior.model.gp.kernel
    points = type(posterior.model.variables) is InducingPoints
    if points and in_place.supports(kernel, X):
        return _in_place(posterior, kernel, X)
    xp = array_namespace(X)
    A, spare = projected(posterior, X)
    B = posterior.root @ A
    mean = means.with_hooks(posterior.model.gp.mean)._call(X)
    mean = mean + xp.matrix_transpose(A) @ posterior.weights
    return Marginals(A, mean, spare + xp.sum(B * B, axis=0))


def projected(
    posterior: Variational, X: Matrix, kernel: Kernel | None = None
) -> tuple[Matrix, Vector]:
    """Return ``A = L⁻¹ K_u*`` (M, n), of the prior or a part's kernel, and the variance left open.

    That is the variance of f that Z leaves, zero where rounding took it below.
    """
    kernel, xp = kernel or posterior.model.gp.kernel, array_namespace(X)
    cross = with_hooks(posterior.model.variables)._cross(kernel, X)
    A = solve_triangular(posterior.inducing.lower, cross)
    return A, xp.clip(kernel._diag(X) - xp.sum(A * A, axis=0), 0.0, None)


def _in_place(
    posterior: VariationalPosterior, kernel: in_place.InPlaceKernel, X: Matrix
) -> Marginals:
    model = posterior.model
    lower = posterior.inducing.lower
    kept = in_place.project(
        kernel, model.variables.inputs, lower, posterior.root, posterior.weights, X
    )
    mean = means.with_hooks(model.gp.mean)._call(X) + kept.pull
    return Marginals(kept.Phi.T, mean, kept.variance, kept)


def initial_posterior(model: SVGP) -> Variational:
    """The Gaussian q before any data, that of the prior: ``P = I``, ``t = 0``.

    Parameters
    ----------
    model : SVGP
        The process, likelihood and inducing inputs.

    Returns
    -------
    VariationalPosterior or ClassesPosterior
        q, of one function for each class where the likelihood is `RobustMax` or `Categorical`. A
        K_uu that can be factored only with jitter, as for a Z with equal rows, raises a
        ``JitterWarning``.

    Notes
    -----
    O(M³) for the factor of K_uu.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Bernoulli
    >>> model = SVGP(GP(RBF(2.0), 0.0), Bernoulli(), np.zeros((1, 1)))
    >>> initial_posterior(model).predict(np.ones((1, 1)))
    (array([0.]), array([2.]))
    """
    posterior = _initial_posterior(_check.instance(model, "model", SVGP))
    remedy = partial(nearer_origin, model.gp.kernel, model.variables.inputs)
    warn_of_jitter(posterior.inducing.jitter, _gram_name(model), remedy)
    return posterior


def _initial_posterior(model: SVGP) -> Variational:
    """`initial_posterior`, and it is the caller who warns of jitter, since a fit meets many."""
    factor = inducing_factor(model)
    identity = eye(model.variables.size, factor.lower)
    weights = array_namespace(identity).zeros_like(identity[:, 0])
    q = VariationalPosterior(model, factor, identity, Cholesky(identity), weights)
    return read_by(model.likelihood, q)


@singledispatch
def read_by(likelihood: object, q: VariationalPosterior) -> Variational:
    """Return the functions with a common q that a likelihood reads: one, or one for each class."""
    return q


@threads_for(lambda model: model.variables.size**3)
def inducing_factor(model: SVGP) -> Cholesky:
    """The factor of K_uu of a validated model, without a warning."""
    variables = model.variables
    like = variables.inputs
    memory.require_square(variables.size, like=like, copies=10, what="the Gram matrix of Z")
    return _cholesky(with_hooks(variables)._gram(model.gp.kernel), name=_gram_name(model))


def _gram_name(model: SVGP) -> NameWith:
    return NameWith("the Gram matrix of Z of {!r}", (model.gp.kernel,))
