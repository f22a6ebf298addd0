"""What a Bayesian network takes: outputs that go with its noise, and variances."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import BayesianNetwork, stream
from gpnotes.networks import Network


@pytest.mark.parametrize(("outputs", "noise", "said"), [
    (1, None, "network must have 2 outputs where the noise is learnt; got 1"),
    (2, 0.1, "network must have 1 outputs where the noise is given; got 2"),
])  # fmt: skip
def test_as_many_outputs_are_wanted_as_the_noise_says(outputs, noise, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        BayesianNetwork(Network((1, 3, outputs)), noise_variance=noise)


def test_weights_are_drawn_with_the_variances_of_the_prior():
    network = Network((1, 3, 2))
    variances = np.geomspace(1e-4, 1e4, network.num_weights)
    drawn = BayesianNetwork(network, variances).draw(4000, rng=stream(0))
    np.testing.assert_allclose(drawn.var(axis=0), variances, rtol=0.15)
