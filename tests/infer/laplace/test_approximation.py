"""Laplace's approximation against dense algebra, the exact case, differences and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sloping_mean import Slope

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    ConstantMean,
    Gaussian,
    Linear,
    Matern52,
    Poisson,
    White,
    condition,
    fit,
    prior,
    stream,
    to_numpy,
)
from gpnotes.ground import memory
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer.laplace import LaplaceGP, LaplacePosterior
from gpnotes.infer.laplace.left_out import compared
from gpnotes.testing import gradcheck

LENGTHS = (0.8, 1.5)
LINKS = ["probit", "logit"]


def process(asarray):
    return GP(RBF(2.3, asarray(LENGTHS)) + White(0.05), 0.0, ConstantMean(0.4))


@pytest.fixture
def numbers(rng):
    """X, labels y and Xs on the host."""
    X = rng.normal(size=(14, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=14) > 0.0, 1.0, -1.0)
    return X, y, rng.normal(size=(6, 2))


def close(space):
    return {"rtol": 1e-9, "atol": 1e-10} if space.double else {"rtol": 3e-3, "atol": 3e-4}


@pytest.mark.parametrize("link", LINKS)
def test_the_mode_is_where_the_gradient_of_the_posterior_is_zero(space, numbers, link):
    X, y, _ = (space.asarray(a) for a in numbers)
    posterior = condition(LaplaceGP(process(space.asarray), Bernoulli(link)), X, y)
    assert space.holds(posterior.mode)
    X, y, _ = numbers
    K, mode = process(np.asarray).kernel(X), to_numpy(posterior.mode)
    slope = Bernoulli(link).derivatives(y, mode.astype(float))[0]
    np.testing.assert_allclose(np.linalg.solve(K, mode - 0.4), slope, **close(space))
    np.testing.assert_allclose(to_numpy(posterior.gradient), slope, **close(space))
    assert posterior.steps < 12


@pytest.mark.parametrize("link", LINKS)
def test_predictions_are_those_of_dense_algebra(space, numbers, link):
    X, y, Xs = (space.asarray(a) for a in numbers)
    label = Bernoulli(link)
    posterior = condition(LaplaceGP(process(space.asarray), label), X, y)
    mean, variance = posterior.predict(Xs)
    covariance, chance = posterior.covariance(Xs), posterior.probability(Xs)
    assert all(space.holds(a) for a in (mean, variance, covariance, chance))
    X, y, Xs = numbers
    gp, mode = process(np.asarray), to_numpy(posterior.mode).astype(float)
    first, second, _ = label.derivatives(y, mode)
    cross = gp.kernel(X, Xs)
    noisy = gp.kernel(X) - np.diag(1.0 / second)
    wanted = gp.kernel(Xs) - cross.T @ np.linalg.solve(noisy, cross)
    np.testing.assert_allclose(to_numpy(mean), 0.4 + cross.T @ first, **close(space))
    np.testing.assert_allclose(to_numpy(covariance), wanted, **close(space))
    np.testing.assert_allclose(to_numpy(variance), np.diag(wanted), **close(space))
    average = label.probability(0.4 + cross.T @ first, np.diag(wanted))
    np.testing.assert_allclose(to_numpy(chance), average, **close(space))


@pytest.mark.parametrize("link", LINKS)
def test_labels_left_out_are_those_of_regression_on_the_sites(numbers, link):
    """Readings ``f + ∇/W`` with noise ``1/W``, each predicted from the others by dense algebra."""
    X, y, _ = numbers
    label = Bernoulli(link)
    posterior = condition(LaplaceGP(process(np.asarray), label), X, y)
    first, second, _ = label.derivatives(y, posterior.mode)
    K, noise = process(np.asarray).kernel(X), -1.0 / second
    sites, told = posterior.mode - first / second, np.stack([y < 0.0, y > 0.0], axis=1)
    chance = np.empty_like(y)
    for i in range(y.size):
        rest = np.arange(y.size) != i
        weights = np.linalg.solve(K[np.ix_(rest, rest)] + np.diag(noise[rest]), K[rest, i])
        mean, variance = 0.4 + weights @ (sites[rest] - 0.4), K[i, i] - weights @ K[rest, i]
        chance[i] = label.probability(np.asarray([mean]), np.asarray([variance]))[0]
    wanted = compared(np.stack([1.0 - chance, chance], axis=1), told.astype(float))
    found = posterior._left_out(label)  # of two classes either may be the farther off
    assert found[:3] == pytest.approx(wanted[:3], rel=1e-9)
    assert abs(found.mean - found.share) == pytest.approx(abs(wanted.mean - wanted.share), rel=1e-9)


def test_chunks_change_nothing(monkeypatch, numbers):
    X, y, Xs = numbers
    posterior = condition(LaplaceGP(process(np.asarray)), X, y)
    whole = posterior.predict(Xs)
    monkeypatch.setattr(memory, "ENTRIES", 30)
    for part, one in zip(posterior.predict(Xs), whole, strict=True):
        np.testing.assert_allclose(part, one, rtol=1e-12)
    assert posterior.predict(Xs[:0])[0].shape == (0,)


def test_for_gaussian_noise_it_is_exact(space, rng):
    X, Xs = space.asarray(rng.normal(size=(9, 2))), space.asarray(rng.normal(size=(4, 2)))
    y = space.asarray(rng.normal(size=9))
    kernel, mean = RBF(1.4, space.asarray(LENGTHS)), ConstantMean(0.3)
    approximation = condition(LaplaceGP(GP(kernel, 0.0, mean), Gaussian(0.2)), X, y)
    wanted = condition(GP(kernel, 0.2, mean), X, y)
    assert approximation.log_evidence == pytest.approx(
        wanted.log_evidence, rel=close(space)["rtol"]
    )
    for ours, theirs in zip(approximation.predict(Xs), wanted.predict(Xs), strict=True):
        np.testing.assert_allclose(to_numpy(ours), to_numpy(theirs), **close(space))
    gp_bar, X_bar = approximation.evidence_gradient()
    exact_bar, X_bar_exact, _ = wanted.evidence_gradient()
    both = [flatten_gradient(wanted.gp, bar)[:3] for bar in (gp_bar, exact_bar)]
    np.testing.assert_allclose(*both, **close(space))
    np.testing.assert_allclose(to_numpy(X_bar), to_numpy(X_bar_exact), **close(space))
    assert gp_bar.mean.value == pytest.approx(
        exact_bar.mean.value, rel=1e-8 if space.double else 0.01
    )


@pytest.mark.parametrize("link", LINKS)
def test_the_evidence_is_a_gaussian_integral_around_the_mode(numbers, link):
    """``∫ p(y|f) p(f) df`` of the exponential of a quadratic, by dense determinants."""
    X, y, _ = numbers
    gp, label = process(np.asarray), Bernoulli(link)
    posterior = condition(LaplaceGP(gp, label), X, y)
    K, deviation = gp.kernel(X), posterior.mode - 0.4
    top = np.sum(label.log_density(y, posterior.mode))
    top -= 0.5 * deviation @ np.linalg.solve(K, deviation) + 0.5 * np.linalg.slogdet(K)[1]
    curvature = np.linalg.inv(K) - np.diag(label.derivatives(y, posterior.mode)[1])
    wanted = top - 0.5 * np.linalg.slogdet(curvature)[1]
    assert posterior.log_evidence == pytest.approx(wanted, rel=1e-9)


def test_readings_however_sharp_leave_the_predictions_those_of_the_mode(rng):
    """The curvature W, here 10⁶, makes of the rounding of f that of ∇log p, which predicts."""
    X = rng.uniform(0.0, 6.0, (60, 1))
    y, kernel = np.sin(X[:, 0]), RBF()
    sharp = condition(LaplaceGP(GP(kernel, 0.0), Gaussian(1e-6)), X, y)
    exact = condition(GP(kernel, 1e-6), X, y)
    np.testing.assert_allclose(sharp.mean(X), exact.mean(X), rtol=0.0, atol=1e-7)
    assert sharp.log_evidence == pytest.approx(exact.log_evidence, rel=1e-9)
    with np.errstate(all="raise", under="ignore"):
        many = condition(LaplaceGP(GP(kernel, 0.0), Poisson()), X, np.round(1e6 * np.exp(y)))
    np.testing.assert_allclose(many.mean(X), np.log(1e6) + y, rtol=0.0, atol=0.01)


def test_with_little_prior_variance_it_is_near_the_true_evidence(rng):
    """Three labels: the integral over f by a product rule shows how good the approximation is."""
    X, y = rng.normal(size=(3, 1)), np.asarray([1.0, -1.0, 1.0])
    gp = GP(RBF(0.3, 1.0), 0.0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    grid = np.stack(np.meshgrid(nodes, nodes, nodes, indexing="ij"), axis=-1)
    f = grid @ np.linalg.cholesky(gp.kernel(X)).T
    density = np.exp(Bernoulli().log_density(np.broadcast_to(y, f.shape), f).sum(axis=-1))
    truth = np.log(np.einsum("ijk,i,j,k", density, weights, weights, weights))
    assert condition(LaplaceGP(gp), X, y).log_evidence == pytest.approx(truth, abs=0.01)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize(
    "kernel",
    [RBF(2.3, np.asarray(LENGTHS)), Matern52(4.0, 0.7) + White(0.1), Linear(1.5) + RBF(0.5, 0.6)],
    ids=["rbf", "matern and white", "linear and rbf"],
)
def test_the_pullback_of_the_evidence_agrees_with_differences(numbers, link, kernel):
    X, y, _ = numbers
    label = Bernoulli(link)
    gp = GP(kernel, 0.0, ConstantMean(0.4))

    def value(kernel, mean, X):
        return condition(LaplaceGP(GP(kernel, 0.0, mean), label), X, y).log_evidence

    def pullback(kernel, mean, X, bar):
        assert bar == 1.0
        gp_bar, X_bar = condition(LaplaceGP(GP(kernel, 0.0, mean), label), X, y).evidence_gradient()
        return gp_bar.kernel, gp_bar.mean, X_bar

    gradcheck(value, pullback, gp.kernel, gp.mean, X)


@pytest.mark.parametrize("link", LINKS)
def test_the_pullback_is_the_same_in_every_space(space, numbers, link):
    X, y, _ = (space.asarray(a) for a in numbers)
    posterior = condition(LaplaceGP(process(space.asarray), Bernoulli(link)), X, y)
    gp_bar, X_bar = posterior.evidence_gradient()
    assert space.holds(X_bar)
    reference = condition(LaplaceGP(process(np.asarray), Bernoulli(link)), *numbers[:2])
    wanted_bar, wanted_X_bar = reference.evidence_gradient()
    np.testing.assert_allclose(posterior.log_evidence, reference.log_evidence, **close(space))
    np.testing.assert_allclose(to_numpy(X_bar), wanted_X_bar, **close(space))
    both = gp_bar.kernel.parts[0].lengthscale, wanted_bar.kernel.parts[0].lengthscale
    np.testing.assert_allclose(to_numpy(both[0]), both[1], **close(space))


def test_it_is_that_of_scikit_learn(numbers):
    pytest.importorskip("sklearn")
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels

    X, y, Xs = numbers
    theirs = kernels.ConstantKernel(2.3) * kernels.RBF(LENGTHS)
    other = GaussianProcessClassifier(theirs, optimizer=None).fit(X, y)
    gp = GP(RBF(2.3, np.asarray(LENGTHS)), 0.0)
    posterior = condition(LaplaceGP(gp, Bernoulli("logit")), X, y)
    value, gradient = other.log_marginal_likelihood(other.kernel_.theta, eval_gradient=True)
    assert posterior.log_evidence == pytest.approx(value, rel=1e-6)
    ours = flatten_gradient(gp, posterior.evidence_gradient()[0], fixed=["noise_var"])
    np.testing.assert_allclose(ours, gradient, rtol=1e-5, atol=1e-6)
    # their probability comes from a fit of five error functions to the logistic
    np.testing.assert_allclose(posterior.probability(Xs), other.predict_proba(Xs)[:, 1], atol=1e-3)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("variance", [1e4, 1e8])
def test_a_wide_prior_needs_shorter_steps_and_gets_them(link, variance, rng):
    """Labels without order under a prior of very large f: full Newton steps would overshoot."""
    X = np.sort(rng.uniform(0.0, 3.0, size=(30, 1)), axis=0)
    y = np.where(rng.uniform(size=30) > 0.5, 1.0, -1.0)
    label, gp = Bernoulli(link), GP(RBF(variance, 0.5) + White(1.0), 0.0)
    posterior = condition(LaplaceGP(gp, label), X, y)
    K = gp.kernel(X)
    second = label.derivatives(y, posterior.mode)[1]
    # what another Newton step would change
    step = np.linalg.solve(np.eye(30) - K * second, K @ posterior.gradient - posterior.mode)
    assert np.max(np.abs(step)) < 1e-6 * np.max(np.abs(posterior.mode))
    assert np.isfinite(posterior.log_evidence)


def test_the_same_label_everywhere_shows_where_the_approximation_fails(numbers):
    """Under a wide prior the mode stays small beside the spread, and fourteen 1 say nearly nothing.

    The truth, by sampling f from the prior, is near one.
    """
    X, _, Xs = numbers
    gp = GP(RBF(1e6, 5.0), 0.0)
    posterior = condition(LaplaceGP(gp), X, np.ones(14))
    assert np.all(posterior.predict(Xs)[1] >= 0.0)
    chance = posterior.probability(Xs)
    assert np.all((chance > 0.5) & (chance < 0.6))
    draws = prior(gp, np.concatenate([X, Xs])).sample(20_000, rng=stream(1))
    agree = np.exp(Bernoulli().log_density(1.0, draws[:, :14]).sum(axis=1))
    truth = agree @ (draws[:, 14:] > 0.0) / agree.sum()
    assert np.all(truth > 0.7)
    assert truth.mean() > 0.85


def test_two_labels_at_one_point_that_disagree():
    X, y = np.zeros((2, 1)), np.asarray([1.0, -1.0])
    posterior = condition(LaplaceGP(GP(RBF(3.0), 0.0)), X, y)
    np.testing.assert_allclose(posterior.mode, 0.0, atol=1e-12)
    np.testing.assert_allclose(posterior.probability(X), 0.5, rtol=1e-12)


# Fitting


@pytest.mark.filterwarnings("ignore:probabilities are too near to even")  # as is right here
@pytest.mark.parametrize("link", LINKS)
def test_a_fit_ends_where_the_gradient_of_the_evidence_is_zero(rng, link):
    X = rng.uniform(-3.0, 3.0, size=(60, 1))
    y = np.where(np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=60) > 0.0, 1.0, -1.0)
    start = GP(RBF(1.0, 3.0), 0.0, ConstantMean(0.2))
    fitted = fit(LaplaceGP(start, Bernoulli(link)), X, y).posterior
    assert isinstance(fitted, LaplacePosterior)
    assert (
        fitted.log_evidence > condition(LaplaceGP(start, Bernoulli(link)), X, y).log_evidence + 1.0
    )
    gradient = flatten_gradient(fitted.gp, fitted.evidence_gradient()[0], fixed=["noise_var"])
    assert np.max(np.abs(gradient)) < 1e-3
    assert fitted.gp.noise_var == 0.0
    right = (fitted.probability(X) > 0.5) == (np.sin(2.0 * X[:, 0]) > 0.0)
    assert right.mean() > 0.85


def test_a_fit_keeps_to_bounds_and_to_what_is_fixed(space, numbers):
    X, y, _ = (space.asarray(a) for a in numbers)
    gp = GP(RBF(1.0, space.asarray(LENGTHS)), 0.0)
    bounds, fixed = {"gp.kernel.lengthscale": (1.0, 1.3)}, ["gp.kernel.variance"]
    fitted = fit(LaplaceGP(gp), X, y, bounds=bounds, fixed=fixed).model
    lengths = to_numpy(fitted.gp.kernel.lengthscale)
    assert space.holds(fitted.gp.kernel.lengthscale)
    assert np.all((lengths > 0.999) & (lengths < 1.301))
    assert fitted.gp.kernel.variance == 1.0
    with pytest.raises(ValueError, match=r"bounds name \['gp.kernel.period'\]; the parameters are"):
        fit(LaplaceGP(gp), X, y, bounds={"gp.kernel.period": (1.0, 2.0)})
    with pytest.raises(ValueError, match=r"fixed names 'gp\.kernel\.period'"):
        fit(LaplaceGP(gp), X, y, fixed=["gp.kernel.period"])


# Bad input


def test_what_does_not_fit_is_named(monkeypatch, numbers):
    X, y, Xs = numbers
    gp = GP(RBF(1.0, np.asarray(LENGTHS)), 0.0)
    with pytest.raises(ValueError, match=r"gp\.noise_var must be 0: .*; got 0\.1"):
        condition(LaplaceGP(GP(RBF(), 0.1)), X, y)
    with pytest.raises(TypeError, match="gp must be a gpnotes GP; got RBF"):
        condition(LaplaceGP(RBF()), X, y)
    with pytest.raises(ValueError, match=r"y must hold labels, 1 and -1; got 0 in row \d"):
        condition(LaplaceGP(gp), X, 0.5 * (y + 1.0))
    with pytest.raises(ValueError, match=r"y must have shape \(14,\); got \(13,\)"):
        condition(LaplaceGP(gp), X, y[1:])
    with pytest.raises(ValueError, match="X must be finite; 28 of its entries"):
        condition(LaplaceGP(gp), X * np.nan, y)
    with pytest.raises(ValueError, match=r"X must have at least one row; got \(0, 2\)"):
        condition(LaplaceGP(gp), X[:0], y[:0])
    with pytest.raises(TypeError, match="y must have the dtype of X"):
        condition(LaplaceGP(gp), X, y.astype(np.float32))
    posterior = condition(LaplaceGP(gp), X, y)
    for view in (posterior.predict, posterior.covariance, posterior.probability):
        with pytest.raises(ValueError, match=r"Xs must have shape \(n, 2\)"):
            view(Xs[:, :1])
        with pytest.raises(TypeError, match="Xs must have the dtype of X"):
            view(Xs.astype(np.float32))

    monkeypatch.setattr(memory, "available", lambda like=None: 1000)
    monkeypatch.setattr(memory, "_SMALL", 0)
    with pytest.raises(MemoryError, match="the Gram matrix of shape"):
        condition(LaplaceGP(gp), X, y)


def test_a_likelihood_that_has_no_mode_is_refused(numbers):
    class Unbounded(Gaussian):
        """Of which a step always leads further up."""

        def log_density(self, y, f):
            return 0.5 * f * f

        def derivatives(self, y, f):
            return f + 1.0, 0.0 * f - 1e-3, 0.0 * f

    X, y, _ = numbers
    with pytest.raises(RuntimeError, match="a maximum"):
        condition(LaplaceGP(GP(RBF(1e-3), 0.0), Unbounded(1.0)), X, y)


class Heavy:
    """Student's t with three degrees of freedom: its tails are not log-concave."""

    def log_density(self, y, f):
        return -2.0 * np.log1p((y - f) ** 2 / 3.0)

    def derivatives(self, y, f):
        e, size = y - f, 3.0 + (y - f) ** 2
        return 4.0 * e / size, 4.0 * (e * e - 3.0) / size**2, 0.0 * e


def test_a_likelihood_that_is_not_log_concave_has_a_mode_too(numbers):
    X, _, _ = numbers
    y = np.linspace(-9.0, 9.0, 14)
    posterior = condition(LaplaceGP(GP(RBF(), 0.0), Heavy()), X, y)
    slope, second, _ = Heavy().derivatives(y, posterior.mode)
    assert np.max(second) > 0.0
    np.testing.assert_allclose(RBF()(X) @ slope, posterior.mode, rtol=1e-6, atol=1e-7)


def test_a_likelihood_of_ones_own_needs_two_methods(numbers):
    X, _, _ = numbers
    y = np.linspace(-0.1, 0.1, 14)
    posterior = condition(LaplaceGP(GP(RBF(), 0.0), Heavy()), X, y)
    assert np.isfinite(posterior.log_evidence)
    with pytest.raises(TypeError, match=r"density of labels .*; Heavy lacks probability"):
        posterior.probability(X)


def test_checks_on_the_way_to_a_mode_are_those_of_the_door_alone(monkeypatch, numbers):
    X, y, _ = numbers
    calls = []
    observable = Bernoulli._observable
    monkeypatch.setattr(
        Bernoulli, "_observable", lambda *args: calls.append(1) or observable(*args)
    )
    posterior = condition(LaplaceGP(GP(RBF(), 0.0)), X, y)
    assert posterior.steps > 1
    assert len(calls) == 1


@pytest.mark.parametrize("likelihood", [Bernoulli, "probit", None])
def test_a_likelihood_is_none(numbers, likelihood):
    X, y, _ = numbers
    with pytest.raises(TypeError, match="likelihood must be a density of y given f"):
        condition(LaplaceGP(GP(RBF(), 0.0), likelihood), X, y)


@pytest.mark.parametrize("pair", [(2.0, 1.0), (0.0, 1.0), (1.0, np.inf), (np.nan, 1.0), (1.0,)])
def test_bounds_that_are_none(numbers, pair):
    X, y, _ = numbers
    with pytest.raises(ValueError, match=r"bounds\['gp.kernel.variance'\] must be 0 < low <= high"):
        fit(LaplaceGP(GP(RBF(), 0.0)), X, y, bounds={"gp.kernel.variance": pair})


def test_bounds_of_a_mean_are_in_its_own_units(numbers):
    X, y, _ = numbers
    gp = GP(RBF(), 0.0, ConstantMean(0.3))
    for low, high in ((0.2, 0.4), (-0.5, -0.2), (0.0, 0.1)):
        found = fit(LaplaceGP(gp), X, y, bounds={"gp.mean.value": (low, high)})
        value = found.model.gp.mean.value
        assert low <= value <= high


@pytest.mark.parametrize("link", LINKS)
def test_labels_that_leave_little_to_fit_are_fitted_too(link):
    """Separable, all of one kind, at one point; a wall turns the line search back."""
    X = np.linspace(-1.0, 1.0, 8)[:, None]
    labels, gp = np.sign(X[:, 0]), GP(RBF(), 0.0, ConstantMean(0.0))
    for x, y in ((X, labels), (X, np.ones(8)), (0.0 * X, labels), (X[:1], labels[:1])):
        fitted = fit(LaplaceGP(gp, Bernoulli(link)), x, y)
        assert fitted.log_evidence >= condition(LaplaceGP(gp, Bernoulli(link)), x, y).log_evidence


@pytest.mark.parametrize(
    ("max_steps", "error"), [(0, ValueError), (2.5, TypeError), (None, TypeError)]
)
def test_steps_are_a_whole_number(numbers, max_steps, error):
    X, y, _ = numbers
    with pytest.raises(error, match="max_steps must be a whole number from 1; got"):
        fit(LaplaceGP(GP(RBF(), 0.0)), X, y, max_steps=max_steps)
    with pytest.raises(TypeError, match="fixed must be a collection of names; got"):
        fit(LaplaceGP(GP(RBF(), 0.0)), X, y, fixed="kernel")


def test_with_all_parameters_fixed_there_is_nothing_to_fit(numbers):
    X, y, _ = numbers
    gp = GP(RBF(), 0.0)
    found = fit(LaplaceGP(gp), X, y, fixed=["gp.kernel"])
    assert found.log_evidence == condition(LaplaceGP(gp), X, y).log_evidence


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("variance", [1e4, 1e8])
def test_under_a_prior_that_wide_the_mode_is_found_too(link, variance):
    """What rounding of K α does to the density is no reason to halve a step."""
    for seed, n in enumerate((34, 19, 33, 1)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 1))
        y = np.where(X[:, 0] + rng.normal(size=n) > 0.0, 1.0, -1.0)
        posterior = condition(LaplaceGP(GP(RBF(variance), 0.0), Bernoulli(link)), X, y)
        chance = posterior.probability(X)
        assert posterior.steps < 100
        assert np.all((chance >= 0.0) & (chance <= 1.0))


def test_zeros_and_ones_are_told_how_they_become_labels(numbers):
    X, y, _ = numbers
    with pytest.raises(ValueError, match=r"got 0 in row \d+: of 0 and 1, 2 y - 1 makes labels"):
        condition(LaplaceGP(GP(RBF(), 0.0)), X, 0.5 * (1.0 + y))
    with pytest.raises(ValueError, match=r"got -?3 in row 0: `gpnotes.GPClassifier` takes"):
        condition(LaplaceGP(GP(RBF(), 0.0)), X, 3.0 * y)


@pytest.mark.parametrize("offset", [None, np.linspace(-1.0, 1.0, 14)], ids=["plain", "offset"])
def test_the_pullback_is_that_of_differences_for_a_mean_that_depends_on_x(numbers, offset):
    X, y, _ = numbers

    def posterior(kernel, mean, X):
        model = LaplaceGP(GP(kernel, 0.0, mean), Bernoulli())
        return condition(model, X, y, offset=offset)

    def pullback(kernel, mean, X, bar):
        assert bar == 1.0
        gp_bar, X_bar = posterior(kernel, mean, X).evidence_gradient()
        return gp_bar.kernel, gp_bar.mean, X_bar

    value = lambda *given: posterior(*given).log_evidence  # noqa: E731
    gradcheck(value, pullback, RBF(2.3, np.asarray(LENGTHS)), Slope(), X)
    found = posterior(RBF(2.3, 0.8), Slope(), X)
    total = found.mode + (0.0 if offset is None else offset)
    slope = Bernoulli().derivatives(y, total)[0]
    K = RBF(2.3, 0.8)(X)
    np.testing.assert_allclose(K @ slope, found.mode - 0.7 * X[:, 0], atol=1e-9)
