"""Deep Gaussian processes: functions of functions, each a whitened sparse process.

``h_l = f_l(h_{l−1})``, where each column of h_l is a `Unit`: a process seen through its values at
inducing inputs, with a Gaussian ``q(v)`` over these. `elbo` is the doubly stochastic bound, and
`gpnotes.fit` of a `DeepGP` raises it with the draws of the inner layers held.
"""

from .composition import Coordinate, compose
from .evidence_lower_bound import elbo, elbo_and_gradient
from .model import DeepGP, Unit, with_inner_layers
from .noise import Noise, draw_noise, quadrature_noise
from .posterior import DeepPosterior

__all__ = [
    "Coordinate",
    "DeepGP",
    "DeepPosterior",
    "Noise",
    "Unit",
    "compose",
    "draw_noise",
    "elbo",
    "elbo_and_gradient",
    "quadrature_noise",
    "with_inner_layers",
]
