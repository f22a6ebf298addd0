"""Products of polynomials for many mixtures and samples at once, and how they are differentiated.

Each strategy s has a polynomial with coefficients ``π(x; λ_s) f_s(x)``: a chance that knows the
mixture, and a bump that knows the sample. A `tree` multiplies those of a role. Its leaves are pairs
of strategies: for each degree one matrix product of chances ``π(x; λ_1) π(m − x; λ_2)`` with bumps
``f_1(x) f_2(m − x)``. Larger groups are joined entry by entry.

Every node has the same three steps: `bumps` and `chances` prepare the samples and the mixtures,
`forward` gives the coefficients and a function that pulls derivatives by them back to the
derivatives by each λ_s. There ``∂π(x; λ)/∂λ`` counts as π(x − 1; λ): the factor e^{−λ} is left out,
which makes the product homogeneous in the mixture.

For NumPy arrays `forward` takes a `Workspace`: then it writes into that, by the functions of
`gpnotes.fast.polynomials`, and its results stay until the next call with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from ...fast import polynomials as inplace
from ...fast.polynomials import Workspace
from ...ground.xp import Array, HostArray, array_namespace, as_array, device, epsilon

__all__ = [
    "Join",
    "Node",
    "Pair",
    "Single",
    "Tree",
    "flush_to_zero",
    "mode_pmf",
    "poisson_table",
    "tree",
]

Terms: TypeAlias = Sequence[Array] | HostArray  # a (j, b) array for each degree
Pull: TypeAlias = Callable[[Iterable[Array]], Sequence[Array]]
Bumps = TypeVar("Bumps")
Chances = TypeVar("Chances")


class Node(Protocol[Bumps, Chances]):
    """The product of the polynomials of some strategies, with prepared values of its own type."""

    def bumps(self, values: list[Array]) -> Bumps:
        """Prepare the part of the samples.

        Parameters
        ----------
        values : list of Array
            ``f_s(x)`` of each strategy, (n + 1, j).

        Returns
        -------
        object
            The `bumps` of `forward`; each class has its own type.
        """

    def chances(self, table: Array) -> Chances:
        """Prepare the part of the mixtures.

        Parameters
        ----------
        table : Array, shape (s, n + 1, b)
            ``π(x; λ_s)`` of each strategy.

        Returns
        -------
        object
            The `chances` of `forward`; each class has its own type.
        """

    def forward(
        self, chances: Chances, bumps: Bumps, work: Workspace | None = None
    ) -> tuple[Terms, Pull]:
        """The coefficients of the product, and a function that pulls derivatives by them back.

        Parameters
        ----------
        chances : object
            The part of the mixtures, by `chances`.
        bumps : object
            The part of the samples, by `bumps`.
        work : Workspace, optional
            Room to write into, for NumPy arrays; the answer holds until it is used again.

        Returns
        -------
        terms : sequence of Array
            The coefficient of each degree, (j, b).
        pull : callable
            A function of the derivatives by `terms` that gives those by each λ_s.
        """


Tree: TypeAlias = Node[Any, Any]
"""A node with whatever bumps and chances it prepares for itself."""


@lru_cache(maxsize=4)  # of a game the same few are asked for, and one of many opponents is large
def tree(strategies: int, n: int) -> Tree:
    """The node that multiplies the polynomials of a role.

    Parameters
    ----------
    strategies : int
        The number of strategies of the role.
    n : int
        The number of opponents in it: of the product only this degree is computed.
    """
    return _node(strategies, [n], n)


def _node(strategies: int, degrees: list[int], n: int) -> Tree:
    if strategies == 1:
        return Single(degrees)
    if strategies == 2:
        return Pair(degrees)
    half = 2 * math.ceil(strategies / 4)  # an even number: pairs are what is fast
    every = list(range(n + 1))
    return Join(_node(half, every, n), _node(strategies - half, every, n), half, degrees)


@dataclass(frozen=True)
class Single:
    """The polynomial of one strategy, ``π(m) f(m)``.

    Parameters
    ----------
    degrees : list of int
        The degrees m to compute.
    """

    degrees: list[int]

    def bumps(self, values: list[Array]) -> Array:
        """Prepare the part of the samples, from ``f_s(x)``, a list of (n + 1, j)."""
        return values[0]

    def chances(self, table: Array) -> tuple[Array, Array]:
        """Prepare the part of the mixtures, from ``π(x; λ_s)``, (s, n + 1, b)."""
        return table[0, :, :], _lower(table[0, :, :])

    def forward(
        self, chances: tuple[Array, Array], bumps: Array, work: Workspace | None = None
    ) -> tuple[Terms, Pull]:
        """The coefficients, and a function that pulls derivatives back, as in `Node.forward`."""
        chance, lower = chances
        terms = [bumps[m, :][:, None] * chance[m, :] for m in self.degrees]

        def pull(bars: Iterable[Array]) -> list[Array]:
            by_degree = zip(self.degrees, bars, strict=True)
            return [_total((bumps[m, :] @ bar) * lower[m, :] for m, bar in by_degree)]

        return terms, pull


@dataclass(frozen=True)
class Pair:
    """The product of two strategies: a matrix product for each degree m, over ``x = 0, …, m``.

    Parameters
    ----------
    degrees : list of int
        The degrees m to compute.
    """

    degrees: list[int]

    @cached_property
    def parts(self) -> list[slice]:
        """The rows in which the terms of each degree stand."""
        ends = accumulate(m + 1 for m in self.degrees)
        return [slice(end - m - 1, end) for end, m in zip(ends, self.degrees, strict=True)]

    @cached_property
    def places(self) -> tuple[HostArray, HostArray]:
        """For every degree m the places ``x`` and ``m − x``, one below the other."""
        xs = np.concatenate([np.arange(m + 1) for m in self.degrees])
        return xs, np.repeat(self.degrees, np.add(self.degrees, 1)) - xs

    def _convolved(self, first: Array, second: Array) -> Array:
        """``first(x) second(m − x)`` for every degree m and x = 0, …, m, one below the other."""
        xp = array_namespace(first)
        xs, ys = (xp.asarray(places, device=device(first)) for places in self.places)
        return xp.take(first, xs, axis=0) * xp.take(second, ys, axis=0)

    def bumps(self, values: list[Array]) -> Array:
        """Prepare the part of the samples, from ``f_s(x)``, a list of (n + 1, j)."""
        return flush_to_zero(self._convolved(*values))

    def chances(self, table: Array) -> tuple[Array, Array, Array]:
        """Prepare the part of the mixtures, from ``π(x; λ_s)``, (s, n + 1, b)."""
        first = table[0, :, :]
        second = table[1, :, :]
        both = flush_to_zero(self._convolved(first, second))
        by_first = self._convolved(_lower(first), second)
        return both, by_first, self._convolved(first, _lower(second))

    def forward(
        self, chances: tuple[Any, Any, Any], bumps: Any, work: Workspace | None = None
    ) -> tuple[Terms, Pull]:
        """The coefficients, and a function that pulls derivatives back, as in `Node.forward`."""
        both, *by_rates = chances
        if work is not None:
            in_place = inplace.pair_terms(bumps, both, self.parts, work)
            return in_place, lambda bars: inplace.pair_bars(bumps, bars, by_rates, self.parts, work)
        xp = array_namespace(bumps)
        terms = [xp.matrix_transpose(bumps[part, :]) @ both[part, :] for part in self.parts]

        def pull(bars: Iterable[Array]) -> list[Array]:
            by_degree = zip(bars, self.parts, strict=True)
            bar = xp.concat([bumps[part, :] @ bar for bar, part in by_degree], axis=0)
            return [xp.sum(bar * by_rate, axis=0) for by_rate in by_rates]

        return terms, pull


@dataclass(frozen=True)
class Join:
    """The product of two groups of strategies, ``Σ_k L_k R_{m−k}``, entry by entry.

    Parameters
    ----------
    left, right : Node
        The groups.
    half : int
        The number of strategies in `left`.
    degrees : list of int
        The degrees m to compute.
    """

    left: Tree
    right: Tree
    half: int
    degrees: list[int]

    def bumps(self, values: list[Array]) -> tuple[object, object]:
        """Prepare the part of the samples, from ``f_s(x)``, a list of (n + 1, j)."""
        return self.left.bumps(values[: self.half]), self.right.bumps(values[self.half :])

    def chances(self, table: Array) -> tuple[object, object]:
        """Prepare the part of the mixtures, from ``π(x; λ_s)``, (s, n + 1, b)."""
        left = table[: self.half, :, :]
        right = table[self.half :, :, :]
        return self.left.chances(left), self.right.chances(right)

    def forward(
        self,
        chances: tuple[object, object],
        bumps: tuple[object, object],
        work: Workspace | None = None,
    ) -> tuple[Terms, Pull]:
        """The coefficients, and a function that pulls derivatives back, as in `Node.forward`."""
        left_work = None if work is None else work.part("L")
        right_work = None if work is None else work.part("R")
        L, pull_left = self.left.forward(chances[0], bumps[0], left_work)
        R, pull_right = self.right.forward(chances[1], bumps[1], right_work)
        root = work if len(self.degrees) == 1 else None
        if (
            root is not None and isinstance(L, np.ndarray) and isinstance(R, np.ndarray)
        ):  # two pairs
            return [inplace.top_term(L, R)], _TopPull(L, R, pull_left, pull_right, root)
        terms = [_total(L[k] * R[m - k] for k in range(m + 1)) for m in self.degrees]

        def pull(bars: Iterable[Array]) -> list[Array]:
            by_degree = dict(zip(self.degrees, bars, strict=True))
            return [*pull_left(_cross(by_degree, R)), *pull_right(_cross(by_degree, L))]

        return terms, pull


@dataclass(frozen=True)
class _TopPull:
    """A function that pulls the derivatives by one coefficient of two pairs back, in place."""

    left: HostArray
    right: HostArray
    pull_left: Pull
    pull_right: Pull
    work: Workspace

    def __call__(self, bars: Iterable[Any]) -> Sequence[Array]:
        (bar,) = bars
        by_left = self.pull_left(inplace.products(bar, self.right, self.work))
        return [*by_left, *self.pull_right(inplace.products(bar, self.left, self.work))]


def _cross(bars: dict[int, Array], other: Terms) -> Iterable[Array]:
    """Yield ``Σ_m bar_m O_{m−k}`` for every k, the derivatives by L_k or by R_k."""
    for k in range(len(other)):
        yield _total(bars[m] * other[m - k] for m in bars if m >= k)


def _total(arrays: Iterable[Array]) -> Array:
    """The sum, without the zero that `sum` would add to the first."""
    rest = iter(arrays)
    return sum(rest, start=next(rest))


def flush_to_zero(a: Array) -> Array:
    """Set to zero numbers below eps³: 1e-47 in float64, 2e-21 in float32.

    Processors are slower by an order on the denormal numbers that products of such make. It does
    no harm: bumps and probabilities are at most 1, so next to any sample whose bump is felt at all
    the numbers left out lie below rounding. Where no bump is felt, a tiny answer becomes zero.

    Parameters
    ----------
    a : Array
        The numbers.

    Returns
    -------
    Array
        The numbers of the same shape, without the tiny ones.
    """
    xp = array_namespace(a)
    return xp.where(xp.abs(a) < epsilon(a) ** 3, xp.zeros_like(a), a)


def _lower(table: Array) -> Array:
    """``π(x − 1; λ)`` from ``π(x; λ)``: the derivative of ``λ^x/x!``, less the common factor."""
    xp = array_namespace(table)
    return xp.concat([xp.zeros_like(table[:1, :]), table[:-1, :]], axis=0)


def poisson_table(rate: Array, n: int) -> Array:
    """Tabulate Poisson probabilities, ``π(x; λ) = λ^x e^{−λ} / x!`` for x = 0, …, n.

    Parameters
    ----------
    rate : Array, shape (b, s)
        The rates λ.
    n : int
        The largest count.

    Returns
    -------
    Array, shape (b, s, n + 1)
        The probabilities.

    Notes
    -----
    ``log π = x (log1p(u) − u) − δ(x) − ½ log 2πx`` with ``u = (λ − x)/x`` and Stirling's error δ:
    no large terms cancel, which ``x log λ − λ − log x!`` would have.

    Source: Loader (2000), Fast and accurate computation of binomial probabilities.
    """
    xp = array_namespace(rate)
    positive = rate[..., None] > 0.0
    lam = xp.where(positive, rate[..., None], xp.ones_like(rate[..., None]))
    zero = xp.exp(-rate[..., None])
    if n == 0:
        return zero
    counts = range(1, n + 1)
    x = as_array(counts, rate)
    u = (lam - x) / x
    close = xp.abs(u) < 0.25  # below −0.29 the log1p of JAX is wrong by a hundred roundings
    log_ratio = xp.where(close, xp.log1p(xp.where(close, u, xp.zeros_like(u))), xp.log(lam / x))
    rest = as_array([-_stirling_error(k) - 0.5 * math.log(2.0 * math.pi * k) for k in counts], rate)
    table = xp.exp(x * (log_ratio - u) + rest)
    return xp.concat([zero, xp.where(positive, table, xp.zeros_like(table))], axis=-1)


def mode_pmf(n: int) -> float:
    """The chance that Poisson counts of mean n add up to n, ``π(n; n)``.

    Parameters
    ----------
    n : int
        The mean.
    """
    return math.exp(-_stirling_error(n)) / math.sqrt(2.0 * math.pi * n) if n else 1.0


_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
_LARGE = 16  # from where on those terms are enough: the next one is below 1e-16


def _stirling_error(n: int) -> float:
    """``δ(n) = log n! − (n + ½) log n + n − ½ log 2π``, to rounding.

    By Stirling's series, and below `_LARGE` by ``δ(n) − δ(n + 1) = (n + ½) log1p(1/n) − 1``, where
    nothing large cancels.
    """
    start = max(n, _LARGE)
    steps = ((k + 0.5) * math.log1p(1.0 / k) - 1.0 for k in range(n, start))
    return math.fsum([*steps, *(term / start ** (2 * i + 1) for i, term in enumerate(_STIRLING))])
