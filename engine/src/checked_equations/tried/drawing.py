"""Numbers for the symbols of a display, by kind and region, as its conditions allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .conditions import Condition
from .kinds import COMPLEX, REAL, Kind, Region

_TRIES = 400


@dataclass(frozen=True)
class Sample:
    """Numbers from one region."""

    region: Region
    bindings: Mapping[str, Any]


def samples(
    drawn: Mapping[str, Kind],
    fixed: Mapping[str, Any],
    conditions: Sequence[Condition],
    rng: np.random.Generator,
) -> list[Sample]:
    """A sample of each region in which the conditions can be met."""
    plane = any(kind.name == "complex" for kind in drawn.values())
    scalar = any(kind.name in ("real", "positive", "complex") for kind in drawn.values())
    regions = (REAL if scalar else REAL[:3]) + (COMPLEX if plane else ())
    found = (_sample(region, drawn, fixed, conditions, rng) for region in regions)
    return [sample for sample in found if sample is not None]


def _sample(
    region: Region,
    drawn: Mapping[str, Kind],
    fixed: Mapping[str, Any],
    conditions: Sequence[Condition],
    rng: np.random.Generator,
) -> Sample | None:
    for _ in range(_TRIES if conditions else 1):
        sizes: dict[str, int] = {}
        numbers = {key: _number(key, kind, rng, sizes, region) for key, kind in drawn.items()}
        bindings = {**fixed, **numbers, **sizes}
        if all(condition.holds(bindings) for condition in conditions):
            return Sample(region, bindings)
    return None


def _number(
    key: str, kind: Kind, rng: np.random.Generator, sizes: dict[str, int], region: Region
) -> Any:
    return sizes[key] if key in sizes else kind.draw(rng, sizes, region)
