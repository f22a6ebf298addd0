"""Kernels: covariance functions with their pullbacks."""

from .algebra import ActiveDims, Constant, Kernel, Power, Product, Scaled, Sum, named, named_product
from .arccos import ArcCosine
from .circle import (
    Circular,
    CircularArcCosine,
    CircularMatern12,
    CircularMatern32,
    CircularRBF,
)
from .coregion import Coregion, OutputNoise, outputs_at, readings_of
from .derivatives import (
    GradientNoise,
    WithGradients,
    derivatives_at,
    gradients_at,
    values_at,
)
from .graph import Graph, GraphHeat, GraphMatern, OnGraph
from .hamming import Hamming
from .linear import Linear, Polynomial
from .periodic import Periodic
from .spectral import Cosine, spectral_mixture
from .sphere import OnSphere, great_circle_distances
from .stationary import RBF, Matern12, Matern32, Matern52, RationalQuadratic, Stationary
from .thin_plate import ThinPlate
from .white import White
from .wiener import IntegratedWiener, Wiener

__all__ = [
    "RBF",
    "ActiveDims",
    "ArcCosine",
    "Circular",
    "CircularArcCosine",
    "CircularMatern12",
    "CircularMatern32",
    "CircularRBF",
    "Constant",
    "Coregion",
    "Cosine",
    "GradientNoise",
    "Graph",
    "GraphHeat",
    "GraphMatern",
    "Hamming",
    "IntegratedWiener",
    "Kernel",
    "Linear",
    "Matern12",
    "Matern32",
    "Matern52",
    "OnGraph",
    "OnSphere",
    "OutputNoise",
    "Periodic",
    "Polynomial",
    "Power",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Stationary",
    "Sum",
    "ThinPlate",
    "White",
    "Wiener",
    "WithGradients",
    "derivatives_at",
    "gradients_at",
    "great_circle_distances",
    "named",
    "named_product",
    "outputs_at",
    "readings_of",
    "spectral_mixture",
    "values_at",
]
