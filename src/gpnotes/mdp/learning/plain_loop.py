"""The loop of common learners for a few runs in an environment of gymnasium, on Python's numbers.

There an environment takes its steps one by one, and a call of NumPy for the one entry of each run
costs more than the entry. It is the walk of `running`, with the same random numbers in the same
order and the same operations on them: what comes out agrees to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from ...ground.random import Stream
from ...ground.xp import HostVector
from .gymnasium_environment import GymnasiumEnvironment, begun, steppers
from .mdp_environment import Environment
from .numba_loops import PENDING, ScheduleTables, refused_learner
from .tabular import Learner, LearnerState
from .td_control import SARSA, QLearning, no_pending

__all__ = ["advance", "serves"]

_MOST = 16  # runs; from more on all at once are as fast

Arrays: TypeAlias = tuple[HostVector, ...]
Act: TypeAlias = Callable[[int, int], int]  # from where a row begins, and the time
Worth: TypeAlias = Callable[[int, int], float]  # of the state of a row, at a time
Learn: TypeAlias = Callable[[int, int, float, int, bool, bool, int], None]


def serves(learner: Learner[Any], environment: Environment, runs: int, record: bool) -> bool:
    """Whether this loop knows the learner, and is the faster one."""
    fits = type(environment) is GymnasiumEnvironment and runs <= _MOST and not record
    return fits and not refused_learner(learner, environment.num_actions)


class _Tables(NamedTuple):
    """What a learner knows, laid flat, as Python reads and writes it; the width of a row."""

    values: Any
    visits: Any
    width: int


class _Schedule(NamedTuple):
    """The values of a schedule at counts, of which the last one stays; whether of visits."""

    values: list[float]
    by_visits: bool

    def of_state(self, known: _Tables) -> Worth:
        """The value in a state, whose visits are those of all its actions."""
        values, last = self.values, len(self.values) - 1
        if not last:
            only = values[0]
            return lambda row, time: only
        if not self.by_visits:
            return lambda row, time: values[min(time, last)]
        visits, width = known.visits, known.width
        return lambda row, time: values[min(sum(visits[row : row + width]), last)]

    def of_pair(self, known: _Tables) -> Worth:
        """The value for a pair."""
        values, visits, last = self.values, known.visits, len(self.values) - 1
        if not last:
            only = values[0]
            return lambda here, time: only
        if self.by_visits:
            return lambda here, time: values[min(visits[here], last)]
        return lambda here, time: values[min(time, last)]


def advance(
    learner: Learner[Any], environment: GymnasiumEnvironment, learned: LearnerState,
    tables: ScheduleTables, steps: int, horizon: int | None, states: HostVector, sums: Arrays,
    stream: Stream,
) -> tuple[LearnerState, list[Arrays]]:  # fmt: skip
    """Take steps in all runs; arguments and result are those of `numba_loops.advance`."""
    runs, num_states, width = learned.values.shape
    flat: Any = learned.values.reshape(-1), learned.visits.reshape(-1)
    known = _Tables(memoryview(flat[0]), memoryview(flat[1]), width)
    max_count = learned.time + steps + 1  # no pair was seen more often than there were steps
    waiting, pending = _waiting(learner, learned)
    act, learn = _rules(learner, known, lambda one: _Schedule(*tables.listed(one, max_count)),
                        stream, waiting)  # fmt: skip
    returns, lengths, earned = (part.tolist() for part in sums)
    at, ended, time = states.tolist(), list[tuple[int, int, float, int]](), learned.time
    begins, take = [i * num_states for i in range(runs)], steppers(environment)
    limit = horizon or float("inf")
    for _ in range(steps):
        over = []
        for i, step in enumerate(take):
            row = (begins[i] + at[i]) * width
            action = act(row, time)
            at[i], reward, terminated, truncated = step(action)
            lengths[i] = length = lengths[i] + 1
            ends = terminated or truncated or length >= limit
            learn(i, row + action, reward, (begins[i] + at[i]) * width, terminated, ends, time)
            earned[i] += reward
            returns[i] += reward
            if ends:
                over.append(i)
        time += 1
        if over:
            ended += [(i, time, returns[i], lengths[i]) for i in over]
            _begin_anew(environment, over, (at, returns, lengths), stream)
    states[:] = at
    for part, now in zip(sums, (returns, lengths, earned), strict=True):
        part[:] = now
    return replace(learned, time=time, **pending(waiting)), [_columns(ended)]


def _begin_anew(
    environment: GymnasiumEnvironment,
    over: list[int],
    lists: tuple[list[int], list[float], list[int]],
    stream: Stream,
) -> None:
    at, returns, lengths = lists
    for i, state in zip(over, begun(environment, over, stream), strict=True):
        at[i], returns[i], lengths[i] = state, 0.0, 0


def _columns(ended: list[tuple[int, int, float, int]]) -> Arrays:
    columns = zip(*ended, strict=True) if ended else ((),) * 4
    kinds = np.int64, np.int64, np.float64, np.int64
    return tuple(np.asarray(part, kind) for part, kind in zip(columns, kinds, strict=True))


_Waiting: TypeAlias = list[list[Any]]  # for each of PENDING a list with an entry for each run


def _waiting(
    learner: Learner[Any], learned: LearnerState
) -> tuple[_Waiting, Callable[[_Waiting], dict[str, HostVector]]]:
    """The steps of SARSA that wait, and what makes them parts of its state again."""
    if type(learner) is not SARSA:
        return [], lambda waiting: {}
    kinds = {name: part.dtype for name, part in no_pending(1).items()}
    lists = [np.asarray(getattr(learned, name)).tolist() for name in PENDING]
    return lists, lambda waiting: {
        name: np.asarray(part, kinds[name]) for name, part in zip(PENDING, waiting, strict=True)
    }


def _rules(
    learner: Learner[Any],
    known: _Tables,
    schedule: Callable[[Any], _Schedule],
    stream: Stream,
    waiting: _Waiting,
) -> tuple[Act, Learn]:
    """How a learner acts and learns, in one run."""
    settings = cast(Any, learner)
    epsilon = schedule(settings.exploration.epsilon).of_state(known)
    act = _best(known) if settings.exploration.is_greedy else _acting(known, epsilon, stream)
    policy = getattr(learner, "policy", None) or settings.exploration
    value = _highest(known)
    if type(learner) is not QLearning:
        value = _mean(known, schedule(policy.epsilon).of_state(known))
    step_size = schedule(settings.step_size).of_pair(known)
    if type(learner) is SARSA:
        return act, _learning_pairs(known, settings.discount, step_size, value, waiting)
    return act, _learning(known, settings.discount, step_size, value)


def _best(known: _Tables) -> Act:
    """The first of the best actions."""
    values, _, width = known

    def act(row: int, time: int) -> int:
        here: list[float] = values[row : row + width].tolist()
        return here.index(max(here))

    return act


def _acting(known: _Tables, epsilon: Worth, stream: Stream) -> Act:
    """The action that `EpsilonGreedy.choose` takes."""
    values, _, width = known
    draw = stream.generator.random

    def act(row: int, time: int) -> int:
        probability, uniform = epsilon(row, time), draw()
        if uniform < probability:
            return min(int(uniform / probability * width), width - 1)
        here: list[float] = values[row : row + width].tolist()
        return here.index(max(here))

    return act


def _highest(known: _Tables) -> Worth:
    values, _, width = known
    return lambda row, time: max(values[row : row + width].tolist())


def _mean(known: _Tables, epsilon: Worth) -> Worth:
    """The mean over the actions of `EpsilonGreedy`."""
    values, _, width = known

    def mean(row: int, time: int) -> float:
        here: list[float] = values[row : row + width].tolist()
        best, explored, value = here.index(max(here)), epsilon(row, time), 0.0
        for a, one in enumerate(here):
            probability = explored / width
            value += (probability + (1.0 - explored) if a == best else probability) * one
        return value

    return mean


def _learning(known: _Tables, discount: float, step_size: Worth, value: Worth) -> Learn:
    """Learn from one step, by the value of where it led."""
    values, visits, _ = known

    def learn(
        i: int, here: int, reward: float, row: int, terminated: bool, over: bool, time: int
    ) -> None:
        ahead = 0.0 if terminated else value(row, time)
        alpha = step_size(here, time)
        visits[here] += 1
        old = values[here]
        values[here] = old + alpha * (reward + discount * ahead - old)

    return learn


def _learning_pairs(
    known: _Tables, discount: float, step_size: Worth, value: Worth, waiting: _Waiting
) -> Learn:
    """SARSA: learn from the step before, and from the last of an episode at once."""
    values, visits, _ = known
    at, rewards, step_sizes, pending = waiting

    def learn(
        i: int, here: int, reward: float, row: int, terminated: bool, over: bool, time: int
    ) -> None:
        alpha = step_size(here, time)
        visits[here] += 1
        if pending[i]:
            old = values[at[i]]
            target = rewards[i] + discount * values[here]
            values[at[i]] = old + step_sizes[i] * (target - old)
        at[i], rewards[i], step_sizes[i], pending[i] = here, reward, alpha, not over
        if over:
            ahead = 0.0 if terminated else value(row, time)
            old = values[here]
            values[here] = old + alpha * (reward + discount * ahead - old)

    return learn
