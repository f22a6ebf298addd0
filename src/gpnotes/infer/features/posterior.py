"""The posterior of a process by its features."""

from __future__ import annotations

from dataclasses import dataclass

from ...ground.chunks import Rows
from ...ground.conversion import takes
from ...ground.random import Stream
from ...ground.showing import summary
from ...ground.xp import Matrix, MatrixLike, Vector, VectorLike, array_namespace
from ...model import means
from ...model.gaussian_process import GP, residual_of, validate_data
from ..known_noise import noise_of, validate_noise
from ..linear import WeightPosterior
from ..posterior import Posterior, named_as, with_noise
from .feature_map import FeatureMap

__all__ = ["FeaturePosterior"]


@dataclass(frozen=True, eq=False)
class FeaturePosterior(Posterior):
    """The posterior of a process by its features; made by `gpnotes.condition`.

    The variance is that of the features: far from the data it is the prior's, but with many data
    and few features it is too small in between, as if the function were known there. A prediction
    costs O(n* R²), its mean alone O(n* R); covariances of f have rank R at most. Functions are
    drawn as weights times features, O(n* R) each: the same random numbers draw the same functions
    at any inputs.

    Parameters
    ----------
    gp : GP
        The process.
    frequencies : FeatureMap
        The features, `Frequencies` or `BoxSines`.
    weights : WeightPosterior
        The `linear.WeightPosterior` of the R weights.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition, stream
    >>> from gpnotes.infer import features
    >>> X = np.asarray([[0.0]])
    >>> frequencies = features.draw_frequencies(RBF(), X, 10, rng=stream(1))
    >>> posterior = condition(features.FeatureGP(GP(RBF(), 0.5), frequencies), X, np.asarray([3.0]))
    >>> [a.round(4) for a in posterior.predict(X, noise=True)]
    [array([2.]), array([0.8333])]
    """

    gp: GP
    frequencies: FeatureMap
    weights: WeightPosterior

    __repr__ = summary

    @property
    def log_evidence(self) -> float:
        """``log p(y)`` under the features."""
        return self.weights.log_evidence

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs that the frequencies do not fit."""
        self.frequencies.validate(self.gp.kernel, Xs, name)

    @property
    def _noise(self) -> float:
        return self.gp.noise_var

    @property
    def _width(self) -> int:
        return self.frequencies.size

    def _features(self, Xs: Matrix) -> Matrix:
        return self.frequencies._features(self.gp.kernel, Xs)

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        """``m(x) + φ(x)·w`` and ``φ(x)ᵀ B⁻¹ φ(x)``."""
        mean, variance = self.weights._moments(self._features(Xs))
        return means.with_hooks(self.gp.mean)._call(Xs) + mean, variance

    def _mean(self, Xs: Matrix) -> Vector:
        mean = self._features(Xs) @ self.weights.weight_mean
        return means.with_hooks(self.gp.mean)._call(Xs) + mean

    def _covariance(self, Xs: Matrix) -> Matrix:
        return self.weights._covariance(self._features(Xs))

    def _sample(self, Xs: Matrix, num_samples: int, stream: Stream, noise: bool) -> Matrix:
        drawn = self.weights.sample_weights(num_samples, rng=stream)
        xp = array_namespace(Xs)
        parts = [
            drawn @ xp.matrix_transpose(self._features(rows)) for rows in self._blocks(Xs, None)
        ]
        f = means.with_hooks(self.gp.mean)._call(Xs)[None, :] + xp.concat(parts, axis=1)
        return with_noise(f, self.gp.noise_var, stream) if noise else f

    @takes("x", "y", "noise_var", "weights")
    def extend(
        self,
        x: MatrixLike,
        y: VectorLike,
        *,
        noise_var: VectorLike | None = None,
        weights: VectorLike | None = None,
    ) -> FeaturePosterior:
        """The posterior given further observations.

        Parameters
        ----------
        x : Matrix, shape (m, d)
            The new inputs.
        y : Vector, shape (m,)
            The new observations.
        noise_var, weights : Vector, shape (m,), or None
            Their known noise, as in `gpnotes.condition`.

        Notes
        -----
        O(m R² + R³).
        """
        columns = self.frequencies.like.shape[1]
        self._require_known("extend", noise_var=noise_var, weights=weights)
        # `validate_data` refuses data without rows, which change nothing here
        if getattr(x, "shape", ()) == (0, columns) and getattr(y, "shape", ()) == (0,):
            return self
        validate_data(self.gp, x, y, "x", columns=columns)
        kernel = self.frequencies.require_match(self.gp.kernel, x, "x")
        validate_noise(x, x.shape[0], noise_var, weights)
        features = self.frequencies._features(kernel, x)
        noise = noise_of(self.gp, Rows(x, y, noise_var, weights))
        grown = self.weights._update(features, residual_of(self.gp, x, y), noise.variance)
        return named_as(self, FeaturePosterior(self.gp, self.frequencies, grown))
