"""Regression on whitened features from sums over the rows of the data.

With ``y = m(X) + Φ w + ε``, ``w ~ N(0, I)`` and ``εᵢ ~ N(0, λᵢ)`` all that is asked of the data are
sums over rows: `Statistics`. The matrix ``B = I + ΦᵀΛ⁻¹Φ`` that they lead to has no eigenvalue
below one, so that it is factored without jitter. Random features bring their Φ, inducing points
``K_fu L_u⁻ᵀ``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..ground.late_reads import number
from ..ground.linalg import Cholesky, _cholesky, warn_of_jitter, warn_of_loss
from ..ground.params import left_open
from ..ground.threads import threads_for
from ..ground.xp import (
    LOG_2PI,
    Array,
    Matrix,
    Vector,
    array_namespace,
    diagonal,
    epsilon,
    eye,
    symmetric_part,
)
from ..model.gaussian_process import GP

__all__ = ["Statistics", "positive_noise"]

_NAME = "I + ΦᵀΛ⁻¹Φ"


@dataclass(frozen=True, eq=False)
class Statistics:
    """The sums over n rows that regression on R features needs; those of two sets of rows add.

    Parameters
    ----------
    count : int
        The number of rows n.
    gram : Matrix, shape (R, R)
        ``ΦᵀΛ⁻¹Φ``.
    cross : Vector, shape (R,)
        ``ΦᵀΛ⁻¹r`` with the residual ``r = y − m(X)``.
    squares : float
        ``rᵀΛ⁻¹r``.
    log_noise : float
        ``Σ log λᵢ``.
    gap : float, default 0.0
        The prior variance that the features lack, ``Σ (k(xᵢ, xᵢ) − |φᵢ|²)``; each by its λᵢ, where
        rows have a noise of their own.
    correction : float, default 0.0
        The term that a bound adds to the evidence.

    Notes
    -----
    The arrays are in float64 where their device has it, whatever the data are in: the gram matrix
    of many rows is too ill-conditioned for float32. O(R²) memory, whatever n is.

    Examples
    --------
    >>> import numpy as np
    >>> one = Statistics(1, np.ones((1, 1)), np.ones(1), 1.0, 0.0)
    >>> (one + one).count, round((one + one).log_evidence, 4)
    (2, -2.7205)
    """

    count: int
    gram: Matrix
    cross: Vector
    squares: float
    log_noise: float
    gap: float = 0.0
    correction: float = 0.0

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.count + other.count,
            self.gram + other.gram,
            self.cross + other.cross,
            self.squares + other.squares,
            self.log_noise + other.log_noise,
            self.gap + other.gap,
            self.correction + other.correction,
        )

    @cached_property
    @threads_for(lambda self: self.gram.shape[0] ** 3)
    def factor(self) -> Cholesky:
        """The factor L of ``B = I + ΦᵀΛ⁻¹Φ``; O(R³)."""
        # sums over blocks are symmetric but for rounding, and the factor reads one triangle alone
        B = symmetric_part(self.gram) + eye(self.gram.shape[0], self.gram)
        return _cholesky(B, name=_NAME)

    def warned(self, told: bool = False) -> Statistics:
        """These statistics, with a warning if the factor took jitter, or lost most digits.

        A fit, which meets many, needs none; nor does who is `told` of jitter before.
        """
        warn_of_jitter(self.factor.jitter, _NAME)
        if told or self.factor.jitter:
            return self
        xp = array_namespace(self.gram)
        norm = xp.max(xp.sum(xp.abs(self.gram), axis=0))
        parts = xp.sum(diagonal(self.gram)), self.squares
        warn_of_loss(norm, epsilon(self.gram), parts)
        return self

    @cached_property
    def half(self) -> Vector:
        """``c = L⁻¹ ΦᵀΛ⁻¹r``, (R,)."""
        return self.factor._half_solve(self.cross)

    @cached_property
    def weight_mean(self) -> Vector:
        """The mean of the weights given the data, ``B⁻¹ ΦᵀΛ⁻¹r``, (R,)."""
        return self.factor._half_solve_t(self.half)

    @property
    def fit(self) -> float:
        """``rᵀ(ΦΦᵀ + Λ)⁻¹r = rᵀΛ⁻¹r − cᵀc``."""
        # Woodbury: (ΦΦᵀ + Λ)⁻¹ = Λ⁻¹ − Λ⁻¹Φ B⁻¹ ΦᵀΛ⁻¹, with B = L Lᵀ
        return self.squares - number(array_namespace(self.half).sum(self.half * self.half))

    @property
    def log_evidence(self) -> float:
        """``−½ (n log 2π + log |Λ| + log |B| + rᵀ(ΦΦᵀ + Λ)⁻¹r)``, and the correction."""
        spread = self.count * LOG_2PI + self.log_noise + self.factor.log_det
        return self.correction - 0.5 * (spread + self.fit)

    def scaled(self, factor: float) -> Statistics:
        """The statistics of the same rows under noise ``1/factor`` times as large.

        Parameters
        ----------
        factor : float
            The factor that `gram`, `cross` and `squares` take.

        Returns
        -------
        Statistics
            The scaled sums; `log_noise`, `gap` and `correction` are left as they are.
        """
        return Statistics(
            self.count,
            factor * self.gram,
            factor * self.cross,
            factor * self.squares,
            self.log_noise,
            self.gap,
            self.correction,
        )

    def squared_alpha(self, noise_var: float) -> float:
        """``|(ΦΦᵀ + σ²I)⁻¹ r|²``, the size of the residual of r after the features.

        Parameters
        ----------
        noise_var : float
            σ², which every λᵢ must be.
        """
        xp = array_namespace(self.cross)
        w = self.weight_mean
        # α is (r − Φw)/σ², and |r − Φw|²/σ² a difference of sums that rounding may take below zero
        left = self.squares - 2.0 * number(xp.sum(w * self.cross))
        left += number(xp.sum(w * (self.gram @ w)))
        least = max(0.0, left) if isinstance(left, float) else xp.clip(left, 0.0, None)
        return least / noise_var


def positive_noise(gp: GP) -> float:
    """The noise variance of a process, which must be positive.

    Features alone explain no y exactly.
    """
    if gp.noise_var == 0.0 and "noise_var" not in left_open(gp):
        raise ValueError("gp.noise_var must be positive for features or inducing points; got 0.0")
    return gp.noise_var


def like_data(a: Array, X: Array) -> Array:
    """`a`, worked out in float64, in the precision of the data."""
    return array_namespace(a).astype(a, X.dtype, copy=False)
