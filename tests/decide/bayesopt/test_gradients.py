"""Derivatives of predictions and acquisitions by the place, against differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, Linear, Matern32, Matern52, Periodic, condition, to_numpy
from gpnotes.decide.bayesopt import (
    ExpectedImprovement,
    LogExpectedImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
    acquisition_and_gradient,
    predict_and_pullback,
)
from gpnotes.ground.params import cotangent, real
from gpnotes.model.kernels import ActiveDims
from gpnotes.testing import gradcheck

KERNELS = (
    RBF(1.3, np.asarray([0.6, 1.1])),
    Matern52(0.8, 0.7),
    Matern32(0.8, np.asarray([0.5, 0.9])) + Linear(0.4),
    ActiveDims(Periodic(1.1, 0.9, 1.7), (1,)) * RBF(1.0, 1.0),
)
ACQUISITIONS = (
    UpperConfidenceBound(3.0),
    ProbabilityOfImprovement(0.3),
    ExpectedImprovement(0.3, 0.1),
    LogExpectedImprovement(0.3),
)


@dataclass(frozen=True)
class Tilted:
    """A mean function that falls along the first column: one whose slope is not zero."""

    slope: float = real(-0.7)

    def __call__(self, x):
        return self.slope * x[:, 0]

    def pullback(self, x, bar):
        by_x = np.stack([self.slope * bar, np.zeros_like(bar)], axis=1)
        return cotangent(self, slope=float(np.sum(bar * x[:, 0]))), by_x


def posterior_of(kernel, rng, space=None, noise_var=0.05):
    X, y = rng.uniform(-1.0, 1.0, (9, 2)), rng.standard_normal(9)
    into = np.asarray if space is None else space.asarray
    return condition(GP(kernel, noise_var, ConstantMean(0.2)), into(X), into(y))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_predictions_and_their_derivatives(rng, kernel):
    posterior = posterior_of(kernel, rng)
    Xs = rng.uniform(-1.5, 1.5, (4, 2))
    mean, variance, _ = predict_and_pullback(posterior, Xs)
    for got, wanted in zip((mean, variance), posterior.predict(Xs), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)

    def stacked(places):
        return np.stack(posterior.predict(places))

    def pullback(places, bar):
        return (predict_and_pullback(posterior, places)[2](bar[0], bar[1]),)

    gradcheck(stacked, pullback, Xs)


def test_the_slope_of_a_mean_function_counts(rng):
    X, y = rng.uniform(-1.0, 1.0, (5, 2)), rng.standard_normal(5)
    posterior = condition(GP(RBF(1.0, 0.5), 0.1, Tilted()), X, y)
    far = np.asarray([[50.0, 50.0]])  # where the data say nothing
    _, _, pull = predict_and_pullback(posterior, far)
    np.testing.assert_allclose(pull(np.ones(1), np.ones(1)), [[-0.7, 0.0]], atol=1e-12)

    def pullback(places, bar):
        return (predict_and_pullback(posterior, places)[2](bar, np.zeros_like(bar)),)

    gradcheck(posterior.mean, pullback, rng.uniform(-1.0, 1.0, (3, 2)))


@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=lambda one: type(one).__name__)
def test_acquisitions_and_their_derivatives(rng, acquisition):
    posterior = posterior_of(KERNELS[0], rng)

    def worth(places):
        return acquisition(*posterior.predict(places))

    def pullback(places, bar):
        return (bar[:, None] * acquisition_and_gradient(posterior, acquisition, places)[1],)

    Xs = rng.uniform(-1.5, 1.5, (5, 2))
    np.testing.assert_allclose(
        acquisition_and_gradient(posterior, acquisition, Xs)[0], worth(Xs), rtol=1e-9
    )
    gradcheck(worth, pullback, Xs)


def test_they_live_where_the_posterior_does(space, rng):
    posterior = posterior_of(Matern52(0.8, 0.7), rng, space)
    Xs = rng.uniform(-1.0, 1.0, (3, 2))
    acquisition = LogExpectedImprovement(0.3)
    got = acquisition_and_gradient(posterior, acquisition, space.asarray(Xs))
    host = condition(posterior.gp, *(to_numpy(a).astype(float) for a in (posterior.X, posterior.y)))
    for a, b in zip(got, acquisition_and_gradient(host, acquisition, Xs), strict=True):
        assert space.holds(a)
        np.testing.assert_allclose(to_numpy(a), b, rtol=1e-9 if space.double else 2e-3, atol=1e-4)


def test_where_f_is_known_only_the_mean_has_a_slope(rng):
    posterior = posterior_of(Matern52(0.8, 0.7), rng, noise_var=0.0)
    here = posterior.X[:2]
    mean, variance, pull = predict_and_pullback(posterior, here)
    np.testing.assert_allclose(mean, posterior.y[:2], rtol=1e-8)
    np.testing.assert_allclose(variance, 0.0, atol=1e-12)
    assert np.all(np.isfinite(pull(np.ones(2), np.ones(2))))
    for acquisition in ACQUISITIONS:
        assert not np.any(np.isnan(acquisition_and_gradient(posterior, acquisition, here)[1]))


def test_derivatives_that_do_not_fit_are_refused(rng):
    pull = predict_and_pullback(posterior_of(RBF(), rng), np.zeros((3, 2)))[2]
    with pytest.raises(ValueError, match=r"mean_bar must have shape \(3,\); got \(2,\)"):
        pull(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="variance_bar must be finite"):
        pull(np.ones(3), np.full(3, np.nan))


def test_a_mean_without_a_pullback_is_refused(rng):
    gp = GP(RBF(), 0.1, mean=lambda x: x[:, 0])
    posterior = condition(gp, rng.standard_normal((4, 2)), rng.standard_normal(4))
    with pytest.raises(TypeError, match=r"gp\.mean must be a mean function with a pullback"):
        predict_and_pullback(posterior, np.zeros((1, 2)))
