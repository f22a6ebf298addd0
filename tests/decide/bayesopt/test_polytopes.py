"""Polytopes: sides, middles and walks, against plain loops and linear programs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from gpnotes import stream
from gpnotes.decide.bayesopt import LinearConstraint
from gpnotes.decide.bayesopt.polytopes import Polytope, Row, polytope_of

REALS = np.zeros(2, dtype=int)
TILTED = np.asarray([[0.6, 0.8]])  # of length one


def test_walkers_fill_a_simplex_that_a_sequence_misses():
    """Of ten inputs one point in 3.6 million lies inside; the mean of each is 1 / 11 there."""
    simplex = Polytope(np.ones((1, 10)), np.ones(1), np.zeros(10, dtype=int), "the sides")
    points = simplex.spread(2048, stream(1))
    assert points.shape == (2048, 10)
    assert np.all(points >= 0.0)
    assert np.all(points.sum(axis=1) <= 1.0)
    # of a Dirichlet of eleven ones: deviation √(10 / 121 / 12) = 0.083, and walkers not quite free
    np.testing.assert_allclose(points.mean(axis=0), 1.0 / 11.0, atol=6 * 0.083 / math.sqrt(2048))
    np.testing.assert_array_equal(simplex.spread(300, stream(1)), points[:300])


def test_walkers_turn_before_a_side_of_the_cube():
    """Whoever walks beyond it is put on the side, where a uniform draw never is."""
    corner = Polytope(-np.ones((1, 3)), -2.9 * np.ones(1), np.zeros(3, dtype=int), "the sides")
    points = corner.spread(700, stream(1))
    assert np.all(points < 1.0)
    # each is 1 − e of an e that is uniform where the three have a sum of at most 0.1
    np.testing.assert_allclose(points.mean(axis=0), 1.0 - 0.1 / 4.0, atol=0.004)
    share = np.sum(1.0 - points, axis=1) / 0.1  # below s with a chance of s³
    for s in (0.4, 0.6, 0.8, 0.95):
        assert np.mean(share < s) == pytest.approx(s**3, abs=0.06)


def test_what_a_sequence_reaches_is_of_the_sequence():
    half = Polytope(np.ones((1, 2)), np.ones(1), np.zeros(2, dtype=int), "the sides")
    points = half.spread(900, stream(1))
    assert len(np.unique(points, axis=0)) == 900
    assert np.all(points.sum(axis=1) <= 1.0)
    share = np.mean(points[:, 0] < 0.5)  # of the triangle three quarters
    assert share == pytest.approx(0.75, abs=0.02)


# -- constraints and sides --------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"coefficients": [1.0]},
        {"coefficients": [0.0, 0.0], "upper": 1.0},
        {"coefficients": [1.0, math.nan], "upper": 1.0},
        {"coefficients": [1.0], "upper": 1.0, "lower": 2.0},
    ],
)
def test_a_constraint_that_says_nothing_is_refused(given):
    with pytest.raises(ValueError, match=r"coefficients|upper|lower"):
        LinearConstraint(**given)


def test_a_constraint_keeps_its_numbers_as_floats():
    by_name = LinearConstraint({"a": 1, "b": np.float32(0.5)}, upper=3)
    assert by_name.described() == {
        "coefficients": {"a": 1.0, "b": 0.5},
        "upper": 3.0,
        "lower": None,
    }
    listed = LinearConstraint(np.asarray([1.0, -2.0]), lower=0, upper=0)
    assert listed.described() == {"coefficients": [1.0, -2.0], "upper": 0.0, "lower": 0.0}
    for wrong in ("ab", 3.0, None, {1.0, 2.0}):
        with pytest.raises(TypeError, match="coefficients must be a mapping from names to numbers"):
            LinearConstraint(wrong, upper=1.0)


def test_each_limit_is_a_side_of_the_cube(rng):
    """Sums over a box from (1, −2) to (4, 0); the points within are those whose sums are."""
    low, wide = np.asarray([1.0, -2.0]), np.asarray([3.0, 2.0])
    constraints = [
        LinearConstraint([1.0, 2.0], upper=2.5),
        LinearConstraint([2.0, -1.0], lower=2.5, upper=8.0),
        LinearConstraint([0.0, 1.0], lower=-1.75),
    ]

    def row_of(constraint):
        a = np.asarray(constraint.coefficients)
        return Row(a * wide, float(a @ low))

    found = polytope_of(constraints, row_of, REALS)
    units = rng.random((400, 2))
    x = low + wide * units
    sums = x @ np.asarray([[1.0, 2.0], [2.0, -1.0], [0.0, 1.0]]).T
    met = (sums[:, 0] <= 2.5) & (sums[:, 1] >= 2.5) & (sums[:, 1] <= 8.0) & (sums[:, 2] >= -1.75)
    assert 0.2 < np.mean(met) < 0.8
    np.testing.assert_array_equal(found.holds(units), met)
    np.testing.assert_array_equal(found.admits(units), met)
    assert polytope_of([], row_of, REALS) is None
    for wrong in (constraints[0], [constraints[0], None]):
        with pytest.raises(TypeError, match="linear_constraints must be a sequence of LinearCons"):
            polytope_of(wrong, row_of, REALS)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0])
def test_a_place_of_a_user_s_may_be_a_billionth_beyond_and_one_of_ours_a_thousandth_of_that(scale):
    """Measured square to the side, whatever the numbers in which it is given."""
    found = Polytope(scale * TILTED, scale * np.ones(1), REALS, "the sides")
    for beyond, admitted, held in (
        (0.0, True, True), (0.8e-12, True, True), (1.2e-12, True, False),
        (0.9e-9, True, False), (1.1e-9, False, False),
    ):  # fmt: skip
        units = TILTED * (1.0 + beyond)
        assert bool(found.admits(units)[0]) is admitted
        assert bool(found.holds(units)[0]) is held


def test_a_side_without_factors_says_whether_it_holds():
    """As one of inputs that are all fixed."""
    free = Polytope(np.zeros((1, 2)), np.zeros(1), REALS, "the sides")
    np.testing.assert_array_equal(free.holds(np.asarray([[0.0, 1.0], [0.3, 0.2]])), True)
    with pytest.raises(ValueError, match=r"^linear_constraints must leave room .*; got the sides$"):
        Polytope(np.zeros((1, 2)), -np.ones(1), REALS, "the sides")


def test_climbs_see_what_their_other_columns_leave(rng):
    """Sides of whole numbers alone are none of theirs; they end a hair before the others."""
    rows = np.asarray([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [-0.8, 0.6, 0.0]])
    limits = np.asarray([0.9, 0.7, 0.2])
    found = Polytope(rows, limits, np.asarray([0, 4, 0]), "the sides")
    units, free = rng.random((5, 3)), np.asarray([True, False, False])
    sides, left = found.slopes(units, free)
    np.testing.assert_allclose(sides, [[0.6, 0.0, 0.0], [-0.8, 0.0, 0.0]])
    for u, b in zip(units, left, strict=True):
        wanted = [0.9 - 1e-10 - 0.8 * u[2], 0.2 - 1e-10 - 0.6 * u[1]]
        np.testing.assert_allclose(b, wanted, rtol=0, atol=1e-15)
    assert found.reached(units, units + 1.0, free, len).tolist() == (units + 1.0).tolist()


# -- the middle -------------------------------------------------------------------------------


def depth(rows, limits, cells, u):
    """The distance of a point to the nearest side on which a real moves, of the cube's too."""
    reals = np.flatnonzero((cells == 0) & np.any(rows != 0.0, axis=0))
    best = [1.0]
    for a, b in zip(rows, limits, strict=True):
        reach, left = np.linalg.norm(a[reals]), b - a @ u
        if reach:
            best.append(left / reach)
        elif left < -1e-9:
            return -math.inf
    for j in reals:
        best += [u[j], 1.0 - u[j]]
    return min(best)


def deepest(rows, limits, cells):
    """The largest depth: a linear program for each choice of cells."""
    d, best = len(cells), -math.inf
    ways = [[None] if c == 0 else (np.arange(c) + 0.5) / c for c in cells]
    reals = (cells == 0) & np.any(rows != 0.0, axis=0)
    for way in itertools.product(*ways):
        A = [[*a, np.linalg.norm(a[reals])] for a in rows]
        b = list(limits)
        for j in np.flatnonzero(reals):
            A += [[*(-np.eye(d)[j]), 1.0], [*np.eye(d)[j], 1.0]]
            b += [0.0, 1.0]
        box = [(0.0, 1.0) if at is None else (at, at) for at in way]
        found = linprog([*np.zeros(d), -1.0], A, b, bounds=[*box, (0.0, 1.0)])
        best = max(best, -found.fun) if found.status == 0 else best
    return best


@pytest.mark.parametrize("cells", [(0, 0, 0), (0, 3, 0), (4, 0, 2), (5, 3, 4)])
def test_the_middle_is_as_far_from_its_sides_as_can_be(rng, cells):
    cells = np.asarray(cells)
    for _ in range(6 if min(cells[1:]) == 0 else 2):
        rows, inner = rng.normal(size=(3, 3)), rng.uniform(0.2, 0.8, 3)
        rows[1, rng.integers(3)] = 0.0
        limits = rows @ inner + rng.uniform(0.05, 0.3, 3)
        best = deepest(rows, limits, cells)
        if best < 1e-6:
            continue
        middle = Polytope(rows, limits, cells, "the sides")._middle
        assert depth(rows, limits, cells, middle) == pytest.approx(best, abs=1e-8)
        assert np.all((middle >= 0.0) & (middle <= 1.0))
        for j in np.flatnonzero(cells):
            at = middle[j] * cells[j] - 0.5
            assert at == pytest.approx(round(at), abs=1e-9)


def test_less_than_a_millionth_to_every_side_is_no_room():
    for width, enough in ((2.02e-6, True), (1.98e-6, False)):
        sides = np.asarray([[1.0, 0.0]]), np.asarray([width]), REALS, "the sides"
        if enough:
            assert Polytope(*sides)._middle[0] == pytest.approx(width / 2.0)
        else:
            with pytest.raises(ValueError, match="linear_constraints must leave room"):
                Polytope(*sides)
    whole = np.asarray([2, 2])  # an equation of whole numbers has none, and needs none
    equal = Polytope(np.asarray([[1.0, 1.0], [-1.0, -1.0]]), np.asarray([1.0, -1.0]), whole, "it")
    assert equal._middle.sum() == pytest.approx(1.0)


# -- walks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [(0, 0, 0), (3, 0, 0), (2, 4, 5)])
def test_a_step_reaches_from_the_first_side_to_the_last(rng, cells):
    """In both directions, by each side of the polytope and the cube; cells keep their centres."""
    cells = np.asarray(cells)
    rows = np.asarray([[0.6, 0.8, 0.0], [0.0, -0.6, 0.8], [-1.0, 0.0, 0.0]])
    limits = np.asarray([1.1, 0.5, 0.0])
    found = Polytope(rows, limits, cells, "the sides")
    units = np.asarray([found._middle] * 12)
    move = rng.normal(size=(12, 3)) * (rng.random((12, 3)) < 0.7)
    move[:3] = np.eye(3)
    low, high = found._reach(units, move)
    closed = [not np.any(a[cells == 0]) for a in rows]
    for u, m, first, last in zip(units, move, low, high, strict=True):
        down, up = [-math.inf], [math.inf]
        for a, b, shut in zip(rows, limits, closed, strict=True):
            if a @ m:
                end = max(b + 1e-12 * shut - a @ u, 0.0) / (a @ m)
                (up if a @ m > 0.0 else down).append(end)
        for j in range(3):
            half = 0.5 / cells[j] if cells[j] else 0.0
            if m[j]:
                ends = sorted([(1.0 - half - u[j]) / m[j], (half - u[j]) / m[j]])
                down.append(ends[0])
                up.append(ends[1])
        assert first == pytest.approx(max(down), abs=1e-12)
        assert last == pytest.approx(min(up), abs=1e-12)


@pytest.mark.parametrize("equal", [False, True])
def test_walks_over_cells_come_to_all_of_them_alike(rng, equal):
    """One column, or one against another; with an equation by exchanges alone.

    Thirds and fifths are rounded: a step to the last cell is one however it is rounded.
    """
    first, second = (4, 4) if equal else (3, 5)
    cells = np.asarray([first, 0, second, 2])
    rows = np.asarray([[1.0, 0.0, 1.0, 0.5]])
    rows = np.concatenate([rows, -rows]) if equal else rows
    limits = np.asarray([1.125, -1.125]) if equal else np.asarray([1.21])
    found = Polytope(rows, limits, cells, "the sides")
    units = np.tile(found._middle, (3000, 1))
    units[:, 1] = 0.37
    before = units
    for _ in range(25):
        before, units = units, found._move_cells(units, rng)
    moved = np.abs(units - before) > 1e-9
    assert 1 <= np.max(np.sum(moved, axis=1)) <= 2
    assert np.all(units[:, 1] == 0.37)
    at = np.rint(units[:, [0, 2, 3]] * [first, second, 2] - 0.5)
    np.testing.assert_allclose((at + 0.5) / [first, second, 2], units[:, [0, 2, 3]], atol=1e-9)
    sums = {
        way: (way[0] + 0.5) / first + (way[1] + 0.5) / second + 0.5 * (way[2] + 0.5) / 2
        for way in itertools.product(range(first), range(second), range(2))
    }
    inside = [w for w, s in sums.items() if (abs(s - 1.125) < 1e-9 if equal else s < 1.21)]
    counts = [np.sum(np.all(at == way, axis=1)) for way in inside]
    assert sum(counts) == 3000
    expected = 3000 / len(inside)
    np.testing.assert_allclose(counts, expected, atol=5.0 * math.sqrt(expected))


def test_columns_without_a_side_are_drawn_evenly_on_every_walk():
    """In the first column the side is at a thousandth, where no sequence has a point to spare."""
    thin = Polytope(np.asarray([[1.0, 0.0]]), np.asarray([1e-5]), REALS, "the sides")
    points = thin.spread(1200, stream(3))
    assert np.all(points[:, 0] <= 1e-5)
    for j, top in ((0, 1e-5), (1, 1.0)):
        parts = np.histogram(points[:, j], 4, (0.0, top))[0]
        np.testing.assert_allclose(parts, 300.0, atol=75.0)


def test_where_settings_leave_only_the_middle_it_is_taken_again_and_again():
    """Points are moved to the settings they stand for; those outside are left out."""
    half = Polytope(np.ones((1, 2)), np.ones(1), REALS, "the sides")
    seen = []

    def snapped(units):
        seen.append(len(units))
        at_middle = np.all(np.abs(units - half._middle) < 1e-12, axis=1)
        return np.where(at_middle[:, None], 0.25, np.ones_like(units))

    points = half.spread(3, stream(1), snapped)
    np.testing.assert_array_equal(points, np.full((3, 2), 0.25))
    assert seen == [4096, 256, 1, 256, 1, 256, 1]
