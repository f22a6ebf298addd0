"""The loop of common learners in an `MDPEnvironment`, for Numba to compile.

It says the updates of three learners once more, for a quarter of the time (benchmarks/README.md).
It is the walk of `running`, run by run instead of all at once, with the same random numbers in the
same order and the same operations on them: results agree to the last bit. Without Numba it
is an ordinary function of Python, which tests compare so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np

from ...ground.numba_functions import compiled_functions
from ...ground.xp import HostArray, HostVector
from .exploration import EpsilonGreedy
from .mdp_environment import Environment, MDPEnvironment
from .schedules import ConstantSchedule, Schedule
from .tabular import Learner, LearnerState
from .td_control import SARSA, ExpectedSARSA, QLearning, no_pending

__all__ = [
    "PENDING", "ScheduleTables", "advance", "compiled", "refused", "refused_learner", "walk",
]  # fmt: skip

StepSizes: TypeAlias = tuple[HostVector, bool]  # values by counts; whether of visits
Arrays: TypeAlias = tuple[HostVector, ...]
_LEARNER_KINDS: dict[type, int] = {QLearning: 0, SARSA: 1, ExpectedSARSA: 2}
_WIDTH = 8  # from so many terms on NumPy sums in another order
_MAX_EPISODES = 1_000_000  # episodes that one call may see to their end
_AT_ONCE = 256  # steps that a run takes before the next: draws of a hundred are half a megabyte
PENDING = ("pairs", "rewards", "step_sizes", "pending")


def refused(learner: Learner[Any], environment: Environment, record: bool) -> str:
    """Return why the compiled loop cannot serve; the empty string where it can."""
    if needed := refused_learner(learner, 0):
        return needed
    if type(environment) is not MDPEnvironment:
        return "an MDPEnvironment"
    return refused_learner(learner, environment.num_actions) or ("record=False" if record else "")


def refused_learner(learner: Learner[Any], num_actions: int) -> str:
    """Return why a loop over single runs cannot serve a learner; empty where it can."""
    policies = [getattr(learner, name, None) for name in ("exploration", "policy")]
    if type(learner) not in _LEARNER_KINDS or type(policies[0]) is not EpsilonGreedy:
        return "QLearning, SARSA or ExpectedSARSA, with EpsilonGreedy"
    if policies[1] is not None and type(policies[1]) is not EpsilonGreedy:
        return "EpsilonGreedy as policy"
    if type(learner) is not QLearning and num_actions >= _WIDTH:
        return f"fewer than {_WIDTH} actions, but for QLearning"
    return ""


@cache
def compiled() -> Callable[..., int]:
    """`walk` compiled by Numba, once in each process."""
    parts = _num_available, _best, _choose_action, _first_above, _state_value, _restarted, walk
    return compiled_functions(globals(), *parts)["walk"]


class ScheduleTables:
    """The values of schedules, worked out once for as many counts as were needed so far."""

    def __init__(self) -> None:
        self.held: dict[int, HostVector] = {}
        self.lists: dict[int, list[float]] = {}
        self.over: Arrays = ()

    def of(self, schedule: Schedule, num_counts: int) -> tuple[HostVector, bool]:
        """Return the values at fewer counts than are given, and whether visits are counted."""
        if isinstance(schedule, ConstantSchedule):
            return np.asarray([schedule.value]), False
        values = self.held.get(id(schedule), np.zeros(0))
        if values.size < num_counts:
            size = max(2 * values.size, num_counts, 1024)
            values = np.array(schedule(np.arange(size)), dtype=np.float64)
            self.held[id(schedule)] = values
        return values, schedule.clock == "visits"

    def listed(self, schedule: Schedule, num_counts: int) -> tuple[list[float], bool]:
        """The same as a list."""
        if isinstance(schedule, ConstantSchedule):
            return [schedule.value], False
        known = self.lists.get(id(schedule), [])
        if len(known) < num_counts:
            self.lists[id(schedule)] = known = self.of(schedule, num_counts)[0].tolist()
        return known, schedule.clock == "visits"

    def room(self, size: int) -> Arrays:
        """Arrays for so many episodes; the same ones again, as new ones cost more than a walk."""
        if not self.over or self.over[0].size < size:
            kinds = np.int64, np.int64, np.float64, np.int64
            self.over = tuple(np.empty(size, kind) for kind in kinds)
        return self.over


def advance(
    loop: Callable[..., int], learner: Learner[Any], environment: MDPEnvironment,
    learned: LearnerState, tables: ScheduleTables, steps: int, horizon: int | None,
    states: HostVector, sums: Arrays, generator: np.random.Generator,
) -> tuple[LearnerState, list[Arrays]]:  # fmt: skip
    """Take steps in all runs, by `walk` or its compiled version.

    Parameters
    ----------
    loop : callable
        The one of them.
    learner, environment, learned, steps, horizon
        As of a run.
    tables : ScheduleTables
        The tables that were made so far.
    states, sums : HostVector, tuple of three of them
        The states of the runs; the returns and lengths of their episodes, and the rewards of the
        block. They are written into.
    generator : numpy.random.Generator
        The source of random numbers.

    Returns
    -------
    learned : object
        The state of the learner then.
    ended : list of tuple
        Run, step, return and length of the episodes that were over.
    """
    runs, ended, settings = states.shape[0], list[Arrays](), cast(Any, learner)
    pending_step: Any = {name: np.array(getattr(learned, name, 0)) for name in PENDING}
    if type(learner) is not SARSA:
        pending_step = no_pending(runs)
    low, high = environment.binary_rewards or (0.0, 0.0)
    layout = environment.layout  # one kind of starts: for another Numba would compile once more
    layout = layout._replace(starts=layout.starts.astype(np.float64))
    parts = (*layout, environment.binary_rewards is not None, low, high)
    policy = getattr(learner, "policy", None) or settings.exploration
    schedules = (settings.step_size, settings.exploration.epsilon, policy.epsilon)
    time, max_count = learned.time, learned.time + steps + 1  # nothing is visited more often
    step_sizes = [tables.of(schedule, max_count) for schedule in schedules]
    while steps:
        count = min(steps, max(1, _MAX_EPISODES // runs))
        buffers = tables.room(count * runs)
        num_ended = loop(
            _LEARNER_KINDS[type(learner)], count, time, settings.discount, horizon or 0,
            *step_sizes, parts, tuple(pending_step[name] for name in PENDING), sums,
            learned.values, learned.visits, states, generator, buffers,
        )  # fmt: skip
        # by step, and by run as they are: numbers of few bits are sorted in half the time
        late = (buffers[1][:num_ended] - time).astype(np.min_scalar_type(count))
        order = np.argsort(late, kind="stable")
        ended.append(tuple(part[order] for part in buffers))
        time, steps = time + count, steps - count
    new_pending = pending_step if type(learner) is SARSA else {}
    return replace(learned, time=time, **new_pending), ended


def _num_available(table: HostVector, row: int, width: int) -> int:
    """Return the number of actions of a state: those whose value is not −inf."""
    count = 0
    for a in range(width):
        count += table[row + a] != -np.inf
    return count


def _best(table: HostVector, row: int, width: int) -> tuple[float, int, int]:
    """The highest value of a row, how many actions have it, and the first of these."""
    highest, count, first = table[row], 1, 0
    for a in range(1, width):
        if table[row + a] > highest:
            highest, count, first = table[row + a], 1, a
        elif table[row + a] == highest:
            count += 1
    return highest, count, first


def _choose_action(
    table: HostVector, counts: HostVector, row: int, num_actions: int, time: int,
    epsilon: StepSizes, uniform: float, best: tuple[float, int, int],
) -> int:  # fmt: skip
    """The action that `EpsilonGreedy.choose` takes in one run."""
    values, by_visits = epsilon
    count = counts[row : row + num_actions].sum() if by_visits else time
    probability = values[min(count, values.size - 1)]
    if uniform < probability:
        available = _num_available(table, row, num_actions)
        rank = min(int(uniform / probability * available), available - 1)
        for action in range(num_actions - 1):
            if table[row + action] != -np.inf:
                if rank == 0:
                    return action
                rank -= 1
        return num_actions - 1
    highest, tied, first = best
    if tied == 1:
        return first
    rank = min(int((uniform - probability) / (1.0 - probability) * tied), tied - 1)
    for action in range(first, num_actions - 1):
        if table[row + action] == highest:
            if rank == 0:
                return action
            rank -= 1
    return num_actions - 1


def _first_above(keys: HostVector, first: int, last: int, key: float) -> int:
    """The first key above a number, between two."""
    while first < last:
        middle = (first + last) // 2
        if keys[middle] > key:
            last = middle
        else:
            first = middle + 1
    return first


def _state_value(
    table: HostVector,
    counts: HostVector,
    row: int,
    width: int,
    time: int,
    policy: StepSizes,
) -> float:
    """The value of a state: the mean of its actions' values by a policy."""
    highest, tied, _ = _best(table, row, width)
    values, by_visits = policy
    count = counts[row : row + width].sum() if by_visits else time
    explored = values[min(count, values.size - 1)]
    value = 0.0
    available = _num_available(table, row, width)
    for a in range(width):
        if table[row + a] == -np.inf:
            continue
        probability = explored / available
        if table[row + a] == highest:
            probability += (1.0 - explored) / tied
        value += probability * table[row + a]
    return value


def _restarted(
    over: HostVector, states: HostVector, starts: HostVector, generator: np.random.Generator
) -> None:
    """Draw where the runs that are over begin anew."""
    for i in range(over.size):
        uniform = generator.random()
        if over[i]:
            states[i] = np.searchsorted(starts, uniform, side="right")


def walk(  # noqa: C901 - the loop that Numba compiles, in one piece
    kind: int, steps: int, time: int, discount: float, horizon: int,
    step_size: StepSizes, epsilon: StepSizes, policy: StepSizes, environment: tuple[Any, ...],
    pending_step: Arrays, sums: Arrays, values: HostArray, visits: HostArray, states: HostVector,
    generator: np.random.Generator, ended: Arrays,
) -> int:  # fmt: skip
    """Take steps in all runs; return how many episodes were over. All arrays are written into.

    Numbers are drawn for all runs, step by step; then each run takes its steps alone, so that its
    tables stay in the cache. Where a start is drawn, the runs walk one step at a time. Q-learning
    looks at a row once: its best as the value of a state is that to act by, unless the row changed.
    """
    keys, successors, earns, terminal, starts, begins, binary_rewards, low, high = environment
    at, reward_before, step_size_before, pending = pending_step
    runs, num_states, num_actions = values.shape
    table, counts = values.reshape(-1), visits.reshape(-1)
    over = np.zeros(runs, np.bool_)
    num_ended, taken = 0, 0
    while taken < steps:
        count = min(steps - taken, _AT_ONCE if starts.size == 1 else 1)
        drawn = generator.random((count, 3 if binary_rewards else 2, runs))
        for i in range(runs):
            state, length, total, earned = states[i], sums[1][i], sums[0][i], sums[2][i]
            best, known = (0.0, 0, 0), False
            for k in range(count):
                row = (i * num_states + state) * num_actions
                if not known:
                    best = _best(table, row, num_actions)
                action = _choose_action(
                    table, counts, row, num_actions, time + k, epsilon, drawn[k, 0, i], best
                )
                pair, here = state * num_actions + action, row + action
                key = drawn[k, 1, i] + 2 * pair
                reached = successors[_first_above(keys, begins[pair], begins[pair + 1] - 1, key)]
                reward = earns[pair]
                if binary_rewards:
                    reward = high if drawn[k, 2, i] * (high - low) < reward - low else low
                length += 1
                end = terminal[reached]
                over[i] = end or (horizon > 0 and length >= horizon)
                row, value = (i * num_states + reached) * num_actions, 0.0
                if kind == 0 and not end:
                    best = _best(table, row, num_actions)
                    value = best[0]
                elif kind == 2 and not end:
                    value = _state_value(table, counts, row, num_actions, time + k, policy)
                known = kind == 0 and reached != state and not over[i]
                seen = counts[here] if step_size[1] else time + k
                alpha = step_size[0][min(seen, step_size[0].size - 1)]
                counts[here] += 1
                if kind == 1:
                    if pending[i]:
                        old = table[at[i]]
                        target = reward_before[i] + discount * table[here]
                        table[at[i]] = old + step_size_before[i] * (target - old)
                    at[i], reward_before[i], step_size_before[i] = here, reward, alpha
                    pending[i] = not over[i]
                    if over[i] and not end:
                        value = _state_value(table, counts, row, num_actions, time + k, policy)
                if kind != 1 or over[i]:
                    old = table[here]
                    table[here] = old + alpha * (reward + discount * value - old)
                earned += reward
                total += reward
                state = reached
                if over[i]:
                    ended[0][num_ended], ended[1][num_ended] = i, time + k + 1
                    ended[2][num_ended], ended[3][num_ended] = total, length
                    num_ended, total, length = num_ended + 1, 0.0, 0
                    if starts.size == 1:
                        state = int(starts[0])
            states[i], sums[1][i], sums[0][i], sums[2][i] = state, length, total, earned
        time, taken = time + count, taken + count
        if starts.size > 1 and over.any():
            _restarted(over, states, starts, generator)
    return num_ended
