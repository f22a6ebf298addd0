"""Rivals in the literature of the methods of a chapter: ``{rivals}``, from a file of its own.

``book/_rivals/PART/CHAPTER.toml`` lists, method by method, the rivals that a reader of the
literature would ask for: which was tried, and where, and why another was not.
"""

import tomllib
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

FOLDER = "_rivals"
TITLE = "What else the literature would put here, and what we have not tried"


def file_of(book: Path, slug: str) -> Path:
    """Return the path of the rivals of a chapter."""
    return book / FOLDER / f"{slug}.toml"


def rivals(file: Path) -> list[dict[str, str]]:
    """Return the rows of a file: a method, a rival, its source, and ``tried`` or ``untried``."""
    return tomllib.loads(file.read_text(encoding="utf-8"))["rival"]


def row(rival: dict[str, str]) -> str:
    """Return a row of the table in MyST; a bar would end its cell."""
    source = f" {{cite:p}}`{rival['source']}`" if rival.get("source") else ""
    label = rival.get("tried", "")
    tried = f"tried: {{ref}}`here <{label}>`" if label else f"not tried: {rival['untried']}"
    cells = (rival["method"], rival["rival"] + source, tried)
    return f"| {' | '.join(cells)} |"


class Rivals(SphinxDirective):
    """The table of the page, folded."""

    def run(self):
        slug = self.env.docname.removeprefix("book/")
        file = file_of(Path(self.env.srcdir) / "book", slug)
        if not file.is_file():
            raise self.error(f"no rivals are listed for this page: {FOLDER}/{slug}.toml is missing")
        self.env.note_dependency(str(file))
        head = ["| here | beside it | |", "| --- | --- | --- |"]
        lines = ["`````{dropdown} " + TITLE, *head, *map(row, rivals(file)), "`````"]
        box = nodes.container(classes=["rivals"])
        self.state.nested_parse(StringList(lines, str(file)), 0, box)
        return [box]


def setup(app):
    app.add_directive("rivals", Rivals)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
