"""A mutant as an edit of the text: what stands where in the LaTeX of the equation, instead of what.

The edited text is read again, and only what then is the very tree that was evaluated is shown:
first with the edit made in the characters, then with the edited node printed anew, then with the
node around that.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from ..errors import EquationError
from ..latex import tree as t
from ..latex.balance import balanced_span, bracketed_span
from ..latex.names import normal
from ..latex.parser import parse, parse_expression
from ..latex.printer import Printer
from ..latex.units import anchor, cover, is_argument, pieces
from .mutants import Mutant

Span = tuple[int, int]
Candidate = tuple[Span, str]

_LAYOUT = re.compile(r"\\\\|&|\\q?quad|\\[,;:! ]|\s+|\{\}")
_FACTOR_SIGN = re.compile(r"\\(?:cdot|times|odot|otimes|circ)(?![A-Za-z])|[*/]")


@dataclass(frozen=True)
class Rewrite:
    """Put `text` in place of what stands from `start` to `end`.

    `place` is what a page points at before the edit; `shown` is what it marks after it, in the
    edited LaTeX, and is empty where the edit leaves nothing to mark.
    """

    start: int
    end: int
    text: str
    place: Span
    shown: Span

    def __call__(self, latex: str) -> str:
        """`latex` as it then reads."""
        return latex[: self.start] + self.text + latex[self.end :]


def rewrite(
    latex: str, statement: t.Statement, mutant: Mutant, kinds: Mapping[str, str]
) -> Rewrite | None:
    """How `latex` reads with the edit of `mutant`; None where no text was found that says that.

    `statement` was read from `latex` with names of these `kinds`.
    """
    before, after = mutant.before, mutant.after
    if isinstance(before, t.Step) and isinstance(after, t.Step) and not mutant.side:
        return _turned(latex, before, after, kinds)
    side = getattr(statement.steps[mutant.places[0]], mutant.side)
    start, end = balanced_span(latex, side.span)
    wanted = t.replace_at(side, mutant.path, after)
    for span, text in _candidates(latex, side, mutant):
        try:
            edited = latex[start : span[0]] + text + latex[span[1] : end]
            found = parse_expression(edited, kinds, free=True)
        except (EquationError, ValueError):
            continue
        if found == wanted or _flat(found) == _flat(wanted):
            return _least(latex, span, text, whole=isinstance(before, t.Name))
    return None


def _turned(latex: str, before: t.Step, after: t.Step, kinds: Mapping[str, str]) -> Rewrite | None:
    """Another relation in place of the one between two sides, where no other step changes."""
    start = bracketed_span(latex, before.left.span)[1]
    end = bracketed_span(latex, before.right.span)[0]
    between = _LAYOUT.sub(lambda match: " " * len(match[0]), latex[start:end])
    sign = between.strip()
    if not sign or " " in sign:
        return None
    at = start + between.index(sign)
    gap = " " if after.relation[-1:].isalpha() and latex[at + len(sign)].isalpha() else ""
    edit = _least(latex, (at, at + len(sign)), after.relation + gap, whole=True)
    if edit is None:
        return None
    old = parse(latex, kinds, free=True).steps
    try:
        new = parse(edit(latex), kinds, free=True).steps
    except (EquationError, ValueError):
        return None
    changed = [pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]]
    return edit if len(old) == len(new) and changed == [(before, after)] else None


def _candidates(latex: str, side: t.Node, mutant: Mutant) -> Iterator[Candidate]:
    """Texts that may say it, those that leave most as it was first.

    What was in the text stays in its words, as far as it can; what is new is printed.
    """
    source = _Source(latex, side)
    yield from _by_hand(source, mutant.before, mutant.after)
    nodes = dict(t.walk(side))
    for depth in range(len(mutant.path), -1, -1):
        old = nodes[mutant.path[:depth]]
        new = t.replace_at(old, mutant.path[depth:], mutant.after)
        span = balanced_span(latex, old.span)
        printer = _Faithful(source, span)
        if source.knows(new, span):
            yield span, latex[slice(*bracketed_span(latex, new.span, span))]
        yield span, printer.any(new)
        yield span, rf"\left( {printer.any(new)} \right)"


@dataclass(frozen=True)
class _Source:
    """The text of a side, and which nodes were read from it."""

    latex: str
    side: t.Node

    def knows(self, node: t.Node, other: Span) -> bool:
        """Whether `node` stands in the text by itself, and not for all of the stretch `other`."""
        if node.span == (0, 0) or balanced_span(self.latex, node.span) == other:
            return False
        return any(part is node for _, part in t.walk(self.side))

    def stretches(self, nodes: tuple[t.Node, ...], within: Span) -> list[Span]:
        """Where each of `nodes` stands, with its brackets."""
        return [bracketed_span(self.latex, node.span, within) for node in nodes]


class _Faithful(Printer):
    """Prints what is new, and copies what is not."""

    def __init__(self, source: _Source, span: Span) -> None:
        self.source = source
        self.span = span

    def any(self, node: t.Node) -> str:
        """As it stands in the source, if it does."""
        if not self.source.knows(node, self.span):
            return super().any(node)
        return self.source.latex[slice(*balanced_span(self.source.latex, node.span))]

    def wrapped(self, node: t.Node) -> str:
        """In the brackets that it has in the source."""
        if self.source.knows(node, self.span):
            own = balanced_span(self.source.latex, node.span)
            around = bracketed_span(self.source.latex, node.span, self.span)
            if around != own:
                return self.source.latex[slice(*around)]
        return super().wrapped(node)


# Edits in the characters


def _by_hand(source: _Source, before: t.Node, after: t.Node) -> Iterator[Candidate]:
    span = balanced_span(source.latex, before.span)
    if isinstance(before, t.Sum):
        yield from _sum(source, before, after, span)
    elif isinstance(before, t.Product | t.Elementwise):
        yield from _product(source, before, after, span)
    elif isinstance(before, t.Name) and isinstance(after, t.Name):
        braced = is_argument(source.latex, span[0])
        yield span, f"{{{after.key}}}" if braced else after.key
    elif isinstance(before, t.Apply) and isinstance(after, t.Apply) and before.key != after.key:
        yield from _called(source.latex, before, after)


def _sum(source: _Source, before: t.Sum, after: t.Node, span: Span) -> Iterator[Candidate]:
    """A sign flipped, or a term dropped."""
    latex = source.latex
    places = source.stretches(before.terms, span)
    if isinstance(after, t.Sum) and after.terms is before.terms:
        i = next(i for i, s in enumerate(before.signs) if s != after.signs[i])
        at = _sign(latex, places, i, span)
        if at is None:
            yield (places[i][0], places[i][0]), "-"
        else:
            other = "+" if latex[at] == "-" else "-"
            yield (at, at + 1), other if i or other == "-" else ""
        return
    i = _dropped(before.terms, after.terms if isinstance(after, t.Sum) else (after,))
    sign = _sign(latex, places, i or 1, span)
    if i and sign is not None:
        yield (sign, places[i][1]), ""
    elif sign is not None:
        yield (span[0], sign + (latex[sign] == "+")), latex[places[0][1] : sign]


def _sign(latex: str, places: list[Span], i: int, span: Span) -> int | None:
    """Where the sign before a term stands."""
    start = places[i - 1][1] if i else span[0]
    at = max(latex.rfind(sign, start, places[i][0]) for sign in "+-")
    return None if at < 0 else at


def _product(
    source: _Source, before: t.Product | t.Elementwise, after: t.Node, span: Span
) -> Iterator[Candidate]:
    """A factor dropped, with the sign between it and its neighbour."""
    kept = after.factors if isinstance(after, t.Product | t.Elementwise) else (after,)
    if len(kept) == len(before.factors):
        return
    i = _dropped(before.factors, kept)
    places = source.stretches(before.factors, span)
    if i:
        gap = source.latex[places[i - 1][1] : places[i][0]]
        yield (places[i - 1][1], places[i][1]), _FACTOR_SIGN.sub("", gap).rstrip()
    gap = source.latex[places[i][1] : places[i + 1][0]] if i + 1 < len(places) else ""
    if gap or i + 1 < len(places):
        yield (places[i][0], places[i + 1][0]), _FACTOR_SIGN.sub("", gap).strip()


def _dropped(before: tuple[t.Node, ...], after: tuple[t.Node, ...]) -> int:
    same = (i for i, node in enumerate(after) if node is not before[i])
    return next(same, len(after))


def _called(latex: str, before: t.Apply, after: t.Apply) -> Iterator[Candidate]:
    """Another function, called with the same arguments."""
    start, end = before.span
    for opens in re.finditer(r"\\left\s*[(\[]|\\[bB]igg?l\s*[(\[]|[(\[]", latex[start:end]):
        letter = latex[start : start + opens.start()]
        with suppress(ValueError):  # what stands before the bracket need not be read alone
            if normal(letter) == before.key:
                yield (start, start + len(letter.rstrip())), after.key


# The least edit


def _least(latex: str, span: Span, text: str, *, whole: bool) -> Rewrite | None:
    """The edit without what it leaves as it was, with what to point at before and after it."""
    start, end = span
    if text[-1:].isalpha() and latex[end : end + 1].isalpha():
        text += " "
    if not whole:
        start, end, text = _trimmed(latex, start, end, text)
    place = anchor(latex, start, end)
    shown = (start, start + len(text.rstrip())) if whole or text in "+-" else None
    if not whole and text not in ("", "+", "-"):
        edited = latex[:start] + text + latex[end:]
        shown = cover(edited, start, start + len(text))
    return Rewrite(start, end, text, place, shown or (start, start)) if place else None


def _trimmed(latex: str, start: int, end: int, text: str) -> tuple[int, int, str]:
    """Without the pieces that are the same at the beginning and at the end."""
    old = [latex[start:end][slice(*span)] for span in pieces(latex[start:end])]
    new = [text[slice(*span)] for span in pieces(text)]
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    before = sum(map(len, old[:head]))
    behind = sum(map(len, old[len(old) - tail :]))
    return start + before, end - behind, text[before : len(text) - behind]


def _common(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


# Trees that say the same


def _flat(node: t.Node) -> t.Node:
    """Sums of sums and products of products as one, so that brackets make no difference."""
    node = t.mapped(node, _flat)
    if isinstance(node, t.Product):
        inside = (f.factors if isinstance(f, t.Product) else (f,) for f in node.factors)
        return t.Product(tuple(itertools.chain.from_iterable(inside)))
    if isinstance(node, t.Power) and node.exponent == t.Sum((t.Number(1.0),), (-1,)):
        return t.Inverse(node.base)
    if not isinstance(node, t.Sum):
        return node
    terms: list[t.Node] = []
    signs: list[int] = []
    for term, sign in zip(node.terms, node.signs, strict=True):
        inner = (term.terms, term.signs) if isinstance(term, t.Sum) else ((term,), (1,))
        terms += inner[0]
        signs += [sign * other for other in inner[1]]
    return terms[0] if signs == [1] else t.Sum(tuple(terms), tuple(signs))
