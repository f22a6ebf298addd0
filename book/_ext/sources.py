"""The sources, line by line: the page, the marks in the margin, and what the ledger counts.

It answers the events of the engine with what the chapters say of the items of the sources (the
verbs are those of `gpnotes_book`), and warns of an item that a closed chapter leaves without a
verdict. The setting `sources_items` names the list of the items.
"""

from dataclasses import replace
from pathlib import Path

import source_pages
from docutils import nodes
from source_answers import Answers
from sphinx.util import logging

from checked_equations.sphinx.book_ledger import Named
from checked_equations.sphinx.build import book_of, page_with
from checked_equations.sphinx.directives import Place, generated
from checked_equations.sphinx.generated_tables import links_from
from gpnotes_book.items import read_items

logger = logging.getLogger(__name__)


class Verdicts(Place):
    """``{source-verdicts}``: how many items of the sources have which verdict."""

    what = "verdicts"
    setting = "sources_items"


class Sources(Place):
    """``{source-items} S1``: the items whose identifiers begin so."""

    what = "sources"
    setting = "sources_items"
    required_arguments = 1


class Wrong(Place):
    """``{source-wrong}``: the items that are wrong, of all sources, each with a link to its row."""

    what = "wrong"
    setting = "sources_items"


def answers(env, book):
    """Return the verdicts of the chapters on all items."""
    path = Path(env.srcdir) / env.config.sources_items
    return Answers(book, tuple(read_items(path if path.is_file() else None).values()))


def add(app, book):
    """Return a column, totals and data for the ledger."""
    return answers(app.env, book).added()


def name(app, book, docname):
    """Return the items, each with the equation that answers it and the mark of its verdict."""
    said = answers(app.env, book)
    page = _page(app, book, docname)
    return {item: _named(said, item, f"{page}#item-{item}" if page else "") for item in _told(said)}


def _page(app, book, docname):
    """Return the page of the items, seen from another one; nothing where no page has them."""
    where = page_with(book, "sources")
    return app.builder.get_relative_uri(docname, where) if where else ""


def _told(said):
    """Return the items that some record is about."""
    return dict.fromkeys([*said.verdicts, *said.refutations])


def _named(said, item, address):
    marks = {"source": source_pages.mark(said, address, item)} if item in said.verdicts else {}
    return Named(said.equation(item), address, marks)


def _sections(app, docname):
    """Return title and address of all labelled sections, seen from a page."""
    labels = app.env.get_domain("std").labels
    return {
        label: (title, f"{app.builder.get_relative_uri(docname, page)}#{anchor}")
        for label, (page, anchor, title) in labels.items()
        if label.startswith("sec-")
    }


def fill(app, doctree, docname):
    """Fill the places of the sources before the engine fills its own."""
    whats = ("verdicts", "wrong", "sources")
    places = [n for n in doctree.findall(generated) if n["what"] in whats]
    if not places:
        return
    book = book_of(app.env)
    said, links = answers(app.env, book), links_from(app, docname, book)
    said = replace(said, sections=_sections(app, docname))
    page = _page(app, book, docname)  # nothing on that page itself
    for place in places:
        place.replace_self(nodes.raw("", _written(said, links, place, page), format="html"))


def _written(said, links, place, page):
    """Return the content of such a place as HTML; the items stand on `page`, if not on this one."""
    if place["what"] == "verdicts":
        return source_pages.verdicts(said, page)
    if place["what"] == "wrong":
        return source_pages.wrong(said)
    return source_pages.sources(said, links, place["options"]["argument"])


def judge(app, env):
    """Warn of the items that closed chapters leave without a verdict."""
    for docname, message in answers(env, book_of(env)).unanswered():
        logger.warning(message, location=(docname, 1), type="equations")


def setup(app):
    app.add_config_value("sources_items", "", "env")
    app.add_directive("source-verdicts", Verdicts)
    app.add_directive("source-wrong", Wrong)
    app.add_directive("source-items", Sources)
    app.connect("equations-ledger", add)
    app.connect("equations-names", name)
    app.connect("env-check-consistency", judge)
    app.connect("doctree-resolved", fill, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
