"""Marks that mean an operation in some fields: a prime, a bar, a star, a nabla without a letter.

``(A B)' = B' A'`` is said of transposes, ``\\overline{z w} = \\bar z \\bar w`` of conjugates, and
``\\nabla \\|x\\|^2 = 2 x`` of the derivative by x. A report says how a display that holds was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import ascii_uppercase as _CAPITALS

import numpy as np

from checked_equations.latex.names import normal

from .tried import kinds
from .tried.kinds import Kind
from .tried.token_patterns import Pattern, exchanged, is_symbol, letters_of, pieces_of, row_of

_CONJUGATE = r"\operatorname{conj}"
_BAR = Pattern("<bar> <group:inside>", bar=["\\bar", "\\overline"])
_STAR = Pattern("<letter:inside> ^ { * }")
_STARRED = Pattern("<round:inside> ^ { * }")
_NABLA = Pattern("\\nabla !<behind>", behind=["_", "^", "\\cdot", "\\times"])
# Primes as they are written: behind a symbol, or as an exponent.
_PRIMES = (Pattern("' !'"), Pattern("^ ' !'"), Pattern("^ { ' } !'"))
_OF_ARRAYS = (Pattern("<array> <prime>", array=[*_CAPITALS, ")", "]"], prime=["'"]),
              Pattern("<array> ^ ?{ '", array=[*_CAPITALS, ")", "]"]))  # fmt: skip
_CALLED = (Pattern("<function> ' (", function="fghFGH"), Pattern("' '"))
_COMPLEX = frozenset("zws")
_VARIABLES = (r"\mathbf{x}", r"\mathbf x", r"\boldsymbol{x}", r"\bm{x}", "x")


@dataclass(frozen=True)
class Mark:
    """A display with a mark written as an operation, its objects, and the operation."""

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
    pieces = pieces_of(latex) if "'" in latex or "\\prime" in latex else ()
    called = any(pattern.first(latex, pieces) for pattern in _CALLED)
    if any(pattern.first(latex, pieces) for pattern in _OF_ARRAYS) and not called:
        yield Mark(_transposed(latex), "with a prime for a transpose", arrays=True)
    if conjugated := _conjugated(latex):
        letters = {key: kinds.complex_ for key in _small(conjugated) if key in _COMPLEX}
        known = {normal(_CONJUGATE): kinds.operation(np.conj), **letters}
        yield Mark(conjugated, "with a bar or a star for the complex conjugate", known)
    if "\\nabla_x" in why and (key := next((one for one in _VARIABLES if one in latex), "")):
        below = rf"\nabla_{{{key}}} "
        yield Mark(_NABLA.put(latex, lambda _: below), f"with the derivative by {key}")


def _transposed(latex: str) -> str:
    """Return `latex` with ``^\\top`` for each prime behind a symbol or a bracket."""
    pieces = pieces_of(latex)
    edits = []
    for i in range(1, len(pieces)):
        found = next(filter(None, (one.at(latex, pieces, i) for one in _PRIMES)), None)
        before = pieces[i - 1].text
        if found and (before in (")", "]", "}") or is_symbol(before)):
            start = pieces[i - 1].end
            edits.append(((start, pieces[found.end - 1].end), r"^\top "))
    return exchanged(latex, edits)


def _conjugated(latex: str) -> str:
    """Return the display with conjugates for bars and stars, or an empty text without a z."""
    marked = any(sign in latex for sign in ("*", "\\ast", "\\bar", "\\overline"))
    if not marked or _COMPLEX.isdisjoint(_small(latex)):
        return ""
    full = latex
    for pattern in (_BAR, _STARRED, _STAR):
        while found := pattern.first(full):
            if found.span is None:
                return ""
            full = exchanged(full, [(found.span, f"{_CONJUGATE}({found['inside'].strip()})")])
    return full if full != latex else ""


def _small(latex: str) -> list[str]:
    return [letter for letter in letters_of(row_of(latex)) if letter.islower()]
