"""An MDP as an environment: many runs at once step through it by chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...ground import check as _check
from ...ground.files import digest
from ...ground.random import Stream
from ...ground.sparse_matrices import SparseMatrix
from ...ground.xp import HostArray, HostMatrix, HostVector, to_numpy
from ..decision_process import MDP
from ..distribution_checks import without_rounding

__all__ = ["Environment", "Layout", "MDPEnvironment", "TimeStep"]


class TimeStep(NamedTuple):
    """The results of a step of all runs.

    Parameters
    ----------
    next_states : HostVector, shape (runs,)
        The states that were reached.
    rewards : HostVector, shape (runs,)
        The rewards.
    terminated : HostVector, shape (runs,)
        Whether the episode ended there.
    truncated : HostVector, shape (runs,)
        Whether the environment broke it off, as environments do after a time.
    """

    next_states: HostVector
    rewards: HostVector
    terminated: HostVector
    truncated: HostVector


class Environment(Protocol):
    """An environment for learners: states and actions are whole numbers from 0.

    Where states lack actions it may have one attribute more, `available`, booleans (S, A).
    """

    @property
    def num_states(self) -> int:
        """The number of states."""
        ...

    @property
    def num_actions(self) -> int:
        """The number of actions."""
        ...

    def reset(self, stream: Stream, runs: int, /) -> HostVector:
        """Begin an episode in each run, and return the states."""
        ...

    def step(self, states: HostVector, actions: HostVector, stream: Stream, /) -> TimeStep:
        """Take one step in each run."""
        ...

    def restart(self, states: HostVector, over: HostVector, stream: Stream, /) -> HostVector:
        """Begin a new episode in the runs that are over, and return the states of all."""
        ...

    def saved(self) -> dict[str, HostArray]:
        """Return all that it needs to go on from here but the states, as arrays by name."""
        ...

    def restore(self, parts: dict[str, HostArray], /) -> None:
        """Go back to where `saved` was called."""
        ...

    @property
    def identifier(self) -> str:
        """Its name in the file of a run; another environment has another."""
        ...


class Layout(NamedTuple):
    """A process laid out to be stepped through.

    Parameters
    ----------
    keys : HostVector, shape (k,)
        Of each successor of positive probability: twice the number of its pair, ``s A + a``, and
        the cumulated probability behind it; one and a half behind the last of a pair, so that no
        rounding leads from one pair to the next.
    successors : HostVector, shape (k,)
        The successors.
    rewards : HostVector, shape (S A,)
        The reward of each pair; −inf where the action is not available.
    terminal : HostVector, shape (S,)
        The states that end an episode.
    starts : HostVector, shape (1,) or (S,)
        The state where episodes begin, or the cumulated probabilities of all states.
    begins : HostVector, shape (S A + 1,)
        Where the keys of each pair begin.
    """

    keys: HostVector
    successors: HostVector
    rewards: HostVector
    terminal: HostVector
    starts: HostVector
    begins: HostVector


@dataclass(frozen=True, eq=False)
class MDPEnvironment:
    """A Markov decision process as an environment.

    Parameters
    ----------
    mdp : MDP
        The process. An episode ends in its terminal states. `run` lets a learner know which actions
        are not available; to take one raises an error.
    start : int or HostVector, shape (S,), default 0
        The state where episodes begin, or the probabilities of all states.
    binary_rewards : tuple of two floats, or None
        With None, each step earns its expected reward. With two numbers, it earns one of them, as a
        coin falls whose mean is the expected reward.
    """

    mdp: MDP
    start: int | HostVector = 0
    binary_rewards: tuple[float, float] | None = None
    layout: Layout = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the arguments, and lay out the distribution of each pair's successor."""
        _check.instance(self.mdp, "mdp", MDP)
        keys, successors, begins = _layout_of(self.mdp.transitions)
        rewards = np.array(to_numpy(self.mdp.rewards), dtype=np.float64).reshape(-1)
        terminal = np.array(to_numpy(self.mdp.terminal), dtype=bool)
        starts = _starts(self.start, self.num_states)
        layout = Layout(keys, successors, rewards, terminal, starts, begins)
        object.__setattr__(self, "layout", layout)
        earned = rewards[rewards > -np.inf]
        object.__setattr__(self, "binary_rewards", _binary_rewards(self.binary_rewards, earned))

    @property
    def num_states(self) -> int:
        """The number of states."""
        return int(self.mdp.num_states)

    @property
    def num_actions(self) -> int:
        """The number of actions."""
        return int(self.mdp.num_actions)

    @cached_property
    def available(self) -> HostMatrix:
        """The actions that each state has, as booleans (S, A)."""
        return np.isfinite(self.layout.rewards).reshape(self.num_states, self.num_actions)

    @cached_property
    def _has_all(self) -> bool:
        """Return whether every state has every action."""
        return bool(self.available.all())

    def reset(self, stream: Stream, runs: int, /) -> HostVector:
        """Begin an episode in each run, and return the states."""
        if self.layout.starts.size == 1:
            return np.full(runs, int(self.layout.starts[0]))
        uniform = stream.generator.random(runs)
        return np.searchsorted(self.layout.starts, uniform, side="right")

    def step(self, states: HostVector, actions: HostVector, stream: Stream, /) -> TimeStep:
        """Take one step in each run; a `ValueError` names an action that is not available."""
        _, successors, expected_rewards, terminal, _, _ = self.layout
        rows = states * self.mdp.num_actions + actions
        next_states = successors[self._drawn(rows, stream.generator.random(rows.shape[0]))]
        rewards = expected_rewards[rows]
        if not self._has_all and rewards.min(initial=0.0) == -np.inf:
            run = int(rewards.argmin())
            raise ValueError(
                f"actions must be available; action {actions[run]} is not in state {states[run]}"
            )
        if self.binary_rewards is not None:
            low, high = self.binary_rewards
            won = stream.generator.random(rows.shape[0]) * (high - low) < rewards - low
            rewards = np.where(won, high, low)
        return TimeStep(next_states, rewards, terminal[next_states], np.zeros(rows.shape[0], bool))

    @cached_property
    def _is_certain(self) -> bool:
        """Whether no pair has more than one successor."""
        return int(np.diff(self.layout.begins).max()) == 1

    def _drawn(self, rows: HostVector, uniform: HostVector) -> HostVector:
        """Where the successors of pairs stand that uniform numbers fall on."""
        if self._is_certain:
            return self.layout.begins[rows]
        uniform += 2 * rows
        return self.layout.keys.searchsorted(uniform, side="right")

    def restart(self, states: HostVector, over: HostVector, stream: Stream, /) -> HostVector:
        """Begin a new episode in the runs that are over, and return the states of all."""
        if self.layout.starts.size == 1:
            restarted = states.copy()
            np.putmask(restarted, over, self.layout.starts)
            return restarted
        return np.where(over, self.reset(stream, states.shape[0]), states)

    def saved(self) -> dict[str, HostArray]:
        """Return nothing: the states are all there is."""
        return {}

    def restore(self, parts: dict[str, HostArray], /) -> None:
        """Do nothing."""

    @property
    def identifier(self) -> str:
        """A digest of all its numbers."""
        numbers = f"{digest(*self.layout)}, {self.binary_rewards}"
        return f"MDPEnvironment({self.num_states}, {self.num_actions}, {numbers})"


def _layout_of(transitions: SparseMatrix) -> tuple[HostVector, HostVector, HostVector]:
    """The keys and the successors of `Layout`, and where those of each pair begin."""
    if hasattr(transitions, "indptr"):
        pair = np.repeat(np.arange(transitions.shape[0]), np.diff(transitions.indptr))
        columns, probabilities = np.asarray(transitions.indices), np.asarray(transitions.data)
        positive = probabilities > 0.0
        pair, columns, probabilities = pair[positive], columns[positive], probabilities[positive]
    else:
        host = to_numpy(transitions)
        pair, columns = np.nonzero(host > 0.0)
        probabilities = host[pair, columns]
    begins = np.concatenate([[0], np.bincount(pair, minlength=transitions.shape[0]).cumsum()])
    running_total = np.cumsum(probabilities, dtype=np.float64)
    total_before = np.concatenate([[0.0], running_total])[begins]
    cumulative = running_total - total_before[pair]
    cumulative /= (total_before[1:] - total_before[:-1])[pair]
    cumulative[begins[1:] - 1] = 1.5
    return 2 * pair + cumulative, columns.astype(np.int64), begins


def _starts(start: Any, states: int) -> HostVector:
    """The one state where episodes begin, or the cumulated probabilities of all states."""
    if _check.whole_or_none(start) is not None or getattr(start, "ndim", 0) == 0:
        return np.asarray([_check.whole(start, "start", 0, states - 1)])
    given = to_numpy(without_rounding(_check.vector(start, "start", size=states)))
    probabilities = given.astype(np.float64)
    if probabilities.min() < 0.0 or abs(probabilities.sum() - 1.0) > 1e-8:
        raise ValueError(f"start must be probabilities that sum to 1; got {probabilities}")
    if np.count_nonzero(probabilities) == 1:
        return np.flatnonzero(probabilities)
    cumulative = probabilities.cumsum() / probabilities.sum()
    cumulative[np.flatnonzero(probabilities)[-1] :] = 1.0
    return np.asarray(cumulative)


def _binary_rewards(binary_rewards: object, rewards: HostVector) -> tuple[float, float] | None:
    if binary_rewards is None:
        return None
    if not isinstance(binary_rewards, tuple) or len(binary_rewards) != 2:
        raise TypeError(f"binary_rewards must be None or two numbers; got {binary_rewards!r}")
    low, high = (_check.number(reward, "binary_rewards") for reward in binary_rewards)
    if not low < high or rewards.min() < low or rewards.max() > high:
        needed = f"{rewards.min():g} to {rewards.max():g}"
        raise ValueError(f"binary_rewards must lie around all rewards, {needed}; got {(low, high)}")
    return low, high
