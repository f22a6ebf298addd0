"""Predictions of a process of distances at a few places, with the way back to the places.

An ascent calls this at every step. It takes the kernel's values and slopes in one pass, and
no derivatives by hyperparameters, which an ascent does not need.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

import numpy as np

from ..ground.xp import HostMatrix, HostVector, Matrix, Vector, as_host, blas
from . import stationary_evidence
from .stationary_evidence import AnyKernel, HostPairs, InPlaceKernel, across, scaled_pair

__all__ = ["predict_and_pullback", "supports"]

Pull = Callable[[HostVector, HostVector], HostMatrix]


def supports(kernel: AnyKernel, Xs: Matrix) -> TypeGuard[InPlaceKernel]:
    """Return True for a kernel and places that this module takes: in float64 alone."""
    return stationary_evidence.supports(kernel, Xs) and Xs.dtype == np.float64


def predict_and_pullback(
    kernel: InPlaceKernel, X: Matrix, Xs: Matrix, lower: Matrix, alpha: Vector
) -> tuple[HostVector, HostVector, Pull]:
    """``K_*f α`` and the diagonal of ``K_** − K_*f K_y⁻¹ K_f*``, (m,) each, and the way back.

    With ``K_bar = α mean_barᵀ − 2 K_y⁻¹ K_f* diag(variance_bar)`` and ``W = K_bar ∘ ∂k/∂q`` the
    derivative by a place is ``2 Σᵢ Wᵢⱼ (v_j − u_i) / ℓ`` in units of the lengthscale ℓ. O(n² m).
    """
    u, v = scaled_pair(kernel, X, Xs)
    slope, pairs = np.empty((u.shape[0], v.shape[0]), order="F"), HostPairs(v, u)
    K = across(kernel, pairs, slope)
    mean = blas("gemv", X.dtype)(1.0, K, alpha, trans=1)
    half = blas("trsm", X.dtype)(1.0, lower, K, lower=1, overwrite_b=1)
    variance = kernel.variance - np.einsum("ji,ji->j", half.T, half.T)

    weights = blas("trsm", X.dtype)(-2.0, lower, half, lower=1, trans_a=1, overwrite_b=1)

    def pull(mean_bar: HostVector, variance_bar: HostVector) -> HostMatrix:
        W = weights * variance_bar
        W += np.outer(as_host(alpha), mean_bar)
        W *= slope
        return as_host(pairs.side(W.T)) / kernel.lengthscale

    return mean, variance, pull
