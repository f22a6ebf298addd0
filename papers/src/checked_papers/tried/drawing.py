"""Numbers for the symbols of a display, by kind and region, as its conditions allow."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Protocol

import numpy as np

from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.latex import tree as t

from .conditions import Condition
from .kinds import BEYOND, COMPLEX, EVEN, FAR, FAR_APART, REAL, Kind, Region, Rng, Sizes, constant

_TRIES = 400
_SOME = 20  # where few numbers meet a condition, or all of them do
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
    wide: bool = True  # whether whole numbers may be negative, zero and large


@dataclass(frozen=True)
class Sample:
    """Numbers from one region."""

    region: Region
    bindings: Mapping[str, Any]


def samples(plan: Plan, conditions: Sequence[Condition], rng: Rng) -> list[Sample]:
    """A sample of each region in which the conditions can be met."""
    found = (_sample(region, plan, conditions, rng) for region in _regions(plan))
    return [sample for sample in found if sample is not None]


@dataclass(frozen=True)
class More:
    """More numbers, which confirm a verdict that was found in some `regions`, or refute it."""

    plan: Plan
    conditions: Sequence[Condition]
    regions: Sequence[Region]

    def around(self, *, far: bool, beyond: bool = False) -> Iterator[Sample]:
        """Numbers in the regions and near their ends, with signs mixed in all ways; `far` out,
        and `beyond` that over eight decades.

        One sample of a region is a chance: of |a b| = a b that both have the same sign.
        """
        plan, conditions, rng = self.plan, self.conditions, np.random.default_rng(0)
        wide = [replace(region, wide=True) for region in self.regions]
        mixed = [_MIXED] * (_MIXED in self.regions) + [FAR_APART] * beyond
        patterns = itertools.product((1, -1), repeat=len(real_symbols(plan)[:_FEW]))
        signs = itertools.product(mixed, [_Signs(plan, one) for one in patterns])
        found = [_sample(one, plan, (*conditions, sign), rng) for one, sign in signs]
        rounds = itertools.chain(*itertools.repeat(wide, _ROUNDS), FAR if far else ())
        found += [_sample(region, plan, conditions, rng) for region in rounds]
        even = EVEN if any(kind.shape for kind in plan.drawn.values()) else ()
        found += [_sample(one, plan, conditions, rng, _SOME) for one in (*BEYOND, *even) if beyond]
        return (sample for sample in found if sample is not None)

    def by(self, plans: Iterable[Plan], regions: Sequence[Region]) -> Iterator[Sample]:
        """A sample by each of other `plans`, each from the next of the `regions`."""
        rng = np.random.default_rng(0)
        for plan, region in zip(plans, itertools.cycle(regions)):
            if (sample := _sample(region, plan, self.conditions, rng)) is not None:
                yield sample

    def at_ends(self) -> Iterator[Sample]:
        """Numbers on either side of each end that a condition prints: of ``0 < x < 1`` near 1."""
        rng = np.random.default_rng(0)
        for key, end in _ends(self.plan, self.conditions):
            for aside in (-_ASIDE, _ASIDE):
                fixed = constant(end + aside * max(1.0, abs(end)))
                plan = replace(self.plan, drawn={**self.plan.drawn, key: fixed})
                every = (_sample(one, plan, self.conditions, rng, _SOME) for one in self.regions)
                if (sample := next(filter(None, every), None)) is not None:
                    yield replace(sample, region=NEAR_AN_END)

    def at_places(self) -> Iterator[tuple[str, Sample]]:
        """Numbers where a jump is, or a strict order ends, and the condition that excludes them."""
        rng, keys = np.random.default_rng(0), real_symbols(self.plan)[:_FEW]
        columns = [key for key, kind in self.plan.drawn.items() if kind.name == "vector"][:_FEW]
        for region in self.regions:
            inside = [n for n in PLACES if region.has(n)]
            made: list[tuple[str, dict[str, Made]]] = [
                (f"{key} ≠ {n:g}", {key: _always(n)}) for key in keys for n in inside
            ]
            for one, other in itertools.combinations(keys, 2):
                made.append((f"{one} ≠ {other}", {other: itemgetter(one)}))
            if len(keys) > 1 and region.has(0.0):
                made.append((f"{', '.join(keys)} {ALL_ZERO}", dict.fromkeys(keys, _always(0.0))))
            if len(keys) > 2:
                same = dict.fromkeys(keys[1:], _times(1.0, keys[0]))
                made.append((f"{', '.join(keys)} are not all equal", same))
            made += [(f"{key} ≠ 0", {key: _times(0.0, key)}) for key in columns]
            for one, other in itertools.combinations(columns, 2):
                said = f"no one of {one}, {other} is a multiple of the other"
                made += [(said, {other: _times(n, one)}) for n in (2.0, -2.0)]
                made.append((f"{one} ≠ {other}", {other: _times(1.0, one)}))
            for said, derived in made:
                plan = replace(self.plan, derived={**derived, **self.plan.derived})
                if (sample := _sample(region, plan, self.conditions, rng, _SOME)) is not None:
                    yield said, sample


ALL_ZERO = "are not all 0"
PLACES = (0.0, 1.0, 2.0, -1.0, 0.5)


def _always(number: float) -> Made:
    return lambda _: number


def _times(number: float, key: str) -> Made:
    return lambda numbers: number * numbers[key]


NEAR_AN_END = Region("near an end", 1.0)
_ASIDE = 1e-3  # next to an end


def _ends(plan: Plan, conditions: Sequence[Condition]) -> Iterator[tuple[str, float]]:
    """The symbols that conditions compare with a number, and the number."""
    for step in (step for one in conditions if not one.defines for step in one.steps):
        for own, other in ((step.left, step.right), (step.right, step.left)):
            key = own.key if isinstance(own, t.Name) else ""
            if key in plan.drawn and plan.drawn[key].name in ("real", "positive"):
                try:
                    end = complex(Evaluator(plan.fixed).value(other))
                except (EquationError, OperationError, TypeError):  # it depends on other symbols
                    continue
                if not end.imag and np.isfinite(end.real):
                    yield key, end.real


_MIXED = next(region for region in REAL if region.signs == "+-")


def real_symbols(plan: Plan) -> list[str]:
    """The symbols whose sign is drawn."""
    kinds = plan.drawn.items()
    return [key for key, kind in kinds if kind.name == "real" and not (kind.shape or kind.axes)]


@dataclass(frozen=True)
class _Signs:
    """The signs of the symbols."""

    plan: Plan
    pattern: tuple[int, ...]

    def holds(self, bindings: Mapping[str, Any]) -> bool:
        """Return whether numbers do."""
        pairs = zip(real_symbols(self.plan), self.pattern, strict=False)
        return all(bindings[key] * sign > 0 for key, sign in pairs)


def _regions(plan: Plan) -> tuple[Region, ...]:
    kinds = {kind.name for kind in plan.drawn.values()}
    if not kinds:
        return REAL[1:2]
    real = REAL if kinds & {"real", "positive", "complex"} else REAL[:3]
    return real + (COMPLEX if "complex" in kinds else ())


def _sample(
    region: Region, plan: Plan, conditions: Sequence[_Condition], rng: Rng, tries: int = _TRIES
) -> Sample | None:
    for _ in range(tries):
        sizes: Sizes = {}
        numbers: dict[str, Any] = {}
        for key, kind in plan.drawn.items():
            numbers[key] = sizes[key] if key in sizes else kind.draw(rng, sizes, region)
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
