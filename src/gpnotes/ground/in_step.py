"""Computations that go on in step: each asks for a number and waits until all have asked.

A call for many costs little more than a call for one: a minimum of an acquisition from many starts,
an evidence of many small models on a device. What asks is code that asks for one thing at a time,
such as an optimiser of SciPy's that calls back. So each computation runs as a greenlet, which is
left while the others ask for theirs. Threads would take turns thirty times as slowly. Where there
are no greenlets, which WebAssembly has not, one computation runs after the other, and each question
is answered alone: the same answers, up to rounding, at the price of a call each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from typing import Any, NamedTuple, TypeVar, cast

try:
    from greenlet import getcurrent, greenlet
except ImportError:
    HAS_GREENLETS = False
    greenlet = object
else:
    HAS_GREENLETS = True

__all__ = ["ask", "asks", "run_in_step"]

T = TypeVar("T")

Answers = Callable[[list[Any]], Sequence[object]]


class _Task(greenlet):
    """A computation that has questions of one kind."""

    kind = ""


class _Alone(NamedTuple):
    """What answers the questions of a computation that runs without others."""

    kind: str
    answers: Answers


_ALONE: ContextVar[_Alone | None] = ContextVar("alone", default=None)


class _Question(NamedTuple):
    """What a task waits for; what it returns in the end is no question."""

    content: object


def asks(kind: str) -> bool:
    """Tell if the caller runs in step with others that have questions of a kind."""
    current = getcurrent() if HAS_GREENLETS else _ALONE.get()
    return isinstance(current, (_Task, _Alone)) and current.kind == kind


def ask(question: object) -> object:
    """Wait until the other tasks have asked too, and return the answer.

    An answer that is an exception is raised.
    """
    if HAS_GREENLETS:
        answer = cast("greenlet", getcurrent().parent).switch(_Question(question))
    else:
        (answer,) = cast("_Alone", _ALONE.get()).answers([question])
    if isinstance(answer, BaseException):
        raise answer
    return answer


def run_in_step(tasks: Sequence[Callable[[], T]], answers: Answers, kind: str) -> list[T]:
    """Run functions until each has returned, and answer together what they `ask`.

    Between two questions of one function no other runs, and they take turns in their order, so that
    what they have in common is changed in one order always. `answers` gives a list of questions
    their answers, exceptions among them, which are raised where the question was asked; `kind` is
    that of `asks`. What a function or `answers` raises ends the other functions.

    Examples
    --------
    >>> def double(questions):
    ...     print("asked", questions)
    ...     return [2 * question for question in questions]
    >>> first = lambda: ask(1)
    >>> second = lambda: ask(2) + ask(3)
    >>> run_in_step([first, second], double, "a number")
    asked [1, 2]
    asked [3]
    [2, 10]
    """
    if not HAS_GREENLETS:
        return [copy_context().run(_by_itself, task, _Alone(kind, answers)) for task in tasks]
    running = []
    for task in tasks:
        started = _Task(task)
        started.gr_context = copy_context()  # without, it would have an empty one
        started.kind = kind
        running.append(started)
    try:
        said = {i: one.switch() for i, one in enumerate(running)}
        while waiting := {i: q.content for i, q in said.items() if isinstance(q, _Question)}:
            found = answers(list(waiting.values()))
            for i, answer in zip(waiting, found, strict=True):
                said[i] = running[i].switch(answer)
    finally:
        for one in running:
            one.throw()  # nothing to one that has ended; the others end, unheard
    return [said[i] for i in range(len(running))]


def _by_itself(task: Callable[[], T], alone: _Alone) -> T:
    _ALONE.set(alone)
    return task()
