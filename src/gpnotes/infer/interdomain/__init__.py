"""Interdomain inducing variables: linear functionals of a process, ``uₘ = Lₘ f``.

All that an approximation needs of them is ``K_uu = cov(u, u)`` and ``K_uf = cov(u, f(X))``, the
contract `contracts.InducingVariables`; the rows of K_uf are the basis functions of the posterior
mean. Each functional must have a variance. It has one if and only if its basis function lies in the
space of functions that the kernel reproduces: with a continuous kernel no step does.
"""

from .circle_waves import Harmonics, harmonics_within, leading_harmonics
from .interval_waves import IntervalHarmonics
from .point_functionals import InducingPoints, WeightedPoints
from .waves import WaveSums, wave_sums
from .windows import GaussianWindows

__all__ = [
    "GaussianWindows",
    "Harmonics",
    "InducingPoints",
    "IntervalHarmonics",
    "WaveSums",
    "WeightedPoints",
    "harmonics_within",
    "leading_harmonics",
    "wave_sums",
]
