"""Products of polynomials for NumPy arrays, written where they belong.

The formulas are those of `gpnotes.games.methods.polynomials`, whose nodes call these
functions and which stays the reference; a test holds both to each other. Arrays that are made and
thrown away a hundred thousand times cost a quarter of the time, so that results are written into
a `Workspace` that the caller brings, as NumPy's functions write into their ``out``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..ground.xp import HostArray

__all__ = ["Workspace", "pair_bars", "pair_terms", "products", "top_term"]


class Workspace:
    """Arrays by name, made when they are first asked for and then written over.

    The results of a function stay in its workspace until the next call with it.
    A workspace is for one thread.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, HostArray] = {}
        self._parts: dict[str, Workspace] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: np.dtype) -> HostArray:
        """The array of that name, with anything in it; made anew for another shape or dtype."""
        held = self._arrays.get(name)
        if held is None or held.shape != shape or held.dtype != dtype:
            held = np.empty(shape, dtype)
            self._arrays[name] = held
        return held

    def part(self, name: str) -> Workspace:
        """A workspace of its own for a part of the computation."""
        return self._parts.setdefault(name, Workspace())


def pair_terms(
    bumps: HostArray, chances: HostArray, degrees: Sequence[slice], work: Workspace
) -> HostArray:
    """``Σ_x bumps(x, j) chances(x, b)`` over the rows of each degree: (degrees, j, b)."""
    terms = work.array("terms", (len(degrees), bumps.shape[1], chances.shape[1]), chances.dtype)
    turned = bumps.T
    for rows, term in zip(degrees, terms, strict=True):
        np.matmul(turned[:, rows], chances[rows], out=term)
    return terms


def pair_bars(
    bumps: HostArray,
    bars: Iterable[HostArray],
    by_rates: Sequence[HostArray],
    degrees: Sequence[slice],
    work: Workspace,
) -> list[HostArray]:
    """Pull derivatives by each degree's term, (j, b), back through `pair_terms`, one at a time.

    They are summed with each of `by_rates`, the derivatives of the chances by two rates.
    """
    bar = work.array("bar", by_rates[0].shape, by_rates[0].dtype)
    for rows, by_term in zip(degrees, bars, strict=True):
        np.matmul(bumps[rows], by_term, out=bar[rows])
    return [np.einsum("tb,tb->b", bar, by_rate) for by_rate in by_rates]


def top_term(left: HostArray, right: HostArray) -> HostArray:
    """``Σ_k left_k right_{n−k}`` of coefficients (n + 1, j, b): (j, b)."""
    return np.einsum("kjb,kjb->jb", left, right[::-1])


def products(bar: HostArray, others: HostArray, work: Workspace) -> Iterator[HostArray]:
    """``bar other_{n−k}`` for k = 0, …, n, each written over the last."""
    product = work.array("product", bar.shape, bar.dtype)
    for other in others[::-1]:
        yield np.multiply(bar, other, out=product)
