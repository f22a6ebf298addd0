"""One row predicted by the estimators, and by scikit-learn's of the same hyperparameters.

``python benchmarks/one_row.py`` conditions both on 500 readings and calls them for one row, and for
a hundred, again and again, in turns. It prints the processor's microseconds of a call, the median
of all turns, and ends in an error where the answers differ. Of two classes ours has the probit and
scikit-learn the logistic likelihood: there a tenth of probability is allowed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor, kernels

from gpnotes import RBF, GPClassifier, GPRegressor, stream

TOLERANCES = {"mean": 1e-8, "mean and deviation": 1e-8, "class": 1.0, "probabilities": 0.1}
LENGTHS, NOISE_VAR = np.asarray([0.8, 1.1, 1.7, 2.3]), 0.1
Ask = Callable[[Any], Any]


def _table(n: int) -> tuple[Any, Any]:
    """Readings of four inputs."""
    source = stream(1)
    X = np.asarray(source.uniform((n, len(LENGTHS)))) * 4.0
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.3 * source.normal(n)


def sides(n: int) -> dict[str, tuple[Ask, Ask]]:
    """Each task: ours and theirs, at the same hyperparameters, none of which is fitted."""
    X, y = _table(n)
    ours = GPRegressor(RBF(1.5, LENGTHS), noise_var=NOISE_VAR, mean="zero", optimise=False).fit(
        X, y
    )
    kernel = 1.5 * kernels.RBF(LENGTHS) + kernels.WhiteKernel(NOISE_VAR)
    theirs = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)
    z = (y > np.median(y)).astype(int)
    voting = GPClassifier(RBF(1.5, LENGTHS), optimise=False).fit(X, z)
    peers = GaussianProcessClassifier(1.5 * kernels.RBF(LENGTHS), optimizer=None).fit(X, z)
    return {
        "mean": (ours.predict, theirs.predict),
        "mean and deviation": (
            lambda rows: ours.predict(rows, return_std=True),
            lambda rows: theirs.predict(rows, return_std=True),
        ),
        "class": (voting.predict, peers.predict),
        "probabilities": (voting.predict_proba, peers.predict_proba),
    }


def apart(one: Any, other: Any) -> float:
    """How far two answers differ at most."""
    return float(np.abs(np.asarray(one) - np.asarray(other)).max())


def microseconds(asks: tuple[Ask, Ask], rows: Any, calls: int, rounds: int) -> list[float]:
    """Of the processor for a call of each, in the median of rounds that are taken in turns."""
    spent: list[list[float]] = [[], []]
    for _ in range(rounds):
        for ask, kept in zip(asks, spent, strict=True):
            began = time.process_time()
            for _ in range(calls):
                ask(rows)
            kept.append((time.process_time() - began) / calls * 1e6)
    return [median(kept) for kept in spent]


def main() -> int:
    """Measure and print; 1 if answers differ, whatever the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readings", type=int, default=500)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9)
    wanted = parser.parse_args()
    fresh, code = stream(2).uniform((100, len(LENGTHS))) * 4.0, 0
    print(f"| of {wanted.readings} readings | rows | gpnotes | scikit-learn | ratio |")
    print("| --- | --- | --- | --- | --- |")
    for task, asks in sides(wanted.readings).items():
        gap = apart(*(ask(fresh) for ask in asks))
        code |= not gap <= TOLERANCES[task]
        for count in (1, 100):
            calls = max(wanted.calls // (1 if count == 1 else 5), 1)
            ours, theirs = microseconds(asks, fresh[:count], calls, wanted.rounds)
            numbers = f"{ours:.0f} µs | {theirs:.0f} µs | {ours / theirs:.2f}"
            print(f"| {task} | {count} | {numbers} |")
        print(f"{task}: answers differ by at most {gap:.1e}", file=sys.stderr)
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
