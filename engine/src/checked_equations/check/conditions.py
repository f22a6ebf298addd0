"""Whether the numbers meet the conditions that an equation states in words."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import EquationError
from ..evaluate.evaluator import Evaluator
from ..evaluate.rules.loops import elements
from ..latex import tree as t
from .relations import Misfit, Tolerance, compare


def refuse_unmet_conditions(
    latex: str, statement: t.Statement, drawn: Sequence[Mapping[str, Any]]
) -> None:
    """Raise `EquationError` at a condition that one of the draws does not meet.

    A draw that lies outside of what a statement is for says nothing about it.
    """
    for number, bound in enumerate(drawn, start=1):
        evaluator = Evaluator(bound, latex)
        for condition in statement.conditions:
            if not _met(condition, evaluator):
                problem = f"the numbers of draw {number} do not meet this condition"
                raise EquationError(problem, latex, condition.span)


def _met(step: t.Node, evaluator: Evaluator) -> bool:
    if not isinstance(step, t.Step):  # the name of what runs is no condition on the numbers
        return not isinstance(step, t.Member) or _belongs(step, evaluator)
    left, right = evaluator.value(step.left), evaluator.value(step.right)
    if step.relation == "\\ne":
        return bool(np.any(left != right))
    try:
        return compare(left, step.relation, right, Tolerance()).holds
    except Misfit as wrong:
        raise evaluator.fault(step, str(wrong)) from wrong


def _belongs(node: t.Member, evaluator: Evaluator) -> bool:
    """Whether it is one of those listed, or numbers of a kind, in an array of a shape."""
    value = evaluator.value(node.element)
    if isinstance(node.members, t.Space):
        sizes = tuple(int(evaluator.value(size)) for size in node.members.shape)
        columns = (*sizes, 1) if len(sizes) == 1 else sizes
        fits = value.size == 1 if set(sizes) <= {1} else value.shape == columns
        return fits and bool(np.all(_OF_A_KIND[node.members.name](value)))
    if node.members is not None:
        return any(np.array_equal(value, one) for one in elements(evaluator, node.members, {}))
    listed = [float(evaluator.value(number)) for number in node.listed]
    if node.last is not None:
        if any(b != a + 1 for a, b in itertools.pairwise(listed)):
            raise evaluator.fault(node, "dots go on with whole numbers one after another: 1, 2")
        listed = list(np.arange(listed[0], float(evaluator.value(node.last)) + 1))
    return any(np.array_equal(value, one) for one in listed)


_OF_A_KIND: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "\\mathbb R": np.isfinite, "\\mathbb R_+": lambda x: x > 0, "\\mathbb R_{>0}": lambda x: x > 0,
    "\\mathbb N": lambda x: (x > 0) & (x == np.floor(x)), "\\mathbb Z": lambda x: x == np.floor(x),
}  # fmt: skip
