"""Canonical tokens to the words of the grammar: names, signs that open, signs that close.

LaTeX says less than the grammar needs: whether ``|`` opens or closes, whether a line break
ends a statement, whether ``_i`` is an index or part of a name. That is settled here, with
the bound names at hand, so that the grammar itself stays free of special cases.
"""

from __future__ import annotations

from collections.abc import Callable

from lark import Token as Word

from .. import vocabulary as v
from ..names import Names, joined, nearest
from ..tokenizer import Token
from . import atoms, brackets, calculus
from .numbers import number
from .probabilities import settle_probabilities
from .stream import Stream


def lex(latex: str, names: Names, *, free: bool = False, lower: bool = False) -> list[Word]:
    """Return the words of `latex`; with `free`, unbound letters are names too.

    Of each ``\\pm`` and ``\\mp`` it is the upper sign, or the `lower`.
    """
    s = Stream(latex, names, free, lower=lower)
    settle_probabilities(s)
    atoms.declare_indices(s)
    atoms.declare_averaged(s)
    calculus.declare_points(s)
    atoms.settle_values(s)
    while s.i < len(s.tokens):
        _one(s)
    if s.stack:
        raise s.fault("this is never closed", s.stack[-1][1])
    return s.out


def _one(s: Stream) -> None:
    token = s.tokens[s.i]
    if token.wide:
        brackets.wide_space(s)
    if calculus.differential(s):
        return
    atoms.prime_behind(s)
    match = atoms.marked(s, s.names.match(s.tokens, s.i))
    begins = token.text[:1] if token.text < " " else token.text[: token.text.find("{") + 1]
    if match and match.kind == "word":
        s.emit("FUNC", match.key, match.length)
    elif match:
        atoms.named(s, match)
    elif token.text == "|" and calculus.is_point(s, s.i):
        calculus.point(s)
    elif handle := _HANDLERS.get(token.text) or _BEGINS.get(begins):
        handle(s)
    elif token.text in v.OPERATORS:
        _operator(s, token)
    elif token.text.isdecimal():
        number(s)
    elif token.text in v.RELATIONS:
        _relation(s, token.text)
    else:
        _vocabulary(s, s.symbol(s.i))


def _vocabulary(s: Stream, word: str) -> None:
    length = s.nucleus(s.i)
    end = s.atom_end(s.i)
    space = joined(s.tokens[s.i : end]) if s.condition and s.last() == "IN" else ""
    follows = s.text(length)
    if space in v.SPACES:
        s.emit("SPACE", space, end - s.i)
    elif word in v.BIG and follows == "_":
        s.lead("BIG", v.BIG[word], "head", length)
    elif word in v.FUNCTIONS:
        _function(s, v.FUNCTIONS[word], length)
    elif atoms.is_average(s, s.i):
        atoms.expectation(s, v.EXPECTATIONS[word], length)
    elif word in v.CONSTANTS and (word != "e" or follows == "^" or _is_euler(s)):
        s.emit("CONSTANT", v.CONSTANTS[word], length)
    elif word in v.INDICATORS and follows in v.OPEN:
        s.emit("_INDICATOR", word, length)
    elif word in _WORDS:
        s.emit(_WORDS[word], word)
    elif word == "'":
        _prime(s)
    elif word == "\\dots" and (s.condition or s.top() == "\\{set"):  # `i = 1, \dots, N`
        s.emit("DOTS", word)
    else:
        atoms.unknown(s)


def _limit(s: Stream) -> None:
    if s.text(1) != "_":
        raise s.fault("write where the limit is taken: \\lim_{x \\to 0}")
    s.lead("LIMIT", "\\lim", "head")


def _prime(s: Stream) -> None:
    """Read a prime that is no part of a name: the transpose of the brackets before it."""
    symbol = s.last() == "NAME" or (s.last() == "_RB" and s.closed == "index")
    if s.text(1) == "'" or not (symbol or s.last() in ("_RPAR", "_ENDBLOCK")):
        raise s.fault("a prime belongs to a bound name")
    s.emit("TRANSPOSE", "'")


def _is_euler(s: Stream) -> bool:
    """Return whether a plain unbound ``e`` is the number: behind a function word, or alone."""
    if s.free or s.text(1) in ("_", "'", "("):
        return False
    behind_a_word = s.last() in ("FUNC", "_FPAR")
    opened = s.last() in ("", "_STOP", "REL") or (s.last() == "_LB" and s.top() == "brace")
    ended = s.text(1) in ("", "}", ",", ".", "\\\\", "&", *v.RELATIONS)
    return behind_a_word or (opened and ended)


def _operator(s: Stream, token: Token) -> None:
    placeholder = token.text == "\\cdot" and s.text(1) in (")", ",", "]")
    if placeholder and s.last() not in v.ENDS_AN_OPERAND and s.free:
        return s.emit("NAME", "\\cdot")
    function = s.last() == "NAME" and s.names.kinds.get(s.out[-1].value) == "callable"
    if token.text == "\\circ" and function:
        raise s.fault("`\\circ` of functions is not part of the language: write f(g(x))", token)
    if token.text == "\\times" and s.top() == "shape":
        return s.emit("BY", token.text)
    return s.emit(v.OPERATORS[token.text], token.text)


def _relation(s: Stream, text: str) -> None:
    s.given = False
    if s.last() in ("", "_STOP") and not s.stack:
        raise s.fault("a display or a statement begins with a relation: write its left side again")
    if s.last() == "REL":
        raise s.fault("two relations side by side: write \\le or \\ge, or one of them")
    if s.top().endswith("average") and s.last() == "INDEX" and text == "=":
        s.emit("EQ", text)
    elif s.top() == "head" and text in v.RANGES:
        s.emit(v.RANGES[text], text)
    elif s.condition and text == "\\in":
        s.emit("IN", text)
    else:
        s.emit("REL", DEFINING.get(text, text))


DEFINING = {"\\triangleq": ":=", "\\equiv": ":="}


def _colon(s: Stream) -> None:
    if s.text(1) != "=":
        raise s.fault("`:` is not part of the language")
    s.emit("REL", ":=", 2)


def _function(s: Stream, name: str, length: int) -> None:
    if name in v.INVERSES and [s.text(length + i) for i in range(5)] == [*"^{-1}"]:
        return s.emit("FUNC", v.INVERSES[name], length + 5)
    if name != "log" or s.text(length) != "_":
        return s.emit("FUNC", name, length)
    opened = s.i + length + 1
    inside = s.content(opened)
    base = "".join(t.text for t in inside)
    if not base.isdigit() and (len(inside) != 1 or not base.lstrip("\\").isalpha()):
        raise s.fault("the base of a logarithm must be a number or a symbol", s.tokens[opened])
    return s.emit("FUNC", f"log_{base}", s.group_end(opened) + 1 - s.i)


def _power(s: Stream) -> None:
    opened = s.i + 1
    end = s.group_end(opened)
    content = joined(s.tokens[opened + 1 : end])
    length = end - s.i + 1
    # something in brackets and nothing else, `A^{(i)}`
    bracketed = s.at(opened + 1) in ("(", "[") and brackets.matching(s, opened + 1) == end - 1
    mark = content.removeprefix("-").strip()
    if s.last() == "_RB" and s.closed in (
        "head",
        "limit",
    ):  # the end of a range, as the T of 1 to T
        s.lead("_POW", "^")
    elif s.last() == "SPACE":
        s.lead("_POW", "^", "shape")
    elif s.top() == "head" and content in ("+", "-"):
        s.emit("SIDE", content, length)
    elif mark in v.TRANSPOSES - s.names.kinds.keys():
        s.emit("TRANSPOSE" if mark == content else "INVTRANS", content, length)
    elif content == "-1":
        s.emit("INVERSE", "-1", length)
    elif content in v.MARKS:
        _unknown_power(s, end)
    elif bracketed and s.last() in ("NAME", "_RB") and _is_index(s, opened + 2, end - 1):
        del s.tokens[end - 1], s.tokens[opened + 1]
        s.lead("_PLACE", "^", "index")
    elif bracketed and s.last() not in ("NUMBER", "CONSTANT"):
        _unknown_power(s, end, "; a superscript in brackets is part of a name, and no power")
    else:
        s.lead("_POW", "^", "power" if s.last() == "FUNC" else "brace")


def _is_index(s: Stream, start: int, end: int) -> bool:
    """Return whether the tokens from `start` to `end` are one running variable."""
    match = s.names.match(s.tokens[start:end], 0) if start < end else None
    return match is not None and match.kind == "index" and match.length == end - start


def _unknown_power(s: Stream, end: int, hint: str = "") -> None:
    last = (s.out[-1].start_pos if s.out else None) or 0
    start = next((i for i in range(s.i, 0, -1) if s.tokens[i].start <= last), 0)
    if s.tokens[start].text == "{":  # nothing stands before the mark
        start += 1
    key = joined(s.tokens[start : end + 1])
    problem = f"unbound symbol `{key}`{hint or nearest(key, s.names.kinds)}"
    raise s.fault(problem, s.tokens[start], s.tokens[end])


def _subscript(s: Stream) -> None:
    if s.last() not in (*v.ENDS_AN_OPERAND, "INT"):
        raise s.fault("a subscript cannot stand here")
    s.lead("_SUB", "_", "limit" if s.last() == "INT" else "index")


def _called(s: Stream) -> None:
    s.emit("CALL", s.text().removeprefix(atoms.CALLED))


_WORDS = {"\\partial": "_PARTIAL", "\\binom": "_BINOM", "\\sqrt": "_SQRT", "\\root": "_ROOT"}
_HANDLERS: dict[str, Callable[[Stream], None]] = {
    "\\lim": _limit,
    "\\left.": calculus.open_point, "\\frac": calculus.fraction, "\\int": calculus.integral,
    "\\nabla": calculus.nabla, "{": lambda s: s.open("_LB", "brace"), "}": brackets.close_brace,
    "\\langle": brackets.open_angle, "\\rangle": brackets.close_angle,
    **dict.fromkeys(v.ROUNDED, brackets.open_rounded),
    **dict.fromkeys(["\\rfloor", "\\rceil"], brackets.close_rounded),
    "|": brackets.bar, "\\|": brackets.bar, "^": _power, "_": _subscript,
    ",": brackets.separator, ";": brackets.separator, ".": brackets.point, ":": _colon,
    "\\\\": brackets.row, "&": brackets.ampersand, "\\forall": brackets.for_all,
    **dict.fromkeys(v.OPEN, brackets.open), **dict.fromkeys(v.CLOSE, brackets.close),
}  # fmt: skip
_BEGINS: dict[str, Callable[[Stream], None]] = {
    atoms.UNDER: atoms.under, atoms.CALLED: _called, "\\text{": brackets.phrase,
    "\\begin{": brackets.environment, "\\end{": brackets.environment,
}  # fmt: skip
