"""The glossary: ``{book-glossary}`` lists what ``book/glossary.yml`` says of each term.

A term has a sentence, perhaps a symbol, other names, and the place that derives it; the search
finds it by each of its names (see `site_search`). Each letter has a heading, and a line of letters
leads to them.
"""

from itertools import groupby
from pathlib import Path
from unicodedata import normalize

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from checked_equations.book.settings import read_yaml

FILE = "book/glossary.yml"


def terms(source):
    """Return the content of the file of a book; empty where there is none."""
    path = Path(source) / FILE
    return read_yaml(path) if path.exists() else []


def lines(term):
    """Return an entry as Sphinx's own glossary reads it."""
    role = "eq" if term["where"].startswith("eq-") else "ref"
    symbol = f" ${term['symbol']}$." if term.get("symbol") else ""
    said = f"{term['says']}{symbol} See {{{role}}}`{term['where']}`."
    return [term["term"], *term.get("other", []), f"  {said}", ""]


def letter(term):
    """Return the letter under which a term stands; that of ``α`` is the first of *alpha*."""
    name = normalize("NFD", term["term"].replace("α", "alpha").replace("ε", "epsilon"))
    return next(sign for sign in name.upper() if "A" <= sign <= "Z")


def by_letter(source):
    """Return each letter with its terms, in the order of the alphabet."""
    found = sorted(terms(source), key=letter)
    return [(first, list(those)) for first, those in groupby(found, letter)]


class Glossary(SphinxDirective):
    """All of them, in the order of the alphabet."""

    def run(self):
        self.env.note_dependency(str(Path(self.env.srcdir) / FILE))
        groups = by_letter(self.env.srcdir)
        bar = nodes.paragraph(classes=["book-letters"])
        for first, _ in groups:
            bar += nodes.reference("", first, refid=f"letter-{first.lower()}")
            bar += nodes.Text(" ")
        return [bar, *(self.section(first, those) for first, those in groups)]

    def section(self, first, those):
        found = nodes.section("", nodes.title("", first), ids=[f"letter-{first.lower()}"])
        rows = [line for term in those for line in lines(term)]
        text = "\n".join(["```{glossary}", ":sorted:", "", *rows, "```"])
        found += self.parse_text_to_nodes(text)
        return found


def setup(app):
    app.add_directive("book-glossary", Glossary)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
