"""The glossary: ``{book-glossary}`` lists what ``book/glossary.yml`` says of each term.

A term has a sentence, perhaps a symbol, other names, and the place that derives it; the search
finds it by each of its names (see `site_search`).
"""

from pathlib import Path

import yaml
from sphinx.util.docutils import SphinxDirective

FILE = "book/glossary.yml"


def terms(source):
    """Return the content of the file of a book; empty where there is none."""
    path = Path(source) / FILE
    return yaml.safe_load(path.read_text("utf-8")) if path.exists() else []


def lines(term):
    """Return an entry as Sphinx's own glossary reads it."""
    role = "eq" if term["where"].startswith("eq-") else "ref"
    symbol = f" ${term['symbol']}$." if term.get("symbol") else ""
    said = f"{term['says']}{symbol} See {{{role}}}`{term['where']}`."
    return [term["term"], *term.get("other", []), f"  {said}", ""]


class Glossary(SphinxDirective):
    """All of them, in the order of the alphabet."""

    def run(self):
        self.env.note_dependency(str(Path(self.env.srcdir) / FILE))
        rows = [line for term in terms(self.env.srcdir) for line in lines(term)]
        text = ["```{glossary}", ":sorted:", "", *rows, "```"]
        return self.parse_text_to_nodes("\n".join(text))


def setup(app):
    app.add_directive("book-glossary", Glossary)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
