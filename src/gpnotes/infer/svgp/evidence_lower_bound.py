"""The bound on the evidence, and its derivatives by hyperparameters and inducing inputs."""

from __future__ import annotations

from functools import reduce, singledispatch
from typing import Any, NamedTuple, cast

from ...fast import svgp as in_place
from ...ground import check as _check
from ...ground.chunks import Rows
from ...ground.conversion import takes
from ...ground.params import added, cotangent
from ...ground.threads import in_one_pool, threads_for
from ...ground.xp import (
    Matrix,
    MatrixLike,
    Vector,
    VectorLike,
    array_namespace,
    eye,
    fused,
    solve_triangular,
)
from ...model import means
from ...model.contracts import Likelihood
from ...model.gaussian_process import differentiable_mean
from ...model.kernels import Kernel
from ...model.likelihoods.adapter import with_hooks
from ..interdomain import point_functionals
from .known_noise import likelihood_bar_under
from .model import SVGP, validate_rows
from .natural_gradients import scale_of
from .posterior import Variational, VariationalPosterior
from .row_sums import (
    Block,
    HasValue,
    Sums,
    blocks,
    plus,
    require_finite,
    sums_of,
    sweep,
)

__all__ = [
    "Way", "added_models", "bar_of_inducing", "cross_slope", "elbo", "elbo_and_gradient",
    "inputs_bar", "sums_and_gradient", "variance_bar", "way_back",
]  # fmt: skip


@takes("X", "y")
@in_one_pool
def elbo(
    posterior: Variational, X: MatrixLike, y: VectorLike, *, total: int | None = None
) -> float:
    """The lower bound on the log evidence, ``Σ E_q log p(yᵢ | fᵢ) − KL(q ‖ prior)``.

    It is at most ``log p(y)``. Averages without a closed form are Gauss-Hermite sums, which may
    exceed them where f is much wider than the likelihood.

    Parameters
    ----------
    posterior : VariationalPosterior or ClassesPosterior
        The Gaussian q.
    X : Matrix, shape (n, d)
        The inputs, all of them or those of a batch.
    total : int, optional
        The number of all rows, where X is a batch. The sum then counts total / n times: over
        batches drawn at random its average is that of all.

    Returns
    -------
    float
        The bound in nats.

    Raises
    ------
    ValueError
        If shapes do not match, entries are not finite, the likelihood refuses y, or `total` is
        below n.

    Notes
    -----
    O(n M²) time, memory for M × M and a block of rows.

    Source: Hensman, Matthews & Ghahramani (2015).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Bernoulli, condition
    >>> from gpnotes.infer import svgp
    >>> X, y = np.asarray([[0.0], [1.0], [3.0]]), np.asarray([1.0, 1.0, -1.0])
    >>> model = svgp.SVGP(GP(RBF(4.0), 0.0), Bernoulli(), X)
    >>> [round(elbo(q, X, y), 4) for q in (svgp.initial_posterior(model), condition(model, X, y))]
    [-5.5608, -1.9038]
    """
    _check.instance(posterior, "posterior", Variational)
    validate_rows(posterior.model, X, y)
    return sweep(posterior, X, y, scale_of(X, total)).value - posterior.kl


@takes("X", "y")
@in_one_pool
def elbo_and_gradient(
    posterior: Variational, X: MatrixLike, y: VectorLike, *, total: int | None = None
) -> tuple[float, SVGP]:
    """`elbo` with its derivatives by process, likelihood and inducing inputs, with q(v) held.

    Parameters
    ----------
    posterior, X, y, total
        As in `elbo`.

    Returns
    -------
    value : float
        The bound in nats.
    model_bar : SVGP
        The derivatives by gp, likelihood and inducing. At a converged q these are also the
        derivatives of the highest bound, since there q can gain nothing by moving.

    Raises
    ------
    TypeError
        As in `elbo`, and for a mean, or a likelihood with parameters, that has no ``pullback``.
    RuntimeError
        If the bound is not finite.

    Notes
    -----
    The derivatives by the mean of f are ``∂E/∂mᵢ``, those by its variance ``∂E/∂vᵢ``; they go back
    through ``A = L⁻¹ K_uf`` to K_uf, and through L to K_uu. Jitter counts as a constant. O(n M² +
    M³) time, memory for M × M and a block of rows, which for NumPy arrays and an RBF or Matérn
    kernel is worked on in place.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Gaussian, condition
    >>> from gpnotes.infer import svgp
    >>> X, y = np.asarray([[0.0], [1.0]]), np.asarray([1.0, -1.0])
    >>> posterior = condition(svgp.SVGP(GP(RBF(), 0.0), Gaussian(1.0), X), X, y)
    >>> value, model_bar = elbo_and_gradient(posterior, X, y)
    >>> round(value, 4), round(model_bar.likelihood.variance, 4)
    (-3.2004, -0.0356)
    """
    _check.instance(posterior, "posterior", Variational)
    validate_rows(posterior.model, X, y)
    differentiable_mean(posterior.model.gp)
    sums, model_bar = sums_and_gradient(posterior, X, y, scale_of(X, total))
    return sums.value - posterior.kl, model_bar


@singledispatch
def sums_and_gradient(
    posterior: Any, X: Matrix, y: Vector, scale: float, known: Rows | None = None
) -> tuple[HasValue, SVGP]:
    """The sums over rows that are validated, as of `sweep`, and the derivatives of the bound.

    Both come of one pass.
    """
    way = way_back(posterior)
    sums, model_bar = reduce(
        lambda one, other: (plus(one[0], other[0]), added_models(one[1], other[1])),
        (
            (require_finite(sums_of(block)), _bar_of_rows(posterior, block, way, scale))
            for block in blocks(posterior, X, y, scale, known)
        ),
    )
    kernel_bar, Z_bar = bar_of_inducing(posterior, sums, way)
    gp_bar = cotangent(model_bar.gp, kernel=added(model_bar.gp.kernel, kernel_bar))
    return sums, cotangent(model_bar, gp=gp_bar, inducing=inputs_bar(model_bar) + Z_bar)


class Way(NamedTuple):
    """``I − P⁻¹``, ``L⁻ᵀ (I − P⁻¹)`` and ``L⁻ᵀ w``, which carry derivatives by A back."""

    spare: Matrix
    back: Matrix
    weights: Vector


@threads_for(lambda posterior: posterior.weights.shape[0] ** 3)
def way_back(posterior: VariationalPosterior) -> Way:
    """The factors that carry derivatives by ``A = L⁻¹ K_uf`` back to K_uf; O(M³)."""
    lower = posterior.inducing.lower
    root = posterior.root
    spare = eye(lower.shape[0], lower) - array_namespace(root).matrix_transpose(root) @ root
    back = solve_triangular(lower, spare, transpose=True)
    weights = solve_triangular(lower, posterior.weights, transpose=True)
    return Way(spare, back, weights)


@threads_for(
    lambda posterior, block, way, scale: posterior.weights.shape[0] ** 2 * block.X.shape[0]
)
def _bar_of_rows(posterior: VariationalPosterior, block: Block, way: Way, scale: float) -> SVGP:
    """The derivatives from a block of rows, but for those by K_uu."""
    model = posterior.model
    _, by_mean, by_variance = block.slopes
    kernel_bar, Z_bar = _bar_of_cross(posterior, block, way)
    diagonal_bar, _ = model.gp.kernel._diag_pullback(block.X, by_variance)
    mean_bar, _ = means.with_hooks(differentiable_mean(model.gp))._pullback(block.X, by_mean)
    likelihood_bar = _likelihood_bar(model, block, scale)
    gp_bar = cotangent(model.gp, kernel=added(kernel_bar, diagonal_bar), mean=mean_bar)
    return cotangent(model, gp=gp_bar, likelihood=likelihood_bar, inducing=Z_bar)


def _likelihood_bar(model: SVGP, block: Block, scale: float) -> Likelihood:
    given, f = cast(Likelihood, model.likelihood), block.f
    if block.noise is not None:
        return likelihood_bar_under(given, block.noise, block.y, f, scale)
    scales = array_namespace(f.mean).full_like(f.mean, scale)
    hooks = with_hooks(given)
    return hooks._expected_bar(block.y, f.mean, f.variance, scales, model.nodes)


def _bar_of_cross(posterior: VariationalPosterior, block: Block, way: Way) -> tuple[Kernel, Matrix]:
    """The derivatives by kernel and Z that a block of rows has through K_uf.

    With slopes e₁ by means and e₂ by variances, ``A_bar = w e₁ᵀ − 2 (I − P⁻¹) A diag(e₂)`` and
    ``K_uf_bar = L⁻ᵀ A_bar``.
    """
    kernel = posterior.model.gp.kernel
    variables = posterior.model.variables
    _, by_mean, by_variance = block.slopes
    A, kept = block.f.A, block.f.kept
    if kept is not None and in_place.supports(kernel, block.X):
        lengthscale_bar, Z_bar = in_place.carried(
            kernel, kept, way.back, way.weights, by_mean, by_variance
        )
        bars = {
            "variance": variance_bar(kernel, kept, by_mean, by_variance),
            "lengthscale": lengthscale_bar,
        }
        return cotangent(posterior.model.gp.kernel, **bars), Z_bar
    K_bar = cross_slope(way, A, by_mean, by_variance)
    hooks = point_functionals.with_hooks(variables)
    return hooks._cross_pullback(posterior.model.gp.kernel, block.X, K_bar)


def variance_bar(
    kernel: in_place.InPlaceKernel, kept: in_place.Projection, by_mean: Vector, by_variance: Vector
) -> float:
    """Carry derivatives by the moments of f to σ_f², through K_uf, where it is worked in place.

    K_uf itself is gone, but ``Σ K_uf_bar ∘ K_uf`` is ``Σ A_bar ∘ A``, that is ``Σ e₁ Aᵀw − 2 Σ e₂
    (Σ A² − Σ (L_P⁻¹A)²)``, and the bracket is ``σ_f² − v``, which the variance of f knows already.
    """
    xp = array_namespace(by_mean)
    gone = kernel.variance - kept.variance
    total = float(xp.sum(by_mean * kept.pull)) - 2.0 * float(xp.sum(by_variance * gone))
    return total / kernel.variance


def cross_slope(way: Way, A: Matrix, by_mean: Vector, by_variance: Vector) -> Matrix:
    """Carry derivatives by means and variances of f to K_uf (M, n), where q(v) is held; O(n M²)."""
    return _less_twice(way.back @ (A * by_variance), way.weights[:, None], by_mean)


@fused
def _less_twice(pulled: Matrix, weights: Matrix, by_mean: Vector) -> Matrix:
    return weights * by_mean - 2.0 * pulled


@threads_for(lambda posterior, sums, way: posterior.weights.shape[0] ** 3)
def bar_of_inducing(posterior: VariationalPosterior, sums: Sums, way: Way) -> tuple[Kernel, Matrix]:
    """The derivatives that all rows have through K_uu: ``L⁻ᵀ Φ(−A_bar Aᵀ) L⁻¹``.

    They are by kernel and inducing inputs. Φ takes the lower triangle and half the diagonal;
    ``A_bar Aᵀ`` is ``w (A e₁)ᵀ`` and ``(I − P⁻¹) A diag(λ) Aᵀ``, which the rows have added up
    already. Source: Murray (2016) for Φ.
    """
    model = posterior.model
    lower = posterior.inducing.lower
    xp = array_namespace(lower)
    pulled = posterior.weights[:, None] * sums.gradient + way.spare @ sums.sites
    # half of both triangles: below the diagonal the whole entry, on it a half
    low = -0.5 * (xp.tril(pulled) + xp.tril(pulled, k=-1))
    half = solve_triangular(lower, low, transpose=True)
    K_bar = solve_triangular(lower, xp.matrix_transpose(half), transpose=True)
    return point_functionals.with_hooks(model.variables)._gram_pullback(model.gp.kernel, K_bar)


def added_models(first: SVGP, second: SVGP) -> SVGP:
    """The sum of two derivatives by a model."""
    return cotangent(added(first, second), inducing=inputs_bar(first) + inputs_bar(second))


def inputs_bar(model_bar: SVGP) -> Matrix:
    """The derivatives by the inputs of inducing variables, a cotangent's `inducing`."""
    return cast(Matrix, model_bar.inducing)
