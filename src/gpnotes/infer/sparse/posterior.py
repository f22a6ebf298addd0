"""The posterior of a process through its inducing points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...ground import check as _check
from ...ground import memory
from ...ground import xp as _xp
from ...ground.conversion import takes
from ...ground.linalg import Cholesky
from ...ground.random import RNG, stream_of
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector, array_namespace
from ...model.gaussian_process import GP, plus_noise
from ...model.means import values_of
from ...model.normal import Normal, normal_of, of_root
from ..interdomain.point_functionals import applied
from ..sufficient_statistics import like_data
from .projection import Inducing

__all__ = ["SparsePosterior"]


@dataclass(frozen=True, eq=False)
class SparsePosterior:
    """The posterior of a process through inducing variables, ``u = f(Z)``; made by `condition`.

    Every prediction is of f unless it says ``noise=True``: then of a new y. Inputs that do not fit
    are a `ValueError` or a `TypeError`.

    Parameters
    ----------
    gp : GP
        The process.
    Z : Matrix, shape (M, d)
        The inputs that u looks at; of other inducing variables than values, none perhaps.
    inducing : Inducing
        The prior of u.
    weight_mean : Vector, shape (M,)
        The mean of the whitened u: ``L_u⁻¹(u − m(Z)) ~ N(weight_mean, B⁻¹)``.
    cholesky : Cholesky
        The factor L of ``B = L Lᵀ``. It and the mean are in float64 where the device has it.
    log_evidence : float
        The evidence of the method, or its bound.
    degenerate : bool
        True where the variance is that of ``K_*u K_uu⁻¹ u`` alone, as the subset of regressors has
        it: it vanishes far from Z.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF
    >>> from gpnotes.infer import sparse
    >>> Z = np.asarray([[0.0]])
    >>> posterior = sparse.condition(GP(RBF(), 0.5), Z, Z, np.asarray([3.0]))
    >>> [a.round(4) for a in posterior.predict(np.asarray([[0.0], [9.0]]), noise=True)]
    [array([2., 0.]), array([0.8333, 1.5   ])]
    """

    gp: GP
    Z: Matrix
    inducing: Inducing
    weight_mean: Vector
    cholesky: Cholesky
    log_evidence: float
    degenerate: bool = False

    __repr__ = summary

    @takes("Xs")
    def predict(
        self, Xs: Matrix, noise: bool = False, chunk: int | None = None
    ) -> tuple[Vector, Vector]:
        """The mean and the variance of f, or of new y, at each of some inputs.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        noise : bool, default False
            Predict a new y rather than f.
        chunk : int, optional
            The number of inputs worked on at a time; without it, as many as keep a block of V at a
            few tens of MB.

        Returns
        -------
        mean, variance : Vector, shape (n*,)
            The mean and the variance at each input.

        Notes
        -----
        With ``V = L_u⁻¹ K_u*``: ``m(x) + Vᵀ weight_mean``, and ``k(x, x) − |v|² + |L⁻¹v|²``, or
        ``|L⁻¹v|²`` where `degenerate`. O(n* M²).
        """
        _check.flag(noise, "noise")
        self._validate(Xs)
        mean, variance = self._moments(Xs, self._blocks(Xs, chunk))
        return mean, variance + self.gp.noise_var if noise else variance

    def _moments(self, Xs: Matrix, blocks: Iterator[slice]) -> tuple[Vector, Vector]:
        xp = array_namespace(Xs)
        parts = [self._predict(_xp.in_double(Xs[rows, :])) for rows in blocks]
        pull, variance = (like_data(xp.concat(part), Xs) for part in zip(*parts, strict=True))
        return values_of(self.gp.mean, Xs) + pull, variance

    @threads_for(lambda self, Xs: self.inducing.size**2 * Xs.shape[0])
    def _predict(self, Xs: Matrix) -> tuple[Vector, Vector]:
        xp = array_namespace(Xs)
        V, gap = self.inducing.whiten(Xs)
        half = _xp.solve_triangular(self.cholesky.lower, V)
        known = xp.sum(half * half, axis=0)
        pull = xp.matrix_transpose(V) @ self.weight_mean
        return pull, known if self.degenerate else known + gap

    @takes("Xs")
    def mean(self, Xs: Matrix) -> Vector:
        """The mean of f (and of y), shape (n*,), at inputs Xs (n*, d), as `predict` has it."""
        return self.predict(Xs)[0]

    @takes("Xs")
    def variance(self, Xs: Matrix, noise: bool = False) -> Vector:
        """The variance, shape (n*,), at each of some inputs, with the arguments of `predict`."""
        return self.predict(Xs, noise)[1]

    @takes("Xs")
    def covariance(self, Xs: Matrix, noise: bool = False) -> Matrix:
        """The covariance of f, or of new y, at all of some inputs together; it is never jittered.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        noise : bool, default False
            Add the noise of new y to the diagonal.

        Returns
        -------
        Matrix, shape (n*, n*)
            The covariance.

        Notes
        -----
        O(n*² M).
        """
        self._validate_square(Xs, noise)
        return self._noisy_covariance(Xs, noise)

    def _validate_square(self, Xs: Matrix, noise: bool) -> None:
        self._validate(Xs)
        _check.flag(noise, "noise")
        memory.require_square(Xs.shape[0], like=Xs, copies=4, what="the predictive covariance")

    def _noisy_covariance(self, Xs: Matrix, noise: bool) -> Matrix:
        covariance = plus_noise(self._covariance(Xs), self.gp.noise_var if noise else 0.0)
        return like_data(covariance, Xs)

    @threads_for(lambda self, Xs: self.inducing.size * Xs.shape[0] ** 2)
    def _covariance(self, Xs: Matrix) -> Matrix:
        wide = _xp.in_double(Xs)
        xp = array_namespace(wide)
        V, _ = self.inducing.whiten(wide)
        half = _xp.solve_triangular(self.cholesky.lower, V)
        known = xp.matrix_transpose(half) @ half
        if self.degenerate:
            return known
        return self.inducing.kernel._gram(wide, None) - xp.matrix_transpose(V) @ V + known

    @takes("Xs")
    def joint(self, Xs: Matrix, noise: bool = False) -> Normal:
        """The distribution of f, or of new y, at all of some inputs together, as a `Normal`.

        The arguments, and what is raised, are those of `covariance`.
        """
        self._validate_square(Xs, noise)
        mean, _ = self._moments(Xs, self._blocks(Xs, None))
        return normal_of(mean, self._noisy_covariance(Xs, noise), self.gp.kernel._diag(Xs))

    @takes("Xs")
    def sample(self, Xs: Matrix, n: int, noise: bool = False, *, rng: RNG) -> Matrix:
        """Draw functions, or sets of new y, at some inputs.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        n : int
            The number of draws.
        noise : bool, default False
            Draw new y rather than f.
        rng : Stream, Generator or int
            The stream to draw from.

        Returns
        -------
        Matrix, shape (n, n*)
            One draw a row.

        Notes
        -----
        O(n*³).
        """
        stream = stream_of(rng)
        _check.whole(n, "n")
        return self.joint(Xs, noise).sample(n, rng=stream)

    def inducing_values(self) -> Normal:
        """The distribution of u, mostly f(Z), given the data, with the root ``L_u L⁻ᵀ``; O(M³)."""
        lower = self.inducing.factor.lower
        xp = array_namespace(lower)
        turned = _xp.solve_triangular(self.cholesky.lower, xp.matrix_transpose(lower))
        root = xp.matrix_transpose(turned)
        mean = like_data(lower @ self.weight_mean, self.Z)
        mean = mean + applied(self.inducing.given, self.gp.mean, self.gp.kernel)
        return of_root(mean, like_data(root, self.Z))

    def _blocks(self, Xs: Matrix, chunk: int | None) -> Iterator[slice]:
        if chunk is None:
            return self.inducing.blocks(Xs.shape[0])
        entries = self.inducing.size * _check.whole(chunk, "chunk", 1)
        return iter(memory.blocks(Xs.shape[0], self.inducing.size, entries))

    def _validate(self, Xs: Matrix) -> None:
        _check.matrix(Xs, "Xs", columns=self.Z.shape[1])
        _check.alike(Xs, "Xs", self.Z, "Z")
        self.gp.kernel._validate_inputs(Xs, "Xs")
