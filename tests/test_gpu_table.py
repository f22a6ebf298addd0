"""What `make gpu` refuses, times and writes down; on the stand-in for CuPy, which is no GPU."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cupy_stand_in
import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def gpu(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    yield importlib.import_module("gpu_table")
    for name in ("gpu_table", "gpu_rivals"):
        sys.modules.pop(name)


def test_where_there_is_no_device_it_says_what_is_missing(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(sys, "argv", ["gpu_table.py"])
    assert gpu.main() == 2
    assert "CuPy is not installed: .venv/bin/python -m pip install" in capsys.readouterr().err
    with cupy_stand_in.installed() as cupy:
        assert gpu.refusal() is None
        monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 0)
        assert gpu.refusal().endswith("there is no device")


def test_every_task_has_the_answer_of_numpy_there(
    gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "STEPS", 2)
    monkeypatch.setattr(gpu.rivals, "with_device", lambda name: False)
    small = {name: task._replace(sizes=(30,)) for name, task in gpu.TASKS.items()}
    with cupy_stand_in.installed():
        found = list(gpu.rows(small, rounds=1))
    assert [row["task"] for row in found] == list(gpu.TASKS)
    assert all(set(row["seconds"]) == {"NumPy", "CuPy", "CuPy float32"} for row in found)


def test_what_would_begin_too_late_is_left_out(
    gpu: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(gpu.rows(gpu.TASKS, rounds=1, seconds=-1.0)) == []
    assert capsys.readouterr().out.count("left out for want of time") == 10


def test_the_suite_runs_in_processes_and_without_plugins_that_stand_around(gpu: Any) -> None:
    command = " ".join(gpu.of_suite())
    assert "-p no:benchmark" in command
    assert " -n " in command
    assert "--ignore tests/book" in command


def test_a_rival_with_a_device_has_its_columns_and_one_that_fails_has_none(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu.rivals, "with_device", lambda name: name == "gpytorch")
    by_hand = {"GPyTorch": lambda n, dtype: (lambda: np.ones(n)) if dtype == "float64" else 1 / 0}
    task = gpu.Task(lambda arrays, n: lambda: arrays(np.ones(n)), (3,), by_hand)
    with cupy_stand_in.installed():
        (row,) = gpu.rows({"ones": task}, rounds=1)
    assert set(row["seconds"]) == {"NumPy", "CuPy", "CuPy float32", "GPyTorch"}
    assert "GPyTorch float32 failed: ZeroDivisionError" in capsys.readouterr().out
    kept = {"rows": [row], "device": "d", "cupy": "1", "host": "h", "day": "0", "tests": {}}
    row["seconds"].pop("NumPy")
    shown = gpu.table({**kept, "rows": [{"task": "a", "n": 1, "seconds": {"NumPy": 1.0}}, row]})
    assert "| a | 1 | 1 s | – | – | – |" in shown


def test_another_answer_than_that_of_numpy_is_an_error(gpu: Any) -> None:
    def wrong(arrays: Any, n: int) -> Any:
        return lambda: arrays([1.0 if arrays is np.asarray else 2.0])

    with cupy_stand_in.installed(), pytest.raises(AssertionError, match="wrong of 3: CuPy and"):
        gpu.timed("wrong", 3, 1, gpu.Task(wrong, (3,)))


def test_the_pages_say_what_is_kept(gpu: Any, root: Path) -> None:
    kept = gpu.read()
    assert gpu.BETWEEN.search(gpu.PAGE.read_text("utf-8"))[0] == gpu.table(kept)
    assert gpu.LINE.search(gpu.README.read_text("utf-8"))[0] == gpu.line(kept)
    assert gpu.read(root / "nowhere") is None
