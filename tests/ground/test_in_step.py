"""Computations that wait for each other get their answers together."""

from functools import partial

import numpy as np
import pytest

from gpnotes.ground import in_step
from gpnotes.ground.in_step import ask, asks, run_in_step


@pytest.fixture(params=[True, False], ids=["greenlets", "without"])
def _greenlets(request, monkeypatch):
    monkeypatch.setattr(in_step, "HAS_GREENLETS", request.param)


def counted(questions, log):
    log.append(questions)
    return [10 * question for question in questions]


def test_all_that_are_under_way_are_answered_at_once():
    log = []

    def task(number, rounds):
        return [ask(number + i) for i in range(rounds)]

    tasks = [partial(task, 1, 2), partial(task, 5, 0), partial(task, 7, 3)]
    assert run_in_step(tasks, partial(counted, log=log), "numbers") == [[10, 20], [], [70, 80, 90]]
    assert log == [[1, 7], [2, 8], [9]]


def test_without_greenlets_each_question_is_answered_alone(monkeypatch):
    monkeypatch.setattr(in_step, "HAS_GREENLETS", False)
    log = []

    def task(number, rounds):
        return [ask(number + i) for i in range(rounds)]

    tasks = [partial(task, 1, 2), partial(task, 5, 0), partial(task, 7, 1)]
    assert run_in_step(tasks, partial(counted, log=log), "numbers") == [[10, 20], [], [70]]
    assert log == [[1], [2], [7]]


@pytest.mark.usefixtures("_greenlets")
def test_only_a_task_asks_and_only_what_is_answered():
    assert not asks("numbers")
    seen = run_in_step([lambda: (asks("numbers"), asks("points"))], lambda q: q, "numbers")
    assert seen == [(True, False)]
    assert not asks("numbers")


@pytest.mark.usefixtures("_greenlets")
def test_an_answer_that_is_an_error_is_raised_where_it_was_asked():
    def careful():
        try:
            return ask("bad")
        except ArithmeticError as problem:
            return str(problem)

    def answers(questions):
        return [ArithmeticError("no value") if q == "bad" else q for q in questions]

    assert run_in_step([careful, lambda: ask("good")], answers, "words") == [
        "no value",
        "good",
    ]


def test_an_error_of_one_ends_the_others():
    ended = []

    def waits():
        try:
            ask(1)
        finally:
            ended.append(True)

    def fails():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run_in_step([waits, fails], lambda q: q, "numbers")
    assert ended == [True]


@pytest.mark.usefixtures("_greenlets")
def test_a_task_has_the_context_of_its_caller_and_keeps_its_own():
    def task():
        before = np.geterr()["over"]
        np.seterr(over="raise")
        ask(1)
        return before, np.geterr()["over"]

    with np.errstate(over="ignore"):
        assert run_in_step([task, task], lambda q: q, "numbers") == [("ignore", "raise")] * 2
        assert np.geterr()["over"] == "ignore"
