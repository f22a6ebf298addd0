"""What a book's own extension adds to the pages: it answers two events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sphinx.environment import BuildEnvironment

from .ledger import Added, Book

EVENTS = ("equations-ledger", "equations-names")


@dataclass(frozen=True)
class Named:
    """What a record may be about, seen from one page.

    `label` is the equation that it goes with, `address` where the book tells of it, and `marks`
    is what a record about it leaves in the margin, as HTML, by the kind of the record.
    """

    label: str = ""
    address: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)


def added_to(env: BuildEnvironment, book: Book) -> Added:
    """What the extensions of the book add to its ledger."""
    answers: list[Added] = env.events.emit("equations-ledger", book)
    return Added(
        columns={title: words for one in answers for title, words in one.columns.items()},
        totals={name: count for one in answers for name, count in one.totals.items()},
        told=tuple(pair for one in answers for pair in one.told),
        data={key: value for one in answers for key, value in one.data.items()},
    )


def named_on(env: BuildEnvironment, book: Book, docname: str) -> dict[str, Named]:
    """What records are about, by its name, as the extensions of the book have it."""
    answers: list[Mapping[str, Named]] = env.events.emit("equations-names", book, docname)
    return {name: named for one in answers for name, named in one.items()}
