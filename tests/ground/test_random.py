"""Random numbers: the same on every backend, in the kind of what they are for."""

import cupy_stand_in
import numpy as np
import pytest

from gpnotes import stream
from gpnotes.ground.random import stream_of
from gpnotes.ground.xp import array_namespace, device, to_numpy


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


@pytest.mark.parametrize("seed", [None, 1.0, True, "1", [1], np.asarray([1, 2])])
def test_a_seed_is_a_whole_number(seed):
    """NumPy's streams without a seed differ each time: no number of the book may rest on one."""
    with pytest.raises(TypeError, match="seed must be a whole number from 0; got"):
        stream(seed)
    with pytest.raises(ValueError, match="seed must be a whole number from 0; got -1"):
        stream(-1)


def test_a_seed_of_any_kind_of_integer_starts_the_same_stream():
    assert stream(np.int64(3)).normal() == stream(3).normal()
    assert stream(0).normal() == stream(0).normal()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.normal(None), TypeError, "shape must be a whole number from 0; got None"),
        (lambda s: s.normal(2.0), TypeError, "shape must be a whole number from 0; got 2.0"),
        (lambda s: s.normal((2, -1)), ValueError, "shape must be a whole number from 0; got -1"),
        (lambda s: s.uniform("2"), TypeError, "shape must be a whole number from 0; got '2'"),
        (lambda s: s.normal(2, like=[1.0]), TypeError, "like must be an array; got list"),
        (lambda s: s.normal(2, like=np.ones(1, int)), TypeError, "like must have a real floating"),
        (lambda s: s.permutation(2, like="x"), TypeError, "like must be an array; got str"),
        (lambda s: s.integers("1", 5), TypeError, "low must be a whole number; got '1'"),
        (lambda s: s.integers(1, 5.5), TypeError, "high must be a whole number from 2; got 5.5"),
        (lambda s: s.integers(1, 1), ValueError, "high must be a whole number from 2; got 1"),
        (lambda s: s.permutation(-1), ValueError, "n must be a whole number from 0; got -1"),
        (lambda s: s.permutation([1, 2]), TypeError, "n must be a whole number from 0"),
        (lambda s: s.choice(3, 4), ValueError, "size must be a whole number from 0 to 3; got 4"),
        (lambda s: s.choice(0, 1), ValueError, r"n must be a whole number from 1( to \d+)?; got 0"),
        (lambda s: s.choice(3, 2, replace="no"), TypeError, "replace must be True or False"),
        (lambda s: s.spawn(3), TypeError, "name must be a string; got int"),
    ],
)
def test_what_numpy_would_let_pass_is_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call(stream(1))


def test_a_length_may_be_of_any_kind_of_integer():
    wanted = stream(3).normal(4)
    for length in (np.int64(4), np.int32(4), (np.int64(4),), [4]):
        np.testing.assert_array_equal(stream(3).normal(length), wanted)


def test_limits_that_just_hold():
    assert stream(1).integers(-2, -1, 3).tolist() == [-2, -2, -2]
    assert stream(1).permutation(0).shape == stream(1).normal(0).shape == (0,)
    assert sorted(stream(1).choice(3, 3).tolist()) == [0, 1, 2]
    assert stream(1).choice(3, 4, replace=np.True_).shape == (4,)
    assert stream(1).normal([2, 3]).shape == (2, 3)


def test_a_named_stream_draws_today_what_it_drew_when_the_book_was_written():
    """The numbers of the chapters hang on it; no rounding touches uniform numbers."""
    noise = stream(1).spawn("noise").uniform(3)
    within = stream(1).spawn("a").spawn("b").uniform(2)
    assert noise.tolist() == [0.10984654943017846, 0.6680619398223708, 0.7190665138880904]
    assert within.tolist() == [0.3371550371453067, 0.8679217003090901]


def test_a_generator_of_numpy_is_a_stream_too():
    def draw(seed):
        return stream_of(np.random.default_rng(seed)).normal(3)

    assert np.array_equal(draw(1), draw(1))
    assert not np.array_equal(draw(1), draw(2))
    with pytest.raises(TypeError, match=r"^rng must be a Stream, a NumPy Generator"):
        stream_of(np.random.RandomState(1))


def test_the_generator_of_another_library_is_named():
    """It could not draw a permutation, and every library shall see the same numbers."""
    with cupy_stand_in.installed() as cupy, pytest.raises(TypeError, match="Generator of cupy"):
        stream_of(cupy.random.default_rng(1))


def test_a_generator_moves_on():
    rng = np.random.default_rng(1)
    assert not np.array_equal(stream_of(rng).normal(3), stream_of(rng).normal(3))
