"""What the pages of a book say about their equations, gathered from their doctrees.

One `Page` a document, kept in Sphinx's environment; it survives in the environment's pickle,
is dropped when its document is read again, and is merged from parallel readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from docutils import nodes

from .output import check_output

__all__ = ["CHECKS", "Failure", "Labelled", "Noted", "Page", "fingerprint", "page_of", "store"]

CHECKS = ("identity", "inequality", "estimate", "definition")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Labelled:
    """A numbered equation: its label, its LaTeX and its line in the file."""

    label: str
    latex: str
    line: int


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
    """All of it, for one document."""

    equations: tuple[Labelled, ...] = ()
    notes: tuple[Noted, ...] = ()
    failures: tuple[Failure, ...] = ()
    generated: frozenset[str] = frozenset()
    seconds: float | None = None

    def records(self, *kinds: str) -> list[Mapping[str, Any]]:
        """The records of these kinds, in reading order."""
        return [note.record for note in self.notes if note.record["kind"] in kinds]

    @property
    def empty(self) -> bool:
        return not (self.equations or self.notes or self.failures or self.generated)


def store(env: Any) -> dict[str, Page]:
    """The pages of an environment, by document name."""
    if not hasattr(env, "equation_pages"):
        env.equation_pages = {}
    return env.equation_pages


def page_of(doctree: nodes.document, generated: frozenset[str], seconds: float | None) -> Page:
    """The page that `doctree` makes."""
    return Page(
        equations=tuple(_equations(doctree)),
        notes=tuple(_notes(doctree)),
        failures=tuple(_failures(doctree)),
        generated=generated,
        seconds=seconds,
    )


def _equations(doctree: nodes.document) -> Iterator[Labelled]:
    for node in doctree.findall(nodes.math_block):
        if node.get("label"):
            yield Labelled(node["label"], node.astext(), node.line or 0)


def _notes(doctree: nodes.document) -> Iterator[Noted]:
    for node in doctree.findall(check_output):
        yield Noted(node["record"], node.line or 0)


def _failures(doctree: nodes.document) -> Iterator[Failure]:
    for node in doctree.findall(nodes.literal_block):
        if "traceback" in node["classes"]:
            yield Failure(node.line or 0, _last_words(node.astext()))


def _last_words(traceback: str) -> str:
    """The error itself: what follows the last frame of a traceback."""
    lines = _ANSI.sub("", traceback).rstrip().splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(r"[\w.]*(Error|Exception|Warning|Exit|Interrupt)\b", line)]
    return "\n".join(lines[starts[-1] :] if starts else lines[-1:])


def fingerprint(pages: Mapping[str, Page], numbers: Mapping[str, str]) -> str:
    """A text that changes when anything that a generated page shows has changed."""
    shown = {name: asdict(page) for name, page in sorted(pages.items()) if not page.empty}
    return json.dumps([shown, dict(numbers)], sort_keys=True, default=sorted)
