"""A payoff as a weighted sum of squared exponential bumps: the mean of a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..ground import check as _check
from ..ground.distances import squared_distances
from ..ground.memory import blocks
from ..ground.showing import summary
from ..ground.xp import HostVector, Matrix, Vector, array_namespace, device, keep_copies
from .posterior_variance import PosteriorVariance

__all__ = ["ENTRIES", "Expansion"]

# Numbers that a block of a computation holds in one array: 2 MiB in float64, about a cache.
ENTRIES = 2**18


@dataclass(frozen=True, eq=False)
class Expansion:
    """The payoff to one strategy as a function of the opponents' profile.

    ``payoff(x) = offset + scale Σ_j weights_j exp(−½ Σ_s (X_js − x_s)² / ℓ_s²)``,
    [eq-dp-payoff], with `offset` and `scale` in units of the payoff. The arrays are all of one
    kind and copied.

    Parameters
    ----------
    profiles : Matrix, shape (n, S)
        The rows X_j, which omit the deviator.
    weights : Vector, shape (n,)
        The weight of each row.
    lengthscales : Vector, shape (S,)
        The length scales ℓ, in players.
    scale : float, default 1.0
        The factor of the sum.
    offset : float, default 0.0
        The payoff where the sum is zero.
    posterior_variance : PosteriorVariance, optional
        The posterior variance, where the expansion is the mean of a process; None for a payoff
        that is known exactly.

    Examples
    --------
    >>> import numpy as np
    >>> bump = Expansion(np.zeros((1, 2)), np.ones(1), np.ones(2), scale=2.0, offset=1.0)
    >>> bump.payoff(np.asarray([[0.0, 0.0], [1.0, 0.0]])).round(4)
    array([3.    , 2.2131])
    """

    profiles: Matrix
    weights: Vector
    lengthscales: Vector
    scale: float = 1.0
    offset: float = 0.0
    posterior_variance: PosteriorVariance | None = None

    __repr__ = summary

    def __post_init__(self) -> None:
        n, size = _check.matrix(self.profiles, "profiles").shape
        if n == 0:
            raise ValueError("profiles must have at least one row; got none")
        _check.vector(self.weights, "weights", size=n)
        _check.vector(self.lengthscales, "lengthscales", size=size)
        _check.positive(self.lengthscales, "lengthscales")
        for name in ("weights", "lengthscales"):
            _check.alike(getattr(self, name), name, self.profiles, "profiles")
        keep_copies(self, "profiles", "weights", "lengthscales")
        if self.posterior_variance is not None:
            variance = self.posterior_variance
            factor = _check.instance(variance, "posterior_variance", PosteriorVariance).factor
            _check.matrix(factor, "the factor of posterior_variance", rows=n)
            _check.alike(factor, "the factor of posterior_variance", self.profiles, "profiles")
        for name in ("scale", "offset"):
            object.__setattr__(self, name, _check.number(getattr(self, name), name))

    def bump_matrix(self, x: Matrix, others: Matrix) -> Matrix:
        """The bump between any two of some profiles, ``exp(−½ Σ_s (x_s − x'_s)² / ℓ_s²)``.

        Parameters
        ----------
        x : Matrix, shape (m, S)
            The profiles of the rows.
        others : Matrix, shape (k, S)
            Those of the columns.

        Returns
        -------
        Matrix, shape (m, k)
            The bumps.
        """
        self._validate(x)
        self._validate(others, "others")
        return self._bump_matrix(x, others)

    def variance(self, x: Matrix) -> Vector:
        """The posterior variance of the payoffs against some profiles.

        Parameters
        ----------
        x : Matrix, shape (m, S)
            The profiles, one a row.

        Returns
        -------
        Vector, shape (m,)
            The variances, in units of the payoff squared, without the noise.
        """
        self._validate(x)
        if self.posterior_variance is None:
            raise ValueError(
                "variance needs an expansion with a posterior_variance, as fit_payoffs gives it"
            )
        ones = array_namespace(x).ones_like(x[:, 0])
        bumps = self.bump_matrix(self.profiles, x)
        return self.scale**2 * self.posterior_variance.variance(bumps, ones)

    def restrict(self, kept: HostVector) -> Expansion:
        """Return the payoff on a subgame: bumps shrink by their players outside it.

        Parameters
        ----------
        kept : ndarray of bool, shape (S,)
            True for the strategies that may be played.

        Returns
        -------
        Expansion
            The payoff as a function of profiles of the strategies kept.
        """
        xp = array_namespace(self.profiles)
        inside, outside = (
            xp.asarray(np.flatnonzero(k), device=device(self.profiles)) for k in (kept, ~kept)
        )
        ell = xp.take(self.lengthscales, outside)
        distance = xp.take(self.profiles, outside, axis=1) / ell
        bumps = xp.exp(-0.5 * xp.sum(distance**2, axis=1))
        variance = self.posterior_variance
        if variance is not None:
            kept_share = bumps if variance.kept_share is None else bumps * variance.kept_share
            variance = replace(variance, kept_share=kept_share)
        return Expansion(
            xp.take(self.profiles, inside, axis=1),
            bumps * self.weights,
            xp.take(self.lengthscales, inside),
            self.scale,
            self.offset,
            variance,
        )

    def payoff(self, x: Matrix) -> Vector:
        """The payoffs against some profiles of the opponents.

        Parameters
        ----------
        x : Matrix, shape (m, S)
            The profiles, one a row; they need not be whole.

        Returns
        -------
        Vector, shape (m,)
            The payoffs.
        """
        return self.offset + self.scale * self.bumps(x)

    def payoff_and_gradient(self, x: Matrix) -> tuple[Vector, Matrix]:
        """The payoffs against some profiles, and their derivatives by the entries.

        Parameters
        ----------
        x : Matrix, shape (m, S)
            The profiles, one a row.

        Returns
        -------
        value : Vector, shape (m,)
            The payoffs.
        gradient : Matrix, shape (m, S)
            Their derivatives by the entries of x.
        """
        self._validate(x)
        xp = array_namespace(x)
        parts = [self._bumps_and_gradient(x[rows, :]) for rows in self._blocks(x)]
        value, gradient = (xp.concat(part, axis=0) for part in zip(*parts, strict=True))
        return self.offset + self.scale * value, self.scale * gradient

    def bumps(self, x: Matrix) -> Vector:
        """The weighted sum alone, without offset and scale, in blocks of rows.

        Parameters
        ----------
        x : Matrix, shape (m, S)
            The profiles, one a row.

        Returns
        -------
        Vector, shape (m,)
            The sums.
        """
        self._validate(x)
        centres, weights = self.profiles, self.weights
        parts = [self._bump_matrix(x[rows, :], centres) @ weights for rows in self._blocks(x)]
        return array_namespace(x).concat(parts)

    def _validate(self, x: Matrix, name: str = "x") -> None:
        _check.matrix(x, name, columns=self.profiles.shape[1])
        _check.alike(x, name, self.profiles, "profiles")

    def _blocks(self, x: Matrix) -> list[slice]:
        return blocks(x.shape[0], self.profiles.shape[0], ENTRIES, like=x)

    def _bump_matrix(self, x: Matrix, others: Matrix) -> Matrix:
        ell = self.lengthscales
        return array_namespace(x).exp(-0.5 * squared_distances(x / ell, others / ell))

    def _bumps_and_gradient(self, x: Matrix) -> tuple[Vector, Matrix]:
        # ∂/∂x_s exp(−½ (X_s − x_s)²/ℓ_s²) = (X_s − x_s)/ℓ_s² times itself
        weighted = self._bump_matrix(x, self.profiles) * self.weights
        value = array_namespace(x).sum(weighted, axis=1)
        difference = weighted @ self.profiles - value[:, None] * x
        return value, difference / self.lengthscales**2
