"""The leapfrog: a step of Hamilton's equations that keeps volumes and can be run backwards.

The energy of position and momentum is ``H = f(x) + |r|²/2``, f the negative log density, with the
momentum in units in which its mass matrix is the identity: `inverse_mass_root` is a root L of the
inverse mass matrix ``L Lᵀ``. Acceptance corrects for the error in energy of the leapfrog,
[eq-mc-leapfrog], and for nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ground.random import Stream
from ..ground.xp import Array, Vector
from .states import State, squared, times_root, times_root_transposed
from .targets import Target, log_density_and_gradient

__all__ = ["DIVERGENT", "PhasePoint", "leapfrog", "with_random_momentum"]

DIVERGENT = 1000.0  # of the energy, in nats: a path that lost so much says nothing any more


class PhasePoint(NamedTuple):
    """Position and momentum on a path, with the log density and its gradient there."""

    position: Vector
    momentum: Vector
    log_density: float
    gradient: Vector

    @property
    def energy(self) -> float:
        """The negative log density and half the squared momentum."""
        return 0.5 * squared(self.momentum) - self.log_density


def leapfrog(
    target: Target, point: PhasePoint, step_size: float, inverse_mass_root: Array | None = None
) -> PhasePoint:
    """Take one step of a path: half a push, a move, half a push.

    Parameters
    ----------
    target : callable
        The log density and its gradient.
    point : PhasePoint
        Where the path is.
    step_size : float
        The step; a negative one goes back.
    inverse_mass_root : None, Vector (d,) or Matrix (d, d)
        A root of the inverse mass matrix, as of `HMC`.
    """
    # Of the momentum p this is r = Lᵀ p: so dx/dt = L Lᵀ p = L r, and dr/dt = Lᵀ dp/dt = −Lᵀ ∇f.
    root = inverse_mass_root
    half = point.momentum + 0.5 * step_size * times_root_transposed(root, point.gradient)
    position = point.position + step_size * times_root(root, half)
    log_density, gradient = log_density_and_gradient(target, position)
    momentum = half + 0.5 * step_size * times_root_transposed(root, gradient)
    return PhasePoint(position, momentum, log_density, gradient)


def with_random_momentum(state: State, stream: Stream) -> PhasePoint:
    """Give a state a standard normal momentum, with which a path begins."""
    momentum = stream.normal(state.position.shape, like=state.position)
    return PhasePoint(state.position, momentum, state.log_density, state.gradient)
