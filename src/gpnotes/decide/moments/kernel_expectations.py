"""Kernels at an uncertain input: the expectation, second moment and covariance of ``k(X, x)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...ground import check as _check
from ...ground.xp import Array, Matrix, Namespace, Stack, Vector, array_namespace, symmetric_part
from ...model.kernels import Kernel
from .input_covariance import (
    DampedCovariance,
    damped_covariance,
    require_digits,
    scales,
    validate_input,
    validate_points,
)
from .rbf_terms import (
    TermsAtInput,
    batched_terms,
    pullback_q,
    term_scales,
    terms_at_input,
)
from .term_pairs import (
    End,
    PairAlgebra,
    TermPairs,
    end_at_input,
    exponents,
    limit,
    pair_algebra,
    paired_terms,
    pullback_to_input,
)

__all__ = [
    "kernel_covariance",
    "kernel_covariance_and_pullback",
    "kernel_mean",
    "kernel_mean_and_pullback",
    "kernel_outer",
]


def kernel_mean(kernel: Kernel, X: Matrix, m: Vector, S: Matrix) -> Vector:
    """Return the expectation of a kernel at an uncertain input, ``E k(X, x)`` for ``x ~ N(m, S)``.

    Elsewhere called the psi statistic Ψ₁.

    Parameters
    ----------
    kernel : Kernel
        An RBF kernel or a sum of such.
    X : Matrix, shape (n, D)
        Points, at least one.
    m : Vector, shape (D,)
        Mean of the input.
    S : Matrix, shape (D, D)
        Its covariance: any, singular or zero.

    Notes
    -----
    ``σ_f² |I + SΛ⁻¹|^−½ exp(−½ (x_i − m)ᵀ (S + Λ)⁻¹ (x_i − m))`` for an RBF kernel with
    ``Λ = diag ℓ²``, [eq-pi-kernel-mean]; the sum of such for a sum. O(n D²).

    Source: Deisenroth & Rasmussen (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> kernel_mean(RBF(), np.asarray([[0.0]]), np.zeros(1), np.asarray([[3.0]]))
    array([0.5])
    """
    return _kernel_mean(kernel, X, m, _validate(X, m, S))


def _kernel_mean(kernel: Kernel, X: Matrix, m: Vector, S: Matrix) -> Vector:
    """`kernel_mean` of a state that has been checked, for the rooms above."""
    xp = array_namespace(X)
    return xp.sum(_terms_at_input(xp, kernel, X, m, S).q, axis=0)


def kernel_outer(
    kernel_a: Kernel, kernel_b: Kernel, X: Matrix, Z: Matrix, m: Vector, S: Matrix
) -> Matrix:
    """Return the second moment of two kernels at an uncertain input, ``E k_a(X, x) k_b(x, Z)``.

    Elsewhere, of one kernel, called the psi statistic Ψ₂.

    Parameters
    ----------
    kernel_a, kernel_b : Kernel
        RBF kernels or sums of such.
    X : Matrix, shape (n, D)
        Points of the first kernel, at least one.
    Z : Matrix, shape (n', D)
        Points of the second, at least one.
    m : Vector, shape (D,)
        Mean of the input ``x ~ N(m, S)``.
    S : Matrix, shape (D, D)
        Its covariance: any, singular or zero.

    Returns
    -------
    Matrix, shape (n, n')
        The moment for each pair of points.

    Notes
    -----
    [eq-pi-kernel-outer], as `kernel_covariance` and the outer product of both expectations;
    O(n n' D).

    Source: Deisenroth & Rasmussen (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> X = np.asarray([[0.0]])
    >>> kernel_outer(RBF(), RBF(), X, X, np.zeros(1), np.asarray([[4.0]])).round(4)
    array([[0.3333]])
    """
    S = _validate_both(X, Z, m, S)
    covariance = _kernel_covariance(kernel_a, kernel_b, X, Z, m, S)
    left, right = (_kernel_mean(kernel, at, m, S) for kernel, at in ((kernel_a, X), (kernel_b, Z)))
    return covariance + left[:, None] * right[None, :]


def kernel_covariance(
    kernel_a: Kernel, kernel_b: Kernel, X: Matrix, Z: Matrix, m: Vector, S: Matrix
) -> Matrix:
    """Return the covariance of two kernels at an uncertain input, ``Cov[k_a(X, x), k_b(Z, x)]``.

    Parameters
    ----------
    kernel_a, kernel_b, X, Z, m, S
        As in `kernel_outer`.

    Returns
    -------
    Matrix, shape (n, n')
        The covariance for each pair of points. S = 0 gives zeros.

    Notes
    -----
    [eq-pi-kernel-covariance], without the cancellation of `kernel_outer` less the product of
    the means: small S leave relative errors of rounding only. O(n n' D).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> X = np.asarray([[1.0]])
    >>> C = kernel_covariance(RBF(), RBF(), X, X, np.zeros(1), np.asarray([[1e-30]]))
    >>> round(1e30 * float(C[0, 0]), 12) == round(float(np.exp(-1.0)), 12)
    True
    """
    return _kernel_covariance(kernel_a, kernel_b, X, Z, m, _validate_both(X, Z, m, S))


def _kernel_covariance(
    kernel_a: Kernel, kernel_b: Kernel, X: Matrix, Z: Matrix, m: Vector, S: Matrix
) -> Matrix:
    pair = _pair_up(kernel_a, kernel_b, X, Z, m, S)
    xp = array_namespace(X)
    return xp.sum(_covariances(xp, pair), axis=0)


def kernel_mean_and_pullback(
    kernel: Kernel, X: Matrix, m: Vector, S: Matrix
) -> tuple[Vector, Callable[[Vector], tuple[Matrix, Vector, Matrix]]]:
    """Return `kernel_mean` and its pullback to X, m and S.

    Arguments and errors are those of `kernel_mean`.

    Returns
    -------
    mean : Vector, shape (n,)
        The expectation at each point.
    pullback : Callable
        ``pull(q_bar) -> (X_bar, m_bar, S_bar)``, the last symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> X = np.asarray([[1.0]])
    >>> q, pull = kernel_mean_and_pullback(RBF(), X, np.zeros(1), np.zeros((1, 1)))
    >>> X_bar, m_bar, S_bar = pull(np.ones(1))
    >>> m_bar.round(4), S_bar.round(4)
    (array([0.6065]), array([[0.]]))
    """
    q, pull = _kernel_mean_and_pullback(kernel, X, m, _validate(X, m, S))
    return q, lambda q_bar: pull(_check.cotangent(q_bar, "q_bar", q))


def _kernel_mean_and_pullback(
    kernel: Kernel, X: Matrix, m: Vector, S: Matrix
) -> tuple[Vector, Callable[[Vector], tuple[Matrix, Vector, Matrix]]]:
    """`kernel_mean_and_pullback` of a state that has been checked, for the rooms above.

    Each term q of the kernel has ``∂ log q / ∂xᵢ = −(S + Λ)⁻¹(xᵢ − m)``, and minus that by m.
    """
    xp = array_namespace(X)
    at = _terms_at_input(xp, kernel, X, m, S)

    def pull(q_bar: Vector) -> tuple[Matrix, Vector, Matrix]:
        """The derivatives by X (n, D), m (D,) and S (D, D) from those by the result (n,)."""
        t = at.q * q_bar
        m_bar, S_bar = pullback_q(xp, at.N, at.g, t, t)
        return -xp.sum(at.g * t[:, None, :], axis=0).T, m_bar, symmetric_part(S_bar)

    return xp.sum(at.q, axis=0), pull


def _terms_at_input(xp: Namespace, kernel: Kernel, X: Matrix, m: Vector, S: Matrix) -> TermsAtInput:
    variances, precision = term_scales(kernel, X)
    terms = batched_terms([X], variances, precision)
    of_terms = scales(precision)
    return terms_at_input(of_terms, terms, m, damped_covariance(S, of_terms))


def kernel_covariance_and_pullback(
    kernel_a: Kernel, kernel_b: Kernel, X: Matrix, Z: Matrix, m: Vector, S: Matrix
) -> tuple[Matrix, Callable[[Matrix], tuple[Matrix, Matrix, Vector, Matrix]]]:
    """Return `kernel_covariance` and its pullback to X, Z, m and S.

    Arguments and errors are those of `kernel_covariance`.

    Returns
    -------
    covariance : Matrix, shape (n, n')
        The covariance for each pair of points.
    pullback : Callable
        ``pull(C_bar) -> (X_bar, Z_bar, m_bar, S_bar)``, the last symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> X, S = np.asarray([[1.0]]), np.zeros((1, 1))
    >>> C, pull = kernel_covariance_and_pullback(RBF(), RBF(), X, X, np.zeros(1), S)
    >>> *_, S_bar = pull(np.ones((1, 1)))
    >>> C, S_bar.round(4)
    (array([[0.]]), array([[0.3679]]))
    """
    pair = _pair_up(kernel_a, kernel_b, X, Z, m, _validate_both(X, Z, m, S))
    xp = array_namespace(X)
    covariances = _covariances(xp, pair)
    C = xp.sum(covariances, axis=0)

    def pull(C_bar: Matrix) -> tuple[Matrix, Matrix, Vector, Matrix]:
        """The derivatives by X (n, D), Z (n', D), m (D,), S (D, D) from those by C (n, n')."""
        return _pullback(xp, pair, covariances, _check.cotangent(C_bar, "C_bar", C))

    return C, pull


class _PairedTerms(NamedTuple):
    """The P pairs of terms of two kernels, and both ends of each."""

    pairs: TermPairs
    algebra: PairAlgebra
    first: End
    second: End
    first_term: _EndTerm
    second_term: _EndTerm


class _EndTerm(NamedTuple):
    """The term at one end of each pair: N (P, D, D), g (P, D, n) and q (P, n)."""

    N: Stack
    g: Stack
    q: Matrix


def _pair_up(a: Kernel, b: Kernel, X: Matrix, Z: Matrix, m: Vector, S: Matrix) -> _PairedTerms:
    xp = array_namespace(X)
    variances_a, precision_a = term_scales(a, X, "kernel_a")
    variances_b, precision_b = term_scales(b, Z, "kernel_b")
    C_a = len(variances_a)
    C = len(variances_a) + len(variances_b)
    ends = [(i, j) for i in range(C_a) for j in range(C_a, C)]
    pairs = paired_terms(xp.concat([precision_a, precision_b]), ends)
    damped = damped_covariance(S, pairs.scales)
    algebra = pair_algebra(xp, pairs, damped)
    P = len(ends)
    damped_b = DampedCovariance(*(part[C_a:, ...] for part in damped))
    at_a = terms_at_input(pairs.scales, batched_terms([X], variances_a, precision_a), m, damped)
    at_b = terms_at_input(pairs.scales, batched_terms([Z], variances_b, precision_b), m, damped_b)
    return _PairedTerms(
        pairs,
        algebra,
        end_at_input(pairs.scales, pairs.own[:P, :, :], algebra.A[:P, :, :], at_a.nu),
        end_at_input(pairs.scales, pairs.own[P:, :, :], algebra.A[P:, :, :], at_b.nu),
        _end_term(xp, at_a, pairs.first),
        _end_term(xp, at_b, pairs.second - C_a),
    )


def _end_term(xp: Namespace, at: TermsAtInput, terms: Array) -> _EndTerm:
    return _EndTerm(*(xp.take(part, terms, axis=0) for part in (at.N, at.g, at.q)))


def _covariances(xp: Namespace, pair: _PairedTerms) -> Stack:
    """``Cov[k(x_i, x), k'(x'_j, x)]`` of each pair, (P, n, n')."""
    q, q_ = pair.first_term.q, pair.second_term.q
    for end, weight in ((pair.first, q), (pair.second, q_)):
        require_digits(xp, end.squares, weight)
    left, right = exponents(xp, pair.algebra, pair.first, pair.second)
    exponent = xp.clip(xp.matrix_transpose(left) @ right, None, limit(q))
    return q[:, :, None] * xp.expm1(exponent) * q_[:, None, :]


def _pullback(
    xp: Namespace, pair: _PairedTerms, covariances: Stack, C_bar: Matrix
) -> tuple[Matrix, Matrix, Vector, Matrix]:
    """The derivatives of ``Σ C_bar ∘ Cov`` by X, Z, m and S."""
    P = C_bar * covariances
    R = P + pair.first_term.q[:, :, None] * C_bar * pair.second_term.q[:, None, :]
    p, r = xp.sum(P, axis=2), xp.sum(R, axis=2)
    p_, r_ = xp.sum(P, axis=1), xp.sum(R, axis=1)
    across = pair.second.u @ xp.matrix_transpose(R)
    X_bar = _pullback_to_points(xp, pair.algebra.T, pair.first, pair.first_term, (p, r, across))
    Z_bar = _pullback_to_points(
        xp, pair.algebra.T, pair.second, pair.second_term, (p_, r_, pair.first.u @ R)
    )
    sums = r, r_, across
    _, S_bar = pullback_to_input(xp, pair.pairs, pair.algebra, pair.first, pair.second, sums)
    S_bar = xp.sum(S_bar, axis=0)
    for term, sum_p, sum_r in ((pair.first_term, p, r), (pair.second_term, p_, r_)):
        S_bar = S_bar + pullback_q(xp, term.N, term.g, sum_p, sum_p - sum_r)[1]
    m_bar = -xp.sum(X_bar, axis=0) - xp.sum(Z_bar, axis=0)
    return X_bar, Z_bar, m_bar, symmetric_part(S_bar)


def _pullback_to_points(
    xp: Namespace, T: Stack, end: End, term: _EndTerm, sums: tuple[Matrix, Matrix, Stack]
) -> Matrix:
    """The derivatives by the points (n, D) of one kernel."""
    p, r, across = sums
    u_bar = T @ across + (end.A @ end.u) * r[:, None, :]
    return xp.sum(end.own * u_bar - p[:, None, :] * term.g, axis=0).T


def _validate(X: Matrix, m: Vector, S: Matrix) -> Matrix:
    return validate_input(m, S, validate_points(X, "X"))


def _validate_both(X: Matrix, Z: Matrix, m: Vector, S: Matrix) -> Matrix:
    S = _validate(X, m, S)
    _check.alike(validate_points(Z, "Z", columns=X.shape[1]), "Z", X, "X")
    return S
