"""Random Fourier features: a kernel's matrix as a product of cosines, and regression on them."""

from .frequencies import Frequencies, Term, draw_frequencies
from .model import FeatureGP
from .posterior import FeaturePosterior

__all__ = [
    "FeatureGP",
    "FeaturePosterior",
    "Frequencies",
    "Term",
    "draw_frequencies",
]
