"""Queries for labels against enumeration and integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import entropy as scipy_entropy

from gpnotes import Bernoulli, Gaussian, to_numpy
from gpnotes.decide.design import approximate_bald, bald, entropy, margin
from gpnotes.ground.quadrature import expect

P = np.asarray([0.0, 1e-9, 0.2, 0.5, 0.75, 1.0])


def close(space):
    return {"rtol": 1e-12, "atol": 1e-14} if space.double else {"rtol": 1e-5, "atol": 1e-6}


def test_the_entropy_of_a_label_is_that_of_scipy(space):
    values = entropy(space.asarray(P))
    assert space.holds(values)
    np.testing.assert_allclose(to_numpy(values), scipy_entropy([P, 1.0 - P]), **close(space))


def test_the_margin_of_a_label_is_the_distance_of_its_chances(space):
    values = margin(space.asarray(P))
    assert space.holds(values)
    np.testing.assert_allclose(to_numpy(values), np.abs(2.0 * P - 1.0), **close(space))


def test_both_know_more_than_two_classes(space, rng):
    p = rng.dirichlet(np.ones(4), 7)
    p[0] = [0.25] * 4
    p[1] = [0.0, 1.0, 0.0, 0.0]
    entropies, margins = entropy(space.asarray(p)), margin(space.asarray(p))
    assert space.holds(entropies)
    assert space.holds(margins)
    np.testing.assert_allclose(to_numpy(entropies), scipy_entropy(p, axis=1), **close(space))
    ordered = np.sort(p, axis=1)
    np.testing.assert_allclose(to_numpy(margins), ordered[:, -1] - ordered[:, -2], **close(space))
    assert to_numpy(entropies)[0] == pytest.approx(np.log(4.0), rel=1e-6)


def test_two_classes_are_a_label(rng):
    p = rng.uniform(size=9)
    classes = np.stack([1.0 - p, p], axis=1)
    for measure in (entropy, margin):
        np.testing.assert_allclose(measure(classes), measure(p), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_bald_is_the_difference_of_two_entropies(space, rng, link):
    """By 300 Gauss-Hermite nodes, enough for variances of this size."""
    mean, variance = rng.normal(size=8), rng.uniform(0.05, 4.0, 8)
    scores = bald(space.asarray(mean), space.asarray(variance), Bernoulli(link))
    assert space.holds(scores)
    label = Bernoulli(link)

    def chance(f):
        return np.exp(label.log_density(1.0, f))

    p = expect(chance, mean, variance, n=300)
    inside = expect(lambda f: scipy_entropy([chance(f), 1.0 - chance(f)]), mean, variance, n=300)
    tolerance = 1e-10 if space.double else 1e-6
    np.testing.assert_allclose(to_numpy(scores), entropy(p) - inside, rtol=0, atol=tolerance)


def test_bald_is_the_information_of_an_enumerated_joint_distribution(rng):
    """f on a fine grid and y: the mutual information of a table, term by term."""
    mean, variance = rng.normal(size=5), rng.uniform(0.05, 30.0, 5)
    z = np.linspace(-10.0, 10.0, 20_001)
    weights = np.exp(-0.5 * z * z) / np.exp(-0.5 * z * z).sum()
    for m, v, score in zip(mean, variance, bald(mean, variance).tolist(), strict=True):
        f = m + np.sqrt(v) * z
        joint = np.stack([np.exp(log_ndtr(f)), np.exp(log_ndtr(-f))]) * weights
        product = joint.sum(axis=1, keepdims=True) * weights
        wanted = np.sum(joint * np.log(np.where(joint > 0.0, joint, 1.0) / product))
        assert score == pytest.approx(wanted, abs=1e-12)


def test_few_gauss_hermite_nodes_fail_where_f_is_wide_and_bald_does_not():
    """The reason for another rule: the entropy is a spike beside a wide f."""
    mean, variance, label = np.zeros(1), np.asarray([2500.0]), Bernoulli()
    chance = label.probability(mean, variance)
    few = entropy(chance) - expect(label.entropy, mean, variance, n=32)
    z = np.linspace(-10.0, 10.0, 2_000_001)
    weights = np.exp(-0.5 * z * z) / np.exp(-0.5 * z * z).sum()
    truth = np.log(2.0) - label.entropy(50.0 * z) @ weights
    assert abs(few[0] - truth) > 0.01
    assert bald(mean, variance)[0] == pytest.approx(truth, abs=1e-10)


def test_bald_prefers_what_is_unknown_to_what_is_open(space):
    """The entropies are equal, at a half; only one of the labels would teach us anything."""
    mean, variance = space.asarray([0.0, 0.0]), space.asarray([1e-6, 9.0])
    open_ones = to_numpy(entropy(Bernoulli().probability(mean, variance)))
    np.testing.assert_allclose(open_ones, np.log(2.0), rtol=1e-6)
    scores = to_numpy(bald(mean, variance))
    assert scores[0] < 1e-6
    assert scores[1] > 0.4


def test_the_closed_form_is_near(space):
    mean, variance = np.meshgrid(np.linspace(-8.0, 8.0, 41), np.exp(np.linspace(-9.0, 9.0, 19)))
    m, v = space.asarray(mean.ravel()), space.asarray(variance.ravel())
    scores = approximate_bald(m, v)
    assert space.holds(scores)
    gap = np.abs(to_numpy(scores) - to_numpy(bald(m, v)))
    assert 1e-3 < gap.max() < 0.003


def test_the_closed_form_is_the_expectation_of_the_bump():
    mean, variance = np.asarray([0.0, 0.8, -2.0]), np.asarray([0.3, 2.0, 1.0])
    bump = expect(
        lambda f: np.log(2.0) * np.exp(-(f**2) / (np.pi * np.log(2.0))), mean, variance, 200
    )
    wanted = entropy(Bernoulli().probability(mean, variance)) - bump
    np.testing.assert_allclose(approximate_bald(mean, variance), wanted, rtol=1e-10)


@pytest.mark.parametrize("measure", [entropy, margin])
def test_what_are_no_probabilities(measure):
    with pytest.raises(ValueError, match="probability must lie between 0 and 1"):
        measure(np.asarray([0.5, 1.1]))
    with pytest.raises(ValueError, match="probability must be finite"):
        measure(np.asarray([0.5, np.nan]))
    with pytest.raises(ValueError, match="rows that sum to one"):
        measure(np.asarray([[0.5, 0.4]]))
    with pytest.raises(ValueError, match="rows that sum to one"):
        measure(np.asarray([[0.5, 0.5], [0.5, 0.4]]))
    with pytest.raises(ValueError, match="two or more columns"):
        measure(np.ones((3, 1)))
    with pytest.raises(TypeError, match="probability must be an array"):
        measure(0.5)


@pytest.mark.parametrize("score", [bald, approximate_bald])
def test_what_is_no_distribution_of_f(score):
    ones = np.ones(2)
    with pytest.raises(ValueError, match="variance must be non-negative and finite"):
        score(ones, -ones)
    with pytest.raises(ValueError, match=r"variance must have shape \(2,\); got \(3,\)"):
        score(ones, np.ones(3))
    with pytest.raises(TypeError, match="variance must have the dtype of mean"):
        score(ones, ones.astype(np.float32))
    with pytest.raises(ValueError, match="mean must be finite"):
        score(ones * np.nan, ones)


@pytest.mark.parametrize("likelihood", ["probit", Gaussian()])
def test_bald_is_for_labels(likelihood):
    with pytest.raises(TypeError, match=r"likelihood must be a Bernoulli; got"):
        bald(np.zeros(1), np.ones(1), likelihood)
