"""RBF terms, the kernels that a sum of kernels consists of, and their averages over N(m, S).

For a term with lengthscales ``Λ = diag ℓ²`` and its points X, with ``ν = X − m``, the expectation
of the kernel is ``q = σ_f² |I + SΛ⁻¹|^−½ exp(−½ νᵀ(S + Λ)⁻¹ν)``, and its derivative by m is q g
with ``g = (S + Λ)⁻¹ν``. Points stand in columns, (D, n), so that work for an input runs along long
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...ground import check as _check
from ...ground.xp import Array, Matrix, Namespace, Numbers, Stack, Vector, array_namespace, as_array
from ...model.kernels import RBF, ActiveDims, Kernel, Scaled, Sum
from .input_covariance import DampedCovariance, Scales

__all__ = [
    "BatchedTerms",
    "TermsAtInput",
    "batched_terms",
    "pullback_q",
    "term_scales",
    "terms_at_input",
]

_BLIND_LENGTHSCALE = 1e6  # the lengthscale of a column that a kernel is not on


class BatchedTerms(NamedTuple):
    """C terms ``variance · exp(−½ Σ_d precision_d (x_d − z_d)²)`` with n points each.

    `points` has shape (C, D, n), or (1, D, n) where all terms share them; `precision` (C, D),
    `variance` (C, 1).
    """

    points: Stack
    precision: Matrix
    variance: Vector


def batched_terms(
    points: Sequence[Matrix], variances: list[float], precision: Matrix
) -> BatchedTerms:
    """Terms with these points (n, D), one array for all of them or one for each.

    Where numbers of points differ, the first point of a term is repeated: weights that are to stay
    out of sums are zero there.
    """
    xp = array_namespace(precision)
    n = max(X.shape[0] for X in points)
    columns = [xp.matrix_transpose(_padded(xp, X, n)) for X in points]
    variance = as_array([[value] for value in variances], precision)
    return BatchedTerms(xp.stack(columns), precision, variance)


def _padded(xp: Namespace, X: Matrix, n: int) -> Matrix:
    if X.shape[0] == n:
        return X
    return xp.concat([X, xp.broadcast_to(X[:1, :], (n - X.shape[0], X.shape[1]))])


def term_scales(kernel: Kernel, like: Array, name: str = "kernel") -> tuple[list[float], Matrix]:
    """Variances, C floats, and precisions (C, D) of a kernel that is an RBF or a sum of such.

    For inputs like the rows of `like`; a kernel ignores nearly all columns that it is not `on`.
    Raises `TypeError` for any other kernel.
    """
    _check.instance(kernel, name, Kernel)
    kernel._validate_inputs(like, "X")
    terms = list(_terms_of(kernel, 1.0, like))
    ones = array_namespace(like).ones_like(like[0, :])
    precision = array_namespace(like).stack([ones / lengths**2 for _, lengths in terms])
    return [variance for variance, _ in terms], precision


def _terms_of(kernel: Kernel, scale: float, like: Array) -> list[tuple[float, Numbers]]:
    """Variance and lengthscale of each term, for inputs like the rows of `like`."""
    if type(kernel) is Sum:
        return [term for part in kernel.parts for term in _terms_of(part, scale, like)]
    if type(kernel) is Scaled:
        return _terms_of(kernel.kernel, scale * kernel.scale, like)
    if type(kernel) is ActiveDims:
        return [
            (variance, _widen(kernel.places, lengths, like))
            for variance, lengths in _terms_of(kernel.kernel, scale, like[:, : len(kernel.places)])
        ]
    if type(kernel) is not RBF:
        raise TypeError(f"kernel must be an RBF kernel or a sum of such; got {kernel!r}")
    return [(scale * kernel.variance, kernel.lengthscale)]


def _widen(dims: tuple[int, ...], lengths: Numbers, like: Array) -> Vector:
    """The lengthscales (D,) of a term on the columns `dims`: so long in the others that they count
    for nothing in 12 digits."""
    xp = array_namespace(like)
    lengths = lengths * xp.ones_like(like[0, : len(dims)])
    lengthscales = {d: lengths[i] for i, d in enumerate(dims)}
    blind = _BLIND_LENGTHSCALE * xp.ones_like(like[0, 0])
    return xp.stack([lengthscales.get(d, blind) for d in range(like.shape[1])])


class TermsAtInput(NamedTuple):
    """C terms at their points, as N(m, S) sees them: N (C, D, D), ν and g (C, D, n), q (C, n).

    ν has a first axis of one where all terms share their points; `reach` is the largest
    ``−log(q/σ_f²)``, (C, n).
    """

    N: Stack
    nu: Stack
    g: Stack
    q: Matrix
    reach: Matrix


def terms_at_input(
    scales: Scales, terms: BatchedTerms, m: Vector, damped: DampedCovariance
) -> TermsAtInput:
    """The terms, whose algebra stands first in `damped`."""
    C = terms.variance.shape[0]
    N = damped.N[:C, :, :]
    nu = terms.points - m[:, None]
    g = N @ nu
    reach = 0.5 * (scales.ones @ (nu * g) + damped.log_det[:C, None])
    return TermsAtInput(N, nu, g, terms.variance * array_namespace(reach).exp(-reach), reach)


def pullback_q(
    xp: Namespace, N: Stack, g: Stack, t: Matrix, t_squared: Matrix
) -> tuple[Vector, Matrix]:
    """Derivatives of ``Σ t log q`` by m, (D,), and by S, (D, D), with t (C, n).

    N (C, D, D) and g (C, D, n) are those of the terms; `t_squared` (C, n) stands for t where g
    is squared.
    """
    C, D, _ = N.shape
    # by m: Σ t g;  by S: ½ Σ (t g gᵀ − t N)
    m_bar = xp.sum((g @ t[:, :, None])[:, :, 0], axis=0)
    squares = xp.sum((g * t_squared[:, None, :]) @ xp.matrix_transpose(g), axis=0)
    by_N = xp.sum(t, axis=1) @ xp.reshape(N, (C, D * D))
    return m_bar, 0.5 * (squares - xp.reshape(by_N, (D, D)))
