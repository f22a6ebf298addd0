"""The chapters of a book, found and run here, for tests that need what their cells have made."""

from __future__ import annotations

import io
import os
from contextlib import chdir, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from checked_equations import Chapter
from checked_equations.book.execution import cells, named


@cache
def chapters(book: Path) -> list[str]:
    """The slugs of the pages of `book` whose code opens a `Chapter` of their own."""
    pages = {path.relative_to(book).with_suffix("").as_posix(): path for path in book.rglob("*.md")}
    code = {slug: "\n".join(cell.code for cell in cells(path)) for slug, path in pages.items()}
    return sorted(slug for slug in pages if f'Chapter("{slug}"' in code[slug])


def run_chapter(path: Path, slug: str) -> Chapter:
    """Run the code cells of the chapter at `path` and return its `Chapter` with its checks."""
    path = path.resolve()
    scope: dict[str, Any] = {"__name__": "__main__"}
    drawn = {"MPLBACKEND": os.environ.get("MPLBACKEND", "agg")}  # figures without windows
    with patch.dict(os.environ, drawn), chdir(path.parent), redirect_stdout(io.StringIO()):
        for cell in cells(path):
            above = "\n" * (cell.line - 1)
            exec(compile(above + cell.code, named(cell, path), "exec"), scope)
    opened = [v for v in scope.values() if isinstance(v, Chapter) and v.slug == slug]
    assert opened, f"{path.name} opens no Chapter({slug!r})"
    return opened[0]
