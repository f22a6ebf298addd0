"""A state says how many steps came before it, across the blocks in which draws are made."""

from dataclasses import dataclass, field

import numpy as np

from gpnotes import samplers, stream
from gpnotes.samplers.chain_logs import BLOCK


@dataclass(frozen=True)
class Counting(samplers.RandomWalkMetropolis):
    """It notes the count of each state that it steps from."""

    seen: list[int] = field(default_factory=list)

    def step(self, target, state, stream):
        self.seen.append(state.count)
        return super().step(target, state, stream)


def test_steps_are_counted_through_warm_up_and_all_blocks():
    sampler = Counting()
    draws, warmup = 2 * BLOCK + 50, 30
    samplers.sample(
        lambda x: -0.5 * float(x @ x), sampler, np.zeros(1), rng=stream(1),
        num_chains=1, num_samples=draws, num_warmup=warmup,
    )  # fmt: skip
    assert sampler.seen[-draws:] == list(range(warmup, warmup + draws))
