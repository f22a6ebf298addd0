"""What is said of a display is the same on a slow machine, or a busy one, as on any other.

Effort is counted and not timed. What was computed before must not make it less: a finding is that
of the display alone, whichever were tried before it, and whatever is remembered of them.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import small_efforts
from small_efforts import DISPLAYS, MOST

import checked_papers

SOURCES = Path(checked_papers.__file__).parent
CLOCKS = {"time", "timeit", "signal", "sched"}


@pytest.fixture(scope="module")
def findings() -> dict[str, str]:
    return small_efforts.found(DISPLAYS)


def test_a_small_limit_binds_and_a_larger_one_less_often(findings):
    """So that the other tests see limits at work."""
    late = [
        sum("takes too long" in findings[f"{most}: {one}"] for one in DISPLAYS) for most in MOST
    ]
    assert 0 < late[1] < late[0] < len(DISPLAYS)


def test_the_same_is_found_again_whatever_was_tried_before(findings):
    again = small_efforts.found(DISPLAYS[::-1])
    assert {key for key, said in again.items() if said != findings[key]} == set()


def test_the_same_is_found_in_another_process_by_a_faster_clock(findings):
    own = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, small_efforts.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=own)
    other = json.loads(done.stdout)
    assert {key for key, said in other.items() if said != findings[key]} == set()


def test_nothing_reads_a_clock_but_the_last_resort():
    read = {source.name: imported(source) for source in SOURCES.rglob("*.py")}
    assert [name for name, modules in read.items() if modules & CLOCKS] == ["time_limit.py"]


def imported(source: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found
