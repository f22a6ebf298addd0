"""Exact values of printed numbers: floats keep sixteen digits, and a last digit may be wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from operator import mul

from ..latex import tree as t

Scope = Mapping[str, Fraction]
_DIGITS = 15  # that a decimal has in floats
_BITS = 20_000  # of the largest power
_TERMS = 1000
_COUNTS: dict[str, Callable[..., int]] = {
    "factorial": math.factorial, "binom": math.comb, "gcd": math.gcd, "lcm": math.lcm
}  # fmt: skip
_ROUND: dict[str, Callable[..., int]] = {"floor": math.floor, "ceil": math.ceil}


class Unknown(ValueError):
    """A value is no fraction, or would take long."""


def fraction_of(node: t.Node, scope: Scope) -> Fraction:
    """Return the fraction that `node` is; raise `Unknown` where it is none.

    >>> from checked_equations.latex.tree import Number, Power
    >>> fraction_of(Power(Number(2.0), Number(-3.0)), {})
    Fraction(1, 8)
    """

    def of(part: t.Node) -> Fraction:
        return fraction_of(part, scope)

    match node:
        case t.Number(value, digits) if value == int(value) or digits <= _DIGITS:
            return Fraction(value) if value == int(value) else Fraction(str(value))
        case t.Name(key) | t.Index(key) if key in scope:
            return scope[key]
        case t.Reduction("sum" | "prod", over):
            return _run(node, over, scope)
        case t.Function(name, arguments) if name in _COUNTS or name in _ROUND:
            return _called(name, [of(one) for one in arguments])
    return _arithmetic(node, of)


def _arithmetic(node: t.Node, of: Callable[[t.Node], Fraction]) -> Fraction:
    match node:
        case t.Sum(terms, signs):
            signed = (sign * of(one) for one, sign in zip(terms, signs, strict=True))
            return sum(signed, Fraction(0))
        case t.Product(factors):
            return reduce(mul, map(of, factors))
        case t.Quotient(above, below):
            return of(above) / _below(of(below))
        case t.Inverse(base):
            return 1 / _below(of(base))
        case t.Power(base, exponent):
            return _power(of(base), of(exponent))
    raise Unknown(str(node))


def _below(value: Fraction) -> Fraction:
    if not value:
        raise Unknown("nothing stands below the line")
    return value


def _power(base: Fraction, power: Fraction) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    whole = power.denominator == 1 and (base or power > 0)
    if not whole or bits * abs(power) > _BITS:
        raise Unknown("a root, or a power that is large")
    return Fraction(base ** int(power))


def _called(name: str, arguments: list[Fraction]) -> Fraction:
    if name in _ROUND:
        return Fraction(_ROUND[name](*arguments))
    few = all(one.denominator == 1 and 0 <= one <= _TERMS for one in arguments)
    if not few:
        raise Unknown(name)
    return Fraction(_COUNTS[name](*map(int, arguments)))


def _run(node: t.Reduction, over: t.Range, scope: Scope) -> Fraction:
    if over.first is None or over.last is None or over.without is not None:
        raise Unknown("its range is not printed")
    first, last = fraction_of(over.first, scope), fraction_of(over.last, scope)
    if first.denominator != 1 or last.denominator != 1 or last - first >= _TERMS:
        raise Unknown("its range is long, or not of whole numbers")
    places = range(int(first), int(last) + 1)
    every = (fraction_of(node.body, {**scope, over.index: Fraction(i)}) for i in places)
    return sum(every, Fraction(0)) if node.kind == "sum" else reduce(mul, every, Fraction(1))
