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
KEPT = {
    "device": "A GPU", "cupy": "14.0", "host": "2 cores of a chip", "day": "2026-01-02",
    "tests": {"passed": 3, "skipped": 1},
    "rows": [
        {"task": "a task", "n": 10, "seconds": {"NumPy": 1.0, "CuPy": 0.5, "CuPy float32": 0.1}},
    ],
}  # fmt: skip


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
        monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 1 / 0)
        assert gpu.refusal().endswith("there is no device: division by zero")


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


def test_table_and_line_are_written_where_they_belong(gpu: Any, tmp_path: Path) -> None:
    page, readme = tmp_path / "page.md", tmp_path / "readme.md"
    page.write_text("a\n<!-- gpu: begin -->\nold\n<!-- gpu: end -->\nb\n", encoding="utf-8")
    readme.write_text("a\n- CuPy: old.\nb\n", encoding="utf-8")
    gpu.write(KEPT, page, readme)
    assert "| a task | 10 | 1 s | 0.5 s | 0.1 s |" in page.read_text("utf-8")
    assert "A GPU, CuPy 14.0; NumPy on 2 cores of a chip; 2026-01-02. " in page.read_text("utf-8")
    assert "Tests of arrays, on A GPU: 3 passed, 1 skipped." in page.read_text("utf-8")
    assert readme.read_text("utf-8").startswith("a\n- CuPy: 3 of 3 tests of arrays passed on A GPU")
    failed = {**KEPT, "tests": {"failed": 2, "error": 3, "passed": 1}, "tests_on": "Another"}
    assert "1 of 6 tests of arrays passed on Another, CuPy" in gpu.line(failed)
    assert "Tests of arrays, on Another: " in gpu.table(failed)
    with pytest.raises(ValueError, match="no place for it"):
        gpu.write(KEPT, readme, readme)


def test_the_counts_are_those_of_the_closing_line(gpu: Any) -> None:
    shown = "1 passed in 1.0s\n2 failed, 1416 passed, 3 skipped, 9 deselected in 350.92s (0:05:50)"
    assert gpu.counts(shown) == {"failed": 2, "passed": 1416, "skipped": 3}
    with pytest.raises(SystemExit, match="did not run"):
        gpu.counts("no tests ran in 0.1s")
