"""The world of a process: many runs at once step through it by chance."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ....ground import check as _check
from ....ground.random import Stream
from ....ground.xp import HostArray, HostVector, to_numpy
from ..process import MDP

__all__ = ["Outcome", "Tabular", "World"]


class Outcome(NamedTuple):
    """What a step of all runs led to.

    Parameters
    ----------
    next : HostVector, shape (runs,)
        The states that were reached.
    rewards : HostVector, shape (runs,)
        The rewards.
    ended : HostVector, shape (runs,)
        Whether the episode ended there.
    cut : HostVector, shape (runs,)
        Whether the world broke it off, as environments do after a time.
    """

    next: HostVector
    rewards: HostVector
    ended: HostVector
    cut: HostVector


class World(Protocol):
    """What learners act in: states and actions are whole numbers from 0."""

    @property
    def states(self) -> int:
        """How many states there are."""
        ...

    @property
    def actions(self) -> int:
        """How many actions there are."""
        ...

    def reset(self, stream: Stream, runs: int, /) -> HostVector:
        """Begin an episode in each run, and return the states."""
        ...

    def step(self, states: HostVector, actions: HostVector, stream: Stream, /) -> Outcome:
        """Take one step in each run."""
        ...

    def restart(self, states: HostVector, over: HostVector, stream: Stream, /) -> HostVector:
        """Begin a new episode in the runs that are over, and return the states of all."""
        ...

    def saved(self) -> dict[str, HostArray]:
        """Return what it would need to go on from here besides the states, as arrays by name."""
        ...

    def restore(self, parts: dict[str, HostArray], /) -> None:
        """Go back to where `saved` was called."""
        ...

    @property
    def called(self) -> str:
        """What it is called in the file of a run: another world has another name."""
        ...


@dataclass(frozen=True, eq=False)
class Tabular:
    """The world of a Markov decision process.

    Parameters
    ----------
    mdp : MDP
        The process. An episode ends in its terminal states.
    start : int or HostVector, shape (S,), default 0
        The state where episodes begin, or the probabilities of all states.
    coins : tuple of two floats, or None
        With None, each step earns its expected reward. With two numbers, it earns one of them, as a
        coin falls whose mean is the expected reward.
    """

    mdp: MDP
    start: int | HostVector = 0
    coins: tuple[float, float] | None = None
    _keys: HostVector = field(init=False, repr=False)
    _successors: HostVector = field(init=False, repr=False)
    _begins: HostVector = field(init=False, repr=False)
    _rewards: HostVector = field(init=False, repr=False)
    _terminal: HostVector = field(init=False, repr=False)
    _starts: HostVector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check start and coins, and lay out the distribution of each pair's successor."""
        _check.instance(self.mdp, "mdp", MDP, "an")
        begins, successors, ends = _laid_out(self.mdp.transitions)
        owner = np.repeat(np.arange(begins.size - 1), np.diff(begins))
        parts: dict[str, Any] = {
            "_keys": owner + ends, "_successors": successors, "_begins": begins,
            "_rewards": np.ascontiguousarray(to_numpy(self.mdp.rewards), np.float64).reshape(-1),
            "_terminal": np.asarray(to_numpy(self.mdp.terminal), dtype=bool),
            "_starts": _starts(self.start, self.states),
        }  # fmt: skip
        parts["coins"] = _coins(self.coins, parts["_rewards"])
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @property
    def states(self) -> int:
        """How many states there are."""
        return int(self.mdp.states)

    @property
    def actions(self) -> int:
        """How many actions there are."""
        return int(self.mdp.actions)

    def reset(self, stream: Stream, runs: int, /) -> HostVector:
        """Begin an episode in each run, and return the states."""
        if self._starts.size == 1:
            return np.full(runs, int(self._starts[0]))
        uniform = stream.generator.random(runs)
        return np.searchsorted(self._starts, uniform, side="right")

    def step(self, states: HostVector, actions: HostVector, stream: Stream, /) -> Outcome:
        """Take one step in each run."""
        rows = states * self.actions + actions
        uniform = stream.generator.random(rows.shape[0])
        # The first end above the number, among those of its row: rounding may leave the row.
        found = np.searchsorted(self._keys, rows + uniform, side="right")
        found = np.minimum(found, self._begins[rows + 1] - 1)
        onward = self._successors[found]
        rewards = self._rewards[rows]
        if self.coins is not None:
            low, high = self.coins
            won = stream.generator.random(rows.shape[0]) * (high - low) < rewards - low
            rewards = np.where(won, high, low)
        return Outcome(onward, rewards, self._terminal[onward], np.zeros(rows.shape[0], bool))

    def restart(self, states: HostVector, over: HostVector, stream: Stream, /) -> HostVector:
        """Begin a new episode in the runs that are over, and return the states of all."""
        return np.where(over, self.reset(stream, states.shape[0]), states)

    def saved(self) -> dict[str, HostArray]:
        """Return nothing: the states are all there is."""
        return {}

    def restore(self, parts: dict[str, HostArray], /) -> None:
        """Do nothing."""

    @property
    def called(self) -> str:
        """A digest of all its numbers."""
        arrays = (self._keys, self._successors, self._rewards, self._terminal, self._starts)
        return f"Tabular({self.states}, {self.actions}, {digest(*arrays)}, {self.coins})"


def digest(*arrays: HostArray) -> str:
    """Sixteen letters that differ, but by a miracle, where the numbers of arrays do."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def _laid_out(transitions: Any) -> tuple[HostVector, HostVector, HostVector]:
    """Where each row begins, the successors of positive probability, and their cumulated sums."""
    if hasattr(transitions, "indptr"):
        owner = np.repeat(np.arange(transitions.shape[0]), np.diff(transitions.indptr))
        columns, chances = np.asarray(transitions.indices), np.asarray(transitions.data)
        kept = chances > 0.0
        owner, columns, chances = owner[kept], columns[kept], chances[kept]
    else:
        host = to_numpy(transitions)
        owner, columns = np.nonzero(host > 0.0)
        chances = host[owner, columns]
    begins = np.concatenate([[0], np.bincount(owner, minlength=transitions.shape[0]).cumsum()])
    total = np.cumsum(chances, dtype=np.float64)
    before = np.concatenate([[0.0], total])[begins]
    ends = total - before[owner]
    ends /= (before[1:] - before[:-1])[owner]
    ends[begins[1:] - 1] = 1.0
    return begins, columns.astype(np.int64), np.minimum(ends, 1.0)


def _starts(start: Any, states: int) -> HostVector:
    """The one state where episodes begin, or the cumulated probabilities of all states."""
    if _check.whole_or_none(start) is not None or getattr(start, "ndim", 0) == 0:
        return np.asarray([_check.whole(start, "start", 0, states - 1)])
    chances = to_numpy(_check.vector(start, "start", size=states)).astype(np.float64)
    if chances.min() < 0.0 or abs(chances.sum() - 1.0) > 1e-8:
        raise ValueError(f"start must be probabilities that sum to 1; got {chances}")
    if np.count_nonzero(chances) == 1:
        return np.flatnonzero(chances)
    ends = chances.cumsum() / chances.sum()
    ends[np.flatnonzero(chances)[-1] :] = 1.0
    return np.asarray(ends)


def _coins(coins: Any, rewards: HostVector) -> tuple[float, float] | None:
    if coins is None:
        return None
    if not isinstance(coins, tuple) or len(coins) != 2:
        raise TypeError(f"coins must be None or two numbers; got {coins!r}")
    low, high = (_check.number(one, "coins") for one in coins)
    if not low < high or rewards.min() < low or rewards.max() > high:
        around = f"{rewards.min():g} to {rewards.max():g}"
        raise ValueError(f"coins must lie around all rewards, {around}; got {(low, high)}")
    return low, high
