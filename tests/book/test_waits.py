"""The script that measures how long a reader waits, on a page of known tasks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import waits as tool  # noqa: E402

BUSY = "const end = performance.now() + 550; while (performance.now() < end) { /* busy */ }"


def test_a_task_of_half_a_second_is_counted(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "busy.html").write_text(
        f"<p>Words.</p><script>setTimeout(() => {{ {BUSY} }})</script>"
    )
    monkeypatch.setattr(tool, "HTML", tmp_path)
    monkeypatch.setattr(tool, "REST", 1500)
    took, longest = tool.blocking(browser, "busy.html", 390)
    assert longest >= 0.45
    assert took >= longest


def test_each_figure_has_its_slowest_state(browser: Any) -> None:
    found = dict(tool.figures(browser))
    assert len(found) == len(list(tool.STATIC.glob("*-playground.js")))
    for kind, states in found.items():
        took = [one for _, one in states]
        assert took == sorted(took, reverse=True), kind
        assert took[-1] > 0
    assert "pairs 400" in dict(found["features"])
