"""Observations that pull f with a positive curvature, as outliers do: sites of negative precision.

Split ``W = W₊ − W₋`` into positive and negative parts. With the sites W₊ alone f has the
covariance ``S = K − K R₊ K``, ``R₊ = W₊^½ B⁻¹ W₊^½`` and ``B = I + W₊^½ K W₊^½``. The others widen
it: ``(K⁻¹ + W)⁻¹ = S + S W₋^½ C⁻¹ W₋^½ S`` with ``C = I − W₋^½ S W₋^½``, which is positive definite
just where the mode is a maximum. So nothing is factored but two symmetric matrices.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ground import check as _check
from ...ground.linalg import Cholesky, FactorisationError, _cholesky
from ...ground.xp import Matrix, Vector, array_namespace, eye, solve_triangular, symmetric_part

__all__ = ["Bending", "bending_of"]


class Bending(NamedTuple):
    """The terms of sites of negative precision, on top of those of `sites.factored`.

    H (n, n) with ``(K + W⁻¹)⁻¹ = R₊ − HᵀH``, ``L_C⁻¹ W₋^½ (I − K R₊)``, and ``log |C|``, which is
    ``log |I + K W| − log |B|``.
    """

    root: Matrix
    log_det: float


def bending_of(K: Matrix, sqrt_W: Vector, cholesky: Cholesky, second: Vector) -> Bending:
    """Return the terms of sites of negative precision, where there are some.

    They are of the prior covariance, the roots of W₊, the factor of B, and the second derivatives
    of log p(y | f). It is an error where f is no maximum of the posterior density.
    """
    xp = array_namespace(K)
    pulls = xp.sqrt(xp.clip(second, 0.0, None))  # W₋^½
    half = cholesky._half_solve(sqrt_W[:, None] * K)
    S = K - xp.matrix_transpose(half) @ half
    C = eye(K.shape[0], K) - pulls[:, None] * symmetric_part(S) * pulls[None, :]
    lower = _factor(C)
    # K R₊, transposed: R₊ K = W₊^½ B⁻¹ W₊^½ K
    explained = sqrt_W[:, None] * cholesky._half_solve_t(half)
    # S = (I − K R₊) K: without the last K, the root goes with the covariances of f at any input
    rest = eye(K.shape[0], K) - xp.matrix_transpose(explained)
    root = solve_triangular(lower.lower, pulls[:, None] * rest)
    return Bending(root, lower.log_det)


def _factor(C: Matrix) -> Cholesky:
    """The factor of C, whose eigenvalues are positive at a maximum, with no jitter."""
    try:
        factor = _cholesky(C, name="I − W₋^½ S W₋^½")
    except FactorisationError:
        factor = None
    if factor is None or factor.jitter:
        raise _check.NoValueError(
            "the mode must be a maximum of p(f | y); here it is none, or flat: outliers pull f "
            "as strongly as its prior holds it. An SVGP takes what has no bell around its mode"
        )
    return factor
