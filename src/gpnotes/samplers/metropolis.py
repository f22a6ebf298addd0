"""Chains that propose a place beside where they are: at random, or down the slope.

With f the negative log density, a Langevin proposal is ``x' = x − τ ∇f(x) + ε`` with
``ε ~ N(0, 2τ I)``: `MALA` accepts it as Metropolis and Hastings say, `ULA` always, and `SGLD` makes
it from a gradient of some rows. All move in the units of `root`: a matrix R stands for the metric
``R Rᵀ``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..ground import check as _check
from ..ground.random import Stream
from ..ground.xp import Vector, array_namespace
from .states import State, Step, scaled, scaled_slope, settle_step, squared
from .targets import WALL, RowSum, Target, start_at, value_and_slope, value_at

__all__ = ["MALA", "SGLD", "ULA", "RandomWalk"]


@dataclass(frozen=True, eq=False)
class RandomWalk:
    """Random-walk Metropolis: a normal step, taken with the ratio of the densities, [eq-mc-mh].

    Parameters
    ----------
    size : float, default 1.0
        The standard deviation of a step, in units of `root`.
    root : None, Vector (d,) or Matrix (d, d)
        The units: none, a scale for each entry, or a matrix.
    aim : float, default 0.234
        The acceptance that warm-up tunes `size` to.

    Notes
    -----
    Source: Roberts, Gelman & Gilks (1997) for the acceptance in many dimensions.
    """

    size: float = 1.0
    root: Any = None
    aim: float = 0.234

    def __post_init__(self) -> None:
        settle_step(self)
        settle_aim(self)

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; its log density must be finite."""
        return State(position, start_at(target, position, slope=False)[0])

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Propose a place and take it or stay."""
        x = state.position
        jump = scaled(self.root, stream.normal(x.shape, like=x))
        there = x + self.size * jump
        value = value_at(target, there)
        proposed = State(there, value, None, state.count + 1)
        return accepted(state, proposed, value - state.value, stream)


@dataclass(frozen=True, eq=False)
class MALA:
    """The Metropolis-adjusted Langevin algorithm, [eq-mc-langevin] with [eq-mc-mh].

    Parameters
    ----------
    size : float, default 0.1
        The step τ: the slope is multiplied by it, the variance of the noise is twice as large.
    root : None, Vector (d,) or Matrix (d, d)
        The units, as of `RandomWalk`.
    aim : float, default 0.574
        The acceptance that warm-up tunes `size` to.

    Notes
    -----
    Source: Roberts & Tweedie (1996); Roberts & Rosenthal (1998) for the acceptance.
    """

    size: float = 0.1
    root: Any = None
    aim: float = 0.574

    def __post_init__(self) -> None:
        settle_step(self)
        settle_aim(self)

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; log density and gradient must be finite."""
        return State(position, *start_at(target, position, slope=True))

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Propose a place down the slope of f and take it or stay."""
        there, noise, slope = _langevin(self, state, stream)
        value, gradient = value_and_slope(target, there)
        proposed = State(there, value, gradient, state.count + 1)
        back = noise + math.sqrt(self.size / 2.0) * (slope + scaled_slope(self.root, gradient))
        log_ratio = value - state.value - 0.5 * (squared(back) - squared(noise))
        return accepted(state, proposed, log_ratio, stream)


@dataclass(frozen=True, eq=False)
class ULA:
    """The unadjusted Langevin algorithm: Langevin steps that are always taken.

    Its chains have another density than the target, [eq-mc-ula-law]; the shorter the step, the
    nearer. Nothing is tuned.

    Parameters
    ----------
    size : float, default 0.1
        The step τ.
    root : None, Vector (d,) or Matrix (d, d)
        The units, as of `RandomWalk`.

    Notes
    -----
    Source: Roberts & Tweedie (1996).
    """

    size: float = 0.1
    root: Any = None
    aim = None

    def __post_init__(self) -> None:
        settle_step(self)

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; log density and gradient must be finite."""
        return State(position, *start_at(target, position, slope=True))

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Go down the slope of f, with noise; a place without a density is an error."""
        there, _, _ = _langevin(self, state, stream)
        value, gradient = value_and_slope(target, there)
        if value == WALL:
            raise _check.NoValueError(
                f"size must be smaller than {self.size}: a step has left it all"
            )
        return Step(State(there, value, gradient, state.count + 1), 1.0, True)


@dataclass(frozen=True, eq=False)
class SGLD:
    """Stochastic gradient Langevin dynamics: `ULA` with some rows' gradient, [eq-mc-sgld].

    Parameters
    ----------
    size : float, default 0.01
        The first step.
    batch : int, default 32
        How many rows m are drawn for a step, each put back.
    decay : float, default 1/3
        The step number t is ``size (1 + t/delay)^(−decay)``; 0 keeps it.
    delay : float, default 1.0
        After how many steps the decay begins to be felt.
    root : None, Vector (d,) or Matrix (d, d)
        The units, as of `RandomWalk`.

    Notes
    -----
    Averages over a chain whose steps shrink weigh each draw by its step, `size_at`.
    Source: Welling & Teh (2011); Teh, Thiery & Vollmer (2016) for the decay.
    """

    size: float = 0.01
    batch: int = 32
    decay: float = 1.0 / 3.0
    delay: float = 1.0
    root: Any = None
    aim = None

    def __post_init__(self) -> None:
        settle_step(self)
        object.__setattr__(self, "batch", _check.whole(self.batch, "batch", 1))
        for name, zero in (("decay", True), ("delay", False)):
            value = _check.positive(_check.number(getattr(self, name), name), name, zero=zero)
            object.__setattr__(self, name, value)

    def size_at(self, count: int) -> float:
        """Return the step after so many."""
        return self.size * (1.0 + _check.whole(count, "count") / self.delay) ** -self.decay

    def init(self, target: RowSum, position: Vector) -> State:
        """Return the state at a start; log density and gradient of all rows must be finite."""
        _check.instance(target, "target", RowSum)
        return State(position, start_at(target, position, slope=True)[0])

    def step(self, target: RowSum, state: State, stream: Stream) -> Step:
        """Draw rows, and go down the slope that they show, with noise."""
        x, size = state.position, self.size_at(state.count)
        drawn = stream.choice(target.rows.shape[0], self.batch, replace=True, like=x)
        rows = array_namespace(target.rows).take(target.rows, drawn, axis=0)
        value, gradient = value_and_slope(lambda x: target.estimate(x, rows), x)
        noise = stream.normal(x.shape, like=x)
        drift = size * scaled_slope(self.root, gradient) + math.sqrt(2.0 * size) * noise
        there = x + scaled(self.root, drift)
        xp = array_namespace(x)
        if value == WALL or not bool(xp.all(xp.isfinite(there))):
            raise _check.NoValueError(
                f"size must be smaller than {self.size}: a step has left it all"
            )
        return Step(State(there, value, None, state.count + 1), 1.0, True)


def accepted(state: State, proposed: State, log_ratio: float, stream: Stream) -> Step:
    """Take a proposal with probability ``min(1, exp(log_ratio))``, or stay.

    Parameters
    ----------
    state : State
        Where the chain is.
    proposed : State
        Where it would go.
    log_ratio : float
        The logarithm of the ratio of Metropolis and Hastings.
    stream : Stream
        The source of random numbers.

    Returns
    -------
    Step
        The step.
    """
    chance = math.exp(min(0.0, log_ratio)) if log_ratio > WALL else 0.0
    if float(stream.uniform()) < chance:
        return Step(proposed, chance, True)
    return Step(State(state.position, state.value, state.slope, state.count + 1), chance, False)


def _langevin(sampler: MALA | ULA, state: State, stream: Stream) -> tuple[Vector, Vector, Vector]:
    """A proposal, the noise in it, and the slope in units of the step."""
    x = state.position
    noise = stream.normal(x.shape, like=x)
    slope = scaled_slope(sampler.root, state.slope)
    move = sampler.size * slope + math.sqrt(2.0 * sampler.size) * noise
    return x + scaled(sampler.root, move), noise, slope


def settle_aim(sampler: Any) -> None:
    """Check the acceptance that a sampler aims at."""
    aim = _check.number(sampler.aim, "aim")
    if not 0.0 < aim < 1.0:
        raise ValueError(f"aim must lie between 0 and 1; got {aim}")
    object.__setattr__(sampler, "aim", aim)
