"""Checks of samplers."""

from __future__ import annotations

import math

import numpy as np

from ..ground import check as _check
from ..ground.random import stream
from ..ground.xp import Array, HostArray, Matrix, Vector, array_namespace, to_numpy
from ..model.contracts import missing
from ..samplers.states import Sampler
from ..samplers.targets import Target
from .agreement import hold, is_array

__all__ = ["check_sampler"]

_CHAINS, _STEPS = 800, 2
_SKEWED_STEPS = 4  # of twice as many chains
_FAR = 5.0  # standard errors


def check_sampler(sampler: Sampler, like: Array, *, target: Target | None = None) -> None:
    """Check that a sampler keeps its contract, with a normal density of two numbers.

    Its states are of the kind of `like`, the same random numbers give the same steps, a chain that
    has not moved is where it was, and chains that begin at the density stay there: their means,
    variances, their sum and the product are those of the density within five standard errors. One
    with a `target_acceptance`, which corrects its steps, stays at a skewed density too: there a
    proposal is not as likely as the way back, and a correction that is not right is seen.

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
    plain, draw = target is None, stream(1).spawn("starts")
    target = _standard_normal if target is None else _check.function(target, "target", "a vector")
    starts = draw.normal((_CHAINS, 2), like=like)
    ends = _ends(sampler, target, starts)
    hold(
        np.array_equal(ends[:3], _ends(sampler, target, starts[:3, :])),
        "the same random numbers gave other steps",
    )
    _check_moments(ends)
    if plain and sampler.target_acceptance is not None:
        xp, ranks = array_namespace(like), draw.uniform((2 * _CHAINS, 2), like=like)
        _check_ranks(_ends(sampler, _skewed, xp.log(-xp.log1p(-ranks)), _SKEWED_STEPS))


def _standard_normal(x: Vector) -> tuple[float, Vector]:
    return -0.5 * float(x @ x), -x


def _skewed(x: Vector) -> tuple[float, Vector]:
    """Logarithms of two exponential numbers."""
    xp = array_namespace(x)
    size = xp.exp(x)
    return float(xp.sum(x - size)), 1.0 - size


def _ends(sampler: Sampler, target: Target, starts: Matrix, steps: int = _STEPS) -> HostArray:
    several = range(starts.shape[0])
    return np.asarray([_end(sampler, target, starts[i, :], i, steps) for i in several])


def _end(sampler: Sampler, target: Target, start: Vector, seed: int, steps: int) -> HostArray:
    state, draw = sampler.init(target, start), stream(seed).spawn("steps")
    for _ in range(steps):
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


def _check_ranks(ends: HostArray) -> None:
    """Hold averages of Legendre polynomials of ranks, uniform from −1 to 1, to zero."""
    ranks = 1.0 - 2.0 * np.exp(-np.exp(ends.astype(np.float64)))
    for degree in (1, 2, 3):
        average = float(np.polynomial.Legendre.basis(degree)(ranks).mean())
        off = abs(average) * math.sqrt((2 * degree + 1) * ranks.size)
        said = f"moment {degree} of the ranks is {off:.1f} standard errors off"
        hold(off < _FAR, f"{said} after {_SKEWED_STEPS} steps from a skewed density")
