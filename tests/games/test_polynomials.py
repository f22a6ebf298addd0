"""Products of polynomials: coefficients, derivatives, and the same with memory reused."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from gpnotes._xp import to_numpy
from gpnotes.games import quick
from gpnotes.games.polynomials import at_mode, tree


def _results(node, tables, values, bar):
    (term,), pull = node.forward(node.chances(tables), node.bumps(values))
    return np.array(to_numpy(term)), [np.array(to_numpy(one)) for one in pull([bar])]


def _drawn(rng, strategies, n, j, b, asarray=np.asarray):
    values = [asarray(rng.uniform(size=(n + 1, j))) for _ in range(strategies)]
    return (
        asarray(rng.uniform(size=(strategies, n + 1, b))),
        values,
        asarray(rng.normal(size=(j, b))),
    )


@pytest.mark.parametrize("strategies", [1, 2, 3, 4, 5, 7, 8])
def test_the_top_coefficient_and_its_derivatives(space, rng, strategies):
    """Against convolution, sample by sample and mixture by mixture."""
    n, j, b = 5, 3, 2
    tables, values, bar = _drawn(rng, strategies, n, j, b, space.asarray)
    term, pulled = _results(tree(strategies, n), tables, values, bar)
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


def _top(polynomials, n):
    product = np.ones(1)
    for one in polynomials:
        product = np.convolve(product, one)
    return product[n]


@pytest.mark.parametrize("strategies", [1, 2, 3, 4, 5, 8])
def test_memory_reused_changes_nothing(rng, strategies):
    """Also where blocks of other sizes come between, and the first come again."""
    plain, reused = tree(strategies, 6), tree(strategies, 6, **quick.NODES)
    first = _drawn(rng, strategies, 6, 5, 4)
    for drawn in (first, _drawn(rng, strategies, 6, 5, 4), _drawn(rng, strategies, 6, 2, 3), first):
        (term, pulled), (wanted, slopes) = (_results(one, *drawn) for one in (reused, plain))
        np.testing.assert_allclose(term, wanted, rtol=1e-13)
        np.testing.assert_allclose(pulled, slopes, rtol=1e-12, atol=1e-13)


def test_four_strategies_reuse_memory_for_numpy():
    node = tree(4, 6, **quick.NODES)
    assert type(node) is quick.QuickJoin
    assert type(node.left) is type(node.right) is quick.QuickPair


@pytest.mark.parametrize("n", [*range(1, 24), 100, 1000])
def test_the_chance_at_the_mode_is_right_to_rounding(n):
    """Against decimals: Stirling's series is cut off, and before it begins nothing cancels."""
    with localcontext(prec=50):
        wanted = Decimal(n) ** n * Decimal(-n).exp() / math.factorial(n)
        assert abs(Decimal(at_mode(n)) / wanted - 1) < Decimal("2e-15")
