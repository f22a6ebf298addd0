"""No random number serves twice, not in a chain, in the next block of it, nor in another.

And steps that shrink go on to do so from the warm-up to the draws, and from block to block.
"""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import samplers, stream
from gpnotes.samplers import (
    HMC,
    MALA,
    NUTS,
    SGLD,
    ULA,
    EllipticalSlice,
    MinibatchDensity,
    RandomWalkMetropolis,
)

BLOCK = 100  # draws of a stream of their own, after which a file is written

WAYS = {
    "random walk": lambda d: RandomWalkMetropolis(),
    "MALA": lambda d: MALA(),
    "ULA": lambda d: ULA(),
    "SGLD": lambda d: SGLD(batch=1),
    "HMC": lambda d: HMC(num_steps=1),
    "NUTS": lambda d: NUTS(max_tree_depth=1),
    "ellipse": lambda d: EllipticalSlice(np.eye(d)),
}


def flat(x):
    """A density that is the same everywhere, so that a chain moves by its random numbers alone."""
    return 0.0, np.zeros_like(x)


FLAT_ROWS = MinibatchDensity(flat, lambda x, rows: flat(x), np.arange(3))


@pytest.mark.parametrize("name", WAYS)
def test_no_random_number_serves_two_draws(name):
    """Draws in more dimensions than there are of them are then linearly independent.

    Those of two chains from zero, in blocks of a hundred, of which the second is begun.
    """
    many = 2 * (BLOCK + 20)
    target, sampler = FLAT_ROWS if name == "SGLD" else flat, WAYS[name](many + 10)
    found = samplers.sample(
        target, sampler, np.zeros(many + 10), num_chains=2, num_samples=many // 2, num_warmup=0,
        rng=stream(1),
    )  # fmt: skip
    assert np.linalg.matrix_rank(found.flat) == many


def test_steps_are_counted_through_warm_up_and_blocks():
    """On a flat density a step has the variance ``2 τ_t``, told by its entries to 3 %."""
    many, warmup, sampler = 3 * 10**4, 30, SGLD(0.5, batch=1)
    found = samplers.sample(
        FLAT_ROWS, sampler, np.zeros(many), num_chains=1, num_samples=BLOCK + 2, num_warmup=warmup,
        rng=stream(1),
    )  # fmt: skip
    for draw in (1, BLOCK - 1, BLOCK, BLOCK + 1):
        moved = np.diff(found.draws[0], axis=0)[draw - 1]
        wanted = 2.0 * sampler.step_size_at(warmup + draw)
        assert np.mean(moved**2) == pytest.approx(wanted, rel=0.04)
