"""The weights of a mean with a basis, given observations: one QR, for a normal or a vague prior.

With ``K_y = L Lᵀ`` the weights are those of a linear regression of ``L⁻¹ y`` on ``L⁻¹ H``. The
columns are factored and never multiplied with each other: that would square the condition number.
The functions take None for the trend of a mean that is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..ground import check as _check
from ..ground.caller_warnings import warn_caller
from ..ground.late_reads import unforeseen
from ..ground.linalg import Cholesky, RoundingWarning
from ..ground.params import cotangent
from ..ground.showing import summary
from ..ground.xp import (
    LOG_2PI,
    Matrix,
    Vector,
    array_namespace,
    diagonal,
    epsilon,
    eye,
    fused,
    whole_power,
    zero_where,
)
from . import means
from .contracts import Mean, MeanFunction, require
from .means import BasisMean, Powers
from .normal import Normal, normal_of

__all__ = [
    "Trend",
    "added",
    "explained",
    "joint_root",
    "learn",
    "mean_at",
    "mean_bars",
    "own_precision",
    "precision",
]

_REMEDY = "measure X from a place among the readings, as days_since does"


@dataclass(frozen=True, eq=False)
class Trend:
    """A mean ``h(x)ᵀβ`` as observations leave it; made by `gpnotes.condition`.

    Parameters
    ----------
    mean : BasisMean
        The mean before the observations.
    weights : Normal
        The posterior ``N(β̄, A⁻¹)`` of the weights, [eq-mf-weights], or
        [eq-mf-vague-weights] in the vague limit; with an origin, those of powers of ``x − origin``.
    solved : Matrix, shape (n, p)
        ``K_y⁻¹ H``.
    surcharge : float
        The term of the weights in minus twice the log evidence.
    degrees_of_freedom : float
        How many weights were learnt from the observations and not from the prior,
        [eq-mf-degrees].
    origin : Vector, shape (d,), or None
        From where vague `Powers` are measured: the middle of the inputs. Their span is the same
        from anywhere, but far from zero they are nearly multiples of each other. Otherwise None.
    rounding : float
        The size of the rounding of ``h(x)ᵀβ`` relative to the observations or their standard
        deviations, whichever are larger: the columns times the weights and their uncertainty.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 2.7.
    """

    mean: BasisMean
    weights: Normal
    solved: Matrix
    surcharge: float
    degrees_of_freedom: float
    origin: Vector | None = None
    rounding: float = 0.0

    __repr__ = summary

    @property
    def from_zero(self) -> Normal:
        """The posterior of the weights of the basis as it was given."""
        if self.origin is None:
            return self.weights
        mean = _from_zero(self.origin, self.weights.mean[:, None])[:, 0]
        return Normal(mean, _from_zero(self.origin, self.weights.root))

    def columns(self, Xs: Matrix) -> Matrix:
        """Evaluate the basis of the weights at inputs (n*, d), (n*, p)."""
        return _columns(self.mean, self.origin, Xs)

    def warn_of_rounding(self) -> None:
        """Warn of a basis whose columns cancel so that half of the digits are lost."""
        if self.rounding > epsilon(self.solved) ** 0.5:
            unforeseen()  # a warning comes once
            said = f"predictions may be off by {self.rounding:.1e} of the noise or of y"
            why = "the columns of gp.mean.basis are much larger than what they sum to"
            warn_caller(f"{said}: {why}; {_REMEDY}", RoundingWarning)

    def unknown(self, Xs: Matrix, cross: Matrix, with_mean: bool = True) -> Matrix:
        """Find a root of the covariance that the weights add at some inputs.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        cross : Matrix, shape (n, n*)
            The covariances K_f* of the observations with f there.
        with_mean : bool, default True
            Whether ``h(x)ᵀβ`` is in f; without it, the first term is not there.

        Returns
        -------
        Matrix, shape (n*, p)
            ``(h(x*)ᵀ − K_*f K_y⁻¹ H) A^{-1/2}``, [eq-mf-cov].
        """
        transposed = array_namespace(cross).matrix_transpose(cross)
        pull = transposed @ self.solved
        return (self.columns(Xs) - pull if with_mean else -pull) @ self.weights.root

    def taken(self) -> Matrix:
        """Find ``K_y⁻¹ H A^{-1/2}``, (n, p), whose square K_y⁻¹ loses for the weights."""
        return self.solved @ self.weights.root


def mean_at(mean: MeanFunction, trend: Trend | None, Xs: Matrix) -> Vector:
    """Evaluate the mean at inputs (n*, d), or the best guess of it, ``h(x*)ᵀβ̄``."""
    if trend is None:
        return means.with_hooks(mean)._call(Xs)
    return trend.columns(Xs) @ trend.weights.mean


def explained(
    trend: Trend | None, Xs: Matrix, cross: Matrix, half: Matrix, with_mean: bool = True
) -> Vector:
    """Find the share (n*,) of the variance at Xs that the data take away.

    Of `cross`, ``K_f*``, and `half`, ``L⁻¹ K_f*``, (n, n*) both; less the variance of unknown
    weights.
    """
    xp = array_namespace(half)
    by_function = _squares_of_columns(half)
    if trend is None:
        return by_function
    return by_function - xp.sum(trend.unknown(Xs, cross, with_mean) ** 2, axis=1)


@fused
def _squares_of_columns(half: Matrix) -> Vector:
    return array_namespace(half).sum(half * half, axis=0)


def added(trend: Trend, Xs: Matrix, cross: Matrix, with_mean: bool = True) -> Matrix:
    """Find the covariance (n*, n*) of unknown weights at Xs; `cross` as in `explained`."""
    root = trend.unknown(Xs, cross, with_mean)
    return root @ array_namespace(root).matrix_transpose(root)


def joint_root(trend: Trend | None, mean: Vector, covariance: Matrix, scales: Vector) -> Normal:
    """Make a `Normal` of a posterior, as `normal.normal_of` with scales that suit the trend.

    For a mean that is known `scales` (n*,) are the variances before the data. Unknown weights have
    no variance before the data: the rest is as large as its parts.
    """
    return normal_of(mean, covariance, scales if trend is None else scales + diagonal(covariance))


def precision(trend: Trend | None, factor: Cholesky) -> Matrix:
    """Find ``K_y⁻¹`` less the term of the weights; times ``y − Hb`` it gives α."""
    if trend is None:
        return factor.inverse()
    taken = trend.taken()
    return factor.inverse() - taken @ array_namespace(taken).matrix_transpose(taken)


def own_precision(trend: Trend | None, factor: Cholesky) -> Vector:
    """Find the diagonal of `precision`, (n,): zero where rounding is all that is left of it."""
    known = diagonal(factor.inverse())
    if trend is None:
        return known
    xp = array_namespace(known)
    left = known - xp.sum(trend.taken() ** 2, axis=1)
    return zero_where(left <= 32.0 * known.shape[0] * epsilon(known) * known, left)


def mean_bars(
    mean: MeanFunction, trend: Trend | None, X: Matrix, alpha: Vector
) -> tuple[Mean, Matrix]:
    """Differentiate the log evidence by the mean and, through it, by X.

    Parameters
    ----------
    trend : Trend, optional
        Its weights as observations leave them; None for a mean that is known.
    X : Matrix, shape (n, d)
        The inputs, validated before.
    alpha : Vector, shape (n,)
        α, the derivatives by the means.

    Returns
    -------
    mean_bar : Mean
        A mean of the same class that holds the derivatives.
    X_bar : Matrix, shape (n, d)
        The derivatives by X, through H by ``α β̄ᵀ − K_y⁻¹ H A⁻¹``; NaN for a basis without a
        pullback.

    Raises
    ------
    TypeError
        If a mean that is known has no pullback.
    """
    if trend is None:
        return means.with_hooks(require(mean, "gp.mean", Mean))._pullback(X, alpha)
    xp = array_namespace(alpha)
    if not hasattr(trend.mean.basis, "pullback"):
        return cotangent(trend.mean), xp.full_like(X, math.nan)
    root = xp.matrix_transpose(trend.weights.root)
    H_bar = alpha[:, None] * trend.weights.mean[None, :] - trend.taken() @ root
    return cotangent(trend.mean), trend.mean.columns_pullback(_moved(X, trend.origin), H_bar)


def learn(mean: MeanFunction, factor: Cholesky, X: Matrix, y: Vector) -> Trend | None:
    """Learn the weights of a mean with a basis from observations.

    Parameters
    ----------
    factor : Cholesky
        The factor of K_y.
    X : Matrix, shape (n, d)
        The inputs, validated before.
    y : Vector, shape (n,)
        The observations, validated before.

    Returns
    -------
    Trend, or None
        The trend; None for a mean that is known.

    Raises
    ------
    ValueError
        If the weights are vague and the observations cannot tell them apart or are fewer, or the
        basis returns another shape than it should or an entry that is not finite.

    Notes
    -----
    With ``β = b + S v``, ``v ~ N(0, I)`` and ``B = S Sᵀ``, the triangle of a QR has all that is
    needed: ``[L⁻¹HS  L⁻¹(y − Hb); I  0] = Q [U z; 0 ρ]`` gives ``β̄ = b + S U⁻¹z`` and the root
    ``S U⁻¹``, [eq-mf-qr]. In the vague limit S is the identity, b zero, and no rows are below.
    """
    if not isinstance(mean, BasisMean):
        return None
    xp = array_namespace(y)
    origin = _origin(mean, X)
    H = _columns(mean, origin, X)
    S = eye(H.shape[1], H) if mean.weights is None else mean.weights.root
    gap = y if mean.weights is None else y - H @ mean.weights.mean
    rows = factor._half_solve(xp.concat([H @ S, gap[:, None]], axis=1))
    sizes = xp.sqrt(xp.sum(rows * rows, axis=0))
    if mean.weights is None:
        _require_distinct(rows[:, :-1])
    else:
        rows = xp.concat([rows, eye(S.shape[1] + 1, H)[:-1, :]])
    found = _trend(mean, factor._solve(H), S, xp.linalg.qr(rows).R, sizes)
    return replace(found, origin=origin)


def _trend(mean: BasisMean, solved: Matrix, S: Matrix, R: Matrix, sizes: Vector) -> Trend:
    """The trend, from the triangle ``[U z; 0 ρ]`` and the sizes of the columns and of y."""
    xp = array_namespace(R)
    r = S.shape[1]
    whitened = Cholesky(xp.matrix_transpose(R[:r, :r]))
    moved = whitened._half_solve_t(R[:r, r])
    root = xp.matrix_transpose(whitened._half_solve(xp.matrix_transpose(S)))
    log_det = 2.0 * float(xp.sum(xp.log(xp.abs(diagonal(R[:r, :r])))))
    left = whitened._half_solve(eye(r, R))
    open_ = xp.sqrt(xp.sum(left * left, axis=0))
    whole = float(xp.sum(sizes[:-1] * (xp.abs(moved) + open_)))
    rounding = epsilon(R) * whole / max(float(sizes[-1]), math.sqrt(solved.shape[0]))
    if mean.weights is None:
        learnt, surcharge = Normal(S @ moved, root), log_det - r * LOG_2PI
        return Trend(mean, learnt, solved, surcharge, float(r), rounding=rounding)
    degrees = r - float(xp.sum(open_ * open_))
    weights = Normal(mean.weights.mean + S @ moved, root)
    surcharge = log_det + float(xp.sum(moved * moved))
    return Trend(mean, weights, solved, surcharge, degrees, rounding=rounding)


def _origin(mean: BasisMean, X: Matrix) -> Vector | None:
    """The middle of the inputs (n, d), if vague powers can be measured from there; else None."""
    powers = type(mean.basis) is Powers and mean.basis.degree > 0
    if mean.weights is not None or not powers:
        return None
    xp = array_namespace(X)
    return 0.5 * xp.min(X, axis=0) + 0.5 * xp.max(X, axis=0)


def _from_zero(origin: Vector, weights: Matrix) -> Matrix:
    """The weights of `Powers` of x, given those (p, m) of powers of ``x − origin``.

    ``(x − c)ᵏ = Σⱼ (k over j) (−c)ᵏ⁻ʲ xʲ``, input by input.
    """
    xp, d, c = array_namespace(weights), origin.shape[0], -origin[:, None]
    degree = (weights.shape[0] - 1) // d
    blocks = [weights[1 + k * d : 1 + (k + 1) * d, :] for k in range(degree)]
    level = weights[:1, :]
    for k, block in enumerate(blocks, 1):
        level = level + xp.sum(whole_power(c, k) * block, axis=0)[None, :]
    moved = []
    for j, block in enumerate(blocks, 1):
        for k in range(j + 1, degree + 1):
            block = block + math.comb(k, j) * whole_power(c, k - j) * blocks[k - 1]
        moved.append(block)
    return xp.concat([level, *moved], axis=0)


def _moved(X: Matrix, origin: Vector | None) -> Matrix:
    return X if origin is None else X - origin[None, :]


def _columns(mean: BasisMean, origin: Vector | None, X: Matrix) -> Matrix:
    return mean.columns(_moved(X, origin))


def _require_distinct(columns: Matrix) -> None:
    """Raise for a basis whose weights the observations do not determine, in the vague limit."""
    xp = array_namespace(columns)
    n, p = columns.shape
    if n < p:
        raise ValueError(f"X must have at least {p} rows, a weight of the vague mean each; got {n}")
    sizes = xp.sqrt(xp.sum(columns * columns, axis=0))
    pivots = xp.abs(diagonal(xp.linalg.qr(columns).R))
    for j in range(p):
        if not float(pivots[j]) > n * epsilon(columns) * float(sizes[j]):
            raise _check.NoValueError(
                f"X must tell the weights of a vague mean apart; column {j} of its basis is zero "
                f"or a combination of those before it, or all but one far from zero: {_REMEDY}"
            )
