"""Labels and other non-Gaussian observations: a Gaussian around the mode of f.

`LaplaceGP` takes any log-concave likelihood with one value of f for each observation, `SoftmaxGP`
one of several classes, with a value of f for each.
"""

from .approximation import LaplaceGP, LaplacePosterior
from .softmax import SoftmaxGP, SoftmaxPosterior

__all__ = ["LaplaceGP", "LaplacePosterior", "SoftmaxGP", "SoftmaxPosterior"]
