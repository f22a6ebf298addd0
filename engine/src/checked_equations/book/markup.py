"""The labelled equations of a page's own text, with the lines of the file they stand on.

Read are MyST ``{math}`` directives with a ``:label:``, in Markdown files and in the Markdown cells
of notebooks; mathematics between dollars with the label behind it, ``$$ a = b $$ (eq-a)``, or in a
comment there, ``<!-- label: eq-a -->``, or as Quarto has it, ``{#eq-a}``; ``\\label{eq-a}`` in any
display, also in an environment such as ``align`` that stands alone; and in reStructuredText, in a
file of its own or in ``{eval-rst}``, a ``.. math::`` with a ``:label:``. Code cells and examples in
code fences are passed over. A number by hand and an environment around the whole display say
nothing, so that an equation is the same in every host.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

from ..latex.equation import Equation

KINDS = (".md", ".ipynb", ".rst", ".qmd")  # of files that hold a page
TEX = (".tex", ".ltx", ".latex")  # and of those that hold a paper
_FENCE = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,}|:{3,})\s*(\{[^}\s]+\})?\s*(.*)$")
_CODE_SPAN = re.compile(r"(`+)[^`\n]+\1")
LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
BEHIND = r"[ \t]*\((?P<label>[^()\s$]+)\)[ \t]*$|\s*<!--\s*label:\s*(?P<note>\S+)\s*-->"
BEHIND += r"|[ \t]*\{#(?P<mark>[^}\s]+)\}[ \t]*$"
_DOLLARS = re.compile(
    rf"(?<!\\)\$\$(?P<latex>.+?)(?<!\\)\$\$(?:{BEHIND})?", re.DOTALL | re.MULTILINE
)
_LAYOUT = re.compile(r"\\tag\*?\s*\{[^{}]*\}")
_WHOLE = re.compile(r"\s*(\\begin\{(aligned|split)\}).*(\\end\{\2\})\s*", re.DOTALL)
_ENVIRONMENT = re.compile(
    r"^[ \t]*(?P<latex>\\begin\{(?P<name>(?:equation|multline|gather|align|alignat|flalign)\*?)\}"
    r".*?\\end\{(?P=name)\})",
    re.DOTALL | re.MULTILINE,
)
_DIRECTIVE = re.compile(r"^\s*\.\. (?P<name>[\w:-]+)::[ \t]*(?P<argument>.*)$")
_OPTION = re.compile(r"^\s*:?(?P<name>[\w-]+):[ \t]*(?P<value>.*?)\s*$")
# Directives whose bodies are shown and not read, in both markups and in either.
_SHOWN = {"code", "code-block", "sourcecode", "literalinclude", "parsed-literal", "raw", "math"}
_OPAQUE = _SHOWN | {"code-cell", "eval-rst", "mermaid", "python"}
_LITERAL = _SHOWN | {"highlight", "doctest", "testcode"}


@dataclass(frozen=True)
class Fence:
    """A fence that is open: its mark, the directive's name, and where it began."""

    mark: str
    directive: str
    argument: str
    line: int

    @property
    def opaque(self) -> bool:
        """Return whether the inside is no Markdown: code, or a directive that is not text."""
        return not self.directive or self.directive in _OPAQUE


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
            found = _directive(fence.argument, body, fence.line)
            if found and fence.argument:
                said = f"the LaTeX of {found[0].label} must begin on its own line"
                raise ValueError(f"line {fence.line}: {said}")
            written += found
        elif fence.directive == "eval-rst":
            written += restructured(body, fence.line + 1)
    written += displayed("\n".join(kept))
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
        bare, mark = line.strip(), stack[-1].mark if stack else ""
        if mark and set(bare) == {mark[0]} and len(bare) >= len(mark):  # no fewer of its kind alone
            fence = stack.pop()
            yield fence, lines[fence.line : number - 1]
        elif not (stack and stack[-1].opaque) and (match := _FENCE.match(line)):
            mark, directive, argument = match.groups()
            if mark[0] != ":" or directive:
                stack.append(Fence(mark, (directive or "").strip("{}"), argument.strip(), number))
    if stack and stack[-1].opaque:
        raise ValueError(f"line {stack[-1].line}: the fence {stack[-1].mark} is never closed")


def _directive(argument: str, body: Sequence[str], line: int) -> list[Equation]:
    """Return the equation of a directive: the rest of its first line, options, LaTeX."""
    count = options(body)
    named = {m["name"]: m["value"] for m in map(_OPTION.match, body[:count]) if m}
    label = named.get("label") or named.get("name") or ""
    below = "\n".join(body[count:])
    if argument:
        return _labelled("\n".join([argument, *[""] * count, below]), line, label)
    if label and not below.strip():
        raise ValueError(f"line {line}: the equation {label} is empty")
    return _labelled(below, line + 1 + count, label)


def options(body: Sequence[str]) -> int:
    """Count the lines of options at the head of a directive: ``:key: value`` or a YAML block."""
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
        return _by_label(restructured(content.splitlines()))
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
    try:
        cells = json.loads(content.removeprefix("\ufeff"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError) as wrong:
        raise ValueError(
            f"a notebook must be JSON of version 4, with cells that have a source: {wrong!r}"
        ) from None
    begin = list(re.finditer(r'^([ \t]*)"source": (\[$)?', content, re.MULTILINE))
    begin = [match for match in begin if match[1] == begin[0][1]]  # what lies deeper is an output
    for i, (cell, text) in enumerate(zip(cells, texts, strict=True)):
        count = text.count("\n") + 1
        lines: Sequence[int] = [1] * count  # where the file is one line
        if len(begin) == len(cells):
            at = content.count("\n", 0, begin[i].start()) + 1
            lines = range(at + 1, at + 1 + count) if begin[i][2] else [at] * count
        if cell.get("cell_type") == kind:
            yield text, lines, frozenset(cell.get("metadata", {}).get("tags", ()))


def markdown(content: str, suffix: str, *, without: str = "") -> tuple[str, Sequence[int]]:
    """The Markdown of a file, without cells that have a tag, and the line of the file of each."""
    if suffix != ".ipynb":
        return content, range(1, content.count("\n") + 2)
    cells = [cell for cell in notebook_cells(content, "markdown") if without not in cell[2]]
    lines = [line for _, each, _ in cells for line in (*each, each[-1])]
    return "\n\n".join(text for text, *_ in cells), lines


def _bare(latex: str) -> str:
    """`latex` without labels, numbers by hand and an environment around it: there are spaces.

    >>> _bare(r"\\begin{aligned}a &= b\\end{aligned} \\label{eq-a} \\tag{2.4}").strip()
    'a &= b'
    """
    for pattern in (LABEL, _LAYOUT):
        latex = pattern.sub(lambda match: " " * len(match[0]), latex)
    whole = _WHOLE.fullmatch(latex)
    if whole is None or whole[1] in latex[whole.end(1) :]:
        return latex
    for part in whole.group(1, 3):
        latex = latex.replace(part, " " * len(part))
    return latex


def _labelled(latex: str, line: int, label: str = "") -> list[Equation]:
    """The equation of a display with a label, or none; `ValueError` for two, and on nothing."""
    labels = list(dict.fromkeys([*filter(None, [label]), *LABEL.findall(latex)]))
    if len(labels) > 1:
        said = f"got {' and '.join(labels)}: write a display for each"
        raise ValueError(f"line {line}: a display has one label; {said}")
    if not labels:
        return []
    bare = _bare(latex).rstrip()
    skipped = bare.count("\n", 0, len(bare) - len(bare.lstrip()))
    if not bare:
        raise ValueError(f"line {line}: the equation {labels[0]} is empty")
    return [Equation(labels[0], "\n".join(bare.split("\n")[skipped:]), line + skipped)]


def displayed(text: str) -> Iterator[Equation]:
    """The labelled equations between double dollars, and in environments that stand alone.

    >>> [(e.label, e.latex, e.line) for e in displayed("$$\\na = b\\n$$ (eq-a)")]
    [('eq-a', 'a = b', 2)]
    """
    outside = _DOLLARS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in (*_DOLLARS.finditer(text), *_ENVIRONMENT.finditer(outside)):
        line = text.count("\n", 0, match.start("latex")) + 1
        behind = str(match.lastgroup)  # the last that is closed
        yield from _labelled(match["latex"], line, match[behind] if behind != "latex" else "")


def restructured(lines: Sequence[str], first: int = 1) -> Iterator[Equation]:
    """The labelled equations of reStructuredText whose first line is the line `first`.

    >>> found = restructured([".. math::", "   :label: eq-a", "", "   a = b"])
    >>> [(e.label, e.latex, e.line) for e in found]
    [('eq-a', 'a = b', 4)]
    """
    for i, match in directives(lines):
        body = dedent("\n".join(lines[i + 1 : block_end(lines, i)])).split("\n")
        yield from _directive(match["argument"], body, first + i)


def directives(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Each line of reStructuredText with a ``.. math::`` that is no example in a literal block.

    >>> [i for i, _ in directives(["Write::", "", "  .. math:: a", "", ".. math:: b"])]
    [4]
    """
    end = 0
    for i, line in enumerate(lines):
        if i < end:
            continue
        if match := _DIRECTIVE.match(line):
            literal = match["name"] in _LITERAL
        else:  # a comment, or a paragraph that announces what is indented below it
            literal = re.match(r"\s*\.\.(?!\S| [_[|])|.*::\s*$", line) is not None
        if literal:
            end = block_end(lines, i)
        if match and match["name"] == "math":
            yield i, match


def block_end(lines: Sequence[str], start: int) -> int:
    """Return the end of the block that is indented below the line `start`."""

    def depth(line: str) -> int:
        return len(line) - len(line.lstrip())

    limit = depth(lines[start])
    below = range(start + 1, len(lines))
    return next((i for i in below if lines[i].strip() and depth(lines[i]) <= limit), len(lines))
