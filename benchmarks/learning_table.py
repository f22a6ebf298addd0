"""A hundred runs of Q-learning at once, beside a plain loop over them, and compiled.

``python benchmarks/learning_table.py`` prints processor seconds for a step of one run: of a plain
loop over tables of NumPy, of one over lists, of all runs as one vector, by hand and ours, of ours
compiled by Numba, and of a loop that somebody would write with Numba for this one learner. It ends
in an error where the vector and the compiled loop differ in a bit, or another loop learns something
else.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from statistics import median
from typing import Any

import numpy as np

from gpnotes import stream
from gpnotes.mdp import GridWorld
from gpnotes.mdp.learning import EpsilonGreedy, MDPEnvironment, PowerLawDecay, QLearning, run

DISCOUNT, EPSILON, EXPONENT = 0.95, 0.1, 0.7
BLOCK = 1000
TARGET = 2.0  # times as fast as the plain loop
NEAR = 1.5  # times the seconds of the loop by hand that Numba compiles
ROWS = (
    "S.......", "........", "...#....", ".....#..",
    "...#....", ".##...#.", ".#..#.#.", "...#...G",
)  # fmt: skip


def process() -> Any:
    """A slippery map of 8 × 8 cells."""
    return GridWorld(ROWS, slip=0.4).mdp(DISCOUNT)


def with_lists(mdp: Any, runs: int, steps: int) -> Any:
    """One run after another, with lists."""
    S, A = mdp.num_states, mdp.num_actions
    P = np.asarray(mdp.transitions.todense()) if mdp.sparse else np.asarray(mdp.transitions)
    successors = [np.flatnonzero(row).tolist() for row in P]
    ends = [list(accumulate(row[row > 0].tolist()))[:-1] for row in P]
    rewards, terminal = mdp.rewards.reshape(-1).tolist(), mdp.terminal.tolist()
    rates = (1.0 / np.arange(1, runs * steps + 2)[: steps + 1] ** EXPONENT).tolist()
    draw, tables = random.Random(1).random, []
    for _ in range(runs):
        table = [[0.0] * A for _ in range(S)]
        visits = [[0] * A for _ in range(S)]
        state = 0
        for _ in range(steps):
            row = table[state]
            u = draw()
            if u < EPSILON:
                action = int(u / EPSILON * A)
            else:
                highest = max(row)
                action = row.index(highest)
                if row.count(highest) > 1:
                    tied = [a for a in range(A) if row[a] == highest]
                    action = tied[int(draw() * len(tied))]
            pair = state * A + action
            onward = successors[pair][bisect_right(ends[pair], draw())]
            alpha = rates[visits[state][action]]
            visits[state][action] += 1
            ahead = 0.0 if terminal[onward] else max(table[onward])
            row[action] += alpha * (rewards[pair] + DISCOUNT * ahead - row[action])
            state = 0 if terminal[onward] else onward
        tables.append(table)
    return np.asarray(tables)


def with_arrays(mdp: Any, runs: int, steps: int) -> Any:
    """One run after another, with tables of NumPy, as a textbook has it."""
    S, A = mdp.num_states, mdp.num_actions
    P = np.asarray(mdp.transitions.todense()) if mdp.sparse else np.asarray(mdp.transitions)
    draw, tables = np.random.default_rng(1), np.zeros((runs, S, A))
    for table in tables:
        visits, state = np.zeros((S, A)), 0
        for _ in range(steps):
            greedy = draw.random() >= EPSILON
            tied = (table[state] == table[state].max()).nonzero()[0]
            action = int(tied[int(draw.random() * tied.size)] if greedy else draw.integers(A))
            onward = int(np.searchsorted(P[state * A + action].cumsum(), draw.random(), "right"))
            onward = min(onward, S - 1)
            visits[state, action] += 1
            ahead = 0.0 if mdp.terminal[onward] else table[onward].max()
            error = mdp.rewards[state, action] + DISCOUNT * ahead - table[state, action]
            table[state, action] += visits[state, action] ** -EXPONENT * error
            state = 0 if mdp.terminal[onward] else onward
    return tables


def at_once_by_hand(mdp: Any, runs: int, steps: int, keeping: bool = False) -> Any:
    """All runs at once with NumPy, tuned for this one learner.

    It keeps its table alone, or the episodes and the rewards of blocks as well, as ours does.
    """
    S, A = mdp.num_states, mdp.num_actions
    keys, successors, rewards, terminal = MDPEnvironment(mdp).layout[:4]
    draw, base = np.random.default_rng(1), np.arange(runs) * S
    table, visits = np.zeros((runs * S, A)), np.zeros(runs * S * A, np.int64)
    rates = 1.0 / np.arange(1, steps + 2) ** EXPONENT
    discounts = np.where(terminal, 0.0, DISCOUNT)
    begins = np.where(terminal, 0, np.arange(S))
    values, states = table.reshape(-1), np.zeros(runs, np.int64)
    earned, returns, lengths = np.zeros(runs), np.zeros(runs), np.zeros(runs, np.int64)
    episodes, blocks = [], []
    for step in range(1, steps + 1):
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
        if keeping:
            lengths += 1
            earned += reward
            returns += reward
            over = terminal.take(onward).nonzero()[0]
            if over.size:
                episodes.append((over, step, returns[over], lengths[over]))
                returns[over], lengths[over] = 0.0, 0
            if step % BLOCK == 0:
                blocks.append(earned / BLOCK)
                earned = np.zeros(runs)
    return table.reshape(runs, S, A)


def by_hand(mdp: Any, runs: int, steps: int) -> Callable[[], Any]:
    """A loop for this one learner, as somebody would write it for Numba."""
    import numba

    world = MDPEnvironment(mdp).layout
    keys, successors, rewards, terminal, _, begins = world
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


def ours(mdp: Any, runs: int, steps: int, compiled: bool) -> Callable[[], Any]:
    """All runs at once, or in our compiled loop."""
    learner = QLearning(DISCOUNT, PowerLawDecay(exponent=EXPONENT), EpsilonGreedy(EPSILON))
    world = MDPEnvironment(mdp)

    def call() -> Any:
        settings: dict[str, Any] = {"every": BLOCK, "compiled": compiled}
        found = run(learner, world, num_steps=steps, num_runs=runs, rng=stream(1), **settings)
        return found.learner_state.values

    return call


def contestants(runs: int, steps: int) -> dict[str, Callable[[], Any]]:
    """Who takes part; those of Numba only where it is installed."""
    mdp = process()
    found = {
        "a plain loop": lambda: with_arrays(mdp, runs, steps),
        "with lists": lambda: with_lists(mdp, runs, steps),
        "at once, by hand": lambda: at_once_by_hand(mdp, runs, steps),
        "and all that ours keeps": lambda: at_once_by_hand(mdp, runs, steps, keeping=True),
        "all runs at once": ours(mdp, runs, steps, compiled=False),
    }
    try:
        found["by hand, for Numba"] = by_hand(mdp, runs, steps)
    except ImportError:
        return found
    return found | {"compiled": ours(mdp, runs, steps, compiled=True)}


def measured(runs: int, steps: int, rounds: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Processor seconds in each round, taken in turns, and what was learnt."""
    calls = contestants(runs, steps)
    for call in contestants(2, 20).values():
        call()
    answers = {name: call() for name, call in calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            call()
            seconds[name].append(time.process_time() - start)
    return seconds, answers


def agree(answers: dict[str, Any]) -> list[str]:
    """What differs: bits of ours, or the mean of the plain loop by five standard errors."""
    ours = answers["all runs at once"]
    wrong = []
    if "compiled" in answers and not np.array_equal(ours, answers["compiled"]):
        wrong.append("the compiled loop has learnt something else")
    for name in answers.keys() - {"all runs at once", "compiled"}:
        one, other = (table.max(2)[:, 0] for table in (ours, answers[name]))
        error = np.sqrt((one.var() + other.var()) / one.size)
        if abs(one.mean() - other.mean()) > 5 * error:
            wrong.append(f"{name} has learnt something else: {one.mean():.4g}, {other.mean():.4g}")
    return wrong


def main() -> int:
    """Measure and print; 1 if what was learnt differs, whatever the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--steps", type=int, default=5000)
    wanted = parser.parse_args()
    seconds, answers = measured(wanted.runs, wanted.steps, wanted.rounds)
    print(f"Q-learning, {wanted.runs} runs of {wanted.steps} steps on a map of 8 × 8 cells")
    for name, taken in seconds.items():
        each = min(taken) / (wanted.runs * wanted.steps)
        pairs = zip(seconds["a plain loop"], taken, strict=True)
        faster = median(base / one for base, one in pairs)
        print(f"{name:24} {1e9 * each:8.0f} ns a step of a run; {faster:6.1f} × as fast")
    for name, words in (
        ("at once, by hand", ""),
        ("and all that ours keeps", " that keeps as much"),
    ):
        behind = min(seconds["all runs at once"]) / min(seconds[name])
        print(f"all runs at once: {behind:.2f} × the vector by hand{words}")
    ahead = min(seconds["a plain loop"]) / min(seconds["all runs at once"])
    print(f"ahead of a plain loop by {ahead:.1f}, target {TARGET:g}")
    if "compiled" in seconds:
        ratio = min(seconds["compiled"]) / min(seconds["by hand, for Numba"])
        print(f"compiled: {ratio:.2f} × the loop by hand, target {NEAR:g}")
    wrong = agree(answers)
    for problem in wrong:
        print(problem)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
