"""Exploration: greedy but for a share of random actions, by upper bounds, by a fixed policy.

Each rule draws one uniform number for each run and step, or none. Of actions that are as good the
first is taken, everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import HostArray, HostMatrix, HostVector, to_numpy
from .schedules import ConstantSchedule, Schedule, as_schedule, value_at
from .tabular import LearnerState

__all__ = ["UCB", "EpsilonGreedy", "ExplorationPolicy", "FixedPolicy"]


class ExplorationPolicy(Protocol):
    """A policy by which a learner acts and explores."""

    def check_sizes(self, num_states: int, num_actions: int, /) -> None:
        """Raise `ValueError` where it is made for other numbers of states and actions."""
        ...

    def choose(self, learned: LearnerState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        ...

    def probabilities(self, learned: LearnerState, states: HostVector, /) -> HostMatrix:
        """Return with what probability it takes each action, (runs, actions)."""
        ...


@dataclass(frozen=True)
class EpsilonGreedy:
    """The best action, but for a share of steps, in which any is taken with equal probability.

    Parameters
    ----------
    epsilon : Schedule or float, default 0.3
        The share; visits are those of the state. At 0, a learner is greedy.

    Notes
    -----
    Of equal actions the first is taken. So from a table of equal values a learner meets something
    new by its share alone, and a share of a tenth hardly ever crosses a frozen lake; with three
    tenths Q-learning is at 98 hundredths of the best policy there after 60 000 steps, and nowhere
    far behind (``benchmarks/learning_defaults.py``). Where a reward comes only at the end of a long
    way, begin with `optimistic_value` instead.
    """

    epsilon: Schedule | float = 0.3

    def __post_init__(self) -> None:
        """Make epsilon a schedule."""
        object.__setattr__(self, "epsilon", as_schedule(self.epsilon, "epsilon"))

    def check_sizes(self, num_states: int, num_actions: int, /) -> None:
        """It is made for all numbers."""

    @property
    def is_greedy(self) -> bool:
        """Whether no action is random, so that no number is drawn."""
        return isinstance(self.epsilon, ConstantSchedule) and self.epsilon.value == 0.0

    def epsilon_at(self, learned: LearnerState, states: HostVector) -> float | HostVector:
        """Return the share of random actions, a number or one for each run."""
        schedule: Any = self.epsilon
        return value_at(schedule, lambda: learned.visits_at(states).sum(1), learned.time)

    def choose(self, learned: LearnerState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        best = learned.values_at(states).argmax(1)
        if self.is_greedy:
            return np.asarray(best)
        epsilon, uniform = self.epsilon_at(learned, states), stream.generator.random(best.shape[0])
        exploring = (uniform < epsilon).nonzero()[0]
        if exploring.size:
            num_actions = learned.values.shape[2]
            probability = epsilon if isinstance(epsilon, float) else epsilon[exploring]
            # Below epsilon the number is uniform again, once it is divided by epsilon; the ratio
            # is at most 1 - 2⁻⁵³, and that times a whole number is rounded to less than the number.
            best[exploring] = uniform[exploring] / probability * num_actions
        return np.asarray(best)

    def probabilities(self, learned: LearnerState, states: HostVector, /) -> HostMatrix:
        """Return with what probability it takes each action, (runs, actions)."""
        values = learned.values_at(states)
        runs, num_actions = values.shape
        epsilon = np.broadcast_to(self.epsilon_at(learned, states), (runs,))
        chances = np.repeat((epsilon / num_actions)[:, None], num_actions, axis=1)
        chances[np.arange(runs), values.argmax(1)] += 1.0 - epsilon
        return chances


@dataclass(frozen=True)
class UCB:
    """The action with the highest upper bound: its value, and more the less it was tried.

    The bound is ``Q(s, a) + scale √(log n(s) / n(s, a))``, with the visits n; an action that was
    never taken comes first.

    Parameters
    ----------
    scale : float, default 1.0
        How wide the bounds are, from 0.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the scale."""
        scale = _check.positive(_check.number(self.scale, "scale"), "scale", zero=True)
        object.__setattr__(self, "scale", scale)

    def check_sizes(self, num_states: int, num_actions: int, /) -> None:
        """It is made for all numbers."""

    def bounds(self, learned: LearnerState, states: HostVector) -> HostMatrix:
        """Return the upper bound of each action, (runs, actions); infinite where none was seen."""
        visits = learned.visits_at(states).astype(np.float64)
        total = np.maximum(visits.sum(1, keepdims=True), 1.0)
        bonus = self.scale * np.sqrt(np.log(total) / np.maximum(visits, 1.0))
        return np.asarray(learned.values_at(states) + np.where(visits > 0, bonus, np.inf))

    def choose(self, learned: LearnerState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        return np.asarray(self.bounds(learned, states).argmax(1))

    def probabilities(self, learned: LearnerState, states: HostVector, /) -> HostMatrix:
        """Return with what probability it takes each action, (runs, actions): 0 or 1."""
        bounds = self.bounds(learned, states)
        return np.asarray(np.eye(bounds.shape[1])[bounds.argmax(1)])


@dataclass(frozen=True, eq=False)
class FixedPolicy:
    """A policy that does not learn.

    Parameters
    ----------
    policy : HostVector, shape (S,), or HostMatrix, shape (S, A)
        The action of each state, or the probabilities of all actions in each.
    """

    policy: HostArray

    def __post_init__(self) -> None:
        """Check the policy, and keep a copy."""
        object.__setattr__(self, "policy", as_policy(self.policy, "policy"))

    def check_sizes(self, num_states: int, num_actions: int, /) -> None:
        """Raise `ValueError` where it is made for other numbers of states and actions."""
        policy_table(self.policy, "policy", num_states, num_actions)

    def choose(self, learned: LearnerState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        chosen = np.asarray(self.policy[states])
        if chosen.ndim == 1:
            return chosen
        return sample_actions(chosen, np.asarray(stream.generator.random(states.shape[0])))

    def probabilities(self, learned: LearnerState, states: HostVector, /) -> HostMatrix:
        """Return with what probability it takes each action, (runs, actions)."""
        chosen, num_actions = np.asarray(self.policy[states]), learned.values.shape[2]
        return np.asarray(chosen if chosen.ndim == 2 else np.eye(num_actions)[chosen])


def sample_actions(probabilities: HostMatrix, uniform: HostVector) -> HostVector:
    """The action that each uniform number falls on; never one of probability zero."""
    cumulative = probabilities.cumsum(1)
    return np.asarray((cumulative <= uniform[:, None] * cumulative[:, -1:]).sum(1))


def as_policy(policy: HostArray, name: str) -> HostArray:
    """Return a policy, a copy on the host, if it is one: ints (S,) or probabilities (S, A)."""
    given = np.array(to_numpy(_check.plain(_check.array(policy, name), name)))
    deterministic = given.ndim == 1 and np.issubdtype(given.dtype, np.integer)
    if not deterministic and not (given.ndim == 2 and np.issubdtype(given.dtype, np.floating)):
        wanted = "whole numbers (S,) or probabilities (S, A)"
        kind = f"{given.dtype} of shape {given.shape}"
        raise (TypeError if given.ndim in (1, 2) else ValueError)(
            f"{name} must be {wanted}; got {kind}"
        )
    if deterministic:
        if given.size and given.min() < 0:
            raise ValueError(f"{name} must be actions from 0; got {given.min()}")
        return given.astype(np.int64)
    _check.finite(given, name)
    error = np.abs(given.sum(1) - 1.0)
    if given.min(initial=0.0) < 0.0 or error.max(initial=0.0) > 1e-8:
        state = int(np.where((given < 0.0).any(1), np.inf, error).argmax())
        row = f"row {state} is {given[state]}"
        raise ValueError(f"{name} must have rows of probabilities that sum to 1; {row}")
    return given.astype(np.float64)


def policy_table(policy: HostArray, name: str, num_states: int, num_actions: int) -> HostMatrix:
    """The probabilities (S, A) of a settled policy, if it has these sizes."""
    if policy.ndim == 2:
        if policy.shape != (num_states, num_actions):
            raise ValueError(
                f"{name} must have shape {(num_states, num_actions)}; got {policy.shape}"
            )
        return policy
    if policy.shape != (num_states,):
        raise ValueError(f"{name} must have shape {(num_states,)}; got {policy.shape}")
    if policy.size and policy.max() >= num_actions:
        raise ValueError(f"{name} must be actions 0 to {num_actions - 1}; got {policy.max()}")
    return np.asarray(np.eye(num_actions)[policy])


def check_exploration(
    exploration: ExplorationPolicy, name: str = "exploration"
) -> ExplorationPolicy:
    """Return an exploration policy, if it is one."""
    missing = [p for p in ("check_sizes", "choose", "probabilities") if not hasattr(exploration, p)]
    if isinstance(exploration, type) or missing:
        wanted = "an exploration policy, with check_sizes, choose and probabilities"
        raise TypeError(f"{name} must be {wanted}; got {_check.kind_of(exploration)}")
    return exploration
