"""The work that evaluators have done, counted and not timed, and limits on it.

So a verdict is the same on a slow machine, or a busy one, as on any other. The unit is one value of
one node of a tree: what costs more, as a special function does, counts as so many values more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SECOND = 80_000  # values: somewhat more than a second's, where the limits were chosen


class Effort:
    """A count of values: evaluators raise it by one for each value that they compute.

    Beyond `most` they raise `TimeoutError`, which no rule catches.
    """

    __slots__ = ("most", "spent")

    def __init__(self) -> None:
        self.spent = 0
        self.most = math.inf

    def spend(self, more: int) -> None:
        """Count so much more; beyond `most` raise `TimeoutError`."""
        self.spent += more
        if self.spent > self.most:
            raise TimeoutError("an integral or a series takes too long")


_here: ContextVar[Effort | None] = ContextVar("here", default=None)


def current() -> Effort:
    """Return the count of this context; a thread has its own.

    >>> from checked_equations.evaluate.evaluator import Evaluator
    >>> from checked_equations.latex.parser import parse_expression
    >>> begun = current().spent
    >>> _ = Evaluator({"a": 2.0}).value(parse_expression("a + a^2", {"a": "value"}))
    >>> current().spent - begun  # the sum, both symbols, the power and its exponent
    5
    """
    known = _here.get()
    if known is None:
        known = Effort()
        _here.set(known)
    return known


@contextmanager
def allowing(most: float, *, anew: bool = False) -> Iterator[None]:
    """Within, evaluators and `spend` raise `TimeoutError` once so much effort has been spent.

    An outer limit holds as well, unless this one begins `anew`: then the effort within does not
    count outside.

    >>> with allowing(1000):
    ...     spend(10)
    """
    own = current()
    begun, before = own.spent, own.most
    own.most = begun + most if anew else min(begun + most, before)
    try:
        yield
    finally:
        own.most = before
        if anew:
            own.spent = begun


def spend(more: int = 0) -> None:
    """Count so much `more` effort than the evaluator does; raise `TimeoutError` at the limit."""
    current().spend(more)


def count(more: int) -> None:
    """Count so much `more` effort, and go on."""
    current().spent += more


def exhausted() -> bool:
    """Return whether more effort was spent than is allowed."""
    return current().spent > current().most
