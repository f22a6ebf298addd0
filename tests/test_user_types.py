"""The code of a page for users, as pyright gets it from `tools/user_types.py`."""

from __future__ import annotations

import user_types


def test_the_code_of_a_page_stands_on_the_lines_of_the_page():
    for name in user_types.PAGES:
        page = user_types.ROOT / name
        code = [(i, line) for i, line in enumerate(user_types.program(page).splitlines()) if line]
        assert len(code) > 9, name
        lines = page.read_text("utf-8").splitlines()
        assert all(lines[i].removeprefix(">>> ").removeprefix("... ") == line for i, line in code)
