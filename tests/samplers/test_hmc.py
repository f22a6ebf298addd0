"""Paths of Hamiltonian Monte Carlo, step by step."""

from __future__ import annotations

import math

import numpy as np

from gpnotes import samplers, stream
from gpnotes.samplers.states import State


def _walled(position):
    """A standard normal density up to 0.5; beyond it is nothing, and has no slope."""
    if position[0] > 0.5:
        return -math.inf, np.full_like(position, math.nan)
    return -0.5 * float(position @ position), -position


def test_a_path_ends_at_a_wall_and_is_refused():
    sampler = samplers.HMC(step_size=0.4, num_steps=50)
    start = sampler.init(_walled, np.asarray([0.45]))
    ends = [sampler.step(_walled, start, stream(seed)) for seed in range(6)]
    for end in ends:
        assert isinstance(end.state, State)
        assert end.evaluations <= 50
        if end.diverged:
            assert end.evaluations < 50  # no step follows the wall
            np.testing.assert_array_equal(end.state.position, start.position)
    assert sum(end.diverged for end in ends) >= 2
