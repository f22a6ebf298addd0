"""Gaussian process regression on features: weights, evidence and its gradient.

With features Φ for the kernel, ``y = m(X) + Φ w + ε`` and ``w ~ N(0, I)`` is regression in R
weights. The data enter by sums over rows, in blocks, so that Φ (n, R) is never whole.
"""

from __future__ import annotations

from ...ground.chunks import Data
from ...ground.params import cotangent
from ...ground.xp import array_namespace, diagonal, eye
from ...model.gaussian_process import GP
from ..linear import WeightPosterior
from ..sufficient_statistics import Statistics, like_data
from .feature_map import FeatureMap
from .posterior import FeaturePosterior
from .row_sums import Pull, Slopes, Sums
from .sine_sums import SineSums

__all__ = ["posterior_of", "value_and_gradient"]


def posterior_of(gp: GP, frequencies: FeatureMap, data: Data | SineSums) -> FeaturePosterior:
    """The posterior of a process and frequencies that go together.

    Parameters
    ----------
    data : Rows, Chunks or SineSums
        The data.
    """
    statistics: Statistics = data.over(Sums(gp, frequencies)).warned()
    root = statistics.factor._half_solve_t(eye(frequencies.size, statistics.gram))
    weights = WeightPosterior(
        like_data(statistics.weight_mean, frequencies.like),
        like_data(root, frequencies.like),
        gp.noise_var,
        statistics.log_evidence,
    )
    return FeaturePosterior(gp, frequencies, weights)


def value_and_gradient(gp: GP, frequencies: FeatureMap, data: Data | SineSums) -> tuple[float, GP]:
    """The evidence and its derivatives, from two passes over the data.

    Parameters
    ----------
    gp, frequencies, data
        As in `posterior_of`.

    Returns
    -------
    value, gp_bar
        As in `log_evidence_and_gradient`.
    """
    sums: Statistics = data.over(Sums(gp, frequencies))
    w = sums.weight_mean
    inverse = sums.factor.inverse()
    left = diagonal(inverse)
    noise_var = gp.noise_var
    slopes: Slopes = data.over(Pull(gp, frequencies, w, inverse / noise_var))
    # Σᵢ (Φ_bar ∘ Φ)ᵢ = w ∘ w − diag(I − B⁻¹), and tr K_y⁻¹ = (n − tr(I − B⁻¹)) / σ²
    used = frequencies.size - float(array_namespace(left).sum(left))
    noise_bar = sums.squared_alpha(noise_var) - (sums.count - used) / noise_var
    omega_bar = like_data(slopes.omega_bar, frequencies.like)
    kernel_bar = frequencies.kernel_bar(gp.kernel, w * w - 1.0 + left, omega_bar)
    return sums.log_evidence, cotangent(
        gp, kernel=kernel_bar, noise_var=0.5 * noise_bar, mean=slopes.mean_bar
    )
