"""The work that evaluators have done, counted and not timed: it is the same on every machine."""

from __future__ import annotations

import math
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Effort:
    """A count of values: evaluators raise it by one for each value that they compute.

    Beyond `most` they raise `TimeoutError`, which no rule catches.
    """

    spent: int = 0
    most: float = math.inf

    def spend(self, more: int) -> None:
        """Count so much more; beyond `most` raise `TimeoutError`."""
        self.spent += more
        if self.spent > self.most:
            raise TimeoutError("an integral or a series takes too long")


_here: ContextVar[Effort | None] = ContextVar("here", default=None)


def effort() -> Effort:
    """Return the count of this context; a thread has its own.

    >>> from checked_equations.evaluate.evaluator import Evaluator
    >>> from checked_equations.latex.parser import parse_expression
    >>> begun = effort().spent
    >>> _ = Evaluator({"a": 2.0}).value(parse_expression("a + a^2", {"a": "value"}))
    >>> effort().spent - begun  # the sum, both symbols, the power and its exponent
    5
    """
    known = _here.get()
    if known is None:
        known = Effort()
        _here.set(known)
    return known
