"""Random numbers that are the same on every backend.

A stream draws on the host and moves what it drew to the namespace, dtype and device of `like`:
a chapter that runs on a GPU sees the numbers that it sees on a CPU.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import check as _check
from .xp import Array, Vector, array_namespace, as_array, device

__all__ = ["Stream", "stream"]


@dataclass(frozen=True, eq=False)
class Stream:
    """A seeded source of random numbers; drawing from it moves it on.

    `seed` is the integer it started from, `path` the names of the streams that it was spawned
    through. A stream is for one thread: give each its own by `spawn`. A shape, a size or a limit
    that is no whole number, and a `like` that is no array, is a `TypeError`.

    >>> noise = stream(1).spawn("noise")
    >>> noise.normal(3).shape, noise.path
    ((3,), ('noise',))
    """

    seed: int
    path: tuple[str, ...]
    generator: np.random.Generator

    def normal(self, shape: int | tuple[int, ...] = (), *, like: Array | None = None) -> Array:
        """Standard normal numbers, in the kind of `like` (without it: NumPy float64)."""
        return _floats(self.generator.standard_normal(_shape(shape)), like)

    def uniform(self, shape: int | tuple[int, ...] = (), *, like: Array | None = None) -> Array:
        """Uniform numbers in [0, 1), in the kind of `like` (without it: NumPy float64)."""
        return _floats(self.generator.random(_shape(shape)), like)

    def integers(
        self, low: int, high: int, shape: int | tuple[int, ...] = (), *, like: Array | None = None
    ) -> Array:
        """Integers in ``low, …, high − 1``, on the device of `like` (without it: NumPy)."""
        low = _check.whole(low, "low", None)
        high = _check.whole(high, "high", low + 1)
        return _integers(self.generator.integers(low, high, _shape(shape)), like)

    def permutation(self, n: int, *, like: Array | None = None) -> Vector:
        """The numbers 0, …, n − 1 in random order, on the device of `like`."""
        return _integers(self.generator.permutation(_check.whole(n, "n")), like)

    def choice(
        self, n: int, size: int, *, replace: bool = False, like: Array | None = None
    ) -> Vector:
        """`size` of the numbers 0, …, n − 1, each once unless `replace`."""
        n = _check.whole(n, "n", 1)
        most = None if _check.flag(replace, "replace") else n
        size = _check.whole(size, "size", 0, most)
        return _integers(self.generator.choice(n, size, replace=replace), like)

    def spawn(self, name: str) -> Stream:
        """An independent stream that depends on the seed and the name, not on what was drawn."""
        if not isinstance(name, str):
            raise TypeError(f"name must be a string; got {type(name).__name__}")
        return _start(self.seed, (*self.path, name))


def stream(seed: int) -> Stream:
    """The stream that starts from `seed`, a whole number from 0; anything else is refused.

    >>> stream(1).normal(2)
    array([0.34558419, 0.82161814])
    >>> bool(stream(1).spawn("noise").uniform() == stream(1).spawn("noise").uniform())
    True
    """
    return _start(_check.whole(seed, "seed"), ())


def _start(seed: int, path: tuple[str, ...]) -> Stream:
    digests = (hashlib.sha256(name.encode()).digest() for name in path)
    key = tuple(int.from_bytes(digest[:8], "little") for digest in digests)
    entropy = np.random.SeedSequence(seed, spawn_key=key)
    return Stream(seed, path, np.random.Generator(np.random.PCG64(entropy)))


def _shape(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    return tuple(_check.whole(size, "shape") for size in sizes)


def _floats(drawn: Any, like: Array | None) -> Array:
    if like is None:
        return np.asarray(drawn)
    return as_array(np.asarray(drawn), _check.floating(like, "like"))


def _integers(drawn: Any, like: Array | None) -> Array:
    if like is None:
        return np.asarray(drawn)
    place = device(_check.array(like, "like"))
    return array_namespace(like).asarray(np.asarray(drawn), device=place)
