"""The badge of an equation, and the one line that its cell shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..book.display import mutant_line, power_of_ten, route_line, said, slip_line, together
from ..book.display import tolerance_line as allowed
from .html import element, later, link, number, phrase, say, scrolled, table, tolerance
from .ledger import Row

__all__ = ["badge", "line", "words"]

Data = Mapping[str, Any]


def words(row: Row) -> list[str]:
    """What the closed badge says, phrase by phrase."""
    if row.record is None or not row.record["steps"]:
        return [row.kind]
    return [
        "definition, compared" if row.kind == "definition" else _head(row.record),
        mutant_words(row.mutants),
        row.oracles,
        route_line({"route": row.route}),
    ]


def _head(record: Data) -> str:
    estimate = record.get("estimate")
    if not estimate:
        return f"checked to {tolerance(record.get('approx') or record['rtol'])}"
    sample = f", n = {power_of_ten(estimate['n'])}" if estimate.get("n") else ""
    return f"estimate, z = {estimate['z']:.1f}{sample}"


def mutant_words(mutants: Data) -> str:
    """``7 of 7 mutants caught``: the indistinct ones are counted apart, in the panel."""
    total = mutants["caught"] + mutants["survived"] + mutants["spared"]
    return f"{mutants['caught']} of {total} mutants caught"


def badge(row: Row, ledger: str, *, opened: bool = False) -> str:
    """The badge of an equation; `ledger` is the address of its row in the ledger."""
    record = row.record
    if record is None:
        return ""
    said = "".join(element("span", say(word)) for word in words(row) if word)
    summary = element("summary", _mark(), element("span", said, class_="eqn-said margin"))
    panel = element("div", *_panel(row, ledger), class_="eqn-panel")
    name = f"eqn-badge eqn-{record['kind']}"
    return element("details", summary, panel, class_=name, data_label=row.label, open=opened)


def _mark() -> str:
    return element("span", class_="eqn-mark", aria_hidden="true")


def _panel(row: Row, ledger: str) -> list[str]:
    parts = [_instance(record) for record in row.records]
    foot = element("p", link("its row in the ledger", ledger), class_="eqn-foot")
    return [*parts, foot] if ledger else parts


def _instance(record: Data) -> str:
    said = _bare(record) if record["kind"] == "definition" else ""
    if not record["steps"]:
        return said
    judged = steps(record["steps"]) + element("p", say(_facts(record)))
    return said + judged + _mutants(record["mutants"])


def _bare(record: Data) -> str:
    """What nothing was compared with, and why."""
    if not record.get("bare"):
        return ""
    shown = ", ".join(later(latex.rstrip(" .,;")) for latex in record["bare"])
    why = f"; {say(record['why'])}" if record.get("why") else ""
    return element("p", f"By definition: {shown}{why}.")


def steps(entries: list[Data]) -> str:
    """The steps of a chain with the residual of each."""
    return scrolled(table("eqn-steps", ("step", "residual"), map(_step, entries)), "steps")


def _step(entry: Data) -> str:
    latex = rf"\displaystyle {entry['latex']}"
    return element("tr", element("td", later(latex)), _cell(number(entry["residual"])))


def _cell(text: str) -> str:
    return element("td", text, class_="eqn-number")


def _facts(record: Data) -> str:
    """How it was checked, as a sentence."""
    draws, slip = record["draws"], slip_line(record.get("estimate"))
    parts = [
        f"Evidence: {record['oracle']}" if record["oracle"] else "Compared with what it defines",
        _seen(record),
        f"a relative slip of {slip} or more would be caught" if slip else "",
        f"relative tolerance {say(allowed(record))}" if allowed(record) else "",
        "tolerance four standard errors" if record.get("estimate") else "",
        f"absolute tolerance {tolerance(record['atol'])}" if record.get("atol") else "",
        f"{_draws(draws)} of the numbers, the worst counts" if draws > 1 else "",
        f"{_draws(record['tight'])} on which it is tight" if record.get("tight") else "",
        f"{record['backend']} arrays",
        f"answers {', '.join(record['sources'])}" if record["sources"] else "",
    ]
    return "; ".join(part for part in parts if part) + "."


def _seen(record: Data) -> str:
    """By which route the numbers came, where the engine could see that."""
    if "numbers given" in (record.get("route") or ()):
        return "the numbers were given, so that their route was not seen"
    return f"seen to come {route_line(record)}" if record.get("route") else ""


def _draws(number: int) -> str:
    return f"{number} draw" if number == 1 else f"{number} draws"


def _mutants(mutants: Data) -> str:
    """Every mutant with what became of it, behind a line of its own."""
    if not mutants["list"]:
        return ""
    titles = ("single edit", "there it now reads", "residual")
    shown = table("eqn-mutants", titles, map(_mutant, together(mutants["list"])))
    title = element("summary", say(mutant_line(mutants)))
    return element("details", title, scrolled(shown, "mutants"), class_="eqn-more")


def _mutant(entry: Data) -> str:
    outcome = number(entry["residual"]) if entry["outcome"] == "caught" else entry["outcome"]
    why = element("small", say(entry["why"])) if entry.get("why") else ""
    edit = element("td", phrase(entry["said"]), why)
    reads = element("td", later(entry["latex"]))
    return element("tr", edit, reads, _cell(outcome), class_=f"eqn-{entry['outcome']}")


def line(record: Data, row: Row | None, address: str) -> str:
    """What stands below the cell: one line that leads to the equation, or to the item."""
    tells, first = said(record), ""
    if row is not None and row.number:
        tells = " · ".join(filter(None, words(replace(row, records=(record,)))))
        first = link(f"({row.number})", address)
    elif record.get("source_id"):
        tells = tells.removeprefix(record["source_id"]).lstrip(": ")
        first = link(record["source_id"], address)
    name = f"eqn-line eqn-{record['kind']}"
    return element("p", _mark(), first, element("span", say(tells)), class_=name)
