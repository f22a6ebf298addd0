"""Names: one normal form for all spellings, and the longest match in a row of tokens."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from string import ascii_letters
from typing import NamedTuple

from .tokenizer import Token, UnclosedError, closing, outside, split, tokens

DISTRIBUTIONS = ("nodes", "distribution", "conditional")  # kinds that averages run over
_ALWAYS_BRACED = ("\\frac", "\\binom", "\\root")


@lru_cache(maxsize=4096)
def normal(latex: str) -> str:
    """The normal form of a name: the same for every spelling that prints the same.

    >>> normal(r"\\bar{\\mathbf{f}}_{*}"), normal(r"\\sigma^{2}_n")
    ('\\\\bar{\\\\mathbf f}_*', '\\\\sigma_n^2')
    """
    return joined(tokens(latex))


def joined(sequence: Sequence[Token]) -> str:
    """Canonical tokens as LaTeX again, with no brace or space that TeX does not need."""
    if len(sequence) == 1 and (text := sequence[0].text) not in ("{", "}"):
        return text  # as most are
    needed: set[int] = set()
    for i, token in enumerate(sequence):
        if token.text == "{":
            end = closing(sequence, i)
            of_fraction = i > 0 and sequence[i - 1].text in (*_ALWAYS_BRACED, "}")
            if end != i + 2 or of_fraction:
                needed |= {i, end}
    out = ""
    for i, token in enumerate(sequence):
        if token.text in ("{", "}") and i not in needed:
            continue
        in_command = out.rstrip(ascii_letters).endswith("\\")
        glued = in_command and out[-1].isalpha() and token.text[:1].isalpha()
        out += " " + token.text if glued else token.text
    return out


def nearest(key: str, bound: Mapping[str, str] | Sequence[str]) -> str:
    """A half sentence with the bound names that look most like `key`."""
    close = get_close_matches(key, list(bound), n=3, cutoff=0.4)
    shown = ", ".join(f"`{name}`" for name in close or sorted(bound)[:12])
    return f"; {'nearest ' if close else ''}bound names: {shown}"


class Signature(NamedTuple):
    """A written form such as ``p(y \\mid x)``: a letter, its variables, and those it depends on."""

    letter: str
    variables: tuple[str, ...]
    given: tuple[str, ...]


@lru_cache(maxsize=4096)
def signature(key: str) -> Signature | None:
    """The parts of the name of a distribution; none of a name that is a letter only.

    >>> signature(r"p(y \\mid x)")
    Signature(letter='p', variables=('y',), given=('x',))
    """
    sequence = list(tokens(key))
    texts = [token.text for token in sequence]
    called = "(" in texts and texts[-1] == ")"
    start = texts.index("(") if called else 0
    if texts[:start].count("{") > texts[:start].count("}"):  # the bracket is an argument's
        return None
    inside = sequence[start + 1 : -1] if called else sequence
    variables, given = split_given(inside)
    if not (called or given) or (called and start == 0):
        return None
    try:
        drawn, behind = (tuple(map(joined, parts)) for parts in (variables, given))
    except UnclosedError:  # the bar stands within a group, whose round brackets are too many
        return None
    return Signature(joined(sequence[:start]), drawn, behind)


def split_given(inside: Sequence[Token]) -> tuple[list[list[Token]], list[list[Token]]]:
    """The parts between commas, before and behind the first bar or semicolon."""
    free = (i for i, (token, out) in enumerate(outside(inside)) if out and token.text in ("|", ";"))
    bar = next(free, len(inside))
    given = split(inside[bar + 1 :], {",", ";"})[0] if bar < len(inside) else []
    return split(inside[:bar], {","})[0], given


@lru_cache(maxsize=4096)
def _texts(key: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokens(key))


class Match(NamedTuple):
    """A name that was found in a row of tokens: its key, its kind, how many tokens it has."""

    key: str
    kind: str
    length: int


class Names:
    """The names that an equation may use, by their first token, longest first.

    `forms` are the distributions that are bound by a written form. Their variables are names,
    too, and so is a letter that only they have. `called` are the functions that are: how many
    tokens stand before their brackets.
    """

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.kinds = dict(kinds)
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self.forms: dict[str, Signature] = {}
        self.called: dict[str, int] = {}
        for key, kind in kinds.items():
            form = signature(key) if kind in DISTRIBUTIONS else None
            if form is not None:
                self.forms[key] = form
            elif kind == "callable" and key[-1:] == ")" and "(" in key:
                self.called[key] = [token.text for token in tokens(key)].index("(")
            if form is None or form.letter:
                self._enter(key)
        for form in self.forms.values():
            for variable in form.variables:
                if variable.partition("_")[0] not in self.kinds:  # else it is an entry
                    self.add(variable, "index")
            if form.letter:
                self.add(form.letter, "letter")

    def add(self, key: str, kind: str) -> None:
        """Make a name of `key`, unless it is one."""
        if key not in self.kinds:
            self.kinds[key] = kind
            self._enter(key)

    def written(self, letter: str) -> list[str]:
        """The written forms of a letter."""
        return [key for key, form in self.forms.items() if form.letter == letter]

    def distributions(self) -> list[str]:
        """The names that averages may run over."""
        return sorted(key for key, kind in self.kinds.items() if kind in DISTRIBUTIONS)

    def _enter(self, key: str) -> None:
        if texts := _texts(key):
            entry = self._by_first.setdefault(texts[0], [])
            insort(entry, (texts, key), key=lambda item: -len(item[0]))

    def match(self, sequence: Sequence[Token], i: int) -> Match | None:
        """The longest name that starts at place `i`, with no wide space in it."""
        for texts, key in self._by_first.get(sequence[i].text, ()):
            row = sequence[i : i + len(texts)]
            alike = tuple([token.text for token in row]) == texts
            if alike and not any(token.wide for token in row[1:]):
                return Match(key, self.kinds[key], len(texts))
        return None
