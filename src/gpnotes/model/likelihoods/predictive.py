"""``log E p(y | f)`` for a normal f, however sharp p(y | f) is, over panels halved where needed.

A rule with fixed nodes sees nothing of a density that falls between two of them, and
gives no sign of it. So the peaks are looked for first: that of p(y | f), and those of ``p(y | f)
N(f)`` between it and the mean. They end the first panels; a Clenshaw-Curtis rule has its outermost
nodes there, and a panel over which two such rules disagree is halved.

The likelihood is evaluated where its arguments live; the panels are kept on the host. In units of
the standard deviation s, with the direction ``d = ±1`` in which p(y | f) rises at the mean m, a
place is ``f = m + d s r``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np

from ...ground import memory
from ...ground.xp import (
    LOG_2PI,
    Array,
    HostArray,
    HostMatrix,
    HostVector,
    array_namespace,
    as_array,
    epsilon,
    has_double,
    in_double,
    to_numpy,
)

__all__ = ["log_average"]

OfYAndF: TypeAlias = Callable[[Array, Array], Array]
Test: TypeAlias = Callable[[HostVector], HostArray]

_REACH = 9.0  # standard deviations beyond which a normal density is below 1e-18 of its top
_ORDER = 16  # of the finer of two nested rules, which has a node more
_ROUNDS = 100  # of halving, which end long before: it takes 20 to find a peak of a millionth
_PANELS = 500  # for an observation, where rounding of its density is mistaken for structure
_FLAT = 0.5  # what the logarithm may change by across a panel that is never halved
_CLOSEST = 2.0**-200  # to an end, and the farthest from it, where a sign is looked for
_FARTHEST = 2.0**400


def log_average(
    log_density: OfYAndF,
    slope: OfYAndF,
    y: Array,
    mean: Array,
    variance: Array,
    unit: float = 1.0,
) -> Array:
    """Evaluate ``log E p(y | f)`` for ``f ~ N(mean, variance)``, entry by entry.

    To some 1e-9, in float32 alone to 1e-4, and to what the rounding of `log_density`, log p(y | f),
    and of `slope`, its derivative by f, leaves, for densities that rise up to one f and fall from
    there, or do one of the two throughout. Of others a second peak can be missed. `unit` is the
    distance in f over which the density changes: beside it a deviation may be rounding alone.
    """
    xp = array_namespace(mean)
    y, m, v = (in_double(xp.reshape(a, (-1,))) for a in (y, mean, variance))
    blocks = memory.blocks(m.shape[0], 50 * (_ORDER + 1), like=m)
    # far from where y is likely the likelihood may overflow, and is zero there as it should be
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        parts = [_Averages.of(log_density, slope, y[b], m[b], v[b], unit).logs() for b in blocks]
    return xp.reshape(as_array(np.concatenate(parts), mean), mean.shape)


@dataclass(frozen=True)
class _Averages:
    """A block of n observations, and where on the host each is."""

    log_density: OfYAndF
    slope: OfYAndF
    like: Array  # the means, in float64 where there is such a thing
    y: HostVector
    mean: HostVector
    sd: HostVector
    direction: HostVector
    unit: float

    @classmethod
    def of(
        cls,
        log_density: OfYAndF,
        slope: OfYAndF,
        y: Array,
        mean: Array,
        variance: Array,
        unit: float,
    ) -> Self:
        m = to_numpy(mean).astype(float)
        sd = np.sqrt(to_numpy(variance).astype(float))
        direction = np.where(to_numpy(slope(y, mean)) < 0.0, -1.0, 1.0)
        return cls(log_density, slope, mean, to_numpy(y), m, sd, direction, unit)

    def logs(self) -> HostVector:
        """The logarithms of the averages, (n,); where f is down to rounding, the density at it."""
        narrow = self.sd <= epsilon(self.like) * (self.unit + np.abs(self.mean))
        at_mean = self._asked(self.log_density, self.y, self.mean)
        if np.all(narrow):
            return at_mean
        return np.where(narrow, at_mean, self._integrals(self._ends()))

    def _places(self, r: HostMatrix, entry: HostArray) -> HostMatrix:
        """f at the places r (p, k) of so many entries (p,), within the range of the dtype."""
        largest = 0.25 * float(array_namespace(self.like).finfo(self.like.dtype).max)
        step = (self.direction * self.sd)[entry][:, None]
        return np.clip(self.mean[entry][:, None] + step * r, -largest, largest)

    def _asked(self, what: OfYAndF, y: HostArray, f: HostArray) -> HostArray:
        """log p(y | f) or its slope, evaluated where the arguments live."""
        return to_numpy(what(as_array(y, self.like), as_array(f, self.like))).astype(float)

    def _slope(self, r: HostVector) -> HostVector:
        """The derivative of log p(y | f) by r at one place of each entry, (n,)."""
        f = self._places(r[:, None], np.arange(r.size))[:, 0]
        return self.direction * self.sd * self._asked(self.slope, self.y, f)

    def _ends(self) -> HostMatrix:
        """The ends of the first panels, (n, 6), in order.

        The density rises from r = 0 to its peak, if it has one; its factor falls.
        So all peaks of the product lie between, and there are two at most if its tails are heavy:
        one is looked for from each side.
        """
        n = self.mean.size
        everywhere = np.full(n, _FARTHEST)
        peak = _first(lambda r: self._slope(r) > 0.0, everywhere)
        peaked = peak < _FARTHEST
        near = _first(lambda r: self._slope(r) > r, peak)
        far = peak - _first(lambda t: self._slope(peak - t) < peak - t, peak)
        far, peak = np.where(peaked, far, near), np.where(peaked, peak, near)
        ends = [np.full(n, -_REACH), np.zeros(n), near, far, peak, np.maximum(near, peak) + _REACH]
        return np.sort(np.stack(ends, axis=1), axis=1)

    def _integrals(self, ends: HostMatrix) -> HostVector:
        """The logarithms of the integrals over all panels, halved until two rules agree."""
        n, panels = ends.shape[0], ends.shape[1] - 1
        low, high = ends[:, :-1].ravel(), ends[:, 1:].ravel()
        entry = np.repeat(np.arange(n), panels)
        tolerance = 1e-9 if has_double(self.like) else 1e-4
        done = np.full(n, -np.inf)
        count = 0
        for _ in range(_ROUNDS):
            fine, coarse, settled = self._panels(low, high, entry)
            total = done.copy()
            np.logaddexp.at(total, entry, fine)
            gap = np.abs(np.exp(fine - total[entry]) - np.exp(coarse - total[entry]))
            count += entry.size
            halve = (gap > tolerance) & ~settled & (count < _PANELS * n)
            np.logaddexp.at(done, entry[~halve], fine[~halve])
            if not np.any(halve):
                break
            low, high, entry = low[halve], high[halve], entry[halve]
            middle = 0.5 * (low + high)
            low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
            entry = np.concatenate([entry, entry])
        return done

    def _panels(
        self, low: HostVector, high: HostVector, entry: HostArray
    ) -> tuple[HostVector, HostVector, HostArray]:
        """Integrals by the finer and the coarser rule, and where halving tells no more; (p,)."""
        nodes, weights, every_other = _RULE
        half = 0.5 * (high - low)
        # the ends themselves, to the last bit: a peak may be no wider than that
        r = 0.5 * (low[:, None] * (1.0 - nodes) + high[:, None] * (1.0 + nodes))
        f = self._places(r, entry)
        value = self._asked(self.log_density, self.y[entry][:, None], f)
        logs = value - 0.5 * r * r - 0.5 * LOG_2PI + np.log(half)[:, None]
        fine = np.logaddexp.reduce(logs + np.log(weights), axis=1)
        coarse = np.logaddexp.reduce(logs[:, ::2] + np.log(every_other), axis=1)
        flat = np.ptp(logs, axis=1) < _FLAT
        short = half * self.sd[entry] <= 4.0 * epsilon(self.like) * np.max(np.abs(f), axis=1)
        return fine, coarse, flat | short


def _first(holds: Test, end: HostVector) -> HostVector:
    """Where on the way from 0 to `end` (n,) a condition that holds at first ends to hold.

    By halving, of exponents while the ends differ by orders of magnitude: the switch
    that is found, if there are more, is one near 0.
    """
    low, high = np.minimum(_CLOSEST, end), end
    for _ in range(54):
        middle = np.where(high > 4.0 * low, np.sqrt(low) * np.sqrt(high), 0.5 * (low + high))
        good = holds(middle)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return high


def _clenshaw_curtis(n: int) -> HostVector:
    """The weights (n + 1,) of the rule with the nodes ``cos(πk/n)`` on [−1, 1], for even n.

    Source: Trefethen (2008), Is Gauss quadrature better than Clenshaw-Curtis?, section 2.
    """
    k, j = np.arange(n + 1), np.arange(1, n // 2 + 1)
    b = np.where(2 * j == n, 1.0, 2.0)
    terms = b / (4.0 * j * j - 1.0) * np.cos(2.0 * math.pi * np.outer(k, j) / n)
    weights = (1.0 - terms.sum(axis=1)) * 2.0 / n
    weights[[0, n]] *= 0.5
    return weights


_RULE = (
    np.cos(math.pi * np.arange(_ORDER + 1) / _ORDER),
    _clenshaw_curtis(_ORDER),
    _clenshaw_curtis(_ORDER // 2),
)
