"""Equations of a chapter far from its book: an installed package may carry the pages.

The package declares the folder of its book as an entry point (see `settings`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..latex.equation import Equation
from ..latex.macros import expand_equation
from . import markup, settings


def carried_equations(slug: str) -> dict[str, Equation]:
    """Return the equations of a chapter by their labels, from the first package that has its page.

    Raises `ValueError` where none has, and where the page cannot be read.
    """
    places = settings.carried()
    for place in places:
        if (page := place / f"{slug}.md").is_file():
            return _equations(page)
    name = slug.rsplit("/", 1)[-1]
    known = (list(_slugs(place)) for place in places)
    raise ValueError(
        f"the chapter {slug} has no {name}.md or {name}.ipynb in {Path.cwd().name}/ "
        f"and is not among the packaged chapters: {', '.join(next(filter(None, known), ['none']))}"
    )


def _slugs(book: Path) -> Iterator[str]:
    for path in sorted(book.rglob("*.md")):
        name = path.relative_to(book)
        if not any(part.startswith(("_", ".")) for part in name.parts):
            yield name.with_suffix("").as_posix()


_read = settings.once_a_state(markup.read)  # since every verb looks again


def _equations(page: Path) -> dict[str, Equation]:
    """Return the equations of a page with the macros of its book written out."""
    try:
        equations = _read(page)
    except ValueError as error:
        raise ValueError(f"{page.name}: {error}") from error
    macros = settings.read_macros(page.resolve().parent)
    return {label: expand_equation(e, macros) for label, e in equations.items()}
