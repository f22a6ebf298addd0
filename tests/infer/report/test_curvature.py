"""The objective around the end of an ascent: errors by a second route, directions without one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpnotes.ground.check import NoValueError
from gpnotes.ground.linalg import FactorisationError
from gpnotes.infer.report.curvature import survey

FREE = np.zeros(2)


def parabola(H, top, value=0.0):
    """An objective with the top and with minus its second derivatives given."""

    def objective(v):
        away = v - top
        return value - 0.5 * float(away @ H @ away), -H @ away

    return objective


@given(seed=st.integers(0, 10**6), size=st.integers(1, 6))
def test_of_a_parabola_the_errors_are_those_of_the_inverse(seed, size):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((size, size)) + 2.0 * np.eye(size)
    H = root @ root.T + 0.5 * np.eye(size)
    units = 10.0 ** rng.uniform(-2.0, 2.0, size)
    outer = H / np.outer(units, units)
    seen = survey(parabola(outer, np.zeros(size)), np.zeros(size), np.zeros(size), units, 1e-3)
    assert seen.states == ("determined",) * size
    np.testing.assert_allclose(seen.errors, units * np.diag(np.linalg.inv(H)) ** 0.5, rtol=1e-6)
    assert seen.gain < 1e-12


def test_what_is_left_to_rise_is_told():
    H, end = np.diag([2.0, 8.0]), np.asarray([1.0, 0.5])
    seen = survey(parabola(H, np.zeros(2)), end, FREE, np.ones(2), 1e-3)
    np.testing.assert_allclose(seen.gain, 0.5 * end @ H @ end, rtol=1e-6)


def test_errors_hold_for_all_entries_fitted_and_not_for_the_others_known():
    H = np.asarray([[4.0, 3.0], [3.0, 4.0]])
    seen = survey(parabola(H, FREE), np.zeros(2), FREE, np.ones(2), 1e-3)
    np.testing.assert_allclose(seen.errors**2, 4.0 / 7.0, rtol=1e-6)  # not 1/4


@pytest.mark.parametrize("sharpness", [1e-3, 1.0, 1e3, 1e6])
def test_a_sharp_top_is_looked_at_more_closely(sharpness):
    """A wave: over a step as long as itself, a difference would see anything."""

    def wave(v):
        return math.cos(v[0] * sharpness), np.asarray([-sharpness * math.sin(v[0] * sharpness)])

    seen = survey(wave, np.zeros(1), np.zeros(1), np.ones(1), 7e-4)
    if sharpness > 0.1:
        np.testing.assert_allclose(seen.errors, 1.0 / sharpness, rtol=1e-2)
    else:
        assert seen.states == ("flat",)


# Directions without a top


def test_a_flat_entry_has_no_error_and_its_range():
    """The first entry changes nothing below 3, and ever more above."""

    def shelf(v):
        over = max(v[0] - 3.0, 0.0)
        return -(over**2) - 2.0 * v[1] ** 2, np.asarray([-2.0 * over, -4.0 * v[1]])

    seen = survey(shelf, np.zeros(2), FREE, np.ones(2), 1e-3)
    assert seen.states == ("flat", "determined")
    assert math.isnan(seen.errors[0])
    np.testing.assert_allclose(seen.errors[1], 0.5, rtol=1e-6)
    assert seen.low[0] == -math.inf
    np.testing.assert_allclose(seen.high[0], 3.0 + math.sqrt(0.1), atol=0.05)


def test_of_a_ridge_both_entries_are_told_and_a_third_keeps_its_error():
    """Only the sum of two counts."""
    across = np.asarray([1.0, 1.0, 0.0])
    H = 9.0 * np.outer(across, across) + np.diag([0.0, 0.0, 4.0])
    seen = survey(parabola(H, np.zeros(3)), np.zeros(3), np.zeros(3), np.ones(3), 1e-3)
    assert seen.states == ("shared", "shared", "determined")
    np.testing.assert_allclose(seen.errors[2], 0.5, rtol=1e-6)


@pytest.mark.parametrize(("curvature", "state"), [(0.15, "flat"), (0.25, "determined")])
def test_flat_is_a_tenth_of_a_nat_over_a_distance_of_one(curvature, state):
    seen = survey(parabola(np.eye(1) * curvature, np.zeros(1)), *np.zeros((2, 1)), np.ones(1), 1e-3)
    assert seen.states == (state,)


def test_it_is_the_objective_that_is_asked_and_not_the_parabola():
    """A fourth power has no curvature at its top, and yet it falls off."""

    def quartic(v):
        return -float(v[0] ** 4), -4.0 * v**3

    seen = survey(quartic, np.zeros(1), np.zeros(1), np.ones(1), 1e-3)
    assert seen.states == ("determined",)
    np.testing.assert_allclose(seen.errors, 2.0**-0.5)


def test_a_pass_is_no_top():
    seen = survey(parabola(np.diag([-3.0, 4.0]), FREE), np.zeros(2), FREE, np.ones(2), 1e-3)
    assert seen.states == ("open", "determined")
    assert math.isnan(seen.errors[0])
    np.testing.assert_allclose(seen.errors[1], 0.5, rtol=1e-6)


def test_curvature_that_rounding_made_is_none():
    """The gradient is off by more than its differences."""

    def rounded(v):
        value, slope = parabola(np.diag([1e4, 1.0]), FREE)(v)
        return value, slope + 0.01 * np.asarray([0.0, math.copysign(1.0, v[0])])

    seen = survey(rounded, np.zeros(2), FREE, np.ones(2), 1e-3)
    assert seen.states[0] == "determined"
    assert seen.states[1] == "open"


# Bounds and walls


@pytest.mark.parametrize(("side", "state"), [(1.0, "bound"), (-1.0, "determined")])
def test_a_bound_holds_what_rises_beyond_it_and_nothing_else(side, state):
    """The top of the first entry lies at 1, on one side of where it has ended."""
    H = np.asarray([[4.0, 1.0], [1.0, 4.0]])
    end = np.asarray([0.0, 0.25])  # the best for the second, given the first
    seen = survey(
        parabola(H, np.asarray([1.0, 0.0])), end, np.asarray([side, 0.0]), np.ones(2), 1e-3
    )
    assert seen.states == (state, "determined")
    known = 4.0 if state == "bound" else 15.0 / 4.0
    np.testing.assert_allclose(seen.errors[1], known**-0.5, rtol=1e-6)


def test_at_a_bound_that_matters_to_nobody_an_entry_is_flat():
    def away(v):
        return -math.exp(-v[0]), np.asarray([math.exp(-v[0])])

    seen = survey(away, np.asarray([9.0]), np.ones(1), np.ones(1), 1e-3)
    assert seen.states == ("flat",)
    assert seen.high[0] == math.inf
    assert 2.0 < seen.low[0] < 3.0


@pytest.mark.parametrize("problem", [NoValueError, FloatingPointError, FactorisationError])
def test_around_a_wall_the_rest_is_seen(problem):
    def walled(v):
        if abs(v[0]) > 1e-9:
            raise problem("there is nothing")
        return -2.0 * float(v[1] ** 2), np.asarray([0.0, -4.0 * v[1]])

    seen = survey(walled, np.zeros(2), FREE, np.ones(2), 1e-3)
    assert seen.states == ("open", "determined")
    np.testing.assert_allclose(seen.errors[1], 0.5, rtol=1e-6)


def test_nothing_free_is_nothing_to_see():
    seen = survey(lambda v: (1.0, v), *np.zeros((3, 0)), 1e-3)
    assert (seen.errors.size, seen.states, seen.gain) == (0, (), 0.0)
