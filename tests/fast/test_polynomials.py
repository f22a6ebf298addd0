"""Products of polynomials with memory reused: the same numbers, and no array made twice."""

import numpy as np
import pytest
from polynomial_nodes import node_inputs, node_results

from gpnotes.fast import polynomials as inplace
from gpnotes.fast.polynomials import Workspace
from gpnotes.games.methods.polynomials import tree


@pytest.mark.parametrize("strategies", [1, 2, 3, 4, 5, 8])
def test_a_workspace_changes_nothing(rng, strategies):
    """Also where blocks of other sizes come between, and the first come again."""
    node, work = tree(strategies, 6), Workspace()
    first = node_inputs(rng, strategies, 6, 5, 4)
    for drawn in (
        first,
        node_inputs(rng, strategies, 6, 5, 4),
        node_inputs(rng, strategies, 6, 2, 3),
        first,
    ):
        term, pulled = node_results(node, *drawn, work)
        wanted, derivatives = node_results(node, *drawn)
        np.testing.assert_allclose(term, wanted, rtol=1e-13)
        np.testing.assert_allclose(pulled, derivatives, rtol=1e-12, atol=1e-13)


def test_what_a_node_gives_holds_while_others_work_with_it(rng):
    """A node keeps nothing: only who brings the same workspace writes over its arrays."""
    node = tree(4, 6)
    tables, values, bar = node_inputs(rng, 4, 6, 5, 4)
    wanted = node_results(node, tables, values, bar)
    mine, theirs = Workspace(), Workspace()
    (term,), pull = node.forward(node.chances(tables), node.bumps(values), mine)
    node_results(node, *node_inputs(rng, 4, 6, 5, 4), theirs)
    node_results(node, *node_inputs(rng, 4, 6, 5, 4))
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
        node_results(tree(strategies, 6), *node_inputs(rng, strategies, 6, 5, 4), Workspace())
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
