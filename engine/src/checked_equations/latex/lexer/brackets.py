"""Brackets, bars and norms: what opens and what closes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from .. import vocabulary as v
from ..names import joined
from ..tokenizer import Token, closing
from .lines import separator
from .stream import Stream


def matching(s: Stream, opened: int) -> int:
    """The place of the bracket that closes the one at `opened`."""
    try:
        return closing(s.tokens, opened, v.OPEN, v.CLOSE)
    except ValueError:
        raise s.fault("this is never closed", s.tokens[opened]) from None


def open_brace(s: Stream) -> None:
    """Open braces of no script."""
    s.push("brace")
    s.emit("_LB", "{")


def close_brace(s: Stream) -> None:
    """Close the braces that are open."""
    if s.top() not in ("brace", "index", "head", "shape"):
        raise s.fault("this is never closed", s.stack[-1][1])
    s.stack.pop()
    s.emit("_RB", "}")


def open(s: Stream) -> None:
    """Open ``(``, ``[`` or ``\\{``: of a group, a call, an average, a set, an interval."""
    token = s.tokens[s.i]
    if token.side == "close":
        return close(s)
    if s.last() == "IN" and token.text == "\\{":
        s.push("\\{set")
        return s.emit("_LSET", token.text)
    if s.last() == "IN" and s.top() != "head":
        s.push("interval")
        return s.emit("LINTERVAL", token.text)
    # the brace just closed was the exponent of a function word: \cos^2(x)
    powered = s.last() == "_RB" and (_before_brace(s), _before_brace(s, 2)) == ("_POW", "FUNC")
    function = s.last() == "FUNC" or powered
    averaged = s.last() in v.AVERAGES or (s.last() == "_RB" and _before_brace(s) == "UNDER")
    kind = "average" if averaged else "call" if s.last() == "CALL" else "group"
    s.push(token.text + kind)
    return s.emit("_FPAR" if function else "_LPAR", token.text)


def _before_brace(s: Stream, back: int = 1) -> str:
    """The word before the brace just closed, or that many words before."""
    depth = 0
    for place in range(len(s.out) - 1, back - 1, -1):
        depth += {"_RB": 1, "_LB": -1}.get(s.out[place].type, 0)
        if depth == 0:
            return s.out[place - back].type
    return ""


def close(s: Stream) -> None:
    """Close the bracket that is open, which must be of this kind."""
    token = s.tokens[s.i]
    opened = v.CLOSE.get(token.text)
    top = s.top()
    if top == "interval" and token.text in (")", "]"):
        s.stack.pop()
        return s.emit("RINTERVAL", token.text)
    if not top.startswith(opened or " "):
        culprit = s.stack[-1][1] if s.stack else token
        problem = f"`{culprit.text}` and `{token.text}` do not match"
        raise s.fault(problem if s.stack else f"`{token.text}` closes nothing", culprit)
    s.stack.pop()
    return s.emit("_RSET" if top.endswith("set") else "_RPAR", token.text)


def bar(s: Stream) -> None:
    """Read ``|``: it opens or closes bars, or stands between two things."""
    closes = s.top() == "|" and s.last() in v.ENDS_AN_OPERAND
    if closes or not _is_pair(s.tokens[s.i : s.i + 2]):
        return double_bar(s, "|")
    first, second = s.tokens[s.i : s.i + 2]  # `||`, but not that of |A||B|
    s.tokens[s.i : s.i + 2] = [replace(first, text="\\|", end=second.end)]
    return double_bar(s)


def _is_pair(two: list[Token]) -> bool:
    bare = [token for token in two if token.text == "|" and not token.side]
    return len(bare) == 2 and bare[0].end == bare[1].start


def double_bar(s: Stream, text: str = "\\|") -> None:
    """Read ``\\|``: it opens or closes a norm, or stands between two things."""
    role = s.tokens[s.i].side or _role(s, text)
    if role == "open":
        s.push(text)
        s.emit("_LBAR" if text == "|" else "_LNORM", text)
    elif role != "close":
        separator(s, text)
    elif _shut(s, text) == "|":
        s.emit("_RBAR", "|")
    elif s.text(1) == "_":
        opened = s.i + 2
        s.emit("RNORM", joined(s.content(opened)), s.group_end(opened) - s.i + 1)
    else:
        s.emit("RNORM", "2")


def _role(s: Stream, text: str) -> str:
    if s.last() not in v.ENDS_AN_OPERAND:
        return "open"
    if s.top() == text:
        return "close"
    if s.top().endswith("average"):  # an odd number of bars follows before its bracket is closed
        depth = bars = 0
        for token in s.tokens[s.i + 1 :]:
            depth += (token.text in v.OPEN) - (token.text in v.CLOSE)
            bars += token.text == text and token.side != "middle"
            if depth < 0:
                break
        return "open" if bars % 2 == 1 else "middle"
    behind = range(s.i + 1, len(s.tokens))
    double = text == "\\|"
    followed = any(s.at(i) == text or (double and _is_pair(s.tokens[i : i + 2])) for i in behind)
    return "middle" if s.top().endswith("call") or not followed else "open"


def _shut(s: Stream, text: str) -> str:
    if s.top() != text:
        raise s.fault(f"`{s.text()}` closes nothing", s.tokens[s.i])
    return s.stack.pop()[0]


def open_angle(s: Stream) -> None:
    """Read ``\\langle``."""
    shut = 0
    with suppress(ValueError):
        shut = closing(s.tokens, s.i, ("\\langle",), ("\\rangle",))
    if shut and not any(t.text in (",", "|", ";", "\\|") for t in s.tokens[s.i : shut]):
        problem = "angles around one thing: write \\mathbb E[...] for an average"
        raise s.fault(problem, s.tokens[s.i], s.tokens[shut])
    s.push("\\langle")
    s.emit("_LANGLE", "\\langle")


def close_angle(s: Stream) -> None:
    """Read ``\\rangle``."""
    _shut(s, "\\langle")
    s.emit("_RANGLE", "\\rangle")
