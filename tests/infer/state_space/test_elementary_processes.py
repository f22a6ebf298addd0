"""The simplest processes on a line: each motion against the covariance that it stands for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

from gpnotes.infer.state_space.elementary_processes import (
    Bend,
    Entry,
    Level,
    Line,
    MaternLeaf,
    Walk,
    Wave,
    kron,
    matrix_of,
    outer,
)

LEAVES = {
    "rough": MaternLeaf(1.3, 1), "once": MaternLeaf(0.7, 2), "twice": MaternLeaf(2.1, 3),
    "wave": Wave(1.9), "level": Level(0.0), "line": Line(0.0), "walk": Walk(0.0, -1.5),
    "bend": Bend(0.0, -0.7),
}  # fmt: skip
leaves = pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES)
X = np.asarray([0.3, 1.1, 2.0])
GAPS = np.asarray([0.9, 0.05, 2.4])


def value_covariance(leaf, x, z):
    """That of the first entries, by its own formula."""
    least, most = min(x, z), max(x, z)
    s = leaf.rate * (most - least)
    match type(leaf).__name__:
        case "MaternLeaf":
            polynomial = 1.0 + s * (leaf.entries > 1) + s * s / 3.0 * (leaf.entries > 2)
            return polynomial * math.exp(-s)
        case "Wave":
            return math.cos(s)
        case "Level":
            return 1.0
        case "Line":
            return x * z
        case "Walk":
            return max(least - leaf.origin, 0.0)
    a, b = max(least - leaf.origin, 0.0), most - leaf.origin
    return a * a * (b / 2.0 - a / 6.0)


def motion_of(leaf, gaps):
    """F of each gap, (D, D, B)."""
    F = np.repeat(np.eye(leaf.size)[:, :, None], gaps.size, axis=2)
    leaf.up(leaf.numbers(gaps, float(gaps.max())), F)
    return F


def noise_of(leaf, gaps):
    Q = leaf.noise(leaf.numbers(gaps, float(gaps.max())))
    return np.zeros((leaf.size, leaf.size, gaps.size)) if Q is None else Q


def prior_of(leaf, x):
    return leaf.prior(x) + np.zeros_like(x)


def times(F, P):
    return np.einsum("ijb,jkb->ikb", F, P)


def turned(A):
    return np.swapaxes(A, 0, 1)


@leaves
@pytest.mark.parametrize("longest", [0.2, 2.4])
def test_a_step_carries_the_prior_of_one_place_to_that_of_the_next(leaf, longest):
    """``F P(x) Fᵀ + Q = P(x + s)``, and F P(x) is the covariance of the two places."""
    gaps = GAPS * longest / 2.4
    F, Q, here = motion_of(leaf, gaps), noise_of(leaf, gaps), prior_of(leaf, X)
    across = times(F, here)
    np.testing.assert_allclose(times(across, turned(F)) + Q, prior_of(leaf, X + gaps), atol=1e-13)
    wanted = [value_covariance(leaf, x, x + s) for x, s in zip(X, gaps, strict=True)]
    np.testing.assert_allclose(across[0, 0, :], wanted, rtol=1e-13)
    np.testing.assert_allclose(here[0, 0, :], [value_covariance(leaf, x, x) for x in X])
    assert leaf.size == F.shape[0]


@leaves
def test_down_is_the_transpose_of_up(leaf, rng):
    numbers, M = leaf.numbers(GAPS, 2.4), rng.normal(size=(leaf.size, 2, 3))
    for move, F in ((leaf.up, motion_of(leaf, GAPS)), (leaf.down, turned(motion_of(leaf, GAPS)))):
        found = M.copy()
        move(numbers, found)
        np.testing.assert_allclose(found, np.einsum("ijb,jkb->ikb", F, M), rtol=1e-13)


@leaves
def test_steps_follow_one_another(leaf):
    first, second = GAPS, np.asarray([0.4, 1.7, 0.2])
    both = times(motion_of(leaf, second), motion_of(leaf, first))
    np.testing.assert_allclose(both, motion_of(leaf, first + second), rtol=1e-12, atol=1e-14)


@leaves
def test_generator_and_drive_are_those_of_its_motion_and_noise(leaf):
    """In time of its own: the motion is an exponential, noise enters by the drive."""
    if not leaf.rate:
        assert (leaf.generator, leaf.drive) == ((), ())
        return
    like = np.zeros((1, 1))
    G, L = (matrix_of(of, leaf.size, like)[:, :, 0] for of in (leaf.generator, leaf.drive))
    for b, gap in enumerate(GAPS):
        np.testing.assert_allclose(motion_of(leaf, GAPS)[:, :, b], expm(leaf.rate * gap * G))
    P = leaf.prior(X)[:, :, 0]
    np.testing.assert_allclose(G @ P + P @ G.T + L, 0.0, atol=1e-13)


@leaves
def test_states_given_a_later_value_are_those_of_dense_algebra(leaf):
    """Of the state at x and that at the place, (2D, 2D), less what the value tells."""
    place = np.asarray([3.7])
    gaps = place - X
    found = leaf.apart(leaf.numbers(gaps, float(gaps.max())), X, place)
    F, here, there = motion_of(leaf, gaps), prior_of(leaf, X), prior_of(leaf, place)[:, :, 0]
    for b in range(3):
        both = here[:, :, b] @ F[:, :, b].T
        r, end = both[:, 0] / math.sqrt(there[0, 0]), there[:, 0] / math.sqrt(there[0, 0])
        close = {"rtol": 1e-10, "atol": 1e-12}
        np.testing.assert_allclose(found.both[:, :, b], both, **close)
        np.testing.assert_allclose(found.r[:, b], r, **close)
        np.testing.assert_allclose(found.end[:, 0], end, **close)
        np.testing.assert_allclose(found.own[:, :, b], here[:, :, b] - np.outer(r, r), **close)
        np.testing.assert_allclose(found.shared[:, :, b], both - np.outer(r, end), **close)


@pytest.mark.parametrize("leaf", [Walk(0.0, 1.0), Bend(0.0, 1.0)], ids=["walk", "bend"])
def test_before_its_origin_it_is_nothing_and_tells_nothing(leaf):
    x, place = np.asarray([-2.0, 0.5, 1.0]), np.asarray([1.0])
    np.testing.assert_array_equal(prior_of(leaf, x), 0.0)
    found = leaf.apart(leaf.numbers(place - x, 3.0), x, place)
    for part in found:
        np.testing.assert_array_equal(part, 0.0)
    above = leaf.prior(np.asarray([1.5]))[0, 0, 0]
    assert above == pytest.approx(0.5 if isinstance(leaf, Walk) else 0.125 / 3.0)


@pytest.mark.parametrize("sign", [-1.0, 0.0, 1.0])
def test_a_line_is_known_by_any_value_but_one_at_zero(sign):
    x, place = np.asarray([-4.0, -5.0]), np.asarray([2.0 * sign])
    leaf = Line(0.0)
    found = leaf.apart(leaf.numbers(place - x, 9.0), x, place)
    ray, end = np.stack([x, np.ones(2)]), np.asarray([2.0 * sign, 1.0])[:, None]
    np.testing.assert_array_equal(found.both, outer(ray, end))
    np.testing.assert_array_equal(found.own, outer(ray, ray) if sign == 0.0 else 0.0 * found.own)
    np.testing.assert_array_equal(found.shared, found.both if sign == 0.0 else 0.0 * found.both)
    np.testing.assert_array_equal(found.r, sign * ray)
    np.testing.assert_array_equal(found.end, sign * end)


def test_after_a_thousand_of_its_own_times_nothing_is_left_of_it():
    leaf = MaternLeaf(2.0, 3)
    gaps = np.asarray([499.0, 500.0, 501.0, 1e300])
    np.testing.assert_array_equal(leaf.moved(gaps), [499.0, 0.0, 0.0, 0.0])
    s, decay, longest = leaf.numbers(gaps, 1e300)
    np.testing.assert_array_equal(s, [998.0, 1e3, 1e3, 1e3])
    np.testing.assert_array_equal(decay[1:], 0.0)
    assert longest == 1e3
    assert leaf.numbers(gaps[:1], 3.0)[2] == 6.0
    Q = leaf.noise(leaf.numbers(gaps, 1e300))
    np.testing.assert_allclose(Q[:, :, 1:], prior_of(leaf, gaps)[:, :, 1:], rtol=1e-14)
    for other in (Wave(2.0), Line(0.0), Walk(0.0), Level(0.0)):
        np.testing.assert_array_equal(other.moved(gaps), gaps)


def test_those_that_vary_without_bound_say_so():
    grown = [name for name, leaf in LEAVES.items() if leaf.grows]
    assert grown == ["line", "walk", "bend"]
    assert Walk(0.0).origin == Bend(0.0).origin == 0.0


def test_products_of_matrices_and_of_vectors_are_those_of_numpy(rng):
    a, b = rng.normal(size=(2, 2, 4)), rng.normal(size=(3, 3, 4))
    u, v = rng.normal(size=(2, 4)), rng.normal(size=(3, 4))
    for k in range(4):
        np.testing.assert_allclose(kron(a, b)[:, :, k], np.kron(a[:, :, k], b[:, :, k]))
        np.testing.assert_allclose(outer(u, v)[:, :, k], np.outer(u[:, k], v[:, k]))
    same = kron(a[:, :, :1], b)
    np.testing.assert_allclose(same[:, :, 3], np.kron(a[:, :, 0], b[:, :, 3]))
    entries = Entry(0, 1, 2.0), Entry(2, 0, -1.0), Entry(0, 1, 0.5)
    found = matrix_of(entries, 3, np.zeros((1, 1)))
    np.testing.assert_array_equal(found[:, :, 0], [[0, 2.5, 0], [0, 0, 0], [-1, 0, 0]])
