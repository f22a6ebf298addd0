"""Work that falls into pieces, on several processes or by any `map`.

Pieces are few and long: runs of a fit, chains. A kernel or a lambda that a
notebook defines is sent to the processes by value, which the pools of Python's own library cannot;
so they are joblib's, which scikit-learn brings.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from . import check as _check
from .chunks import Mapper

__all__ = ["Jobs", "checked_jobs", "mapper_of"]

Jobs: TypeAlias = int | Mapper
"""How many processes, or a `map`."""


def checked_jobs(jobs: Jobs) -> Jobs:
    """Return `jobs`, if it is a number of processes from 1 or a function.

    Raises
    ------
    TypeError, ValueError
        If it is neither.
    """
    if not callable(jobs):
        return _check.whole(jobs, "jobs", 1)
    return _check.function(jobs, "jobs")


def mapper_of(jobs: Jobs) -> Mapper:
    """Return the `map` that works on so many processes: for one the builtin, on this process.

    Parameters
    ----------
    jobs : int or callable
        The number of processes, or a `map`, which is returned as it is.

    Raises
    ------
    ImportError
        If there is no ``joblib``, and processes are asked for.

    Examples
    --------
    >>> list(mapper_of(1)(abs, [-1, 2]))
    [1, 2]
    """
    if callable(jobs):
        return jobs
    return builtins.map if jobs == 1 else _on_processes(jobs)


def _on_processes(jobs: int) -> Mapper:
    try:
        from joblib import Parallel, delayed
    except ImportError as problem:
        message = f"jobs={jobs} needs the package joblib, which comes with scikit-learn"
        raise ImportError(f"{message}; without, jobs= takes the map of an executor") from problem

    def mapped(function: Callable[[Any], object], pieces: Iterable[object]) -> Iterator[object]:
        # large arrays are sent as they are: those that joblib maps from files can only be read
        pool = Parallel(n_jobs=jobs, backend="loky", return_as="generator", max_nbytes=None)
        answers: Iterator[object] = pool(delayed(function)(piece) for piece in pieces)
        return answers

    return mapped
