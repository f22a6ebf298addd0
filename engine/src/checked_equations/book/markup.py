"""The labelled equations of a chapter's own text, with the lines of the file they stand on.

Read are MyST ``{math}`` directives with a ``:label:``, in Markdown files and in the Markdown
cells of notebooks, and what `displays` lists: dollars with a label behind them, ``\\label``, and
reStructuredText. Code cells and examples inside code fences are passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from ..latex.equation import Equation
from . import displays

KINDS = (".md", ".ipynb", ".rst", ".qmd")  # of files that hold a page
_FENCE = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,}|:{3,})\s*(\{[^}\s]+\})?\s*(.*)$")
_OPTION = re.compile(r"^\s*:?(label|name):\s*(\S+)\s*$")
_CODE_SPAN = re.compile(r"(`+)[^`\n]+\1")
_OPAQUE = frozenset(
    {"code", "code-block", "code-cell", "sourcecode", "literalinclude", "raw", "eval-rst"}
    | {"math", "mermaid", "parsed-literal", "python"}
)


@dataclass(frozen=True)
class Fence:
    """A fence that is open: its mark, the directive's name, and where it began."""

    mark: str
    directive: str
    argument: str
    line: int

    @property
    def opaque(self) -> bool:
        """Whether what stands inside is no Markdown: code, or a directive that is not text."""
        return not self.directive or self.directive in _OPAQUE

    def closed_by(self, line: str) -> bool:
        """Whether `line` closes the fence: marks of its kind alone, and no fewer."""
        bare = line.strip()
        return set(bare) == {self.mark[0]} and len(bare) >= len(self.mark)


def equations(text: str) -> dict[str, Equation]:
    """The labelled equations of Markdown `text`, in reading order.

    >>> found = equations("```{math}\\n:label: eq-one\\na &= b\\n```")
    >>> found["eq-one"].latex, found["eq-one"].line
    ('a &= b', 3)
    """
    lines = text.splitlines()
    kept = [_CODE_SPAN.sub(lambda span: " " * len(span[0]), line) for line in lines]
    kept = ["" if line.lstrip().startswith("%") else line for line in kept]
    written: list[Equation] = []
    for fence, body in blocks(lines):
        if fence.opaque:
            kept[fence.line - 1 : fence.line + 1 + len(body)] = [""] * (len(body) + 2)
        if fence.directive == "math":
            written += _directive(fence, body)
        elif fence.directive == "eval-rst":
            written += displays.restructured(body, fence.line + 1)
    written += displays.displayed("\n".join(kept))
    return _by_label(sorted(written, key=lambda equation: equation.line))


def _by_label(written: Iterable[Equation]) -> dict[str, Equation]:
    by_label: dict[str, Equation] = {}
    for equation in written:
        if equation.label in by_label:
            said = f"{equation.label} is already on line {by_label[equation.label].line}"
            raise ValueError(f"line {equation.line}: the label {said}")
        by_label[equation.label] = equation
    return by_label


def blocks(lines: list[str]) -> Iterator[tuple[Fence, list[str]]]:
    """Every fence with its body, as it is closed."""
    stack: list[Fence] = []
    for number, line in enumerate(lines, start=1):
        if stack and stack[-1].closed_by(line):
            fence = stack.pop()
            yield fence, lines[fence.line : number - 1]
        elif not (stack and stack[-1].opaque) and (match := _FENCE.match(line)):
            mark, directive, argument = match.groups()
            if mark[0] != ":" or directive:
                name = (directive or "").strip("{}")
                stack.append(Fence(mark, name, argument.strip(), number))
    if stack and stack[-1].opaque:
        raise ValueError(f"line {stack[-1].line}: the fence {stack[-1].mark} is never closed")


def _directive(fence: Fence, body: list[str]) -> list[Equation]:
    """The equation of one directive, or none if it has no label."""
    count = options(body)
    labels = [m.group(2) for m in map(_OPTION.match, body[:count]) if m]
    if not any(line.strip() for line in body[count:]) and labels and not fence.argument:
        raise ValueError(f"line {fence.line}: the equation {labels[0]} is empty")
    latex = "\n".join(body[count:])
    label = "".join(labels[:1])
    equation = displays.labelled(latex or fence.argument, fence.line + 1 + count, label)
    if equation and fence.argument:
        said = f"the LaTeX of {equation.label} must begin on its own line"
        raise ValueError(f"line {fence.line}: {said}")
    return [equation] if equation else []


def options(body: list[str]) -> int:
    """How many lines at the head of a directive are options: ``:key: value`` or a YAML block."""
    if body and body[0].strip() == "---":
        ends = [i for i, line in enumerate(body[1:], start=2) if line.strip() == "---"]
        return ends[0] if ends else 1
    return len(list(takewhile(re.compile(r"\s*:[\w-]+:").match, body)))


def read(path: Path) -> dict[str, Equation]:
    """The labelled equations of a ``.md``, ``.ipynb`` or ``.rst`` file, with lines of that file."""
    return parse(path.read_text(encoding="utf-8"), path.suffix)


def parse(content: str, suffix: str) -> dict[str, Equation]:
    """The labelled equations of the `content` of a file whose name ends in `suffix`."""
    if suffix == ".rst":
        return _by_label(displays.restructured(content.splitlines()))
    if suffix != ".ipynb":
        return equations(content)
    by_label: dict[str, Equation] = {}
    for text, lines, _ in notebook_cells(content, "markdown"):
        for label, equation in equations(text).items():
            if label in by_label:
                raise ValueError(f"the label {label} stands in two cells")
            by_label[label] = replace(equation, line=lines[equation.line - 1])
    return by_label


def notebook_cells(content: str, kind: str) -> Iterator[tuple[str, Sequence[int], frozenset[str]]]:
    """The "markdown" or "code" of a notebook by cells: text, the lines of the file, tags."""
    cells = json.loads(content)["cells"]
    begin = list(re.finditer(r'^([ \t]*)"source": (\[$)?', content, re.MULTILINE))
    begin = [match for match in begin if match[1] == begin[0][1]]  # what lies deeper is an output
    for i, cell in enumerate(cells):
        text = "".join(cell["source"])
        count = text.count("\n") + 1
        lines: Sequence[int] = [1] * count  # where the file is one line
        if len(begin) == len(cells):
            at = content.count("\n", 0, begin[i].start()) + 1
            lines = range(at + 1, at + 1 + count) if begin[i][2] else [at] * count
        if cell["cell_type"] == kind:
            yield text, lines, frozenset(cell.get("metadata", {}).get("tags", ()))


def markdown(content: str, suffix: str, *, without: str = "") -> tuple[str, Sequence[int]]:
    """The Markdown of a file, without cells that have a tag, and the line of the file of each."""
    if suffix != ".ipynb":
        return content, range(1, content.count("\n") + 2)
    cells = [cell for cell in notebook_cells(content, "markdown") if without not in cell[2]]
    lines = [line for _, each, _ in cells for line in (*each, each[-1])]
    return "\n\n".join(text for text, *_ in cells), lines
