"""Where the sides of a strict order meet: ``\\sin x < 1`` fails where no draw by chance falls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from checked_equations.latex import tree as t

from .drawing import PLACES, More, Sample, real_symbols
from .sample_fates import STRICT, fate_of

_GRID = np.arange(-40, 41) / 10.0 + 0.0137  # beside the places that are tried by themselves
_CLEAR = 1e-6  # of the sides: what a place where they meet rises to beside it
_FAR = 0.5  # of the sides: more than what they differ by so near a place
_BESIDE, _MET = 0.05, 1e-12
_SHRINK = (5.0**0.5 - 1.0) / 2.0
_ROUNDS = 60
_FEW = 3  # symbols that are moved, one by one


def meeting(sample: Sample, more: More, steps: Sequence[t.Step], known: Collection[str]) -> str:
    """Return ``x = 1.571``, where the sides of a strict step meet inside, as nothing `known` says.

    `known` are conditions such as ``x ≠ 0`` and ``a ≠ b``, which exclude some of these places.
    """
    keys = real_symbols(more.plan)
    for key in keys[:_FEW]:
        told = [n for n in PLACES if f"{key} ≠ {n:g}" in known]
        beside = (k for k in keys if {f"{k} ≠ {key}", f"{key} ≠ {k}"}.intersection(known))
        told += [sample.bindings[other] for other in beside]
        for step in (step for step in steps if step.relation in STRICT):
            gap = _gap(sample, more, step, key)
            for place in _least(gap):
                apart = all(abs(place - one) > _BESIDE for one in told)
                inside = any(region.has(place) for region in more.regions)
                if apart and inside and gap(place) <= _MET:
                    return f"{key} = {place:.4g}"
    return ""


def _gap(sample: Sample, more: More, step: t.Step, key: str) -> Callable[[float], float]:
    """The distance of the sides, over the larger of them, with another number for a symbol."""

    def gap(number: float) -> float:
        bindings = {**sample.bindings, key: float(number)}
        bindings |= {one: made(bindings) for one, made in more.plan.derived.items()}
        fate = fate_of(t.Statement((step,)), replace(sample, bindings=bindings), far=False)
        if fate.draw is None or not all(one.holds(bindings) for one in more.conditions):
            return np.nan
        left, right = fate.draw.sides(step)
        size = np.max(np.abs([left, right]))
        return float(np.max(np.abs(left - right)) / size) if size else 0.0

    return gap


def _least(gap: Callable[[float], float]) -> list[float]:
    """Return where it is least, between numbers where it is clearly larger."""
    row, found = [gap(number) for number in _GRID], []
    for i in range(1, len(row) - 1):
        beside = min(row[i - 1], row[i + 1])
        if row[i] < min(_FAR, beside) and beside > _CLEAR:
            low, high = _GRID[i - 1], _GRID[i + 1]
            for _ in range(_ROUNDS):
                one, other = high - _SHRINK * (high - low), low + _SHRINK * (high - low)
                low, high = (low, other) if gap(one) <= gap(other) else (one, high)
            found.append(float(low + high) / 2.0)
    return found
