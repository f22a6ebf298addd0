"""Criteria of design: information, variance, variance elsewhere, mutual information.

A criterion knows the gain of every candidate given what is measured, and takes measurements one at
a time. Where gains can only diminish as measurements come in, `diminishing` says so, and a gain
once computed is a bound for later. `needs_noise` says that a measurement without noise would be
worth infinitely much.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ground import memory
from ...ground.linalg import _cholesky, warn_of_jitter
from ...ground.xp import Matrix, Vector, array_namespace, epsilon, eye, set_at
from ...infer.exact import GP, ExactPosterior
from .design_checks import covariance_at, process
from .downdates import Downdates, MatrixCovariance, Rows, start_downdates, take_rows

__all__ = ["CRITERIA", "Information", "IntegratedVariance", "MutualInformation", "Variance"]

_CACHED_ENTRIES = 2**22  # of K(X, reference) kept for the next step; more are computed anew


class Information:
    """Information ``½ log(1 + s²(x) / σ²(x))`` of y at x about f, in nats, [eq-al-gain]."""

    diminishing = True
    needs_noise = True

    def __init__(
        self, gp: GP | ExactPosterior, X: Matrix, noise: Vector, capacity: int, **_: object
    ) -> None:
        self.state = start_downdates(gp, X, noise, capacity)

    def gains(self, rows: Rows = None) -> Vector:
        """Return the gains of the candidates `rows`; of all for None."""
        ratio = self.state.variance(rows) / take_rows(self.state.noise, rows)
        return 0.5 * array_namespace(ratio).log1p(ratio)

    def add(self, j: int) -> float:
        """Measure candidate j, and return its gain."""
        gain = float(self.gains(np.asarray([j]))[0])
        self.state.add(j)
        return gain


class Variance(Information):
    """Variance ``s²(x)`` of f at x itself."""

    needs_noise = False

    def gains(self, rows: Rows = None) -> Vector:
        """Return the gains of the candidates `rows`; of all for None."""
        return self.state.variance(rows)


class IntegratedVariance:
    """Fall of the variance of f, on average over a reference, [eq-al-integrated].

    ``mean_r c(r, x)² / (s²(x) + σ²(x))``. The sum of squares ``a(x) = Σ_r c(r, x)²`` is kept by
    its own downdate: after a measurement with weights w it is
    ``a − 2 w(x) b(x) + w(x)² Σ_r w(r)²`` with ``b(x) = Σ_r c(r, x) w(r)``, one product with K(X,
    reference). Where little is left of it, rounding is too: then it is summed again, from all
    columns of both factors.
    """

    diminishing = False
    needs_noise = False

    def __init__(
        self, gp: GP | ExactPosterior, X: Matrix, noise: Vector, capacity: int, reference: Matrix
    ) -> None:
        xp = array_namespace(X)
        self.X = X
        self.reference = reference
        self.state = start_downdates(gp, X, noise, capacity)
        self.kernel = process(gp).kernel
        self.weights = start_downdates(gp, reference, xp.zeros_like(reference[:, 0]), capacity).W
        self.cached_blocks: list[tuple[slice, Matrix]] | None = None
        if X.shape[0] * reference.shape[0] <= _CACHED_ENTRIES:
            self.cached_blocks = list(self._blocks())
        self._sum()

    def _sum(self) -> None:
        """``Σ_r c(r, x)²`` of all candidates; rounding is measured by `squares_at_sum`."""
        xp = array_namespace(self.X)
        state = self.state
        t = state.size
        squares = xp.zeros_like(state.noise)
        for rows, K in self._blocks():
            explained = state.W[:, :t] @ xp.matrix_transpose(self.weights[rows, :t])
            squares += xp.sum((K - explained) ** 2, axis=1)
        self.squares = self.squares_at_sum = squares

    def _blocks(self) -> Iterator[tuple[slice, Matrix]]:
        """``K(X, reference)``, some columns at a time."""
        if self.cached_blocks is not None:
            yield from self.cached_blocks
            return
        for rows in memory.blocks(self.reference.shape[0], self.X.shape[0], like=self.X):
            yield rows, self.kernel._gram(self.X, self.reference[rows, :])

    def gains(self, rows: Rows = None) -> Vector:
        """Return the gains of the candidates `rows`; of all for None."""
        xp = array_namespace(self.X)
        gains = self._reductions(self.squares, rows)
        at_sum = float(xp.max(self._reductions(self.squares_at_sum, rows)))
        if epsilon(gains) ** 0.5 * at_sum > float(xp.max(gains)):
            self._sum()
            gains = self._reductions(self.squares, rows)
        return gains

    def _reductions(self, squares: Vector, rows: Rows) -> Vector:
        variance = self.state.variance(rows)
        y_variance = variance + take_rows(self.state.noise, rows)
        xp = array_namespace(variance)
        no_variance = variance == 0.0
        squares = xp.where(no_variance, 0.0, take_rows(squares, rows))
        return squares / xp.where(no_variance, 1.0, y_variance) / self.reference.shape[0]

    def add(self, j: int) -> float:
        """Measure candidate j, and return its gain by covariances with the reference."""
        xp = array_namespace(self.X)
        state = self.state
        t = state.size
        cross = self.kernel._gram(self.reference, self.X[j : j + 1, :])[:, 0]
        pivot = state.add(j)
        w = (cross - self.weights[:, :t] @ state.W[j, :t]) / pivot
        # b = C(X, reference) w, with C = K − W Wᵀ
        b = -(state.W[:, :t] @ (xp.matrix_transpose(self.weights[:, :t]) @ w))
        for rows, K in self._blocks():
            b += K @ w[rows]
        self.weights = set_at(self.weights, (slice(None), t), w)
        total = float(xp.sum(w * w))
        state.variance()  # so that W has its column t
        w_X = state.W[:, t]
        self.squares = xp.clip(self.squares - 2.0 * w_X * b + w_X * w_X * total, 0.0, None)
        return total / self.reference.shape[0]


class MutualInformation:
    """Mutual information of the measurements and those not made, [eq-al-between].

    ``½ log(var(y_x | chosen) / var(y_x | unchosen others))``. The denominator is one over a
    diagonal entry of the precision of the unchosen y; taking x from the unchosen is a downdate of
    it.
    """

    diminishing = True
    needs_noise = True

    def __init__(
        self, gp: GP | ExactPosterior, X: Matrix, noise: Vector, capacity: int, **_: object
    ) -> None:
        self.state = start_downdates(gp, X, noise, capacity)
        n = X.shape[0]
        xp = array_namespace(X)
        remedy = "Use fewer candidates or the criterion 'information'."
        memory.require(n, n, copies=4, like=X, what="the precision of y", remedy=remedy)
        K = covariance_at(gp, X)
        name = "the covariance of y"
        factor = _cholesky(K + noise * eye(n, X), name=name)
        warn_of_jitter(factor.jitter, name)
        precision = factor.inverse()
        self.unmeasured = Downdates(MatrixCovariance(precision), xp.zeros_like(noise), capacity)

    def gains(self, rows: Rows = None) -> Vector:
        """Return the gains of the candidates `rows`; of all for None. A measured one has none."""
        y_var = self.state.variance(rows) + take_rows(self.state.noise, rows)
        ratio = y_var * self.unmeasured.variance(rows)
        xp = array_namespace(ratio)
        measured = ratio == 0.0
        return xp.where(measured, 0.0, 0.5 * xp.log(xp.where(measured, 1.0, ratio)))

    def add(self, j: int) -> float:
        """Measure candidate j, and return its gain."""
        gain = float(self.gains(np.asarray([j]))[0])
        self.state.add(j)
        self.unmeasured.add(j)
        return gain


CRITERIA: dict[str, Any] = {
    "information": Information,
    "variance": Variance,
    "integrated variance": IntegratedVariance,
    "mutual information": MutualInformation,
}
