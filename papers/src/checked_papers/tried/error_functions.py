"""The error functions of complex numbers in floats, by Faddeeva's function ``w(z)``.

``w(z) = e^{-z^2} erfc(-iz)`` is a polynomial of a fraction in the upper half-plane, after
Weideman (1994), *Computation of the complex error function*, SIAM J. Numer. Anal. 31, 1497-1518.
"""

from __future__ import annotations

import cmath
import math
from functools import cache

import numpy as np

_TERMS = 64
_LENGTH = math.sqrt(_TERMS / math.sqrt(2.0))
_NEAR = 1.0  # below, the series of erf loses no digits
_ROOT = 1.0 / math.sqrt(math.pi)


@cache
def _coefficients() -> tuple[complex, ...]:
    """Those of the polynomial, the highest first: a Fourier transform."""
    size = 2 * _TERMS
    angles = np.arange(-size + 1, size) * math.pi / size
    places = _LENGTH * np.tan(0.5 * angles)
    values = np.exp(-(places**2)) * (_LENGTH**2 + places**2)
    found = np.fft.fft(np.fft.fftshift(np.concatenate([[0.0], values]))).real / (2 * size)
    return tuple(complex(one) for one in found[1 : _TERMS + 1][::-1])


def faddeeva(z: complex) -> complex:
    """``w(z)``; raises `OverflowError` where it is too large.

    >>> abs(faddeeva(1j) - 0.42758357615580703) < 1e-13  # e erfc(1)
    True
    """
    if z.imag < 0:
        return 2.0 * cmath.exp(-z * z) - faddeeva(-z)
    below = _LENGTH - 1j * z
    turned = (_LENGTH + 1j * z) / below
    total = 0j
    for coefficient in _coefficients():
        total = total * turned + coefficient
    return 2.0 * total / below**2 + _ROOT / below


def erf(z: complex) -> complex:
    """The error function.

    >>> abs(erf(1.0) - math.erf(1.0)) < 1e-14
    True
    """
    if abs(z) < _NEAR:
        return _series(z)
    return 1.0 - erfc(z) if z.real >= 0 else erfc(-z) - 1.0


def erfc(z: complex) -> complex:
    """One less the error function, with all digits where it is small."""
    if abs(z) < _NEAR:
        return 1.0 - _series(z)
    return cmath.exp(-z * z) * faddeeva(1j * z) if z.real >= 0 else 2.0 - erfc(-z)


def _series(z: complex) -> complex:
    term, total = z, z
    for k in range(1, 40):
        term *= -z * z / k
        total += term / (2 * k + 1)
    return 2.0 * _ROOT * total


def fresnel(z: complex) -> tuple[complex, complex]:
    """Return the auxiliary functions f and g [DLMF 7.5.10], without cancellation.

    >>> round(fresnel(3.0)[0].real, 6)
    0.105721
    """
    half = 0.5 * math.sqrt(math.pi) * z
    plus = 0.5 * (1 + 1j) * faddeeva(1j * (1 - 1j) * half)  # g + i f
    minus = 0.5 * (1 - 1j) * faddeeva(1j * (1 + 1j) * half)
    return (plus - minus) / 2j, 0.5 * (plus + minus)


def fresnel_integrals(z: complex) -> tuple[complex, complex]:
    """The integrals C and S of ``cos(pi t^2/2)`` and ``sin(pi t^2/2)`` from 0 to z."""
    half = 0.5 * math.sqrt(math.pi) * z
    plus = 0.5 * (1 + 1j) * erf((1 - 1j) * half)  # C + i S
    minus = 0.5 * (1 - 1j) * erf((1 + 1j) * half)
    return 0.5 * (plus + minus), (plus - minus) / 2j
