"""The belief about the logarithm of the noise of readings: the Gaussian of the highest bound.

Of ``y = f + ε`` with ``εᵢ ~ N(0, σ_n² exp gᵢ)`` f is averaged away in closed form, and g has a
Gaussian q with n free precisions Λ: ``Σ = (K_g⁻¹ + Λ)⁻¹``. Each step of a natural gradient
mixes the former Λ and the optimum for the readings, which is never negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground.linalg import Cholesky, _cholesky
from ...ground.threads import threads_for
from ...ground.xp import LOG_2PI, Matrix, Vector, array_namespace, diagonal, epsilon, eye
from ...model.gaussian_process import plus_noise

__all__ = ["Believed", "Problem", "believe"]

_SHORTEST = 2.0**-20  # step that is tried
_SHORT = 2.0**-5  # and that is begun with
_NAME = "K_f + R, whose noise varies"
_NEARER = "y must be nearer to what model allows"


@dataclass(frozen=True, eq=False)
class Problem:
    """Covariances of f and g at readings (n, n), noise where g is zero, and y less its mean."""

    K: Matrix
    noise_K: Matrix
    noise_var: float
    residual: Vector


@dataclass(frozen=True, eq=False)
class Believed:
    """A Gaussian q of g at the readings, ``N(K_g a, (K_g⁻¹ + Λ)⁻¹)``, and f under its noise.

    Parameters
    ----------
    precision : Vector, shape (n,)
        The diagonal of Λ.
    shift : Vector, shape (n,)
        ``Σ⁻¹ μ``, the sites' share of the first natural parameter.
    sites : Cholesky
        The factor of ``B = I + Λ^½ K_g Λ^½``.
    slope : Vector, shape (n,)
        a, where μ is ``K_g a``.
    mean, variance : Vector, shape (n,)
        μ, and the diagonal of Σ.
    noise_var : Vector, shape (n,)
        The diagonal of R, ``σ_n² exp(μᵢ − Σᵢᵢ/2)``.
    cholesky : Cholesky
        The factor of ``K_f + R``.
    alpha : Vector, shape (n,)
        ``(K_f + R)⁻¹ (y − m)``.
    wanted : Vector, shape (n,)
        ρ, the derivatives of ``log N(y; m, K_f + R)`` by the logarithms of R.
    bound : float
        The lower bound on the log evidence, [eq-vi-noise-bound].
    """

    precision: Vector
    shift: Vector
    sites: Cholesky
    slope: Vector
    mean: Vector
    variance: Vector
    noise_var: Vector
    cholesky: Cholesky
    alpha: Vector
    wanted: Vector
    bound: float


@np.errstate(all="ignore")  # a step that is too long may overflow: it is shortened
def believe(problem: Problem, max_steps: int = 500) -> Believed:
    """Find the q of the highest bound uphill from that of no reading, in some tens of steps; O(n³).

    A bound that is not finite at the start, or that 500 steps do not settle, is a `RuntimeError`.
    """
    xp = array_namespace(problem.residual)
    zero = xp.zeros_like(problem.residual)
    now = _believed(problem, zero + 0.5, zero)
    _require_finite(now.bound)
    # at its top the bound is level: where q is off by √eps, it is lower by eps
    tolerance, length = epsilon(problem.residual) ** 0.5, 1.0
    for _ in range(max_steps):
        precision = now.wanted + 0.5
        shift = now.wanted + precision * now.mean
        deviation = xp.sqrt(now.variance)
        # what the natural gradient is beside the deviations of q, by its mean and its variance
        off = xp.abs(now.wanted - now.slope) * deviation
        away = xp.abs(precision - now.precision) * now.variance
        left = float(xp.max(xp.maximum(off, away)))
        if left <= tolerance:
            return now
        length, then = _step(problem, now, precision, shift, length)
        # nothing is higher, but for rounding, by which the shortest step may stand still
        if then is None or (length < _SHORT and then.bound <= now.bound):
            if left > 1.0:
                raise _check.NoValueError(f"{_NEARER}: rounding hides how their noise varies")
            return now
        too_long = _slope_along(now, then) < 0.0
        length = max(0.5 * length, _SHORT) if too_long else min(1.0, 2.0 * length)
        now = then
    raise _check.NoValueError(f"the noise of the readings has not settled in {max_steps} steps")


def _step(
    problem: Problem, now: Believed, precision: Vector, shift: Vector, length: float
) -> tuple[float, Believed | None]:
    """Return a mixture of old and new whose bound does not fall, and its length."""
    # rounding of the bound: a step that is right may seem to lower it by so much
    slack = 10.0 * epsilon(shift) * (1.0 + abs(now.bound))
    while length >= _SHORTEST:
        try:
            then = _believed(
                problem,
                (1.0 - length) * now.precision + length * precision,
                (1.0 - length) * now.shift + length * shift,
            )
        except _check.NoValueError as problem_there:  # the noise overflows
            if length < 2.0 * _SHORTEST:
                raise _check.NoValueError(f"{_NEARER}: {problem_there}") from None
        else:
            if then.bound >= now.bound - slack:
                return length, then
        length *= 0.5
    return length, None


def _slope_along(now: Believed, then: Believed) -> float:
    """The slope of the bound at the end of a step, along it: negative if that went too far.

    ``∂/∂μ = ρ − a`` and ``∂/∂Σ = ½ diag(λ − ρ − ½)``.
    """
    xp = array_namespace(then.mean)
    by_mean = (then.wanted - then.slope) * (then.mean - now.mean)
    by_variance = (then.precision - then.wanted - 0.5) * (then.variance - now.variance)
    return float(xp.sum(by_mean + 0.5 * by_variance))


def _require_finite(bound: float) -> None:
    if not math.isfinite(bound):
        raise _check.NoValueError(f"the bound must be finite; at the start it is {bound}")


@threads_for(lambda problem, precision, shift: 2 * problem.K.shape[0] ** 3)
def _believed(problem: Problem, precision: Vector, shift: Vector) -> Believed:
    """The Gaussian q of given sites, f under its noise, and the bound."""
    xp, K_g = array_namespace(shift), problem.noise_K
    root = xp.sqrt(precision)
    sites = _cholesky(eye(K_g.shape[0], K_g) + root[:, None] * K_g * root[None, :], name="B")
    # μ = Σ s = K_g a with a = s − Λ^½ B⁻¹ Λ^½ K_g s, and Σ = K_g − K_g Λ^½ B⁻¹ Λ^½ K_g
    slope = shift - root * sites._solve(root * (K_g @ shift))
    mean = K_g @ slope
    half = sites._half_solve(root[:, None] * K_g)
    variance = xp.clip(diagonal(K_g) - xp.sum(half * half, axis=0), 0.0, None)
    # averaged over g is the precision of the noise, not its variance: 1 / E e^−g is e^(μ − v/2)
    noise_var = problem.noise_var * xp.exp(mean - 0.5 * variance)
    factor = _cholesky(plus_noise(problem.K, noise_var), name=_NAME)
    alpha = factor._solve(problem.residual)
    # ρᵢ = ½ rᵢ (αᵢ² − (K_f + R)⁻¹ᵢᵢ), and the last product is at most one
    share = xp.clip(noise_var * diagonal(factor.inverse()), 0.0, 1.0)
    wanted = 0.5 * (noise_var * alpha * alpha - share)
    fit = float(xp.sum(problem.residual * alpha)) + factor.log_det + shift.shape[0] * LOG_2PI
    # tr(K_g⁻¹Σ) − n = −Σ λᵢ Σᵢᵢ, and log |K_g| − log |Σ| = log |B|
    apart = float(xp.sum(slope * mean)) - float(xp.sum(precision * variance)) + sites.log_det
    # twice the divergence of q from the prior, which is not negative: only rounding makes it so
    if apart < -shift.shape[0] * epsilon(shift) ** 0.5:
        raise _check.NoValueError("rounding takes the digits of the noise")
    bound = -0.5 * (fit + 0.5 * float(xp.sum(variance)) + apart)
    return Believed(
        precision, shift, sites, slope, mean, variance, noise_var, factor, alpha, wanted, bound
    )
