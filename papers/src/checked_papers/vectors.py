"""Dot and cross products of vectors, as geometry and mechanics print them.

``\\vec a \\cdot (\\vec b \\times \\vec c)``: a dot between two vectors is their inner product, and
where a cross stands between two all vectors have three components.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from checked_equations.errors import EquationError
from checked_equations.latex.names import joined, normal
from checked_equations.latex.tokenizer import Token, UnclosedError, closing, tokens

from .tried import kinds
from .tried.kinds import Kind

_BOLD = frozenset(["\\mathbf", "\\boldsymbol", "\\bm", "\\vec"])
_ACCENTS = frozenset(["\\hat", "\\dot", "\\ddot", "\\tilde", "\\bar", "\\widehat", "\\widetilde"])
_PARTS = frozenset(
    ["+", "-", "=", "&", "\\\\", ",", ";", "|", "\\|", "<", ">", "\\le", "\\ge", "\\equiv",
     "\\approx", ":=", "\\pm", "\\quad", "\\qquad"]
)  # fmt: skip
_SHUTS = {"(": ")", "[": "]"}
CROSS = r"\operatorname{cross}"
Row = Sequence[Token]


class _Unread(ValueError):
    """The operands of a sign are not clear."""


@dataclass(frozen=True)
class _Item:
    """A factor, or a sign between two: its LaTeX, and whether it is a vector or a number."""

    text: str
    sort: str  # v, s, or the sign itself


@dataclass
class _Found:
    """The vectors and products found on the way."""

    vectors: dict[str, None] = field(default_factory=dict)
    dots: int = 0
    crosses: int = 0


def with_products(latex: str) -> Iterator[tuple[str, str, Mapping[str, Kind]]]:
    """Yield the display with its products of vectors written out, a note, and the vectors.

    >>> next(with_products(r"\\vec a \\cdot \\vec b = 2"))[0]
    '\\\\langle \\\\vec a , \\\\vec b \\\\rangle = 2'
    """
    if "\\cdot" not in latex and "\\times" not in latex:
        return
    found = _Found()
    try:
        full, _ = _row(tokens(latex), found)
    except (_Unread, UnclosedError, EquationError):
        return
    if not (found.dots or found.crosses):
        return
    size = 3 if found.crosses else "n"
    known = {key: kinds.vector(size) for key in found.vectors}
    if found.crosses:
        known[normal(CROSS)] = kinds.operation(_cross)
    yield full, "a dot between vectors is their inner product" * bool(found.dots), known


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if np.size(a) != 3 or np.size(b) != 3:
        raise ValueError("a cross product is of two vectors with three components")
    return np.cross(np.ravel(a), np.ravel(b))


def _row(row: Row, found: _Found) -> tuple[str, str]:
    """A row written anew, and whether it is a sum of vectors."""
    parts: list[str] = []
    sorts: list[str] = []
    items: list[_Item] = []
    for item in (*_items(row, found), _Item("", "end")):
        if item.sort in ("part", "end"):
            written = _product(items, found)
            if items:
                sorts.append("v" if sum(one.sort == "v" for one in written) == 1 else "s")
            parts += [one.text for one in written]
            parts.append(item.text)
            items = []
        else:
            items.append(item)
    return " ".join(filter(None, parts)), "v" if sorts and set(sorts) == {"v"} else "s"


def _product(items: list[_Item], found: _Found) -> list[_Item]:
    """The factors of a product, crosses first and then dots."""
    for sign in ("\\times", "\\cdot"):
        made: list[_Item] = []
        i = 0
        while i < len(items):
            between = made and i + 1 < len(items) and items[i].sort == sign
            pair = (made[-1], items[i + 1]) if between else ()
            if pair and all(one.sort == "v" for one in pair):
                before = made[-2].sort if len(made) > 1 else ""
                chained = i + 2 < len(items) and items[i + 2].sort == "\\times"
                if before == "m" or (sign == "\\times" and chained):
                    raise _Unread
                made[-1:] = [_joined(sign, pair[0].text, pair[1].text, found)]
                i += 2
            else:
                made.append(items[i])
                i += 1
        items = made
    return items


def _joined(sign: str, one: str, two: str, found: _Found) -> _Item:
    if sign == "\\cdot":
        found.dots += 1
        return _Item(rf"\langle {one} , {two} \rangle", "s")
    found.crosses += 1
    return _Item(rf"{CROSS}({one} , {two})", "v")


def _items(row: Row, found: _Found) -> Iterator[_Item]:
    i = 0
    while i < len(row):
        item, i = _item(row, i, found)
        yield item


def _item(row: Row, i: int, found: _Found) -> tuple[_Item, int]:
    """The factor or the sign that begins at a place, and the place behind it."""
    text = row[i].text
    if text in _PARTS:
        return _Item(text, "part"), i + 1
    if text in ("\\times", "\\cdot"):
        return _Item(text, text), i + 1
    if text in _SHUTS:
        shut = closing(row, i, (text,), (_SHUTS[text],))
        inside, sort = _row(row[i + 1 : shut], found)
        return _powered(row, _Item(f"{text}{inside}{row[shut].text}", sort), shut + 1)
    if text in _BOLD | _ACCENTS and i + 1 < len(row) and row[i + 1].text == "{":
        return _letter(row, i, found)
    if text in ("\\frac", "\\sqrt") and i + 1 < len(row) and row[i + 1].text == "{":
        return _fraction(row, i, found)
    if text.startswith(("\\begin", "\\end", "\\nabla", "\\int", "\\sum", "\\partial")):
        raise _Unread
    end = closing(row, i) + 1 if text == "{" else i + 1
    matrix = len(text) == 1 and text.isupper()
    return _powered(row, _Item(joined(row[i:end]), "m" if matrix else "s"), end)


def _letter(row: Row, i: int, found: _Found) -> tuple[_Item, int]:
    """A letter in bold, with marks and scripts: a vector, or a matrix if it is a capital."""
    end = closing(row, i + 1) + 1
    inside = [one.text for one in row[i:end]]
    bold = not _BOLD.isdisjoint(inside)
    while end < len(row) and row[end].text in ("_", "'"):
        end = closing(row, end + 1) + 1 if row[end].text == "_" else end + 1
    capital = any(len(text) == 1 and text.isupper() for text in inside)
    arrow = "\\vec" in inside
    sort = ("m" if capital and not arrow else "v") if bold else "s"
    key = joined(row[i:end])
    if sort == "v":
        found.vectors[normal(key)] = None
    return _powered(row, _Item(key, sort), end)


def _fraction(row: Row, i: int, found: _Found) -> tuple[_Item, int]:
    shut = closing(row, i + 1)
    over, sort = _row(row[i + 2 : shut], found)
    if row[i].text == "\\sqrt":
        return _powered(row, _Item(rf"\sqrt{{{over}}}", "s"), shut + 1)
    end = closing(row, shut + 1)
    below, _ = _row(row[shut + 2 : end], found)
    return _powered(row, _Item(rf"\frac{{{over}}}{{{below}}}", sort), end + 1)


def _powered(row: Row, item: _Item, end: int) -> tuple[_Item, int]:
    """With its exponent, if one follows; that of a vector is not read, but for its square."""
    if end >= len(row) or row[end].text != "^":
        return item, end
    shut = closing(row, end + 1)
    power = "".join(one.text for one in row[end + 2 : shut])
    if item.sort == "v" and power == "2":
        found = rf"\langle {item.text} , {item.text} \rangle"
        return _Item(found, "s"), shut + 1
    if item.sort == "v":
        raise _Unread
    return _Item(f"{item.text}^{{{joined(row[end + 2 : shut])}}}", item.sort), shut + 1
