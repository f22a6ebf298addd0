"""Natural-gradient steps: a convex combination of the sites that were and those that are wanted.

In its natural parameters a Gaussian's natural gradient is the plain gradient by its moments, so a
step of size r mixes: ``P ← (1 − r) P + r G``, ``t ← (1 − r) t + r g``. G and g are those of the
sites at the present q: ``G = I + Σ λᵢ aᵢ aᵢᵀ``, ``g = Σ (∂E/∂mᵢ + λᵢ aᵢᵀw) aᵢ`` with
``λᵢ = −2 ∂E/∂vᵢ`` and aᵢ the columns of ``A = L⁻¹ K_uf``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch
from typing import Any, cast

import numpy as np

from ...ground import check as _check
from ...ground.chunks import Rows
from ...ground.conversion import takes
from ...ground.late_reads import expect
from ...ground.linalg import _cholesky
from ...ground.threads import in_one_pool, threads_for
from ...ground.xp import (
    Matrix,
    MatrixLike,
    Vector,
    VectorLike,
    array_namespace,
    diagonal,
    epsilon,
    eye,
    fused,
    largest,
    solve_triangular,
)
from .model import validate_rows
from .posterior import V, Variational, VariationalPosterior
from .row_sums import HasValue, Sums, require_finite, sweep

__all__ = [
    "distance",
    "natural_gradient_step",
    "optimise_q",
    "slope_along",
    "step_begun",
    "take_step",
    "tolerance",
]

_SHORTEST = 2.0**-20  # step that is tried, unless one so short still leaps
_NEAR = 1e-3  # the longest natural gradient of an optimum: after a leap q may be of any size
_SHORT = 2.0**-5  # and that is begun with


@takes("X", "y")
@in_one_pool
def natural_gradient_step(
    posterior: V,
    X: MatrixLike,
    y: VectorLike,
    *,
    step_size: float = 1.0,
    total: int | None = None,
) -> V:
    """Take one natural-gradient step of q on rows of data.

    With a Gaussian likelihood and all rows, a step of size 1 arrives, wherever it starts.

    Parameters
    ----------
    posterior : VariationalPosterior or ClassesPosterior
        The Gaussian q.
    X : Matrix, shape (n, d)
        The inputs, all of them or those of a batch.
    y : Vector, shape (n,)
        The observations.
    step_size : float, default 1.0
        The size r of the step, up to 1.
    total : int, optional
        The number of all rows, where X is a batch: each row of it then counts total / n times.

    Returns
    -------
    VariationalPosterior or ClassesPosterior
        The next q, of the same model.

    Raises
    ------
    ValueError
        If shapes do not match, entries are not finite, the likelihood refuses y, `step_size` is
        not positive or exceeds 1, or `total` is below n.
    RuntimeError
        If the bound is not finite.

    Notes
    -----
    Where all λ are non-negative, as for every log-concave likelihood, P is never below I and no
    Cholesky factorisation can fail. Where some are negative, as for an outlier under `StudentT`, a
    mixture might not be positive definite. Then ``½ r² D P⁻¹ D`` with ``D = G − P`` is added to
    it: of second order in r, zero where the bound is stationary, and enough for ``P_new ⪰ ½ P``,
    since ``P + r D + ½ r² D P⁻¹ D = ½ P + ½ (P + r D) P⁻¹ (P + r D)``. Both move the mean alike,
    ``w ← w + r P_new⁻¹ ∂/∂w``. O(n M² + M³).

    Source: Khan & Lin (2017) for the mixture of sites, Adam, Chang, Khan & Solin (2021) for sparse
    processes, Salimbeni, Eleftheriadis & Hensman (2018) for the step within a fit; Lin, Schmidt &
    Khan (2020) for the term of second order.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Gaussian
    >>> from gpnotes.infer.svgp import SVGP, initial_posterior
    >>> X, y = np.linspace(0.0, 4.0, 9)[:, None], np.ones(9)
    >>> q = initial_posterior(SVGP(GP(RBF(), 0.0), Gaussian(0.1), X[::2]))
    >>> q = natural_gradient_step(q, X, y)
    >>> q.mean(np.asarray([[2.0]])).round(4)
    array([0.9718])
    """
    _check.instance(posterior, "posterior", Variational)
    validate_rows(posterior.model, X, y)
    step_size = unit_step(step_size, "step_size")
    sums = sweep(posterior, X, y, scale_of(X, total))
    return cast("V", take_step(posterior, require_finite(sums), step_size))


def unit_step(value: float, name: str) -> float:
    """The size of a natural-gradient step, above 0 and at most 1."""
    value = _check.positive(_check.number(value, name), name)
    if value > 1.0:
        raise ValueError(f"{name} must be at most 1; got {value}")
    return value


def scale_of(X: Matrix, total: int | None) -> float:
    """The number of rows that each row of X stands for."""
    n = X.shape[0]
    return 1.0 if total is None else _check.whole(total, "total", n) / n


def take_step(posterior: Variational, sums: HasValue, length: float) -> Variational:
    """The natural-gradient step of a given length, from the sums over the rows; O(M³).

    It is `step_begun` with the rest of the step.
    """
    return step_begun(posterior, sums, length)()


@singledispatch
@threads_for(lambda posterior, sums, length: posterior.weights.shape[0] ** 3)
def step_begun(posterior: Any, sums: Any, length: float) -> Callable[[], Variational]:
    """Factor the next precision after a step of a length from the sums at q, and return the rest.

    Whatever else is known by then can be read from a device with it. The rest, called, finds the
    weights and gives the next q.
    """
    # not P + r D: after a leap P may be so large that nothing of G would be left
    identity = eye(posterior.weights.shape[0], posterior.weights)
    precision = _mixed(identity, sums.sites, posterior.precision, length)
    if not sums.concave:
        target = identity + sums.sites
        half = solve_triangular(posterior.cholesky.lower, target - posterior.precision)
        squares = array_namespace(half).matrix_transpose(half) @ half
        precision = precision + (0.5 * length**2) * squares
    # t = P_new w + r ∂/∂w, which is (1 − r) t + r g where nothing was added
    moved = precision @ posterior.weights
    shift = _shifted(moved, sums.gradient, posterior.weights, length)
    # a sum of squares is finite if its diagonal is
    sure = expect(lambda: largest(diagonal(precision)))
    factor = _cholesky(precision, name="the precision of q", finite=sure)
    return lambda: replace(
        posterior, precision=precision, cholesky=factor, weights=factor._solve(shift),
        steps=posterior.steps + 1, converged=False,
    )  # fmt: skip


@fused
def _mixed(identity: Matrix, sites: Matrix, precision: Matrix, length: float) -> Matrix:
    return (1.0 - length) * precision + length * (identity + sites)


@fused
def _shifted(moved: Vector, gradient: Vector, weights: Vector, length: float) -> Vector:
    return moved + length * (gradient - weights)


def _toward(posterior: VariationalPosterior, sums: Sums) -> Matrix:
    """``D = G − P``."""
    identity = eye(posterior.weights.shape[0], posterior.weights)
    return identity + sums.sites - posterior.precision


def _converged(posterior: V) -> V:
    known: Any = posterior  # mypy takes the fields to be those of the bound
    return cast("V", replace(known, converged=True))


@np.errstate(all="ignore")  # a step that is too long may overflow: it is shortened
def optimise_q(
    posterior: V, X: Matrix, y: Vector, max_steps: int = 200, known: Rows | None = None
) -> V:
    """Find the q of the highest bound uphill from one, on all rows, which are validated.

    A step is halved until the bound does not fall, and the next one is shorter where it went too
    far; each takes O(n M² + M³) time. Its `converged` is False where `max_steps` were too few.
    Where something is known of the noise of each row, `known` has it.
    """
    sums = require_finite(sweep(posterior, X, y, 1.0, known))
    bound = sums.value - posterior.kl
    length = 1.0
    for _ in range(max_steps):
        away = distance(posterior, sums)
        if away <= min(tolerance(posterior), _NEAR):
            return _converged(posterior)
        # rounding of the two large sums whose difference the bound is
        slack = 10.0 * epsilon(X) * (1.0 + abs(bound) + abs(sums.value))
        # a step gains its length times away²: only less than slack may be rounding
        shortest = min(_SHORTEST, max(slack / away / away, sys.float_info.min))
        while length >= shortest:
            candidate = cast("V", take_step(posterior, sums, length))
            candidate_sums = sweep(candidate, X, y, 1.0, known)
            candidate_bound = candidate_sums.value - candidate.kl
            if candidate_bound >= bound - slack:
                break
            length *= 0.5
        else:
            return _converged(posterior)  # nothing is higher, but for rounding
        too_long = slope_along(posterior, candidate, candidate_sums) < 0.0
        posterior, sums, bound = candidate, candidate_sums, candidate_bound
        length = max(0.5 * length, _SHORT) if too_long else min(1.0, 2.0 * length)
    return posterior


@singledispatch
@threads_for(lambda before, after, sums: after.weights.shape[0] ** 3)
def slope_along(before: Any, after: Any, sums: Any) -> float:
    """The slope of the bound at `after` along the step there: negative if it went too far.

    Steps that leap from one side of the optimum to the other may each raise the bound by next to
    nothing, without end. With ``∂/∂Σ = −½ D`` it is ``∂/∂w · Δw − ½ tr D ΔΣ``.
    """
    xp = array_namespace(after.weights)
    slope = sums.gradient - after.weights
    by_mean = float(xp.sum(slope * (after.weights - before.weights)))
    # tr D Σ is tr R D Rᵀ with Σ = RᵀR, whose diagonal takes one product
    toward = _toward(after, sums)
    traces = [float(xp.sum((q.root @ toward) * q.root)) for q in (after, before)]
    return by_mean - 0.5 * (traces[0] - traces[1])


@singledispatch
@threads_for(lambda posterior, sums: posterior.weights.shape[0] ** 3)
def distance(posterior: Any, sums: Any) -> float:
    """The length of the natural gradient at q, by the metric of Fisher's information.

    ``√(gᵀ P⁻¹ g + ½ |L_P⁻¹ D L_P⁻ᵀ|²)`` with ``g = ∂/∂w`` and ``D = G − P``.
    """
    xp = array_namespace(posterior.weights)
    lower = posterior.cholesky.lower
    mean = solve_triangular(lower, sums.gradient - posterior.weights)
    half = solve_triangular(lower, _toward(posterior, sums))
    both = solve_triangular(lower, xp.matrix_transpose(half))
    return math.sqrt(float(xp.sum(mean * mean)) + 0.5 * float(xp.sum(both * both)))


@singledispatch
def tolerance(posterior: Any) -> float:
    """√eps of the size of q, ``√(1 + M + wᵀPw)``: a shorter natural gradient is as good as none."""
    w: Vector = posterior.weights
    size = float(array_namespace(w).sum(w * (posterior.precision @ w)))
    return math.sqrt(epsilon(w) * (1.0 + w.shape[0] + size))
