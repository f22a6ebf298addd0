"""Derivatives of any order of an analytic function: Cauchy's integral over a circle around it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from checked_equations.errors import EquationError, OperationError

from .quadrature import without_rounding

_POINTS = 48
_TURNS = np.exp(2j * math.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
_INSIDE = (0.5, -0.3 + 0.2j)  # places in a circle of radius one, on the real line and off it
_AS_ONE = 1e-6  # of how much the values on the circle vary


def derivative(f: Callable[[complex], complex], z: complex, order: int) -> complex | None:
    """The derivative of `order` at `z`, or none where the values on circles do not tell it.

    Around a singularity two circles differ. The values on a circle are those inside only if the
    function is analytic: of ``\\ln|z|``, which is not, each circle gives half of the derivative.

    >>> round(derivative(np.exp, 1.0, 5).real, 9) == round(math.e, 9)
    True
    >>> derivative(lambda z: np.log(abs(z)), 1.0, 1) is None
    True
    """
    size = max(abs(z), 0.2)
    try:
        circles = [_Circle.of(f, z, share * size) for share in (0.55, 0.4, 0.2, 0.14, 0.07)]
        for one, other in itertools.pairwise(circles):
            value = other.derivative(order)
            if abs(one.derivative(order) - value) <= 1e-9 * max(abs(value), 1e-6):
                return value if other.encloses(f) else None
    except (EquationError, OperationError, ArithmeticError, ValueError, TypeError):
        return None
    return None


@dataclass(frozen=True)
class _Circle:
    """The values of a function on a circle."""

    centre: complex
    radius: float
    values: np.ndarray

    @classmethod
    def of(cls, f: Callable[[complex], complex], centre: complex, radius: float) -> _Circle:
        """Evaluate a function on a circle."""
        places = (centre + radius * _TURNS).tolist()
        return cls(centre, radius, np.array([complex(f(place)) for place in places]))

    def derivative(self, order: int) -> complex:
        """The derivative at the centre by Cauchy's integral."""
        mean = complex(np.mean(self.values * _TURNS**-order))
        # of higher orders the coefficients of a smooth function are as small, and no rounding
        if order <= 2:
            mean = without_rounding(mean, float(np.max(np.abs(self.values))))
        return math.factorial(order) / self.radius**order * mean

    def encloses(self, f: Callable[[complex], complex]) -> bool:
        """Return whether the function has inside the values that Cauchy's integral gives there."""
        near = _AS_ONE * np.max(np.abs(self.values - np.mean(self.values)))
        near += 1e-12 * np.max(np.abs(self.values))
        return all(
            abs(f(complex(self.centre + self.radius * place)) - self._inside(place)) <= near
            for place in _INSIDE
        )

    def _inside(self, place: complex) -> complex:
        return complex(np.mean(self.values * _TURNS / (_TURNS - place)))
