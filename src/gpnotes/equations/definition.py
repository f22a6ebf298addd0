"""Definitions: they hold by decree, so what is checked is that they parse and conform."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from . import names
from .errors import EquationError
from .parse import parse_free
from .tree import Statement, Step
from .trial import Draw

__all__ = ["NORMAL", "conforms", "defined", "normal_shape", "refuse_claims"]

_EQUAL = ("=", ":=", r"\triangleq", r"\equiv")
NORMAL = names.normal(r"\mathcal N")


def defined(latex: str) -> None:
    """See that the definition `latex` can be read, and that it claims nothing."""
    refuse_claims(latex, parse_free(latex))


def refuse_claims(latex: str, statement: Statement) -> None:
    """Raise `EquationError` for a claim.

    ``a = b`` may define; in ``a = b = c`` the second sign claims something.
    """
    for before, step in itertools.pairwise(statement.steps):
        if before.relation in _EQUAL and step.relation == "=" and before.right is step.left:
            problem = "a definition has one `=`: what follows is a claim, which check is for"
            raise EquationError(problem, latex, step.right.span)


def conforms(latex: str, step: Step, draw: Draw) -> None:
    """Raise `EquationError` where the sides of `step` have different shapes."""
    left, right = (np.asarray(draw.evaluator.value(side)) for side in (step.left, step.right))
    if left.shape != right.shape and not left.size == right.size == 1:
        problem = f"the left side has shape {left.shape}, the right side {right.shape}"
        raise EquationError(problem, latex, step.right.span)


def normal_shape(*arguments: Any) -> np.ndarray:
    """The mean of ``N(mean, covariance)`` or ``N(x; mean, covariance)`` if the shapes fit."""
    *of, mean, covariance = (np.asarray(a, dtype=np.float64) for a in arguments)
    size = 1 if covariance.ndim == 0 else covariance.shape[0]
    if covariance.size != size * size:
        raise ValueError(f"the covariance must be square; got {covariance.shape}")
    if any(part.size not in (1, size) for part in (*of, mean)):
        raise ValueError(f"a covariance of {covariance.shape} does not fit {mean.shape}")
    return np.broadcast_to(mean.reshape(-1, 1), (size, 1)) if size > 1 else mean.reshape(())
