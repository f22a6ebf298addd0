"""Natural-gradient steps against dense algebra, the exact posterior, and optimisers' view."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gpnotes import (
    GP,
    RBF,
    SVGP,
    Bernoulli,
    ConstantMean,
    FitWarning,
    Gaussian,
    Linear,
    Poisson,
    StudentT,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    stream,
    to_numpy,
)
from gpnotes.ground import memory
from gpnotes.ground.linalg import RoundingWarning
from gpnotes.infer import svgp
from gpnotes.infer.svgp import batch_fit
from gpnotes.infer.svgp.natural_gradients import optimise_q
from gpnotes.infer.svgp.row_sums import sweep
from gpnotes.model.likelihoods import Categorical
from gpnotes.testing import check_posterior

from .conftest import LIKELIHOODS, fit_from, model_of, observed, process

NAMES = pytest.mark.parametrize("name", LIKELIHOODS)


def close(space, rtol=1e-9):
    return {"rtol": rtol, "atol": rtol} if space.double else {"rtol": 3e-3, "atol": 3e-3}


def collapsed(gp, X, y, Z, noise_var):
    """Titsias (2009) by dense n × n algebra: ``log N(y; m, Q + σ²I) − tr(K − Q)/2σ²``."""
    Kuf = gp.kernel(Z, X)
    Q = Kuf.T @ np.linalg.solve(gp.kernel(Z), Kuf)
    density = multivariate_normal(gp.mean(X), Q + noise_var * np.eye(len(y))).logpdf(y)
    return density - 0.5 * np.sum(gp.kernel.diag(X) - np.diag(Q)) / noise_var


def test_with_gaussian_noise_one_step_gives_the_collapsed_bound(space, numbers):
    X, f, draws, Z, _ = numbers
    y = observed("gaussian", f, draws)
    model = model_of("gaussian", Z, space.asarray)
    for start in (svgp.initial_posterior(model), moved(svgp.initial_posterior(model), space)):
        q = svgp.natural_gradient_step(start, space.asarray(X), space.asarray(y))
        assert all(space.holds(a) for a in (q.weights, q.precision, q.cholesky.lower))
        bound = svgp.elbo(q, space.asarray(X), space.asarray(y))
        assert bound == pytest.approx(collapsed(process(), X, y, Z, 0.3), **tolerance(space))
    assert bound < log_evidence(replace(process(), noise_var=0.3), X, y) - 0.1


def tolerance(space):
    return {"rel": 1e-10} if space.double else {"rel": 1e-3}


def moved(q, space):
    """q at some other place."""
    shifted = q.weights + space.asarray(np.linspace(-1.0, 1.0, q.weights.shape[0]))
    return replace(q, weights=shifted)


def test_with_gaussian_noise_q_is_that_of_dense_algebra(space, numbers):
    """``q(u)`` by Titsias (2009): ``S = K_uu (K_uu + K_uf K_fu/σ²)⁻¹ K_uu``."""
    X, f, draws, Z, Xs = numbers
    y = observed("gaussian", f, draws)
    q = condition(model_of("gaussian", Z, space.asarray), space.asarray(X), space.asarray(y))
    assert q.converged
    assert q.steps == 1
    gp = process()
    Kuu, Kuf, Kus = gp.kernel(Z), gp.kernel(Z, X), gp.kernel(Z, Xs)
    inner = np.linalg.inv(Kuu + Kuf @ Kuf.T / 0.3)
    mean = 0.2 + Kus.T @ inner @ Kuf @ (y - 0.2) / 0.3
    covariance = gp.kernel(Xs) - Kus.T @ (np.linalg.inv(Kuu) - inner) @ Kus
    got, variance = q.predict(space.asarray(Xs))
    covariance_got = q.covariance(space.asarray(Xs))
    assert all(space.holds(a) for a in (got, variance, covariance_got))
    np.testing.assert_allclose(to_numpy(got), mean, **close(space))
    np.testing.assert_allclose(to_numpy(covariance_got), covariance, **close(space))
    np.testing.assert_allclose(to_numpy(variance), np.diag(covariance), **close(space))


def test_with_an_inducing_point_at_every_datum_it_is_exact(space, numbers):
    X, f, draws, _, Xs = numbers
    gp = GP(RBF(1.6, space.asarray([0.8, 1.5])), 0.0)
    X, y, Xs = (space.asarray(a) for a in (X, observed("gaussian", f, draws), Xs))
    q = condition(svgp.SVGP(gp, Gaussian(0.3), X), X, y)
    wanted = condition(replace(gp, noise_var=0.3), X, y)
    rel = 1e-7 if space.double else 2e-3
    assert svgp.elbo(q, X, y) == pytest.approx(wanted.log_evidence, rel=rel)
    for noise in (False, True):
        for ours, theirs in zip(
            q.predict(Xs, noise=noise), wanted.predict(Xs, noise=noise), strict=True
        ):
            np.testing.assert_allclose(to_numpy(ours), to_numpy(theirs), **close(space, 1e-6))


@NAMES
def test_at_the_optimum_no_q_nearby_has_a_higher_bound(numbers, rng, name):
    X, f, draws, Z, _ = numbers
    y = observed(name, f, draws)
    q = condition(model_of(name, Z), X, y)
    assert q.converged
    top = svgp.elbo(q, X, y)
    for _ in range(20):
        nudge = 1e-2 * rng.normal(size=6)
        turn = 1e-2 * rng.normal(size=(6, 6))
        precision = q.precision + turn @ q.precision + q.precision @ turn.T
        factor = replace(q.cholesky, lower=np.linalg.cholesky(precision))
        other = replace(q, weights=q.weights + nudge, precision=precision, cholesky=factor)
        assert svgp.elbo(other, X, y) < top
    away = svgp.natural_gradient_step(q, X, y)
    np.testing.assert_allclose(away.weights, q.weights, atol=1e-6)
    np.testing.assert_allclose(away.precision, q.precision, rtol=1e-5, atol=1e-6)


@NAMES
def test_the_optimum_is_the_same_in_every_space(space, numbers, name):
    X, f, draws, Z, Xs = numbers
    y = observed(name, f, draws)
    q = condition(model_of(name, Z, space.asarray), space.asarray(X), space.asarray(y))
    assert q.converged
    host = condition(model_of(name, Z), X, y)
    mean, variance = q.predict(space.asarray(Xs), noise=True)
    assert space.holds(mean)
    assert space.holds(variance)
    for got, wanted in zip((mean, variance), host.predict(Xs, noise=True), strict=True):
        np.testing.assert_allclose(to_numpy(got), wanted, **close(space, 1e-6))


@NAMES
def test_the_step_is_the_plain_gradient_by_the_moments(numbers, name):
    """By Khan & Lin (2017): natural gradient of (t, −P/2) = gradient by (E v, E v vᵀ)."""
    X, f, draws, Z, _ = numbers
    y = observed(name, f, draws)
    q = svgp.natural_gradient_step(
        svgp.initial_posterior(model_of(name, Z, nodes=40)), X, y, step_size=0.3
    )
    r = 1e-6

    def bound(mean, covariance):
        precision = np.linalg.inv(covariance)
        factor = replace(q.cholesky, lower=np.linalg.cholesky(precision))
        other = replace(q, weights=mean, precision=precision, cholesky=factor)
        return svgp.elbo(other, X, y)

    mean, covariance = q.weights, np.linalg.inv(q.precision)
    by_mean, by_covariance = np.zeros(6), np.zeros((6, 6))
    for i in range(6):
        e = 1e-4 * np.eye(6)[i]
        by_mean[i] = (bound(mean + e, covariance) - bound(mean - e, covariance)) / 2e-4
        for j in range(i + 1):
            E = np.zeros((6, 6))
            E[i, j] += 5e-5
            E[j, i] += 5e-5
            slope = (bound(mean, covariance + E) - bound(mean, covariance - E)) / 2e-4
            by_covariance[i, j] = by_covariance[j, i] = slope
    # by E v at fixed E v vᵀ: the covariance moves too
    natural = by_mean - 2.0 * by_covariance @ mean
    after = svgp.natural_gradient_step(q, X, y, step_size=r)
    shift = (after.precision @ after.weights - q.precision @ mean) / r
    precision = (after.precision - q.precision) / r
    np.testing.assert_allclose(shift, natural, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(precision, -2.0 * by_covariance, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("name", ["gaussian", "probit", "logit", "poisson"])
@pytest.mark.parametrize("length", [0.1, 0.5, 1.0])
def test_of_a_log_concave_likelihood_the_precision_is_never_below_the_priors(numbers, name, length):
    X, f, draws, Z, _ = numbers
    y = observed(name, f, draws)
    q = svgp.initial_posterior(model_of(name, Z))
    for _ in range(6):
        before, sums = q, sweep(q, X, y)
        q = svgp.natural_gradient_step(q, X, y, step_size=length)
        assert np.linalg.eigvalsh(q.precision)[0] >= 1.0 - 1e-12
        assert q.cholesky.jitter == 0.0
        wanted = (1.0 - length) * before.precision + length * (np.eye(6) + sums.sites)
        np.testing.assert_allclose(q.precision, wanted, rtol=1e-12)


def outlying(n=12):
    """Outliers on a smooth line, and a narrow likelihood with a low ν: sites far below zero."""
    X = np.linspace(0.0, 1.0, n)[:, None]
    y = np.zeros(n)
    y[::3] = 3.0
    return svgp.SVGP(GP(RBF(4.0, 0.5), 0.0), StudentT(0.3, 1.5), X[::2]), X, y


def test_a_plain_mixture_of_outliers_sites_would_be_no_gaussian():
    """What the second-order term is for: without it the precision has eigenvalues below zero."""
    model, X, y = outlying()
    q = condition(model, X, 0.0 * y)  # sure of zero, when all turn out to be off by two scales
    y = np.full(12, 0.65)
    worst = 1.0
    for _ in range(40):
        plain = np.eye(6) + sweep(q, X, y).sites
        worst = min(worst, np.linalg.eigvalsh(plain)[0])
        before, q = q, svgp.natural_gradient_step(q, X, y)
        half = np.linalg.cholesky(before.precision)
        relative = np.linalg.solve(half, np.linalg.solve(half, q.precision).T)
        assert np.linalg.eigvalsh(relative)[0] > 0.5 - 1e-9
        assert q.cholesky.jitter == 0.0
    assert worst < -1.0
    np.testing.assert_allclose(q.mean(X), 0.65, atol=0.05)


def test_the_second_order_term_is_what_is_promised():
    model, X, y = outlying()
    q = svgp.natural_gradient_step(svgp.initial_posterior(model), X, y, step_size=0.5)
    sums = sweep(q, X, y)
    assert not sums.concave
    P = q.precision
    D = np.eye(6) + sums.sites - P
    wanted = 0.5 * P + 0.5 * (P + 0.7 * D) @ np.linalg.solve(P, P + 0.7 * D)
    after = svgp.natural_gradient_step(q, X, y, step_size=0.7)
    np.testing.assert_allclose(after.precision, wanted, rtol=1e-10, atol=1e-10)
    step = 0.7 * np.linalg.solve(after.precision, sums.gradient - q.weights)
    np.testing.assert_allclose(after.weights - q.weights, step, rtol=1e-9, atol=1e-12)


def test_heavy_tails_reach_an_optimum_and_are_robust(rng):
    """One datum in five is off by 20: the mean under Student's t stays, under a normal it goes."""
    X = np.linspace(0.0, 6.0, 60)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    y[::5] += 20.0
    gp, Z = GP(RBF(1.0, 1.0), 0.0), X[::6]
    heavy = condition(svgp.SVGP(gp, StudentT(0.1, 2.0), Z), X, y)
    normal = condition(svgp.SVGP(gp, Gaussian(1.0), Z), X, y)
    assert heavy.converged
    errors = [np.abs(q.mean(X) - np.sin(X[:, 0])).max() for q in (heavy, normal)]
    assert errors[0] < 0.3
    assert errors[1] > 2.0


def test_no_step_of_conditioning_lowers_the_bound(monkeypatch, numbers):
    model, X, y = outlying()
    bounds = [
        svgp.elbo(optimise_q(svgp.initial_posterior(model), X, y, max_steps=k), X, y)
        for k in (1, 2, 4, 8, 200)
    ]
    assert np.all(np.diff(bounds) >= -1e-10)
    short = optimise_q(svgp.initial_posterior(model), X, y, max_steps=1)
    assert not short.converged
    monkeypatch.setattr(batch_fit, "optimise_q", lambda *_, **__: short)
    with pytest.warns(FitWarning, match="after max_steps = 1 .*svgp.natural_gradient_step"):
        assert condition(model, X, y) is short
    for verb in (log_evidence, log_evidence_and_gradient):
        with pytest.warns(FitWarning, match="its bound may still rise") as told:
            verb(model, X, y)
        assert {Path(one.filename).name for one in told} == {Path(__file__).name}


@pytest.mark.parametrize("way", ["condition", "evidence", "gradient", "batches", "classes"])
def test_a_prior_too_wide_for_rounding_is_said(way, rng):
    """The mean was off by 3 % of its deviation, as that of a `SparseGP`, which says so."""
    X, Z = np.linspace(0.0, 10.0, 40)[:, None], np.linspace(0.0, 10.0, 5)[:, None]
    y, gp = 3.0 * X[:, 0] + np.sin(X[:, 0]) + rng.normal(size=40), GP(RBF() + Linear(1e12), 0.0)
    model = SVGP(gp, Categorical(2) if way == "classes" else Gaussian(1.0), Z)
    calls = {
        "evidence": lambda: log_evidence(model, X, y),
        "gradient": lambda: log_evidence_and_gradient(model, X, y),
        "batches": lambda: fit(
            model, X, y, minibatches=svgp.Minibatches(40, 1.0, 0.0), max_steps=1, rng=0
        ),
        "classes": lambda: condition(model, X, np.asarray(y > 15.0, float)),
    }
    with pytest.warns(RoundingWarning, match="variances of f .* too wide beside what y says"):
        calls.get(way, lambda: condition(model, X, y))()
    condition(SVGP(GP(RBF() + Linear(1e6), 0.0), Gaussian(1.0), Z), X, y)


@pytest.mark.parametrize("seed", [0, 1, 7, 11])
def test_steps_that_leap_from_side_to_side_come_to_rest(seed):
    """Under a wide prior full steps for labels overshoot, again and again."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 8.0, (400, 1))
    f = 2.0 * np.sin(1.5 * X[:, 0]) + 0.5 * rng.normal()
    y = np.where(f + rng.normal(size=400) > 0.0, 1.0, -1.0)
    model = svgp.SVGP(GP(RBF(9.0, 1.0), 0.0), Bernoulli(), np.linspace(0.0, 8.0, 12)[:, None])
    q = optimise_q(svgp.initial_posterior(model), X, y, max_steps=100)
    assert q.converged
    full = svgp.initial_posterior(model)
    for _ in range(100):
        full = svgp.natural_gradient_step(full, X, y)
    assert svgp.elbo(full, X, y) < svgp.elbo(q, X, y) - 1e-4


@pytest.mark.parametrize("count", [1e4, 1e6, 1e12])
def test_counts_far_from_the_prior_are_reached_without_overflow(count):
    """A full step from f = 0 to a count of 10⁴ would leap to exp(10⁴)."""
    X = np.linspace(0.0, 1.0, 20)[:, None]
    y = np.full(20, count)
    q = condition(svgp.SVGP(GP(RBF(9.0), 0.0), Poisson(), X[::4]), X, y)
    assert q.converged
    np.testing.assert_allclose(q.mean(X), np.log(count), atol=0.01)


def test_a_prior_whose_rate_overflows_is_refused_by_the_bound():
    X = np.linspace(0.0, 1.0, 20)[:, None]
    model = svgp.SVGP(GP(RBF(), 0.0, ConstantMean(800.0)), Poisson(), X[::4])
    with np.errstate(over="ignore"), pytest.raises(RuntimeError, match="a mean function nearer"):
        condition(model, X, np.ones(20))


@NAMES
def test_blocks_of_rows_change_nothing(monkeypatch, numbers, name):
    X, f, draws, Z, Xs = numbers
    y = observed(name, f, draws)
    q = condition(model_of(name, Z), X, y)
    whole, mean = svgp.natural_gradient_step(q, X, y), q.mean(Xs)
    monkeypatch.setattr(memory, "ENTRIES", 25)
    parts = svgp.natural_gradient_step(q, X, y)
    np.testing.assert_allclose(parts.weights, whole.weights, rtol=1e-10)
    np.testing.assert_allclose(parts.precision, whole.precision, rtol=1e-10)
    np.testing.assert_allclose(q.mean(Xs), mean, rtol=1e-12)
    assert q.predict(Xs[:0])[0].shape == (0,)


@NAMES
def test_steps_on_batches_average_to_the_step_on_all(numbers, name):
    """The sites wanted are sums over rows; a batch counts as often as it is small."""
    X, f, draws, Z, _ = numbers
    y = observed(name, f, draws)
    q = svgp.natural_gradient_step(svgp.initial_posterior(model_of(name, Z)), X, y, step_size=0.3)
    cut = [slice(0, 10), slice(10, 20), slice(20, 30)]
    bounds = [svgp.elbo(q, X[rows], y[rows], total=30) for rows in cut]
    assert np.mean(bounds) == pytest.approx(svgp.elbo(q, X, y), rel=1e-12)
    if LIKELIHOODS[name] != LIKELIHOODS["student"]:  # whose steps are not linear in the sites
        steps = [
            svgp.natural_gradient_step(q, X[rows], y[rows], step_size=0.2, total=30) for rows in cut
        ]
        whole = svgp.natural_gradient_step(q, X, y, step_size=0.2)
        average = np.mean([step.precision for step in steps], axis=0)
        np.testing.assert_allclose(average, whole.precision, rtol=1e-10)
        shifts = np.mean([step.precision @ step.weights for step in steps], axis=0)
        np.testing.assert_allclose(shifts, whole.precision @ whole.weights, rtol=1e-9, atol=1e-12)


@NAMES
def test_posteriors_conform(space, numbers, name):
    X, f, draws, Z, Xs = numbers
    y = observed(name, f, draws)
    q = condition(model_of(name, Z, space.asarray), space.asarray(X), space.asarray(y))
    check_posterior(q, space.asarray(Xs), normal_noise=name == "gaussian")


def test_labels_and_densities_of_new_data(space, numbers):
    X, f, draws, Z, Xs = numbers
    y = observed("probit", f, draws)
    q = condition(model_of("probit", Z, space.asarray), space.asarray(X), space.asarray(y))
    probability = q.probability(space.asarray(Xs))
    assert space.holds(probability)
    logs = q.log_density(space.asarray(Xs), space.asarray(np.ones(5)))
    assert space.holds(logs)
    np.testing.assert_allclose(np.exp(to_numpy(logs)), to_numpy(probability), **close(space))
    mean, variance = q.predict(space.asarray(Xs), noise=True)
    np.testing.assert_allclose(to_numpy(mean), 2.0 * to_numpy(probability) - 1.0, **close(space))
    np.testing.assert_allclose(to_numpy(q.mean(space.asarray(Xs), noise=True)), to_numpy(mean))
    np.testing.assert_allclose(
        to_numpy(q.variance(space.asarray(Xs), noise=True)), to_numpy(variance)
    )


def test_more_inducing_points_than_data_and_equal_ones(numbers):
    X, f, draws, _, Xs = numbers
    y = observed("gaussian", f, draws)
    gp = GP(RBF(1.6, 0.8), 0.0)
    wanted = condition(replace(gp, noise_var=0.3), X[:4], y[:4])
    many = condition(svgp.SVGP(gp, Gaussian(0.3), X), X[:4], y[:4])
    np.testing.assert_allclose(many.mean(Xs), wanted.mean(Xs), atol=1e-6)
    assert svgp.elbo(many, X[:4], y[:4]) == pytest.approx(wanted.log_evidence, rel=1e-6)
    twice = np.concatenate([X[:4], X[:4]])
    with pytest.warns(svgp_jitter(), match="the Gram matrix of Z"):
        equal = condition(svgp.SVGP(gp, Gaussian(0.3), twice), X[:4], y[:4])
    np.testing.assert_allclose(equal.mean(Xs), wanted.mean(Xs), atol=1e-6)


def svgp_jitter():
    from gpnotes.ground.linalg import JitterWarning

    return JitterWarning


def test_what_does_not_fit_is_named(numbers):
    X, f, draws, Z, _ = numbers
    y = observed("probit", f, draws)
    model = model_of("probit", Z)
    with pytest.raises(ValueError, match="y must hold labels"):
        condition(model, X, f)
    with pytest.raises(ValueError, match=r"gp\.noise_var must be 0: the likelihood says"):
        svgp.SVGP(replace(model.gp, noise_var=0.1), Bernoulli(), Z)
    with pytest.raises(ValueError, match="inducing must have at least one row"):
        svgp.SVGP(model.gp, Bernoulli(), Z[:0])
    with pytest.raises(ValueError, match="X must have at least one row"):
        condition(model, X[:0], y[:0])
    q = svgp.initial_posterior(model)
    for size, message in ((0.0, "positive"), (1.5, "at most 1")):
        with pytest.raises(ValueError, match=f"step_size must be {message}"):
            svgp.natural_gradient_step(q, X, y, step_size=size)
    with pytest.raises(ValueError, match="total must be a whole number from 30"):
        svgp.elbo(q, X, y, total=29)
    with pytest.raises(TypeError, match=r"the likelihood must be .* lacks probability"):
        svgp.initial_posterior(model_of("gaussian", Z)).probability(X)


@pytest.mark.parametrize("typical", [80.0, 800.0, 3000.0])
def test_full_steps_on_counts_end_or_say_what_to_do(typical):
    """A leap makes P so large that G was lost beside it: what came then was no covariance."""
    outcomes = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-3.0, 3.0, (30, 1))
        y = rng.poisson(typical * np.exp(0.5 * np.sin(X[:, 0]))).astype(float)
        gp = GP(RBF(2.0, 0.5), 0.0, ConstantMean(np.log(typical)))
        start = svgp.initial_posterior(svgp.SVGP(gp, Poisson(), np.linspace(-2.5, 2.5, 5)[:, None]))
        rates = {"step_size": 1.0, "learning_rate": 0.05}
        with np.errstate(over="ignore"):
            try:
                fit_from(start, X, y, max_steps=20, batch=7, rng=stream(seed), **rates)
            except RuntimeError as problem:
                outcomes.append("Use a smaller step_size or learning_rate" in str(problem))
            else:
                outcomes.append(True)
    assert all(outcomes)


def test_a_leap_that_overshoots_is_not_taken_for_the_best_q():
    """Rates of a wide prior are so large at first that after a step q is, by its size, far off."""
    source = stream(4)
    X = np.asarray(source.normal((60, 1)))
    y = np.floor(np.exp(np.sin(X[:, 0])))
    model = svgp.SVGP(GP(RBF(100.0, 2.0), 0.0), Poisson(), X[:10])
    q = condition(model, X, y)
    flat = condition(svgp.SVGP(GP(RBF(1.0, 2.0), 0.0), Poisson(), X[:10]), X, y)
    assert q.converged
    bounds = [sweep(p, X, y).value - p.kl for p in (q, flat)]
    assert bounds[0] > bounds[1] - 30.0
