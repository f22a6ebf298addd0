"""Predictions at uncertain inputs: against quadrature, in limits, and differentiated."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from gpnotes import GP, RBF, Linear, condition
from gpnotes.decide import moments
from gpnotes.ground import memory
from gpnotes.testing import gradcheck


def by_quadrature(posteriors, m, points, weights):
    values = np.stack([posterior.mean(points) for posterior in posteriors], axis=1)
    variances = np.stack([posterior.variance(points) for posterior in posteriors], axis=1)
    mean = weights @ values
    off = values - mean
    spread = off.T @ (weights[:, None] * off) + np.diag(weights @ variances)
    return moments.Moments(mean, spread, (points - m).T @ (weights[:, None] * off))


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("scale", [1e-6, 1e-2, 0.3])
def test_moments_are_those_of_quadrature(problem, covariance, nodes, scale, rank):
    S = covariance(2, scale, rank)
    prediction = moments.predict(moments.predictor(problem.posteriors), problem.m, S)
    wanted = by_quadrature(problem.posteriors, problem.m, *nodes(problem.m, S))
    for ours, theirs in zip(prediction, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11 * np.max(np.abs(theirs)))


def test_three_dimensions_and_three_outputs(rng, covariance, nodes):
    X = rng.normal(size=(11, 3))
    posteriors = [
        condition(GP(RBF(1.0, rng.uniform(1.0, 2.0, 3)), 0.1), X, rng.normal(size=11))
        for _ in range(3)
    ]
    m, S = rng.normal(size=3), covariance(3, 0.2)
    prediction = moments.predict(moments.predictor(posteriors), m, S)
    wanted = by_quadrature(posteriors, m, *nodes(m, S, 32))
    for ours, theirs in zip(prediction, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_a_copy_predicts_the_same(problem, copied):
    """For another process, or for a change that shall not touch the first."""
    model = moments.predictor(problem.posteriors)
    ours, theirs = (moments.predict(one, problem.m, problem.S) for one in (model, copied(model)))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_each_output_may_have_inputs_of_its_own(problem, rng, nodes):
    X = rng.normal(size=(5, 2))
    other = condition(GP(RBF(0.9, 1.4), 0.2), X, rng.normal(size=5))
    posteriors = [problem.posteriors[1], other]
    prediction = moments.predict(moments.predictor(posteriors), problem.m, problem.S)
    wanted = by_quadrature(posteriors, problem.m, *nodes(problem.m, problem.S))
    for ours, theirs in zip(prediction, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_a_certain_input_is_the_posterior_itself(problem):
    model = moments.predictor(problem.posteriors)
    prediction = moments.predict(model, problem.m, np.zeros((2, 2)), noise=True)
    for k, one in enumerate(problem.posteriors):
        mean, variance = one.predict(problem.m[None, :], noise=True)
        np.testing.assert_allclose(prediction.mean[k], mean[0], rtol=1e-13)
        np.testing.assert_allclose(prediction.covariance[k, k], variance[0], rtol=1e-12)
    assert prediction.covariance[0, 1] == 0.0
    assert not np.any(prediction.cross)


def slope(posterior, x):
    """The derivative of the mean function, through the kernel's own pullback."""
    weights = posterior.alpha[None, :]
    return posterior.gp.kernel.pullback(x[None, :], posterior.X, weights)[1][0]


@pytest.mark.parametrize("scale", [1e-4, 1e-8, 1e-12, 1e-20])
def test_tiny_covariances_keep_their_digits(problem, covariance, scale):
    """Between outputs there is nothing but ``J S Jᵀ`` and terms smaller by a factor of `scale`."""
    S = covariance(2, scale)
    prediction = moments.predict(moments.predictor(problem.posteriors), problem.m, S)
    J = np.stack([slope(posterior, problem.m) for posterior in problem.posteriors])
    rtol = max(30.0 * scale, 1e-12)
    np.testing.assert_allclose(
        prediction.cross, S @ J.T, rtol=rtol, atol=rtol * np.max(abs(S @ J.T))
    )
    wanted = (J @ S @ J.T)[0, 1]
    np.testing.assert_allclose(prediction.covariance[0, 1], wanted, rtol=rtol)


def test_noise_is_added_to_the_diagonal(problem):
    model = moments.predictor(problem.posteriors)
    plain, noisy = (
        moments.predict(model, problem.m, problem.S, noise=noise) for noise in (False, True)
    )
    np.testing.assert_allclose(noisy.covariance - plain.covariance, np.diag([0.1, 0.05]))
    np.testing.assert_array_equal(noisy.mean, plain.mean)


def test_arrays_stay_where_they_are(space, make_posteriors):
    posteriors = make_posteriors(space.asarray)
    m, S = space.asarray([0.3, -0.2]), space.asarray([[0.2, 0.1], [0.1, 0.3]])
    model = moments.predictor(posteriors)
    prediction, pull = moments.predict_and_pullback(model, m, S, noise=True)
    bars = pull(prediction)
    assert all(space.holds(a) for a in (*prediction, *moments.predict(model, m, S), *bars))
    assert [a.shape for a in (*prediction, *bars)] == [(2,), (2, 2), (2, 2), (2,), (2, 2)]


@pytest.mark.parametrize("field", ["mean", "covariance", "cross"])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_pullbacks_agree_with_differences(problem, rng, field, rank):
    """By the root of S, so that it stays positive semidefinite and singular ones are included."""
    root = np.zeros((2, 2))
    root[:, :rank] = rng.normal(size=(2, rank))
    model = moments.predictor(problem.posteriors)

    def value(m, root):
        return getattr(moments.predict(model, m, root @ root.T), field)

    def pullback(m, root, bar):
        nothing = moments.Moments(np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)))
        _, pull = moments.predict_and_pullback(model, m, root @ root.T)
        m_bar, S_bar = pull(nothing._replace(**{field: bar}))
        return m_bar, 2.0 * S_bar @ root

    gradcheck(value, pullback, problem.m, root)


@pytest.mark.parametrize("field", ["mean", "covariance", "cross"])
def test_the_pullback_at_zero_covariance_is_a_limit_from_above(problem, rng, covariance, field):
    model, direction = moments.predictor(problem.posteriors), covariance(2, 1.0)

    def value(t):
        return getattr(moments.predict(model, problem.m, t * direction), field)

    bar = rng.normal(size=value(0.0).shape)
    nothing = moments.Moments(np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)))
    _, pull = moments.predict_and_pullback(model, problem.m, np.zeros((2, 2)))
    _, S_bar = pull(nothing._replace(**{field: bar}))
    h = 1e-4
    slope = (4.0 * value(h) - value(2.0 * h) - 3.0 * value(0.0)) / (2.0 * h)
    np.testing.assert_allclose(np.sum(S_bar * direction), np.sum(bar * slope), rtol=1e-5)


def test_derivatives_keep_their_digits_too(problem, rng, covariance):
    """The covariance between outputs goes with S, and so does its derivative by m."""
    model, S = moments.predictor(problem.posteriors), covariance(2, 1.0)
    bar = moments.Moments(np.zeros(2), np.asarray([[0.0, 1.0], [0.0, 0.0]]), np.zeros((2, 2)))
    by_size = [
        moments.predict_and_pullback(model, problem.m, size * S)[1](bar)[0] / size
        for size in (1e-9, 1e-12, 1e-18)
    ]
    np.testing.assert_allclose(by_size[1], by_size[2], rtol=1e-10)
    np.testing.assert_allclose(by_size[0], by_size[2], rtol=1e-7)


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (np.asarray([[1.0, 2.0], [2.0, 1.0]]), "smallest eigenvalue is -1"),
        (np.asarray([[1e8, 0.0], [0.0, -0.01]]), "smallest eigenvalue is -0.01"),
        (np.asarray([[1e8, 2e3], [2e3, 0.01]]), "smallest eigenvalue is -0.03"),
        (np.asarray([[1.0, 0.5], [0.0, 1.0]]), "S must be symmetric"),
        (np.asarray([[np.nan, 0.0], [0.0, 1.0]]), "S must be finite"),
        (np.eye(3), r"S must have shape \(2, 2\)"),
    ],
)
def test_what_is_no_covariance_is_refused(problem, S, message):
    model = moments.predictor(problem.posteriors)
    for call in (moments.predict, moments.predict_and_pullback):
        with pytest.raises(ValueError, match=message):
            call(model, problem.m, S)


def test_an_eigenvalue_that_rounding_took_below_zero_is_zero(problem):
    v = np.asarray([[1.0], [2.0]])
    S = v @ v.T - 1e-12 * np.eye(2)
    model = moments.predictor(problem.posteriors)
    prediction, wanted = (moments.predict(model, problem.m, one) for one in (S, v @ v.T))
    np.testing.assert_allclose(prediction.covariance, wanted.covariance, rtol=1e-9)


def test_gps_that_cannot_be_integrated_are_refused(problem):
    X, y = np.eye(2), np.ones(2)
    with pytest.raises(TypeError, match="RBF kernel or a sum"):
        moments.predictor([condition(GP(RBF() + Linear(), 0.1), X, y)])
    with pytest.raises(ValueError, match="at least one ExactPosterior"):
        moments.predictor([])
    with pytest.raises(TypeError, match="must be an ExactPosterior; got GP"):
        moments.predictor([GP(RBF(), 0.1)])
    with pytest.raises(ValueError, match=r"posteriors\[1\].X must have shape"):
        moments.predictor([problem.posteriors[0], condition(GP(RBF(), 0.1), np.eye(3), np.ones(3))])

    class Other:
        def __call__(self, x):
            return x[:, 0]

        def pullback(self, x, bar):
            return self, np.stack([bar, 0.0 * bar], axis=1)

    with pytest.raises(TypeError, match="constant mean"):
        moments.predictor([condition(GP(RBF(), 0.1, Other()), X, y)])


def test_what_has_no_room_says_so(problem, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda _: 1000)
    monkeypatch.setattr(memory, "_SMALL", 0)
    with pytest.raises(MemoryError, match=r"one of 2 inverses of K_y of shape \(9, 9\) needs"):
        moments.predictor(problem.posteriors)


def test_posteriors_are_no_predictor(problem):
    with pytest.raises(TypeError, match=r"model must be a Predictor, made by .*; got list"):
        moments.predict(problem.posteriors, problem.m, problem.S)


def test_no_variance_is_negative_where_next_to_no_noise_leaves_no_digits(rng):
    X, S = np.sort(rng.uniform(0.0, 3.0, (30, 1)), axis=0), np.asarray([[1e-8]])
    posteriors = [condition(GP(RBF(), 1e-12), X, f(X[:, 0])) for f in (np.cos, np.sin)]
    model = moments.predictor(posteriors)
    for m in (0.5 * np.pi, *rng.uniform(0.0, 3.0, 20)):
        assert np.all(np.diag(moments.predict(model, np.asarray([m]), S).covariance) >= 0.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("m", "S"), [(1e30, 1.0), (0.0, 1e30)])
def test_inputs_whose_squares_overflow_are_refused(dtype, m, S):
    size = 1e30 if dtype == np.float32 else 1e170
    X, y = np.eye(2, dtype=dtype), np.ones(2, dtype=dtype)
    model = moments.predictor([condition(GP(RBF(), 0.1), X, y)])
    m, S = (np.asarray(one * size / 1e30 if one > 1.0 else one, dtype=dtype) for one in (m, S))
    m, S = np.full(2, m, dtype=dtype), np.eye(2, dtype=dtype) * S
    with pytest.raises(ValueError, match=r"[mS] must be smaller than .* in size"):
        moments.predict(model, m, S)


def test_far_from_all_points_there_is_the_prior(problem):
    prediction = moments.predict(moments.predictor(problem.posteriors), problem.m + 1e12, problem.S)
    np.testing.assert_array_equal(prediction.mean, [0.3, 0.0])
    np.testing.assert_allclose(prediction.covariance, np.diag([1.3, 1.1]), rtol=1e-15)
    assert not np.any(prediction.cross)


def test_a_posterior_is_no_sequence_of_them(problem):
    wanted = "posteriors must be a sequence of ExactPosterior; got ExactPosterior"
    with pytest.raises(TypeError, match=wanted):
        moments.predictor(problem.posteriors[0])


def test_derivatives_of_another_shape_or_kind_are_refused(problem):
    model = moments.predictor(problem.posteriors)
    prediction, pull = moments.predict_and_pullback(model, problem.m, problem.S)
    with pytest.raises(ValueError, match=r"bar.mean must have shape \(2,\); got \(5,\)"):
        pull(prediction._replace(mean=np.ones(5)))
    with pytest.raises(ValueError, match=r"bar.covariance must have shape \(2, 2\); got \(2,\)"):
        pull(prediction._replace(covariance=np.ones(2)))
    with pytest.raises(TypeError, match=r"bar.cross must be an array; got list"):
        pull(prediction._replace(cross=[[0.0, 0.0], [0.0, 0.0]]))
    with pytest.raises(TypeError, match=r"bar.cross must have the dtype of"):
        pull(prediction._replace(cross=prediction.cross.astype(np.float32)))


def test_a_predictor_shows_its_arrays_by_shape():
    X = np.linspace(0.0, 1.0, 8)[:, None]
    shown = repr(moments.predictor([condition(GP(RBF(), 0.1), X, X[:, 0])]))
    assert "array(" not in shown
    assert "matrices=<1×8×8 float64>" in shown
