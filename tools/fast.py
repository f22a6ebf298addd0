"""The fast part of the tests: what a processor, or a version of a library, may decide.

Not the book, the browser, the benchmarks and the rules of the house (marker `slow`): these read
files, or run what the fast part has run already.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SELECTION = [
    "tests",
    "engine/tests",
    "papers/tests",
    "-m",
    "not slow and not book and not browser and not nightly",
    "--ignore=tests/book",
]
SELECTION += ["--ignore=tests/notebooks"]
# The strict array library works with NumPy's arrays: another processor tells it nothing new.
NUMPY_ALONE = ["-k", "not (strict-device1 or strict-CPU_DEVICE or strict-no_float64)"]


@dataclass(frozen=True)
class Result:
    """End of a run: pytest's last words, the tests that failed, the seconds it took."""

    closing: str
    failed: tuple[str, ...]
    seconds: float
    fine: bool


def run(
    env: dict[str, str],
    *,
    python: str = sys.executable,
    workers: int = 2,
    but: Sequence[str] = (),
) -> Result:
    """Run the fast part in the environment given, with options of pytest that leave some out."""
    command = [python, "-m", "pytest", *SELECTION, *but, "-q", "-p", "no:cacheprovider"]
    command += ["--color=no", "-n", str(workers), "--dist", "loadfile"]
    start = time.monotonic()
    env = {**os.environ, "CI": "false", **env}  # what one environment lacks may be skipped there
    done = subprocess.run(command, cwd=ROOT, env=env, text=True, capture_output=True, check=False)
    seconds = time.monotonic() - start
    return Result(
        _closing(done.stdout) or (done.stderr.strip().splitlines() or ["no tests ran"])[-1],
        tuple(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)),
        seconds,
        done.returncode == 0,
    )


def _closing(output: str) -> str:
    """Return ``5 failed, 70 passed`` from pytest's last line."""
    found = re.findall(r"^(?:=+ )?(\d+ \w+(?:, \d+ \w+)*) in [\d.]+s", output, re.M)
    return found[-1] if found else ""
