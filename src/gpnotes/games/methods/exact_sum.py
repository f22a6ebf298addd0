"""The expected payoff exactly, in polynomial time: one coefficient of a product of polynomials.

A bump is a product over strategies, f_1(x_1) f_2(x_2) …, and a multinomial is a row of Poisson
counts given their sum, [eq-dp-bump] and [eq-dp-coefficients]. So for a role of n opponents
with λ_s = n p_s

    E Π_s f_s(x_s) = [t^n] Π_s Σ_x π(x; λ_s) f_s(x) t^x / π(n; n),

where π is the Poisson probability. All numbers are non-negative and at most one before the last
division, whose divisor is about 1/√(2πn): nothing overflows and nothing cancels at any n.

How the polynomials are multiplied is the matter of `polynomials`; here stand the sum over samples,
the product over roles, and the blocks that bound the memory. Samples stand in rows, mixtures in
columns, (J, B).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...fast.polynomials import Workspace
from ...ground.memory import blocks
from ...ground.xp import Array, HostVector, array_namespace, as_array, is_numpy_namespace, to_numpy
from ..expansion import Expansion
from .expected_payoff import Expectation, Options, RoleProblem
from .polynomials import Pull, Tree, flush_to_zero, mode_pmf, poisson_table, tree

__all__ = ["expectations", "pairs", "single_bumps"]

_HELD = 2**23  # products of bumps that are held at a time: 64 MiB in float64
# Multiplications from which OpenBLAS starts threads: for products this thin they cost far more
# than they bring, above all on a machine that has other work.
_QUIET = 2**19


@dataclass(frozen=True, eq=False)
class _Polynomials:
    """A problem, and for each role of opponents how many they are and the product to compute."""

    problem: RoleProblem
    counts: tuple[int, ...]
    trees: tuple[Tree, ...]

    @property
    def roles(self) -> Iterator[tuple[Tree, int, slice]]:
        """The tree, the number of opponents and the columns of each role."""
        return zip(self.trees, self.counts, self.problem.game.columns, strict=True)


def _polynomials(problem: RoleProblem) -> _Polynomials:
    sizes = zip(problem.game.strategies, problem.opponents, strict=True)
    return _Polynomials(problem, problem.opponents, tuple(tree(s, n) for s, n in sizes))


class _Samples(NamedTuple):
    """Some samples of one strategy: the products of bumps of each role, and the weights."""

    strategy: int  # its place among those of the role
    bumps: list[object]
    weights: Array


def expectations(problem: RoleProblem, options: Options) -> list[Expectation]:
    """The exact expectations of a role's bumps, and their gradients, by products of polynomials.

    Parameters
    ----------
    problem : RoleProblem
        The payoffs and mixtures.
    options : Options
        Only ``threads`` matters.

    Returns
    -------
    list of Expectation
        One for each strategy of the role.

    Notes
    -----
    The opponents of all strategies of a role are the same. The sum is [eq-dp-roles].
    Derivatives, [eq-dp-exact-gradient], are those of the polynomial in p, homogeneous of
    degree n_r in each role's part: ``∂/∂p_t = n_r E f(x + e_t)`` with one opponent less. O(B J n²)
    for a pair of strategies and J samples.
    """
    p = problem.mixtures
    polynomials = _polynomials(problem)
    counts = polynomials.counts
    most_samples, most_mixtures = _block_shape(counts, p)
    totals = [_zero(problem) for _ in problem.expansions]
    for group in _groups(
        problem.expansions, most_samples, _values(counts) * problem.game.num_strategies
    ):
        samples = [_samples(polynomials, problem.expansions[i], i, rows) for i, rows in group]
        by_block = _by_block(
            polynomials, samples, _evenly(p.shape[0], most_mixtures), options.threads
        )
        for i in {group_samples.strategy for group_samples in samples}:
            totals[i] = _add(totals[i], Expectation.joined([sums[i] for sums in by_block]))
    return totals


def single_bumps(problem: RoleProblem, payoff: Expansion) -> Array:
    """The expectation of each bump alone, without its weight.

    Parameters
    ----------
    problem : RoleProblem
        The mixtures; of its payoffs only the place matters.
    payoff : Expansion
        The bumps.

    Returns
    -------
    Matrix, shape (J, B)
        The expectations.
    """
    xp = array_namespace(problem.mixtures)
    polynomials = _polynomials(problem)
    counts = polynomials.counts
    most_samples, most_mixtures = _block_shape(counts, problem.mixtures)
    max_rows = min(most_samples, max(1, _HELD // (_values(counts) * problem.game.num_strategies)))
    blocks_of_rows = []
    for rows in _evenly(payoff.weights.shape[0], max_rows):
        samples = _samples(polynomials, payoff, 0, rows)
        parts = [
            math.prod(factors[1:], start=factors[0])
            for mixtures in _evenly(problem.mixtures.shape[0], most_mixtures)
            for factors in [
                _factors(polynomials, _chances(polynomials, mixtures), samples, None)[0]
            ]
        ]
        blocks_of_rows.append(xp.concat(parts, axis=1))
    return xp.concat(blocks_of_rows, axis=0)


def pairs(problem: RoleProblem, payoff: Expansion) -> Array:
    """The expectation of the bump between two profiles that are drawn apart.

    Parameters
    ----------
    problem : RoleProblem
        The mixtures.
    payoff : Expansion
        The bumps; only their lengthscales matter.

    Returns
    -------
    Vector, shape (B,)
        The expectations.

    Notes
    -----
    A product over strategies of functions of two counts, [eq-ge-doubt]: a coefficient of a
    product of polynomials in two variables. These are multiplied by their values at roots of one,
    on the host in double precision: O(S_r³ n² log(S_r n)) for a role.
    """
    p = np.asarray(to_numpy(problem.mixtures), float)
    ell = np.asarray(to_numpy(payoff.lengthscales), float)
    total = np.ones(len(p))
    for n, columns in zip(problem.opponents, problem.game.columns, strict=True):
        total *= [_pair(n, row, ell[columns]) for row in p[:, columns]]
    return as_array(total, problem.mixtures)


def _pair(n: int, p: HostVector, ell: HostVector) -> float:
    """One role and one mixture: ``[t^n u^n] Π_s Σ π(x) π(y) k_s(x − y) t^x u^y``."""
    if n == 0:
        return 1.0
    size = (len(p) - 1) * n + 1  # from here on no other power falls on the one that is wanted
    size = max(size, n + 1)
    x = np.arange(n + 1.0)
    product: Any = 1.0
    for pmf, width in zip(np.asarray(poisson_table(n * p[None, :], n))[0], ell, strict=True):
        bump = np.exp(-0.5 * ((x[:, None] - x) / width) ** 2)
        product = product * np.fft.rfft2(pmf[:, None] * pmf * bump, (size, size))
    coefficients = np.fft.irfft2(product, (size, size))
    degree = n % size
    return float(coefficients[degree, degree]) / mode_pmf(n) ** 2


def _by_block(
    polynomials: _Polynomials, samples: list[_Samples], rows: list[slice], threads: int
) -> list[dict[int, Expectation]]:
    """The sums for each block of mixtures; every thread has a workspace of its own.

    The products are too thin for the threads of BLAS.
    """
    on_host = is_numpy_namespace(array_namespace(polynomials.problem.mixtures))

    def sums_of(own_blocks: list[slice]) -> list[dict[int, Expectation]]:
        work = Workspace() if on_host else None
        return [_block(polynomials, samples, block, work) for block in own_blocks]

    threads = min(threads, len(rows)) if on_host else 1
    if threads < 2:
        return sums_of(rows)
    with ThreadPoolExecutor(threads) as pool:
        by_thread = list(pool.map(sums_of, [rows[k::threads] for k in range(threads)]))
    return [by_thread[i % threads][i // threads] for i in range(len(rows))]


def _block_shape(counts: tuple[int, ...], p: Array) -> tuple[int, int]:
    """Samples and mixtures in a block: as many as a core caches, or as fill a GPU."""
    if not is_numpy_namespace(array_namespace(p)):
        return 1024, 1024
    entries = min(2**14, _QUIET // (max(counts) + 2))
    return max(16, entries // 80), 80


def _values(counts: tuple[int, ...]) -> int:
    """Products f_1(x) f_2(m − x) of one sample and one pair."""
    return (max(counts) + 1) * (max(counts) + 2) // 2


def _groups(expansions: Sequence[Expansion], most: int, each: int) -> list[list[tuple[int, slice]]]:
    """The samples of all strategies in blocks, and as many blocks together as may be held."""
    parts = [
        (i, rows)
        for i, payoff in enumerate(expansions)
        for rows in _evenly(payoff.weights.shape[0], max(1, min(most, _HELD // each)))
    ]
    return [parts[held] for held in blocks(len(parts), most * each, _HELD)]


def _evenly(n: int, max_size: int) -> list[slice]:
    """n rows in as few blocks of at most so many as will do, all of about one size."""
    return blocks(n, 1, math.ceil(n / max(1, math.ceil(n / max_size))))


def _zero(problem: RoleProblem) -> Expectation:
    p = problem.mixtures
    xp = array_namespace(p)
    return Expectation(xp.zeros_like(p[:, 0]), xp.zeros_like(p) if problem.gradient else None)


def _add(a: Expectation, b: Expectation) -> Expectation:
    if a.gradient is None or b.gradient is None:
        return Expectation(a.value + b.value)
    return Expectation(a.value + b.value, a.gradient + b.gradient)


def _samples(polynomials: _Polynomials, payoff: Expansion, i: int, rows: slice) -> _Samples:
    bumps = [node.bumps(_bumps(payoff, rows, n, columns)) for node, n, columns in polynomials.roles]
    return _Samples(i, bumps, payoff.weights[rows])


def _bumps(payoff: Expansion, rows: slice, n: int, columns: slice) -> list[Array]:
    """``f_s(x)`` of each strategy of a role: a list of (n + 1, j)."""
    xp = array_namespace(payoff.profiles)
    x = as_array(range(n + 1), payoff.profiles)[:, None]
    centres = payoff.profiles[rows, columns]
    ell = payoff.lengthscales[columns]
    return [xp.exp(-0.5 * ((centres[:, s] - x) / ell[s]) ** 2) for s in range(centres.shape[1])]


def _block(
    polynomials: _Polynomials, samples: list[_Samples], rows: slice, work: Workspace | None
) -> dict[int, Expectation]:
    """The sums over the samples for some mixtures, by strategy."""
    chances = _chances(polynomials, rows)
    sums: dict[int, Expectation] = {}
    for group in samples:
        part = _sum(polynomials, chances, group, work)
        sums[group.strategy] = _add(sums[group.strategy], part) if group.strategy in sums else part
    return sums


def _chances(polynomials: _Polynomials, rows: slice) -> list[object]:
    p = polynomials.problem.mixtures[rows, :]
    return [node.chances(_table(p[:, c], n)) for node, n, c in polynomials.roles]


def _table(p: Array, n: int) -> Array:
    """The chances of each strategy of a role, (s, n + 1, b): mixtures stand in columns."""
    return array_namespace(p).permute_dims(poisson_table(n * p, n), (1, 2, 0))


def _sum(
    polynomials: _Polynomials, chances: list[object], samples: _Samples, work: Workspace | None
) -> Expectation:
    """Some mixtures and some samples: the weighted sum (b,), and its gradient (b, S)."""
    xp = array_namespace(samples.weights)
    counts = polynomials.counts
    factors, pulls = _factors(polynomials, chances, samples, work)
    value = samples.weights @ math.prod(factors[1:], start=factors[0])
    if not polynomials.problem.gradient:
        return Expectation(value)
    columns: list[Array] = []
    for r, (pull, n) in enumerate(zip(pulls, counts, strict=True)):
        # ∂/∂p_t = n_r ∂/∂λ_t of this role's factor, times the weights and the other factors
        others = factors[:r] + factors[r + 1 :]
        bar = math.prod(others, start=(n / mode_pmf(n)) * samples.weights[:, None])
        columns += pull([flush_to_zero(xp.broadcast_to(bar, factors[r].shape))])
    return Expectation(value, xp.stack(columns, axis=1))


def _factors(
    polynomials: _Polynomials, chances: list[object], samples: _Samples, work: Workspace | None
) -> tuple[list[Array], list[Pull]]:
    """The expectation of each role's part of the bumps, (J, B), and how to pull it back."""
    forwards = [
        node.forward(chances[r], samples.bumps[r], None if work is None else work.part(str(r)))
        for r, node in enumerate(polynomials.trees)
    ]
    ends = zip(forwards, polynomials.counts, strict=True)
    return [terms[0] / mode_pmf(n) for (terms, _), n in ends], [pull for _, pull in forwards]
