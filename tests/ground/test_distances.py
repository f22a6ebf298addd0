"""Squared distances and their way back, near each other, far apart and far off."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpnotes.ground import distances
from gpnotes.ground.distances import (
    Pairs,
    as_they_are,
    as_they_are_pullback,
    sizes_if_near,
    squared_distances,
    squared_distances_pullback,
)
from gpnotes.ground.xp import to_numpy
from gpnotes.testing import gradcheck


def close(space, a, b, *, scale=1.0):
    assert space.holds(a)
    tolerance = (1e-11 if space.double else 1e-3) * scale
    np.testing.assert_allclose(to_numpy(a), to_numpy(b), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize(
    ("q_bar", "message"),
    [
        (np.ones((3, 2)), r"q_bar must have shape \(3, 4\); got \(3, 2\)"),
        (np.full((3, 4), np.nan), "q_bar must be finite; 12 of its entries"),
    ],
)
def test_derivatives_by_distances_have_their_shape(space, d, q_bar, message):
    u, v = space.asarray(np.ones((3, d))), space.asarray(np.ones((4, d)))
    with pytest.raises(ValueError, match=message):
        squared_distances_pullback(u, v, space.asarray(q_bar))


@pytest.mark.parametrize("d", [1, 3, 4, 9])
@pytest.mark.parametrize("far", [1e15, -1e15])
def test_a_row_far_out_leaves_the_others_apart(space, d, far):
    """Its share in the mean of all rows would be rounded by more than they are apart."""
    near, out = np.zeros((2, d)), np.full((1, d), far)
    near[1, :] = 2.0
    u = space.asarray(np.concatenate([near, out]))
    close(space, squared_distances(u)[:1, 1], np.full(1, 4.0 * d))
    v = space.asarray(near)
    close(space, squared_distances(u, v)[:2, :], 4.0 * d * (1.0 - np.eye(2)))


def test_a_centre_is_a_matrix_s(space):
    with pytest.raises(TypeError, match="x must be an array; got list"):
        distances.centroid([1.0])
    x = space.asarray(np.asarray([[-1.0, 4.0], [-3.0, 1e15]]))
    assert to_numpy(distances.centroid(x)).tolist() == [-1.0, 4.0]


@pytest.mark.parametrize("d", [1, 3, 4, 9])
def test_squared_distances_are_those_of_the_rows(space, rng, d):
    u, v = rng.normal(size=(7, d)), rng.normal(size=(5, d))
    wanted = ((u[:, None, :] - v[None, :, :]) ** 2).sum(axis=2)
    close(space, squared_distances(space.asarray(u), space.asarray(v)), wanted)


@pytest.mark.parametrize("d", [2, 6])
def test_coincident_points_are_at_distance_zero_exactly(space, rng, d):
    u = space.asarray(rng.normal(size=(8, d)) + 3.0)
    np.testing.assert_array_equal(np.diag(to_numpy(squared_distances(u))), 0.0)
    np.testing.assert_array_equal(np.diag(to_numpy(squared_distances(u, u + 0.0))), 0.0)


@pytest.mark.parametrize("d", [2, 6])
def test_an_offset_costs_no_digits(d, rng):
    u = rng.normal(size=(20, d))
    wanted = ((u[:, None, :] - u[None, :, :]) ** 2).sum(axis=2)
    gap = squared_distances(u + 1e4) - wanted
    assert abs(gap).max() < 1e-10  # 1e4 itself is stored to 2e-12; the expansion alone has 1e-7


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_squared_distances_are_symmetric_and_not_negative(d, n, seed):
    u = np.random.default_rng(seed).normal(size=(n, d)) * 10.0 ** np.arange(d)
    q = squared_distances(u)
    assert (q >= 0.0).all()
    np.testing.assert_array_equal(q, q.T)


def test_points_far_apart_do_not_blur_those_that_are_close(space, rng):
    step, atol = (1e6, 1e-8) if space.double else (1e3, 2e-3)
    u = rng.normal(size=(9, 5))
    u[:, 0] += step * rng.integers(0, 2, size=9)  # squares of the step would drown the rest
    u = space.asarray(u)
    exact = to_numpy(u).astype(np.float64)
    gaps = exact[:, None, :] - exact[None, :, :]
    wanted = (gaps**2).sum(axis=2)
    near, weights = wanted < step, rng.normal(size=(9, 9))
    np.testing.assert_allclose(to_numpy(squared_distances(u))[near], wanted[near], atol=atol)
    u_bar, _ = squared_distances_pullback(u, None, space.asarray(weights * near))
    wanted = 2.0 * np.sum(((weights + weights.T) * near)[:, :, None] * gaps, axis=1)
    np.testing.assert_allclose(to_numpy(u_bar), wanted, atol=atol)


def test_distances_are_between_rows_of_one_length_and_kind(space):
    u = space.asarray(np.ones((2, 5)))
    with pytest.raises(ValueError, match=r"v must have shape \(n, 5\); got \(2, 1\)"):
        squared_distances(u, u[:, :1])
    with pytest.raises(TypeError, match="u must be an array; got list"):
        squared_distances([[0.0]])


@pytest.mark.parametrize("d", [2, 5])
def test_the_pullback_of_squared_distances(space, rng, d):
    u, v = (space.asarray(rng.normal(size=(n, d))) for n in (5, 4))
    bars = squared_distances_pullback(u, v, squared_distances(u, v))
    assert all(space.holds(bar) for bar in bars)
    if space.double:
        gradcheck(squared_distances, squared_distances_pullback, u, v)
        gradcheck(squared_distances, lambda u, bar: squared_distances_pullback(u, None, bar)[:1], u)


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("between", [False, True])
def test_rows_near_the_origin_need_no_centre(space, rng, d, between):
    u, v = (space.asarray(rng.normal(size=(n, d))) for n in (5, 4))
    v = v if between else None
    wanted = squared_distances(u, v)
    close(space, as_they_are(u, v, sizes_if_near(u, v)), wanted)
    found, other = as_they_are_pullback(u, v, wanted), squared_distances_pullback(u, v, wanted)
    for bar, expected in zip(found, other, strict=True):
        assert (bar is None) == (expected is None)
        if bar is not None:
            close(space, bar, expected)


def near_pairs(rng, d, gap, far):
    """Points within `far` of the centre, in pairs that are `gap` apart."""
    u = rng.uniform(-far, far, size=(12, d))
    step = rng.normal(size=(12, d))
    return np.concatenate([u, u + gap * step / np.linalg.norm(step, axis=1)[:, None]])


@pytest.mark.parametrize(("gap", "far"), [(0.015, 6.0), (0.002, 1.0), (0.2, 6.0)])
@pytest.mark.parametrize("d", [4, 8])
def test_points_that_are_near_are_not_one(space, rng, d, gap, far):
    """In float32 too: their distances are those of the numbers that are stored."""
    u = space.asarray(near_pairs(rng, d, gap, far))
    exact = to_numpy(u).astype(np.float64)
    wanted = np.linalg.norm(exact[:, None, :] - exact[None, :, :], axis=2)
    atol = 8.0 * far * float(space.xp.finfo(space.dtype).eps)
    for q in (squared_distances(u), squared_distances(u, u)):
        np.testing.assert_allclose(np.sqrt(to_numpy(q)), wanted, rtol=1e-5, atol=atol)
    within = to_numpy(squared_distances(u))
    np.testing.assert_array_equal(within, within.T)
    np.testing.assert_array_equal(np.diag(within), 0.0)


@pytest.mark.parametrize("portion", [1, 30, 2**18])
def test_portions_change_no_distance_and_no_gradient(space, rng, monkeypatch, portion):
    u, v = (space.asarray(rng.normal(size=(n, 5))) for n in (9, 7))
    bars = [space.asarray(rng.normal(size=shape)) for shape in ((9, 7), (9, 9))]

    def everything():
        yield squared_distances(u, v)
        yield squared_distances(u)
        yield from squared_distances_pullback(u, v, bars[0])
        yield squared_distances_pullback(u, None, bars[1])[0]

    wanted = [to_numpy(a) for a in everything()]
    monkeypatch.setattr(distances, "_ENTRIES", portion)
    monkeypatch.setattr(distances, "_DIFFERENCES", portion)
    for a, b in zip(everything(), wanted, strict=True):
        assert space.holds(a)
        np.testing.assert_allclose(to_numpy(a), b, rtol=1e-12 if space.double else 1e-5, atol=1e-6)


@pytest.mark.parametrize("d", [4, 6])
def test_the_gradient_of_near_points_points_from_one_to_the_other(space, rng, d):
    """Weights of one over the distance, as those of a Matérn-1/2, nearly cancel."""
    gap = 1e-2
    u = space.asarray(near_pairs(rng, d, gap, 6.0))
    exact = to_numpy(u).astype(np.float64)
    weights = np.zeros((24, 24))
    weights[np.arange(12), np.arange(12, 24)] = 1.0 / gap
    steps = 2.0 / gap * (exact[:12] - exact[12:])
    for v in (None, u):
        bars = squared_distances_pullback(u, v, space.asarray(weights))
        found = [to_numpy(bars[0])[:12], to_numpy(bars[-1 if v is not None else 0])[12:]]
        atol = 1e-8 if space.double else 2e-3
        np.testing.assert_allclose(found[0], steps, atol=atol)
        np.testing.assert_allclose(found[1], -steps, atol=atol)


@pytest.mark.parametrize("d", [2, 5])  # by differences, and expanded
def test_weights_of_pairs_meet_differences_and_their_squares(space, rng, monkeypatch, d):
    u, v, W = rng.normal(size=(9, d)), rng.normal(size=(7, d)), rng.normal(size=(9, 7))
    gaps = u[:, None, :] - v[None, :, :]
    sums = 2.0 * np.sum(W[:, :, None] * gaps, axis=1)
    squares = np.sum(W[:, :, None] * gaps**2, axis=(0, 1))
    pairs, weights = Pairs(space.asarray(u), space.asarray(v)), space.asarray(W)
    tolerance = 1e-12 if space.double else 1e-4
    for portion in (1, 20, 2**15):
        monkeypatch.setattr(distances, "_ENTRIES", portion)
        monkeypatch.setattr(distances, "_DIFFERENCES", portion)
        by_u, by_lengths = map(to_numpy, pairs.pull(weights))
        np.testing.assert_allclose(by_u, sums, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(by_lengths, squares, rtol=tolerance, atol=tolerance)
    some = pairs.pull(weights[2:6, 1:4], slice(2, 6), slice(1, 4))[1]
    wanted = np.sum((W[:, :, None] * gaps**2)[2:6, 1:4, :], axis=(0, 1))
    np.testing.assert_allclose(to_numpy(some), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("d", [2, 6])
def test_squares_that_weights_meet_are_as_good_as_their_differences(space, rng, d):
    """A column of huge steps between two groups, in which the weights take no part."""
    step = 1e8 if space.double else 1e4
    u = rng.normal(size=(8, d))
    u[:, 0] = step * (np.arange(8) % 2)
    W = rng.normal(size=(8, 8)) * (u[:, None, 0] == u[None, :, 0])
    u = to_numpy(space.asarray(u)).astype(np.float64)
    wanted = np.sum(W[:, :, None] * (u[:, None, :] - u[None, :, :]) ** 2, axis=(0, 1))
    found = Pairs(space.asarray(u), space.asarray(u)).pull(space.asarray(W))[1]
    np.testing.assert_allclose(to_numpy(found), wanted, rtol=1e-10 if space.double else 1e-4)
    assert to_numpy(found)[0] == 0.0


@pytest.mark.parametrize("both", [False, True])
def test_sizes_are_given_where_the_mean_drowns_no_row(space, both):
    near, far = space.asarray([[1.0, 2.0], [0.0, -3.0]]), space.asarray([[1e6, 0.0], [0.0, 1.0]])
    own, others = sizes_if_near(near, near if both else None)
    np.testing.assert_allclose(to_numpy(own), [5.0, 9.0])
    np.testing.assert_allclose(to_numpy(others), [5.0, 9.0])
    assert sizes_if_near(far, near if both else None) is None


EPS = 2.0**-52
LIMIT = EPS**-0.5 / 8.0  # of |u|² + |v|², in four columns


@pytest.mark.parametrize(("a", "b"), [(0.2, 0.8), (0.7, 0.3), (0.5, None)])
def test_rows_are_expanded_up_to_the_size_that_rounding_allows(a, b):
    """The largest rows count, of u and of v; without v those of u twice."""
    parts = [None if c is None else np.eye(3, 4) * np.sqrt(c * LIMIT) for c in (a, b)]
    for part in parts:
        if part is not None:
            part[1:] *= 0.1
    for factor, far in ((0.999, False), (1.001, True)):
        u, v = (None if part is None else factor * part for part in parts)
        assert distances.by_differences(u, v) is far
        assert (sizes_if_near(u, v) is None) is far
    assert distances.by_differences(u[:, :3], None if v is None else v[:, :3])
    nothing = np.zeros((0, 4))
    assert not distances.by_differences(nothing)
    assert distances.by_differences(nothing, np.eye(2, 4) * np.sqrt(1.1 * LIMIT))


@pytest.mark.parametrize("lengths", [1.0, np.asarray([4.0, 0.5])])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_mean_that_drowns_its_rows_gives_way_to_the_smallest_size(lengths, sign):
    """From 2^26 lengths on; each column then has that which no row is nearer to zero than."""
    x = sign * np.asarray([[0.0, 3.0], [0.0, 0.0]])
    x[1, 1] = 2.0 * 2.0**26 * np.max(lengths * np.asarray([0.0, 1.0])) - 3.0 * 1.0
    x[1, 1] *= sign
    near = distances.centroid(x, lengths)  # the very mean that is allowed
    np.testing.assert_array_equal(near, np.mean(x, axis=0))
    far = distances.centroid(x * (1.0 + 4.0 * EPS), lengths)
    np.testing.assert_allclose(far, sign * np.asarray([0.0, 3.0]), rtol=1e-14)


def test_no_rows_have_their_centre_at_zero():
    np.testing.assert_array_equal(distances.centroid(np.zeros((0, 3))), np.zeros(3))
    np.testing.assert_array_equal(distances.centroid(np.full((1, 2), 7.0)), [7.0, 7.0])
    assert distances.centroid(np.zeros((2, 0))).shape == (0,)


@pytest.mark.parametrize("d", [2, 5])
def test_some_pairs_have_the_sums_of_a_loop_over_them(rng, d):
    """Of some rows and columns; each side by itself; and with the sides turned."""
    u, v, W = rng.normal(size=(6, d)), rng.normal(size=(4, d)), rng.normal(size=(3, 2))
    sums, others, squares = np.zeros((3, d)), np.zeros((2, d)), np.zeros(d)
    for i in range(3):
        for j in range(2):
            gap = u[2 + i] - v[1 + j]
            sums[i] += 2.0 * W[i, j] * gap
            others[j] -= 2.0 * W[i, j] * gap
            squares += W[i, j] * gap**2
    pairs = Pairs(u, v)
    assert pairs.by_differences is (d == 2)
    found = pairs.pull(W, slice(2, 5), slice(1, 3))
    some = Pairs(u[2:5], v[1:3])
    for got, wanted in (
        (found[0], sums),
        (found[1], squares),
        (some.side(W), sums),
        (some.turned().side(W.T), others),
        (some.both_sides(W)[0], sums),
        (some.both_sides(W)[1], others),
        (Pairs(u, v, differences=d == 5).pull(W, slice(2, 5), slice(1, 3))[0], sums),
        (squared_distances_pullback(u[2:5], v[1:3], W)[1], others),
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)
