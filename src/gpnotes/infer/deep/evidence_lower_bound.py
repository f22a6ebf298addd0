"""The doubly stochastic bound, and its derivatives carried back through the layers by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from ...fast import svgp as in_place
from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.params import added, cotangent
from ...ground.threads import in_one_pool, threads_for
from ...ground.xp import (
    Matrix,
    MatrixLike,
    Stack,
    Vector,
    VectorLike,
    array_namespace,
    symmetric_part,
)
from ...model import means
from ...model.gaussian_process import differentiable_mean
from ...model.kernels import Kernel
from ...model.likelihoods.adapter import with_hooks
from ...model.likelihoods.hermite_averages import Expected
from ..svgp.evidence_lower_bound import Way, bar_of_inducing, cross_slope, variance_bar, way_back
from ..svgp.natural_gradients import scale_of
from ..svgp.posterior import Marginals, VariationalPosterior, marginals
from ..svgp.row_sums import Sums, plus
from .model import DeepGP, Unit, posterior_of, root_pulled, validate_rows
from .noise import Noise, own_noise

__all__ = [
    "Part", "elbo", "elbo_and_gradient", "expected_rows", "less_divergence", "part_and_gradient",
    "passed", "posteriors",
    "with_divergence",
]  # fmt: skip

_BLOCK = 2**17  # entries (M, rows) of the last layer: four matrices of them fit a core's cache

Posteriors = tuple[tuple[VariationalPosterior, ...], ...]


@takes("X", "y")
@in_one_pool
def elbo(
    model: DeepGP,
    X: MatrixLike,
    y: VectorLike,
    noise: Noise | None = None,
    *,
    total: int | None = None,
) -> float:
    """The lower bound on the log evidence, ``Σ E log p(yᵢ | fᵢ) − Σ KL``, [eq-dg-bound].

    With draws it is an unbiased estimate of the bound; with `quadrature_noise` it has no error but
    that of the rule. The draws that a fit has held flatter the model that it found, which was bent
    to them: of that, ask with new ones.

    Parameters
    ----------
    model : DeepGP
        The layers with their q, and the likelihood.
    X : Matrix, shape (n, d)
        The inputs, all of them or those of a batch.
    noise : Noise, optional
        The ways through the inner layers; without it, the ones that the model's seed draws.
    total : int, optional
        The number of all rows, where X is a batch: the sum then counts total / n times.

    Returns
    -------
    float
        The bound in nats.

    Raises
    ------
    ValueError
        If shapes do not match, entries are not finite, the likelihood refuses y, or `total` is
        below n.
    RuntimeError
        If the bound is not finite.

    Notes
    -----
    O(S n M²) time for each unit of the inner layers but the first, which costs O(n M²).

    Source: Salimbeni & Deisenroth (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Gaussian
    >>> from gpnotes.infer import deep, svgp
    >>> X, y = np.asarray([[0.0], [1.0]]), np.asarray([0.5, -0.5])
    >>> top = svgp.SVGP(GP(RBF(), 0.0), Gaussian(1.0), X)
    >>> model = deep.with_inner_layers(svgp.initial_posterior(top), [RBF()])
    >>> round(elbo(model, X, y, deep.quadrature_noise(model)), 4)
    -6.703
    """
    noise = _validated(model, X, y, noise)
    scale = scale_of(X, total)
    units = posteriors(model)
    return less_divergence(units, expected_rows(model, units, X, y, noise, scale))


def expected_rows(
    model: DeepGP, units: Posteriors, X: Matrix, y: Vector, noise: Noise, scale: float
) -> float:
    """``Σ E log p(yᵢ | fᵢ)`` of rows that are validated; arguments as in `part_and_gradient`."""
    xp = array_namespace(X)
    return sum(
        float(xp.sum(_averaged(model, y[rows], f, noise, scale).value))
        for rows, f in passed(units, X, noise)
    )


def less_divergence(units: Posteriors, value: float) -> float:
    """The bound: a sum over all rows less the divergences of all units."""
    return _finite(value - sum(q.kl for layer in units for q in layer))


@takes("X", "y")
@in_one_pool
def elbo_and_gradient(
    model: DeepGP,
    X: MatrixLike,
    y: VectorLike,
    noise: Noise | None = None,
    *,
    total: int | None = None,
) -> tuple[float, DeepGP]:
    """`elbo` with its derivatives by all that the units and the likelihood hold.

    Parameters
    ----------
    model, X, y, noise, total
        As in `elbo`.

    Returns
    -------
    value : float
        The bound in nats.
    model_bar : DeepGP
        The derivatives, with the draws held.

    Raises
    ------
    TypeError
        As in `elbo`, and for a mean, or a likelihood with parameters, that has no ``pullback``.

    Notes
    -----
    A unit hands back ``∂/∂h`` through its kernel and its mean; the draw
    ``h = μ + √v ε`` turns it into derivatives by mean and variance, [eq-dg-back]. Jitter
    counts as a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Gaussian
    >>> from gpnotes.infer import deep, svgp
    >>> X, y = np.asarray([[0.0], [1.0]]), np.asarray([0.5, -0.5])
    >>> top = svgp.SVGP(GP(RBF(), 0.0), Gaussian(1.0), X)
    >>> model = deep.with_inner_layers(svgp.initial_posterior(top), [RBF()])
    >>> value, bar = elbo_and_gradient(model, X, y, deep.quadrature_noise(model))
    >>> round(bar.likelihood.variance, 4)
    0.25
    """
    noise = _validated(model, X, y, noise)
    for layer in model.layers:
        for unit in layer:
            differentiable_mean(unit.gp)
    units = posteriors(model)
    part = part_and_gradient(model, units, X, y, noise, scale_of(X, total))
    return with_divergence(model, units, part)


def _validated(model: DeepGP, X: Matrix, y: Vector, noise: Noise | None) -> Noise:
    validate_rows(_check.instance(model, "model", DeepGP), X, y)
    if noise is None:
        return own_noise(model, X.shape[0])
    _check.instance(noise, "noise", Noise).validate(model, X.shape[0])
    return noise


def _finite(value: float) -> float:
    if not abs(value) < float("inf"):
        raise _check.NoValueError(f"the bound must be finite; so far from y it is {value}")
    return value


def posteriors(model: DeepGP) -> Posteriors:
    """The units of a model as whitened sparse processes."""
    return tuple(
        tuple(posterior_of(unit, model.likelihood) for unit in layer) for layer in model.layers
    )


class Passed(NamedTuple):
    """An inner layer's outputs for its inputs.

    Parameters
    ----------
    H : Matrix, shape (r, D)
        Its inputs: the rows, or those of all draws one after another.
    found : tuple of Marginals
        The distribution of each unit there.
    deviations : Stack, shape (1 or S, n, D)
        The standard deviations of the units.
    """

    H: Matrix
    found: tuple[Marginals, ...]
    deviations: Stack


def passed(units: Posteriors, X: Matrix, noise: Noise) -> Iterator[tuple[slice, Marginals]]:
    """Carry rows through the layers, with a draw for each value, a block at a time: [eq-dg-draw].

    Parameters
    ----------
    units : tuple of tuples of VariationalPosterior
        The units.
    noise : Noise
        The normal numbers.

    Yields
    ------
    tuple of slice and Marginals
        Some rows, and the last unit there, for all draws one after another.
    """
    width = noise.weights.shape[0] * max(q.weights.shape[0] for layer in units for q in layer)
    for rows in memory.blocks(X.shape[0], width, like=X):
        of_rows = [a if a.shape[1] == 1 else a[:, rows, :] for a in noise.normals]
        yield rows, marginals(units[-1][0], _inner(units, X[rows, :], of_rows)[1])


def _inner(units: Posteriors, X: Matrix, draws: Sequence[Stack]) -> tuple[list[Passed], Matrix]:
    """Return the outputs of the inner layers for rows, and the inputs of the last layer."""
    xp = array_namespace(X)
    trail: list[Passed] = []
    H, n = X, X.shape[0]
    for layer, normals in zip(units[:-1], draws, strict=True):
        found = tuple(marginals(q, H) for q in layer)
        # a first axis of one where all draws share the layer's rows: the first layer is worked out
        # once, and its draws come by broadcasting
        mean = xp.reshape(xp.stack([f.mean for f in found], axis=1), (-1, n, len(layer)))
        variance = xp.reshape(xp.stack([f.variance for f in found], axis=1), mean.shape)
        deviations = xp.sqrt(variance)
        trail.append(Passed(H, found, deviations))
        H = xp.reshape(mean + deviations * normals, (-1, len(layer)))
    return trail, H


def _averaged(model: DeepGP, y: Vector, f: Marginals, noise: Noise, scale: float) -> Expected:
    """Return ``E log p(y | f)`` of each row of each draw and its slopes, times its weight."""
    times = _counts(f.mean, y, noise, scale)
    likelihood = with_hooks(model.likelihood)
    rows = likelihood._expected(_repeated(y, f.mean), f.mean, f.variance, model.nodes)
    return Expected(*(times * part for part in rows))


def _repeated(y: Vector, like: Vector) -> Vector:
    """y once for each draw."""
    xp = array_namespace(y)
    draws = like.shape[0] // y.shape[0]
    return xp.reshape(xp.broadcast_to(y, (draws, y.shape[0])), (-1,))


def _counts(like: Vector, y: Vector, noise: Noise, scale: float) -> Vector:
    """Return the weight of each row of each draw: that of the draw, by the scale of a batch.

    A model of one layer has no draws: its rows come once.
    """
    xp = array_namespace(y)
    draws, n = like.shape[0] // y.shape[0], y.shape[0]
    if draws == 1:
        return xp.full_like(like, scale)
    return xp.reshape(xp.broadcast_to(scale * noise.weights[:, None], (draws, n)), (-1,))


@dataclass(frozen=True, eq=False)
class Part:
    """The average log likelihood of some rows, with its derivatives; those of more rows add.

    Parameters
    ----------
    value : float
        The sum over the rows.
    model_bar : DeepGP
        Its derivatives.
    """

    value: float
    model_bar: DeepGP

    def __add__(self, other: Part) -> Part:
        return Part(self.value + other.value, added(self.model_bar, other.model_bar))


def part_and_gradient(
    model: DeepGP, units: Posteriors, X: Matrix, y: Vector, noise: Noise, scale: float
) -> Part:
    """The sum over rows that are validated, with its derivatives: forth, and back by hand.

    Parameters
    ----------
    units : tuple of tuples of VariationalPosterior
        Its units.
    noise : Noise
        The ways through the inner layers.
    scale : float
        The number of rows that each stands for.
    """
    trail, H = _inner(units, X, noise.normals)
    value, likelihood_bar, last, H_bar = _last_layer(model, units[-1][0], H, y, noise, scale)
    bars: list[tuple[Unit, ...]] = [(last,)]
    for level in reversed(range(len(trail))):
        slopes = _draw_back(trail[level], noise.normals[level], H_bar)
        layer, H_bar = _layer_back(model.layers[level], units[level], trail[level], *slopes)
        bars.append(layer)
    return Part(value, cotangent(model, layers=tuple(reversed(bars)), likelihood=likelihood_bar))


def _last_layer(
    model: DeepGP, q: VariationalPosterior, H: Matrix, y: Vector, noise: Noise, scale: float
) -> tuple[float, object, Unit, Matrix]:
    """The sum over the rows of all draws; its derivatives by likelihood, last unit and rows.

    Each block of rows goes forth and back before the next one comes.
    """
    (unit,) = model.layers[-1]
    way, all_y, times = way_back(q), _repeated(y, H[:, 0]), _counts(H[:, 0], y, noise, scale)
    found: list[tuple[float, object, Rows]] = []
    likelihood = with_hooks(model.likelihood)
    fast = in_place.supports(unit.gp.kernel, H)
    for rows in memory.blocks(H.shape[0], unit.Z.shape[0], _BLOCK if fast else None, like=H):
        f = marginals(q, H[rows, :])
        given = all_y[rows], f.mean, f.variance
        e = Expected(*(times[rows] * part for part in likelihood._expected(*given, model.nodes)))
        shape_bar = likelihood._expected_bar(*given, times[rows], model.nodes)
        back = _rows_back(unit, H[rows, :], f, way, e.by_mean, e.by_variance)
        found.append((float(array_namespace(H).sum(e.value)), shape_bar, back))
    values, bars, backs = zip(*found, strict=True)
    bar, H_bar = _unit_back(unit, q, way, reduce(_plus, backs))
    return _finite(sum(values)), reduce(added, bars), bar, H_bar


def _draw_back(before: Passed, normals: Stack, H_bar: Matrix) -> tuple[Matrix, Matrix]:
    """From derivatives by ``h = μ + √v ε`` to those by μ and v, (r, D) each.

    Where the layer had the same rows for all draws, as the first one has, they add up.
    """
    xp = array_namespace(H_bar)
    deviations = before.deviations
    few, n, width = deviations.shape
    by_draw = xp.reshape(H_bar, (-1, n, width))
    # dh/dv is ε / (2 √v), and √v is kept from the pass forth
    by_variance = 0.5 * by_draw * normals / deviations
    if few == 1:
        by_draw, by_variance = xp.sum(by_draw, axis=0), xp.sum(by_variance, axis=0)
    return xp.reshape(by_draw, (-1, width)), xp.reshape(by_variance, (-1, width))


def _layer_back(
    layer: tuple[Unit, ...],
    units: tuple[VariationalPosterior, ...],
    at: Passed,
    by_mean: Matrix,
    by_variance: Matrix,
) -> tuple[tuple[Unit, ...], Matrix]:
    """The derivatives by the units of a layer, and by its inputs."""
    xp = array_namespace(at.H)
    H_bar, bars = xp.zeros_like(at.H), []
    for column, (unit, q) in enumerate(zip(layer, units, strict=True)):
        slopes = by_mean[:, column], by_variance[:, column]
        way = way_back(q)
        back = _rows_back(unit, at.H, at.found[column], way, *slopes)
        bar, more = _unit_back(unit, q, way, back)
        bars.append(bar)
        H_bar = H_bar + more
    return tuple(bars), H_bar


class Rows(NamedTuple):
    """The terms of some rows for a unit: derivatives but those through K_uu, and sums for these."""

    kernel_bar: Kernel
    mean_bar: Any
    Z_bar: Matrix
    sums: Sums
    H_bar: Matrix


def _plus(first: Rows, second: Rows) -> Rows:
    """Return the terms of both, one after another."""
    return Rows(
        added(first.kernel_bar, second.kernel_bar), added(first.mean_bar, second.mean_bar),
        first.Z_bar + second.Z_bar, plus(first.sums, second.sums),
        array_namespace(first.H_bar).concat([first.H_bar, second.H_bar]),
    )  # fmt: skip


@threads_for(lambda unit, H, f, way, by_mean, by_variance: f.A.shape[0] ** 2 * f.A.shape[1])
def _rows_back(
    unit: Unit, H: Matrix, f: Marginals, way: Way, by_mean: Vector, by_variance: Vector
) -> Rows:
    """Carry derivatives by means and variances of a unit to the terms of its parts."""
    kernel_bar, Z_bar, H_bar, sums = _process_back(unit, H, f, way, by_mean, by_variance)
    mean_bar, H_mean = means.with_hooks(differentiable_mean(unit.gp))._pullback(H, by_mean)
    return Rows(kernel_bar, mean_bar, Z_bar, sums, H_bar + H_mean)


def _unit_back(unit: Unit, q: VariationalPosterior, way: Way, rows: Rows) -> tuple[Unit, Matrix]:
    """Return the derivatives by a unit and by its inputs, from the terms of all rows."""
    inducing_bar, Z_more = bar_of_inducing(q, rows.sums, way)
    kernel_bar = added(rows.kernel_bar, inducing_bar)
    # by B: Σ e₂ |B a|² has the slope 2 B Σ e₂ a aᵀ, and the sites are −2 Σ e₂ a aᵀ
    scales_bar, couplings_bar = root_pulled(unit, q.root, -(q.root @ rows.sums.sites))
    bar = cotangent(
        unit, gp=cotangent(unit.gp, kernel=kernel_bar, mean=rows.mean_bar, noise_var=0.0),
        Z=rows.Z_bar + Z_more, weights=rows.sums.gradient, scales=scales_bar,
        couplings=couplings_bar,
    )  # fmt: skip
    return bar, rows.H_bar


def _process_back(
    unit: Unit, H: Matrix, f: Marginals, way: Way, by_mean: Vector, by_variance: Vector
) -> tuple[Kernel, Matrix, Matrix, Sums]:
    """The derivatives by kernel, Z and inputs, through K_uf and the prior variances; and the sums.

    These are the derivatives by the unit's own Gaussian, ``A e₁`` and ``−2 A diag(e₂) Aᵀ``.
    """
    kernel, kept = unit.gp.kernel, f.kept
    if kept is not None and in_place.supports(kernel, H):
        bar = in_place.carried_to_both(kernel, kept, way.back, way.weights, by_mean, by_variance)
        of_variance = variance_bar(kernel, kept, by_mean, by_variance)
        # k(x, x) is σ_f² wherever x is: its derivative is one sum, and by the inputs there is none
        prior = float(array_namespace(H).sum(by_variance))
        bars = {"variance": of_variance + prior, "lengthscale": bar.lengthscale}
        sums = Sums(0.0, bar.gradient, bar.sites, False)
        return cotangent(unit.gp.kernel, **bars), bar.Z, bar.X, sums
    K_bar = cross_slope(way, f.A, by_mean, by_variance)
    kernel_bar, Z_bar, H_bar = kernel._pullback(unit.Z, H, K_bar)
    assert H_bar is not None
    diagonal_bar, H_diagonal = kernel._diag_pullback(H, by_variance)
    # e₂ may have either sign within the layers, so that λ has no root to make a square by
    sites = (f.A * (-2.0 * by_variance)) @ array_namespace(f.A).matrix_transpose(f.A)
    sums = Sums(0.0, f.A @ by_mean, symmetric_part(sites), False)
    return added(kernel_bar, diagonal_bar), Z_bar, H_bar + H_diagonal, sums


def with_divergence(model: DeepGP, units: Posteriors, part: Part) -> tuple[float, DeepGP]:
    """The bound: a sum over rows less the divergences of all units, with the derivatives of both.

    Parameters
    ----------
    units : tuple of tuples of VariationalPosterior
        Its units.
    part : Part
        The sum over all rows.

    Returns
    -------
    value : float
        The bound.
    model_bar : DeepGP
        Its derivatives.
    """
    value = less_divergence(units, part.value)
    layers = tuple(
        tuple(map(_less_divergence, layer, qs, bars))
        for layer, qs, bars in zip(model.layers, units, part.model_bar.layers, strict=True)
    )
    return value, cotangent(part.model_bar, layers=layers)


def _less_divergence(unit: Unit, q: VariationalPosterior, bar: Unit) -> Unit:
    """Less the derivatives of ``½ (tr BᵀB + wᵀw − M − log |BᵀB|)``, [eq-dg-kl]."""
    # log |BᵀB| is 2 Σ log scales: the triangle in B has ones on its diagonal
    by_scales, by_couplings = root_pulled(unit, q.root, q.root)
    return cotangent(
        bar, weights=bar.weights - unit.weights,
        scales=bar.scales - by_scales + 1.0 / unit.scales,
        couplings=bar.couplings - by_couplings,
    )  # fmt: skip
