"""Learners of the values of states under a policy: temporal differences.

They learn on policy, or from what another policy does: then each step is weighted by the ratio of
the probabilities with which the two take its action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import HostArray, HostMatrix, HostVector
from .exploring import drawn, settle_policy, table
from .schedules import Power, Schedule, at, settled, share
from .tabular import (
    Clocked,
    Transition,
    flat,
    later,
    offsets,
    settle_start,
    sizes,
    start_of,
)

__all__ = ["TD", "Predictor", "StateMemory"]

_RATE = Power()


@dataclass(frozen=True, eq=False)
class StateMemory:
    """What is known of states: their values, and how often each run was there.

    Parameters
    ----------
    values : HostMatrix, shape (runs, states)
        The values.
    visits : HostMatrix, shape (runs, states)
        How many steps were taken from each state.
    time : int, default 0
        How many steps each run has taken.
    traces : HostMatrix, shape (runs, states), or of no states
        What share each state has in the next error, where a learner has traces.
    """

    values: HostArray
    visits: HostArray
    time: int = 0
    traces: Any = None


@dataclass(frozen=True, eq=False)
class Predictor:
    """What learners of state values share: a policy, and the one by which they act."""

    discount: float
    policy: HostArray
    rate: Schedule | float = _RATE
    start: float | HostArray = 0.0
    behaviour: HostArray | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        object.__setattr__(self, "discount", share(self.discount, "discount"))
        object.__setattr__(self, "policy", settle_policy(self.policy, "policy"))
        object.__setattr__(self, "rate", settled(self.rate, "rate"))
        object.__setattr__(self, "start", settle_start(self.start))
        if self.behaviour is not None:
            object.__setattr__(self, "behaviour", settle_policy(self.behaviour, "behaviour"))

    def fresh(self, states: int, actions: int, runs: int) -> tuple[HostArray, HostArray]:
        """First values and no visits, after the sizes are checked."""
        runs, states, actions = sizes(states, actions, runs)
        target = table(self.policy, "policy", states, actions)
        if self.behaviour is not None:
            covered(target, table(self.behaviour, "behaviour", states, actions))
        return start_of(self.start, (runs, states)), np.zeros((runs, states), np.int64)

    def act(self, memory: Clocked, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run, by the policy or by the other one."""
        chosen = np.asarray((self.policy if self.behaviour is None else self.behaviour)[states])
        if chosen.ndim == 1:
            return chosen
        return drawn(chosen, np.asarray(stream.generator.random(states.shape[0])))

    def ratio(self, transition: Transition) -> Any:
        """How much more probable the policy makes each action than the one that took it."""
        if self.behaviour is None:
            return 1.0
        pair = transition.states, transition.actions
        return chance(self.policy, *pair) / chance(self.behaviour, *pair)


@dataclass(frozen=True, eq=False)
class TD(Predictor):
    """Temporal differences: TD(0), and TD(λ) with eligibility traces.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    policy : HostVector, shape (S,), or HostMatrix, shape (S, A)
        The policy whose values are learnt.
    rate : Schedule or float, default Power()
        The step size; visits are those of the state that the step began in.
    start : float or HostVector, shape (S,), default 0.0
        The first values.
    behaviour : HostVector, HostMatrix or None
        The policy by which it acts, which must take every action that `policy` takes; None: the
        same.
    trace : float, default 0.0
        The share λ of a trace that is left after a step, in [0, 1].
    replacing : bool, default False
        Whether a trace is set to one by a visit; else a visit adds one to it.
    """

    trace: float = 0.0
    replacing: bool = False

    def __post_init__(self) -> None:
        """Check the parts."""
        super().__post_init__()
        object.__setattr__(self, "trace", share(self.trace, "trace"))
        object.__setattr__(self, "replacing", _check.flag(self.replacing, "replacing"))

    def init(self, states: int, actions: int, runs: int, /) -> StateMemory:
        """Return the memory of runs that have seen nothing."""
        values, visits = self.fresh(states, actions, runs)
        width = states if self.trace > 0.0 else 0
        return StateMemory(values, visits, 0, np.zeros((values.shape[0], width)))

    def step(self, memory: StateMemory, transition: Transition, stream: Stream, /) -> StateMemory:
        """Learn from one transition of each run; the memory that is given is written into."""
        begins = offsets(*memory.values.shape)
        here, values, visits = begins + transition.states, flat(memory.values), flat(memory.visits)
        schedule: Any = self.rate
        rate = at(schedule, lambda: visits[here], memory.time)
        visits[here] += 1
        onward = np.where(transition.ended, 0.0, values[begins + transition.next])
        error = transition.rewards + self.discount * onward - values[here]
        ratio = self.ratio(transition)
        if self.trace == 0.0:
            values[here] += rate * (ratio * error)
            return later(memory)
        traces = memory.traces
        traces *= self.discount * self.trace
        seen = flat(traces)
        seen[here] = 1.0 if self.replacing else seen[here] + 1.0
        if self.behaviour is not None:
            traces *= np.asarray(ratio)[:, None]
        np.add(memory.values, (rate * error)[:, None] * traces, out=memory.values)
        traces[transition.ended | transition.cut] = 0.0
        return later(memory)


def chance(policy: HostArray, states: HostVector, actions: HostVector) -> HostVector:
    """With what probability a settled policy takes an action in a state."""
    if policy.ndim == 1:
        return np.asarray(policy[states] == actions, dtype=np.float64)
    return np.asarray(policy[states, actions])


def covered(policy: HostMatrix, behaviour: HostMatrix) -> None:
    """Raise where one policy takes an action that the other never takes."""
    missed = (policy > 0.0) & (behaviour == 0.0)
    if missed.any():
        s, a = (int(one) for one in np.argwhere(missed)[0])
        said = f"in state {s} it never takes action {a}"
        raise ValueError(f"behaviour must take every action that policy takes; {said}")
