"""Right calls of matched moments, fantasies and PILCO."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpnotes import GP, RBF, condition, testing
from gpnotes.decide import fantasy, moments, pilco
from gpnotes.decide.pilco import cartpole, pendulum

from ..answers import Call, call
from ..kinds import (
    Argument,
    covariance,
    entries,
    flag,
    function,
    matrix,
    positive,
    stream,
    thing,
    vector,
    whole,
)  # fmt: skip

_DRAW = np.random.default_rng(3)
_D = 3
_STATES, _ACTIONS = _DRAW.standard_normal((8, _D)), _DRAW.standard_normal((8, 1))
_NEXTS = _STATES + 0.1 * _DRAW.standard_normal((8, _D))
_INPUTS = np.hstack([_STATES, _ACTIONS])
_KERNEL = RBF(1.0, np.asarray([1.0, 2.0, 1.5, 1.2]))
_MODELS = tuple(condition(GP(_KERNEL, 0.1), _INPUTS, _NEXTS[:, j]) for j in range(_D))
_PREDICTOR = moments.predictor(_MODELS)
_DYNAMICS = pilco.Dynamics(_MODELS)
_S = 0.1 * np.eye(_D) + 0.02
_S4 = 0.1 * np.eye(4) + 0.02
_M, _M4 = np.asarray([0.1, 0.2, 0.3]), np.asarray([0.1, 0.2, 0.3, 0.4])
_NORMAL = {"m": vector(_M, size=True), "S": covariance(_S)}
_WIDE = {"m": vector(_M4, size=True), "S": covariance(_S4)}
_POLICY = pilco.LinearPolicy(_DRAW.standard_normal((1, _D)), np.zeros(1))
_BUMPS = pilco.RBFPolicy(
    _DRAW.standard_normal((5, _D)), _DRAW.standard_normal((5, 1)), np.ones(_D), (0, 1, 2), 3
)
_COST = pilco.SaturatingCost(np.zeros(_D), np.eye(_D))
_EFFORT = pilco.StepCost(action=pilco.QuadraticCost(np.zeros(1), np.eye(1)))
_TASK = pilco.Task(_COST + 0.1 * _EFFORT, _M, _S, 3)
_DATA = pilco.Transitions(_STATES, _ACTIONS, _NEXTS)
_CANDIDATES = _DRAW.standard_normal((5, 4))
_FANTASY = {**_WIDE, "candidates": matrix(_CANDIDATES, columns=True)}
_ONE, _MANY = thing(_MODELS[0], _KERNEL), thing(_MODELS, _KERNEL).but("a list", empty=())
_CENTRES, _WEIGHTS = _DRAW.standard_normal((5, _D)), _DRAW.standard_normal((5, 2))
_ELL = vector(np.ones(_D), size=True).but(zero=np.zeros(_D), negative=-np.ones(_D))
_POLICIES = thing(_POLICY, _COST, _DYNAMICS)
_ONE_COST = thing(_COST, _POLICY, _EFFORT)
_COSTS = Argument((_COST, _COST), {
    "None": None, "a cost": _COST, "none": (), "one of a step": (_COST, _EFFORT),
    "policies": (_POLICY, _POLICY), "one too few": (_COST,), "classes": (pilco.SumCost,) * 2,
})  # fmt: skip
_WORLD = {"dynamics": thing(_DYNAMICS, _PREDICTOR), "policy": _POLICIES, **_NORMAL}
_SHARES = vector(np.ones(_D), size=True).but("None", negative=-np.ones(_D))


def _swing(_: Any) -> np.ndarray:
    return np.zeros(1)


def _act(_: Any) -> pilco.Transitions:
    return _DATA


def _gp(X: np.ndarray, y: np.ndarray) -> GP:
    return GP(_KERNEL, 0.1)


def _model(data: Any, angles: Any) -> pilco.Dynamics:
    return _DYNAMICS


def _first_trial(**settings: Any) -> pilco.Trial:
    """What is wrong may show only when a function is called."""
    settings = {"max_steps": 1, "max_retries": 0, **settings}
    return next(pilco.learn(_TASK, _act, lambda: _POLICY, **settings))


_FITTED = function(_gp)
_MODELLED = function(_model).but(**{
    "that gives nothing": lambda data, angles: None,
    "that gives a predictor": lambda data, angles: _PREDICTOR,
    "that gives another state's": lambda data, angles: pilco.Dynamics(_MODELS[:2]),
})  # fmt: skip
_TOLD = function(lambda trial: None).but(
    "None", **{"that gives a word": lambda trial: "stop", "that gives a number": lambda trial: 1}
)
_GIVEN = thing(_DATA, _DYNAMICS, pilco.Transitions(_STATES, _ACTIONS, _NEXTS[1:])).but(
    **{
        "of another dimension": pilco.Transitions(_STATES[:, :2], _ACTIONS, _NEXTS[:, :2]),
        "of other actions": pilco.Transitions(_STATES, np.hstack([_ACTIONS] * 2), _NEXTS),
        "NaN": pilco.Transitions(np.nan * _STATES, _ACTIONS, _NEXTS),
        "none": pilco.Transitions(_STATES[:0], _ACTIONS[:0], _NEXTS[:0]),
    }
)
_TRIAL = pilco.Trial(1, _DATA, _DYNAMICS, pilco.Improvement(_POLICY, 1.0, 1, 1.0, 0, ""), _DATA, ())


def _of_policy(name: str, policy: Any) -> tuple[Call, ...]:
    return (
        call(f"{name}.moments", policy.moments, **_NORMAL),
        call(f"{name}.moments_and_pullback", policy.moments_and_pullback, **_NORMAL),
    )


CALLS = (
    call("predictor", moments.predictor, posteriors=_MANY.but(
         posterior=_MODELS[0], strings=("a", "b"))),
    *(call(function.__name__, function, model=thing(_PREDICTOR, _DYNAMICS, _MODELS[0]), **_WIDE,
           noise=flag()) for function in (moments.predict, moments.predict_and_pullback)),
    *(call(function.__name__, function, kernel=thing(_KERNEL, _MODELS[0]),
           X=matrix(_INPUTS, columns=True), **_WIDE)
      for function in (moments.kernel_mean, moments.kernel_mean_and_pullback)),
    *(call(function.__name__, function, kernel_a=thing(_KERNEL, _MODELS[0]),
           kernel_b=thing(_KERNEL, _MODELS[0]), X=matrix(_INPUTS, columns=True),
           Z=matrix(_INPUTS[:3], columns=True), **_WIDE)
      for function in (moments.kernel_covariance, moments.kernel_covariance_and_pullback,
                       moments.kernel_outer)),
    *(call(function.__name__, function, centres=matrix(_CENTRES, rows=True, columns=True),
           weights=matrix(_WEIGHTS, rows=True), lengthscale=_ELL, **_NORMAL)
      for function in (moments.network_moments, moments.network_moments_and_pullback)),
    *(call(f"fantasy.{name}", getattr(fantasy, name), posteriors=_MANY, **_FANTASY)
      for name in ("variance_reduction", "variance_reduction_and_pullback")),
    call("fantasy.best", fantasy.best, posteriors=_MANY, **_FANTASY, weights=_SHARES),
    call("fantasy.greedy", fantasy.greedy, posteriors=_MANY, **_FANTASY,
         size=whole(2).but(**{"more than there are": 9}), weights=_SHARES),
    call("fantasy.batch_variance_reduction", fantasy.batch_variance_reduction,
         posteriors=_MANY, **_WIDE, batch=matrix(_CANDIDATES[:2], columns=True)),
    call("fantasy.refine", fantasy.refine, posteriors=_MANY, **_WIDE,
         start=vector(_CANDIDATES[0], size=True).but("a set", "a dict"), bounds=Argument(
             [(-3.0, 3.0)] * 4, {"too few": [(-3.0, 3.0)], "reversed": [(3.0, -3.0)] * 4,
                                 "empty": [(1.0, 1.0)] * 4, "nothing": [],
                                 "None": None, "words": ["ab"] * 4, "NaN": [(np.nan, 1.0)] * 4}),
         weights=_SHARES, max_steps=whole(3)),
    call("fantasy.expected_covariance", fantasy.expected_covariance, posteriors=_MANY, **_FANTASY,
         noise=flag()),
    *(call(f"fantasy.{name}", getattr(fantasy, name), posterior=_ONE, **_FANTASY, noise=flag())
      for name in ("expected_variance_parts", "expected_variance")),
    call("fantasy.mean_covariance", fantasy.mean_covariance, posterior=_ONE, **_FANTASY),
    call("Dynamics", pilco.Dynamics, posteriors=_MANY.but(strings=("a", "b")),
         angles=entries((), 3).but("a mask")),
    call("Dynamics.inputs", _DYNAMICS.inputs, states=matrix(_STATES, rows=True, columns=True),
         actions=matrix(_ACTIONS, rows=True)),
    call("LinearPolicy", pilco.LinearPolicy, weights=matrix(np.ones((2, 3)), rows=True),
         bias=vector(np.ones(2), size=True)),
    call("RBFPolicy", pilco.RBFPolicy, centres=matrix(_CENTRES, rows=True, columns=True),
         weights=matrix(_WEIGHTS, rows=True), lengthscale=_ELL, inputs=entries((0, 1, 2), 3),
         size=whole(3)),
    call("SquashedPolicy", pilco.SquashedPolicy, inner=_POLICIES,
         max_action=positive(2.0).but("a vector")),
    *_of_policy("LinearPolicy", _POLICY), *_of_policy("RBFPolicy", _BUMPS),
    *_of_policy("SquashedPolicy", pilco.SquashedPolicy(_POLICY, 2.0)),
    call("SaturatingCost", pilco.SaturatingCost, target=vector(np.zeros(3), size=True),
         weight=covariance(np.eye(3))),
    call("SaturatingCost.expected", _COST.expected, **_NORMAL),
    call("check_policy", testing.check_policy, policy=thing(_POLICY, _COST), **_NORMAL),
    call("check_cost", testing.check_cost, cost=thing(_COST, _POLICY), **_NORMAL),
    call("SaturatingCost.expected_and_pullback", _COST.expected_and_pullback, **_NORMAL),
    call("QuadraticCost", pilco.QuadraticCost, target=vector(np.zeros(3), size=True),
         weight=covariance(np.eye(3))),
    call("QuadraticCost.expected", pilco.QuadraticCost(np.zeros(3), np.eye(3)).expected, **_NORMAL),
    call("SumCost", pilco.SumCost, costs=_COSTS, weights=Argument((1.0, 2.0), {
         "None": None, "a number": 1.0, "too many": (1.0, 2.0, 3.0), "none": (),
         "words": ("a", "b"), "truths": (True, False), "NaN": (1.0, np.nan)})),
    call("SumCost.expected_and_pullback", (_COST + _COST).expected_and_pullback, **_NORMAL),
    call("PartialCost", pilco.PartialCost, cost=_ONE_COST, entries=entries(
         (0, 1, 2), 3, empty=False).but("beyond")),
    call("PartialCost.expected_and_pullback",
         pilco.PartialCost(_COST, (2, 1, 0)).expected_and_pullback, **_NORMAL),
    call("StepCost", pilco.StepCost, state=_ONE_COST.but("None"), action=_ONE_COST.but("None")),
    call("Task.observed_costs", _TASK.observed_costs, data=thing(_DATA, _DYNAMICS)),
    call("Task", pilco.Task, cost=thing(_COST, _POLICY), mean=vector(_M, size=True),
         covariance=covariance(_S), horizon=whole(3), angles=entries((), 3).but("a mask")),
    *(call(function.__name__, function, **_NORMAL, angles=entries((1,), 3).but("a mask"))
      for function in (pilco.augment, pilco.augment_and_pullback)),
    *(call(function.__name__, function, **_NORMAL) for function in (
        pilco.sine_moments, pilco.sine_moments_and_pullback)),
    *(call(function.__name__, function, **_WORLD) for function in (
        pilco.step, pilco.step_and_pullback)),
    *(call(function.__name__, function, **_WORLD, cost=thing(_COST, _POLICY), horizon=whole(2))
      for function in (pilco.rollout, pilco.rollout_and_pullback)),
    call("fantasy.look_ahead", fantasy.look_ahead, **_WORLD, cost=thing(_COST, _POLICY),
         horizon=whole(1), x_hat=vector(_CANDIDATES[0], size=True), nodes=whole(1)),
    call("sample_trajectories", pilco.sample_trajectories, dynamics=_WORLD["dynamics"],
         policy=_POLICIES, starts=matrix(_STATES[:2], columns=True), horizon=whole(2),
         rng=stream()),
    call("fit_dynamics", pilco.fit_dynamics, data=thing(_DATA, _DYNAMICS),
         angles=entries((), 3).but("a mask"), max_steps=whole(2)),
    call("fit_dynamics", pilco.fit_dynamics, data=thing(_DATA, _DYNAMICS),
         fit=_FITTED.but("None", **{"that gives a float": lambda X, y: 1.0})),
    call("improve_policy", pilco.improve_policy, policy=_POLICIES, dynamics=_WORLD["dynamics"],
         task=thing(_TASK, _COST), max_steps=whole(1)),
    call("pilco.learn", pilco.learn, task=thing(_TASK, _COST), act=function(_act),
         propose=function(lambda: _POLICY), num_trials=whole(1), num_proposals=whole(1),
         max_steps=whole(1), max_retries=whole(1, 0)),
    call("pilco.learn", _first_trial, num_trials=whole(1), fit=_MODELLED, data=_GIVEN.but("None"),
         policy=_POLICIES.but("None"), callback=_TOLD),
    call("pilco.learn", _first_trial, num_trials=whole(1), fit=function(_model),
         after=thing(_TRIAL, _DATA).but("None")),
    call("initial_policy", pilco.initial_policy, task=thing(_TASK, _COST),
         max_action=positive(2.0).but("a vector"), rng=stream(),
         scale=positive(1.0).but("a vector"), num_basis_functions=whole(3)),
    call("pendulum.simulate", pendulum.simulate, act=function(_swing),
         start=vector(np.zeros(2), size=True).but(
         "a list", "integers", "half precision", "another namespace", "another precision"),
         horizon=whole(2),
         like=thing(np.ones(2), optional=True).but("an array")),
    call("pendulum.swing_up", pendulum.swing_up, like=thing(np.ones(2)).but("an array"),
         horizon=whole(2), width=positive(0.8)),
    call("upright", pendulum.upright, states=matrix(_STATES[:, :2], columns=True, mates=False),
         last=whole(2), within=positive(0.3)),
    call("cartpole.simulate", cartpole.simulate, act=function(_swing),
         start=vector(np.zeros(4), size=True).but(
         "a list", "integers", "half precision", "another namespace", "another precision"),
         horizon=whole(2),
         like=thing(np.ones(2), optional=True).but("an array")),
    call("cartpole.swing_up", cartpole.swing_up, like=thing(np.ones(2)).but("an array"),
         horizon=whole(2), width=positive(0.25)),
    call("balanced", cartpole.balanced, states=matrix(_INPUTS, columns=True, mates=False),
         last=whole(2), within=positive(0.2)),
)  # fmt: skip
