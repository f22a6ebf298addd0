"""Small repairs of what the tools make: nothing from another host, no script that the book
replaces, the index among the contents, no identifier twice, no page of a document that is gone, no
line that begins with a comma, no page without colours where no script runs."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.transforms import SphinxTransform

REPEATED = {"exercise-content", "solution-content"}
AUTO = ' data-theme="auto">'
CITATIONS = '<div class="citation-list">'
FOREIGN = re.compile(r"(https?:)?//|_static/sphinx_highlight\.js")  # landing.js marks instead
FOLLOWED = re.compile(r'(<span class="math[^"]*">[^<]*</span>)([.,;:!?)\u2019\u201d]+)')


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


def colour_without_script(app, exception):
    """Put the light scheme where the theme says "auto", which has colours only by its script."""
    if exception or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        html = path.read_text("utf-8")
        if AUTO in html:
            path.write_text(html.replace(AUTO, ' data-theme="light">', 1), "utf-8")


def setup(app):
    # Jupyter Book passes this on to an extension that asks other hosts and is not loaded.
    app.add_config_value("comments_config", {}, "html")
    app.add_transform(IndexInContents)
    app.connect("build-finished", drop_stale)
    app.connect("build-finished", colour_without_script)
    app.connect("doctree-resolved", drop_repeated_identifiers)
    app.connect("html-page-context", mend_roles)
    app.connect("html-page-context", keep_marks)
    app.connect("html-page-context", drop_foreign, priority=999)
    app.connect("html-page-context", offer_no_source, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
