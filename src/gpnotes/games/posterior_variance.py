"""The uncertainty of a payoff's process: its posterior variance, and that of expectations.

A deviation payoff is a sum of payoffs with known weights, the chances of profiles. So its posterior
is normal, and its variance that of Bayesian quadrature against a multinomial, [eq-ge-doubt].
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ground import check as _check
from ..ground.showing import summary
from ..ground.xp import Array, Matrix, Vector, array_namespace, keep_copies, solve_triangular

__all__ = ["PosteriorVariance"]


@dataclass(frozen=True, eq=False)
class PosteriorVariance:
    """The posterior variance of a payoff after its samples, in units of its scale squared.

    With the bumps ``k`` of an expansion and v for `signal_var`, the covariance of the payoff at two
    profiles is ``v k(x, x') − v² k(x, X) K_y⁻¹ k(X, x')``, where ``K_y = v k(X, X) + diag(noise)``.

    Parameters
    ----------
    signal_var : float
        The prior variance v of a payoff.
    noise_var : float
        The variance of the noise of one simulation.
    factor : Matrix, shape (n, n)
        The lower Cholesky factor of K_y, of the expansion's profiles in order.
    kept_share : Vector, shape (n,), optional
        The share of each sample's bump that is left; less than one in a subgame for samples with
        players on strategies outside it. All of it unless given.

    Examples
    --------
    >>> import numpy as np
    >>> after_one = PosteriorVariance(1.0, 0.25, np.asarray([[1.25**0.5]]))
    >>> after_one.reduction(np.asarray([[1.0]])).round(6)
    array([0.8])
    """

    signal_var: float
    noise_var: float
    factor: Matrix
    kept_share: Vector | None = None

    __repr__ = summary

    def __post_init__(self) -> None:
        for name in ("signal_var", "noise_var"):
            number = _check.number(getattr(self, name), name)
            object.__setattr__(self, name, _check.positive(number, name, zero=True))
        n = _check.square(self.factor, "factor").shape[0]
        if self.kept_share is None:
            keep_copies(self, "factor")
            return
        _check.vector(self.kept_share, "kept_share", size=n)
        _check.alike(self.kept_share, "kept_share", self.factor, "factor")
        keep_copies(self, "factor", "kept_share")

    def whiten(self, bumps: Matrix) -> Matrix:
        """Return the covariances with the samples, whitened.

        Parameters
        ----------
        bumps : Matrix, shape (n, B)
            The bump of each sample at a profile, or its expectation under a mixture.

        Returns
        -------
        Matrix, shape (n, B)
            ``L⁻¹ v k(X, ·)``; the sum of squares of a column is the reduction of
            the prior variance by the samples.
        """
        _check.matrix(bumps, "bumps", rows=self.factor.shape[0])
        _check.alike(bumps, "bumps", self.factor, "the factor")
        kept_bumps = bumps if self.kept_share is None else self.kept_share[:, None] * bumps
        return solve_triangular(self.factor, self.signal_var * kept_bumps)

    def reduction(self, bumps: Matrix) -> Vector:
        """Return the reduction of the prior variance by the samples.

        Parameters
        ----------
        bumps : Matrix, shape (n, B)
            As in `whiten`.

        Returns
        -------
        Vector, shape (B,)
            The reductions.
        """
        xp = array_namespace(self.factor)
        return xp.sum(self.whiten(bumps) ** 2, axis=0)

    def variance(self, bumps: Matrix, pairs: Vector) -> Array:
        """The posterior variance of a payoff, or of an expected one.

        Parameters
        ----------
        bumps : Matrix, shape (n, B)
            As in `whiten`.
        pairs : Vector, shape (B,)
            The expectation of the bump between two profiles that are drawn apart, 1 for a profile
            that is known.

        Returns
        -------
        Vector, shape (B,)
            The variances, not below zero.
        """
        reduction = self.reduction(bumps)
        _check.vector(pairs, "pairs", size=reduction.shape[0])
        _check.alike(pairs, "pairs", self.factor, "the factor")
        return array_namespace(reduction).clip(self.signal_var * pairs - reduction, 0.0, None)
