"""The badge of a record in HTML, without a script: a line that opens to steps and mutants.

How mathematics is written is a parameter: typeset on a page, as it stands in a notebook's output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import phrases
from .html import code, element, number, number_cell, phrase, say, scrolled, table, tolerance
from .phrases import Data

MARK = element("span", class_="eqn-mark", aria_hidden="true")  # its place, which the style paints


def framed_badge(
    kind: str, label: str, summary: str, panel: str, *, opened: bool = False, spoken: str = ""
) -> str:
    """The badge: a `summary` that opens to the `panel`, both ready HTML; `spoken` is read aloud."""
    said = element("span", summary, class_="eqn-said margin")
    shown = element("summary", MARK, said, aria_label=spoken or None)
    inside = element("div", panel, class_="eqn-panel")
    name = f"eqn-badge eqn-{kind}"
    return element("details", shown, inside, class_=name, data_label=label, open=opened)


def notebook_badge(data: Data, panel: str | None = None) -> str:
    """The badge of a record as its cell shows it; `panel` is that of a kind of the book's own."""
    kind = data["kind"]
    label = data.get("about") or data.get("label") or data.get("chapter", "")
    summary = phrases.plain(data)
    if kind in phrases.CHECKED:
        told = (data["mutants"], data["oracle"], data["route"])
        parts = phrases.badge_phrases(data, *told, apart=True)
        summary = " · ".join(filter(None, [*parts, data.get("text")]))
    if panel is None and kind in (*phrases.CHECKED, "definition"):
        panel = check_details(data, code)
        if data.get("text"):  # the engine cannot see what an editor has not saved
            saved = f", as it was saved on {data['saved']}" if data.get("saved") else ""
            panel += element("p", say(f"Read from {data['text']}{saved}."), class_="eqn-foot")
    return framed_badge(kind, label, say(summary), panel or "")


def check_details(record: Data, math: Callable[[str], str], tried: str | None = None) -> str:
    """Return the inside of an open badge of one check, with its mutants unless `tried` has them."""
    said = ""
    if record["kind"] == "definition" and record.get("bare"):
        shown = ", ".join(math(latex.rstrip(" .,;")) for latex in record["bare"])
        why = f"; {say(record['why'])}" if record.get("why") else ""
        said = scrolled(element("p", f"By definition: {shown}{why}."), "by definition")
    if not record["steps"]:
        return said
    mutants = _mutants(record["mutants"], math) if tried is None else tried
    style = "" if math is code else r"\displaystyle "  # what is typeset
    rows = (
        element("tr", element("td", math(style + e["latex"])), number_cell(number(e["residual"])))
        for e in record["steps"]
    )
    steps = scrolled(table("eqn-steps", ("step", "residual"), rows), "steps")
    return f"{said}{steps}{element('p', say(_facts(record)))}{_noted(record)}{mutants}"


def _noted(record: Data) -> str:
    """Return the notes on the draws: a shared property that the statement does not state."""
    notes = record.get("notes") or ()
    told = f"{_sentence(notes)} The statement does not say so."
    return element("p", say(told), class_="eqn-noted") if notes else ""


def _facts(record: Data) -> str:
    """Return the way of checking in a sentence, and the terms in another."""
    draws, tight = record["draws"], record.get("tight")
    slip = (record.get("estimate") or {}).get("slip")
    allowed = phrases.tolerance_phrase(record)
    oracle = f"How this was checked: {record['oracle']}" if record["oracle"] else ""
    route = phrases.route_phrase(record.get("route") or ())
    how = [oracle or "Compared with what it defines", route]
    terms = [
        f"a relative slip of {100 * slip:.2g} % or more would be caught" if slip else "",
        f"relative tolerance {allowed}" if allowed else "",
        "tolerance four standard errors" if record.get("estimate") else "",
        f"absolute tolerance {tolerance(record['atol'])}" if record.get("atol") else "",
        f"{draws} draws of the numbers, the worst counts" if draws > 1 else "",
        f"{phrases.counted(tight, 'draw')} on which it is tight" if tight else "",
        f"{record['backend']} arrays",
        *phrases.added(record),
    ]
    return f"{_sentence(how)} {_sentence(terms)}"


def _sentence(parts: Iterable[str]) -> str:
    said = "; ".join(part for part in parts if part)
    return f"{said[:1].upper()}{said[1:]}."


def _mutants(mutants: Data, math: Callable[[str], str]) -> str:
    """Every mutant with its outcome, behind a line of its own."""
    if not mutants["list"]:
        return ""
    rows = []
    for entry in phrases.together(mutants["list"]):
        outcome = number(entry["residual"]) if entry["outcome"] == "caught" else entry["outcome"]
        why = element("small", say(entry["why"])) if entry.get("why") else ""
        edit = element("td", phrase(entry.get("said") or entry["edit"], math), why)
        reads = element("td", math(entry["latex"]))
        name = f"eqn-{entry['outcome']}"
        rows.append(element("tr", edit, reads, number_cell(outcome), class_=name))
    titles = ("single edit", "there it now reads", "residual")
    title = element("summary", say(phrases.mutants_caught(mutants)))
    shown = scrolled(table("eqn-mutants", titles, rows), "mutants")
    return element("details", title, shown, class_="eqn-more")
