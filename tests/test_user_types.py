"""The code of a page for users, as pyright gets it from `tools/user_types.py`."""

from __future__ import annotations

import user_types


def test_the_code_of_a_page_stands_on_the_lines_of_the_page():
    for name in user_types.PAGES:
        page = user_types.ROOT / name
        typed = user_types.program(page).splitlines()
        code = [(i, line) for i, line in enumerate(typed) if line]
        assert len(code) > 9, name
        lines = page.read_text("utf-8").splitlines()
        assert all(lines[i].removeprefix(">>> ").removeprefix("... ") == line for i, line in code)


def test_pyright_is_asked_about_pages_and_tests(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(user_types, "BUILT", tmp_path)
    monkeypatch.setattr(user_types.subprocess, "call", lambda command: asked.append(command) or 3)
    assert user_types.main() == 3
    assert len(list(tmp_path.iterdir())) == len(user_types.PAGES) > 1
    assert asked[0][-2:] == [user_types.ROOT / "tests" / "typing", tmp_path]
