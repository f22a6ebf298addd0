"""Likelihoods, one observation at a time: the density of y given f and three derivatives in f."""

from .base import LikelihoodBase, unchecked
from .counts import Poisson
from .gaussian import Gaussian
from .heavy_tails import StudentT
from .labels import Bernoulli

__all__ = ["Bernoulli", "Gaussian", "LikelihoodBase", "Poisson", "StudentT", "unchecked"]
