"""The sources, line by line: the verdict on each item, and its mark in the margin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from source_answers import Answers

from checked_equations.check.html import (
    display_later,
    element,
    link,
    number,
    phrase,
    say,
    scrolled,
)  # fmt: skip
from checked_equations.sphinx.generated_tables import Links, short_name
from gpnotes_book.items import Item

Data = Mapping[str, Any]
_SPOKEN = {
    "wrong": "wrong as printed",
    "taken": "wrong at its word",
    "holds": "holds",
    "argued": "argued, not evaluated",
    "holds-if": "holds if",
    "ambiguous": "ambiguous",
    "stub": "left empty, written here",
    "open": "not reached yet",
}


def sources(said: Answers, links: Links, prefix: str) -> str:
    """Return every item of one source with its verdict; wrong ones come first.

    Those that wait are folded under their number.
    """
    its = [item for item in said.items if item.id.startswith(f"{prefix}-")]
    answered = [item for item in its if item.id in said.verdicts]
    answered.sort(key=lambda item: said.verdicts[item.id]["verdict"] != "wrong")
    waiting = [item for item in its if item.id not in said.verdicts]
    told = f"{len(answered)} of {len(its)} items answered."
    count = element("p", told, class_="eqn-answered")
    return count + _items(said, links, answered) + _folded(said, links, waiting)


def _items(said: Answers, links: Links, items: list[Item]) -> str:
    rows = [_item(said, links, item) for item in items]
    return element("ol", *rows, class_="eqn-items tex2jax_ignore") if rows else ""


def _folded(said: Answers, links: Links, waiting: list[Item]) -> str:
    if not waiting:
        return ""
    few = f"{len(waiting)} item" if len(waiting) == 1 else f"{len(waiting)} items"
    line = element("summary", f"{few} not reached yet")
    return element("details", line, _items(said, links, waiting), class_="eqn-waits")


def verdicts(said: Answers, page: str = "") -> str:
    """Return the number of items with each verdict; ticked ones are shown alone (sources.css).

    Where the items stand on another `page`, each leads there, and is ticked there.
    """
    given = [said.judged(source_id) for source_id in said.verdicts]
    counts = {verdict: given.count(verdict) for verdict in _SPOKEN}
    counts["open"] = len(said.items) - len(given)
    chips = (
        element("li", _choice(verdict, count, page)) for verdict, count in counts.items() if count
    )
    return element("ul", *chips, class_="eqn-legend")


def wrong(said: Answers) -> str:
    """Return the wrong items of all sources, one a line, each with a link to its row."""
    judged = {item: said.judged(item.id) for item in said.items if item.id in said.verdicts}
    lines = (
        element("li", link(item.id, f"#item-{item.id}"), " ", say(item.item), " ", _chip(verdict))
        for item, verdict in judged.items()
        if verdict in ("wrong", "taken")
    )
    return element("ul", *lines, class_="eqn-wrong-items")


def _choice(verdict: str, count: int, page: str) -> str:
    if page:
        return element("a", _chip(verdict), f" {count}", href=f"{page}?verdict={verdict}")
    return element("label", _tick(verdict), _chip(verdict), f" {count}")


def _tick(verdict: str) -> str:
    return f'<input type="checkbox" value="{verdict}" autocomplete="off">'


def _chip(verdict: str) -> str:
    name = "wrong" if verdict == "taken" else verdict
    return element("span", _SPOKEN[verdict], class_=f"eqn-chip eqn-{name}")


def _item(said: Answers, links: Links, item: Item) -> str:
    """Return an item with its verdict; one that waits names the chapter that will answer it."""
    verdict = said.verdicts.get(item.id)
    waiting = element("span", f"for {say(item.chapter)}", class_="eqn-waiting")
    head = element(
        "p",
        element("span", item.id, class_="eqn-id"),
        element("span", say(item.item), class_="eqn-words"),
        _chip(said.judged(item.id)) if verdict else waiting,
    )
    body = _answer(said, links, item, verdict) if verdict else ""
    name = f"eqn-item eqn-{verdict['verdict'] if verdict else 'open'}"
    judged = said.judged(item.id) if verdict else "open"
    return element("li", head, body, id=f"item-{item.id}", class_=name, data_verdict=judged)


def _answer(said: Answers, links: Links, item: Item, verdict: Data) -> str:
    refuted = said.refutations.get(item.id)
    off = said.residuals(item.id)
    printed = off["printed_residual"]
    parts = [
        element("p", phrase(_why(verdict))) if verdict.get("why") else "",
        _printed(refuted, printed) if refuted else _experiment(off),
        _holds(said, links, said.equation(item.id), refuted),
        _argued(said, verdict) if verdict.get("section") else "",
    ]
    return element("div", *parts, class_="eqn-answer")


def _why(verdict: Data) -> str:
    """Return the reason; after *holds if* it does not say "if" once more."""
    conditional = verdict["verdict"] == "holds-if"
    return verdict["why"].removeprefix("if ") if conditional else verdict["why"]


def _printed(refuted: Data, residual: float | None) -> str:
    """Return the evaluated formula, under a title that says whether the source prints it."""
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
    """Return the finding of a numerical experiment where there is no formula to refute."""
    printed, corrected = off["printed_residual"], off["corrected_residual"]
    if printed is None:
        return ""
    said = f"Measured: at its word {number(printed)}, as corrected {number(corrected)}."
    return element("p", said, class_="eqn-answered")


def _framed(title: str, latex: str, name: str) -> str:
    return element("div", title, scrolled(display_later(latex), "formula"), class_=name)


def _argued(said: Answers, verdict: Data) -> str:
    """Return a link to the argument: no number is shown, for none was evaluated."""
    title, address = said.sections.get(verdict["section"], (verdict["section"], ""))
    return element("p", "Argued in ", link(f"“{title}”", address), "; nothing was evaluated.")


def _holds(said: Answers, links: Links, label: str, refuted: Data | None) -> str:
    """Return the equation that answers the item, or stands against a refuted formula."""
    row = said.book.by_label.get(refuted["instead"] if refuted else label)
    if row is None:
        return ""
    where = link(f"({row.number}), {short_name(row.docname)}", links.equation(row.label))
    residual = refuted["corrected_residual"] if refuted else row.data["residual"]
    off = element("span", f"residual {number(residual)}") if residual is not None else ""
    name = element("span", "What holds: " if refuted else "Here: ", where)
    return _framed(element("p", name, off), row.latex, "eqn-formula eqn-right")


def mark(said: Answers, address: str, source_id: str) -> str:
    """Return the mark at the place of a verdict: the item's name, which leads to its row."""
    verdict = said.judged(source_id)
    told = f"what the source says of this: {source_id}, {_SPOKEN[verdict]}"
    kind = "wrong" if verdict == "taken" else verdict
    name = f"eqn-source-mark eqn-{kind}"
    return element("a", source_id, href=address or None, class_=name, title=told, aria_label=told)
