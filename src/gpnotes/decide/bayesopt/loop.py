"""The loop of Bayesian optimisation: ask, evaluate, tell, until a budget is spent.

An evaluation may take hours and may fail. What it gave, or how it failed, is in the history before
anything else is done.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, overload

import numpy as np

from ...ground import check as _check
from ...ground.boxes import Pairs
from ...ground.interrupts import kept_interrupts, raised_interrupts, warn_of
from ...ground.random import RNG
from ...ground.showing import aligned, preformatted
from ...ground.xp import HostVector, Numbers, Vector
from ...infer.progress import Bar, bar_of
from .history import Evaluation, last_problem
from .optimiser import Optimiser, Recommendation
from .options import Goal
from .repeats import lines_on_repeats, repeats_of
from .search_region import Place, named_settings
from .search_space import Point, Space

__all__ = ["Outcome", "Spending", "Telling", "maximise", "minimise"]

Given: TypeAlias = Numbers | tuple[Numbers, Vector | Sequence[float]]
Callback: TypeAlias = Callable[[Evaluation[Any]], bool | None]

_PAUSES = 0.01, 1.0  # seconds, between two looks at what others have told
_SHOWN = 12  # inputs without names; those that somebody has named are all shown


@dataclass(frozen=True, eq=False)
class Outcome(Generic[Place]):
    """The result of `minimise` or `maximise`; ``print`` shows a summary.

    Parameters
    ----------
    best : Evaluation or None
        The best feasible evaluation; None if there is none. Where readings have noise it is the
        luckiest, and its value is better than the objective is there.
    recommended : Recommendation or None
        The feasible evaluated place where the mean of the model is best, with its standard error;
        None if there is none.
    evaluations : tuple of Evaluation
        All evaluations in their order.
    goal : {"minimise", "maximise"}
        What was looked for.
    used_up : bool
        True if the search ended because all settings of a finite space are known.
    """

    # None is `Any` here, so that an editor lets ``outcome.best.x`` be written as the pages do
    best: Evaluation[Place] | Any
    recommended: Recommendation[Place] | Any
    evaluations: tuple[Evaluation[Place], ...]
    goal: Goal
    used_up: bool = False

    _repr_html_ = preformatted

    @property
    def repeated(self) -> int:
        """Return the number of evaluations at places evaluated before."""
        return repeats_of(self.evaluations).places

    def best_so_far(self) -> HostVector:
        """The best feasible value after each evaluation, (n,), NaN before there is one."""
        y = np.asarray([e.y if e.is_feasible else math.nan for e in self.evaluations])
        rule = np.fmin if self.goal == "minimise" else np.fmax
        return rule.accumulate(y) if y.size else y

    def __repr__(self) -> str:
        """One line."""
        best = "no value" if self.best is None else f"best {self.best.y:.6g}"
        return f"<Outcome: {len(self.evaluations)} evaluations, {best}>"

    def __str__(self) -> str:
        """The page: the best reading, and beside it the place that the model recommends."""
        failed = sum(bool(evaluation.failure) for evaluation in self.evaluations)
        which = {"minimise": "least", "maximise": "largest"}[self.goal]
        many = f"{len(self.evaluations)} evaluations, {failed or 'none'} failed"
        if any(one.constraints is not None for one in self.evaluations):
            many += f", {sum(one.is_feasible for one in self.evaluations) or 'none'} feasible"
        lines = [*lines_on_repeats(self), *last_problem(self.evaluations)]
        head = "\n".join([f"Search for the {which} value: {many}", *lines])
        if self.best is None or self.recommended is None:
            return head
        number = self.evaluations.index(self.best) + 1
        belief = f"{self.recommended.mean:.4g} ± {self.recommended.sd:.2g}"
        if self.recommended.feasibility < 1.0:
            belief += f", feasible by {self.recommended.feasibility:.0%}"
        rows = [
            ("", f"{which} reading, number {number}", "recommended by the model"),
            ("value", f"{self.best.y:.6g}", belief),
        ]
        lucky, steady = named_settings(self.best.x), named_settings(self.recommended.x)
        names = list({**lucky, **steady})  # one may have inputs that the other has not
        shown = names if isinstance(self.best.x, dict) else names[:_SHOWN]
        rows += [(name, lucky.get(name, "–"), steady.get(name, "–")) for name in shown]
        left = len(names) - len(shown)
        return "\n".join([head, "", *aligned(rows), *([f"and {left} more inputs"] if left else [])])


@overload
def minimise(
    objective: Callable[[Point], Given], box: Space, budget: int, *,
    callback: Callback | None = None, progress: bool = False, rng: RNG, **options: object,
) -> Outcome[Point]: ...  # fmt: skip


@overload
def minimise(
    objective: Callable[[HostVector], Given], box: Pairs, budget: int, *,
    callback: Callback | None = None, progress: bool = False, rng: RNG, **options: object,
) -> Outcome[HostVector]: ...  # fmt: skip


def minimise(
    objective: Callable[[Any], Given],
    box: Pairs | Space,
    budget: int,
    *,
    callback: Callback | None = None,
    progress: bool = False,
    rng: RNG,
    **options: Any,
) -> Outcome[Any]:
    """Look for the least value of an objective in a box, with a budget of evaluations.

    This is the loop of `Optimiser`: ask, evaluate, tell.

    Parameters
    ----------
    objective : Callable
        A function of x (d,) that returns a number, or with ``gradients=True`` its value and its
        derivatives by x (d,), or with ``num_constraints=k`` its value and those, (k,), of
        constraints, which are met where they are at most zero. With a `Space` it is given a dict of
        settings by their names.
    box : d pairs of floats, or Space
        The ends (lower, upper) of each input, or a `Space` of named inputs: logarithms, whole
        numbers, categories.
    budget : int
        The number of evaluations. With a `path` that holds evaluations already, these count, and
        what is left of the budget is spent. With ``shared=True`` it is that of all workers
        together, and each of them returns when all of it is spent. A finite `Space` may be used up
        before: when all of its settings are known, one is evaluated again, and if the reading is
        the same, the search ends.
    callback : callable or None, default None
        ``callback(evaluation)`` is called after each evaluation; if it returns True, that one is
        the last.
    progress : bool, default False
        Show a bar of how many of the evaluations are done, by ``tqdm`` of the extra `progress`.
    rng : Stream, Generator or int
        Source of all that is random, or its seed.
    **options
        Those of `Optimiser`: `path`, `shared`, `on_failure`, `num_initial`, `initial_points`,
        `known_evaluations`, `model`, `acquisition`, `gradients`, `linear_constraints`,
        `constraint`, `num_constraints`.

    Returns
    -------
    Outcome
        The best evaluation, the place that the model recommends, and all evaluations in their
        order.

    Raises
    ------
    ImportError
        If a bar is asked for without ``tqdm``.
    Exception
        What the objective raised, with ``on_failure="stop"``, or, unless `on_failure` is given,
        before it had a value anywhere.
    ValueError
        Unless `on_failure` is given, if none of the first `num_initial` evaluations has a value.

    Notes
    -----
    An objective that raises an `Exception`, or returns what is not finite, has failed there: that
    is kept with the words of the error and handled as `on_failure` says; with ``"stop"`` the error
    goes on to the caller, and when the loop is started again the point is tried again. Unless
    `on_failure` is given, an error at the first evaluation, or before any has had a value, goes on
    to the caller too, and a search that found no finite value at its first places ends: a mistake
    in the objective would cost the whole budget. What is no `Exception` always goes on, and the
    evaluation under way is forgotten; but an interrupt from the keyboard, Ctrl-C, ends the search
    once it has an evaluation, and what was found comes back with an `InterruptWarning`.

    Source: Jones, Schonlau & Welch (1998) for the loop.

    Examples
    --------
    >>> from gpnotes import stream
    >>> outcome = minimise(lambda x: (x[0] - 0.5) ** 2, [(-1.0, 2.0)], 9, rng=stream(1))
    >>> bool(abs(outcome.best.x[0] - 0.5) < 0.1), len(outcome.evaluations)
    (True, 9)
    >>> from gpnotes.decide.bayesopt import Integer, Real, Space
    >>> space = Space({"rate": Real(1e-5, 1.0, log=True), "depth": Integer(1, 8)})
    >>> loss = lambda p: np.log10(p["rate"] / 0.003) ** 2 + p["depth"]
    >>> outcome = minimise(loss, space, 20, rng=1)
    >>> outcome.best.x["depth"], bool(0.001 < outcome.best.x["rate"] < 0.01)
    (1, True)
    """
    told = Telling(_tell, _best_of)
    spend = Spending(objective, budget, callback, progress, "on_failure" in options, told)
    return _outcome(spend.on(lambda: Optimiser(box, goal="minimise", rng=rng, **options)))


@overload
def maximise(
    objective: Callable[[Point], Given], box: Space, budget: int, *,
    callback: Callback | None = None, progress: bool = False, rng: RNG, **options: object,
) -> Outcome[Point]: ...  # fmt: skip


@overload
def maximise(
    objective: Callable[[HostVector], Given], box: Pairs, budget: int, *,
    callback: Callback | None = None, progress: bool = False, rng: RNG, **options: object,
) -> Outcome[HostVector]: ...  # fmt: skip


def maximise(
    objective: Callable[[Any], Given],
    box: Pairs | Space,
    budget: int,
    *,
    callback: Callback | None = None,
    progress: bool = False,
    rng: RNG,
    **options: Any,
) -> Outcome[Any]:
    """Look for the largest value of an objective in a box, with a budget of evaluations.

    Arguments, result and errors are those of `minimise`.

    Examples
    --------
    >>> from gpnotes import stream
    >>> outcome = maximise(lambda x: -((x[0] - 0.5) ** 2), [(-1.0, 2.0)], 9, rng=stream(1))
    >>> bool(abs(outcome.best.x[0] - 0.5) < 0.1)
    True
    """
    told = Telling(_tell, _best_of)
    spend = Spending(objective, budget, callback, progress, "on_failure" in options, told)
    return _outcome(spend.on(lambda: Optimiser(box, goal="maximise", rng=rng, **options)))


class _Searching(Protocol):
    """What the loop asks of an optimiser."""

    @property
    def on_failure(self) -> str:
        """What becomes of an evaluation without a value."""

    @property
    def num_initial(self) -> int:
        """How many are made before a model chooses."""

    @property
    def count(self) -> int:
        """How many evaluations were made."""

    @property
    def evaluations(self) -> Sequence[Any]:
        """All of them."""

    @property
    def used_up(self) -> bool:
        """True once nothing is left to ask."""

    def ask_within(self, budget: int, /) -> object:
        """Where to evaluate next, or None."""

    def fail(self, x: Any, problem: str, on_failure: Any = None, /) -> None:
        """Tell that there was no value."""

    def close(self) -> None:
        """End the work on a shared file."""


Asked = TypeVar("Asked", bound=_Searching)


class Telling(NamedTuple, Generic[Asked]):
    """What is peculiar to an optimiser: how it is told an answer, and what its bar says."""

    tell: Callable[[Asked, Any, Any], None]
    best: Callable[[Asked], str]


class Spending(Generic[Asked]):
    """A budget, and how it is spent: arguments first, then an optimiser, which may open a file."""

    def __init__(
        self,
        objective: Callable[[Any], object],
        budget: int,
        callback: Callable[[Any], bool | None] | None,
        progress: bool,
        expects_failures: bool,
        told: Telling[Asked],
    ) -> None:
        self.objective = _check.function(objective, "objective", "x")
        self.budget = _check.whole(budget, "budget", 1)
        self.callback = None if callback is None else _check.function(callback, "callback")
        self.progress = _check.flag(progress, "progress")
        self.expects_failures = expects_failures
        self.told = told

    def on(self, make_optimiser: Callable[[], Asked]) -> Asked:
        """The optimiser, when the budget is spent or somebody has ended it."""
        optimiser = make_optimiser()
        left = self.budget - optimiser.count
        bar = bar_of(left, "search", "evaluation") if self.progress else None
        try:
            with raised_interrupts():  # by the fits of the model, which keep them elsewhere
                self._spend(optimiser, bar)
        except kept_interrupts():
            if not optimiser.evaluations:
                raise
            many = len(optimiser.evaluations)
            warn_of(f"the search keeps its {many} evaluations")
        finally:
            optimiser.close()
            if bar is not None:
                bar.close()
        return optimiser

    def _spend(self, optimiser: Asked, bar: Bar | None) -> None:
        """Ask, evaluate, tell, until the budget is spent or the callback has seen enough."""
        done = optimiser.count
        for x in _places(optimiser, self.budget):
            self._evaluate(optimiser, x)
            if bar is not None:
                bar.set_postfix_str(self.told.best(optimiser))
                bar.update(optimiser.count - done)
                done = optimiser.count
            if self._is_last(optimiser.evaluations[-1]):
                break
            if not self.expects_failures:
                _require_value(optimiser)

    def _evaluate(self, optimiser: Asked, x: Any) -> None:
        """Evaluate and tell."""
        try:
            answer = self.objective(x.copy())
        except Exception as error:
            stops = optimiser.on_failure == "stop"
            if not (self.expects_failures or stops) and _is_first(optimiser):
                stops = True  # the mistake is rather in the objective than in the place
                why = f"The search ended: objective has had no value so far, nor at {_listed(x)}."
                error.add_note(f"{why} With on_failure='record' given it goes on all the same.")
            optimiser.fail(x, f"{type(error).__name__}: {error}", "stop" if stops else None)
            if stops:
                raise
        else:
            self.told.tell(optimiser, x, answer)

    def _is_last(self, evaluation: object) -> bool:
        answer = None if self.callback is None else self.callback(evaluation)
        return answer is not None and _check.flag(answer, "callback(evaluation)")


def _places(optimiser: _Searching, budget: int) -> Iterator[Any]:
    """Places until the budget is spent or the space used up; while others are at work, it waits."""
    pause = _PAUSES[0]
    while optimiser.count < budget:
        x = optimiser.ask_within(budget)
        if x is None:
            if optimiser.used_up:
                return
            time.sleep(pause)
            pause = min(2.0 * pause, _PAUSES[1])
        else:
            pause = _PAUSES[0]
            yield x


def _is_first(optimiser: _Searching) -> bool:
    """True if nothing was evaluated, or nothing that was has a value."""
    return not optimiser.count or all(one.failure for one in optimiser.evaluations)


def _require_value(optimiser: _Searching) -> None:
    """End a search whose first places all failed: no model can learn from where to keep away."""
    if _is_first(optimiser) and (optimiser.count >= optimiser.num_initial or optimiser.used_up):
        first = min(optimiser.num_initial, optimiser.count)
        wanted = f"a value at one of the first {first} places"
        had = f"it had none, the last said: {optimiser.evaluations[-1].problem}"
        goes_on = "With on_failure='record' given the search goes on all the same"
        raise ValueError(f"objective must have {wanted}; {had}. {goes_on}.")


def _best_of(optimiser: Optimiser[Any]) -> str:
    best = optimiser.best
    return "no value" if best is None else f"best {best.y:.6g}"


def _outcome(optimiser: Optimiser[Any]) -> Outcome[Any]:
    with raised_interrupts():  # a second one ends it
        recommended = optimiser.recommend()
        used_up = optimiser.used_up
    return Outcome(optimiser.best, recommended, optimiser.evaluations, optimiser.goal, used_up)


def _tell(optimiser: Optimiser[Any], x: Any, answer: Any) -> None:
    """Tell the optimiser what the objective returned; what cannot be told ends the loop."""
    more = "gradient" if optimiser.gradients else "constraints" if optimiser.num_constraints else ""
    expected = {"": "a number", "gradient": "a number and its gradient"}
    try:
        if more and not (isinstance(answer, tuple) and len(answer) == 2):
            raise TypeError
        optimiser.tell(x, answer[0] if more else answer, **({more: answer[1]} if more else {}))
    except TypeError:
        kind = expected.get(more, f"a number and {optimiser.num_constraints} constraints")
        said = f"objective must return {kind}; got {answer!r} at {_listed(x)}"
        if not more and isinstance(answer, tuple | list) and len(answer) > 1:
            said += ": several objectives are those of `minimise_several`"
        optimiser.fail(x, said, "stop")
        raise TypeError(said) from None
    except ValueError as problem:
        if more:
            raise ValueError(f"objective, at {_listed(x)}: {problem}") from None
        said = f"objective must return a finite number; got {answer} at {_listed(x)}"
        raise ValueError(said) from None


def _listed(x: Any) -> Any:
    return x if isinstance(x, dict) else x.tolist()
