"""Kernels averaged over an uncertain input, with the pullback to the points that they look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .._xp import Array, array_namespace
from ..kernels import Kernel
from ..moments.parts import parts_of, pulled_q, seen, stacked_precision
from ..moments.spread import spread

__all__ = ["State", "kernel_mean_and_pullback"]


class State(NamedTuple):
    """An uncertain input ``x ~ N(mean, covariance)``, (D,) and (D, D)."""

    mean: Array
    covariance: Array


Pull = Callable[[Array], tuple[Array, Array, Array]]


def kernel_mean_and_pullback(kernel: Kernel, Z: Array, state: State) -> tuple[Array, Pull]:
    """``E_x k(x, zᵢ)`` for each row of Z (n, D), shape (n,), and its pullback; O(n D² + D³).

    The value is `moments.kernel_mean`, :eq:`eq-pi-kernel-mean`. The pullback carries a cotangent
    (n,) to those of Z, of the mean and of the covariance of x, the last one symmetric. Each part q
    of the kernel has ``∂ log q / ∂z = −(S + Λ)⁻¹(z − m)``, and minus that by m. Nothing is checked
    but the kernel: raises `TypeError` for others than RBF and sums of RBF.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> state = State(np.zeros(1), np.eye(1))
    >>> value, pull = kernel_mean_and_pullback(RBF(), np.asarray([[0.0], [1.0]]), state)
    >>> value.round(4)
    array([0.7071, 0.5507])
    """
    parts = parts_of(kernel, Z)
    solved = spread(state.covariance, stacked_precision(parts))
    looks = [seen(part, Z - state.mean, solved, k) for k, part in enumerate(parts)]

    def pullback(bar: Array) -> tuple[Array, Array, Array]:
        Z_bar, m_bar, S_bar = 0.0 * Z, 0.0 * state.mean, 0.0 * state.covariance
        for one in looks:
            of_log = bar * one.q
            m_bar_of_part, S_bar_of_part = pulled_q(one, of_log)
            Z_bar = Z_bar - of_log[:, None] * one.g
            m_bar, S_bar = m_bar + m_bar_of_part, S_bar + S_bar_of_part
        return Z_bar, m_bar, 0.5 * (S_bar + array_namespace(S_bar).matrix_transpose(S_bar))

    return sum(one.q for one in looks), pullback
