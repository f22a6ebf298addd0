"""Names: bound ones, running variables, and letters that nobody bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .. import vocabulary as v
from ..names import DISTRIBUTIONS, Match, joined, nearest, normal
from ..tokenizer import split
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
        opened = s.behind_script(after, "_")
        if opened > after and s.at(opened) in ("(", "["):  # `f_i(x)` is the entry of `f(x)`
            shut = matching(s, opened)
            subscript = s.tokens[after:opened]
            subscript[-1] = replace(subscript[-1], end=s.tokens[shut].end)
            s.tokens[after : shut + 1] = s.tokens[opened : shut + 1] + subscript
    elif s.at(after) == "_":
        others = set(_unnamed(s, after + 1)) - {"\\cdot", "\\times", "\\max", "\\min"}
        if any(is_letter(text) or text == "*" for text in others):  # no index, but part of a name
            return unknown(s, s.group_end(after + 1) + 1)
    called = match.kind == "callable" and s.at(after) in ("(", "[")
    if s.at(after) == "'":
        return unknown(s)
    return s.emit("CALL" if called else "NAME", match.key, match.length)


def refuse_letters(s: Stream, match: Match) -> None:
    """``KL`` and ``K L`` print the same: with all three bound nobody knows which is meant."""
    letters = s.tokens[s.i : s.i + match.length]
    if len(letters) > 1 and all(t.text.isalpha() and t.text in s.names.kinds for t in letters):
        said = " and ".join(f"`{letter.text}`" for letter in letters)
        problem = f"ambiguous: `{match.key}` is bound, and so are {said}"
        raise s.fault(f"{problem}; write \\operatorname{{{match.key}}}", letters[0], letters[-1])


def _is_set(s: Stream, length: int) -> bool:
    """Whether it is the ``x`` of ``\\mathbb E[y \\mid x = 2]``."""
    return s.top().endswith("average") and s.last() == "SEP" and s.text(length) == "="


def _starts_range(s: Stream) -> bool:
    return s.top() == "head" and s.last() in ("_LB", "_SEPARATOR")


def _unnamed(s: Stream, opened: int) -> Iterator[str]:
    """What stands in the braces beside names."""
    i = opened + 1
    while i < s.group_end(opened):
        match = s.names.match(s.tokens, i)
        if not match:
            yield s.tokens[i].text
        i += match.length if match else 1


def _integrated(s: Stream, key: str) -> str:
    """The variable of an integral that is no nodes: `key`, or what stands behind the sign `key`."""
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
    """Emit a letter that nobody bound, where one may stand; else raise `EquationError`."""
    end = end or s.atom_end(s.i)
    first, last = s.tokens[s.i], s.tokens[end - 1]
    key = joined(s.tokens[s.i : end])
    if first.text in v.UNREAD and not (s.free and first.text == "\\dots"):
        raise s.fault(f"`{first.text}` is not part of the language: {v.UNREAD[first.text]}", first)
    if is_letter(first.text) and _is_set(s, end - s.i):
        s.emit("INDEX", key, end - s.i)
    elif s.free and is_letter(first.text):
        end = _free_end(s)
        kind = "INDEX" if _starts_range(s) else "CALL" if s.at(end) in ("(", "[") else "NAME"
        s.emit(kind, joined(s.tokens[s.i : end]), end - s.i)
    elif square := _reciprocal_square(s, end):
        named(s, square)
    elif s.top() == "head" and s.last() in ("LT", "LE"):
        hint = "; say how far: \\sum_{1 \\le i < j \\le N}"
        raise s.fault(f"unbound symbol `{key}`{hint}", first, last)
    elif variable := _integrated(s, key):
        hint = f"an integral runs over nodes: bind `{variable}` to Nodes(points, weights)"
        raise s.fault(f"unbound symbol `{key}`; {hint}", first, last)
    else:
        known = nearest(key, [k for k, kind in s.names.kinds.items() if kind != "index"])
        raise s.fault(f"unbound symbol `{key}`{known}", first, last)


def _reciprocal_square(s: Stream, end: int) -> Match | None:
    """With ``\\sigma_n^2`` bound, ``\\sigma_n^{-2}`` is its inverse: put it so."""
    script = s.tokens[end : end + 5]
    if [t.text for t in script] != ["^", "{", "-", "2", "}"]:
        return None
    square = [*script[:2], *script[3:]]
    match = s.names.match([*s.tokens[s.i : end], *square], 0)
    if not match or match.length != end - s.i + 4:
        return None
    s.tokens[end : end + 5] = [*square, *script[:3], replace(script[3], text="1"), script[4]]
    return match


def _free_end(s: Stream) -> int:
    """Where a letter that nobody bound ends: indices stay outside, marks belong to it."""
    end = s.atom_end(s.i)
    bare = s.i + s.nucleus(s.i)
    if s.at(bare) == "_" and set(_unnamed(s, bare + 1)) <= {","}:
        end = bare
    marked = s.at(end) == "^" and s.at(end + 2) in ("*", "(", "\\dagger", "\\star")
    return s.behind_script(end, "^") if marked else end


CALLED = "\1"  # begins a token that no author can write


def settle_values(s: Stream) -> None:
    """``p(y = 1 \\mid x)`` calls what is bound as ``p(y \\mid x)``, or as ``p``, with a 1 for y."""
    for i in range(len(s.tokens) - 1, -1, -1):
        opened = s.atom_end(i) if is_letter(s.at(i)) else len(s.tokens)
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
        letter = [replace(s.tokens[i], text=CALLED + known, end=s.tokens[opened - 1].end)]
        s.tokens[i:shut] = (letter if known else s.tokens[i:opened]) + row


def declare_indices(s: Stream) -> None:
    """The running variables of sums and products are names, wherever they stand."""
    for i, token in enumerate(s.tokens):
        start = i + s.nucleus(i) if token.text in (*v.BIG, "\\mathrm") else i
        if s.at(start) != "_" or s.symbol(i) not in v.BIG:
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
                    s.names.add(joined(side), "index")
