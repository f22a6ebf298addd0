"""The loop of Bayesian optimisation: ask, evaluate, tell, until a budget is spent.

An evaluation may take hours and may fail. What it gave, or how it failed, is in the history before
anything else is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...ground import check as _check
from ...ground.boxes import Pairs
from ...ground.random import Stream
from ...ground.xp import HostVector, Numbers, Vector
from .history import Evaluation
from .optimiser import Optimiser

__all__ = ["Outcome", "maximise", "minimise"]

Objective: TypeAlias = Callable[[HostVector], Numbers | tuple[Numbers, Vector]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of `minimise` or `maximise`.

    Parameters
    ----------
    best : Evaluation or None
        The best evaluation; None if all failed.
    evaluations : tuple of Evaluation
        All evaluations in their order.
    """

    best: Evaluation | None
    evaluations: tuple[Evaluation, ...]


def minimise(
    objective: Objective, box: Pairs, budget: int, stream: Stream, **options: Any
) -> Outcome:
    """Look for the least value of an objective in a box, with a budget of evaluations.

    This is the loop of `Optimiser`: ask, evaluate, tell.

    Parameters
    ----------
    objective : Callable
        A function of x (d,) that returns a number, or with ``gradients=True`` its value and its
        derivatives by x (d,).
    box : d pairs of floats
        The ends (lower, upper) of each input.
    budget : int
        The number of evaluations. With a `path` that holds evaluations already, these count, and
        what is left of the budget is spent.
    stream : Stream
        Source of all that is random.
    **options
        Those of `Optimiser`: `path`, `on_failure`, `initial`, `model`, `acquisition`, `gradients`.

    Returns
    -------
    Outcome
        The best evaluation, and all of them in their order.

    Raises
    ------
    ValueError
        If an argument does not fit, or with ``on_failure="stop"`` if a value is not finite.
    TypeError
        If an argument has another type, or the objective returns no number.
    Exception
        With ``on_failure="stop"``, what the objective raised.

    Notes
    -----
    An objective that raises an `Exception`, or returns what is not finite, has failed there: that
    is kept with the words of the error and handled as `on_failure` says; with ``"stop"`` the error
    goes on to the caller, and when the loop is started again the point is tried again. What is no
    `Exception`, as an interrupt from the keyboard, always goes on, and the evaluation under way is
    forgotten.

    Source: Jones, Schonlau & Welch (1998) for the loop.

    Examples
    --------
    >>> from gpnotes import stream
    >>> outcome = minimise(lambda x: (x[0] - 0.5) ** 2, [(-1.0, 2.0)], 9, stream(1))
    >>> bool(abs(outcome.best.x[0] - 0.5) < 0.1), len(outcome.evaluations)
    (True, 9)
    """
    return _spend(objective, budget, lambda: Optimiser(box, stream, goal="minimise", **options))


def maximise(
    objective: Objective, box: Pairs, budget: int, stream: Stream, **options: Any
) -> Outcome:
    """Look for the largest value of an objective in a box, with a budget of evaluations.

    Arguments, result and errors are those of `minimise`.

    Examples
    --------
    >>> from gpnotes import stream
    >>> outcome = maximise(lambda x: -((x[0] - 0.5) ** 2), [(-1.0, 2.0)], 9, stream(1))
    >>> bool(abs(outcome.best.x[0] - 0.5) < 0.1)
    True
    """
    return _spend(objective, budget, lambda: Optimiser(box, stream, goal="maximise", **options))


def _spend(objective: Objective, budget: int, made: Callable[[], Optimiser]) -> Outcome:
    _check.function(objective, "objective", "x")
    _check.whole(budget, "budget", 1)
    optimiser = made()
    while optimiser.count < budget:
        x = optimiser.ask()
        try:
            found = objective(x.copy())
        except Exception as error:
            optimiser.fail(x, f"{type(error).__name__}: {error}")
            if optimiser.on_failure == "stop":
                raise
        else:
            _tell(optimiser, x, found)
    return Outcome(optimiser.best, optimiser.evaluations)


def _tell(optimiser: Optimiser, x: HostVector, found: Any) -> None:
    """Tell the optimiser what the objective returned; what cannot be told ends the loop."""
    gradients = optimiser.gradients
    wanted = "a number and its gradient" if gradients else "a number"
    try:
        if gradients and not (isinstance(found, tuple) and len(found) == 2):
            raise TypeError
        optimiser.tell(x, *(found if gradients else (found,)))
    except TypeError:
        said = f"objective must return {wanted}; got {found!r} at {x.tolist()}"
        optimiser.fail(x, said, "stop")
        raise TypeError(said) from None
    except ValueError as problem:
        if gradients:
            raise ValueError(f"objective, at {x.tolist()}: {problem}") from None
        said = f"objective must return a finite number; got {found} at {x.tolist()}"
        raise ValueError(said) from None
