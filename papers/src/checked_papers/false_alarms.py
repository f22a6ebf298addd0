"""Why an equation that fails on drawn numbers is not accused: it may mean something else.

A letter before brackets may be a function, ``\\mathrm d`` a differential, a word an operation of
the text. Where symbols are declared there is no such doubt. Any other failure is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import NamedTuple

from checked_equations.latex.tokenizer import Token, word_set

from .mends import Mend, Mends
from .statements import stated_in
from .tried import Tried
from .tried.kinds import Kind
from .tried.token_patterns import (
    Pattern,
    Row,
    behind_script,
    is_letter,
    letters_of,
    occurrences,
    outside_scripts,
    pieces_of,
    row_of,
    stretches,
    texts,
)
from .tried.verdicts import REVERSED

_ARROWS = word_set(r"\mapsto \longmapsto \to \longto \longrightarrow")
_OPENING = word_set(r"( [ \{")
_BRACKETS = _OPENING | word_set(r") ] \}")
_SIGNS = frozenset("+-")
_FACTORS = frozenset("abceiklmnopqrstuvwxyz") | word_set(
    r"\alpha \beta \epsilon \varepsilon \eta \kappa \lambda \nu \omega \sigma \tau \theta"
)
_APPLIED = (Pattern(") ( <atom> )"), Pattern(") ( <letter> <letter> )"))
_INVERSE = Pattern("^ { - 1 }")
_FONTS = word_set(r"\mathbf \boldsymbol \vec")
_OVER = _FONTS | word_set(r"\hat \tilde \bar \dot \ddot \widehat \widetilde \overline \mathsf")
_GREEK = word_set(
    r"\Gamma \gamma \Delta \delta \Theta \theta \Lambda \lambda \Xi \xi \Pi \pi \Sigma \sigma "
    r"\Upsilon \upsilon \Phi \phi \Psi \psi \Omega \omega \alpha \beta \zeta \eta \kappa \mu \nu "
    r"\rho \tau \chi \iota \epsilon \varepsilon \vartheta \varphi \varrho \varsigma \ell \hbar"
)
_RELATIONS = word_set(r"= < > \le \ge \ne \approx \sim \equiv")
_NEAR = 1e-2
_ROUNDED = 0.2  # what one digit may be off by, and what is computed from such


def arrow_in(latex: str) -> bool:
    """Return whether an arrow, which claims no equality, stands outside scripts.

    >>> arrow_in(r"x \\mapsto x^2"), arrow_in(r"\\lim_{x \\to 0} x = 0")
    (True, False)
    """
    row = pieces_of(latex)
    arrows = not _ARROWS.isdisjoint(texts(row))
    return arrows and any(token.text in _ARROWS for token in outside_scripts(row))


class Doubt(NamedTuple):
    """Why a failure accuses no one; where it is `blind` the numbers say nothing at all."""

    why: str = ""
    blind: bool = False


def doubt(latex: str, tried: Tried, declared: Mapping[str, Kind]) -> Doubt:
    """Return the reason why a failure accuses no one; an empty one where it does.

    `latex` is without commands of the paper.
    """
    drawn = [key for key in tried.drawn if key not in declared]
    if not drawn and tried.drawn:
        return Doubt()
    if why := _misread(latex, tried, declared, drawn):
        return Doubt(why, blind=True)
    return Doubt(_related(latex, tried, drawn))


def _misread(latex: str, tried: Tried, declared: Mapping[str, Kind], drawn: Sequence[str]) -> str:
    """Return why the numbers drawn may not be those meant, so that they prove nothing."""
    if why := more_than_numbers(tried, declared):
        return why
    function = next(_functions(latex, drawn), "")
    if function:
        return f"`{function}` may be a function: declare what it is"
    if any(pattern.first(latex) for pattern in _APPLIED):  # `(f + g)(x)`
        return "what stands before brackets may be a function"
    if member := next((key for key in drawn if _is_member(key)), ""):
        return f"`{member}` is a member of a sequence, which may be related to the others"
    near = "\\approx" not in texts(row_of(latex)) and (tried.residual or 1.0) < _NEAR
    if near and _has_a_decimal(latex):
        return "a number is printed with so many digits"
    return ""


def _related(latex: str, tried: Tried, drawn: Sequence[str]) -> str:
    """Return the relation of its symbols that a display may state if it fails on all numbers."""
    if drawn and tried.why.startswith(REVERSED):
        return tried.why
    stated = stated_in(latex)
    claim = stated[0].part(0, len(stated[0].sides)) if len(stated) == 1 else latex
    loose = next((key for key in drawn if not _on_every_side(key, claim)), "")
    if loose:
        return f"a relation that the text must explain: {loose} on one side only"
    rounded = _has_a_decimal(latex) and (tried.residual or 1.0) < _ROUNDED
    if rounded or "\\approx" in texts(row_of(latex)):
        return "what is printed may have been rounded on the way"
    if _two_numbers(latex):
        return "two numbers: what a text derives or contradicts, or counts modulo a third"
    if drawn and tried.mend is not None and not mended_for_good(tried):
        return "the text may say more of its symbols, since no single edit would mend it"
    return ""


def more_than_numbers(tried: Tried, declared: Mapping[str, Kind]) -> str:
    """Return why numbers drawn for a symbol are no evidence, neither for nor against the display.

    >>> from checked_papers.tried.kinds import real
    >>> more_than_numbers(Tried("holds", drawn={r"\\mathbf a": real}), {})
    '`\\\\mathbf a` is printed as an array: declare what it is'
    """
    numbers = [key for key, kind in tried.drawn.items() if key not in declared and not kind.shape]
    bold = next((key for key in numbers if _FONTS.intersection(texts(row_of(key))[:1])), "")
    if bold:
        return f"`{bold}` is printed as an array: declare what it is"
    strange = next((key for key in numbers if not _is_one_letter(key)), "")
    return f"`{strange}` may be more than a number: declare what it is" if strange else ""


def _is_one_letter(key: str) -> bool:
    """Return True for a letter with accents, primes and scripts, which may be a number."""
    written = [text for text in texts(row_of(key)) if text not in "{}'"]
    bare = next((i for i, text in enumerate(written) if text not in _OVER), len(written))
    letter, behind = written[bare : bare + 1], written[bare + 1 : bare + 2]
    return bool(letter) and (is_letter(letter[0]) or letter[0] in _GREEK) and behind in _SCRIPTS


_SCRIPTS: Sequence[list[str]] = ([], ["_"], ["^"])


def _is_member(key: str) -> bool:
    """Return True for ``x_{n + 1}``, which is no symbol by itself."""
    row = row_of(key)
    at = next((i for i, token in enumerate(row) if token.text == "_"), len(row))
    inside = texts(row[at : behind_script(row, at, "_")]) if at < len(row) else []
    signs = [i for i, text in enumerate(inside) if text in _SIGNS]
    above = next((i for i, token in enumerate(row) if token.text == "^"), len(row))
    marked = texts(row[above + 2 : above + 3]) in (["+"], ["-"])  # `P^+`, which others make
    return marked or any(map(is_letter, inside[: signs[-1] + 2] if signs else ()))


def _two_numbers(latex: str) -> bool:
    """Return True for a relation between sums and products of printed numbers.

    >>> _two_numbers("3 + 4 = 1"), _two_numbers("3 + a = 1")
    (True, False)
    """
    row = [token for token in row_of(latex) if token.text not in ("&", "{", "}")]
    while row and row[-1].text in (".", ",", ";"):
        row.pop()
    sides = stretches(row, _RELATIONS)
    return len(sides) == 2 and all(_is_counted(texts(side)) for side in sides)


def _is_counted(side: list[str]) -> bool:
    number = [text.isdigit() or text == "." for text in side[side[:1] in (["+"], ["-"]) :]]
    alone = all(one or other for one, other in pairwise([False, *number, False]))
    signs = {text for text in side if not text.isdigit()} - {".", "+", "-", "\\times", "\\cdot"}
    return alone and not signs


def _has_a_decimal(latex: str) -> bool:
    row = texts(row_of(latex))
    triples = zip(row, row[1:], row[2:], strict=False)
    return any(a.isdigit() and dot == "." and b.isdigit() for a, dot, b in triples)


def _on_every_side(key: str, latex: str) -> bool:
    """Return True where a symbol stands on each side: its presence is no slip."""
    ranges = outside_scripts(row_of(latex), "_", lambda inside: not _RELATIONS.isdisjoint(inside))
    bare = [token for token in ranges if token.text not in "{}"]
    wanted = [text for text in texts(row_of(key)) if text not in "{}"]
    sides = map(texts, stretches(bare, _RELATIONS))
    n = len(wanted)
    return all(wanted in (side[i : i + n] for i in range(len(side))) for side in sides)


def mended_for_good(tried: Tried) -> bool:
    """Return whether a single edit mends it, and then it says something."""
    return tried.mend is not None and not all(map(_says_nothing, tried.mend.found))


def telling(mends: Mends | None) -> Mends | None:
    """Return the mends without those after which a step says nothing."""
    if mends is None:
        return None
    return replace(mends, found=tuple(one for one in mends.found if not _says_nothing(one)))


def _says_nothing(mend: Mend) -> bool:
    """Return whether the mended step has powers of one symbol on both sides, or one side twice.

    ``P^2 = P P`` mends ``P^2 = P``, which is a property of P and no slip; ``x y = y x`` mends
    ``x y = -y x``, by which x and y anticommute. The sign between terms is ignored:
    ``\\|x + y\\| = \\|x + y\\|`` mends a display by which x and y are orthogonal, and
    ``x y - y x = 0`` one by which they anticommute.
    """
    sides = [_without_signs(side) for side in stretches(row_of(mend.step), ("=",))]
    if len(sides) != 2:
        return False
    alike = [list(_factors(side)) for side in sides]
    powers = [
        outside_scripts(side, "^", lambda inside: "".join(inside).isdigit()) for side in sides
    ]
    letters = [set(texts(side)) - _LEFT_ASIDE for side in powers]
    twice = alike[0] == alike[1] or (alike[1] == ["0"] and _cancels(alike[0]))
    commuted = sorted(alike[0]) == sorted(alike[1]) and "+" not in alike[0]
    return twice or commuted or (letters[0] == letters[1] and len(letters[0]) == 1)


def _cancels(side: Sequence[str]) -> bool:
    """Return whether a side has two terms of the same factors."""
    at = side.index("+") if side.count("+") == 1 else 0
    return at > 0 and sorted(side[:at]) == sorted(side[at + 1 :])


def _without_signs(side: Row) -> list[Token]:
    """Return a side without the signs that begin it, or something in brackets."""
    before = [None, *side]
    return [
        token
        for last, token in zip(before, side, strict=False)
        if token.text != "-" or not (last is None or last.text in "({" or last.side == "open")
    ]


def _factors(side: Row) -> Iterator[str]:
    """Yield the factors of a side, a square as its factor twice, without brackets."""
    i = 0
    while i < len(side):
        text, power = side[i].text, _POWER.at("", side, i + 1)
        i += 1
        if text not in _LEFT_ASIDE:
            count = int(side[power.parts["n"][0]].text) if power else 1
            yield from ["+" if text == "-" else text] * count
            i = power.end if power else i


_LEFT_ASIDE = frozenset(["(", ")", "{", "}", ","])
_POWER = Pattern("^ { <whole:n> }", whole=map(str, range(2, 10)))


def _functions(latex: str, keys: Iterable[str]) -> Iterator[str]:
    """Symbols before brackets that are no factors: ``V(x)``, and not ``x(1 - x)``.

    A letter that stands so twice and nowhere else may be one in any case: ``k(x - y) = k(y - x)``.
    """
    row = row_of(latex)
    for key in keys:
        places = occurrences(row, key)
        calls = [at for _, end in places if (at := _call(row, end))]
        if 1 < len(calls) == len(places):
            yield key
        for at in calls:
            inside = list(takewhile(lambda token: token.text not in _BRACKETS, row[at:]))
            if _is_array(inside) and len(key) == 1 and key.isupper():
                continue
            if not (_is_factor(key) and _is_sum(texts(inside))):
                yield key


def _call(row: Row, end: int) -> int:
    """Return the place behind the bracket that opens behind a symbol; 0 where none does."""
    while end < len(row) and row[end].text == "'":
        end += 1
    end = behind_script(row, end, "^")
    return end + 1 if end < len(row) and row[end].text in _OPENING else 0


def _is_factor(key: str) -> bool:
    row = texts(row_of(key))
    return row[:1] != [] and row[0] in _FACTORS and row[1:2] in ([], ["_"])


def _is_sum(inside: list[str]) -> bool:
    signs = [i for i, text in enumerate(inside) if text in _SIGNS]
    return bool(signs) and (signs[0] > 0 or len(signs) > 1)


def _is_array(inside: Row) -> bool:
    """Return True where an inverse, a transpose or the identity stands in brackets."""
    marked = _INVERSE.first("", inside) or "\\top" in texts(inside)
    return bool(marked) or "I" in letters_of(inside)
