"""Likelihoods, one observation at a time: the density of y given f and three derivatives in f.

`RobustMax`, of several classes, reads several functions at once, and has averages alone.
"""

from .base import LikelihoodBase, unchecked
from .classes import RobustMax
from .counts import Poisson
from .gaussian import Gaussian
from .heavy_tails import StudentT
from .labels import Bernoulli
from .trials import Binomial, NegativeBinomial

__all__ = [
    "Bernoulli", "Binomial", "Gaussian", "LikelihoodBase", "NegativeBinomial", "Poisson",
    "RobustMax", "StudentT", "unchecked",
]  # fmt: skip
