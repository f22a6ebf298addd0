"""Adam against its averages written out."""

from __future__ import annotations

import numpy as np

from gpnotes import to_numpy
from gpnotes.ground.adam import Adam
from gpnotes.ground.xp import array_namespace


def averaged(gradients, decay):
    """Their average with weights that fall by `decay` from the last one back."""
    weights = decay ** np.arange(len(gradients))[::-1]
    return weights @ gradients / weights.sum()


def test_steps_are_those_of_averages_written_out(space, rng):
    gradients = rng.normal(size=(4, 3))
    adam = Adam(0.1, space.asarray(np.zeros(3)))
    for t in range(1, 5):
        step = adam.step(space.asarray(gradients[t - 1]), 0.5)
        seen = gradients[:t]
        wanted = 0.05 * averaged(seen, 0.9) / (np.sqrt(averaged(seen**2, 0.999)) + 1e-8)
        assert array_namespace(step) == space.xp
        np.testing.assert_allclose(to_numpy(step), wanted, rtol=1e-9 if space.double else 1e-3)
