"""One pass over rows of data: all that a step, the bound and its gradient need of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import reduce, singledispatch
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from ...fast import svgp as in_place
from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Rows
from ...ground.late_reads import expect, number
from ...ground.threads import threads_for
from ...ground.xp import Array, Matrix, Vector, array_namespace, fused, symmetric_part
from ...model.contracts import Likelihood, require
from ...model.likelihoods.adapter import with_hooks
from ...model.likelihoods.hermite_averages import Expected
from ..known_noise import Noise
from .known_noise import expected_under, noise_in, shifted
from .posterior import Marginals, VariationalPosterior, marginals

__all__ = ["Block", "Sums", "blocks", "plus", "require_finite", "sums_of", "sweep"]


class Block(NamedTuple):
    """Some rows, f at them, the slopes of ``scale E log p(y | f)`` there, and their own noise."""

    X: Matrix
    y: Vector
    f: Marginals
    slopes: Expected
    noise: Noise | None = None


class Sums(NamedTuple):
    """The sums over some rows, times the number of rows that each of them stands for.

    With ``λ = −2 ∂E/∂v``: ``Σ E log p(yᵢ | fᵢ)``, its derivative by the weights ``A e₁`` (M,), the
    precisions of the sites ``A diag(λ) Aᵀ`` (M, M), and whether no λ is negative.
    """

    value: float
    gradient: Vector
    sites: Matrix
    concave: bool


class HasValue(Protocol):
    """Sums, of one function or of several."""

    @property
    def value(self) -> float:
        """``Σ E log p(yᵢ | fᵢ)``."""


@singledispatch
def sweep(
    posterior: Any, X: Matrix, y: Vector, scale: float = 1.0, known: Rows | None = None
) -> HasValue:
    """The sums over all rows, a block at a time; for several classes, `ClassesSums`.

    Each row stands for `scale` of them. `known` are the rows where something is known of the noise
    of each, [eq-fv-known-noise], or added to f. O(n M²) time, O(M² + a block of rows) memory.
    """
    return reduce(plus, (sums_of(block) for block in blocks(posterior, X, y, scale, known)))


def blocks(
    posterior: VariationalPosterior, X: Matrix, y: Vector, scale: float, known: Rows | None = None
) -> Iterator[Block]:
    """Split rows into blocks that have room, in order; all else is as in `sweep`."""
    model = posterior.model
    given = require(model.likelihood, "the likelihood", Likelihood)
    likelihood, noise = with_hooks(cast(Likelihood, given)), noise_in(given, known)
    for rows in memory.blocks(X.shape[0], posterior.weights.shape[0], like=X):
        f = shifted(marginals(posterior, X[rows, :]), known, rows)
        own = noise and noise.of(rows)
        if own is None:
            slopes = likelihood._expected(y[rows], f.mean, f.variance, model.nodes)
        else:
            slopes = expected_under(own, y[rows], f)
        # scaled here, once: value, gradient and sites are linear in these
        yield Block(X[rows, :], y[rows], f, Expected(*(scale * part for part in slopes)), own)


@threads_for(lambda block: block.f.A.shape[0] ** 2 * block.f.A.shape[1])
def sums_of(block: Block) -> Sums:
    """The sums over one block."""
    A, slopes = block.f.A, block.slopes
    xp = array_namespace(A)
    precision = -2.0 * slopes.by_variance
    total = xp.sum(slopes.value)
    if concave := expect(lambda: _bends_up(precision), 1.0):
        value = number(total)
    else:
        all_bend_down = xp.all(precision >= 0.0)
        concave, value = bool(all_bend_down), float(total)  # both are launched before one is read
    if concave and block.f.kept is not None:
        return Sums(value, *in_place.sums(block.f.kept.Phi, slopes.by_mean, precision), concave)
    if concave:  # one matrix times its own transpose: exactly symmetric, and half the work
        half = _columns_times_roots(A, precision)
        sites = half @ xp.matrix_transpose(half)
    else:
        sites = symmetric_part((A * precision) @ xp.matrix_transpose(A))
    return Sums(value, A @ slopes.by_mean, sites, concave)


@fused
def _bends_up(precision: Vector) -> Array:
    """1 if a λ is negative or NaN, else 0."""
    xp = array_namespace(precision)
    return xp.max(xp.where(precision >= 0.0, 0.0, 1.0))


@fused
def _columns_times_roots(A: Matrix, precision: Vector) -> Matrix:
    return A * array_namespace(precision).sqrt(precision)


S = TypeVar("S", bound=HasValue)


def require_finite(sums: S) -> S:
    """The same sums, or an error where q has leapt to where the likelihood overflows."""
    if not expect(lambda: sums.value) and not math.isfinite(sums.value):
        remedy = "Use a smaller step_size or learning_rate, or a mean function nearer to y."
        raise _check.NoValueError(f"the bound must be finite; here it is {sums.value}. {remedy}")
    return sums


def plus(first: Sums, second: Sums) -> Sums:
    """Add the sums over two sets of rows."""
    return Sums(
        first.value + second.value, first.gradient + second.gradient, first.sites + second.sites,
        first.concave and second.concave,
    )  # fmt: skip
