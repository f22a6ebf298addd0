"""What all samplers share: a state, a step, and the matrix in whose units they move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from ..ground import check as _check
from ..ground.random import Stream
from ..ground.showing import summary
from ..ground.xp import Array, Vector, array_namespace
from .targets import Target

__all__ = ["Sampler", "State", "Step", "Tunable", "scaled", "scaled_slope"]

S = TypeVar("S", bound="Tunable")


@dataclass(frozen=True, eq=False)
class State:
    """Where a chain is, and what is known there.

    Parameters
    ----------
    position : Vector, shape (d,)
        The place.
    value : float
        The log density there, up to a constant.
    slope : Vector, shape (d,), or None
        Its gradient, for the samplers that ask for it.
    count : int, default 0
        How many steps led here.
    ahead : tuple of Vector, default ()
        Draws of the prior that were made ahead, for `slices.EllipticalSlice`.
    """

    position: Vector
    value: float
    slope: Any = None
    count: int = 0
    ahead: tuple[Vector, ...] = ()

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
        Whether the chain has left its place.
    diverged : bool
        Whether a path lost its energy, or ran into a place without a density.
    evaluations : int
        How many evaluations of the target it took.
    """

    state: State
    acceptance: float
    moved: bool
    diverged: bool = False
    evaluations: int = 1


class Sampler(Protocol):
    """A sampler: `init` and `step`. A chain is what comes of `step`, again and again."""

    @property
    def aim(self) -> float | None:
        """The acceptance that warm-up tunes the step to; None where nothing is tuned."""
        ...

    def init(self, target: Target, position: Vector, /) -> State:
        """Return the state at a start."""
        ...

    def step(self, target: Target, state: State, stream: Stream, /) -> Step:
        """Take one step, which leaves the density of the target as it is, or nearly so."""
        ...


class Tunable(Sampler, Protocol):
    """A sampler with a step size, and a matrix in whose units it moves."""

    @property
    def size(self) -> float:
        """The step size."""
        ...

    @property
    def root(self) -> Any:
        """The factor of a step, which is None, the scale of each entry (d,), or a matrix (d, d)."""
        ...


def scaled(root: Any, z: Vector) -> Vector:
    """Return a step in the units of the target: ``root z``, for a `root` as in `Tunable`.

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


def scaled_slope(root: Any, slope: Vector) -> Vector:
    """Return a gradient by the units of a step: ``rootᵀ slope``.

    Parameters
    ----------
    root : None, Vector (d,) or Matrix (d, d)
        The scales, or the matrix.
    slope : Vector, shape (d,)
        The gradient by the place.

    Returns
    -------
    Vector, shape (d,)
        The gradient by the step.
    """
    if root is None or root.ndim == 1:
        return scaled(root, slope)
    return array_namespace(root).matrix_transpose(root) @ slope


def settle_step(sampler: Any) -> None:
    """Check step size and root of a sampler that is being made."""
    object.__setattr__(
        sampler, "size", _check.positive(_check.number(sampler.size, "size"), "size")
    )
    root = sampler.root
    if root is None:
        return
    if _check.floating(root, "root").ndim == 1:
        _check.positive(root, "root")
    else:
        _check.square(root, "root")


def squared(z: Array) -> float:
    """The squared length of a vector, on the host."""
    return float(z @ z)
