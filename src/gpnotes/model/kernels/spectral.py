"""Kernels by their spectrum: one frequency, and mixtures of bands of frequencies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from ...ground import check as _check
from ...ground.params import cotangent, real
from ...ground.xp import Array, Matrix, Numbers, Vector, array_namespace
from .algebra import Kernel, Sum
from .pullback_sums import per_dimension
from .scaled_inputs import about_centre
from .stationary import RBF

__all__ = ["Cosine", "spectral_mixture"]


@dataclass(frozen=True)
class Cosine(Kernel):
    """A kernel of one frequency: ``k(x, z) = cos(2π Σ_d ω_d (x_d − z_d))``.

    Its functions are waves with a random amplitude and phase, and its matrices have rank two. With
    its variance one it is a factor; `spectral_mixture` multiplies it with an `RBF`.

    Parameters
    ----------
    frequency : float or Vector, shape (d,), default 1.0
        ω, in turns for a unit of x: one for every dimension, or one each.

    Examples
    --------
    >>> import numpy as np
    >>> Cosine(0.25)(np.asarray([[0.0], [1.0], [2.0]])).round(4) + 0.0
    array([[ 1.,  0., -1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  1.]])
    """

    frequency: Numbers = real(1.0, per_dimension=True, unit="1/x")

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return array_namespace(x).cos(self._phases(x, z))

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).ones_like(x[:, 0])

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        xp = array_namespace(x)
        x, z = about_centre(x, z, 1.0)
        # with the phase p = 2π ω·(x − z): p_bar = −K_bar ⊙ sin p, x_bar = 2π ω p_bar 1
        p_bar = -K_bar * xp.sin(self._phases(x, z))
        left = 2.0 * math.pi * xp.sum(p_bar, axis=1)[:, None]
        right = -2.0 * math.pi * xp.sum(p_bar, axis=0)[:, None]
        terms = left * x + right * x if z is None else xp.concat([left * x, right * z], axis=0)
        bar = cotangent(self, frequency=per_dimension(terms, self.frequency))
        x_bar = left * self.frequency * xp.ones_like(x)
        if z is None:
            return bar, x_bar + right * self.frequency * xp.ones_like(x), None
        return bar, x_bar, right * self.frequency * xp.ones_like(z)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        zeros = array_namespace(x).zeros_like(x)
        return cotangent(self, frequency=per_dimension(zeros, self.frequency)), zeros

    def _phases(self, x: Matrix, z: Matrix | None) -> Array:
        xp = array_namespace(x)
        x, z = about_centre(x, z, 1.0)  # far from zero turns are rounded
        turns = xp.sum(x * self.frequency, axis=1)
        others = turns if z is None else xp.sum(z * self.frequency, axis=1)
        return 2.0 * math.pi * (turns[:, None] - others[None, :])


def _bands(values: Iterable[Numbers], name: str) -> tuple[Any, ...]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a list, a number for each band; got {values!r}")
    return tuple(values)


def spectral_mixture(
    variances: Iterable[float], frequencies: Iterable[Numbers], bandwidths: Iterable[Numbers]
) -> Kernel:
    """Build the kernel whose spectrum is a mixture of normal densities, [eq-ke-mixture].

    ``k(τ) = Σ_q v_q exp(−2π² Σ_d s_qd² τ_d²) cos(2π ω_q·τ)``.

    Parameters
    ----------
    variances : iterable of float
        The variance v of each band, positive.
    frequencies : iterable of float or Vector, shape (d,)
        The middle ω of each band, in turns for a unit of x.
    bandwidths : iterable of float or Vector, shape (d,)
        The standard deviation s of each band, positive, in turns for a unit of x.

    Returns
    -------
    Kernel
        The sum of ``RBF · Cosine`` with lengthscales ``1/2πs``, which is fitted by these; a single
        band is a product alone.

    Notes
    -----
    Source: Wilson & Adams (2013), in this form a product over dimensions of the first factor only.

    Examples
    --------
    >>> spectral_mixture([2.0], [0.5], [0.1])
    RBF(variance=2, lengthscale=1.59155) * Cosine(frequency=0.5)
    """
    given = (
        _bands(variances, "variances"),
        _bands(frequencies, "frequencies"),
        _bands(bandwidths, "bandwidths"),
    )
    if len({len(values) for values in given}) > 1 or not given[0]:
        sizes = ", ".join(str(len(values)) for values in given)
        wanted = "variances, frequencies and bandwidths must be equally many, at least one"
        raise ValueError(f"{wanted}; got {sizes}")
    bands = [
        RBF(v, 1.0 / (2.0 * math.pi * _check.positive(s, "bandwidths"))) * Cosine(omega)
        for v, omega, s in zip(*given, strict=True)
    ]
    return bands[0] if len(bands) == 1 else Sum(tuple(bands))
