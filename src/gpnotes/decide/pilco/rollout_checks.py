"""Checks that dynamics, a policy, a cost and a task fit each other."""

from __future__ import annotations

from ...ground import check as _check
from ...ground.xp import Matrix, Vector
from ...model.contracts import Cost, Policy, require
from .composed import StepCost, by_step
from .dynamics import Dynamics
from .trigonometric_moments import Augmented, augment_states


def world(dynamics: Dynamics, policy: Policy, m: Vector, S: Matrix) -> Matrix:
    """S made symmetric, if the dynamics and the policy fit a state x ~ N(m, S)."""
    require(policy, "policy", Policy)
    S = _check.normal(m, S)
    actions(dynamics, policy, m)
    return S


def actions(dynamics: Dynamics, policy: Policy, m: Vector) -> None:
    """Refuse a policy whose actions in the state m are not those of the dynamics."""
    model = _check.instance(dynamics, "dynamics", Dynamics).predictor
    if model.outputs != m.shape[0]:
        wanted = f"one posterior for each of the {m.shape[0]} entries of m"
        raise ValueError(f"dynamics must have {wanted}; got {model.outputs}")
    _check.entries(dynamics.angles, "angles", m.shape[0], "m")
    z = augment_states(m[None, :], dynamics.angles)[0, :]
    if isinstance(policy, type):
        raise TypeError(f"policy must be a function of a state; got the class {policy.__name__}")
    action = _check.vector(_check.function(policy, "policy")(z), "policy(z)")
    width = model.X.shape[1]
    if z.shape[0] + action.shape[0] != width:
        got = f"{z.shape[0]} of the state with its angles and {action.shape[0]} of the action"
        raise ValueError(
            f"the posteriors of dynamics have inputs of {width} entries; there are {got}"
        )
    _check.alike(action, "policy(z)", m, "z")


def cost(cost: Cost | StepCost, z: Augmented, policy: Policy | None = None) -> None:
    """Refuse a cost whose expectation in the state z, and of the policy's action there, fails.

    Without a policy the cost of an action is not tried, since the number of actions is unknown.
    """
    if not isinstance(cost, StepCost):
        require(cost, "cost", Cost)
    of_step = by_step(cost)
    if of_step.state is not None:
        _expectation(of_step.state, "cost", "a state with its sines and cosines", *z)
    if of_step.action is not None and policy is not None:
        action = policy.moments_and_pullback(*z)[0]
        _expectation(of_step.action, "cost.action", "an action", action.mean, action.covariance)


def _expectation(cost: Cost, name: str, of: str, m: Vector, S: Matrix) -> None:
    try:
        value, pull = cost.expected_and_pullback(m, S)
        bars = pull(1.0)
    except (TypeError, ValueError) as problem:
        kinds = (TypeError, _check.NoValueError, ValueError)
        kind = next(kind for kind in kinds if isinstance(problem, kind))
        raise kind(f"{name} must be one of {of}, {tuple(m.shape)}: {problem}") from problem
    _check.number(value, f"the expectation of {name}")
    if not isinstance(bars, tuple) or len(bars) != 2:
        raise TypeError(f"the pullback of {name} must return (m_bar, S_bar); got {bars!r}")
    for bar, like, argument in zip(bars, (m, S), ("m_bar", "S_bar"), strict=True):
        _check.cotangent(bar, f"{argument} of {name}", like)


def particles(dynamics: Dynamics, starts: Matrix) -> Matrix:
    """`starts` (p, D) if there is at least one, of the size of the dynamics' state."""
    _check.instance(dynamics, "dynamics", Dynamics)
    _check.matrix(starts, "starts", columns=len(dynamics.posteriors))
    if starts.shape[0] == 0:
        raise ValueError(f"starts must have at least one row; got {tuple(starts.shape)}")
    return _check.alike(starts, "starts", dynamics.predictor.X, "the data of dynamics")
