"""The loop of common learners for a few runs in an environment of gymnasium, on Python's numbers.

There an environment takes its steps one by one, and a call of NumPy for the one entry of each run
costs more than the entry. It is the walk of `running`, with the same random numbers in the same
order and the same operations on them: results agree to the last bit.

A run is a generator: it is sent the time, takes a step, and yields whether an episode is over. Its
state is in local names, the fastest that Python has.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from ...ground.random import Stream
from ...ground.xp import HostArray, HostVector
from .gymnasium_environment import EnvironmentCopy, GymnasiumEnvironment, begin, copies_of
from .mdp_environment import Environment
from .numba_loops import PENDING, ScheduleTables, refused_learner
from .schedules import Schedule
from .tabular import Learner, LearnerState
from .td_control import SARSA, QLearning, no_pending

__all__ = ["PlainLoop", "serves"]

_MOST_RUNS = 16  # from more on all at once are as fast
_MOST = 100_000  # rows and episodes kept as Python's numbers, four times as large as arrays

Arrays: TypeAlias = tuple[HostVector, ...]
Row: TypeAlias = tuple[list[float], list[int]]  # the values and the visits of a state
Value: TypeAlias = Callable[[Row, int], float]  # of a state, at a time
Learn: TypeAlias = Callable[[Row, int, int, float, Row, bool, bool, int], None]
Draw: TypeAlias = Callable[[], float]
Walk: TypeAlias = Generator[bool, int, None]
Pending: TypeAlias = tuple[tuple[int, int], float, float, bool]  # as SARSAState, of one run
Ended: TypeAlias = list[tuple[int, int, float, int]]  # run, step, return and length


def serves(learner: Learner[Any], environment: Environment, runs: int, record: bool) -> bool:
    """Return True if this loop knows the learner, and is the faster one."""
    fits = type(environment) is GymnasiumEnvironment and runs <= _MOST_RUNS and not record
    return fits and not refused_learner(learner, environment.num_actions)


class PlainLoop:
    """A few runs on their way.

    Parameters
    ----------
    learner, environment, horizon
        As of a run; the environment stands where the runs are.
    learned : LearnerState
        The state of the learner; `settled` writes into its tables.
    sums : tuple of three HostVector, each of shape (runs,)
        Returns and lengths of the episodes so far, and the rewards of the block.
    tables : ScheduleTables
        The tables that were made so far.
    stream : Stream
        The source of random numbers.
    """

    def __init__(
        self, learner: Learner[Any], environment: GymnasiumEnvironment, learned: LearnerState,
        sums: Arrays, tables: ScheduleTables, horizon: int | None, stream: Stream,
    ) -> None:  # fmt: skip
        self.learner, self.environment, self.learned = cast(Any, learner), environment, learned
        self.tables, self.stream, self.limit = tables, stream, horizon or float("inf")
        pairs = zip(learned.values, learned.visits, strict=True)
        self.rows, self.time = [_Rows(*pair) for pair in pairs], learned.time
        columns = zip(*(part.tolist() for part in sums), strict=True)
        self.sums = [_Sums(*column) for column in columns]
        self.waiting = _waiting(learned) if type(learner) is SARSA else []
        self.ended, self.rules, self.most_counted = Ended(), list[tuple[Any, ...]](), 0

    def advance(self, steps: int, pressed: list[int]) -> int:
        """Take so many steps in all runs, or those to an interrupt; return how many they were."""
        walks = self._walks(self.time + steps + 1)
        for walk in walks:
            next(walk)
        sends, over = [(i, walk.send) for i, walk in enumerate(walks)], list[int]()
        before = self.time
        for time in range(before, before + steps):
            for i, send in sends:
                if send(time):
                    over.append(i)
            if over:
                begin(self.environment, over, self.stream)
                over.clear()
            if pressed:
                break
        for walk in walks:
            walk.close()
        self.time = time + 1
        return self.time - before

    def earned(self) -> list[float]:
        """Return the rewards of the block in each run, and begin another."""
        earned = [one.earned for one in self.sums]
        for sums in self.sums:
            sums.earned = 0.0
        return earned

    @property
    def is_full(self) -> bool:
        """Return True if so many updates wait that they should go into the tables."""
        return sum(len(rows.known) for rows in self.rows) + len(self.ended) > _MOST

    def settled(self) -> tuple[LearnerState, HostVector, Arrays, list[Arrays]]:
        """Return learner's state, states, sums and new episodes, now all of them arrays."""
        for rows in self.rows:
            rows.write()
        waiting = [waits() for waits in self.waiting]
        pending = _pending(waiting, *self.learned.values.shape[1:]) if waiting else {}
        self.learned = replace(self.learned, time=self.time, **pending)
        states = np.asarray([env_copy.state for env_copy in copies_of(self.environment)])
        sums = _arrays([(one.returns, one.length, one.earned) for one in self.sums])
        ended = [_arrays(self.ended)] if self.ended else []
        self.ended, self.most_counted = Ended(), 0
        return self.learned, states, sums, ended

    def _walks(self, max_count: int) -> list[Walk]:
        """The runs for one block, after which nothing is counted so often."""
        if max_count > self.most_counted:
            self.most_counted = 2 * max_count
            self.rules = self._new_rules(self.most_counted)
        parts = zip(copies_of(self.environment), self.rows, self.sums, self.rules, strict=True)
        return [
            _walk(i, env_copy, rows, sums, self.ended, self.limit, *rules)
            for i, (env_copy, rows, sums, rules) in enumerate(parts)
        ]

    def _new_rules(self, max_count: int) -> list[tuple[Learn, Draw | None, _Rate]]:
        """Return each run's update, source of uniform numbers, and exploration rate."""
        learner, rule = self.learner, self.learner.exploration
        policy = getattr(learner, "policy", None) or rule
        schedules = learner.step_size, rule.epsilon, policy.epsilon
        step_size, epsilon, share = (_Rate.of(one, self.tables, max_count) for one in schedules)
        value = _highest if type(learner) is QLearning else _mean(share)
        settings = learner.discount, step_size, value
        learns = [_learning(*settings)] * len(self.rows)
        if self.waiting:
            waits = zip(self.rows, self.waiting, strict=True)
            pairs = [_learning_pairs(*settings, rows, waiting()) for rows, waiting in waits]
            learns, self.waiting = [list(column) for column in zip(*pairs, strict=True)]
        draw = self.stream.generator.random
        return [(learn, draw, epsilon) for learn in learns]


class _Rows(list[Any]):
    """The rows of one run that were looked at since its tables were written into, others None."""

    def __init__(self, values: HostArray, visits: HostArray) -> None:
        super().__init__([None] * len(values))
        self.values, self.visits, self.known = values, visits, list[int]()

    def read(self, state: int) -> Row:
        """A row that was not looked at yet."""
        row: Row = (self.values[state].tolist(), self.visits[state].tolist())
        self[state] = row
        self.known.append(state)
        return row

    def write(self) -> None:
        """Write all into the tables."""
        if self.known:
            values, visits = zip(*(self[state] for state in self.known), strict=True)
            self.values[self.known], self.visits[self.known] = values, visits
        for state in self.known:
            self[state] = None
        self.known.clear()


@dataclass
class _Sums:
    """The rewards of a run so far: of its episode, with the number of steps, and of the block."""

    returns: float
    length: int
    earned: float


class _Rate(NamedTuple):
    """The values of a schedule by a count: of visits, of steps, or one value for all."""

    values: list[float]
    by_visits: bool
    by_time: bool

    @classmethod
    def of(cls, schedule: Schedule, tables: ScheduleTables, max_count: int) -> _Rate:
        values, by_visits = tables.listed(schedule, max_count)
        return cls(values, by_visits, len(values) > 1 and not by_visits)


def _walk(
    run: int, env_copy: EnvironmentCopy, rows: _Rows, sums: _Sums, ended: Ended, limit: float,
    learn: Learn, draw: Draw, rate: _Rate,
) -> Walk:  # fmt: skip
    """One run: sent the time, it takes a step, and yields whether an episode is over."""
    step, played, read = env_copy.env.step, env_copy.actions.append, rows.read
    number, element, check = env_copy.number, env_copy.element, env_copy.check
    shares, by_visits, by_time = rate
    epsilon, width = shares[0], rows.values.shape[1]
    returns, length, earned = sums.returns, sums.length, sums.earned
    over = True
    time = yield False
    try:
        while True:
            if over:
                state = env_copy.state
                row = rows[state] or read(state)
            if by_visits:
                epsilon = shares[sum(row[1])]
            elif by_time:
                epsilon = shares[time]
            if (uniform := draw()) < epsilon:
                action = min(int(uniform / epsilon * width), width - 1)
            else:
                values = row[0]
                highest = max(values)
                action = values.index(highest)
                if (tied := values.count(highest)) > 1:
                    rank = min(int((uniform - epsilon) / (1.0 - epsilon) * tied), tied - 1)
                    for _ in range(rank):
                        action = values.index(highest, action + 1)
            played(action)
            reached, reward, terminated, truncated, _ = step(element(action) if element else action)
            onward, reward, length = number(reached), float(reward), length + 1
            check(onward, reward)
            over = terminated or truncated or length >= limit
            next_row = rows[onward] or read(onward)
            learn(row, state, action, reward, next_row, terminated, over, time)
            earned += reward
            returns += reward
            state, row = onward, next_row
            if over:
                ended.append((run, time + 1, returns, length))
                returns, length = 0.0, 0
            time = yield over
    finally:
        if not over:
            env_copy.state = state
        sums.returns, sums.length, sums.earned = returns, length, earned


def _arrays(rows: Sequence[tuple[float, ...]]) -> Arrays:
    kinds = {int: np.int64, float: np.float64}
    columns = zip(*rows, strict=True)
    return tuple(np.asarray(column, kinds[type(column[0])]) for column in columns)


def _waiting(learned: Any) -> list[Callable[[], Pending]]:
    """Return, for each run, a function that gives the step of SARSA that awaits its next action."""
    _, num_states, width = learned.values.shape
    columns = zip(*(getattr(learned, name).tolist() for name in PENDING), strict=True)
    places = [((pair // width % num_states, pair % width), *others) for pair, *others in columns]
    return [partial(_itself, place) for place in places]


def _itself(place: Pending) -> Pending:
    return place


def _pending(waiting: list[Pending], num_states: int, width: int) -> dict[str, HostVector]:
    """The same as parts of the state of SARSA."""
    kinds = {name: part.dtype for name, part in no_pending(1).items()}
    rows = [
        ((i * num_states + state) * width + action, *others)
        for i, ((state, action), *others) in enumerate(waiting)
    ]
    columns = zip(PENDING, zip(*rows, strict=True), strict=True)
    return {name: np.asarray(column, kinds[name]) for name, column in columns}


def _highest(row: Row, time: int) -> float:
    return max(row[0])


def _mean(epsilon: _Rate) -> Value:
    """The mean over the actions of `EpsilonGreedy`."""
    shares, by_visits, by_time = epsilon

    def mean(row: Row, time: int) -> float:
        values, visits = row
        highest, value = max(values), 0.0
        tied = values.count(highest)
        explored = shares[sum(visits) if by_visits else time if by_time else 0]
        for one in values:
            probability = explored / len(values)
            if one == highest:
                probability += (1.0 - explored) / tied
            value += probability * one
        return value

    return mean


def _learning(discount: float, step_size: _Rate, value: Value) -> Learn:
    """Learn from one step, by the value of where it led."""
    alphas, by_visits, by_time = step_size

    def learn(
        row: Row, state: int, action: int, reward: float, onward: Row, terminated: bool,
        over: bool, time: int,
    ) -> None:  # fmt: skip
        values, visits = row
        ahead = 0.0 if terminated else value(onward, time)
        count, old = visits[action], values[action]
        alpha = alphas[count if by_visits else time if by_time else 0]
        visits[action] = count + 1
        values[action] = old + alpha * (reward + discount * ahead - old)

    return learn


def _learning_pairs(
    discount: float, step_size: _Rate, value: Value, rows: _Rows, waiting: Pending
) -> tuple[Learn, Callable[[], Pending]]:
    """SARSA: learn from the step before, and from the last of an episode at once.

    Also a function that says which step waits.
    """
    alphas, by_visits, by_time = step_size
    pair, earned, share, pending = waiting
    before = (rows[pair[0]] or rows.read(pair[0]))[0]

    def learn(
        row: Row, state: int, action: int, reward: float, onward: Row, terminated: bool,
        over: bool, time: int,
    ) -> None:  # fmt: skip
        nonlocal before, pair, earned, share, pending
        values, visits = row
        count = visits[action]
        alpha = alphas[count if by_visits else time if by_time else 0]
        visits[action] = count + 1
        if pending:
            old = before[pair[1]]
            before[pair[1]] = old + share * (earned + discount * values[action] - old)
        before, pair, earned, share, pending = values, (state, action), reward, alpha, not over
        if over:
            ahead, old = 0.0 if terminated else value(onward, time), values[action]
            values[action] = old + alpha * (reward + discount * ahead - old)

    return learn, lambda: (pair, earned, share, pending)
