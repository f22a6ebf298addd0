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
from .exploration import EpsilonGreedy
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
    pairs : HostMatrix, shape (runs, n)
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

    pairs: Any = None
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
        pairs = begins + transition.states
        schedule: Any = self.step_size
        step_size = value_at(schedule, lambda: flat(visits)[pairs], memory.time)
        flat(visits)[pairs] += 1
        pushed = _push(
            memory, pairs, step_size, transition.rewards, self.ratio(transition), self.discount
        )
        v_next = np.where(transition.terminated, 0.0, values[begins + transition.next_states])
        _learn(pushed, self.n - 1, pushed.filled == self.n, self.discount, v_next)
        over = transition.terminated | transition.truncated
        if not over.any():
            return pushed
        return _learn_from_all(pushed, over, self.n - 1, self.discount, v_next)


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
        pairs = flat_indices(memory.values, transition.states, transition.actions)
        step_size = step_size_at(self.step_size, memory, pairs)
        flat(memory.visits)[pairs] += 1
        full, v_next = memory.filled == self.n, flat(memory.values)[pairs]
        _learn(memory, self.n - 1, full, self.discount, v_next)
        pushed = _push(memory, pairs, step_size, transition.rewards, 1.0, self.discount)
        over = transition.terminated | transition.truncated
        if not over.any():
            return pushed
        v_next = np.zeros(pairs.shape[0])
        if transition.truncated.any():
            v_next = expected_value(self.exploration, memory, transition.next_states)
        v_next = np.where(transition.terminated, 0.0, v_next)
        return _learn_from_all(pushed, over, self.n, self.discount, v_next)


def _empty(values: HostArray, visits: HostArray, n: int) -> NStepMemory:
    shape = (values.shape[0], n)
    zeros, zero_counts = np.zeros(shape), np.zeros(shape[0], np.int64)
    return NStepMemory(
        values, visits, pairs=np.zeros(shape, np.int64), returns=zeros, step_sizes=zeros,
        ratios=zeros, filled=zero_counts,
    )  # fmt: skip


def _push(
    memory: NStepMemory,
    pairs: HostVector,
    step_size: Any,
    rewards: HostVector,
    ratio: Any,
    discount: float,
) -> NStepMemory:
    """The memory with one step more, the rewards of those that wait with it."""
    n = memory.pairs.shape[1]
    returns = _shift_in(memory.returns, 0.0) + discount ** np.arange(n) * rewards[:, None]
    ratios = _shift_in(memory.ratios, 1.0) * np.reshape(ratio, (-1, 1))
    return later(
        memory, pairs=_shift_in(memory.pairs, pairs), returns=returns,
        step_sizes=_shift_in(memory.step_sizes, step_size), ratios=ratios,
        filled=np.minimum(memory.filled + 1, n),
    )  # fmt: skip


def _shift_in(columns: HostMatrix, newest: Any) -> HostMatrix:
    """The columns moved on by one, behind a new first one."""
    shifted = np.empty_like(columns)
    shifted[:, 1:] = columns[:, :-1]
    shifted[:, 0] = newest
    return shifted


def _learn(memory: NStepMemory, slot: int, mask: Any, discount: float, v_next: HostVector) -> None:
    """Learn from the steps in a slot, of the runs `mask`."""
    values, pairs = flat(memory.values), memory.pairs[:, slot]
    target = memory.returns[:, slot] + discount ** (slot + 1) * v_next
    old = values[pairs]
    change = memory.step_sizes[:, slot] * memory.ratios[:, slot] * (target - old)
    values[pairs] = old + np.where(mask, change, 0.0)


def _learn_from_all(
    memory: NStepMemory, ended: Any, n: int, discount: float, v_next: HostVector
) -> NStepMemory:
    """The memory after all steps in its first slots were learnt from, the oldest first."""
    for slot in reversed(range(n)):
        _learn(memory, slot, ended & (memory.filled > slot), discount, v_next)
    memory.filled[ended] = 0
    return memory
