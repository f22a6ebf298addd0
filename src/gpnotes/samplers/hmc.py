"""Hamiltonian Monte Carlo: a push of random strength, and a path along which the energy stays."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..ground import check as _check
from ..ground.random import Stream
from ..ground.xp import Array, Vector
from .integrator import DIVERGENT, leapfrog, with_random_momentum
from .metropolis import accept_or_reject
from .states import State, Step, validate_step_size, validate_target_acceptance
from .targets import Target, start_at

__all__ = ["HMC"]


@dataclass(frozen=True, eq=False)
class HMC:
    """Hamiltonian Monte Carlo: a path of some leapfrog steps, whose end is taken or not.

    Parameters
    ----------
    step_size : float, default 0.1
        The step of the leapfrog.
    num_steps : int, default 16
        How many leapfrog steps a path has.
    inverse_mass_root : None, Vector (d,) or Matrix (d, d)
        A root L of the inverse mass matrix ``L Lᵀ``, which is best the covariance of the target:
        None for the identity, a scale for each entry, or a matrix.
    target_acceptance : float, default 0.8
        The acceptance that warm-up tunes `step_size` to.
    jitter : float, default 0.3
        The largest relative difference between the step of a path and `step_size`: it is
        drawn anew for each path, uniformly in ``step_size (1 ± jitter)``. Below 1; 0 is a fixed
        step.

    Notes
    -----
    Paths of one length may come back to where they began, or to the other side of it: then the
    chain hardly moves, and since it accepts them all, warm-up finds such a step rather than avoids
    it. Without `jitter` 2400 draws of five steps on a normal density of two unknowns were worth 7
    to 190 independent ones, and 2400 of 16 steps on one of ten 14 to 290; with it the former are
    worth 800 to 1060.
    Source: Duane, Kennedy, Pendleton & Roweth (1987); Neal (2011), whose section 5.4.2.2 has the
    random step.
    """

    step_size: float = 0.1
    num_steps: int = 16
    inverse_mass_root: Array | None = None
    target_acceptance: float = 0.8
    jitter: float = 0.3

    def __post_init__(self) -> None:
        validate_step_size(self)
        validate_target_acceptance(self)
        object.__setattr__(self, "num_steps", _check.whole(self.num_steps, "num_steps", 1))
        jitter = _check.number(self.jitter, "jitter")
        if not 0.0 <= jitter < 1.0:
            raise ValueError(f"jitter must be from 0 to less than 1; got {jitter}")
        object.__setattr__(self, "jitter", jitter)

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; log density and gradient must be finite."""
        return State(position, *start_at(target, position, gradient=True))

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Push the chain, follow the path, and take its end or stay."""
        start, step_size = with_random_momentum(state, stream), self._step_size(stream)
        end, count = start, 0
        while count < self.num_steps and end.log_density > -math.inf:
            end, count = leapfrog(target, end, step_size, self.inverse_mass_root), count + 1
        # The leapfrog keeps volumes and goes back by the same steps, so the ratio of the densities
        # exp(−H) is all of Metropolis' ratio. A wall has infinite energy: the path is refused.
        energy_error = end.energy - start.energy
        proposed = State(end.position, end.log_density, end.gradient, state.count + 1)
        ended = accept_or_reject(state, proposed, -energy_error, stream)
        diverged = not energy_error < DIVERGENT  # and so where the loss is NaN
        return ended._replace(diverged=diverged, evaluations=count)

    def _step_size(self, stream: Stream) -> float:
        """The step of a path, drawn without a look at where the chain is: so its rule is exact."""
        if not self.jitter:
            return self.step_size
        return self.step_size * (1.0 + self.jitter * (2.0 * float(stream.uniform()) - 1.0))
