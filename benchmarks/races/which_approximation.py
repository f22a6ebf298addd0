"""How long, how much memory, how good: the approximations of the book beside the exact process.

Two generators draw rows: a rough function of two inputs, which is a sum of random waves, and one on
the circle. For each of ten draws a process is fitted to the first 500 rows by its exact evidence,
and every approximation then conditions it on n rows and predicts 1000 others. scikit-learn's
histogram boosting sees the same rows. Seconds are the processor's, so that others on the machine
count little.

Run it with `OMP_NUM_THREADS=1 python benchmarks/races/which_approximation.py`; it takes about ten
minutes and writes `src/gpnotes/data/which-approximation.csv.gz`.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from kept_runs import opened_table
from sklearn.ensemble import HistGradientBoostingRegressor

import gpnotes as gp
from gpnotes import condition
from gpnotes.infer import features, interdomain, sparse, svgp
from gpnotes.model.kernels import CircularMatern32

TARGET = Path(__file__).resolve().parents[2] / "src" / "gpnotes" / "data"
SIZES, SEEDS = (1000, 4000, 16000, 64000, 256000), 10
FITTED, HELD, NOISE = 500, 1000, 0.3
LARGEST_EXACT = 4000
FEATURES, SINES, POINTS, HARMONICS = 800, 400, 200, 41
BATCH, STEPS = 500, ((0.1, 100), (0.02, 50))  # lengths of natural steps, and how many of each
METHODS = ("exact", "features", "points", "batches", "harmonics", "boosting", "sines")
HEAD = ("circle", "method", "n", "seed", "seconds", "megabytes", "error", "log_density")

Prediction = tuple[np.ndarray, np.ndarray]  # mean and variance of new observations


class Task(NamedTuple):
    """A process that is fitted, rows to condition it on, and inputs to predict at."""

    process: gp.GP
    X: np.ndarray
    y: np.ndarray
    Xs: np.ndarray
    seed: int


def exact(task: Task) -> Prediction:
    """All rows, O(n³)."""
    return gp.condition(task.process, task.X, task.y).predict(task.Xs, noise=True)


def by_features(task: Task) -> Prediction:
    """Random waves, O(n F²)."""
    kernel = task.process.kernel
    drawn = features.draw_frequencies(kernel, task.X, FEATURES, rng=gp.stream(task.seed))
    posterior = condition(features.FeatureGP(task.process, drawn), task.X, task.y)
    return posterior.predict(task.Xs, noise=True)


def by_sines(task: Task) -> Prediction:
    """Sines on the unit square with a margin, O(n R²)."""
    sines = features.leading_sines(task.process.kernel, np.array([[0.0, 0.0], [1.0, 1.0]]), SINES)
    posterior = condition(features.FeatureGP(task.process, sines), task.X, task.y)
    return posterior.predict(task.Xs, noise=True)


def by_points(task: Task) -> Prediction:
    """Inducing points, O(n M²)."""
    Z = inducing(task)
    return condition(sparse.SparseGP(task.process, Z), task.X, task.y).predict(task.Xs, noise=True)


def by_batches(task: Task) -> Prediction:
    """A variational Gaussian from batches: a fixed number of steps, whatever n is."""
    held = gp.GP(task.process.kernel, 0.0, task.process.mean)
    noise = gp.Gaussian(task.process.noise_var)
    q = svgp.initial_posterior(svgp.SVGP(held, noise, inducing(task)))
    n = task.X.shape[0]
    rows = svgp.batches(n, BATCH, rng=gp.stream(task.seed))
    for length, steps in STEPS:
        for _, some in zip(range(steps), rows, strict=False):
            q = svgp.natural_gradient_step(q, task.X[some], task.y[some], step_size=length, total=n)
    return q.predict(task.Xs, noise=True)


def by_harmonics(task: Task) -> Prediction:
    """Fourier coefficients of a function on the circle, O(n M²)."""
    orders = (HARMONICS + 1) // 2  # a constant, and a cosine and a sine of each other order
    variables = interdomain.leading_harmonics(task.process.kernel, task.X, orders)
    posterior = condition(sparse.SparseGP(task.process, variables), task.X, task.y)
    return posterior.predict(task.Xs, noise=True)


def boosting(task: Task) -> Prediction:
    """The competitor, which has no error bar: that of its own errors on these rows."""
    model = HistGradientBoostingRegressor(random_state=task.seed).fit(task.X, task.y)
    error = task.y - model.predict(task.X)
    return model.predict(task.Xs), np.full(task.Xs.shape[0], np.mean(error**2))


ANSWERS = dict(
    zip(
        METHODS,
        (exact, by_features, by_points, by_batches, by_harmonics, boosting, by_sines),
        strict=True,
    )
)
PLANE = ("exact", "sines", "points", "batches", "features", "boosting")
CIRCLE = ("exact", "points", "harmonics")


def inducing(task: Task) -> np.ndarray:
    """Centres of the first rows; on the circle as many as there are harmonics, evenly spaced."""
    if isinstance(task.process.kernel, CircularMatern32):
        return np.linspace(0.0, 2.0 * np.pi, HARMONICS, endpoint=False)[:, None]
    return sparse.kmeans_points(task.X[:2000], POINTS, rng=gp.stream(task.seed))


def plane(seed: int, n: int) -> tuple[gp.GP, np.ndarray, np.ndarray]:
    """A first guess, inputs in the unit square and a function there, of Matérn's spectrum."""
    rng = np.random.default_rng([seed, 0])
    X = rng.uniform(size=(n, 2))
    waves = 2000
    omega = rng.normal(size=(waves, 2)) / np.sqrt(rng.chisquare(5.0, size=(waves, 1)) / 5.0) / 0.2
    shift = rng.uniform(0.0, 2.0 * np.pi, waves)
    weights = rng.normal(size=waves) * np.sqrt(2.0 / waves)
    parts = [np.cos(X[i : i + 2000] @ omega.T + shift) @ weights for i in range(0, n, 2000)]
    return gp.GP(gp.Matern52(1.0, 0.5), 0.1), X, np.concatenate(parts)


def circle(seed: int, n: int) -> tuple[gp.GP, np.ndarray, np.ndarray]:
    """A first guess, angles, and a function whose Fourier coefficients fall as n⁻²."""
    rng = np.random.default_rng([seed, 1])
    X = rng.uniform(0.0, 2.0 * np.pi, size=(n, 1))
    f = np.zeros(n)
    for order in range(1, 200):
        a, b = rng.normal(size=2) / (9.0 + order**2)
        f += 12.0 * (a * np.cos(order * X[:, 0]) + b * np.sin(order * X[:, 0]))
    return gp.GP(CircularMatern32(1.0, 1.0), 0.1), X, f


def rows(
    seed: int, on_circle: bool, sizes: tuple[int, ...], held: dict[tuple, float]
) -> Iterator[tuple]:
    """All answers for one draw; `held` is the memory that was seen before."""
    guess, X, f = (circle if on_circle else plane)(seed, HELD + max(sizes))
    y = f + NOISE * np.random.default_rng([seed, 2]).normal(size=f.size)
    Xs, fs, ys = X[:HELD], f[:HELD], y[:HELD]
    X, y = X[HELD:], y[HELD:]
    process = gp.fit(guess, X[:FITTED], y[:FITTED]).model
    for n in sizes:
        task = Task(process, X[:n], y[:n], Xs, seed)
        for name in CIRCLE if on_circle else PLANE:
            if name == "exact" and n > LARGEST_EXACT:
                continue
            started = time.process_time()
            mean, variance = ANSWERS[name](task)
            seconds = time.process_time() - started
            error = np.sqrt(np.mean((mean - fs) ** 2))
            density = -0.5 * np.mean(np.log(2 * np.pi * variance) + (ys - mean) ** 2 / variance)
            if (on_circle, name, n) not in held:  # of the first draw, for all
                held[on_circle, name, n] = peak(ANSWERS[name], task)
            shown = f"{seconds:.4f}", f"{held[on_circle, name, n]:.1f}"
            method = METHODS.index(name)
            yield int(on_circle), method, n, seed, *shown, f"{error:.5f}", f"{density:.5f}"


def peak(answer: Callable[[Task], Prediction], task: Task) -> float:
    """The most that NumPy's arrays hold beside the data, in 10⁶ bytes; of compiled code not all."""
    tracemalloc.start()
    try:
        answer(task)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def main() -> int:
    """Write the table, a row for each generator, draw, size and method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--to", type=Path, default=TARGET / "which-approximation.csv.gz")
    wanted = parser.parse_args()
    with opened_table(wanted.to) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        held: dict[tuple, float] = {}
        for seed in range(wanted.seeds):
            for on_circle in (False, True):
                writer.writerows(rows(seed, on_circle, tuple(wanted.sizes), held))
                file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
