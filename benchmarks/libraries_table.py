"""The tasks of `gpu_table` on the processor: NumPy's arrays, PyTorch's and JAX's, in turns.

``python benchmarks/libraries_table.py`` prints a table of median seconds. PyTorch is added by
``make torch``. The answers are compared with NumPy's; what compiles does so before the first round.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import torch
from gpu_table import CLOSE, evidence, features, in_turns, inducing, prediction

from gpnotes import to_numpy

ROUNDS = 5
LIBRARIES: dict[str, Callable[[np.ndarray], Any]] = {
    "NumPy": np.asarray,
    "PyTorch": lambda a: torch.tensor(a),
    "JAX": jax.numpy.asarray,
}
TASKS = {
    "evidence and gradient, n = 500": (evidence, 500),
    "evidence and gradient, n = 2000": (evidence, 2000),
    "mean and variance at 5000 points, n = 2000": (prediction, 2000),
    "500 inducing points, n = 20 000: bound and gradient": (inducing, 20_000),
    "500 random features, n = 20 000: weights and 1000 means": (features, 20_000),
}


def timed(task: Callable[..., Callable[[], Any]], n: int) -> dict[str, float]:
    """Median seconds of a task by library; an error where one says another thing than NumPy."""
    calls = {name: task(arrays, n) for name, arrays in LIBRARIES.items()}
    answers = {name: to_numpy(call()) for name, call in calls.items()}
    for name, answer in answers.items():
        gap = np.max(np.abs(answer - answers["NumPy"])) / np.max(np.abs(answers["NumPy"]))
        if not gap < CLOSE:
            raise AssertionError(f"{task.__name__} of {n}: {name} differs by {gap:.3g}")
    return in_turns(calls, ROUNDS, _seconds)


def _seconds(call: Callable[[], Any]) -> float:
    """Until the numbers are there: JAX's are waited for."""
    start = time.perf_counter()
    to_numpy(call())
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    jax.config.update("jax_enable_x64", True)
    print(f"| task | {' | '.join(LIBRARIES)} |")
    print("| --- |" + " --- |" * len(LIBRARIES))
    for title, (task, n) in TASKS.items():
        seconds = timed(task, n).values()
        print(f"| {title} | " + " | ".join(f"{one:.3g} s" for one in seconds) + " |")


if __name__ == "__main__":
    main()
