"""Claims on their page: the numbers in the sentence, and the badge below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docutils import nodes

from ..book.badge import framed_badge
from ..book.claim_panel import panel_of
from ..book.claim_records import claim_phrases
from ..book.html import element, say
from ..claims.sentence import TOKEN, pasted
from .badge import foot
from .directives import CLAIM

__all__ = ["claim_badge", "claims_of", "paste"]

Data = Mapping[str, Any]


def claims_of(doctree: nodes.document) -> Iterator[nodes.container]:
    """The boxes of the claims of a page."""
    for node in list(doctree.findall(nodes.container)):
        if CLAIM in node["classes"]:
            yield node


def paste(box: nodes.container, record: Data) -> None:
    """Put the numbers into the sentence; those that it does not have are told as problems."""
    for text in list(box.findall(nodes.Text)):
        if not isinstance(text.parent, nodes.math | nodes.literal):
            text.parent.replace(text, nodes.Text(TOKEN.sub(lambda m: _pasted(m, record), text)))


def _pasted(found: Any, record: Data) -> str:
    name = found[1].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")  # as the page sets apostrophes
    try:
        return pasted(name, found[2] or "", record)
    except ValueError:
        return str(found[0])


def claim_badge(record: Data, inside: str, ledger: str, help_page: str) -> str:
    """The badge of a claim; `inside` stands below what was found."""
    summary = "".join(element("span", say(phrase)) for phrase in claim_phrases(record))
    panel = panel_of(record) + inside + foot(ledger, help_page)
    return framed_badge("claim", record["label"], summary, panel)
