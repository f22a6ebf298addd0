"""One statement that follows from another: ``x > 1 \\Rightarrow x^2 > 1``, each direction alone.

The conclusion is tried on numbers that meet the premise. A verdict is given only where it holds
there, and neither without the premise nor with its order turned; all else says too little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from checked_equations.errors import EquationError
from checked_equations.latex.tokenizer import tokens, word_set

from .statements import RELATIONS, outermost, parts
from .tried import Tried
from .tried.token_patterns import exchanged, pieces_of

_FORTH = word_set(r"\Rightarrow \implies \Longrightarrow")
_BOTH = word_set(r"\iff \Leftrightarrow \Longleftrightarrow")
_TURNED = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le", "\\leq": "\\geq", "\\geq": "\\leq"}
Judge = Callable[[str, tuple[str, ...]], Tried]  # the verdict on LaTeX under conditions


@dataclass(frozen=True)
class Implication:
    """The claim that `last` follows from `first`, and with `both` the converse."""

    first: str
    last: str
    both: bool

    @property
    def directions(self) -> Iterator[tuple[str, str]]:
        """Yield premise and conclusion."""
        yield self.first, self.last
        if self.both:
            yield self.last, self.first


def implication_in(latex: str) -> Implication | None:
    """Return premise and conclusion of a display, if it has two statements alone.

    >>> implication_in(r"x > 1 \\implies x^2 > 1")
    Implication(first='x > 1', last='x^2 > 1', both=False)
    """
    try:
        row = outermost(tokens(latex))
    except EquationError:
        return None
    arrows = [token for token in row if token.text in _FORTH | _BOTH]
    if len(arrows) != 1 or sum(map(parts, row)) != 1:
        return None
    (arrow,) = arrows
    sides = [
        [t.text for t in row if t.end <= arrow.start],
        [t.text for t in row if t.start >= arrow.end],
    ]
    if any(RELATIONS.isdisjoint(side) for side in sides):
        return None
    first, last = latex[: arrow.start].strip(), latex[arrow.end :].strip(" .")
    return Implication(first, last, arrow.text in _BOTH)


def followed(one: Implication, judge: Judge) -> Tried | None:
    """Return the verdict that it holds; nothing where that is not seen."""
    found = [_follows(supposed, last, judge) for supposed, last in one.directions]
    held = [tried for tried in found if tried is not None]
    if len(held) < len(found):
        return None
    way = "each way" if one.both else f"where {one.first}"
    regions = " and ".join(filter(None, (tried.region for tried in held)))
    return replace(held[0], why=way, region=regions or None)


def _follows(supposed: str, last: str, judge: Judge) -> Tried | None:
    """Return the verdict on the conclusion, if the premise decides it."""
    turned = _turned(supposed)
    others: list[tuple[str, ...]] = [(), (turned,)] if turned != supposed else [()]
    found = judge(last, (supposed,))
    caught = found.mutants is not None and found.mutants.caught > 0
    if found.verdict != "holds" or not caught:
        return None
    if any(judge(last, other).verdict == "holds" for other in others):
        return None
    return found


def _turned(latex: str) -> str:
    row = [token for token in pieces_of(latex) if token.text in _TURNED]
    return exchanged(latex, [((one.start, one.end), _TURNED[one.text]) for one in row])
