"""A Matérn process on a line as a motion of few numbers, which forgets what came before them.

In the time ``τ = √(2ν) x / ℓ`` the state is ``xₖ = (d/dτ + 1)ᵏ f``, k = 0 … D − 1 with
``D = ν + ½``: each entry decays towards the one above it, and noise enters at the last. A gap s
carries it by ``e^{−s} Σⱼ sʲ Nʲ / j!``, where N shifts a state up by one; so no exponential of a
matrix is needed, and no cancellation arises where readings are close. The signal has variance one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...ground import check as _check
from ...ground.xp import Array, Vector, array_namespace
from ...model.gaussian_process import GP, require_known_mean
from ...model.kernels import Matern12, Matern32, Matern52, Stationary

__all__ = ["FAR", "Motion", "kernel_of", "motion_of"]

FAR = 1e3  # a gap after which nothing is left of a state, e^{−1000} = 0
_ENTRIES: dict[type, int] = {Matern12: 1, Matern32: 2, Matern52: 3}
_SHORT = 0.25  # gaps up to which integrals are summed as series
_TINY = 1e-17  # a term of a series that no longer counts


@dataclass(frozen=True)
class Motion:
    """How the state of a Matérn process moves.

    Parameters
    ----------
    size : int
        D, the number of entries, 1 to 3.
    rate : float
        ``√(2ν) / ℓ``, the time τ of a unit of the inputs.
    """

    size: int
    rate: float

    @property
    def drive(self) -> float:
        """The intensity of the noise, which gives the signal variance one."""
        d = self.size
        return 2.0 ** (2 * d - 1) * math.factorial(d - 1) ** 2 / math.factorial(2 * d - 2)

    def up(self, s: Vector, M: Array) -> None:
        """Put ``Σⱼ sʲ Nʲ / j! M`` in the place of M (D, …, B), for gaps s (B,)."""
        if self.size > 1:
            M[0, ...] += s * M[1, ...]
        if self.size > 2:
            M[0, ...] += (0.5 * s * s) * M[2, ...]
            M[1, ...] += s * M[2, ...]

    def down(self, s: Vector, M: Array) -> None:
        """Put the same with the transpose of N in the place of M."""
        if self.size > 2:
            M[2, ...] += s * M[1, ...]
            M[2, ...] += (0.5 * s * s) * M[0, ...]
        if self.size > 1:
            M[1, ...] += s * M[0, ...]

    def noise(self, s: Vector, decay: Vector, longest: float) -> Array:
        """The covariance of what noise adds over gaps s (B,), of ``e^{−2s}`` `decay`: (D, D, B)."""
        d, f = self.size, math.factorial
        shares = _integrals(s, decay, 2 * d - 2, longest)
        Q = array_namespace(s).empty((d, d, s.shape[0]), dtype=s.dtype, device=s.device)
        for i in range(d):
            for j in range(d):
                weight = self.drive / (f(d - 1 - i) * f(d - 1 - j))
                Q[i, j, ...] = weight * shares[2 * d - 2 - i - j]
        return Q

    def slope(self, M: Array) -> Array:
        """``G M`` of the generator ``G = N − I``, for M (D, …)."""
        out = -M
        for i in range(self.size - 1):
            out[i, ...] += M[i + 1, ...]
        return out


def _integrals(s: Vector, decay: Vector, top: int, longest: float) -> list[Vector]:
    """``∫₀ˢ uᵏ e^{−2u} du`` for k = 0 … top, without cancellation."""
    powers = [decay]
    for _ in range(top):
        powers.append(powers[-1] * s)
    if longest >= _SHORT:
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
    terms, term = 0, 1.0
    while term > _TINY:
        terms += 1
        term *= largest / (start + terms)
    total = array_namespace(z).ones_like(z)
    for j in range(terms, 0, -1):
        total = total * z / (start + j) + 1.0
    return total


def motion_of(gp: GP) -> Motion:
    """Return the motion of a process, if it is one on a line that this room can work for."""
    kernel = kernel_of(gp)
    if getattr(kernel.lengthscale, "ndim", 0):
        raise TypeError(
            f"gp must have one lengthscale, as a line has one dimension; got {kernel!r}"
        )
    if gp.noise_var == 0.0:
        raise ValueError("gp.noise_var must be positive on a line; got 0.0")
    size = _ENTRIES[type(kernel)]
    return Motion(size, math.sqrt(2 * size - 1) / float(kernel.lengthscale))


def kernel_of(gp: GP) -> Stationary:
    """Return the kernel of a process, if it is a Matérn kernel that this room knows."""
    kernel = require_known_mean(_check.instance(gp, "gp", GP)).kernel
    if not isinstance(kernel, Stationary) or type(kernel) not in _ENTRIES:
        wanted = "Matern12, Matern32 or Matern52"
        raise TypeError(f"gp must have the kernel {wanted} to be put on a line; got {kernel!r}")
    return kernel
