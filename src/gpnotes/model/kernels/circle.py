"""Kernels on the circle: of angles, by the shorter way round, each with its Fourier series.

Inputs are one column of angles in radians; θ and θ + 2π are one point. With ``d ≤ π`` the shorter
way from x to z, ``k(x, z) = σ_f² ρ(d) = Σₙ aₙ cos nd``: positive semidefinite if and only if no
coefficient is negative (Bochner's theorem on the circle; Schoenberg, 1942).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from ...ground import check as _check
from ...ground.params import cotangent, holds_derivatives, positive
from ...ground.xp import Array, Matrix, Vector, array_namespace
from .algebra import Kernel
from .base import require_moderate
from .pullback_sums import total

__all__ = [
    "Circular", "CircularArcCosine", "CircularMatern12", "CircularMatern32", "CircularRBF",
]  # fmt: skip

_TURN = 2.0 * math.pi


class Slopes(NamedTuple):
    """Values, their derivatives by d (if they depend on it), and by hyperparameters, by name."""

    value: Array
    by_d: Array | None
    by_shape: Mapping[str, Array]


@dataclass(frozen=True)
class Circular(Kernel):
    """A kernel of angles, ``k(x, z) = σ_f² ρ(d)`` with ``d`` the shorter way round from x to z.

    Inputs are one column of angles in radians, (n, 1).

    Parameters
    ----------
    variance : float, default 1.0
        σ_f², positive.

    Notes
    -----
    A subclass brings ``_correlation(d)``, the values ρ with ``ρ(0) = 1`` and their derivatives,
    and ``_spectrum(n)``, the shares ``aₙ/σ_f²`` of the harmonics and theirs. The derivative by an
    angle at a kink of ρ, such as d = 0, is the mean of both sides at 0 and that of one side at π.
    """

    variance: float = positive(1.0, unit="y²")

    @abstractmethod
    def _correlation(self, d: Array) -> Slopes:
        """ρ at ways d from 0 to π, of any shape, with all derivatives."""

    def spectrum(self, orders: Vector) -> Slopes:
        """Evaluate ``aₙ/σ_f²`` at whole n (R,), with the derivatives by hyperparameters."""
        self._validate_orders(orders)
        return self._spectrum(orders)

    @abstractmethod
    def _spectrum(self, orders: Vector) -> Slopes:
        """``aₙ/σ_f²`` at whole n (R,), with derivatives by hyperparameters."""

    def coefficients(self, orders: Vector) -> Vector:
        """Evaluate the Fourier coefficients aₙ of the kernel; O(R).

        ``a₀ = ∫₀^π k(d) dd / π`` and ``aₙ = 2 ∫₀^π k(d) cos nd dd / π``; all together they add up
        to σ_f².

        Parameters
        ----------
        orders : Vector, shape (R,)
            The orders n, whole numbers from 0 in a floating dtype.

        Returns
        -------
        Vector, shape (R,)
            The coefficients.

        Examples
        --------
        >>> import numpy as np
        >>> (CircularArcCosine().coefficients(np.arange(4.0)) * np.pi**2).round(4)
        array([4.9348, 4.    , 0.    , 0.4444])
        """
        self._validate_orders(orders)
        return self.variance * self._spectrum(orders).value

    def coefficients_pullback(self, orders: Vector, bar: Vector) -> Self:
        """Carry derivatives by the coefficients back to the hyperparameters; O(R).

        Parameters
        ----------
        orders : Vector, shape (R,)
            The orders n, whole numbers from 0 in a floating dtype.
        bar : Vector, shape (R,)
            The derivatives by the coefficients.

        Returns
        -------
        Circular
            ``kernel_bar``, a kernel of the same class that holds the derivatives.
        """
        self._validate_orders(orders)
        _check.alike(_check.vector(bar, "bar", size=orders.shape[0]), "bar", orders, "orders")
        return self._bar(bar, self._spectrum(orders))

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return self.variance * self._correlation(array_namespace(x).abs(_way(x, z))).value

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).full_like(x[:, 0], self.variance)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        xp = array_namespace(x)
        way = _way(x, z)
        slopes = self._correlation(xp.abs(way))
        assert slopes.by_d is not None
        turned = self.variance * K_bar * slopes.by_d * xp.sign(way)
        x_bar = xp.sum(turned, axis=1)[:, None]
        z_bar = -xp.sum(turned, axis=0)[:, None]
        bar = self._bar(K_bar, slopes)
        return (bar, x_bar + z_bar, None) if z is None else (bar, x_bar, z_bar)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        xp = array_namespace(x)
        return self._bar(d_bar, self._correlation(xp.zeros_like(d_bar))), xp.zeros_like(x)

    def _bar(self, bar: Array, slopes: Slopes) -> Self:
        shape = {name: self.variance * total(bar * a) for name, a in slopes.by_shape.items()}
        return cotangent(self, variance=total(bar * slopes.value), **shape)

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        super()._validate_inputs(x, name)
        if x.shape[1] != 1:
            raise ValueError(f"{name} must have one column, of angles; got {tuple(x.shape)}")
        require_moderate(self, x)

    def _validate_orders(self, orders: Vector) -> None:
        if holds_derivatives(self):
            raise TypeError(f"{self!r} holds derivatives and cannot be called as a kernel")
        require_moderate(self, require_orders(orders, "orders"))


def require_orders(orders: Vector, name: str) -> Vector:
    """Return `orders` (R,) if they are whole numbers from 0, in floats of the data's dtype."""
    xp = array_namespace(_check.vector(orders, name))
    if not bool(xp.all((orders >= 0.0) & (orders == xp.round(orders)))):
        raise ValueError(f"{name} must be whole numbers from 0; got {orders}")
    return _check.squarable(orders, name)


def _way(x: Matrix, z: Matrix | None) -> Matrix:
    """The signed shorter way from each z to each x, (n, m), from −π to π."""
    xp = array_namespace(x)
    way = x - xp.matrix_transpose(x if z is None else z)
    return way - _TURN * xp.round(way / _TURN)


@dataclass(frozen=True)
class CircularRBF(Circular):
    """The heat kernel on the circle: ``k ∝ Σₘ exp(−(d + 2πm)²/2ℓ²)``, an RBF wrapped round.

    It is scaled to σ_f² at d = 0. Sample paths are smooth, and nearly constant round the circle
    for ℓ above 3. (An RBF of the shorter way itself is no kernel.)

    Parameters
    ----------
    variance : float, default 1.0
        σ_f², positive.
    lengthscale : float, default 1.0
        ℓ, positive, in radians.

    Notes
    -----
    Its Fourier coefficients are ``a₀ ∝ 1`` and ``aₙ ∝ 2 e^(−n²ℓ²/2)``.
    Source: Borovitskiy, Terenin, Mostowsky & Deisenroth (2020) for wrapping and for the series.

    Examples
    --------
    >>> import numpy as np
    >>> CircularRBF(1.0, 0.5)(np.asarray([[0.1], [0.1 + np.pi], [0.1 + 2 * np.pi]])).round(4)
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """

    lengthscale: float = positive(1.0, unit="x")

    def _correlation(self, d: Array) -> Slopes:
        terms, zero = (self._series(a) for a in (d, array_namespace(d).zeros_like(d)))
        return _ratio(terms, zero, "lengthscale")

    def _series(self, d: Array) -> tuple[Array, Array, Array]:
        """Up to a factor, ``Σ exp(−(d + 2πm)²/2ℓ²)`` with its derivatives by d and ℓ.

        A short ℓ needs three images, a long one nine harmonics, for all of float64's digits.
        """
        xp = array_namespace(d)
        length = self.lengthscale
        value, by_d, by_length = (xp.zeros_like(d) for _ in range(3))
        if length <= 1.0:
            for r in (d - _TURN, d, d + _TURN):
                u = r / length
                image = xp.exp(-0.5 * u * u)
                value, by_d = value + image, by_d - image * u / length
                by_length = by_length + image * u * u / length
            return value, by_d, by_length
        for n in range(10):
            weight = (2.0 if n else 1.0) * math.exp(-0.5 * (n * length) ** 2)
            harmonic = weight * xp.cos(n * d)
            value, by_d = value + harmonic, by_d - n * weight * xp.sin(n * d)
            by_length = by_length - n * n * length * harmonic
        return value, by_d, by_length

    def _spectrum(self, orders: Vector) -> Slopes:
        xp = array_namespace(orders)
        length = self.lengthscale
        sum_of_all, log_slope = _theta(length)
        twice = xp.where(orders == 0.0, xp.ones_like(orders), xp.full_like(orders, 2.0))
        share = twice / sum_of_all * xp.exp(-0.5 * (orders * length) ** 2)
        return Slopes(share, None, {"lengthscale": -share * (orders * orders * length + log_slope)})


def _theta(length: float) -> tuple[float, float]:
    """``Σₙ exp(−n²ℓ²/2)`` over all whole n, and the derivative of its logarithm by ℓ."""
    if length <= 1.0:  # by Poisson's summation: √(2π)/ℓ Σₘ exp(−(2πm)²/2ℓ²)
        image = 2.0 * math.exp(-0.5 * (_TURN / length) ** 2)
        slope = image * _TURN**2 / length**3 / (1.0 + image)
        return math.sqrt(_TURN) / length * (1.0 + image), slope - 1.0 / length
    terms = [2.0 * math.exp(-0.5 * (n * length) ** 2) for n in range(1, 10)]
    value = 1.0 + sum(terms)
    return value, -length * sum(n * n * term for n, term in enumerate(terms, 1)) / value


@dataclass(frozen=True)
class _CircularMatern(Circular):
    """Matérn kernels wrapped round: sums over images ``r = |d + 2πm|`` of polynomial · e^(−cr)."""

    lengthscale: float = positive(1.0, unit="x")

    def _correlation(self, d: Array) -> Slopes:
        terms, zero = (self._wrapped(a) for a in (d, array_namespace(d).zeros_like(d)))
        value, by_d, by_rate = _ratio(terms, zero, "rate")
        return Slopes(value, by_d, self._by_length(by_rate["rate"]))

    def _spectrum(self, orders: Vector) -> Slopes:
        xp = array_namespace(orders)
        density, log_slope = self._density(orders)
        at_zero, _, slope_at_zero = self._wrapped(xp.zeros_like(orders))
        twice = xp.where(orders == 0.0, xp.ones_like(orders), xp.full_like(orders, 2.0))
        share = twice * density / (_TURN * at_zero)
        by_rate = share * (log_slope - slope_at_zero / at_zero)
        return Slopes(share, None, self._by_length(by_rate))

    def _by_length(self, by_rate: Array) -> dict[str, Array]:
        """``dc/dℓ = −c/ℓ``."""
        return {"lengthscale": -self._rate / self.lengthscale * by_rate}

    @property
    @abstractmethod
    def _rate(self) -> float:
        """c, which is √(2ν)/ℓ."""

    @abstractmethod
    def _wrapped(self, d: Array) -> tuple[Array, Array, Array]:
        """The sum over images, and its derivatives by d and c."""

    @abstractmethod
    def _density(self, orders: Vector) -> tuple[Array, Array]:
        """The spectral density of the kernel on the line, and its log's derivative by c."""


@dataclass(frozen=True)
class CircularMatern12(_CircularMatern):
    """An exponential kernel wrapped round: ``k = σ_f² cosh((π − d)/ℓ) / cosh(π/ℓ)``.

    Sample paths are continuous and nowhere smooth.

    Parameters
    ----------
    variance, lengthscale
        As in `CircularRBF`.

    Notes
    -----
    Its Fourier coefficients are ``a₀ ∝ 1`` and ``aₙ ∝ 2/(1 + ℓ²n²)``. Source: as `CircularRBF`.

    Examples
    --------
    >>> import numpy as np
    >>> CircularMatern12()(np.asarray([[0.0], [1.0], [2 * np.pi - 1.0]])).round(4)
    array([[1.    , 0.3723, 0.3723],
           [0.3723, 1.    , 0.1489],
           [0.3723, 0.1489, 1.    ]])
    """

    @property
    def _rate(self) -> float:
        return 1.0 / self.lengthscale

    def _wrapped(self, d: Array) -> tuple[Array, Array, Array]:
        c = self._rate
        (near, near1, _), (far, far1, _) = (_images(a, c) for a in (d, _TURN - d))
        return near + far, -c * (near - far), -(near1 + far1)

    def _density(self, orders: Vector) -> tuple[Array, Array]:
        c = self._rate
        squares = c * c + orders * orders
        return 2.0 * c / squares, 1.0 / c - 2.0 * c / squares


@dataclass(frozen=True)
class CircularMatern32(_CircularMatern):
    """A Matérn kernel with ν = 3/2 wrapped round: ``(1 + cr) e^(−cr)`` with ``c = √3/ℓ``.

    It is scaled to σ_f² at d = 0. Sample paths have one derivative.

    Parameters
    ----------
    variance, lengthscale
        As in `CircularRBF`.

    Notes
    -----
    Its Fourier coefficients are ``a₀ ∝ 1/c⁴`` and ``aₙ ∝ 2/(c² + n²)²``. Source: as `CircularRBF`.

    Examples
    --------
    >>> import numpy as np
    >>> CircularMatern32()(np.asarray([[0.0], [1.0], [2 * np.pi - 1.0]])).round(4)
    array([[1.    , 0.4843, 0.4843],
           [0.4843, 1.    , 0.1447],
           [0.4843, 0.1447, 1.    ]])
    """

    @property
    def _rate(self) -> float:
        return math.sqrt(3.0) / self.lengthscale

    def _wrapped(self, d: Array) -> tuple[Array, Array, Array]:
        c = self._rate
        (near, near1, near2), (far, far1, far2) = (_images(a, c) for a in (d, _TURN - d))
        value = near + far + c * (near1 + far1)
        return value, -c * c * (near1 - far1), -c * (near2 + far2)

    def _density(self, orders: Vector) -> tuple[Array, Array]:
        c = self._rate
        squares = c * c + orders * orders
        return 4.0 * c**3 / (squares * squares), 3.0 / c - 4.0 * c / squares


@dataclass(frozen=True)
class CircularArcCosine(Circular):
    """A linear fall, ``k = σ_f² (1 − d/π)``: the arc-cosine kernel of order 0 of unit vectors.

    Parameters
    ----------
    variance : float, default 1.0
        σ_f², positive.

    Notes
    -----
    Its Fourier coefficients are ``a₀ = σ_f²/2``, ``aₙ = 4σ_f²/π²n²`` for odd n, and 0 for even n:
    positive semidefinite, but not strictly, since ``f(θ) + f(θ + π)`` is the same for all θ. Four
    points that are two opposite pairs have a singular matrix.
    Source: Cho & Saul (2009), of unit vectors in the plane.

    Examples
    --------
    >>> import numpy as np
    >>> CircularArcCosine(2.0)(np.pi * np.asarray([[0.0], [0.25], [1.0], [1.75]])).round(4)
    array([[2. , 1.5, 0. , 1.5],
           [1.5, 2. , 0.5, 1. ],
           [0. , 0.5, 2. , 0.5],
           [1.5, 1. , 0.5, 2. ]])
    """

    def _correlation(self, d: Array) -> Slopes:
        xp = array_namespace(d)
        return Slopes(1.0 - d / math.pi, xp.full_like(d, -1.0 / math.pi), {})

    def _spectrum(self, orders: Vector) -> Slopes:
        xp = array_namespace(orders)
        odd = xp.abs(orders - 2.0 * xp.round(orders / 2.0))
        squares = xp.where(orders == 0.0, xp.ones_like(orders), orders * orders)
        share = odd * (4.0 / math.pi**2) / squares
        return Slopes(xp.where(orders == 0.0, xp.full_like(orders, 0.5), share), None, {})


def _ratio(
    terms: tuple[Array, Array, Array], zero: tuple[Array, Array, Array], name: str
) -> Slopes:
    """Values divided by those at d = 0, with derivatives by d and by the parameter `name`."""
    value, by_d, by_shape = terms
    top, _, top_by_shape = zero
    share = value / top
    return Slopes(share, by_d / top, {name: (by_shape - share * top_by_shape) / top})


def _images(r: Array, rate: float) -> tuple[Array, Array, Array]:
    """``Σₘ (r + 2πm)ᵏ e^(−c(r + 2πm))`` over m ≥ 0 for k = 0, 1, 2, as geometric sums."""
    step = math.exp(-_TURN * rate)
    rest = -math.expm1(-_TURN * rate)
    zeroth, first = 1.0 / rest, step / rest**2
    second = step * (1.0 + step) / rest**3
    decay = array_namespace(r).exp(-rate * r)
    linear = r * zeroth + _TURN * first
    square = r * r * zeroth + 2.0 * _TURN * r * first + _TURN**2 * second
    return decay * zeroth, decay * linear, decay * square
