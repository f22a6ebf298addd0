"""Random Fourier features: a kernel's matrix as a product of cosines, and regression on them."""

from .frequencies import Frequencies, Term, draw_frequencies
from .model import FeatureGP
from .posterior import FeaturePosterior
from .regression import (
    condition,
    condition_on_chunks,
    log_evidence,
    log_evidence_and_gradient,
    log_evidence_and_gradient_on_chunks,
)

__all__ = [
    "FeatureGP",
    "FeaturePosterior",
    "Frequencies",
    "Term",
    "condition",
    "condition_on_chunks",
    "draw_frequencies",
    "log_evidence",
    "log_evidence_and_gradient",
    "log_evidence_and_gradient_on_chunks",
]
