"""What an input's covariance S does to RBF kernels: the small (D, D) algebra, in batches.

A row of `precision` (B, D) is the diagonal of some D. With ``D^½ S D^½ = U w Uᵀ`` everything that
is needed is a function of w that is accurate for every ``w ≥ 0``, zero and tiny included:

    T = S (I + DS)⁻¹ = D^−½ U w/(1+w) Uᵀ D^−½,   H = (I + DS)⁻¹ = D^½ U 1/(1+w) Uᵀ D^−½.

S is never inverted, so it may be singular; ``dT = Hᵀ dS H`` holds there too.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import _check, _xp
from .._xp import Array, array_namespace, device

__all__ = [
    "Spread",
    "admit_input",
    "admit_points",
    "log_gap",
    "require_digits",
    "rows",
    "spread",
]

_SMALL = 0.1  # eigenvalues up to which logarithms are taken without their linear terms
_LOST = 0.01  # the most by which rounding may change an exponent


class Spread(NamedTuple):
    """``T = S (I + DS)⁻¹`` and ``H = (I + DS)⁻¹``, (B, D, D), and the eigenvalues w, (B, D)."""

    T: Array
    H: Array
    w: Array


def spread(S: Array, precision: Array) -> Spread:
    """The algebra of S (D, D) with each row of `precision` (B, D).

    Eigenvalues that rounding took below zero are zero.
    """
    xp = array_namespace(S)
    root = xp.sqrt(precision)
    w, U = xp.linalg.eigh(root[:, :, None] * S[None, :, :] * root[:, None, :])
    w = xp.maximum(w, xp.zeros_like(w))
    right = xp.matrix_transpose(U / root[:, :, None])
    kept = (1.0 / (1.0 + w))[:, None, :]
    T = xp.matrix_transpose(right) * (w[:, None, :] * kept) @ right
    return Spread(T, (U * root[:, :, None] * kept) @ right, w)


def log_gap(joint: Array, alone: Array, first: list[int], second: list[int]) -> Array:
    """``log |I + S(A + B)| − log |I + SA| − log |I + SB|``, (P,), for P pairs of precisions A, B.

    From the eigenvalues of each pair, `joint` (P, D), and those of each precision, `alone` (C, D);
    `first` and `second` say which of these a pair has. The traces of the first term and of the
    other two are equal, so that for small eigenvalues what is left is of second order in S: there
    each logarithm is taken without its linear term.
    """
    xp = array_namespace(joint)
    small = xp.max(joint, axis=-1) < _SMALL
    if bool(xp.all(small)):
        return _gap(_sum_bent(joint), _sum_bent(alone), first, second)
    total = _gap(_sum_log1p(joint), _sum_log1p(alone), first, second)
    if not bool(xp.any(small)):
        return total
    return xp.where(small, _gap(_sum_bent(joint), _sum_bent(alone), first, second), total)


def _gap(joint: Array, alone: Array, first: list[int], second: list[int]) -> Array:
    return joint - rows(alone, first) - rows(alone, second)


def rows(a: Array, where: list[int]) -> Array:
    """Those entries of the first axis, in that order."""
    xp = array_namespace(a)
    return xp.take(a, xp.asarray(where, device=device(a)), axis=0)


def _sum_log1p(w: Array) -> Array:
    xp = array_namespace(w)
    return xp.sum(xp.log1p(w), axis=-1)


def _sum_bent(w: Array) -> Array:
    """The sum of ``log(1 + w) − w`` for ``0 ≤ w ≤ 0.1``, without cancellation.

    With ``y = w/(2 + w)``: ``log(1 + w) = 2 atanh y`` and ``2y − w = −w y``.
    """
    y = w / (2.0 + w)
    square, series = y * y, 0.0
    for power in (13, 11, 9, 7, 5, 3):
        series = 1.0 / power + square * series
    return array_namespace(w).sum(y * (2.0 * square * series - w), axis=-1)


def admit_input(m: Array, S: Array, like: Array, name: str = "S", *, mean: str = "m") -> Array:
    """S made symmetric, if ``N(m, S)`` is a normal distribution over rows of `like` (n, D)."""
    D = like.shape[1]
    _check.alike(_check.vector(m, mean, size=D), mean, like, "X")
    _check.alike(_check.matrix(S, name, rows=D, columns=D), name, m, mean)
    _check.squarable(m, mean)
    return _check.semidefinite(_check.squarable(S, name), name)


def admit_points(X: Array, name: str, columns: int | None = None) -> Array:
    """`X` (n, D) if it is a matrix of inputs with at least one row."""
    if _check.matrix(X, name, columns=columns).shape[0] == 0:
        raise ValueError(f"{name} must have at least one row; got {X.shape}")
    return _check.squarable(X, name)


def require_digits(squares: Array, q: Array) -> None:
    """Refuse exponents of which rounding leaves too little, at points (..., n) that count.

    Those `squares` cancel in Δ where S is wide beside the lengthscale; q says how much a point
    counts.
    """
    xp = array_namespace(q)
    weight = float(xp.max(q))
    lost = _xp.epsilon(q) * float(xp.max(xp.abs(squares) * q))
    if lost > _LOST * weight:
        raise ValueError(
            f"a kernel has too short a lengthscale beside S for {q.dtype}: exponents would be off "
            f"by {lost / weight:.1g}"
        )
