"""Pairs of strategies and their join for NumPy arrays: as in `polynomials`, with memory reused.

The formulas are those of `polynomials`, which stays the reference; a test holds both to each other.
Here a node keeps room for what it computes: arrays that are made and thrown away a hundred thousand
times cost a quarter of the time. So what `forward` gives holds until it is called again, what is
pulled is read one array at a time, and a node serves one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .polynomials import Join, Pair, Pull, Terms

__all__ = ["NODES", "QuickJoin", "QuickPair"]


@dataclass(frozen=True)
class _Roomy:
    """A node with room that is made once for each shape."""

    room: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)

    def take(self, name: str, shape: tuple[int, ...], like: np.ndarray) -> np.ndarray:
        """An array with anything in it."""
        held = self.room.get(name)
        if held is None or held.shape != shape:
            held = self.room[name] = np.empty(shape, like.dtype)
        return held


@dataclass(frozen=True)
class QuickPair(_Roomy, Pair):
    """Two strategies: products that are written where they belong."""

    def forward(self, chances: tuple[Any, Any, Any], bumps: np.ndarray) -> tuple[Terms, Pull]:
        """As in `Pair`."""
        both, by_first, by_second = chances
        shape = len(self.degrees), bumps.shape[1], both.shape[1]
        terms, turned = self.take("terms", shape, both), bumps.T
        for part, term in zip(self.parts, terms, strict=True):
            np.matmul(turned[:, part], both[part], out=term)

        def pull(bars: Iterable[np.ndarray]) -> list[np.ndarray]:
            bar = self.take("bar", both.shape, both)
            for part, one in zip(self.parts, bars, strict=True):
                np.matmul(bumps[part], one, out=bar[part])
            return [np.einsum("tb,tb->b", bar, by) for by in (by_first, by_second)]

        return terms, pull


@dataclass(frozen=True)
class QuickJoin(_Roomy, Join):
    """Two pairs, and of their product one degree, ``Σ_k L_k R_{n−k}``."""

    def forward(self, chances: tuple[Any, Any], bumps: tuple[Any, Any]) -> tuple[Terms, Pull]:
        """As in `Join`."""
        L, pull_left = self.left.forward(chances[0], bumps[0])
        R, pull_right = self.right.forward(chances[1], bumps[1])
        term = np.einsum("kjb,kjb->jb", L, R[::-1])

        def pull(bars: Iterable[np.ndarray]) -> list[np.ndarray]:
            (bar,) = bars
            return [*pull_left(self._times(bar, R[::-1])), *pull_right(self._times(bar, L[::-1]))]

        return [term], pull

    def _times(self, bar: np.ndarray, other: np.ndarray) -> Iterator[np.ndarray]:
        """``bar O_{n−k}`` for every k, each in the place of the last."""
        here = self.take("product", bar.shape, bar)
        for one in other:
            yield np.multiply(bar, one, out=here)


NODES = {"pair": QuickPair, "join": QuickJoin}
