"""The domain of an integral, written as limits: an interval, the real line, ``x > 0``."""

from __future__ import annotations

from ..names import joined
from ..tokenizer import Token, closing, split
from .stream import Stream

Row = list[Token]
Limits = tuple[str, Row | None, Row | None]  # of which variable, from, to; none is infinite

LINES = {  # whether they begin at zero
    "\\mathbb R": False, "\\mathbb R_+": True, "\\mathbb R_{>0}": True, "\\mathbb R_{\\ge0}": True
}  # fmt: skip
_UP, _DOWN = frozenset({"<", "\\le"}), frozenset({">", "\\ge"})


def limits(s: Stream) -> str:
    """Put both limits in place of the domain that stands below; the variable it names, if any."""
    opened = s.i + 1
    end = s.group_end(opened)
    content, dimension = _without_power(s.content(opened))
    known = _interval(s, content) or _conditions(s, content)
    if known is None and s.free:
        s.i = end + 1
        return ""
    if known is None:
        allowed = "an integral has both its limits, or one such as `[0, 1]`, `x > 0`, `\\mathbb R`"
        problem = f"`{joined(content)}` is no domain that can be tested: {allowed}"
        ends = content or [s.tokens[opened]]
        raise s.fault(problem, ends[0], ends[-1])
    key, low, high = known

    def put(*texts: str) -> Row:  # what is put in stands for all of the domain
        return [Token(text, content[0].start, content[-1].end) for text in texts]

    first = [*put("_", "{"), *(low or put("-", "\\infty")), *put("}")]
    last = [*put("^", "{"), *(high or put("\\infty")), *put("}")]
    s.tokens[s.i : end + 1] = [*first, *last, *(put("^") if dimension else []), *dimension]
    return key


def _without_power(content: Row) -> tuple[Row, Row]:
    """The domain, and the group above it: ``[0, 1]`` and ``{d}`` of ``[0, 1]^d``."""
    hats = [i for i, token in enumerate(content) if token.text == "^"]
    if not hats or closing(content, hats[-1] + 1) != len(content) - 1:
        return content, []
    base = content[: hats[-1]]
    space = base[-1:] and (base[-1].text in (")", "]") or joined(base).endswith("\\mathbb R"))
    return (base, content[hats[-1] + 1 :]) if space else (content, [])


def _interval(s: Stream, content: Row) -> Limits | None:
    """``[0, 1)``, ``\\mathbb R``, each perhaps behind ``x \\in``."""
    parts, signs = split(content, {"\\in"})
    key = _variable(s, parts[0]) if signs else ""
    target = parts[-1]
    if len(parts) > 2 or not target or (signs and not key):
        return None
    space = joined(target)
    if space in LINES and space not in s.names.kinds:
        low = [Token("0", target[0].start, target[-1].end)] if LINES[space] else None
        return key, low, None
    if target[0].text not in "([" or target[-1].text not in ")]":
        return None
    ends, commas = split(target[1:-1], {","})
    if len(commas) != 1:
        return None
    return key, ends[0], ends[1]


def _conditions(s: Stream, content: Row) -> Limits | None:
    """``x > 0``, ``0 \\le x``, ``0 < x < 1``: an order of the variable and its limits."""
    parts, signs = split(content, _UP | _DOWN)
    falls = {sign.text in _DOWN for sign in signs}
    if len(falls) != 1 or len(parts) > 3:
        return None
    parts = parts[::-1] if falls == {True} else parts
    place = 0 if len(parts) == 2 and _variable(s, parts[0]) else 1
    key = _variable(s, parts[place])
    if not key:
        return None
    below, above = parts[:place], parts[place + 1 :]
    return key, below[0] if below else None, above[0] if above else None


def _variable(s: Stream, row: Row) -> str:
    """The variable that `row` is and nothing else, or nothing."""
    match = s.names.match(row, 0) if row else None
    if match:
        return match.key if match.kind == "nodes" and match.length == len(row) else ""
    return joined(row) if s.free and len(row) == 1 else ""
