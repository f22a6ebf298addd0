"""What a symbol stands for, written in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checked_equations.errors import EquationError
from checked_equations.latex.tokenizer import tokens

_MOST = 3  # definitions that stand on each other


def substituted(latex: str, definitions: Sequence[str]) -> str:
    """`latex` with each symbol of `definitions`, as ``K = A + B``, replaced by what it is.

    >>> substituted(r"K_y^{-1} K_{y}", ["K_y = K + I"])
    '\\\\left(K + I\\\\right)^{-1} \\\\left(K + I\\\\right)'
    """
    for _ in range(_MOST):
        before = latex
        for definition in definitions:
            name, _, meant = definition.partition("=")
            latex = _replaced(latex, name.strip().rstrip(":"), meant.strip().rstrip(".,;"))
        if latex == before:
            break
    return latex


def _replaced(latex: str, name: str, meant: str) -> str:
    form = _form(name)
    if not form or not meant or re.search(form, meant):
        return latex
    return re.sub(form, lambda match: f"\\left({meant}\\right)", latex)


def _form(name: str) -> str:
    """A pattern for a symbol, with its subscript in braces or without."""
    try:
        written = [token.text for token in tokens(name)]
    except EquationError:
        return ""
    if not written or "(" in written or "^" in written:
        return ""
    parts = [re.escape(one) for one in written]
    loose = r"\s*".join({r"\{": r"\{?", r"\}": r"\}?"}.get(part, part) for part in parts)
    first = r"(?<![A-Za-z\\])" if written[0][0].isalpha() else ""
    behind = r"(?![A-Za-z_'])" if "_" not in written else r"(?![A-Za-z'])"
    return first + loose + behind
