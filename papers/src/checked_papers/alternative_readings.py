"""Other readings of a display that is not read as a whole.

A limit is taken along whole numbers; a statement about all functions must hold for one that is
drawn. None of these readings accuses, because the text may supply a condition that the display
leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from checked_equations.errors import EquationError
from checked_equations.latex.tokenizer import Token, tokens

from .densities import with_densities
from .distributions import with_laws
from .expectations import Averaged, under_a_distribution
from .indexed_variables import of_many
from .marks_as_operations import with_marks
from .probabilities import with_numbers
from .statements import ARROWS, RELATIONS, outermost, parts
from .tried import kinds
from .tried.kinds import Kind
from .tried.token_patterns import Pattern, is_symbol, letters_of, row_of, texts
from .vectors import with_products

_FUNCTIONS = 3
_WHOLE = frozenset("nNkmT")
_GOES = (Pattern("<symbol:what> \\to \\infty"), Pattern("<symbol:what> \\to <alnum>"),
         Pattern("<symbol:what> \\to - <alnum>"))  # fmt: skip
_UNKNOWN = re.compile(r"the function (.*) is not known(?:: declare what it is)?$")


@dataclass(frozen=True)
class Other:
    """LaTeX to try in the place of a display, the kinds of its letters, and a note for the verdict.

    Where `everywhere`, it must hold in all regions; `region` names the objects for which it then
    holds. Where it is `strict`, no mutant may survive, since the draws may be blind to one. It must
    hold for the kinds in `also` as well, one after the other.
    """

    latex: str
    said: str
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    everywhere: bool = False
    region: str = ""
    strict: bool = False
    also: tuple[Mapping[str, Kind], ...] = ()  # other kinds, for which it must hold as well
    arrays: bool = False  # whether something in it must be an array
    chance: bool = False  # whether it is of random variables or events, and leaves nothing open
    mended: bool = True  # whether an edit of it is one of the display


def others(latex: str, why: str) -> Iterator[Other]:
    """Yield other readings of `latex`, which is not read for the reason `why`."""
    for full, said, vectors in with_products(latex):
        yield Other(full, said, vectors, everywhere=True, strict=True)
    for read in (under_a_distribution, of_many, with_laws, with_densities, with_numbers):
        yield from map(_drawn, read(latex))  # of random variables, or of events
    yield from marked(latex, why)
    if drawn := _any_functions(why):
        said = f"for any smooth {', '.join(drawn)}, of which one was drawn"
        yield Other(latex, said, drawn, everywhere=True)
    try:
        row = outermost(tokens(latex))
    except EquationError:
        return
    yield from _limits(latex, row)


def _drawn(one: Averaged) -> Other:
    return Other(
        one.latex,
        one.said,
        one.kinds,
        everywhere=True,
        region=one.region,
        strict=True,
        also=one.also,
        chance=not one.leaves_open,
        mended=not one.with_letters,
    )


def of_densities(latex: str) -> Iterator[Other]:
    """Read ``f_{X}(x) = \\int f_{X,Y}(x, y) dy`` as a rule of densities, which may define one."""
    yield from map(_drawn, with_densities(latex))


def marked(latex: str, why: str = "") -> Iterator[Other]:
    """Read marks as the operations of some fields, also where one defines a symbol."""
    for mark in with_marks(latex, why):
        yield Other(mark.latex, mark.said, mark.kinds, everywhere=True, arrays=mark.arrays)


# What is said of any function


def _any_functions(why: str) -> dict[str, Kind]:
    """A smooth function without symmetries for each letter that is called."""
    told = _UNKNOWN.search(why)
    called = [key.strip().strip("`") for key in told[1].split(",")] if told else []
    keys = list(dict.fromkeys(key.rstrip("'") for key in called))
    if not keys or len(keys) > _FUNCTIONS or not all(map(is_symbol, keys)):
        return {}
    return {key: kinds.function(_SMOOTH[i], "t") for i, key in enumerate(keys)}


_SMOOTH = (
    r"\sin(1.3 t + 0.4) + 0.7 t^2 + 0.3",
    r"\cos(0.9 t - 0.3) + 0.4 t^3 + 1.7",
    r"\exp(0.6 t) + \sin(2.1 t) + 0.2 t",
)


# What goes to a number


def _limits(latex: str, row: Sequence[Token]) -> Iterator[Other]:
    """``a = b \\to c`` as ``a = b, \\lim b = c``, where variable and limit are clear."""
    words = (token.text.removeprefix("\\text{").rstrip("}").split() for token in row)
    when = next((i for i, inside in enumerate(words) if inside[:1] == ["as"]), len(row))
    behind, row = row[when:], row[:when]
    end = row[-1].end if behind and row else len(latex)
    arrows = [token for token in row if token.text in ARROWS]
    before = [token for token in row if arrows and token.end <= arrows[0].start]
    if len(arrows) != 1 or any(map(parts, before)):
        return
    begin = max((token.end for token in before if token.text in RELATIONS), default=0)
    body, goal = latex[begin : arrows[0].start], latex[arrows[0].end : end]
    if under := _under(body, behind):
        limit = rf"\lim_{{{under}}} \left({body.strip(' &')}\right) = {goal.strip(' &.,;')}"
        chain = rf"{latex[: arrows[0].start]}, \quad " if begin else ""
        yield Other(chain + limit, f"as `{under}`", everywhere=True)


def _under(body: str, behind: Sequence[Token]) -> str:
    """Return variable and limit by the text behind; else the one whole letter, to infinity."""
    if behind:
        inside = behind[0].text.removeprefix("\\text{").removesuffix("}").strip()
        row = [*row_of(inside.removeprefix("as")), *behind[1:]]
        found = (pattern.first("", row) for pattern in _GOES)
        match = next(filter(None, found), None)
        return " ".join(texts(row[match.start : match.end])) if match else ""
    letters = _WHOLE.intersection(letters_of(row_of(body)))
    return f"{next(iter(letters))} \\to \\infty" if len(letters) == 1 else ""
