"""The tasks that are timed agree with their rivals, and a ratio that grew is a failure."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
SUBJECTS = ["approximate", "chains", "deep", "draws", "exact", "games", "line", "moments"]
SUBJECTS += ["processes", "search", "small"]


@pytest.fixture
def harness(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The harness of the folder, which is no package, for one test."""
    for name in ("sklearn", "threadpoolctl", "jax", "gymnasium"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    before = set(sys.modules)
    yield importlib.import_module("harness")
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("harness", "tasks", "kept", "run"):
            sys.modules.pop(name)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_those_who_are_timed_give_the_same_answer(harness: Any, subject: str) -> None:
    tasks = importlib.import_module(f"tasks.{subject}").TASKS
    for name, task in tasks.items():
        row = harness.measured(task, task.small, rounds=1)
        assert row["disagreement"] <= task.close, name
        assert row["times"]["gpnotes"] > 0.0
        assert row["files"] or name == "import"


def test_every_subject_has_its_tasks_in_the_table(harness: Any, root: Path) -> None:
    tasks = importlib.import_module("tasks")
    assert sorted(one.__name__ for one in tasks.MODULES) == [f"tasks.{name}" for name in SUBJECTS]
    assert len(tasks.TASKS) == sum(len(one.TASKS) for one in tasks.MODULES)


def test_the_memory_of_the_gradient_is_seen_and_is_one_matrix_and_a_few_tiles(harness: Any) -> None:
    n = 1500
    peak = harness.peak_bytes("evidence", "gpnotes", n)
    if peak is None:
        pytest.skip("this system does not tell a process its memory")
    assert 1.0 < peak / (8 * n**2) < 1.6


@pytest.mark.parametrize(("name", "few"), [("game", 1000), ("exact game", 300)])
def test_memory_for_a_game_is_bounded_by_chunks_and_not_by_the_batch(
    harness: Any, name: str, few: int
) -> None:
    peaks = [harness.peak_bytes(name, "gpnotes", n) for n in (few, 6 * few)]
    if peaks[0] is None:
        pytest.skip("this system does not tell a process its memory")
    assert peaks[1] < 1.3 * peaks[0] + 15e6


@pytest.mark.parametrize(("off", "code"), [(0.0, 0), (1e-3, 1), (float("nan"), 1)])
def test_answers_that_differ_end_in_an_error(
    harness: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, off: float, code: int
) -> None:
    tasks, run = importlib.import_module("tasks"), importlib.import_module("run")
    ways = {"gpnotes": lambda n: lambda: 1.0, "rival": lambda n: lambda: 1.0 + off}
    monkeypatch.setitem(tasks.TASKS, "toy", harness.Task("toy", "", int, ways, 3, 2))
    target = tmp_path / "new" / "b.json"
    monkeypatch.setattr(sys, "argv", ["run", "toy", "--rounds", "1", "--json", str(target)])
    assert run.main() == code
    assert target.exists()
