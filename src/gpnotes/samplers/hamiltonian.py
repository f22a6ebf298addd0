"""Hamiltonian chains: a push of random strength, and a path along which the energy stays.

The energy of place and momentum is ``H = f(x) + |r|²/2``, f the negative log density, with the
momentum in units of `root`. The leapfrog, [eq-mc-leapfrog], keeps volumes and can be run
backwards, so what it loses of the energy is all that acceptance has to mend.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..ground import check as _check
from ..ground.random import Stream
from ..ground.xp import Vector
from .metropolis import accepted, settle_aim
from .states import State, Step, scaled, scaled_slope, settle_step, squared
from .targets import Target, start_at, value_and_slope

__all__ = ["HMC", "NUTS", "Phase", "leapfrog"]

_LOST = 1000.0  # of the energy, in nats: such a path says nothing any more


class Phase(NamedTuple):
    """Place and momentum of a path, with the log density and its gradient at the place."""

    position: Vector
    momentum: Vector
    value: float
    slope: Vector

    @property
    def energy(self) -> float:
        """The negative log density and half the squared momentum."""
        return 0.5 * squared(self.momentum) - self.value


def leapfrog(target: Target, phase: Phase, size: float, root: Any = None) -> Phase:
    """Take one step of a path: half a push, a move, half a push.

    Parameters
    ----------
    target : callable
        The log density and its gradient.
    phase : Phase
        Where the path is.
    size : float
        The step; a negative one goes back.
    root : None, Vector (d,) or Matrix (d, d)
        The units of the momentum, as of `walks.RandomWalk`.

    Returns
    -------
    Phase
        Where it is then.
    """
    half = phase.momentum + 0.5 * size * scaled_slope(root, phase.slope)
    position = phase.position + size * scaled(root, half)
    value, slope = value_and_slope(target, position)
    return Phase(position, half + 0.5 * size * scaled_slope(root, slope), value, slope)


@dataclass(frozen=True, eq=False)
class HMC:
    """Hamiltonian Monte Carlo: a path of some leapfrog steps, whose end is taken or not.

    Parameters
    ----------
    size : float, default 0.1
        The step of the leapfrog.
    leaps : int, default 16
        How many steps a path has.
    root : None, Vector (d,) or Matrix (d, d)
        The units of the momentum, as of `walks.RandomWalk`.
    aim : float, default 0.8
        The acceptance that warm-up tunes `size` to.
    jitter : float, default 0.3
        By what share of it the step of a path may be longer or shorter than `size`: it is drawn
        anew for each path, uniformly in ``size (1 ± jitter)``. Below 1; 0 is a fixed step.

    Notes
    -----
    Paths of one length may come back to where they began, or to the other side of it: then the
    chain hardly moves, and since it accepts them all, warm-up finds such a step rather than avoids
    it. Without `jitter` 2400 draws of five leaps on a normal density of two unknowns were worth 7
    to 190 independent ones, and 2400 of 16 leaps on one of ten 14 to 290; with it the former are
    worth 800 to 1060.
    Source: Duane, Kennedy, Pendleton & Roweth (1987); Neal (2011), whose section 5.4.2.2 has the
    random step.
    """

    size: float = 0.1
    leaps: int = 16
    root: Any = None
    aim: float = 0.8
    jitter: float = 0.3

    def __post_init__(self) -> None:
        settle_step(self)
        settle_aim(self)
        object.__setattr__(self, "leaps", _check.whole(self.leaps, "leaps", 1))
        jitter = _check.number(self.jitter, "jitter")
        if not 0.0 <= jitter < 1.0:
            raise ValueError(f"jitter must be from 0 to less than 1; got {jitter}")
        object.__setattr__(self, "jitter", jitter)

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; log density and gradient must be finite."""
        return State(position, *start_at(target, position, slope=True))

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Push the chain, follow the path, and take its end or stay."""
        begin, size = _pushed(state, stream), self._length(stream)
        phase, taken = begin, 0
        while taken < self.leaps and phase.value > -math.inf:
            phase, taken = leapfrog(target, phase, size, self.root), taken + 1
        lost = phase.energy - begin.energy
        proposed = State(phase.position, phase.value, phase.slope, state.count + 1)
        ended = accepted(state, proposed, -lost, stream)
        return ended._replace(diverged=not lost < _LOST, evaluations=taken)

    def _length(self, stream: Stream) -> float:
        """The step of a path, drawn without a look at where the chain is: so its rule is exact."""
        if not self.jitter:
            return self.size
        return self.size * (1.0 + self.jitter * (2.0 * float(stream.uniform()) - 1.0))


@dataclass(frozen=True, eq=False)
class NUTS:
    """The no-U-turn sampler: a path doubled until it turns back, and a place drawn from all of it.

    Parameters
    ----------
    size : float, default 0.1
        The step of the leapfrog.
    depth : int, default 10
        How often a path is doubled at most.
    root : None, Vector (d,) or Matrix (d, d)
        The units of the momentum, as of `walks.RandomWalk`.
    aim : float, default 0.8
        The acceptance that warm-up tunes `size` to: the mean over the places of a path.

    Notes
    -----
    A place is drawn by its weight ``exp(−H)``, from the newer half with preference.
    Source: Hoffman & Gelman (2014) for the doubling; Betancourt (2017) for the weights and for the
    sum of the momenta that tells a turn.
    """

    size: float = 0.1
    depth: int = 10
    root: Any = None
    aim: float = 0.8

    def __post_init__(self) -> None:
        settle_step(self)
        settle_aim(self)
        object.__setattr__(self, "depth", _check.whole(self.depth, "depth", 1))

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; log density and gradient must be finite."""
        return State(position, *start_at(target, position, slope=True))

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Push the chain, double its path until it turns, and draw a place of it."""
        begin = _pushed(state, stream)
        path = _Path(begin, begin, begin, begin.momentum, 0.0, False, False, 0.0, 0)
        walk = _Walk(target, self, begin.energy, stream)
        for depth in range(self.depth):
            forward = float(stream.uniform()) < 0.5
            new = walk.grown(path.last if forward else path.first, depth, forward)
            path = path.counted(new)
            if new.turned or new.diverged:
                break
            chosen = _drawn(path, new, new.weight - path.weight, stream)
            path = _joined(path, new, forward, chosen)
            if path.turned:
                break
        here, moved = path.chosen, path.chosen is not begin
        ended = State(here.position, here.value, here.slope, state.count + 1)
        return Step(ended, path.chance / path.leaps, moved, path.diverged, path.leaps)


class _Path(NamedTuple):
    """A path in the order of its time: its ends, the place drawn from it, and sums over it."""

    first: Phase
    last: Phase
    chosen: Phase
    momenta: Vector
    weight: float  # the logarithm of the sum of exp(−(H − H₀))
    turned: bool
    diverged: bool
    chance: float
    leaps: int

    def counted(self, new: _Path) -> _Path:
        """The same, with what it took to make another."""
        return self._replace(
            chance=self.chance + new.chance,
            leaps=self.leaps + new.leaps,
            diverged=self.diverged or new.diverged,
        )


class _Walk(NamedTuple):
    """What does not change while a path is grown."""

    target: Target
    sampler: NUTS
    energy: float
    stream: Stream

    def grown(self, end: Phase, depth: int, forward: bool) -> _Path:
        """A path of ``2^depth`` steps from an end on, shorter if it turns or loses its energy."""
        if depth == 0:
            return self._leapt(end, forward)
        inner = self.grown(end, depth - 1, forward)
        if inner.turned or inner.diverged:
            return inner
        outer = self.grown(inner.last if forward else inner.first, depth - 1, forward)
        both = inner.counted(outer)
        if outer.turned or outer.diverged:
            return both._replace(turned=True)
        share = outer.weight - _log_sum(inner.weight, outer.weight)
        return _joined(both, outer, forward, _drawn(inner, outer, share, self.stream))

    def _leapt(self, end: Phase, forward: bool) -> _Path:
        size = self.sampler.size if forward else -self.sampler.size
        phase = leapfrog(self.target, end, size, self.sampler.root)
        lost = phase.energy - self.energy
        chance = math.exp(min(0.0, -lost)) if lost < math.inf else 0.0
        return _Path(phase, phase, phase, phase.momentum, -lost, False, not lost < _LOST, chance, 1)


def _joined(path: _Path, new: _Path, forward: bool, chosen: Phase) -> _Path:
    """Two paths as one, and whether it has turned: as a whole, or where the two meet."""
    early, late = (path, new) if forward else (new, path)
    momenta = early.momenta + late.momenta
    turned = (
        _turns(momenta, early.first, late.last)
        or _turns(early.momenta + late.first.momentum, early.first, late.first)
        or _turns(late.momenta + early.last.momentum, early.last, late.last)
    )
    weight = _log_sum(path.weight, new.weight)
    return path._replace(
        first=early.first, last=late.last, chosen=chosen, momenta=momenta, weight=weight,
        turned=turned,
    )  # fmt: skip


def _turns(momenta: Vector, first: Phase, last: Phase) -> bool:
    return float(momenta @ first.momentum) <= 0.0 or float(momenta @ last.momentum) <= 0.0


def _drawn(path: _Path, new: _Path, log_chance: float, stream: Stream) -> Phase:
    """The place of the new path with a probability, else that of the old one."""
    chance = math.exp(min(0.0, log_chance)) if log_chance > -math.inf else 0.0
    return new.chosen if float(stream.uniform()) < chance else path.chosen


def _log_sum(a: float, b: float) -> float:
    top = max(a, b)
    return top if top == -math.inf else top + math.log(math.exp(a - top) + math.exp(b - top))


def _pushed(state: State, stream: Stream) -> Phase:
    momentum = stream.normal(state.position.shape, like=state.position)
    return Phase(state.position, momentum, state.value, state.slope)
