"""What the verbs on a source leave behind: records of two kinds of the book's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from checked_equations.book.html import code, element, number, say, table
from checked_equations.book.records import Shown

__all__ = ["Refutation", "Verdict"]


@dataclass(frozen=True, repr=False)
class Refutation(Shown):
    """A formula of a source that does not hold, and the equation that does.

    `printed_residual` is `None` where the shapes of the formula do not conform. `taken` holds
    the source's words where it prints no such formula, and `granted` what was mended in a
    printed one, or supposed of the words, before it was evaluated.
    """

    chapter: str
    source_id: str
    latex: str
    printed_residual: float | None
    corrected_residual: float
    instead: str
    kind: str = "refutation"
    text: str = ""
    taken: str = ""
    granted: str = ""

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data, with what a page says of it."""
        how = "" if self.printed_residual is not None else ", its shapes do not conform"
        what = "at its word" if self.taken else "as printed"
        said = f"{self.source_id}: does not hold {what}{how}; {self.instead} does"
        return {**super().to_json(), "label": self.instead, "about": self.source_id, "said": said}

    def panel(self) -> str:
        """The formula of the source beside the equation that holds instead."""
        head = "as its words would have it" if self.taken else "as printed"
        rows = [
            (code(self.latex), number(self.printed_residual)),
            (say(self.instead), number(self.corrected_residual)),
        ]
        cells = (
            element("tr", element("td", what), element("td", off, class_="eqn-number"))
            for what, off in rows
        )
        return table("eqn-steps", (f"{head}, and instead", "residual"), cells)


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """The verdict on one item of a source."""

    chapter: str
    source_id: str
    verdict: str
    label: str = ""
    why: str = ""
    printed_residual: float | None = None
    corrected_residual: float | None = None
    kind: str = "source"

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data, with what a page says of it."""
        parts = [part for part in (self.verdict, self.label, self.why) if part]
        said = f"{self.source_id}: {' · '.join(parts)}"
        return {**super().to_json(), "about": self.source_id, "said": said}
