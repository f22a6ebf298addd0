"""What the doors of control have in common: one covariance is one to all of them, or to none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpnotes import GP, RBF, Normal, condition
from gpnotes.decide import fantasy, moments, pilco


@pytest.fixture
def doors(space):
    """Every function that takes the covariance of two variables, as functions of it alone."""
    m, ones = space.asarray([0.1, 0.2]), space.asarray([[1.0, 1.0]])
    X = space.asarray([[0.0, 1.0], [2.0, 0.5], [-1.0, 0.3]])
    posterior = condition(GP(RBF(), 0.1), X, X[:, 0])
    model = moments.predictor([posterior])
    policy = pilco.LinearPolicy(ones, m[:1])
    bumps = pilco.RBFPolicy(ones, ones[:, :1], m, inputs=(0, 1), size=2)
    cost = pilco.SaturatingCost(m, space.asarray(np.eye(2)))
    return {
        "predict": lambda S: moments.predict(model, m, S),
        "kernel_mean": lambda S: moments.kernel_mean(posterior.gp.kernel, ones, m, S),
        "network": lambda S: bumps.moments(m, S),
        "linear": lambda S: policy.moments(m, S),
        "expected cost": lambda S: cost.expected(m, S),
        "weight": lambda S: pilco.SaturatingCost(m, S),
        "sines": lambda S: pilco.sine_moments(m, S),
        "augment": lambda S: pilco.augment(m, S, (0,)),
        "task": lambda S: pilco.Task(cost, m, S, 1),
        "reduction": lambda S: fantasy.variance_reduction(posterior, m, S, ones),
        "expected": lambda S: fantasy.expected_variance(posterior, m, S, ones),
        "normal": lambda S: Normal.from_covariance(m, S),
    }


def _accepts(door: Callable, S: np.ndarray) -> bool:
    try:
        door(S)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("factor", "good"), [(-0.5, True), (0.5, True), (2.0, False)])
def test_a_covariance_to_one_door_is_one_to_all(space, doors, factor, good):
    eps = float(space.xp.finfo(space.dtype).eps)
    S = space.asarray([[1.0, 0.0], [0.0, -factor * min(eps**0.5, 1e5 * eps)]])
    assert {name: _accepts(door, S) for name, door in doors.items()} == dict.fromkeys(doors, good)
