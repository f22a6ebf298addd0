"""The floor under a noise that a model leaves open, and the way on below it.

Readings of a noisy thing can happen to lie on a smooth function, and the evidence then has its top
at no noise at all. So an open noise has a floor. Readings of a simulator or of a good instrument
are more precise than that: a run that ends on the floor, while readings that are left out lie far
within their bands, goes on below it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ..ground.ascent import Ascent
from ..ground.chunks import Data, Rows
from ..ground.interrupts import INTERRUPTED, kept_interrupts
from ..ground.params import Parameters, names
from ..ground.xp import HostVector
from ..model.gaussian_process import GP
from .fit_checks import SURPRISE, LeftOut, left_out
from .interdomain import WaveSums
from .objective import Objective
from .progress import ENOUGH, FitStep, OnStep
from .report import FLAT_THRESHOLD
from .run import Run
from .ties import Groups

__all__ = [
    "FLOOR", "around", "climb", "climb_from_below", "doubtful", "goes_below", "noise_row",
    "stopped_by_rounding", "too_high", "with_floor",
]  # fmt: skip

FLOOR = 1e-4  # of the variance of y: the least noise of a model that leaves it open
_RUNG = math.log(10.0)
_STEPS = (2, 1)  # how many powers of ten a floor is lowered; fewer, if more were no use
_FAR = (6, 8)  # and for runs from the first start, where rounding leaves none of these
_NEAR = 1e-9  # of a logarithm, which loses as much on its way through a model
_ROUNDING = 0.02  # nats a reading, or shares of a variance
_COARSE = 0.1  # the same, where without it a noise stays that readings contradict
_LITTLE = 4  # and for one more run, where the best may have an input's part in f as noise
_CLEAR = 12.0  # nats by which that run must end above the best
_TOLD = 24.0  # or by which all readings that are left out must be likelier, where it ends higher
_STEEP = 0.2  # nats a reading for a parameter's unit: that is no top
_WIDE, _MANY = 0.1, 20  # below the first floor: how small errors of so many readings warn

M = TypeVar("M", bound=Parameters)


def with_floor(
    bounds: Mapping[str, tuple[float | None, float | None]] | None,
    noise: str,
    unit: float,
    tied: Groups,
) -> Mapping[str, tuple[float | None, float | None]] | None:
    """Return bounds with those of an open noise, or None if it, or a tied parameter, has some."""
    given = dict(bounds or {})
    together = {noise}.union(*(group for group in tied if noise in group))
    return {noise: (FLOOR * unit, 1e10 * unit), **given} if together.isdisjoint(given) else None


def climb(
    objective: Objective[M],
    data: Data | WaveSums,
    begin: tuple[int, HostVector],
    max_steps: int,
    hear: OnStep | None = None,
) -> Ascent:
    """Climb as `Objective.climb` does, and below the floor of the noise where readings ask for it.

    Below each floor there are as many steps again, and all evaluations are counted.

    A run goes on if it has ended on the floor, the objective rises beyond, and readings that are
    left out lie far within their bands, `LeftOut.is_far_within`. Each further floor is a hundred
    times lower, or ten, down to the rounding of y. The end of such a run counts if the objective is
    higher, and so is the density of readings that are left out; if rounding may have moved the
    objective by more than 0.02 nats for each reading, or a predicted variance by more than two
    percent, it does not: then a run begins where the first did, with a noise of 1e-10 of the
    variance of y, or 1e-12 below that, and counts with a tenth of either. On a plane, or a product
    of two inputs, lengths and variance grow as long as a floor holds the noise, and take the digits
    that a run from the start has left. A line search that rounding ends there is as good as
    converged, if the one above had.
    """
    ascent = objective.climb(begin, max_steps, hear)
    found, below = _left_out_on_floor(objective, data, ascent), 0
    while found and found.is_far_within:
        rounds, rounded = False, None
        for rungs, start, rounding in _tries(objective, below, ascent.vector, begin[1]):
            lower = _lowered(objective, rungs)
            if not _has_room(lower) or (rounding > _ROUNDING and not rounds):
                continue
            listener = hear and _counted_on(hear, ascent.evaluations)
            further = _climbed_on(lower, (begin[0], start), max_steps, listener)
            # evaluations of all tries count, whichever of them is kept
            ascent = ascent._replace(evaluations=ascent.evaluations + further.evaluations)
            if further.message in (INTERRUPTED, ENOUGH):
                return ascent._replace(converged=False, message=further.message)
            there = left_out(objective.evidence, lower.at(further.vector), data)
            higher = further.value > ascent.value + FLAT_THRESHOLD
            if higher and _is_better(there, found, rounding):
                break
            if higher and _is_better(there, found, _COARSE):
                rounded = rounded or (rungs, further)
            rounds = rounds or there is None or there.rounding > rounding
        else:
            if rounded is None:
                return ascent
            rungs, further = rounded
        below, lower = rungs, _lowered(objective, rungs)
        ascent = _by_rounding(further, ascent.converged)._replace(evaluations=ascent.evaluations)
        found = _left_out_on_floor(lower, data, ascent)
    return ascent


def climb_from_below(
    objective: Objective[M],
    data: Data | WaveSums,
    best: Run[M],
    begin: tuple[int, HostVector],
    max_steps: int,
    hear: OnStep | None = None,
) -> Ascent | None:
    """Climb once more, from little noise, where the best run may have taken an input for noise.

    It returns the ascent from a noise of 1e-8 of the variance of y, if it ended twelve nats higher,
    and readings that are left out are likelier too; or if it ended a tenth of a nat higher, and
    they are likelier by 24 nats together; or lower, but by fewer nats than they are likelier, and
    they by twelve, `doubtful`. The steps of a run that does not count are heard as well.

    A run that begins with noise can leave to it what varies fast along one input, and end at a top
    from which no step leads on: a lengthscale that has become endless, and a noise of a thousandth
    of the variance of y. So there is one more run where the noise ended on its floor or below, or,
    if there are several lengthscales, below a hundredth of the variance of y. The twelve nats are
    for small tables, whose readings can look more precise than they are; readings that are left
    out and 24 nats likelier do not.
    """
    if not (objective.floor and best.converged and isinstance(data, Rows)):
        return None
    row, lower = noise_row(objective), _lowered(objective, _FAR[0])
    if not (_has_room(lower) and _may_hide(objective, objective.vector(best.model))):
        return None
    here = left_out(objective.evidence, best.model, data)
    if here is None:
        return None
    start = begin[1].copy()
    # the floor is 1e-4 of the variance of y, and four rungs below it is 1e-8 of that
    start[row] = objective.limits[row, 0] - _LITTLE * _RUNG
    ascent = _climbed_on(lower, (begin[0], start), max_steps, hear)
    if ascent.message in (INTERRUPTED, ENOUGH):
        return Ascent(start, -math.inf, ascent.evaluations, False, ascent.message)
    gain = ascent.value - best.objective
    # lower, and with no less noise: nothing that readings could speak for
    if gain < 0.0 and not ascent.vector[row] < objective.vector(best.model)[row] - _RUNG:
        return None
    there = left_out(objective.evidence, lower.at(ascent.vector), data)
    return _by_rounding(ascent, best.converged) if _counts(gain, there, here) else None


def _counts(gain: float, there: LeftOut | None, here: LeftOut) -> bool:
    """Return whether a run with little noise that ended so much higher, or lower, is to be kept."""
    if there is None or not _is_better(there, here, _COARSE):
        return False
    told = there.readings * (there.density - here.density)
    if gain > FLAT_THRESHOLD:
        return gain >= _CLEAR or told >= _TOLD
    return told >= max(_CLEAR, -gain)


def doubtful(
    objective: Objective[M], data: Data | WaveSums, runs: Sequence[Run[M]]
) -> tuple[float, float, float] | None:
    """Return by how much a run that readings would rather have is lower, its noise, and their gain.

    It has less than a tenth of the noise, and readings that are left out are likelier under it by
    twelve nats at least, and by more than its objective is lower. Both tops are then what these
    readings can mean. None where there is no such run, or the noise is not open.
    """
    best = max(runs, key=lambda run: run.objective)
    if not (objective.floor and isinstance(data, Rows)):
        return None
    row = noise_row(objective)
    below = objective.vector(best.model)[row] - _RUNG
    others = [
        run
        for run in runs
        if run.log_evidence > -math.inf and objective.vector(run.model)[row] < below
    ]
    here = left_out(objective.evidence, best.model, data) if others else None
    if here is None:
        return None
    for run in sorted(others, key=lambda run: -run.objective):
        there = left_out(objective.evidence, run.model, data)
        if there and _counts(run.objective - best.objective, there, here):
            noise = math.exp(objective.vector(run.model)[row])
            gain = here.readings * (there.density - here.density)
            return best.objective - run.objective, noise, gain
    return None


def stopped_by_rounding(objective: Objective[M], data: Data | WaveSums, model: M) -> float:
    """Return the share of its noise by which rounding moves a variance, or zero.

    Zero where that is two percent or less, where the noise is not open, or where the objective is
    level, to a fifth of a nat a reading for each unit of a parameter.
    """
    if not objective.floor:
        return 0.0
    end = objective.vector(model)
    found = left_out(objective.evidence, model, data)
    if found is None or found.rounding <= _ROUNDING or not math.isfinite(found.rounding):
        return 0.0
    slope = float(np.max(np.abs(objective(end)[1] * objective.units)))
    return found.rounding if slope > _STEEP * found.readings else 0.0


def around(objective: Objective[M], *vectors: HostVector) -> Objective[M]:
    """Return an objective whose floor lies where the lowest of some ascents found it.

    Parameters
    ----------
    objective : Objective
        The objective with its first floor.
    *vectors : HostVector
        Where the ascents ended.
    """
    if not objective.floor or not vectors:
        return objective
    row = noise_row(objective)
    short = objective.limits[row, 0] - min(float(vector[row]) for vector in vectors)
    # up to the next rung, but for a noise that rounding has put a hair below one
    return _lowered(objective, math.ceil(short / _RUNG - _NEAR))


def too_high(objective: Objective[M], data: Data | WaveSums, model: M) -> float:
    """Return the floor on which a model stands higher than readings say, or zero.

    It is a share of the variance of y, and that of the first floor also where the objective rises
    beyond it and no readings are at hand, or rounding leaves no digit of a `GP`'s predictions of
    readings left out. A lower floor, to which a run went on, is too high where rounding keeps the
    noise there and errors of twenty readings or more are less than a tenth of their deviations; of
    fewer that may be chance.
    """
    if not objective.floor:
        return 0.0
    end = objective.vector(model)
    lowest = around(objective, end)
    if not _rises_below(lowest, end):
        return 0.0
    row = noise_row(objective)
    rungs = round(float(objective.limits[row, 0] - lowest.limits[row, 0]) / _RUNG)
    share = FLOOR * 10.0**-rungs
    if not isinstance(data, Rows):
        return share
    found = left_out(objective.evidence, model, data)
    if found is None:
        return share if isinstance(model, GP) and not rungs else 0.0
    far_below = found.size < _WIDE and found.readings >= _MANY
    return share if (far_below if rungs else found.is_far_within) else 0.0


def goes_below(objective: Objective[M], model: M) -> bool:
    """Return True if the noise of a model is below the first floor."""
    row = noise_row(objective)
    return bool(objective.vector(model)[row] < objective.limits[row, 0] - _NEAR)


def noise_row(objective: Objective[M]) -> int:
    """Return the place of the noise in the vector."""
    return names(objective.model, fixed=objective.fixed).index(objective.floor)


def _lowered(objective: Objective[M], rungs: int) -> Objective[M]:
    """An objective whose floor lies so many powers of ten lower."""
    if rungs <= 0:
        return objective
    limits = objective.limits.copy()
    limits[noise_row(objective), 0] -= rungs * _RUNG
    return replace(objective, limits=limits)


def _has_room(objective: Objective[M]) -> bool:
    """Return True if the floor is not below the rounding of y."""
    row = noise_row(objective)
    return bool(objective.limits[row, 0] > objective.ends[row, 0])


def _rises_below(objective: Objective[M], end: HostVector) -> bool:
    """Return True if a vector lies on the floor, and the objective rises beyond it."""
    row = noise_row(objective)
    on_floor = abs(end[row] - objective.limits[row, 0]) < _NEAR
    # the slope is by the logarithm: a tenth of a nat or more for a noise e times smaller
    return bool(on_floor and objective(end)[1][row] <= -FLAT_THRESHOLD)


def _left_out_on_floor(
    objective: Objective[M], data: Data | WaveSums, ascent: Ascent
) -> LeftOut | None:
    """Readings left out where a run ended, if that is a floor beyond which the objective rises."""
    stopped = ascent.value == -math.inf or ascent.message in (INTERRUPTED, ENOUGH)
    if stopped or not objective.floor or not _rises_below(objective, ascent.vector):
        return None
    return left_out(objective.evidence, objective.at(ascent.vector), data)


def _tries(
    objective: Objective[M], below: int, end: HostVector, begin: HostVector
) -> Iterator[tuple[int, HostVector, float]]:
    """Yield the powers of ten to lower a floor by, the start of a run on it, and its rounding.

    Last, for floors that rounding has refused, from the first start: a plane on a high floor makes
    the variance of the kernel grow.
    """
    yield from ((below + step, end, _ROUNDING) for step in _STEPS)
    for far in _FAR:
        if below < far:
            again, row = begin.copy(), noise_row(objective)
            again[row] = _lowered(objective, far).limits[row, 0]
            yield far, again, _COARSE


def _is_better(there: LeftOut | None, here: LeftOut, rounding: float) -> bool:
    if there is None or there.rounding > rounding:
        return False
    return there.density > here.density and there.size < SURPRISE


def _may_hide(objective: Objective[M], end: HostVector) -> bool:
    """Return whether the noise is at its floor, or, with several lengthscales, near it."""
    row = noise_row(objective)
    above = end[row] - objective.limits[row, 0]
    lengths = [n for n in names(objective.model, fixed=objective.fixed) if ".lengthscale" in n]
    return bool(above < (2.0 * _RUNG if len(lengths) > 1 else _NEAR))


def _by_rounding(further: Ascent, converged: bool) -> Ascent:
    """The ascent; converged if the one before had, and no lack of steps ended this one.

    With little noise, rounding can end a line search before the slope is as small as elsewhere.
    """
    short = further.message.startswith("STOP")
    return further._replace(converged=further.converged or (converged and not short))


def _climbed_on(
    objective: Objective[M], begin: tuple[int, HostVector], max_steps: int, hear: OnStep | None
) -> Ascent:
    """The ascent; of one that is interrupted before it has an evidence, its start."""
    try:
        return objective.climb(begin, max_steps, hear)
    except kept_interrupts():
        return Ascent(begin[1], -math.inf, 0, False, INTERRUPTED)


def _counted_on(hear: OnStep, before: int) -> OnStep:
    """A listener to a run that goes on after so many evaluations."""

    def heard(step: FitStep) -> bool | None:
        return hear(step._replace(evaluation=before + step.evaluation))

    return heard
