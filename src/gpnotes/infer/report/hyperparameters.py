"""Hyperparameters as a fit found them, with what the objective around says of each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ...ground.ascent import Function
from ...ground.params import Parameters, flatten, free_leaves, names
from ...ground.xp import HostMatrix
from ...model.bounds import Spread, strides
from .curvature import survey

__all__ = ["Hyperparameter", "surveyed"]


@dataclass(frozen=True)
class Hyperparameter:
    """One number that was fitted, in its own units, and how well it is known.

    `error` is the standard error of what was optimised: of the logarithm, and so relative, where
    the parameter is `positive`; NaN where it has none. `state` is that of the `Survey`, and
    `low` and `high` are the ends of what is as good, where it is ``"flat"``.
    """

    name: str
    value: float
    positive: bool
    error: float
    state: str
    low: float
    high: float

    @property
    def interval(self) -> tuple[float, float]:
        """Two standard errors to either side, of the logarithm where the parameter is positive."""
        if self.positive:
            factor = _exp(2.0 * self.error)
            return self.value / factor, self.value * factor
        return self.value - 2.0 * self.error, self.value + 2.0 * self.error


def surveyed(
    objective: Function,
    end: Parameters,
    of: Spread,
    fixed: Collection[str],
    at_bounds: Collection[str],
    box: HostMatrix,
) -> tuple[tuple[Hyperparameter, ...], float]:
    """What is free in an object of parameters, and the gain, by a `survey` of the objective there.

    The objective is that of the vector of `params.flatten`, of which the entries that `at_bounds`
    names lie on a side of the `box` (p, 2). Differences are taken over ``eps**0.2`` of the dtype of
    the data, 7e-4 or 0.04, where rounding and curvature of higher order spoil them about as much.
    """
    vector, _ = flatten(end, fixed=fixed)
    entries = names(end, fixed=fixed)
    nearer_top = box[:, 1] - vector < vector - box[:, 0]
    sides = np.isin(entries, list(at_bounds)) * np.where(nearer_top, 1.0, -1.0)
    units = strides(end, of, fixed=fixed)
    seen = survey(objective, vector, sides, units, of.rounding**0.2)
    positive = {leaf.path: leaf.constraint != "real" for leaf in free_leaves(end, fixed)}
    columns = zip(entries, vector, seen.errors, seen.states, seen.low, seen.high, strict=True)
    found = []
    for name, value, error, state, *ends in columns:
        is_log = positive[name.partition("[")[0]]
        own = [_exp(v) if is_log else float(v) for v in (value, *ends)]
        found.append(Hyperparameter(name, own[0], is_log, float(error), state, *own[1:]))
    return tuple(found), seen.gain


def _exp(value: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.exp(value))
