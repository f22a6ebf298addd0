"""Labels and other non-Gaussian observations: a Gaussian around the mode of f.

`condition` takes any log-concave likelihood with one value of f for each observation,
`condition_softmax` one of several classes, with a value of f for each.
"""

from .approximation import LaplaceGP, LaplacePosterior, condition
from .softmax import SoftmaxGP, SoftmaxPosterior, condition_softmax

__all__ = [
    "LaplaceGP",
    "LaplacePosterior",
    "SoftmaxGP",
    "SoftmaxPosterior",
    "condition",
    "condition_softmax",
]
