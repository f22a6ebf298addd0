"""Names that a reader could take for something else than what is bound to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from ..errors import EquationError
from ..evaluate.evaluator import Evaluator
from ..evaluate.values import conform, kind
from ..latex.names import DISTRIBUTIONS
from ..latex.parser import parse_expression
from ..latex.tokenizer import FONTS, closing, tokens
from ..latex.tree import (
    Apply,
    Integral,
    Inverse,
    Name,
    Node,
    Power,
    Reduction,
    Subscript,
    Transpose,
    Under,
    walk,
)

__all__ = ["refuse_name_clashes"]


def refuse_name_clashes(latex: str, statement: Node, drawn: Sequence[Mapping[str, Any]]) -> None:
    """Raise `EquationError` for a name with a second meaning.

    With ``\\sigma_n`` and ``\\sigma_n^2`` both bound, one must be the square of the other, and
    ``x_1`` an entry of ``x`` (but ``K_1`` may be one of several matrices that make up ``K``);
    with a running variable ``i``, a symbol ``x_i`` that does not run is no ``x_i``.
    """
    for bound in drawn:
        for key in bound:
            _refuse_other_reading(latex, key, bound)
    _refuse_average_and_integral(latex, statement)
    drawn_from = {k for k, value in drawn[0].items() if kind(value) in DISTRIBUTIONS}
    for _, node in walk(statement):
        if isinstance(node, Reduction):
            _refuse_standing(latex, node, drawn_from)


def _refuse_average_and_integral(latex: str, statement: Node) -> None:
    """The nodes of a distribution are no rule for an integral: the density would be lost."""
    parts = [part for _, part in walk(statement)]
    averaged = {part.distribution for part in parts if isinstance(part, Under)}
    for part in parts:
        both = averaged.intersection(part.variables if isinstance(part, Integral) else ())
        if both:
            (key, *_) = both
            problem = f"`{key}` stands under an average and under an integral"
            hint = f"bind the distribution to a name of its own, such as `q({key})`"
            raise EquationError(f"{problem}: {hint}", latex, part.span)


def _refuse_other_reading(latex: str, key: str, bound: Mapping[str, Any]) -> None:
    kinds = {k: kind(value) for k, value in bound.items()}
    if kinds.pop(key) != "value" or not {"^", "_"} & set(key):
        return
    evaluator = Evaluator(bound, key)
    value = conform(bound[key])
    try:
        node = parse_expression(key, kinds)
        read = evaluator.value(node)
        entry = isinstance(node, Subscript) and evaluator.value(node.base).ndim > 0
    except EquationError:
        return
    scripted = isinstance(node, Power | Inverse | Transpose)
    if (scripted or (entry and read.shape == value.shape)) and not _agree(read, value):
        problem = f"`{key}` is bound to other numbers than it reads as, by its base being bound"
        raise EquationError(problem, latex)


def _agree(left: np.ndarray, right: np.ndarray) -> bool:
    scale = max(np.max(np.abs(left)), np.max(np.abs(right)))
    return left.shape == right.shape and bool(np.max(np.abs(left - right)) <= 1e-8 * scale)


def _refuse_standing(latex: str, reduction: Reduction, drawn_from: Set[str]) -> None:
    index = [token.text for token in tokens(reduction.over.index)]
    for _, node in walk(reduction.body):
        if not isinstance(node, Name | Apply) or node.key in drawn_from:
            continue
        if _has_subscript(node.key, index):
            problem = f"`{node.key}` is bound as one symbol, but `{reduction.over.index}` runs here"
            raise EquationError(problem, latex, node.span)


def _has_subscript(key: str, index: list[str]) -> bool:
    """Whether `index` is among the subscripts; ``n`` is not in ``\\mathrm{noise}``."""
    sequence = tokens(key)
    for i, token in enumerate(sequence):
        if token.text == "_":
            content = [inner.text for inner in sequence[i + 2 : closing(sequence, i + 1)]]
            if content == index or (not FONTS & set(content) and _within(index, content)):
                return True
    return False


def _within(index: list[str], content: list[str]) -> bool:
    places = range(len(content) - len(index) + 1)
    return any(content[i : i + len(index)] == index for i in places)
