"""A further start where the first run may have taken a wave for noise.

A run from the data begins at lengthscales as long as the data are wide, and with a tenth of their
variance as noise. A wave that is ten times shorter looks like noise from there, and the evidence
has a top at that.
"""

from __future__ import annotations

import math
from itertools import product

from ..ground.ascent import finite_or_none
from ..ground.params import names
from ..ground.xp import HostVector
from .noise_floor import FLOOR, noise_row
from .objective import Objective
from .run import M, Run

__all__ = ["shorter_start"]

_SHARES = (0.3, 0.1, 0.03)  # of the lengthscales of the first start
_HIDES = 0.01  # of the variance of y: noise in which there may be a wave
_CLEAR = 3.0  # nats; less than that is also found in noise


def shorter_start(objective: Objective[M], best: Run[M]) -> HostVector | None:
    """Return a start that lies clearly higher than where the best run ended, or None.

    There is one only for an open noise, which has a floor, and a run that converged with noise of
    more than a hundredth of the variance of y. It is the highest of six: the first start with 0.3,
    0.1 or 0.03 times its lengthscales, and its own noise or one on the floor, if it is three nats
    above the best run. To look at them costs six evaluations. One that has no evidence, as a period
    too short for a line, is passed over.
    """
    if not (objective.floor and best.converged):
        return None
    start, noise = objective.vector(objective.model), noise_row(objective)
    floor = objective.limits[noise, 0]
    # the floor is FLOOR of the variance of y: so much above it the noise is _HIDES of that
    if objective.vector(best.model)[noise] < floor + math.log(_HIDES / FLOOR):
        return None
    entries = names(objective.model, fixed=objective.fixed)
    lengths = [i for i, name in enumerate(entries) if ".lengthscale" in name]
    found, value = None, best.objective + _CLEAR
    for share, level in product(_SHARES if lengths else (), (start[noise], floor)):
        begin = start.copy()
        begin[lengths] += math.log(share)
        begin[noise] = level
        there = finite_or_none(objective, begin)
        if there and there[0] > value:
            found, value = begin, there[0]
    return found
