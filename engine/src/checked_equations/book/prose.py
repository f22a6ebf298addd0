"""The relations between the lines: mathematics in sentences, tables, captions and exercises.

Mathematics is read between dollars (one or two), in ``{math}`` roles and in ``{math}``
directives without a label. Code, comments and numbered equations are passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from ..errors import EquationError
from ..latex.tokenizer import tokens
from ..latex.vocabulary import RELATIONS
from . import markup

_MATH = re.compile(
    r"\{math\}`(?P<role>[^`]+)`|(?P<code>`+).+?(?P=code)|\\\$"
    rf"|\$\$(?P<display>.+?)\$\$(?:{markup.BEHIND})?|\$(?P<inline>(?:\\.|[^$\\])+)\$",
    re.DOTALL | re.MULTILINE,
)
_SPOKEN = ("role", "display", "inline")  # with a label it is a numbered equation
_HEADING = re.compile(r"(#{1,6})\s+(.*\S)")
_CAPTION = re.compile(r"^([ \t]*)caption:.*(?:\n\1[ \t]+.*)*", re.MULTILINE)  # of a figure
_COMMENT = re.compile(r"^\s*%|<!--(?!\s*label:).*?-->")
_RELATIONS = RELATIONS | {"\\ll", "\\gg", "\\subset", "\\subseteq", "\\cong", "\\ne"}
_DEPTH = {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}


@dataclass(frozen=True)
class Relation:
    """Mathematics in the text, its line and the headings above; most of it `relates` two things."""

    latex: str
    line: int
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sentence:
    """A claim as it is written: its label, the line of its directive, and its text."""

    label: str
    line: int
    text: str


def formulas(source: str, apart: Collection[str] = ()) -> list[Relation]:
    """Return the mathematics of Markdown `source` outside equations and parts set `apart`.

    >>> [(found.latex, found.line) for found in formulas("As $a = b$,\\nso $c$ is $d < e$.")]
    [('a = b', 1), ('c', 2), ('d < e', 2)]
    """
    lines = source.splitlines()
    directives = list(markup.blocks(lines))
    kept = spoken(lines, directives, apart)
    stack: list[tuple[int, str]] = []
    above = []  # each line: its headings, the outermost first
    for line in kept:
        above.append(tuple(words for _, words in stack))
        if match := _HEADING.match(line):
            level = len(match[1])
            stack = [entry for entry in stack if entry[0] < level] + [(level, match[2])]
    written = [*_between_marks(kept)]
    for fence, body in directives:  # those without a label are no numbered equations
        count = markup.options(body)
        labelled = any(re.match(r"\s*:?(label|name):", line) for line in body[:count])
        latex = "\n".join([*filter(None, [fence.argument]), *body[count:]])
        if fence.directive == "math" and not labelled and not markup.LABEL.search(latex):
            written.append((latex.strip(), fence.line + (0 if fence.argument else 1 + count)))
    written.sort(key=lambda entry: entry[1])
    return [Relation(latex, line, above[line - 1]) for latex, line in written]


def read_formulas(path: Path) -> list[Relation]:
    """All mathematics between the equations of a file; of reStructuredText it is not read."""
    if path.suffix == ".rst":
        return []
    return list(_placed(path.read_text(encoding="utf-8"), path.suffix))


@lru_cache(maxsize=32)  # every table of symbols looks again
def _placed(content: str, suffix: str, *, captions: bool = True) -> tuple[Relation, ...]:
    source, lines = markup.markdown(content, suffix, without="" if captions else "caption")
    found = formulas(source, () if captions else {"code-cell"})
    return tuple(replace(formula, line=lines[formula.line - 1]) for formula in found)


def sentences(content: str, suffix: str) -> set[str]:
    """The LaTeX of the relations outside captions, which a notebook may have in cells so tagged."""
    found = _placed(content, suffix, captions=False)
    return {" ".join(r.latex.split()) for r in found if relates(r.latex)}


def read_sentences(path: Path | None) -> Mapping[str, Sentence]:
    """The ``{claim}`` directives of a file by their labels; raises `ValueError` for one twice."""
    if path is None:  # a notebook that was taken from its page has none
        return {}
    return _claims(path.read_text(encoding="utf-8"), path.name)


@lru_cache(maxsize=32)  # every claim looks again
def _claims(content: str, name: str) -> Mapping[str, Sentence]:
    text, lines = markup.markdown(content, Path(name).suffix)
    claims = [(f, body) for f, body in markup.blocks(text.splitlines()) if f.directive == "claim"]
    count = Counter(fence.argument for fence, _ in claims)
    if twice := sorted(label for label in count if count[label] > 1):
        raise ValueError(f"{name}: the claims {', '.join(twice)} stand there twice")
    found = (Sentence(f.argument, lines[f.line - 1], "\n".join(body).strip()) for f, body in claims)
    return {sentence.label: sentence for sentence in found}


def spoken(
    lines: list[str], directives: list[tuple[markup.Fence, list[str]]], apart: Collection[str] = ()
) -> list[str]:
    """The lines, blank where code is, numbered equations, comments, and directives set `apart`."""
    kept = [_COMMENT.sub("", line) if "<!--" in line else line for line in lines]
    for fence, body in directives:
        if fence.opaque or fence.directive in apart:
            said, given = [""] * len(body), "\n".join(body[: markup.options(body)])
            captioned = fence.directive == "code-cell" and fence.directive not in apart
            for caption in _CAPTION.finditer(given) if captioned else ():
                told, at = caption[0].split("\n"), given.count("\n", 0, caption.start())
                said[at : at + len(told)] = told
            kept[fence.line - 1 : fence.line + 1 + len(body)] = ["", *said, ""]
        else:
            kept[fence.line - 1] = fence.argument
            kept[fence.line + len(body)] = ""
    kept = ["" if line.lstrip().startswith("%") else line for line in kept]
    if kept and kept[0].strip() == "---":
        head = markup.options(kept)  # the front matter looks like those of a directive
        kept[:head] = [""] * head
    return kept


def _between_marks(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the LaTeX between dollars or in a role, paragraph by paragraph."""
    start = 0
    for i in (i for i, line in enumerate([*lines, ""]) if not line.strip()):
        for match in _MATH.finditer("\n".join(lines[start:i])):
            kind = match.lastgroup
            if kind in _SPOKEN and match[kind].strip() and not markup.LABEL.search(match[kind]):
                lead = len(match[kind]) - len(match[kind].lstrip())
                before = match.string.count("\n", 0, match.start(kind) + lead)
                yield match[kind].strip(), start + 1 + before
        start = i


def relates(latex: str) -> bool:
    """Return whether a relation stands in it, outside the subscripts and the heads of sums."""
    try:
        sequence = tokens(latex)
    except EquationError:
        return True  # what cannot be read is for the reader of the list
    depths = accumulate(_DEPTH.get(token.text, 0) for token in sequence)
    return any(d <= 0 and t.text in _RELATIONS for d, t in zip(depths, sequence, strict=True))
