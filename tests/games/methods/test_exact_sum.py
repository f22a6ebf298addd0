"""The exact expectation of a bump against the sum over all pairs of counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import multinomial

from gpnotes.games.methods.exact_sum import _pair


@pytest.mark.parametrize("strategies", [1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_one_role_is_a_sum_over_pairs_of_counts(rng, n, strategies):
    """``Σ_x Σ_y P(x) P(y) Π_s exp(−½ ((x_s − y_s) / ℓ_s)²)``, of one strategy as well."""
    p, ell = rng.dirichlet(np.ones(strategies)), rng.uniform(0.5, 3.0, size=strategies)
    every = itertools.product(range(n + 1), repeat=strategies)
    x = np.asarray([counts for counts in every if sum(counts) == n])
    chance = multinomial.pmf(x, n, p)
    apart = np.sum(((x[:, None, :] - x) / ell) ** 2, axis=-1)
    assert _pair(n, p, ell) == pytest.approx(chance @ np.exp(-0.5 * apart) @ chance, rel=1e-12)
