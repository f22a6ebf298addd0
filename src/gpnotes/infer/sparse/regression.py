"""Regression through inducing points: posterior, approximate evidence and bounds, one gradient.

All methods share two passes over the rows: sums, of which `methods` says the noise and the
correction, and slopes. So all are linear in the number of rows, and none holds more than a few of
them at a time.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ...ground import check as _check
from ...ground import xp as _xp
from ...ground.chunks import Chunk, Chunks, Data, Mapper, Rows, repeatable
from ...ground.conversion import takes
from ...ground.linalg import Cholesky
from ...ground.params import added, cotangent
from ...ground.threads import threads_for
from ...ground.xp import Matrix, MatrixLike, VectorLike, array_namespace
from ...model.contracts import InducingVariables
from ...model.gaussian_process import GP, differentiable_mean
from ..interdomain.point_functionals import gram_pulled, variables_of
from ..interdomain.waves import WaveSums
from ..sufficient_statistics import Statistics, like_data, positive_noise
from .methods import Method, MethodName, method_named
from .posterior import SparsePosterior
from .projection import Inducing, inducing_at, like_kernel, with_share
from .streaming import Kept, Pull, Slopes, Sums, validate_rows

__all__ = [
    "condition", "condition_on_chunks", "log_evidence", "log_evidence_and_gradient",
    "log_evidence_and_gradient_on_chunks", "posterior_of", "value_and_gradient", "value_of",
    "work_of",
]  # fmt: skip


@takes("Z", "X", "y")
def condition(
    gp: GP,
    Z: MatrixLike | InducingVariables,
    X: MatrixLike,
    y: VectorLike,
    *,
    method: MethodName = "vfe",
    power: float = 0.5,
) -> SparsePosterior:
    """Condition a process on data through inducing variables.

    With ``V = L_u⁻¹ K_uf``, ``Λ = diag(σ² + s g)`` of the `method` and ``B = I + V Λ⁻¹ Vᵀ``:
    ``L_u⁻¹ u | y ~ N(B⁻¹ V Λ⁻¹ r, B⁻¹)``. The methods are

    - ``"sor"``: subset of regressors, of which the variance vanishes far from Z;
    - ``"dtc"``: the same with the full variance of f; ``"fitc"``: with the gaps as noise;
    - ``"vfe"``: Titsias' (2009) variational posterior, which is DTC's with another bound;
    - ``"pep"``: power EP, between VFE (``power=0``) and FITC (``power=1``);
    - ``"tight"``: VFE's posterior with the tighter bound of Titsias (2025).

    Parameters
    ----------
    gp : GP
        The process, with a positive ``noise_var``.
    Z : Matrix, shape (M, d), or InducingVariables
        The inducing points, or other inducing variables such as `interdomain.Harmonics`: K_uu and
        K_uf are then their covariances.
    X : Matrix, shape (n, d)
        The inputs.
    y : Vector, shape (n,)
        The observations.
    method : str, default ``"vfe"``
        The name of a method, one of those above.
    power : float, default 0.5
        The power of ``"pep"``, from 0 to 1.

    Returns
    -------
    SparsePosterior
        The posterior. With M points among which are all of X, all methods but ``"sor"`` give the
        exact one. Points of Z that coincide change nothing but that K_uu needs jitter, of which a
        ``JitterWarning`` tells.

    Notes
    -----
    O(n M² + M³) time. Memory is O(M²), whatever n is.

    Source: Quiñonero-Candela & Rasmussen (2005); Titsias (2009); Bui, Yan & Turner (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF
    >>> X = np.linspace(0.0, 3.0, 30)[:, None]
    >>> posterior = condition(GP(RBF(), 0.01), X[::6], X, np.sin(X[:, 0]))
    >>> posterior.mean(np.asarray([[1.5]])).round(2)
    array([1.])
    """
    work = work_of(gp, Z, method, power)
    validate_rows(gp, work.Z, X, y)
    return posterior_of(work, Rows(X, y))


@takes("Z")
def condition_on_chunks(
    gp: GP,
    Z: MatrixLike | InducingVariables,
    chunks: Iterable[Chunk],
    *,
    method: MethodName = "vfe",
    power: float = 0.5,
    map: Mapper = builtins.map,
) -> SparsePosterior:
    """`condition` for data in chunks, which may be on other machines.

    ``V Λ⁻¹ Vᵀ``, ``V Λ⁻¹ r`` and four numbers of each chunk are worked out by `map` and added.

    Parameters
    ----------
    gp, Z, method, power
        As in `condition`.
    chunks : iterable
        Pairs (X, y), or functions that fetch one, as `chunks.add_up` takes them.
    map : callable, default ``map``
        What works on the chunks, as `chunks.add_up` takes it.

    Returns
    -------
    SparsePosterior
        The posterior given all chunks.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF
    >>> X = np.linspace(0.0, 3.0, 30)[:, None]
    >>> halves = [(part, np.sin(part[:, 0])) for part in (X[:20], X[20:])]
    >>> posterior = condition_on_chunks(GP(RBF(), 0.01), X[::6], halves)
    >>> posterior.mean(np.asarray([[1.5]])).round(2)
    array([1.])
    """
    return posterior_of(work_of(gp, Z, method, power), Chunks(chunks, map))


@takes("Z", "X", "y")
def log_evidence(
    gp: GP,
    Z: MatrixLike | InducingVariables,
    X: MatrixLike,
    y: VectorLike,
    *,
    method: MethodName = "vfe",
    power: float = 0.5,
) -> float:
    """The log evidence by inducing variables, approximated or bounded.

    ``log N(y; m(X), Q + Λ) + T`` with ``Q = K_fu K_uu⁻¹ K_uf``, the gaps ``g = diag(K_ff − Q)``
    and

    - ``"sor"``, ``"dtc"``: ``Λ = σ²I``, ``T = 0``; ``"fitc"``: ``Λ = σ²I + diag g``, ``T = 0``;
    - ``"vfe"``: ``Λ = σ²I``, ``T = −Σ gᵢ / 2σ²``, a lower bound;
    - ``"pep"``: ``Λ = σ²I + p diag g``, ``T = −(1 − p)/2p Σ log(1 + p gᵢ/σ²)`` for the power p;
    - ``"tight"``: ``Λ = σ²I``, ``T = −½ Σ log(1 + gᵢ/σ²)``, a lower bound above VFE's;
    - ``"upper"``: ``−½ (n log 2π + log |Q + σ²I| + rᵀ(Q + (σ² + Σ gᵢ) I)⁻¹ r)``, an upper bound.

    Parameters
    ----------
    gp, Z, X, y, power
        As in `condition`.
    method : str, default ``"vfe"``
        The name of a method, one of those above.

    Returns
    -------
    float
        The evidence, or the bound, in nats.

    Notes
    -----
    O(n M² + M³).

    Source: Quiñonero-Candela & Rasmussen (2005) for SoR, DTC and FITC; Titsias (2009) for VFE;
    Bui, Yan & Turner (2017) for power EP; Titsias (2025) for the tighter bound; Titsias (2014) for
    the upper one.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, log_evidence as exact
    >>> X = np.linspace(0.0, 9.0, 30)[:, None]
    >>> gp, y = GP(RBF(), 0.1), np.sin(X[:, 0])
    >>> bounds = [log_evidence(gp, X[::5], X, y, method=name) for name in ("vfe", "tight", "upper")]
    >>> bounds[0] < bounds[1] < exact(gp, X, y) < bounds[2]
    True
    """
    work = work_of(gp, Z, method, power, bound=True)
    return _head(work, work(X, y).warned()).value


@takes("Z", "X", "y")
def log_evidence_and_gradient(
    gp: GP,
    Z: MatrixLike | InducingVariables,
    X: MatrixLike,
    y: VectorLike,
    *,
    method: MethodName = "vfe",
    power: float = 0.5,
) -> tuple[float, GP, Matrix]:
    """`log_evidence` with its derivatives by all hyperparameters and by the inducing inputs.

    Parameters
    ----------
    gp : GP
        The process; its mean must have a ``pullback``.
    Z, X, y, method, power
        As in `log_evidence`.

    Returns
    -------
    value : float
        The evidence, or the bound, in nats.
    gp_bar : GP
        The derivatives by all hyperparameters.
    Z_bar : Matrix, shape (M, d)
        The derivatives by Z, or by the ``inputs`` of other inducing variables.

    Raises
    ------
    TypeError
        As in `log_evidence`, and for a mean without a ``pullback``.

    Notes
    -----
    ``V_bar = w αᵀ − B⁻¹ V Λ⁻¹ − 2 V diag(g_bar)`` is carried back through the kernel, a few rows
    at a time, in a second pass over the data; O(n M² + M³). Jitter counts as a constant. Where
    points of Z nearly coincide, derivatives are differences of large numbers: with the condition
    number of K_uu they lose digits. For NumPy arrays and an RBF or Matérn kernel SoR, DTC, VFE and
    the upper bound work in place.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF
    >>> X = np.linspace(0.0, 9.0, 30)[:, None]
    >>> value, gp_bar, Z_bar = log_evidence_and_gradient(
    ...     GP(RBF(), 0.1), X[::5], X, np.sin(X[:, 0])
    ... )
    >>> Z_bar.shape, gp_bar.kernel.lengthscale > 0.0
    ((6, 1), True)
    """
    work = work_of(gp, Z, method, power, bound=True)
    differentiable_mean(gp)
    validate_rows(gp, work.Z, X, y)
    return value_and_gradient(work, Rows(X, y))


@takes("Z")
def log_evidence_and_gradient_on_chunks(
    gp: GP,
    Z: MatrixLike | InducingVariables,
    chunks: Iterable[Chunk],
    *,
    method: MethodName = "vfe",
    power: float = 0.5,
    map: Mapper = builtins.map,
) -> tuple[float, GP, Matrix]:
    """`log_evidence_and_gradient` for data in chunks, which are gone through twice.

    Parameters
    ----------
    gp, Z, method, power
        As in `log_evidence_and_gradient`.
    chunks, map
        As in `condition_on_chunks`, but that `chunks` must be a list, or another iterable that can
        be gone through more than once.

    Returns
    -------
    value, gp_bar, Z_bar
        As in `log_evidence_and_gradient`.

    Raises
    ------
    TypeError
        As in `condition_on_chunks`, for chunks that can be had only once, and for a mean without a
        ``pullback``.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF
    >>> X = np.linspace(0.0, 9.0, 30)[:, None]
    >>> halves = [(part, np.sin(part[:, 0])) for part in (X[:20], X[20:])]
    >>> value, _, Z_bar = log_evidence_and_gradient_on_chunks(GP(RBF(), 0.1), X[::5], halves)
    >>> value < 0.0, Z_bar.shape
    (True, (6, 1))
    """
    work = work_of(gp, Z, method, power, bound=True)
    differentiable_mean(gp)
    return value_and_gradient(work, Chunks(repeatable(chunks), map))


def work_of(
    gp: GP, Z: Matrix | InducingVariables, name: MethodName, power: float, bound: bool = False
) -> Sums:
    """The first pass, for a process with noise and points that go together."""
    positive_noise(_check.instance(gp, "gp", GP))
    method = method_named(name, power)
    if method.upper and not bound:
        raise ValueError(f"method must have a posterior; {name!r} is but a bound")
    variables = variables_of(Z)
    return Sums(gp, variables.inputs, inducing_at(gp, variables), method)


def posterior_of(work: Sums, data: Data | WaveSums) -> SparsePosterior:
    """The posterior, from one pass over the data."""
    sums = data.over(work).warned()
    return SparsePosterior(
        work.gp,
        work.Z,
        work.inducing,
        sums.weight_mean,
        sums.factor,
        sums.log_evidence,
        work.method.degenerate,
    )


def value_of(work: Sums, data: Data | WaveSums) -> float:
    """The evidence, or the bound, from one pass over the data."""
    return _head(work, data.over(work).warned()).value


class Head(NamedTuple):
    """The value, and what the second pass needs of it or leaves out: rows with one noise know
    `noise_bar` and ``moved = V_bar Vᵀ`` from the sums."""

    value: float
    pull: Pull
    noise_bar: float
    moved: Matrix


@threads_for(lambda work, sums: sums.gram.shape[0] ** 3)
def _head(work: Sums, sums: Statistics) -> Head:
    inverse = sums.factor.inverse()
    if not work.method.constant:
        pull = Pull(*_parts(work), sums.weight_mean, inverse, kept=work.kept)
        return Head(sums.log_evidence, pull, 0.0, array_namespace(inverse).zeros_like(inverse))
    noise_var = work.gp.noise_var
    free = sums.count - sums.gram.shape[0] + _trace(inverse)  # σ² tr (Q + σ²I)⁻¹
    if work.method.upper:
        # the quadratic form has its own noise τ = σ² + Σ g, and so its own B
        tau = noise_var + sums.gap
        quadratic = sums.scaled(noise_var / tau)
        value = sums.log_evidence + 0.5 * (sums.fit - quadratic.fit)
        gap_bar = 0.5 * quadratic.squared_alpha(tau)
        noise_bar = gap_bar
    else:
        tau, quadratic, value = noise_var, sums, sums.log_evidence
        gap_bar = -0.5 * work.method.penalty / noise_var
        noise_bar = 0.5 * sums.squared_alpha(noise_var) - gap_bar * sums.gap / noise_var
    w = quadratic.weight_mean
    # V α = w and B⁻¹ V Vᵀ / σ² = I − B⁻¹
    moved = w[:, None] * w[None, :] - _xp.eye(w.shape[0], w) + inverse
    moved = moved - 2.0 * gap_bar * noise_var * sums.gram
    pull = Pull(*_parts(work), w, inverse, tau, gap_bar, work.kept)
    return Head(value, pull, noise_bar - 0.5 * free / noise_var, moved)


def _parts(work: Sums) -> tuple[GP, Matrix, Inducing, Method]:
    return work.gp, work.Z, work.inducing, work.method


def _trace(a: Matrix) -> float:
    return float(array_namespace(a).sum(_xp.diagonal(a)))


def value_and_gradient(work: Sums, data: Data | WaveSums) -> tuple[float, GP, Matrix]:
    """A bound and its derivatives, from two passes over the data."""
    if isinstance(data, Rows | WaveSums):  # the second pass is of the same, in this process
        work = replace(work, kept=Kept())
    head = _head(work, data.over(work))
    slopes: Slopes = data.over(head.pull)
    inducing = work.inducing
    moved = slopes.moved + head.moved
    K_bar = -0.5 * _between_factors(inducing.factor, moved)
    kernel_bar, Z_bar = gram_pulled(inducing.variables, inducing.kernel, K_bar)
    kernel_bar = added(slopes.kernel_bar, kernel_bar)
    if work.method.constant and inducing.in_place:
        kernel_bar = with_share(kernel_bar, inducing.kernel, _trace(moved))
    gp_bar = cotangent(
        work.gp,
        kernel=like_kernel(kernel_bar, work.gp.kernel),
        noise_var=slopes.noise_bar + head.noise_bar,
        mean=slopes.mean_bar,
    )
    return head.value, gp_bar, like_data(slopes.Z_bar + Z_bar, work.Z)


@threads_for(lambda factor, a: a.shape[0] ** 3)
def _between_factors(factor: Cholesky, a: Matrix) -> Matrix:
    """``L⁻ᵀ a L⁻¹``, symmetric if a is, up to rounding."""
    half = _xp.solve_triangular(factor.lower, a, transpose=True)
    turned = array_namespace(a).matrix_transpose(half)
    return _xp.symmetric_part(_xp.solve_triangular(factor.lower, turned, transpose=True))
