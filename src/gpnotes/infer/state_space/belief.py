"""The belief of a Kalman filter after the last reading, and its update by one more."""

from __future__ import annotations

from dataclasses import dataclass

from ...ground.xp import LOG_2PI, Array, Matrix, Stack, Vector, array_namespace
from .motion import FARTHEST, Motion, narrow, signal

__all__ = ["Belief"]


@dataclass(frozen=True, eq=False)
class Belief:
    """The belief of a filter after the last reading, in units of the signal.

    Parameters
    ----------
    place : Vector, shape (1,)
        Where the last reading is.
    mean : Matrix, shape (D, 1)
        The mean of the state there.
    cov : Stack, shape (D, D, 1)
        Its covariance.
    log_evidence : float
        The log density of all readings, in these units.
    """

    place: Vector
    mean: Matrix
    cov: Stack
    log_evidence: float

    def told(self, motion: Motion, x: Vector, reading: Vector, noise: Array) -> Belief:
        """The belief after a further reading (1,), which is no earlier; O(D²)."""
        xp, seen = array_namespace(x), motion.seen
        m, P = self.ahead(motion, x)
        shared = signal(P, seen)
        precision = 1.0 / (signal(shared, seen) + noise)
        gap = reading - signal(m, seen)
        fit = float(xp.sum(gap * gap * precision - xp.log(precision)))
        value = self.log_evidence - 0.5 * (fit + LOG_2PI)
        m = m + shared * (precision * gap)
        # last, and into P itself: `shared` may be a view of a row of it
        narrow(P, shared, precision, noise, seen)
        return Belief(x, m, P, value)

    def ahead(self, motion: Motion, x: Vector) -> tuple[Matrix, Stack]:
        """Mean and covariance of the state at later places (m,), (D, m) and (D, D, m)."""
        xp = array_namespace(x)
        gaps = xp.clip(x - self.place, 0.0, FARTHEST)
        # a column for each place, in arrays of their own, which the step writes into
        m = self.mean + xp.zeros_like(x)[None, :]
        P = self.cov + xp.zeros_like(x)[None, None, :]
        step = motion.at(gaps, x, float(xp.max(gaps)) if x.shape[0] else 0.0)
        step.up(m)
        step.carry(P)
        step.add_noise(P)
        return m, P
