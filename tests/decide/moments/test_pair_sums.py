"""The batched sums give what the sums pair by pair give."""

from __future__ import annotations

import dataclasses

import numpy as np
import pairwise
import pytest
from memory_use import peak

from gpnotes import GP, RBF, condition
from gpnotes.decide import moments
from gpnotes.decide.moments import pair_sums
from gpnotes.ground.xp import to_numpy


def both(posteriors, m, S, bar, rtol=1e-12):
    """Moments and derivatives, pair by pair and batched."""
    model, (wanted, pull) = (
        moments.predictor(posteriors),
        pairwise.predict_and_pullback(posteriors, m, S, noise=True),
    )
    answers = [(*wanted, *pull(bar))]
    prediction, pull = moments.predict_and_pullback(model, m, S, noise=True)
    only = moments.predict(model, m, S, noise=True)
    for a, b in zip(prediction, only, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.max(np.abs(b)))
    return [*answers, (*prediction, *pull(bar))]


def random_bar(rng, D, E, dtype=np.float64):
    shapes = (E,), (E, E), (D, E)
    return moments.Moments(*(rng.normal(size=shape).astype(dtype) for shape in shapes))


def agree(answers, rtol):
    for plain, batched in zip(*answers, strict=True):
        np.testing.assert_allclose(batched, plain, rtol=rtol, atol=rtol * np.max(np.abs(plain)))


@pytest.mark.parametrize("block", [2**16, 90, 20])
@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 1.0, 1e3])
def test_pair_by_pair_and_batched_agree(problem, rng, covariance, scale, block, monkeypatch):
    """90 entries: a pair of nine points at a time. 20: two rows of it."""
    monkeypatch.setattr(pair_sums, "_BLOCK", block)
    agree(both(problem.posteriors, problem.m, covariance(2, scale), random_bar(rng, 2, 2)), 1e-10)


@pytest.mark.parametrize("scale", [3.0, 10.0, 1e3])
def test_where_S_is_wide_a_difference_has_as_many_digits(problem, rng, scale, monkeypatch):
    """There ``exp Δ − 1`` stands for ``expm1 Δ``."""
    model, S = moments.predictor(problem.posteriors), scale * np.asarray([[1.0, 0.3], [0.3, 0.6]])
    bar, answers = random_bar(rng, 2, 2), []
    for limit in (np.inf, 0.1, pair_sums._WIDE):
        monkeypatch.setattr(pair_sums, "_WIDE", limit)
        prediction, pull = moments.predict_and_pullback(model, problem.m, S)
        answers.append((*prediction, *pull(bar)))
    agree(answers[:2], 1e-12)
    agree(answers[1:], 1e-12)


@pytest.mark.parametrize("size", [0.1, 100.0])
@pytest.mark.parametrize("block", [2**24, 90, 20])
def test_every_namespace_has_the_same_sums(space, rng, size, block, monkeypatch):
    """With blocks of every size, narrow and wide exponents, one kernel and a sum of two."""
    for name in ("_BLOCK", "_BLOCK_ELSEWHERE"):
        monkeypatch.setattr(pair_sums, name, block)
    X, y = rng.normal(size=(9, 2)), rng.normal(size=(2, 9))
    gps = GP(RBF(1.3, 0.9), 0.1), GP(RBF(0.7, 1.2) + RBF(0.8, 2.0), 0.05)
    at, bar = (
        (rng.normal(size=2), size * np.asarray([[0.2, 0.1], [0.1, 0.3]])),
        random_bar(rng, 2, 2),
    )
    answers = []
    for asarray in (np.asarray, space.asarray):
        posteriors = [condition(gp, asarray(X), asarray(z)) for gp, z in zip(gps, y, strict=True)]
        model = moments.predictor(posteriors)
        prediction, pull = moments.predict_and_pullback(model, *(asarray(a) for a in at))
        bars = pull(moments.Moments(*(asarray(a) for a in bar)))
        answers.append([to_numpy(a) for a in (*prediction, *bars)])
    agree(answers, 1e-10 if space.double else 1e-3)


def test_in_every_namespace_small_exponents_keep_their_digits(space, rng):
    """The covariance of two outputs is a sum of ``expm1`` alone, however small S is."""
    X, y, found = rng.normal(size=(9, 2)), rng.normal(size=(2, 9)), []
    for asarray in (np.asarray, space.asarray):
        gp = GP(RBF(1.3, 0.9), 0.1)
        posteriors = [condition(gp, asarray(X), asarray(z)) for z in y]
        m, S = asarray([0.3, -0.2]), asarray([[2e-12, 1e-12], [1e-12, 3e-12]])
        predicted = moments.predict(moments.predictor(posteriors), m, S)
        found.append(float(to_numpy(predicted.covariance)[0, 1]))
    assert found[1] == pytest.approx(found[0], rel=1e-6 if space.double else 1e-2, abs=0.0)


def test_in_single_precision(make_posteriors, rng):
    posteriors = make_posteriors(lambda a: np.asarray(a, dtype=np.float32))
    m, S = np.float32([0.3, -0.2]), np.float32([[0.2, 0.1], [0.1, 0.3]])
    agree(both(posteriors, m, S, random_bar(rng, 2, 2, np.float32), rtol=1e-3), 1e-3)


@pytest.mark.parametrize("block", [2**16, 20])
@pytest.mark.parametrize("n", [9, 4, 13])
def test_with_inputs_of_each_output(problem, rng, n, block, monkeypatch):
    """As many of them as the other has, fewer or more."""
    monkeypatch.setattr(pair_sums, "_BLOCK", block)
    X = rng.normal(size=(n, 2))
    other = condition(GP(RBF(0.9, 1.4), 0.2), X, rng.normal(size=n))
    for posteriors in ([problem.posteriors[1], other], [other, problem.posteriors[1]]):
        agree(both(posteriors, problem.m, problem.S, random_bar(rng, 2, 2)), 1e-10)


@pytest.mark.parametrize("spread", [0.5, 3.0])
def test_points_far_away_overflow_nothing(rng, spread):
    """Some are a thousand lengthscales off: their exponents alone would be infinite."""
    X = np.concatenate([rng.normal(size=(6, 2)), 1e3 * rng.normal(size=(3, 2))])
    posteriors = [condition(GP(RBF(), 0.1), X, rng.normal(size=9))] * 2
    agree(both(posteriors, np.zeros(2), spread * np.eye(2), random_bar(rng, 2, 2)), 1e-10)
    far = both(posteriors, 1e3 * np.ones(2), spread * np.eye(2), random_bar(rng, 2, 2))
    agree(far, 1e-10)
    assert all(np.all(np.isfinite(one)) for one in far[1])


def test_a_variance_that_rounding_takes_below_zero_is_zero(rng, covariance):
    """A factor a little too large stands for bad rounding. What is left is the mean function, a
    network of fixed functions, which takes part in the derivatives alone."""
    X, lengths = rng.normal(size=(7, 2)), np.asarray([1.1, 1.6])
    posterior = condition(GP(RBF(1.3, lengths), 1e-3), X, np.sin(X[:, 0]))
    model = moments.predictor([posterior])
    model = dataclasses.replace(model, half=1.2 * model.half)
    S, bar = covariance(2, 1e-2), random_bar(rng, 2, 1)
    prediction, pull = moments.predict_and_pullback(model, X[3], S)
    pulled = pull(bar)
    network = (X, 1.3 * posterior.alpha[:, None], lengths)
    wanted, pull = moments.network_moments_and_pullback(*network, X[3], S)
    np.testing.assert_allclose(prediction.covariance, wanted.covariance, rtol=1e-10)
    for ours, theirs in zip(pulled, pull(bar)[3:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_one_variance_is_zero_and_the_other_is_not(problem, rng):
    """Then the means of one output alone take part, and both parts of the other."""
    model = moments.predictor(problem.posteriors)
    half = model.half * np.asarray([1.0, 3.0])[:, None, None]
    worse = dataclasses.replace(model, half=half)
    prediction, pull = moments.predict_and_pullback(worse, problem.m, problem.S)
    wanted, pull_all = moments.predict_and_pullback(model, problem.m, problem.S)
    np.testing.assert_allclose(prediction.covariance[0], wanted.covariance[0], rtol=1e-12)
    assert 0.0 < prediction.covariance[1, 1] < wanted.covariance[1, 1]
    bar = random_bar(rng, 2, 2)
    bar.covariance[1, 1] = 0.0
    for ours, theirs in zip(pull(bar), pull_all(bar), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_without_noise_at_the_data_no_variance_is_negative(rng):
    X = rng.normal(size=(7, 2))
    posterior = condition(GP(RBF(1.0, 1.0), 1e-13), X, np.sin(X[:, 0]))
    model = moments.predictor([posterior, posterior])
    for point in X:
        for S in (np.zeros((2, 2)), 1e-14 * np.eye(2)):
            prediction, pull = moments.predict_and_pullback(model, point, S)
            assert np.all(np.diagonal(prediction.covariance) >= 0.0)
            assert all(np.all(np.isfinite(a)) for a in pull(random_bar(rng, 2, 2)))


@pytest.mark.parametrize(("n", "D"), [(1, 1), (1, 3), (4, 1)])
def test_the_smallest_sizes(rng, covariance, n, D):
    X = rng.normal(size=(n, D))
    posteriors = [condition(GP(RBF(), 0.1), X, rng.normal(size=n))]
    answers = both(posteriors, rng.normal(size=D), covariance(D, 0.3), random_bar(rng, D, 1))
    agree(answers, 1e-10)
    assert [one.shape for one in answers[1]] == [(1,), (1, 1), (D, 1), (D,), (D, D)]


def test_no_more_is_held_than_a_block_of_a_pair(rng):
    """Beside what was made beforehand, that is less than one matrix of all points with all."""
    n = 900
    X = rng.normal(size=(n, 2))
    model = moments.predictor([condition(GP(RBF(), 0.1), X, rng.normal(size=n))] * 2)
    m, S = np.zeros(2), 0.1 * np.eye(2)
    bar = random_bar(rng, 2, 2)
    assert peak(lambda: moments.predict_and_pullback(model, m, S)[1](bar)) < 0.5 * 8 * n**2


def test_answers_are_the_callers_own(problem, rng):
    """Nothing that comes back is a buffer which the next call fills."""
    model = moments.predictor(problem.posteriors)
    prediction, pull = moments.predict_and_pullback(model, problem.m, problem.S)
    before = [one.copy() for one in (*prediction, *pull(prediction))]
    moments.predict_and_pullback(model, problem.m + 1.0, 2.0 * problem.S)[1](prediction)
    for old, new in zip(before, (*prediction, *pull(prediction)), strict=True):
        np.testing.assert_array_equal(old, new)
