"""Tasks that threads take when they are free, each after those that it needs.

No task waits for a particular thread: where other programs keep one from its processor, the others
take its tasks. The thread that does a task changes nothing in it, so that results have the same
digits however many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from threading import Condition
from typing import NamedTuple, TypeVar

__all__ = ["Task", "for_each", "work_off"]

Item = TypeVar("Item")


class Task(NamedTuple):
    """A piece of work, its name, and the names of the tasks to be done before."""

    name: Hashable
    work: Callable[[], object]
    after: tuple[Hashable, ...] = ()


def work_off(tasks: Iterable[Task], threads: int) -> None:
    """Do all tasks, by this thread and others; of those that can be begun the first goes first.

    An error in one ends the work, and is raised here, once all threads have stopped.
    """
    queue = _Queue(tasks)
    if threads < 2:
        queue.work()
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(queue.work) for _ in range(threads - 1)]
        queue.work()
    for other in others:
        other.result()


def for_each(items: Iterable[Item], work: Callable[[Item], object], threads: int) -> None:
    """Do the work for each item, in any order, by this thread and others."""
    if threads < 2:
        for item in items:
            work(item)
        return
    work_off((Task(i, partial(work, item)) for i, item in enumerate(items)), threads)


class _Queue:
    def __init__(self, tasks: Iterable[Task]) -> None:
        self._left = {task.name: task for task in tasks}
        self._undone = set(self._left)
        self._changed = Condition()

    def work(self) -> None:
        """Take tasks until there are none; after an error no thread takes more."""
        try:
            while (task := self._take()) is not None:
                task.work()
                self._done(task)
        finally:
            with self._changed:
                self._left.clear()
                self._changed.notify_all()

    def _take(self) -> Task | None:
        """The first that can be begun, as soon as there is one."""
        with self._changed:
            while self._left:
                for task in self._left.values():
                    if self._undone.isdisjoint(task.after):
                        return self._left.pop(task.name)
                self._changed.wait()
        return None

    def _done(self, task: Task) -> None:
        with self._changed:
            self._undone.remove(task.name)
            self._changed.notify_all()
