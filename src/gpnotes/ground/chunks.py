"""Sums over chunks of data that need not be in memory together, worked out by any `map`.

The builtin works on one chunk after the other; ``ThreadPoolExecutor().map`` and that of a cluster
work on several at once. A chunk that fails is named, and none is dropped silently. With Dask, which
the extra ``scale`` brings, a `map` that lets it try a chunk thrice, and answers as answers come, is
::

    cluster = distributed.LocalCluster(dashboard_address="127.0.0.1:0")
    client = distributed.Client(cluster)

    def on_cluster(work, chunks):
        futures = client.map(work, list(chunks), retries=2, pure=False)
        return (future.result() for future in distributed.as_completed(futures))

The address asks for any port that is free: without it, or with None, Dask wants one port for every
cluster, which a second one finds taken.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

from . import check as _check
from .showing import summary
from .xp import Matrix, Vector

__all__ = [
    "OF_EACH_ROW", "Chunk", "ChunkError", "Chunks", "Data", "Mapper", "Rows", "add_up",
    "repeatable",
]  # fmt: skip


OF_EACH_ROW = "a chunk may be Rows(X, y, noise_var=..., weights=...), which hold it"


class Addable(Protocol):
    """The terms of a sum."""

    def __add__(self, other: Any, /) -> Self: ...


S = TypeVar("S", bound=Addable)
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of data in one place.

    Parameters
    ----------
    X : Matrix, shape (n, d)
        The inputs.
    y : Vector, shape (n,)
        The observations.
    noise_var : Vector, shape (n,), or None, default None
        The known variance of the noise of each, on top of that of the model.
    weights : Vector, shape (n,), or None, default None
        The divisor of the model's variance of the noise for each, such as the number of readings it
        is the mean of.
    offset : Vector, shape (n,), or None, default None
        A term added to the latent f of each, such as the logarithm of an exposure.
    """

    X: Matrix
    y: Vector
    noise_var: Vector | None = None
    weights: Vector | None = None
    offset: Vector | None = None

    __repr__ = summary

    @property
    def knows_noise(self) -> bool:
        """True if there is known noise, or weights, for each row."""
        return not (self.noise_var is None and self.weights is None)

    def over(self, work: Callable[[Matrix, Vector], T]) -> T:
        """Return a function's value for the data.

        Parameters
        ----------
        work : callable
            A function of X and y. One that checks chunks has its unchecked work in ``_call``, which
            serves here: rows were checked when they came.

        Returns
        -------
        object
            Its result.
        """
        trusting: Callable[[Matrix, Vector], T] = getattr(work, "_call", work)
        return trusting(self.X, self.y)


Fetched: TypeAlias = tuple[Matrix, Vector] | Rows
Chunk: TypeAlias = Fetched | Callable[[], Fetched]
"""Inputs X (n, d) with observations y (n,), as a pair or as `Rows`, or a function that fetches
them."""

Mapper: TypeAlias = Callable[[Callable[[Any], object], Iterable[object]], Iterable[Any]]
"""The type of the builtin `map`: a function and an iterable in, an iterable of the results out."""


class ChunkError(ValueError):
    """The error for a chunk that failed; its cause is the error within.

    Parameters
    ----------
    number : int
        The number of the chunk, from 0.
    problem : str
        The problem with it.
    """

    def __init__(self, number: int, problem: str) -> None:
        super().__init__(number, problem)  # both, so that it comes back whole from other processes
        self.number = number

    def __str__(self) -> str:
        return f"chunk {self.number} of chunks failed: {self.args[1]}"


def add_up(
    work: Callable[[Matrix, Vector], S],
    chunks: Iterable[Chunk],
    map: Mapper = builtins.map,
    *,
    by_reading: bool = False,
) -> S:
    """Sum ``work(X, y)`` over chunks of data, each worked out by `map`.

    Parameters
    ----------
    work : callable
        A function of X (n, d) and y (n,), whose results can be added.
    chunks : iterable of Chunk
        Pairs (X, y) or `Rows`, or functions that fetch one where it is worked on, so that data
        which do not fit in memory never come here.
    map : callable
        By default the builtin. It is called once, as ``map(function, iterable)``, with functions
        and results that can be pickled if `work` can.
    by_reading : bool, default False
        Whether readings may have a noise of their own. Work for which that matters has a method
        ``of_chunk``, which is then given `Rows`.

    Returns
    -------
    object
        The sum, added in the order of the answers: a `map` that answers in another order gives the
        same up to rounding.

    Raises
    ------
    ChunkError
        If a chunk fails, is no pair, or `map` gives no answer for it or two; with its number.
    ValueError
        If there is no chunk with a row. One without any, as filters leave them, adds nothing.

    Notes
    -----
    Time is that of `work`; memory that of one answer, and of those that `map` holds.

    Examples
    --------
    >>> import numpy as np
    >>> halves = [(np.ones((2, 1)), np.asarray([1.0, 2.0])), lambda: (np.ones((1, 1)), np.ones(1))]
    >>> float(add_up(lambda X, y: np.sum(y), halves))
    4.0
    """
    _check.function(work, "work")
    _check.function(map, "map")
    by_reading = _check.flag(by_reading, "by_reading")
    given = _Numbers(_iterator(chunks))
    total: S | None = None
    seen: set[int] = set()
    for answer in _answers(map(_Numbered(work, by_reading), given)):
        number, part = _answer(answer)
        if number in seen:
            raise ChunkError(number, "map answered twice for it")
        seen.add(number)
        if part is not None:
            total = part if total is None else total + part
    for _ in given:  # what a map that stopped early did not ask for has no answer either
        break
    for number in range(given.count):
        if number not in seen:
            raise ChunkError(number, "map gave no answer for it")
    if total is None:
        got = f"got {given.count} without rows" if seen else "got none"
        raise ValueError(f"chunks must hold at least one pair (X, y) with a row; {got}")
    return total


@dataclass(frozen=True, eq=False)
class Chunks:
    """Data in chunks, and the `map` that works on them, in place of rows for sums over rows.

    Parameters
    ----------
    chunks : iterable of Chunk
        Pairs (X, y), or `Rows` with the known noise of each reading, or functions
        that fetch one where it is worked on, so that data which do not fit in memory never come
        here.
    map : callable
        The function that works on them, by default the builtin: called once, with a function and
        an iterable, it may answer in any order.
    by_reading : bool or None, default None
        Whether readings have a noise of their own, `noise_var` or `weights` of `Rows`; None looks
        at a list of chunks. For functions that fetch rows it is taken to be True.

    Raises
    ------
    TypeError
        If `chunks` is no iterable or `map` no function.

    Examples
    --------
    >>> import numpy as np
    >>> halves = [(np.ones((2, 1)), np.asarray([1.0, 2.0])), (np.ones((1, 1)), np.ones(1))]
    >>> float(Chunks(halves).over(lambda X, y: np.sum(y)))
    4.0
    >>> from gpnotes import GP, RBF, SparseGP, log_evidence
    >>> model, X, y = SparseGP(GP(RBF(), 0.1), np.eye(2)), np.ones((3, 2)), np.ones(3)
    >>> bars = [Rows(X, y, noise_var=np.asarray([0.1, 0.2, 0.5])), (X, y)]
    >>> round(log_evidence(model, Chunks(bars)), 3)
    -12.085
    """

    chunks: Iterable[Chunk]
    map: Mapper = builtins.map
    by_reading: bool | None = None

    def __post_init__(self) -> None:
        _iterator(self.chunks)
        _check.function(self.map, "map")
        if self.by_reading is not None:
            _check.flag(self.by_reading, "by_reading")

    @property
    def knows_noise(self) -> bool:
        """True if readings have a noise of their own."""
        if self.by_reading is not None or not isinstance(self.chunks, list | tuple):
            return bool(self.by_reading)
        return any(isinstance(chunk, Rows) and chunk.knows_noise for chunk in self.chunks)

    def over(self, work: Callable[[Matrix, Vector], S]) -> S:
        """Sum a function's values over chunks; errors are those of `add_up`.

        Parameters
        ----------
        work : callable
            A function of X and y, whose results can be added.

        Returns
        -------
        object
            The sum.
        """
        return add_up(work, self.chunks, self.map, by_reading=self.knows_noise)


Data: TypeAlias = Rows | Chunks


def repeatable(chunks: Iterable[Chunk]) -> Iterable[Chunk]:
    """Return chunks, if they can be gone through more than once, as a list and no generator can.

    Parameters
    ----------
    chunks : iterable of Chunk
        The chunks.

    Returns
    -------
    iterable of Chunk
        The same.
    """
    if _iterator(chunks) is chunks:
        wanted = "a list, or another iterable that can be gone through twice"
        raise TypeError(f"chunks must be {wanted}; got {_check.kind_of(chunks)}")
    return chunks


def _iterator(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    try:
        return iter(chunks)
    except TypeError:
        wanted = "an iterable of pairs (X, y)"
        raise TypeError(f"chunks must be {wanted}; got {_check.kind_of(chunks)}") from None


def _answers(given: Iterable[object]) -> Iterator[object]:
    try:
        return iter(given)
    except TypeError:
        wanted = "an iterable of what its function returned"
        raise TypeError(f"map must return {wanted}; got {_check.kind_of(given)}") from None


def _answer(given: object) -> tuple[int, Any]:
    """The answer of `_Numbered`, if `map` handed that on."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise TypeError(f"map must return what its function returned; got {_check.kind_of(given)}")
    return given


class _Numbers:
    """Chunks with their numbers, and how many were asked for."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self.count = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[int, Chunk]:
        try:
            chunk = next(self._chunks)
        except StopIteration:
            raise
        except Exception as problem:
            raise _failure(self.count, problem) from problem
        self.count += 1
        return self.count - 1, chunk


@dataclass(frozen=True)
class _Numbered(Generic[S]):
    """Work on a chunk that comes, and goes, with its number; its errors have it too."""

    work: Callable[[Matrix, Vector], S]
    by_reading: bool = False

    def __call__(self, numbered: tuple[int, Chunk]) -> tuple[int, S | None]:
        number, chunk = numbered
        try:
            rows = _rows(chunk)
            return number, None if _is_empty(rows) else self._of(rows)
        except Exception as problem:
            raise _failure(number, problem) from problem

    def _of(self, rows: Rows) -> S:
        if rows.offset is not None:
            raise TypeError("offset must be None in a chunk: give all rows to an SVGP, in batches")
        if rows.knows_noise and not self.by_reading:
            name = "weights" if rows.noise_var is None else "noise_var"
            raise TypeError(f"{name} must be None in it, unless Chunks(..., by_reading=True)")
        of_chunk = getattr(self.work, "of_chunk", None)
        if self.by_reading and of_chunk is not None:
            found: S = of_chunk(rows)
            return found
        return self.work(rows.X, rows.y)


def _rows(chunk: object) -> Rows:
    pair = chunk() if callable(chunk) else chunk
    if isinstance(pair, Rows):
        return pair
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        wanted = "a pair (X, y) or a function that fetches one"
        if isinstance(pair, tuple | list) and len(pair) > 2:
            known = f"what is known of each row, such as its noise, comes not so: {OF_EACH_ROW}"
            raise TypeError(f"it must be {wanted}; got {len(pair)} things: {known}")
        raise TypeError(f"it must be {wanted}; got {_check.kind_of(pair)}")
    return Rows(pair[0], pair[1])


def _is_empty(rows: Rows) -> bool:
    """Return True for a chunk without rows."""
    return getattr(rows.X, "shape", ())[:1] == (0,) == getattr(rows.y, "shape", None)


def _failure(number: int, problem: Exception) -> ChunkError:
    return ChunkError(number, f"{type(problem).__name__}: {problem}")
