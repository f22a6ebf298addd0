"""Decision processes: the best policy of large sparse ones, and a hundred runs of Q-learning."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from harness import Call, Task

from gpnotes import stream
from gpnotes.fast import sweeps
from gpnotes.mdp import MDP, solve
from gpnotes.mdp.learning import EpsilonGreedy, MDPEnvironment, PowerLawDecay, QLearning, run

DISCOUNT, SUCCESSORS = 0.99, 5
EPSILON, EXPONENT, RUNS, BLOCK = 0.1, 0.7, 100, 1000
_LOOKS, _ENOUGH, _MOST = 2, 0.05, 250


@dataclass(frozen=True)
class Problem:
    """n states with some actions, random successors and rewards, to be solved to a tolerance."""

    n: int
    actions: int = 10
    tolerance: float = 1e-8

    @cached_property
    def mdp(self) -> MDP:
        rng = np.random.default_rng(0)
        rows = self.n * self.actions
        to = rng.integers(0, self.n, (rows, SUCCESSORS), dtype=np.int32)
        p = rng.dirichlet(np.ones(SUCCESSORS), rows)
        starts = np.arange(0, rows * SUCCESSORS + 1, SUCCESSORS)
        P = sp.csr_array((p.ravel(), to.ravel(), starts), shape=(rows, self.n))
        return MDP(P, rng.normal(size=(self.n, self.actions)), DISCOUNT)

    @cached_property
    def products(self) -> Counter[int]:
        """How many products one call of `solve` makes, by the number of rows."""
        kind = type(self.mdp.transitions)
        counted: Counter[int] = Counter()
        plain = kind.__matmul__

        def counting(matrix: Any, other: Any) -> Any:
            counted[matrix.shape[0]] += 1
            return plain(matrix, other)

        kind.__matmul__, block = counting, sweeps._ENTRIES
        sweeps._ENTRIES = 2**62  # as one block, so that rows tell the products apart
        try:
            solve(self.mdp, tolerance=self.tolerance)
        finally:
            kind.__matmul__, sweeps._ENTRIES = plain, block
        return counted

    @staticmethod
    def apart(ours: Any, theirs: Any) -> float:
        return float(np.max(np.abs(ours - theirs)))


def floor(problem: Problem) -> Call:
    """The products alone, on a vector that stays the same."""
    mdp, counted = problem.mdp, problem.products
    found = solve(mdp, tolerance=problem.tolerance)
    chain, _ = mdp.induced_chain(found.policy)
    looks, steps = counted[mdp.num_states * mdp.num_actions], counted[mdp.num_states]

    def call() -> None:
        for _ in range(looks):
            _ = mdp.transitions @ found.values
        for _ in range(steps):
            _ = chain @ found.values

    return call


def ours(problem: Problem) -> Call:
    """The values by `solve`."""
    return lambda: solve(problem.mdp, tolerance=problem.tolerance).values


def plain_scipy(problem: Problem, threads: int = 1) -> Call:
    """Modified policy iteration as one writes it, twenty sweeps a policy, with threads."""
    mdp, tolerance = problem.mdp, problem.tolerance
    P, r = mdp.transitions, mdp.rewards
    every = np.arange(mdp.num_states) * mdp.num_actions
    aim = tolerance * (1.0 - DISCOUNT)
    pool = ThreadPoolExecutor(threads)

    def blocks(matrix: Any) -> list[Any]:
        bounds = np.linspace(0, matrix.shape[0], threads + 1).astype(int)
        return [matrix[a:b] for a, b in pairwise(bounds)] if threads > 1 else [matrix]

    def product(parts: list[Any], v: np.ndarray) -> np.ndarray:
        if len(parts) == 1:
            return parts[0] @ v
        return np.concatenate(list(pool.map(lambda part: part @ v, parts)))

    whole = blocks(P)

    def call() -> np.ndarray:
        v = np.zeros(mdp.num_states)
        while True:
            q = r + DISCOUNT * product(whole, v).reshape(r.shape)
            policy = np.argmax(q, axis=1)
            best = np.max(q, axis=1)
            step = best - v
            if np.ptp(step) <= aim:
                return best + DISCOUNT / (1 - DISCOUNT) * 0.5 * (step.max() + step.min())
            chain, earned = P[every + policy], r.reshape(-1)[every + policy]
            v, parts = best, blocks(chain)
            for _ in range(20):
                v = earned + DISCOUNT * product(parts, v)

    return call


def quantecon(problem: Problem) -> Call:
    """QuantEcon.py's modified policy iteration, on pairs of states and actions."""
    from quantecon.markov import DiscreteDP

    mdp, tolerance = problem.mdp, problem.tolerance
    S, A = mdp.rewards.shape
    s, a = np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
    given = DiscreteDP(mdp.rewards.ravel(), sp.csr_matrix(mdp.transitions), DISCOUNT, s, a)
    return lambda: given.solve(method="mpi", epsilon=tolerance, max_iter=10**6).v


def numba_loop(problem: Problem) -> Call:
    """Loops compiled by Numba, by the rules of ours; no array of action values is made."""
    look, sweep = _compiled()
    mdp, tolerance = problem.mdp, problem.tolerance
    P, r = mdp.transitions, mdp.rewards
    every = np.arange(mdp.num_states) * mdp.num_actions
    aim = tolerance * (1.0 - DISCOUNT)

    def call() -> np.ndarray:
        v, best = np.zeros(mdp.num_states), np.empty(mdp.num_states)
        policy = np.empty(mdp.num_states, dtype=np.int64)
        looks = 0
        while True:
            low, high = look(P.indptr, P.indices, P.data, r, DISCOUNT, v, best, policy)
            if high - low <= aim:
                return best + DISCOUNT / (1 - DISCOUNT) * 0.5 * (low + high)
            v, best, looks = best, v, looks + 1
            if looks <= _LOOKS:
                continue
            chain, earned = P[every + policy], r.reshape(-1)[every + policy]
            enough = max(aim / 3.0, _ENOUGH * (high - low))
            for _ in range(_MOST):
                span = sweep(chain.indptr, chain.indices, chain.data, earned, DISCOUNT, v, best)
                v, best = best, v
                if span <= enough:
                    break

    return call


@cache
def _compiled() -> tuple[Any, Any]:
    from numba import njit

    @njit
    def look(starts, columns, data, r, discount, v, best, policy):
        low, high = np.inf, -np.inf
        for s in range(r.shape[0]):
            most, first = -np.inf, 0
            for a in range(r.shape[1]):
                row, total = s * r.shape[1] + a, 0.0
                for j in range(starts[row], starts[row + 1]):
                    total += data[j] * v[columns[j]]
                total = r[s, a] + discount * total
                if total > most:
                    most, first = total, a
            best[s], policy[s] = most, first
            low, high = min(low, most - v[s]), max(high, most - v[s])
        return low, high

    @njit
    def sweep(starts, columns, data, r, discount, v, new):
        low, high = np.inf, -np.inf
        for s in range(r.size):
            total = 0.0
            for j in range(starts[s], starts[s + 1]):
                total += data[j] * v[columns[j]]
            new[s] = r[s] + discount * total
            low, high = min(low, new[s] - v[s]), max(high, new[s] - v[s])
        return high - low

    return look, sweep


# Q-learning in gymnasium's Taxi, all runs at once


@dataclass(frozen=True)
class LearningProblem:
    """A hundred runs of n steps in Taxi, ties broken by lot."""

    n: int

    @cached_property
    def mdp(self) -> MDP:
        import gymnasium

        return MDP.from_gymnasium(gymnasium.make("Taxi-v4").unwrapped, DISCOUNT)

    @cached_property
    def environment(self) -> MDPEnvironment:
        return MDPEnvironment(self.mdp)

    @staticmethod
    def apart(ours: Any, theirs: Any) -> float:
        """How far the means of what was learnt lie apart, in a fifth of their errors."""
        one, other = (np.asarray(a).sum(axis=(1, 2)) for a in (ours, theirs))
        error = math.sqrt((one.var() + other.var()) / one.size)
        return abs(one.mean() - other.mean()) / max(error, 1e-12) / 5.0


def vector(problem: LearningProblem) -> Call:
    """All runs at once with NumPy, tuned for this one learner; it keeps its table alone."""
    return lambda: _vector(problem, RUNS, problem.n)


def _vector(problem: LearningProblem, runs: int, steps: int) -> Any:
    mdp = problem.mdp
    S, A = mdp.num_states, mdp.num_actions
    keys, successors, rewards, terminal = problem.environment.layout[:4]
    draw, base = np.random.default_rng(1), np.arange(runs) * S
    table, visits = np.zeros((runs * S, A)), np.zeros(runs * S * A, np.int64)
    rates = 1.0 / np.arange(1, steps + 2) ** EXPONENT
    discounts = np.where(terminal, 0.0, DISCOUNT)
    begins = np.where(terminal, 0, np.arange(S))
    values, states = table.reshape(-1), np.zeros(runs, np.int64)
    for _ in range(steps):
        rows = base + states
        row = table.take(rows, axis=0)
        actions, uniform = row.argmax(1), draw.random(runs)
        is_best = row == row.max(1, keepdims=True)
        if np.count_nonzero(is_best) > runs:
            tied = (is_best.sum(1) > 1).nonzero()[0]
            ranked = is_best[tied] * draw.random((tied.size, A))
            actions[tied] = ranked.argmax(1)
        exploring = (uniform < EPSILON).nonzero()[0]
        actions[exploring] = (uniform[exploring] * (A / EPSILON)).astype(np.int64)
        pairs, places = states * A + actions, rows * A + actions
        onward = successors.take(keys.searchsorted(draw.random(runs) + 2 * pairs, side="right"))
        counts = visits.take(places)
        visits[places] = counts + 1
        ahead = table.take(base + onward, axis=0).max(1) * discounts.take(onward)
        old, reward = values.take(places), rewards.take(pairs)
        values[places] = old + rates.take(counts) * (reward + ahead - old)
        states = begins.take(onward)
    return table.reshape(runs, S, A)


def learning_by_numba(problem: LearningProblem) -> Call:
    """A loop for this one learner, as one would write it for Numba, ties by lot."""
    import numba

    mdp, runs, steps = problem.mdp, RUNS, problem.n
    keys, successors, rewards, terminal, _, begins = problem.environment.layout
    S, A = mdp.num_states, mdp.num_actions

    @numba.njit
    def loop(draw: Any) -> Any:
        tables = np.zeros((runs, S, A))
        for i in range(runs):
            table, visits, state = tables[i], np.zeros((S, A), np.int64), 0
            for _ in range(steps):
                if draw.random() < EPSILON:
                    action = int(draw.random() * A)
                else:
                    action, highest, count = 0, table[state].max(), 0
                    for a in range(A):  # one of those as good, by lot
                        if table[state, a] == highest:
                            count += 1
                            if count == 1 or draw.random() * count < 1.0:
                                action = a
                pair = state * A + action
                k, wanted = begins[pair], 2 * pair + draw.random()
                while keys[k] <= wanted and k < begins[pair + 1] - 1:
                    k += 1
                onward = successors[k]
                visits[state, action] += 1
                alpha = visits[state, action] ** -EXPONENT
                ahead = 0.0 if terminal[onward] else table[onward].max()
                error = rewards[pair] + DISCOUNT * ahead - table[state, action]
                table[state, action] += alpha * error
                state = 0 if terminal[onward] else onward
        return tables

    return lambda: loop(np.random.default_rng(1))


def learning_floor(problem: LearningProblem) -> Call:
    """The draws, look-ups and the update of a step of all runs: seven calls of NumPy."""
    draw, table = np.random.default_rng(1), np.zeros((RUNS, problem.mdp.num_actions))
    keys, rows = problem.environment.layout[0], np.arange(RUNS)

    def call() -> None:
        for _ in range(problem.n):
            uniform = draw.random(RUNS)
            row = table.take(rows, axis=0)
            row.argmax(1)
            keys.searchsorted(uniform)
            table[rows, 0] = row.max(1)

    return call


def learning_ours(problem: LearningProblem, compiled: bool = False) -> Call:
    """All runs at once, or in our compiled loop."""
    learner = QLearning(DISCOUNT, PowerLawDecay(exponent=EXPONENT), EpsilonGreedy(EPSILON))
    settings: dict[str, Any] = {"num_runs": RUNS, "every": min(BLOCK, problem.n)}

    def call() -> Any:
        found = run(learner, problem.environment, num_steps=problem.n, rng=stream(1),
                    compiled=compiled, **settings)  # fmt: skip
        return found.learner_state.values

    return call


WAYS = {"floor": floor, "gpnotes": ours, "plain SciPy": plain_scipy,
        "plain SciPy, two threads": partial(plain_scipy, threads=2), "QuantEcon": quantecon,
        "Numba": numba_loop}  # fmt: skip
TASKS = {
    "policy": Task(
        "decision process, {n} states, 10 actions, to 1e-8", "sparse products", Problem, WAYS,
        10_000, 200, close=2e-8, gap=Problem.apart,
    ),
    "values": Task(
        "decision process, {n} states, 4 actions, to 1e-4", "sparse products",
        partial(Problem, actions=4, tolerance=1e-4), WAYS, 10**6, 200, close=2e-4,
        gap=Problem.apart,
    ),
    "q-learning": Task(
        "Q-learning, 100 runs of {n} steps", "draws, look-ups", LearningProblem,
        {"floor": learning_floor, "gpnotes": learning_ours,
         "gpnotes, compiled": partial(learning_ours, compiled=True), "plain NumPy": vector,
         "Numba": learning_by_numba}, 10_000, 200, close=1.0, gap=LearningProblem.apart,
    ),
}  # fmt: skip
