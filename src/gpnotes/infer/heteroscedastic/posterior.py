"""The posterior of a process whose noise varies: of f, of the noise, and of a new y."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ...ground.conversion import takes
from ...ground.quadrature import gauss_hermite
from ...ground.random import Stream
from ...ground.showing import summary
from ...ground.xp import (
    LOG_2PI,
    Matrix,
    MatrixLike,
    Vector,
    array_namespace,
    as_array,
    log_sum_exp,
)
from ...model import means
from ...model.gaussian_process import GP
from ...model.kernels import Kernel
from ...model.normal import Normal, normal_of
from ..posterior import Posterior, require_inputs
from .noise_belief import Believed

__all__ = ["HeteroscedasticPosterior"]

_NODES = 40  # of the rule that averages densities over the log noise


@dataclass(frozen=True, eq=False)
class HeteroscedasticPosterior(Posterior):
    """f and the logarithm of the noise given readings; made by `gpnotes.condition`.

    Given the data f is Gaussian under the noise R of the best q, [eq-vi-noise-bound]; ``g = log λ``
    less ``log σ_n²`` has a Gaussian of its own at any input; a new y is normal around f with the
    variance ``λ = σ_n² exp g``, so that averaged over g it has heavier tails than a normal one.
    Its moments are closed, and `log_density` is averaged by Gauss-Hermite quadrature. The two
    processes are taken to be independent given the data, as in the bound.

    Parameters
    ----------
    gp : GP
        The process of f; its ``noise_var`` is the noise where g is zero.
    noise_kernel : Kernel
        The kernel of g.
    X : Matrix, shape (n, d)
        The inputs.
    y : Vector, shape (n,)
        The readings.
    believed : Believed
        The Gaussian of g at the readings, and the factors.

    Notes
    -----
    [eq-vi-noise-predict]. Source: Lázaro-Gredilla & Titsias (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, HeteroscedasticGP, condition
    >>> X = np.linspace(0.0, 4.0, 40)[:, None]
    >>> y = np.where(np.arange(40) % 2, 1.0, -1.0) * np.where(X[:, 0] < 2.0, 0.1, 1.0)
    >>> posterior = condition(HeteroscedasticGP(GP(RBF(), 0.1), RBF(4.0)), X, y)
    >>> posterior.noise_var([[0.5], [3.5]]).round(1)
    array([0. , 1.4])
    """

    gp: GP
    noise_kernel: Kernel
    X: Matrix
    y: Vector
    believed: Believed

    __repr__ = summary
    _lacks: ClassVar[Mapping[str, str]] = {
        "known noise": "it takes no noise of its own for each reading"
    }

    @property
    def log_evidence(self) -> float:
        """The bound on ``log p(y)`` of the best q, [eq-vi-noise-bound]."""
        return self.believed.bound

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit the data."""
        require_inputs(Xs, name, self.X, "X", self.gp.kernel)
        self.noise_kernel._validate_inputs(Xs, name)

    @property
    def has_normal_noise(self) -> bool:
        """True if a new y is normal. It is not, for its noise is unknown."""
        return False

    @property
    def _noise(self) -> float:
        why = "its noise varies with x, and is no label's; `noise_var` says how large it is"
        raise self._cannot("probability", why)

    def _noise_var(self, method: str = "joint") -> float:
        if method == "sample":
            return 0.0  # each input has its own, which `_sample` draws
        why = "a new y is not normal; add `noise_var` to the diagonal for its covariance"
        raise self._cannot(method, why)

    @property
    def _width(self) -> int:
        return 2 * self.X.shape[0]

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        xp, found = array_namespace(Xs), self.believed
        cross = self.gp.kernel._gram(self.X, Xs)
        half = found.cholesky._half_solve(cross)
        mean = means.with_hooks(self.gp.mean)._call(Xs) + xp.matrix_transpose(cross) @ found.alpha
        return mean, xp.clip(self.gp.kernel._diag(Xs) - xp.sum(half * half, axis=0), 0.0, None)

    def _scales(self, Xs: Matrix) -> Vector:
        return self.gp.kernel._diag(Xs)

    def _covariance(self, Xs: Matrix) -> Matrix:
        half = self.believed.cholesky._half_solve(self.gp.kernel._gram(self.X, Xs))
        return self.gp.kernel._gram(Xs, None) - array_namespace(Xs).matrix_transpose(half) @ half

    @takes("Xs")
    def log_noise_var(self, Xs: MatrixLike) -> tuple[Vector, Vector]:
        """Predict the logarithm of the variance of the noise, which is Gaussian, at some inputs.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.

        Returns
        -------
        mean, variance : Vector, shape (n*,)
            The moments of ``log λ``: ``exp(mean)`` is the median of the variance of the noise, and
            ``exp(mean ± 2 √variance)`` a band that holds 95 % of its posterior.

        Notes
        -----
        ``log σ_n² + k_g*ᵀ a`` and ``k_g** − k_g*ᵀ (K_g + Λ⁻¹)⁻¹ k_g*``, [eq-vi-noise-predict].
        """
        self._admit("log_noise_var", Xs)
        return self._log_noise(Xs)

    @takes("Xs")
    def noise_var(self, Xs: MatrixLike) -> Vector:
        """Predict the variance of the noise, its average over the posterior, (n*,), at inputs.

        Of a lognormal λ it is ``exp(mean + variance / 2)``, with the moments of `log_noise_var`.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.

        Returns
        -------
        Vector, shape (n*,)
            ``E λ``.
        """
        self._admit("noise_var", Xs)
        return self._noise_at(Xs)

    def _noise_at(self, Xs: Matrix) -> Vector:
        mean, variance = self._log_noise(Xs)
        return array_namespace(Xs).exp(mean + 0.5 * variance)

    def _log_noise(self, Xs: Matrix) -> tuple[Vector, Vector]:
        xp = array_namespace(Xs)
        parts = [self._log_noise_of_rows(rows) for rows in self._blocks(Xs, None)]
        mean, variance = (xp.concat(part) for part in zip(*parts, strict=True))
        return mean, variance

    def _log_noise_of_rows(self, Xs: Matrix) -> tuple[Vector, Vector]:
        xp, found = array_namespace(Xs), self.believed
        cross = self.noise_kernel._gram(self.X, Xs)
        half = found.sites._half_solve(xp.sqrt(found.precision)[:, None] * cross)
        mean = math.log(self.gp.noise_var) + xp.matrix_transpose(cross) @ found.slope
        explained = xp.sum(half * half, axis=0)
        return mean, xp.clip(self.noise_kernel._diag(Xs) - explained, 0.0, None)

    def _predict(
        self, Xs: Matrix, noise: bool = False, chunk: int | None = None
    ) -> tuple[Vector, Vector]:
        mean, variance = super()._predict(Xs, False, chunk)
        # the mean of y is the same for all g: no variance of means adds to the mean of variances
        return mean, variance + self._noise_at(Xs) if noise else variance

    def _log_density(self, Xs: Matrix, y: Vector, chunk: int | None) -> Vector:
        xp = array_namespace(Xs)
        mean, variance = self._predict(Xs, False, chunk)
        log_mean, log_variance = self._log_noise(Xs)
        miss = (y - mean) ** 2

        def log_normal(g: Vector) -> Vector:
            total = variance[:, None] + xp.exp(g)
            return -0.5 * (miss[:, None] / total + xp.log(total) + LOG_2PI)

        nodes, shares = (as_array(a, Xs) for a in gauss_hermite(_NODES))
        terms = log_normal(log_mean[:, None] + xp.sqrt(log_variance)[:, None] * nodes)
        return log_sum_exp(terms, shares, axis=1)

    def _sample(self, Xs: Matrix, num_samples: int, stream: Stream, noise: bool) -> Matrix:
        f = super()._sample(Xs, num_samples, stream, False)
        if not noise:
            return f
        xp = array_namespace(Xs)
        g = self._log_noise_joint(Xs).sample(num_samples, rng=stream)
        return f + xp.exp(0.5 * g) * stream.normal(f.shape, like=f)

    def _log_noise_joint(self, Xs: Matrix) -> Normal:
        xp, found = array_namespace(Xs), self.believed
        cross = self.noise_kernel._gram(self.X, Xs)
        half = found.sites._half_solve(xp.sqrt(found.precision)[:, None] * cross)
        covariance = self.noise_kernel._gram(Xs, None) - xp.matrix_transpose(half) @ half
        return normal_of(self._log_noise(Xs)[0], covariance, self.noise_kernel._diag(Xs))
