"""Kernels that are Markov processes of a few numbers on a line, as sums of terms.

A kernel of your own becomes one by ``expansion.register``: a function that returns an `Expansion`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce, singledispatch
from typing import Any, NamedTuple, TypeAlias

from ...ground import check as _check
from ...ground.params import added, cotangent, left_open
from ...ground.xp import Numbers
from ...model.gaussian_process import GP, require_known_mean
from ...model.kernels import (
    ActiveDims,
    Constant,
    Cosine,
    IntegratedWiener,
    Kernel,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Power,
    Product,
    Scaled,
    Sum,
    White,
    Wiener,
)
from .elementary_processes import Bend, Leaf, Level, Line, MaternLeaf, Walk, Wave
from .motion import Motion, ProductTerm

__all__ = [
    "SHORTEST", "Expansion", "TermBar", "expansion", "expansion_of", "harmonics", "motion_of",
    "seen_of",
]  # fmt: skip

SHORTEST = 0.1
"""The least lengthscale of a `Periodic` on a line: the waves that it takes grow as the inverse."""


class TermBar(NamedTuple):
    """The derivatives by a term: by its variance, and by the rate of each factor."""

    variance: float
    rates: tuple[float, ...]


_MOST = 600  # numbers of a state: a step of more takes longer than a reading is worth
_LEAST = 1e-6  # of the tolerance: what comes below is rounding

Pull: TypeAlias = Callable[[Sequence[TermBar], float], Kernel]


@dataclass(frozen=True)
class Expansion:
    """A kernel as a sum of terms, and white noise.

    Parameters
    ----------
    terms : tuple of ProductTerm
        The terms.
    pull : callable
        Takes the derivatives by the terms and by the white noise, returns those by the kernel.
    white : float, default 0.0
        The variance of its white noise.
    """

    terms: tuple[ProductTerm, ...]
    pull: Pull
    white: float = 0.0

    @property
    def unit(self) -> float:
        """The sum of the variances of the terms, the unit in which a filter works."""
        return math.fsum(term.variance for term in self.terms)

    @property
    def motion(self) -> Motion:
        """The motion of its state, with variances in this unit."""
        unit = self.unit
        return _motion(tuple(ProductTerm(t.factors, t.variance / unit) for t in self.terms))


@lru_cache(maxsize=16)  # what a motion works out about its terms serves every call of a model
def _motion(terms: tuple[ProductTerm, ...]) -> Motion:
    return Motion(terms)


@singledispatch
def expansion(kernel: Kernel, tolerance: float) -> Expansion:
    """Return a kernel as a sum of terms.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    tolerance : float
        How far the covariance of a periodic process of variance one may be off.

    Raises
    ------
    TypeError
        If it is no process of a few numbers, or not registered as one.
    """
    known = (
        "Matern12, Matern32, Matern52, Cosine, Periodic, Constant, Linear, Wiener, "
        "IntegratedWiener, White"
    )
    wanted = f"one of {known}, or sums, products and powers of these, to be put on a line"
    raise TypeError(f"gp must have the kernel {wanted}; got {kernel!r}")


def _single(kernel: Kernel, leaf: Leaf, **slopes: Callable[[TermBar], float]) -> Expansion:
    """A kernel of one term, whose fields have derivatives by those of the term."""
    variance = getattr(kernel, "variance", 1.0)

    def pull(bars: Sequence[TermBar], _: float) -> Kernel:
        return cotangent(kernel, **{name: slope(bars[0]) for name, slope in slopes.items()})

    return Expansion((ProductTerm((leaf,), variance),), pull)


def _variance(bar: TermBar) -> float:
    return bar.variance


def _require_scalar(value: Numbers, kernel: Kernel, name: str) -> float:
    if getattr(value, "ndim", 0):
        raise TypeError(f"gp must have one {name}, as a line has one dimension; got {kernel!r}")
    return float(value)


@expansion.register(Matern12)
@expansion.register(Matern32)
@expansion.register(Matern52)
def _matern(kernel: Matern12 | Matern32 | Matern52, tolerance: float) -> Expansion:
    length = _require_scalar(kernel.lengthscale, kernel, "lengthscale")
    entries = {Matern12: 1, Matern32: 2, Matern52: 3}.get(type(kernel))
    if entries is None:  # a subclass may have another profile
        return expansion.dispatch(object)(kernel, tolerance)
    rate = math.sqrt(2 * entries - 1) / length
    # the rate goes as 1/ℓ, so that d rate/dℓ is −rate/ℓ
    return _single(kernel, MaternLeaf(rate, entries), variance=_variance,
                   lengthscale=lambda bar: -bar.rates[0] * rate / length)  # fmt: skip


@expansion.register
def _cosine(kernel: Cosine, tolerance: float) -> Expansion:
    rate = 2.0 * math.pi * _require_scalar(kernel.frequency, kernel, "frequency")
    return _single(kernel, Wave(rate), frequency=lambda bar: 2.0 * math.pi * bar.rates[0])


@expansion.register
def _constant(kernel: Constant, tolerance: float) -> Expansion:
    return _single(kernel, Level(0.0), variance=_variance)


@expansion.register
def _linear(kernel: Linear, tolerance: float) -> Expansion:
    _require_scalar(kernel.variance, kernel, "variance")
    return _single(kernel, Line(0.0), variance=_variance)


@expansion.register
def _walk(kernel: Wiener, tolerance: float) -> Expansion:
    return _single(kernel, Walk(0.0, kernel.origin), variance=_variance)


@expansion.register
def _bend(kernel: IntegratedWiener, tolerance: float) -> Expansion:
    return _single(kernel, Bend(0.0, kernel.origin), variance=_variance)


@expansion.register
def _white(kernel: White, tolerance: float) -> Expansion:
    def pull(_: Sequence[TermBar], white_bar: float) -> Kernel:
        return cotangent(kernel, variance=white_bar)

    return Expansion((), pull, kernel.variance)


def harmonics(lengthscale: float, tolerance: float) -> tuple[list[float], list[float]]:
    """The variances of the waves of a periodic process of variance one, and their slopes by ℓ.

    ``q₀ = e^{−z} I₀(z)`` and ``qⱼ = 2 e^{−z} Iⱼ(z)`` with ``z = ℓ⁻²``, [eq-be-bessel]. They sum
    to one, so the remainder, the largest error of the covariance, is known, [eq-be-rest]: as
    many waves are taken as bring it below `tolerance`.

    Notes
    -----
    The ratios ``rⱼ = Iⱼ / Iⱼ₋₁ = 1 / (2j/z + rⱼ₊₁)``, [eq-be-ratio], are found from above, where
    they start in anything, and nothing cancels. Source: Solin & Särkkä (2014), equation 27;
    Gautschi (1967).
    """
    z = 1.0 / (lengthscale * lengthscale)
    top = int(2.0 * math.sqrt(20.0 * (z + 10.0))) + 40
    ratios, r = [0.0] * (top + 1), 0.0
    for j in range(top, 0, -1):
        ratios[j] = r = 1.0 / (2.0 * j / z + r)
    q = [1.0]
    for j in range(1, top + 1):
        q.append(q[-1] * ratios[j] * (2.0 if j == 1 else 1.0))
    whole = math.fsum(q)
    # the recursion leaves one factor open, which the sum of one settles
    q = [share / whole for share in q]
    # d/dz of e^{−z} Iⱼ is e^{−z} ((Iⱼ₋₁ + Iⱼ₊₁) / 2 − Iⱼ); I₋₁ = I₁
    single = [q[0], *(0.5 * share for share in q[1:])]
    slopes = [0.5 * (single[abs(j - 1)] + single[j + 1]) - single[j] for j in range(top)]
    # dz/dℓ = −2 z/ℓ, and every wave but the level counts twice
    slopes = [(s if j == 0 else 2.0 * s) * -2.0 * z / lengthscale for j, s in enumerate(slopes)]
    for count in range(top):
        left = math.fsum(q[count + 1 :])
        if left <= tolerance:
            return q[: count + 1], slopes[: count + 1]
    raise _check.NoValueError(f"tolerance must be larger than rounding, {left}; got {tolerance}")


def _smoothly(
    shares: list[float], slopes: list[float], tolerance: float
) -> tuple[list[float], list[float]]:
    """Return the same with a last wave that brings the remainder to `tolerance`, and no further.

    So a wave begins with nothing as the lengthscale falls, and no derivative goes with a jump.
    """
    if len(shares) == 1:
        return shares, slopes
    last = 1.0 - tolerance - math.fsum(shares[:-1])
    if not 0.0 < last < shares[-1]:  # rounding is as large as the tolerance
        return shares, slopes
    # the shares sum to 1 − tolerance whatever ℓ is, so that their slopes sum to zero
    return [*shares[:-1], last], [*slopes[:-1], -math.fsum(slopes[:-1])]


@expansion.register
def _periodic(kernel: Periodic, tolerance: float) -> Expansion:
    length = _require_scalar(kernel.lengthscale, kernel, "lengthscale")
    period = _require_scalar(kernel.period, kernel, "period")
    if length < SHORTEST * (1.0 - 1e-9):  # a fit that stays on it goes by its logarithm
        remedy = "a shorter one takes too many waves, and the exact GP none"
        wanted = f"Periodic.lengthscale must be {SHORTEST} or more on a line"
        raise _check.NoValueError(f"{wanted}: {remedy}; got {length}")
    shares, slopes = _smoothly(*harmonics(length, tolerance), tolerance)
    rate, v = 2.0 * math.pi / period, kernel.variance
    leaves = [Level(0.0), *(Wave(j * rate) for j in range(1, len(shares)))]

    def pull(bars: Sequence[TermBar], _: float) -> Kernel:
        by_variance = sum(bar.variance * q for bar, q in zip(bars, shares, strict=True))
        by_length = v * sum(bar.variance * s for bar, s in zip(bars, slopes, strict=True))
        by_rate = sum(j * bar.rates[0] for j, bar in enumerate(bars))
        return cotangent(kernel, variance=by_variance, lengthscale=by_length,
                         period=-by_rate * rate / period)  # fmt: skip

    terms = tuple(ProductTerm((leaf,), v * q) for leaf, q in zip(leaves, shares, strict=True))
    return Expansion(terms, pull)


@expansion.register
def _scaled(kernel: Scaled, tolerance: float) -> Expansion:
    inner = expansion(kernel.kernel, tolerance)

    def pull(bars: Sequence[TermBar], white_bar: float) -> Kernel:
        pairs = zip(bars, inner.terms, strict=True)
        scale_bar = sum(bar.variance * t.variance for bar, t in pairs) + white_bar * inner.white
        own = [bar._replace(variance=bar.variance * kernel.scale) for bar in bars]
        kernel_bar = inner.pull(own, white_bar * kernel.scale)
        return cotangent(kernel, scale=scale_bar, kernel=kernel_bar)

    terms = tuple(ProductTerm(t.factors, kernel.scale * t.variance) for t in inner.terms)
    return Expansion(terms, pull, kernel.scale * inner.white)


@expansion.register
def _on_the_line(kernel: ActiveDims, tolerance: float) -> Expansion:
    if len(kernel.dims) > 1 or kernel.numbers not in ((0,), ()):  # a name is not found yet
        raise TypeError(f"gp must look at column 0, the only one of a line; got {kernel!r}")
    inner = expansion(kernel.kernel, tolerance)

    def pull(bars: Sequence[TermBar], white_bar: float) -> Kernel:
        return cotangent(kernel, kernel=inner.pull(bars, white_bar))

    return Expansion(inner.terms, pull, inner.white)


@expansion.register
def _sum(kernel: Sum, tolerance: float) -> Expansion:
    return _added(kernel, [expansion(part, tolerance) for part in kernel.parts])


def _added(kernel: Sum, parts: Sequence[Expansion]) -> Expansion:
    """The sum of the expansions of its parts."""
    ends = [sum(len(p.terms) for p in parts[: i + 1]) for i in range(len(parts))]

    def pull(bars: Sequence[TermBar], white_bar: float) -> Kernel:
        own = [bars[end - len(p.terms) : end] for end, p in zip(ends, parts, strict=True)]
        held = (p.pull(mine, white_bar) for p, mine in zip(parts, own, strict=True))
        return cotangent(kernel, parts=tuple(held))

    terms = tuple(term for part in parts for term in part.terms)
    return Expansion(terms, pull, math.fsum(part.white for part in parts))


@expansion.register
def _product(kernel: Product, tolerance: float) -> Expansion:
    parts = [expansion(part, tolerance) for part in kernel.parts]
    if any(part.white for part in parts):
        raise TypeError(f"gp must have no White as a factor on a line; got {kernel!r}")
    whole = parts[0]
    for i, part in enumerate(parts[1:], 1):
        whole = _times(whole, part, first=i == 1)
    pull_all = whole.pull

    def pull(bars: Sequence[TermBar], white_bar: float) -> Kernel:
        held: object = pull_all(bars, white_bar)
        return cotangent(kernel, parts=held if len(parts) > 1 else (held,))

    return Expansion(whole.terms, pull)


@expansion.register
def _power(kernel: Power, tolerance: float) -> Expansion:
    whole = expansion(Product((kernel.kernel,) * kernel.exponent), tolerance)

    def pull(bars: Sequence[TermBar], white_bar: float) -> Kernel:
        copies: Any = whole.pull(bars, white_bar)
        return cotangent(kernel, kernel=reduce(added, copies.parts))

    return Expansion(whole.terms, pull)


def _times(one: Expansion, other: Expansion, first: bool) -> Expansion:
    """The product of two: each term of the one times each of the other."""
    pairs = [(a, b) for a in one.terms for b in other.terms]
    terms = tuple(ProductTerm(a.factors + b.factors, a.variance * b.variance) for a, b in pairs)

    def pull(bars: Sequence[TermBar], _: float) -> Any:
        left = _shared(one.terms, other.terms, bars, right=False)
        right = _shared(one.terms, other.terms, bars, right=True)
        held: Any = one.pull(left, 0.0)
        return (*((held,) if first else held), other.pull(right, 0.0))

    return Expansion(terms, pull)


def _shared(
    one: Sequence[ProductTerm], other: Sequence[ProductTerm], bars: Sequence[TermBar], right: bool
) -> list[TermBar]:
    """The derivatives by the terms of one side of a product."""
    width = len(other)
    found = []
    for k, term in enumerate(other if right else one):
        # the terms of a product come in the order i · width + j of its pairs
        mine = [i * width + k for i in range(len(one))] if right else \
            [k * width + j for j in range(width)]  # fmt: skip
        against = one if right else other
        by_variance = sum(bars[i].variance * t.variance
                          for i, t in zip(mine, against, strict=True))  # fmt: skip
        rates = [bars[i].rates[-len(term.factors) :] if right else
                 bars[i].rates[: len(term.factors)] for i in mine]  # fmt: skip
        found.append(TermBar(by_variance, tuple(map(sum, zip(*rates, strict=True)))))
    return found


def expansion_of(gp: GP, tolerance: float) -> Expansion:
    """Return the terms of a process, if it is one on a line that this room can work for.

    Its covariance is within `tolerance` of its variance, and of that of its noise.
    """
    kernel = require_known_mean(_check.instance(gp, "gp", GP)).kernel
    found = _expanded(kernel, gp.noise_var, tolerance)
    if not found.terms:
        raise TypeError(f"gp must have a kernel that is more than noise on a line; got {kernel!r}")
    if (size := sum(term.size for term in found.terms)) > _MOST:
        remedy = "give Periodic longer lengthscales, or take the exact GP"
        wanted = f"gp must have a state of {_MOST} numbers or fewer on a line"
        raise _check.NoValueError(f"{wanted}: {remedy}; got {size} of {kernel!r}")
    if gp.noise_var + found.white == 0.0 and "noise_var" not in left_open(gp):
        raise ValueError("gp.noise_var must be positive on a line; got 0.0")
    return found


def _expanded(kernel: Kernel, noise: float, tolerance: float) -> Expansion:
    """A kernel as terms, where waves that are left out are far less than the noise, too.

    The remainder of a summand that varies more than the noise is measured in the noise.
    """
    if isinstance(kernel, Sum):
        return _added(kernel, [_expanded(part, noise, tolerance) for part in kernel.parts])
    found = expansion(kernel, tolerance)
    if not any(isinstance(leaf, Wave) for term in found.terms for leaf in term.factors):
        return found
    return expansion(kernel, tolerance * min(max(noise / found.unit, _LEAST), 1.0))


def seen_of(
    kernel: Kernel, gp: GP, tolerance: float, motion: Motion
) -> tuple[tuple[int, ...], float]:
    """The entries of a state whose sum is a part of f, and the variance of its white noise.

    Parameters
    ----------
    kernel : Kernel
        The part, one summand of the whole or several of them, the objects themselves.
    gp : GP
        The whole process.
    tolerance : float
        As in `expansion_of`.
    motion : Motion
        That of the whole.
    """
    whole = gp.kernel
    if kernel is whole:
        return motion.seen, _expanded(whole, gp.noise_var, tolerance).white
    numbers, white = iter(range(len(motion.terms))), 0.0
    seen: list[int] = []
    parts = whole.parts if isinstance(whole, Sum) else (whole,)
    picked = [kernel]
    if isinstance(kernel, Sum) and all(one is not kernel for one in parts):  # several of them
        picked = [*kernel.parts]
    for one in parts:
        found = _expanded(one, gp.noise_var, tolerance)
        own = [next(numbers) for _ in found.terms]
        here = next((i for i, other in enumerate(picked) if other is one), None)
        if here is not None:
            del picked[here]
            seen += own
            white += found.white
    return motion.sum_of(seen), white


def motion_of(gp: GP, tolerance: float = 1e-6) -> Motion:
    """Return the motion of a process in its `unit`."""
    return expansion_of(gp, tolerance).motion
