"""What a notebook needs far from its book: the equations of every page, the items, the tables.

They go into the book's own folder, ``_equations``, where `markup.carrying` finds them from any
folder below it. Another folder may be named, but never one of an installed package.
"""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

from . import markup
from .mathjax_macros import commands, in_place

__all__ = ["pack"]


def pack(book: Path, to: Path | None = None) -> list[Path]:
    """Write the equations of every page of `book`, its list of items and its tables into `to`.

    Returns the files written, ``equations.json`` first. Raises `ValueError` where a page cannot
    be read, where no page has a labelled equation, and where `to` lies in an installed package.
    """
    to = book / markup.PACKED if to is None else to
    _refuse_installed(to)
    content = json.dumps(_pages(book), indent=1, ensure_ascii=False) + "\n"
    tables = [book / "sources" / "items.tsv", *sorted(book.glob("data/*.csv"))]
    to.mkdir(parents=True, exist_ok=True)
    (to / "equations.json").write_text(content, encoding="utf-8")
    return [to / "equations.json", *(_copied(table, to) for table in tables if table.is_file())]


def _refuse_installed(folder: Path) -> None:
    for scheme in ("purelib", "platlib"):
        installed = Path(sysconfig.get_path(scheme)).resolve()
        if folder.resolve().is_relative_to(installed):
            raise ValueError(
                f"to must be a folder of the book, not of an installed package; got {folder}"
            )


def _pages(book: Path) -> dict[str, dict[str, dict]]:
    """The labelled equations of every page that has some."""
    pages = {
        path.relative_to(book).with_suffix("").as_posix(): _entries(path)
        for path in sorted(book.rglob("*.md"))
        if not any(part.startswith(("_", ".")) for part in path.relative_to(book).parts)
    }
    kept = {slug: entries for slug, entries in pages.items() if entries}
    if not kept:
        raise ValueError(f"book must have a page with a labelled equation; {book} has none")
    return kept


def _entries(path: Path) -> dict[str, dict]:
    """The equations without the book's macros, which a notebook far from it would lack."""
    try:
        found = markup.read(path)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error
    macros = commands(path.resolve().parent)
    alone = [in_place(equation, macros) for equation in found.values()]
    return {e.label: {"latex": e.latex, "line": e.line} for e in alone}


def _copied(table: Path, to: Path) -> Path:
    (to / table.name).write_bytes(table.read_bytes())
    return to / table.name
