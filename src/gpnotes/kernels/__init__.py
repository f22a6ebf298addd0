"""Kernels: covariance functions with their pullbacks."""

from .algebra import ActiveDims, Kernel, Product, Scaled, Sum
from .circle import (
    Circular,
    CircularArcCosine,
    CircularMatern12,
    CircularMatern32,
    CircularRBF,
)
from .constant import Constant, White
from .dot import Linear, Polynomial
from .periodic import Periodic
from .stationary import RBF, Matern12, Matern32, Matern52, RationalQuadratic, Stationary

__all__ = [
    "RBF",
    "ActiveDims",
    "Circular",
    "CircularArcCosine",
    "CircularMatern12",
    "CircularMatern32",
    "CircularRBF",
    "Constant",
    "Kernel",
    "Linear",
    "Matern12",
    "Matern32",
    "Matern52",
    "Periodic",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Stationary",
    "Sum",
    "White",
]
