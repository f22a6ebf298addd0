"""Kalman's filter for a sum of Matérn processes, waves and levels, reading by reading, for Numba.

It takes the numbers of each step from `Motion` and does the operations of `kalman` on one reading
after the other. Without Numba these are ordinary functions of Python, which tests compare so. Each
reading is a lane of its own, so that all that follows is one step of arrays as long as the line.

A term is a row of a table: its kind, the first of its entries in the state, and how many they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground.class_tags import saved_as
from ...ground.numba_functions import compiled_functions
from ...ground.xp import (
    HostArray,
    HostMatrix,
    HostVector,
    Numbers,
    Vector,
    as_host,
)
from .elementary_processes import Leaf, Level, MaternLeaf, Prepared, Wave
from .kalman import Filtered, SmoothedCovariances, SmoothedMeans
from .matern_walk import matern_size, walked
from .motion import Motion
from .parallel_scan import LOST, Lanes, lanes_of

__all__ = ["CompiledWalk", "Loops", "compiled", "compiled_filter", "is_compiled", "sum_walked"]

_MATERN, _WAVE = 0, 1


class Loops(NamedTuple):
    """The loops over readings, as they are or compiled."""

    forward: Callable[..., None]
    means_back: Callable[..., None]
    covariances_back: Callable[..., None]


def is_compiled(motion: Motion) -> bool:
    """Return True if these loops know the motion: a sum of terms of one factor."""
    kinds = (MaternLeaf, Wave, Level)
    return all(len(term.factors) == 1 and type(term.factors[0]) in kinds for term in motion.terms)


@saved_as("Kalman filter of a compiled loop")
@dataclass(frozen=True, eq=False)
class CompiledWalk(Filtered):
    """The same by a loop over the readings, each a lane."""

    @cached_property
    def smoothed_means(self) -> SmoothedMeans:
        """The way back for means, worked out when it is first asked for."""
        adjoint, alpha = np.empty(self.mean.shape), np.empty(self.precision.shape)
        compiled().means_back(*_moves_of(self.lanes), *self._told, adjoint[0], alpha[0])
        alpha[0, :1] = as_host(self.first.told(adjoint[0, :, :1]))
        return SmoothedMeans(adjoint, alpha)

    @cached_property
    def smoothed_covariances(self) -> SmoothedCovariances:
        """The way back for variances, worked out when it is first asked for."""
        adjoint, precision = np.empty(self.cov.shape), np.empty(self.precision.shape)
        compiled().covariances_back(
            *_moves_of(self.lanes), *self._told[:2], adjoint[0], precision[0]
        )
        precision[0, :1] = as_host(self.first.known(adjoint[0, :, :, :1]))
        return SmoothedCovariances(adjoint, precision)

    @property
    def _told(self) -> tuple[HostArray, HostVector, HostVector]:
        """Covariances, ``1 / S`` and innovations."""
        cov, precision, innovation = map(as_host, (self.cov, self.precision, self.innovation))
        return cov[0], precision[0], innovation[0]


def compiled_filter(motion: Motion, times: Vector, readings: Vector, noise: Numbers) -> Filtered:
    """Filter readings at ascending times one by one, O(N); the arguments are those of `lanes_of`.

    Raises
    ------
    TypeError
        If the arrays are not NumPy's.
    ImportError
        If Numba is not installed.
    ValueError
        If rounding leaves a reading no variance.
    """
    if not isinstance(times, np.ndarray):
        got = type(times).__module__.partition(".")[0]
        raise TypeError(f"compiled must be False for arrays that are not NumPy's; got {got}'s")
    if matern_size(motion):
        return walked(motion, times, readings, noise, compiled=True)
    return sum_walked(motion, times, readings, noise)


def sum_walked(motion: Motion, times: Vector, readings: Vector, noise: Numbers) -> CompiledWalk:
    """The same of a sum of terms."""
    lanes = lanes_of(motion, times, readings, noise, length=1)
    # copies, since the loop writes into them
    m, P = (np.array(as_host(part)[..., 0]) for part in lanes.first.belief)
    d, n = motion.size, lanes.count
    mean, cov = np.empty((1, d, n)), np.empty((1, d, d, n))
    precision, innovation = np.empty((1, n)), np.empty((1, n))
    given = as_host(lanes.readings)[0], as_host(lanes.noise[0])
    found = mean[0], cov[0], precision[0], innovation[0]
    moves = _moves_of(lanes), _noise_of(lanes)
    try:
        compiled().forward(*moves[0], *moves[1], *given, m[:, None], P, *found)
    except ZeroDivisionError as problem:
        raise _check.NoValueError(f"gp.noise_var must be larger: {LOST}") from problem
    return CompiledWalk(lanes, mean, cov, precision, innovation)


def _moves_of(lanes: Lanes) -> tuple[HostMatrix, HostMatrix, HostMatrix]:
    """The table of the terms, and of each two numbers a step, (J, N), by the processes."""
    motion, step = lanes.motion, lanes.step(0)
    leaves = [term.factors[0] for term in motion.terms]
    table = [(_WAVE if isinstance(leaf, Wave) else _MATERN, block.start, leaf.size)
             for leaf, block in zip(leaves, motion.blocks, strict=True)]  # fmt: skip
    pairs = [_pair(leaf, numbers[0], lanes.count)
             for leaf, numbers in zip(leaves, step.numbers, strict=True)]  # fmt: skip
    first, second = (np.stack(column) for column in zip(*pairs, strict=True))
    return np.asarray(table), first, second


def _pair(leaf: Leaf, numbers: Prepared, count: int) -> tuple[HostVector, HostVector]:
    """Scaled gaps and decays of a Matérn process, or cosines and sines of a wave, (N,) each."""
    if isinstance(leaf, Level):  # a process of one entry that never decays
        return np.zeros(count), np.ones(count)
    return as_host(numbers[0]), as_host(numbers[1])


def _noise_of(lanes: Lanes) -> tuple[HostMatrix, HostMatrix]:
    """The places in a covariance that noise enters, (K, 2), and the noise of each step, (K, N)."""
    places: list[tuple[int, int]] = []
    noise = [np.empty((0, lanes.count))]
    for block, Q in zip(lanes.motion.blocks, lanes.step(0).noise, strict=True):
        if Q is not None:
            rows = range(block.start, block.stop)
            places += [(i, j) for i in rows for j in rows]
            noise.append(np.reshape(as_host(Q), (-1, lanes.count)))
    return np.reshape(np.asarray(places, dtype=np.int64), (-1, 2)), np.concatenate(noise)


@cache
def compiled() -> Loops:
    """The loops, compiled by Numba once in each process."""
    parts = _carry, _turn, _put, _row_sums, _updated, _taken
    names = compiled_functions(globals(), *parts, forward, means_back, covariances_back)
    return Loops(names["forward"], names["means_back"], names["covariances_back"])


def _carry(
    table: HostMatrix, first: HostMatrix, second: HostMatrix, t: int, M: HostMatrix, back: bool
) -> None:  # fmt: skip
    """Put ``F M`` of step t, or ``Fᵀ M`` if back, in the place of M (D, K)."""
    for which in range(table.shape[0]):
        kind, i, size = table[which, 0], table[which, 1], table[which, 2]
        a, b, down = first[which, t], second[which, t], 1
        if back:  # Fᵀ is F of the entries in the other order, for all of these processes
            i, down = i + size - 1, -1
        if kind == _WAVE:
            for c in range(M.shape[1]):
                value = a * M[i, c] + b * M[i + down, c]
                M[i + down, c] = a * M[i + down, c] - b * M[i, c]
                M[i, c] = value
        elif size == 1:
            for c in range(M.shape[1]):
                M[i, c] *= b
        elif size == 2:
            for c in range(M.shape[1]):
                M[i, c] = b * (M[i, c] + a * M[i + down, c])
                M[i + down, c] *= b
        else:
            half = 0.5 * a * a
            for c in range(M.shape[1]):
                # in this order: a row takes of the next ones what they were before
                M[i, c] = b * (M[i, c] + a * M[i + down, c] + half * M[i + 2 * down, c])
                M[i + down, c] = b * (M[i + down, c] + a * M[i + 2 * down, c])
                M[i + 2 * down, c] *= b


def _turn(M: HostMatrix) -> None:
    """Put the transpose of M (D, D) in its place."""
    for i in range(M.shape[0]):
        for j in range(i):
            M[i, j], M[j, i] = M[j, i], M[i, j]


def forward(
    table: HostMatrix, first: HostMatrix, second: HostMatrix, places: HostMatrix, noise: HostMatrix,
    readings: HostVector, level: HostVector, m: HostMatrix, P: HostMatrix, mean: HostMatrix,
    cov: HostArray, precision: HostVector, innovation: HostVector,
) -> None:  # fmt: skip
    """Fill in mean (D, N), cov (D, D, N), ``1 / S`` and innovations (N,), as of `Filtered`.

    m (D, 1) and P (D, D), the belief after the first reading, are written into.
    """
    seen, shared = table[:, 1], np.empty(P.shape[0])
    for t in range(readings.shape[0]):
        if t > 0:
            _carry(table, first, second, t, m, False)
            # F (F P)ᵀ is F P Fᵀ, as P is symmetric: so F need work on rows alone
            _carry(table, first, second, t, P, False)
            _turn(P)
            _carry(table, first, second, t, P, False)
            for k in range(places.shape[0]):
                P[places[k, 0], places[k, 1]] += noise[k, t]
        _put(m, P, t, mean, cov)
        innovation[t], precision[t] = readings[t], 0.0
        for i in seen:
            innovation[t] -= m[i, 0]
        if t > 0:
            _row_sums(cov, seen, t, 1.0, shared)
            precision[t] = _updated(m, P, shared, seen, level[t], innovation[t])


def _put(m: HostMatrix, P: HostMatrix, t: int, mean: HostMatrix, cov: HostArray) -> None:
    """Store a vector (D, 1) and a matrix (D, D) of step t."""
    for i in range(P.shape[0]):
        mean[i, t] = m[i, 0]
        for j in range(P.shape[0]):
            cov[i, j, t] = P[i, j]


def _row_sums(cov: HostArray, seen: HostVector, t: int, scale: float, out: HostVector) -> None:
    """Put ``P Hᵀ`` of step t, times a number, into `out` (D,)."""
    for i in range(out.shape[0]):
        out[i] = 0.0
        for j in seen:
            out[i] += cov[i, j, t]
        out[i] *= scale


def _updated(
    m: HostMatrix, P: HostMatrix, shared: HostVector, seen: HostVector, level: float, gap: float
) -> float:
    """Put the belief after a reading in the place of m and P, of ``P Hᵀ``; return ``1 / S``."""
    variance = level
    for i in seen:
        variance += shared[i]
    told = 1.0 / variance
    for i in range(P.shape[0]):
        gain = shared[i] * told
        m[i, 0] += gain * gap
        # one triangle, mirrored: so P stays symmetric to the last bit, and half the work is left
        for j in range(i, P.shape[0]):
            P[i, j] -= gain * shared[j]
            P[j, i] = P[i, j]
    if seen.shape[0] == 1:  # the row of the signal by σ²/S, in which nothing cancels
        for i in range(P.shape[0]):
            kept = shared[i] * (level * told)
            P[seen[0], i], P[i, seen[0]] = kept, kept
    return told


def means_back(
    table: HostMatrix, first: HostMatrix, second: HostMatrix, cov: HostArray, precision: HostVector,
    innovation: HostVector, adjoint: HostMatrix, alpha: HostVector,
) -> None:  # fmt: skip
    """Fill in λ (D, N) and ``K_y⁻¹ r`` (N,), but for the first, as of `SmoothedMeans`."""
    d, seen = cov.shape[0], table[:, 1]
    late, gain = np.zeros((d, 1)), np.empty(d)
    for t in range(precision.shape[0] - 1, -1, -1):
        _row_sums(cov, seen, t, precision[t], gain)
        alpha[t] = precision[t] * innovation[t]
        for i in range(d):
            alpha[t] -= gain[i] * late[i, 0]
        for i in seen:
            late[i, 0] += alpha[t]
        for i in range(d):
            adjoint[i, t] = late[i, 0]
        _carry(table, first, second, t, late, True)


def covariances_back(
    table: HostMatrix, first: HostMatrix, second: HostMatrix, cov: HostArray, precision: HostVector,
    adjoint: HostArray, known: HostVector,
) -> None:  # fmt: skip
    """Fill in Λ (D, D, N) and the diagonal of ``K_y⁻¹``, as of `SmoothedCovariances`."""
    d, seen = cov.shape[0], table[:, 1]
    late, gain = np.zeros((d, d)), np.empty(d)
    for t in range(precision.shape[0] - 1, -1, -1):
        _row_sums(cov, seen, t, precision[t], gain)
        known[t] = _taken(late, gain, seen, precision[t])
        for i in range(d):
            for j in range(d):
                adjoint[i, j, t] = late[i, j]
        _carry(table, first, second, t, late, True)
        _turn(late)
        _carry(table, first, second, t, late, True)


def _taken(late: HostMatrix, gain: HostVector, seen: HostVector, precision: float) -> float:
    """Put Λ with a reading in the place of that without; return its entry of ``K_y⁻¹``."""
    pushed, told = np.zeros(gain.shape[0]), precision
    for i in range(gain.shape[0]):
        for j in range(gain.shape[0]):
            pushed[i] += late[i, j] * gain[j]
        told += gain[i] * pushed[i]
    # (I − g H)ᵀ Λ (I − g H) + HᵀH/S: less `pushed` in rows and in columns, plus `told` at both
    for i in seen:
        for j in range(gain.shape[0]):
            late[i, j] -= pushed[j]
    for i in seen:
        for j in range(gain.shape[0]):
            late[j, i] -= pushed[j]
    for i in seen:
        for j in seen:
            late[i, j] += told
    return told
