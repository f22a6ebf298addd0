"""Random numbers that are the same on every backend.

A stream draws on the host and moves its draws to the namespace, dtype and device of `like`:
a chapter that runs on a GPU sees the numbers that it sees on a CPU.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from . import check as _check
from . import memory
from .xp import Array, Vector, array_namespace, as_array, device

__all__ = ["RNG", "Stream", "stream", "stream_of"]


@dataclass(frozen=True, eq=False)
class Stream:
    """A seeded source of random numbers; drawing from it moves it on.

    A stream is for one thread: give each its own by `spawn`. Made by `stream`.

    Parameters
    ----------
    seed : int
        The number it started from.
    path : tuple of str
        The names of the streams that it was spawned through.
    generator : numpy.random.Generator
        NumPy's generator, which draws on the host.

    Examples
    --------
    >>> noise = stream(1).spawn("noise")
    >>> noise.normal(3).shape, noise.path
    ((3,), ('noise',))
    """

    seed: int
    path: tuple[str, ...]
    generator: np.random.Generator

    def normal(self, shape: int | tuple[int, ...] = (), *, like: Array | None = None) -> Array:
        """Draw standard normal numbers.

        Parameters
        ----------
        shape : int or tuple of int, default ()
            The shape of the result.
        like : Array or None, default None
            The numbers are in the kind of it; without it, NumPy float64.
        """
        return _floats(self.generator.standard_normal(_shape(shape)), like)

    def uniform(self, shape: int | tuple[int, ...] = (), *, like: Array | None = None) -> Array:
        """Draw uniform numbers in [0, 1); the arguments are those of `normal`."""
        return _floats(self.generator.random(_shape(shape)), like)

    def integers(
        self, low: int, high: int, shape: int | tuple[int, ...] = (), *, like: Array | None = None
    ) -> Array:
        """Draw integers in ``low, …, high − 1``.

        Parameters
        ----------
        low : int
            The least.
        high : int
            One more than the largest.
        shape : int or tuple of int, default ()
            The shape of the result.
        like : Array or None, default None
            The numbers are on the device of it; without it, NumPy.
        """
        low = _check.whole(low, "low", None)
        high = _check.whole(high, "high", low + 1)
        return _integers(self.generator.integers(low, high, _shape(shape)), like)

    def permutation(self, n: int, *, like: Array | None = None) -> Vector:
        """Draw the numbers 0, …, n − 1 in random order.

        Parameters
        ----------
        n : int
            How many numbers.
        like : Array or None, default None
            The numbers are on the device of it; without it, NumPy.
        """
        return _integers(self.generator.permutation(memory.count(n, "n", 0)), like)

    def choice(
        self, n: int, size: int, *, replace: bool = False, like: Array | None = None
    ) -> Vector:
        """Draw some of the numbers 0, …, n − 1, each once unless they are put back.

        Parameters
        ----------
        n : int
            How many numbers there are, from 1.
        size : int
            How many are drawn.
        replace : bool, default False
            Put each number back after it is drawn.
        like : Array or None, default None
            The numbers are on the device of it; without it, NumPy.

        Returns
        -------
        Vector, shape (size,)
            The numbers.
        """
        n = _check.whole(n, "n", 1, sys.maxsize)
        if not _check.flag(replace, "replace"):
            _check.whole(size, "size", 0, n)
        size = memory.count(size, "size", 0)
        return _integers(self.generator.choice(n, size, replace=replace), like)

    def spawn(self, name: str) -> Stream:
        """Return an independent stream, which depends on the seed and the name alone.

        Earlier draws do not matter.

        Parameters
        ----------
        name : str
            The name of the stream.

        Returns
        -------
        Stream
            The same one for the same seed and path of names.
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a string; got {type(name).__name__}")
        return _start(self.seed, (*self.path, name))


def stream(seed: int) -> Stream:
    """Return the stream of random numbers that starts from a seed.

    Parameters
    ----------
    seed : int
        A whole number from 0.

    Returns
    -------
    Stream
        The source of random numbers, the same on every backend.

    Examples
    --------
    >>> stream(1).normal(2)
    array([0.34558419, 0.82161814])
    >>> bool(stream(1).spawn("noise").uniform() == stream(1).spawn("noise").uniform())
    True
    """
    return _start(_check.whole(seed, "seed"), ())


# as a string: at run time it would load `numpy.random` with the package
RNG: TypeAlias = "Stream | np.random.Generator | int"


def stream_of(given: RNG, name: str = "rng") -> Stream:
    """Return the stream of an argument `rng`: a seed, a stream, or a generator of NumPy.

    A generator is asked for one seed, so that it moves on, and the next call with it draws
    other numbers.

    Parameters
    ----------
    given : Stream, numpy.random.Generator or int
        A stream or a generator, or a whole number from 0 as a seed.
    name : str
        The name of the argument in errors.

    Examples
    --------
    >>> stream_of(3).seed
    3
    >>> given = np.random.default_rng(3)
    >>> bool(stream_of(given).uniform() == stream_of(given).uniform())
    False
    """
    if isinstance(given, Stream):
        return given
    if isinstance(given, np.random.Generator):
        return stream(int(given.integers(2**63 - 1)))
    if _check.whole_or_none(given) is None:
        wanted = "a Stream, a NumPy Generator, or a seed from 0"
        raise TypeError(f"{name} must be {wanted}; got {_check.whose(given)}")
    return stream(_check.whole(given, name))


def _start(seed: int, path: tuple[str, ...]) -> Stream:
    digests = (hashlib.sha256(name.encode()).digest() for name in path)
    key = tuple(int.from_bytes(digest[:8], "little") for digest in digests)
    entropy = np.random.SeedSequence(seed, spawn_key=key)
    return Stream(seed, path, np.random.default_rng(entropy))


def _shape(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    if isinstance(shape, tuple) and not shape:  # one number, as a chain draws them by the thousand
        return ()
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    return tuple(_check.whole(size, "shape") for size in sizes)


def _floats(drawn: object, like: Array | None) -> Array:
    if like is None:
        return np.asarray(drawn)
    return as_array(np.asarray(drawn), _check.floating(like, "like"))


def _integers(drawn: object, like: Array | None) -> Array:
    if like is None:
        return np.asarray(drawn)
    place = device(_check.array(like, "like"))
    return array_namespace(like).asarray(np.asarray(drawn), device=place)
