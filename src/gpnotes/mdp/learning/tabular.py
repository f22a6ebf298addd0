"""Common parts of all learners: tables with a part for each run, and the step they learn from.

The runs are the vector: a table of values has the shape (runs, states, actions), and one step of
all runs is one update by indices. Tables are NumPy's, on the host. A learner writes into the state
that it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ...ground import check as _check
from ...ground.params import Parameters
from ...ground.random import Stream
from ...ground.showing import summary
from ...ground.xp import HostArray, HostMatrix, HostVector, to_numpy

__all__ = ["Learner", "LearnerState", "Transition"]

L = TypeVar("L")  # the state of any learner
M = TypeVar("M", bound="Clocked")


class Transition(NamedTuple):
    """One step of all runs.

    Parameters
    ----------
    states : HostVector, shape (runs,)
        The states, whole numbers.
    actions : HostVector, shape (runs,)
        The actions.
    rewards : HostVector, shape (runs,)
        The rewards.
    next_states : HostVector, shape (runs,)
        The states that were reached.
    terminated : HostVector, shape (runs,)
        Whether the episode ended there: nothing is earned after it.
    truncated : HostVector, shape (runs,)
        Whether it was broken off, as by a limit of time: later rewards still count.
    """

    states: HostVector
    actions: HostVector
    rewards: HostVector
    next_states: HostVector
    terminated: HostVector
    truncated: HostVector

    def __repr__(self) -> str:
        return summary(self)


@dataclass(frozen=True, eq=False)
class LearnerState:
    """The state of a learner: its table of action values, and its counts of visits.

    Parameters
    ----------
    values : HostArray, shape (runs, states, actions)
        The values of the actions; −inf for those that are not available in a state.
    visits : HostArray, shape (runs, states, actions)
        How often each action was taken in each state.
    time : int, default 0
        How many steps each run has taken.
    """

    values: HostArray
    visits: HostArray
    time: int = 0

    __repr__ = summary

    def values_at(self, states: HostVector) -> HostArray:
        """Return the values of the actions in the state of each run, (runs, actions)."""
        return rows(self.values, states)

    def visits_at(self, states: HostVector) -> HostArray:
        """Return how often each action was taken in the state of each run, (runs, actions)."""
        return rows(self.visits, states)

    @property
    def greedy(self) -> HostArray:
        """The best action of each state, of those as good the first; (runs, states)."""
        return np.asarray(self.values.argmax(-1))


class Clocked(Parameters, Protocol):
    """A state of a learner, which is a dataclass, that counts the steps."""

    @property
    def time(self) -> int:
        """The number of steps that each run has taken."""
        ...


class Learner(Protocol[L]):
    """A learner: `init`, `act` and `step`, each for all runs at once."""

    def init(self, num_states: int, num_actions: int, runs: int, /) -> L:
        """Return the learner's state for runs that have seen nothing."""
        ...

    def act(self, learned: L, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        ...

    def step(self, learned: L, transition: Transition, stream: Stream, /) -> L:
        """Learn from one transition of each run; the learner's state is written into."""
        ...


@lru_cache(maxsize=64)
def offsets(runs: int, states: int) -> HostVector:
    """Where the rows of each run begin in a table with a row for each run and state."""
    begins = np.arange(runs) * states
    begins.flags.writeable = False
    return begins


def rows(table: HostArray, states: HostVector) -> HostArray:
    """The rows (runs, A) of a table (runs, S, A) at the state of each run."""
    runs, count, width = table.shape
    found: HostArray = table.reshape(runs * count, width).take(offsets(runs, count) + states, 0)
    return found


def row_max(values: HostMatrix) -> HostVector:
    """The largest entry of each row; for rows as short as these faster than NumPy's `max`."""
    places = values.argmax(1)
    places += offsets(*values.shape)
    return values.reshape(-1)[places]


def nth_true(truths: HostMatrix, rank: HostVector) -> HostVector:
    """Where in each row the entry is that has `rank` others before it that are true."""
    return np.asarray((truths.cumsum(1) <= rank[:, None]).sum(1))


def any_true(which: HostVector) -> bool:
    """Return True if any entry is true; for short vectors faster than NumPy's `any`."""
    return bool(np.count_nonzero(which))


def flat_indices(table: HostArray, states: HostVector, actions: HostVector) -> HostVector:
    """Where the pairs of each run stand in a table (runs, S, A) laid flat."""
    runs, count, width = table.shape
    pairs = offsets(runs, count) + states
    pairs *= width
    pairs += actions
    return pairs


def flat(table: HostArray) -> HostVector:
    """A table laid flat, for `flat_indices`; to write into it is to write into the table."""
    return table.reshape(-1)


def later(learned: M, **changed: object) -> M:
    """The learner's state one step later."""
    new = object.__new__(type(learned))  # `replace` takes as long as four operations on all runs
    parts = vars(new)
    parts.update(vars(learned), **changed)
    parts["time"] += 1
    return new


def sizes(num_states: int, num_actions: int, runs: int) -> tuple[int, int, int]:
    """Return the shape (runs, states, actions), if each is a whole number from 1."""
    shape = {"runs": runs, "num_states": num_states, "num_actions": num_actions}
    checked = [_check.whole(value, name, 1) for name, value in shape.items()]
    return checked[0], checked[1], checked[2]


def initial_table(values: float | HostArray, shape: tuple[int, ...]) -> HostArray:
    """A new table (runs, …), whose every run begins with `values`: a number, or a table (…)."""
    if hasattr(values, "shape") and values.shape != shape[1:]:
        expected = ", ".join(map(str, shape[1:]))
        raise ValueError(
            f"initial_values must be a number or have shape ({expected}); got {values.shape}"
        )
    # In the order of C: a table laid flat must be the table itself, no copy.
    return np.array(np.broadcast_to(np.asarray(values, dtype=np.float64), shape), order="C")


def check_initial_values(values: float | HostArray) -> float | HostArray:
    """Return first values, if they are a finite number or an array of them: a copy on the host."""
    given: Any = values
    if getattr(given, "ndim", 0) == 0:
        return _check.number(given, "initial_values")
    given = _check.floating(given, "initial_values")
    return _check.finite(np.array(to_numpy(given), dtype=np.float64), "initial_values")
