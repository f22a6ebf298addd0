"""The steps of a build: gather while reading, judge when all is read, fill while writing."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from importlib.metadata import distributions
from pathlib import Path, PurePath
from typing import Any, cast

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.domains.math import MathDomain
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from ..book.ledger import KINDS, waiting
from ..book.settings import claims_file, find_settings
from ..check.html import display, element, link
from ..check.phrases import Data
from . import folding, generated_tables
from .book_ledger import Book, Named, Row, accused, added_to, as_json, problems
from .directives import CITED, CLAIM, boxes, generated
from .folding import SLOT
from .generated_tables import raw
from .output import check_output
from .page_badges import (
    SUFFIX,
    cited,
    claim_badge,
    equation_badge,
    foot,
    line,
    paste,
    write_mutants,
)
from .pages import Page, is_chapter, read_page, store, taking_part
from .trials import badges, which

logger = logging.getLogger(__name__)


# Reading


def gather(app: Sphinx, doctree: nodes.document) -> None:
    """A page has been read (its cells have run): note its equations, records and places."""
    env, docname = app.env, app.env.docname
    file = Path(env.doc2path(docname))
    _add_summary(doctree)
    page = read_page(env, docname, doctree, _every(env))
    if which(env) and page.asked is not False:
        checked = frozenset(record["label"] for record in page.records(*KINDS))
        page = replace(page, tried=badges().try_page(env, docname, doctree, checked))
    at = find_settings(file.parent).file
    if page.claims and at:  # what was found for them may change without the page
        for chapter in page.chapters:
            env.note_dependency(str(claims_file(at.parent, chapter)))
    for name in env.found_docs:  # whose equations the cells check: read again with that
        if name != docname and any(is_chapter(name, chapter) for chapter in page.chapters):
            env.note_dependency(env.doc2path(name, base=False))
    for i, node in enumerate(doctree.findall(check_output)):
        del node["record"]
        node["note"] = i
    if any((page.equations, page.notes, page.claims, page.failures, page.tried, page.generated)):
        store(env)[docname] = page
        # Mathematics that only comes when the page is written must be typeset as well.
        env.get_domain("math").data["has_equations"][docname] = True


def _add_summary(doctree: nodes.document) -> None:
    """A chapter that closes its ledger gets a summary line below its title, unless it has one."""
    closed = any(n["record"]["kind"] == "ledger" for n in doctree.findall(check_output))
    asked = any(n["what"] == "summary" for n in doctree.findall(generated))
    title = next(iter(doctree.findall(nodes.title)), None)
    if closed and not asked and title is not None:
        title.parent.insert(title.parent.index(title) + 1, generated(what="summary", options={}))


def _every(env: BuildEnvironment) -> bool:
    """Return whether pages without a check take part; raises ValueError for another word."""
    word = env.config.equations_pages
    if word not in ("checked", "all"):
        raise ValueError(f"equations_pages must be 'checked' or 'all'; got {word!r}")
    return bool(word == "all")


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop a page that is read again or gone."""
    store(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    """Take over the pages that a parallel reader has gathered."""
    store(env).update({name: page for name, page in store(other).items() if name in docnames})


def renew(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """After reading: the pages that show the ledger are written again when it has changed."""
    now = json.dumps([store(env), _numbers(env)], sort_keys=True, default=_plain)
    changed = now != getattr(env, "equation_fingerprint", None)
    vars(env)["equation_fingerprint"] = now
    return [name for name, page in store(env).items() if page.generated] if changed else []


def _plain(value: Any) -> object:
    """Return plain data of dataclasses and sets, which JSON has no word for."""
    return vars(value) if is_dataclass(value) else sorted(value)


def judge(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn, with file and line, of every problem; in the book a warning is an error."""
    book = book_of(env)
    for docname, at, message in problems(book):
        logger.warning(message, location=(docname, at or None), type="equations")
    every = {name: page.tried for name, page in store(env).items()}
    for docname, at, message in accused(book, every):
        logger.warning(message, location=(docname, at), type="equations", subtype="tried")
    told = env.config.equations_help.partition("#")[0]
    if told and told not in env.all_docs:
        said = f"equations_help must name a page of the book; there is no {told}"
        logger.warning(said, type="equations")


# The book as data


def book_of(env: BuildEnvironment) -> Book:
    """Return all pages that have been read, with their contents."""
    ordered = dict.fromkeys([*env.collect_relations(), *sorted(store(env))])  # as the contents are
    known = {name: store(env)[name] for name in ordered if name in store(env)}
    pages = taking_part(known, _every(env))
    later = {name: waiting(Path(env.doc2path(name))) for name in pages}
    return Book(pages, _numbers(env), later)


def _numbers(env: BuildEnvironment) -> dict[str, str]:
    """The number of each equation, as the page prints it."""
    equations = cast(MathDomain, env.get_domain("math")).equations
    by_section = env.config.math_numfig and env.config.numfig
    figures = getattr(env, "toc_fignumbers", {}) if by_section else {}
    numbers = {}
    for label, (docname, serial) in sorted(equations.items()):
        known = figures.get(docname, {}).get("displaymath", {})
        number = known.get(nodes.make_id(f"equation-{label}"), ())
        numbers[label] = ".".join(map(str, number)) if by_section else str(serial)
    return numbers


# Writing


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """A page is about to be written: put in the badges, the lines and the tables."""
    page = store(app.env).get(docname)
    if page is None:
        return
    for node in doctree.findall(check_output):
        node["record"] = page.notes[node["note"]].record
    filler = _Filler(app, docname, page)
    folded = filler.fold(doctree)
    for node in list(doctree.findall(generated)):
        node.replace_self(raw(filler.table(node["what"], node["options"])))
    for node in list(doctree.findall(nodes.math_block)):
        if badge := filler.beside(node, folded):
            frame = nodes.container(classes=["eqn-equation"])  # to set them beside each other
            node.parent.replace(node, frame)
            frame += [node, *badge]
    folding.add_workshop(doctree, folded)
    filler.paste_claims(doctree, folded)
    for node in list(doctree.findall(check_output)):
        node.replace_self(raw(filler.line(node["record"])))
    if isinstance(app.builder, StandaloneHTMLBuilder):
        write_mutants(Path(app.builder.get_outfilename(docname)), filler.shown)


class _Filler:
    """The pieces of HTML for one page."""

    def __init__(self, app: Sphinx, docname: str, page: Page) -> None:
        self.app, self.env, self.docname, self.page = app, app.env, docname, page
        self.book = book_of(app.env)
        self.links = generated_tables.links_from(app, docname, self.book)
        answers: list[dict[str, Named]] = app.env.events.emit("equations-names", self.book, docname)
        self.named = {name: named for one in answers for name, named in one.items()}
        self.shown: list[Row] = []  # the equations with a badge on this page

    def paste_claims(self, doctree: nodes.document, folded: folding.Folded) -> None:
        """Put the numbers of the claims into their sentences, and a badge below each claim."""
        for box in boxes(doctree, CLAIM):
            if record := self.page.claimed.get(box["label"]):
                paste(box, record)
                badge = claim_badge(record, SLOT + self.foot("claims", box["label"]))
                box += folding.in_badge(badge, box["label"], folded)
        for box in boxes(doctree, CITED):
            if record := self.page.claimed.get(box["label"]):
                paste(box, record)
                box += raw(cited(box["label"]))

    def fold(self, doctree: nodes.document) -> folding.Folded:
        """Take the evidence out of the page, where it becomes HTML and has badges."""
        shown = {node.get("label") for node in doctree.findall(nodes.math_block)}
        rows = (row for row in self.book.rows_on(self.docname) if row.record)
        here = [row.label for row in rows if row.label in shown] + [*self.page.claimed]
        if self.app.builder.format != "html" or not here:
            return folding.Folded()
        known = {name: n.label for name, n in self.named.items() if n.label in here}
        return folding.fold(doctree, known | {label: label for label in here}, self.about)

    def about(self, record: Data) -> Named:
        """Return the subject of a record, where it is no equation."""
        return self.named.get(record.get("about", ""), Named())

    def beside(self, node: nodes.math_block, folded: folding.Folded) -> list[nodes.Node]:
        """The badge of a display: that of its checks, else of its trial."""
        label = node.get("label") or ""
        row = self.book.by_label.get(label)
        tried = [self.page.tried[i] for i in node.get("tried", ())]
        if row is not None and row.docname == self.docname and (row.records or not tried):
            return folding.in_badge(self.badge(row, SLOT), label, folded)
        return [raw(badges().tried_badge(label, tried, self.foot("ledger", "")))] if tried else []

    def badge(self, row: Row, inside: str = "", *, opened: bool = False) -> str:
        self.shown.append(row)
        page = PurePath(self.app.builder.get_target_uri(self.docname) or "index")
        below = inside + self.foot("ledger", row.label)
        file = page.with_suffix(SUFFIX).name
        return equation_badge(row, below, opened=opened, file=file)

    def foot(self, what: str, label: str) -> str:
        """Where the badge of an equation or of a claim leads."""
        where = page_with(self.book, what) if label else ""
        told = self.env.config.equations_help
        page, hash_, anchor = told.partition("#")
        address = self.links.document(page) + hash_ + anchor if told else ""
        return foot(f"{self.links.document(where)}#row-{label}" if where else "", address)

    def line(self, record: Data) -> str:
        row = self.book.by_label.get(record.get("label", "")) if record["kind"] in KINDS else None
        claimed = f"#{record['label']}" if record["kind"] == "claim" else ""
        address = self.links.equation(row.label) if row else claimed or self.about(record).address
        return line(record, row, address)

    def table(self, what: str, options: Mapping[str, Any]) -> str:
        """Return the content of a generated place."""
        match what:
            case "equation":
                return self.equation(options["argument"], opened="open" in options)
            case "notation":
                return generated_tables.render("notation", **options)
            case "summary":
                return generated_tables.summary(self.book, self.docname)
            case "versions":
                installed = {"Python": platform.python_version()}
                for name in self.env.config.equations_versions:
                    found = (known.version for known in distributions(name=name))
                    installed[name] = next(found, "not installed")
                return generated_tables.render("versions", installed=installed)
        return generated_tables.table(what, self.book, self.links, added_to(self.env, self.book))

    def equation(self, label: str, *, opened: bool) -> str:
        """An equation of the book with its badge."""
        row = self.book.by_label.get(label)
        if row is None:
            said = f"no equation {label} to show"
            logger.warning(said, location=self.docname, type="equations")
            return ""
        number = element("span", link(f"({row.number})", self.links.equation(label)), class_="eqno")
        shown = display(row.latex).replace(r"\[", number + r"\[", 1)
        return element("div", shown, self.badge(row, opened=opened), class_="eqn-equation")


def page_with(book: Book, what: str) -> str | None:
    """The page that shows a generated table, if one does."""
    return next((name for name, page in book.pages.items() if what in page.generated), None)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write `ledger.json` at the end, next to the page of the ledger, if there is one.

    After a build with warnings the next one reads every page again: Sphinx repeats a warning only
    then, so that with nothing changed it would pass.
    """
    if not exception and app.builder.format == "html":
        book = book_of(app.env)
        if where := page_with(book, "ledger"):
            path = (Path(app.outdir) / app.builder.get_target_uri(where)).parent / "ledger.json"
            data = as_json(book, added_to(app.env, book))
            text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
            path.write_text(f"{text}\n", encoding="utf-8")
    if exception or app._warncount:
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)
