"""Exploration: greedy but for a share of random actions, by upper bounds, by a fixed policy.

Each rule draws one uniform number for each run and step, or none. Of actions that are equally good
`EpsilonGreedy` takes one by lot, as Sutton & Barto do, and `UCB` the first. An action that is not
available in a state has the value −inf there, and no rule takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import HostArray, HostMatrix, HostVector, to_numpy
from ..distribution_checks import without_rounding
from .schedules import Schedule, as_schedule, value_at
from .tabular import LearnerState, nth_true, row_max

__all__ = ["UCB", "EpsilonGreedy", "ExplorationPolicy", "FixedPolicy"]

# Rows of up to eight truths as the bits of a number, and for each how many are true and where: two
# look-ups for what takes sums along rows of a few entries, which NumPy is slow at. Between the
# numbers is room for ranks, and for one too many, by rounding, which stands for the last.
_WIDEST, _ROOM = 8, 16
_BITS = _ROOM << np.arange(_WIDEST)
_PATTERNS = (np.arange(0, _ROOM << _WIDEST, _ROOM)[:, None] & _BITS) > 0
_COUNTS = _PATTERNS.sum(1, dtype=np.float64).repeat(_ROOM)
_NTH_TRUE = np.stack(
    [nth_true(_PATTERNS, np.minimum(k, _PATTERNS.sum(1) - 1)) for k in range(_ROOM)], axis=1
).reshape(-1)
_NTH_TRUE[:_ROOM] = 0  # none is the highest of a row that is not a number


class ExplorationPolicy(Protocol):
    """A policy by which a learner acts and explores."""

    def check_sizes(self, num_states: int, num_actions: int, /) -> None:
        """Raise `ValueError` where it is made for other numbers of states and actions."""
        ...

    def choose(self, learned: LearnerState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        ...

    def probabilities(self, learned: LearnerState, states: HostVector, /) -> HostMatrix:
        """Return the probability of each action, (runs, actions)."""
        ...


@dataclass(frozen=True)
class EpsilonGreedy:
    """The best action, but for a share of steps, in which any is taken with equal probability.

    Parameters
    ----------
    epsilon : Schedule or float, default 0.1
        The share; visits are those of the state. At 0, a learner is greedy.

    Notes
    -----
    Ties are broken by lot, by the same uniform number that says whether to explore. So from a table
    of equal values a learner wanders until something has paid; where that takes too long, begin
    with `optimistic_value` instead. A share of a tenth comes to 0.95 of the way from chance to the
    best policy on a frozen lake in 60 000 steps, and to 0.61 in 10 000, where three tenths come to
    0.97 and 0.91; but of SARSA on Taxi more exploration makes 0.81 for 0.93
    (``benchmarks/races/learning_defaults.py``).

    Source: Sutton & Barto (2018), sections 2.2 and 2.4.
    """

    epsilon: Schedule | float = 0.1

    def __post_init__(self) -> None:
        """Make epsilon a schedule."""
        object.__setattr__(self, "epsilon", as_schedule(self.epsilon, "epsilon"))

    def check_sizes(self, num_states: int, num_actions: int, /) -> None:
        """It is made for all numbers."""

    def epsilon_at(self, learned: LearnerState, states: HostVector) -> float | HostVector:
        """Return the share of random actions, a number or one for each run."""
        schedule: Any = self.epsilon
        return value_at(schedule, lambda: learned.visits_at(states).sum(1), learned.time)

    def choose(self, learned: LearnerState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        values = learned.values_at(states)
        epsilon, uniform = self.epsilon_at(learned, states), stream.generator.random(len(values))
        # Of the best, or of all where it explores, one by the same number: from epsilon on it is
        # uniform again, once it is moved and stretched, and below epsilon once it is stretched.
        candidates, share = _is_highest(values), uniform - epsilon
        share /= _from_one(epsilon)
        exploring = (uniform < epsilon).nonzero()[0]
        if exploring.size:
            candidates[exploring] = is_available(values.take(exploring, axis=0))
            share[exploring] = uniform[exploring] / _at(epsilon, exploring)
        return _one_of(candidates, share)

    def probabilities(self, learned: LearnerState, states: HostVector, /) -> HostMatrix:
        """Return the probability of each action, (runs, actions)."""
        values = learned.values_at(states)
        epsilon = np.broadcast_to(self.epsilon_at(learned, states), values.shape[:1])
        is_best, available = _is_highest(values), is_available(values)
        greedy, explored = (1.0 - epsilon) / is_best.sum(1), epsilon / available.sum(1)
        return np.asarray(
            np.where(available, explored[:, None], 0.0) + np.where(is_best, greedy[:, None], 0.0)
        )


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
        """Return the upper bound of each action, (runs, actions); infinite where none was seen.

        It is −inf for actions that are not available.
        """
        visits = learned.visits_at(states).astype(np.float64)
        total = np.maximum(visits.sum(1, keepdims=True), 1.0)
        bonus = self.scale * np.sqrt(np.log(total) / np.maximum(visits, 1.0))
        values = learned.values_at(states)
        return np.where((visits > 0) | ~is_available(values), values + bonus, np.inf)

    def choose(self, learned: LearnerState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        return np.asarray(self.bounds(learned, states).argmax(1))

    def probabilities(self, learned: LearnerState, states: HostVector, /) -> HostMatrix:
        """Return the probability of each action, (runs, actions): 0 or 1."""
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
        """Return the probability of each action, (runs, actions)."""
        chosen, num_actions = np.asarray(self.policy[states]), learned.values.shape[2]
        return np.asarray(chosen if chosen.ndim == 2 else np.eye(num_actions)[chosen])


def _is_highest(values: HostMatrix) -> HostMatrix:
    """Return which entries are the highest of their row."""
    return np.asarray(values == row_max(values)[:, None])


def _at(epsilon: float | HostVector, runs: HostVector) -> float | HostVector:
    return epsilon if isinstance(epsilon, float) else epsilon[runs]


def _from_one(epsilon: float | HostVector) -> float | HostVector:
    """``1 − epsilon``; where that is zero no number is left to divide by it."""
    if isinstance(epsilon, float):
        return max(1.0 - epsilon, 2.0**-53)
    return np.maximum(1.0 - epsilon, 2.0**-53)


def _one_of(candidates: HostMatrix, share: HostVector) -> HostVector:
    """Return one of those that are true in each row, by a number in [0, 1] times how many are."""
    if (width := candidates.shape[1]) > _WIDEST:
        count = candidates.sum(1)
        rank = np.minimum(share * count, count - 1)  # rounding may have made the number 1
        return nth_true(candidates, rank.astype(np.int64))
    patterns = candidates.view(np.uint8) @ _BITS[:width]
    patterns += (share * _COUNTS[patterns]).astype(np.int64)
    return _NTH_TRUE[patterns]


def is_available(values: HostMatrix) -> HostMatrix:
    """Return which actions a state has: those whose value is not −inf."""
    return np.asarray(values != -np.inf)


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
    given = np.asarray(without_rounding(_check.finite(given, name)))
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


def refuse_unavailable(learner: object, available: HostMatrix) -> None:
    """Raise where a fixed policy of a learner takes an action that is not available."""
    for name in ("exploration", "policy", "behaviour"):
        rule = getattr(learner, name, None)
        policy = rule.policy if isinstance(rule, FixedPolicy) else rule
        if not isinstance(policy, np.ndarray):
            continue
        wrong = (policy_table(policy, name, *available.shape) > 0.0) & ~available
        if wrong.any():
            s, a = np.argwhere(wrong)[0].tolist()
            raise ValueError(
                f"{name} must take actions that are available; action {a} is not in state {s}"
            )


def check_exploration(
    exploration: ExplorationPolicy, name: str = "exploration"
) -> ExplorationPolicy:
    """Return an exploration policy, if it is one."""
    missing = [p for p in ("check_sizes", "choose", "probabilities") if not hasattr(exploration, p)]
    if isinstance(exploration, type) or missing:
        wanted = "an exploration policy, with check_sizes, choose and probabilities"
        raise TypeError(f"{name} must be {wanted}; got {_check.kind_of(exploration)}")
    return exploration
