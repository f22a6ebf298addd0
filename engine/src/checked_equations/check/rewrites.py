"""A mutant as an edit of the text: a stretch of the equation's LaTeX, and its replacement.

The edited text is read again, and shown only if its tree is the very one that was evaluated:
first with the edit made in the characters, then with the edited node printed anew, then with the
node around that.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..latex import tree as t
from ..latex.balance import anchor, balanced_span, bracketed_span, cover, is_argument, pieces
from ..latex.names import normal
from ..latex.parser import parse, parse_expression
from ..latex.printer import Printer
from .mutants import Mutant

Span = tuple[int, int]
Candidate = tuple[Span, str]

_LAYOUT = re.compile(r"\\\\|&|\\q?quad|\\[,;:! ]|\s+|\{\}")
_FACTOR_SIGN = re.compile(r"\\(?:cdot|times|odot|otimes|circ)(?![A-Za-z])|[*/]")


@dataclass(frozen=True)
class Rewrite:
    """Put `text` in place of the stretch from `start` to `end`.

    A page points at `place` before the edit, and marks `shown` after it, in the
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
    """Return the edit of `latex` that makes `mutant`; None where no such text was found.

    `statement` was read from `latex` with names of these `kinds`.
    """
    before, after = mutant.before, mutant.after
    if isinstance(before, t.Step) and isinstance(after, t.Step) and not mutant.side:
        return _turned(latex, before, after, kinds)
    side = getattr(statement.steps[mutant.places[0]], mutant.side)
    start, end = balanced_span(latex, side.span)
    wanted = t.replace_at(side, mutant.path, after)
    for span, text in _candidates(latex, side, mutant):
        edited = latex[start : span[0]] + text + latex[span[1] : end]
        found = None
        with suppress(ValueError):
            found = parse_expression(edited, kinds, free=True)
        if found is not None and (found == wanted or _flat(found) == _flat(wanted)):
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
    edit = _least(latex, (at, at + len(sign)), after.relation, whole=True)
    if edit is not None:
        with suppress(ValueError):
            old, new = (parse(text, kinds, free=True).steps for text in (latex, edit(latex)))
            changed = [pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]]
            return edit if len(old) == len(new) and changed == [(before, after)] else None
    return None


def _candidates(latex: str, side: t.Node, mutant: Mutant) -> Iterator[Candidate]:
    """Texts that may say it, those that leave most as it was first."""
    yield from _by_hand(latex, mutant.before, mutant.after)
    nodes = dict(t.walk(side))
    for depth in range(len(mutant.path), -1, -1):
        old = nodes[mutant.path[:depth]]
        new = t.replace_at(old, mutant.path[depth:], mutant.after)
        span = balanced_span(latex, old.span)
        printer = _Faithful(latex, side, span)
        if printer.copied(new):
            yield span, latex[slice(*bracketed_span(latex, new.span, span))]
        yield span, printer.any(new)
        yield span, rf"\left( {printer.any(new)} \right)"


class _Faithful(Printer):
    """Printer of the new parts in the stretch `span`; it copies the parts read from the text."""

    def __init__(self, latex: str, side: t.Node, span: Span) -> None:
        self.latex, self.side, self.span = latex, side, span

    def copied(self, node: t.Node) -> str:
        """Return `node` as it stands in the text by itself; empty if it is all of it, or new."""
        own = balanced_span(self.latex, node.span) if node.span != (0, 0) else self.span
        known = own != self.span and any(part is node for part in t.parts(self.side))
        return self.latex[slice(*own)] if known else ""

    def any(self, node: t.Node) -> str:
        """Return the text of the source, where there is one."""
        return self.copied(node) or super().any(node)

    def wrapped(self, node: t.Node) -> str:
        """In the brackets that it has in the source."""
        if own := self.copied(node):
            around = self.latex[slice(*bracketed_span(self.latex, node.span, self.span))]
            if around != own:
                return around
        return super().wrapped(node)


# Edits in the characters


def _by_hand(latex: str, before: t.Node, after: t.Node) -> Iterator[Candidate]:
    span = balanced_span(latex, before.span)
    if isinstance(before, t.Sum):
        yield from _sum_by_hand(latex, before, after, span)
    elif isinstance(before, t.Product | t.Elementwise):
        kept = after.factors if isinstance(after, t.Product | t.Elementwise) else (after,)
        places = [bracketed_span(latex, factor.span, span) for factor in before.factors]
        if len(kept) < len(places):
            yield from _without_factor(latex, places, _dropped(before.factors, kept))
    elif isinstance(before, t.Name) and isinstance(after, t.Name):
        yield span, f"{{{after.key}}}" if is_argument(latex, span[0]) else after.key
    elif isinstance(before, t.Apply) and isinstance(after, t.Apply) and before.key != after.key:
        yield from _called(latex, before, after)


def _sum_by_hand(latex: str, before: t.Sum, after: t.Node, span: Span) -> Iterator[Candidate]:
    places = [bracketed_span(latex, term.span, span) for term in before.terms]
    if isinstance(after, t.Sum) and after.terms is before.terms:
        i = next(i for i, s in enumerate(before.signs) if s != after.signs[i])
        yield _flipped(latex, places, i, span)
    else:
        terms = after.terms if isinstance(after, t.Sum) else (after,)
        yield from _without_term(latex, places, _dropped(before.terms, terms), span)


def _sign(latex: str, places: Sequence[Span], i: int, span: Span) -> int:
    """Where the sign before a term stands; -1 if it has none."""
    start = places[i - 1][1] if i else span[0]
    return max(latex.rfind(sign, start, places[i][0]) for sign in "+-")


def _flipped(latex: str, places: Sequence[Span], i: int, span: Span) -> Candidate:
    at = _sign(latex, places, i, span)
    if at < 0:
        return (places[i][0], places[i][0]), "-"
    return (at, at + 1), "-" if latex[at] == "+" else "+" if i else ""


def _without_term(latex: str, places: Sequence[Span], i: int, span: Span) -> Iterator[Candidate]:
    sign = _sign(latex, places, i or 1, span)
    if i and sign >= 0:
        yield (sign, places[i][1]), ""
    elif sign >= 0:
        yield (span[0], sign + (latex[sign] == "+")), latex[places[0][1] : sign]


def _without_factor(latex: str, places: Sequence[Span], i: int) -> Iterator[Candidate]:
    """Without the sign between it and its neighbour."""
    if i:
        start = places[i - 1][1]
        yield (start, places[i][1]), _FACTOR_SIGN.sub("", latex[start : places[i][0]]).rstrip()
    if i + 1 < len(places):
        end = places[i + 1][0]
        yield (places[i][0], end), _FACTOR_SIGN.sub("", latex[places[i][1] : end]).strip()


def _dropped(before: tuple[t.Node, ...], after: tuple[t.Node, ...]) -> int:
    return next((i for i, node in enumerate(after) if node is not before[i]), len(after))


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
    """Return the edit without its unchanged ends, with the places to point at before and after."""
    start, end = span
    if text[-1:].isalpha() and latex[end : end + 1].isalpha():
        text += " "
    if not whole:  # without the pieces that are the same at the beginning and at the end
        old, new = ([one[slice(*at)] for at in pieces(one)] for one in (latex[start:end], text))
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        before, behind = len("".join(old[:head])), len("".join(old[len(old) - tail :]))
        start, end, text = start + before, end - behind, text[before : len(text) - behind]
    place = anchor(latex, start, end)
    shown: Span | None = start, start + len(text.rstrip())
    if not whole and text not in ("", "+", "-"):
        shown = cover(latex[:start] + text + latex[end:], start, start + len(text))
    return Rewrite(start, end, text, place, shown or (start, start)) if place else None


def _common(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


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
