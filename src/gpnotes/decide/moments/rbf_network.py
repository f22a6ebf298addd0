"""A network of radial basis functions at an uncertain input: a policy of fixed functions.

``f(x) = Wᵀ k(C, x)`` with one kernel ``exp(−½ Σ_d (x_d − c_d)²/ℓ_d²)`` for all outputs, so that all
covariances come from one matrix of the centres with themselves. One kernel that meets itself has
one set of axes: with ``Λ^−½ S Λ^−½ = U w Uᵀ`` and ``z = Uᵀ Λ^−½ ν`` all matrices of `term_pairs`
are diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...ground import check as _check
from ...ground.xp import Matrix, Namespace, Vector, array_namespace, eye, symmetric_part
from .input_covariance import require_digits, validate_input, validate_points
from .prediction import Moments
from .term_pairs import limit

__all__ = [
    "NetworkMoments",
    "network_moments",
    "network_moments_and_pullback",
    "slopes_and_pullback",
]

_FAR = 25.0  # −log q up to which no exponent overflows in any precision


def network_moments(
    centres: Matrix, weights: Matrix, lengthscale: Vector, m: Vector, S: Matrix
) -> Moments:
    """Return the moments of a network of radial basis functions at an uncertain input.

    The network is ``f(x) = Wᵀ k(C, x)``. There is no noise and no uncertainty but that of x.

    Parameters
    ----------
    centres : Matrix, shape (k, D)
        The centres C, at least one.
    weights : Matrix, shape (k, E)
        The weights W of each output.
    lengthscale : Vector, shape (D,)
        Positive lengthscales of the one kernel.
    m : Vector, shape (D,)
        Mean of the input ``x ~ N(m, S)``.
    S : Matrix, shape (D, D)
        Its covariance: any, singular or zero.

    Returns
    -------
    Moments
        Mean (E,), covariance (E, E) and input-output covariance (D, E). A variance that rounding
        took below zero is zero.

    Notes
    -----
    Such a network is the policy of [eq-pc-rbf-policy]; its moments are those of a mean
    function, [eq-pi-mean], [eq-pi-covariance] and [eq-pi-cross]. O(k² (D + E)).

    Source: Deisenroth & Rasmussen (2011).

    Examples
    --------
    >>> import numpy as np
    >>> centre, weight, length = np.zeros((1, 1)), np.ones((1, 1)), np.ones(1)
    >>> network_moments(centre, weight, length, np.zeros(1), 3.0 * np.eye(1)).mean
    array([0.5])
    """
    return network_moments_and_pullback(centres, weights, lengthscale, m, S)[0]


def network_moments_and_pullback(
    centres: Matrix, weights: Matrix, lengthscale: Vector, m: Vector, S: Matrix
) -> tuple[Moments, Callable[[Moments], tuple[Matrix, Matrix, Vector, Vector, Matrix]]]:
    """Return `network_moments` and its pullback to all arguments.

    Arguments and errors are those of `network_moments`.

    Returns
    -------
    moments : Moments
        The result of `network_moments`.
    pullback : Callable
        ``pull(bar)`` takes a `Moments` of derivatives and returns
        ``(centres_bar, weights_bar, lengthscale_bar, m_bar, S_bar)``, the last symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> weight, zero = np.ones((1, 1)), np.zeros((1, 1))
    >>> moments, pull = network_moments_and_pullback(zero, weight, np.ones(1), np.ones(1), zero)
    >>> centres_bar, weights_bar, *_ = pull(Moments(np.ones(1), zero, zero))
    >>> centres_bar.round(4), weights_bar.round(4)
    (array([[0.6065]]), array([[0.6065]]))
    """
    S = _validate(centres, weights, lengthscale, m, S)
    xp = array_namespace(S)
    (mean, covariance, slopes), pull_slopes = slopes_and_pullback(
        xp, centres, weights, lengthscale, m, S
    )
    moments = Moments(mean, covariance, S @ slopes)

    def pull(bar: Moments) -> tuple[Matrix, Matrix, Vector, Vector, Matrix]:
        """The derivatives by centres, weights, lengthscale, m and S."""
        _check.cotangents(bar, "bar", moments)
        bars = pull_slopes(NetworkMoments(bar.mean, bar.covariance, S @ bar.cross))
        S_bar = bars[4] + bar.cross @ slopes.T
        return *bars[:4], symmetric_part(S_bar)

    return moments, pull


def _validate(
    centres: Matrix, weights: Matrix, lengthscale: Vector, m: Vector, S: Matrix
) -> Matrix:
    k, D = validate_points(centres, "centres").shape
    _check.alike(_check.matrix(weights, "weights", rows=k), "weights", centres, "centres")
    _check.squarable(weights, "weights")
    _check.alike(
        _check.vector(lengthscale, "lengthscale", size=D), "lengthscale", centres, "centres"
    )
    _check.squarable(_check.positive(lengthscale, "lengthscale"), "lengthscale")
    S = validate_input(m, S, centres)
    root = 1.0 / lengthscale
    _check.no_overflow(root[:, None] * S * root, "lengthscale", "S in units of it")
    return S


class NetworkMoments(NamedTuple):
    """Mean (E,) and covariance (E, E) of a network, and its mean slopes ``S⁻¹ cov[x, f]``, (D, E).

    As a cotangent, the derivatives of a number by each of them.
    """

    mean: Vector
    covariance: Matrix
    slopes: Matrix


class _Bumps(NamedTuple):
    """The bumps as N(m, S) sees them; rows of z and g are along the axes ``Λ^−½ U``, (D, D)."""

    nu: Matrix  # (k, D)
    axes: Matrix
    w: Vector  # (D,)
    z: Matrix  # (k, D): Uᵀ Λ^−½ ν
    g: Matrix  # (k, D): z / (1 + w), which is (S + Λ)⁻¹ν along the axes
    q: Vector  # (k,)
    C: Matrix  # (k, k): Cov[k(c_i, x), k(c_j, x)]


def slopes_and_pullback(
    xp: Namespace, centres: Matrix, weights: Matrix, lengthscale: Vector, m: Vector, S: Matrix
) -> tuple[
    NetworkMoments, Callable[[NetworkMoments], tuple[Matrix, Matrix, Vector, Vector, Matrix]]
]:
    """`network_moments_and_pullback` with slopes for covariances and without checks.

    For the rooms above. The derivatives by S are not symmetric.
    """
    bumps = _bumps(xp, centres - m, lengthscale, S)
    weighted = bumps.q[:, None] * weights
    Cw = bumps.C @ weights
    slopes = bumps.axes @ (bumps.g.T @ weighted)
    covariance = _covariance(xp, weights.T @ Cw)
    mean = bumps.q @ weights
    moments = NetworkMoments(mean, covariance, slopes)

    def pull(bar: NetworkMoments) -> tuple[Matrix, Matrix, Vector, Vector, Matrix]:
        """The derivatives by centres, weights, lengthscale, m and S."""
        points_bar, weights_bar, S_bar = _pullback(xp, bumps, weights, (mean, weighted, Cw), bar)
        # What scales an axis of x with its lengthscale changes the slopes along it and no more.
        log_ell_bar = xp.vecdot(bumps.nu, points_bar, axis=-2) + xp.vecdot(slopes, bar.slopes)
        log_ell_bar = log_ell_bar + xp.vecdot(S, S_bar + S_bar.T)
        ell_bar = -log_ell_bar / lengthscale
        return points_bar, weights_bar, ell_bar, -xp.sum(points_bar, axis=0), S_bar

    return moments, pull


def _bumps(xp: Namespace, nu: Matrix, lengthscale: Vector, S: Matrix) -> _Bumps:
    root = 1.0 / lengthscale
    w, U = xp.linalg.eigh(root[:, None] * S * root)
    w = xp.maximum(w, 0.0)
    axes = root[:, None] * U
    z = nu @ axes
    g = z / (1.0 + w)
    reach = 0.5 * (xp.vecdot(z, g) + xp.sum(xp.log1p(w)))
    q = xp.exp(-reach)
    # Δ_ij = Σ τ zᵢ z_j − ½ Σ τσ (zᵢ² + z_j²) − ½ Σ log(1 − σ²),  τ = w/(1 + 2w),  σ = w/(1 + w)
    tau, sigma = w / (1.0 + 2.0 * w), w / (1.0 + w)
    squares = (z * z) @ (-0.5 * tau * sigma)
    require_digits(xp, squares, q)
    # a wide S has σ = 1, to its last digit, and 1 − σ² = (1 + 2w)/(1 + w)²
    gap = xp.where(w < 1.0, xp.log1p(-sigma * sigma), xp.log1p(2.0 * w) - 2.0 * xp.log1p(w))
    squares_less_gap = squares - 0.5 * xp.sum(gap)
    exponent = (z * tau) @ z.T + squares_less_gap[:, None] + squares
    max_reach = float(xp.max(reach))
    if max_reach > _FAR and 2.0 * max_reach > limit(q):
        exponent = xp.clip(exponent, None, limit(q))
    return _Bumps(nu, axes, w, z, g, q, q[:, None] * xp.expm1(exponent) * q)


def _covariance(xp: Namespace, covariance: Matrix) -> Matrix:
    """Symmetric, and with no variance that rounding took below zero."""
    covariance = symmetric_part(covariance)
    variance = xp.linalg.diagonal(covariance)
    if float(xp.min(variance)) >= 0.0:
        return covariance
    return covariance - eye(covariance.shape[0], covariance) * xp.clip(variance, None, 0.0)


def _pullback(
    xp: Namespace,
    bumps: _Bumps,
    weights: Matrix,
    products: tuple[Vector, Matrix, Matrix],
    bar: NetworkMoments,
) -> tuple[Matrix, Matrix, Matrix]:
    """The derivatives by ν, (k, D), by the weights and by S, the last not symmetric.

    With the weights ``B = W cov_bar Wᵀ`` of C the sums of `term_pairs`, with both ends the
    same, and the derivatives through q and through the slopes g.
    """
    _, axes, w, z, g, q, C = bumps
    mean, weighted, Cw = products
    shrink = 1.0 / (1.0 + w)
    narrow = 1.0 / (1.0 + 2.0 * w)
    tau = w * narrow
    W_cov_bar = weights @ symmetric_part(bar.covariance)
    R = (W_cov_bar @ weights.T) * (C + q[:, None] * q)
    p = xp.vecdot(W_cov_bar, Cw)
    RZ = R @ z
    r = p + q * (W_cov_bar @ mean)
    # f = Σ q W, slopes = Σ q W g
    slopes_bar = axes.T @ bar.slopes
    by_q = bar.mean + g @ slopes_bar
    log_q_bar = xp.vecdot(weighted, by_q) + 2.0 * p
    # dg = N (dν − dS g)
    g_bar = (weighted @ slopes_bar.T) * shrink
    rz = r[:, None] * z
    points_bar = 2.0 * tau * (RZ - rz * (w * shrink)) - log_q_bar[:, None] * g + g_bar
    M = narrow[:, None] * (z.T @ (RZ + rz)) * narrow
    inner = M + g.T @ (g * (0.5 * log_q_bar - r)[:, None]) - g_bar.T @ g
    diagonal = shrink * (tau * xp.sum(r) - 0.5 * xp.sum(log_q_bar))
    S_bar = (axes @ inner + axes * diagonal) @ axes.T
    return points_bar @ axes.T, q[:, None] * by_q + 2.0 * (C @ W_cov_bar), S_bar
