"""K_y factored, and inverted, where it stands.

K is a NumPy array (n, n) in Fortran order, of which the lower triangle is read and written.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ground import xp as _xp
from ..ground.params import Parameters
from ..ground.xp import LOG_2PI, HostMatrix, HostVector, Vector

__all__ = ["Evidence", "Solved", "cholesky", "diagonal", "solved"]


class Evidence(NamedTuple):
    """``log p(y)``, its derivatives by kernel and noise, and ``α = K_y⁻¹ residual``."""

    value: float
    kernel_bar: Parameters
    noise_var_bar: float
    alpha: HostVector


class Solved(NamedTuple):
    """``log p(y)``, its derivative by σ_n², α, the lower triangle of K_y⁻¹."""

    value: float
    noise_var_bar: float
    alpha: HostVector
    inverse: HostMatrix


def solved(K: HostMatrix, noise_var: float, residual: Vector) -> Solved | None:
    """What ``K_y = K + σ_n² I`` says of the residual, or None where it needs jitter; O(n³).

    K is given up: its place is that of the factor, and then of the inverse.
    """
    r = _xp.as_host(residual)
    lower = cholesky(K, noise_var, clean=0)
    if lower is None:
        return None
    log_det = 2.0 * float(np.sum(np.log(diagonal(lower))))
    alpha, _ = _xp.lapack("potrs", K)(lower, r, lower=1)
    inverse, _ = _xp.lapack("potri", K)(lower, lower=1, overwrite_c=1)
    value = -0.5 * (_dot(r, alpha) + log_det + r.shape[0] * LOG_2PI)
    noise_var_bar = 0.5 * (_dot(alpha, alpha) - float(np.sum(diagonal(inverse))))
    return Solved(value, noise_var_bar, alpha, inverse)


def cholesky(K: HostMatrix, noise_var: float, *, clean: int) -> HostMatrix | None:
    """The factor of ``K + σ_n² I`` in the place of K; `clean` clears the upper triangle."""
    on_diagonal = diagonal(K)
    on_diagonal += noise_var
    lower, failed = _xp.lapack("potrf", K)(K, lower=1, clean=clean, overwrite_a=1)
    return None if failed else lower


def diagonal(K: HostMatrix) -> HostVector:
    """The diagonal as a view that can be written to."""
    return np.einsum("ii->i", K)


def _dot(a: HostVector, b: HostVector) -> float:
    return float(np.sum(a * b))
