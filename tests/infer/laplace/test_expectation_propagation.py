"""Expectation propagation against quadrature, chains, the one-label case and differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, special, stats
from sloping_mean import Slope

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    Constant,
    ConstantMean,
    Gaussian,
    Linear,
    Matern52,
    White,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    to_numpy,
)
from gpnotes.ground import memory
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer.laplace import EPGP, EPPosterior, LaplaceGP, expectation_propagation
from gpnotes.testing import gradcheck

LENGTHS = (0.8, 1.5)
LINKS = ["probit", "logit"]
LOG_CHANCE = {"probit": special.log_ndtr, "logit": special.log_expit}


def process(asarray):
    return GP(RBF(2.3, asarray(LENGTHS)) + Linear(0.2), 0.0, ConstantMean(0.4))


@pytest.fixture
def numbers(rng):
    """X, labels y and Xs on the host."""
    X = rng.normal(size=(14, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=14) > 0.0, 1.0, -1.0)
    return X, y, rng.normal(size=(6, 2))


def close(space):
    return {"rtol": 1e-7, "atol": 1e-8} if space.double else {"rtol": 5e-3, "atol": 5e-4}


def on_a_grid(K, mean, y, link, points=241):
    """Log evidence, means and covariance of two or three latent values, by a dense rule."""
    roots = np.linalg.cholesky(K)
    z = np.linspace(-9.0, 9.0, points if len(y) == 2 else 91)
    grid = np.stack(np.meshgrid(*len(y) * [z], indexing="ij"), axis=-1).reshape(-1, len(y))
    f = mean + grid @ roots.T
    logs = LOG_CHANCE[link](y * f).sum(axis=1) + stats.norm.logpdf(grid).sum(axis=1)
    weights = np.exp(logs - logs.max())
    total = logs.max() + math.log(weights.sum()) + len(y) * math.log(z[1] - z[0])
    weights /= weights.sum()
    off = f - weights @ f
    return total, weights @ f, off.T @ (weights[:, None] * off)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("variance", [0.3, 25.0, 1e4])
@pytest.mark.parametrize("mean", [0.0, -1.5])
def test_of_one_label_it_is_exact(link, variance, mean):
    gp = GP(RBF(variance, 1.0), 0.0, ConstantMean(mean))
    for label in (1.0, -1.0):
        posterior = condition(EPGP(gp, Bernoulli(link)), np.zeros((1, 1)), np.asarray([label]))
        f = mean + math.sqrt(variance) * np.linspace(-12.0, 12.0, 400_001)
        weight = np.exp(LOG_CHANCE[link](label * f)) * stats.norm.pdf(f, mean, math.sqrt(variance))
        area, first, second = (integrate.trapezoid(weight * f**k, f) for k in range(3))
        m, v = (float(a[0]) for a in posterior.predict(np.zeros((1, 1))))
        assert posterior.log_evidence == pytest.approx(math.log(area), abs=1e-8)
        assert m == pytest.approx(first / area, rel=1e-7)
        assert v == pytest.approx(second / area - (first / area) ** 2, rel=1e-6)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("y", [(1.0, 1.0), (1.0, -1.0), (1.0, 1.0, -1.0)])
@pytest.mark.parametrize("variance", [1.0, 16.0])
def test_two_and_three_labels_are_near_to_quadrature(link, y, variance):
    y = np.asarray(y)
    X = np.linspace(0.0, 1.2, len(y))[:, None]
    gp = GP(RBF(variance, 1.0), 0.0, ConstantMean(0.3))
    value, mean, covariance = on_a_grid(gp.kernel(X), 0.3, y, link)
    found = condition(EPGP(gp, Bernoulli(link)), X, y)
    sd = np.sqrt(np.diag(covariance))
    assert found.log_evidence == pytest.approx(value, abs=0.01)
    np.testing.assert_allclose((found.mean(X) - mean) / sd, 0.0, atol=0.02)
    np.testing.assert_allclose(found.variance(X) / sd**2, 1.0, atol=0.06)
    # and several times nearer than the Gaussian around the mode
    rough = condition(LaplaceGP(gp, Bernoulli(link)), X, y)
    assert abs(found.log_evidence - value) < 0.2 * abs(rough.log_evidence - value)
    off = [np.max(np.abs(q.mean(X) - mean) / sd) for q in (found, rough)]
    assert off[0] < 0.2 * off[1]


@pytest.mark.parametrize("link", LINKS)
def test_where_it_settles_the_moments_of_each_label_match(numbers, link):
    """The tilted distribution of each label, by a dense rule, has the moments of the marginal."""
    X, y, _ = numbers
    posterior = condition(EPGP(process(np.asarray), Bernoulli(link)), X, y)
    mean, covariance = posterior.predict(X)[0], posterior.covariance(X)
    tau = posterior.sqrt_W**2
    nu = posterior.gradient + tau * mean  # of sites exp(ν f − ½ τ f²)
    for i in range(14):
        left = 1.0 / covariance[i, i] - tau[i]
        middle = (mean[i] / covariance[i, i] - nu[i]) / left
        f = middle + np.linspace(-12.0, 12.0, 100_001) / math.sqrt(left)
        weight = np.exp(LOG_CHANCE[link](y[i] * f) - 0.5 * left * (f - middle) ** 2)
        first, second = (weight @ f**k / weight.sum() for k in (1, 2))
        assert mean[i] == pytest.approx(first, abs=1e-6)
        assert covariance[i, i] == pytest.approx(second - first**2, rel=1e-6)


def test_of_independent_values_it_is_exact(rng):
    """Each value has its own label then; the evidence is a product of probabilities."""
    X, y = np.arange(5.0)[:, None], np.asarray([1.0, -1.0, 1.0, 1.0, -1.0])
    gp = GP(White(9.0), 0.0, ConstantMean(0.7))
    chance = stats.norm.logcdf(y * 0.7 / math.sqrt(10.0)).sum()
    assert log_evidence(EPGP(gp), X, y) == pytest.approx(chance, rel=1e-9)


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_its_probabilities_are_those_of_long_chains(rng, link):
    """Elliptical slices, 300 chains of thirty labels; Laplace is ten times farther off."""
    X = rng.uniform(-2.0, 2.0, size=(30, 1))
    y = np.where(np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=30) > 0.0, 1.0, -1.0)
    gp = GP(RBF(16.0, 0.8), 0.0)
    K = gp.kernel(X) + 1e-6 * np.eye(30)
    draws = sliced(np.linalg.cholesky(K), lambda f: LOG_CHANCE[link](y[:, None] * f).sum(0), rng)
    chance = np.exp(LOG_CHANCE[link](draws)).mean(axis=1)
    off = {
        kind: np.mean(np.abs(condition(kind(gp, Bernoulli(link)), X, y).probability(X) - chance))
        for kind in (EPGP, LaplaceGP)
    }
    assert off[EPGP] < 0.006
    assert off[EPGP] < 0.2 * off[LaplaceGP]


def sliced(root, log_likelihood, rng, chains=300, steps=200):
    """Draws (n, s) of many chains by elliptical slices, the second half of each."""
    f, kept = np.zeros((len(root), chains)), []
    for step in range(steps):
        fresh = root @ rng.standard_normal(f.shape)
        level = log_likelihood(f) + np.log(rng.random(chains))
        high = rng.uniform(0.0, 2.0 * np.pi, chains)
        low, angle = high - 2.0 * np.pi, high
        new = f * np.cos(angle) + fresh * np.sin(angle)
        while (missed := log_likelihood(new) < level).any():
            low = np.where(missed & (angle < 0.0), angle, low)
            high = np.where(missed & (angle >= 0.0), angle, high)
            angle = np.where(missed, rng.uniform(low, high), angle)
            new = f * np.cos(angle) + fresh * np.sin(angle)
        f = new
        if step >= steps // 2:
            kept.append(f)
    return np.concatenate(kept, axis=1)


@pytest.mark.parametrize("link", LINKS)
def test_predictions_are_those_of_dense_algebra(space, numbers, link):
    X, y, Xs = (space.asarray(a) for a in numbers)
    posterior = condition(EPGP(process(space.asarray), Bernoulli(link)), X, y)
    mean, variance = posterior.predict(Xs)
    covariance, chance = posterior.covariance(Xs), posterior.probability(Xs)
    assert all(space.holds(a) for a in (mean, variance, covariance, chance, posterior.gradient))
    X, y, Xs = numbers
    gp = process(np.asarray)
    sites = condition(EPGP(gp, Bernoulli(link)), X, y)
    cross = gp.kernel(X, Xs)
    noisy = gp.kernel(X) + np.diag(sites.sqrt_W**-2.0)
    readings = 0.4 + sites.sqrt_W**-2.0 * sites.gradient + gp.kernel(X) @ sites.gradient
    wanted = 0.4 + cross.T @ np.linalg.solve(noisy, readings - 0.4)
    spread = gp.kernel(Xs) - cross.T @ np.linalg.solve(noisy, cross)
    np.testing.assert_allclose(to_numpy(mean), wanted, **close(space))
    np.testing.assert_allclose(to_numpy(covariance), spread, **close(space))
    np.testing.assert_allclose(to_numpy(variance), np.diag(spread), **close(space))
    average = Bernoulli(link).probability(wanted, np.diag(spread))
    np.testing.assert_allclose(to_numpy(chance), average, **close(space))


@pytest.mark.parametrize("link", ["probit", "logit"])
@pytest.mark.parametrize(
    "kernel",
    [RBF(2.3, np.asarray(LENGTHS)), Matern52(40.0, 0.7) + White(0.1), Linear(1.5) + RBF(0.5, 0.6)],
    ids=["rbf", "matern and white", "linear and rbf"],
)
def test_the_pullback_of_the_evidence_agrees_with_differences(numbers, link, kernel):
    X, y = numbers[0][:6], numbers[1][:6]
    label, gp = Bernoulli(link), GP(kernel, 0.0, ConstantMean(0.4))

    def value(kernel, mean, X):
        return log_evidence(EPGP(GP(kernel, 0.0, mean), label), X, y)

    def pullback(kernel, mean, X, bar):
        assert bar == 1.0
        gp_bar, X_bar = condition(EPGP(GP(kernel, 0.0, mean), label), X, y).evidence_gradient()
        return gp_bar.kernel, gp_bar.mean, X_bar

    gradcheck(value, pullback, gp.kernel, gp.mean, X)


@pytest.mark.parametrize("link", LINKS)
def test_the_pullback_is_the_same_in_every_space(space, numbers, link):
    X, y, _ = (space.asarray(a) for a in numbers)
    posterior = condition(EPGP(process(space.asarray), Bernoulli(link)), X, y)
    gp_bar, X_bar = posterior.evidence_gradient()
    assert space.holds(X_bar)
    reference = condition(EPGP(process(np.asarray), Bernoulli(link)), *numbers[:2])
    wanted_bar, wanted_X_bar = reference.evidence_gradient()
    np.testing.assert_allclose(posterior.log_evidence, reference.log_evidence, **close(space))
    np.testing.assert_allclose(to_numpy(X_bar), wanted_X_bar, **close(space))
    both = gp_bar.kernel.parts[0].lengthscale, wanted_bar.kernel.parts[0].lengthscale
    np.testing.assert_allclose(to_numpy(both[0]), both[1], **close(space))


# Settling


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("variance", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("labels", ["in order", "random", "one kind"])
def test_it_settles_under_narrow_and_wide_priors(link, variance, labels):
    for seed, n in enumerate((1, 20, 60)):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-3.0, 3.0, size=(n, 1))
        y = {
            "in order": np.where(np.sin(2.0 * X[:, 0]) > 0.0, 1.0, -1.0),
            "random": np.where(rng.uniform(size=n) > 0.5, 1.0, -1.0),
            "one kind": np.ones(n),
        }[labels]
        posterior = condition(EPGP(GP(RBF(variance, 0.5), 0.0), Bernoulli(link)), X, y)
        chance = posterior.probability(X)
        assert posterior.sweeps < 150
        assert np.isfinite(posterior.log_evidence)
        assert np.all((chance >= 0.0) & (chance <= 1.0))


def test_whole_steps_alone_would_not_settle(monkeypatch):
    X = np.linspace(-3.0, 3.0, 100)[:, None]
    model = EPGP(GP(RBF(25.0, 0.5), 0.0))
    assert condition(model, X, np.ones(100)).sweeps < 80
    monkeypatch.setattr(expectation_propagation, "_SLOWER", 1.0)
    monkeypatch.setattr(expectation_propagation, "_PLAIN_SWEEPS", 1000)
    with pytest.raises(RuntimeError, match="settle in 1000 sweeps; its sites still moved by"):
        condition(model, X, np.ones(100))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rare", [False, True])
def test_steps_put_together_settle_sooner_at_the_same_sites(seed, rare, monkeypatch):
    """Where labels separate, under wide priors."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] > (1.5 if rare else 0.0), 1.0, -1.0)
    models = [EPGP(GP(RBF(variance, 3.0), 0.0)) for variance in (1e2, 1e4, 1e6, 1e8)]
    mixed = [condition(model, X, y) for model in models]
    monkeypatch.setattr(expectation_propagation, "_PLAIN_SWEEPS", 1000)
    plain = [condition(model, X, y) for model in models]
    assert sum(one.sweeps for one in mixed) < sum(one.sweeps for one in plain)
    for one, other in zip(mixed, plain, strict=True):
        assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-8)
        np.testing.assert_allclose(one.probability(X), other.probability(X), rtol=0, atol=1e-6)


def test_two_labels_at_one_point_that_disagree():
    X, y = np.zeros((2, 1)), np.asarray([1.0, -1.0])
    posterior = condition(EPGP(GP(RBF(3.0), 0.0)), X, y)
    np.testing.assert_allclose(posterior.mean(X), 0.0, atol=1e-7)
    np.testing.assert_allclose(posterior.probability(X), 0.5, rtol=1e-7)


def test_a_value_that_is_known_needs_no_site():
    """Where the prior has no variance, as a straight line at zero."""
    X, y = np.asarray([[0.0], [1.0], [-1.0]]), np.asarray([1.0, 1.0, -1.0])
    posterior = condition(EPGP(GP(Linear(4.0), 0.0)), X, y)
    assert posterior.probability(X)[0] == pytest.approx(0.5)
    assert np.isfinite(posterior.log_evidence)


# Fitting


@pytest.mark.parametrize("link", LINKS)
def test_a_fit_ends_where_the_gradient_of_the_evidence_is_zero(rng, link):
    X = rng.uniform(-3.0, 3.0, size=(40, 1))
    # labels that a line of signs does not part: else the variance rises without end
    y = np.where(np.sin(2.0 * X[:, 0]) + 0.5 * rng.normal(size=40) > 0.0, 1.0, -1.0)
    start = EPGP(GP(RBF(1.0, 3.0), 0.0, ConstantMean(0.2)), Bernoulli(link))
    fitted = fit(start, X, y).posterior
    assert isinstance(fitted, EPPosterior)
    assert fitted.log_evidence > log_evidence(start, X, y) + 1.0
    gradient = flatten_gradient(fitted.gp, fitted.evidence_gradient()[0], fixed=["noise_var"])
    assert np.max(np.abs(gradient)) < 1e-3
    assert fitted.gp.noise_var == 0.0
    right = (fitted.probability(X) > 0.5) == (np.sin(2.0 * X[:, 0]) > 0.0)
    assert right.mean() > 0.85


# Bad input


def test_what_does_not_fit_is_named(monkeypatch, numbers):
    X, y, Xs = numbers
    gp = GP(RBF(1.0, np.asarray(LENGTHS)), 0.0)
    with pytest.raises(ValueError, match=r"gp\.noise_var must be 0: .*; got 0\.1"):
        EPGP(GP(RBF(), 0.1))
    with pytest.raises(TypeError, match="gp must be a gpnotes GP; got RBF"):
        EPGP(RBF())
    with pytest.raises(TypeError, match="likelihood must be a gpnotes Bernoulli; got Gaussian"):
        EPGP(gp, Gaussian(0.1))
    with pytest.raises(ValueError, match=r"y must hold labels, 1 and -1; got 0 in row \d"):
        condition(EPGP(gp), X, 0.5 * (y + 1.0))
    with pytest.raises(ValueError, match=r"y must have shape \(14,\); got \(13,\)"):
        condition(EPGP(gp), X, y[1:])
    posterior = condition(EPGP(gp), X, y)
    with pytest.raises(ValueError, match=r"Xs must have shape \(n, 2\)"):
        posterior.predict(Xs[:, :1])
    monkeypatch.setattr(memory, "available", lambda like=None: 1000)
    monkeypatch.setattr(memory, "_SMALL", 0)
    with pytest.raises(MemoryError, match="the Gram matrix of shape"):
        condition(EPGP(gp), X, y)


def test_the_pullback_is_that_of_differences_for_a_mean_that_depends_on_x(numbers):
    X, y = numbers[0][:6], numbers[1][:6]

    def value(kernel, mean, X):
        return log_evidence(EPGP(GP(kernel, 0.0, mean), Bernoulli()), X, y)

    def pullback(kernel, mean, X, bar):
        assert bar == 1.0
        model = EPGP(GP(kernel, 0.0, mean), Bernoulli())
        gp_bar, X_bar = condition(model, X, y).evidence_gradient()
        return gp_bar.kernel, gp_bar.mean, X_bar

    gradcheck(value, pullback, RBF(2.3, 0.8), Slope(), X)


def test_sites_that_overflow_end_with_the_remedy(monkeypatch):
    """The factor of the next sweep said alone that its entries were not finite."""
    monkeypatch.setattr(expectation_propagation, "_matched", lambda *a: 3 * (a[0] * math.nan,))
    with pytest.raises(RuntimeError, match="prior not too wide, or offset too large, for float64"):
        condition(EPGP(GP(RBF(), 0.0)), np.zeros((2, 1)), np.ones(2))


@pytest.mark.parametrize("prior", [RBF() + Constant(1e8), RBF() + Constant(1e2), RBF(1e8)], ids=str)
@pytest.mark.parametrize(
    ("n", "apart"), [(6, False), (6, True), (60, False), (60, True), (200, False)]
)
def test_in_single_precision_the_moments_are_right_or_refused(prior, n, apart):
    """Sites that may move by √eps each had moved the mean by a twentieth of its deviation.

    Two hundred of them move slowly until steps are put together, and were taken before.
    Where labels differ under a level of 1e8, rounding left sites of nothing, settled at once, the
    mean off by four deviations.
    """
    X = np.linspace(0.0, 10.0, n)[:, None]
    y = np.where(X[:, 0] > 5.0, 1.0, -1.0) if apart else np.ones(n)
    model, single = EPGP(GP(prior, 0.0)), X.astype(np.float32)
    if apart and prior == RBF() + Constant(1e8):
        for call in (condition, log_evidence_and_gradient):
            with pytest.raises(RuntimeError, match=r"prior (is|not) too wide"):
                call(model, single, y.astype(np.float32))
        return
    mean, variance = condition(model, X, y).predict(X)
    found = condition(model, single, y.astype(np.float32)).predict(single)
    assert np.max(np.abs(found[0] - mean) / np.sqrt(variance)) < 3e-3
    np.testing.assert_allclose(found[1], variance, rtol=3e-3)
