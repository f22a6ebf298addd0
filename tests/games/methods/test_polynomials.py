"""Products of polynomials: coefficients and derivatives."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from polynomial_nodes import node_inputs, node_results
from scipy import stats

from gpnotes.fast.polynomials import Workspace
from gpnotes.games.methods.polynomials import mode_pmf, poisson_table, tree
from gpnotes.ground.xp import to_numpy


@pytest.mark.parametrize("strategies", [1, 2, 3, 4, 5, 7, 8])
def test_the_top_coefficient_and_its_derivatives(space, rng, strategies):
    """Against convolution, sample by sample and mixture by mixture."""
    n, j, b = 5, 3, 2
    tables, values, bar = node_inputs(rng, strategies, n, j, b, space.asarray)
    term, pulled = node_results(tree(strategies, n), tables, values, bar)
    T, f, weights = np.asarray(to_numpy(tables)), [to_numpy(v) for v in values], to_numpy(bar)
    lower = np.concatenate([0.0 * T[:, :1], T[:, :-1]], axis=1)
    rounding = 1e-12 if space.double else 1e-4
    for k in range(j):
        for m in range(b):
            plain = [T[s, :, m] * f[s][:, k] for s in range(strategies)]
            np.testing.assert_allclose(term[k, m], _top(plain, n), rtol=rounding)
    for s in range(strategies):
        total = np.zeros(b)
        for k, m in np.ndindex(j, b):
            bent = [(lower if r == s else T)[r, :, m] * f[r][:, k] for r in range(strategies)]
            total[m] += weights[k, m] * _top(bent, n)
        np.testing.assert_allclose(pulled[s], total, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("strategies", [*range(1, 10), 12])
def test_a_workspace_changes_nothing(rng, strategies):
    work, node = Workspace(), tree(strategies, 4)
    for _ in range(2):
        given = node_inputs(rng, strategies, 4, 3, 2)
        term, pulled = node_results(node, *given)
        in_place, pulled_in_place = node_results(node, *given, work)
        np.testing.assert_allclose(in_place, term, rtol=1e-13)
        np.testing.assert_allclose(pulled_in_place, pulled, rtol=1e-12, atol=1e-14)


def _top(polynomials, n):
    product = np.ones(1)
    for polynomial in polynomials:
        product = np.convolve(product, polynomial)
    return product[n]


@pytest.mark.parametrize("n", [*range(1, 24), 100, 1000])
def test_the_chance_at_the_mode_is_right_to_rounding(n):
    """Against decimals: Stirling's series is cut off, and before it begins nothing cancels."""
    with localcontext(prec=50):
        wanted = Decimal(n) ** n * Decimal(-n).exp() / math.factorial(n)
        assert abs(Decimal(mode_pmf(n)) / wanted - 1) < Decimal("2e-15")


@pytest.mark.parametrize("n", [0, 1, 6, 300])
def test_a_table_of_poisson_chances_is_scipys(space, n):
    """At a rate of zero there is no count but zero; few digits cancel where counts are large."""
    rates = [[0.0, 1e-12, 0.3], [5.0, 160.0, 310.0]]
    found = poisson_table(space.asarray(rates), n)
    assert space.holds(found)
    assert found.shape == (2, 3, n + 1)
    rounded = np.asarray(to_numpy(space.asarray(rates)), np.float64)
    wanted = stats.poisson.pmf(np.arange(n + 1), rounded[..., None])
    close = {"rtol": 1e-12, "atol": 1e-300} if space.double else {"rtol": 1e-4, "atol": 1e-30}
    np.testing.assert_allclose(to_numpy(found), wanted, **close)
