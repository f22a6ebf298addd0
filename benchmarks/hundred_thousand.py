"""A hundred thousand rows of seven columns, in a process of their own: seconds and memory.

``python benchmarks/hundred_thousand.py`` makes a table of a flight's kind, fits a variational
process of 200 inducing inputs to it in 600 batches of 512 rows, asks for f and its variance at ten
thousand further rows, and prints the seconds by the clock and of the processor, the most memory
that the process ever held, and the table's own part of it. The work is done in a fresh process of
one thread, so that nothing else is measured; ``--threads`` gives it more, `--batch`
larger steps.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

ROWS, COLUMNS, INDUCING, STEPS, BATCH = 100_000, 7, 200, 600, 512
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def table(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of unlike size, a smooth truth of five of them, and readings of it."""
    draw = np.random.default_rng(seed)
    X = draw.uniform(size=(count, COLUMNS)) * [1.0, 10.0, 24.0, 7.0, 3000.0, 1.0, 1.0]
    truth = (
        20.0 * np.sin(X[:, 2] / 4.0) + 5.0 * np.cos(X[:, 3]) + X[:, 1] * X[:, 0] + X[:, 4] / 200.0
    )
    return X, truth + 10.0 * draw.standard_normal(count), truth


def most_memory() -> float:
    """The most that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def work(batch: int) -> dict[str, float]:
    """Fit and predict; seconds, memory, and how far off f is."""
    from gpnotes import GP, RBF, SVGP, Gaussian, fit

    X, y, _ = table(ROWS, 0)
    Xs, _, truth = table(10_000, 1)
    before, clock, processor = most_memory(), time.perf_counter(), time.process_time()
    kernel = RBF(float(np.var(y)), X.std(0) * COLUMNS**0.5)
    model = SVGP(GP(kernel, 0.0), Gaussian(float(np.var(y)) / 4.0), X[:INDUCING])
    found = fit(model, X, y - y.mean(), batch=batch, max_steps=STEPS, rng=0)
    mean, _ = found.posterior.predict(Xs)
    return {
        "seconds by the clock": time.perf_counter() - clock,
        "seconds of the processor": time.process_time() - processor,
        "MB at most": most_memory(),
        "MB before the fit, with the libraries and the table": before,
        "rmse of f, where a reading is off by 10": float(
            np.sqrt(np.mean((mean + y.mean() - truth) ** 2))
        ),
    }


def main() -> int:
    """Run the work in a process of its own, and print what it says."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--batch", type=int, default=BATCH)
    asked.add_argument("--here", action="store_true", help="do the work in this process")
    wanted = asked.parse_args()
    if wanted.here:
        print(json.dumps(work(wanted.batch)))
        return 0
    surroundings = {**os.environ, **dict.fromkeys(_THREADS, str(wanted.threads))}
    command = [sys.executable, __file__, "--here", "--batch", str(wanted.batch)]
    done = subprocess.run(command, env=surroundings, check=True, capture_output=True, text=True)
    print(f"{ROWS} rows, {COLUMNS} columns, {INDUCING} inducing inputs, {STEPS} batches of "
          f"{wanted.batch}, threads: {wanted.threads}")  # fmt: skip
    for name, value in json.loads(done.stdout.splitlines()[-1]).items():
        print(f"{name:54}{value:10.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
