"""Records that the verbs of this book leave behind: three kinds of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checked_equations.check.html import code, element, number, say, table
from checked_equations.check.phrases import counted
from checked_equations.check.records import Shown

__all__ = ["Refutation", "Symbols", "Verdict"]


@dataclass(frozen=True, repr=False)
class Refutation(Shown):
    """A formula of a source that does not hold, and the equation that does.

    Parameters
    ----------
    chapter : str
        The chapter that refutes it.
    source_id : str
        The item of the source.
    latex : str
        The formula.
    printed_residual : float or None
        By how much the formula is missed; None where its shapes do not conform.
    corrected_residual : float
        By how much the equation is missed.
    instead : str
        The label of the equation.
    kind : str
        The kind of record.
    text : str
        The name of the text that was read.
    taken : str
        The source's words, where it prints no such formula.
    granted : str
        What was mended in a printed formula, or supposed of the words, before it was evaluated.
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
        """Return the record as plain JSON data, with what a page says of it."""
        how = "" if self.printed_residual is not None else ", its shapes do not conform"
        what = "at its word" if self.taken else "as printed"
        said = f"{self.source_id}: does not hold {what}{how}; {self.instead} does"
        return {**super().to_json(), "label": self.instead, "about": self.source_id, "said": said}

    def panel(self) -> str:
        """Return the formula of the source beside the equation that holds instead, as HTML."""
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
class Symbols(Shown):
    """The symbols of a chapter, or of the part under one heading, that have numbers.

    Parameters
    ----------
    chapter : str
        The chapter that binds them.
    names : tuple of str
        The symbols, in LaTeX.
    under : str
        The heading, or nothing for the whole chapter.
    spared : mapping of str to str
        The reason why a relation need not hold, by its LaTeX.
    kind : str
        The kind of record.
    """

    chapter: str
    names: tuple[str, ...]
    under: str = ""
    spared: Mapping[str, str] = field(default_factory=dict)
    kind: str = "symbols"

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON data, with what a page says of it."""
        where = f" under {self.under!r}" if self.under else ""
        spared = f", {counted(len(self.spared), 'relation')} spared" if self.spared else ""
        said = f"symbols{where}: {len(self.names)} bound{spared}"
        return {**super().to_json(), "said": said}


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """The verdict on one item of a source.

    Parameters
    ----------
    chapter : str
        The chapter that gives it.
    source_id : str
        The item of the source.
    verdict : str
        The verdict, a word.
    label : str
        The equation that shows it, if one does.
    why : str
        The reason, if there is one.
    printed_residual, corrected_residual : float or None
        By how much the printed and the corrected statement are missed, where that was evaluated.
    section : str
        The label of the section that argues it, where no equation shows it.
    kind : str
        The kind of record.
    """

    chapter: str
    source_id: str
    verdict: str
    label: str = ""
    why: str = ""
    printed_residual: float | None = None
    corrected_residual: float | None = None
    section: str = ""
    kind: str = "source"

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON data, with what a page says of it."""
        parts = [part for part in (self.verdict, self.label, self.section, self.why) if part]
        said = f"{self.source_id}: {' · '.join(parts)}"
        return {**super().to_json(), "about": self.source_id, "said": said}
