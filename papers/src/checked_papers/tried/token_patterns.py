"""Patterns over the engine's tokens, and LaTeX in which a stretch of tokens is exchanged.

Spellings that print the same are the same tokens: arguments and scripts stand in braces, a
subscript before a superscript, layout is gone. So one pattern does for all of them, and the text
around a stretch that is exchanged stays as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from string import ascii_uppercase
from typing import NamedTuple

from checked_equations.errors import EquationError
from checked_equations.latex.balance import balanced_span
from checked_equations.latex.names import joined
from checked_equations.latex.tokenizer import (
    FONTS,
    Scanner,
    Token,
    UnclosedError,
    closing,
    split,
    tokens,
    word_set,
)

Row = Sequence[Token]
Span = tuple[int, int]
Test = Callable[[str], bool]

CAPITALS = frozenset(ascii_uppercase) | word_set(
    r"\Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon \Phi \Psi \Omega"
)
ORDERS = word_set(r"< > \le \ge \ne")
_SHUTS = {"(": ")", "[": "]", "\\{": "\\}", "{": "}"}


def row_of(latex: str) -> tuple[Token, ...]:
    """Return the tokens of `latex`; none where a bracket or a script of it is amiss."""
    try:
        return tokens(latex)
    except (EquationError, UnclosedError):
        return ()


@lru_cache(maxsize=1024)
def _texts_of(latex: str) -> frozenset[str]:
    return frozenset(texts(row_of(latex)))


@lru_cache(maxsize=1024)
def pieces_of(latex: str) -> tuple[Token, ...]:
    """Return the pieces of `latex` as they were written: braces that are left out stay so."""
    return tuple(Scanner(latex).read())


def texts(row: Iterable[Token]) -> list[str]:
    """Return the text of each token."""
    return [token.text for token in row]


def is_letter(text: str) -> bool:
    """Return True for one Latin letter."""
    return len(text) == 1 and text.isascii() and text.isalpha()


def is_command(text: str) -> bool:
    """Return True for a command that is a word, such as ``\\alpha``."""
    return text[:1] == "\\" and text[1:].isalpha()


def is_symbol(text: str) -> bool:
    """Return True for a letter or a command."""
    return is_letter(text) or is_command(text)


SEPARATORS = frozenset([",", ";", "|"])  # between the arguments of a function


def shut_at(row: Row, i: int) -> int:
    """Return the place of the bracket that closes the one at `i`; -1 where none does."""
    text = row[i].text
    try:
        return closing(row, i, (text,), (_SHUTS[text],))
    except (UnclosedError, KeyError):
        return -1


def behind_symbol(row: Row, i: int) -> int:
    """Return the place behind a letter, a command or a letter in a font; `i` where none begins."""
    if i >= len(row) or not is_symbol(row[i].text):
        return i
    if row[i].text not in FONTS:
        return i + 1
    return shut_at(row, i + 1) + 1 if i + 1 < len(row) and row[i + 1].text == "{" else i


def behind_script(row: Row, i: int, sign: str) -> int:
    """Return the place behind the script of a `sign` that begins at `i`; `i` where none does."""
    return shut_at(row, i + 1) + 1 if i + 1 < len(row) and row[i].text == sign else i


def is_one_symbol(row: Row) -> bool:
    """Return True for a row that is a letter, a command or a letter in a font, and no more."""
    return 0 < len(row) == behind_symbol(row, 0)


def is_variable(row: Row) -> bool:
    """Return True for a row that is one symbol, with an index or without."""
    return 0 < len(row) == behind_script(row, behind_symbol(row, 0), "_")


def function_head(row: Row) -> tuple[str, tuple[str, ...], int] | None:
    """Return name, arguments and the place behind the sign of a definition ``f(x; y) =``."""
    worded = bool(row) and row[0].text.startswith("\\text{")
    end = behind_script(row, 1 if worded else behind_symbol(row, 0), "_")
    shut = shut_at(row, end) if 0 < end < len(row) and row[end].text == "(" else -1
    behind = "".join(texts(row[shut + 1 : shut + 3])) if shut > 0 else ""
    if not behind.startswith(("=", ":=")):
        return None
    listed = split(row[end + 1 : shut], SEPARATORS)[0]
    if not all(map(is_scripted, listed)):
        return None
    return joined(row[:end]), tuple(map(joined, listed)), shut + 2 + (row[shut + 1].text == ":")


def is_scripted(row: Row) -> bool:
    """Return True for a symbol, with an index or a power or without: ``\\sigma^2``."""
    end = behind_symbol(row, 0)
    for sign in "_^":
        end = behind_script(row, end, sign)
    return 0 < end == len(row)


def in_words(row: Row) -> list[bool]:
    """Return for each token whether it stands in a word: ``\\mathrm{tr}``."""
    marked, i = [False] * len(row), 0
    while i < len(row):
        word = row[i].text == "\\mathrm" and i + 1 < len(row) and row[i + 1].text == "{"
        end = shut_at(row, i + 1) + 1 if word else i + 1
        marked[i:end] = [word] * (end - i)
        i = end
    return marked


def letters_of(row: Row) -> Iterator[str]:
    """Yield the letters of a row that are part of no word."""
    for token, word in zip(row, in_words(row), strict=True):
        if is_letter(token.text) and not word:
            yield token.text


def outside_scripts(
    row: Row, signs: str = "_^", which: Callable[[list[str]], bool] = bool
) -> list[Token]:
    """Return the tokens that stand in no script of the `signs` `which` says it of its tokens."""
    kept: list[Token] = []
    i = 0
    while i < len(row):
        end = behind_script(row, i, row[i].text) if row[i].text in signs else 0
        if end > i and which(texts(row[i + 2 : end - 1])):
            i = end
        else:
            kept.append(row[i])
            i += 1
    return kept


def stretches(row: Row, signs: Iterable[str]) -> list[list[Token]]:
    """Return the stretches between the `signs`, at whatever depth these stand."""
    parts: list[list[Token]] = [[]]
    for token in row:
        if token.text in signs:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def occurrences(row: Row, key: str) -> list[Span]:
    """Return where a symbol stands: in no word, and not as the letter of another in a font.

    >>> occurrences(row_of(r"x + \\bar x + \\mathrm{exp}"), "x")
    [(0, 1)]
    """
    wanted, every = texts(row_of(key)), texts(row)
    n, found, first = len(wanted), [], "".join(wanted[:1])
    places = [i for i, own in enumerate(every) if own == first and every[i : i + n] == wanted]
    words = in_words(row) if places else []
    for i in places:
        if words[i] and wanted[0] != "\\mathrm":
            continue
        styled = i > 1 and row[i - 1].text == "{" and row[i - 2].text in FONTS
        if not (styled and shut_at(row, i - 1) == i + n):
            found.append((i, i + n))
    return found


def span_of(latex: str, row: Row, start: int, end: int) -> Span | None:
    """Return the stretch of `latex` that some tokens are; none where others stand in between."""
    if start >= end:
        return None
    own = row[start:end]
    low, high = balanced_span(latex, (min(t.start for t in own), max(t.end for t in own)))
    inside = sum(low <= token.start and token.end <= high for token in row)
    return (low, high) if inside == len(own) else None


def source(latex: str, row: Row) -> str:
    """Return a row of tokens as it is written in `latex`."""
    span = span_of(latex, row, 0, len(row))
    return latex[slice(*span)] if span else joined(row)


def exchanged(latex: str, edits: Iterable[tuple[Span, str]]) -> str:
    """Return `latex` with other LaTeX at some stretches; of two that overlap the first counts."""
    out, at = "", 0
    for (start, end), new in sorted(edits):
        if start >= at:
            out, at = f"{out}{latex[at:start]}{new}", end
    return out + latex[at:]


def put_for(latex: str, key: str, new: str, *, unless: str = "") -> str:
    """Return `latex` with `new` for a symbol wherever none of the tokens `unless` follows it."""
    row = row_of(latex)
    free = (
        at for at in occurrences(row, key) if not {*unless}.intersection(texts(row[at[1] :][:1]))
    )
    return exchanged(latex, [(span, new) for at in free if (span := span_of(latex, row, *at))])


@dataclass(frozen=True)
class Found:
    """A stretch of tokens that matches a pattern, and its parts that have a name."""

    latex: str
    row: Row
    start: int
    end: int
    parts: Mapping[str, Span]

    def __getitem__(self, key: str) -> str:
        """Return a part as it is written, and nothing for one that is left out."""
        return source(self.latex, self.row[slice(*self.parts.get(key, (0, 0)))])

    @property
    def span(self) -> Span | None:
        """The stretch of the LaTeX, unless tokens of others stand in it."""
        return span_of(self.latex, self.row, self.start, self.end)


_CLASSES: Mapping[str, Test] = {
    "letter": is_letter,
    "small": lambda text: is_letter(text) and text.islower(),
    "capital": lambda text: is_letter(text) and text.isupper(),
    "digit": lambda text: text.isdigit(),
    "alnum": lambda text: is_letter(text) or text.isdigit(),
    "symbol": is_symbol,
}
_BRACKETS = {"group": "{", "round": "("}


class _Word(NamedTuple):
    """A word of a pattern: its prefix, its text or the name of its part, and where it ends."""

    sign: str
    text: str
    name: str
    end: Callable[[Row, int], int]
    edge: int = 0  # brackets, that are no part


def _word(word: str, known: Mapping[str, Test]) -> _Word:
    sign = word[0] if len(word) > 1 and word[0] in "?!" else ""
    bare = word.removeprefix(sign)
    if len(bare) < 3 or (bare[0], bare[-1]) != ("<", ">"):
        return _Word(sign, bare, "", lambda row, i: i + (row[i].text == bare))
    kind, _, name = bare[1:-1].rpartition(":")
    if (kind or name) == "atom":
        return _Word(sign, "", name, behind_symbol)
    if opens := _BRACKETS.get(kind or name):
        return _Word(sign, "", name, partial(_behind_brackets, opens), 1)
    test = known[kind or name]
    return _Word(sign, "", name, lambda row, i: i + test(row[i].text))


def _behind_brackets(opens: str, row: Row, i: int) -> int:
    return max(shut_at(row, i) + 1, i) if row[i].text == opens else i


class Pattern:
    """A row of words, each for one token or for a bracketed group.

    A word is the text of a token, or ``<class:key>`` for one of a class (those below, and `sets`),
    ``<group:key>`` for a group in braces, `round` in round brackets, ``<atom:key>`` for a symbol,
    which may be in a font. A word with the prefix ``?`` may be missing, one with ``!`` may not
    come next.

    >>> found = Pattern("<sum> _ <group:index> !^", sum={r"\\sum"}).first(r"2 \\sum_i x_i")
    >>> found["index"]
    'i'
    """

    def __init__(self, words: str, **sets: Iterable[str]) -> None:
        own = {name: frozenset(values).__contains__ for name, values in sets.items()}
        known: Mapping[str, Test] = {**_CLASSES, **own}
        self._words = [_word(word, known) for word in words.split()]
        self._needed = {one.text for one in self._words if one.text and not one.sign}

    def at(self, latex: str, row: Row, i: int) -> Found | None:
        """Return the match that begins at place `i`, or None."""
        parts: dict[str, Span] = {}
        end = i
        for word in self._words:
            stop = word.end(row, end) if end < len(row) else end
            if (stop > end) if word.sign == "!" else (stop == end and not word.sign):
                return None
            if stop > end and word.name:
                parts[word.name] = (end + word.edge, stop - word.edge)
            end = stop
        return Found(latex, row, i, end, parts)

    def every(self, latex: str, row: Row | None = None) -> list[Found]:
        """Return the matches in a row, without overlaps."""
        if not self._needed <= (_texts_of(latex) if row is None else {*texts(row)}):
            return []
        row = row_of(latex) if row is None else row
        found: list[Found] = []
        lead = self._words[0].text if not self._words[0].sign else ""
        i = 0
        while i < len(row):
            match = self.at(latex, row, i) if not lead or row[i].text == lead else None
            if match is not None and match.end > i:
                found.append(match)
                i = match.end
            else:
                i += 1
        return found

    def first(self, latex: str, row: Row | None = None) -> Found | None:
        """Return the first match in a row, or None."""
        return next(iter(self.every(latex, row)), None)

    def whole(self, latex: str) -> Found | None:
        """Return the match that is all of `latex`, or None."""
        row = row_of(latex)
        match = self.at(latex, row, 0) if row else None
        return match if match is not None and match.end == len(row) else None

    def put(self, latex: str, new: Callable[[Found], str]) -> str:
        """Return `latex` with the text that `new` gives in the place of each match."""
        found = [(match, match.span) for match in self.every(latex)]
        return exchanged(latex, [(span, new(match)) for match, span in found if span])
