"""Values and actions of alpha vectors beside loops over them."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes.mdp import AlphaVectors
from gpnotes.mdp.alpha_vectors import first_highest


@pytest.fixture
def policy(rng):
    return AlphaVectors(rng.normal(size=(5, 3)), (2, 0, 1, 1, 0))


def test_a_belief_is_worth_the_best_of_all_lines(policy, rng):
    beliefs = rng.dirichlet(np.ones(3), size=40)
    for belief, value, action in zip(
        beliefs, policy.values(beliefs), policy.decide(beliefs), strict=True
    ):
        lines = [sum(p * v for p, v in zip(belief, row, strict=True)) for row in policy.vectors]
        assert value == pytest.approx(max(lines), rel=1e-13)
        assert action == policy.actions[lines.index(max(lines))]


def test_of_lines_that_differ_by_rounding_the_first_is_taken(space):
    one = 1.0 + 4.0 * float(space.xp.finfo(space.dtype).eps)
    rows = space.asarray([[1.0, one, 0.5], [0.5, 1.0, one], [1.0, 1.1, 1.2], [-10.0, 0.0, 0.1]])
    assert [int(at) for at in first_highest(rows)] == [0, 1, 2, 2]
