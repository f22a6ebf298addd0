"""What sparse regression does with rows of data: sums, and then slopes.

Both are worked out for a chunk at a time, here or elsewhere, and add up.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import _check, _xp
from .._xp import Array, Matrix, Vector, array_namespace
from ..contracts import Mean
from ..kernels import Kernel
from ..params import added
from ..process import GP, admit_data, differentiable_mean, residual_of
from ..sufficient import Statistics
from .inducing import Inducing
from .methods import Method

__all__ = ["Pull", "Slopes", "Sums"]


@dataclass(frozen=True, eq=False)
class Sums:
    """The statistics of some rows, with ``Φ = Vᵀ`` and the noise of the method."""

    gp: GP
    Z: Matrix
    inducing: Inducing
    method: Method

    def __call__(self, X: Matrix, y: Vector) -> Statistics:
        r = _admitted_residual(self.gp, self.Z, X, y)
        parts = [self._rows(_xp.in_double(X[rows, :]), r[rows]) for rows in self._blocks(X)]
        return sum(parts[1:], start=parts[0])

    def _blocks(self, X: Matrix) -> list[slice]:
        return list(self.inducing.blocks(X.shape[0]))

    def _rows(self, X: Matrix, r: Vector) -> Statistics:
        xp = array_namespace(X)
        V, gap = self.inducing.whiten(X)
        noise_var = self.gp.noise_var
        noise = self.method.noise(gap, noise_var)
        weighted = V / noise[None, :]
        return Statistics(
            X.shape[0],
            weighted @ xp.matrix_transpose(V),
            weighted @ r,
            float(xp.sum(r * r / noise)),
            float(xp.sum(xp.log(noise))),
            float(xp.sum(gap)),
            self.method.correction(gap, noise_var),
        )


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives that some rows bring: by kernel and Z, by σ² and the mean; and ``V_bar Vᵀ``."""

    kernel_bar: Kernel
    Z_bar: Matrix
    moved: Matrix
    noise_bar: float
    mean_bar: Mean

    def __add__(self, other: Slopes) -> Slopes:
        return Slopes(
            added(self.kernel_bar, other.kernel_bar),
            self.Z_bar + other.Z_bar,
            self.moved + other.moved,
            self.noise_bar + other.noise_bar,
            added(self.mean_bar, other.mean_bar),
        )


@dataclass(frozen=True, eq=False)
class Pull:
    """The second pass: `Slopes` of some rows, given what all of them say.

    `weight_mean` is w of ``α = (r − Vᵀw) / λ``, `precision` is B⁻¹. Of the upper bound, whose
    quadratic form has the noise ``τ = σ² + Σ g``, `quadratic_noise` is τ, `gap_bar` its derivative,
    and w is that of τ.
    """

    gp: GP
    Z: Matrix
    inducing: Inducing
    method: Method
    weight_mean: Vector
    precision: Matrix
    quadratic_noise: float = 0.0
    gap_bar: float = 0.0

    def __call__(self, X: Matrix, y: Vector) -> Slopes:
        r = _admitted_residual(self.gp, self.Z, X, y)
        total: Slopes | None = None
        for rows in self.inducing.blocks(X.shape[0]):
            part = self._rows(X[rows, :], r[rows])
            total = part if total is None else total + part
        assert total is not None
        return total

    def _rows(self, rows: Matrix, r: Vector) -> Slopes:
        """With ``V_bar = w αᵀ − B⁻¹ V Λ⁻¹ − 2 V diag(g_bar)``, for V's share of Q and of the gaps.

        Q depends on K_uu and K_uf alone: ``K_uf_bar = L_u⁻ᵀ V_bar``, and by K_uu what is left to
        the end, ``−½ L_u⁻ᵀ (V_bar Vᵀ) L_u⁻¹``.
        """
        X = _xp.in_double(rows)
        xp = array_namespace(X)
        V, gap = self.inducing.whiten(X)
        error = r - xp.matrix_transpose(V) @ self.weight_mean
        noise = self.method.noise(gap, self.gp.noise_var)
        solved = self.precision @ V
        alpha, gap_bar, noise_bar = self._row_bars(error, noise, gap, xp.sum(V * solved, axis=0))
        V_bar = self.weight_mean[:, None] * alpha[None, :] - solved / noise[None, :]
        V_bar = V_bar - 2.0 * V * gap_bar[None, :]
        K_bar = _xp.solve_triangular(self.inducing.factor.lower, V_bar, transpose=True)
        kernel = self.inducing.kernel
        kernel_bar, Z_bar, _ = kernel._pull(self.inducing.Z, X, K_bar)
        diag_bar, _ = kernel._pull_diag(X, gap_bar)
        mean_bar, _ = differentiable_mean(self.gp).pullback(rows, xp.astype(alpha, rows.dtype))
        moved = V_bar @ xp.matrix_transpose(V)
        return Slopes(added(kernel_bar, diag_bar), Z_bar, moved, noise_bar, mean_bar)

    def _row_bars(
        self, error: Vector, noise: Vector, gap: Vector, solved: Vector
    ) -> tuple[Vector, Vector, float]:
        """α, the derivatives by the gaps, and by σ²; those of the upper bound by σ² come later."""
        xp = array_namespace(error)
        if self.method.upper:
            return error / self.quadratic_noise, xp.full_like(gap, self.gap_bar), 0.0
        alpha = error / noise
        # λ_bar = ½ (α² − diag (Q + Λ)⁻¹)
        lambda_bar = 0.5 * (alpha * alpha - (1.0 - solved / noise) / noise)
        gap_bar, by_noise = self.method.correction_bars(gap, self.gp.noise_var)
        noise_bar = float(xp.sum(lambda_bar)) + by_noise
        return alpha, gap_bar + self.method.share * lambda_bar, noise_bar


def _admitted_residual(gp: GP, Z: Matrix, X: Matrix, y: Array) -> Vector:
    """The residual of rows that go with the process and with Z, in float64."""
    admit_data(gp, X, y)
    _check.matrix(X, "X", columns=Z.shape[1])
    _check.alike(X, "X", Z, "Z")
    return _xp.in_double(residual_of(gp, X, y))
