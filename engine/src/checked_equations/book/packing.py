"""What a notebook needs far from its book: the equations of every page, and what goes with them.

They go into the book's own folder, ``_equations``, where a chapter finds them from any folder
below it. Another folder may be named, but never one of an installed package.
"""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..latex.equation import Equation
from . import markup
from .mathjax_macros import expand_equation, read_macros
from .notation import packed_rows
from .settings import CLAIMS, PACKED, Settings, carried, find_settings

__all__ = ["pack", "packed_equations"]


def pack(book: Path, to: Path | None = None) -> list[Path]:
    """Write the equations of every page of `book` into `to`, and what its settings carry.

    Returns the files written, ``equations.json`` first. Raises `ValueError` where a page cannot
    be read, where no page has a labelled equation, and where `to` lies in an installed package.
    """
    to = book / PACKED if to is None else to
    _refuse_installed(to)
    content = json.dumps(_pages(book), indent=1, ensure_ascii=False) + "\n"
    settings = find_settings(book, packed=False)
    to.mkdir(parents=True, exist_ok=True)
    (to / "equations.json").write_text(content, encoding="utf-8")
    others = [_copied(file, to) for file in settings.carried_files()]
    return [to / "equations.json", *others, *_notation(settings, to), *_claims(book, to)]


def _claims(book: Path, to: Path) -> Iterator[Path]:
    """What was found for the claims of the book, which the notebook need not find again."""
    for file in sorted((book / CLAIMS).rglob("*.json")):
        packed = to / CLAIMS / file.relative_to(book / CLAIMS)
        packed.parent.mkdir(parents=True, exist_ok=True)
        packed.write_bytes(file.read_bytes())
        yield packed


def _notation(settings: Settings, to: Path) -> Iterator[Path]:
    """The fields of the notation, as a file that needs no parser of YAML."""
    file = settings.notation_file
    if file is not None:
        packed = to / file.with_suffix(".json").name
        content = json.dumps(packed_rows(file), indent=1, ensure_ascii=False) + "\n"
        packed.write_text(content, encoding="utf-8")
        yield packed


def _refuse_installed(folder: Path) -> None:
    for scheme in ("purelib", "platlib"):
        installed = Path(sysconfig.get_path(scheme)).resolve()
        if folder.resolve().is_relative_to(installed):
            raise ValueError(
                f"to must be a folder of the book, not of an installed package; got {folder}"
            )


def _pages(book: Path) -> dict[str, dict[str, dict[str, Any]]]:
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


def _entries(path: Path) -> dict[str, dict[str, Any]]:
    """The equations without the book's macros, which a notebook far from it would lack."""
    try:
        equations = markup.read(path)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error
    macros = read_macros(path.resolve().parent)
    alone = [expand_equation(equation, macros) for equation in equations.values()]
    return {e.label: {"latex": e.latex, "line": e.line} for e in alone}


def _copied(file: Path, to: Path) -> Path:
    (to / file.name).write_bytes(file.read_bytes())
    return to / file.name


def packed_equations(slug: str, folder: Path) -> dict[str, Equation]:
    """The equations of the chapter `slug` in the packed data at or above `folder`.

    Else in those that an installed package carries. Raises `ValueError` where no data hold it.
    """
    above = [place / PACKED for place in (folder, *folder.parents)]
    everything = [_packed_pages(data) for data in (*above, *carried())]
    pages = next((pages for pages in everything if slug in pages), None)
    if pages is None:
        name = slug.rsplit("/", 1)[-1]
        known = sorted(next(filter(None, everything), {}))  # of the nearest copy
        raise ValueError(
            f"the chapter {slug} has no {name}.md or {name}.ipynb in {Path.cwd().name}/ "
            f"and is not among the packaged chapters: {', '.join(known) or 'none'}"
        )
    return {label: Equation(label, **entry) for label, entry in pages[slug].items()}


def _packed_pages(data: Path) -> dict[str, dict[str, Any]]:
    file = data / "equations.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
