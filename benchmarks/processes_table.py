"""The best policy of large sparse processes, beside the sparse products that it takes.

``python benchmarks/processes_table.py`` prints two tables: 10⁴ states with ten actions, certified
to 1e-8, and 10⁶ states with four, to 1e-4, each with five random successors and discount 0.99. The
floor is SciPy's: as many products with the transitions, and with the chain of one policy, as our
modified policy iteration makes. The loops are modified policy iteration by the same rules in plain
NumPy and SciPy, and compiled by Numba. QuantEcon.py and Numba take part where they are installed.
Seconds are the processor's, so that what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpnotes.mdp import MDP, solve

DISCOUNT = 0.99
SUCCESSORS = 5
SIZES = ((10_000, 10, 1e-8, 15), (1_000_000, 4, 1e-4, 3))  # states, actions, tolerance, rounds
_LOOKS, _ENOUGH, _MOST = 2, 0.05, 250


def process(states: int, actions: int, seed: int = 0) -> MDP:
    """Random successors with random probabilities."""
    rng = np.random.default_rng(seed)
    rows = states * actions
    to = rng.integers(0, states, (rows, SUCCESSORS), dtype=np.int32)
    p = rng.dirichlet(np.ones(SUCCESSORS), rows)
    starts = np.arange(0, rows * SUCCESSORS + 1, SUCCESSORS)
    P = sp.csr_array((p.ravel(), to.ravel(), starts), shape=(rows, states))
    return MDP(P, rng.normal(size=(states, actions)), DISCOUNT)


def products(mdp: MDP, tolerance: float) -> Counter[int]:
    """How many products one call of `solve` makes, by the number of rows."""
    kind = type(mdp.transitions)
    counted: Counter[int] = Counter()
    plain = kind.__matmul__

    def counting(self: Any, other: Any) -> Any:
        counted[self.shape[0]] += 1
        return plain(self, other)

    kind.__matmul__ = counting
    try:
        solve(mdp, tolerance=tolerance)
    finally:
        kind.__matmul__ = plain
    return counted


def floor(mdp: MDP, tolerance: float) -> Callable[[], None]:
    """The products alone, on a vector that stays the same."""
    counted = products(mdp, tolerance)
    found = solve(mdp, tolerance=tolerance)
    chain, _ = mdp.induced_chain(found.policy)
    looks, sweeps = counted[mdp.num_states * mdp.num_actions], counted[mdp.num_states]

    def call() -> None:
        for _ in range(looks):
            _ = mdp.transitions @ found.values
        for _ in range(sweeps):
            _ = chain @ found.values

    return call


def ours(mdp: MDP, tolerance: float, method: str = "modified policy iteration") -> Any:
    """The values by `solve`."""
    return lambda: solve(mdp, method, tolerance=tolerance).values


def plain_scipy(mdp: MDP, tolerance: float) -> Callable[[], np.ndarray]:
    """Modified policy iteration as one writes it, twenty sweeps a policy."""
    P, r = mdp.transitions, mdp.rewards
    every = np.arange(mdp.num_states) * mdp.num_actions
    aim = tolerance * (1.0 - DISCOUNT)

    def call() -> np.ndarray:
        v = np.zeros(mdp.num_states)
        while True:
            q = r + DISCOUNT * (P @ v).reshape(r.shape)
            policy = np.argmax(q, axis=1)
            best = np.max(q, axis=1)
            step = best - v
            if np.ptp(step) <= aim:
                return best + DISCOUNT / (1 - DISCOUNT) * 0.5 * (step.max() + step.min())
            chain, earned = P[every + policy], r.reshape(-1)[every + policy]
            v = best
            for _ in range(20):
                v = earned + DISCOUNT * (chain @ v)

    return call


def quantecon(mdp: MDP, tolerance: float) -> Callable[[], np.ndarray]:
    """QuantEcon.py's modified policy iteration, on pairs of states and actions."""
    from quantecon.markov import DiscreteDP

    S, A = mdp.rewards.shape
    s, a = np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
    given = DiscreteDP(mdp.rewards.ravel(), sp.csr_matrix(mdp.transitions), DISCOUNT, s, a)
    return lambda: given.solve(method="mpi", epsilon=tolerance, max_iter=10**6).v


def numba_loop(mdp: MDP, tolerance: float) -> Callable[[], np.ndarray]:
    """Loops compiled by Numba, by the rules of ours; no array of action values is made."""
    look, sweep = _compiled()
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


def once(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and its answer."""
    start = time.process_time()
    answer = call()
    return time.process_time() - start, answer


def row(states: int, actions: int, tolerance: float, rounds: int) -> dict[str, Any]:
    """Seconds of each contestant in turns, and how far their values lie apart."""
    mdp = process(states, actions)
    calls = {"floor": floor(mdp, tolerance), "gpnotes": ours(mdp, tolerance)}
    calls["plain SciPy"] = plain_scipy(mdp, tolerance)
    for name, prepare in (("QuantEcon.py", quantecon), ("Numba", numba_loop)):
        try:
            calls[name] = prepare(mdp, tolerance)
        except ImportError:
            continue
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    answers = {name: call() for name, call in calls.items()}  # libraries load and compile now
    for _ in range(rounds):
        for name, call in calls.items():
            seconds[name].append(once(call)[0])
    others = [answer for name, answer in answers.items() if name != "floor"]
    apart = max(float(np.max(np.abs(answer - answers["gpnotes"]))) for answer in others)
    return {"states": states, "actions": actions, "tolerance": tolerance, "seconds": seconds,
            "apart": apart}  # fmt: skip


def shown(row: dict[str, Any]) -> str:
    """A line for each contestant."""
    seconds = row["seconds"]
    least = min(seconds["floor"])
    lines = [f"{row['states']} states, {row['actions']} actions, to {row['tolerance']:g}",
             f"{'':14}{'seconds (least)':>18}{'(median)':>12}{'times the floor':>18}"]  # fmt: skip
    for name, spent in seconds.items():
        lines.append(f"{name:<14}{min(spent):18.4f}{median(spent):12.4f}{min(spent) / least:18.2f}")
    return "\n".join([*lines, f"values lie {row['apart']:.1e} apart at most", ""])


def main() -> int:
    """Measure and print; 1 if answers differ by more than was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, help="one table alone, of so many states")
    parser.add_argument("--rounds", type=int)
    wanted = parser.parse_args()
    good = True
    for states, actions, tolerance, rounds in SIZES[: 1 if wanted.states else None]:
        made = row(wanted.states or states, actions, tolerance, wanted.rounds or rounds)
        print(shown(made), flush=True)
        good = good and made["apart"] <= 2.0 * tolerance
    mdp = process(wanted.states or SIZES[0][0], SIZES[0][1])
    spent, _ = once(ours(mdp, 1e-8, "policy iteration"))
    print(f"policy iteration on the first: {spent:.2f} seconds")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
