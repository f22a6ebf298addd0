"""The fast part of the tests as other processors would run it: ``python tools/machines.py``.

OpenBLAS has kernels for each family of processors, and NumPy has loops for each set of
instructions; each rounds in its own way. Here both are told to do as on other machines, where this
one can; then with two threads, and beside eight processes that keep the machine busy. A table
says what ran, with which kernels (as the library itself says), and what could not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import fast

# Families that OpenBLAS has kernels for, and what a processor needs in order to run them.
FAMILIES = {
    "Prescott": {"SSE3"},
    "Nehalem": {"SSE42"},
    "Sandybridge": {"AVX"},
    "Haswell": {"AVX2", "FMA3"},
    "Zen": {"AVX2", "FMA3"},
    "SkylakeX": {"AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL"},
}
WIDE = ("AVX2", "FMA3", "AVX512", "X86_V3", "X86_V4")  # as NumPy before and after 2.4 calls them
BUSY = 8

# What an interpreter with a given environment sees: features, NumPy's own loops, BLAS libraries.
PROBE = """
import json
import numpy, scipy.linalg, threadpoolctl
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
print(json.dumps({
    "features": [name for name, has in __cpu_features__.items() if has],
    "loops": [name for name in __cpu_dispatch__ if __cpu_features__[name]],
    "kernels": sorted({pool.get("architecture", "unknown") for pool in pools}),
    "threads": sorted({pool["num_threads"] for pool in pools}),
}))
"""


@dataclass(frozen=True)
class Kind:
    """A way to run: the environment that asks for it, and the number of busy processes."""

    name: str
    env: dict[str, str] = field(default_factory=dict)
    busy: int = 0


@dataclass(frozen=True)
class Sight:
    """Findings of a probe."""

    features: frozenset[str]
    loops: tuple[str, ...]
    kernels: str
    threads: int


def environment(threads: int = 1, **more: str) -> dict[str, str]:
    """Return the variables that fix the number of BLAS threads, and more."""
    return {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads), **more}


def probe(env: dict[str, str]) -> Sight:
    """Return the findings of an interpreter with the variables given."""
    command = [sys.executable, "-W", "error", "-c", PROBE]
    done = subprocess.run(
        command, env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    seen = json.loads(done.stdout)
    return Sight(
        frozenset(seen["features"]),
        tuple(seen["loops"]),
        "+".join(seen["kernels"]),
        max(seen["threads"], default=0),
    )


def lacking(family: str, features: frozenset[str]) -> list[str]:
    """Return the features that a processor lacks for the kernels of a family."""
    return sorted(FAMILIES[family] - features)


def wide(loops: Sequence[str]) -> list[str]:
    """Return the sets of instructions, of those that NumPy has loops for, that go beyond SSE."""
    return [name for name in loops if name.startswith(WIDE)]


def families(here: Sight) -> Iterator[tuple[Kind | None, str, str]]:
    """Yield each family once: a kind to run, or none with the reason; and the kernels taken."""
    taken: dict[str, str] = {}
    for family in FAMILIES:
        if lack := lacking(family, here.features):
            yield None, family, f"not runnable: no {', '.join(lack)}"
            continue
        kind = Kind(family, environment(OPENBLAS_CORETYPE=family))
        kernels = probe(kind.env).kernels
        if kernels in taken:
            yield None, family, f"has the kernels of {taken[kernels]} here ({kernels})"
            continue
        taken[kernels] = family
        yield kind, family, kernels


def other(here: Sight) -> Iterator[tuple[Kind | None, str, str]]:
    """Yield one family whose kernels are not the native ones: Haswell if it can be."""
    order = ("Haswell", "SkylakeX", "Sandybridge", "Nehalem", "Prescott")
    for family in (name for name in order if not lacking(name, here.features)):
        kind = Kind(family, environment(OPENBLAS_CORETYPE=family))
        kernels = probe(kind.env).kernels
        if kernels != here.kernels:
            yield kind, family, kernels
            return
    yield None, "another family", f"no kernels here but {here.kernels}"


def others(here: Sight) -> Iterator[tuple[Kind | None, str, str]]:
    """Yield the native kernels with narrow loops, with two threads, and on a busy machine."""
    if names := wide(here.loops):
        env = environment(NPY_DISABLE_CPU_FEATURES=" ".join(names))
        assert not wide(probe(env).loops), "NumPy kept loops that it was told to do without"
        yield (
            Kind("narrow loops", env),
            "narrow loops",
            f"{here.kernels}, NumPy without {', '.join(names)}",
        )
    else:
        yield None, "narrow loops", "NumPy has no wide loops here"
    pair = environment(2)
    if (threads := probe(pair).threads) == 2:
        yield Kind("two threads", pair), "two threads", here.kernels
    else:
        yield None, "two threads", f"BLAS takes {threads} here"
    yield Kind("busy", environment(), BUSY), f"beside {BUSY} busy processes", here.kernels


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep the machine busy with `count` processes."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def main() -> int:
    """Run what is asked for, print the table, and say whether all was well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2, help="processes for the tests")
    parser.add_argument("--other", action="store_true", help="one family beside the native")
    given = parser.parse_args()
    here = probe(environment())
    print(f"native: {here.kernels}, NumPy's loops: {', '.join(here.loops) or 'none'}", flush=True)
    plans = list(other(here)) if given.other else [*families(here), *others(here)]
    return max([show(*plan, given.workers) for plan in plans], default=0)


def show(kind: Kind | None, name: str, what: str, workers: int) -> int:
    """Run one kind and print its row; 1 if something failed."""
    if kind is None:
        print(f"{name:<24} {'-':<42} {what}", flush=True)
        return 0
    with busy(kind.busy):
        result = fast.run(kind.env, workers=workers, but=fast.NUMPY_ALONE)
    print(f"{name:<24} {result.closing:<42} {result.seconds:5.0f} s  {what}", flush=True)
    for test in result.failed:
        print(f"    {test}", flush=True)
    return 0 if result.fine else 1


if __name__ == "__main__":
    sys.exit(main())
