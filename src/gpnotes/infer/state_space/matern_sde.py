"""A Matérn process on a line as a Markov process of few numbers.

In the time ``τ = √(2ν) x / ℓ`` the state is ``xₖ = (d/dτ + 1)ᵏ f``, k = 0 … D − 1 with
``D = ν + ½``: each entry decays towards the one above it, and noise enters at the last. A gap s
carries it by ``e^{−s} Σⱼ sʲ Nʲ / j!``, where N shifts a state up by one; so no exponential of a
matrix is needed, and no cancellation arises where readings are close. The signal has variance one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from ...ground.xp import Array, Vector, array_namespace

__all__ = ["FAR", "SHORT", "MaternMotion", "series_factors"]

FAR = 1e3  # a gap after which nothing is left of a state, e^{−1000} = 0
SHORT = 0.25  # gaps up to which integrals are summed as series
_TINY = 1e-17  # a term of a series that no longer counts


@dataclass(frozen=True)
class MaternMotion:
    """The motion of the state of a Matérn process.

    Parameters
    ----------
    size : int
        D, the number of entries, 1 to 3.
    """

    size: int

    @cached_property
    def drive(self) -> float:
        """The intensity of the noise, which gives the signal variance one."""
        d = self.size
        return 2.0 ** (2 * d - 1) * math.factorial(d - 1) ** 2 / math.factorial(2 * d - 2)

    def up(self, s: Vector, M: Array) -> None:
        """Put ``Σⱼ sʲ Nʲ / j! M`` in the place of M (D, …, B), for gaps s (B,)."""
        if self.size > 1:
            # the first row while the second is as it was, of which it takes
            M[0, ...] += s * M[1, ...]
        if self.size > 2:
            M[0, ...] += (0.5 * s * s) * M[2, ...]
            M[1, ...] += s * M[2, ...]

    def down(self, s: Vector, M: Array) -> None:
        """Put the same with the transpose of N in the place of M."""
        if self.size > 2:
            # the last row while the second is as it was, of which it takes
            M[2, ...] += s * M[1, ...]
            M[2, ...] += (0.5 * s * s) * M[0, ...]
        if self.size > 1:
            M[1, ...] += s * M[0, ...]

    def noise(self, s: Vector, decay: Vector, longest: float) -> Array:
        """Return the noise covariance over gaps s (B,), of ``e^{−2s}`` `decay`: (D, D, B)."""
        d, f = self.size, math.factorial
        shares = _integrals(s, decay, 2 * d - 2, longest)
        Q = array_namespace(s).empty((d, d, s.shape[0]), dtype=s.dtype, device=s.device)
        for i in range(d):
            for j in range(i, d):
                weight = self.drive / (f(d - 1 - i) * f(d - 1 - j))
                Q[i, j, ...] = weight * shares[2 * d - 2 - i - j]
                Q[j, i, ...] = Q[i, j, ...]
        return Q

    @cached_property
    def prior(self) -> list[list[float]]:
        """The covariance of a state before any reading, ``∫₀^∞ uᵏ e^{−2u} du = k! / 2ᵏ⁺¹``."""
        d, f = self.size, math.factorial
        P = [[0.0] * d for _ in range(d)]
        for i in range(d):
            for j in range(d):
                k = 2 * d - 2 - i - j
                P[i][j] = self.drive / (f(d - 1 - i) * f(d - 1 - j)) * f(k) / 2.0 ** (k + 1)
        return P


def _integrals(s: Vector, decay: Vector, top: int, longest: float) -> list[Vector]:
    """``∫₀ˢ uᵏ e^{−2u} du`` for k = 0 … top, without cancellation."""
    powers = [decay]
    for _ in range(top):
        powers.append(powers[-1] * s)
    # upwards the recursion subtracts, which cancels where gaps are short: those go downwards,
    # where it adds, from the integral of the highest power as a series
    if longest >= SHORT:
        shares = [0.5 * (1.0 - decay)]
        for k in range(1, top + 1):
            shares.append(0.5 * (k * shares[-1] - powers[k]))
        return shares
    shares = [powers[top] * s * _series(2.0 * s, top + 1, 2.0 * longest) / (top + 1)]
    for k in range(top, 0, -1):
        shares.append((2.0 * shares[-1] + powers[k]) / k)
    return shares[::-1]


def _series(z: Vector, start: int, largest: float) -> Vector:
    """``1 + z/(a+1) + z²/(a+1)(a+2) + …`` with a = `start`, for z up to `largest`."""
    factors = series_factors(start, largest)
    total = factors.pop() * z
    for factor in factors[:0:-1]:
        total += factor
        total *= z
    total += 1.0
    return total


def series_factors(start: int, largest: float) -> list[float]:
    """Return ``1, 1/(a+1), 1/(a+1)(a+2), …``: what powers of z up to `largest` are worth."""
    # as many terms for all gaps as the longest needs, so that they are one loop over arrays
    factors, term = [1.0], 1.0
    while term > _TINY:
        factors.append(factors[-1] / (start + len(factors)))
        term *= largest / (start + len(factors) - 1)
    return factors
