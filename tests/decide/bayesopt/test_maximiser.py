"""The largest acquisition against dense grids, and what no start may lose."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, Matern52, condition, stream, to_numpy
from gpnotes.decide.bayesopt import (
    ExpectedImprovement,
    LogExpectedImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
    maximise_acquisition,
    maximiser,
)
from gpnotes.ground.ascent import Ascent
from gpnotes.ground.xp import sobol

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
