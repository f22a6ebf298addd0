"""Checks of samplers."""

from __future__ import annotations

import math

import numpy as np

from ..ground import check as _check
from ..ground.random import stream
from ..ground.xp import Array, HostArray, Vector, to_numpy
from ..model.contracts import missing
from ..samplers.states import Sampler
from ..samplers.targets import Target
from .agreement import hold, is_array

__all__ = ["check_sampler"]

_CHAINS, _STEPS = 800, 2
_FAR = 5.0  # standard errors


def check_sampler(sampler: Sampler, like: Array, *, target: Target | None = None) -> None:
    """Check that a sampler keeps its contract, with a normal density of two numbers.

    Its states are of the kind of `like`, the same random numbers give the same steps, a chain that
    has not moved is where it was, and chains that begin at the density stay there: their means,
    variances, their sum and the product are those of the density within five standard errors.

    Parameters
    ----------
    sampler : Sampler
        The sampler.
    like : Array
        An array of the kind on which it is tried.
    target : callable, optional
        That density, two independent standard normal numbers, in the form that the sampler takes;
        by default a function that returns the log density and its gradient.

    Examples
    --------
    >>> from gpnotes.samplers import MALA
    >>> check_sampler(MALA(0.5), np.zeros(1))
    """
    if isinstance(sampler, type) or (lacking := missing(sampler, Sampler)):
        got = _check.kind_of(sampler) if isinstance(sampler, type) else f"{lacking} missing"
        raise TypeError(
            f"sampler must be a sampler, with target_acceptance, init and step; got {got}"
        )
    _check.floating(like, "like")
    target = _standard_normal if target is None else _check.function(target, "target", "a vector")
    starts = stream(1).spawn("starts").normal((_CHAINS, 2), like=like)
    ends = np.asarray([_end(sampler, target, starts[i, :], i) for i in range(_CHAINS)])
    again = np.asarray([_end(sampler, target, starts[i, :], i) for i in range(3)])
    hold(np.array_equal(ends[:3], again), "the same random numbers gave other steps")
    _check_moments(ends)


def _standard_normal(x: Vector) -> tuple[float, Vector]:
    return -0.5 * float(x @ x), -x


def _end(sampler: Sampler, target: Target, start: Vector, seed: int) -> HostArray:
    state, draw = sampler.init(target, start), stream(seed).spawn("steps")
    for _ in range(_STEPS):
        step = sampler.step(target, state, draw)
        is_array("position", step.state.position, (2,), start)
        same = np.array_equal(to_numpy(step.state.position), to_numpy(state.position))
        hold(step.moved or same, "a chain that has not moved is at another place")
        state = step.state
    return to_numpy(state.position)


def _check_moments(ends: HostArray) -> None:
    x, y = ends.T.astype(np.float64)
    moments = {
        "mean": (x, 0.0, 1.0), "other mean": (y, 0.0, 1.0), "variance": (x * x, 1.0, 2.0),
        "other variance": (y * y, 1.0, 2.0), "product": (x * y, 0.0, 1.0),
        "sum of variances": (x * x + y * y, 2.0, 4.0),
    }  # fmt: skip
    for name, (values, wanted, variance) in moments.items():
        off = abs(float(values.mean()) - wanted) / math.sqrt(variance / _CHAINS)
        said = f"the {name} is {off:.1f} standard errors off"
        hold(off < _FAR, f"{said} after {_STEPS} steps from the density")
