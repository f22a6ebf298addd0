"""Greedy policies against a loop over states, with ties and tolerances."""

import numpy as np
import pytest

from gpnotes.ground.xp import to_numpy
from gpnotes.mdp.greedy_policies import chosen_values, greedy_policy, max_over_actions


@pytest.mark.parametrize("tolerance", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("columns", [1, 3, 64, 65])
def test_the_first_action_within_the_tolerance_is_taken(space, rng, columns, tolerance):
    """Values are quarters, so that differences are exact and there are ties."""
    values = rng.integers(-4, 5, size=(7, columns)) / 4.0
    values[0] = -np.arange(columns)  # where the first of all is
    found = to_numpy(greedy_policy(space.asarray(values), tolerance))
    for row, action in zip(values, found, strict=True):
        assert action == next(a for a, v in enumerate(row) if v >= max(row) - tolerance)
    best = max_over_actions(space.asarray(values), space.xp)
    assert space.holds(best)
    np.testing.assert_array_equal(to_numpy(best), [max(row) for row in values])


def test_a_single_candidate_in_each_row_is_it(rng):
    values = rng.permuted(np.tile(np.arange(5.0), (9, 1)), axis=1)
    np.testing.assert_array_equal(greedy_policy(values, 0.5), np.argmax(values, axis=1))
    values[2] = [4.0, 0.0, 4.0, 1.0, 1.0]
    np.testing.assert_array_equal(greedy_policy(values, 0.5), np.argmax(values, axis=1))


def test_the_values_of_a_policy_are_those_of_its_actions(space, rng):
    values = rng.normal(size=(6, 3))
    worst = greedy_policy(space.asarray(-values))
    found = chosen_values(space.asarray(values), worst, space.xp)
    np.testing.assert_allclose(to_numpy(found), values.min(axis=1), rtol=1e-6)
