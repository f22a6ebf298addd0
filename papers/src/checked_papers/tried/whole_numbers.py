"""Whole numbers far from those that are drawn first: negative ones, zero, one, and up to forty.

A display that holds for n from 2 to 5 may hold for these alone. So each of its whole numbers is
drawn widely, and a letter that other papers use for measured quantities, ``M_{ij}``, as a real
number too: a failure there is a condition of the verdict, ``n > 0``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from . import kinds
from .drawing import Plan
from .letter_conventions import letter

WIDE = (-3, -2, -1, 0, 1, 6, 7, 9, 12, 23, 40)
GENERIC = (7, 23)  # no roots of what is drawn for a polynomial by chance
_ABOVE = frozenset("NMK")  # that measure as often as they count
_SMALL = (3, 2, 1, 4, 6, 5)
_FEWER = {2: 6, 3: 4}  # of these, where two or three whole numbers are drawn together
_MOST = 3  # symbols that are drawn widely
_MIXED = ((-2, 3, 7), (0, 9, 4), (6, 1, -3), (12, -1, 2))  # all of them at once


def counted(plan: Plan) -> list[str]:
    """The symbols that are whole numbers, each by itself."""
    return [key for key, kind in plan.drawn.items() if kind.counts]


def wide_plans(plan: Plan, wide: Sequence[int] = WIDE) -> Iterator[Plan]:
    """The plan with its whole numbers far from those that are drawn first.

    >>> [one.drawn["n"].value for one in wide_plans(Plan({"n": kinds.whole}))][:4]
    [-3, -2, -1, 0]
    """
    keys = counted(plan)[:_MOST]
    least = [1 if plan.drawn[key].name == "natural" else WIDE[0] for key in keys]
    for key, first in zip(keys, least, strict=True):
        yield from (_with(plan, {key: value}) for value in wide if value >= first)
    for values in _MIXED if len(keys) > 1 else ():
        if all(value >= first for value, first in zip(values, least, strict=False)):
            yield _with(plan, dict(zip(keys, values, strict=False)))


def small_plans(plan: Plan) -> Iterator[Plan]:
    """Yield the plan with all small values of its whole numbers together, equal ones too."""
    keys = counted(plan)[:_MOST]
    for values in itertools.product(_SMALL[: _FEWER[len(keys)]], repeat=len(keys)):
        yield _with(plan, dict(zip(keys, values, strict=True)))


def broken_plans(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """The plan with one of the letters that measure as often as they count drawn as a real number.

    >>> [key for key, _ in broken_plans(Plan({"n": kinds.whole, "M_{ij}": kinds.whole}))]
    ['M_{ij}']
    """
    for key in counted(plan)[:_MOST]:
        if "_" in key or letter(key) in _ABOVE:
            yield key, replace(plan, drawn={**plan.drawn, key: kinds.real})


def _with(plan: Plan, values: Mapping[str, int]) -> Plan:
    fixed = {key: kinds.constant(value) for key, value in values.items()}
    return replace(plan, drawn={**plan.drawn, **fixed})


Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Wanted:
    """A condition on whole numbers, in words."""

    said: str
    keys: tuple[str, ...]
    meets: Callable[[float], bool]

    def holds(self, numbers: Numbers) -> bool:
        """Return whether numbers meet it."""
        return all(self.meets(numbers[key]) for key in self.keys)


_LEAST: Sequence[tuple[str, Callable[[float], bool]]] = (
    (" > 0", lambda n: n > 0), (" ≥ 0", lambda n: n >= 0), (" ≠ 0", lambda n: n != 0),
    (" ≠ 1", lambda n: n != 1), (" ≥ 2", lambda n: n >= 2), (" ≥ 3", lambda n: n >= 3),
)  # fmt: skip
_OTHERS: Sequence[tuple[str, Callable[[float], bool]]] = (
    (" ≤ 0", lambda n: n <= 0), (" even", lambda n: n % 2 == 0), (" odd", lambda n: n % 2 == 1),
)  # fmt: skip


def condition_on(cases: Sequence[tuple[Numbers, bool]], *, order: bool = False) -> Wanted | None:
    """Return the weakest condition under which it holds for whole numbers, if one is known.

    Of an inequality, an `order`, no upper bound is one, since the numbers end somewhere.

    >>> condition_on([({"n": -1}, False), ({"n": 0}, True), ({"n": 3}, True)]).said
    'n ≥ 0'
    """
    keys = list(cases[0][0]) if cases else []
    groups = [[key] for key in keys] + ([keys] if len(keys) > 1 else [])
    found: list[tuple[int, Wanted]] = []
    for group in groups:
        for said, meets in _LEAST if order else (*_LEAST, *_OTHERS):
            verb = (" is", " are")[len(group) > 1] if said[1].isalpha() else ""
            one = Wanted(f"{', '.join(group)}{verb}{said}", tuple(group), meets)
            inside = [(numbers, holds) for numbers, holds in cases if one.holds(numbers)]
            several = all(len({numbers[key] for numbers, _ in inside}) > 1 for key in group)
            if several and all(holds for _, holds in inside):
                found.append((len(inside), one))
    return max(found, key=lambda one: one[0])[1] if found else None
