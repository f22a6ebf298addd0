"""Learners of action values from one step at a time: Q-learning, SARSA, expected SARSA.

All move ``Q(s, a)`` by a share α of the error ``r + γ (value of the next state) − Q(s, a)``. They
differ in that value: the highest of the next state's, that of the action that is taken next, or the
mean over a policy's actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...ground.random import Stream
from ...ground.xp import HostArray, HostVector
from .exploring import EpsilonGreedy, Explorer, settle_explorer
from .schedules import Power, Schedule, at, settled, share
from .tabular import (
    Memory,
    Transition,
    flat,
    highest,
    later,
    places,
    rows,
    settle_start,
    sizes,
    some,
    start_of,
)

__all__ = ["SARSA", "ExpectedSARSA", "OneStep", "QLearning", "Waiting"]


_RATE = Power()  # one over the number of the visit
_EXPLORE = EpsilonGreedy()


@dataclass(frozen=True, eq=False)
class OneStep:
    """What learners of action values share: discount, step size, a rule to act by, first values."""

    discount: float
    rate: Schedule | float = _RATE
    explore: Explorer = _EXPLORE
    start: float | HostArray = 0.0

    def __post_init__(self) -> None:
        """Check the parts."""
        object.__setattr__(self, "discount", share(self.discount, "discount"))
        object.__setattr__(self, "rate", settled(self.rate, "rate"))
        settle_explorer(self.explore)
        object.__setattr__(self, "start", settle_start(self.start))

    def init(self, states: int, actions: int, runs: int, /) -> Any:
        """Return the memory of runs that have seen nothing."""
        shape = sizes(states, actions, runs)
        self.explore.fits(states, actions)
        return Memory(start_of(self.start, shape), np.zeros(shape, np.int64))

    def act(self, memory: Memory, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        return self.explore.choose(memory, states, stream)


class QLearning(OneStep):
    """Q-learning: the value of the next state is the highest of its actions.

    It learns the values of the best policy, by whatever policy it acts, if that goes on to try
    every pair.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    rate : Schedule or float, default Power()
        The step size α; visits are those of the pair.
    explore : Explorer, default EpsilonGreedy()
        The rule to act by.
    start : float or HostArray, shape (S, A), default 0.0
        The first values.
    """

    def step(self, memory: Memory, transition: Transition, stream: Stream, /) -> Memory:
        """Learn from one transition of each run; the memory that is given is written into."""
        onward = highest(rows(memory.values, transition.next))
        return _moved(self, memory, transition, onward)


@dataclass(frozen=True, eq=False)
class ExpectedSARSA(OneStep):
    """Expected SARSA: the value of the next state is the mean over the actions of a policy.

    With a policy other than that by which it acts it learns off policy, and needs no weights.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    rate : Schedule or float, default Power()
        The step size α; visits are those of the pair.
    explore : Explorer, default EpsilonGreedy()
        The rule to act by.
    start : float or HostArray, shape (S, A), default 0.0
        The first values.
    policy : Explorer or None
        The policy whose values are learnt; None: the one by which it acts.
    """

    policy: Explorer | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        super().__post_init__()
        if self.policy is not None:
            settle_explorer(self.policy, "policy")

    def init(self, states: int, actions: int, runs: int, /) -> Memory:
        """Return the memory of runs that have seen nothing."""
        if self.policy is not None:
            self.policy.fits(states, actions)
        memory: Memory = super().init(states, actions, runs)
        return memory

    def step(self, memory: Memory, transition: Transition, stream: Stream, /) -> Memory:
        """Learn from one transition of each run; the memory that is given is written into."""
        onward = mean_value(self.policy or self.explore, memory, transition.next)
        return _moved(self, memory, transition, onward)


@dataclass(frozen=True, eq=False)
class Waiting(Memory):
    """The memory of SARSA, whose last step waits for the action that comes next.

    Parameters
    ----------
    values, visits, time
        As of `Memory`; a visit counts when the action is taken.
    at : HostVector, shape (runs,)
        Where the pair that waits stands in the table of its run laid flat.
    rewards : HostVector, shape (runs,)
        What it earned.
    rates : HostVector, shape (runs,)
        With what step size it will be learnt from.
    waits : HostVector, shape (runs,)
        Whether one waits.
    """

    at: Any = None
    rewards: Any = None
    rates: Any = None
    waits: Any = None


class SARSA(OneStep):
    """SARSA: the value of the next state is that of the action taken there.

    The update of a step is made when the next action is known, which was chosen before it. Where an
    episode is cut no action follows: there the mean over the actions of its rule stands for it.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    rate : Schedule or float, default Power()
        The step size α; visits are those of the pair.
    explore : Explorer, default EpsilonGreedy()
        The rule to act by.
    start : float or HostArray, shape (S, A), default 0.0
        The first values.
    """

    def init(self, states: int, actions: int, runs: int, /) -> Waiting:
        """Return the memory of runs that have seen nothing."""
        fresh: Memory = super().init(states, actions, runs)
        return Waiting(fresh.values, fresh.visits, **nothing_waits(runs))

    def step(self, memory: Waiting, transition: Transition, stream: Stream, /) -> Waiting:
        """Learn from one transition of each run; the memory that is given is written into."""
        table, here = flat(memory.values), places(memory.values, *transition[:2])
        rates = np.broadcast_to(rate_of(self.rate, memory, here), here.shape)
        flat(memory.visits)[here] += 1
        target = memory.rewards + self.discount * table[here]
        old = table[memory.at]
        table[memory.at] = old + np.where(memory.waits, memory.rates * (target - old), 0.0)
        over = transition.ended | transition.cut
        if some(over):
            self._close(memory, transition, here, rates, over)
        return later(memory, at=here, rewards=transition.rewards, rates=rates, waits=~over)

    def _close(
        self, memory: Waiting, transition: Transition, here: HostVector, rates: Any, over: Any
    ) -> None:
        """Learn from the steps that ended an episode, for which no action is to come."""
        onward = np.zeros(here.shape[0])
        if some(transition.cut):
            onward = mean_value(self.explore, memory, transition.next)
        table, target = flat(memory.values), target_of(self.discount, transition, onward)
        old = table[here]
        table[here] = old + np.where(over, rates * (target - old), 0.0)


def nothing_waits(runs: int) -> dict[str, Any]:
    """The parts of `Waiting` at the start of runs, beside those of `Memory`."""
    zeros = np.zeros(runs)
    return {
        "at": np.zeros(runs, np.int64), "rewards": zeros, "rates": zeros,
        "waits": np.zeros(runs, bool),
    }  # fmt: skip


def rate_of(rate: Schedule | float, memory: Memory, here: HostVector) -> Any:
    """The step size for pairs of given places, a number or one for each run."""
    return at(cast(Schedule, rate), lambda: flat(memory.visits)[here], memory.time)


def mean_value(policy: Explorer, memory: Memory, states: HostVector) -> HostVector:
    """The mean of a state's action values over the actions of a policy."""
    return np.asarray((policy.probabilities(memory, states) * memory.row(states)).sum(1))


def target_of(discount: float, transition: Transition, onward: HostVector) -> HostVector:
    """What a step was worth: its reward, and the discounted value of where it led."""
    if some(transition.ended):
        onward = np.where(transition.ended, 0.0, onward)
    return np.asarray(transition.rewards + discount * onward)


def _moved(learner: OneStep, memory: Memory, transition: Transition, onward: HostVector) -> Memory:
    """The memory after a share of the error was added to each pair's value."""
    here = places(memory.values, transition.states, transition.actions)
    rate = rate_of(learner.rate, memory, here)
    flat(memory.visits)[here] += 1
    table, target = flat(memory.values), target_of(learner.discount, transition, onward)
    old = table[here]
    table[here] = old + rate * (target - old)
    return later(memory)
