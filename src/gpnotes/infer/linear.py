"""Bayesian linear regression: one posterior, however the data come.

The posterior is held by a root of its covariance. A posterior is the prior of what comes next, so
one formula serves a batch, a second batch, and one observation at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..ground import check as _check
from ..ground import xp as _xp
from ..ground.linalg import Cholesky, cholesky
from ..ground.params import positive, settle
from ..ground.random import Stream
from ..ground.xp import LOG_2PI, Array, Matrix, Numbers, Vector, array_namespace
from ..model.gaussian import Normal

__all__ = ["BayesianLinear", "WeightPosterior"]


@dataclass(frozen=True, eq=False)
class BayesianLinear:
    """``y = Φ w + ε`` with ``w ~ N(0, S_w)`` and independent noise ``ε ~ N(0, σ_n²)``.

    :eq:`eq-wv-model` and :eq:`eq-wv-prior`; of all observations together, :eq:`eq-wv-observations`.
    `prior_cov` is S_w, symmetric positive definite (R, R), copied; `noise_var` is σ_n², positive.
    Source: Rasmussen & Williams (2006), section 2.1.

    >>> import numpy as np
    >>> model = BayesianLinear(np.eye(2), noise_var=0.5)
    >>> Phi = np.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> model.condition(Phi, np.asarray([1.0, 2.0, 3.0])).weight_mean.round(4)
    array([0.878 , 0.9756])
    """

    prior_cov: Matrix
    noise_var: float = positive()

    def __post_init__(self) -> None:
        settle(self)
        _check.semidefinite(self.prior_cov, "prior_cov")
        _xp.keep_copies(self, "prior_cov")

    def prior(self) -> WeightPosterior:
        """The posterior given no data at all; O(R³)."""
        xp = array_namespace(self.prior_cov)
        root = cholesky(self.prior_cov, name="prior_cov").lower
        return WeightPosterior(xp.zeros_like(root[:, 0]), root, self.noise_var, 0.0)

    def condition(self, Phi: Matrix, y: Vector) -> WeightPosterior:
        """The posterior given features Phi (N, R) and observations y (N,); O(N R² + R³)."""
        return self.prior()._updated(Phi, y, "Phi")


@dataclass(frozen=True, eq=False)
class WeightPosterior:
    """``w | y ~ N(weight_mean, root rootᵀ)``, with the evidence of all data seen so far.

    `weight_mean` has shape (R,), `root` (R, R); `noise_var` is σ_n²; `log_evidence` is ``log p(y)``
    of all observations, in whatever portions they came. :eq:`eq-wv-posterior-moments`,
    :eq:`eq-wv-mean`, :eq:`eq-wv-evidence`. What is said of f at features (`predict`, `mean`,
    `variance`, `covariance`, `sample`) is what `contracts.Posterior` asks
    for, with features for inputs.

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

    @property
    def weight_covariance(self) -> Matrix:
        """The covariance of the weights, (R, R)."""
        return self.root @ array_namespace(self.root).matrix_transpose(self.root)

    @property
    def cholesky(self) -> Cholesky:
        """The Cholesky factor of `weight_covariance`, from its root; nothing is squared."""
        xp = array_namespace(self.root)
        lower = xp.matrix_transpose(xp.linalg.qr(xp.matrix_transpose(self.root)).R)
        return Cholesky(lower * xp.sign(_xp.diagonal(lower))[None, :])

    def update(self, phi: Array, y: Numbers) -> WeightPosterior:
        """The posterior given more data: one observation, or a batch.

        `phi` (R,) with a number `y` costs O(R²); `phi` (N, R) with `y` (N,) costs O(N R² + R³).
        The order of observations does not matter, up to rounding, :eq:`eq-wv-gain`. Raises
        `ValueError` for shapes that do not fit.
        """
        return self._updated(phi, y, "phi")

    def _updated(self, phi: Array, y: Any, name: str) -> WeightPosterior:
        size = self.weight_mean.shape[0]
        if getattr(phi, "ndim", 0) == 1:
            _check.alike(_check.vector(phi, name, size=size), name, self.weight_mean, "prior_cov")
            _check.squarable(phi, name)
            return self._update_one(phi, _number(y, name))
        _check.alike(_check.matrix(phi, name, columns=size), name, self.weight_mean, "prior_cov")
        _check.squarable(phi, name)
        _check.alike(_check.vector(y, "y", size=phi.shape[0]), "y", phi, name)
        return self._update_batch(phi, y)

    def _update_batch(self, Phi: Matrix, y: Vector) -> WeightPosterior:
        """With ``V = Φ root / σ_n`` and ``e = (y − Φ w̄) / σ_n`` one QR has all that is needed:

        ``[V e; I 0] = Q [U z; 0 ρ]``, so that ``UᵀU = I + VᵀV`` and ``c = U⁻¹z`` has the least
        ``|e − V c|² + |c|² = ρ²``. The mean moves by ``root c``, the new root is ``root U⁻¹``, and
        ``log p = −½(ρ² + 2 log |U| + N log 2πσ_n²)``.

        :eq:`eq-wv-whitened`. Forming ``I + VᵀV`` would square the condition number.
        """
        xp = array_namespace(Phi)
        R = self.weight_mean.shape[0]
        sd = math.sqrt(self.noise_var)
        # V = Φ root / σ_n, e = (y − Φ w̄) / σ_n
        V = Phi @ self.root / sd
        e = (y - Phi @ self.weight_mean) / sd
        top = xp.concat([V, e[:, None]], axis=1)
        below = xp.concat([_xp.eye(R, V), xp.zeros_like(self.weight_mean)[:, None]], axis=1)
        U = xp.linalg.qr(xp.concat([top, below], axis=0)).R
        whitened = Cholesky(xp.matrix_transpose(U[:R, :R]))
        c = whitened.half_solve_t(U[:R, R])
        residual = U[R:, R]  # ρ; nothing where there are no data
        log_det = 2.0 * float(xp.sum(xp.log(xp.abs(_xp.diagonal(whitened.lower)))))
        root = xp.matrix_transpose(whitened.half_solve(xp.matrix_transpose(self.root)))
        log_noise = y.shape[0] * (math.log(self.noise_var) + LOG_2PI)
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
        log_p = -0.5 * (error * error / s + math.log(s) + LOG_2PI)
        mean = self.weight_mean + gain * (error / s)
        return WeightPosterior(mean, root, self.noise_var, self.log_evidence + log_p)

    def predict(self, Phi_s: Matrix, noise: bool = False) -> tuple[Vector, Vector]:
        """Mean and variance, (N*,) each, of f at features Phi_s (N*, R); of y with `noise`.

        :eq:`eq-wv-predict-mean`, :eq:`eq-wv-predict-variance`, with `noise` :eq:`eq-wv-predict-y`.
        Source: Rasmussen & Williams (2006), section 2.1.1.
        """
        mean, half = self._project(Phi_s)
        variance = array_namespace(half).sum(half * half, axis=1)
        return mean, variance + self.noise_var if _check.flag(noise, "noise") else variance

    def mean(self, Phi_s: Matrix) -> Vector:
        """The mean of f (and of y), (N*,), at features Phi_s (N*, R)."""
        return self._project(Phi_s)[0]

    def variance(self, Phi_s: Matrix, noise: bool = False) -> Vector:
        """The variance, (N*,), of f at features Phi_s (N*, R); of y with `noise`."""
        return self.predict(Phi_s, noise)[1]

    def covariance(self, Phi_s: Matrix, noise: bool = False) -> Matrix:
        """The covariance (N*, N*) of f at features Phi_s (N*, R); of y with `noise`."""
        _, half = self._project(Phi_s)
        covariance = half @ array_namespace(half).matrix_transpose(half)
        own = self.noise_var if _check.flag(noise, "noise") else 0.0
        return covariance + own * _xp.eye(half.shape[0], half) if own else covariance

    def _project(self, Phi_s: Matrix) -> tuple[Vector, Matrix]:
        _check.matrix(Phi_s, "Phi_s", columns=self.weight_mean.shape[0])
        _check.alike(Phi_s, "Phi_s", self.weight_mean, "prior_cov")
        return Phi_s @ self.weight_mean, Phi_s @ self.root

    def sample(self, Phi_s: Matrix, stream: Stream, n: int) -> Matrix:
        """`n` functions drawn at features Phi_s (N*, R), (n, N*): weights drawn, times features."""
        self._project(Phi_s)
        return self.sample_weights(stream, n) @ array_namespace(Phi_s).matrix_transpose(Phi_s)

    def sample_weights(self, stream: Stream, n: int) -> Matrix:
        """`n` draws of the weights, (n, R): the mean plus the Cholesky factor times normals."""
        _check.instance(stream, "stream", Stream)
        n = _check.whole(n, "n")
        return Normal(self.weight_mean, self.cholesky.lower).sample(stream, n)


def _number(y: Any, name: str) -> float:
    if getattr(y, "ndim", 0) != 0:
        raise ValueError(f"y must be a number where {name} is one row; got shape {y.shape}")
    return _check.number(y, "y")
