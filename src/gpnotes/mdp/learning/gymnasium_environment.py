"""Environments of gymnasium with spaces of whole numbers.

Each run has a copy of the environment, which every episode resets with a seed of its own. So where
an environment stands follows from the last seed and the actions since, whatever is inside it: a
file keeps these, and a run that goes on from it replays them.
"""

from __future__ import annotations

import copy
import math
import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.files import digest
from ...ground.random import Stream
from ...ground.xp import HostArray, HostMatrix, HostVector
from .mdp_environment import TimeStep

__all__ = ["GymnasiumEnvironment"]

_TRIED = 2_000  # steps of a trial
_SEEDS = 2**31  # gymnasium takes whole numbers below this on every platform


@dataclass(frozen=True)
class _Numbering:
    """A space whose elements are counted: how many there are, and the number of each."""

    sizes: tuple[int, ...]
    starts: tuple[int, ...]
    kind: str

    @property
    def count(self) -> int:
        return int(np.prod(self.sizes))

    @property
    def is_from_0(self) -> bool:
        """True if elements are their own numbers."""
        return self.kind == "Discrete" and self.starts[0] == 0

    def number(self, element: Any) -> int:
        if self.kind == "Discrete":
            return int(element) - self.starts[0]
        entries = (int(entry) - start for entry, start in zip(element, self.starts, strict=True))
        return int(np.ravel_multi_index(tuple(entries), self.sizes))

    def element(self, number: int) -> Any:
        if self.kind == "Discrete":
            return number + self.starts[0]
        indices = np.unravel_index(number, self.sizes)
        entries = [int(index) + start for index, start in zip(indices, self.starts, strict=True)]
        return tuple(entries) if self.kind == "Tuple" else np.asarray(entries)


@dataclass(frozen=True, eq=False)
class GymnasiumEnvironment:
    """An environment of gymnasium with finitely many states and actions.

    A state of several numbers, a `MultiDiscrete` or a `Tuple` of `Discrete`, is counted through.
    It keeps its own state.

    Parameters
    ----------
    env : gymnasium.Env
        The environment, as ``gymnasium.make`` gives it. It is copied for each run, and never
        touched itself. Its own limits of time truncate episodes.

    Examples
    --------
    >>> import gymnasium
    >>> environment = GymnasiumEnvironment(gymnasium.make("FrozenLake-v1"))
    >>> environment.num_states, environment.num_actions
    (16, 4)
    """

    env: Any
    _spaces: tuple[_Numbering, _Numbering] = field(init=False, repr=False)
    _copies: list[EnvironmentCopy] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        """Count the spaces."""
        parts = ("reset", "step", "observation_space", "action_space")
        if isinstance(self.env, type) or any(not hasattr(self.env, part) for part in parts):
            raise TypeError(
                f"env must be an environment of gymnasium; got {_check.kind_of(self.env)}"
            )
        spaces = _numbering(self.env.observation_space), _numbering(self.env.action_space)
        object.__setattr__(self, "_spaces", spaces)

    @property
    def num_states(self) -> int:
        """The number of states."""
        return self._spaces[0].count

    @property
    def num_actions(self) -> int:
        """The number of actions."""
        return self._spaces[1].count

    def reset(self, stream: Stream, runs: int, /) -> HostVector:
        """Begin an episode in each run, and return the states."""
        self._copy(runs)
        return self.restart(np.zeros(runs, np.int64), np.ones(runs, bool), stream)

    def _copy(self, runs: int) -> None:
        self._copies[:] = [EnvironmentCopy(_copy_env(self.env), *self._spaces) for _ in range(runs)]

    def step(self, states: HostVector, actions: HostVector, stream: Stream, /) -> TimeStep:
        """Take one step in each run."""
        pairs = zip(self._copies, actions.tolist(), strict=True)
        columns = zip(*(env_copy.step(action) for env_copy, action in pairs), strict=True)
        next_states, rewards, terminated, truncated = map(np.asarray, columns)
        return TimeStep(next_states, rewards.astype(np.float64), terminated, truncated)

    def restart(self, states: HostVector, over: HostVector, stream: Stream, /) -> HostVector:
        """Begin a new episode in the runs that are over, and return the states of all."""
        new_states, ended = states.copy(), np.flatnonzero(over)
        new_states[ended] = begin(self, ended.tolist(), stream)
        return new_states

    def saved(self) -> dict[str, HostArray]:
        """Return the last seed of each run, and its actions since, padded with −1."""
        lengths = [len(env_copy.actions) for env_copy in self._copies]
        since = np.full((len(lengths), max(lengths, default=0)), -1)
        for row, env_copy in zip(since, self._copies, strict=True):
            row[: len(env_copy.actions)] = env_copy.actions
        seeds = np.asarray([env_copy.seed for env_copy in self._copies], dtype=np.int64)
        states = np.asarray([env_copy.state for env_copy in self._copies], dtype=np.int64)
        return {"seeds": seeds, "since": since, "states": states}

    def restore(self, parts: dict[str, HostArray], /) -> None:
        """Play each run again from its last seed.

        Parameters
        ----------
        parts : dict of HostArray
            The result of `saved`.
        """
        self._copy(len(parts["seeds"]))
        columns = zip(self._copies, parts["seeds"].tolist(), parts["since"], strict=True)
        for env_copy, seed, since in columns:
            env_copy.begin(seed)
            for action in since[since >= 0].tolist():
                env_copy.step(action)
        states = [env_copy.state for env_copy in self._copies]
        if states != parts["states"].tolist():
            raise ValueError("env must do the same after the same seed; played again, it did not")

    @property
    def identifier(self) -> str:
        """The name and the settings of the environment, and a digest of what it does in a trial."""
        return self._identifier

    @cached_property  # which checkers of types do not take for the property of a protocol
    def _identifier(self) -> str:
        spec, walk = getattr(self.env, "spec", None), digest(_trial(self))
        if spec is None:
            return f"{type(self.env).__name__}({self.num_states}, {self.num_actions}, {walk})"
        return f"{spec.id}({dict(spec.kwargs)}, {spec.max_episode_steps}, {walk})"


def copies_of(environment: GymnasiumEnvironment) -> list[EnvironmentCopy]:
    """The copy of each run, where the run stands."""
    return environment._copies


def begin(environment: GymnasiumEnvironment, over: list[int], stream: Stream) -> list[int]:
    """Begin anew in the runs that are over, and return the states there."""
    integers = stream.generator.integers
    if len(over) == 1:  # the same number, without an array around it
        return [environment._copies[over[0]].begin(int(integers(_SEEDS)))]
    seeds = integers(_SEEDS, size=len(over)).tolist()
    pairs = zip(over, seeds, strict=True)
    return [environment._copies[run].begin(seed) for run, seed in pairs]


def _trial(environment: GymnasiumEnvironment) -> HostMatrix:
    """What comes of random actions: wrappers and dynamics that no name tells show in it."""
    one = EnvironmentCopy(_copy_env(environment.env), *environment._spaces)
    told, over, draws = [], True, random.Random(0)  # whose draws stay, whatever the version
    for k in range(_TRIED):
        begun = one.begin(k) if over else -1
        state, reward, *ended = one.step(int(draws.random() * environment.num_actions))
        told.append([begun, state, reward, *ended])
        over = any(ended)
    return np.asarray(told, dtype=np.float64)


class EnvironmentCopy:
    """One copy of the environment, and how it came to be where it is."""

    def __init__(self, env: Any, states: _Numbering, actions: _Numbering) -> None:
        self.env, self.number = env, int if states.is_from_0 else states.number
        self.element = None if actions.is_from_0 else actions.element
        self.seed, self.state, self.actions = 0, 0, list[int]()
        self.num_states = states.count

    def begin(self, seed: int) -> int:
        self.seed = seed
        self.actions.clear()
        self.state = self.number(self.env.reset(seed=seed)[0])
        self.check(self.state, 0.0)
        return self.state

    def step(self, action: int) -> tuple[int, float, bool, bool]:
        self.actions.append(action)
        element = action if self.element is None else self.element(action)
        reached, reward, terminated, truncated, _ = self.env.step(element)
        self.state, reward = self.number(reached), float(reward)
        self.check(self.state, reward)
        return self.state, reward, bool(terminated), bool(truncated) and not terminated

    def check(self, state: int, reward: float) -> None:
        """Refuse what would stand in the table of another run, or make all values NaN."""
        if not (0 <= state < self.num_states and -math.inf < reward < math.inf):
            raise ValueError(
                "env must return states of its observation_space and finite rewards; got number "
                f"{state} of {self.num_states} states, with the reward {reward}"
            )


def _copy_env(env: Any) -> Any:
    """A copy of an environment; of the table that toy-text ones have, and only read, there is one.

    It would be nearly all of the time and of the memory.
    """
    table = getattr(getattr(env, "unwrapped", None), "P", None)
    return copy.deepcopy(env, {id(table): table})


def _numbering(space: Any) -> _Numbering:
    kind = type(space).__name__
    if kind == "Discrete":
        return _Numbering((int(space.n),), (int(space.start),), kind)
    if kind == "MultiDiscrete" and space.nvec.ndim == 1:
        sizes, starts = space.nvec.tolist(), np.asarray(space.start).tolist()
        return _Numbering(tuple(sizes), tuple(starts), kind)
    if kind == "Tuple" and all(type(part).__name__ == "Discrete" for part in space.spaces):
        sizes = tuple(int(part.n) for part in space.spaces)
        return _Numbering(sizes, tuple(int(part.start) for part in space.spaces), kind)
    wanted = "Discrete, MultiDiscrete or a Tuple of Discrete"
    raise TypeError(f"env must have spaces of whole numbers, {wanted}; got {space}")
