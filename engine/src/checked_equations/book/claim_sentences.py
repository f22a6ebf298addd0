"""The sentences of a text that are claims: ``{claim}`` directives, by their labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from . import markup

NAME = "claim"


@dataclass(frozen=True)
class Sentence:
    """A claim as it is written: its label, the line of its directive, and its text."""

    label: str
    line: int
    text: str


def read_sentences(path: Path) -> dict[str, Sentence]:
    """The claims of a ``.md`` or ``.ipynb`` file, by their labels.

    Raises `ValueError` for a label that stands twice.
    """
    text = path.read_text(encoding="utf-8")
    found = _notebook(text) if path.suffix == ".ipynb" else _markdown(text)
    labels = [sentence.label for sentence in found]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ValueError(f"{path.name}: the claims {', '.join(twice)} stand there twice")
    return {sentence.label: sentence for sentence in found}


def _markdown(text: str) -> list[Sentence]:
    found = [
        Sentence(fence.argument, fence.line, "\n".join(body).strip())
        for fence, body in markup.blocks(text.splitlines())
        if fence.directive == NAME
    ]
    return sorted(found, key=lambda sentence: sentence.line)


def _notebook(text: str) -> list[Sentence]:
    raw = text.splitlines()
    found = []
    for source, _ in markup.notebook_cells(text, "markdown"):
        for sentence in _markdown(source):
            line = markup.line_in_notebook(raw, f"{{{NAME}}} {sentence.label}")
            found.append(replace(sentence, line=line))
    return found
