"""Rollouts: a Gaussian carried through policy and dynamics, and derivatives carried back.

Each map on the way, sines, policy and GPs, has exact moments when its input is Gaussian; the
output is replaced by the Gaussian with these moments. And each step averages over the dynamics
anew. These are the two approximations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ...ground import check as _check
from ...ground.params import cotangent, leaves, replaced
from ...ground.random import RNG, stream_of
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import (
    Matrix,
    Namespace,
    Stack,
    Vector,
    array_namespace,
    as_array,
    symmetric_part,
)
from ...model.contracts import Cost, Policy
from ..moments import Moments, Predictor
from ..moments.prediction import _predict_and_pullback
from . import rollout_checks
from .composed import StepCost, by_step, expectation
from .dynamics import Dynamics
from .policies import with_hooks
from .trigonometric_moments import (
    AngleMap,
    Augmented,
    angle_map,
    augment_by,
    augment_states,
    joint,
)

__all__ = [
    "Rollout",
    "rollout",
    "rollout_and_pullback",
    "sample_trajectories",
    "step",
    "step_and_pullback",
]


class Rollout(NamedTuple):
    """Moments of the states of T steps, and the expected cost of each.

    Parameters
    ----------
    mean : Matrix, shape (T + 1, D)
        Means, from the start.
    covariance : Stack, shape (T + 1, D, D)
        Covariances, from the start.
    costs : Vector, shape (T,)
        The expected cost after each step.
    """

    mean: Matrix
    covariance: Stack
    costs: Vector

    def __repr__(self) -> str:
        return summary(self)


class _Gaussian(NamedTuple):
    mean: Vector
    covariance: Matrix


def step(dynamics: Dynamics, policy: Policy, m: Vector, S: Matrix) -> tuple[Vector, Matrix]:
    """Return mean and covariance of the next state for ``x ~ N(m, S)``.

    The noise of the GPs is part of the next state.

    Parameters
    ----------
    dynamics : Dynamics
        The model of a step.
    policy : Policy
        The policy that chooses the action.
    m : Vector, shape (D,)
        Mean of the state.
    S : Matrix, shape (D, D)
        Its covariance.

    Returns
    -------
    mean : Vector, shape (D,)
        Mean of the next state.
    covariance : Matrix, shape (D, D)
        Its covariance.

    Notes
    -----
    [eq-pc-joint], [eq-pc-next-mean], [eq-pc-next-covariance]. O(n² D² K) for n data.

    Source: Deisenroth & Rasmussen (2011), section 2.2.
    """
    x_next = step_and_pullback(dynamics, policy, m, S)[0]
    return x_next.mean, x_next.covariance


def step_and_pullback(
    dynamics: Dynamics, policy: Policy, m: Vector, S: Matrix
) -> tuple[_Gaussian, Callable[[_Gaussian], tuple[Policy, Vector, Matrix]]]:
    """Return `step` and its pullback to the policy, m and S.

    Arguments and errors are those of `step`.

    Returns
    -------
    x_next : named tuple
        Mean and covariance of the next state.
    pullback : Callable
        It takes derivatives by both to ``(policy_bar, m_bar, S_bar)``.

    Notes
    -----
    [eq-pc-step-gradient].

    Source: Deisenroth & Rasmussen (2011), section 2.3.
    """
    S = rollout_checks.world(dynamics, policy, m, S)
    system = _system(dynamics, policy, m)
    z, pull_z = augment_by(system.angles, m, S)
    x_next, _, pull_step = _forward_step(system, _Gaussian(m, S), z)

    def pull(bar: _Gaussian) -> tuple[Policy, Vector, Matrix]:
        """The derivatives by policy, m and S."""
        policy_bar, state_bar = pull_step(_check.cotangents(bar, "bar", x_next))
        return policy_bar, *_through_sines(pull_z, state_bar.z, state_bar.x)

    return x_next, pull


PullAction: TypeAlias = Callable[[Moments], tuple[Policy, Vector, Matrix]]
PullState: TypeAlias = Callable[[Augmented], tuple[Vector, Matrix]]
PullCost: TypeAlias = Callable[[float], "tuple[Augmented, _Gaussian | None]"]
PullStep: TypeAlias = Callable[..., "tuple[Policy, _Bars]"]  # of _Gaussian, or two


class _Bars(NamedTuple):
    """The derivatives by a state: through z, which has its sines, and directly by x."""

    z: Augmented
    x: _Gaussian


class _System(NamedTuple):
    """The common part of all steps: namespace, GPs, the policy's moments, the sines of a state."""

    xp: Namespace
    model: Predictor
    act: Callable[[Vector, Matrix], tuple[Moments, PullAction]]
    angles: AngleMap


def _system(dynamics: Dynamics, policy: Policy, m: Vector) -> _System:
    angles = angle_map(dynamics.angles, m.shape[0], m)
    act = with_hooks(policy)._moments_and_pullback
    return _System(angles.xp, dynamics.predictor, act, angles)


def _forward_step(
    system: _System, x: _Gaussian, z: Augmented
) -> tuple[_Gaussian, _Gaussian, PullStep]:
    """The state after a step from x, whose sines are known, the action, and their pullback."""
    xp = system.xp
    D = x.mean.shape[0]
    K = z.mean.shape[0]
    action, pull_action = system.act(z.mean, z.covariance)
    w_mean = xp.concat([z.mean, action.mean])
    w_covariance = joint(xp, z.covariance, action.cross, action.covariance)
    change, pull_change = _predict_and_pullback(system.model, w_mean, w_covariance, noise=True)
    cross = change.cross[:D, :]  # of the state and its change
    covariance = x.covariance + change.covariance + cross + cross.T
    x_next = _Gaussian(x.mean + change.mean, symmetric_part(covariance))

    def pull(bar: _Gaussian, action_bar: _Gaussian | None = None) -> tuple[Policy, _Bars]:
        """The derivatives by policy and state; `action_bar` are those by the action alone."""
        cov_bar = symmetric_part(bar.covariance)
        zeros = xp.zeros_like(change.cross[D:, :])
        change_bar = Moments(bar.mean, cov_bar, xp.concat([2.0 * cov_bar, zeros]))
        w_bar, W_bar = pull_change(change_bar)
        u_bar, U_bar = w_bar[K:], W_bar[K:, K:]
        if action_bar is not None:
            u_bar, U_bar = u_bar + action_bar.mean, U_bar + action_bar.covariance
        policy_bar, z_bar, Z_bar = pull_action(Moments(u_bar, U_bar, 2.0 * W_bar[:K, K:]))
        through_z = Augmented(z_bar + w_bar[:K], Z_bar + W_bar[:K, :K])
        return policy_bar, _Bars(through_z, _Gaussian(bar.mean, cov_bar))

    return x_next, _Gaussian(action.mean, action.covariance), pull


def rollout(
    dynamics: Dynamics, policy: Policy, cost: Cost | StepCost, m: Vector, S: Matrix, horizon: int
) -> Rollout:
    """Return the moments of the states of several steps, and the expected cost of each.

    Parameters
    ----------
    dynamics, S
        As in `step`.
    policy : Policy
        The policy that chooses the actions.
    cost : Cost or StepCost
        A cost of the augmented state ``(x, sin x_a, cos x_a)``, (K,), that a step leads to, or a
        `StepCost`, to which the action counts too; the start is not counted.
    m : Vector, shape (D,)
        Mean of the state at the start.
    horizon : int
        The number T of steps.

    Returns
    -------
    Rollout
        Moments from the start on, and the costs after each step.

    Notes
    -----
    [eq-pc-total].

    Source: Deisenroth & Rasmussen (2011), section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> from gpnotes.decide.pilco import LinearPolicy, QuadraticCost
    >>> inputs = np.asarray([[0.0, -1.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    >>> gp = GP(RBF(0.1, 2.0), 1e-4)
    >>> dynamics = Dynamics((condition(gp, inputs, 0.5 * inputs[:, 1]),))
    >>> policy = LinearPolicy(-np.ones((1, 1)), np.zeros(1))
    >>> square = QuadraticCost(np.zeros(1), np.eye(1))
    >>> cost = square + 0.1 * StepCost(action=square)
    >>> rollout(dynamics, policy, cost, np.ones(1), np.zeros((1, 1)), 3).costs.round(3)
    array([0.419, 0.108, 0.024])
    """
    return rollout_and_pullback(dynamics, policy, cost, m, S, horizon)[0]


def rollout_and_pullback(
    dynamics: Dynamics, policy: Policy, cost: Cost | StepCost, m: Vector, S: Matrix, horizon: int
) -> tuple[Rollout, Callable[[Vector], tuple[Policy, Vector, Matrix]]]:
    """Return `rollout` and its pullback to the policy, m and S.

    Arguments and errors are those of `rollout`.

    Returns
    -------
    rollout : Rollout
        The result of `rollout`.
    pullback : Callable
        It takes derivatives by the costs (T,) to ``(policy_bar, m_bar, S_bar)``; ``policy_bar`` is
        a policy that holds derivatives.

    Notes
    -----
    [eq-pc-chain]. The reverse pass keeps the values of every step: O(T n² D) numbers
    at most.

    Source: Deisenroth & Rasmussen (2011), section 2.3.
    """
    horizon = _check.whole(horizon, "horizon", 1)
    x = _Gaussian(m, rollout_checks.world(dynamics, policy, m, S))
    system = _system(dynamics, policy, m)
    z, pull_start = augment_by(system.angles, *x)
    rollout_checks.cost(cost, z, policy)
    result, pullbacks = _forward_pass(system, x, z, by_step(cost), horizon)

    @threads_for(lambda _: _step_flops(system))
    def pull(bar: Vector) -> tuple[Policy, Vector, Matrix]:
        """The derivatives by policy, m and S."""
        costs_bar = _check.cotangent(bar, "costs_bar", result.costs)
        return _backward_pass(pull_start, pullbacks, costs_bar)

    return result, pull


def _step_flops(system: _System, *_: object) -> int:
    """Multiplications of a step, about."""
    return system.model.X.shape[0] ** 3


@threads_for(_step_flops)
def _forward_pass(
    system: _System, x: _Gaussian, z: Augmented, step_cost: StepCost, horizon: int
) -> tuple[Rollout, list[tuple[PullStep, PullState, PullCost]]]:
    states, costs, pullbacks = [x], [], []
    for t in range(horizon):
        x, action, pull_step = _forward_step(system, x, z)
        _require_finite(system.xp, x, t + 1)
        z, pull_z = augment_by(system.angles, *x)
        value, pull_cost = _expected_cost(step_cost, z, action)
        states.append(x)
        costs.append(_check.number(value, f"the cost expected of step {t + 1}"))
        pullbacks.append((pull_step, pull_z, pull_cost))
    return _stack(states, costs), pullbacks


def _require_finite(xp: Namespace, x: _Gaussian, step: int) -> None:
    """Raise a `ValueError` for a state that is not finite."""
    if not math.isfinite(float(xp.sum(x.mean)) + float(xp.sum(x.covariance))):
        raise _check.NoValueError(
            f"the state must be finite; mean or covariance after step {step} is not"
        )


def sample_trajectories(
    dynamics: Dynamics, policy: Policy, starts: Matrix, horizon: int, *, rng: RNG
) -> Stack:
    """Draw the paths of particles, without moment matching.

    In each step each particle draws its own difference from the GPs' prediction at its own state
    and action, noise included, independently of the steps before, as a rollout does. The
    difference between the two is the error of a rollout's Gaussians.

    Parameters
    ----------
    dynamics : Dynamics
        The model of a step.
    policy : Policy
        The policy that chooses the actions.
    starts : Matrix, shape (p, D)
        Where p particles begin, at least one.
    horizon : int
        The number T of steps.

    Returns
    -------
    Stack, shape (T + 1, p, D)
        The states.

    Raises
    ------
    ValueError
        If shapes do not fit, there are no starts, an entry is not finite, or `horizon` is less than
        one.
    """
    stream = stream_of(rng)
    paths = [rollout_checks.particles(dynamics, starts)]
    rollout_checks.actions(dynamics, policy, starts[0, :])
    xp = array_namespace(starts)
    for _ in range(_check.whole(horizon, "horizon", 1)):
        x = paths[-1]
        z = augment_states(x, dynamics.angles)
        w = xp.concat([z, xp.stack([policy(z[i, :]) for i in range(x.shape[0])])], axis=1)
        predictions = [gp.predict(w, noise=True) for gp in dynamics.posteriors]
        mean, variance = (xp.stack(part, axis=1) for part in zip(*predictions, strict=True))
        paths.append(x + mean + xp.sqrt(variance) * stream.normal(tuple(x.shape), like=x))
    return xp.stack(paths)


def _expected_cost(cost: StepCost, z: Augmented, action: _Gaussian) -> tuple[float, PullCost]:
    """The expected cost of a step to the state z by an action, and the way back to both."""
    if cost.action is None:
        assert cost.state is not None, "one of them is the cost"
        state_value, pull_state = expectation(cost.state)(*z)
        return state_value, lambda bar: (Augmented(*pull_state(bar)), None)
    action_value, pull_action = expectation(cost.action)(*action)
    if cost.state is None:
        zero_bar = Augmented(*(array_namespace(part).zeros_like(part) for part in z))
        return action_value, lambda bar: (zero_bar, _Gaussian(*pull_action(bar)))
    state_value, pull_state = expectation(cost.state)(*z)
    return state_value + action_value, lambda bar: (
        Augmented(*pull_state(bar)),
        _Gaussian(*pull_action(bar)),
    )


def _stack(states: list[_Gaussian], costs: list[float]) -> Rollout:
    means, covariances = zip(*states, strict=True)
    xp = array_namespace(means[0])
    return Rollout(xp.stack(means), xp.stack(covariances), as_array(costs, means[0]))


def _backward_pass(
    pull_start: PullState, pullbacks: list[tuple[PullStep, PullState, PullCost]], costs_bar: Vector
) -> tuple[Policy, Vector, Matrix]:
    """The derivatives by the policy, and by the first mean and covariance.

    A state leads to its cost and to the next step; the derivatives of both by its sines go through
    them together.
    """
    policy_bars: list[Policy] = []
    state_bar: _Bars | None = None  # from the costs of later steps, by the state after this one
    for t in range(len(pullbacks) - 1, -1, -1):
        pull_step, pull_z, pull_cost = pullbacks[t]
        z_bar, action_bar = pull_cost(float(costs_bar[t]))
        if state_bar is None:
            x_bar = _Gaussian(*pull_z(z_bar))
        else:
            mean, covariance = state_bar.z
            z_bar = Augmented(z_bar.mean + mean, z_bar.covariance + covariance)
            x_bar = _through_sines(pull_z, z_bar, state_bar.x)
        policy_bar, state_bar = pull_step(x_bar, action_bar)
        policy_bars.append(policy_bar)
    assert state_bar is not None, "a rollout has a step"
    return _sum(policy_bars), *_through_sines(pull_start, state_bar.z, state_bar.x)


def _through_sines(pull_z: PullState, z_bar: Augmented, x_bar: _Gaussian) -> _Gaussian:
    """The derivatives by mean and covariance of a state, those through its sines included."""
    mean, covariance = pull_z(z_bar)
    return _Gaussian(x_bar.mean + mean, x_bar.covariance + covariance)


def _sum(bars: list[Policy]) -> Policy:
    """Objects that hold derivatives, added entry by entry."""
    total = {
        leaf.path: sum((_entry(bar, leaf.path) for bar in bars[1:]), start=leaf.value)
        for leaf in leaves(bars[0])
    }
    return replaced(bars[0], total, make=cotangent)


def _entry(bar: object, path: str) -> Any:
    """The entry at the path of a leaf, through dataclasses and tuples."""
    for name in path.split("."):
        bar = bar[int(name)] if isinstance(bar, tuple) else getattr(bar, name)
    return bar
