"""Statements in a form that numbers can try: indefinite integrals are differentiated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..evaluate.ellipsis import wrapped
from ..latex import tree as t
from .reading import NotRead


def differentiated(statement: t.Statement, latex: str) -> t.Statement:
    """`statement` with each step that has an indefinite integral differentiated by its variable.

    Raises `NotRead` for an integral along a path that is not read, and for one that stands
    where its derivative is not that of what is around it.
    """
    steps = tuple(_step(step, latex) for step in statement.steps)
    return replace(statement, steps=steps)


_PATH = re.compile(r"\\o?int\s*_\s*(\{(?:[^{}]|\{[^{}]*\})*\}|\\?[A-Za-z0-9]+)(?!\s*\^)")


def refuse_paths(latex: str) -> None:
    """Raise `NotRead` for an integral along a path: ``\\int_C``."""
    for found in _PATH.finditer(latex):
        if not re.search(r"[<>\[(]|\\(le|ge|mathbb)", found[1]):
            raise NotRead("the path of an integral is not read")


def with_dots(statement: t.Statement) -> t.Statement:
    """`statement` with all in which dots stand marked."""
    steps = (replace(s, left=wrapped(s.left), right=wrapped(s.right)) for s in statement.steps)
    return replace(statement, steps=tuple(steps))


def indefinite(node: t.Node) -> Iterator[t.Integral]:
    """The integrals without limits below `node`."""
    for _, part in t.walk(node):
        if isinstance(part, t.Integral) and part.first is None:
            yield part


def _step(step: t.Step, latex: str) -> t.Step:
    found = list(indefinite(step))
    if not found:
        return step
    if any("_" in latex[part.span[0] : part.body.span[0]] for part in found):
        raise NotRead("the path of an integral is not read")
    keys = {key for part in found for key in part.variables}
    if len(keys) > 1:
        raise NotRead("an indefinite integral over one variable can be tried")
    (key,) = keys
    return replace(step, left=_slope(step.left, key), right=_slope(step.right, key))


def _slope(node: t.Node, key: str) -> t.Node:
    """The derivative of `node` by `key`."""
    if isinstance(node, t.Integral) and node.first is None:
        return unbound(node.body, key)
    if isinstance(node, t.Sum):
        return replace(node, terms=tuple(_slope(term, key) for term in node.terms))
    if not any(True for _ in indefinite(node)):
        free = any(isinstance(p, t.Name) and p.key == key for _, p in t.walk(node))
        return t.Derivative(node, t.Name(key), span=node.span) if free else t.Number(0.0)
    if isinstance(node, t.Product):
        bearing = [any(True for _ in indefinite(factor)) for factor in node.factors]
        others = [f for f, has in zip(node.factors, bearing, strict=True) if not has]
        moves = any(getattr(p, "key", "") == key for f in others for _, p in t.walk(f))
        if sum(bearing) == 1 and not moves:
            factors = zip(node.factors, bearing, strict=True)
            return replace(node, factors=tuple(_slope(f, key) if has else f for f, has in factors))
    raise NotRead("an indefinite integral stands inside of something")


def unbound(node: t.Node, key: str) -> t.Node:
    """`node` with the running variable `key` as a symbol."""
    if isinstance(node, t.Index):
        return t.Name(key, span=node.span) if node.key == key else node
    return t.mapped(node, lambda part: unbound(part, key))
