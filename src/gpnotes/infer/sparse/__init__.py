"""Inducing points: regression through the values of f at a few inputs Z, one function for all."""

from .inducing_points import greedy_points, kmeans_points, random_points
from .methods import Method
from .model import SparseGP
from .on_sums import condition_on_sums, log_evidence_and_gradient_on_sums
from .posterior import SparsePosterior
from .projection import Inducing
from .regression import (
    condition,
    condition_on_chunks,
    log_evidence,
    log_evidence_and_gradient,
    log_evidence_and_gradient_on_chunks,
)

__all__ = [
    "Inducing",
    "Method",
    "SparseGP",
    "SparsePosterior",
    "condition",
    "condition_on_chunks",
    "condition_on_sums",
    "greedy_points",
    "kmeans_points",
    "log_evidence",
    "log_evidence_and_gradient",
    "log_evidence_and_gradient_on_chunks",
    "log_evidence_and_gradient_on_sums",
    "random_points",
]
