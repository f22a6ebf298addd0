"""Names: bound ones, running variables, and letters that nobody bound."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from .. import vocabulary as v
from ..names import DISTRIBUTIONS, Match, joined, nearest, normal
from ..tokenizer import Token, split
from . import averages
from .brackets import matching
from .stream import Stream, is_letter


def named(s: Stream, match: Match) -> None:
    """Emit a bound name: as a symbol, a call, a running variable, or a distribution."""
    if _starts_range(s) or _is_set(s, match.length):
        return s.emit("INDEX", match.key, match.length)
    if match.key in s.names.called:
        return s.emit("CALL", match.key, s.names.called[match.key])
    if match.kind in DISTRIBUTIONS or match.kind == "letter":
        return averages.distribution(s, match)
    after = s.i + match.length
    if match.kind == "callable":
        _bring_arguments_forward(s, after)
    elif after < len(s.tokens) and s.tokens[after].text == "_":
        others = set(_unnamed(s, after + 1)) - _OPERATES
        if any(is_letter(text) or text == "*" for text in others):  # no index, but part of a name
            return unknown(s, s.group_end(after + 1) + 1)
    follows = s.tokens[after].text if after < len(s.tokens) else ""
    called = match.kind == "callable" and follows in ("(", "[")
    if follows == "'":
        return unknown(s)
    return s.emit("CALL" if called else "NAME", match.key, match.length)


def refuse_letters(s: Stream, match: Match) -> None:
    """``KL`` and ``K L`` print the same: with all three bound nobody knows which is meant."""
    letters = [token.text for token in s.tokens[s.i : s.i + match.length]]
    if len(letters) < 2 or not all(t.isalpha() and t in s.names.kinds for t in letters):
        return
    said = " and ".join(f"`{letter}`" for letter in letters)
    problem = f"ambiguous: `{match.key}` is bound, and so are {said}"
    first, last = s.tokens[s.i], s.tokens[s.i + match.length - 1]
    raise s.fault(f"{problem}; write \\operatorname{{{match.key}}}", first, last)


def _is_set(s: Stream, length: int) -> bool:
    """Whether it is the ``x`` of ``\\mathbb E[y \\mid x = 2]``."""
    return s.top().endswith("average") and s.last() == "SEP" and s.text(length) == "="


def _starts_range(s: Stream) -> bool:
    return s.top() == "head" and s.last() in ("_LB", "_SEPARATOR")


def _bring_arguments_forward(s: Stream, after: int) -> None:
    """``f_i(x)`` is the entry of ``f(x)``: put the arguments before the subscript."""
    if after >= len(s.tokens) or s.tokens[after].text != "_":
        return
    opened = s.group_end(after + 1) + 1
    if opened < len(s.tokens) and s.tokens[opened].text in ("(", "["):
        shut = matching(s, opened)
        subscript = s.tokens[after:opened]
        subscript[-1] = replace(subscript[-1], end=s.tokens[shut].end)
        s.tokens[after : shut + 1] = s.tokens[opened : shut + 1] + subscript


_OPERATES = frozenset({"\\cdot", "\\times", "\\max", "\\min"})


def _unnamed(s: Stream, opened: int) -> Iterator[str]:
    """What stands in the braces beside names."""
    i = opened + 1
    end = s.group_end(opened)
    while i < end:
        match = s.names.match(s.tokens, i)
        if not match:
            yield s.tokens[i].text
        i += match.length if match else 1


def _integrated(s: Stream, key: str) -> str:
    """The variable of an integral that is no nodes: `key`, or what stands behind the sign `key`."""
    if not any(kind.startswith("int") for kind, _ in s.stack):
        return ""
    for i in range(s.i, len(s.tokens)):
        after = i + s.nucleus(i) if s.symbol(i) in v.DIFFERENTIALS else len(s.tokens)
        if after < len(s.tokens) and is_letter(s.tokens[after].text):
            variable = joined(s.tokens[after : s.atom_end(after)])
            if variable == key or (i == s.i and s.names.match(s.tokens, after)):
                return variable
    return ""


def unknown(s: Stream, end: int | None = None) -> None:
    """Emit a letter that nobody bound, where one may stand; else raise `EquationError`."""
    end = end or s.atom_end(s.i)
    first = s.tokens[s.i]
    if first.text in v.UNREAD and not (s.free and first.text == "\\dots"):
        problem = f"`{first.text}` is not part of the language: {v.UNREAD[first.text]}"
        raise s.fault(problem, first)
    if is_letter(first.text) and _is_set(s, end - s.i):
        return s.emit("INDEX", joined(s.tokens[s.i : end]), end - s.i)
    if s.free and is_letter(first.text):
        end = _free_end(s)
        called = end < len(s.tokens) and s.tokens[end].text in ("(", "[")
        kind = "INDEX" if _starts_range(s) else "CALL" if called else "NAME"
        return s.emit(kind, joined(s.tokens[s.i : end]), end - s.i)
    if _is_reciprocal_square(s, end):
        square = s.names.match(s.tokens, s.i)
        assert square is not None, "the tokens were put so that it is one"
        return named(s, square)
    key = joined(s.tokens[s.i : end])
    if s.top() == "head" and s.last() in ("LT", "LE"):
        hint = "; say how far: \\sum_{1 \\le i < j \\le N}"
        raise s.fault(f"unbound symbol `{key}`{hint}", first, s.tokens[end - 1])
    variable = _integrated(s, key)
    if variable:
        hint = f"an integral runs over nodes: bind `{variable}` to Nodes(points, weights)"
        raise s.fault(f"unbound symbol `{key}`; {hint}", first, s.tokens[end - 1])
    known = nearest(key, [k for k, kind in s.names.kinds.items() if kind != "index"])
    raise s.fault(f"unbound symbol `{key}`{known}", first, s.tokens[end - 1])


def _is_reciprocal_square(s: Stream, end: int) -> bool:
    """With ``\\sigma_n^2`` bound, ``\\sigma_n^{-2}`` is its inverse: put it so."""
    script = s.tokens[end : end + 5]
    if [t.text for t in script] != ["^", "{", "-", "2", "}"]:
        return False
    hat, opened, minus, two, shut = script
    square = [hat, opened, two, shut]
    match = s.names.match([*s.tokens[s.i : end], *square], 0)
    if not match or match.length != end - s.i + 4:
        return False
    one = replace(two, text="1")
    s.tokens[end : end + 5] = [*square, hat, opened, minus, one, shut]
    return True


def _free_end(s: Stream) -> int:
    """Where a letter that nobody bound ends: indices stay outside, marks belong to it."""
    end = s.atom_end(s.i)
    bare = s.i + s.nucleus(s.i)
    if end > bare and s.tokens[bare].text == "_" and set(_unnamed(s, bare + 1)) <= {","}:
        end = bare
    if end + 1 < len(s.tokens) and s.tokens[end].text == "^":
        content = s.content(end + 1)
        if content and content[0].text in ("*", "(", "\\dagger", "\\star"):
            end = s.group_end(end + 1) + 1
    return end


CALLED = "\1"  # begins a token that no author can write


def settle_values(s: Stream) -> None:
    """``p(y = 1 \\mid x)`` calls what is bound as ``p(y \\mid x)``, or as ``p``, with a 1 for y."""
    for i in range(len(s.tokens) - 1, -1, -1):
        opened = s.atom_end(i) if is_letter(s.tokens[i].text) else len(s.tokens)
        if opened >= len(s.tokens) or s.tokens[opened].text != "(":
            continue
        whole = s.names.match(s.tokens, i)
        shut = matching(s, opened)
        parts, marks = split(s.tokens[opened + 1 : shut], _BETWEEN)
        sides = [split(part, {"="})[0] for part in parts]
        if max(map(len, sides)) != 2 or (whole and whole.length > opened - i):
            continue
        names = [joined(side[0]) for side in sides]
        texts = (mark.text for mark in marks)
        inside = "".join(map("".join, itertools.zip_longest(names, texts, fillvalue="")))
        form = normal(f"{joined(s.tokens[i:opened])}({inside})")
        known = form if form in {*s.names.called, *s.names.forms} else ""
        row = [replace(s.tokens[opened])]
        for side, mark in itertools.zip_longest(sides, marks):
            row += [*side[-1], *([mark] if mark else [])]
        letter = [replace(s.tokens[i], text=CALLED + known, end=s.tokens[opened - 1].end)]
        s.tokens[i:shut] = (letter if known else s.tokens[i:opened]) + row


_BETWEEN = frozenset({",", ";", "|", "\\|"})


_MAY_BE_BIG = frozenset({*v.BIG, "\\mathrm"})


def declare_indices(s: Stream) -> None:
    """The running variables of sums and products are names, wherever they stand."""
    for i in range(len(s.tokens) - 2):
        if s.tokens[i].text not in _MAY_BE_BIG:
            continue
        start = i + s.nucleus(i)
        if s.symbol(i) in v.BIG and start < len(s.tokens) and s.tokens[start].text == "_":
            end = s.group_end(start + 1) + 1
            ended = end < len(s.tokens) and s.tokens[end].text == "^"
            parts, commas = split(s.content(start + 1), {","})
            for part in parts:
                _declare_range(s, part, ended=ended and not commas)


def _declare_range(s: Stream, part: list[Token], *, ended: bool) -> None:
    """``i = 1``, ``i < j`` (and ``j``, if a limit above is its end), ``1 \\le i < j \\le N``."""
    sides, signs = split(part, v.RANGES)
    running = sides[:1] if len(sides) < 3 else sides[1:-1]
    if ended and len(sides) == 2 and signs[0].text in ("<", "\\le"):
        running = sides
    for side in running:
        if side and not side[0].text.isdigit():
            s.names.add(joined(side), "index")
