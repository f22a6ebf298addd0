"""Gaussian process regression on features: weights, evidence and its gradient.

With features Φ for the kernel, ``y = m(X) + Φ w + ε`` and ``w ~ N(0, I)`` is regression in R
weights. The data enter by sums over rows, in blocks, so that Φ (n, R) is never whole.
"""

from __future__ import annotations

from ...ground.chunks import Chunks, Data
from ...ground.late_reads import number, trials
from ...ground.params import cotangent, numbers_read
from ...ground.xp import Vector, array_namespace, diagonal, eye
from ...model.gaussian_process import GP
from ..linear import WeightPosterior
from ..sufficient_statistics import Statistics, like_data
from .posterior import FeaturePosterior
from .row_sums import Pull, Slopes, Sums
from .sine_sums import SineSums

__all__ = ["posterior_of", "value_and_gradient"]


def posterior_of(work: Sums, data: Data | SineSums) -> FeaturePosterior:
    """The posterior of a process and frequencies that go together.

    Parameters
    ----------
    work : Sums
        The first pass, for process and frequencies.
    data : Rows, Chunks or SineSums
        The data.
    """
    gp, frequencies = work.gp, work.frequencies
    for trial in trials(None if isinstance(data, Chunks) else frequencies.like):
        with trial:
            statistics: Statistics = data.over(work).warned()
            log_evidence = statistics.log_evidence
    # B⁻¹ = L⁻ᵀ L⁻¹: a root by one solve, without an inverse that is factored again
    root = statistics.factor._half_solve_t(eye(frequencies.size, statistics.gram))
    weights = WeightPosterior(
        like_data(statistics.weight_mean, frequencies.like),
        like_data(root, frequencies.like),
        gp.noise_var,
        number(log_evidence),
    )
    return FeaturePosterior(gp, frequencies, weights)


def value_and_gradient(work: Sums, data: Data | SineSums) -> tuple[float, GP]:
    """The evidence and its derivatives, from two passes over the data.

    Parameters
    ----------
    work, data
        As in `posterior_of`.

    Returns
    -------
    value, gp_bar
        As in `log_evidence_and_gradient`.
    """
    for trial in trials(None if isinstance(data, Chunks) else work.frequencies.like):
        with trial:
            value, bar = _value_and_gradient(work, data)
    return number(value), numbers_read(bar)


def _value_and_gradient(work: Sums, data: Data | SineSums) -> tuple[float, GP]:
    gp, frequencies = work.gp, work.frequencies
    sums: Statistics = data.over(work)
    w = sums.weight_mean
    inverse = sums.factor.inverse()
    left = diagonal(inverse)
    slopes: Slopes = data.over(Pull(gp, frequencies, w, inverse, work.noise))
    # Σᵢ (Φ_bar ∘ Φ)ᵢ = w ∘ w − diag(I − B⁻¹)
    noise_bar = slopes.noise_bar if work.noise else _by_one_noise(sums, left, gp.noise_var)
    omega_bar = like_data(slopes.omega_bar, frequencies.like)
    kernel_bar = frequencies.kernel_bar(gp.kernel, w * w - 1.0 + left, omega_bar)
    return sums.log_evidence, cotangent(
        gp, kernel=kernel_bar, noise_var=noise_bar, mean=slopes.mean_bar
    )


def _by_one_noise(sums: Statistics, left: Vector, noise_var: float) -> float:
    """``½ (|α|² − tr K_y⁻¹)``, where ``tr K_y⁻¹ = (n − tr(I − B⁻¹)) / σ²``, of diag B⁻¹."""
    used = left.shape[0] - number(array_namespace(left).sum(left))
    return 0.5 * (sums.squared_alpha(noise_var) - (sums.count - used) / noise_var)
