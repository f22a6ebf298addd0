"""Random-walk Metropolis, and the rule of Metropolis and Hastings by which proposals are taken."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..ground.random import Stream
from ..ground.xp import Array, Vector
from .states import State, Step, times_root, validate_step_size, validate_target_acceptance
from .targets import LOG_ZERO, Target, log_density_at, start_at

__all__ = ["RandomWalkMetropolis", "accept_or_reject"]


@dataclass(frozen=True, eq=False)
class RandomWalkMetropolis:
    """Random-walk Metropolis: a normal step, taken with the ratio of the densities, [eq-mc-mh].

    Parameters
    ----------
    step_size : float, default 1.0
        The standard deviation of a step, in units of `inverse_mass_root`.
    inverse_mass_root : None, Vector (d,) or Matrix (d, d)
        A root of the covariance of a step of size 1: None, a scale for each entry, or a matrix.
    target_acceptance : float, default 0.234
        The acceptance that warm-up tunes `step_size` to.

    Notes
    -----
    Source: Roberts, Gelman & Gilks (1997) for the acceptance in many dimensions.
    """

    step_size: float = 1.0
    inverse_mass_root: Array | None = None
    target_acceptance: float = 0.234

    def __post_init__(self) -> None:
        validate_step_size(self)
        validate_target_acceptance(self)

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; its log density must be finite."""
        return State(position, start_at(target, position, gradient=False)[0])

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Propose a position, and take it or stay."""
        x = state.position
        jump = times_root(self.inverse_mass_root, stream.normal(x.shape, like=x))
        proposal = x + self.step_size * jump
        log_density = log_density_at(target, proposal)
        proposed = State(proposal, log_density, None, state.count + 1)
        return accept_or_reject(state, proposed, log_density - state.log_density, stream)


def accept_or_reject(state: State, proposed: State, log_ratio: float, stream: Stream) -> Step:
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
    """
    probability = math.exp(min(0.0, log_ratio)) if log_ratio > LOG_ZERO else 0.0
    if float(stream.uniform()) < probability:
        return Step(proposed, probability, True)
    stayed = State(state.position, state.log_density, state.gradient, state.count + 1)
    return Step(stayed, probability, False)
