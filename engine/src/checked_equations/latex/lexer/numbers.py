"""Numbers: their points, and the groups of digits that a thin space parts."""

from __future__ import annotations

from .stream import Stream


def number(s: Stream) -> None:
    """Read a number, which may begin with its point: ``.5``."""
    if s.last() == "NUMBER":
        raise s.fault("two numbers side by side print as one: write \\cdot")
    i = _digits_end(s, s.i)
    text = "".join(t.text for t in s.tokens[s.i : i])
    while group := _group_of_digits(s, i, text):
        text, i = text + group, i + len(group)
    if text.count(".") > 1:
        raise s.fault(f"`{text}` is no number", s.tokens[s.i], s.tokens[i - 1])
    s.emit("NUMBER", text, i - s.i)


def _digits_end(s: Stream, i: int) -> int:
    """Behind the digits that begin at place `i`, with a point among them."""
    i += 1
    while s.at(i + (s.at(i) == ".")).isdecimal() and s.tokens[i].start == s.tokens[i - 1].end:
        i += 1
    return i


_THIN = ("\\,", "\\;", "\\:", "\\ ", "~")


def _group_of_digits(s: Stream, i: int, text: str) -> str:
    """The next group of digits of one number: ``10\\,000``, ``1.77245\\;38509``; or nothing.

    Before a point groups have three digits, or five with a wide space. Behind a point all groups
    but the last have three digits, or all have five.
    """
    between = s.latex[s.tokens[i - 1].end : s.tokens[i].start] if i < len(s.tokens) else ""
    group = "".join(t.text for t in s.tokens[i : _digits_end(s, i)]) if between else ""
    if not group.isdecimal():
        return ""
    _, point, digits = text.partition(".")
    if not point:
        between = between.strip()
        fits = (between in _THIN and len(group) == 3) or (between == "\\;" and len(group) == 5)
        return group if fits else ""
    size = next((n for n in (5, 3) if digits and len(digits) % n == 0), 0)
    return group if 0 < len(group) <= size else ""
