"""A process whose noise varies with x, as a model whose parameters are fitted."""

from __future__ import annotations

from dataclasses import dataclass

from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Chunks, Rows
from ...ground.class_tags import saved_as
from ...ground.linalg import warn_of_jitter, warn_of_loss
from ...ground.params import cotangent, left_open
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector, array_namespace, diagonal, epsilon
from ...model import means
from ...model.gaussian_process import (
    GP,
    differentiable_mean,
    require_known_mean,
    residual_of,
    validate_data,
)
from ...model.kernels import Kernel
from ..evidence import Evidence, Model, evidence_of, whole_rows
from .noise_belief import Believed, Problem, believe
from .posterior import HeteroscedasticPosterior

__all__ = ["HeteroscedasticGP"]


@dataclass(frozen=True, eq=False)
class HeteroscedasticGP(Model["HeteroscedasticGP", HeteroscedasticPosterior]):
    """A process whose noise varies with x: ``y = f(x) + ε`` with ``ε ~ N(0, σ_n² exp g(x))``.

    ``f ~ GP(m, k)`` is the process `gp`, ``g ~ GP(0, k_g)`` the logarithm of the noise in units of
    σ_n², its median. Where ``k_g`` has no variance, this is the process itself. A model for
    `condition`, `log_evidence` and `fit`; as a cotangent, it holds the derivatives by both.

    Parameters
    ----------
    gp : GP
        The process of f with the median noise, a positive ``noise_var``; its mean may be any but a
        `BasisMean`.
    noise_kernel : Kernel
        The kernel of g. Its variance says by how much the noise varies: with 1, two thirds of all
        places have noise of 0.6 to 1.6 times the median standard deviation. Its lengthscale says
        how quickly; one of few readings cannot be distinguished from an outlier.

    Raises
    ------
    ValueError
        For a process without noise.

    Notes
    -----
    The log evidence of the verbs is a lower bound, [eq-vi-noise-bound], the highest over Gaussian
    beliefs about g at the readings, with f averaged away. n precisions are all that is free in it,
    [eq-vi-noise-sites]; steps of a natural gradient find them, from the prior, so that equal data
    give equal answers. O(n³) a step, some tens of steps an evaluation, O(n²) memory. At its highest
    the bound gains nothing by moving q, so that its derivatives by all parameters are those with q
    held. It has optima of its own, such as one with all of y noise: give `restarts` to a fit.

    Source: Goldberg, Williams & Bishop (1998) for the model; Lázaro-Gredilla & Titsias (2011) for
    the bound.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, fit, stream
    >>> X = np.linspace(0.0, 6.0, 80)[:, None]
    >>> sd = np.where(X[:, 0] < 3.0, 0.1, 0.6)
    >>> y = np.sin(X[:, 0]) + sd * stream(1).normal(80)
    >>> found = fit(HeteroscedasticGP(GP(RBF(), 0.1), RBF()), X, y)
    >>> (found.posterior.noise_var([[1.0], [5.0]]) ** 0.5).round(1)
    array([0.1, 0.5])
    >>> found.log_evidence > fit(GP(RBF(), 0.1), X, y).log_evidence + 10.0
    True
    """

    gp: GP
    noise_kernel: Kernel

    __repr__ = summary

    def __post_init__(self) -> None:
        require_known_mean(_check.instance(self.gp, "gp", GP))
        _check.instance(self.noise_kernel, "noise_kernel", Kernel)
        if self.gp.noise_var == 0.0 and "noise_var" not in left_open(self.gp):
            raise ValueError("gp.noise_var must be positive, the median of the noise; got 0.0")

    @property
    def stands_for(self) -> str:
        """The objective of a fit in the place of the evidence, in words."""
        return "with noise that varies: a lower bound"


@saved_as("heteroscedastic evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[HeteroscedasticGP, HeteroscedasticPosterior]):
    """The highest bound on the log evidence."""

    rows: Rows

    def require_gradient(self, model: HeteroscedasticGP) -> None:
        differentiable_mean(model.gp)

    def posterior(self, model: HeteroscedasticGP) -> HeteroscedasticPosterior:
        X, y, gp = self.rows.X, self.rows.y, model.gp
        found = _believed(model, self.rows)
        warn_of_jitter(found.cholesky.jitter, "the Gram matrix with its noise")
        if not found.cholesky.jitter:
            xp, own, r = array_namespace(X), gp.kernel._diag(X), residual_of(gp, X, y)
            loss = xp.mean(own / diagonal(found.cholesky.lower) ** 2)
            warn_of_loss(loss, epsilon(X), (xp.sum(own), xp.sum(r * r)))
        return HeteroscedasticPosterior(gp, model.noise_kernel, X, y, found)

    def value_and_gradient(
        self, model: HeteroscedasticGP, *, quiet: bool = False
    ) -> tuple[float, HeteroscedasticGP]:
        found = _believed(model, self.rows) if quiet else self.posterior(model).believed
        return found.bound, _gradient(model, self.rows.X, found)


def _believed(model: HeteroscedasticGP, rows: Rows) -> Believed:
    gp, X = model.gp, rows.X
    residual = residual_of(gp, X, rows.y)
    K, noise_K = gp.kernel._gram(X, None), model.noise_kernel._gram(X, None)
    return believe(Problem(K, noise_K, gp.noise_var, residual))


@threads_for(lambda model, X, found: 2 * X.shape[0] ** 3)
def _gradient(model: HeteroscedasticGP, X: Matrix, found: Believed) -> HeteroscedasticGP:
    """The derivatives with q held: ``½ (α αᵀ − (K_f + R)⁻¹)`` by K_f, by K_g that of the KL.

    With ``a = K_g⁻¹ μ`` and ``K_g⁻¹ − K_g⁻¹ Σ K_g⁻¹ = Λ^½ B⁻¹ Λ^½`` the latter is
    ``½ (a aᵀ − Λ^½ B⁻¹ Λ^½)``, [eq-vi-noise-gradient].
    """
    xp, gp = array_namespace(X), model.gp
    K_bar = _outer_less(found.alpha, found.cholesky.inverse())
    kernel_bar, _, _ = gp.kernel._pullback(X, None, K_bar)
    root = xp.sqrt(found.precision)
    sites = root[:, None] * found.sites.inverse() * root[None, :]
    noise_kernel_bar, _, _ = model.noise_kernel._pullback(X, None, _outer_less(found.slope, sites))
    # σ_n² scales all of R: σ_n² ∂/∂σ_n² is Σ rᵢ ∂/∂rᵢ, the sum of the ρᵢ that are wanted
    noise_bar = float(xp.sum(found.wanted)) / gp.noise_var
    mean_bar, _ = means.with_hooks(differentiable_mean(gp))._pullback(X, found.alpha)
    gp_bar = cotangent(gp, kernel=kernel_bar, noise_var=noise_bar, mean=mean_bar)
    return cotangent(model, gp=gp_bar, noise_kernel=noise_kernel_bar)


def _outer_less(a: Vector, S: Matrix) -> Matrix:
    """``½ (a aᵀ − S)``."""
    return 0.5 * (a[:, None] * a[None, :] - S)


@evidence_of.register(HeteroscedasticGP)
def _evidence(model: HeteroscedasticGP, data: Rows | Chunks) -> _Evidence:
    rows = whole_rows(data, model)
    validate_data(model.gp, rows.X, rows.y)
    model.noise_kernel._validate_inputs(rows.X, "X")
    _check.squarable(rows.y, "y")
    what = "the covariances of f and of its noise"
    memory.require_of_rows(rows.X.shape[0], like=rows.X, copies=8, what=what)
    return _Evidence(rows)
