"""Posteriors with a normal factor, a *site*, in the place of the likelihood of each observation.

The site of an observation has the precision W_i. Whatever chose the sites, the mean is
``m + K a`` and the covariance ``K − K W^½ B⁻¹ W^½ K`` with ``B = I + W^½ K W^½``, whose
eigenvalues are at least one.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Rows
from ...ground.late_reads import expect
from ...ground.linalg import Cholesky, _cholesky, warn_of_jitter, warn_of_loss
from ...ground.threads import threads_for
from ...ground.xp import Array, Matrix, Vector, array_namespace, epsilon, eye, fused
from ...model import means
from ...model.contracts import Likelihood
from ...model.gaussian_process import GP, validate_data
from ...model.kernels import Kernel
from ...model.likelihoods.adapter import is_latent, require_observable
from ..known_noise import warn_of_offset
from ..posterior import PartPosterior, Posterior, require_inputs

__all__ = ["SitePosterior", "factored", "shifted_mean", "validate", "warn_of_rounding"]


def factored(K: Matrix, sqrt_W: Vector) -> Cholesky:
    """Factor ``B = I + W^½ K W^½``."""
    B = _one_and_scaled(K, eye(K.shape[0], K), sqrt_W[:, None], sqrt_W[None, :])
    name = "I + W^½ K W^½"
    factor = _cholesky(B, name=name)
    warn_of_jitter(factor.jitter, name)
    return factor


@fused
def _one_and_scaled(K: Matrix, one: Matrix, rows: Matrix, columns: Matrix) -> Matrix:
    return one + rows * K * columns


class SitePosterior(Posterior):
    """A posterior whose likelihood is a normal factor for each observation, [eq-la-predict].

    Subclasses say what its fields are. Source: Rasmussen & Williams (2006), algorithms 3.2, 3.6.
    """

    gp: GP
    X: Matrix
    likelihood: Likelihood
    gradient: Vector
    sqrt_W: Vector
    cholesky: Cholesky
    _shifts: ClassVar[bool] = True

    @abstractmethod
    def evidence_gradient(self) -> tuple[GP, Matrix]:
        """Differentiate the log evidence by the process and the inputs."""

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit the data."""
        require_inputs(Xs, name, self.X, "X", self.gp.kernel)

    @property
    def _noise(self) -> Likelihood:
        return self.likelihood

    @property
    def _width(self) -> int:
        return self.X.shape[0]

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        pull, variance = self._pulled(Xs, self.gp.kernel)
        return means.with_hooks(self.gp.mean)._call(Xs) + pull, variance

    @threads_for(lambda self, Xs: self.X.shape[0] * Xs.shape[0])
    def _mean(self, Xs: Matrix) -> Vector:
        pull = (
            array_namespace(Xs).matrix_transpose(self.gp.kernel._gram(self.X, Xs)) @ self.gradient
        )
        return means.with_hooks(self.gp.mean)._call(Xs) + pull

    @threads_for(lambda self, Xs, kernel: self.X.shape[0] ** 2 * Xs.shape[0])
    def _pulled(self, Xs: Matrix, kernel: Kernel) -> tuple[Vector, Vector]:
        """Return the data's term of the mean, and the variance left, of f or of a part."""
        xp = array_namespace(Xs)
        cross = kernel._gram(self.X, Xs)
        variance = kernel._diag(Xs) - self._told(cross)
        return xp.matrix_transpose(cross) @ self.gradient, xp.clip(variance, 0.0, None)

    @property
    def _bending(self) -> Matrix | None:
        """H of `bending.Bending`, of a class that may have sites of negative precision."""
        return None

    def _told(self, cross: Matrix) -> Vector:
        """Return the reduction by the sites of variances with covariances (n, m) with f."""
        xp = array_namespace(cross)
        half = self.cholesky._half_solve(self.sqrt_W[:, None] * cross)
        told = xp.sum(half * half, axis=0)
        if self._bending is None:
            return told
        more = self._bending @ cross
        return told - xp.sum(more * more, axis=0)

    def _covariance(self, Xs: Matrix) -> Matrix:
        return self._covariance_by(Xs, self.gp.kernel)

    @threads_for(lambda self, Xs, kernel: (self.X.shape[0] + Xs.shape[0]) ** 2 * Xs.shape[0])
    def _covariance_by(self, Xs: Matrix, kernel: Kernel) -> Matrix:
        cross = kernel._gram(self.X, Xs)
        half, xp = self.cholesky._half_solve(self.sqrt_W[:, None] * cross), array_namespace(Xs)
        covariance = kernel._gram(Xs, None) - xp.matrix_transpose(half) @ half
        if self._bending is None:
            return covariance
        more = self._bending @ cross
        return covariance + xp.matrix_transpose(more) @ more

    def _process(self) -> GP:
        return self.gp

    def _moments_of_part(self, part: PartPosterior, Xs: Matrix) -> tuple[Vector, Vector]:
        pull, variance = self._pulled(Xs, part.kernel)
        return part.mean_in(means.with_hooks(self.gp.mean)._call(Xs), pull), variance

    def _covariance_of_part(self, part: PartPosterior, Xs: Matrix) -> Matrix:
        return self._covariance_by(Xs, part.kernel)

    def _scales(self, Xs: Matrix) -> Vector:
        return self.gp.kernel._diag(Xs)


def shifted_mean(gp: GP, rows: Rows) -> Vector:
    """Return the prior mean of f plus the offset of each observation."""
    mean = means.with_hooks(gp.mean)._call(rows.X)
    return mean if rows.offset is None else mean + rows.offset


def warn_of_rounding(K: Matrix, sqrt_W: Array, quiet: bool = False, most: float = 1.0) -> None:
    """Warn where ``‖W^½ K W^½‖``, by which B rounds its ones, leaves under a quarter of digits.

    Where it is `most` of them, sites are those of nothing: an error, also of a fit, which is
    `quiet`. W is that of one function, or has a column for each of several.
    """
    xp, eps = array_namespace(K), epsilon(K)
    size = xp.max(sqrt_W * (xp.abs(K) @ sqrt_W))
    if not expect(lambda: size, most / eps) and not eps * float(size) <= most:
        why = f"the prior is too wide for {K.dtype}, whose rounding leaves no digit of f"
        remedy = "give a smaller variance, or compute in float64"
        raise _check.NoValueError(f"gp.kernel must be narrower: {why}; {remedy}")
    if not quiet:
        warn_of_loss(size, eps)


def validate(gp: GP, rows: Rows, likelihood: Likelihood) -> None:
    """Refuse data that do not fit a process and its likelihood, by name."""
    validate_data(gp, rows.X, rows.y)
    if rows.offset is not None:
        n = rows.X.shape[0]
        _check.alike(_check.vector(rows.offset, "offset", size=n), "offset", rows.X, "X")
        _check.squarable(rows.offset, "offset")
        warn_of_offset(gp, rows.X, rows.offset, is_latent(likelihood))
    require_observable(likelihood, rows.y, shifted_mean(gp, rows))
    memory.require_of_rows(rows.X.shape[0], like=rows.X, copies=5, what="the Gram matrix")
