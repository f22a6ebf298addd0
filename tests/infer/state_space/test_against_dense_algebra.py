"""Matérn processes on a line against dense algebra, and what is asked of them at a million."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    Matern12,
    Matern32,
    Matern52,
    StateSpaceGP,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    stream,
    to_numpy,
)
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer import state_space
from gpnotes.infer.state_space.as_terms import motion_of
from gpnotes.infer.state_space.kalman import kalman_filter
from gpnotes.infer.state_space.parallel_scan import lanes_of
from gpnotes.infer.state_space.prior_draws import prior_draw
from gpnotes.mdp import smooth, state_space_model
from gpnotes.model.means import BasisMean, Powers
from gpnotes.testing import gradcheck

KERNELS = (Matern12, Matern32, Matern52)
SETS = {"one": (1, 1.0), "two": (2, 3.0), "dense": (400, 0.1), "usual": (700, 30.0),
        "sparse": (300, 2000.0)}  # fmt: skip

pytestmark = pytest.mark.parametrize("kernel_class", KERNELS, ids=lambda kind: kind.__name__)


def process(kernel_class):
    return GP(kernel_class(1.7, 1.3), 0.05, ConstantMean(0.4))


def readings(rng, n, span):
    """Unsorted places, some of them more than once."""
    t = rng.uniform(0.0, span, n)
    t[n // 2 : n // 2 + 2] = t[0]
    return t[:, None], np.sin(t) + 0.2 * rng.normal(size=n)


def asked(rng, X, span):
    """Places between the readings, beyond them, and of readings."""
    return np.concatenate([rng.uniform(-3.0, span + 3.0, 40)[:, None], X[:5], [[-1e9], [1e9]]])


@pytest.mark.parametrize(("n", "span"), SETS.values(), ids=SETS)
def test_the_posterior_is_that_of_dense_algebra(kernel_class, n, span, rng):
    gp, (X, y) = process(kernel_class), readings(rng, n, span)
    Xs = asked(rng, X, span)
    found, dense = condition(StateSpaceGP(gp), X, y), condition(gp, X, y)
    # n terms of some size, which may cancel
    np.testing.assert_allclose(found.log_evidence, dense.log_evidence, rtol=1e-12, atol=1e-13 * n)
    for one, other in zip(found.predict(Xs), dense.predict(Xs), strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(found.mean(Xs), dense.mean(Xs), rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(found.fitted(), dense.mean(X), rtol=0.0, atol=1e-11)
    noisy = dense.variance(Xs, noise=True)
    np.testing.assert_allclose(found.variance(Xs, noise=True), noisy, atol=1e-11)


@pytest.mark.parametrize(("n", "span"), SETS.values(), ids=SETS)
def test_the_gradient_is_that_of_dense_algebra(kernel_class, n, span, rng):
    gp, (X, y) = process(kernel_class), readings(rng, n, span)
    value, model_bar = log_evidence_and_gradient(StateSpaceGP(gp), X, y)
    bar = model_bar.gp
    other, dense = log_evidence_and_gradient(gp, X, y)
    assert value == pytest.approx(other, rel=1e-12, abs=1e-13 * n)
    wanted = flatten_gradient(gp, dense)
    np.testing.assert_allclose(flatten_gradient(gp, bar), wanted, rtol=1e-10, atol=1e-11)


def test_the_gradient_is_that_of_differences(kernel_class, rng):
    X, y = readings(rng, 60, 9.0)
    gradcheck(
        lambda gp: log_evidence(StateSpaceGP(gp), X, y),
        lambda gp, bar: (log_evidence_and_gradient(StateSpaceGP(gp), X, y)[1].gp,),
        process(kernel_class),
    )


def test_it_holds_in_every_namespace(kernel_class, space, rng):
    X, y = readings(rng, 90, 9.0)
    Xs = asked(rng, X, 9.0)[:-2]
    gp, (Xa, ya, Xsa) = process(kernel_class), map(space.asarray, (X, y, Xs))
    found, dense = condition(StateSpaceGP(gp), Xa, ya), condition(gp, X, y)
    close = {"atol": 1e-11} if space.double else {"atol": 1e-4, "rtol": 1e-4}
    for one, other in zip(found.predict(Xsa), dense.predict(Xs), strict=True):
        assert space.holds(one)
        np.testing.assert_allclose(to_numpy(one), other, **close)
    value, model_bar = log_evidence_and_gradient(StateSpaceGP(gp), Xa, ya)
    bar = model_bar.gp
    other, wanted = log_evidence_and_gradient(gp, X, y)
    assert value == pytest.approx(other, rel=1e-11 if space.double else 1e-4)
    got = flatten_gradient(gp, bar)
    rtol = 1e-9 if space.double else 1e-3
    np.testing.assert_allclose(got, flatten_gradient(gp, wanted), rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("n", "span"), SETS.values(), ids=SETS)
def test_the_covariance_is_that_of_dense_algebra(kernel_class, n, span, rng):
    gp, (X, y) = process(kernel_class), readings(rng, n, span)
    Xs = asked(rng, X, span)[:-2:6]
    found, dense = condition(StateSpaceGP(gp), X, y), condition(gp, X, y)
    for noise in (False, True):
        one, other = found.covariance(Xs, noise=noise), dense.covariance(Xs, noise=noise)
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-11)
        assert np.array_equal(one, one.T)
    joint = found.joint(Xs)
    np.testing.assert_allclose(joint.covariance, dense.covariance(Xs), rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(joint.mean, dense.mean(Xs), rtol=0.0, atol=1e-11)
    assert found.covariance(Xs[:0]).shape == (0, 0)


@pytest.mark.parametrize(("n", "span", "count"), [
    (1, 1.0, 150), (1, 1.0, 20_000), (40, 9.0, 150), (40, 9.0, 20_000),
])  # fmt: skip
def test_draws_have_the_moments_of_dense_algebra(kernel_class, n, span, count, rng):
    """On fresh draws: of 160 means and as many variances, or of 8 and 36, none is off by five.

    Few draws at many places go by a filter for each draw, many at few by one for each place. The
    filters are slow, and noise is added after them: there each case is with it or without.
    """
    gp, (X, y) = process(kernel_class), readings(rng, n, span)
    few = count > 150
    Xs = np.concatenate([rng.uniform(-2.0, span + 2.0, 6 if few else 158)[:, None], X[:1],
                         X[:1] + 1e-7])  # fmt: skip
    dense = condition(gp, X, y)
    for noise in (False, True) if few else (n > 1,):
        values = condition(StateSpaceGP(gp), X, y).sample(Xs, count, rng=stream(n), noise=noise)
        mean, cov = dense.mean(Xs), dense.covariance(Xs, noise=noise)
        variances = np.diag(cov)
        assert np.max(np.abs(values.mean(axis=0) - mean) / np.sqrt(variances / count)) < 5.0
        gaps = values - mean
        spread = np.sqrt((np.outer(variances, variances) + cov**2) / count)
        off = np.abs(gaps.T @ gaps / count - cov) / spread
        assert np.max(off if few else np.diag(off)) < 5.0
        # a normal number is off by 0.8; places that vary together, far from readings, by more
        assert np.mean(off) < (1.5 if n > 1 else 2.5)


def test_a_draw_of_the_prior_has_the_covariance_of_the_kernel(kernel_class):
    """In lanes of several steps, with places that repeat and gaps of every size."""
    t = np.concatenate([[0.0, 0.0], np.cumsum(np.geomspace(1e-9, 3.0, 60))])
    motion = motion_of(GP(kernel_class(1.0, 1.0), 0.1))
    lanes = lanes_of(motion, t, 0.0 * t, 1.0)
    assert lanes.gaps.shape[0] > 2
    count, shape = 400, (lanes.gaps.shape[0], motion.size, lanes.gaps.shape[1])
    draws = stream(3)
    f = np.stack([prior_draw(lanes, draws.normal(shape), motion.seen)[0] for _ in range(count)])
    assert np.array_equal(f[:, 0], f[:, 1])
    K = kernel_class(1.0, 1.0)(t[:, None])
    gap = np.abs(f.T @ f / count - K) / np.sqrt((1.0 + K**2) / count)
    assert np.max(gap) < 5.5


def test_draws_are_functions_that_equal_places_share(kernel_class, rng, space):
    X, y = readings(rng, 60, 9.0)
    found = condition(StateSpaceGP(process(kernel_class)), space.asarray(X), space.asarray(y))
    Xs = space.asarray([[3.0], [1.0], [3.0], [1.0]])
    values = found.sample(Xs, 3, rng=stream(1))
    assert space.holds(values)
    host = to_numpy(values)
    np.testing.assert_allclose(host[:, :2], host[:, 2:], rtol=1e-12 if space.double else 1e-6)
    assert np.abs(host[0] - host[1]).max() > 1e-3
    assert found.sample(Xs, 0, rng=stream(1)).shape == (0, 4)
    np.testing.assert_array_equal(to_numpy(found.sample(Xs, 3, rng=stream(1))), host)
    assert space.holds(found.covariance(Xs))


@pytest.mark.parametrize("far", [1e100, 1e155, 1e300])
def test_far_away_there_is_the_prior(kernel_class, far, rng):
    """No state is left there: infinity times zero would be NaN."""
    X, y = np.linspace(0.0, 5.0, 12)[:, None], rng.normal(size=12)
    posterior = condition(state_space.StateSpaceGP(GP(kernel_class(1.7, 0.6), 0.2)), X, y)
    Xs = np.asarray([[-far], [1.0], [far]])
    with np.errstate(over="ignore"):
        mean, variance = posterior.predict(Xs)
        covariance = posterior.covariance(Xs)
        draws = posterior.sample(Xs, 2, rng=stream(1))
        beside = condition(posterior.gp, X, y).predict(Xs)
    np.testing.assert_allclose(mean, beside[0], atol=1e-12)
    np.testing.assert_allclose(variance, beside[1], rtol=1e-9)
    np.testing.assert_allclose(np.diag(covariance), variance, rtol=1e-9)
    assert np.all(np.isfinite(draws))
    spread = condition(
        state_space.StateSpaceGP(posterior.gp), far * np.arange(3.0)[:, None] / 2.0, y[:3]
    )
    assert np.isfinite(spread.log_evidence)


def test_lanes_change_nothing(kernel_class, rng):
    """The filter of 500 readings, to the step-by-step one of the chapter on beliefs."""
    t, y = np.sort(rng.uniform(0.0, 40.0, 500)), rng.normal(size=500)
    gp = GP(kernel_class(1.0, 2.0), 0.3)
    run = kalman_filter(lanes_of(motion_of(gp), t, y, 0.3))
    slow = smooth(state_space_model(gp, t), y[:, None])
    mean = y - 0.3 * run.lanes.ordered(run.smoothed_means.alpha)
    np.testing.assert_allclose(mean, slow.mean[:, 0], atol=1e-12)
    shrunk = 0.3 - 0.09 * run.lanes.ordered(run.smoothed_covariances.precision)
    np.testing.assert_allclose(shrunk, slow.cov[:, 0, 0], atol=1e-12)


def test_a_million_readings_give_what_a_stretch_of_them_gives(kernel_class):
    """Readings thirty lengths away tell nothing: the same place, by dense algebra nearby."""
    n = 10**6
    t = np.sort(1e5 * stream(1).uniform(n))
    y = np.sin(t) + 0.1 * stream(2).normal(n)
    gp = GP(kernel_class(1.0, 1.0), 0.01)
    found = condition(StateSpaceGP(gp), t[:, None], y)
    near = slice(500_000, 501_000)
    middle = t[500_490:500_510, None]
    dense = condition(gp, t[near, None], y[near])
    for one, other in zip(found.predict(middle), dense.predict(middle), strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(found.fitted()[500_490:500_510], dense.mean(middle), atol=1e-10)


def test_a_fit_climbs_the_same_hill(kernel_class, rng):
    X, y = readings(rng, 80, 9.0)
    gp = process(kernel_class)
    found, dense = fit(StateSpaceGP(gp), X, y), fit(gp, X, y)
    assert found.log_evidence == pytest.approx(dense.log_evidence, abs=1e-5)
    assert isinstance(found.posterior, state_space.StateSpacePosterior)
    assert found.report().hyperparameters
    assert "[" not in repr(found.posterior)


def test_no_argument_is_changed_and_it_is_pickled(kernel_class, rng):
    X, y = readings(rng, 50, 9.0)
    before = X.copy(), y.copy()
    found = condition(StateSpaceGP(process(kernel_class)), X, y)
    mean = found.mean(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).mean(X), mean)
    np.testing.assert_array_equal(found.mean(X), mean)
    assert found.mean(X[:0]).shape == (0,)


def test_what_does_not_fit_is_named(kernel_class, rng):
    X, y = readings(rng, 5, 9.0)
    gp = process(kernel_class)
    wrong = {
        "gp.noise_var": GP(kernel_class(), 0.0),
        "kernel": GP(RBF(), 0.1),
        "one lengthscale": GP(kernel_class(1.0, np.ones(1)), 0.1),
        "gp.mean": GP(kernel_class(), 0.1, BasisMean(Powers(1))),
    }
    for words, other in wrong.items():
        with pytest.raises((TypeError, ValueError), match=words):
            condition(StateSpaceGP(other), X, y)
        with pytest.raises((TypeError, ValueError), match=words):
            StateSpaceGP(other)
    with pytest.raises(ValueError, match=r"X must have shape \(n, 1\)"):
        condition(StateSpaceGP(gp), np.hstack([X, X]), y)
    with pytest.raises(ValueError, match="at least one row"):
        condition(StateSpaceGP(gp), X[:0], y[:0])
    with pytest.raises(ValueError, match=r"^y "):
        condition(StateSpaceGP(gp), X, 1e200 * y)
    with pytest.raises(ValueError, match="Xs must have shape"):
        condition(StateSpaceGP(gp), X, y).mean(np.hstack([X, X]))
