"""Sines on a box against kernels, Fourier transforms, dense algebra and the exact process."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import integrate

from gpnotes import (
    GP,
    RBF,
    Chunks,
    ConstantMean,
    FeatureGP,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Normal,
    RationalQuadratic,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    to_numpy,
)
from gpnotes.ground import memory
from gpnotes.ground.params import cotangent, flatten_gradient, real
from gpnotes.infer.features import BoxSines, leading_sines
from gpnotes.testing import check_posterior, gradcheck

KERNELS = (RBF, Matern12, Matern32, Matern52)
NOISE_VAR = 0.2


@pytest.fixture
def numbers(rng):
    """X, y and Xs on the host."""
    return rng.uniform(0.0, 3.0, (40, 2)), 5.0 + rng.normal(size=40), rng.uniform(0.0, 3.0, (7, 2))


def process(asarray, kernel_class=RBF):
    return GP(kernel_class(1.3, asarray([0.8, 1.5])), NOISE_VAR, ConstantMean(4.5))


@pytest.mark.parametrize(("d", "n"), [(1, 80), (2, 900), (3, 4000)])
@pytest.mark.parametrize("shape", ["one", "each"])
def test_sines_of_a_wide_box_have_the_kernel_for_their_products(space, rng, d, n, shape):
    X = space.asarray(rng.uniform(0.0, 2.0, (6, d)))
    kernel = RBF(1.3, 0.7 if shape == "one" else space.asarray([0.6, 0.9, 0.75][:d]))
    Phi = leading_sines(kernel, X, n, margin=4.0).features(kernel, X)
    assert space.holds(Phi)
    close = 1e-7 if space.double else 2e-5
    np.testing.assert_allclose(to_numpy(Phi @ Phi.T), to_numpy(kernel(X)), atol=close)


@pytest.mark.parametrize(("d", "sizes", "margin"), [(1, (100, 400), 20.0), (2, (1000, 4000), 7.0)])
@pytest.mark.parametrize("kernel_class", KERNELS[1:])
def test_of_rough_kernels_more_sines_leave_less(rng, kernel_class, d, sizes, margin):
    X, kernel = rng.uniform(0.0, 1.0, (6, d)), kernel_class(1.3, 0.7)
    off = []
    for n in sizes:
        Phi = leading_sines(kernel, X, n, margin=margin).features(kernel, X)
        off.append(np.max(np.abs(Phi @ Phi.T - kernel(X))))
    # what is left out is the tail of the spectral density, in balls of which are n of its sines
    power = {Matern12: 1.0, Matern32: 3.0, Matern52: 5.0}[kernel_class] / d
    assert math.log(off[0] / off[1]) / math.log(4.0) == pytest.approx(power, abs=0.35)


@pytest.mark.parametrize("kernel_class", KERNELS)
def test_the_weights_are_the_fourier_transform_of_the_kernel(kernel_class):
    kernel = kernel_class(1.3, 0.7)
    sines = BoxSines(np.asarray([[1.0], [3.0]]), np.zeros(1), np.full(1, 2.0))
    for j, found in zip((1, 3), sines.deviations(kernel) ** 2, strict=True):
        half, _ = integrate.quad(
            lambda x: kernel(np.zeros((1, 1)), np.full((1, 1), x))[0, 0],
            0.0, 60.0, weight="cos", wvar=math.pi * j / 2.0, limit=400,
        )  # fmt: skip
        assert found == pytest.approx(2.0 * half, rel=1e-7)


def test_the_sines_are_orthonormal_and_vanish_at_the_walls(rng):
    box = np.asarray([-1.0, 0.5]), np.asarray([2.0, 1.5])
    sines = leading_sines(RBF(), np.stack(box), 12)
    sines = BoxSines(sines.orders, *box)
    t, w = np.polynomial.legendre.leggauss(40)
    grid = np.stack(np.meshgrid(0.5 + 1.5 * t, 1.0 + 0.5 * t, indexing="ij"), -1).reshape(-1, 2)
    S = sines.sines(grid)
    weights = 0.75 * np.outer(w, w).reshape(-1, 1)
    np.testing.assert_allclose(S.T @ (weights * S), np.eye(12), atol=1e-10)
    walls = np.asarray([[-1.0, 1.0], [2.0, 0.7], [0.3, 0.5], [0.3, 1.5]])
    np.testing.assert_allclose(sines.sines(walls), 0.0, atol=1e-13)


@pytest.mark.parametrize(("d", "sides"), [(1, [2.0]), (2, [3.0, 1.0]), (3, [2.0, 1.0, 5.0])])
def test_the_leading_sines_have_the_largest_weights_of_all(d, sides):
    X = np.stack([np.zeros(d), np.asarray(sides)])
    for kernel_class in KERNELS:
        kernel = kernel_class(2.0, np.linspace(0.5, 1.0, d))
        found = leading_sines(kernel, X, 20)
        every = np.stack(np.meshgrid(*[np.arange(1.0, 21.0)] * d), -1).reshape(-1, d)
        weights = BoxSines(every, found.low, found.high).deviations(kernel)
        best = np.sort(weights)[::-1][:20]
        np.testing.assert_allclose(found.deviations(kernel), best, rtol=1e-12)
        np.testing.assert_allclose(found.low, -1.5 * kernel.lengthscale)
        np.testing.assert_allclose(found.high, sides + 1.5 * kernel.lengthscale)


def test_the_last_weight_is_as_the_notes_say():
    """Of n sines in V lengthscales: exp(−(πn/V)²/2) and exp(−2πn/V) of the largest there could be.

    Which would be that of a frequency of zero.
    """
    for X, n, promised in (
        (np.asarray([[0.0], [97.0]]), 60, math.exp(-0.5 * (math.pi * 60 / 100.0) ** 2)),
        (np.asarray([[0.0, 0.0], [57.0, 57.0]]), 2000, math.exp(-2.0 * math.pi * 2000 / 3600.0)),
    ):
        last = leading_sines(RBF(), X, n).deviations(RBF())[-1] ** 2
        whole = (2.0 * math.pi) ** (0.5 * X.shape[1])
        assert math.log(last / whole) == pytest.approx(math.log(promised), rel=0.1)


@pytest.mark.parametrize("kernel_class", KERNELS)
@pytest.mark.parametrize("lengthscale", [0.9, np.asarray([0.8, 1.5])])
def test_the_gradient_agrees_with_differences(numbers, kernel_class, lengthscale):
    X, y, _ = numbers
    gp = GP(kernel_class(1.3, lengthscale), NOISE_VAR, ConstantMean(4.5))
    sines = leading_sines(gp.kernel, X, 25)
    gradcheck(
        lambda gp: log_evidence(FeatureGP(gp, sines), X, y),
        lambda gp, bar: (log_evidence_and_gradient(FeatureGP(gp, sines), X, y)[1].gp,),
        gp,
    )


def test_the_posterior_is_that_of_dense_algebra_and_near_the_exact_one(space, numbers):
    X, y, Xs = numbers
    host = process(np.asarray)
    wide = {"n": 100, "margin": 2.0}
    sines = leading_sines(host.kernel, X, **wide)
    Phi, Phi_s = (sines.features(host.kernel, a) for a in (X, Xs))
    Ky = Phi @ Phi.T + NOISE_VAR * np.eye(len(y))
    gain = np.linalg.solve(Ky, Phi @ Phi_s.T)
    X, y, Xs = map(space.asarray, numbers)
    gp = process(space.asarray)
    posterior = condition(FeatureGP(gp, leading_sines(gp.kernel, X, **wide)), X, y)
    close = {"rtol": 1e-9, "atol": 1e-10} if space.double else {"rtol": 2e-3, "atol": 2e-4}
    mean, variance = (to_numpy(a) for a in posterior.predict(Xs))
    np.testing.assert_allclose(mean, 4.5 + gain.T @ (numbers[1] - 4.5), **close)
    np.testing.assert_allclose(variance, np.diag(Phi_s @ Phi_s.T - Phi_s @ Phi.T @ gain), **close)
    evidence = Normal.from_covariance(np.full(40, 4.5), Ky).log_density(numbers[1])
    np.testing.assert_allclose(posterior.log_evidence, evidence, **close)
    check_posterior(posterior, Xs)
    exact = condition(host, *numbers[:2])
    np.testing.assert_allclose(mean, exact.mean(numbers[2]), atol=0.02)
    np.testing.assert_allclose(variance, exact.variance(numbers[2]), rtol=0.2)
    assert posterior.log_evidence == pytest.approx(exact.log_evidence, abs=0.3)
    more = condition(FeatureGP(gp, leading_sines(gp.kernel, X, **wide)), X[:9, :], y[:9])
    again = more.extend(X[9:, :], y[9:])
    np.testing.assert_allclose(to_numpy(again.mean(Xs)), mean, **close)


class Counted:
    """A `map` that counts how often it is called."""

    def __init__(self):
        self.calls = 0

    def __call__(self, function, iterable):
        self.calls += 1
        return [pickle.loads(pickle.dumps(function))(one) for one in iterable]


def test_a_fit_goes_through_the_readings_once_and_finds_the_same(numbers):
    X, y, Xs = numbers
    y = y + np.sin(2.0 * X[:, 0])
    model = FeatureGP(process(np.asarray), leading_sines(process(np.asarray).kernel, X, 40))
    counted = Counted()
    found = fit(model, Chunks([(X[:9], y[:9]), (X[9:], y[9:])], map=counted), max_steps=80)
    assert counted.calls == 3, "the spread, the level of y, the sums"
    evidence, bar = log_evidence_and_gradient(found.model, X, y)
    assert found.log_evidence == pytest.approx(evidence, rel=1e-11)
    assert evidence > log_evidence(model, X, y) + 1.0
    np.testing.assert_allclose(flatten_gradient(found.model, bar), 0.0, atol=0.02)
    expected = condition(found.model, X, y).mean(Xs)
    np.testing.assert_allclose(found.posterior.mean(Xs), expected, rtol=1e-9)


@dataclass(frozen=True)
class Slope:
    """A mean that is not the same everywhere."""

    value: float = real()

    def __call__(self, x):
        return 4.5 + self.value * x[:, 0]

    def pullback(self, x, bar):
        return cotangent(self, value=float(np.sum(bar * x[:, 0]))), 0.0 * x


def test_a_mean_with_a_slope_takes_rows(numbers):
    X, y, _ = numbers
    gp = GP(process(np.asarray).kernel, NOISE_VAR, Slope(0.1))
    sines = leading_sines(gp.kernel, X, 20)
    gradcheck(
        lambda gp: log_evidence(FeatureGP(gp, sines), X, y),
        lambda gp, bar: (log_evidence_and_gradient(FeatureGP(gp, sines), X, y)[1].gp,),
        gp,
    )
    found = fit(FeatureGP(gp, sines), X, y, max_steps=5)
    evidence = log_evidence(found.model, X, y)
    assert found.log_evidence == pytest.approx(evidence, rel=1e-12)


@pytest.mark.parametrize(("mean", "shift"), [(None, 0.0), (4.5, 0.0), (1e6, 1e6)])
def test_sums_have_the_value_and_the_gradient_of_rows(space, numbers, mean, shift):
    if not space.double:
        mean, shift = 4.5, 0.0  # 1e6 has no digits to spare in float32
    X, y = space.asarray(numbers[0]), space.asarray(numbers[1] + shift)
    of = {} if mean is None else {"mean": ConstantMean(mean)}
    gp = GP(Matern52(1.3, space.asarray([0.8, 1.5])), NOISE_VAR, **of)
    model = FeatureGP(gp, leading_sines(gp.kernel, X, 30))
    objective = fit(model, X, y, max_steps=1).objective
    value, bar = objective.evidence.value_and_gradient(model)
    rtol = 1e-12 if space.double else 1e-6
    assert value == pytest.approx(objective.evidence.value(model), rel=rtol)
    wanted, wanted_bar = log_evidence_and_gradient(model, X, y)
    close = {"rtol": 1e-8, "atol": 1e-8} if space.double else {"rtol": 1e-3, "atol": 1e-3}
    np.testing.assert_allclose(value, wanted, **close)
    np.testing.assert_allclose(
        flatten_gradient(model, bar), flatten_gradient(model, wanted_bar), **close
    )


def test_blocks_of_rows_change_nothing(monkeypatch, numbers):
    X, y, Xs = numbers
    gp = process(np.asarray)
    model = FeatureGP(gp, leading_sines(gp.kernel, X, 20))
    whole, found = condition(model, X, y), fit(model, X, y, max_steps=3)
    monkeypatch.setattr(memory, "ENTRIES", 5 * 20)
    in_blocks, again = condition(model, X, y), fit(model, X, y, max_steps=3)
    np.testing.assert_allclose(in_blocks.mean(Xs), whole.mean(Xs), rtol=1e-10)
    assert again.log_evidence == pytest.approx(found.log_evidence, rel=1e-9)


def test_sines_keep_their_own_arrays():
    orders, low, high = np.ones((1, 1)), np.zeros(1), np.ones(1)
    sines = BoxSines(orders, low, high)
    orders[0, 0] = low[0] = high[0] = 9.0
    assert (sines.orders[0, 0], sines.low[0], sines.high[0]) == (1.0, 0.0, 1.0)


ONE = np.ones((1, 1))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda X: leading_sines(Linear(), X, 4), TypeError, "kernel must be one of RBF, Mat"),
        (lambda X: leading_sines(RationalQuadratic(), X, 4), TypeError, "for sines on a box; got"),
        (lambda X: leading_sines(RBF(), X, 0), ValueError, "n must be a whole number"),
        (lambda X: leading_sines(RBF(), X, 4, margin=0.0), ValueError, "margin must be positive"),
        (lambda X: leading_sines(RBF(1.0, np.ones(3)), X, 4), ValueError, "lengthscale"),
        (lambda X: BoxSines(0.5 * ONE, ONE[0] - 1, ONE[0]), ValueError, "orders must be whole n"),
        (lambda X: BoxSines(0.0 * ONE, ONE[0] - 1, ONE[0]), ValueError, "whole numbers from 1"),
        (lambda X: BoxSines(ONE[:0], ONE[0] - 1, ONE[0]), ValueError, "at least one row"),
        (lambda X: BoxSines(np.ones((2, 1)), ONE[0] - 1, ONE[0]), ValueError, "no row twice"),
        (lambda X: BoxSines(ONE, ONE[0], ONE[0]), ValueError, "low must be below high"),
        (  # in one of two columns
            lambda X: BoxSines(np.ones((1, 2)), np.asarray([-1.0, 1.0]), np.ones(2)),
            ValueError,
            "low must be below high",
        ),
        (lambda X: BoxSines(ONE, X[0], X[1]), ValueError, r"low must have shape \(1,\)"),
        (
            lambda X: leading_sines(RBF(), X, 4).features(RBF(), X + 2.0),
            ValueError,
            "X must lie in the box of the sines, from",
        ),
        (
            lambda X: condition(
                FeatureGP(GP(RBF(), 0.1), leading_sines(RBF(), X, 4)), X, X[:, 0]
            ).mean(X + 9.0),
            ValueError,
            "Xs must lie in the box",
        ),
        (
            lambda X: FeatureGP(GP(RBF() + RBF(), 0.1), leading_sines(RBF(), X, 4)),
            TypeError,
            "kernel must be one of RBF",
        ),
        (
            lambda X: leading_sines(RBF(), X, 4).features(RBF(), X[:, :1]),
            ValueError,
            r"X must have shape \(n, 2\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(numbers, call, error, words):
    with pytest.raises(error, match=words):
        call(numbers[0])
