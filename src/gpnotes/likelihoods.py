"""Likelihoods, one observation at a time: the density of y given f and three derivatives in f."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._xp import LOG_2PI, Array, array_namespace
from .params import positive, settle

__all__ = ["Gaussian"]


@dataclass(frozen=True)
class Gaussian:
    """``y | f ~ N(f, variance)``, independently for each observation.

    All methods work entry by entry on arrays of one shape.

    >>> import numpy as np
    >>> Gaussian(1.0).log_density(np.asarray([0.0, 1.0]), np.asarray([0.0, 0.0])).round(4)
    array([-0.9189, -1.4189])
    """

    variance: float = positive(1.0)

    def __post_init__(self) -> None:
        settle(self)

    def log_density(self, y: Array, f: Array) -> Array:
        """``log N(y; f, variance)``."""
        return -0.5 * (y - f) ** 2 / self.variance - 0.5 * (LOG_2PI + math.log(self.variance))

    def derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        """The first three derivatives of `log_density` by f."""
        xp = array_namespace(y, f)
        first = (y - f) / self.variance
        return first, xp.full_like(first, -1.0 / self.variance), xp.zeros_like(first)

    def expected_log_density(self, y: Array, mean: Array, variance: Array) -> Array:
        """``E log N(y; f, σ²)`` for ``f ~ N(mean, variance)``: the value at the mean, less
        ``variance / 2σ²``."""
        return self.log_density(y, mean) - 0.5 * variance / self.variance
