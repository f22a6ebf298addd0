"""Where densities stand in a display, and the variables that are summed or integrated over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checked_equations.latex.names import joined
from checked_equations.latex.tokenizer import closing, split, word_set

from .statements import RELATIONS
from .tried.token_patterns import Row, behind_script, behind_symbol, texts

_HEADS = frozenset(["p", "P", "\\Pr", "q", "\\pi", "f"])
_BARS = frozenset(["|", ";"])
_NO_VARIABLES = word_set(r"\dots \ldots \cdots \cdot \infty \emptyset \varnothing")
_INTEGRALS = {"\\int": 1, "\\iint": 2, "\\iiint": 3}
_LINE = (["-", "\\infty"], ["\\infty"])
_OPEN, _SHUT = frozenset(["(", "[", "{"]), frozenset([")", "]", "}"])
_ENDS = RELATIONS | {"+", "-", ",", ";"}


class Unread(ValueError):
    """A display is no relation between densities."""


@dataclass(frozen=True)
class Call:
    """``p(x \\mid y)``: its head, its variables, those that are given, and its place."""

    head: str
    of: tuple[str, ...]
    given: tuple[str, ...]
    start: int
    end: int

    @property
    def every(self) -> tuple[str, ...]:
        """All its variables."""
        return (*self.of, *self.given)


@dataclass(frozen=True)
class Binder:
    """A sum or an integral over variables: where it starts, its body, and where it ends."""

    over: tuple[str, ...]
    start: int
    body: tuple[int, int]
    end: int


def bare(name: str) -> str:
    """Return a variable without a prime, which marks one that runs."""
    return name.replace("'", "").strip()


def related(names: Sequence[str]) -> bool:
    """Return whether one variable may be a part of another: ``x_1`` of x, or of ``x_{1:n}``."""
    scripts: dict[str, set[str]] = {}
    for name in names:
        letter, _, script = name.partition("_")
        scripts.setdefault(letter.strip(), set()).add(script)
    several = (own for own in scripts.values() if len(own) > 1)
    return any(not script or ":" in script for own in several for script in own)


# Densities


def calls(row: Row) -> Iterator[Call]:
    """Yield all densities; `Unread` where something else stands in the brackets of one."""
    i = 0
    while i < len(row):
        shut = -1
        if row[i].text in _HEADS:
            end = behind_script(row, i + 1, "_")
            below = texts(row[i + 3 : end - 1])
            if end < len(row) and row[end].text == "(":
                shut = closing(row, end, ("(",), (")",))
                yield _call(row[i].text, below, row[end + 1 : shut], (i, shut + 1))
        i = max(shut, i) + 1


def _call(head: str, below: list[str], inside: Row, span: tuple[int, int]) -> Call:
    of, *given = split(inside, _BARS)[0]
    if len(given) > 1:
        raise Unread
    sides = _variables(of), _variables(given[0]) if given else ()
    if len({*sides[0], *sides[1]}) < len(sides[0]) + len(sides[1]):
        raise Unread
    named = [text for text in below if text not in ("{", "}")]  # `p_{X \mid Y}(x \mid y)`
    own = [text for text in texts(inside) if text not in ("{", "}")]
    if head == "f" and not named:
        raise Unread
    if named and "".join(named).lower() in ("".join(own), "".join(own).replace("|", ",")):
        named = []
    return Call(f"{head}_{''.join(named)}", *sides, *span)


def _variables(row: Row) -> tuple[str, ...]:
    return tuple(_variable(part) for part in split(row, {","})[0])


def _variable(part: Row) -> str:
    """Return a letter in any alphabet and font, with a prime and a subscript, or without."""
    end = behind_symbol(part, 0)
    symbol = end > 0 and _NO_VARIABLES.isdisjoint(texts(part))
    end += end < len(part) and part[end].text == "'"
    if not symbol or behind_script(part, end, "_") != len(part):
        raise Unread
    return joined(part)


# Sums and integrals


@dataclass
class _Open:
    """An integral whose differentials have not come yet."""

    start: int
    body: int
    count: int
    depth: int


def binders(row: Row) -> Iterator[Binder]:
    """Yield all sums and integrals; `Unread` where one is over something else than variables."""
    waiting: list[_Open] = []
    i = depth = 0
    while i < len(row):
        text = row[i].text
        depth += (text in _OPEN) - (text in _SHUT)
        names, end = _differentials(row, i)
        if text == "\\sum":
            names, begin = _summed(row, i)
            stop = _end_of_term(row, begin)
            yield Binder(names, i, (begin, stop), stop)
            i = begin
        elif text in _INTEGRALS:
            begin = _behind_ends(row, i + 1)
            names, behind = _differentials(row, begin)
            if names:  # `\int dx p(x)`
                stop = _end_of_term(row, behind)
                yield Binder(names, i, (behind, stop), stop)
                begin = behind
            else:
                waiting.append(_Open(i, begin, _INTEGRALS[text], depth))
            i = begin
        elif names:
            yield from _closed(waiting, names, i, end, depth)
            i = end
        else:
            i += 1
    if waiting:
        raise Unread


def _closed(
    waiting: list[_Open], names: Sequence[str], start: int, end: int, depth: int
) -> Iterator[Binder]:
    """Yield the integrals that differentials close, the inner ones first.

    The last of several with fewer signs than differentials takes those that are left.
    """
    left = list(names)
    while left:
        if not waiting or waiting[-1].depth != depth:
            raise Unread
        one = waiting.pop()
        more = bool(waiting) and waiting[-1].depth == depth
        take = one.count if more else len(left)
        if len(left) < one.count:
            raise Unread
        over, left = tuple(left[:take]), left[take:]
        yield Binder(over, one.start, (one.body, start), end)


def _differentials(row: Row, i: int) -> tuple[tuple[str, ...], int]:
    """Return the variables of the differentials that begin at `i`, and the place behind them."""
    names: list[str] = []
    while i < len(row):
        upright = texts(row[i : i + 4]) == ["\\mathrm", "{", "d", "}"]
        begin = i + 4 if upright else i + 1
        end = behind_symbol(row, begin)
        if not (upright or row[i].text == "d") or end == begin:
            break
        end += end < len(row) and row[end].text == "'"
        end = behind_script(row, end, "_")
        names.append(_variable(row[begin:end]))
        i = end
    return tuple(names), i


def _summed(row: Row, i: int) -> tuple[tuple[str, ...], int]:
    end = behind_script(row, i + 1, "_")
    inside = split(row[i + 3 : end - 1], {"\\in"})[0]
    if end == i + 1 or len(inside) > 2 or (row[end : end + 1] and row[end].text == "^"):
        raise Unread
    return _variables(inside[0]), end


def _behind_ends(row: Row, i: int) -> int:
    """Return the place behind the ends of an integral, which is over all values."""
    below = behind_script(row, i, "_")
    above = behind_script(row, below, "^")
    low, high = row[i + 2 : below - 1], row[below + 2 : above - 1]
    whole = not high and (not low or (0 < len(low) == behind_symbol(low, 0)))
    if not whole and (texts(low), texts(high)) != _LINE:
        raise Unread
    return above


def _end_of_term(row: Row, i: int) -> int:
    depth = 0
    for place in range(i, len(row)):
        text = row[place].text
        depth += (text in _OPEN) - (text in _SHUT)
        if depth < 0 or (depth == 0 and text in _ENDS):
            return place
    return len(row)


def denominators(row: Row) -> Iterator[tuple[int, int]]:
    """Yield where the part below the line of each fraction stands."""
    for i, token in enumerate(row):
        if token.text in ("\\frac", "\\dfrac", "\\tfrac"):
            above = closing(row, i + 1)
            yield above + 1, closing(row, above + 1) + 1
