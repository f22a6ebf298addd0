"""Inducing points: regression through the values of f at a few inputs Z, one function for all."""

from .inducing_points import greedy_points, kmeans_points, random_points
from .methods import SparseMethod
from .model import SparseGP
from .posterior import SparsePosterior
from .projection import Inducing

__all__ = [
    "Inducing",
    "SparseGP",
    "SparseMethod",
    "SparsePosterior",
    "greedy_points",
    "kmeans_points",
    "random_points",
]
