"""Where the settings of a book are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from checked_equations.book import settings


def test_what_is_installed_is_not_asked_where_a_file_is_near(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To go through all installed packages takes longer than to read a page."""
    asked: list[str] = []
    monkeypatch.setattr(settings, "carried", lambda: asked.append("packages") or ())
    assert settings.find_settings(tmp_path).file is None
    assert asked == ["packages"]
    (tmp_path / settings.NAME).write_text("", "utf-8")
    (tmp_path / "part").mkdir()
    assert settings.find_settings(tmp_path / "part").file == tmp_path / settings.NAME
    assert asked == ["packages"]
