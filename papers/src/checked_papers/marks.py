"""Marks that mean an operation in some fields: a prime, a bar, a star, a nabla without a letter.

``(A B)' = B' A'`` is said of transposes, ``\\overline{z w} = \\bar z \\bar w`` of conjugates, and
``\\nabla \\|x\\|^2 = 2 x`` of the derivative by x. What holds so is told, and how it was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from checked_equations.latex.names import normal

from .sources.commands import group
from .tried import kinds
from .tried.kinds import Kind

_CONJUGATE = r"\operatorname{conj}"
_PRIMED = re.compile(
    r"(?<=[A-Za-z)\]}])\s*(?:'|\^\s*(?:\{\s*\\prime\s*\}|\\prime(?![A-Za-z])))(?!')"
)
_OF_ARRAYS = re.compile(r"(?:[A-Z]|\)|\])\s*(?:\\right\s*\)\s*)?(?:'|\^\s*\{?\s*\\prime)")
_CALLED = re.compile(r"(?<![A-Za-z\\])[fghFGH]'+\s*(?:\\left)?\(|''")
_BAR = re.compile(r"\\(?:bar|overline)(?![A-Za-z])\s*(?=\{)")
_LONE_BAR = re.compile(r"\\(?:bar|overline)\s+([A-Za-z])(?![A-Za-z])")
_STAR = re.compile(
    r"((?<![A-Za-z\\])[A-Za-z]|\))\s*\^\s*(?:\{\s*(?:\*|\\ast)\s*\}|\*|\\ast(?![A-Za-z]))"
)
_LETTER = re.compile(r"(?<![A-Za-z\\])[a-z](?![A-Za-z])")
_COMPLEX = frozenset("zws")
_NABLA = re.compile(r"\\nabla(?![A-Za-z])(?!\s*(?:_|\^|\\cdot|\\times))")
_VARIABLES = (r"\mathbf{x}", r"\mathbf x", r"\boldsymbol{x}", r"\bm{x}", "x")


@dataclass(frozen=True)
class Mark:
    """A display with a mark written as the operation, what is said of it, and what that is."""

    latex: str
    said: str
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    arrays: bool = False


def with_marks(latex: str, why: str) -> Iterator[Mark]:
    """The readings of `latex`, which is not read for the reason `why`.

    >>> next(with_marks("(A B)' = B' A'", "")).latex
    '(A B)^\\\\top  = B^\\\\top  A^\\\\top '
    >>> next(with_marks(r"\\overline{z w} = \\bar z \\bar w", "")).latex
    '\\\\operatorname{conj}(z w) = \\\\operatorname{conj}(z) \\\\operatorname{conj}(w)'
    """
    if _OF_ARRAYS.search(latex) and not _CALLED.search(latex):
        yield Mark(_PRIMED.sub(r"^\\top ", latex), "with a prime for a transpose", arrays=True)
    if conjugated := _conjugated(latex):
        letters = {key: kinds.complex_ for key in _LETTER.findall(conjugated) if key in _COMPLEX}
        known = {normal(_CONJUGATE): kinds.operation(np.conj), **letters}
        yield Mark(conjugated, "with a bar or a star for the complex conjugate", known)
    if "\\nabla_x" in why and (key := next((one for one in _VARIABLES if one in latex), "")):
        below = rf"\\nabla_{{{key}}} ".replace("\\\\", "\\")
        yield Mark(_NABLA.sub(lambda _: below, latex), f"with the derivative by {key}")


def _conjugated(latex: str) -> str:
    """With the conjugate of what stands below bars and before stars; nothing without a z."""
    full = _LONE_BAR.sub(rf"{_escaped(_CONJUGATE)}(\1)", latex)
    while (match := _BAR.search(full)) and (part := group(full, match.end())):
        inside, end = part
        full = f"{full[: match.start()]}{_CONJUGATE}({inside}){full[end:]}"
    while match := _STAR.search(full):
        start = match.start(1) if match[1] != ")" else _opened(full, match.start(1))
        if start < 0:
            return ""
        inside = full[start : match.end(1)].strip()
        inside = inside[1:-1] if match[1] == ")" else inside
        full = f"{full[:start]}{_CONJUGATE}({inside}){full[match.end() :]}"
    letters = _COMPLEX.intersection(_LETTER.findall(full))
    return full if full != latex and letters else ""


def _escaped(latex: str) -> str:
    return latex.replace("\\", "\\\\")


def _opened(latex: str, shut: int) -> int:
    """Where the bracket is opened that is closed there; -1 where it is none of its kind."""
    depth = 0
    for i in range(shut, -1, -1):
        depth += (latex[i] == ")") - (latex[i] == "(")
        if not depth:
            return -1 if latex[:i].rstrip().endswith("\\left") else i
    return -1
