"""The tables of the generated pages, made by the templates of this folder.

The badges are made without Jinja (see `book.html`), which a notebook need not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from docutils import nodes
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup
from sphinx.application import Sphinx

from ..book.ledger import KINDS
from ..check.html import display_later, element, inline_math, later, number, phrase, say, tolerance
from ..check.phrases import Data, counted, mutant_counts, mutants_caught
from ..claims.sentence import filled
from .book_ledger import NOTHING, Added, Book, between, totals

_FOLDER = Path(__file__).resolve().parent / "templates"
_ROLE = re.compile(r"\{[\w:]+\}`(?:[^`<]*<)?([^`>]*)>?`|\[(?P<said>[^\]]*)\]\([^)]*\)")
_LAYOUT = re.compile(r"(?<=[>}])\s*\n\s*|\s*\n\s*(?=[<{])")


def render(template: str, **values: object) -> str:
    """Return the HTML that a template makes of `values`; text in them is escaped."""
    return _TEMPLATES.get_template(f"{template}.html").render(values)


def raw(html: str) -> nodes.raw:
    """HTML as a node of a page."""
    return nodes.raw("", html, format="html")


def plain_sentence(text: str) -> str:
    """A sentence in Markdown as a line of a table: its words and its mathematics."""
    return phrase(_ROLE.sub(lambda found: found[1] or found["said"], text).replace("*", ""))


def short_name(docname: str) -> str:
    """``function view``: a column has no room for a title."""
    return docname.rsplit("/", 1)[-1].replace("-", " ")


def _marked(make: Callable[..., str]) -> Callable[..., Markup]:
    """A filter whose HTML is not escaped again."""
    return lambda *given: Markup(make(*given))


def in_words(text: str, record: Data) -> str:
    """Return the words of a claim without its own table; its counts stand next to it in another."""
    return filled(_ROW.sub("", text), record, intervals=False)


_ROW = re.compile(r"^\s*\|.*$", re.MULTILINE)
_TEMPLATES = Environment(
    # without the line breaks that lay out a template for its reader
    loader=FunctionLoader(lambda name: _LAYOUT.sub("", (_FOLDER / name).read_text("utf-8"))),
    autoescape=True,
    undefined=StrictUndefined,
)
_TEMPLATES.filters |= {
    "say": _marked(say), "display_later": _marked(display_later), "math": _marked(inline_math),
    "later": _marked(later), "phrase": _marked(partial(phrase, math=inline_math)),
    "in_words": in_words, "number": number, "tolerance": tolerance,
    "mutants_caught": mutants_caught, "sentence": _marked(plain_sentence), "short_name": short_name,
}  # fmt: skip


@dataclass(frozen=True)
class Links:
    """Where things stand, seen from the page that is being written."""

    equation: Callable[[str], str]
    document: Callable[[str], str]
    title: Callable[[str], str]


def links_from(app: Sphinx, docname: str, book: Book) -> Links:
    """Where things stand, seen from a page."""
    document, titles = partial(app.builder.get_relative_uri, docname), app.env.titles

    def equation(label: str) -> str:
        row = book.by_label.get(label)
        return f"{document(row.docname)}#{nodes.make_id(f'equation-{label}')}" if row else ""

    return Links(equation, document, lambda name: titles[name].astext() if name in titles else name)


def table(what: str, book: Book, links: Links, added: Added = NOTHING) -> str:
    """Tables of the whole book: its ledger, its totals, its claims and so on."""
    bare = [row for row in book.rows if row.kind == "definition" and (row.record or {}).get("bare")]
    given = groupby(between(book), itemgetter(0))
    chapters = {docname: [relation for _, relation in found] for docname, found in given}
    told = {"rows": bare, "chapters": chapters, "sums": totals(book), "kinds": KINDS}
    return render(what, book=book, links=links, added=added, **told)


def summary(book: Book, docname: str) -> str:
    """*N equations: N checked, N estimates, N definitions · mutants caught · running time.*"""
    page = book.pages[docname]
    sums = totals(book, book.rows_on(docname))
    kinds = {
        "checked": f"{sums['checked']} checked",
        "estimates": counted(sums["estimates"], "estimate"),
        "definitions": counted(sums["definitions"], "definition"),
        "unchecked": f"{sums['unchecked']} unchecked",
        "later": f"{sums['later']} not yet",
    }
    count = counted(sums["equations"], "equation") if sums["equations"] else ""
    parts = [
        f"{count}: {', '.join(said for kind, said in kinds.items() if sums[kind])}",
        mutants_caught(mutant_counts(sums), apart=False),
        counted(len(page.claims), "claim") if page.claims else "",
    ]
    if page.seconds is not None:
        parts.append(f"runs in {page.seconds:.0f} s" if page.seconds >= 1 else "runs in a second")
    shown = (element("span", say(part)) for part in parts if part)
    return element("p", *shown, class_="eqn-summary")
