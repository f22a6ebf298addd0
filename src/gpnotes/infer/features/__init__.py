"""Features in the place of a kernel, random waves or sines on a box, and regression on them."""

from .box_sines import BoxSines, leading_sines
from .frequencies import Frequencies, Term, draw_frequencies
from .model import FeatureGP
from .posterior import FeaturePosterior

__all__ = [
    "BoxSines",
    "FeatureGP",
    "FeaturePosterior",
    "Frequencies",
    "Term",
    "draw_frequencies",
    "leading_sines",
]
