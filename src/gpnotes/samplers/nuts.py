"""The no-U-turn sampler: a binary tree of leapfrog steps, grown until its path turns back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ..ground import check as _check
from ..ground.random import Stream
from ..ground.xp import Array, Vector
from .integrator import DIVERGENT, PhasePoint, leapfrog, with_random_momentum
from .states import State, Step, validate_step_size, validate_target_acceptance
from .targets import Target, start_at

__all__ = ["NUTS"]


@dataclass(frozen=True, eq=False)
class NUTS:
    """The no-U-turn sampler: a path doubled until it turns back, and a position drawn from it all.

    Parameters
    ----------
    step_size : float, default 0.1
        The step of the leapfrog.
    max_tree_depth : int, default 10
        How often a path is doubled at most.
    inverse_mass_root : None, Vector (d,) or Matrix (d, d)
        A root of the inverse mass matrix, as of `HMC`.
    target_acceptance : float, default 0.8
        The acceptance that warm-up tunes `step_size` to: the mean over a path's positions.

    Notes
    -----
    A position is drawn by its weight ``exp(−H)``, from the newer half with preference.
    Source: Hoffman & Gelman (2014) for the doubling; Betancourt (2017) for the weights and for the
    sum of the momenta that tells a turn.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import stream
    >>> from gpnotes.samplers import sample
    >>> normal = lambda x: (-0.5 * float(x @ x), -x)  # log density and gradient
    >>> short = {"num_chains": 1, "num_samples": 200, "num_warmup": 0}
    >>> sample(normal, NUTS(0.8), np.zeros(2), **short, rng=stream(1)).flat.std(axis=0).round(1)
    array([1.1, 1. ])
    """

    step_size: float = 0.1
    max_tree_depth: int = 10
    inverse_mass_root: Array | None = None
    target_acceptance: float = 0.8

    def __post_init__(self) -> None:
        validate_step_size(self)
        validate_target_acceptance(self)
        depth = _check.whole(self.max_tree_depth, "max_tree_depth", 1)
        object.__setattr__(self, "max_tree_depth", depth)

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; log density and gradient must be finite."""
        return State(position, *start_at(target, position, gradient=True))

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Push the chain, double its path until it turns, and draw a position of it."""
        start = with_random_momentum(state, stream)
        tree = _Tree(start, start, start, start.momentum, 0.0, False, False, 0.0, 0)
        builder = _TreeBuilder(target, self, start.energy, stream)
        for depth in range(self.max_tree_depth):
            forward = float(stream.uniform()) < 0.5
            subtree = builder.build(tree.last if forward else tree.first, depth, forward)
            tree = tree.with_counts_of(subtree)
            if subtree.turning or subtree.diverged:
                break  # no position of it may be drawn: from there this path would not come about
            # the newer half with probability min(1, its weight over the older's), more than its
            # share: it is farther off, and the target density stays invariant (Betancourt, 2017)
            choice = _choose(tree, subtree, subtree.log_weight - tree.log_weight, stream)
            tree = _join(tree, subtree, forward, choice)
            if tree.turning:
                break
        proposed, moved = tree.proposal, tree.proposal is not start
        end = State(proposed.position, proposed.log_density, proposed.gradient, state.count + 1)
        acceptance = tree.acceptance_sum / tree.num_steps
        return Step(end, acceptance, moved, tree.diverged, tree.num_steps)


class _Tree(NamedTuple):
    """A path in the order of its time: its ends, the position drawn, and sums over it."""

    first: PhasePoint
    last: PhasePoint
    proposal: PhasePoint
    momentum_sum: Vector
    log_weight: float  # the logarithm of the sum of exp(−(H − H₀))
    turning: bool
    diverged: bool
    acceptance_sum: float
    num_steps: int

    def with_counts_of(self, new: _Tree) -> _Tree:
        """Return this tree with the counts of another added to its own."""
        return self._replace(
            acceptance_sum=self.acceptance_sum + new.acceptance_sum,
            num_steps=self.num_steps + new.num_steps,
            diverged=self.diverged or new.diverged,
        )


class _TreeBuilder(NamedTuple):
    """Settings that stay fixed while a tree is built."""

    target: Target
    sampler: NUTS
    energy: float
    stream: Stream

    def build(self, end: PhasePoint, depth: int, forward: bool) -> _Tree:
        """A tree of ``2^depth`` steps from an end on, smaller if it turns or loses its energy."""
        if depth == 0:
            return self._leaf(end, forward)
        inner = self.build(end, depth - 1, forward)
        if inner.turning or inner.diverged:
            return inner
        outer = self.build(inner.last if forward else inner.first, depth - 1, forward)
        counted = inner.with_counts_of(outer)
        if outer.turning or outer.diverged:
            return counted._replace(turning=True)
        # within a tree each half by its share of the weight, so that each is drawn by its own
        log_share = outer.log_weight - _log_sum(inner.log_weight, outer.log_weight)
        return _join(counted, outer, forward, _choose(inner, outer, log_share, self.stream))

    def _leaf(self, end: PhasePoint, forward: bool) -> _Tree:
        step_size = self.sampler.step_size if forward else -self.sampler.step_size
        new = leapfrog(self.target, end, step_size, self.sampler.inverse_mass_root)
        energy_error = new.energy - self.energy
        acceptance = math.exp(min(0.0, -energy_error)) if energy_error < math.inf else 0.0
        diverged = not energy_error < DIVERGENT  # and so where the loss is NaN
        return _Tree(new, new, new, new.momentum, -energy_error, False, diverged, acceptance, 1)


def _join(tree: _Tree, new: _Tree, forward: bool, proposal: PhasePoint) -> _Tree:
    """Two trees as one, and whether its path has turned: as a whole, or where the two meet."""
    early, late = (tree, new) if forward else (new, tree)
    momentum_sum = early.momentum_sum + late.momentum_sum
    # A path that went once around may look straight as a whole, and each half of it too. So each
    # half is looked at with the next position of the other half as well.
    turning = (
        _is_turning(momentum_sum, early.first, late.last)
        or _is_turning(early.momentum_sum + late.first.momentum, early.first, late.first)
        or _is_turning(late.momentum_sum + early.last.momentum, early.last, late.last)
    )
    log_weight = _log_sum(tree.log_weight, new.log_weight)
    return tree._replace(
        first=early.first, last=late.last, proposal=proposal, momentum_sum=momentum_sum,
        log_weight=log_weight, turning=turning,
    )  # fmt: skip


def _is_turning(momentum_sum: Vector, first: PhasePoint, last: PhasePoint) -> bool:
    # Velocity times the sum of momenta, which does not depend on the mass matrix: with p = L⁻ᵀ r
    # and velocity L r that is (L r)ᵀ Σ L⁻ᵀ r = rᵀ Σ r.
    return float(momentum_sum @ first.momentum) <= 0.0 or float(momentum_sum @ last.momentum) <= 0.0


def _choose(tree: _Tree, new: _Tree, log_probability: float, stream: Stream) -> PhasePoint:
    """The position of the new tree with a probability, else that of the old one."""
    probability = math.exp(min(0.0, log_probability)) if log_probability > -math.inf else 0.0
    return new.proposal if float(stream.uniform()) < probability else tree.proposal


def _log_sum(a: float, b: float) -> float:
    top = max(a, b)
    return top if top == -math.inf else top + math.log(math.exp(a - top) + math.exp(b - top))
