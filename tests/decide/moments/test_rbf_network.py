"""A network at an uncertain input: against quadrature, and differentiated by everything."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import RBF
from gpnotes.decide import moments
from gpnotes.testing import gradcheck


@pytest.fixture
def network(rng):
    """Centres, weights and lengthscales of five functions of two inputs, with three outputs."""
    return rng.normal(size=(5, 2)), rng.normal(size=(5, 3)), rng.uniform(0.6, 2.0, 2)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_moments_are_those_of_quadrature(network, rng, covariance, nodes, rank):
    centres, weights, lengths = network
    m, S = rng.normal(size=2), covariance(2, 0.3, rank)
    points, w = nodes(m, S)
    values = RBF(1.0, lengths)(points, centres) @ weights
    mean = w @ values
    off = w[:, None] * (values - mean)
    actions = moments.network_moments(*network, m, S)
    wanted = mean, (values - mean).T @ off, (points - m).T @ off
    for ours, theirs in zip(actions, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("near", [[], [0.4]], ids=["alone", "with another"])
def test_a_bump_out_of_reach_adds_nothing(near):
    """Its share is below the smallest number, though an exponent of it is above the largest."""
    at, weights = np.asarray([*near, 65.0])[:, None], np.asarray([[0.8, -0.5], [1.3, 0.4]])
    arguments = np.ones(1), np.zeros(1), np.asarray([[0.7]])
    count = len(near)
    found, pull = moments.network_moments_and_pullback(at, weights[: count + 1], *arguments)
    assert all(np.isfinite(one).all() for one in pull(found))
    if near:
        wanted = moments.network_moments(at[:count], weights[:count], *arguments)
    else:
        wanted = [np.zeros_like(part) for part in found]
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("field", ["mean", "covariance", "cross"])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_pullbacks_agree_with_differences(network, rng, field, rank):
    root = np.zeros((2, 2))
    root[:, :rank] = rng.normal(size=(2, rank))

    def value(centres, weights, lengths, m, root):
        return getattr(moments.network_moments(centres, weights, lengths, m, root @ root.T), field)

    def pullback(centres, weights, lengths, m, root, bar):
        nothing = moments.Moments(np.zeros(3), np.zeros((3, 3)), np.zeros((2, 3)))
        _, pull = moments.network_moments_and_pullback(centres, weights, lengths, m, root @ root.T)
        *bars, S_bar = pull(nothing._replace(**{field: bar}))
        return *bars, 2.0 * S_bar @ root

    gradcheck(value, pullback, *network, rng.normal(size=2), root)


def test_arrays_stay_where_they_are(space, network, rng):
    arrays = [space.asarray(one) for one in (*network, [0.3, -0.2], 0.1 * np.eye(2))]
    actions, pull = moments.network_moments_and_pullback(*arrays)
    assert all(
        space.holds(a) for a in (*actions, *pull(actions), *moments.network_moments(*arrays))
    )
    assert [a.shape for a in pull(actions)] == [a.shape for a in arrays]


def test_arguments_that_do_not_fit_are_refused(network):
    centres, weights, lengths = network
    m, S = np.zeros(2), np.eye(2)
    with pytest.raises(ValueError, match=r"weights must have shape \(5, d\)"):
        moments.network_moments(centres, weights[:4, :], lengths, m, S)
    with pytest.raises(ValueError, match="lengthscale must be positive"):
        moments.network_moments(centres, weights, -lengths, m, S)
    with pytest.raises(ValueError, match=r"lengthscale must have shape \(2,\)"):
        moments.network_moments(centres, weights, lengths[:1], m, S)
    with pytest.raises(ValueError, match="S must be positive semidefinite"):
        moments.network_moments(centres, weights, lengths, m, -S)


def test_no_centres_and_derivatives_of_another_shape_are_refused(network):
    centres, weights, lengths = network
    m, S = np.zeros(2), np.eye(2)
    with pytest.raises(ValueError, match="centres must have at least one row"):
        moments.network_moments(centres[:0, :], weights[:0, :], lengths, m, S)
    actions, pull = moments.network_moments_and_pullback(*network, m, S)
    with pytest.raises(ValueError, match=r"bar.mean must have shape \(3,\); got \(1,\)"):
        pull(actions._replace(mean=np.ones(1)))
