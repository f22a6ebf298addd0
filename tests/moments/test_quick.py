"""The work in place gives what the plain formulas give."""

from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, moments
from gpnotes.moments import quick


def both(model, m, S, bar, rtol=1e-12):
    """Moments and derivatives, plain and quick."""
    answers = []
    for one in (dataclasses.replace(model, quick=None), model):
        found, pull = moments.predict_and_pullback(one, m, S, noise=True)
        only = moments.predict(one, m, S, noise=True)
        for a, b in zip(found, only, strict=True):
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.max(np.abs(b)))
        answers.append((*found, *pull(bar)))
    return answers


def random_bar(rng, D, E, dtype=np.float64):
    shapes = (E,), (E, E), (D, E)
    return moments.Moments(*(rng.normal(size=shape).astype(dtype) for shape in shapes))


def agree(answers, rtol):
    for plain, fast in zip(*answers, strict=True):
        assert plain.dtype == fast.dtype
        np.testing.assert_allclose(fast, plain, rtol=rtol, atol=rtol * np.max(np.abs(plain)))


@pytest.mark.parametrize("block", [2**16, 20])
@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 1.0, 1e3])
def test_plain_and_quick_agree(problem, rng, covariance, scale, block, monkeypatch):
    monkeypatch.setattr(quick, "_BLOCK", block)  # 20 entries: two rows of nine at a time
    model, S = moments.predictor(problem.posteriors), covariance(2, scale)
    assert model.quick is not None
    agree(both(model, problem.m, S, random_bar(rng, 2, 2)), 1e-10)


@pytest.mark.parametrize("scale", [3.0, 10.0, 1e3])
def test_where_S_is_wide_a_difference_has_as_many_digits(problem, rng, scale, monkeypatch):
    """There ``exp Δ − 1`` stands for ``expm1 Δ``; the first scale has pairs of both kinds."""
    model, S = moments.predictor(problem.posteriors), scale * np.asarray([[1.0, 0.3], [0.3, 0.6]])
    wide = quick.glance(model.quick.have, problem.m, S).wide
    assert np.all(wide) == (scale > 3.0)
    assert np.any(wide)
    bar, answers = random_bar(rng, 2, 2), []
    for limit in (np.inf, quick._WIDE):
        monkeypatch.setattr(quick, "_WIDE", limit)
        found, pull = moments.predict_and_pullback(model, problem.m, S)
        looked = quick.glance(model.quick.have, problem.m, S)
        sums = quick.totals(model.quick.have, looked, model.quick.weights, slopes=False)
        answers.append((*found, *pull(bar), sums.value, sums.of_means))
    agree(answers, 1e-12)


def test_in_single_precision(make_posteriors, rng):
    model = moments.predictor(make_posteriors(lambda a: np.asarray(a, dtype=np.float32)))
    m, S = np.float32([0.3, -0.2]), np.float32([[0.2, 0.1], [0.1, 0.3]])
    agree(both(model, m, S, random_bar(rng, 2, 2, np.float32), rtol=1e-3), 1e-3)


def test_with_inputs_of_each_output(problem, rng):
    X = rng.normal(size=(9, 2))
    other = condition(GP(RBF(0.9, 1.4), 0.2), X, rng.normal(size=9))
    model = moments.predictor([problem.posteriors[1], other])
    assert model.quick.have.X.shape[0] == 3  # two parts and one
    agree(both(model, problem.m, problem.S, random_bar(rng, 2, 2)), 1e-10)


def test_what_it_does_not_serve_is_left_to_the_plain_formulas(problem, rng):
    other = condition(GP(RBF(), 0.1), rng.normal(size=(4, 2)), rng.normal(size=4))
    assert moments.predictor([problem.posteriors[0], other]).quick is None


@pytest.mark.parametrize("spread", [0.5, 3.0])
def test_points_far_away_overflow_nothing(rng, spread):
    """Some are a thousand lengthscales off: their exponents alone would be infinite."""
    X = np.concatenate([rng.normal(size=(6, 2)), 1e3 * rng.normal(size=(3, 2))])
    model = moments.predictor([condition(GP(RBF(), 0.1), X, rng.normal(size=9))] * 2)
    agree(both(model, np.zeros(2), spread * np.eye(2), random_bar(rng, 2, 2)), 1e-10)
    far = both(model, 1e3 * np.ones(2), spread * np.eye(2), random_bar(rng, 2, 2))
    agree(far, 1e-10)
    assert all(np.all(np.isfinite(one)) for one in far[1])


def test_a_variance_that_rounding_takes_below_zero_is_zero(rng, covariance):
    """A factor a little too large stands for bad rounding. What is left is the mean function, a
    network of fixed functions, which takes part in the derivatives alone."""
    X, lengths = rng.normal(size=(7, 2)), np.asarray([1.1, 1.6])
    posterior = condition(GP(RBF(1.3, lengths), 1e-3), X, np.sin(X[:, 0]))
    model = moments.predictor([posterior])
    outputs = tuple(one._replace(half=1.2 * one.half) for one in model.outputs)
    worse = dataclasses.replace(model.quick, half=1.2 * model.quick.half)
    model = dataclasses.replace(model, outputs=outputs, quick=worse)
    S, bar = covariance(2, 1e-2), random_bar(rng, 2, 1)
    answers = both(model, X[3], S, bar)
    agree(answers, 1e-10)
    network = (X, 1.3 * posterior.alpha[:, None], lengths)
    wanted, pull = moments.network_and_pullback(*network, X[3], S)
    np.testing.assert_allclose(answers[0][1] - 1e-3, wanted.covariance, rtol=1e-10)
    for ours, theirs in zip(answers[0][3:], pull(bar)[3:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_without_noise_at_the_data_no_variance_is_negative(rng):
    X = rng.normal(size=(7, 2))
    posterior = condition(GP(RBF(1.0, 1.0), 1e-13), X, np.sin(X[:, 0]))
    model = moments.predictor([posterior, posterior])
    for point in X:
        for S in (np.zeros((2, 2)), 1e-14 * np.eye(2)):
            for one in (dataclasses.replace(model, quick=None), model):
                found, pull = moments.predict_and_pullback(one, point, S)
                assert np.all(np.diagonal(found.covariance) >= 0.0)
                assert all(np.all(np.isfinite(a)) for a in pull(random_bar(rng, 2, 2)))


@pytest.mark.parametrize(("n", "D"), [(1, 1), (1, 3), (4, 1)])
def test_the_smallest_sizes(rng, covariance, n, D):
    X = rng.normal(size=(n, D))
    model = moments.predictor([condition(GP(RBF(), 0.1), X, rng.normal(size=n))])
    answers = both(model, rng.normal(size=D), covariance(D, 0.3), random_bar(rng, D, 1))
    agree(answers, 1e-10)
    assert [one.shape for one in answers[1]] == [(1,), (1, 1), (D, 1), (D,), (D, D)]


def test_no_more_is_held_than_a_block_of_a_pair(rng):
    """Beside what was made beforehand, that is less than one matrix of all points with all."""
    n = 900
    X = rng.normal(size=(n, 2))
    model = moments.predictor([condition(GP(RBF(), 0.1), X, rng.normal(size=n))] * 2)
    m, S = np.zeros(2), 0.1 * np.eye(2)
    tracemalloc.start()
    _, pull = moments.predict_and_pullback(model, m, S)
    pull(random_bar(rng, 2, 2))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.5 * 8 * n**2


def test_answers_are_the_callers_own(problem, rng):
    """Nothing that comes back is a buffer which the next call fills."""
    model = moments.predictor(problem.posteriors)
    found, pull = moments.predict_and_pullback(model, problem.m, problem.S)
    before = [one.copy() for one in (*found, *pull(found))]
    moments.predict_and_pullback(model, problem.m + 1.0, 2.0 * problem.S)[1](found)
    for old, new in zip(before, (*found, *pull(found)), strict=True):
        np.testing.assert_array_equal(old, new)
