"""Expressions with several values, one meant: ``\\operatorname{Ln} z``, the sign of ``\\pm``.

Such a statement holds on numbers where it does for some of the values, as its library says of
them. A slip of it is caught on numbers where it holds for none.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from checked_equations.evaluate.effort import spend
from checked_equations.evaluate.values import Word
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal

from .unbound_statement import mentioned

SIGN = "\\pm"
_MOST = 60  # ways that are tried
_REACH = {1: 12, 2: 5, 3: 2}  # how far branches go either way, by how many are chosen together
Many = Callable[[complex, int], complex]


def _turned(of: Callable[[complex], complex], period: complex) -> Many:
    """The values in the forms of sine and tangent: ``(-1)^k f(z) + k p``."""
    return lambda z, k: (-1) ** k * of(z) + k * period


def _shifted(of: Callable[[complex], complex], period: complex) -> Many:
    return lambda z, k: of(z) + k * period


def _of_both_signs(of: Callable[[complex], complex], period: complex) -> Many:
    return lambda z, k: (-1) ** k * of(z) + (k // 2) * period


def _at_reciprocal(many: Many) -> Many:
    return lambda z, k: many(1.0 / z, k)


_PI = math.pi
_FORWARD: Mapping[str, Many] = {  # [DLMF 4.2.6, 4.23.31 to 33, 4.37.29 to 31]
    "Ln": _shifted(cmath.log, 2j * _PI),
    "Arcsin": _turned(cmath.asin, _PI), "Arccos": _of_both_signs(cmath.acos, 2 * _PI),
    "Arctan": _shifted(cmath.atan, _PI),
    "Arcsinh": _turned(cmath.asinh, 1j * _PI),
    "Arccosh": _of_both_signs(cmath.acosh, 2j * _PI),
    "Arctanh": _shifted(cmath.atanh, 1j * _PI),
}  # fmt: skip
_RECIPROCAL = {
    "Arccsc": "Arcsin", "Arcsec": "Arccos", "Arccot": "Arctan",
    "Arccsch": "Arcsinh", "Arcsech": "Arccosh", "Arccoth": "Arctanh",
}  # fmt: skip
_ALL = {**_FORWARD, **{one: _at_reciprocal(_FORWARD[of]) for one, of in _RECIPROCAL.items()}}


def _branch(many: Many, k: int) -> Callable[[Any], complex | float]:
    def of(argument: Any) -> complex | float:
        spend(1)
        value = many(complex(argument), k)
        return value if value.imag else value.real

    return of


WORDS: Mapping[str, Callable[[Any], Any]] = {
    f"\\operatorname{{{name}}}": _branch(many, 0) for name, many in _ALL.items()
}
_MANY = {normal(f"\\operatorname{{{name}}}"): many for name, many in _ALL.items()}
Way = dict[str, Any]
Holds = Callable[[t.Step, Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Choices:
    """The choice on each sample: the branch of each call, or a sign."""

    branches: Mapping[str, Many] = field(default_factory=dict)
    signed: bool = False

    def __bool__(self) -> bool:
        """Return whether there is anything to choose."""
        return bool(self.branches) or self.signed

    def settled(
        self, steps: Sequence[t.Step], bindings: Mapping[str, Any], holds: Holds
    ) -> tuple[Way, bool]:
        """Return the numbers with branches chosen so that each step holds, if it can."""
        own = {k: v for k, v in bindings.items() if k not in self.branches and k != SIGN}
        every = True
        for step in steps:
            free = [key for key in self.stand_in(step) if key not in own]
            ways = ({**own, **way} for way in self._ways(free))
            found = next((way for way in ways if holds(step, way)), None)
            every = every and found is not None
            own = found or {**own, **next(self._ways(free))}
        return {**own, **next(self._ways([key for key in self._all() if key not in own]))}, every

    def _all(self) -> list[str]:
        return [*self.branches, *[SIGN] * self.signed]

    def stand_in(self, node: t.Node) -> list[str]:
        """Return the chosen branches that stand in `node`."""
        named = mentioned(node)
        return [key for key in self._all() if key in named]

    def _ways(self, free: Sequence[str]) -> Iterator[Way]:
        """Yield the choices for each of `free`, the principal branches first."""
        reach = _REACH.get(len([key for key in free if key != SIGN]), 1)
        ranges = [(1, -1) if key == SIGN else range(-reach, reach + 1) for key in free]
        every = sorted(itertools.product(*ranges), key=lambda ks: sum(map(abs, ks)))
        for chosen in every[:_MOST]:
            yield {key: self._value(key, k) for key, k in zip(free, chosen, strict=True)}

    def _value(self, key: str, k: int) -> Any:
        return float(k) if key == SIGN else Word(_branch(self.branches[key], k))


def apart(statement: t.Statement) -> tuple[t.Statement, Choices]:
    """Return `statement` with a name of its own for each call of a function of several values."""
    branches: dict[str, Many] = {}

    def renamed(node: t.Node) -> t.Node:
        node = t.mapped(node, renamed)
        if not isinstance(node, t.Function) or node.name not in _MANY:
            return node
        key = normal(f"{node.name}_{{{len(branches) + 1}}}")
        branches[key] = _MANY[node.name]
        return replace(node, name=key)

    steps: list[t.Step] = []
    for step in statement.steps:
        goes_on = steps and step.left == statement.steps[len(steps) - 1].right
        left = steps[-1].right if goes_on else renamed(step.left)
        steps.append(replace(step, left=left, right=renamed(step.right)))
    return replace(statement, steps=tuple(steps)), Choices(branches)


def signed(upper: t.Node, lower: t.Node) -> t.Node | None:
    """One tree for the upper and the lower signs, where a symbol stands for them; or nothing."""
    if isinstance(upper, t.Statement) and isinstance(lower, t.Statement):
        made = (signed(*pair) for pair in zip(upper.steps, lower.steps, strict=False))
        steps = tuple(step for step in made if isinstance(step, t.Step))
        whole = len(steps) == len(upper.steps) == len(lower.steps)
        return replace(upper, steps=steps) if whole else None
    if upper == lower:
        return upper
    if isinstance(upper, t.Sum) and isinstance(lower, t.Sum):
        return _signed_sum(upper, lower)
    for one, other, sign in ((upper, lower, 1), (lower, upper, -1)):
        if other == t.Sum((one,), (-1,)):  # of `\\pm x` alone
            term = t.Product((t.Name(SIGN), one), span=one.span)
            return term if sign > 0 else t.Sum((term,), (-1,), span=one.span)
    return _of_children(upper, lower) if type(upper) is type(lower) else None


def _signed_sum(upper: t.Sum, lower: t.Sum) -> t.Node | None:
    if len(upper.terms) != len(lower.terms):
        return None
    terms = []
    for one, other, up, down in zip(
        upper.terms, lower.terms, upper.signs, lower.signs, strict=True
    ):
        term = signed(one, other)
        if term is None:
            return None
        terms.append(term if up == down else t.Product((t.Name(SIGN), term), span=term.span))
    return replace(upper, terms=tuple(terms))


def _of_children(upper: t.Node, lower: t.Node) -> t.Node | None:
    ours, theirs = dict(t.children(upper)), dict(t.children(lower))
    if ours.keys() != theirs.keys():
        return None
    made = upper
    for place, child in ours.items():
        part = signed(child, theirs[place])
        if part is None:
            return None
        made = t.replace_at(made, (place,), part)
    return made
