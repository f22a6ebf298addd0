"""Definitions hold by decree; if the defined thing is bound to numbers, they are compared.

Of ``x \\sim \\mathcal N(m, S)``, with `x` bound to the nodes of a distribution, mean and
covariance are compared. A statement with an unbound symbol defines without a comparison;
then the check is that it parses, that its shapes conform and that it claims nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import EquationError
from ..evaluate.values import kind
from ..latex.balance import balanced
from ..latex.builder.expressions import bind
from ..latex.names import normal
from ..latex.parser import parse
from ..latex.tree import Apply, Expectation, Name, Statement, Step, Under, Variance
from .bindings import name_kinds, names_in
from .relations import RELATIONS, Tolerance
from .statements import BoundStatement, Draw, refuse_unfit, refuse_unused

NORMAL = normal(r"\mathcal N")


def refuse_second_claim(latex: str, statement: Statement) -> None:
    """Raise `EquationError` for a claim: ``a = b`` may define, ``b = c`` behind it claims."""
    for before, step in itertools.pairwise(statement.steps):
        if before.relation in ("=", ":=") and step.relation == "=" and before.right is step.left:
            problem = "a definition has one `=`: what follows is a claim, which check is for"
            raise EquationError(problem, latex, step.right.span)


def normal_shape(*arguments: object) -> np.ndarray:
    """The mean of ``N(mean, covariance)`` or ``N(x; mean, covariance)`` if the shapes fit."""
    *of, mean, covariance = (np.asarray(a, dtype=np.float64) for a in arguments)
    size = 1 if covariance.ndim == 0 else covariance.shape[0]
    if covariance.size != size * size:
        raise ValueError(f"the covariance must be square; got {covariance.shape}")
    if any(part.size not in (1, size) for part in (*of, mean)):
        raise ValueError(f"a covariance of {covariance.shape} does not fit {mean.shape}")
    return np.broadcast_to(mean.reshape(-1, 1), (size, 1)) if size > 1 else mean.reshape(())


def compare_definition(
    latex: str, drawn: Sequence[Mapping[str, object]], allowed: Tolerance
) -> tuple[BoundStatement, tuple[str, ...]]:
    """Those of the statements of the definition `latex` that `drawn` can judge, and the others.

    The sides of the other statements must have one shape where everything in them is bound.
    Raises `EquationError` for unreadable LaTeX and for a symbol that does not occur.
    """
    full = {NORMAL: normal_shape, **drawn[0]}
    statement = parse(latex, name_kinds(full), free=True)
    refuse_second_claim(latex, statement)
    refuse_unused(drawn[0], latex, statement)
    draws = tuple(map(Draw, drawn))
    refuse_unfit(latex, statement, draws)
    judged = {id(step): tuple(_judged(step, drawn[0], allowed)) for step in statement.steps}
    bare = [step for step in statement.steps if not judged[id(step)]]
    for step in (step for step in bare if names_in(step) <= set(full)):
        for evaluator in (Draw({NORMAL: normal_shape, **values}).evaluator for values in drawn):
            left, right = (np.shape(evaluator.value(side)) for side in (step.left, step.right))
            if left != right:
                problem = f"the left side has shape {left}, the right side {right}"
                raise EquationError(problem, latex, step.right.span)
    kept = Statement(tuple(step for steps in judged.values() for step in steps))
    bound = BoundStatement(kept, draws, allowed)
    return bound, tuple(balanced(latex, step.span) for step in bare)


def _judged(step: Step, bindings: Mapping[str, object], allowed: Tolerance) -> Iterator[Step]:
    """The relations between numbers that a step makes; none where it only defines."""
    tolerated = step.relation != r"\approx" or allowed.approx is not None
    if step.relation == r"\sim":
        yield from moment_steps(step, bindings)
    elif step.relation in RELATIONS and tolerated and names_in(step) <= set(bindings):
        yield step


def moment_steps(step: Step, bindings: Mapping[str, object]) -> Iterator[Step]:
    """The two equations, of mean and covariance, that ``x \\sim \\mathcal N(m, S)`` makes.

    None where `x` is not bound to nodes, or `m` or `S` to nothing.
    """
    match step.left, step.right:
        case ((Name(key) as left), (Apply(function, (mean, covariance)) as right)):
            bound = names_in(right) - {NORMAL} <= set(bindings)
            if function == NORMAL and kind(bindings.get(key)) == "nodes" and bound:
                over, body = (Under((key,), key),), bind(left, {key})
                for average, moment in ((Expectation, mean), (Variance, covariance)):
                    side = average(over, body, span=left.span)
                    yield replace(step, left=side, relation="=", right=moment)
