"""Exact Gaussian process regression: condition once, everything else is a view.

The posterior of a `GP` by `gpnotes.condition` factors ``K_y = K_ff + σ_n² I = L Lᵀ`` and keeps the
factor. Prediction, samples, the evidence and its derivatives, leave-one-out and extension all start
from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, cast

import numpy as np

from ..fast import stationary_evidence as in_place
from ..fast.tiled_kernels import evidence_in_place
from ..ground import check as _check
from ..ground import memory
from ..ground.caller_warnings import warn_caller
from ..ground.chunks import Data, Rows
from ..ground.class_tags import saved_as
from ..ground.conversion import takes
from ..ground.in_step import ask, asks
from ..ground.late_reads import expect, number, on_trial, trials
from ..ground.linalg import (
    Cholesky,
    NameWith,
    RoundingWarning,
    _cholesky,
    warn_of_jitter,
    warn_of_loss,
)
from ..ground.params import added as added_bars
from ..ground.params import cotangent, numbers_read
from ..ground.showing import summary
from ..ground.threads import threads_for
from ..ground.xp import (
    LOG_2PI,
    Array,
    HostVector,
    Matrix,
    MatrixLike,
    Numbers,
    Vector,
    VectorLike,
    array_namespace,
    columns_of_identity,
    device,
    diagonal,
    epsilon,
    factor_in_place,
    fused,
    in_double,
    is_cupy_array,
    is_numpy_namespace,
    to_numpy,
)
from ..model import means
from ..model.basis import (
    Trend,
    added,
    explained,
    joint_root,
    learn,
    mean_at,
    mean_bars,
    own_precision,
    precision,
)
from ..model.gaussian_process import (
    GP,
    differentiable_mean,
    fitted_mean,
    plus_noise,
    plus_noise_in_rows,
    prior,
    residual_of,
    validate_data,
)
from ..model.kernels.origins import nearer_origin
from ..model.means import BasisMean
from ..model.normal import Normal
from .evidence import Evidence, evidence_of, whole_rows
from .input_gradients import pulled_back
from .interdomain import WaveSums
from .known_noise import Noise, joined, noise_of, noise_under, validate_noise
from .leave_one_out import LeaveOneOut, predict_left_out
from .posterior import PartPosterior, Posterior, named_as, require_inputs
from .stacked_evidences import KIND, Answer, Asked, is_stacked

__all__ = ["GP", "ExactPosterior", "LeaveOneOut", "prior"]


@threads_for(lambda gp, rows: rows.X.shape[0] ** 3)
def _conditioned(gp: GP, rows: Rows) -> ExactPosterior:
    """The posterior, without a look at the data and without a warning of jitter."""
    return _posterior(gp, rows, _factor(gp, rows.X, noise_under(gp.noise_var, rows).variance))


def _factor(gp: GP, X: Matrix, noise_var: Numbers) -> Cholesky:
    if in_place.supports(gp.kernel, X):
        memory._require_of_rows(X.shape[0], like=X, copies=1, what="the Gram matrix")
        # a matrix without a factor is made again below: jitter goes on a K_y that is whole
        if (lower := in_place.factor(gp.kernel, noise_var, X)) is not None:
            return Cholesky(lower)
    if _is_large(gp, X) and (made := _factor_in_place(gp, X, noise_var)) is not None:
        return Cholesky(made)
    memory.require_of_rows(X.shape[0], like=X, copies=3, what="the Gram matrix")
    return _cholesky(plus_noise(gp.kernel._gram(X, None), noise_var), name=_gram_name(gp))


_WHOLE = 2**13  # points up to which a device holds several matrices of them, in fewer launches
_ROWS = 2**11  # and how many rows of a matrix it holds beside it where there are more


def _is_large(gp: GP, X: Matrix) -> bool:
    """Return True if a matrix is to be made, and gone through, a few rows at a time."""
    return is_cupy_array(X) and X.shape[0] > _WHOLE and gp.kernel.of_pairs


def _factor_in_place(gp: GP, X: Matrix, noise_var: Numbers) -> Matrix | None:
    """The factor of K_y in its place, or None: then K_y is made again, to be looked at."""
    n, xp = X.shape[0], array_namespace(X)
    blocks = _chunks_of_rows(n)
    memory.require_beside(n, _BESIDE * _ROWS, like=X, what="the Gram matrix")
    K = xp.empty((n, n), dtype=X.dtype, device=device(X))
    for rows in blocks:
        K[rows, :] = plus_noise_in_rows(gp.kernel._gram(X[rows, :], X), noise_var, rows)
    return K if factor_in_place(K, blocks) else None


def _chunks_of_rows(n: int) -> list[slice]:
    chunk = _ROWS * n
    return memory.blocks(n, n, chunk)


_TREND = "give a wide trend as mean=BasisMean(Powers()), compute in float64"
_BESIDE = 12  # blocks of rows that are alive beside a matrix at most, of a product of two parts


def _gram_name(gp: GP) -> NameWith:
    parts = gp.kernel, gp.noise_var
    return NameWith("the Gram matrix of {!r} with noise_var={:.6g}", parts)


def _posterior(gp: GP, rows: Rows, factor: Cholesky) -> ExactPosterior:
    X, y = rows.X, rows.y
    trend = learn(gp.mean, factor, X, y)
    residual = residual_of(gp, X, y) if trend is None else y - mean_at(gp.mean, trend, X)
    alpha = factor._solve(residual)
    return ExactPosterior(gp, X, y, factor, residual, alpha, trend, rows.noise_var, rows.weights)


def _joint_work(posterior: ExactPosterior, Xs: Matrix, *_: object, **__: object) -> int:
    """Count the multiplications for f at all of Xs together, and for a root of its covariance."""
    return (posterior.X.shape[0] + Xs.shape[0]) ** 2 * Xs.shape[0]


@dataclass(frozen=True, eq=False)
class ExactPosterior(Posterior):
    """The process given data, around one factorisation; made by `gpnotes.condition`.

    The arrays given are kept, not copied: whoever changes them changes the posterior. A prediction
    costs O(n² m) at m inputs, its mean alone O(n m). Memory grows as n²: the factor takes 8 n²
    bytes in float64, two or three times as much while it is made, a gradient up to six times. On a
    GPU, from 8192 points on and for stationary kernels, their sums and products, the factor takes
    the place of the matrix and a gradient goes through a few rows at a time: 8 n² bytes in all, and
    some 100 000 n more. A matrix that does not fit is refused by name before it is made.

    Parameters
    ----------
    gp : GP
        The process that was conditioned.
    X : Matrix, shape (n, d)
        The inputs.
    y : Vector, shape (n,)
        The observations.
    cholesky : Cholesky
        The factor of ``K_y``.
    residual : Vector, shape (n,)
        ``y − m(X)``.
    alpha : Vector, shape (n,)
        ``K_y⁻¹ residual``.
    trend : Trend or None
        The posterior of the weights of a mean with a basis; m is then its best guess.
    noise_var, weights : Vector, shape (n,), or None
        The known noise of each observation, as in `gpnotes.condition`.

    Notes
    -----
    [eq-fv-cholesky], [eq-fv-mean-function], [eq-fv-cov]; with noise [eq-fv-predict-y]. Source:
    Rasmussen & Williams (2006), sections 2.2 and 2.3, algorithm 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, condition
    >>> posterior = condition(GP(RBF(), 0.5), np.asarray([[0.0]]), np.asarray([3.0]))
    >>> mean, variance = posterior.predict(np.asarray([[0.0], [9.0]]), noise=True)
    >>> mean.round(4), variance.round(4)
    (array([2., 0.]), array([0.8333, 1.5   ]))
    >>> posterior.extend(np.asarray([[9.0]]), np.asarray([1.5])).alpha
    array([2., 1.])
    """

    gp: GP
    X: Matrix
    y: Vector
    cholesky: Cholesky
    residual: Vector
    alpha: Vector
    trend: Trend | None = None
    noise_var: Vector | None = None
    weights: Vector | None = None
    __repr__ = summary

    @property
    def reading_noise(self) -> Noise:
        """The noise of its readings, [eq-fv-known-noise]; one number where all are alike."""
        return noise_of(self.gp, self._rows)

    @property
    def _rows(self) -> Rows:
        return Rows(self.X, self.y, self.noise_var, self.weights)

    @property
    def basis(self) -> Normal:
        """The weights of the mean given the data, ``N(β̄, A⁻¹)``, [eq-mf-weights].

        A mean without a basis has no weights: a `ValueError`.
        """
        if self.trend is None:
            raise ValueError(f"gp.mean must have a basis to have weights; got {self.gp.mean!r}")
        return self.trend.from_zero

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit the data."""
        require_inputs(Xs, name, self.X, "X", self.gp.kernel)

    @property
    def _noise(self) -> float:
        return self.gp.noise_var

    @property
    def _width(self) -> int:
        return self.X.shape[0]

    @threads_for(lambda self, Xs: self.X.shape[0] ** 2 * Xs.shape[0])
    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        """Return them by [eq-fv-cholesky]."""
        pull, explained = self._project(Xs)
        # k(x, x) less nearly as much: at a reading rounding may take the difference below zero
        variance = array_namespace(Xs).clip(self.gp.kernel._diag(Xs) - explained, 0.0, None)
        return mean_at(self.gp.mean, self.trend, Xs) + pull, variance

    def _input_gradients(self, Xs: Matrix) -> tuple[Matrix, Matrix]:
        differentiable_mean(self.gp)
        mean, _, pull = pulled_back(self, Xs)
        # a moment depends on its own row of Xs alone: by each row, the slope of the sum of all
        # moments is that of its own, so that one pullback serves all rows
        one, none = array_namespace(mean).ones_like(mean), array_namespace(mean).zeros_like(mean)
        return pull(one, none), pull(none, one)

    def _project(self, Xs: Matrix) -> tuple[Vector, Vector]:
        """Return the data's term of the mean, and their reduction of the variance."""
        if self.trend is None and in_place.supports(self.gp.kernel, Xs):
            lower = self.cholesky.lower
            return in_place.project(self.gp.kernel, self.X, Xs, lower, self.alpha)
        xp = array_namespace(Xs)
        cross = self.gp.kernel._gram(self.X, Xs)
        half = self.cholesky._half_solve(cross)
        return xp.matrix_transpose(cross) @ self.alpha, explained(self.trend, Xs, cross, half)

    @threads_for(lambda self, Xs: self.X.shape[0] * Xs.shape[0])
    def _mean(self, Xs: Matrix) -> Vector:
        pull = self.gp.kernel._gram(Xs, self.X) @ self.alpha
        return mean_at(self.gp.mean, self.trend, Xs) + pull

    def _covariance(self, Xs: Matrix) -> Matrix:
        """``K_** − K_*f K_y⁻¹ K_f*``, [eq-fv-cov]."""
        return self._project_jointly(Xs)[1]

    @threads_for(_joint_work)
    def _project_jointly(self, Xs: Matrix, lower_only: bool = False) -> tuple[Vector, Matrix]:
        """Return the data's term of the mean, and the covariance that they leave, or a triangle."""
        if lower_only and self.trend is None and in_place.supports(self.gp.kernel, Xs):
            lower = self.cholesky.lower
            return in_place.project_jointly(self.gp.kernel, self.X, Xs, lower, self.alpha)
        xp = array_namespace(Xs)
        cross = self.gp.kernel._gram(self.X, Xs)
        half = self.cholesky._half_solve(cross)
        covariance = self.gp.kernel._gram(Xs, None) - xp.matrix_transpose(half) @ half
        if self.trend is not None:
            covariance = covariance + added(self.trend, Xs, cross)
        return xp.matrix_transpose(cross) @ self.alpha, covariance

    @threads_for(_joint_work)
    def _joint(self, Xs: Matrix, noise: bool) -> Normal:
        # a root reads the lower triangle alone, so that half of the products need not be done
        pull, covariance = self._project_jointly(Xs, lower_only=True)
        mean, scales = mean_at(self.gp.mean, self.trend, Xs) + pull, self.gp.kernel._diag(Xs)
        noise_var = self.gp.noise_var if noise else 0.0
        return joint_root(self.trend, mean, plus_noise(covariance, noise_var), scales)

    def _process(self) -> GP:
        return self.gp

    @threads_for(lambda self, part, Xs: self.X.shape[0] ** 2 * Xs.shape[0])
    def _moments_of_part(self, part: PartPosterior, Xs: Matrix) -> tuple[Vector, Vector]:
        """Return them by [eq-fv-cholesky], from the part's covariance with y."""
        xp = array_namespace(Xs)
        cross = part.kernel._gram(self.X, Xs)
        half = self.cholesky._half_solve(cross)
        known = explained(self.trend, Xs, cross, half, part.with_mean)
        variance = xp.clip(part.kernel._diag(Xs) - known, 0.0, None)
        mean = mean_at(self.gp.mean, self.trend, Xs)
        return part.mean_in(mean, xp.matrix_transpose(cross) @ self.alpha), variance

    @threads_for(lambda self, part, Xs: _joint_work(self, Xs))
    def _covariance_of_part(self, part: PartPosterior, Xs: Matrix) -> Matrix:
        cross = part.kernel._gram(self.X, Xs)
        half = self.cholesky._half_solve(cross)
        covariance = part.kernel._gram(Xs, None) - array_namespace(Xs).matrix_transpose(half) @ half
        if self.trend is None:
            return covariance
        return covariance + added(self.trend, Xs, cross, part.with_mean)

    @property
    def log_evidence(self) -> float:
        """The log evidence ``log p(y) = −½ rᵀα − ½ log |K_y| − ½ n log 2π`` with the residual r.

        [eq-fv-evidence]; with a basis [eq-mf-evidence], or [eq-mf-vague-evidence]. A y
        for which it overflows is a `ValueError`. A ``RoundingWarning`` says where `evidence_error`
        leaves it less than a quarter of the digits of its precision.
        Source: Rasmussen & Williams (2006), equations 5.8, 2.43 and 2.45.
        """
        return self._told_evidence()

    def _told_evidence(self) -> float:
        """The log evidence, with a warning where it has lost its digits."""
        value = self._log_evidence
        if not self.cholesky.jitter:  # of which another warning has told
            warn_of_rounding(value, self.evidence_error, self.gp, self.X)
        return value

    def _loss(self, own: Vector) -> Array:
        """The mean of ``K_ii / L_ii²``, by which variances lose digits; NaN if α overflows."""
        n = max(1, self.X.shape[0])
        return _mean_ratio(own, diagonal(self.cholesky.lower), self.alpha, n)

    def _warn_of_loss(self) -> None:
        eps, least = epsilon(self.X), _least_pivot(self)
        if self.cholesky.jitter or not least < eps**0.125:  # another warning has told of jitter
            return
        own, r = self.gp.kernel._diag(self.X), self.residual
        _warn_of_sums(self, own)
        if least < eps**0.25:
            parts = _sum_of_products(own, 1.0), _sum_of_products(r, r)
            warn_of_loss(self._loss(own), eps, parts, remedy=_TREND)

    @property
    def evidence_error(self) -> float:
        """About how far rounding may have moved `log_evidence`, in nats.

        ``½ eps Σᵢ K_ii (αᵢ² + 1/L_ii²)`` with the entries of K_y: the effect of errors of size eps,
        relative to its diagonal, to first order on ``½ rᵀK_y⁻¹r + ½ log |K_y|``. It is an
        estimate, no bound: of 225 evidences computed in 60 digits, nine in ten were less than 1.5
        times as far off. With a small noise it is large where inputs lie close and y is rougher
        than the kernel. The effect of jitter is not in it.
        Source: Demmel (1989), On floating point errors in Cholesky, for the errors of the factor.
        """
        pivots = diagonal(self.cholesky.lower)
        if is_numpy_namespace(array_namespace(pivots)):
            return _evidence_error(self.gp, self._rows, self.alpha, 1.0 / to_numpy(pivots))
        own, eps = self.gp.kernel._diag(self.X), epsilon(self.alpha)
        own, alpha, pivots = map(in_double, (own, self.alpha, pivots))
        return number(_moved_by_rounding(own, self.reading_noise.variance, alpha, pivots, eps))

    @property
    def _log_evidence(self) -> float:
        # both are launched before one of them is read
        by_fit = _sum_of_products(self.alpha, self.residual)
        log_det = self.cholesky.log_det
        fit = number(by_fit)
        if self.trend is not None:
            fit += self.trend.surcharge
        _check.no_overflow(fit, "y", "yᵀK_y⁻¹ y")
        return _log_density(fit, log_det, self.X.shape[0] * LOG_2PI)

    def evidence_gradient(self) -> tuple[GP, Matrix, Vector]:
        """Differentiate `log_evidence` by the process, the inputs and the observations.

        Returns
        -------
        gp_bar : GP
            A `GP` that holds the derivatives by kernel, noise_var and mean.
        X_bar : Matrix, shape (n, d)
            The derivatives by the inputs, NaN for a basis without a pullback.
        y_bar : Vector, shape (n,)
            The derivatives by the observations. For labels, which have no derivative, the same
            method of `laplace.LaplacePosterior` returns the first two alone.

        Raises
        ------
        TypeError
            If the mean of the process is a function without a pullback.

        Notes
        -----
        One matrix, ``K_bar = ½(α αᵀ − K_y⁻¹)``, is carried back to all of them,
        [eq-fv-pullback]. Jitter counts as a constant. Costs O(n³). Source: Rasmussen &
        Williams (2006), equation 5.9.
        """
        gp_bar, X_bar, by_mean = self._gradient()
        return gp_bar, X_bar + by_mean, -self.alpha

    @threads_for(lambda self: self.X.shape[0] ** 3)
    def _gradient(self) -> tuple[GP, Matrix, Matrix]:
        """The derivatives by the process, and by the inputs through the kernel and the mean."""
        what = "the gradient of the evidence"
        if self.trend is None and _is_large(self.gp, self.X):
            memory.require_beside(self.X.shape[0], _BESIDE * _ROWS, like=self.X, what=what, held=1)
            return self._gradient_by_rows()
        memory.require_of_rows(self.X.shape[0], like=self.X, copies=6, what=what)
        K_bar = _half_of_gap(
            precision(self.trend, self.cholesky), self.alpha[:, None], self.alpha[None, :]
        )
        # dK_y/dσ_n² is diagonal, with the share of each reading: of tr(K_bar dK_y) a sum is left
        by_noise = _sum_of_products(diagonal(K_bar), self.reading_noise.share)
        kernel_bar, X_bar, _ = self.gp.kernel._pullback(self.X, None, K_bar)
        noise_bar = number(by_noise)  # which was launched before the kernel's own are read
        mean_bar, by_mean = mean_bars(self.gp.mean, self.trend, self.X, self.alpha)
        gp_bar = cotangent(self.gp, kernel=kernel_bar, noise_var=noise_bar, mean=mean_bar)
        return gp_bar, X_bar, by_mean

    def _gradient_by_rows(self) -> tuple[GP, Matrix, Matrix]:
        """The same with a few rows of ``K_bar`` at a time, for a kernel of pairs."""
        X, alpha, xp = self.X, self.alpha, array_namespace(self.X)
        n, share = X.shape[0], self.reading_noise.share
        by_noise, sides, X_bar, kernel_bar = [], [], xp.zeros_like(X), None
        for rows in _chunks_of_rows(n):
            columns = self.cholesky._solve(columns_of_identity(rows, self.cholesky.lower))
            # columns of K_y⁻¹, turned, are its rows: the inverse is symmetric
            K_bar = _half_of_gap(columns.T, alpha[rows, None], alpha[None, :])
            own = share if isinstance(share, float) else share[rows]
            by_noise.append(_sum_of_products(diagonal(K_bar[:, rows]), own))
            bar, side, other = self.gp.kernel._pullback(X[rows, :], X, K_bar)
            kernel_bar = bar if kernel_bar is None else added_bars(kernel_bar, bar)
            # an input is a row of K and a column of it: the derivatives by both add up
            sides.append(side)
            X_bar = X_bar + other
        noise_bar = number(sum(by_noise[1:], start=by_noise[0]))
        mean_bar, by_mean = mean_bars(self.gp.mean, None, X, alpha)
        gp_bar = cotangent(self.gp, kernel=kernel_bar, noise_var=noise_bar, mean=mean_bar)
        return gp_bar, xp.concat(sides) + X_bar, by_mean

    @threads_for(lambda self: self.X.shape[0] ** 3)
    def leave_one_out(self) -> LeaveOneOut:
        """Predict every observation from all others, without n factorisations; O(n³).

        Returns
        -------
        LeaveOneOut
            Mean and variance of each observation, and its log density.

        Notes
        -----
        ``mean = y − α / diag K_y⁻¹`` and ``variance = 1 / diag K_y⁻¹``, [eq-fv-loo].
        Source: Rasmussen & Williams (2006), section 5.4.2, equation 5.12.
        """
        return predict_left_out(self.y, self.alpha, own_precision(self.trend, self.cholesky))

    @takes("x", "y", "noise_var", "weights")
    def extend(
        self,
        x: MatrixLike,
        y: VectorLike,
        *,
        noise_var: VectorLike | None = None,
        weights: VectorLike | None = None,
    ) -> ExactPosterior:
        """Add further observations y (m,) at x (m, d), in O(n² m) instead of O(n³).

        Parameters
        ----------
        x : Matrix, shape (m, d)
            The further inputs.
        y : Vector, shape (m,)
            The further observations.
        noise_var, weights : Vector, shape (m,), or None
            Their known noise, as in `gpnotes.condition`.

        Returns
        -------
        ExactPosterior
            The posterior given all observations. Rows are added to the factor, [eq-fv-extend].
        """
        self.validate_inputs(x, "x")
        self._require_known("extend", noise_var=noise_var, weights=weights)
        _check.alike(_check.vector(y, "y", size=x.shape[0]), "y", self.X, "X")
        validate_noise(self.X, x.shape[0], noise_var, weights)
        n, what = self.X.shape[0] + x.shape[0], "the extended Gram matrix"
        memory.require_of_rows(n, like=x, copies=3, what=what)
        return self._extended(Rows(x, y, noise_var, weights))

    @threads_for(lambda self, rows: self.X.shape[0] ** 2 * rows.X.shape[0])
    def _extended(self, rows: Rows) -> ExactPosterior:
        cross, block = self.gp.kernel._gram(self.X, rows.X), self.gp.kernel._gram(rows.X, None)
        block = plus_noise(block, noise_of(self.gp, rows).variance)
        factor = self.cholesky._extend(cross, block, name="the extended Gram matrix")
        # of the jitter of the old factor a warning has come already
        warn_of_jitter(factor.jitter - self.cholesky.jitter, "the extended Gram matrix")
        grown = _posterior(self.gp, joined(self._rows, rows), factor)
        if grown.trend is not None:
            grown.trend.warn_of_rounding()
        grown._warn_of_loss()
        return named_as(self, grown)


@evidence_of.register(GP)
def _evidence(model: GP, data: Data | WaveSums) -> _Evidence:
    rows = whole_rows(data, model)
    validate_data(model, rows.X, rows.y, learns=True)
    return _Evidence(rows)


@saved_as("exact evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[GP, ExactPosterior]):
    """The log evidence of an exact process."""

    by_reading: ClassVar[bool] = True

    rows: Rows

    def posterior(self, gp: GP) -> ExactPosterior:
        for trial in trials(self.rows.X):
            with trial:
                posterior = self._told(gp)
                if not on_trial():  # which expects that nothing is lost
                    posterior._warn_of_loss()
        return posterior

    def _named(self, gp: GP) -> tuple[NameWith, Callable[[], str]]:
        """The name of the Gram matrix in a warning of jitter, and the remedy."""
        return _gram_name(gp), partial(nearer_origin, gp.kernel, self.rows.X)

    def _told(self, gp: GP) -> ExactPosterior:
        """Return the posterior, with a warning of jitter or lost digits."""
        posterior, X = _conditioned(gp, self.rows), self.rows.X
        most = epsilon(X) ** -0.75
        if not (on_trial() and expect(lambda: posterior._loss(gp.kernel._diag(X)), most)):
            _check.no_overflow(posterior.alpha, "y", "K_y⁻¹ y")
        warn_of_jitter(posterior.cholesky.jitter, *self._named(gp))
        if posterior.trend is not None:
            posterior.trend.warn_of_rounding()
        return posterior

    def value(self, gp: GP) -> float:
        posterior = self._told(gp)
        _check.squarable(self.rows.y, "y")
        return posterior._told_evidence()

    def require_gradient(self, gp: GP) -> None:
        fitted_mean(gp)

    def value_and_gradient(self, gp: GP, *, quiet: bool = False) -> tuple[float, GP]:
        if asks(KIND) and is_stacked(gp, self.rows):
            found = cast("Answer", ask(Asked(gp, self.rows, quiet)))
            if found is not None:
                return found
        if quiet and isinstance(self.rows.X, np.ndarray):  # as in every step of a fit
            return _value_and_gradient(gp, self.rows, quiet)[:2]
        for trial in trials(self.rows.X):
            with trial:
                if not quiet:  # a fit turns back where squares of y overflow
                    _check.squarable(self.rows.y, "y")
                value, gp_bar, jitter, error = _value_and_gradient(gp, self.rows, quiet)
                if not quiet:
                    warn_of_jitter(jitter, *self._named(gp))
                    warn_of_rounding(value, error, gp, self.rows.X)
        return number(value), numbers_read(gp_bar)


def _least_pivot(posterior: ExactPosterior) -> float:
    """The least pivot, of the largest; 0 on a device, where it is not read, and 1 of no rows."""
    lower = posterior.cholesky.lower
    if not isinstance(lower, np.ndarray) or not lower.size:
        return 0.0 if lower.shape[0] else 1.0
    pivots = lower.diagonal()
    return float(np.min(pivots)) / float(np.max(pivots))


@fused
def _half_of_gap(inverse: Matrix, alpha: Matrix, turned: Matrix) -> Matrix:
    return 0.5 * (alpha * turned - inverse)


@fused
def _log_density(fit: float, log_det: float, spread: float) -> float:
    return -0.5 * (fit + log_det + spread)


@fused
def _sum_of_products(a: Vector, b: Numbers) -> Array:
    return array_namespace(a).sum(b * a)


@fused
def _mean_ratio(own: Vector, pivots: Vector, alpha: Vector, n: int) -> Array:
    # of an α that overflows the difference is no number
    return array_namespace(own).sum(own / (n * pivots * pivots) + (alpha - alpha))


@fused
def _moved_by_rounding(
    own: Vector, noise: Numbers, alpha: Vector, pivots: Vector, eps: float
) -> Array:
    moved = (own + noise) * (alpha * alpha + 1.0 / (pivots * pivots))
    return array_namespace(own).sum(0.5 * eps * moved)


@threads_for(lambda gp, rows, quiet: rows.X.shape[0] ** 3)
def _value_and_gradient(gp: GP, rows: Rows, quiet: bool) -> tuple[float, GP, float, float]:
    """The log evidence, its derivatives, the jitter that they took, and the error of the first.

    A fit, which is quiet, does not ask for the error, and without jitter there is none to report.
    """
    X, known = rows.X, not isinstance(gp.mean, BasisMean)
    variance, share = noise_under(gp.noise_var, rows)
    found = None
    if known and isinstance(X, np.ndarray):
        found = evidence_in_place(gp.kernel, variance, X, residual_of(gp, X, rows.y), share)
    if not found:  # unknown weights, a matrix that needs jitter, or another namespace
        posterior = _conditioned(gp, rows)
        jitter, gp_bar = posterior.cholesky.jitter, posterior._gradient()[0]
        if posterior.trend is not None and not quiet:
            posterior.trend.warn_of_rounding()
        error = 0.0 if quiet or jitter else posterior.evidence_error
        return posterior._log_evidence, gp_bar, jitter, error
    mean_bar, _ = means.with_hooks(gp.mean)._pullback(X, found.alpha)
    gp_bar = cotangent(gp, kernel=found.kernel_bar, noise_var=found.noise_var_bar, mean=mean_bar)
    error = 0.0 if quiet else _evidence_error(gp, rows, found.alpha, np.sqrt(found.precision))
    return found.value, gp_bar, 0.0, error


def _evidence_error(gp: GP, rows: Rows, alpha: Vector, precision_root: HostVector) -> float:
    """``½ eps Σᵢ K_ii (αᵢ² + (K_y⁻¹)_ii)``, as of `ExactPosterior.evidence_error`."""
    own = to_numpy(gp.kernel._diag(rows.X) + noise_of(gp, rows).variance).astype(np.float64)
    with np.errstate(over="ignore"):
        # squared last: α² alone may overflow where its product with K_ii does not
        moved = np.square(np.sqrt(own) * [to_numpy(alpha), precision_root])
        return float(0.5 * epsilon(alpha) * np.sum(moved))


def _warn_of_sums(posterior: ExactPosterior, own: Vector) -> None:
    """Warn, on the host, where ``K α`` is a sum of terms so large that their rounding is seen."""
    alpha, r, gp, X = posterior.alpha, posterior.residual, posterior.gp, posterior.X
    if isinstance(alpha, np.ndarray) and isinstance(r, np.ndarray):
        moved = epsilon(X) * float(np.sum(np.abs(alpha)) * np.max(to_numpy(own)))
        if moved > 0.01 * float(np.max(np.abs(r))):
            _warn_of_singular(f"the mean of f may be off by {moved:.1e}", gp, X)


def warn_of_rounding(value: float, error: float, gp: GP, X: Matrix) -> None:
    """Warn of a log evidence whose error leaves it less than a quarter of its digits.

    An evidence that is smaller than the number of readings is the sum of larger ones.
    """
    share, n = epsilon(X) ** 0.25, float(X.shape[0])
    if not expect(lambda: error, share * n) and error > share * max(abs(value), n):
        said = f"the log evidence {value:.6g} may be off by {error:.1e}"
        _warn_of_singular(said, gp, X)


def _warn_of_singular(said: str, gp: GP, X: Matrix) -> None:
    usual = (
        "give a larger noise_var, shorter lengthscales or a wide trend as "
        "mean=BasisMean(Powers()), or for one input a StateSpaceGP"
    )
    why = f"{_gram_name(gp)} is nearly singular in its precision"
    remedy = nearer_origin(gp.kernel, X) or usual
    warn_caller(f"{said}: {why}; {remedy}", RoundingWarning)
