"""Where the sides of a strict order meet: ``\\sin x < 1`` fails where no draw by chance falls."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from checked_equations.latex import tree as t

from .drawing import More, Sample, real_symbols
from .sample_fates import fate_of

_GRID = np.arange(-40, 41) / 10.0 + 0.0137  # beside the places that are tried by themselves
_CLEAR = 1e-6  # of the sides: what a place where they meet rises to beside it
_FAR = 0.5  # of the sides: more than what they differ by so near a place
_BESIDE = 0.05
_MET = 1e-12
_SHRINK = (5.0**0.5 - 1.0) / 2.0
_ROUNDS = 45
_FEW = 3  # symbols that are moved, one by one


def meeting(sample: Sample, more: More, steps: Sequence[t.Step], known: Collection[str]) -> str:
    """Return ``x = 1.571``, where the sides of a strict step meet inside, as nothing `known` says.

    `known` are conditions such as ``x ≠ 0`` and ``a ≠ b``, which exclude some of these places.
    """
    for key in real_symbols(more.plan)[:_FEW]:
        for step in (step for step in steps if step.relation in "<>"):
            gap = _gap(sample, more, step, key)
            for place in _least(gap):
                inside = any(region.has(place) for region in more.regions)
                if inside and gap(place) <= _MET and not _excluded(key, place, sample, known):
                    return f"{key} = {place:.4g}"
    return ""


def _gap(sample: Sample, more: More, step: t.Step, key: str) -> Callable[[float], float]:
    """The distance of the sides, over the larger of them, with another number for a symbol."""
    statement = t.Statement((step,))

    def gap(number: float) -> float:
        bindings = {**sample.bindings, key: float(number)}
        bindings |= {one: made(bindings) for one, made in more.plan.derived.items()}
        if not all(condition.holds(bindings) for condition in more.conditions):
            return np.nan
        fate = fate_of(statement, replace(sample, bindings=bindings), far=False)
        if fate.draw is None:
            return np.nan
        left, right = fate.draw.sides(step)
        size = max(np.max(np.abs(left)), np.max(np.abs(right)))
        return float(np.max(np.abs(left - right)) / size) if size else 0.0

    return gap


def _least(gap: Callable[[float], float]) -> list[float]:
    """Return where it is least, between numbers where it is clearly larger."""
    row = [gap(number) for number in _GRID]
    found = []
    for i in range(1, len(row) - 1):
        if row[i] < min(_FAR, row[i - 1], row[i + 1]) and min(row[i - 1], row[i + 1]) > _CLEAR:
            low, high = _GRID[i - 1], _GRID[i + 1]
            for _ in range(_ROUNDS):
                one, other = high - _SHRINK * (high - low), low + _SHRINK * (high - low)
                low, high = (low, other) if gap(one) <= gap(other) else (one, high)
            found.append(float(low + high) / 2.0)
    return found


def _excluded(key: str, place: float, sample: Sample, known: Collection[str]) -> bool:
    """Return whether a condition such as ``x ≠ 0`` or ``a ≠ b`` says that this is no such place."""
    for said in known:
        one, _, other = said.partition(" ≠ ")
        if key in (one, other):
            told = other if key == one else one
            number = sample.bindings.get(told, told)
            if isinstance(number, str):
                number = float(number) if re.fullmatch(r"-?[\d.]+", number) else np.nan
            if abs(number - place) < _BESIDE:
                return True
    return False
