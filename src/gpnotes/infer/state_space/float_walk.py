"""The walk of one Matérn process in Python's floats, in which only the covariances need a loop.

They are known before any reading, and with them the gains g. The mean before a reading is then
``m_t = A_t m_{t−1} + F_t g_{t−1} y_{t−1}`` with ``A_t = F_t (I − g_{t−1} H)``, and the way back is
``λ_t = A_{t+1}ᵀ λ_{t+1} + Hᵀ v_t / S_t``: the equations of a triangular matrix of ones with 2D − 1
diagonals below them, and of its transpose. BLAS solves both in a thirtieth of the time of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...ground.xp import HostArray, HostMatrix, HostVector, blas
from .motion import Step

__all__ = ["MeanEquations", "covariances", "mean_equations"]

Columns: TypeAlias = Sequence[Sequence[float]]
Loop: TypeAlias = Callable[[Sequence[float], Columns], Iterator[float]]


def covariances(
    begun: Sequence[float], step: Step, Q: Sequence[HostVector], noise: HostVector | float
) -> HostMatrix:
    """Return the entries with i ≤ j of the covariances before readings, row by row, (K, N).

    Parameters
    ----------
    begun : sequence of float
        Those after the reading before them.
    step : Step
        The steps that lead to the readings.
    Q : sequence of Vector, shape (N,)
        The same entries of the noise of each step.
    noise : Vector, shape (N,), or float
        The variances of the noise of the readings.

    Raises
    ------
    ZeroDivisionError
        If rounding leaves a reading no variance.
    """
    s, decay, _ = step.numbers[0][0]
    square = decay * decay
    loop: Loop
    if step.motion.size == 1:
        loop, moves = _of_one, [square]
    elif step.motion.size == 2:
        loop, moves = _of_two, [s, square]
    else:
        loop, moves = _of_three, [s, 0.5 * s * s, square]
    columns = [a.tolist() for a in (*moves, *Q)]
    columns.append([noise] * len(s) if isinstance(noise, float) else noise.tolist())
    found = np.fromiter(loop(begun, columns), np.float64, len(Q) * len(s))
    return found.reshape(-1, len(Q)).T


@dataclass(frozen=True, eq=False)
class MeanEquations:
    """The equations that the means of all readings solve, and λ.

    Parameters
    ----------
    step : Step
        The steps to all readings but the first.
    gains : Matrix, shape (D, N)
        g, of the first reading zero.
    band : Array, shape (N, D, 2D)
        The ones and −A_t below them, by columns.
    """

    step: Step
    gains: HostMatrix
    band: HostArray

    def means(self, first: HostVector, readings: HostVector) -> HostMatrix:
        """The means before readings (N,), (D, N), given that at the first of them, (D,)."""
        right = np.empty(self.gains.shape)
        right[:, 0] = first
        right[:, 1:] = self.gains[:, :-1] * readings[:-1]
        self.step.up(right[:, 1:])
        return self._solved(right, 0)

    def back(self, told: HostVector) -> tuple[HostMatrix, HostVector]:
        """λ (D, N) and ``K_y⁻¹ r`` (N,), but for the first, given v / S."""
        right = np.zeros(self.gains.shape)
        right[0, :] = told
        late = self._solved(right, 1)
        before = late[:, 1:].copy()
        self.step.down(before)
        alpha = told.copy()
        alpha[:-1] -= np.add.reduce(self.gains[:, :-1] * before, axis=0)
        return late, alpha

    def _solved(self, right: HostMatrix, trans: int) -> HostMatrix:
        n, d, width = self.band.shape
        solve = blas("tbsv", self.band.dtype)
        # the columns of a matrix of Fortran's
        matrix, flat = self.band.reshape(-1, width).T, right.T.reshape(-1)
        found = solve(width - 1, matrix, flat, lower=1, trans=trans, diag=1)
        return np.ascontiguousarray(found.reshape(n, d).T)


def mean_equations(step: Step, gains: HostMatrix, kept: HostVector) -> MeanEquations:
    """Return them for steps to all readings but the first, gains, and ``1 − g₀`` as it is."""
    d, n = gains.shape
    less, band = np.zeros((d, d, n - 1)), np.zeros((n, d, 2 * d))
    # g H − I, which the step carries
    less[:, 0, :] = gains[:, :-1]
    np.negative(kept[:-1], out=less[0, 0, :])
    for i in range(1, d):
        less[i, i, :] = -1.0
    step.up(less)
    for i in range(d):
        for j in range(d):
            band[:-1, j, d + i - j] = less[i, j]
    return MeanEquations(step, gains, band)


def _of_one(begun: Sequence[float], columns: Columns) -> Iterator[float]:
    (a,) = begun
    for square, q, noise in zip(*columns, strict=True):
        a = square * a + q
        yield a
        a *= noise / (a + noise)


def _of_two(begun: Sequence[float], columns: Columns) -> Iterator[float]:
    a, b, c = begun
    for s, square, q00, q01, q11, noise in zip(*columns, strict=True):
        low = square * c
        c = square * b
        right = c + s * low
        a = square * a + s * (c + right) + q00
        b = right + q01
        c = low + q11
        yield a
        yield b
        yield c
        told = 1.0 / (a + noise)
        gain = told * b
        # the row of the signal by σ²/S, in which nothing cancels
        a *= told * noise
        c -= gain * b
        b = gain * noise


def _of_three(begun: Sequence[float], columns: Columns) -> Iterator[float]:
    a, b, c, d, f, g = begun
    for s, half, square, q00, q01, q02, q11, q12, q22, noise in zip(*columns, strict=True):
        # U P, whose rows are then carried in their turn
        right, corner = b + s * d + half * f, c + s * f + half * g
        low, lowest = d + s * f, f + s * g
        a = square * (a + s * (b + right) + half * (c + corner)) + q00
        b = square * (right + s * corner) + q01
        c = square * corner + q02
        d = square * (low + s * lowest) + q11
        f = square * lowest + q12
        g = square * g + q22
        yield a
        yield b
        yield c
        yield d
        yield f
        yield g
        told = 1.0 / (a + noise)
        gain, last = told * b, told * c
        a *= told * noise
        d -= gain * b
        f -= gain * c
        g -= last * c
        b, c = gain * noise, last * noise
