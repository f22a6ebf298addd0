"""Labels and other non-Gaussian observations: a Gaussian around the mode of f, or of its moments.

`LaplaceGP` takes any likelihood with one value of f for each observation, `SoftmaxGP` one of
several classes, with a value of f for each. `EPGP` takes labels, and is closer and slower.
"""

from .approximation import LaplaceGP, LaplacePosterior
from .expectation_propagation import EPGP, EPPosterior
from .softmax import SoftmaxGP, SoftmaxPosterior

__all__ = [
    "EPGP", "EPPosterior", "LaplaceGP", "LaplacePosterior", "SoftmaxGP", "SoftmaxPosterior",
]  # fmt: skip
