"""Threads of BLAS for a computation: one pool at work, and one thread for a small problem.

Wheels of NumPy and of SciPy hold a library of linear algebra each, with threads of its own that
wait for the next product by spinning. Code that goes from one library to the other, hundreds of
times a second, has both pools spin for the same cores: an epoch of a sparse variational process
that one thread does in half a second took from two to twenty-five on two. And threads that share a
small problem wait for each other at every product. Where another process keeps a core busy, that
is a wait for the scheduler: thirty evaluations of Bayesian optimisation took up to twenty times
as long as on one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["called_back", "in_one_pool", "shared_out", "threads_at_hand", "threads_for"]

P = ParamSpec("P")
R = TypeVar("R")

_SMALL = 2**27  # multiplications, a product of three matrices' sides of 512


def in_one_pool(function: Callable[P, R]) -> Callable[P, R]:
    """Let NumPy's own pool have one thread during a function, if SciPy has another pool.

    Notes
    -----
    SciPy's pool, which does the larger products in place, keeps its threads; so does NumPy's where
    there is no other, and afterwards. It holds for the process: other Python threads see it
    meanwhile.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        with (_FOUND or _rests()).of_numpy:
            return function(*args, **kwargs)

    return called


def threads_for(work: Callable[..., int]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function have the threads that its work can use: one alone, or those of one pool.

    From the function's arguments, which are validated, `work` tells about how many multiplications
    it is.

    Notes
    -----
    A small problem has one thread, whatever the machine does beside; up to some 500 points that is
    as fast as two. A large one is as if `in_one_pool`.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            of_numpy, of_all = _FOUND or _rests()
            with of_all if work(*args, **kwargs) <= _SMALL else of_numpy:
                return function(*args, **kwargs)

        return called

    return decorated


def called_back(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function have the threads that there were before the small problem that calls it.

    Notes
    -----
    An optimiser's own algebra is of a few numbers; what it minimises may be large.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        rest = (_FOUND or _rests()).of_all
        rest.__exit__()
        try:
            return function(*args, **kwargs)
        finally:
            rest.__enter__()

    return called


def threads_at_hand() -> int:
    """How many threads BLAS would have now: one, within what is small or shared out."""
    return _rests().of_all.threads()


def shared_out() -> AbstractContextManager[int]:
    """One thread for each call of BLAS inside; and how many of Python's may share the work."""
    return _rests().of_all


_LOCK = Lock()  # over whoever is counted as inside


def _renew() -> None:
    """In a child of the process, which another Python thread may have had in its hands."""
    global _LOCK
    _LOCK = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


class _Pool:
    """The threads of a library, one of them as long as anybody is inside.

    Whoever comes first keeps how many there were, and whoever leaves last gives them back.
    """

    def __init__(self, many: Callable[[], int], have: Callable[[int], object]) -> None:
        self.many, self.have = many, have
        self.before = self.inside = 0


def _pool(library: Any) -> _Pool:
    """The library's own functions, where all Python threads share its pool.

    Since 3.8 threadpoolctl lets but the first Python thread that asked change such a pool.
    """
    if getattr(library, "threading_layer", None) == "pthreads":
        for prefix, suffix in product(("scipy_", ""), ("64_", "_64", "")):
            ways = (f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
            many, have = (getattr(library.dynlib, way, None) for way in ways)
            if many and have:
                return _Pool(many, have)
    return _Pool(library.get_num_threads, library.set_num_threads)


class _Rest(NamedTuple):
    """A context in which pools rest; it tells how many threads the working one of them had."""

    pools: tuple[_Pool, ...]
    working: tuple[_Pool, ...]

    def threads(self) -> int:
        """How many the largest of those that work has now."""
        return max((pool.many() for pool in self.working), default=1)

    def __enter__(self) -> int:
        threads = 1
        with _LOCK:
            for pool in self.pools:
                if not pool.inside:
                    pool.before = pool.many()
                    pool.have(1)
                    if pool in self.working:
                        threads = max(threads, pool.before)
                pool.inside += 1
        return threads

    def __exit__(self, *problem: object) -> None:
        with _LOCK:
            for pool in self.pools:
                pool.inside -= 1
                if not pool.inside:
                    pool.have(pool.before)


class _Rests(NamedTuple):
    """For a large problem, and for a small one."""

    of_numpy: _Rest
    of_all: _Rest


def _rests() -> _Rests:
    """NumPy's pool, if there is another, and all of them; once SciPy's is loaded.

    They count apart: a small problem within a large one, or beside it, leaves it NumPy's rest.
    """
    global _FOUND
    if _FOUND is None:
        import scipy.linalg  # noqa: F401

        with _LOCK:  # there must not be two that count
            _FOUND = _FOUND or _look()
    return _FOUND


_FOUND: _Rests | None = None


def _look() -> _Rests:
    of_numpy: list[_Pool] = []
    others: list[_Pool] = []
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        own = any("numpy" in part for part in Path(library.filepath).parts[-3:-1])
        (of_numpy if own else others).append(_pool(library))
    if not others:
        of_numpy, others = others, of_numpy
    first, second = tuple(of_numpy), tuple(others)
    return _Rests(_Rest(first, first), _Rest(first + second, second))
