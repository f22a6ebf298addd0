"""Integrals by double exponential rules, and tails that oscillate by extrapolation.

Takahasi and Mori (1974): after a substitution that makes the integrand die away doubly
exponentially the trapezoidal rule is all that is needed, also close to singular ends. A tail that
oscillates is cut at its zeros; the partial integrals are extrapolated by Wynn's epsilon algorithm.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from checked_equations.errors import EquationError, OperationError

from .extrapolation import wynn

Integrand = Callable[[float], complex]
_SETTLED = 1e-11  # of two levels, relative to the integral of the modulus
_ROUGHLY = 1e-5  # enough to see that two values differ by much
_ROUNDING = 1e-14  # of a sum of some hundred terms, by its size
_LEVELS = 7
_REACH = 4.0  # in the variable of the trapezoidal rule, either way
_ROUGH = 0.02  # of integrals of a modulus, which has kinks
_DYING = 0.95  # of the pieces of a tail, from its middle to its end: a power of -0.1 at least
_ZEROS = 26  # of a tail that oscillates
_GRID = 800
_FAR = 60.0  # where a peak is looked for
_LARGE, _GONE = 600.0, 1e-99  # behind, exponentials overflow; what is less there is nothing
_RULE = np.polynomial.legendre.leggauss(24)


_settled: ContextVar[float] = ContextVar("settled", default=_SETTLED)


@contextmanager
def roughly() -> Iterator[None]:
    """Within, an integral has settled when five digits have."""
    token = _settled.set(_ROUGHLY)
    try:
        yield
    finally:
        _settled.reset(token)


def integrate(f: Integrand, low: float, high: float) -> complex:
    """The integral of `f`, either end perhaps infinite. Raises `OperationError` if none settles.

    Over the whole line both halves must settle. If they do not, that of an odd function is no zero,
    though its parts from −a to a are: it has a principal value, and no integral.

    >>> round(integrate(lambda x: math.exp(-x * x), -math.inf, math.inf).real ** 2, 9)
    3.141592654
    """
    if low == high:
        return 0.0
    if low > high:
        return -integrate(f, high, low)
    if low == -math.inf < high < math.inf:
        return integrate(lambda x: f(-x), -high, math.inf)
    settled = _double_exponential(f, low, high)
    if settled is not None:
        return settled
    if low == -math.inf:
        even = integrate(lambda x: f(x) + f(-x), 0.0, math.inf)
        _require_odd_part(f)
        return even
    panelled = _by_panels(f, low, high)
    if panelled is not None:
        return panelled
    if high == math.inf:
        return _oscillating(f, low)
    raise OperationError("the integral does not settle")


def _require_odd_part(f: Integrand) -> None:
    """Refuse an integral that settles only because one half of the line makes up for the other."""
    try:
        integrate(lambda x: f(x) - f(-x), 0.0, math.inf)
    except OperationError as problem:
        said = "the integral does not settle: it has a principal value at most"
        raise OperationError(said) from problem


def _by_panels(f: Integrand, low: float, high: float) -> complex | None:
    """By Gauss's rule on panels, which keeps away from ends where an integrand loses its digits.

    Next to a pole both divisions may cancel, as those of one over x do. The integral of its
    modulus, which has no value, is another by each.
    """
    if math.isfinite(high):
        coarse, fine = (np.linspace(low, high, size) for size in (5, 8))
    else:
        coarse, fine = (
            low + np.concatenate([[0.0], first * base ** np.arange(top)])
            for first, base, top in ((1.0, 2.0, 10), (1.3, 1.7, 12))
        )
    try:
        (one, size, last), (other, alike, _) = _panelled(f, coarse), _panelled(f, fine)
    except (EquationError, OperationError, ArithmeticError, ValueError):
        return None
    ends = last if high == math.inf else 0.0
    settled = size > 0.0 and abs(one - other) <= 1e-9 * size and ends <= 1e-12 * size
    settled = settled and abs(size - alike) <= _ROUGH * size
    return without_rounding(one, size) if settled and cmath.isfinite(one) else None


def _panelled(f: Integrand, cuts: np.ndarray) -> tuple[complex, float, float]:
    """The integral, that of the modulus, and the share in it of the last panel that counts."""
    total, size, last = 0j, 0.0, 0.0
    for i, (a, b) in enumerate(itertools.pairwise(cuts)):
        part, last = _panel(f, float(a), float(b))
        total, size = total + part, size + last
        if i > 2 and size and last <= 1e-17 * size:  # the rest may overflow
            break
    return total, size, last


def _double_exponential(f: Integrand, low: float, high: float) -> complex | None:
    place = _substitution(low, high)
    known: dict[float, complex] = {}
    before: complex | None = None
    for level in range(1, _LEVELS):
        step = 0.5**level
        for k in range(-int(_REACH / step), int(_REACH / step) + 1):
            u = k * step
            if u not in known:
                known[u] = _term(f, *place(u))
        values = np.array(list(known.values()))
        total, size = step * complex(values.sum()), step * float(np.abs(values).sum())
        if not cmath.isfinite(total):
            return None
        ends = max(abs(known[u]) for u in (min(known), max(known)))
        settled = before is not None and level > 2 and abs(total - before) <= _settled.get() * size
        if settled and ends <= 1e-9 * size and (size or _is_nothing(f, low, high)):
            return without_rounding(total, size)
        before = total
    return None


def _is_nothing(f: Integrand, low: float, high: float) -> bool:
    """Return whether it is zero between the nodes too, where a narrow peak may be: of a far mean.

    >>> _is_nothing(lambda x: math.exp(-((x - 40) ** 2)), 0.0, math.inf)
    False
    """
    ends = ((max(low, -far), min(high, far)) for far in (_FAR, 5 * _FAR))
    places = (float(x) for pair in ends for x in np.linspace(*pair, 24))
    return not any(abs(_value(f, x).real) > 0.0 for x in places)


def without_rounding(total: complex, size: float) -> complex:
    """Return a sum of terms of this size, its parts zero where they are no more than rounding."""
    parts = (part if abs(part) > _ROUNDING * size else 0.0 for part in (total.real, total.imag))
    return complex(*parts)


def _term(f: Integrand, x: float, weight: float) -> complex:
    """One term; where it leaves the reach of floats, or its exponentials do, it may be nothing."""
    if weight == 0.0 or not math.isfinite(x) or not math.isfinite(weight):
        return 0.0
    try:
        value = complex(f(x)) * weight
    except (EquationError, OperationError, ArithmeticError, ValueError):
        behind = abs(x) > _LARGE and abs(_value(f, math.copysign(_LARGE, x)).real) < _GONE
        return 0.0 if behind or weight < 1e-9 or weight > 1e9 else complex(math.nan)
    return value


def _substitution(low: float, high: float) -> Callable[[float], tuple[float, float]]:
    """From the variable of the trapezoidal rule to a place and its weight."""

    def finite(u: float) -> tuple[float, float]:
        s = math.pi / 2 * math.sinh(u)
        small = 1.0 / (1.0 + math.exp(2.0 * abs(s)))  # from the nearer end
        x = low + (high - low) * small if s < 0 else high - (high - low) * small
        if x in (low, high):
            return x, 0.0
        weight = (high - low) * math.pi * math.cosh(u) * small * (1.0 - small)
        return x, weight

    def half(u: float) -> tuple[float, float]:
        s = math.pi / 2 * math.sinh(u)
        return low + math.exp(s), math.exp(s) * math.pi / 2 * math.cosh(u)

    def whole(u: float) -> tuple[float, float]:
        s = math.pi / 2 * math.sinh(u)
        return math.sinh(s), math.cosh(s) * math.pi / 2 * math.cosh(u)

    if math.isfinite(high):
        return finite
    return half if math.isfinite(low) else whole


def _oscillating(f: Integrand, low: float) -> complex:
    """Return the limit of the integrals from `low` to successive zeros."""
    cuts = _zeros(f, low)
    if len(cuts) < 10:
        raise OperationError("the integral does not settle")
    first = _double_exponential(f, low, cuts[0])
    if first is None:
        raise OperationError("the integral does not settle")
    pieces = [_panel(f, a, b)[0] for a, b in itertools.pairwise(cuts)]
    middle, late = (max(map(abs, part)) for part in (pieces[len(pieces) // 3 :][:3], pieces[-3:]))
    if late > _DYING * middle:  # as of the sine alone: what they extrapolate to is no integral
        raise OperationError("the integral does not settle")
    return wynn([*itertools.accumulate(pieces, initial=first)])


def _panel(f: Integrand, low: float, high: float) -> tuple[complex, float]:
    """The integral over a panel, and that of the modulus."""
    points, weights = _RULE
    half = 0.5 * (high - low)
    pairs = zip(points, weights, strict=True)
    values = [complex(f(low + half * (1.0 + x))) * half * w for x, w in pairs]
    return sum(values), sum(map(abs, values))


def _zeros(f: Integrand, low: float) -> list[float]:
    """The first zeros behind `low` of the real part, or of the imaginary one if that is larger."""
    grid = low + np.linspace(0.0, _FAR, _GRID)[1:]
    values = np.array([_value(f, float(x)) for x in grid])
    real = np.abs(values.real).sum() >= np.abs(values.imag).sum()

    def part(value: complex) -> float:
        return value.real if real else value.imag

    along = [part(v) for v in values]
    return list(_crossings(lambda x: part(_value(f, x)), grid, along))[:_ZEROS]


def _crossings(
    g: Callable[[float], float], grid: np.ndarray, along: list[float]
) -> Iterator[float]:
    for a, b, at_a, at_b in zip(grid, grid[1:], along, along[1:], strict=False):
        if at_a * at_b < 0:
            left, right, value = float(a), float(b), at_a
            for _ in range(28):
                middle = 0.5 * (left + right)
                there = g(middle)
                if there * value > 0:
                    left, value = middle, there
                else:
                    right = middle
            yield 0.5 * (left + right)


def _value(f: Integrand, x: float) -> complex:
    try:
        return complex(f(x))
    except (EquationError, OperationError, ArithmeticError, ValueError):
        return complex(math.nan)
