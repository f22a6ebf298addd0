"""Likelihoods, one observation at a time: the density of y given f and three derivatives in f.

`RobustMax` and `Categorical`, of several classes, read several functions at once, and have averages
alone.
"""

from .base import LikelihoodBase
from .binary import Bernoulli
from .binomial import Binomial
from .categorical import Categorical
from .counts import NegativeBinomial, Poisson
from .gaussian import Gaussian
from .heavy_tails import StudentT
from .multiclass import MulticlassLikelihood, RobustMax

__all__ = [
    "Bernoulli",
    "Binomial",
    "Categorical",
    "Gaussian",
    "LikelihoodBase",
    "MulticlassLikelihood",
    "NegativeBinomial",
    "Poisson",
    "RobustMax",
    "StudentT",
]  # fmt: skip
