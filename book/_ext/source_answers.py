"""Verdicts of the chapters on the items of the sources, gathered from all pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from checked_equations.sphinx.book_ledger import Added, Book, Row
from gpnotes_book.items import Item

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Answers:
    """The items that the book must answer, and what its pages say of them.

    `sections` has the title and the address of a section by its label, seen from the page that
    shows the items.
    """

    book: Book
    items: tuple[Item, ...]
    sections: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def verdicts(self) -> dict[str, Data]:
        """The verdict on each item that has one, by the item's id."""
        return {record["source_id"]: record for record in self.book.records("source")}

    @cached_property
    def refutations(self) -> dict[str, Data]:
        """The refutation of each item that has one, by the item's id."""
        return {record["source_id"]: record for record in self.book.records("refutation")}

    @cached_property
    def _named(self) -> dict[str, str]:
        """The first equation whose check names an item, by the item's id."""
        named: dict[str, str] = {}
        for row in self.book.rows:
            for record in row.records:
                for source_id in _answered(record):
                    named.setdefault(source_id, row.label)
        return named

    def equation(self, source_id: str) -> str:
        """Return the label of the equation that answers an item; None for what is argued."""
        verdict = self.verdicts.get(source_id, {})
        if verdict.get("verdict") == "argued":
            return ""
        instead = self.refutations.get(source_id, {}).get("instead", "")
        return verdict.get("label") or instead or self._named.get(source_id, "")

    def residuals(self, source_id: str) -> dict[str, float | None]:
        """Return the residuals of the printed formula and of the equation of the book."""
        refuted = self.refutations.get(source_id, {})
        verdict = self.verdicts.get(source_id, {})
        row = self.book.by_label.get(self.equation(source_id))
        corrected = refuted.get("corrected_residual", verdict.get("corrected_residual"))
        return {
            "printed_residual": refuted.get("printed_residual", verdict.get("printed_residual")),
            "corrected_residual": row.data["residual"] if corrected is None and row else corrected,
        }

    def judged(self, source_id: str) -> str:
        """Return the verdict, and for wrong items whether the source prints them."""
        verdict = str(self.verdicts[source_id]["verdict"])
        taken = self.refutations.get(source_id, {}).get("taken")
        return "taken" if verdict == "wrong" and taken else verdict

    def unanswered(self) -> Iterator[tuple[str, str]]:
        """Yield the items of closed chapters without a verdict: a document, and what to say."""
        closed = {record["chapter"] for record in self.book.records("ledger")}
        for item in self.items:
            if item.chapter in closed and item.id not in self.verdicts:
                docname = self.book.document(item.chapter) or item.chapter
                yield docname, f"the item {item.id} of the sources has no verdict: {item.item}"

    def added(self) -> Added:
        """Return the part of the ledger that is about the sources."""
        answered = [item for item in self.items if item.id in self.verdicts]
        counts = len(answered), len(self.items)
        return Added(
            columns={"sources": _sources},
            totals=dict(zip(("sources_answered", "sources_total"), counts, strict=True)),
            told=((f"{counts[0]} of {counts[1]}", "items of the sources answered"),),
            data={"sources": [self._written(item) for item in answered]},
        )

    def _written(self, item: Item) -> dict[str, Any]:
        verdict = self.verdicts[item.id]
        return {
            "id": item.id,
            "verdict": verdict["verdict"],
            "label": self.equation(item.id) or None,
            **self.residuals(item.id),
            "taken": self.refutations.get(item.id, {}).get("taken", ""),
            "why": verdict.get("why", ""),
            "chapter": verdict.get("chapter", item.chapter),
        }


def _answered(record: Data) -> list[str]:
    """Return the items that the check of an equation names."""
    return list(record.get("more", {}).get("answers", ()))


def _sources(row: Row) -> list[str]:
    """Return the items that an equation answers, as the strongest of its records has them."""
    return _answered(row.record or {})
