"""The flip test: slips in the *text* of a chapter, and how many its own checks catch.

The edits are made in the characters of the LaTeX, without the parser and apart from the
mutants, at every place where they fit. Each altered equation is then checked on the numbers
on which the chapter checked it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..check.definitions import compare_definition
from ..check.statements import BoundStatement, bind_statement, refuse_unused
from ..check.steps import check_steps
from ..errors import EquationError
from ..latex.equation import Equation
from ..latex.names import normal
from ..latex.parser import symbols
from . import markup
from .chapter import Chapter
from .prose import Relation, relations

__all__ = [
    "HOLDS",
    "SAME",
    "Flip",
    "Outcome",
    "chapters",
    "check_flip",
    "digest",
    "flips_of",
    "inline_outcomes",
    "outcomes",
    "run_chapter",
]  # fmt: skip

SEED = 1
SAME = "both sides keep their values, so that no number can tell"
HOLDS = "the altered statement holds as well"

Change = str | Callable[[re.Match[str]], str]
_FRACTION = r"\\[td]?frac\s*(?:12|\{1\}\s*\{2\})"
_EDITS: tuple[tuple[str, str, Change], ...] = (
    ("minus for plus", r"(?<![_^{])\+", "-"),
    ("plus for minus", r"(?<!\^\{)-", "+"),
    ("drop an inverse", r"\^\{-1\}", ""),
    ("drop the inverse of a transpose", r"\^\{-\\top\}", r"^\\top"),
    ("drop a transpose", r"\^(?:\\top|\{\\top\})(?![a-zA-Z])", ""),
    ("drop a square", r"\^(?:2|\{2\})", ""),
    ("drop one half", _FRACTION, ""),
    ("one more", r"(?<![\w.^{-])\d+(?![\w.])", lambda m: str(int(m[0]) + 1)),
    ("one more", r"(?<==)\s*\d+(?=\})", lambda m: str(int(m[0]) + 1)),
    ("drop a logarithm", r"\\log(?![a-zA-Z])", ""),
    ("drop an exponential", r"\\exp(?![a-zA-Z])", ""),
    ("product for sum", r"\\sum(?![a-zA-Z])", r"\\prod"),
    ("sum for product", r"\\prod(?![a-zA-Z])", r"\\sum"),
    ("trace for determinant", r"\\det(?![a-zA-Z])", r"\\operatorname{tr}"),
    ("determinant for trace", r"\\operatorname\{tr\}", r"\\det"),
    ("turn an inequality", r"\\le(?![a-zA-Z])", r"\\ge"),
    ("turn an inequality", r"\\ge(?![a-zA-Z])", r"\\le"),
    ("turn an order", r"\\succeq", r"\\preceq"),
    ("make an inequality strict", r"\\le(?![a-zA-Z])", "<"),
    ("make an inequality strict", r"\\ge(?![a-zA-Z])", ">"),
    ("equal for approximately", r"\\approx(?![a-zA-Z])", "="),
    ("swap two subscripts", r"_\{(\w|\*)(?!\1)(\w|\*)\}", r"_{\2\1}"),
    ("drop a star", r"_\*", ""),
    ("drop a bar", r"\\bar(?![a-zA-Z])", ""),
)


@dataclass(frozen=True)
class Flip:
    """One slip: what it does, the LaTeX with it, and the line of the file where it is."""

    kind: str
    edit: str
    latex: str
    line: int


# A choice among the flips of an equation.
Choose: TypeAlias = Callable[[list[Flip]], list[Flip]]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a flip: caught by the "numbers", by the "language" (it cannot be read
    with the names that are bound), or not at all, and then `why`."""

    label: str
    kind: str
    edit: str
    reads: str
    by: str
    why: str = ""


def flips_of(equation: Equation, symbols: Sequence[str] = ()) -> list[Flip]:
    """All slips of one equation; `symbols` are those it may confuse with each other.

    >>> [flip.latex for flip in flips_of(Equation("eq-a", "a = b^2 - c", 1))]
    ['a = b^2 + c', 'a = b - c']
    """
    slips = [*_edited(equation), *_confused(equation, symbols)]
    meant = normal(equation.latex)
    return [flip for flip in slips if normal_or_none(flip.latex) != meant]


def normal_or_none(latex: str) -> str | None:
    """The normal form, or none where a slip has left no LaTeX."""
    try:
        return normal(latex)
    except ValueError:
        return None


def _edited(equation: Equation) -> Iterator[Flip]:
    for edit, pattern, change in _EDITS:
        for match in re.finditer(pattern, equation.latex):
            new = change(match) if callable(change) else match.expand(change)
            yield _flip(equation, (edit, edit), match.span(), new)


def _flip(equation: Equation, edit: tuple[str, str], span: tuple[int, int], new: str) -> Flip:
    latex = equation.latex
    line = equation.line + latex.count("\n", 0, span[0])
    gap = " " if new[-1:].isalpha() and latex[span[1] : span[1] + 1].isalpha() else ""
    return Flip(*edit, latex[: span[0]] + new + gap + latex[span[1] :], line)


def _confused(equation: Equation, symbols: Sequence[str]) -> Iterator[Flip]:
    """Each symbol, wherever it stands as it was bound, replaced by another one at random."""
    stream = np.random.default_rng([SEED, *equation.label.encode()])
    for symbol in symbols:
        pattern = rf"(?<![\\a-zA-Z_^{{]){re.escape(symbol)}(?![a-zA-Z_^'])"
        others = [other for other in symbols if other != symbol]
        for match in re.finditer(pattern, equation.latex) if others else ():
            other = str(stream.choice(others))
            edit = ("one symbol for another", f"{other} for {symbol}")
            yield _flip(equation, edit, match.span(), other)


def check_flip(equation: Equation, bound: BoundStatement, flip: Flip) -> Outcome:
    """Check the altered equation on the numbers of `bound`."""
    place = _place(equation, flip)
    try:
        numbers = [draw.bindings for draw in bound.draws]
        altered = bind_statement(flip.latex, numbers, bound.allowed, tight=bound.tight)
        refuse_unused(bound.draws[0].bindings, flip.latex, altered.statement)
    except EquationError:
        return Outcome(*place, "language")
    try:
        check_steps(altered, replace(equation, latex=flip.latex))
    except EquationError:
        return Outcome(*place, "numbers")
    return Outcome(*place, "", SAME if _same(bound, altered) else HOLDS)


def _same(bound: BoundStatement, altered: BoundStatement) -> bool:
    """Whether every side of the altered statement has its old value."""
    pairs = list(zip(bound.statement.steps, altered.statement.steps, strict=False))
    if len(bound.statement.steps) != len(altered.statement.steps):
        return False
    return all(
        old.relation == new.relation and all(map(_close, draw.sides(old), other.sides(new)))
        for old, new in pairs
        for draw, other in zip(bound.draws, altered.draws, strict=True)
    )


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-10, atol=0.0))


def run_chapter(path: Path, slug: str) -> Chapter:
    """Run the code cells of the chapter at `path` and return its `Chapter` with its checks."""
    path = path.resolve()
    scope: dict[str, Any] = {"__name__": "__main__"}
    with _figures_without_windows(), chdir(path.parent), redirect_stdout(io.StringIO()):
        for line, code in markup.cells(path.read_text(encoding="utf-8")):
            exec(compile("\n" * (line - 1) + code, path.name, "exec"), scope)
    opened = [v for v in scope.values() if isinstance(v, Chapter) and v.slug == slug]
    if not opened:
        raise ValueError(f"{path.name} opens no Chapter({slug!r})")
    return opened[0]


@contextmanager
def _figures_without_windows() -> Iterator[None]:
    """The kernels of a book that is built later in this process choose how they show figures."""
    before = os.environ.get("MPLBACKEND")
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("MPLBACKEND", None)


def outcomes(chapter: Chapter, every: Choose = list) -> list[Outcome]:
    """The outcomes of the flips of all checked equations; `every` may choose among them.

    An equation that is checked more than once catches a flip by any of its checks. Definitions
    are among them, as far as they are compared.
    """
    return [*_checked(chapter, every), *_defined(chapter, every)]


def _checked(chapter: Chapter, every: Choose) -> list[Outcome]:
    best: dict[tuple[str, Flip], Outcome] = {}
    chosen: dict[str, list[Flip]] = {}
    for equation, bound in chapter.checked_statements():
        if equation.label not in chosen:
            chosen[equation.label] = every(flips_of(equation, sorted(bound.draws[0].bindings)))
        for flip in chosen[equation.label]:
            known = best.get((equation.label, flip))
            if known is None or not known.by:
                best[equation.label, flip] = check_flip(equation, bound, flip)
    return list(best.values())


def _defined(chapter: Chapter, every: Choose) -> Iterator[Outcome]:
    for equation, bound in chapter.compared_definitions():
        for flip in every(flips_of(equation, sorted(bound.draws[0].bindings))):
            yield from _redefined(equation, bound, flip)


def _redefined(equation: Equation, bound: BoundStatement, flip: Flip) -> Iterator[Outcome]:
    """Compare the altered definition; none for a slip in what nothing is compared with."""
    place = _place(equation, flip)
    try:
        drawn = [draw.bindings for draw in bound.draws]
        altered = compare_definition(flip.latex, drawn, bound.allowed).bound
        if altered.statement == bound.statement:
            return
        check_steps(altered, replace(equation, latex=flip.latex))
    except EquationError as error:
        yield Outcome(*place, "numbers" if "does not hold" in error.problem else "language")
        return
    fewer = len(altered.statement.steps) < len(bound.statement.steps)
    yield Outcome(*place, "language") if fewer else Outcome(*place, "", HOLDS)


def _place(equation: Equation, flip: Flip) -> tuple[str, str, str, str]:
    reads = flip.latex.split("\n")[flip.line - equation.line].strip()
    return (equation.label, flip.kind, flip.edit, reads)


def inline_outcomes(chapter: Chapter, every: Choose = list) -> list[Outcome]:
    """The outcomes of the flips of the relations that are evaluated in passing.

    Caught by the "numbers" is what is false then; by the "language" what can no longer be
    evaluated, so that one relation less is counted.
    """
    stated = chapter.relations()
    records = chapter.evaluate_relations(stated, edited=False)
    made: list[Outcome] = []
    for relation, record in zip(stated, records, strict=True):
        if record.outcome == "evaluated":
            equation = Equation(relation.latex, relation.latex, relation.line)
            slips = flips_of(equation, _symbols(relation.latex))
            made += [_passed(chapter, relation, flip) for flip in every(slips)]
    return made


def _symbols(latex: str) -> list[str]:
    """The symbols that a slip may confuse; none where what is bound whole cannot be read."""
    try:
        return sorted(symbols(latex))
    except EquationError:
        return []


def _passed(chapter: Chapter, relation: Relation, flip: Flip) -> Outcome:
    reads = " ".join(flip.latex.split())
    place = (relation.latex, flip.kind, flip.edit, reads)
    try:
        (record,) = chapter.evaluate_relations([replace(relation, latex=flip.latex)], edited=False)
    except EquationError:
        return Outcome(*place, "numbers")
    if record.outcome == "evaluated":
        return Outcome(*place, "", HOLDS)
    return Outcome(*place, "language")


def digest(path: Path) -> str:
    """A digest of all that decides the outcome of a chapter: its relations and its code."""
    source = path.read_text(encoding="utf-8")
    read: list[tuple[Any, str]] = [(e.label, e.latex) for e in markup.equations(source).values()]
    read += [(r.headings[-1:], r.latex) for r in relations(source)]
    parts = json.dumps([read, [code for _, code in markup.cells(source)]])
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


def chapters(book: Path) -> list[str]:
    """The slugs of the pages of `book` whose code opens a `Chapter` of their own."""
    pages = {path.relative_to(book).with_suffix("").as_posix(): path for path in book.rglob("*.md")}
    return [slug for slug, path in sorted(pages.items()) if f'Chapter("{slug}"' in _code(path)]


def _code(path: Path) -> str:
    return "\n".join(code for _, code in markup.cells(path.read_text(encoding="utf-8")))
