"""A limit on a trial's effort, after which the rest of it is given up.

Effort is counted and not timed, so that a verdict is the same on a slow machine, or a busy one, as
on any other. Its unit is one value of one node of a tree, by the evaluator: what costs more, as a
special function does, counts as so many values more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from checked_equations.evaluate.effort import effort

SECOND = 80_000  # values: somewhat more than a second's, where the limits were chosen


@contextmanager
def allowing(most: float, *, anew: bool = False) -> Iterator[None]:
    """Within, evaluators and `spend` raise `TimeoutError` once so much effort has been spent.

    An outer limit holds as well, unless this one begins `anew`: then the effort within does not
    count outside.

    >>> with allowing(1000):
    ...     spend(10)
    """
    own = effort()
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
    effort().spend(more)


def count(more: int) -> None:
    """Count so much `more` effort, and go on."""
    effort().spent += more


def exhausted() -> bool:
    """Return whether more effort was spent than is allowed."""
    return effort().spent > effort().most
