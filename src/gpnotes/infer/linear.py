"""Bayesian linear regression: one posterior, however the data come.

The posterior is held by a root of its covariance. A posterior is the prior for the next data, so
one formula serves a batch, a second batch, and one observation at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..ground import check as _check
from ..ground import memory
from ..ground.chunks import Data, Rows
from ..ground.class_tags import saved_as
from ..ground.conversion import takes
from ..ground.linalg import Cholesky, _cholesky, warn_of_jitter
from ..ground.params import cotangent, positive, settle
from ..ground.random import RNG, Stream, stream_of
from ..ground.showing import summary
from ..ground.xp import (
    LOG_2PI,
    ArrayLike,
    Matrix,
    Numbers,
    Vector,
    array_namespace,
    diagonal,
    eye,
    keep_copies,
)
from ..model.normal import of_root
from .evidence import Evidence, Model, evidence_of, whole_rows
from .known_noise import Noise, noise_under
from .posterior import Posterior, named, with_noise

__all__ = ["BayesianLinear", "WeightPosterior"]


@dataclass(frozen=True, eq=False)
class BayesianLinear(Model["BayesianLinear", "WeightPosterior"]):
    """Bayesian linear regression, ``y = Φ w + ε`` with a normal prior on the weights w.

    ``w ~ N(0, S_w)`` and independent noise ``ε ~ N(0, σ_n²)``.

    Parameters
    ----------
    prior_cov : Matrix, shape (R, R)
        S_w, symmetric positive definite; copied.
    noise_var : float
        σ_n², positive.
    input_columns : tuple of str, default ()
        The names of the columns of Φ, as of a `gpnotes.GP`: `gpnotes.fit` returns a model that has
        those of its frame, and takes another frame in their order, in which S_w stands.

    Notes
    -----
    [eq-wv-model] and [eq-wv-prior]; of all observations together,
    [eq-wv-observations]. Source: Rasmussen & Williams (2006), section 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import condition
    >>> model = BayesianLinear(np.eye(2), noise_var=0.5)
    >>> Phi = np.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> condition(model, Phi, np.asarray([1.0, 2.0, 3.0])).weight_mean.round(4)
    array([0.878 , 0.9756])
    """

    prior_cov: Matrix
    noise_var: float = positive()
    input_columns: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    __repr__ = summary

    def __post_init__(self) -> None:
        settle(self)
        _check.semidefinite(self.prior_cov, "prior_cov")
        keep_copies(self, "prior_cov")

    def prior(self) -> WeightPosterior:
        """Return the posterior given no data at all; O(R³).

        A `prior_cov` that cannot be factored is a `FactorisationError`.
        """
        xp = array_namespace(self.prior_cov)
        factor = _cholesky(self.prior_cov, name="prior_cov")
        warn_of_jitter(factor.jitter, "prior_cov")
        root = factor.lower
        return WeightPosterior(xp.zeros_like(root[:, 0]), root, self.noise_var, 0.0)


@evidence_of.register(BayesianLinear)
def _evidence(model: BayesianLinear, data: Data) -> _Evidence:
    rows = whole_rows(data, model)
    size = model.prior_cov.shape[0]
    _check.alike(_check.matrix(rows.X, "X", columns=size), "X", model.prior_cov, "prior_cov")
    _check.squarable(rows.X, "X")
    _check.alike(_check.vector(rows.y, "y", rows=rows.X), "y", rows.X, "X")
    return _Evidence(rows)


@saved_as("linear evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[BayesianLinear, "WeightPosterior"]):
    """The log evidence of weights, ``log N(y; 0, Φ S_w Φᵀ + σ_n² I)``."""

    by_reading: ClassVar[bool] = True

    rows: Rows

    def posterior(self, model: BayesianLinear) -> WeightPosterior:
        return model.prior()._update(self.rows.X, self.rows.y, self._noise(model).variance)

    def _noise(self, model: BayesianLinear) -> Noise:
        return noise_under(model.noise_var, self.rows)

    def value_and_gradient(
        self, model: BayesianLinear, *, quiet: bool = False
    ) -> tuple[float, BayesianLinear]:
        """Carry ``½ (α αᵀ − K_y⁻¹)`` back to S_w and to σ_n².

        With ``S_w = L Lᵀ`` and ``C`` the covariance of the weights after the data:
        ``Φᵀα = S_w⁻¹ w̄``, ``Φᵀ K_y⁻¹ Φ = L⁻ᵀ (I − L⁻¹ C L⁻ᵀ) L⁻¹``, and the diagonal of ``K_y⁻¹``
        is ``(1 − φᵢᵀCφᵢ / λᵢ) / λᵢ``.
        """
        prior, Phi, (noise_var, share) = model.prior(), self.rows.X, self._noise(model)
        posterior = prior._update(Phi, self.rows.y, noise_var)
        factor = Cholesky(prior.root)
        xp = array_namespace(Phi)
        half = factor._half_solve(posterior.root)
        left = half @ xp.matrix_transpose(half)
        spare = factor._half_solve_t(eye(left.shape[0], left) - left)
        precision = factor._half_solve_t(xp.matrix_transpose(spare))
        w = factor._solve(posterior.weight_mean)
        alpha = (self.rows.y - Phi @ posterior.weight_mean) / noise_var
        free = 1.0 - xp.sum((Phi @ posterior.root) ** 2, axis=1) / noise_var
        noise_bar = 0.5 * float(xp.sum(share * (alpha * alpha - free / noise_var)))
        cov_bar = 0.5 * (w[:, None] * w[None, :] - precision)
        return posterior.log_evidence, cotangent(model, prior_cov=cov_bar, noise_var=noise_bar)


@dataclass(frozen=True, eq=False)
class WeightPosterior(Posterior):
    """The weights given data, ``w | y ~ N(weight_mean, root rootᵀ)``, and the data's evidence.

    Predictions of f have features for inputs: Xs (n*, R), one row a place. Functions are drawn as
    weights times features.

    Parameters
    ----------
    weight_mean : Vector, shape (R,)
        The mean of the weights.
    root : Matrix, shape (R, R)
        A root of their covariance.
    noise_var : float
        σ_n².
    log_evidence : float
        ``log p(y)`` of all observations so far, in whatever portions they came.

    Notes
    -----
    [eq-wv-posterior-moments], [eq-wv-mean], [eq-wv-evidence]; of f and y [eq-wv-predict-mean],
    [eq-wv-predict-variance], [eq-wv-predict-y]. Source: Rasmussen & Williams (2006), section 2.1.1.

    Examples
    --------
    >>> import numpy as np
    >>> posterior = BayesianLinear(np.eye(1), 1.0).prior().update(np.ones(1), 3.0)
    >>> posterior.weight_mean, posterior.weight_covariance.round(4)
    (array([1.5]), array([[0.5]]))
    >>> posterior.predict(np.asarray([[2.0]]), noise=True)[1].round(4)
    array([3.])
    """

    weight_mean: Vector
    root: Matrix
    noise_var: float
    log_evidence: float

    __repr__ = summary

    @property
    def weight_covariance(self) -> Matrix:
        """The covariance of the weights, (R, R)."""
        return self.root @ array_namespace(self.root).matrix_transpose(self.root)

    @property
    def cholesky(self) -> Cholesky:
        """The Cholesky factor of `weight_covariance`, from its root; nothing is squared."""
        xp = array_namespace(self.root)
        # the root by QR, as R of rootᵀ: to square the root would square its condition number, and
        # QR leaves open the signs of the diagonal, which a Cholesky factor has positive
        lower = xp.matrix_transpose(xp.linalg.qr(xp.matrix_transpose(self.root)).R)
        return Cholesky(lower * xp.sign(diagonal(lower))[None, :])

    @takes("phi", "y")
    def update(self, phi: ArrayLike, y: Numbers) -> WeightPosterior:
        """Return the posterior given more data, one observation or a batch.

        Parameters
        ----------
        phi : Array, shape (R,) or (N, R)
            The features of one observation, or of a batch.
        y : float or Vector, shape (N,)
            The observation, or the batch of them.

        Returns
        -------
        WeightPosterior
            The distribution of the weights. The order of observations does not matter, up to
            rounding, [eq-wv-gain].

        Notes
        -----
        One observation costs O(R²), a batch O(N R² + R³).
        """
        size = self.weight_mean.shape[0]
        if self.known_columns:
            why = "it knows the noise of each of its readings; condition on all of them together"
            raise self._cannot("update", why)
        if getattr(phi, "ndim", 0) == 1:
            _check.alike(_check.vector(phi, "phi", size=size), "phi", self.weight_mean, "prior_cov")
            _check.squarable(phi, "phi")
            return named(self._update_one(phi, _number(y)), self.columns)
        _check.alike(_check.matrix(phi, "phi", columns=size), "phi", self.weight_mean, "prior_cov")
        _check.squarable(phi, "phi")
        batch: Any = y
        _check.alike(_check.vector(batch, "y", rows=phi, of="phi"), "y", phi, "phi")
        return named(self._update(phi, batch, self.noise_var), self.columns)

    def _update(self, Phi: Matrix, y: Vector, noise_var: Numbers) -> WeightPosterior:
        """Update by a batch, by one QR, which has all that is needed, of V and e.

        ``V = Λ^{−½} Φ root`` and ``e = Λ^{−½} (y − Φ w̄)``, where Λ is σ_n²I or as in
        [eq-fv-known-noise].

        ``[V e; I 0] = Q [U z; 0 ρ]``, so that ``UᵀU = I + VᵀV`` and ``c = U⁻¹z`` has the least
        ``|e − V c|² + |c|² = ρ²``. The mean moves by ``root c``, the new root is ``root U⁻¹``, and
        ``log p = −½(ρ² + 2 log |U| + Σ log 2πλᵢ)``.

        [eq-wv-whitened]. Forming ``I + VᵀV`` would square the condition number.
        """
        xp = array_namespace(Phi)
        R = self.weight_mean.shape[0]
        noise_var = noise_var + xp.zeros_like(y)
        sd = xp.sqrt(noise_var)
        V = Phi @ self.root / sd[:, None]
        e = (y - Phi @ self.weight_mean) / sd
        top = xp.concat([V, e[:, None]], axis=1)
        below = xp.concat([eye(R, V), xp.zeros_like(self.weight_mean)[:, None]], axis=1)
        U = xp.linalg.qr(xp.concat([top, below], axis=0)).R
        whitened = Cholesky(xp.matrix_transpose(U[:R, :R]))
        c = whitened._half_solve_t(U[:R, R])
        residual = U[R:, R]  # ρ; nothing where there are no data
        # QR leaves the signs of U's diagonal open; a determinant of UᵀU has none of them
        log_det = 2.0 * float(xp.sum(xp.log(xp.abs(diagonal(whitened.lower)))))
        root = xp.matrix_transpose(whitened._half_solve(xp.matrix_transpose(self.root)))
        log_noise = float(xp.sum(xp.log(noise_var))) + y.shape[0] * LOG_2PI
        log_p = -0.5 * (float(xp.sum(residual * residual)) + log_det + log_noise)
        mean = self.weight_mean + self.root @ c
        return WeightPosterior(mean, root, self.noise_var, self.log_evidence + log_p)

    def _update_one(self, phi: Vector, y: float) -> WeightPosterior:
        """With ``v = rootᵀφ`` and ``s = vᵀv + σ_n²``: ``root − (root v) vᵀ / (s + σ_n √s)``.

        Potter's square-root filter (1963): ``(I − γ v vᵀ)² = I − v vᵀ / s`` for this γ, so that
        the covariance stays positive definite whatever the rounding.
        """
        xp = array_namespace(phi)
        v = xp.matrix_transpose(self.root) @ phi
        s = float(xp.sum(v * v)) + self.noise_var
        error = y - float(xp.sum(phi * self.weight_mean))
        gain = self.root @ v
        shrink = s + math.sqrt(self.noise_var * s)
        root = self.root - gain[:, None] * v[None, :] / shrink
        # the evidence is a product of predictions, each of one y from those before it
        log_p = -0.5 * (error * error / s + math.log(s) + LOG_2PI)
        mean = self.weight_mean + gain * (error / s)
        return WeightPosterior(mean, root, self.noise_var, self.log_evidence + log_p)

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for features of a prediction that do not fit the weights."""
        _check.matrix(Xs, name, columns=self.weight_mean.shape[0])
        _check.squarable(_check.alike(Xs, name, self.weight_mean, "prior_cov"), name)

    @property
    def _noise(self) -> float:
        return self.noise_var

    @property
    def _width(self) -> int:
        return self.weight_mean.shape[0]

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        half = Xs @ self.root
        return self._mean(Xs), array_namespace(half).sum(half * half, axis=1)

    def _mean(self, Xs: Matrix) -> Vector:
        return Xs @ self.weight_mean

    def _covariance(self, Xs: Matrix) -> Matrix:
        half = Xs @ self.root
        return half @ array_namespace(half).matrix_transpose(half)

    def _sample(self, Xs: Matrix, num_samples: int, stream: Stream, noise: bool) -> Matrix:
        """Weights are drawn, and multiplied by the features."""
        weights = self.sample_weights(num_samples, rng=stream)
        f = weights @ array_namespace(Xs).matrix_transpose(Xs)
        return with_noise(f, self.noise_var, stream) if noise else f

    def sample_weights(self, num_samples: int, *, rng: RNG) -> Matrix:
        """Draw weights: the mean plus the Cholesky factor times standard normals.

        Parameters
        ----------
        num_samples : int
            How many draws.

        Returns
        -------
        Matrix, shape (num_samples, R)
            The weights, one draw a row.
        """
        stream = stream_of(rng)
        num_samples = memory.count(
            num_samples, "num_samples", 0, each=2 * self.weight_mean.shape[0], like=self.weight_mean
        )
        # a root depends on how the data came, up to a rotation; its Cholesky factor does not, so
        # that equal random numbers draw equal weights
        return of_root(self.weight_mean, self.cholesky.lower).sample(num_samples, rng=stream)


def _number(y: Any) -> float:
    if getattr(y, "ndim", 0) != 0:
        raise ValueError(f"y must be a number where phi is one row; got shape {tuple(y.shape)}")
    return _check.number(y, "y")
