"""Asymptotic expansions: ``f(z) \\sim \\sum_k a_k z^{-k}`` is an equality far out, nearly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checked_equations.latex import tree as t

from .letter_conventions import letter
from .unbound_statement import Reading, mentions

_INFINITY = t.Constant("\\infty")
_FIRST = ("z", "x", "w", "s", "y", "t")  # the variable, by custom


def expanded(body: Reading) -> Reading:
    """`body` as a statement on a variable that is large, if it is an expansion."""
    steps = body.statement.steps
    series = [part for step in steps if step.relation == "\\sim" for part in _series(step)]
    keys = [key for key in body.symbols if any(mentions(part.body, key) for part in series)]
    variable = min(keys, key=by_rank, default="")
    if not variable or by_rank(variable) == len(_FIRST):
        return body
    even = tuple(replace(s, relation="=") if s.relation == "\\sim" else s for s in steps)
    return replace(body, statement=replace(body.statement, steps=even), far=variable)


def _series(step: t.Step) -> Sequence[t.Reduction]:
    parts = (part for part in t.parts(step) if isinstance(part, t.Reduction))
    return [part for part in parts if part.kind == "sum" and part.over.last == _INFINITY]


def by_rank(key: str) -> int:
    """The place of a symbol among those that are the variable, by custom."""
    own = letter(key)
    return _FIRST.index(own) if own in _FIRST else len(_FIRST)
