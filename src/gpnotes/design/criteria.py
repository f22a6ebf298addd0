"""What a measurement is worth: information, variance, variance elsewhere, information elsewhere.

A criterion knows the gain of every candidate given what is measured, and takes measurements one at
a time. Where gains can only fall as measurements come in, `falling` says so, and what was once
computed is a bound for later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _xp, memory
from .._xp import Array, array_namespace
from ..exact import GP, Posterior
from ..linalg import cholesky
from .downdates import Downdates, MatrixCovariance, Rows, downdates, taken

__all__ = ["CRITERIA", "Between", "Information", "IntegratedVariance", "Variance"]

_BLOCK_ENTRIES = 2**21  # of K(X, reference) at a time: 16 MiB in float64
_KEPT_ENTRIES = 2**22  # of it that are kept for the next step; more are computed anew


class Information:
    """``½ log(1 + s²(x) / σ²(x))``: what y at x says about f, in nats, :eq:`eq-al-gain`."""

    falling, positive_noise = True, True

    def __init__(self, gp: GP | Posterior, X: Array, noise: Array, capacity: int, **_: Any) -> None:
        self.state = downdates(gp, X, noise, capacity)

    def gains(self, rows: Rows = None) -> Array:
        """The gains of the candidates `rows`; of all for None."""
        ratio = self.state.variance(rows) / taken(self.state.noise, rows)
        return 0.5 * array_namespace(ratio).log1p(ratio)

    def add(self, j: int) -> float:
        """Measure candidate j; what that gained."""
        gained = float(self.gains(np.asarray([j]))[0])
        self.state.add(j)
        return gained


class Variance(Information):
    """``s²(x)``, the variance of f at x itself."""

    positive_noise = False

    def gains(self, rows: Rows = None) -> Array:
        """The gains of the candidates `rows`; of all for None."""
        return self.state.variance(rows)


class IntegratedVariance:
    """By how much the variance of f falls, on average over a reference, :eq:`eq-al-integrated`.

    ``mean_r c(r, x)² / (s²(x) + σ²(x))``. The sum of squares ``a(x) = Σ_r c(r, x)²`` is kept by its
    own downdate: after a measurement with weights w it is ``a − 2 w(x) b(x) + w(x)² Σ_r w(r)²``
    with ``b(x) = Σ_r c(r, x) w(r)``, one product with K(X, reference). Where little is left of it,
    rounding is too: then it is summed again, from all columns of both factors.
    """

    falling, positive_noise = False, False

    def __init__(
        self, gp: GP | Posterior, X: Array, noise: Array, capacity: int, reference: Array
    ) -> None:
        xp = array_namespace(X)
        self.state, self.reference = downdates(gp, X, noise, capacity), reference
        self.kernel, self.X = self.state.prior.kernel, X
        self.weights = downdates(gp, reference, xp.zeros_like(reference[:, 0]), capacity).W
        self.kept = None
        if X.shape[0] * reference.shape[0] <= _KEPT_ENTRIES:
            self.kept = list(self._blocks())
        self._sum()

    def _sum(self) -> None:
        """``Σ_r c(r, x)²`` of all candidates; `summed` are those that rounding is measured by."""
        xp, state, t = array_namespace(self.X), self.state, self.state.size
        squares = xp.zeros_like(state.noise)
        for rows, K in self._blocks():
            known = state.W[:, :t] @ xp.matrix_transpose(self.weights[rows, :t])
            squares += xp.sum((K - known) ** 2, axis=1)
        self.squares = self.summed = squares

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        """``K(X, reference)``, some columns at a time."""
        if self.kept is not None:
            yield from self.kept
            return
        size, m = max(1, _BLOCK_ENTRIES // max(1, self.X.shape[0])), self.reference.shape[0]
        for start in range(0, m, size):
            rows = slice(start, min(start + size, m))
            yield rows, self.kernel._gram(self.X, self.reference[rows, :])

    def gains(self, rows: Rows = None) -> Array:
        """The gains of the candidates `rows`; of all for None."""
        xp, shares = array_namespace(self.X), self._shares(self.squares, rows)
        at_first = float(xp.max(self._shares(self.summed, rows)))
        if _xp.epsilon(shares) ** 0.5 * at_first > float(xp.max(shares)):
            self._sum()
            shares = self._shares(self.squares, rows)
        return shares

    def _shares(self, squares: Array, rows: Rows) -> Array:
        variance = self.state.variance(rows)
        spread = variance + taken(self.state.noise, rows)
        xp, known = array_namespace(variance), variance == 0.0
        shares = xp.where(known, 0.0, taken(squares, rows)) / xp.where(known, 1.0, spread)
        return shares / self.reference.shape[0]

    def add(self, j: int) -> float:
        """Measure candidate j; what that gained, from its covariances with the reference."""
        xp, state, t = array_namespace(self.X), self.state, self.state.size
        cross = self.kernel._gram(self.reference, self.X[j : j + 1, :])[:, 0]
        pivot = state.add(j)
        w = (cross - self.weights[:, :t] @ state.W[j, :t]) / pivot
        slopes = -(state.W[:, :t] @ (xp.matrix_transpose(self.weights[:, :t]) @ w))
        for rows, K in self._blocks():
            slopes += K @ w[rows]
        self.weights[:, t] = w
        total = float(xp.sum(w * w))
        state.variance()  # so that W has its column t
        step = state.W[:, t]
        self.squares = xp.clip(self.squares - 2.0 * step * slopes + step * step * total, 0.0, None)
        return total / self.reference.shape[0]


class Between:
    """What the measurements say about those not made, :eq:`eq-al-between`.

    ``½ log(var(y_x | chosen) / var(y_x | unchosen others))``. The denominator is one over a
    diagonal entry of the precision of the unchosen y; taking x from the unchosen is a downdate of
    it.
    """

    falling, positive_noise = True, True

    def __init__(self, gp: GP | Posterior, X: Array, noise: Array, capacity: int, **_: Any) -> None:
        self.state = downdates(gp, X, noise, capacity)
        n, xp = X.shape[0], array_namespace(X)
        remedy = "Use fewer candidates or the criterion 'information'."
        memory.require(n, n, copies=4, like=X, what="the precision of y", remedy=remedy)
        K = gp.kernel(X) if isinstance(gp, GP) else gp.covariance(X)
        precision = cholesky(K + noise * _xp.eye(n, X), name="the covariance of y").inverse()
        self.others = Downdates(MatrixCovariance(precision), xp.zeros_like(noise), capacity)

    def gains(self, rows: Rows = None) -> Array:
        """The gains of the candidates `rows`; of all for None. A measured one has none."""
        y_var = self.state.variance(rows) + taken(self.state.noise, rows)
        ratio = y_var * self.others.variance(rows)
        xp = array_namespace(ratio)
        made = ratio == 0.0
        return xp.where(made, 0.0, 0.5 * xp.log(xp.where(made, 1.0, ratio)))

    def add(self, j: int) -> float:
        """Measure candidate j; what that gained."""
        gained = float(self.gains(np.asarray([j]))[0])
        self.state.add(j)
        self.others.add(j)
        return gained


CRITERIA: dict[str, Any] = {
    "information": Information,
    "variance": Variance,
    "integrated variance": IntegratedVariance,
    "between": Between,
}
