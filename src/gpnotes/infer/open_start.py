"""The objective of a fit to a model with open numbers, which are taken from the data first."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..ground import check as _check
from ..ground.chunks import Chunks, Data, Rows, repeatable
from ..ground.naming import covered, require_names, spelt
from ..ground.params import Leaf, Parameters, free_leaves, leaves, replaced
from ..ground.xp import Array, HostArray, Numbers, as_array, to_numpy
from ..model.bounds import Spread
from ..model.contracts import Prior
from ..model.gaussian_process import GP
from ..model.starts import noise_is_open, started
from .evidence import evidence_given, evidence_of, measured
from .interdomain import WaveSums
from .noise_floor import with_floor
from .objective import Objective, objective_given
from .ties import groups_of

__all__ = ["held_open", "like_of", "require_unit", "started_objective"]

_LEAST_UNIT, _LARGEST_UNIT = 1e-151, 1e148  # with squares that may be 1e-5 and 1e10 times as large

M = TypeVar("M", bound=Parameters)


def started_objective(
    model: M,
    data: Data | WaveSums,
    *,
    fixed: Collection[str] = (),
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    priors: Mapping[str, Prior] | None = None,
    tied: Iterable[Iterable[str]] = (),
) -> Objective[M]:
    """Return the objective of a fit of a model to data, with open numbers started from the data.

    Arguments are as in `objective_of`, but that the noise may be open. It has bounds then, `FLOOR`
    times the variance of y and 10¹⁰ times, unless `bounds` gives others. The model is as
    `starts.started` has it; parameters that are fixed keep their numbers.
    """
    tied = groups_of(tied)
    if isinstance(data, Chunks):
        repeatable(data.chunks)
    evidence = evidence_of(model, data)
    of = measured(data, evidence)
    held = (*(name for name in require_names(fixed) if name != "inducing"), *evidence.held)
    opened = noise_is_open(model)
    if opened:
        require_unit(of.unit)
    new = _started_but(model, of, like_of(model, data), held)
    noise = "noise_var" if isinstance(model, GP) else "gp.noise_var"
    free = noise in {leaf.path for leaf in free_leaves(new, held)}
    evidence_given(new if free else model, data, evidence)
    within = None
    if opened and free and isinstance(bounds, Mapping | None):
        within = with_floor(bounds, noise, of.unit**2, tied)
    # log p of y over its deviation is log p of y plus n times the log of that deviation
    level = 0.0 if of.latent or new is model else of.count * math.log(of.unit)
    made = objective_given(new, evidence, of, fixed, within or bounds, priors, tied)
    floor = next((group[0] for group in made.tied if noise in group), noise) if within else ""
    return replace(made, level=level, floor=floor)


def require_unit(unit: float) -> float:
    """Return the standard deviation of y, unless a noise in its square would have no room."""
    if not _LEAST_UNIT <= unit <= _LARGEST_UNIT:
        what = "the variance of a noise in that unit is out of the range of numbers"
        said = f"y must be in another unit; got one of standard deviation {unit:.2g}: {what}"
        raise _check.NoValueError(f"{said}; multiply y by a number")
    return unit


def held_open(model: object, of: Spread, like: Array, held: Collection[str]) -> str:
    """Return a sentence on numbers that are held although a model leaves them open, or nothing.

    They are held where they stand, which has to do with no unit of the data.
    """
    given = {leaf.path: leaf for leaf in leaves(model)}
    found = []
    for leaf in leaves(started(model, of, like)):
        was, names = given[leaf.path], {spelt(name) for name in held}
        whole, some = covered(names, leaf.path), names.intersection(leaf.entries)
        if (whole or some) and not np.array_equal(_host(was.value), _host(leaf.value)):
            found += [leaf.path] if whole else sorted(some)
    if not found:
        return ""
    said = "Held although the model leaves them open, at numbers that are in no unit of the data"
    return f"{said}: {', '.join(found)}."


def _started_but(model: M, of: Spread, like: Array, held: Collection[str]) -> M:
    """The model started from the data, but for parameters and entries that are held."""
    new: M = started(model, of, like)
    free_leaves(new, held)  # which refuses names of none
    if new is model:
        return model
    names = {spelt(name) for name in held}
    given = {leaf.path: leaf.value for leaf in leaves(model)}
    return replaced(new, {leaf.path: _held(leaf, given[leaf.path], names) for leaf in leaves(new)})


def _held(leaf: Leaf, given: Numbers, names: Collection[str]) -> Numbers:
    """A parameter started from the data, or given where it or an entry of it is held."""
    if covered(names, leaf.path):
        return given
    at = [i for i, entry in enumerate(leaf.entries) if entry in names]
    if not at or isinstance(leaf.value, float):
        return leaf.value
    new = np.array(to_numpy(leaf.value))
    new[at] = np.broadcast_to(_host(given), new.shape)[at]
    return as_array(new, leaf.value)


def _host(value: Numbers) -> HostArray | float:
    return value if isinstance(value, float) else to_numpy(value)


def like_of(model: Any, data: Data | WaveSums) -> Array:
    """Return an array that arrays of lengths are made like, of the data or the model."""
    if isinstance(data, Rows):
        return data.X
    if hasattr(model, "frequencies"):
        return model.frequencies.like
    chosen = isinstance(getattr(model, "inducing", 0), int)  # it has none, or leaves them to X
    return np.zeros(0) if chosen else model.variables.inputs
