"""A node of the tree of polynomials at work, for the tests of both rooms that make it."""

from __future__ import annotations

import numpy as np

from gpnotes.ground.xp import to_numpy


def node_results(node, tables, values, bar, work=None):
    """What a node of the tree gives, and its derivatives by the rates."""
    (term,), pull = node.forward(node.chances(tables), node.bumps(values), work)
    return np.array(to_numpy(term)), [np.array(to_numpy(by_rate)) for by_rate in pull([bar])]


def node_inputs(rng, strategies, n, j, b, asarray=np.asarray):
    """Tables, values and a bar for a node, by lot."""
    values = [asarray(rng.uniform(size=(n + 1, j))) for _ in range(strategies)]
    return (
        asarray(rng.uniform(size=(strategies, n + 1, b))),
        values,
        asarray(rng.normal(size=(j, b))),
    )
