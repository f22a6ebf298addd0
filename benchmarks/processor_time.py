"""The processor's seconds of one thread, taken in turns: other work on the machine shows least.

It is imported before NumPy, since libraries ask for their threads when they load.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)


def in_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each call in each round."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.freeze()  # what jax holds is not looked through on our time
    for _ in range(rounds):
        for name, call in calls.items():
            call()  # what the other one pushed out of the cache comes back
            before = time.process_time()
            call()
            seconds[name].append(time.process_time() - before)
    gc.unfreeze()
    return seconds
