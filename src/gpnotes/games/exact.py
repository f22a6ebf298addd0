"""The expected payoff exactly, in polynomial time: one coefficient of a product of polynomials.

A bump is a product over strategies, f_1(x_1) f_2(x_2) …, and a multinomial is a row of Poisson
counts given their sum, :eq:`eq-dp-bump` and :eq:`eq-dp-coefficients`. So for a role of n opponents
with λ_s = n p_s

    E Π_s f_s(x_s) = [t^n] Π_s Σ_x π(x; λ_s) f_s(x) t^x / π(n; n),

where π is the Poisson probability. All numbers are non-negative and at most one before the last
division, whose divisor is about 1/√(2πn): nothing overflows and nothing cancels at any n.

How the polynomials are multiplied is the matter of `polynomials`, and of `quick` for NumPy arrays;
here stand the sum over samples, the product over roles, and the blocks that bound the memory.
Samples stand in rows, mixtures in columns, (J, B).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from .._xp import Array, array_namespace, as_array, is_numpy_namespace
from ..memory import blocks
from . import quick
from .expansion import Expansion
from .game import RoleSymmetricGame
from .polynomials import at_mode, flushed, poisson_table, tree

__all__ = ["expected"]

_HELD = 2**23  # products of bumps that are held at a time: 64 MiB in float64
# Multiplications from which OpenBLAS starts threads: for products this thin they cost far more
# than they bring, above all on a machine that has other work.
_QUIET = 2**19

Slopes = tuple[Array, Array | None]  # an expectation (B,) and its derivatives (B, S)


class _Part(NamedTuple):
    """Some samples of one strategy: the products of bumps of each role, and the weights."""

    index: int
    bumps: list[Any]
    weights: Array


def expected(
    game: RoleSymmetricGame, role: int, expansions: Sequence[Expansion], p: Array, jacobian: bool
) -> list[Slopes]:
    """The expectations (B,) of a role's bumps under mixtures p (B, S), and derivatives (B, S).

    `expansions` are those of the role's strategies, whose opponents are the same. The sum is
    :eq:`eq-dp-roles`. Derivatives, :eq:`eq-dp-exact-gradient`, are those of the polynomial in p,
    homogeneous of degree n_r in each role's part: ``∂/∂p_t = n_r E f(x + e_t)`` with one opponent
    less. O(B J n²) for a pair of strategies and J samples.
    """
    counts = game.opponents(game.columns[role].start)
    width, rows = _shape(counts, p)
    trees = _trees(game, counts, p)
    totals = [_nothing(p, jacobian) for _ in expansions]
    for group in _groups(expansions, width, _values(counts) * game.size):
        parts = [_part(game, trees, counts, i, expansions[i], rest) for i, rest in group]

        def work(parts: list[_Part] = parts) -> Callable[[slice], dict[int, Slopes]]:
            return _work(game, _trees(game, counts, p), counts, parts, p, jacobian)

        found = _over(work, _evenly(p.shape[0], rows), _threads(p))
        for i in {part.index for part in parts}:
            totals[i] = _added(totals[i], [one[i] for one in found])
    return totals


def _trees(game: RoleSymmetricGame, counts: tuple[int, ...], p: Array) -> list:
    nodes = quick.NODES if is_numpy_namespace(array_namespace(p)) else {}
    return [tree(s, n, **nodes) for s, n in zip(game.strategies, counts, strict=True)]


def _threads(p: Array) -> int:
    """One for each processor that the libraries below may use; other arrays have their own ways.

    The products are too thin for the threads of BLAS, but blocks of mixtures are independent, and
    NumPy lets go of the interpreter while it multiplies.
    """
    if not is_numpy_namespace(array_namespace(p)):
        return 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(wanted)) if wanted.isdecimal() else os.cpu_count() or 1


def _over(work: Callable[[], Callable], rows: list[slice], threads: int) -> list[Any]:
    """What a worker makes of each block; every thread has a worker with room of its own."""
    threads = min(threads, len(rows))
    if threads < 2:
        return list(map(work(), rows))
    with ThreadPoolExecutor(threads) as pool:
        shares = list(pool.map(lambda k: list(map(work(), rows[k::threads])), range(threads)))
    return [shares[i % threads][i // threads] for i in range(len(rows))]


def _shape(counts: tuple[int, ...], p: Array) -> tuple[int, int]:
    """Samples and mixtures in a block: what a core caches, or what fills a GPU."""
    if not is_numpy_namespace(array_namespace(p)):
        return 1024, 1024
    entries = min(2**14, _QUIET // (max(counts) + 2))
    return max(16, entries // 80), 80


def _values(counts: tuple[int, ...]) -> int:
    """Products f_1(x) f_2(m − x) of one sample and one pair."""
    return (max(counts) + 1) * (max(counts) + 2) // 2


def _groups(expansions: Sequence[Expansion], width: int, each: int) -> list[list]:
    """The samples of all strategies in blocks, and as many blocks together as may be held."""
    parts = [
        (i, rows)
        for i, one in enumerate(expansions)
        for rows in _evenly(one.weights.shape[0], max(1, min(width, _HELD // each)))
    ]
    return [parts[few] for few in blocks(len(parts), width * each, _HELD)]


def _evenly(n: int, most: int) -> list[slice]:
    """n rows in as few blocks of at most so many as will do, all of about one size."""
    return blocks(n, 1, math.ceil(n / max(1, math.ceil(n / most))))


def _nothing(p: Array, jacobian: bool) -> Slopes:
    xp = array_namespace(p)
    return xp.zeros_like(p[:, 0]), xp.zeros_like(p) if jacobian else None


def _added(total: Slopes, found: list[Slopes]) -> Slopes:
    """A total over all mixtures, and what blocks of mixtures bring to it."""
    xp = array_namespace(total[0])
    value = total[0] + xp.concat([one for one, _ in found])
    return value, None if total[1] is None else total[1] + xp.concat([one for _, one in found])


def _part(
    game: RoleSymmetricGame, trees: list, counts: tuple[int, ...], i: int, f: Expansion, rows: slice
) -> _Part:
    roles = zip(trees, counts, game.columns, strict=True)
    bumps = [node.bumps(_bumps(f, rows, n, cols)) for node, n, cols in roles]
    return _Part(i, bumps, f.weights[rows])


def _bumps(expansion: Expansion, samples: slice, n: int, cols: slice) -> list[Array]:
    """``f_s(x)`` of each strategy of a role: a list of (n + 1, j)."""
    xp = array_namespace(expansion.profiles)
    x = as_array(range(n + 1), expansion.profiles)[:, None]
    centres, ell = expansion.profiles[samples, cols], expansion.lengthscales[cols]
    return [xp.exp(-0.5 * ((centres[:, s] - x) / ell[s]) ** 2) for s in range(centres.shape[1])]


def _work(
    game: RoleSymmetricGame,
    trees: list,
    counts: tuple[int, ...],
    parts: list[_Part],
    p: Array,
    jacobian: bool,
) -> Callable[[slice], dict[int, Slopes]]:
    def block(rows: slice) -> dict[int, Slopes]:
        """What the parts give for some mixtures, by strategy."""
        few, found = p[rows, :], {}
        roles = zip(trees, counts, game.columns, strict=True)
        chances = [node.chances(_table(few[:, c], n)) for node, n, c in roles]
        for part in parts:
            here = _sum(trees, chances, counts, part, jacobian)
            found[part.index] = _plus(found[part.index], here) if part.index in found else here
        return found

    return block


def _table(p: Array, n: int) -> Array:
    """The chances of each strategy of a role, (s, n + 1, b): mixtures stand in columns."""
    return array_namespace(p).permute_dims(poisson_table(n * p, n), (1, 2, 0))


def _plus(a: Slopes, b: Slopes) -> Slopes:
    return a[0] + b[0], None if a[1] is None else a[1] + b[1]


def _sum(
    trees: list, chances: list, counts: tuple[int, ...], part: _Part, jacobian: bool
) -> Slopes:
    """Some mixtures and some samples: the weighted sum (b,), and its derivatives (b, S)."""
    xp = array_namespace(part.weights)
    roles = [t.forward(c, f) for t, c, f in zip(trees, chances, part.bumps, strict=True)]
    factors = [terms[0] / at_mode(n) for (terms, _), n in zip(roles, counts, strict=True)]
    value = part.weights @ math.prod(factors[1:], start=factors[0])
    if not jacobian:
        return value, None
    bars = []
    for r, ((_, pull), n) in enumerate(zip(roles, counts, strict=True)):
        others = factors[:r] + factors[r + 1 :]
        bar = math.prod(others, start=(n / at_mode(n)) * part.weights[:, None])
        bars += pull([flushed(xp.broadcast_to(bar, factors[r].shape))])
    return value, xp.stack(bars, axis=1)
