"""Laplace's approximation of several classes: dense algebra, two classes as labels, differences."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    ConstantMean,
    Matern52,
    White,
    condition,
    fit,
    stream,
    to_numpy,
)
from gpnotes.ground import memory
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer import laplace
from gpnotes.infer.laplace import SoftmaxGP, SoftmaxPosterior
from gpnotes.testing import gradcheck

LENGTHS = (0.8, 1.5)
C = 3


def process(asarray=np.asarray):
    return GP(RBF(2.3, asarray(LENGTHS)) + White(0.05), 0.0)


@pytest.fixture
def numbers(rng):
    """X, classes y and Xs on the host."""
    X = rng.normal(size=(12, 2))
    y = np.digitize(X[:, 0] + 0.4 * rng.normal(size=12), [-0.5, 0.5]).astype(float)
    return X, y, rng.normal(size=(5, 2))


def close(space):
    return {"rtol": 1e-8, "atol": 1e-9} if space.double else {"rtol": 3e-3, "atol": 1e-3}


def softmax(f):
    e = np.exp(f - f.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def dense(gp, X, mode):
    """The Gram matrix of all classes under each other, and W, written out entry by entry."""
    n, share = len(X), softmax(mode)
    K = np.kron(np.eye(C), gp.kernel(X))
    W = np.zeros((C * n, C * n))
    for i in range(n):
        for c in range(C):
            for e in range(C):
                W[c * n + i, e * n + i] = share[i, c] * (c == e) - share[i, c] * share[i, e]
    return K, W


def test_the_mode_is_where_the_gradient_of_the_posterior_is_zero(space, numbers):
    X, y, _ = (space.asarray(a) for a in numbers)
    posterior = condition(SoftmaxGP(process(space.asarray), C), X, y)
    assert space.holds(posterior.mode)
    X, y, _ = numbers
    mode = to_numpy(posterior.mode).astype(float)
    slope = np.eye(C)[y.astype(int)] - softmax(mode)
    np.testing.assert_allclose(np.linalg.solve(process().kernel(X), mode), slope, **close(space))
    np.testing.assert_allclose(to_numpy(posterior.gradient), slope, **close(space))
    assert posterior.steps < 12


def test_predictions_and_evidence_are_those_of_dense_algebra(space, numbers):
    X, y, Xs = (space.asarray(a) for a in numbers)
    posterior = condition(SoftmaxGP(process(space.asarray), C), X, y)
    mean, covariance = posterior.mean(Xs), posterior.class_covariance(Xs)
    assert space.holds(mean)
    assert space.holds(covariance)
    X, y, Xs = numbers
    gp, mode = process(), to_numpy(posterior.mode).astype(float)
    K, W = dense(gp, X, mode)
    cross = gp.kernel(X, Xs)
    R = W @ np.linalg.inv(np.eye(len(K)) + K @ W)
    for m in range(len(Xs)):
        ties = np.kron(np.eye(C), cross[:, m : m + 1])
        wanted = gp.kernel(Xs)[m, m] * np.eye(C) - ties.T @ R @ ties
        np.testing.assert_allclose(to_numpy(covariance)[m], wanted, **close(space))
    slope = np.eye(C)[y.astype(int)] - softmax(mode)
    np.testing.assert_allclose(to_numpy(mean), cross.T @ slope, **close(space))
    density = np.sum(np.log(softmax(mode))[np.arange(len(y)), y.astype(int)])
    stacked = mode.T.ravel()
    density -= 0.5 * stacked @ np.linalg.solve(K, stacked)
    density -= 0.5 * np.linalg.slogdet(np.eye(len(K)) + K @ W)[1]
    assert posterior.log_evidence == pytest.approx(density, rel=1e-9 if space.double else 1e-3)


def test_two_classes_are_labels_of_the_difference(numbers):
    """``f₁ − f₀`` has twice the kernel, and the logit of class 1."""
    X, y, Xs = numbers
    y = (y > 0.0).astype(float)
    two = condition(SoftmaxGP(GP(RBF(1.3, 0.9), 0.0), 2), X, y)
    one = condition(laplace.LaplaceGP(GP(RBF(2.6, 0.9), 0.0), Bernoulli("logit")), X, 2.0 * y - 1.0)
    np.testing.assert_allclose(two.mode[:, 1] - two.mode[:, 0], one.mode, rtol=1e-7, atol=1e-9)
    assert two.log_evidence == pytest.approx(one.log_evidence, rel=1e-9)
    mean, S = two.mean(Xs), two.class_covariance(Xs)
    variance = S[:, 0, 0] + S[:, 1, 1] - 2.0 * S[:, 0, 1]
    np.testing.assert_allclose(mean[:, 1] - mean[:, 0], one.mean(Xs), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(variance, one.variance(Xs), rtol=1e-9)
    chance = two.probability(Xs, 40_000, rng=stream(0))[:, 1]
    np.testing.assert_allclose(chance, one.probability(Xs), atol=0.005)


@pytest.mark.parametrize("kernel", [RBF(2.3, np.asarray(LENGTHS)), Matern52(4.0, 0.7) + White(0.1)])
def test_the_pullback_of_the_evidence_agrees_with_differences(numbers, kernel):
    X, y, _ = numbers

    def value(kernel, X):
        return condition(SoftmaxGP(GP(kernel, 0.0), C), X, y).log_evidence

    def pullback(kernel, X, bar):
        assert bar == 1.0
        gp_bar, X_bar = condition(SoftmaxGP(GP(kernel, 0.0), C), X, y).evidence_gradient()
        return gp_bar.kernel, X_bar

    gradcheck(value, pullback, kernel, X)


def test_the_pullback_is_the_same_in_every_space(space, numbers):
    X, y, _ = (space.asarray(a) for a in numbers)
    gp_bar, X_bar = condition(SoftmaxGP(process(space.asarray), C), X, y).evidence_gradient()
    assert space.holds(X_bar)
    wanted_bar, wanted_X_bar = condition(SoftmaxGP(process(), C), *numbers[:2]).evidence_gradient()
    np.testing.assert_allclose(to_numpy(X_bar), wanted_X_bar, **close(space))
    both = gp_bar.kernel.parts[0].lengthscale, wanted_bar.kernel.parts[0].lengthscale
    np.testing.assert_allclose(to_numpy(both[0]), both[1], **close(space))


def test_probabilities_are_averages_over_draws_of_f(space, numbers):
    X, y, Xs = (space.asarray(a) for a in numbers)
    posterior = condition(SoftmaxGP(process(space.asarray), C), X, y)
    chance = posterior.probability(Xs, 20_000, rng=stream(1))
    assert space.holds(chance)
    mean, covariance = (
        to_numpy(a).astype(float) for a in (posterior.mean(Xs), posterior.class_covariance(Xs))
    )
    draw = np.random.default_rng(2)
    for m in range(len(mean)):
        f = draw.multivariate_normal(mean[m], covariance[m], 100_000)
        np.testing.assert_allclose(to_numpy(chance)[m], softmax(f).mean(axis=0), atol=0.01)
    np.testing.assert_allclose(to_numpy(chance).sum(axis=1), 1.0, rtol=1e-5)


def test_half_of_the_draws_of_a_probability_mirror_the_others(numbers):
    """Ten draws of three classes take fifteen normal numbers from the stream."""
    X, y, Xs = numbers
    used, wanted = stream(3), stream(3)
    condition(SoftmaxGP(process(), C), X, y).probability(Xs, 10, rng=used)
    wanted.normal((5, C))
    np.testing.assert_array_equal(used.normal(4), wanted.normal(4))


@pytest.mark.parametrize("num_samples", [2, 10, 1000])
def test_mirrored_draws_leave_no_error_where_no_class_is_preferred(space, num_samples):
    """Two means of zero: each draw has the chance that its mirror gives to the other class."""
    X = np.array([[0.0, 0.3], [0.5, -0.2], [1.0, 0.1]])
    posterior = condition(
        SoftmaxGP(process(space.asarray), 2), space.asarray(X), space.asarray([0.0, 1.0, 1.0])
    )
    far = space.asarray(np.full((4, 2), 1e3) * np.arange(1.0, 5.0)[:, None])
    np.testing.assert_array_equal(to_numpy(posterior.predict(far)[0]), 0.0)
    chance = to_numpy(posterior.probability(far, num_samples, rng=stream(2)))
    np.testing.assert_allclose(chance, 0.5, atol=1e-12 if space.double else 1e-5)


def test_chunks_change_nothing(monkeypatch, numbers):
    X, y, Xs = numbers
    posterior = condition(SoftmaxGP(process(), C), X, y)
    whole = *posterior.predict(Xs), posterior.probability(Xs, rng=stream(0))
    monkeypatch.setattr(memory, "ENTRIES", 80)
    parts = *posterior.predict(Xs), posterior.probability(Xs, rng=stream(0))
    for part, one in zip(parts, whole, strict=True):
        np.testing.assert_allclose(part, one, rtol=1e-12)


def test_a_class_that_was_never_seen_is_possible_far_away(numbers):
    X, y, _ = numbers
    posterior = condition(SoftmaxGP(process(), C + 1), X, y)
    far = posterior.probability(np.full((1, 2), 1e3), 20_000, rng=stream(0))
    np.testing.assert_allclose(far, 0.25, atol=0.01)
    assert np.all(posterior.probability(X, rng=stream(0))[:, C] < 0.25)


@pytest.mark.parametrize("variance", [1e3, 1e5])
def test_a_wide_prior_needs_shorter_steps_and_gets_them(variance, rng):
    X = np.sort(rng.uniform(0.0, 3.0, size=(30, 1)), axis=0)
    y = rng.integers(0, C, 30).astype(float)
    posterior = condition(SoftmaxGP(GP(RBF(variance, 0.5) + White(1.0), 0.0), C), X, y)
    K = posterior.gp.kernel(X)
    np.testing.assert_allclose(
        posterior.mode, K @ posterior.gradient, atol=1e-6 * abs(posterior.mode).max()
    )


def test_a_fit_ends_where_the_gradient_of_the_evidence_is_zero(rng):
    X = rng.uniform(-3.0, 3.0, size=(60, 1))
    y = np.digitize(np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=60), [-0.4, 0.4]).astype(float)
    start = GP(RBF(1.0, 3.0), 0.0)
    fitted = fit(SoftmaxGP(start, C), X, y).posterior
    assert isinstance(fitted, SoftmaxPosterior)
    assert fitted.log_evidence > condition(SoftmaxGP(start, C), X, y).log_evidence + 1.0
    gradient = flatten_gradient(fitted.gp, fitted.evidence_gradient()[0], fixed=["noise_var"])
    assert np.max(np.abs(gradient)) < 1e-3
    right = fitted.probability(X, rng=stream(0)).argmax(axis=1) == y
    assert right.mean() > 0.7


def test_what_does_not_fit_is_named(monkeypatch, numbers):
    X, y, Xs = numbers
    gp = GP(RBF(1.0, np.asarray(LENGTHS)), 0.0)
    for wrong in (y + 1.0, y - 1.0, y + 0.5):
        with pytest.raises(ValueError, match="y must hold classes, whole numbers from 0 to 2; got"):
            condition(SoftmaxGP(gp, C), X, wrong)
    with pytest.raises(ValueError, match="classes must be a whole number from 2; got 1"):
        condition(SoftmaxGP(gp, 1), X, y)
    with pytest.raises(TypeError, match="classes must be a whole number"):
        SoftmaxGP(gp, 2.5)
    with pytest.raises(ValueError, match=r"gp\.noise_var must be 0: the softmax .*; got 0\.1"):
        condition(SoftmaxGP(GP(RBF(), 0.1), C), X, y)
    with pytest.raises(ValueError, match=r"gp\.mean must be ZeroMean\(\): .*; got ConstantMean"):
        SoftmaxGP(GP(RBF(), 0.0, ConstantMean(1.0)), C)
    posterior = condition(SoftmaxGP(gp, C), X, y)
    with pytest.raises(ValueError, match=r"Xs must have shape \(n, 2\)"):
        posterior.predict(Xs[:, :1])
    with pytest.raises(ValueError, match="num_samples must be a whole number from 2; got 1"):
        posterior.probability(Xs, 1, rng=stream(0))
    with pytest.raises(TypeError, match="rng must be a Stream, a NumPy Generator"):
        posterior.probability(Xs, rng=np.random.RandomState(0))
    monkeypatch.setattr(memory, "available", lambda like=None: 1000)
    monkeypatch.setattr(memory, "_SMALL", 0)
    with pytest.raises(MemoryError, match="the Gram matrix of shape"):
        condition(SoftmaxGP(gp, C), X, y)
