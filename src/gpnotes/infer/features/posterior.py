"""The posterior of a process by its features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.random import RNG
from ...ground.showing import summary
from ...ground.xp import Matrix, Vector, array_namespace
from ...model.gaussian_process import GP, plus_noise, residual_of, validate_data
from ...model.kernels import Kernel
from ...model.means import values_of
from ..linear import WeightPosterior
from .frequencies import Frequencies

__all__ = ["FeaturePosterior"]


@dataclass(frozen=True, eq=False)
class FeaturePosterior:
    """The posterior of a process by its features; made by `condition`.

    Every prediction is of f unless it says ``noise=True``: then of a new y. The variance is that
    of the features: far from the data it is the prior's, but with many data and few features it is
    too small in between, as if the function were known there. Inputs that do not fit are a
    `ValueError` or a `TypeError`.

    Parameters
    ----------
    gp : GP
        The process.
    frequencies : Frequencies
        The frequencies of the features.
    weights : WeightPosterior
        The `linear.WeightPosterior` of the R weights.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, stream
    >>> from gpnotes.infer import features
    >>> X = np.asarray([[0.0]])
    >>> frequencies = features.draw_frequencies(RBF(), X, 10, rng=stream(1))
    >>> posterior = features.condition(GP(RBF(), 0.5), frequencies, X, np.asarray([3.0]))
    >>> [a.round(4) for a in posterior.predict(X, noise=True)]
    [array([2.]), array([0.8333])]
    """

    gp: GP
    frequencies: Frequencies
    weights: WeightPosterior

    __repr__ = summary

    @property
    def log_evidence(self) -> float:
        """``log p(y)`` under the features."""
        return self.weights.log_evidence

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
            Predict a new y rather than f: σ² more of variance.
        chunk : int, optional
            The number of inputs worked on at a time; without it, as many as keep a block of
            features at a few tens of MB.

        Returns
        -------
        mean, variance : Vector, shape (n*,)
            The mean and the variance at each input.

        Notes
        -----
        ``m(x) + φ(x)·w`` and ``φ(x)ᵀ B⁻¹ φ(x)``. O(n* R²).
        """
        _check.flag(noise, "noise")
        predictions = [self.weights.moments_at(Phi) for Phi in self._blocks(Xs, chunk)]
        xp = array_namespace(Xs)
        mean, variance = (xp.concat(column) for column in zip(*predictions, strict=True))
        mean = values_of(self.gp.mean, Xs) + mean
        return mean, variance + self.gp.noise_var if noise else variance

    @takes("Xs")
    def mean(self, Xs: Matrix) -> Vector:
        """The mean of f (and of y), shape (n*,), at inputs Xs (n*, d); O(n* R)."""
        parts = [Phi @ self.weights.weight_mean for Phi in self._blocks(Xs, None)]
        return values_of(self.gp.mean, Xs) + array_namespace(Xs).concat(parts)

    @takes("Xs")
    def variance(self, Xs: Matrix, noise: bool = False) -> Vector:
        """The variance, shape (n*,), at each of some inputs, with the arguments of `predict`."""
        return self.predict(Xs, noise)[1]

    @takes("Xs")
    def covariance(self, Xs: Matrix, noise: bool = False) -> Matrix:
        """The covariance of f, or of new y, at all of some inputs together.

        That of f has rank R at most.

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
        """
        kernel = self._kernel(Xs)
        own = self.gp.noise_var if _check.flag(noise, "noise") else 0.0
        memory.require_square(Xs.shape[0], like=Xs, copies=3, what="the predictive covariance")
        half = self.frequencies.feature_rows(kernel, Xs) @ self.weights.root
        return plus_noise(half @ array_namespace(half).matrix_transpose(half), own)

    @takes("Xs")
    def sample(self, Xs: Matrix, n: int, *, rng: RNG) -> Matrix:
        """Draw functions at some inputs: weights drawn, times features.

        The same stream draws the same functions at any inputs.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        n : int
            The number of functions.
        rng : Stream, Generator or int
            The stream to draw from.

        Returns
        -------
        Matrix, shape (n, n*)
            One function a row.

        Notes
        -----
        O(n* n R + R³).
        """
        kernel = self._kernel(Xs)
        drawn = self.weights.sample_weights(n, rng=rng)
        xp = array_namespace(Xs)
        rows = memory.blocks(Xs.shape[0], self.frequencies.size)
        features = (self.frequencies.feature_rows(kernel, Xs[some, :]) for some in rows)
        parts = [drawn @ xp.matrix_transpose(Phi) for Phi in features]
        return values_of(self.gp.mean, Xs)[None, :] + xp.concat(parts, axis=1)

    @takes("x", "y")
    def extend(self, x: Matrix, y: Vector) -> FeaturePosterior:
        """The posterior given further observations.

        Parameters
        ----------
        x : Matrix, shape (m, d)
            The new inputs.
        y : Vector, shape (m,)
            The new observations.

        Returns
        -------
        FeaturePosterior
            The posterior given all data so far.

        Notes
        -----
        O(m R² + R³).
        """
        validate_data(self.gp, x, y, "x", columns=self.frequencies.unit.shape[1])
        kernel = self.frequencies.require_match(self.gp.kernel, x, "x")
        features = self.frequencies.feature_rows(kernel, x)
        weights = self.weights.updated(features, residual_of(self.gp, x, y))
        return FeaturePosterior(self.gp, self.frequencies, weights)

    def _blocks(self, Xs: Matrix, chunk: int | None) -> Iterator[Matrix]:
        """The features of Xs, a few rows at a time."""
        kernel = self._kernel(Xs)
        size = self.frequencies.size
        entries = None if chunk is None else size * _check.whole(chunk, "chunk", 1)
        for rows in memory.blocks(Xs.shape[0], size, entries):
            yield self.frequencies.feature_rows(kernel, Xs[rows, :])

    def _kernel(self, Xs: Matrix) -> Kernel:
        return self.frequencies.validate(self.gp.kernel, Xs, "Xs")
