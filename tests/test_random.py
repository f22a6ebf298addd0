"""Random numbers: the same on every backend, in the kind of what they are for."""

import numpy as np
import pytest

from gpnotes import stream
from gpnotes._xp import array_namespace, device, to_numpy


@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_every_backend_sees_the_same_numbers(space, draw):
    here = getattr(stream(3), draw)((4, 2), like=space.asarray([0.0]))
    assert space.holds(here)
    host = getattr(stream(3), draw)((4, 2))
    assert host.dtype == np.float64
    np.testing.assert_array_equal(to_numpy(here), host.astype(to_numpy(here).dtype))


@pytest.mark.parametrize(
    "draw",
    [
        lambda s, like: s.integers(0, 9, (5,), like=like),
        lambda s, like: s.permutation(6, like=like),
        lambda s, like: s.choice(9, 4, like=like),
    ],
)
def test_whole_numbers_go_to_the_device_too(space, draw):
    like = space.asarray([0.0])
    here = draw(stream(1), like)
    assert array_namespace(here) == space.xp
    assert device(here) == device(like)
    assert space.xp.isdtype(here.dtype, "integral")
    np.testing.assert_array_equal(to_numpy(here), draw(stream(1), None))


def test_one_seed_one_sequence():
    first, second = stream(5), stream(5)
    np.testing.assert_array_equal(first.normal(3), second.normal(3))
    np.testing.assert_array_equal(first.normal(3), second.normal(3))
    assert not np.array_equal(first.normal(3), stream(5).normal(3))
    assert not np.array_equal(stream(5).normal(3), stream(6).normal(3))


def test_a_spawned_stream_knows_its_name_and_not_what_was_drawn():
    parent = stream(5)
    before = parent.spawn("noise").normal(4)
    parent.normal(100)
    np.testing.assert_array_equal(parent.spawn("noise").normal(4), before)
    assert not np.array_equal(parent.spawn("starts").normal(4), before)
    assert not np.array_equal(parent.spawn("noise").spawn("noise").normal(4), before)
    assert not np.array_equal(stream(6).spawn("noise").normal(4), before)
    assert parent.spawn("a").spawn("b").path == ("a", "b")


def test_moments_of_what_is_drawn():
    """Within five standard errors of a hundred thousand draws."""
    z, u = stream(0).normal(100_000), stream(0).uniform(100_000)
    assert abs(z.mean()) < 5 / np.sqrt(1e5)
    assert abs(z.var() - 1.0) < 5 * np.sqrt(2 / 1e5)
    assert abs(u.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 1e5)
    assert u.min() >= 0.0
    assert u.max() < 1.0


def test_permutations_and_choices():
    assert sorted(stream(2).permutation(20).tolist()) == list(range(20))
    chosen = stream(2).choice(10, 10).tolist()
    assert sorted(chosen) == list(range(10))
    assert chosen != list(range(10))
    assert len(stream(2).choice(2, 50, replace=True)) == 50
    drawn = stream(2).integers(-3, 4, 2000)
    assert set(drawn.tolist()) == set(range(-3, 4))


def test_one_number_is_an_array_without_axes():
    assert stream(1).normal().shape == ()
