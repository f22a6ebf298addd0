"""Learners of action values from one step at a time: Q-learning, SARSA, expected SARSA.

All move ``Q(s, a)`` by a share α of the error ``r + γ (value of the next state) − Q(s, a)``. They
differ in that value: the highest of the next state's, that of the action that is taken next, or the
mean over a policy's actions.

Source: Watkins (1989) for Q-learning; Rummery & Niranjan (1994) for SARSA; Sutton & Barto (2018),
chapter 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ...ground.random import Stream
from ...ground.xp import HostArray, HostVector
from .exploration import EpsilonGreedy, ExplorationPolicy, check_exploration
from .schedules import STEP_SIZE, Schedule, as_schedule, fraction, value_at
from .tabular import (
    LearnerState,
    Transition,
    any_true,
    check_initial_values,
    flat,
    flat_indices,
    initial_table,
    later,
    row_max,
    rows,
    sizes,
)

__all__ = ["SARSA", "ActionValueLearner", "ExpectedSARSA", "QLearning", "SARSAState"]


_EXPLORE = EpsilonGreedy()


@dataclass(frozen=True, eq=False)
class ActionValueLearner:
    """The base of learners of action values: discount, step size, exploration, first values."""

    discount: float
    step_size: Schedule | float = STEP_SIZE
    exploration: ExplorationPolicy = _EXPLORE
    initial_values: float | HostArray = 0.0

    def __post_init__(self) -> None:
        """Check the parts."""
        object.__setattr__(self, "discount", fraction(self.discount, "discount"))
        object.__setattr__(self, "step_size", as_schedule(self.step_size, "step_size"))
        check_exploration(self.exploration)
        object.__setattr__(self, "initial_values", check_initial_values(self.initial_values))

    def init(self, num_states: int, num_actions: int, runs: int, /) -> LearnerState:
        """Return the learner's state for runs that have seen nothing."""
        shape = sizes(num_states, num_actions, runs)
        self.exploration.check_sizes(num_states, num_actions)
        return LearnerState(initial_table(self.initial_values, shape), np.zeros(shape, np.int64))

    def act(self, learned: LearnerState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        return self.exploration.choose(learned, states, stream)


class QLearning(ActionValueLearner):
    """Q-learning: the value of the next state is the highest of its actions.

    It learns the values of the best policy, by whatever policy it acts, if that goes on to try
    every pair.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    step_size : Schedule or float, default PowerLawDecay(exponent=0.55)
        The step size α; visits are those of the pair. The values converge with an exponent from
        just above 1/2 to 1. By 1/k, an exponent of 1, late steps hardly move them, and
        they may need millions of steps; a constant, such as 0.1, learns and never settles.
    exploration : ExplorationPolicy, default EpsilonGreedy()
        The rule to act by.
    initial_values : float or HostArray, shape (S, A), default 0.0
        The first values. No less than any return, such as 1 where one reward of 1 is all that there
        is, they make the learner try everything, `optimistic_value`.

    Notes
    -----
    Source: Watkins (1989); Sutton & Barto (2018), section 6.5.

    Examples
    --------
    >>> from gpnotes import stream
    >>> from gpnotes.mdp import MDP
    >>> from gpnotes.mdp.learning import MDPEnvironment, run
    >>> mdp = MDP(np.asarray([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]),
    ...           np.asarray([[0.0, 0.0], [0.0, 1.0]]), 0.5)
    >>> learner = QLearning(0.5, step_size=0.5, exploration=EpsilonGreedy(1.0))
    >>> walk = run(learner, MDPEnvironment(mdp), num_steps=300, rng=stream(1))
    >>> walk.learner_state.values[0].round(2)
    array([[0.33, 0.67],
           [0.67, 1.33]])
    """

    def step(
        self, learned: LearnerState, transition: Transition, stream: Stream, /
    ) -> LearnerState:
        """Learn from one transition of each run; the learner's state is written into."""
        v_next = row_max(rows(learned.values, transition.next_states))
        return _update(self, learned, transition, v_next)


@dataclass(frozen=True, eq=False)
class ExpectedSARSA(ActionValueLearner):
    """Expected SARSA: the value of the next state is the mean over the actions of a policy.

    With a policy other than that by which it acts it learns off policy, and needs no weights.

    Parameters
    ----------
    discount, step_size, exploration, initial_values
        As in `QLearning`.
    policy : ExplorationPolicy or None
        The policy whose values are learnt; None: the one by which it acts.
    """

    policy: ExplorationPolicy | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        super().__post_init__()
        if self.policy is not None:
            check_exploration(self.policy, "policy")

    def init(self, num_states: int, num_actions: int, runs: int, /) -> LearnerState:
        """Return the learner's state for runs that have seen nothing."""
        if self.policy is not None:
            self.policy.check_sizes(num_states, num_actions)
        learned: LearnerState = super().init(num_states, num_actions, runs)
        return learned

    def step(
        self, learned: LearnerState, transition: Transition, stream: Stream, /
    ) -> LearnerState:
        """Learn from one transition of each run; the learner's state is written into."""
        v_next = expected_value(self.policy or self.exploration, learned, transition.next_states)
        return _update(self, learned, transition, v_next)


@dataclass(frozen=True, eq=False, kw_only=True)
class SARSAState(LearnerState):
    """The state of SARSA, whose last step waits for the action that comes next.

    Parameters
    ----------
    values, visits, time
        As of `LearnerState`; a visit counts when the action is taken.
    pairs : HostVector, shape (runs,)
        Where the pair that waits stands in the table of its run laid flat.
    rewards : HostVector, shape (runs,)
        Its reward.
    step_sizes : HostVector, shape (runs,)
        The step size of its update.
    pending : HostVector, shape (runs,)
        Whether one waits.
    """

    pairs: HostVector
    rewards: HostVector
    step_sizes: HostVector
    pending: HostVector


class SARSA(ActionValueLearner):
    """SARSA: the value of the next state is that of the action taken there.

    The update of a step is made when the next action is known, which was chosen before it. Where an
    episode is cut no action follows: there the mean over the actions of its rule stands for it.

    Parameters
    ----------
    discount, step_size, exploration, initial_values
        As in `QLearning`.
    """

    def init(self, num_states: int, num_actions: int, runs: int, /) -> SARSAState:
        """Return the learner's state for runs that have seen nothing."""
        fresh: LearnerState = super().init(num_states, num_actions, runs)
        return SARSAState(fresh.values, fresh.visits, 0, **no_pending(runs))

    def step(self, learned: SARSAState, transition: Transition, stream: Stream, /) -> SARSAState:
        """Learn from one transition of each run; the learner's state is written into."""
        table, pairs = flat(learned.values), flat_indices(learned.values, *transition[:2])
        step_sizes = np.broadcast_to(step_size_at(self.step_size, learned, pairs), pairs.shape)
        flat(learned.visits)[pairs] += 1
        target = learned.rewards + self.discount * table[pairs]
        error = np.where(learned.pending, target - table[learned.pairs], 0.0)
        table[learned.pairs] += learned.step_sizes * error
        ended = transition.terminated | transition.truncated
        if any_true(ended):
            self._learn_last(learned, transition, pairs, step_sizes, ended)
        return later(
            learned, pairs=pairs, rewards=transition.rewards, step_sizes=step_sizes, pending=~ended
        )

    def _learn_last(
        self,
        learned: SARSAState,
        transition: Transition,
        pairs: HostVector,
        step_sizes: HostVector,
        ended: HostVector,
    ) -> None:
        """Learn from the steps that ended an episode, for which no action is to come."""
        v_next = np.zeros(pairs.shape[0])
        if any_true(transition.truncated):
            v_next = expected_value(self.exploration, learned, transition.next_states)
        table, target = flat(learned.values), td_target(self.discount, transition, v_next)
        old = table[pairs]
        table[pairs] = old + np.where(ended, step_sizes * (target - old), 0.0)


def no_pending(runs: int) -> dict[str, HostVector]:
    """Return the parts of `SARSAState` at the start of runs that `LearnerState` lacks."""
    zeros = np.zeros(runs)
    return {
        "pairs": np.zeros(runs, np.int64), "rewards": zeros, "step_sizes": zeros,
        "pending": np.zeros(runs, bool),
    }  # fmt: skip


def step_size_at(
    step_size: Schedule | float, learned: LearnerState, pairs: HostVector
) -> float | HostVector:
    """The step size for pairs at given indices, a number or one for each run."""
    return value_at(cast(Schedule, step_size), lambda: flat(learned.visits)[pairs], learned.time)


def expected_value(
    policy: ExplorationPolicy, learned: LearnerState, states: HostVector
) -> HostVector:
    """The mean of a state's action values over the actions that a policy takes."""
    probabilities, values = policy.probabilities(learned, states), learned.values_at(states)
    terms = np.zeros_like(values)
    np.multiply(probabilities, values, out=terms, where=probabilities > 0.0)
    mean = np.asarray(terms.sum(1))
    if mean.min(initial=0.0) == -np.inf:
        state = int(states[mean.argmin()])
        raise ValueError(
            f"policy must take actions that are available; in state {state} it does not"
        )
    return mean


def td_target(discount: float, transition: Transition, v_next: HostVector) -> HostVector:
    """Return the TD target of a step: its reward plus the discounted value of the next state.

    `v_next` is written into.
    """
    np.putmask(v_next, transition.terminated, 0.0)
    v_next *= discount
    v_next += transition.rewards
    return v_next


def _update(
    learner: ActionValueLearner, learned: LearnerState, transition: Transition, v_next: HostVector
) -> LearnerState:
    """The learner's state after a share of the error was added to each pair's value."""
    pairs = flat_indices(learned.values, transition.states, transition.actions)
    visits = flat(learned.visits)
    counts = visits[pairs]
    step_size = value_at(cast(Schedule, learner.step_size), lambda: counts, learned.time)
    visits[pairs] = counts + 1
    move_values(learned, pairs, td_target(learner.discount, transition, v_next), step_size)
    return later(learned)


def move_values(
    learned: LearnerState, pairs: HostVector, target: HostVector, step_size: float | HostVector
) -> None:
    """Move the values of pairs, each of another run, a share of the way towards their targets."""
    table = flat(learned.values)
    old = table[pairs]
    error = target - old
    error *= step_size
    error += old
    table[pairs] = error
