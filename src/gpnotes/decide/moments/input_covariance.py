"""The effect of an input's covariance S on RBF kernels: the small (D, D) algebra, in batches.

A row of `precision` (B, D) is the diagonal of some Λ⁻¹. With ``Λ^−½ S Λ^−½ = U w Uᵀ`` everything
that is needed is a function of w that is accurate for every ``w ≥ 0``, zero and tiny included:

    N = (S + Λ)⁻¹ = Λ^−½ U 1/(1+w) Uᵀ Λ^−½,   T = S (I + Λ⁻¹S)⁻¹ = Λ^½ U w/(1+w) Uᵀ Λ^½.

S is never inverted, so it may be singular; with ``H = NΛ`` there ``dT = Hᵀ dS H`` holds too.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ground import check as _check
from ...ground.xp import Array, Matrix, Namespace, Stack, Vector, array_namespace, epsilon, eye

__all__ = [
    "DampedCovariance",
    "Scales",
    "damped_covariance",
    "log_gap",
    "require_digits",
    "scales",
    "validate_beside",
    "validate_input",
    "validate_points",
]

_SMALL = 0.1  # eigenvalues up to which logarithms are taken without their linear terms
_LOST = 0.01  # the most by which rounding may change an exponent
_NEVER_LOST = 8e4  # what cancels in exponents that float32 has to that accuracy


class Scales(NamedTuple):
    """Precisions (B, D), the products of their roots, (B, D, D), and D ones."""

    precision: Matrix
    product: Stack
    ones: Vector


def scales(precision: Matrix) -> Scales:
    """Collect all that S does not enter. The root's square is the precision, to its last digit."""
    xp = array_namespace(precision)
    root = xp.sqrt(precision)
    diagonal = eye(precision.shape[1], precision) > 0.0
    product = root[:, :, None] * root[:, None, :]
    product = xp.where(diagonal, precision[:, :, None], product)
    return Scales(precision, product, xp.ones_like(precision[0, :]))


class DampedCovariance(NamedTuple):
    """T and N, (B, D, D), the eigenvalues w, (B, D), and ``log |I + SΛ⁻¹|``, (B,)."""

    T: Stack
    N: Stack
    w: Matrix
    log_det: Vector


def damped_covariance(S: Matrix, scales: Scales) -> DampedCovariance:
    """The algebra of S (D, D) with each of the scales.

    Eigenvalues that rounding took below zero are zero.
    """
    xp = array_namespace(scales.precision)
    w, U = xp.linalg.eigh(scales.product * S)
    w = xp.maximum(w, 0.0)
    shrink = 1.0 / (1.0 + w)
    U_T = xp.matrix_transpose(U)
    N = scales.product * ((U * shrink[:, None, :]) @ U_T)
    T = ((U * (w * shrink)[:, None, :]) @ U_T) / scales.product
    return DampedCovariance(T, N, w, xp.log1p(w) @ scales.ones)


def log_gap(
    xp: Namespace, damped: DampedCovariance, alone: int, first: Vector, second: Vector
) -> Vector:
    """``log |I + S(A + B)| − log |I + SA| − log |I + SB|``, (P,), for P pairs of precisions A, B.

    `damped` holds the algebra of so many precisions `alone`, then that of the sums of each pair;
    `first` and `second` say which of the former a pair has. The traces of the first term and of the
    other two are equal, so that for small eigenvalues the rest is of second order in S: there
    each logarithm is taken without its linear term.
    """

    def gap(terms: Array) -> Array:
        return terms[alone:] - xp.take(terms, first, axis=0) - xp.take(terms, second, axis=0)

    largest = xp.max(damped.w[alone:, :], axis=-1)
    if float(xp.min(largest)) >= _SMALL:
        return gap(damped.log_det)
    second_order = gap(xp.sum(_log1p_less_linear(damped.w), axis=-1))
    if float(xp.max(largest)) < _SMALL:
        return second_order
    return xp.where(largest < _SMALL, second_order, gap(damped.log_det))


def _log1p_less_linear(w: Matrix) -> Matrix:
    """``log(1 + w) − w`` for ``0 ≤ w ≤ 0.1``, without cancellation.

    With ``y = w/(2 + w)``: ``log(1 + w) = 2 atanh y`` and ``2y − w = −w y``.
    """
    y = w / (2.0 + w)
    square = y * y
    series = 1.0 / 13 * square
    for power in (11, 9, 7, 5, 3):
        series = (series + 1.0 / power) * square
    return y * (2.0 * series - w)


def validate_input(
    m: Vector, S: Matrix, like: Array, name: str = "S", *, mean: str = "m"
) -> Matrix:
    """S made symmetric, if ``N(m, S)`` is a normal distribution over rows of `like` (n, D)."""
    _check.alike(_check.floating(m, mean), mean, like, "X")
    return _check.normal(m, S, size=like.shape[1], names=(mean, name))


def validate_beside(X: Matrix, name: str, first: Matrix, first_name: str) -> None:
    """Raise for inputs of a posterior, looked over when it was made, unlike those of another."""
    if X.shape[1] != first.shape[1]:
        raise ValueError(f"{name} must have shape (n, {first.shape[1]}); got {tuple(X.shape)}")
    _check.alike(X, name, first, first_name)


def validate_points(X: Matrix, name: str, columns: int | None = None) -> Matrix:
    """`X` (n, D) if it is a matrix of inputs with at least one row."""
    if _check.matrix(X, name, columns=columns).shape[0] == 0:
        raise ValueError(f"{name} must have at least one row; got {tuple(X.shape)}")
    return _check.squarable(X, name)


def require_digits(xp: Namespace, squares: Array, q: Array, where: Vector | None = None) -> None:
    """Refuse exponents that have lost too many digits, at points (..., n) that count.

    Those `squares`, none of them positive, cancel in Δ where S is wide for the lengthscale; q
    says how much a point counts, or the rows of q that `where` names.
    """
    if -float(xp.min(squares)) <= _NEVER_LOST:
        return
    rounding = epsilon(q)
    q = q if where is None else xp.take(q, where, axis=0)
    weight = float(xp.max(q))
    error = rounding * float(xp.max(xp.abs(squares) * q))
    if error > _LOST * weight:
        raise _check.NoValueError(
            f"a kernel has too short a lengthscale beside S for {q.dtype}: exponents would be off "
            f"by {error / weight:.1g}"
        )
