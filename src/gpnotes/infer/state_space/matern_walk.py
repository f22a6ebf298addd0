"""Kalman's filter for one Matérn process, reading by reading, in Python's floats or by Numba.

A step of a state of one to three numbers is some forty operations on floats, and a call of an array
library costs as much as twenty. So where lanes would be short, the readings are walked along one by
one, each a lane of its own, and all that follows is one step of arrays as long as the line. Numba
compiles the same loops for lines of any length. All are O(N). The numbers of steps are worked out
for a stretch of the line at a time, whose arrays stay in a processor's cache.

The gap s carries P and Λ by the matrix U with the rows ``1, s, s²/2``, ``0, 1, s`` and ``0, 0, 1``,
and by the decay ``e^{−s}``. The letters a, b, … are their entries with i ≤ j, row by row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeAlias, cast

import numpy as np

from ...ground import check as _check
from ...ground.class_tags import saved_as
from ...ground.numba_functions import compiled_functions
from ...ground.xp import (
    HostArray,
    HostMatrix,
    HostVector,
    Matrix,
    Numbers,
    Stack,
    Vector,
    as_host,
)
from .elementary_processes import MaternLeaf
from .float_walk import MeanEquations, covariances, mean_equations
from .kalman import Filtered, SmoothedCovariances, SmoothedMeans
from .matern_sde import SHORT, MaternMotion, series_factors
from .motion import Motion, Step
from .parallel_scan import LOST, Lanes, lanes_of

__all__ = ["Walked", "is_walked", "matern_size", "walked"]

_MOST = 7000  # readings up to which it is the faster way, whatever the entries
_STRETCH = 2**14  # steps of a stretch
_in_step = zip  # by another name, as Numba does not know its `strict`

State: TypeAlias = tuple[float, ...]
Columns: TypeAlias = Sequence[Any]
Loop: TypeAlias = Callable[[Any, Columns, Columns], State]


def is_walked(motion: Motion, times: Vector) -> bool:
    """Return True if this is the way for readings at these places."""
    known = isinstance(times, np.ndarray) and times.shape[0] <= _MOST
    return known and matern_size(motion) > 0


def matern_size(motion: Motion) -> int:
    """The number of entries of the one process that a state is of; zero where it is another."""
    leaves = [leaf for term in motion.terms for leaf in term.factors]
    return leaves[0].size if len(leaves) == 1 and type(leaves[0]) is MaternLeaf else 0


@saved_as("Kalman filter of one Matérn process")
@dataclass(frozen=True, eq=False)
class Walked(Filtered):
    """The same of one Matérn process.

    Parameters
    ----------
    lanes, mean, cov, precision, innovation
        As of `Filtered`.
    compiled : bool
        Whether Numba compiles the loops.
    sums : tuple of float, or None
        What was added up on the way, of all readings but the first: ``Σ v² / S``, ``Σ log S`` and
        the largest variance of f.
    """

    compiled: bool = False
    sums: tuple[float, float, float] | None = None

    @cached_property
    def fit(self) -> float:
        """``Σ v² / S``."""
        if self.sums is None:
            return super().fit
        first = as_host(self.first.reading * self.first.reading * self.first.precision)
        return self.sums[0] + float(first[0])

    @cached_property
    def log_det(self) -> float:
        """``Σ log S``."""
        if self.sums is None:
            return super().log_det
        return self.sums[1] - float(np.log(as_host(self.first.precision))[0])

    @property
    def _largest(self) -> float:
        """The largest variance of f before a reading, or after the first."""
        if self.sums is None:
            return super()._largest
        return max(self.sums[2], float(self.cov[0, 0, 0, 0]))

    @cached_property
    def smoothed_means(self) -> SmoothedMeans:
        """The way back for means, worked out when it is first asked for."""
        if self.compiled:
            late, own = self._means_by_loop()
        else:
            late, own = self._equations.back(as_host(self.precision * self.innovation)[0])
        adjoint, alpha, first = late[None, ...], own[None, :], self.first
        # its `told` would prepare for any terms, which takes as long as hundreds of readings
        shared = as_host(self.lanes.motion.terms[0].prior(first.place)[:, 0, 0])
        told = first.precision * (first.reading - shared @ adjoint[0, :, 0])
        alpha[0, :1] = as_host(told)
        return SmoothedMeans(adjoint, alpha)

    def _means_by_loop(self) -> tuple[HostMatrix, HostVector]:
        """λ (D, N), and ``K_y⁻¹ r`` but for the first."""
        size, d = self._size, self.mean.shape[1]
        go = _means_of_two if size == 2 else _means_of_three
        late, own = np.empty((size, self.lanes.count)), np.empty(self.lanes.count)
        self._backwards(go, (0.0,) * size, [*late, own], self.precision, self.innovation)
        return late[:d], own

    @cached_property
    def _equations(self) -> MeanEquations:
        """The equations of the means in the place of a loop."""
        precision = as_host(self.precision)[0]
        kept = precision * as_host(self.lanes.noise[0])
        kept[0] = 1.0  # the first reading is known already, and tells nothing more
        gains = as_host(self.cov)[0, 0] * precision
        return mean_equations(self.lanes.steps(slice(1, None)), gains, kept)

    @cached_property
    def smoothed_covariances(self) -> SmoothedCovariances:
        """The way back for variances, worked out when it is first asked for."""
        size, d = self._size, self.mean.shape[1]
        go = _covariances_of_two if size == 2 else _covariances_of_three
        begun = (0.0,) * (size * (size + 1) // 2)
        late, known = np.empty((size * size, self.lanes.count)), np.empty(self.lanes.count)
        self._backwards(go, begun, [*late, known], self.precision)
        adjoint, precision = _square(late, size)[None, :d, :d], known[None, :]
        precision[0, :1] = as_host(self.first.known(adjoint[0, :, :, :1]))
        return SmoothedCovariances(adjoint, precision)

    @property
    def _size(self) -> int:
        """The entries of a state of the loops."""
        # one entry is walked as two, the second zero: it needs no loop of its own
        return max(self.mean.shape[1], 2)

    def _backwards(
        self, loop: Loop, state: State, found: list[HostVector], *told: Matrix
    ) -> None:  # fmt: skip
        """Go through a loop from the last reading to the first, which fills in rows (N,)."""
        n, shared = self.lanes.count, as_host(self.cov[0, 0, ...])
        columns = [as_host(a[0, ...]) for a in told]
        below = [np.zeros(n)] * (2 - len(shared))
        for start in range((n - 1) // _STRETCH * _STRETCH, -1, -_STRETCH):
            here = slice(start, start + _STRETCH)
            numbers = self.lanes.steps(here).numbers[0][0][:2]
            given = (*numbers, *(a[here] for a in (*shared, *below, *columns)))
            out = [row[here] for row in found]
            state = _walk(self.compiled, loop, state, [a[::-1] for a in given], out)


def walked(
    motion: Motion, times: Vector, readings: Vector, noise: Numbers, compiled: bool = False
) -> Walked:
    """Filter readings at ascending times one by one, O(N); the arguments are those of `lanes_of`.

    Raises
    ------
    ValueError
        If rounding leaves a reading no variance.
    """
    lanes = lanes_of(motion, times, readings, noise, length=1)
    d, size = motion.size, max(motion.size, 2)
    given = [np.ascontiguousarray(as_host(a)) for a in (lanes.readings[0], lanes.noise[0])]
    m, P = _after_first(lanes)
    if not compiled:
        level = noise if isinstance(noise, float) else given[1][1:]
        return _by_floats(lanes, given[0], level, m, P)
    state = (*np.append(m, 0.0)[:size].tolist(), *(float(a[0]) for a in _entries(P, size)), 1.0)
    n = lanes.count
    # apart, as the C library keeps what is freed for the next run in blocks of up to 32 MiB
    means, covs = np.empty((size, n)), np.empty((size * size, n))
    precision, innovation = np.empty(n), np.empty(n)
    found = [*means, *covs, precision, innovation]
    mean, cov = means[None, :d], _square(covs, size)[None, :d, :d]
    sums = []
    for start in range(0, lanes.count, _STRETCH):
        here = slice(max(start, 1), start + _STRETCH)
        step = lanes.steps(here)
        columns = [*step.numbers[0][0][:2], *_noise(step), *(a[here] for a in given)]
        try:
            state = _walk(True, _FILTERS[size], state, columns, [row[here] for row in found])
        except ZeroDivisionError as problem:
            raise _check.NoValueError(f"gp.noise_var must be larger: {LOST}") from problem
        told, gap = precision[here], innovation[here]
        if len(told):  # while a stretch is still in a processor's cache
            sums.append((np.dot(told * gap, gap), -np.sum(np.log(told)), np.max(covs[0, here])))
    mean[0, :, 0], cov[0, :, :, 0] = m[:, 0], P[..., 0]
    # the first reading is known already, and tells nothing more
    precision[0], innovation[0] = 0.0, given[0][0] - m[0, 0]
    run = lanes, mean, cov, precision[None, :], innovation[None, :]
    fit, log_det, largest = zip(*sums, strict=True) if sums else ((), (), (0.0,))
    return Walked(*run, True, (math.fsum(fit), math.fsum(log_det), float(max(largest))))


def _by_floats(
    lanes: Lanes, readings: HostVector, noise: HostVector | float, m: HostMatrix, P: HostArray
) -> Walked:
    """The same without Numba, given the noise of all but the first and the belief after that."""
    d, n = lanes.motion.size, lanes.count
    mean, cov = np.empty((1, d, n)), np.empty((1, d, d, n))
    precision, innovation = np.zeros((1, n)), np.empty((1, n))
    step = lanes.steps(slice(1, None))
    Q = _entries(as_host(cast(Stack, step.noise[0])), d)
    begun = [float(a[0]) for a in _entries(P, d)]
    try:
        found = iter(covariances(begun, step, Q, noise))
    except ZeroDivisionError as problem:
        raise _check.NoValueError(f"gp.noise_var must be larger: {LOST}") from problem
    cov[0, :, :, 0] = P[..., 0]
    for i in range(d):
        for j in range(i, d):
            cov[0, i, j, 1:] = cov[0, j, i, 1:] = next(found)
    precision[0, 1:] = 1.0 / (cov[0, 0, 0, 1:] + noise)
    # the equations are those of its covariances, and its means their solution
    run = Walked(lanes, mean, cov, precision, innovation)
    mean[0] = run._equations.means(m[:, 0], readings)
    innovation[0] = readings - mean[0, 0]
    return run


def _after_first(lanes: Lanes) -> tuple[HostMatrix, HostArray]:
    """The belief after the first reading, (D, 1) and (D, D, 1), as of `FirstReading`.

    In fewer steps than that takes to prepare for any terms.
    """
    first = lanes.first
    P = as_host(lanes.motion.terms[0].prior(first.place))
    told, shared = float(first.precision[0]), P[0].copy()
    # as `narrow` does: infinite noise tells nothing
    kept = shared * (told * float(first.noise[0]) if told > 0.0 else 1.0)
    P -= told * shared[:, None, :] * shared[None, :, :]
    P[0], P[:, 0] = kept, kept
    return shared * first.precision * first.reading, P


def _walk(compiled: bool, loop: Loop, state: State, steps: list[HostVector], out: Columns) -> State:
    """Go through a loop over steps, which fills in the columns of `out`; return its last state."""
    # a single step has the layout of both ways, for which Numba would compile a loop once more
    if compiled and len(out[0]) > 1:
        return _compiled()[loop.__name__](state, tuple(steps), tuple(out))
    # a view of memory takes a float as it is, where an array of NumPy looks what it is first
    views = [memoryview(row) for row in out]
    return loop(state, [a.tolist() for a in steps], views)


def _noise(step: Step) -> list[HostVector]:
    """The noise of steps, entry by entry."""
    term, (s, decay, longest) = step.motion.terms[0], step.numbers[0][0]
    d = term.size
    if d == 1 or longest >= SHORT:
        return _entries(as_host(cast(Stack, step.noise[0])), max(d, 2))
    found = [np.empty(len(s)) for _ in range(d * (d + 1) // 2)]
    factors = np.asarray(series_factors(2 * d - 1, 2.0 * longest))
    scale = term.variance * MaternMotion(d).drive
    _compiled()[_NOISES[d].__name__](s, decay, factors, scale, tuple(found))
    return found


@cache
def _compiled() -> dict[str, Any]:
    """The loops compiled by Numba, once in each process."""
    parts: list[Callable[..., Any]] = [*_FILTERS.values(), _means_of_two, _means_of_three]
    parts += _covariances_of_two, _covariances_of_three, _series, *_NOISES.values()
    return compiled_functions(globals(), *parts)


def _entries(a: HostArray, size: int) -> list[HostVector]:
    """The entries with i ≤ j of matrices (D, D, N), with zeros below in `size` rows."""
    d, none = len(a), np.zeros(a.shape[2]) if len(a) < size else a[0, 0]
    return [a[i, j] if j < d else none for i in range(size) for j in range(i, size)]


def _square(rows: HostMatrix, size: int) -> HostArray:
    """Matrices (D, D, N) of their entries row by row, a view."""
    return rows.reshape(size, size, -1)


def _filter_of_two(state: State, steps: Columns, out: Columns) -> State:
    """Mean and covariance before each reading, ``1 / S`` and the innovation.

    The covariance of a state is its entries times its last number, the latest ``1 / S``: a division
    takes as long as five products, and meanwhile all is done that need not wait for it.
    """
    m0, m1, a, b, c, told = state
    x0, x1, p00, p01, p10, p11, precision, innovation = out
    for t, (s, decay, q00, q01, q11, reading, noise) in enumerate(_in_step(*steps)):
        m0, m1, square = decay * (m0 + s * m1), decay * m1, decay * decay * told
        # (U P Uᵀ)₀₀ is a + 2 s b + s² c
        slope, curve = s * b, s * c
        a = square * (a + slope + slope + s * curve) + q00
        b, c = square * (b + curve) + q01, square * c + q11
        variance, gap = a + noise, reading - m0
        told = 1.0 / variance
        x0[t], x1[t], precision[t], innovation[t] = m0, m1, told, gap
        p00[t], p01[t], p10[t], p11[t] = a, b, b, c
        pull = told * gap
        m0, m1 = m0 + a * pull, m1 + b * pull
        # the row of the signal by σ²/S, in which nothing cancels
        a, b, c = a * noise, b * noise, c * variance - b * b
    return m0, m1, a, b, c, told


def _filter_of_three(state: State, steps: Columns, out: Columns) -> State:
    """The same of three numbers."""
    m0, m1, m2, a, b, c, d, f, g, told = state
    x0, x1, x2, p00, p01, p02, p10, p11, p12, p20, p21, p22, precision, innovation = out
    for t, (s, decay, q00, q01, q02, q11, q12, q22, reading, noise) in enumerate(_in_step(*steps)):
        half, square = 0.5 * s * s, decay * decay * told
        m0, m1 = decay * (m0 + s * m1 + half * m2), decay * (m1 + s * m2)
        m2 *= decay
        # U P, whose rows are then carried in their turn
        right, corner = b + s * d + half * f, c + s * f + half * g
        low, lowest = d + s * f, f + s * g
        a = square * (a + s * (b + right) + half * (c + corner)) + q00
        b, c = square * (right + s * corner) + q01, square * corner + q02
        d, f = square * (low + s * lowest) + q11, square * lowest + q12
        g = square * g + q22
        variance, gap = a + noise, reading - m0
        told = 1.0 / variance
        x0[t], x1[t], x2[t], precision[t], innovation[t] = m0, m1, m2, told, gap
        p00[t], p01[t], p02[t] = a, b, c
        p10[t], p11[t], p12[t] = b, d, f
        p20[t], p21[t], p22[t] = c, f, g
        pull = told * gap
        m0, m1, m2 = m0 + a * pull, m1 + b * pull, m2 + c * pull
        d, f, g = d * variance - b * b, f * variance - b * c, g * variance - c * c
        a, b, c = a * noise, b * noise, c * noise
    return m0, m1, m2, a, b, c, d, f, g, told


def _means_of_two(state: State, steps: Columns, out: Columns) -> State:
    """λ with each reading and its entry of ``K_y⁻¹ r``, the last first."""
    (l0, l1), (x0, x1, alpha) = state, out
    for t, (s, decay, a, b, told, gap) in enumerate(_in_step(*steps), 1):
        own = told * (gap - a * l0 - b * l1)
        l0 += own
        x0[-t], x1[-t], alpha[-t] = l0, l1, own
        l0, l1 = decay * l0, decay * l1 + decay * s * l0
    return l0, l1


def _means_of_three(state: State, steps: Columns, out: Columns) -> State:
    """The same of three numbers."""
    (l0, l1, l2), (x0, x1, x2, alpha) = state, out
    for t, (s, decay, a, b, c, told, gap) in enumerate(_in_step(*steps), 1):
        own = told * (gap - a * l0 - b * l1 - c * l2)
        l0 += own
        x0[-t], x1[-t], x2[-t], alpha[-t] = l0, l1, l2, own
        # the last entry first: it takes of the others as they were
        l2 = decay * (l2 + s * l1 + 0.5 * s * s * l0)
        l0, l1 = decay * l0, decay * (l1 + s * l0)
    return l0, l1, l2


def _covariances_of_two(state: State, steps: Columns, out: Columns) -> State:
    """Λ with each reading and its entry of the diagonal of ``K_y⁻¹``, the last first."""
    (a, b, c), (x00, x01, x10, x11, precision) = state, out
    for t, (s, decay, p, q, told) in enumerate(_in_step(*steps), 1):
        k0, k1 = p * told, q * told
        p0, p1 = a * k0 + b * k1, b * k0 + c * k1
        known = told + k0 * p0 + k1 * p1
        # (I − g H)ᵀ Λ (I − g H) + HᵀH/S with H = (1, 0): all of it is in the first row
        a, b = a + known - 2.0 * p0, b - p1
        x00[-t], x01[-t], x10[-t], x11[-t], precision[-t] = a, b, b, c, known
        square, right = decay * decay, b + s * a
        a, b, c = square * a, square * right, square * (c + s * (b + right))
    return a, b, c


def _covariances_of_three(state: State, steps: Columns, out: Columns) -> State:
    """The same of three numbers."""
    a, b, c, d, f, g = state
    x00, x01, x02, x10, x11, x12, x20, x21, x22, precision = out
    for t, (s, decay, p, q, r, told) in enumerate(_in_step(*steps), 1):
        k0, k1, k2 = p * told, q * told, r * told
        p0, p1 = a * k0 + b * k1 + c * k2, b * k0 + d * k1 + f * k2
        p2 = c * k0 + f * k1 + g * k2
        known = told + k0 * p0 + k1 * p1 + k2 * p2
        a += known - 2.0 * p0
        b, c = b - p1, c - p2
        x00[-t], x01[-t], x02[-t] = a, b, c
        x10[-t], x11[-t], x12[-t] = b, d, f
        x20[-t], x21[-t], x22[-t], precision[-t] = c, f, g, known
        # Λ U, whose columns are then carried in their turn
        half, square = 0.5 * s * s, decay * decay
        right, corner, low = b + s * a, c + s * b + half * a, f + s * d + half * b
        g = square * (g + s * (f + low) + half * (c + corner))
        d, f = square * (d + s * (b + right)), square * (low + s * corner)
        a, b, c = square * a, square * right, square * corner
    return a, b, c, d, f, g


_FILTERS = {2: _filter_of_two, 3: _filter_of_three}


# The noise of short gaps as of `MaternMotion.noise`, without an array for each power and integral


def _series(s: HostVector, factors: HostVector, total: HostVector) -> None:
    """Fill in the sum of a series in 2 s, its highest power first."""
    total[:] = factors[-1]
    for factor in factors[-2::-1]:
        for t in range(len(s)):  # the inner one, so that it is done for a few steps at a time
            total[t] = total[t] * (2.0 * s[t]) + factor


def _noise_of_two(
    s: HostVector, decay: HostVector, factors: HostVector, scale: float, out: Columns
) -> None:
    """Fill in the three entries, times `scale`."""
    q00, q01, q11 = out
    _series(s, factors, q00)
    for t in range(len(s)):
        first = scale * decay[t] * decay[t] * s[t]
        second = first * s[t]
        # ∫ uᵏ e^{−2u} du for k = 2, 1, 0, each of the one before
        q00[t] *= second * s[t] / 3.0
        q01[t] = q00[t] + 0.5 * second
        q11[t] = 2.0 * q01[t] + first


def _noise_of_three(
    s: HostVector, decay: HostVector, factors: HostVector, scale: float, out: Columns
) -> None:
    """The same of six entries."""
    q00, q01, q02, q11, q12, q22 = out
    _series(s, factors, q00)
    for t in range(len(s)):
        first = scale * decay[t] * decay[t] * s[t]
        second = first * s[t]
        third = second * s[t]
        fourth = third * s[t]
        # ∫ uᵏ e^{−2u} du for k = 4, 3, 2, 1, 0, over the factorials of D − 1 − i and D − 1 − j
        whole = fourth * s[t] * q00[t] / 5.0
        high = 0.5 * whole + 0.25 * fourth
        middle = (2.0 * high + third) / 3.0
        q00[t], q01[t], q02[t] = 0.25 * whole, 0.5 * high, 0.5 * middle
        q11[t], q12[t] = middle, middle + 0.5 * second
        q22[t] = 2.0 * q12[t] + first


_NOISES = {2: _noise_of_two, 3: _noise_of_three}
