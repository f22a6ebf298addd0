"""Learners from n steps at a time: the rewards of n steps, and the value of where they led.

The last n steps of each run wait in slots, the latest first. Where an episode is over all of them
are learnt from, with the fewer rewards that they have.

Source: Watkins (1989); Sutton & Barto (2018), chapter 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import HostArray, HostMatrix, HostVector
from .schedules import value_at
from .tabular import LearnerState, Transition, flat, flat_indices, later, offsets
from .td_control import ActionValueLearner, expected_value, step_size_at
from .td_prediction import StateValueLearner

__all__ = ["NStepSARSA", "NStepState", "NStepTD"]


@dataclass(frozen=True, eq=False, kw_only=True)
class NStepState(LearnerState):
    """A learner's state with the last n steps of each run, the latest first.

    Parameters
    ----------
    values, visits, time
        As of `LearnerState`; where the values are of states, without the axis of the actions.
    pairs : HostMatrix, shape (runs, n)
        Where the values that the steps move stand in the table laid flat.
    returns : HostMatrix, shape (runs, n)
        The rewards since, discounted.
    step_sizes : HostMatrix, shape (runs, n)
        The step size of each update.
    ratios : HostMatrix, shape (runs, n)
        The product of the ratios since, for a policy that is not the one that acts.
    filled : HostVector, shape (runs,)
        How many wait.
    """

    pairs: HostMatrix
    returns: HostMatrix
    step_sizes: HostMatrix
    ratios: HostMatrix
    filled: HostVector


@dataclass(frozen=True, eq=False)
class NStepTD(StateValueLearner):
    """Temporal differences over n steps; with n no shorter than an episode, Monte Carlo.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    policy : HostVector, shape (S,), or HostMatrix, shape (S, A)
        The policy whose values are learnt.
    step_size : Schedule or float, default PowerLawDecay(exponent=0.55)
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

    def init(self, num_states: int, num_actions: int, runs: int, /) -> NStepState:
        """Return the learner's state for runs that have seen nothing."""
        return _empty(*self.fresh(num_states, num_actions, runs), self.n)

    def step(self, learned: NStepState, transition: Transition, stream: Stream, /) -> NStepState:
        """Learn from one transition of each run; the learner's state is written into."""
        begins, visits = offsets(*learned.values.shape), learned.visits
        values = flat(learned.values)
        pairs = begins + transition.states
        schedule: Any = self.step_size
        step_size = value_at(schedule, lambda: flat(visits)[pairs], learned.time)
        flat(visits)[pairs] += 1
        pushed = _push(
            learned, pairs, step_size, transition.rewards, self.ratio(transition), self.discount
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
    step_size : Schedule or float, default PowerLawDecay(exponent=0.55)
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

    def init(self, num_states: int, num_actions: int, runs: int, /) -> NStepState:
        """Return the learner's state for runs that have seen nothing."""
        fresh = super().init(num_states, num_actions, runs)
        return _empty(fresh.values, fresh.visits, self.n)

    def step(self, learned: NStepState, transition: Transition, stream: Stream, /) -> NStepState:
        """Learn from one transition of each run; the learner's state is written into."""
        pairs = flat_indices(learned.values, transition.states, transition.actions)
        step_size = step_size_at(self.step_size, learned, pairs)
        flat(learned.visits)[pairs] += 1
        full, v_next = learned.filled == self.n, flat(learned.values)[pairs]
        _learn(learned, self.n - 1, full, self.discount, v_next)
        pushed = _push(learned, pairs, step_size, transition.rewards, 1.0, self.discount)
        over = transition.terminated | transition.truncated
        if not over.any():
            return pushed
        v_next = np.zeros(pairs.shape[0])
        if transition.truncated.any():
            v_next = expected_value(self.exploration, learned, transition.next_states)
        v_next = np.where(transition.terminated, 0.0, v_next)
        return _learn_from_all(pushed, over, self.n, self.discount, v_next)


def _empty(values: HostArray, visits: HostArray, n: int) -> NStepState:
    shape = (values.shape[0], n)
    zeros, zero_counts = np.zeros(shape), np.zeros(shape[0], np.int64)
    return NStepState(
        values, visits, pairs=np.zeros(shape, np.int64), returns=zeros, step_sizes=zeros,
        ratios=zeros, filled=zero_counts,
    )  # fmt: skip


def _push(
    learned: NStepState,
    pairs: HostVector,
    step_size: float | HostVector,
    rewards: HostVector,
    ratio: float | HostVector,
    discount: float,
) -> NStepState:
    """The learner's state with one step more, the rewards of those that wait with it."""
    n = learned.pairs.shape[1]
    returns = _shift_in(learned.returns, 0.0) + discount ** np.arange(n) * rewards[:, None]
    ratios = _shift_in(learned.ratios, 1.0) * np.reshape(ratio, (-1, 1))
    return later(
        learned, pairs=_shift_in(learned.pairs, pairs), returns=returns,
        step_sizes=_shift_in(learned.step_sizes, step_size), ratios=ratios,
        filled=np.minimum(learned.filled + 1, n),
    )  # fmt: skip


def _shift_in(columns: HostMatrix, newest: float | HostVector) -> HostMatrix:
    """The columns moved on by one, behind a new first one."""
    shifted = np.empty_like(columns)
    shifted[:, 1:] = columns[:, :-1]
    shifted[:, 0] = newest
    return shifted


def _learn(
    learned: NStepState, slot: int, mask: HostVector, discount: float, v_next: HostVector
) -> None:
    """Learn from the steps in a slot, of the runs `mask`."""
    values, pairs = flat(learned.values), learned.pairs[:, slot]
    target = learned.returns[:, slot] + discount ** (slot + 1) * v_next
    old = values[pairs]
    error = np.where(mask, target - old, 0.0)
    values[pairs] = old + learned.step_sizes[:, slot] * learned.ratios[:, slot] * error


def _learn_from_all(
    learned: NStepState, ended: HostVector, n: int, discount: float, v_next: HostVector
) -> NStepState:
    """The learner's state after all steps in its first slots were learnt from, the oldest first."""
    for slot in reversed(range(n)):
        _learn(learned, slot, ended & (learned.filled > slot), discount, v_next)
    learned.filled[ended] = 0
    return learned
