"""The largest acquisition against dense grids, and what no start may lose."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, Matern52, condition, stream, to_numpy
from gpnotes.decide.bayesopt import (
    ExpectedImprovement,
    Integer,
    LogExpectedImprovement,
    ProbabilityOfImprovement,
    Real,
    Space,
    UpperConfidenceBound,
    maximise_acquisition,
    maximiser,
)
from gpnotes.decide.bayesopt.maximiser import (
    SurfaceSum,
    maximise_in_room,
    maximise_on_lattice,
    perturbed,
)
from gpnotes.decide.bayesopt.polytopes import Polytope
from gpnotes.ground.ascent import Ascent
from gpnotes.ground.xp import sobol
from gpnotes.model.kernels import WithGradients, gradients_at, values_at

LINE = [(-2.0, 3.0)]
PLANE = [(-2.0, 3.0), (0.0, 10.0)]


def kinds(best):
    """One acquisition of each kind for a best value."""
    yield UpperConfidenceBound(4.0)
    yield ProbabilityOfImprovement(best, 0.1)
    yield ExpectedImprovement(best)
    yield LogExpectedImprovement(best)


def on_the_line(rng, scale=1.0):
    X = rng.uniform(-2.0, 3.0, (8, 1))
    y = scale * np.sin(3.0 * X[:, 0])
    return condition(GP(RBF(scale**2, 0.6), 1e-4 * scale**2), X, y)


def in_the_plane(rng, space=None):
    X = rng.uniform((-2.0, 0.0), (3.0, 10.0), (15, 2))
    y = np.sin(2.0 * X[:, 0]) + np.cos(X[:, 1])
    into = np.asarray if space is None else space.asarray
    kernel = Matern52(1.0, into([0.8, 1.6]))
    return condition(GP(kernel, 1e-3), into(X), into(y))


@pytest.mark.parametrize("i", range(4))
def test_on_a_line_it_is_the_largest_of_a_grid(rng, i):
    posterior = on_the_line(rng)
    acquisition = list(kinds(float(np.max(posterior.y))))[i]
    grid = np.linspace(*LINE[0], 20_001)[:, None]
    wanted = acquisition(*posterior.predict(grid))
    found = maximise_acquisition(posterior, acquisition, LINE, rng=stream(i))
    assert found.value >= np.max(wanted) - 1e-12
    np.testing.assert_allclose(found.x, grid[np.argmax(wanted)], atol=3e-4)


@pytest.mark.parametrize("i", range(4))
def test_in_the_plane_it_is_the_largest_of_a_grid(rng, i):
    posterior = in_the_plane(rng)
    acquisition = list(kinds(float(np.max(posterior.y))))[i]
    sides = (np.linspace(*ends, 301) for ends in PLANE)
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    wanted = np.max(acquisition(*posterior.predict(grid)))
    found = maximise_acquisition(posterior, acquisition, PLANE, rng=stream(i))
    assert found.value >= wanted - 1e-12
    assert found.value <= wanted + 0.02 * max(1.0, abs(wanted))


def test_no_climb_ends_below_its_start_nor_the_best_below_a_raw_point(rng):
    posterior = in_the_plane(rng)
    for seed, acquisition in enumerate(kinds(float(np.max(posterior.y)))):
        found = maximise_acquisition(
            posterior,
            acquisition,
            PLANE,
            raw_samples=40,
            num_restarts=6,
            max_steps=3,
            rng=stream(seed),
        )
        units = sobol(40, 2, stream(seed).generator)
        raw = acquisition(*posterior.predict(np.asarray([-2.0, 0.0]) + np.asarray([5, 10]) * units))
        assert len(found.local_maxima) == 6
        assert found.value >= np.max(raw)
        starts = sorted((climb.start_value for climb in found.local_maxima), reverse=True)
        np.testing.assert_allclose(starts, np.sort(raw)[::-1][:6], rtol=1e-12)
        assert all(climb.value >= climb.start_value for climb in found.local_maxima)
        values = [climb.value for climb in found.local_maxima]
        assert values == sorted(values, reverse=True)
        assert found.value == values[0]


def test_a_climb_that_falls_ends_at_its_start(rng, monkeypatch):
    def falls(worth, starts, limits, steps, rows):
        line = np.linspace(0.0, 1.0, 50)[:, None]
        values = worth(line)[0]
        low = np.argmin(values)
        return [Ascent(line[low], values[low], 1, True, "fell") for _ in starts]

    monkeypatch.setattr(maximiser, "ascend_all", falls)
    posterior, acquisition = on_the_line(rng), UpperConfidenceBound(4.0)
    found = maximise_acquisition(posterior, acquisition, LINE, raw_samples=16, rng=stream(1))
    for climb in found.local_maxima:
        np.testing.assert_array_equal(climb.x, climb.start)
        assert climb.value == climb.start_value
    assert found.value == max(climb.start_value for climb in found.local_maxima)


def test_derivatives_of_the_wrong_sign_lead_nowhere_and_lose_nothing(rng):

    class Wrong(UpperConfidenceBound):
        def derivatives(self, mean, variance):
            return tuple(-bar for bar in super().derivatives(mean, variance))

    found = maximise_acquisition(on_the_line(rng), Wrong(4.0), LINE, raw_samples=16, rng=stream(1))
    assert found.value >= max(climb.start_value for climb in found.local_maxima)


def test_where_there_is_nan_there_is_no_worth(rng):
    class Torn(UpperConfidenceBound):
        def __call__(self, mean, variance):
            return np.where(mean > 0.2, np.nan, super().__call__(mean, variance))

    found = maximise_acquisition(
        on_the_line(rng), Torn(4.0), LINE, raw_samples=64, num_restarts=64, rng=stream(1)
    )
    assert np.isfinite(found.value)
    torn = [climb for climb in found.local_maxima if climb.start_value == -np.inf]
    assert 0 < len(torn) < 64
    assert all(climb.message.startswith("no value at the start") for climb in torn)
    values = [climb.value for climb in found.local_maxima]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_it_does_not_matter_in_which_unit_f_is_measured(rng, scale):
    """L-BFGS stops at slopes below 1e-5: an improvement of 1e-7 must not look flat."""
    state = rng.bit_generator.state
    one = on_the_line(rng)
    rng.bit_generator.state = state
    other = on_the_line(rng, scale)
    here = maximise_acquisition(one, ExpectedImprovement(float(np.max(one.y))), LINE, rng=stream(3))
    there = maximise_acquisition(
        other, ExpectedImprovement(float(np.max(other.y))), LINE, rng=stream(3)
    )
    np.testing.assert_allclose(there.x, here.x, atol=1e-4)
    np.testing.assert_allclose(there.value, scale * here.value, rtol=1e-5)


def test_far_below_the_best_the_logarithm_still_leads_somewhere(rng):
    posterior = on_the_line(rng)
    flat = maximise_acquisition(posterior, ExpectedImprovement(100.0), LINE, rng=stream(1))
    steep = maximise_acquisition(posterior, LogExpectedImprovement(100.0), LINE, rng=stream(1))
    assert flat.value == 0.0
    assert np.isfinite(steep.value)
    assert steep.value > max(climb.start_value for climb in steep.local_maxima)


def test_the_same_stream_gives_the_same_point(rng):
    posterior = in_the_plane(rng)
    twice = [
        maximise_acquisition(posterior, UpperConfidenceBound(4.0), PLANE, rng=stream(5))
        for _ in range(2)
    ]
    np.testing.assert_array_equal(twice[0].x, twice[1].x)


def test_the_point_lives_where_the_posterior_does(space, rng):
    posterior = in_the_plane(rng, space)
    found = maximise_acquisition(
        posterior, UpperConfidenceBound(4.0), PLANE, raw_samples=64, num_restarts=3, rng=stream(5)
    )
    assert space.holds(found.x)
    assert isinstance(found.value, float)
    assert all(space.holds(climb.start) for climb in found.local_maxima)
    x = to_numpy(found.x).astype(float)
    assert np.all((x >= [-2.0, 0.0]) & (x <= [3.0, 10.0]))
    host = condition(
        GP(Matern52(1.0, np.asarray([0.8, 1.6])), 1e-3),
        *(to_numpy(a).astype(float) for a in (posterior.X, posterior.y)),
    )
    wanted = maximise_acquisition(
        host, UpperConfidenceBound(4.0), PLANE, raw_samples=64, num_restarts=3, rng=stream(5)
    )
    np.testing.assert_allclose(found.value, wanted.value, rtol=1e-9 if space.double else 2e-3)


def test_a_climb_follows_the_slope_in_the_units_of_the_box():
    """A box a thousand times as wide one way: a hill in it is climbed in a few steps, not many."""
    X = np.asarray([[0.3, 700.0]])
    posterior = condition(GP(RBF(1.0, np.asarray([0.5, 900.0])), 0.01), X, np.ones(1))
    box = [(-1.0, 1.0), (-2e3, 2e3)]
    found = maximise_acquisition(
        posterior, UpperConfidenceBound(0.0), box, raw_samples=16, num_restarts=1, rng=stream(1)
    )
    (climb,) = found.local_maxima
    assert climb.converged
    assert climb.evaluations < 20
    np.testing.assert_allclose(found.x, X[0], rtol=1e-3)


def test_fewer_points_than_starts_are_all_climbed(rng):
    found = maximise_acquisition(
        on_the_line(rng),
        UpperConfidenceBound(4.0),
        LINE,
        raw_samples=3,
        num_restarts=9,
        rng=stream(1),
    )
    assert len(found.local_maxima) == 3


@pytest.mark.parametrize(
    "box", [[(0.0, 1.0)], [(0.0, 1.0), (1.0, 1.0)], [(0.0, 1.0), (0.0, np.inf)], 3.0, None]
)
def test_a_box_that_is_none_is_refused(rng, box):
    with pytest.raises(ValueError, match=r"box must be 2 pairs \(lower, upper\) with lower < upp"):
        maximise_acquisition(in_the_plane(rng), UpperConfidenceBound(4.0), box, rng=stream(1))


class Hill:
    """A hill over the cube whose top is known, and which is steeper along later columns."""

    def __init__(self, top):
        self.top, self.steep = np.asarray(top), 1.0 + np.arange(len(top))

    def values(self, Xs):
        return -((Xs - self.top) ** 2) @ self.steep

    def values_and_gradient(self, Xs):
        return self.values(Xs), -2.0 * (Xs - self.top) * self.steep


class Needle(Hill):
    """A hill with a needle on it, which only who stands at its foot sees."""

    def values(self, Xs):
        return super().values(Xs) + 9.0 * (np.abs(Xs - 0.123).max(axis=1) < 1e-9)


def best_of(settings, hill, seen=()):
    """The settings from the best one down, less those that were seen."""
    order = settings[np.argsort(-hill.values(settings), kind="stable")]
    return [row.tolist() for row in order if row.tolist() not in [list(one) for one in seen]]


def test_sums_of_surfaces_are_sums_of_values_and_of_slopes(rng):
    x, hills = rng.random((4, 2)), [Hill([0.1, 0.7]), Hill([0.5, 0.2]), Hill([1.0, 1.0])]
    values, gradient = SurfaceSum(tuple(hills)).values_and_gradient(x)
    np.testing.assert_allclose(SurfaceSum(tuple(hills)).values(x), values)
    np.testing.assert_allclose(values, sum(hill.values(x) for hill in hills))
    np.testing.assert_allclose(gradient, sum(h.values_and_gradient(x)[1] for h in hills))


def test_of_a_model_of_gradients_the_values_are_climbed(rng):
    X = np.concatenate([values_at(rng.random((5, 2))), gradients_at(rng.random((2, 2)))])
    posterior = condition(GP(WithGradients(RBF(1.0, 0.5)), 1e-3), X, rng.normal(size=len(X)))
    surface = maximiser.acquisition_surface(posterior, UpperConfidenceBound(4.0))
    x = rng.random((3, 2))
    values, gradient = surface.values_and_gradient(x)
    wanted = UpperConfidenceBound(4.0)(*posterior.predict(values_at(x)))
    np.testing.assert_allclose(surface.values(x), wanted)
    np.testing.assert_allclose(values, wanted)
    assert gradient.shape == x.shape
    for k, step in enumerate(1e-6 * np.eye(2)):
        slope = (surface.values(x + step) - surface.values(x - step)) / 2e-6
        np.testing.assert_allclose(gradient[:, k], slope, rtol=1e-4, atol=1e-6)
    found = maximise_acquisition(posterior, UpperConfidenceBound(4.0), [(0.0, 1.0)] * 2, rng=1)
    assert found.x.shape == (2,)


LIKE = np.zeros((1, 2))
HALF = Polytope(np.asarray([[1.0, 1.0]]), np.asarray([0.8]), np.zeros(2), "a side")


@pytest.mark.parametrize(
    ("room", "top"), [(None, [0.3, 0.9]), (HALF, [0.3 - 0.8 / 3.0, 0.9 - 0.4 / 3.0])]
)
def test_in_a_room_it_is_the_top_or_the_nearest_on_the_side(room, top):
    """The least of (x − .3)² + 2 (y − .9)² where x + y = .8 is at (x − .3) = 2 (y − .9)."""
    hill = Hill([0.3, 0.9])
    found = maximise_in_room(hill, LIKE, 2, stream(1), room)
    np.testing.assert_allclose(found.x, top, atol=1e-5)
    assert found.value == pytest.approx(hill.values(np.asarray([top]))[0], abs=1e-5)
    assert found.value == max(climb.value for climb in found.local_maxima)
    assert len(found.local_maxima) == 10


def test_what_is_known_to_be_good_is_looked_at_where_the_room_has_it():
    near = np.asarray([[0.123, 0.123], [0.9, 0.9]])
    beyond = Polytope(np.asarray([[-1.0, 0.0]]), np.asarray([-0.2]), np.zeros(2), "a side")
    needle = Needle([0.6, 0.6])
    for room, sees in ((None, True), (HALF, True), (beyond, False)):
        found = maximise_in_room(needle, LIKE, 2, stream(1), room, near)
        assert (found.value > 8.0) == sees
        assert maximise_in_room(needle, LIKE, 2, stream(1), room).value <= 0.0
    line = Space({"a": Real(0.0, 1.0), "b": Real(0.0, 1.0)})
    for given, sees in ((near, True), (None, False)):
        found = maximise_on_lattice(needle, LIKE, line, np.zeros((1, 2)), stream(1), None, given)
        assert (found.value > 8.0) == sees


SMALL = Space({"a": Integer(0, 4), "b": Integer(0, 2)})


def test_among_few_settings_it_is_the_best_that_was_not_seen():
    hill = Hill([0.45, 0.2])
    order = best_of(SMALL.settings(), hill)
    assert len(order) == SMALL.count == 15
    for gone in (1, 4, 14):
        found = maximise_on_lattice(hill, LIKE, SMALL, np.asarray(order[:gone]), stream(1))
        assert found.x.tolist() == order[gone]
        assert found.value == hill.values(np.asarray([order[gone]]))[0]
    every = maximise_on_lattice(hill, LIKE, SMALL, np.asarray(order), stream(1))
    assert every.x.tolist() == order[0]  # all were seen: the best again


def test_among_few_settings_a_room_leaves_out_those_beyond():
    hill = Hill([0.9, 0.9])
    cells = SMALL.cells
    room = Polytope(np.asarray([[1.0, 1.0]]), np.asarray([1.0]), cells, "a side")
    inside = SMALL.settings()[room.holds(SMALL.settings())]
    assert 0 < len(inside) < 15
    seen = np.asarray(best_of(inside, hill)[:1])
    found = maximise_on_lattice(hill, LIKE, SMALL, seen, stream(1), room)
    assert found.x.tolist() == best_of(inside, hill)[1]


@pytest.mark.parametrize("room", [None, "side"])
def test_among_many_settings_one_goes_from_each_to_a_better_one_beside(room):
    """Ten thousand whole numbers and a real, which is climbed along."""
    space = Space({"n": Integer(0, 9999), "x": Real(0.0, 1.0)})
    hill = Hill([0.43217, 0.3])
    sides = np.asarray([[0.0, 1.0]]), np.asarray([0.25])
    room = None if room is None else Polytope(*sides, space.cells, "a side")
    found = maximise_on_lattice(hill, LIKE, space, np.full((1, 2), 0.5), stream(1), room)
    np.testing.assert_array_equal(found.x, space.snapped(found.x[None, :])[0])
    best = 0.3 if room is None else 0.25
    assert found.x[1] == pytest.approx(best, abs=1e-5)
    assert found.x[1] <= best + 1e-7 or room is None
    spread = maximise_on_lattice(hill, LIKE, space, np.full((1, 2), 0.5), stream(2), room)
    for one in (found, spread):  # of 512 raw points the next is a thousandth away
        assert abs(one.x[0] - 0.43217) < 1e-3


def test_of_whole_numbers_the_top_is_reached_by_steps():
    """Of a million settings, from the best of those that are looked at, one step at a time."""
    space = Space({"a": Integer(0, 99), "b": Integer(0, 99), "c": Integer(0, 99)})
    hill = Hill([0.505, 0.255, 0.805])
    seen = np.full((1, 3), 0.005)
    found = maximise_on_lattice(hill, np.zeros((1, 3)), space, seen, stream(1))
    assert space.from_units(found.x[None, :]) == [{"a": 50, "b": 25, "c": 80}]
    again = maximise_on_lattice(hill, np.zeros((1, 3)), space, found.x[None, :], stream(1))
    wanted = {"a": 50, "b": 25, "c": 80}
    (other,) = space.from_units(again.x[None, :])
    assert other != wanted
    assert sum(abs(other[name] - wanted[name]) for name in wanted) <= 2


def test_points_near_good_ones_have_some_inputs_moved_by_a_tenth():
    gaps = perturbed(np.full((1, 4), 0.5), 4000, stream(1)) - 0.5
    moved = gaps != 0.0
    assert moved.any(axis=1).all()
    assert moved.mean() == pytest.approx(0.5 + 0.5 / 4, abs=0.02)  # half, and one in any case
    assert moved.mean(axis=0).std() < 0.02
    assert gaps[moved].std() == pytest.approx(0.1, rel=0.05)
    assert abs(gaps[moved].mean()) < 0.01
    near = perturbed(np.asarray([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]), 900, stream(2))
    assert (near.min(), near.max()) == (0.0, 1.0)
    assert np.mean(near[:, 0] > 0.5) == pytest.approx(2.0 / 3.0, abs=0.06)
