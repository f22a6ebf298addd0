"""The posterior of a Matérn process on a line, at any place of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...ground import check as _check
from ...ground import memory
from ...ground import xp as _xp
from ...ground.tables import takes
from ...ground.xp import Array, Matrix, Stack, Vector, array_namespace
from ...model.means import values_of
from ...model.process import GP
from .lanes import carry
from .motion import FAR, Motion, kernel_of
from .passes import Forth

__all__ = ["LinePosterior"]

_ENTRIES = 2**18  # numbers of one kind that are worked on at a time


@dataclass(frozen=True, eq=False, repr=False)
class LinePosterior:
    """The process on a line given readings; made by `condition`.

    Every prediction is of f unless it says ``noise=True``: then of a new y. A place costs a search
    for its neighbours among the readings, and nothing else: O(m log n). What variances need is
    worked out when they are first asked for. The arrays given are kept, not copied. Inputs that do
    not fit are a `ValueError` or a `TypeError`.

    Parameters
    ----------
    gp : GP
        The process that was conditioned.
    X : Matrix, shape (n, 1)
        The inputs.
    y : Vector, shape (n,)
        The readings.
    order : Vector or None
        The order in which the inputs ascend; None if they came in it.
    times : Vector, shape (n,)
        The inputs in that order.
    run : Forth
        The beliefs of the filter.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, Matern12
    >>> from gpnotes.infer import line
    >>> posterior = line.condition(GP(Matern12(), 0.5), np.asarray([[0.0]]), np.asarray([3.0]))
    >>> [a.round(4) for a in posterior.predict(np.asarray([[0.0], [99.0]]), noise=True)]
    [array([2., 0.]), array([0.8333, 1.5   ])]
    """

    gp: GP
    X: Matrix
    y: Vector
    order: Vector | None
    times: Vector
    run: Forth

    @property
    def log_evidence(self) -> float:
        """``log p(y)``."""
        count = self.run.lanes.count
        return self.run.log_evidence - 0.5 * count * math.log(self._variance)

    @property
    def _variance(self) -> float:
        return kernel_of(self.gp).variance

    @takes("Xs")
    def predict(self, Xs: Matrix, noise: bool = False) -> tuple[Vector, Vector]:
        """Predict the mean and the variance of f, or of a new y, at inputs.

        Parameters
        ----------
        Xs : Matrix, shape (m, 1)
            The inputs, in any order.
        noise : bool, default False
            Predict a new y, with the noise in its variance.

        Returns
        -------
        mean : Vector, shape (m,)
            The mean.
        variance : Vector, shape (m,)
            The variance; one that rounding took below zero is zero.

        Raises
        ------
        ValueError
            If `Xs` has not one column, or an entry is not finite.
        TypeError
            If an argument is of the wrong kind.

        Notes
        -----
        With the filter's belief ``N(m, P)`` before a place and what the later readings tell, λ and
        Λ: ``m + P λ`` and ``P − P Λ P``, of which the first entry is f.
        """
        _check.flag(noise, "noise")
        mean, variance = self._moments(Xs, wanted=True)
        return mean, variance + self.gp.noise_var if noise else variance

    @takes("Xs")
    def mean(self, Xs: Matrix) -> Vector:
        """Predict the mean of f (and of y), (m,), at Xs (m, 1)."""
        return self._moments(Xs, wanted=False)[0]

    @takes("Xs")
    def variance(self, Xs: Matrix, noise: bool = False) -> Vector:
        """Predict the variance, (m,), at Xs (m, 1); arguments are those of `predict`."""
        return self.predict(Xs, noise)[1]

    def fitted(self) -> Vector:
        """The mean of f at the readings, (n,), in their order: no search is needed."""
        xp = array_namespace(self.X)
        alpha = self.run.lanes.ordered(self.run.back.alpha) / math.sqrt(self._variance)
        if self.order is not None:
            alpha = xp.take(alpha, xp.argsort(self.order))
        return self.y - self.gp.noise_var * xp.astype(alpha, self.y.dtype)

    def _moments(self, Xs: Matrix, wanted: bool) -> tuple[Vector, Vector]:
        _check.matrix(Xs, "Xs", columns=1)
        _check.alike(Xs, "Xs", self.X, "X")
        xp, size = array_namespace(Xs), self.run.lanes.motion.size
        parts = [
            self._at(_xp.in_double(Xs[rows, 0]), wanted)
            for rows in memory.blocks(Xs.shape[0], size * size, _ENTRIES)
        ]
        mean, variance = (xp.concat(column) for column in zip(*parts, strict=True))
        mean = values_of(self.gp.mean, Xs) + xp.astype(math.sqrt(self._variance) * mean, Xs.dtype)
        return mean, xp.astype(self._variance * xp.clip(variance, 0.0, None), Xs.dtype)

    def _at(self, x: Vector, wanted: bool) -> tuple[Vector, Vector]:
        """Mean, and variance if it is wanted, in units of the signal."""
        xp, motion, run = array_namespace(x), self.run.lanes.motion, self.run
        n = self.times.shape[0]
        after = xp.searchsorted(self.times, x, side="right")
        left, right = xp.clip(after - 1, 0, None), xp.clip(after, None, n - 1)
        m, P = self._filtered(left)
        since = motion.rate * (x - xp.take(self.times, left))
        _ahead(motion, xp.where(after > 0, since, FAR + 0.0 * x), m, P)
        until = motion.rate * (xp.take(self.times, right) - x)
        until = xp.where(after < n, until, FAR + 0.0 * x)
        pull, decay = _taken(run.back.pull, right, run), xp.exp(-until)
        motion.down(until, pull)
        mean = m[0, ...] + decay * xp.sum(P[0, ...] * pull, axis=0)
        if not wanted:
            return mean, mean
        late = _taken(run.spread.taken, right, run)
        carry(motion.down, until, late)
        shrunk = xp.sum(P[0, ...] * xp.sum(late * P[0, ...][None, :, :], axis=1), axis=0)
        return mean, P[0, 0, ...] - decay * decay * shrunk

    def _filtered(self, places: Vector) -> tuple[Matrix, Stack]:
        """The filter's beliefs after some of the readings, (D, m) and (D, D, m)."""
        run = self.run
        m, P = _taken(run.mean, places, run), _taken(run.cov, places, run)
        gain = P[0, ...] * _taken(run.told, places, run)
        m += gain * _taken(run.gap, places, run)
        P -= gain[:, None, :] * (P[0, ...] + 0.0)[None, :, :]
        return m, P

    def __repr__(self) -> str:
        """One line, without the arrays."""
        low, high = float(self.times[0]), float(self.times[-1])
        return f"<LinePosterior: {self.gp!r}, {self.times.shape[0]} readings, {low:g} to {high:g}>"


def _ahead(motion: Motion, s: Vector, m: Matrix, P: Stack) -> None:
    """Put the beliefs a gap s (m,) later in the place of m and P."""
    xp = array_namespace(s)
    decay = xp.exp(-s)
    motion.up(s, m)
    m *= decay
    carry(motion.up, s, P)
    P *= decay * decay
    P += motion.noise(s, decay * decay, float(xp.max(s)) if s.shape[0] else 0.0)


def _taken(a: Array, places: Vector, run: Forth) -> Array:
    """The entries (…, m) of an array (L, …, B) that belong to some of the readings."""
    xp = array_namespace(a)
    length, lanes, inner = a.shape[0], a.shape[-1], a.shape[1:-1]
    width = math.prod(inner)
    flat = xp.reshape(a, (-1,))
    base = (places % length) * (width * lanes) + places // length
    rows = [xp.take(flat, base + i * lanes) for i in range(width)]
    return xp.reshape(xp.stack(rows), (*inner, places.shape[0]))
