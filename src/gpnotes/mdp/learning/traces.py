"""Learners of action values with eligibility traces: SARSA(λ), and Watkins's Q(λ).

A trace says how much a pair has in the errors to come: each visit adds one to it, each step leaves
the share γλ of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import HostArray, HostVector
from .exploring import EpsilonGreedy
from .schedules import Power, share
from .tabular import (
    Memory,
    Transition,
    flat,
    highest,
    later,
    places,
    rows,
)
from .td_control import OneStep, Waiting, mean_value, nothing_waits, rate_of, target_of

__all__ = ["QLambda", "SARSALambda", "Traced", "TracedWaiting"]

_RATE = Power()
_EXPLORE = EpsilonGreedy()


@dataclass(frozen=True, eq=False)
class Traced(Memory):
    """A memory with traces.

    Parameters
    ----------
    values, visits, time
        As of `Memory`.
    traces : HostArray, shape (runs, states, actions)
        What share each pair has in the errors to come.
    """

    traces: Any = None


@dataclass(frozen=True, eq=False)
class TracedWaiting(Waiting):
    """A memory with traces, whose last step waits for the action that comes next.

    Parameters
    ----------
    values, visits, time, at, rewards, rates, waits
        As of `onestep.Waiting`.
    traces : HostArray, shape (runs, states, actions)
        What share each pair has in the errors to come.
    """

    traces: Any = None


@dataclass(frozen=True, eq=False)
class _Tracing(OneStep):
    trace: float = 0.9
    replacing: bool = False

    def __post_init__(self) -> None:
        """Check the parts."""
        super().__post_init__()
        object.__setattr__(self, "trace", share(self.trace, "trace"))
        object.__setattr__(self, "replacing", _check.flag(self.replacing, "replacing"))

    def mark(self, traces: HostArray, here: HostVector, which: Any) -> None:
        """Let time pass for all traces, and mark the pairs that were visited in some runs."""
        traces *= self.discount * self.trace
        marks = flat(traces)
        old = marks[here]
        marks[here] = np.where(which, 1.0 if self.replacing else old + 1.0, old)

    def spread(self, memory: Any, size: HostVector) -> None:
        """Move all values by their share of an error, which is times its step size already."""
        np.add(memory.values, size[:, None, None] * memory.traces, out=memory.values)


class QLambda(_Tracing):
    """Watkins's Q(λ): Q-learning with traces, which a step that is not greedy cuts off.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    rate : Schedule or float, default Power()
        The step size; visits are those of the pair.
    explore : Explorer, default EpsilonGreedy()
        The rule to act by.
    start : float or HostArray, shape (S, A), default 0.0
        The first values.
    trace : float, default 0.9
        The share λ, in [0, 1].
    replacing : bool, default False
        Whether a trace is set to one by a visit; else a visit adds one to it.
    """

    def init(self, states: int, actions: int, runs: int, /) -> Traced:
        """Return the memory of runs that have seen nothing."""
        fresh = super().init(states, actions, runs)
        return Traced(fresh.values, fresh.visits, 0, np.zeros_like(fresh.values))

    def step(self, memory: Traced, transition: Transition, stream: Stream, /) -> Traced:
        """Learn from one transition of each run; the memory that is given is written into."""
        here, values = places(memory.values, *transition[:2]), flat(memory.values)
        rate = rate_of(self.rate, memory, here)
        flat(memory.visits)[here] += 1
        memory.traces[values[here] < highest(memory.row(transition.states))] = 0.0
        self.mark(memory.traces, here, True)
        target = target_of(self.discount, transition, highest(rows(memory.values, transition.next)))
        self.spread(memory, rate * (target - values[here]))
        memory.traces[transition.ended | transition.cut] = 0.0
        return later(memory)


class SARSALambda(_Tracing):
    """SARSA(λ): SARSA with traces.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    rate : Schedule or float, default Power()
        The step size; visits are those of the pair.
    explore : Explorer, default EpsilonGreedy()
        The rule to act by.
    start : float or HostArray, shape (S, A), default 0.0
        The first values.
    trace : float, default 0.9
        The share λ, in [0, 1].
    replacing : bool, default False
        Whether a trace is set to one by a visit; else a visit adds one to it.
    """

    def init(self, states: int, actions: int, runs: int, /) -> TracedWaiting:
        """Return the memory of runs that have seen nothing."""
        fresh = super().init(states, actions, runs)
        traces = np.zeros_like(fresh.values)
        return TracedWaiting(fresh.values, fresh.visits, **nothing_waits(runs), traces=traces)

    def step(self, memory: TracedWaiting, transition: Transition, stream: Stream, /) -> Any:
        """Learn from one transition of each run; the memory that is given is written into."""
        here, values = places(memory.values, *transition[:2]), flat(memory.values)
        rates = np.broadcast_to(rate_of(self.rate, memory, here), here.shape)
        flat(memory.visits)[here] += 1
        target = memory.rewards + self.discount * values[here]
        self._learn(memory, memory.at, memory.rates * (target - values[memory.at]), memory.waits)
        over = transition.ended | transition.cut
        if over.any():
            onward = np.zeros(here.shape[0])
            if transition.cut.any():
                onward = mean_value(self.explore, memory, transition.next)
            target = target_of(self.discount, transition, onward)
            # Time passes for the traces of the runs that are over alone.
            kept = memory.traces[~over]
            self._learn(memory, here, rates * (target - values[here]), over)
            memory.traces[~over], memory.traces[over] = kept, 0.0
        return later(memory, at=here, rewards=transition.rewards, rates=rates, waits=~over)

    def _learn(self, memory: Any, here: HostVector, size: HostVector, which: Any) -> None:
        self.mark(memory.traces, here, which)
        self.spread(memory, np.where(which, size, 0.0))
