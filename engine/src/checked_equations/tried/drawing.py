"""Numbers for the symbols of a display, by kind and region, as its conditions allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import EquationError
from .conditions import Condition
from .kinds import COMPLEX, REAL, Kind, Region, Rng, Sizes

_TRIES = 400
Made = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Plan:
    """What is drawn, what is fixed, what is made of what was drawn, and what that must meet."""

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


def _regions(plan: Plan) -> tuple[Region, ...]:
    kinds = {kind.name for kind in plan.drawn.values()}
    if not kinds:
        return REAL[1:2]
    real = REAL if kinds & {"real", "positive", "complex"} else REAL[:3]
    return real + (COMPLEX if "complex" in kinds else ())


def _sample(region: Region, plan: Plan, conditions: Sequence[Condition], rng: Rng) -> Sample | None:
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
