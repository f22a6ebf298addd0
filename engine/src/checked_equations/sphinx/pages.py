"""What the pages of a book say about their equations, gathered from their doctrees.

One `Page` a document, kept in Sphinx's environment; it survives in the environment's pickle,
is dropped when its document is read again, and is merged from parallel readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import traverse_parent

from ..book import markup
from ..book.prose import Sentence
from ..latex.equation import Equation
from .directives import CLAIM, generated
from .output import check_output

_RAISED = re.compile(r"[\w.]*(Error|Exception|Warning|Exit|Interrupt)\b")
_OPENS = re.compile(r"\bChapter\(")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Noted:
    """A record that a cell left, and the line of that cell."""

    record: Mapping[str, Any]
    line: int


@dataclass(frozen=True)
class Failure:
    """A cell that raised: the line of the cell and what the error says."""

    line: int
    message: str


@dataclass(frozen=True)
class Page:
    """All of it, for one document.

    `asked` is what its front matter says about taking part, `opens` that its code opens a chapter.
    """

    equations: tuple[Equation, ...] = ()
    notes: tuple[Noted, ...] = ()
    claims: tuple[Sentence, ...] = ()
    failures: tuple[Failure, ...] = ()
    generated: frozenset[str] = frozenset()
    seconds: float | None = None
    asked: bool | None = None
    opens: bool = False

    @property
    def holds_check(self) -> bool:
        """Whether a cell shows something about a chapter, or tries to."""
        return self.opens or bool(self.of_chapters())

    def of_chapters(self) -> list[Mapping[str, Any]]:
        """The records of chapters; a check of a bare string belongs to none."""
        return [note.record for note in self.notes if note.record.get("chapter")]

    def records(self, *kinds: str) -> list[Mapping[str, Any]]:
        """The records of these kinds, in reading order."""
        return [note.record for note in self.notes if note.record["kind"] in kinds]

    @property
    def empty(self) -> bool:
        """Whether the page says nothing of equations."""
        return not (self.equations or self.notes or self.claims or self.failures or self.generated)

    @property
    def claimed(self) -> dict[str, Mapping[str, Any]]:
        """The records of claims, by their labels."""
        return {record["label"]: record for record in self.records("claim")}


def store(env: BuildEnvironment) -> dict[str, Page]:
    """The pages of an environment, by document name."""
    pages: dict[str, Page] = vars(env).setdefault("equation_pages", {})
    return pages


# The lines that the parser of notebooks gives to nodes are off by the blank lines between cells, so
# the file is asked.


def equations_of(doctree: nodes.document, file: Path) -> tuple[Equation, ...]:
    """The labelled equations of a page, with their lines in its file."""
    try:
        lines = {label: equation.line for label, equation in markup.read(file).items()}
    except ValueError:  # numbered in a way that no check can read: the node's line must do
        lines = {}
    return tuple(
        Equation(node["label"], node.astext(), lines.get(node["label"], node.line or 0))
        for node in doctree.findall(nodes.math_block)
        if node.get("label")
    )


def page_of(
    doctree: nodes.document,
    file: Path,
    cells: Sequence[int] = (),
    *,
    seconds: float | None = None,
    asked: bool | None = None,
) -> Page:
    """The page that `doctree` makes of a `file` in which the cells begin on the lines `cells`."""

    def line(node: nodes.Node) -> int:
        """The line of the file on which the cell of `node` begins."""
        above = traverse_parent(node.parent, nodes.Element)
        index = next((n["cell_index"] for n in (node, *above) if "cell_index" in n), len(cells))
        return cells[index] if index < len(cells) else node.line or 0

    blocks = list(doctree.findall(nodes.literal_block))
    return Page(
        equations=equations_of(doctree, file),
        notes=tuple(Noted(n["record"], line(n)) for n in doctree.findall(check_output)),
        claims=tuple(
            Sentence(node["label"], node.line or 0, node["text"])
            for node in doctree.findall(nodes.container)
            if CLAIM in node["classes"]
        ),
        failures=tuple(
            Failure(line(node), _last_words(node.astext()))
            for node in blocks
            if "traceback" in node["classes"]
        ),
        generated=frozenset(node["what"] for node in doctree.findall(generated)),
        seconds=seconds,
        asked=asked,
        opens=any(
            _OPENS.search(node.astext())
            for node in blocks
            if "cell_input" in node.parent.get("classes", ())
        ),
    )


def is_chapter(docname: str, chapter: str) -> bool:
    """Whether the document is the chapter: its name, or the end of its name."""
    return docname == chapter or docname.endswith(f"/{chapter}")


def _last_words(traceback: str) -> str:
    """The error itself: what follows the last frame of a traceback, and where it says nothing
    (a bare assertion), the line of code."""
    lines = _ANSI.sub("", traceback).rstrip().splitlines()
    starts = [i for i, line in enumerate(lines) if _RAISED.match(line)]
    words = "\n".join(lines[starts[-1] :] if starts else lines[-1:]).rstrip()
    code = [line.split(maxsplit=2)[2] for line in lines if re.match(r"-+> \d+ \S", line)]
    return f"{words} {code[-1].strip()}" if words.endswith(":") and code else words


def fingerprint(pages: Mapping[str, Page], numbers: Mapping[str, str]) -> str:
    """A text that changes when anything that a generated page shows has changed."""
    shown = {name: asdict(page) for name, page in sorted(pages.items()) if not page.empty}
    return json.dumps([shown, dict(numbers)], sort_keys=True, default=sorted)
