"""Other readings of a display that is not read as a whole, to report the parts that hold.

A part of a chain may hold although the chain's first side is a mean without a binding; a limit is
taken along whole numbers; a statement about all functions must hold for one that is drawn. None of
these readings accuses, because the text may supply a condition that the display leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from checked_equations.errors import EquationError
from checked_equations.latex.tokenizer import Token, outside, tokens

from .distributions import with_laws
from .expectations import Averaged, under_a_distribution
from .indexed_variables import of_many
from .marks_as_operations import with_marks
from .probabilities import with_numbers
from .tried import kinds
from .tried.kinds import Kind
from .tried.token_patterns import (
    Pattern,
    Row,
    Span,
    is_symbol,
    letters_of,
    pieces_of,
    row_of,
    shut_at,
    texts,
)
from .vectors import with_products

_MOST = 6  # parts of a chain that are tried
_FUNCTIONS = 3
_EQUAL = frozenset(["=", ":=", "\\equiv", "\\approx"])
_RELATIONS = _EQUAL | {"<", ">", "\\le", "\\ge"}  # of an inequality a part may want a condition
_ARROWS = frozenset(["\\to", "\\rightarrow", "\\longrightarrow"])
_APART = frozenset([",", ";", "\\in", "\\sim", "\\forall", "\\Rightarrow", "\\implies"])
_JOINS = frozenset(
    ["and", "or", "if", "iff", "for", "where", "with", "when", "as", "so", "then", "thus", "hence",
     "since", "because", "but", "otherwise"]
)  # fmt: skip
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
    left_out: tuple[str, ...] = ()  # steps of a chain
    also: tuple[Mapping[str, Kind], ...] = ()  # other kinds, for which it must hold as well
    arrays: bool = False  # whether something in it must be an array
    chance: bool = False  # whether it is of random variables or events, and leaves nothing open


def others(latex: str, why: str) -> Iterator[Other]:
    """Yield other readings of `latex`, which is not read for the reason `why`."""
    if (bare := _without_notes(latex)) != latex:
        yield Other(bare, "without what is written at its braces")
        latex = bare
    for full, said, vectors in with_products(latex):
        yield Other(full, said, vectors, everywhere=True, strict=True)
    for one in _of_chance(latex):
        yield Other(
            one.latex,
            one.said,
            one.kinds,
            everywhere=True,
            region=one.region,
            strict=True,
            also=one.also,
            chance=True,
        )
    yield from marked(latex, why)
    if drawn := _any_functions(why):
        said = f"for any smooth {', '.join(drawn)}, of which one was drawn"
        yield Other(latex, said, drawn, everywhere=True)
    try:
        row = _outermost(tokens(latex))
    except EquationError:
        return
    yield from _limits(latex, row)
    yield from _chains(latex, row)


def marked(latex: str, why: str = "") -> Iterator[Other]:
    """Read marks as the operations of some fields, also where one defines a symbol."""
    for mark in with_marks(latex, why):
        yield Other(mark.latex, mark.said, mark.kinds, everywhere=True, arrays=mark.arrays)


def _of_chance(latex: str) -> Iterator[Averaged]:
    """Read the display as a statement about random variables, or about events."""
    return chain(under_a_distribution(latex), of_many(latex), with_laws(latex), with_numbers(latex))


def _without_notes(latex: str) -> str:
    """Return the display without braces below and above parts, and without their labels.

    >>> _without_notes(r"a + \\underbrace{b + c}_{\\ge 0} = d")
    'a + {b + c} = d'
    """
    while (found := _first_brace(pieces_of(latex))) is not None:
        start, inside, end = found
        latex = f"{latex[:start]}{latex[slice(*inside)]}{latex[end:]}"
    return latex


def _first_brace(pieces: Row) -> tuple[int, Span, int] | None:
    """Return where a brace begins, the part that it spans, and where its note ends."""
    for i, piece in enumerate(pieces[:-1]):
        if piece.text in ("\\underbrace", "\\overbrace") and pieces[i + 1].text == "{":
            shut = shut_at(pieces, i + 1)
            if shut < 0:
                return None
            noted = pieces[shut + 2 : shut + 3] and pieces[shut + 2].text == "{"
            note = pieces[shut + 1].text in ("_", "^") if noted else False
            end = shut_at(pieces, shut + 2) if note else shut
            inside = (pieces[i + 1].start, pieces[shut].end)
            return piece.start, inside, pieces[max(end, shut)].end
    return None


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
    when = next((i for i, token in enumerate(row) if _says_when(token)), len(row))
    behind, row = row[when:], row[:when]
    end = row[-1].end if behind and row else len(latex)
    arrows = [token for token in row if token.text in _ARROWS]
    before = [token for token in row if arrows and token.end <= arrows[0].start]
    if len(arrows) != 1 or any(map(_parts, before)):
        return
    begin = max((token.end for token in before if token.text in _RELATIONS), default=0)
    body, goal = latex[begin : arrows[0].start], latex[arrows[0].end : end]
    if under := _under(body, behind):
        limit = rf"\lim_{{{under}}} \left({body.strip(' &')}\right) = {goal.strip(' &.,;')}"
        chain = rf"{latex[: arrows[0].start]}, \quad " if begin else ""
        yield Other(chain + limit, f"as `{under}`", everywhere=True)


def _says_when(token: Token) -> bool:
    return token.text.removeprefix("\\text{").rstrip("}").split()[:1] == ["as"]


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


# A part of a chain


def _chains(latex: str, row: Sequence[Token]) -> Iterator[Other]:
    """The parts of a chain that are equal to each other, the longest first."""
    signs = [token for token in row if token.text in _RELATIONS]
    apart = [token.start for token in row if _parts(token)]
    stop = next((at for at in apart if signs and at > signs[0].start), len(latex))
    inside = [sign for sign in signs if sign.start < stop]
    if len(inside) < 2 or (apart and apart[0] < inside[0].start):
        return
    begins, ends = [0, *(one.end for one in inside)], [*(one.start for one in inside), stop]
    count = len(begins)
    sizes = range(count - 1, 1, -1)
    parts = [(i, i + size) for size in sizes for i in range(count - size, -1, -1)]
    equal = [sign.text in _EQUAL for sign in inside]
    for i, j in [(i, j) for i, j in parts if all(equal[i : j - 1])][:_MOST]:
        cut = {"the first": i, "the last": count - j}
        left_out = " and ".join(f"{end} {n}".removesuffix(" 1") for end, n in cut.items() if n)
        said = f"without {left_out} of its {count} sides, which the engine cannot judge"
        steps = [latex[begins[k] : ends[k + 1]].strip(" &") for k in range(count - 1)]
        left = tuple(step for k, step in enumerate(steps) if not i <= k < j - 1)
        yield Other(latex[begins[i] : ends[j - 1]].strip(" &"), said, left_out=left)


def _parts(token: Token) -> bool:
    """Return whether a statement may end there."""
    words = token.text.removeprefix("\\text{").rstrip("}").lower().split()
    joins = token.text.startswith("\\text{") and (len(words) != 1 or words[0] in _JOINS)
    return token.wide or token.text in _APART | _ARROWS or joins


def _outermost(row: Iterable[Token]) -> list[Token]:
    """The tokens outside all brackets and environments."""
    depth, free = 0, []
    for token, out in outside(row):
        depth += token.text.startswith("\\begin{") - token.text.startswith("\\end{")
        if out and not depth:
            free.append(token)
    return free
