"""Repeated readings as means with counts: a smaller table that says the same of the function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ground import check as _check
from ..ground.conversion import takes
from ..ground.showing import summary
from ..ground.xp import (
    LOG_2PI,
    Matrix,
    MatrixLike,
    Vector,
    VectorLike,
    array_namespace,
    as_array,
    to_numpy,
)

__all__ = ["Repeats", "means_of_repeats"]


@dataclass(frozen=True, eq=False)
class Repeats:
    """Each place once, with the moments of its readings; made by `means_of_repeats`.

    Parameters
    ----------
    X : Matrix, shape (m, d)
        The places, in the order in which they first came.
    y : Vector, shape (m,)
        The mean of the readings of each.
    weights : Vector, shape (m,)
        How many readings that is the mean of.
    squares : Vector, shape (m,)
        The sum of their squared distances from it, zero for a single one. Divided by `weights`
        less one it estimates the variance of the noise at the place.
    """

    X: Matrix
    y: Vector
    weights: Vector
    squares: Vector

    __repr__ = summary

    def log_evidence_within(self, noise_var: float) -> float:
        """Return the term of single readings on top of the log evidence of their means, for σ_n².

        ``−½ Σᵢ ((wᵢ − 1) log 2πσ_n² + log wᵢ + sᵢ / σ_n²)`` with the weights w and the squares s.
        It does not depend on the function: with it, means have the evidence of all readings.
        Source: Binois, Gramacy & Ludkovski (2018), of a likelihood for replicates.
        """
        noise_var = _check.positive(_check.number(noise_var, "noise_var"), "noise_var")
        xp, w = array_namespace(self.weights), self.weights
        spread = (w - 1.0) * (LOG_2PI + float(np.log(noise_var)))
        return -0.5 * float(xp.sum(spread + xp.log(w) + self.squares / noise_var))


@takes("X", "y")
def means_of_repeats(X: MatrixLike, y: VectorLike) -> Repeats:
    """Gather the readings of each place: their mean, their number, and how they scatter.

    A process with the means for y and the numbers for `weights` has the posterior of all readings,
    [eq-fv-repeats], in O(m³) instead of O(n³) for m places; as a fit of the noise goes, the means
    alone have forgotten how readings of one place scatter: `Repeats.log_evidence_within`.

    Parameters
    ----------
    X : Matrix, shape (n, d)
        The inputs; rows are of one place where they are equal.
    y : Vector, shape (n,)
        The readings.

    Notes
    -----
    O(n log n), on the host. R's hetGP has ``find_reps`` for it.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> X, y = np.asarray([[0.0], [1.0], [0.0]]), np.asarray([1.0, 5.0, 3.0])
    >>> few = means_of_repeats(X, y)
    >>> few.y, few.weights, few.squares
    (array([2., 5.]), array([2., 1.]), array([2., 0.]))
    >>> means = condition(GP(RBF(), 0.1), few.X, few.y, weights=few.weights)
    >>> round(condition(GP(RBF(), 0.1), X, y).log_evidence - means.log_evidence, 4)
    -10.1142
    >>> round(few.log_evidence_within(0.1), 4)
    -10.1142
    """
    _check.vector(y, "y", rows=_check.matrix(X, "X"))
    _check.alike(_check.squarable(y, "y"), "y", X, "X")
    _, first, place = np.unique(to_numpy(X), axis=0, return_index=True, return_inverse=True)
    # argsort of a permutation is its inverse: places in the order in which they first occurred
    order = np.argsort(first)
    place, values = np.argsort(order)[place.ravel()], to_numpy(y).astype(np.float64)
    weights = np.bincount(place).astype(np.float64)
    means = np.bincount(place, weights=values) / weights
    # about the mean of each place: Σ y² less w mean² would cancel
    squares = np.bincount(place, weights=(values - means[place]) ** 2)
    xp = array_namespace(X)
    rows = xp.take(X, xp.asarray(np.sort(first), device=X.device), axis=0)
    return Repeats(rows, *(as_array(a, X) for a in (means, weights, squares)))
