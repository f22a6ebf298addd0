"""Variograms of readings and of models, against sums over all pairs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gpnotes import GP, RBF, Linear, White, prior
from gpnotes.assess.variograms import expected_variogram, variogram
from gpnotes.model.kernels import OnSphere, great_circle_distances


def by_pairs(X, squares, edges, power=1.0):
    """Mean distance, mean of `squares` and count of the pairs in each bin, one pair at a time."""
    rows = []
    n = len(X)
    pairs = [(np.linalg.norm(X[i] - X[j]), squares(i, j)) for i in range(n) for j in range(i)]
    for low, high in pairwise(edges):
        inside = [(d, s) for d, s in pairs if low <= d < high]
        if inside:
            rows.append((*np.mean(inside, axis=0), len(inside)))
    return np.asarray(rows).T


def test_it_is_the_mean_over_all_pairs(space, rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    found = variogram(space.asarray(X), space.asarray(y), bins=6, reach=3.0)
    want = by_pairs(X, lambda i, j: 0.5 * (y[i] - y[j]) ** 2, np.linspace(0.0, 3.0, 7))
    for got, wanted in zip((found.distance, found.semivariance, found.count), want, strict=True):
        assert type(got) is np.ndarray
        np.testing.assert_allclose(got, wanted, rtol=1e-9 if space.double else 1e-3)


def test_what_is_expected_is_the_mean_over_draws(rng):
    X = rng.uniform(0.0, 5.0, (25, 1))
    gp = GP(RBF(1.5, 1.2) + Linear(0.3) + White(0.2), 0.4)
    expected = expected_variogram(gp, X, bins=5)
    drawn = prior(gp, X).sample(4000, rng=1) + 0.4**0.5 * rng.normal(size=(4000, 25))
    found = np.mean([variogram(X, y, bins=5).semivariance for y in drawn], axis=0)
    np.testing.assert_allclose(found, expected.semivariance, rtol=0.15)
    np.testing.assert_array_equal(expected.count, variogram(X, drawn[0], bins=5).count)


def test_blocks_of_rows_change_nothing(rng, monkeypatch):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    want = variogram(X, y)
    monkeypatch.setattr("gpnotes.ground.memory.blocks", lambda n, width: [
        slice(i, i + 7) for i in range(0, n, 7)])  # fmt: skip
    np.testing.assert_allclose(variogram(X, y).semivariance, want.semivariance)


def test_the_robust_one_is_that_of_its_definition_also_of_few_pairs(space, rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    found = variogram(space.asarray(X), space.asarray(y), bins=6, reach=3.0, robust=True)
    edges = np.linspace(0.0, 3.0, 7)
    distance, root, count = by_pairs(X, lambda i, j: abs(y[i] - y[j]) ** 0.5, edges)
    assert count.min() < 3
    wanted = root**4 / (2.0 * (0.457 + 0.494 / count))  # Cressie & Hawkins (1980)
    np.testing.assert_allclose(found.distance, distance, rtol=1e-9 if space.double else 1e-3)
    np.testing.assert_allclose(found.semivariance, wanted, rtol=1e-9 if space.double else 1e-3)


def test_the_robust_one_heeds_an_outlier_less_and_agrees_on_normal_differences(rng):
    X, y = rng.uniform(0.0, 9.0, (400, 2)), rng.normal(size=400)
    plain, robust = (variogram(X, y, 4, robust=r).semivariance for r in (False, True))
    np.testing.assert_allclose(plain, 1.0, atol=0.2)
    np.testing.assert_allclose(robust, 1.0, atol=0.2)
    y[0] = 100.0
    worse, still = (variogram(X, y, 4, robust=r).semivariance for r in (False, True))
    assert (worse > 10.0).all()
    assert (still < 1.6).all()


def test_distances_may_be_those_on_the_sphere(rng):
    places = np.stack([rng.uniform(40.0, 60.0, 50), rng.uniform(170.0, 190.0, 50)], axis=1)
    gp = GP(OnSphere(RBF(2.0, 300.0)), 0.1)
    found = expected_variogram(gp, places, reach=1000.0, distances=great_circle_distances)
    want = 2.1 - 2.0 * np.exp(-0.5 * (found.distance / 300.0) ** 2)
    np.testing.assert_allclose(found.semivariance, want, atol=0.02)
    turned = places - [0.0, 360.0]
    again = expected_variogram(gp, turned, reach=1000.0, distances=great_circle_distances)
    np.testing.assert_allclose(again.semivariance, found.semivariance)


def test_without_reach_it_goes_half_the_way():
    X = np.arange(11.0)[:, None]
    assert variogram(X, X[:, 0], 5).distance.max() == pytest.approx((4 * 7 + 5 * 6) / 13)


def test_two_rows_have_one_pair():
    found = variogram(np.asarray([[0.0], [2.0]]), np.asarray([1.0, 4.0]), 1, reach=2.0)
    assert [found.distance, found.semivariance, found.count] == [[2.0], [4.5], [1.0]]


@pytest.mark.parametrize("power", [-1000, -540, 530, 1000])
def test_the_unit_of_the_inputs_changes_nothing_else(rng, power):
    """Squares of 2^530 overflow, and those of 2^-540 have few digits."""
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    near, far = variogram(X, y), variogram(np.ldexp(X, power), y)
    np.testing.assert_allclose(np.ldexp(far.distance, -power), near.distance)
    np.testing.assert_array_equal(far.semivariance, near.semivariance)


def endless(X, Z):
    return np.where(X == Z.T, 0.0, np.inf)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda X, y: variogram(X, y, 0), ValueError, "bins must be a whole number from 1"),
        (lambda X, y: variogram(X, y, reach=0.0), ValueError, "reach must be positive"),
        (lambda X, y: variogram(X[:1], y[:1]), ValueError, r"X must have at least two rows; got"),
        (lambda X, y: variogram(0 * X, y), ValueError, "X must have two rows that differ"),
        (lambda X, y: variogram(X, y[:2]), ValueError, r"y must have shape \(3,\)"),
        (lambda X, y: variogram(X, 1e160 * y), ValueError, "y must be smaller than .* in size"),
        (lambda X, y: variogram(X, y, robust=1), TypeError, "robust must be True or False"),
        (lambda X, y: variogram(X, y, distances=lambda a, b: a), ValueError, "distances must give"),
        (lambda X, y: variogram(X, y, distances=lambda a, b: a - b.T), ValueError, "must give"),
        (
            lambda X, y: variogram(X, y, distances=lambda a, b: np.where(a == b.T, 0.0, np.inf)),
            ValueError,
            "give",
        ),
        (
            lambda X, y: expected_variogram(GP, X),
            TypeError,
            "gp must have a kernel and a noise_var",
        ),
        (lambda X, y: expected_variogram(RBF(), X), TypeError, "gp must have a kernel and"),
    ],
)
def test_what_has_no_variogram_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(np.arange(3.0)[:, None], np.arange(3.0))
