"""The statements of a display and their steps: all that there is to judge.

A display may hold several statements, and a statement is a chain of sides. *Holds* is said of all
of it or not at all, so a display that is judged in pieces is counted here, step by step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from checked_equations.errors import EquationError
from checked_equations.latex.tokenizer import Token, outside, tokens, word_set

from .tried.token_patterns import (
    ORDERS,
    Row,
    Span,
    function_head,
    is_scripted,
    is_symbol,
    occurrences,
    pieces_of,
    row_of,
    shut_at,
    texts,
)

EQUAL = word_set(r"= := \equiv \approx")
RELATIONS = EQUAL | ORDERS | word_set(r"\propto \simeq \cong \ll \gg \succeq \preceq")
ARROWS = word_set(r"\to \rightarrow \longrightarrow")
_IMPLY = word_set(r"\Rightarrow \implies \iff \Leftrightarrow \Longrightarrow \therefore")
_MEMBER = word_set(r"\in \sim \forall")
_JOINS = word_set(
    "and or if iff for where with when as so then thus hence since because but otherwise"
)
_CLAIMS_ON = word_set("and but also so thus hence")  # words between statements of equal standing
_SUPPOSE = word_set("if for where with when")
_COMPOUND = word_set(r"^ / \frac \sqrt \log \ln \exp \sin \cos \sum \int \prod \det")
_COMMANDS = frozenset(sign for sign in RELATIONS if sign.startswith("\\"))
_PLAIN = 9  # tokens of a condition such as `0 < a_1 < b`


@dataclass(frozen=True)
class Statement:
    """A statement of a display with the conditions behind it, and its steps, as they are printed.

    `orders` says which steps are no equalities. Where it `defines`, its first step gives a
    symbol its meaning, and claims nothing. A step that `depends` is claimed under a condition,
    or of something that a text must say.
    """

    latex: str
    sides: tuple[str, ...]
    signs: tuple[str, ...]
    tail: str = ""
    depends: bool = False

    @property
    def steps(self) -> tuple[str, ...]:
        """Each step by itself."""
        return tuple(self.part(i, i + 2) for i in range(len(self.signs)))

    @cached_property
    def defines(self) -> bool:
        """Return whether its first side is one symbol, or one call, and stands nowhere else."""
        if self.signs[0] not in ("=", ":="):
            return False
        row = row_of(self.sides[0])
        named = function_head((*row, *row_of("= 0")))
        if not (named or is_scripted(row)):
            return False
        key = named[0] if named else "".join(texts(row))
        others = [row_of(side) for side in self.sides[1:]]
        return not any(occurrences(other, key) for other in others)

    def part(self, first: int, end: int) -> str:
        """Return the chain of the sides from `first` until before `end`, as it is printed."""
        pieces = [self.sides[first]]
        for sign, side in zip(
            self.signs[first : end - 1], self.sides[first + 1 : end], strict=True
        ):
            pieces += [sign, side]
        return " ".join(pieces)

    def equal(self, first: int, end: int) -> bool:
        """Return whether the sides from `first` until before `end` are said to be equal."""
        return all(sign in EQUAL for sign in self.signs[first : end - 1])


@lru_cache(maxsize=1024)
def stated_in(latex: str) -> tuple[Statement, ...]:
    """Return the statements of a display, each with the conditions that stand behind it.

    >>> [one.steps for one in stated_in(r"a = b = c, \\quad d = e + 1, \\quad e > 0")]
    [('a = b', 'b = c'), ('d = e + 1',)]
    """
    try:
        row = outermost(tokens(latex))
    except EquationError:
        return ()
    found: list[list[_Piece]] = []
    for piece in _joined(_pieces(latex, row)):
        if piece.claims(first=not found):
            found.append([piece])
        elif found:
            found[-1].append(piece)
    implied = any(token.text in _IMPLY for token in row)
    return tuple(_statement(latex, own, implied, first=i == 0) for i, own in enumerate(found))


@dataclass(frozen=True)
class _Piece:
    """A stretch of a display between two separators, and the word that opens it."""

    start: int
    end: int
    row: tuple[Token, ...]
    word: str
    wide: bool = False  # whether nothing but a space stands before it

    @property
    def signs(self) -> list[Token]:
        return [token for token in self.row if token.text in RELATIONS]

    def claims(self, *, first: bool) -> bool:
        """Return True if it states something, and is no condition of the statement before it."""
        signs = {token.text for token in self.signs}
        if not signs:
            return False
        row = texts(self.row)
        one = sum(map(is_symbol, row)) == 1 + row.count("\\frac") + len(signs & _COMMANDS)
        compound = _COMPOUND - {"/", "\\frac"} if one else _COMPOUND
        ordered = not signs & EQUAL and len(row) <= _PLAIN and not compound & {*row}
        if first:
            return not (ordered and self.word.split(" ")[0] in _SUPPOSE)
        sets = len(signs) == 1 and "=" in row and all(map(_is_counted, row[row.index("=") + 1 :]))
        return not (ordered or sets or "\\dots" in row or _MEMBER & {*row})


def _joined(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Join a piece that goes on with a sum behind a wide space to the one before it."""
    found: list[_Piece] = []
    for piece in pieces:
        goes_on = piece.wide and piece.row[0].text in "+-" and not piece.signs
        if goes_on and found:
            row = (*found[-1].row, *piece.row)
            found[-1] = replace(found[-1], end=piece.end, row=row)
        else:
            found.append(piece)
    return found


def _is_counted(text: str) -> bool:
    """Return whether a token is of a number, or of a sign before one: ``n = 1``."""
    return text.isdigit() or text in ".+-"


def _pieces(latex: str, row: Sequence[Token]) -> Iterator[_Piece]:
    begin, own, word, wide = 0, list[Token](), "", False
    for token in row:
        said = _word(token)
        apart = said is not None or token.text in _IMPLY or token.text in ",;"
        if own and (apart or token.wide):
            yield _Piece(begin, own[-1].end, tuple(own), word, wide)
            own, word, wide = [], "", True
            begin = token.start
        if apart:
            begin, word, wide = token.end, said or word, False
        else:
            own.append(token)
    if own:
        yield _Piece(begin, len(latex), tuple(own), word, wide)


def _bare_text(text: str) -> str:
    """Return a side without the layout around it and the stop behind it."""
    row = pieces_of(text)
    kept = [i for i, token in enumerate(row) if token.text not in ("&", ",", ";")]
    while kept and row[kept[-1]].text == ".":
        kept.pop()
    return text[row[kept[0]].start : row[kept[-1]].end] if kept else ""


def _word(token: Token) -> str | None:
    """Return the text between statements that a token is, or None where it is none."""
    if not token.text.startswith("\\text{"):
        return None
    words = token.text.removeprefix("\\text{").rstrip("}").lower().split()
    return " ".join(words) if len(words) != 1 or words[0] in _JOINS else None


def _statement(latex: str, own: Sequence[_Piece], implied: bool, *, first: bool) -> Statement:
    piece, *rest = own
    signs = piece.signs
    begins = [piece.start, *(one.end for one in signs)]
    ends = [*(one.start for one in signs), piece.end]
    sides = [_bare_text(latex[a:b]) for a, b in zip(begins, ends, strict=True)]
    word = piece.word.split(" ")[0]
    member = not {*_MEMBER, *ARROWS}.isdisjoint(texts(piece.row))
    end = rest[-1].end if rest else piece.end
    return Statement(
        latex[0 if first else piece.start : end].strip(),
        tuple(sides),
        tuple(one.text for one in signs),
        latex[piece.end : end],
        implied or member or bool(word and word not in _CLAIMS_ON),
    )


def without_notes(latex: str) -> tuple[str, tuple[str, ...]]:
    """Return the display without braces below and above parts, and the claims of their labels.

    >>> without_notes(r"a + \\underbrace{b^2}_{\\ge 0} = \\overbrace{d}^{\\text{all}}")
    ('a + {b^2} = {d}', ('b^2 \\\\ge 0',))
    """
    claims = []
    while (found := _first_brace(pieces_of(latex))) is not None:
        inside, note, whole = found
        said = latex[slice(*note)].strip().removeprefix("{").removesuffix("}").strip()
        if any(token.text in RELATIONS for token in row_of(f"a {said}")[1:2]):
            claims.append(f"{latex[inside[0] + 1 : inside[1] - 1]} {said}")
        latex = f"{latex[: whole[0]]}{latex[slice(*inside)]}{latex[whole[1] :]}"
    return latex, tuple(claims)


def _first_brace(pieces: Row) -> tuple[Span, Span, Span] | None:
    """Return the part that a brace spans, its note, and both together."""
    for i, piece in enumerate(pieces[:-1]):
        if piece.text in ("\\underbrace", "\\overbrace") and pieces[i + 1].text == "{":
            shut = shut_at(pieces, i + 1)
            if shut < 0:
                return None
            noted = pieces[shut + 2 : shut + 3] and pieces[shut + 2].text == "{"
            scripts = noted and pieces[shut + 1].text in ("_", "^")
            end = max(shut_at(pieces, shut + 2) if scripts else shut, shut)
            inside = (pieces[i + 1].start, pieces[shut].end)
            note = (pieces[shut + 2].start, pieces[end].end) if end > shut else (0, 0)
            return inside, note, (piece.start, pieces[end].end)
    return None


def parts(token: Token) -> bool:
    """Return whether a statement may end at a token."""
    ends = _MEMBER | ARROWS | _IMPLY | {",", ";"}
    return token.wide or token.text in ends or _word(token) is not None


def outermost(row: Iterable[Token]) -> list[Token]:
    """Return the tokens outside all brackets and environments."""
    depth, free = 0, []
    for token, out in outside(row):
        depth += token.text.startswith("\\begin{") - token.text.startswith("\\end{")
        if out and not depth:
            free.append(token)
    return free
