"""How an ascent of several networks ends, and the samples that each of them may have."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.networks import bootstrap_counts
from gpnotes.networks.posterior_mode import ascend


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("part", ["value", "gradient"])
def test_one_network_that_overflows_is_told(part, which, bad):
    """Though the other has numbers, and though the weights have, if only the value has none."""
    value, gradient = np.zeros(2), np.zeros((2, 3))
    (value if part == "value" else gradient)[which] = bad
    told = pytest.raises(ValueError, match="learning_rate must be smaller: the ascent overflows")
    with told, np.errstate(invalid="ignore"):
        ascend(lambda theta: (value, gradient), np.zeros((2, 3)), 2, 0.1)


def test_each_sample_of_rows_is_drawn_by_itself_and_with_replacement():
    """Counts are multinomial: their covariance is ``δ_ij − 1/n``, here within five errors."""
    n, many = 4, 8000
    counts = bootstrap_counts(n, many, rng=stream(3))
    np.testing.assert_array_equal(counts.sum(axis=1), n)
    wanted = np.eye(n) - 1.0 / n
    found = (counts - 1.0).T @ (counts - 1.0) / many
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=5.0 * (wanted[0, 0] / many) ** 0.5)
    np.testing.assert_allclose(found, wanted, atol=5.0 * (2.0 / many) ** 0.5)
