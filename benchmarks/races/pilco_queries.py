"""Where should one ask a simulator? Queries for the dynamics of a pendulum, six ways to choose.

The pendulum is gymnasium's `Pendulum-v1`, asked as an oracle: any state and torque, the torque held
for six of its time steps (0.3 s; over 0.15 s five answers are enough for everybody). Gaussian
processes learn the change of angle and of velocity from (sin θ, cos θ, θ̇, torque). What counts are
the states that a swing-up passes through; some of them are known beforehand, others are the test.
Everybody starts from the same ten transitions, uniform over all states and torques, and has the
same candidates, drawn likewise:

    0 criterion  largest fall of the expected variance, summed over states of the known swing-ups
    1 broad      the same for one input only: a normal distribution with all those states' moments
    2 variance   largest predictive variance
    3 random     a candidate at random
    4 visited    no candidate: the next transition of a further swing-up, at random
    5 integrated the criterion at the same states, as if they were known: the integrated variance

Hyperparameters are learned by evidence, in one of two ways that are the same for everybody: from
the answers so far, anew every five of them; or once, from eighty transitions that are not used
again, so that nothing but the places differs.

Run it with `python benchmarks/races/pilco_queries.py`; it writes
`src/gpnotes/data/pilco-queries.csv.gz`.
"""

from __future__ import annotations

import argparse
import gzip
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from gpnotes import GP, RBF, ConstantMean, ExactPosterior, condition
from gpnotes.decide import fantasy
from gpnotes.infer.fitting import fit

STRATEGIES = ("criterion", "broad", "variance", "random", "visited", "integrated")
HELD = 6  # time steps of the simulator, 0.05 s each, for which a torque is held
STEPS = 15  # decisions in a swing-up: 4.5 s
SPEED, TORQUE = 8.0, 2.0  # the simulator's limits, in rad/s and N m
UNSURE = np.diag([0.1, 0.5, 0.2]) ** 2  # of (θ, θ̇, torque) at each state of interest
KNOWN, TESTED = 8, 24  # swing-ups seen beforehand, and those that are the test
START, PILOT, CANDIDATES, STATES = 10, 80, 300, 60
REFIT, REPORTED = 5, (0, 5, 10, 20, 40)
TARGET = Path(__file__).resolve().parents[2] / "src" / "gpnotes" / "data" / "pilco-queries.csv.gz"


@cache
def _pendulum() -> Any:
    return gymnasium.make("Pendulum-v1").unwrapped


def ask(places: np.ndarray) -> np.ndarray:
    """What the simulator does at (θ, θ̇, torque), (n, 3): the changes of θ and θ̇, (n, 2)."""
    world = _pendulum()
    world.reset(seed=0)
    changes = np.empty((len(places), 2))
    for change, (*state, torque) in zip(changes, places, strict=True):
        world.state = np.array(state)
        for _ in range(HELD):
            world.step(np.array([torque]))
        change[:] = world.state - state
    return changes


def swing(seed: int) -> np.ndarray:
    """The places (θ, θ̇, torque) of one swing-up, (STEPS, 3), from a start that gymnasium draws."""
    world, rng = _pendulum(), np.random.default_rng(seed)
    world.reset(seed=seed)
    places = []
    for _ in range(STEPS):
        theta, speed = math.remainder(world.state[0], 2.0 * math.pi), world.state[1]
        torque = np.clip(_push(theta, speed) + 0.3 * rng.normal(), -TORQUE, TORQUE)
        places.append((theta, speed, torque))
        for _ in range(HELD):
            world.step(np.array([torque]))
    return np.array(places)


def _push(theta: float, speed: float) -> float:
    """Pump energy in until there is as much as upright at rest has; near upright, hold."""
    if abs(theta) < 0.4 and abs(speed) < 2.5:
        return -12.0 * theta - 2.5 * speed
    lacking = 15.0 * (1.0 - math.cos(theta)) - 0.5 * speed**2
    return TORQUE * math.copysign(1.0, speed) * math.tanh(lacking)


def features(places: np.ndarray) -> np.ndarray:
    """(sin θ, cos θ, θ̇, torque): what the processes see, the same after a full turn."""
    theta, speed, torque = places.T
    return np.stack([np.sin(theta), np.cos(theta), speed, torque], axis=1)


def uncertain(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means (T, 4) and covariances (T, 4, 4) of the features near places known up to `UNSURE`."""
    slope = np.zeros((len(places), 4, 3))
    slope[:, 0, 0], slope[:, 1, 0] = np.cos(places[:, 0]), -np.sin(places[:, 0])
    slope[:, 2, 1] = slope[:, 3, 2] = 1.0
    return features(places), slope @ UNSURE @ np.swapaxes(slope, 1, 2)


class Problem(NamedTuple):
    """What all strategies share in one repetition: places (θ, θ̇, torque), a row each."""

    start: np.ndarray
    pilot: np.ndarray
    candidates: np.ndarray
    known: np.ndarray
    further: np.ndarray
    test: np.ndarray
    answers: np.ndarray


def problem(seed: int) -> Problem:
    """A repetition: everything that is drawn, from one seed."""
    rng = np.random.default_rng(seed)
    swings = [swing(1000 * seed + i) for i in range(2 * KNOWN + TESTED)]
    known, further = np.concatenate(swings[:KNOWN]), np.concatenate(swings[KNOWN : 2 * KNOWN])
    known, further = rng.permutation(known)[:STATES], rng.permutation(further)
    high, test = np.array([math.pi, SPEED, TORQUE]), np.concatenate(swings[2 * KNOWN :])
    start, pilot, candidates = (
        rng.uniform(-high, high, size=(n, 3)) for n in (START, PILOT, CANDIDATES)
    )
    return Problem(start, pilot, candidates, known, further, test, ask(test))


def learn(places: np.ndarray, changes: np.ndarray, before: list[GP] | None = None) -> list[GP]:
    """Processes for both changes, hyperparameters by evidence, from a wide start and from before.

    The prior mean is the mean of the changes and stays.
    """
    X, width = features(places), np.array([1.4, 1.4, SPEED, TORQUE])
    return [
        _learn(X, y, [GP(RBF(float(np.var(y)), width), 1e-3 * float(np.var(y))), *old])
        for y, *old in zip(changes.T, *([before] if before else []), strict=True)
    ]


def _learn(X: np.ndarray, y: np.ndarray, starts: list[GP]) -> GP:
    variance, mean = float(np.var(y)), ConstantMean(float(np.mean(y)))
    limits = {
        "kernel.variance": (0.1 * variance, 100.0 * variance),
        "kernel.lengthscale": (0.1, 100.0),
        "noise_var": (1e-6 * variance, 0.1 * variance),
    }
    starts = [replace(start, mean=mean) for start in starts]
    runs = [fit(start, X, y, bounds=limits, fixed=("mean.value",)) for start in starts]
    return max(runs, key=lambda run: run.log_evidence).model


def models(gps: list[GP], places: np.ndarray, changes: np.ndarray) -> list[ExactPosterior]:
    return [condition(gp, features(places), y) for gp, y in zip(gps, changes.T, strict=True)]


def choose(
    strategy: str, given: list[ExactPosterior], case: Problem, left: list[int], weights: np.ndarray
) -> int:
    """The candidate, of those that are left, that a strategy asks for."""
    rows = features(case.candidates[left])
    if strategy == "variance":
        falls = sum(w * p.variance(rows) for w, p in zip(weights, given, strict=True))
        return left[int(np.argmax(falls))]
    if strategy == "random":
        return left[0]  # they were drawn in random order
    m, S = uncertain(case.known)
    if strategy == "integrated":
        S = np.zeros_like(S)
    if strategy == "broad":
        S = np.cov(m.T) + np.mean(S, axis=0)
        m = np.mean(m, axis=0)
    return left[fantasy.best(given, m, S, rows, weights).row]


def scores(given: list[ExactPosterior], case: Problem) -> tuple[float, float, float, float]:
    """Root mean square error, share inside 95 % intervals, mean log density, median error.

    In units of the spread of each change over the test; of both changes together.
    """
    errors, inside, density, medians = [], [], [], []
    for posterior, y in zip(given, case.answers.T, strict=True):
        mean, variance = posterior.predict(features(case.test), noise=True)
        off, variance = (y - mean) / np.std(y), variance / np.var(y)
        errors.append(np.mean(off**2))
        inside.append(np.mean(np.abs(off) <= 1.959964 * np.sqrt(variance)))
        density.append(-0.5 * np.mean(off**2 / variance + np.log(2.0 * math.pi * variance)))
        medians.append(np.median(np.abs(off)))
    means = (float(np.mean(numbers)) for numbers in (errors, inside, density, medians))
    square, *others = means
    return math.sqrt(square), *others


def run(strategy: str, case: Problem, gps: list[GP], refit: bool) -> Iterator[tuple]:
    """Ask up to 40 times, and report the number of answers and the scores on the way."""
    places, changes, left = case.start, ask(case.start), list(range(CANDIDATES))
    weights = 1.0 / np.var(changes, axis=0)
    for k in range(REPORTED[-1] + 1):
        if refit and k % REFIT == 0 and k:
            gps = learn(places, changes, gps)
        given = models(gps, places, changes)
        if k in REPORTED:
            yield (k, *scores(given, case))
        if strategy == "visited":
            new = case.further[k]
        else:
            j = choose(strategy, given, case, left, weights)
            left.remove(j)
            new = case.candidates[j]
        places = np.vstack([places, new])
        changes = np.vstack([changes, ask(new[None, :])])


def table(seeds: int) -> list[str]:
    """The lines of the CSV, header first."""
    lines = ["refit,strategy,seed,queries,error,coverage,log_density,median_error"]
    for seed in range(seeds):
        case = problem(seed)
        for refit in (0, 1):
            places = case.start if refit else case.pilot
            gps = learn(places, ask(places))
            for code, strategy in enumerate(STRATEGIES):
                for k, *errors in run(strategy, case, gps, bool(refit)):
                    numbers = ",".join(f"{value:.6g}" for value in errors)
                    lines.append(f"{refit},{code},{seed},{k},{numbers}")
    return lines


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--target", type=Path, default=TARGET)
    given = parser.parse_args()
    text = "\n".join(table(given.seeds)) + "\n"
    given.target.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
