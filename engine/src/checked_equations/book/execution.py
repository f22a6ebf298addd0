"""The code of a page, run outside a notebook: for tests, and for whoever has no builder."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from . import markup
from .chapter import Chapter

__all__ = ["chapters", "run_chapter"]


def run_chapter(path: Path, slug: str) -> Chapter:
    """Run the code cells of the chapter at `path` and return its `Chapter` with its checks."""
    path = path.resolve()
    scope: dict[str, Any] = {"__name__": "__main__"}
    with _figures_without_windows(), chdir(path.parent), redirect_stdout(io.StringIO()):
        for line, code in markup.cells(path.read_text(encoding="utf-8")):
            exec(compile("\n" * (line - 1) + code, path.name, "exec"), scope)
    opened = [v for v in scope.values() if isinstance(v, Chapter) and v.slug == slug]
    if not opened:
        raise ValueError(f"{path.name} opens no Chapter({slug!r})")
    return opened[0]


@contextmanager
def _figures_without_windows() -> Iterator[None]:
    """The kernels of a book that is built later in this process choose how they show figures."""
    before = os.environ.get("MPLBACKEND")
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("MPLBACKEND", None)


def chapters(book: Path) -> list[str]:
    """The slugs of the pages of `book` whose code opens a `Chapter` of their own."""
    pages = {path.relative_to(book).with_suffix("").as_posix(): path for path in book.rglob("*.md")}
    return [slug for slug, path in sorted(pages.items()) if f'Chapter("{slug}"' in _code(path)]


def _code(path: Path) -> str:
    return "\n".join(code for _, code in markup.cells(path.read_text(encoding="utf-8")))
