"""Warm-up, or adaptation: the step size whose acceptance is wanted, and the mass matrix.

Tuning ends with the warm-up: a chain that went on to adapt to its own past would not be Markov.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeAlias, TypeVar, cast

import numpy as np

from ..ground.random import Stream
from ..ground.xp import HostMatrix, as_array, to_numpy
from .states import Sampler, State, Step, Tunable
from .targets import Target

__all__ = [
    "StepSizeAdaptation", "WarmUp", "adaptation_windows", "estimate_inverse_mass_root",
    "find_reasonable_step_size",
]  # fmt: skip

S = TypeVar("S", bound=Sampler)
Tick: TypeAlias = Callable[[], object]

_FEWEST = 10  # draws from which a mass matrix is learnt
_SHRINKAGE = 5.0  # draws that count for entries without correlation


class StepSizeAdaptation:
    """Search for the step whose acceptance is the wanted one, on the logarithm of the step.

    Parameters
    ----------
    step_size : float
        Where the search begins.
    target_acceptance : float
        The wanted acceptance.

    Notes
    -----
    After step t of a chain the logarithm moves by ``(acceptance − target)/√t``; it settles at
    the mean of all, those that came later with more weight. Dual averaging, which is the custom,
    has a push twenty times as strong: its steps swing between far too short and far too long. Their
    acceptances have the right mean, but acceptance falls ever faster with the step, so that the
    step in their middle is too short. With the usual constants, and 20 steps for the search, a path
    of ten unknowns ended at 0.89 for the wanted 0.8; with this rule it ends at 0.81.
    Source: Robbins & Monro (1951) for the search; Polyak & Juditsky (1992) for the mean. Hoffman &
    Gelman (2014), section 3.2, have dual averaging.
    """

    def __init__(self, step_size: float, target_acceptance: float) -> None:
        """Begin a search."""
        self.target_acceptance, self.count = target_acceptance, 0
        self.log_step = self.mean_log_step = math.log(step_size)

    def update(self, acceptance: float) -> None:
        """Take in the acceptance of one more step."""
        self.count += 1
        # in the mean the k-th step counts in proportion to k, so that the bad first ones fade
        weight = 2.0 / (self.count + 1.0)
        self.mean_log_step += weight * (self.log_step - self.mean_log_step)
        # moves of 1/√k are long enough to leave a bad start; the mean takes out their noise
        self.log_step += (acceptance - self.target_acceptance) / math.sqrt(self.count)

    @property
    def step_size(self) -> float:
        """The step to be tried next."""
        return math.exp(self.log_step)

    @property
    def averaged_step_size(self) -> float:
        """The averaged step, or the first one where nothing was taken in."""
        return math.exp(self.mean_log_step)


def adaptation_windows(num_warmup: int) -> list[int]:
    """Return the lengths of a warm-up's windows; all but two learn a mass matrix.

    In the first the chain comes from its start, the next are each twice as long as the one before,
    and the last is for the step alone.
    """
    first, last = num_warmup * 15 // 100, num_warmup // 5
    remaining, length, windows = num_warmup - first - last, 25, []
    while remaining > 0:
        # the last window takes the rest: one that is shorter than its predecessor learns worse
        window = remaining if remaining < 3 * length else length
        windows.append(window)
        remaining, length = remaining - window, 2 * length
    return [first, *windows, last]


def estimate_inverse_mass_root(draws: HostMatrix, mass_matrix: str) -> HostMatrix:
    """Return a root of the inverse mass matrix for a chain, from draws (n, d) of it.

    ``"diagonal"`` is a scale (d,) of each entry, ``"dense"`` a root (d, d) of the covariance. An
    entry that has not moved gets 1; correlations count for ``n/(n + 5)``.
    """
    n = draws.shape[0]
    scales = np.std(draws, axis=0, ddof=1)
    scales = np.where(scales > 0.0, scales, 1.0)
    if mass_matrix == "diagonal":
        return scales
    centred = (draws - draws.mean(0)) / scales
    correlation = centred.T @ centred / (n - 1)
    # shrunk to the identity, so that the factor exists even for n < d
    correlation *= n / (n + _SHRINKAGE)
    np.fill_diagonal(correlation, 1.0)
    return scales[:, None] * np.linalg.cholesky(correlation)


def find_reasonable_step_size(
    sampler: Tunable, target: Target, state: State, stream: Stream
) -> float:
    """Return a step near which a proposal is accepted every second time.

    That of the sampler is halved or doubled until a proposal goes the other way.
    """

    one_step = _with_single_steps(sampler)

    def is_accepted(step_size: float) -> bool:
        return replace(one_step, step_size=step_size).step(target, state, stream).acceptance > 0.5

    step_size = float(sampler.step_size)
    growing = is_accepted(step_size)
    for _ in range(60):
        if is_accepted(step_size) is not growing:
            break
        step_size *= 2.0 if growing else 0.5
    return step_size


def _with_single_steps(sampler: Any) -> Any:
    """The sampler with paths of one leapfrog step, for those that have paths."""
    for name in ("num_steps", "max_tree_depth"):
        if hasattr(sampler, name):
            return replace(sampler, **{name: 1})
    return sampler


def _unheard() -> None:
    """Do nothing: no progress bar is shown."""


class WarmUp(Generic[S]):
    """A warm-up on its way, which knows at any time how far it has come.

    Parameters
    ----------
    sampler : Sampler
        What is tuned; without a `target_acceptance` it stays as it is.
    target : Target
        The density.
    state : State
        Where the chain begins.
    stream : Stream
        Where the draws come from.

    Attributes
    ----------
    sampler : Sampler
        The sampler as it is tuned so far.
    state : State
        Where the chain is.
    steps : list of Step
        The steps taken.
    """

    def __init__(self, sampler: S, target: Target, state: State, stream: Stream) -> None:
        """Begin at a state."""
        self.sampler, self.target, self.state, self.stream = sampler, target, state, stream
        self.steps: list[Step] = []

    def run(self, num_warmup: int, mass_matrix: str, tick: Tick = _unheard) -> None:
        """Take the steps; the mass matrix is ``"none"``, ``"diagonal"`` or ``"dense"``.

        `tick` is called after each step.
        """
        tuned = self.sampler
        if tuned.target_acceptance is None:
            for _ in range(num_warmup):
                self._step(tuned)
                tick()
            return
        lengths = adaptation_windows(num_warmup)
        for number, length in enumerate(lengths):
            self._adapt_step_size(length, tick)
            is_middle = 0 < number < len(lengths) - 1
            if is_middle and mass_matrix != "none" and length >= _FEWEST:
                self._learn_mass_matrix(self.steps[-length:], mass_matrix)

    def _step(self, sampler: Sampler) -> Step:
        step: Step = sampler.step(self.target, self.state, self.stream)
        self.state = step.state
        self.steps.append(step)
        return step

    def _adapt_step_size(self, length: int, tick: Tick) -> None:
        """Some steps, each with the step size that the search is at; it settles at their mean."""
        if not length:
            return
        tuned: Any = self.sampler
        step_size = find_reasonable_step_size(tuned, self.target, self.state, self.stream)
        adaptation = StepSizeAdaptation(step_size, tuned.target_acceptance)
        try:
            for _ in range(length):
                step = self._step(replace(tuned, step_size=adaptation.step_size))
                adaptation.update(step.acceptance)
                tick()
        finally:  # an interrupted warm-up keeps the step that it has come to
            self.sampler = replace(tuned, step_size=adaptation.averaged_step_size)

    def _learn_mass_matrix(self, steps: list[Step], mass_matrix: str) -> None:
        draws = np.stack([to_numpy(step.state.position) for step in steps])
        estimate = estimate_inverse_mass_root(draws.astype(np.float64), mass_matrix)
        root, tuned = as_array(estimate, self.state.position), cast(Any, self.sampler)
        # the old step was in units of the old mass matrix: the next window searches from 1
        self.sampler = replace(tuned, inverse_mass_root=root, step_size=1.0)
