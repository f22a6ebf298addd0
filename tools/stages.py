"""Stages of a long run: commands whose times and endings one table shows."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_KINDS = ("failed", "passed", "skipped", "xfailed", "xpassed", "error")


@dataclass(frozen=True)
class Stage:
    """A command that has ended."""

    name: str
    began: float
    seconds: float
    cpu: float  # of the command and of all that it waited for
    status: int
    said: str = ""


def run(name: str, *command: str, keep: bool = False) -> Stage:
    """Run a command to its end, and keep what it says or let it through."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as log:
        out = {"stdout": log, "stderr": log} if keep else {}
        process = subprocess.Popen(command, **out)
        _, ended, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
        seconds = time.monotonic() - began
        log.seek(0)
        said = log.read().decode(errors="replace")
    return Stage(name, began, seconds, used.ru_utime + used.ru_stime, process.returncode, said)


def table(stages: Iterable[Stage]) -> str:
    """Return the stages in the order in which they began, and what all of them took."""
    rows = sorted(stages, key=lambda stage: stage.began)
    width = max(len(stage.name) for stage in rows)
    lines = [f"{'stage':{width}} {'wall s':>7} {'CPU s':>7}"]
    for stage in rows:
        ended = "failed" if stage.status else "ok"
        lines.append(f"{stage.name:{width}} {stage.seconds:7.0f} {stage.cpu:7.0f}   {ended}")
    wall = max(stage.began + stage.seconds for stage in rows) - rows[0].began
    lines.append(f"{'all':{width}} {wall:7.0f} {sum(stage.cpu for stage in rows):7.0f}")
    return "\n".join(lines)


def counts(said: Iterable[str]) -> str:
    """Return what runs of pytest counted together, as a line; ValueError if one did not end."""
    total: Counter[str] = Counter()
    for text in said:
        closings = re.findall(r"^=+ (.* in [\d.]+s.*) =+$", text, re.MULTILINE)
        if not closings:
            raise ValueError("a run of pytest did not end")
        for number, kind in re.findall(rf"(\d+) ({'|'.join(_KINDS)})", " ".join(closings)):
            total[kind] += int(number)
    return ", ".join(f"{total[kind]} {kind}" for kind in _KINDS if total[kind])
