"""The contents of the pages of a book about their equations, from their doctrees.

One `Page` a document, kept in Sphinx's environment; it survives in the environment's pickle,
is dropped when its document is read again, and is merged from parallel readers.

Not all take part (`taking_part` decides, and their front matter may too): on the
others nothing is numbered anew, shown or complained of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from docutils import nodes
from sphinx.domains.math import MathDomain
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import traverse_parent

from ..book import markup
from ..book.prose import Sentence
from ..check.phrases import Data
from ..latex.equation import Equation
from .directives import CITED, CLAIM, boxes, generated
from .output import check_output
from .trials import Trial

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_RAISED = re.compile(r"[\w.]*(Error|Exception|Warning|Exit|Interrupt)\b")
_OPENS = re.compile(r"\bChapter\(")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Noted:
    """A record that a cell left, and the line of that cell."""

    record: Data
    line: int


@dataclass(frozen=True)
class Page:
    """All of it, for one document.

    `failures` are cells that raised: a line, and the error's words; `tried` is the outcome of
    displays without a check. `asked` is the answer of the front matter about taking part, `opens`
    that the code opens a chapter.
    """

    equations: tuple[Equation, ...] = ()
    notes: tuple[Noted, ...] = ()
    claims: tuple[Sentence, ...] = ()
    cited: tuple[Sentence, ...] = ()
    failures: tuple[tuple[int, str], ...] = ()
    tried: tuple[Trial, ...] = ()
    generated: frozenset[str] = frozenset()
    seconds: float | None = None
    asked: bool | None = None
    opens: bool = False

    @property
    def holds_check(self) -> bool:
        """Return whether a cell shows something about a chapter, or tries to."""
        return self.opens or bool(self.chapters)

    @property
    def chapters(self) -> set[str]:
        """The chapters that its records are of; a check of a bare string belongs to none."""
        return {note.record["chapter"] for note in self.notes if note.record.get("chapter")}

    def records(self, *kinds: str) -> list[Data]:
        """The records of these kinds, in reading order."""
        return [note.record for note in self.notes if note.record["kind"] in kinds]

    @property
    def claimed(self) -> dict[str, Data]:
        """The records of claims, by their labels."""
        return {record["label"]: record for record in self.records("claim")}


def store(env: BuildEnvironment) -> dict[str, Page]:
    """The pages of an environment, by document name."""
    pages: dict[str, Page] = vars(env).setdefault("equation_pages", {})
    return pages


def read_page(env: BuildEnvironment, docname: str, doctree: nodes.document, every: bool) -> Page:
    """Return the contents of a page just read; if it takes part, its labels are numbered."""
    told = env.metadata.get(docname, {})
    ran = getattr(env, "nb_metadata", {}).get(docname, {}).get("exec_data") or {}
    line = partial(_line, told.get("source_map") or ())
    blocks = list(doctree.findall(nodes.literal_block))
    failed = [block for block in blocks if "traceback" in block["classes"]]
    code = [block for block in blocks if "cell_input" in block.parent.get("classes", ())]
    page = Page(
        notes=tuple(Noted(n["record"], line(n)) for n in doctree.findall(check_output)),
        claims=_sentences(doctree, CLAIM),
        cited=_sentences(doctree, CITED),
        failures=tuple((line(block), _last_words(block.astext())) for block in failed),
        generated=frozenset(node["what"] for node in doctree.findall(generated)),
        seconds=ran.get("runtime"),
        asked=asked(told),
        opens=any(_OPENS.search(block.astext()) for block in code),
    )
    if take_part(page, every):
        number_labels(env, docname, doctree)
    return replace(page, equations=_equations(env, docname, doctree))


def _sentences(doctree: nodes.document, name: str) -> tuple[Sentence, ...]:
    """Return the words in the boxes of a class, by the claims that they belong to."""
    said = boxes(doctree, name)
    return tuple(Sentence(box["label"], box.line or 0, box["text"]) for box in said)


def _line(cells: Sequence[int], node: nodes.Node) -> int:
    """The line of the file on which the cell of `node` begins, of those on which `cells` do."""
    above = traverse_parent(node.parent, nodes.Element)
    index = next((n["cell_index"] for n in (node, *above) if "cell_index" in n), len(cells))
    return cells[index] if index < len(cells) else node.line or 0


def _equations(
    env: BuildEnvironment, docname: str, doctree: nodes.document
) -> tuple[Equation, ...]:
    """The labelled displays of a page."""
    try:  # lines of the file: the parser of notebooks leaves out blank ones between cells
        known = {e.label: e.line for e in markup.read(Path(env.doc2path(docname))).values()}
    except ValueError:  # numbered in a way that no check can read: the node's line must do
        known = {}
    labelled = (node for node in doctree.findall(nodes.math_block) if node.get("label"))
    read = (Equation(node["label"], node.astext(), node.line or 0) for node in labelled)
    return tuple(replace(e, line=known.get(e.label, e.line)) for e in read)


def is_chapter(docname: str, chapter: str) -> bool:
    """Return whether the document is the chapter: its name, or the end of its name."""
    return docname == chapter or docname.endswith(f"/{chapter}")


def _last_words(traceback: str) -> str:
    """The error itself, below the last frame; if it says nothing (a bare assertion), its code."""
    lines = _ANSI.sub("", traceback).rstrip().splitlines()
    starts = [i for i, line in enumerate(lines) if _RAISED.match(line)]
    words = "\n".join(lines[starts[-1] :] if starts else lines[-1:]).rstrip()
    code = [line.split(maxsplit=2)[2] for line in lines if re.match(r"-+> \d+ \S", line)]
    return f"{words} {code[-1].strip()}" if words.endswith(":") and code else words


# Which of them take part


def asked(metadata: Mapping[str, object]) -> bool | None:
    """Return the answer of the front matter of a page, or None.

    >>> asked({"equations": "true"}), asked({"equations": "false"}), asked({})
    (True, False, None)
    """
    return _WORDS.get(str(metadata.get("equations", "")).strip().lower())


def take_part(page: Page, every: bool) -> bool:
    """Return whether a page takes part by itself: as it says, or as it opens or shows a chapter."""
    return (every or page.holds_check) if page.asked is None else page.asked


def taking_part(pages: Mapping[str, Page], every: bool) -> dict[str, Page]:
    """All pages, those that take no part without equations, records and failures."""
    chapters = {chapter for page in pages.values() for chapter in page.chapters}
    return {
        name: page
        if take_part(page, every)
        or (page.asked is None and any(is_chapter(name, chapter) for chapter in chapters))
        else replace(page, equations=(), notes=(), failures=())
        for name, page in pages.items()
    }


def number_labels(env: BuildEnvironment, docname: str, doctree: nodes.document) -> None:
    """Let a ``\\label`` inside a display count as the label of the display.

    Sphinx numbers what its own option labels; MyST gives an environment a label that cannot be
    named: the equations of the page are counted anew.
    """
    equations = cast(MathDomain, env.get_domain("math")).equations
    displays = list(doctree.findall(nodes.math_block))
    if not any(markup.LABEL.search(node.astext()) for node in displays):
        return
    for node in displays:
        labels, own = markup.LABEL.findall(node.astext()), node.get("label")
        if not labels:
            continue
        if "amsmath" in node["classes"]:
            equations.pop(own, None)
            own = None
        label = own or labels[0]  # of two, text and page are told elsewhere
        node["label"], node["docname"] = label, docname
        node["ids"] = [nodes.make_id(f"equation-{label}")]
        lines = [line for line in node.astext().split("\n") if markup.LABEL.sub("", line).strip()]
        node.children = [nodes.Text(markup.LABEL.sub("", "\n".join(lines)).strip())]
    for i, node in enumerate((node for node in displays if node.get("label")), start=1):
        equations[node["label"]] = (docname, i)
        node["number"] = i
