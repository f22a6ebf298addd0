"""Kernels at an uncertain input: the expectation, second moment and covariance of ``k(X, x)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .. import _check
from .._xp import Array, symmetric_part
from ..kernels import Kernel
from .pairs import Meeting, covariances, meetings, pulled_input, sums
from .parts import Seen, parts_of, pulled_q, seen, stacked_precision
from .points import pulled_points
from .spread import admit_input, admit_points, spread

__all__ = [
    "kernel_covariance",
    "kernel_covariance_and_pullback",
    "kernel_mean",
    "kernel_mean_and_pullback",
    "kernel_outer",
]


def kernel_mean(kernel: Kernel, X: Array, m: Array, S: Array) -> Array:
    """``E k(X, x)`` for ``x ~ N(m, S)``, (n,), at X (n, D).

    ``σ_f² |I + SΛ⁻¹|^−½ exp(−½ (x_i − m)ᵀ (S + Λ)⁻¹ (x_i − m))`` for an RBF kernel with ``Λ = diag
    ℓ²``, :eq:`eq-pi-kernel-mean`; the sum of such for a sum. O(n D²). Raises `TypeError` for other
    kernels, `ValueError` for an S that is no covariance.
    Source: Deisenroth & Rasmussen (2011).

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

    :eq:`eq-pi-kernel-outer`, as `kernel_covariance` and the outer product of both expectations;
    O(n n' D). Raises what `kernel_mean` raises. Source: Deisenroth & Rasmussen (2011).

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> X = np.asarray([[0.0]])
    >>> kernel_outer(RBF(), RBF(), X, X, np.zeros(1), np.asarray([[4.0]])).round(4)
    array([[0.3333]])
    """
    covariance = kernel_covariance(kernel_a, kernel_b, X, Z, m, S)
    left, right = kernel_mean(kernel_a, X, m, S), kernel_mean(kernel_b, Z, m, S)
    return covariance + left[:, None] * right[None, :]


def kernel_covariance(
    kernel_a: Kernel, kernel_b: Kernel, X: Array, Z: Array, m: Array, S: Array
) -> Array:
    """``Cov[k_a(X, x), k_b(Z, x)]`` for ``x ~ N(m, S)``, (n, n'), at X (n, D) and Z (n', D).

    :eq:`eq-pi-kernel-covariance`, without the cancellation of `kernel_outer` less the product of
    the means: small S leave relative errors of rounding only, and S = 0 gives zeros. O(n n' D).
    Raises what `kernel_mean` raises, and `ValueError` for lengthscales too short beside S, as
    `predict` does.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> X = np.asarray([[1.0]])
    >>> found = kernel_covariance(RBF(), RBF(), X, X, np.zeros(1), np.asarray([[1e-30]]))
    >>> round(1e30 * float(found[0, 0]), 12) == round(float(np.exp(-1.0)), 12)
    True
    """
    look = _look(kernel_a, kernel_b, X, Z, m, S)
    return sum(covariances(*look.of(k), look.met, k) for k in range(len(look.pairs)))


def kernel_mean_and_pullback(
    kernel: Kernel, X: Array, m: Array, S: Array
) -> tuple[Array, Callable[[Array], tuple[Array, Array, Array]]]:
    """What `kernel_mean` gives, and ``pull(q_bar) -> (X_bar, m_bar, S_bar)``, the last symmetric.

    Raises what `kernel_mean` raises.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> X = np.asarray([[1.0]])
    >>> q, pull = kernel_mean_and_pullback(RBF(), X, np.zeros(1), np.zeros((1, 1)))
    >>> X_bar, m_bar, S_bar = pull(np.ones(1))
    >>> m_bar.round(4), S_bar.round(4)
    (array([0.6065]), array([[0.]]))
    """
    q, pull = mean_and_pullback(kernel, X, m, _admit(X, m, S))
    return q, lambda q_bar: pull(_check.cotangent(q_bar, "q_bar", q))


def mean_and_pullback(
    kernel: Kernel, X: Array, m: Array, S: Array
) -> tuple[Array, Callable[[Array], tuple[Array, Array, Array]]]:
    """`kernel_mean_and_pullback` of a state that has been checked, for use inside the house.

    Each part q of the kernel has ``∂ log q / ∂xᵢ = −(S + Λ)⁻¹(xᵢ − m)``, and minus that by m.
    Raises `TypeError` for kernels other than RBF and sums of RBF.
    """
    looks = _seen(kernel, X, m, S)

    def pull(q_bar: Array) -> tuple[Array, Array, Array]:
        """The derivatives by X (n, D), m (D,) and S (D, D) from those by the result (n,)."""
        pulled = [pulled_q(one, one.q * q_bar) for one in looks]
        X_bar = -sum((one.q * q_bar)[:, None] * one.g for one in looks)
        S_bar = sum(S_bar for _, S_bar in pulled)
        S_bar = symmetric_part(S_bar)
        return X_bar, sum(m_bar for m_bar, _ in pulled), S_bar

    return sum(one.q for one in looks), pull


def kernel_covariance_and_pullback(
    kernel_a: Kernel, kernel_b: Kernel, X: Array, Z: Array, m: Array, S: Array
) -> tuple[Array, Callable[[Array], tuple[Array, Array, Array, Array]]]:
    """What `kernel_covariance` gives, and ``pull(C_bar) -> (X_bar, Z_bar, m_bar, S_bar)``.

    S_bar is symmetric. Raises what `kernel_mean` raises.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> X, S = np.asarray([[1.0]]), np.zeros((1, 1))
    >>> C, pull = kernel_covariance_and_pullback(RBF(), RBF(), X, X, np.zeros(1), S)
    >>> *_, S_bar = pull(np.ones((1, 1)))
    >>> C, S_bar.round(4)
    (array([[0.]]), array([[0.3679]]))
    """
    look = _look(kernel_a, kernel_b, X, Z, m, S)
    every = range(len(look.pairs))

    def pull(C_bar: Array) -> tuple[Array, Array, Array, Array]:
        """The derivatives by X (n, D), Z (n', D), m (D,), S (D, D) from those by C (n, n')."""
        _check.cotangent(C_bar, "C_bar", C)
        pulled = [_pulled(*look.of(k), look.met, k, C_bar) for k in every]
        return tuple(sum(some) for some in zip(*pulled, strict=True))

    C = sum(covariances(*look.of(k), look.met, k) for k in every)
    return C, pull


def _pulled(one: Seen, other: Seen, met: Meeting, k: int, C_bar: Array) -> tuple[Array, ...]:
    found = sums(one, other, met, k, C_bar)
    first, second = pulled_points(one, other, met, k, found)
    return first.points, second.points, *pulled_input(one, other, met, k, found)


class _Look(NamedTuple):
    """The parts of two kernels at their points, and how each of the first meets the second's."""

    seen: list[Seen]
    pairs: list[tuple[int, int]]
    met: Meeting

    def of(self, k: int) -> tuple[Seen, Seen]:
        """The two parts of the pair in place k."""
        i, j = self.pairs[k]
        return self.seen[i], self.seen[j]


def _look(a: Kernel, b: Kernel, X: Array, Z: Array, m: Array, S: Array) -> _Look:
    S = _admit(X, m, S)
    _check.alike(admit_points(Z, "Z", columns=X.shape[1]), "Z", X, "X")
    first, second = parts_of(a, X, "kernel_a"), parts_of(b, Z, "kernel_b")
    every, split = [*first, *second], len(first)
    precision = stacked_precision(every)
    solved = spread(S, precision)
    points = [X - m] * split + [Z - m] * len(second)
    looks = [seen(part, points[c], solved, c) for c, part in enumerate(every)]
    pairs = [(i, j) for i in range(split) for j in range(split, len(every))]
    return _Look(looks, pairs, meetings(S, precision, solved, pairs))


def _admit(X: Array, m: Array, S: Array) -> Array:
    return admit_input(m, S, admit_points(X, "X"))


def _seen(kernel: Kernel, X: Array, m: Array, S: Array) -> list[Seen]:
    parts = parts_of(kernel, X)
    solved = spread(S, stacked_precision(parts))
    return [seen(part, X - m, solved, k) for k, part in enumerate(parts)]
