"""Small repairs of what the tools make: nothing from another host, no script that the book
replaces, the index among the contents, no identifier twice, no page of a document that is gone, no
line that begins with a comma, no hyphen for a minus, no page without colours where no script runs.
The text comes before the contents at its side, whose parts fold."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.transforms import SphinxTransform

REPEATED = {"exercise-content", "solution-content"}
AUTO = ' data-theme="auto">'
SIDE = re.compile(
    r'(<dialog id="pst-primary-sidebar-modal">.*?)(<main id="main-content".*?</main>)', re.DOTALL
)
PART = re.compile(
    r'<p aria-level="2" class="caption" role="heading"><span class="caption-text">([^<]*)</span>'
    r'</p>\s*(<ul class="[^"]*bd-sidenav">.*?</ul>)(?=\s*(?:<p aria-level|</div>))',
    re.DOTALL,
)
HERE = re.compile(r'<li class="[^"]*\bcurrent\b')
CITATIONS = '<div class="citation-list">'
FOREIGN = re.compile(r"(https?:)?//|_static/sphinx_highlight\.js")  # landing.js marks instead
FOLLOWED = re.compile(r'(<span class="math[^"]*">[^<]*</span>)([.,;:!?)\u2019\u201d]+|-th\b)')
HYPHEN = re.compile(r'(<span class="pasted-text">)-(?=\d)')


class IndexInContents(SphinxTransform):
    """The index has no source file, so `_toc.yml` cannot name it: add it to the last part."""

    default_priority = 110  # after the contents are inserted, before they are collected

    def apply(self):
        if self.env.docname == self.config.root_doc:
            for part in list(self.document.findall(toctree))[-1:]:
                part["entries"].append(("Index", "genindex"))


def drop_foreign(app, pagename, templatename, context, doctree):
    """Leave out scripts and styles from other hosts (only widgets would need them)."""
    for kind in ("script_files", "css_files"):
        entries = context.get(kind, [])
        context[kind] = [e for e in entries if not FOREIGN.match(str(getattr(e, "filename", e)))]


def drop_repeated_identifiers(app, doctree, docname):
    """Drop the identifier that every exercise and every solution repeats."""
    for section in doctree.findall(nodes.section):
        section["ids"] = [name for name in section["ids"] if name not in REPEATED]


def mend_roles(app, pagename, templatename, context, doctree):
    """Remove the role of a list from a bibliography, whose entries have none of items."""
    body = context.get("body", "")
    context["body"] = body.replace('<div role="list" class="citation-list">', CITATIONS)


def keep_marks(app, pagename, templatename, context, doctree):
    """Keep what follows a formula without a space on its line."""
    if "body" in context:
        context["body"] = FOLLOWED.sub(r'<span class="book-kept">\1\2</span>', context["body"])


def set_minus(app, pagename, templatename, context, doctree):
    """Give a number that a cell pasted the sign of a number, in place of a hyphen."""
    if "body" in context:
        context["body"] = HYPHEN.sub("\\1\N{MINUS SIGN}", context["body"])


def offer_no_source(app, pagename, templatename, context, doctree):
    """Offer no source of a page that has no source file, as that of a function."""
    if context.get("sourcename"):
        return
    for group in context.get("header_buttons", []):
        if "buttons" in group:
            of_source = "download-source-button"
            group["buttons"] = [b for b in group["buttons"] if b.get("label") != of_source]


def drop_stale(app, exception):
    """Remove the pages of documents that the book no longer has; Sphinx leaves them."""
    if exception or app.builder.format != "html":
        return
    pages = app.env.all_docs.keys() | {"genindex", "search", "index"}
    for path in Path(app.outdir).rglob("*.html"):
        place = path.relative_to(app.outdir)
        if not place.parts[0].startswith("_") and place.with_suffix("").as_posix() not in pages:
            path.unlink()


def coloured_without_script(html):
    """Put the light scheme where the theme says "auto", which has colours only by its script."""
    return html.replace(AUTO, ' data-theme="light">', 1)


def text_first(html):
    """Put the contents at the side behind the text: a style sheet shows them before it.

    Who goes through a page by the Tab key is not led through the titles of all others.
    """
    return SIDE.sub(r"\2\n\1", html, count=1)


def parts_folded(html):
    """Fold the parts of the contents at the side but that of the page, or else the first."""
    somewhere = any(HERE.search(part[2]) for part in PART.finditer(html))

    def folded(part):
        of_the_page = HERE.search(part[2]) if somewhere else part.start() == first
        return (
            f'<details class="book-part"{" open" if of_the_page else ""}>'
            f'<summary class="caption">{part[1]}</summary>\n{part[2]}</details>'
        )

    first = next((part.start() for part in PART.finditer(html)), None)
    return PART.sub(folded, html)


def mend_pages(app, exception):
    """Mend what the theme makes of each page; one that was mended before stays as it is."""
    if exception or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        html = path.read_text("utf-8")
        mended = parts_folded(text_first(coloured_without_script(html)))
        if mended != html:
            path.write_text(mended, "utf-8")


def setup(app):
    # Jupyter Book passes this on to an extension that asks other hosts and is not loaded.
    app.add_config_value("comments_config", {}, "html")
    app.add_transform(IndexInContents)
    app.connect("build-finished", drop_stale)
    app.connect("build-finished", mend_pages)
    app.connect("doctree-resolved", drop_repeated_identifiers)
    app.connect("html-page-context", mend_roles)
    app.connect("html-page-context", keep_marks)
    app.connect("html-page-context", set_minus)
    app.connect("html-page-context", drop_foreign, priority=999)
    app.connect("html-page-context", offer_no_source, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
