"""What a notebook needs far from its book: the equations of every page, and what goes with them.

They go into the book's own folder, ``_equations``, where a chapter finds them from any below it. A
package that is installed may carry such a folder, or its book as it lies.
"""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..latex.equation import Equation
from ..latex.macros import expand_equation
from . import markup, settings


def pack(book: Path, to: Path | None = None) -> list[Path]:
    """Write the equations of every page of `book` into `to`, and what its settings carry.

    Returns the files written, ``equations.json`` first. Raises `ValueError` where no page has a
    labelled equation or one cannot be read, and where `to` lies in an installed package.
    """
    to = book / settings.PACKED if to is None else to
    for scheme in ("purelib", "platlib"):
        if to.resolve().is_relative_to(Path(sysconfig.get_path(scheme)).resolve()):
            said = f"to must be a folder of the book, not of an installed package; got {to}"
            raise ValueError(said)
    contents = {"equations.json": _json(_pages(book))}
    told = settings.find_settings(book, packed=False)
    if told.file:
        carried = (file for some in told.carry for file in sorted(told.file.parent.glob(some)))
        contents |= {file.name: file.read_bytes() for file in (*carried, told.file)}
    if notation := told.notation_file:  # its fields, as a file that needs no parser of YAML
        kept = ("latex", "shown", "fields", "chapter")
        rows = [{key: row[key] for key in kept if key in row} for row in told.rows()]
        contents[notation.with_suffix(".json").name] = _json([{"symbols": rows}])
    for file in sorted((book / settings.CLAIMS).rglob("*.json")):  # not to be found again
        contents[file.relative_to(book).as_posix()] = file.read_bytes()
    for name, content in contents.items():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_bytes(content)
    return [to / name for name in contents]


def _json(data: object) -> bytes:
    return f"{json.dumps(data, indent=1, ensure_ascii=False)}\n".encode()


def _pages(book: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """The labelled equations of every page that has some, or has claims."""
    pages = {}
    for slug, path in _texts(book):
        alone = _alone(path)
        if alone or settings.claims_file(book, slug).is_file():
            pages[slug] = {e.label: {"latex": e.latex, "line": e.line} for e in alone.values()}
    if not pages:
        raise ValueError(f"book must have a page with a labelled equation; {book} has none")
    return pages


def _texts(book: Path) -> Iterator[tuple[str, Path]]:
    """The pages of a book and their files."""
    for path in sorted(book.rglob("*.md")):
        name = path.relative_to(book)
        if not any(part.startswith(("_", ".")) for part in name.parts):
            yield name.with_suffix("").as_posix(), path


_read = settings.once_a_state(markup.read)  # since every verb looks again


def _alone(page: Path) -> dict[str, Equation]:
    """The equations of a page without macros, which are lacking far from the book."""
    try:
        equations = _read(page)
    except ValueError as error:
        raise ValueError(f"{page.name}: {error}") from error
    macros = settings.read_macros(page.resolve().parent)
    return {label: expand_equation(e, macros) for label, e in equations.items()}


def packed_equations(slug: str, folder: Path) -> dict[str, Equation]:
    """The equations of a chapter as they are packed above or carried by a package.

    Raises `ValueError` where there are none.
    """
    above = [place / settings.PACKED for place in (folder, *folder.parents)]
    places = [*above, *settings.carried()]
    for place in places:
        packed = _packed(place)
        if slug in packed:
            return {label: Equation(label, **entry) for label, entry in packed[slug].items()}
        if (page := place / f"{slug}.md").is_file():
            return _alone(page)
    name = slug.rsplit("/", 1)[-1]
    known = (sorted(_packed(place)) or [page for page, _ in _texts(place)] for place in places)
    raise ValueError(
        f"the chapter {slug} has no {name}.md or {name}.ipynb in {Path.cwd().name}/ "
        f"and is not among the packaged chapters: {', '.join(next(filter(None, known), ['none']))}"
    )


def _packed(place: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """The equations that are packed in a folder, by chapter and label; none where nothing is."""
    file = place / "equations.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
