"""Means, variances and covariances of unbound random variables: of any, or of some.

``\\mathbb E[a X + b] = a \\mathbb E[X] + b`` is said of any distribution. So one is drawn for all
random variables together, of a few points with uneven weights, and written below each average;
a statement that fails for it may hold for independent ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import ascii_uppercase

from checked_equations.latex.names import joined
from checked_equations.latex.tokenizer import FONTS, Token, word_set

from .tried import kinds
from .tried.kinds import Kind
from .tried.token_patterns import (
    ORDERS,
    Row,
    behind_script,
    exchanged,
    in_words,
    is_symbol,
    letters_of,
    pieces_of,
    put_for,
    row_of,
    shut_at,
    source,
    texts,
)

_SPELLED = {"E": r"\mathbb E", "V": r"\mathbb V", "var": r"\operatorname{Var}",
             "Var": r"\operatorname{Var}", "cov": r"\operatorname{Cov}",
             "Cov": r"\operatorname{Cov}"}  # fmt: skip
_FONTS = word_set(r"\mathbb \mathrm \mathsf")
_BARE = ("E", "Var", "Cov")
_INITIALS = frozenset(one[0] for one in _BARE)
_OPENS = frozenset(["(", "[", "\\{"])
CAPITALS = frozenset(ascii_uppercase) - {"E"}
_SMALL = frozenset("uvwxyz")
_ACCENTS = word_set(r"\hat \tilde \bar \check \widehat \widetilde \overline \dot \ddot \dots")
_MOST = 4  # random variables at a time
_LAWS = ("p", "q")
_NAMES = r"[A-Zu-z](?:_\{\d\})?(?:,[A-Zu-z](?:_\{\d\})?)*"
_OVER = re.compile(rf"(?P<over>{_NAMES})(?:\\sim(?P<law>[pq]))?|(?P<its>[pq])\((?P<of>{_NAMES})\)")
LETTERS = "srqp"  # of a distribution


@dataclass(frozen=True)
class Averaged:
    """A display with a distribution below each average, and a note on that distribution.

    A display that `leaves_open` its subject is not refuted where it fails. Where letters stand for
    parts of it, `with_letters`, its mends are of no use to a reader.
    """

    latex: str
    said: str
    kinds: Mapping[str, Kind]
    region: str = ""  # where it holds, if not for every distribution
    also: tuple[Mapping[str, Kind], ...] = ()  # other kinds, for which it must hold as well
    leaves_open: bool = False
    with_letters: bool = False


def under_a_distribution(latex: str) -> Iterator[Averaged]:
    """The ways in which the averages of a display may be meant, the more general first.

    >>> found = next(under_a_distribution(r"E[a X + b] = a E[X] + b"))
    >>> found.latex
    '\\\\mathbb E_{s(X)}[a X + b] = a \\\\mathbb E_{s(X)}[X] + b'
    >>> found.said
    'for a distribution of X that was drawn'
    """
    inside = insides(latex)
    if not inside or claims_order(latex):
        return
    if any(map(claims_order, inside)):  # of an indicator, whose points must meet its bounds
        return
    if any(not _ACCENTS.isdisjoint(texts(row_of(one))) for one in inside):  # how is it distributed?
        return
    form = CAPITALS if _variables(inside, CAPITALS) else _SMALL
    variables = _variables(inside, form)
    if not all(_variables([one], form) for one in inside):  # else the mean of a number
        return
    over = [set(sign.over) for sign in signs_in(row_of(latex))]
    held = (
        one and {*_variables([body], form)} - one for one, body in zip(over, inside, strict=True)
    )
    if any(held):  # in one average over x alone, y is no random variable
        return
    law = free_letter(latex, LETTERS)
    if not variables or len(variables) > _MOST or not law:
        return
    names = ", ".join(variables)
    key = f"{law}({names})"
    full = written_below(latex, key)
    means = _with_means(full, variables, key)
    for apart in (False, True)[: 1 + (len(variables) > 1)]:
        drawn = {key: kinds.joint(len(variables), apart=apart)}
        region = f"{names} are independent" if apart else ""
        said = (
            f"for a{' joint' if len(variables) > 1 else ''} distribution of {names} that was drawn"
        )
        yield Averaged(full, said, drawn, region)
        if means != full:
            said += ", with \\mu its mean and \\sigma^2 its variance"
            yield Averaged(means, said, drawn, region)


def insides(latex: str) -> list[str]:
    """Return the contents of the brackets of each average.

    Nothing where one is given something, or where they are taken at several times, as
    ``\\mathbb E_0`` and ``\\mathbb E_t``.
    """
    row = row_of(latex)
    signs = signs_in(row)
    inside = [source(latex, row[sign.end + 1 : sign.shut]) for sign in signs]
    given = any("|" in texts(row[sign.end : sign.shut]) for sign in signs)
    return [] if given or len({sign.time for sign in signs}) > 1 else inside


@dataclass(frozen=True)
class Sign:
    """The sign of an average, where it and its brackets end, and its subscript.

    That is a time, or the variables that are averaged over, or the letter of their distribution.
    """

    word: str
    time: str
    over: tuple[str, ...]
    start: int
    end: int
    shut: int


def signs_in(row: Row) -> list[Sign]:
    """Return the signs of averages in a row, also those that stand within others."""
    found = (_sign(row, i) for i in range(len(row)))
    return [sign for sign in found if sign is not None]


def _sign(row: Row, i: int) -> Sign | None:
    word, end = _word(row, i)
    below = behind_script(row, end, "_") if word else end
    time, over = _below(row[end + 2 : below - 1] if below > end else ())
    if not word or time is None or below >= len(row) or row[below].text not in _OPENS:
        return None
    shut = shut_at(row, below)
    return Sign(word, time, over, i, below, shut) if shut > 0 else None


def _below(row: Row) -> tuple[str | None, tuple[str, ...]]:
    """Return time or distribution, and the variables: ``t``, ``x, y``, ``x \\sim p``, ``p(x)``."""
    told = "".join(texts(row))
    if told in ("", "0", "t", *_LAWS):
        return told, ()
    found = _OVER.fullmatch(told)
    if found is None:
        return None, ()
    names = found["over"] or found["of"]
    return found["law"] or found["its"] or "", tuple(re.sub(r"[{}]", "", names).split(","))


def _word(row: Row, i: int) -> tuple[str, int]:
    """Return the word of an average that begins at place `i`, and where it ends."""
    text = row[i].text
    if text.startswith("\\text{"):
        word, end = text.removeprefix("\\text{").rstrip("}"), i + 1
    elif text in _FONTS and i + 1 < len(row) and (shut := shut_at(row, i + 1)) > 0:
        word, end = "".join(texts(row[i + 2 : shut])), shut + 1
    elif text not in _INITIALS:
        return "", i
    else:
        glued = i > 0 and is_symbol(row[i - 1].text) and row[i - 1].end == row[i].start
        framed = i > 1 and row[i - 1].text == "{" and row[i - 2].text in FONTS
        bare = (one for one in _BARE if texts(row[i : i + len(one)]) == list(one))
        word = "" if glued or framed else next(bare, "")
        end = i + len(word)
    return (word, end) if word in _SPELLED else ("", i)


def written_below(latex: str, key: str) -> str:
    """With a distribution below each average."""
    row = row_of(latex)
    heads = (((row[sign.start].start, row[sign.end].start), sign.word) for sign in signs_in(row))
    return exchanged(latex, [(span, f"{_SPELLED[word]}_{{{key}}}") for span, word in heads])


def free_letter(latex: str, letters: str) -> str:
    """The first of `letters` that the display has no use for."""
    used = set(letters_of(row_of(latex)))
    return next((one for one in letters if one not in used), "")


def claims_order(latex: str) -> bool:
    """Return whether it orders numbers, which one distribution says nothing about.

    >>> claims_order(r"E[X]^2 \\le E[X^2]"), claims_order(r"\\left< x \\right> = E[X]")
    (True, False)
    """
    return any(token.text in _ORDERS and not token.side for token in pieces_of(latex))


_ORDERS = ORDERS | word_set(r"\ll \gg \succeq \preceq")


def unsigned(row: Row) -> list[Token]:
    """Return the row without signs of averages and without words."""
    signed = {i for sign in signs_in(row) for i in range(sign.start, sign.end)}
    words = in_words(row)
    return [token for i, token in enumerate(row) if i not in signed and not words[i]]


def _variables(inside: list[str], form: frozenset[str]) -> list[str]:
    """Return the letters of random variables, each once, as they come."""
    found: dict[str, None] = {}
    for one in inside:
        row = unsigned(row_of(one))
        i = 0
        while i < len(row):
            text, end = row[i].text, behind_script(row, i + 1, "_")
            index = joined(row[i + 3 : end - 1]) if end > i + 1 else ""
            primed = i + 1 < len(row) and row[i + 1].text == "'"
            if text in form and not primed and (not index or (index.isdigit() and len(index) == 1)):
                found[text + (f"_{index}" if index else "")] = None
            i = max(end, i + 1)
    return list(found)


def _with_means(latex: str, variables: list[str], key: str) -> str:
    """Read ``\\mu`` and ``\\sigma^2`` by custom as mean and variance of the one variable."""
    named = [(f"_{{{one}}}", one) for one in variables]
    if len(variables) == 1:
        named.append(("", variables[0]))
    for script, one in named:
        for written, sign in ((rf"\sigma{script}^2", "V"), (rf"\mu{script}", "E")):
            latex = put_for(latex, written, rf"\mathbb {sign}_{{{key}}}[{one}]", unless="_")
    return latex
