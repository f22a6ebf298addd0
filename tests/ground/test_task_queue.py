"""Tasks that threads take: each once, after what it needs, and none after an error."""

from __future__ import annotations

from threading import Barrier, Event, Lock, get_ident

import pytest

from gpnotes.ground.task_queue import Task, for_each, work_off


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_task_is_done_once_after_those_that_it_needs(threads):
    done, lock = [], Lock()

    def work(name):
        with lock:
            done.append(name)

    def task(i, j):
        after = ((i, j - 1), (j, j)) if i > j else ((j, j - 1),)
        return Task((i, j), lambda: work((i, j)), after)

    # in an order in which the first cannot be begun at once
    tasks = [task(i, j) for j in range(6) for i in reversed(range(j, 6))]
    work_off(tasks, threads)
    assert sorted(done) == sorted(task.name for task in tasks)
    place = {name: k for k, name in enumerate(done)}
    needs = [(place[n], place[task.name]) for task in tasks for n in task.after if n in place]
    assert needs
    assert all(before < after for before, after in needs)


def test_one_thread_does_tasks_in_their_order():
    done = []
    for_each("abc", done.append, 1)
    assert done == ["a", "b", "c"]


def test_one_thread_asks_for_an_item_when_the_one_before_is_done():
    steps = []
    for_each((steps.append(f"{i} made") or i for i in range(2)), steps.append, 1)
    assert steps == ["0 made", 0, "1 made", 1]


def test_several_threads_are_at_work_together():
    together, seen = Barrier(3, timeout=30.0), set()

    def work(_):
        together.wait()
        seen.add(get_ident())

    for_each(range(3), work, 3)
    assert len(seen) == 3


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_an_error_ends_the_work_and_is_raised_once_nobody_is_at_work(problem, where):
    here, failed, done, at_work = get_ident(), Event(), [], []

    def work(name):
        if (get_ident() == here) == (where == "here"):
            failed.set()
            raise problem("on purpose")
        at_work.append(name)
        assert failed.wait(30.0)
        at_work.remove(name)
        done.append(name)

    tasks = [Task(0, lambda: work(0)), Task(1, lambda: work(1))]
    tasks += [Task(i, lambda i=i: done.append(i), (0, 1)) for i in range(2, 9)]
    with pytest.raises(problem, match="on purpose"):
        work_off(tasks, 2)
    assert at_work == []
    assert set(done) <= {0, 1}
    assert len(done) < 2


def test_no_tasks_are_no_work():
    work_off([], 2)
