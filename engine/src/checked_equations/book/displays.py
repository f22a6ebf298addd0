"""The ways in which an author labels a display, but for MyST's ``{math}`` directive.

Between dollars with the label behind them, ``$$ a = b $$ (eq-a)``, or in a comment behind them,
``<!-- label: eq-a -->``, or as Quarto has it, ``{#eq-a}``; with ``\\label{eq-a}`` in any display,
also in an environment such as ``align`` that stands alone; and in reStructuredText, as a ``..
math::`` with a ``:label:``, in a file of its own or in ``{eval-rst}``. A number by hand and an
environment around the whole display say nothing, so that an equation is the same in every host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent

from ..latex.equation import Equation

LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_BEHIND = r"[ \t]*\((?P<label>[^()\s$]+)\)[ \t]*$|\s*<!--\s*label:\s*(?P<note>\S+)\s*-->"
_BEHIND += r"|[ \t]*\{#(?P<mark>[^}\s]+)\}[ \t]*$"
_DOLLARS = re.compile(
    rf"(?<!\\)\$\$(?P<latex>.+?)(?<!\\)\$\$(?:{_BEHIND})?", re.DOTALL | re.MULTILINE
)
_LAYOUT = re.compile(r"\\tag\*?\s*\{[^{}]*\}")
_WHOLE = re.compile(r"\s*(\\begin\{(aligned|split)\}).*(\\end\{\2\})\s*", re.DOTALL)
_ENVIRONMENT = re.compile(
    r"^[ \t]*(?P<latex>\\begin\{(?P<name>(?:equation|multline|gather|align|alignat|flalign)\*?)\}"
    r".*?\\end\{(?P=name)\})",
    re.DOTALL | re.MULTILINE,
)
_DIRECTIVE = re.compile(r"^(?P<indent>\s*)\.\. (?P<name>[\w:-]+)::[ \t]*(?P<argument>.*)$")
_OPTION = re.compile(r"^\s*:(?P<name>[\w-]+):[ \t]*(?P<value>.*?)\s*$")
# Whose bodies are shown and not read; a paragraph that ends in two colons announces one as well.
_LITERAL = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "literalinclude"})
_LITERAL |= {"raw", "highlight", "doctest", "testcode", "math"}


def has_label(latex: str) -> bool:
    """Whether a ``\\label`` stands in `latex`."""
    return LABEL.search(latex) is not None


def _bare(latex: str) -> str:
    """`latex` without a label, a number by hand and an environment around it all.

    Spaces stand in their place, so that columns stay what they are.

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


def labelled(latex: str, line: int, label: str = "") -> Equation | None:
    """The equation of a display with a label, or none; `ValueError` for two, and on nothing."""
    labels = list(dict.fromkeys([*filter(None, [label]), *LABEL.findall(latex)]))
    if len(labels) > 1:
        said = f"got {' and '.join(labels)}: write a display for each"
        raise ValueError(f"line {line}: a display has one label; {said}")
    if not labels:
        return None
    bare = _bare(latex).rstrip()
    head = len(bare) - len(bare.lstrip())
    skipped = bare.count("\n", 0, head)
    if not bare:
        raise ValueError(f"line {line}: the equation {labels[0]} is empty")
    return Equation(labels[0], "\n".join(bare.split("\n")[skipped:]), line + skipped)


def displayed(text: str) -> Iterator[Equation]:
    """The labelled equations between double dollars, and in environments that stand alone.

    >>> [(e.label, e.latex, e.line) for e in displayed("$$\\na = b\\n$$ (eq-a)")]
    [('eq-a', 'a = b', 2)]
    """
    outside = _DOLLARS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in (*_DOLLARS.finditer(text), *_ENVIRONMENT.finditer(outside)):
        line = text.count("\n", 0, match.start("latex")) + 1
        behind = match.groupdict()
        names = (behind.get(kind) for kind in ("label", "note", "mark"))
        equation = labelled(match["latex"], line, next(filter(None, names), ""))
        if equation:
            yield equation


def restructured(lines: Sequence[str], first: int = 1) -> Iterator[Equation]:
    """The labelled equations of reStructuredText whose first line is the line `first`.

    >>> found = restructured([".. math::", "   :label: eq-a", "", "   a = b"])
    >>> [(e.label, e.latex, e.line) for e in found]
    [('eq-a', 'a = b', 4)]
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
            body = lines[i + 1 : end]
            if equation := _directive(match["argument"], body, first + i):
                yield equation


def block_end(lines: Sequence[str], start: int) -> int:
    """Where what is indented below the line `start` ends."""

    def depth(line: str) -> int:
        return len(line) - len(line.lstrip())

    limit = depth(lines[start])
    below = range(start + 1, len(lines))
    return next((i for i in below if lines[i].strip() and depth(lines[i]) <= limit), len(lines))


def _directive(argument: str, body: Sequence[str], line: int) -> Equation | None:
    """The equation of a ``.. math::``: what stands behind its name, its options, its body."""
    count = next((i for i, text in enumerate(body) if not _OPTION.match(text)), len(body))
    options = {m["name"]: m["value"] for m in map(_OPTION.match, body[:count]) if m}
    label = options.get("label") or options.get("name") or ""
    below = dedent("\n".join(body[count:]))
    if argument:
        return labelled("\n".join([argument, *[""] * count, below]), line, label)
    return labelled(below, line + 1 + count, label)
