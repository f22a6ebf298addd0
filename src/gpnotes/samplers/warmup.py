"""Warm-up: the step that is accepted as often as it should be, and the units in which to move.

What is learnt here is kept afterwards: a chain that went on to learn from itself would be none.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..ground.random import Stream
from ..ground.xp import HostMatrix, as_array, to_numpy
from .states import State, Step
from .targets import Target

__all__ = ["StepSearch", "first_size", "units_of", "warmed", "windows"]

_FEWEST = 10  # draws from which units are learnt
_TOWARDS = 5.0  # draws that count for entries without correlation


class StepSearch:
    """Search for the step whose acceptance is the wanted one, on the logarithm of the step.

    Parameters
    ----------
    size : float
        Where the search begins.
    aim : float
        The wanted acceptance.

    Notes
    -----
    After step t of a chain the logarithm moves by ``(acceptance − aim)/√t``, and what it settles at
    is the mean of all, those that came later with more weight. Dual averaging, which is the custom,
    has a push twenty times as strong: its steps swing between far too short and far too long. Their
    acceptances have the right mean, but acceptance falls ever faster with the step, so that the
    step in their middle is too short. With the usual constants, and 20 steps for the search, a path
    of ten unknowns ended at 0.89 for the wanted 0.8; with this rule it ends at 0.81.
    Source: Robbins & Monro (1951) for the search; Polyak & Juditsky (1992) for the mean. Hoffman &
    Gelman (2014), section 3.2, have dual averaging.
    """

    def __init__(self, size: float, aim: float) -> None:
        """Begin a search."""
        self.aim, self.count = aim, 0
        self.log = self.mean = math.log(size)

    def update(self, acceptance: float) -> None:
        """Take in the acceptance of one more step."""
        self.count += 1
        self.mean += 2.0 / (self.count + 1.0) * (self.log - self.mean)
        self.log += (acceptance - self.aim) / math.sqrt(self.count)

    @property
    def size(self) -> float:
        """The step to be tried next."""
        return math.exp(self.log)

    @property
    def settled(self) -> float:
        """The averaged step, or the first one where nothing was taken in."""
        return math.exp(self.mean)


def windows(warmup: int) -> list[int]:
    """Return the lengths of the stretches of a warm-up; units are learnt from all but two of them.

    Parameters
    ----------
    warmup : int
        How many steps it has.

    Returns
    -------
    list of int
        A stretch in which the chain comes from its start, stretches each twice as long as the one
        before, and one for the step alone.
    """
    first, last = warmup * 15 // 100, warmup // 5
    rest, length, middle = warmup - first - last, 25, []
    while rest > 0:
        taken = rest if rest < 3 * length else length
        middle.append(taken)
        rest, length = rest - taken, 2 * length
    return [first, *middle, last]


def units_of(draws: HostMatrix, mass: str) -> HostMatrix:
    """Return the units in which a chain should move, from draws of it.

    Parameters
    ----------
    draws : HostMatrix, shape (n, d)
        The draws.
    mass : str
        ``"diagonal"`` for a scale of each entry, ``"dense"`` for a root of the covariance.

    Returns
    -------
    HostMatrix, shape (d,) or (d, d)
        The units. An entry that has not moved gets 1; correlations count for ``n/(n + 5)``.
    """
    n = draws.shape[0]
    scales = np.std(draws, axis=0, ddof=1)
    scales = np.where(scales > 0.0, scales, 1.0)
    if mass == "diagonal":
        return scales
    centred = (draws - draws.mean(0)) / scales
    correlation = centred.T @ centred / (n - 1)
    correlation *= n / (n + _TOWARDS)
    np.fill_diagonal(correlation, 1.0)
    return scales[:, None] * np.linalg.cholesky(correlation)


def first_size(sampler: Any, target: Target, state: State, stream: Stream) -> float:
    """Return a step near which a proposal is accepted every second time.

    Parameters
    ----------
    sampler : Tunable
        The sampler.
    target : callable
        The log density.
    state : State
        Where the chain is.
    stream : Stream
        The source of random numbers.

    Returns
    -------
    float
        The step of the sampler, halved or doubled until a proposal goes the other way.
    """

    def likely(size: float) -> bool:
        return _one_leap(replace(sampler, size=size)).step(target, state, stream).acceptance > 0.5

    size = float(sampler.size)
    up = likely(size)
    for _ in range(60):
        if likely(size) is not up:
            break
        size *= 2.0 if up else 0.5
    return size


def _one_leap(sampler: Any) -> Any:
    """The sampler with paths of one leap, for those that have paths."""
    for name in ("leaps", "depth"):
        if hasattr(sampler, name):
            return replace(sampler, **{name: 1})
    return sampler


def warmed(
    sampler: Any, target: Target, state: State, stream: Stream, warmup: int, mass: str
) -> tuple[Any, State, list[Step]]:
    """Run a warm-up, and return the tuned sampler, where the chain is, and the steps.

    Parameters
    ----------
    sampler : Sampler
        The sampler; one whose `aim` is None stays as it is.
    target : callable
        The log density.
    state : State
        The start.
    stream : Stream
        The source of random numbers.
    warmup : int
        How many steps.
    mass : str
        ``"none"``, ``"diagonal"`` or ``"dense"``: what units are learnt.

    Returns
    -------
    sampler : Sampler
        The sampler to go on with.
    state : State
        Where to go on.
    steps : list of Step
        What was done.
    """
    steps: list[Step] = []
    if sampler.aim is None or not warmup:
        for _ in range(warmup):
            steps.append(sampler.step(target, state, stream))
            state = steps[-1].state
        return sampler, state, steps
    stretches = windows(warmup)
    for number, length in enumerate(stretches):
        sampler, taken = _stretch(sampler, target, state, stream, length)
        steps += taken
        state = taken[-1].state if taken else state
        middle = 0 < number < len(stretches) - 1
        if middle and mass != "none" and length >= _FEWEST:
            draws = np.stack([to_numpy(step.state.position) for step in taken])
            root = as_array(units_of(draws.astype(np.float64), mass), state.position)
            sampler = replace(sampler, root=root, size=1.0)
    return sampler, state, steps


def _stretch(
    sampler: Any, target: Target, state: State, stream: Stream, length: int
) -> tuple[Any, list[Step]]:
    """Some steps, each with the step that the search is at; the sampler with what it settled at."""
    if not length:
        return sampler, []
    search = StepSearch(first_size(sampler, target, state, stream), sampler.aim)
    steps = []
    for _ in range(length):
        step = replace(sampler, size=search.size).step(target, state, stream)
        search.update(step.acceptance)
        state = step.state
        steps.append(step)
    return replace(sampler, size=search.settled), steps
