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
    sys.modules.pop("gpu_table")


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


def test_every_task_has_the_answer_of_numpy_there(gpu: Any) -> None:
    small = {name: (task, (30,)) for name, (task, _) in gpu.TASKS.items()}
    with cupy_stand_in.installed():
        found = gpu.rows(small, rounds=1)
    assert [row["task"] for row in found] == list(gpu.TASKS)
    assert all(set(row["seconds"]) == set(gpu.PLACES) for row in found)


def test_another_answer_than_that_of_numpy_is_an_error(gpu: Any) -> None:
    def wrong(arrays: Any, n: int) -> Any:
        return lambda: arrays([1.0 if arrays is np.asarray else 2.0])

    with cupy_stand_in.installed(), pytest.raises(AssertionError, match="wrong of 3: CuPy and"):
        gpu.timed(wrong, 3, 1)


def test_the_pages_say_what_is_kept(gpu: Any, root: Path) -> None:
    kept = gpu.read()
    assert gpu.BETWEEN.search(gpu.PAGE.read_text("utf-8"))[0] == gpu.table(kept)
    assert gpu.LINE.search(gpu.README.read_text("utf-8"))[0] == gpu.line(kept)
    assert gpu.read(root / "nowhere") is None
