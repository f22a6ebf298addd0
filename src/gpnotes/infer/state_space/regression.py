"""Gaussian process regression on a line with kernels of few states, in time that grows as N."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Chunks, Rows
from ...ground.class_tags import saved_as
from ...ground.params import cotangent, fixed, leaves
from ...ground.threads import in_one_pool
from ...ground.xp import Matrix, Vector, array_namespace, cast_like, in_double
from ...model import means
from ...model.gaussian_process import GP, differentiable_mean, validate_data
from ...model.kernels import Periodic
from ..evidence import Evidence, Model, evidence_of, whole_rows
from ..known_noise import noise_of
from .as_terms import SHORTEST, TermBar, expansion_of
from .compiled_walk import is_compiled
from .kalman import Filtered
from .posterior import (
    StateSpacePosterior,
    along,
    filtered,
    posterior_of,
    sorted_readings,
    warn_of_rounding,
)
from .term_sums import TermSums

__all__ = ["StateSpaceGP"]


def _validate(model: StateSpaceGP, X: Matrix, y: Vector) -> None:
    motion = expansion_of(model.gp, model.tolerance).motion
    validate_data(model.gp, X, y, columns=1)
    motion.require_reach(X[:, 0], "X")
    _check.squarable(y, "y")
    size = 2 * motion.size * (motion.size + 2)
    memory.require(X.shape[0], size, copies=1, like=in_double(X[:1, :]), what="the states")


def _value_and_gradient(
    model: StateSpaceGP, rows: Rows, quiet: bool
) -> tuple[float, GP]:  # fmt: skip
    gp, X = model.gp, rows.X
    found = expansion_of(gp, model.tolerance)
    found.motion.require_reach(X[:, 0], "X")  # a fit may have made a lengthscale longer
    times, residual, order = sorted_readings(gp, X, rows.y)
    noise = along(noise_of(gp, rows), order)
    run = filtered(found, times, residual, noise, model.compiled)
    xp, lanes, unit = array_namespace(times), run.lanes, found.unit
    alpha, precision, bars = _pulled(run)
    # K_y is `unit` times that of the filter, and r √unit times its readings: so α², as K_y⁻¹,
    # is as many times smaller
    lambda_bar = 0.5 * (lanes.ordered(alpha) ** 2 - lanes.ordered(precision)) / unit
    own = [bar._replace(variance=bar.variance / unit) for bar in bars]
    kernel_bar = found.pull(own, float(xp.sum(lambda_bar)))
    noise_bar = float(xp.sum(noise.share * lambda_bar))
    alpha = lanes.ordered(alpha) / math.sqrt(unit)
    if order is not None:
        alpha = xp.take(alpha, xp.argsort(order))
    mean_bar, _ = means.with_hooks(differentiable_mean(gp))._pullback(X, cast_like(alpha, X))
    value = run.log_evidence - 0.5 * lanes.count * math.log(unit)
    if not quiet:
        warn_of_rounding(run, value)
    return value, cotangent(gp, kernel=kernel_bar, noise_var=noise_bar, mean=mean_bar)


@in_one_pool
def _pulled(run: Filtered) -> tuple[Matrix, Matrix, list[TermBar]]:
    """``K_y⁻¹ r``, the diagonal of ``K_y⁻¹``, and the derivatives of the evidence by the terms."""
    xp = array_namespace(run.precision)
    alpha, precision = xp.empty_like(run.precision), xp.empty_like(run.precision)
    motion = run.lanes.motion
    terms = enumerate(zip(motion.terms, motion.told, strict=True))
    sums = [TermSums(term, told, [motion.entries(i, row) for row in range(term.size)])
            for i, (term, told) in terms]  # fmt: skip
    # both ways back in step: of λ and Λ no more than one step is kept
    passes = zip(run.pass_back_of_means(), run.pass_back_of_covariances(), strict=True)
    for (k, told, late), (_, share, taken) in passes:
        alpha[k, ...], precision[k, ...] = told, share
        step = run.lanes.step(k)
        belief = run.mean[k, ...], run.cov[k, ...]
        for one, Q in zip(sums, step.noise, strict=True):
            one.add(step.x, run.lanes.gaps[k, ...], Q, *belief, late, taken)
    # before the first reading there is no gap: going on over it has left λ and Λ as they were
    first = late[:, :1], taken[:, :, :1]
    known = zip(sums, run.first.unseen, run.first.shares(*first), strict=True)
    for one, unseen, of_value in known:
        one.add_first(unseen, *first, of_value)
    return alpha, precision, [one.bar for one in sums]


@dataclass(frozen=True, eq=False)
class StateSpaceGP(Model["StateSpaceGP", StateSpacePosterior]):
    """A process on a line, a model for `condition`, `log_evidence` and `fit` in O(N).

    X has one column, in any order; a place may occur again. The posterior is that of the process
    itself, up to rounding. As a cotangent, it holds the derivatives by the process.

    Parameters
    ----------
    gp : GP
        A process whose kernel is `Matern12`, `Matern32`, `Matern52`, `Cosine`, `Periodic`,
        `Constant`, `Linear`, `Wiener`, `IntegratedWiener` or `White`, or made of these by ``+``,
        ``*`` and multiples, and whose ``noise_var`` is positive; its mean may be any but a
        `BasisMean`.
    tolerance : float, default 1e-6
        How far the covariance may be off, in parts of the variance of a `Periodic` or of the noise,
        whichever is less. It is the one kernel that is not exact: of its waves as many are taken as
        this wants. They grow as the inverse of its lengthscale, so that is at least 0.1, and in a
        fit stays there; the exact `GP` takes any.
    compiled : bool, default False
        Walk from reading to reading in a loop that Numba compiles, of the extra `compiled`: the
        same up to rounding, faster for long lines and for short ones of many terms. It is for
        NumPy's arrays and sums of Matérn kernels, `Cosine`, `Periodic`, `Constant` and `White`, and
        the first call of a process compiles for some seconds.

    Raises
    ------
    ValueError
        For a process without noise, for a `Periodic` of a lengthscale below 0.1, and for a state
        of more than 600 numbers, as of two seasons multiplied; of data farther than 1e30 from zero
        where a term grows, as `Linear` does, or never forgets, as a `Cosine` or `Periodic` alone.

    Warns
    -----
    RoundingWarning
        If a sum of terms that vary by far more than the noise leaves less than a quarter of the
        digits of the evidence, or, where one grows, less than half of those of the variances.

    Notes
    -----
    A Matérn process is a state-space model of dimension ν + ½, [eq-be-matern]; a sum has the states
    of its terms, [eq-be-sum], a product the Kronecker product of them, [eq-be-product], a season
    those of waves, [eq-be-season]. A state of D numbers costs O(N D²) and 16 D² bytes a reading.
    Kalman's filter and the modified Bryson–Frazier smoother work on many stretches of the line at a
    time, joined exactly afterwards, in float64 where the device has it; they begin after the first
    reading, which may leave 1e-19 of the variance of a trend. A term whose state moves as a part of
    that of a trend is added to it, so that no two large ones cancel. For the gradient, a gap s
    carries a belief by ``dm/ds = G m`` and ``dP/ds = G P + P Gᵀ + L``; the pass back has those
    by m and P of each step: λ and ``½ (λλᵀ − Λ)``. Source: Hartikainen & Särkkä (2010); Solin &
    Särkkä (2014); Särkkä & García-Fernández (2021).

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
    tolerance: float = fixed(1e-6)
    compiled: bool = fixed(False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", _check.positive(self.tolerance, "tolerance"))
        motion = expansion_of(self.gp, self.tolerance).motion
        if _check.flag(self.compiled, "compiled") and not is_compiled(motion):
            known = "sums of Matérn kernels, Cosine, Periodic, Constant and White"
            got = f"got {self.gp.kernel!r}"
            raise ValueError(
                f"compiled must be False here: the compiled walk is for {known}; {got}"
            )


@saved_as("state-space evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[StateSpaceGP, StateSpacePosterior]):
    """The log evidence on a line."""

    by_reading: ClassVar[bool] = True

    rows: Rows

    def posterior(self, model: StateSpaceGP) -> StateSpacePosterior:
        return posterior_of(model.gp, self.rows, model.tolerance, model.compiled)

    def value(self, model: StateSpaceGP) -> float:
        return posterior_of(model.gp, self.rows, model.tolerance, model.compiled).log_evidence

    def least(self, model: StateSpaceGP) -> Mapping[str, float]:
        seasons = (leaf.path for leaf in leaves(model) if issubclass(leaf.owner, Periodic))
        return {path: SHORTEST for path in seasons if path.endswith(".lengthscale")}

    def require_gradient(self, model: StateSpaceGP) -> None:
        differentiable_mean(model.gp)

    def value_and_gradient(
        self, model: StateSpaceGP, *, quiet: bool = False
    ) -> tuple[float, StateSpaceGP]:
        value, gp_bar = _value_and_gradient(model, self.rows, quiet)
        return value, cotangent(model, gp=gp_bar)


@evidence_of.register(StateSpaceGP)
def _evidence(model: StateSpaceGP, data: Rows | Chunks) -> _Evidence:
    rows = whole_rows(data, model)
    _validate(model, rows.X, rows.y)
    return _Evidence(rows)
