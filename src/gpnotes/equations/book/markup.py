"""The labelled equations of a chapter's own text, with the lines of the file they stand on.

Read are MyST ``{math}`` directives with a ``:label:``, in Markdown files and in the Markdown
cells of notebooks. Code cells and examples inside code fences are passed over. What would be
numbered but could not be checked (a dollar block with a label, a bare ``\\label``) is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..latex.equation import Equation

__all__ = [
    "Fence", "blocks", "carrying", "cells", "equations", "options", "packaged",
    "parse", "read",
]  # fmt: skip

DATA = Path(__file__).resolve().parent.parent.parent / "data"
PACKED = "_equations"  # a book's own folder of packed data
_FENCE = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,}|:{3,})\s*(\{[^}\s]+\})?\s*(.*)$")
_OPTION = re.compile(r"^\s*:?(label|name):\s*(\S+)\s*$")
_REFUSED = re.compile(r"\$\$\s*\(([^)\s]+)\)\s*$|\\label\{([^}]+)\}")
_OPAQUE = frozenset(
    {"code", "code-block", "code-cell", "sourcecode", "literalinclude", "raw", "eval-rst"}
    | {"math", "mermaid", "parsed-literal"}
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
        return not self.directive or self.directive in _OPAQUE

    def closed_by(self, line: str) -> bool:
        bare = line.strip()
        return set(bare) == {self.mark[0]} and len(bare) >= len(self.mark)


def equations(text: str) -> dict[str, Equation]:
    """The labelled equations of Markdown `text`, in reading order.

    >>> found = equations("```{math}\\n:label: eq-one\\na &= b\\n```")
    >>> found["eq-one"].latex, found["eq-one"].line
    ('a &= b', 3)
    """
    found: dict[str, Equation] = {}
    for equation in _scan(text.splitlines()):
        if equation.label in found:
            first = found[equation.label].line
            raise ValueError(
                f"line {equation.line}: the label {equation.label} is already on line {first}"
            )
        found[equation.label] = equation
    return found


def cells(text: str) -> list[tuple[int, str]]:
    """The code cells of Markdown `text`: the line on which the code begins, and the code."""
    written = [block for block in blocks(text.splitlines()) if block[0].directive == "code-cell"]
    heads = [options(body) for _, body in written]
    return [
        (fence.line + 1 + head, "\n".join(body[head:]))
        for (fence, body), head in zip(written, heads, strict=True)
    ]


def _scan(lines: list[str]) -> Iterator[Equation]:
    for fence, body in blocks(lines):
        if fence.directive == "math":
            yield from _directive(fence, body)


def blocks(lines: list[str]) -> Iterator[tuple[Fence, list[str]]]:
    """Every fence with its body, as it is closed."""
    stack: list[Fence] = []
    for number, line in enumerate(lines, start=1):
        if stack and stack[-1].closed_by(line):
            fence = stack.pop()
            yield fence, lines[fence.line : number - 1]
        elif not (stack and stack[-1].opaque):
            opened = _opened(line, number)
            _refuse(line, number)
            stack += [opened] if opened else []
    if stack and stack[-1].opaque:
        raise ValueError(f"line {stack[-1].line}: the fence {stack[-1].mark} is never closed")


def _opened(line: str, number: int) -> Fence | None:
    match = _FENCE.match(line)
    if match is None:
        return None
    mark, directive, argument = match.groups()
    if mark[0] == ":" and not directive:
        return None
    return Fence(mark, (directive or "").strip("{}"), argument.strip(), number)


def _refuse(line: str, number: int) -> None:
    match = _REFUSED.search(re.sub(r"`[^`]*`", "", line))
    if match:
        label = match.group(1) or match.group(2)
        raise ValueError(
            f"line {number}: the equation {label} must be a {{math}} directive with "
            f":label: {label}, so that it can be checked; got {line.strip()!r}"
        )


def _directive(fence: Fence, body: list[str]) -> Iterator[Equation]:
    """The equation of one directive, or none if it has no label."""
    count = options(body)
    labels = [m.group(2) for m in map(_OPTION.match, body[:count]) if m]
    if not labels:
        return
    if fence.argument:
        raise ValueError(f"line {fence.line}: the LaTeX of {labels[0]} must begin on its own line")
    while count < len(body) and not body[count].strip():
        count += 1
    latex = "\n".join(body[count:]).rstrip()
    if not latex:
        raise ValueError(f"line {fence.line}: the equation {labels[0]} is empty")
    yield Equation(labels[0], latex, fence.line + 1 + count)


def options(body: list[str]) -> int:
    """How many lines at the head of a directive are options: ``:key: value`` or a YAML block."""
    if body and body[0].strip() == "---":
        ends = [i for i, line in enumerate(body[1:], start=2) if line.strip() == "---"]
        return ends[0] if ends else 1
    count = 0
    while count < len(body) and re.match(r"^\s*:[\w-]+:", body[count]):
        count += 1
    return count


def read(path: Path) -> dict[str, Equation]:
    """The labelled equations of a ``.md`` or ``.ipynb`` file; lines are lines of that file."""
    return parse(path.read_text(encoding="utf-8"), path.suffix)


def parse(content: str, suffix: str) -> dict[str, Equation]:
    """The labelled equations of the `content` of a file whose name ends in `suffix`."""
    return _notebook(content) if suffix == ".ipynb" else equations(content)


def _notebook(text: str) -> dict[str, Equation]:
    raw = text.splitlines()
    found: dict[str, Equation] = {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        for label, equation in equations("".join(cell["source"])).items():
            if label in found:
                raise ValueError(f"the label {label} stands in two cells")
            found[label] = replace(equation, line=_raw_line(raw, equation))
    return found


def _raw_line(raw: list[str], equation: Equation) -> int:
    """The line of the notebook file that holds the first line of the equation's LaTeX."""
    first = json.dumps(equation.latex.split("\n")[0], ensure_ascii=False)[1:-1]
    label = re.compile(rf"(label|name): {re.escape(equation.label)}(?![\w-])")
    start = next((i for i, line in enumerate(raw) if label.search(line)), 0)
    return next((i for i in range(start, len(raw)) if first in raw[i]), start) + 1


def carrying(slug: str, folder: Path) -> Path:
    """The folder of packed data that holds `slug`: its book's, at or above `folder`, or ours."""
    above = (place / PACKED for place in (folder, *folder.parents))
    return next((data for data in above if slug in _chapters(data)), DATA)


def _chapters(data: Path) -> dict[str, dict]:
    file = data / "equations.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def packaged(slug: str, data: Path | None = None) -> dict[str, Equation]:
    """The equations of the chapter `slug` that the package carries, or the folder `data`."""
    chapters = _chapters(data or DATA)
    if slug not in chapters:
        name = slug.rsplit("/", 1)[-1]
        raise ValueError(
            f"the chapter {slug} has no {name}.md or {name}.ipynb in {Path.cwd().name}/ "
            f"and is not among the packaged chapters: {', '.join(sorted(chapters)) or 'none'}"
        )
    return {label: Equation(label, **entry) for label, entry in chapters[slug].items()}
