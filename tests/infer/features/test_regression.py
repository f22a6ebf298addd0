"""Regression on features against dense algebra, in chunks, and against the exact process."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Chunks,
    ConstantMean,
    FeatureGP,
    Matern32,
    Normal,
    RationalQuadratic,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    stream,
    to_numpy,
)
from gpnotes.ground import memory
from gpnotes.ground.chunks import ChunkError
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer import features
from gpnotes.infer.linear import BayesianLinear
from gpnotes.testing import check_posterior, gradcheck

N, D, R = 23, 3, 10
NOISE_VAR = 0.2


@pytest.fixture
def numbers(rng):
    """X, y and Xs on the host."""
    return rng.normal(size=(N, D)), rng.normal(size=N), rng.normal(size=(7, D))


def process(asarray, kernel_class=RBF):
    return GP(kernel_class(1.3, asarray([0.8, 1.5, 2.0])), NOISE_VAR, ConstantMean(0.5))


def in_space(space, numbers, kind="paired"):
    X, y, Xs = (space.asarray(a) for a in numbers)
    gp = process(space.asarray)
    return gp, features.draw_frequencies(gp.kernel, X, R, kind=kind, rng=stream(1)), X, y, Xs


def tolerance(space):
    return {"rtol": 1e-9, "atol": 1e-10} if space.double else {"rtol": 2e-3, "atol": 2e-4}


def dense(numbers, kind="paired"):
    """Mean, covariance and evidence as of a process whose kernel is ``φ(x)·φ(z)``."""
    X, y, Xs = numbers
    gp = process(np.asarray)
    frequencies = features.draw_frequencies(gp.kernel, X, R, kind=kind, rng=stream(1))
    Phi, Phi_s = (frequencies.features(gp.kernel, a) for a in (X, Xs))
    Ky = Phi @ Phi.T + NOISE_VAR * np.eye(N)
    gain = np.linalg.solve(Ky, Phi @ Phi_s.T)
    mean = 0.5 + gain.T @ (y - 0.5)
    evidence = Normal.from_covariance(np.full(N, 0.5), Ky).log_density(y)
    return mean, Phi_s @ Phi_s.T - Phi_s @ Phi.T @ gain, evidence


@pytest.mark.parametrize("kind", ["paired", "cosine"])
def test_the_posterior_is_that_of_dense_algebra(space, numbers, kind):
    gp, frequencies, X, y, Xs = in_space(space, numbers, kind)
    posterior = condition(FeatureGP(gp, frequencies), X, y)
    mean, covariance, evidence = dense(numbers, kind)
    close = tolerance(space)
    np.testing.assert_allclose(to_numpy(posterior.mean(Xs)), mean, **close)
    np.testing.assert_allclose(to_numpy(posterior.covariance(Xs)), covariance, **close)
    np.testing.assert_allclose(to_numpy(posterior.variance(Xs)), np.diag(covariance), **close)
    np.testing.assert_allclose(posterior.log_evidence, evidence, **close)
    assert log_evidence(FeatureGP(gp, frequencies), X, y) == posterior.log_evidence
    assert isinstance(posterior.log_evidence, float)
    check_posterior(posterior, Xs)
    assert space.holds(posterior.weights.root)


def test_the_weights_are_those_of_linear_regression(space, numbers):
    """Which goes another way, by QR."""
    gp, frequencies, X, y, _ = in_space(space, numbers)
    model = BayesianLinear(space.asarray(np.eye(R)), NOISE_VAR)
    other = condition(model, frequencies.features(gp.kernel, X), y - 0.5)
    ours = condition(FeatureGP(gp, frequencies), X, y).weights
    close = tolerance(space)
    np.testing.assert_allclose(to_numpy(ours.weight_mean), to_numpy(other.weight_mean), **close)
    pair = to_numpy(ours.weight_covariance), to_numpy(other.weight_covariance)
    np.testing.assert_allclose(*pair, **close)


@pytest.mark.parametrize("kernel_class", [RBF, Matern32])
@pytest.mark.parametrize("kind", ["paired", "cosine"])
def test_the_gradient_agrees_with_differences(numbers, kernel_class, kind):
    X, y, _ = numbers
    gp = process(np.asarray, kernel_class)
    frequencies = features.draw_frequencies(gp.kernel, X, R, kind=kind, rng=stream(1))
    gradcheck(
        lambda gp: log_evidence(FeatureGP(gp, frequencies), X, y),
        lambda gp, bar: (log_evidence_and_gradient(FeatureGP(gp, frequencies), X, y)[1].gp,),
        gp,
    )
    one = GP(kernel_class(1.3, 0.9), NOISE_VAR, gp.mean)
    gradcheck(
        lambda gp: log_evidence(FeatureGP(gp, frequencies), X, y),
        lambda gp, bar: (log_evidence_and_gradient(FeatureGP(gp, frequencies), X, y)[1].gp,),
        one,
    )


def summed(asarray):
    rough = Matern32(0.8, asarray([0.5, 1.2]))
    return GP(RBF(1.3, 1.5) + 0.4 * rough.on(2, 0), NOISE_VAR, ConstantMean(0.5))


def test_a_sum_has_the_gradient_of_differences_and_the_evidence_of_dense_algebra(space, numbers):
    gp, X, y = summed(np.asarray), *numbers[:2]
    frequencies = features.draw_frequencies(gp.kernel, X, R, rng=stream(1))
    gradcheck(
        lambda gp: log_evidence(FeatureGP(gp, frequencies), X, y),
        lambda gp, bar: (log_evidence_and_gradient(FeatureGP(gp, frequencies), X, y)[1].gp,),
        gp,
    )
    Phi = frequencies.features(gp.kernel, X)
    Ky = Phi @ Phi.T + NOISE_VAR * np.eye(N)
    wanted = Normal.from_covariance(np.full(N, 0.5), Ky).log_density(y)
    there, (X, y, Xs) = summed(space.asarray), map(space.asarray, numbers)
    draw = features.draw_frequencies(there.kernel, X, R, rng=stream(1))
    posterior = condition(FeatureGP(there, draw), X, y)
    np.testing.assert_allclose(posterior.log_evidence, wanted, **tolerance(space))
    check_posterior(posterior, Xs)
    again = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(to_numpy(again.mean(Xs)), to_numpy(posterior.mean(Xs)))


def test_a_fit_moves_all_of_a_sum_but_alpha(numbers):
    X, y, _ = numbers
    gp = GP(2.0 * RationalQuadratic(1.0, 1.0, 0.7).on(0) + RBF(), NOISE_VAR)
    frequencies = features.draw_frequencies(gp.kernel, X, 40, rng=stream(1))
    found = fit(FeatureGP(gp, frequencies), X, y, max_steps=8)
    ratio = found.model.gp.kernel.parts[0].kernel.kernel
    assert ratio.alpha == 0.7
    assert ratio.lengthscale != 1.0
    assert found.log_evidence > log_evidence(FeatureGP(gp, frequencies), X, y)
    assert "alpha" not in str(found)


def test_value_and_gradient_are_the_same_in_every_space(space, numbers):
    gp, frequencies, X, y, _ = in_space(space, numbers)
    value, model_bar = log_evidence_and_gradient(FeatureGP(gp, frequencies), X, y)
    gp_bar = model_bar.gp
    host = process(np.asarray)
    there = features.draw_frequencies(host.kernel, numbers[0], R, rng=stream(1))
    wanted, model_bar = log_evidence_and_gradient(FeatureGP(host, there), *numbers[:2])
    wanted_bar = model_bar.gp
    close = tolerance(space)
    np.testing.assert_allclose(value, wanted, **close)
    ours, theirs = flatten_gradient(gp, gp_bar), flatten_gradient(host, wanted_bar)
    np.testing.assert_allclose(ours, theirs, **close)
    assert space.holds(gp_bar.kernel.lengthscale)


def test_blocks_of_rows_change_nothing(monkeypatch, numbers):
    X, y, Xs = numbers
    gp = process(np.asarray)
    frequencies = features.draw_frequencies(gp.kernel, X, R, rng=stream(1))
    value, model_bar = log_evidence_and_gradient(FeatureGP(gp, frequencies), X, y)
    gp_bar = model_bar.gp
    prediction = condition(FeatureGP(gp, frequencies), X, y).predict(Xs)
    monkeypatch.setattr(memory, "ENTRIES", 5 * R)
    monkeypatch.setattr("gpnotes.fast.cosines._ROWS", 4 * R)
    again, model_bar = log_evidence_and_gradient(FeatureGP(gp, frequencies), X, y)
    again_bar = model_bar.gp
    assert again == pytest.approx(value, rel=1e-12)
    pair = flatten_gradient(gp, gp_bar), flatten_gradient(gp, again_bar)
    np.testing.assert_allclose(*pair, rtol=1e-10)
    in_blocks = condition(FeatureGP(gp, frequencies), X, y).predict(Xs)
    for a, b in zip(prediction, in_blocks, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_chunks_give_what_all_rows_give(space, numbers):
    gp, frequencies, X, y, Xs = in_space(space, numbers)
    chunks = [(X[:5, :], y[:5]), lambda: (X[5:6, :], y[5:6]), (X[6:, :], y[6:])]
    ours = condition(FeatureGP(gp, frequencies), Chunks(chunks))
    whole = condition(FeatureGP(gp, frequencies), X, y)
    close = {"rtol": 1e-10, "atol": 1e-11} if space.double else tolerance(space)
    for a, b in zip(ours.predict(Xs, noise=True), whole.predict(Xs, noise=True), strict=True):
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), **close)
    np.testing.assert_allclose(ours.log_evidence, whole.log_evidence, **close)
    value, model_bar = log_evidence_and_gradient(FeatureGP(gp, frequencies), Chunks(chunks))
    bar = model_bar.gp
    wanted, model_bar = log_evidence_and_gradient(FeatureGP(gp, frequencies), X, y)
    wanted_bar = model_bar.gp
    np.testing.assert_allclose(value, wanted, **close)
    pair = flatten_gradient(gp, bar), flatten_gradient(gp, wanted_bar)
    np.testing.assert_allclose(*pair, **close)


def test_work_for_other_processes_can_be_pickled(numbers):
    X, y, _ = numbers
    gp = process(np.asarray)
    frequencies = features.draw_frequencies(gp.kernel, X, R, rng=stream(1))

    def far(function, iterable):
        there = pickle.loads(pickle.dumps(function))
        return [pickle.loads(pickle.dumps(there(one))) for one in iterable]

    ours = condition(FeatureGP(gp, frequencies), Chunks([(X, y)], map=far))
    assert ours.log_evidence == log_evidence(FeatureGP(gp, frequencies), X, y)
    chunks = [(X[:9], y[:9]), (X[9:], y[9:])]
    value, _ = log_evidence_and_gradient(FeatureGP(gp, frequencies), Chunks(chunks, map=far))
    assert value == pytest.approx(ours.log_evidence, rel=1e-12)


def test_a_chunk_with_bad_rows_is_named(numbers):
    X, y, _ = numbers
    gp = process(np.asarray)
    frequencies = features.draw_frequencies(gp.kernel, X, R, rng=stream(1))
    spoilt = X.copy()
    spoilt[4, 1] = np.nan
    for wrong, words in (
        ((spoilt, y), "chunk 1 of chunks failed: .* X must be finite; 1 .*, the first in row 4"),
        ((X, y[:3]), r"chunk 1 of chunks failed: .* y must have shape \(23,\)"),
    ):
        with pytest.raises(ChunkError, match=words):
            condition(FeatureGP(gp, frequencies), Chunks([(X, y), wrong]))


def test_further_observations_extend_the_posterior(space, numbers):
    gp, frequencies, X, y, Xs = in_space(space, numbers)
    whole = condition(FeatureGP(gp, frequencies), X, y)
    ours = condition(FeatureGP(gp, frequencies), X[:9, :], y[:9]).extend(X[9:, :], y[9:])
    close = tolerance(space)
    for a, b in zip(ours.predict(Xs), whole.predict(Xs), strict=True):
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), **close)
    np.testing.assert_allclose(ours.log_evidence, whole.log_evidence, **close)


def test_many_features_come_near_the_exact_process(numbers):
    X, y, Xs = numbers
    gp = process(np.asarray)
    exact = condition(gp, X, y)
    gaps = {size: [] for size in (40, 1000)}
    for size, found in gaps.items():
        for seed in range(10):
            frequencies = features.draw_frequencies(gp.kernel, X, size, rng=stream(seed))
            ours = condition(FeatureGP(gp, frequencies), X, y)
            found.append(np.max(np.abs(ours.mean(Xs) - exact.mean(Xs))))
    assert np.median(gaps[1000]) < 0.5 * np.median(gaps[40])


def test_float32_keeps_its_digits_with_many_rows_and_little_noise(rng):
    """Summed in float32, the gram matrix would have eigenvalues below zero."""
    X = rng.uniform(0.0, 5.0, size=(20_000, 1))
    y = np.sin(X[:, 0]) + 0.05 * rng.normal(size=20_000)
    gp = GP(RBF(1.0, 1.0), 0.0025)
    Xs = np.linspace(0.0, 5.0, 9)[:, None]
    found = []
    for dtype in (np.float64, np.float32):
        frequencies = features.draw_frequencies(gp.kernel, X.astype(dtype), 60, rng=stream(1))
        posterior = condition(FeatureGP(gp, frequencies), X.astype(dtype), y.astype(dtype))
        found.append(posterior.predict(Xs.astype(dtype)))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=2e-4)
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=0.2)


def test_one_draw_of_functions_is_the_same_at_any_points(numbers):
    X, y, Xs = numbers
    gp = process(np.asarray)
    frequencies = features.draw_frequencies(gp.kernel, X, R, rng=stream(1))
    posterior = condition(FeatureGP(gp, frequencies), X, y)
    some, all_of_them = (posterior.sample(a, 4, rng=stream(2)) for a in (Xs[:3], Xs))
    np.testing.assert_allclose(some, all_of_them[:, :3], rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda g, f, X, y: condition(FeatureGP(GP(g.kernel, 0.0), f), X, y),
            ValueError,
            "noise_v",
        ),
        (
            lambda g, f, X, y: condition(FeatureGP(GP(Matern32(), 0.1), f), X, y),
            TypeError,
            "a RBF",
        ),
        (
            lambda g, f, X, y: condition(FeatureGP(g, None), X, y),
            TypeError,
            "frequencies must be",
        ),
        (
            lambda g, f, X, y: condition(FeatureGP(g, f), X[:0], y[:0]),
            ValueError,
            "at least one row",
        ),
        (
            lambda g, f, X, y: condition(
                FeatureGP(GP(RBF(), 0.1), f), X.astype(np.float32), y.astype(np.float32)
            ),
            TypeError,
            "X must have the dtype of frequencies",
        ),
        (
            lambda g, f, X, y: log_evidence_and_gradient(FeatureGP(g, f), Chunks(iter([(X, y)]))),
            TypeError,
            "chunks must be a list",
        ),
        (
            lambda g, f, X, y: log_evidence_and_gradient(
                FeatureGP(GP(g.kernel, 0.1, lambda x: x[:, 0]), f), X, y
            ),
            TypeError,
            "gp.mean must be",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(numbers, call, error, words):
    X, y, _ = numbers
    gp = process(np.asarray)
    frequencies = features.draw_frequencies(gp.kernel, X, R, rng=stream(1))
    with pytest.raises(error, match=words):
        call(gp, frequencies, X, y)


def test_readings_whose_squares_overflow_are_refused(numbers):
    """The evidence was NaN."""
    X, y, _ = numbers
    gp = process(np.asarray)
    frequencies = features.draw_frequencies(gp.kernel, X, R, rng=stream(1))
    for call in (condition, log_evidence, log_evidence_and_gradient):
        with pytest.raises(ValueError, match=r"y − m\(X\) must be smaller than 2e\+123 in size"):
            call(FeatureGP(gp, frequencies), X, 1e160 * y)
    with pytest.raises(ChunkError, match=r"chunk 1 .*squares overflow"):
        condition(FeatureGP(gp, frequencies), Chunks([(X, y), (X, 1e160 * y)]))


def test_more_features_than_memory_holds_are_told_by_what_they_need():
    X, y = np.linspace(0.0, 1.0, 3)[:, None], np.zeros(3)
    frequencies = features.draw_frequencies(RBF(), X, 4_000_000, rng=stream(1))
    with pytest.raises(MemoryError, match=r"the features of shape .* needs .* Use fewer features"):
        condition(FeatureGP(GP(RBF(), 0.1), frequencies), X, y)
