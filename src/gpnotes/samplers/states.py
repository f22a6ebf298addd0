"""Shared parts of all samplers: a state, a step, and products with the preconditioner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from ..ground import check as _check
from ..ground.random import Stream
from ..ground.showing import summary
from ..ground.xp import Array, Vector, array_namespace
from .targets import Target

__all__ = [
    "Sampler", "State", "Step", "Tunable", "squared", "times_root", "times_root_transposed",
    "validate_step_size", "validate_target_acceptance",
]  # fmt: skip

S = TypeVar("S", bound="Tunable")


@dataclass(frozen=True, eq=False)
class State:
    """The position of a chain, with the density and gradient there.

    Parameters
    ----------
    position : Vector, shape (d,)
        The position.
    log_density : float
        The log density there, up to a constant.
    gradient : Vector, shape (d,), or None
        Its gradient, for the samplers that ask for it.
    count : int, default 0
        How many steps led here.
    prior_draws : tuple of Vector, default ()
        Draws of the prior that were made ahead, for `EllipticalSlice`.
    """

    position: Vector
    log_density: float
    gradient: Any = None
    count: int = 0
    prior_draws: tuple[Vector, ...] = ()

    __repr__ = summary


class Step(NamedTuple):
    """One step of a chain: where it led, and how.

    Parameters
    ----------
    state : State
        Where the chain is now.
    acceptance : float
        The probability with which the proposal was taken; of several, the mean.
    moved : bool
        Whether the chain has moved.
    diverged : bool
        Whether a path lost its energy, or ran into a position without a density.
    evaluations : int
        How many evaluations of the target it took.
    """

    state: State
    acceptance: float
    moved: bool
    diverged: bool = False
    evaluations: int = 1


class Sampler(Protocol):
    """A sampler: `init` and `step`. A chain is `step` applied again and again."""

    @property
    def target_acceptance(self) -> float | None:
        """The acceptance that warm-up tunes the step to; None where nothing is tuned."""
        ...

    def init(self, target: Target, position: Vector, /) -> State:
        """Return the state at a start."""
        ...

    def step(self, target: Target, state: State, stream: Stream, /) -> Step:
        """Take one step, which leaves the density of the target as it is, or nearly so."""
        ...


class Tunable(Sampler, Protocol):
    """A sampler with a step size and an inverse mass matrix, which warm-up tunes."""

    @property
    def step_size(self) -> float:
        """The step size."""
        ...

    @property
    def inverse_mass_root(self) -> Array | None:
        """A root L of the inverse mass matrix ``L Lᵀ``, of a diagonal one (d,), or None."""
        ...


def times_root(root: Array | None, z: Vector) -> Vector:
    """Return a step in the units of the target: ``root z``, as of `Tunable.inverse_mass_root`.

    Parameters
    ----------
    root : None, Vector (d,) or Matrix (d, d)
        The scales, or the matrix.
    z : Vector, shape (d,)
        The step in units of its own.

    Returns
    -------
    Vector, shape (d,)
        The step.
    """
    if root is None:
        return z
    return root * z if root.ndim == 1 else root @ z


def times_root_transposed(root: Array | None, gradient: Vector) -> Vector:
    """Return a gradient by the units of a step: ``rootᵀ gradient``.

    Parameters
    ----------
    root : None, Vector (d,) or Matrix (d, d)
        The scales, or the matrix.
    gradient : Vector, shape (d,)
        The gradient by the position.

    Returns
    -------
    Vector, shape (d,)
        The gradient by the step.
    """
    if root is None or root.ndim == 1:
        return times_root(root, gradient)
    return array_namespace(root).matrix_transpose(root) @ gradient


def validate_step_size(sampler: Any) -> None:
    """Check step size and inverse mass matrix of a sampler that is being made."""
    step_size = _check.positive(_check.number(sampler.step_size, "step_size"), "step_size")
    object.__setattr__(sampler, "step_size", step_size)
    root = sampler.inverse_mass_root
    if root is None:
        return
    if _check.floating(root, "inverse_mass_root").ndim == 1:
        _check.positive(root, "inverse_mass_root")
    else:
        _check.square(root, "inverse_mass_root")


def validate_target_acceptance(sampler: Any) -> None:
    """Check the acceptance that a sampler aims at."""
    acceptance = _check.number(sampler.target_acceptance, "target_acceptance")
    if not 0.0 < acceptance < 1.0:
        raise ValueError(f"target_acceptance must lie between 0 and 1; got {acceptance}")
    object.__setattr__(sampler, "target_acceptance", acceptance)


def squared(z: Array) -> float:
    """The squared length of a vector, on the host."""
    return float(z @ z)
