"""Sums and products whose printed terms determine the pattern that dots stand for.

The printed terms are compared as trees: equal parts stay, numbers that differ go on as they
began (by steps, as squares, by factors), and products that grow go on growing. The pattern must
give every printed term again, at least three of them; else dots have no value.
"""

from __future__ import annotations

import cmath
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate.evaluator import Evaluator, Item, Scope
from checked_equations.evaluate.values import Array, scalar
from checked_equations.latex import tree as t
from checked_equations.latex.builder.dots import has_dots, is_dots, levels

from .extrapolation import series

DOTS = "\\dots"
_PLACE, _FACTOR = "\0k", "\0j"  # no author can write them
_NEAR = 1e-9
_MOST = 200
_OPEN = OperationError("the dots have no pattern that the printed terms determine")


def value_of(node: t.Dots, ev: Evaluator, scope: Scope) -> Array:
    """Return the value of a sum or product with dots."""
    body = node.body
    if isinstance(body, t.Sum):
        found = _sum(body, ev, scope)
    else:
        assert isinstance(body, t.Product), "the engine has continued fractions"
        found = _product(body, ev, scope)
    if not cmath.isfinite(found):
        raise _OPEN
    return scalar(found if found.imag else found.real)


# -- the pattern of a few trees ---------------------------------------------------------


def general(nodes: Sequence[t.Node], key: str = _PLACE) -> t.Node | None:
    """The tree that is each of `nodes` where the running variable `key` is 1, 2, 3.

    >>> from checked_equations.latex.printer import to_latex
    >>> to_latex(general([t.Power(t.Name("x"), t.Number(n)) for n in (3.0, 5.0)], "k"))
    'x^{1 + 2 k}'
    """
    first = nodes[0]
    if all(node == first for node in nodes):
        return first
    if all(isinstance(node, t.Number) for node in nodes):
        return _of_numbers([node.value for node in nodes if isinstance(node, t.Number)], key)
    if any(type(node) is not type(first) for node in nodes):
        return None
    places = [[place for place, _ in t.children(node)] for node in nodes]
    if all(here == places[0] for here in places):
        return _of_children(nodes, key)
    if isinstance(first, t.Product):
        return _of_growing([node.factors for node in nodes if isinstance(node, t.Product)], key)
    return None


def _of_children(nodes: Sequence[t.Node], key: str) -> t.Node | None:
    made = nodes[0]
    for place, _ in t.children(nodes[0]):
        part = general([dict(t.children(node))[place] for node in nodes], key)
        if part is None:
            return None
        made = t.replace_at(made, (place,), part)
    whole = all(_shell(node) == _shell(nodes[0]) for node in nodes)
    return made if whole else None


def _shell(node: t.Node) -> t.Node:
    """`node` with nothing in its places: its name, its signs."""
    for place, _ in t.children(node):
        node = t.replace_at(node, (place,), t.Number(0.0))
    return node


def _of_numbers(values: Sequence[float], key: str) -> t.Node | None:
    place = t.Index(key)
    steps = [b - a for a, b in itertools.pairwise(values)]
    if all(step == steps[0] for step in steps):
        return _line(values[0] - steps[0], steps[0], place)
    roots = [value**0.5 for value in values if value >= 0]
    steps = [b - a for a, b in itertools.pairwise(roots)]
    if len(roots) == len(values) > 2 and all(abs(step - steps[0]) < _NEAR for step in steps):
        return t.Power(_line(roots[0] - steps[0], steps[0], place), t.Number(2.0))
    shares = [b / a for a, b in itertools.pairwise(values) if a]
    if len(shares) > 1 and all(abs(share - shares[0]) < _NEAR for share in shares):
        power = t.Power(t.Number(shares[0]), place)
        return t.Product((t.Number(values[0] / shares[0]), power))
    return None


def _line(start: float, step: float, place: t.Node) -> t.Node:
    return t.Sum((t.Number(start), t.Product((t.Number(step), place))), (1, 1))


def _of_growing(rows: Sequence[tuple[t.Node, ...]], key: str) -> t.Node | None:
    """``1``, ``1 \\cdot 3``, ``1 \\cdot 3 \\cdot 5``: each has one factor more than the last."""
    longest = rows[-1]
    grows = all(len(b) == len(a) + 1 for a, b in itertools.pairwise(rows))
    if not grows or any(row != longest[: len(row)] for row in rows):
        return None
    for kept in (0, 1):  # factors that stand before those that go on
        rest = longest[kept:]
        factor = general(rest, _FACTOR) if len(rest) > 1 else None
        if factor is not None:
            size = t.Sum((t.Number(float(len(rows[0]) - kept - 1)), t.Index(key)), (1, 1))
            over = t.Range(_FACTOR, t.Number(1.0), size)
            return t.Product((*longest[:kept], t.Reduction("prod", over, factor)))
    return None


@dataclass(frozen=True)
class _Pattern:
    """The term at each place, the first of them that it gives, and its sign there."""

    at: Callable[[int], complex]
    first: int


def _at(node: t.Node, key: str, ev: Evaluator, scope: Scope) -> Callable[[int], complex]:
    return lambda k: complex(ev.of(node, {**scope, key: Item(k, k)}))


def _near(one: complex, other: complex) -> bool:
    return abs(one - other) <= _NEAR * max(abs(one), abs(other))


def _given(at: Callable[[int], complex], printed: Sequence[complex], last: int) -> int:
    """Return the number of `printed` terms that a pattern gives, from the last one backwards."""
    count = 0
    for place, value in zip(range(last, last - len(printed), -1), reversed(printed), strict=True):
        try:
            alike = _near(at(place), value)
        except (EquationError, OperationError):
            alike = False
        if not alike:
            break
        count += 1
    return count


def _signed(
    body: Callable[[int], complex], start: int, sign: int, turning: int | None
) -> Callable[[int], complex]:
    """The terms of `body` with their `sign`, which is that of the place `turning` and turns."""

    def at(k: int) -> complex:
        turn = 1 if turning is None else (-1) ** (turning - k)
        return sign * turn * body(k - start)

    return at


def _of_printed(
    nodes: Sequence[t.Node], signs: Sequence[int], onwards: int, ev: Evaluator, scope: Scope
) -> _Pattern:
    """The pattern of printed terms, whose places are 1, 2, 3; `onwards` is the sign of the dots."""
    printed = [s * complex(ev.of(node, scope)) for s, node in zip(signs, nodes, strict=True)]
    for used in (3, 2):
        chosen = general(nodes[-used:]) if len(nodes) >= used else None
        if chosen is None:
            continue
        start, turning = len(nodes) - used, signs[-1] != signs[-2]
        if signs[-1] * (-1) ** turning != onwards:
            continue
        body = _at(chosen, _PLACE, ev, scope)

        at = _signed(body, start, signs[-1], len(nodes) if turning else None)
        count = _given(at, printed, len(nodes))
        if count >= min(3, len(nodes) + 1):
            return _Pattern(at, len(nodes) - count + 1)
    raise _OPEN


# -- sums -------------------------------------------------------------------------------


def _sum(node: t.Sum, ev: Evaluator, scope: Scope) -> complex:
    place = next(i for i, term in enumerate(node.terms) if is_dots(term))
    before, signs = node.terms[:place], node.signs[:place]
    after = [(s, n) for n, s in zip(node.terms[place + 1 :], node.signs[place + 1 :], strict=True)]
    behind = [pair for pair in after if not is_dots(pair[1])]
    if not behind:
        pattern = _of_printed(before, signs, node.signs[place], ev, scope)
        head = _total(before[: pattern.first - 1], signs, ev, scope)
        return head + series(pattern.at, pattern.first)
    if len(behind) > 1 or any(
        s != behind[0][0] for s in (node.signs[place], *(s for s, _ in after))
    ):
        raise _OPEN
    endless = len(after) > 1
    return _with_general(before, signs, behind[0], endless, ev, scope)


def _total(nodes: Sequence[t.Node], signs: Sequence[int], ev: Evaluator, scope: Scope) -> complex:
    pairs = zip(nodes, signs, strict=False)
    return complex(sum(s * complex(ev.of(node, scope)) for node, s in pairs))


def _with_general(
    nodes: Sequence[t.Node], signs: Sequence[int], term: tuple[int, t.Node], endless: bool,
    ev: Evaluator, scope: Scope,
) -> complex:  # fmt: skip
    """A sum that prints the term of a letter n: those printed for 0, 1, 2 or so must be of it."""
    sign, body = term
    printed = [s * complex(ev.of(node, scope)) for s, node in zip(signs, nodes, strict=True)]
    for key in _letters(body, ev):
        inner = _at(body, key, ev, scope)

        def at(k: int, inner: Callable[[int], complex] = inner) -> complex:
            return sign * inner(k)

        for start in (0, 1, 2):
            count = _given(at, printed, start + len(nodes) - 1)
            if count < min(2, len(nodes)):
                continue
            head = _total(nodes[: len(nodes) - count], signs, ev, scope)
            first = start + len(nodes) - count
            if endless:
                return head + series(at, first)
            last = round(float(np.real(ev.bound(key))))
            return head + complex(sum(at(k) for k in range(first, last + 1)))
    raise _OPEN


def _letters(node: t.Node, ev: Evaluator) -> list[str]:
    """The symbols of a term that are whole numbers."""
    keys = dict.fromkeys(part.key for part in t.parts(node) if isinstance(part, t.Name))
    return [key for key in keys if isinstance(ev.bindings.get(key), int)]


# -- products ---------------------------------------------------------------------------


def _product(node: t.Product, ev: Evaluator, scope: Scope) -> complex:
    place = next(i for i, factor in enumerate(node.factors) if is_dots(factor))
    dots, before = node.factors[place], node.factors[:place]
    rest = node.factors[place + 1 :]
    if isinstance(dots, t.Apply):
        last, *rest_of = (*dots.arguments, *rest)
    elif rest:
        last, *rest_of = rest
    else:
        raise _OPEN
    tail = np.prod([complex(ev.of(factor, scope)) for factor in rest_of])
    return _finite(before, last, ev, scope) * complex(tail)


def _finite(before: Sequence[t.Node], last: t.Node, ev: Evaluator, scope: Scope) -> complex:
    end = complex(ev.of(last, scope))
    printed = [complex(ev.of(factor, scope)) for factor in before]
    for used in (3, 2):
        chosen = general(before[-used:]) if len(before) >= used else None
        if chosen is None:
            continue
        at = _at(chosen, _PLACE, ev, scope)
        count = _given(at, printed, used)
        first = used - count + 1
        ends = (k for k in range(first - 1, _MOST) if _near(at(k), end))
        size = next(ends, None)
        if size is not None:
            head = np.prod(printed[: len(printed) - count])
            return complex(head * np.prod([at(k) for k in range(first, size + 1)]))
    raise _OPEN


def wrapped(node: t.Node) -> t.Node:
    """`node` with everything in which dots stand marked so that it has one value.

    Dots behind a continued fraction, ``\\cfrac{a}{b + \\dots} \\cdots``, belong to it.
    """
    if isinstance(node, t.Product) and is_dots(node.factors[-1]) and has_dots(node.factors[-2]):
        rest = node.factors[:-1]
        return wrapped(rest[0] if len(rest) == 1 else replace(node, factors=rest))
    if isinstance(node, t.Sum | t.Product):
        own = node.terms if isinstance(node, t.Sum) else node.factors
        if any(is_dots(part) for part in own):
            inner = t.mapped(node, lambda part: part if is_dots(part) else wrapped(part))
            return t.Dots(inner, span=node.span)
    if isinstance(node, t.Quotient) and len(list(levels(node))) > 1:
        return t.Dots(node, span=node.span)
    return t.mapped(node, wrapped)
