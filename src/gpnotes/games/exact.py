"""The expected payoff exactly, in polynomial time: one coefficient of a product of polynomials.

A bump is a product over strategies, f_1(x_1) f_2(x_2) …, and a multinomial is a row of Poisson
counts given their sum. So for a role of n opponents with λ_s = n p_s

    E Π_s f_s(x_s) = [t^n] Π_s Σ_x π(x; λ_s) f_s(x) t^x / π(n; n),

where π is the Poisson probability. All numbers are non-negative and at most one before the last
division, whose divisor is about 1/√(2πn): nothing overflows and nothing cancels at any n.

The polynomials of two strategies are multiplied for all mixtures and samples at once by one matrix
product a degree: a weight π(x; λ_1) π(m − x; λ_2) knows the mixture only, a value f_1(x) f_2(m − x)
the sample only.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .._xp import Array, array_namespace, as_array, device, is_numpy_namespace
from .expansion import Expansion, blocks
from .game import RoleSymmetricGame

__all__ = ["expected", "poisson_table"]

Terms = list[Array]  # one (b, j) array for each degree
Pull = Callable[[Terms], list[Array]]  # derivatives by terms to derivatives by each λ_s


def expected(
    game: RoleSymmetricGame, strategy: int, expansion: Expansion, p: Array, jacobian: bool
) -> tuple[Array, Array | None]:
    """The expectation (B,) of the bumps under mixtures p (B, S), and its derivatives (B, S).

    Derivatives are those of the polynomial in p, homogeneous of degree n_r in each role's part:
    ``∂/∂p_t = n_r E f(x + e_t)`` with one opponent less. Only their action along the simplex has
    a meaning for mixtures. Costs O(B J n²) for a pair of strategies; memory is bounded by blocks.
    """
    xp = array_namespace(p)
    counts = game.opponents(strategy)
    roles = list(zip(counts, game.columns, strict=True))
    tables = [n * p[:, cols] for n, cols in roles]
    tables = [poisson_table(rate, n) for rate, (n, _) in zip(tables, roles, strict=True)]
    value, gradient = xp.zeros_like(p[:, 0]), xp.zeros_like(p) if jacobian else None
    for samples in blocks(expansion.weights.shape[0], _values(counts), 2**21):
        plans = [_plan(_bumps(expansion, samples, n, cols), n) for n, cols in roles]
        weights = expansion.weights[samples]
        found = [
            _block(plans, [table[rows, :, :] for table in tables], counts, weights, jacobian)
            for rows in blocks(p.shape[0], weights.shape[0], _entries(p))
        ]
        value = value + xp.concat([one for one, _ in found])
        if jacobian:
            gradient = gradient + xp.concat([one for _, one in found])
    return value, gradient


def _values(counts: tuple[int, ...]) -> int:
    """Products f_1(x) f_2(m − x) of one sample and one pair."""
    return (max(counts) + 1) * (max(counts) + 2) // 2


def _entries(p: Array) -> int:
    """Numbers in one (mixtures, samples) array: what a core caches, or what fills a GPU."""
    return 2**15 if is_numpy_namespace(array_namespace(p)) else 2**20


def _bumps(expansion: Expansion, samples: slice, n: int, cols: slice) -> list[Array]:
    """``f_s(x)`` of each strategy of a role: a list of (j, n + 1)."""
    xp = array_namespace(expansion.profiles)
    x = as_array(range(n + 1), expansion.profiles)
    centres, ell = expansion.profiles[samples, cols], expansion.lengthscales[cols]
    return [
        xp.exp(-0.5 * ((centres[:, s : s + 1] - x) / ell[s]) ** 2) for s in range(centres.shape[1])
    ]


def _block(
    plans: list, tables: list[Array], counts: tuple[int, ...], weights: Array, jacobian: bool
) -> tuple[Array, Array | None]:
    """Some mixtures and some samples: the weighted sum (b,), and its derivatives (b, S)."""
    xp = array_namespace(weights)
    roles = [plan(table) for plan, table in zip(plans, tables, strict=True)]
    factors = [terms[0] / _at_mode(n) for (terms, _), n in zip(roles, counts, strict=True)]
    value = _product(factors) @ weights
    if not jacobian:
        return value, None
    bars = []
    for r, ((_, pull), n) in enumerate(zip(roles, counts, strict=True)):
        others = factors[:r] + factors[r + 1 :]
        bar = _product([*others, xp.broadcast_to(weights, factors[r].shape)])
        bars += pull([bar * (n / _at_mode(n))])
    return value, xp.stack(bars, axis=1)


def _product(factors: list[Array]) -> Array:
    return math.prod(factors[1:], start=factors[0])


def _plan(values: list[Array], n: int) -> Callable[[Array], tuple[Terms, Pull]]:
    """How a role's polynomials are multiplied; of the product only degree n is wanted."""
    root = _node(values, [n], n)
    return lambda table: root(table)


def _node(values: list[Array], degrees: list[int], n: int) -> Callable:
    """A product of polynomials as a function of the Poisson table (b, s, n + 1)."""
    if len(values) == 1:
        return _leaf(values[0], degrees)
    if len(values) == 2:
        return _pair(values[0], values[1], degrees)
    half = 2 * math.ceil(len(values) / 4)  # an even number: pairs are what is fast
    every = list(range(n + 1))
    left, right = _node(values[:half], every, n), _node(values[half:], every, n)
    return _join(left, right, half, degrees)


def _leaf(values: Array, degrees: list[int]) -> Callable:
    """One strategy: ``π(m) f(m)``."""

    def forward(table: Array) -> tuple[Terms, Pull]:
        chance, lower = table[:, 0, :], _lower(table[:, 0, :])
        terms = [chance[:, m : m + 1] * values[:, m] for m in degrees]

        def pull(bars: Terms) -> list[Array]:
            pulled = zip(degrees, bars, strict=True)
            return [sum((bar @ values[:, m]) * lower[:, m] for m, bar in pulled)]

        return terms, pull

    return forward


def _pair(first: Array, second: Array, degrees: list[int]) -> Callable:
    """Two strategies: a matrix product for each degree m, over ``x = 0, …, m``."""
    xp = array_namespace(first)
    here = device(first)
    xs = xp.asarray([x for m in degrees for x in range(m + 1)], device=here)
    ys = xp.asarray([m - x for m in degrees for x in range(m + 1)], device=here)
    ends = [sum(m + 1 for m in degrees[: i + 1]) for i in range(len(degrees))]
    parts = [slice(end - m - 1, end) for end, m in zip(ends, degrees, strict=True)]
    values = xp.take(first, xs, axis=1) * xp.take(second, ys, axis=1)

    def forward(table: Array) -> tuple[Terms, Pull]:
        a, b = table[:, 0, :], table[:, 1, :]
        a_x, b_y = xp.take(a, xs, axis=1), xp.take(b, ys, axis=1)
        weights = a_x * b_y
        terms = [weights[:, part] @ xp.matrix_transpose(values[:, part]) for part in parts]

        def pull(bars: Terms) -> list[Array]:
            pulled = [bar @ values[:, part] for bar, part in zip(bars, parts, strict=True)]
            bar = xp.concat(pulled, axis=1)
            by_a = xp.sum(bar * xp.take(_lower(a), xs, axis=1) * b_y, axis=1)
            return [by_a, xp.sum(bar * a_x * xp.take(_lower(b), ys, axis=1), axis=1)]

        return terms, pull

    return forward


def _join(left: Callable, right: Callable, half: int, degrees: list[int]) -> Callable:
    """Two groups of strategies: ``Σ_k L_k R_{m−k}``, mixture by mixture and sample by sample."""

    def forward(table: Array) -> tuple[Terms, Pull]:
        L, pull_left = left(table[:, :half, :])
        R, pull_right = right(table[:, half:, :])
        terms = [sum(L[k] * R[m - k] for k in range(m + 1)) for m in degrees]

        def pull(bars: Terms) -> list[Array]:
            by_degree = dict(zip(degrees, bars, strict=True))
            return [*pull_left(_cross(by_degree, R)), *pull_right(_cross(by_degree, L))]

        return terms, pull

    return forward


def _cross(bars: dict[int, Array], other: Terms) -> Terms:
    """``Σ_m bar_m O_{m−k}`` for every k: what a factor's coefficient k is multiplied with."""
    return [sum(bars[m] * other[m - k] for m in bars if m >= k) for k in range(len(other))]


def _lower(table: Array) -> Array:
    """``π(x − 1; λ)`` from ``π(x; λ)``: the derivative of ``λ^x/x!``, less the common factor."""
    xp = array_namespace(table)
    return xp.concat([xp.zeros_like(table[:, :1]), table[:, :-1]], axis=1)


def poisson_table(rate: Array, n: int) -> Array:
    """``π(x; λ) = λ^x e^{−λ} / x!`` for x = 0, …, n and the rates λ (b, s): (b, s, n + 1).

    ``log π = x (log1p(u) − u) − δ(x) − ½ log 2πx`` with ``u = (λ − x)/x`` and Stirling's error δ:
    no large terms cancel, which ``x log λ − λ − log x!`` would have.
    Source: Loader (2000), Fast and accurate computation of binomial probabilities.
    """
    xp = array_namespace(rate)
    some = rate[..., None] > 0.0
    lam = xp.where(some, rate[..., None], xp.ones_like(rate[..., None]))
    zero = xp.exp(-rate[..., None])
    if n == 0:
        return zero
    x = as_array(range(1, n + 1), rate)
    u = (lam - x) / x
    near = xp.abs(u) < 0.5
    log_ratio = xp.where(near, xp.log1p(xp.where(near, u, 0.0 * u)), xp.log(lam / x))
    rest = as_array([-_stirling_error(k) - 0.5 * math.log(2.0 * math.pi * k) for k in _up(n)], rate)
    table = xp.exp(x * (log_ratio - u) + rest)
    return xp.concat([zero, xp.where(some, table, 0.0 * table)], axis=-1)


def _up(n: int) -> range:
    return range(1, n + 1)


def _at_mode(n: int) -> float:
    """``π(n; n)``, the chance that Poisson counts of mean n add up to n."""
    return math.exp(-_stirling_error(n)) / math.sqrt(2.0 * math.pi * n) if n else 1.0


def _stirling_error(n: int) -> float:
    """``log n! − (n + ½) log n + n − ½ log 2π``."""
    if n < 16:
        whole = math.log(math.factorial(n))
        return whole - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2.0 * math.pi)
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680) / n**2) / n**2) / n**2) / n


