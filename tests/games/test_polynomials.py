"""Products of polynomials: coefficients, derivatives, and the same with memory reused."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from gpnotes.fast import polynomials as inplace
from gpnotes.fast.polynomials import Workspace
from gpnotes.games.methods.polynomials import mode_pmf, tree
from gpnotes.ground.xp import to_numpy


def _results(node, tables, values, bar, work=None):
    (term,), pull = node.forward(node.chances(tables), node.bumps(values), work)
    return np.array(to_numpy(term)), [np.array(to_numpy(by_rate)) for by_rate in pull([bar])]


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
    for polynomial in polynomials:
        product = np.convolve(product, polynomial)
    return product[n]


@pytest.mark.parametrize("strategies", [1, 2, 3, 4, 5, 8])
def test_a_workspace_changes_nothing(rng, strategies):
    """Also where blocks of other sizes come between, and the first come again."""
    node, work = tree(strategies, 6), Workspace()
    first = _drawn(rng, strategies, 6, 5, 4)
    for drawn in (first, _drawn(rng, strategies, 6, 5, 4), _drawn(rng, strategies, 6, 2, 3), first):
        term, pulled = _results(node, *drawn, work)
        wanted, derivatives = _results(node, *drawn)
        np.testing.assert_allclose(term, wanted, rtol=1e-13)
        np.testing.assert_allclose(pulled, derivatives, rtol=1e-12, atol=1e-13)


def test_what_a_node_gives_holds_while_others_work_with_it(rng):
    """A node keeps nothing: only who brings the same workspace writes over its arrays."""
    node = tree(4, 6)
    tables, values, bar = _drawn(rng, 4, 6, 5, 4)
    wanted = _results(node, tables, values, bar)
    mine, theirs = Workspace(), Workspace()
    (term,), pull = node.forward(node.chances(tables), node.bumps(values), mine)
    _results(node, *_drawn(rng, 4, 6, 5, 4), theirs)
    _results(node, *_drawn(rng, 4, 6, 5, 4))
    np.testing.assert_allclose(term, wanted[0], rtol=1e-13)
    np.testing.assert_allclose(pull([bar]), wanted[1], rtol=1e-12, atol=1e-13)


def test_four_strategies_are_multiplied_in_place(rng, monkeypatch):
    """Both pairs, and the one coefficient of their product; of three or five, the pairs alone."""
    called = []
    for name in ("pair_terms", "top_term"):
        function = getattr(inplace, name)
        monkeypatch.setattr(
            inplace, name, lambda *args, name=name, function=function: (
                called.append(name), function(*args))[1]
        )  # fmt: skip
    for strategies, wanted in ((3, 1 * ["pair_terms"]), (4, 2 * ["pair_terms"] + ["top_term"])):
        called.clear()
        _results(tree(strategies, 6), *_drawn(rng, strategies, 6, 5, 4), Workspace())
        assert called == wanted


def test_a_workspace_makes_an_array_once_for_each_shape_and_dtype():
    work = Workspace()
    first = work.array("terms", (3, 4), np.dtype(float))
    assert work.array("terms", (3, 4), np.dtype(float)) is first
    assert work.array("bar", (3, 4), np.dtype(float)) is not first
    assert work.part("L").array("terms", (3, 4), np.dtype(float)) is not first
    assert work.part("L") is work.part("L")
    assert work.array("terms", (3, 4), np.dtype(np.float32)).dtype == np.float32
    assert work.array("terms", (2, 4), np.dtype(float)).shape == (2, 4)


@pytest.mark.parametrize("n", [*range(1, 24), 100, 1000])
def test_the_chance_at_the_mode_is_right_to_rounding(n):
    """Against decimals: Stirling's series is cut off, and before it begins nothing cancels."""
    with localcontext(prec=50):
        wanted = Decimal(n) ** n * Decimal(-n).exp() / math.factorial(n)
        assert abs(Decimal(mode_pmf(n)) / wanted - 1) < Decimal("2e-15")
