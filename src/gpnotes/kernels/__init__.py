"""Kernels: covariance functions with their pullbacks."""

from .base import ActiveDims, Kernel, Product, Scaled, Sum
from .stationary import RBF, Matern12, Matern32, Matern52, RationalQuadratic

__all__ = [
    "RBF",
    "ActiveDims",
    "Kernel",
    "Matern12",
    "Matern32",
    "Matern52",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sum",
]
