"""The subscript of an average: which variables it runs over, and under which distributions.

    x          a variable with nodes of its own         x, y       several, independent
    q(x)       drawn from what is bound as q(x) or q    q(x) p(y)  one after another
    x \\sim q   the same                                 (x, y) \\sim q   jointly
    q          what is bound as q(x)                    p(y \\mid x)     given x

Each becomes a word of its own, and what its nodes depend on follows it in braces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from .. import vocabulary as v
from ..names import DISTRIBUTIONS, Match, joined, split_given
from ..tokenizer import FONTS, Token, closing
from ..tokenizer import tokens as canonical
from .brackets import matching
from .stream import Stream, is_letter

UNDER = "\0"  # begins a token that no author can write
Tokens = Sequence[Token]


class _Over(NamedTuple):
    variables: tuple[str, ...]
    distribution: str
    given: tuple[Tokens, ...] = ()


def declare(s: Stream) -> None:
    """What stands under an average as its variable is a name, wherever it stands."""
    for i, token in enumerate([] if _any_may_stand(s) else s.tokens):
        if token.text not in _MAY_AVERAGE or s.names.match(s.tokens, i):
            continue
        after = i + s.nucleus(i)
        if stands(s, i) and s.at(after) == "_":
            for over in _read(s, after):
                for key in over.variables:
                    s.names.declare(key, "index")


_MAY_AVERAGE = frozenset(sign.split()[0].split("{")[0] for sign in v.EXPECTATIONS)


def stands(s: Stream, i: int) -> bool:
    """Whether the sign of an average stands there; a plain E is one before square brackets."""
    sign = s.symbol(i)
    letter = sign in ("E", "\\mathbf E")
    bracketed = letter and s.at(s.behind_script(i + s.nucleus(i), "_")) == "["
    return sign in v.EXPECTATIONS and (bracketed or not letter)


def expectation(s: Stream, kind: str, length: int) -> None:
    """The sign of an average; its subscript is written anew, a word for each distribution."""
    start = s.i + length
    end = s.behind_script(start, "_")
    if s.at(end) not in v.OPEN:
        raise s.fault("write brackets around what is averaged")
    if end > start:
        at = replace(s.tokens[start + 2], end=s.tokens[end - 2].end)
        s.tokens[start:end] = [t for over in _read(s, start) for t in _written(over, at)]
    s.emit(kind, "", length)


def _written(over: _Over, at: Token) -> list[Token]:
    word = replace(at, text=UNDER + "\t".join([over.distribution, *over.variables]))
    opened, comma, shut = (replace(at, text=text) for text in "{,}")
    inside = [token for part in over.given for token in (comma, *part)]
    return [word, opened, *inside[1:], shut] if inside else [word]


def under(s: Stream) -> None:
    """Emit one distribution below an average, which `declare` has put in its place."""
    value = s.text().removeprefix(UNDER)
    if s.text(1) == "{":
        s.lead("UNDER", value, "index")
    else:
        s.emit("UNDER", value)


def distribution(s: Stream, match: Match) -> None:
    """The name of a distribution in the formula itself: its density, or all of it."""
    if match.key in s.names.forms:
        length = next(i for i in range(match.length) if s.text(i) == "(")
        return s.emit("CALL", match.key, length)
    called = s.text(match.length) == "("
    if match.kind != "letter":
        return s.emit("CALL" if called else "NAME", match.key, match.length)
    forms = s.names.written(match.key)
    if called or len(forms) > 1:
        said = ", ".join(f"`{key}`" for key in forms)
        raise s.fault(f"unbound symbol `{match.key}`; bound distributions: {said}")
    return s.emit("NAME", forms[0], match.length)


def _any_may_stand(s: Stream) -> bool:
    """Where nothing is bound, as in a bare definition, a subscript is one name."""
    return s.free and not s.names.distributions()


def _read(s: Stream, at: int) -> list[_Over]:
    content = s.content(at + 1)
    if _any_may_stand(s):
        return [_Over((joined(content),), joined(content))]
    return _Subscript(s, content).read()


class _Subscript:
    """Reads the tokens of a subscript from left to right."""

    def __init__(self, s: Stream, content: Tokens) -> None:
        self.s, self.names, self.tokens = s, s.names, content
        self.i = 0
        self.waiting: list[tuple[str, ...]] = []  # variables that a distribution may follow
        self.out: list[_Over] = []

    def read(self) -> list[_Over]:
        while self.i < len(self.tokens):
            text = self.tokens[self.i].text
            if text == ",":
                self.i += 1
            elif text == "|":
                self._given()
            elif text == "(":  # several, drawn jointly
                shut = matching(self.s, self.i, self.tokens)
                variables, _ = split_given(self.tokens[self.i + 1 : shut])
                self.waiting.append(tuple(map(self._variable, variables)))
                self.i = shut + 1
            else:
                self.i += text == "\\sim"
                self._symbol(drawn=text == "\\sim")
        self._alone()
        return self.out

    def _symbol(self, drawn: bool) -> None:
        """``x`` or ``q(x)``; behind ``\\sim`` ``q`` or, with parameters, ``\\mathcal N(m, v)``."""
        start, end = self.i, self._end(self.tokens, self.i)
        called = [token.text for token in self.tokens[end : end + 1]] == ["("]
        if called and not drawn:
            self._alone()
        self.i = matching(self.s, end, self.tokens) + 1 if called else end
        letter, written = self.tokens[start:end], self.tokens[start : self.i]
        if not (called or drawn):
            return self.waiting.append((joined(letter),))
        key = self._bound(written, letter)
        variables, given = split_given(written[len(letter) + 1 : -1]) if called else ([], [])
        if drawn and not given and tuple(map(joined, variables)) not in self.waiting:
            given = variables  # the parameters
        rows = map(self._tokens, self.waiting) if drawn else [variables]
        self.out += [self._over(row, key, given) for row in rows]
        self.waiting = []
        return None

    def _given(self) -> None:
        """``y \\mid x``: the rest says what y is given."""
        drawn = tuple(key for variables in self.waiting for key in variables)
        _, given = split_given(self.tokens[self.i :])
        wanted = (drawn, tuple(map(joined, given)))
        forms = [k for k, f in self.names.forms.items() if f[1:] == wanted]
        if len(forms) != 1:
            raise self._unbound(joined(self.tokens))
        self.waiting = []
        self.i = len(self.tokens)
        self.out.append(self._over(self._tokens(drawn), forms[0], given))

    def _alone(self) -> None:
        """What waits stands alone."""
        self.out += map(self._undrawn, self.waiting)
        self.waiting = []

    def _undrawn(self, variables: tuple[str, ...]) -> _Over:
        """A variable with nodes of its own, or a letter whose one written form is bound."""
        key = ",".join(variables)
        if self.names.kinds.get(key) in DISTRIBUTIONS and key not in self.names.forms:
            return self._over(self._tokens([key]), key, [])
        lettered = self.names.written(key)
        forms = lettered or [k for k, f in self.names.forms.items() if f[1] == variables]
        free = [k for k in forms if lettered or not self.names.forms[k].given]
        if len(free) == 1:
            _, drawn, given = self.names.forms[free[0]]
            return self._over(self._tokens(drawn), free[0], self._tokens(given))
        if forms and not lettered:
            return _Over(variables, "")  # what it is given stands behind the bar
        raise self._unbound(key)

    def _over(self, variables: Sequence[Tokens], key: str, given: Sequence[Tokens]) -> _Over:
        names = tuple(map(self._variable, variables))
        if self.names.kinds[key] == "conditional":
            marks = (inner for variable in variables for inner in _subscript(variable))
            runs = ("index", "value", "set")
            indices = [[mark] for mark in marks if self.names.kinds.get(mark.text) in runs]
            return _Over(names, key, (*indices, *given))
        if given and key not in self.names.forms:
            behind = "what stands behind the bar"
            form = f"{key}({','.join(names)} \\mid {', '.join(map(joined, given))})"
            raise self._fault(f"the nodes of `{key}` do not depend on {behind}: bind `{form}`")
        return _Over(names, key)

    def _bound(self, written: Tokens, letter: Tokens) -> str:
        """The key that is bound to a distribution: the whole form, or its letter."""
        kinds = self.names.kinds
        for key in (joined(written), joined(letter)):
            if kinds.get(key) in DISTRIBUTIONS:
                return key
        forms = self.names.written(joined(written))
        if len(forms) == 1:
            return forms[0]
        raise self._unbound(joined(written))

    def _variable(self, tokens: Tokens) -> str:
        key = joined(tokens)
        if not tokens or not is_letter(tokens[0].text) or self._end(tokens) != len(tokens):
            raise self._fault(f"`{key}` is no variable")
        return key

    def _tokens(self, keys: Iterable[str]) -> list[Tokens]:
        """The tokens of some names, at the place of the subscript."""
        at = self.tokens[0]
        rows = map(canonical, keys)
        return [[replace(token, start=at.start, end=at.end) for token in row] for row in rows]

    def _end(self, tokens: Tokens, i: int = 0) -> int:
        """Where the symbol at place `i` ends, its scripts and primes included."""
        if i >= len(tokens):
            raise self._fault("something is missing here")
        if not is_letter(tokens[i].text) or tokens[i].text in v.OPERATORS:
            raise self._fault(f"`{tokens[i].text}` names no variable")
        end = closing(tokens, i + 1) + 1 if tokens[i].text in FONTS else i + 1
        while end < len(tokens) and tokens[end].text in ("'", "_", "^"):
            end = 1 + (end if tokens[end].text == "'" else closing(tokens, end + 1))
        return end

    def _unbound(self, key: str) -> Exception:
        known = ", ".join(f"`{name}`" for name in self.names.distributions())
        hint = f"; bound distributions: {known}" if known else ""
        return self._fault(f"`{key}` is bound to no distribution{hint}")

    def _fault(self, problem: str) -> Exception:
        return self.s.fault(problem, self.tokens[0], self.tokens[-1])


def _subscript(variable: Tokens) -> Tokens:
    """The tokens in the subscript of a variable."""
    opened = next((i + 1 for i, token in enumerate(variable) if token.text == "_"), 0)
    return variable[opened + 1 : closing(variable, opened)] if opened else ()
