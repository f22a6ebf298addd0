"""Fronts, volumes and expected growth: against counting, brute force and draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from grown_volume import growths

from gpnotes import to_numpy
from gpnotes.decide.bayesopt import (
    ExpectedHypervolumeImprovement,
    hypervolume,
    pareto,
    pareto_front,
)
from gpnotes.testing import gradcheck


def by_definition(Y):
    """One pair after the other."""
    return [
        not any(all(z <= y for z, y in zip(b, a, strict=True)) and tuple(b) != tuple(a) for b in Y)
        for a in Y
    ]


def by_inclusion_and_exclusion(Y, reference):
    """The volume of a union of boxes from those of all intersections."""
    total = 0.0
    for size in range(1, len(Y) + 1):
        for chosen in itertools.combinations(Y, size):
            corner = np.max(chosen, axis=0)
            total -= (-1.0) ** size * np.prod(np.clip(reference - corner, 0.0, None))
    return total


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_front_is_that_of_the_definition(m):
    Y = np.random.default_rng(m).integers(0, 4, (40, m)).astype(float)  # with equal ones
    assert pareto_front(Y).tolist() == by_definition(Y.tolist())


def test_equal_vectors_are_all_on_the_front():
    assert pareto_front([[1.0, 2.0], [1.0, 2.0], [2.0, 2.0]]).tolist() == [True, True, False]


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_volume_is_that_of_the_union_of_boxes(m):
    for seed in range(5):
        draws = np.random.default_rng([m, seed])
        Y, reference = draws.random((7, m)) * 1.3, np.ones(m)
        wanted = by_inclusion_and_exclusion(Y, reference)
        assert hypervolume(Y, reference) == pytest.approx(wanted, rel=1e-12)


def test_what_is_beyond_the_reference_adds_nothing():
    assert hypervolume([[2.0, 0.0], [0.0, 1.0]], [1.0, 1.0]) == 0.0
    assert hypervolume([[0.5, 0.5], [0.0, 1.5]], [1.0, 1.0]) == 0.25


@pytest.mark.parametrize("m", [2, 3])
def test_the_expected_growth_is_the_mean_of_draws(m):
    draws = np.random.default_rng(m)
    front, reference = draws.random((6, m)), np.full(m, 1.2)
    mean, variance = draws.random((4, m)), 0.1 + 0.2 * draws.random((4, m))
    found = ExpectedHypervolumeImprovement(front, reference)(mean, variance)
    before = hypervolume(front, reference)
    for i in range(len(mean)):
        drawn = mean[i] + np.sqrt(variance[i]) * draws.standard_normal((15_000, m))
        growth = growths(front, reference, drawn)
        some = [hypervolume(np.vstack([front, y]), reference) - before for y in drawn[:20]]
        np.testing.assert_allclose(growth[:20], some, atol=1e-12)
        assert found[i] == pytest.approx(np.mean(growth), abs=5.0 * np.std(growth) / 15_000**0.5)


@pytest.mark.parametrize("m", [2, 3])
def test_what_is_known_adds_what_it_adds(m):
    draws = np.random.default_rng(m)
    front, reference = draws.random((5, m)), np.ones(m)
    known = draws.random((8, m))
    found = ExpectedHypervolumeImprovement(front, reference)(known, np.zeros((8, m)))
    wanted = [hypervolume(np.vstack([front, y]), reference) for y in known]
    np.testing.assert_allclose(
        found, np.asarray(wanted) - hypervolume(front, reference), atol=1e-12
    )


@pytest.mark.parametrize("m", [2, 3])
def test_its_derivatives_are_those_of_differences(m):
    draws = np.random.default_rng(m)
    worth = ExpectedHypervolumeImprovement(draws.random((5, m)), np.ones(m))
    mean, variance = draws.random((3, m)), 0.1 + draws.random((3, m))

    def pullback(mean, variance, bar):
        return tuple(bar[:, None] * slope for slope in worth.derivatives(mean, variance))

    gradcheck(worth, pullback, mean, variance)


def test_arrays_of_all_kinds(space):
    worth = ExpectedHypervolumeImprovement([[0.2, 0.8], [0.6, 0.3]], [1.0, 1.0])
    mean, variance = np.full((3, 2), 0.4), np.full((3, 2), 0.2)
    made = space.asarray(mean), space.asarray(variance)
    found, (by_mean, by_variance) = worth(*made), worth.derivatives(*made)
    for result in (found, by_mean, by_variance):
        assert space.holds(result)
    np.testing.assert_allclose(to_numpy(found), worth(mean, variance), rtol=1e-5)


@pytest.mark.parametrize("most", [11, 12])
def test_so_many_boxes_are_cut_and_no_more(monkeypatch, most):
    """Three first values and two second ones make four by three, of vectors that count."""
    monkeypatch.setattr(pareto, "_MOST_BOXES", most)
    front = np.asarray([[1.0, 3.0, 0.5], [2.0, 2.0, 0.5], [3.0, 2.0, 0.25], [3.5, 3.5, 0.75],
                        [0.5, 0.5, 4.0]])  # fmt: skip
    if most == 12:
        worth = ExpectedHypervolumeImprovement(front, np.full(3, 4.0))
        assert worth(np.full((1, 3), 9.0), np.zeros((1, 3)))[0] == 0.0
        return
    said = "front must be a front that leaves at most 11 boxes; 3 vectors leave 12"
    with pytest.raises(ValueError, match=said):
        ExpectedHypervolumeImprovement(front, np.full(3, 4.0))


@pytest.mark.parametrize("m", [2, 3])
def test_of_what_is_known_the_derivatives_are_those_of_the_growth(m):
    """Piecewise linear in each value, and nothing by a variance that is zero."""
    draws = np.random.default_rng(m)
    worth = ExpectedHypervolumeImprovement(draws.random((5, m)), np.ones(m))
    mean, variance, step = draws.random((9, m)) - 0.4, np.zeros((9, m)), 1e-7
    by_mean, by_variance = worth.derivatives(mean, variance)
    for j in range(m):
        ends = [worth(mean + sign * step * np.eye(m)[j], variance) for sign in (1.0, -1.0)]
        np.testing.assert_allclose(by_mean[:, j], (ends[0] - ends[1]) / (2 * step), atol=1e-8)
    np.testing.assert_array_equal(by_variance, 0.0)
    assert np.min(by_mean) < -0.01


@pytest.mark.parametrize("variance", [2.3e-308, 2.2e-308, 1e-300, 1e-20])
def test_next_to_no_variance_is_next_to_none(variance):
    """Up to the least normal number it is taken as it is; no square overflows."""
    worth = ExpectedHypervolumeImprovement([[1.0, 3.0], [2.0, 2.0]], [4.0, 4.0])
    mean = np.asarray([[1.5, 1.0], [-1e9, 2.5], [5.0, 0.0]])
    found = worth(mean, np.full((3, 2), variance))
    np.testing.assert_allclose(found, worth(mean, np.zeros((3, 2))), rtol=1e-7)
    slopes = worth.derivatives(mean, np.full((3, 2), variance))
    assert all(np.isfinite(slope).all() for slope in slopes)


def test_a_single_objective_and_strange_beliefs_are_refused():
    worth = ExpectedHypervolumeImprovement([[1.0, 3.0], [2.0, 2.0]], [4.0, 4.0])
    one, good = np.ones((3, 2)), np.full((3, 2), 0.5)
    for call in (worth, worth.derivatives):
        with pytest.raises(ValueError, match=r"variance must have shape \(3, 2\); got \(2, 2\)"):
            call(one, good[:2])
        with pytest.raises(ValueError, match=r"^variance must not be negative$"):
            call(one, good - np.eye(3, 2))
        with pytest.raises(ValueError, match=r"mean must have shape \(n, 2\); got \(3, 1\)"):
            call(one[:, :1], good)
    for call in (lambda: hypervolume([[1.0]], [2.0]),
                 lambda: ExpectedHypervolumeImprovement([[1.0]], [2.0])):  # fmt: skip
        with pytest.raises(ValueError, match="reference must have at least two entries; got 1"):
            call()
    with pytest.raises(ValueError, match=r"reference must have shape \(2,\); got \(3,\)"):
        hypervolume([[1.0, 2.0]], [2.0, 3.0, 4.0])
    assert hypervolume([[1.0, 2.0], [1.0, 2.0], [1.5, 2.0]], [2.0, 3.0]) == 1.0
    on_the_side = ExpectedHypervolumeImprovement([[1.0, 4.0], [1.0, 2.0]], [4.0, 4.0])
    assert on_the_side(np.asarray([[0.0, 3.0]]), np.zeros((1, 2)))[0] == 1.0
