"""The result of the flip test: slips in the text of the chapters, and how many were noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ..book.html import element, inline_math, phrase, say, table

__all__ = ["flips"]

Data = Mapping[str, Any]


def flips(result: Data | None, named: Callable[[str], str] = say) -> str:
    """What the flip test found when it edited the text of the chapters.

    `named` writes the name of an equation, as a link where there is something to link to. Slips
    that read the same, at several places of one equation, share a line.
    """
    if not result:
        return element("p", "The flip test has not been run on this state of the book.")
    said = (
        f"{result['caught']} of {result['edits']} edits in the text of the checked equations, one "
        "at a time and wherever they fit, were caught by the chapters' own checks: "
        f"{result['caught_by_numbers']} because the numbers then disagree or do not fit, the "
        "others because what they leave cannot be read with the symbols that are bound."
    )
    kinds = result.get("kinds", {})
    rows = [
        element("tr", *map(_cell, (say(kind), str(counts["edits"]), str(counts["caught"]))))
        for kind, counts in kinds.items()
    ]
    shown = table("eqn-small", ("edit", "made", "caught"), rows)
    lines = Counter(_missed(entry, named) for entry in result.get("uncaught", ()))
    missed = [_listed(line, count) for line, count in lines.items()]
    between = _between(result["passing"]) if result.get("passing") else ""
    return element("p", say(said)) + (shown if rows else "") + _bullets(missed) + between


def _between(counts: Data) -> str:
    said = (
        f"Of {counts['edits']} such edits in the relations that are evaluated in passing, "
        f"{counts['caught_by_numbers']} are false then, and the build fails; "
        f"{counts['caught'] - counts['caught_by_numbers']} leave what can no longer be "
        f"evaluated, and a test notices the loss; "
        f"{counts['edits'] - counts['caught']} leave a relation that holds as well."
    )
    return element("p", say(said))


def _missed(entry: Data, named: Callable[[str], str]) -> str:
    why = say(entry.get("why", "not explained"))
    edit = phrase(_slip(entry), inline_math)
    return f"{named(entry['label'])}: {edit}; {why}"


def _listed(line: str, count: int) -> str:
    return element("li", line if count == 1 else f"{line} ({count} places)")


def _slip(entry: Data) -> str:
    """The name of a slip; of two symbols that are confused, each between dollars."""
    if entry.get("kind") != "one symbol for another":
        return entry["edit"]
    return " for ".join(f"${symbol}$" for symbol in entry["edit"].split(" for "))


def _bullets(entries: list[str]) -> str:
    return element("ul", *entries) if entries else ""


def _cell(text: str) -> str:
    return element("td", text)
