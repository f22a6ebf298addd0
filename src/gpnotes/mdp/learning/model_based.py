"""Model-based learners: they estimate the process, and act by the best policy of the estimate.

What is estimated is ``P(s' | s, a) = N(s, a, s') / N(s, a)`` and the mean reward. The end of an
episode is a state of its own, so that it is learnt like any other. A table of counts has
(runs, S, A, S + 1) entries: this is what model-based learning costs in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.showing import summary
from ...ground.xp import HostArray, HostVector
from ..decision_process import MDP
from ..greedy_policies import greedy_policy
from ..solving import solve
from .exploration import EpsilonGreedy, ExplorationPolicy, check_exploration
from .schedules import fraction
from .tabular import LearnerState, Transition, flat, flat_indices, later, sizes

__all__ = ["CertaintyEquivalence", "ModelState", "RMax"]

_EXPLORE = EpsilonGreedy()


@dataclass(frozen=True, eq=False)
class ModelState(LearnerState):
    """The state of a learner that counts.

    Parameters
    ----------
    values, visits, time
        As of `LearnerState`; the values are those of the last plan.
    transition_counts : HostArray, shape (runs, states, actions, states + 1)
        How often each state was reached from each pair; the last one is the end of an episode.
    reward_sums : HostArray, shape (runs, states, actions)
        The sums of the rewards.
    num_plans : HostVector, shape (runs,)
        How many times each run has planned.
    """

    transition_counts: Any = None
    reward_sums: Any = None
    num_plans: Any = None

    __repr__ = summary


def _empty_state(num_states: int, num_actions: int, runs: int, value: float) -> ModelState:
    shape = sizes(num_states, num_actions, runs)
    return ModelState(
        np.full(shape, value), np.zeros(shape, np.int64),
        transition_counts=np.zeros((*shape, shape[1] + 1), np.int64), reward_sums=np.zeros(shape),
        num_plans=np.zeros(shape[0], np.int64),
    )  # fmt: skip


def _count(learned: ModelState, transition: Transition) -> HostVector:
    """Count a transition of each run; return where its pair stands."""
    pairs = flat_indices(learned.values, transition.states, transition.actions)
    flat(learned.visits)[pairs] += 1
    flat(learned.reward_sums)[pairs] += transition.rewards
    num_successors = learned.transition_counts.shape[3]
    reached = np.where(transition.terminated, num_successors - 1, transition.next_states)
    flat(learned.transition_counts)[pairs * num_successors + reached] += 1
    return pairs


@dataclass(frozen=True, eq=False)
class RMax:
    """R_max: what is not known is taken to be as good as can be, and the best policy goes there.

    A pair is known once it was taken `known_threshold` times. Of the others the model says that
    they lead to a fictitious state, where every step earns `max_reward` for ever. The plan is made
    anew when a pair becomes known, by `solve`, from all that was counted until then.

    Parameters
    ----------
    max_reward : float
        The highest reward of a step.
    known_threshold : int
        How many visits make a pair known.
    discount : float
        The discount γ, in [0, 1).
    tolerance : float, default 1e-6
        What a plan may lose by its model.
    """

    max_reward: float
    known_threshold: int
    discount: float
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        """Check the parts."""
        object.__setattr__(self, "max_reward", _check.number(self.max_reward, "max_reward"))
        known_threshold = _check.whole(self.known_threshold, "known_threshold", 1)
        object.__setattr__(self, "known_threshold", known_threshold)
        object.__setattr__(self, "discount", _below_one(self.discount))
        tolerance = _check.positive(_check.number(self.tolerance, "tolerance"), "tolerance")
        object.__setattr__(self, "tolerance", tolerance)

    @property
    def max_value(self) -> float:
        """The value of the fictitious state, ``max_reward / (1 − γ)``."""
        return self.max_reward / (1.0 - self.discount)

    def init(self, num_states: int, num_actions: int, runs: int, /) -> ModelState:
        """Return the learner's state for runs that have seen nothing: all is as good as can be."""
        return _empty_state(num_states, num_actions, runs, self.max_value)

    def act(self, learned: ModelState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose the first action that is as good as any by the plan, up to its tolerance."""
        return np.asarray(greedy_policy(learned.values_at(states), self.tolerance))

    def step(self, learned: ModelState, transition: Transition, stream: Stream, /) -> ModelState:
        """Learn from one transition of each run; the learner's state is written into."""
        highest = float(transition.rewards.max())
        if highest > self.max_reward:
            raise ValueError(
                f"max_reward must be no less than any reward; {highest} > {self.max_reward}"
            )
        pairs = _count(learned, transition)
        for run in np.flatnonzero(flat(learned.visits)[pairs] == self.known_threshold).tolist():
            learned.values[run] = _plan(self.model(learned, run), self.tolerance)
            learned.num_plans[run] += 1
        return later(learned)

    def model(self, learned: ModelState, run: int) -> MDP:
        """Return the process that a run takes the environment to be.

        Parameters
        ----------
        run : int
            Which run.

        Returns
        -------
        MDP
            Of S + 2 states: the fictitious one at S, the end of an episode at S + 1.
        """
        known = learned.visits[run] >= self.known_threshold
        return _process(learned, run, known, self.max_reward, self.discount)


@dataclass(frozen=True, eq=False)
class CertaintyEquivalence:
    """Certainty equivalence: a plan from counts, made anew every so many steps, and exploration.

    Parameters
    ----------
    discount, tolerance
        As in `RMax`.
    exploration : ExplorationPolicy, default EpsilonGreedy()
        The rule to act by.
    plan_every : int, default 100
        After how many steps the plan is made anew.
    unseen_value : float, default 0.0
        The value of a pair that was never taken; a high one makes the learner try it.
    """

    discount: float
    exploration: ExplorationPolicy = _EXPLORE
    plan_every: int = 100
    unseen_value: float = 0.0
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        """Check the parts."""
        object.__setattr__(self, "discount", _below_one(self.discount))
        check_exploration(self.exploration)
        object.__setattr__(self, "plan_every", _check.whole(self.plan_every, "plan_every", 1))
        object.__setattr__(self, "unseen_value", _check.number(self.unseen_value, "unseen_value"))
        tolerance = _check.positive(_check.number(self.tolerance, "tolerance"), "tolerance")
        object.__setattr__(self, "tolerance", tolerance)

    def init(self, num_states: int, num_actions: int, runs: int, /) -> ModelState:
        """Return the learner's state for runs that have seen nothing."""
        self.exploration.check_sizes(num_states, num_actions)
        return _empty_state(num_states, num_actions, runs, self.unseen_value)

    def act(self, learned: ModelState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        return self.exploration.choose(learned, states, stream)

    def step(self, learned: ModelState, transition: Transition, stream: Stream, /) -> ModelState:
        """Learn from one transition of each run; the learner's state is written into."""
        _count(learned, transition)
        if (learned.time + 1) % self.plan_every == 0:
            for run in range(learned.values.shape[0]):
                learned.values[run] = _plan(self.model(learned, run), self.tolerance)
            learned.num_plans[:] += 1
        return later(learned)

    def model(self, learned: ModelState, run: int) -> MDP:
        """Return the process that a run takes the environment to be.

        Parameters
        ----------
        run : int
            Which run.

        Returns
        -------
        MDP
            Of S + 2 states: at S one that stands for what was never seen, whose value is
            `unseen_value`;
            the end of an episode at S + 1.
        """
        reward = self.unseen_value * (1.0 - self.discount)
        return _process(learned, run, learned.visits[run] > 0, reward, self.discount)


def _process(
    learned: ModelState, run: int, known: HostArray, unknown_reward: float, discount: float
) -> MDP:
    """The estimate; pairs that are not known lead to the state S, which stays and earns as they."""
    states, actions = known.shape
    P, r = np.zeros((states + 2, actions, states + 2)), np.zeros((states + 2, actions))
    visits = np.maximum(learned.visits[run], 1)
    frequencies = learned.transition_counts[run] / visits[:, :, None]
    P[:states, :, :states], P[:states, :, -1] = frequencies[:, :, :-1], frequencies[:, :, -1]
    r[:states] = learned.reward_sums[run] / visits
    P[:states][~known], r[:states][~known] = 0.0, unknown_reward
    P[:states, :, states][~known] = 1.0
    P[states, :, states] = P[states + 1, :, states + 1] = 1.0
    r[states] = unknown_reward
    return MDP.from_arrays(P, r, discount)


def _plan(model: MDP, tolerance: float) -> HostArray:
    """The action values of a plan by a model, without those of its two fictitious states."""
    plan = solve(model, tolerance=tolerance)
    if not plan.converged:
        raise RuntimeError(
            f"tolerance must be larger than {tolerance:.3g}: after {plan.iterations} sweeps the "
            f"plan may still lose {plan.bound:.3g}"
        )
    return np.asarray(plan.action_values[:-2])


def _below_one(discount: Any) -> float:
    discount = fraction(discount, "discount")
    if discount == 1.0:
        raise ValueError("discount must be below 1, for what is not known to have a value; got 1.0")
    return discount
