"""The passes of regression on features over the rows of data: sums, and then slopes.

Both are worked out for a chunk at a time, here or elsewhere, and add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...fast import cosines
from ...ground import check as _check
from ...ground import memory
from ...ground import xp as _xp
from ...ground.params import added
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector, array_namespace
from ...model.contracts import Mean
from ...model.gaussian_process import GP, differentiable_mean, residual_of, validate_data
from ...model.kernels import Kernel
from ...model.means import pulled
from ..sufficient_statistics import Statistics, like_data
from .frequencies import Frequencies

__all__ = ["Pull", "Slopes", "Sums", "validate_rows"]


@dataclass(frozen=True, eq=False)
class Sums:
    """The first pass, a function of rows (X, y) that gives their statistics, here or elsewhere.

    Parameters
    ----------
    gp : GP
        The process.
    frequencies : Frequencies
        The frequencies of the features.
    """

    gp: GP
    frequencies: Frequencies

    def __call__(self, X: Matrix, y: Vector) -> Statistics:
        """The statistics of the rows (X, y)."""
        validate_rows(self.gp, self.frequencies, X, y)
        return self._call(X, y)

    def _call(self, X: Matrix, y: Vector) -> Statistics:
        r = _check.squarable(_xp.in_double(residual_of(self.gp, X, y)), "y − m(X)")
        gram, cross = self._gram_and_cross(self.gp.kernel, X, r)
        noise_var = self.gp.noise_var
        squares = float(array_namespace(r).sum(r * r))
        log_noise = X.shape[0] * math.log(noise_var)
        return Statistics(
            X.shape[0], gram / noise_var, cross / noise_var, squares / noise_var, log_noise
        )

    @threads_for(lambda self, kernel, X, r: self.frequencies.size**2 * X.shape[0])
    def _gram_and_cross(self, kernel: Kernel, X: Matrix, r: Vector) -> tuple[Matrix, Vector]:
        if cosines.supports(X):
            omega, offset, amplitude = self.frequencies.waves_of(kernel)
            if isinstance(amplitude, float):
                return cosines.gram_and_cross(X, r, omega, offset, amplitude)
            # features of amplitude one first: a factor of each column scales M² sums, not n M waves
            products, sums = cosines.gram_and_cross(X, r, omega, offset, 1.0)
            return amplitude[:, None] * products * amplitude[None, :], amplitude * sums
        xp = array_namespace(X)
        size = self.frequencies.size
        gram, cross = _xp.zeros((size, size), r), _xp.zeros((size,), r)
        for rows in memory.blocks(X.shape[0], size):
            Phi = _xp.in_double(self.frequencies._features(kernel, X[rows, :]))
            gram = gram + xp.matrix_transpose(Phi) @ Phi
            cross = cross + xp.matrix_transpose(Phi) @ r[rows]
        return gram, cross


@dataclass(frozen=True, eq=False)
class Slopes:
    """The parts of the gradient that some rows bring; those of two sets of rows add.

    Parameters
    ----------
    omega_bar : Matrix, shape (R, d)
        The derivatives by the frequencies ω.
    mean_bar : Mean
        The derivatives by the mean.
    """

    omega_bar: Matrix
    mean_bar: Mean

    def __add__(self, other: Slopes) -> Slopes:
        return Slopes(self.omega_bar + other.omega_bar, added(self.mean_bar, other.mean_bar))


@dataclass(frozen=True, eq=False)
class Pull:
    """The second pass, a function of rows (X, y) that gives their `Slopes`.

    Parameters
    ----------
    gp, frequencies
        As in `Sums`.
    weight_mean : Vector, shape (R,)
        The mean w of the weights given all rows.
    precision : Matrix, shape (R, R)
        ``B⁻¹/σ²`` of all rows.
    """

    gp: GP
    frequencies: Frequencies
    weight_mean: Vector
    precision: Matrix

    def __call__(self, X: Matrix, y: Vector) -> Slopes:
        """The slopes of the rows (X, y)."""
        validate_rows(self.gp, self.frequencies, X, y)
        return self._call(X, y)

    def _call(self, X: Matrix, y: Vector) -> Slopes:
        return self._slopes(self.gp.kernel, X, _xp.in_double(residual_of(self.gp, X, y)))

    @threads_for(lambda self, kernel, X, r: self.frequencies.size**2 * X.shape[0])
    def _slopes(self, kernel: Kernel, X: Matrix, r: Vector) -> Slopes:
        xp = array_namespace(X)
        omega_bar = xp.zeros_like(_xp.in_double(self.frequencies.unit))
        alphas = []
        for rows in memory.blocks(X.shape[0], self.frequencies.size):
            part = X[rows, :]
            Phi = _xp.in_double(self.frequencies._features(kernel, part))
            alpha = (r[rows] - Phi @ self.weight_mean) / self.gp.noise_var
            # 2 K_bar Φ with K_bar = ½ (α αᵀ − K_y⁻¹): there Φᵀα is w and K_y⁻¹Φ is Φ B⁻¹/σ², so
            # that no matrix (n, n) is needed
            Phi_bar = alpha[:, None] * self.weight_mean[None, :] - Phi @ self.precision
            P_bar = _xp.in_double(self.frequencies.phase_bar(kernel, part, Phi_bar))
            omega_bar = omega_bar + xp.matrix_transpose(P_bar) @ _xp.in_double(part)
            alphas.append(like_data(alpha, X))
        mean_bar, _ = pulled(differentiable_mean(self.gp), X, xp.concat(alphas))
        return Slopes(omega_bar, mean_bar)


def validate_rows(gp: GP, frequencies: Frequencies, X: Matrix, y: Vector) -> None:
    """Raise for rows that do not go with the process and with the frequencies."""
    validate_data(gp, X, y, columns=frequencies.unit.shape[1])
    frequencies.require_match(gp.kernel, X)
