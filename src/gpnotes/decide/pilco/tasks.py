"""Tasks to be learned, and a policy to begin with."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...ground import check as _check
from ...ground import memory
from ...ground.random import RNG, stream_of
from ...ground.showing import summary
from ...ground.xp import Matrix, Numbers, Vector, array_namespace, as_array, device, keep_copies
from ...model.contracts import Cost
from . import rollout_checks
from .composed import StepCost, by_step
from .dynamics import Transitions, validate_transitions
from .policies import RBFPolicy, SquashedPolicy
from .trigonometric_moments import _augment_and_pullback, augment_states

__all__ = ["Task", "initial_policy"]


@dataclass(frozen=True, eq=False)
class Task:
    """A task to be learned: the first state, the number of steps, and their costs.

    Parameters
    ----------
    cost : Cost or StepCost
        A cost of the augmented state ``(x, sin x_a, cos x_a)`` that a step leads to, or a
        `StepCost`, to which the action counts too.
    mean : Vector, shape (D,)
        Mean of the state ``x ~ N(mean, covariance)`` at the start.
    covariance : Matrix, shape (D, D)
        Its covariance.
    horizon : int
        The number of steps, T.
    angles : tuple of int, default ()
        The entries of x that are angles.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.decide.pilco import QuadraticCost
    >>> cost = QuadraticCost(np.zeros(2), np.eye(2))
    >>> task = Task(cost, np.asarray([1.0, 0.0]), 0.01 * np.eye(2), horizon=12)
    >>> moved = np.asarray([[1.0, 0.0]]), np.asarray([[-0.5]]), np.asarray([[1.0, -1.0]])
    >>> task.observed_costs(Transitions(*moved))
    array([2.])
    """

    cost: Cost | StepCost
    mean: Vector
    covariance: Matrix
    horizon: int
    angles: tuple[int, ...] = ()

    __repr__ = summary

    def __post_init__(self) -> None:
        _check.normal(self.mean, self.covariance, names=("mean", "covariance"))
        angles = _check.entries(self.angles, "angles", self.mean.shape[0], "mean")
        rollout_checks.cost(self.cost, _augment_and_pullback(self.mean, self.covariance, angles)[0])
        _check.whole(self.horizon, "horizon", 1)
        keep_copies(self, "mean", "covariance")

    def observed_costs(self, data: Transitions) -> Vector:
        """Return the cost of each observed step, to compare with the expected costs.

        Parameters
        ----------
        data : Transitions
            At least one observed step, n in all.
        """
        _, actions, next_states = validate_transitions(data, like=self.mean)
        z = augment_states(next_states, self.angles)
        cost = by_step(self.cost)
        costs = [cost(z[i, :], actions[i, :]) for i in range(z.shape[0])]
        return as_array(costs, self.mean)


def initial_policy(
    task: Task,
    max_action: Numbers,
    *,
    scale: Numbers = 1.0,
    num_basis_functions: int = 30,
    rng: RNG,
) -> SquashedPolicy:
    """Make a policy to begin with, for any task: a bounded network with random centres and weights.

    It looks at the entries of the state that are not angles, and at the sines and cosines of those
    that are.

    Parameters
    ----------
    max_action : float or Vector, shape (U,)
        The bound u_max, a float for one action or a vector for U.
    scale : float or Vector, default 1.0
        The lengthscale of the entries that are not angles, one for all or one for each; that of
        sines and cosines is 1.
    num_basis_functions : int, default 30
        The number of bumps of the network.
    rng : Stream, Generator or int
        Source of the centres and weights.

    Returns
    -------
    SquashedPolicy
        An `RBFPolicy` bounded by `max_action`. Centres lie all round the circle of each angle, and
        elsewhere as N(mean of the task, scale²). Weights are standard normal.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import stream
    >>> from gpnotes.decide.pilco import SaturatingCost
    >>> cost = SaturatingCost(np.zeros(4), np.eye(4))
    >>> task = Task(cost, np.zeros(2), np.eye(2), 10, angles=(0,))
    >>> policy = initial_policy(task, 2.0, scale=4.0, num_basis_functions=5, rng=stream(0))
    >>> policy.inner.centres.shape, policy(np.ones(4)).shape
    ((5, 3), (1,))
    """
    mean = _check.instance(task, "task", Task).mean
    stream = stream_of(rng)
    k = memory.count(num_basis_functions, "num_basis_functions", each=mean.shape[0], like=mean)
    D = mean.shape[0]
    A = len(task.angles)
    non_angles = tuple(d for d in range(D) if d not in task.angles)
    num_actions = 1
    if not isinstance(max_action, int | float):
        num_actions = _check.vector(max_action, "max_action").shape[0]
    xp = array_namespace(mean)
    scales = _scales(scale, len(non_angles), mean)
    circle_angles = 2.0 * math.pi * stream.uniform((k, A), like=mean)
    offsets = stream.normal((k, len(non_angles)), like=mean) * scales
    offsets = offsets + xp.stack([mean[d] for d in non_angles]) if non_angles else offsets
    centres = xp.concat([offsets, xp.sin(circle_angles), xp.cos(circle_angles)], axis=1)
    weights = stream.normal((k, num_actions), like=mean)
    lengthscales = xp.concat([scales, xp.ones(2 * A, dtype=mean.dtype, device=device(mean))])
    inputs = (*non_angles, *range(D, D + 2 * A))
    return SquashedPolicy(RBFPolicy(centres, weights, lengthscales, inputs, D + 2 * A), max_action)


def _scales(scale: Numbers, size: int, like: Vector) -> Vector:
    """One positive scale for each entry, (size,)."""
    _check.positive(scale, "scale")
    if isinstance(scale, int | float):
        return as_array([float(scale)] * size, like)
    return _check.alike(_check.vector(scale, "scale", size=size), "scale", like, "task.mean")
