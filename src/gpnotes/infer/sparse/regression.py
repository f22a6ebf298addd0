"""Regression through inducing points: posterior, approximate evidence and bounds, one gradient.

All methods share two passes over the rows: sums, with noise and correction by
`methods`, and slopes. So all are linear in the number of rows, and none holds more than a few of
them at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...ground.chunks import Data, Rows
from ...ground.linalg import Cholesky
from ...ground.params import added, cotangent
from ...ground.threads import threads_for
from ...ground.xp import Matrix, array_namespace, diagonal, eye, solve_triangular, symmetric_part
from ...model.gaussian_process import GP
from ..interdomain.point_functionals import with_hooks
from ..interdomain.waves import WaveSums
from ..sufficient_statistics import Statistics, like_data
from .methods import SparseMethod
from .posterior import SparsePosterior
from .projection import Inducing, like_kernel, with_share
from .row_sums import Kept, Pull, Slopes, Sums, all_alike

__all__ = ["posterior_of", "value_and_gradient", "value_of"]


def posterior_of(work: Sums, data: Data | WaveSums) -> SparsePosterior:
    """The posterior, from one pass over the data."""
    sums = data.over(work).warned(work.inducing.factor.jitter > 0.0)
    return SparsePosterior(
        work.gp,
        work.Z,
        work.inducing,
        sums.weight_mean,
        sums.factor,
        sums.log_evidence,
        work.method.degenerate,
    )


def value_of(work: Sums, data: Data | WaveSums) -> float:
    """The evidence, or the bound, from one pass over the data."""
    return _head(work, data.over(work).warned(work.inducing.factor.jitter > 0.0)).value


class Head(NamedTuple):
    """The value, and numbers for the second pass: rows with one noise have `noise_bar` and
    ``moved = V_bar Vᵀ`` from the sums."""

    value: float
    pull: Pull
    noise_bar: float
    moved: Matrix


@threads_for(lambda work, sums: sums.gram.shape[0] ** 3)
def _head(work: Sums, sums: Statistics) -> Head:
    inverse = sums.factor.inverse()
    if not all_alike(work):
        return _head_of_each(work, sums, inverse)
    noise_var = work.gp.noise_var
    free = sums.count - sums.gram.shape[0] + _trace(inverse)  # σ² tr (Q + σ²I)⁻¹
    if work.method.upper:
        # the quadratic form has its own noise τ = σ² + Σ g, and so its own B
        tau = noise_var + sums.gap
        quadratic = sums.scaled(noise_var / tau)
        value = sums.log_evidence + 0.5 * (sums.fit - quadratic.fit)
        gap_bar = 0.5 * quadratic.squared_alpha(tau)
        noise_bar = gap_bar
    else:
        tau, quadratic, value = noise_var, sums, sums.log_evidence
        gap_bar = -0.5 * work.method.penalty / noise_var
        # by σ² the correction −½ c Σ g / σ² has the slope ½ c Σ g / σ⁴, which is −gap_bar Σ g / σ²
        noise_bar = 0.5 * sums.squared_alpha(noise_var) - gap_bar * sums.gap / noise_var
    w = quadratic.weight_mean
    # V α = w and B⁻¹ V Vᵀ / σ² = I − B⁻¹
    moved = w[:, None] * w[None, :] - eye(w.shape[0], w) + inverse
    moved = moved - 2.0 * gap_bar * noise_var * sums.gram
    pull = Pull(*_parts(work), w, inverse, tau, gap_bar, work.kept)
    return Head(value, pull, noise_bar - 0.5 * free / noise_var, moved)


def _head_of_each(work: Sums, sums: Statistics, inverse: Matrix) -> Head:
    """The same where each row has a noise of its own, or one derivative of its own by its gap.

    The quadratic form of the upper bound has the noise ``s Λ`` with ``s = 1 + Σ gᵢ/λᵢ``, since
    ``Λ^-½ (K − Q) Λ^-½`` is at most its trace.
    """
    value, times, gap_bar, quadratic = sums.log_evidence, 0.0, 0.0, sums
    if work.method.upper:
        times = 1.0 + sums.gap
        quadratic = sums.scaled(1.0 / times)
        value += 0.5 * (sums.fit - quadratic.fit)
        gap_bar = 0.5 * quadratic.squared_alpha(times)
    w, zeros = quadratic.weight_mean, array_namespace(inverse).zeros_like(inverse)
    pull = Pull(*_parts(work), w, inverse, times, gap_bar, work.kept, work.noise)
    return Head(value, pull, 0.0, zeros)


def _parts(work: Sums) -> tuple[GP, Matrix, Inducing, SparseMethod]:
    return work.gp, work.Z, work.inducing, work.method


def _trace(a: Matrix) -> float:
    return float(array_namespace(a).sum(diagonal(a)))


def value_and_gradient(work: Sums, data: Data | WaveSums) -> tuple[float, GP, Matrix]:
    """A bound and its derivatives, from two passes over the data."""
    if isinstance(data, Rows | WaveSums):  # the second pass is of the same, in this process
        work = replace(work, kept=Kept())
    head = _head(work, data.over(work))
    slopes: Slopes = data.over(head.pull)
    inducing = work.inducing
    moved = slopes.moved + head.moved
    K_bar = -0.5 * _between_factors(inducing.factor, moved)
    kernel_bar, Z_bar = with_hooks(inducing.variables)._gram_pullback(inducing.kernel, K_bar)
    kernel_bar = added(slopes.kernel_bar, kernel_bar)
    if all_alike(work) and inducing.in_place:
        kernel_bar = with_share(kernel_bar, inducing.kernel, _trace(moved))
    gp_bar = cotangent(
        work.gp,
        kernel=like_kernel(kernel_bar, work.gp.kernel),
        noise_var=slopes.noise_bar + head.noise_bar,
        mean=slopes.mean_bar,
    )
    return head.value, gp_bar, like_data(slopes.Z_bar + Z_bar, work.Z)


@threads_for(lambda factor, a: a.shape[0] ** 3)
def _between_factors(factor: Cholesky, a: Matrix) -> Matrix:
    """``L⁻ᵀ a L⁻¹``, symmetric if a is, up to rounding."""
    half = solve_triangular(factor.lower, a, transpose=True)
    turned = array_namespace(a).matrix_transpose(half)
    return symmetric_part(solve_triangular(factor.lower, turned, transpose=True))
