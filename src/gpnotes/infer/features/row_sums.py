"""The passes of regression on features over the rows of data: sums, and then slopes.

Both are worked out for a chunk at a time, here or elsewhere, and add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Rows
from ...ground.late_reads import number
from ...ground.params import added
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector, array_namespace, in_double, zeros
from ...model import means
from ...model.contracts import Mean
from ...model.gaussian_process import GP, differentiable_mean, residual_of, validate_data
from ...model.kernels import Kernel
from ..known_noise import Noise, in_double_of, noise_of_chunk
from ..sufficient_statistics import Statistics, like_data
from .feature_map import FeatureMap

__all__ = ["Pull", "Slopes", "Sums", "validate_rows"]


@dataclass(frozen=True, eq=False)
class Sums:
    """The first pass, a function of rows (X, y) that gives their statistics, here or elsewhere.

    Parameters
    ----------
    gp : GP
        The process.
    frequencies : FeatureMap
        The features.
    noise : Noise, optional
        The noise of the rows, where each has its own.
    """

    gp: GP
    frequencies: FeatureMap
    noise: Noise | None = None

    def __call__(self, X: Matrix, y: Vector) -> Statistics:
        """The statistics of the rows (X, y)."""
        validate_rows(self.gp, self.frequencies, X, y)
        return self._call(X, y)

    def of_chunk(self, rows: Rows) -> Statistics:
        """The statistics of a chunk of rows, each with a noise of its own."""
        validate_rows(self.gp, self.frequencies, rows.X, rows.y)
        known = replace(self, noise=noise_of_chunk(self.gp, rows))
        return known._call(rows.X, rows.y)

    def _call(self, X: Matrix, y: Vector) -> Statistics:
        r = _check.squarable(in_double(residual_of(self.gp, X, y)), "y − m(X)")
        if self.noise is not None:
            return self._each_by_its_own(self.gp.kernel, X, r, self.noise)
        gram, cross = self._gram_and_cross(self.gp.kernel, X, r)
        # one noise for all rows: R² sums are divided by it, not n R features
        noise_var = self.gp.noise_var
        squares = number(array_namespace(r).sum(r * r))
        log_noise = X.shape[0] * math.log(noise_var)
        return Statistics(
            X.shape[0], gram / noise_var, cross / noise_var, squares / noise_var, log_noise
        )

    @threads_for(lambda self, kernel, X, r, noise: self.frequencies.size**2 * X.shape[0])
    def _each_by_its_own(self, kernel: Kernel, X: Matrix, r: Vector, noise: Noise) -> Statistics:
        xp = array_namespace(r)
        noise_var = in_double_of(noise).variance + xp.zeros_like(r)
        gram, cross = self.frequencies.weighted_gram_and_cross(kernel, X, r, noise_var)
        squares, log_noise = xp.sum(r * r / noise_var), xp.sum(xp.log(noise_var))
        return Statistics(X.shape[0], gram, cross, number(squares), number(log_noise))

    @threads_for(lambda self, kernel, X, r: self.frequencies.size**2 * X.shape[0])
    def _gram_and_cross(self, kernel: Kernel, X: Matrix, r: Vector) -> tuple[Matrix, Vector]:
        return self.frequencies.gram_and_cross(kernel, X, r)


@dataclass(frozen=True, eq=False)
class Slopes:
    """The parts of the gradient that some rows bring; those of two sets of rows add.

    Parameters
    ----------
    omega_bar : Matrix, shape (R, d)
        The derivatives by the frequencies ω.
    mean_bar : Mean
        The derivatives by the mean.
    noise_bar : float, default 0.0
        The derivative by σ² of rows that each have a noise of their own; for others `regression`
        knows it from the sums.
    """

    omega_bar: Matrix
    mean_bar: Mean
    noise_bar: float = 0.0

    def __add__(self, other: Slopes) -> Slopes:
        return Slopes(
            self.omega_bar + other.omega_bar,
            added(self.mean_bar, other.mean_bar),
            self.noise_bar + other.noise_bar,
        )


@dataclass(frozen=True, eq=False)
class Pull:
    """The second pass, a function of rows (X, y) that gives their `Slopes`.

    Parameters
    ----------
    gp, frequencies, noise
        As in `Sums`.
    weight_mean : Vector, shape (R,)
        The mean w of the weights given all rows.
    spread : Matrix, shape (R, R)
        ``B⁻¹`` of all rows, their covariance.
    """

    gp: GP
    frequencies: FeatureMap
    weight_mean: Vector
    spread: Matrix
    noise: Noise | None = None

    def __call__(self, X: Matrix, y: Vector) -> Slopes:
        """The slopes of the rows (X, y)."""
        validate_rows(self.gp, self.frequencies, X, y)
        return self._call(X, y)

    def of_chunk(self, rows: Rows) -> Slopes:
        """The slopes of a chunk of rows, each with a noise of its own."""
        validate_rows(self.gp, self.frequencies, rows.X, rows.y)
        known = replace(self, noise=noise_of_chunk(self.gp, rows))
        return known._call(rows.X, rows.y)

    def _call(self, X: Matrix, y: Vector) -> Slopes:
        return self._slopes(self.gp.kernel, X, in_double(residual_of(self.gp, X, y)))

    @threads_for(lambda self, kernel, X, r: self.frequencies.size**2 * X.shape[0])
    def _slopes(self, kernel: Kernel, X: Matrix, r: Vector) -> Slopes:
        omega_bar, alphas, noise_bar = zeros(self.frequencies.like.shape, r), [], 0.0
        own = None if self.noise is None else in_double_of(self.noise)
        for rows in memory.blocks(X.shape[0], self.frequencies.size, like=X):
            some = Noise(self.gp.noise_var) if own is None else own.of(rows)
            turned, alpha, by_noise = self._rows(kernel, X[rows, :], r[rows], some)
            omega_bar, noise_bar = omega_bar + turned, noise_bar + by_noise
            alphas.append(like_data(alpha, X))
        mean = means.with_hooks(differentiable_mean(self.gp))
        mean_bar, _ = mean._pullback(X, array_namespace(X).concat(alphas))
        return Slopes(omega_bar, mean_bar, noise_bar)

    def _rows(
        self, kernel: Kernel, X: Matrix, r: Vector, noise: Noise
    ) -> tuple[Matrix, Vector, float]:
        xp, (noise_var, share) = array_namespace(r), noise
        Phi = in_double(self.frequencies._features(kernel, X))
        alpha, by_noise = (r - Phi @ self.weight_mean) / noise_var, 0.0
        scales = noise_var + xp.zeros_like(r)

        def Phi_bar() -> Matrix:
            # 2 K_bar Φ with K_bar = ½ (α αᵀ − K_y⁻¹): there Φᵀα is w and K_y⁻¹Φ is Λ⁻¹Φ B⁻¹, so
            # that no matrix (n, n) is needed
            outer = alpha[:, None] * self.weight_mean[None, :]
            return outer - (Phi / scales[:, None]) @ self.spread

        if self.noise is not None:  # λ_bar = ½ (α² − diag K_y⁻¹)
            # Woodbury: diag K_y⁻¹ is (1 − diag(Φ B⁻¹ Φᵀ)/λ)/λ, and takes no matrix (n, n)
            explained = xp.sum((Phi @ self.spread) * Phi, axis=1)
            lambda_bar = 0.5 * (alpha * alpha - (1.0 - explained / scales) / scales)
            by_noise = number(xp.sum(share * lambda_bar))
        return self.frequencies.omega_bar(kernel, X, Phi_bar), alpha, by_noise


def validate_rows(gp: GP, frequencies: FeatureMap, X: Matrix, y: Vector) -> None:
    """Raise for rows that do not go with the process and with the frequencies."""
    validate_data(gp, X, y, columns=frequencies.like.shape[1])
    frequencies.require_match(gp.kernel, X)
