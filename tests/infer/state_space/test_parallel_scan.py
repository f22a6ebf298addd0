"""Lanes of readings, their maps, and the scan that joins them, against one state after another."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import GP, Linear, Matern12, Matern32, Matern52
from gpnotes.infer.state_space import parallel_scan
from gpnotes.infer.state_space.as_terms import motion_of
from gpnotes.infer.state_space.parallel_scan import (
    Element,
    compose,
    elements,
    entered,
    lanes_of,
    scan,
    solution,
    stacked,
    turned,
)

MOTION = motion_of(GP(Matern32(1.0, 1.3) + Matern12(0.5, 3.0), 0.1))


def lanes(n, noise=0.3, rng=None, motion=MOTION):
    rng = rng or np.random.default_rng(n)
    times = np.sort(rng.uniform(0.0, 0.5 * n, n))
    return lanes_of(motion, times, rng.normal(size=n), noise), times


@pytest.mark.parametrize("n", [1, 2, 7, 81, 100, 143, 200])
@pytest.mark.parametrize("separate", [True, False])
def test_readings_go_down_one_lane_after_the_other(n, separate):
    """A third of the root of their number in each; the last is filled with none."""
    noise = np.linspace(0.1, 0.9, n) if separate else 0.3
    found, times = lanes(n, noise)
    length, B = found.gaps.shape
    assert length == max(1, round(math.sqrt(n) / 3.0))
    assert math.ceil(n / length) == B
    assert found.count == n
    gaps = np.concatenate([[0.0], np.diff(times)])
    assert found.longest == (gaps.max() if n > 1 else 0.0)
    filled = np.stack(found.noise)
    for t in range(length * B):
        k, lane = t % length, t // length
        if t < n:
            assert found.gaps[k, lane] == gaps[t]
            assert found.places[k, lane] == times[t]
            assert filled[k, lane] == (noise[t] if separate else 0.3)
        else:
            assert (found.gaps[k, lane], found.readings[k, lane]) == (0.0, 0.0)
            assert found.places[k, lane] == times[-1]
            assert filled[k, lane] == math.inf
    np.testing.assert_array_equal(found.ordered(found.places), times)
    later = np.stack(found.later_noise)
    assert later[0, 0] == math.inf
    later[0, 0] = filled[0, 0]
    np.testing.assert_array_equal(later, filled)


@pytest.mark.parametrize(("at_once", "length"), [(2**18, 3), (225, 4), (224, 5), (100, 9)])
def test_lanes_are_longer_where_states_are_large(monkeypatch, at_once, length):
    """So many numbers of covariances are worked on in a step."""
    monkeypatch.setattr(parallel_scan, "_AT_ONCE", at_once)
    assert lanes(100)[0].gaps.shape[0] == length


def dense_element(found, lane):
    """The same of one lane, one step after the other, with matrices."""
    d = found.motion.size
    A, b, C, eta, J = np.eye(d), np.zeros(d), np.zeros((d, d)), np.zeros(d), np.zeros((d, d))
    h = np.zeros(d)
    h[list(found.motion.seen)] = 1.0
    for k, noise in enumerate(found.later_noise):
        step = found.motion.at(found.gaps[k], found.places[k], found.longest)
        F = np.repeat(np.eye(d)[:, :, None], found.gaps.shape[1], axis=2)
        step.up(F)
        Q = np.zeros_like(F)
        step.add_noise(Q)
        F, Q = F[:, :, lane], Q[:, :, lane]
        A, b, C = F @ A, F @ b, F @ C @ F.T + Q
        if noise[lane] == math.inf:
            continue
        S = h @ C @ h + noise[lane]
        gap, seen = found.readings[k, lane] - h @ b, h @ A
        eta, J = eta + seen * gap / S, J + np.outer(seen, seen) / S
        gain = C @ h / S
        A, b, C = A - np.outer(gain, seen), b + gain * gap, C - np.outer(gain, gain) * S
    return A, b[:, None], C, eta[:, None], J


def test_the_map_of_a_lane_is_that_of_its_steps():
    found, _ = lanes(83)
    own = elements(found)
    B = found.gaps.shape[1]
    assert len(own.A) == B
    for lane in (0, 1, B // 2, B - 1):
        for part, wanted in zip(own, dense_element(found, lane), strict=True):
            np.testing.assert_allclose(part[lane], wanted, rtol=1e-9, atol=1e-11)


def random_element(rng, B, d=3):
    roots = rng.normal(size=(2, B, d, d))
    C, J = np.einsum("kbij,kblj->kbil", roots, roots)
    return Element(rng.normal(size=(B, d, d)), rng.normal(size=(B, d, 1)), C,
                   rng.normal(size=(B, d, 1)), J)  # fmt: skip


def test_two_maps_joined_are_the_one_and_then_the_other(rng):
    """By the belief after, and by the density of all readings given the state before."""
    first, second = random_element(rng, 4), random_element(rng, 4)
    both = compose(first, second)
    x = rng.normal(size=3)
    for k in range(4):
        A1, b1, C1, eta1, J1 = (part[k] for part in first)
        A2, b2, C2, eta2, J2 = (part[k] for part in second)
        P = np.linalg.inv(np.linalg.inv(C1) + J2)  # of the state between, given later readings
        gain = P @ np.linalg.inv(C1)
        A = A2 @ gain @ A1
        b = A2 @ (gain @ b1 + P @ eta2) + b2
        for part, wanted in zip(both[:3], (A, b, A2 @ P @ A2.T + C2), strict=True):
            np.testing.assert_allclose(part[k], wanted, rtol=1e-8, atol=1e-8)
        m = lambda x, A1=A1, b1=b1: A1 @ x[:, None] + b1  # noqa: E731
        middle = np.linalg.inv(np.linalg.inv(J2) + C1)
        logs = [
            (
                eta1.T @ z[:, None] - 0.5 * z @ J1 @ z
                - 0.5 * (np.linalg.solve(J2, eta2) - m(z)).T
                @ middle @ (np.linalg.solve(J2, eta2) - m(z))
            ).item()
            for z in (x, np.zeros(3))
        ]  # fmt: skip
        found = (both.eta[k].T @ x[:, None]).item() - 0.5 * x @ both.J[k] @ x
        assert found == pytest.approx(logs[0] - logs[1], rel=1e-7)
        np.testing.assert_array_equal(both.J[k], both.J[k].T)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13])
def test_a_scan_joins_each_with_all_before_it(n):
    """Of words, which joined the other way round would be others."""
    words = np.asarray([chr(97 + i) for i in range(n)], dtype=object)
    one = Element(*(np.char.add(words.astype(str), str(k)).astype(object) for k in range(5)))
    calls = []

    def join(a, b):
        assert len(a.A) == len(b.A) > 0
        calls.append(len(a.A))
        return Element(*(x + y for x, y in zip(a, b, strict=True)))

    found = scan(one, join)
    for k, part in enumerate(found):
        assert part.tolist() == ["".join(f"{w}{k}" for w in words[: i + 1]) for i in range(n)]
    assert one.A.tolist() == [f"{w}0" for w in words]  # which is not written into
    assert sum(calls) <= 2 * n
    assert len(calls) <= 2 * math.ceil(math.log2(n)) if n > 1 else not calls


def test_lanes_are_entered_with_what_those_before_leave(rng):
    own = random_element(rng, 5)
    m, P = rng.normal(size=(3, 1)), np.eye(3)[:, :, None]
    mean, cov = entered(own, m, P)
    assert (mean.shape, cov.shape) == ((3, 5), (3, 3, 5))
    b, C = m, P[:, :, 0]
    for lane in range(5):
        np.testing.assert_allclose(mean[:, lane], b[:, 0], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(cov[:, :, lane], C, rtol=1e-8, atol=1e-9)
        A, shift, more, eta, J = (part[lane] for part in own)
        inner = np.linalg.inv(np.linalg.inv(C) + J)
        b = A @ inner @ (np.linalg.solve(C, b) + eta) + shift
        C = A @ inner @ A.T + more


def test_what_has_no_solution_is_told_of_the_noise():
    with pytest.raises(ValueError, match=r"gp\.noise_var must be larger: rounding takes"):
        solution(np.zeros((1, 2, 2)), np.ones((1, 2, 1)))
    np.testing.assert_allclose(solution(2.0 * np.eye(2)[None], np.ones((1, 2, 1))), 0.5)


def test_arrays_are_turned_into_others_laid_out_anew(rng):
    a = rng.normal(size=(2, 3, 4))
    found = turned(a, (2, 0, 1))
    np.testing.assert_array_equal(found, np.transpose(a, (2, 0, 1)))
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(stacked(a), found)
    np.testing.assert_array_equal(stacked(a[0]), a[0].T[:, :, None])


def test_the_first_reading_has_its_own_belief():
    found, times = lanes(9, motion=motion_of(GP(Matern52(1.0, 2.0) + Linear(), 0.1)))
    assert (found.first.place, found.first.reading) == (times[:1], found.readings[0, :1])
    assert found.first.noise == found.noise[0][:1]
    assert found.first.noise.shape == (1,)
