"""PILCO on gymnasium's pendulum, from nothing, over several seeds: the tables of the chapter.

``python benchmarks/races/pilco_control.py --seeds 6 --trials 6`` writes three tables to
``src/gpnotes/data``:
what every trial of every seed cost, and, of the seed that the chapter follows, all transitions and
all policies. A seed takes a few minutes on one core.
"""

from __future__ import annotations

import argparse
import gzip
import time
from pathlib import Path

import numpy as np

from gpnotes import stream
from gpnotes.decide.pilco import Trial, initial_policy, learn
from gpnotes.decide.pilco.pendulum import STEP_SECONDS, TORQUE, simulate, swing_up, upright
from gpnotes.ground.params import flatten
from gpnotes.ground.random import Stream

FOLDER = Path(__file__).resolve().parents[2] / "src" / "gpnotes" / "data"
LIKE = np.zeros(1)
TESTS, TEST_STEPS = 20, 50
COLUMNS = "seed,trial,interaction_seconds,expected_cost,trial_cost,test_cost,test_successes,tests"
STORED = 0  # the seed whose transitions and policies are kept


def start(task, draws: Stream) -> np.ndarray:
    """A start from the task's distribution."""
    return task.mean + np.linalg.cholesky(task.covariance) @ draws.normal(2)


def mean_cost(task, states: np.ndarray) -> float:
    """The cost of the states (n, 2), averaged."""
    angle = states[:, 0]
    z = np.stack([angle, states[:, 1], np.sin(angle), np.cos(angle)], axis=1)
    return float(np.mean([task.cost(state) for state in z]))


def tested(task, policy, draws: Stream) -> tuple[float, int]:
    """Mean cost within the horizon, and the number of successes, over fresh starts."""
    paths = [simulate(policy, start(task, draws), TEST_STEPS).next_states for _ in range(TESTS)]
    costs = [mean_cost(task, path[: task.horizon]) for path in paths]
    return float(np.mean(costs)), sum(upright(path) for path in paths)


def one_seed(seed: int, num_trials: int, iterations: int) -> list[tuple[list[float], Trial]]:
    """All trials of a seed, with the row of the table of each."""
    draws, task = stream(seed), swing_up(LIKE)
    worlds = {name: draws.spawn(name) for name in ("actions", "starts", "policies", "tests")}

    def act(policy):
        torque = policy or (lambda z: TORQUE * (2.0 * worlds["actions"].uniform(1) - 1.0))
        return simulate(torque, start(task, worlds["starts"]), task.horizon)

    trials = learn(
        task,
        act,
        lambda: initial_policy(task, TORQUE, scale=4.0, rng=worlds["policies"]),
        num_trials=num_trials,
        max_steps=iterations,
    )
    reports, before = [], time.perf_counter()
    for number, trial in enumerate(trials, start=1):
        seconds = (number + 1) * task.horizon * STEP_SECONDS
        test_cost, successes = tested(task, trial.improvement.policy, worlds["tests"])
        observed_cost = mean_cost(task, trial.observed.next_states)
        costs = trial.improvement.cost, observed_cost, test_cost
        row = [seed, number, seconds, *costs, successes, TESTS]
        reports.append((row, trial))
        took, before = time.perf_counter() - before, time.perf_counter()
        print(" ".join(f"{value:.4g}" for value in row), f"({took:.0f} s)", flush=True)
    return reports


def kept(reports: list[tuple[list[float], Trial]]) -> None:
    """Write what the chapter replays of one seed."""
    last = reports[-1][1]
    parts = [np.concatenate(pair) for pair in zip(last.data, last.observed, strict=True)]
    steps = len(last.observed.states)
    trial = np.repeat(np.arange(len(parts[0]) // steps), steps)[:, None]
    rows = np.concatenate([trial, *parts], axis=1)
    names = "trial,angle,velocity,torque,next_angle,next_velocity"
    _write("pilco-control-transitions.csv.gz", names, rows)
    policies = np.stack([flatten(trial.improvement.policy)[0] for _, trial in reports])
    _write(
        "pilco-control-policies.csv.gz",
        ",".join(f"p{i}" for i in range(policies.shape[1])),
        policies,
    )


def _write(name: str, names: str, rows: np.ndarray) -> None:
    text = [",".join(f"{value:.10g}" for value in row) for row in rows]
    table = ("\n".join([names, *text]) + "\n").encode()
    packed = name.endswith(".gz")
    (FOLDER / name).write_bytes(gzip.compress(table, mtime=0) if packed else table)


def main() -> None:
    """Run all seeds and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--iterations", type=int, default=40)
    chosen = parser.parse_args()
    rows = []
    for seed in range(chosen.first, chosen.first + chosen.seeds):
        reports = one_seed(seed, chosen.trials, chosen.iterations)
        rows += [row for row, _ in reports]
        if seed == STORED:
            kept(reports)
        _write("pilco-control.csv.gz", COLUMNS, np.asarray(rows))


if __name__ == "__main__":
    main()
