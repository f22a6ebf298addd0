"""The sources, line by line: the verdict on each item, and what it leaves beside the lecture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..book.html import display, element, link, number, say, scrolled
from .ledger import Book, Item, answering, residuals
from .tables import Links, short_name

__all__ = ["source_mark", "sources", "verdicts"]

Data = Mapping[str, Any]
_SPOKEN = {
    "holds": "holds",
    "holds-if": "holds if",
    "wrong": "wrong as printed",
    "taken": "wrong at its word",
    "ambiguous": "ambiguous",
    "stub": "left empty, written here",
    "open": "not reached yet",
}


def sources(book: Book, links: Links, prefix: str) -> str:
    """Every item of one source, with its verdict; those that wait are folded under their number."""
    its = [item for item in book.items if item.id.startswith(f"{prefix}-")]
    answered = [item for item in its if item.id in book.verdicts]
    waiting = [item for item in its if item.id not in book.verdicts]
    said = f"{len(answered)} of {len(its)} items answered."
    count = element("p", said, class_="eqn-answered")
    return count + _items(book, links, answered) + _folded(book, links, waiting)


def _items(book: Book, links: Links, items: list[Item]) -> str:
    rows = [_item(book, links, item) for item in items]
    return element("ol", *rows, class_="eqn-items") if rows else ""


def _folded(book: Book, links: Links, waiting: list[Item]) -> str:
    if not waiting:
        return ""
    few = f"{len(waiting)} item" if len(waiting) == 1 else f"{len(waiting)} items"
    line = element("summary", f"{few} not reached yet")
    return element("details", line, _items(book, links, waiting), class_="eqn-waits")


def verdicts(book: Book) -> str:
    """How many items have which verdict."""
    given = [_judged(book, source_id) for source_id in book.verdicts]
    counts = {verdict: given.count(verdict) for verdict in _SPOKEN}
    counts["open"] = len(book.items) - len(given)
    chips = (
        element("li", _chip(verdict), f" {count}") for verdict, count in counts.items() if count
    )
    return element("ul", *chips, class_="eqn-legend")


def _judged(book: Book, source_id: str) -> str:
    """The verdict, and of what is wrong whether the source prints it."""
    verdict = str(book.verdicts[source_id]["verdict"])
    taken = book.refutations.get(source_id, {}).get("taken")
    return "taken" if verdict == "wrong" and taken else verdict


def _chip(verdict: str) -> str:
    name = "wrong" if verdict == "taken" else verdict
    return element("span", _SPOKEN[verdict], class_=f"eqn-chip eqn-{name}")


def _item(book: Book, links: Links, item: Item) -> str:
    """An item with its verdict; one that waits names the chapter that will answer it."""
    verdict = book.verdicts.get(item.id)
    waiting = element("span", f"for {say(item.chapter)}", class_="eqn-waiting")
    head = element(
        "p",
        element("span", item.id, class_="eqn-id"),
        element("span", say(item.item), class_="eqn-words"),
        _chip(_judged(book, item.id)) if verdict else waiting,
    )
    body = _answer(book, links, item, verdict) if verdict else ""
    name = f"eqn-item eqn-{verdict['verdict'] if verdict else 'open'}"
    return element("li", head, body, id=f"item-{item.id}", class_=name)


def _answer(book: Book, links: Links, item: Item, verdict: Data) -> str:
    refuted = book.refutations.get(item.id)
    off = residuals(book, item.id)
    printed = off["printed_residual"]
    parts = [
        element("p", say(_why(verdict))) if verdict.get("why") else "",
        _printed(refuted, printed) if refuted else _experiment(off),
        _holds(book, links, answering(book, item.id), refuted),
    ]
    return element("div", *parts, class_="eqn-answer")


def _why(verdict: Data) -> str:
    """The reason; after *holds if* it does not say "if" once more."""
    conditional = verdict["verdict"] == "holds-if"
    return verdict["why"].removeprefix("if ") if conditional else verdict["why"]


def _printed(refuted: Data, residual: float | None) -> str:
    """What was evaluated, under a title that says whether the source prints it."""
    off = f"off by {number(residual)}" if residual is not None else "the shapes do not conform"
    says = element("span", say(_attributed(refuted)))
    title = element("p", says, element("span", off))
    return _framed(title, refuted["latex"], "eqn-formula")


def _attributed(refuted: Data) -> str:
    granted = refuted.get("granted")
    if refuted.get("taken"):
        would = f"Taken at its word, “{refuted['taken']}” would say"
        return f"{would}, {granted}" if granted else would
    return f"The source prints, {granted} granted" if granted else "The source prints"


def _experiment(off: Mapping[str, float | None]) -> str:
    """What a numerical experiment found where there is no formula to refute."""
    printed, corrected = off["printed_residual"], off["corrected_residual"]
    if printed is None:
        return ""
    said = f"Measured: at its word {number(printed)}, as corrected {number(corrected)}."
    return element("p", said, class_="eqn-answered")


def _framed(title: str, latex: str, name: str) -> str:
    return element("div", title, scrolled(display(latex), "formula"), class_=name)


def _holds(book: Book, links: Links, label: str, refuted: Data | None) -> str:
    """The equation that answers the item, or the one that stands against a refuted formula."""
    row = book.by_label.get(refuted["instead"] if refuted else label)
    if row is None:
        return ""
    where = link(f"({row.number}), {short_name(row.docname)}", links.equation(row.label))
    residual = refuted["corrected_residual"] if refuted else row.residual
    off = element("span", f"residual {number(residual)}") if residual is not None else ""
    name = element("span", "What holds: " if refuted else "Here: ", where)
    return _framed(element("p", name, off), row.latex, "eqn-formula eqn-right")


def source_mark(book: Book, address: str, source_id: str) -> str:
    """What a verdict leaves where its cell stood: the item's name, which leads to its row."""
    verdict = _judged(book, source_id)
    said = f"what the source says of this: {source_id}, {_SPOKEN[verdict]}"
    kind = "wrong" if verdict == "taken" else verdict
    name = f"eqn-source-mark eqn-{kind}"
    return element("a", source_id, href=address or None, class_=name, title=said, aria_label=said)
