"""Predictions of f with their derivatives by the inputs, of an exact posterior.

With ``k = K_f*`` (n, n*), one column for each input x*, the mean is ``m(x*) + kᵀ α`` and the
variance ``k(x*, x*) − kᵀ K_y⁻¹ k``. Derivatives `mean_bar` and `variance_bar` (n*,) go back to k by

    K_bar = α mean_barᵀ − 2 K_y⁻¹ k diag(variance_bar),

and the kernel's own pullback takes them to the inputs; those by the variance also go through
``k(x*, x*)``, those by the mean through the mean function. No
matrix of derivatives is formed, and all inputs are done at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np

from ..fast import point_predictions
from ..fast.stationary_evidence import InPlaceKernel
from ..ground.linalg import Cholesky
from ..ground.threads import threads_for
from ..ground.xp import Matrix, Vector, array_namespace, as_host, solve_triangular
from ..model.gaussian_process import GP, differentiable_mean
from ..model.means import with_hooks

__all__ = ["Conditioned", "Pullback", "pulled_back"]


class Conditioned(Protocol):
    """The parts of an exact posterior that gradients by inputs use."""

    @property
    def gp(self) -> GP:
        """The process."""
        ...

    @property
    def X(self) -> Matrix:
        """The inputs (n, d)."""
        ...

    @property
    def cholesky(self) -> Cholesky:
        """The factor of ``K_y``."""
        ...

    @property
    def alpha(self) -> Vector:
        """``K_y⁻¹ (y − m(X))``, (n,)."""
        ...


Pullback: TypeAlias = Callable[[Vector, Vector], Matrix]


@threads_for(lambda posterior, Xs: posterior.X.shape[0] ** 2 * Xs.shape[0])
def pulled_back(posterior: Conditioned, Xs: Matrix) -> tuple[Vector, Vector, Pullback]:
    """Predict f at inputs (n*, d), and the way back to derivatives by them; nothing is checked."""
    xp = array_namespace(Xs)
    gp, lower = posterior.gp, posterior.cholesky.lower
    if point_predictions.supports(gp.kernel, Xs):
        return _in_place(posterior, gp.kernel, Xs)
    cross = gp.kernel._gram(posterior.X, Xs)
    half = solve_triangular(lower, cross)
    mean = with_hooks(gp.mean)._call(Xs) + xp.matrix_transpose(cross) @ posterior.alpha
    left = gp.kernel._diag(Xs) - xp.sum(half * half, axis=0)
    # K_y⁻¹ k by one more half-solve, here and not in `pull`, which may be asked several times
    weights = solve_triangular(lower, half, transpose=True)

    def pull(mean_bar: Vector, variance_bar: Vector) -> Matrix:
        K_bar = posterior.alpha[:, None] * mean_bar[None, :]
        K_bar = K_bar - 2.0 * weights * variance_bar[None, :]
        # the third: K(X, Xs) depends on Xs by its columns, and X stays
        _, _, by_cross = gp.kernel._pullback(posterior.X, Xs, K_bar)
        _, by_diag = gp.kernel._diag_pullback(Xs, variance_bar)
        _, by_mean = differentiable_mean(gp).pullback(Xs, mean_bar)
        return by_cross + by_diag + by_mean

    return mean, xp.clip(left, 0.0, None), pull


def _in_place(
    posterior: Conditioned, kernel: InPlaceKernel, Xs: Matrix
) -> tuple[Vector, Vector, Pullback]:
    """The same for NumPy arrays and a kernel of distances, whose variance is the same all over."""
    mean = with_hooks(posterior.gp.mean)
    known = posterior.X, Xs, posterior.cholesky.lower, posterior.alpha
    added, left, pull_kernel = point_predictions.predict_and_pullback(kernel, *known)

    def pull(mean_bar: Vector, variance_bar: Vector) -> Matrix:
        _, by_mean = mean._pullback(Xs, mean_bar)
        return pull_kernel(as_host(mean_bar), as_host(variance_bar)) + by_mean

    return mean._call(Xs) + added, np.maximum(left, 0.0), pull
