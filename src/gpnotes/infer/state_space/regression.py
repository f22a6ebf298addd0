"""Gaussian process regression with Matérn kernels on a line, exact, in time that grows as N."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Chunks, Rows
from ...ground.params import cotangent
from ...ground.saved import saved_as
from ...ground.threads import in_one_pool
from ...ground.xp import Matrix, Vector, array_namespace, in_double
from ...model import means
from ...model.gaussian_process import GP, differentiable_mean, residual_of, validate_data
from ..evidence import Evidence, evidence_of, whole_rows
from ..known_noise import Noise, noise_of, validate_noise
from .kalman import Filtered, kalman_filter
from .matern_sde import FAR, Motion, kernel_of, motion_of
from .parallel_scan import lanes_of
from .posterior import StateSpacePosterior, along

__all__ = ["StateSpaceGP"]


def _posterior(gp: GP, rows: Rows) -> StateSpacePosterior:
    times, residual, order = _sorted(gp, rows.X, rows.y)
    run = _filter(gp, motion_of(gp), times, residual, along(noise_of(gp, rows), order))
    _check.no_overflow(run.fit, "y", "the squared distance from the prior")
    return StateSpacePosterior(gp, rows.X, rows.y, order, times, run, rows.noise_var, rows.weights)


def _validate(gp: GP, X: Matrix, y: Vector) -> Motion:
    motion = motion_of(gp)
    validate_data(gp, X, y, columns=1)
    _check.squarable(y, "y")
    size = 3 * motion.size * (motion.size + 1)
    memory.require(X.shape[0], size, copies=1, like=in_double(X[:1, :]), what="the states")
    return motion


def _sorted(gp: GP, X: Matrix, y: Vector) -> tuple[Vector, Vector, Vector | None]:
    """Places and residuals in ascending order, and that order; None if they came in it."""
    xp = array_namespace(X)
    times, residual = in_double(X[:, 0]), in_double(residual_of(gp, X, y))
    if bool(xp.all(times[1:] >= times[:-1])):
        return times, residual, None
    order = xp.argsort(times)
    return xp.take(times, order), xp.take(residual, order), order


@in_one_pool
def _filter(gp: GP, motion: Motion, times: Vector, residual: Vector, noise: Noise) -> Filtered:
    variance = kernel_of(gp).variance
    unit = residual / math.sqrt(variance)
    return kalman_filter(lanes_of(motion, motion.rate * times, unit, noise.variance / variance))


def _value_and_gradient(gp: GP, motion: Motion, rows: Rows) -> tuple[float, GP]:
    X = rows.X
    times, residual, order = _sorted(gp, X, rows.y)
    noise = along(noise_of(gp, rows), order)
    run = _filter(gp, motion, times, residual, noise)
    _check.no_overflow(run.fit, "y", "the squared distance from the prior")
    xp, lanes = array_namespace(times), run.lanes
    kernel = kernel_of(gp)
    variance = kernel.variance
    alpha = lanes.ordered(run.smoothed_means.alpha)
    precision = lanes.ordered(run.smoothed_covariances.precision)
    lambda_bar = 0.5 * (alpha * alpha - precision) / variance
    noise_bar = float(xp.sum(noise.share * lambda_bar))
    by_noise = float(xp.sum(noise.variance * lambda_bar))
    variance_bar = (0.5 * (run.fit - lanes.count) - by_noise) / variance
    lengthscale_bar = -_by_gaps(run) / float(kernel.lengthscale)
    kernel_bar = cotangent(kernel, variance=variance_bar, lengthscale=lengthscale_bar)
    alpha = alpha / math.sqrt(variance)
    if order is not None:
        alpha = xp.take(alpha, xp.argsort(order))
    mean_bar, _ = means.with_hooks(differentiable_mean(gp))._pullback(X, xp.astype(alpha, X.dtype))
    value = run.log_evidence - 0.5 * lanes.count * math.log(variance)
    return value, cotangent(gp, kernel=kernel_bar, noise_var=noise_bar, mean=mean_bar)


def _by_gaps(run: Filtered) -> float:
    """``Σ s ∂/∂s`` of the log evidence, over all gaps but the one before the first reading."""
    xp, motion, total = array_namespace(run.precision), run.lanes.motion, 0.0
    for k in range(run.precision.shape[0]):
        P, late = run.cov[k, ...], run.smoothed_means.adjoint[k, ...]
        taken = run.smoothed_covariances.adjoint[k, ...]
        state = run.mean[k, ...] + xp.sum(P * late[None, :, :], axis=1)
        slope = xp.sum(late * motion.slope(state), axis=0)
        slope = slope - xp.sum(xp.sum(taken * motion.slope(P), axis=0), axis=0)
        slope = slope + 0.5 * motion.drive * (late[-1, ...] ** 2 - taken[-1, -1, ...])
        gaps = run.lanes.gaps[k, ...]
        total += float(xp.sum(xp.where(gaps < FAR, gaps, xp.zeros_like(gaps)) * slope))
    return total


@dataclass(frozen=True, eq=False)
class StateSpaceGP:
    """A Matérn process on a line, a model for `condition`, `log_evidence` and `fit` in O(N).

    X has one column, in any order; a place may occur again. The posterior is that of the process
    itself, up to rounding. As a cotangent, it holds the derivatives by the process.

    Parameters
    ----------
    gp : GP
        A process with the kernel `Matern12`, `Matern32` or `Matern52` of one lengthscale, and a
        positive ``noise_var``; its mean may be any but a `BasisMean`.

    Raises
    ------
    ValueError
        For a process without noise.

    Notes
    -----
    The process is a state-space model of dimension ν + ½, [eq-be-matern], so Kalman's filter and
    the modified Bryson–Frazier smoother do: many stretches of the line at a time, joined exactly
    afterwards. Computed in float64 where the
    device has it. For the gradient, a gap s carries a belief by ``dm/ds = G m`` and
    ``dP/ds = G P + P Gᵀ + q e eᵀ``, and the pass back has the derivatives by m and P of each step:
    λ and ``½ (λλᵀ − Λ)``. Source: Hartikainen & Särkkä (2010); Särkkä & García-Fernández (2021).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, Matern52, fit
    >>> X = np.linspace(0.0, 9.0, 300)[:, None]
    >>> found = fit(StateSpaceGP(GP(Matern52(), 0.1)), X, np.sin(X[:, 0]), max_steps=20)
    >>> bool(found.model.gp.noise_var < 0.01), found.posterior.mean(np.asarray([[1.5]])).round(2)
    (True, array([1.]))
    """

    gp: GP

    def __post_init__(self) -> None:
        motion_of(self.gp)


@saved_as("state-space evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[StateSpaceGP, StateSpacePosterior]):
    """The log evidence on a line."""

    by_reading: ClassVar[bool] = True

    rows: Rows

    def posterior(self, model: StateSpaceGP) -> StateSpacePosterior:
        return _posterior(model.gp, self.rows)

    def require_gradient(self, model: StateSpaceGP) -> None:
        differentiable_mean(model.gp)

    def value_and_gradient(
        self, model: StateSpaceGP, *, quiet: bool = False
    ) -> tuple[float, StateSpaceGP]:
        gp = model.gp
        value, gp_bar = _value_and_gradient(gp, motion_of(gp), self.rows)
        return value, cotangent(model, gp=gp_bar)


@evidence_of.register(StateSpaceGP)
def _evidence(model: StateSpaceGP, data: Rows | Chunks) -> _Evidence:
    rows = whole_rows(data, model)
    _validate(model.gp, rows.X, rows.y)
    validate_noise(rows.X, rows.X.shape[0], rows.noise_var, rows.weights)
    return _Evidence(rows)
