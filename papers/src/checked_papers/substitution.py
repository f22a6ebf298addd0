"""Symbols replaced by their definitions."""

from __future__ import annotations

from collections.abc import Sequence

from .tried.token_patterns import occurrences, put_for, row_of, texts

_MOST = 3  # definitions that stand on each other


def substituted(latex: str, definitions: Sequence[str]) -> str:
    """`latex` with each symbol of `definitions`, as ``K = A + B``, replaced by its definition.

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
    symbol = row_of(name)
    if not symbol or not meant or not {"(", "^"}.isdisjoint(texts(symbol)):
        return latex
    if occurrences(row_of(meant), name):
        return latex
    return put_for(latex, name, f"\\left({meant}\\right)", unless="_'")
