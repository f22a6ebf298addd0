"""Numbers for the symbols of a display, by kind and region, as its conditions allow."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from checked_equations.errors import EquationError

from .conditions import Condition
from .kinds import COMPLEX, FAR, REAL, Kind, Region, Rng, Sizes

_TRIES = 400
_ROUNDS = 16  # of numbers that confirm what is said of a region
_FEW = 3  # symbols whose signs are drawn in all ways
Made = Callable[[Mapping[str, Any]], Any]


class _Condition(Protocol):
    """A condition on numbers."""

    def holds(self, bindings: Mapping[str, Any]) -> bool:
        """Return whether they do."""


@dataclass(frozen=True)
class Plan:
    """The symbols that are drawn, fixed or computed, and their conditions."""

    drawn: Mapping[str, Kind]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    derived: Mapping[str, Made] = field(default_factory=dict)
    implied: Sequence[Condition] = ()


@dataclass(frozen=True)
class Sample:
    """Numbers from one region."""

    region: Region
    bindings: Mapping[str, Any]


def samples(plan: Plan, conditions: Sequence[Condition], rng: Rng) -> list[Sample]:
    """A sample of each region in which the conditions can be met."""
    found = (_sample(region, plan, conditions, rng) for region in _regions(plan))
    return [sample for sample in found if sample is not None]


def confirming(
    plan: Plan, conditions: Sequence[Condition], regions: Sequence[Region], *, far: bool
) -> Iterator[Sample]:
    """More numbers from `regions`, and near their ends; with signs mixed in all ways; `far` out.

    One sample of a region is a chance: of |a b| = a b that both have the same sign.
    """
    rng = np.random.default_rng(0)
    around = [replace(region, wide=True) for region in regions]
    signs = [_Signs(plan, pattern) for pattern in _patterns(plan)] if _MIXED in regions else []
    found = [_sample(_MIXED, plan, (*conditions, one), rng) for one in signs]
    rounds = itertools.chain(*itertools.repeat(around, _ROUNDS), FAR if far else ())
    found += [_sample(region, plan, conditions, rng) for region in rounds]
    return (sample for sample in found if sample is not None)


_MIXED = next(region for region in REAL if region.signs == "+-")


def _signed(plan: Plan) -> list[str]:
    """The symbols whose sign is drawn."""
    kinds = plan.drawn.items()
    return [key for key, kind in kinds if kind.name == "real" and not (kind.shape or kind.axes)]


def _patterns(plan: Plan) -> Iterator[tuple[int, ...]]:
    keys = _signed(plan)[:_FEW]
    return itertools.product((1, -1), repeat=len(keys))


@dataclass(frozen=True)
class _Signs:
    """That the symbols have these signs."""

    plan: Plan
    pattern: tuple[int, ...]

    def holds(self, bindings: Mapping[str, Any]) -> bool:
        """Return whether numbers do."""
        pairs = zip(_signed(self.plan), self.pattern, strict=False)
        return all(bindings[key] * sign > 0 for key, sign in pairs)


def _regions(plan: Plan) -> tuple[Region, ...]:
    kinds = {kind.name for kind in plan.drawn.values()}
    if not kinds:
        return REAL[1:2]
    real = REAL if kinds & {"real", "positive", "complex"} else REAL[:3]
    return real + (COMPLEX if "complex" in kinds else ())


def _sample(
    region: Region, plan: Plan, conditions: Sequence[_Condition], rng: Rng
) -> Sample | None:
    for _ in range(_TRIES):
        sizes: Sizes = {}
        numbers = {key: _number(key, kind, rng, sizes, region) for key, kind in plan.drawn.items()}
        whole = [numbers[key] for key, kind in plan.drawn.items() if kind.counts]
        if len(set(whole)) < min(len(whole), 4):  # what is said of m and n is not said of m = n
            continue
        bindings = {**plan.fixed, **numbers, **sizes}
        try:
            for key, made in plan.derived.items():
                bindings[key] = made(bindings)
        except EquationError:  # it has no value here
            continue
        if all(condition.holds(bindings) for condition in (*conditions, *plan.implied)):
            return Sample(region, bindings)
    return None


def _number(key: str, kind: Kind, rng: Rng, sizes: Sizes, region: Region) -> Any:
    return sizes[key] if key in sizes else kind.draw(rng, sizes, region)
