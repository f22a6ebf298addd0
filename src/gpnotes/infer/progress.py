"""Progress reports: each evaluation of a fit, and a bar, by ``tqdm``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

from ..ground import check as _check
from ..ground.ascent import UNEVALUABLE, Ascent, Function
from ..ground.xp import HostVector

__all__ = ["ENOUGH", "Bar", "Enough", "FitStep", "OnStep", "Watched", "bar_of", "show_steps"]

ENOUGH = "on_step ended it"
"""What the message of a run says that its listener has ended."""


class FitStep(NamedTuple):
    """One evaluation within a run of a fit, which ``on_step`` is given.

    Parameters
    ----------
    run : int
        The number of the run, in the order in which they are made: 0 starts at the model given.
    evaluation : int
        The number of the evaluation in its run, from 1.
    objective : float
        The log evidence, with the priors, there; minus infinity where there is none. A line search
        tries places that are worse.
    best : float
        The best of the run so far.
    """

    run: int
    evaluation: int
    objective: float
    best: float


OnStep = Callable[[FitStep], bool | None]


class Enough(Exception):
    """The signal of a listener that ends a run."""


class Watched:
    """A function that an ascent climbs, with the best place so far, and a listener.

    Parameters
    ----------
    function : callable
        Value and gradient at a vector.
    run : int
        The number of the run.
    hear : callable or None
        It is given a `FitStep` after each evaluation, and ends the run by True.
    """

    def __init__(self, function: Function, run: int = 0, hear: OnStep | None = None) -> None:
        """Begin to watch."""
        self._function, self._run, self._hear = function, run, hear
        self._evaluations = 0
        self._best: tuple[float, HostVector] | None = None

    def __call__(self, vector: HostVector) -> tuple[float, HostVector]:
        """Value and gradient, after the listener has heard of them."""
        self._evaluations += 1
        try:
            value, gradient = self._function(vector)
        except UNEVALUABLE:
            if self._hear is not None:
                self._tell(self._hear, -math.inf)
            raise
        if math.isfinite(value) and (self._best is None or value > self._best[0]):
            # a copy: the array is the optimiser's own, which may put its next place into it
            self._best = value, vector.copy()
        if self._hear is not None:
            self._tell(self._hear, value if math.isfinite(value) else -math.inf)
        return value, gradient

    def _tell(self, hear: OnStep, value: float) -> None:
        best = self._best[0] if self._best else -math.inf
        answer = hear(FitStep(self._run, self._evaluations, value, best))
        if answer is not None and _check.flag(answer, "on_step(step)"):
            raise Enough

    def ended(self, message: str) -> Ascent | None:
        """Return the result of an ascent that ends here; None before it has a value."""
        if self._best is None:
            return None
        value, vector = self._best
        return Ascent(vector, value, self._evaluations, False, message)


class Bar(Protocol):
    """The part of a bar of tqdm's that is used here."""

    def update(self, n: int, /) -> bool | None:
        """So many more are done."""

    def set_postfix_str(self, s: str, /) -> None:
        """Show a few words behind the bar."""

    def close(self) -> None:
        """No more will be."""


def bar_of(total: int | None, said: str, unit: str) -> Bar:
    """Return a bar of so many units, or of an unknown number, with a label before it.

    Raises
    ------
    ImportError
        If there is no ``tqdm``.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError as problem:
        message = (
            "progress=True needs the package tqdm, extra `progress`; without, there is callback="
        )
        raise ImportError(message) from problem
    bar: Bar = tqdm(total=total, desc=said, unit=unit)
    return bar


def show_steps(bar: Bar, runs: int, hear: OnStep | None) -> OnStep:
    """Return a listener that moves a bar, and passes its message on to another."""

    def shown(step: FitStep) -> bool | None:
        number = step.run + 1
        many = max(runs, number)  # a further start comes after those that were planned
        of = f"run {number} of {many}, " if many > 1 else ""
        bar.set_postfix_str(f"{of}objective {step.objective:.6g}, best {step.best:.6g}")
        bar.update(1)
        return None if hear is None else hear(step)

    return shown
