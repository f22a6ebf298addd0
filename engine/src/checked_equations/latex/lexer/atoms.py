"""Names: bound ones, running variables, variables of averages, letters that are not bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .. import vocabulary as v
from ..names import DISTRIBUTIONS, Match, joined, nearest, normal, signature, split_given
from ..tokenizer import FONTS, Token, closing, split
from ..tokenizer import tokens as canonical
from .brackets import matching
from .stream import Stream, is_letter

UNDER, CALLED = "\0", "\1"  # each begins tokens that no author can write
_RUNS = frozenset({*v.BIG, "\\lim"})
Tokens = Sequence[Token]


def named(s: Stream, match: Match) -> None:
    """Emit a bound name: as a symbol, a call, a running variable, or a distribution."""
    _refuse_letters(s, match)
    if (_starts_range(s) and not _is_lower_limit(s, match)) or _is_set(s, match.length):
        return s.emit("INDEX", match.key, match.length)
    if match.key in s.names.called:
        _without_do(s, match)
        return s.emit("CALL", match.key, s.names.called[match.key])
    if data := _data_beside_a_query(s, match):
        return s.emit("NAME", data, s.nucleus(s.i))
    if match.kind in DISTRIBUTIONS or match.kind == "letter":
        return _distribution(s, match)
    after = s.i + match.length
    if match.kind == "callable" and _primed(s, match, after):
        return None
    if match.kind == "callable":
        _arguments_first(s, after)
    elif s.at(after) == "_":
        others = set(_unnamed(s, after + 1)) - {"\\cdot", "\\times", "\\max", "\\min"}
        if any(is_letter(text) or text == "*" for text in others):  # no index, but part of a name
            return unknown(s, s.group_end(after + 1) + 1)
    called = match.kind == "callable" and s.at(after) in ("(", "[")
    if s.at(after) == "'" and not _transposed(s, match, after):
        return unknown(s)
    return s.emit("CALL" if called else "NAME", match.key, match.length)


def _arguments_first(s: Stream, after: int) -> None:
    """``f_i(x)`` is the entry of ``f(x)``."""
    opened = s.behind_script(after, "_")
    if opened > after and s.at(opened) in ("(", "["):
        shut = matching(s, opened)
        subscript = s.tokens[after:opened]
        subscript[-1] = subscript[-1]._replace(end=s.tokens[shut].end)
        s.tokens[after : shut + 1] = s.tokens[opened : shut + 1] + subscript


def _data_beside_a_query(s: Stream, match: Match) -> str:
    """Return the key ``x_i`` of data with the entry ``x_j``, where j runs and an x is bound."""
    opened = s.i + s.nucleus(s.i) + 1
    if match.kind != "value" or s.at(opened - 1) != "_" or opened > s.i + match.length + 1:
        return ""
    letter, runs = joined(s.tokens[s.i : opened - 1]), joined(s.content(opened)) in s.running
    if not runs or s.names.kinds.get(letter) != "value":
        return ""
    own = [
        key
        for key in s.names.kinds
        if (i := key.removeprefix(f"{letter}_")) != key
        and len(i) == 1
        and i.isalpha()
        and s.names.kinds.get(i) in (None, "index")
    ]
    return own[0] if len(own) == 1 else ""


def _primed(s: Stream, match: Match, after: int) -> bool:
    """Emit the derivative that primes name, or ``^{(n)}``, of a function that is called."""
    end = after
    while s.at(end) == "'":
        end += 1
    if end > after and s.at(end) in ("(", "["):
        s.emit("PRIMED", f"{match.key}\t{s.at(after) * (end - after)}", end - s.i)
        return True
    behind = s.behind_script(after, "^")
    bracketed = behind > after + 4 and s.at(after + 2) == "(" and s.at(behind - 2) == ")"
    if not bracketed or s.at(behind) not in ("(", "["):
        return False
    if matching(s, after + 2) != behind - 2:
        return False
    del s.tokens[behind - 2], s.tokens[after + 2]
    s.emit("PRIMED", f"{match.key}\t", match.length)
    s.lead("_POW", "^", "order")
    return True


def _transposed(s: Stream, match: Match, after: int) -> bool:
    """Return whether the prime at place `after` is the sign of a transpose: ``A'``, ``x' A x``.

    No name has one, and it is the letter of a matrix, or a factor with others behind it.
    """
    if match.kind != "value" or not _primes_transpose(s):
        return False
    follows = s.at(after + 1)
    operator = follows in v.OPERATORS or follows in v.RELATIONS
    factor = follows in v.OPEN or (is_letter(follows) and not operator)
    matrix = match.key.removeprefix("\\").rpartition(" ")[2][:1].isupper()
    return follows != "'" and (factor or matrix)


def _primes_transpose(s: Stream) -> bool:
    return not (s.free or any("'" in key for key in s.names.kinds))


def prime_behind(s: Stream) -> None:
    """The prime of ``x_i' x_i``, which stands before the index by now, is put behind that again."""
    prime = s.i + s.nucleus(s.i)
    if s.free or s.at(prime) != "'" or s.at(prime + 1) != "_" or not _primes_transpose(s):
        return
    match = s.names.match(s.tokens[s.i : prime], 0)
    end = s.behind_script(prime + 1, "_")
    whole = s.names.match([*s.tokens[s.i : prime], *s.tokens[prime + 1 : end]], 0)
    if any(found and found.kind == "value" for found in (match, whole)):
        s.tokens[prime:end] = [*s.tokens[prime + 1 : end], s.tokens[prime]]


def _without_do(s: Stream, match: Match) -> None:
    """Of ``p(y \\mid \\operatorname{do}(x))`` keep ``p(y \\mid x)``: the name has the sign."""
    for i in range(s.i + match.length - 1, s.i, -1):
        opened = i + s.nucleus(i)
        if s.symbol(i) == "\\mathrm{do}" and s.at(opened) == "(":
            del s.tokens[matching(s, opened)]
            del s.tokens[i : opened + 1]


def marked(s: Stream, match: Match | None) -> Match | None:
    """With ``z^+`` bound, ``z^+_m`` is an entry of it: put the mark before the index."""
    end = s.i + s.nucleus(s.i)
    above = s.behind_script(end, "_")
    if above == end or s.at(above) != "^" or (match and match.length > end - s.i):
        return match
    behind = s.behind_script(above, "^")
    mark, index = s.tokens[above:behind], s.tokens[end:above]
    found = s.names.match([*s.tokens[s.i : end], *mark], 0)
    if joined(mark[2:-1]) not in v.MARKS or not found or found.length < end - s.i + len(mark):
        return match
    index[-1] = index[-1]._replace(end=max(index[-1].end, mark[-1].end))
    s.tokens[end:behind] = [*mark, *index]
    return found


def _refuse_letters(s: Stream, match: Match) -> None:
    """Refuse ``KL`` and ``K L``, which print the same: with all three bound it is ambiguous."""
    letters = s.tokens[s.i : s.i + match.length]
    if len(letters) > 1 and all(t.text.isalpha() and t.text in s.names.kinds for t in letters):
        said = " and ".join(f"`{letter.text}`" for letter in letters)
        problem = f"ambiguous: `{match.key}` is bound, and so are {said}"
        raise s.fault(f"{problem}; write \\operatorname{{{match.key}}}", letters[0], letters[-1])


def _is_set(s: Stream, length: int) -> bool:
    """Return whether it is the ``x`` of ``\\mathbb E[y \\mid x = 2]``."""
    return s.top().endswith("average") and s.last() == "SEP" and s.text(length) == "="


def _starts_range(s: Stream) -> bool:
    return s.top() == "head" and s.last() in ("_LB", "_SEPARATOR")


def _is_lower_limit(s: Stream, match: Match) -> bool:
    """Return whether ``n < i \\le m`` begins with a bound number, below which nothing runs."""
    opened = s.tokens.index(s.stack[-1][1])
    part = split(s.tokens[s.i : s.group_end(opened)], {","})[0][0]
    return match.kind == "value" and len(split(part, {"<", "\\le"})[1]) > 1


def _unnamed(s: Stream, opened: int) -> Iterator[str]:
    """Read the inside of braces that follow names."""
    i = opened + 1
    while i < s.group_end(opened):
        match = s.names.match(s.tokens, i)
        if not match:
            yield s.tokens[i].text
        i += match.length if match else 1


def _integrated(s: Stream, key: str) -> str:
    """Return the variable of an integral that is no nodes: `key`, or the name behind that sign."""
    if not any(kind.startswith("int") for kind, _ in s.stack):
        return ""
    for i in range(s.i, len(s.tokens)):
        after = i + s.nucleus(i)
        if s.symbol(i) in v.DIFFERENTIALS and is_letter(s.at(after)):
            variable = joined(s.tokens[after : s.atom_end(after)])
            if variable == key or (i == s.i and s.names.match(s.tokens, after)):
                return variable
    return ""


def unknown(s: Stream, end: int | None = None) -> None:
    """Emit an unbound letter, where one may stand; else raise `EquationError`."""
    end = end or s.atom_end(s.i)
    first, last = s.tokens[s.i], s.tokens[end - 1]
    key = joined(s.tokens[s.i : end])
    called = s.free and first.text == "\\Pr" and s.at(end) in v.OPEN
    if first.text in v.UNREAD and first.text != "\\dots" and not called:
        raise s.fault(f"`{first.text}` is not part of the language: {v.UNREAD[first.text]}", first)
    if first.text == "\\dots":  # the builder reads them where they follow from what is around them
        s.emit("NAME", first.text)
    elif s.indefinite and key in ("C", "c"):  # the constant of an integral, which goes
        s.emit("NAME", key)
    elif is_letter(first.text) and _is_set(s, end - s.i):
        s.emit("INDEX", key, end - s.i)
    elif s.free and is_letter(first.text):
        end = _free_end(s)
        kind = "INDEX" if _starts_range(s) else "CALL" if s.at(end) in ("(", "[") else "NAME"
        s.emit(kind, joined(s.tokens[s.i : end]), end - s.i)
    elif square := _reciprocal_square(s, end):
        named(s, square)
    elif _is_identity(s):
        s.lead("_IDENTITY", "I", length=s.nucleus(s.i))
    else:
        raise s.fault(f"unbound symbol `{key}`{_remedy(s, key)}", first, last)


def _remedy(s: Stream, key: str) -> str:
    """Treat an unbound `key`."""
    if stray := _stray_index(s):
        meant = f"did the sum over `{s.running[-1]}` mean `{stray}`?"
        return f": `{stray}` neither runs here nor is bound; {meant}"
    if s.top() == "head" and s.last() in ("LT", "LE"):
        return "; say how far: \\sum_{1 \\le i < j \\le N}"
    if variable := _integrated(s, key):
        return f"; an integral runs over nodes: bind `{variable}` to Nodes(points, weights)"
    return nearest(key, [k for k, kind in s.names.kinds.items() if kind != "index"])


def _is_identity(s: Stream) -> bool:
    """``I_{p \\times p}``, or ``I_p`` of a bound number, where no I is bound: its size is kept."""
    opened = s.i + s.nucleus(s.i) + 1
    if s.symbol(s.i) not in v.IDENTITIES or s.at(opened - 1) != "_":
        return False
    rows, signs = split(s.content(opened), {"\\times"})
    known = s.names.match(rows[0], 0) if rows[0] else None
    square = len(signs) == 1 and joined(rows[0]) == joined(rows[1])
    if not (square or (not signs and known and known.length == len(rows[0]))):
        return False
    s.tokens[opened + 1 : s.group_end(opened)] = rows[0]
    return True


def _stray_index(s: Stream) -> str:
    """The ``i`` of ``f_{ij}``, with ``f`` bound and sums in the display, where no ``i`` runs."""
    opened = s.i + s.nucleus(s.i) + 1
    match = s.names.match(s.tokens[s.i : opened - 1], 0) if s.at(opened - 1) == "_" else None
    if not match or match.kind != "value" or not s.running:
        return ""
    letters = [text for text in _unnamed(s, opened) if text != ","]
    return letters[0] if letters and all(len(text) == 1 for text in letters) else ""


def _reciprocal_square(s: Stream, end: int) -> Match | None:
    """With ``\\sigma_n^2`` bound, ``\\sigma_n^{-2}`` is its inverse: put it so."""
    script = s.tokens[end : end + 5]
    if [t.text for t in script] != ["^", "{", "-", "2", "}"]:
        return None
    square = [*script[:2], *script[3:]]
    match = s.names.match([*s.tokens[s.i : end], *square], 0)
    if not match or match.length != end - s.i + 4:
        return None
    s.tokens[end : end + 5] = [*square, *script[:3], script[3]._replace(text="1"), script[4]]
    return match


def _free_end(s: Stream) -> int:
    """Return the end of an unbound letter: indices stay outside, marks belong to it."""
    end = s.atom_end(s.i)
    bare = s.i + s.nucleus(s.i)
    if s.at(bare) == "_" and (set(_unnamed(s, bare + 1)) <= {","} or _counts(s, bare + 1)):
        end = bare
    marked = s.at(end) == "^" and s.at(end + 2) in ("*", "(", "\\dagger", "\\star")
    if marked and s.at(end + 2) == "(":  # `x^{(1/2) - x}` is a power
        marked = s.at(matching(s, end + 2) + 1) == "}"
    if s.at(end) == "^" and s.at(end + 2) in ("+", "-") and s.at(end + 3) == "}":  # `\hat x_k^-`
        marked = True
    return s.behind_script(end, "^") if marked else end


def _counts(s: Stream, opened: int) -> bool:
    """Return whether a letter that runs stands in a subscript, and nothing but letters to count by.

    ``x_{k + 1}``, ``a_{ik}`` where k runs, and not ``K_{y k}^{\\mathrm{new}}``.
    """
    inside = [token.text for token in s.tokens[opened + 1 : s.group_end(opened)]]
    runs = any(text in s.running for text in inside)
    return runs and all(len(text) == 1 or text.isdigit() for text in inside)


def _call_in_braces(s: Stream, i: int, opened: int) -> None:
    """``P\\{X = 1\\}`` of a bound function, or of one that is bound by such a form, is a call."""
    letter = joined(s.tokens[i:opened])
    forms = [form.letter for form in map(signature, s.names.called) if form]
    if s.names.kinds.get(letter) == "callable" or letter in forms:
        shut = matching(s, opened)
        for place, text in ((opened, "("), (shut, ")")):
            s.tokens[place] = s.tokens[place]._replace(text=text)


def settle_values(s: Stream) -> None:
    """Read ``p(y = 1 \\mid x)`` as a call of ``p(y \\mid x)`` or ``p``, with a 1 for y."""
    if not {"=", "\\{"} & {token.text for token in s.tokens}:
        return  # as in the sides of an equation, which are read again for each mutant
    for i in range(len(s.tokens) - 1, -1, -1):
        if s.at(i) not in FONTS and s.at(i + 1) not in ("(", "\\{", "'", "_"):
            continue  # nothing is called there
        opened = s.atom_end(i) if is_letter(s.at(i)) else len(s.tokens)
        if s.at(opened) == "\\{":
            _call_in_braces(s, i, opened)
        if s.at(opened) != "(":
            continue
        whole = s.names.match(s.tokens, i)
        shut = matching(s, opened)
        parts, marks = split(s.tokens[opened + 1 : shut], (",", ";", "|", "\\|"))
        sides = [split(part, {"="})[0] for part in parts]
        if max(map(len, sides)) != 2 or (whole and whole.length > opened - i):
            continue
        names = [joined(side[0]) for side in sides]
        inside = "".join(a + b for a, b in zip(names, [*(m.text for m in marks), ""], strict=True))
        form = normal(f"{joined(s.tokens[i:opened])}({inside})")
        known = form if form in {*s.names.called, *s.names.forms} else ""
        row = [s.tokens[opened], *sides[0][-1]]
        for side, mark in zip(sides[1:], marks, strict=True):
            row += [mark, *side[-1]]
        letter = [s.tokens[i]._replace(text=CALLED + known, end=s.tokens[opened - 1].end)]
        s.tokens[i:shut] = (letter if known else s.tokens[i:opened]) + row


def declare_indices(s: Stream) -> None:
    """The running variables of sums and products are names, wherever they stand."""
    for i, token in enumerate(s.tokens):
        start = i + s.nucleus(i) if token.text in _RUNS or token.text == "\\mathrm" else i
        if s.at(start) != "_" or s.symbol(i) not in _RUNS:
            continue
        ended = s.at(s.behind_script(start, "_")) == "^"
        parts, commas = split(s.content(start + 1), {","})
        for part in parts:
            # `i = 1`, `i < j` (and `j`, if a limit above is its end), `1 \\le i < j \\le N`
            sides, signs = split(part, v.RANGES)
            both = ended and not commas and len(sides) == 2 and signs[0].text in ("<", "\\le")
            running = sides[1:-1] if len(sides) > 2 else sides if both else sides[:1]
            for side in running:
                if side and not side[0].text.isdigit():
                    s.running.append(joined(side))
                    s.names.add(joined(side), "index")


# What averages run over


class _Over(NamedTuple):
    variables: tuple[str, ...]
    distribution: str
    given: tuple[Tokens, ...] = ()


def declare_averaged(s: Stream) -> None:
    """Take the variable under an average as a name, wherever it stands."""
    for i in range(0 if _any_may_stand(s) else len(s.tokens)):
        after = i + s.nucleus(i)
        if s.at(after) == "_" and is_average(s, i) and not s.names.match(s.tokens, i):
            for over in _read(s, after):
                for key in over.variables:
                    s.names.add(key, "index")


def is_average(s: Stream, i: int) -> bool:
    """Return whether the sign of an average is there; a plain E is one before square brackets."""
    sign = s.symbol(i)
    letter = sign in ("E", "\\mathbf E")
    bracketed = letter and s.at(s.behind_script(i + s.nucleus(i), "_")) == "["
    return sign in v.EXPECTATIONS and (bracketed or not letter)


def expectation(s: Stream, kind: str, length: int) -> None:
    """The sign of an average; its subscript is written anew, a word for each distribution."""
    start = s.i + length
    end = s.behind_script(start, "_")
    bare = s.at(end) not in v.OPEN
    if bare and not s.free:
        raise s.fault("write brackets around what is averaged")
    if end > start:
        at = s.tokens[start + 2]._replace(end=s.tokens[end - 2].end)
        s.tokens[start:end] = [t for over in _read(s, start) for t in _written(over, at)]
    s.emit("AVERAGING" if bare else kind, kind, length)


def _written(over: _Over, at: Token) -> list[Token]:
    word = at._replace(text=UNDER + "\t".join([over.distribution, *over.variables]))
    opened, comma, shut = (at._replace(text=text) for text in "{,}")
    inside = [token for part in over.given for token in (comma, *part)]
    return [word, opened, *inside[1:], shut] if inside else [word]


def under(s: Stream) -> None:
    """Emit one distribution below an average, which `expectation` has put in its place."""
    value = s.text().removeprefix(UNDER)
    if s.text(1) == "{":
        s.lead("UNDER", value, "under")
    else:
        s.emit("UNDER", value)


def _distribution(s: Stream, match: Match) -> None:
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
    """Reads the tokens of a subscript from left to right.

    x          a variable with nodes of its own         x, y       several, independent
    q(x)       drawn from the nodes q(x) or q           q(x) p(y)  one after another
    x \\sim q   the same                                 (x, y) \\sim q   jointly
    q          the nodes q(x)                           p(y \\mid x)     given x

    Each becomes a word of its own, followed in braces by the symbols that its nodes depend on.
    """

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
        """Read ``y \\mid x``: the rest is the condition of y."""
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
        """Let a waiting name stand alone."""
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
        return [[token._replace(start=at.start, end=at.end) for token in row] for row in rows]

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
