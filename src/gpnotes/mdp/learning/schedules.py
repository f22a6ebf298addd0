"""Schedules: how a step size, or the share of random actions, falls with a count.

The count is of visits (of a pair of state and action for a step size, of a state for the share of
random actions) or of the steps of the run; each schedule says which by its `clock`. The first
value is the one at count 0. Of ``c / (k + 1)^p`` the sum diverges for p ≤ 1, and the sum of squares
is finite for p > 1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from ...ground import check as _check
from ...ground.xp import HostArray, HostVector, Numbers, to_numpy

__all__ = [
    "CLOCKS",
    "STEP_SIZE",
    "ConstantSchedule",
    "ExponentialDecay",
    "PowerLawDecay",
    "Schedule",
    "TabulatedSchedule",
]

CLOCKS = ("visits", "time")
_LONGEST = 1 << 20  # entries of a table of values, 8 MB
_PROBE_COUNTS = np.concatenate([np.arange(200.0), np.geomspace(200.0, 1e9, 50)])


class Schedule(Protocol):
    """A schedule: a call with counts, which returns a value in [0, 1] for each."""

    @property
    def clock(self) -> str:
        """The clock of the schedule, ``"visits"`` or ``"time"``."""
        ...

    def __call__(self, count: HostArray, /) -> HostArray:
        """Return the value at each count, from 0."""
        ...


@dataclass(frozen=True)
class ConstantSchedule:
    """The same value always.

    Parameters
    ----------
    value : float
        The value, in [0, 1].
    """

    value: float

    def __post_init__(self) -> None:
        """Check the value."""
        object.__setattr__(self, "value", fraction(self.value, "value"))

    @property
    def clock(self) -> str:
        """It needs no count, and so not that of visits."""
        return "time"

    def __call__(self, count: HostArray, /) -> HostArray:
        """Return the value, once for each count."""
        return np.full(np.shape(count), self.value)


@dataclass(frozen=True)
class PowerLawDecay:
    """A power-law decay with the count: ``initial ((1 + delay) / (k + 1 + delay))^exponent``.

    Parameters
    ----------
    initial : float, default 1.0
        The first value, in [0, 1].
    exponent : float, default 1.0
        How fast it falls, from 0.
    delay : float, default 0.0
        After about how many counts it begins to fall, from 0.
    clock : str, default "visits"
        The clock: ``"visits"`` or ``"time"``.

    Examples
    --------
    >>> PowerLawDecay()(np.arange(3.0))
    array([1.        , 0.5       , 0.33333333])
    """

    initial: float = 1.0
    exponent: float = 1.0
    delay: float = 0.0
    clock: str = "visits"

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "initial", fraction(self.initial, "initial"))
        for name in ("exponent", "delay"):
            value = _check.number(getattr(self, name), name)
            object.__setattr__(self, name, _check.positive(value, name, zero=True))
        _check.choice(self.clock, "clock", CLOCKS)

    def __call__(self, count: HostArray, /) -> HostArray:
        """Return the value at each count."""
        ratio = (1.0 + self.delay) / (count + (1.0 + self.delay))
        return np.asarray(self.initial * (ratio if self.exponent == 1.0 else ratio**self.exponent))


@dataclass(frozen=True)
class ExponentialDecay:
    """An exponential decay: ``initial decay_rate^k``; its sum is finite.

    Parameters
    ----------
    initial : float
        The first value, in [0, 1].
    decay_rate : float
        The factor from each value to the next, in [0, 1].
    clock : str, default "visits"
        The clock: ``"visits"`` or ``"time"``.
    """

    initial: float
    decay_rate: float
    clock: str = "visits"

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name in ("initial", "decay_rate"):
            object.__setattr__(self, name, fraction(getattr(self, name), name))
        _check.choice(self.clock, "clock", CLOCKS)

    def __call__(self, count: HostArray, /) -> HostArray:
        """Return the value at each count."""
        return np.asarray(self.initial * self.decay_rate ** np.asarray(count, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class TabulatedSchedule:
    """Values from a table; the last one stays.

    Parameters
    ----------
    values : HostVector, shape (n,)
        The values, each in [0, 1].
    clock : str, default "visits"
        The clock: ``"visits"`` or ``"time"``.
    """

    values: HostVector
    clock: str = "visits"

    def __post_init__(self) -> None:
        """Check the values, and keep a copy."""
        values = np.array(to_numpy(_check.vector(self.values, "values")), dtype=np.float64)
        if not values.size or values.min() < 0.0 or values.max() > 1.0:
            raise ValueError(f"values must be numbers in [0, 1], one at least; got {values}")
        object.__setattr__(self, "values", values)
        _check.choice(self.clock, "clock", CLOCKS)

    def __call__(self, count: HostArray, /) -> HostArray:
        """Return the value at each count."""
        last = self.values.size - 1
        return np.asarray(self.values[np.minimum(np.asarray(count, dtype=np.int64), last)])


def fraction(value: Numbers, name: str) -> float:
    """Return a number, if it lies in [0, 1]."""
    value = _check.number(value, name)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be a number in [0, 1]; got {value}")
    return value


def as_schedule(value: Any, name: str) -> Schedule:
    """Return a schedule, constant for a number, if its values lie in [0, 1]."""
    if isinstance(value, ConstantSchedule | PowerLawDecay | ExponentialDecay | TabulatedSchedule):
        return value
    clock = None if isinstance(value, type) else getattr(value, "clock", None)
    if not callable(value) or clock is None:
        return ConstantSchedule(fraction(value, name))
    _check.choice(clock, f"{name}.clock", CLOCKS)
    probed = np.asarray(value(_PROBE_COUNTS), dtype=np.float64)
    if probed.shape != _PROBE_COUNTS.shape or not bool(np.all((probed >= 0.0) & (probed <= 1.0))):
        raise ValueError(f"{name} must be a schedule with values in [0, 1]; got {value!r}")
    return value


def value_at(schedule: Schedule, visits: Callable[[], HostArray], time: int) -> float | HostArray:
    """The value of a schedule by its clock; `visits` is a function, called where it is needed."""
    if isinstance(schedule, ConstantSchedule):
        return schedule.value
    if schedule.clock == "time":
        # As an array: NumPy's scalars may have another last bit.
        return float(schedule(np.asarray([time]))[0])
    counts = visits()
    if time < _LONGEST and isinstance(schedule, PowerLawDecay | ExponentialDecay):
        try:
            return _tabulated(schedule, 1 << time.bit_length())[counts]
        except IndexError:  # in a state of somebody's own, with more visits than steps
            return schedule(counts)
    return schedule(counts)


@lru_cache(maxsize=4)
def _tabulated(schedule: PowerLawDecay | ExponentialDecay, size: int) -> HostVector:
    """The values at all counts below `size`: to look one up takes a fifth of working it out."""
    return np.asarray(schedule(np.arange(size)))


# It falls slowly enough to learn late what lies far away, and fast enough to settle; chosen by
# benchmarks/races/learning_defaults.py
STEP_SIZE = PowerLawDecay(exponent=0.55)
