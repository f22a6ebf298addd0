"""Every door of control, moments, designs and weights, with each argument wrong in turn.

An error must be a `TypeError` or a `ValueError` that names the argument; nothing may pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gpnotes import GP, RBF, BayesianLinear, condition, design, linalg, moments, pilco, stream
from gpnotes.pilco import fantasy, pendulum

pytest.importorskip("gymnasium")

NO_ARRAY = [None, "3", True, 2.5, 1j, [1.0, 2.0], {}, object(), RBF, np.random.default_rng(0)]
NO_NUMBER = [
    None,
    "3",
    True,
    math.nan,
    math.inf,
    -math.inf,
    -1.0,
    1j,
    [1.0],
    {},
    RBF,
    np.asarray("x"),
]
NO_COUNT = [None, "3", True, 2.0, 2.5, math.nan, -1, 1j, [1], {}, RBF]
NO_FLAG = [None, "no", 0, 1.0, [], np.ones(1)]
NO_THING = [None, "3", True, 2.5, 3, {}, object(), RBF, np.random.default_rng(0)]
NO_ENTRIES = [None, 0, True, 1.5, [True, False], [0.0], ["0"], [-1], [99], [[0]], RBF]


def world() -> dict[str, Any]:
    """One of each thing that the doors ask for."""
    rng = np.random.default_rng(3)
    X, ones = rng.normal(size=(6, 2)), np.ones(2)
    gp = GP(RBF(1.0, ones), 0.1)
    states, actions = rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    inputs = rng.normal(size=(8, 5))
    two = [condition(GP(RBF(1.0, np.ones(5)), 0.1), inputs, rng.normal(size=8)) for _ in "ab"]
    cost = pilco.SaturatingCost(np.zeros(4), np.eye(4))
    m, S = np.asarray([0.1, 0.2]), np.asarray([[0.3, 0.1], [0.1, 0.2]])
    bumps = pilco.RBFPolicy(np.ones((3, 3)), np.ones((3, 1)), np.ones(3), (1, 2, 3), 4)
    return {
        "X": X, "gp": gp, "m": m, "S": S, "C": rng.normal(size=(4, 2)), "kernel": gp.kernel,
        "posterior": condition(gp, X, X[:, 0]), "cost": cost, "z": np.zeros(4), "Z": np.eye(4),
        "data": pilco.Transitions(states, actions, states + 0.1),
        "dynamics": pilco.Dynamics(tuple(two), (0,)), "policy": pilco.Squashed(bumps, 2.0),
        "task": pilco.Task(cost, m, S, 2, (0,)), "weights": BayesianLinear(np.eye(2), 0.3),
    }  # fmt: skip


def doors() -> Iterator[tuple[str, Callable, dict[str, Any], dict[str, list]]]:
    """A name, a function, what it takes, and what it does not."""
    w = world()
    m, S, X, C, z, Z = (w[name] for name in ("m", "S", "X", "C", "z", "Z"))
    state, wrong_state = {"m": m, "S": S}, {"m": NO_ARRAY, "S": NO_ARRAY}
    model = moments.predictor([w["posterior"]])
    yield "predict", moments.predict, {"model": model, **state, "noise": False}, {
        "model": NO_THING, **wrong_state, "noise": NO_FLAG,
    }  # fmt: skip
    yield "kernel_outer", moments.kernel_outer, {
        "kernel_a": w["kernel"], "kernel_b": w["kernel"], "X": C, "Z": C, **state,
    }, {
        "kernel_a": NO_THING, "kernel_b": NO_THING, "X": NO_ARRAY, "Z": NO_ARRAY, **wrong_state,
    }  # fmt: skip
    network = {"centres": C, "weights": np.ones((4, 1)), "lengthscale": np.ones(2), **state}
    yield "network", moments.network, network, dict.fromkeys(network, NO_ARRAY)
    yield "sines", pilco.sines, state, wrong_state
    yield "augment", pilco.augment, {**state, "angles": (0,)}, {**wrong_state, "angles": NO_ENTRIES}
    yield (
        "linear",
        pilco.LinearPolicy,
        {"weights": C, "bias": z},
        dict.fromkeys(("weights", "bias"), NO_ARRAY),
    )
    yield "bumps", pilco.RBFPolicy, {
        "centres": C, "weights": C, "lengthscale": m, "inputs": (0, 1), "size": 2,
    }, {
        "centres": NO_ARRAY, "weights": NO_ARRAY, "inputs": NO_ENTRIES, "size": NO_COUNT,
    }  # fmt: skip
    yield "squashed", pilco.Squashed, {"inner": w["policy"], "limit": 1.0}, {
        "inner": NO_THING, "limit": NO_NUMBER[:-1],
    }  # fmt: skip
    yield "cost", pilco.SaturatingCost, {"target": z, "weight": Z}, {
        "target": NO_ARRAY, "weight": NO_ARRAY,
    }  # fmt: skip
    yield "expected", w["cost"].expected, {"m": z, "S": Z}, wrong_state
    yield "task", pilco.Task, {
        "cost": w["cost"], "mean": m, "covariance": S, "steps": 2, "angles": (0,),
    }, {
        "cost": NO_THING, "mean": NO_ARRAY, "covariance": NO_ARRAY, "steps": [*NO_COUNT, 0],
        "angles": NO_ENTRIES,
    }  # fmt: skip
    yield "fit_dynamics", pilco.fit_dynamics, {"data": w["data"], "angles": (0,), "steps": 1}, {
        "data": [*NO_THING, tuple(w["data"])], "angles": NO_ENTRIES, "steps": [*NO_COUNT, 0],
    }  # fmt: skip
    yield "improve", pilco.improve, {
        "policy": w["policy"], "dynamics": w["dynamics"], "task": w["task"], "iterations": 1,
    }, {
        "policy": NO_THING, "dynamics": NO_THING, "task": NO_THING, "iterations": [*NO_COUNT, 0],
    }  # fmt: skip
    yield "learn", pilco.learn, {
        "task": w["task"], "act": print, "propose": print, "trials": 1, "fresh": 1,
        "iterations": 1, "again": 0,
    }, {
        "task": NO_THING, "act": NO_THING[:6], "propose": NO_THING[:6], "again": NO_COUNT,
        "trials": [*NO_COUNT, 0], "fresh": [*NO_COUNT, 0], "iterations": [*NO_COUNT, 0],
    }  # fmt: skip
    yield "parameters", pilco.parameters, {"policy": w["policy"]}, {"policy": NO_THING}
    step = {"dynamics": w["dynamics"], "policy": w["policy"], **state}
    wrong_step = {"dynamics": NO_THING, "policy": NO_THING, **wrong_state}
    yield "step", pilco.step, step, wrong_step
    yield "rollout", pilco.rollout, {**step, "cost": w["cost"], "steps": 1}, {
        **wrong_step, "cost": NO_THING, "steps": [*NO_COUNT, 0],
    }  # fmt: skip
    yield "sample_paths", pilco.sample_paths, {
        "dynamics": w["dynamics"], "policy": w["policy"], "starts": C, "steps": 1,
        "stream": stream(1),
    }, {
        "dynamics": NO_THING, "policy": NO_THING[:6], "starts": NO_ARRAY, "steps": [*NO_COUNT, 0],
        "stream": NO_THING,
    }  # fmt: skip
    yield "dynamics", pilco.Dynamics, {"posteriors": [w["posterior"]], "angles": (0,)}, {
        "posteriors": [*NO_THING, w["posterior"], [None]], "angles": NO_ENTRIES,
    }  # fmt: skip
    one = {"posterior": w["posterior"], **state, "candidates": C}
    many = {"posteriors": [w["posterior"]], **state, "candidates": C}
    wrong = {**wrong_state, "candidates": NO_ARRAY}
    yield "mean_covariance", fantasy.mean_covariance, one, {"posterior": NO_THING, **wrong}
    yield "reduction", fantasy.reduction, many, {"posteriors": NO_THING, **wrong}
    yield "expected_parts", fantasy.expected_parts, {**one, "noise": False}, {
        "posterior": NO_THING, **wrong, "noise": NO_FLAG,
    }  # fmt: skip
    yield "greedy fantasies", fantasy.greedy, {**many, "size": 2, "weights": np.ones(1)}, {
        "posteriors": NO_THING, **wrong, "size": [*NO_COUNT, 0, 5], "weights": NO_ARRAY[1:],
    }  # fmt: skip
    box = [(-1.0, 1.0), (-1.0, 1.0)]
    yield "refine", fantasy.refine, {
        "posteriors": [w["posterior"]], **state, "start": m, "bounds": box, "steps": 1,
    }, {
        "posteriors": NO_THING, **wrong_state, "start": NO_ARRAY, "steps": [*NO_COUNT, 0],
        "bounds": [
            None, "3", 2.5, [], [(0.0, 1.0)], [(1.0, 0.0)] * 2, [(1.0, 1.0)] * 2,
            [(0.0, math.nan)] * 2,
        ],
    }  # fmt: skip
    yield "swing_up", pendulum.swing_up, {"like": m, "steps": 1, "width": 0.8}, {
        "like": NO_ARRAY, "steps": [*NO_COUNT, 0], "width": [*NO_NUMBER, 0.0],
    }  # fmt: skip
    yield "first_policy", pendulum.first_policy, {"stream": stream(1), "like": m, "bumps": 2}, {
        "stream": NO_THING, "like": NO_ARRAY, "bumps": [*NO_COUNT, 0],
    }  # fmt: skip
    yield "swing", pendulum.swing, {
        "act": lambda z: 0.0 * z[:1], "start": m, "steps": 1, "like": m,
    }, {
        "act": NO_THING[:6], "start": [v for v in NO_ARRAY if not isinstance(v, list)],
        "steps": [*NO_COUNT, 0], "like": NO_ARRAY[1:],
    }  # fmt: skip
    yield "upright", pendulum.upright, {"states": X, "last": 2, "within": 0.3}, {
        "states": NO_ARRAY, "last": [*NO_COUNT, 0], "within": [*NO_NUMBER, 0.0],
    }  # fmt: skip
    chosen = {"gp": w["gp"], "X": X, "budget": 2, "noise_var": 0.1}
    wrong_choice = {
        "gp": NO_THING, "X": NO_ARRAY, "budget": [*NO_COUNT, 7], "noise_var": NO_NUMBER[1:-1],
        "criterion": [None, "entropy", True, 3, ["variance"], {}], "reference": NO_ARRAY[1:],
    }  # fmt: skip
    flags = {"lazy": NO_FLAG, "repeat": NO_FLAG, "start": NO_ENTRIES}
    yield "greedy", design.greedy, chosen, {**wrong_choice, **flags}
    yield "brute", design.brute, chosen, {**wrong_choice, "most": [*NO_COUNT, 0]}
    yield (
        "gain",
        design.gain,
        {"gp": w["gp"], "X": X},
        {"gp": NO_THING, "X": NO_ARRAY, "chosen": NO_ENTRIES},
    )
    yield "spread", design.spread, {"X": X, "budget": 2}, {
        "X": NO_ARRAY, "budget": [*NO_COUNT, 7], "start": NO_ENTRIES,
    }  # fmt: skip
    yield "at_random", design.at_random, {"X": X, "budget": 2, "stream": stream(1)}, {
        "X": NO_ARRAY, "budget": [*NO_COUNT, 7], "stream": NO_THING,
    }  # fmt: skip
    yield "bald", design.bald, {"mean": m, "variance": m}, {
        "mean": NO_ARRAY, "variance": NO_ARRAY, "likelihood": NO_THING[1:],
    }  # fmt: skip
    yield "entropy", design.entropy, {"probability": m}, {"probability": NO_ARRAY}
    yield "weights", BayesianLinear, {"prior_cov": S, "noise_var": 0.1}, {
        "prior_cov": NO_ARRAY,
    }  # fmt: skip
    posterior = w["weights"].prior()
    yield (
        "condition",
        w["weights"].condition,
        {"Phi": X, "y": X[:, 0]},
        {"Phi": NO_ARRAY, "y": NO_ARRAY},
    )
    yield "weights at", posterior.predict, {"Phi_s": X}, {"Phi_s": NO_ARRAY, "noise": NO_FLAG}
    yield "weights drawn", posterior.sample, {"stream": stream(1), "n": 2}, {
        "stream": NO_THING, "n": NO_COUNT,
    }  # fmt: skip
    factor = linalg.cholesky(S)
    yield "solve", factor.solve, {"b": m}, {"b": NO_ARRAY}
    yield "extend", factor.extend, {"cross": 0.1 * m[:, None], "block": np.eye(1)}, {
        "cross": NO_ARRAY, "block": NO_ARRAY,
    }  # fmt: skip


DOORS = list(doors())


@pytest.mark.parametrize(
    ("door", "given", "wrong"), [d[1:] for d in DOORS], ids=[d[0] for d in DOORS]
)
def test_what_is_wrong_is_named(door, given, wrong):
    door(**given)
    for name, values in wrong.items():
        # what says only where arrays shall live may have any shape and numbers
        for value in [*values, *(_spoilt(given.get(name)) if name != "like" else [])]:
            with pytest.raises((TypeError, ValueError), match=name):
                door(**{**given, name: value})


def _spoilt(value: Any) -> list:
    """The same array with an entry that is no number, of another kind, and of another shape."""
    if not isinstance(value, np.ndarray):
        return []
    spoilt = value.copy()
    spoilt.flat[-1] = np.nan
    endless = value.copy()
    endless.flat[0] = np.inf
    return [spoilt, endless, value.astype(complex), value.astype(object), value[None, None]]
