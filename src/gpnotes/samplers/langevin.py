"""Langevin chains: proposals down the slope of the energy, with noise.

With f the negative log density, a Langevin proposal is ``x' = x − τ ∇f(x) + ε`` with
``ε ~ N(0, 2τ I)``: `MALA` accepts it as Metropolis and Hastings say, `ULA` always, and `SGLD` makes
it from a gradient of some rows. With an `inverse_mass_root` L the drift is ``−τ L Lᵀ ∇f``, and the
noise has covariance ``2τ L Lᵀ``: the gradient is preconditioned by the inverse mass matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..ground import check as _check
from ..ground.random import Stream
from ..ground.xp import Array, Vector, array_namespace
from .metropolis import accept_or_reject
from .states import (
    State,
    Step,
    squared,
    times_root,
    times_root_transposed,
    validate_step_size,
    validate_target_acceptance,
)
from .targets import LOG_ZERO, MinibatchDensity, Target, log_density_and_gradient, start_at

__all__ = ["MALA", "SGLD", "ULA"]


@dataclass(frozen=True, eq=False)
class MALA:
    """The Metropolis-adjusted Langevin algorithm, [eq-mc-langevin] with [eq-mc-mh].

    Parameters
    ----------
    step_size : float, default 0.1
        The step τ: the gradient is multiplied by it, the variance of the noise is twice as large.
    inverse_mass_root : None, Vector (d,) or Matrix (d, d)
        A root of the inverse mass matrix, by which the gradient is preconditioned, as of `HMC`.
    target_acceptance : float, default 0.574
        The acceptance that warm-up tunes `step_size` to.

    Notes
    -----
    Source: Roberts & Tweedie (1996); Roberts & Rosenthal (1998) for the acceptance.
    """

    step_size: float = 0.1
    inverse_mass_root: Array | None = None
    target_acceptance: float = 0.574

    def __post_init__(self) -> None:
        validate_step_size(self)
        validate_target_acceptance(self)

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; log density and gradient must be finite."""
        return State(position, *start_at(target, position, gradient=True))

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Propose a position down the slope of f, and take it or stay."""
        proposal, noise, drift = _langevin_proposal(self, state, stream)
        log_density, gradient = log_density_and_gradient(target, proposal)
        proposed = State(proposal, log_density, gradient, state.count + 1)
        drift_there = times_root_transposed(self.inverse_mass_root, gradient)
        # minus the noise z' of the step back, x = x' + L (τ d' + √(2τ) z')
        noise_back = noise + math.sqrt(self.step_size / 2.0) * (drift + drift_there)
        log_ratio = log_density - state.log_density - 0.5 * (squared(noise_back) - squared(noise))
        return accept_or_reject(state, proposed, log_ratio, stream)


@dataclass(frozen=True, eq=False)
class ULA:
    """The unadjusted Langevin algorithm: Langevin steps that are always taken.

    Its chains have another density than the target, [eq-mc-ula-law]; the shorter the step, the
    nearer. Nothing is tuned.

    Parameters
    ----------
    step_size : float, default 0.1
        The step τ.
    inverse_mass_root : None, Vector (d,) or Matrix (d, d)
        A root of the inverse mass matrix, by which the gradient is preconditioned, as of `HMC`.

    Notes
    -----
    Source: Roberts & Tweedie (1996).
    """

    step_size: float = 0.1
    inverse_mass_root: Array | None = None
    target_acceptance = None

    def __post_init__(self) -> None:
        validate_step_size(self)

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; log density and gradient must be finite."""
        return State(position, *start_at(target, position, gradient=True))

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Go down the slope of f, with noise; a position without a density is an error."""
        proposal, _, _ = _langevin_proposal(self, state, stream)
        log_density, gradient = log_density_and_gradient(target, proposal)
        if log_density == LOG_ZERO:
            raise _check.NoValueError(
                f"step_size must be smaller than {self.step_size}: a step has left it all"
            )
        return Step(State(proposal, log_density, gradient, state.count + 1), 1.0, True)


@dataclass(frozen=True, eq=False)
class SGLD:
    """Stochastic gradient Langevin dynamics: `ULA` with some rows' gradient, [eq-mc-sgld].

    Parameters
    ----------
    step_size : float, default 0.01
        The first step.
    batch : int, default 32
        How many rows m are drawn for a step, each put back.
    decay : float, default 1/3
        The step number t is ``step_size (1 + t/delay)^(−decay)``; 0 keeps it.
    delay : float, default 1.0
        After how many steps the decay begins to be felt.
    inverse_mass_root : None, Vector (d,) or Matrix (d, d)
        A root of the inverse mass matrix, by which the gradient is preconditioned, as of `HMC`.

    Notes
    -----
    Averages over a chain whose steps shrink weigh each draw by its step, `step_size_at`.
    Source: Welling & Teh (2011); Teh, Thiery & Vollmer (2016) for the decay.
    """

    step_size: float = 0.01
    batch: int = 32
    decay: float = 1.0 / 3.0
    delay: float = 1.0
    inverse_mass_root: Array | None = None
    target_acceptance = None

    def __post_init__(self) -> None:
        validate_step_size(self)
        object.__setattr__(self, "batch", _check.whole(self.batch, "batch", 1))
        for name, zero in (("decay", True), ("delay", False)):
            value = _check.positive(_check.number(getattr(self, name), name), name, zero=zero)
            object.__setattr__(self, name, value)

    def step_size_at(self, count: int) -> float:
        """Return the step after so many."""
        return self.step_size * (1.0 + _check.whole(count, "count") / self.delay) ** -self.decay

    def init(self, target: MinibatchDensity, position: Vector) -> State:
        """Return the state at a start; log density and gradient of all rows must be finite."""
        _check.instance(target, "target", MinibatchDensity)
        return State(position, start_at(target, position, gradient=True)[0])

    def step(self, target: MinibatchDensity, state: State, stream: Stream) -> Step:
        """Draw rows, and go down the slope that they show, with noise."""
        x, step_size = state.position, self.step_size_at(state.count)
        row_indices = stream.choice(target.rows.shape[0], self.batch, replace=True, like=x)
        rows = array_namespace(target.rows).take(target.rows, row_indices, axis=0)
        log_density, gradient = log_density_and_gradient(lambda x: target.estimate(x, rows), x)
        noise = stream.normal(x.shape, like=x)
        drift = step_size * times_root_transposed(self.inverse_mass_root, gradient)
        moved = x + times_root(self.inverse_mass_root, drift + math.sqrt(2.0 * step_size) * noise)
        xp = array_namespace(x)
        if log_density == LOG_ZERO or not bool(xp.all(xp.isfinite(moved))):
            raise _check.NoValueError(
                f"step_size must be smaller than {self.step_size}: a step has left it all"
            )
        return Step(State(moved, log_density, None, state.count + 1), 1.0, True)


def _langevin_proposal(
    sampler: MALA | ULA, state: State, stream: Stream
) -> tuple[Vector, Vector, Vector]:
    """A proposal, the noise in it, and the preconditioned gradient."""
    x = state.position
    noise = stream.normal(x.shape, like=x)
    # L (τ Lᵀ∇ + √(2τ) ξ): drift τ M⁻¹∇ and noise of covariance 2τ M⁻¹, by one product with L
    drift = times_root_transposed(sampler.inverse_mass_root, state.gradient)
    move = sampler.step_size * drift + math.sqrt(2.0 * sampler.step_size) * noise
    return x + times_root(sampler.inverse_mass_root, move), noise, drift
