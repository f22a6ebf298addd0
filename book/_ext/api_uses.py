"""Places in the book that derive or use a function or class, read from the sources of its pages.

An equation is known by the chapter that has its label, a call by the cell that makes it, and a
figure shows the calls that `figure_calls` finds behind it, as in the gallery.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from api_docstrings import EQUATION
from figure_calls import called, calls_before

CELL = re.compile(
    r"^```\{code-cell\}[^\n]*\n(?:---\n(.*?)^---\n|(?::[^\n]*\n)*)(.*?)^```", re.M | re.S
)
FIGURE = re.compile(r"figure:\n\s+name: (\S+)")
LABEL = re.compile(r"^:label: (eq-[\w-]+)|^\$\$ \((eq-[\w-]+)\)", re.M)


@dataclass
class Uses:
    """Of each label its page; of each thing of the package the pages with the figures."""

    labels: dict[str, str] = field(default_factory=dict)
    pages: dict[str, dict[str, list[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def said(self, thing: str, source: str) -> str:
        """Return the section on the book for the page of a thing; empty where it is not used."""
        derived = defaultdict(list)
        for label in dict.fromkeys(EQUATION.findall(source)):
            if label in self.labels:
                derived[self.labels[label]].append(f":eq:`{label}`")
        lines = [f"- Derived in :doc:`/{page}`: {', '.join(at)}" for page, at in derived.items()]
        pages = self.pages.get(thing, {})
        for page, figures in pages.items():
            if figures:
                shown = ", ".join(f":numref:`{figure}`" for figure in figures)
                lines.append(f"- Behind figures of :doc:`/{page}`: {shown}")
        called = [f":doc:`/{page}`" for page, figures in pages.items() if not figures]
        if called:
            lines.append(f"- Called in {', '.join(called)}")
        return "\n".join((".. rubric:: In the book\n", *lines, "")) if lines else ""


def read_uses(root: Path, names: list[str]) -> Uses:
    """Return the uses on these pages of a book."""
    uses = Uses()
    for name in names:
        path = root / f"{name}.md"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        uses.labels |= {one or other: name for one, other in LABEL.findall(text)}
        cells = CELL.findall(text)
        for target in called([code for _, code in cells]):
            uses.pages[target][name]
        for i, (head, _) in enumerate(cells):
            figure = FIGURE.search(head)
            for call in calls_before([code for _, code in cells[: i + 1]]) if figure else []:
                uses.pages[call.target][name].append(figure[1])
    return uses
