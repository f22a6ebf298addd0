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
from .derivatives import (
    GradientNoise,
    WithGradients,
    derivatives_at,
    gradients_at,
    values_at,
)
from .dot import Linear, Polynomial
from .periodic import Periodic
from .stationary import RBF, Matern12, Matern32, Matern52, RationalQuadratic, Stationary
from .thin_plate import ThinPlate

__all__ = [
    "RBF",
    "ActiveDims",
    "Circular",
    "CircularArcCosine",
    "CircularMatern12",
    "CircularMatern32",
    "CircularRBF",
    "Constant",
    "GradientNoise",
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
    "ThinPlate",
    "White",
    "WithGradients",
    "derivatives_at",
    "gradients_at",
    "values_at",
]
