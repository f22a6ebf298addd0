"""The badges of equations and claims on their page, and the one line that a cell shows there.

A page has a file of data next to it, so that a reader can make the tried edits. The script
fetches it when the first badge is opened: by a script element, since a page that is read from the
disk may fetch nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from docutils import nodes

from ..book.chapter_badges import claim_details
from ..check.badge import MARK, check_details, framed_badge
from ..check.html import code, element, inline_math, later, link, number, phrase, say
from ..check.phrases import Data, badge_phrases, claim_phrases, mutants_caught, said, together
from ..claims.sentence import TOKEN, pasted
from ..latex.balance import is_balanced
from .book_ledger import Row

SUFFIX = ".mutants.js"  # of the file beside the page


def words(row: Row) -> list[str]:
    """Return the closed badge, phrase by phrase."""
    if row.record is None or not row.record["steps"]:
        return [row.kind]
    about = row.data
    return badge_phrases(row.record, about["mutants"], about["oracle"], about["route"], apart=False)


def equation_badge(row: Row, below: str, *, opened: bool = False, file: str = "") -> str:
    """The badge of an equation; `below` stands below the mutants.

    The mutants themselves are in the `file` next to the page.
    """
    if row.record is None:
        return ""
    panel = ""
    for i, record in enumerate(row.records):
        tried = ""  # what it says of the mutants before the data have come
        if record["mutants"]["list"]:
            sum_ = element("p", say(f"{mutants_caught(record['mutants'])}."))
            place = {"data_mutants": file, "data_record": str(i)}
            tried = element("div", sum_, class_="eqn-tried", **place)
        panel += check_details(record, later, tried)
    summary = _parts(words(row))
    return framed_badge(row.record["kind"], row.label, summary, panel + below, opened=opened)


def claim_badge(record: Data, below: str) -> str:
    """Return the badge of a claim; `below` stands below the findings."""
    summary = _parts(claim_phrases(record))
    return framed_badge("claim", record["label"], summary, claim_details(record) + below)


def cited(label: str) -> str:
    """The line below a sentence whose numbers come from a claim that stands elsewhere."""
    return element("p", say("by the experiment of "), link(label, f"#{label}"), class_="eqn-foot")


def _parts(said: list[str]) -> str:
    return "".join(element("span", say(one)) for one in said)


def foot(ledger: str, help_page: str) -> str:
    """Return the links of a badge: to its row in the ledger, and to the page that explains it."""
    places = {"its row in the ledger": ledger, "what is this?": help_page}
    links = [link(said, address) for said, address in places.items() if address]
    return element("p", " · ".join(links), class_="eqn-foot") if links else ""


def line(record: Data, row: Row | None, address: str) -> str:
    """Return the line below the cell, which leads to its subject."""
    tells = said(record)
    first = ""
    if row is not None and row.number:
        tells = " · ".join(words(replace(row, records=(record,))))
        first = link(f"({row.number})", address)
    elif record.get("about"):
        tells = tells.removeprefix(record["about"]).lstrip(": ")
        first = link(record["about"], address)
    name = f"eqn-line eqn-{record['kind']}"
    told = phrase(record["shown"], _typeset) if record.get("shown") else say(tells)
    return element("p", MARK, first, element("span", told), class_=name)


def _typeset(latex: str) -> str:
    return inline_math(latex) if is_balanced(latex) else code(latex)


def paste(box: nodes.container, record: Data) -> None:
    """Put the numbers into the sentence; unknown ones are reported as problems."""

    def put(found: re.Match[str]) -> str:
        name = found[1].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")  # as the page sets it
        try:
            return pasted(name, found[2] or "", record)
        except ValueError:
            return found[0]

    for text in list(box.findall(nodes.Text)):
        if not isinstance(text.parent, nodes.math | nodes.literal):
            text.parent.replace(text, nodes.Text(TOKEN.sub(put, text)))


def write_mutants(page: Path, rows: Iterable[Row]) -> None:
    """Write the file next to the `page`, or take it away where it would be empty."""
    data = {  # by label the LaTeX and the mutants of each record that has some
        row.label: [_record(record) for record in row.records]
        for row in rows
        if any(record["mutants"]["list"] for record in row.records)
    }
    path = page.with_suffix(SUFFIX)
    if not data:
        path.unlink(missing_ok=True)
        return
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"window.checkedEquations = {text};\n", "utf-8")


def _record(record: Data) -> dict[str, object]:
    """Return the LaTeX, every mutant, and those with a row in the list, with its additions."""
    mutants = record["mutants"]["list"]
    places = {(mutant["edit"], mutant["latex"]): i for i, mutant in enumerate(mutants)}
    return {
        "latex": record.get("latex", ""),
        "sum": mutants_caught(record["mutants"]),
        "mutants": [  # name, how the edited part reads, outcome, how far off, why; where it is
            [
                *(_quoted(mutant.get("said") or mutant["edit"]), _shown(mutant["latex"])),
                mutant["outcome"],
                number(mutant["residual"]) if mutant["outcome"] == "caught" else "",
                mutant.get("why", ""),
                *(list(mutant.get(part) or ()) for part in ("changed", "place", "shown")),
            ]
            for mutant in mutants
        ],
        "rows": [[places[r["edit"], r["latex"]], r.get("why", "")] for r in together(mutants)],
    }


def _shown(latex: str) -> str:
    """Return mathematics between dollars, and LaTeX that cannot be typeset alone in backticks."""
    return f"${latex}$" if is_balanced(latex) else f"`{latex}`"


_quoted = partial(phrase, math=_shown, words=str)  # for a script that reads no HTML
