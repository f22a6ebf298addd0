"""Statements in a form that numbers can try: indefinite integrals are differentiated."""

from __future__ import annotations

from dataclasses import replace

from checked_equations.latex import tree as t
from checked_equations.latex.builder.antiderivatives import slope

from ..numerics.ellipsis import wrapped
from .token_patterns import Pattern, texts
from .unbound_statement import NotRead


def differentiated(statement: t.Statement, latex: str) -> t.Statement:
    """`statement` with each step that has an indefinite integral differentiated by its variable.

    Raises `NotRead` for an integral along a path that is not read, and for one that stands
    where its derivative is not that of the expression around it.
    """
    steps = tuple(_step(step, latex) for step in statement.steps)
    return replace(statement, steps=steps)


_PATH = Pattern("<sign> _ <group:below> !^", sign=["\\int", "\\oint"])
_RANGES = frozenset(["<", ">", "[", "(", "\\le", "\\ge", "\\mathbb"])


def refuse_paths(latex: str) -> None:
    """Raise `NotRead` for an integral along a path: ``\\int_C``."""
    for found in _PATH.every(latex):
        if _RANGES.isdisjoint(texts(found.row[slice(*found.parts["below"])])):
            raise NotRead("the path of an integral is not read")


def with_dots(statement: t.Statement) -> t.Statement:
    """`statement` with all in which dots stand marked."""
    steps = (replace(s, left=wrapped(s.left), right=wrapped(s.right)) for s in statement.steps)
    return replace(statement, steps=tuple(steps))


def _step(step: t.Step, latex: str) -> t.Step:
    parts = [part for part in t.parts(step) if isinstance(part, t.Integral)]
    found = [part for part in parts if part.first is None]
    if not found:
        return step
    if any("_" in latex[part.span[0] : part.body.span[0]] for part in found):
        raise NotRead("the path of an integral is not read")
    keys = {key for part in found for key in part.variables}
    if len(keys) > 1:
        raise NotRead("an indefinite integral over one variable can be tried")
    (key,) = keys
    left, right = slope(step.left, key), slope(step.right, key)
    if left is None or right is None:
        raise NotRead("an indefinite integral stands inside of something")
    return replace(step, left=left, right=right)
