"""Kernels at an uncertain input: the expectation, second moment and covariance of ``k(X, x)``."""

from __future__ import annotations

from .. import _check
from .._xp import Array
from ..kernels import Kernel
from .pairs import covariances, meetings
from .parts import Seen, parts_of, seen, stacked_precision
from .spread import admit_input, spread

__all__ = ["kernel_covariance", "kernel_mean", "kernel_outer"]


def kernel_mean(kernel: Kernel, X: Array, m: Array, S: Array) -> Array:
    """``E k(X, x)`` for ``x ~ N(m, S)``, (n,), at X (n, D).

    ``σ_f² |I + SΛ⁻¹|^−½ exp(−½ (x_i − m)ᵀ (S + Λ)⁻¹ (x_i − m))`` for an RBF kernel with ``Λ = diag
    ℓ²``, the sum of such for a sum. O(n D²). Raises `TypeError` for other kernels, `ValueError` for
    an S that is no covariance.
    Source: Deisenroth & Rasmussen (2011), section 2.2.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> kernel_mean(RBF(), np.asarray([[0.0]]), np.zeros(1), np.asarray([[3.0]]))
    array([0.5])
    """
    S = _admit(X, m, S)
    return sum(one.q for one in _seen(kernel, X, m, S))


def kernel_outer(
    kernel_a: Kernel, kernel_b: Kernel, X: Array, Z: Array, m: Array, S: Array
) -> Array:
    """``E k_a(X, x) k_b(x, Z)`` for ``x ~ N(m, S)``, (n, n'), at X (n, D) and Z (n', D).

    It is `kernel_covariance` and the outer product of both expectations; O(n n' D). Raises what
    `kernel_mean` raises.
    """
    covariance = kernel_covariance(kernel_a, kernel_b, X, Z, m, S)
    left, right = kernel_mean(kernel_a, X, m, S), kernel_mean(kernel_b, Z, m, S)
    return covariance + left[:, None] * right[None, :]


def kernel_covariance(
    kernel_a: Kernel, kernel_b: Kernel, X: Array, Z: Array, m: Array, S: Array
) -> Array:
    """``Cov[k_a(X, x), k_b(Z, x)]`` for ``x ~ N(m, S)``, (n, n'), at X (n, D) and Z (n', D).

    Without the cancellation of `kernel_outer` less the product of the means: small S leave relative
    errors of rounding only, and S = 0 gives zeros. O(n n' D). Raises what `kernel_mean` raises.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> X = np.asarray([[1.0]])
    >>> found = kernel_covariance(RBF(), RBF(), X, X, np.zeros(1), np.asarray([[1e-30]]))
    >>> round(1e30 * float(found[0, 0]), 12) == round(float(np.exp(-1.0)), 12)
    True
    """
    S = _admit(X, m, S)
    _check.alike(_check.matrix(Z, "Z", columns=X.shape[1]), "Z", X, "X")
    parts = parts_of(kernel_a, X), parts_of(kernel_b, Z)
    every = [*parts[0], *parts[1]]
    precision = stacked_precision(every)
    solved, split = spread(S, precision), len(parts[0])
    points = [(X if c < split else Z) - m for c in range(len(every))]
    looks = [seen(part, points[c], solved, c) for c, part in enumerate(every)]
    pairs = [(i, j) for i in range(split) for j in range(split, len(every))]
    met = meetings(S, precision, solved, pairs)
    return sum(covariances(looks[i], looks[j], met, k) for k, (i, j) in enumerate(pairs))


def _admit(X: Array, m: Array, S: Array) -> Array:
    return admit_input(m, S, _check.matrix(X, "X"))


def _seen(kernel: Kernel, X: Array, m: Array, S: Array) -> list[Seen]:
    parts = parts_of(kernel, X)
    solved = spread(S, stacked_precision(parts))
    return [seen(part, X - m, solved, k) for k, part in enumerate(parts)]
