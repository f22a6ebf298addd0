"""Sums over chunks by the builtin `map`, by two threads and by two processes of a Dask cluster.

A file holds 400 000 rows with eight inputs. Whoever works on a chunk of 25 000 rows fetches it from
the file; what comes back are the sums that regression on 400 random features needs. Ten rounds, in
turns; the memory is the most that NumPy's arrays hold in one process, in a round of its own.

Run it with `OMP_NUM_THREADS=1 python benchmarks/races/scaling_out.py`; it needs the extra `scale`,
takes one or two minutes and writes `src/gpnotes/data/scaling-out.csv`.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import distributed
import numpy as np

import gpnotes as gp
from gpnotes import (
    Chunks,
    FeatureGP,
    condition,
)
from gpnotes.infer import features

TARGET = Path(__file__).resolve().parents[2] / "src" / "gpnotes" / "data" / "scaling-out.csv"
ROWS, EACH, D, FEATURES, ROUNDS = 400_000, 25_000, 8, 400, 10
HEAD = ("way", "round", "seconds", "megabytes", "difference")


def fetch(path: str, start: int) -> tuple[np.ndarray, np.ndarray]:
    """A chunk of the file."""
    table = np.array(np.load(path, mmap_mode="r")[start : start + EACH])
    return table[:, :D], table[:, D]


def write(path: str) -> None:
    """The rows: a sum of sines with noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 4.0, size=(ROWS, D))
    y = np.sin(X).sum(axis=1) + 0.3 * rng.normal(size=ROWS)
    np.save(path, np.column_stack([X, y]))


def ways(client: Any, pool: ThreadPoolExecutor) -> dict[str, Callable[..., Any]]:
    """What can work out a sum over chunks."""

    def on_cluster(work: Any, chunks: Any) -> Any:
        futures = client.map(work, list(chunks), retries=2, pure=False)
        return (future.result() for future in distributed.as_completed(futures))

    return {"builtin": map, "threads": pool.map, "dask": on_cluster}


def traced(client: Any, call: Callable[[], Any]) -> float:
    """The most that arrays hold in one process, in 10⁶ bytes."""
    processes = [lambda function: [function()], lambda f: list(client.run(f).values())]
    for each in processes:
        each(tracemalloc.start)
    try:
        call()
        peaks = [peak for each in processes for _, peak in each(tracemalloc.get_traced_memory)]
    finally:
        for each in processes:
            each(tracemalloc.stop)
    return max(peaks) / 1e6


def main() -> int:
    """Write the table, a row for each way and round."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(2) as pool,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", local_directory=folder,
        ) as cluster,
        distributed.Client(cluster) as client,
        TARGET.open("w", newline="", encoding="utf-8") as file,
    ):  # fmt: skip
        path = str(Path(folder) / "rows.npy")
        write(path)
        chunks = [partial(fetch, path, start) for start in range(0, ROWS, EACH)]
        process = gp.GP(gp.RBF(4.0, np.full(D, 2.0)), 0.1)
        X, _ = fetch(path, 0)
        drawn = features.draw_frequencies(process.kernel, X, FEATURES, rng=gp.stream(0))
        table = np.load(path)
        means = condition(FeatureGP(process, drawn), table[:, :D], table[:, D]).mean(X[:100])
        del table
        calls = {
            name: partial(condition, FeatureGP(process, drawn), Chunks(chunks, map=way))
            for name, way in ways(client, pool).items()
        }
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        held = {name: traced(client, call) for name, call in calls.items()}
        for number in range(ROUNDS):
            for way, (name, call) in enumerate(calls.items()):
                started = time.perf_counter()
                posterior = call()
                seconds = time.perf_counter() - started
                difference = np.max(np.abs(posterior.mean(X[:100]) - means))
                shown = f"{seconds:.4f}", f"{held[name]:.1f}", f"{difference:.1e}"
                writer.writerow((way, number, *shown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
