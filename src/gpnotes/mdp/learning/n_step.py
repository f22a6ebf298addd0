"""Learners from n steps at a time: the rewards of n steps, and the value of where they led.

The last n steps of each run wait in slots, the latest first. Where an episode is over all of them
are learnt from, with the fewer rewards that they have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import HostArray, HostMatrix, HostVector
from .exploring import EpsilonGreedy
from .schedules import PowerLawDecay, value_at
from .tabular import Memory, Transition, flat, flat_indices, later, offsets
from .td_control import ActionValueLearner, expected_value, step_size_at
from .td_prediction import StateValueLearner

__all__ = ["NStepMemory", "NStepSARSA", "NStepTD"]

_STEP_SIZE = PowerLawDecay()
_EXPLORE = EpsilonGreedy()


@dataclass(frozen=True, eq=False)
class NStepMemory(Memory):
    """A memory with the last n steps of each run, the latest first.

    Parameters
    ----------
    values, visits, time
        As of `Memory`; where the values are of states, without the axis of the actions.
    at : HostMatrix, shape (runs, n)
        Where the values that the steps move stand in the table laid flat.
    returns : HostMatrix, shape (runs, n)
        What was earned since, discounted.
    step_sizes : HostMatrix, shape (runs, n)
        With what step size each is learnt from.
    ratios : HostMatrix, shape (runs, n)
        The product of the ratios since, for a policy that is not the one that acts.
    filled : HostVector, shape (runs,)
        How many wait.
    """

    at: Any = None
    returns: Any = None
    step_sizes: Any = None
    ratios: Any = None
    filled: Any = None


@dataclass(frozen=True, eq=False)
class NStepTD(StateValueLearner):
    """Temporal differences over n steps; with n no shorter than an episode, Monte Carlo.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    policy : HostVector, shape (S,), or HostMatrix, shape (S, A)
        The policy whose values are learnt.
    step_size : Schedule or float, default PowerLawDecay()
        The step size; visits are those of the state.
    initial_values : float or HostVector, shape (S,), default 0.0
        The first values.
    behaviour : HostVector, HostMatrix or None
        The policy by which it acts, which must take every action that `policy` takes; None: the
        same.
    n : int, default 1
        The number n of steps.
    """

    n: int = 1

    def __post_init__(self) -> None:
        """Check the parts."""
        super().__post_init__()
        object.__setattr__(self, "n", _check.whole(self.n, "n", 1))

    def init(self, num_states: int, num_actions: int, runs: int, /) -> NStepMemory:
        """Return the memory of runs that have seen nothing."""
        return _empty(*self.fresh(num_states, num_actions, runs), self.n)

    def step(self, memory: NStepMemory, transition: Transition, stream: Stream, /) -> NStepMemory:
        """Learn from one transition of each run; the memory that is given is written into."""
        begins, values, visits = offsets(*memory.values.shape), flat(memory.values), memory.visits
        here = begins + transition.states
        schedule: Any = self.step_size
        step_size = value_at(schedule, lambda: flat(visits)[here], memory.time)
        flat(visits)[here] += 1
        now = _pushed(
            memory, here, step_size, transition.rewards, self.ratio(transition), self.discount
        )
        onward = np.where(transition.terminated, 0.0, values[begins + transition.next_states])
        _learn(now, self.n - 1, now.filled == self.n, self.discount, onward)
        over = transition.terminated | transition.truncated
        if not over.any():
            return now
        return _emptied(now, over, self.n - 1, self.discount, onward)


@dataclass(frozen=True, eq=False)
class NStepSARSA(ActionValueLearner):
    """SARSA over n steps: the update of a step is made with the n-th action after it.

    Parameters
    ----------
    discount, n
        As in `NStepTD`.
    step_size : Schedule or float, default PowerLawDecay()
        The step size; visits are those of the pair.
    exploration : ExplorationPolicy, default EpsilonGreedy()
        The rule to act by.
    initial_values : float or HostArray, shape (S, A), default 0.0
        The first values.
    """

    n: int = 1

    def __post_init__(self) -> None:
        """Check the parts."""
        super().__post_init__()
        object.__setattr__(self, "n", _check.whole(self.n, "n", 1))

    def init(self, num_states: int, num_actions: int, runs: int, /) -> NStepMemory:
        """Return the memory of runs that have seen nothing."""
        fresh = super().init(num_states, num_actions, runs)
        return _empty(fresh.values, fresh.visits, self.n)

    def step(self, memory: NStepMemory, transition: Transition, stream: Stream, /) -> NStepMemory:
        """Learn from one transition of each run; the memory that is given is written into."""
        here = flat_indices(memory.values, transition.states, transition.actions)
        step_size = step_size_at(self.step_size, memory, here)
        flat(memory.visits)[here] += 1
        full, onward = memory.filled == self.n, flat(memory.values)[here]
        _learn(memory, self.n - 1, full, self.discount, onward)
        now = _pushed(memory, here, step_size, transition.rewards, 1.0, self.discount)
        over = transition.terminated | transition.truncated
        if not over.any():
            return now
        onward = np.zeros(here.shape[0])
        if transition.truncated.any():
            onward = expected_value(self.exploration, memory, transition.next_states)
        onward = np.where(transition.terminated, 0.0, onward)
        return _emptied(now, over, self.n, self.discount, onward)


def _empty(values: HostArray, visits: HostArray, count: int) -> NStepMemory:
    shape = (values.shape[0], count)
    zeros, none = np.zeros(shape), np.zeros(shape[0], np.int64)
    return NStepMemory(
        values, visits, at=np.zeros(shape, np.int64), returns=zeros, step_sizes=zeros, ratios=zeros,
        filled=none,
    )  # fmt: skip


def _pushed(
    memory: NStepMemory,
    here: HostVector,
    step_size: Any,
    rewards: HostVector,
    ratio: Any,
    discount: float,
) -> NStepMemory:
    """The memory with one step more, the rewards of those that wait with it."""
    count = memory.at.shape[1]
    returns = _before(memory.returns, 0.0) + discount ** np.arange(count) * rewards[:, None]
    ratios = _before(memory.ratios, 1.0) * np.reshape(ratio, (-1, 1))
    return later(
        memory, at=_before(memory.at, here), returns=returns,
        step_sizes=_before(memory.step_sizes, step_size), ratios=ratios,
        filled=np.minimum(memory.filled + 1, count),
    )  # fmt: skip


def _before(old: HostMatrix, first: Any) -> HostMatrix:
    """The columns moved on by one, behind a new first one."""
    moved = np.empty_like(old)
    moved[:, 1:] = old[:, :-1]
    moved[:, 0] = first
    return moved


def _learn(memory: NStepMemory, slot: int, which: Any, discount: float, onward: HostVector) -> None:
    """Learn from the steps in a slot, of the runs `which`."""
    values, here = flat(memory.values), memory.at[:, slot]
    target = memory.returns[:, slot] + discount ** (slot + 1) * onward
    old = values[here]
    moved = memory.step_sizes[:, slot] * memory.ratios[:, slot] * (target - old)
    values[here] = old + np.where(which, moved, 0.0)


def _emptied(
    memory: NStepMemory, over: Any, count: int, discount: float, onward: HostVector
) -> NStepMemory:
    """The memory after all steps in its first slots were learnt from, the oldest first."""
    for slot in reversed(range(count)):
        _learn(memory, slot, over & (memory.filled > slot), discount, onward)
    memory.filled[over] = 0
    return memory
